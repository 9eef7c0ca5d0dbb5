"""Releases of places in regions that are ε-LDP: two levels, and a weight on the region.

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
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeVar, cast

import numpy as np

from bipartite import from_spec
from bipartite.design import check_prior, safe_m_of_set
from bipartite.errors import DesignError, InputError, is_one_of, shown
from bipartite.lottery import MAX_TOTAL, Epsilon, log_between
from reproduction.places.regions import Regions, parts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Protocol

    from numpy.typing import NDArray

    from bipartite.mechanisms import Mechanism

    Array = NDArray[np.float64]

    class _Rows(Protocol):
        def largest_ratio(self) -> Fraction: ...


Inside = Literal["best", "safe", "grr"]
_MOST_EPSILON: Final = 50
_MOST_COUNTS: Final = 2**25
VERSION: Final = 4  # of the specs of regions
# Tickets are integers, so a design aims below ε by this share, and by more while its tickets still exceed ε.
_FIRST_MARGIN: Final = 2.0**-40
_MOST_MARGIN: Final = 2.0**-10
# The least realised ε, as a share of ε.
_LEAST: Final = 0.998
_Built = TypeVar("_Built", bound="_Rows")

# ε2 is a multiple of ε divided by this number.
_PARTS: Final = 32


class Split(NamedTuple):
    """Budgets of the two levels and the near places of each region."""

    region: float
    """ε1, for the region."""
    place: float
    """ε2, for the place in the region."""
    m: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class BlockRows:
    """The tickets of all rows of a mechanism in blocks, before any table is made."""

    sizes: Sequence[int]
    """The number of places in each region."""
    m: Sequence[int]
    """The number of near places in each region."""
    tickets: Sequence[tuple[int, int, int]]
    """(near, far, outside) of each region."""
    total: int
    """The total of every row."""

    def extras(self) -> list[int]:
        """The number of near places in each region that hold one more ticket, so that all rows have the total."""
        given = [size * outside for size, (_, _, outside) in zip(self.sizes, self.tickets, strict=True)]
        return [
            self.total - sum(given) + own - m * near - (size - m) * far
            for own, size, m, (near, far, _) in zip(given, self.sizes, self.m, self.tickets, strict=True)
        ]

    def largest_ratio(self) -> Fraction:
        """The largest ratio of the tickets of one place, computed from the counts of each region alone.

        Every place is near itself and far from some other place of its region, so both counts occur in one column. An
        upper bound: the extra ticket that some near places hold is assumed for all of them.
        """
        ratios = []
        for size, m, (near, far, outside), extra in zip(self.sizes, self.m, self.tickets, self.extras(), strict=True):
            held = [near + (extra > 0), far, *([outside] if outside else [])]
            ratios.append(Fraction(max(held), min(held)) if size > m else Fraction(1))
        return max(ratios)


def check_regions(regions: object, least: int = 1) -> None:
    """Refuse anything but a partition with at least this many regions."""
    if not isinstance(regions, Regions):
        msg = (
            f"Expected regions as reproduction.places.Regions, got {type(regions).__name__}; "
            "build them with Regions.by_prefix(places) or Regions.of(places, labels)."
        )
        raise InputError(msg)
    if len(regions) < least:
        msg = f"Expected {least} regions or more, got {len(regions)}; use bp.BRR or bp.Anchored on all places."
        raise DesignError(msg)


def check_blocks(sizes: NDArray[np.int64]) -> None:
    """Refuse regions whose tables are too large for memory."""
    counts = int((sizes.astype(np.float64) ** 2).sum())
    if counts > _MOST_COUNTS:
        raise DesignError(
            f"This mechanism holds a ticket count for every pair of places in one region, at most 2^25, got {counts}; "
            "use smaller regions (the largest has "
            f"{int(sizes.max())} places), region_weighted, or bp.BRR, which need no table."
        )


def two_level(
    regions: Regions,
    epsilon: object,
    *,
    inside: Inside = "best",
    budgets: tuple[float, float] | None = None,
    prior: Sequence[float] | NDArray[np.float64] | None = None,
) -> Mechanism:
    r"""Reports a region by GRR with ε1; in the true region a near place with ε2, in any other a uniform place.

    Parameters
    ----------
    regions
        A public partition of places, :class:`Regions`, two regions or more.
    epsilon
        The privacy budget of one report, **both levels together**.
    inside
        The window in the true region: ``"best"``, the m with the least expected loss; ``"safe"``, Algorithm 2's m; or
        ``"grr"``, m = 1.
    budgets
        (ε1, ε2). By default those with the least expected loss whose *realised* ε is the budget; ε1 + ε2 is only a
        loose bound.
    prior
        Public probabilities of the places, None for uniform.

    Guarantee
    ---------
    ε-LDP for each report over all places, exactly: a mechanism of the library, read from its spec.

    Notes
    -----
    With Z_r = m_r·e\ :sup:`ε2` + n_r − m_r the realised ε is the largest over regions r of ε2,
    ε1 + ε2 − ln(Z_r/n_r) and ln(Z_r/n_r) − ε1. Bias and variance given x follow from row x of ``matrix()``.

    Examples
    --------
    >>> from bipartite import Points, verify
    >>> places = Points([[52.5, 13.4], [52.4, 13.1], [48.9, 2.35], [48.8, 2.1]], metric="haversine")
    >>> mech = two_level(Regions.of(places, ["DE", "DE", "FR", "FR"]), epsilon=1)
    >>> verify(mech).holds, round(float(verify(mech).epsilon_upper), 6)
    (True, 1.0)
    """
    budget = Epsilon.of(epsilon)
    check_regions(regions, least=2)
    check_blocks(regions.sizes)
    check_one_of("inside", inside, ("best", "safe", "grr"))
    weights = None if prior is None else check_prior(prior, len(regions.places))
    split = (
        best_split(regions, float(budget), weights, inside)
        if budgets is None
        else _split_as_given(regions, float(budget), budgets, inside, weights)
    )
    sizes = regions.sizes.tolist()

    def build(wanted: float) -> BlockRows | None:
        # Given budgets are kept; chosen ones are lowered to allow for the rounding of tickets.
        scale = wanted / float(budget) if budgets is None else 1.0
        return two_level_tickets(sizes, Split(split.region * scale, split.place * scale, split.m))

    rows = build_below(budget, build, least=_LEAST if budgets is None else 0.0)
    spec = spec_of("two-level", regions, budget.text, ("near", "far", "outside"), rows.tickets, rows.total)
    return from_spec(spec | {"m": list(rows.m)})


def region_weighted(regions: Regions, epsilon: object) -> Mechanism:
    r"""Weight w on every place of the true region and 1 on all others: a report carries information on the region only.

    The normaliser Z_r = w·n_r + N − n_r depends on the region, so w is chosen such that the realised ratio, the largest
    w·Z_s/Z_r over two regions, is e\ :sup:`ε`.

    Parameters
    ----------
    regions
        A public partition of places, :class:`Regions`, two regions or more.
    epsilon
        The privacy budget of one report.

    Guarantee
    ---------
    ε-LDP for each report over all places, exactly (:func:`bipartite.verify`). Places of one region have the same row,
    so a report says nothing about which of them is true.

    Notes
    -----
    Bias and variance given x follow from row x of ``matrix()``. Nothing about places within a region can be estimated.

    Examples
    --------
    >>> from bipartite import Points, verify
    >>> places = Points([[52.5, 13.4], [52.4, 13.1], [48.9, 2.35], [48.8, 2.1]], metric="haversine")
    >>> mech = region_weighted(Regions.of(places, ["DE", "DE", "FR", "FR"]), epsilon=1)
    >>> verify(mech).holds, round(float(verify(mech).epsilon_upper), 6)
    (True, 1.0)
    """
    budget = Epsilon.of(epsilon)
    check_regions(regions, least=2)

    def build(wanted: float) -> _Weights | None:
        weight = region_weight(regions.sizes, wanted)
        outsiders = len(regions.places) - regions.sizes
        other = (MAX_TOTAL / (weight * regions.sizes + outsiders)).astype(np.int64)
        own = (MAX_TOTAL - outsiders * other) // regions.sizes
        return None if other.min() < 1 else _Weights(regions.sizes, own, other)

    built = build_below(budget, build)
    tickets = list(zip(built.own.tolist(), built.other.tolist(), strict=True))
    spec = spec_of("region-weighted", regions, budget.text, ("own", "other"), tickets, MAX_TOTAL)
    return from_spec(spec)


@dataclass(frozen=True)
class _Weights:
    """The tickets of every place of the own region, and of every other place, for each region."""

    sizes: NDArray[np.int64]
    own: NDArray[np.int64]
    other: NDArray[np.int64]

    def largest_ratio(self) -> Fraction:
        """Of two inputs' tickets for one output, over all pairs of regions."""
        outsiders = int(self.sizes.sum()) - self.sizes
        most = self.own + (self.own * self.sizes + self.other * outsiders < MAX_TOTAL)
        ratios = []
        for region in range(len(self.sizes)):
            rest = np.delete(self.other, region)
            above = max(int(most[region]), int(rest.max()))
            ratios.append(Fraction(above, min(int(self.own[region]), int(rest.min()))))
        return max(ratios)


