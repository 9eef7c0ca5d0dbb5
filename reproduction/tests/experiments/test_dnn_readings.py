"""The readings of appendix B.3 on made-up rows of the public domains: what each draws, and what it really spends."""

import itertools
import math
from fractions import Fraction
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from bipartite.domains import Interval
from bipartite.learn import PrivateColumns
from bipartite.lottery import insecure_seed
from reproduction.claim import Edit, Verdict
from reproduction.claims.dnn import CLAIMS, PAIRS
from reproduction.experiments import dnn_data, dnn_readings
from reproduction.experiments.dnn_readings import BOUNDED, LEAST, MAKERS, POINTS, READINGS, importances, measure
from reproduction.learning.network_training import TrainingPlan, class_chances
from reproduction.tests.committed import table
from reproduction.tests.experiments.test_dnn import made_up

POINT = {"dataset": "adult", "reading": "coordinates", "mechanism": "laplace", "epsilon": 2.0, "seed": 0, "rows": None,
         "epochs": 1}  # fmt: skip
SMALL = {"number": (0, 10), "category": ["a", "b", "c"], "two": ["x", "y"]}


@pytest.fixture(autouse=True)
def rows_without_files(monkeypatch):
    monkeypatch.setattr(dnn_data, "prepared", made_up)
    monkeypatch.setattr(dnn_readings, "loaded", cache(dnn_readings.loaded.__wrapped__))


@pytest.fixture
def trained_on(monkeypatch):
    """Inputs and seed of every network that is trained."""
    seen, real = [], dnn_readings.train_network

    def train(inputs, *given, seed):
        seen.append((inputs, seed))
        return real(inputs, *given, seed=seed)

    monkeypatch.setattr(dnn_readings, "train_network", train)
    return lambda **other: (list(measure(**{**POINT, **other})), *seen[-1])


def test_a_network_that_starts_as_torch_does_learns_and_begins_within_its_bounds():
    rng = np.random.default_rng(1)
    inputs = rng.random((400, 9), dtype=np.float32)
    labels = (inputs[:, 0] > inputs[:, 1]).astype(np.int64)

    def trained(**plan):
        plan = TrainingPlan(**{"epochs": 12, "batch_size": 20, "learning_rate": 0.01, "device": "cpu", **plan})
        found = dnn_readings.train_as_torch_does(inputs, labels, plan, 7)
        assert len(found) == plan.epochs
        return found[-1]

    layers = trained()
    for one, other in zip(layers, trained(), strict=True):
        np.testing.assert_array_equal(one[0], other[0])
    assert ((class_chances(layers, inputs)[:, 1] > 1 / 2) == labels).mean() > 0.9
    for (weight, bias), wide in zip(trained(epochs=1, learning_rate=1e-12), (9, 100, 200), strict=True):
        bound = wide**-0.5
        assert weight.shape[0] == wide and np.abs(weight).max() <= bound and np.abs(bias).max() <= bound
        assert np.abs(weight).max() > 0.9 * bound and bias.any()  # no biases of Glorot and Bengio
    assert READINGS["coordinates"].batch == TrainingPlan.batch_size


def test_mechanisms_of_a_seed_start_alike_and_no_two_cells_share_their_noise(trained_on):
    (rows, free, seed), (again, _, _) = trained_on(), trained_on()
    (_, clamped, same), (others, _, other) = trained_on(mechanism="clamped-laplace"), trained_on(seed=1)
    assert rows == again and seed == same != other
    assert [row["value"] for row in rows] != [row["value"] for row in others]
    inside = (free >= 0) & (free <= 1)
    assert clamped.min() >= 0 and clamped.max() <= 1
    assert not np.array_equal(free[inside], clamped[inside])


