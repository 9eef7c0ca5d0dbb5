"""Any network, trained privately, in scikit-learn's words; on scikit-learn's small digits."""

import io
import pickle
import subprocess
import sys
import warnings
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.multiclass import check_classification_targets

import bipartite as bp
from bipartite.errors import InputError, NotAValueError
from bipartite.learn import (
    GaussianSGD,
    PicturePlan,
    PrivateSGDClassifier,
    train_privately,
)
from bipartite.learn.gradients import classifier
from bipartite.learn.gradients.progress import progress
from bipartite.learn.guarantee import SEEDED, from_known_words

FEATURES, DIGITS = load_digits(return_X_y=True)
FEATURES = FEATURES / 16
TRAIN, TEST = slice(0, 1400), slice(1400, None)
GAUSSIAN = GaussianSGD(None, 1e-5, 1.0, 40, 0.25, noise_multiplier=1.5)
ONE_STEP = GaussianSGD(None, 1e-5, 1.0, 1, 0.25, noise_multiplier=1.5)


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


def test_networks_learn_digits_and_say_what_they_promise():
    model = fitted(GAUSSIAN)
    assert model.score(FEATURES[TEST], DIGITS[TEST]) > 0.75  # guessing is right for one in ten
    assert model.guarantee_ == from_known_words(GAUSSIAN.guarantee(650))
    assert GAUSSIAN.guarantee(650).is_private and not model.guarantee_.is_private  # a seed keeps no promise
    np.testing.assert_allclose(model.predict_proba(FEATURES[:5]).sum(axis=1), 1)


def test_nothing_is_promised_about_adding_a_record_where_steps_are_divided_by_the_number_of_rows():
    promised = fitted(GAUSSIAN, people=None, rng=None).guarantee_
    assert promised.add_remove == float("inf")
    assert promised.replace == GAUSSIAN.guarantee(650).replace
    assert promised.not_covered[-1].startswith("the number of people: every step was divided by it")
    for wrong in (0, -3, 1.5):
        with pytest.raises(
            InputError, match="Expected people as a whole number of at least 1, got .*; a public number"
        ):
            fitted(GAUSSIAN, people=wrong)


def test_a_network_of_which_nothing_is_proved_is_refused_and_what_it_does_is_named():
    class Sorted(torch.nn.Linear):
        def forward(self, x):
            return super().forward(x.sort(dim=1).values)

    model = PrivateSGDClassifier(lambda: Sorted(64, 10), ONE_STEP, classes=range(10), people=1400, device="cpu")
    with pytest.raises(InputError, match="got aten.sort.default. Use another layer"):
        model.fit(FEATURES[TRAIN], DIGITS[TRAIN])
    assert not hasattr(model, "guarantee_") and not hasattr(model, "n_features_in_")


def test_a_plan_that_promises_nothing_is_refused_before_anything_is_spent():
    plan = GaussianSGD(None, 1e-5, 1.0, 1, 1.0, noise_multiplier=0.01)
    assert str(plan.guarantee(650)).startswith("no privacy\n")
    with pytest.raises(InputError, match="Expected a plan that promises something, got one whose ε is infinite; use a"):
        fitted(plan)


def test_a_known_seed_keeps_no_promise_and_claims_no_epsilon():
    model = fitted(ONE_STEP, rng=None)
    assert model.guarantee_ == ONE_STEP.guarantee(650)
    told = fitted(ONE_STEP).guarantee_
    assert not told.is_private and told.add_remove == told.replace == float("inf") and told.not_covered[0] == SEEDED
    assert str(told).startswith("no privacy\n") and "ε =" not in str(told)


def test_no_message_shows_what_somebody_said():
    everybody = replace(ONE_STEP, sampling_rate=1.0)
    features, labels = torch.zeros(6, 2), torch.tensor([0, 1, 0, 1, 77, 0])
    words = torch.nn.Sequential(Whole(), torch.nn.Embedding(3, 2), torch.nn.Flatten(), torch.nn.Linear(4, 2))
    for module, rows, classes, said in (
        (torch.nn.Linear(2, 2), features, labels, "Expected classes from 0 to 1 as labels, got others, .* not shown"),
        (words, features + labels[:, None], labels % 2, "Expected features for which the network can be computed, got"),
    ):
        with pytest.raises(InputError, match=said) as caught:
            train_privately(module, rows, classes, everybody, optimizer=fast)
        assert "77" not in str(caught.value)
        assert caught.value.__context__ is None
    with pytest.raises(
        NotAValueError, match="Expected numbers, got text; encode categories as numbers first"
    ) as caught:
        PrivateSGDClassifier(network, GAUSSIAN, classes=range(10), device="cpu").fit([["secret"] * 64], [1])
    assert "secret" not in str(caught.value)
    # What fails for anybody is told: it shows shapes, not values.
    with pytest.raises(
        InputError, match="for one person, got ones that fail on zeros in doubles: .*shapes cannot be multiplied"
    ):
        train_privately(torch.nn.Linear(3, 2), features, labels % 2, everybody, optimizer=fast)


