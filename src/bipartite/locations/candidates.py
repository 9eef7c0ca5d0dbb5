"""Candidates: the places that may be reported. They are public, and must not be the positions of private people."""

from __future__ import annotations

import math
import numbers
from itertools import product
from typing import TYPE_CHECKING, Any, Final, Literal, cast

import numpy as np

from bipartite.domains import Points
from bipartite.domains.base import as_index
from bipartite.domains.points import EARTH_RADIUS_KM, UNIT, unit_vectors
from bipartite.domains.regions import check_places
from bipartite.errors import DomainError, InputError, Problems, is_one_of, shown
from bipartite.lottery import insecure_seed
from bipartite.lottery.words import take

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from bipartite.domains.points import Far

    Array = NDArray[np.float64]

MOST_GRID_CELLS: Final = 100_000
METRES_A_DEGREE: Final = EARTH_RADIUS_KM * 1000 * math.pi / 180
_FINEST_METRES: Final = 0.2
_PAIR: Final = 2
_BOX: Final = 4
_LATITUDE, _LONGITUDE = 90, 180


def places(coordinates: ArrayLike, labels: Sequence[Any] | None = None, *, merge_within: float | None = None) -> Points:
    """Places on the globe as a domain, after checks that say what is wrong in words.

    Parameters
    ----------
    coordinates
        One row (latitude, longitude) a place, in degrees. Public.
    labels
        Names of the places, all distinct.
    merge_within
        Metres: each place joins the first one before it that is no farther than that and was kept itself, and that one
        stands for both. None refuses places that are the same (within about 0.2 m).

    Examples
    --------
    >>> places([[52.52, 13.40], [48.86, 2.35]], labels=["Berlin", "Paris"])
    <2 points, haversine>
    """
    array = _degrees(coordinates)
    kept = _kept(array, merge_within)
    if labels is None:
        return Points(array[kept], metric="haversine")
    if isinstance(labels, (str, bytes)) or not hasattr(labels, "__iter__"):
        msg = f"Expected labels as a list, one a place, got {type(labels).__name__}."
        raise DomainError(msg)
    names = list(labels)
    if len(names) != len(array):
        msg = f"Expected {len(array)} labels, one a place, got {len(names)}; name every place, merged ones too."
        raise DomainError(msg)
    return Points(array[kept], metric="haversine", labels=[names[each] for each in kept.tolist()])


def from_checkins(
    coordinates: ArrayLike,
    *,
    source: Literal["public"],
    places: int | None = None,
    seed: int = 0,
    merge_within: float | None = 1.0,
) -> Points:
    """The distinct places of a **public** list of check-ins, or some of them at random.

    Parameters
    ----------
    coordinates
        One row (latitude, longitude) a check-in.
    source
        ``"public"``: you say in words that the list is public. Places taken from private check-ins would tell where
        somebody was, whatever ε is.
    places
        How many of the places, each equally likely to be among them; None for all.
    seed
        Which ones: the same seed gives the same places everywhere. For repetition only; it protects nothing.
    merge_within
        As in :func:`places`, 1 metre by default.
    """
    if not is_one_of(source, ("public",)):
        msg = (
            f"Expected source='public', got {shown(source)}: places taken from private check-ins tell where somebody "
            "was, and no ε covers that. Say that the list is public, or use bp.locations.grid."
        )
        raise InputError(msg)
    array = _degrees(coordinates)
    array = array[np.sort(np.unique(array, axis=0, return_index=True)[1])]
    array = array[_kept(array, merge_within)]
    if places is None:
        return Points(array, metric="haversine")
    wanted = as_index(places)
    if wanted is None or not _PAIR <= wanted <= len(array):
        msg = f"Expected places as a whole number from 2 to {len(array)}, the distinct ones, got {shown(places)}."
        raise InputError(msg)
    # The places with the smallest words of a seeded stream: every set of that size is equally likely.
    words = take(insecure_seed(seed).streams().stream(0, len(array)), len(array))
    chosen = np.sort(np.argsort(words, kind="stable")[:wanted])
    return Points(array[chosen], metric="haversine")


