"""Two attributes together: unbiased and with the right variance, by enumerating every pair of reports."""

import math

import numpy as np
import pytest

import bipartite as bp
from bipartite.answers.estimation.em import fit_em
from bipartite.answers.estimation.estimate import Estimate
from bipartite.answers.estimation.estimating import from_tally, scores
from bipartite.answers.estimation.joint import JointEstimate
from bipartite.answers.estimation.tally import Tally
from bipartite.answers.estimation.two_reports import TwoReports
from bipartite.errors import DesignError, InputError
from bipartite.lottery import Dense

AGES = bp.BRR(bp.Integers(1, 5), epsilon=2, edges="padded")
CARS = bp.GRR(bp.Integers(0, 2), epsilon=1)
PETS = bp.GRR(bp.Items(["cat", "dog", "fish"], loss=1 - np.eye(3)), epsilon=2)
CLAMPED = bp.BRR(bp.Integers(1, 9), epsilon=1)
BOTH = {"age": AGES, "car": CARS}


def table(seed, rows=5, columns=3):
    """Some joint distribution, far from independent."""
    shares = np.random.default_rng(seed).random((rows, columns)) ** 3
    return shares / shares.sum()


def reports_of(counts):
    """These counts of pairs of reports, as columns."""
    pairs = np.argwhere(counts > 0).repeat(counts[counts > 0], axis=0)
    return {"age": AGES.outputs.to_numpy()[pairs[:, 0]], "car": CARS.outputs.to_numpy()[pairs[:, 1]]}


def joint(record, reports, *names, method="auto"):
    made = record if isinstance(record, bp.Record) else bp.Record(record)
    return bp.estimate(made, reports).joint(*(names or made.mechanisms), method=method)


def all_pairs():
    """(the estimate from one pair alone, its place) for every pair of reports."""
    for y, z in np.ndindex(len(AGES.outputs), len(CARS.outputs)):
        counts = np.zeros((len(AGES.outputs), len(CARS.outputs)), dtype=int)
        counts[y, z] = 1
        yield (y, z), joint(BOTH, reports_of(counts), method="inverse")


def law(shares):
    return AGES.matrix().T @ shares @ CARS.matrix()


def from_law(first, second, seen, names=("age", "car"), people=10**12):
    """The estimate when pairs come exactly as often as this law says."""
    at = np.indices((len(first.outputs), len(second.outputs))).reshape(2, -1)
    parts = [from_tally(each, Tally.of(each, rows)) for each, rows in zip((first, second), at, strict=True)]
    source = TwoReports(*(part._source for part in parts))
    counts = people * np.asarray(seen).ravel()
    source.tally = Tally(counts, counts, people, float(people), float(people), counts)
    return JointEstimate(names, Estimate(source, source.histogram("inverse")), parts)


def errors(joint):
    """The standard errors of all cells."""
    return joint.to_frame()["se"].to_numpy().reshape(joint.shares.shape)


def test_cells_and_answers_are_unbiased_and_their_variance_is_that_of_all_pairs():
    shares = table(3)
    w = np.random.default_rng(4).normal(size=(5, 3))
    ages, cars = np.arange(1.0, 6), np.arange(3.0)
    questions = [w, (ages, cars), ("where", {"age": ("range", 1, 4), "car": [0, 1]})]
    seen, mean, square, answers = law(shares), 0, 0, np.zeros((2, 3))
    for (y, z), alone in all_pairs():
        mean += seen[y, z] * alone.shares
        square += seen[y, z] * alone.shares**2
        values = np.array([alone.ask(of).value for of in questions])
        answers += seen[y, z] * np.array([values, values**2])
    assert np.allclose(mean, shares, atol=1e-9)
    assert np.allclose(answers[0], [(w * shares).sum(), ages @ shares @ cars, shares[:4, :2].sum()], atol=1e-9)
    many = from_law(AGES, CARS, seen)
    assert np.allclose(errors(many) * 1e6, np.sqrt(square - shares**2), rtol=1e-6)
    found = [many.ask(of) for of in questions]
    assert np.allclose([each.se * 1e6 for each in found], np.sqrt(answers[1] - answers[0] ** 2), rtol=1e-6)
    assert np.allclose([each.value for each in found], answers[0], atol=1e-9)
    assert many.ask(("cell", 2, 1)).value == pytest.approx(shares[1, 1], abs=1e-9)
    assert many.ask(("cell", 2, 1)).se == pytest.approx(errors(many)[1, 1])


