"""A temporary folder, readable by its owner only, where DuckDB may spill what does not fit in memory.

Spilled data are private. A killed process cannot delete its folder, so the next one deletes any folder whose lock is
free.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bipartite.files import take_lock

if TYPE_CHECKING:
    from collections.abc import Iterator

PREFIX: Final = "bipartite-spill-"
_LOCK: Final = "lock"
_LOCKS: Final = os.name == "posix"
"""Whether files can be locked; without locks, no folder of another run is deleted."""


@contextmanager
def private_folder() -> Iterator[Path]:
    """Create a folder of mode 0700 among the system's temporary files, deleted when the block ends."""
    _sweep(Path(tempfile.gettempdir()))
    folder, lock = _own_folder()
    try:
        yield folder
    finally:
        os.close(lock)
        shutil.rmtree(folder, ignore_errors=True)


def _own_folder() -> tuple[Path, int]:
    """Create and lock a folder; try again if another process swept it before it was locked."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX))  # mkdtemp gives mode 0700
        try:
            lock = os.open(folder / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
        except FileNotFoundError:
            continue
        if (take_lock(lock) or not _LOCKS) and os.path.lexists(folder / _LOCK):
            return folder, lock
        os.close(lock)


def _sweep(parent: Path) -> None:
    """Delete the folders that killed runs of this user left behind."""
    for folder in parent.glob(f"{PREFIX}*"):
        try:
            if folder.is_symlink() or folder.stat().st_uid != os.getuid():
                continue
            lock = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
        except (OSError, AttributeError):
            continue  # not ours, just being created, or already gone
        try:
            if take_lock(lock):
                shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(lock)
