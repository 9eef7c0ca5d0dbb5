"""Points, items and circles in a spec: the integers that decide which outputs are near."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from bipartite.domains import Cyclic, Items, Points
from bipartite.domains.points import FINEST_BITS, MAX_DISTANCE, UNIT
from bipartite.domains.sets import check_labels
from bipartite.errors import Problems, is_one_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from bipartite.domains import Domain

_COARSEST_BITS: Final = -500
_MAX_COORDINATE: Final = 2**53 - 1
# The largest error in the length of a unit vector × 2^25, rounded.
_UNIT_TOLERANCE: Final = 1.0


def read_set(domain: Mapping[str, Any], problems: Problems) -> Domain | None:
    """The points, items or circle that a spec describes, or None with problems added."""
    kind, described = next(iter(domain.items()))
    if kind == "cyclic":
        return _read_cyclic(described, problems)
    fields = ({"metric", "vectors"}, {"metric", "vectors", "bits"}) if kind == "points" else ({"ranks"},)
    if not isinstance(described, dict) or set(described) - {"labels"} not in fields:
        problems.add(
            "Expected points as {'metric': …, 'vectors': …} with 'bits' unless haversine, items as {'ranks': …}, "
            "both with or without 'labels'."
        )
        return None
    array = whole_matrix(described["vectors" if kind == "points" else "ranks"])
    if array is None:
        problems.add("Expected vectors or ranks as rows of whole numbers of one length, two rows or more.")
        return None
    labels = described.get("labels")
    if "labels" in described and not isinstance(labels, list):
        problems.add("Expected labels as a list.")
        return None
    names = check_labels(labels, len(array), problems)
    if kind == "items":
        if array.shape[0] != array.shape[1] or array.min() < 0 or array.max() >= len(array):
            problems.add("Expected ranks as a square matrix of whole numbers from 0 to N − 1.")
        return None if problems else Items.restore(array.astype(np.int32), names)
    _check_vectors(described, array, problems)
    return None if problems else Points.restore(described["metric"], array, described.get("bits", 0), names)


def _read_cyclic(described: object, problems: Problems) -> Cyclic | None:
    """The circle that a spec describes, or None with problems added."""
    if not isinstance(described, dict) or set(described) not in ({"size", "start"}, {"size", "labels"}):
        problems.add("Expected cyclic as {'size': …, 'start': …} or {'size': …, 'labels': […]}.")
        return None
    size, start, labels = (described.get(name) for name in ("size", "start", "labels"))
    if type(size) is not int or (labels is None and type(start) is not int):
        problems.add("Expected the size and the start of a circle as whole numbers.")
        return None
    if "labels" in described and not isinstance(labels, list):
        problems.add("Expected labels as a list.")
        return None
    try:
        return Cyclic(size, start=start or 0, labels=labels)
    except ValueError as error:
        problems.add(str(error))
        return None


def _check_vectors(described: Mapping[str, Any], vectors: NDArray[np.int64], problems: Problems) -> None:
    metric = described["metric"]
    if not is_one_of(metric, ("euclidean", "manhattan", "haversine")):
        problems.add("Expected metric 'euclidean', 'manhattan' or 'haversine'.")
    elif metric == "haversine":
        lengths = np.linalg.norm(vectors.astype(np.float64), axis=1)
        if "bits" in described or vectors.shape[1] != 3 or (np.abs(lengths - UNIT) > _UNIT_TOLERANCE).any():  # noqa: PLR2004
            problems.add("Expected haversine vectors as three whole numbers of length 2^25, without bits.")
    else:
        bits = described.get("bits")
        if type(bits) is not int or not _COARSEST_BITS <= bits <= FINEST_BITS:
            problems.add("Expected bits as a whole number, the exponent of two in the unit of the vectors.")
        width = [int(each) for each in np.ptp(vectors, axis=0)]
        if (sum(width) if metric == "manhattan" else sum(each**2 for each in width)) > MAX_DISTANCE:
            problems.add("Expected vectors whose distances stay below 2^53.")


def whole_matrix(rows: object) -> NDArray[np.int64] | None:
    """Rows of integers below 2^53 as a matrix, or None if they are anything else."""
    if not isinstance(rows, list) or len(rows) < 2 or not isinstance(rows[0], list) or not rows[0]:  # noqa: PLR2004
        return None
    for row in rows:
        if not isinstance(row, list) or len(row) != len(rows[0]):
            return None
        if set(map(type, row)) != {int} or max(row) > _MAX_COORDINATE or min(row) < -_MAX_COORDINATE:
            return None
    return cast("NDArray[np.int64]", np.array(rows, dtype=np.int64))
