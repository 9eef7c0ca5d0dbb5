"""What a run left in its folder, read back: so that it can be judged and drawn again without measuring."""

from __future__ import annotations

import csv
import importlib
import json
from typing import TYPE_CHECKING, Any

from bipartite.errors import InputError
from reproduction.runner.files import RUN
from reproduction.runner.machine import this_machine
from reproduction.runner.registry import EXPERIMENTS
from reproduction.runner.running import Outcome, note_of, pictures_of

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from reproduction.runner.contract import Row, Value


def table(file: Path) -> list[Row]:
    """The rows of a table, its numbers as numbers."""
    with file.open(encoding="utf-8", newline="") as lines:
        return [{column: value_of(value) for column, value in row.items()} for row in csv.DictReader(lines)]


def value_of(value: str) -> Value:
    """What a cell of a table holds."""
    if value in {"True", "False"}:
        return value == "True"
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return value


def record(folder: Path) -> dict[str, Any]:
    """What a run says of itself.

    Raises
    ------
    InputError
        The folder holds no run.
    """
    try:
        found: dict[str, Any] = json.loads((folder / RUN).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(
            f"Expected a folder with the {RUN} of a run, got {str(folder)!r} ({type(error).__name__}); run it first."
        ) from None
    return found


def outcomes(folder: Path, found: dict[str, Any], but: Collection[str] = ()) -> dict[str, Outcome]:
    """What every experiment of a run gave, by name, drawn anew; those that were not done, and ``but``, are left out.

    Raises
    ------
    InputError
        An experiment has changed since it was measured.
    """
    held = {each["name"]: each for each in found["experiments"] if each["state"] == "done"}
    read = {}
    for entry in EXPERIMENTS:
        if entry.name not in held or entry.name in but:
            continue
        said = held[entry.name]
        if said["version"] != entry.version:
            raise InputError(
                f"Expected {entry.name} measured by version {entry.version}, got version {said['version']} in "
                f"{str(folder)!r}; measure it again with python -m reproduction run {entry.name}."
            )
        module = importlib.import_module(f"reproduction.experiments.{entry.name}")
        rows = table(folder / f"{entry.name}.csv")
        elsewhere = _elsewhere(said, found["machine"])
        read[entry.name] = Outcome(
            entry,
            "done",
            settings=said["settings"],
            rows=rows,
            pictures=pictures_of(module, rows, extra=True),
            note=note_of(module),
            cells=said["cells"],
            kept=said["cells"],
            seconds=said["seconds"],
            elsewhere=elsewhere,
        )
    return read


def _elsewhere(said: dict[str, Any], machine: str) -> dict[str, int]:
    """Which other machines measured how many cells, seen from this one."""
    found: dict[str, int] = {machine: said["cells"] - sum(said["elsewhere"].values())}
    for where, count in said["elsewhere"].items():
        found[where] = found.get(where, 0) + count
    return {where: count for where, count in found.items() if count and where != this_machine()}
