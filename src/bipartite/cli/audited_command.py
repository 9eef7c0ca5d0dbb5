"""Run a command that is audited: it reads one value per line and writes one report per line."""

from __future__ import annotations

import json
import shlex
import subprocess
import threading
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any, Final

from bipartite.errors import DataFileError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable

_LINES: Final = 2**12


def reports_of(command: str, value: str, trials: int, progress: Callable[[int], None], *, each: bool) -> list[Any]:
    """Draw all reports of one value; with ``each``, the command is started for every one."""
    arguments = _split(command)
    runs, lines = (trials, 1) if each else (1, trials)
    return [report for _ in range(runs) for report in _run(arguments, value, lines, progress)]


def _split(command: str) -> list[str]:
    try:
        arguments = shlex.split(command)
    except ValueError:
        arguments = []
    if not arguments:
        raise InputError(
            f"Expected --command as a program with its arguments, got {command!r}; try 'python client.py'."
        )
    return arguments


def _run(arguments: list[str], value: str, lines: int, progress: Callable[[int], None]) -> list[Any]:
    """The reports of one run that reads this many equal lines."""
    reports: list[Any] = []
    # The auditor names the command; it runs with their rights and without a shell.
    with subprocess.Popen(  # noqa: S603
        arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8", errors="replace"
    ) as process:
        writer = threading.Thread(target=_feed, args=(process.stdin, value, lines))
        writer.start()
        try:
            for line in process.stdout or ():
                reports.append(_report(line))
                if len(reports) > lines:
                    break
                if len(reports) % _LINES == 0 or len(reports) == lines:
                    progress((len(reports) - 1) % _LINES + 1)
        finally:
            if len(reports) > lines:
                process.kill()
            writer.join()
    if len(reports) > lines:
        raise DataFileError(
            f"the command wrote more than the {lines} lines that it read; it must answer each line with one line."
        )
    if process.returncode:
        raise DataFileError(
            f"the command failed with exit code {process.returncode}; run it by hand with one line to see why."
        )
    if len(reports) < lines:
        raise DataFileError(
            f"the command read {lines} lines and wrote {len(reports)}; it must answer each line with one line."
        )
    return reports


def _feed(pipe: IO[str], value: str, lines: int) -> None:
    try:
        with pipe:
            for start in range(0, lines, _LINES):
                pipe.write(f"{value}\n" * min(_LINES, lines - start))
    except OSError:
        """The command ended before it had read everything; what it wrote shows whether that matters."""


def _report(line: str) -> float | str | tuple[object, ...]:
    """A report as a number, a vector, or text."""
    text = line.strip()
    if text.startswith("["):
        with suppress(ValueError, RecursionError):
            return tuple(json.loads(text))
    for read in (int, float):
        with suppress(ValueError):
            return read(text)
    return text
