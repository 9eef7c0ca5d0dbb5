"""No fork, wherever it happens and whoever makes it, gives two processes one word."""

import ctypes
import os
import pickle
import signal
import sys
import threading

import numpy as np
import pytest

from bipartite import BRR, GRR, OUE, Integers, Interval, Record
from bipartite.errors import BipartiteError
from bipartite.lottery import bulk
from bipartite.lottery.integer_noise import discrete_laplace, flip_coins, rounded_gaussian
from bipartite.lottery.process import _PROCESS
from bipartite.lottery.uniform import whole_numbers_below
from bipartite.lottery.words import SCALAR, SECURE, KeyStream, _ScalarBlock, redraw_if_forked

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork"),
    pytest.mark.filterwarnings("ignore:This process:DeprecationWarning"),
]

VALUES = np.arange(1000)
WIDE = BRR(Integers(0, 999), epsilon=1)


def fork_without_hooks():
    """As a C library forks: nothing of Python's learns of it. PyDLL keeps the interpreter's lock meanwhile."""
    return ctypes.PyDLL(None).fork()


FORKS = {"Python's": os.fork, "C's": fork_without_hooks}


@pytest.fixture(params=FORKS.values(), ids=FORKS)
def fork(request):
    return request.param


class Forking:
    """Forks when told to, once; at the end parent and child are brought together again."""

    def __init__(self, fork):
        self._fork = fork
        self._way_out, self._way_in = os.pipe()
        self.child = None
        """The child's number in the parent, 0 in the child, None before."""

    def now(self):
        if self.child is None:
            self.child = self._fork()

    def both(self, call):
        """What a call gave in the parent and in the child; the child ends here, whatever happens."""
        try:
            found = call()
        except BaseException as error:
            if self.child != 0:
                raise
            found = error
        if self.child == 0:
            os.write(self._way_in, pickle.dumps(found)[: 2**16])
            os._exit(0)
        os.close(self._way_in)
        with os.fdopen(self._way_out, "rb") as pipe:
            theirs = pickle.load(pipe)
        os.waitpid(self.child, 0)
        if isinstance(theirs, BaseException):
            raise theirs
        return found, theirs


@pytest.fixture
def forking(fork):
    return Forking(fork)


def some_words():
    return [SCALAR.word() for _ in range(20)]


def test_a_child_between_two_calls_draws_other_words(forking):
    SCALAR.word()  # the parent's buffer exists
    forking.now()
    mine, theirs = forking.both(some_words)
    assert not set(mine) & set(theirs)


@pytest.mark.parametrize("place", ["before", "after"])
def test_a_signal_handler_that_forks_in_the_middle_of_a_word_shares_none(forking, place, monkeypatch):
    SCALAR.word()
    take = _ScalarBlock.take
    before = signal.signal(signal.SIGUSR1, lambda *_: forking.now())

    def interrupted(block):
        # The caller holds the block by now; what it was handed is lost on it only after the handler has run.
        if place == "before":
            signal.raise_signal(signal.SIGUSR1)
        word = take(block)
        if place == "after":
            signal.raise_signal(signal.SIGUSR1)
        return word

    monkeypatch.setattr(_ScalarBlock, "take", interrupted)
    try:
        mine, theirs = forking.both(some_words)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert not set(mine) & set(theirs)


def test_a_fork_while_the_buffer_is_made_shares_none(forking, monkeypatch):
    urandom = os.urandom

    def interrupted(count):
        key = urandom(count)
        forking.now()
        return key

    SCALAR._block = None
    monkeypatch.setattr(os, "urandom", interrupted)
    mine, theirs = forking.both(some_words)
    assert not set(mine) & set(theirs)


MANY = dict.fromkeys(map(str, range(300)), 5)
ONE_BY_ONE = {
    "a line": lambda: BRR(Integers(0, 2**30), epsilon=1).privatize(5),
    "samples": lambda: sorted(Record(dict.fromkeys(MANY, WIDE), sample=2).privatize(MANY)),
}


