"""A ledger in a folder of the test's own, and a clock that the test sets."""

import os
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest

import bipartite as bp

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


@pytest.fixture
def path(tmp_path):
    return tmp_path / "spent.db"


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
    """Change the file behind the back of the ledger, as one who takes its triggers away and puts them back."""
    with closing(sqlite3.connect(path)) as database:
        triggers = list(database.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'"))
        for name, _ in triggers:
            database.execute(f"DROP TRIGGER {name}")
        database.executescript(script)
        for _, sql in triggers:
            database.execute(sql)
        database.commit()


def refusing(path, code):
    """``os.open`` of a file system that refuses this file, as one that is read-only does."""
    opened = os.open

    def refuse(name, flags, *given, **named):
        if str(name) == str(path) and flags & os.O_CREAT:
            raise OSError(code, os.strerror(code), str(name))
        return opened(name, flags, *given, **named)

    return refuse
