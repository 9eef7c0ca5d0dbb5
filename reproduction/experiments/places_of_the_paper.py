"""The two sets of places of section 5.3, as far as they can be had, and other draws of their kind.

Gowalla: the authors' own 1000 places. FourSquare: the paper draws 3000 places at random and does not say which, nor
from which region; here they are drawn, with a seed, from public check-ins in New York.
"""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bipartite.domains import Points
from bipartite.locations import from_checkins, places
from bipartite.lottery import log_between
from bipartite.mechanisms import Mechanism
from reproduction.datasets import check_ins, coordinates
from reproduction.experiments.printed import PLACES_MEAN, PLACES_MOST
from reproduction.form import Grid, Row
from reproduction.intervals import paired
from reproduction.pictures import Printed, panels
from reproduction.places import Regions

GOWALLA: Final = "Gowalla"
FOURSQUARE: Final = "FourSquare"
CREDITS: Final = {
    GOWALLA: "the authors' 1000, said to be of Gowalla",
    FOURSQUARE: "Foursquare, New York (Yang et al. 2015), a copy by others",
}
WORLD: Final = "the world"
NEW_YORK: Final = "New York"
UNITED_STATES: Final = "the United States"
_SEED: Final = 1
_MEASURED: Final = {
    "expected_km", "worst_km", "realised_epsilon", "epsilon_within", "inference_km", "smallest", "largest",
}  # fmt: skip


@functools.lru_cache(maxsize=2)
def places_of(name: str, count: int) -> tuple[Points, Regions]:
    """So many places of a data set, and their regions by the paper's rule."""
    if name == GOWALLA:
        every = coordinates(check_ins("gowalla-authors-1000"))
        found = places(every) if count == len(every) else from_checkins(every, source="public", places=count)
    else:
        found = drawn(NEW_YORK, count, _SEED)
    return found, Regions.by_prefix(found)


def drawn(area: str, count: int, seed: int) -> Points:
    """So many of the distinct places of public check-ins: Gowalla's in the world, FourSquare's in the other areas."""
    return from_checkins(_distinct(area), source="public", places=count, seed=seed, merge_within=None)


@functools.lru_cache(maxsize=3)
def _distinct(area: str) -> NDArray[np.float64]:
    """The places that a draw is from: merging those within a metre takes longest, and is the same for every seed."""
    visits = {WORLD: "gowalla-stacp", NEW_YORK: "foursquare-nyc-filtered", UNITED_STATES: "foursquare-us-stacp"}
    return from_checkins(coordinates(check_ins(visits[area])), source="public").coordinates


def both(*, gowalla: int = 1000, foursquare: int = 3000, **axes: tuple[Any, ...]) -> Grid:
    """A grid over both sets, with so many places of each: by default as many as the paper has."""
    return Grid(dataset=(GOWALLA,), places=(gowalla,), **axes) + Grid(
        dataset=(FOURSQUARE,), places=(foursquare,), **axes
    )


def parts_of(regions: Regions) -> list[Points]:
    """The places of each region as they were given; `regions.parts` rounds them, which moves some to the next tile."""
    return [
        Points(regions.places.coordinates[regions.members(each)], metric="haversine") for each in range(len(regions))
    ]


def measured_in(made: Sequence[Mechanism], **numbers: Callable[[Mechanism], float]) -> Row:
    """Means over all places of numbers of the mechanism of each part; and the largest ε that one of these realises."""
    sizes = [len(each.domain) for each in made]
    means = {
        name: math.fsum(size * number(each) for size, each in zip(sizes, made, strict=True)) / sum(sizes)
        for name, number in numbers.items()
    }
    return {**means, "epsilon_within": realised(made)}


def realised(made: Sequence[Mechanism]) -> float:
    """The largest ε that one of these spends as plain ε-LDP, rounded up."""
    return max(float(log_between(each.largest_ratio())[1]) for each in made)


def saved(rows: pd.DataFrame, rival: str, ours: str = "BRR") -> pd.DataFrame:
    """By which share of it the expected error of one release lies below a rival's, on the same places at the same ε."""
    settings = rows.drop(columns=_MEASURED & set(rows.columns)).assign(saved=rows["expected_km"])
    return paired(settings, ours, rival, "saved", lambda mine, theirs: 1 - mine / theirs).dropna(subset="saved")


def picture_of_savings(rows: pd.DataFrame, rivals: Sequence[str], **how: Any) -> str:  # noqa: ANN401 (of `panels`)
    """How far BRR lies below each rival, with the numbers of the paper; the column ``panel`` has the titles."""
    found = pd.concat([saved(rows, rival).assign(below=f"below {rival}") for rival in rivals])
    datasets = dict(zip(found["panel"], found["dataset"], strict=True))
    return panels(
        found.assign(percent=100 * found["saved"]), x="epsilon", y="percent", hue="below", facet="panel", across="ε",
        up="below L-SRR by, %", like={f"below {rival}": rival for rival in rivals},
        printed={panel: _printed(dataset) for panel, dataset in datasets.items()}, **how,
    )  # fmt: skip


def _printed(dataset: str) -> list[Printed]:
    mean, (at, most) = 100 * PLACES_MEAN[dataset], PLACES_MOST[dataset]
    return [Printed(mean, f"{mean:.3g} % on average"), Printed(100 * most, f"{100 * most:.3g} %", at)]
