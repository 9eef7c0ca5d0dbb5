"""Which process this is: what belongs to one process, words and file locks, must not be used in a fork of it.

A process number alone does not say: numbers are used again, and two processes in different namespaces can both be
number 1. Python's fork hooks run only where Python forks. So on Linux there is also a page of memory that the kernel
hands to a forked process as zeros, whoever forks it.
"""

from __future__ import annotations

import mmap
import os
import sys
from typing import Final

# Linux since 4.14; Python names it from 3.13 on only.
_MADV_WIPEONFORK: Final = 18


class _Process:
    """Tells a process from its forks. There is no lock: a forked process might find it held for ever."""

    def __init__(self) -> None:
        self._page: mmap.mmap | None = None
        if sys.platform == "linux":
            page = mmap.mmap(-1, mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            try:
                page.madvise(_MADV_WIPEONFORK)
                self._page = page
            except OSError:  # an older kernel: the number must do
                page.close()
        self.begin()

    def begin(self) -> None:
        """Be a new process. The page is marked last: until then every thread takes this for a copy, and begins anew."""
        self._state = (os.getpid(), object())
        if self._page is not None:
            self._page[0] = 1

    def token(self) -> object:
        """The same object at every call in this process, and a different one in every fork of it."""
        number, token = self._state
        if number == os.getpid() and (self._page is None or self._page[0]):
            return token
        self.begin()
        return self._state[1]


_PROCESS: Final = _Process()
here: Final = _PROCESS.token

if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=_PROCESS.begin)
