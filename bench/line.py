"""How fast a report on a line is drawn: ratios within one run, best of the rounds after a warm-up, validation included.

One thread against two is the median over rounds of one's time over the other's, taken a moment later: two bests may
come from two different minutes of a shared machine.

The yardstick is NumPy's ``Generator.integers`` filling an array of the same size: a bare random integer from a fast
statistical generator, with no privacy, no check of its input and no secure words. `make bench` runs this.
"""

from __future__ import annotations

import hashlib
import platform
import statistics
import threading
import time
from typing import TYPE_CHECKING, Any

import numpy as np

import bipartite as bp
from bipartite.lottery import draw_many
from bipartite.lottery.kernel import LINE, compiled
from bipartite.lottery.words import SECURE

if TYPE_CHECKING:
    from collections.abc import Callable

VALUES = 2 * 10**7
ROUNDS = 5
PAIRED_ROUNDS = 15  # where two of our own jobs are compared, round by round
PEER_REPORTS = 2 * 10**5
SCALAR_REPORTS = 10**5
CONTROL = bytes(2**24)


def rounds_of(rounds: int, jobs: dict[str, Callable[[], Any]]) -> dict[str, list[float]]:
    """The seconds of each job in each round; they take turns, so that a busy moment of the machine hits all of them."""
    for job in jobs.values():
        job()
    seconds: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(rounds):
        for name, job in jobs.items():
            began = time.perf_counter()
            job()
            seconds[name].append(time.perf_counter() - began)
    return seconds


