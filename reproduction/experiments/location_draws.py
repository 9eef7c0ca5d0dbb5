"""Figures 7 and 8 on other draws: how many regions a draw has, and how far BRR lies below L-SRR within them.

The paper draws 1000 places of Gowalla and 3000 of FourSquare at random, once, and publishes the first. Here many such
draws are made, from Gowalla's check-ins in the world and from FourSquare's in New York and in the United States. Those
with 12 to 16 regions are like the paper's; where the paper's rule (a prefix that six places share) gives other numbers,
a larger crowd does, which is a rule of ours, chosen for the number of regions and for nothing else.

L-SRR has groups by its authors' rule, which depends on ε; and beside it, as a reading, the three groups that begin 10
and 6 bits below the prefix of the region, which the authors' scripts name.
"""

import functools
import operator
from collections.abc import Iterator
from typing import Final

import pandas as pd

from bipartite.domains import Points
from bipartite.mechanisms import Mechanism
from bipartite.plots.looks import INK, Look
from reproduction.experiments.places_of_the_paper import (
    FOURSQUARE,
    GOWALLA,
    NEW_YORK,
    UNITED_STATES,
    WORLD,
    drawn,
    measured_in,
    parts_of,
    picture_of_savings,
    places_of,
)
from reproduction.form import Grid, Row
from reproduction.places import BEST_M, CALIBRATED, EPSILONS, PUBLISHED, RELEASES, PublishedLSRR, Regions
from reproduction.quality import expected_loss

SCRIPTED: Final = "L-SRR, groups of the scripts"
REGIONS: Final = "regions"
ERROR: Final = "error"
NOTE: Final = (
    "Every release is within regions, which publishes the region of the person: it is not ε-LDP, whatever ε is. L-SRR "
    "as published, and with the groups of the scripts, spends more than its ε even there. One place that has too few "
    "others in its quarter of the map makes one region of everything: then there is nothing to be within, and the draw "
    "is counted but not measured. Kilometres on the sphere, uniform prior over the places."
)
_STEPS: Final = (10, 6)  # bits below the prefix of a region at which the scripts' groups begin
_CODE: Final = 46  # bits of a whole code
_SIX: Final = 6
CROWD: Final = 45
AUTHORS: Final = f"{GOWALLA}, the authors' own"
GOWALLA_WORLD: Final = f"{GOWALLA}, {WORLD}"
FOURSQUARE_CITY: Final = f"{FOURSQUARE}, {NEW_YORK}"
FOURSQUARE_US: Final = f"{FOURSQUARE}, {UNITED_STATES}"
FOURSQUARE_LIKE: Final = f"{FOURSQUARE_US}, at least {CROWD} to a region"
LIKE_THE_PAPER: Final = range(12, 17)
"""Numbers of regions that count as the paper's 13 and 14."""
_SEVERAL: Final = range(2, 3001)
POOLS: Final = {
    AUTHORS: (GOWALLA, "", _SIX, LIKE_THE_PAPER, 1),
    GOWALLA_WORLD: (GOWALLA, WORLD, _SIX, LIKE_THE_PAPER, 60),
    FOURSQUARE_CITY: (FOURSQUARE, NEW_YORK, _SIX, _SEVERAL, 9),
    FOURSQUARE_US: (FOURSQUARE, UNITED_STATES, _SIX, _SEVERAL, 5),
    FOURSQUARE_LIKE: (FOURSQUARE, UNITED_STATES, CROWD, LIKE_THE_PAPER, 6),
}
"""The data set, the area, how many places share the prefix of a region at least; with how many regions a draw is
measured, and how many of the first draws are looked at for that."""


def _grid(epsilons: tuple[str, ...], pools: dict[str, tuple[int, int]]) -> Grid:
    """So many places and draws of each pool, numbered from 1.

    The axis is not called ``seed``: how many draws there are is settled by what they show.
    """
    grids = (
        Grid(pool=(pool,), places=(places,), draw=tuple(range(1, draws + 1)), epsilons=(epsilons,))
        for pool, (places, draws) in pools.items()
    )
    return functools.reduce(operator.add, grids)


_PLACES: Final = {
    AUTHORS: (1000, 1), GOWALLA_WORLD: (1000, 60), FOURSQUARE_CITY: (3000, 12), FOURSQUARE_US: (3000, 60),
    FOURSQUARE_LIKE: (3000, 12),
}  # fmt: skip
FULL = _grid(EPSILONS, _PLACES)
QUICK = _grid(("0.25", "2"), {AUTHORS: (1000, 1), GOWALLA_WORLD: (1000, 5), FOURSQUARE_CITY: (500, 1)})


def measure(pool: str, places: int, draw: int, epsilons: tuple[str, ...]) -> Iterator[Row]:
    """The regions of a draw and, where it is one of those to measure, the error of every release at every ε."""
    dataset, area, crowd, enough, measured = POOLS[pool]
    if pool == AUTHORS:
        _, regions = places_of(dataset, places)
    else:
        regions = Regions.by_prefix(drawn(area, places, draw), at_least=crowd)
    about: Row = {"pool": pool, "dataset": dataset, "places": places, "seed": draw, "regions": len(regions)}
    yield {"what": REGIONS, **about, "smallest": int(regions.sizes.min()), "largest": int(regions.sizes.max())}
    parts = list(zip(parts_of(regions), map(len, regions.names), strict=True))
    for epsilon in epsilons if len(parts) in enough and draw <= measured else ():
        for name in ("BRR", BEST_M, "GRR", PUBLISHED, CALIBRATED, SCRIPTED):
            made = [_made(name, part, shared, epsilon) for part, shared in parts]
            yield {"what": ERROR, **about, "epsilon": float(epsilon), "mechanism": name,
                   **measured_in(made, expected_km=expected_loss)}  # fmt: skip


def _made(name: str, places: Points, shared: int, epsilon: str) -> Mechanism:
    """A release on the places of a region, which share so many bits."""
    if name == SCRIPTED:
        begins = [min(shared + step, _CODE) for step in _STEPS]
        return PublishedLSRR(places, epsilon, thresholds=(*dict.fromkeys(begins), 0)).rows
    return RELEASES[name](places, epsilon)


def draw(rows: pd.DataFrame) -> dict[str, str]:
    """How far BRR lies below each L-SRR, pool by pool, with the paper's numbers."""
    some = rows[rows["what"] == ERROR]
    return {
        "places_drawn": picture_of_savings(
            some.assign(panel=some["pool"].map({pool: f"{pool}: {_size(of)}" for pool, of in some.groupby("pool")})),
            (PUBLISHED, CALIBRATED, SCRIPTED),
            says="How far the expected error of BRR lies below that of L-SRR within regions, in per cent, over draws.",
            looks={f"below {SCRIPTED}": Look(INK, 1.4, (5, 2.5))},
            notes=["Below zero BRR errs more. Within regions: not ε-LDP, because the region is published.",
                   "Bars: 95 % intervals of the mean over draws, where there are several."],
        )
    }  # fmt: skip


def _size(rows: pd.DataFrame) -> str:
    """How many draws were measured, of what."""
    least, most, count = rows["regions"].min(), rows["regions"].max(), rows["seed"].nunique()
    times = "one draw" if count == 1 else f"{count} draws"
    regions = f"{least}" if least == most else f"{least} to {most}"
    return f"{times} of {rows['places'].iloc[0]:,} places, {regions} regions"
