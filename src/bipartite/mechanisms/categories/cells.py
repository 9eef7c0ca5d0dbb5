"""Reports of flat categories as cells of a table: a row of bits or numbers as text, a single number unchanged.

A row is written as ``x`` followed by its numbers in hexadecimal, most significant digit first: two digits for each byte
of the bits of :class:`~bipartite.OUE`, :class:`~bipartite.SUE`, :class:`~bipartite.SubsetSelection` and
:class:`~bipartite.RAPPOR` (eight values per byte, the first one in the least significant bit), sixteen for each number
of :class:`~bipartite.OLH` (the seeds, then the bucket). :class:`~bipartite.HadamardResponse` reports one integer. This
is the same in every format, frame and engine; the letter keeps spreadsheets and CSV readers from taking a cell of
digits for a number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from bipartite.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bipartite.mechanisms import Mechanism

MARK: Final = "x"


def cell_bytes(mechanism: Mechanism) -> int:
    """The number of bytes of a cell."""
    dtype, width = mechanism.report_shape
    return dtype.itemsize if width is None else len(MARK) + 2 * dtype.itemsize * width


def to_cells(reports: NDArray[Any]) -> NDArray[Any]:
    """Reports as one array: integers, or ASCII strings."""
    if reports.ndim == 1:
        return reports.astype(np.int64)
    if not len(reports):
        return np.empty(0, dtype="S1")
    digits = np.frombuffer(reports.astype(reports.dtype.newbyteorder(">")).tobytes().hex().encode(), dtype="S1")
    rows = digits.reshape(len(reports), -1)
    marked = np.concatenate([np.full((len(rows), 1), MARK, dtype="S1"), rows], axis=1)
    return np.ascontiguousarray(marked).view(f"S{marked.shape[1]}").ravel()


def from_cells(mechanism: Mechanism, cells: Sequence[object]) -> NDArray[Any]:
    """The reports in these cells, none of them missing; refused if one cannot have come from the mechanism."""
    dtype, width = mechanism.report_shape
    found = _numbers(cells, dtype) if width is None else _rows(cells, dtype, width)
    if found is None:
        raise DataError(
            f"Expected reports of {mechanism!r}, as it returns them or as tables store them, got something else; pass "
            "them unchanged, without missing ones."
        )
    mechanism.count(found)  # refuses reports that cannot have come from it
    return found


def as_reports(mechanism: Mechanism, reports: object) -> object:
    """The reports if a column of cells is given; anything else unchanged, for ``count`` to check."""
    if not hasattr(reports, "__len__") or isinstance(reports, (str, bytes)):
        return reports
    held = reports if isinstance(reports, np.ndarray) else np.asarray(reports)
    dtype, width = mechanism.report_shape
    is_column = held.ndim == 1 and (held.dtype.kind in "OUT" or (width is None and held.dtype != dtype))
    return from_cells(mechanism, held.tolist()) if is_column and len(held) else reports


def _numbers(cells: Sequence[object], dtype: np.dtype[Any]) -> NDArray[Any] | None:
    most = int(np.iinfo(dtype).max)
    try:
        numbers = [int(each) if isinstance(each, str) else each for each in cells]
    except ValueError:
        return None
    fit = all(isinstance(each, int) and not isinstance(each, bool) and 0 <= each <= most for each in numbers)
    return np.array(numbers, dtype=dtype) if fit else None


def _rows(cells: Sequence[object], dtype: np.dtype[Any], width: int) -> NDArray[Any] | None:
    digits, length = 2 * dtype.itemsize * width, len(MARK) + 2 * dtype.itemsize * width
    # All of a million cells at once: each is text of this length, begins with the mark, and has no other.
    if set(map(type, cells)) != {str} or set(map(len, cast("Sequence[str]", cells))) != {length}:
        return None
    joined = "".join(cast("Sequence[str]", cells))
    if joined[::length] != MARK * len(cells) or joined.count(MARK) != len(cells):
        return None
    try:
        held = bytes.fromhex(joined.replace(MARK, ""))
    except ValueError:
        return None
    if 2 * len(held) != len(cells) * digits:  # fromhex skips blanks
        return None
    return np.frombuffer(held, dtype=dtype.newbyteorder(">")).astype(dtype).reshape(-1, width)