def test_a_group_that_may_be_empty_has_no_mean():
    record = bp.Record({"age": AGES, "pet": PETS})
    values = {"age": [2, 4] * 500, "pet": ["cat", "dog"] * 500}
    found = joint(record, record.privatize(values, rng=bp.insecure_seed(1)))
    fish = found.ask(("mean", "age", {"pet": "fish"}))
    assert math.isnan(fish.value) and math.isinf(fish.se) and math.isnan(fish.p_value(3))
    assert fish.ci() == (1, 5) and "not clearly above zero" in fish.note
    cat = found.ask(("mean", "age", {"pet": "cat"}))
    assert cat.ci().low <= 2.3 and cat.ci().high < 4 and not cat.note
    # A group that is clear at 95 % may be empty at a higher confidence.
    some = joint(record, record.privatize({"age": [2] * 60, "pet": ["cat", "dog"] * 30}, rng=bp.insecure_seed(1)))
    cat = some.ask(("mean", "age", {"pet": "cat"}))
    assert not cat.note and cat.ci(1 - 1e-12) == (1, 5) and "not clearly above zero" in cat.ci(1 - 1e-12).note
    few = joint(record, record.privatize({"age": [2] * 9, "pet": ["cat"] * 9}, rng=bp.insecure_seed(1)))
    low, high = few.ask(("mean", "age", {"pet": "cat"})).ci()
    assert low <= 2 <= high


def test_the_interval_of_a_group_contains_all_means_that_its_average_does_not_rule_out():
    record = bp.Record({"age": AGES, "pet": PETS})
    values = {"age": [2, 4, 5] * 100, "pet": ["cat", "dog", "dog"] * 100}
    found = joint(record, record.privatize(values, rng=bp.insecure_seed(1)))
    low, high = found.ask(("mean", "age", {"pet": "dog"})).ci(0.9)
    dog = np.array([0.0, 1, 0])
    for end, beyond in ((low, -0.01), (high, 0.01)):
        inside, outside = (found.ask((np.arange(1.0, 6) - r, dog)).ci(0.9) for r in (end - beyond, end + beyond))
        assert inside.low <= 0 <= inside.high and not outside.low <= 0 <= outside.high


def test_every_method_gives_a_table_that_is_near_the_truth():
    shares = table(9)
    rng = np.random.default_rng(10)
    counts = rng.multinomial(200_000, law(shares).ravel()).reshape(law(shares).shape)
    reports = reports_of(counts)
    for method in ("inverse", "projected", "em", "auto"):
        found = joint(BOTH, reports, method=method)
        # Six and a half standard errors: a false alarm in any of 15 cells has a chance of 1.2e-9.
        assert (np.abs(found.shares - shares) < 6.5 * errors(found)).all()
        assert found.shares.sum() == pytest.approx(1)
        assert found.method == ("inverse" if method == "auto" else method)
    few = joint(BOTH, {name: column[::2000] for name, column in reports.items()})
    assert few.method == "em" and "mostly noise" in few.summary() and str(few) == few.summary()
    assert few.shares.min() >= 0
    frame = few.to_frame()
    assert (frame["low"] <= frame["share"]).all() and (frame["share"] <= frame["high"]).all()
    assert (frame["low"] < frame["high"]).all()  # also where the unbiased share is far below zero
    assert few.ask(("cell", 1, 0)).ci() == tuple(frame.loc[0, ["low", "high"]])
    assert few.ask(("cell", 1, 0)).value == few.shares[0, 0]


def test_em_is_the_most_likely_table():
    counts = np.rint(law(table(11)) * 5000).astype(int)
    found = joint(BOTH, reports_of(counts), method="em")
    whole = fit_em(Dense(np.kron(AGES.matrix(), CARS.matrix())), counts.ravel().astype(float))
    assert np.allclose(found.shares.ravel(), whole.frequencies, atol=1e-6)

    def likelihood(f):
        return (counts * np.log(AGES.matrix().T @ f @ CARS.matrix())).sum()

    assert likelihood(found.shares) >= likelihood(table(11)) - whole.gap
    assert likelihood(found.shares) >= likelihood(found.shares * 0.99 + 0.01 / 15) - 0.1


