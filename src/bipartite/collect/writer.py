"""One writer a worker: what waits is one transaction, and nobody is answered before it is on the disk."""

from __future__ import annotations

import asyncio
import logging
import time
from concurrent.futures import ThreadPoolExecutor
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
_GATHER: Final = 0.002  # seconds: a wait that nobody notices, and many posts share a transaction
_QUIET: Final = 1.0  # seconds without a report, after which the log is tidied away
_STILL: Final = 60.0  # seconds without a report, after which the file is written anew, in no order of arrival
_DOUBT: Final = 30.0  # seconds after a failure in which a probe proves nothing: a full disk has room for it in the log


class BusyError(Exception):
    """The report was not counted; it can be sent again."""


class _Post(NamedTuple):
    arrivals: Sequence[Arrival]
    answer: asyncio.Future[Counted]


def utc_today() -> date:
    """The day on this machine's clock, in UTC."""
    return datetime.now(UTC).date()


class Writer:
    """Counts reports in a thread of its own, which has the only connection that writes.

    While a transaction runs, posts gather for the next: the busier it is, the more of them share one sync.
    """

    def __init__(self, open_store: Callable[[], Store], today: Callable[[], date] = utc_today) -> None:
        self._open, self._today = open_store, today
        self._loop = asyncio.get_running_loop()
        self._thread = ThreadPoolExecutor(1, "writer")
        self._waiting: list[_Post] = []
        self._size = 0
        """The reports that wait or are being written."""
        self._is_writing = False
        self._idle = asyncio.Event()
        self._idle.set()
        self._tidying: asyncio.TimerHandle | None = None
        self._settling: asyncio.TimerHandle | None = None
        """Set while the file holds what was counted since it was last written anew."""
        self._store: Store | None = None
        self._proved = -_QUIET
        """When a commit worked last: who asks again and again whether they do does not make as many."""
        self.failure: str | None = None
        """Why commits fail; None while they do not."""
        self._doubted_until = 0.0
        self.late: str | None = None
        """That the clock was set back, if it was."""

    async def count(self, arrivals: Sequence[Arrival]) -> Counted:
        """Count these reports, together with whatever else waits; with none, see whether commits work."""
        if not arrivals and self.failure is None and self._loop.time() < self._proved + _QUIET:
            return Counted(0, 0)
        if self._size + len(arrivals) > _MOST_WAITING:
            raise BusyError
        post = _Post(arrivals, self._loop.create_future())
        self._size += len(arrivals)
        self._waiting.append(post)
        if not self._is_writing:
            self._is_writing = True
            self._idle.clear()
            self._loop.call_later(_GATHER, self._begin)
        return await post.answer

    async def stop(self) -> None:
        """Count what waits, and end."""
        await self._idle.wait()
        if self._tidying is not None:
            self._tidying.cancel()
        if self._settling is not None:
            self._settling.cancel()
            await self._loop.run_in_executor(self._thread, self._attempt, Store.settle)
        await self._loop.run_in_executor(self._thread, self._close)
        self._thread.shutdown()

    def _begin(self) -> None:
        """Hand what waits to the thread."""
        count, size = 0, 0
        while count < len(self._waiting) and size < _MOST:
            size += len(self._waiting[count].arrivals)
            count += 1
        posts, self._waiting = self._waiting[:count], self._waiting[count:]
        self._thread.submit(self._write, posts)

    def _write(self, posts: list[_Post]) -> None:
        """Write posts, in the thread."""
        result: list[Counted] | BaseException
        has_reports = any(post.arrivals for post in posts)
        try:
            if self._store is None:
                self._store = self._open()
            if has_reports:
                result = self._store.count([post.arrivals for post in posts], self._today())
                self.failure = None
            else:
                self._store.probe(self._today())
                result = [Counted(0, 0)] * len(posts)
                if time.monotonic() >= self._doubted_until:
                    self.failure = None
            self._note_late(self._store.late)
            self._proved = self._loop.time()
        except ClosedError as error:
            result = error
        except (BipartiteError, OSError) as error:
            result = BusyError()
            self._failed(str(error), _DOUBT if has_reports else 0)
        except BaseException as error:  # noqa: BLE001 (whatever it is, those who wait are told)
            result = BusyError()
            self._failed(f"{type(error).__name__} in the writer; please report this bug", _DOUBT)
        self._loop.call_soon_threadsafe(self._deliver, posts, result)

    def _deliver(self, posts: list[_Post], result: list[Counted] | BaseException) -> None:
        """Answer those who wait, some of whom may have gone, and go on with what came meanwhile."""
        for at, post in enumerate(posts):
            self._size -= len(post.arrivals)
            if post.answer.done():
                continue
            if isinstance(result, ClosedError) and not post.arrivals:
                post.answer.set_result(Counted(0, 0))  # commits work: that is all it asked
            elif isinstance(result, BaseException):
                post.answer.set_exception(result)
            else:
                post.answer.set_result(result[at])
        if any(post.arrivals for post in posts):
            if self._settling is not None:
                self._settling.cancel()
            self._settling = self._loop.call_later(_STILL, self._settle)
        if self._waiting:
            self._loop.call_later(_GATHER, self._begin)
            return
        self._is_writing = False
        self._idle.set()
        if self._tidying is None:
            self._tidying = self._loop.call_later(_QUIET, self._tidy)

    def _tidy(self) -> None:
        """In a quiet moment, leave no log behind."""
        self._tidying = None
        if not self._is_writing:
            self._thread.submit(self._attempt, Store.tidy)
        else:
            self._tidying = self._loop.call_later(_QUIET, self._tidy)

    def _settle(self) -> None:
        self._settling = None
        self._thread.submit(self._attempt, Store.settle)

    def _note_late(self, last: str | None) -> None:
        if last is None:
            self.late = None
        elif self.late is None:
            self.late = f"the clock was set back: reports came on {last} already, and count on that day; set it right"
            _log.error(self.late)

    def _failed(self, why: str, doubt: float) -> None:
        if self.failure is None:
            _log.error("reports are not counted, and can be sent again: %s", why)
        self.failure, self._doubted_until = why, time.monotonic() + doubt
        self._close()

    def _close(self) -> None:
        self._attempt(Store.close)
        self._store = None

    def _attempt(self, act: Callable[[Store], None]) -> None:
        """Tidy, settle or close the store, if it can be done: if not, the next commit says what is wrong."""
        if self._store is not None:
            try:
                act(self._store)
            except Exception:  # noqa: BLE001 (see above)
                return
