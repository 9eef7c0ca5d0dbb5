"""The file and log that a ledger's path leads to, so that debits go where every process looks for them."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bipartite.errors import LedgerFileError

if TYPE_CHECKING:
    from bipartite.ledger.connection import Inode

_RETRY_SECONDS: Final = 0.01
# Longer than the resolution of modification times in file systems.
_TICK_NS: Final = 20_000_000
# Where the header of a database says how it is written; without a log, as copies of a ledger are.
_WRITTEN: Final = slice(18, 20)
_WITHOUT_LOG: Final = b"\x01\x01"


class Place:
    """A path as given, and the one file it leads to."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        # The file itself, independent of links and of later changes of the working directory.
        self.path = Path(os.path.realpath(path))
        self._name, self.log = str(self.path), f"{self.path}-wal"
        # Where others look for it; not normalised, since ".." after a link is not the folder before it.
        self._given = os.path.join(os.getcwd(), path)  # noqa: PTH109, PTH118

    def at_rest(self) -> tuple[Any, ...] | None:
        """The state of a file that is not open anywhere, hence has no log; None for one in use.

        Such a file is read without a log, so that a reader without write permission leaves no log that writers could
        not use. Whether someone wrote meanwhile is checked afterwards by modification time, which is coarse, so a file
        that was just written is looked at again a little later.
        """
        while True:
            now = time.time_ns()
            found = self.look(at_rest=True)
            if not found or found[-1]:
                return None
            if abs(now - found[2]) > _TICK_NS:
                return found
            time.sleep(_RETRY_SECONDS)

    def look(self, *, at_rest: bool) -> tuple[Any, ...]:
        """The identities of the file and its log; for a file at rest, its size and time, and whether it has a log."""
        try:
            if not at_rest:
                return self.inode(), _inode(self.log)
            found, logs = self.path.stat(), (self.log, f"{self._name}-journal")
            return self.inode(), found.st_size, found.st_mtime_ns, any(map(os.path.exists, logs))
        except FileNotFoundError:
            return ()

    def has_other_log(self) -> bool:
        """Whether there is a log beside no file, an empty one or a copy, to which it cannot belong.

        Looks at the log first: while a ledger is being made, its file is there before its log.
        """
        try:
            if not os.path.getsize(self.log):  # noqa: PTH202
                return False
        except OSError:
            return False
        try:
            with self.path.open("rb") as file:
                return file.read(_WRITTEN.stop)[_WRITTEN] in {b"", _WITHOUT_LOG}
        except OSError:
            return not self.path.exists()

    def inode(self) -> Inode:
        """The identity of the file; a file with several hard links is refused."""
        found = os.stat(self._name)  # noqa: PTH116 (faster, and called in every transaction)
        if found.st_nlink > 1 and stat.S_ISREG(found.st_mode):
            raise LedgerFileError(
                f"{self.path.name} has {found.st_nlink} names (hard links), each of which would have its own log, "
                "and debits would be lost; remove the other links; a symbolic link is fine."
            )
        inode = found.st_dev, found.st_ino
        if self._given != self._name and _inode(self._given) != inode:
            raise LedgerFileError(
                f"{os.path.basename(self._given)} is reached by a symbolic link that no longer leads to "  # noqa: PTH119
                f"{self.path}, where this ledger debits: others debit elsewhere, and people could report twice; "
                "put the link back, or stop everything that uses the ledger before you change it."
            )
        return inode


def _inode(name: str) -> Inode:
    found = os.stat(name)  # noqa: PTH116
    return found.st_dev, found.st_ino
