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

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bipartite import from_spec
from bipartite.errors import DesignError, InputError
from bipartite.lottery import MAX_TOTAL, Epsilon, log_between
from bipartite.lottery.table import MOST_TICKET_COUNTS
from bipartite.mechanisms import Mechanism
from reproduction.places.regions import Regions

Array = NDArray[np.float64]
Whole = NDArray[np.int64]

VERSION: Final = 4  # of the specs of regions
# Tickets are integers, so a design aims below ε by this share, and by more while its tickets still exceed ε.
_FIRST_MARGIN: Final = 2.0**-40
_MOST_MARGIN: Final = 2.0**-10
# The least realised ε, as a share of ε.
_LEAST: Final = 0.998
# ε2 is a multiple of ε divided by this number.
_PARTS: Final = 32


class Split(NamedTuple):
    """Budgets of the two levels and the near places of each region."""

    region: float
    """ε1, for the region."""
    place: float
    """ε2, for the place in the region."""
    m: tuple[int, ...]
    loss: float = math.nan
    """The expected loss."""


class Dealt(NamedTuple):
    """The tickets of all rows of a mechanism on regions, before any table is made."""

    tickets: list[tuple[int, ...]]
    """Of each region, in the order in which its spec names them."""
    total: int
    """Of every row."""
    held: list[list[int]]
    """The counts that the places of each region may have in any row; one more where some places hold an extra one."""

    def largest_ratio(self) -> Fraction:
        """The largest ratio of the tickets of one place; an upper bound: an extra ticket is assumed for all."""
        return max(Fraction(max(held), min(held)) for held in self.held)


def two_level(regions: Regions, epsilon: object) -> Mechanism:
    r"""Reports a region by GRR with ε1; in the true region a near place with ε2, in any other a uniform place.

    Budgets and windows are those with the least expected loss, all places alike, whose *realised* ε is the budget;
    ε1 + ε2 is only a loose bound.

    Guarantee: ε-LDP for each report over all places, both levels together, exactly; a mechanism of the library, read
    from its spec.

    >>> from bipartite import Points, verify
    >>> places = Points([[52.5, 13.4], [52.4, 13.1], [48.9, 2.35], [48.8, 2.1]], metric="haversine")
    >>> mech = two_level(Regions.by_prefix(places, at_least=2), epsilon=1)
    >>> verify(mech).holds, round(float(verify(mech).epsilon_upper), 6)
    (True, 1.0)
    """
    budget = Epsilon.of(epsilon)
    check_regions(regions, least=2)
    check_blocks(regions.sizes)
    split = best_split(regions, float(budget))

    def build(wanted: float) -> Dealt | None:
        lower = wanted / float(budget)
        return two_level_tickets(regions.sizes.tolist(), Split(split.region * lower, split.place * lower, split.m))

    dealt = build_below(budget, build)
    return from_spec(spec_of("two-level", regions, budget.text, ("near", "far", "outside"), dealt, m=list(split.m)))


def region_weighted(regions: Regions, epsilon: object) -> Mechanism:
    r"""Weight w on every place of the true region and 1 on all others: a report carries information on the region only.

    Guarantee: ε-LDP for each report over all places, exactly. Places of one region have the same row, so a report says
    nothing about which of them is true, and nothing about places within a region can be estimated.

    >>> from bipartite import Points, verify
    >>> places = Points([[52.5, 13.4], [52.4, 13.1], [48.9, 2.35], [48.8, 2.1]], metric="haversine")
    >>> mech = region_weighted(Regions.by_prefix(places, at_least=2), epsilon=1)
    >>> verify(mech).holds, round(float(verify(mech).epsilon_upper), 6)
    (True, 1.0)
    """
    budget = Epsilon.of(epsilon)
    check_regions(regions, least=2)

    def build(wanted: float) -> Dealt | None:
        weight = region_weight(regions.sizes, wanted)
        outsiders = len(regions.places) - regions.sizes
        other = (MAX_TOTAL / (weight * regions.sizes + outsiders)).astype(np.int64)
        own = (MAX_TOTAL - outsiders * other) // regions.sizes
        most = own + (own * regions.sizes + other * outsiders < MAX_TOTAL)
        held = [[int(own[at]), int(most[at]), *np.delete(other, at).tolist()] for at in range(len(regions))]
        tickets: list[tuple[int, ...]] = list(zip(own.tolist(), other.tolist(), strict=True))
        return None if other.min() < 1 else Dealt(tickets, MAX_TOTAL, held)

    return from_spec(spec_of("region-weighted", regions, budget.text, ("own", "other"), build_below(budget, build)))


def check_regions(regions: object, least: int = 1) -> None:
    """Refuse anything but a partition with at least this many regions."""
    if not isinstance(regions, Regions):
        raise InputError(
            f"Expected regions as reproduction.places.Regions, got {type(regions).__name__}; "
            "build them with Regions.by_prefix(places)."
        )
    if len(regions) < least:
        raise DesignError(
            f"Expected {least} regions or more, got {len(regions)}; use bp.BRR or bp.Anchored on all places."
        )


def check_blocks(sizes: Whole) -> None:
    """Refuse regions whose tables are too large for memory."""
    counts = int((sizes.astype(np.float64) ** 2).sum())
    if counts > MOST_TICKET_COUNTS:
        raise DesignError(
            f"This mechanism holds a ticket count for every pair of places in one region, at most 2^25, got {counts}; "
            f"use smaller regions (the largest has {sizes.max()} places), region_weighted, or bp.BRR, which need no "
            "table."
        )


