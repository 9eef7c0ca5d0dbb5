"""What was measured already: a small file for each cell, written whole or not at all.

Two runs may share a folder: they measure different cells, or the same one twice with the same rows. A file that cannot
be read, of a machine that lost power for instance, counts as not there.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from bipartite.errors import InputError
from bipartite.files import write_atomically

if TYPE_CHECKING:
    from pathlib import Path

    from reproduction.runner.contract import Row


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
    """The rows of one cell, and how long they took."""

    rows: list[Row]
    seconds: float
    machine: str
    """The machine that measured: this one in its own words, or another in those of whoever collected the rows."""


class Cache:
    """The measured cells of one version of an experiment."""

    def __init__(self, folder: Path, name: str, version: int) -> None:
        self._folder = folder / name
        self._name, self._version = name, version

    def load(self, cell: Any) -> Measured | None:  # noqa: ANN401 (any frozen dataclass)
        """What was measured for a cell; None where nothing was."""
        try:
            held = json.loads(self._path(cell).read_text(encoding="utf-8"))
            if held["version"] != self._version or held["cell"] != _plain(cell):
                return None
            rows = [dict(row) for row in held["rows"]]
            return Measured(rows, float(held["seconds"]), str(held["machine"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def store(self, cell: Any, measured: Measured) -> None:  # noqa: ANN401
        """Keep what was measured.

        Raises
        ------
        NotKeptError
            It cannot be written.
        """
        held = {
            "experiment": self._name,
            "version": self._version,
            "cell": _plain(cell),
            "machine": measured.machine,
            "seconds": measured.seconds,
            "rows": measured.rows,
        }
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            write_atomically(self._path(cell), json.dumps(held, ensure_ascii=False))
        except OSError as error:
            raise NotKeptError.of(self._folder, error) from None

    def _path(self, cell: Any) -> Path:  # noqa: ANN401
        key = json.dumps([self._name, self._version, type(cell).__name__, _plain(cell)], sort_keys=True)
        return self._folder / f"{hashlib.sha256(key.encode()).hexdigest()[:24]}.json"


def _plain(cell: Any) -> Any:  # noqa: ANN401
    """A cell as JSON would give it back: tuples become lists."""
    return json.loads(json.dumps(asdict(cell), sort_keys=True))
