"""Networks on reports: what they spend, what they learn, and that corrected losses mean what they say."""

import math
import pickle
import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.special import log_softmax
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import estimator_checks_generator

import bipartite as bp
from bipartite.errors import DataError, InputError, MissingExtraError, NullError
from bipartite.learn import PrivateColumns
from bipartite.learn.guarantee import SEEDED
from reproduction.learning import network_training as training
from reproduction.learning.network import PrivateNetwork
from reproduction.learning.network_training import TrainingPlan, class_chances, network_inputs, train_network

COLUMNS = PrivateColumns([(6, 30), (9, 40)], epsilon=8, outside="clip", at_predict="pass")
ROWS, LABELS = load_breast_cancer(return_X_y=True)
ROWS = ROWS[:, :2]
RANDOMISED = {"labels": "0.3", "classes": [0, 1]}


def network(columns=COLUMNS, **options):
    return PrivateNetwork(
        columns, **{"labels": "public", "hidden": (8,), "epochs": 2, "rng": bp.insecure_seed(7), **options}
    )


def toy(people=2000):
    generator = np.random.default_rng(1)
    rows = generator.uniform(0, 1, (people, 2)).astype(np.float32)
    labels = (generator.uniform(size=people) < 1 / (1 + np.exp(4 * (rows[:, 0] - rows[:, 1])))).astype(np.int64)
    return rows, labels


# --- what is spent ---


def test_the_guarantee_adds_the_label_to_the_row():
    fitted = network(**RANDOMISED, rng=None).fit(ROWS, LABELS)
    promise = fitted.guarantee_
    assert (promise.model, promise.replace, promise.add_remove) == ("local", pytest.approx(8.3), math.inf)
    assert Decimal(promise.replace) >= Decimal("8.3")
    assert fitted.epsilon_label_ == fitted.label_mechanism_.epsilon_decimal == Decimal("0.3")
    assert bp.verify(fitted.label_mechanism_).holds
    assert not any("declared public" in each for each in promise.not_covered)
    public = network(rng=None).fit(ROWS, LABELS)
    assert "labels, which were declared public" in public.guarantee_.not_covered
    assert (public.guarantee_.replace, public.epsilon_label_, public.label_mechanism_) == (8, None, None)
    assert SEEDED not in public.guarantee_.not_covered and public.predict(ROWS).shape == LABELS.shape
    with pytest.warns(UserWarning, match="fit 2 of this estimator and its clones"):
        clone(public).fit(ROWS, LABELS)


def test_given_words_keep_no_promise():
    seeded = clone(COLUMNS).set_params(rng=bp.insecure_seed(1))
    for model in (network(), network(seeded, rng=None), network(**RANDOMISED)):
        promise = model.fit(ROWS, LABELS).guarantee_
        assert promise.not_covered[0] == SEEDED
        assert not promise.is_private and promise.replace == math.inf and "ε =" not in str(promise)


def test_a_failed_second_fit_leaves_the_first_as_it_was_and_a_network_that_diverged_is_refused():
    fitted = network().fit(ROWS, LABELS)
    before = fitted.predict_proba(ROWS)
    with pytest.raises(InputError, match="Expected domains for 1 columns"):
        fitted.fit(ROWS[:, :1], LABELS)
    np.testing.assert_array_equal(fitted.predict_proba(ROWS), before)
    diverged = network(learning_rate=1e30)
    with pytest.raises(InputError, match="Training diverged.*use a smaller learning_rate"):
        diverged.fit(ROWS, LABELS)
    assert not hasattr(diverged, "layers_")


def test_training_sees_reports_only(monkeypatch):
    # Rows and labels that the network was trained on are those of the columns and of randomised response, word by word.
    seen = {}

    def spy(inputs, positions, *_, **named):
        seen.update(inputs=inputs, positions=positions, **named)
        return [[(np.zeros((2, 1), dtype=np.float32), np.zeros(1, dtype=np.float32))]]

    monkeypatch.setattr(training, "train_network", spy)
    network(labels=1, classes=[0, 1]).fit(ROWS, LABELS)
    rng = bp.insecure_seed(7)
    columns = clone(COLUMNS).set_params(rng=rng)
    expected = network_inputs(columns.fit_transform(ROWS), {n: m.domain for n, m in columns.mechanisms_.items()})
    np.testing.assert_array_equal(seen["inputs"], expected)
    response = bp.GRR(bp.Integers(0, 1), 1)
    np.testing.assert_array_equal(seen["positions"], response.privatize(LABELS, rng=rng))
    np.testing.assert_array_equal(seen["responses"], response.matrix())
    assert seen["seed"] == rng.streams().stream(0, 1).word()


# --- what is computed ---


