"""The probabilities of all pairs of places, one byte each, to embed in a page."""

from __future__ import annotations

import base64
import math
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.locations.chances import chances

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from bipartite.mechanisms import Mechanism

    Array = NDArray[np.float64]

_MOST: Final = 255  # levels besides zero that fit in a byte
_ROWS: Final = 256


@dataclass(frozen=True, slots=True)
class Levels:
    """The level of each pair of places, and the probability of each level; level 0 is probability 0."""

    levels: Array
    exact: bool
    """Whether every probability is a level. Otherwise the levels are spaced geometrically, and a probability is off by
    less than half a step."""
    numbers: NDArray[np.uint8]

    def packed(self) -> str:
        """The levels as text: zlib, then base64."""
        return base64.b64encode(zlib.compress(self.numbers.tobytes(), 6)).decode("ascii")


def levels_of(mechanism: Mechanism) -> Levels:
    """Quantise the probabilities of all pairs of places."""
    size = len(mechanism.domain)
    found = np.empty(0)
    low, high = math.inf, 0.0
    for block in _blocks(mechanism, size):
        positive = block[block > 0]
        low, high = min(low, float(positive.min())), max(high, float(positive.max()))
        if len(found) <= _MOST:
            found = np.union1d(found, positive)
    exact = len(found) <= _MOST
    steps = found if exact else low * (high / low) ** (np.arange(_MOST) / (_MOST - 1))
    numbers = np.vstack([_numbers(block, steps) for block in _blocks(mechanism, size)])
    return Levels(np.concatenate([[0.0], steps]), exact, numbers)


def _blocks(mechanism: Mechanism, size: int) -> Iterator[Array]:
    for first in range(0, size, _ROWS):
        yield chances(mechanism, first, min(first + _ROWS, size))


def _numbers(block: Array, steps: Array) -> NDArray[np.uint8]:
    """The level nearest to each probability on a logarithmic scale."""
    middles = np.sqrt(steps[1:] * steps[:-1])
    return np.where(block > 0, np.searchsorted(middles, block) + 1, 0).astype(np.uint8)
