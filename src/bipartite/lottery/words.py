"""Random 64-bit words: AES-256 in counter mode, keyed by the operating system; never a statistical generator.

A *source* is what a caller passes as ``rng=``. For every call it opens one *stream* for each chunk of 2^20 values, so
that the reports depend on the words and not on the number of threads.

====================  ======================================================================================
``None``              the secure source: a fresh key for every bulk call; scalar calls share a buffer that
                      erases used words and takes a new key at each refill
``insecure_seed(7)``  a stateful stream for experiments and tests: reproducible, therefore not private
``fixed_words([…])``  given words, for test vectors
====================  ======================================================================================

**Forks.** A forked child inherits its parent's words, whether the fork happens between two calls or, in a signal
handler, during one. Secure words record the process that made them and are never used in another
(:mod:`bipartite.lottery.process`); a call during which the process was forked is repeated in the child by
:func:`redraw_if_forked`.
"""

from __future__ import annotations

import hashlib
import itertools
import operator
import os
import sys
import threading
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from bipartite.errors import BipartiteError, InputError, WordsExhaustedError
from bipartite.lottery.process import current_process

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from cryptography.hazmat.primitives.ciphers import CipherContext
    from numpy.typing import NDArray

    Words = NDArray[np.uint64]

T = TypeVar("T")

CHUNK: Final = 2**20
# Buffered words of a bulk stream: half a megabyte, which fits in a second-level cache and is enough to make the calls
# into AES and the kernel (a microsecond each) negligible and contention for the interpreter's lock rare (measured).
BLOCK: Final = 2**16
_SCALAR_WORDS: Final = 512
_WORD_BYTES: Final = 8
_ZEROS: Final = memoryview(bytes(BLOCK * _WORD_BYTES))
_KEY_BYTES: Final = 32
_NONCE_BYTES: Final = 16
_WORDS_IN_BLOCK: Final = 2  # AES makes 128 bits at a time
_WORDS: Final = 2**64
# A forking signal handler may interrupt a call once or twice, not eight times in a row.
_MOST_TRIES: Final = 8


class Stream(Protocol):
    """Random words in order."""

    def word(self) -> int:
        """The next word."""

    def window(self, least: int = 1) -> Words:
        """The next words, at least ``least`` of them, without consuming any."""

    def advance(self, used: int) -> None:
        """Consume the first ``used`` words of the window."""

    def erase(self) -> None:
        """Erase the buffered words."""


class Source(Protocol):
    """What ``rng=`` takes, apart from None."""

    def streams(self) -> Streams:
        """The streams of one call."""


class Streams(Protocol):
    """The streams of one call, one per chunk."""

    def stream(self, chunk: int, expected: int) -> Stream:
        """The stream of this chunk, from which about ``expected`` words will be taken."""


