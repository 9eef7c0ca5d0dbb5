"""Shares by scores that are fitted to all other reports, against the definition, exact expectations and attacks."""

import itertools

import numpy as np
import pytest

from bipartite import BRR, GRR, Integers, SquareWave, estimate, forecast, insecure_seed
from bipartite.answers.estimation.linear import prepared

SMALL = BRR(Integers(0, 2), 1.5, m=3, edges="padded")
LINE = BRR(Integers(0, 31), 5, m="mean", edges="padded")
ADDED = 10


def matrix_of(mechanism):
    return mechanism.lottery.channel().forward(np.eye(len(mechanism.domain)))


def least_variance(matrix, weights, w):
    """Scores u with Pu = w and the least Σ weights·(u − b)² over u and b, as a regression on what P does not see."""
    start = np.linalg.pinv(matrix) @ w
    unseen = np.linalg.svd(matrix)[2][len(matrix) :].T
    x = np.column_stack([np.ones(len(start)), unseen])
    fitted = np.linalg.solve(x.T @ (weights[:, None] * x), x.T @ (weights * start))
    return start - unseen @ fitted[1:]


def two_spikes(size):
    shares = np.zeros(size)
    shares[size // 5], shares[4 * size // 5] = 0.65, 0.35
    return shares


def test_the_score_of_each_report_is_the_best_one_for_all_others():
    rng = np.random.default_rng(1)
    for mechanism in (SMALL, BRR(Integers(0, 8), 2, m=5, edges="padded"), SquareWave(Integers(0, 9), 2)):
        known, matrix = prepared(mechanism), matrix_of(mechanism)
        size, outputs = matrix.shape
        counts = rng.multinomial(60, rng.dirichlet(np.ones(outputs)))
        added = ADDED * (outputs - size + 1) * known.law
        for w in (np.eye(size)[1], (np.arange(size) <= 1) * 1.0, np.arange(size) ** 1.5):
            found = known.scores.fitted(counts).of(w)
            for output in np.flatnonzero(counts):
                others = counts - (np.arange(outputs) == output) + added
                assert found[output] == pytest.approx(least_variance(matrix, others, w)[output], abs=1e-8)


def test_shares_are_unbiased_exactly_also_when_weighted():
    """All ways in which three people can report."""
    known, matrix = prepared(SMALL), matrix_of(SMALL)
    shares = np.array([0.15, 0.6, 0.25])
    law = shares @ matrix
    found = np.zeros((2, 3))
    for reports in itertools.product(range(len(law)), repeat=3):
        u = known.scores.fitted(np.bincount(reports, minlength=len(law))).of(np.eye(3))[:, list(reports)]
        chance = np.prod(law[list(reports)])
        found += chance * np.array([u.mean(axis=1), u @ [0.2, 0.7, 0.1]])
    np.testing.assert_allclose(found, [shares, shares], atol=1e-12)


def test_moments_of_fitted_scores_are_those_of_the_scores():
    rng = np.random.default_rng(2)
    for mechanism in (SMALL, LINE, SquareWave(Integers(0, 9), 2)):
        size, outputs = matrix_of(mechanism).shape
        scores = prepared(mechanism).scores.fitted(rng.integers(0, 5, outputs))
        law = rng.dirichlet(np.ones(outputs))
        for moments, w in ((scores.shares(law), np.eye(size)), (scores.cumulative(law), np.tri(size))):
            u = scores.of(w)
            np.testing.assert_allclose(moments.mean, u @ law, atol=1e-9)
            np.testing.assert_allclose(moments.square, u**2 @ law, rtol=1e-9)
        np.testing.assert_allclose(scores.of(np.ones(size)), 1.0)


def test_ranges_are_sums_of_shares_and_all_shares_are_one():
    counts = np.random.default_rng(3).multinomial(2000, two_spikes(32) @ matrix_of(LINE))
    est = estimate(LINE, counts=counts, method="inverse")
    assert est.frequencies.sum() == pytest.approx(1)
    assert est.unbiased(("cdf", 11)).value == pytest.approx(est.frequencies[:12].sum())
    assert est.unbiased(("range", 5, 20)).value == pytest.approx(est.frequencies[5:21].sum())
    assert est.unbiased(("bin", 6)).value == pytest.approx(est.frequencies[6])
    assert est.standard_error(("bin", 6)) == pytest.approx(est.standard_errors[6])
    low, high = est.interval(of=("range", 5, 20))
    assert low <= est.unbiased(("range", 5, 20)).value <= high


def test_shares_are_as_certain_as_unbiased_ones_can_be_and_as_forecast():
    """An error from 400 surveys varies by 3.5 %, so that 1.25 is seven standard deviations away."""
    people, shares = 3000, two_spikes(32)
    law = shares @ matrix_of(LINE)
    w = np.concatenate([np.eye(32)[[4, 6, 15, 27]], np.tri(32)[[4, 15, 25]]])
    known, truth = prepared(LINE), w @ shares
    bound = np.sqrt((known.found.scores(law).of(w) - truth[:, None]) ** 2 @ law / people)
    all_counts = np.random.default_rng(4).multinomial(people, law, 400)
    fixed = all_counts @ known.scores.of(w).T / people - truth
    fitted = np.array([known.scores.fitted(counts).of(w) @ counts / people for counts in all_counts]) - truth
    before, after = (np.sqrt((off**2).mean(axis=0)) / bound for off in (fixed, fitted))
    assert before.max() > 1.5
    assert after.max() < 1.25
    assert abs(after.mean() - 1) < 0.1
    each = [estimate(LINE, counts=counts, method="inverse") for counts in all_counts[:20]]
    errors = np.mean([est.standard_errors**2 for est in each])
    assert np.sqrt(errors) == pytest.approx(forecast(LINE, people, "share", shares), rel=0.05)


def test_errors_for_the_people_who_answered_are_those_of_repeated_surveys():
    """An error from 400 surveys varies by 3.5 %."""
    rng, matrix = np.random.default_rng(5), matrix_of(LINE)
    held = np.array([600, 300])
    w = np.zeros(32)
    w[:7] = 1
    counts = rng.multinomial(held[0], matrix[6], 400) + rng.multinomial(held[1], matrix[25], 400)
    each = [estimate(LINE, counts=row, method="inverse", of_sample=True).unbiased(("cdf", 6)) for row in counts]
    off = np.sqrt(np.mean([(answer.value - 2 / 3) ** 2 for answer in each]))
    assert np.sqrt(np.mean([answer.standard_error**2 for answer in each])) == pytest.approx(off, rel=0.2)


def test_few_reports_and_mechanisms_without_a_choice_keep_fixed_scores():
    rng = np.random.default_rng(6)
    for mechanism, people in ((LINE, 49), (GRR(Integers(0, 31), 2), 5000)):
        est = estimate(mechanism, counts=rng.multinomial(people, two_spikes(32) @ matrix_of(mechanism)))
        up_to = (np.arange(32) <= 10) * 1.0
        assert est.unbiased(("cdf", 10)) == pytest.approx(est.unbiased(up_to))
    assert est.poisoning(5, ("bin", 6)).exact


@pytest.mark.parametrize("weighted", [False, True])
def test_no_forged_reports_move_a_share_past_its_bound(weighted):
    rng = np.random.default_rng(7)
    for seed in range(6):
        size, people = int(rng.integers(3, 20)), int(rng.integers(130, 200))
        mechanism = BRR(Integers(0, size - 1), float(rng.choice([0.5, 2, 5])), m=3, edges="padded")
        outputs = mechanism.outputs.to_numpy()
        people_at = rng.choice(size, people, p=rng.dirichlet(np.full(size, 0.3)))
        reports = np.asarray(mechanism.privatize(people_at, rng=insecure_seed(seed)))
        weights = rng.exponential(1, people) if weighted else None
        first, last = sorted(rng.integers(0, size, 2).tolist())
        est = estimate(mechanism, reports, weights=weights, method="inverse")
        for of in (("bin", first), ("cdf", first), ("range", first, last)):
            value = est.unbiased(of).value
            none = est.poisoning(0, of)
            assert (none.low, none.high) == pytest.approx((value, value), abs=1e-9)
            for k in (1, 5, people // 3, people):
                bound = est.poisoning(k, of)
                assert not bound.exact
                for _ in range(4):
                    forged = reports.copy()
                    # Those of one class that it pays to replace, or any, all by one output or two.
                    order = np.argsort(rng.random(people) + 9 * ((reports - reports[0]) % 3 == rng.integers(3)))
                    forged[order[:k]] = (
                        rng.choice(rng.choice(outputs, 2), k) if rng.random() < 0.5 else rng.choice(outputs)
                    )
                    moved = estimate(mechanism, forged, weights=weights, method="inverse").unbiased(of).value
                    assert bound.low - 1e-9 <= moved <= bound.high + 1e-9


def test_forged_reports_move_the_mean_by_what_is_known_exactly():
    counts = np.random.default_rng(8).multinomial(2000, two_spikes(32) @ matrix_of(LINE))
    est = estimate(LINE, counts=counts, method="inverse")
    assert est.poisoning(20).exact
    assert est.poisoning(20, (np.arange(32) <= 10) * 1.0).exact
    assert est.poisoning(20, ("cdf", 10)).high < 1.5
