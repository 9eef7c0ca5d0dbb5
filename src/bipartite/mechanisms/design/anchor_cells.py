"""Cells of points, each with a representative: the first sites where anchors are searched for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from bipartite.mechanisms.design.anchor_losses import AnchorLosses, Wholes

_LITTLE: Final = 1e-3


@dataclass(frozen=True, slots=True)
class Cells:
    """A partition of a set into cells."""

    of: Wholes
    """The cell of every item of the domain."""
    sites: Wholes
    """One item of each cell, near its centre."""


def cells_of(losses: AnchorLosses, count: int) -> Cells:
    """About ``count`` cells of equal mass, by repeated halving along the widest axis; deterministic.

    Items without coordinates, and the points of small sets, are a cell each.
    """
    size = losses.size
    everyone = np.arange(size)
    if losses.vectors is None or size <= count:
        return Cells(everyone, everyone)
    # Points without mass can still be reported, so they get a little.
    mass = np.full(size, _LITTLE / size)
    mass[losses.items] += losses.prior
    cells = np.zeros(size, dtype=np.int64)
    sites: list[int] = []
    waiting = [(everyone, count)]
    while waiting:
        members, share = waiting.pop()
        here = losses.vectors[:, members]
        if share <= 1 or len(members) == 1:
            cells[members] = len(sites)
            middle = np.average(here, axis=1, weights=mass[members])
            sites.append(int(members[((here - middle[:, None]) ** 2).sum(axis=0).argmin()]))
            continue
        order = np.argsort(here[np.ptp(here, axis=1).argmax()], kind="stable")
        below = np.cumsum(mass[members[order]])
        left = share // 2
        cut = int(np.searchsorted(below, below[-1] * left / share)) + 1
        cut = min(max(cut, 1), len(members) - 1)
        waiting += [(members[order[:cut]], left), (members[order[cut:]], share - left)]
    return Cells(cells, np.array(sites))
