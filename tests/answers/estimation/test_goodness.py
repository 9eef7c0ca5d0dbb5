"""Whether reports can have come from their mechanism: no false alarms, and what is forged is found."""

import itertools
import math

import numpy as np
import pytest

import bipartite as bp
from bipartite.answers.estimation.goodness import FALSE_ALARM, fit_of_outputs
from tests.plots.artists import words

LINES = [
    bp.BRR(bp.Integers(18, 90), epsilon=1),
    bp.BRR(bp.Integers(1, 9), epsilon=2, edges="padded"),
    bp.GRR(bp.Integers(1, 5), epsilon=1),
    bp.Anchored(bp.Integers(0, 20), epsilon=2),
    bp.Geometric(bp.Integers(0, 10), epsilon=1),
    bp.Exponential(bp.Interval(0, 1, points=7), epsilon=1),
    bp.SquareWave(bp.Integers(0, 30), epsilon=1),
]
SETS = [
    bp.GRR(bp.Items(list("abcd"), loss=1 - np.eye(4)), epsilon=1),
    bp.BRR(bp.Points([[0, 0], [0, 1], [1, 0], [5, 5], [6, 5]]), epsilon=1),
]
VALUES = bp.Integers(1, 64)
FLAT = [
    bp.OUE(VALUES, 1),
    bp.SUE(VALUES, 1),
    bp.RAPPOR(VALUES, epsilon_permanent=2),
    bp.SubsetSelection(VALUES, 1),
    bp.OLH(VALUES, 1),
    bp.HadamardResponse(VALUES, 1),
]


