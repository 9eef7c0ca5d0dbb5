"""How far training is, on a terminal only."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_PATIENCE_SECONDS: Final = 2.0
_CLEAR: Final = "\r\x1b[K"


@contextmanager
def progress(total: int, clock: Callable[[], float] = time.monotonic) -> Iterator[Callable[[int], None]]:
    """Called with the number of each finished step, tells it on a terminal once two seconds have passed."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    began = clock()

    def tell(step: int) -> None:
        spent = clock() - began
        if spent >= _PATIENCE_SECONDS:
            left = spent / step * (total - step)
            sys.stderr.write(f"{_CLEAR}private SGD: step {step} of {total}, {left:.0f} s left")
            sys.stderr.flush()

    try:
        yield tell
    finally:
        sys.stderr.write(_CLEAR)
