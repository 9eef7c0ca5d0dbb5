"""A report as SQLite holds it, and back: the same report, of the same type, however often it is asked for.

Whole numbers, floats (eight bytes, bit for bit) and labels are stored as SQLite's own types; a report of a flat
category, which is an array of bits or numbers, as its bytes behind a short text that names type and shape; a tuple as
a JSON array behind such a text.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from bipartite.domains.product_codec import tuple_text
from bipartite.errors import LedgerFileError

if TYPE_CHECKING:
    from bipartite.domains import Domain

Report = int | float | str | tuple[Any, ...] | np.generic | NDArray[Any]
"""A plain number, a label, a tuple of these, or the array of a flat category."""
_TUPLE: Final = b"json;;"
Stored = int | float | str | bytes


def plain(report: object, domain: Domain | None) -> Report:
    """A report as a plain number or label, whatever type of number the value had; arrays stay arrays."""
    if isinstance(report, (int, float, np.number)) and domain is not None and domain.labels is None:
        return int(report) if domain.whole else float(report)
    if isinstance(report, (int, float, str, tuple, np.generic, np.ndarray)):
        return report
    msg = f"a mechanism reported {type(report).__name__}, which the ledger does not know how to keep"
    raise AssertionError(msg)


def to_stored(report: Report) -> Stored:
    """A report as a value of SQLite."""
    if isinstance(report, tuple):
        return _TUPLE + tuple_text(report).encode()
    if not isinstance(report, (np.ndarray, np.generic)):
        return report
    array = np.asarray(report)
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    shape = ",".join(map(str, array.shape))
    return f"{array.dtype.kind}{array.dtype.itemsize};{shape};".encode() + little.tobytes()


def from_stored(stored: Stored) -> Report:
    """The report that was stored."""
    if not isinstance(stored, bytes):
        return stored
    try:
        if stored.startswith(_TUPLE):
            return tuple(json.loads(stored.removeprefix(_TUPLE)))
        kind, shape, held = stored.split(b";", 2)
        array = np.frombuffer(held, dtype=np.dtype("<" + kind.decode()))
        array = array.reshape([int(side) for side in shape.split(b",") if side])
    except (ValueError, TypeError):
        msg = "A stored report is damaged; restore the ledger from a backup, and run `bipartite ledger check`."
        raise LedgerFileError(msg) from None
    native = array.astype(array.dtype.newbyteorder("="))
    return native if array.shape else native[()]
