"""The checks of sentences, against computations of another kind."""

import math
import xml.etree.ElementTree as ET

import mpmath
import numpy as np
import pytest

import bipartite as bp
from bipartite.design import algorithm_3
from reproduction.experiments import sentences
from reproduction.experiments.protocols import AdaptiveLaplace, HalfIntervalBRR
from reproduction.runner.contract import select
from reproduction.tests.figures.reading import words

TINY = sentences.Settings(most=8, most_roots=12, points=(10, 50), nodes=(2, 3, 9), drawn=("1", "4"))


@pytest.fixture(scope="module")
def rows():
    return [row for cell in sentences.cells(TINY) for row in sentences.measure(cell)]


def test_a_common_m_spends_epsilon_and_m_of_their_own_spend_more():
    # The common m through the mechanism of the package; its own m by hand: N = 3, m = 1, 3, 1.
    matrix = bp.BRR(bp.Integers(1, 9), 1.0, m=3).matrix()
    by_package = np.log(matrix.max(axis=0) / matrix.min(axis=0)).max()
    assert sentences.realised([3] * 9, 1.0) == pytest.approx(by_package, rel=1e-6) == pytest.approx(1.0, rel=1e-6)
    e = math.e
    # Rows (e, 1, 1)/(e + 2) and (e, e, e)/(3e) = 1/3 each: the largest ratio stands in the first column.
    expected = max(math.log(e / (e + 2) * (e + 2)), math.log((1 / 3) * (e + 2)), math.log(e / (e + 2) * 3))
    assert sentences.realised([1, 3, 1], 1.0) == pytest.approx(expected, rel=1e-12)


def test_counts_are_those_of_their_cases(rows):
    # Both fit into one block.
    (own,), (roots,) = select(rows, what="local m"), select(rows, what="roots")
    assert own["cases"] == 6 * 11 and 0 < own["differ"] == own["broken"] <= own["cases"]
    assert own["worst"] > 1
    assert roots["cases"] == 11 * 11 and roots["cases_below_one"] == 11 * 5
    assert (roots["end_below_its_bound"], roots["middle_matters"]) == (0, 0)
    assert roots["middle_above_its_bound"] == roots["ordered"] == roots["cases"]


@pytest.mark.parametrize("points", [2, 5, 101, 10**6 + 1])
@pytest.mark.parametrize("epsilon", [0.1, 0.9, 1.0, 5.0])
def test_the_roots_are_where_the_derivatives_are_zero(points, epsilon):
    end, end_bound, middle, middle_bound = sentences.bounds_of_roots(points, epsilon)
    with mpmath.workdps(50):
        e, n = mpmath.exp(epsilon), points
        of_the_end = [(e - 1) / 2, n - e / 2 + 0.5, -(n**2 + n) / mpmath.mpf(2)]
        of_the_middle = [(e - 1) / 4, (n - (e - 1)) / 2, ((e - 1) - n**2 - 2 * n + 1) / 4]
        for quadratic, root in ((of_the_end, end), (of_the_middle, middle)):
            near = mpmath.mpf(root)
            assert mpmath.polyval(quadratic, near * (1 - 1e-9)) < 0 < mpmath.polyval(quadratic, near * (1 + 1e-9))
    # √(a² + b²) < a + b, with the sign that the print lost, does bound the first.
    assert end_bound < end < end_bound + 1
    assert end < middle and middle_bound < middle


def test_near_reports_have_the_chance_of_the_matrix(rows):
    for row in select(rows, what="near reports"):
        domain = bp.Integers(1, row["points"])
        brr = row["mechanism"] == "BRR" and row["m"] > 1
        mechanism = bp.BRR(domain, row["epsilon"]) if brr else bp.GRR(domain, row["epsilon"])
        assert row["m"] == (algorithm_3(row["points"], row["epsilon"]) if row["mechanism"] == "BRR" else 1)
        chances = np.sort(mechanism.matrix()[row["points"] // 2])
        assert row["near"] == pytest.approx(chances[-row["m"] :].sum(), rel=1e-6)


def test_values_move_a_quarter_of_a_step_on_average(rows):
    assert [row["moved"] for row in select(rows, what="rounding")] == pytest.approx([1 / 4, 1 / 8, 1 / 32], rel=1e-12)


def test_the_noise_of_a_gradient_is_that_of_the_protocols(rows):
    # 40,000 draws: the root mean square within 5 %, far beyond chance for these laws.
    zeros = np.zeros(40_000)
    for epsilon in (0.1, 1.0):
        of = {row["mechanism"]: row["noise"] for row in select(rows, what="gradient noise", epsilon=epsilon)}
        drawn = {
            "BRR": HalfIntervalBRR(epsilon).perturbed(zeros, 1.0, 2048, bp.insecure_seed(1)),
            "Laplace on the mean": AdaptiveLaplace(epsilon, "mean").perturbed(zeros, 1.0, 2048, bp.insecure_seed(2)),
            "Laplace on the sum": AdaptiveLaplace(epsilon, "sum").perturbed(zeros, 1.0, 2048, bp.insecure_seed(3)),
        }
        for name, noise in drawn.items():
            assert of[name] == pytest.approx(math.sqrt((noise**2).mean()), rel=0.05), name


def test_the_picture_names_both(rows):
    (svg,) = sentences.draw(rows).values()
    assert ET.fromstring(svg).attrib["aria-label"]
    assert {"BRR", "GRR"} <= set(words(svg).split())
