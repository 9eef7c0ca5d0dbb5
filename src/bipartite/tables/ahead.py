"""Working ahead: one stage of a stream runs in a thread of its own, a few batches before the next stage."""

from __future__ import annotations

import queue
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

Item = TypeVar("Item")
_LOOK_UP_SECONDS: Final = 0.1


@dataclass(slots=True)
class _Stage:
    """A maker of items, the few that wait, and whether anyone still wants them."""

    items: Iterable[Any]
    waiting: queue.Queue[tuple[str, Any]]
    stopped: threading.Event = field(default_factory=threading.Event)

    def put(self, what: str, entry: object) -> None:
        """Wait for room, unless nobody takes any more."""
        while not self.stopped.is_set():
            try:
                self.waiting.put((what, entry), timeout=_LOOK_UP_SECONDS)
            except queue.Full:
                continue
            return

    def make(self) -> None:
        """Make all items, or as many as are wanted."""
        try:
            for item in self.items:
                self.put("item", item)
                if self.stopped.is_set():
                    return
            self.put("end", None)
        except BaseException as failure:  # noqa: BLE001 (raised again in the thread of the taker)
            self.put("failure", failure)


def ahead(items: Iterable[Item], depth: int) -> Generator[Item, None, None]:
    """The same items in the same order, made by another thread, at most ``depth`` of them waiting.

    What the maker raises is raised here, after the items before it. When the taker stops early, so does the maker.
    """
    stage = _Stage(items, queue.Queue(depth))
    maker = threading.Thread(target=stage.make, daemon=True)
    maker.start()
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
        maker.join()
