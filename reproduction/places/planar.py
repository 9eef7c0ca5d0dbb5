"""Planar Laplace noise on a finite set of places: geo-indistinguishability, which is not ε-LDP.

The guarantee is Pr[y|x] ≤ e^(ε·d(x, x'))·Pr[y|x'] for all places x, x' and reports y: ε per unit of distance.

Noise of density ∝ e^(−ε·|z|) is added in the plane, and the place nearest to the result is reported. The plane is
replaced by a lattice of nodes z_k, the same for every x: Pr[y|x] = Σ w_k·e^(−θ·d(x, z_k))/Z_x over the nodes nearest to
y. Each term keeps θ by the triangle inequality, so a finite lattice costs only the difference of the normalisers Z_x,
which is computed: θ·(1 + κ) ≤ ε with κ the largest |ln Z_x − ln Z_x'|/(θ·d(x, x')). Rows are designed in floats and
checked as integer tickets.
"""

import math
from typing import ClassVar, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bipartite.domains import Domain, Points
from bipartite.domains.points import EARTH_RADIUS_KM
from bipartite.errors import DesignError, SpecError
from bipartite.lottery import MAX_TOTAL, Epsilon
from reproduction.places.weaker import Weaker, rows_of

Array = NDArray[np.float64]

_PLANE: Final = 2

MOST_PLACES: Final = 1024
"""Every triple of two values and a report is checked: about 10⁹ of them."""
# The step of the lattice and its margin around all places, in units of 1/ε; (1 + 12)·e^−12 = 8e-5 of the noise lies
# beyond the margin.
_STEP: Final = 0.1
_MARGIN: Final = 12.0
_MOST_NODES: Final = 2**18
_MOST_TERMS: Final = 2**27
_BLOCK: Final = 2**21
# A lattice that costs a larger share of ε is too coarse for planar Laplace noise.
_MOST_LOST: Final = 0.05
_ROUNDS: Final = 6
# θ is below ε by this share: the integer distances of the domain differ from the true ones by 3e-8.
_SLACK: Final = 1e-6
# A bound on the relative error of floats: d and ε·d are off by at most 8 units in the last place (2^−53), exp by 4.
_DOUBT: Final = 2.0**-46
_LARGEST_EXPONENT: Final = 600.0
# The largest share of tickets that is spread evenly over all reports, so that rounding does not break the guarantee.
_MOST_SHARED: Final = 2.0**-10


class PlanarLaplace(Weaker):
    r"""Planar Laplace: adds noise in the plane and reports the nearest place; ε per unit of distance, **not ε-LDP**.

    The noise z has density ε²/2π·e\ :sup:`−ε|z|`: a uniform direction, and a Gamma-distributed distance of mean 2/ε.
    The guarantee is ε **per unit of distance**: the probabilities of a report for two places at distance d differ by a
    factor of at most e\ :sup:`εd`, so near places hide each other and distant ones do not. An ε of 1 per km is ε = 20
    between two ends of a city 20 km apart.

    The domain is :class:`~bipartite.Points` in the plane, ``metric="haversine"`` (distances in km) or ``"euclidean"``
    with two coordinates (distances in their unit): at most 1,024 places within about 250/ε of each other.

    Guarantee: geo-indistinguishability, **not ε-LDP**: Pr[y|x] ≤ e\ :sup:`ε·d(x, x')`·Pr[y|x'] for all places x, x'
    and reports y, checked on the integer tickets for every triple, with all rounding on the safe side. Its ε as plain
    ε-LDP on these places is :attr:`ldp_epsilon`. The lattice costs less than 5 % of ε (usually 0.2 %).

    Reference: Andrés, Bordenabe, Chatzikokolakis, Palamidessi: *Geo-Indistinguishability: Differential Privacy for
    Location-Based Systems* (CCS 2013).

    >>> from bipartite import Points
    >>> release = PlanarLaplace(Points([[0, 0], [0, 1], [1, 0], [1, 1], [2, 2]]), epsilon=1)
    >>> release.holds(), release.distance_unit, round(release.ldp_epsilon, 2)
    (True, 'unit', Decimal('2.55'))
    >>> release.guarantee
    'geo-indistinguishability of each report with ε = 1 per unit of distance; this is not ε-LDP'
    """

    head: ClassVar = {"mechanism": "planar-laplace"}
    bound = "e^(ε·distance)"

    def __init__(self, domain: Domain, epsilon: object) -> None:
        budget, places = Epsilon.of(epsilon), _check_places(domain)
        self._hold(budget.text, rows_of(places, planar_tickets(places, float(budget))))

    @classmethod
    def check_domain(cls, domain: Domain) -> None:
        try:
            _check_places(domain)
        except DesignError as error:
            raise SpecError(str(error)) from None

    @property
    def distance_unit(self) -> str:
        """The unit of distance to which ε refers: km, or that of the coordinates."""
        return "km" if self.domain.metric == "haversine" else "unit"

    @property
    def guarantee(self) -> str:
        return (
            f"geo-indistinguishability of each report with ε = {self.epsilon} per {self.distance_unit} of "
            "distance; this is not ε-LDP"
        )

    def holds(self) -> bool:
        """Whether T[x, y] ≤ e^(ε·d(x, x'))·T[x', y] for all places x, x' and reports y; never wrongly true."""
        return keeps_per_distance(self.rows.facts["rows"], self.domain.loss_matrix(), float(self.epsilon))

    def __repr__(self) -> str:
        return (
            f"<PlanarLaplace({self.domain!r}, epsilon={self.epsilon}): ε per {self.distance_unit} of distance, "
            "not ε-LDP>"
        )


