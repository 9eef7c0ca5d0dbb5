"""The expected inference error against every answer for every report, a linear programme, and examples by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from bipartite import (
    BRR,
    GRR,
    OUE,
    Anchored,
    Constant,
    Custom,
    Cyclic,
    Duchi,
    Exponential,
    Integers,
    Interval,
    Items,
    Optimal,
    Points,
    Record,
)
from bipartite.errors import InputError, PriorError
from bipartite.quality import loss as loss_of
from reproduction.quality import inference_error
from tests.rivals import DOMAINS, LOSS, MECHANISMS, PLACES
from tests.strategies import brr, integer_domains

NEAR = {"abs": 1e-9, "rel": 1e-9}


def between_values(domain):
    """The domain's own loss of every answer (column) for every value (row), one pair at a time."""
    if hasattr(domain, "losses"):
        return np.array([[domain.losses(x)[answer] for answer in range(len(domain))] for x in range(len(domain))])
    return np.array([[round(abs(x - answer) / domain.step) * domain.step for answer in domain] for x in domain])


def by_trying(matrix, prior, costs):
    """Every answer for every report, one number at a time."""
    values, reports = matrix.shape
    return math.fsum(
        min(
            math.fsum(float(prior[x] * matrix[x, y] * costs[x, answer]) for x in range(values))
            for answer in range(values)
        )
        for y in range(reports)
    )


def priors(size):
    """None, a random one, one with values that never occur, and certainty."""
    drawn = np.random.default_rng(size).dirichlet(np.ones(size))
    some = np.where(np.arange(size) % 2 == 1, 1.0, 0.0)
    return [None, drawn, some / some.sum(), np.eye(size)[1]]


def as_weights(prior, size):
    return np.full(size, 1 / size) if prior is None else prior


@pytest.mark.grid(25)
@pytest.mark.parametrize("name", MECHANISMS)
def test_it_is_the_best_answer_for_every_report(name):
    mechanism = MECHANISMS[name]
    matrix, own = mechanism.matrix(), between_values(mechanism.domain)
    size = len(own)
    given_losses = np.random.default_rng(3).uniform(-2, 5, own.shape)
    cases = [
        (None, own),
        ("squared", own**2),
        ("zero-one", 1 - np.eye(size)),
        (np.cbrt, np.cbrt(own)),
        (given_losses, given_losses),
        (given_losses.tolist(), given_losses),
    ]
    for loss, costs in cases:
        for prior in priors(size):
            expected = by_trying(matrix, as_weights(prior, size), costs)
            assert inference_error(mechanism, prior, loss=loss) == pytest.approx(expected, **NEAR)


@given(
    brr(st.one_of(integer_domains(st.integers(2, 20)), st.just(Interval(0, 3, points=13)))),
    st.lists(st.integers(0, 5), min_size=20, max_size=20),
)
def test_windows_need_no_table(mechanism, weights):
    size = len(mechanism.domain)
    own = between_values(mechanism.domain)
    prior = np.array(weights[:size], dtype=float)
    given_priors = [None] if not prior.any() else [None, prior / prior.sum()]
    for each in given_priors:
        expected = by_trying(mechanism.matrix(), as_weights(each, size), own)
        assert inference_error(mechanism, each) == pytest.approx(expected, **NEAR)


@pytest.mark.parametrize(
    "mechanism",
    [
        BRR(Cyclic(12), 1),
        GRR(Cyclic(7), 2),
        Duchi(Interval(-1, 1, points=9), 1),
        Custom(Integers(0, 3), ["low", "high"], [[0.7, 0.3], [0.6, 0.4], [0.4, 0.6], [0.3, 0.7]], 1),
    ],
    ids=["window on a circle", "grr on a circle", "other numbers", "labels"],
)
def test_reports_need_not_be_values(mechanism):
    size = len(mechanism.domain)
    for prior in priors(size):
        expected = by_trying(mechanism.matrix(), as_weights(prior, size), between_values(mechanism.domain))
        assert inference_error(mechanism, prior) == pytest.approx(expected, **NEAR)