def spec_of(
    name: str, regions: Regions, epsilon: str, names: tuple[str, ...], dealt: Dealt, **more: object
) -> dict[str, Any]:
    """The spec of a release with these tickets for each region."""
    return {
        "bipartite": VERSION,
        "mechanism": name,
        "domain": regions.places.to_spec(),
        "epsilon": epsilon,
        "regions": {"labels": regions.labels.tolist(), "names": list(regions.names)},
        "tickets": [dict(zip(names, map(str, each), strict=False)) for each in dealt.tickets],
        "total": str(dealt.total),
        **more,
    }


def build_below(budget: Epsilon, build: Callable[[float], Dealt | None]) -> Dealt:
    """Build for an ε slightly below the budget, and further below until the largest ratio keeps the budget.

    Refused if the realised ε is clearly below the budget: there are too few tickets then.
    """
    margin = _FIRST_MARGIN
    while margin <= _MOST_MARGIN and (built := build(float(budget) * (1 - margin))) is not None:
        ratio = built.largest_ratio()
        if not budget.allows(*ratio.as_integer_ratio()):
            margin *= 2
        elif float(log_between(ratio)[0]) >= _LEAST * float(budget):
            return built
        else:
            break
    raise DesignError(f"2^52 tickets cannot keep ε={budget.text} on these regions; use another ε, or fewer places.")


def window_tickets(total: int, size: int, m: int, epsilon: float) -> tuple[int, int]:
    """The tickets (near, far) of ``size`` places, m of them near, with this total and near ≈ e^ε·far."""
    far = max(1, int(total / (m * float(np.exp(epsilon)) + size - m)))
    return (total - (size - m) * far) // m, far


def in_blocks(sizes: Sequence[int], m: Sequence[int], tickets: list[tuple[int, int, int]], total: int) -> Dealt:
    """Rows with (near, far, outside) tickets of each region; some near places hold an extra one, up to the total."""
    given = sum(size * outside for size, (_, _, outside) in zip(sizes, tickets, strict=True))
    held = []
    for size, count, (near, far, outside) in zip(sizes, m, tickets, strict=True):
        extra = total - given + size * outside - count * near - (size - count) * far
        # Every place is near itself and far from some other place of its region, so both counts occur in one column.
        held.append([near + (extra > 0), far, *([outside] if outside else [])])
    return Dealt([*tickets], total, held)


def two_level_tickets(sizes: Sequence[int], split: Split) -> Dealt | None:
    """(near, far, outside) of each region and the total of every row; None if there are too few tickets.

    Every place of region r has c_r tickets in the rows of other regions, and a row of region r holds n_r·c_r + D
    tickets inside: D is the same for all regions, so that all rows hold D + Σ_s n_s·c_s.
    """
    first = float(np.exp(split.region))
    shares = MAX_TOTAL / (first + len(sizes) - 1)
    outside = [int(shares / size) for size in sizes]
    given = sum(size * count for size, count in zip(sizes, outside, strict=True))
    # Floats may round the surplus up past the limit of a row.
    surplus = min(int(shares * np.expm1(split.region)), MAX_TOTAL - given)
    tickets = [
        (*window_tickets(size * count + surplus, size, m, split.place), count)
        for size, m, count in zip(sizes, split.m, outside, strict=True)
    ]
    enough = min(map(min, tickets)) >= 1
    return in_blocks(sizes, split.m, tickets, surplus + given) if enough else None


def best_split(regions: Regions, epsilon: float) -> Split:
    """The budgets of least expected loss, over a grid of ε2, each with the best m and the largest ε1 that keeps ε."""
    places, labels, sizes, count = regions.places, regions.labels, regions.sizes, len(regions)
    weight = 1 / len(places)
    # Of each region: losses to the 1, 2, … nearest places of it, and to all; and those to uniform places elsewhere.
    near, every, across = [np.zeros(size) for size in sizes.tolist()], np.zeros(count), 0.0
    for x, region in enumerate(labels.tolist()):
        losses = places.losses(x)
        by_region = np.bincount(labels, losses, count)
        near[region] += weight * np.cumsum(np.sort(losses[labels == region]))
        every[region] += weight * by_region[region]
        away = by_region / sizes
        across += weight * float(away.sum() - away[region])

    def split(place: float) -> Split:
        excess = math.expm1(place)
        by_m = [
            (excess * nearest[:-1] + whole) / (excess * np.arange(1, size) + size)
            for nearest, whole, size in zip(near, every.tolist(), sizes.tolist(), strict=True)
        ]
        m = tuple(1 + int(np.argmin(losses)) for losses in by_m)
        # ln(Z_r/n_r) = ln(1 + (E2 − 1)·m_r/n_r).
        region = epsilon - place + float(np.log1p(np.expm1(place) * np.array(m) / sizes).min())
        inside, first = sum(losses[count - 1] for losses, count in zip(by_m, m, strict=True)), math.exp(region)
        return Split(region, place, m, float((first * inside + across) / (first + count - 1)))

    return min((split(epsilon * part / _PARTS) for part in range(_PARTS + 1)), key=lambda each: each.loss)


def region_weight(sizes: Whole, epsilon: float) -> float:
    """The largest weight w whose realised ratio is at most e^ε."""
    low, high = 1.0, math.exp(epsilon)
    while weighted_epsilon(sizes, high) < epsilon:
        low, high = high, 2 * high
    # Bisected until no double lies inside.
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (middle, high) if weighted_epsilon(sizes, middle) <= epsilon else (low, middle)
    return low


def weighted_epsilon(sizes: Whole, weight: float) -> float:
    """Ln of the largest w·Z_s/Z_r over two regions r ≠ s; only the two largest Z_s matter."""
    normalisers = weight * sizes + (sizes.sum() - sizes)
    ranked = np.argsort(-normalisers, kind="stable")
    above = np.full(len(sizes), normalisers[ranked[0]])
    above[ranked[0]] = normalisers[ranked[1]]
    return float(np.log(weight * above / normalisers).max())
