"""Small groups by the model of Fay and Herriot: against R's printed figures, and against integrals done by SciPy.

``milk.csv`` holds what 43 areas of the United States spent on fresh milk in 1989, with standard errors and larger areas
(Arora, Lahiri, Statistica Sinica 7, 1997; You, Chapman, Survey Methodology 32, 2006), as in R's package sae 1.3. What R
prints about it is in the README of the package saens: coefficients and their errors by REML, and the log-likelihood.
"""

import csv
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize_scalar

import bipartite as bp
from bipartite.answers.surveys.small_groups import fay_herriot, restricted
from bipartite.errors import InputError

LINE = bp.Integers(0, 9)
MECH = bp.GRR(LINE, 2)


def milk():
    with (Path(__file__).parent / "milk.csv").open(encoding="utf-8") as lines:
        rows = np.array([[float(each) for each in row.values()] for row in csv.DictReader(lines)])
    return rows[:, 0], rows[:, 1] ** 2, np.column_stack([np.ones(43), *(rows[:, 2] == k for k in (2, 3, 4))])


def by_reml(y, d, x):
    """The usual prediction: A of the largest restricted likelihood, and its error by Datta and Lahiri (2000)."""
    a = minimize_scalar(lambda a: -restricted(y, a + d[None], x)[0][0], bounds=(0, 9), method="bounded",
                        options={"xatol": 1e-12}).x  # fmt: skip
    _, (beta,), (spread,) = restricted(y, a + d[None], x)
    b, v = d / (a + d), a + d
    mse = a * b + b**2 * (np.einsum("ij,jk,ik->i", x, spread, x) + 4 / (v**-2).sum() / v)
    return a, beta, spread, y - b * (y - x @ beta), mse


def test_the_restricted_likelihood_gives_what_r_prints():
    y, d, x = milk()
    a, beta, spread, _, _ = by_reml(y, d, x)
    assert beta == pytest.approx([0.9681890, 0.1327801, 0.2269462, -0.2413011], abs=3e-7)  # R stops early
    assert np.sqrt(spread.diagonal()) == pytest.approx([0.069362, 0.103001, 0.092330, 0.081617], abs=6e-7)
    log_likelihood = -(np.log(2 * np.pi * (a + d)) + (y - x @ beta) ** 2 / (a + d)).sum() / 2
    assert log_likelihood == pytest.approx(12.67748, abs=1e-5)


def test_averaged_over_a_the_predictions_are_near_those_of_reml():
    y, d, x = milk()
    _, _, _, value, mse = by_reml(y, d, x)
    fit = fay_herriot(y, d, x)
    assert np.abs(fit.value - value).max() < 0.2 * np.sqrt(mse).min()
    assert np.abs(fit.rmse / np.sqrt(mse) - 1).max() < 0.08


def dense(y, d, x, a):
    """(likelihood, predictions, their covariance) given A, from dense matrices."""
    v, p = np.diag(a + d), x.shape[1]
    inverse = np.linalg.inv(v)
    q = np.linalg.inv(x.T @ inverse @ x)
    projected = inverse - inverse @ x @ q @ x.T @ inverse
    likelihood = math.exp(-(np.linalg.slogdet(v)[1] - np.linalg.slogdet(q)[1] + y @ projected @ y) / 2)
    # θ = y − e, and e is normal with the covariance D; the law of e given all contrasts of y.
    noise = np.diag(d)
    return likelihood, y - noise @ projected @ y, np.diag(noise - noise @ projected @ noise), p


