"""Products in a spec: their parts, and the loss of a wrong report in each part, as integers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from bipartite.domains import Product
from bipartite.domains.base import MAX_SPEC_INTEGER, as_double
from bipartite.domains.product import MAX_TABLE_LOSS, check_parts
from bipartite.mechanisms.spec.sets import whole_matrix

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from bipartite.domains import Domain
    from bipartite.errors import Problems

_FIELDS: Final = {"bits", "losses", "parts", "weights"}
# The exponents of doubles lie within this range.
_MOST_BITS: Final = 1100


def read_product(
    described: object, read: Callable[[object, Problems], Domain | None], problems: Problems
) -> Product | None:
    """The product that a spec describes, or None with problems added; ``read`` reads its parts."""
    lists = ("parts", "weights", "losses")
    if (
        not isinstance(described, dict)
        or set(described) != _FIELDS
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
    parts = tuple(read(part, problems) for part in described["parts"])
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
    matrix = whole_matrix(given)
    if matrix is None or matrix.shape != (len(part), len(part)) or matrix.min() < 0:
        return None, 0
    return matrix, int(matrix.max())
