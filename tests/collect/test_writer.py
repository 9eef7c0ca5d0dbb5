"""One writer a worker: who is answered is counted, and who is not may come again."""

import asyncio
import logging
import os
from datetime import date

import pytest

from bipartite.collect import writer as module
from bipartite.collect.store import Arrival, ClosedError, Counted, begin, resume
from bipartite.collect.writer import BusyError, Writer
from bipartite.errors import DatabaseError

TODAY = date(2026, 11, 19)


def arrival():
    return Arrival(1, os.urandom(16), "40")


@pytest.fixture
def path(tmp_path, study):
    begin(tmp_path / "readers.db", study).close()
    return tmp_path / "readers.db"


def run(path, act, *, today=lambda: TODAY, opened=None):
    """Run ``act`` with a writer."""

    async def within():
        writer = Writer(opened or (lambda: resume(path, "readers")), today)
        try:
            return await act(writer)
        finally:
            await writer.stop()

    return asyncio.run(within())


def held(path):
    with resume(path, "readers") as store:
        assert store.check() == []
        return store.counted()["age"]


def test_what_waits_is_one_transaction(path):
    calls = []

    class Counting:
        def __init__(self):
            self._store = resume(path, "readers")
            self.late = None

        def count(self, posts, today):
            calls.append(len(posts))
            return self._store.count(posts, today)

        def tidy(self):
            self._store.tidy()

        def close(self):
            self._store.close()

    async def act(writer):
        same = arrival()
        return await asyncio.gather(*(writer.count([each]) for each in [same, same, *(arrival() for _ in range(48))]))

    assert run(path, act, opened=Counting) == [Counted(1, 0), Counted(0, 1), *[Counted(1, 0)] * 48]
    assert calls == [50]
    assert held(path) == 49


def test_a_long_queue_is_written_in_parts(path, monkeypatch):
    monkeypatch.setattr(module, "_MOST", 10)

    async def act(writer):
        return await asyncio.gather(*(writer.count([arrival() for _ in range(4)]) for _ in range(20)))

    assert run(path, act) == [Counted(4, 0)] * 20
    assert held(path) == 80


def test_who_comes_when_too_many_wait_is_asked_to_come_again(path, monkeypatch):
    monkeypatch.setattr(module, "_MOST_WAITING", 10)

    async def act(writer):
        tasks = [asyncio.ensure_future(writer.count([arrival() for _ in range(8)]))]
        await asyncio.sleep(0)
        with pytest.raises(BusyError):
            await writer.count([arrival() for _ in range(3)])
        return await tasks[0], await writer.count([arrival() for _ in range(3)])

    assert run(path, act) == (Counted(8, 0), Counted(3, 0))


def test_who_has_gone_does_not_hold_up_the_others(path):
    async def act(writer):
        gone = asyncio.ensure_future(writer.count([arrival()]))
        stays = asyncio.ensure_future(writer.count([arrival()]))
        await asyncio.sleep(0)
        gone.cancel()
        return await stays

    assert run(path, act) == Counted(1, 0)
    assert held(path) == 2  # it was sent, and counts


def test_a_failure_is_told_and_the_next_try_begins_anew(path, caplog):
    broken = [True]

    def opened():
        if broken[0]:
            raise DatabaseError("readers.db cannot grow, its disk is full; free some space.")
        return resume(path, "readers")

    async def act(writer):
        one = arrival()
        for asked in ([one], [one], []):
            with pytest.raises(BusyError):
                await writer.count(asked)
        assert writer.failure == "readers.db cannot grow, its disk is full; free some space."
        broken[0] = False
        assert await writer.count([]) == Counted(0, 0)
        assert writer.failure is None
        return await writer.count([one])

    with caplog.at_level(logging.ERROR):
        assert run(path, act, opened=opened) == Counted(1, 0)
    (record,) = caplog.records  # once, however many came
    assert record.getMessage() == (
        "reports are not counted, and can be sent again: readers.db cannot grow, its disk is full; free some space."
    )


def test_a_bug_is_told_without_a_value(path, caplog):
    def opened():
        raise KeyError("a private value")

    async def act(writer):
        with pytest.raises(BusyError):
            await writer.count([arrival()])
        return writer.failure

    assert run(path, act, opened=opened) == "KeyError in the writer; please report this bug"
    assert "private" not in caplog.text


def test_a_study_that_is_over_takes_nothing_and_is_healthy(path):
    async def act(writer):
        with pytest.raises(ClosedError):
            await writer.count([arrival()])
        return await writer.count([])

    assert run(path, act, today=lambda: date(2027, 1, 1)) == Counted(0, 0)
    assert held(path) == 0


def test_a_clock_that_is_set_back_is_told_and_days_stay_in_order(path, caplog):
    days = iter([TODAY, date(2026, 11, 2), date(2026, 11, 2), date(2026, 11, 20)])

    async def act(writer):
        late = []
        for _ in range(4):
            await writer.count([arrival()])
            late.append(writer.late)
        return late

    first, second, third, fourth = run(path, act, today=lambda: next(days))
    assert first is fourth is None
    assert (
        second
        == third
        == ("the clock was set back: reports came on 2026-11-19 already, and count on that day; set it right")
    )
    assert len(caplog.records) == 1
    with resume(path, "readers") as store:
        assert store.arrivals("age") == {"2026-11-19": 3, "2026-11-20": 1}


def test_in_a_quiet_moment_the_log_is_tidied_away(path, monkeypatch):
    monkeypatch.setattr(module, "_QUIET", 0.01)

    async def act(writer):
        await writer.count([arrival()])
        log = path.with_name("readers.db-wal")
        for _ in range(1000):
            if not log.stat().st_size:
                return True
            await asyncio.sleep(0.01)
        return False

    assert run(path, act)
