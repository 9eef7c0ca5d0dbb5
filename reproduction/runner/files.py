"""What a run leaves in its folder: a table for each experiment, a picture for each figure, the verdicts, the report."""

from __future__ import annotations

import contextlib
import csv
import importlib.metadata
import io
import json
import platform
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from bipartite import __version__
from bipartite.files import write_atomically
from reproduction.runner.cache import NotKeptError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from reproduction.claims import Judged
    from reproduction.runner.contract import Rows
    from reproduction.runner.running import Outcome

CELLS: Final = "cells"
"""The folder of what was measured, inside that of the results."""
REPORT: Final = "report.html"
VERDICTS: Final = "verdicts.csv"
RUN: Final = "run.json"
_LIBRARIES: Final = ("numpy", "scipy", "scikit-learn", "torch", "numba", "dp-accounting")


@dataclass(frozen=True)
class Circumstances:
    """How a run came about: what was asked for, when, on what."""

    mode: str
    command: str
    finished: str
    """The day, in ISO form."""
    seconds: float
    """Of this run; cells that an earlier run measured are not in it."""
    machine: str
    versions: dict[str, str]
    options: str = ""
    """Those of the command that change what is measured, each behind a space."""

    def again(self, names: Sequence[str]) -> str:
        """The command that measures these experiments so."""
        return f"python -m reproduction run {' '.join(names)}{self.options}" if names else ""


def prepare(folder: Path) -> None:
    """Make sure that the folder can be written, before hours are spent.

    Raises
    ------
    NotKeptError
        It cannot be made or written.
    """
    try:
        (folder / CELLS).mkdir(parents=True, exist_ok=True)
        for each in (folder, folder / CELLS):
            with tempfile.TemporaryFile(dir=each):  # no name that a run beside this one could take away
                pass
    except OSError as error:
        raise NotKeptError.of(folder, error) from None


def all_versions() -> dict[str, str]:
    """bipartite, Python and the libraries that compute, those that are installed."""
    found = {"bipartite": __version__, "python": platform.python_version()}
    for library in _LIBRARIES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[library] = importlib.metadata.version(library)
    return found


def write_all(
    folder: Path, outcomes: Sequence[Outcome], judged: Sequence[Judged], how: Circumstances, page: str
) -> list[Path]:
    """Write everything, each file whole; other files of the folder stay as they are."""
    pictures = [
        _write(folder / f"{name}.svg", f"{svg}\n") for outcome in outcomes for name, svg in outcome.pictures.items()
    ]
    return pictures + write_tables(folder, outcomes, judged, how, page)


def write_tables(
    folder: Path, outcomes: Sequence[Outcome], judged: Sequence[Judged], how: Circumstances, page: str
) -> list[Path]:
    """Write everything but the pictures, which the report holds as well."""
    written = [
        _write(folder / f"{outcome.entry.name}.csv", as_csv(outcome.rows))
        for outcome in outcomes
        if outcome.state == "done"
    ]
    written.append(_write(folder / VERDICTS, as_csv(verdict_rows(judged, how))))
    written.append(
        _write(folder / RUN, json.dumps(as_json(outcomes, judged, how), indent=1, ensure_ascii=False) + "\n")
    )
    written.append(_write(folder / REPORT, page))
    return written


def as_csv(rows: Rows) -> str:
    """Tidy rows as CSV: every column that some row has, in order of appearance."""
    columns = list(dict.fromkeys(column for row in rows for column in row))
    held = io.StringIO()
    writer = csv.DictWriter(held, columns, lineterminator="\n", restval="")
    writer.writeheader()
    writer.writerows(rows)
    return held.getvalue()


def verdict_rows(judged: Sequence[Judged], how: Circumstances) -> list[dict[str, str]]:
    """The verdicts as a table."""
    return [
        {
            "claim": each.claim.key,
            "where": each.claim.where,
            "says": each.claim.says,
            "verdict": str(each.judgement.verdict),
            "measured": each.judgement.measured,
            "why": each.judgement.why,
            "experiments": " ".join(each.claim.needs),
            "command": how.again(each.claim.needs),
            "evidence": each.claim.evidence,
        }
        for each in judged
    ]


def as_json(outcomes: Sequence[Outcome], judged: Sequence[Judged], how: Circumstances) -> dict[str, Any]:
    """A run in one object (schemas/reproduce.json)."""
    return {
        "mode": how.mode,
        "command": how.command,
        "finished": how.finished,
        "seconds": round(how.seconds, 3),
        "machine": how.machine,
        "versions": how.versions,
        "experiments": [
            {
                "name": outcome.entry.name,
                "figure": outcome.entry.figure,
                "state": outcome.state,
                "why": outcome.why,
                "settings": json.loads(json.dumps(outcome.settings)),
                "version": outcome.entry.version,
                "cells": outcome.cells,
                "kept": outcome.kept,
                "elsewhere": outcome.elsewhere,
                "seconds": round(outcome.seconds, 3),
                "rows": len(outcome.rows),
                "pictures": list(outcome.pictures),
            }
            for outcome in outcomes
        ],
        "verdicts": verdict_rows(judged, how),
    }


def _write(path: Path, content: str | bytes) -> Path:
    write_atomically(path, content)
    return path
