"""Copying a snapshot of a ledger while it is in use."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bipartite.errors import InputError, LedgerFileError
from bipartite.files import flush, part_of
from bipartite.ledger.audit import findings
from bipartite.ledger.connection import Connection
from bipartite.postgres import is_url

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bipartite.ledger.file import LedgerFile

OWNER_ONLY = 0o600
# Suffixes of the files that SQLite keeps next to a database, and deletes.
_BESIDE = ("-wal", "-shm", "-journal")
# Holds the place of the copy until it is complete: an empty file would be taken for a ledger yet to be created.
_UNFINISHED = b"A copy of a ledger is being made here.\n"


def back_up(file: LedgerFile, target: str | os.PathLike[str]) -> None:
    """Copy the ledger into a new file readable by its owner only: complete, checked and on disk, or not at all."""
    if is_url(target):
        raise InputError("Expected a file for the copy, got a URL; pass a path.")
    path = Path(os.path.realpath(target))
    for left in (f"{path}-wal", f"{path}-journal"):
        if os.path.exists(left):  # noqa: PTH110
            raise InputError(
                f"{Path(left).name} of another database exists, and SQLite would take it for that of the copy; "
                "remove it, or choose another name."
            )
    try:
        make_private(path, _UNFINISHED)  # reserves the name; no file is replaced
    except FileExistsError:
        raise InputError(f"Expected a new file for the copy, but {path.name} exists; choose another name.") from None
    try:
        with explain_os_errors(path), part_of(path) as part:
            _copy(file, part, path.name)
            flush(part)
            part.replace(path)
            flush(path.parent)
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def make_private(path: Path, content: bytes = b"") -> None:
    """Create a file that only its owner can read, from the start."""
    if path.name.endswith(_BESIDE):
        raise InputError(
            f"Expected a name that does not end in {', '.join(_BESIDE[:-1])} or {_BESIDE[-1]}, got {path.name}: SQLite "
            "deletes files with such names next to its databases; choose another name."
        )
    with explain_os_errors(path):
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
        try:
            os.write(handle, content)
        except OSError:
            path.unlink()
            raise
        finally:
            os.close(handle)


@contextmanager
def explain_os_errors(path: Path) -> Iterator[None]:
    """Turn an OSError about a new file into a LedgerFileError that names it."""
    try:
        yield
    except FileExistsError:
        raise
    except OSError as error:
        raise LedgerFileError(
            f"{path.name} cannot be created in {path.parent} ({error.strerror}); fix that, or choose another folder."
        ) from error


def _copy(file: LedgerFile, part: Path, name: str) -> None:
    found = part.stat()
    try:
        # Our own connection class, so that a fork meanwhile leaves it to this process.
        with closing(Connection(part.as_uri(), (found.st_dev, found.st_ino))) as copy, file.reading() as database:
            wrong = _fill(copy, database, name)
    finally:
        for left in _BESIDE:  # after an error
            Path(f"{part}{left}").unlink(missing_ok=True)
    if wrong:
        raise LedgerFileError(
            f"{file.path.name} is inconsistent ({'; '.join(wrong[:3])}), and no copy was made; run `bipartite ledger "
            "check`, and keep the older copies."
        )


def _fill(copy: Connection, database: Connection, name: str) -> list[str]:
    """Make this a copy of a ledger, and check it."""
    try:
        copy.execute("PRAGMA locking_mode = EXCLUSIVE")  # no file of shared memory beside it
        database.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")  # a single file, without a log
        copy.view_as_current()
        return findings(copy)
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_FULL:
            raise
        raise LedgerFileError(
            f"{name} cannot be created, its disk is full; free some space, or choose another disk."
        ) from error
