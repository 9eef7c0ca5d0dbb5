"""Figures of a comparison against the matrix, by brute force."""

import csv
import io
import json
import math
import sys

import numpy as np
import pytest

import bipartite as bp
from bipartite.answers.advise import candidates as building
from bipartite.answers.advise.candidates import candidates
from bipartite.answers.advise.measuring import COLUMNS
from bipartite.errors import EpsilonError, InputError, MissingExtraError, PriorError
from bipartite.locations.atlas import cities
from tests.mechanisms.test_catalogue import Liar

AGES = bp.Integers(18, 38)
PRIOR = np.arange(1.0, 22.0) / np.arange(1.0, 22.0).sum()
CITIES = bp.Points(cities().coordinates[:20], metric="haversine")
FLAT = bp.Items(list("abcdefgh"), loss=1 - np.eye(8))


def brute(mechanism, prior, tolerance):
    """Expected, median and worst loss and the share within a tolerance, from the whole matrix."""
    rows = mechanism.matrix()
    domain = mechanism.domain
    if isinstance(domain, (bp.Points, bp.Items)):
        at = [domain.encode(value) for value in mechanism.outputs]
        losses = np.stack([domain.losses(x) for x in range(len(domain))])[:, at]
    else:
        losses = np.abs(domain.to_numpy()[:, None] - mechanism.outputs.to_numpy()[None, :])
    joint = prior[:, None] * rows
    order = np.argsort(losses, axis=None)
    upto = joint.ravel()[order].cumsum()
    median = losses.ravel()[order][np.searchsorted(upto, 0.5 * (1 - 1e-12))]
    return (joint * losses).sum(), median, (rows * losses).sum(axis=1).max(), joint[losses <= tolerance + 1e-9].sum()


def errors(mechanism, prior, people):
    """Errors of mean, shares and cumulative shares by the default estimators, from the whole matrix.

    Shares have scores fitted to the people; the mean has those of a uniform population.
    The smoothed distribution has what reports and a smooth population leave: in terms of shares up to a value, the
    density moves like a Brownian motion, so that its second differences are independent with variance 1/N³.
    """
    rows, size = mechanism.matrix(), len(prior)

    def inverse(law):
        return np.linalg.inv((rows / law) @ rows.T)

    def variances(law, wanted):
        scores = ((rows / law).T @ inverse(law) @ wanted.T).T
        return (scores**2 @ (prior @ rows)) - (wanted @ prior) ** 2

    uniform, own = np.full(size, 1 / size) @ rows, prior @ rows
    values = mechanism.domain.to_numpy().astype(float)
    shares = variances(own, np.eye(size)).mean()
    if type(mechanism) is bp.GRR:
        cumulative = variances(own, np.tri(size)).sum() / size / people
    else:
        steps_up = rows[:-1] - rows[1:]
        second = np.diff(np.pad(np.eye(size - 1), ((1, 1), (0, 0))), n=2, axis=0)
        left = np.linalg.inv(people * (steps_up / own) @ steps_up.T + size**3 * second.T @ second).trace() / size
        near = mechanism.m if isinstance(mechanism, bp.BRR) else size
        cumulative = left * (1.8 * (near / size) ** 0.15) ** 2
    mean = variances(uniform, values[None, :] - values.mean())[0]
    return math.sqrt(mean / people), math.sqrt(shares / people), math.sqrt(cumulative)


@pytest.mark.grid(2)
@pytest.mark.parametrize("prior", [None, PRIOR], ids=["uniform", "prior"])
@pytest.mark.parametrize("epsilon", ["0.5", "3"])
def test_the_losses_of_every_mechanism_on_a_line_are_those_of_its_matrix(prior, epsilon):
    compared = bp.compare(AGES, epsilon, prior=prior, tolerance=4)
    weights = np.full(21, 1 / 21) if prior is None else prior
    checked = 0
    for each in candidates(AGES):
        row = compared[each.name]
        if each.form.reports == "flat":
            assert row.expected_loss is None and "not values" in row.note
            continue
        mechanism = each.build(AGES, epsilon, prior)
        expected, median, worst, within = brute(mechanism, weights, 4)
        assert row.expected_loss == pytest.approx(expected, rel=1e-9), each.name
        assert row.median_loss == pytest.approx(median, rel=1e-9), each.name
        assert row.worst_loss == pytest.approx(worst, rel=1e-9), each.name
        assert row.share_within == pytest.approx(within, abs=1e-9), each.name
        checked += 1
    assert checked == 19


@pytest.mark.parametrize("domain", [CITIES, FLAT], ids=["places", "items"])
def test_the_losses_on_places_and_items_are_those_of_the_matrix(domain):
    compared = bp.compare(domain, 1, tolerance=0.5)
    for each in candidates(domain):
        if each.form.reports != "flat":
            mechanism = each.build(domain, "1", None)
            size = len(domain)
            expected, median, worst, within = brute(mechanism, np.full(size, 1 / size), 0.5)
            row = compared[each.name]
            assert (row.expected_loss, row.median_loss, row.worst_loss) == pytest.approx((expected, median, worst))
            assert row.share_within == pytest.approx(within)


