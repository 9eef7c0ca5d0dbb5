"""Does the time of a draw tell near from far? Blocks of words that all give near reports against blocks that give far.

``python bench/timing.py`` times the compiled draw on a line, in which both outcomes are computed and one is selected,
and a planted kernel with a short circuit (the obvious code: a division where the report is near, a shift where it is
far), which must be told apart or the measurement could not see what it is there for. Reports are the same, in the same
order: near for one value, far for the other. The blocks alternate at random, so that a slow second of the machine hits
both alike, and are copied to the same memory before the clock starts. The ratio is that of the medians, with a
bootstrap interval of 99 %.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit

import bipartite as bp
from bipartite.lottery.compiled import line_kernel

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

BLOCK = 2**14
ROUNDS = 2_000
WARM_UP = 50  # written over by the last rounds
CONFIDENCE = 0.99
# A smaller difference is not called one: 1 % of a block's time is 0.01 ns a report, within what this machine does to
# two runs of the same block.
TOLERANCE = 0.01


@njit(cache=False)  # type: ignore[untyped-decorator]
def _short_circuit(  # noqa: PLR0913, PLR0917 (a kernel: flat numbers)
    codes: Any,  # noqa: ANN401
    reports: Any,  # noqa: ANN401
    words: Any,  # noqa: ANN401
    total: Any,  # noqa: ANN401
    near_total: Any,  # noqa: ANN401
    near: Any,  # noqa: ANN401
    far_shift: Any,  # noqa: ANN401
    shift: Any,  # noqa: ANN401
    last_start: Any,  # noqa: ANN401
    m: Any,  # noqa: ANN401
) -> None:
    """The same reports by the obvious code: a division for near, a shift and a comparison for far."""
    for t in range(len(codes)):
        word0, word1 = words[t] & np.uint64(0xFFFFFFFF), words[t] >> np.uint64(32)
        total0, total1 = total & np.uint64(0xFFFFFFFF), total >> np.uint64(32)
        middle = word1 * total0 + ((word0 * total0) >> np.uint64(32))
        carry = (middle & np.uint64(0xFFFFFFFF)) + word0 * total1
        ticket = word1 * total1 + (middle >> np.uint64(32)) + (carry >> np.uint64(32))
        start = min(max(codes[t] + shift, 0), last_start)
        if ticket < near_total:
            reports[t] = start + np.int64(ticket // near)
        else:
            place = np.int64((ticket - near_total) >> far_shift)
            if place >= start:
                place += m
            reports[t] = place


def words_for(tickets: NDArray[np.uint64], total: int) -> NDArray[np.uint64]:
    """For each ticket a word that draws it and is not redrawn: from the middle of the words that do."""
    return np.array([(2 * int(ticket) + 1) * 2**63 // total for ticket in tickets], dtype=np.uint64)


def blocks(lottery: Any, generator: np.random.Generator) -> tuple[Any, Any]:  # noqa: ANN401
    """(values, words) that give the same reports, once near and once far."""
    low, high = 0, lottery.inputs - 1  # windows at both ends, which do not meet
    reports = generator.integers(0, lottery.m, BLOCK)  # near the lowest value, far from the highest
    near = reports.astype(np.uint64) * np.uint64(lottery.tickets.near)
    near += generator.integers(0, lottery.tickets.near, BLOCK).astype(np.uint64)
    far = np.uint64(lottery.near_total) + reports.astype(np.uint64) * np.uint64(lottery.tickets.far)
    far += generator.integers(0, lottery.tickets.far, BLOCK).astype(np.uint64)
    return tuple(
        (np.full(BLOCK, value, dtype=np.int64), words_for(tickets, lottery.total))
        for value, tickets in ((low, near), (high, far))
    )


def measure(draw: Callable[[Any, Any, Any], object], kinds: Any, generator: np.random.Generator) -> NDArray[np.float64]:  # noqa: ANN401
    """Seconds of each round: a row near, a row far."""
    codes, reports = (np.empty(BLOCK, dtype=np.int64) for _ in range(2))
    words = np.empty(BLOCK, dtype=np.uint64)
    seconds = np.empty((2, ROUNDS))
    for turn in range(-WARM_UP, ROUNDS):
        for kind in generator.permutation(2).tolist():
            np.copyto(codes, kinds[kind][0])
            np.copyto(words, kinds[kind][1])
            began = time.perf_counter_ns()
            draw(codes, reports, words)
            seconds[kind, turn] = time.perf_counter_ns() - began
    return seconds


def interval(seconds: NDArray[np.float64], generator: np.random.Generator) -> tuple[float, float, float]:
    """(far/near by medians, and the ends of its bootstrap interval)."""
    chosen = generator.integers(0, ROUNDS, (1000, ROUNDS))
    ratios = np.median(seconds[1][chosen], axis=1) / np.median(seconds[0][chosen], axis=1)
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(ratios, [tail, 1 - tail])
    return float(np.median(seconds[1]) / np.median(seconds[0])), float(low), float(high)


def main() -> int:
    """Print the ratios; 1 where ours tells near from far, or the planted kernel does not."""
    generator = np.random.default_rng(7)
    lottery = bp.BRR(bp.Integers(18, 90), epsilon=1).lottery
    ours = line_kernel(lottery)
    kinds = blocks(lottery, generator)
    tickets = lottery.tickets
    parameters = (
        np.uint64(lottery.total),
        np.uint64(lottery.near_total),
        np.uint64(tickets.near),
        np.uint64(tickets.far.bit_length() - 1),
        lottery.shift,
        lottery.outputs - lottery.m,
        lottery.m,
    )
    kernels = {
        "ours, compiled": lambda codes, reports, words: ours.draw(codes, reports, words, 0, 0),
        "planted short circuit": lambda codes, reports, words: _short_circuit(codes, reports, words, *parameters),
    }
    found = [np.empty(BLOCK, dtype=np.int64) for _ in range(2)]
    for draw in kernels.values():
        for (codes, words), reports in zip(kinds, found, strict=True):
            draw(codes, reports, words)
        assert (found[0] == found[1]).all()  # given the report, near or far
    print(f"time of far over near, given the report; {ROUNDS} blocks of {BLOCK} each, interval {100 * CONFIDENCE:g} %")
    seen = {}
    for name, draw in kernels.items():
        seconds = measure(draw, kinds, generator)
        ratio, low, high = interval(seconds, generator)
        seen[name] = low > 1 + TOLERANCE or high < 1 - TOLERANCE
        each = np.median(seconds, axis=1) / BLOCK
        verdict = "told apart" if seen[name] else "not told apart"
        print(f"{name:22} {ratio:.4f} [{low:.4f}, {high:.4f}]  near {each[0]:.3f} ns, far {each[1]:.3f} ns: {verdict}")
    return int(seen["ours, compiled"] or not seen["planted short circuit"])


if __name__ == "__main__":
    sys.exit(main())
