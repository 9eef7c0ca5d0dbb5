"""Reading separated text: rows of the right width, columns of the right kind, errors that name the line."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, NoReturn

import numpy as np

from bipartite.errors import DataFileError
from reproduction.datasets.results import fixed, outside_the_world

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

Kind = Literal["whole", "id", "number", "day", "text"]
DTYPES: Final = {"whole": "int64", "id": "int64", "number": "float64", "day": "datetime64[D]"}
_WORDS: Final = {
    "whole": "a whole number",
    "id": "a whole number that is not negative",
    "number": "a number",
    "day": "a day such as 2013-06-30",
}


@dataclass(frozen=True)
class Lines:
    """Some lines of a file, for saying what is wrong with one of them."""

    name: str
    numbers: Sequence[int]

    def refuse(self, at: int, expected: str, got: str, remedy: str) -> NoReturn:
        """Say what is wrong with a line."""
        raise DataFileError(f"{self.name}, line {self.numbers[at]}: expected {expected}, got {got}; {remedy}")

    def refuse_outside(self, coordinates: NDArray[np.float64], remedy: str) -> None:
        """Refuse the first line whose coordinates are no place on earth."""
        wrong = outside_the_world(coordinates)
        if wrong.any():
            at = int(np.argmax(wrong))
            latitude, longitude = coordinates[at].tolist()
            expected = "a latitude from −90 to 90 and a longitude from −180 to 180"
            self.refuse(at, expected, f"{latitude} and {longitude}", remedy)


@dataclass(frozen=True)
class Rows(Lines):
    """The rows of a text, and the line of the file that each stood on."""

    rows: list[list[str]]

    def __len__(self) -> int:
        return len(self.rows)

    def columns(self, kinds: Mapping[str, Kind], missing: Sequence[str] = ()) -> dict[str, NDArray[Any]]:
        """Each column as an array of its kind; a number may be one of the texts that stand for a missing one: NaN."""
        texts = zip(*self.rows, strict=True) if self.rows else [()] * len(kinds)
        return {
            name: fixed(self._column(name, column, kind, missing))
            for (name, kind), column in zip(kinds.items(), texts, strict=True)
        }

    def _column(self, name: str, texts: Sequence[str], kind: Kind, missing: Sequence[str]) -> NDArray[Any]:
        if kind == "text":
            return np.array(texts, dtype=np.str_)
        if kind == "number" and missing:
            texts = ["nan" if text in missing else text for text in texts]
        return self._converted(name, texts, kind, may_be_nan=kind == "number" and bool(missing))

    def _converted(self, name: str, texts: Sequence[str], kind: Kind, *, may_be_nan: bool) -> NDArray[Any]:
        try:
            array: NDArray[Any] = np.array(texts, dtype=DTYPES[kind])
            at = first_wrong(array, kind, may_be_nan=may_be_nan)
        except (ValueError, OverflowError):
            at = next(at for at, text in enumerate(texts) if not _converts(text, kind))
        if at is not None:
            self.refuse(at, f"{_WORDS[kind]} as {name}", repr(texts[at][:40]), "fetch the file again.")
        return array


def first_wrong(column: NDArray[Any], kind: Kind, *, may_be_nan: bool) -> int | None:
    """The first number that is infinite, or is missing where it may not be, or is negative as an id."""
    no_number = np.isinf(column) if may_be_nan else ~np.isfinite(column)
    wrong = column < 0 if kind == "id" else no_number
    return int(np.argmax(wrong)) if wrong.any() else None


def _converts(text: str, kind: Kind) -> bool:
    try:
        np.array([text], dtype=DTYPES[kind])
    except (ValueError, OverflowError):
        return False
    return True


def read_rows(content: bytes, name: str, width: int, delimiter: str = ",", skip: Iterable[str] = ()) -> Rows:
    """Rows of separated text in UTF-8, each ``width`` wide; empty lines, and lines that begin as in ``skip``, left out.

    Raises
    ------
    DataFileError
        A line is not UTF-8, or has another number of columns.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataFileError(
            f"{name}, line {line}: expected UTF-8 text, got the byte {content[error.start]:#x}; fetch the file again."
        ) from None
    # Split at line ends alone: str.splitlines knows others, which may stand in a cell.
    reader = csv.reader(text.replace("\r\n", "\n").split("\n"), delimiter=delimiter, skipinitialspace=True)
    starts = tuple(skip)
    rows, lines = [], []
    try:
        for row in reader:
            if not row or (starts and row[0].startswith(starts)):
                continue
            if len(row) != width:
                raise DataFileError(
                    f"{name}, line {reader.line_num}: expected {width} columns, got {len(row)}; is this the right file?"
                )
            rows.append(row)
            lines.append(reader.line_num)
    except csv.Error as error:
        raise DataFileError(
            f"{name}, line {reader.line_num}: expected separated text, got what Python's csv refuses ({error})."
        ) from None
    return Rows(name, lines, rows)


def read_table(
    content: bytes, name: str, kinds: Mapping[str, Kind], delimiter: str = ",", *, has_header: bool = True
) -> tuple[Rows, dict[str, NDArray[Any]]]:
    """A table whose first line must be the names of the columns, where it has a header."""
    table = read_rows(content, name, len(kinds), delimiter)
    if has_header:
        table = without_header(table, tuple(kinds))
    return table, table.columns(kinds)


def without_header(table: Rows, header: Sequence[str]) -> Rows:
    """The rows after the first, which must hold these names."""
    first = table.rows[0] if table.rows else []
    if first != list(header):
        raise DataFileError(
            f"{table.name}, line 1: expected the names {','.join(header)[:60]}…, got {','.join(first)[:60]!r}; "
            "is this the right file?"
        )
    return Rows(table.name, table.numbers[1:], table.rows[1:])


def repeated(rows: Sequence[Sequence[str]]) -> int:
    """How many rows equal an earlier one."""
    return len(rows) - len({tuple(row) for row in rows})