def _check_places(domain: object) -> Points:
    if not isinstance(domain, Points) or not (
        domain.metric == "haversine" or (domain.metric == "euclidean" and domain.coordinates.shape[1] == _PLANE)
    ):
        raise DesignError(
            "Expected domain as bp.Points in the plane, metric='haversine' or 'euclidean' with two coordinates; "
            "use bp.BRR or bp.Exponential elsewhere."
        )
    if len(domain) > MOST_PLACES:
        raise DesignError(
            f"Expected at most {MOST_PLACES} places, as every triple is checked, got {len(domain)}; merge near places."
        )
    return domain


def keeps_per_distance(tickets: NDArray[np.int64], distances: Array, epsilon: float) -> bool:
    """Whether T[x, y] ≤ e^(ε·d(x, x'))·T[x', y] for all x, x', y; never wrongly true.

    Every product is lowered by more than the possible error of floats; ticket counts are exact in floats.
    """
    counts = tickets.astype(np.float64)
    exponents = np.minimum(epsilon * distances, _LARGEST_EXPONENT) * (1 - _DOUBT)
    factors = np.exp(exponents) * (1 - _DOUBT)
    # A value against itself: T ≤ T, exactly. Distinct places never have distance 0.
    np.fill_diagonal(factors, 1.0)
    return all(bool((row <= factor[:, None] * counts).all()) for row, factor in zip(counts, factors, strict=True))


def planar_tickets(points: Points, epsilon: float) -> NDArray[np.int64]:
    """Rows of 2^52 tickets that keep ε per unit of distance, and spend nearly all of it."""
    size = len(points)
    distances = points.loss_matrix()
    nearest = float(distances[~np.eye(size, dtype=bool)].min())
    chances = _chances(points, distances, epsilon)
    # Rounding changes t + u by at most one, and t ≤ e^(ε·d)·t', so u·(e^(ε·d) − 1) ≥ 1 + e^(ε·d) is enough.
    shared = 2 / math.tanh(epsilon * nearest / 2)
    while shared * size <= MAX_TOTAL * _MOST_SHARED:
        tickets = _round_rows(chances * (MAX_TOTAL - size * shared) + shared)
        if keeps_per_distance(tickets, distances, epsilon):
            return tickets
        shared *= 4
    raise DesignError(
        f"2^52 tickets cannot keep ε={epsilon:.6g} per unit between places {nearest:.3g} apart; "
        "use a larger ε, or merge places that are very close."
    )


def _round_rows(wanted: Array) -> NDArray[np.int64]:
    """These numbers rounded up or down to 2^52 in every row: the largest remainders are rounded up."""
    tickets = np.floor(wanted).astype(np.int64)
    for row, exact in zip(tickets, wanted, strict=True):
        # Floats of this size are off by a few tickets in all, which hardly change the largest count.
        whole, extra = divmod(MAX_TOTAL - int(row.sum()), len(row))
        row[np.argsort(row - exact, kind="stable")[:extra]] += 1
        row[np.argmax(exact)] += whole * len(row)
    return tickets


def _chances(points: Points, distances: Array, epsilon: float) -> Array:
    lattice = _lattice_around(points, epsilon)
    # The steepest ripple of the normaliser on a square lattice, by Poisson's summation formula; the rest is computed.
    theta = epsilon * (1 - 4 * (epsilon * lattice.step / (2 * math.pi)) ** 2 - _SLACK)
    for _ in range(_ROUNDS):
        if theta < epsilon * (1 - _MOST_LOST):
            break
        masses = lattice.masses(theta)
        totals = masses.sum(axis=1)
        gaps = np.abs(np.subtract.outer(np.log(totals), np.log(totals)))
        lost = float((gaps[distances > 0] / distances[distances > 0]).max()) / theta
        if theta * (1 + lost) <= epsilon * (1 - _SLACK / 2):
            chances: Array = masses / totals[:, None]
            return chances
        theta = epsilon * (1 - _SLACK) / (1 + 1.05 * lost)
    raise DesignError(
        f"Expected places within about 250/ε of each other, got a lattice of {lattice.step * epsilon:.2g}/ε that is "
        "too coarse for them; use a smaller ε per unit, or split the places into regions."
    )


