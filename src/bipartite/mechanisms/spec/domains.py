"""The domains of specs: one reader for each kind, by the field that names it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from bipartite.domains import Cyclic, Integers, Interval, Items, Points, Product
from bipartite.domains.base import MAX_SPEC_INTEGER, as_double
from bipartite.domains.points import FINEST_BITS, MAX_DISTANCE, UNIT
from bipartite.domains.product import MAX_TABLE_LOSS, check_parts
from bipartite.domains.sets import check_labels
from bipartite.errors import Problems, is_one_of, shown
from bipartite.mechanisms.spec.fields import is_json_integer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.domains import Domain

_COARSEST_BITS: Final = -500
_MAX_COORDINATE: Final = 2**53 - 1
# The largest error in the length of a unit vector × 2^25, rounded.
_UNIT_TOLERANCE: Final = 1.0
# The exponents of doubles lie within this range.
_MOST_BITS: Final = 1100


def read_domain(domain: object, problems: Problems) -> Domain | None:
    """The domain that a spec describes, or None with the problems noted."""
    fields = frozenset(domain) if isinstance(domain, Mapping) else frozenset()
    reader = _READERS.get(fields)
    if reader is None:
        problems.add(
            "Expected domain as {'integers': [low, high]}, {'interval': [low, high], 'points': …, 'rounding': …}, "
            "{'cyclic': {…}}, {'points': {…}}, {'items': {…}} or {'product': {…}}."
        )
        return None
    try:
        return reader(cast("Mapping[str, Any]", domain), problems)
    except ValueError as error:
        problems.add(str(error))
        return None


def _read_integers(domain: Mapping[str, Any], problems: Problems) -> Domain | None:
    return Integers(*domain["integers"]) if _has_ends(domain["integers"], (int,), problems) else None


def _read_interval(domain: Mapping[str, Any], problems: Problems) -> Domain | None:
    ends, points = domain["interval"], domain["points"]
    if not _has_ends(ends, (int, float), problems):
        return None
    if not is_json_integer(points):
        problems.add(f"Expected points as a whole number, got {shown(points)}.")
        return None
    return Interval(ends[0], ends[1], points=points, rounding=domain["rounding"])


def _has_ends(ends: object, kinds: tuple[type, ...], problems: Problems) -> bool:
    if isinstance(ends, list) and len(ends) == 2 and all(type(end) in kinds for end in ends):  # noqa: PLR2004
        return True
    problems.add("Expected the ends of a domain as a list of two numbers, whole ones for integers.")
    return False


def _read_cyclic(domain: Mapping[str, Any], problems: Problems) -> Domain | None:
    described = domain["cyclic"]
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
    return Cyclic(size, start=start or 0, labels=labels)


def _read_set(domain: Mapping[str, Any], problems: Problems) -> Domain | None:
    kind, described = next(iter(domain.items()))
    fields = ({"metric", "vectors"}, {"metric", "vectors", "bits"}) if kind == "points" else ({"ranks"},)
    if not isinstance(described, dict) or set(described) - {"labels"} not in fields:
        problems.add(
            "Expected points as {'metric': …, 'vectors': …} with 'bits' unless haversine, items as {'ranks': …}, "
            "both with or without 'labels'."
        )
        return None
    array = _whole_matrix(described["vectors" if kind == "points" else "ranks"])
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


def _whole_matrix(rows: object) -> NDArray[np.int64] | None:
    """Rows of integers below 2^53 as a matrix, or None if they are anything else."""
    if not isinstance(rows, list) or len(rows) < 2 or not isinstance(rows[0], list) or not rows[0]:  # noqa: PLR2004
        return None
    for row in rows:
        if not isinstance(row, list) or len(row) != len(rows[0]):
            return None
        if set(map(type, row)) != {int} or max(row) > _MAX_COORDINATE or min(row) < -_MAX_COORDINATE:
            return None
    return cast("NDArray[np.int64]", np.array(rows, dtype=np.int64))


def _read_product(domain: Mapping[str, Any], problems: Problems) -> Domain | None:
    described = domain["product"]
    lists = ("parts", "weights", "losses")
    if (
        not isinstance(described, dict)
        or set(described) != {"bits", *lists}
        or not all(isinstance(described[name], list) for name in lists)
        or len({len(described[name]) for name in lists}) > 1
    ):
        problems.add(
            "Expected product as {'parts': […], 'weights': […], 'losses': […], 'bits': …}, lists of one length."
        )
        return None
    weights, bits = described["weights"], described["bits"]
    if not all(type(each) in (int, float) and 0 < as_double(each) < math.inf for each in weights):
        problems.add("Expected weights as positive numbers, one per part.")
    if type(bits) is not int or abs(bits) > _MOST_BITS:
        problems.add("Expected bits as a whole number, the exponent of two in the unit of the losses.")
    if any(isinstance(part, dict) and "product" in part for part in described["parts"]):
        problems.add("Expected parts that are not products themselves; name all parts at once.")
        return None
    parts = tuple(read_domain(part, problems) for part in described["parts"])
    if not problems:
        check_parts(parts, problems)
    if problems:
        return None
    found = [_steps(given, part) for given, part in zip(described["losses"], parts, strict=True) if part is not None]
    steps, largest = tuple(step for step, _ in found), sum(most for _, most in found)
    most = MAX_SPEC_INTEGER if all(type(step) is int for step in steps) else MAX_TABLE_LOSS
    if any(step is None for step in steps) or largest > most:
        problems.add(
            "Expected losses as a whole number of at least 1 for a line and a square matrix of whole numbers of at "
            f"least 0 for a set, whose sums stay below 2^{most.bit_length()}."
        )
        return None
    known = tuple(part for part in parts if part is not None)
    return Product.restore(known, tuple(map(float, weights)), bits, tuple(step for step in steps if step is not None))


def _steps(given: object, part: Domain) -> tuple[int | NDArray[np.int64] | None, int]:
    """(the loss of one step on a line, or the matrix of losses on a set; the largest loss); (None, 0) if invalid."""
    if part.has_ends:
        return (given, given * (len(part) - 1)) if type(given) is int and given >= 1 else (None, 0)
    matrix = _whole_matrix(given)
    if matrix is None or matrix.shape != (len(part), len(part)) or matrix.min() < 0:
        return None, 0
    return matrix, int(matrix.max())


_READERS: Final[Mapping[frozenset[str], Callable[[Mapping[str, Any], Problems], Domain | None]]] = {
    frozenset({"integers"}): _read_integers,
    frozenset({"interval", "points", "rounding"}): _read_interval,
    frozenset({"cyclic"}): _read_cyclic,
    frozenset({"points"}): _read_set,
    frozenset({"items"}): _read_set,
    frozenset({"product"}): _read_product,
}
