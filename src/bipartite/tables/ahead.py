"""Prefetching: one stage of a stream runs in its own thread, a few batches ahead of the next stage."""

from __future__ import annotations

import queue
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

Item = TypeVar("Item")
_POLL_SECONDS: Final = 0.1


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
                self.waiting.put((what, entry), timeout=_POLL_SECONDS)
            except queue.Full:
                continue
            return

    def make(self) -> None:
        """Produce all items, until the consumer stops."""
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
    producer.
    """
    stage = _Stage(items, queue.Queue(depth))
    producer = threading.Thread(target=stage.make, daemon=True)
    producer.start()
    try:
        while True:
            what, entry = stage.waiting.get()
            if what == "failure":
                raise entry
            if what == "end":
                return
            yield entry
    finally:
        stage.stopped.set()
        producer.join()