class Whole(torch.nn.Module):
    def forward(self, x):
        return x.long()


def test_a_network_that_does_not_fit_is_refused_by_a_row_of_zeros():
    for wrong, message in (
        (lambda: torch.nn.Linear(64, 9), "one output for each of 10 classes, got shape .1, 9. for one row"),
        (lambda: torch.nn.Linear(63, 10), "Expected a network for rows of shape .64,., got one that fails on zeros"),
    ):
        with pytest.raises(InputError, match=message):
            PrivateSGDClassifier(wrong, GAUSSIAN, classes=range(10), device="cpu").fit(FEATURES, DIGITS)
    with pytest.raises(InputError, match="Expected two classes or more, got none; state all there are: classes=.0, 1."):
        PrivateSGDClassifier(network, GAUSSIAN, classes=[], device="cpu").fit(FEATURES, DIGITS)
    with pytest.raises(ValueError, match="y should be a 1d array, got an array of shape"):
        PrivateSGDClassifier(network, GAUSSIAN, classes=range(10), device="cpu").fit(FEATURES, np.eye(10)[DIGITS])
    with pytest.raises(InputError, match="Expected device as 'auto' or one that torch can use here, got 'tpu9'; try"):
        PrivateSGDClassifier(network, GAUSSIAN, classes=range(10), device="tpu9").fit(FEATURES, DIGITS)
    with pytest.raises(InputError, match="Expected features and labels as tensors; use torch.as_tensor"):
        train_privately(network(), FEATURES, DIGITS, GAUSSIAN, optimizer=fast)


def test_a_fitted_model_travels_and_is_searched_over():
    plans = [replace(GAUSSIAN, steps=3), replace(GAUSSIAN, steps=3, noise_multiplier=1000.0)]
    model = PrivateSGDClassifier(network, plans[0], classes=range(10), people=200, optimizer=fast, device="cpu")
    with pytest.warns(UserWarning, match="This was fit [24] of this estimator and its clones") as told:
        search = GridSearchCV(model, {"plan": plans}, cv=2, error_score="raise").fit(FEATURES[:200], DIGITS[:200])
    assert len(told) == 2  # of five fits, one of them on everybody
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    assert (again.predict(FEATURES) == search.predict(FEATURES)).all()
    assert again.guarantee_ == search.best_estimator_.guarantee_
    assert again.n_features_in_ == 64
    assert again.predict(FEATURES[:0]).shape == (0,)


def test_how_far_training_is_counts_to_the_number_of_steps(monkeypatch):
    seen = []

    @contextmanager
    def told(total):
        assert total == 3
        yield seen.append

    monkeypatch.setattr("bipartite.learn.gradients.loop.progress", told)
    fitted(replace(GAUSSIAN, steps=3))
    assert seen == [1, 2, 3]


def test_a_terminal_is_told_once_two_seconds_have_passed(monkeypatch):
    terminal = io.StringIO()
    monkeypatch.setattr(sys, "stderr", terminal)
    for is_one in (False, True):
        terminal.isatty = lambda is_one=is_one: is_one
        now = iter([100.0, 101.0, 103.0, 106.0])
        with progress(6, clock=lambda now=now: next(now)) as tell:
            for step in (1, 2, 3):
                tell(step)
        if not is_one:
            assert not terminal.getvalue()
    said = [each for each in terminal.getvalue().split("\r\x1b[K") if each]
    assert said == ["private SGD: step 2 of 6, 6 s left", "private SGD: step 3 of 6, 6 s left"]


def test_much_noise_teaches_nothing():
    model = fitted(replace(GAUSSIAN, noise_multiplier=1000.0))
    assert model.score(FEATURES[TEST], DIGITS[TEST]) < 0.35


def test_one_seed_gives_one_model_and_secure_words_another_each_time():
    one, same, other, another = (
        fitted(replace(GAUSSIAN, steps=3), rng=rng).network_.weight.detach().numpy()
        for rng in (bp.insecure_seed(4), bp.insecure_seed(4), None, None)
    )
    assert (one == same).all()
    assert (other != another).any()


def test_cross_validation_says_how_often_epsilon_is_spent():
    plan = ONE_STEP
    model = PrivateSGDClassifier(network, plan, classes=range(10), people=200, device="cpu")
    with pytest.warns(UserWarning, match="fit 2 of .* each spends its own ε, and whoever was in all 2 has spent 2"):
        cross_val_score(model, FEATURES[:200], DIGITS[:200], cv=2)
    PrivateSGDClassifier(network, plan, classes=range(10), people=200, device="cpu").fit(FEATURES[:9], DIGITS[:9])
    with pytest.warns(UserWarning, match="This was fit 4 of this estimator and its clones"):
        model.fit(FEATURES[:200], DIGITS[:200]).fit(FEATURES[:200], DIGITS[:200])


