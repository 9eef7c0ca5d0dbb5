"""Reports about both values at once: unbiased by enumerating every report, with the errors of the answers' slopes."""

import math

import numpy as np
import pytest

import bipartite as bp
from bipartite.errors import InputError
from tests.answers.estimation.test_categories import law_of

AGES, CARS = bp.Integers(1, 3), bp.Integers(0, 1)
PAIRS = bp.Product(AGES, CARS)
MECHANISMS = {
    "grr": bp.GRR(PAIRS, 1),
    "sets": bp.SubsetSelection(PAIRS, 1),
    "oue": bp.OUE(PAIRS, 1),
    "hadamard": bp.HadamardResponse(PAIRS, 1),
    "hashing": bp.OLH(PAIRS, 1, buckets=3),
}
NAMES = ("age", "car")
SHARES = np.array([[0.3, 0.05], [0.2, 0.15], [0.1, 0.2]])


def chances(mech):
    return (mech.outputs.to_numpy(), mech.matrix()) if isinstance(mech, bp.GRR) else law_of(mech)


@pytest.mark.parametrize("name", MECHANISMS)
def test_answers_about_pairs_are_unbiased_for_every_pair_of_values(name):
    mech = MECHANISMS[name]
    reports, law = chances(mech)
    w = np.random.default_rng(1).normal(size=(3, 2))
    alone = [bp.estimate(mech, reports[at : at + 1], method="inverse").joint(names=NAMES) for at in range(len(reports))]
    assert np.allclose(law @ [joint.ask(w).value for joint in alone], w.ravel(), atol=1e-9)
    low = [joint.ask(("where", {"age": ("range", 1, 2), "car": 0})).value for joint in alone]
    assert np.allclose(law @ low, [1, 0, 1, 0, 0, 0], atol=1e-9)
    cells = np.array([joint.shares for joint in alone])
    assert np.allclose(np.einsum("xy,yab->xab", law, cells).reshape(6, 6), np.eye(6), atol=1e-9)
    assert np.allclose(law @ [joint.ask(("cell", 2, 1)).value for joint in alone], np.eye(6)[3], atol=1e-9)
    assert np.allclose(law @ [joint.marginal("age").mean for joint in alone], [1, 1, 2, 2, 3, 3], atol=1e-9)
    assert np.allclose(law @ [joint.marginal("car").shares[1] for joint in alone], [0, 1] * 3, atol=1e-9)