def by_programme(mechanism, prior, costs):
    """The least expected loss of any random answer to the reports: a linear programme over answers given reports."""
    matrix = mechanism.matrix()
    values, reports = matrix.shape
    objective = (matrix * prior[:, None]).T @ costs
    sums = np.kron(np.eye(reports), np.ones(values))
    found = linprog(objective.ravel(), A_eq=sums, b_eq=np.ones(reports), bounds=(0, 1), method="highs")
    assert found.status == 0
    return found.fun


@pytest.mark.parametrize("name", ["brr on points", "lsrr on points", "anchored on items", "geometric on integers"])
def test_no_random_answer_is_better(name):
    mechanism = MECHANISMS[name]
    size = len(mechanism.domain)
    for prior in priors(size):
        expected = by_programme(mechanism, as_weights(prior, size), between_values(mechanism.domain))
        assert inference_error(mechanism, prior) == pytest.approx(expected, abs=1e-7, rel=1e-7)


def test_two_values_by_hand():
    """Odds of 3 to 1: the truth is told with probability 3/4."""
    told = GRR(Integers(0, 1), math.log(3))
    assert inference_error(told) == pytest.approx(1 / 4)
    assert inference_error(told, [0.6, 0.4]) == pytest.approx(0.6 / 4 + 0.4 / 4)
    # Against a prior of 9 to 1 a report of odds 3 to 1 changes no answer.
    assert inference_error(told, [0.9, 0.1]) == pytest.approx(0.1)
    assert inference_error(told, [1, 0]) == 0


def test_three_values_by_hand():
    """Odds of 2 to 1 to 1 over 0, 1 and 5: the answer 1 costs 1 and 4, the answer 0 costs 1 and 5."""
    apart = Items(["a", "b", "c"], loss=[[0, 1, 5], [1, 0, 4], [5, 4, 0]])
    told = GRR(apart, math.log(2))
    # Reported a: weights 2, 1, 1 → answer a costs 1 + 5, b costs 2 + 4, c costs 10 + 4. Reported b: answer b, 1 + 4.
    # Reported c: weights 1, 1, 2 → answer b costs 1 + 8, c costs 5 + 4.
    assert inference_error(told) == pytest.approx((6 + 5 + 9) / 4 / 3)


@pytest.mark.parametrize("epsilon", ["0.2", "1", "3"])
def test_an_optimal_release_leaves_nothing_to_infer(epsilon):
    """No post-processing improves on the best ε-LDP release for a prior: its reports are the best answers."""
    line, places, items = Integers(1, 25), Points(PLACES, metric="haversine"), Items(range(4), loss=LOSS)
    for domain in (line, places, items):
        for prior in (None, np.random.default_rng(7).dirichlet(np.ones(len(domain)))):
            best = Optimal(domain, epsilon, prior=prior)
            assert inference_error(best, prior) == pytest.approx(loss_of(best, prior).mean, rel=1e-6)
            others = [GRR(domain, epsilon), BRR(domain, epsilon), Exponential(domain, epsilon)]
            # Its answers are an ε-LDP release themselves, so they cannot be better.
            assert all(inference_error(each, prior) >= loss_of(best, prior).mean * (1 - 1e-6) for each in others)
    anchored = Anchored(line, epsilon)
    assert inference_error(anchored) == pytest.approx(loss_of(anchored).mean, rel=1e-9)


@pytest.mark.parametrize("name", [name for name in MECHANISMS if " on numbers" not in name])
def test_it_lies_between_what_ldp_promises_and_the_two_simple_answers(name):
    """At least e^−ε of the best guess without a report; at most that guess, and at most the report itself."""
    mechanism = MECHANISMS[name]
    own = between_values(mechanism.domain)
    for prior in priors(len(own)):
        found = inference_error(mechanism, prior)
        unaided = float((as_weights(prior, len(own)) @ own).min())
        assert math.exp(-1) * unaided * (1 - 1e-9) - 1e-12 <= found <= unaided * (1 + 1e-9) + 1e-12
        assert found <= loss_of(mechanism, prior).mean * (1 + 1e-9) + 1e-12


