"""Samples of scores: averages, their intervals, products, combinations, forging."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

import bipartite as bp
from bipartite.answers.estimation.answer import Answer
from bipartite.answers.estimation.intervals import ConfidenceInterval
from bipartite.answers.estimation.sample import Averages, Sample
from bipartite.answers.estimation.source import Outputs
from bipartite.answers.estimation.tally import Tally


def shares(seen: int, people: int) -> Sample:
    """People who all report their bit."""
    return Sample.of(np.array([[0.0, 1.0]]), np.array([people - seen, seen], float))


@pytest.mark.parametrize(
    ("seen", "people"),
    [(0, 1), (1, 1), (0, 2), (0, 10), (3, 10), (1, 50), (0, 1000), (3, 1000), (500, 1000), (7, 10**6)],
)
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.999])
def test_the_interval_of_a_share_is_that_of_clopper_and_pearson(seen: int, people: int, confidence: float) -> None:
    tail = (1 - confidence) / 2
    low, high = shares(seen, people).ends(0, confidence)
    assert low == pytest.approx(stats.beta.ppf(tail, seen, people - seen + 1) if seen else 0, abs=0.005, rel=0.05)
    assert high == pytest.approx(
        stats.beta.isf(tail, seen + 1, people - seen) if seen < people else 1, abs=0.005, rel=0.05
    )


@pytest.mark.parametrize("people", [3, 30, 300, 30_000])
@pytest.mark.parametrize("skewed", [False, True])
def test_the_interval_is_the_quantile_of_randomly_weighted_averages(people: int, *, skewed: bool) -> None:
    # 200,000 draws of Dirichlet weights: the 97.5 % quantile is known to about 1 % of a standard deviation.
    rng = np.random.default_rng(people)
    u = np.linspace(-1, 3, 21)
    law = np.exp(-4 * np.abs(u)) if skewed else np.exp(-((u - 1) ** 2))
    counts = rng.multinomial(people, law / law.sum()).astype(float)
    low, high = Sample.of(u[None], counts).ends(0, 0.95)
    found = []
    for end in (-1.0, 3.0):
        weights = rng.standard_gamma(np.append(counts, 1.0)[:, None], size=(22, 200_000))
        found.append(np.append(u, end) @ weights / weights.sum(axis=0))
    assert low == pytest.approx(np.quantile(found[0], 0.025), abs=0.03 * found[0].std())
    assert high == pytest.approx(np.quantile(found[1], 0.975), abs=0.03 * found[1].std())


def test_many_scores_are_binned_and_the_interval_stays() -> None:
    rng = np.random.default_rng(5)
    u = rng.normal(size=5_000)
    whole = Sample.of(u[None], np.ones(5_000))
    halves = [Sample.of(part[None], np.ones(len(part)), limits=whole.range) for part in (u[:500], u)]
    low, high = halves[1].ends(0, 0.95)
    error = float(whole.se[0])
    assert (low, high) == pytest.approx((u.mean() - 1.96 * error, u.mean() + 1.96 * error), abs=0.12 * error)
    few = halves[0].ends(0, 0.95)
    assert few[1] - few[0] > 2 * 1.96 * float(halves[0].se[0])


def test_the_moments_are_those_of_numpy_with_weights() -> None:
    rng = np.random.default_rng(1)
    u, classes, weights = rng.normal(size=(3, 7)), rng.integers(7, size=400), rng.gamma(2, size=400)
    first, second = (np.bincount(classes, power, 7) for power in (weights, weights**2))
    sample = Sample.of(u, first, second)
    people = u[:, classes]
    mean = np.average(people, axis=1, weights=weights)
    assert sample.mean == pytest.approx(mean)
    assert sample.n == pytest.approx(weights.sum() ** 2 / (weights**2).sum())
    apart = (people - mean[:, None]) * weights
    expected = apart @ apart.T / weights.sum() ** 2 * sample.n / (sample.n - 1)
    assert sample.cov == pytest.approx(expected)
    assert sample.se == pytest.approx(np.sqrt(np.diagonal(expected)))


def test_a_combination_is_that_of_the_scores() -> None:
    rng = np.random.default_rng(2)
    u, counts = rng.normal(size=(2, 6)), rng.integers(1, 9, size=6).astype(float)
    sample = Sample.of(u, counts)
    both = sample.combined(np.array([[2.0, -3.0]]))
    assert both.mean[0] == pytest.approx(2 * sample.mean[0] - 3 * sample.mean[1])
    direct = Sample.of(np.array([2 * u[0] - 3 * u[1]]), counts)
    assert both.ends(0, 0.9) == pytest.approx(direct.ends(0, 0.9))


def test_limits_bound_scores_that_nobody_has() -> None:
    known = Sample.of(np.array([[0.0, 1.0]]), np.array([5.0, 5.0]), limits=(np.array([-2.0]), np.array([2.0])))
    narrow, wide = Sample.of(known.u, known.first).ends(0, 0.95), known.ends(0, 0.95)
    assert wide[0] < narrow[0] < narrow[1] < wide[1]
    turned = known.combined(np.array([[-1.5]]))
    assert (turned.range[0][0], turned.range[1][0]) == (-3.0, 3.0)


@pytest.mark.parametrize("k", [0, 1, 2, 3])
def test_forged_reports_move_an_average_as_far_as_any_choice_does(k: int) -> None:
    u, reports = np.array([-1.0, 0.5, 2.0]), [0, 1, 1, 2]
    sample = Sample.of(u[None], np.bincount(reports, minlength=3).astype(float))
    reached = [
        (sum(u[list(forged)]) + sum(u[reports[at]] for at in range(4) if at not in gone)) / 4
        for gone in itertools.combinations(range(4), k)
        for forged in itertools.product(range(3), repeat=k)
    ]
    down, up, note = sample.forged(0, k)
    assert (sample.mean[0] - down, sample.mean[0] + up, note) == (
        pytest.approx(min(reached)),
        pytest.approx(max(reached)),
        "",
    )


def test_forged_reports_keep_their_weights_and_sums_of_weights_give_a_bound() -> None:
    u, classes, weights = np.array([0.0, 1.0, 4.0]), np.array([0, 1, 2, 2, 0]), np.array([1.0, 3.0, 0.5, 2.0, 5.0])
    first, second = (np.bincount(classes, power, 3) for power in (weights, weights**2))
    known = Sample.of(u[None], first, second, each=(classes, weights))
    gains = sorted(weights * (4.0 - u[classes]), reverse=True)
    assert known.forged(0, 2)[1] == pytest.approx(sum(gains[:2]) / weights.sum())
    bound = Sample.of(u[None], first, second).forged(0, 2)
    assert bound[1] >= known.forged(0, 2)[1]
    assert bound[2] == "a bound: only sums of weights are known, not those of single reports"


def test_without_the_reports_forging_is_bounded_by_the_range_of_a_report() -> None:
    known = Averages(np.array([0.2]), np.array([0.01]), np.array([1.0]), 100.0, np.array([3.0]))
    found = known.answer((0.0, 1.0)).forged(10)
    assert found.low == pytest.approx(0.2 - 0.3)
    assert found.high == pytest.approx(0.5)
    assert found.note == "a bound: counts do not say which reports there were"


def test_one_report_has_no_error_but_an_interval() -> None:
    sample = Sample.of(np.array([[0.0, 1.0]]), np.array([1.0, 0.0]))
    answer = sample.answer((0.0, 1.0))
    assert math.isnan(answer.se)
    assert answer.ci().low == 0
    assert 0.9 < answer.ci().high < 1


def test_the_width_does_not_jump_where_there_are_fifty_reports() -> None:
    """It jumped 2.5-fold, from Hoeffding's bound to the normal law."""
    mechanism = bp.BRR(bp.Integers(0, 20), 4, edges="padded")
    widths = []
    for people in (49, 50):
        counts = np.zeros(len(mechanism.outputs), dtype=np.int64)
        counts[8:14] = people // 6
        counts[10] += people - counts.sum()
        low, high = bp.estimate(mechanism, counts=counts).ask("mean").ci()
        widths.append(high - low)
    assert widths[0] / widths[1] == pytest.approx(1, abs=0.1)