def test_clamped_reports_give_a_guess_and_say_that_it_is_one():
    both = {"age": CLAMPED, "car": CARS}
    record = bp.Record(both)
    reports = record.privatize({"age": [2, 8] * 500, "car": [0, 2] * 500}, rng=bp.insecure_seed(2))
    found = joint(both, reports)
    assert found.method == "em" and found.ask(("cell", 1, 0)).ci() == (0, 1)
    assert math.isinf(found.ask(("cell", 1, 0)).se)
    assert found.ask(("where", {"age": [1, 5], "car": 1})).note == "the reports cannot tell this"
    # Values in the middle can be told.
    assert math.isfinite(found.ask(("cell", 5, 0)).se) and np.isinf(errors(found)).sum() < 27
    assert errors(found)[4, 0] == pytest.approx(found.ask(("cell", 5, 0)).se)
    assert found.ask("covariance").ci() == (-4, 4) and math.isinf(found.ask("covariance").se)
    assert math.isnan(found.ask("correlation").value) and found.ask("correlation").ci() == (-1, 1)
    assert math.isfinite(found.ask((np.ones(9), [0, 1, 2])).se)
    for method in ("inverse", "projected"):
        with pytest.raises(InputError, match=f"method='{method}' needs mechanisms that tell all values apart.*'em'"):
            joint(both, reports, method=method)
    with pytest.raises(InputError, match="cannot tell this group"):
        found.ask(("mean", "car", {"age": 1}))
    frame = found.to_frame()
    assert len(frame) == 27 and (frame["low"] <= frame["share"]).all() and (frame["share"] <= frame["high"]).all()


def test_sampled_attributes_count_where_both_were_drawn():
    record = bp.Record({"age": AGES, "car": CARS, "pet": PETS}, sample=2)
    values = {"age": [1, 5] * 300, "car": [0, 2] * 300, "pet": ["cat", "dog"] * 300}
    reports = record.privatize(values, rng=bp.insecure_seed(3))
    found = joint(record, reports, "car", "age")
    both = [a is not None and b is not None for a, b in zip(reports["age"], reports["car"], strict=True)]
    assert found.nobs == sum(both) == found.marginal("car").nobs
    alone = {name: np.array([r for r, b in zip(reports[name], both, strict=True) if b]) for name in ("age", "car")}
    assert np.array_equal(found.shares, joint(BOTH, alone, "car", "age").shares)
    assert found.names == ("car", "age") and found.shares.shape == (3, 5)
    assert found.ask("covariance").ci().low > 0
    frame = found.to_frame()
    assert list(frame.columns) == ["car", "age", "share", "se", "low", "high", "note"]
    assert "correlation" in found.summary() and "car and age" in repr(found)
    one = bp.Record(BOTH, sample=1)
    with pytest.raises(InputError, match="Nobody reported both attributes"):
        joint(one, one.privatize({"age": [1] * 9, "car": [1] * 9}, rng=bp.insecure_seed(1)))


def test_two_estimates_of_the_same_people_are_paired():
    record = bp.Record(BOTH)
    reports = record.privatize({"age": [1, 5, 3] * 200, "car": [0, 2, 1] * 200}, rng=bp.insecure_seed(3))
    age, car = bp.estimate(AGES, reports["age"]), bp.estimate(CARS, reports["car"])
    found = age.joint(car, names=("age", "car"), method="inverse")
    assert np.array_equal(found.shares, joint(record, reports, method="inverse").shares)
    assert found.marginal("age") is age and found.marginal("car") is car
    with pytest.raises(InputError, match="the same people in both, got 600 and 599"):
        age.joint(bp.estimate(CARS, reports["car"][:-1]))
    with pytest.raises(InputError, match="is not known from counts"):
        age.joint(bp.estimate(CARS, counts=bp.Counts(CARS).add(reports["car"])))
    # Two columns of equal length, each with one report missing, would pair the wrong people.
    one, other = ([None, *reports["age"][1:]], [*reports["car"][:-1], None])
    with pytest.raises(InputError, match="nor where missing reports were dropped"):
        bp.estimate(AGES, one, nulls="drop").joint(bp.estimate(CARS, other, nulls="drop"))
    both = bp.estimate(record, {"age": one, "car": other}, nulls="drop").joint("age", "car", method="inverse")
    whole = joint(record, {name: column[1:-1] for name, column in reports.items()}, method="inverse")
    assert both.nobs == 598 and np.array_equal(both.shares, whole.shares)
    with pytest.raises(InputError, match="Expected the same weights of people"):
        age.joint(bp.estimate(CARS, reports["car"], weights=np.arange(1.0, 601)))
    for other in (age, "car", ("age", "car")):
        with pytest.raises(InputError, match="Expected the estimate of the same people's other reports, got"):
            age.joint(other)
    with pytest.raises(InputError, match="method as one of"):
        age.joint(car, method="smooth")


