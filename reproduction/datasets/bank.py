"""Bank Marketing: which clients subscribe to a deposit after a telephone call."""

from __future__ import annotations

from typing import Final

import numpy as np

from reproduction.datasets.one_file import read_one
from reproduction.datasets.results import Provenance, Table
from reproduction.datasets.sources import SOURCES
from reproduction.datasets.texts import read_table, repeated

_KINDS: Final = SOURCES["bank"].columns
_UNKNOWN: Final = "unknown"
_NEVER: Final = 999


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
    return read_one("bank", read_bank)


def read_bank(content: bytes, name: str, provenance: Provenance) -> Table:
    """The table in the publisher's text."""
    rows, columns = read_table(content, name, _KINDS, delimiter=";")
    complete = np.array([_UNKNOWN not in row for row in rows.rows], dtype=bool)
    oddities = {
        "rows with unknown": int(np.count_nonzero(~complete)),
        "pdays 999, never called before": int(np.count_nonzero(columns["pdays"] == _NEVER)),
        "repeated rows": repeated(rows.rows),
    }
    return Table.of(columns, ("y",), complete, oddities, provenance)
