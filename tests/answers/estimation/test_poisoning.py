"""How far forged reports can move an answer: attacked in many ways, never exceeded, and reached where it is exact."""

import itertools

import numpy as np
import pytest

import bipartite as bp
from bipartite.answers.estimation import forged_supports
from bipartite.answers.estimation.estimating import How, from_tally
from bipartite.answers.estimation.tally import Tally
from bipartite.mechanisms.categories.unary import PackedBits

LINES = [
    bp.BRR(bp.Integers(1, 9), epsilon=2, edges="padded"),
    bp.GRR(bp.Integers(1, 5), epsilon=1),
    bp.Geometric(bp.Integers(0, 6), epsilon=1),
    bp.Exponential(bp.Interval(0, 1, points=7), epsilon=1),
    bp.SquareWave(bp.Integers(0, 8), epsilon=1),
]
SETS = [bp.GRR(bp.Items(list("abcd"), loss=1 - np.eye(4)), epsilon=1)]
VALUES = bp.Integers(1, 5)
FLAT = [
    bp.OUE(VALUES, 1),
    bp.SUE(VALUES, 1),
    bp.RAPPOR(VALUES, epsilon_permanent=2),
    bp.SubsetSelection(VALUES, 1, k=2),
    bp.OLH(VALUES, 1, buckets=3),
    bp.HadamardResponse(VALUES, 1),
]
EVERY = [*LINES, *SETS, *FLAT]


def named(mechanism):
    return type(mechanism).__name__


def all_reports(mechanism):
    """Every report that the mechanism has, as an array."""
    if isinstance(mechanism.draw, PackedBits):
        bits = np.array(list(itertools.product([0, 1], repeat=len(mechanism.domain))), dtype=np.uint8)
        if isinstance(mechanism, bp.SubsetSelection):
            bits = bits[bits.sum(axis=1) == mechanism.k]
        return np.packbits(bits, axis=1, bitorder="little")
    if isinstance(mechanism, bp.OLH):
        g = mechanism.buckets
        seeds = g**2  # two digits in base 3 for five values
        return np.array([(seed, bucket) for seed in range(seeds) for bucket in range(g)], dtype=np.uint64)
    if isinstance(mechanism, bp.HadamardResponse):
        return np.arange(mechanism.numbers, dtype=np.uint32)
    return mechanism.outputs.to_numpy()


def true_reports(mechanism, number, seed):
    rng = np.random.default_rng(seed)
    domain = mechanism.domain
    held = [domain.decode(int(at)) for at in rng.choice([0, 1, len(domain) - 1], number)]
    return np.asarray(mechanism.privatize(held, rng=bp.insecure_seed(seed)))


def answer(estimate, of):
    if isinstance(of, str):
        return getattr(estimate, of)
    if isinstance(of, tuple) and of[0] == "bin":
        return float(estimate.shares[estimate.mechanism.domain.encode(of[1])])
    if isinstance(of, tuple) and of[0] == "cdf":
        return estimate.cdf(of[1])
    return estimate.ask(of).value


def asked_of(mechanism):
    domain = mechanism.domain
    some = [("bin", domain.decode(1)), np.cos(np.arange(len(domain)))]
    return some if mechanism in SETS else ["mean", ("cdf", domain.decode(2)), *some]


@pytest.mark.grid(6)
@pytest.mark.parametrize("weighted", [False, True], ids=["alike", "weighted"])
@pytest.mark.parametrize("mechanism", EVERY, ids=named)
def test_exact_ends_are_reached_and_nothing_goes_beyond(mechanism, weighted):
    """The score of a report is what an estimate of two copies of it says; the worst forgery follows from it.

    With fewer than 50 reports all scores are fixed; bounds for fitted ones are attacked in ``test_fitted_scores``.
    """
    reports = true_reports(mechanism, 48, 1)
    rng = np.random.default_rng(7)
    weights = rng.choice([0.5, 1.0, 3.0], len(reports)) if weighted else np.ones(len(reports))
    given = {"weights": weights} if weighted else {}
    candidates = all_reports(mechanism)
    for of in asked_of(mechanism):

        def score(report, of=of):
            return answer(bp.estimate(mechanism, np.stack([report, report]), method="inverse"), of)

        scores = np.array([score(report) for report in candidates])
        table = {np.asarray(report).tobytes(): u for report, u in zip(candidates, scores, strict=True)}
        own = np.array([table[np.asarray(report).tobytes()] for report in reports])
        found = bp.estimate(mechanism, reports, method="inverse", **given)
        for k in (0, 1, 7, 48):
            bound = found.ask(of).forged(k)
            assert bound.exact, bound
            assert bound.value == pytest.approx(answer(found, of), rel=1e-12, abs=1e-12)
            for best, end, sign in ((scores.argmax(), bound.high, 1), (scores.argmin(), bound.low, -1)):
                worst = np.argsort(-weights * sign * (scores[best] - own), kind="stable")[:k]
                forged = reports.copy()
                forged[worst] = candidates[best]
                reached = answer(bp.estimate(mechanism, forged, method="inverse", **given), of)
                assert reached == pytest.approx(end, rel=1e-12, abs=1e-12)
            for _ in range(5):
                forged = reports.copy()
                forged[rng.choice(48, k, replace=False)] = candidates[rng.integers(0, len(candidates), k)]
                moved = answer(bp.estimate(mechanism, forged, method="inverse", **given), of)
                assert bound.low - 1e-9 <= moved <= bound.high + 1e-9