@pytest.fixture(scope="module")
def collected():
    rng = np.random.default_rng(2)
    at = rng.choice(6, 5000, p=SHARES.ravel())
    values = np.stack([at // 2 + 1, at % 2], axis=1)
    mech = MECHANISMS["sets"]
    return mech, values, mech.privatize(values, rng=bp.insecure_seed(1))


def test_a_product_and_a_record_speak_one_language(collected):
    mech, values, reports = collected
    pair = bp.estimate(mech, reports, method="inverse").joint(names=NAMES)
    record = bp.Record({"age": bp.SubsetSelection(AGES, 2), "car": bp.GRR(CARS, 2)})
    both = record.privatize({"age": values[:, 0], "car": values[:, 1]}, rng=bp.insecure_seed(2))
    split = bp.estimate(record, both).joint(*NAMES)
    questions = [
        "covariance",
        "correlation",
        ("cell", 2, 1),
        ("where", {"car": 1}),
        ("where", {"age": [1, 3], "car": [0]}),
        SHARES,
        ([1.0, 2, 3], [0.0, 1]),
    ]
    true = np.histogram2d(*values.T, bins=([0.5, 1.5, 2.5, 3.5], [-0.5, 0.5, 1.5]))[0] / 5000
    for joint in (pair, split):
        assert type(joint) is type(pair)
        for of in questions:
            answer = joint.ask(of)
            assert answer.ci().low <= answer.value <= answer.ci().high and answer.se > 0
        # Six standard errors: one seed in some hundred million would fail.
        assert (np.abs(joint.shares - true) < 6 * joint.to_frame()["se"].to_numpy().reshape(3, 2)).all()
        assert joint.to_frame().columns.tolist() == ["age", "car", "share", "se", "low", "high", "note"]
        assert joint.to_frame()["age"].tolist() == [1, 1, 2, 2, 3, 3]
        for car in (0, 1):
            of = ("mean", "age", {"car": car})
            assert abs(joint.ask(of).value - values[values[:, 1] == car, 0].mean()) < 6 * joint.ask(of).se
        assert joint.marginal("age").domain == AGES
        assert "correlation" in joint.summary()
        assert not joint.check.doubt


def test_weights_groups_and_counts_pass_through(collected):
    mech, _, reports = collected
    plain = bp.estimate(mech, reports)
    counted = bp.estimate(mech, counts=bp.Counts(mech).add(reports))
    of = "correlation"
    assert counted.joint().ask(of).value == plain.joint(names=NAMES).ask(of).value
    twice = bp.estimate(mech, np.concatenate([reports, reports[:100]])).joint().ask("covariance")
    weighted = bp.estimate(mech, reports, weights=np.where(np.arange(5000) < 100, 2.0, 1.0)).joint().ask("covariance")
    assert weighted.value == pytest.approx(twice.value, abs=1e-3)
    groups = bp.estimate(mech, reports, by=np.arange(5000) % 2)
    assert groups[0].joint().nobs == 2500
    joint = plain.joint(names=NAMES)
    for of, same in ((("cell", 1, 0), ("bin", (1, 0))), (("where", {"age": 1}), [1, 1, 0, 0, 0, 0])):
        one, other = joint.ask(of), plain.ask(same)
        assert (one.value, one.se, one.ci(), one.forged(9)) == (other.value, other.se, other.ci(), other.forged(9))
    with pytest.raises(InputError, match="The table of pairs is that of the estimate; pass method= to bp.estimate"):
        plain.joint(method="inverse")


def test_the_estimate_of_a_part_answers_like_any_other(collected):
    mech, values, reports = collected
    est = bp.estimate(mech, reports).joint(names=NAMES).marginal("age")
    assert est.mechanism == mech and est.domain == AGES and est.method == "inverse"
    for of, true in [
        ("mean", values[:, 0].mean()),
        ("variance", values[:, 0].var()),
        (("range", 1, 2), (values[:, 0] <= 2).mean()),
        (("bin", 3), (values[:, 0] == 3).mean()),
    ]:
        low, high = est.ask(of).ci(0.9999)
        assert low < true < high
    assert est.ask("median").ci().low <= est.median <= est.ask("median").ci().high
    assert est.cdf(3) == 1 and est.quantile(0.1) == 1
    assert est.ask("mean").forged(10).high > est.mean > est.ask("mean").forged(10).low
    assert est.ask(("bin", 1)).forged(10).high > est.shares[0]
    assert est.to_frame()["value"].tolist() == [1, 2, 3]
    assert "mean" in est.summary() and est.check.doubt == ""
    assert est.plot().get_label()
    assert sum(est.shares) == pytest.approx(1)
    with pytest.raises(InputError, match="Which reports belong to one person is not known"):
        est.joint(bp.estimate(bp.GRR(CARS, 1), [0] * 5000))


def test_where_not_all_pairs_can_be_told_apart_what_is_left_open_is_said():
    mech = bp.BRR(bp.Product(bp.Integers(1, 4), bp.Integers(0, 3)), 2)
    assert not bp.identifiability(mech).identifiable
    values = np.random.default_rng(3).integers([1, 0], [5, 4], size=(2000, 2))
    est = bp.estimate(mech, mech.privatize(values, rng=bp.insecure_seed(3)))
    joint = est.joint()
    assert joint.ask("correlation").ci().note == "the reports cannot tell this"
    assert joint.to_frame()["se"].isna().all() and "ask for a range" in joint.to_frame()["note"][0]
    low, high = joint.ask(("cell", 1, 0)).ci()
    assert (low, high) == est.ask(("bin", (1, 0))).ci()
    assert 0 <= low < high < 1
    margin = joint.marginal("first")
    assert margin.method == "em" and margin.shares.sum() == pytest.approx(1)
    assert margin.ask(("range", 1, 2)).ci().low < 0.5 < margin.ask(("range", 1, 2)).ci().high
    assert "quantiles have no intervals" in margin.ask("median").note
    assert margin.plot().get_label()
    with pytest.raises(InputError, match="The reports cannot tell this group"):
        joint.ask(("mean", "first", {"second": 0}))


def test_one_report_has_no_variance_of_a_part():
    # Of nine pairs, so that weights of some pairs are compared.
    mech = bp.BRR(bp.Product(bp.Integers(0, 2), bp.Items(["a", "b", "c"], loss=[[0, 1, 5], [1, 0, 4], [5, 4, 0]])), 1)
    part = bp.estimate(mech, [(0, "a")]).joint().marginal("first")
    assert math.isnan(part.ask("variance").value) and tuple(part.ask("variance").ci()) == (0.0, 1.0)


def test_a_range_of_hours_goes_around_midnight():
    mech = bp.GRR(bp.Product(bp.Cyclic(24), CARS), 6)
    hours = np.random.default_rng(4).integers(0, 24, 5000)
    values = np.stack([hours, (hours >= 22) | (hours <= 3)], axis=1).astype(np.int64)
    joint = bp.estimate(mech, mech.privatize(values, rng=bp.insecure_seed(4))).joint(names=("hour", "late"))
    night = ("range", 22, 3)
    asked = joint.ask(("where", {"hour": night}))
    same = joint.ask(("where", {"hour": [22, 23, 0, 1, 2, 3]}))
    assert (asked.value, asked.se, asked.ci()) == (same.value, same.se, same.ci())
    assert abs(asked.value - values[:, 1].mean()) < 6 * asked.se
    assert joint.ask(("mean", "late", {"hour": night})).value == pytest.approx(1, abs=0.05)
    assert joint.marginal("hour").domain == bp.Cyclic(24)
    with pytest.raises(InputError, match="The values of 'hour' are not numbers"):
        joint.ask("correlation")


def test_what_cannot_be_asked_is_refused_with_a_reason(collected):
    mech, _, reports = collected
    est = bp.estimate(mech, reports)
    for names in (("age", "age"), ("age",), "ab", ("age", 1)):
        with pytest.raises(InputError, match="Expected two different names such as \\('age', 'income'\\), got"):
            est.joint(names=names)
    line = bp.GRR(AGES, 1)
    with pytest.raises(InputError, match="Expected reports about pairs of values, got Integers.1, 3.; report on bp.Pr"):
        bp.estimate(line, [1, 2]).joint()
    three = bp.GRR(bp.Product(AGES, CARS, CARS), 1)
    with pytest.raises(InputError, match="Expected reports about pairs of values, got Product"):
        bp.estimate(three, [(1, 0, 1)]).joint()
    joint = est.joint(names=NAMES)
    for of in ("mean", ("cell", 1), ("where", 1, 2), ("bin", 1, 0), None, {}, b"x"):
        with pytest.raises(InputError, match="Expected 'covariance', 'correlation', .'cell', value, value., .'where'"):
            joint.ask(of)
    for where in ({}, [1], "age"):
        with pytest.raises(InputError, match="Expected \\('where', {'age': value, …}\\), got"):
            joint.ask(("where", where))
    with pytest.raises(InputError, match="Expected 'age' or 'car', got 'town'"):
        joint.ask(("where", {"town": 1}))
    with pytest.raises(InputError, match="Expected one or more distinct values of 'age', got"):
        joint.ask(("where", {"age": [1, 1]}))
    with pytest.raises(InputError, match="Expected the first value of a range before its last, got 3 to 1"):
        joint.ask(("where", {"age": ("range", 3, 1)}))
