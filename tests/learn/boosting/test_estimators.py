import math
import pickle
import subprocess
import sys
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator

import bipartite as bp
from bipartite.errors import EpsilonError, InputError, NotAValueError, NullError, OutsideDomainError
from bipartite.learn import PrivateBoostingClassifier, PrivateBoostingRegressor
from bipartite.learn.boosting import estimator
from bipartite.learn.boosting.leaves import UNIT
from bipartite.learn.boosting.stages import stages_of

DIABETES = load_diabetes(return_X_y=True)
CANCER = load_breast_cancer(return_X_y=True)
SENTINEL = 918273.645546


def regressor(**changes):
    settings = {"feature_range": (-0.25, 0.25), "target_range": (0, 400), "trees": 8, "depth": 3, "bins": 8}
    return PrivateBoostingRegressor(**settings | {"rng": bp.insecure_seed(1)} | changes)


def classifier(**changes):
    settings = {"feature_range": (0, 5000), "classes": [0, 1], "trees": 8, "depth": 3, "bins": 8}
    return PrivateBoostingClassifier(**settings | {"rng": bp.insecure_seed(1)} | changes)


# scikit-learn's checks that a private estimator does not pass, each with the reason.
NOT_PASSED = {
    "check_fit_idempotent": "failed",  # a second fit draws new noise; the same noise would not be private
    "check_supervised_y_2d": "failed",  # compares two fits
    "check_estimators_overwrite_params": "failed",  # a seed goes on from fit to fit: it is a stream, not a number
    "check_pipeline_consistency": "skipped",  # scikit-learn skips it where fits are random
    "check_array_api_input": "skipped",  # scikit-learn skips it unless an environment variable is set
}


@pytest.mark.parametrize(
    "asked",
    [
        regressor(feature_range=(-10, 10), target_range=(-10, 10), outside="clip", depth=2, trees=3),
        classifier(feature_range=(-10, 10), classes="from-data", outside="clip", depth=2, trees=3),
    ],
    ids=["regressor", "classifier"],
)
def test_scikit_learns_own_checks_pass_but_for_those_that_need_equal_fits(asked):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the checks provoke scikit-learn's own warnings
        results = check_estimator(asked, on_fail=None, on_skip=None)
    assert len(results) > 45
    others = {each["check_name"]: each["status"] for each in results if each["status"] != "passed"}
    # Two fits that are compared by classes may agree by chance; nothing else may fail.
    assert others.items() <= NOT_PASSED.items()
    assert "check_fit_idempotent" in others


def test_the_secure_source_is_the_default_and_two_fits_differ():
    assert PrivateBoostingRegressor().rng is None
    one, other = (regressor(rng=None).fit(*DIABETES).predict(DIABETES[0]) for _ in range(2))
    assert (one != other).any()


def test_a_seed_repeats_a_fit_and_goes_on_at_the_next():
    model = regressor()
    first = model.fit(*DIABETES).predict(DIABETES[0])
    second = model.fit(*DIABETES).predict(DIABETES[0])
    assert (first != second).any()
    np.testing.assert_array_equal(regressor().fit(*DIABETES).predict(DIABETES[0]), first)
    np.testing.assert_array_equal(clone(regressor()).fit(*DIABETES).predict(DIABETES[0]), first)


def test_much_is_learned_with_a_generous_budget():
    # With ε = 40 noise is small, and the seeds are fixed: no chance is left.
    x, y = DIABETES
    model = regressor(epsilon=40).fit(x, y)
    assert np.sqrt(np.mean((model.predict(x) - y) ** 2)) < 0.9 * np.sqrt(np.mean((200 - y) ** 2))


def test_predictions_are_sums_of_leaves_by_plain_python():
    x, y = DIABETES
    model = regressor(trees=3).fit(x, y)
    expected = []
    for row in x[:50]:
        bins = [min(int((value + 0.25) / 0.5 * 8), 7) for value in row]
        mean, *trees = model.trees_[0]
        (score,) = mean.leaves.tolist()
        for tree in trees:
            node = 0
            for _ in range(3):
                node = 2 * node + (1 if bins[tree.features[node]] <= tree.cuts[node] else 2)
            score += int(tree.leaves[node - 7])
        expected.append(min(max(200 + 200 * score / UNIT, 0), 400))
    np.testing.assert_allclose(model.predict(x[:50]), expected, rtol=1e-12)


