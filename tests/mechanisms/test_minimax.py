"""Minimax as a mechanism: its promise in fractions, its law, what it costs, and what is made of its reports."""

import json
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

import bipartite as bp
from bipartite.errors import DesignError, InputError, SpecError
from bipartite.lottery import Epsilon
from bipartite.mechanisms.anchored import _tickets
from tests.mechanisms.contract import assert_keeps
from tests.mechanisms.design.test_anchors_sets import least_of_any_release

AGES = bp.Integers(18, 90)
SHOPS = bp.Points([[0, 0], [0, 1], [5, 5], [5, 6], [9, 0]])
ITEMS = bp.Items(["a", "b", "c", "d"], loss=[[0, 1, 5, 2], [1, 0, 4, 2], [5, 4, 0, 3], [2, 2, 2, 0]])
DOMAINS = [bp.Integers(1, 10), bp.Interval(0, 1, points=7), SHOPS, ITEMS]


def losses_of(domain):
    if isinstance(domain, (bp.Integers, bp.Interval)):
        return np.abs(np.subtract.outer(domain.to_numpy(), domain.to_numpy()))
    return domain.loss_matrix()


@pytest.mark.grid(8)
@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
@pytest.mark.parametrize("epsilon", ["0.05", "1", "3", "9"])
def test_it_keeps_epsilon_in_fractions_and_no_release_has_a_smaller_worst_case(domain, epsilon):
    mechanism = bp.Minimax(domain, epsilon)
    losses = losses_of(domain)
    assert_keeps(mechanism)
    assert bp.verify(mechanism).holds
    assert sum(chance for chance, _ in mechanism.sets) == 1
    optimum = least_of_any_release(losses, math.exp(float(epsilon)))
    assert bp.loss(mechanism).worst == pytest.approx(mechanism.achieved_loss, rel=1e-8)
    # The solver of this test is good to about 1e-7 of the largest loss.
    assert mechanism.achieved_loss == pytest.approx(optimum, rel=1e-6, abs=1e-7 * losses.max())
    assert mechanism.lower_bound <= optimum + 1e-7 * losses.max()


@pytest.mark.slow
def test_the_gap_tells_where_a_search_ends_early():
    """Its documentation promises no more: closer than 1e-6 for distances, and 0.15 % where losses are level."""
    line = bp.Integers(1, 60)
    assert max(bp.Minimax(line, each, loss=loss).gap for each in (0.01, 10) for loss in (None, "squared")) < 1e-6
    levelled = bp.Minimax(bp.Integers(1, 129), 3, loss=lambda apart: np.minimum(apart, 2))
    assert 1e-6 < levelled.gap < 0.0015


def test_it_is_what_anchored_gives_for_the_least_worst_case():
    mechanism = bp.Anchored(AGES, 1, prior="minimax")
    assert type(mechanism) is bp.Minimax and mechanism == bp.Minimax(AGES, 1)
    assert isinstance(mechanism, bp.Anchored) and mechanism.gap == pytest.approx(0, abs=1e-7)
    assert repr(mechanism) == f"Minimax(Integers(18, 90), epsilon=1, {len(mechanism.sets)} sets of anchors)"
    singles = ([18 + end, *middle, 90 - end] for end in range(36) for middle in ([], [54]))
    best = min(bp.loss(bp.Anchored(AGES, 1, anchors=each)).worst for each in singles)
    assert best == pytest.approx(23.98, abs=0.01) and bp.loss(mechanism).worst < best * 0.96
    assert bp.loss(mechanism).worst == pytest.approx(22.7635, abs=1e-4)
    assert set(mechanism.anchors) == {age for _, anchors in mechanism.sets for age in anchors}


def test_pickles_keep_what_is_known():
    mechanism = bp.Minimax(SHOPS, 1)
    twin = pickle.loads(pickle.dumps(mechanism))
    assert twin == mechanism and (twin.gap, twin.achieved_loss) == (mechanism.gap, mechanism.achieved_loss)
    told = []
    assert bp.Minimax(SHOPS, 1, progress=told.append) == mechanism and told == [1.0]


def test_squared_and_other_losses_are_those_that_are_minimised():
    domain = bp.Interval(-1, 1, points=9)
    for loss, matrix in (("squared", losses_of(domain) ** 2), (np.sqrt, np.sqrt(losses_of(domain)))):
        mechanism = bp.Minimax(domain, 2, loss=loss)
        assert bp.loss(mechanism, loss=loss).worst == pytest.approx(mechanism.achieved_loss, rel=1e-8)
        assert mechanism.achieved_loss == pytest.approx(least_of_any_release(matrix, math.exp(2)), rel=1e-6)
    squared = bp.Minimax(SHOPS, 2, loss="squared")
    optimum = least_of_any_release(SHOPS.loss_matrix() ** 2, math.exp(2))
    assert squared.achieved_loss == pytest.approx(optimum, rel=1e-6)


