"""How ε is divided between the region and the place in it: two levels, or a weight on the region.

Two levels: GRR on the R regions with ε1, then a window of m_r near places with ε2 in the true region r, a uniform place
in any other. With E1 = e^ε1, E2 = e^ε2, n_r places and Z_r = m_r·E2 + n_r − m_r, a place of region r has

* E1·E2/((E1 + R − 1)·Z_r) for values near it, E1/((E1 + R − 1)·Z_r) for others of its region,
* 1/((E1 + R − 1)·n_r) for values of other regions,

so the realised ε is the largest over r of ε2, ε1 + ε2 − ln(Z_r/n_r) and ln(Z_r/n_r) − ε1: less than ε1 + ε2. The
difference is added to ε1. The budgets are chosen in floats; the mechanisms check their tickets in integer arithmetic.

A weight: w on every place of the true region, 1 elsewhere. The normaliser Z_r = w·n_r + N − n_r depends on the region,
so the realised ratio is the largest w·Z_s/Z_r over two regions, which increases with w and is set to e^ε.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from bipartite.domains import Points
from bipartite.lottery import Epsilon
from bipartite.mechanisms.design.crossing import crossing_from_below
from bipartite.mechanisms.design.m_of_sets import safe_m_of_set

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.domains.regions import Regions

    Array = NDArray[np.float64]

# ε2 is a multiple of ε divided by this number.
_PARTS: Final = 32


class Split(NamedTuple):
    """Budgets of the two levels and the near places of each region."""

    region: float
    """ε1, for the region."""
    place: float
    """ε2, for the place in the region."""
    m: tuple[int, ...]


def two_level_epsilon(
    sizes: Array | NDArray[np.int64], m: Array | NDArray[np.int64], region: float, place: float
) -> float:
    """The realised ε of two levels, in floats: max over r of ε2, ε1 + ε2 − ln(Z_r/n_r), ln(Z_r/n_r) − ε1.

    >>> round(two_level_epsilon(np.array([10, 20]), np.array([3, 6]), 1, 1), 3)
    1.584
    """
    growth = _growth(sizes, m, place)
    return float(max(place, (region + place - growth).max(), (growth - region).max()))


def _growth(sizes: Array | NDArray[np.int64], m: Array | NDArray[np.int64], place: float) -> Array:
    """ln(Z_r/n_r) = ln(1 + (E2 − 1)·m_r/n_r)."""
    grown: Array = np.log1p(np.expm1(place) * np.asarray(m) / np.asarray(sizes))
    return grown


def largest_region_budget(sizes: NDArray[np.int64], m: NDArray[np.int64], epsilon: float, place: float) -> float:
    """The largest ε1 that keeps ε together with this ε2 ≤ ε."""
    return epsilon - place + float(_growth(sizes, m, place).min())


class RegionCosts:
    """The expected loss of two levels as a function of their budgets; sums of losses are computed once."""

    __slots__ = ("_across", "_all", "_near", "_sizes")

    def __init__(self, regions: Regions, prior: Array | None) -> None:
        places, labels, count = regions.places, regions.labels, len(regions)
        weights = np.full(len(places), 1 / len(places)) if prior is None else prior
        self._sizes = regions.sizes
        self._near = [np.zeros(size) for size in self._sizes.tolist()]
        self._all = np.zeros(count)
        self._across = 0.0
        for x, (region, weight) in enumerate(zip(labels.tolist(), weights.tolist(), strict=True)):
            losses = places.losses(x)
            by_region = np.bincount(labels, losses, count)
            self._near[region] += weight * np.cumsum(np.sort(losses[labels == region]))
            self._all[region] += weight * by_region[region]
            away = by_region / self._sizes
            self._across += weight * float(away.sum() - away[region])

    def best_m(self, place: float) -> NDArray[np.int64]:
        """For each region the m with the least loss inside it, from 1 to one less than its size."""
        chosen = [
            1
            + int(np.argmin((math.expm1(place) * near[:-1] + whole) / (math.expm1(place) * np.arange(1, size) + size)))
            for near, whole, size in zip(self._near, self._all.tolist(), self._sizes.tolist(), strict=True)
        ]
        return np.array(chosen, dtype=np.int64)

    def loss(self, split: Split) -> float:
        """The expected loss of two levels with these budgets."""
        excess, first = math.expm1(split.place), math.exp(split.region)
        inside = sum(
            (excess * near[m - 1] + whole) / (excess * m + size)
            for near, whole, size, m in zip(self._near, self._all.tolist(), self._sizes.tolist(), split.m, strict=True)
        )
        return float((first * inside + self._across) / (first + len(self._sizes) - 1))


def near_places(regions: Regions, place: float) -> NDArray[np.int64]:
    """Algorithm 2 in each region: the m with which no place of it does worse than under GRR in the region."""
    if place <= 0:
        return np.ones(len(regions), dtype=np.int64)
    # ε2 may be rounded to a decimal of few digits, because any m is private.
    budget = Epsilon.of(f"{max(place, 1e-12):.12g}")
    return np.array([safe_m_of_set(part, budget) for part in parts(regions)], dtype=np.int64)


def near_counts(regions: Regions, place: float, rule: str, prior: Array | None) -> NDArray[np.int64]:
    """The number of near places in each region: "best" for the prior, "safe" (Algorithm 2) or "grr" (m = 1)."""
    if rule == "grr":
        return np.ones(len(regions), dtype=np.int64)
    return near_places(regions, place) if rule == "safe" else RegionCosts(regions, prior).best_m(place)


def parts(regions: Regions) -> list[Points]:
    """The places of each region as a domain, with the same integer coordinates."""
    vectors = regions.places.order.vectors  # type: ignore[union-attr]  # haversine has vectors
    return [Points.restore("haversine", vectors[regions.members(r)], 0, None) for r in range(len(regions))]


def best_split(regions: Regions, epsilon: float, prior: Array | None, rule: str) -> Split:
    """The budgets of least expected loss, over a grid of ε2, each with the largest ε1 that keeps ε.

    ``rule`` is "best", "safe" (Algorithm 2) or "grr" (m = 1).
    """
    costs = RegionCosts(regions, prior)
    candidates = []
    for part in range(_PARTS + 1):
        place = epsilon * part / _PARTS
        m = np.ones(len(regions), dtype=np.int64)
        if rule != "grr":
            m = costs.best_m(place) if rule == "best" else near_places(regions, place)
        region = largest_region_budget(regions.sizes, m, epsilon, place)
        candidates.append(Split(region, place, tuple(m.tolist())))
    return min(candidates, key=costs.loss)


def region_weight(sizes: NDArray[np.int64], epsilon: float) -> float:
    """The largest weight w whose realised ratio is at most e^ε."""
    return crossing_from_below(lambda weight: weighted_epsilon(sizes, weight), epsilon, 1.0, math.exp(epsilon))


def weighted_epsilon(sizes: NDArray[np.int64], weight: float) -> float:
    """Ln of the largest w·Z_s/Z_r over two regions r ≠ s; only the two largest Z_s matter."""
    normalisers = weight * sizes + (sizes.sum() - sizes)
    ranked = np.argsort(-normalisers, kind="stable")
    above = np.full(len(sizes), normalisers[ranked[0]])
    above[ranked[0]] = normalisers[ranked[1]]
    return float(np.log(weight * above / normalisers).max())
