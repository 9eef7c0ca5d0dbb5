"""Answers about two attributes, from two reports a person or from one about the pair: one language, one truth."""

import itertools
import math

import numpy as np
import pytest

import bipartite as bp
from bipartite.answers.estimation.estimating import from_tally
from bipartite.answers.estimation.tally import Tally
from tests.answers.estimation.test_joint import from_law

NAMES = ("age", "car")
AGES, CARS = np.arange(1.0, 4), np.arange(2.0)
SHARES = np.array([[0.3, 0.05], [0.2, 0.15], [0.1, 0.2]])
BY_AGE, BY_CAR = SHARES.sum(axis=1), SHARES.sum(axis=0)
SPREADS = [BY_AGE @ AGES**2 - (BY_AGE @ AGES) ** 2, BY_CAR @ CARS**2 - (BY_CAR @ CARS) ** 2]
COVARIANCE = AGES @ SHARES @ CARS - (AGES @ BY_AGE) * (CARS @ BY_CAR)
CORRELATION = COVARIANCE / math.sqrt(math.prod(SPREADS))


def pairs_of(ages=3, cars=2):
    return bp.Product(bp.Integers(1, ages), bp.Integers(0, cars - 1))


def two_reports(seen):
    """The estimate when pairs of reports come exactly as often as this law says."""
    return from_law(*RECORD.mechanisms.values(), seen)


def one_report(seen, people=10**12):
    """The same for reports about pairs."""
    return from_tally(PAIR, Tally.of_counts(people * seen, people), "inverse").joint(names=NAMES)


RECORD = bp.Record({"age": bp.BRR(bp.Integers(1, 3), 2, m=3, edges="padded"), "car": bp.GRR(bp.Integers(0, 1), 2)})
PAIR = bp.GRR(pairs_of(), 1)
FROM_LAW = {"two reports": two_reports, "one report": one_report}
MATRIX = {
    "two reports": np.kron(*(each.matrix() for each in RECORD.mechanisms.values())),
    "one report": PAIR.matrix(),
}
both_ways = pytest.mark.parametrize("way", FROM_LAW)


@both_ways
def test_the_covariance_is_exactly_unbiased_even_from_three_people(way):
    shares = np.array([0.5, 0.1, 0.15, 0.25])
    if way == "one report":
        mech = bp.GRR(pairs_of(2), epsilon=1)
        matrix, outputs = mech.matrix(), mech.outputs.to_numpy()
    else:
        mech = bp.Record({"a": bp.GRR(bp.Integers(0, 1), epsilon=1), "b": bp.GRR(bp.Integers(0, 1), epsilon=2)})
        matrix, outputs = np.kron(*(each.matrix() for each in mech.mechanisms.values())), None
    expected = 0.0
    for drawn in itertools.product(range(4), repeat=3):
        at = np.array(drawn)
        reports = {"a": at // 2, "b": at % 2} if outputs is None else outputs[at]
        est = bp.estimate(mech, reports, method="inverse")
        joint = est.joint() if outputs is not None else est.joint("a", "b")
        expected += math.prod((shares @ matrix)[at]) * joint.ask("covariance").value
    assert expected == pytest.approx(0.25 - 0.4 * 0.35, abs=1e-9)


@both_ways
def test_with_expected_counts_every_answer_is_the_truth(way):
    joint = FROM_LAW[way](SHARES.ravel() @ MATRIX[way])
    assert np.allclose(joint.shares, SHARES, atol=1e-9)
    assert joint.ask("covariance").value == pytest.approx(COVARIANCE, abs=1e-9)
    assert joint.ask("correlation").value == pytest.approx(CORRELATION, abs=1e-9)
    for car in (0, 1):
        of = ("mean", "age", {"car": car})
        assert joint.ask(of).value == pytest.approx(AGES @ SHARES[:, car] / BY_CAR[car], abs=1e-8)
    some, same = joint.ask(("mean", "car", {"age": [2, 3]})), joint.ask(("mean", "car", {"age": ("range", 2, 3)}))
    assert some.value == pytest.approx(SHARES[1:, 1].sum() / BY_AGE[1:].sum(), abs=1e-8)
    assert (some.value, some.se, some.ci()) == (same.value, same.se, same.ci())
    if way == "one report":
        age = joint.marginal("age")
        assert age.mean == pytest.approx(AGES @ BY_AGE, abs=1e-9)
        assert age.ask("variance").value == pytest.approx(SPREADS[0], abs=1e-9)
        assert np.allclose(age.shares, BY_AGE, atol=1e-9) and age.median == 2
        assert joint.marginal("car").ask(("bin", 1)).value == pytest.approx(BY_CAR[1], abs=1e-9)


@both_ways
def test_errors_are_the_slopes_of_the_answers(way):
    """The standard error of a smooth answer of the law of reports is that of its influence, here by differences."""
    seen, estimate = SHARES.ravel() @ MATRIX[way], FROM_LAW[way]
    for of in ("correlation", "covariance", ("mean", "age", {"car": 1})):
        steps = 1e-5 * (np.eye(len(seen)) - seen)
        ends = [(estimate(seen + step).ask(of).value, estimate(seen - step).ask(of).value) for step in steps]
        slopes = np.diff(ends, axis=1)[:, 0] / -2e-5
        error = math.sqrt(seen @ (slopes - seen @ slopes) ** 2)
        assert estimate(seen).ask(of).se * 1e6 == pytest.approx(error, rel=1e-4)


# 300 samples: intervals that cover 95 % miss 45 times or more with chance 6e-11, so one of 30 raises a false alarm with
# chance below 1e-8. With half the width about 67 % hold, and 256 of 300 with chance below 1e-12.
@pytest.mark.grid(2)
@pytest.mark.parametrize("mechanism", [RECORD, bp.SubsetSelection(pairs_of(), 2), bp.GRR(pairs_of(), 2)], ids=str)
@pytest.mark.parametrize("people", [300, 5000])
def test_intervals_hold_the_truth_as_often_as_they_say(mechanism, people):
    truth = [SHARES[0, 1], SHARES[1:, 1].sum(), CORRELATION, SHARES[0, 1] / BY_AGE[0], AGES @ BY_AGE]
    at = np.random.default_rng(7).choice(6, 300 * people, p=SHARES.ravel())
    values = np.stack([at // 2 + 1, at % 2], axis=1)
    given = dict(zip(NAMES, values.T, strict=True)) if mechanism is RECORD else values
    reports = mechanism.privatize(given, rng=bp.insecure_seed(7))
    found = []
    for first in range(0, 300 * people, people):
        part = slice(first, first + people)
        some = {name: each[part] for name, each in reports.items()} if mechanism is RECORD else reports[part]
        est = bp.estimate(mechanism, some)
        joint = est.joint(*NAMES) if mechanism is RECORD else est.joint(names=NAMES)
        where = ("where", {"age": ("range", 2, 3), "car": 1})
        asked = [("cell", 1, 1), where, "correlation", ("mean", "car", {"age": 1})]
        intervals = [*(joint.ask(of).ci() for of in asked), joint.marginal("age").ask("mean").ci()]
        found.append([tuple(each) for each in intervals])
    low, high = np.moveaxis(found, 2, 0)
    off, half = np.abs(truth - (low + high) / 2), (high - low) / 2
    assert ((off <= half + 1e-12).sum(axis=0) >= 256).all()
    # With few people the interval of the first share, 5 %, ends at zero and is wider than it need be.
    narrow = (off <= half / 2).sum(axis=0)
    assert (narrow[1 if people == 300 else 0 :] < 256).all()