def test_trees_are_complete_and_every_leaf_is_random_even_without_records():
    x, y = DIABETES
    model = regressor(trees=4, depth=5).fit(x[:1], y[:1])
    mean, *trees = model.trees_[0]
    assert (len(mean.features), len(mean.leaves), len(trees)) == (0, 1, 4)
    for tree in trees:
        assert tree.features.shape == tree.cuts.shape == (31,)
        assert len(set(tree.leaves.tolist())) > 3


def test_predictions_stay_within_the_range():
    x, y = DIABETES
    predicted = regressor(epsilon="0.01", gradient_clip=1).fit(x, y).predict(x)
    assert predicted.min() == 0 and predicted.max() == 400


def test_a_fitted_model_holds_trees_and_public_numbers_only():
    x, y = DIABETES
    few, many = (pickle.dumps(regressor(rng=None).fit(x[:n], y[:n])) for n in (50, 442))
    assert abs(len(few) - len(many)) < 100
    assert set(vars(regressor().fit(x, y))) - set(regressor().get_params()) == {
        "n_features_in_", "grid_", "trees_", "target_range_", "guarantee_",
    }  # fmt: skip


def test_a_second_private_fit_warns_and_so_does_one_of_a_clone():
    model = regressor(rng=None).fit(*DIABETES)
    with pytest.warns(UserWarning, match="fit 2 of this estimator and its clones"):
        clone(model).fit(*DIABETES)
    seeded = regressor()
    seeded.fit(*DIABETES).fit(*DIABETES)  # no ε is claimed, so none is counted, and any warning is an error here


def test_the_guarantee_states_both_relations_and_what_is_left_out():
    promise = regressor(epsilon="2.5", rng=None).fit(*DIABETES).guarantee_
    assert (promise.model, promise.add_remove, promise.replace, promise.delta) == ("central", 2.5, 5.0, 0)
    for limit in ("cross-validation", "earlier steps of a pipeline", "how long a fit takes", "no records"):
        assert any(limit in each for each in promise.not_covered)
    assert not any("words" in each for each in promise.not_covered)
    for words in (bp.insecure_seed(1), bp.fixed_words([at * 0x9E3779B97F4A7C15 % 2**64 for at in range(20_000)])):
        known = regressor(rng=words).fit(*DIABETES).guarantee_
        assert "not private" in known.not_covered[0]
        assert not known.is_private and known.add_remove == known.replace == math.inf and "ε =" not in str(known)


@pytest.mark.parametrize(("epsilon", "lines"), [("1.0000001", ("1.00001", "2.00001")), ("0.7", ("0.7", "1.4"))])
def test_the_printed_epsilon_is_rounded_up(epsilon, lines):
    printed = str(regressor(epsilon=epsilon, rng=None).fit(*DIABETES).guarantee_).splitlines()
    assert tuple(line.split()[2] for line in printed[1:3]) == lines


def test_the_stated_epsilon_is_never_below_the_one_that_was_spent():
    promise = regressor(epsilon="0.3", rng=None).fit(*DIABETES).guarantee_
    assert Fraction(0.3) < Fraction(3, 10) <= Fraction(promise.add_remove)
    assert Fraction(6, 10) <= Fraction(promise.replace)
    assert str(promise).splitlines()[1:3] == [
        "ε = 0.3 when a record is added or removed", "ε = 0.6 when a record is replaced",
    ]  # fmt: skip


def test_classes_from_the_data_are_named_as_not_covered():
    x, y = CANCER
    assert any("classes" in each for each in classifier(classes="from-data").fit(x, y).guarantee_.not_covered)
    assert not any("from-data" in each for each in classifier().fit(x, y).guarantee_.not_covered)


def test_two_classes_are_told_apart():
    x, y = CANCER
    model = classifier(epsilon=20, feature_range=np.column_stack([np.zeros(30), x.max(axis=0)]), trees=20).fit(x, y)
    assert model.score(x, y) > 0.85
    chances = model.predict_proba(x)
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    assert ((chances[:, 1] > 0.5) == (model.predict(x) == 1)).all()


