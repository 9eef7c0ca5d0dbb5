"""The readings of appendix B.3 on made-up rows of the public domains: what each draws, and what it really spends."""

import itertools
import json
import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from bipartite.domains import Interval
from bipartite.learn import PrivateColumns
from bipartite.lottery import insecure_seed
from reproduction.claims import networks
from reproduction.experiments import dnn_data, dnn_readings
from reproduction.experiments.dnn_readings import (
    BOUNDED,
    LEAST,
    POINTS,
    READINGS,
    Cell,
    Settings,
    budgets,
    cells,
    coordinates,
    draw,
    importances,
    measure,
    perturbed,
    spent,
    train_as_torch_does,
)
from reproduction.learning.network_training import TrainingPlan, class_chances
from reproduction.tests.experiments.test_dnn import made_up
from reproduction.tests.reading import words

ALL = [(dataset, reading, (0.25, 2.0)) for dataset in ("adult", "bank") for reading in READINGS]
TINY = Settings(runs=tuple(ALL), seeds=2, epochs=1)
COLUMNS = {"adult": (6, 8), "bank": (10, 10)}  # of numbers, and of categories
SMALL = {"number": (0, 10), "category": ["a", "b", "c"], "two": ["x", "y"]}


@pytest.fixture(scope="module", autouse=True)
def rows_without_files():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dnn_data, "prepared", made_up)
        dnn_readings.loaded.cache_clear()
        yield
    dnn_readings.loaded.cache_clear()


@pytest.fixture(scope="module")
def measured():
    return [row for cell in cells(TINY) for row in measure(cell)]


def test_every_reading_is_run_and_those_that_could_give_the_numbers_at_every_budget_of_the_figure():
    found = cells(Settings())
    assert len(found) == len(set(found)) == 5 * (32 + 33 + 3 * 24 + 12 + 4 + 4 + 4)
    assert {cell.reading for cell in found} == set(READINGS)
    for reading in ("coordinates", "weighted columns"):
        epsilons = {cell.epsilon for cell in found if (cell.dataset, cell.reading) == ("adult", reading)}
        assert epsilons - {0.0} == {0.25, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5}
    assert {(cell.reading, cell.epsilon) for cell in found if cell.mechanism == BOUNDED} == {("weighted columns", 0.0)}
    assert {cell.rows for cell in found} == {None}


def test_a_network_that_starts_as_torch_does_learns_and_begins_within_its_bounds():
    rng = np.random.default_rng(1)
    inputs = rng.random((400, 9), dtype=np.float32)
    labels = (inputs[:, 0] > inputs[:, 1]).astype(np.int64)
    plan = TrainingPlan(epochs=12, batch_size=20, learning_rate=0.01, device="cpu")
    runs = []
    for _ in range(2):
        kept = {}
        train_as_torch_does(inputs, labels, plan, 7, lambda epoch, read, kept=kept: kept.update({epoch: read()}))
        runs.append(kept)
    assert list(runs[0]) == list(range(1, 13))
    assert all(
        (a == b).all()
        for one, other in zip(runs[0][12], runs[1][12], strict=True)
        for a, b in zip(one, other, strict=True)
    )
    assert ((class_chances(runs[0][12], inputs)[:, 1] > 1 / 2) == labels).mean() > 0.9
    begun = {}
    still = replace(plan, epochs=1, learning_rate=1e-12)
    train_as_torch_does(inputs, labels, still, 7, lambda epoch, read: begun.update({epoch: read()}))
    for (weight, bias), wide in zip(begun[1], (9, *plan.hidden), strict=True):
        bound = wide**-0.5
        assert weight.shape[0] == wide and np.abs(weight).max() <= bound and np.abs(bias).max() <= bound
        assert np.abs(weight).max() > 0.9 * bound and bias.any()  # no biases of Glorot and Bengio


