import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

import bipartite as bp
from bipartite.errors import InputError
from bipartite.learn import GaussianSGD
from bipartite.learn.gradients import accounting
from bipartite.learn.gradients.central import Grid
from bipartite.learn.gradients.per_example import PerExample
from bipartite.learn.gradients.whole import MOST_STEPS, whole_rows, whole_sum
from bipartite.lottery.integer_noise import GAUSSIAN_SLACK, MOST_BITS

GAUSSIAN = GaussianSGD(None, 1e-5, 1.0, 20, 0.5, noise_multiplier=2.0)


@pytest.mark.parametrize("ratio", [1e-4, 0.3, 1.0, 1 / 3, 7.0, 900.0])
def test_a_grid_never_promises_more_than_asked(ratio):
    grid = Grid.of(ratio)
    assert 0.999 * ratio < grid.ratio <= ratio
    assert 1 <= grid.steps <= MOST_STEPS
    assert 0 <= grid.bits <= MOST_BITS


@given(st.floats(1 / accounting.MOST_NOISE, 1 / accounting.LEAST_NOISE))
@example(1.0)
@example(math.nextafter(0.5, 1))
@example(math.nextafter(256.0, 0))
def test_every_ratio_that_is_let_in_has_a_grid_on_the_safe_side(ratio):
    grid = Grid.of(ratio)
    assert 0.998 < Fraction(grid.steps, 2**grid.bits) / Fraction(ratio) <= 1
    assert 2**10 <= grid.steps <= MOST_STEPS
    assert 0 <= grid.bits <= MOST_BITS


def test_one_person_moves_the_sum_by_no_more_than_the_noise_is_for():
    torch.manual_seed(2)
    people = 5 * torch.randn(30, 50)
    grid = GAUSSIAN.grid()
    with_all = whole_sum(whole_rows(people, GAUSSIAN.clip, grid.steps))
    for gone in range(30):
        others = torch.cat([people[:gone], people[gone + 1 :]])
        moved = with_all - whole_sum(whole_rows(others, GAUSSIAN.clip, grid.steps))
        assert sum(int(each) ** 2 for each in moved) <= grid.steps**2


def test_a_gradient_is_the_clipped_mean_plus_noise_of_the_stated_size():
    torch.manual_seed(4)
    network = torch.nn.Linear(40, 25)
    features, labels = torch.randn(60, 40), torch.randint(0, 25, (60,))
    gradients = PerExample(network, torch.nn.functional.cross_entropy)
    rows = torch.cat(list(gradients.blocks(features, labels)))
    clip = GAUSSIAN.clip
    clipped = rows * (clip / torch.clamp(torch.linalg.vector_norm(rows, dim=1), min=clip))[:, None]
    found = GAUSSIAN.gradient(gradients, features, labels, 120, bp.insecure_seed(5))
    rest = (found - clipped.sum(0) / 60).numpy() * 60 / clip
    # 1,025 draws: the standard deviation is off by 5.5 of its own errors (2.2 %) once in 1e7 seeds.
    assert abs(rest.std() / 2.0 - 1) < 0.13
    assert abs(rest.mean()) < 5.5 * 2.0 / math.sqrt(len(rest))


def test_replacing_a_record_costs_what_quadrature_says():
    """One step: (1 − q)·N(0, σ²) + q·N(±1, σ²) is the worst pair where a record is replaced by its opposite."""
    sigma, rate, delta = 1.5, 0.3, 1e-5
    x = np.linspace(-25, 25, 2_000_001)

    def density(at):
        return np.exp(-((x - at) ** 2) / (2 * sigma**2)) / (sigma * math.sqrt(2 * math.pi))

    one, other = ((1 - rate) * density(0) + rate * density(at) for at in (1, -1))
    found = accounting.gaussian_epsilon(sigma, accounting.Steps(1, rate), delta, "replace")
    for epsilon, enough in ((found, True), (found * 0.99, False)):
        beyond = np.maximum(one - math.exp(epsilon) * other, 0).sum() * (x[1] - x[0])
        assert (beyond <= delta) == enough


def test_samples_are_poisson():
    sizes = [len(each) for each in GaussianSGD(None, 1e-5, 1.0, 200, 0.3, 1.0).batches(1000, bp.insecure_seed(6))]
    # 200 binomial sizes with mean 300 and deviation 14.5: bounds at six errors, false alarm below 1e-8.
    assert abs(np.mean(sizes) - 300) < 6 * 14.5 / math.sqrt(200)
    assert 9 < np.std(sizes) < 20
    everybody = next(GaussianSGD(None, 1e-5, 1.0, 1, 1.0, 1.0).batches(5, bp.insecure_seed(6)))
    assert everybody.tolist() == [0, 1, 2, 3, 4]


def test_guarantees_are_those_of_the_noise_that_is_drawn():
    promised = GAUSSIAN.guarantee(1000)
    schedule = accounting.Steps(20, 0.5)
    realised = 2.0 ** GAUSSIAN.grid().bits / GAUSSIAN.grid().steps
    assert promised.add_remove == pytest.approx(accounting.gaussian_epsilon(realised, schedule, 1e-5), rel=1e-4)
    assert promised.add_remove < promised.replace < 2.2 * promised.add_remove
    assert (promised.model, promised.delta) == ("central", 1e-5)
    for word in (
        "tuning",
        "how features were computed: each person's must come from that person's data alone",
        "a processor or library that does not keep IEEE 754",
        "the time",
        "a refusal: training that stops with an error",
    ):
        assert any(word in each for each in promised.not_covered)


def test_where_the_words_of_the_noise_do_not_suffice_nothing_is_promised(monkeypatch):
    monkeypatch.setattr("bipartite.learn.gradients.central.GAUSSIAN_SLACK", 1e-9)
    assert not GAUSSIAN.guarantee(10**6).is_private
    assert GAUSSIAN_SLACK < 2.0**-100


def test_an_epsilon_becomes_noise_that_keeps_it():
    plan = GaussianSGD(2.0, 1e-5, 1.0, 30, 0.1)
    promised = plan.guarantee(500)
    assert 1.9 < promised.add_remove <= 2


def test_bad_plans_are_refused_with_every_problem():
    with pytest.raises(InputError, match="(?s)3 problems.*clip.*steps as a whole number.*sampling_rate.*at most 1"):
        GaussianSGD(1.0, 1e-5, clip=0, steps=1.5, sampling_rate=2)
    with pytest.raises(InputError, match="either epsilon or noise_multiplier, got both or none; set the other to None"):
        GaussianSGD(1.0, 1e-5, 1.0, 10, 0.1, noise_multiplier=1.0)
    with pytest.raises(InputError, match="Expected delta as a positive finite number and at most 0.5, got 0; 1e-6"):
        GaussianSGD(1.0, 0, 1.0, 10, 0.1)
    with pytest.raises(InputError, match="Expected epsilon as a positive finite number, got -1.0; try 1.0."):
        GaussianSGD(-1.0, 1e-5, 1.0, 10, 0.1)
    with pytest.raises(InputError, match="Expected sampling_rate as a positive finite number"):
        GaussianSGD(3.0, 1e-5, 1.0, 20, np.float32(0.5))  # its rounding would be in ε
    with pytest.raises(InputError, match="Expected noise_multiplier of at least 0.000976562"):
        GaussianSGD(None, 1e-5, 1.0, 10, 0.1, noise_multiplier=1e-9)
