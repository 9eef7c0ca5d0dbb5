"""When disk, server or clock fail: nothing lost, nothing half written, nothing twice, and words that say what to do."""

import asyncio
import json
import os
import subprocess
import sys
from contextlib import suppress
from datetime import date

import pytest

from bipartite.collect.store import begin, resume
from tests.collect.asking import ask, collector, post
from tests.collect.reports import POSSIBLE, envelope, written

TODAY = date(2026, 11, 19)


def batch(study, count, first=0):
    """So many envelopes with reports and keys of their own."""
    age = study.questions[0]
    possible = POSSIBLE["age"]
    return [envelope(study, age, possible[at % len(possible)], f"{at:032x}") for at in range(first, first + count)]


def counted(where, study):
    """How many reports there are, after everything was found to add up."""
    with resume(where, study.name) as store:
        assert store.check() == []
        return store.counted()["age"]


@pytest.fixture
def small_disk(tmp_path):
    """A file system of two megabytes."""
    at = tmp_path / "disk"
    at.mkdir()
    mounted = sys.platform == "linux" and os.geteuid() == 0 and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", at], check=False, capture_output=True
    ).returncode == 0  # fmt: skip
    if not mounted:
        pytest.skip("only root mounts file systems")
    yield at
    subprocess.run(["umount", "-l", at], check=True)


async def health(made):
    """/healthz: its status and words."""
    status, headers, words = await ask(made.app, "GET", "/healthz")
    return status, headers, json.loads(words)


def test_a_full_disk_refuses_and_what_was_refused_counts_once_when_there_is_room(small_disk, study, caplog):
    where = small_disk / "readers.db"
    begin(where, study).close()

    async def fill():
        async with collector(lambda: resume(where, study.name), today=lambda: TODAY) as made:
            assert (await health(made))[0] == 200
            (small_disk / "other").write_bytes(bytes(2**20))
            taken, at = 0, 0
            while True:
                body = written(batch(study, 500, at))
                status, headers, words = await ask(made.app, "POST", "/reports", body, [("content-type", "text/plain")])
                if status != 200:
                    break
                taken, at = taken + 500, at + 500
            assert status == 503
            assert int(headers["retry-after"]) > 0
            assert json.loads(words)["error"].endswith("cannot write just now; send the same again.")
            with (small_disk / "rest").open("wb", 0) as rest, suppress(OSError):  # until there is no space
                while True:
                    rest.write(bytes(4096))
            status, headers, words = await health(made)
            assert (status, words["ok"], headers["retry-after"]) == (503, False, "5")
            assert words["why"] == "readers.db cannot grow, its disk is full; free some space."
            assert (await post(made.app, body))[0] == 503
            (small_disk / "other").unlink()
            (small_disk / "rest").unlink()
            assert await post(made.app, body) == (200, {"counted": 500, "known": 0})
            assert await post(made.app, written(batch(study, 500))) == (200, {"counted": 0, "known": 500})
            assert (await health(made))[0] == 200
            return taken + 500

    total = asyncio.run(fill())
    assert total >= 1000
    assert counted(where, study) == total
    assert caplog.text.count("reports are not counted") == 1


def test_health_comes_back_with_the_next_report_or_after_a_while_without_any(where, study):
    from bipartite.errors import DatabaseError

    begin(where, study).close()
    fails = True

    def opened():
        store = resume(where, study.name)
        real = store.count

        def count(posts, today):
            if fails:
                raise DatabaseError("The disk is full.")
            return real(posts, today)

        store.count = count
        return store

    async def look():
        nonlocal fails
        async with collector(opened, today=lambda: TODAY) as made:
            body = written(batch(study, 1))
            assert (await post(made.app, body))[0] == 503
            fails = False
            assert (await health(made))[0] == 503
            assert await post(made.app, body) == (200, {"counted": 1, "known": 0})
            assert (await health(made))[0] == 200
            fails = True
            assert (await post(made.app, body))[0] == 503
            assert (await health(made))[0] == 503
            made._writer._doubted_until -= 30
            assert (await health(made))[0] == 200

    asyncio.run(look())


def test_a_server_that_dies_in_mid_commit_loses_nothing_and_counts_nothing_twice(postgresql, postgresql_url, study):
    where = postgresql_url
    begin(where, study).close()

    async def look():
        async with collector(lambda: resume(where, study.name), today=lambda: TODAY) as made:
            assert (await post(made.app, written(batch(study, 3))))[0] == 200
            for turn, end in enumerate((postgresql.kill, lambda: postgresql.stop("immediate"), postgresql.kill)):
                body = written(batch(study, 2000, 10_000 * (turn + 1)))
                asked = asyncio.create_task(post(made.app, body))
                # In the midst: some statements of the transaction have run.
                until = asyncio.get_running_loop().time() + 30
                with postgresql.connect() as beside:
                    while (
                        not asked.done()
                        and not beside.execute(
                            "SELECT 1 FROM pg_stat_activity WHERE state LIKE '%transaction' OR query LIKE 'INSERT%'"
                            " AND pid <> pg_backend_pid()"
                        ).fetchall()
                    ):
                        assert asyncio.get_running_loop().time() < until
                        await asyncio.sleep(0)
                await asyncio.to_thread(end)
                status, words = await asked
                assert status in {200, 503}
                assert "postgresql" not in json.dumps(words)  # nor a password
                assert (await post(made.app, body))[0] == 503
                status, headers, told = await health(made)
                assert (status, headers["retry-after"], told["ok"]) == (503, "5", False)
                assert "cannot be reached" in told["why"]
                assert "swordfish" not in told["why"]
                await asyncio.to_thread(postgresql.start)
                assert (await post(made.app, body))[1] in ({"counted": 2000, "known": 0}, {"counted": 0, "known": 2000})
                assert (await post(made.app, body))[1] == {"counted": 0, "known": 2000}
                assert (await health(made))[0] == 200

    asyncio.run(look())
    assert counted(where, study) == 6003