def test_batches_are_those_of_the_product_where_a_reading_says_nothing():
    assert READINGS["coordinates"].batch == TrainingPlan.batch_size


def test_claims_call_readings_as_pictures_do():
    assert [pair.reading for pair in networks.PAIRS if pair.words == READINGS[pair.reading].words] == list(READINGS)
    assert all(pair.words.startswith(READINGS[pair.reading].words.split(",")[0]) for pair in networks.PAIRS)


def test_rows_are_tidy_and_complete(measured):
    assert json.loads(json.dumps(measured)) == measured
    columns = {"dataset", "reading", "mechanism", "epsilon", "spends", "noise_spends", "seed", "setting", "metric"}
    assert all(set(row) == columns | {"value"} and 0 <= row["value"] <= 1 for row in measured)
    assert {row["metric"] for row in measured} == {"accuracy", "balanced_accuracy", "auc"}


def test_a_cell_is_measured_alike_twice_and_another_seed_otherwise():
    cell = Cell("adult", "coordinates", "brr", 3.5, 0, None, 2)
    assert measure(cell) == measure(cell)
    assert measure(cell)[2]["value"] != measure(replace(cell, seed=1))[2]["value"]


def test_mechanisms_of_a_seed_start_alike_and_no_two_cells_share_their_noise(monkeypatch):
    seen = []
    real = dnn_readings.train_network

    def train(inputs, *given, seed, after_epoch):
        seen.append((seed, inputs))
        return real(inputs, *given, seed=seed, after_epoch=after_epoch)

    monkeypatch.setattr(dnn_readings, "train_network", train)
    first = Cell("adult", "coordinates", "laplace", 1.0, 0, None, 1)
    for cell in (first, replace(first, mechanism="clamped-laplace"), replace(first, seed=1)):
        measure(cell)
    (seed, free), (other, clamped), (third, _) = seen
    assert seed == other != third
    inside = (free >= 0) & (free <= 1)
    assert clamped.min() >= 0 and clamped.max() <= 1
    assert not np.array_equal(free[inside], clamped[inside])


def information(labels, values):
    """The mutual information, from its definition."""
    both, ones, others = Counter(zip(labels, values, strict=True)), Counter(labels), Counter(values)
    people = len(labels)
    return sum(n / people * math.log(n * people / (ones[a] * others[b])) for (a, b), n in both.items())


def test_importance_is_mutual_information_with_the_label_and_never_nothing():
    generator = np.random.default_rng(3)
    labels = generator.integers(0, 2, 500)
    rows = np.empty((500, 3), dtype=object)
    rows[:, 0] = np.clip(5 * labels + generator.uniform(-1, 6, 500), -0.5, 12)  # some lie outside the range
    rows[:, 1] = generator.choice(["a", "b", "c"], 500)
    rows[:, 2] = "x"
    nodes = [round(min(max(float(each), 0), 10) * 2) for each in rows[:, 0]]
    bare = [information(labels.tolist(), each) for each in (nodes, rows[:, 1].tolist(), rows[:, 2].tolist())]
    shares = [max(each / sum(bare), LEAST) for each in bare]
    assert shares[2] == LEAST
    found = importances(rows, labels, list(SMALL.values()))
    np.testing.assert_allclose(found, [3 * each / sum(shares) for each in shares], rtol=1e-9)


