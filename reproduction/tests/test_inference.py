"""The expected inference error against every answer for every report, an example by hand, and what ε promises."""

import math

import numpy as np
import pytest

from bipartite import BRR, GRR, OUE, Integers, Items, Optimal, Points, Record
from bipartite.errors import InputError
from bipartite.quality import loss as loss_of
from reproduction.quality import inference_error
from tests.rivals import LOSS, MECHANISMS, PLACES

NEAR = {"abs": 1e-9, "rel": 1e-9}


def between_values(domain):
    """The domain's own loss of every answer (column) for every value (row), one pair at a time."""
    if hasattr(domain, "losses"):
        return np.array([[domain.losses(x)[answer] for answer in range(len(domain))] for x in range(len(domain))])
    return np.array([[round(abs(x - answer) / domain.step) * domain.step for answer in domain] for x in domain])


def priors(size):
    """Uniform, a random one, one with values that never occur, and certainty."""
    some = np.where(np.arange(size) % 2 == 1, 1.0, 0.0)
    drawn = np.random.default_rng(size).dirichlet(np.ones(size))
    return [np.full(size, 1 / size), drawn, some / some.sum(), np.eye(size)[1]]


@pytest.mark.grid(25)
@pytest.mark.parametrize("name", MECHANISMS)
def test_it_is_the_best_answer_for_every_report(name):
    mechanism = MECHANISMS[name]
    matrix, own = mechanism.matrix(), between_values(mechanism.domain)
    values, reports = matrix.shape
    given = np.random.default_rng(3).uniform(-2, 5, own.shape)
    for loss, costs in [(None, own), ("squared", own**2), ("zero-one", 1 - np.eye(values)), (given, given)]:
        for prior in priors(values):
            joint = matrix * prior[:, None]
            best = (min(math.fsum(joint[:, y] * costs[:, answer]) for answer in range(values)) for y in range(reports))
            assert inference_error(mechanism, prior, loss=loss) == pytest.approx(math.fsum(best), **NEAR)
    assert inference_error(mechanism) == pytest.approx(inference_error(mechanism, priors(values)[0]), **NEAR)


def test_three_values_by_hand():
    """Odds of 2 to 1 to 1 over 0, 1 and 5: the answer 1 costs 1 and 4, the answer 0 costs 1 and 5."""
    apart = Items(["a", "b", "c"], loss=[[0, 1, 5], [1, 0, 4], [5, 4, 0]])
    # Reported a: weights 2, 1, 1 → answer a costs 1 + 5, b costs 2 + 4, c costs 10 + 4. Reported b: answer b, 1 + 4.
    # Reported c: weights 1, 1, 2 → answer b costs 1 + 8, c costs 5 + 4.
    assert inference_error(GRR(apart, math.log(2))) == pytest.approx((6 + 5 + 9) / 4 / 3)


@pytest.mark.parametrize("epsilon", ["0.2", "1", "3"])
def test_an_optimal_release_leaves_nothing_to_infer(epsilon):
    """No post-processing improves on the best ε-LDP release for a prior: its reports are the best answers."""
    for domain in (Integers(1, 25), Points(PLACES, metric="haversine"), Items(range(4), loss=LOSS)):
        prior = np.random.default_rng(7).dirichlet(np.ones(len(domain)))
        best = loss_of(Optimal(domain, epsilon, prior=prior), prior).mean
        assert inference_error(Optimal(domain, epsilon, prior=prior), prior) == pytest.approx(best, rel=1e-6)
        # Answers to other reports are an ε-LDP release themselves, so they cannot be better.
        assert all(inference_error(make(domain, epsilon), prior) >= best * (1 - 1e-6) for make in (GRR, BRR))


@pytest.mark.parametrize("name", [name for name in MECHANISMS if " on numbers" not in name])
def test_it_lies_between_what_ldp_promises_and_the_two_simple_answers(name):
    """At least e^−ε of the best guess without a report; at most that guess, and at most the report itself."""
    mechanism = MECHANISMS[name]
    own = between_values(mechanism.domain)
    for prior in priors(len(own)):
        found, unaided = inference_error(mechanism, prior), float((prior @ own).min())
        assert math.exp(-1) * unaided * (1 - 1e-9) - 1e-12 <= found <= unaided * (1 + 1e-9) + 1e-12
        assert found <= loss_of(mechanism, prior).mean * (1 + 1e-9) + 1e-12


def test_what_is_too_large_or_reports_no_values_is_refused():
    with pytest.raises(InputError, match=r"Expected at most 65,536 values .*, got 2,147,483,648 values .*; use fewer"):
        inference_error(BRR(Integers(1, 2**31), 1))
    for wrong in (3, OUE(Integers(0, 9), 1), Record({"a": GRR(Integers(0, 9), 1)})):
        with pytest.raises(InputError, match=f"whose reports are values, got {type(wrong).__name__}"):
            inference_error(wrong)
