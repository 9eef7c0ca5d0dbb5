"""Regions of a set of places: groups that share a prefix of their map tile codes, or given groups.

The rule of the paper's experiment: each place takes its longest prefix of an even number of bits (at most 44) that at
least six places share; a prefix that extends another such prefix is replaced by it, and the places of one prefix form a
region. So a region is everything in one map tile, and has at least six places.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.design import check_prior
from bipartite.domains import Points
from bipartite.domains.base import as_index
from bipartite.errors import InputError, Problems, shown
from bipartite.locations.candidates import check_places
from reproduction.places.tiles import BITS, sharing, tile_codes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Whole = NDArray[np.int64]

AT_LEAST: Final = 6
MOST_BITS: Final = 44
_DIGIT: Final = 2  # bits per digit of a quadkey: prefixes are whole tiles


@dataclass(frozen=True, eq=False, repr=False)
class Regions:
    """A partition of places into regions of at least two places; public, and never derived from private data.

    Build one with :meth:`by_prefix` (the rule of the paper's experiment) or :meth:`of` (given regions).

    Examples
    --------
    >>> from bipartite import Points
    >>> places = Points([[52.5, 13.4], [52.4, 13.1], [48.9, 2.35], [48.8, 2.1]], metric="haversine")
    >>> regions = Regions.of(places, ["DE", "DE", "FR", "FR"])
    >>> regions.sizes.tolist(), regions.smallest, regions.bits()
    ([2, 2], 2, 1.0)
    """

    places: Points
    labels: Whole
    """The region of each place, 0 … R − 1."""
    names: tuple[str, ...]
    """The name of each region: the prefix of its tile, or the given label."""
    prefixes: tuple[str, ...] | None = None
    """The prefix that the codes of a region share, as text; None for given regions."""
    merged: int = 0
    """The number of given single-place regions that were merged with the region of the nearest other place."""

    def __post_init__(self) -> None:
        size, count = len(self.places), len(self.names)
        if self.labels.shape != (size,) or not 0 <= self.labels.min() <= self.labels.max() < count:
            raise InputError(f"Expected the region of each of {size} places, from 0 to {count - 1}.")
        if self.smallest < 2 or len(set(self.names)) != count:  # noqa: PLR2004
            raise InputError("Expected regions of at least two places, each with its own name.")
        self.labels.flags.writeable = False

    def __reduce__(self) -> tuple[Any, ...]:
        # Made again, because pickling loses that labels are read-only.
        return Regions, (self.places, self.labels, self.names, self.prefixes, self.merged)

    @classmethod
    def by_prefix(cls, places: Points, *, at_least: int = AT_LEAST, most_bits: int = MOST_BITS) -> Regions:
        """Build the regions of the paper's experiment.

        Each place takes its longest prefix of an even number of bits (at most ``most_bits``) that ``at_least`` places
        share, itself included; if one such prefix extends another, the shorter one is used for both. Fewer than
        ``at_least`` places form one region.
        """
        check_places(places)
        problems = Problems()
        crowd, bits = as_index(at_least), as_index(most_bits)
        if crowd is None or crowd < 2:  # noqa: PLR2004
            problems.add(f"Expected at_least as a whole number ≥ 2, got {shown(at_least)}; the paper uses 6.")
        if bits is None or not 0 <= bits <= MOST_BITS or bits % _DIGIT:
            problems.add(f"Expected most_bits as an even number from 0 to 44, got {shown(most_bits)}.")
        problems.raise_if_any(InputError)
        codes = tile_codes(places.coordinates)
        lengths = _lengths(codes, int(at_least), int(most_bits))
        keys = [f"{code:046b}"[:length] for code, length in zip(codes.tolist(), lengths.tolist(), strict=True)]
        names, labels = np.unique(np.array(keys), return_inverse=True)
        prefixes = tuple(names.tolist())
        return cls(places, labels.ravel().astype(np.int64), prefixes, prefixes)

    @classmethod
    def of(cls, places: Points, labels: Sequence[Any]) -> Regions:
        """Build given regions: one label (text or a whole number) per place, such as a country.

        A region of a single place would publish the place, so it is merged with the region of the nearest other place,
        the first among ties, in the order of the places.
        """
        check_places(places)
        if isinstance(labels, (str, bytes)) or not hasattr(labels, "__len__") or len(labels) != len(places):
            raise InputError(
                f"Expected labels as a list of {len(places)} labels, one per place; give the region of every place."
            )
        texts = [_region_name(label) for label in labels]
        if nameless := texts.count(""):
            raise InputError(
                f"Expected a region for every place, as text or a whole number, got {nameless} of {len(texts)} places "
                "without one; name it, or leave those places out."
            )
        names, numbers = np.unique(np.array(texts), return_inverse=True)
        numbers = numbers.ravel().astype(np.int64)
        merged = _merge_single_places(places, numbers)
        kept, numbers = np.unique(numbers, return_inverse=True)
        return cls(places, numbers.ravel().astype(np.int64), tuple(names[kept].tolist()), merged=merged)

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

    def bits(self, prior: object = None) -> float:
        """The information that publishing the region reveals: its entropy in bits under a prior over places.

        ``None`` is the uniform prior.
        """
        size = len(self.places)
        weights = np.full(size, 1 / size) if prior is None else check_prior(prior, size)
        shares = np.bincount(self.labels, weights)
        shares = shares[shares > 0]
        return float(-(shares * np.log2(shares)).sum()) + 0.0

    def __repr__(self) -> str:
        return f"<{len(self)} regions of {self.sizes.min()} to {self.sizes.max()} places>"


def check_regions_of(places: Points, regions: object) -> Regions:
    """The regions, refused unless they are of these places."""
    if not isinstance(regions, Regions) or regions.places != places:
        raise InputError(
            "Expected regions as reproduction.places.Regions of the same places; build them with "
            "Regions.by_prefix(places)."
        )
    return regions


def parts(regions: Regions) -> list[Points]:
    """The places of each region as a domain, with the same integer coordinates."""
    vectors = np.array(regions.places.to_spec()["points"]["vectors"], dtype=np.int64)
    return [Points.restore("haversine", vectors[regions.members(each)], 0, None) for each in range(len(regions))]


def _region_name(label: object) -> str:
    """The name of a region; empty for empty text, None, NaN and other missing values."""
    if isinstance(label, str):
        return label.strip()
    return str(label) if as_index(label) is not None or isinstance(label, np.bool_ | bool) else ""


def _lengths(codes: Whole, at_least: int, most_bits: int) -> Whole:
    """The number of bits in the prefix of each code's region."""
    longest = np.zeros(len(codes), dtype=np.int64)
    for bits in range(_DIGIT, most_bits + 1, _DIGIT):
        longest[sharing(codes, bits) >= at_least] = bits
    lengths = np.full(len(codes), -1, dtype=np.int64)
    # From the shortest prefix up: the prefix of one place applies to all that share it.
    for bits in range(0, most_bits + 1, _DIGIT):
        prefixes = codes >> (BITS - bits)
        lengths[np.isin(prefixes, prefixes[longest == bits]) & (lengths < 0)] = bits
    return lengths


def _merge_single_places(places: Points, numbers: Whole) -> int:
    """Merge each region of one place, in place, with that of the nearest other place; return the number merged."""
    merged = 0
    counts = np.bincount(numbers)
    for place in np.flatnonzero(counts[numbers] == 1).tolist():
        if counts[numbers[place]] > 1:  # another place was merged into it meanwhile
            continue
        distances = np.array(places.losses(place))
        distances[place] = np.inf
        joined = numbers[int(distances.argmin())]
        counts[[numbers[place], joined]] += (-1, 1)
        numbers[place] = joined
        merged += 1
    return merged
