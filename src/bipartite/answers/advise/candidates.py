"""Every mechanism that a comparison knows, where it applies, and how it is asked for in Python."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from bipartite.domains import Integers, Interval, LineDomain, Points
from bipartite.mechanisms import (
    BRR,
    GRR,
    LSRR,
    Anchored,
    Duchi,
    Exponential,
    Geometric,
    Hybrid,
    Laplace,
    Optimal,
    Piecewise,
    SquareWave,
    Staircase,
)
from bipartite.mechanisms.categories import OLH, OUE, SUE, HadamardResponse, SubsetSelection

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from bipartite.domains import Domain
    from bipartite.mechanisms import Mechanism
    from bipartite.mechanisms.categories import CategoryMechanism

    Prior = NDArray[np.float64] | None
    Build = Callable[[Any, str, Prior], Mechanism | CategoryMechanism]

GRR_NAME: Final = "GRR"
SAFE: Final = "BRR, safe m"
BEST: Final = "BRR, best m"
ANCHORED: Final = "Anchored"
OPTIMAL: Final = "Optimal"
PLANAR: Final = "Planar Laplace"

Family = Literal["release", "padded", "number", "flat"]
"""``release``: reports values. ``padded``: a centred window, for statistics. ``number``: reports numbers of its own.
``flat``: reports sets or hashes, from which only shares are counted."""
Work = Literal["closed", "rows", "table", "anchors", "programme"]
"""What a mechanism costs to build: nothing, its rows, a table of N², a search for anchors, a linear programme."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One mechanism of a comparison."""

    name: str
    code: str
    """How it is built; ε stands for the budget."""
    build: Build
    family: Family
    work: Work = "closed"


def candidates(domain: Domain, *, exact: bool = False) -> list[Candidate]:
    """All that apply to a domain, in the order of the table."""
    if isinstance(domain, LineDomain):
        own = [*_ANYWHERE[:1], *_WINDOWS, *_PADDED, *_LINE, *_TABLES, *_NUMBERS]
    elif isinstance(domain, Points) and domain.metric == "haversine":
        own = [*_ANYWHERE[:1], *_WINDOWS, *_TABLES, *_PLACES]
    else:
        own = [*_ANYWHERE[:1], *_WINDOWS, *_TABLES]
    return [*own, *_ANYWHERE[1:], *([_PROGRAMME] if exact else []), *_FLAT]


def as_interval(domain: Domain) -> Domain:
    """Whole numbers as the interval with the same nodes, for mechanisms that report numbers of their own."""
    if isinstance(domain, Integers):
        return Interval(domain.low, domain.high, points=len(domain))
    return domain


_ANYWHERE: Final = (
    Candidate(GRR_NAME, "bp.GRR(domain, ε)", lambda d, e, _: GRR(d, e), "release"),
    Candidate(
        ANCHORED,
        "bp.Anchored(domain, ε, prior=prior)",
        lambda d, e, p: Anchored(d, e, prior=p),
        "release",
        "anchors",
    ),
)
_WINDOWS: Final = (
    Candidate(SAFE, "bp.BRR(domain, ε)", lambda d, e, _: BRR(d, e), "release"),
    Candidate(
        BEST,
        "bp.BRR(domain, ε, m='best', prior=prior)",
        lambda d, e, p: BRR(d, e, m="best", prior=p),
        "release",
    ),
)
_PADDED: Final = (
    Candidate("BRR, padded", "bp.BRR(domain, ε, edges='padded')", lambda d, e, _: BRR(d, e, edges="padded"), "padded"),
    Candidate(
        "BRR, padded, mean",
        "bp.BRR(domain, ε, m='mean', edges='padded')",
        lambda d, e, _: BRR(d, e, m="mean", edges="padded"),
        "padded",
    ),
    Candidate(
        "BRR, padded, CDF",
        "bp.BRR(domain, ε, m='cdf', edges='padded')",
        lambda d, e, _: BRR(d, e, m="cdf", edges="padded"),
        "padded",
    ),
    Candidate(
        "BRR, padded, shares",
        "bp.BRR(domain, ε, m='histogram', edges='padded')",
        lambda d, e, _: BRR(d, e, m="histogram", edges="padded"),
        "padded",
    ),
    Candidate("Square Wave", "bp.SquareWave(domain, ε)", lambda d, e, _: SquareWave(d, e), "padded"),
)
_LINE: Final = (
    Candidate("Geometric, clamped", "bp.Geometric(domain, ε)", lambda d, e, _: Geometric(d, e), "release", "rows"),
)
_TABLES: Final = (
    Candidate(
        "Exponential, published",
        "bp.Exponential(domain, ε, variant='published')",
        lambda d, e, _: Exponential(d, e, variant="published"),
        "release",
        "table",
    ),
    Candidate("Exponential, tight", "bp.Exponential(domain, ε)", lambda d, e, _: Exponential(d, e), "release", "table"),
)
# Their reports are numbers of an interval; whole numbers are taken as the interval with the same nodes.
_NUMBERS: Final = (
    Candidate(
        "Laplace, clamped",
        "bp.Laplace(interval, ε, clamped=True)",
        lambda d, e, _: Laplace(as_interval(d), e, clamped=True),
        "release",
        "rows",
    ),
    Candidate("Laplace, raw", "bp.Laplace(interval, ε)", lambda d, e, _: Laplace(as_interval(d), e), "number", "rows"),
    Candidate(
        "Staircase, raw", "bp.Staircase(interval, ε)", lambda d, e, _: Staircase(as_interval(d), e), "number", "rows"
    ),
    Candidate("Duchi", "bp.Duchi(interval, ε)", lambda d, e, _: Duchi(as_interval(d), e), "number", "rows"),
    Candidate("Piecewise", "bp.Piecewise(interval, ε)", lambda d, e, _: Piecewise(as_interval(d), e), "number", "rows"),
    Candidate("Hybrid", "bp.Hybrid(interval, ε)", lambda d, e, _: Hybrid(as_interval(d), e), "number", "table"),
)
_PLACES: Final = (
    Candidate("L-SRR, calibrated", "bp.LSRR(domain, ε)", lambda d, e, _: LSRR(d, e), "release", "table"),
    Candidate(
        "L-SRR, published",
        "bp.LSRR(domain, ε, variant='published')",
        lambda d, e, _: LSRR(d, e, variant="published"),
        "release",
        "table",
    ),
)
_PROGRAMME: Final = Candidate(
    OPTIMAL, "bp.Optimal(domain, ε, prior=prior)", lambda d, e, p: Optimal(d, e, prior=p), "release", "programme"
)
_FLAT: Final = (
    Candidate("OUE", "bp.OUE(domain, ε)", lambda d, e, _: OUE(d, e), "flat"),
    Candidate("SUE", "bp.SUE(domain, ε)", lambda d, e, _: SUE(d, e), "flat"),
    Candidate("OLH", "bp.OLH(domain, ε)", lambda d, e, _: OLH(d, e), "flat"),
    Candidate("Subset Selection", "bp.SubsetSelection(domain, ε)", lambda d, e, _: SubsetSelection(d, e), "flat"),
    Candidate("Hadamard Response", "bp.HadamardResponse(domain, ε)", lambda d, e, _: HadamardResponse(d, e), "flat"),
)
