"""Formulas of the paper's proofs, in fractions, against sums over the distances themselves."""

import math
from fractions import Fraction

import numpy as np
import pytest

import bipartite as bp

RATIOS = [Fraction(11, 10), Fraction(27183, 10000), Fraction(20)]


def sorted_distances(points, k):
    return sorted(abs(k - y) for y in range(1, points + 1))


def derivative(distances, i, e):
    """Σ_j (λ_i − λ_j)s_j with the first i − 1 weights raised: the numerator of ∂Q/∂s_i."""
    own = distances[i - 1]
    return sum((own - each) * (e if j < i - 1 else 1) for j, each in enumerate(distances))


@pytest.mark.parametrize("e", RATIOS)
def test_the_quadratics_of_the_proof_of_theorem_1_are_the_derivatives(e):
    for n in range(2, 41):
        end, middle = sorted_distances(n, 1), sorted_distances(n, (n + 1) // 2)
        for i in range(1, n + 1):
            z1 = (e - 1) / 2 * i**2 + (n - e / 2 + Fraction(1, 2)) * i - Fraction(n**2 + n, 2)
            assert z1 == derivative(end, i, e)
            if i % 2:  # from the middle, equal distances come in pairs: the formula is for odd i
                z2 = (e - 1) / 4 * i**2 + (n - (e - 1)) / 2 * i + ((e - 1) - n**2 - 2 * n) / 4
                assert z2 + Fraction(n % 2, 4) == derivative(middle, i, e)


@pytest.mark.parametrize("e", RATIOS)
def test_the_discriminants_of_the_proof_are_those_of_its_quadratics(e):
    for n in range(2, 41):
        a, b, c = (e - 1) / 2, n - e / 2 + Fraction(1, 2), -Fraction(n**2 + n, 2)
        assert b**2 - 4 * a * c == n**2 * e + (1 - e) ** 2 / 4
        a, b = (e - 1) / 4, (n - (e - 1)) / 2
        for odd, printed in ((0, e / 4 * n**2), (1, e / 4 * (n**2 - 1) + Fraction(1, 4))):
            c = ((e - 1) - n**2 - 2 * n + odd) / 4
            assert b**2 - 4 * a * c == printed
            # At i = 1 the upward parabola is not above zero: its left root is not above 1.
            assert a + b + c <= 0


@pytest.mark.parametrize("e", RATIOS)
def test_rows_of_neighbours_differ_by_one_from_a_single_column_on(e):
    for n in range(2, 31):
        for k in range(2, (n + 1) // 2 + 1):
            above, below = sorted_distances(n, k - 1), sorted_distances(n, k)
            steps = [a - b for a, b in zip(above, below, strict=True)]
            first = steps.index(1)
            assert steps == [0] * first + [1] * (n - first)
            for i in range(1, n + 1):
                assert (derivative(above, i, e) > derivative(below, i, e)) == (i > first)


@pytest.mark.parametrize("e", RATIOS)
def test_the_sum_of_appendix_a_2_and_its_expansion_are_the_global_error_times_n(e):
    for n, m in [(5, 3), (9, 5), (21, 7), (41, 1), (41, 39)]:
        near = [sorted_distances(n, k)[:m] for k in range(1, n + 1)]
        everything = sum(sum(sorted_distances(n, k)) for k in range(1, n + 1))
        brute = ((e - 1) * sum(map(sum, near)) + everything) / (n + (e - 1) * m)
        c, below = Fraction(m, n), 1 + (e - 1) * Fraction(m, n)
        square = (c**2 - Fraction(1, n**2)) * (e - 1)
        clamped = range((m - 1) // 2 + 1)
        centred = range((m + 1) // 2, (n - 1) // 2 + 1)
        summed = (
            sum(2 * e / n * i * (i + 1) - 2 * i + c * (e - 1) * (n * c - 1 - 2 * i) + n - 1 for i in clamped) / below
            + sum(
                n * (square + 2 - Fraction(4 * i, n) + Fraction(4 * i + 4 * i**2, n**2) - Fraction(2, n))
                for i in centred
            )
            / (2 * below)
            - n * (square + 1 - Fraction(1, n**2)) / (4 * below)
        )
        expanded = (
            sum(c * (e - 1) * (n * c - 1) + n - 1 for _ in clamped)
            + sum(((Fraction(2, n) - 2) * e - 2 * (c - 1) * (e - 1)) * i + 2 * e / n * i**2 for i in clamped)
            + sum(n * (square + 2 - Fraction(2, n)) - 4 * i + Fraction(4 * i + 4 * i**2, n) for i in centred) / 2
            - n * (square + 1 - Fraction(1, n**2)) / 4
        ) / below
        assert summed == expanded == brute


def test_the_sum_for_grr_is_as_printed():
    for n in range(3, 100, 2):
        summed = 2 * sum(Fraction(n, 2) - i + Fraction(i**2, n) for i in range(1, (n - 1) // 2 + 1))
        assert summed == Fraction(n**2, 3) - Fraction(n, 2) + Fraction(1, 6)


def test_the_golden_ratio_is_where_the_printed_bounds_cross():
    # b − a = E − h − 1 = (h − 1/2)² − 5/4 with h = e^{ε/2}: zero at the golden ratio, whatever N is.
    for h in (Fraction(3, 2), Fraction(1618, 1000), Fraction(1619, 1000), Fraction(3)):
        for n in (2, 7, 100):
            a, b = n * h - n, h * (n - 1) - (n - h**2 + 1)
            assert b - a == h**2 - h - 1 == (h - Fraction(1, 2)) ** 2 - Fraction(5, 4)
            assert (b > a) == (h > Fraction(16180339887, 10**10))
            # Mended, a is larger by E − 1: then b never is above it, and the bounds no longer order the roots.
            assert b - (a + h**2 - 1) == -h


@pytest.mark.parametrize("epsilon", [0.1, 1, 5])
def test_with_one_near_output_brr_is_grr_and_with_two_values_grr_is_rr(epsilon):
    for points in (2, 9, 60):
        domain = bp.Integers(1, points)
        np.testing.assert_array_equal(bp.BRR(domain, epsilon, m=1).matrix(), bp.GRR(domain, epsilon).matrix())
    truth = math.exp(epsilon) / (math.exp(epsilon) + 1)  # Warner 1965
    warner = [[truth, 1 - truth], [1 - truth, truth]]
    np.testing.assert_allclose(bp.GRR(bp.Integers(1, 2), epsilon).matrix(), warner, rtol=0, atol=1e-9)
