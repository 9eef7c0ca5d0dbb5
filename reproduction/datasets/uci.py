"""Tables of the UCI Machine Learning Repository.

Abalone: how old is a sea snail? Adult, or Census income: who earns more than 50,000 dollars a year. Bank Marketing:
which clients subscribe to a deposit after a telephone call. Bias correction: tomorrow's temperatures in Seoul, from
today's and from a weather model. Superconductivity: the temperature at which a material loses its resistance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.errors import DataFileError, InputError, is_one_of, shown
from reproduction.datasets.finding import find
from reproduction.datasets.opening import opened
from reproduction.datasets.results import Provenance, Table, provenance_of
from reproduction.datasets.sources import SOURCES
from reproduction.datasets.texts import Kind, Rows, read_rows, read_table, repeated, without_header

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal

_COMMENT: Final = "|"  # begins a line of Adult that is none of the table
_NEVER: Final = 999  # days since a client of Bank was called who never was
_NAN: Final = ("NaN", "")  # in Bias
_WIDTH: Final = 82  # of Superconductivity
_FIRST: Final = "number_of_elements"
_CRITICAL: Final = "critical_temp"


def abalone() -> Table:
    """4,177 abalones: sex (M, F or I for infant), seven sizes and weights, and the target ``Rings``.

    Lengths are in mm and weights in grams, both divided by 200 by the publisher. No value is missing. Two animals have
    a height of 0, which cannot be; they are counted in ``oddities`` and kept.

    Returns
    -------
    Table
        CC BY 4.0; Nash and others, UCI Machine Learning Repository, 1994.

    Raises
    ------
    MissingDataError
        The file is not here and could not be fetched.
    DataFileError
        The file is damaged or another one.
    """
    return _read_one("abalone", read_abalone)


def read_abalone(content: bytes, name: str, provenance: Provenance) -> Table:
    """The table in the publisher's text: no header, commas."""
    kinds = SOURCES["abalone"].columns
    rows = read_rows(content, name, len(kinds))
    columns = rows.columns(kinds)
    oddities = {"height 0": int(np.count_nonzero(columns["Height"] == 0)), "repeated rows": repeated(rows.rows)}
    return Table.of(columns, ("Rings",), np.ones(len(rows), dtype=bool), oddities, provenance)


def adult(part: Literal["train", "test", "all"] = "train") -> Table:
    """Census records of 1994: 14 features and the target ``income``, ``<=50K`` or ``>50K``.

    ``train`` has 32,561 rows, ``test`` 16,281, ``all`` both in this order. What the files do, and what is made of it:

    - Blanks after the commas, the empty last line and the comment in the first line of the test file are left out.
    - In the test file the labels end in a dot, ``<=50K.``; it is taken away, so that both parts have the same labels.
    - A missing value is the text ``?``. It stays; ``complete`` says which rows have none (30,162 and 15,060).

    Returns
    -------
    Table
        CC BY 4.0; Becker and Kohavi, UCI Machine Learning Repository, 1996.

    Raises
    ------
    InputError
        ``part`` is none of the three.
    MissingDataError
        A file is not here and could not be fetched.
    DataFileError
        A file is damaged or another one.
    """
    if not is_one_of(part, ("train", "test", "all")):
        raise InputError(f"Expected part 'train', 'test' or 'all', got {shown(part)}.")
    source = SOURCES["adult"]
    found = [find(source, each) for each in (("train", "test") if part == "all" else (part,))]
    contents = []
    for each in found:
        with opened(each) as stream:
            contents.append((stream.read(), each.path.name))
    return read_adult(contents, provenance_of(source, *found))


def read_adult(contents: list[tuple[bytes, str]], provenance: Provenance) -> Table:
    """The rows of the publisher's texts, one after the other."""
    kinds = SOURCES["adult"].columns
    texts = [read_rows(content, name, len(kinds), skip=(_COMMENT,)) for content, name in contents]
    parts = [text.columns(kinds) for text in texts]
    rows = [row for text in texts for row in text.rows]
    columns = {name: np.concatenate([part[name] for part in parts]) for name in kinds}
    columns["income"] = np.char.rstrip(columns["income"], ".")
    complete = np.array(["?" not in row for row in rows], dtype=bool)
    oddities = {
        "rows with ?": int(np.count_nonzero(~complete)),
        "labels with a dot, taken away": sum(row[-1].endswith(".") for row in rows),
        "comment lines, left out": sum(_comments(content) for content, _ in contents),
        "repeated rows": repeated(rows),
    }
    return Table.of(columns, ("income",), complete, oddities, provenance)


def _comments(content: bytes) -> int:
    return sum(line.startswith(_COMMENT.encode()) for line in content.splitlines())


def bank() -> Table:
    """41,188 calls of a bank (``bank-additional-full``): 20 features and the target ``y``, ``yes`` or ``no``.

    What the file does, and what is made of it:

    - Semicolons, quotes and CRLF are the publisher's; they leave no trace in the columns.
    - A missing value is the category ``unknown``. It stays; ``complete`` says which rows have none (30,488).
    - 12 rows repeat an earlier one. They are kept and counted in ``oddities``; clients have no ids.
    - ``pdays`` 999 means that the client was never called before; it is no number of days.
    - ``duration`` is known only after the call, and so no feature for a prediction, as the publisher says.

    Returns
    -------
    Table
        CC BY 4.0; Moro, Rita and Cortez, UCI Machine Learning Repository, 2014.

    Raises
    ------
    MissingDataError
        The file is not here and could not be fetched.
    DataFileError
        The file is damaged or another one.
    """
    return _read_one("bank", read_bank)


