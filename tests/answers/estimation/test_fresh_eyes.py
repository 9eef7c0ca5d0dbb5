"""What a sceptical reader found; each of these failed when it was written."""

import numpy as np
import pytest

import bipartite as bp

SEED = bp.insecure_seed


def test_the_mean_of_two_flat_values_is_that_of_its_scores() -> None:
    mech = bp.OUE(bp.Integers(0, 1), epsilon=0.5)
    reports = mech.privatize([0] * 40 + [1] * 20, rng=SEED(1))
    est = bp.estimate(mech, reports, method="inverse")
    assert est.mean == pytest.approx(bp.scores(mech, reports).mean())
    assert est.ask(("bin", 0)).value == pytest.approx(est.shares[0])
    assert est.ask(("cdf", 0)).value == pytest.approx(est.cdf(0))


def test_two_weights_do_not_depend_on_rounding() -> None:
    mech = bp.BRR(bp.Integers(18, 90), epsilon=1, m="cdf", edges="padded")
    reports = mech.privatize([20, 25, 50, 35] * 500, rng=SEED(1))
    price = np.where(np.arange(18, 91) < 30, 5.0, 9.0)
    rounded = price + 1e-12 * (np.arange(73) == 0)
    est = bp.estimate(mech, reports)
    assert est.ask(price).value == pytest.approx(est.ask(rounded).value)


def test_one_report_does_not_determine_a_resultant_length() -> None:
    low, high = bp.estimate(bp.GRR(bp.Cyclic(12), epsilon=0.5), [0]).ask("resultant_length").ci()
    assert (low, high) == (0, 1)


def test_unequal_weights_widen_the_interval_of_a_mean() -> None:
    mech, rng = bp.GRR(bp.Integers(0, 10), epsilon=6), np.random.default_rng(4)
    weights, held = np.r_[np.full(40, 12.0), np.ones(960)], 0
    for seed in range(100):
        values = np.r_[rng.choice([0, 10], 40), np.full(960, 5)]
        low, high = bp.estimate(mech, mech.privatize(values, rng=SEED(seed)), weights=weights).ask("mean").ci()
        held += low <= 5 <= high
    assert held >= 88


def test_a_marginal_has_one_interval() -> None:
    mech = bp.GRR(bp.Product(bp.Integers(0, 1), bp.Integers(0, 1)), epsilon=2)
    joint = bp.estimate(mech, mech.privatize([(0, 1), (1, 1), (1, 0), (0, 0)] * 10, rng=SEED(1))).joint(
        names=("a", "b")
    )
    one, two = joint.marginal("a").ask(("bin", 0)).ci(), joint.ask(("where", {"a": 0})).ci()
    assert tuple(one) == pytest.approx(tuple(two))


def test_the_order_of_weighted_reports_does_not_matter() -> None:
    mech, rng = bp.Geometric(bp.Integers(5, 77), epsilon=1), np.random.default_rng(0)
    reports = mech.privatize(rng.integers(5, 40, 1000), rng=SEED(1))
    weights, order = rng.lognormal(0, 1, 1000), rng.permutation(1000)
    one, two = bp.estimate(mech, reports, weights=weights), bp.estimate(mech, reports[order], weights=weights[order])
    assert one.cdf(20) == pytest.approx(two.cdf(20), abs=1e-6)
