"""Plotting a heat map, with its notes."""

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

EDGED: Final = "A dark edge marks a cell whose interval excludes 0 (95 % for all cells together)."
TOWNS: Final = "Cities: GeoNames, CC BY 4.0. Coasts: Natural Earth, coarse."


def drawn(heat: HeatMap, file: str | Path | None, credit: str) -> Picture:
    """Plot the heat map with its notes, and write it to a file if one is named."""
    picture = plot_map(heat, [*notes(heat), *([f"Places: {credit}."] if credit else [])], WIDTH)
    if file is not None:
        save(picture, file)
    return picture


def plot_map(heat: HeatMap, below: list[str], width: float) -> Picture:
    """Plot the map ``width`` pixels wide, with these notes below it."""
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
        words=share_texts(heat),
        coasts=coasts(),
        notes=below,
        how=how,
    )


def share_texts(heat: HeatMap) -> list[str]:
    """Each share as text, with its interval if there is one."""
    if not heat.has_intervals:
        return [f"{percent(share)}, a guess" for share in heat.shares.tolist()]
    ends = (each.tolist() for each in heat.intervals())
    return [
        f"{percent(share)}, {percent(low)} to {percent(high)}"
        for share, low, high in zip(heat.shares.tolist(), *ends, strict=True)
    ]


def notes(heat: HeatMap) -> list[str]:
    """The notes below every picture of it."""
    smoothed = f", smoothed over {heat.smoothing_km:g} km" if heat.smoothing_km else ""
    found = [f"{heat.people:,} reports{smoothed}. Guarantee: {heat.guarantee}."]
    if heat.note:
        found.append(f"{heat.note[0].upper()}{heat.note[1:]}.")
    if cells_of(heat.places) is not None:
        found += [EDGED, TOWNS] if heat.has_intervals else [TOWNS]
    return found
