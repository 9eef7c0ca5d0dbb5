"""Every release of a place side by side: what each costs and promises, and the ε it really spends; and the best."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from bipartite import BRR, GRR, Anchored, Constant, Exponential
from bipartite.design import check_prior
from bipartite.errors import DesignError, InputError
from bipartite.locations.candidates import check_places
from bipartite.lottery import Epsilon, log_between
from bipartite.lottery.table import MOST_TICKET_COUNTS
from bipartite.mechanisms import Mechanism
from reproduction.places.in_regions import region_weighted, two_level
from reproduction.places.lsrr import PublishedLSRR, lsrr
from reproduction.places.planar import PlanarLaplace
from reproduction.places.regions import Regions, check_regions_of, parts
from reproduction.places.weaker import Weaker
from reproduction.places.within_region import WithinRegion
from reproduction.quality import local_loss

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from bipartite.domains import Points

    Array = NDArray[np.float64]
    Prior = Sequence[float] | Array | None
    Release = Mechanism | Weaker
    Maker = Callable[[Points, str, Array | None], Release]

EPSILONS: Final = ("0.25", "0.5", "0.75", "1", "1.25", "1.5", "1.75", "2")
"""The budgets of the paper's figure."""
WHOLE: Final = "whole domain"
WITHIN: Final = "within regions"
PUBLISHED: Final = "L-SRR as published"
CALIBRATED: Final = "L-SRR calibrated"
PER_KM: Final = " per km"
"""Suffix of planar Laplace's ε, which is not the ε of ε-LDP."""
_MAKERS: Final[dict[str, Maker]] = {
    "GRR": lambda places, epsilon, _: GRR(places, epsilon),
    "BRR safe": lambda places, epsilon, _: BRR(places, epsilon),
    "BRR best": lambda places, epsilon, prior: BRR(places, epsilon, m="best", prior=prior),
    "Exponential tight": lambda places, epsilon, _: Exponential(places, epsilon),
    CALIBRATED: lambda places, epsilon, _: lsrr(places, epsilon),
    "Anchored": lambda places, epsilon, prior: Anchored(places, epsilon, prior=prior),
    "Constant": lambda places, _, prior: Constant(places, prior=prior),
    PUBLISHED: lambda places, epsilon, _: PublishedLSRR(places, epsilon),
}
_PROTOCOL: Final[dict[str, Literal["grr", "brr"]]] = {"GRR": "grr", "BRR safe": "brr"}


@dataclass(frozen=True, slots=True)
class PlaceRelease:
    """One release in a table."""

    scope: str
    """``"whole domain"``, or ``"within regions"``: there the region is published, and ε holds within it only."""
    name: str
    epsilon: str
    """The nominal ε, as asked for."""
    guarantee: str = "not available"
    """What a report guarantees, in words."""
    realised_epsilon: float = math.nan
    """The ε of plain ε-LDP over all places that it realises, rounded up; infinite where the region is published, NaN
    where it could not be made."""
    epsilon_within: float = math.nan
    """The same over places of one region only; without regions that of all places."""
    expected_loss: float = math.nan
    """Kilometres between the place and its report, under the prior."""
    worst_loss: float = math.nan
    """The same at the place that fares worst."""
    eligible: bool = False
    """Whether it is ε-LDP on all places with the ε asked for: only those are ever chosen."""
    note: str = ""
    """Why it could not be built, if so."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The chosen release, and everything it was chosen from."""

    mechanism: Mechanism
    name: str
    table: tuple[PlaceRelease, ...]
    """The one chosen, then all others by expected loss; those that are not ε-LDP say so, and come last."""
    reason: str


@dataclass(frozen=True, slots=True)
class Improvement:
    """How far a release lies below a rival, as a share of the rival's expected loss: 0.087 is 8.7 %."""

    scope: str
    name: str
    rival: str
    by_epsilon: dict[str, float]

    @property
    def mean(self) -> float:
        """On average over ε."""
        return float(np.mean(list(self.by_epsilon.values())))


