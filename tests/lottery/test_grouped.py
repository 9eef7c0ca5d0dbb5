"""Lotteries of groups: every input has the row of its group."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bipartite.lottery import Tickets, Window
from bipartite.lottery.compiled import line_kernel
from tests.conftest import numpy_kernel
from tests.lottery.test_rows import BITS, assert_bulk_is_scalar, count_words, words_around


def grouped(groups, anchors, tickets=(5, 2), bits=64):
    return Window(len(groups), anchors, 1, 0, Tickets(*tickets), bits, np.array(groups))


def row_of(lottery, x):
    near, far = lottery.tickets.near, lottery.tickets.far
    return [near if y == lottery.groups[x] else far for y in range(lottery.outputs)]


@pytest.mark.parametrize("groups", [[0, 0, 1, 2, 2], [0, 0], [2, 1, 0], [1, 1, 1]])
def test_over_all_words_every_output_gets_exactly_its_tickets(groups):
    for anchors in range(max(groups) + 1, 5):
        lottery = grouped(groups, anchors, bits=BITS)
        rounds, left = divmod(2**BITS, lottery.total)
        for x in range(len(groups)):
            drawn, redrawn = count_words(lottery, x)
            assert redrawn == left
            assert drawn == Counter({y: rounds * count for y, count in enumerate(row_of(lottery, x))})


@given(st.lists(st.integers(0, 4), min_size=1, max_size=9), st.integers(5, 7), st.sampled_from([(5, 2), (2, 1)]))
def test_rows_and_the_largest_ratio_are_those_of_the_groups_that_occur(groups, anchors, tickets):
    lottery = grouped(groups, anchors, tickets)
    rows = [row_of(lottery, x) for x in range(len(groups))]
    assert lottery.rows(0, len(groups)).tolist() == rows
    assert lottery.rows(1, len(groups)).tolist() == rows[1:]
    assert {sum(row) for row in rows} == {lottery.total}
    assert lottery.largest_ratio() == max(Fraction(max(column), min(column)) for column in zip(*rows, strict=True))


@pytest.mark.parametrize("kernel", [numpy_kernel, line_kernel])
def test_the_bulk_draw_agrees_at_the_edges_of_every_ticket(kernel):
    lottery = grouped([0, 0, 1, 3, 3, 2], 4)
    words = words_around(lottery.total, range(lottery.total + 1))
    for x in range(lottery.inputs):
        assert_bulk_is_scalar(lottery, kernel(lottery), x, words, offset=11)


@pytest.mark.parametrize("code", [-1, 3, 2**62, -(2**63)])
def test_a_code_outside_the_domain_is_noticed(code, kernel):
    # A code beyond the inputs may well be a group: it must not be drawn for.
    lottery = grouped([0, 1, 3], 4)
    words = np.arange(1, 6, dtype=np.uint64) << np.uint64(61)
    assert kernel(lottery)(np.array([0, code]), np.zeros(2, dtype=np.int64), words, 0, 0) == (0, 0, False)
    assert kernel(lottery)(np.array([0, 2]), np.zeros(2, dtype=np.int64), words, 0, 0) == (2, 2, True)


@pytest.mark.parametrize("groups", [[0, 3], [-1, 0]])
def test_a_group_without_a_row_is_refused(groups):
    with pytest.raises(AssertionError, match="a group of this lottery has no row"):
        grouped(groups, 3)


def test_groups_cannot_be_written():
    with pytest.raises(ValueError, match="read-only"):
        grouped([0, 1], 2).groups[0] = 1


def test_many_anchors_need_no_table():
    # 10^5 anchors: a table of all pairs would take 80 gigabytes.
    lottery = grouped(np.arange(100_000), 100_000)
    assert lottery.largest_ratio() == Fraction(5, 2)
    assert lottery.rows(99_998, 100_000).sum(axis=1).tolist() == [lottery.total] * 2
