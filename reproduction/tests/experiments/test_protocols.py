"""The paper's protocols do what it describes, and what that gives away is shown on their own reports."""

import math

import numpy as np
import pytest

import bipartite as bp
from reproduction.experiments.protocols import AdaptiveLaplace, HalfIntervalBRR, next_bound, with_bounded_noise


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
    assert next_bound(1.0, 3.0) == pytest.approx(0.99 + 0.03)
    assert next_bound(1e-3, 0.0) == 1e-3


@pytest.mark.parametrize(("of", "times", "batch"), [("sum", 1, 64), ("sum", 4, 64), ("mean", 1, 1)])
def test_the_rival_adds_laplace_noise_of_the_described_scale_and_a_reading_so_many_times_as_much(of, times, batch):
    noise = AdaptiveLaplace(0.5, of, times).perturbed(np.zeros(40_000), 2.0, 64, bp.insecure_seed(3))
    # E|z| = scale with error scale/200: within 5.5 errors, once in 1e7 seeds; three or five times would be 50 away.
    assert abs(np.abs(noise).mean() / (times * 2 / 0.5 / batch) - 1) < 5.5 / 200


@pytest.mark.parametrize("sign", [-1, 1])
def test_noise_in_a_half_keeps_the_sign_and_is_laplace_noise_clamped(sign):
    scale, gradient = 5 * 1.0 / 0.5 / 10, 0.3
    released = AdaptiveLaplace(0.5, times=5, in_half=True).perturbed(
        np.full(40_000, sign * gradient), 1.0, 10, bp.insecure_seed(4)
    )
    assert (sign * released >= 0).all() and (sign * released <= 1).all()
    # P(0) = ½·e^(−g/s) and P(C) = ½·e^(−(C−g)/s): each within 5.5 errors, once in 1e7 seeds.
    for end, chance in ((0.0, math.exp(-gradient / scale) / 2), (sign * 1.0, math.exp(-0.7 / scale) / 2)):
        error = math.sqrt(chance * (1 - chance) / 40_000)
        assert abs((released == end).mean() - chance) < 5.5 * error


def test_with_a_public_bound_laplace_would_spend_epsilon_on_every_coordinate_and_epoch():
    def spent(epochs=9, **how):
        return AdaptiveLaplace(0.3, **how).epsilon_with_public_bound(26_010, 2048, epochs)

    # √26010 = 161.28: an L2 norm of at most C is an L1 norm of up to 161·C, in each of nine epochs.
    assert spent(8.4) == pytest.approx(161.276 * 0.3 * 9, rel=1e-4)
    assert spent(of="mean") == pytest.approx(435.44 / 2048, rel=1e-3)
    assert spent(times=4) == pytest.approx(435.44 / 4, rel=1e-3)
    assert spent(in_half=True) == math.inf  # which publishes every sign


def test_bounded_noise_never_leaves_its_width():
    released = with_bounded_noise(np.zeros((200, 5)), bp.insecure_seed(4))
    assert released.shape == (200, 5)
    assert 0.09 < np.abs(released).max() <= 0.1
    # So a value above 0.2 and a value of 0 have no report in common.
    assert (with_bounded_noise(np.full(1000, 0.201), bp.insecure_seed(5)) > released.max()).all()
