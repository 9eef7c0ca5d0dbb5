"""The point nearest to each of many positions, decided in integers.

The answer is defined by a linear search: the point at the smallest distance, the first among ties. A k-d tree (scipy)
finds the same point much faster: it holds the same integers, every distance below 2^53 is an exact double, and if a
second point is as near as the first within rounding, all points at that distance are compared exactly. Positions whose
distances may exceed 2^53 (far outside a plane) use the linear search.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

if TYPE_CHECKING:
    from bipartite.domains.base import Indices, Mask, Reals

Kind = Literal["squared", "manhattan"]
_EXACT_BELOW: Final = 2.0**53
# A linear search over this many distances takes about as long as loading scipy (0.1 s, measured).
USE_TREE_FROM: Final = 2**22
_DISTANCES_A_BLOCK: Final = 2**20
# Square roots of different integers below 2^53 may round to the same double; ratios within this are compared exactly.
_AS_NEAR: Final = 1 + 1e-12
# A tree of fewer points fits in the cache, and sorting the positions first costs more than it saves (measured).
_SORT_FROM: Final = 2**13
_BOXES: Final = 512


def nearest_points(vectors: Indices, positions: Reals, kind: Kind) -> Indices:
    """For each position the index of the nearest point, the first among ties.

    ``positions`` are integers in the unit of the vectors, as doubles.
    """
    if len(positions) * len(vectors) < USE_TREE_FROM:
        return _search_all(vectors, positions, kind)
    from scipy.spatial import cKDTree  # type: ignore[import-untyped]  # noqa: PLC0415 (loaded when it pays)

    tree = cKDTree(vectors.astype(np.float64))
    exact = _is_exact(vectors, positions, kind)
    found = np.empty(len(positions), dtype=np.int64)
    if exact.any():
        found[exact] = _search_tree(tree, vectors, positions[exact], kind)
    found[~exact] = _search_all(vectors, positions[~exact], kind)
    return found


def distances_to(vectors: Indices, found: Indices, positions: Reals, kind: Kind) -> Reals:
    """The distance of each position from the point found for it: squared Euclidean or Manhattan."""
    difference = vectors[found] - positions
    distances: Reals = (np.abs(difference) if kind == "manhattan" else difference * difference).sum(axis=1)
    return distances


def _search_all(vectors: Indices, positions: Reals, kind: Kind) -> Indices:
    found = np.empty(len(positions), dtype=np.int64)
    step = max(1, _DISTANCES_A_BLOCK // len(vectors))
    for start in range(0, len(positions), step):
        found[start : start + step] = _distances(vectors, positions[start : start + step], kind).argmin(axis=1)
    return found


def _distances(vectors: Indices, positions: Reals, kind: Kind) -> Reals:
    """All distances, summed axis by axis, so that rounding does not depend on the number of positions."""
    total = np.zeros((len(positions), len(vectors)))
    for axis in range(vectors.shape[1]):
        apart = vectors[None, :, axis] - positions[:, axis, None]
        total += np.abs(apart) if kind == "manhattan" else apart * apart
    return total


def _is_exact(vectors: Indices, positions: Reals, kind: Kind) -> Mask:
    """Whether every distance of a position is certain to be an integer below 2^53.

    A box of the tree is never farther than the points in it.
    """
    if kind == "squared":
        # The triangle inequality through 0: enough for all places on the globe.
        longest = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64).max())
        small: Mask = (np.sqrt(np.einsum("ij,ij->i", positions, positions)) + longest + 1) ** 2 < _EXACT_BELOW
        if small.all():
            return small
    reach = np.maximum(np.abs(positions - vectors.min(axis=0)), np.abs(positions - vectors.max(axis=0)))
    inside: Mask = (reach if kind == "manhattan" else reach * reach).sum(axis=1) < _EXACT_BELOW
    return inside


def _search_tree(tree: Any, vectors: Indices, positions: Reals, kind: Kind) -> Indices:  # noqa: ANN401
    power = 1 if kind == "manhattan" else 2
    # Searching nearby positions one after the other reuses the cache.
    order = _spatial_order(positions) if len(vectors) >= _SORT_FROM else np.arange(len(positions))
    sorted_positions = positions[order]
    apart, numbers = tree.query(sorted_positions, k=2, p=power, workers=-1)
    nearest = numbers[:, 0].astype(np.int64)
    for row in np.flatnonzero(apart[:, 1] <= apart[:, 0] * _AS_NEAR).tolist():
        position = sorted_positions[row]
        candidates = np.array(sorted(tree.query_ball_point(position, apart[row, 0] * _AS_NEAR + 0.25, p=power)))
        nearest[row] = candidates[_distances(vectors[candidates], position[None, :], kind)[0].argmin()]
    found = np.empty(len(positions), dtype=np.int64)
    found[order] = nearest
    return found


def _spatial_order(positions: Reals) -> Indices:
    """An order that groups the positions of each coarse box."""
    low, high = positions.min(axis=0), positions.max(axis=0)
    box = ((positions - low) * (_BOXES / np.maximum(high - low, 1.0))).astype(np.int64)
    axes = tuple(box.T[:3])
    return np.argsort(np.ravel_multi_index(axes, (_BOXES + 1,) * len(axes)), kind="stable")