def test_a_constant_tells_nothing():
    for domain in DOMAINS.values():
        assert inference_error(Constant(domain)) == pytest.approx(loss_of(Constant(domain)).mean, **NEAR)


def test_more_privacy_never_means_less_error():
    for domain in (Integers(1, 40), Points(PLACES, metric="haversine")):
        errors = [inference_error(GRR(domain, epsilon)) for epsilon in ("0.1", "0.5", "1", "2", "4")]
        assert errors == sorted(errors, reverse=True)


def test_blocks_change_nothing(monkeypatch):
    mechanisms = [MECHANISMS[f"{kind} on integers"] for kind in ("brr", "square wave", "geometric", "anchored")]
    mechanisms += [MECHANISMS["brr on points"], MECHANISMS["exponential on items"]]
    drawn = [np.random.default_rng(2).dirichlet(np.ones(len(each.domain))) for each in mechanisms]
    whole = [inference_error(each, prior) for each, prior in zip(mechanisms, drawn, strict=True)]
    monkeypatch.setattr("bipartite.answers.quality.losses._BLOCK", 30)
    monkeypatch.setattr("reproduction.inference._REPORTS_A_BLOCK", 5)
    for each, prior, found in zip(mechanisms, drawn, whole, strict=True):
        assert inference_error(each, prior) == pytest.approx(found, **NEAR)


def test_a_million_values_need_no_table():
    size = 10**6
    domain = Integers(1, size)
    # Under GRR one value of a million has odds of e to 1, which moves no median by more than two values.
    assert inference_error(GRR(domain, 1)) == pytest.approx(loss_of(Constant(domain)).mean, rel=1e-5)
    uniform = np.full(size, 1 / size)
    assert inference_error(BRR(domain, 1), uniform) == pytest.approx(inference_error(BRR(domain, 1)), rel=1e-9)
    # As the line gets finer the error approaches a share of its length.
    coarse = inference_error(BRR(Integers(1, 2000), 1)) / 2000
    assert inference_error(BRR(domain, 1)) / size == pytest.approx(coarse, rel=2e-3)


@pytest.mark.parametrize(("values", "pairs"), [(11, 2**26), (2**16, 143)])
def test_a_table_that_is_too_large_is_refused(monkeypatch, values, pairs):
    monkeypatch.setattr("reproduction.inference._MOST_VALUES", values)
    monkeypatch.setattr("reproduction.inference._MOST_PAIRS", pairs)
    message = (
        f"^Expected at most {values:,} values and 2\\^26 pairs of a report and an answer, got 12 values and 12 rep"
    )
    with pytest.raises(
        InputError, match=message + "orts; use fewer values, or a line with loss=None, which needs no t"
    ):
        inference_error(BRR(Integers(1, 12), 1), loss="squared")
    assert inference_error(BRR(Integers(1, 12), 1)) > 0


@pytest.mark.parametrize("name", ["grr on integers", "geometric on integers", "brr on points"])
def test_bad_priors_and_losses_are_refused(name):
    mechanism = MECHANISMS[name]
    with pytest.raises(PriorError, match="got a sum of 2; divide it by its sum"):
        inference_error(mechanism, np.full(len(mechanism.domain), 2 / len(mechanism.domain)))
    with pytest.raises(PriorError, match="got str; pass a list or an array"):
        inference_error(mechanism, "uniform")
    for loss in ("cubed", 5, [[1]], lambda own: own[..., :1]):
        with pytest.raises(InputError, match="Expected (loss as None, 'squared'|a loss function that maps an array)"):
            inference_error(mechanism, loss=loss)


@pytest.mark.parametrize("wrong", [3, "x", OUE(Integers(0, 9), 1), Record({"a": GRR(Integers(0, 9), 1)})])
def test_what_reports_no_values_is_refused_by_name(wrong):
    with pytest.raises(InputError, match=f"Expected a mechanism whose reports are values, got {type(wrong).__name__}"):
        inference_error(wrong)
