"""What a stolen disk or a backup does not tell; bench/collect_disk.py measures what it still does."""

import asyncio
import os
import random
import secrets
import signal
from contextlib import closing
from datetime import date

import pytest

from bipartite.cli import main as run
from bipartite.collect import writer as module
from bipartite.collect.store import Arrival, Store, begin, connect, resume
from bipartite.collect.writer import Writer
from tests.collect.conftest import is_file

TODAY = date(2026, 11, 19)
COUNTERS = (slice(24, 28), slice(40, 44), slice(92, 96))
"""Where SQLite's header counts changes of the file and of its tables."""
BOTH = "seen", "bag"
PEOPLE = [Arrival(1 + at % 2, os.urandom(16), f"{at % 40:02}" + "x" * (at % 3 * 700)) for at in range(150)]
"""Reports of one digit more and of two pages, some of them often."""


@pytest.fixture(autouse=True)
def same_secret(monkeypatch):
    """Two databases of a study differ in its secret, which is not what is compared."""
    monkeypatch.setattr(secrets, "token_hex", lambda size: "5ec4e7" * size)


def content(path):
    """The bytes of a database, but for its counters."""
    held = bytearray(path.read_bytes())
    for each in COUNTERS:
        held[each] = bytes(4)
    return bytes(held)


def count(store, seed):
    """Count everybody, one at a time, in an order of chance."""
    for each in random.Random(seed).sample(PEOPLE, len(PEOPLE)):
        store.count([[each]], TODAY)


def folder_bytes(folder):
    """All that stands in the files of a folder."""
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("act", ["settle", "close_study"])
def test_a_file_written_anew_tells_nothing_of_the_order(tmp_path, study, act):
    files = [tmp_path / "one.db", tmp_path / "other.db"]
    for seed, path in enumerate(files):
        with begin(path, study) as store:
            count(store, seed)
            store.tidy()
            before = content(path)
            getattr(store, act)()
            assert (tmp_path / f"{path.name}-wal").stat().st_size == 0
        assert content(path) != before
    assert content(files[0]) == content(files[1])


def test_a_backup_tells_nothing_of_the_order(where, study, tmp_path, request):
    copies = []
    for seed in range(2):
        if seed:
            where = (
                where.with_name("other.db") if is_file(where) else request.getfixturevalue("postgresql").make_database()
            )
        with begin(where, study) as store:
            count(store, seed)
            copies.append(tmp_path / f"{seed}.copy")
            store.backup(copies[-1])
    assert content(copies[0]) == content(copies[1])


def test_small_tables_of_a_server_written_anew_tell_nothing_of_the_order(postgresql_url, study, monkeypatch):
    with begin(postgresql_url, study) as store, closing(connect(postgresql_url)) as database:

        def told():
            """Whether the keys lie in their own order, and how many transactions wrote them, and the bag."""
            keys = database.execute("SELECT question, key FROM seen ORDER BY ctid").fetchall()
            by = [database.execute(f"SELECT count(DISTINCT xmin::text) FROM {each}").fetchone()[0] for each in BOTH]  # noqa: S608
            return keys == sorted(keys), *by

        count(store, 1)
        monkeypatch.setattr("bipartite.collect.postgresql._SMALL", 0)
        store.settle()
        assert told()[:2] == (False, len(PEOPLE))
        monkeypatch.undo()
        store.settle()
        assert told() == (True, 1, 1)
        assert store.check() == []


@pytest.mark.parametrize("moment", ["quiet", "end"])
def test_a_collector_writes_its_file_anew(tmp_path, study, monkeypatch, moment):
    """After a quiet minute, and when it ends; what it was given lies in the file like in one that got it in order."""
    if moment == "quiet":
        monkeypatch.setattr(module, "_STILL", 0.01)
    files = [tmp_path / "sorted.db", tmp_path / "readers.db"]
    for path in files:
        begin(path, study).close()

    async def run(path, people):
        writer = Writer(lambda: resume(path, "readers"), lambda: TODAY)
        for each in people:
            await writer.count([each])
        held = content(path)
        if moment == "quiet":
            for _ in range(500):
                await asyncio.sleep(0.01)
                if (held := content(path)) == content(files[0]):
                    break
        await writer.stop()
        return held

    with resume(files[0], "readers") as store:
        store.count([PEOPLE[:50]], TODAY)
        store.settle()
    held = asyncio.run(run(files[1], PEOPLE[49::-1]))
    assert (held == content(files[0])) == (moment == "quiet")
    assert content(files[1]) == content(files[0])