class Told(PrivateSGDClassifier):
    """As by somebody who knows the classes: scikit-learn's checks invent labels and tell nobody."""

    def __init__(self, network=None, plan=None, classes=None):
        super().__init__(network, plan, classes=classes, device="cpu")

    def fit(self, X, y):  # noqa: N803
        if y is not None:
            check_classification_targets(y)
        classes = [0, 1] if y is None else np.unique(np.asarray(y))
        vars(self).update(classes=classes, network=lambda: torch.nn.LazyLinear(len(classes)), plan=ONE_STEP)
        try:
            return super().fit(X, y)
        finally:
            vars(self).update(classes=None, network=None, plan=None)


# scikit-learn's checks that a private estimator does not pass, each with the reason.
NOT_PASSED = {
    "check_fit_idempotent": "failed",  # a second fit draws new noise, and may predict the same by chance
    "check_supervised_y_2d": "failed",  # compares two fits
    "check_pipeline_consistency": "skipped",  # scikit-learn skips it where fits are random
    "check_array_api_input": "skipped",  # scikit-learn skips it unless an environment variable is set
}


def test_scikit_learns_own_checks_pass_but_for_those_that_need_equal_fits():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the checks provoke scikit-learn's own warnings
        results = check_estimator(Told(), on_fail=None, on_skip=None)
    assert len(results) > 45
    others = {each["check_name"]: each["status"] for each in results if each["status"] != "passed"}
    assert others.items() <= NOT_PASSED.items()


@pytest.mark.parametrize("bad", [np.nan, None, np.inf, -np.inf, "masked"])
def test_what_is_missing_masked_or_infinite_is_refused_in_fit_and_in_predict(bad):
    rows = FEATURES[:50].astype(object)
    rows[3, 5] = 0.0 if bad == "masked" else bad
    if bad == "masked":
        rows = np.ma.MaskedArray(rows.astype(float), mask=np.eye(50, 64) == 1)
    model = PrivateSGDClassifier(network, ONE_STEP, classes=range(10), device="cpu").fit(FEATURES[:50], DIGITS[:50])
    for call in (lambda: model.predict(rows), lambda: clone(model).fit(rows, DIGITS[:50])):
        with pytest.raises(ValueError, match="mask|NaN|infinity|numbers"):
            call()
    labels = DIGITS[:50].astype(object)
    labels[3] = 0 if bad == "masked" else bad
    if bad == "masked":
        labels = np.ma.MaskedArray(labels.astype(int), mask=np.arange(50) == 5)
    with pytest.raises(ValueError, match="mask|NaN|infinity|Expected every label among"):
        clone(model).fit(FEATURES[:50], labels)


def test_a_number_is_rounded_alike_whatever_stands_beside_it(monkeypatch):
    """From int64 to float32 at once, and by way of float64, are not the same."""
    big = 2**60 + 2**36 + 1
    seen = []
    single = classifier._single
    monkeypatch.setattr(classifier, "_single", lambda rows: seen.append(single(rows)) or seen[-1])
    for column in ([big] * 3, [big] * 3 + [0.5]):
        model = PrivateSGDClassifier(lambda: torch.nn.Linear(1, 2), ONE_STEP, classes=[0, 1], device="cpu")
        model.fit(pd.DataFrame({"n": column}), [0] * len(column))
    assert seen[0][0, 0] == seen[1][0, 0]
    with pytest.raises(InputError, match="Expected features up to 3e38, got larger ones; scale them by a public"):
        model.predict(pd.DataFrame({"n": [1e39]}))
    with pytest.raises(NotAValueError, match="Expected numbers, got dates or durations"):
        model.predict(pd.DataFrame({"n": pd.to_datetime(["1970-01-11"])}))


def test_columns_keep_their_names_and_pictures_their_shape():
    frame = pd.DataFrame(FEATURES[:50, :3], columns=["a", "b", "c"])

    def new():
        return PrivateSGDClassifier(lambda: torch.nn.Linear(3, 10), ONE_STEP, classes=range(10), device="cpu")

    model = new().fit(frame, DIGITS[:50])
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="feature names should match those that were passed during fit"):
        model.predict(frame[["b", "a", "c"]])
    with pytest.raises(ValueError, match="X has 2 features, but PrivateSGDClassifier is expecting 3 features"):
        new().fit(FEATURES[:50, :3], DIGITS[:50]).predict(FEATURES[:5, :2])
    with pytest.raises(InputError, match=r"Expected rows of shape \(3,\), as in fit, got \(3, 2\)"):
        new().fit(FEATURES[:50, :3], DIGITS[:50]).predict(np.zeros((4, 3, 2)))


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