def test_the_same_words_a_clone_and_a_pickle_give_the_same_network_and_other_words_another():
    told = []
    original = network(labels=1, classes=["bad", "good"], progress=told.append)
    names = np.array(["bad", "good"])[LABELS]
    copy, fitted = clone(original), original.fit(ROWS, names)
    expected = fitted.predict_proba(ROWS)
    assert told == [1, 1] and list(fitted.classes_) == ["bad", "good"] and set(fitted.predict(ROWS)) <= set(names)
    np.testing.assert_array_equal(copy.fit(ROWS, names).predict_proba(ROWS), expected)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted.set_params(progress=None))).predict_proba(ROWS),
                                  expected)  # fmt: skip
    assert (copy.set_params(rng=bp.insecure_seed(8)).fit(ROWS, names).predict_proba(ROWS) != expected).any()
    assert fitted.get_params()["columns__epsilon"] == 8


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
    people = 20_000
    rows, labels = np.zeros((people, 1)), (np.arange(people) < people // 10).astype(int)
    columns = PrivateColumns([(0, 1)], epsilon=1, at_predict="pass")
    model = network(columns, labels=1, classes=[0, 1], hidden=(), epochs=40, batch_size=2000, learning_rate=0.03)
    found = model.fit(rows, labels).predict_proba(rows)[:, 1].mean()
    # One standard error of the corrected rate is 0.007; five are allowed, and Adam's last steps.
    assert found == pytest.approx(0.1, abs=0.045)


def test_a_network_learns_when_epsilon_is_large_from_frames_and_sampled_columns_too():
    frame = pd.DataFrame(ROWS, columns=["radius", "texture"])
    columns = PrivateColumns({"radius": (6, 30), "texture": (9, 40)}, epsilon=30, outside="clip", at_predict="pass")
    fitted = network(columns, hidden=(32,), epochs=60, batch_size=32, learning_rate=0.01).fit(frame, LABELS)
    assert fitted.score(frame, LABELS) > 0.85 > LABELS.mean()
    sampled = network(columns.set_params(sample=1, epsilon=4)).fit(frame, LABELS)
    assert sampled.predict_proba(frame).shape == (len(LABELS), 2)


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


# --- refusals ---


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": None}, "Expected columns as a PrivateColumns, got NoneType"),
        ({"labels": None}, "Expected labels='public', which says that everybody may know them, or the ε"),
        ({"labels": "open"}, "Expected labels='public'.* got 'open'"),
        ({"labels": 1}, "Expected classes, two or more, with randomised labels: which occur is private"),
        ({"labels": -1, "classes": [0, 1]}, "Expected labels='public'.* got -1"),
        (
            {"hidden": 3, "epochs": 0, "batch_size": 1.5, "learning_rate": -1, "device": "tpu"},
            "5 problems:"
            + "".join(
                f"\n- Expected {each}.*" for each in ("hidden", "epochs", "batch_size", "learning_rate", "device")
            ),
        ),
    ],
)
def test_bad_arguments_are_refused_before_anything_is_drawn(options, message):
    rng = bp.insecure_seed(7)
    model = network(**{"rng": rng, **options})
    with pytest.raises(InputError, match=message):
        model.fit(ROWS, LABELS)
    assert rng == bp.insecure_seed(7) and not hasattr(model, "layers_")


MASKED = np.ma.MaskedArray(LABELS, np.arange(569) == 0)


@pytest.mark.parametrize(
    ("rows", "labels", "options", "kind", "message"),
    [
        (ROWS, np.where(np.arange(569) == 3, 918273645, LABELS), RANDOMISED, DataError,
         r"^1 of 569 labels are not among the classes, the first in row 3 \(counted from 0\); add them to classes=.$"),
        (ROWS, LABELS, {"labels": 1, "classes": ["a", "b"]}, DataError, "569 of 569 labels are not among the classes"),
        (ROWS, LABELS * 0, {}, InputError, "at least two classes"),
        (ROWS, LABELS * np.nan, {}, InputError, "Input y contains NaN"),
        (ROWS, LABELS[:5], {}, ValueError, "inconsistent numbers of samples"),
        (ROWS, MASKED, RANDOMISED, NullError, "Expected y without a mask, got a masked array; leave out or fill"),
        (np.ma.stack([MASKED, MASKED], axis=1), LABELS, RANDOMISED, NullError, "Expected X without a mask"),
    ],
)  # fmt: skip
def test_what_cannot_be_learned_from_is_refused_without_being_shown(rows, labels, options, kind, message):
    with pytest.raises(kind, match=message):
        network(**options).fit(rows, labels)


def test_without_torch_or_a_gpu_what_is_missing_is_named_before_anything_is_drawn(monkeypatch):
    rng = bp.insecure_seed(7)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(InputError, match="Expected a GPU for device='cuda', torch sees none"):
        network(device="cuda", rng=rng).fit(ROWS, LABELS)
    assert training.device_for(None) == "cpu"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert (training.device_for(None), training.device_for("cpu")) == ("cuda", "cpu")
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(
        MissingExtraError, match=r'Training a network needs torch, .*: pip install "bipartite\[learn\]"'
    ):
        network(rng=rng).fit(ROWS, LABELS)
    assert rng == bp.insecure_seed(7)


DO_NOT_APPLY = {
    # Every fit draws new reports and, without a seed, new weights: two fits differ.
    "check_classifier_data_not_an_array",
    "check_supervised_y_2d",
    "check_fit_idempotent",
    # Refused, but in words of plans, "missing" and "outside", where this check looks for "NaN" and "inf".
    "check_estimators_nan_inf",
}
SKIPPED = {"check_pipeline_consistency", "check_array_api_input"}


@pytest.mark.filterwarnings("ignore:This was fit")
def test_scikit_learns_checks_pass_where_they_apply():
    columns = PrivateColumns((-1e6, 1e6), epsilon=20, at_predict="pass")
    ran, wrong = set(), {}
    for estimator, check in estimator_checks_generator(PrivateNetwork(columns, labels="public", epochs=1, hidden=(4,))):
        name = getattr(check, "func", check).__name__
        ran.add(name)
        try:
            check(estimator)
        except BaseException as error:  # noqa: BLE001 (a check may raise, or skip by an exception of its own)
            if name not in (SKIPPED if type(error).__name__ == "SkipTest" else DO_NOT_APPLY):
                wrong[name] = error
    assert len(ran) > 40 and wrong == {}