def test_shares_are_estimated_where_its_reports_tell_them():
    mechanism = bp.Minimax(bp.Integers(1, 10), 3)
    people = np.repeat([2, 7], [12_000, 8_000])
    found = bp.estimate(mechanism, mechanism.privatize(people, rng=bp.insecure_seed(4)))
    # Seeded; outside by chance once in 10^9.
    low, high = found.ask().ci(1 - 1e-9)
    assert low < people.mean() < high and high - low < 1
    long = bp.Minimax(bp.Integers(1, 2000), 1)
    found = bp.estimate(long, long.privatize(np.full(500, 700), rng=bp.insecure_seed(4)))
    assert found.shares.sum() == pytest.approx(1)


def test_a_comparison_that_solves_programmes_has_it():
    compared = bp.compare(bp.Integers(1, 8), 2, exact=True)
    row = compared["Minimax"]
    assert row.holds and row.gap == pytest.approx(0, abs=1e-7)
    others = [each.worst_loss for each in compared.rows if each.worst_loss is not None and each.kind == "mechanism"]
    assert row.worst_loss == min(others)
    assert "Minimax" not in {each.mechanism for each in bp.compare(bp.Integers(1, 8), 2).rows}


def test_plans_name_it_in_two_ways(capsys):
    column = {"domain": {"integers": [1, 10]}, "epsilon": 3}
    named = {"mechanism": "minimax"}, {"mechanism": "anchored", "prior": "minimax"}
    made = [bp.Plan.from_dict({"columns": {"stars": column | each}}).mechanisms()["stars"] for each in named]
    assert made == [bp.Minimax(bp.Integers(1, 10), 3)] * 2
    from bipartite.cli import main

    assert main(["design", "1..10", "--mechanism", "minimax", "--epsilon", "3", "--json"]) == 0
    described = json.loads(capsys.readouterr().out)
    assert described["worst_loss"] == pytest.approx(1.11612, abs=1e-5) and described["gap"] < 1e-7


@pytest.mark.parametrize(
    ("build", "kind", "message"),
    [
        (lambda: bp.Minimax(AGES, 1, prior=[1 / 73] * 73), InputError, "the worst case does not depend on one; use bp"),
        (lambda: bp.Minimax(AGES, 1, prior=None), InputError, "Expected prior='minimax', or no prior"),
        (lambda: bp.Anchored(AGES, 1, prior="minimax", outputs="means"), InputError, "means depend on a prior"),
        (lambda: bp.Anchored(AGES, 1, prior="minimax", anchors=[30]), InputError, "Given anchors need no prior"),
        (lambda: bp.Minimax(AGES, 1, loss="zero-one"), InputError, "for 'zero-one' use bp.GRR"),
        (lambda: bp.Minimax(SHOPS, 1, loss=lambda own: -own), InputError, "never falls as the domain's loss grows"),
        (lambda: bp.Minimax(bp.Integers(0, 2**25), 1), DesignError, "Expected at most 2\\^24 values"),
        (lambda: bp.Minimax(bp.Integers(0, 9), 40), DesignError, "ε=40 is too large for N=10 anchors"),
        (lambda: _tickets(Epsilon.of("1e-8"), np.array([1e-6]), [2]), DesignError, "is too small for N=2 anchors"),
        (
            lambda: type("Mine", (bp.Anchored,), {})(AGES, 1, prior="minimax"),
            InputError,
            "got 'minimax'; use bp.Minimax for the worst case",
        ),
    ],
)
def test_what_does_not_fit_is_refused(build, kind, message):
    with pytest.raises(kind, match=message):
        build()


def forged(domain, sets):
    """A spec that no design gave, with two tickets for the nearest anchor and one for each other."""
    written = [{"anchors": anchors, "tickets": {"near": "2", "far": "1"}} for anchors in sets]
    return bp.Minimax(bp.Integers(1, 3), 1).to_spec() | {"domain": domain, "sets": written}


def test_a_spec_on_a_circle_too_large_to_design_on_is_refused_before_any_work(monkeypatch):
    spec = forged({"cyclic": {"size": 2**24, "start": 0}}, [[0, 2**23]] * 8)
    monkeypatch.setattr("bipartite.domains.Cyclic.nearest_of", None)
    with pytest.raises(SpecError, match="Expected at most 4096 values around a circle, got 16777216"):
        bp.from_spec(spec)


def test_a_spec_with_many_anchors_is_verified_without_a_row_for_every_value(monkeypatch):
    """Rows of all values have values × reports × sets entries: minutes for a forged spec of a megabyte."""
    monkeypatch.setattr("bipartite.lottery.mixture.Mixture.rows_of", None)
    for domain in ({"integers": [0, 199]}, {"cyclic": {"size": 200, "start": 0}}):
        mechanism = bp.from_spec(forged(domain, [list(range(200)), [0, 100], [3]]))
        assert bp.verify(mechanism).ratio == Fraction(4, 2)