def test_the_network_for_pictures_goes_by_its_name():
    pictures, digits = np.zeros((40, 1, 28, 28)), np.arange(40) % 10
    model = PrivateSGDClassifier("tanh-cnn", ONE_STEP, classes=range(10), device="cpu").fit(pictures, digits)
    assert model.predict(pictures).shape == (40,)
    assert sum(isinstance(each, torch.nn.Tanh) for each in model.network_) == 3


def test_a_plan_for_pictures_brings_its_settings(monkeypatch):
    for epsilon, steps, rate, learning_rate in ((1.0, 879, 1024 / 60_000, 1.4), (3.0, 879, 2048 / 60_000, 4.0)):
        plan = PicturePlan(epsilon).for_people(60_000)
        assert plan == GaussianSGD(epsilon, 1e-5, 0.1, steps, rate)
        (group,) = PicturePlan(epsilon).optimizer([torch.nn.Parameter(torch.zeros(1))]).param_groups
        assert (group["lr"], group["momentum"]) == (learning_rate, 0.9)
    assert PicturePlan(1.0).for_people(100, 2.0) == GaussianSGD(None, 1e-5, 0.1, 2, 1.0, 2.0)
    with pytest.raises(InputError, match="Expected epsilon as a positive finite number, got 0; try 1.0."):
        PicturePlan(0)
    pictures, digits = np.zeros((40, 1, 28, 28)), np.arange(40) % 10
    model = PrivateSGDClassifier("tanh-cnn", PicturePlan(1.0), classes=range(10), device="cpu")
    with pytest.raises(InputError, match="Expected people=, a public number of people, with a PicturePlan, got None"):
        model.fit(pictures, digits)
    monkeypatch.setattr(PicturePlan, "for_people", lambda _, people: GaussianSGD(None, 1e-5, 0.1, 1, 1.0, people / 10))
    assert model.set_params(people=40).fit(pictures, digits).guarantee_.replace < 10


def test_any_module_and_loss_train_in_place_and_steps_can_be_watched():
    torch.manual_seed(5)
    features, line = torch.randn(400, 3), torch.tensor([1.0, -2.0, 0.5])
    module, seen = torch.nn.Linear(3, 1), []
    promised = train_privately(
        module,
        features,
        features @ line,
        GaussianSGD(None, 1e-5, 3.0, 60, 0.5, noise_multiplier=4.0),
        optimizer=lambda parameters: torch.optim.SGD(parameters, lr=0.3),
        loss=torch.nn.functional.mse_loss,
        rng=bp.insecure_seed(3),
        watch=seen.append,
    )
    assert seen == list(range(1, 61))
    assert promised.model == "none"  # the words were known
    np.testing.assert_allclose(module.weight.detach().numpy()[0], line.numpy(), atol=0.4)
    assert all(each.grad is None for each in module.parameters())


def test_bad_arguments_are_refused():
    module, rows = torch.nn.Linear(2, 2), torch.zeros(3, 2)
    with pytest.raises(InputError, match="Expected plan as GaussianSGD, got float; make one with GaussianSGD.epsilon"):
        train_privately(module, rows, torch.zeros(3), 1.0, optimizer=fast)
    with pytest.raises(InputError, match="Expected as many labels as rows, and at least one, got 3 rows and 2 labels."):
        train_privately(module, rows, torch.zeros(2), GAUSSIAN, optimizer=fast)
    for wrong in ("big-cnn", lambda: "not a module", torch.nn.Linear(64, 10)):
        with pytest.raises(InputError, match="Expected network as 'tanh-cnn' or a function"):
            PrivateSGDClassifier(wrong, GAUSSIAN, classes=range(10)).fit(FEATURES, DIGITS)
    with pytest.raises(InputError, match="statistical generators are not accepted"):
        train_privately(module, rows, torch.zeros(3), GAUSSIAN, optimizer=fast, rng=np.random.default_rng(1))


@pytest.mark.parametrize(
    ("missing", "name"),
    [("torch", "GaussianSGD"), pytest.param("scikit-learn", "PrivateSGDClassifier", marks=pytest.mark.slow)],
)
def test_a_missing_library_is_an_error_that_names_the_extra(missing, name):
    module = missing.replace("scikit-learn", "sklearn")
    code = f"import sys; sys.modules['{module}'] = None\nfrom bipartite.learn import {name}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert "MissingExtraError" in done.stderr
    assert f'needs {missing}, which is not installed; run: pip install "bipartite[learn]"' in done.stderr
