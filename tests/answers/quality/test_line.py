import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bipartite import BRR, Constant, Integers, Interval, expected_loss, local_loss, share_within
from bipartite.errors import InputError, PriorError
from tests.strategies import brr, integer_domains

small = st.one_of(
    integer_domains(st.integers(2, 40)), st.builds(lambda n: Interval(0, 3, points=n), st.integers(2, 40))
)


def losses(mechanism):
    step = mechanism.domain.step
    x, y = mechanism.domain.to_numpy(), mechanism.outputs.to_numpy()
    return np.rint(np.abs(x[:, None] - y[None, :]) / step) * step


@pytest.mark.parametrize(("points", "m", "distance"), [(2, 101, 60), (3, 11, 7), (3, 11, 1000), (2, 1, 0), (2, 1, 1)])
def test_windows_wider_than_the_domain_are_counted_right(points, m, distance):
    mechanism = BRR(Integers(1, points), 1, m=m, edges="padded")
    within = (mechanism.matrix() * (losses(mechanism) <= distance)).sum(axis=1).mean()
    assert share_within(mechanism, distance) == pytest.approx(within)


@given(brr(small), st.integers(0, 45), st.randoms())
def test_closed_forms_equal_the_matrix(mechanism, reach, random):
    matrix, loss = mechanism.matrix(), losses(mechanism)
    local = (matrix * loss).sum(axis=1)
    assert local_loss(mechanism) == pytest.approx(local)
    assert expected_loss(mechanism) == pytest.approx(local.mean())
    prior = np.array([random.random() + 0.01 for _ in local])
    prior /= prior.sum()
    assert expected_loss(mechanism, prior) == pytest.approx(prior @ local)
    distance = reach * mechanism.domain.step
    within = (matrix * (loss <= distance * (1 + 1e-9))).sum(axis=1).mean()
    assert share_within(mechanism, distance) == pytest.approx(within)


def test_a_billion_values_cost_nothing():
    billion = BRR(Integers(1, 10**9), 1)
    # Theorem 3's limit of the ratio to GRR: (7h+9)/(4(h+1)²) with h = e^{ε/2}; 0.7320 at ε = 1.
    h = np.exp(0.5)
    assert 0 < share_within(billion, 10**8) < share_within(billion, 10**9) == 1
    ratio = expected_loss(billion) / expected_loss(BRR(Integers(1, 10**9), 1, m=1))
    assert ratio == pytest.approx((7 * h + 9) / (4 * (h + 1) ** 2), rel=1e-6)


@pytest.mark.parametrize(("epsilon", "expected"), [("0.25", 12.39), ("1", 9.75), ("2", 6.73), ("3", 4.47)])
def test_forty_points_give_the_reference_values(epsilon, expected):
    assert expected_loss(BRR(Integers(1, 40), epsilon)) == pytest.approx(expected, abs=0.005)


@given(small, st.integers(0, 45))
def test_always_answering_the_middle_costs_what_enumeration_says(domain, reach):
    values = domain.to_numpy()
    mechanism = Constant(domain)
    error = np.abs(values - values[(len(values) - 1) // 2])
    assert expected_loss(mechanism) == pytest.approx(error.mean())
    distance = reach * domain.step
    assert share_within(mechanism, distance) == pytest.approx((error <= distance * (1 + 1e-9)).mean())


@pytest.mark.parametrize("distance", [-1, float("nan"), "x", None])
def test_a_distance_is_not_negative(distance):
    with pytest.raises(InputError, match="Expected distance ≥ 0, got .*; distances are not negative"):
        share_within(BRR(Integers(1, 5), 1), distance)


def test_a_prior_must_fit():
    with pytest.raises(PriorError, match="Expected prior as 5 probabilities"):
        expected_loss(BRR(Integers(1, 5), 1), [1.0])