def people(size, number, rng):
    """How people may be: all at an end or somewhere, at two values, anywhere, or unevenly."""
    return [
        np.full(number, 0),
        np.full(number, size // 3),
        rng.choice([0, size - 1], number),
        rng.integers(0, size, number),
        rng.choice(size, number, p=rng.dirichlet(np.full(size, 0.3))),
    ]


@pytest.mark.parametrize(("often", "most"), [(1, 34), pytest.param(4, 90, marks=pytest.mark.slow)])
def test_true_reports_are_never_said_to_be_impossible_and_p_values_are_not_too_small(often, most):
    """500 or 2,000 sets of true reports. p ≤ α at most with chance α each, by proof, so all of them pass α = 1e-6 but
    for a chance of 2e-3; at α = 0.02 at most 10 or 40 fail on average, and more than 34 or 90 do with a chance below
    1e-9."""
    rng = np.random.default_rng(0)
    found = []
    for mechanism in [*LINES, *SETS]:
        matrix = mechanism.matrix()
        for _ in range(10 * often):
            number = int(rng.choice([3, 30, 300, 3000]))
            for held in people(len(matrix), number, rng):
                counts = sum(rng.multinomial(each, matrix[x]) for x, each in enumerate(np.bincount(held)) if each)
                found.append(fit_of_outputs(mechanism, counts).p_value)
    for mechanism in FLAT[:-1]:
        for seed in range(often):
            for held in people(64, int(rng.choice([5, 100, 1000])), rng):
                reports = mechanism.privatize(held + 1, rng=bp.insecure_seed(len(found) + seed))
                found.append(bp.estimate(mechanism, reports).check.p_value)
                found.append(bp.estimate(mechanism, counts=bp.Counts(mechanism).add(reports)).check.p_value)
    assert len(found) >= 500 * often
    assert min(found) > FALSE_ALARM and sum(p <= 0.02 for p in found) <= most


@pytest.mark.grid(4)
@pytest.mark.parametrize("mechanism", [*LINES, *SETS])
def test_private_values_and_equal_reports_are_found(mechanism):
    size = len(mechanism.outputs)
    for number in (size // 2, 0):
        counts = np.zeros(size, dtype=np.int64)
        counts[number] = 1000
        found = bp.estimate(mechanism, counts=counts)
        assert found.check.p_value < FALSE_ALARM and "cannot have come from this mechanism" in found.check.doubt
        assert found.check.doubt in found.summary() and found.check.doubt == found.check.verdict


def test_private_values_that_were_never_randomised_are_found_by_their_shares():
    """No single age comes too often, but together they are not what BRR gives."""
    rng = np.random.default_rng(1)
    ages = np.clip(rng.normal(50, 10, 600).round().astype(int), 18, 90)
    found = bp.estimate(bp.BRR(bp.Integers(18, 90), epsilon=1), ages)
    assert found.check.statistic > 100 and found.check.degrees_of_freedom == 15
    assert found.check.p_value < FALSE_ALARM and "no population gives these shares of outputs" in found.check.doubt
    assert f"p ≤ {found.check.p_value:.3g}" in str(found.check)
    # Reports read with another spec, too.
    reports = bp.BRR(bp.Integers(18, 90), epsilon=5).privatize(ages, rng=bp.insecure_seed(1))
    assert bp.estimate(bp.BRR(bp.Integers(18, 90), epsilon=1), reports).check.doubt


@pytest.mark.grid(3)
@pytest.mark.parametrize(
    # Subset Selection refuses such a report: its sets are all of one size.
    "mechanism",
    [each for each in FLAT if not isinstance(each, bp.SubsetSelection)],
    ids=lambda each: type(each).__name__,
)
def test_one_forged_report_in_a_hundred_that_supports_everything_is_found(mechanism):
    rng = np.random.default_rng(2)
    reports = mechanism.privatize(rng.choice([3, 40], 10_000), rng=bp.insecure_seed(2))
    assert bp.estimate(mechanism, reports).check.doubt == ""
    assert bp.estimate(mechanism, counts=bp.Counts(mechanism).add(reports)).check.doubt == ""
    forged = reports.copy()
    forged[:100] = 255 if reports.dtype == np.uint8 else 0
    found = bp.estimate(mechanism, forged, method="inverse")
    assert found.shares.sum() > 2
    for each in (
        found,
        bp.estimate(mechanism, counts=bp.Counts(mechanism).add(forged)),
        bp.estimate(mechanism, forged, weights=rng.choice([0.5, 2.0], len(forged))),
    ):
        assert each.check.p_value < FALSE_ALARM, each.check
        assert each.check.doubt in each.summary()
    # And a report that came a thousand times.
    for each in (0, 7):
        assert bp.estimate(mechanism, np.repeat(reports[each : each + 1], 1000, axis=0)).check.doubt


def test_a_thousand_reports_of_all_bits_among_a_hundred_thousand_are_found_from_counts_alone():
    mechanism = bp.OUE(bp.Integers(1, 100), epsilon=1)
    counts = bp.Counts(mechanism).add(mechanism.privatize([5, 50] * 49_500, rng=bp.insecure_seed(1)))
    counts.values += 1000
    counts.n += 1000
    found = bp.estimate(mechanism, counts=counts, method="inverse")
    assert found.shares.sum() > 3 and "instead of 1" in found.check.doubt


def test_weights_hide_nothing():
    clamped = bp.BRR(bp.Integers(18, 90), epsilon=1)
    weighted = bp.estimate(clamped, [20] * 200, weights=[0.5, 1.5] * 100)
    assert "one value is 100.00% of them, but should be at most 2.28% for any population" in weighted.check.doubt


def test_outputs_that_are_too_many_to_look_at_one_by_one_are_tested_together():
    mechanism = bp.Geometric(bp.Integers(0, 2000), epsilon=1)
    rng = np.random.default_rng(3)
    noise = rng.geometric(1 - math.exp(-1 / 2000), 4000) - rng.geometric(1 - math.exp(-1 / 2000), 4000)
    true = np.clip(rng.integers(0, 2001, 4000) + noise, 0, 2000)
    assert fit_of_outputs(mechanism, np.bincount(true, minlength=2001)).doubt == ""
    assert fit_of_outputs(mechanism, np.where(np.arange(2001) == 7, 4000, 0)).doubt


def test_pairs_of_reports_are_tested_together():
    record = bp.Record({"age": bp.BRR(bp.Integers(1, 5), 2, edges="padded"), "car": bp.GRR(bp.Integers(0, 1), 2)})
    reports = record.privatize({"age": [2, 4] * 1000, "car": [0, 1] * 1000}, rng=bp.insecure_seed(1))
    joint = bp.estimate(record, reports).joint(*record.mechanisms)
    assert joint.check.p_value > FALSE_ALARM and joint.check.doubt == ""
    copied = {name: np.repeat(np.asarray(column)[:1], 500) for name, column in reports.items()}
    forged = bp.estimate(record, copied).joint(*record.mechanisms)
    assert forged.check.doubt and forged.check.doubt in forged.summary()


def divergence(counts, law):
    seen = counts > 0
    return float((counts[seen] * np.log(counts[seen] / (counts.sum() * law[seen]))).sum())


@pytest.mark.parametrize("laws", [[0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 1, 1, 2], [0, 1, 2, 0, 1, 2, 1]])
def test_the_bound_on_likelihood_ratios_holds_for_people_of_different_values(laws):
    """All outcomes of 7 reports of 3 outputs, with their chances: E exp(λ·n·KL) ≤ (1 − λ)^−2, and so does the tail."""
    rows = np.array([[0.7, 0.2, 0.1], [0.05, 0.05, 0.9], [0.3, 0.6, 0.1]])[laws]
    mean = rows.mean(axis=0)
    outcomes = {}
    for each in itertools.product(range(3), repeat=len(laws)):
        key = tuple(np.bincount(each, minlength=3))
        outcomes[key] = outcomes.get(key, 0.0) + math.prod(rows[range(len(laws)), each])
    far = {key: divergence(np.array(key, dtype=float), mean) for key in outcomes}
    for share in (0.1, 0.5, 0.9, 0.99):
        moment = math.fsum(chance * math.exp(share * far[key]) for key, chance in outcomes.items())
        assert moment <= (1 - share) ** -2
    for least in sorted(set(far.values())):
        tail = math.fsum(chance for key, chance in outcomes.items() if far[key] >= least)
        assert tail <= (1 if least <= 2 else math.exp(-least) * (math.e * least / 2) ** 2) + 1e-12


def test_the_likelihood_ratio_is_never_above_that_of_the_most_likely_people():
    """Against 3,000 steps of EM, which come as near to the top as matters."""
    rng = np.random.default_rng(5)
    for mechanism in LINES[1:3]:
        operator, size = mechanism.lottery.channel(), len(mechanism.outputs)
        for _ in range(4):
            counts = rng.multinomial(500, rng.dirichlet(np.full(size, 0.5)))
            f = np.full(operator.inputs, 1 / operator.inputs)
            for _ in range(3000):
                law = operator.forward(f)
                f *= operator.backward(counts / law) / counts.sum()
            found = fit_of_outputs(mechanism, counts)
            most = divergence(counts.astype(float), operator.forward(f))
            assert found.statistic is None or found.statistic <= 2 * most + 1e-6


def test_the_bound_of_a_single_output_is_that_of_a_binomial_law():
    """Against exact tails in whole numbers: what is doubted has a chance below 1e-6 at the largest share possible."""
    mechanism = bp.GRR(bp.Integers(1, 2), epsilon=1)
    near = mechanism.matrix()[0, 0]
    number = 200
    doubted = [
        count for count in range(number + 1) if bp.estimate(mechanism, counts=[count, number - count]).check.doubt
    ]
    tails = [
        math.fsum(math.comb(number, k) * near**k * (1 - near) ** (number - k) for k in range(count, number + 1))
        for count in range(number + 1)
    ]
    assert number in doubted and 100 not in doubted
    assert all(min(tails[count], tails[number - count]) < FALSE_ALARM / 2 for count in doubted)
    # And it is not much too cautious: what has a chance below 1e-9 is doubted.
    assert all(count in doubted for count in range(number + 1) if tails[max(count, number - count)] < 1e-9)


def test_what_is_needed_of_a_mechanism_is_found_once_for_all_groups(monkeypatch):
    mechanism = bp.Exponential(bp.Integers(0, 12), epsilon=0.7)
    asked = []
    matrix = type(mechanism).matrix
    monkeypatch.setattr(type(mechanism), "matrix", lambda self: asked.append(1) or matrix(self))
    reports = mechanism.privatize([3, 9] * 300, rng=bp.insecure_seed(1))
    found = bp.estimate(mechanism, reports, by=["a", "b", "c"] * 200, method="inverse")
    before = len(asked)
    assert [each.check.doubt for each in found.values()] == [""] * 3 and len(asked) - before <= 2


def test_pictures_say_that_reports_cannot_be():
    found = bp.estimate(LINES[0], [20] * 1000)
    assert any("these reports cannot have come from this mechanism" in each for each in words(found.plot()))
