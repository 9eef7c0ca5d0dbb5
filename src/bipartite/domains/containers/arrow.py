"""Arrow arrays and chunked arrays, as values of ``privatize`` and as columns of tables.

No cell becomes a Python object: numbers are views of Arrow's memory, and labels become row numbers through Arrow's own
hash table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bipartite.domains.containers.cells import Cells, Container, refuse_object, refuse_type
from bipartite.lazily import LazyModule

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc
    from numpy.typing import NDArray

    from bipartite.domains.base import Domain
else:
    pa, pc = (
        LazyModule("pyarrow"),
        LazyModule("pyarrow.compute"),
    )  # already imported: the caller holds one of its arrays


class ArrowArray(Container["pa.Array | pa.ChunkedArray"]):
    """An Arrow array or chunked array; a chunked array comes back as one chunk."""

    __slots__ = ()

    def cells(self) -> Cells:
        return numbers_of(self.held)

    def numbers(self) -> Cells:
        if not isinstance(self.held, (pa.Array, pa.ChunkedArray)):
            table = isinstance(self.held, (pa.Table, pa.RecordBatch))
            advice = "select a column: table['age']" if table else "pass a number or a pyarrow.Array"
            refuse_object("pyarrow", self.held, advice)
        kind, types = self.held.type, pa.types
        if not (types.is_integer(kind) or types.is_floating(kind) or types.is_null(kind)):
            name = str(kind).partition("<")[0]
            refuse_type("an Arrow array", name, "use .cast('int64') or .cast('double')")
        return self.cells()

    @property
    def label_types(self) -> tuple[type, ...]:
        if not isinstance(self.held, (pa.Array, pa.ChunkedArray)):
            return ()
        kind, types = self.held.type, pa.types
        if types.is_null(kind):  # a column in which every value is missing has no other type
            return str, int
        text = types.is_string(kind) or types.is_large_string(kind)
        return (int,) if types.is_integer(kind) else (str,) if text else ()

    def codes(self, domain: Domain) -> Cells:
        chunked = isinstance(self.held, pa.ChunkedArray)
        return rows_of(self.held.combine_chunks() if chunked else self.held, domain)

    def of_numbers(self, reports: NDArray[Any], hidden: NDArray[np.bool_] | None) -> pa.Array | pa.ChunkedArray:
        return self._chunked(pa.array(reports, mask=hidden))

    def of_labels(self, found: list[Any], labels: tuple[Any, ...], *, nullable: bool) -> pa.Array | pa.ChunkedArray:  # noqa: ARG002
        text = pa.large_string() if pa.types.is_large_string(self.held.type) else pa.string()
        return self._chunked(pa.array(found, type=pa.int64() if isinstance(labels[0], int) else text))

    def _chunked(self, array: pa.Array) -> pa.Array | pa.ChunkedArray:
        return pa.chunked_array([array]) if isinstance(self.held, pa.ChunkedArray) else array


def numbers_of(array: pa.Array | pa.ChunkedArray) -> Cells:
    """The numbers of an Arrow array, 0 where one is missing; a view where Arrow allows one.

    Booleans are 0 and 1, decimals are rounded to the nearest double, and dictionaries are decoded.
    """
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_boolean(array.type):
        array = array.cast(pa.int8())
    elif pa.types.is_decimal(array.type):
        array = array.cast(pa.float64(), safe=False)
    if pa.types.is_null(array.type):
        return Cells(np.zeros(len(array), dtype=np.int64), np.ones(len(array), dtype=np.bool_) if len(array) else None)
    if array.null_count == 0:
        return Cells(array.to_numpy(zero_copy_only=False))
    # Arrow itself would turn whole numbers with nulls into floats.
    missing = array.is_null().to_numpy(zero_copy_only=False)
    return Cells(array.fill_null(pa.scalar(0, type=array.type)).to_numpy(zero_copy_only=False), missing)


def rows_of(array: pa.Array, domain: Domain) -> Cells:
    """The row numbers of the labels in an Arrow array, dictionary-encoded or not; −1 if unknown, 0 if missing."""
    labels = label_array(domain)
    if pa.types.is_dictionary(array.type):
        at = pc.index_in(_comparable(array.dictionary, labels.type), value_set=labels).take(array.indices)
    else:
        at = pc.index_in(_comparable(array, labels.type), value_set=labels)
    if at.null_count == 0:
        return Cells(at.to_numpy(zero_copy_only=False))
    # A null is either a missing value or an unknown label.
    rows = at.fill_null(-1).to_numpy(zero_copy_only=False)
    missing = array.is_null().to_numpy(zero_copy_only=False)
    if not missing.any():
        return Cells(rows)
    return Cells(np.where(missing, 0, rows), missing)


def label_array(domain: Domain) -> pa.Array:
    """The labels of a set as an Arrow array."""
    labels = domain.labels or ()
    return pa.array(labels, type=pa.string() if isinstance(labels[0], str) else pa.int64())


def _comparable(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """Cast the values to the type of the labels."""
    if array.type == pa.uint64():
        # Labels lie far below 2^63, so larger values still match none.
        array = pc.min_element_wise(array, pa.scalar(2**63 - 1, type=pa.uint64()), skip_nulls=False)
    return array if array.type == kind else array.cast(kind)
