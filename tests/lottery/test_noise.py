"""Added noise on a line: the law by enumeration, bulk against scalar, the largest ratio by brute force."""

from collections import Counter
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bipartite.lottery import Noise
from tests.lottery.test_rows import BITS, assert_bulk_is_scalar, count_words, words_around

WHOLE = 2**52


@st.composite
def noises(draw):
    inputs, padding = draw(st.integers(2, 7)), draw(st.integers(0, 3))
    inner = sorted(draw(st.lists(st.integers(1, 30), min_size=inputs + padding - 1, max_size=inputs + padding - 1)))
    return inputs, padding, [*inner[::-1], draw(st.integers(1, 60))]


def rows_by_adding(inputs, padding, tickets):
    """The tickets of each input and output: every shift adds its own to the output at which it stops."""
    reach, outputs = inputs - 1 + padding, inputs + 2 * padding
    rows = []
    for x in range(inputs):
        row = [0] * outputs
        for shift in range(-reach, reach + 1):
            row[min(max(x + padding + shift, 0), outputs - 1)] += tickets[abs(shift)]
        rows.append(row)
    return rows


@given(noises())
def test_rows_and_the_largest_ratio_are_those_of_adding(noise):
    inputs, padding, tickets = noise
    lottery = Noise(inputs, padding, np.array(tickets))
    rows = rows_by_adding(*noise)
    assert lottery.rows(0, inputs).tolist() == rows
    assert lottery.rows(1, inputs).tolist() == rows[1:]
    assert {sum(row) for row in rows} == {lottery.total}
    assert lottery.largest_ratio() == max(Fraction(max(column), min(column)) for column in zip(*rows, strict=True))


@pytest.mark.parametrize(
    ("inputs", "padding", "tickets"),
    [(2, 0, [3, 2]), (3, 0, [5, 3, 4]), (4, 0, [9, 9, 1, 1]), (2, 1, [4, 2, 1]), (3, 2, [7, 5, 2, 2, 6])],
)
def test_over_all_words_every_output_gets_exactly_its_tickets(inputs, padding, tickets):
    lottery = Noise(inputs, padding, np.array(tickets), BITS)
    rounds, left = divmod(2**BITS, lottery.total)
    for x, row in enumerate(rows_by_adding(inputs, padding, tickets)):
        drawn, redrawn = count_words(lottery, x)
        assert redrawn == left
        assert drawn == Counter({y: rounds * count for y, count in enumerate(row)})


@given(noises(), st.integers(-(2**52), 2**52))
def test_the_bulk_draw_agrees_at_the_edges_of_every_shift(noise, offset):
    inputs, padding, tickets = noise
    lottery = Noise(inputs, padding, np.array(tickets))
    words = words_around(lottery.total, [0, *np.cumsum(tickets[:0:-1] + tickets).tolist()])
    for x in (0, inputs // 2, inputs - 1):
        assert_bulk_is_scalar(lottery, lottery.draw_block, x, words, offset)


@pytest.mark.parametrize("code", [-1, 3, 2**62, -(2**63)])
def test_a_code_outside_the_domain_is_noticed(code):
    kernel = Noise(3, 0, np.array([5, 3, 4])).draw_block
    words = np.arange(1, 6, dtype=np.uint64) << np.uint64(60)
    assert kernel(np.array([0, code]), np.zeros(2, dtype=np.int64), words, 0, 0) == (0, 0, False)
    assert kernel(np.array([0, 2]), np.zeros(2, dtype=np.int64), words, 0, 0) == (2, 2, True)
    assert kernel(np.array([], dtype=np.int64), np.zeros(0, dtype=np.int64), words, 0, 0) == (0, 0, True)


def wrapping(values, beyond):
    """Falling counts of 16 digits whose total is 2^64 + ``beyond``: a sum of 64 bits would say ``beyond``."""
    first = 9_230_000_000_000_000
    each, left = divmod((2**64 + beyond + first) // 2 - first, values - 1)
    tickets = [first, *[each] * (values - 1)]
    tickets[-1] += left
    assert 2 * sum(tickets) - first == 2**64 + beyond
    assert all(a >= b for a, b in pairwise(tickets[:-1]))
    assert max(tickets) < 10**16
    return tickets


@pytest.mark.parametrize(
    ("inputs", "tickets", "message"),
    [
        (3, [3, 2], "do not fall on both sides of zero"),
        (3, [3, 2, 2, 1], "do not fall"),
        (3, [2, 3, 1], "do not fall"),
        (3, [3, 2, 0], "do not fall"),
        (3, [3, 2, -1], "do not fall"),
        (2, [2, WHOLE // 2], "more than 2\\^52 tickets"),
        (1000, wrapping(1000, 2**20), "more than 2\\^52 tickets"),
        (1000, wrapping(1000, -(2**30)), "more than 2\\^52 tickets"),
    ],
    ids=["short", "long", "rising", "nothing", "negative", "one too many", "wraps", "wraps below"],
)
def test_noise_that_is_none_is_refused(inputs, tickets, message):
    with pytest.raises(AssertionError, match=message):
        Noise(inputs, 0, np.array(tickets, dtype=np.int64))
    assert Noise(2, 0, np.array([2, WHOLE // 2 - 1])).total == WHOLE


def test_the_tickets_of_noise_cannot_be_written():
    lottery = Noise(3, 0, np.array([5, 3, 4]))
    for array in (lottery.tickets, lottery.running):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 5
