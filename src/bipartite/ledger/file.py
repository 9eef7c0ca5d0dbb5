"""The file of a ledger: a SQLite database readable by its owner only, written in atomic transactions.

A write-ahead log with ``synchronous=FULL`` is flushed to disk at every commit, so every report that was returned is on
disk; a process that dies inside a transaction leaves nothing behind. ``BEGIN IMMEDIATE`` takes the write lock before
anything is read, so that two processes never both find the same budget unspent.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from bipartite.errors import LedgerFileError
from bipartite.files import use_log
from bipartite.ledger.connection import FILES, OPENING, Connection, inherited_error, is_open, refuse_if_inherited
from bipartite.ledger.copying import OWNER_ONLY, back_up, explain_os_errors, make_private
from bipartite.ledger.place import Place
from bipartite.ledger.store import Store
from bipartite.ledger.versions import check_version, upgrade
from bipartite.lottery import current_process

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from bipartite.ledger.settings import Settings

_NO_RIGHTS: Final = frozenset({sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY})
_REASONS: Final[dict[int | None, str]] = {
    sqlite3.SQLITE_ERROR: "is no whole ledger ({said}); restore it from a backup, and debit nothing until then",
    sqlite3.SQLITE_NOTADB: "is not a SQLite database, so not a ledger; choose another path",
    sqlite3.SQLITE_CORRUPT: "is damaged; restore it from a backup, and debit nothing until then",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened; check the folder and its permissions",
    sqlite3.SQLITE_READONLY: "cannot be written; check its permissions",
    sqlite3.SQLITE_IOERR: (
        "cannot be read or written ({said}), and nothing was released; mend the disk or raise the limit of "
        "the size of files, then run `bipartite ledger check`"
    ),
    sqlite3.SQLITE_FULL: "cannot grow, the disk is full; nothing was debited or released",
}
_BLOCK_OF_ROWS: Final = 1000


class LedgerFile(Store[Connection]):
    """An open ledger file."""

    def __init__(self, path: str | os.PathLike[str], wait: float, *, read_only: bool = False) -> None:
        self._where = Place(path)
        self.path = self._where.path
        super().__init__(self.path.name, wait, read_only=read_only)
        self._quiet = False
        self.turn = threading.RLock()
        self._process = current_process()
        self._depth = 0
        self._connection: Connection | None = None
        self._place: tuple[object, ...] = ()
        self._unread: sqlite3.Cursor | list[Any] | None = None
        FILES[id(self)] = self

    def prepare(self, wanted: Settings | None) -> Settings:  # noqa: D102
        if not self._read_only:
            self._make_file(wanted)
        return super().prepare(wanted)

    def _upgrade(self, database: Connection) -> None:
        upgrade(database, self)

    def _make_file(self, wanted: Settings | None) -> None:
        """Create an empty file readable by its owner only, if there is none; its log will have the same permissions."""
        try:
            if self.path.stat().st_size:
                return
        except (FileNotFoundError, NotADirectoryError):
            pass
        except OSError:
            raise self._explain(sqlite3.SQLITE_CANTOPEN, "") from None
        self._require(wanted)
        self._refuse_other_log()
        if not self.path.parent.is_dir():
            raise LedgerFileError(
                f"{self.name} cannot be created: the folder {self.path.parent} does not exist; create it first."
            )
        # Closing any descriptor of a file releases all of the process's locks on it, so only the creator opens it,
        # while no other thread can open it in SQLite.
        with OPENING, suppress(FileExistsError):
            make_private(self.path)
        with explain_os_errors(self.path):
            self.path.chmod(OWNER_ONLY)

    @contextmanager
    def _transaction(self, *, writing: bool) -> Iterator[Connection]:
        begin, end = ("BEGIN IMMEDIATE", "COMMIT") if writing else ("BEGIN", "ROLLBACK")
        with self._taking_turns() as database:
            if self._depth > 1:
                raise LedgerFileError(
                    f"{self.name} was used inside one of its own transactions, by a source of random words or a "
                    "signal handler; use it before or afterwards."
                )
            try:
                database.execute(begin)  # inside try: interrupts often arrive just after waiting here
                self._check_moment(database)
                yield database
                self._check_ours(database)
                database.execute(end)
            except BaseException:
                if database.is_ours and database.in_transaction:
                    database.execute("ROLLBACK")
                raise
            # Checked again: nothing is released whose debit went to a file that was moved meanwhile.
            self._check_place()

    def stream(self, query: str) -> Iterator[tuple[Any, ...]]:
        """The rows of a query, from one snapshot; nothing else may use this file meanwhile."""
        with self._taking_turns() as database:
            database.execute("BEGIN")
            self._check_moment(database)
            self._unread = database.execute(query)
        while block := self._next_block():
            yield from block
        if self._quiet:
            self._check_place()

    def _check_moment(self, database: Connection) -> None:
        """Refuse a file that was moved, or is not the one that was first opened."""
        self._check_place()
        self._check_tables(database)

    def _next_block(self) -> list[tuple[Any, ...]]:
        with self._alone():
            if isinstance(self._unread, list):  # read to the end before a fork
                block, self._unread = self._unread, []
                return block
            with self._taking_turns():
                return [] if self._unread is None else self._unread.fetchmany(_BLOCK_OF_ROWS)

    def another(self) -> LedgerFile:  # noqa: D102
        file = LedgerFile(self.path, self._wait, read_only=self._read_only)
        file._where, file._held = self._where, self._held
        return file

    def back_up(self, target: str | os.PathLike[str]) -> None:  # noqa: D102
        back_up(self, target)

    def close(self) -> None:  # noqa: D102
        with self._alone():
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def forbid_after_fork(self) -> None:
        """Deny the transaction inside which this process was forked: it belongs to the parent."""
        if self._depth and self._connection is not None:
            self._connection.forbid()

    def close_for_fork(self) -> None:
        """Close the file between two transactions, after reading any remaining rows of a query."""
        if self._depth or self._connection is None or not self._connection.is_ours:
            return  # the connection stays with the process that opened it
        if isinstance(self._unread, sqlite3.Cursor):
            self._unread = self._unread.fetchall()
        self.close()

    def _alone(self) -> AbstractContextManager[bool]:
        """The lock that gives this thread its turn."""
        if self._process is not current_process():
            with OPENING:
                if self._process is not current_process():
                    # The thread that held the lock in the parent does not exist in this process.
                    self.turn, self._process = threading.RLock(), current_process()
        return self.turn

    @contextmanager
    def _taking_turns(self) -> Iterator[Connection]:
        """The connection, for this thread alone; SQLite's errors become messages that say what to do."""
        with self._alone():
            self._depth += 1
            try:
                database = self._ensure_connected()
                yield database
                self._check_ours(database)
            except sqlite3.Error as error:
                refusal = self._translate(error)
            else:
                return
            finally:
                self._depth -= 1
            raise refusal

    def _check_ours(self, database: Connection) -> None:
        if not database.is_ours:
            raise inherited_error(self.name)

    def _ensure_connected(self) -> Connection:
        if self._connection is not None:
            self._check_ours(self._connection)
            if self._quiet and self._unread is None and self._place != self._where.look(at_rest=True):
                self.close()  # it was written since the last read
        return self._connection or self._connect()

    def _connect(self) -> Connection:
        at_rest = self._where.at_rest() if self._read_only else None
        with OPENING:
            try:
                self._refuse_other_log()
                inode = self._where.inode()
            except OSError:
                raise self._explain(sqlite3.SQLITE_CANTOPEN, "") from None
            refuse_if_inherited(inode, self.name)
            self._quiet = at_rest is not None
            rights = "mode=rw" if not self._read_only else "mode=ro&immutable=1" if self._quiet else "mode=ro"
            database = Connection(f"{self.path.as_uri()}?{rights}", inode, self._wait)
            self._connection = database  # set at once, so that a child forked by a signal finds it
        try:
            self._check_ours(database)
            self._begin(database)
            self._place = at_rest or self._where.look(at_rest=False)
            if self._place[:1] != (inode,):
                self._place = ()  # it was replaced while it was opened
            self._check_place()
        except BaseException:
            if database.is_ours:
                self.close()
            raise
        return database

    def _refuse_other_log(self) -> None:
        """Refuse a log that SQLite would delete, or mix with a file to which it does not belong."""
        with OPENING:
            if not is_open(self.path) and self._where.has_other_log():
                raise LedgerFileError(
                    f"{self.name} has a log that belongs to another file (it is missing, empty or a copy, and "
                    f"{self.name}-wal may hold debits of the other); put that file back, or, to go on without "
                    "those debits, stop everything that uses the ledger and remove the log."
                )

    def _begin(self, database: Connection) -> None:
        """Check what was opened before changing anything: another program's database stays as it is."""
        database.execute("BEGIN")  # one snapshot: another process may upgrade the ledger meanwhile
        try:
            is_empty = database.is_empty()
            if not is_empty:
                check_version(database, self.name)
        finally:
            if database.is_ours and database.in_transaction:
                database.execute("ROLLBACK")
        if is_empty and self._read_only:
            raise LedgerFileError(f"{self.name} is empty: nothing has been debited yet, so there is no ledger to read.")
        if not self._read_only:
            self._use_log(database)
            for setting in ("synchronous = FULL", "fullfsync = ON", "foreign_keys = ON"):
                database.execute(f"PRAGMA {setting}")
            database.is_empty()  # opens the log

    def _check_place(self) -> None:
        """Refuse to continue with a file or log that is no longer where others will look for it."""
        found = self._where.look(at_rest=self._quiet)
        if not self._place or self._place != found:
            if self._quiet and found:
                raise LedgerFileError(f"{self.name} was written while it was being read; try again.")
            raise LedgerFileError(
                f"{self.name} or its log {self.name}-wal was moved, removed or replaced while it was open, "
                "and debits made here would be lost; stop everything that uses the ledger, put the files back, and "
                "run `bipartite ledger check`."
            )

    def _use_log(self, database: Connection) -> None:
        if not use_log(database, self._wait):
            raise LedgerFileError(f"{self.name} cannot use a write-ahead log here; put the ledger on a local disk.")

    def _translate(self, error: sqlite3.Error) -> LedgerFileError:
        if self._connection is not None and not self._connection.is_ours:
            return inherited_error(self.name)
        if self._quiet and self._connection is not None:
            self._check_place()  # a file that is written while being read looks damaged
        code = getattr(error, "sqlite_errorcode", None)
        return self._explain(None if code is None else code & 0xFF, str(error))

    def _explain(self, code: int | None, said: str) -> LedgerFileError:
        if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
            why = f"stayed busy for {self._wait:g} s; try again, or pass a longer wait="
        elif self._read_only and code in _NO_RIGHTS and os.path.exists(self._where.log):  # noqa: PTH110
            why = (
                "has a log that cannot be read without write permission; have its owner make a copy with "
                "`bipartite ledger backup`, and read that"
            )
        else:
            why = _REASONS.get(code, "cannot be used ({said}); run `bipartite ledger check`").format(said=said)
        return LedgerFileError(f"{self.name} {why}.")
