import decimal

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from bipartite import BRR, Integers, Items, Points, SquareWave, from_spec, insecure_seed, verify
from bipartite.errors import DesignError, InputError
from bipartite.lottery import Epsilon
from bipartite.mechanisms.design.m import safe_m
from bipartite.mechanisms.design.m_for_statistics import statistical_half_window
from tests.oracle import number
from tests.strategies import brr, epsilons, line_domains, small_lines

AGES = Integers(18, 90)


def nearest(values, outputs, x, m):
    """The m outputs nearest to a value, ties to the lower index, by sorting."""
    distances = np.abs(outputs - values[x])
    # Distances on an interval are floats; in steps they are whole numbers.
    steps = np.rint(distances / (values[1] - values[0])).astype(int)
    return set(np.lexsort((np.arange(len(outputs)), steps))[:m].tolist())


@given(brr(line_domains))
def test_every_large_brr_realises_its_epsilon_too(mechanism):
    certificate = verify(mechanism)
    exact = number(mechanism.epsilon_decimal)
    realised = mpmath.log(mpmath.mpf(certificate.ratio.numerator) / certificate.ratio.denominator)
    assert certificate.holds
    assert exact - min(mpmath.mpf("1e-6"), exact / 1000) <= realised <= exact
    lottery = mechanism.lottery
    for x in {0, 1, lottery.inputs // 2, lottery.inputs - 2, lottery.inputs - 1}:
        assert 0 <= lottery.start(x) <= lottery.outputs - lottery.m


@given(brr(small_lines))
def test_near_outputs_are_the_m_nearest_with_ties_to_the_lower_index(mechanism):
    values, outputs = mechanism.domain.to_numpy(), mechanism.outputs.to_numpy()
    for x in range(len(values)):
        start = mechanism.lottery.start(x)
        assert set(range(start, start + mechanism.m)) == nearest(values, outputs, x, mechanism.m)


def test_padded_windows_are_always_centred_so_that_every_row_differs():
    mechanism = BRR(Integers(0, 9), 1, edges="padded")
    assert mechanism.m % 2 == 1
    assert mechanism.m == (safe_m(10, Epsilon.of(1)) - 1) // 2 * 2 + 1
    matrix = mechanism.matrix()
    assert np.linalg.matrix_rank(matrix) == 10
    assert mechanism.outputs == Integers(-(mechanism.m // 2), 9 + mechanism.m // 2)


@given(small_lines, epsilons, st.sampled_from(["mean", "cdf", "histogram"]))
def test_a_window_for_statistics_is_padded_private_and_travels_as_a_number(domain, epsilon, wanted):
    mechanism = BRR(domain, epsilon, m=wanted, edges="padded")
    assert mechanism.m == 2 * statistical_half_window(len(domain), Epsilon.of(epsilon), wanted) + 1
    assert mechanism == BRR(domain, epsilon, m=mechanism.m, edges="padded")
    assert mechanism.to_spec()["m"] == mechanism.m
    assert from_spec(mechanism.to_spec()) == mechanism
    assert verify(mechanism).holds
    assert np.linalg.matrix_rank(mechanism.matrix()) == len(domain)


def test_windows_for_statistics_on_ages():
    widths = {wanted: BRR(AGES, 1, m=wanted, edges="padded").m for wanted in ("mean", "cdf", "histogram", "safe")}
    assert widths == {"mean": 61, "cdf": 19, "histogram": 9, "safe": 27}
    assert BRR(AGES, 1, m="cdf", edges="padded") != SquareWave(AGES, 1)


@pytest.mark.parametrize("wanted", ["mean", "cdf", "histogram"])
def test_a_window_for_statistics_needs_padded_edges_on_a_line(wanted):
    with pytest.raises(
        InputError, match=f"Expected edges='padded' with m='{wanted}'.* pass edges='padded', or m='safe'"
    ):
        BRR(AGES, 1, m=wanted)
    for domain in (Points([[0, 0], [1, 1], [2, 0]]), Items(["a", "b"], loss=[[0, 1], [1, 0]])):
        with pytest.raises(InputError, match=f"on points and items, got '{wanted}', which needs a line") as caught:
            BRR(domain, 1, m=wanted)
        assert "problems" not in str(caught.value)
    with pytest.raises(InputError, match=f"A prior is used only with m='best', got m='{wanted}'"):
        BRR(AGES, 1, m=wanted, edges="padded", prior=[1 / 73] * 73)


@given(st.integers(3, 40), epsilons)
def test_the_clamped_window_has_rank_n_minus_m_plus_one(points, epsilon):
    # Findings §2.1: what the paper does not say.
    mechanism = BRR(Integers(1, points), epsilon)
    distinct = len({mechanism.lottery.start(x) for x in range(points)})
    assert distinct == points - mechanism.m + 1


def test_no_value_does_worse_than_under_grr_with_the_safe_m():
    for points in (2, 5, 16, 40, 73, 101):
        for epsilon in ("0.1", "0.5", "1", "2", "4"):
            domain = Integers(1, points)
            loss = np.abs(domain.to_numpy()[:, None] - domain.to_numpy()[None, :])
            safe = (BRR(domain, epsilon).matrix() * loss).sum(axis=1)
            grr = (BRR(domain, epsilon, m=1).matrix() * loss).sum(axis=1)
            assert (safe <= grr * (1 + 1e-12)).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"m": 0}, "Expected 1 ≤ m < 73, the number of values, got 0; m='safe' chooses one"),
        ({"m": 73}, "Expected 1 ≤ m < 73"),
        ({"m": -2, "edges": "padded"}, "Expected an odd m below 2\\^31 with edges='padded', got -2; use 1"),
        ({"m": 4, "edges": "padded"}, "Expected an odd m .* got 4; use 5"),
        ({"m": 2**31 + 1, "edges": "padded"}, "Expected an odd m below 2\\^31 .* use 2147483647"),
    ],
)
def test_an_m_that_does_not_fit_is_refused(arguments, message):
    with pytest.raises(DesignError, match=message):
        BRR(AGES, 1, **arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"m": "large"}, "Expected m='safe', 'best', 'mean', 'cdf', 'histogram' or a whole number, got 'large'"),
        ({"m": 2.5}, "Expected m='safe', 'best', 'mean', 'cdf', 'histogram' or a whole number, got 2.5"),
        ({"m": True}, "Expected m='safe', 'best', 'mean', 'cdf', 'histogram' or a whole number, got True"),
        ({"m": np.array([1, 2])}, "Expected m='safe', 'best', 'mean', 'cdf', 'histogram' or a whole number, got array"),
        ({"edges": []}, "Expected edges='clamped' or 'padded', got \\[\\]"),
        ({"edges": "wrapped"}, "Expected edges='clamped' or 'padded', got 'wrapped'"),
        ({"prior": [1 / 73] * 73}, "A prior is used only with m='best', got m='safe'"),
        (
            {"domain": 5, "m": None, "edges": 3},
            "3 problems:\n- Expected domain as bp.Integers, .*, bp.Cyclic, bp.Points, bp.Items or bp.Product, got int",
        ),
    ],
)
def test_arguments_are_checked_all_at_once(arguments, message):
    with pytest.raises(InputError, match=message):
        BRR(**({"domain": AGES, "epsilon": 1} | arguments))


