"""The probability that a person at one place reports another, whatever the outputs of the mechanism are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bipartite.domains import Points
from bipartite.errors import InputError
from bipartite.locations.candidates import check_places
from bipartite.mechanisms import Mechanism

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


def places_of(mechanism: object) -> Points:
    """The places of a mechanism that reports places."""
    if not isinstance(mechanism, Mechanism) or mechanism.flat:
        raise InputError(
            f"Expected a mechanism on places, got {type(mechanism).__name__}; pass bp.BRR(places, …) or another one."
        )
    domain = check_places(mechanism.domain)
    outputs = mechanism.outputs
    if not isinstance(outputs.base, Points):
        raise InputError(f"The reports of {mechanism!r} are not places of its domain, so no map can show them.")
    return domain


def chances(mechanism: Mechanism, first: int, last: int) -> Array:
    """Pr[report y | place x] for places x = first … last − 1 and every place y."""
    rows = mechanism.lottery.rows(first, last) / mechanism.lottery.total
    outputs = mechanism.outputs
    if outputs.indices is None:
        return np.asarray(rows, dtype=np.float64)
    whole = np.zeros((last - first, len(mechanism.domain)))
    whole[:, outputs.indices] = rows
    return whole
