"""What the runner asks of an experiment, as types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

Value = str | int | float | bool
Row = dict[str, Value]
"""One measured number with its settings: a column each."""
Rows = Sequence[Mapping[str, Value]]


class Experiment(Protocol):
    """A module of this folder that makes one figure; ``draw`` may also take ``extra``."""

    Settings: Any
    QUICK: Any

    def cells(self, settings: Any, /) -> tuple[Any, ...]:  # noqa: ANN401 (its own Settings)
        """The independent parts of the run."""

    def measure(self, cell: Any, /) -> list[Row]:  # noqa: ANN401 (its own Cell)
        """Tidy rows of one part."""

    def draw(self, rows: Rows, /) -> dict[str, str]:
        """Pictures by name, as SVG."""


def number(row: Mapping[str, Value], column: str) -> float:
    """A number of a row."""
    return float(row[column])


def select(rows: Rows, **wanted: Value) -> list[Mapping[str, Value]]:
    """The rows that have these values."""
    return [row for row in rows if all(row.get(column) == value for column, value in wanted.items())]


def beside(
    rows: Rows, column: str, name: str, rival: str, *alike: str
) -> list[tuple[Mapping[str, Value], float, float]]:
    """The rows of a mechanism with a number of theirs, and the rival's where these columns are alike."""
    theirs = {tuple(row[each] for each in alike): number(row, column) for row in select(rows, mechanism=rival)}
    ours = [(row, tuple(row[each] for each in alike)) for row in select(rows, mechanism=name)]
    return [(row, number(row, column), theirs[key]) for row, key in ours if key in theirs]


def distinct(rows: Rows, column: str) -> list[Any]:
    """The values of a column, each once, in order of appearance."""
    return list(dict.fromkeys(row[column] for row in rows if column in row))