@pytest.mark.parametrize("reading", [name for name, each in READINGS.items() if each.one_hot != "GRR"])
@pytest.mark.parametrize("mechanism", ["brr", "laplace", "clamped-laplace"])
def test_what_a_row_spends_is_the_largest_ratio_of_the_chances_of_its_reports(monkeypatch, reading, mechanism):
    # By enumeration: every pair of rows, the worst report of each coordinate; coordinates are reported independently.
    monkeypatch.setattr(dnn_readings, "DOMAINS", {"small": SMALL})
    parts = budgets(reading, 0.75, np.array([1.0, 1.5, 0.5]))
    of_each = coordinates("small", reading, parts)
    matrices = [dnn_readings._MAKERS[mechanism](Interval(0, 1, points=POINTS), each).matrix() for each in of_each]
    rows = [
        (number, *[int(at == category) for at in range(3)], *[int(at == two) for at in range(2)])
        for number, category, two in itertools.product((0, 0.5, 1), range(3), range(2))
    ]
    most = max(
        sum(
            np.log(chances[round(20 * a)] / chances[round(20 * b)]).max()
            for chances, a, b in zip(matrices, one, other, strict=True)
        )
        for one, other in itertools.permutations(rows, 2)
    )
    assert spent("small", reading, parts) == pytest.approx(most, rel=1e-6)


@pytest.mark.parametrize("dataset", ["adult", "bank"])
def test_what_the_readings_spend_for_each_epsilon_that_they_name(dataset, measured):
    numbers, categories = COLUMNS[dataset]
    for row in measured:
        if row["dataset"] != dataset or row["mechanism"] == BOUNDED:
            continue
        epsilon, noise = row["epsilon"], row["noise_spends"]
        if row["reading"].startswith("coordinates"):
            assert row["spends"] == noise == epsilon * (numbers + 2 * categories)
        elif row["reading"] == "columns":
            assert row["spends"] == noise == epsilon * (numbers + categories)
        elif row["reading"] == "weighted columns":
            assert row["spends"] == "∞"
            assert epsilon * (numbers + categories) < noise < 2 * epsilon * (numbers + categories)
        else:
            assert noise == pytest.approx(epsilon, abs=1e-12)
            assert row["spends"] == ("∞" if row["reading"] == "weighted row" else noise)


def test_noise_that_ignores_epsilon_keeps_none(measured):
    found = [row for row in measured if row["mechanism"] == BOUNDED]
    assert {(row["spends"], row["noise_spends"], row["epsilon"]) for row in found} == {("∞", "∞", 0.0)}


@pytest.mark.parametrize("dataset", ["adult", "bank"])
@pytest.mark.parametrize("reading", ["weighted row", "weighted row, public weights"])
def test_a_weighted_row_is_drawn_within_one_epsilon_by_these_weights(monkeypatch, dataset, reading):
    made = []

    class Kept(PrivateColumns):
        def fit_transform(self, rows):
            made.append(self)
            return super().fit_transform(rows)

    monkeypatch.setattr(dnn_readings, "PrivateColumns", Kept)
    dnn_readings.loaded.cache_clear()
    measure(Cell(dataset, reading, "laplace", 0.25, 0, None, 1))
    parts = list(made[-1].epsilon_per_column_.values())
    assert Fraction("0.2499999999999999") < sum(map(Fraction, parts)) <= Fraction("0.25")
    own = dnn_data.split(dataset)
    rows, labels = own.public if "public" in reading else own.private
    weights = importances(rows, labels, list(dnn_data.DOMAINS[dataset].values()))
    np.testing.assert_allclose([float(each) for each in parts], 0.25 * weights / weights.sum(), rtol=1e-9)
    dnn_readings.loaded.cache_clear()


