import math

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from reproduction.claims import boosting
from reproduction.experiments import gbdt, gbdt_tasks
from reproduction.experiments.gbdt import ALL_RECORDS, BASELINES, LEAVES, Cell, Settings, cells, draw, figures, measure
from reproduction.experiments.gbdt_tasks import Records
from reproduction.tests.reading import words

TINY = Settings(tasks=("abalone",), epsilons=("1", "5"), points=(5,), seeds=2, folds=2, trees=2, depth=1)


@pytest.fixture
def diabetes(monkeypatch):
    features, targets = load_diabetes(return_X_y=True)
    records = Records(features, targets, ((-0.25, 0.25),) * 10, (8,) * 10, (25.0, 350.0))
    monkeypatch.setattr(gbdt, "records_of", lambda _: records)
    return records


def cell(mechanism, epsilon="5", seed=0, **changes):
    settings = {"task": "abalone", "points": 21, "folds": 3, "trees": 4, "depth": 2}
    return Cell(mechanism=mechanism, epsilon=epsilon, seed=seed, **settings | changes)


def test_the_full_run_has_all_that_the_paper_shows_and_its_baselines():
    made = cells(Settings())
    assert len(set(made)) == len(made) == 4 * 5 * (4 + 5 * 7 + 3 * 6)
    assert {each.mechanism for each in made} == {*LEAVES, *BASELINES}
    assert {each.depth for each in made} == {5}
    assert {each.points for each in made if each.mechanism == "BRR"} == {5, 11, 21, 41, 61, 81, 101}


@pytest.mark.usefixtures("diabetes")
def test_a_cell_measures_the_same_every_time_and_seeds_differ():
    assert measure(cell("BRR")) == measure(cell("BRR"))
    assert measure(cell("BRR"))[0]["rmse"] != measure(cell("BRR", seed=1))[0]["rmse"]


def test_folds_hold_every_record_out_once():
    folds = list(gbdt.folds("abalone", 0, 3, 100))
    assert np.sum(folds, axis=0).tolist() == [1] * 100
    assert [int(each.sum()) for each in folds] == [34, 33, 33]
    assert (np.array(folds) != list(gbdt.folds("abalone", 1, 3, 100))).any()


def test_baselines_are_what_they_say(diabetes):
    y = diabetes.targets
    (middle,) = measure(cell("always the middle"))
    assert middle["rmse"] == pytest.approx(math.sqrt(np.mean((y - 187.5) ** 2)))
    folds = list(gbdt.folds("abalone", 0, 3, len(y)))
    squares = sum(((y[held] - y[~held].mean()) ** 2).sum() for held in folds)
    assert measure(cell("the mean (no privacy)"))[0]["rmse"] == pytest.approx(math.sqrt(squares / len(y)))
    theirs = measure(cell("scikit-learn (no privacy)", trees=30))[0]["rmse"]
    assert theirs < y.std()


@pytest.mark.usefixtures("diabetes")
def test_predictions_in_the_range_are_never_worse():
    # Every target lies in the range, so that clamping moves a prediction towards it or leaves it.
    (row,) = measure(cell("Laplace", epsilon="0.1"))
    assert row["rmse_in_range"] < row["rmse"]


def row(mechanism, rmse, seed, epsilon=5.0, points=21):
    return {"task": "abalone", "mechanism": mechanism, "epsilon": epsilon, "points": points, "seed": seed, "rmse": rmse}


def test_ratios_are_taken_seed_by_seed():
    rows = [row("BRR", 2.0, 0), row("BRR", 3.0, 1), row("Laplace", 4.0, 0), row("Laplace", 4.0, 1)]
    rows += [row("BRR", 99.0, 0, epsilon=1.0), row("BRR", 99.0, 0, points=5)]
    assert boosting.ratio(rows, "abalone", "Laplace").mean == pytest.approx((0.5 + 0.75) / 2)
    assert boosting.ratio(rows, "abalone", "Laplace, clamped") is None
    assert figures(rows)["abalone", "BRR", 5.0, 21].mean == 2.5


@pytest.mark.usefixtures("diabetes")
def test_a_small_run_is_drawn_with_every_line():
    rows = [each for one in cells(TINY) for each in measure(one)]
    assert len(rows) == len(cells(TINY))
    drawn = draw(rows)
    assert set(drawn) == {"gbdt", "gbdt_shares", "gbdt_leaves", "gbdt_points"}
    told = " ".join(words(svg) for svg in drawn.values())
    assert all(name in told for name in {*LEAVES, *BASELINES} - {ALL_RECORDS})
    plain = draw(rows, extra=False)
    assert set(plain) == {"gbdt", "gbdt_shares", "gbdt_points"}
    for name in ("Anchored", "Geometric", "clamped", "middle", "mean"):
        assert f"{name}</text>" not in plain["gbdt"] + plain["gbdt_points"]
    assert all(f">{name}</text>" in plain["gbdt"] for name in ("BRR", "Laplace", "no privacy"))


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
