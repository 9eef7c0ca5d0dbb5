"""One writer a worker: what waits is one transaction, and nobody is answered before it is on the disk."""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from bipartite.collect.store import Arrival, ClosedError, Counted, Store
from bipartite.errors import BipartiteError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import date

_log: Final = logging.getLogger(__name__)
_MOST: Final = 20_000  # reports of one transaction
_MOST_WAITING: Final = 100_000  # reports; who comes then is asked to come again
_QUIET: Final = 1.0  # seconds without a report, after which the log is tidied away


class BusyError(Exception):
    """The report was not counted; it can be sent again."""


class _Post(NamedTuple):
    arrivals: Sequence[Arrival]
    answer: asyncio.Future[Counted]


def utc_today() -> date:
    """The day on this machine's clock, in UTC."""
    return datetime.now(UTC).date()


class Writer:
    """Counts reports in a thread of its own, which has the only connection that writes."""

    def __init__(self, open_store: Callable[[], Store], today: Callable[[], date] = utc_today) -> None:
        self._open, self._today = open_store, today
        self._posts: queue.SimpleQueue[_Post | None] = queue.SimpleQueue()
        self._waiting = 0
        self._loop = asyncio.get_running_loop()
        self._store: Store | None = None
        self.failure: str | None = None
        """Why commits fail; None while they do not."""
        self.late: str | None = None
        """That the clock was set back, if it was."""
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
        self._thread.start()

    async def count(self, arrivals: Sequence[Arrival]) -> Counted:
        """Count these reports, together with whatever else waits; with none, see whether commits work."""
        if self._waiting + len(arrivals) > _MOST_WAITING:
            raise BusyError
        self._waiting += len(arrivals)
        post = _Post(arrivals, self._loop.create_future())
        self._posts.put(post)
        try:
            return await post.answer
        finally:
            self._waiting -= len(arrivals)

    async def stop(self) -> None:
        """Count what waits, and end."""
        self._posts.put(None)
        await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        tidy = True
        while True:
            try:
                post = self._posts.get(timeout=None if tidy else _QUIET)
            except queue.Empty:
                tidy = True
                if self._store is not None:
                    self._attempt(self._store.tidy)
                continue
            tidy = False
            posts, last = [], post is None
            size = 0
            while post is not None:
                posts.append(post)
                size += len(post.arrivals)
                if size >= _MOST:
                    break
                try:
                    post = self._posts.get_nowait()
                except queue.Empty:
                    break
                last = post is None
            if posts:
                self._write(posts)
            if last:
                break
        if self._store is not None:
            self._store.close()

    def _write(self, posts: list[_Post]) -> None:
        result: list[Counted] | BaseException
        try:
            if self._store is None:
                self._store = self._open()
            today = self._day(self._store)
            if any(post.arrivals for post in posts):
                result = self._store.count([post.arrivals for post in posts], today)
            else:
                self._store.probe()
                result = [Counted(0, 0)] * len(posts)
            self.failure = None
        except ClosedError as error:
            result = error
        except (BipartiteError, OSError) as error:
            result = BusyError()
            self._failed(str(error))
        except BaseException as error:  # noqa: BLE001 (whatever it is, those who wait are told)
            result = BusyError()
            self._failed(f"{type(error).__name__} in the writer; please report this bug")
        self._loop.call_soon_threadsafe(_deliver, posts, result)

    def _day(self, store: Store) -> date:
        """Today; the last day on which a report came, if the clock was set back since."""
        today, last = self._today(), store.last_day()
        if last is None or last <= today.isoformat():
            self.late = None
            return today
        if self.late is None:
            self.late = f"the clock says {today}, but reports came on {last}: set it right"
            _log.error(self.late)
        return type(today).fromisoformat(last)

    def _failed(self, why: str) -> None:
        if self.failure is None:
            _log.error("reports are not counted, and can be sent again: %s", why)
        self.failure = why
        store, self._store = self._store, None
        if store is not None:
            self._attempt(store.close)

    @staticmethod
    def _attempt(act: Callable[[], None]) -> None:
        try:
            act()
        except Exception:  # noqa: BLE001 (the next commit says what is wrong)
            return


def _deliver(posts: list[_Post], result: list[Counted] | BaseException) -> None:
    """Answer those who wait, in the thread of their loop; some may have gone."""
    for at, post in enumerate(posts):
        if post.answer.done():
            continue
        if isinstance(result, BaseException):
            post.answer.set_exception(result)
        else:
            post.answer.set_result(result[at])
