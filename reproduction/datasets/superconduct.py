"""Superconductivity: the temperature at which a material loses its resistance."""

from __future__ import annotations

from typing import Final

import numpy as np

from bipartite.errors import DataFileError
from reproduction.datasets.one_file import read_one
from reproduction.datasets.results import Provenance, Table
from reproduction.datasets.texts import Kind, read_rows, repeated, without_header

_WIDTH: Final = 82
_FIRST: Final = "number_of_elements"
_TARGET: Final = "critical_temp"


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
    return read_one("superconduct", read_superconduct)


def read_superconduct(content: bytes, name: str, provenance: Provenance) -> Table:
    """The table in the publisher's text."""
    everything = read_rows(content, name, _WIDTH)
    header = everything.rows[0] if everything.rows else []
    if not header or (header[0], header[-1]) != (_FIRST, _TARGET) or len(set(header)) != _WIDTH:
        msg = f"{name}: expected {_WIDTH} names from {_FIRST} to {_TARGET} in the first line; is this the right file?"
        raise DataFileError(msg)
    rows = without_header(everything, header)
    kinds: dict[str, Kind] = dict.fromkeys(header, "number")
    oddities = {"repeated rows": repeated(rows.rows)}
    return Table.of(rows.columns(kinds), (_TARGET,), np.ones(len(rows), dtype=bool), oddities, provenance)