@pytest.mark.parametrize("precision", [1, 3, 10])
def test_the_callers_decimal_context_changes_nothing(precision):
    with decimal.localcontext() as context:
        context.prec = precision
        context.traps[decimal.Inexact] = True
        mechanism = BRR(AGES, 1)
        certificate = verify(mechanism)
        text = str(certificate)
        with pytest.raises(DesignError, match="the smallest ε for N=100 is about 0.000000000017"):
            BRR(Integers(1, 100), "1e-12", m=20)
    assert mechanism == BRR(AGES, 1)
    assert certificate == verify(mechanism)
    assert text == str(certificate)


@pytest.mark.parametrize(
    ("size", "epsilon", "settings_", "message"),
    [
        (10**9, "1e-9", {}, "ε=0.000000001 is too small for N=1000000000: .* smallest ε for N=1000000000 is about"),
        (2**31, 40, {}, "ε=40 is too large for N=2147483648: .* the largest ε for N=2147483648 is about"),
        (2, "1e-14", {}, "ε=0.00000000000001 is too small for N=2: .* the smallest ε for N=2 is about"),
        (100, "1e-12", {"m": 20}, "the smallest ε for N=100 is about"),
        (10**6, "1e-9", {"m": "cdf", "edges": "padded"}, "the smallest ε for N=1000000 is about .* the largest N for"),
        pytest.param(
            *(2**31, 45, {"m": "cdf", "edges": "padded"}, "the largest ε for N=2147483648 is about"),
            marks=pytest.mark.slow,
        ),
        (100, "1e-12", {"m": "best", "prior": [0.01] * 100}, "the smallest ε for N=100 is about 0.0000000000[0-9]+.$"),
    ],
)
def test_what_tickets_cannot_keep_is_refused_and_names_what_would_work(size, epsilon, settings_, message):
    domain = Integers(1, size)
    with pytest.raises(DesignError, match=message) as caught:
        BRR(domain, epsilon, **settings_)
    text = str(caught.value)
    if "ε for N=" in text:
        advised = text.split("is about ")[1].split(";", maxsplit=1)[0].rstrip(".")
        assert verify(BRR(domain, advised, **settings_)).holds
    if "largest N for" in text:
        most = int(text.rsplit("is about ", maxsplit=1)[-1].rstrip("."))
        assert verify(BRR(Integers(1, most), epsilon, **settings_)).holds