def climbing(measure, reports, candidates, k, rng, sign):
    """Replace reports one after the other, each by what helps most of some tries; then by one report for all."""
    for best in candidates[rng.permutation(len(candidates))[:12]]:
        forged = reports.copy()
        forged[rng.choice(len(reports), k, replace=False)] = best
        yield measure(forged)
    forged, reached = reports.copy(), sign * measure(reports)
    free = rng.permutation(len(reports))[:k]
    for at in free:
        tries = []
        for report in candidates[rng.integers(0, len(candidates), 4)]:
            other = forged.copy()
            other[at] = report
            tries.append((sign * measure(other), len(tries), other))
        best = max(tries)
        if best[0] > reached:
            reached, forged = best[0], best[2]
        yield sign * reached


@pytest.mark.grid(6)
@pytest.mark.parametrize("method", ["inverse", "projected"])
@pytest.mark.parametrize("mechanism", EVERY, ids=named)
def test_no_attack_exceeds_a_bound(mechanism, method):
    reports, candidates = true_reports(mechanism, 80, 3), all_reports(mechanism)
    found = bp.estimate(mechanism, reports, method=method)
    rng = np.random.default_rng(4)
    asked = asked_of(mechanism) + ([] if mechanism in SETS else ["median", "variance"])
    for of in asked:
        bound = found.ask(of).forged(5)
        assert bound.low <= bound.value <= bound.high

        def measure(forged, of=of):
            return answer(bp.estimate(mechanism, forged, method=method), of)

        for sign in (1, -1):
            for moved in climbing(measure, reports, candidates, 5, rng, sign):
                assert bound.low - 1e-9 <= moved <= bound.high + 1e-9, (of, bound)


@pytest.mark.parametrize("mechanism", FLAT, ids=named)
def test_counts_alone_give_a_bound_that_holds_for_the_reports_behind_them(mechanism):
    reports = true_reports(mechanism, 60, 5)
    whole, counted = (
        bp.estimate(mechanism, reports, method="inverse"),
        bp.estimate(mechanism, counts=bp.Counts(mechanism).add(reports), method="inverse"),
    )
    for of in asked_of(mechanism):
        for k in (1, 9, 60):
            exact, bound = whole.ask(of).forged(k), counted.ask(of).forged(k)
            assert bound.low <= exact.low + 1e-12 and exact.high <= bound.high + 1e-12
            assert bound.exact or "counts do not say" in bound.note


def test_sums_of_weights_give_a_bound_that_holds_for_the_reports_behind_them():
    mechanism = LINES[0]
    reports = true_reports(mechanism, 200, 6)
    weights = np.random.default_rng(1).choice([0.2, 1.0, 5.0], 200)
    whole = bp.estimate(mechanism, reports, weights=weights, method="inverse")
    indices = np.array([mechanism.outputs.encode(report) for report in reports.tolist()])
    held = Tally.of_weights(indices, weights, len(mechanism.outputs))
    sums = Tally(held.first, held.second, held.people, held.counts, None)
    bounded = from_tally(mechanism, sums, How("inverse"))
    for k in (1, 10, 200):
        exact, bound = whole.ask().forged(k), bounded.ask().forged(k)
        assert exact.exact and not bound.exact
        assert bound.low <= exact.low + 1e-12 and exact.high <= bound.high + 1e-12


