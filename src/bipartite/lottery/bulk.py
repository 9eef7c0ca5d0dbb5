"""Bulk draws: chunks, threads, and the choice between compiled and NumPy kernels.

A call is split into chunks of 2^20 values, each with its own stream of random words, so that the reports depend on the
words and not on the number of threads. Within a chunk, blocks that fit in the cache pass through encode → draw →
decode.
"""

from __future__ import annotations

import functools
import importlib
import itertools
import sys
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from bipartite.lottery.grouped import GroupedLottery
from bipartite.lottery.line import LineLottery
from bipartite.lottery.mixed import MixedLottery
from bipartite.lottery.noise import NoiseLottery
from bipartite.lottery.pairs import split_coins
from bipartite.lottery.points import PointLottery
from bipartite.lottery.process import current_process
from bipartite.lottery.regional import BlockLottery, WeightLottery
from bipartite.lottery.ring import RingLottery
from bipartite.lottery.rows import RowLottery
from bipartite.lottery.vectorised import VectorisedLine
from bipartite.lottery.vectorised_points import ListedPoints, TriedPoints
from bipartite.lottery.vectorised_rows import GroupedKernel, RingKernel, SearchedRows
from bipartite.lottery.words import CHUNK, redraw_if_forked

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from numpy.typing import NDArray

    from bipartite.lottery.kernel import Kernel
    from bipartite.lottery.words import Source, Stream

Lottery = (
    LineLottery
    | PointLottery
    | RowLottery
    | NoiseLottery
    | GroupedLottery
    | MixedLottery
    | RingLottery
    | BlockLottery
    | WeightLottery
)

# Loading numba takes as long as it saves on about this many reports (0.6 s, measured), so it is loaded once that many
# have been requested or announced, in one call or several; once loaded, it pays off for far smaller calls.
LOAD_COMPILER_FROM: Final = 2**25
USE_COMPILED_FROM: Final = 2**11
# Without the compiler a report takes 1.2 µs on 100 points and 10 µs on 3,000. Loading these kernels takes 0.4 s once
# they are compiled, and 7.5 to 8 s the first time on a machine (all measured): load them once 2 s of work were
# requested.
_COMPILE_POINTS_FROM: Final = 2.0
# Where few people share a place, finding its m nearest neighbours dominates: 0.1 ms per place on 3,000 places without
# the compiler. Once the kernels are loaded they pay off from a handful of values.
_USE_COMPILED_POINTS_FROM: Final = 16
_SECONDS_A_REPORT: Final = 1e-6
_SECONDS_A_POINT: Final = 3e-9
# From this many points on, finding all m-th neighbours takes a noticeable fraction of a second: done at design time.
PREPARE_FROM: Final = 2**14
# Modules of compiled kernels, loaded only when that pays off.
LINE: Final = "bipartite.lottery.compiled"
_POINTS: Final = "bipartite.lottery.compiled_points"
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


@functools.cache
def compiled(module: str) -> ModuleType | None:
    """Load compiled kernels; None where numba is missing, disabled, or cannot cache (no folder, full disk)."""
    try:
        return importlib.import_module(module)
    except Exception:  # noqa: BLE001 (whatever fails in the compiler, NumPy gives the same reports)
        return None


class _Demand:
    """Work requested so far: the number of reports on lines, and for points the seconds NumPy would take."""

    reports = 0
    point_seconds = 0.0


def kernel_for(lottery: Lottery, values: int) -> Kernel:
    """Choose the faster implementation for a call of ``values`` values; all give the same reports."""
    if isinstance(lottery, PointLottery):
        return _point_kernel(lottery, values)
    if isinstance(lottery, (RowLottery, NoiseLottery, MixedLottery, BlockLottery, WeightLottery)):
        return SearchedRows(lottery)
    if isinstance(lottery, GroupedLottery):
        return GroupedKernel(lottery, kernel_for(lottery.inner, values))
    if isinstance(lottery, RingLottery):
        return RingKernel(lottery, kernel_for(lottery.turn, values))
    _Demand.reports += values
    asked = values >= USE_COMPILED_FROM and (LINE in sys.modules or _Demand.reports >= LOAD_COMPILER_FROM)
    draws = compiled(LINE) if asked else None
    kernel: Kernel = VectorisedLine(lottery) if draws is None else draws.CompiledLine(lottery)
    return kernel


def announce(reports: int) -> None:
    """Announce how many reports will be requested, so that the compiler is loaded at once if it pays off."""
    _Demand.reports += reports


def _point_kernel(lottery: PointLottery, values: int) -> Kernel:
    _Demand.point_seconds += values * (_SECONDS_A_REPORT + _SECONDS_A_POINT * lottery.outputs)
    loaded = _POINTS in sys.modules
    asked = values >= USE_COMPILED_FROM and (loaded or _Demand.point_seconds >= _COMPILE_POINTS_FROM)
    few = values >= _USE_COMPILED_POINTS_FROM and lottery.inputs < PREPARE_FROM
    draws = compiled(_POINTS) if asked or (loaded and (few or lottery.prepared)) else None
    if draws is None:
        return ListedPoints(lottery) if lottery.by_list else TriedPoints(lottery)
    kernel: Kernel = draws.CompiledLists(lottery) if lottery.by_list else draws.CompiledTries(lottery)
    return kernel


def prepare(lottery: PointLottery, progress: Callable[[int], None] | None = None) -> None:
    """Precompute the neighbours that the first large call needs, where that is slow and the compiler is available."""
    if lottery.inputs >= PREPARE_FROM and compiled(_POINTS) is not None:
        lottery.neighbours(progress)


def draw_many(
    lottery: Lottery,
    codec: Codec,
    values: NDArray[Any],
    source: Source,
    *,
    threads: int = 1,
    kernel: Kernel | None = None,
) -> NDArray[Any]:
    """Draw one report for each value of a one-dimensional contiguous array."""
    chosen = kernel or kernel_for(lottery, len(values))
    reports = np.empty(len(values), dtype=codec.report_dtype)

    def draw_part(start: int, stop: int, stream: Stream) -> None:
        _draw_chunk(lottery, chosen, codec, values[start:stop], reports[start:stop], stream)

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
    lottery: Lottery, kernel: Kernel, codec: Codec, values: NDArray[Any], reports: NDArray[Any], stream: Stream
) -> None:
    done = 0
    least = 1
    while done < len(values):
        words = stream.window(least)
        coins = None
        served = None
        if codec.coins:
            available = len(words)
            coins, words, served = split_coins(words, lottery.total, len(values) - done)
            if not served:
                least = available + 1  # a coin without its draw: request more
                continue
            least = 1
        block = slice(done, min(done + len(words), len(values)))
        codes = codec.encode(values[block], coins)
        target = reports[block] if codec.decode is None else np.empty(len(codes), dtype=np.int64)
        drawn, used, inside = kernel.draw(codes, target, words, codec.code_offset, codec.report_offset)
        if not inside:
            raise ValuesRefusedError
        if codec.decode is not None:
            codec.decode(target[:drawn], reports[done : done + drawn])
        stream.advance(used if served is None else served)
        done += drawn
