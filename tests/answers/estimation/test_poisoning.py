"""How far forged reports can move an answer: attacked in many ways, never exceeded, and reached where it is exact."""

import itertools

import numpy as np
import pytest

import bipartite as bp
from bipartite.answers.estimation.rows import forging
from bipartite.mechanisms.categories.unary import PackedBits
from tests.plots.artists import words

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


def asked_of(mechanism):
    domain = mechanism.domain
    some = [("bin", domain.decode(1)), np.cos(np.arange(len(domain)))]
    if mechanism.flat:
        return ["mean", some[1]]
    return some if mechanism in SETS else ["mean", ("cdf", domain.decode(2)), *some]


@pytest.mark.grid(6)
@pytest.mark.parametrize("weighted", [False, True], ids=["alike", "weighted"])
@pytest.mark.parametrize("mechanism", EVERY, ids=named)
def test_exact_ends_are_reached_and_nothing_goes_beyond(mechanism, weighted):
    """The score of a report is what an estimate of two copies of it says; the worst forgery follows from it.

    With fewer than 50 reports all scores are fixed, so that shares have exact ends, too.
    """
    reports = true_reports(mechanism, 48, 1)
    rng = np.random.default_rng(7)
    weights = rng.choice([0.5, 1.0, 3.0], len(reports)) if weighted else np.ones(len(reports))
    given = {"weights": weights} if weighted else {}
    candidates = all_reports(mechanism)
    for of in asked_of(mechanism):

        def answer(forged, of=of, **given):
            return bp.estimate(mechanism, forged, method="inverse", **given).ask(of)

        scores = np.array([answer(np.stack([report, report])).value for report in candidates])
        table = {np.asarray(report).tobytes(): u for report, u in zip(candidates, scores, strict=True)}
        own = np.array([table[np.asarray(report).tobytes()] for report in reports])
        for k in (0, 1, 7, 48, 60):
            bound = answer(reports, **given).forged(k)
            hashed = isinstance(mechanism, bp.OLH)
            assert ("perhaps no hash function" in bound.note) if hashed else bound.note == ""
            for best, end, sign in ((scores.argmax(), bound.high, 1), (scores.argmin(), bound.low, -1)):
                worst = np.argsort(-weights * sign * (scores[best] - own), kind="stable")[:k]
                forged = reports.copy()
                forged[worst] = candidates[best]
                reached = answer(forged, **given).value
                assert (
                    sign * reached <= sign * end + 1e-9 if hashed else reached == pytest.approx(end, rel=1e-9, abs=1e-9)
                )
            for _ in range(5):
                forged = reports.copy()
                some = rng.choice(48, min(k, 48), replace=False)
                forged[some] = candidates[rng.integers(0, len(candidates), len(some))]
                assert bound.low - 1e-9 <= answer(forged, **given).value <= bound.high + 1e-9


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


@pytest.mark.grid(4)
@pytest.mark.parametrize("mechanism", EVERY, ids=named)
def test_no_attack_exceeds_a_bound(mechanism):
    reports, candidates = true_reports(mechanism, 80, 3), all_reports(mechanism)
    found = bp.estimate(mechanism, reports, method="inverse")
    rng = np.random.default_rng(4)
    for of in [each for each in asked_of(mechanism) if not isinstance(each, tuple)]:
        answer = found.ask(of)
        bound = answer.forged(5)
        assert bound.low <= answer.value <= bound.high

        def measure(forged, of=of):
            return bp.estimate(mechanism, forged, method="inverse").ask(of).value

        for sign in (1, -1):
            for moved in climbing(measure, reports, candidates, 5, rng, sign):
                assert bound.low - 1e-9 <= moved <= bound.high + 1e-9, (of, bound)


@pytest.mark.parametrize("mechanism", FLAT, ids=named)
def test_counts_alone_give_a_bound_that_holds_for_the_reports_behind_them(mechanism):
    reports = true_reports(mechanism, 60, 5)
    counted = bp.estimate(mechanism, counts=bp.Counts(mechanism).add(reports), method="inverse")
    for k in (1, 9, 60):
        exact, bound = bp.estimate(mechanism, reports).ask().forged(k), counted.ask().forged(k)
        assert "counts do not say which reports there were" in bound.note
        assert bound.low <= exact.low + 1e-9 and exact.high <= bound.high + 1e-9


def test_shares_that_are_fitted_have_the_ends_of_unbiased_ones_and_say_so():
    mechanism = LINES[0]
    found = bp.estimate(mechanism, true_reports(mechanism, 500, 1), method="em")
    assert "no bound is proved for the share that is shown" in found.ask(("bin", 3)).forged(5).note
    # The mean is unbiased, whatever the histogram is.
    assert found.ask().forged(5).note == ""


def test_quantiles_and_what_the_reports_do_not_tell_have_no_bound():
    clamped = bp.BRR(bp.Integers(18, 90), epsilon=1)
    blurred = bp.estimate(clamped, clamped.privatize([30] * 500, rng=bp.insecure_seed(1)))
    found = blurred.ask("mean").forged(5)
    assert found[:2] == (18, 90) and "the reports do not determine this answer" in found.note
    for of in ("median", "variance"):
        with pytest.raises(bp.errors.InputError, match="No bound is known on what forged reports can do"):
            blurred.ask(of).forged(5)
    assert forging(blurred) is None and "forged" not in blurred.summary()


def test_text_and_picture_tell_what_one_forged_report_in_a_hundred_could_do():
    mechanism = bp.GRR(bp.Integers(1, 5), epsilon=1)
    found = bp.estimate(mechanism, true_reports(mechanism, 5000, 1))
    answer = found.ask()
    low, high, _ = answer.forged(50)
    line = f"50 forged reports could move the mean by {max(high - answer.value, answer.value - low):.2g}"
    assert line in found.summary() and any(line in each for each in words(found.plot()))
    oue = FLAT[0]
    assert "by at most" in bp.estimate(oue, counts=bp.Counts(oue).add(true_reports(oue, 500, 1))).summary()
    letters = bp.estimate(SETS[0], true_reports(SETS[0], 300, 1))
    assert "3 forged reports could move the largest share by " in letters.summary()
    assert " percentage points" in letters.summary() and "percentage" not in found.summary()


@pytest.mark.parametrize("k", [-1, 2.5, True, None])
def test_a_number_of_reports_is_asked_for(k):
    with pytest.raises(bp.errors.InputError, match="whole number of at least 0"):
        bp.estimate(LINES[1], true_reports(LINES[1], 60, 1)).ask().forged(k)
