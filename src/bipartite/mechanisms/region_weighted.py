"""A higher probability for every place of the true region; ε-LDP on all places."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bipartite.errors import BrokenPromiseError
from bipartite.lottery import MAX_TOTAL, Epsilon, WeightLottery
from bipartite.mechanisms.design.regional import region_weight
from bipartite.mechanisms.in_regions import InRegions, build_below, check_regions

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from bipartite.domains.regions import Regions
    from bipartite.mechanisms.spec.parts import Fields


class RegionWeighted(InRegions):
    r"""Weight w on every place of the true region and 1 on all others: a report carries information on the region only.

    The normaliser Z_r = w·n_r + N − n_r depends on the region, so w is chosen such that the realised ratio, the largest
    w·Z_s/Z_r over two regions, is e\ :sup:`ε`.

    Parameters
    ----------
    regions
        A public partition of places, :class:`~bipartite.locations.Regions`, two regions or more.
    epsilon
        The privacy budget of one report.

    Guarantee
    ---------
    ε-LDP for each report over all places, exactly (:func:`bipartite.verify`). Places of one region have the same row,
    so a report says nothing about which of them is true.

    Notes
    -----
    Bias and variance given x follow from row x of ``matrix()``. Nothing about places within a region can be estimated.

    Examples
    --------
    >>> from bipartite import Points, verify
    >>> from bipartite.domains.regions import Regions
    >>> places = Points([[52.5, 13.4], [52.4, 13.1], [48.9, 2.35], [48.8, 2.1]], metric="haversine")
    >>> mech = RegionWeighted(Regions.of(places, ["DE", "DE", "FR", "FR"]), epsilon=1)
    >>> verify(mech).holds, round(float(verify(mech).epsilon_upper), 6)
    (True, 1.0)
    """

    __slots__ = ()
    counts = ("own", "other")
    _lottery: WeightLottery

    def __init__(self, regions: Regions, epsilon: object) -> None:
        budget = Epsilon.of(epsilon)
        check_regions(regions, least=2)
        sizes = regions.sizes
        outsiders = len(regions.places) - sizes

        def build(wanted: float) -> WeightLottery | None:
            weight = region_weight(sizes, wanted)
            other = (MAX_TOTAL / (weight * sizes + outsiders)).astype(np.int64)
            own = (MAX_TOTAL - outsiders * other) // sizes
            return None if other.min() < 1 else WeightLottery(regions.labels, own, other, MAX_TOTAL)

        self._assemble(regions, budget, build_below(budget, build))

    def _assemble(self, regions: Regions, budget: Epsilon, lottery: WeightLottery) -> None:
        self._set(domain=regions.places, outputs=regions.places, _budget=budget, _lottery=lottery, regions=regions)

    @classmethod
    def _of_spec(cls, fields: Fields, regions: Regions, tickets: Sequence[tuple[int, ...]], total: int) -> Self:
        if len(tickets) != len(regions) or len(regions) < 2 or not total <= MAX_TOTAL:  # noqa: PLR2004
            raise BrokenPromiseError(
                "Expected tickets of two regions or more with one total of at most 2^52; ask for another spec."
            )
        own, other = np.array(tickets, dtype=np.int64).T
        return cls._made(regions, fields.budget, WeightLottery(regions.labels, own, other, total))

    @property
    def weight(self) -> float:
        """The ratio of the probabilities of a place in the true region and one outside; the largest over regions."""
        return float((self._lottery.own / self._lottery.other).max())

    def _tickets(self) -> list[tuple[int, ...]]:
        return list(zip(self._lottery.own.tolist(), self._lottery.other.tolist(), strict=True))