def test_means_of_a_hundred_reports_are_not_much_wider_than_their_error() -> None:
    """For a bell shape at ε = 3 they were 1.4 to 1.9 times as wide as the normal interval; 200 seeded samples."""
    mechanism = bp.recommend(bp.Integers(0, 72), 3, "mean").mechanism
    shares_ = np.exp(-(((np.arange(73) - 30) / 9) ** 2) / 2)
    law = mechanism.lottery.channel().forward(shares_ / shares_.sum())
    mean = float(np.arange(73) @ shares_ / shares_.sum())
    rng, ratios, held = np.random.default_rng(11), [], 0
    for _ in range(200):
        answer = bp.estimate(mechanism, counts=rng.multinomial(100, law / law.sum())).ask("mean")
        low, high = answer.ci()
        ratios.append((high - low) / (2 * 1.96 * answer.se))
        held += low <= mean <= high
    assert np.mean(ratios) < 1.25
    # At a coverage of 0.95, fewer than 180 of 200 have a probability of 0.0006.
    assert held >= 180


def test_the_scores_of_shares_come_close_to_the_efficient_error() -> None:
    """Fixed scores have twice the error for zero-inflated values at ε = 5; 300 seeded samples, so ±4 % each."""
    mechanism = bp.BRR(bp.Integers(0, 39), 5, m="cdf", edges="padded")
    matrix, x = mechanism.matrix(), np.arange(40)
    tail = np.exp(-(((np.log(x + 1) - np.log(2)) / 1) ** 2) / 2) / (x + 1)
    people = 0.66 * (x == 0) + 0.34 * tail / tail.sum()
    law = people @ matrix
    w = (x < 10).astype(float)
    best = math.sqrt((w @ np.linalg.solve((matrix / law) @ matrix.T, w) - (w @ people) ** 2) / 2000)
    rng, off = np.random.default_rng(3), {False: [], True: []}
    for _ in range(300):
        source = Outputs(mechanism, Tally.of_counts(rng.multinomial(2000, law / law.sum()), 2000))
        for fitted, found in off.items():
            found.append(float(source.sample(w[None], fitted=fitted).mean[0] - w @ people))
    errors = {fitted: math.sqrt(np.mean(np.square(found))) for fitted, found in off.items()}
    assert errors[True] < 1.15 * best
    assert errors[False] > 1.5 * best
    # Unbiased: the average of 300 lies within four standard errors.
    assert abs(np.mean(off[True])) < 4 * errors[True] / math.sqrt(300)


