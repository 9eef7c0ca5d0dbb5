"""Rows on places in regions, from specs: every ticket has one place, and unequal totals are refused."""

from fractions import Fraction

import numpy as np
import pytest

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
