"""A heat map as a picture, and the words that go with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bipartite.locations.atlas import cities, coasts
from bipartite.locations.grids import cells_of
from bipartite.locations.names import names_of
from bipartite.plots import save, shares_on_a_map
from bipartite.plots.map_heat import Drawn
from bipartite.plots.style import WIDTH
from bipartite.plots.svg import percent

if TYPE_CHECKING:
    from pathlib import Path

    from bipartite.locations.heat import HeatMap
    from bipartite.plots import Picture

EDGED: Final = "A cell with a dark edge has an interval above 0 (95 % for all cells together)."
TOWNS: Final = "Cities: GeoNames, CC BY 4.0. Coasts: Natural Earth, coarse."


def drawn(heat: HeatMap, file: str | Path | None, credit: str) -> Picture:
    """The picture with all that is to be known about it below, written to a file if one is named."""
    picture = bare(heat, [*notes(heat), *([f"Places: {credit}."] if credit else [])], WIDTH)
    if file is not None:
        save(picture, file)
    return picture


def bare(heat: HeatMap, below: list[str], width: float) -> Picture:
    """The picture, so wide, with these sentences below it."""
    cells = cells_of(heat.places)
    if cells is None:
        how = Drawn(width=width)
    else:
        names, where = cities()
        towns = {name: (float(north), float(east)) for name, (north, east) in zip(names, where, strict=True)}
        edged = heat.intervals(together=True)[0] > 0 if heat.has_intervals else None
        how = Drawn(cells, edged, towns, width)
    return shares_on_a_map(
        heat.places.coordinates,
        heat.shares,
        labels=names_of(heat.places),
        words=spoken(heat),
        coasts=coasts(),
        notes=below,
        how=how,
    )


def spoken(heat: HeatMap) -> list[str]:
    """Each share in words, with its interval where there is one."""
    if not heat.has_intervals:
        return [f"{percent(share)}, a guess" for share in heat.shares.tolist()]
    ends = (each.tolist() for each in heat.intervals())
    return [
        f"{percent(share)}, {percent(low)} to {percent(high)}"
        for share, low, high in zip(heat.shares.tolist(), *ends, strict=True)
    ]


def notes(heat: HeatMap) -> list[str]:
    """What goes with every picture of it."""
    smoothed = f", smoothed over {heat.smoothing_km:g} km" if heat.smoothing_km else ""
    found = [f"{heat.people:,} reports{smoothed}. What was promised: {heat.guarantee}."]
    if heat.note:
        found.append(f"{heat.note[0].upper()}{heat.note[1:]}.")
    if cells_of(heat.places) is not None:
        found += [EDGED, TOWNS] if heat.has_intervals else [TOWNS]
    return found