@pytest.mark.parametrize("mechanism", ["brr", "laplace", "clamped-laplace"])
def test_coordinates_are_reported_by_the_law_of_their_own_epsilon(mechanism):
    # Chi-square with false alarms of one in a million for each; the law of twice the ε is rejected.
    people = 20_000
    inputs = np.tile([0.0, 1.0, 0.0], (people, 1))
    reports = perturbed(inputs, np.array([0.5, 0.5, 2.0]), mechanism, insecure_seed(8))

    def p_value(at, epsilon):
        made = dnn_readings._MAKERS[mechanism](Interval(0, 1, points=POINTS), epsilon)
        expected = people * made.matrix()[round(20 * inputs[0, at])]
        places = np.rint(20 * (reports[:, at] - float(made.outputs.decode(0)))).astype(int)
        inside = np.clip(places, 0, len(expected) - 1)  # another law may have fewer reports
        counts = np.bincount(inside, minlength=len(expected))
        kept = expected >= 10
        counts = [*counts[kept], counts[~kept].sum()] if (~kept).any() else counts
        expected = [*expected[kept], expected[~kept].sum()] if (~kept).any() else expected
        return stats.chisquare(counts, np.array(expected) * (people / np.sum(expected))).pvalue

    for at, epsilon in enumerate((0.5, 0.5, 2.0)):
        assert p_value(at, epsilon) > 1e-6
        assert p_value(at, 2 * epsilon) < 1e-6
    assert abs(np.corrcoef(reports[:, 0], reports[:, 1])[0, 1]) < 5 / math.sqrt(people)


def test_scaling_after_the_noise_squeezes_laplace_and_leaves_brr_alone(monkeypatch):
    seen = []
    real = dnn_readings.train_network
    monkeypatch.setattr(
        dnn_readings,
        "train_network",
        lambda inputs, *given, **named: seen.append(inputs) or real(inputs, *given, **named),
    )
    cell = Cell("adult", "coordinates", "rescaled-laplace", 2.0, 0, None, 1)
    for each in (cell, replace(cell, mechanism="brr"), replace(cell, mechanism="clamped-laplace")):
        measure(each)
    for inputs in seen:  # all fill [0, 1], so that min–max of the last two changes nothing
        np.testing.assert_array_equal(inputs.min(axis=0), 0)
        np.testing.assert_array_equal(inputs.max(axis=0), 1)
    # Laplace of scale 1/2 on some 240 rows has a range of about 1 + 2·ln(240)/2: a step of 1 is below a third of it.
    hot, cold = (seen[0][dnn_readings.loaded("adult", None).inputs == value].mean() for value in (1, 0))
    assert 0.1 < hot - cold < 1 / 3


def test_the_epoch_that_is_best_on_public_rows_is_taken_the_first_of_equals(monkeypatch):
    cell = Cell("adult", "coordinates", "brr", 2.0, 0, None, 3)
    data = dnn_readings.loaded("adult", None)
    shares = iter([0.6, 0.8, 0.8])
    monkeypatch.setattr(dnn_readings, "accuracy", lambda *_: next(shares))
    found = {(row["setting"], row["metric"]): row["value"] for row in measure(cell)}
    for setting, epochs in (("paper", 3), ("tuned", 2)):
        layers = dnn_readings.train_network(
            dnn_readings._reports(cell, data, insecure_seed(dnn_readings._word(repr(cell)))).astype(np.float32),
            data.labels,
            2,
            dnn_readings.TrainingPlan(epochs=epochs, device="cpu"),
            seed=dnn_readings._word("adult 0") >> 1,
        )
        chances = dnn_readings.class_chances(layers, data.test[0])[:, 1]
        assert found[setting, "accuracy"] == np.mean((chances > 0.5) == data.test[1])


def test_pictures_name_readings_what_they_spend_and_what_the_paper_prints(measured):
    pictures = draw(measured)
    assert set(pictures) == {"dnn_readings_gains_paper", "dnn_readings_paper", "dnn_readings_gains_tuned",
                             "dnn_readings_tuned"}  # fmt: skip
    for name, picture in pictures.items():
        told = words(picture)
        for reading in (
            "Adult, ε on every coordinate: a row spends 22·ε",
            "Bank, ε on every coordinate: a row spends 30·ε",
        ):
            assert reading in told
        assert ("10 epochs, the paper's plan" in told) is name.endswith("paper")
        assert ("best on public rows" in told) is name.endswith("tuned")
        gains = ("BRR minus Laplace", "BRR minus clamped Laplace", "+3.22 %", "+5.29 %")
        for each in gains if "gains" in name else dnn_readings.MECHANISMS.values():
            assert each in told
