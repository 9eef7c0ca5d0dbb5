"""A table's columns as plain arrays, checked against public domains; messages name columns and rows, never values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from bipartite.domains import Integers, Interval, SetDomain
from bipartite.errors import DataError, InputError, NotAValueError, NullError, OutsideDomainError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from bipartite.domains import Domain, Outside

Kind = Literal["numpy", "pandas", "polars"]
_TABLE: Final = 2
_DOUBLE: Final = np.dtype(np.float64)
_BEYOND: Final = 2**62  # beyond every domain of whole numbers


@dataclass(frozen=True)
class Column:
    """One column: numbers, or objects, and which of them are missing."""

    values: NDArray[Any]
    missing: NDArray[np.bool_]
    dtype: Any
    """The container's own type of the column."""


@dataclass(frozen=True)
class Table:
    """The columns of a table in order, and what is needed to build another of the same kind."""

    kind: Kind
    columns: tuple[Column, ...]
    rows: int
    names: Any
    """The container's own names; None for NumPy."""
    index: Any
    """The index of a pandas frame."""


def kind_of(table: object) -> Kind:
    """Whose table this is; everything that is no frame is read by NumPy."""
    for each in type(table).__mro__:
        library = each.__module__.partition(".")[0]
        if library in {"pandas", "polars"} and each.__name__ == "DataFrame":
            return "pandas" if library == "pandas" else "polars"
    return "numpy"


def read_table(table: Any) -> Table:  # noqa: ANN401 (a frame, an array or a list of rows)
    """The columns of a table."""
    kind = kind_of(table)
    if kind == "pandas":
        columns = tuple(_from_pandas(table.iloc[:, at]) for at in range(table.shape[1]))
        return Table(kind, columns, len(table), table.columns, table.index)
    if kind == "polars":
        columns = tuple(_from_polars(series) for series in table.get_columns())
        return Table(kind, columns, table.height, list(table.columns), None)
    array = _as_array(table)
    columns = tuple(_from_numpy(array[:, at]) for at in range(array.shape[1]))
    return Table(kind, columns, len(array), None, None)


def check_is_table(table: Any) -> int:  # noqa: ANN401
    """The number of rows; refuses what is no table, or an empty one, in scikit-learn's words."""
    kind = kind_of(table)
    shape = table.shape if kind != "numpy" else _as_array(table).shape
    if kind == "pandas" and not table.columns.is_unique:
        msg = "Expected columns with distinct names, got duplicates; rename them."
        raise InputError(msg)
    if shape[0] == 0:
        msg = f"Found array with 0 sample(s) (shape={shape}) while a minimum of 1 is required; pass a row or more."
        raise InputError(msg)
    if shape[1] == 0:
        msg = f"Found array with 0 feature(s) (shape={shape}) while a minimum of 1 is required. Pass a column or more."
        raise InputError(msg)
    return int(shape[0])


def _as_array(table: Any) -> NDArray[Any]:  # noqa: ANN401
    if hasattr(table, "toarray") and hasattr(table, "nnz"):
        msg = "Sparse data was passed, but dense data is required; use '.toarray()': a report hides zeros as well."
        raise TypeError(msg)  # scikit-learn's kind for this
    array = np.asarray(table)
    if array.dtype.kind in "US" and not isinstance(table, np.ndarray):
        # NumPy turns numbers beside text into text; as objects both stay what they are.
        array = np.asarray(table, dtype=object)
    if array.dtype.kind == "c":
        msg = "Complex data not supported; pass real numbers and categories."
        raise InputError(msg)
    if array.ndim != _TABLE:
        msg = (
            f"Expected 2D array, got {array.ndim}D array instead. Reshape your data, with .reshape(-1, 1) for one "
            "column or .reshape(1, -1) for one row."
        )
        raise InputError(msg)
    if array.dtype.kind not in "biufOUS":
        msg = f"Expected a table of numbers and categories, got {array.dtype}; convert it first."
        raise InputError(msg)
    return array


def _from_numpy(values: NDArray[Any]) -> Column:
    if values.dtype.kind == "f":
        return Column(values, np.isnan(values), values.dtype)
    if values.dtype.kind == "O":
        return Column(values, np.array([_is_missing(value) for value in values.tolist()], dtype=bool), values.dtype)
    return Column(values, np.zeros(len(values), dtype=bool), values.dtype)


def _from_pandas(series: Any) -> Column:  # noqa: ANN401
    import pandas as pd  # noqa: PLC0415 (loaded already: the caller holds one of its frames)

    missing = series.isna().to_numpy(dtype=bool)
    kinds = pd.api.types
    if kinds.is_numeric_dtype(series.dtype) and not kinds.is_complex_dtype(series.dtype):
        if isinstance(series.dtype, np.dtype):
            return Column(series.to_numpy(), missing, series.dtype)
        whole = not missing.any() and (kinds.is_integer_dtype(series.dtype) or kinds.is_bool_dtype(series.dtype))
        # The largest of 64 bits without a sign would wrap around to negative numbers.
        exact = np.uint64 if kinds.is_unsigned_integer_dtype(series.dtype) else np.int64
        values = series.to_numpy(dtype=exact) if whole else series.to_numpy(dtype=np.float64, na_value=np.nan)
        return Column(values, missing, series.dtype)
    return Column(_objects(series.tolist()), missing, series.dtype)


