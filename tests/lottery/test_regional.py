"""Lotteries on places in regions: every ticket has one place, and rows that differ in their totals are refused."""

import numpy as np
import pytest

from bipartite.lottery import BlockLottery, WeightLottery
from tests.lottery.test_draw import EveryWord

LABELS = np.array([1, 0, 1, 0, 1])
SMALL = {
    "blocks": (
        BlockLottery(
            LABELS,
            [np.array([[3, 2], [1, 4]]), np.array([[1, 1, 3], [2, 2, 1], [0, 4, 1]])],
            np.array([1, 1, 1, 2, 1]),
            word_bits=8,
        ),
        [[1, 1, 1, 2, 3], [1, 3, 1, 2, 1], [2, 1, 2, 2, 1], [1, 1, 1, 4, 1], [0, 1, 4, 2, 1]],
    ),
    "weights": (
        WeightLottery(LABELS, np.array([5, 3]), np.array([2, 3]), 16, word_bits=8),
        [[4, 3, 3, 3, 3], [2, 5, 2, 5, 2], [4, 3, 3, 3, 3], [2, 5, 2, 5, 2], [4, 3, 3, 3, 3]],
    ),
}


@pytest.mark.parametrize(("lottery", "rows"), SMALL.values(), ids=SMALL)
def test_over_all_words_every_place_gets_exactly_its_tickets(lottery, rows):
    assert lottery.rows(0, 5).tolist() == rows
    for x, row in enumerate(rows):
        drawn = np.bincount([lottery.draw(x, EveryWord(word)) for word in range(256)], minlength=5)
        assert drawn.tolist() == [count * 256 // lottery.total for count in row]


def test_tickets_that_do_not_add_up_are_no_lottery():
    labels = np.array([0, 0, 1, 1])
    block = np.array([[2, 1], [1, 2]])
    for blocks, outside in (
        ([block, block + 1], [1, 1, 1, 1]),
        ([block], [1, 1, 1, 1]),
        ([block, block], [1, 1, -1, 3]),
        ([block, -block], [1, 1, 1, 1]),
        ([np.ones((3, 3), dtype=int), block], [1, 1, 1, 1]),
        ([block * 2**52, block * 2**52], [1, 1, 1, 1]),
    ):
        with pytest.raises(AssertionError):
            BlockLottery(labels, blocks, np.array(outside))
    for own, other, total in (([2, 2], [1, 1], 5), ([2, 2], [1, 1], 8), ([0, 2], [1, 1], 6), ([2**62, 1], [1, 1], 6)):
        with pytest.raises(AssertionError):
            WeightLottery(labels, np.array(own), np.array(other), total)
    with pytest.raises(AssertionError, match="a region of this lottery is empty"):
        WeightLottery(np.array([0, 2]), np.array([1, 1]), np.array([1, 1]), 2)