def test_a_start_writes_the_file_anew(tmp_path, study, study_file, monkeypatch):
    """After a power cut, say."""
    monkeypatch.setattr("bipartite.collect.serving.serve", lambda *_, **__: signal.SIGTERM)
    monkeypatch.setattr(Store, "add_link", lambda *_: None)  # of chance
    for seed, path in enumerate([tmp_path / "readers.db", tmp_path / "other.db"]):
        with begin(path, study) as store:
            count(store, seed)
    assert run(["collect", str(study_file)]) == 128 + signal.SIGTERM
    with resume(tmp_path / "other.db", "readers") as store:
        assert content(tmp_path / "readers.db") != content(tmp_path / "other.db")
        store.settle()
    assert content(tmp_path / "readers.db") == content(tmp_path / "other.db")


def test_a_large_file_is_not_written_anew_while_reports_come(tmp_path, study, monkeypatch):
    monkeypatch.setattr("bipartite.collect.sqlite._CACHE", 64)
    with begin(tmp_path / "readers.db", study) as store:
        count(store, 1)
        store.tidy()
        held = content(tmp_path / "readers.db")
        store.settle()
        assert content(tmp_path / "readers.db") == held


def test_what_is_deleted_is_overwritten(tmp_path, study):
    """Without the file being written anew: rows of every size, in the file and in the log."""
    path, kept = tmp_path / "readers.db", os.urandom(16)
    hashes = [secrets.token_urlsafe(16 * 2**at) for at in range(10)]
    with begin(path, study) as store:
        store.count([[Arrival(1, kept, "40")]], TODAY)
        for each in hashes:
            store.add_link(each)
        store.tidy()
        assert all(each[-20:].encode() in folder_bytes(tmp_path) for each in hashes)
        for each in hashes:
            assert store.use_link(each)
        store.tidy()
        files = [folder_bytes(tmp_path)]
    for held in (*files, folder_bytes(tmp_path)):
        parts = [each[at : at + 8] for each in hashes for at in range(0, len(each), 8)]
        assert [part for part in parts if len(part) == 8 and part.encode() in held] == []
        assert kept in held


def test_keys_are_in_no_file_after_a_study_is_closed(tmp_path, study):
    with begin(tmp_path / "readers.db", study) as store, resume(tmp_path / "readers.db", "readers") as other:
        count(store, 1)
        assert all(each.key in folder_bytes(tmp_path) for each in PEOPLE)
        other.close_study()
        files = [folder_bytes(tmp_path)]  # while the collector runs
    for held in (*files, folder_bytes(tmp_path)):
        assert [each.key for each in PEOPLE if each.key[:8] in held or each.key[8:] in held] == []


def test_keys_are_in_no_table_of_postgresql_after_a_study_is_closed(postgresql, postgresql_url, study):
    """Its log keeps them; so does a table while a transaction is open that began before."""
    with begin(postgresql_url, study) as store, closing(connect(postgresql_url)) as database:
        number = database.execute("SELECT oid FROM pg_database WHERE datname = current_database()").fetchone()[0]
        tables = postgresql.folder / "data/base" / str(number)
        count(store, 1)
        with closing(postgresql.connect()) as session:
            session.execute("CHECKPOINT")
            held = folder_bytes(tables)
            assert all(each.key in held for each in PEOPLE)
            store.close_study()
            session.execute("CHECKPOINT")
        held = folder_bytes(tables)
        assert [each.key for each in PEOPLE if each.key in held] == []
        assert database.execute("SELECT count(DISTINCT xmin::text) FROM bag").fetchone() == (1,)
        rows = "SELECT question, report FROM bag"
        assert database.execute(rows).fetchall() == database.execute(f"{rows} ORDER BY question, report").fetchall()
