"""A lottery over sets of outputs: its draws over all words, in bulk, and its ratio against brute force."""

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from bipartite.lottery import Mixture, fixed_words
from bipartite.lottery.uniform import ticket_below
from tests.lottery.test_draw import EveryWord

BITS = 8


def mixed(bits=64):
    """Three sets on four inputs and five outputs, one of a single output."""
    return Mixture(
        sets=(np.array([0, 2, 4]), np.array([3]), np.array([1, 3])),
        own=np.array([[0, 1, 1, 2], [0, 0, 0, 0], [0, 0, 1, 1]], dtype=np.uint8),
        near=np.array([7, 4, 5]),
        far=np.array([3, 4, 2]),
        outputs=5,
        word_bits=bits,
    )


def row_of(lottery, x):
    """The tickets of an input by the definition, one set after the other."""
    row = [0] * lottery.outputs
    for members, own, near, far in zip(lottery.sets, lottery.own, lottery.near, lottery.far, strict=True):
        for at, y in enumerate(members.tolist()):
            row[y] += int(near if at == own[x] else far)
    return row


def test_over_all_words_every_output_gets_exactly_its_tickets():
    lottery = mixed(BITS)
    assert lottery.total == 7 + 2 * 3 + 4 + 5 + 2
    for x in range(lottery.inputs):
        drawn, redrawn = Counter(), 0
        for word in range(2**BITS):
            try:
                drawn[lottery.draw(x, EveryWord(word))] += 1
            except EveryWord.RedrawnError:
                redrawn += 1
        rounds, left = divmod(2**BITS, lottery.total)
        assert redrawn == left
        assert [drawn[y] for y in range(5)] == [rounds * held for held in row_of(lottery, x)]
        assert lottery.rows(x, x + 1)[0].tolist() == row_of(lottery, x)


def test_the_bulk_draw_gives_the_owner_of_every_ticket():
    lottery = mixed()
    for x in range(lottery.inputs):
        tickets = np.arange(lottery.total)
        # The word in the middle of a ticket's share of all words.
        words = [(2 * ticket + 1) * 2**63 // lottery.total for ticket in tickets.tolist()]
        assert [ticket_below(lottery.total, fixed_words([word]).streams().stream(0, 1)) for word in words] == [*tickets]
        one_by_one = [lottery.draw(x, fixed_words([word]).streams().stream(0, 1)) for word in words]
        assert lottery.owners(np.full(len(tickets), x), tickets).tolist() == one_by_one


def test_the_ratio_is_the_largest_of_all_rows():
    lottery = mixed()
    rows = [row_of(lottery, x) for x in range(4)]
    ratios = [Fraction(a[y], b[y]) for a, b in itertools.product(rows, rows) for y in range(5)]
    assert lottery.largest_ratio() == max(ratios)
    groups, distinct = lottery.groups()
    assert distinct[groups].tolist() == rows


@pytest.mark.parametrize("block", [1, 7, 2**22])
def test_the_ratio_is_that_of_all_rows_whatever_the_sets_and_blocks(block, monkeypatch):
    monkeypatch.setattr("bipartite.lottery.mixture._BLOCK", block)
    rng = np.random.default_rng(block)
    for _ in range(50):
        inputs, outputs, count = (int(each) for each in rng.integers(1, 7, size=3))
        sets = [np.sort(rng.permutation(outputs)[: rng.integers(1, outputs + 1)]) for _ in range(count)]
        sets.append(np.arange(outputs))
        own = np.array([rng.integers(len(each), size=inputs) for each in sets], dtype=np.uint8)
        near, far = (rng.integers(1, 9, size=count + 1) for _ in range(2))
        lottery = Mixture(sets=tuple(sets), own=own, near=near, far=far, outputs=outputs)
        rows = np.array([row_of(lottery, x) for x in range(inputs)])
        pairs = zip(rows.max(axis=0).tolist(), rows.min(axis=0).tolist(), strict=True)
        assert lottery.largest_ratio() == max(Fraction(most, least) for most, least in pairs)


def test_inputs_with_one_row_share_a_group_wherever_they_stand():
    lottery = Mixture(
        sets=(np.array([0, 1]),),
        own=np.array([[0, 1, 1, 0]], dtype=np.uint8),
        near=np.array([2]),
        far=np.array([1]),
        outputs=2,
    )
    groups, distinct = lottery.groups()
    assert groups.tolist() == [0, 1, 1, 0] and distinct.tolist() == [[2, 1], [1, 2]]


@pytest.mark.parametrize(
    "wrong",
    [
        {"own": np.array([[2]], dtype=np.uint8)},
        {"near": np.array([0])},
        {"far": np.array([0])},
        {"near": np.array([2**52])},
    ],
    ids=str,
)
def test_what_is_no_lottery_is_not_built(wrong):
    good = {"sets": (np.array([0, 1]),), "own": np.array([[0]], dtype=np.uint8), "near": np.array([2])}
    with pytest.raises(AssertionError, match="do not hold the same total"):
        Mixture(**(good | {"far": np.array([1]), "outputs": 2} | wrong))
