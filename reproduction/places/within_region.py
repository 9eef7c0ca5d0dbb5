"""The paper's own release of places, within the true region: **not ε-LDP**, since every report publishes the region."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Final, Literal

import numpy as np
from numpy.typing import NDArray

from bipartite.design import safe_m_of_set
from bipartite.errors import InputError, Problems, SpecError, is_one_of, shown
from bipartite.lottery import MAX_TOTAL, SCALAR, Deal, Epsilon, Source, source_of
from bipartite.lottery.deal import largest_fraction
from bipartite.lottery.words import redraw_if_forked
from bipartite.mechanisms.rows_of_places import TwoLevel
from bipartite.mechanisms.spec.domains import read_domain
from bipartite.mechanisms.spec.fields import Fields, check_epsilon, is_ticket_count
from reproduction.places.in_regions import (
    VERSION,
    Dealt,
    build_below,
    check_blocks,
    check_regions,
    in_blocks,
    spec_of,
    window_tickets,
)
from reproduction.places.regions import Regions, parts
from reproduction.places.weaker import Weaker

_FIELDS: Final = {"bipartite", "mechanism", "domain", "epsilon", "regions", "tickets", "total", "m", "publishes"}


class WithinRegion(Weaker):
    """BRR among the places of the true region: **not ε-LDP**, every report publishes the region of the value.

    ``publishes="region"`` is your statement that the region of every person who reports may become public. Each region
    has Algorithm 2's m, as in section 5.3 of the paper.

    Guarantee: ε-LDP **within a region only**: Pr[y|x] ≤ e^ε·Pr[y|x'] for places x, x' of one region, exactly. For
    places of two regions the ratio is infinite. Use :func:`two_level` or the whole domain for ε-LDP.

    >>> from bipartite import Points
    >>> places = Points([[52.5, 13.4], [52.4, 13.1], [48.9, 2.35], [48.8, 2.1]], metric="haversine")
    >>> WithinRegion(Regions.by_prefix(places, at_least=2), epsilon=1, publishes="region").holds()
    True
    """

    head: ClassVar = {"mechanism": "within-region"}
    m: tuple[int, ...]
    """The number of near places in each region."""

    def __init__(self, regions: Regions, epsilon: object, *, publishes: Literal["region"]) -> None:
        budget = Epsilon.of(epsilon)
        check_regions(regions)
        check_blocks(regions.sizes)
        if not is_one_of(publishes, ("region",)):
            raise InputError(
                f"Expected publishes='region', got {shown(publishes)}: every report of this mechanism reveals the "
                "region of the value, which no ε covers. Say so, or use two_level or the whole domain: those are ε-LDP."
            )
        sizes = regions.sizes.tolist()
        # Algorithm 2 in each region: no place of it does worse than under GRR in the region.
        m = [safe_m_of_set(part, budget) for part in parts(regions)]

        def build(wanted: float) -> Dealt:
            near_far = (window_tickets(MAX_TOTAL, size, count, wanted) for size, count in zip(sizes, m, strict=True))
            return in_blocks(sizes, m, [(*each, 0) for each in near_far], MAX_TOTAL)

        self._set(regions, budget.text, tuple(m), build_below(budget, build))

    def _set(self, regions: Regions, epsilon: str, m: tuple[int, ...], dealt: Dealt) -> None:
        self.domain, self.regions, self.epsilon, self.m, self.dealt = regions.places, regions, epsilon, m, dealt

    @classmethod
    def read(cls, spec: Mapping[str, Any]) -> WithinRegion:
        """Read the fields as those of two levels with no tickets outside the region; then the promise is checked."""
        version, given = spec.get("bipartite"), spec.get("tickets")
        if set(spec) != _FIELDS or spec["publishes"] != "region" or type(version) is not int or version != VERSION:
            raise SpecError(
                f"Expected a spec with {', '.join(sorted(_FIELDS))}, publishes='region'; ask for another one."
            )
        problems = Problems()
        check_epsilon(spec["epsilon"], problems)
        domain = read_domain(spec["domain"], problems)
        if domain is not None and domain.metric != "haversine":
            problems.add("Expected domain as points with metric 'haversine'; regions are of places.")
        rows = given if isinstance(given, list) and all(isinstance(each, Mapping) for each in given) else []
        if not rows or any(set(e) != {"near", "far"} or not all(map(is_ticket_count, e.values())) for e in rows):
            problems.add(
                "Expected tickets as {'near': '…', 'far': '…'} for each region, whole numbers of at most 16 digits as "
                "strings."
            )
        fields = Fields(spec, domain, problems)
        facts = {name: TwoLevel.schema[name].read(fields, name) for name in ("m", "total", "regions")}
        places: Any = fields.domain  # raises all problems
        facts["tickets"] = tuple((int(each["near"]), int(each["far"]), 0) for each in rows)
        TwoLevel.check(places, Epsilon.of(spec["epsilon"]), facts)
        labels, names = facts["regions"]
        regions = Regions(places, np.array(labels, dtype=np.int64), names)
        release = cls.__new__(cls)
        dealt = in_blocks(regions.sizes.tolist(), facts["m"], [*facts["tickets"]], facts["total"])
        release._set(regions, spec["epsilon"], facts["m"], dealt)
        return release.checked()

    @cached_property
    def deal(self) -> Deal:
        """The tickets of every place: dealt as those of two levels, with none outside the region."""
        regions = self.regions.labels.tolist(), self.regions.names
        facts = {"regions": regions, "m": self.m, "total": self.dealt.total, "tickets": self.dealt.tickets}
        return TwoLevel.law(self.domain, facts)[1]

    def _tickets(self) -> NDArray[np.int64]:
        return self.deal.rows(0, len(self.domain))

    @property
    def guarantee(self) -> str:
        return (
            f"ε-LDP within a region only, with ε = {self.epsilon}; the region itself is published "
            f"({self.regions.bits():.2f} bits under the uniform prior, smallest crowd {self.regions.smallest} places): "
            "this is not ε-LDP"
        )

    def largest_ratio(self) -> Fraction:
        """The largest Pr[y|x]/Pr[y|x'] over places x, x' **of one region**; for others it is infinite."""
        tickets, members = self._tickets(), map(self.regions.members, range(len(self.regions)))
        blocks = (tickets[np.ix_(each, each)] for each in members)
        return max(largest_fraction(block.max(axis=0), block.min(axis=0)) for block in blocks)

    @property
    def ldp_epsilon(self) -> Decimal:
        return Decimal("Infinity")

    def matrix(self) -> NDArray[np.float64]:
        return self._tickets() / self.deal.total

    def privatize(self, values: Any, *, rng: Source | None = None) -> Any:  # noqa: ANN401
        """The report of a place, or those of a list, one after another: each takes its words from the source anew."""
        if isinstance(values, list):
            return [self.privatize(value, rng=rng) for value in values]
        if np.ndim(values):  # before an error could show private values
            raise InputError(f"Expected a place, or a list of places, got {type(values).__name__}; pass a list.")
        at = self.domain.encode(values)
        stream = SCALAR if rng is None else source_of(rng).streams().stream(0, 1)
        return self.domain.decode(redraw_if_forked(lambda: self.deal.draw(at, stream)))

    def to_spec(self) -> dict[str, Any]:
        kept = {"m": list(self.m), "publishes": "region"}
        return spec_of("within-region", self.regions, self.epsilon, ("near", "far"), self.dealt, **kept)

    def __repr__(self) -> str:
        return (
            f"<WithinRegion({self.regions!r}, epsilon={self.epsilon}): ε within a region only, the region is "
            "published, not ε-LDP>"
        )
