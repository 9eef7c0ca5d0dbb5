"""Figure 7: both sets of places with their regions.

The paper finds 13 regions (7 to 235 places) on Gowalla and 14 (64 to 278) on FourSquare. Its rule, run on the authors'
1000 places, gives 14 regions of 7 to 235. Its 3000 FourSquare places are not published.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reproduction.experiments.places_of_the_paper import CREDITS, FOURSQUARE, GOWALLA, places_of
from reproduction.experiments.printed import REGIONS
from reproduction.figures import Line, Panel, Printed, panels
from reproduction.places import draw as draw_map
from reproduction.runner.contract import number, select

if TYPE_CHECKING:
    from reproduction.runner.contract import Row, Rows

NOTE: Final = (
    "The authors' file of 1000 places is drawn as it stands, latitude before longitude: about a third of them lie in "
    "the sea, and none lies within 10 km of any of the 66,797 places of Gowalla that we have, in either order. What "
    "they are places of, we do not know."
)


_HIGHEST: Final = 1000  # leaves room for words at the largest


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
    """The maps, and how many places each region has."""
    sets = dict.fromkeys((str(row["dataset"]), int(row["places"])) for row in rows)
    maps: dict[str, str] = {
        f"map_{name.lower()}": draw_map(
            places_of(name, count)[1], title=f"{name}, {count:,} places", credit=CREDITS[name]
        )
        for name, count in sets
    }
    return maps | {
        "region_sizes": panels(
            [_sizes(select(rows, dataset=name), f"{name}, {count:,} places: sizes of regions") for name, count in sets],
            across="regions, the largest first", up="places of a region", log_y=True,
            says="How many places each region has, the largest first.",
            notes=["The vertical axis is logarithmic. Of its regions the paper prints number, largest and smallest."],
        )
    }  # fmt: skip


def _sizes(rows: Rows, title: str) -> Panel:
    """The sizes in order, and of the paper's the largest and the smallest, which is the last."""
    count, smallest, largest = REGIONS[str(rows[0]["dataset"])]
    line = Line("region", [number(row, "region") for row in rows], [number(row, "size") for row in rows])
    printed = [
        Printed(largest, f"the largest {largest}", 1),
        Printed(smallest, f"{count} regions, the smallest {smallest}", count),
    ]
    return Panel(title, [line], highest=_HIGHEST, printed=printed)
