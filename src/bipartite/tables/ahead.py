"""Working ahead: one stage of a stream runs in a thread of its own, a few batches before the next stage."""

from __future__ import annotations

import queue
import threading
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Item = TypeVar("Item")


def ahead(items: Iterable[Item], depth: int) -> Iterator[Item]:
    """The same items in the same order, made by another thread, at most ``depth`` of them waiting.

    What the maker raises is raised here, after the items before it. When the taker stops early, so does the maker.
    """
    waiting: queue.Queue[tuple[bool, Item | BaseException | None]] = queue.Queue(depth)
    stopped = threading.Event()

    def put(entry: tuple[bool, Item | BaseException | None]) -> bool:
        while not stopped.is_set():
            try:
                waiting.put(entry, timeout=0.1)
            except queue.Full:
                continue
            return True
        return False

    def make() -> None:
        try:
            for item in items:
                if not put((True, item)):
                    return
            put((False, None))
        except BaseException as failure:  # noqa: BLE001 (raised again in the thread of the taker)
            put((False, failure))

    maker = threading.Thread(target=make, daemon=True)
    maker.start()
    try:
        while True:
            more, item = waiting.get()
            if more:
                yield item  # type: ignore[misc]  # an item, as the first part says
                continue
            if isinstance(item, BaseException):
                raise item
            return
    finally:
        stopped.set()
        maker.join()