def test_what_is_fitted_has_no_proved_bound_and_says_so():
    mechanism = LINES[0]
    found = bp.estimate(mechanism, true_reports(mechanism, 500, 1), method="em")
    for of, ends in ((("bin", 3), (0, 1)), ("median", (1, 9))):
        bound = found.ask(of).forged(5)
        assert (bound.low, bound.high) == ends and not bound.exact and "no bound is proved" in bound.note
    # The mean is unbiased, whatever the histogram is.
    assert found.ask().forged(5).exact
    clamped = bp.BRR(bp.Integers(18, 90), epsilon=1)
    bound = bp.estimate(clamped, clamped.privatize([30] * 500, rng=bp.insecure_seed(1))).ask().forged(5)
    assert (bound.low, bound.high, bound.exact) == (18, 90, False) and "do not determine this answer" in bound.note


def test_text_and_picture_tell_what_one_forged_report_in_a_hundred_could_do():
    mechanism = bp.GRR(bp.Integers(1, 5), epsilon=1)
    found = bp.estimate(mechanism, true_reports(mechanism, 5000, 1))
    bound = found.ask().forged(50)
    line = f"50 forged reports could move the mean by {bound.farthest:.2g}"
    assert line in found.summary() and line in str(found.plot())
    assert str(bound).startswith("50 forged reports could turn ")
    oue = FLAT[0]
    wide = bp.estimate(oue, true_reports(oue, 500, 1))
    assert "even all of them" in wide.ask().forged(5).note
    assert "by at most" in bp.estimate(oue, counts=bp.Counts(oue).add(true_reports(oue, 500, 1))).summary()
    letters = bp.estimate(SETS[0], true_reports(SETS[0], 300, 1))
    assert "3 forged reports could move the largest share by " in letters.summary()
    assert " percentage points" in letters.summary() and "percentage" not in found.summary()


def test_the_tipping_point_is_the_least_number_that_leaves_the_interval():
    mechanism = LINES[1]
    found = bp.estimate(mechanism, true_reports(mechanism, 3000, 2))
    tip = found.tipping_point()
    low, high = found.ask().ci()
    before, at = found.ask().forged(tip - 1), found.ask().forged(tip)
    assert low <= before.low and before.high <= high and (at.low < low or at.high > high)
    assert found.tipping_point(of=("bin", 3)) > 0


@pytest.mark.parametrize("k", [-1, 61, 2.5, True, None])
def test_a_number_of_reports_is_asked_for(k):
    with pytest.raises(bp.errors.InputError, match="whole number from 0 to 60"):
        bp.estimate(LINES[1], true_reports(LINES[1], 60, 1)).ask().forged(k)


def test_a_quantile_of_many_categories_is_bounded_without_looking_at_every_report(monkeypatch):
    """The bound from counts is wider, and takes no minutes with 2,000 values."""
    mech = bp.OLH(bp.Integers(1, 30), 1)
    found = bp.estimate(mech, mech.privatize([9] * 2000 + [20] * 900, rng=bp.insecure_seed(4)), method="inverse")
    near = found.ask("median").forged(20)
    monkeypatch.setattr("bipartite.answers.estimation.poisoning._MOST_LOOKED_AT", 0)
    far = found.ask("median").forged(20)
    assert far.low <= near.low <= found.median <= near.high <= far.high and not far.exact


def test_one_report_has_no_variance_to_move():
    mechanism = bp.BRR(bp.Integers(0, 9), 1, edges="padded")
    found = bp.estimate(mechanism, [3]).ask("variance").forged(1)
    assert np.isnan(found.value) and (found.low, found.high) == (0, 20.25) and "one report" in found.note


def test_a_tipping_point_looks_at_every_report_once_for_each_answer(monkeypatch):
    """Not once for each number of forged reports that is tried: with 2,000 values that took a minute."""
    mech = bp.OLH(bp.Integers(1, 30), 1)
    est = bp.estimate(mech, mech.privatize([3] * 200 + [20] * 300, rng=bp.insecure_seed(3)))
    expected = {of: est.tipping_point(of=of) for of in ("mean", ("cdf", 10))}
    seen = []

    sums_of = forged_supports._sums_of
    monkeypatch.setattr(forged_supports, "_sums_of", lambda *asked: seen.append(asked) or sums_of(*asked))
    est = bp.estimate(mech, mech.privatize([3] * 200 + [20] * 300, rng=bp.insecure_seed(3)))
    assert {of: est.tipping_point(of=of) for of in expected} == expected
    assert len(seen) == len(expected)
    # Another question in between changes nothing.
    assert est.ask(("cdf", 10)).forged(5).high < 1.5 and est.ask().forged(5).high == est.ask().forged(5).high > 2
