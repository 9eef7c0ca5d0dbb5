"""The layout of a release: equal pieces, whatever the input was cut into.

Batches of an input follow its files, chunks and bytes, and bytes follow private values: a release cut as they are would
tell them. So every output is cut again, by numbers of rows that depend on nothing but the released rows themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bipartite.tables.extras import pa

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MOST: Final = 122_880
"""Rows in a piece, a row group of Parquet; fewer if the first released rows are wide: one stays at about 16 MB."""
_BYTES: Final = 2**24
VECTOR: Final = 2048
"""Pieces are multiples of this many rows."""
_SAMPLE: Final = 1000


def equal_pieces(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Regroup released rows into batches of equal size, of which only the last is shorter."""
    waiting: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        waiting.append(batch)
        rows += batch.num_rows
        if rows < (size or _SAMPLE):
            continue
        table = pa.Table.from_batches(waiting)
        size = size or _rows_at_once(table)
        while table.num_rows >= size:
            yield from _joined(table.slice(0, size))
            table = table.slice(size)
        waiting, rows = table.to_batches(), table.num_rows
    if waiting:
        yield from _joined(pa.Table.from_batches(waiting))


def _joined(table: pa.Table) -> list[pa.RecordBatch]:
    """The rows of a table as one batch in memory of its own; none if there are no rows.

    Arrow does not copy a single chunk, and writes a part of one with some bytes of the rows after it: sizes would tell
    which pieces were one chunk of the input. An empty chunk more, and it always copies.
    """
    found: list[pa.RecordBatch] = pa.concat_tables([table, table.slice(0, 0)]).combine_chunks().to_batches()
    return found


def _rows_at_once(table: pa.Table) -> int:
    (first,) = _joined(table.slice(0, _SAMPLE))
    size: int = pa.ipc.get_record_batch_size(first)
    return min(MOST, max(VECTOR, _BYTES * _SAMPLE // size // VECTOR * VECTOR))
