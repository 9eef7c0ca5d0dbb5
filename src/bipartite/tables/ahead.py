"""Prefetching: one stage of a stream runs in its own thread, a few batches ahead of the next stage."""

from __future__ import annotations

import queue
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

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
