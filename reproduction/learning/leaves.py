"""The leaves that the BRR paper compares: what is released of a leaf of n records whose gradients sum to Σ.

All release one ratio, V = −Σ/(n + λ), rounded down to units of 2^−20 and clipped to g*(1 − η)^(t−1) for tree t. One
record changes it by at most ΔV = min(g*/(1 + λ), 2g*(1 − η)^(t−1)), rounded up, and the noise has to hide that much
however many records the leaf has. Empty leaves are released like all others.

====================  =============================================================================================
``laplace``           V + Z, Pr[Z = z] ∝ e^(−ε|z|/ΔV) on the units: discrete Laplace noise, unbounded
``clamped-laplace``   the same, clamped to [−c, c] afterwards
``brr``               V clamped to [−c, c], rounded to one of n points, reported by BRR
``anchored``          the same points, GRR on the anchors with the least squared loss
``geometric``         the same points, geometric noise clamped to both ends
``none``              V itself: no privacy
====================  =============================================================================================

The proof is in ``bench/results/paper_boosting.md``.
"""

import functools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal, get_args

from bipartite.domains import Integers
from bipartite.learn.boosting.leaves import UNIT
from bipartite.lottery import Epsilon, Stream
from bipartite.lottery.integer_noise import discrete_laplace_of_rate
from bipartite.mechanisms import BRR, Anchored, Geometric, Mechanism

Leaf = Literal["laplace", "clamped-laplace", "brr", "anchored", "geometric", "none"]
LEAVES: Final[tuple[Leaf, ...]] = get_args(Leaf)
# Sixteen million times the largest label. Noise of a tiny ε is clamped to this after it was drawn, so that sums of
# thousands of trees stay whole numbers of 64 bits.
_MOST: Final = 2**44


def leaf_value(count: int, total: int, lam: Fraction, clip: int) -> int:
    """V in units, rounded down and clipped."""
    value = -total * lam.denominator // (count * lam.denominator + lam.numerator)
    return min(max(value, -clip), clip)


@dataclass(frozen=True)
class LeafScale:
    """The public numbers of the leaves of one tree, in units."""

    clip: int
    """g*(1 − η)^(t−1), rounded down."""
    sensitivity: int
    """ΔV, rounded up."""
    reach: int
    """c: leaves lie in [−c, c] where a rule needs a range."""


def leaf_scale(tree: int, eta: Fraction, lam: Fraction, leaf_range: Fraction | None) -> LeafScale:
    """The numbers of tree 0, 1, … of an ensemble; ``leaf_range`` is c in units of g*, None for ΔV/2.

    No leaf lies beyond the clip, so a larger range would only add noise: c is the smaller of the two.
    """
    clip = math.floor(UNIT * (1 - eta) ** tree)
    sensitivity = max(1, min(math.ceil(UNIT / (1 + lam)), 2 * clip))
    reach = -(-sensitivity // 2) if leaf_range is None else max(1, min(math.ceil(leaf_range * UNIT), clip))
    return LeafScale(clip, sensitivity, reach)


@dataclass(frozen=True)
class OnPoints:
    """A mechanism on n equidistant points of [−c, c], private for every sensitivity."""

    mechanism: Mechanism

    def draw(self, value: int, scale: LeafScale, stream: Stream) -> int:
        """The point that the mechanism reports."""
        return self.decode(self.mechanism.lottery.draw(self.encode(value, scale.reach), stream), scale)

    def encode(self, value: int, reach: int) -> int:
        """The point nearest to a value, the upper one of two."""
        inside = min(max(value, -reach), reach) + reach
        return (2 * inside * (len(self.mechanism.domain) - 1) + 2 * reach) // (4 * reach)

    def decode(self, output: int, scale: LeafScale) -> int:
        """The value of a reported output, rounded down to a unit."""
        at = int(self.mechanism.outputs.decode(output))
        return (2 * scale.reach * at) // (len(self.mechanism.domain) - 1) - scale.reach

    def law(self, value: int, scale: LeafScale) -> dict[int, Fraction]:
        """The probability of every released value: what ``draw`` draws from, for proofs by enumeration."""
        lottery = self.mechanism.lottery
        at = self.encode(value, scale.reach)
        probabilities: dict[int, Fraction] = {}
        for output, tickets in enumerate(lottery.rows(at, at + 1)[0].tolist()):
            released = self.decode(output, scale)
            probabilities[released] = probabilities.get(released, Fraction(0)) + Fraction(tickets, lottery.total)
        return probabilities


@dataclass(frozen=True)
class WithLaplace:
    """Discrete Laplace noise, clamped to [−c, c] where ``clamped``."""

    epsilon: Fraction
    clamped: bool

    def draw(self, value: int, scale: LeafScale, stream: Stream) -> int:
        """The value with noise, which falls by the factor e^(−ε/ΔV) from one unit to the next."""
        most = scale.reach if self.clamped else _MOST
        return min(max(value + discrete_laplace_of_rate(self.epsilon / scale.sensitivity, stream), -most), most)


LeafRule = OnPoints | WithLaplace


@functools.lru_cache(maxsize=32)
def leaf_rule(leaf: Leaf, epsilon: Epsilon, points: int) -> LeafRule | None:
    """The rule of this name with ε for each leaf; None has no privacy and releases the value itself."""
    if leaf == "none":
        return None
    domain = Integers(0, points - 1)
    if leaf == "brr":
        return OnPoints(BRR(domain, epsilon))
    if leaf == "anchored":
        return OnPoints(Anchored(domain, epsilon, loss="squared"))
    if leaf == "geometric":
        return OnPoints(Geometric(domain, epsilon))
    return WithLaplace(Fraction(epsilon.value), clamped=leaf == "clamped-laplace")