def _from_polars(series: Any) -> Column:  # noqa: ANN401
    missing = series.is_null().to_numpy()
    if series.dtype.is_float():
        missing = missing | series.is_nan().fill_null(value=True).to_numpy()
    # NumPy has no whole numbers of 128 bits; as objects they stay what they are.
    numeric = (series.dtype.is_integer() and "128" not in str(series.dtype)) or series.dtype.is_float()
    if numeric and not missing.any():
        return Column(series.to_numpy(), missing, series.dtype)
    return Column(_objects(series.to_list()), missing, series.dtype)


def _objects(values: Sequence[Any]) -> NDArray[Any]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _is_missing(value: Any) -> bool:  # noqa: ANN401
    is_nan = isinstance(value, (float, np.floating)) and value != value  # noqa: PLR0124
    return value is None or is_nan or type(value).__name__ in {"NAType", "NaTType"}


class Refusals:
    """Everything that is wrong with the values of a table, column by column."""

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._found: list[tuple[type[DataError], str]] = []

    def add(self, kind: type[DataError], wrong: NDArray[np.bool_], name: str, words: str) -> bool:
        """Remember the rows that are wrong, if there are any: "3 of 10 values of column 'age' are missing, …"."""
        count = int(np.count_nonzero(wrong))
        if count:
            which, _, what_to_do = words.partition("; ")
            first = f"the first in row {int(np.argmax(wrong))} (counted from 0)"
            self._found.append(
                (kind, f"{count} of {self._rows} values of column {name!r} {which}, {first}; {what_to_do}")
            )
        return bool(count)

    def raise_if_any(self) -> None:
        """Raise what was found, all of it, as the kind of the first."""
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
        if refusals.add(
            NullError,
            column.missing,
            name,
            "are missing (NaN or None); fill them with a public value first, or add a category for no answer.",
        ):
            continue
        if isinstance(domain, SetDomain) and domain.labels is not None:
            found[name] = _labels(column.values, domain, other, name, refusals)
        elif isinstance(domain, SetDomain):
            found[name] = _numbers(column.values, Integers(0, len(domain) - 1), "error", name, refusals)
        elif isinstance(domain, (Integers, Interval)):
            found[name] = _numbers(column.values, domain, outside, name, refusals)
        else:
            msg = f"a domain of another kind: {type(domain).__name__}"
            raise AssertionError(msg)
    refusals.raise_if_any()
    return found


def _numbers(
    values: NDArray[Any], domain: Integers | Interval, outside: Outside, name: str, refusals: Refusals
) -> NDArray[Any]:
    """Numbers within the domain, as int64 or float64."""
    if values.dtype.kind in "OUS":
        alien = np.array([not _is_number(value) for value in values.tolist()], dtype=bool)
        if refusals.add(NotAValueError, alien, name, "are no numbers; convert them, or give a list of categories."):
            return values
        whole = all(isinstance(value, (int, np.integer)) for value in values.tolist())
        values = np.array([_bounded(value) for value in values.tolist()], dtype=np.int64 if whole else _DOUBLE)
    if values.dtype.kind == "u":
        values = np.minimum(values, np.uint64(_BEYOND))
    with np.errstate(over="ignore"):  # a long double beyond all doubles is infinite, and no warning tells of it
        values = values.astype(_DOUBLE if values.dtype.kind == "f" else np.int64)
    low, high = domain.low, domain.high
    below_or_above = (values < low) | (values > high)
    if domain.whole and values.dtype.kind == "f":
        inside = np.where(below_or_above, 0.0, values)
        if refusals.add(NotAValueError, inside != np.floor(inside), name, "are not whole; round them first."):
            return values
    if outside == "error":
        infinite = "infinite or " if values.dtype.kind == "f" else ""
        refusals.add(
            OutsideDomainError,
            below_or_above,
            name,
            f"are {infinite}outside {low:.15g}..{high:.15g}; use outside='clip' to move them to the nearest end.",
        )
    clipped = np.where(values < low, low, np.where(values > high, high, values))
    return clipped.astype(np.int64 if domain.whole else _DOUBLE)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating, np.bool_))


def _bounded(value: Any) -> Any:  # noqa: ANN401
    """A number that int64 holds; whole numbers beyond it stay beyond every domain."""
    return min(max(int(value), -_BEYOND), _BEYOND) if isinstance(value, (int, np.integer)) else value


def _labels(
    values: NDArray[Any], domain: SetDomain, other: str | int | None, name: str, refusals: Refusals
) -> list[Any]:
    """Labels of the domain; one that is none becomes ``other`` where the domain has that."""
    labels: tuple[Any, ...] = domain.labels or ()
    known = set(labels)
    found: list[Any] = values.tolist()
    if isinstance(labels[0], int):
        # Tables of floats hold whole numbers as floats.
        found = [int(each) if isinstance(each, float) and each.is_integer() else each for each in found]
    # A truth value equals 0 or 1, and is no label.
    alien = np.array([isinstance(each, bool) or not _is_in(each, known) for each in found], dtype=bool)
    if other is not None and other in known:
        return [other if wrong else each for each, wrong in zip(found, alien, strict=True)]
    refusals.add(
        OutsideDomainError,
        alien,
        name,
        "are none of its categories; add them to the list, or use other= with a category that stands for the rest.",
    )
    return found


def _is_in(value: object, known: set[Any]) -> bool:
    return isinstance(value, (str, int, np.integer)) and value in known