def test_pages_say_that_the_database_is_away_and_come_back_with_it(postgresql, postgresql_url, study, caplog):
    begin(postgresql_url, study).close()

    async def look():
        async with collector(lambda: resume(postgresql_url, study.name), today=lambda: TODAY) as made:

            async def statuses():
                return [
                    (status, headers.get("retry-after"))
                    for path in ("/", "/answers", "/metrics")
                    for status, headers, _ in [await ask(made.app, "GET", path, client=("127.0.0.1", 1))]
                ]

            postgresql.stop("immediate")
            assert await statuses() == [(503, "5")] * 3
            await asyncio.to_thread(postgresql.start)
            assert await statuses() == [(200, None)] * 3

    asyncio.run(look())
    assert "cannot be reached" in caplog.text
    assert "bug" not in caplog.text
    assert "swordfish" not in caplog.text


def test_what_came_after_a_backup_is_counted_again_once_and_what_was_before_is_known(where, study, tmp_path):
    before, after = batch(study, 40), batch(study, 60, 40)
    with begin(where, study) as store:
        reader_takes(store, study, before)
        store.backup(tmp_path / "backup.db")
        reader_takes(store, study, after)
    restored = tmp_path / "backup.db"

    async def again():
        async with collector(lambda: resume(restored, study.name), today=lambda: TODAY) as made:
            assert await post(made.app, written(before + after)) == (200, {"counted": 60, "known": 40})
            assert await post(made.app, written(after + before)) == (200, {"counted": 0, "known": 100})

    asyncio.run(again())
    with resume(where, study.name) as one, resume(restored, study.name) as another:
        assert list(one.bag("age")) == list(another.bag("age"))
        assert another.check() == []


def reader_takes(store, study, held):
    """Count these envelopes, as a worker would."""
    from bipartite.collect.envelopes import Reader

    store.count([Reader(study, store.numbers).read(written(held))], TODAY)


def test_a_clock_set_back_loses_nothing_and_is_told(where, study, caplog):
    begin(where, study).close()
    today = TODAY

    async def look():
        nonlocal today
        async with collector(lambda: resume(where, study.name), today=lambda: today) as made:
            first = written(batch(study, 5))
            assert (await post(made.app, first))[0] == 200
            today = date(2026, 11, 1)
            assert await post(made.app, first) == (200, {"counted": 0, "known": 5})
            assert await post(made.app, written(batch(study, 5, 5))) == (200, {"counted": 5, "known": 0})
            status, _, words = await health(made)
            assert status == 200
            assert "the clock" in words["warning"]
            assert "2026-11-19" in words["warning"]
            assert "set it right" in words["warning"]
            assert caplog.text.count("the clock") == 1
            today = date(2026, 11, 20)
            assert await post(made.app, written(batch(study, 1, 10))) == (200, {"counted": 1, "known": 0})
            assert (await health(made))[2] == {"ok": True}

    asyncio.run(look())
    with resume(where, study.name) as store:
        assert store.arrivals("age") == {"2026-11-19": 10, "2026-11-20": 1}


@pytest.mark.parametrize("asked", ["a report", "its health"])
def test_a_study_that_ended_stays_so_when_the_clock_is_set_back(where, study, asked):
    begin(where, study).close()
    today = date(2027, 1, 1)

    async def look():
        nonlocal today
        async with collector(lambda: resume(where, study.name), today=lambda: today) as made:
            body = written(batch(study, 1))
            if asked == "a report":
                assert (await post(made.app, body))[0] == 410
            assert (await health(made))[0] == 200
            today = TODAY
            assert (await post(made.app, body))[0] == 410
        async with collector(lambda: resume(where, study.name), today=lambda: today) as made:  # nor after a restart
            assert (await post(made.app, body))[0] == 410

    asyncio.run(look())
    assert counted(where, study) == 0


def test_health_and_a_report_that_comes_too_late_share_a_transaction(where, study):
    begin(where, study).close()

    async def look():
        async with collector(lambda: resume(where, study.name), today=lambda: date(2027, 1, 1)) as made:
            body = written(batch(study, 1))
            asked = [post(made.app, body) if at % 2 else health(made) for at in range(20)]
            statuses = [answer[0] for answer in await asyncio.gather(*asked)]
            assert statuses == [200, 410] * 10

    asyncio.run(look())
