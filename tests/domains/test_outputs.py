"""The outputs of mechanisms that report a few values: a domain to read, none to report from."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bipartite import Anchored, Integers, Interval, Items
from bipartite.domains.outputs import Outputs
from bipartite.errors import DomainError, NotAValueError, OutsideDomainError
from tests.rivals import DOMAINS


@given(st.sampled_from(sorted(DOMAINS)), st.data())
def test_a_subset_is_its_values_in_order(name, data):
    domain = DOMAINS[name]
    chosen = sorted(data.draw(st.sets(st.integers(0, len(domain) - 1), min_size=1)))
    few = Outputs(domain, chosen)
    values = [domain[at] for at in chosen]
    assert (len(few), few.size, list(few), few.indices.tolist()) == (len(chosen), len(chosen), values, chosen)
    assert few.to_numpy().tolist() == values == few[:].tolist()
    assert [few.decode(at) for at in range(len(chosen))] == values
    assert few[-1] == values[-1]
    assert few.labels == (None if domain.labels is None else tuple(values))
    assert few.whole == domain.whole
    for at, value in enumerate(domain):
        assert (value in few) == (at in chosen)
        if at in chosen:
            assert few.encode(value) == chosen.index(at)
        else:
            with pytest.raises(OutsideDomainError, match="is not one of the possible reports; mech.outputs l"):
                few.encode(value)
    assert few == Outputs(domain, np.array(chosen)) == copy.deepcopy(few) == pickle.loads(pickle.dumps(few))
    assert hash(few) == hash(Outputs(domain, chosen))
    assert few != Outputs(domain, [*chosen[1:], (chosen[-1] + 1) % len(domain)])
    assert repr(few) == f"Outputs({domain!r}, {chosen})"
    assert str(few) == f"{len(chosen)} of {domain}"


def test_what_is_no_value_is_refused_as_in_the_domain():
    few = Outputs(Integers(18, 90), [2, 40])
    with pytest.raises(OutsideDomainError, match="91 is outside 18..90"):
        few.encode(91)
    with pytest.raises(NotAValueError, match="20.5 is not a whole number"):
        few.encode(20.5)
    assert 20.5 not in few
    assert "x" not in few
    for index in (2, -3):
        with pytest.raises(IndexError, match=f"index {index} is out of range for 2 values"):
            few[index]


def test_a_subset_has_no_reports_and_no_spec_of_its_own():
    few = Anchored(Integers(18, 90), 1).outputs
    with pytest.raises(DomainError, match="The outputs of a mechanism cannot be privatized again; pass values of mech"):
        few.encode_array(np.zeros(1, dtype=int))
    with pytest.raises(DomainError, match="The outputs of a mechanism have no spec; use that of mech.domain"):
        few.to_spec()


def test_indices_cannot_be_written_in_copies_and_pickles_either():
    given_indices = np.array([2, 40])
    few = Outputs(Integers(18, 90), given_indices)
    given_indices[0] = 3
    for twin in (few, copy.copy(few), copy.deepcopy(few), pickle.loads(pickle.dumps(few))):
        assert twin.indices.tolist() == [2, 40]
        with pytest.raises(ValueError, match="read-only"):
            twin.indices[0] = 3
        with pytest.raises(AttributeError, match="Outputs cannot change"):
            twin.size = 5


@pytest.mark.parametrize(
    "domain", [Integers(-3, 8), Interval(0, 1, points=5), Items(None, loss=[[0, 1], [1, 0]])], ids=str
)
def test_reports_are_decoded_as_in_the_whole_domain(domain):
    last = len(domain) - 1
    whole = domain.codec(domain, "error")
    few = domain.codec(Outputs(domain, [0, last]), "error")
    assert (few.report_dtype, few.coins, few.code_offset) == (whole.report_dtype, whole.coins, whole.code_offset)
    reports = np.empty(3, dtype=few.report_dtype)
    few.decode(np.array([1, 0, 1]) + few.report_offset, reports)
    assert reports.tolist() == [domain[last], domain[0], domain[last]]


def test_numbers_and_labels_of_their_own_are_outputs_too():
    ends, answers = Outputs.of_numbers([-2.5, 2.5]), Outputs.of_labels(["young", "old"])
    few = Outputs(Integers(18, 90), [2, 40])
    assert [(each.own_numbers, each.own_labels, each.base is each) for each in (few, ends, answers)] == [
        (False, False, False),
        (True, False, True),
        (False, True, True),
    ]
    for outputs in (few, ends, answers):
        assert outputs == pickle.loads(pickle.dumps(outputs)) and hash(outputs) == hash(copy.copy(outputs))
        assert [outputs.encode(each) for each in outputs] == [0, 1] and outputs.only_reports
    assert few != ends and answers != Outputs.of_labels(["old", "young"]) and ends != Outputs.of_numbers([-2.5, 3])
    assert few.find(np.array([20, 21, 58.0, 91])).tolist() == [0, -1, 1, -1]
    assert ends.find(np.array([2.5000001, -2.5, 0, np.nan])).tolist() == [1, 0, -1, -1]
    assert repr(answers) == "Outputs.of_labels(['young', 'old'])"


@pytest.mark.parametrize("domain", [Integers(-3, 8), Interval(0, 1, points=5), *DOMAINS.values()], ids=repr)
def test_arrays_become_the_indices_of_their_values_or_none(domain):
    indices = np.arange(len(domain))
    values = domain.report_array(indices)
    assert (domain.index_array(values) == indices).all() and (domain.find(values) == indices).all()
    assert len(domain.find(values[:0])) == 0 == len(domain.index_array(values[:0]))
    assert domain.index_array(np.append(values, values.dtype.type(len(domain) + 99))) is None
    assert (domain.codec(domain, "error").report_dtype, values.dtype.itemsize) == (values.dtype, 8)
