"""The file of a ledger: a SQLite database of its owner alone, opened, checked, and written in whole transactions.

A write-ahead log with ``synchronous=FULL`` is flushed to the disk at every commit, so a report that was returned is on
the disk; a process that dies in the middle leaves nothing behind. ``BEGIN IMMEDIATE`` takes the only right to write
before anything is read, so that two processes never both find the same budget unspent.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from bipartite.errors import InputError, LedgerFileError
from bipartite.ledger.connection import (
    OPENING,
    Connection,
    close_at_fork,
    inherited,
    refuse_if_inherited,
)
from bipartite.ledger.copying import OWNER_ONLY, make_private, refused_in_words
from bipartite.ledger.periods import Period
from bipartite.ledger.place import Place
from bipartite.ledger.schema import APPLICATION_ID, VERSION, make_tables, read_as_current, upgrade, version_of
from bipartite.lottery import current_process

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager


_RETRY_SECONDS: Final = 0.01
_NO_RIGHTS: Final = frozenset({sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY})
_REASONS: Final[dict[int | None, str]] = {
    sqlite3.SQLITE_NOTADB: "is not a SQLite database, so not a ledger; choose another path",
    sqlite3.SQLITE_CORRUPT: "is damaged; restore it from a backup, and debit nothing until then",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened; check the folder and its rights",
    sqlite3.SQLITE_READONLY: "cannot be written; check its rights",
    sqlite3.SQLITE_FULL: "cannot grow, the disk is full; nothing was debited or released",
}
_BLOCK_OF_ROWS: Final = 1000


@dataclass(frozen=True, slots=True)
class Settings:
    """What a ledger was made with, and keeps for good."""

    budget: int
    """Of each person in each period, in units of 10⁻¹²."""
    period: Period
    person_key: str | None
    """What tells the right secret from a wrong one; None where people are stored as they are named."""
    older_names: bool = False
    """Whether version 1 wrote here, which stored names as they were given."""


class LedgerFile:
    """An open ledger: transactions, and the settings. Threads take turns; no connection crosses a fork."""

    def __init__(self, path: str | os.PathLike[str], wait: float, *, read_only: bool = False) -> None:
        self._where = Place(path)
        self.path = self._where.path
        self._held: Settings | None = None
        self._wait = wait
        self._read_only = read_only
        self._quiet = False
        self.turn = threading.RLock()
        self._process = current_process()
        self._depth = 0
        self._connection: Connection | None = None
        self._place: tuple[object, ...] | None = None
        self._unread: sqlite3.Cursor | list[Any] | None = None
        close_at_fork(self)

    def prepare(self, wanted: Settings | None) -> Settings:
        """Make the ledger with these settings, or read those of one that is there."""
        if not self._read_only and self._is_new():
            self._needed(wanted)
            self._make_file()
        with self.reading() if self._read_only else self.writing() as database:
            if not self._read_only:
                self._make_current(database, wanted)
            self._held = self._settings(database)
        return self._held

    def _make_current(self, database: sqlite3.Connection, wanted: Settings | None) -> None:
        """Make the tables of a file that has none, whose maker may have died before this; or upgrade older ones."""
        if self._holds_nothing(database):
            new = self._needed(wanted)
            make_tables(database, new.budget)
            values = (new.budget, new.period.text, new.person_key)
            database.execute("INSERT INTO settings VALUES (1, ?, ?, ?, 0)", values)
        elif version_of(database) < VERSION:
            upgrade(database)

    def _needed(self, wanted: Settings | None) -> Settings:
        """The settings of a new ledger, which has none without a budget."""
        if wanted is None:
            msg = f"Expected budget= for a new ledger, and {self.path.name} is none yet; pass budget=4."
            raise InputError(msg)
        return wanted

    def _settings(self, database: sqlite3.Connection) -> Settings:
        found = database.execute("SELECT budget, period, person_key, older_names FROM settings").fetchone()
        if found is None:
            msg = f"{self.path.name} is a ledger without its settings: it is damaged; restore it from a backup."
            raise LedgerFileError(msg)
        try:
            period = Period.of(found[1])
        except InputError:
            msg = f"{self.path.name} has a period that no ledger has: it is damaged; restore it from a backup."
            raise LedgerFileError(msg) from None
        return Settings(found[0], period, found[2], bool(found[3]))

    def _is_new(self) -> bool:
        try:
            return self.path.stat().st_size == 0
        except (FileNotFoundError, NotADirectoryError):
            return True
        except OSError:
            raise self._explain(sqlite3.SQLITE_CANTOPEN, "") from None

    def _make_file(self) -> None:
        """An empty file of its owner alone, from the first moment on; SQLite gives its log the same rights."""
        if not self.path.parent.is_dir():
            msg = f"{self.path.name} cannot be created: the folder {self.path.parent} does not exist; create it first."
            raise LedgerFileError(msg)
        # To close any descriptor of a file gives up all locks that the process has on it: so only who makes the file
        # opens it, while no other thread can open it in SQLite.
        with OPENING, suppress(FileExistsError):
            make_private(self.path)
        with refused_in_words(self.path):
            self.path.chmod(OWNER_ONLY)

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """One transaction with the only right to write: all of it, on the disk, or nothing."""
        if self._read_only:
            msg = (
                f"{self.path.name} was opened with read_only=True, and a report must be debited; "
                "open it without read_only."
            )
            raise InputError(msg)
        with self._transaction("BEGIN IMMEDIATE", "COMMIT") as database:
            yield database

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """One moment of the ledger, whatever others write meanwhile."""
        with self._transaction("BEGIN", "ROLLBACK") as database:
            yield database

    @contextmanager
    def _transaction(self, begin: str, end: str) -> Iterator[Connection]:
        with self._taking_turns() as database:
            if self._depth > 1:
                msg = (
                    f"{self.path.name} was used from within one of its own transactions, by a source of words or the "
                    "handler of a signal; use it before or afterwards."
                )
                raise LedgerFileError(msg)
            try:
                database.execute(begin)  # within: a request to stop is often heard just after waiting here
                self._check_moment(database)
                yield database
                self._check_ours(database)
                database.execute(end)
            except BaseException:
                if database.is_ours and database.in_transaction:
                    database.execute("ROLLBACK")
                raise
            # Again: nothing is released whose debit went to a file that was moved away meanwhile.
            self._check_place()

    def stream(self, query: str) -> Iterator[tuple[Any, ...]]:
        """The rows of a query, of one moment, a block at a time; this file serves nothing else meanwhile."""
        with self._taking_turns() as database:
            database.execute("BEGIN")
            self._check_moment(database)
            self._unread = database.execute(query)
        while block := self._next_block():
            yield from block
        if self._quiet:
            self._check_place()

    def _check_moment(self, database: Connection) -> None:
        """Refuse to begin with a file that is not in its place, or not what it was when it was first opened.

        It may have been replaced between two openings, as around a fork, or upgraded by a newer bipartite. A reader
        sees what version 1 wrote as if it were upgraded, until the transaction ends.
        """
        self._check_place()
        version = version_of(database)
        if version > VERSION:
            raise self._wrong_version(version)
        if self._read_only and version < VERSION:
            read_as_current(database)
        older = version < VERSION and not self._read_only
        if self._held is not None and (older or self._settings(database) != self._held):
            msg = (
                f"{self.path.name} was replaced by a ledger with other settings since it was first opened here; make a "
                "new bp.Ledger to use that one."
            )
            raise LedgerFileError(msg)

    def _next_block(self) -> list[tuple[Any, ...]]:
        with self._alone():
            if isinstance(self._unread, list):  # a fork came between
                block, self._unread = self._unread, []
                return block
            with self._taking_turns():
                return [] if self._unread is None else self._unread.fetchmany(_BLOCK_OF_ROWS)

    def another(self) -> LedgerFile:
        """The same file with a connection of its own, for reading while this one goes on."""
        file = LedgerFile(self.path, self._wait, read_only=self._read_only)
        file._where, file._held = self._where, self._held
        return file

    def close(self) -> None:
        """Close the file; what was committed is on the disk anyway."""
        with self._alone():
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def forbid_after_fork(self) -> None:
        """Stop the transaction from within which this process was forked: it is the parent's."""
        if self._depth and self._connection is not None:
            self._connection.forbid()

    def close_for_fork(self) -> None:
        """Close the file between two transactions; rows that are being read are read to their end first."""
        if self._depth or self._connection is None or not self._connection.is_ours:
            return  # the connection stays with the process that opened it
        if isinstance(self._unread, sqlite3.Cursor):
            self._unread = self._unread.fetchall()
        self.close()

    def _alone(self) -> AbstractContextManager[bool]:
        """What makes it the turn of this thread."""
        if self._process is not current_process():
            with OPENING:
                if self._process is not current_process():
                    # The thread that had the turn in the parent is not in this process.
                    self.turn, self._process = threading.RLock(), current_process()
        return self.turn

    @contextmanager
    def _taking_turns(self) -> Iterator[Connection]:
        """The connection, for this thread alone; SQLite's errors in words that say what to do."""
        with self._alone():
            self._depth += 1
            try:
                database = self._connected()
                yield database
                self._check_ours(database)
            except sqlite3.Error as error:
                refusal = self._refusal(error)
            else:
                return
            finally:
                self._depth -= 1
            raise refusal

    def _check_ours(self, database: Connection) -> None:
        if not database.is_ours:
            raise inherited(self.path.name)

    def _connected(self) -> Connection:
        if self._connection is not None:
            self._check_ours(self._connection)
        if (
            self._connection is not None
            and self._quiet
            and self._unread is None
            and self._place != self._where.look(at_rest=True)
        ):
            self.close()  # it was written since it was last read
        if self._connection is None:
            self._connection = self._connect()
        return self._connection

    def _connect(self) -> Connection:
        at_rest = self._where.at_rest() if self._read_only else None
        with OPENING:
            try:
                inode = self._where.inode()
            except OSError:
                raise self._explain(sqlite3.SQLITE_CANTOPEN, "") from None
            refuse_if_inherited(inode, self.path.name)
            self._quiet, self._place = at_rest is not None, at_rest
            rights = "mode=rw" if not self._read_only else "mode=ro&immutable=1" if self._quiet else "mode=ro"
            database = Connection(f"{self.path.as_uri()}?{rights}", inode, self._wait)
            self._connection = database  # already here, so that a child forked by a signal finds it
        try:
            self._check_ours(database)
            self._begin(database)
            self._place = self._place or self._where.look(at_rest=self._quiet)
            if self._place[:1] != (inode,):
                self._place = None  # another file came in its place while it was opened
            self._check_place()
        except BaseException:
            if database.is_ours:
                self.close()
            raise
        return database

    def _begin(self, database: Connection) -> None:
        """Look at what was opened before anything is changed: another programme's database stays as it is."""
        empty = self._holds_nothing(database)
        if not empty:
            self._check_kind(database)
        elif self._read_only:
            msg = f"{self.path.name} is empty: nothing was debited yet, so there is no ledger to read."
            raise LedgerFileError(msg)
        if not self._read_only:
            self._use_log(database)
            for setting in ("synchronous = FULL", "fullfsync = ON", "foreign_keys = ON"):
                database.execute(f"PRAGMA {setting}")
            self._holds_nothing(database)  # opens the log

    def _check_place(self) -> None:
        """Refuse to go on with a file or a log that is no longer where everybody else will look for it."""
        found = self._where.look(at_rest=self._quiet)
        if not self._place or self._place != found:
            if self._quiet and found:
                msg = f"{self.path.name} was written while it was read; try again."
                raise LedgerFileError(msg)
            msg = (
                f"{self.path.name} or its log {self.path.name}-wal was moved, removed or replaced while it was open, "
                "and what is debited here would be lost; stop everything that uses the ledger, put the files back, and "
                "run `bipartite ledger check`."
            )
            raise LedgerFileError(msg)

    @staticmethod
    def _holds_nothing(database: sqlite3.Connection) -> bool:
        return bool(database.execute("SELECT count(*) = 0 FROM sqlite_schema").fetchone()[0])

    def _check_kind(self, database: sqlite3.Connection) -> None:
        kind = database.execute("PRAGMA application_id").fetchone()[0]
        if kind != APPLICATION_ID:
            msg = f"{self.path.name} is a SQLite database, but not a ledger of bipartite; choose another path."
            raise LedgerFileError(msg)
        version = version_of(database)
        if not 1 <= version <= VERSION:
            raise self._wrong_version(version)

    def _wrong_version(self, version: int) -> LedgerFileError:
        what = "update bipartite" if version > VERSION else "no bipartite wrote it so; restore it from a backup"
        return LedgerFileError(f"{self.path.name} is a ledger of version {version}, this reads 1 to {VERSION}; {what}.")

    def _use_log(self, database: sqlite3.Connection) -> None:
        """Switch to the write-ahead log; while others open the file too, SQLite may refuse at once instead of wait."""
        deadline = time.monotonic() + self._wait
        while True:
            try:
                mode = database.execute("PRAGMA journal_mode = WAL").fetchone()[0]
                break
            except sqlite3.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(_RETRY_SECONDS)
        if mode != "wal":
            msg = f"{self.path.name} cannot have a write-ahead log here; put the ledger on a local disk."
            raise LedgerFileError(msg)

    def _refusal(self, error: sqlite3.Error) -> LedgerFileError:
        if self._connection is not None and not self._connection.is_ours:
            return inherited(self.path.name)
        if self._quiet and self._connection is not None:
            self._check_place()  # a file that is written while it is read looks damaged
        code = getattr(error, "sqlite_errorcode", None)
        return self._explain(None if code is None else code & 0xFF, str(error))

    def _explain(self, code: int | None, said: str) -> LedgerFileError:
        if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
            why = f"stayed busy for {self._wait:g} s; try again, or pass a longer wait="
        elif self._read_only and code in _NO_RIGHTS and os.path.exists(self._where.log):  # noqa: PTH110
            why = (
                "has a log beside it that cannot be read here without the right to write; have its owner make a copy "
                "with `bipartite ledger backup`, and read that"
            )
        else:
            why = _REASONS.get(code, f"cannot be used ({said}); run `bipartite ledger check`")
        return LedgerFileError(f"{self.path.name} {why}.")
