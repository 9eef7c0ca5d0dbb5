"""A test whether reports follow the stated law of a mechanism, for faults that do not change ε.

A window shifted by one, two outputs whose tickets were swapped, words that are not uniform: ε may be intact, and every
estimate wrong. Reports are compared with ``matrix()`` in four ways, each corrected for multiple testing, and the result
is four times the smallest of the four p-values, as each finds faults that the others miss:

==============  ====================================================================================================
each cell       the count of every output of every input, by exact binomial tails; Bonferroni over all cells
each input      χ² of every input, cells pooled to an expected count of 5 or more; Bonferroni over the inputs
all inputs      the sum of these χ²: many small faults together
directions      sums of deviations along the likely faults: rows and columns shifted by one either way, near outputs
                too likely or too rare, low outputs too likely or too rare; Bennett's inequality, or the normal law
                where no single report matters, Bonferroni over the six
==============  ====================================================================================================

The first is exact, and Bennett's inequality a bound. The normal law, corrected for skewness, is an approximation, and
so are the two χ² tests. Their law is fitted to the first three moments of the statistic for these counts, because far
out in the tail, where the correction for many inputs leads, the plain χ² law would give false alarms.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from bipartite.errors import InputError, Problems
from bipartite.mechanisms import Mechanism
from bipartite.texts import Printed
from bipartite.verification.binomial import chi_square_tail, tail_above, tail_below
from bipartite.verification.plan import check_confidence, check_trials
from bipartite.verification.reports import as_reports, sample

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from bipartite.lottery import Source

_MOST_INPUTS: Final = 256
_MOST_CELLS: Final = 2**24
_LEAST_EXPECTED: Final = 5.0
# Exact tails are computed for this many cells, those with the smallest Chernoff bounds, which bound the tails.
_SUSPECTS: Final = 32
# A sum is treated as normal while deviation × largest term stays below this share of its variance.
_NORMAL_TO: Final = 0.3


@dataclass(frozen=True, slots=True)
class Cell:
    """One output of one input."""

    input: Any
    output: Any
    expected: float
    found: int
    p_value: float
    """Two-sided and exact, for this cell alone."""


@dataclass(frozen=True, slots=True, repr=False)
class LawTest(Printed):
    """Whether reports follow the stated law."""

    p_value: float
    """The probability, under the stated law, of a result at least this extreme: a bound or an approximation, corrected
    for all tests made."""
    confidence: float
    """A p-value below 1 − confidence counts as a finding."""
    worst: Cell
    """The output that is farthest from its law."""
    parts: Mapping[str, float]
    """The p-value of each of the four tests, corrected within the test."""
    trials: int
    """The number of reports drawn for each input."""
    inputs: int
    """The number of inputs tested."""

    @property
    def holds(self) -> bool:
        """False: reports do not follow the law. True: these trials found no deviation, which is not a proof."""
        return self.p_value >= 1 - self.confidence

    @property
    def verdict(self) -> str:
        """The result in one sentence."""
        if self.holds:
            return f"not refuted: reports are consistent with the law, p = {self.p_value:.3g}"
        return f"broken: reports do not follow the law, p = {self.p_value:.3g} < {1 - self.confidence:.3g}"

    def __str__(self) -> str:
        worst = self.worst
        parts = ", ".join(f"{name} {value:.3g}" for name, value in self.parts.items())
        return (
            f"{self.verdict}\n"
            f"  worst: report {worst.output!r} for value {worst.input!r}, expected {worst.expected:,.1f} times, "
            f"found {worst.found:,} times\n"
            f"  {self.trials:,} trials for each of {self.inputs} inputs; p-values: {parts}"
        )


def law_test(  # noqa: PLR0913 (a mechanism, and options by name)
    mechanism: Mechanism | Callable[[Any], object],
    *,
    trials: int,
    rng: Source | None = None,
    confidence: float = 0.99,
    matrix: NDArray[np.float64] | Sequence[Sequence[float]] | None = None,
    inputs: Sequence[Any] | None = None,
    outputs: Sequence[Any] | None = None,
    progress: Callable[[int], None] | None = None,
) -> LawTest:
    """Compare reports with the stated probabilities of a mechanism.

    Parameters
    ----------
    mechanism
        A mechanism, or any callable that takes an array of n equal values and returns n reports.
    trials
        The number of reports drawn for each input.
    rng
        The source of random words of a mechanism; None for the secure source.
    confidence
        1 − confidence is about the largest probability of a false alarm, over all tests made.
    matrix
        The stated law: one row per input, one column per output. Required for a callable; a mechanism has its own.
    inputs
        The values to report, one per row of the matrix. For a mechanism all of them, or 256 spread over them.
    outputs
        The reports, one per column of the matrix; by default the integers from 0.
    progress
        Called with the number of reports drawn.

    Examples
    --------
    >>> from bipartite import BRR, Integers, insecure_seed
    >>> law_test(BRR(Integers(1, 20), epsilon=1), trials=10_000, rng=insecure_seed(1)).holds
    True
    """
    problems = Problems()
    check_trials(trials, 1, problems)
    check_confidence(confidence, problems)
    problems.raise_if_any(InputError)
    if isinstance(mechanism, Mechanism) and not mechanism.flat:
        values, law, reports = _of_mechanism(mechanism, matrix, inputs, outputs)
        draw: Callable[[Any], object] = partial(mechanism.privatize, rng=rng)
    else:
        values, law, reports = _of_callable(mechanism, rng, matrix, inputs, outputs)
        draw = cast("Callable[[Any], object]", mechanism)
    place = {report: at for at, report in enumerate(_listed(as_reports(reports)))}
    counts = np.zeros((len(values), len(reports) + 1), dtype=np.int64)
    for row, value in enumerate(values):
        for part in sample(draw, value, trials, scalar=False, progress=progress):
            for report, count in Counter(_listed(part)).items():
                counts[row, place.get(report, len(reports))] += count
    if not counts[:, -1].any():
        return _compare(law, counts[:, :-1], values, reports, trials, confidence)
    # A report that is not an output counts as an output of probability 0.
    law = np.column_stack([law, np.zeros(len(law))])
    return _compare(law, counts, values, [*reports, "none of the outputs"], trials, confidence)


def _listed(reports: NDArray[Any]) -> list[Any]:
    """Reports that can be looked up; rows of a table are tuples."""
    return [tuple(report) if isinstance(report, list) else report for report in reports.tolist()]


def _compare(
    law: NDArray[np.float64],
    counts: NDArray[np.int64],
    values: Sequence[Any],
    outputs: Sequence[Any],
    trials: int,
    confidence: float,
) -> LawTest:
    (row, column), tail = _worst_cell(law, counts, trials)
    squares = [_chi_square(law[x], counts[x], trials) for x in range(len(law))]
    parts = {
        "each cell": min(1.0, tail * law.size),
        "each input": min(1.0, min(_tail_of(each) for each in squares) * len(law)),
        "all inputs": _tail_of(np.sum(squares, axis=0)),
        "directions": _directions(law, counts, trials),
    }
    cell = Cell(values[row], outputs[column], float(law[row, column] * trials), int(counts[row, column]), tail)
    return LawTest(min(1.0, len(parts) * min(parts.values())), confidence, cell, parts, trials, len(values))


def _worst_cell(law: NDArray[np.float64], counts: NDArray[np.int64], trials: int) -> tuple[tuple[int, int], float]:
    """The cell with the smallest exact two-sided tail."""
    share = counts / trials
    with np.errstate(divide="ignore", invalid="ignore"):
        chernoff = np.where(counts > 0, counts * np.log(share / law), 0) + np.where(
            counts < trials, (trials - counts) * (np.log1p(-share) - np.log1p(-law)), 0
        )
    chernoff = np.nan_to_num(chernoff, nan=0.0, posinf=np.inf)
    suspects = np.argsort(-chernoff, axis=None, kind="stable")[:_SUSPECTS]
    best = ((0, 0), 2.0)
    for at in suspects.tolist():
        row, column = divmod(at, law.shape[1])
        found, p = int(counts[row, column]), min(1.0, float(law[row, column]))
        tail = min(1.0, 2 * min(tail_above(found, trials, p), tail_below(found, trials, p)))
        if tail < best[1]:
            best = (row, column), tail
    return best


def _chi_square(row: NDArray[np.float64], found: NDArray[np.int64], trials: int) -> NDArray[np.float64]:
    """(χ², its first three cumulants) of one input; cells with too small an expected count are pooled."""
    order = np.argsort(row, kind="stable")
    expected, seen = row[order] * trials, found[order]
    running = np.cumsum(expected)
    # The rarest cells are pooled, as few as reach the least expected count; all others stay separate.
    small = int(np.searchsorted(expected, _LEAST_EXPECTED))
    joined = max(small, int(np.searchsorted(running, _LEAST_EXPECTED)) + 1) if small else 0
    if joined >= len(row):
        return np.zeros(4)
    if joined:
        expected = np.concatenate([[running[joined - 1]], expected[joined:]])
        seen = np.concatenate([[seen[:joined].sum()], seen[joined:]])
    cells = len(expected)
    inverse, per_cell = float((1 / expected).sum()), cells / trials
    # Mean and variance are exact (Haldane 1937); the third cumulant is that of Poisson counts given their sum, to first
    # order.
    variance = 2 * (cells - 1) + inverse - (cells**2 + 2 * cells - 2) / trials
    third = (
        8 * (cells - 1)
        + 22 * inverse
        + float((1 / expected**2).sum())
        - 3 * per_cell * (8 * cells + inverse)
        + 3 * per_cell**2 * (cells + 2 * trials)
        - per_cell**3 * trials
    )
    return np.array([float(((seen - expected) ** 2 / expected).sum()), cells - 1, variance, third])


def _tail_of(square: NDArray[np.float64]) -> float:
    """The tail of a sum of χ² statistics, by the gamma law with the same mean, variance and skewness."""
    statistic, mean, variance, third = square.tolist()
    if mean == 0 or variance <= 0 or third <= 0:
        return 1.0
    shape = 4 * variance**3 / third**2
    return chi_square_tail(2 * (shape + (statistic - mean) * (shape / variance) ** 0.5), 2 * shape)


def _directions(law: NDArray[np.float64], counts: NDArray[np.int64], trials: int) -> float:
    """The p-value along the directions of likely faults."""
    held = law > 0
    safe = np.where(held, law, 1)
    ranks = np.broadcast_to(np.linspace(-1, 1, law.shape[1]), law.shape)
    shifts = [(np.arange(law.shape[axis]) + step, axis) for axis in (0, 1) for step in (1, -1)]
    neighbours = [np.take(law, places, axis, mode="clip") for places, axis in shifts]
    weights = [*((other - law) / safe for other in neighbours), np.log(safe), ranks]
    deviation = counts - trials * law
    tails = []
    for each in weights:
        weight = np.where(held, each, 0)
        mean = (law * weight).sum(axis=1)
        variance = trials * float(((law * weight**2).sum(axis=1) - mean**2).sum())
        # Without variance along a direction, deviations are rounding.
        if variance > 1e-9 * trials:
            found = float((deviation * weight).sum())
            # The most that a single report can add in the direction of the deviation.
            most = float(np.where(held, (weight - mean[:, None]) * (1 if found > 0 else -1), 0).max())
            tails.append(_tail_of_sum(abs(found), variance, most))
    return min(1.0, len(weights) * min(tails, default=1.0))


def _tail_of_sum(found: float, variance: float, most: float) -> float:
    """The two-sided tail of a sum of independent deviations of at most ``most`` each.

    Bennett's inequality always holds, even if a rare report has a large weight and the sum is far from normal. Where no
    single report matters, the normal tail with the first term of Cramér's series is sharper.
    """
    u = found * most / variance
    bennett = 2 * math.exp(-variance / most**2 * ((1 + u) * math.log1p(u) - u)) if most > 0 else 1.0
    if u > _NORMAL_TO:
        return min(1.0, bennett)
    z = found / math.sqrt(variance)
    return min(1.0, bennett, math.erfc(z / math.sqrt(2)) * math.exp(u * z * z / 6))


def _of_mechanism(
    mechanism: Mechanism, matrix: object, inputs: Sequence[Any] | None, outputs: object
) -> tuple[list[Any], NDArray[np.float64], list[Any]]:
    """(values, their rows of probabilities, outputs)."""
    if matrix is not None or outputs is not None:
        raise InputError(
            "Expected no matrix and no outputs, as a mechanism has its own; leave them out, or pass mech.privatize."
        )
    domain, reports, lottery = mechanism.domain, mechanism.outputs, mechanism.lottery
    spread = np.linspace(0, len(domain) - 1, min(len(domain), _MOST_INPUTS)).astype(np.int64)
    chosen = np.unique(spread).tolist() if inputs is None else [domain.encode(value) for value in inputs]
    if len(chosen) * len(reports) > _MOST_CELLS:
        raise InputError(
            f"Expected at most 2^24 cells, got {len(chosen)} inputs × {len(reports)} outputs; "
            "pass fewer inputs, or use a smaller domain."
        )
    law = np.concatenate([lottery.rows(x, x + 1) for x in chosen]) / lottery.total
    return [domain.decode(x) for x in chosen], law, [reports.decode(y) for y in range(len(reports))]


def _of_callable(
    sampler: object,
    rng: object,
    matrix: object,
    inputs: Sequence[Any] | None,
    outputs: Sequence[Any] | None,
) -> tuple[list[Any], NDArray[np.float64], list[Any]]:
    problems = Problems()
    if not callable(sampler):
        problems.add(f"Expected a mechanism or a callable, got {type(sampler).__name__}; pass mech or mech.privatize.")
    if rng is not None:
        problems.add("Expected no rng for a callable, which draws its own random words; leave it out, or pass mech.")
    law = np.asarray(matrix, dtype=np.float64) if matrix is not None else np.empty(0)
    if law.ndim != 2 or law.size == 0 or (law < 0).any() or not np.allclose(law.sum(axis=1), 1):  # noqa: PLR2004
        problems.add("Expected matrix as rows of probabilities, one per input; pass matrix=mech.matrix().")
    else:
        for name, given, expected in (("inputs", inputs, law.shape[0]), ("outputs", outputs, law.shape[1])):
            if given is not None and len(given) != expected:
                problems.add(f"Expected {expected} {name}, as in the matrix, got {len(given)}.")
    problems.raise_if_any(InputError)
    return (
        list(range(len(law)) if inputs is None else inputs),
        law,
        list(range(law.shape[1]) if outputs is None else outputs),
    )
