"""The paper's theorems, against brute force for finite N and against the package's own mechanisms as N grows."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

import bipartite as bp
from bipartite.design import algorithm_3
from bipartite.errors import InputError
from reproduction import theory

RATIOS = [Fraction(1), Fraction(2), Fraction(27183, 10000), Fraction(7, 5), Fraction(1001, 1000), Fraction(10**6, 7)]
# A geometric grid from almost nothing to the edge of floats.
GRID = [10.0**power for power in range(-15, 3)] + [0.25, 0.5, 0.9283, 2.0, 3.0, 5.0, 20.0, 50.0, 300.0, 700.0]
EPSILONS = ["0.25", "1", "2", "4"]


def brr(points, epsilon, m="safe"):
    return bp.BRR(bp.Integers(1, points), epsilon, m=m)


def sums_of_distances(points, m):
    """For every value, Σ|x − y| over the m nearest outputs and over everything: by sorting, in whole numbers."""
    distances = np.sort(np.abs(np.subtract.outer(np.arange(points), np.arange(points))), axis=1)
    return distances[:, :m].sum(axis=1).tolist(), distances.sum(axis=1).tolist()


def windows(points):
    """Every m on small domains, and a spread of odd and even ones on larger domains."""
    if points <= 24:
        return range(1, points + 1)
    return sorted({1, 2, 3, points // 5, points // 4, points // 3, points // 2, points // 2 + 1, points - 1, points})


def test_exact_losses_equal_brute_force_for_every_domain_up_to_200():
    for points in range(2, 201):
        for m in windows(points):
            near, everything = sums_of_distances(points, m)
            ratio = RATIOS[(points + m) % len(RATIOS)]
            weight = (ratio - 1) * m + points
            losses = [((ratio - 1) * a + b) / weight for a, b in zip(near, everything, strict=True)]
            assert losses == [theory.exact_local_loss(points, m, ratio, k) for k in range(1, points + 1)]
            assert theory.exact_expected_loss(points, m, ratio) == sum(losses) / points
            if m == 1:
                assert losses == [theory.exact_local_loss_grr(points, ratio, k) for k in range(1, points + 1)]


@pytest.mark.parametrize(("points", "m"), [(2, 1), (9, 4), (73, 27), (1000, 377)])
def test_exact_losses_are_those_of_the_package(points, m):
    mechanism = brr(points, 1, m)
    ratio = Fraction(mechanism.lottery.tickets.near, mechanism.lottery.tickets.far)
    exact = [float(theory.exact_local_loss(points, m, ratio, k)) for k in range(1, points + 1)]
    assert bp.loss(mechanism).by_value == pytest.approx(exact, rel=1e-13)
    assert bp.loss(mechanism).mean == pytest.approx(float(theory.exact_expected_loss(points, m, ratio)), rel=1e-13)


@pytest.mark.parametrize("ratio", RATIOS)
def test_the_second_printed_line_of_f_is_exact_and_the_first_is_not(ratio):
    for points, m in [(5, 3), (21, 7), (101, 39), (100, 39)]:
        e, n, c = ratio, points, Fraction(m, points)
        weight = 12 * ((e - 1) * c + 1)
        cubic = (e - 1) * c**3 + 3 * (e - 1) * c**2
        first = (cubic - 3 * e + 4) / weight * n**2 - Fraction(1, 12)
        second = ((e - 1) * n**2 * (c**3 + 3 * c**2) - (e - 1) * c - 3 * e - 1 + 4 * n**2) / weight
        corrected = ((cubic + 4) * n**2 - 3 * e) / weight - Fraction(1, 12)
        assert second == corrected == n * theory.exact_expected_loss(points, m, ratio)
        assert first < second / 2


@pytest.mark.parametrize("epsilon", GRID)
def test_limits_are_right_to_the_last_digits_at_every_epsilon(epsilon):
    with mpmath.workdps(700):
        h = mpmath.exp(mpmath.mpf(epsilon) / 2)
        root = mpmath.sqrt(h**2 + 2 * h + 2)
        sup, inf = 2 / (h + 1), h - (h - 1) / (h + 1) * (root + 1)
        c = 1 / (h + 1)
        expected = {
            "limit_of_m": c,
            "limit_sup": sup,
            "limit_inf": inf,
            "limit_gap": sup - inf,
            "gap_bound": 1 / (2 * (h + 1)),
            "limit_global_ratio": (7 * h + 9) / (4 * (h + 1) ** 2),
            "limit_quality_loss": (7 * h + 9) / (12 * (h + 1) ** 2),
            "limit_ratio_at_turn": (3 * h + 2) / (2 * h**2 + 2 * h + 1),
            "position_of_inf": (c + 1 - mpmath.sqrt(c**2 + 1)) / 2,
        }
        for name, value in expected.items():
            assert getattr(theory, name)(epsilon) == pytest.approx(float(value), rel=1e-13, abs=0), name
        for d in [0.0, float(c) / 8, float(c) / 3, float(c) * 0.7, 0.3, 0.5]:
            share = theory.limit_of_m(epsilon)  # the float, so that both sides see the same c
            assert theory.limit_local_loss(epsilon, d) == pytest.approx(
                float(printed_local_limit(h**2, mpmath.mpf(share), mpmath.mpf(d))), rel=1e-12, abs=0
            )


def printed_local_limit(e, c, d):
    """Q^(k)(BRR)/N as the paper prints it, both cases."""
    spread = 1 - 2 * d + 2 * d**2
    if 2 * d >= c:
        return (c**2 * (e - 1) + 2 * spread) / (4 * (1 + (e - 1) * c))
    return (spread * e + (c - 1) * (c + 1 - 2 * d) * (e - 1)) / (2 * ((e - 1) * c + 1))


@pytest.mark.parametrize("epsilon", GRID)
def test_the_local_ratio_stays_between_its_bounds_and_turns_where_the_paper_says(epsilon):
    sup, inf = theory.limit_sup(epsilon), theory.limit_inf(epsilon)
    turn, lowest = theory.limit_of_m(epsilon) / 2, theory.position_of_inf(epsilon)
    ratios = [theory.limit_ratio(epsilon, d) for d in np.linspace(0, 0.5, 1001)]
    assert inf * (1 - 1e-13) <= min(ratios) <= max(ratios) <= sup * (1 + 1e-13)
    assert ratios[0] == pytest.approx(sup) == ratios[-1]
    assert theory.limit_ratio(epsilon, lowest) == pytest.approx(inf, rel=1e-13)
    assert theory.limit_ratio(epsilon, turn) == pytest.approx(theory.limit_ratio_at_turn(epsilon), rel=1e-13)
    assert 0 < lowest <= turn
    assert 0 < theory.limit_gap(epsilon) <= theory.gap_bound(epsilon)
    if 0.01 < epsilon < 50:  # beyond, floats cannot tell these from equal
        assert theory.limit_gap(epsilon) < theory.gap_bound(epsilon)
        assert lowest < turn and inf < theory.limit_ratio_at_turn(epsilon) < sup
        falling = [theory.limit_ratio(epsilon, d) for d in np.linspace(0, lowest, 50)]
        rising = [theory.limit_ratio(epsilon, d) for d in np.linspace(lowest, 0.5, 50)]
        assert falling == sorted(falling, reverse=True) and rising == sorted(rising)


@pytest.mark.parametrize("epsilon", [0.25, 1.0, 3.0])
def test_the_printed_roots_of_the_appendix_are_wrong(epsilon):
    e, h = math.exp(epsilon), math.exp(epsilon / 2)
    with_root = {inner: h - (h - 1) / (h + 1) * (math.sqrt(inner) + 1) for inner in (3 * e + 1, 3 * e + 2)}
    assert theory.limit_sup(epsilon) - with_root[3 * e + 1] > 0.003
    assert theory.limit_inf(epsilon) - with_root[3 * e + 2] > 0.003


def assert_shrinks_like_one_over_n(error_at, bound, sizes=(100, 1000, 10_000, 100_000)):
    """N·|error| stays below the bound; and the last error is far below the first, so the bound is not idle."""
    errors = [abs(error_at(points)) for points in sizes]
    assert [n * error for n, error in zip(sizes, errors, strict=True) if n * error > bound] == []
    assert errors[-1] < errors[0] / 50 + 1e-6


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_m_is_a_fixed_number_of_points_from_its_limit(epsilon):
    limit = theory.limit_of_m(float(epsilon))
    for points in [*range(2, 300), 10**4, 10**4 + 1, 10**6, 10**6 + 1, 10**9, 10**9 + 1]:
        assert abs(algorithm_3(points, epsilon) - limit * points) < 2


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_global_limits_are_approached_at_the_rate_one_over_n(epsilon):
    number = float(epsilon)

    def measured(points, m="safe"):
        return bp.loss(brr(points, epsilon, m)).mean

    # GRR's own error is about (E − 2)/(3N), so the bound must grow with E.
    bound = 3 + math.exp(number)
    assert_shrinks_like_one_over_n(lambda n: measured(n) / measured(n, 1) - theory.limit_global_ratio(number), bound)
    assert_shrinks_like_one_over_n(lambda n: measured(n) / (n - 1) - theory.limit_quality_loss(number), bound)
    assert_shrinks_like_one_over_n(lambda n: measured(n, 1) / (n - 1) - theory.GRR_QUALITY_LOSS, bound)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("d", [0.0, 0.05, 0.1, 0.25, 0.4, 0.5])
def test_local_limits_are_approached_at_the_rate_one_over_n(epsilon, d):
    number = float(epsilon)

    def measured(points, m="safe"):
        return float(bp.loss(brr(points, epsilon, m)).by_value[min(int(d * points), (points - 1) // 2)])

    bound = 3 + math.exp(number)
    assert_shrinks_like_one_over_n(lambda n: measured(n) / n - theory.limit_local_loss(number, d), bound)
    assert_shrinks_like_one_over_n(lambda n: measured(n, 1) / n - theory.limit_local_loss_grr(d), bound)
    assert_shrinks_like_one_over_n(lambda n: measured(n) / measured(n, 1) - theory.limit_ratio(number, d), bound)
    for share in (0.1, 0.5, 0.9):  # any share of near outputs, not only the limit of m

        def error(n, share=share):
            return measured(n, int(share * n)) / n - theory.limit_local_loss(number, d, share)

        assert_shrinks_like_one_over_n(error, bound)


def test_above_the_crossing_ten_million_values_beat_the_median_and_below_it_not():
    crossing = theory.epsilon_to_beat_the_median()
    assert theory.limit_quality_loss(crossing) == pytest.approx(1 / 4, abs=1e-14)
    many = bp.Integers(1, 10**7)
    nothing = bp.loss(bp.Constant(many)).mean
    assert nothing / (10**7 - 1) == pytest.approx(1 / 4, rel=1e-6)
    # Tickets may realise an ε that is lower by up to 10^−6, so the crossing is located to 10^−5.
    assert bp.loss(bp.BRR(many, round(crossing - 1e-5, 6))).mean > nothing
    assert bp.loss(bp.BRR(many, round(crossing + 1e-5, 6))).mean < nothing


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: theory.limit_of_m(0), "epsilon as a positive finite number, got 0; most uses lie between 0.1 and 5"),
        (
            lambda: theory.limit_local_loss(1, 0.51),
            "d between 0 and 1/2, got 0.51; give the distance to the nearer end",
        ),
        (lambda: theory.limit_local_loss(1, 0.1, 1.01), "c above 0 and at most 1, got 1.01; give m/N, or None"),
        (
            lambda: theory.algorithm_3_as_printed(1, 1),
            "points as a whole number of at least 2, got 1; check N, m and k",
        ),
        (lambda: theory.exact_local_loss_grr(5, 2, 0), "k as a whole number of 1 to 5, got 0; check N, m and k"),
        (lambda: theory.exact_expected_loss(5, 2, 0), "ratio as a whole number or Fraction of at least 1, got 0; give"),
    ],
)
def test_what_is_out_of_range_is_refused(wrong, message):
    with pytest.raises(InputError, match=f"Expected {message}"):
        wrong()


@pytest.mark.parametrize("epsilon", ["0.3", "0.9", "1", "2.5"])
def test_algorithm_3_as_printed_is_the_formula_of_the_paper(epsilon):
    e = math.exp(float(epsilon))
    for n in range(2, 200):
        m1 = math.floor((math.sqrt(n * n * e + (1 - e) ** 2 / 4) - (n - e / 2 + 0.5)) / (e - 1))
        even, odd = n / (math.sqrt(e) + 1) + 1, (math.sqrt(e * (n * n - 1) + 1) - n) / (e - 1) + 1
        i = math.floor(odd if n % 2 else even)
        m2 = i if i % 2 else i + 1
        assert theory.algorithm_3_as_printed(n, epsilon) == (m1 if float(epsilon) >= 1 else min(m1, m2))