def test_several_classes_share_epsilon_and_one_that_never_occurs_is_allowed():
    x, y = load_iris(return_X_y=True)
    x, y = np.repeat(x, 20, axis=0), np.repeat(y, 20)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = classifier(epsilon=48, classes=["absent", *np.unique(names)], feature_range=(0, 8), trees=20).fit(x, names)
    assert len(model.trees_) == 4
    assert model.score(x, names) > 0.85
    assert model.decision_function(x).shape == (3000, 4)
    np.testing.assert_allclose(model.predict_proba(x).sum(axis=1), 1)


def test_models_of_several_classes_share_epsilon(monkeypatch):
    seen = []
    monkeypatch.setattr(estimator, "stages_of", lambda *given: seen.append(given[1:]) or stages_of(*given))
    classifier(epsilon="1.5").fit(*CANCER)
    classifier(epsilon="1.5", classes=[0, 1, 2], trees=None).fit(*CANCER)
    assert seen == [(8, Fraction(3, 2)), (None, Fraction(1, 2))]


def test_pipelines_grids_and_cross_validation_work():
    x, y = DIABETES
    piped = make_pipeline(FunctionTransformer(), regressor(trees=3))
    assert len(cross_val_score(piped, x, y, cv=3)) == 3
    search = GridSearchCV(regressor(trees=2), {"depth": [1, 2], "learning_rate": [0.5, 1.0]}, cv=2).fit(x, y)
    assert search.best_estimator_.predict(x).shape == y.shape


def test_frames_of_pandas_and_polars_give_the_same_model_and_names():
    x, y = load_diabetes(return_X_y=True, as_frame=True)
    plain = regressor().fit(x.to_numpy(), y.to_numpy()).predict(x.to_numpy())
    for frame, target in ((x, y), (pl.from_pandas(x), pl.from_pandas(y))):
        model = regressor().fit(frame, target)
        np.testing.assert_array_equal(model.predict(frame), plain)
        assert model.feature_names_in_.tolist() == x.columns.tolist()
        with pytest.raises(ValueError, match="feature names should match"):
            model.predict(
                frame.rename(columns={"age": "old"})
                if isinstance(frame, pd.DataFrame)
                else frame.rename({"age": "old"})
            )


RANGES = {"age": (18, 90), "wage": (0.0, 1000.0), "hours": (0, 60)}
PEOPLE = pd.DataFrame({
    "age": np.arange(200) % 73 + 18, "hours": np.arange(200) * 7 % 61, "wage": np.arange(200) * 31 % 1001.0,
})  # fmt: skip


@pytest.mark.parametrize("as_frame", [pd.DataFrame, pl.from_pandas], ids=["pandas", "polars"])
def test_ranges_and_bins_go_by_name_whatever_the_order_of_the_columns(as_frame):
    target = PEOPLE["age"] * 4
    bins = {"age": 9, "hours": 6, "wage": 32}
    for columns in (["age", "hours", "wage"], ["wage", "age", "hours"]):
        frame = as_frame(PEOPLE[columns])
        by_name = regressor(feature_range=RANGES, bins=bins).fit(frame, target)
        by_place = regressor(feature_range=[RANGES[each] for each in columns], bins=[bins[each] for each in columns])
        np.testing.assert_array_equal(by_name.predict(frame), by_place.fit(frame, target).predict(frame))
        assert by_name.feature_names_in_.tolist() == columns and by_name.n_features_in_ == 3
        assert by_name.grid_.highs.tolist() == [RANGES[each][1] for each in columns]
        assert by_name.grid_.bins.tolist() == [bins[each] for each in columns]
    again = pickle.loads(pickle.dumps(clone(by_name).fit(frame, target)))
    assert again.feature_names_in_.tolist() == columns and again.predict(frame).shape == (200,)
    by_name.set_params(feature_range=(0, 1000), bins=8).fit(PEOPLE.to_numpy()[:, :2], target)
    assert not hasattr(by_name, "feature_names_in_") and by_name.n_features_in_ == 2


NAMES = {
    "one missing": ({"age": (18, 90), "hours": (0, 60)}, "got none for 'wage'; add it"),
    "one unknown": (RANGES | {"ages": (0, 1)}, "got the name 'ages' (did you mean 'age'?); drop it"),
    "both": ({"agee": (18, 90), "hours": (0, 60), "wage": (0, 1)}, "2 problems"),
    "numbers for pairs": (dict.fromkeys(RANGES, 3), "Expected feature_range as one pair for each of 3 features"),
    "low above high": (RANGES | {"age": (90, 18)}, "finite low < high"),
}


