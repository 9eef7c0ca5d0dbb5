import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bipartite import BRR, Integers, Interval, fixed_words, insecure_seed
from bipartite.errors import DesignError, DomainError, InputError, NotAValueError, OutsideDomainError
from tests.strategies import interval_domains

INCOME = Interval(0, 200_000, points=401)


@given(interval_domains(), st.data())
def test_nodes_encode_to_themselves_and_the_ends_are_exact(domain, data):
    index = data.draw(st.integers(0, len(domain) - 1))
    assert domain.encode(domain.decode(index)) == index
    assert (domain.decode(0), domain.decode(len(domain) - 1)) == (domain.low, domain.high)
    every = domain.to_numpy()
    assert every[index] == domain.decode(index)
    assert (np.diff(every) > 0).all()


@given(interval_domains(), st.data())
def test_a_value_moves_to_the_nearest_node(domain, data):
    value = data.draw(st.floats(domain.low, domain.high))
    index = domain.encode(value)
    every = domain.to_numpy()
    assert abs(value - every[index]) <= np.abs(value - every).min() + 1e-9 * domain.step


@given(interval_domains(), st.data())
def test_arrays_encode_as_scalars_do(domain, data):
    values = data.draw(st.lists(st.floats(domain.low, domain.high), min_size=1, max_size=20))
    mechanism = BRR(domain, 2)
    assert mechanism.privatize(values, rng=insecure_seed(2)) == [
        mechanism.privatize(value, rng=rng) for rng in [insecure_seed(2)] for value in values
    ]


def test_the_index_is_the_floor_of_t_plus_one_half():
    # t = 0.5 exactly: up.
    assert Interval(0, 1, points=2).encode(0.5) == 1
    assert Interval(0, 1, points=2).encode(0.4999999999) == 0
    # As defined, in doubles: the double below one half plus one half is 1. Every implementation does the same.
    assert Interval(0, 1, points=2).encode(math.nextafter(0.5, 0)) == 1
    assert INCOME.encode(50_249) == 100
    assert INCOME.encode(50_250) == 101


def test_random_rounding_takes_the_coin_first_and_is_exact():
    domain = Interval(0, 4, points=5, rounding="random")
    # 2.25 goes up exactly when the 53 high bits of the coin lie below 2^53/4.
    quarter = 2**62
    for coin, index in ((0, 3), (quarter - 1, 3), (quarter, 2), (2**64 - 1, 2)):
        assert domain.encode(2.25, stream=fixed_words([coin])) == index
    # A node takes a coin too, and stays.
    rng = fixed_words([0])
    assert domain.encode(3.0, stream=rng) == 3
    assert repr(rng) == "<fixed words, 0 of 1 left>"
    assert domain.encode(4.0, stream=fixed_words([0])) == 4


def test_a_rounding_error_at_the_last_node_never_lifts_a_value_beyond_it():
    high = 2187.810373376886
    assert high * 489 / high > 489
    domain = Interval(0, high, points=490, rounding="random")
    assert domain.encode(high, stream=fixed_words([0])) == 489
    assert domain.encode_array(np.array([high]), "error", np.zeros(1, dtype=np.uint64)).tolist() == [489]


@given(st.floats(0, 4))
def test_random_rounding_keeps_the_mean_exactly(value):
    domain = Interval(0, 4, points=5, rounding="random")
    below = math.floor(value)
    up = Fraction(int((value - below) * 2**53), 2**53)
    if below < 4:
        assert abs(below + up - Fraction(value)) <= Fraction(1, 2**53)
        for coin, expected in ((int(up * 2**64) - 1, below + 1), (int(up * 2**64), below)):
            if 0 <= coin < 2**64:
                assert domain.encode(value, stream=fixed_words([coin])) == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, 0, 5), "Expected low < high, got low=1.0, high=0.0; swap them"),
        ((0, 1, 1), "Expected points from 2 to 2\\^31, got 1"),
        ((0, 1, 2**31 + 1), "Expected points from 2 to 2\\^31"),
        ((0, math.inf, 5), "Expected high as a finite number, got inf; pass a float"),
        ((math.nan, 1, 5), "Expected low as a finite number, got nan"),
        (("0", 1, 5), "Expected low as a finite number, got '0'"),
        ((True, 2, 5), "Expected low as a finite number, got True"),
        ((0, 10**400, 5), "Expected high as a finite number"),
        ((0, 1, 2.5), "Expected points as a whole number, got 2.5"),
        ((-1e308, 1e308, 5), "Expected \\(high − low\\)·\\(points − 1\\) to be a finite double; rescale"),
        ((1e16, 1e16 + 100, 401), "Expected nodes that are distinct doubles"),
    ],
)
def test_a_range_that_cannot_be_is_refused(arguments, message):
    with pytest.raises(DomainError, match=message):
        Interval(*arguments)