def test_weights_of_people_are_those_of_the_pairs():
    record = bp.Record({"age": AGES, "car": CARS, "town": bp.OUE(bp.Integers(1, 4), 2)})
    values = {"age": [1, 5, 3] * 200, "car": [0, 2, 1] * 200, "town": [1, 3, 4] * 200}
    reports = record.privatize(values, rng=bp.insecure_seed(3))
    weights = np.random.default_rng(1).integers(0, 3, 600)
    repeated = {name: np.repeat(column, weights, axis=0) for name, column in reports.items()}
    for names in (("age", "car"), ("age", "town")):
        found = bp.estimate(record, reports, weights=weights).joint(*names, method="inverse")
        copies = bp.estimate(record, repeated).joint(*names, method="inverse")
        assert found.nobs == np.count_nonzero(weights)
        assert np.allclose(found.shares, copies.shares, atol=1e-12)
        size, square = weights.sum(), (weights**2).sum()
        alone = bp.estimate(record, reports).joint(*names, method="inverse")
        of = ("where", {"age": 1})
        # Every person's score, from its own weight: the variance of a weighted average.
        each = scores(AGES, reports["age"], of=("bin", 1))
        apart = (each - weights @ each / size) ** 2 @ weights**2 / size**2
        n = size**2 / square
        assert found.ask(of).se == pytest.approx(math.sqrt(apart * n / (n - 1)))
        assert found.ask(of).se != pytest.approx(alone.ask(of).se)
        frame = found.to_frame()
        assert frame["se"][0] == pytest.approx(float(found._sample(np.outer(*units(found))).se[0]))


def units(found):
    first, second = np.zeros((2, 9))
    first[0] = second[0] = 1
    return tuple(each[:size] for each, size in zip((first, second), found.shares.shape, strict=True))


def test_values_of_any_kind_make_a_table():
    pair = bp.GRR(bp.Product(bp.Integers(0, 2), bp.Integers(0, 1)), 2)
    record = bp.Record({"pair": pair, "hour": bp.BRR(bp.Cyclic(24), 2, m=5), "pet": PETS})
    values = {"pair": [(0, 1), (2, 0)] * 150, "hour": [23, 4] * 150, "pet": ["cat", "dog"] * 150}
    found = bp.estimate(record, record.privatize(values, rng=bp.insecure_seed(1)))
    frame = found.joint("pair", "hour").to_frame()
    assert frame["pair"][24] == (0, 1) and frame["hour"][25] == 1 and (frame["low"] < frame["high"]).all()
    night = ("where", {"pair": [(0, 1)], "hour": ("range", 22, 3)})
    same = ("where", {"pair": [(0, 1)], "hour": [22, 23, 0, 1, 2, 3]})
    assert found.joint("pair", "hour").ask(night).ci() == found.joint("pair", "hour").ask(same).ci()
    with pytest.raises(InputError, match="The values of 'pet' are not numbers"):
        found.joint("pair", "pet").ask(("mean", "pet", {"pair": [(0, 1)]}))
    assert "correlation" not in found.joint("hour", "pet").summary()


def test_a_correlation_needs_variances_that_are_clearly_above_zero():
    record = bp.Record(BOTH)
    reports = record.privatize({"age": [3] * 2000, "car": [1] * 2000}, rng=bp.insecure_seed(4))
    found = joint(BOTH, reports).ask("correlation")
    assert math.isnan(found.value) and math.isinf(found.se)
    assert found.ci() == (-1, 1) and "a variance is not clearly above zero" in found.note
    few = joint(BOTH, {name: column[:49] for name, column in reports.items()})
    low, high = few.ask("covariance").ci()
    assert (
        low <= -2
        and high >= 2
        and low <= few.ask("covariance").value <= high
        and "too few" in few.ask("covariance").note
    )


