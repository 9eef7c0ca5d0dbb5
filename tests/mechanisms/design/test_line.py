"""m on a line: against Algorithm 2 by brute force, and far beyond brute force by another exact method."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bipartite import BRR, Integers
from bipartite.errors import InputError, PriorError
from bipartite.lottery import Epsilon
from bipartite.mechanisms.design.m import algorithm_3, best_half_window, best_m, safe_m
from bipartite.mechanisms.design.m_of_sets import algorithm_1, algorithm_2
from bipartite.quality import loss as loss_of
from tests.mechanisms.design.brute import m_by_thresholds, thresholds
from tests.oracle import exp, number
from tests.strategies import epsilons

SIZES = range(2, 301)
# A fine grid from 0.001 to 12: 400 values, evenly spaced in the logarithm, of four digits.
GRID = [f"{value:.4g}" for value in np.geomspace(0.001, 12, 400)]


@cache
def brute(points):
    return thresholds(points)


def end_or_middle_threshold(points: int, i: int) -> Fraction | None:
    """The number below which e^ε must lie for m > i, by the two quadratics that safe_m decides."""
    item = i + 1  # counted from 1
    end = Fraction((points - item) * (points - item + 1), item * (item - 1))
    t = (item + 1) // 2 if item % 2 == 0 else item // 2  # the pair that holds the item
    middle = Fraction((points - 2 * t) ** 2 - points % 2, 4 * t * t) if 2 * t + 1 <= points else Fraction(0)
    return min(end, middle)


def test_end_and_middle_give_algorithm_2_for_every_epsilon():
    # Not on a grid: the thresholds are equal as fractions, so m is equal for every real ε > 0.
    for points in SIZES:
        above_one = [max(t, Fraction(1)) if t is not None else t for t in brute(points)]
        expected = [max(end_or_middle_threshold(points, i), Fraction(1)) for i in range(1, points)]
        assert above_one == expected, points


@pytest.mark.grid(20)
@pytest.mark.parametrize("points", SIZES)
def test_m_equals_algorithm_2_by_brute_force_on_a_fine_grid(points):
    every = brute(points)
    for epsilon in GRID:
        e = exp_to_120_digits(epsilon)
        assert safe_m(points, Epsilon.of(epsilon)) == m_by_thresholds(every, lambda ratio, e=e: e > ratio), epsilon


@cache
def exp_to_120_digits(epsilon: str) -> Fraction:
    with mpmath.workdps(120):
        return Fraction(str(mpmath.exp(mpmath.mpf(epsilon))))


@pytest.mark.parametrize("points", [*range(2, 41), 73, 100, 101, 256, 299, 300])
def test_m_is_right_on_both_sides_of_every_tie(points):
    # The 17-digit decimals around ln(threshold): the nearest ties that a float ε can come to.
    for threshold in {t for t in brute(points) if t is not None and t > Fraction(1001, 1000)}:
        with mpmath.workdps(60):
            tie = Decimal(mpmath.nstr(mpmath.log(mpmath.mpf(threshold.numerator) / threshold.denominator), 50))
        with localcontext() as context:
            context.prec = 17
            below, above = context.next_minus(+tie), context.next_plus(+tie)
            candidates = [below, +tie, above]
        for epsilon in candidates:
            if epsilon > 12:
                continue
            with mpmath.workdps(60):
                e = mpmath.exp(mpmath.mpf(str(epsilon)))

                def exceeds(ratio, e=e):
                    return e > mpmath.mpf(ratio.numerator) / ratio.denominator

                assert safe_m(points, Epsilon.of(epsilon)) == m_by_thresholds(brute(points), exceeds), epsilon


def test_the_near_tie_that_floats_get_wrong():
    epsilon = "1.3862943611198906"
    assert safe_m(6, Epsilon.of(epsilon)) == 2
    assert algorithm_2([[abs(x - y) for y in range(6)] for x in range(6)], epsilon).m == 2
    # In floats e^ε is 4 exactly, and the first neighbour of a middle value is not raised: λ·S = L = 9.
    e = math.exp(float(epsilon))
    losses = [0, 1, 1, 2, 2, 3]
    assert not losses[1] * (e + 5) < sum(losses)


def m_of_row_by_fixed_point(points: int, x: int, epsilon: str) -> int:
    """m^(x) = #{λ < Q*} by Dinkelbach's iteration on the mean loss, from closed sums: no sort, no quadratic.

    Q ← (E·Σ_{λ<Q} λ + Σ_{λ≥Q} λ)/(E·#{λ<Q} + #{λ≥Q}), with 1200 digits.
    """
    e = exp(epsilon)
    left, right = x, points - 1 - x

    def below(q):
        """How many losses lie below q, and their sum."""
        reach = int(mpmath.ceil(q)) - 1
        arms = [min(arm, reach) for arm in (left, right)]
        return 1 + sum(arms), sum(arm * (arm + 1) // 2 for arm in arms)

    total = sum(arm * (arm + 1) // 2 for arm in (left, right))
    q = mpmath.mpf(total) / (e + points - 1)
    count = points + 1
    while True:
        now, near = below(q)
        if now >= count:
            return max(1, now)
        count = now
        q = ((e - 1) * near + total) / ((e - 1) * now + points)


@given(st.integers(2, 2**31), epsilons, st.lists(st.floats(0, 1), max_size=5))
def test_m_equals_an_independent_exact_method_up_to_2_to_the_31(points, epsilon, elsewhere):
    rows = {0, (points - 1) // 2, points // 2, *(int(share * (points - 1)) for share in elsewhere)}
    by_row = {x: m_of_row_by_fixed_point(points, x, epsilon) for x in rows}
    assert safe_m(points, Epsilon.of(epsilon)) == min(by_row.values())


@pytest.mark.parametrize(("points", "epsilon"), [(10**9 + 1, "0.000000001"), (2**31, "0.0001"), (2**31 - 1, "12")])
def test_m_is_exact_where_the_float_closed_form_is_far_off(points, epsilon):
    rows = (0, (points - 1) // 2, points // 3)
    assert safe_m(points, Epsilon.of(epsilon)) == min(m_of_row_by_fixed_point(points, x, epsilon) for x in rows)


@given(st.integers(2, 60), epsilons)
def test_algorithm_2_on_the_loss_matrix_of_a_line_is_algorithm_3(points, epsilon):
    rows = [[abs(x - y) for y in range(points)] for x in range(points)]
    design = algorithm_2(rows, epsilon)
    assert design.m == algorithm_3(points, epsilon)
    assert math.isclose(sum(design.weights), 1)
    assert design.weights[0] / design.weights[-1] == pytest.approx(math.exp(float(epsilon)))


@given(
    st.lists(st.one_of(st.integers(0, 20), st.floats(0, 100)), min_size=2, max_size=8),
    epsilons,
)
def test_no_weights_beat_algorithm_1(losses, epsilon):
    # The expected loss is a ratio of two linear functions of the weights, so over [1, e^ε]^N it is least at a vertex:
    # all 2^N of them are tried, in exact rationals around e^ε to 100 digits.
    ordered = sorted(map(Fraction, losses))
    with mpmath.workdps(110):
        e = Fraction(str(mpmath.exp(number(epsilon))))

    def loss_of(raised):
        weights = [e if raised >> j & 1 else Fraction(1) for j in range(len(ordered))]
        return sum(w * value for w, value in zip(weights, ordered, strict=True)) / sum(weights)

    m = algorithm_1(losses, epsilon).m
    chosen = loss_of(2**m - 1)
    assert all(chosen <= loss_of(vertex) for vertex in range(2 ** len(ordered)))
    # And one item fewer is worse, unless it changes nothing (then the first is the only one raised).
    if m > 1:
        assert chosen < loss_of(2 ** (m - 1) - 1)


def test_a_row_of_equal_losses_raises_only_the_first():
    assert algorithm_1([3.7] * 9, 1).m == 1
    assert algorithm_2([[1, 1, 1], [0, 1, 5]], 1).m == 1


def test_losses_may_be_whole_numbers_of_numpy():
    losses = np.abs(np.subtract.outer(np.arange(9), np.arange(9)))
    assert algorithm_1(losses[4], 1) == algorithm_1(losses[4].tolist(), 1)
    assert algorithm_2(losses.astype(np.uint8), 1) == algorithm_2(losses.tolist(), 1)


@pytest.mark.parametrize("losses", [[1], []])
def test_a_row_needs_two_items(losses):
    with pytest.raises(InputError, match="Expected the losses of two items or more"):
        algorithm_1(losses, 1)


@pytest.mark.parametrize("losses", [[0, float("nan")], [0, float("inf")], [0, "far"], [0, None]])
def test_losses_are_finite_numbers(losses):
    with pytest.raises(InputError, match="Expected losses as finite numbers; replace NaN"):
        algorithm_1(losses, 1)


def test_rows_have_one_length():
    with pytest.raises(InputError, match="Expected rows of one length"):
        algorithm_2([[0, 1], [0, 1, 2]], 1)


@pytest.mark.parametrize("points", [0, 1, 5.5, "5", None])
def test_algorithm_3_needs_two_points(points):
    with pytest.raises(InputError, match="Expected points as a whole number of at least 2, got .*; use two points"):
        algorithm_3(points, 1)


def expected_by_matrix(mechanism, prior):
    loss = np.abs(mechanism.domain.to_numpy()[:, None] - mechanism.outputs.to_numpy()[None, :])
    return float(prior @ (mechanism.matrix() * loss).sum(axis=1))


@pytest.mark.parametrize("edges", ["clamped", "padded"])
@given(points=st.integers(2, 25), epsilon=epsilons, weights=st.lists(st.integers(0, 9), min_size=25, max_size=25))
def test_the_best_m_has_the_least_expected_loss_of_all(edges, points, epsilon, weights):
    domain = Integers(1, points)
    raw = np.array(weights[:points], dtype=float) + 1e-3
    for prior in (None, raw / raw.sum()):
        flat = np.full(points, 1 / points) if prior is None else prior
        chosen = BRR(domain, epsilon, m="best", prior=prior, edges=edges)
        choices = range(1, points) if edges == "clamped" else range(1, 2 * points + 2, 2)
        least = min(expected_by_matrix(BRR(domain, epsilon, m=m, edges=edges), flat) for m in choices)
        assert expected_by_matrix(chosen, flat) == pytest.approx(least, rel=1e-9)


def test_the_best_m_of_a_billion_values_takes_no_memory():
    m = best_m(10**9, Epsilon.of(1), None)
    # The same share of a million values is near, where the losses can be listed.
    domain, near = Integers(1, 10**6), round(m / 1000)
    assert best_m(10**6, Epsilon.of(1), None) == pytest.approx(near, abs=2)
    least = loss_of(BRR(domain, 1, m=near)).mean
    assert least < loss_of(BRR(domain, 1)).mean
    assert all(least <= loss_of(BRR(domain, 1, m=near + step)).mean for step in (-1000, 1000))
    assert best_half_window(10**9, Epsilon.of(3), None) > 0


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ([0.5, 0.5], "got shape \\(2,\\); give one for each value"),
        ([0.5, 0.5, 0.5], "got a sum of 1.5; divide it by its sum"),
        ([1.5, -0.5, 0.0], "Expected prior as non-negative numbers that sum to 1"),
        ([float("nan"), 0.5, 0.5], "got a sum of nan; divide it by its sum"),
        ("flat", "Expected prior as 3 probabilities, got str; pass a list"),
        ([0.5 + 0j, 0.25, 0.25], "Expected prior as 3 probabilities, got list; pass a list"),
        (np.ma.masked_array([0.5, 0.25, 0.25], mask=[1, 0, 0]), "got MaskedArray; pass a list"),
        ([[0.5], [0.25, 0.25]], "Expected prior as 3 probabilities, got list"),
    ],
)
def test_what_is_no_prior_is_refused(prior, message):
    with pytest.raises(PriorError, match=message):
        BRR(Integers(1, 3), 1, m="best", prior=prior)
