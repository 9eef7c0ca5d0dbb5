"""A ledger in a folder of the test's own or on a server, and a clock that the test sets."""

import os
import re
import sqlite3
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta

import pytest

import bipartite as bp
from bipartite.ledger import statements
from bipartite.postgres import Url, is_url

AGE = bp.BRR(bp.Integers(18, 90), epsilon=1)


class Clock:
    """A clock that stands still until it is told to go on."""

    def __init__(self):
        self.now = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)

    def __call__(self):
        return self.now

    def go_on(self, **by):
        self.now += timedelta(**by)


@pytest.fixture
def clock():
    return Clock()


ENGINES = ("sqlite", "postgresql")


def pytest_generate_tests(metafunc):
    """A module that has ENGINES runs its tests on each of them; the others on files."""
    if "engine" in metafunc.fixturenames and hasattr(metafunc.module, "ENGINES"):
        metafunc.parametrize("engine", metafunc.module.ENGINES, indirect=True)


@pytest.fixture
def engine(request):
    return getattr(request, "param", "sqlite")


@pytest.fixture
def path(tmp_path, engine, request):
    """What a ledger is opened with: a file's path, or the URL of a fresh database."""
    return tmp_path / "spent.db" if engine == "sqlite" else request.getfixturevalue("postgresql_url")


@pytest.fixture
def called(path):
    """What a ledger there is called in messages."""
    return re.escape(Url(path).name if is_url(path) else path.name)


@pytest.fixture
def make(path, clock):
    """Opens the ledger of the test; closes all of them in the end."""
    opened = []

    def open_one(**options):
        opened.append(bp.Ledger(path, clock=clock, **options))
        return opened[-1]

    yield open_one
    for each in opened:
        each.close()


def change(path, script):
    """Change the tables behind the back of the ledger, as one who takes its triggers away and puts them back."""
    if is_url(path):
        with closing(on_server(path)) as database:
            database.execute("SET session_replication_role = replica")  # no trigger and no foreign key is looked at
            database.execute(script)
        return
    with closing(sqlite3.connect(path)) as database:
        triggers = list(database.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'"))
        for name, _ in triggers:
            database.execute(f"DROP TRIGGER {name}")
        database.executescript(script)
        for _, sql in triggers:
            database.execute(sql)
        database.commit()


def on_server(url):
    """A session of another program, that sees the tables of the ledger."""
    import psycopg

    return psycopg.connect(url, autocommit=True, options="-c search_path=bipartite_ledger")


@contextmanager
def other_program(path):
    """A session of another program with the tables of the ledger."""
    with closing(on_server(path) if is_url(path) else sqlite3.connect(path, isolation_level=None)) as database:
        yield database


def refused_by(engine):
    """The error that another program gets."""
    if engine == "sqlite":
        return sqlite3.IntegrityError
    import psycopg

    return psycopg.Error


def held_at(path):
    """Every byte that is kept of a ledger, as far as a program can read it."""
    if not is_url(path):
        return b"".join(each.read_bytes() for each in path.parent.iterdir())
    with closing(on_server(path)) as database:
        rows = [row for table in statements.TABLES for row in database.execute(f"SELECT * FROM {table}")]  # noqa: S608
    return b"\n".join(cell if isinstance(cell, bytes) else str(cell).encode() for row in rows for cell in row)


def refusing(path, code):
    """``os.open`` of a file system that refuses this file, as one that is read-only does."""
    opened = os.open

    def refuse(name, flags, *given, **named):
        if str(name) == str(path) and flags & os.O_CREAT:
            raise OSError(code, os.strerror(code), str(name))
        return opened(name, flags, *given, **named)

    return refuse
