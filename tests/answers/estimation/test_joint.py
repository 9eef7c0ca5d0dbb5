"""Two attributes together: unbiased and with the right variance, by enumerating every pair of reports."""

import math

import numpy as np
import pytest

import bipartite as bp
from bipartite.answers.estimation.estimating_joint import _histogram, _marginal
from bipartite.answers.estimation.joint import JointEstimate
from bipartite.answers.estimation.kronecker import Side
from bipartite.answers.estimation.pair_outputs import ByOutputs
from bipartite.answers.estimation.tally import Tally
from bipartite.errors import DesignError, InputError

AGES = bp.BRR(bp.Integers(1, 5), epsilon=2, edges="padded")
CARS = bp.GRR(bp.Integers(0, 2), epsilon=1)
PETS = bp.GRR(bp.Items(["cat", "dog", "fish"], loss=1 - np.eye(3)), epsilon=2)
CLAMPED = bp.BRR(bp.Integers(1, 9), epsilon=1)
BOTH = {"age": AGES, "car": CARS}


def table(seed, rows=5, columns=3):
    """Some joint distribution, far from independent."""
    shares = np.random.default_rng(seed).random((rows, columns)) ** 3
    return shares / shares.sum()


def joint_of(counts):
    """The estimate from these counts of pairs of reports."""
    pairs = np.argwhere(counts > 0).repeat(counts[counts > 0], axis=0)
    reports = {"age": AGES.outputs.to_numpy()[pairs[:, 0]], "car": CARS.outputs.to_numpy()[pairs[:, 1]]}
    return bp.estimate_joint(BOTH, reports, method="inverse")


def all_pairs():
    """(the estimate from one pair alone, its place) for every pair of reports."""
    for y, z in np.ndindex(len(AGES.outputs), len(CARS.outputs)):
        counts = np.zeros((len(AGES.outputs), len(CARS.outputs)), dtype=int)
        counts[y, z] = 1
        yield (y, z), joint_of(counts)


def law(shares):
    return AGES.matrix().T @ shares @ CARS.matrix()


def from_law(seen, people=10**12):
    """The estimate when pairs come exactly as often as this law says."""
    sides = Side.of(AGES), Side.of(CARS)
    counts = (people * seen).ravel()
    tally = Tally(counts, counts, people, counts, None)
    answers = ByOutputs(sides, tally, _marginal)
    return JointEstimate(("age", "car"), answers, lambda: _histogram(sides, tally, "inverse", None))


def estimate_of(shares):
    return from_law(law(shares))


def test_cells_and_answers_are_unbiased_and_their_variance_is_that_of_all_pairs():
    shares = table(3)
    w = np.random.default_rng(4).normal(size=(5, 3))
    seen = law(shares)
    mean, square = np.zeros((5, 3)), np.zeros((5, 3))
    answers = np.zeros(2)
    products = np.zeros(2)
    ages, cars = np.arange(1.0, 6), np.arange(3.0)
    for (y, z), joint in all_pairs():
        mean += seen[y, z] * joint.frequencies
        square += seen[y, z] * joint.frequencies**2
        answers += seen[y, z] * np.array([joint.linear(w), joint.linear(w) ** 2])
        products += seen[y, z] * np.array([joint.linear((ages, cars)), joint.linear((ages, cars)) ** 2])
    assert np.allclose(mean, shares, atol=1e-9)
    assert answers[0] == pytest.approx((w * shares).sum(), abs=1e-9)
    assert products[0] == pytest.approx(ages @ shares @ cars, abs=1e-9)
    many = estimate_of(shares)
    assert np.allclose(many.standard_errors * 1e6, np.sqrt(square - shares**2), rtol=1e-6)
    assert many.standard_error(w) * 1e6 == pytest.approx(math.sqrt(answers[1] - answers[0] ** 2), rel=1e-6)
    assert many.standard_error((ages, cars)) * 1e6 == pytest.approx(math.sqrt(products[1] - products[0] ** 2), rel=1e-6)
    assert many.unbiased(("cell", 2, 1)).value == pytest.approx(shares[1, 1], abs=1e-9)
    assert many.standard_error(("cell", 2, 1)) == pytest.approx(many.standard_errors[1, 1])


