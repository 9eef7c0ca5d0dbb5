"""L-SRR, a staircase over the tiles of a map: a rival for places, as published and corrected to keep ε."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final, Literal

import numpy as np

from bipartite.domains import Points
from bipartite.domains.tiles import tile_codes
from bipartite.errors import DesignError
from bipartite.lottery import Epsilon, check_table, issue_rows, log_between
from bipartite.lottery.budgets import round_up
from bipartite.mechanisms.base import check_domain, check_one_of
from bipartite.mechanisms.design import lsrr
from bipartite.mechanisms.tabled import Tabled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bipartite.domains import Domain

Variant = Literal["calibrated", "published"]
# A realised ε that exceeds ε by no more than this share counts as rounding.
_ROUNDING: Final = 1e-9


class LSRR(Tabled):
    r"""L-SRR: the probability of a report decreases in m equal steps with the map tiles it shares with the true place.

    Each place has the 46-bit code of its map tile; the more leading bits two places share, the nearer they count. The
    places around x form m groups, and a report of group j has the j-th of m probabilities in equal steps from α_max
    to α_min = α_max/e\ :sup:`ε`.

    Parameters
    ----------
    domain
        :class:`~bipartite.Points` with ``metric="haversine"``.
    epsilon
        The privacy budget of one report.
    variant
        ``"calibrated"``: groups of the same sizes for every x, so that ε is kept.
        ``"published"``: groups of any size; where α_min then depends on x, **ε is not kept**: the certificate fails
        and ``guarantee`` names the ε actually spent. For comparison only; never report with it.
    thresholds
        The numbers of shared bits β_1 > … > β_m = 0 at which groups begin; by default those that put the most bits into
        the nearer groups, for the number of groups that the authors recommend.

    Guarantee
    ---------
    Calibrated: ε-LDP for each report, exactly (:func:`bipartite.verify`). Published: **not ε-LDP**, unless all places
    have groups of the same sizes; it is ε'-LDP for the larger ε' in its certificate.

    Notes
    -----
    Bias and variance given x follow from row x of ``matrix()``. Neighbouring places on opposite sides of a tile
    boundary may share no bits at all, and are then the least likely reports for each other.

    Reference
    ---------
    Wang, Hong, Xiong, Qin, Hong: *L-SRR: Local Differential Privacy for Location-Based Services
    with Staircase Randomized Response* (CCS 2022).

    Examples
    --------
    >>> from bipartite import Points, verify
    >>> cities = Points([[52.5, 13.4], [48.9, 2.35], [51.5, -0.13], [40.4, -3.7], [41.9, 12.5]], metric="haversine")
    >>> published = LSRR(cities, 1, variant="published", thresholds=(6, 0))
    >>> verify(LSRR(cities, 1)).holds, verify(published).holds, round(float(verify(published).epsilon_upper), 2)
    (True, False, 1.41)
    """

    __slots__ = ()
    fields = Tabled.fields | {"variant"}
    variants: ClassVar[tuple[str, ...]] = ("calibrated", "published")

    def __init__(
        self,
        domain: Domain,
        epsilon: object,
        *,
        variant: Variant = "calibrated",
        thresholds: Sequence[int] | None = None,
    ) -> None:
        budget = Epsilon.of(epsilon)
        check_domain(domain)
        if not isinstance(domain, Points) or domain.metric != "haversine":
            raise DesignError(
                "Expected domain as bp.Points(…, metric='haversine'): L-SRR needs map tiles; use bp.BRR elsewhere."
            )
        check_one_of("variant", variant, self.variants)
        check_table(len(domain), len(domain))
        codes = tile_codes(domain.coordinates[:, 0], domain.coordinates[:, 1])
        bounds = thresholds
        if bounds is None:
            bounds = lsrr.best_thresholds(codes, lsrr.number_of_groups(budget, len(domain)))
        if variant == "published":
            rows = lsrr.published_rows(codes, budget, bounds)
            spent = float(np.log(rows.max(axis=0) / rows.min(axis=0)).max())
            # If α_min happens to be the same for all places, ε is kept, and rounding to tickets must not exceed it.
            tickets = issue_rows(rows, budget if spent <= float(budget) * (1 + _ROUNDING) else None)
        else:
            tickets = issue_rows(lsrr.calibrated_rows(codes, budget, lsrr.mean_sizes(codes, bounds)), budget)
        self._assemble(domain, budget, tickets, variant)

    @property
    def guarantee(self) -> str:
        """The promise of one report, in words; for the published variant, the ε actually spent."""
        if self.keeps_epsilon:
            return super().guarantee
        spent = round_up(log_between(self._lottery.largest_ratio())[1], places=4)
        return (
            f"ε-LDP of each report with ε = {self._budget.text} as published, which its rows do not keep: "
            f"they spend ε = {spent}"
        )
