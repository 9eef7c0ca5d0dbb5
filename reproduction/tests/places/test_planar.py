"""Planar Laplace: ε per unit of distance, checked against another arithmetic, and never called ε-LDP."""

import copy
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from bipartite import Integers, Items, Points, verify
from bipartite.errors import BrokenPromiseError, DesignError, SpecError
from bipartite.lottery import MAX_TOTAL
from reproduction.places import PlanarLaplace, from_spec
from reproduction.places.planar import keeps_per_distance

RANDOM = np.random.default_rng(4)
SQUARE = Points(np.stack(np.meshgrid(np.arange(6.0), np.arange(6.0)), axis=-1).reshape(-1, 2))
SCATTERED = Points(RANDOM.uniform(0, 10, (40, 2)))
CITY = Points(np.column_stack([RANDOM.uniform(48.8, 48.9, 30), RANDOM.uniform(2.25, 2.42, 30)]), metric="haversine")
DATE_LINE = Points([[0.0, 179.9], [0.1, -179.9], [-0.2, 179.95], [0.05, -179.8]], metric="haversine")
POLE = Points([[89.9, 0.0], [89.9, 120.0], [89.8, -120.0], [90.0, 0.0]], metric="haversine")
WORLD = Points(np.column_stack([RANDOM.uniform(-80, 80, 25), RANDOM.uniform(-180, 180, 25)]), metric="haversine")
SETS = [(SQUARE, "1"), (SCATTERED, "0.5"), (CITY, "1"), (DATE_LINE, "0.1"), (POLE, "0.1"), (WORLD, "0.001")]
NAMES = ["square", "scattered", "city", "date line", "pole", "world"]


def tickets_of(mechanism):
    return np.array([[int(count) for count in row] for row in mechanism.to_spec()["rows"]])


def true_distance(points, a, b):
    """The distance of two points from the whole numbers of the domain, by mpmath."""
    vectors = np.array(points.to_spec()["points"]["vectors"])
    squared = int(((vectors[a] - vectors[b]) ** 2).sum())
    chord = mpmath.sqrt(squared)
    if points.metric == "euclidean":
        return chord / mpmath.mpf(2) ** points.bits
    return 2 * mpmath.mpf("6371.0088") * mpmath.asin(chord / 2**26)


@pytest.mark.grid(3)
@pytest.mark.parametrize(("points", "epsilon"), SETS, ids=NAMES)
def test_every_triple_keeps_epsilon_per_unit_by_another_arithmetic(points, epsilon):
    mechanism = PlanarLaplace(points, epsilon)
    tickets = tickets_of(mechanism)
    assert (tickets.sum(axis=1) == MAX_TOTAL).all() and tickets.min() >= 1
    spent = 0.0
    with mpmath.workdps(40):
        for a in range(len(points)):
            for b in range(a):
                allowed = mpmath.mpf(epsilon) * true_distance(points, a, b)
                both = list(zip(tickets[a].tolist(), tickets[b].tolist(), strict=True))
                most = max(Fraction(max(pair), min(pair)) for pair in both)
                realised = mpmath.log(mpmath.mpf(most.numerator) / most.denominator)
                assert realised <= allowed
                spent = max(spent, float(realised / allowed))
    assert mechanism.holds()
    # And it is really spent somewhere, where places are many: of few places each has a large cell, and averages.
    assert spent > (0.95 if len(points) > 10 else 0.6)


@pytest.mark.parametrize("points", [DATE_LINE, POLE], ids=["date line", "pole"])
def test_odd_corners_of_the_globe_are_like_the_plane(points):
    # The azimuthal projection around their middle keeps distances of tens of km to a millionth.
    unit = np.array(points.to_spec()["points"]["vectors"]) / 2.0**25
    middle = unit.mean(axis=0) / np.linalg.norm(unit.mean(axis=0))
    east = np.linalg.qr(np.column_stack([middle, np.eye(3)]))[0][:, 1:3]
    flat = Points(unit @ east * 6371.0088)
    np.testing.assert_allclose(flat.loss_matrix(), points.loss_matrix(), rtol=1e-4, atol=1e-6)
    curved = PlanarLaplace(points, "0.1").matrix()
    np.testing.assert_allclose(curved, PlanarLaplace(flat, "0.1").matrix(), rtol=0.03, atol=0.003)


def test_it_never_calls_itself_ldp():
    mechanism = PlanarLaplace(CITY, "0.5")
    for text in (mechanism.guarantee, repr(mechanism), PlanarLaplace.__doc__):
        assert "per km of distance" in text or "per unit of distance" in text
        assert "not ε-LDP" in text
    assert mechanism.holds() and mechanism.distance_unit == "km"
    # The plain ratio is there, and far above e^0.5.
    assert mechanism.largest_ratio() > math.exp(1) and mechanism.ldp_epsilon > 2
    assert PlanarLaplace(SQUARE, 1).distance_unit == "unit"
    # The same tickets are a mechanism of the library with that larger ε.
    assert verify(mechanism.rows).holds and mechanism.rows.epsilon >= float(mechanism.ldp_epsilon)


