"""Figure 7: both sets of places with their regions.

The paper finds 13 regions (7 to 235 places) on Gowalla and 14 (64 to 278) on FourSquare. Its rule, run on the authors'
1000 places, gives 14 regions of 7 to 235. Its 3000 FourSquare places are not published.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bipartite.locations import draw as draw_map
from reproduction.experiments.places_of_the_paper import CREDITS, FOURSQUARE, GOWALLA, places_of

if TYPE_CHECKING:
    from reproduction.runner.contract import Row, Rows

NOTE: Final = (
    "The authors' file of 1000 places is drawn as it stands, latitude before longitude: about a third of them lie in "
    "the sea, and none lies within 10 km of any of the 66,797 places of Gowalla that we have, in either order. What "
    "they are places of, we do not know."
)


@dataclass(frozen=True)
class Settings:
    """How many places of each."""

    gowalla: int = 1000
    foursquare: int = 3000


@dataclass(frozen=True)
class Cell:
    """One set of places."""

    dataset: str
    places: int


QUICK = Settings()


def cells(settings: Settings) -> tuple[Cell, ...]:
    """One for each set."""
    return Cell(GOWALLA, settings.gowalla), Cell(FOURSQUARE, settings.foursquare)


def measure(cell: Cell) -> list[Row]:
    """The regions by size, and what publishing one tells."""
    _, regions = places_of(cell.dataset, cell.places)
    return [
        {"dataset": cell.dataset, "places": cell.places, "regions": len(regions), "region": number,
         "size": size, "bits": regions.bits()}
        for number, size in enumerate(sorted(regions.sizes.tolist(), reverse=True), start=1)
    ]  # fmt: skip


def draw(rows: Rows) -> dict[str, str]:
    """The maps."""
    sets = dict.fromkeys((str(row["dataset"]), int(row["places"])) for row in rows)
    return {
        f"map_{name.lower()}": str(draw_map(places_of(name, count)[1], credit=CREDITS[name])) for name, count in sets
    }
