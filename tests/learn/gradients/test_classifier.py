"""Any network, trained privately, in scikit-learn's words; on scikit-learn's small digits."""

import subprocess
import sys

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError

import bipartite as bp
from bipartite.errors import InputError
from bipartite.learn import (
    GaussianSGD,
    LaplaceSGD,
    LocalSGD,
    PrivateQuantile,
    PrivateSGDClassifier,
    train_privately,
)

FEATURES, DIGITS = load_digits(return_X_y=True)
FEATURES = FEATURES / 16
TRAIN, TEST = slice(0, 1400), slice(1400, None)
GAUSSIAN = GaussianSGD(None, 1e-5, 1.0, 40, 0.25, noise_multiplier=1.5)


def network():
    return torch.nn.Linear(64, 10)


def fast(parameters):
    return torch.optim.Adam(parameters, lr=0.05)


def fitted(plan, **settings):
    settings = {
        "classes": range(10),
        "people": 1400,
        "optimizer": fast,
        "rng": bp.insecure_seed(1),
        "device": "cpu",
        **settings,
    }
    return PrivateSGDClassifier(network, plan, **settings).fit(FEATURES[TRAIN], DIGITS[TRAIN])


@pytest.mark.parametrize(
    ("plan", "least"),
    [
        (GAUSSIAN, 0.75),
        (LaplaceSGD(300.0, 5.0, 40, 0.25), 0.7),
        (LocalSGD(500.0, 0.3, 100), 0.35),
        (LocalSGD(500.0, PrivateQuantile(people=200), 100, "piecewise"), 0.3),
    ],
    ids=["gaussian", "laplace", "local", "local with a private bound"],
)
def test_networks_learn_digits_and_say_what_they_promise(plan, least):
    model = fitted(plan)
    assert model.score(FEATURES[TEST], DIGITS[TEST]) > least  # guessing is right for one in ten
    assert model.guarantee_ == plan.guarantee(650)
    assert model.guarantee_.is_private
    np.testing.assert_allclose(model.predict_proba(FEATURES[:5]).sum(axis=1), 1)


def test_nothing_is_promised_about_adding_a_record_where_steps_are_divided_by_the_number_of_rows():
    promised = fitted(GAUSSIAN, people=None).guarantee_
    assert promised.add_remove == float("inf")
    assert promised.replace == GAUSSIAN.guarantee(650).replace
    assert promised.not_covered[-1].startswith("the number of people: every step was divided by it")
    local = LocalSGD(500.0, 0.3, 100)
    assert fitted(local, people=None).guarantee_ == local.guarantee(650)
    for wrong in (0, -3, 1.5):
        with pytest.raises(
            InputError, match="Expected people as a whole number of at least 1, got .*; a public number"
        ):
            fitted(GAUSSIAN, people=wrong)


def test_people_can_be_computed_one_at_a_time():
    plan = LaplaceSGD(50.0, 5.0, 1, 0.05)
    alone, together = (fitted(plan, together=each).network_.weight.detach() for each in (1, 256))
    torch.testing.assert_close(alone, together, rtol=1e-3, atol=1e-4)


def test_much_noise_teaches_nothing():
    model = fitted(LaplaceSGD(0.01, 5.0, 40, 0.25))
    assert model.score(FEATURES[TEST], DIGITS[TEST]) < 0.35


def test_one_seed_gives_one_model_and_secure_words_another_each_time():
    one, same, other, another = (
        fitted(LaplaceSGD(50.0, 5.0, 3, 0.25), rng=rng).network_.weight.detach().numpy()
        for rng in (bp.insecure_seed(4), bp.insecure_seed(4), None, None)
    )
    assert (one == same).all()
    assert (other != another).any()


def test_it_is_a_scikit_learn_estimator():
    model = PrivateSGDClassifier(network, GAUSSIAN, classes=("no", "yes"), people=500)
    assert clone(model).get_params()["people"] == 500
    with pytest.raises(NotFittedError):
        model.predict(FEATURES)


def test_classes_keep_their_names_and_are_not_looked_up_in_the_labels():
    names = np.array(["zero", "one", "more"])[np.minimum(DIGITS, 2)]
    model = PrivateSGDClassifier(
        lambda: torch.nn.Linear(64, 4), GAUSSIAN, classes=["zero", "one", "more", "never"], rng=bp.insecure_seed(2),
        optimizer=fast, device="cpu",
    ).fit(FEATURES, names)  # fmt: skip
    assert model.classes_.tolist() == ["more", "never", "one", "zero"]
    assert set(model.predict(FEATURES)) <= {"more", "never", "one", "zero"}
    with pytest.raises(InputError, match="Expected every label among the 2 classes, .* are not; add them."):
        PrivateSGDClassifier(network, GAUSSIAN, classes=["zero", "one"]).fit(FEATURES, names)


def test_the_papers_network_goes_by_its_name():
    pictures, digits = np.zeros((40, 1, 28, 28)), np.arange(40) % 10
    plan = LaplaceSGD(1.0, 1.0, 1, 0.5)
    model = PrivateSGDClassifier("paper-cnn", plan, classes=range(10), device="cpu").fit(pictures, digits)
    assert model.predict(pictures).shape == (40,)


def test_any_module_and_loss_train_in_place_and_steps_can_be_watched():
    torch.manual_seed(5)
    features, line = torch.randn(400, 3), torch.tensor([1.0, -2.0, 0.5])
    module, seen = torch.nn.Linear(3, 1), []
    promised = train_privately(
        module,
        features,
        features @ line,
        LaplaceSGD(200.0, 3.0, 60, 0.5),
        optimizer=lambda parameters: torch.optim.SGD(parameters, lr=0.3),
        loss=lambda output, target: torch.nn.functional.mse_loss(output[:, 0], target),
        rng=bp.insecure_seed(3),
        watch=seen.append,
    )
    assert seen == list(range(1, 61))
    assert promised.model == "central"
    np.testing.assert_allclose(module.weight.detach().numpy()[0], line.numpy(), atol=0.4)
    assert all(each.grad is None for each in module.parameters())


def test_bad_arguments_are_refused():
    module, rows = torch.nn.Linear(2, 2), torch.zeros(3, 2)
    with pytest.raises(InputError, match="Expected plan as GaussianSGD, LaplaceSGD or LocalSGD, got float; choose one"):
        train_privately(module, rows, torch.zeros(3), 1.0, optimizer=fast)
    with pytest.raises(InputError, match="Expected as many labels as rows, and at least one, got 3 rows and 2 labels."):
        train_privately(module, rows, torch.zeros(2), GAUSSIAN, optimizer=fast)
    for wrong in ("big-cnn", lambda: "not a module"):
        with pytest.raises(InputError, match="Expected network as 'paper-cnn' or a function without arguments"):
            PrivateSGDClassifier(wrong, GAUSSIAN, classes=range(10)).fit(FEATURES, DIGITS)
    with pytest.raises(InputError, match="statistical generators are not accepted"):
        train_privately(module, rows, torch.zeros(3), GAUSSIAN, optimizer=fast, rng=np.random.default_rng(1))


@pytest.mark.parametrize(("missing", "name"), [("torch", "LocalSGD"), ("sklearn", "PrivateSGDClassifier")])
def test_a_missing_library_is_an_error_that_names_the_extra(missing, name):
    code = f"import sys; sys.modules['{missing}'] = None\nfrom bipartite.learn import {name}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert "MissingExtraError" in done.stderr
    assert "pip install 'bipartite[learn]'" in done.stderr
