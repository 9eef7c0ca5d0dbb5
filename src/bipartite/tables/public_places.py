"""Whether a file of places looks like the positions of people: candidates must be public."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from bipartite.errors import DataFileError, how_many

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

# Names that a list of shops may well have (owner, phone, email, year) are not included.
_PEOPLE: Final = (
    "caller", "citizen", "client", "customer", "device", "driver", "employee", "guest", "imei", "imsi", "individual",
    "member", "msisdn", "participant", "passenger", "patient", "person", "respondent", "rider", "subscriber", "tourist",
    "traveler", "traveller", "uid", "user", "userid", "username", "visitor",
)  # fmt: skip
_TIMES: Final = (
    "checkin", "date", "datetime", "day", "hour", "minute", "month", "time", "timestamp", "ts", "utc", "visited",
    "when",
)  # fmt: skip
_TELLING: Final = {form for word in (*_PEOPLE, *_TIMES) for form in (word, f"{word}s")}
_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def check_public(
    path: Path, names: Sequence[str], lines: Sequence[int], positions: Sequence[tuple[float, float]], unless: str
) -> None:
    """Refuse a list of places that looks like a list of visits; ``unless`` names the option that allows it.

    A list of distinct places may still be people's homes: nothing in a file can show that it is public.
    """
    found = []
    beside = [name for name in names if not _TELLING.isdisjoint(_words(name))]
    if beside:
        column = "a column" if len(beside) == 1 else "columns"
        found.append(f"has {column} of people or times next to the places: {', '.join(map(repr, beside))}")
    again = _repeated(lines, positions)
    if again:
        found.append(f"repeats coordinates in {how_many(len(again), 'row')}, the first on line {again[0]}")
    if found:
        raise DataFileError(
            f"{path} {'; it '.join(found)}. It looks like the positions of people, and places taken from those reveal "
            "where someone was, whatever ε is. Use a public list with each place once, or a grid (bp.locations.grid, "
            f"or bipartite design grid:S,W,N,E/METRES); or confirm that the list is public: {unless}."
        )


def _words(name: str) -> set[str]:
    """The words in a name: the same for ``userId``, ``user_id`` and ``User ID``."""
    return {word.lower() for word in _WORDS.findall(name)}


def _repeated(lines: Sequence[int], positions: Sequence[tuple[float, float]]) -> list[int]:
    """The lines that repeat the coordinates of an earlier line."""
    seen: set[tuple[float, float]] = set()
    again = []
    for line, position in zip(lines, positions, strict=True):
        if position in seen:
            again.append(line)
        seen.add(position)
    return again
