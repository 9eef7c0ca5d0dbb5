import math
import sys

import numpy as np
import pytest
from scipy import optimize, stats

from bipartite.errors import InputError, MissingExtraError
from bipartite.learn.gradients import accounting
from bipartite.learn.gradients.accounting import Steps


def analytic_epsilon(multiplier, delta):
    """ε of one Gaussian mechanism, from its exact δ(ε) (Balle, Wang, ICML 2018, Theorem 8)."""

    def excess(epsilon):
        a, b = 1 / (2 * multiplier) - epsilon * multiplier, -1 / (2 * multiplier) - epsilon * multiplier
        return stats.norm.cdf(a) - math.exp(epsilon) * stats.norm.cdf(b) - delta

    return optimize.brentq(excess, 0, 100)


@pytest.mark.parametrize("count", [1, 16])
def test_without_sampling_epsilon_is_that_of_one_gaussian_with_less_noise(count):
    exact = analytic_epsilon(4 / math.sqrt(count), 1e-5)
    found = accounting.gaussian_epsilon(4.0, Steps(count, 1.0), 1e-5)
    assert exact <= found < exact + 0.01
    doubled = analytic_epsilon(2 / math.sqrt(count), 1e-5)
    assert doubled <= accounting.gaussian_epsilon(4.0, Steps(count, 1.0), 1e-5, "replace") < doubled + 0.02


def mixture_epsilon(noise, steps, delta, points):
    """ε by hand: losses of (1−q)N(0) + qN(a) against the same with b, on a grid of our own, composed by one FFT."""
    x = np.linspace(-12 * noise - 2, 12 * noise + 2, 400_001)
    own, other = (
        (1 - steps.rate) * stats.norm.pdf(x, 0, noise) + steps.rate * stats.norm.pdf(x, point, noise)
        for point in points
    )
    grid, bins = 1e-3, 80_000
    slots = np.clip(np.rint(np.log(own / other) / grid).astype(int) + bins // 2, 0, bins - 1)
    law = np.bincount(slots, weights=own, minlength=bins) / own.sum()
    together = np.fft.fftshift(np.fft.irfft(np.fft.rfft(np.fft.ifftshift(law)) ** steps.count, bins))
    losses = (np.arange(bins) - bins // 2) * grid
    return optimize.brentq(lambda e: np.sum(together * np.clip(-np.expm1(e - losses), 0, None)) - delta, 0, 30)


def test_sampled_gaussian_steps_cost_what_an_integral_says_also_for_a_replaced_record():
    # A replaced record moves the sampled sum from +1 to −1 at worst; an added one from 0 to 1, a removed one back.
    steps, noise = Steps(40, 0.25), 2.4674511904449377
    added = max(mixture_epsilon(noise, steps, 1e-5, each) for each in ((1, 0), (0, 1)))
    replaced = mixture_epsilon(noise, steps, 1e-5, (1, -1))
    assert accounting.gaussian_epsilon(noise, steps, 1e-5) == pytest.approx(added, abs=2e-3)
    assert accounting.gaussian_epsilon(noise, steps, 1e-5, "replace") == pytest.approx(replaced, abs=2e-3)
    assert 1.9 * added < replaced < 2 * added


@pytest.mark.slow
def test_noise_for_a_promise_keeps_it_and_hardly_more():
    steps = Steps(30, 0.1)
    noise = accounting.gaussian_multiplier(2.0, 1e-5, steps)
    assert accounting.gaussian_epsilon(noise, steps, 1e-5) <= 2
    assert accounting.gaussian_epsilon(noise / 1.02, steps, 1e-5) > 2


def test_a_promise_that_no_noise_keeps_is_refused():
    with pytest.raises(InputError, match="No noise up to 16384 clipping norms keeps ε=1e-07; use fewer steps"):
        accounting.gaussian_multiplier(1e-7, 1e-12, Steps(1000, 1.0))


def test_a_missing_accountant_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "dp_accounting", None)
    with pytest.raises(MissingExtraError, match=r'needs dp-accounting, .*; run: pip install "bipartite\[learn\]"'):
        accounting.gaussian_epsilon(1.2345, Steps(1, 1.0), 1e-5)
    with pytest.raises(MissingExtraError, match="needs dp-accounting"):
        accounting.gaussian_multiplier(1.2345, 1e-5, Steps(3, 0.7))
