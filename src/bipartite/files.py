"""Atomic file writes: a file is written under a temporary name in the same folder, flushed, and renamed.

A killed run leaves at most ``.NAME.bipartite-XXXXXXXX.part``, never an unfinished file under the final name. Only its
owner can read it, and the next run that writes to the folder removes it, unless the lock beside it is still held.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
import time
import warnings
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bipartite.names import nearest_name
from bipartite.texts import escaped

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

_RETRY_SECONDS: Final = 0.01


def write_atomically(path: str | Path, content: str | bytes) -> None:
    """Write a file atomically; a pipe or device is written to directly."""
    path = Path(path).resolve()
    data = content.encode("utf-8") if isinstance(content, str) else content
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "No such folder", str(path.parent))
    with part_of(path) as part:
        part.write_bytes(data)
        flush(part)
        with naming(part):
            part.replace(path)


def not_found(path: str | Path) -> str:
    """Message for a missing file, with the most similar name in the same folder."""
    folder = Path(path).parent
    if not folder.is_dir():
        return f"not found: {path} (there is no folder {folder})"
    near = nearest_name(Path(path).name, (each.name for each in folder.iterdir()))
    return f"not found: {path}" + ("" if near is None else f" (did you mean {folder / near}?)")


@contextmanager
def part_of(path: Path, *, folder: bool = False) -> Iterator[Path]:
    """Yield an empty file or folder beside ``path``, its owner's alone; what is left of it is deleted in the end."""
    _sweep(path.parent)
    lock, held = _own_lock(path)
    part = lock.with_suffix(".part")
    try:
        if folder:
            part.mkdir(0o700)
        else:
            os.close(os.open(part, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o600))
        yield part
    finally:
        _remove(part)
        if held is not None:
            lock.unlink(missing_ok=True)
            os.close(held)


@contextmanager
def naming(part: Path) -> Iterator[None]:
    """In this block a finished part takes its final name; after it, it has the permissions of any new file."""
    if os.name != "posix":
        yield
        return
    opened = os.open(part, os.O_RDONLY)
    try:
        yield
        mask = os.umask(0o077)  # there is no other way to learn it
        os.umask(mask)
        mode = os.fstat(opened).st_mode
        usual = 0o777 if stat.S_ISDIR(mode) else 0o666
        with suppress(OSError):  # a file system without permissions: the file has its name, and nothing failed
            os.fchmod(opened, stat.S_IMODE(mode) & ~0o777 | usual & ~mask)
    finally:
        os.close(opened)


def take_lock(opened: int) -> bool:
    """Lock an open file until it is closed; False if another process holds the lock, or files cannot be locked here."""
    try:
        import fcntl  # noqa: PLC0415 (not on Windows)

        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True


def _own_lock(path: Path) -> tuple[Path, int | None]:
    """(a new lock beside a path, its open file; None where files cannot be locked).

    A file of its own: locking the part would keep others from writing to it on some file systems. It is held before it
    has the name by which another run would find it, lock it and remove what it stands for.
    """
    lock = path.with_name(f".{path.name}.bipartite-{secrets.token_hex(4)}.lock")
    fresh = lock.with_suffix(".new")
    try:
        opened = os.open(fresh, os.O_CREAT | os.O_RDWR | os.O_EXCL, 0o600)
    except OSError as error:  # of the file that was asked for: nobody knows the name of the lock
        raise OSError(error.errno, f"cannot be written ({error.strerror}); name another file", str(path)) from None
    if take_lock(opened):
        fresh.rename(lock)
        return lock, opened
    os.close(opened)
    fresh.unlink()
    return lock, None


def _sweep(folder: Path) -> None:
    """Remove what killed runs of this user left in a folder, and say so."""
    removed = []
    for lock in folder.glob(".*.bipartite-????????.lock"):
        part = lock.with_suffix(".part")
        try:
            opened = os.open(lock, os.O_RDWR | os.O_NOFOLLOW)
        except (OSError, AttributeError):
            continue  # of another user, already gone, or on Windows
        with suppress(OSError):
            if os.fstat(opened).st_uid == os.getuid() and take_lock(opened):
                removed += [str(part)] if os.path.lexists(part) else []
                _remove(part)
                lock.unlink()
        os.close(opened)
    if removed:
        msg = f"removed {escaped(', '.join(sorted(removed)))}: the unfinished output of a run that was killed."
        warnings.warn(msg, stacklevel=4)


def _remove(part: Path) -> None:
    if part.is_dir() and not part.is_symlink():
        shutil.rmtree(part)
    else:
        part.unlink(missing_ok=True)


def flush(path: Path) -> None:
    """Flush a file, or the entries of a folder, to disk."""
    if os.name != "posix" and path.is_dir():
        return
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def use_log(database: sqlite3.Connection, wait: float) -> bool:
    """Switch a SQLite file to its write-ahead log, and say whether it has one now.

    While others open the file SQLite may fail at once, and ``wait`` seconds are waited here.
    """
    import sqlite3  # noqa: PLC0415 (loaded by those who use it)

    until = time.monotonic() + wait
    while True:
        try:
            return bool(database.execute("PRAGMA journal_mode = WAL").fetchone()[0] == "wal")
        except sqlite3.OperationalError:
            if time.monotonic() > until:
                raise
            time.sleep(_RETRY_SECONDS)
