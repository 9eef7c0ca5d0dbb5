"""Figure 8: the expected error of a reported place against ε, on both sets of places.

The paper's protocol reports within the true region, which publishes the region: that is ε-LDP within a region only.
It is run as the paper runs it, and beside it the same mechanisms on all places, which is ε-LDP. Distances are haversine
kilometres (the paper names none). L-SRR as published spends more than its ε; ``epsilon_within`` says how much, and the
calibrated one is the fair rival.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from reproduction.experiments.places_of_the_paper import FOURSQUARE, GOWALLA, places_of
from reproduction.experiments.printed import PLACES_MEAN, PLACES_MOST
from reproduction.figures import Line, Panel, Printed, panels
from reproduction.places import CALIBRATED, EPSILONS, PUBLISHED, WHOLE, WITHIN, compare
from reproduction.runner.contract import Row, Rows, beside, distinct, number, select

NOTE: Final = (
    "Within regions every report publishes the region of the person: this is not ε-LDP, whatever ε is. On all places "
    "each line is ε-LDP but L-SRR as published, which spends more. Kilometres on the sphere, uniform prior over the "
    "places."
)
_NAMES: Final = {
    "BRR safe": "BRR", "BRR best": "BRR, best m", "Exponential tight": "Exponential, tight", "Constant": "one place",
}  # fmt: skip
_PAPER: Final = frozenset({"BRR", "GRR", PUBLISHED})
_SHOWN: Final = ("BRR", "GRR", PUBLISHED, CALIBRATED, "Exponential, tight", "Anchored", "one place")


@dataclass(frozen=True)
class Settings:
    """How many places of each, and the paper's budgets."""

    gowalla: int = 1000
    foursquare: int = 3000
    epsilons: tuple[str, ...] = EPSILONS


@dataclass(frozen=True)
class Cell:
    """One set of places and one ε."""

    dataset: str
    places: int
    epsilon: str


QUICK = Settings(foursquare=500, epsilons=("0.25", "1", "2"))


def cells(settings: Settings) -> tuple[Cell, ...]:
    """Both sets with every ε."""
    sizes = {GOWALLA: settings.gowalla, FOURSQUARE: settings.foursquare}
    return tuple(Cell(name, count, epsilon) for name, count in sizes.items() for epsilon in settings.epsilons)


def measure(cell: Cell) -> list[Row]:
    """Every release at one ε; what could not be made has no number."""
    places, regions = places_of(cell.dataset, cell.places)
    return [
        {"dataset": cell.dataset, "places": cell.places, "scope": row.scope,
         "mechanism": _NAMES.get(row.name, row.name), "epsilon": float(cell.epsilon),
         "expected_km": row.expected_loss, "worst_km": row.worst_loss,
         "realised_epsilon": row.realised_epsilon, "epsilon_within": row.epsilon_within}
        for row in compare(places, [cell.epsilon], regions=regions)
    ]  # fmt: skip


def savings(rows: Rows, rival: str, scope: str = WITHIN) -> dict[str, dict[float, float]]:
    """For each set of places and ε: how far the expected error of BRR lies below a rival's, as a share of it."""
    found: dict[str, dict[float, float]] = {}
    for row, ours, theirs in beside(select(rows, scope=scope), "expected_km", "BRR", rival, "dataset", "epsilon"):
        if math.isfinite(theirs):
            found.setdefault(str(row["dataset"]), {})[number(row, "epsilon")] = 1 - ours / theirs
    return found


def draw(rows: Rows, *, extra: bool = True) -> dict[str, str]:
    """The paper's protocol, and all places."""
    pictures: dict[str, str] = {}
    for scope, name in ((WITHIN, "places_within_regions"), (WHOLE, "places_whole")):
        if scope == WHOLE and not extra:
            continue
        drawn = []
        for dataset in distinct(rows, "dataset"):
            some = select(rows, dataset=dataset, scope=scope)
            lines = [
                Line.of(shown, of, "epsilon", "expected_km", marked=shown != "one place")
                for shown in _SHOWN
                if extra or shown in _PAPER
                for of in [select(some, mechanism=shown)]
                if of
            ]
            drawn.append(Panel(f"{dataset}, {some[0]['places']:,} places, {scope}", lines, lowest=0))
        promise = (
            "not ε-LDP, because the region is published"
            if scope == WITHIN
            else "each report is ε-LDP, but for L-SRR as published, which spends more than ε"
        )
        pictures[name] = panels(
            drawn, across="ε", up="expected error, km", share_y=False,
            says=f"Expected error against ε, {scope}; {promise}.",
            notes=[f"{scope[0].upper()}{scope[1:]}: {promise}."],
        )  # fmt: skip
        if scope == WITHIN:
            pictures["places_saved"] = _saved(rows, extra=extra)
    return pictures


def _saved(rows: Rows, *, extra: bool) -> str:
    """How far BRR lies below L-SRR, which the paper prints."""
    rivals = (PUBLISHED, CALIBRATED) if extra else (PUBLISHED,)
    found = {rival: savings(rows, rival) for rival in rivals}
    drawn = []
    for dataset in distinct(rows, "dataset"):
        places = select(rows, dataset=dataset)[0]["places"]
        lines = [
            Line(f"below {rival}", list(of), [100 * each for each in of.values()], like=rival)
            for rival in rivals
            for of in [found[rival][str(dataset)]]
        ]
        at, most = PLACES_MOST[str(dataset)]
        mean = PLACES_MEAN[str(dataset)]
        printed = [
            Printed(100 * mean, f"{100 * mean:.3g} % on average"),
            Printed(100 * most, f"{100 * most:.3g} %", at),
        ]
        drawn.append(
            Panel(f"{dataset}, {places:,} places: how far BRR lies below L-SRR", lines, lowest=0, printed=printed)
        )
    return panels(
        drawn, across="ε", up="below L-SRR by, %",
        says="How far the expected error of BRR lies below that of L-SRR, in per cent.",
        notes=["Within regions: not ε-LDP, because the region is published."],
    )  # fmt: skip
