"""The names by which commands and plans ask for a mechanism."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bipartite import mechanisms

if TYPE_CHECKING:
    from bipartite.mechanisms.base import Mechanism

_CLASSES: Final = {
    "anchored": "Anchored",
    "brr": "BRR",
    "constant": "Constant",
    "duchi": "Duchi",
    "exponential": "Exponential",
    "geometric": "Geometric",
    "grr": "GRR",
    "hybrid": "Hybrid",
    "laplace": "Laplace",
    "lsrr": "LSRR",
    "optimal": "Optimal",
    "piecewise": "Piecewise",
    "planar-laplace": "PlanarLaplace",
    "square-wave": "SquareWave",
    "staircase": "Staircase",
}
NAMES: Final = tuple(_CLASSES)
WITH_PRIOR: Final = frozenset({"anchored", "constant", "optimal"})
"""Those whose design takes a prior; BRR does with ``m="best"``."""


def mechanism_named(name: str) -> type[Mechanism]:
    """The class of a name, loaded when it is asked for."""
    found: type[Mechanism] = getattr(mechanisms, _CLASSES[name])
    return found
