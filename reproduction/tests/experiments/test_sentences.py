"""The checks of sentences, against computations of another kind."""

import math

import mpmath
import numpy as np
import pytest

import bipartite as bp
from reproduction.experiments import sentences
from reproduction.experiments.protocols import AdaptiveLaplace, HalfIntervalBRR


def test_a_common_m_spends_epsilon_and_m_of_their_own_spend_more():
    # The common m through the mechanism of the package; its own m by hand: N = 3, m = 1, 3, 1.
    matrix = bp.BRR(bp.Integers(1, 9), 1.0, m=3).matrix()
    by_package = np.log(matrix.max(axis=0) / matrix.min(axis=0)).max()
    assert sentences.realised([3] * 9, 1.0) == pytest.approx(by_package, rel=1e-6) == pytest.approx(1.0, rel=1e-6)
    # Rows (e, 1, 1)/(e + 2) and (e, e, e)/(3e) = 1/3 each: the largest ratio stands in the first column.
    expected = max(1, math.log((math.e + 2) / 3), math.log(3 * math.e / (math.e + 2)))
    assert sentences.realised([1, 3, 1], 1.0) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("points", [2, 5, 101, 10**6 + 1])
@pytest.mark.parametrize("epsilon", [0.1, 0.9, 1.0, 5.0])
def test_the_roots_are_where_the_derivatives_are_zero(points, epsilon):
    end, end_bound, middle, middle_bound = sentences.bounds_of_roots(points, epsilon)
    with mpmath.workdps(50):
        e, n = mpmath.exp(epsilon), points
        of_the_end = [(e - 1) / 2, n - e / 2 + 0.5, -(n**2 + n) / mpmath.mpf(2)]
        of_the_middle = [(e - 1) / 4, (n - (e - 1)) / 2, ((e - 1) - n**2 - 2 * n + 1) / 4]
        for quadratic, root in ((of_the_end, end), (of_the_middle, middle)):
            below, above = (
                sum(each * at**power for each, power in zip(quadratic, (2, 1, 0), strict=True))
                for at in (mpmath.mpf(root) * (1 - 1e-9), mpmath.mpf(root) * (1 + 1e-9))
            )
            assert below < 0 < above
    # √(a² + b²) < a + b, with the sign that the print lost, does bound the first; but the bounds are then in no order.
    assert end_bound < end < end_bound + 1
    assert end < middle and middle_bound < min(middle, end_bound + 1)


@pytest.mark.parametrize("epsilon", ["1", "4"])
@pytest.mark.parametrize("points", [10, 50])
def test_near_reports_have_the_chance_of_the_matrix(points, epsilon):
    for row in sentences.measure("near reports", points=points, epsilon=epsilon):
        mechanism = getattr(bp, row["mechanism"])(bp.Integers(1, points), epsilon)
        chances = np.sort(mechanism.matrix()[points // 2])
        assert row["near"] == pytest.approx(chances[-row["m"] :].sum(), rel=1e-6)


@pytest.mark.parametrize(("nodes", "moved"), [(2, 1 / 4), (3, 1 / 8), (9, 1 / 32)])
def test_values_move_a_quarter_of_a_step_on_average(nodes, moved):
    (row,) = sentences.measure("rounding", nodes=nodes)
    assert row["moved"] == pytest.approx(moved, rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_the_noise_of_a_gradient_is_that_of_the_protocols(epsilon):
    # 40,000 draws: the root mean square within 5 %, far beyond chance for these laws.
    of = {row["mechanism"]: row["noise"] for row in sentences.measure("gradient noise", epsilon=str(epsilon))}
    protocols = {
        "BRR": HalfIntervalBRR(epsilon),
        "Laplace on the mean": AdaptiveLaplace(epsilon, "mean"),
        "Laplace on the sum": AdaptiveLaplace(epsilon, "sum"),
    }
    for name, protocol in protocols.items():
        noise = protocol.perturbed(np.zeros(40_000), 1.0, 2048, bp.insecure_seed(1))
        assert of[name] == pytest.approx(math.sqrt((noise**2).mean()), rel=0.05), name
