"""A collector's SQLite file: durable, overwritten where something is deleted, and with a log that does not grow."""

from __future__ import annotations

import errno
import os
import sqlite3
from contextlib import closing, contextmanager, suppress
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from bipartite.collect import statements
from bipartite.errors import DatabaseError
from bipartite.files import use_log

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

_WAIT: Final = 20.0  # seconds for other workers
_CACHE: Final = 64 * 1024  # kilobytes; random keys touch pages everywhere
_OWNER_ONLY: Final = 0o600
_FULL: Final = "53100"  # the SQLSTATE of a full disk
_REASONS: Final = {
    sqlite3.SQLITE_FULL: "cannot grow, its disk is full; free some space",
    sqlite3.SQLITE_BUSY: f"stayed busy for {_WAIT:g} s; find what else holds it open",
    sqlite3.SQLITE_READONLY: "cannot be written; check that you may write it and its folder",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened; check that you may write it and its folder",
    sqlite3.SQLITE_NOTADB: "is not a SQLite database; choose another file",
    sqlite3.SQLITE_CORRUPT: "is damaged; restore it from a backup: what was sent since can be sent again",
    sqlite3.SQLITE_IOERR: "cannot be read or written, its disk fails; move it to another",
}


class SqliteFile:
    """One connection to the file of a collector."""

    blob, rowless = "BLOB", " WITHOUT ROWID"

    def __init__(self, path: Path, *, create: bool = False) -> None:
        self.path, self.name = path, path.name
        if create:
            try:
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, _OWNER_ONLY))
            except FileExistsError:
                pass
            except OSError as error:
                if error.errno not in {errno.EACCES, errno.EROFS}:
                    raise
                why = f"{path.name} cannot be made here ({error.strerror}); name another file, where you may write."
                raise DatabaseError(why) from None
        with self._explained():
            self._connection = sqlite3.connect(
                f"{path.resolve().as_uri()}?mode=rw", _WAIT, isolation_level=None, check_same_thread=False, uri=True
            )
            try:
                self._set_up()
            except BaseException:
                self._connection.close()
                raise

    def _set_up(self) -> None:
        # In this order: another may be making the tables and their mark, in one transaction.
        if self.tables() and self.execute("PRAGMA application_id").fetchone()[0] != statements.APPLICATION_ID:
            raise DatabaseError(f"{self.name} is a SQLite database, but not a collector's; choose another file.")
        # FULL syncs the log at each commit. Deleted rows are overwritten. A log that was copied back is cut to nothing.
        for setting in (
            "secure_delete = ON", "synchronous = FULL", "fullfsync = ON", "journal_size_limit = 0",
            f"cache_size = -{_CACHE}", "foreign_keys = ON",
        ):  # fmt: skip
            self.execute(f"PRAGMA {setting}")
        if not use_log(self._connection, _WAIT):
            raise DatabaseError(f"{self.name} cannot use a write-ahead log here; put it on a local disk.")

    def tables(self) -> set[str]:
        """The names of all tables."""
        return {name for (name,) in self.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}

    def mark(self) -> None:
        """Mark the file as a collector's."""
        self.execute(f"PRAGMA application_id = {statements.APPLICATION_ID}")

    def keep(self, name: str) -> None:
        """Copy the file as it is to readers.NAME.db beside it, for its owner only; an earlier copy stays."""
        for number in count(1):
            copy = self.path.with_suffix(f".{name}{'' if number == 1 else f'-{number}'}.db")
            with suppress(FileExistsError):
                os.close(os.open(copy, os.O_CREAT | os.O_EXCL | os.O_RDWR, _OWNER_ONLY))
                break
        with self._explained():
            self.execute("VACUUM INTO ?", (str(copy),))

    def execute(self, statement: str, parameters: Iterable[Any] = ()) -> sqlite3.Cursor:
        """Run one statement."""
        return self._connection.execute(statement, tuple(parameters))

    def executemany(self, statement: str, rows: Iterable[Iterable[Any]]) -> int:
        """Run a statement for each of these rows; how many rows of the table it wrote."""
        return self._connection.executemany(statement, rows).rowcount  # type: ignore[arg-type]  # tuples

    def add_keys(self, question: int, keys: Sequence[bytes]) -> list[bytes]:
        """Add these keys; return those that were not there."""
        add = self._connection.cursor().execute
        return [key for key in keys if add(statements.ADD_KEY, (question, key)).rowcount]

    def add_reports(self, question: int, reports: Sequence[tuple[str, int]]) -> None:
        """Count each of these reports so many times more."""
        self.executemany(statements.ADD_REPORT, ((question, *each) for each in reports))

    @contextmanager
    def transaction(self, *, alone: bool = False) -> Iterator[None]:  # noqa: ARG002 (every writer is alone)
        """All or nothing, on the disk when it ends; one writer at a time over all processes."""
        with self._explained():
            self.execute("BEGIN IMMEDIATE")
            try:
                yield
                self.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:  # a full disk has ended it already
                    self.execute("ROLLBACK")
                raise

    @contextmanager
    def reading(self) -> Iterator[None]:
        """One snapshot, whatever is written meanwhile."""
        with self._explained():
            self.execute("BEGIN")
            try:
                yield
            finally:
                if self._connection.in_transaction:
                    self.execute("ROLLBACK")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", None)
            why = _REASONS.get(-1 if code is None else code & 0xFF, f"cannot be used ({error})")
            full = code is not None and code & 0xFF == sqlite3.SQLITE_FULL
            refusal = DatabaseError(f"{self.name} {why}.", code=_FULL if full else "")
        else:
            return
        raise refusal

    def tidy(self) -> None:
        """Copy the log back into the file and cut it to nothing, unless somebody reads just now."""
        with suppress(sqlite3.OperationalError):
            self.execute("PRAGMA busy_timeout = 0")
            self.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        self.execute(f"PRAGMA busy_timeout = {1000 * _WAIT:.0f}")

    def compact(self) -> None:
        """Write the file anew, in the order of its content alone."""
        with self._explained():
            self.execute("VACUUM")
            self.tidy()

    def settle(self) -> None:
        """In a quiet minute, compact a file that fits into half the cache: a moment of work, and no temporary file."""
        if self.path.stat().st_size <= 512 * _CACHE:
            self.compact()

    def damage(self) -> list[str]:
        """What SQLite itself finds wrong with the file."""
        return [f"SQLite: {row[0]}" for row in self.execute("PRAGMA integrity_check(10)") if row[0] != "ok"]

    def close(self) -> None:
        """Close the file."""
        with closing(self._connection):
            self.tidy()
