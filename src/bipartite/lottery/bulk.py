"""Many reports at once: chunks, threads, and the choice between compiled and NumPy draws.

A call is cut into chunks of 2^20 values, each with a stream of words of its own, so that the reports depend on the
words alone. Within a chunk, blocks that fit in the cache pass through encode → draw → decode.
"""

from __future__ import annotations

import functools
import importlib
import itertools
import sys
import threading
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from bipartite.lottery.grouped import GroupedLottery
from bipartite.lottery.line import LineLottery
from bipartite.lottery.mixed import MixedLottery
from bipartite.lottery.noise import NoiseLottery
from bipartite.lottery.pairs import split_coins
from bipartite.lottery.points import PointLottery
from bipartite.lottery.process import here
from bipartite.lottery.regional import BlockLottery, WeightLottery
from bipartite.lottery.ring import RingLottery
from bipartite.lottery.rows import RowLottery
from bipartite.lottery.vectorised import VectorisedLine
from bipartite.lottery.vectorised_points import ListedPoints, TriedPoints
from bipartite.lottery.vectorised_rows import GroupedKernel, RingKernel, SearchedRows
from bipartite.lottery.words import CHUNK, undivided

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

# Loading numba takes about as long as it saves on this many reports (0.6 s, measured), so it is loaded once so many
# have been asked for or announced, in one call or in several; once loaded, it pays from far fewer.
LOAD_COMPILER_FROM: Final = 2**25
USE_COMPILED_FROM: Final = 2**11
# Without the compiler a report takes 1.2 µs on 100 points and 10 µs on 3,000. Loading these kernels takes 0.4 s once
# they are compiled, and 7.5 to 8 s the first time on a machine (all measured): they wait until 2 s have been asked for.
_COMPILE_POINTS_FROM: Final = 2.0
# Where few people share a place, finding its m nearest takes most of the time: 0.1 ms a place on 3,000 without the
# compiler. Once the kernels are loaded they pay from a handful of values.
_USE_COMPILED_POINTS_FROM: Final = 16
_SECONDS_A_REPORT: Final = 1e-6
_SECONDS_A_POINT: Final = 3e-9
# From this many points on, finding all m-th neighbours takes a noticeable part of a second: a design does it ahead.
PREPARE_FROM: Final = 2**14
# Modules of compiled draws, loaded only when it pays.
LINE: Final = "bipartite.lottery.compiled"
_POINTS: Final = "bipartite.lottery.compiled_points"


class Codec(ABC):
    """How a block of values of one type becomes indices and comes back as reports: what a domain gives the lottery."""

    report_dtype: np.dtype[Any] = np.dtype(np.int64)
    """The type of the reports: int64 for whole numbers and float64 for others, whatever the type of the values.

    A gap or an infinity makes whole numbers floats: a type that followed from that of the values would tell of it.
    """
    code_offset: int = 0
    """A value's index is its code minus this; a code outside the domain marks a value that must not be reported."""
    report_offset: int = 0
    """A report's code is its index plus this."""
    coins: bool = False
    """Whether encoding takes a random word for each value."""
    direct: bool = True
    """Whether report codes are the reports, so that they can be written in place."""

    @abstractmethod
    def encode(self, values: NDArray[Any], coins: NDArray[np.uint64] | None) -> NDArray[np.int64]:
        """The codes of these values."""

    def decode(self, codes: NDArray[np.int64], reports: NDArray[Any]) -> None:
        """Write the reports with these codes; never called where they are written in place."""
        raise NotImplementedError


class ValuesRefusedError(Exception):
    """Some value cannot become a report. Says no more: whoever raised the call explains it from the values."""


@functools.cache
def compiled(module: str) -> ModuleType | None:
    """Compiled draws, or None where numba is missing, switched off, or cannot cache (no folder, a full disk)."""
    try:
        return importlib.import_module(module)
    except Exception:  # noqa: BLE001 (whatever ails the compiler, NumPy gives the same reports)
        return None


class _Demand:
    """What has been asked for so far: reports on lines, and for points the seconds that NumPy takes for them."""

    reports = 0
    point_seconds = 0.0


def kernel_for(lottery: Lottery, values: int) -> Kernel:
    """The faster implementation for a call of this many values; all give the same reports."""
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
    """Say how many reports will be asked for, where that is known: the compiler is then loaded at once if it pays."""
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
    """Find ahead what the first large call would have to find, where that takes long and the compiler can be had."""
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
    """One report for each value of a one-dimensional contiguous array."""
    chosen = kernel or kernel_for(lottery, len(values))
    reports = np.empty(len(values), dtype=codec.report_dtype)

    def draw_part(start: int, stop: int, stream: Stream) -> None:
        _draw_chunk(lottery, chosen, codec, values[start:stop], reports[start:stop], stream)

    by_chunks(len(values), CHUNK, 2 if codec.coins else 1, source, threads, draw_part)
    return reports


class ChunkJob(Protocol):
    """What is done for values start … stop − 1 with the words of a stream."""

    def __call__(self, start: int, stop: int, stream: Stream, /) -> None:
        """Write the reports of these values."""


def by_chunks(count: int, size: int, words_each: int, source: Source, threads: int, job: ChunkJob) -> None:
    """Do a job for every chunk of so many values, each with its own stream of words, on this many threads."""

    def draw_all() -> None:
        streams = source.streams()

        def draw_chunk(chunk: int) -> None:
            start, stop = chunk * size, min(count, (chunk + 1) * size)
            stream = streams.stream(chunk, (stop - start) * words_each)
            try:
                job(start, stop, stream)
            finally:
                stream.erase()

        share_out(draw_chunk, -(-count // size), threads)

    undivided(draw_all)


def share_out(job: Callable[[int], None], jobs: int, threads: int) -> None:
    """Do jobs 0, 1, … on this many threads, the caller's among them; after a failure nothing new is begun.

    Not a pool: there the caller would wake at the end of every job only to wait for the next, and take the
    interpreter's lock and a core from those who work. Two threads are 1.6 times one and more without it, 1.3 to 1.8
    with it (measured).
    """
    numbers = itertools.count()  # whose step is one C call: no lock, which a forked child might find taken for ever
    failures: list[BaseException] = []

    def work() -> None:
        try:
            while not failures and (number := next(numbers)) < jobs:
                job(number)
        except BaseException as failure:  # noqa: BLE001 (raised again below, in the caller's thread)
            failures.append(failure)

    process = here()
    helpers = [threading.Thread(target=work) for _ in range(min(threads, jobs) - 1)]
    for helper in helpers:
        helper.start()
    work()
    try:
        for helper in helpers:
            if here() is process:  # in a forked child there are none
                helper.join()
    except BaseException as interruption:  # noqa: BLE001 (likewise; it also tells the helpers to stop)
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
                least = available + 1  # a coin without its draw: ask for more
                continue
            least = 1
        block = slice(done, min(done + len(words), len(values)))
        codes = codec.encode(values[block], coins)
        target = reports[block] if codec.direct else np.empty(len(codes), dtype=np.int64)
        drawn, used, inside = kernel.draw(codes, target, words, codec.code_offset, codec.report_offset)
        if not inside:
            raise ValuesRefusedError
        if not codec.direct:
            codec.decode(target[:drawn], reports[done : done + drawn])
        stream.advance(used if served is None else served)
        done += drawn