def choose(
    places: Points, epsilon: object, *, prior: Prior = None, regions: Regions | None = None, per_km: object = None
) -> Choice:
    """The ε-LDP release of a place with the least expected loss, and a table of all.

    GRR, BRR (safe and best), Exponential (tight), L-SRR (calibrated), Anchored and Constant, always the same place, on
    all places, and two levels and a region's weight where there are regions. GRR is among them, so the choice is never
    worse than GRR. L-SRR as published, the paper's protocol within regions and Planar Laplace are in the table with
    what they really guarantee and spend, and are never chosen.

    Places and prior are public: never estimate them from private data. ``regions`` are :meth:`Regions.by_prefix` by
    default; ``per_km``, an ε per km, shows Planar Laplace too (at most 1,024 places). The choice is that of
    :func:`bipartite.recommend` for single values, but for releases that use regions.
    """
    budget, weights, chosen = _checked(places, epsilon, prior, regions)
    makers = whole_makers(chosen)
    made = {name: measured(name, places, budget, make, weights) for name, make in makers.items()}
    rows = [*made.values(), _protocol("BRR safe", chosen, budget, weights)]
    if per_km is not None:
        rows.append(planar(places, per_km, weights))
    # L-SRR as published may happen to keep its ε, but does not promise to.
    best = min((row for row in rows if row.eligible and row.name != PUBLISHED), key=lambda row: row.expected_loss)
    grr, mechanism = made["GRR"], makers[best.name](places, budget, weights)
    if not isinstance(mechanism, Mechanism) or best.expected_loss > grr.expected_loss:
        raise AssertionError("the release chosen is worse than GRR, which was among those to choose from")
    ranked = sorted(rows, key=lambda row: (row is not best, not row.eligible, bool(row.note), row.expected_loss))
    return Choice(mechanism, best.name, tuple(ranked), _reason(best, grr, ranked))


def _reason(best: PlaceRelease, grr: PlaceRelease, ranked: list[PlaceRelease]) -> str:
    beside = "GRR cannot be made with this ε"
    if best is grr:
        beside = "and nothing lies below it"
    elif not grr.note:
        beside = f"{1 - best.expected_loss / grr.expected_loss:.0%} below GRR ({grr.expected_loss:.1f} km)"
    second = [row for row in ranked if row.eligible and row.name not in {best.name, PUBLISHED}][:1]
    others = "".join(f", {row.name} {row.expected_loss:.1f} km" for row in second)
    return (
        f"{best.name}: {best.expected_loss:.1f} km expected, {beside}{others}; the least of all that are ε-LDP on "
        f"all places with ε = {best.epsilon}."
    )


def compare(
    places: Points,
    epsilons: Iterable[object] = EPSILONS,
    *,
    prior: Prior = None,
    regions: Regions | None = None,
) -> list[PlaceRelease]:
    """One row for each ε and release, on all places and within regions, each with what it really guarantees.

    For 1000 places an ε takes a few seconds. More than 5,792 places are refused at once: some rivals hold a ticket
    count for every pair of them, at most 2^25.
    """
    check_places(places)
    if len(places) ** 2 > MOST_TICKET_COUNTS:
        raise DesignError(
            f"Expected at most {math.isqrt(MOST_TICKET_COUNTS):,} places to compare every release, got "
            f"{len(places):,}: L-SRR and Exponential hold a ticket count for every pair, at most 2^25. Take some of "
            "them, or the best release of all with reproduction.places.choose."
        )
    asked = [_checked(places, epsilon, prior, regions) for epsilon in epsilons]
    if not asked:
        raise InputError("Expected one ε or more, got none; leave epsilons out for those of the paper.")
    rows = []
    for budget, weights, chosen in asked:
        rows += [measured(name, places, budget, make, weights) for name, make in whole_makers(chosen).items()]
        rows += [_protocol(name, chosen, budget, weights) for name in _PROTOCOL]
        rows += [_rival(name, chosen, budget, weights) for name in _MAKERS if name not in {*_PROTOCOL, "Constant"}]
    return rows


def improvements(rows: Sequence[PlaceRelease], name: str = "BRR safe") -> list[Improvement]:
    """How far ``name`` lies below L-SRR as published and calibrated, in both scopes.

    The paper compares with L-SRR as published, within regions. That one spends more than its ε (``epsilon_within``), so
    the fair rival is the calibrated one. Where one of the two could not be made, nothing is said.
    """
    if not {row.name for row in rows} >= {name, PUBLISHED, CALIBRATED}:
        raise InputError(f"Expected rows of {name!r} and of L-SRR; make them with reproduction.places.compare.")
    losses = {(row.scope, row.name, row.epsilon): row.expected_loss for row in rows if row.expected_loss > 0}
    found = []
    for scope in (WITHIN, WHOLE):
        for rival in (PUBLISHED, CALIBRATED):
            ours = {epsilon: loss for (*where, epsilon), loss in losses.items() if where == [scope, name]}
            theirs = {epsilon: losses[scope, rival, epsilon] for epsilon in ours if (scope, rival, epsilon) in losses}
            if theirs:
                shares = {epsilon: 1 - ours[epsilon] / loss for epsilon, loss in theirs.items()}
                found.append(Improvement(scope, name, rival, shares))
    return found


