"""Figures 7 and 8 on other draws: how many regions a draw has, and how far BRR lies below L-SRR within them.

The paper draws 1000 places of Gowalla and 3000 of FourSquare at random, once, and publishes the first. Here many such
draws are made, from Gowalla's check-ins in the world and from FourSquare's in New York and in the United States. Those
with 12 to 16 regions are like the paper's; where the paper's rule (a prefix that six places share) gives other numbers,
a larger crowd does, which is a rule of ours, chosen for the number of regions and for nothing else.

L-SRR has groups by its authors' rule, which depends on ε; and beside it, as a reading, the three groups that begin 10
and 6 bits below the prefix of the region, which the authors' scripts name.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from bipartite import BRR, GRR
from bipartite.lottery import log_between
from bipartite.plots.looks import INK, Look
from reproduction.experiments.places_of_the_paper import (
    FOURSQUARE,
    GOWALLA,
    NEW_YORK,
    UNITED_STATES,
    WORLD,
    drawn,
    parts_of,
    places_of,
)
from reproduction.experiments.printed import PLACES_MEAN, PLACES_MOST
from reproduction.figures import Line, Panel, Printed, panels
from reproduction.places import CALIBRATED, EPSILONS, PUBLISHED, PublishedLSRR, Regions, lsrr
from reproduction.quality import expected_loss
from reproduction.runner.contract import Row, Rows, beside, distinct, number, select

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from bipartite.domains import Points
    from bipartite.mechanisms import Mechanism

BEST_M: Final = "BRR, best m"
SCRIPTED: Final = "L-SRR, groups of the scripts"
REGIONS: Final = "regions"
ERROR: Final = "error"
LIKE_THE_PAPER: Final = range(12, 17)
"""Numbers of regions that count as the paper's 13 and 14."""
NOTE: Final = (
    "Every release is within regions, which publishes the region of the person: it is not ε-LDP, whatever ε is. L-SRR "
    "as published, and with the groups of the scripts, spends more than its ε even there. One place that has too few "
    "others in its quarter of the map makes one region of everything: then there is nothing to be within, and the draw "
    "is counted but not measured. Kilometres on the sphere, uniform prior over the places."
)
_SIX: Final = 6
_CROWD: Final = 45
_STEPS: Final = (10, 6)  # bits below the prefix of a region at which the scripts' groups begin
_CODE: Final = 46  # bits of a whole code


@dataclass(frozen=True)
class Pool:
    """Where draws are from, and which of them are measured: those of the first seeds that have so many regions."""

    dataset: str
    area: str
    places: int
    seeds: int
    measured: int
    crowd: int = _SIX
    """How many places share the prefix of a region, at least: six by the paper's rule."""
    least: int = LIKE_THE_PAPER[0]
    most: int = LIKE_THE_PAPER[-1]

    @property
    def name(self) -> str:
        """Where from, and by which rule."""
        return name_of(self.dataset, self.area, self.crowd)


def name_of(dataset: str, area: str, crowd: int) -> str:
    """What a pool is called in rows."""
    return f"{dataset}, {area}" + ("" if crowd == _SIX else f", at least {crowd} to a region")


AUTHORS: Final = Pool(GOWALLA, "the authors' own", 1000, 1, 1)
GOWALLA_WORLD: Final = Pool(GOWALLA, WORLD, 1000, 60, 60)
FOURSQUARE_CITY: Final = Pool(FOURSQUARE, NEW_YORK, 3000, 12, 9, least=2, most=3000)
FOURSQUARE_US: Final = Pool(FOURSQUARE, UNITED_STATES, 3000, 60, 5, least=2, most=3000)
FOURSQUARE_LIKE: Final = Pool(FOURSQUARE, UNITED_STATES, 3000, 12, 6, crowd=_CROWD)
POOLS: Final = (AUTHORS, GOWALLA_WORLD, FOURSQUARE_CITY, FOURSQUARE_US, FOURSQUARE_LIKE)


@dataclass(frozen=True)
class Settings:
    """The pools, and the paper's budgets."""

    pools: tuple[Pool, ...] = POOLS
    epsilons: tuple[str, ...] = EPSILONS


@dataclass(frozen=True)
class Cell:
    """One draw: measured at these budgets if it has from ``least`` to ``most`` regions."""

    dataset: str
    area: str
    places: int
    crowd: int
    least: int
    most: int
    seed: int
    epsilons: tuple[str, ...]


QUICK = Settings(
    (AUTHORS, replace(GOWALLA_WORLD, seeds=5), replace(FOURSQUARE_CITY, places=500, seeds=1)),
    epsilons=("0.25", "2"),
)


def cells(settings: Settings) -> tuple[Cell, ...]:
    """Every seed of every pool."""
    return tuple(
        Cell(pool.dataset, pool.area, pool.places, pool.crowd, pool.least, pool.most, seed,
             settings.epsilons if seed <= pool.measured else ())
        for pool in settings.pools
        for seed in range(1, pool.seeds + 1)
    )  # fmt: skip


