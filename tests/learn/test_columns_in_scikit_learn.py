"""Private columns among scikit-learn's own: its checks, pipelines, searches, clones and pickles."""

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.estimator_checks import check_estimator

import bipartite as bp
from bipartite.learn import PrivateColumns

# scikit-learn's checks that private columns do not pass, each with the reason.
BLIND = "failed"  # fit looks at no value: NaN and infinity are refused when a row is to be reported
FRESH = "failed"  # every call draws new reports, so two calls differ
SKIPPED = "skipped"  # by scikit-learn itself, where transformers are random or no array API is at hand
NOT_PASSED = {
    "privatize": {
        "check_estimators_nan_inf": BLIND,
        "check_estimators_pickle": FRESH,
        "check_fit_idempotent": FRESH,
        "check_pipeline_consistency": SKIPPED,
        "check_transformer_data_not_an_array": SKIPPED,
        "check_transformer_general": SKIPPED,
        "check_array_api_input": SKIPPED,
    },
    "pass": {
        "check_estimators_nan_inf": BLIND,
        "check_pipeline_consistency": SKIPPED,
        "check_transformer_data_not_an_array": SKIPPED,
        "check_transformer_general": SKIPPED,
        "check_array_api_input": SKIPPED,
    },
}


@pytest.mark.filterwarnings("ignore:This was fit")
@pytest.mark.parametrize("at_predict", ["privatize", "pass"])
def test_scikit_learns_own_checks_pass_but_for_those_that_need_equal_reports(at_predict):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the checks provoke scikit-learn's own warnings
        results = check_estimator(
            PrivateColumns((-1e6, 1e6), epsilon=10, at_predict=at_predict), on_fail=None, on_skip=None
        )
    assert len(results) > 40
    others = {each["check_name"]: each["status"] for each in results if each["status"] != "passed"}
    assert others == NOT_PASSED[at_predict]


def cancer():
    rows, labels = load_breast_cancer(return_X_y=True, as_frame=True)
    return rows.iloc[:, :3], labels


RANGES = {"mean radius": (6, 30), "mean texture": (9, 40), "mean perimeter": (40, 190)}


def test_a_clone_and_a_pickle_report_alike_from_the_same_words():
    rows, _ = cancer()
    original = PrivateColumns(RANGES, epsilon=2, rng=bp.insecure_seed(3), sample=2)
    copies = [clone(original), pickle.loads(pickle.dumps(original))]
    expected = original.fit_transform(rows)
    for copy in copies:
        pd.testing.assert_frame_equal(copy.fit_transform(rows), expected)
    fitted = pickle.loads(pickle.dumps(original))
    assert fitted.mechanisms_ == original.mechanisms_
    assert fitted.guarantee_ == original.guarantee_
    pd.testing.assert_frame_equal(fitted.transform(rows), original.transform(rows))


def test_parameters_are_read_and_set_in_scikit_learns_way():
    transformer = PrivateColumns(RANGES)
    assert transformer.get_params()["epsilon"] == 1.0
    assert transformer.set_params(epsilon=2, sample=1).sample == 1
    assert "PrivateColumns" in repr(transformer)


def test_a_pipeline_trains_on_reports_and_predicts_on_clean_rows_where_that_was_said():
    rows, labels = cancer()
    seed = bp.insecure_seed(5)
    pipeline = make_pipeline(
        PrivateColumns(RANGES, epsilon=20, outside="clip", at_predict="pass", rng=seed),
        LogisticRegression(max_iter=5000),
    )
    pipeline.fit(rows, labels)
    # Deterministic, because nothing is drawn any more.
    np.testing.assert_array_equal(pipeline.predict(rows), pipeline.predict(rows))
    assert pipeline.score(rows, labels) > 0.8
    assert list(pipeline[:-1].get_feature_names_out()) == list(RANGES)
    noisy = pipeline.set_params(privatecolumns__at_predict="privatize", privatecolumns__epsilon="0.1").fit(rows, labels)
    assert (noisy.predict_proba(rows) != noisy.predict_proba(rows)).any()


def test_columns_of_both_kinds_go_on_to_an_encoder():
    table = pd.DataFrame({"age": [30, 50, 70], "job": ["clerk", "baker", "clerk"], "id": [1, 2, 3]})
    jobs = ["clerk", "baker"]
    private = PrivateColumns({"age": bp.Integers(18, 90), "job": jobs}, epsilon=1, rng=bp.insecure_seed(1))
    chosen = ColumnTransformer([("private", private, ["age", "job"])], verbose_feature_names_out=False)
    encoded = ColumnTransformer([("hot", OneHotEncoder(categories=[jobs]), ["job"])], remainder="passthrough")
    out = make_pipeline(chosen.set_output(transform="pandas"), encoded).fit_transform(table)
    assert out.shape == (3, 3)
    assert set(np.unique(out[:, :2])) <= {0, 1}


def test_privatize_once_then_search_freely():
    rows, labels = cancer()
    reports = PrivateColumns(RANGES, epsilon=20, outside="clip", rng=bp.insecure_seed(2)).fit_transform(rows)
    search = GridSearchCV(LogisticRegression(max_iter=5000), {"C": [0.1, 1.0]}, cv=3).fit(reports, labels)
    assert search.best_score_ > 0.7


def test_a_search_over_the_columns_runs_and_each_of_its_fits_draws_again():
    rows, labels = cancer()
    pipeline = make_pipeline(PrivateColumns(RANGES, outside="clip"), LogisticRegression(max_iter=5000))
    with pytest.warns(UserWarning, match="This was fit [24] of this estimator and its clones"):
        search = GridSearchCV(pipeline, {"privatecolumns__epsilon": [1, 30]}, cv=2).fit(rows, labels)
    fitted = search.best_estimator_.named_steps["privatecolumns"]
    assert any("every fit in a cross-validation or a search" in each for each in fitted.guarantee_.not_covered)
    with pytest.warns(UserWarning, match="each spends its own ε, and whoever was in all 8 has spent 8 times"):
        assert len(cross_val_score(pipeline, rows, labels, cv=5)) == 5


def test_a_fit_that_draws_nothing_or_promises_nothing_is_not_counted():
    rows, _ = cancer()
    private = PrivateColumns(RANGES, outside="clip").fit(rows).fit(rows)
    seeded = clone(private).set_params(rng=bp.insecure_seed(1))
    seeded.fit_transform(rows), seeded.fit_transform(rows)
    private.fit_transform(rows)  # any warning is an error here


def test_a_renamed_or_missing_column_is_refused():
    rows, _ = cancer()
    fitted = PrivateColumns(RANGES, outside="clip").fit(rows)
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.transform(rows.rename(columns={"mean radius": "radius"}))
    with pytest.raises(ValueError, match="2 features, but PrivateColumns is expecting 3|feature names should match"):
        fitted.transform(rows.iloc[:, :2])


def test_without_scikit_learn_the_extra_is_named():
    code = (
        "import sys; sys.modules['sklearn'] = None; sys.modules['sklearn.base'] = None\n"
        "import bipartite as bp\n"
        "for name in ('PrivateColumns', 'PrivateLabels'):\n"
        "    try: getattr(bp.learn, name)\n"
        "    except bp.errors.MissingExtraError as error: print(error)\n"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True).stdout
    assert told.count('needs scikit-learn, which is not installed; run: pip install "bipartite[boosting]"') == 2
