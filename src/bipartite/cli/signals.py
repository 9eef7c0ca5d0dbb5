"""Requests to stop, handled from the start: Ctrl-C, ``kill``, a terminal that is closed."""

from __future__ import annotations

import os
import signal
import threading
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from types import FrameType, TracebackType
    from typing import Self

_SIGNALS: Final = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
_STDERR: Final = 2
_BY_SIGNAL: Final = 128


class Stopping:
    """While the block runs, a request to stop raises ``KeyboardInterrupt``, so that temporary files are removed.

    Signals that are ignored stay ignored, as under ``nohup``.
    """

    def __init__(self) -> None:
        self._number: int | None = None
        self._starting = True
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                if signal.getsignal(number) not in {signal.SIG_IGN, None}:
                    self._before[number] = signal.signal(number, self._stop)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def started(self) -> None:
        """Note that from now on there may be files to remove."""
        self._starting = False

    @property
    def requested(self) -> bool:
        """Whether a request to stop has come."""
        return self._number is not None

    @property
    def exit_code(self) -> int:
        """The exit code that a shell expects of a stopped command."""
        return _BY_SIGNAL + (self._number or signal.SIGINT)

    def _stop(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        self._number = number
        if self._starting:
            # There is nothing to remove yet, and an interrupted import may raise anything.
            os.write(_STDERR, b"bipartite: interrupted\n")
            os._exit(self.exit_code)
        raise KeyboardInterrupt