def test_cross_fitted_shares_add_up_to_one() -> None:
    mechanism = bp.BRR(bp.Integers(0, 19), 2, edges="padded")
    counts = np.random.default_rng(4).multinomial(500, np.full(len(mechanism.outputs), 1 / len(mechanism.outputs)))
    found = bp.estimate(mechanism, counts=counts, method="inverse").shares
    assert found.sum() == pytest.approx(1, abs=1e-9)


def _answer(value: float, low: float, high: float) -> Answer:
    return Answer(value, 1.0, lambda sure: ConfidenceInterval(low, high, sure, "a note"))


def test_the_interval_of_a_difference_combines_both() -> None:
    found = _answer(10, 7, 12) - _answer(4, 3, 8)
    assert found.value == 6
    assert found.ci() == pytest.approx((6 - math.hypot(3, 4), 6 + math.hypot(2, 1)))
    assert found.se == pytest.approx(math.sqrt(2))
    assert found.note == "a note"
    with pytest.raises(TypeError):
        found - 3  # type: ignore[operator]


def test_a_total_is_an_average_scaled() -> None:
    found = _answer(10, 7, 12) * 100
    assert (found.value, found.se, *found.ci()) == (1000, 100, 700, 1200)
    assert tuple((-1 * _answer(10, 7, 12)).ci()) == (-12, -7)


def test_a_p_value_is_where_the_interval_ends() -> None:
    def interval(sure: float) -> ConfidenceInterval:
        half = stats.norm.ppf((1 + sure) / 2)
        return ConfidenceInterval(2 - half, 2 + half, sure)

    answer = Answer(2.0, 1.0, interval)
    assert answer.p_value() == pytest.approx(2 * stats.norm.sf(2), rel=1e-2)
    assert answer.p_value(2.0) == 1
    assert answer.p_value(20.0) == pytest.approx(1e-12, rel=1e-2)
    assert math.isnan(Answer(math.nan, math.nan, interval).p_value())


def test_what_has_no_bound_says_so_and_k_is_checked() -> None:
    with pytest.raises(bp.errors.InputError, match="No bound is known on what forged reports can do to this answer"):
        _answer(1, 0, 2).forged(1)
    answer = shares(2, 4).answer((0.0, 1.0))
    for wrong in (-1, 1.5, "2"):
        with pytest.raises(bp.errors.InputError, match="Expected k as a whole number of at least 0"):
            answer.forged(wrong)  # type: ignore[arg-type]
