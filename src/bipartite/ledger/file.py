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
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bipartite.errors import InputError, LedgerFileError
from bipartite.ledger.periods import FOREVER, Period

if TYPE_CHECKING:
    from collections.abc import Iterator

# "bpld": what says, in the header of the file, that this database is a ledger.
APPLICATION_ID: Final = 0x62706C64
VERSION: Final = 1
_RETRY_SECONDS: Final = 0.01
_OWNER_ONLY: Final = 0o600

# `report` has no type: SQLite keeps what it is given. The budget stands in a CHECK, so that no programme, this one
# included, can write a balance beyond it.
_SCHEMA: Final = (
    (
        "CREATE TABLE settings (one INTEGER PRIMARY KEY CHECK (one = 1), budget INTEGER NOT NULL, "
        "period TEXT NOT NULL, person_key TEXT)"
    ),
    "CREATE TABLE specs (sha256 TEXT PRIMARY KEY, spec TEXT NOT NULL) WITHOUT ROWID",
    (
        "CREATE TABLE questions (period TEXT NOT NULL, question TEXT NOT NULL, on_change TEXT NOT NULL, "
        "spec_sha256 TEXT NOT NULL REFERENCES specs, epsilon INTEGER NOT NULL CHECK (epsilon >= 0), "
        "PRIMARY KEY (period, question)) WITHOUT ROWID"
    ),
    (
        "CREATE TABLE reports (person TEXT NOT NULL, period TEXT NOT NULL, question TEXT NOT NULL, "
        "number INTEGER NOT NULL CHECK (number >= 1), epsilon INTEGER NOT NULL CHECK (epsilon >= 0), "
        "time TEXT NOT NULL, report NOT NULL, PRIMARY KEY (person, period, question, number)) WITHOUT ROWID"
    ),
    (
        "CREATE TABLE requests (person TEXT NOT NULL, request TEXT NOT NULL, period TEXT NOT NULL, "
        "question TEXT NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (person, request)) WITHOUT ROWID"
    ),
    (
        "CREATE TABLE balances (person TEXT NOT NULL, period TEXT NOT NULL, "
        "spent INTEGER NOT NULL CHECK (spent BETWEEN 0 AND {budget}), PRIMARY KEY (person, period)) WITHOUT ROWID"
    ),
    f"PRAGMA application_id = {APPLICATION_ID}",
    f"PRAGMA user_version = {VERSION}",
)


@dataclass(frozen=True, slots=True)
class Settings:
    """What a ledger was made with, and keeps for good."""

    budget: int
    """Of each person in each period, in units of 10⁻¹²."""
    period: Period
    person_key: str | None
    """What tells the right secret from a wrong one; None where people are stored as they are named."""