def spec_of(
    name: str, regions: Regions, epsilon: str, names: tuple[str, ...], tickets: Sequence[tuple[int, ...]], total: int
) -> dict[str, Any]:
    """The spec of a release with these tickets for each region."""
    return {
        "bipartite": VERSION,
        "mechanism": name,
        "domain": regions.places.to_spec(),
        "epsilon": epsilon,
        "regions": {"labels": regions.labels.tolist(), "names": list(regions.names)},
        "tickets": [dict(zip(names, map(str, each), strict=True)) for each in tickets],
        "total": str(total),
    }


def check_one_of(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Refuse an option that is not one of these choices."""
    if not is_one_of(value, choices):
        *others, last = map(repr, choices)
        raise InputError(f"Expected {name}={', '.join(others)} or {last}, got {shown(value)}.")


def window_tickets(total: int, size: int, m: int, growth: float) -> tuple[int, int]:
    """The tickets (near, far) of ``size`` places, m of them near, with this total and near ≈ growth·far."""
    far = max(1, int(total / (m * growth + size - m)))
    return (total - (size - m) * far) // m, far


def build_below(budget: Epsilon, build: Callable[[float], _Built | None], *, least: float = _LEAST) -> _Built:
    """Build for an ε slightly below the budget, and further below until the largest ratio keeps the budget.

    Refused if the realised ε is below the share ``least`` of the budget: there are too few tickets then.
    """
    margin = _FIRST_MARGIN
    while margin <= _MOST_MARGIN:
        built = build(float(budget) * (1 - margin))
        if built is None:
            break
        ratio = built.largest_ratio()
        if budget.allows(*ratio.as_integer_ratio()):
            if float(log_between(ratio)[0]) < least * float(budget):
                break
            return built
        margin *= 2
    msg = f"2^52 tickets cannot keep ε={budget.text} on these regions; use another ε, or fewer places."
    raise DesignError(msg)


def two_level_tickets(sizes: Sequence[int], split: Split) -> BlockRows | None:
    """(near, far, outside) of each region and the total of every row; None if there are too few tickets.

    Every place of region r has c_r tickets in the rows of other regions, and a row of region r holds n_r·c_r + D
    tickets inside: D is the same for all regions, so that all rows hold D + Σ_s n_s·c_s.
    """
    first = float(np.exp(split.region))
    shares = MAX_TOTAL / (first + len(sizes) - 1)
    outside = [int(shares / size) for size in sizes]
    if min(outside) < 1:
        return None
    given = sum(size * count for size, count in zip(sizes, outside, strict=True))
    # Floats may round the surplus up past the limit of a row.
    surplus = min(int(shares * np.expm1(split.region)), MAX_TOTAL - given)
    tickets = []
    for size, m, count in zip(sizes, split.m, outside, strict=True):
        near, far = window_tickets(size * count + surplus, size, m, float(np.exp(split.place)))
        if min(near, far) < 1:
            return None
        tickets.append((near, far, count))
    return BlockRows(sizes, split.m, tickets, surplus + given)


def _split_as_given(
    regions: Regions, epsilon: float, budgets: object, inside: Inside, prior: NDArray[np.float64] | None
) -> Split:
    numbers = isinstance(budgets, tuple) and len(budgets) == 2  # noqa: PLR2004
    if not numbers or not all(
        isinstance(each, (int, float)) and 0 <= each <= _MOST_EPSILON for each in cast("tuple[Any]", budgets)
    ):
        msg = f"Expected budgets as two numbers (ε1, ε2) from 0 to 50, got {shown(budgets)}; or leave them out."
        raise InputError(msg)
    first, second = (float(each) for each in cast("tuple[Any, Any]", budgets))
    m = near_counts(regions, second, inside, prior)
    realised = two_level_epsilon(regions.sizes, m, first, second)
    if realised > epsilon:
        msg = f"Budgets {first:g} and {second:g} realise ε = {realised:.4f}, more than {epsilon:g}; lower one of them."
        raise DesignError(msg)
    return Split(first, second, tuple(m.tolist()))


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
    low, high = 1.0, math.exp(epsilon)
    while weighted_epsilon(sizes, high) < epsilon:
        low, high = high, 2 * high
    # Bisected until no double lies inside.
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (middle, high) if weighted_epsilon(sizes, middle) <= epsilon else (low, middle)
    return low


def weighted_epsilon(sizes: NDArray[np.int64], weight: float) -> float:
    """Ln of the largest w·Z_s/Z_r over two regions r ≠ s; only the two largest Z_s matter."""
    normalisers = weight * sizes + (sizes.sum() - sizes)
    ranked = np.argsort(-normalisers, kind="stable")
    above = np.full(len(sizes), normalisers[ranked[0]])
    above[ranked[0]] = normalisers[ranked[1]]
    return float(np.log(weight * above / normalisers).max())
