"""SQLite connections that stay in the process that opened them.

SQLite keeps the locks of a file in a table of the process. A fork copies that table but not the locks: a child using
the copy would write without a lock, and the first to close would delete the log under the others, debits included. So
before a fork every ledger closes its connection, between two transactions, and afterwards parent and child each open
their own when they next need it. If that is impossible (a fork in C that runs no Python hook, or one inside a
transaction) the parent continues and the child refuses the file for good.

A process that closes all descriptors by number, as daemons do, also closes SQLite's, and SQLite would write to whatever
file next gets those numbers. A witness descriptor detects that: once it is gone, the process refuses the file too.
"""

from __future__ import annotations

import ctypes
import os
import sqlite3
import threading
import time
import weakref
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Final

from bipartite.errors import LedgerFileError
from bipartite.ledger import statements
from bipartite.ledger.offer import to_stored
from bipartite.lottery import current_process

if TYPE_CHECKING:
    from pathlib import Path

    from bipartite.ledger.file import LedgerFile

Inode = tuple[int, int]
"""The device and inode number of a file, which identify it whatever its name."""

# How long a fork waits for the transactions of other threads; if one takes longer, the child refuses the file.
PATIENCE: Final = 60.0
# Held while a file is opened or created, and during a fork. Its holder never waits for anything else.
OPENING: Final = threading.RLock()
# Every open connection by id: its file, and the witness that tells whether it can still be used.
_OPEN: Final[dict[int, tuple[Inode, _Witness]]] = {}


class _Witness:
    """The process that opened a connection, and a unique descriptor (one end of a pipe) in that process."""

    def __init__(self) -> None:
        self._process = current_process()
        self._end, other = os.pipe()
        os.close(other)
        self._pipe = os.fstat(self._end)

    def is_here(self) -> bool:
        """Whether this is the same process and its descriptors are still open."""
        try:
            return self._process is current_process() and os.path.samestat(os.fstat(self._end), self._pipe)
        except OSError:
            return False

    def close(self) -> None:
        os.close(self._end)


class Connection(sqlite3.Connection):
    """A connection that no other process can use or close by accident."""

    def __init__(self, address: str, inode: Inode, timeout: float = 5.0) -> None:
        self._witness = _Witness()
        _OPEN[id(self)] = (inode, self._witness)
        super().__init__(address, timeout, uri=True, isolation_level=None, check_same_thread=False)

    @property
    def is_ours(self) -> bool:
        """Whether this process opened it and it is still usable."""
        return self._witness.is_here()

    def version(self) -> int:
        """The version of the tables; 0 if there are none."""
        version: int = self.execute("PRAGMA user_version").fetchone()[0]
        return version

    def is_ledger(self) -> bool:
        """Whether a bipartite made these tables."""
        return bool(self.execute("PRAGMA application_id").fetchone()[0] == statements.APPLICATION_ID)

    def is_empty(self) -> bool:
        """Whether there are no tables yet."""
        return bool(self.execute("SELECT count(*) = 0 FROM sqlite_schema").fetchone()[0])

    def view_as_current(self) -> None:
        """Read a ledger of version 2 as one of this version; the file stays unchanged."""
        if self.version() < statements.VERSION:
            self.execute(statements.READ_2)

    def damage(self) -> list[str]:
        """What SQLite itself finds wrong with the file."""
        return [f"SQLite: {row[0]}" for row in self.execute("PRAGMA integrity_check(10)") if row[0] != "ok"]

    def making(self, budget: int) -> tuple[str, ...]:
        """The statements that make a ledger with this budget."""
        return *statements.TABLES.values(), *statements.triggers(budget).values(), *statements.MARKS

    def parts(self, budget: int) -> tuple[dict[str, str], dict[str, str]]:
        """The tables and triggers of a ledger with this budget by name: as they should be, and as they are."""
        return statements.TABLES | statements.triggers(budget), dict(self.execute(statements.SCHEMA))

    stored = staticmethod(to_stored)

    def forbid(self) -> None:
        """Deny all further statements: for a child that was forked inside its parent's transaction."""
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
            getattr(super(), "__del__", lambda: None)()  # older Pythons have none
        else:
            # Closing it here would delete files that belong to the parent, so it is kept alive forever.
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self))


def inherited_error(name: str) -> LedgerFileError:
    """The error for a ledger whose connection was inherited through a fork, or lost its descriptors."""
    return LedgerFileError(
        f"{name} was open when this process was forked inside a transaction or by a library that bypasses Python, or "
        "when it closed all descriptors, and SQLite cannot continue with it; fork with os.fork or multiprocessing "
        "between two reports, or open the ledger afterwards."
    )


def refuse_if_inherited(inode: Inode, name: str) -> None:
    """Refuse a file for which SQLite's table holds another process's locks or closed descriptors."""
    if any(held == inode and not witness.is_here() for held, witness in list(_OPEN.values())):
        raise inherited_error(name)


def is_open(path: Path) -> bool:
    """Whether this process has the file open in SQLite, whose locks it would give up by closing it elsewhere."""
    try:
        found = path.stat()
    except OSError:
        return False
    return any(held == (found.st_dev, found.st_ino) for held, _ in list(_OPEN.values()))


# Every ledger of this process by id: closed before a fork.
FILES: Final = weakref.WeakValueDictionary[int, "LedgerFile"]()
_forks: list[tuple[ExitStack, list[LedgerFile]]] = []
"""The forks in progress (a signal may fork while another fork waits): the locks each holds, and their files."""


def _before() -> None:
    """Wait until no other thread is in a transaction, block them, and close all files.

    Waits for one file at a time while holding no other, so that threads which use one ledger inside a transaction of
    another cannot cause a deadlock.
    """
    deadline = time.monotonic() + PATIENCE
    busy: LedgerFile | None = None
    while True:
        first = busy
        had = first is not None and first.turn.acquire(timeout=max(0.0, deadline - time.monotonic()))
        held = ExitStack()
        held.enter_context(OPENING)
        busy, ready = None, []
        for file in filter(None, [each() for each in FILES.valuerefs()]):
            if (file is first and had) or file.turn.acquire(blocking=False):
                held.callback(file.turn.release)
                ready.append(file)
            else:
                busy = file
        if busy is None or time.monotonic() >= deadline:
            break
        held.close()
    _forks.append((held, ready))
    for file in ready:
        with suppress(Exception):  # a file that cannot be closed stays with the parent
            file.close_for_fork()


def _after() -> None:
    _forks.pop()[0].close()


def _after_in_child() -> None:
    for file in _forks[-1][1] if _forks else ():
        file.forbid_after_fork()
    if _forks:  # empty if a library notified Python only after the fork
        _after()


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after_in_child)
