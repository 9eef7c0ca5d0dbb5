"""The lottery around a circle: its law over every word, and that the bulk draws agree with the scalar one."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from bipartite.lottery import Ring, Tickets
from tests.lottery.test_rows import BITS, assert_bulk_is_scalar, count_words, words_around

SHAPES = [(2, 1), (3, 1), (3, 2), (5, 2), (5, 4), (8, 3), (8, 4)]


def row_of(lottery, x):
    """By hand: near are the m outputs from ⌊m/2⌋ before x on."""
    near = {(x - lottery.m // 2 + step) % lottery.inputs for step in range(lottery.m)}
    return [lottery.tickets.near if y in near else lottery.tickets.far for y in range(lottery.inputs)]


@pytest.mark.parametrize(("size", "m"), SHAPES)
@pytest.mark.parametrize("tickets", [(2, 1), (5, 2), (11, 8)])
def test_over_all_words_every_output_gets_exactly_its_tickets(size, m, tickets):
    lottery = Ring(size, m, Tickets(*tickets), BITS)
    rounds, left = divmod(2**BITS, lottery.total)
    for x in range(size):
        drawn, redrawn = count_words(lottery, x)
        assert redrawn == left
        assert drawn == Counter({y: rounds * count for y, count in enumerate(row_of(lottery, x))})


@pytest.mark.parametrize(("size", "m"), SHAPES)
def test_rows_and_the_largest_ratio_are_those_of_the_windows(size, m):
    lottery = Ring(size, m, Tickets(5, 2))
    rows = [row_of(lottery, x) for x in range(size)]
    assert lottery.rows(0, size).tolist() == rows
    assert lottery.rows(1, size).tolist() == rows[1:]
    assert {sum(row) for row in rows} == {lottery.total}
    assert lottery.largest_ratio() == max(Fraction(max(column), min(column)) for column in zip(*rows, strict=True))


@pytest.mark.parametrize("m", [0, 5, 6])
def test_a_window_of_the_whole_circle_is_no_window(m):
    with pytest.raises(AssertionError, match="a window on a ring has fewer outputs than the ring"):
        Ring(5, m, Tickets(5, 2)).largest_ratio()


@pytest.mark.parametrize(("size", "m"), SHAPES)
def test_the_bulk_draw_agrees_at_the_edges_of_every_ticket(kernel, size, m):
    lottery = Ring(size, m, Tickets(5, 2))
    words = words_around(lottery.total, range(lottery.total + 1))
    for x in range(size):
        assert_bulk_is_scalar(lottery, lottery.around(kernel(lottery.turn)), x, words, offset=11)


@pytest.mark.parametrize("code", [-1, 5, 2**62, -(2**63)])
def test_a_code_outside_the_domain_is_noticed(code, kernel):
    lottery = Ring(5, 2, Tickets(5, 2))
    kernel = lottery.around(kernel(lottery.turn))
    reports = np.zeros(2, dtype=np.int64)
    words = np.array([1 << 60, 1 << 61], dtype=np.uint64)
    assert kernel(np.array([1, code]), reports, words, 0, 0) == (0, 0, False)