@pytest.mark.parametrize("prior", [None, PRIOR], ids=["uniform", "prior"])
def test_the_errors_of_statistics_are_those_of_the_estimators_that_answer(prior):
    compared = bp.compare(AGES, 2, prior=prior, n=2500)
    weights = np.full(21, 1 / 21) if prior is None else prior
    for name in ("GRR", "BRR, padded", "Square Wave", "Piecewise"):
        row = compared[name]
        mechanism = next(each for each in candidates(AGES) if each.name == name).build(AGES, "2", prior)
        found = (row.mean_error, row.histogram_error, row.distribution_error)
        assert found == pytest.approx(errors(mechanism, weights, 2500), rel=1e-6), name
        assert row.identifiable is True
    flat = compared["OUE"]
    p, q = (float(each) for each in bp.OUE(AGES, 2).support)
    variances = (q * (1 - q) + weights * (p * (1 - p) - q * (1 - q))) / (p - q) ** 2 + weights * (1 - weights)
    assert flat.histogram_error == pytest.approx(math.sqrt(variances.mean() / 2500))
    # Fewer distinct rows than values: no unbiased shares.
    assert np.linalg.matrix_rank(bp.BRR(AGES, 2).matrix()) < 21
    assert compared["BRR, safe m"].identifiable is False and compared["BRR, safe m"].mean_error is None
    assert compared["Anchored"].identifiable is False


def test_without_people_there_are_no_errors_of_statistics_but_identifiability():
    row = bp.compare(AGES, 1)["BRR, padded"]
    assert row.identifiable is True
    assert (row.mean_error, row.histogram_error, row.distribution_error) == (None, None, None)


def test_the_epsilon_spent_is_what_verify_certifies():
    for domain in (AGES, CITIES):
        compared = bp.compare(domain, 1)
        for each in candidates(domain):
            certificate = bp.verify(each.build(domain, "1", None))
            row = compared[each.name]
            assert row.holds == certificate.holds
            assert row.epsilon_spent >= float(certificate.epsilon_upper) or row.epsilon_spent == pytest.approx(
                float(certificate.epsilon_upper), rel=1e-15
            )
            assert row.epsilon_spent == pytest.approx(float(certificate.epsilon_upper), rel=1e-12)


def test_what_does_not_keep_its_epsilon_is_marked():
    compared = bp.compare(AGES, 1, n=100, also={"mine": Liar(AGES, 1)})
    assert compared["mine"].holds is False and "DOES NOT KEEP" in compared["mine"].note
    assert "mine (!)" in str(compared)
    assert all(advice.name != "mine" for advice in compared.advice)


def test_a_mechanism_that_refuses_is_there_with_its_reason():
    compared = bp.compare(bp.Interval(0, 1, points=30), "1e-14", n=9)
    row = compared["BRR, safe m"]
    assert (row.expected_loss, row.epsilon_spent, row.holds) == (None, None, None)
    assert row.note.startswith("refused: ") and "too small" in row.note
    assert "- BRR, safe m" in str(compared) or "; BRR, safe m" in str(compared)
    # What is preferred may be among them, and then the constant answer is better than what is left.
    assert "Anchored, which may have a smaller one, was refused: " in compared.recommendation
    assert "which asks nobody, is better if all values are equally likely" in compared.recommendation


def test_the_reference_lines_are_the_constant_answer_and_the_limit():
    compared = bp.compare(AGES, [1, 2])
    for epsilon in (1, 2):
        constant = compared["always 28", epsilon]
        assert (constant.kind, constant.epsilon_spent) == ("reference", 0)
        assert constant.expected_loss == bp.loss(bp.Constant(AGES)).mean
        limit = compared["limit for reported values", epsilon]
        assert limit.expected_loss == bp.Anchored(AGES, epsilon).lower_bound
        assert limit.expected_loss <= compared["Anchored", epsilon].expected_loss * (1 + 1e-9)
    exact = bp.compare(bp.Integers(1, 12), 1, exact=True)
    assert exact["Optimal"].expected_loss == exact["limit for reported values"].expected_loss
    assert exact["Optimal"].expected_loss == pytest.approx(exact["Anchored"].expected_loss, rel=1e-6)
    assert exact["limit for reported values"].note == "linear programme"


def test_a_sweep_over_many_epsilons_holds_a_row_for_each():
    epsilons = [0.25, 1, 2, 5]
    domain = bp.Interval(0, 1, points=12)
    compared = bp.compare(domain, epsilons, n=10_000, tolerance=0.1)
    complete = [row for row in compared.rows if row.expected_loss is not None and row.median_loss is not None]
    assert len({row.mechanism for row in complete if row.kind == "mechanism"}) >= 12
    assert len(compared.epsilons) == 4


