"""Candidates: the places that may be reported. They are public, and must not be the positions of private people."""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from bipartite.domains import Points
from bipartite.domains.base import as_index, as_real
from bipartite.domains.points import EARTH_RADIUS_KM, MOST_DEGREES, UNIT, unit_vectors
from bipartite.errors import DomainError, InputError, Problems, is_one_of, shown
from bipartite.lottery import insecure_seed
from bipartite.lottery.words import take

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]

_PAIR: Final = 2


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
        msg = f"Expected labels as a list, one per place, got {type(labels).__name__}."
        raise DomainError(msg)
    names = list(labels)
    if len(names) != len(array):
        msg = f"Expected {len(array)} labels, one per place, got {len(names)}; name every place, merged ones too."
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
    high, wide = (np.abs(known) > MOST_DEGREES).sum(axis=0).tolist()
    if high and (np.abs(known[:, 1]) <= MOST_DEGREES[0]).all():
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
    metres = as_real(merge_within)
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
