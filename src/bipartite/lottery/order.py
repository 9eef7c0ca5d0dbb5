"""Which outputs are nearer, decided in whole numbers.

Sines differ in the last bit between machines, and a near-set of m ± 1 items breaks the proof of ε. So a set of points
is stored as integer vectors or integer ranks, and everything that decides a report compares those.

The outputs of x are ordered by (distance, x itself first, index).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class VectorOrder:
    """Points as integer vectors; distances are squared Euclidean or Manhattan, below 2^53."""

    vectors: NDArray[np.int64]
    kind: Literal["squared", "manhattan"]

    def __len__(self) -> int:
        return len(self.vectors)

    def distances(self, x: int) -> NDArray[np.int64]:
        """The distances from x to all points."""
        difference = self.vectors - self.vectors[x]
        if self.kind == "squared":
            squared: NDArray[np.int64] = np.einsum("ij,ij->i", difference, difference)
            return squared
        absolute: NDArray[np.int64] = np.abs(difference).sum(axis=1)
        return absolute

    def nearest_of(self, chosen: NDArray[np.int64]) -> NDArray[np.int64]:
        """For each point the position in ``chosen`` of the nearest chosen point, the first among ties."""
        nearest = np.zeros(len(self), dtype=np.int64)
        least = self.distances(int(chosen[0]))
        for number, x in enumerate(chosen[1:].tolist(), start=1):
            distances = self.distances(x)  # both kinds are symmetric
            nearest[distances < least] = number
            least = np.minimum(least, distances)
        return nearest


@dataclass(frozen=True, slots=True, eq=False)
class RankOrder:
    """Items by the rank of their loss: ranks[x, y] grows with the loss of reporting y when x is true."""

    ranks: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.ranks)

    def distances(self, x: int) -> NDArray[np.int64]:
        """The ranks of all items for x."""
        row: NDArray[np.int64] = self.ranks[x].astype(np.int64)
        return row

    def nearest_of(self, chosen: NDArray[np.int64]) -> NDArray[np.int64]:
        """For each item the position in ``chosen`` of the one with the smallest loss, the first among ties."""
        nearest: NDArray[np.int64] = np.argmin(self.ranks[:, chosen], axis=1).astype(np.int64)
        return nearest


@dataclass(frozen=True, slots=True)
class RingOrder:
    """Values around a circle: x itself, then the one before it, the one after it, the second before it, and so on.

    Of two values equally far from x the one before it counts as nearer, wherever x is: there are no ties.
    """

    size: int

    def __len__(self) -> int:
        return self.size

    def distances(self, x: int) -> NDArray[np.int64]:
        """Twice the distance around the circle from x to all values, less one for those before x."""
        after: NDArray[np.int64] = (np.arange(self.size, dtype=np.int64) - x) % self.size
        before = self.size - after
        return np.where(after < before, 2 * after, 2 * before - 1)

    def nearest_of(self, chosen: NDArray[np.int64]) -> NDArray[np.int64]:
        """For each value the position in ``chosen``, ascending, of the nearest chosen value."""
        at = np.arange(self.size, dtype=np.int64)
        following = np.searchsorted(chosen, at) % len(chosen)
        # The chosen one at or after each value, and the one before it, both around the circle.
        ahead = (chosen[following] - at) % self.size
        preceding = (following - 1) % len(chosen)
        back = (at - chosen[preceding]) % self.size
        return np.where(ahead < back, following, preceding) if len(chosen) > 1 else np.zeros_like(at)


Order = VectorOrder | RankOrder | RingOrder


@dataclass(frozen=True, slots=True)
class Farthest:
    """The last of the m nearest outputs of some x, which is enough to tell near from far."""

    distance: int
    index: int
    """Its index, or −1 when it is x itself, which comes first among ties."""

    def near(self, x: int, distances: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which outputs are near, given their distances from x."""
        index = np.arange(len(distances))
        tied = distances == self.distance
        mask: NDArray[np.bool_] = (distances < self.distance) | (tied & ((index == x) | (index <= self.index)))
        return mask


def farthest_near(x: int, distances: NDArray[np.int64], m: int) -> Farthest:
    """The m-th output of x in order."""
    bound = int(np.partition(distances, m - 1)[m - 1])
    # How many are still needed among those at this distance; x itself comes first.
    needed = m - int((distances < bound).sum())
    tied = np.flatnonzero(distances == bound)
    if distances[x] == bound:
        if needed == 1:
            return Farthest(bound, -1)
        tied, needed = tied[tied != x], needed - 1
    return Farthest(bound, int(tied[needed - 1]))


def ranks_of(losses: NDArray[np.float64]) -> NDArray[np.int32]:
    """The rank of each loss within its row; equal losses share a rank."""
    ranks = np.empty(losses.shape, dtype=np.int32)
    for x, row in enumerate(losses):
        ranks[x] = np.unique(row, return_inverse=True)[1]
    return ranks