@pytest.mark.parametrize("case", NAMES)
def test_ranges_by_name_are_refused_where_a_name_is_missing_or_unknown(case):
    ranges, message = NAMES[case]
    model = regressor(feature_range=ranges)
    with pytest.raises(InputError) as caught:
        model.fit(PEOPLE, PEOPLE["age"])
    assert message in str(caught.value)
    assert not [name for name in vars(model) if name.endswith("_")]


DAY = np.datetime64("1970-01-11")
FINER = np.datetime64("1970-01-11T00:00:00.001")


@pytest.mark.parametrize(
    "column",
    [
        [DAY] * 9, [DAY] * 8 + [FINER], np.array([DAY] * 9), np.array([DAY] * 9) - DAY, pd.Series([DAY] * 9),
        pd.Series([DAY] * 8 + [pd.NaT]), pl.Series([DAY.astype(object)] * 9),
        pd.Series([DAY] * 9).dt.tz_localize("UTC"),
    ],
    ids=["days", "one finer", "array", "durations", "series", "NaT", "polars", "time zone"],
)  # fmt: skip
def test_dates_and_text_are_refused_for_others_would_decide_their_unit(column):
    """NumPy and pandas take one unit for all, so that one record in milliseconds multiplied everybody's by 1,000."""
    model = regressor(feature_range=(0, 1), target_range=(0, 1e9), outside="clip")
    with pytest.raises((NotAValueError, TypeError), match="Expected numbers, got|float.. argument must be .* number"):
        model.fit(np.zeros((9, 1)), column)
    table = pd.DataFrame({"day": column})
    for given in (table, table.to_numpy()):
        with pytest.raises(
            (NotAValueError, TypeError), match="Expected numbers, got|float.. argument must be .* number"
        ):
            model.fit(given, np.zeros(9))
    with pytest.raises(NotAValueError, match="Expected numbers, got text"):
        model.fit(np.zeros((9, 1)), [np.float16(0.7)] * 8 + ["0.5"])
    with pytest.raises(NotAValueError, match="dates or durations; turn each into a number by itself, such as days"):
        model.fit(pl.DataFrame({"day": [DAY.astype(object)] * 9}), np.zeros(9))


def test_what_is_not_finite_is_refused_even_where_scikit_learn_is_told_that_nothing_is():
    model = regressor(feature_range=(0, 1), target_range=(0, 1))
    with sklearn.config_context(assume_finite=True):
        model.fit(np.zeros((9, 1)), np.zeros(9))
        for call in (
            lambda: model.fit([[np.nan]] + [[0]] * 8, np.zeros(9)),
            lambda: model.fit(np.zeros((9, 1)), [np.nan] + [0] * 8),
            lambda: model.predict([[np.inf]]),
        ):
            with pytest.raises(ValueError, match="contains NaN|contains infinity"):
                call()


def test_a_refusal_names_the_features_that_have_names():
    with pytest.raises(
        OutsideDomainError, match="within feature_range, got others in feature 'wage'; use outside='clip'"
    ):
        regressor(feature_range={"age": (0, 100), "wage": (0, 1e-9)}).fit(PEOPLE[["age", "wage"]], PEOPLE["age"])


def test_ranges_by_name_need_a_table_with_names():
    for changes in ({"feature_range": RANGES}, {"bins": {"age": 3}}):
        with pytest.raises(
            InputError, match="Expected records with named columns, because .* goes by name; pass a data"
        ):
            regressor(**changes).fit(PEOPLE.to_numpy(), PEOPLE["age"])
    with pytest.raises(InputError, match="Expected bins for every feature, got none for 'hours'; add it"):
        regressor(feature_range=RANGES, bins={"age": 3, "wage": 3}).fit(PEOPLE, PEOPLE["age"])
    # Two numbers by name are no pair (low, high) of all features.
    with pytest.raises(InputError, match="Expected feature_range as one pair for each of 2 features"):
        regressor(feature_range={"age": 0, "wage": 1000}).fit(PEOPLE[["age", "wage"]], PEOPLE["age"])


def test_a_pickled_model_predicts_the_same():
    x, y = CANCER
    model = classifier().fit(x, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(x), model.predict(x))
    assert again.guarantee_ == model.guarantee_


def test_progress_is_told_every_tree():
    told = []
    classifier(progress=told.append, classes=[0, 1, 2]).fit(*CANCER)
    assert told == [1] * 24