@pytest.mark.parametrize("call", ONE_BY_ONE.values(), ids=ONE_BY_ONE)
def test_a_fork_between_a_word_and_its_use_makes_the_child_draw_again(forking, call, monkeypatch):
    # Two processes that draw apart agree with a chance below 2^-15 in every case here.
    word = type(SCALAR).word

    def interrupted(words):
        found = word(words)
        forking.now()
        return found

    monkeypatch.setattr(type(SCALAR), "word", interrupted)
    mine, theirs = forking.both(call)
    assert mine != theirs


HELD = {
    "streams": lambda: (SECURE.streams(), lambda held: held.stream(0, 100)),
    "a stream": lambda: (SECURE.streams().stream(0, 100), lambda held: held),
}


@pytest.mark.parametrize("held", HELD.values(), ids=HELD)
def test_what_is_held_across_a_fork_gives_the_child_other_words(forking, held):
    kept, open_stream = held()
    if isinstance(kept, KeyStream):
        kept.word()
    forking.now()
    mine, theirs = forking.both(lambda: list(open_stream(kept).window(50)[:50].tolist()))
    assert not set(mine) & set(theirs)


def samples():
    return Record({"a": WIDE, "b": WIDE}, sample=1).privatize({"a": VALUES, "b": VALUES})["a"].mask.tolist()


CALLS = {
    "a line": lambda: WIDE.privatize(VALUES).tolist(),
    "a line, two threads": lambda: WIDE.privatize(VALUES, threads=2).tolist(),
    "random rounding": lambda: BRR(Interval(0, 999, points=1000, rounding="random"), 1).privatize(VALUES).tolist(),
    "rows": lambda: GRR(Integers(0, 999), epsilon=1).privatize(VALUES).tolist(),
    "categories": lambda: OUE(Integers(0, 99), epsilon=1).privatize(VALUES % 100).tolist()[:20],
    "one category": lambda: OUE(Integers(0, 999), epsilon=1).privatize(5).tolist(),
    "samples": samples,
    "discrete Laplace": lambda: discrete_laplace(200, 20, SECURE).tolist(),
    "rounded Gaussian": lambda: rounded_gaussian(200, 20, SECURE).tolist(),
    "coins": lambda: flip_coins(1000, 0.5, SECURE).tolist(),
    "whole numbers": lambda: whole_numbers_below(10**6, 200, SECURE).tolist(),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_fork_between_a_block_of_words_and_its_use_makes_the_child_draw_again(forking, call, monkeypatch):
    # Two processes that draw apart agree with a chance below 2^-100 in every case here.
    call()  # nothing is made for the first time in what follows
    window = KeyStream.window

    def interrupted(stream, least=1):
        words = window(stream, least)
        forking.now()
        return words

    monkeypatch.setattr(KeyStream, "window", interrupted)
    mine, theirs = forking.both(call)
    assert mine != theirs and len(mine) == len(theirs)


def test_a_child_neither_waits_for_the_threads_of_its_parent_nor_misses_what_they_did(forking, monkeypatch):
    # Two chunks of 500. The helper draws its own only when the caller has forked in the middle of the other one.
    monkeypatch.setattr(bulk, "CHUNK", 500)
    chunk = bulk._draw_chunk
    forked = threading.Event()

    def interrupted(lottery, kernel, codec, values, reports, stream):
        if threading.current_thread() is threading.main_thread():
            forking.now()
            forked.set()
        else:
            forked.wait(60)
        chunk(lottery, kernel, codec, values, reports, stream)

    monkeypatch.setattr(bulk, "_draw_chunk", interrupted)
    mine, theirs = forking.both(lambda: WIDE.privatize(VALUES, threads=2).tolist())
    assert mine != theirs
    assert all(0 <= report < 1000 for report in theirs) and len(theirs) == 1000


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel wipes a page at a fork on Linux only")
def test_a_child_with_the_number_of_its_parent_is_another_process(forking, monkeypatch):
    # Numbers are used again, and a container's first process and that of a namespace inside it are both number 1.
    number = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: number)
    some_words()
    forking.now()
    mine, theirs = forking.both(some_words)
    assert not set(mine) & set(theirs)


def test_a_draw_that_forks_each_time_is_refused_and_does_not_fork_for_ever():
    forks = []

    def draw():
        forks.append(None)
        _PROCESS.begin()  # as a fork does

    with pytest.raises(BipartiteError, match="forked during each of 8 attempts to draw; fork between two calls"):
        redraw_if_forked(draw)
    assert len(forks) == 8
