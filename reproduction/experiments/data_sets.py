"""What the text says about its data sets, counted: the sizes of appendix B.1, and the label scale of the scripts.

A table, not a figure. The authors' scripts scale the labels of the Bias data set by (k, b) = (2.53985, 2.63835); which
column has that range is looked for in the data.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np
import pandas as pd

from bipartite.plots.looks import BLUE, PAPER
from reproduction import datasets
from reproduction.form import Grid, Row
from reproduction.pictures.squares import Square, Squares, squares

SCRIPTED: Final = (2.53985, 2.63835)
"""(k, b) by which the authors' scripts scale the labels of Bias: (y − b)/k."""
PRINTED: Final = {"bias": (4177, 8), "abalone": (7588, 23), "superconduct": (21_263, 82)}
"""Instances and features as the paper lists them, in its order of the data sets."""
FULL = Grid(name=tuple(PRINTED))
QUICK = FULL


def measure(name: str) -> Iterator[Row]:
    """Rows, complete rows, columns; and the columns with the scripted range."""
    table = getattr(datasets, name)()
    ends = {column: (values.min(), values.max()) for column, values in table.select_dtypes("number").items()}
    matching = [
        str(column)
        for column, (low, high) in ends.items()
        if np.allclose([(high - low) / 2, (high + low) / 2], SCRIPTED, atol=1e-5)
    ]
    rows, features = PRINTED[name]
    yield {"dataset": name, "rows": len(table), "complete_rows": len(table.dropna()), "columns": len(table.columns),
           "features": len(table.columns) - len(datasets.SOURCES[name].targets), "printed_rows": rows,
           "printed_features": features, "columns_with_the_scripted_range": " ".join(matching)}  # fmt: skip


def draw(rows: pd.DataFrame) -> dict[str, str]:
    """The counts beside what the paper prints, which is dark where it is not the same."""
    head = ["rows", "complete rows", "features", "paper: rows", "paper: features"]
    listed = []
    for row in rows.to_dict("records"):
        counted = [Square(f"{row[name]:,}") for name in ("rows", "complete_rows", "features")]
        for printed, name in (("printed_rows", "complete_rows"), ("printed_features", "features")):
            other = row[printed] != row[name]
            counted.append(Square(f"{row[printed]:,}", BLUE if other else PAPER, dark=other))
        listed.append((row["dataset"], counted, ""))
    return {
        "data_sets": squares(
            Squares(head, listed, "data set", "", cut=3),
            title="Data sets of boosting, counted and printed",
            says="Rows and features of three data sets, counted and printed.",
            notes=["Dark: printed otherwise than complete rows and features were counted."],
        )
    }
