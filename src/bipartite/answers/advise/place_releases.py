"""Every release of a place side by side: what each costs, what it promises, and the ε it really spends."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from bipartite.answers.quality import local_loss
from bipartite.errors import DesignError
from bipartite.lottery import log_between
from bipartite.mechanisms import (
    BRR,
    GRR,
    LSRR,
    Anchored,
    Constant,
    Exponential,
    PlanarLaplace,
    RegionWeighted,
    TwoLevel,
    WithinRegion,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from bipartite.domains import Points
    from bipartite.domains.regions import Regions
    from bipartite.mechanisms import Mechanism

    Array = NDArray[np.float64]
    Maker = Callable[[], Mechanism]

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
    progress: Callable[[float], None] | None = None,
) -> dict[str, Maker]:
    """Releases on all places, by name; those that keep ε-LDP come first. ``progress`` follows the longest search."""
    makers: dict[str, Maker] = {
        BASELINE: lambda: GRR(places, epsilon),
        "BRR safe": lambda: BRR(places, epsilon),
        "BRR best": lambda: BRR(places, epsilon, m="best", prior=prior),
        "Exponential tight": lambda: Exponential(places, epsilon),
        CALIBRATED: lambda: LSRR(places, epsilon),
        "Anchored": lambda: Anchored(places, epsilon, prior=prior, progress=progress),
    }
    if regions is not None and len(regions) > 1:
        makers["Two-level"] = lambda: TwoLevel(regions, epsilon, prior=prior)
        makers["Region-weighted"] = lambda: RegionWeighted(regions, epsilon)
    makers[CONSTANT] = lambda: Constant(places, prior=prior)
    makers[PUBLISHED] = lambda: LSRR(places, epsilon, variant="published")
    return makers


def measured(
    scope: str, name: str, epsilon: str, make: Maker, prior: Array | None
) -> tuple[PlaceRelease, Mechanism | None]:
    """A release and its row; or a row with the reason why it cannot be built on this many places."""
    try:
        mechanism = make()
    except DesignError as refusal:
        return unavailable(scope, name, epsilon, str(refusal)), None
    ratio = mechanism.largest_ratio()
    realised = float(log_between(ratio)[1])
    losses = local_loss(mechanism)
    plain = mechanism.publishes is None and mechanism.distance_unit is None
    row = PlaceRelease(
        scope,
        name,
        epsilon,
        mechanism.guarantee,
        realised if mechanism.publishes is None else math.inf,
        realised,
        float(losses.mean() if prior is None else prior @ losses),
        float(losses.max()),
        eligible=plain and mechanism.keeps_epsilon and mechanism.keeps_promise(ratio),
    )
    return row, mechanism


def within_row(regions: Regions, epsilon: str, inside: Literal["brr", "grr"], prior: Array | None) -> PlaceRelease:
    """The paper's protocol with BRR or GRR, which names what it publishes."""
    name = "BRR safe" if inside == "brr" else BASELINE
    return measured(
        WITHIN, name, epsilon, lambda: WithinRegion(regions, epsilon, publishes="region", inside=inside), prior
    )[0]


def rivals_within(regions: Regions, domains: list[Points], epsilon: str, prior: Array | None) -> Iterator[PlaceRelease]:
    """Rivals within each region, as in the paper's protocol: none of them is ε-LDP on all places."""
    size = len(regions.places)
    weights = np.full(size, 1 / size) if prior is None else prior
    shares = [weights[regions.members(region)] for region in range(len(regions))]
    for name, make in (
        ("BRR best", lambda part, share: BRR(part, epsilon, m="best", prior=share)),
        ("Exponential tight", lambda part, share: Exponential(part, epsilon)),  # noqa: ARG005
        (CALIBRATED, lambda part, share: LSRR(part, epsilon)),  # noqa: ARG005
        ("Anchored", lambda part, share: Anchored(part, epsilon, prior=share)),
        (PUBLISHED, lambda part, share: LSRR(part, epsilon, variant="published")),  # noqa: ARG005
    ):
        try:
            found = [
                _of_part(make(part, share / share.sum() if share.any() else None), share)
                for part, share in zip(domains, shares, strict=True)
            ]
        except DesignError as refusal:
            yield unavailable(WITHIN, name, epsilon, str(refusal))
            continue
        expected, worst, spent = (np.array(each) for each in zip(*found, strict=True))
        promise = (
            f"within a region only, where it realises ε = {spent.max():.4f}; the region itself is published: not ε-LDP"
        )
        losses = (float(expected.sum()), float(worst.max()))
        yield PlaceRelease(WITHIN, name, epsilon, promise, math.inf, float(spent.max()), *losses, eligible=False)


def _of_part(mechanism: Mechanism, share: Array) -> tuple[float, float, float]:
    """(expected loss times the probability of the region, worst loss, realised ε) of a rival in one region."""
    losses = local_loss(mechanism)
    return float(share @ losses), float(losses.max()), float(log_between(mechanism.largest_ratio())[1])


def unavailable(scope: str, name: str, epsilon: str, why: str) -> PlaceRelease:
    """The row of a release that was not built."""
    nothing = (math.nan,) * 4
    return PlaceRelease(scope, name, epsilon, "not available", *nothing, eligible=False, note=why)


def planar(places: Points, per_km: object, prior: Array | None) -> PlaceRelease:
    """Planar Laplace with ε per km: another guarantee, shown beside the others and never chosen."""
    return measured(WHOLE, "Planar Laplace", f"{per_km}{PER_KM}", lambda: PlanarLaplace(places, per_km), prior)[0]
