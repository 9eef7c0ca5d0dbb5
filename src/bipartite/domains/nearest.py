"""Which point is nearest to each of many positions, decided in whole numbers.

The answer is defined by the plain search: all distances of a position, the least, the first point of equals. A tree
(scipy) finds the same much sooner: it holds the same whole numbers, every distance below 2^53 is exact in a double, and
where a second point is as near as the first within rounding, all points at that distance are compared again exactly.
Positions whose distances may pass 2^53 (far outside a plane), and everything where scipy is missing, take the plain
search.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

Kind = Literal["squared", "manhattan"]
_EXACT_BELOW: Final = 2.0**53
# A plain search of so many distances takes about as long as loading scipy (0.1 s, measured).
USE_TREE_FROM: Final = 2**22
_DISTANCES_A_BLOCK: Final = 2**20
# Square roots of whole numbers below 2^53 that differ may round to the same double; those within this are compared.
_AS_NEAR: Final = 1 + 1e-12


def nearest_points(vectors: NDArray[np.int64], positions: Array, kind: Kind) -> tuple[NDArray[np.int64], Array]:
    """For each position the number of the nearest point, the first of equals, and the distance: squared or manhattan.

    ``positions`` are whole numbers in the unit of the vectors, as doubles.
    """
    if len(positions) * len(vectors) < USE_TREE_FROM or (tree := _tree_of(vectors)) is None:
        return _plain(vectors, positions, kind)
    found = np.empty(len(positions), dtype=np.int64)
    distances = np.empty(len(positions))
    exact = _is_exact(vectors, positions, kind)
    for rows, search in ((np.flatnonzero(exact), _by_tree), (np.flatnonzero(~exact), None)):
        if len(rows):
            chosen = positions[rows]
            found[rows], distances[rows] = (
                _plain(vectors, chosen, kind) if search is None else search(tree, vectors, chosen, kind)
            )
    return found, distances


def _plain(vectors: NDArray[np.int64], positions: Array, kind: Kind) -> tuple[NDArray[np.int64], Array]:
    found = np.empty(len(positions), dtype=np.int64)
    distances = np.empty(len(positions))
    step = max(1, _DISTANCES_A_BLOCK // len(vectors))
    for start in range(0, len(positions), step):
        block = _distances(vectors, positions[start : start + step], kind)
        nearest = block.argmin(axis=1)
        found[start : start + step] = nearest
        distances[start : start + step] = block[np.arange(len(block)), nearest]
    return found, distances


def _distances(vectors: NDArray[np.int64], positions: Array, kind: Kind) -> Array:
    """All distances, coordinate by coordinate: a position far outside is rounded alike however many there are."""
    total = np.zeros((len(positions), len(vectors)))
    for axis in range(vectors.shape[1]):
        apart = vectors[None, :, axis] - positions[:, axis, None]
        total += np.abs(apart) if kind == "manhattan" else apart * apart
    return total


def _tree_of(vectors: NDArray[np.int64]) -> Any:  # noqa: ANN401 (scipy has no types)
    try:
        from scipy.spatial import cKDTree  # type: ignore[import-untyped]  # noqa: PLC0415 (an extra, loaded when it pays)
    except ImportError:
        return None
    return cKDTree(vectors.astype(np.float64))


def _is_exact(vectors: NDArray[np.int64], positions: Array, kind: Kind) -> NDArray[np.bool_]:
    """Whether every distance of a position, and of the boxes of the tree, is a whole number below 2^53."""
    reach = np.maximum(np.abs(positions - vectors.min(axis=0)), np.abs(positions - vectors.max(axis=0)))
    small: NDArray[np.bool_] = (reach if kind == "manhattan" else reach * reach).sum(axis=1) < _EXACT_BELOW
    return small


def _by_tree(
    tree: Any,  # noqa: ANN401
    vectors: NDArray[np.int64],
    positions: Array,
    kind: Kind,
) -> tuple[NDArray[np.int64], Array]:
    power = 1 if kind == "manhattan" else 2
    apart, numbers = tree.query(positions, k=2, p=power)
    found = numbers[:, 0].astype(np.int64)
    for row in np.flatnonzero(apart[:, 1] <= apart[:, 0] * _AS_NEAR).tolist():
        candidates = np.array(sorted(tree.query_ball_point(positions[row], apart[row, 0] * _AS_NEAR + 0.25, p=power)))
        found[row] = candidates[_distances(vectors[candidates], positions[row : row + 1], kind)[0].argmin()]
    difference = vectors[found] - positions
    distances = np.abs(difference).sum(axis=1) if kind == "manhattan" else (difference * difference).sum(axis=1)
    return found, distances
