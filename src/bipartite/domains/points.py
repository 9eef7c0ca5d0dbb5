"""Sets of points with a distance: places, embeddings, anything with coordinates."""

from __future__ import annotations

import math
import numbers
from typing import TYPE_CHECKING, Any, Final, Literal, cast

import numpy as np

from bipartite.domains.nearest import distances_to, nearest_points
from bipartite.domains.sets import SetDomain, check_labels
from bipartite.errors import DomainError, InputError, Problems, is_one_of, shown
from bipartite.lottery.order import RankOrder, VectorOrder, ranks_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from bipartite.domains.base import Indices, Mask, Reals

Metric = Literal["euclidean", "manhattan", "haversine", "callable"]
Far = Literal["error", "drop", "nearest"]
EARTH_RADIUS_KM: Final = 6371.0088
UNIT: Final = 2**25
MAX_DISTANCE: Final = 2**53 - 1
# Coordinates below 2^500, and units of 2^−900 at the finest, keep all intermediate doubles finite.
LARGEST: Final = 2.0**500
FINEST_BITS: Final = 900
MOST_DEGREES: Final = (90.0, 180.0)


class Points(SetDomain):
    r"""A set of points; the loss of reporting y when x is true is their distance.

    Values and reports are row numbers 0 … N−1, or labels where ``labels`` is given.

    Parameters
    ----------
    coordinates
        One row per point, all distinct. Public: they must not be the private positions of people.
    metric
        ``"euclidean"`` (the default) or ``"manhattan"``, in the units of the coordinates; ``"haversine"``: rows are
        (latitude, longitude) in degrees and the loss is the great-circle distance in km on a sphere of 6371.0088 km.
        Or a function of two rows that returns their distance: it is called for every pair, and a spec carries only the
        order of neighbours.
    labels
        Names of the points, all distinct.

    Notes
    -----
    Nearness is decided in integers: the constructor turns coordinates into integer vectors (haversine: unit vectors ×
    2\ :sup:`25`, a step of 0.19 m on the ground; otherwise the finest power of two that keeps distances below
    2\ :sup:`53`), and losses are computed from those.

    Examples
    --------
    >>> cities = [[52.52, 13.40], [48.86, 2.35], [51.51, -0.13]]
    >>> shops = Points(cities, metric="haversine", labels=["Berlin", "Paris", "London"])
    >>> shops.losses(0).round().tolist()
    [0.0, 877.0, 931.0]
    >>> shops.nearest([[50.85, 4.35]])
    ['Paris']
    """

    __slots__ = ("_losses", "bits", "coordinates", "metric")
    by_row = True
    coordinates: Reals
    metric: Metric
    bits: int
    """Coordinates are integer multiples of 2^−bits (euclidean and manhattan)."""
    _losses: Reals | None

    def __init__(
        self,
        coordinates: ArrayLike,
        metric: Metric | Callable[[Any, Any], float] = "euclidean",
        *,
        labels: Sequence[Any] | None = None,
    ) -> None:
        problems = Problems()
        if not callable(metric) and not is_one_of(metric, ("euclidean", "manhattan", "haversine")):
            problems.add(f"Expected metric='euclidean', 'manhattan', 'haversine' or a function, got {shown(metric)}.")
        array = _coordinates(coordinates, problems)
        if array is not None and not problems:
            _check_points(array, metric, problems)
        names = check_labels(labels, None if array is None else len(array), problems)
        problems.raise_if_any(DomainError)
        array = cast("Reals", array)
        if callable(metric):
            losses = _losses_by(metric, array)
            ranks = RankOrder(ranks_of(losses))
            self._finish(ranks, names, coordinates=array, metric="callable", bits=0, _losses=losses)
            return
        bits = 0 if metric == "haversine" else _finest_bits(array, metric)
        vectors = _whole_vectors(array, metric, bits).astype(np.int64)
        twins = len(vectors) - len(np.unique(vectors, axis=0))
        if twins:
            resolution = "about 0.2 m" if metric == "haversine" else f"2^{-bits}"
            raise DomainError(f"Expected points at least {resolution} apart, got {twins} that are not; merge them.")
        self._finish(_order(vectors, metric), names, coordinates=array, metric=metric, bits=bits, _losses=None)

    @classmethod
    def restore(cls, metric: Metric, vectors: Indices, bits: int, labels: Sequence[Any] | None) -> Points:
        """Rebuild the points of a spec from its integer vectors, which determine the coordinates."""
        points = cls.__new__(cls)
        if metric == "haversine":
            x, y, z = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).T
            coordinates = np.degrees(np.column_stack([np.arcsin(np.clip(z, -1, 1)), np.arctan2(y, x)]))
        else:
            coordinates = np.ldexp(vectors.astype(np.float64), -bits)
        points._finish(_order(vectors, metric), labels, coordinates=coordinates, metric=metric, bits=bits, _losses=None)
        return points

    def losses(self, x: int) -> Reals:
        """The loss of reporting each point when point number x is true."""
        if self._losses is not None:
            row: Reals = self._losses[x]
            return row
        return loss_of(self._order.distances(x), self.metric, self.bits)

    def nearest(
        self, coordinates: ArrayLike, max_distance: float = math.inf, *, far: Far = "error"
    ) -> Indices | list[Any]:
        """The points nearest to these positions: the values to report for positions that are not points.

        Of equally near points the first is taken. About a million positions per second.

        Parameters
        ----------
        coordinates
            Private positions, one row each, in the units of the points.
        max_distance
            How far a position may be from its nearest point.
        far
            What happens to positions farther than that. ``"error"`` refuses the call and ``"drop"`` omits them: either
            **publishes who is far** from every point, which no ε covers. ``"nearest"`` reports them like all others,
            which reveals nothing.
        """
        if self.metric == "callable":
            raise InputError("nearest needs a built-in metric; find the nearest point with your own function.")
        problems = Problems()
        positions = _coordinates(coordinates, problems, least=0)
        if positions is not None and positions.shape[1] != self.coordinates.shape[1]:
            problems.add(f"Expected positions of {self.coordinates.shape[1]} coordinates, got {positions.shape[1]}.")
        elif positions is not None and self.metric == "haversine":
            _check_degrees(positions, problems)
        limit: object = max_distance
        if not (isinstance(limit, numbers.Real) and float(limit) >= 0):
            problems.add(f"Expected max_distance ≥ 0, got {shown(max_distance)}.")
        if not is_one_of(far, ("error", "drop", "nearest")):
            problems.add(f"Expected far='error', 'drop' or 'nearest', got {shown(far)}.")
        problems.raise_if_any(InputError)
        found, beyond = self.nearest_rows(cast("Reals", positions), float(max_distance))
        if far == "error" and beyond.any():
            raise InputError(
                f"{beyond.sum()} of {len(found)} cannot be reported: position {int(beyond.argmax())} is farther than "
                f"{max_distance} from every point; widen max_distance or drop it, or use far='nearest': to refuse or "
                "drop publishes that it is far."
            )
        if far == "drop":
            found = found[~beyond]
        return self.decode_array(found) if self.labels is None else self.decode_array(found).tolist()

    def nearest_rows(self, positions: Reals, max_distance: float) -> tuple[Indices, Mask]:
        """(row number of the nearest point, whether it is farther than ``max_distance``) for each checked position."""
        vectors, order = _whole_vectors(positions, self.metric, self.bits), self._order
        found = nearest_points(order.vectors, vectors, order.kind)
        if max_distance == math.inf:
            return found, np.zeros(len(found), dtype=np.bool_)
        apart = distances_to(order.vectors, found, vectors, order.kind)
        return found, loss_of(apart, self.metric, self.bits) > max_distance

    def to_spec(self) -> dict[str, Any]:
        if self.metric == "callable":
            return self._spec("items", ranks=self._order.ranks.tolist())
        bits = {} if self.metric == "haversine" else {"bits": self.bits}
        return self._spec("points", metric=self.metric, vectors=self._order.vectors.tolist(), **bits)

    def __repr__(self) -> str:
        return f"<{self.size} points, {self.metric}>"


