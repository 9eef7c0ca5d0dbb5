"""Where a ledger lies: which file and which log its name leads to, so that debits go where everybody looks for them."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bipartite.errors import LedgerFileError

if TYPE_CHECKING:
    from bipartite.ledger.connection import Inode

_RETRY_SECONDS: Final = 0.01
# Longer than file systems leave between two times that they tell apart.
_TICK_NS: Final = 20_000_000


class Place:
    """A path as it was given, and the one file that it leads to."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        # The file itself, whatever links lead to it and whatever folder the process goes to later.
        self.path = Path(os.path.realpath(path))
        self._name, self.log = str(self.path), f"{self.path}-wal"
        # Where others look for it; not tidied up: ".." behind a link is not the folder before it.
        self._given = os.path.join(os.getcwd(), path)  # noqa: PTH109, PTH118

    def at_rest(self) -> tuple[object, ...] | None:
        """How a file lies that is open nowhere, which is to say: without a log; None for one that is in use.

        It is then read as it lies, so that a reader who may not write leaves no log behind that the writers could not
        use. Whether somebody wrote meanwhile is looked at afterwards: by its time, which is coarse, so a file that was
        written just now is looked at again a little later.
        """
        while True:
            now = time.time_ns()
            try:
                found = self._resting()
            except FileNotFoundError:
                return None
            if found[-1]:
                return None
            if abs(now - found[2]) > _TICK_NS:
                return found
            time.sleep(_RETRY_SECONDS)

    def _resting(self) -> tuple[Inode, int, int, bool]:
        found = self.path.stat()
        logs = (self.log, f"{self._name}-journal")
        return self.inode(), found.st_size, found.st_mtime_ns, any(map(os.path.exists, logs))

    def look(self, *, at_rest: bool) -> tuple[object, ...]:
        """Which file and log are there; of a file that is read as it lies, also when it was last written."""
        try:
            return self._resting() if at_rest else (self.inode(), _inode(self.log))
        except FileNotFoundError:
            return ()

    def inode(self) -> Inode:
        """Which file the path names; a file of several names is refused."""
        found = os.stat(self._name)  # noqa: PTH116 (at every transaction, and quicker so)
        if found.st_nlink > 1 and stat.S_ISREG(found.st_mode):
            msg = (
                f"{self.path.name} has {found.st_nlink} names (hard links), each of which would have a log of its own, "
                "and debits would be lost; remove the other links; a symbolic link is fine."
            )
            raise LedgerFileError(msg)
        inode = found.st_dev, found.st_ino
        if self._given != self._name and _inode(self._given) != inode:
            msg = (
                f"{os.path.basename(self._given)} is reached by a symbolic link that no longer leads to "  # noqa: PTH119
                f"{self.path}, where this ledger debits: others debit elsewhere, and people could report twice; "
                "put the link back, or stop everything that uses the ledger before you change it."
            )
            raise LedgerFileError(msg)
        return inode


def _inode(name: str) -> Inode:
    found = os.stat(name)  # noqa: PTH116
    return found.st_dev, found.st_ino
