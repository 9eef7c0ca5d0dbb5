"""The network experiment on made-up rows of the public domains, and its preparation on the data sets."""

import json
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from reproduction.claims import networks
from reproduction.experiments import dnn, dnn_data
from reproduction.experiments.dnn import Cell, Settings, cells, draw, measure
from reproduction.tests.reading import words

TINY = Settings(epsilons=(1.0, 20.0), seeds=2, rows=None, epochs=(1, 2), learning_rates=(1e-2,), points=11)


def made_up(dataset, people=400):
    """Rows drawn from the public domains; the label follows the first column."""
    generator = np.random.default_rng(1)
    domains = dnn_data.DOMAINS[dataset]
    rows = np.empty((people, len(domains)), dtype=object)
    for at, domain in enumerate(domains.values()):
        if isinstance(domain, tuple):
            rows[:, at] = generator.uniform(*domain, people)
        else:
            rows[:, at] = generator.choice(domain, people)
    low, high = domains["age"]
    return rows, (rows[:, 0].astype(float) > low + 0.7 * (high - low)).astype(np.int64)


@pytest.fixture(autouse=True)
def rows_without_files(monkeypatch, request):
    if "data" not in request.keywords:
        monkeypatch.setattr(dnn_data, "prepared", made_up)


@pytest.fixture(scope="module")
def measured():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dnn_data, "prepared", made_up)
        return [row for cell in cells(TINY) for row in measure(cell)]


def test_cells_are_one_a_setting_and_references_have_no_epsilon():
    found = cells(TINY)
    assert len(found) == len(set(found)) == 2 * (4 * 2 * 2 * 2 + 2 + 1)
    assert {cell.epsilon for cell in found if cell.mechanism in {"none", "majority"}} == {0.0}
    assert len({cell.seed for cell in found}) == 2
    everything = Settings()
    assert {0.25, 3.5, 20.0} <= set(everything.epsilons)
    assert set(everything.mechanisms) == {"brr", "anchored", "laplace", "piecewise", "none", "majority"}
    assert set(cell.dataset for cell in cells(dnn.QUICK)) == {"adult", "bank"}  # noqa: C401


def test_rows_are_tidy_and_complete(measured):
    assert json.loads(json.dumps(measured)) == measured
    for row in measured:
        assert set(row) == {"dataset", "mechanism", "epsilon", "labels", "seed", "setting", "metric", "value"}
        assert 0 <= row["value"] <= 1
    assert {row["metric"] for row in measured} == {"accuracy", "balanced_accuracy", "auc"}
    # The grid without the paper's plan has tuned rows only, but for the majority class.
    assert {row["setting"] for row in measured if row["mechanism"] == "brr"} == {"tuned"}


def test_a_cell_is_measured_alike_twice_and_another_seed_otherwise():
    cell = next(cell for cell in cells(TINY) if cell.mechanism == "brr" and cell.epsilon == 20)
    assert measure(cell) == measure(cell)
    assert measure(cell) != measure(replace(cell, seed=1))


def test_without_privacy_more_is_learned_and_the_majority_class_knows_nothing(measured):
    def mean(mechanism, metric):
        return np.mean([r["value"] for r in measured if r["mechanism"] == mechanism and r["metric"] == metric])

    assert mean("majority", "balanced_accuracy") == mean("majority", "auc") == 0.5
    assert mean("none", "auc") > 0.6
    share = made_up("adult")[1].mean()
    assert mean("majority", "accuracy") == pytest.approx(1 - share, abs=0.01)


@pytest.mark.parametrize("labels", ["public", "randomised"])
@pytest.mark.parametrize("dataset", ["adult", "bank"])
def test_a_row_and_its_label_stay_within_epsilon(dataset, labels):
    how = (None, (1,), (1e-3,), 21)
    for mechanism in ("brr", "anchored", "laplace", "piecewise"):
        columns, label = dnn._columns(Cell(dataset, mechanism, 0.25, labels, 0, *how))
        columns.fit(made_up(dataset, 3)[0])
        spent = sum(map(Fraction, columns.epsilon_per_column_.values())) + Fraction(label or 0)
        assert Fraction("0.2499999999999999") < spent <= Fraction("0.25")
        assert label == (Decimal("0.125") if labels == "randomised" else None)
        assert len(columns.epsilon_per_column_) == {"adult": 14, "bank": 20}[dataset]


