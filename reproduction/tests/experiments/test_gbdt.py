"""Figure 9 and its readings on a small data set: folds, baselines, and readings that are what their names say."""

import math

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from reproduction.experiments import gbdt, gbdt_readings, gbdt_tasks
from reproduction.experiments.gbdt import MEAN, MIDDLE, NO_NOISE
from reproduction.experiments.gbdt_readings import ONE, READINGS, THREE
from reproduction.experiments.gbdt_tasks import Records
from reproduction.tests.committed import table


@pytest.fixture
def diabetes(monkeypatch):
    features, targets = load_diabetes(return_X_y=True)
    records = Records(features, targets, ((-0.25, 0.25),) * 10, (8,) * 10, (25.0, 350.0))
    for module in (gbdt, gbdt_readings):
        monkeypatch.setattr(module, "records_of", lambda _: records)
    return records


def figure_9(mechanism, epsilon="5", seed=0, folds=2):
    (row,) = gbdt.measure("abalone", mechanism, epsilon, 21, seed, folds)
    return row


def read(name, mechanism, seed=0):
    (row,) = gbdt_readings.measure(name, "abalone", mechanism, "5", seed, 2)
    return row


def test_folds_hold_every_record_out_once():
    folds = list(gbdt.held_out("abalone", 0, 3, 100))
    assert np.sum(folds, axis=0).tolist() == [1] * 100
    assert [int(each.sum()) for each in folds] == [34, 33, 33]
    assert (np.array(folds) != list(gbdt.held_out("abalone", 1, 3, 100))).any()


def test_baselines_are_what_they_say(diabetes):
    y = diabetes.targets
    assert figure_9(MIDDLE)["rmse"] == pytest.approx(math.sqrt(np.mean((y - 187.5) ** 2)))
    squares = sum(((y[held] - y[~held].mean()) ** 2).sum() for held in gbdt.held_out("abalone", 0, 3, len(y)))
    assert figure_9(MEAN, folds=3)["rmse"] == pytest.approx(math.sqrt(squares / len(y)))
    assert figure_9(gbdt.ALL_RECORDS)["rmse"] < y.std()


@pytest.mark.usefixtures("diabetes")
def test_predictions_in_the_range_are_never_worse():
    # Every target lies in the range, so that clamping moves a prediction towards it or leaves it.
    row = figure_9("Laplace", epsilon="0.1")
    assert row["rmse_in_range"] < row["rmse"]


@pytest.mark.data
@pytest.mark.parametrize(("name", "shape"), [("abalone", (4177, 10)), ("bias-slope", (7588, 21)),
                                             ("bias-tmax", (7588, 22)), ("superconduct", (21_263, 81))])  # fmt: skip
def test_public_ranges_hold_nearly_all_records_and_leave_no_feature_out(name, shape):
    records = gbdt_tasks.records_of(name)
    assert records.features.shape == shape
    assert len(records.feature_range) == len(records.bins) == shape[1]
    low, high = np.array(records.feature_range).T
    assert ((records.features < low) | (records.features > high)).mean(axis=0).max() < 0.001
    # The largest target of superconductivity is 185, the smallest 0.00021; those of Bias have rounding of their own.
    assert records.targets.min() >= records.target_range[0] - 1e-9
    assert records.targets.max() <= records.target_range[1] + 1e-9


def test_what_keeps_no_epsilon_says_so_in_its_name():
    for name, each in READINGS.items():
        assert each.keeps_epsilon != ("unsound" in name or "not private" in name)


@pytest.mark.usefixtures("diabetes")
def test_one_ensemble_is_figure_9_draw_by_draw():
    for name, epsilon in (("Laplace", "5"), (NO_NOISE, "0")):
        ours, theirs = read(ONE, name, seed=1), figure_9(name, epsilon, seed=1)
        assert (ours["rmse"], ours["epsilon"]) == (theirs["rmse"], theirs["epsilon"])


def test_the_committed_rows_of_one_ensemble_are_those_of_figure_9():
    ours, theirs = table("gbdt_readings").query("reading == @ONE"), table("gbdt").query("points == 21")
    both = ours.merge(theirs, on=["task", "mechanism", "epsilon", "seed"])
    assert len(both) == len(ours) == 3 * 4 * 5 and both["rmse_x"].equals(both["rmse_y"])


@pytest.mark.usefixtures("diabetes")
def test_ensembles_have_the_trees_that_are_said(monkeypatch):
    seen, made = [], gbdt.regressor
    monkeypatch.setattr(gbdt, "regressor", lambda *given, **more: seen.append(made(*given, **more)) or seen[-1])
    for name, trees in {ONE: 50, "two ensembles of 25": 25, THREE: 17, "five ensembles of 10": 10,
                        "all records in every tree, ε/50 each": 1}.items():  # fmt: skip
        read(name, "BRR")
        assert (seen[-1].ensemble_trees or 50, len(seen[-1].trees_[0])) == (trees, 50)


@pytest.mark.parametrize("name", READINGS)
def test_a_reading_is_measured_the_same_every_time_and_says_what_it_spends(name, diabetes):
    row = read(name, "Laplace, clamped")
    assert read(name, "Laplace, clamped") == row
    assert row["spent"] == (5 if READINGS[name].keeps_epsilon else math.inf)
    plain = read(name, NO_NOISE)
    assert (plain["epsilon"], plain["spent"]) == (0.0, math.inf)
    # Not far above always the middle: trees of full steps learn too much from so few records.
    assert plain["rmse"] < 1.1 * math.sqrt(((diabetes.targets - 187.5) ** 2).mean())
