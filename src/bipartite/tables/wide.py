"""Reports of flat categories in Arrow: the cells of :mod:`bipartite.mechanisms.categories.cells`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.mechanisms.categories import cells
from bipartite.tables.extras import pa

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.mechanisms import Mechanism

_LARGEST: Final = 2**31 - 1  # bytes of text that one Arrow array can hold


def cell_type(mechanism: Mechanism) -> pa.DataType:
    """The Arrow type of cells: integers or text."""
    return pa.int64() if mechanism.report_shape[1] is None else pa.string()


def most_rows(mechanism: Mechanism) -> int:
    """The number of cells that fit into one Arrow array."""
    return _LARGEST // cells.cell_bytes(mechanism)


def to_cells(reports: NDArray[Any], missing: NDArray[np.bool_] | None = None) -> pa.Array:
    """Convert reports to an Arrow array, with nulls for missing rows."""
    held = cells.to_cells(reports)
    if missing is not None:
        filled = np.zeros(len(missing), dtype=held.dtype)
        filled[~missing] = held
        held = filled
    found = pa.array(held, mask=missing)
    if isinstance(found, pa.ChunkedArray):  # of many bytes
        found = found.combine_chunks()
    return found if reports.ndim == 1 else found.cast(pa.string())


def from_cells(mechanism: Mechanism, column: pa.Array) -> NDArray[Any]:
    """Read reports from an Arrow array without nulls; those that cannot have come from the mechanism are refused."""
    return cells.from_cells(mechanism, column.cast(cell_type(mechanism)).to_pylist())
