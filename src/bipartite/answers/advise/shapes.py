"""Populations that nobody knows beforehand: shapes over which a choice is tried."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.domains import Domain

    Array = NDArray[np.float64]


def shapes_of(domain: Domain) -> dict[str, Array]:
    """The shares of all values in populations of several shapes, by name.

    >>> from bipartite import Integers
    >>> list(shapes_of(Integers(18, 90)))
    ['uniform', 'one hump', 'two humps', 'spike at an end', 'heavy tail', 'both ends']
    """
    size = len(domain)
    uniform = np.full(size, 1 / size)
    if not domain.has_ends:
        half = np.full(size, 0.5 / size)
        half[0] += 0.5
        return {"uniform": uniform, "half on one value": half, "Zipf": _normed(1 / np.arange(1.0, size + 1))}
    x = (np.arange(size) + 0.5) / size

    def beta(a: float, b: float) -> Array:
        return _normed(x ** (a - 1) * (1 - x) ** (b - 1))

    spike = 0.7 * beta(2, 3)
    spike[0] += 0.3
    return {
        "uniform": uniform,
        "one hump": beta(2, 5),
        "two humps": 0.5 * beta(4, 12) + 0.5 * beta(14, 5),
        "spike at an end": spike,
        "heavy tail": _normed((1 + 20 * x) ** -2.5),
        "both ends": beta(0.5, 0.5),
    }


def _normed(weights: Array) -> Array:
    shares: Array = weights / weights.sum()
    return shares
