"""Shares by scores that are fitted to the other half of the reports: unbiased, and as certain as they can be."""

import numpy as np
import pytest

from bipartite import BRR, GRR, Integers, estimate
from bipartite.answers.estimation.source import prepared

LINE = BRR(Integers(0, 31), 5, m="mean", edges="padded")


def matrix_of(mechanism):
    return mechanism.lottery.channel().forward(np.eye(len(mechanism.domain)))


def two_spikes(size):
    shares = np.zeros(size)
    shares[size // 5], shares[4 * size // 5] = 0.65, 0.35
    return shares


def test_ranges_are_sums_of_shares_and_all_shares_are_one():
    counts = np.random.default_rng(3).multinomial(2000, two_spikes(32) @ matrix_of(LINE))
    est = estimate(LINE, counts=counts, method="inverse")
    assert est.shares.sum() == pytest.approx(1)
    assert est.ask(("cdf", 11)).value == pytest.approx(est.shares[:12].sum())
    assert est.ask(("range", 5, 20)).value == pytest.approx(est.shares[5:21].sum())
    assert est.ask(("bin", 6)).value == pytest.approx(est.shares[6])
    assert est.ask(("bin", 6)).se == pytest.approx(est.to_frame()["se"].to_numpy()[6])
    low, high = est.ask(("range", 5, 20)).ci()
    assert low <= est.ask(("range", 5, 20)).value <= high


def test_shares_are_unbiased_and_as_certain_as_unbiased_ones_can_be():
    """From 200 surveys: an error varies by 5 %, so that 1.35 is seven standard deviations."""
    people, shares = 3000, two_spikes(32)
    law = shares @ matrix_of(LINE)
    asked = [("bin", 4), ("bin", 6), ("bin", 15), ("bin", 27), ("cdf", 4), ("cdf", 15), ("cdf", 25)]
    w = np.concatenate([np.eye(32)[[4, 6, 15, 27]], np.tri(32)[[4, 15, 25]]])
    known, truth = prepared(LINE), w @ shares
    bound = np.sqrt((known.found.scores(law).of(w) - truth[:, None]) ** 2 @ law / people)
    all_counts = np.random.default_rng(4).multinomial(people, law, 200)
    fixed = all_counts @ known.scores.of(w).T / people - truth
    found = [[estimate(LINE, counts=counts, method="inverse").ask(of) for of in asked] for counts in all_counts]
    fitted = np.array([[answer.value for answer in row] for row in found]) - truth
    before, after = (np.sqrt((off**2).mean(axis=0)) / bound for off in (fixed, fitted))
    assert before.max() > 1.5
    assert after.max() < 1.35 and after.mean() < 1.15
    assert (np.abs(fitted.mean(axis=0)) < 6 * bound * after / np.sqrt(200)).all()
    told = np.sqrt(np.mean([[answer.se**2 for answer in row] for row in found], axis=0))
    assert told / bound == pytest.approx(after, rel=0.25)


def test_few_reports_and_mechanisms_without_a_choice_keep_fixed_scores():
    rng = np.random.default_rng(6)
    for mechanism, people in ((LINE, 49), (GRR(Integers(0, 31), 2), 5000)):
        counts = rng.multinomial(people, two_spikes(32) @ matrix_of(mechanism))
        est = estimate(mechanism, counts=counts, method="inverse")
        expected = prepared(mechanism).scores.of(np.tri(32)[10:11]) @ counts / people
        assert est.ask(("cdf", 10)).value == pytest.approx(expected[0])


def test_the_same_share_asked_in_four_forms_has_one_answer_and_one_interval():
    counts = np.random.default_rng(3).multinomial(2000, two_spikes(32) @ matrix_of(LINE))
    for method in ("inverse", "projected", "em", "smooth"):
        est = estimate(LINE, counts=counts, method=method)
        forms = [("cdf", 10), ("range", 0, 10), np.arange(32) <= 10, [1.0] * 11 + [0.0] * 21]
        answers = [est.ask(of) for of in forms]
        for answer in answers[1:]:
            assert answer.value == pytest.approx(answers[0].value, abs=1e-12)
            assert answer.ci() == pytest.approx(answers[0].ci(), abs=1e-12) and answer.se == answers[0].se
        # Scaled and shifted, as a weight of 3 and of 1: 1 + 2·share.
        wide = est.ask([3.0] * 11 + [1.0] * 21)
        assert wide.value == pytest.approx(1 + 2 * answers[0].value)
        assert wide.ci() == pytest.approx([1 + 2 * end for end in answers[0].ci()])