@pytest.mark.parametrize(("m", "p"), [(4, 1), (6, 3), (9, 2)])
def test_means_and_errors_are_integrals_over_a(m, p):
    rng = np.random.default_rng([36, m])
    d, x = np.exp(rng.normal(0, 1, m)), np.column_stack([np.ones(m), rng.normal(size=(m, p - 1))])
    y = rng.normal(5, 1.5, m)

    def mean(f):
        """∫ f(A)·L(A) dA / ∫ L(A) dA, with A = t²/(1 − t)²."""

        def at(t, g):
            a = (t / (1 - t)) ** 2
            found = dense(y, d, x, a)
            return found[0] * g(*found[1:3], a) * 2 * t / (1 - t) ** 3

        parts = [quad(at, 0, 1, args=(g,), epsabs=0, epsrel=1e-9, limit=200)[0] for g in (f, lambda *_: 1.0)]
        return parts[0] / parts[1]

    fit = fay_herriot(y, d, x)
    for at in (0, m - 1):
        value = mean(lambda theta, _, __, at=at: theta[at])
        square = mean(lambda theta, var, _, at=at: theta[at] ** 2 + var[at])
        assert fit.value[at] == pytest.approx(value, rel=1e-6)
        assert fit.rmse[at] == pytest.approx(math.sqrt(square - value**2), rel=1e-5)
        assert fit.weight[at] == pytest.approx(mean(lambda _, __, a, at=at: a / (a + d[at])), rel=1e-6)
    assert mean(lambda _, __, a: float(a <= fit.spread**2)) == pytest.approx(0.5, abs=0.01)


def test_units_do_not_matter():
    y, d, x = milk()
    fit, other = fay_herriot(y, d, x), fay_herriot(3e6 - 1e5 * y, 1e10 * d, x)
    assert other.value == pytest.approx(3e6 - 1e5 * fit.value, rel=1e-9)
    assert other.rmse == pytest.approx(1e5 * fit.rmse, rel=1e-6)
    assert other.spread == pytest.approx(1e5 * fit.spread, rel=1e-6)


@pytest.mark.parametrize(("offset", "scale"), [(1e7, 1.0), (1.7e9, 1.0), (0.0, 1e-200), (0.0, 1e200), (2e9, 1e3)])
def test_units_of_covariates_do_not_matter(offset, scale):
    # Dates as seconds were a singular matrix, and 1e7 + 0..5 moved predictions.
    near = {label: float(at) for at, label in enumerate("abcdef")}
    far = {label: offset + scale * at for label, at in near.items()}
    found, other = (bp.surveys.small_groups(TOWNS, covariates=each) for each in (near, far))
    for label in TOWNS:
        assert other[label].value == pytest.approx(found[label].value, rel=1e-6)
        assert other[label].rmse == pytest.approx(found[label].rmse, rel=1e-6)
    assert scale * other.coefficients[1] == pytest.approx(found.coefficients[1], rel=1e-5)


def test_intervals_hold_on_average_over_groups_if_the_model_does():
    """300 trials of 12 groups: by chance fewer than 93.4 % hold with a probability below 1e-4 if 95 % do.

    The predictions of groups are nearly independent: 3,600 of them have a standard error of 0.4 %. With the errors that
    do not know how uncertain A is, fewer hold.
    """
    rng, held, naive = np.random.default_rng(36), [], []
    x = np.ones((12, 1))
    for _ in range(300):
        d = np.exp(rng.normal(0, 0.7, 12))
        true = rng.normal(3, math.sqrt(0.7), 12)
        y = rng.normal(true, np.sqrt(d))
        fit = fay_herriot(y, d, x)
        held.append(np.abs(fit.value - true) <= 1.96 * fit.rmse)
        a, _, _, value, _ = by_reml(y, d, x)
        naive.append(np.abs(value - true) <= 1.96 * np.sqrt(a * d / (a + d)))
    assert 0.934 < np.mean(held) < 0.985
    assert np.mean(naive) < 0.9


def towns(sizes, seed=1, mech=MECH, low=2):
    labels = np.repeat(list("abcdefghij"[: len(sizes)]), sizes)
    values = np.repeat(low + np.arange(len(sizes)) % 3, sizes)
    reports = mech.privatize(values, rng=bp.insecure_seed(seed))
    return labels, reports, bp.estimate(mech, reports, by=labels)


SIZES = [5, 9, 20, 60, 200, 400]
LABELS, REPORTS, TOWNS = towns(SIZES)


