"""Numbers in README and docs that come from a full run of the laboratory: marked, and checked against its tables.

A number is followed by a comment that says where it comes from::

    8.4 %<!-- results: location_errors; mean(saving) where dataset=Gowalla; 100; .1f -->

that is: the table of ``reproduction/results`` (without ``.csv``), a column or ``mean``, ``min``, ``max`` or ``count``,
which rows (values may have commas: ``mechanism=Laplace, clamped, epsilon=5``), what to multiply by (1 if left out; 100
asks for "%" or "points" beside the number), and how it is written (Python's format; ``d`` for whole numbers). What is
no column is a fact with a name (``tools/result_facts.py``)::

    7.9<!-- results: fact sgd ahead of the sum at 0.3; 100; .1f -->

``python tools/results.py`` lists every marked number with what its table says.
"""

from __future__ import annotations

import csv
import re
import statistics
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from result_facts import FACTS
from result_tables import RESULTS, pages

if TYPE_CHECKING:
    from pathlib import Path

_UNIT = r"\s?%|\s?[^\W\d_]{1,3}"
_MARK = re.compile(
    rf"(?<![\w.,])(?P<shown>[-−+]?[0-9][0-9.,]*)(?P<unit>{_UNIT})?\s*<!--\s*results:\s*(?P<what>.*?)\s*-->"
    r"(?P<after>\s?%|[\s-]points?)?"
)
_ANY = re.compile(r"<!--\s*results?\b", re.IGNORECASE)
"""Whatever looks as if it were meant as a mark."""
_COLUMN = re.compile(r"^(?:(?P<how>mean|min|max|count)\()?(?P<column>[\w ]+?)\)?(?:\s+where\s+(?P<where>.*))?$")
_BETWEEN = re.compile(r",\s*(?=\w+=)")
_PERCENT = 100
_ALL = {"mean": statistics.fmean, "min": min, "max": max}


@dataclass(frozen=True)
class Marked:
    """One marked number: as it is written, and as its table says."""

    place: str
    shown: str
    expected: str

    @property
    def agrees(self) -> bool:
        """Whether the two are the same."""
        return self.shown == self.expected


def marked(text: str, place: str, folder: Path = RESULTS) -> list[Marked]:
    """Every marked number of a text."""
    marks = list(_MARK.finditer(text))
    if len(marks) != len(_ANY.findall(text)):
        msg = f"{place}: a mark stands behind no number; write it directly after the number that it is about."
        raise ValueError(msg)
    for each in marks:
        beside = f"{each['unit'] or ''}{each['after'] or ''}"
        if abs(_scale(each["what"])) == _PERCENT and "%" not in beside and "point" not in beside:
            msg = f"{place}: {each['what']} is a share times 100; write % or points beside the number."
            raise ValueError(msg)
    return [
        Marked(f"{place}: {each['what']}", each["shown"].replace("−", "-"), expected(each["what"], folder))
        for each in marks
    ]


def _scale(what: str) -> float:
    rest = what.split(";")[2:]
    return float(rest[0]) if len(rest) > 1 else 1.0


def expected(what: str, folder: Path = RESULTS) -> str:
    """What a mark's table says, written as the mark asks for."""
    table, *rest = [part.strip() for part in what.split(";")]
    if table.startswith("fact "):
        return _written(FACTS[table.removeprefix("fact ")](), rest)
    selection, *rest = rest
    read = _COLUMN.match(selection)
    if read is None:
        msg = f"Expected a column, or mean, min, max or count of one, got {selection!r}."
        raise ValueError(msg)
    wanted = dict(part.split("=", 1) for part in _BETWEEN.split(read["where"])) if read["where"] else {}
    how, column = read["how"], read["column"]
    with (folder / f"{table}.csv").open(encoding="utf-8", newline="") as file:
        every = list(csv.DictReader(file))
    for key in (column, *wanted):
        if key not in every[0]:
            msg = f"Expected columns of {table}, got {key!r}; it has {', '.join(every[0])}."
            raise ValueError(msg)
    for key, value in wanted.items():  # else a word that is misspelt counts no row, whatever was measured
        if not any(_same(row[key], value) for row in every):
            msg = f"Expected {key} of {table} to be {value!r} in some row, got none; name a value that it has."
            raise ValueError(msg)
    rows = [row for row in every if all(_same(row[key], value) for key, value in wanted.items())]
    if how == "count":
        value = float(len([row for row in rows if row[column] != ""]))
    elif how is None:
        if len(rows) != 1:
            msg = f"Expected one row of {table} for {selection!r}, got {len(rows)}; name more of its columns."
            raise ValueError(msg)
        value = float(rows[0][column])
    else:
        value = _ALL[how]([float(row[column]) for row in rows if row[column] != ""])
    return _written(value, rest)


def _written(value: float, how: list[str]) -> str:
    """A number, scaled and formatted as the rest of a mark says."""
    scale, form = (float(how[0]), how[1]) if len(how) > 1 else (1.0, how[0] if how else "g")
    return f"{round(scale * value):,d}" if form == "d" else f"{scale * value:{form}}"


def _same(found: str, wanted: str) -> bool:
    """Equal as text or as numbers."""
    try:
        return found == wanted or float(found) == float(wanted)
    except ValueError:
        return False


def main() -> int:
    """List every marked number; 1 where one differs."""
    found = [each for page in pages() for each in marked(page.read_text(encoding="utf-8"), page.name)]
    for each in found:
        print(f"{'ok ' if each.agrees else 'NOT'} {each.place}: written {each.shown}, measured {each.expected}")
    return int(not all(each.agrees for each in found))


if __name__ == "__main__":
    sys.exit(main())
