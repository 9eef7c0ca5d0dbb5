"""Check-ins that others put into tables with a header: which column is what."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from reproduction.datasets.results import CheckIns, Provenance, fixed
from reproduction.datasets.texts import Kind, read_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

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
    rows.refuse_outside(coordinates, "is this the right file?")
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
