"""Errors of answers about two attributes, by enumerating every report, and the advice that follows from them."""

import math
from decimal import Decimal

import numpy as np
import pytest

import bipartite as bp
from bipartite.answers.advise import splitting
from bipartite.answers.advise.splitting import error_of_pair, error_of_two
from bipartite.errors import InputError
from tests.answers.estimation.test_categories import law_of

AGES, CARS = bp.Integers(1, 4), bp.Integers(0, 2)
PAIRS = bp.Product(AGES, CARS)
SHARES = np.random.default_rng(1).random((4, 3)) ** 2
SHARES /= SHARES.sum()
WEIGHTS = {
    "cells": [np.outer(a, b) for a in np.eye(4) for b in np.eye(3)],
    "quadrants": [np.outer(a, b) for a in ([1, 1, 0, 0], [0, 0, 1, 1]) for b in ([1, 0, 0], [0, 1, 1])],
    "correlation": [np.outer([-1.5, -0.5, 0.5, 1.5], [-1, 0, 1]) / math.sqrt(1.25 * 2 / 3)],
}


def chances(mech):
    """(the reports as an estimate takes them, Pr[report | x])."""
    if not mech.flat:
        return np.arange(len(mech.outputs)), mech.matrix()
    return law_of(mech)


def root_mean_square(scores, law, weights):
    """√(mean over answers of the variance of a score), from the chance of every report."""
    return math.sqrt(np.mean([law @ u**2 - (law @ u) ** 2 for u in map(scores, weights)]))


@pytest.mark.parametrize("of", WEIGHTS)
@pytest.mark.parametrize("first", [bp.OUE(AGES, 1), bp.GRR(AGES, 1), bp.BRR(AGES, 1, edges="padded", m="mean")])
def test_errors_of_two_reports_are_those_of_all_pairs_of_them(of, first):
    pair = first, bp.SubsetSelection(CARS, 2)
    (y, p1), (z, p2) = map(chances, pair)

    def score(w):
        """The product of the two public scores; the weights of a pair are a product, too."""
        left, right = w[:, w.any(axis=0)][:, 0], w[w.any(axis=1)][0]
        left = left * (w.ravel() @ np.outer(left, right).ravel()) / np.square(np.outer(left, right)).sum()
        return np.outer(bp.scores(pair[0], reports_of(pair[0], y), of=left), bp.scores(pair[1], z, of=right)).ravel()

    for shares in (np.full((4, 3), 1 / 12), SHARES):
        law = (p1.T @ shares @ p2).ravel()
        expected = root_mean_square(score, law, WEIGHTS[of])
        assert error_of_two(*pair, of, 1, shares) == pytest.approx(expected, rel=1e-9)
    assert error_of_two(*pair, of, 100) == pytest.approx(error_of_two(*pair, of, 1) / 10)


@pytest.mark.grid(4)
@pytest.mark.parametrize("of", WEIGHTS)
@pytest.mark.parametrize("mech", [bp.SubsetSelection(PAIRS, 1), bp.GRR(PAIRS, 1), bp.HadamardResponse(PAIRS, 1)])
def test_errors_of_one_report_are_those_of_all_of_them(of, mech):
    reports, chance = chances(mech)
    near = chance >= chance.max(axis=1, keepdims=True) * (1 - 1e-9)
    p, q = (chance[0] * near[0]).sum(), (chance[1] * near[0]).sum()

    def score(w):
        # Single cells are scored one by one, sums so that all shares add up to one.
        flat = w.ravel()
        return flat @ (near - q) / (p - q) if of == "cells" else bp.scores(mech, reports_of(mech, reports), of=flat)

    for shares in (np.full((4, 3), 1 / 12), SHARES):
        expected = root_mean_square(score, shares.ravel() @ chance, WEIGHTS[of])
        assert error_of_pair(mech, PAIRS.parts, of, 1, shares) == pytest.approx(expected, rel=1e-9)
    assert error_of_pair(mech, PAIRS.parts, of, 4) == pytest.approx(
        error_of_pair(mech, PAIRS.parts, of, 1, np.full((4, 3), 1 / 12)) / 2
    )


def reports_of(mech, reports):
    """The reports as people give them."""
    return reports if mech.flat else mech.outputs.to_numpy()


