"""Candidates: the places that may be reported, public and never the positions of people; and the nearest ones."""

from __future__ import annotations

import math
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

    from bipartite.domains.points import Far

    Array = NDArray[np.float64]

_PAIR: Final = 2


def places(coordinates: ArrayLike, labels: Sequence[Any] | None = None, *, merge_within: float | None = None) -> Points:
    """Build a domain of places on the globe.

    Parameters
    ----------
    coordinates
        One row (latitude, longitude) per place, in degrees. Public.
    labels
        Names of the places, all distinct.
    merge_within
        Metres: a place is merged into the first kept place before it within this distance. None refuses places that
        coincide (within about 0.2 m).

    Examples
    --------
    >>> places([[52.52, 13.40], [48.86, 2.35]], labels=["Berlin", "Paris"])
    <2 points, haversine>
    """
    array = _degrees(coordinates)
    kept = _merge(array, merge_within)
    if labels is None:
        return Points(array[kept], metric="haversine")
    if isinstance(labels, (str, bytes)) or not hasattr(labels, "__iter__"):
        raise DomainError(f"Expected labels as a list, one per place, got {type(labels).__name__}.")
    names = list(labels)
    if len(names) != len(array):
        raise DomainError(
            f"Expected {len(array)} labels, one per place, got {len(names)}; name every place, merged ones too."
        )
    return Points(array[kept], metric="haversine", labels=[names[each] for each in kept.tolist()])


def from_checkins(
    coordinates: ArrayLike,
    *,
    source: Literal["public"],
    places: int | None = None,
    seed: int = 0,
    merge_within: float | None = 1.0,
) -> Points:
    """Build a domain from the distinct places of a **public** list of check-ins, or a random subset of them.

    Parameters
    ----------
    coordinates
        One row (latitude, longitude) per check-in.
    source
        ``"public"``: you state that the list is public. Places taken from private check-ins would reveal where someone
        was, whatever ε is.
    places
        The number of places, chosen uniformly at random; None for all.
    seed
        The same seed gives the same places everywhere. For reproducibility only; it protects nothing.
    merge_within
        As in :func:`places`, 1 metre by default.
    """
    if not is_one_of(source, ("public",)):
        raise InputError(
            f"Expected source='public', got {shown(source)}: places taken from private check-ins reveal where someone "
            "was, and no ε covers that. Confirm that the list is public, or use bp.locations.grid."
        )
    array = _degrees(coordinates)
    array = array[np.sort(np.unique(array, axis=0, return_index=True)[1])]
    array = array[_merge(array, merge_within)]
    if places is None:
        return Points(array, metric="haversine")
    wanted = as_index(places)
    if wanted is None or not _PAIR <= wanted <= len(array):
        raise InputError(
            f"Expected places as a whole number from 2 to {len(array)}, the distinct ones, got {shown(places)}."
        )
    # The places with the smallest random words: every set of that size is equally likely.
    words = take(insecure_seed(seed).streams().stream(0, len(array)), len(array))
    chosen = np.sort(np.argsort(words, kind="stable")[:wanted])
    return Points(array[chosen], metric="haversine")


def encode(
    places: Points, positions: ArrayLike, *, max_distance: float = math.inf, far: Far = "nearest"
) -> NDArray[np.int64] | list[Any]:
    """Map every position to its nearest place, a value for ``privatize``; about a million positions per second.

    Parameters
    ----------
    places
        The candidates.
    positions
        Private rows (latitude, longitude) in degrees. No message shows them.
    max_distance
        Kilometres beyond which a position counts as far from every place.
    far
        ``"nearest"`` (the default): far positions are reported like all others, which reveals nothing. ``"error"``
        refuses the call and ``"drop"`` omits them: both **publish who is far**, which no ε covers.
    """
    nearest: NDArray[np.int64] | list[Any] = check_places(places).nearest(positions, max_distance, far=far)
    return nearest


def check_places(places: object) -> Points:
    """The places, refused unless they are points on the globe."""
    if not isinstance(places, Points) or places.metric != "haversine":
        raise InputError("Expected places as bp.Points(…, metric='haversine'); build them with bp.locations.places.")
    return places


def _degrees(coordinates: object) -> Array:  # whatever a caller passes
    """Read rows (latitude, longitude), or report every problem with them."""
    try:
        given = np.asarray(coordinates)
        array = np.array(given, dtype=np.float64)
        if isinstance(coordinates, np.ma.MaskedArray) or given.dtype.kind not in "iuf":
            raise TypeError  # noqa: TRY301 (one message for everything that is not a table of numbers)
    except (TypeError, ValueError):
        raise DomainError(
            "Expected coordinates as numbers, one row (latitude, longitude) per place, in degrees."
        ) from None
    if not array.size:
        raise DomainError("Expected at least two places, got none; pass one row (latitude, longitude) per place.")
    if array.ndim != _PAIR or array.shape[1] != _PAIR:
        raise DomainError(
            f"Expected rows (latitude, longitude), got shape {array.shape}; pass two columns, in degrees."
        )
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


def _merge(array: Array, merge_within: object) -> NDArray[np.int64]:
    """The rows that are kept after merging, ascending."""
    vectors = unit_vectors(array)
    if merge_within is None:
        twins = len(vectors) - len(np.unique(vectors, axis=0))
        if twins:
            raise DomainError(
                f"Expected distinct places, got {twins} within about 0.2 m of another; pass merge_within=1 (metres) to "
                "merge them, or remove them."
            )
        return np.arange(len(array))
    metres = as_real(merge_within)
    if not 0 <= metres < math.inf:
        raise InputError(f"Expected merge_within as metres ≥ 0, got {shown(merge_within)}; or leave it out.")
    kept = _rows_apart(vectors, metres)
    if len(kept) < _PAIR:
        raise DomainError(f"Expected at least two places, got one after merging within {metres:g} m; merge less.")
    return kept


def _rows_apart(vectors: NDArray[np.int64], metres: float) -> NDArray[np.int64]:
    """The rows without an earlier kept row within ``metres``."""
    from scipy.spatial import cKDTree  # type: ignore[import-untyped]  # noqa: PLC0415 (loaded when used)

    reach = 2 * UNIT * math.sin(min(metres / 1000 / EARTH_RADIUS_KM, math.pi) / 2)
    tree, kept = cKDTree(vectors), np.ones(len(vectors), dtype=bool)
    for at in range(len(vectors)):
        if kept[at]:
            near = np.array(tree.query_ball_point(vectors[at], reach))
            kept[near[near > at]] = False
    return np.flatnonzero(kept)
