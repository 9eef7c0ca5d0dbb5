"""Connections of SQLite that stay in the process that opened them.

SQLite keeps the locks of a file in a table of the process. A fork copies that table and not the locks: a child that
used the copy would write without a lock, and whoever closed first would delete the log under the others, debits and
all. So before a fork every ledger closes its connection, between two transactions, and afterwards parent and child each
open one of their own when they next need it. Where that cannot be done (a fork in C that runs no hook of Python, or one
from within a transaction) the parent goes on and the child refuses the file, for as long as it lives.

A process that closes all descriptors by number, as daemons do, takes SQLite's from under it, and SQLite would go on
writing to whatever is opened under those numbers next. A descriptor beside them bears witness: where it is gone, the
process refuses the file likewise.
"""

from __future__ import annotations

import ctypes
import os
import sqlite3
import threading
import time
import weakref
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from bipartite.errors import LedgerFileError
from bipartite.lottery import current_process

if TYPE_CHECKING:
    from bipartite.ledger.file import LedgerFile

Inode = tuple[int, int]
"""The device and the number of a file: which file it is, whatever its name."""

# How long a fork waits for the transactions of other threads; where one takes longer, the child refuses the file.
PATIENCE: Final = 60.0
# Held while a file is opened or made, and during a fork. Nobody waits for anything else while holding it.
OPENING: Final = threading.RLock()
# Every open connection, by its id: which file it holds, and what tells whether it can still be used.
_OPEN: Final[dict[int, tuple[Inode, _Witness]]] = {}


class _Witness:
    """In which process a connection was opened; and a descriptor, one end of a pipe, like which there is no other."""

    def __init__(self) -> None:
        self._process = current_process()
        self._end, other = os.pipe()
        os.close(other)
        self._pipe = self._found()

    def _found(self) -> Inode | None:
        try:
            found = os.fstat(self._end)
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def is_here(self) -> bool:
        """Whether this is that process, and nobody closed its descriptors."""
        return self._process is current_process() and self._found() == self._pipe

    def close(self) -> None:
        os.close(self._end)


class Connection(sqlite3.Connection):
    """A connection that no other process can use, nor close, by accident."""

    def __init__(self, address: str, inode: Inode, timeout: float = 5.0) -> None:
        self._witness = _Witness()
        _OPEN[id(self)] = (inode, self._witness)
        super().__init__(address, timeout, uri=True, isolation_level=None, check_same_thread=False)

    @property
    def is_ours(self) -> bool:
        """Whether this process opened it, and it is still there."""
        return self._witness.is_here()

    def forbid(self) -> None:
        """Let no further statement run: what a child calls for a transaction of its parent that it woke up in."""
        self.set_authorizer(lambda *_: sqlite3.SQLITE_DENY)

    def close(self) -> None:  # noqa: D102
        if self.is_ours:
            super().close()
            self._forget()

    def _forget(self) -> None:
        if _OPEN.pop(id(self), None) is not None:
            self._witness.close()

    def __del__(self) -> None:
        if id(self) not in _OPEN or self.is_ours:
            self._forget()
            getattr(super(), "__del__", _nothing)()
        else:
            # Closing it here would tidy up files that are the parent's: it is kept for good.
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self))


def _nothing() -> None:
    """What older Pythons do when a connection is collected."""


def inherited(name: str) -> LedgerFileError:
    """The refusal of a ledger whose connection came with a fork, or lost its descriptors."""
    return LedgerFileError(
        f"{name} was open when this process was forked, in the middle of a transaction or by a library that "
        "did not tell Python, or when it closed all descriptors, and SQLite cannot go on with it; fork with os.fork or "
        "multiprocessing between two reports, or open the ledger after the fork and the closing."
    )


def refuse_if_inherited(inode: Inode, name: str) -> None:
    """Refuse a file of which SQLite's table holds locks that another process has, or descriptors that are gone."""
    if any(held == inode and not witness.is_here() for held, witness in list(_OPEN.values())):
        raise inherited(name)


_FILES: Final[dict[int, weakref.ref[LedgerFile]]] = {}
_forks: list[tuple[list[Any], list[LedgerFile]]] = []
"""The forks under way (a signal may fork while another fork waits): the locks that each holds, and their files."""


def close_at_fork(file: LedgerFile) -> None:
    """Have this file closed before every fork, as long as it lives."""
    key = id(file)
    _FILES[key] = weakref.ref(file, lambda _: _FILES.pop(key, None))


def _before() -> None:
    """Wait until no other thread is in a transaction, hold them off, and close all files.

    One file is waited for at a time, holding no other, so that threads that use one ledger from within a transaction of
    another are never waited for in a circle.
    """
    deadline = time.monotonic() + PATIENCE
    busy: LedgerFile | None = None
    while True:
        first = busy
        had = first is not None and first.turn.acquire(timeout=max(0.0, deadline - time.monotonic()))
        OPENING.acquire()
        files = [file for file in (each() for each in list(_FILES.values())) if file is not None]
        busy, ready = None, []
        for file in files:
            if (file is first and had) or file.turn.acquire(blocking=False):
                ready.append(file)
            else:
                busy = file
        held = [OPENING, *(file.turn for file in ready)]
        if busy is None or time.monotonic() >= deadline:
            break
        _release(held)
    _forks.append((held, ready))
    for file in ready:
        with suppress(Exception):  # what cannot be closed stays the parent's
            file.close_for_fork()


def _release(held: list[Any]) -> None:
    for lock in reversed(held):
        lock.release()


def _after() -> None:
    _release(_forks.pop()[0])


def _after_in_child() -> None:
    for file in _forks[-1][1] if _forks else ():
        file.forbid_after_fork()
    if _forks:  # none where a library told Python of a fork only afterwards
        _after()


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after_in_child)
