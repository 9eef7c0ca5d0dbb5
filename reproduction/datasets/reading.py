"""Reading separated text by pandas: every cell as text, then every column as the kind that is stated for it.

Nothing is guessed: a line of another width, a cell that is not of its kind and a coordinate that is none are refused,
with the number of their line.
"""

import csv
import io
from dataclasses import dataclass
from typing import Final, NoReturn

import numpy as np
import pandas as pd

from bipartite.errors import DataFileError
from reproduction.datasets.opening import Found
from reproduction.datasets.sources import Source

_FILE: Final = "is this the right file?"
_AGAIN: Final = "fetch the file again."
_NUMBERS: Final = {
    "whole": (r"[-+]?[0-9]{1,18}", "int64", "a whole number"),
    "unix": (r"[-+]?[0-9]{1,18}", "int64", "seconds since 1970"),
    "number": (r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?", "float64", "a number"),
}
_OUTSIDE: Final = "a latitude from −90 to 90 and a longitude from −180 to 180"


@dataclass(frozen=True)
class Cells:
    """The cells of a file as texts; the index of ``texts`` are the lines that they stood on."""

    name: str
    source: Source
    texts: pd.DataFrame

    def typed(self) -> pd.DataFrame:
        """Each column by its kind; NaN where a number is missing."""
        columns = {name: self._column(name, kind) for name, kind in self.source.columns.items()}
        return pd.DataFrame(columns).reset_index(drop=True)

    def refuse_outside(self, latitudes: pd.Series, longitudes: pd.Series) -> None:
        """Refuse the first row whose coordinates are no place on earth."""
        outside = ((latitudes.abs() > 90) | (longitudes.abs() > 180)).to_numpy()  # noqa: PLR2004 (degrees)
        if outside.any():
            at = int(outside.argmax())
            _refuse(self.name, self.texts.index[at], _OUTSIDE, f"{latitudes[at]} and {longitudes[at]}", _FILE)

    def _column(self, name: str, kind: str) -> pd.Series:
        texts = self.texts[name]
        if kind == "text":
            return texts
        if kind == "day":
            expected = "a day such as 2013-06-30"
            column = pd.to_datetime(texts, format="%Y-%m-%d", errors="coerce").astype("datetime64[s]")
            wrong = column.isna().to_numpy()
        else:
            form, dtype, expected = _NUMBERS[kind]
            is_number = texts.str.fullmatch(form)
            # As Python reads numbers, to the last bit.
            values = texts.where(is_number, "nan" if dtype == "float64" else "0").to_numpy(object).astype(dtype)
            is_missing = texts.isin(self.source.missing) if kind == "number" else False
            wrong = (~(is_number | is_missing)).to_numpy() | np.isinf(values)
            column = pd.Series(values, texts.index).astype("datetime64[s]" if kind == "unix" else dtype)
        if wrong.any():
            at = int(wrong.argmax())
            _refuse(self.name, texts.index[at], f"{expected} as {name}", repr(texts.iloc[at][:40]), _AGAIN)
        return column


def read(found: Found, source: Source) -> Cells:
    """The cells of a file, without the quotes around them; empty lines and comments are left out.

    Raises
    ------
    DataFileError
        A line is not text or has another number of columns than the source, the header has other names, or there are no
        rows.
    """
    names = list(source.columns)
    try:
        text = found.content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = found.content.count(b"\n", 0, error.start) + 1
        _refuse(found.name, line, "UTF-8 text", f"the byte {found.content[error.start]:#x}", _AGAIN)
    lines = pd.Series(text.replace("\r\n", "\n").split("\n"), dtype="str")
    lines.index += 1
    lines = lines[lines != ""]
    if source.comment:
        lines = lines[~lines.str.startswith(source.comment)]
    widths = lines.str.count(source.separator) + 1
    wrong = widths.index[widths != len(names)]
    if len(wrong):
        expected = f"{len(names)} columns ({', '.join(names)[:60]}…)"
        _refuse(found.name, wrong[0], expected, str(widths[wrong[0]]), _FILE)
    if lines.empty:
        raise DataFileError(f"{found.name}: expected rows of {', '.join(names)[:60]}…, got an empty file; {_AGAIN}")
    texts = pd.read_csv(
        io.StringIO("\n".join(lines)), sep=source.separator, names=names, header=None, index_col=False, dtype=str,
        na_filter=False, skipinitialspace=True, quoting=csv.QUOTE_NONE, lineterminator="\n",
    ).set_axis(lines.index)  # fmt: skip
    if '"' in text:
        texts = texts.apply(lambda column: column.str.strip('"'))
    if source.has_header:
        header = texts.iloc[0].tolist()
        if header != names:
            expected, got = (f"{','.join(each)[:60]}" for each in (names, header))
            _refuse(found.name, lines.index[0], f"the names {expected}…", repr(got), _FILE)
        texts = texts.iloc[1:]
    return Cells(found.name, source, texts)


def _refuse(name: str, line: int, expected: str, got: str, remedy: str) -> NoReturn:
    raise DataFileError(f"{name}, line {line}: expected {expected}, got {got}; {remedy}")
