"""Atomic publication of releases (see :mod:`bipartite.files`) with their specs.

Formats that cannot carry specs get a side file, ``NAME.bipartite.json``. It is published before the data: a crash in
between leaves specs without data, never data without specs. When an older release is replaced, its data are removed
first, so that they are never next to the specs of another release.
"""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING

from bipartite.errors import InputError
from bipartite.files import flush, naming, part_of
from bipartite.tables.formats import SIDE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def side_file(path: Path) -> Path:
    """The side file for the specs of a file that cannot carry them."""
    return path.with_name(path.name + SIDE)


def check_free(path: Path, *, overwrite: bool, released: bool = True) -> None:
    """Refuse to overwrite a file unless asked to, or to write where that is impossible."""
    exists = os.path.lexists(path)  # includes a dangling link
    if exists and not (path.is_file() or (path.is_symlink() and not path.exists())):
        raise InputError(f"{path} is not a file; name a file that may be written.")
    if exists and not overwrite:
        raise _exists_error(path, released=released)
    if not path.parent.is_dir():
        raise InputError(f"{path.parent} is not a folder; create it first.")


def _exists_error(path: Path, *, released: bool = True) -> InputError:
    more = ": a second release of the same rows adds its ε to what they have spent" if released else ""
    return InputError(f"{path} already exists; name another output, or use overwrite=True{more}.")


def publish(part: Path, path: Path, specs: str | None, *, overwrite: bool, private: bool = False) -> None:
    """Move a complete file to its final name, after its specs; a ``private`` one stays its owner's alone.

    Everything that may fail is done while an older release still exists; then one run at a time renames files in a
    folder, and each change is on disk before the next.
    """
    flush(part)
    side = side_file(path)
    with ExitStack() as stack:
        held = None
        if specs is not None:
            held = stack.enter_context(part_of(side))
            held.write_text(specs + "\n", encoding="utf-8")
            flush(held)
        stack.enter_context(_lock(path.parent))
        check_free(path, overwrite=overwrite)  # another process may have been faster
        if overwrite:
            path.unlink(missing_ok=True)
            if held is None:
                side.unlink(missing_ok=True)  # of an older release in another format
            flush(path.parent)
        if held is not None:
            with naming(held):
                held.replace(side)
            flush(path.parent)
        with nullcontext() if private else naming(part):
            if overwrite:
                part.replace(path)
            else:
                _move_to_free(part, path)
        flush(path.parent)


@contextmanager
def _lock(folder: Path) -> Iterator[None]:
    """Wait until no other run of this package renames files in a folder: two would mix their data and specs."""
    try:
        import fcntl  # noqa: PLC0415 (not on Windows)
    except ImportError:
        yield
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(opened, fcntl.LOCK_EX)
        yield
    finally:
        os.close(opened)


def _move_to_free(part: Path, path: Path) -> None:
    """Give a file its final name unless that is taken: a hard link fails if the name exists."""
    try:
        os.link(part, path)
    except FileExistsError:
        raise _exists_error(path) from None
    except OSError:
        part.replace(path)  # a file system without hard links
