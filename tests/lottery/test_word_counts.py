"""How many words each mechanism takes, asserted exactly, against a count that follows the rules word by word."""

import itertools

import numpy as np
import pytest

import bipartite as bp
from bipartite.lottery import MAX_TOTAL, Codec, draw_many
from bipartite.lottery.words import InsecureSeed
from tests.verification.test_audit import MECHANISMS

VALUES = 20_000
WORDS = 2**64


class Counting(InsecureSeed):
    """A seeded stream that notes how many words were taken from it."""

    __slots__ = ("used",)

    def __init__(self, seed):
        super().__init__(seed)
        self.used = 0

    def stream(self, chunk, expected):
        assert chunk == 0
        return Counted(super().stream(chunk, expected), self)


class Counted:
    def __init__(self, stream, source):
        self.stream, self.source = stream, source
        self.window, self.erase = stream.window, stream.erase

    def advance(self, used):
        self.source.used += used
        self.stream.advance(used)

    def word(self):
        self.source.used += 1
        return self.stream.word()


def words_of(seed):
    """The same words, one after another."""
    stream = bp.insecure_seed(seed).streams().stream(0, 1)
    return iter(stream.word, None)


def take_ticket(words, total):
    """(a uniform ticket, the words that it took)."""
    for taken in itertools.count(1):
        product = next(words) * total
        if product % WORDS >= WORDS % total:
            return product // WORDS, taken
    raise AssertionError


def expected_words(mechanism, x, values, seed):
    """The words that this many reports of input x take, by the rules."""
    words, lottery, used = words_of(seed), mechanism.lottery, 0
    coins = getattr(mechanism.domain, "rounding", "nearest") == "random"
    by_tries = hasattr(lottery, "by_list") and not lottery.by_list
    near = lottery.near(x) if by_tries else None
    for _ in range(values):
        if coins:
            next(words)
            used += 1
        while True:
            ticket, taken = take_ticket(words, lottery.drawn_from if by_tries else lottery.total)
            used += taken
            if not by_tries:
                break
            y, rest = divmod(ticket, lottery.tickets.near)
            if near[y] or rest < lottery.tickets.far:
                break
    return used


@pytest.mark.parametrize(("mechanism", "inputs"), MECHANISMS, ids=[repr(each)[:40] for each, _ in MECHANISMS])
def test_every_mechanism_takes_exactly_the_words_that_its_rules_say(mechanism, inputs):
    for value in inputs:
        source = Counting(3)
        mechanism.privatize(np.full(VALUES, value), rng=source)
        assert source.used == expected_words(mechanism, mechanism.domain.encode(value), VALUES, 3)


@pytest.mark.parametrize(("mechanism", "inputs"), MECHANISMS, ids=[repr(each)[:40] for each, _ in MECHANISMS])
def test_one_value_takes_the_same_words(mechanism, inputs):
    source = Counting(4)
    for _ in range(200):
        mechanism.privatize(inputs[0], rng=source)
    assert source.used == expected_words(mechanism, mechanism.domain.encode(inputs[0]), 200, 4)


def exactly_one(mechanism):
    """No redraw: the number of tickets divides 2^64; no coin and no tries."""
    return WORDS % mechanism.lottery.total == 0 and not hasattr(mechanism.lottery, "by_list")


def test_tables_of_tickets_take_one_word_a_value():
    tables = [mechanism for mechanism, _ in MECHANISMS if mechanism.lottery.total == MAX_TOTAL]
    assert {type(each).__name__ for each in tables} >= {"Exponential", "Optimal", "RegionWeighted"}
    for mechanism in tables:
        assert exactly_one(mechanism)
        source = Counting(5)
        mechanism.privatize([mechanism.domain.decode(x % len(mechanism.domain)) for x in range(5000)], rng=source)
        assert source.used == 5000


@pytest.mark.parametrize("seed", range(3))
def test_on_a_line_the_words_do_not_depend_on_the_values(seed):
    mechanism = bp.BRR(bp.Integers(18, 90), 1)
    used = set()
    for value in (18, 54, 90):
        source = Counting(seed)
        reports = mechanism.privatize(np.full(VALUES, value), rng=source)
        used.add(source.used)
        assert len(reports) == VALUES
    # A redraw comes with probability below 2^−12: a few in so many values, the same few for every value.
    assert len(used) == 1
    assert VALUES <= used.pop() < VALUES + 60


def test_a_kernel_takes_the_words_that_its_rules_say(kernel):
    mechanism = bp.BRR(bp.Integers(0, 72), 1)
    source = Counting(6)
    draw_many(
        mechanism.lottery, Codec(lambda values, _: values), np.full(VALUES, 9), source, kernel=kernel(mechanism.lottery)
    )
    assert source.used == expected_words(mechanism, 9, VALUES, 6)


def test_rounding_by_coin_takes_two_words_and_a_sampled_record_one_more():
    interval = bp.Interval(0, 1, points=9, rounding="random")
    mechanism = bp.Exponential(interval, 1)
    source = Counting(7)
    mechanism.privatize(np.full(1000, 0.3), rng=source)
    assert source.used == 2000
    table = bp.Exponential(bp.Integers(1, 5), 1)
    people = {"a": [1, 2, 3], "b": [4, 5, 1]}
    for sample, words in ((None, 6), (1, 9)):
        source = Counting(8)
        bp.Record({"a": table, "b": table}, sample=sample).privatize(people, rng=source)
        assert source.used == words


def test_a_count_that_is_wrong_by_one_word_is_seen():
    # The power of the tests above: without the redraws the count falls short for some mechanism.
    mechanism = bp.BRR(bp.Integers(18, 90), 1)
    found = []
    for seed in range(6):
        source = Counting(seed)
        mechanism.privatize(np.full(VALUES, 40), rng=source)
        found.append(source.used)
    assert max(found) > VALUES
