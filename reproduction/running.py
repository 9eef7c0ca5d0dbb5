"""Runs experiments point by point: what was measured before is not measured again, and what cannot run is said.

Each finished point is kept at once, so a run that is stopped in any way, ``kill -9`` too, goes on where it was. Runs of
several experiments may share a folder at the same time.
"""

import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal

import pandas as pd

from bipartite.cli import Progress
from bipartite.errors import DataFileError, InputError, MissingDataError, MissingExtraError
from bipartite.files import write_atomically
from reproduction.cells import Cells, Measured, NotKeptError
from reproduction.form import Experiment, Grid, Row, frame, plain
from reproduction.registry import Entry

Mode = Literal["quick", "full"]
State = Literal["done", "missing data", "damaged data", "missing extra", "missing part", "failed"]
ORIGIN: Final = ("machine", "commit", "versions")
_MOST_SEEDS: Final = 1000


@dataclass(frozen=True)
class Outcome:
    """What one experiment gave."""

    entry: Entry
    state: State = "done"
    why: str = ""
    """Where the state is not ``done``: what is missing, with its address and what to do, or what broke."""
    settings: dict[str, Any] = field(default_factory=dict)
    """The values of every axis of its grid."""
    rows: list[Row] = field(default_factory=list)
    table: pd.DataFrame = field(default_factory=pd.DataFrame)
    """The rows, as they are judged and drawn."""
    pictures: dict[str, str] = field(default_factory=dict)
    note: str = ""
    kept: int = 0
    """Points that an earlier run had measured."""
    seconds: float = 0.0
    """Time of measuring, in whichever run and on whichever machine it was."""
    parts: tuple[dict[str, Any], ...] = ()
    """Every point with its seconds, machine, commit and versions."""

    def origins(self) -> Counter[tuple[str, ...]]:
        """How many points each machine measured with which commit and versions."""
        return Counter(tuple(str(part[name]) for name in ORIGIN) for part in self.parts)


def run(
    entries: Sequence[Entry],
    folder: Path,
    *,
    mode: Mode = "quick",
    seeds: int | None = None,
    tell: Callable[[Outcome], None] = lambda _: None,
) -> list[Outcome]:
    """Measure what is not measured yet, and draw; one outcome for each entry, whatever happened to the others.

    ``tell`` hears of every outcome at once.
    """
    check_seeds(seeds)
    outcomes = []
    for entry in entries:
        outcomes.append(_attempted(entry, folder, mode, seeds))
        tell(outcomes[-1])
    return outcomes


def check_seeds(seeds: int | None) -> None:
    """Refuse a number of seeds that no experiment can have.

    Raises
    ------
    InputError
        It is none from 1 to 1000.
    """
    if seeds is not None and not 1 <= seeds <= _MOST_SEEDS:
        raise InputError(f"Expected seeds from 1 to {_MOST_SEEDS}, got {seeds}; leave it out for those of the mode.")


def _attempted(entry: Entry, folder: Path, mode: Mode, seeds: int | None) -> Outcome:
    try:
        module = entry.load()
        grid = module.QUICK if mode == "quick" else module.FULL
        return _run(entry, module, grid if seeds is None else grid.seeds(seeds), folder)
    except (NotKeptError, BrokenPipeError):  # nothing can be written any more: the others would fail as well
        raise
    except Exception as error:  # noqa: BLE001 (hours of the others are not lost for a bug of one)
        return _missing(entry, error) or _failed(entry, folder, error)


def _missing(entry: Entry, error: Exception) -> Outcome | None:
    """What an experiment lacks, by the error that says so; None where it is a bug."""
    states: tuple[tuple[type[Exception], State], ...] = (
        (MissingExtraError, "missing extra"),
        (MissingDataError, "missing data"),
        (DataFileError, "damaged data"),
    )
    for kind, state in states:
        if isinstance(error, kind):
            return Outcome(entry, state, str(error))
    if not isinstance(error, ModuleNotFoundError) or error.name is None:
        return None
    if error.name == f"reproduction.experiments.{entry.name}":
        return Outcome(entry, "missing part", f"This version of bipartite has no experiment {entry.name}.")
    if error.name.startswith(("bipartite", "reproduction")):
        return None
    return Outcome(entry, "missing extra", str(entry.lacks(error.name)))


def _failed(entry: Entry, folder: Path, error: Exception) -> Outcome:
    """A bug: where it was in a line, all of it in a file. Experiments read public data, so a traceback may be shown."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    said = " ".join(str(error).split())
    file = folder / entry.name / "traceback.txt"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, "".join(traceback.format_exception(error)))
    except OSError as full:
        raise NotKeptError.of(file.parent, full) from error
    why = (
        f"{type(error).__name__}{f': {said}' if said else ''} ({Path(last.filename).name}, line {last.lineno}). "
        f"This is a bug in bipartite, please report it with {folder.name}/{entry.name}/{file.name}."
    )
    return Outcome(entry, "failed", why)


def _run(entry: Entry, module: Experiment, grid: Grid, folder: Path) -> Outcome:
    points = list(grid)
    cells = Cells(folder, entry.name, entry.version)
    known = [cells.load(point) for point in points]
    kept = sum(measured is not None for measured in known)
    rows: list[Row] = []
    parts = []
    with Progress(f"parts of {entry.name}", len(points)) as progress:
        for point, before in zip(points, known, strict=True):
            measured = before
            if measured is None:
                began = time.perf_counter()
                found = plain(module.measure(**point))
                measured = Measured(found, time.perf_counter() - began)
                cells.store(point, measured)
            rows += measured.rows
            parts.append({"point": point, **{name: getattr(measured, name) for name in ("seconds", *ORIGIN)}})
            progress.advance(1)
    seconds = sum(part["seconds"] for part in parts)
    outcome = Outcome(entry, settings=grid.axes(), rows=rows, table=frame(rows), kept=kept, seconds=seconds,
                      parts=tuple(parts))  # fmt: skip
    return drawn(outcome, module)


def drawn(outcome: Outcome, module: Experiment) -> Outcome:
    """The outcome with its pictures, and what the experiment says below them."""
    return replace(outcome, pictures=module.draw(outcome.table), note=str(getattr(module, "NOTE", "")))
