"""Expected inference error: how far the best guess from a reported place stays from the true one.

The authors' scripts compute it, the paper prints none of it and names it as future work. Somebody who knows the prior
(here uniform over the places) and the mechanism answers each report with the place of least expected distance: Σ_y
min_x̂ Σ_x π_x·P(y|x)·d(x, x̂) (Shokri et al. 2011). Within regions the guess knows the region, which every report
publishes.

The best guess is also the best use of a report, so this is the error that a recipient is left with who knows the prior:
a release cannot have a small error and a large inference error.
"""

from collections.abc import Iterator
from typing import Final

import pandas as pd

from bipartite.plots.looks import INK, Look
from reproduction.experiments.places_of_the_paper import both, measured_in, parts_of, places_of
from reproduction.form import Row
from reproduction.pictures import panels
from reproduction.places import CALIBRATED, ONE_PLACE, PUBLISHED, RELEASES, WHOLE, WITHIN
from reproduction.quality import expected_loss, inference_error

FULL = both(scope=(WHOLE, WITHIN), epsilon=("0.25", "0.5", "1", "2"))
QUICK = both(gowalla=200, foursquare=200, scope=(WHOLE, WITHIN), epsilon=("0.5", "2"))
NOTE: Final = (
    "A measurement for one prior, uniform over the places: not a promise, because whoever knows more guesses better. "
    "The best guess never errs more than the report itself, nor more than one place for everybody. Where a line "
    "touches the diagonal, the report is the best guess already. Within regions each release publishes the region, "
    "which is not ε-LDP; L-SRR as published spends more than its ε."
)
_NAMES: Final = ("BRR", "GRR", PUBLISHED, CALIBRATED, "Exponential, tight", "Anchored", ONE_PLACE)
_DIAGONAL: Final = "the report is the best guess"


def measure(dataset: str, places: int, scope: str, epsilon: str) -> Iterator[Row]:
    """The error of the report and of the best guess from it, for every release."""
    domain, regions = places_of(dataset, places)
    parts = [domain] if scope == WHOLE else parts_of(regions)
    for name in _NAMES:
        made = [RELEASES[name](part, epsilon) for part in parts]
        yield {"dataset": dataset, "places": places, "regions": len(parts), "scope": scope, "mechanism": name,
               "epsilon": float(epsilon),
               **measured_in(made, expected_km=expected_loss, inference_km=inference_error)}  # fmt: skip


def draw(rows: pd.DataFrame) -> dict[str, str]:
    """The inference error against ε, and against the error of the report."""
    where = rows["scope"].where(rows["scope"] == WHOLE, rows["regions"].map("within {} regions".format))
    rows = rows.assign(panel=rows["dataset"] + rows["places"].map(", {:,} places, ".format) + where)
    rows = rows.sort_values("scope", kind="stable")
    ends = rows.groupby("panel", sort=False)["inference_km"].agg(["min", "max"]).stack()
    diagonal = pd.DataFrame(
        {"panel": ends.index.get_level_values(0), "mechanism": _DIAGONAL, "expected_km": ends.to_numpy(),
         "inference_km": ends.to_numpy()}
    )  # fmt: skip
    spots = rows.drop_duplicates(["panel", "mechanism", "expected_km", "inference_km"])
    promise = "Within regions: not ε-LDP, because the region is published."
    return {
        "inference_by_epsilon": panels(
            rows, x="epsilon", y="inference_km", facet="panel", flat={ONE_PLACE}, across="ε",
            up="inference error, km", notes=[promise], share_y=False,
            says="How far the best guess from a report is off on average, against ε.",
        ),
        "inference_against_error": panels(
            pd.concat([diagonal, spots]), x="expected_km", y="inference_km", facet="panel", bare={_DIAGONAL},
            looks={_DIAGONAL: Look(INK, 1, (2, 3))}, across="expected error of the report, km",
            up="inference error, km", notes=["Each line from the largest ε (left) to the smallest.", promise],
            says="How far the best guess is off against how far the report itself is: the less a report errs, the "
            "better it can be guessed from.",
            share_x=False, share_y=False,
        ),
    }  # fmt: skip
