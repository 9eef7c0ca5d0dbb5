"""The identity of the current process: random words and file locks must not be used in a fork of their process.

A process id is not enough: ids are reused, and processes in different namespaces can share one. Python's fork hooks run
only where Python forks. So on Linux there is also a page of memory that the kernel zeroes in every forked process.
"""

from __future__ import annotations

import mmap
import os
import sys
from typing import Final

# Linux since 4.14; Python exports it only from 3.13 on.
_MADV_WIPEONFORK: Final = 18


class _Process:
    """Tells a process from its forks, without a lock, which a forked process could find held forever."""

    def __init__(self) -> None:
        self._page: mmap.mmap | None = None
        if sys.platform == "linux":
            page = mmap.mmap(-1, mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            try:
                page.madvise(_MADV_WIPEONFORK)
                self._page = page
            except OSError:  # an older kernel: the process id must do
                page.close()
        self.begin()

    def begin(self) -> None:
        """Start as a new process. The page is marked last: until then every thread sees a fork and starts anew."""
        self._state = (os.getpid(), object())
        if self._page is not None:
            self._page[0] = 1

    def token(self) -> object:
        """The same object at every call in this process, and a different one in every fork of it."""
        pid, token = self._state
        if pid == os.getpid() and (self._page is None or self._page[0]):
            return token
        self.begin()
        return self._state[1]


_PROCESS: Final = _Process()
current_process: Final = _PROCESS.token

if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=_PROCESS.begin)
