"""The pictures of the page about places."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bipartite import BRR, SubsetSelection, insecure_seed
from bipartite.locations import encode, grid, heat_map, places, plot
from bipartite.locations.areas import Box
from bipartite.locations.atlas import cities
from bipartite.plots.figure import as_svg

TARGET = Path(__file__).parent / "_static"
CREDIT = "GeoNames, CC BY 4.0, a selection"


def pictures() -> dict[str, str]:
    """What somebody in Paris may report, among the world's largest cities, and where made-up people of Europe are."""
    names, coordinates = cities()
    world = places(coordinates, labels=names)
    cells = SubsetSelection(grid((35, -12, 62, 42), metres=300_000), epsilon=2)
    # A third of them in each city of Europe, the rest two degrees to its east and to its north.
    around = np.vstack([coordinates[Box(35, -12, 60, 38).holds(world)] + step for step in ((0, 0), (0, 2), (2, 0))])
    positions = np.repeat(around, 4000, axis=0)
    european = cells.privatize(encode(cells.domain, positions), rng=insecure_seed(1))
    return {
        "places_paris.svg": as_svg(lambda: plot(BRR(world, epsilon=2), at="Paris", credit=CREDIT)),
        "places_cells.svg": as_svg(heat_map(cells, european).plot),
    }


if __name__ == "__main__":
    for file, drawn in pictures().items():
        (TARGET / file).write_text(drawn + "\n", encoding="utf-8")
