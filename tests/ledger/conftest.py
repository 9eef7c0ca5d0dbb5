"""A ledger in a folder of the test's own, and a clock that the test sets."""

import os
from datetime import UTC, datetime, timedelta

import pytest

from bipartite import Ledger


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
        opened.append(Ledger(path, clock=clock, **options))
        return opened[-1]

    yield open_one
    for each in opened:
        each.close()


def refusing(path, code):
    """``os.open`` of a file system that refuses this file, as one that is read-only does."""
    opened = os.open

    def refuse(name, flags, *given, **named):
        if str(name) == str(path) and flags & os.O_CREAT:
            raise OSError(code, os.strerror(code), str(name))
        return opened(name, flags, *given, **named)

    return refuse