class _Lattice(NamedTuple):
    """Nodes in the plane or on the sphere, each with its area."""

    places: Array
    nodes: Array
    areas: Array
    step: float
    sphere: bool

    def masses(self, theta: float) -> Array:
        """Σ area·e^(−θ·d(x, node)) over the nodes that are nearest to y, for all x and y."""
        size = len(self.places)
        masses = np.zeros((size, size))
        block = max(1, _BLOCK // size)
        for start in range(0, len(self.nodes), block):
            nodes = self.nodes[start : start + block]
            squares = sum((self.places[:, axis, None] - nodes[None, :, axis]) ** 2 for axis in range(nodes.shape[1]))
            away = np.sqrt(squares)
            if self.sphere:
                away = 2 * EARTH_RADIUS_KM * np.arcsin(np.minimum(away / 2, 1))
            owners = np.argmin(away, axis=0)
            order = np.argsort(owners, kind="stable")
            weights = (np.exp(-theta * away) * self.areas[start : start + block])[:, order]
            present, first = np.unique(owners[order], return_index=True)
            masses[:, present] += np.add.reduceat(weights, first, axis=1)
        return masses


def _lattice_around(points: Points, epsilon: float) -> _Lattice:
    vectors = np.array(points.to_spec()["points"]["vectors"], dtype=np.float64)
    most = min(_MOST_NODES, _MOST_TERMS // len(points))
    margin = _MARGIN / epsilon
    if points.metric != "haversine":
        places = np.ldexp(vectors, -points.bits)
        low, high = places.min(axis=0) - margin, places.max(axis=0) + margin
        step = max(_STEP / epsilon, math.sqrt(float(np.prod(high - low)) / most))
        x, y = (each.ravel() for each in np.meshgrid(*map(_middles, low, high, (step, step)), indexing="ij"))
        return _Lattice(places, np.column_stack([x, y]), np.ones(len(x)), step, sphere=False)
    places = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    latitudes, longitudes, step = _degrees_around(points, margin, _STEP / epsilon, most)
    latitude, longitude = (each.ravel() for each in np.meshgrid(latitudes, longitudes, indexing="ij"))
    level = np.cos(latitude)
    nodes = np.column_stack([level * np.cos(longitude), level * np.sin(longitude), np.sin(latitude)])
    return _Lattice(places, nodes, level, step, sphere=True)


def _middles(low: float, high: float, step: float) -> Array:
    """The midpoints of cells of about one step that fill a range."""
    cells = max(1, round((high - low) / step))
    return low + (np.arange(cells, dtype=np.float64) + 0.5) * ((high - low) / cells)


def _degrees_around(points: Points, margin: float, step: float, most: int) -> tuple[Array, Array, float]:
    """Latitudes and longitudes, in radians, of a lattice around places on the sphere, and its step in km."""
    latitude, longitude = np.radians(points.coordinates).T
    wide = margin / EARTH_RADIUS_KM
    south, north = max(latitude.min() - wide, -math.pi / 2), min(latitude.max() + wide, math.pi / 2)
    # The circle of latitude nearest the equator has the largest steps; the farthest needs the widest margin.
    narrow, level = math.cos(max(abs(south), abs(north))), math.cos(min(max(0.0, south), north))
    # The shortest arc that contains all longitudes begins after the widest gap; its east may be past the date line.
    ordered = np.sort(longitude)
    after = int(np.argmax(np.diff(np.append(ordered, ordered[0] + 2 * math.pi))))
    west, east = float(ordered[(after + 1) % len(ordered)]), float(ordered[after])
    around = math.pi if narrow <= 0 else min(wide / narrow, math.pi)
    west, east = west - around, (east if east >= west else east + 2 * math.pi) + around
    if east - west >= 2 * math.pi:
        west, east = -math.pi, math.pi
    area = (north - south) * (east - west) * level * EARTH_RADIUS_KM**2
    step = max(step, math.sqrt(area / most))
    return (
        _middles(south, north, step / EARTH_RADIUS_KM), _middles(west, east, step / (EARTH_RADIUS_KM * level)), step
    )  # fmt: skip
