"""Loss functions: the domain's own loss, a function of it, or a matrix.

``loss=None`` is the domain's own: distance on lines and points, the given matrix on items. ``"squared"`` is its square,
``"zero-one"`` is 1 unless the report is the value itself, a function is applied to the domain's own losses, and a
matrix holds a loss for every value (row) and report (column).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from bipartite.domains import Cyclic, SetDomain
from bipartite.errors import InputError, is_one_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.domains import Domain, LineDomain

    Array = NDArray[np.float64]

Function = Callable[[Any], Any]
Loss = Literal["squared", "zero-one"] | Function | Any | None


def check_loss(loss: Loss, rows: int, columns: int) -> Array | None:
    """Refuse anything that is not a loss; a matrix is returned as an array."""
    if loss is None or callable(loss) or is_one_of(loss, ("squared", "zero-one")):
        return None
    expected = f"Expected loss as None, 'squared', 'zero-one', a function of losses, or a {rows} × {columns} matrix"
    try:
        matrix = np.asarray(loss, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{expected}, got {type(loss).__name__}; loss=None uses the domain's own.") from None
    if matrix.shape != (rows, columns) or not np.isfinite(matrix).all():
        got = f"shape {matrix.shape}" if matrix.shape != (rows, columns) else "NaN or infinity"
        raise InputError(f"{expected}, got {got}; loss=None uses the domain's own.")
    return matrix


def function_of(loss: Loss) -> Function | None:
    """The function that a loss applies to the domain's own loss; None if it is not such a function."""
    if loss is None:
        return lambda own: own
    if isinstance(loss, str):
        return np.square if loss == "squared" else None
    return cast("Function", loss) if callable(loss) else None


def applied(function: Function, own: Array) -> Array:
    """Apply a function to the domain's own losses, and check the result."""
    found = np.asarray(function(own))
    found = found.astype(np.float64) if found.dtype.kind in "biuf" else np.empty(0)
    if found.shape != own.shape or not np.isfinite(found).all():
        raise InputError(
            "Expected a loss function that maps an array to finite numbers of the same shape; try np.square."
        )
    return found


class LossRows:
    """The losses of all reports, a few values at a time, without an N × N table."""

    __slots__ = ("_columns", "_domain", "_loss", "_matrix", "_outputs")

    def __init__(self, domain: Domain, outputs: Domain, loss: Loss) -> None:
        self._matrix = check_loss(loss, len(domain), len(outputs))
        self._domain, self._outputs, self._loss = domain, outputs, loss
        self._columns: Array | None = None

    def rows(self, start: int, stop: int) -> Array:
        """The losses of values start … stop − 1, one row per value."""
        if self._matrix is not None:
            return self._matrix[start:stop]
        if self._outputs.own_labels:
            raise InputError(
                "The reports are labels, not values, so none is nearer than another; "
                f"give loss= as a {len(self._domain)} × {len(self._outputs)} matrix."
            )
        if is_one_of(self._loss, ("zero-one",)):
            # On a set another value may also have zero loss; numbers that are not values have no index.
            wrong = self._own(start, stop) if self._outputs.own_numbers else self._steps(start, stop)
            costs: Array = (wrong != 0).astype(np.float64)
            return costs
        return applied(cast("Function", function_of(self._loss)), self._own(start, stop))

    def _own(self, start: int, stop: int) -> Array:
        if isinstance(self._domain, SetDomain):
            if self._outputs.indices is not None and self._domain.metric not in {None, "callable"}:
                # Distances are symmetric, and there are fewer outputs than values.
                if self._columns is None:
                    self._columns = np.array([self._domain.losses(int(y)) for y in self._outputs.indices])
                return self._columns[:, start:stop].T
            rows = np.array([self._domain.losses(x) for x in range(start, stop)])
            return cast("Array", rows if self._outputs.indices is None else rows[:, self._outputs.indices])
        if self._outputs.own_numbers:
            values = self._domain.decode_array(np.arange(start, stop))
            apart: Array = np.abs(self._outputs.to_numpy()[None, :] - values[:, None])
            return apart
        away: Array = np.abs(self._steps(start, stop)) * cast("LineDomain", self._domain).step
        return away

    def _steps(self, start: int, stop: int) -> NDArray[np.int64]:
        """The difference of indices between each output and each value; padded outputs lie past the ends."""
        return output_positions(self._domain, self._outputs)[None, :] - np.arange(start, stop)[:, None]


def output_positions(domain: Domain, outputs: Domain) -> NDArray[np.int64]:
    """The index of each output among the values; padded outputs lie past the ends."""
    if outputs.indices is not None:
        return outputs.indices
    return np.arange(len(outputs)) - (len(outputs) - len(domain)) // 2


def largest_loss(domain: Domain, loss: Loss = None) -> float:
    """The largest loss between two values, by which QLoss divides."""
    function = function_of(loss)
    if isinstance(domain, Cyclic) and function is not None:
        return float(applied(function, np.arange(len(domain) // 2 + 1, dtype=np.float64)).max())
    if not isinstance(domain, SetDomain) and function is not None:
        # On a line the distances are known, but a function of them may peak anywhere.
        step = cast("LineDomain", domain).step
        if loss is None:
            return (len(domain) - 1) * step
        own: Array = np.arange(len(domain), dtype=np.float64) * step
        return float(applied(function, own).max())
    rows = LossRows(domain, domain, loss)
    return max(float(rows.rows(x, x + 1).max()) for x in range(len(domain)))