class KeyStream:
    """The words of AES-256-CTR under one key and nonce."""

    __slots__ = ("_cipher", "_end", "_start", "_view", "_words", "taken")

    def __init__(self, key: bytes, nonce: bytes, expected: int = BLOCK) -> None:
        self._cipher = _counter_mode(key, nonce)
        # A few more than expected, for redraws; a short call does not need a whole block.
        self._words = np.zeros(min(BLOCK, expected + expected // 64 + 8), dtype=np.uint64)
        self._view = self._words.data.cast("B")
        self._start = self._end = 0
        self.taken = 0

    def window(self, least: int = 1) -> Words:
        if self._end - self._start < least:
            self._refill()
        return self._words[self._start : self._end]

    def advance(self, used: int) -> None:
        self._start += used
        self.taken += used

    def word(self) -> int:
        word = int(self.window()[0])
        self._words[self._start] = 0
        self.advance(1)
        return word

    def erase(self) -> None:
        self._words.fill(0)
        self._start = self._end = 0

    def _refill(self) -> None:
        """Move the remaining words to the front and refill behind them."""
        left = self._end - self._start
        self._words[:left] = self._words[self._start : self._end]
        fresh = len(self._words) - left
        self._cipher.update_into(_ZEROS[: fresh * _WORD_BYTES], self._view[left * _WORD_BYTES :])
        if sys.byteorder == "big":
            self._words[left:].byteswap(inplace=True)
        self._start, self._end = 0, len(self._words)


class _LastingStream(KeyStream):
    """A stream that outlives a call: its words are kept for the next call."""

    __slots__ = ()

    def erase(self) -> None:
        """Keep the words for the next call."""


def _counter_mode(key: bytes, nonce: bytes) -> CipherContext:
    return Cipher(algorithms.AES256(key), modes.CTR(nonce)).encryptor()


def _nonce(call: int, chunk: int) -> bytes:
    """The initial counter: 4 bytes call, 4 bytes chunk, 8 bytes for the block counter."""
    return call.to_bytes(4, "big") + chunk.to_bytes(4, "big") + bytes(8)


class _SecureStream(KeyStream):
    """The words of one key in the process that made it; a forked process switches to a new key."""

    __slots__ = ("_process",)

    def __init__(self, key: bytes, chunk: int, expected: int, process: object) -> None:
        super().__init__(key, _nonce(0, chunk), expected)
        self._process = process

    def window(self, least: int = 1) -> Words:
        process = current_process()
        if process is not self._process:
            self._cipher = _counter_mode(os.urandom(_KEY_BYTES), _nonce(0, 0))
            self.erase()
            self._process = process
        return super().window(least)


class _SecureStreams:
    """The streams of one bulk call under a key that nothing else uses."""

    __slots__ = ("_key", "_process")

    def __init__(self) -> None:
        self._process = current_process()
        self._key = os.urandom(_KEY_BYTES)

    def stream(self, chunk: int, expected: int) -> KeyStream:
        return _SecureStream(self._key, chunk, expected, self._process)


class SecureSource:
    """The default: unpredictable, unrepeatable words."""

    __slots__ = ()

    def streams(self) -> _SecureStreams:
        return _SecureStreams()

    def __repr__(self) -> str:
        return "<secure words>"


class _ScalarBlock:
    """512 words under their own key, each handed out once and then erased.

    Positions come from a counter whose step is one C call, so a signal handler that draws a report in the middle of
    another cannot get the same word.
    """

    __slots__ = ("_bytes", "_positions", "process")

    def __init__(self) -> None:
        self.process = current_process()
        """The process they belong to: recorded first, so that a fork in between invalidates them."""
        cipher = _counter_mode(os.urandom(_KEY_BYTES), bytes(_NONCE_BYTES))
        self._bytes = bytearray(cipher.update(_ZEROS[: _SCALAR_WORDS * _WORD_BYTES]))
        self._positions: Iterator[int] = itertools.count(0, _WORD_BYTES)

    def take(self) -> int | None:
        at = next(self._positions)
        word = self._bytes[at : at + _WORD_BYTES]
        if not word:
            return None
        self._bytes[at : at + _WORD_BYTES] = bytes(_WORD_BYTES)
        return int.from_bytes(word, "little")


class _ScalarWords(threading.local):
    """The secure words of scalar calls: one buffer per thread."""

    def __init__(self) -> None:
        self._block: _ScalarBlock | None = None

    def word(self) -> int:
        while True:
            block = self._block
            word = None if block is None else block.take()
            # Checked after taking the word: after any earlier fork the child does not use it.
            if word is not None and block is not None and block.process is current_process():
                return word
            self._block = _ScalarBlock()


SECURE: Final = SecureSource()
SCALAR: Final = _ScalarWords()


def redraw_if_forked(draw: Callable[[], T]) -> T:
    """Return ``draw()``, drawn again if the process was forked meanwhile, as by a signal handler.

    A forked child would hold words that its parent also uses, and none of its parent's threads. If every draw forks,
    the children would fork forever: after a few tries this is refused.
    """
    for _ in range(_MOST_TRIES):
        process = current_process()
        drawn = draw()
        if current_process() is process:
            return drawn
    raise BipartiteError(
        f"The process was forked during each of {_MOST_TRIES} attempts to draw; fork between two calls."
    )


def take(stream: Stream, count: int) -> Words:
    """Take the next ``count`` words, valid until more are taken from the stream."""
    window = stream.window(count) if 0 < count <= BLOCK else np.empty(0, dtype=np.uint64)
    if len(window) < count:
        return take_copy(stream, count)
    stream.advance(count)
    return window[:count]


def take_copy(stream: Stream, count: int) -> Words:
    """Take the next ``count`` words as a new array."""
    words = np.empty(count, dtype=np.uint64)
    done = 0
    while done < count:
        window = stream.window()[: count - done]
        words[done : done + len(window)] = window
        stream.advance(len(window))
        done += len(window)
    return words


def draw_from(source: Source, expected: int, draw: Callable[[Stream], T]) -> T:
    """Draw from one new stream of about ``expected`` words and erase it; repeated if the process was forked."""

    def draw_once() -> T:
        stream = source.streams().stream(0, expected)
        try:
            return draw(stream)
        finally:
            stream.erase()

    return redraw_if_forked(draw_once)


class InsecureSeed:
    """A reproducible stream for experiments and tests. Reports drawn from it are not private.

    Successive calls continue the stream; two objects with the same seed give the same reports for the same calls. The
    first 2^20 values of a call continue one stream, so several small calls give the same reports as one call of up to
    2^20 values.
    """

    __slots__ = ("_calls", "_key", "_main", "_seed")

    def __init__(self, seed: int, calls: int = 0, taken: int = 0) -> None:
        """The stream of this seed after ``calls`` calls and ``taken`` words."""
        self._seed, self._calls = seed, calls
        self._key = hashlib.sha256(f"bipartite insecure seed {seed}".encode()).digest()
        self._main = _LastingStream(self._key, (taken // _WORDS_IN_BLOCK).to_bytes(_NONCE_BYTES, "big"))
        take(self._main, taken % _WORDS_IN_BLOCK)
        self._main.taken = taken

    def streams(self) -> InsecureSeed:
        self._calls += 1
        return self

    def stream(self, chunk: int, expected: int) -> Stream:
        # Calls are numbered from 1, so no later chunk shares a nonce with the main stream.
        return KeyStream(self._key, _nonce(self._calls, chunk), expected) if chunk else self._main

    def __eq__(self, other: object) -> bool:
        """Whether both will give the same words from now on."""
        return isinstance(other, InsecureSeed) and self._state() == other._state()

    __hash__ = None  # type: ignore[assignment]  # it changes with every call

    def _state(self) -> tuple[int, int, int]:
        return self._seed, self._calls, self._main.taken

    def __reduce__(self) -> tuple[type[InsecureSeed], tuple[int, int, int]]:
        # A copy or pickle continues from the current position, independently: scikit-learn copies the parameters of an
        # estimator. (Secure words have no copy, which would repeat them.)
        return InsecureSeed, self._state()

    def __repr__(self) -> str:
        return f"insecure_seed({self._seed})"


class FixedWords:
    """One stream of given 64-bit words, for calls of at most 2^20 values."""

    __slots__ = ("_start", "_words")

    def __init__(self, words: Words) -> None:
        self._words = words
        self._start = 0

    def streams(self) -> FixedWords:
        return self

    def stream(self, chunk: int, expected: int) -> Stream:  # noqa: ARG002 (the words are given, however many)
        if chunk:
            raise InputError(
                f"fixed_words serves calls of at most 2^20 = {CHUNK} values; call again with fewer at a time."
            )
        return self

    def window(self, least: int = 1) -> Words:
        left = len(self._words) - self._start
        if left < least:
            raise WordsExhaustedError(f"fixed_words ran out: all {len(self._words)} words are used; pass more words.")
        # A copy, since kernels may modify the words they are given.
        return self._words[self._start : self._start + max(BLOCK, least)].copy()

    def advance(self, used: int) -> None:
        self._start += used

    def word(self) -> int:
        word = int(self.window()[0])
        self._start += 1
        return word

    def erase(self) -> None:
        """Nothing to erase: the caller holds these words."""

    def __repr__(self) -> str:
        return f"<fixed words, {len(self._words) - self._start} of {len(self._words)} left>"


def insecure_seed(seed: int) -> InsecureSeed:
    """A stateful, reproducible stream for experiments and tests: ``rng=bp.insecure_seed(7)``.

    Reports drawn from it are **not private**: anyone who knows the seed can reverse them.
    """
    try:
        whole = operator.index(seed)
    except TypeError:
        whole = -1
    if not 0 <= whole < _WORDS:
        raise InputError("Expected seed as a whole number from 0 to 2^64 − 1; pass an int such as 7.")
    return InsecureSeed(whole)


def fixed_words(words: Iterable[int]) -> FixedWords:
    """One stream of the given 64-bit words, for test vectors: ``rng=bp.fixed_words([…])``.

    For calls of at most 2^20 values; raises :class:`~bipartite.errors.WordsExhaustedError` when the words run out.
    """
    try:
        whole = [operator.index(word) for word in words]
    except TypeError:
        raise InputError("Expected words as whole numbers from 0 to 2^64 − 1; pass a list of ints.") from None
    if any(not 0 <= word < _WORDS for word in whole):
        raise InputError("Expected words as whole numbers from 0 to 2^64 − 1; reduce them modulo 2^64.")
    return FixedWords(np.array(whole, dtype=np.uint64))


def source_of(rng: object) -> Source:
    """The source behind ``rng=``, refusing anything but secure, seeded or fixed words."""
    if rng is None:
        return SECURE
    if isinstance(rng, (InsecureSeed, FixedWords, SecureSource)):
        return rng
    raise InputError(
        f"Expected rng=None (secure), bp.insecure_seed(…) or bp.fixed_words(…), got {type(rng).__name__}; "
        "statistical generators are not accepted, use bp.insecure_seed(7) for reproducible experiments."
    )


def is_secure(rng: object) -> bool:
    """Whether the words behind ``rng=`` are unpredictable, which every claim of ε for reports drawn from it requires.

    Only None and the secure source qualify; seeded and fixed words and anything unknown do not.
    """
    return rng is None or isinstance(rng, SecureSource)