def planar(places: Points, per_km: object, prior: Array | None) -> PlaceRelease:
    """Planar Laplace with ε per km: another guarantee, shown beside the others and never chosen."""
    epsilon = f"{per_km}{PER_KM}"
    return measured("Planar Laplace", places, epsilon, lambda *_: PlanarLaplace(places, per_km), prior)


def whole_makers(regions: Regions) -> dict[str, Maker]:
    """Releases on all places, by name; those that keep ε-LDP come first."""
    makers = dict(_MAKERS)
    last = {name: makers.pop(name) for name in ("Constant", PUBLISHED)}
    if len(regions) > 1:
        makers["Two-level"] = lambda _, epsilon, prior: two_level(regions, epsilon, prior=prior)
        makers["Region-weighted"] = lambda _, epsilon, __: region_weighted(regions, epsilon)
    return makers | last


def measured(name: str, places: Points, epsilon: str, make: Maker, prior: Array | None) -> PlaceRelease:
    """The row of a release on all places, or the reason why it cannot be built on this many."""
    try:
        release = make(places, epsilon, prior)
    except DesignError as refusal:
        return PlaceRelease(WHOLE, name, epsilon, note=str(refusal))
    losses = local_loss(release.rows if isinstance(release, Weaker) else release)
    realised = float(log_between(release.largest_ratio())[1])
    expected = float(losses.mean() if prior is None else prior @ losses)
    figures = realised, realised, expected, float(losses.max())
    keeps = not (isinstance(release, Weaker) and release.problem)
    return PlaceRelease(WHOLE, name, epsilon, release.guarantee, *figures, eligible=keeps)


def _protocol(name: str, regions: Regions, epsilon: str, prior: Array | None) -> PlaceRelease:
    """The paper's protocol with BRR or GRR, which names what it publishes."""
    try:
        release = WithinRegion(regions, epsilon, publishes="region", inside=_PROTOCOL[name])
    except DesignError as refusal:
        return PlaceRelease(WITHIN, name, epsilon, note=str(refusal))
    m = iter(release.m)
    # The same windows in each region; their tickets differ by less than rounding shows.
    return _rival(name, regions, epsilon, prior, lambda part, *_: BRR(part, epsilon, m=next(m)), release.guarantee)


def _rival(
    name: str, regions: Regions, epsilon: str, prior: Array | None, make: Maker | None = None, promise: str = ""
) -> PlaceRelease:
    """The row of one mechanism for each region, as in the paper's protocol: not ε-LDP on all places."""
    weights = np.full(len(regions.places), 1 / len(regions.places)) if prior is None else prior
    expected, worst, spent = 0.0, 0.0, 0.0
    try:
        for region, part in enumerate(parts(regions)):
            share = weights[regions.members(region)]
            made = (make or _MAKERS[name])(part, epsilon, share / share.sum() if share.any() else None)
            losses = local_loss(made.rows if isinstance(made, Weaker) else made)
            expected += float(share @ losses)
            worst = max(worst, float(losses.max()))
            spent = max(spent, float(log_between(made.largest_ratio())[1]))
    except DesignError as refusal:
        return PlaceRelease(WITHIN, name, epsilon, note=str(refusal))
    promise = promise or (
        f"within a region only, where it realises ε = {spent:.4f}; the region itself is published: not ε-LDP"
    )
    return PlaceRelease(WITHIN, name, epsilon, promise, math.inf, spent, expected, worst)


def _checked(
    places: Points, epsilon: object, prior: Prior, regions: Regions | None
) -> tuple[str, Array | None, Regions]:
    """ε as text, the prior, and the regions to use: those given, if they are of these places."""
    check_places(places)
    weights = None if prior is None else check_prior(prior, len(places))
    chosen = Regions.by_prefix(places) if regions is None else check_regions_of(places, regions)
    return Epsilon.of(epsilon).text, weights, chosen