def test_features_have_ranges_and_bins_of_their_own():
    x = np.column_stack([np.tile([0.0, 1.0], 200), np.repeat([100.0, 200.0], 200)])
    model = regressor(feature_range=[(0, 1), (0, 1000)], bins=[2, 10], target_range=(0, 1), epsilon=40, depth=2)
    low, high = model.fit(x, x[:, 0]).predict([[0, 150], [1, 150]])
    assert low < 0.3
    assert high > 0.7
    assert len(model.grid_.candidates[0]) == 1 + 9


PARAMETERS = {
    "feature_range None": ({"feature_range": None}, "Expected feature_range as public limits, got None; pass"),
    "feature_range of text": ({"feature_range": "wide"}, "Expected feature_range as a pair"),
    "feature_range of wrong size": ({"feature_range": [(0, 1)] * 3}, "or one pair for each of 10"),
    "feature_range upside down": ({"feature_range": (1, 0)}, "finite low < high"),
    "feature_range infinite": ({"feature_range": (0, np.inf)}, "finite low < high"),
    "target_range None": ({"target_range": None}, "Expected target_range as public limits, got None; pass"),
    "bins": ({"bins": 1}, "Expected bins as a whole number from 2 to 256"),
    "bins of wrong size": ({"bins": [2, 3]}, "one for each of 10 features"),
    "epsilon zero": ({"epsilon": 0}, "Expected epsilon as a positive decimal"),
    "epsilon NaN": ({"epsilon": float("nan")}, "Expected epsilon as a positive decimal"),
    "trees": ({"trees": 0}, "Expected trees as a whole number from 1 to 10000"),
    "trees True": ({"trees": True}, "Expected trees as a whole number"),
    "depth": ({"depth": 13}, "Expected depth as a whole number from 1 to 12"),
    "learning_rate": ({"learning_rate": 1.01}, "Expected learning_rate as a number from 0.0001 to 1"),
    "learning_rate NaN": ({"learning_rate": float("nan")}, "Expected learning_rate as a number"),
    "gradient_clip": ({"gradient_clip": 2.5}, "Expected gradient_clip as a number from 0.001 to 2"),
    "gradient_clip digits": ({"gradient_clip": 0.1234}, "Expected gradient_clip with at most three decimals"),
    "outside": ({"outside": "wrap"}, "Expected outside as one of 'error', 'clip'"),
    "rng": ({"rng": 7}, "Expected rng=None (secure)"),
    "rng of NumPy": ({"rng": np.random.default_rng(1)}, "statistical generators are not accepted"),
    "progress": ({"progress": 3}, "Expected progress as a function"),
}


@pytest.mark.parametrize("case", PARAMETERS)
def test_bad_parameters_are_refused_at_fit_and_nothing_is_fitted(case):
    changes, message = PARAMETERS[case]
    model = regressor(**changes)
    with pytest.raises(InputError) as caught:
        model.fit(*DIABETES)
    assert message in str(caught.value)
    assert not [name for name in vars(model) if name.endswith("_")]
    with pytest.raises(NotFittedError):
        model.predict(DIABETES[0])


def test_all_bad_parameters_are_named_at_once():
    with pytest.raises(InputError, match="3 problems"):
        regressor(trees=0, depth=0, epsilon="x").fit(*DIABETES)


def test_an_epsilon_too_small_for_the_leaves_is_refused():
    with pytest.raises(EpsilonError, match="leaves at least 1e-15 to every leaf; use a larger epsilon, or fewer trees"):
        regressor(epsilon=1e-15).fit(*DIABETES)


@pytest.mark.parametrize(
    "of_the_paper", ["leaf", "ensemble_trees", "large_gradients", "leaf_range", "leaf_points", "regularization"]
)
def test_parameters_of_the_papers_leaves_are_unknown(of_the_paper):
    with pytest.raises(TypeError, match=f"unexpected keyword argument '{of_the_paper}'"):
        regressor(**{of_the_paper: "brr"})


def test_a_failed_fit_leaves_the_model_as_it_was():
    x, y = DIABETES
    model = regressor().fit(x, y)
    before = model.predict(x)
    with pytest.raises(OutsideDomainError):
        model.fit(np.full((20, 3), 99.0), y[:20])
    np.testing.assert_array_equal(model.predict(x), before)
    assert model.n_features_in_ == 10