def test_a_matrix_too_large_to_hold_is_refused():
    with pytest.raises(InputError, match="Expected a matrix of at most 2\\^26 numbers, got 100000 × 100000"):
        BRR(Integers(1, 10**5), 1).matrix()


def chi_square_p(reports, probabilities):
    counts = np.bincount(reports, minlength=len(probabilities))
    expected = probabilities * len(reports)
    return stats.chi2.sf(((counts - expected) ** 2 / expected).sum(), len(probabilities) - 1)


@pytest.mark.grid(3)
@pytest.mark.parametrize("edges", ["clamped", "padded"])
@pytest.mark.parametrize("value", [18, 20, 54, 90])
def test_reports_follow_the_matrix_and_the_test_would_notice_another_law(edges, value):
    # Seeded, so it never alarms by chance; the threshold alone gives a false-alarm rate of 1e-9 for a fresh seed.
    mechanism = BRR(AGES, 1, edges=edges)
    reports = mechanism.privatize(np.full(400_000, value), rng=insecure_seed(11)) - mechanism.outputs.low
    row = mechanism.matrix()[value - 18]
    assert chi_square_p(reports, row) > 1e-9
    # Power: a window shifted by one, and an ε that is 3 % off, are both rejected.
    assert chi_square_p(reports, np.roll(row, 1)) < 1e-9
    other = BRR(AGES, "1.03", m=mechanism.m, edges=edges).matrix()[value - 18]
    assert chi_square_p(reports, other) < 1e-3
    wrong = BRR(AGES, "1.1", m=mechanism.m, edges=edges).matrix()[value - 18]
    assert chi_square_p(reports, wrong) < 1e-9


def test_secure_reports_follow_the_matrix_too():
    # Unseeded by nature: false-alarm rate 1e-12 for each of three ways in.
    mechanism = BRR(Integers(0, 9), 2)
    row = mechanism.matrix()[3]
    scalar = np.array([mechanism.privatize(3) for _ in range(20_000)])
    bulk = mechanism.privatize(np.full(200_000, 3))
    threaded = mechanism.privatize(np.full(2**21 + 5, 3), threads=2)
    for reports in (scalar, bulk, threaded):
        assert chi_square_p(reports, row) > 1e-12
        assert chi_square_p(reports, np.roll(row, 1)) < 1e-12
