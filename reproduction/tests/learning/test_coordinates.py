"""The local gradient estimate against exact enumeration and its own draws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bipartite as bp
from bipartite.errors import InputError
from reproduction.learning.coordinates import NAMES, CoordinateReports, coordinates_for, least_variance_window

GRADIENTS = np.array([[0.0, 0.2, -0.5, 0.05, 1.7], [0.31, -0.44, 0.5, -0.02, -0.1], [0.1, 0.0, 0.0, 0.49, -9.0]])


def law_of_report(reports, value):
    """(outputs, chances) of one debiased report, by rounding at random and the tickets, not by the class."""
    mechanism = reports.randomizer
    node = (min(max(value / reports.clip, -1), 1) + 1) / 2 * (reports.points - 1)
    low = min(int(node), reports.points - 2)
    matrix = mechanism.matrix()
    chances = (1 - (node - low)) * matrix[low] + (node - low) * matrix[low + 1]
    outputs = mechanism.outputs.to_numpy()
    if reports.mechanism == "brr":
        # The debiasing factor, from the two ends: reports of ±1 must have means ±1.
        ends = matrix @ outputs
        outputs = outputs * 2 / (ends[-1] - ends[0])
    return outputs * reports.clip, chances


def exact_moments(reports, gradients):
    """Mean and variance of the estimate, by going through every r and every report."""
    people, size = gradients.shape
    mean, variance = np.zeros(size), np.zeros(size)
    for row in gradients:
        first, second = np.zeros(size), np.zeros(size)
        for start in range(size):
            for at in reports.chosen(np.array([start]))[0]:
                outputs, chances = law_of_report(reports, row[at])
                scaled = outputs * size / reports.coordinates
                first[at] += (chances @ scaled) / size
                second[at] += (chances @ scaled**2) / size
        mean += first / people
        variance += (second - first**2) / people**2
    return mean, variance


@pytest.mark.parametrize("mechanism", NAMES)
@pytest.mark.parametrize(("epsilon", "coordinates"), [(0.3, 1), (1.0, 1), (4.0, 2), (6.0, 5)])
def test_the_estimate_is_unbiased_and_has_the_stated_variance_exactly(mechanism, epsilon, coordinates):
    reports = CoordinateReports(mechanism, epsilon, 0.5, 5, coordinates, points=21)
    mean, variance = exact_moments(reports, GRADIENTS)
    np.testing.assert_allclose(mean, np.clip(GRADIENTS, -0.5, 0.5).mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(reports.variance(GRADIENTS), variance, rtol=1e-9)


@pytest.mark.parametrize("mechanism", NAMES)
def test_drawn_estimates_have_these_moments(mechanism):
    reports = CoordinateReports(mechanism, 2.0, 0.5, 5, 2)
    source, rounds = bp.insecure_seed(21), 20_000
    many = np.tile(GRADIENTS, (rounds, 1))
    starts = reports.starts(len(many), source)
    values = np.take_along_axis(many, reports.chosen(starts), axis=1)
    drawn = reports.report(values, source)
    # One estimate for each round of three people.
    rows = np.repeat(np.arange(rounds), 3)[:, None] * 5 + reports.chosen(starts)
    weights = (drawn * reports.clip / reports._slope * 5 / 2).ravel()
    estimates = np.bincount(rows.ravel(), weights=weights, minlength=5 * rounds).reshape(rounds, 5) / 3
    np.testing.assert_allclose(estimates.sum(axis=0), reports.totals(starts, drawn) / 3, rtol=1e-9)
    truth, variance = np.clip(GRADIENTS, -0.5, 0.5).mean(axis=0), reports.variance(GRADIENTS)
    # Means within 5.5 errors, five of them: a false alarm once in 5e6 seeds. A bias of 5 % of the bound is found.
    errors = np.sqrt(variance / rounds)
    assert (np.abs(estimates.mean(axis=0) - truth) < 5.5 * errors).all()
    assert (np.abs(estimates.mean(axis=0) - truth * 1.0 - 0.05) > 5.5 * errors).any()
    # Variances: the error of a variance from so many draws is below 1.5 %; 8 % is over five of them.
    np.testing.assert_allclose(estimates.var(axis=0), variance, rtol=0.08)


@given(st.integers(1, 60), st.data())
def test_every_coordinate_is_chosen_with_chance_k_over_d_exactly(size, data):
    k = data.draw(st.integers(1, size))
    reports = CoordinateReports("duchi", 1.0, 1.0, size, k)
    chosen = reports.chosen(np.arange(size))
    assert all(len(set(row)) == k for row in chosen.tolist())
    assert np.bincount(chosen.ravel(), minlength=size).tolist() == [k] * size


@pytest.mark.parametrize("mechanism", NAMES)
@pytest.mark.parametrize(("epsilon", "coordinates"), [(0.1, 1), (1.0, 3), (7.0, 2), (1000.0, 400)])
def test_all_reports_of_one_person_spend_no_more_than_epsilon(mechanism, epsilon, coordinates):
    reports = CoordinateReports(mechanism, epsilon, 1.0, 500, coordinates)
    certificate = bp.verify(reports.randomizer)
    assert certificate.holds
    assert float(certificate.epsilon_upper) * coordinates <= epsilon
    assert float(certificate.epsilon_upper) * coordinates > 0.99 * epsilon


def test_the_window_has_the_least_variance_at_zero():
    for epsilon in ("0.5", "2"):
        best = least_variance_window(epsilon, 11)
        found = {}
        for m in range(1, 60, 2):
            mechanism = bp.BRR(bp.Interval(-1, 1, points=11), epsilon, m=m, edges="padded")
            matrix, outputs = mechanism.matrix(), mechanism.outputs.to_numpy()
            slope = (matrix[-1] @ outputs - matrix[0] @ outputs) / 2
            found[m] = (matrix[5] @ outputs**2) / slope**2
        assert min(found, key=found.get) == best


def test_one_coordinate_for_each_two_and_a_half_of_epsilon():
    assert [coordinates_for(each, 100) for each in (0.1, 2.4, 5.0, 24.9, 1000.0)] == [1, 1, 2, 9, 100]


def test_what_is_no_number_is_reported_as_zero_would_be():
    reports = CoordinateReports("duchi", 1.0, 0.5, 3)
    odd = reports.report(np.array([[np.nan], [np.inf], [-np.inf]]), bp.insecure_seed(1))
    plain = reports.report(np.array([[0.0], [0.5], [-0.5]]), bp.insecure_seed(1))
    assert odd.tolist() == plain.tolist()


def test_what_cannot_be_reported_is_refused():
    with pytest.raises(InputError, match="Expected 1 to 5 coordinates, got 6; use one of these."):
        CoordinateReports("brr", 1.0, 1.0, 5, 6)
    with pytest.raises(InputError, match="between 1e-9 and 50 a coordinate, got 1000.0 for 10; use more coordinates"):
        CoordinateReports("brr", 1000.0, 1.0, 10, 10)
    with pytest.raises(InputError, match="between 1e-9 and 50 a coordinate, got 1e-08 for 20; use fewer coordinates"):
        CoordinateReports("brr", 1e-8, 1.0, 100, 20)
