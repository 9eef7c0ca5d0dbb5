"""The choice is exactly uniform: every word there is, where words are short; every boundary, where they are long."""

from collections import Counter

import numpy as np
import pytest

from bipartite import fixed_words, insecure_seed
from bipartite.errors import WordsExhaustedError
from bipartite.lottery.uniform import ticket_below
from bipartite.lottery.words import CHUNK
from bipartite.mechanisms.record import MOST_CHOICES, choose_many

WORDS = 2**64
SIZES = [1, 2, 3, 5, 6, 7, 10, 255, 641, 6700, MOST_CHOICES - 1, MOST_CHOICES]


class Word:
    """A stream of one word."""

    def __init__(self, word):
        self.words = [word]

    def word(self):
        if not self.words:
            raise WordsExhaustedError("redrawn")
        return self.words.pop()


@pytest.mark.parametrize("choices", range(1, 41))
def test_over_all_words_every_choice_comes_equally_often(choices):
    counts = Counter()
    for word in range(2**10):
        try:
            counts[ticket_below(choices, Word(word), word_bits=10)] += 1
        except WordsExhaustedError:
            counts["redrawn"] += 1
    assert counts.pop("redrawn", 0) == 2**10 % choices
    assert counts == dict.fromkeys(range(choices), 2**10 // choices)


@pytest.mark.parametrize("choices", SIZES)
def test_of_64_bits_every_choice_owns_equally_many_words(choices):
    # The words of one choice lie side by side, and only the first of them can be redrawn (2^64 mod d < d): so first,
    # second and last tell how many there are.
    redrawn = 0
    for chosen in {0, 1, choices // 2, choices - 2, choices - 1} & set(range(choices)):
        first = -(-chosen * WORDS // choices)
        end = -(-(chosen + 1) * WORDS // choices)
        refused = first * choices % WORDS < WORDS % choices
        redrawn += refused
        assert end - first - refused == WORDS // choices
        # Where the first is redrawn the next word, of the last choice, decides.
        expected = choices - 1 if refused else chosen
        assert ticket_below(choices, fixed_words([first, WORDS - 1])) == expected
        assert choose_many(choices, 1, fixed_words([first, WORDS - 1])).tolist() == [expected]
        for word in (first + 1, end - 1):
            assert ticket_below(choices, fixed_words([word])) == chosen
            assert choose_many(choices, 1, fixed_words([word])).tolist() == [chosen]
    assert bool(redrawn) == (WORDS % choices > 0)


@pytest.mark.parametrize("choices", SIZES)
def test_many_choices_are_those_of_one_at_a_time(choices):
    edge = [0, 1, WORDS - 1, WORDS // 2, WORDS // choices - 1, WORDS // choices, WORDS // choices + 1]
    words = [word for word in edge if word < WORDS] + [
        int(word) for word in insecure_seed(choices).streams().stream(0, 1).window()[:500]
    ]
    kept = [word for word in words if word * choices % WORDS >= WORDS % choices]
    one, many = fixed_words(words), fixed_words(words)
    assert choose_many(choices, len(kept), many).tolist() == [ticket_below(choices, one) for _ in kept]
    assert repr(one) == repr(many)


def test_a_long_call_takes_blocks_and_chunks_in_order():
    people = CHUNK + 1000
    chosen = choose_many(3, people, insecure_seed(1))
    source = insecure_seed(1).streams()
    for part, stream in ((chosen[:CHUNK], source.stream(0, 1)), (chosen[CHUNK:], source.stream(1, 1000))):
        assert part[:1000].tolist() == [ticket_below(3, stream) for _ in range(1000)]
    # 2^20 uniform choices lie within six standard deviations of a third: a false alarm in 10^8 (and seeded).
    assert np.abs(np.bincount(chosen) - people / 3).max() < 6 * np.sqrt(people * 2 / 9)


def test_nobody_needs_no_word_and_too_few_words_are_told():
    assert choose_many(3, 0, fixed_words([])).tolist() == []
    with pytest.raises(WordsExhaustedError, match="pass more words"):
        choose_many(3, 2, fixed_words([WORDS - 1]))