def test_a_group_that_may_be_empty_has_no_mean():
    record = bp.Record({"age": AGES, "pet": PETS})
    values = {"age": [2, 4] * 500, "pet": ["cat", "dog"] * 500}
    joint = bp.estimate_joint(record, record.privatize(values, rng=bp.insecure_seed(1)))
    fish = joint.mean_where("age", {"pet": "fish"})
    assert math.isnan(fish.mean) and math.isinf(fish.standard_error)
    assert fish.interval == (1, 5) and "not clearly above zero" in fish.interval.note
    cat = joint.means_by("pet")["cat"]
    assert cat.interval.low <= 2.3 and cat.interval.high < 4
    assert "a share of" in str(cat)
    few = bp.estimate_joint(record, record.privatize({"age": [2] * 9, "pet": ["cat"] * 9}))
    assert few.mean_where("age", {"pet": "cat"}).interval == (1, 5)
    assert "too few" in few.mean_where("age", {"pet": "cat"}).interval.note
    assert few.interval(of=("cell", 2, "cat")).note and few.interval(of=("cell", 2, "cat")).low >= 0


def test_every_method_gives_a_table_that_is_near_the_truth():
    shares = table(9)
    rng = np.random.default_rng(10)
    counts = rng.multinomial(200_000, law(shares).ravel()).reshape(law(shares).shape)
    pairs = np.argwhere(counts > 0).repeat(counts[counts > 0], axis=0)
    reports = {"age": AGES.outputs.to_numpy()[pairs[:, 0]], "car": CARS.outputs.to_numpy()[pairs[:, 1]]}
    for method in ("inverse", "projected", "em", "auto"):
        joint = bp.estimate_joint(BOTH, reports, method=method)
        # Six and a half standard errors: a false alarm in any of 15 cells has a chance of 1.2e-9.
        assert (np.abs(joint.frequencies - shares) < 6.5 * joint.standard_errors).all()
        assert joint.frequencies.sum() == pytest.approx(1)
        assert (joint.fit is not None) == (method == "em")
    few = bp.estimate_joint(BOTH, {name: column[:: len(pairs) // 100] for name, column in reports.items()})
    assert few.method == "em" and "noise" in few.reason
    assert few.frequencies.min() >= 0


def test_em_is_the_most_likely_table():
    shares = table(11)
    counts = np.rint(law(shares) * 5000).astype(int)
    pairs = np.argwhere(counts > 0).repeat(counts[counts > 0], axis=0)
    reports = {"age": AGES.outputs.to_numpy()[pairs[:, 0]], "car": CARS.outputs.to_numpy()[pairs[:, 1]]}
    joint = bp.estimate_joint(BOTH, reports, method="em")
    assert joint.fit.converged

    def likelihood(f):
        return (counts * np.log(AGES.matrix().T @ f @ CARS.matrix())).sum()

    assert likelihood(joint.frequencies) >= likelihood(shares) - joint.fit.gap
    assert likelihood(joint.frequencies) >= likelihood(joint.frequencies * 0.99 + 0.01 / 15) - 0.1


def test_clamped_reports_give_a_guess_and_say_that_it_is_one():
    both = {"age": CLAMPED, "car": CARS}
    record = bp.Record(both)
    reports = record.privatize({"age": [2, 8] * 500, "car": [0, 2] * 500}, rng=bp.insecure_seed(2))
    joint = bp.estimate_joint(both, reports)
    assert joint.method == "em" and np.isinf(joint.standard_errors).all()
    assert joint.interval(of=("cell", 1, 0)) == (0, 1)
    assert joint.interval(of="covariance") == (-4, 4)
    assert math.isnan(joint.correlation) and joint.interval(of="correlation") == (-1, 1)
    assert math.isfinite(joint.standard_error((np.ones(9), [0, 1, 2])))
    with pytest.raises(InputError, match="tell all values apart"):
        bp.estimate_joint(both, reports, method="inverse")
    with pytest.raises(InputError, match="cannot tell this group"):
        joint.mean_where("car", {"age": 1})
    assert len(joint.to_frame()) == 27


def test_sampled_attributes_count_where_both_were_drawn():
    record = bp.Record({"age": AGES, "car": CARS, "pet": PETS}, sample=2)
    values = {"age": [1, 5] * 300, "car": [0, 2] * 300, "pet": ["cat", "dog"] * 300}
    reports = record.privatize(values, rng=bp.insecure_seed(3))
    joint = bp.estimate_joint(record, reports, of=("car", "age"))
    both = [a is not None and b is not None for a, b in zip(reports["age"], reports["car"], strict=True)]
    assert joint.people == sum(both)
    assert joint.names == ("car", "age") and joint.frequencies.shape == (3, 5)
    assert joint.interval(of="covariance").low > 0
    frame = joint.to_frame()
    assert list(frame.columns) == ["car", "age", "share", "standard_error", "low", "high"]
    assert "correlation" in joint.summary() and "car and age" in repr(joint)
    with pytest.raises(InputError, match="With sample=1 nobody"):
        bp.estimate_joint(bp.Record(BOTH, sample=1), {"age": [None, 1], "car": [1, None]})


def test_a_correlation_needs_variances_that_are_clearly_above_zero():
    record = bp.Record(BOTH)
    reports = record.privatize({"age": [3] * 2000, "car": [1] * 2000}, rng=bp.insecure_seed(4))
    joint = bp.estimate_joint(BOTH, reports)
    assert math.isnan(joint.correlation)
    assert joint.interval(of="correlation") == (-1, 1)


def test_what_cannot_be_asked_is_refused():
    record = bp.Record({"age": AGES, "car": CARS, "pet": PETS})
    reports = record.privatize({"age": [1, 5], "car": [0, 2], "pet": ["cat", "dog"]}, rng=bp.insecure_seed(3))
    for of in (None, ("age",), ("age", "size"), ("age", "age"), "age"):
        with pytest.raises(InputError, match="two names of age, car, pet"):
            bp.estimate_joint(record, reports, of=of)
    with pytest.raises(InputError, match="Record or a dict"):
        bp.estimate_joint(AGES, reports)
    with pytest.raises(InputError, match="method as one of"):
        bp.estimate_joint(BOTH, reports, method="ems")
    with pytest.raises(InputError, match="same people in both"):
        bp.estimate_joint(BOTH, {"age": [1, 2], "car": [1]})
    with pytest.raises(InputError, match="Nobody reported both"):
        bp.estimate_joint(BOTH, {"age": [], "car": []})
    with pytest.raises(InputError, match="dict of columns"):
        bp.estimate_joint(BOTH, 3)
    with pytest.raises(DesignError, match="at most 1024 values"):
        bp.estimate_joint({"a": bp.GRR(bp.Integers(0, 1024), 1), "b": CARS}, {"a": [1], "b": [1]})
    large = bp.BRR(bp.Integers(1, 10_000), 1)
    with pytest.raises(DesignError, match="2\\^22 different pairs"):
        bp.estimate_joint({"a": large, "b": large}, {"a": [1], "b": [1]})
    joint = bp.estimate_joint(record, reports, of=("age", "pet"))
    with pytest.raises(InputError, match="not numbers"):
        _ = joint.covariance
    for of in ("mean", None, ("cell", 1), [1, 2], ([1], [2]), np.full((5, 3), np.nan), "ab"):
        with pytest.raises(InputError, match="Expected 'covariance'"):
            joint.unbiased(of)
    for where in ({"age": 1}, {}, "cat", {"pet": []}, {"pet": ["cat", "cat"]}):
        with pytest.raises(InputError, match="Expected (where|one or more distinct values)"):
            joint.mean_where("age", where)
    with pytest.raises(InputError, match="'age' or 'pet'"):
        joint.marginal("car")
    with pytest.raises(InputError, match="confidence"):
        joint.mean_where("age", {"pet": "cat"}, confidence=2)
