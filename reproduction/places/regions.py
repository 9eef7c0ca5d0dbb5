"""Regions of a set of places: groups that share a prefix of their map tile codes, or given groups.

The rule of the paper's experiment: each place takes its longest prefix of an even number of bits (at most 44) that at
least six places share; a prefix that extends another such prefix is replaced by it, and the places of one prefix form a
region. So a region is everything in one map tile, and has at least six places.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from bipartite import from_spec
from bipartite.domains import Points
from bipartite.errors import InputError, Problems, shown
from bipartite.frozen import Frozen
from reproduction.places.tiles import prefix, tile_codes, whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

AT_LEAST: Final = 6
MOST_BITS: Final = 44
_PRIOR_TOLERANCE: Final = 1e-6
_DIGIT: Final = 2  # bits per digit of a quadkey: prefixes are whole tiles


class Regions(Frozen):
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

    __slots__ = ("labels", "merged", "names", "places", "prefixes")
    places: Points
    labels: NDArray[np.int64]
    """The region of each place, 0 … R − 1."""
    names: tuple[str, ...]
    """The name of each region: the prefix of its tile, or the given label."""
    prefixes: tuple[str, ...] | None
    """The prefix that the codes of a region share, as text; None for given regions."""
    merged: int
    """The number of given single-place regions that were merged with the region of the nearest other place."""

    def __init__(self) -> None:
        raise TypeError("Build regions with Regions.by_prefix(places) or Regions.of(places, labels).")

    @classmethod
    def by_prefix(cls, places: Points, *, at_least: int = AT_LEAST, most_bits: int = MOST_BITS) -> Regions:
        """Build the regions of the paper's experiment.

        Each place takes its longest prefix of an even number of bits (at most ``most_bits``) that ``at_least`` places
        share, itself included; if one such prefix extends another, the shorter one is used for both. Fewer than
        ``at_least`` places form one region.
        """
        check_places(places)
        problems = Problems()
        crowd, bits = whole(at_least), whole(most_bits)
        if crowd is None or crowd < 2:  # noqa: PLR2004
            problems.add(f"Expected at_least as a whole number ≥ 2, got {shown(at_least)}; the paper uses 6.")
        if bits is None or not 0 <= bits <= MOST_BITS or bits % _DIGIT:
            problems.add(f"Expected most_bits as an even number from 0 to 44, got {shown(most_bits)}.")
        problems.raise_if_any(InputError)
        codes = tile_codes(places.coordinates[:, 0], places.coordinates[:, 1])
        lengths = _lengths(codes, int(at_least), int(most_bits))
        keys = [
            format(int(prefix(code, bits)), f"0{bits}b") if bits else ""
            for code, bits in zip(codes, lengths, strict=True)
        ]
        names, labels = np.unique(np.array(keys), return_inverse=True)
        prefixes = tuple(names.tolist())
        return cls._build(places, labels.ravel().astype(np.int64), prefixes, prefixes, 0)

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
        nameless = texts.count("")
        if nameless:
            raise InputError(
                f"Expected a region for every place, as text or a whole number, got {nameless} of {len(texts)} places "
                "without one; name it, or leave those places out."
            )
        names, numbers = np.unique(np.array(texts), return_inverse=True)
        numbers = numbers.ravel().astype(np.int64)
        merged = _merge_single_places(places, numbers)
        kept, numbers = np.unique(numbers, return_inverse=True)
        return cls._build(places, numbers.ravel().astype(np.int64), tuple(names[kept].tolist()), None, merged)

    @classmethod
    def _build(
        cls,
        places: Points,
        labels: NDArray[np.int64],
        names: tuple[str, ...],
        prefixes: tuple[str, ...] | None,
        merged: int,
    ) -> Regions:
        regions = cls.__new__(cls)
        labels.flags.writeable = False
        regions._set(places=places, labels=labels, names=names, prefixes=prefixes, merged=merged)
        return regions

    @classmethod
    def restore(cls, places: Points, labels: Sequence[int], names: Sequence[str]) -> Regions:
        """Rebuild the regions of a spec: labels 0 … R − 1, each with at least two places."""
        numbers = np.array(labels, dtype=np.int64)
        if numbers.shape != (len(places),) or numbers.min() < 0 or numbers.max() >= len(names):
            raise InputError(f"Expected the region of each of {len(places)} places, from 0 to {len(names) - 1}.")
        if np.bincount(numbers, minlength=len(names)).min() < 2 or len(set(names)) != len(names):  # noqa: PLR2004
            raise InputError("Expected regions of at least two places, each with its own name.")
        return cls._build(places, numbers, tuple(names), None, 0)

    def __setstate__(self, state: tuple[None, dict[str, Any]]) -> None:
        super().__setstate__(state)
        self.labels.flags.writeable = False  # pickling loses this flag

    def __len__(self) -> int:
        return len(self.names)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of places in each region."""
        return np.bincount(self.labels, minlength=len(self))

    @property
    def smallest(self) -> int:
        """The number of places in the smallest region: the anonymity set of a person whose region is known."""
        return int(self.sizes.min())

    def members(self, region: int) -> NDArray[np.int64]:
        """The row numbers of the places of a region, ascending."""
        return np.flatnonzero(self.labels == region)

    def bits(self, prior: NDArray[np.float64] | None = None) -> float:
        """The information that publishing the region reveals: its entropy in bits under a prior over places.

        ``None`` is the uniform prior.
        """
        weights = np.full(len(self.places), 1 / len(self.places)) if prior is None else np.asarray(prior, dtype=float)
        if weights.shape != (len(self.places),):
            raise InputError(
                f"Expected prior as {len(self.places)} probabilities, one per place, got shape {weights.shape}."
            )
        if not (weights >= 0).all() or not abs(float(weights.sum()) - 1) <= _PRIOR_TOLERANCE:
            raise InputError(f"Expected prior as non-negative numbers that sum to 1, got a sum of {weights.sum():.6g}.")
        shares = np.bincount(self.labels, weights)
        shares = shares[shares > 0]
        return float(-(shares * np.log2(shares)).sum()) + 0.0

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Regions)
            and self.places == other.places
            and np.array_equal(self.labels, other.labels)
            and self.names == other.names
        )

    def __hash__(self) -> int:
        return hash((len(self.places), self.names))

    def __repr__(self) -> str:
        return f"<{len(self)} regions of {self.sizes.min()} to {self.sizes.max()} places>"