def grid(box: Sequence[float], *, metres: float) -> Points:
    """The centres of the cells of a grid over a box, at most 100,000 of them: candidates that no data chose.

    The box is cut into rows of equal height, at most ``metres``, and each row into columns of equal width, at most
    ``metres`` along its middle. So rows nearer to a pole have fewer cells and columns do not line up: no cell is
    stretched, where one constant step in degrees would make cells at 60° half as wide as at the equator.

    Parameters
    ----------
    box
        (south, west, north, east) in degrees.
    metres
        The largest height and width of a cell. A position is then at most about 0.71 times that from a centre.

    Examples
    --------
    >>> len(grid((52.3, 13.0, 52.7, 13.8), metres=1000))
    2466
    """
    south, west, north, east = _box(box)
    side = float(metres) if _is_number(metres) else math.nan
    if not 0 < side < math.inf:
        msg = f"Expected metres as a positive number, got {shown(metres)}; try metres=1000."
        raise DomainError(msg)
    if side < _FINEST_METRES:
        msg = (
            f"Expected metres from {_FINEST_METRES:g}, as places are told apart, got {shown(metres)}; try metres=1000."
        )
        raise DomainError(msg)
    estimate = _area(south, west, north, east) / side**2
    if estimate > MOST_GRID_CELLS:
        raise DomainError(_too_fine(estimate, side))
    rows = max(1, math.ceil((north - south) * METRES_A_DEGREE / side))
    if rows > MOST_GRID_CELLS:
        raise DomainError(_too_fine(float(rows), side))
    latitudes = south + (np.arange(rows) + 0.5) * (north - south) / rows
    widths = (east - west) * METRES_A_DEGREE * np.cos(np.radians(latitudes))
    columns = np.maximum(1, np.ceil(widths / side)).astype(np.int64)
    if columns.sum() > MOST_GRID_CELLS:
        raise DomainError(_too_fine(float(columns.sum()), side))
    if columns.sum() < _PAIR:
        msg = f"Expected a grid of two cells or more, got one of {side:g} m; use smaller metres or a larger box."
        raise DomainError(msg)
    centres = [
        np.column_stack([np.full(count, latitude), west + (np.arange(count) + 0.5) * (east - west) / count])
        for latitude, count in zip(latitudes.tolist(), columns.tolist(), strict=True)
    ]
    return Points(np.vstack(centres), metric="haversine")


def encode(
    places: Points, positions: ArrayLike, *, max_distance: float = math.inf, far: Far = "nearest"
) -> NDArray[np.int64] | list[Any]:
    """The nearest place of every position: values to pass to ``privatize``. A million positions take about a second.

    Parameters
    ----------
    places
        The candidates.
    positions
        Private rows (latitude, longitude) in degrees. They appear in no message.
    max_distance
        Kilometres beyond which a position counts as far from every place.
    far
        ``"nearest"`` (the default): far positions are reported like all others, and nothing is told. ``"error"``
        refuses and ``"drop"`` leaves them out: both **publish who is far**, which no ε covers.
    """
    check_places(places)
    nearest: NDArray[np.int64] | list[Any] = places.nearest(positions, max_distance, far=far)
    return nearest


def _degrees(coordinates: object) -> Array:  # whatever a caller passes
    """Rows (latitude, longitude), or every problem with them."""
    try:
        given = np.asarray(coordinates)
        array = np.array(given, dtype=np.float64)
        if isinstance(coordinates, np.ma.MaskedArray) or given.dtype.kind not in "iuf":
            raise TypeError  # noqa: TRY301 (one message for all that is no table of numbers)
    except (TypeError, ValueError):
        msg = "Expected coordinates as numbers, one row (latitude, longitude) a place, in degrees."
        raise DomainError(msg) from None
    if not array.size:
        msg = "Expected two places or more, got none; give one row (latitude, longitude) a place."
        raise DomainError(msg)
    if array.ndim != _PAIR or array.shape[1] != _PAIR:
        msg = f"Expected rows (latitude, longitude), got shape {array.shape}; give two columns, in degrees."
        raise DomainError(msg)
    problems = Problems()
    missing = int((~np.isfinite(array)).any(axis=1).sum())
    if missing:
        problems.add(
            f"Expected finite coordinates, got NaN or infinity in {missing} of {len(array)} rows; remove them."
        )
    known = array[np.isfinite(array).all(axis=1)]
    high = int((np.abs(known[:, 0]) > _LATITUDE).sum())
    wide = int((np.abs(known[:, 1]) > _LONGITUDE).sum())
    if high and (np.abs(known[:, 1]) <= _LATITUDE).all():
        problems.add(
            f"Expected latitudes in ±90 degrees, got {high} of {len(known)} beyond: this looks like (longitude, "
            "latitude); swap the columns."
        )
    elif high:
        problems.add(f"Expected latitudes in ±90 degrees, got {high} of {len(known)} beyond; correct or remove them.")
    if wide:
        problems.add(f"Expected longitudes in ±180 degrees, got {wide} of {len(known)} beyond; correct or remove them.")
    problems.raise_if_any(DomainError)
    return array


