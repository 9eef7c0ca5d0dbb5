"""Figure 8: the expected error of a reported place against ε, on both sets of places.

The paper's protocol reports within the true region, which publishes the region: that is ε-LDP within a region only.
It is run as the paper runs it, and beside it the same mechanisms on all places, which is ε-LDP. Distances are haversine
kilometres (the paper names none). L-SRR as published spends more than its ε; ``epsilon_within`` says how much, and the
calibrated one is the fair rival.
"""

import math
from collections.abc import Iterator
from typing import Final

import numpy as np
import pandas as pd

from bipartite import BRR, loss
from bipartite.domains import Points
from bipartite.mechanisms import Mechanism
from reproduction.experiments.places_of_the_paper import both, picture_of_savings, places_of, realised
from reproduction.form import Row
from reproduction.pictures import panels
from reproduction.places import (
    BEST_M,
    CALIBRATED,
    EPSILONS,
    ONE_PLACE,
    PUBLISHED,
    RELEASES,
    WHOLE,
    WITHIN,
    region_weighted,
    two_level,
)
from reproduction.places.regions import parts

FULL = both(epsilon=EPSILONS)
QUICK = both(foursquare=500, epsilon=("0.25", "1", "2"))
NOTE: Final = (
    "Within regions every report publishes the region of the person: this is not ε-LDP, whatever ε is. On all places "
    "each line is ε-LDP but L-SRR as published, which spends more. Kilometres on the sphere, uniform prior over the "
    "places."
)
_EVERYWHERE: Final = ("GRR", "BRR", BEST_M, "Exponential, tight", CALIBRATED, "Anchored")
_SHOWN: Final = ("BRR", "GRR", PUBLISHED, CALIBRATED, "Exponential, tight", "Anchored", ONE_PLACE)


def measure(dataset: str, places: int, epsilon: str) -> Iterator[Row]:
    """Every release at one ε, on all places and within regions."""
    domain, regions = places_of(dataset, places)
    about: Row = {"dataset": dataset, "places": places}
    of_regions = {"Two-level": two_level, "Region-weighted": region_weighted}
    for name in (*_EVERYWHERE, *of_regions, ONE_PLACE, PUBLISHED):
        made = of_regions[name](regions, epsilon) if name in of_regions else RELEASES[name](domain, epsilon)
        error, spent = loss(made), realised([made])
        yield {**about, "scope": WHOLE, "mechanism": name, "epsilon": float(epsilon), "expected_km": error.mean,
               "worst_km": error.worst, "realised_epsilon": spent, "epsilon_within": spent}  # fmt: skip
    for name in (*_EVERYWHERE, PUBLISHED):
        make = _grr if name == "GRR" else RELEASES[name]
        releases = [make(part, epsilon) for part in parts(regions)]
        errors = [loss(each).by_value for each in releases]
        yield {**about, "scope": WITHIN, "mechanism": name, "epsilon": float(epsilon),
               "expected_km": sum(float(np.full(len(each), 1 / places) @ each) for each in errors),
               "worst_km": max(float(each.max()) for each in errors),
               "realised_epsilon": math.inf, "epsilon_within": realised(releases)}  # fmt: skip


def _grr(places: Points, epsilon: str) -> Mechanism:
    """GRR as BRR with one near place: as such it has the tickets, and the last digits, of the rows that are kept."""
    return BRR(places, epsilon, m=1)


def draw(rows: pd.DataFrame) -> dict[str, str]:
    """The paper's protocol, how far BRR lies below L-SRR in it, and all places."""
    rows = rows.assign(panel=rows["dataset"] + rows["places"].map(", {:,} places".format))
    within = rows[rows["scope"] == WITHIN]
    return {
        "places_within_regions": _errors(rows, WITHIN, "not ε-LDP, because the region is published"),
        "places_saved": picture_of_savings(
            within.assign(panel=within["panel"] + ": how far BRR lies below L-SRR"), (PUBLISHED, CALIBRATED), lowest=0,
            says="How far the expected error of BRR lies below that of L-SRR, in per cent.",
            notes=["Within regions: not ε-LDP, because the region is published."],
        ),
        "places_whole": _errors(
            rows, WHOLE, "each report is ε-LDP, but for L-SRR as published, which spends more than ε"
        ),
    }  # fmt: skip


def _errors(rows: pd.DataFrame, scope: str, promise: str) -> str:
    some = rows[(rows["scope"] == scope) & rows["mechanism"].isin(_SHOWN)]
    return panels(
        some.sort_values("mechanism", key=lambda names: names.map(_SHOWN.index), kind="stable"), x="epsilon",
        y="expected_km", facet="panel", title=f"{{}}, {scope}", flat={"one place"}, lowest=0, share_y=False, across="ε",
        up="expected error, km", says=f"Expected error against ε, {scope}; {promise}.",
        notes=[f"{scope[0].upper()}{scope[1:]}: {promise}."],
    )  # fmt: skip
