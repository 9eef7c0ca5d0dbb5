"""Regions of a set of places: groups that share a prefix of their map tile codes.

The rule of the paper's experiment: each place takes its longest prefix of an even number of bits (at most 44) that at
least six places share; a prefix that extends another such prefix is replaced by it, and the places of one prefix form a
region. So a region is everything in one map tile, and has at least six places.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bipartite.domains import Points
from bipartite.errors import InputError, shown
from bipartite.locations.candidates import check_places
from reproduction.places.tiles import BITS, sharing, tile_codes

Whole = NDArray[np.int64]

_AT_LEAST: Final = 6
_MOST_BITS: Final = 44
_DIGIT: Final = 2  # bits per digit of a quadkey: prefixes are whole tiles


@dataclass(frozen=True, eq=False, repr=False)
class Regions:
    """A partition of places into regions of at least two places; public, and never derived from private data.

    Examples
    --------
    >>> from bipartite import Points
    >>> places = Points([[52.5, 13.4], [52.4, 13.1], [48.9, 2.35], [48.8, 2.1]], metric="haversine")
    >>> regions = Regions.by_prefix(places, at_least=2)
    >>> regions.sizes.tolist(), regions.smallest, regions.bits()
    ([2, 2], 2, 1.0)
    """

    places: Points
    labels: Whole
    """The region of each place, 0 … R − 1."""
    names: tuple[str, ...]
    """The name of each region: by the rule the prefix that the codes of its places share."""

    def __post_init__(self) -> None:
        size, count = len(self.places), len(self.names)
        if self.labels.shape != (size,) or not 0 <= self.labels.min() <= self.labels.max() < count:
            raise InputError(f"Expected the region of each of {size} places, from 0 to {count - 1}.")
        if self.smallest < 2 or len(set(self.names)) != count:  # noqa: PLR2004
            raise InputError("Expected regions of at least two places, each with its own name.")
        self.labels.flags.writeable = False

    def __reduce__(self) -> tuple[Any, ...]:
        # Made again, because pickling loses that labels are read-only.
        return Regions, (self.places, self.labels, self.names)

    @classmethod
    def by_prefix(cls, places: Points, *, at_least: int = _AT_LEAST) -> Regions:
        """The regions of the paper's experiment, or those of another crowd; of fewer places than that, one region."""
        check_places(places)
        if at_least != int(at_least) or at_least < 2:  # noqa: PLR2004
            raise InputError(f"Expected at_least as a whole number ≥ 2, got {shown(at_least)}; the paper uses 6.")
        codes = tile_codes(places.coordinates)
        lengths = _lengths(codes, at_least)
        keys = [f"{code:046b}"[:length] for code, length in zip(codes.tolist(), lengths.tolist(), strict=True)]
        prefixes, labels = np.unique(np.array(keys), return_inverse=True)
        return cls(places, labels.ravel().astype(np.int64), tuple(prefixes.tolist()))

    def __len__(self) -> int:
        return len(self.names)

    @property
    def sizes(self) -> Whole:
        """The number of places in each region."""
        return np.bincount(self.labels, minlength=len(self))

    @property
    def smallest(self) -> int:
        """The number of places in the smallest region: the anonymity set of a person whose region is known."""
        return int(self.sizes.min())

    def members(self, region: int) -> Whole:
        """The row numbers of the places of a region, ascending."""
        return np.flatnonzero(self.labels == region)

    def bits(self) -> float:
        """The information that publishing the region reveals: its entropy in bits under the uniform prior."""
        shares = np.bincount(self.labels, np.full(len(self.places), 1 / len(self.places)))
        return float(-(shares * np.log2(shares)).sum()) + 0.0

    def __repr__(self) -> str:
        return f"<{len(self)} regions of {self.sizes.min()} to {self.sizes.max()} places>"


def parts(regions: Regions) -> list[Points]:
    """The places of each region as a domain, with the same whole vectors: all that a spec has."""
    vectors = np.array(regions.places.to_spec()["points"]["vectors"], dtype=np.int64)
    return [Points.restore("haversine", vectors[regions.members(each)], 0, None) for each in range(len(regions))]


def _lengths(codes: Whole, at_least: int) -> Whole:
    """The number of bits in the prefix of each code's region."""
    longest = np.zeros(len(codes), dtype=np.int64)
    for bits in range(_DIGIT, _MOST_BITS + 1, _DIGIT):
        longest[sharing(codes, bits) >= at_least] = bits
    lengths = np.full(len(codes), -1, dtype=np.int64)
    # From the shortest prefix up: the prefix of one place applies to all that share it.
    for bits in range(0, _MOST_BITS + 1, _DIGIT):
        prefixes = codes >> (BITS - bits)
        lengths[np.isin(prefixes, prefixes[longest == bits]) & (lengths < 0)] = bits
    return lengths
