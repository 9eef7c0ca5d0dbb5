"""Check-ins that others put into tables with a header: which column is what."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.errors import DataFileError
from reproduction.datasets.results import CheckIns, Provenance, fixed, outside_the_world
from reproduction.datasets.texts import read_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from reproduction.datasets.texts import Kind

# The names that each author gave to the same thing.
_ROLES: Final = {
    "user": "users",
    "user_idx": "users",
    "poi": "places",
    "poi_idx": "places",
    "unix_time": "times",
    "unix_s": "times",
    "count": "counts",
}


def read_place_table(
    content: bytes, name: str, kinds: Mapping[str, Kind], provenance: Provenance, *, has_header: bool = True
) -> CheckIns:
    """Check-ins from a table of these columns, which has ``lat`` and ``lon`` in degrees."""
    rows, columns = read_table(content, name, kinds, has_header=has_header)
    coordinates = np.column_stack((columns.pop("lat"), columns.pop("lon")))
    wrong = outside_the_world(coordinates)
    if wrong.any():
        at = int(np.argmax(wrong))
        latitude, longitude = coordinates[at].tolist()
        msg = (
            f"{name}, line {rows.lines[at]}: expected a latitude from −90 to 90 and a longitude from −180 to 180, got "
            f"{latitude} and {longitude}; is this the right file?"
        )
        raise DataFileError(msg)
    parts: dict[str, NDArray[Any]] = {_ROLES[name]: columns.pop(name) for name in tuple(columns) if name in _ROLES}
    times = parts.get("times")
    return CheckIns(
        coordinates=fixed(coordinates),
        users=parts.get("users"),
        places=parts.get("places"),
        times=None if times is None else fixed(times.astype("datetime64[s]")),
        counts=parts.get("counts"),
        more=MappingProxyType(columns),
        left_out=0,
        provenance=provenance,
    )
