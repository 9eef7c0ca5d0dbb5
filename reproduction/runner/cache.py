"""What was measured already: a small file for each cell, written whole or not at all.

Two runs may share a folder: they measure different cells, or the same one twice with the same rows. A file that cannot
be read, of a machine that lost power for instance, counts as not there.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from bipartite.errors import InputError
from bipartite.files import write_whole

if TYPE_CHECKING:
    from pathlib import Path

    from reproduction.runner.contract import Row

_FORMAT: Final = 1


class NotKeptError(InputError):
    """A folder of results that cannot be written: none can be made, no rights, no space left.

    It stands here and not among the errors of the package, whose modules count as code behind every number.
    """

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
    elsewhere: str = ""
    """Where somebody who collected it says that it was measured; empty else."""
    machine: str = ""
    """The machine that measured; empty where an earlier version did, which did not note it."""


class Cache:
    """The measured cells of one experiment by one version of the code."""

    def __init__(self, folder: Path, name: str, code: str) -> None:
        self._folder = folder / name
        self._name, self._code = name, code

    def load(self, cell: Any) -> Measured | None:  # noqa: ANN401 (any frozen dataclass)
        """What was measured for a cell; None where nothing was."""
        try:
            held = json.loads(self._path(cell).read_text(encoding="utf-8"))
            if held["format"] != _FORMAT or held["code"] != self._code or held["cell"] != _plain(cell):
                return None
            rows = [dict(row) for row in held["rows"]]
            elsewhere, machine = (str(held.get(each, "")) for each in ("elsewhere", "machine"))
            return Measured(rows, float(held["seconds"]), elsewhere, machine)
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
            "format": _FORMAT,
            "experiment": self._name,
            "code": self._code,
            "cell": _plain(cell),
            "seconds": measured.seconds,
            "rows": measured.rows,
        }
        held |= {each: said for each in ("elsewhere", "machine") if (said := getattr(measured, each))}
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            write_whole(self._path(cell), json.dumps(held, ensure_ascii=False))
        except OSError as error:
            raise NotKeptError.of(self._folder, error) from None

    def _path(self, cell: Any) -> Path:  # noqa: ANN401
        key = json.dumps([self._name, self._code, type(cell).__name__, _plain(cell)], sort_keys=True)
        return self._folder / f"{hashlib.sha256(key.encode()).hexdigest()[:24]}.json"


def _plain(cell: Any) -> Any:  # noqa: ANN401
    """A cell as JSON would give it back: tuples become lists."""
    return json.loads(json.dumps(asdict(cell), sort_keys=True))