def test_the_same_plan_is_taken_from_the_same_reports():
    # Fewer epochs are a stop on the way: one training, not two.
    cell = Cell("adult", "brr", 1.0, "public", 0, None, (1, 3), (1e-3,), 11)
    inputs, labels = np.random.default_rng(1).random((60, 4), dtype=np.float32), np.arange(60) % 2
    both = dnn._grid(cell, inputs, labels, None, 5)
    alone = dnn._grid(replace(cell, epochs=(1,)), inputs, labels, None, 5)
    np.testing.assert_array_equal(both[1, 1e-3][0][0], alone[1, 1e-3][0][0])
    assert (both[3, 1e-3][0][0] != both[1, 1e-3][0][0]).any()


def test_gains_are_paired_by_seed_and_averaged_over_the_papers_range():
    def row(mechanism, epsilon, seed, value):
        shared = {"dataset": "adult", "labels": "public", "setting": "paper", "metric": "accuracy"}
        return shared | {"mechanism": mechanism, "epsilon": epsilon, "seed": seed, "value": value}

    rows = [row("laplace", e, s, 0.7) for e in (0.25, 3.5, 20.0) for s in (0, 1)]
    rows += [
        row("brr", e, s, 0.7 + 0.01 * (s + 1) + (0.2 if e == 20 else 0)) for e in (0.25, 3.5, 20.0) for s in (0, 1)
    ]
    found = networks.apart(rows, "adult", "paper")
    low, high = stats.ttest_1samp([0.01, 0.02], 0).confidence_interval(0.95)
    assert (found.mean, found.low, found.high) == pytest.approx((0.015, low, high))
    assert networks.apart(rows, "adult", "paper", 20.0).mean == pytest.approx(0.215)
    assert networks.apart(rows, "bank", "paper") is None


def test_pictures_name_every_line_and_their_axes(measured):
    pictures = draw(measured)
    assert set(pictures) == {"dnn_tuned_public", "dnn_tuned_randomised", "dnn_gains"}
    for labels in ("public", "randomised"):
        picture = pictures[f"dnn_tuned_{labels}"]
        for name in (*dnn.MECHANISMS.values(), f"Adult, labels {labels}, chosen plan:", "ε of a whole row"):
            assert name in words(picture)
    assert "the paper: +3.22 % on average; +5.29 %" in words(pictures["dnn_gains"])
    assert "Labels are public: ε does not protect them" in pictures["dnn_tuned_public"]
    assert "Labels are randomised within ε" in pictures["dnn_tuned_randomised"]


def test_without_extra_lines_the_pictures_have_what_the_paper_draws(measured):
    pictures = draw(measured, extra=False)
    assert set(pictures) == {"dnn_tuned_public", "dnn_gains"}
    told = words(pictures["dnn_tuned_public"])
    for name in ("BRR", "Laplace", "no privacy"):
        assert name in told
    for name in ("Adult", "Bank"):
        assert f"{name}, labels public, chosen plan: accuracy" in told
    for name in ("Anchored", "Piecewise", "majority class", "balanced"):
        assert name not in told


@pytest.mark.data
def test_the_data_sets_have_as_many_features_as_the_paper_says():
    for dataset, count, people, share in (("adult", 14, 45_222, 0.248), ("bank", 20, 41_188, 0.113)):
        rows, labels = dnn_data.prepared(dataset)
        assert rows.shape == (people, count)
        assert len(dnn_data.DOMAINS[dataset]) == count
        assert labels.mean() == pytest.approx(share, abs=0.001)
        parts = dnn_data.split(dataset)
        sizes = [len(part[1]) for part in (parts.private, parts.public, parts.test)]
        assert sum(sizes) == people
        assert sizes[2] == pytest.approx(0.33 * people, abs=1)
        assert parts.test[1].mean() == pytest.approx(labels.mean(), abs=1e-4)


@pytest.mark.data
def test_public_ranges_and_categories_hold_the_data():
    for dataset in ("adult", "bank"):
        rows, _ = dnn_data.prepared(dataset)
        for column, (name, domain) in zip(rows.T, dnn_data.DOMAINS[dataset].items(), strict=True):
            if isinstance(domain, tuple):
                assert domain[0] <= min(column) and max(column) <= domain[1], name
            else:
                assert set(column) <= set(domain), name
    assert len(dnn_data.DOMAINS["adult"]["education"]) == 6
