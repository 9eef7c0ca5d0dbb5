"""Expected inference error: how far the best guess from a reported place stays from the true one.

The authors' scripts compute it, the paper prints none of it and names it as future work. Somebody who knows the prior
(here uniform over the places) and the mechanism answers each report with the place of least expected distance: Σ_y
min_x̂ Σ_x π_x·P(y|x)·d(x, x̂) (Shokri et al. 2011). Within regions the guess knows the region, which every report
publishes.

The best guess is also the best use of a report, so this is the error that a recipient is left with who knows the prior:
a release cannot have a small error and a large inference error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bipartite import BRR, GRR, Anchored, Constant, Exponential
from bipartite.lottery import log_between
from bipartite.plots.looks import INK, Look
from reproduction.experiments.places_of_the_paper import FOURSQUARE, GOWALLA, parts_of, places_of
from reproduction.figures import Line, Panel, panels
from reproduction.places import CALIBRATED, PUBLISHED, WHOLE, WITHIN, PublishedLSRR, lsrr
from reproduction.quality import expected_loss, inference_error
from reproduction.runner.contract import Row, Rows, distinct, number, select

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from bipartite.domains import Points
    from bipartite.mechanisms import Mechanism

NOTE: Final = (
    "A measurement for one prior, uniform over the places: not a promise, because whoever knows more guesses better. "
    "The best guess never errs more than the report itself, nor more than one place for everybody. Where a line "
    "touches the diagonal, the report is the best guess already. Within regions each release publishes the region, "
    "which is not ε-LDP; L-SRR as published spends more than its ε."
)
ONE_PLACE: Final = "one place"
_MAKERS: Final[Mapping[str, Callable[[Points, str], Mechanism]]] = {
    "BRR": BRR,
    "GRR": GRR,
    PUBLISHED: lambda places, epsilon: PublishedLSRR(places, epsilon).rows,
    CALIBRATED: lsrr,
    "Exponential, tight": Exponential,
    "Anchored": Anchored,
    ONE_PLACE: lambda places, _: Constant(places),
}
_DIAGONAL: Final = "the report is the best guess"
_PAPER: Final = frozenset({"BRR", "GRR", PUBLISHED})


@dataclass(frozen=True)
class Settings:
    """How many places of each, and some of the paper's budgets."""

    gowalla: int = 1000
    foursquare: int = 3000
    epsilons: tuple[str, ...] = ("0.25", "0.5", "1", "2")


@dataclass(frozen=True)
class Cell:
    """One set of places, one ε, on all places or within regions."""

    dataset: str
    places: int
    scope: str
    epsilon: str


QUICK = Settings(gowalla=200, foursquare=200, epsilons=("0.5", "2"))


def cells(settings: Settings) -> tuple[Cell, ...]:
    """Both sets, both scopes, every ε."""
    sizes = {GOWALLA: settings.gowalla, FOURSQUARE: settings.foursquare}
    return tuple(
        Cell(name, count, scope, epsilon)
        for name, count in sizes.items()
        for scope in (WHOLE, WITHIN)
        for epsilon in settings.epsilons
    )


def measure(cell: Cell) -> list[Row]:
    """The error of the report and of the best guess from it, for every release."""
    places, regions = places_of(cell.dataset, cell.places)
    parts = [places] if cell.scope == WHOLE else parts_of(regions)
    found: list[Row] = []
    for name, make in _MAKERS.items():
        made = [make(part, cell.epsilon) for part in parts]
        spent = max(float(log_between(each.largest_ratio())[1]) for each in made)
        found.append(
            {"dataset": cell.dataset, "places": cell.places, "regions": len(parts), "scope": cell.scope,
             "mechanism": name, "epsilon": float(cell.epsilon), "expected_km": _mean(made, expected_loss),
             "inference_km": _mean(made, inference_error), "epsilon_within": spent}
        )  # fmt: skip
    return found


def _mean(made: list[Mechanism], measured: Callable[[Mechanism], float]) -> float:
    """A mean over all places of a number of the mechanism of each part."""
    sizes = [len(each.domain) for each in made]
    return math.fsum(size * measured(each) for size, each in zip(sizes, made, strict=True)) / sum(sizes)


def draw(rows: Rows, *, extra: bool = True) -> dict[str, str]:
    """The inference error against ε, and against the error of the report."""
    names = [name for name in distinct(rows, "mechanism") if extra or name in _PAPER]
    by_epsilon, against = [], []
    for scope in distinct(rows, "scope"):
        for dataset in distinct(rows, "dataset"):
            some = select(rows, dataset=dataset, scope=scope)
            where = f"within {some[0]['regions']} regions" if scope == WITHIN else scope
            title = f"{dataset}, {some[0]['places']:,} places, {where}"
            shown = {name: select(some, mechanism=name) for name in names}
            by_epsilon.append(
                Panel(title, [Line.of(name, of, "epsilon", "inference_km", marked=name != ONE_PLACE)
                              for name, of in shown.items()])
            )  # fmt: skip
            ends = [f(number(row, "inference_km") for row in some) for f in (min, max)]
            against.append(
                Panel(title, [
                    Line(_DIAGONAL, ends, ends, marked=False),
                    *(Line.of(name, of, "expected_km", "inference_km") for name, of in shown.items()),
                ])
            )  # fmt: skip
    promise = "Within regions: not ε-LDP, because the region is published."
    return {
        "inference_by_epsilon": panels(
            by_epsilon, across="ε", up="inference error, km", notes=[promise], share_y=False,
            says="How far the best guess from a report is off on average, against ε.",
        ),
        "inference_against_error": panels(
            against, across="expected error of the report, km", up="inference error, km",
            notes=["Each line from the largest ε (left) to the smallest.", promise],
            says="How far the best guess is off against how far the report itself is: the less a report errs, the "
            "better it can be guessed from.",
            looks={_DIAGONAL: Look(INK, 1, (2, 3))}, share_x=False, share_y=False,
        ),
    }  # fmt: skip
