"""Bulk draws: chunks and threads.

A call is split into chunks of 2^20 values, each with its own stream of random words, so that the reports depend on the
words and not on the number of threads. Within a chunk, blocks that fit in the cache pass through encode → draw →
decode.
"""

from __future__ import annotations

import itertools
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from bipartite.lottery.process import current_process
from bipartite.lottery.uniform import is_kept
from bipartite.lottery.words import CHUNK, redraw_if_forked

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bipartite.lottery.deal import Deal, Kernel
    from bipartite.lottery.words import Source, Stream

    Words = NDArray[np.uint64]

_INT64: Final = np.dtype(np.int64)


@dataclass(frozen=True, slots=True)
class Codec:
    """How blocks of values become codes, and drawn codes reports; a domain makes it."""

    encode: Callable[[NDArray[Any], NDArray[np.uint64] | None], NDArray[np.int64]]
    """The codes of values, with a random word for each if ``coins``."""
    code_offset: int = 0
    """A value's index is its code minus this; a code outside the domain marks a value that must not be reported."""
    coins: bool = False
    report_offset: int = 0
    """A report's code is its index plus this."""
    report_dtype: np.dtype[Any] = _INT64
    decode: Callable[[NDArray[np.int64], NDArray[Any]], None] | None = None
    """Writes the reports with these codes; None if codes are the reports, written in place."""


class ValuesRefusedError(Exception):
    """Some value cannot become a report; the caller, who holds the values, explains why."""


def draw_many(
    deal: Deal,
    codec: Codec,
    values: NDArray[Any],
    source: Source,
    *,
    threads: int = 1,
    kernel: Kernel | None = None,
) -> NDArray[Any]:
    """Draw one report for each value of a one-dimensional contiguous array."""
    chosen = kernel or deal.kernel(len(values))
    reports = np.empty(len(values), dtype=codec.report_dtype)

    def draw_part(start: int, stop: int, stream: Stream) -> None:
        _draw_chunk(deal, chosen, codec, values[start:stop], reports[start:stop], stream)

    run_by_chunks(len(values), CHUNK, 2 if codec.coins else 1, source, threads, draw_part)
    return reports


class ChunkJob(Protocol):
    """A job on the values start … stop − 1 with the random words of a stream."""

    def __call__(self, start: int, stop: int, stream: Stream, /) -> None:
        """Write the reports of these values."""


def run_by_chunks(count: int, size: int, words_each: int, source: Source, threads: int, job: ChunkJob) -> None:
    """Run a job on every chunk of ``size`` values, each with its own stream of random words, on ``threads`` threads."""

    def draw_all() -> None:
        streams = source.streams()

        def draw_chunk(chunk: int) -> None:
            start, stop = chunk * size, min(count, (chunk + 1) * size)
            stream = streams.stream(chunk, (stop - start) * words_each)
            try:
                job(start, stop, stream)
            finally:
                stream.erase()

        run_jobs(draw_chunk, -(-count // size), threads)

    redraw_if_forked(draw_all)


def run_jobs(job: Callable[[int], None], jobs: int, threads: int) -> None:
    """Run jobs 0, 1, … on ``threads`` threads including the caller's; after a failure no new job starts.

    Not a thread pool: its caller would wake after every job only to wait for the next, taking the interpreter's lock
    and a core from the workers. Two threads are at least 1.6 times as fast as one without a pool, 1.3 to 1.8 times
    with one (measured).
    """
    numbers = itertools.count()  # one step is one C call and takes no lock that a forked child could find held
    failures: list[BaseException] = []

    def work() -> None:
        try:
            while not failures and (number := next(numbers)) < jobs:
                job(number)
        except BaseException as failure:  # noqa: BLE001 (raised again below, in the caller's thread)
            failures.append(failure)

    process = current_process()
    helpers = [threading.Thread(target=work) for _ in range(min(threads, jobs) - 1)]
    for helper in helpers:
        helper.start()
    work()
    try:
        for helper in helpers:
            if current_process() is process:  # a forked child has no helper threads
                helper.join()
    except BaseException as interruption:  # noqa: BLE001 (likewise; this also makes the helpers stop)
        failures.append(interruption)
    if failures:
        raise failures[0]


def _draw_chunk(
    deal: Deal, kernel: Kernel, codec: Codec, values: NDArray[Any], reports: NDArray[Any], stream: Stream
) -> None:
    done = 0
    least = 1
    while done < len(values):
        words = stream.window(least)
        coins = None
        served = None
        if codec.coins:
            available = len(words)
            coins, words, served = split_coins(words, deal.total, len(values) - done)
            if not served:
                least = available + 1  # a coin without its draw: request more
                continue
            least = 1
        block = slice(done, min(done + len(words), len(values)))
        codes = codec.encode(values[block], coins)
        target = reports[block] if codec.decode is None else np.empty(len(codes), dtype=np.int64)
        drawn, used, inside = kernel(codes, target, words, codec.code_offset, codec.report_offset)
        if not inside:
            raise ValuesRefusedError
        if codec.decode is not None:
            codec.decode(target[:drawn], reports[done : done + drawn])
        stream.advance(used if served is None else served)
        done += drawn


def split_coins(words: Words, total: int, need: int) -> tuple[Words, Words, int]:
    """(coins, words for the draws, words used) for up to ``need`` values, as far as the words suffice.

    Each value takes one word as its coin, for random rounding, then words until one is not redrawn. Redraws are rare
    (below 2^−12), so the words are split at the redraws and everything between two of them is handled at once.
    """
    redrawn = np.flatnonzero(~is_kept(words, total)).tolist()
    redrawn_set = set(redrawn)
    coins, draws = [], []
    at = 0  # the next coin
    end = len(words)
    for position in redrawn:
        if position < at or (position - at) % 2 == 0:
            continue  # already skipped, or a coin, and a coin is never redrawn
        kept = position + 1
        while kept in redrawn_set:
            kept += 1
        if kept >= end:
            end = position - 1  # the last coin has no draw yet: leave both for the next window
            break
        coins.append(np.arange(at, position, 2))
        draws.append(np.append(np.arange(at + 1, position, 2), kept))
        at = kept + 1
    tail = max(0, (end - at) // 2)
    coins.append(np.arange(at, at + 2 * tail, 2))
    draws.append(np.arange(at + 1, at + 1 + 2 * tail, 2))
    coin_at, draw_at = np.concatenate(coins)[:need], np.concatenate(draws)[:need]
    used = int(draw_at[-1]) + 1 if len(draw_at) else 0
    return words[coin_at], words[draw_at], used