@pytest.mark.parametrize("size", [20_000, pytest.param(10**6, marks=pytest.mark.slow)])
def test_of_very_many_values_what_would_take_long_is_left_out_and_said(size, monkeypatch):
    monkeypatch.setattr(building, "_MOST_ANCHORS_ON_A_LINE", size - 1)
    compared = bp.compare(bp.Integers(1, size), 1, n=1000)
    padded = compared["BRR, padded"]
    assert None not in (padded.expected_loss, padded.median_loss, padded.worst_loss, padded.mean_error)
    for name in ("Anchored", "Exponential, tight", "Hybrid"):
        assert compared[name].note.startswith("left out: ")
    assert "losses left out" in compared["Geometric, clamped"].note
    assert "statistics left out" in compared["Duchi"].note


def test_several_epsilons_come_once_and_in_order_and_rows_are_found_by_name():
    compared = bp.compare(AGES, (2, "0.5", 2.0))
    assert compared.epsilons == ["0.5", "2"]
    assert compared["GRR", "2"] == compared["GRR", 2] == compared["GRR", 2.0]
    with pytest.raises(InputError, match=r"There are 2 ε; name one of them too, for example compared\['GRR', 0.5\]"):
        _ = compared["GRR"]
    with pytest.raises(InputError, match="Expected one of 'GRR', .* and one of ε = 0.5, 2, got 'Nothing'"):
        _ = compared["Nothing"]
    with pytest.raises(InputError, match="Expected one of 'GRR'"):
        _ = compared["GRR", "x"]


def test_csv_dict_and_frame_hold_the_same_rows():
    compared = bp.compare(AGES, [1, 2], n=100, tolerance=3)
    read = list(csv.DictReader(io.StringIO(compared.to_csv())))
    assert tuple(read[0]) == COLUMNS
    for line, row in zip(read, compared.rows, strict=True):
        for name, value in row.to_dict().items():
            assert line[name] == ("" if value is None else str(value))
            if isinstance(value, float):
                assert float(line[name]) == value
    plain = compared.to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    frame = compared.to_frame()
    assert list(frame.columns) == list(COLUMNS)
    assert len(frame) == len(compared.rows)
    assert frame["expected_loss"][0] == compared.rows[0].expected_loss


def test_to_frame_says_what_is_missing(monkeypatch):
    compared = bp.compare(AGES, 1)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match="needs pandas, which is not installed; run: pip install pandas"):
        compared.to_frame()


def test_the_table_shows_every_figure_at_one_epsilon_and_one_measure_a_table_at_several():
    single = str(bp.compare(AGES, 1, n=100, tolerance=3))
    header = single.splitlines()[0]
    for word in ("ε = 1", "ε spent", "expected", "median", "worst", "within 3", "mean ±", "share ±", "cumulative ±"):
        assert word in header
    several = bp.compare(AGES, [1, 2], n=100)
    tables = str(several).splitlines()
    assert "ε=1" in tables[0] and "ε=2" in tables[0]
    assert "for 100 people" in tables
    assert repr(several) == "<Comparison of 26 lines on Integers(18, 38), ε = 1 … 2>"
    assert repr(bp.compare(AGES, 1)).endswith("ε = 1>")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 0}, "Expected n as a whole number of at least 1, got 0"),
        ({"n": 1.5}, "Expected n as"),
        ({"n": True}, "Expected n as"),
        ({"tolerance": -1}, "Expected tolerance ≥ 0, got -1"),
        ({"purpose": "fun"}, "Expected purpose as one of 'release'"),
        ({"exact": "yes"}, "Expected exact as True or False"),
        ({"n": 0, "purpose": 3}, "2 problems"),
    ],
)
def test_what_cannot_be_used_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        bp.compare(AGES, 1, **options)


def test_wrong_domains_epsilons_and_priors_are_refused():
    with pytest.raises(InputError, match="Expected domain"):
        bp.compare([1, 2], 1)
    for wrong in (0, "x", [1, -1], [], np.zeros((2, 2))):
        with pytest.raises(EpsilonError):
            bp.compare(AGES, wrong)
    with pytest.raises(PriorError):
        bp.compare(AGES, 1, prior=[1.0])
    alike = bp.Items(None, similarity=np.eye(3))
    with pytest.raises(InputError, match="not a distance"):
        bp.compare(alike, 1, tolerance=1)
    assert bp.compare(alike, 1)["GRR"].expected_loss < 0


def test_errors_that_are_only_bounds_are_said_to_be():
    """At ε = 4 the mean of OLH is known five times better than the bound on its error says."""
    compared = bp.compare(bp.Integers(18, 50), [1, 4], n=10_000)
    for row in compared.rows:
        assert ("upper bounds" in row.note) == (row.mechanism == "OLH" and row.epsilon == "4")
