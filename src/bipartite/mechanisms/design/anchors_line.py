"""The best ε-LDP release on a line for a prior: GRR on anchors, or on bins that report means.

**Anchors.** With K anchors A, E = e^ε and λ_a = Σ_x π_x L(x, a), GRR on the anchors has the expected loss
F(A) = [(E−1)·W(A) + Σ_{a∈A} λ_a]/(E+K−1), where W(A) = Σ_x π_x min_{a∈A} L(x, a). The best release of any form solves a
linear program that is, for a trial value θ of the loss, the relaxation of facility location: opening anchor a costs
λ_a − θ and sending x to a costs (E−1)·π_x·L(x, a). On a line, with a loss that increases with distance, the relaxation
has integral optima, which are sets of anchors. Dinkelbach's iteration θ ← F(A), with A the best set for θ, decreases to
the least loss in a few steps. All terms of every sum are non-negative, so nothing cancels: results are accurate to
about N roundings.

**Means, for the squared loss.** For bins B_1 … B_K and c = 1/(E − 1), the best report of a bin is the posterior mean
a_k = [(E−1)·Σ_{B_k} π_x x + Σ_x π_x x] / [(E−1)·π(B_k) + 1]. Measured from the prior mean, so that Σ_x π_x x = 0, this
is a_k = s_k/(π(B_k) + c) with s_k = Σ_{B_k} π_x x, and the expected loss becomes

    F = V − R,   V = Σ_x π_x x²,   R = Σ_k [s_k²/(π(B_k) + c)] / (1 + c·K):

V is the loss of always reporting the mean, R the reduction by the bins. For a trial value ρ of R the best bins maximise
Σ_k [s_k²/(π(B_k) + c) − c·ρ] − ρ, a longest path; ρ ← R(bins) increases to the largest R in a few steps (Dinkelbach).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from bipartite.errors import DesignError, InputError, installing, is_one_of, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.mechanisms.design.compiled_anchors_line import CompiledLine

    Reals = NDArray[np.float64]
    Wholes = NDArray[np.int64]
    Loss = Literal["absolute", "squared"] | Reals

# Compiled code pays from this size on: below it, O(N²) in NumPy takes under half a second in all.
COMPILE_FROM: Final = 2048
# O(N²): seconds for a table of losses, and about a minute without the compiler.
LARGEST_TABLE: Final = 4096
LARGEST_WITHOUT_COMPILER: Final = 2**15
# Lines longer than this start from the solution on a line this many times shorter.
_LONG: Final = 2048
_COARSER: Final = 16
_ROUNDING: Final = 2.0**-52
# Reports are rounded to this many decimals of a step, so that they are the same on every machine.
DECIMALS: Final = 9
# The least gain of a step, as a share of the variance.
_GAIN: Final = 1e-14


@dataclass(frozen=True, eq=False)
class AnchorChoice:
    """Anchors and their certificate: no ε-LDP release that reports values of the domain has a loss below ``lower``.

    Parameters
    ----------
    anchors : Wholes
        The indices of the anchors in increasing order: an input is sent to its nearest anchor, then GRR runs on them.
    loss : float
        The expected loss of this release under the prior.
    lower : float
        A proved lower bound on that loss over all ε-LDP releases with reports in the domain, up to rounding of floats.
    """

    anchors: Wholes
    loss: float
    lower: float

    def __repr__(self) -> str:
        return f"<AnchorChoice: {len(self.anchors)} anchors, loss {self.loss:.6g}, lower bound {self.lower:.6g}>"


class LineCosts:
    """A line with a prior.

    Attributes
    ----------
    weights, losses : Reals
        The prior, and the loss at distances 0 … N−1, zero at 0.
    head, tail : Reals
        For each anchor, the cost of sending every input on its left to it, and every input on its right.
    single : Reals
        λ: the expected loss of each anchor as the constant answer.
    kind : str
        "absolute", "squared" or "table".
    """

    def __init__(self, weights: Reals, loss: Loss) -> None:
        self.weights = weights
        self.kind: Literal["absolute", "squared", "table"] = loss if isinstance(loss, str) else "table"
        steps = np.arange(len(weights), dtype=np.float64)
        formulas = {"absolute": steps, "squared": steps**2}
        self.losses = formulas[loss] if isinstance(loss, str) else loss
        self.head = self._one_sided(weights)
        self.tail = self._one_sided(weights[::-1])[::-1].copy()
        self.single = self.head + self.tail

    def _one_sided(self, weights: Reals) -> Reals:
        if self.kind == "table":
            return np.convolve(weights, self.losses)[: len(weights)]
        # Moving the anchor one step away from inputs at distance d adds 1 (absolute) or 2d + 1 (squared).
        mass = np.cumsum(weights, dtype=np.longdouble)
        first = np.cumsum(_delayed(mass))
        if self.kind == "absolute":
            return first.astype(np.float64)
        return np.cumsum(_delayed(2 * first + mass)).astype(np.float64)

    def nearest(self, anchors: Wholes) -> float:
        """W(A): the expected loss of the nearest anchor."""
        places = np.arange(len(self.weights))
        borders = (anchors[:-1] + anchors[1:]) // 2 + 1
        own = anchors[np.searchsorted(borders, places, side="right")]
        return float(self.weights @ self.losses[np.abs(places - own)])

    def expected(self, anchors: Wholes, excess: float) -> float:
        """F(A); excess is e^ε − 1."""
        # Divided by E − 1 throughout, so that no e^ε overflows.
        opened = float(self.single[anchors].sum())
        return (self.nearest(anchors) + opened / excess) / (1 + len(anchors) / excess)

    def solve(self, opening: Reals) -> tuple[float, Wholes]:
        """The least Σ_{a∈A} opening_a + W(A) of any anchor set, and the set, in O(N²) time and O(N) memory.

        From left to right, f(b) = opening_b + min over a < b of f(a) + w(a, b): inputs between a and b go to a up to
        the midpoint and to b after it. Ties go to the lowest index.
        """
        weights, losses = self.weights, self.losses
        size = len(weights)
        best, before = np.empty(size), np.full(size, -1, dtype=np.int64)
        to_left = np.zeros(size)  # for each a, the cost of the inputs from a to the midpoint, updated as b moves
        # b − midpoint − 1 for b − a = size … 1: the distance from b to the farthest input that goes to b
        reach = (np.arange(size, 0, -1) - 1) // 2
        for b in range(size):
            # The midpoint moves by one if a and b are both even or both odd.
            odd = b % 2
            to_left[odd:b:2] += weights[(odd + b) // 2 : b] * losses[(b - odd) // 2 : 0 : -1]
            best[b] = self.head[b]
            if b:
                to_right = np.cumsum(weights[b : b // 2 : -1] * losses[: b - b // 2])
                costs = best[:b] + to_left[:b] + to_right[reach[size - b :]]
                a = int(np.argmin(costs))
                if costs[a] < best[b]:
                    best[b], before[b] = costs[a], a
            best[b] += opening[b]
        ends = best + self.tail
        last = int(np.argmin(ends))
        return float(ends[last]), chain(before, last)


def chain(before: Wholes, last: int) -> Wholes:
    """The anchors from the first to the last, given the left neighbour of each (−1 for none)."""
    anchors = []
    while last >= 0:
        anchors.append(last)
        last = int(before[last])
    return np.array(anchors[::-1], dtype=np.int64)


def _delayed(sums: NDArray[np.longdouble]) -> NDArray[np.longdouble]:
    """The sums of what lies strictly to the left: shifted by one place."""
    later = np.zeros_like(sums)
    later[1:] = sums[:-1]
    return later


def best_anchors_on_line(size: int, e: float, prior: Reals | None, loss: Loss) -> AnchorChoice:
    """The anchors on N equidistant points whose GRR has the least expected loss.

    Parameters
    ----------
    size : int
        N, the number of points, one step apart.
    e : float
        e^ε, at least 1.
    prior : Reals, optional
        Probabilities of the points, possibly zero; None for uniform.
    loss : {"absolute", "squared"} or Reals
        The loss at distance d: d, d², or a non-decreasing table for d = 0 … N−1.

    Returns
    -------
    AnchorChoice
        The anchors, their expected loss in steps, and a lower bound over *all* ε-LDP releases. The two agree up to the
        rounding of floats, because on a line the best release has this form.

    Raises
    ------
    InputError
        For an invalid size, budget or loss.
    DesignError
        For a table of more than 4096 losses, or a line of more than 2^15 points without numba.

    Notes
    -----
    The search starts from a set A (the best on a coarser line, or one point) and sets θ = F(A). For this θ it finds the
    set A' that minimises G(A') = Σ_{a∈A'} (λ_a − θ) + (E−1)·(W(A') − θ), and continues with A' while F(A') < F(A). The
    loss decreases strictly, so the search ends; then G(A') ≥ 0 up to rounding, which means F ≥ θ for every set. The
    bound is θ + min(G, 0)/E, less an allowance for the rounding of the sums.

    A step takes O(N log N) time for the absolute and the squared loss, O(N²) for a table.

    >>> choice = best_anchors_on_line(100, 2.718281828459045, None, "absolute")
    >>> choice.anchors.tolist(), round(choice.loss, 3), round(choice.lower, 3)
    ([34, 65], 21.346, 21.346)
    """
    excess, from_zero, base = check_line(size, e, loss)
    weights = np.full(size, 1 / size) if prior is None else np.ascontiguousarray(prior, dtype=np.float64)
    choice = best_anchors_of(LineCosts(weights, from_zero), excess)
    return AnchorChoice(choice.anchors, base + choice.loss, base + choice.lower)


def best_anchors_of(costs: LineCosts, excess: float, start: Wholes | None = None) -> AnchorChoice:
    """Dinkelbach's iteration on checked arguments; excess is e^ε − 1, ``start`` an initial set."""
    anchors = np.array([np.argmin(costs.single)], dtype=np.int64)
    theta = float(costs.single[anchors[0]])
    if excess == 0:
        # ε rounds to 0: reports carry no information, and the best constant is the best release.
        return AnchorChoice(anchors, theta, theta)
    solver, roundings = solver_for(costs, excess)
    if start is None:
        start = _coarse_anchors(costs, excess)
    if start is not None and (loss := costs.expected(start, excess)) < theta:
        anchors, theta = start, loss
    while True:
        cost, found = solver.solve((costs.single - theta) / excess)
        loss = costs.expected(found, excess)
        if not loss < theta:
            break
        anchors, theta = found, loss
    # F(A) ≥ θ + G/(E+K−1) ≥ θ + min(G, 0)/E, and G = (E−1)·(cost − θ).
    lower = theta + min(cost - theta, 0) * (excess / (1 + excess)) - roundings * _ROUNDING * theta
    return AnchorChoice(anchors, theta, max(0.0, lower))


def _coarse_anchors(costs: LineCosts, excess: float) -> Wholes | None:
    """The best anchors of a coarser line, placed in the middle of their cells; None if the line is short."""
    size = len(costs.weights)
    if size <= _LONG or costs.kind == "table":
        return None
    cells = np.add.reduceat(costs.weights, np.arange(0, size, _COARSER))
    coarse = best_anchors_of(LineCosts(cells, costs.kind), excess)
    return np.unique(np.minimum(coarse.anchors * _COARSER + _COARSER // 2, size - 1))


def solver_for(costs: LineCosts, excess: float) -> tuple[LineCosts | CompiledLine, float]:
    """The fastest solver, and the largest error of its costs relative to the loss, in units of rounding.

    Sums of N non-negative terms are off by N roundings. The compiled solver takes differences of sums about the mean,
    whose rounding is small compared with λ_a, that is with E times the loss.
    """
    size = len(costs.weights)
    if size < COMPILE_FROM or costs.kind == "table":
        return costs, 4.0 * size
    try:
        from bipartite.mechanisms.design.compiled_anchors_line import CompiledLine  # noqa: PLC0415 (loaded only when it pays
    except Exception as problem:
        if size <= LARGEST_WITHOUT_COMPILER:
            return costs, 4.0 * size
        raise DesignError(
            f"Expected at most {LARGEST_WITHOUT_COMPILER} points without numba, got {size}; "
            f"run {installing('fast')}, or use a coarser line."
        ) from problem
    squared = costs.kind == "squared"
    return CompiledLine(costs.weights, costs.head, costs.tail, squared=squared), 4.0 * math.sqrt(size) + 64 * excess


def check_line(size: object, e: object, loss: object) -> tuple[float, Loss, float]:
    """(e^ε − 1, the loss less its value at distance 0, that value).

    Adding a constant to every loss adds the same constant to the loss of every release.
    """
    if not isinstance(size, (int, np.integer)) or size < 1:
        raise InputError(
            f"Expected size as a whole number of at least 1, got {shown(size)}; give the number of points."
        )
    if not isinstance(e, (int, float)) or not 1 <= e < math.inf:
        raise InputError(f"Expected e as e^ε, a finite number of at least 1, got {shown(e)}; pass math.exp(epsilon).")
    if is_one_of(loss, ("absolute", "squared")):
        return float(e) - 1, loss, 0.0  # type: ignore[return-value]
    if not isinstance(loss, np.ndarray) or loss.shape != (size,) or loss.dtype.kind not in "iuf":
        got = f"an array of {loss.dtype} of shape {loss.shape}" if isinstance(loss, np.ndarray) else shown(loss)
        raise InputError(
            f"Expected loss as 'absolute', 'squared' or an array of {size} numbers, got {got}; one per distance."
        )
    table = loss.astype(np.float64)
    if not np.isfinite(table).all() or (np.diff(table) < 0).any():
        raise InputError(
            "Expected losses by distance that are finite and non-decreasing; "
            "use optimal_matrix for a loss that does not increase with distance."
        )
    if size > LARGEST_TABLE:
        raise DesignError(
            f"Expected a table of at most {LARGEST_TABLE} losses, got {size}; "
            "use 'absolute' or 'squared', which have no limit, or a coarser line."
        )
    return float(e) - 1, table - table[0], float(table[0])


@dataclass(frozen=True, eq=False)
class BinChoice:
    """Bins, their reports, and their certificate: no ε-LDP release has a loss below ``lower``, whatever it reports."""

    starts: Wholes
    """The first point of each bin, ascending from 0."""
    means: Reals
    """The report of each bin, in steps from point 0, rounded to 9 decimals."""
    loss: float
    lower: float


def best_bins(weights: Reals, cost: float) -> BinChoice:
    """The bins on equidistant points whose posterior means have the least expected squared loss, in steps².

    Parameters
    ----------
    weights
        The prior, which sums to 1.
    cost
        c = 1/(e^ε − 1).
    """
    points = np.arange(len(weights), dtype=np.float64)
    # Sums that are rounded the same way on every machine, so that all choose the same of two equally good sets.
    centre = math.fsum(weights * points)
    away = points - centre
    spread = math.fsum(weights * away**2)
    mass, moment = (np.concatenate([[0.0], np.cumsum(each)]) for each in (weights, weights * away))
    starts, saved = np.zeros(1, dtype=np.int64), 0.0
    while True:
        found = _longest(mass, moment, cost, saved)
        now = _saved(mass, moment, cost, found)
        if not now > saved + _GAIN * spread:
            break
        starts, saved = found, now
    means = np.round(centre + _means(mass, moment, cost, starts), DECIMALS)
    # Bins with the same rounded report are merged.
    distinct = np.append(True, np.diff(means) > 0)
    starts, means = starts[distinct], means[distinct]
    loss = _loss(weights, points, cost, starts, means)
    # Sums of N terms, and R against V, are off by about N roundings of V each; ρ by less than the required gain.
    allowed = (8 * len(weights) * 2.0**-52 + _GAIN * (1 + cost * len(weights))) * spread
    return BinChoice(starts, means, loss, max(0.0, min(loss, spread - saved - allowed)))


def _gain(mass: Reals, moment: Reals, cost: float) -> Reals:
    """The reduction of the loss by bins of this mass and first moment."""
    return np.asarray(moment**2 / (mass + cost))


def _longest(mass: Reals, moment: Reals, cost: float, saved: float) -> Wholes:
    """The bins with the largest Σ_k [gain − c·ρ]; each begins where the previous one ends."""
    size = len(mass) - 1
    best, before = np.zeros(size + 1), np.full(size + 1, -1, dtype=np.int64)
    for stop in range(1, size + 1):
        gains = best[:stop] + _gain(mass[stop] - mass[:stop], moment[stop] - moment[:stop], cost)
        at = int(np.argmax(gains))
        best[stop], before[stop] = gains[at] - cost * saved, at
    return chain(before, int(before[size]))


def _saved(mass: Reals, moment: Reals, cost: float, starts: Wholes) -> float:
    """R of these bins."""
    return math.fsum(_gain(*_sums(mass, moment, starts), cost)) / (1 + cost * len(starts))


def _means(mass: Reals, moment: Reals, cost: float, starts: Wholes) -> Reals:
    held, first = _sums(mass, moment, starts)
    return np.asarray(first / (held + cost))


def _sums(mass: Reals, moment: Reals, starts: Wholes) -> tuple[Reals, Reals]:
    ends = np.append(starts, len(mass) - 1)
    return np.diff(mass[ends]), np.diff(moment[ends])


def _loss(weights: Reals, points: Reals, cost: float, starts: Wholes, means: Reals) -> float:
    """The expected squared loss of these bins with these reports."""
    own = np.searchsorted(starts, points, side="right") - 1
    others = np.array([weights @ (points - each) ** 2 for each in means]).sum()
    return float((weights @ (points - means[own]) ** 2 + cost * others) / (1 + cost * len(means)))
