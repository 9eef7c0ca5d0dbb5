"""The paper's protocols do what it describes, and what that gives away is shown on their own reports."""

import math

import numpy as np
import pytest

import bipartite as bp
from reproduction.experiments.protocols import AdaptiveBound, AdaptiveLaplace, BoundedNoise, HalfIntervalBRR


def test_half_intervals_publish_the_sign_of_every_coordinate():
    gradient = np.repeat([0.4, -0.4, 0.9, -0.01], 500)
    released = HalfIntervalBRR(0.1).perturbed(gradient, 1.0, 1, bp.insecure_seed(1))
    # Zero is a node of both halves; whatever else is released has the true sign, at any ε.
    assert (np.sign(released) * np.sign(gradient) >= 0).all()
    assert (released != 0).mean() > 0.9
    nodes = released * 20
    np.testing.assert_allclose(nodes, nodes.round(), atol=1e-9)
    assert np.abs(released).max() <= 1


def test_half_intervals_are_brr_with_21_points():
    # The law of |release|/C given |g|/C = 0.5 is the row of BRR; its mean within 5.5 errors, once in 1e7 seeds.
    mechanism = bp.BRR(bp.Interval(0, 1, points=21), 0.7)
    row, outputs = mechanism.matrix()[10], mechanism.outputs.to_numpy()
    released = HalfIntervalBRR(0.7).perturbed(np.full(40_000, -1.5), 3.0, 1, bp.insecure_seed(2)) / -3
    error = math.sqrt(row @ outputs**2 - (row @ outputs) ** 2) / 200
    assert abs(released.mean() - row @ outputs) < 5.5 * error


def test_the_bound_follows_private_norms():
    bound = AdaptiveBound()
    assert bound.value == 1
    assert bound.after(3.0).value == pytest.approx(0.99 + 0.03)
    for _ in range(2000):
        bound = bound.after(0.0)
    assert bound.value == 1e-3


@pytest.mark.parametrize(("of", "scale"), [("sum", 2 / 0.5 / 64), ("mean", 2 / 0.5)])
def test_the_rival_adds_laplace_noise_of_the_described_scale(of, scale):
    noise = AdaptiveLaplace(0.5, of).perturbed(np.zeros(40_000), 2.0, 64, bp.insecure_seed(3))
    # E|z| = scale with error scale/200: within 5.5 errors, once in 1e7 seeds.
    assert abs(np.abs(noise).mean() / scale - 1) < 5.5 / 200


def test_costs_are_infinite_and_say_why():
    for cost in (
        HalfIntervalBRR(0.3).cost(26_010, 2048, 9),
        AdaptiveLaplace(0.3).cost(26_010, 2048, 9),
        BoundedNoise(1.0).cost(),
    ):
        assert math.isinf(cost.epsilon)
        assert not cost.is_private
        assert "spends ε = ∞" in str(cost)
    assert "sign" in str(HalfIntervalBRR(0.3).cost(26_010, 2048, 9))


def test_with_a_public_bound_laplace_would_spend_epsilon_on_every_coordinate_and_epoch():
    # √26010 = 161.28: an L2 norm of at most C is an L1 norm of up to 161·C, in each of nine epochs.
    assert AdaptiveLaplace(0.3).cost(26_010, 2048, 8.4).with_public_bound == pytest.approx(161.276 * 0.3 * 9, rel=1e-4)
    assert AdaptiveLaplace(0.3, "mean").cost(26_010, 2048, 9).with_public_bound == pytest.approx(
        435.44 / 2048, rel=1e-3
    )


def test_bounded_noise_never_leaves_its_width():
    released = BoundedNoise(1.0).perturbed(np.zeros((200, 5)), bp.insecure_seed(4))
    assert released.shape == (200, 5)
    assert 0.09 < np.abs(released).max() <= 0.1
    # So a value above 0.2 and a value of 0 have no report in common.
    assert (BoundedNoise(1.0).perturbed(np.full(1000, 0.201), bp.insecure_seed(5)) > released.max()).all()
