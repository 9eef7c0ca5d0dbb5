"""What all flat categories share: containers in, rows out, counts that merge, errors that say what to do."""

import inspect

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bipartite as bp
from bipartite.errors import DataError, DesignError, EpsilonError, InputError, NullError, OutsideDomainError
from bipartite.mechanisms.categories import bits, hashing, subset_selection, unary
from tests.mechanisms.categories import laws

AGES = bp.Integers(18, 90)
COLOURS = bp.Items(["red", "green", "blue"], loss=1 - np.eye(3))
KINDS = ["OUE", "SUE", "RAPPOR", "OLH", "SubsetSelection", "HadamardResponse"]
each_kind = pytest.mark.parametrize("kind", KINDS)


def make(kind, domain=AGES, epsilon=1):
    if kind == "RAPPOR":
        return bp.RAPPOR(domain, epsilon_permanent=epsilon)
    return getattr(bp, kind)(domain, epsilon)


@pytest.mark.grid(9)
@each_kind
@pytest.mark.parametrize("size", [2, 73, 200])
def test_numpy_and_machine_code_give_the_same_reports_and_counts(kind, size, monkeypatch):
    mechanism = make(kind, bp.Integers(0, size - 1))
    values = np.random.default_rng(size).integers(0, size, 20_000 if size < 100 else 9_000)
    found = []
    for kernel in ("numpy", "compiled"):
        if kernel == "numpy":
            chosen = bits.NumpyBits()
        else:
            from bipartite.mechanisms.categories.compiled_bits import CompiledBits

            chosen = CompiledBits()
        for module in (unary, subset_selection):
            monkeypatch.setattr(module, "kernel_for", lambda _, chosen=chosen: chosen)
        reports = mechanism.privatize(values, rng=bp.insecure_seed(5))
        found.append((reports, mechanism.count(reports)))
    assert (found[0][0] == found[1][0]).all()
    assert (found[0][1] == found[1][1]).all()
    # And the reports are about the right values: the estimate is within 7 standard errors (false alarms < 1e-9).
    shares, errors = laws.shares(mechanism, found[0][0])
    off = (shares - np.bincount(values, minlength=size) / len(values)) / errors
    assert np.abs(off).max() < 7


