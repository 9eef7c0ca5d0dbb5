"""A grid over a box: candidates that do not depend on data."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.domains import Points
from bipartite.domains.base import as_real
from bipartite.domains.points import EARTH_RADIUS_KM, MOST_DEGREES
from bipartite.errors import DomainError, shown
from bipartite.locations.areas import Box

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

MOST_GRID_CELLS: Final = 100_000
METRES_A_DEGREE: Final = EARTH_RADIUS_KM * 1000 * math.pi / 180
_FINEST_METRES: Final = 0.2
# Centres are where they should be to a centimetre, far below the finest cell; those read from a spec, whose vectors are
# rounded, to a metre.
_SAME_DEGREES: Final = (1e-7, 1e-5)


def grid(box: Sequence[float], *, metres: float) -> Points:
    """Build the centres of a grid over a box, at most 100,000 cells: candidates that do not depend on data.

    The box is divided into rows of equal height, at most ``metres``, and each row into columns of equal width, at most
    ``metres`` along its middle. Rows nearer to a pole have fewer cells, so columns do not line up but no cell is
    stretched; with a constant step in degrees, cells at 60° would be half as wide as at the equator.

    Parameters
    ----------
    box
        (south, west, north, east) in degrees; it crosses the date line if west > east.
    metres
        The largest height and width of a cell. A position is then at most about 0.71 times that far from a centre.

    Examples
    --------
    >>> len(grid((52.3, 13.0, 52.7, 13.8), metres=1000))
    2466
    """
    over, side = Box.of(box, DomainError), as_real(metres)
    if not (over.south < over.north and over.width > 0):
        raise DomainError(
            f"Expected box as (south, west, north, east) with south < north and west ≠ east, got {shown(box)}."
        )
    if not 0 < side < math.inf:
        raise DomainError(f"Expected metres as a positive number, got {shown(metres)}; try metres=1000.")
    if side < _FINEST_METRES:
        raise DomainError(
            f"Expected metres ≥ {_FINEST_METRES:g}, the resolution of places, got {shown(metres)}; try metres=1000."
        )
    estimate = _area(over) / side**2
    if estimate > MOST_GRID_CELLS:
        raise DomainError(_too_fine(estimate, side))
    rows = max(1, math.ceil((over.north - over.south) * METRES_A_DEGREE / side))
    if rows > MOST_GRID_CELLS:
        raise DomainError(_too_fine(float(rows), side))
    latitudes = over.south + (np.arange(rows) + 0.5) * (over.north - over.south) / rows
    widths = over.width * METRES_A_DEGREE * np.cos(np.radians(latitudes))
    columns = np.maximum(1, np.ceil(widths / side)).astype(np.int64)
    if columns.sum() > MOST_GRID_CELLS:
        raise DomainError(_too_fine(float(columns.sum()), side))
    if columns.sum() == 1:
        raise DomainError(
            f"Expected a grid of at least two cells, got one of {side:g} m; use smaller metres or a larger box."
        )
    centres = [
        np.column_stack([np.full(count, latitude), over.west + (np.arange(count) + 0.5) * over.width / count])
        for latitude, count in zip(latitudes.tolist(), columns.tolist(), strict=True)
    ]
    cells = np.vstack(centres)
    cells[cells[:, 1] > MOST_DEGREES[1], 1] -= 360  # beyond the date line
    return Points(cells, metric="haversine")


def cells_of(places: Points) -> NDArray[np.float64] | None:
    """The cell of each centre as rows (south, west, north, east), with east > 180 across the date line.

    None for places that are not the centres of a :func:`grid`, all of them and in order, and for a grid of one row or
    of one cell in every row, whose centres do not determine the size of its cells.
    """
    tried = (_cells_within(degrees, places.coordinates) for degrees in _SAME_DEGREES)
    return next((cells for cells in tried if cells is not None), None)


def _cells_within(degrees: float, centres: NDArray[np.float64]) -> NDArray[np.float64] | None:
    latitudes, longitudes = centres.T
    starts = np.flatnonzero(~(np.abs(np.diff(latitudes, prepend=np.nan)) <= degrees / 2))
    columns = np.diff(starts, append=len(latitudes))
    rows = np.add.reduceat(latitudes, starts) / columns
    widest = int(columns.argmax())
    if len(rows) == 1 or columns[widest] == 1:
        return None
    height = (rows[-1] - rows[0]) / (len(rows) - 1)
    first, last = longitudes[[starts[widest], starts[widest] + columns[widest] - 1]]
    step = (last - first) % 360 / (columns[widest] - 1)
    each_row = np.repeat(np.arange(len(rows)), columns)
    widths = step * columns[widest] / columns[each_row]
    south = rows[0] + (each_row - 0.5) * height
    west = first - step / 2 + (np.arange(len(latitudes)) - starts[each_row]) * widths
    # Degrees of longitude are shorter away from the equator, and rounded as much longer.
    aside = np.abs((west + widths / 2 - longitudes + 180) % 360 - 180) * np.cos(np.radians(latitudes))
    if height <= 0 or max(aside.max(), np.abs(south + height / 2 - latitudes).max()) > degrees:
        return None
    west = (west + 180) % 360 - 180
    return np.column_stack([south, west, south + height, west + widths])


def _area(box: Box) -> float:
    """Square metres of a box on the sphere."""
    height = math.sin(math.radians(box.north)) - math.sin(math.radians(box.south))
    return (EARTH_RADIUS_KM * 1000) ** 2 * math.radians(box.width) * height


def _too_fine(cells: float, side: float) -> str:
    enough = side * math.sqrt(cells / MOST_GRID_CELLS) * 1.02
    return (
        f"Expected at most {MOST_GRID_CELLS:,} cells, got about {cells:,.0f}; use metres={math.ceil(enough)} or more, "
        "or a smaller box."
    )