def test_importance_is_mutual_information_with_the_label_and_never_nothing():
    generator = np.random.default_rng(3)
    labels = generator.integers(0, 2, 500)
    rows = np.empty((500, 3), dtype=object)
    rows[:, 0] = np.clip(5 * labels + generator.uniform(-1, 6, 500), -0.5, 12)  # some lie outside the range
    rows[:, 1] = generator.choice(["a", "b", "c"], 500)
    rows[:, 2] = "x"
    nodes = [round(min(max(float(each), 0), 10) * 2) for each in rows[:, 0]]
    chances = [pd.crosstab(labels, np.array(each), normalize=True).to_numpy() for each in (nodes, *rows.T[1:])]
    bare = [  # of the chances of both, from its definition
        stats.entropy(both.ravel(), np.outer(both.sum(axis=1), both.sum(axis=0)).ravel()) for both in chances
    ]
    shares = [max(each / sum(bare), LEAST) for each in bare]
    assert shares[2] == LEAST
    found = importances(rows, labels, list(SMALL.values()))
    np.testing.assert_allclose(found, [3 * each / sum(shares) for each in shares], rtol=1e-9)


@pytest.mark.parametrize("reading", [name for name, each in READINGS.items() if each.one_hot != "GRR"])
@pytest.mark.parametrize("mechanism", ["brr", "laplace", "clamped-laplace"])
def test_what_a_row_spends_is_the_largest_ratio_of_the_chances_of_its_reports(monkeypatch, reading, mechanism):
    # By enumeration: every pair of rows, the worst report of each coordinate; coordinates are reported independently.
    monkeypatch.setattr(dnn_readings, "DOMAINS", {"small": SMALL})
    how = READINGS[reading]
    parts = dnn_readings.budgets(how, 0.75, np.array([1.0, 1.5, 0.5]))
    matrices = [
        MAKERS[mechanism](Interval(0, 1, points=POINTS), each).matrix()
        for each in dnn_readings.coordinates("small", how, parts)
    ]
    rows = [
        (number, *np.eye(3)[category], *np.eye(2)[two])
        for number, category, two in itertools.product((0, 0.5, 1), range(3), range(2))
    ]
    most = max(
        sum(
            np.log(chances[round(20 * a)] / chances[round(20 * b)]).max()
            for chances, a, b in zip(matrices, one, other, strict=True)
        )
        for one, other in itertools.permutations(rows, 2)
    )
    assert dnn_readings.spent("small", how, parts) == pytest.approx(most, rel=1e-6)


@pytest.mark.parametrize("dataset", ["adult", "bank"])
@pytest.mark.parametrize("reading", READINGS)
def test_rows_say_what_the_reading_spends_for_the_epsilon_that_it_names(dataset, reading):
    numbers, categories = {"adult": (6, 8), "bank": (10, 10)}[dataset]
    found, bounded = (
        next(measure(**{**POINT, "dataset": dataset, "reading": reading, "mechanism": each}))
        for each in ("brr", BOUNDED)
    )
    how, times = READINGS[reading], found["noise_spends"] / found["epsilon"]
    if reading == "weighted columns":
        assert numbers + categories < times < 2 * (numbers + categories)
    else:
        coordinates = {"whole": numbers + 2 * categories, "halves": numbers + categories, "GRR": 1}[how.one_hot]
        assert times == pytest.approx(coordinates, abs=1e-11)
    # Weights from raw rows hide nothing, nor does noise that ignores ε.
    assert found["spends"] == ("∞" if how.weights == "raw" else found["noise_spends"])
    assert bounded["spends"] == bounded["noise_spends"] == "∞"


@pytest.mark.parametrize("dataset", ["adult", "bank"])
@pytest.mark.parametrize("reading", ["weighted row", "weighted row, public weights"])
def test_a_weighted_row_is_drawn_within_one_epsilon_by_these_weights(monkeypatch, dataset, reading):
    made = []

    class Kept(PrivateColumns):
        def fit_transform(self, rows):
            made.append(self)
            return super().fit_transform(rows)

    monkeypatch.setattr(dnn_readings, "PrivateColumns", Kept)
    next(measure(**{**POINT, "dataset": dataset, "reading": reading, "epsilon": 0.25}))
    parts = list(made[-1].epsilon_per_column_.values())
    assert Fraction("0.2499999999999999") < sum(map(Fraction, parts)) <= Fraction("0.25")
    own = dnn_data.split(dataset)
    rows, labels = own.public if "public" in reading else own.private
    weights = importances(rows, labels, list(dnn_data.DOMAINS[dataset].values()))
    np.testing.assert_allclose([float(each) for each in parts], 0.25 * weights / weights.sum(), rtol=1e-9)


