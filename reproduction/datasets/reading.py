"""Reading separated text by pandas: every cell as text, then every column as the kind that is stated for it.

Nothing is guessed: a line of another width, a cell that is not of its kind and a coordinate that is none are refused,
with the number of their line.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NoReturn

import numpy as np
import pandas as pd

from bipartite.errors import DataFileError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from numpy.typing import NDArray

    from reproduction.datasets.opening import Found
    from reproduction.datasets.sources import Source

_TAB: Final = "\t"
_FILE: Final = "is this the right file?"
_AGAIN: Final = "fetch the file again."
_NUMBERS: Final = {
    "whole": ("int64", "a whole number"),
    "id": ("int64", "a whole number that is not negative"),
    "unix": ("int64", "seconds since 1970"),
    "number": ("float64", "a number"),
}
_TIMES: Final = {
    "day": ("%Y-%m-%d", "a day such as 2013-06-30"),
    "utc": ("%Y-%m-%dT%H:%M:%SZ", "a time such as 2010-10-12T00:21:28Z"),
    "words": ("%a %b %d %H:%M:%S +0000 %Y", "a time such as Tue Apr 03 18:00:09 +0000 2012"),
}
_OUTSIDE: Final = "a latitude from −90 to 90 and a longitude from −180 to 180"


@dataclass(frozen=True)
class Cells:
    """The cells of a file as texts; the index of ``texts`` are the lines that they stood on."""

    name: str
    texts: pd.DataFrame

    def refuse(self, at: int, expected: str, got: str, remedy: str) -> NoReturn:
        """Say what is wrong with a row."""
        _refuse(self.name, self.texts.index[at], expected, got, remedy)

    def typed(self, kinds: Mapping[str, str], missing: Collection[str] = ()) -> pd.DataFrame:
        """Each column by its kind; a number may be one of the texts that stand for a missing one: NaN."""
        columns = {name: self._column(name, kind, missing) for name, kind in kinds.items()}
        return pd.DataFrame(columns).reset_index(drop=True)

    def refuse_outside(self, latitudes: pd.Series, longitudes: pd.Series, remedy: str = _FILE) -> None:
        """Refuse the first row whose coordinates are no place on earth."""
        outside = ((latitudes.abs() > 90) | (longitudes.abs() > 180)).to_numpy()  # noqa: PLR2004 (degrees)
        if outside.any():
            at = int(outside.argmax())
            self.refuse(at, _OUTSIDE, f"{latitudes[at]} and {longitudes[at]}", remedy)

    def _column(self, name: str, kind: str, missing: Collection[str]) -> pd.Series:
        texts = self.texts[name]
        if kind == "text":
            return texts
        if kind in _TIMES:
            form, expected = _TIMES[kind]
            column = pd.to_datetime(texts, format=form, errors="coerce").astype("datetime64[s]")
            wrong = column.isna().to_numpy()
        else:
            dtype, expected = _NUMBERS[kind]
            is_missing = texts.isin(missing if kind == "number" else ()).to_numpy()
            values, wrong = _numbers(texts.mask(is_missing, "nan").to_numpy(object), dtype)
            wrong |= values < 0 if kind == "id" else ~(np.isfinite(values) | is_missing)
            column = pd.Series(values, texts.index).astype("datetime64[s]" if kind == "unix" else dtype)
        if wrong.any():
            at = int(wrong.argmax())
            self.refuse(at, f"{expected} as {name}", repr(texts.iloc[at][:40]), _AGAIN)
        return column


def read(found: Found, source: Source, kinds: Mapping[str, str] | None = None, comment: bytes | None = None) -> Cells:
    """The cells of a file: empty lines, and those that begin with ``comment``, left out.

    Raises
    ------
    DataFileError
        A line is not text or has another number of columns than there are ``kinds``, the header has other names, or
        there are no rows.
    """
    names = list(kinds or source.columns)
    # Publishers' tables between tabs are as old as latin-1, and quotes mean nothing in them.
    encoding, quoting = ("latin-1", csv.QUOTE_NONE) if source.separator == _TAB else ("utf-8-sig", csv.QUOTE_MINIMAL)
    try:
        found.content.decode(encoding)
    except UnicodeDecodeError as error:
        line = found.content.count(b"\n", 0, error.start) + 1
        _refuse(found.name, line, "UTF-8 text", f"the byte {found.content[error.start]:#x}", _AGAIN)
    lines, skipped = [], []
    for number, line in enumerate(io.BytesIO(found.content), 1):
        if not line.rstrip(b"\r\n") or (comment and line.startswith(comment)):
            skipped.append(number - 1)
            continue
        width = _width(line, source.separator, quoting)
        if width != len(names):
            _refuse(found.name, number, f"{len(names)} columns ({', '.join(names)[:60]}…)", str(width), _FILE)
        lines.append(number)
    if not lines:
        raise DataFileError(f"{found.name}: expected rows of {', '.join(names)[:60]}…, got an empty file; {_AGAIN}")
    try:
        texts = pd.read_csv(
            io.BytesIO(found.content), sep=source.separator, names=names, header=None, index_col=False, dtype=str,
            na_filter=False, skiprows=skipped, skip_blank_lines=False, skipinitialspace=source.separator != _TAB,
            quoting=quoting, encoding=encoding,
        )  # fmt: skip
    except pd.errors.ParserError as error:
        raise DataFileError(f"{found.name}: expected separated text, got what pandas refuses ({error}).") from None
    if len(texts) != len(lines):
        raise DataFileError(f"{found.name}: expected {len(lines):,} rows, got {len(texts):,}: a quote is not closed.")
    texts.index = pd.Index(lines)
    if source.has_header:
        header = texts.iloc[0].tolist()
        if header != names:
            expected, got = (f"{','.join(each)[:60]}" for each in (names, header))
            _refuse(found.name, lines[0], f"the names {expected}…", repr(got), _FILE)
        texts = texts.iloc[1:]
    return Cells(found.name, texts)


def _refuse(name: str, line: int, expected: str, got: str, remedy: str) -> NoReturn:
    raise DataFileError(f"{name}, line {line}: expected {expected}, got {got}; {remedy}")


def _width(line: bytes, separator: str, quoting: int) -> int:
    if quoting == csv.QUOTE_NONE or b'"' not in line:
        return line.count(separator.encode()) + 1
    return len(next(csv.reader([line.decode()], delimiter=separator, skipinitialspace=True)))


def _numbers(texts: NDArray[np.object_], dtype: str) -> tuple[NDArray[np.generic], NDArray[np.bool_]]:
    """The texts as Python reads numbers, and which of them are none."""
    try:
        return texts.astype(dtype), np.zeros(len(texts), dtype=bool)
    except (ValueError, OverflowError):
        wrong = np.array([not _is_number(text, dtype) for text in texts.tolist()], dtype=bool)
        return np.where(wrong, "0", texts).astype(dtype), wrong


def _is_number(text: str, dtype: str) -> bool:
    try:
        np.array([text], dtype=object).astype(dtype)
    except (ValueError, OverflowError):
        return False
    return True
