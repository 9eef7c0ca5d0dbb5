"""Every release of a place side by side: what each costs, what it promises, and the ε it really spends."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from bipartite import BRR, GRR, Anchored, Constant, Exponential
from bipartite.errors import DesignError
from bipartite.lottery import log_between
from reproduction.places.in_regions import region_weighted, two_level
from reproduction.places.lsrr import PublishedLSRR, lsrr
from reproduction.places.planar import PlanarLaplace
from reproduction.places.regions import parts
from reproduction.places.weaker import Tabled
from reproduction.places.within_region import WithinRegion
from reproduction.quality import local_loss

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from bipartite.domains import Points
    from bipartite.mechanisms import Mechanism
    from reproduction.places.regions import Regions

    Array = NDArray[np.float64]
    Maker = Callable[[], Mechanism | Tabled]

WHOLE: Final = "whole domain"
WITHIN: Final = "within regions"
BASELINE: Final = "GRR"
CONSTANT: Final = "Constant"
PER_KM: Final = " per km"
"""Suffix of planar Laplace's ε, which is not the ε of ε-LDP."""
PUBLISHED: Final = "L-SRR as published"
CALIBRATED: Final = "L-SRR calibrated"


@dataclass(frozen=True, slots=True)
class PlaceRelease:
    """One release in a table."""

    scope: str
    """``"whole domain"``, or ``"within regions"``: there the region is published, and ε holds within it only."""
    name: str
    epsilon: str
    """The nominal ε, as asked for."""
    guarantee: str
    """What a report guarantees, in words."""
    realised_epsilon: float
    """The ε of plain ε-LDP over all places that it realises, rounded up; infinite where the region is published, NaN
    where it could not be made."""
    epsilon_within: float
    """The same over places of one region only; without regions that of all places."""
    expected_loss: float
    """Kilometres between the place and its report, under the prior."""
    worst_loss: float
    """The same at the place that fares worst."""
    eligible: bool
    """Whether it is ε-LDP on all places with the ε asked for: only those are ever chosen."""
    note: str = ""
    """Why it could not be built, if so."""

    def to_dict(self) -> dict[str, Any]:
        """The row as a dict, for any table."""
        return asdict(self)

    def __repr__(self) -> str:
        figures = self.note or f"{self.expected_loss:.6g} km expected"
        return f"<PlaceRelease: {self.name}, {self.scope}, ε = {self.epsilon}: {figures}>"


def whole_makers(
    places: Points,
    epsilon: str,
    prior: Array | None,
    regions: Regions | None,
) -> dict[str, Maker]:
    """Releases on all places, by name; those that keep ε-LDP come first."""
    makers: dict[str, Maker] = {
        BASELINE: lambda: GRR(places, epsilon),
        "BRR safe": lambda: BRR(places, epsilon),
        "BRR best": lambda: BRR(places, epsilon, m="best", prior=prior),
        "Exponential tight": lambda: Exponential(places, epsilon),
        CALIBRATED: lambda: lsrr(places, epsilon),
        "Anchored": lambda: Anchored(places, epsilon, prior=prior),
    }
    if regions is not None and len(regions) > 1:
        makers["Two-level"] = lambda: two_level(regions, epsilon, prior=prior)
        makers["Region-weighted"] = lambda: region_weighted(regions, epsilon)
    makers[CONSTANT] = lambda: Constant(places, prior=prior)
    makers[PUBLISHED] = lambda: PublishedLSRR(places, epsilon)
    return makers


def measured(
    scope: str, name: str, epsilon: str, make: Maker, prior: Array | None
) -> tuple[PlaceRelease, Mechanism | Tabled | None]:
    """A release and its row; or a row with the reason why it cannot be built on this many places."""
    try:
        release = make()
    except DesignError as refusal:
        return unavailable(scope, name, epsilon, str(refusal)), None
    losses = local_loss(release.rows if isinstance(release, Tabled) else release)
    realised = float(log_between(release.largest_ratio())[1])
    row = PlaceRelease(
        scope,
        name,
        epsilon,
        release.guarantee,
        realised,
        realised,
        float(losses.mean() if prior is None else prior @ losses),
        float(losses.max()),
        eligible=not (isinstance(release, Tabled) and release.problem),
    )
    return row, release


def within_row(regions: Regions, epsilon: str, inside: Literal["brr", "grr"], prior: Array | None) -> PlaceRelease:
    """The paper's protocol with BRR or GRR, which names what it publishes."""
    name = "BRR safe" if inside == "brr" else BASELINE
    try:
        release = WithinRegion(regions, epsilon, publishes="region", inside=inside)
        # The same windows in each region; their tickets differ by less than rounding shows.
        made = (BRR(part, epsilon, m=m) for part, m in zip(parts(regions), release.m, strict=True))
        return _within(regions, name, epsilon, made, prior, release.guarantee)
    except DesignError as refusal:
        return unavailable(WITHIN, name, epsilon, str(refusal))


def rivals_within(regions: Regions, domains: list[Points], epsilon: str, prior: Array | None) -> Iterator[PlaceRelease]:
    """Rivals within each region, as in the paper's protocol: none of them is ε-LDP on all places."""
    shares = _shares(regions, prior)
    makers: dict[str, Callable[[Points, Array | None], Mechanism]] = {
        "BRR best": lambda part, share: BRR(part, epsilon, m="best", prior=share),
        "Exponential tight": lambda part, _: Exponential(part, epsilon),
        CALIBRATED: lambda part, _: lsrr(part, epsilon),
        "Anchored": lambda part, share: Anchored(part, epsilon, prior=share),
        PUBLISHED: lambda part, _: PublishedLSRR(part, epsilon).rows,
    }
    for name, make in makers.items():
        made = (
            make(part, share / share.sum() if share.any() else None)
            for part, share in zip(domains, shares, strict=True)
        )
        try:
            yield _within(regions, name, epsilon, made, prior)
        except DesignError as refusal:
            yield unavailable(WITHIN, name, epsilon, str(refusal))


def _shares(regions: Regions, prior: Array | None) -> list[Array]:
    """The probabilities of the places of each region."""
    size = len(regions.places)
    weights = np.full(size, 1 / size) if prior is None else prior
    return [weights[regions.members(region)] for region in range(len(regions))]


def _within(
    regions: Regions, name: str, epsilon: str, made: Iterable[Mechanism], prior: Array | None, promise: str = ""
) -> PlaceRelease:
    """The row of one mechanism for each region, which is published."""
    expected, worst, spent = 0.0, 0.0, 0.0
    for mechanism, share in zip(made, _shares(regions, prior), strict=True):
        losses = local_loss(mechanism)
        expected += float(share @ losses)
        worst = max(worst, float(losses.max()))
        spent = max(spent, float(log_between(mechanism.largest_ratio())[1]))
    promise = promise or (
        f"within a region only, where it realises ε = {spent:.4f}; the region itself is published: not ε-LDP"
    )
    return PlaceRelease(WITHIN, name, epsilon, promise, math.inf, spent, expected, worst, eligible=False)


def unavailable(scope: str, name: str, epsilon: str, why: str) -> PlaceRelease:
    """The row of a release that was not built."""
    nothing = (math.nan,) * 4
    return PlaceRelease(scope, name, epsilon, "not available", *nothing, eligible=False, note=why)


def planar(places: Points, per_km: object, prior: Array | None) -> PlaceRelease:
    """Planar Laplace with ε per km: another guarantee, shown beside the others and never chosen."""
    return measured(WHOLE, "Planar Laplace", f"{per_km}{PER_KM}", lambda: PlanarLaplace(places, per_km), prior)[0]
