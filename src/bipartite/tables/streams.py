"""Streams of batches: a stage that runs ahead in its own thread, and the layout of a release in equal pieces."""

from __future__ import annotations

import queue
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeVar

from bipartite.tables.extras import pa

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

Item = TypeVar("Item")
POLL_SECONDS: Final = 0.1
_THREAD: Final = threading.local()


class StoppedError(Exception):
    """Raised in a producer that waits for something while nobody wants its items any more."""


def check_wanted() -> None:
    """Raise in the thread of a producer whose consumer has stopped: whatever waits calls this now and then."""
    stage = getattr(_THREAD, "stage", None)
    if stage is not None and stage.stopped.is_set():
        raise StoppedError


@dataclass(slots=True)
class _Stage:
    """A producer of items, the queue of finished ones, and whether the consumer has stopped."""

    items: Iterable[Any]
    waiting: queue.Queue[tuple[str, Any]]
    stopped: threading.Event = field(default_factory=threading.Event)

    def put(self, what: str, entry: object) -> None:
        """Wait for room in the queue, unless the consumer has stopped."""
        while not self.stopped.is_set():
            try:
                self.waiting.put((what, entry), timeout=POLL_SECONDS)
            except queue.Full:
                continue
            return

    def get(self) -> tuple[str, Any]:
        """Wait for an entry, unless the stage that consumes it is not wanted any more."""
        while True:
            try:
                return self.waiting.get(timeout=POLL_SECONDS)
            except queue.Empty:
                check_wanted()

    def make(self) -> None:
        """Produce all items, until the consumer stops."""
        _THREAD.stage = self
        try:
            for item in self.items:
                self.put("item", item)
                if self.stopped.is_set():
                    return
            self.put("end", None)
        except BaseException as failure:  # noqa: BLE001 (raised again in the consumer's thread)
            self.put("failure", failure)


def ahead(items: Iterable[Item], depth: int) -> Generator[Item, None, None]:
    """Yield the same items in the same order, produced by another thread with at most ``depth`` of them queued.

    An exception of the producer is raised here, after the items before it. When the consumer stops early, so does the
    producer, and it is waited for: a thread that outlives the interpreter may abort it.
    """
    stage = _Stage(items, queue.Queue(depth))
    producer = threading.Thread(target=stage.make, daemon=True)
    producer.start()
    try:
        while True:
            what, entry = stage.get()
            if what == "failure":
                raise entry
            if what == "end":
                return
            yield entry
    finally:
        stage.stopped.set()
        producer.join()


# --- The layout of a release: equal pieces, whatever the input was cut into.
#
# Batches of an input follow its files, chunks and bytes, and bytes follow private values: a release cut as they are
# would tell them. So every output is cut again, by numbers of rows that depend on nothing but the released rows.


MOST: Final = 122_880
"""Rows in a piece, a row group of Parquet; fewer if the first released rows are wide: one stays at about 16 MB."""
_BYTES: Final = 2**24
VECTOR: Final = 2048
"""Pieces are multiples of this many rows."""
_SAMPLE: Final = 1000


def equal_pieces(batches: Iterable[pa.RecordBatch], *, encoded: bool = False) -> Iterator[pa.RecordBatch]:
    """Regroup released rows into batches of equal size, of which only the last is shorter.

    If what follows is ``encoded`` value by value, as in Parquet, a piece of one batch needs no memory of its own.
    """
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
            yield from _joined(table.slice(0, size), encoded=encoded)
            table = table.slice(size)
        waiting, rows = table.to_batches(), table.num_rows
    if waiting:
        yield from _joined(pa.Table.from_batches(waiting), encoded=encoded)


def _joined(table: pa.Table, *, encoded: bool = False) -> list[pa.RecordBatch]:
    """The rows of a table as one batch, unless ``encoded`` in memory of its own; none if there are no rows.

    Arrow does not copy a single chunk, and writes a part of one with some bytes of the rows after it: sizes would tell
    which pieces were one chunk of the input. An empty chunk more, and it always copies.
    """
    whole = encoded and table.num_rows and all(column.num_chunks == 1 for column in table.columns)
    table = table if whole else pa.concat_tables([table, table.slice(0, 0)]).combine_chunks()
    found: list[pa.RecordBatch] = table.to_batches()
    return found


def _rows_at_once(table: pa.Table) -> int:
    (first,) = _joined(table.slice(0, _SAMPLE))
    size: int = pa.ipc.get_record_batch_size(first)
    return min(MOST, max(VECTOR, _BYTES * _SAMPLE // size // VECTOR * VECTOR))
