"""The network experiment on made-up rows of the public domains, and its preparation on the data sets."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from bipartite.domains import Integers
from bipartite.lottery import insecure_seed
from bipartite.mechanisms import GRR
from reproduction.claims.dnn import apart, gains
from reproduction.experiments import dnn, dnn_data
from reproduction.learning.network_training import network_inputs

POINT = {"dataset": "adult", "mechanism": "brr", "epsilon": 20.0, "labels": "public", "seed": 0, "rows": None,
         "epochs": (1, 2), "learning_rates": (1e-2,), "points": 11}  # fmt: skip


def made_up(dataset, people=400):
    """Rows drawn from the public domains; the label follows the first column."""
    generator = np.random.default_rng(1)
    domains = dnn_data.DOMAINS[dataset]
    rows = np.empty((people, len(domains)), dtype=object)
    for at, domain in enumerate(domains.values()):
        is_range = isinstance(domain, tuple)
        rows[:, at] = generator.uniform(*domain, people) if is_range else generator.choice(domain, people)
    low, high = domains["age"]
    return rows, (rows[:, 0].astype(float) > low + 0.7 * (high - low)).astype(np.int64)


@pytest.fixture(autouse=True)
def rows_without_files(monkeypatch, request):
    if "data" not in request.keywords:
        monkeypatch.setattr(dnn_data, "prepared", made_up)


def measured(**other):
    return {(row["setting"], row["metric"]): row["value"] for row in dnn.measure(**{**POINT, **other})}


def test_words_of_a_point_decide_its_rows_and_without_privacy_more_is_learned():
    found = measured()
    assert found == measured() != measured(seed=1)
    assert found != measured(labels="randomised")
    assert {setting for setting, _ in found} == {"tuned"}  # the grid has not the paper's plan
    assert measured(mechanism="none", epsilon=0.0)["tuned", "auc"] > 0.6
    always = measured(mechanism="majority", epsilon=0.0)
    assert always["paper", "balanced_accuracy"] == always["paper", "auc"] == 0.5
    assert always["paper", "accuracy"] == pytest.approx(1 - made_up("adult")[1].mean(), abs=0.01)


def test_training_sees_reports_only(monkeypatch):
    # Rows and labels that networks are trained on are those of the columns and of randomised response, word by word.
    seen, real = {}, dnn.train_network

    def train(inputs, labels, *given, **named):
        seen.update(inputs=inputs, labels=labels, **named)
        return real(inputs, labels, *given, **named)

    monkeypatch.setattr(dnn, "train_network", train)
    monkeypatch.setattr(dnn, "insecure_seed", lambda _: insecure_seed(7))
    measured(labels="randomised", epsilon=2.0)
    rng, (rows, labels) = insecure_seed(7), dnn_data.split("adult").private
    columns, of_label = dnn.columns_of("adult", "brr", 2.0, "randomised", 11)
    reports = columns.set_params(rng=rng).fit_transform(rows)
    response = GRR(Integers(0, 1), of_label)
    domains = {name: each.domain for name, each in columns.mechanisms_.items()}
    np.testing.assert_array_equal(seen["inputs"], network_inputs(reports, domains))
    np.testing.assert_array_equal(seen["labels"], response.privatize(labels, rng=rng))
    np.testing.assert_array_equal(seen["responses"], response.matrix())


@pytest.mark.parametrize("labels", ["public", "randomised"])
@pytest.mark.parametrize("dataset", ["adult", "bank"])
def test_a_row_and_its_label_stay_within_epsilon(dataset, labels):
    for mechanism in dnn.REPORTED:
        columns, label = dnn.columns_of(dataset, mechanism, 0.25, labels, 21)
        columns.fit(made_up(dataset, 3)[0])
        spent = sum(map(Fraction, columns.epsilon_per_column_.values())) + Fraction(label or 0)
        assert Fraction("0.2499999999999999") < spent <= Fraction("0.25")
        assert label == (Decimal("0.125") if labels == "randomised" else None)
        assert len(columns.epsilon_per_column_) == {"adult": 14, "bank": 20}[dataset]


def test_the_same_plan_is_taken_from_the_same_reports():
    # Fewer epochs are a stop on the way: one training, not two.
    given = np.random.default_rng(1).random((60, 4), dtype=np.float32), np.arange(60) % 2
    both, alone = (dnn.networks_of(*given, epochs, (1e-4, 1e-3), 5) for epochs in ((1, 3), (1,)))
    assert list(both) == [(1, 1e-3), (1, 1e-4), (3, 1e-3), (3, 1e-4)]  # of equals the first is chosen
    np.testing.assert_array_equal(both[1, 1e-3][0][0], alone[1, 1e-3][0][0])
    assert (both[3, 1e-3][0][0] != both[1, 1e-3][0][0]).any()


def test_gains_are_paired_by_seed_and_averaged_over_the_papers_range():
    rows = pd.DataFrame([
        {"dataset": "adult", "labels": labels, "setting": "paper", "metric": "accuracy", "mechanism": mechanism,
         "epsilon": epsilon, "seed": seed, "value": 0.7 + 0.1 * seed + gain * (mechanism == "brr")}
        for labels in ("public", "randomised")
        for mechanism in ("laplace", "brr")
        for epsilon in (0.25, 3.5, 20.0)
        for seed in (0, 1)
        for gain in [0.01 * (seed + 1) + 0.2 * (epsilon == 20) + 0.3 * (labels == "randomised")]
    ])  # fmt: skip
    found = apart(gains(rows), "paper")
    low, high = stats.ttest_1samp([0.01, 0.02], 0).confidence_interval(0.95)
    assert (found.mean, found.low, found.high) == pytest.approx((0.015, low, high))
    assert apart(gains(rows), "paper", 20.0).mean == pytest.approx(0.215)


@pytest.mark.data
def test_the_data_sets_have_as_many_features_as_the_paper_says():
    for dataset, count, people, share in (("adult", 14, 45_222, 0.248), ("bank", 20, 41_188, 0.113)):
        rows, labels = dnn_data.prepared(dataset)
        assert rows.shape == (people, count)
        assert labels.mean() == pytest.approx(share, abs=0.001)
        parts = dnn_data.split(dataset)
        assert sum(len(part[1]) for part in (parts.private, parts.public, parts.test)) == people
        assert len(parts.test[1]) == pytest.approx(0.33 * people, abs=1)
        assert parts.test[1].mean() == pytest.approx(labels.mean(), abs=1e-4)
        for column, (name, domain) in zip(rows.T, dnn_data.DOMAINS[dataset].items(), strict=True):
            if isinstance(domain, tuple):
                assert domain[0] <= min(column) and max(column) <= domain[1], name
            else:
                assert set(column) <= set(domain), name
    assert len(dnn_data.DOMAINS["adult"]["education"]) == 6
