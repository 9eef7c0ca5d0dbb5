"""Rows on places in regions, from specs: every ticket has one place, and unequal totals are refused."""

from fractions import Fraction

import numpy as np
import pytest

import bipartite as bp
from bipartite.errors import BrokenPromiseError
from bipartite.mechanisms.rows_of_places import InRegions
from tests.lottery.test_draw import EveryWord

LABELS = np.array([1, 0, 1, 0, 1])
# Places 1 and 3 are region 0, places 0, 2 and 4 region 1.
OF_PLACES = [[2, 1, 3], [3, 2], [3, 2, 1], [1, 4], [1, 4, 1]]
ROWS = [[2, 1, 1, 1, 3], [1, 3, 1, 2, 1], [3, 1, 2, 1, 1], [1, 1, 1, 4, 1], [1, 1, 4, 1, 1]]
SMALL = {
    "a row for each place": (LABELS, np.arange(5), OF_PLACES, [[0, 1], [1, 0]], ROWS),
    "a row for each region": (
        LABELS,
        LABELS,
        [[5, 5], [4, 3, 3]],
        [[0, 2], [3, 0]],
        [[4, 3, 3, 3, 3], [2, 5, 2, 5, 2]] * 2 + [[4, 3, 3, 3, 3]],
    ),
}


def deal(labels, row_of, own, away, **bits):
    return InRegions(np.array(labels), np.array(row_of), [np.array(row) for row in own], np.array(away), **bits)


@pytest.mark.parametrize("name", SMALL)
def test_over_all_words_every_place_gets_exactly_its_tickets(name):
    *given, rows = SMALL[name]
    made = deal(*given, word_bits=8)
    assert made.rows(0, 5).tolist() == rows
    assert made.largest_ratio() == max(Fraction(max(row), min(row)) for row in zip(*rows, strict=True))
    order = [1, 3, 0, 2, 4]  # region by region
    for x, row in enumerate(rows):
        drawn = np.bincount([made.draw(x, EveryWord(word)) for word in range(256)], minlength=5)
        assert drawn.tolist() == [count * 256 // made.total for count in row]
        # Tickets are dealt to the own region first, then to the other.
        dealt = sorted(order, key=lambda y, x=x: LABELS[y] != LABELS[x])
        assert [made.owner(x, ticket) for ticket in range(made.total)] == [y for y in dealt for _ in range(row[y])]


@pytest.mark.parametrize(
    ("own", "away"),
    [
        ([[2, 1], [1, 2], [3, 2], [2, 3]], [[0, 1], [1, 0]]),
        ([[2, 1]] * 4, [[0, -1], [1, 0]]),
        ([[2, 1], [2, 1], [3], [2, 1]], [[0, 1], [1, 0]]),
        ([[-2, -1]] * 4, [[0, 1], [1, 0]]),
        ([[2**52, 1]] * 4, [[0, 1], [1, 0]]),
        ([[2, 1]] * 4, [[0, 2**62], [2**62, 0]]),
    ],
)
def test_tickets_that_do_not_add_up_are_no_deal(own, away):
    with pytest.raises(AssertionError, match="do not hold the same total"):
        deal([0, 0, 1, 1], range(4), own, away)


def test_what_was_verified_cannot_be_changed():
    *given, _ = SMALL["a row for each place"]
    made = deal(*given)
    for row in made.own:
        with pytest.raises(ValueError, match="read-only"):
            row[:] = 1
    with pytest.raises(TypeError):
        made.own[0] = made.own[1]


def test_tickets_that_one_region_never_gives_are_checked_all_the_same():
    places = bp.Points([[52.5, 13.4], [52.4, 13.1], [48.9, 2.35], [48.8, 2.1]], metric="haversine")
    spec = {
        "bipartite": 4,
        "mechanism": "two-level",
        "domain": places.to_spec(),
        "epsilon": "1",
        "m": [3],
        "regions": {"labels": [0, 0, 0, 0], "names": ["all"]},
        "tickets": [{"near": "4", "far": "2", "outside": "1"}],
        "total": "14",
    }
    assert bp.verify(bp.from_spec(spec)).ratio == 2
    spec["tickets"] = [{"near": "4", "far": "2", "outside": str(2**52 + 1)}]
    with pytest.raises(BrokenPromiseError, match="Expected rows of one total of at most 2\\^52"):
        bp.from_spec(spec)