def _region_name(label: object) -> str:
    """The name of a region; empty for empty text, None, NaN and other missing values."""
    if isinstance(label, str):
        return label.strip()
    return "" if whole(label) is None and not isinstance(label, np.bool_ | bool) else str(label)


def check_places(places: object) -> Points:
    """The places, refused unless they are points on the globe."""
    if not isinstance(places, Points) or places.metric != "haversine":
        raise InputError("Expected places as bp.Points(…, metric='haversine'); build them with bp.locations.places.")
    return places


def check_regions_of(places: Points, regions: object) -> None:
    """Refuse anything but regions of these places."""
    if not isinstance(regions, Regions) or regions.places != places:
        raise InputError(
            "Expected regions as reproduction.places.Regions of the same places; build them with "
            "Regions.by_prefix(places)."
        )


def parts(regions: Regions) -> list[Points]:
    """The places of each region as a domain, with the same integer coordinates."""
    vectors = regions.places.to_spec()["points"]["vectors"]
    return [of_vectors([vectors[at] for at in regions.members(region).tolist()]) for region in range(len(regions))]


def of_vectors(vectors: list[list[int]]) -> Points:
    """Places from the integer coordinates of a spec."""
    domain = {"points": {"metric": "haversine", "vectors": vectors}}
    return cast("Points", from_spec({"bipartite": 2, "mechanism": "constant", "domain": domain, "answer": 0}).domain)


def _lengths(codes: NDArray[np.int64], at_least: int, most_bits: int) -> NDArray[np.int64]:
    """The number of bits in the prefix of each code's region."""
    longest = np.zeros(len(codes), dtype=np.int64)
    for bits in range(_DIGIT, most_bits + 1, _DIGIT):
        _, which, counts = np.unique(prefix(codes, bits), return_inverse=True, return_counts=True)
        longest[counts[which.ravel()] >= at_least] = bits
    lengths = np.full(len(codes), -1, dtype=np.int64)
    # From the shortest prefix up: the prefix of one place applies to all that share it.
    for bits in range(0, most_bits + 1, _DIGIT):
        prefixes = prefix(codes, bits)
        taken = np.isin(prefixes, prefixes[longest == bits]) & (lengths < 0)
        lengths[taken] = bits
    return lengths


def _merge_single_places(places: Points, numbers: NDArray[np.int64]) -> int:
    """Merge each region of one place, in place, with that of the nearest other place; return the number merged."""
    merged = 0
    counts = np.bincount(numbers)
    for place in np.flatnonzero(counts[numbers] == 1).tolist():
        if counts[numbers[place]] > 1:  # another place was merged into it meanwhile
            continue
        distances = np.array(places.losses(place))
        distances[place] = np.inf
        joined = numbers[int(distances.argmin())]
        counts[numbers[place]] -= 1
        counts[joined] += 1
        numbers[place] = joined
        merged += 1
    return merged