def best_of(rounds: int, jobs: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """The least seconds of each job."""
    return {name: min(seconds) for name, seconds in rounds_of(rounds, jobs).items()}


def times_faster(slow: list[float], fast: list[float]) -> float:
    """The median over rounds of how many times faster one job was than another a moment before it."""
    return statistics.median(a / b for a, b in zip(slow, fast, strict=True))


def line(name: str, seconds: float, reports: int, yardstick: float | None = None) -> None:
    """One line of the table."""
    each = seconds / reports
    speed = f"{1 / each / 1e6:10.2f} M/s  {each * 1e9:10.2f} ns"
    print(f"  {name:<44}{speed}" + ("" if yardstick is None else f"  {yardstick / each:6.2f} of integers()"))


def hashes(threads: int) -> None:
    """A control that needs no memory and no interpreter: four SHA-256 of the same bytes, on one or two threads."""

    def half() -> None:
        for _ in range(2):
            hashlib.sha256(CONTROL)

    helper = threading.Thread(target=half)
    if threads == 1:
        half()
        half()
    else:
        helper.start()
        half()
        helper.join()


def whole_numbers() -> None:
    """Reports on whole numbers against NumPy's bare integers, one and two threads.

    On a shared machine two threads do not always have two cores; the control, taken in turn with the rest, tells.
    """
    generator = np.random.default_rng(1)
    for size in (73, 1_000, 100_000):
        values = generator.integers(18, 18 + size, VALUES)
        mechanism = bp.BRR(bp.Integers(18, 17 + size), epsilon=1)
        rounds = rounds_of(
            PAIRED_ROUNDS,
            {
                "numpy": lambda size=size: generator.integers(0, size, VALUES),
                "one": lambda m=mechanism, v=values: m.privatize(v),
                "two": lambda m=mechanism, v=values: m.privatize(v, threads=2),
                "control, one": lambda: hashes(1),
                "control, two": lambda: hashes(2),
            },
        )
        seconds = {name: min(taken) for name, taken in rounds.items()}
        yardstick = seconds["numpy"] / VALUES
        print(f"N = {size:,}, {VALUES:,} int64 values")
        line("numpy Generator.integers (no privacy)", seconds["numpy"], VALUES)
        line("bipartite, one thread", seconds["one"], VALUES, yardstick)
        line("bipartite, two threads", seconds["two"], VALUES, yardstick)
        two = times_faster(rounds["one"], rounds["two"])
        control = times_faster(rounds["control, one"], rounds["control, two"])
        print(f"  two threads are {two:.2f} times one; SHA-256 alone {control:.2f} times (median of rounds)")


def other_types() -> None:
    """Other widths, float intervals, padded edges, and NumPy alone."""
    generator = np.random.default_rng(1)
    count = VALUES // 4
    ages = generator.integers(18, 91, count)
    mechanism = bp.BRR(bp.Integers(18, 90), epsilon=1)
    padded = bp.BRR(bp.Integers(18, 90), epsilon=1, edges="padded")
    income = bp.BRR(bp.Interval(0, 200_000, points=401), epsilon=1)
    rounded = bp.BRR(bp.Interval(0, 200_000, points=401, rounding="random"), epsilon=1)
    floats = generator.uniform(0, 200_000, count)
    jobs: dict[str, Callable[[], Any]] = {"numpy": lambda: generator.integers(0, 73, count)}
    for dtype in (np.int8, np.int32, np.int64, np.uint64, np.float64):
        typed = ages.astype(dtype)
        jobs[f"Integers from {typed.dtype}"] = lambda values=typed: mechanism.privatize(values)
    jobs["Integers from int64, padded"] = lambda: padded.privatize(ages)
    jobs["Interval from float64"] = lambda: income.privatize(floats)
    narrow = floats.astype(np.float32)
    jobs["Interval from float32"] = lambda: income.privatize(narrow)
    jobs["Interval from float64, random rounding"] = lambda: rounded.privatize(floats)
    codec = mechanism.domain.codec(mechanism.outputs, "error")
    numpy_only = mechanism.lottery.draw_block
    jobs["Integers from int64, without numba"] = lambda: draw_many(
        mechanism.lottery, codec, ages, SECURE, kernel=numpy_only
    )
    seconds = best_of(ROUNDS, jobs)
    print(f"other types, {count:,} values, one thread")
    for name, taken in seconds.items():
        line(name, taken, count, None if name == "numpy" else seconds["numpy"] / count)


def scalar() -> None:
    """One report at a time."""
    mechanism = bp.BRR(bp.Integers(18, 90), epsilon=1)
    seconds = best_of(ROUNDS, {"scalar": lambda: [mechanism.privatize(40) for _ in range(SCALAR_REPORTS)]})
    print(f"one report by scalar call: {seconds['scalar'] / SCALAR_REPORTS * 1e6:.2f} µs")


def peers() -> None:
    """GRR of two LDP libraries, from their packages, on the same work: ε = 1."""
    for size in (73, 1_000):
        values = np.random.default_rng(1).integers(0, size, VALUES)
        few = values[:PEER_REPORTS].tolist()
        grr = bp.BRR(bp.Integers(0, size - 1), epsilon=1, m=1)
        jobs: dict[str, Callable[[], Any]] = {}
        for name, client in peer_clients(size).items():
            jobs[name] = lambda client=client, few=few: [client(value) for value in few]
        seconds = best_of(ROUNDS, jobs)
        ours = best_of(ROUNDS, {"ours": lambda grr=grr, values=values: grr.privatize(values)})["ours"]
        print(f"GRR, N = {size:,}, ε = 1, one thread")
        line("bipartite (secure words, exact tickets)", ours, VALUES)
        for name, taken in seconds.items():
            line(name, taken, PEER_REPORTS)
            print(f"    bipartite is {taken / PEER_REPORTS / (ours / VALUES):.0f} times faster")


def peer_clients(size: int) -> dict[str, Callable[[int], Any]]:
    """The GRR clients of other libraries, as far as they import."""
    clients: dict[str, Callable[[int], Any]] = {}
    try:
        from pure_ldp.frequency_oracles.direct_encoding import DEClient

        clients["pure-ldp 1.2.0, direct encoding"] = DEClient(epsilon=1, d=size, index_mapper=lambda x: x).privatise
    except ImportError as error:
        print(f"pure-ldp does not import: {error}")
    try:
        from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client

        clients["multi-freq-ldpy 0.2.5, GRR_Client"] = lambda value: GRR_Client(value, size, 1.0)
    except ImportError as error:
        print(f"multi-freq-ldpy does not import: {error}")
    return clients


def main() -> None:
    """Run every benchmark."""
    print(f"{platform.machine()}, Python {platform.python_version()}, NumPy {np.__version__}")
    if compiled(LINE) is None:
        print("numba is missing: every figure is that of the NumPy draw")
    whole_numbers()
    other_types()
    scalar()
    peers()


if __name__ == "__main__":
    main()
