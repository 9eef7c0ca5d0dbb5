"""The paper's own release of places, within the true region: **not ε-LDP**, since every report publishes the region."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bipartite import BRR, from_spec
from bipartite.domains import Points
from bipartite.errors import BrokenPromiseError, InputError, SpecError, is_one_of, shown
from bipartite.lottery import MAX_TOTAL, Epsilon
from reproduction.places.in_regions import (
    VERSION,
    BlockRows,
    build_below,
    check_blocks,
    check_one_of,
    check_regions,
    near_places,
    spec_of,
    window_tickets,
)
from reproduction.places.regions import Regions, parts
from reproduction.places.weaker import Weaker, checked, read_epsilon, rows_of

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from bipartite.lottery import Source
    from bipartite.mechanisms import Mechanism


class WithinRegion(Weaker):
    """BRR or GRR among the places of the true region: **not ε-LDP**, every report publishes the region of the value.

    Parameters
    ----------
    regions
        A public partition of places, :class:`Regions`.
    epsilon
        The privacy budget of one report **within a region**.
    publishes
        ``"region"``: your statement that the region of every person who reports may become public.
    inside
        ``"brr"``, with Algorithm 2's m in each region, or ``"grr"``.

    Guarantee
    ---------
    ε-LDP **within a region only**: Pr[y|x] ≤ e^ε·Pr[y|x'] for places x, x' of one region, exactly
    (``proved(release).holds``). For places of two regions the ratio is infinite. Use :func:`two_level` or the whole
    domain for ε-LDP.

    Notes
    -----
    ``guarantee`` states how much the region reveals: its entropy in bits under the uniform prior, and the number of
    places in the smallest region. Bias and variance given x follow from row x of ``matrix()``.

    Reference
    ---------
    Zhang, Zhu, Chen, Hu: *Bipartite Randomized Response Mechanism for Local Differential Privacy* (2026), section 5.3.

    Examples
    --------
    >>> from bipartite import Points
    >>> places = Points([[52.5, 13.4], [52.4, 13.1], [48.9, 2.35], [48.8, 2.1]], metric="haversine")
    >>> WithinRegion(Regions.of(places, ["DE", "DE", "FR", "FR"]), epsilon=1, publishes="region").holds()
    True
    """

    words = (
        "largest ratio of two probabilities of one report for values of one region",
        "for values of two regions: infinite, the region is published; not ε-LDP\n  realised ε within one region",
    )

    def __init__(
        self,
        regions: Regions,
        epsilon: object,
        *,
        publishes: Literal["region"],
        inside: Literal["brr", "grr"] = "brr",
    ) -> None:
        budget = Epsilon.of(epsilon)
        check_regions(regions)
        check_blocks(regions.sizes)
        if not is_one_of(publishes, ("region",)):
            raise InputError(
                f"Expected publishes='region', got {shown(publishes)}: every report of this mechanism reveals the "
                "region of the value, which no ε covers. Say so, or use two_level or the whole domain: those are ε-LDP."
            )
        check_one_of("inside", inside, ("brr", "grr"))
        m = [1] * len(regions) if inside == "grr" else near_places(regions, float(budget)).tolist()
        sizes = regions.sizes.tolist()

        def build(wanted: float) -> BlockRows:
            growth = float(np.exp(wanted))
            tickets = [
                (*window_tickets(MAX_TOTAL, size, count, growth), 0) for size, count in zip(sizes, m, strict=True)
            ]
            return BlockRows(sizes, m, tickets, MAX_TOTAL)

        self._set(regions, budget.text, build_below(budget, build))

    def _set(self, regions: Regions, epsilon: str, rows: BlockRows) -> None:
        self.domain, self.regions, self.epsilon, self.rows = regions.places, regions, epsilon, rows

    @classmethod
    def read(cls, spec: Mapping[str, Any]) -> WithinRegion:
        """The release of a spec, after checking everything that its promise rests on."""
        wanted = {"bipartite", "mechanism", "domain", "epsilon", "regions", "tickets", "total", "m", "publishes"}
        version = spec.get("bipartite")
        if set(spec) != wanted or spec["publishes"] != "region" or type(version) is not int or version != VERSION:
            raise SpecError(
                f"Expected a spec with {', '.join(sorted(wanted))}, publishes='region'; ask for another one."
            )
        epsilon = read_epsilon(spec)
        regions, total = _read_regions(spec), _count(spec["total"])
        given, m, sizes = spec["tickets"], spec["m"], regions.sizes.tolist()
        if not isinstance(m, list) or len(m) != len(sizes) or not all(type(each) is int for each in m):
            raise SpecError("Expected m as a list of whole numbers, one per region.")
        if not all(1 <= count < size for count, size in zip(m, sizes, strict=True)):
            raise BrokenPromiseError("Expected 1 ≤ m < the number of places for every region; ask for another spec.")
        if not isinstance(given, list) or not all(isinstance(e, Mapping) and set(e) == {"near", "far"} for e in given):
            raise SpecError("Expected tickets as {'near': '…', 'far': '…'} for each region.")
        tickets = [(_count(each["near"]), _count(each["far"]), 0) for each in given]
        if total > MAX_TOTAL or len(tickets) != len(sizes):
            raise BrokenPromiseError(
                "Expected tickets of at least one for each region with one total of at most 2^52; ask for another spec."
            )
        rows = BlockRows(sizes, tuple(m), tickets, total)
        if not all(0 <= extra < near for extra, near in zip(rows.extras(), m, strict=True)):
            raise BrokenPromiseError("Expected rows of one total of at most 2^52; ask for another spec.")
        check_blocks(regions.sizes)
        release = cls.__new__(cls)
        release._set(regions, epsilon, rows)
        checked(release, "e^ε")
        return release

    @property
    def m(self) -> tuple[int, ...]:
        """The number of near places in each region."""
        return tuple(self.rows.m)

    @cached_property
    def inside(self) -> tuple[Mechanism, ...]:
        """The mechanism of the library among the places of each region; those are numbered from 0."""
        counts = zip(parts(self.regions), self.rows.m, self.rows.tickets, self.rows.extras(), strict=True)
        return tuple(rows_of(part, _block(part, m, near, far, extra)) for part, m, (near, far, _), extra in counts)

    @property
    def guarantee(self) -> str:
        return (
            f"ε-LDP within a region only, with ε = {self.epsilon}; the region itself is published "
            f"({self.regions.bits():.2f} bits under the uniform prior, smallest crowd {self.regions.smallest} places): "
            "this is not ε-LDP"
        )

    @property
    def problem(self) -> str:
        return "publishes the region of the value, which no ε covers"

    def largest_ratio(self) -> Fraction:
        """The largest Pr[y|x]/Pr[y|x'] over places x, x' **of one region**; for others it is infinite."""
        return max(each.largest_ratio() for each in self.inside)

    def holds(self) -> bool:
        """Whether the tickets of every region keep ε within it."""
        return Epsilon.of(self.epsilon).allows(*self.largest_ratio().as_integer_ratio())

    def matrix(self) -> NDArray[np.float64]:
        dense = np.zeros((len(self.domain), len(self.domain)))
        for region, each in enumerate(self.inside):
            members = self.regions.members(region)
            dense[np.ix_(members, members)] = each.matrix()
        return dense

    def privatize(self, values: Any, *, rng: Source | None = None) -> Any:  # noqa: ANN401
        """The report of a place, or those of a list, one after another: each takes its words from the source anew."""
        if isinstance(values, list):
            return [self.privatize(value, rng=rng) for value in values]
        if np.ndim(values):  # before an error could show private values
            raise InputError(f"Expected a place, or a list of places, got {type(values).__name__}; pass a list.")
        at = self.domain.encode(values)
        region = int(self.regions.labels[at])
        members = self.regions.members(region)
        own = int(np.searchsorted(members, at))
        return self.domain.decode(int(members[self.inside[region].privatize(own, rng=rng)]))

    def to_spec(self) -> dict[str, Any]:
        tickets = [each[:2] for each in self.rows.tickets]
        spec = spec_of("within-region", self.regions, self.epsilon, ("near", "far"), tickets, self.rows.total)
        return spec | {"m": list(self.m), "publishes": "region"}

    def __repr__(self) -> str:
        return (
            f"<WithinRegion({self.regions!r}, epsilon={self.epsilon}): ε within a region only, the region is "
            "published, not ε-LDP>"
        )


def _block(part: Points, m: int, near: int, far: int, extra: int) -> NDArray[np.int64]:
    """The tickets among the places of a region, whose near places are those of BRR."""
    chances = BRR(part, "1", m=m).matrix()
    is_near = chances > chances.min()
    return np.where(is_near, near + (np.cumsum(is_near, axis=1) <= extra), far)


def _read_regions(spec: Mapping[str, Any]) -> Regions:
    """The regions of an untrusted spec."""
    domain, given = spec["domain"], spec["regions"]
    places = from_spec({"bipartite": 2, "mechanism": "constant", "domain": domain, "answer": 0}).domain
    if not isinstance(places, Points) or places.metric != "haversine":
        raise SpecError("Expected domain as points with metric 'haversine'; regions are of places.")
    if not isinstance(given, Mapping) or set(given) != {"labels", "names"}:
        raise SpecError("Expected regions as {'labels': […], 'names': […]}; ask for another spec.")
    labels, names = given["labels"], given["names"]
    whole = isinstance(labels, list) and all(type(each) is int and 0 <= each < len(places) for each in labels)
    if not whole or not isinstance(names, list) or not all(isinstance(each, str) for each in names) or not names:
        raise SpecError("Expected labels of regions as whole numbers from 0, and names as text; ask for another spec.")
    try:
        return Regions.restore(places, labels, names)
    except InputError as error:
        raise SpecError(f"{error} Ask for another spec.") from None


def _count(text: object) -> int:
    if not isinstance(text, str) or not re.fullmatch("[1-9][0-9]{0,15}", text):
        raise SpecError("Expected tickets and total as whole numbers of at most 16 digits, as strings.")
    return int(text)