def _order(vectors: Indices, metric: Metric) -> VectorOrder:
    return VectorOrder(vectors, "manhattan" if metric == "manhattan" else "squared")


def loss_of(distances: NDArray[Any], metric: str | None, bits: int) -> Reals:
    """Convert integer distances to losses, monotonically."""
    apart: Reals = np.asarray(distances, dtype=np.float64) if metric == "manhattan" else np.sqrt(distances)
    if metric == "haversine":
        return 2 * EARTH_RADIUS_KM * np.arcsin(np.minimum(apart / (2 * UNIT), 1.0))
    return np.ldexp(apart, -bits)


def _coordinates(coordinates: ArrayLike, problems: Problems, least: int = 2) -> Reals | None:
    try:
        given = np.asarray(coordinates)
        if isinstance(coordinates, np.ma.MaskedArray) or given.dtype.kind not in "iuf":
            raise TypeError  # noqa: TRY301 (one message for everything that is not a table of numbers)
        array = np.array(given, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        problems.add("Expected coordinates as numbers, one row per point; pass a list of rows or a 2-d array.")
        return None
    if array.ndim != 2 or len(array) < least or array.shape[1] < 1:  # noqa: PLR2004
        problems.add(f"Expected at least {least} rows of coordinates, got shape {array.shape}; pass one row per point.")
        return None
    if not np.isfinite(array).all():
        problems.add("Expected finite coordinates, got NaN or infinity; remove those points.")
        return None
    if len(array) and np.abs(array).max() > LARGEST:
        problems.add("Expected coordinates below 2^500 in size; rescale them.")
        return None
    return array


def _check_points(array: Reals, metric: object, problems: Problems) -> None:
    if metric == "haversine":
        if array.shape[1] != len(MOST_DEGREES):
            problems.add(f"Expected rows (latitude, longitude) with haversine, got {array.shape[1]} columns.")
            return
        _check_degrees(array, problems)
    twins = len(array) - len(np.unique(array, axis=0))
    if twins:
        problems.add(f"Expected distinct points, got {twins} duplicates; remove them, for example with np.unique.")


def _check_degrees(array: Reals, problems: Problems) -> None:
    if (np.abs(array) > MOST_DEGREES).any():
        problems.add("Expected latitudes in ±90 and longitudes in ±180 degrees; are the columns swapped?")


def _losses_by(metric: Callable[[Any, Any], float], array: Reals) -> Reals:
    try:
        losses = np.array([[float(metric(a, b)) for b in array] for a in array])
    except (TypeError, ValueError):
        losses = np.full((1, 1), np.nan)
    if not np.isfinite(losses).all() or (losses.diagonal() > losses.min(axis=1)).any():
        raise DomainError("Expected a metric with finite values, smallest from a point to itself; check the function.")
    return losses


def unit_vectors(degrees: Reals) -> Indices:
    """Convert rows (latitude, longitude) to integer vectors of length 2^25."""
    latitude, longitude = np.radians(degrees).T
    unit = [np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude), np.sin(latitude)]
    vectors: Indices = np.rint(np.column_stack(unit) * UNIT).astype(np.int64)
    return vectors


def _whole_vectors(rows: Reals, metric: str, bits: int) -> Reals:
    """Positions as whole numbers, still doubles: those far outside a plane fit no int64."""
    return unit_vectors(rows).astype(np.float64) if metric == "haversine" else np.rint(np.ldexp(rows, bits))


def _finest_bits(array: Reals, metric: Metric) -> int:
    """The finest power of two at which every distance stays below 2^53 and every coordinate below 2^52."""
    width = np.ptp(array, axis=0)
    # Start where the largest coordinate is below 2^52, then go coarser until distances fit.
    bits = min(52 - math.frexp(float(np.abs(array).max()))[1], FINEST_BITS)
    while True:
        whole = np.ldexp(width, bits) + 2  # rounding may add one at each end
        if (whole.sum() if metric == "manhattan" else (whole**2).sum()) <= MAX_DISTANCE:
            return bits
        bits -= 1