@pytest.mark.grid(3)
@pytest.mark.parametrize("at", [0, 1])
@pytest.mark.parametrize("of", ["mean", "histogram", "cdf"])
def test_errors_of_a_part_are_those_of_all_reports(at, of):
    mech, size = bp.SubsetSelection(PAIRS, 1), len(PAIRS.parts[at])
    reports, chance = law_of(mech)
    weights = {"mean": [np.arange(size)], "histogram": np.eye(size), "cdf": np.tri(size)}[of]

    def score(w):
        spread = np.repeat(w, 3) if at == 0 else np.tile(w, 4)
        return bp.scores(mech, reports, of=spread.astype(float))

    expected = root_mean_square(score, chance.mean(axis=0), weights)
    assert error_of_pair(mech, PAIRS.parts, of, 1, at=at) == pytest.approx(expected, rel=1e-9)


TWO = {"age": bp.Integers(1, 10), "visits": bp.Integers(0, 9)}


@pytest.mark.parametrize("of", ["cells", "quadrants", "correlation"])
@pytest.mark.parametrize("epsilon", ["0.5", 1, 4])
def test_pairs_are_split_or_one_value_and_every_plan_spends_the_budget(of, epsilon):
    found = bp.split_or_sample(TWO, epsilon, 10_000, of=of)
    assert [plan.way for plan in found.plans] == ["split", "product"]
    assert found.sampled is None and found.plans == (found.split, found.product)
    for plan in found.plans:
        assert plan.record.epsilon_decimal <= Decimal(str(epsilon))
        assert plan.errors == {"age, visits": plan.score}
    assert found.product.record.mechanisms["age, visits"].domain == bp.Product(*TWO.values())
    assert found.best is found.product  # at ten by ten for every question
    assert "one attribute per person would say nothing about pairs" in found.reason
    assert str(found).startswith("Reporting age, visits as one value at ε = ")
    assert found.to_frame()["way"].tolist() == ["split", "product"]


def test_the_correlation_of_a_long_line_is_told_better_by_two_reports():
    long = {"age": bp.Integers(1, 40), "visits": bp.Integers(1, 5)}
    assert bp.split_or_sample(long, 2, 10_000, of="correlation").best.way == "split"
    assert bp.split_or_sample(long, 2, 10_000, of="cells").best.way == "product"
    found = bp.split_or_sample(long, 2, 10_000, of="mean")
    assert found.best.way == "sample" and found.product is not None
    assert " beats both at ε = 1 each and age, visits as one value at ε = 2: " in found.reason
    assert "split, " in str(found) and " as one value)" in str(found)


def test_the_forecast_is_what_people_then_see():
    # 200 estimates: their root mean square error is within 35 % of the forecast but for a chance below 1e-9.
    found = bp.split_or_sample(TWO, 4, 600, of="correlation")
    surveys, people, words = 200, 600, bp.insecure_seed(1)
    rng = np.random.default_rng(1)
    values = {name: rng.integers(domain.low, domain.high + 1, surveys * people) for name, domain in TWO.items()}
    split, mech = found.split.record, found.product.record.mechanisms["age, visits"]
    apart = {name: np.asarray(each) for name, each in split.privatize(values, rng=words).items()}
    together = mech.privatize(np.stack(list(values.values()), axis=1), rng=words)
    squares = {"split": [], "product": []}
    for at in range(0, surveys * people, people):
        told = {name: each[at : at + people] for name, each in apart.items()}
        squares["split"].append(
            bp.estimate(split, told).joint("age", "visits", method="inverse").ask("correlation").value ** 2
        )
        squares["product"].append(bp.estimate(mech, together[at : at + people]).joint().ask("correlation").value ** 2)
    for way, plan in (("split", found.split), ("product", found.product)):
        assert math.sqrt(np.mean(squares[way])) == pytest.approx(plan.score, rel=0.35)


def test_what_cannot_be_planned_is_refused_or_left_out(monkeypatch):
    with pytest.raises(InputError, match="Expected two attributes for of='cells', got 3; ask about two at a time"):
        bp.split_or_sample(TWO | {"car": bp.Integers(0, 1)}, 1, 100, of="cells")
    pets = {"pet": bp.Items(["cat", "dog"], loss=1 - np.eye(2)), "age": bp.Integers(1, 4)}
    assert bp.split_or_sample(pets, 1, 100, of="cells").best.way == "product"
    with pytest.raises(InputError, match="'pet' are not numbers, so they have no correlation; use of='cells'"):
        bp.split_or_sample(pets, 1, 100, of="correlation")
    monkeypatch.setattr(splitting, "MOST_PAIRS", 99)
    assert bp.split_or_sample(TWO, 1, 100).product is None
    rounded = {"a": bp.Interval(0, 1, points=5, rounding="random"), "b": bp.Integers(1, 3)}
    assert bp.split_or_sample(rounded, 1, 100).product is None
