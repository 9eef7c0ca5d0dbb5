"""What was measured already: a small file for each point of a grid, written whole or not at all.

Two runs may share a folder: they measure different points, or the same one twice with the same rows. A file that cannot
be read, of a machine that lost power for instance, counts as not there. Beside its rows a file says which commit and
versions measured it, on which machine.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from bipartite.errors import InputError
from bipartite.files import write_atomically
from reproduction.form import Point, Row
from reproduction.origin import these_versions, this_commit, this_machine


class NotKeptError(InputError):
    """A folder of results that cannot be written: none can be made, no rights, no space left."""

    @classmethod
    def of(cls, folder: Path, error: OSError) -> NotKeptError:
        """The message for a folder and what the system says about it."""
        return cls(
            f"Expected --out as a folder that can be written, got {str(folder)!r} ({error.strerror}); make room or "
            "name another one. What was measured before is kept."
        )


@dataclass(frozen=True)
class Measured:
    """The rows of one point, and where they come from."""

    rows: list[Row]
    seconds: float
    machine: str = field(default_factory=this_machine)
    """This machine in its own words, or another in those of whoever collected the rows."""
    commit: str = field(default_factory=this_commit)
    versions: str = field(default_factory=these_versions)


class Cells:
    """The measured points of one version of an experiment."""

    def __init__(self, folder: Path, name: str, version: int) -> None:
        self._folder = folder / name
        self._name, self._version = name, version

    def load(self, point: Point) -> Measured | None:
        """What was measured at a point; None where nothing was."""
        try:
            held = json.loads(self._path(point).read_text(encoding="utf-8"))
            if held.pop("version") != self._version or held.pop("point") != _plain(point):
                return None
            return Measured(**held)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def store(self, point: Point, measured: Measured) -> None:
        """Keep what was measured.

        Raises
        ------
        NotKeptError
            It cannot be written.
        """
        held = {"version": self._version, "point": _plain(point), **asdict(measured)}
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            write_atomically(self._path(point), json.dumps(held, ensure_ascii=False))
        except OSError as error:
            raise NotKeptError.of(self._folder, error) from None

    def _path(self, point: Point) -> Path:
        key = json.dumps([self._name, self._version, _plain(point)], sort_keys=True)
        return self._folder / f"{hashlib.sha256(key.encode()).hexdigest()[:24]}.json"


def _plain(point: Point) -> Point:
    """A point as JSON would give it back: tuples become lists."""
    found: Point = json.loads(json.dumps(point, sort_keys=True))
    return found