@pytest.mark.grid(10)
@pytest.mark.parametrize("buckets", [2, 3, 4, 6, 35, 149, 2**15])
@pytest.mark.parametrize("size", [2, 10, 150, 1000])
def test_both_counts_of_hashes_agree(buckets, size):
    from bipartite.mechanisms.categories.compiled_hashing import factors_of, hashes_of, supports

    family = hashing.HashFamily(size, buckets)
    rng = np.random.default_rng(size)
    factors = rng.integers(0, buckets, (300, family.digits), dtype=np.uint16)
    targets = rng.integers(0, buckets, 300).astype(np.uint16)
    by_numpy = family.supports_by_numpy(factors, targets)
    assert (supports(factors, targets, size, family.base, buckets) == by_numpy).all()
    some = [0, 1, size // 2, size - 1]
    direct = [(family.hash(factors, np.full(300, x)) == targets).sum() for x in some]
    assert by_numpy[some].tolist() == direct
    seeds = np.stack([rng.integers(0, buckets**digits, 300, dtype=np.uint64) for digits in family.seeds], axis=1)
    assert (factors_of(seeds, family.seeds, buckets) == family.factors_by_numpy(seeds)).all()
    values = rng.integers(0, size, 300)
    assert (hashes_of(factors, values, family.base, buckets) == family.hash_by_numpy(factors, values)).all()


def test_counters_of_hashes_do_not_overflow():
    from bipartite.mechanisms.categories.compiled_hashing import supports

    factors = np.zeros((140_000, 2), dtype=np.uint16)
    assert supports(factors, np.zeros(140_000, dtype=np.uint16), 3, 2, 2).tolist() == [140_000] * 3


@each_kind
def test_reports_do_not_depend_on_threads(kind):
    mechanism = make(kind, bp.Integers(0, 9))
    values = np.arange(150_000) % 10  # three chunks
    one = mechanism.privatize(values, rng=bp.insecure_seed(3))
    two = mechanism.privatize(values, rng=bp.insecure_seed(3), threads=2)
    assert (one == two).all()
    assert not (one[: 2**16] == one[2**16 : 2**17]).all()
    assert not (mechanism.privatize(values) == one).all()


@each_kind
def test_labels_points_and_intervals_serve_as_domains(kind):
    labelled = make(kind, COLOURS)
    reports = labelled.privatize(["red"] * 900 + ["blue"] * 100, rng=bp.insecure_seed(2))
    assert laws.shares(labelled, reports)[0].argmax() == 0
    assert labelled.privatize("green").shape == reports.shape[1:]
    places = make(kind, bp.Points([[0, 0], [0, 1], [5, 5]]))
    assert len(places.privatize([0, 1, 2])) == 3
    income = make(kind, bp.Interval(0, 100, points=11, rounding="random"))
    drawn = income.privatize([12.5, 100.0] * 1000, rng=bp.insecure_seed(4))
    shares, _ = laws.shares(income, drawn)
    assert shares[10] == pytest.approx(0.5, abs=0.35)
    alone = income.privatize(12.5, rng=bp.insecure_seed(9))
    assert (np.asarray(alone) == income.privatize([12.5], rng=bp.insecure_seed(9))[0]).all()


@each_kind
def test_values_that_cannot_be_reported_are_refused_without_being_shown(kind):
    mechanism = make(kind)
    with pytest.raises(OutsideDomainError, match=r"1 of 3 values cannot be reported: values\[1\] is outside") as caught:
        mechanism.privatize([20, 123456, 30])
    assert "123456" not in str(caught.value)
    assert caught.value.__context__ is None
    with pytest.raises(OutsideDomainError, match="123456 is outside 18..90"):
        mechanism.privatize(123456)
    with pytest.raises(DataError, match="not a number") as caught:
        mechanism.privatize([20.0, float("nan")])
    assert "keep" not in str(caught.value)
    assert len(mechanism.privatize([0, 200], outside="clip")) == 2
    with pytest.raises(NullError, match="add a 'no answer' value to the domain") as caught:
        mechanism.privatize([20, None])
    assert "keep" not in str(caught.value)
    with pytest.raises(NullError, match="The value is missing; remove it"):
        mechanism.privatize(None)
    with pytest.raises(InputError, match="Expected nulls='error', got 'keep'; remove it"):
        mechanism.privatize([20], nulls="keep")
    with pytest.raises(InputError, match="Expected one value a person, got 2 dimensions; pass a column"):
        mechanism.privatize(np.full((2, 2), 20))
    with pytest.raises(InputError, match="statistical generators are not accepted"):
        mechanism.privatize([20], rng=np.random.default_rng(1))
    with pytest.raises(InputError, match="threads"):
        mechanism.privatize([20], threads=0)
    with pytest.raises(InputError, match="at most 2\\^16 people with fixed_words, got .*; make several calls of 65536"):
        mechanism.privatize(np.full(2**16 + 1, 20), rng=bp.fixed_words([1]))
    with pytest.raises(InputError, match="has no meaning on a set"):
        make(kind, COLOURS).privatize(["red"], outside="clip")


@each_kind
def test_reports_of_another_mechanism_are_refused(kind):
    mechanism = make(kind)
    with pytest.raises(InputError, match="Expected reports as a NumPy array of .*; pass the result of privatize"):
        mechanism.count([[1, 2]])
    with pytest.raises(InputError, match="Expected reports as a NumPy array of .*, got shape"):
        mechanism.count(np.zeros((2, 3, 4)))
    other = {
        "HadamardResponse": np.array([5, 2**20], dtype=np.uint32),
        "OLH": np.array([[0, 0], [1, 99]], dtype=np.uint64),
    }
    wrong = other.get(kind, np.full((2, 10), [0] * 9 + [0x80], dtype=np.uint8))
    with pytest.raises(DataError, match="count them with the mechanism that sampled them"):
        mechanism.count(wrong)


def test_sets_of_another_size_are_refused():
    mechanism = bp.SubsetSelection(bp.Integers(0, 9), 1, k=3)
    assert mechanism.count(np.array([[0b1011, 0]], dtype=np.uint8)).tolist() == [1, 1, 0, 1, 0, 0, 0, 0, 0, 0]
    for row in ([0, 0], [0b11, 0], [0b1111, 0], [0xFF, 0b11]):
        with pytest.raises(DataError, match="Expected sets of 3 values, got 1 others, the first in row 1"):
            mechanism.count(np.array([[0b111, 0], row], dtype=np.uint8))


@each_kind
@given(data=st.data())
def test_counts_of_parts_add_up(kind, data):
    size = data.draw(st.integers(2, 130))
    mechanism = make(kind, bp.Integers(0, size - 1), data.draw(st.sampled_from([0.5, 1, 4])))
    values = data.draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=60))
    cut = data.draw(st.integers(0, len(values)))
    reports = mechanism.privatize(values)
    merged = mechanism.count(reports[:cut]) + mechanism.count(reports[cut:])
    assert (merged == mechanism.count(reports)).all()
    assert (mechanism.variances(np.zeros(size), len(values)) > 0).all()


