"""Abalone: how old is a sea snail? Sizes and weights, and the rings of its shell."""

from __future__ import annotations

from typing import Final

import numpy as np

from reproduction.datasets.one_file import read_one
from reproduction.datasets.results import Provenance, Table
from reproduction.datasets.sources import SOURCES
from reproduction.datasets.texts import read_rows, repeated

_KINDS: Final = SOURCES["abalone"].columns


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
    return read_one("abalone", read_abalone)


def read_abalone(content: bytes, name: str, provenance: Provenance) -> Table:
    """The table in the publisher's text: no header, commas."""
    rows = read_rows(content, name, len(_KINDS))
    columns = rows.columns(_KINDS)
    oddities = {"height 0": int(np.count_nonzero(columns["Height"] == 0)), "repeated rows": repeated(rows.rows)}
    return Table.of(columns, ("Rings",), np.ones(len(rows), dtype=bool), oddities, provenance)
