"""What the text says about its data sets, counted: the sizes of appendix B.1, and the label scale of the scripts.

A table, not a figure. The authors' scripts scale the labels of the Bias data set by (k, b) = (2.53985, 2.63835); which
column has that range is looked for in the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.plots.looks import BLUE, PAPER
from reproduction.datasets import Table, abalone, bias, superconduct
from reproduction.figures import Grid, Square, grid

if TYPE_CHECKING:
    from collections.abc import Callable

    from reproduction.runner.contract import Row, Rows

SCRIPTED: Final = (2.53985, 2.63835)
"""(k, b) by which the authors' scripts scale the labels of Bias: (y − b)/k."""
PRINTED: Final = {"bias": (4177, 8), "abalone": (7588, 23), "superconduct": (21_263, 82)}
"""Instances and features as the paper lists them, in its order of the data sets."""
_COUNTED: Final = ("rows", "complete_rows", "features")
_PRINTED: Final = {"printed_rows": "complete_rows", "printed_features": "features"}
_READERS: Final[dict[str, Callable[[], Table]]] = {"bias": bias, "abalone": abalone, "superconduct": superconduct}


@dataclass(frozen=True)
class Settings:
    """Which."""

    names: tuple[str, ...] = tuple(PRINTED)


@dataclass(frozen=True)
class Cell:
    """One data set."""

    name: str


QUICK = Settings()


def cells(settings: Settings) -> tuple[Cell, ...]:
    """One for each data set."""
    return tuple(Cell(name) for name in settings.names)


def measure(cell: Cell) -> list[Row]:
    """Rows, complete rows, columns; and the columns with the scripted range."""
    table = _READERS[cell.name]()
    numeric = {name: column for name, column in table.columns.items() if np.issubdtype(column.dtype, np.number)}
    complete = np.ones(len(table), dtype=bool)
    for column in numeric.values():
        complete &= np.isfinite(column.astype(np.float64))
    matching = [
        name
        for name, column in numeric.items()
        if np.allclose(
            [(np.nanmax(column) - np.nanmin(column)) / 2, (np.nanmax(column) + np.nanmin(column)) / 2],
            SCRIPTED,
            atol=1e-5,
        )
    ]
    printed = PRINTED[cell.name]
    return [
        {"dataset": cell.name, "rows": len(table), "complete_rows": int(complete.sum()), "columns": len(table.columns),
         "features": len(table.features), "printed_rows": printed[0], "printed_features": printed[1],
         "columns_with_the_scripted_range": " ".join(matching)}
    ]  # fmt: skip


def draw(rows: Rows) -> dict[str, str]:
    """The counts beside what the paper prints, which is dark where it is not the same."""
    listed = []
    for row in rows:
        squares = [Square(f"{row[name]:,}") for name in _COUNTED]
        for printed, counted in _PRINTED.items():
            same = row[printed] == row[counted]
            squares.append(Square(f"{row[printed]:,}", PAPER if same else BLUE, dark=not same))
        listed.append((str(row["dataset"]), squares, ""))
    head = ["rows", "complete rows", "features", "paper: rows", "paper: features"]
    return {
        "data_sets": grid(
            Grid(head, listed, "data set", "", cut=len(_COUNTED)),
            title="Data sets of boosting, counted and printed",
            says="Rows and features of three data sets, counted and printed.",
            notes=["Dark: printed otherwise than complete rows and features were counted."],
        )
    }
