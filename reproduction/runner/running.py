"""Runs experiments cell by cell: what was measured before is not measured again, and what cannot run is said.

Each finished cell is kept at once, so a run that is stopped in any way, ``kill -9`` too, goes on where it was. Runs of
several experiments may share a folder at the same time.
"""

from __future__ import annotations

import inspect
import json
import time
import traceback
from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from bipartite.errors import DataFileError, InputError, MissingDataError, MissingExtraError
from bipartite.files import write_atomically
from reproduction.runner.cache import Cache, Measured, NotKeptError
from reproduction.runner.machine import this_machine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reproduction.runner.contract import Experiment, Row
    from reproduction.runner.registry import Entry

Mode = Literal["quick", "full"]
State = Literal["done", "missing data", "damaged data", "missing extra", "missing part", "failed"]
_MOST_SEEDS: Final = 1000


class Watch:
    """Told what goes on; this one keeps it to itself."""

    def begins(self, entry: Entry, cells: int, kept: int) -> None:
        """An experiment of so many cells, of which so many were measured before."""

    def cell(self, seconds: float) -> None:
        """A cell is measured."""

    def ends(self, outcome: Outcome) -> None:
        """An experiment is over."""


@dataclass(frozen=True)
class Outcome:
    """What one experiment gave."""

    entry: Entry
    state: State
    why: str = ""
    """Where the state is not ``done``: what is missing, with its address and what to do, or what broke."""
    settings: dict[str, Any] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    pictures: dict[str, str] = field(default_factory=dict)
    note: str = ""
    cells: int = 0
    kept: int = 0
    """Cells that an earlier run had measured."""
    seconds: float = 0.0
    """Time of measuring, in whichever run and on whichever machine it was."""
    elsewhere: dict[str, int] = field(default_factory=dict)
    """How many cells other machines measured, by what is known of these."""


def run(
    entries: Sequence[Entry],
    folder: Path,
    *,
    mode: Mode = "quick",
    seeds: int | None = None,
    extra: bool = True,
    watch: Watch | None = None,
) -> list[Outcome]:
    """Measure what is not measured yet, and draw; one outcome for each entry, whatever happened to the others."""
    check_seeds(seeds)
    told = watch or Watch()
    outcomes = []
    for entry in entries:
        outcome = _attempted(entry, folder, (mode, seeds, extra), told)
        outcomes.append(outcome)
        told.ends(outcome)
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


def _attempted(entry: Entry, folder: Path, how: tuple[Mode, int | None, bool], watch: Watch) -> Outcome:
    try:
        return _run(entry, folder, how, watch)
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
    if error.name.startswith("bipartite"):
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


def _run(entry: Entry, folder: Path, how: tuple[Mode, int | None, bool], watch: Watch) -> Outcome:
    mode, seeds, extra = how
    module = entry.load()
    settings = settings_of(module, mode, seeds)
    cells = module.cells(settings)
    cache = Cache(folder, entry.name, entry.version)
    known = {cell: cache.load(cell) for cell in cells}
    kept = sum(measured is not None for measured in known.values())
    watch.begins(entry, len(cells), kept)
    rows: list[Row] = []
    seconds = 0.0
    elsewhere: Counter[str] = Counter()
    for cell in cells:
        measured = known[cell]
        if measured is None:
            began = time.perf_counter()
            found = module.measure(cell)
            measured = Measured(plain_rows(found), time.perf_counter() - began, this_machine())
            cache.store(cell, measured)
            watch.cell(measured.seconds)
        rows += measured.rows
        seconds += measured.seconds
        elsewhere.update([measured.machine] if measured.machine != this_machine() else [])
    return Outcome(
        entry,
        "done",
        settings=asdict(settings),
        rows=rows,
        pictures=pictures_of(module, rows, extra=extra),
        note=note_of(module),
        cells=len(cells),
        kept=kept,
        seconds=seconds,
        elsewhere=dict(elsewhere),
    )


def note_of(module: Experiment) -> str:
    """What an experiment says below its pictures, in lines."""
    return str(getattr(module, "NOTE", ""))


def settings_of(module: Experiment, mode: Mode, seeds: int | None) -> Any:  # noqa: ANN401 (its own Settings)
    """The settings of a mode, with another number of seeds where one is asked for and the experiment has any."""
    settings = module.QUICK if mode == "quick" else module.Settings()
    held = getattr(settings, "seeds", None)
    if seeds is None or held is None:
        return settings
    return replace(settings, seeds=tuple(range(seeds)) if isinstance(held, tuple) else seeds)


def pictures_of(module: Experiment, rows: list[Row], *, extra: bool) -> dict[str, str]:
    """The pictures, without the lines that the paper does not have where they are not wanted."""
    if "extra" in inspect.signature(module.draw).parameters:
        return module.draw(rows, extra=extra)  # type: ignore[call-arg]
    return module.draw(rows)


def plain_rows(rows: Sequence[Row]) -> list[Row]:
    """Rows as they come back from a file, so that a first run and a continued one are equal."""
    return [dict(row) for row in json.loads(json.dumps([_plain(row) for row in rows]))]


def _plain(row: Row) -> dict[str, Any]:
    return {column: value.item() if hasattr(value, "item") else value for column, value in row.items()}
