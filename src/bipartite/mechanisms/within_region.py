"""The paper's protocol for places: every report lies in the true region, which is thereby published; not ε-LDP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bipartite.errors import InputError, is_one_of, shown
from bipartite.lottery import MAX_TOTAL, Epsilon
from bipartite.lottery.regional import check_blocks
from bipartite.mechanisms.base import check_one_of
from bipartite.mechanisms.design.regional import near_places
from bipartite.mechanisms.in_regions import BlockRows, InBlocks, build_below, check_regions, window_tickets

if TYPE_CHECKING:
    from fractions import Fraction
    from typing import Self

    from bipartite.domains.regions import Regions
    from bipartite.mechanisms.spec.parts import Fields


class WithinRegion(InBlocks):
    """BRR or GRR among the places of the true region: **not ε-LDP**, every report publishes the region of the value.

    Parameters
    ----------
    regions
        A public partition of places, :class:`~bipartite.locations.Regions`.
    epsilon
        The privacy budget of one report **within a region**.
    publishes
        ``"region"``: your statement that the region of every person who reports may become public.
    inside
        ``"brr"``, with Algorithm 2's m in each region, or ``"grr"``.

    Guarantee
    ---------
    ε-LDP **within a region only**: Pr[y|x] ≤ e^ε·Pr[y|x'] for places x, x' of one region, exactly
    (:func:`bipartite.verify`, whose ``holds`` is about this promise). For places of two regions the ratio is infinite.
    Use :class:`~bipartite.locations.TwoLevel` or the whole domain for ε-LDP.

    Notes
    -----
    ``guarantee`` states how much the region reveals: its entropy in bits under the uniform prior, and the number of
    places in the smallest region. Bias and variance given x follow from row x of ``matrix()``.

    Reference
    ---------
    Zhang, Zhu, Chen, Hu: *Bipartite Randomized Response Mechanism for Local Differential Privacy* (2026), section 5.3.

    Examples
    --------
    >>> from bipartite import Points, verify
    >>> from bipartite.domains.regions import Regions
    >>> places = Points([[52.5, 13.4], [52.4, 13.1], [48.9, 2.35], [48.8, 2.1]], metric="haversine")
    >>> mech = WithinRegion(Regions.of(places, ["DE", "DE", "FR", "FR"]), epsilon=1, publishes="region")
    >>> verify(mech).holds, verify(mech).publishes, mech.keeps_epsilon
    (True, 'region', False)
    """

    __slots__ = ()
    fields = InBlocks.fields | {"publishes"}
    counts = ("near", "far")

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
                "region of the value, which no ε covers. Say so, or use bp.locations.TwoLevel or the whole domain: "
                "those are ε-LDP."
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

        self._assemble(regions, budget, build_below(budget, build))

    @classmethod
    def read(cls, fields: Fields) -> Self:
        fields.choice("publishes", ("region",))
        return super().read(fields)

    @property
    def epsilon(self) -> float:
        """ε **within a region**, as requested: not the ε of ε-LDP."""
        return float(self._budget)

    @property
    def publishes(self) -> str:
        """The region, which every report reveals."""
        return "region"

    @property
    def keeps_epsilon(self) -> bool:
        """Never: the region is published, which no ε covers."""
        return False

    @property
    def guarantee(self) -> str:
        """The promise of one report, in words: ε within a region, and the region is published."""
        return (
            f"ε-LDP within a region only, with ε = {self._budget.text}; the region itself is published "
            f"({self.regions.bits():.2f} bits under the uniform prior, smallest crowd {self.regions.smallest} places): "
            "this is not ε-LDP"
        )

    def largest_ratio(self) -> Fraction:
        """The largest Pr[y|x]/Pr[y|x'] over places x, x' **of one region**; for others it is infinite."""
        return self._lottery.ratio_within()

    def parts(self) -> dict[str, Any]:
        return super().parts() | {"publishes": "region"}

    def __repr__(self) -> str:
        return (
            f"<WithinRegion({self.regions!r}, epsilon={self._budget.text}): ε within a region only, the region is "
            "published, not ε-LDP>"
        )
