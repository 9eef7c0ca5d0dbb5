"""Readings of figure 9: each is what its name says."""

import math

import pytest
from sklearn.datasets import load_diabetes

import result_tables
from reproduction.experiments import gbdt, gbdt_readings
from reproduction.experiments.gbdt_readings import (
    NAMES,
    NOTE,
    ONE,
    PUBLISHED,
    READINGS,
    SCRIPTED,
    THREE,
    Cell,
    Settings,
    cells,
    measure,
)
from reproduction.experiments.gbdt_tasks import Records
from reproduction.runner.contract import select
from reproduction.tests.reading import words


@pytest.fixture
def diabetes(monkeypatch):
    features, targets = load_diabetes(return_X_y=True)
    records = Records(features, targets, ((-0.25, 0.25),) * 10, (8,) * 10, (25.0, 350.0))
    monkeypatch.setattr(gbdt, "records_of", lambda _: records)
    monkeypatch.setattr(gbdt_readings, "records_of", lambda _: records)
    return records


def test_every_reading_runs_at_5_with_every_mechanism_and_three_at_more_budgets():
    made = cells(Settings())
    several = {each.reading for each in made if each.epsilon != "5"}
    assert several == {THREE, PUBLISHED, SCRIPTED}
    assert len(set(made)) == len(made) == 3 * 5 * (len(READINGS) * 4 + 3 * 3 * 2)
    assert {each.mechanism for each in made} == {*NAMES, "no privacy"}


def test_every_reading_says_what_it_changes_and_spends():
    for at, (name, each) in enumerate(READINGS.items(), 1):
        line = NOTE.splitlines()[at - 1]
        assert line.startswith(f"{at}, {name}. ") and each.changes[1:] in line and each.meant_by in line
        # What keeps no ε says so in its name.
        assert each.sound != ("unsound" in name or "not private" in name)
    assert "fitted" in READINGS[THREE].meant_by


@pytest.mark.usefixtures("diabetes")
def test_one_ensemble_is_figure_9_draw_by_draw():
    for name in ("Laplace", "no privacy"):
        (row,) = measure(Cell(ONE, "abalone", name, "5", 1, 2))
        epsilon = "0" if name == "no privacy" else "5"
        (theirs,) = gbdt.measure(gbdt.Cell("abalone", name, epsilon, 21, 1, 2, 50, 5))
        assert (row["rmse"], row["epsilon"]) == (theirs["rmse"], theirs["epsilon"])


@pytest.mark.usefixtures("diabetes")
def test_ensembles_have_the_trees_that_are_said(monkeypatch):
    seen = []
    made = gbdt.regressor
    monkeypatch.setattr(gbdt, "regressor", lambda *given, **more: seen.append(made(*given, **more)) or seen[-1])
    for name, trees in {ONE: 50, "two ensembles of 25": 25, THREE: 17, "five ensembles of 10": 10}.items():
        (row,) = measure(Cell(name, "abalone", "BRR", "5", 0, 2))
        assert (row["spent"], seen[-1].ensemble_trees or 50) == (5.0, trees)
        assert len(seen[-1].trees_[0]) == 50


@pytest.mark.parametrize("name", list(READINGS))
def test_a_reading_is_measured_the_same_every_time_and_says_what_it_spends(name, diabetes):
    (row,) = measure(Cell(name, "abalone", "Laplace, clamped", "5", 0, 2))
    assert measure(Cell(name, "abalone", "Laplace, clamped", "5", 0, 2)) == [row]
    assert row["spent"] == (5 if READINGS[name].sound else math.inf)
    (plain,) = measure(Cell(name, "abalone", "no privacy", "5", 0, 2))
    assert (plain["epsilon"], plain["spent"]) == (0.0, math.inf)
    # Not far above always the middle: trees of full steps learn too much from so few records.
    assert plain["rmse"] < 1.1 * math.sqrt(((diabetes.targets - 187.5) ** 2).mean())


def test_pictures_name_data_and_reading_and_show_the_papers_ratio():
    rows = [
        {"reading": name, "task": task, "mechanism": mechanism, "epsilon": epsilon, "seed": seed,
         "rmse": (seed + 4) * (0.5 if mechanism == "BRR" else 1.0)}
        for name in READINGS
        for task in ("abalone", "superconduct")
        for mechanism, epsilons in {**dict.fromkeys(NAMES, (1.0, 5.0)), "no privacy": (0.0,)}.items()
        for epsilon in epsilons
        for seed in range(3)
    ]  # fmt: skip
    drawn = gbdt_readings.draw(rows)
    assert set(drawn) == {"gbdt_readings", "gbdt_readings_epsilon"}
    told = {name: words(svg) for name, svg in drawn.items()}
    for name in (
        "the paper: 45 % of Laplace’s", "BRR over Laplace, clamped", f"3: {THREE}", "abalone: rings, by reading, ε = 5"
    ):  # fmt: skip
        assert name in told["gbdt_readings"]
    assert all(f">{name}</text>" in drawn["gbdt_readings_epsilon"] for name in ("BRR", "Laplace", "no privacy"))


def test_the_committed_rows_of_one_ensemble_are_those_of_figure_9():
    theirs = {
        (row["task"], row["mechanism"], row["epsilon"], row["seed"]): row["rmse"]
        for row in select(result_tables.rows("gbdt"), points=21)
    }
    ours = select(result_tables.rows("gbdt_readings"), reading=ONE)
    assert len(ours) == 3 * 4 * 5
    for row in ours:
        assert row["rmse"] == theirs[row["task"], row["mechanism"], row["epsilon"], row["seed"]]