def changed(value, *, in_y=False):
    x, y = DIABETES[0].copy(), DIABETES[1].copy()
    if in_y:
        y[5] = value
    else:
        x[5, 3] = value
    return x, y


DATA = {
    "a value outside": (changed(SENTINEL), OutsideDomainError, "in feature 3; use outside='clip'"),
    "a target outside": (changed(SENTINEL, in_y=True), OutsideDomainError, "Expected every target within target_range"),
    "a NaN": (changed(np.nan), NullError, "Input X contains NaN; fill missing values with a public value first."),
    "an infinite value": (
        changed(np.inf),
        NotAValueError,
        "put an end of the public range in place of infinite values",
    ),
    "a NaN among targets": (changed(np.nan, in_y=True), NullError, "Input y contains NaN; fill"),
    # As a whole number of 64 bits a NaN would be −2^63, and the mean that of this one record.
    "None among targets": (([[0]] * 9, [None] + [0] * 8), NullError, "Input y contains NaN; fill"),
    "NaN as text": (([[0]] * 9, ["nan"] + ["0"] * 8), NotAValueError, "Expected numbers, got text"),
    "an infinite target among objects": (
        ([[0]] * 9, np.array([np.inf] + [0] * 8, dtype=object)),
        NotAValueError,
        "put an end of the public range in place of infinite values",
    ),
    "text": (([["a", str(SENTINEL)]] * 9, [0] * 9), NotAValueError, "Expected numbers, got text"),
    "one dimension": (([SENTINEL] * 9, [0] * 9), ValueError, "Expected 2D array, got 1D array instead"),
    "complex numbers": ((np.full((9, 2), SENTINEL * 1j), [0] * 9), NotAValueError, "Complex data not supported"),
    "lengths that differ": ((np.full((9, 2), SENTINEL), [0] * 8), ValueError, "inconsistent numbers of samples"),
    "no records": ((np.empty((0, 2)), []), ValueError, "0 sample"),
}


@pytest.mark.parametrize("case", DATA)
@pytest.mark.parametrize("outside", ["error", "clip"])
def test_bad_data_are_refused_without_showing_a_value(case, outside):
    data, kind, message = DATA[case]
    if outside == "clip" and kind is OutsideDomainError:
        return
    model = regressor(outside=outside)
    with pytest.raises(kind) as caught:
        model.fit(*data)
    assert message in str(caught.value)
    error = caught.value
    while error is not None:
        assert not any(needle in f"{error} {error!r}" for needle in ("918273", "645546"))
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    assert not [name for name in vars(model) if name.endswith("_")]


NOBODY = {
    "NaN": np.nan, "None": None, "NA": pd.NA, "NaT": pd.NaT, "masked": np.ma.masked, "infinite": np.inf,
    "minus infinite": -np.inf,
}  # fmt: skip


@pytest.mark.parametrize("outside", ["error", "clip"])
@pytest.mark.parametrize("name", NOBODY)
def test_what_is_missing_or_infinite_is_refused_in_fit_and_in_predict(name, outside):
    few = pd.DataFrame(DIABETES[0][:30, :2], columns=["age", "sex"]).astype(object)
    few.iloc[3, 1] = None if name == "masked" else NOBODY[name]
    whole, y = few.fillna(0).infer_objects().astype(float).clip(-0.25, 0.25), DIABETES[1][:30]
    remedy = "put an end of the public range" if "infinite" in name else "with a public value first|leave out or fill"
    tables = [few, few.to_numpy()]
    if name == "masked":
        tables = [np.ma.MaskedArray(whole.to_numpy(), mask=np.eye(30, 2) == 1)]
    elif name not in {"NaT", "None"}:
        tables.append(pl.DataFrame({"age": whole["age"], "sex": [NOBODY[name] if name != "NA" else None] * 30}))
    for table in tables:
        fitted = regressor(outside=outside).fit(whole if hasattr(table, "columns") else whole.to_numpy(), y)
        for call in (lambda: regressor(outside=outside).fit(table, y), lambda: fitted.predict(table)):  # noqa: B023
            with pytest.raises((NullError, NotAValueError), match=remedy):
                call()


