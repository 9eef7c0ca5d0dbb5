"""Loss functions: the domain's own loss, a function of it, or a matrix.

``loss=None`` is the domain's own: distance on lines and points, the given matrix on items. ``"squared"`` is its square,
``"zero-one"`` is 1 unless the report is the value itself, a function is applied to the domain's own losses, and a
matrix holds a loss for every value (row) and report (column).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from bipartite.errors import InputError, is_one_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.domains import Domain, SetDomain

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
        domain, chosen = self._domain, self._outputs.indices
        if self._outputs.own_numbers:
            values = domain.decode_array(np.arange(start, stop))
            return cast("Array", np.abs(self._outputs.to_numpy()[None, :] - values[:, None]))
        if domain.has_ends:
            return np.abs(self._steps(start, stop)) * domain.step
        losses = cast("SetDomain", domain).losses
        if chosen is not None and domain.metric not in {None, "callable"}:
            # Distances are symmetric, and there are fewer outputs than values.
            if self._columns is None:
                self._columns = np.array([losses(int(y)) for y in chosen])
            return self._columns[:, start:stop].T
        rows = np.array([losses(x) for x in range(start, stop)])
        return rows if chosen is None else rows[:, chosen]

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
    if domain.has_ends and loss is None:
        return (len(domain) - 1) * domain.step
    if domain.has_ranges and function is not None:
        # The distances are known, but a function of them may peak anywhere.
        steps = np.arange(len(domain) if domain.has_ends else len(domain) // 2 + 1, dtype=np.float64)
        return float(applied(function, steps * domain.step).max())
    rows = LossRows(domain, domain, loss)
    return max(float(rows.rows(x, x + 1).max()) for x in range(len(domain)))
