"""What a run leaves in its folder, and reading it back: tables, pictures, verdicts, and where every part comes from."""

import datetime as dt
import importlib
import json
import tempfile
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from bipartite.errors import InputError
from bipartite.files import write_atomically
from reproduction.cells import NotKeptError
from reproduction.form import as_csv, table_of
from reproduction.judging import Judged
from reproduction.origin import these_versions, this_commit, this_machine
from reproduction.registry import EXPERIMENTS
from reproduction.running import ORIGIN, Outcome, drawn

CELLS: Final = "cells"
"""The folder of what was measured, inside that of the results."""
REPORT: Final = "report.html"
VERDICTS: Final = "verdicts.csv"
PARTS: Final = "parts.csv"
"""Every measured point: its settings and seconds, and which of the origins in ``run.json`` it has."""
RUN: Final = "run.json"


@dataclass(frozen=True, kw_only=True)
class Circumstances:
    """How a run came about: what was asked for, when, on what."""

    mode: str
    command: str
    finished: str = field(default_factory=lambda: dt.datetime.now(tz=dt.UTC).date().isoformat())
    """The day, in ISO form."""
    seconds: float
    """Of this run; parts that an earlier run measured are not in it."""
    machine: str = field(default_factory=this_machine)
    commit: str = field(default_factory=this_commit)
    versions: str = field(default_factory=these_versions)
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


def write(folder: Path, outcomes: Sequence[Outcome], judged: Sequence[Judged], how: Circumstances, page: str) -> None:
    """Write everything, each file whole; other files of the folder stay as they are.

    Raises
    ------
    NotKeptError
        A file cannot be written.
    """
    origins = list(dict.fromkeys(origin for outcome in outcomes for origin in outcome.origins()))
    files = {f"{each.entry.name}.csv": as_csv(each.rows) for each in outcomes if each.rows}
    files |= {f"{name}.svg": f"{svg}\n" for each in outcomes if each.rows for name, svg in each.pictures.items()}
    files[PARTS] = as_csv(
        [
            {
                "experiment": outcome.entry.name,
                "origin": origins.index(tuple(str(part[name]) for name in ORIGIN)),
                "seconds": part["seconds"],
                "point": json.dumps(part["point"], ensure_ascii=False),
            }
            for outcome in outcomes
            for part in outcome.parts
        ]
    )
    files[VERDICTS] = as_csv(verdict_rows(judged, how))
    files[RUN] = json.dumps(_record(outcomes, origins, how), indent=1, ensure_ascii=False) + "\n"
    files[REPORT] = page
    try:
        for name, content in files.items():
            write_atomically(folder / name, content)
    except OSError as error:
        raise NotKeptError.of(folder, error) from None


def verdict_rows(judged: Sequence[Judged], how: Circumstances) -> list[dict[str, str]]:
    """The verdicts as a table."""
    return [
        {
            "claim": claim.key,
            "where": claim.where,
            "says": claim.says,
            "verdict": str(found.verdict),
            "measured": found.measured,
            "why": found.why,
            "experiments": " ".join(claim.needs),
            "command": how.again(claim.needs),
            "evidence": claim.evidence,
        }
        for each in judged
        for claim, found in [(each.claim, each.judgement)]
    ]


def _record(outcomes: Sequence[Outcome], origins: Sequence[tuple[str, ...]], how: Circumstances) -> dict[str, Any]:
    return {
        **{name: value for name, value in vars(how).items() if name != "options"},
        "seconds": round(how.seconds, 3),
        "origins": [dict(zip(ORIGIN, origin, strict=True)) for origin in origins],
        "experiments": [
            {
                "name": outcome.entry.name,
                "figure": outcome.entry.figure,
                "state": outcome.state,
                "why": outcome.why,
                "settings": outcome.settings,
                "version": outcome.entry.version,
                "parts": len(outcome.parts),
                "kept": outcome.kept,
                "seconds": round(outcome.seconds, 3),
                "pictures": list(outcome.pictures),
            }
            for outcome in outcomes
        ],
    }


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


def outcomes_of(folder: Path, but: Collection[str] = ()) -> dict[str, Outcome]:
    """What every experiment of a run gave, by name, drawn anew; those that were not done, and ``but``, are left out.

    Raises
    ------
    InputError
        An experiment has changed since it was measured.
    """
    said = record(folder)
    held = {each["name"]: each for each in said["experiments"] if each["state"] == "done" and each["name"] not in but}
    parts = table_of((folder / PARTS).read_text(encoding="utf-8")).groupby("experiment")
    found = {}
    for entry in EXPERIMENTS:
        if entry.name not in held:
            continue
        theirs = held[entry.name]
        if theirs["version"] != entry.version:
            raise InputError(
                f"Expected {entry.name} measured by version {entry.version}, got version {theirs['version']} in "
                f"{str(folder)!r}; measure it again with python -m reproduction run --{said['mode']} {entry.name} "
                f"--out newer, and name it: python -m reproduction render {folder} --take newer."
            )
        module = importlib.import_module(f"reproduction.experiments.{entry.name}")
        outcome = Outcome(
            entry,
            settings=theirs["settings"],
            table=table_of((folder / f"{entry.name}.csv").read_text(encoding="utf-8")),
            kept=theirs["parts"],
            seconds=theirs["seconds"],
            parts=tuple(
                {"point": json.loads(part["point"]), "seconds": part["seconds"], **said["origins"][part["origin"]]}
                for part in parts.get_group(entry.name).to_dict("records")
            ),
        )
        found[entry.name] = drawn(outcome, module)
    return found