def test_forged_pairs_move_an_average_as_far_as_they_can():
    record = bp.Record(BOTH)
    reports = record.privatize({"age": [1, 5, 3] * 20, "car": [0, 2, 1] * 20}, rng=bp.insecure_seed(3))
    w = np.random.default_rng(4).normal(size=(5, 3))
    low, high, note = joint(record, reports).ask(w).forged(1)
    outputs = AGES.outputs.to_numpy(), CARS.outputs.to_numpy()
    # The score of a pair is fixed, so that forging one of the extreme reports is enough.
    every = np.array([joint(record, {"age": [a], "car": [c]}).ask(w).value for a in outputs[0] for c in outputs[1]])
    own = [joint(record, {"age": [a], "car": [c]}).ask(w).value for a, c in zip(*reports.values(), strict=True)]
    assert high == pytest.approx(np.mean(own) + (every.max() - min(own)) / 60) and note == ""
    assert low == pytest.approx(np.mean(own) - (max(own) - every.min()) / 60)
    with pytest.raises(InputError, match="No bound is known"):
        joint(record, reports).ask("correlation").forged(1)


def test_an_output_that_nobody_can_report_widens_no_range(monkeypatch):
    sides = [from_tally(CARS, Tally.of(CARS, np.zeros(60, dtype=int)))._source for _ in range(2)]
    w = np.random.default_rng(1).normal(size=(1, 9))
    every = TwoReports(*sides).sample(w).u.reshape(3, 3)
    monkeypatch.setattr(type(CARS.lottery.channel()), "uniform_law", lambda _: np.array([0, 0.5, 0.5]))
    low, high = TwoReports(*sides).sample(w).range
    assert (low[0], high[0]) == (every[1:, 1:].min(), every[1:, 1:].max())
    assert (low[0], high[0]) != (every.min(), every.max())


def test_what_cannot_be_asked_is_refused():
    record = bp.Record({"age": AGES, "car": CARS, "pet": PETS})
    reports = record.privatize({"age": [1, 5], "car": [0, 2], "pet": ["cat", "dog"]}, rng=bp.insecure_seed(3))
    for names in (("age", "size"), ("age", "age"), ("age", 1)):
        with pytest.raises(InputError, match="Expected two names of age, car, pet, got"):
            joint(record, reports, *names)
    with pytest.raises(InputError, match="Expected attributes of a bp.Record, got groups"):
        bp.estimate(AGES, [1, 2], by=["a", "b"]).joint("a", "b")
    with pytest.raises(InputError, match="Expected attributes of a bp.Record, got groups"):
        bp.estimate(record, reports, by=["a", "b"]).joint("age", "car")
    with pytest.raises(InputError, match="method as one of"):
        joint(record, reports, "age", "car", method="ems")
    with pytest.raises(DesignError, match="at most 1024 values"):
        joint({"a": bp.GRR(bp.Integers(0, 1024), 1), "b": CARS}, {"a": [1], "b": [1]})
    large = bp.BRR(bp.Integers(1, 1000), 1, edges="padded", m=2001)
    with pytest.raises(DesignError, match="2\\^22 different pairs"):
        joint({"a": large, "b": large}, {"a": [1], "b": [1]})
    found = joint(record, reports, "age", "pet")
    with pytest.raises(InputError, match="The values of 'pet' are not numbers"):
        found.ask("covariance")
    for of in (
        "mean",
        None,
        ("cell", 1),
        [1, 2],
        ([1], [2]),
        np.full((5, 3), np.nan),
        "ab",
        ([1.0] * 5, [math.inf] * 3),
    ):
        with pytest.raises(InputError, match="Expected 'covariance'"):
            found.ask(of)
    for where in ({"age": 1}, {}, "cat", {"pet": []}, {"pet": ["cat", "cat"]}):
        with pytest.raises(
            InputError, match="Expected (\\('mean', 'age', {'pet': value}\\)|one or more distinct values)"
        ):
            found.ask(("mean", "age", where))
    with pytest.raises(InputError, match="'age' or 'pet'"):
        found.marginal("car")
    with pytest.raises(InputError, match="'age' or 'pet'"):
        found.ask(("mean", "car", {"pet": "cat"}))
    with pytest.raises(InputError, match="confidence"):
        found.ask(("cell", 1, "cat")).ci(2)
    with pytest.raises(InputError, match="confidence"):
        found.to_frame(2)
