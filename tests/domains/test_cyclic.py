"""Values that go around: what they are, how far apart, and what is refused."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bipartite as bp
from bipartite.domains.losses import LossRows, largest_loss
from bipartite.errors import DomainError, InputError, NotAValueError, OutsideDomainError
from bipartite.lottery.order import RingOrder, farthest_near

DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]


def steps_between(x, y, size):
    """By walking: up from x until y, and down from x until y."""
    up = next(steps for steps in range(size) if (x + steps) % size == y)
    down = next(steps for steps in range(size) if (x - steps) % size == y)
    return min(up, down)


@pytest.mark.parametrize("size", [2, 3, 7, 12, 24])
def test_the_loss_is_the_shorter_way_round(size):
    domain = bp.Cyclic(size)
    expected = [[steps_between(x, y, size) for y in range(size)] for x in range(size)]
    assert domain.loss_matrix().tolist() == expected
    assert LossRows(domain, domain, None).rows(0, size).tolist() == expected
    assert largest_loss(domain) == size // 2


def test_values_are_numbers_from_the_start_on_or_labels():
    hours, months, days = bp.Cyclic(24), bp.Cyclic(12, start=1), bp.Cyclic(7, labels=DAYS)
    assert list(hours) == list(range(24)) and list(months) == list(range(1, 13)) and list(days) == DAYS
    assert (months.encode(12), months.decode(0), months.encode(6.0), days.encode("Wed")) == (11, 1, 5, 2)
    assert months.to_numpy().tolist() == list(range(1, 13)) and months[[-1, 0][0]] == 12
    assert (repr(hours), repr(months), repr(days)) == (
        "Cyclic(24)",
        "Cyclic(12, start=1)",
        "Cyclic(7, labels Mon … Sun)",
    )
    assert (str(months), str(days)) == ("1..12", "Mon … Sun")
    assert (months.start, days.start) == (1, 0)
    for domain in (hours, months, days):
        assert pickle.loads(pickle.dumps(domain)) == domain
    assert len({hours, bp.Cyclic(24), months, days}) == 3 and hours != bp.Cyclic(24, start=1)


@pytest.mark.parametrize("size", [2, 3, 4, 9, 24])
def test_the_order_of_neighbours_takes_the_one_before_first_wherever_it_is(size):
    order = RingOrder(size)
    for x in range(size):
        nearest = np.argsort(order.distances(x), kind="stable")
        expected = [x]
        for step in range(1, size):
            expected += [y for y in ((x - step) % size, (x + step) % size) if y not in expected]
        assert nearest.tolist() == list(dict.fromkeys(expected))
        for m in range(1, size):
            near = farthest_near(x, order.distances(x), m).near(x, order.distances(x))
            window = {(x - m // 2 + step) % size for step in range(m)}
            assert set(np.flatnonzero(near).tolist()) == window


@given(st.integers(2, 40), st.data())
def test_the_nearest_of_some_values_is_found_by_looking_at_all(size, data):
    chosen = np.array(sorted(data.draw(st.sets(st.integers(0, size - 1), min_size=1))))
    order = RingOrder(size)
    expected = [int(np.argmin(order.distances(x)[chosen])) for x in range(size)]
    assert order.nearest_of(chosen).tolist() == expected


def test_numbers_with_a_period_find_their_nearest_value():
    winds = bp.Cyclic(8)
    assert winds.nearest([0, 22.4, 22.5, 44, 337.4, 337.6, 359, -10, 720], period=360).tolist() == [
        0, 0, 1, 1, 7, 0, 0, 0, 0,
    ]  # fmt: skip
    assert bp.Cyclic(4, labels=["N", "E", "S", "W"]).nearest(np.array([271.0, 90]), period=360) == ["W", "E"]
    assert bp.Cyclic(12, start=1).nearest([0, 11.6], period=12).tolist() == [1, 1]


@given(st.integers(2, 50), st.floats(0.01, 1e6), st.floats(-1e3, 1e3))
def test_the_nearest_value_is_within_half_a_step(size, period, turns):
    (found,) = bp.Cyclic(size).nearest([turns * period], period=period).tolist()
    off = (turns * size - found) % size
    assert min(off, size - off) <= 0.5 + 1e-6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"size": 1}, "Expected size of at least 2, got 1; a domain needs at least two values"),
        ({"size": "24"}, "Expected size as a whole number, got '24'; pass an int"),
        ({"size": 2.5}, "Expected size as a whole number, got 2.5"),
        ({"size": 2**31 + 1}, "Expected at most 2\\^31 values, got 2147483649; use coarser steps"),
        ({"size": 12, "start": 2**53}, "Expected values below 2\\^53 in size; choose a start nearer to zero"),
        ({"size": 12, "start": "1"}, "Expected start as a whole number, got '1'"),
        ({"size": 7, "labels": DAYS[:6]}, "Expected 7 labels, one per value, got 6"),
        ({"size": 7, "labels": DAYS, "start": 1}, "Expected either start= or labels=, got both; labels are the values"),
        ({"size": 2, "labels": ["a", "a"]}, "Expected distinct labels, got 1 duplicates"),
    ],
)
def test_what_is_no_circle_is_refused(arguments, message):
    with pytest.raises(DomainError, match=message):
        bp.Cyclic(**arguments)


@pytest.mark.parametrize(
    ("domain", "value", "kind", "message"),
    [
        (bp.Cyclic(24), 24, OutsideDomainError, "24 is outside 0..23; to wrap numbers around, pass value % 24."),
        (
            bp.Cyclic(12, start=1),
            0,
            OutsideDomainError,
            "0 is outside 1..12; to wrap numbers around, pass (value - 1) % 12 + 1.",
        ),
        (
            bp.Cyclic(24),
            7.5,
            NotAValueError,
            "7.5 is not a whole number in 0..23; round it, or use domain.nearest with its period.",
        ),
        (bp.Cyclic(24), "7", NotAValueError, "'7' is not a whole number in 0..23; round it, or use domain.nearest"),
        (bp.Cyclic(7, labels=DAYS), "Monday", OutsideDomainError, "'Monday' is not one of the labels; use"),
    ],
)
def test_a_value_that_is_none_is_refused(domain, value, kind, message):
    with pytest.raises(kind) as refusal:
        domain.encode(value)
    assert str(refusal.value).startswith(message)


def test_errors_of_arrays_show_positions_and_no_values():
    mechanism = bp.BRR(bp.Cyclic(24), 1)
    with pytest.raises(OutsideDomainError) as refusal:
        mechanism.privatize([3, 77, 5])
    assert str(refusal.value) == (
        "1 of 3 values cannot be reported: values[1] is outside 0..23 (1 such); values are the whole numbers 0..23: "
        "to wrap numbers around, pass value % 24, or use domain.nearest with its period."
    )
    with pytest.raises(InputError, match="outside='clip' has no meaning on a set"):
        mechanism.privatize([3], outside="clip")


@pytest.mark.parametrize("period", [0, -1, float("nan"), float("inf"), "360", True])
def test_a_period_is_a_positive_number(period):
    with pytest.raises(InputError, match="Expected period as a positive number, such as 360 for degrees, got"):
        bp.Cyclic(8).nearest([1], period=period)


@pytest.mark.parametrize("numbers", [[float("nan")], ["north"], [[1, 2]], 3])
def test_numbers_to_round_are_finite(numbers):
    with pytest.raises(InputError, match="Expected finite numbers in a list or one-dimensional array"):
        bp.Cyclic(8).nearest(numbers, period=360)
