"""Every item of the paper, in its order, and where the project has it: the table beside this file.

A row is one algorithm, definition, theorem, equation, figure, table, number or sentence with a claim. ``has`` lists
where it is found, separated by semicolons, or is empty where the note says why it is nowhere:

* ``claim KEY``: a verdict (:mod:`reproduction.claims`)
* ``run NAME``: an experiment
* ``bp.NAME`` or ``reproduction.NAME``: what computes it
* a path: a test (``file.py::test``) or a page
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Literal

TABLE: Final = Path(__file__).with_suffix(".csv")
KINDS: Final = ("algorithm", "definition", "theorem", "equation", "figure", "table", "number", "claim")

Sort = Literal["claim", "run", "name", "test", "page"]


@dataclass(frozen=True)
class Reference:
    """One place of the project."""

    sort: Sort
    name: str

    @classmethod
    def of(cls, text: str) -> Reference:
        """What a table calls it."""
        for prefix in ("claim", "run"):
            if text.startswith(f"{prefix} "):
                return cls(prefix, text.removeprefix(f"{prefix} "))
        if text.startswith(("bp.", "reproduction.")):
            return cls("name", text)
        return cls("test" if "::" in text else "page", text)


@dataclass(frozen=True)
class Item:
    """One row; ``place`` names the item, or quotes the words (“…”) by which it is found in the section."""

    item: str
    section: str
    place: str
    kind: str
    labels: tuple[str, ...]
    """What the source of the paper calls it."""
    says: str
    """In our words."""
    has: tuple[Reference, ...]
    note: str


@cache
def items() -> tuple[Item, ...]:
    """All rows, in the order of the paper."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return tuple(
            Item(
                **{column: row[column] for column in ("item", "section", "place", "kind", "says", "note")},
                labels=_parts(row["labels"]),
                has=tuple(map(Reference.of, _parts(row["has"]))),
            )
            for row in csv.DictReader(file)
        )


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part for each in text.split(";") if (part := each.strip()))