def read_bank(content: bytes, name: str, provenance: Provenance) -> Table:
    """The table in the publisher's text."""
    kinds = SOURCES["bank"].columns
    rows, columns = read_table(content, name, kinds, delimiter=";")
    complete = np.array(["unknown" not in row for row in rows.rows], dtype=bool)
    oddities = {
        "rows with unknown": int(np.count_nonzero(~complete)),
        "pdays 999, never called before": int(np.count_nonzero(columns["pdays"] == _NEVER)),
        "repeated rows": repeated(rows.rows),
    }
    return Table.of(columns, ("y",), complete, oddities, provenance)


def bias() -> Table:
    """7,750 summer days at 25 stations in Seoul, 2013 to 2017: 23 features, targets ``Next_Tmax`` and ``Next_Tmin``.

    What the file does, and what is made of it:

    - Its last two rows have neither station nor date: they hold the smallest and the largest value of each column. They
      are no observations, and are **left out**; ``oddities`` counts them.
    - A missing number is the text ``NaN`` or an empty cell; here it is NaN. ``complete`` says which rows have none
      (7,588, the number that the BRR paper states).
    - ``Solar radiation`` has a blank in its name.
    - The checksum of the publisher's file is not known: see ``provenance``. The copy that is known has the publisher's
      content as far as two independent copies agree, and other line ends.

    Returns
    -------
    Table
        CC BY 4.0; Cho, Yoo, Im and Cha, Earth and Space Science 7, 2020.

    Raises
    ------
    MissingDataError
        The file is not here and could not be fetched.
    DataFileError
        The file is damaged or another one.
    """
    return _read_one("bias", read_bias)


def read_bias(content: bytes, name: str, provenance: Provenance) -> Table:
    """The table in the publisher's text."""
    kinds = SOURCES["bias"].columns
    everything = without_header(read_rows(content, name, len(kinds)), tuple(kinds))
    days = len(everything)
    while days and everything.rows[days - 1][:2] == ["", ""]:
        days -= 1
    rows = Rows(name, everything.numbers[:days], everything.rows[:days])
    columns = rows.columns(kinds, _NAN)
    missing = np.array([[cell in _NAN for cell in row] for row in rows.rows], dtype=bool).reshape(days, len(kinds))
    complete = np.logical_not(missing.any(axis=1))
    oddities = {
        "rows of minima and maxima, left out": len(everything) - days,
        "rows with a missing value": int(np.count_nonzero(~complete)),
        "missing cells": int(np.count_nonzero(missing)),
    }
    return Table.of(columns, ("Next_Tmax", "Next_Tmin"), complete, oddities, provenance)


def superconduct() -> Table:
    """21,263 superconductors: 81 numbers about their elements and the target ``critical_temp`` in kelvin.

    The publisher's archive is preferred; no checksum of it is known. In its absence a known **reconstruction** is read,
    ``superconduct_train_reconstructed.csv.gz``. It has the publisher's columns in their order, but:

    - its **rows are in another order**, so that row numbers and splits by position mean nothing outside this file;
    - five columns (``number_of_elements``, ``gmean_fie``, ``range_Valence``, ``entropy_ThermalConductivity`` and
      ``wtd_entropy_ThermalConductivity``) were recomputed from the others, and agree where that could be checked.

    ``provenance.files[0].standing`` says which one was read. 66 rows repeat an earlier one; they are kept and counted.

    Returns
    -------
    Table
        CC BY 4.0; Hamidieh, Computational Materials Science 154, 2018.

    Raises
    ------
    MissingDataError
        The file is not here and could not be fetched.
    DataFileError
        The file is damaged or another one.
    """
    return _read_one("superconduct", read_superconduct)


def read_superconduct(content: bytes, name: str, provenance: Provenance) -> Table:
    """The table in the publisher's text."""
    everything = read_rows(content, name, _WIDTH)
    header = everything.rows[0] if everything.rows else []
    if not header or (header[0], header[-1]) != (_FIRST, _CRITICAL) or len(set(header)) != _WIDTH:
        raise DataFileError(
            f"{name}: expected {_WIDTH} names from {_FIRST} to {_CRITICAL} in the first line; is this the right file?"
        )
    rows = without_header(everything, header)
    kinds: dict[str, Kind] = dict.fromkeys(header, "number")
    oddities = {"repeated rows": repeated(rows.rows)}
    return Table.of(rows.columns(kinds), (_CRITICAL,), np.ones(len(rows), dtype=bool), oddities, provenance)


def _read_one(name: str, read: Callable[[bytes, str, Provenance], Table]) -> Table:
    """The table of a data set of one file, by the function that knows its text."""
    source = SOURCES[name]
    found = find(source, "data")
    with opened(found) as stream:
        return read(stream.read(), found.path.name, provenance_of(source, found))
