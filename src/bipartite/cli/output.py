"""What commands print: tables for people, JSON for programs, progress on a terminal."""

from __future__ import annotations

import json
import re
import sys
import time
from dataclasses import asdict, is_dataclass
from typing import TYPE_CHECKING, Any, Final, TypedDict, TypeVar

from bipartite.files import write_atomically
from bipartite.texts import align_columns, escaped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path
    from types import TracebackType
    from typing import Self

T = TypeVar("T")

OK: Final = 0
FINDING: Final = 1
USAGE: Final = 2
BAD_DATA: Final = 3
MISSING: Final = 4
DISK_FULL: Final = 5
BUG: Final = 70
BROKEN_PIPE: Final = 141
LONG: Final = 10.0
"""Seconds; anything faster is not announced."""
NUMBER: Final = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_BAR_WIDTH: Final = 30
_REDRAW_SECONDS: Final = 0.1
_PATIENCE: Final = 2.0  # seconds; anything faster needs no bar


class PrintedError(TypedDict):
    """What ``--json`` prints on stderr when a command fails."""

    error: str
    exit_code: int


def note(words: str) -> None:
    """Say on stderr what a person should know beside the data."""
    print(f"bipartite: {words}", file=sys.stderr)


def announce(what: str, seconds: float, hint: str = "") -> None:
    """Say on stderr, before it starts, that something takes long."""
    if seconds > LONG:
        about = f"{seconds:.0f} s" if seconds < 2 * 60 else f"{seconds / 60:.0f} min"
        note(f"{what} takes about {about}{f'; {hint}' if hint else ''}.")


def complain(message: object, code: int, *, as_json: bool = False) -> int:
    """Print on stderr what went wrong, as JSON if that was asked for, and return the exit code."""
    # A list of problems has these line ends and no others.
    said = "\n- ".join(map(escaped, str(message).split("\n- ")))
    if as_json:
        print(json.dumps(PrintedError(error=said, exit_code=code), ensure_ascii=False), file=sys.stderr)
    else:
        note(said)
    return code


def printed(kind: type[T], result: object, **others: object) -> T:
    """What a command prints of a result: the values that are named here, and its attributes for all other keys."""
    found: T = kind(
        **{name: others[name] if name in others else getattr(result, name) for name in kind.__annotations__}
    )
    return found


def print_json(value: object) -> None:
    """Print one JSON object on one line of stdout: exact decimals as text, a dataclass as an object of its fields."""
    print(json.dumps(value, default=_plain))


def _plain(value: Any) -> object:  # noqa: ANN401 (a dataclass or a decimal)
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return f"{value:f}" if value.is_finite() else None


def write_all(files: Iterable[tuple[Path | None, Callable[[], str | bytes]]]) -> None:
    """Write the files that are asked for; everything is computed before anything is written."""
    for path, content in [(path, make()) for path, make in files if path is not None]:
        write_atomically(path, content)


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table on stdout: first column left-aligned, the others right-aligned."""
    print(*align_columns([header, *rows]), sep="\n")


class Progress:
    """A progress bar on stderr, shown after ``patience`` seconds, and only if stderr is a terminal.

    It shows the time left if the total is known; ``rate`` adds the number per second.
    """

    def __init__(self, what: str, total: int | None, patience: float = _PATIENCE, *, rate: bool = False) -> None:
        self._what = what
        self._total = total
        self.done = 0
        self._began, self._rated = time.monotonic(), rate
        self._next_at = time.monotonic() + patience
        self._visible = sys.stderr.isatty()
        self._width = 0

    def advance(self, by: int) -> None:
        """Note that ``by`` more are done."""
        self.done += by
        now = time.monotonic()
        if self._visible and (now >= self._next_at or (self._width and self.done == self._total)):
            line = self._line()  # in place of the one before, which may have been longer
            sys.stderr.write(f"\r{line.ljust(self._width)}")
            sys.stderr.flush()
            self._next_at, self._width = now + _REDRAW_SECONDS, len(line)

    def reach(self, done: int, total: int | None) -> None:
        """Note that ``done`` are done in all, of ``total`` if that is known by now."""
        self._total = total
        self.advance(done - self.done)

    def _line(self) -> str:
        if not self._total:
            return f"{self.done:,} {self._what}{self._rate()}"
        full = _BAR_WIDTH * self.done // self._total
        percent = 100 * self.done // self._total
        return f"[{'#' * full}{'.' * (_BAR_WIDTH - full)}] {percent:3d} %  {self.done:,} {self._what}{self._rate()}"

    def _rate(self) -> str:
        if not self.done:
            return ""
        speed = self.done / max(time.monotonic() - self._began, 1e-9)
        rate = f", {speed:,.0f} {self._what}/s" if self._rated else ""
        left = (self._total - self.done) / speed if self._total else 0.0
        return f"{rate}, {left:,.0f} s left" if left >= 1 else rate

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._width:
            sys.stderr.write("\n")
