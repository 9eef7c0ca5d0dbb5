"""Bias correction: tomorrow's temperatures in Seoul, from today's and from a weather model."""

from __future__ import annotations

from typing import Final

import numpy as np

from reproduction.datasets.one_file import read_one
from reproduction.datasets.results import Provenance, Table
from reproduction.datasets.sources import SOURCES
from reproduction.datasets.texts import Rows, read_rows, without_header

_KINDS: Final = SOURCES["bias"].columns
_MISSING: Final = ("NaN", "")


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
    return read_one("bias", read_bias)


def read_bias(content: bytes, name: str, provenance: Provenance) -> Table:
    """The table in the publisher's text."""
    everything = without_header(read_rows(content, name, len(_KINDS)), tuple(_KINDS))
    days = len(everything)
    while days and everything.rows[days - 1][:2] == ["", ""]:
        days -= 1
    rows = Rows(name, everything.rows[:days], everything.lines[:days])
    columns = rows.columns(_KINDS, _MISSING)
    missing = np.array([[cell in _MISSING for cell in row] for row in rows.rows], dtype=bool).reshape(days, len(_KINDS))
    complete = np.logical_not(missing.any(axis=1))
    oddities = {
        "rows of minima and maxima, left out": len(everything) - days,
        "rows with a missing value": int(np.count_nonzero(~complete)),
        "missing cells": int(np.count_nonzero(missing)),
    }
    return Table.of(columns, ("Next_Tmax", "Next_Tmin"), complete, oddities, provenance)
