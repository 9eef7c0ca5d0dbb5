"""What the commands print and write: tables for people, JSON for programs, progress on a terminal."""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Any, Final

from bipartite.texts import aligned

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType
    from typing import Self

OK: Final = 0
FINDING: Final = 1
USAGE: Final = 2
BAD_DATA: Final = 3
MISSING: Final = 4
BUG: Final = 70
BROKEN_PIPE: Final = 141
_BAR_WIDTH: Final = 30
_REDRAW_SECONDS: Final = 0.1
_PATIENCE: Final = 2.0  # what takes less needs no bar


def complain(message: object, code: int) -> int:
    """Say what went wrong on stderr and return the exit code."""
    print(f"bipartite: {message}", file=sys.stderr)
    return code


def print_json(value: dict[str, Any]) -> None:
    """One JSON object on stdout, on one line."""
    print(json.dumps(value))


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table on stdout: first column to the left, the others to the right."""
    print(*aligned([header, *rows]), sep="\n")


class Progress:
    """A progress bar on stderr, after ``patience`` seconds; nothing at all when stderr is not a terminal.

    ``rate`` adds how many a second, and the time left where the total is known.
    """

    def __init__(self, what: str, total: int | None, patience: float = _PATIENCE, *, rate: bool = False) -> None:
        self._what = what
        self._total = total
        self.done = 0
        self._began = time.monotonic() if rate else None
        self._next_at = time.monotonic() + patience
        self._visible = sys.stderr.isatty()
        self._shown = False

    def advance(self, by: int) -> None:
        """Note that ``by`` more are done."""
        self.done += by
        now = time.monotonic()
        if self._visible and (now >= self._next_at or (self._shown and self.done == self._total)):
            self._next_at = now + _REDRAW_SECONDS
            self._shown = True
            sys.stderr.write(f"\r{self._line()}")
            sys.stderr.flush()

    def part(self, part: float) -> None:
        """Note which part of the next one is done, from 0 to 1."""
        now = time.monotonic()
        if self._visible and now >= self._next_at:
            self._next_at, self._shown = now + _REDRAW_SECONDS, True
            sys.stderr.write(f"\r{self._line()}, {part:.0%} of the next   ")
            sys.stderr.flush()

    def reach(self, done: int, total: int | None) -> None:
        """Note that ``done`` are done in all, of ``total`` where that is known by now."""
        self._total = total
        self.advance(done - self.done)

    def _line(self) -> str:
        if not self._total:
            return f"{self.done:,} {self._what}{self._rate()}"
        full = _BAR_WIDTH * self.done // self._total
        percent = 100 * self.done // self._total
        return f"[{'#' * full}{'.' * (_BAR_WIDTH - full)}] {percent:3d} %  {self.done:,} {self._what}{self._rate()}"

    def _rate(self) -> str:
        if self._began is None or not self.done:
            return ""
        speed = self.done / max(time.monotonic() - self._began, 1e-9)
        left = f", {(self._total - self.done) / speed:,.0f} s left" if self._total else ""
        return f", {speed:,.0f} {self._what}/s{left}   "

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            sys.stderr.write("\n")