@pytest.mark.parametrize("mechanism", ["brr", "laplace", "clamped-laplace"])
def test_coordinates_are_reported_by_the_law_of_their_own_epsilon(mechanism):
    # Chi-square with false alarms of one in a million for each; the law of twice the ε is rejected.
    people = 20_000
    inputs = np.tile([0.0, 1.0, 0.0], (people, 1))
    reports = dnn_readings.perturbed(inputs, np.array([0.5, 0.5, 2.0]), mechanism, insecure_seed(8))

    def p_value(at, epsilon):
        made = MAKERS[mechanism](Interval(0, 1, points=POINTS), epsilon)
        expected = people * made.matrix()[round(20 * inputs[0, at])]
        places = np.rint(20 * (reports[:, at] - float(made.outputs.decode(0)))).astype(int)
        inside = np.clip(places, 0, len(expected) - 1)  # another law may have fewer reports
        bins = np.where(expected >= 10, np.arange(len(expected)), len(expected))  # rare ones together
        counts, expected = np.bincount(bins[inside], minlength=len(expected) + 1), np.bincount(bins, expected)
        kept = np.flatnonzero(expected)
        return stats.chisquare(counts[kept], expected[kept] * (people / expected.sum())).pvalue

    for at, epsilon in enumerate((0.5, 0.5, 2.0)):
        assert p_value(at, epsilon) > 1e-6 > p_value(at, 2 * epsilon)
    assert abs(np.corrcoef(reports[:, 0], reports[:, 1])[0, 1]) < 5 / math.sqrt(people)


def test_scaling_after_the_noise_squeezes_laplace_and_leaves_brr_alone(trained_on):
    for mechanism in ("brr", "clamped-laplace", "rescaled-laplace"):
        _, inputs, _ = trained_on(mechanism=mechanism)  # all fill [0, 1], so that min–max changes nothing of two
        np.testing.assert_array_equal(inputs.min(axis=0), 0)
        np.testing.assert_array_equal(inputs.max(axis=0), 1)
    # Laplace of scale 1/2 on some 240 rows has a range of about 1 + 2·ln(240)/2: a step of 1 is below a third of it.
    hot, cold = (inputs[dnn_readings.loaded("adult", None).inputs == value].mean() for value in (1, 0))
    assert 0.1 < hot - cold < 1 / 3


def test_the_epoch_that_is_best_on_public_rows_is_taken_the_first_of_equals(monkeypatch, trained_on):
    def found(epochs, *public):
        shares = iter(public)
        monkeypatch.setattr(dnn_readings, "accuracy", lambda *_: next(shares))
        rows, _, _ = trained_on(epochs=epochs)
        return {(row["setting"], row["metric"]): row["value"] for row in rows}

    monkeypatch.setattr(dnn_readings, "seed_of", lambda _: 4)  # else the noise of two epochs is another one
    longer, shorter = found(3, 0.6, 0.8, 0.8), found(2, 0.1, 0.2)
    for metric in ("accuracy", "balanced_accuracy", "auc"):
        assert longer["tuned", metric] == shorter["paper", metric]
    assert longer["tuned", "auc"] != longer["paper", "auc"]


(PRINTED,) = (claim for claim in CLAIMS if claim.key == "networks, +3.22 %")
TABLES = {name: table(name) for name in PRINTED.needs}


@pytest.mark.parametrize(
    ("where", "more", "verdict"),
    [
        ("mechanism == 'bounded'", "-0.02", Verdict.FAILS),  # both numbers, by noise that ignores ε in BRR's place
        ("mechanism == 'brr' and epsilon > 0.25", "0.035", Verdict.FAILS),  # the mean alone
        ("mechanism == 'brr'", "0.035", Verdict.READING),
    ],
)
def test_a_reading_gives_both_printed_numbers_and_with_brr(where, more, verdict):
    assert {pair.reading for pair in PAIRS} == set(READINGS)
    assert PRINTED.judge(Edit("dnn_readings", where, "value", f"value + {more}").made(TABLES)).verdict == verdict