def _kept(array: Array, merge_within: object) -> NDArray[np.int64]:
    """The rows that stand for all, ascending."""
    vectors = unit_vectors(array)
    if merge_within is None:
        twins = len(vectors) - len(np.unique(vectors, axis=0))
        if twins:
            msg = (
                f"Expected distinct places, got {twins} within about 0.2 m of another; pass merge_within=1 (metres) to "
                "let one stand for all, or remove them."
            )
            raise DomainError(msg)
        return np.arange(len(array))
    metres = float(cast("float", merge_within)) if _is_number(merge_within) else math.nan
    if not 0 <= metres < math.inf:
        msg = f"Expected merge_within as metres ≥ 0, got {shown(merge_within)}; or leave it out."
        raise InputError(msg)
    kept = _leaders(vectors, metres)
    if len(kept) < _PAIR:
        msg = f"Expected two places or more, got one after merging within {metres:g} m; merge less."
        raise DomainError(msg)
    return np.array(kept, dtype=np.int64)


def _leaders(vectors: NDArray[np.int64], metres: float) -> list[int]:
    """Each row that no kept row before it lies near: looked up in cubes as wide as the reach."""
    angle = min(metres / 1000 / EARTH_RADIUS_KM, math.pi)
    reach = 2 * UNIT * math.sin(angle / 2)
    width = max(1, math.ceil(reach))
    cubes: dict[tuple[int, ...], list[int]] = {}
    steps = list(product((-1, 0, 1), repeat=3))
    rows = vectors.tolist()
    kept = []
    for number, row in enumerate(rows):
        cube = tuple(each // width for each in row)
        near = (
            other for step in steps for other in cubes.get(tuple(a + b for a, b in zip(cube, step, strict=True)), ())
        )
        if not any(math.dist(row, rows[other]) <= reach for other in near):
            kept.append(number)
            cubes.setdefault(cube, []).append(number)
    return kept


def _box(box: Sequence[float]) -> tuple[float, float, float, float]:
    advice = "give (south, west, north, east) in degrees"
    if not hasattr(box, "__len__") or len(box) != _BOX or not all(_is_number(each) for each in box):
        msg = f"Expected box as four numbers, got {shown(box)}; {advice}."
        raise DomainError(msg)
    south, west, north, east = (float(each) for each in box)
    if not (-_LATITUDE <= south < north <= _LATITUDE and -_LONGITUDE <= west < east <= _LONGITUDE):
        msg = (
            f"Expected −90 ≤ south < north ≤ 90 and −180 ≤ west < east ≤ 180, got {shown(box)}; {advice}, and make two "
            "grids across the date line."
        )
        raise DomainError(msg)
    return south, west, north, east


def _area(south: float, west: float, north: float, east: float) -> float:
    """Square metres of a box on the sphere."""
    height = math.sin(math.radians(north)) - math.sin(math.radians(south))
    return (EARTH_RADIUS_KM * 1000) ** 2 * math.radians(east - west) * height


def _too_fine(cells: float, side: float) -> str:
    enough = side * math.sqrt(cells / MOST_GRID_CELLS) * 1.02
    return (
        f"Expected at most {MOST_GRID_CELLS:,} cells, got about {cells:,.0f}; use metres={math.ceil(enough)} or more, "
        "or a smaller box."
    )


def _is_number(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)
