import numpy as np
import pytest

import bipartite as bp
from bipartite.errors import InputError
from bipartite.learn import LocalSGD, PrivateQuantile


def test_everybody_answers_at_most_once_whatever_is_asked():
    for plan in (LocalSGD(1.0, 0.1, 30), LocalSGD(1.0, PrivateQuantile(people=25), 30)):
        batches = list(plan.batches(200, bp.insecure_seed(3)))
        people = np.concatenate(batches)
        assert len(set(people.tolist())) == len(people)
        assert {len(each) for each in batches} <= {30, 25}
    first, second = (np.concatenate(list(LocalSGD(1.0, 0.1, 30).batches(200, bp.insecure_seed(s)))) for s in (1, 2))
    assert (first != second).any()


def test_a_guarantee_names_what_a_person_spends():
    promised = LocalSGD(2.0, 0.1, 30).guarantee(1000)
    assert (promised.model, promised.replace, promised.delta) == ("local", 2.0, 0.0)
    assert promised.add_remove == float("inf")
    for word in ("who takes part", "a refusal: training that stops with an error tells that somebody's features or"):
        assert any(word in each for each in promised.not_covered)


def test_a_private_quantile_comes_near_the_true_one_from_reports_alone():
    quantile = PrivateQuantile(0.9, people=4000)
    values = np.exp(np.linspace(-9, 0, 4000)) * np.where(np.arange(4000) % 2, 1, -1)
    reports = quantile.report(values, 4.0, bp.insecure_seed(8))
    bound = quantile.bound(reports, 4.0)
    # The true quantile is e^−0.9 = 0.41; the answer is a power of two, at most one step off at this seed.
    assert bound in {0.25, 0.5, 1.0}
    assert quantile.mechanism(4.0).epsilon <= 4


def test_a_bound_stays_in_its_public_range_and_odd_values_are_reported_like_any():
    quantile = PrivateQuantile(0.5, people=10, exponents=(-6, 3))
    reports = quantile.report(np.array([0.0, np.nan, np.inf, 1e-300, 1e300, -4.0]), 5.0, bp.insecure_seed(1))
    assert np.isin(reports, quantile.mechanism(5.0).outputs.to_numpy()).all()
    for low_or_high in (np.full(50, -6), np.full(50, 3)):
        assert 2.0**-6 <= quantile.bound(low_or_high, 5.0) <= 2.0**3


def test_bad_plans_are_refused():
    with pytest.raises(InputError, match="(?s)3 problems.*epsilon.*clip.*a PrivateQuantile.*coordinates.*or 'auto'"):
        LocalSGD(0, "big", 30, coordinates=0)
    with pytest.raises(InputError, match="Expected mechanism as one of brr, piecewise, hybrid, duchi, got 'laplace'."):
        LocalSGD(1.0, 0.1, 30, "laplace")
    with pytest.raises(InputError, match="Expected at least 30 people for one batch, got 20; use a smaller batch."):
        next(LocalSGD(1.0, 0.1, 30).batches(20, bp.insecure_seed(1)))
    with pytest.raises(InputError, match="Expected points as a whole number of at least 2, got 1; 21 is the paper"):
        LocalSGD(1.0, 0.1, 30, points=1)
    with pytest.raises(
        InputError, match="between 1e-9 and 50 a coordinate, got 1000.0 for 10; use more coordinates, or"
    ):
        LocalSGD(1000.0, 0.1, 30).guarantee(10)
    with pytest.raises(
        InputError, match="between 1e-9 and 50 a coordinate, got 1000.0 for 10; use more coordinates, or"
    ):
        LocalSGD(1000.0, PrivateQuantile(), 30).guarantee(10)
    with pytest.raises(
        InputError, match="between 1e-9 and 50 a coordinate, got 1e-08 for 20; use fewer coordinates, or"
    ):
        LocalSGD(1e-8, 0.1, 30, coordinates=20).guarantee(100)
    for exponents in (3, (1.5, 3), (1, 2, 3), "ab"):
        with pytest.raises(InputError, match="Expected exponents as .low, high. within ±1000, got .*; try .-20, 4"):
            PrivateQuantile(exponents=exponents)
    with pytest.raises(InputError, match="(?s)2 problems.*quantile.*at most 1.*exponents as .low, high. within ±1000"):
        PrivateQuantile(2, exponents=(4, 4))
