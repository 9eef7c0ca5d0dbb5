"""Storing reports in SQLite so that they are returned unchanged, with the same type.

Integers, floats (eight bytes, bit for bit) and labels are stored as SQLite's own types; the report of a flat category,
an array of bits or numbers, as bytes after a short header with its type and shape; a tuple as a JSON array after such a
header.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from bipartite.domains.product import tuple_text
from bipartite.errors import LedgerFileError

if TYPE_CHECKING:
    from bipartite.domains import Domain

Report = int | float | str | tuple[Any, ...] | np.generic | NDArray[Any]
"""A plain number, a label, a tuple of these, or the array of a flat category."""
_TUPLE: Final = b"json;;"
Stored = int | float | str | bytes


def plain(report: object, domain: Domain | None) -> Report:
    """A report as a plain number or label, whatever the type of the value; arrays stay arrays."""
    if isinstance(report, (int, float, np.number)) and domain is not None and domain.labels is None:
        return int(report) if domain.whole else float(report)
    if isinstance(report, (int, float, str, tuple, np.generic, np.ndarray)):
        return report
    raise AssertionError(f"a mechanism reported {type(report).__name__}, which the ledger does not know how to store")


def to_stored(report: Report) -> Stored:
    """Convert a report to a SQLite value."""
    if isinstance(report, tuple):
        return _TUPLE + tuple_text(report).encode()
    if not isinstance(report, (np.ndarray, np.generic)):
        return report
    array = np.asarray(report)
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    shape = ",".join(map(str, array.shape))
    return f"{array.dtype.kind}{array.dtype.itemsize};{shape};".encode() + little.tobytes()


def from_stored(stored: Stored) -> Report:
    """Convert a SQLite value back to the report."""
    if not isinstance(stored, bytes):
        return stored
    try:
        if stored.startswith(_TUPLE):
            return tuple(json.loads(stored.removeprefix(_TUPLE)))
        kind, shape, held = stored.split(b";", 2)
        array = np.frombuffer(held, dtype=np.dtype("<" + kind.decode()))
        array = array.reshape([int(side) for side in shape.split(b",") if side])
    except (ValueError, TypeError):
        raise LedgerFileError(
            "A stored report is damaged; restore the ledger from a backup, and run `bipartite ledger check`."
        ) from None
    native = array.astype(array.dtype.newbyteorder("="))
    return native if array.shape else native[()]