@pytest.mark.filterwarnings("ignore:Warning. converting a masked element to nan")  # NumPy's, before it is refused
@pytest.mark.parametrize("classes", [[0, 1], "from-data"])
@pytest.mark.parametrize("name", NOBODY)
def test_a_label_that_is_missing_or_infinite_is_refused(name, classes):
    x, y = np.zeros((30, 1)), np.arange(30) % 2
    labels = [*(y[1:].astype(object)), NOBODY[name]]
    given = [np.array(labels, dtype=object), pd.Series(labels, dtype=object)]
    if name == "masked":
        given = [given[0], np.ma.MaskedArray(y, mask=y == 7)]
    elif name != "NaT":
        given.append(pd.Series(pd.array([None if name == "None" else each for each in labels], dtype="Float64")))
    remedy = "public value|leave out|every label to be one of classes|end of the public range|Unknown label type"
    for each in given:
        for model in (classifier(classes=classes), regressor()):
            with pytest.raises(ValueError, match=remedy):
                model.fit(x, each)
            assert not [held for held in vars(model) if held.endswith("_")]


def test_values_outside_are_clipped_when_asked():
    x, y = DIABETES
    inside = regressor(feature_range=(-0.05, 0.05), target_range=(100, 200), outside="clip")
    by_hand = regressor(feature_range=(-0.05, 0.05), target_range=(100, 200))
    one = inside.fit(x, y).predict(x)
    other = by_hand.fit(np.clip(x, -0.05, 0.05), np.clip(y, 100, 200)).predict(np.clip(x, -0.05, 0.05))
    np.testing.assert_array_equal(one, other)


CLASSES = {
    "none": ({"classes": None}, InputError, "Expected classes as the public list of all classes, got None; pass"),
    "a word": ({"classes": "all"}, InputError, "got 'all'; pass"),
    "one": ({"classes": [1]}, InputError, "Expected at least two classes, got 1 class; state all"),
    "no class": ({"classes": []}, InputError, "Expected at least two classes, got none; state all"),
    "NaN": ({"classes": [0, 1, np.nan]}, InputError, "without missing values; leave out None, NaN"),
    "None": ({"classes": ["a", None]}, InputError, "without missing values; leave out None, NaN and their records"),
    "NA": ({"classes": ["a", pd.NA]}, InputError, "without missing values; leave out None, NaN and their records"),
    "another": ({"classes": [0, 2]}, NotAValueError, "Expected every label to be one of classes"),
    "of another type": ({"classes": ["0", "1"]}, NotAValueError, "Expected every label to be one of classes"),
}


@pytest.mark.parametrize("case", CLASSES)
def test_bad_classes_are_refused(case):
    changes, kind, message = CLASSES[case]
    with pytest.raises(kind) as caught:
        classifier(**changes).fit(*CANCER)
    assert message in str(caught.value)


@pytest.mark.parametrize("labels", [[1, "a"], [0.5, 0.25]], ids=["mixed", "continuous"])
@pytest.mark.parametrize("dtype", [object, str])
def test_labels_that_have_no_order_are_refused_in_words(labels, dtype):
    x = np.zeros((60, 1))
    y = np.array(labels * 30, dtype=object)
    model = classifier(classes=np.array(["a", "b"], dtype=dtype))
    with pytest.raises(NotAValueError, match="Expected every label to be one of classes"):
        model.fit(x, y)


def test_stated_classes_need_no_warning_about_what_the_labels_look_like():
    x, y = np.zeros((60, 1)), np.arange(60)
    # Any warning is an error here; scikit-learn 1.9 would warn of so many classes.
    classifier(epsilon=50, classes=list(range(60)), trees=1, depth=1).fit(x, y)


def test_labels_of_other_types_find_their_classes():
    x, y = CANCER
    expected = classifier().fit(x, y).predict_proba(x)
    for labels, classes in ((y.astype(bool), [False, True]), (y.astype(float), [0, 1]), (y == 1, [0, 1])):
        np.testing.assert_array_equal(classifier(classes=classes).fit(x, labels).predict_proba(x), expected)


def test_missing_extras_are_named():
    code = (
        "import sys, importlib.util as u\n"
        "real = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name == 'sklearn' else real(name, *a)\n"
        "import bipartite.learn as learn\n"
        "try: learn.PrivateBoostingRegressor\n"
        "except ImportError as error: print(type(error).__name__, error)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert result.stdout.strip().startswith(
        "MissingExtraError Private boosting needs scikit-learn, which is not installed; run: "
        'pip install "bipartite[boosting]" (in a checkout: pip install ".[boosting]")'
    )
