"""Lines that are no reports: an error that names the first or, with ``--reject``, a file of their own."""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Final

from bipartite.errors import DataFileError, InputError
from bipartite.files import part_of
from bipartite.tables.releasing import publish

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_HINT: Final = "Or set such lines aside with --reject FILE."


@dataclass(slots=True)
class Rejected:
    """Where refused lines go. They may be hostile, so they are copied and never shown."""

    file: IO[str] | None = None
    count: int = 0
    first: str = ""
    """Why the first line was refused."""

    def refuse(self, why: str, lines: str) -> None:
        """Set aside what came as ``lines``, or raise an error if there is no file for it."""
        if self.file is None:
            raise DataFileError(f"{why} {_HINT}")
        self.count += max(1, len(re.findall(r"\r\n?|\n", lines)))  # a quote in CSV may swallow more than one
        self.first = self.first or why
        self.file.write(lines if lines.endswith(("\n", "\r")) else lines + "\n")


@contextmanager
def set_aside(path: Path | None) -> Iterator[Rejected]:
    """Collect refused lines for a new file that only its owner can read; None refuses them with an error."""
    if path is None:
        yield Rejected()
        return
    if os.path.lexists(path):
        raise InputError(f"{path} already exists; name a new file with --reject.")
    with part_of(path) as part:
        with part.open("w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            yield Rejected(file)
        publish(part, path, None, overwrite=False, private=True)
