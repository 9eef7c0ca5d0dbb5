"""Networks on reports: what they read, what they learn, and that the loss of randomised labels is what it says."""

import sys

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.special import log_softmax
from sklearn.linear_model import LogisticRegression

import bipartite as bp
from bipartite.errors import InputError, MissingExtraError
from reproduction.learning import network_training as training
from reproduction.learning.network_training import TrainingPlan, class_chances, network_inputs, train_network


def toy(people=2000):
    generator = np.random.default_rng(1)
    rows = generator.uniform(0, 1, (people, 2)).astype(np.float32)
    labels = (generator.uniform(size=people) < 1 / (1 + np.exp(4 * (rows[:, 0] - rows[:, 1])))).astype(np.int64)
    return rows, labels


@pytest.mark.parametrize("classes", [2, 3])
def test_numpy_and_torch_compute_the_same_chances(classes):
    rows, _ = toy(300)
    labels = np.minimum((classes * rows[:, 0]).astype(np.int64), classes - 1)
    plan = TrainingPlan(hidden=(5, 4), epochs=60, learning_rate=0.02)
    *_, layers = train_network(rows, labels, classes, plan, seed=3)
    found = torch.tensor(rows)
    for weight, bias in layers[:-1]:
        found = (found @ torch.tensor(weight) + torch.tensor(bias)).relu()
    odds = found @ torch.tensor(layers[-1][0]) + torch.tensor(layers[-1][1])
    expected = odds.softmax(1) if classes > 2 else torch.cat([1 - odds.sigmoid(), odds.sigmoid()], 1)
    chances = class_chances(layers, rows)
    np.testing.assert_allclose(chances, expected.numpy(), atol=1e-6)
    assert (chances.argmax(axis=1) == labels).mean() > 0.9


def test_without_hidden_layers_it_is_logistic_regression():
    rows, labels = toy()
    plan = TrainingPlan(hidden=(), epochs=600, batch_size=2000, learning_rate=0.05)
    *_, ((weight, bias),) = train_network(rows, labels, 2, plan, seed=1)
    oracle = LogisticRegression(C=np.inf).fit(rows, labels)
    np.testing.assert_allclose(weight[:, 0], oracle.coef_[0], atol=0.02)
    np.testing.assert_allclose(bias[0], oracle.intercept_[0], atol=0.02)


@pytest.mark.parametrize("classes", [2, 3])
def test_the_loss_of_randomised_labels_is_the_likelihood_of_their_reports(classes):
    matrix = bp.GRR(bp.Integers(0, classes - 1), 1).matrix()
    log_chances = log_softmax(np.random.default_rng(1).normal(size=classes))
    tensor = torch.tensor(log_chances, dtype=torch.float32)[None]

    def loss(responses):
        of = training.loss_of_labels(responses, "cpu")
        return [float(of(tensor, torch.tensor([report]))) for report in range(classes)]

    np.testing.assert_allclose(loss(matrix), -np.log(np.exp(log_chances) @ matrix), atol=1e-5)
    np.testing.assert_allclose(loss(None), -log_chances, atol=1e-5)


def test_networks_recover_the_rate_that_flipped_labels_hide():
    # A tenth is positive; randomised response at ε = 1 shows a third. Seeded.
    people, response = 20_000, bp.GRR(bp.Integers(0, 1), 1)
    reports = response.privatize((np.arange(people) < people // 10).astype(int), rng=bp.insecure_seed(7))
    rows, plan = np.zeros((people, 1), dtype=np.float32), TrainingPlan((), 40, 2000, 0.03)
    *_, layers = train_network(rows, reports, 2, plan, seed=7, responses=response.matrix())
    # One standard error of the corrected rate is 0.007; five are allowed, and Adam's last steps.
    assert class_chances(layers, rows)[:, 1].mean() == pytest.approx(0.1, abs=0.045)


def test_inputs_are_scaled_and_one_hot_by_public_parameters():
    given = pd.DataFrame({"a": [0.0, 5.0, None], "b": ["y", None, "x"], "c": [3, 0, 6]})
    domains = {
        "a": bp.Interval(0, 10, points=3),
        "b": bp.Items(["x", "y"], loss=[[0, 1], [1, 0]]),
        "c": bp.Integers(0, 6),
    }
    expected = [[0, 0, 1, 0.5], [0.5, 0, 0, 0], [0.5, 1, 0, 1]]
    np.testing.assert_array_equal(network_inputs(given, domains), np.array(expected, dtype=np.float32))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
def test_a_gpu_gives_the_same_numbers_within_tolerance():
    # Training amplifies what is rounded differently: 0.005 after three epochs of 50 batches (seen on an H200).
    rows, labels = toy()
    plans = [TrainingPlan(epochs=1, device=device) for device in ("cpu", "cuda")]
    found = [class_chances(next(train_network(rows, labels, 2, plan, seed=5)), rows) for plan in plans]
    np.testing.assert_allclose(*found, atol=5e-3)


def test_without_torch_or_a_gpu_what_is_missing_is_named(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(InputError, match="Expected a GPU for device='cuda', torch sees none"):
        training.device_for("cuda")
    assert training.device_for(None) == "cpu"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert (training.device_for(None), training.device_for("cpu")) == ("cuda", "cpu")
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(
        MissingExtraError, match=r'Training a network needs torch, .*: pip install "bipartite\[learn\]"'
    ):
        training.load_torch()