def measure(cell: Cell) -> list[Row]:
    """The regions of a draw and, where it is one of those to measure, the error of every release at every ε."""
    regions = _regions(cell)
    about: Row = {
        "pool": name_of(cell.dataset, cell.area, cell.crowd), "dataset": cell.dataset, "places": cell.places,
        "seed": cell.seed, "regions": len(regions),
    }  # fmt: skip
    sizes = regions.sizes
    found: list[Row] = [{"what": REGIONS, **about, "smallest": int(sizes.min()), "largest": int(sizes.max())}]
    if cell.least <= len(regions) <= cell.most:
        parts = list(zip(parts_of(regions), map(len, regions.prefixes or ()), strict=True))
        found += [
            {"what": ERROR, **about, "epsilon": float(epsilon), "mechanism": name, **_error(parts, make, epsilon)}
            for epsilon in cell.epsilons
            for name, make in _MAKERS.items()
        ]  # fmt: skip
    return found


def _regions(cell: Cell) -> Regions:
    if cell.area == AUTHORS.area:
        return places_of(GOWALLA, cell.places)[1]
    return Regions.by_prefix(drawn(cell.area, cell.places, cell.seed), at_least=cell.crowd)


def _scripted(places: Points, shared: int, epsilon: str) -> Mechanism:
    """L-SRR with groups at fixed numbers of bits below the prefix that all places of the region share."""
    begins = [min(shared + step, _CODE) for step in _STEPS]
    return PublishedLSRR(places, epsilon, thresholds=(*dict.fromkeys(begins), 0)).rows


_MAKERS: Final[Mapping[str, Callable[[Points, int, str], Mechanism]]] = {
    "BRR": lambda places, _, epsilon: BRR(places, epsilon),
    BEST_M: lambda places, _, epsilon: BRR(places, epsilon, m="best"),
    "GRR": lambda places, _, epsilon: GRR(places, epsilon),
    PUBLISHED: lambda places, _, epsilon: PublishedLSRR(places, epsilon).rows,
    CALIBRATED: lambda places, _, epsilon: lsrr(places, epsilon),
    SCRIPTED: _scripted,
}


def _error(
    parts: Sequence[tuple[Points, int]], make: Callable[[Points, int, str], Mechanism], epsilon: str
) -> dict[str, float]:
    """The expected error within regions, and the largest ε that a release spends in one."""
    made = [make(places, shared, epsilon) for places, shared in parts]
    sizes = [len(each.domain) for each in made]
    total = math.fsum(size * expected_loss(each) for size, each in zip(sizes, made, strict=True))
    spent = max(float(log_between(each.largest_ratio())[1]) for each in made)
    return {"expected_km": total / sum(sizes), "epsilon_within": spent}


def savings(rows: Rows, pool: str, rival: str, ours: str = "BRR") -> dict[float, dict[int, float]]:
    """For every ε and seed: how far the expected error of BRR lies below a rival's, as a share of it."""
    found: dict[float, dict[int, float]] = {}
    some = select(rows, what=ERROR, pool=pool)
    for row, mine, theirs in beside(some, "expected_km", ours, rival, "seed", "epsilon"):
        found.setdefault(number(row, "epsilon"), {})[int(row["seed"])] = 1 - mine / theirs
    return found


def mean_savings(rows: Rows, pool: str, rival: str, ours: str = "BRR") -> dict[int, float]:
    """For every seed: the same on average over ε."""
    by_epsilon = savings(rows, pool, rival, ours).values()
    seeds = next(iter(by_epsilon), {})
    return {seed: math.fsum(of[seed] for of in by_epsilon) / len(by_epsilon) for seed in seeds}


def draw(rows: Rows, *, extra: bool = True) -> dict[str, str]:
    """How far BRR lies below each L-SRR, pool by pool, with the paper's numbers."""
    rivals = (PUBLISHED, CALIBRATED, SCRIPTED) if extra else (PUBLISHED,)
    drawn_panels = []
    for pool in distinct(select(rows, what=ERROR), "pool"):
        some = select(rows, what=ERROR, pool=pool)
        dataset, places = str(some[0]["dataset"]), int(some[0]["places"])
        counts = sorted({int(row["regions"]) for row in some})
        draws = len(distinct(some, "seed"))
        budgets = distinct(some, "epsilon")
        lines = [
            Line.of_pairs(
                f"below {rival}",
                {
                    epsilon: (
                        select(some, epsilon=epsilon, mechanism="BRR"), select(some, epsilon=epsilon, mechanism=rival)
                    )
                    for epsilon in budgets
                },
                "expected_km",
                lambda ours, theirs: 100 * (1 - ours / theirs),
                like=rival,
            )
            for rival in rivals
        ]  # fmt: skip
        at, most = PLACES_MOST[dataset]
        mean = PLACES_MEAN[dataset]
        printed = [
            Printed(100 * mean, f"{100 * mean:.3g} % on average"),
            Printed(100 * most, f"{100 * most:.3g} %", at),
        ]
        regions = f"{counts[0]} regions" if len(counts) == 1 else f"{counts[0]} to {counts[-1]} regions"
        times = "one draw" if draws == 1 else f"{draws} draws"
        drawn_panels.append(Panel(f"{pool}: {times} of {places:,} places, {regions}", lines, printed=printed))
    return {
        "places_drawn": panels(
            drawn_panels, across="ε", up="below L-SRR by, %",
            says="How far the expected error of BRR lies below that of L-SRR within regions, in per cent, over draws.",
            looks={f"below {SCRIPTED}": Look(INK, 1.4, (5, 2.5))},
            notes=["Below zero BRR errs more. Within regions: not ε-LDP, because the region is published.",
                   "Bars: 95 % intervals of the mean over draws, where there are several."],
        )
    }  # fmt: skip
