"""A grid over a box: candidates that do not depend on data, and the names of its cells."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from bipartite.domains import Points
from bipartite.domains.base import as_real
from bipartite.domains.points import EARTH_RADIUS_KM, MOST_DEGREES
from bipartite.errors import DomainError, shown
from bipartite.locations.areas import Box
from bipartite.texts import escaped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

MOST_GRID_CELLS: Final = 100_000
METRES_A_DEGREE: Final = EARTH_RADIUS_KM * 1000 * math.pi / 180
_FINEST_METRES: Final = 0.2
# Centres are where they should be to a centimetre, far below the finest cell; those read from a spec, whose vectors are
# rounded, to a metre.
_SAME_DEGREES: Final = (1e-7, 1e-5)
_CITY_CELL: Final = 0.02  # degrees: smaller cells have centres to a thousandth of that


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
    if not _FINEST_METRES <= side < math.inf:
        raise DomainError(
            f"Expected metres ≥ {_FINEST_METRES:g}, the resolution of places, got {shown(metres)}; try metres=1000."
        )
    rows = math.ceil((over.north - over.south) * METRES_A_DEGREE / side)
    _check_count(max(rows, _area(over) / side**2), side)
    latitudes = over.south + (np.arange(rows) + 0.5) * (over.north - over.south) / rows
    widths = over.width * METRES_A_DEGREE * np.cos(np.radians(latitudes))
    columns = np.maximum(1, np.ceil(widths / side)).astype(np.int64)
    _check_count(float(columns.sum()), side)
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


class Squares(NamedTuple):
    """The cells of a grid, named as on a city map: letters from west to east, numbers from north to south.

    Rows nearer to a pole have fewer cells. The letter of a cell is that of the column in which its centre lies, of the
    row with the most cells: a letter is always in the same strip of the map, and some rows leave out letters.
    """

    boxes: NDArray[np.float64]
    """Rows (south, west, north, east), with east > 180 across the date line."""
    names: list[str]
    letters: dict[str, float]
    """The longitude of the middle of each column, ascending, also beyond 180."""
    numbers: dict[str, float]
    """The latitude of the middle of each row."""


def squares_of(places: Points) -> Squares | None:
    """The cell of each centre of a grid.

    None for places that are not the centres of a :func:`grid`, all of them and in order, and for a grid of one row or
    of one cell in every row, whose centres do not determine the size of its cells.
    """
    tried = (_squares_within(degrees, places.coordinates) for degrees in _SAME_DEGREES)
    return next((found for found in tried if found is not None), None)


def names_of(places: Points) -> list[str]:
    """The name of each place: its label; or the name of its cell, or its row number, with its coordinates."""
    if places.labels is not None:
        return [escaped(label) for label in places.labels]
    squares = squares_of(places)
    first = map(str, range(len(places))) if squares is None else squares.names
    digits = 4 if squares is None or squares.boxes[0, 2] - squares.boxes[0, 0] < _CITY_CELL else 2
    where = places.coordinates.tolist()
    return [f"{name} ({north:.{digits}f}, {east:.{digits}f})" for name, (north, east) in zip(first, where, strict=True)]


def _squares_within(degrees: float, centres: NDArray[np.float64]) -> Squares | None:
    latitudes, longitudes = centres.T
    starts = np.flatnonzero(~(np.abs(np.diff(latitudes, prepend=np.nan)) <= degrees / 2))
    columns = np.diff(starts, append=len(latitudes))
    rows = np.add.reduceat(latitudes, starts) / columns
    widest, most = int(columns.argmax()), int(columns.max())
    if len(rows) == 1 or most == 1:
        return None
    height = (rows[-1] - rows[0]) / (len(rows) - 1)
    first, last = longitudes[[starts[widest], starts[widest] + most - 1]]
    step = (last - first) % 360 / (most - 1)
    row = np.repeat(np.arange(len(rows)), columns)
    at = np.arange(len(latitudes)) - starts[row]
    widths = step * most / columns[row]
    south = rows[0] + (row - 0.5) * height
    west = first - step / 2 + at * widths
    # Degrees of longitude are shorter away from the equator, and rounded as much longer.
    aside = np.abs((west + widths / 2 - longitudes + 180) % 360 - 180) * np.cos(np.radians(latitudes))
    if height <= 0 or max(aside.max(), np.abs(south + height / 2 - latitudes).max()) > degrees:
        return None
    west = (west + 180) % 360 - 180
    column = (2 * at + 1) * most // (2 * columns[row])  # in whole numbers, and no two of a row are alike
    letters = [_letters(each) for each in range(most)]
    return Squares(
        np.column_stack([south, west, south + height, west + widths]),
        [f"{letters[x]}{len(rows) - y}" for x, y in zip(column.tolist(), row.tolist(), strict=True)],
        dict(zip(letters, (first + step * np.arange(most)).tolist(), strict=True)),
        {str(len(rows) - y): float(latitude) for y, latitude in enumerate(rows)},
    )


def _letters(number: int) -> str:
    """A, B, …, Z, AA, AB, … as in a spreadsheet."""
    return (_letters(number // 26 - 1) if number >= 26 else "") + chr(ord("A") + number % 26)  # noqa: PLR2004 (letters)


def _area(box: Box) -> float:
    """Square metres of a box on the sphere."""
    height = math.sin(math.radians(box.north)) - math.sin(math.radians(box.south))
    return (EARTH_RADIUS_KM * 1000) ** 2 * math.radians(box.width) * height


def _check_count(cells: float, side: float) -> None:
    if cells > MOST_GRID_CELLS:
        enough = math.ceil(side * math.sqrt(cells / MOST_GRID_CELLS) * 1.02)
        raise DomainError(
            f"Expected at most {MOST_GRID_CELLS:,} cells, got about {cells:,.0f}; use metres={enough} or more, or a "
            "smaller box."
        )