class LedgerFile:
    """An open ledger: transactions, and the settings. Threads take turns; a forked process opens its own connection."""

    def __init__(self, path: str | os.PathLike[str], wait: float) -> None:
        self.path = Path(path)
        self._wait = wait
        self._turn = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._process = 0

    def prepare(self, wanted: Settings | None) -> Settings:
        """Make the ledger with these settings, or read those of one that is there."""
        if self._is_new():
            if wanted is None:
                raise self._needs_budget()
            # Owner alone, from the first moment on; SQLite gives its log the same rights.
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, _OWNER_ONLY))
            self.path.chmod(_OWNER_ONLY)
        with self.writing() as database:
            if self._holds_nothing(database):
                # Whoever made the file may have died before this.
                if wanted is None:
                    raise self._needs_budget()
                for statement in _SCHEMA:
                    database.execute(statement.format(budget=wanted.budget))
                values = (wanted.budget, wanted.period.text, wanted.person_key)
                database.execute("INSERT INTO settings VALUES (1, ?, ?, ?)", values)
            found = database.execute("SELECT budget, period, person_key FROM settings").fetchone()
        if found is None:
            msg = f"{self.path.name} is a ledger without its settings: it is damaged; restore it from a backup."
            raise LedgerFileError(msg)
        return Settings(found[0], Period.of(found[1]), found[2])

    def _needs_budget(self) -> InputError:
        return InputError(f"Expected budget= for a new ledger, and {self.path.name} is none yet; pass budget=4.")

    def _is_new(self) -> bool:
        try:
            return self.path.stat().st_size == 0
        except FileNotFoundError:
            return True

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction with the only right to write: all of it, on the disk, or nothing."""
        with self._turn, self._explaining():
            database = self._connected()
            database.execute("BEGIN IMMEDIATE")
            try:
                yield database
                database.execute("COMMIT")
            except BaseException:
                if database.in_transaction:
                    database.execute("ROLLBACK")
                raise

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """One moment of the ledger, whatever others write meanwhile."""
        with self._turn, self._explaining():
            database = self._connected()
            database.execute("BEGIN")
            try:
                yield database
            finally:
                database.execute("ROLLBACK")

    def another(self) -> LedgerFile:
        """The same file with a connection of its own, for reading while this one goes on."""
        return LedgerFile(self.path, self._wait)

    def close(self) -> None:
        """Close the file; what was committed is on the disk anyway."""
        with self._turn:
            if self._connection is not None and self._process == os.getpid():
                self._connection.close()
            self._connection = None

    def _connected(self) -> sqlite3.Connection:
        # SQLite forbids to carry a connection across a fork, even to close it there.
        if self._connection is None or self._process != os.getpid():
            self._connection = self._connect()
            self._process = os.getpid()
        return self._connection

    def _connect(self) -> sqlite3.Connection:
        address = f"{self.path.absolute().as_uri()}?mode=rw"
        database = sqlite3.connect(
            address, uri=True, timeout=self._wait, isolation_level=None, check_same_thread=False, cached_statements=64
        )
        try:
            # Before anything is changed: another programme's database stays as it is.
            if not self._holds_nothing(database):
                self._check_kind(database)
            self._use_log(database)
            for setting in ("synchronous = FULL", "fullfsync = ON", "foreign_keys = ON"):
                database.execute(f"PRAGMA {setting}")
        except BaseException:
            database.close()
            raise
        return database

    @staticmethod
    def _holds_nothing(database: sqlite3.Connection) -> bool:
        return bool(database.execute("SELECT count(*) = 0 FROM sqlite_schema").fetchone()[0])

    def _check_kind(self, database: sqlite3.Connection) -> None:
        kind = database.execute("PRAGMA application_id").fetchone()[0]
        if kind != APPLICATION_ID:
            msg = f"{self.path.name} is a SQLite database, but not a ledger of bipartite; choose another path."
            raise LedgerFileError(msg)
        version = database.execute("PRAGMA user_version").fetchone()[0]
        if version != VERSION:
            msg = f"{self.path.name} is a ledger of version {version}, this reads {VERSION}; update bipartite."
            raise LedgerFileError(msg)

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

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        """SQLite's errors in words that say what to do."""
        try:
            yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", None)
            refusal = self._explain(None if code is None else code & 0xFF, str(error))
        else:
            return
        raise refusal

    def _explain(self, code: int | None, said: str) -> LedgerFileError:
        name = self.path.name
        if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
            why = f"stayed busy for {self._wait:g} s; try again, or pass a longer wait="
        elif code == sqlite3.SQLITE_NOTADB:
            why = "is not a SQLite database, so not a ledger; choose another path"
        elif code == sqlite3.SQLITE_CORRUPT:
            why = "is damaged; restore it from a backup, and debit nothing until then"
        elif code == sqlite3.SQLITE_CANTOPEN:
            why = "cannot be opened; check the folder and its rights"
        elif code == sqlite3.SQLITE_READONLY:
            why = "cannot be written; check its rights"
        elif code == sqlite3.SQLITE_FULL:
            why = "cannot grow, the disk is full; nothing was debited or released"
        else:
            why = f"cannot be used ({said}); run `bipartite ledger check`"
        return LedgerFileError(f"{name} {why}.")


def wanted_settings(budget: int | None, period: object, person_key: str | None) -> Settings | None:
    """The settings of a new ledger; None where no budget was named."""
    if budget is None:
        return None
    return Settings(budget, Period.of(FOREVER if period is None else period), person_key)
