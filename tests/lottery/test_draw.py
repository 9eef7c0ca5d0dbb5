"""The law of the draw, by enumeration; and that all implementations draw the same reports from the same words."""

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bipartite.errors import WordsExhaustedError
from bipartite.lottery import Tickets, Window, draw_many, fixed_words, insecure_seed
from bipartite.lottery.bulk import Codec, ValuesRefusedError, run_jobs, split_coins
from bipartite.lottery.compiled import line_kernel, reciprocal_of
from bipartite.lottery.uniform import high_half
from tests.conftest import numpy_kernel
from tests.strategies import brr

BITS = 9  # more words than any of these lotteries has tickets


class EveryWord:
    """A stream of one given word, which notes a redraw instead of serving it."""

    class RedrawnError(Exception):
        pass

    def __init__(self, word):
        self.words = [word]

    def word(self):
        if not self.words:
            raise self.RedrawnError
        return self.words.pop()


def lotteries(word_bits=64):
    """Small lotteries of every shape: clamped and padded, odd and even m, several tickets."""
    for inputs, (near, far) in itertools.product((2, 3, 5, 8), ((2, 1), (3, 1), (5, 2), (11, 8), (37, 4))):
        for m in range(1, inputs):
            yield Window(inputs, inputs, m, -(m // 2), Tickets(near, far), word_bits)
        for m in (1, 3, 5):
            yield Window(inputs, inputs + m - 1, m, 0, Tickets(near, far), word_bits)


def test_over_all_words_every_output_gets_exactly_its_tickets():
    for lottery, x in ((each, x) for each in lotteries(BITS) for x in range(each.inputs)):
        drawn = Counter()
        redrawn = 0
        for word in range(2**BITS):
            try:
                drawn[lottery.draw(x, EveryWord(word))] += 1
            except EveryWord.RedrawnError:
                redrawn += 1
        rounds, left = divmod(2**BITS, lottery.total)
        assert redrawn == left, lottery
        assert drawn == {y: rounds * held for y, held in enumerate(lottery.rows(x, x + 1)[0].tolist())}, lottery


def test_an_enumeration_would_see_a_wrong_law():
    # The power of the test above: without the redraw, some output gets a word too many.
    lottery = next(each for each in lotteries(BITS) if 2**BITS % each.total)
    biased = Counter(lottery.owner(0, word * lottery.total >> BITS) for word in range(2**BITS))
    row = lottery.rows(0, 1)[0].tolist()
    assert any(biased[y] * lottery.total != 2**BITS * held for y, held in enumerate(row))


def words_at_the_edges(lottery):
    """For some tickets the first and the last word that draw them, the words around, and words that are redrawn."""
    total = lottery.total
    every = (
        range(total)
        if total <= 300
        else {*range(9), *range(total - 9, total)}
        | {lottery.near_total + step for step in range(-3, 4)}
        | {lottery.tickets.near * i + step for i in (1, 2, lottery.m // 2, lottery.m - 1) for step in (-1, 0, 1)}
    )
    for ticket in every:
        first = -(-ticket * 2**64 // total)
        yield from (word for word in range(first - 2, first + 3) if 0 <= word < 2**64)


def naive_reports(lottery, x, words):
    """One report after another, in plain Python, until the words run out."""
    source = fixed_words(words)
    while True:
        try:
            yield lottery.draw(x, source)
        except WordsExhaustedError:
            return


def test_kernels_agree_with_plain_python_at_the_edges_of_every_ticket(kernel):
    for lottery in lotteries():
        words = list(words_at_the_edges(lottery))
        for x in range(lottery.inputs):
            assert_same_reports(lottery, kernel, x, words)


def test_kernels_agree_with_plain_python_where_no_word_is_near_a_redraw(kernel):
    # Words at the edges of tickets are all near one, and the compiled kernel draws runs of others by code of its own.
    for lottery in lotteries():
        words = [(2 * ticket + 1) * 2**63 // lottery.total for ticket in range(lottery.total)]
        for x in range(lottery.inputs):
            assert_same_reports(lottery, kernel, x, words)


def assert_same_reports(lottery, kernel, x, words, offset=0):
    expected = list(naive_reports(lottery, x, words))
    codes = np.full(len(words), x + offset, dtype=np.int64)
    reports = np.zeros(len(words), dtype=np.int64)
    done, used, inside = kernel(lottery)(codes, reports, np.array(words, dtype=np.uint64), offset, offset)
    assert (done, used, inside) == (len(expected), len(words), True), lottery
    assert (reports[:done] - offset).tolist() == expected, lottery


@given(mechanism=brr(), data=st.data())
@pytest.mark.parametrize("kernel_class", [numpy_kernel, line_kernel])
def test_kernels_agree_with_plain_python_on_real_lotteries(kernel_class, mechanism, data):
    lottery = mechanism.lottery
    x = data.draw(st.integers(0, lottery.inputs - 1))
    random = data.draw(st.lists(st.integers(0, 2**64 - 1), max_size=20))
    words = [word for word in words_at_the_edges(lottery) if 0 <= word < 2**64] + random
    assert_same_reports(lottery, kernel_class, x, words, offset=data.draw(st.integers(-(2**53), 2**53)))


@pytest.mark.parametrize("code", [-1, 8, 2**63 - 1, -(2**63), 2**31])
def test_a_code_outside_the_domain_is_noticed_by_every_kernel(code, kernel):
    lottery = Window(8, 8, 3, -1, Tickets(11, 8))
    codes = np.array([0, 7, 3, code, 2], dtype=np.int64)
    words = np.arange(1, 6, dtype=np.uint64) * np.uint64(2**60 + 12345)
    assert not kernel(lottery)(codes, np.zeros(5, dtype=np.int64), words, 0, 0)[2]
    assert kernel(lottery)(codes[:3], np.zeros(3, dtype=np.int64), words, 0, 0) == (3, 3, True)


def test_kernels_consume_no_word_too_many(kernel):
    # Zero is always redrawn (its product is zero), so two words serve the values and two of four zeros are passed over.
    lottery = Window(8, 8, 3, -1, Tickets(11, 8))
    assert lottery.redraw_below > 0
    words = np.array([0, 0, 2**63, 2**62, 0, 0], dtype=np.uint64)
    assert kernel(lottery)(np.zeros(2, dtype=np.int64), np.zeros(2, dtype=np.int64), words, 0, 0) == (2, 4, True)
    assert kernel(lottery)(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), words, 0, 0)[:2] == (0, 0)


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
def test_the_high_half_of_a_product_is_exact(a, b):
    assert int(high_half(np.array([a], dtype=np.uint64), b)[0]) == a * b >> 64


@given(st.integers(2, 2**52 - 1), st.data())
def test_division_by_reciprocal_is_exact_around_every_multiple(near, data):
    multiplier, shift = reciprocal_of(near)
    assert 0 < multiplier < 2**64
    quotient = data.draw(st.integers(0, (2**52 - 1) // near))
    for ticket in (quotient * near - 1, quotient * near, quotient * near + 1, quotient * near + near - 1, 2**52 - 1):
        if 0 <= ticket < 2**52:
            assert (ticket * multiplier >> 64) >> shift == ticket // near


@given(st.lists(st.sampled_from(["redrawn", "kept"]), max_size=40), st.integers(0, 12))
def test_coins_and_draws_are_split_as_one_by_one(kinds, need):
    lottery = Window(8, 8, 3, -1, Tickets(11, 8))
    words = [0 if kind == "redrawn" else 2**60 + 7 * at for at, kind in enumerate(kinds)]
    coins, draws, used = split_coins(np.array(words, dtype=np.uint64), lottery.total, need)

    expected_coins, expected_draws, expected_used = [], [], 0
    at = 0
    while len(expected_coins) < need and at < len(words):
        coin = words[at]
        at += 1
        while at < len(words) and words[at] == 0:
            at += 1
        if at == len(words):
            break
        expected_coins.append(coin)
        expected_draws.append(words[at])
        at += 1
        expected_used = at
    assert (coins.tolist(), draws.tolist(), used) == (expected_coins, expected_draws, expected_used)


IDENTITY = Codec(lambda values, _: values)
"""A codec for whole numbers from zero."""


def test_reports_depend_on_words_and_not_on_threads_or_kernels(kernel):
    lottery = Window(73, 73, 27, -13, Tickets(95641039294813, 35184372088832))
    values = np.random.default_rng(5).integers(0, 73, 2 * 2**20 + 777)
    base = draw_many(lottery, IDENTITY, values, insecure_seed(3), kernel=lottery.draw_block)
    threaded = draw_many(lottery, IDENTITY, values, insecure_seed(3), threads=3, kernel=kernel(lottery))
    assert (base == threaded).all()


def test_a_bad_value_in_any_chunk_stops_the_call(kernel):
    lottery = Window(73, 73, 27, -13, Tickets(95641039294813, 35184372088832))
    for position in (0, 2**20 - 1, 2**20, 2 * 2**20 + 776):
        values = np.zeros(2 * 2**20 + 777, dtype=np.int64)
        values[position] = 73
        for threads in (1, 2):
            with pytest.raises(ValuesRefusedError):
                draw_many(lottery, IDENTITY, values, insecure_seed(3), threads=threads, kernel=kernel(lottery))


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_jobs_are_shared_out_once_each_and_a_failure_ends_them(threads):
    done = []
    run_jobs(done.append, 40, threads)
    assert sorted(done) == list(range(40))

    begun = []

    def fails_at_three(job):
        begun.append(job)
        if job == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_jobs(fails_at_three, 10**6, threads)
    assert len(begun) < 10**6
