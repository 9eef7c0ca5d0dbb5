"""A table's columns as plain arrays, checked against public domains; messages name columns and rows, never values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np

from bipartite.domains.containers import Cells, Container, library_of
from bipartite.domains.containers.cells import Array, array_of
from bipartite.domains.containers.series import PandasSeries, PolarsSeries
from bipartite.errors import DataError, InputError, NotAValueError, NullError, OutsideDomainError
from bipartite.learn.fitting import check_unmasked

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    import polars as pl
    from numpy.typing import ArrayLike, NDArray

    from bipartite.domains import Domain, Outside

    Frame: TypeAlias = pd.DataFrame | pl.DataFrame
    Given: TypeAlias = Frame | ArrayLike
    """A frame, an array, or a list of rows."""

Kind = Literal["numpy", "pandas", "polars"]
_TABLE: Final = 2
_MOST: Final = np.uint64(2**63 - 1)
_WORDS: Final = {
    "not a whole number": (NotAValueError, "are not whole; round them first."),
    "outside": (OutsideDomainError, "are {outside}; use outside='clip' to move them to the nearest end."),
}
"""For each reason to refuse a value, in the order in which they are reported: the error and its words."""


@dataclass(frozen=True)
class Table:
    """A table: its frame, where it is one, and the cells of its columns in order."""

    kind: Kind
    frame: Frame | None
    rows: int
    columns: tuple[Cells, ...]


def frame_of(table: object) -> tuple[Kind, Frame | None]:
    """Whose table this is, and the table where it is a frame; everything else is read by NumPy."""
    library = library_of(table) if any(each.__name__ == "DataFrame" for each in type(table).__mro__) else ""
    if library == "pandas":
        return "pandas", table
    return ("polars", table) if library == "polars" else ("numpy", None)


def read_table(table: Given) -> Table:
    """The columns of a table."""
    kind, frame = frame_of(table)
    containers: list[Container[Any]]
    if frame is None:
        containers = [Array(column, "error") for column in _as_array(table).T]
    elif kind == "pandas":
        containers = [PandasSeries(frame.iloc[:, at], "error") for at in range(frame.shape[1])]
    else:
        containers = [PolarsSeries(series, "error") for series in frame.get_columns()]
    columns = tuple(each.cells().with_nan() for each in containers)
    return Table(kind, frame, len(columns[0].values), columns)


def check_is_table(table: Given) -> int:
    """Return the number of rows; refuse anything but a table with rows, in scikit-learn's words."""
    kind, frame = frame_of(table)
    shape = _as_array(table).shape if frame is None else frame.shape
    if kind == "pandas" and frame is not None and not frame.columns.is_unique:
        raise InputError("Expected columns with distinct names, got duplicates; rename them.")
    if shape[0] == 0:
        raise InputError(
            f"Found array with 0 sample(s) (shape={shape}) while a minimum of 1 is required; pass a row or more."
        )
    if shape[1] == 0:
        raise InputError(
            f"Found array with 0 feature(s) (shape={shape}) while a minimum of 1 is required. Pass a column or more."
        )
    return int(shape[0])


def _as_array(table: ArrayLike) -> NDArray[Any]:
    if hasattr(table, "toarray") and hasattr(table, "nnz"):
        raise TypeError(
            "Sparse data was passed, but dense data is required; use '.toarray()': a report hides zeros as well."
        )  # scikit-learn's kind for this
    check_unmasked(X=table)
    array = np.asarray(table)
    if array.dtype.kind in "US" and not isinstance(table, np.ndarray):
        # NumPy turns numbers beside text into text; as objects both stay what they are.
        array = np.asarray(table, dtype=object)
    if array.dtype.kind == "c":
        raise InputError("Complex data not supported; pass real numbers and categories.")
    if array.ndim != _TABLE:
        raise InputError(
            f"Expected 2D array, got {array.ndim}D array instead. Reshape your data, with .reshape(-1, 1) for one "
            "column or .reshape(1, -1) for one row."
        )
    if array.dtype.kind not in "biufOUS":
        raise InputError(f"Expected a table of numbers and categories, got {array.dtype}; convert it first.")
    return array