def test_padded_outputs_are_no_domain_of_values():
    padded = BRR(Interval(0, 1, points=11), 1, m=5, edges="padded")
    with pytest.raises(InputError, match="got the outputs of another mechanism; pass its domain"):
        BRR(padded.outputs, 1)
    with pytest.raises(DomainError, match="The outputs of a padded mechanism have no spec"):
        padded.outputs.to_spec()


def test_padded_reports_that_doubles_cannot_hold_are_refused():
    with pytest.raises(DesignError, match="Expected padded reports that are distinct finite doubles; use a smaller m"):
        BRR(Interval(-8e307, 8e307, points=2), 1, m=2**31 - 1, edges="padded")
    with pytest.raises(DesignError, match="Expected padded reports below 2\\^53 in size; use a smaller m"):
        BRR(Integers(2**53 - 10, 2**53 - 1), 1, m=5, edges="padded")


def test_a_report_of_a_narrow_type_is_one_of_the_outputs():
    mechanism = BRR(Interval(0, 0.1, points=11), 1)
    reports = mechanism.privatize(np.full(200, 0.05, dtype=np.float32))
    assert reports.dtype == np.float64  # 0.1 is no float32, and the nearest one lies outside
    assert all(report in mechanism.outputs for report in reports.tolist())
    with pytest.raises(OutsideDomainError, match="1 of 1 values cannot be reported: values\\[0\\] is outside 0..0.1"):
        mechanism.privatize(np.array([0.1], dtype=np.float32))


def test_rounding_is_one_of_two():
    with pytest.raises(DomainError, match="Expected rounding='nearest' or 'random', got 'up'"):
        Interval(0, 1, points=5, rounding="up")


@pytest.mark.parametrize("value", [-0.001, 200_000.001, math.inf, -math.inf, 10**400])
def test_a_value_outside_the_range_is_refused_or_clipped(value):
    mechanism = BRR(INCOME, 1)
    with pytest.raises(OutsideDomainError, match="is outside 0..200000; use outside='clip'"):
        mechanism.privatize(value)
    with pytest.raises(
        OutsideDomainError, match="1 of 2 values cannot be reported: values\\[1\\] is outside 0..200000"
    ):
        mechanism.privatize([5.0, value])
    assert INCOME.encode(value, outside="clip") == (0 if value < 0 else 400)
    assert mechanism.privatize([value], outside="clip")[0] in INCOME


@pytest.mark.parametrize("outside", ["error", "clip"])
def test_nan_is_never_reported(outside):
    with pytest.raises(NotAValueError, match="nan is not a number"):
        BRR(INCOME, 1).privatize(math.nan, outside=outside)
    with pytest.raises(NotAValueError, match="values\\[0\\] is not a number \\(1 such\\)"):
        BRR(INCOME, 1).privatize(np.array([math.nan, 5.0]), outside=outside)


def test_padded_outputs_stand_for_nodes_beyond_both_ends():
    mechanism = BRR(Interval(0, 10, points=11), 1, m=5, edges="padded")
    assert mechanism.outputs.to_numpy().tolist() == [float(value) for value in range(-2, 13)]
    assert [mechanism.outputs.encode(value) for value in mechanism.outputs] == list(range(15))
    assert mechanism.outputs != mechanism.domain
    assert "padded by 2 nodes" in repr(mechanism.outputs)
    with pytest.raises(OutsideDomainError):
        mechanism.outputs.encode(12.6)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble, np.int8, np.int32, np.uint64])
def test_every_number_type_gives_the_same_doubles(dtype):
    mechanism = BRR(Interval(0, 200_000, points=401), 1)
    reports = mechanism.privatize(np.full(300, 50, dtype=dtype), rng=insecure_seed(4))
    assert reports.dtype == np.float64
    assert reports.tolist() == mechanism.privatize([50.0] * 300, rng=insecure_seed(4))