def test_the_check_is_not_fooled():
    tickets, distances = tickets_of(PlanarLaplace(SQUARE, "1")), SQUARE.loss_matrix()
    assert keeps_per_distance(tickets, distances, 1.0)
    assert not keeps_per_distance(tickets, distances, 0.98)
    assert keeps_per_distance(tickets[::-1], distances, 1.0)  # a square upside down
    assert not keeps_per_distance(tickets[[1, 0, *range(2, 36)]], distances, 1.0)
    # One pair of neighbours a little too far apart.
    bad = tickets.copy()
    bad[14, 14] = math.ceil(math.e * bad[15, 14]) + 1
    assert not keeps_per_distance(bad, distances, 1.0)
    # A ratio of exactly e^(ε·d), rounded up by one ticket in 2^52, is refused.
    two = np.array([[0.0, 1.0], [1.0, 0.0]])
    far = 2**50
    near = int(far * mpmath.e) + 1
    assert not keeps_per_distance(np.array([[near, far], [far, near]]), two, 1.0)
    assert keeps_per_distance(np.array([[near - 2**10, far], [far, near - 2**10]]), two, 1.0)


def test_the_law_is_that_of_planar_laplace_moved_to_the_nearest_place():
    # Against the literature's own way: an angle, a radius of the Gamma law with mean 2/ε, the nearest place.
    epsilon, x, count = 1.0, 7, 200_000
    mechanism = PlanarLaplace(SQUARE, epsilon)
    random = np.random.default_rng(9)
    angle, radius = random.uniform(0, 2 * np.pi, count), random.gamma(2, 1 / epsilon, count)
    landed = SQUARE.coordinates[x] + radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    away = ((landed[:, None, :] - SQUARE.coordinates[None]) ** 2).sum(axis=2)
    shares = np.bincount(away.argmin(axis=1), minlength=36) / count
    chances = mechanism.matrix()[x]
    # Hoeffding and a union over 36 places: false alarm 1e-9 at 0.0078; the lattice itself is off by well below 0.002.
    tolerance = math.sqrt(math.log(2 * 36 / 1e-9) / (2 * count)) + 0.002
    assert np.abs(shares - chances).max() < tolerance
    # Power: another place, or twice the noise, is told apart.
    assert np.abs(shares - mechanism.matrix()[x + 1]).max() > 2 * tolerance
    assert np.abs(shares - PlanarLaplace(SQUARE, epsilon / 2).matrix()[x]).max() > 2 * tolerance


def test_a_spec_that_breaks_its_promise_is_refused():
    spec = PlanarLaplace(SQUARE, "1").to_spec()
    moved = copy.deepcopy(spec)  # all of one ticket count but one moves to another place
    moved["rows"][3][3] = str(int(moved["rows"][3][3]) + int(spec["rows"][3][30]) - 1)
    uneven = copy.deepcopy(moved)
    moved["rows"][3][30] = "1"
    fewer = {
        "outputs": list(range(35)),
        "rows": [[*row[:34], str(int(row[34]) + int(row[35]))] for row in spec["rows"]],
    }
    for broken, message in (
        (spec | {"epsilon": "0.97"}, "do not report with this spec"),
        (moved, "do not report with this spec"),
        (uneven, "one total"),
        (spec | fewer, "a ticket for every place"),
    ):
        with pytest.raises(BrokenPromiseError, match=message):
            from_spec(broken)
    space = {"points": {"metric": "euclidean", "vectors": [[k, 0, 0] for k in range(36)], "bits": 0}}
    with pytest.raises(SpecError, match="metric='haversine' or 'euclidean' with two coordinates"):
        from_spec(spec | {"domain": space})


IN_THE_PLANE = "metric='haversine' or 'euclidean' with two coordinates"


@pytest.mark.parametrize(
    ("domain", "epsilon", "message"),
    [
        (Integers(1, 9), 1, IN_THE_PLANE),
        (Items(list("abc"), loss=1 - np.eye(3)), 1, IN_THE_PLANE),
        (Points([[0, 0, 1], [1, 2, 3]]), 1, IN_THE_PLANE),
        (Points([[0, 0], [1, 2]], metric="manhattan"), 1, IN_THE_PLANE),
        (Points(RANDOM.uniform(0, 1, (1025, 2))), 1, "at most 1024 places"),
        (Points([[0, 0], [0, 1000.0], [500, 3]]), 1, "use a smaller ε per unit, or split"),
        (Points([[0, 0], [0, 1e-7], [1, 1]]), "0.000001", "use a larger ε, or merge places"),
    ],
)
def test_places_that_do_not_fit_are_refused(domain, epsilon, message):
    with pytest.raises(DesignError, match=message):
        PlanarLaplace(domain, epsilon)
