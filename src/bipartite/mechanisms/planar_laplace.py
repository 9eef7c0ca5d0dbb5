"""Planar Laplace on a set of places: geo-indistinguishability, which is not ε-LDP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bipartite.domains import Points
from bipartite.errors import BrokenPromiseError, DesignError
from bipartite.lottery import Epsilon, log_between
from bipartite.mechanisms.checks import check_domain
from bipartite.mechanisms.design.planar import MOST_PLACES, keeps_per_distance, planar_tickets
from bipartite.mechanisms.tabled import Tabled

if TYPE_CHECKING:
    from decimal import Decimal
    from fractions import Fraction
    from typing import Self

    from bipartite.domains import Domain
    from bipartite.mechanisms.spec.parts import Fields

_PLANE = 2


class PlanarLaplace(Tabled):
    r"""Planar Laplace: adds noise in the plane and reports the nearest place; ε per unit of distance, **not ε-LDP**.

    The noise z has density ε²/2π·e\ :sup:`−ε|z|`: a uniform direction, and a Gamma-distributed distance of mean 2/ε.
    The guarantee is ε **per unit of distance**: the probabilities of a report for two places at distance d differ by a
    factor of at most e\ :sup:`εd`, so near places hide each other and distant ones do not. An ε of 1 per km is ε = 20
    between two ends of a city 20 km apart.

    Parameters
    ----------
    domain
        :class:`~bipartite.Points` in the plane, ``metric="haversine"`` (distances in km) or ``"euclidean"`` with two
        coordinates (distances in their unit), at most 1,024 places within about 250/ε of each other, such as a square
        grid.
    epsilon
        The privacy budget **per unit of distance** of one report: per km with haversine.

    Guarantee
    ---------
    Geo-indistinguishability, **not ε-LDP**: Pr[y|x] ≤ e\ :sup:`ε·d(x, x')`·Pr[y|x'] for all places x, x' and reports
    y, checked on the integer tickets for every triple, with all rounding on the safe side (:func:`bipartite.verify`,
    whose ``holds`` is about this promise). Its ε as plain ε-LDP on these places is :attr:`ldp_epsilon`.

    Notes
    -----
    The noise has mean 0 and E\|z\| = 2/ε, E\|z\|² = 6/ε² in the plane; moving to the nearest place adds at most the
    distance to it, and pulls noise that lands outside the region back to its edge. The integral over the cell of each
    place is a sum over a lattice of step 0.1/ε, the same for all values, which costs less than 5 % of ε (usually
    0.2 %).

    Reference
    ---------
    Andrés, Bordenabe, Chatzikokolakis, Palamidessi: *Geo-Indistinguishability: Differential Privacy for Location-Based
    Systems* (CCS 2013).

    Examples
    --------
    >>> from bipartite import Points, verify
    >>> mech = PlanarLaplace(Points([[0, 0], [0, 1], [1, 0], [1, 1], [2, 2]]), epsilon=1)
    >>> certificate = verify(mech)
    >>> certificate.holds, certificate.distance_unit, round(mech.ldp_epsilon, 2)
    (True, 'unit', Decimal('2.55'))
    >>> certificate.guarantee
    'geo-indistinguishability of each report with ε = 1 per unit of distance; this is not ε-LDP'
    """

    __slots__ = ()
    bound = "e^(ε·distance)"
    domain: Points

    def __init__(self, domain: Domain, epsilon: object) -> None:
        budget = Epsilon.of(epsilon)
        places = _check_places(domain)
        self._assemble(places, budget, planar_tickets(places, float(budget)))

    @classmethod
    def read(cls, fields: Fields) -> Self:
        _check_places(fields.domain)
        if fields.indices("outputs") != list(range(len(fields.domain))):
            raise BrokenPromiseError(
                "Expected rows with one total of at most 2^52, and a ticket for every place; ask for another spec."
            )
        return super().read(fields)

    @property
    def epsilon(self) -> float:
        """ε **per unit of distance**, as requested: not the ε of ε-LDP."""
        return float(self._budget)

    @property
    def distance_unit(self) -> str:
        """The unit of distance to which ε refers: km, or that of the coordinates."""
        return "km" if self.domain.metric == "haversine" else "unit"

    @property
    def guarantee(self) -> str:
        """The promise of one report, in words: ε per unit of distance, not ε-LDP."""
        return (
            f"geo-indistinguishability of each report with ε = {self._budget.text} per {self.distance_unit} of "
            "distance; this is not ε-LDP"
        )

    @property
    def ldp_epsilon(self) -> Decimal:
        """The realised ε of plain ε-LDP on these places, rounded up; for fair comparisons."""
        return log_between(self.largest_ratio())[1]

    def keeps_promise(self, ratio: Fraction) -> bool:  # noqa: ARG002 (the promise is about distances, not one ratio)
        """Whether T[x, y] ≤ e^(ε·d(x, x'))·T[x', y] for all places x, x' and reports y; never wrongly true."""
        distances = self.domain.loss_matrix()
        return keeps_per_distance(self._lottery.tickets, distances, float(self._budget))

    def __repr__(self) -> str:
        return (
            f"<PlanarLaplace({self.domain!r}, epsilon={self._budget.text}): ε per {self.distance_unit} of distance, "
            "not ε-LDP>"
        )


def _check_places(domain: object) -> Points:
    check_domain(domain)
    flat = isinstance(domain, Points) and (
        domain.metric == "haversine" or (domain.metric == "euclidean" and domain.coordinates.shape[1] == _PLANE)
    )
    if not isinstance(domain, Points) or not flat:
        raise DesignError(
            "Expected domain as bp.Points in the plane, metric='haversine' or 'euclidean' with two coordinates; "
            "use bp.BRR or bp.Exponential elsewhere."
        )
    if len(domain) > MOST_PLACES:
        raise DesignError(
            f"Expected at most {MOST_PLACES} places, as every triple is checked, got {len(domain)}; merge near places."
        )
    return domain