class Refusals:
    """Every problem with the values of a table, column by column."""

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._found: list[tuple[type[DataError], str]] = []

    def add(self, kind: type[DataError], wrong: NDArray[np.bool_], name: str, words: str) -> None:
        """Note the rows that are wrong, if any: "3 of 10 values of column 'age' are missing, …"."""
        count = int(np.count_nonzero(wrong))
        if count:
            which, _, what_to_do = words.partition("; ")
            first = f"the first in row {int(np.argmax(wrong))} (counted from 0)"
            self._found.append(
                (kind, f"{count} of {self._rows} values of column {name!r} {which}, {first}; {what_to_do}")
            )

    def raise_if_any(self) -> None:
        """Raise everything that was found, as an error of the first kind."""
        if len(self._found) == 1:
            kind, message = self._found[0]
            raise kind(message)
        if self._found:
            raise self._found[0][0](
                f"{len(self._found)} problems:\n" + "\n".join(f"- {message}" for _, message in self._found)
            )


def checked_values(
    table: Table, domains: Mapping[str, Domain], outside: Outside, other: str | int | None
) -> dict[str, NDArray[Any] | list[Any]]:
    """Every column as values of its domain: numbers for a line, labels or row numbers for a set.

    Raises
    ------
    DataError
        With every column that has values which cannot be reported, and the number of a row.
    """
    refusals = Refusals(table.rows)
    found: dict[str, NDArray[Any] | list[Any]] = {}
    for column, (name, domain) in zip(table.columns, domains.items(), strict=True):
        if column.missing is not None:
            words = "are missing (NaN or None); fill them with a public value first, or add a category for no answer."
            refusals.add(NullError, column.missing, name, words)
        elif domain.labels is not None:
            found[name] = _labels(column.values, domain, other, name, refusals)
        elif not domain.parts:
            clamped = outside if domain.has_ends else "error"
            found[name] = _numbers(column.values, domain.numbers, clamped, name, refusals)
        else:
            raise AssertionError(f"a domain of another kind: {type(domain).__name__}")
    refusals.raise_if_any()
    return found


def _numbers(values: NDArray[Any], domain: Domain, outside: Outside, name: str, refusals: Refusals) -> NDArray[Any]:
    """Numbers within the domain, as int64 or float64."""
    may_be_infinite = values.dtype.kind == "f"
    if values.dtype.kind in "OUS":
        alien = np.array([not _is_number(value) for value in values.tolist()], dtype=bool)
        if alien.any():
            refusals.add(NotAValueError, alien, name, "are not numbers; convert them, or give a list of categories.")
            return values
        may_be_infinite = any(isinstance(value, (float, np.floating)) for value in values.tolist())
        values = array_of(values.tolist())
    if values.dtype.kind == "u":
        values = np.minimum(values, _MOST)
    with np.errstate(over="ignore"):  # a long double beyond all doubles is infinite, and no warning tells of it
        values = values.astype(np.float64 if values.dtype.kind == "f" else np.int64)
    troubles = domain.refusals(values, outside)
    infinite = "infinite or " if may_be_infinite else ""
    for reason, (kind, words) in _WORDS.items():
        if reason in troubles:
            beyond = f"{infinite}outside {domain.low:.15g}..{domain.high:.15g}"
            refusals.add(kind, troubles[reason], name, words.format(outside=beyond))
    inside: NDArray[Any] = np.clip(values, domain.low, domain.high)
    return inside.astype(np.int64 if domain.whole else np.float64)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating, np.bool_))


def _labels(values: NDArray[Any], domain: Domain, other: str | int | None, name: str, refusals: Refusals) -> list[Any]:
    """Labels of the domain; an unlisted one becomes ``other`` where the domain has that."""
    labels: tuple[Any, ...] = domain.labels or ()
    found: list[Any] = values.tolist()
    if isinstance(labels[0], int):
        # Tables of floats hold whole numbers as floats.
        found = [int(each) if isinstance(each, float) and each.is_integer() else each for each in found]
    codes = domain.codes(found)
    if other in labels:
        codes[codes < 0] = labels.index(other)
    words = "are not among its categories; add them to the list, or use other= with a category for the rest."
    refusals.add(OutsideDomainError, codes < 0, name, words)
    return [labels[code] for code in codes.tolist()]
