"""Figure 8: the expected error of a reported place against ε, on both sets of places.

The paper's protocol reports within the true region, which publishes the region: that is ε-LDP within a region only.
It is run as the paper runs it, and beside it the same mechanisms on all places, which is ε-LDP. Distances are haversine
kilometres (the paper names none). L-SRR as published spends more than its ε; ``epsilon_within`` says how much, and the
calibrated one is the fair rival.
"""

from collections.abc import Iterator
from typing import Final

import pandas as pd

from reproduction.experiments.places_of_the_paper import both, picture_of_savings, places_of
from reproduction.form import Row
from reproduction.pictures import panels
from reproduction.places import CALIBRATED, EPSILONS, PUBLISHED, WHOLE, WITHIN, compare

FULL = both(epsilon=EPSILONS)
QUICK = both(foursquare=500, epsilon=("0.25", "1", "2"))
NOTE: Final = (
    "Within regions every report publishes the region of the person: this is not ε-LDP, whatever ε is. On all places "
    "each line is ε-LDP but L-SRR as published, which spends more. Kilometres on the sphere, uniform prior over the "
    "places."
)
_NAMES: Final = {
    "BRR safe": "BRR", "BRR best": "BRR, best m", "Exponential tight": "Exponential, tight", "Constant": "one place",
}  # fmt: skip
_SHOWN: Final = ("BRR", "GRR", PUBLISHED, CALIBRATED, "Exponential, tight", "Anchored", "one place")


def measure(dataset: str, places: int, epsilon: str) -> Iterator[Row]:
    """Every release at one ε; what could not be made has no number."""
    domain, regions = places_of(dataset, places)
    for row in compare(domain, [epsilon], regions=regions):
        yield {"dataset": dataset, "places": places, "scope": row.scope, "mechanism": _NAMES.get(row.name, row.name),
               "epsilon": float(epsilon), "expected_km": row.expected_loss, "worst_km": row.worst_loss,
               "realised_epsilon": row.realised_epsilon, "epsilon_within": row.epsilon_within}  # fmt: skip


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
