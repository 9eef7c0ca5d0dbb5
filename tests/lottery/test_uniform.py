"""Uniform draws below a bound: exact, and the same one by one and many at once."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

import bipartite as bp
from bipartite.errors import WordsExhaustedError
from bipartite.lottery import fixed_words
from bipartite.lottery.uniform import draw_below, ticket_below, tickets_below, whole_below, whole_numbers_below


@given(st.integers(1, 2**63), st.lists(st.integers(0, 2**64 - 1), max_size=30), st.integers(0, 12))
@example(3, [0, 0, 2**63], 1)
@example(1, [5, 6], 1)
@example(8, [2**63, 2**64 - 1], 3)
def test_many_tickets_are_drawn_as_one_by_one(total, words, wanted):
    source, expected = fixed_words(words), []
    while len(expected) < wanted:
        try:
            expected.append(ticket_below(total, source))
        except WordsExhaustedError:
            break
    tickets, used = tickets_below(total, np.array(words, dtype=np.uint64), wanted)
    assert tickets.tolist() == expected
    assert used == source._start


def test_a_draw_of_many_continues_through_windows_of_the_stream():
    # 2^63 + 1: every other word is redrawn, and the words come in several blocks.
    total, count = 2**63 + 1 >> 1, 100_000
    one, many = (bp.insecure_seed(3).stream(0, 1) for _ in range(2))
    assert draw_below(total, count, many).tolist() == [ticket_below(total, one) for _ in range(count)]
    assert many.word() == one.word()


@pytest.mark.parametrize("total", [1, 2, 5, 8])
def test_whole_numbers_are_uniform_on_every_word_there_is(total):
    # Only the top bits count, at most three: eight words stand for all.
    counts = [0] * total
    for top in range(8):
        words = fixed_words([top << 61, 0])
        number = whole_below(total, words.stream(0, 1))
        if total == 1 or "1 of 2" in repr(words):  # the first word was kept
            counts[number] += 1
    assert len(set(counts)) == 1
    assert counts[0] > 0


def test_whole_numbers_below_totals_of_several_words_use_all_bits():
    assert whole_below(2**100, fixed_words([2**63, 1]).stream(0, 1)) == (2**63 << 64 | 1) >> 28
    drawn = [whole_below(3**100, source) for source in [bp.insecure_seed(1).stream(0, 1)] for _ in range(50)]
    assert max(drawn) > 3**100 // 2 > min(drawn)


def test_whole_numbers_below_are_equally_likely():
    # χ² with a false alarm once in a million seeds; a law that misses one number is found.
    drawn = whole_numbers_below(7, 70_000, bp.insecure_seed(2))
    assert stats.chisquare(np.bincount(drawn, minlength=7)).pvalue > 1e-6
    assert stats.chisquare(np.bincount(np.minimum(drawn, 5), minlength=7)).pvalue < 1e-6
    assert set(whole_numbers_below(8, 1000, bp.insecure_seed(2)).tolist()) == set(range(8))