def test_variances_of_scores_are_smoothed_over_all_groups():
    found = bp.surveys.small_groups(TOWNS)
    scores, n = bp.scores(MECH, REPORTS), np.array(SIZES)
    own = np.array([scores[label == LABELS].var(ddof=1) for label in TOWNS])
    pooled = (n - 1) @ own / (n - 1).sum()
    errors = np.sqrt(((n - 1) * own + 100 * pooled) / (n + 99) / n)
    assert [each.direct_se for each in found.values()] == pytest.approx(errors)
    assert [each.direct for each in found.values()] == pytest.approx([TOWNS[label].mean for label in TOWNS])
    fit = fay_herriot(np.array([each.direct for each in found.values()]), errors**2, np.ones((6, 1)))
    assert [each.value for each in found.values()] == pytest.approx(fit.value)
    assert [each.weight for each in found.values()] == pytest.approx(fit.weight)
    assert [each.nobs for each in found.values()] == SIZES
    for sure, z in ((0.95, 1.959964), (0.8, 1.281552)):
        one = bp.surveys.small_groups(TOWNS, confidence=sure)["e"]
        assert one.interval == pytest.approx((one.value - z * one.rmse, one.value + z * one.rmse))
        assert one.interval.confidence == sure
    assert found.coefficients == pytest.approx(tuple(fit.coefficients))
    assert found.spread == pytest.approx(fit.spread)


def test_other_mechanisms_and_weights():
    """Groups of another ε do not lend their variance, and weights reduce the number of reports."""
    precise = bp.GRR(LINE, 6)
    *_, other = towns([300, 300], 2, precise)
    both = dict(TOWNS) | {"p": other["a"], "q": other["b"]}
    alone, found = bp.surveys.small_groups(TOWNS), bp.surveys.small_groups(both)
    assert [found[label].direct_se for label in TOWNS] == [each.direct_se for each in alone.values()]
    assert found["p"].direct_se < found["e"].direct_se / 3
    w = np.where(np.arange(len(REPORTS)) % 2, 1.0, 3.0)
    weighted = bp.surveys.small_groups(bp.estimate(MECH, REPORTS, weights=w, by=LABELS))
    assert 1.05 < weighted["f"].direct_se / alone["f"].direct_se < 1.2  # n is 0.8 of what it was


def test_shares_are_unbiased_and_intervals_end_at_what_is_possible():
    found = bp.surveys.small_groups(TOWNS, ("range", 0, 1))
    weights = (np.arange(10) < 2).astype(float)
    assert [found[label].direct for label in "abc"] == pytest.approx(
        [bp.scores(MECH, REPORTS, weights)[label == LABELS].mean() for label in "abc"]
    )
    for each in found.values():
        assert min(0.0, each.value) <= each.interval.low <= each.value <= each.interval.high <= max(1.0, each.value)
    assert any(each.interval.low == 0 for each in found.values())


def test_a_group_of_one_report_is_told_too():
    *_, ests = towns([1, 50, 60, 70])
    found = bp.surveys.small_groups(ests)
    assert found["a"].direct_se > 5 * found["d"].direct_se
    assert found["a"].weight < found["d"].weight


def test_covariates_draw_groups_towards_a_line():
    size = 3_000
    labels, values = np.repeat(list("abcdef"), size), np.repeat([1, 2, 3, 4, 5, 6], size)
    ests = bp.estimate(MECH, MECH.privatize(values, rng=bp.insecure_seed(4)), by=labels)
    line = {label: 10 * at for at, label in enumerate("abcdef")}
    along, around = bp.surveys.small_groups(ests, covariates=line), bp.surveys.small_groups(ests)
    assert along.coefficients == pytest.approx([1, 0.1], abs=0.15)
    assert along.spread < around.spread / 5
    assert along["a"].rmse < around["a"].rmse
    several = {label: (at, at**2) for at, label in enumerate("abcdef")}
    assert len(bp.surveys.small_groups(ests, covariates=several).coefficients) == 3


