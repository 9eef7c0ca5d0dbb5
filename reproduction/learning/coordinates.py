r"""A locally private gradient: what one person sends, and what the collector makes of it.

Everybody draws one uniform number r and reports, of the d coordinates of their own gradient, the k at
(r + ⌊j·d/k⌋) mod d for j = 0 … k − 1. The choice does not look at the gradient, and every coordinate is chosen with
probability k/d exactly. Each is clipped to [−C, C], rounded at random to a node (which keeps its mean) and reported
with ε/k.

The collector adds d/k times each report, with the mechanism's bias taken out, and divides by the number of people. Of
people with clipped gradients g_i, the estimate of coordinate j has mean ḡ_j = Σ_i g_ij/n and variance

    Σ_i [ (d/k)·(v(g_ij) + g_ij²) − g_ij² ] / n²,   v(g): the variance of one report of the value g.
"""

from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal
from functools import cached_property
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bipartite.domains import Interval
from bipartite.errors import InputError
from bipartite.lottery import Epsilon, Source, TooFewTickets, issue_tickets, whole_numbers_below
from bipartite.mechanisms import BRR, Duchi, Hybrid, Mechanism, Piecewise

Array = NDArray[np.float64]

Name = Literal["brr", "piecewise", "hybrid", "duchi"]
NAMES: Final = get_args(Name)
# ε of one report from which on a second coordinate pays (Wang et al., ICDE 2019, equation 12).
_ENOUGH: Final = 2.5
_DIGITS: Final = Decimal("1e-9")
_MOST_EACH: Final = 50  # the largest ε of a mechanism


def coordinates_for(epsilon: float, size: int) -> int:
    """How many coordinates everybody reports: one for each 2.5 of ε, at least 1, at most all."""
    return max(1, min(size, int(epsilon / _ENOUGH)))


@dataclass(frozen=True)
class CoordinateReports:
    """Both halves of a locally private gradient of ``size`` numbers: ``report`` on a device, ``totals`` at a server.

    ``epsilon`` is what one person spends; ``clip`` the public bound C; ``coordinates`` is k; ``points`` the nodes of
    [−C, C].
    """

    mechanism: Name
    epsilon: float
    clip: float
    size: int
    coordinates: int = 1
    points: int = 21

    def __post_init__(self) -> None:
        if not 1 <= self.coordinates <= self.size:
            raise InputError(f"Expected 1 to {self.size} coordinates, got {self.coordinates}; use one of these.")
        if not _DIGITS <= self.epsilon_each <= _MOST_EACH:
            raise InputError(
                f"Expected epsilon between {_DIGITS:g} and {_MOST_EACH} a coordinate, got {self.epsilon} for "
                f"{self.coordinates}; use {'more' if self.epsilon_each else 'fewer'} coordinates, or another epsilon."
            )

    @property
    def epsilon_each(self) -> Decimal:
        """ε of one coordinate: ε/k, rounded down."""
        return (Decimal(repr(float(self.epsilon))) / self.coordinates).quantize(_DIGITS, ROUND_DOWN)

    @cached_property
    def randomizer(self) -> Mechanism:
        """The mechanism of one coordinate, in units of the clipping bound."""
        domain = Interval(-1, 1, points=self.points, rounding="random")
        each = str(self.epsilon_each.normalize())
        if self.mechanism == "brr":
            return BRR(domain, each, m=least_variance_window(each, self.points), edges="padded")
        found: Mechanism = {"piecewise": Piecewise, "hybrid": Hybrid, "duchi": Duchi}[self.mechanism](domain, each)
        return found

    @cached_property
    def _slope(self) -> float:
        """By how much the mean of a report grows with the value: 1 but for padded BRR, whose mean shrinks."""
        mechanism = self.randomizer
        if not isinstance(mechanism, BRR):
            return 1.0
        near, far = (int(each) for each in (mechanism.lottery.tickets.near, mechanism.lottery.tickets.far))  # type: ignore[attr-defined]
        return (near - far) * mechanism.m / mechanism.lottery.total

    def chosen(self, starts: NDArray[np.int64]) -> NDArray[np.int64]:
        """The coordinates that belong to these numbers r, a row each."""
        offsets = np.arange(self.coordinates, dtype=np.int64) * self.size // self.coordinates
        return (starts[:, None] + offsets) % self.size

    def starts(self, people: int, source: Source) -> NDArray[np.int64]:
        """Draw the number r of each of ``people`` persons."""
        return whole_numbers_below(self.size, people, source)

    def report(self, values: Array, source: Source) -> Array:
        """The reports, in units of the clipping bound, of chosen coordinates; what is not a number counts as 0."""
        with np.errstate(invalid="ignore", over="ignore"):
            scaled = np.nan_to_num(np.asarray(values, dtype=np.float64) / self.clip, nan=0.0)
        found: Array = self.randomizer.privatize(scaled.ravel(), rng=source, outside="clip")
        return found.reshape(scaled.shape)

    def totals(self, starts: NDArray[np.int64], reports: Array) -> Array:
        """Unbiased sums of clipped gradients from the reports of people with these numbers r."""
        weights = reports.ravel() * (self.clip / self._slope * self.size / self.coordinates)
        return np.bincount(self.chosen(starts).ravel(), weights, minlength=self.size).astype(np.float64)

    def variance(self, gradients: Array) -> Array:
        """The variance of ``totals``/n for people with these gradients, a row each; for study, from the tickets."""
        clipped = np.clip(gradients, -self.clip, self.clip)
        each = self.size / self.coordinates * (self.report_variance(clipped) + clipped**2) - clipped**2
        found: Array = each.sum(axis=0) / len(gradients) ** 2
        return found

    def report_variance(self, values: Array) -> Array:
        """v(g): the variance of one report, its bias taken out, for values within the bound."""
        outputs = self.randomizer.outputs.to_numpy() / self._slope
        node = (np.asarray(values) / self.clip + 1) / 2 * (self.points - 1)
        low = np.minimum(node.astype(np.int64), self.points - 2)
        mean, square = (
            (1 - (node - low)) * moments[low] + (node - low) * moments[low + 1]
            for moments in (self.randomizer.matrix() @ outputs, self.randomizer.matrix() @ outputs**2)
        )
        found: Array = (square - mean**2) * self.clip**2
        return found


def least_variance_window(epsilon: str, points: int) -> int:
    r"""The odd m of padded BRR with the least variance at zero, its bias taken out; a function of ε and N alone.

    With M = N + m − 1 outputs and s = (p − q)·m a report has mean s·x and variance (1 − s)(M² − 1)/12 + s(m² − 1)/12 at
    the middle x = 0, in steps; divided by s² that is the variance of the unbiased report. Most gradients are near zero.
    """
    budget = Epsilon.of(epsilon)
    ratio = float(np.exp(min(float(budget), 700.0)))

    def variance(m: int) -> float:
        outputs = points + m - 1
        s = (ratio - 1) * m / (m * ratio + outputs - m)
        return ((1 - s) * (outputs**2 - 1) + s * (m**2 - 1)) / s**2

    windows = range(1, 8 * points, 2)
    usable = [m for m in windows if not isinstance(issue_tickets(budget, m, points + m - 1), TooFewTickets)]
    return min(usable, key=variance)