def test_what_only_flat_categories_have_is_refused_elsewhere():
    for ask in (lambda mech: mech.support, lambda mech: mech.count([1]), lambda mech: mech.variances([1], 2)):
        with pytest.raises(InputError, match="Expected a mechanism for flat categories, such as bp.OUE, got BRR"):
            ask(bp.BRR(AGES, 1))
    with pytest.raises(InputError, match="The reports of OUE.* are rows of bits or numbers, too many to list"):
        bp.OUE(AGES, 1).matrix()


@pytest.mark.parametrize(("size", "blocks"), [(5, 1), (9, 2), (3, 4)])
def test_the_matrix_of_hadamard_response_lists_its_numbers(size, blocks):
    mechanism = bp.HadamardResponse(bp.Integers(0, size - 1), 2, blocks=blocks)
    numbers = np.arange(mechanism.numbers, dtype=np.uint32)
    support = np.stack([mechanism.count(numbers[at : at + 1]) for at in numbers], axis=1)
    near = mechanism.matrix() == mechanism.matrix().max()
    assert (near == (support == 1)).all()
    assert mechanism.matrix().sum(axis=1) == pytest.approx(1)
    assert float(mechanism.matrix().max() / mechanism.matrix().min()) == pytest.approx(float(mechanism.largest_ratio()))


@each_kind
def test_an_epsilon_that_cannot_be_kept_is_refused(kind):
    for epsilon in (0, -1, float("nan"), "ε"):
        with pytest.raises(EpsilonError):
            make(kind, epsilon=epsilon)
    if kind not in {"SUE", "RAPPOR"}:  # their coins have chance e^(−ε/2), which 2^64 holds up to ε = 50
        with pytest.raises(DesignError, match="ε=50 (is too large|needs more than 2\\^15 buckets).*; use "):
            make(kind, epsilon=50)
    if kind not in {"OUE", "SUE", "RAPPOR"}:  # 2^64 chances keep even 1e-15
        with pytest.raises(DesignError, match="is too small for N=.*: 2\\^52 tickets cannot keep it.*; use a larger ε"):
            make(kind, epsilon="1e-15")
    with pytest.raises(InputError, match="Expected domain as bp.Integers"):
        make(kind, domain=5)


def test_domains_that_are_too_large_are_refused():
    wide = bp.Integers(0, 2**18)
    for kind in ("OUE", "SUE", "RAPPOR", "SubsetSelection"):
        with pytest.raises(DesignError, match="Expected at most 262144 values, got 262145; .* use bp.OLH"):
            make(kind, wide)
    with pytest.raises(DesignError, match="Expected at most 16777216 values"):
        make("HadamardResponse", bp.Integers(0, 2**24))
    assert make("OLH", bp.Integers(0, 2**31 - 1)).privatize([5, 2**31 - 1]).shape[0] == 2
    assert make("OUE", bp.Integers(1, 2**18)).privatize([5, 7]).shape == (2, 2**15)


@each_kind
def test_what_other_reports_have_is_an_attribute_that_is_not_there(kind):
    flat, single = make(kind), bp.BRR(AGES, 1)
    assert (hasattr(flat, "support"), hasattr(flat, "lottery")) == (True, False)
    assert (hasattr(single, "support"), hasattr(single, "lottery")) == (False, True)
    for mechanism in (flat, single):
        assert dict(inspect.getmembers(mechanism))["domain"] == AGES
    with pytest.raises(InputError, match="rows of bits or numbers, too many to list; count says which values"):
        _ = flat.lottery
    with pytest.raises(InputError, match="Expected a mechanism for flat categories"):
        _ = single.report_shape