def test_where_a_covariate_is_counted_from_changes_nothing():
    # Around 10^7 the cross-products of a line with steps of 1 have the same 16 digits.
    rng = np.random.default_rng(1)
    y, variances, line = rng.normal(0, 1, 12), rng.uniform(0.1, 1, 12), np.arange(12.0)
    near, far = (fay_herriot(y, variances, np.column_stack([np.ones(12), line + by])) for by in (0, 1e7))
    assert far.value == pytest.approx(near.value, abs=1e-6)
    assert far.rmse == pytest.approx(near.rmse, abs=1e-6)
    assert far.coefficients[1] == pytest.approx(near.coefficients[1], abs=1e-6)


def test_they_are_shown_as_a_table_that_says_what_it_is():
    found = bp.surveys.small_groups(TOWNS)
    frame = found.to_frame()
    assert frame.columns.tolist() == [
        *("group", "n", "direct", "direct_se", "value", "rmse", "weight", "low", "high"),
    ]
    assert frame["rmse"].tolist() == [found[label].rmse for label in TOWNS]
    assert frame["high"].tolist() == [found[label].interval.high for label in TOWNS]
    text = str(found).split("\n")
    said = "by the model of Fay and Herriot: intervals hold on average over groups that follow it, not for each"
    assert text[0] == f"6 groups {said}"
    assert text[1].split() == ["group", "n", "direct", "±", "model", "95", "%", "interval", "weight"]
    assert text[-1].split()[:2] == ["f", "400"]
    assert repr(found).startswith("<SmallGroups: 6 groups by the model of Fay and Herriot")
    assert found["a"].interval.note == "a model: holds on average over groups that follow it, not for each group"
    assert (list(found), len(found)) == (list(TOWNS), 6)
    assert "<table>" in found._repr_html_()


def test_what_the_model_cannot_take():
    few = {label: TOWNS[label] for label in "abc"}
    with pytest.raises(InputError, match="Expected estimates of at least 4 groups, as of bp.estimate.*, got 3"):
        bp.surveys.small_groups(few)
    with pytest.raises(InputError, match="at least 7 groups for 4 coefficients, got 6; leave covariates out, or ask"):
        bp.surveys.small_groups(TOWNS, covariates={label: (at, at**2, at**3) for at, label in enumerate(TOWNS)})
    with pytest.raises(
        InputError, match="a question whose answer is an average, such as 'mean', got 'median'; for others ask about"
    ):
        bp.surveys.small_groups(TOWNS, "median")
    with pytest.raises(InputError, match="covariates as a dict of public numbers by group, without 'f'"):
        bp.surveys.small_groups(TOWNS, covariates=dict.fromkeys("abcde", 1.0))
    with pytest.raises(InputError, match="covariates as a dict of public numbers by group, without 'a'"):
        bp.surveys.small_groups(TOWNS, covariates=[1, 2, 3])
    for wrong in (math.nan, "x", (1, 2)):
        with pytest.raises(InputError, match="Expected covariates as finite numbers, equally many for every group"):
            bp.surveys.small_groups(TOWNS, covariates=dict.fromkeys("abcde", 1.0) | {"f": wrong})
    with pytest.raises(InputError, match="Some covariates are the same for all groups, or follow from others; leave"):
        bp.surveys.small_groups(TOWNS, covariates=dict.fromkeys("abcdef", 1e9))
    clamped = bp.BRR(LINE, 1)
    with pytest.raises(InputError, match="cannot tell apart, so groups cannot be compared by it"):
        bp.surveys.small_groups(towns([9, 9, 9, 9], mech=clamped)[2])
    with pytest.raises(InputError, match="scores of some groups do not vary, or these have a single report each"):
        bp.surveys.small_groups(towns([1, 1, 1, 1])[2])
    other = bp.GRR(bp.Integers(0, 3), 1)
    with pytest.raises(InputError, match="Expected estimates on one domain"):
        bp.surveys.small_groups(dict(TOWNS) | {"z": bp.estimate(other, [1, 2, 3])})
    with pytest.raises(KeyError, match="nowhere"):
        bp.surveys.small_groups(TOWNS)["nowhere"]
