"""Splitting a budget or sampling attributes: exact parts, forecasts that hold, and a choice that follows from them."""

import math
from decimal import Decimal

import numpy as np
import pytest

import bipartite as bp
from bipartite.errors import InputError

THREE = {"age": bp.Integers(18, 28), "visits": bp.Integers(0, 6), "share": bp.Interval(0, 1, points=5)}


@pytest.mark.grid(2)
@pytest.mark.parametrize("epsilon", [1, "0.1", 8])
@pytest.mark.parametrize("of", ["mean", "histogram", "cdf"])
def test_every_plan_spends_at_most_the_budget_and_forecasts_what_its_mechanisms_do(epsilon, of):
    found = bp.split_or_sample(THREE, epsilon, 9_000, of=of)
    assert [plan.attributes for plan in found.plans] == [1, 2, 3]
    for plan in found.plans:
        assert plan.record.epsilon_decimal <= Decimal(str(epsilon))
        assert plan.n_each == 3000 * plan.attributes
        for name, mechanism in plan.record.mechanisms.items():
            purpose = {"mean": "mean", "histogram": "categories", "cdf": "distribution"}[of]
            alone = bp.recommend(THREE[name], plan.epsilon_each, purpose, n=plan.n_each)
            assert alone.mechanism == mechanism
            assert alone.error == pytest.approx(plan.errors[name], rel=1e-12)
    assert found.best.score == min(plan.score for plan in found.plans)
    assert found.record is found.best.record
    assert found.split.record.sample is None and found.sampled.record.sample in {1, 2}


def test_one_attribute_a_person_is_best_for_little_budget_and_all_for_much():
    little, much = (bp.split_or_sample(THREE, epsilon, 9_000, of="mean") for epsilon in ("0.3", 12))
    assert little.record.sample == 1 and much.record.sample is None
    # For small ε the variance goes with k: √3 between one and all of three.
    assert little.split.score / little.sampled.score == pytest.approx(math.sqrt(3), rel=0.05)
    assert "reporting 1 of 3 attributes per person at ε = 0.3 beats all 3 at ε = 0.1 each" in little.reason
    assert "reporting all 3 at ε = 4 each beats" in much.reason
    assert "the other way" in str(little) and str(little).startswith("Reporting")
    assert list(little.to_frame()["attributes"]) == [1, 2, 3]


def test_the_forecast_is_what_people_then_see():
    found = bp.split_or_sample(THREE, 1, 1500)
    rng = np.random.default_rng(1)
    words = bp.insecure_seed(2)
    # Uniform people, as forecast. 150 estimates: their root mean square error is within 45 % of the forecast but for a
    # chance of 1e-13 (χ² of 150 degrees above 315); a forecast that forgot the sampling would be off by 73 %.
    squares = []
    for _ in range(150):
        values = {name: rng.choice(domain.to_numpy(), 1500) for name, domain in THREE.items()}
        told = bp.estimate(found.record, found.record.privatize(values, rng=words))
        squares.append((told["age"].mean - 23) ** 2)
    assert math.sqrt(np.mean(squares)) == pytest.approx(found.best.errors["age"], rel=0.45)


def test_labels_are_told_by_their_histogram():
    domains = {"pet": bp.Items(["cat", "dog", "fish"], loss=1 - np.eye(3)), "age": bp.Integers(1, 9)}
    assert bp.split_or_sample(domains, 1, 100, of="histogram").record.sample == 1
    with pytest.raises(InputError, match="'pet' are not numbers, so they have no mean"):
        bp.split_or_sample(domains, 1, 100)


def test_one_attribute_gets_everything():
    found = bp.split_or_sample({"age": bp.Integers(1, 9)}, 1, 10)
    assert found.sampled is None and found.record.sample is None
    assert "one attribute" in found.reason and found.best.epsilon_each == 1


def test_plans_that_no_lottery_keeps_are_left_out():
    found = bp.split_or_sample({"a": bp.Integers(1, 1000), "b": bp.Integers(1, 1000)}, "1.5e-15", 10)
    assert found.split is None and "no mechanism keeps" in found.reason
    with pytest.raises(InputError):
        bp.split_or_sample({"a": bp.Integers(1, 1000)}, "1e-16", 10)


def test_what_cannot_be_planned_is_refused():
    with pytest.raises(InputError, match="of as one of"):
        bp.split_or_sample(THREE, 1, 100, of="median")
    with pytest.raises(InputError, match="at least one attribute"):
        bp.split_or_sample({}, 1, 100)
    with pytest.raises(InputError, match="at least 3, one per attribute"):
        bp.split_or_sample(THREE, 1, 2)
    with pytest.raises(InputError, match="epsilon"):
        bp.split_or_sample(THREE, 0, 100)
    with pytest.raises(InputError):
        bp.split_or_sample({"age": 3}, 1, 100)
