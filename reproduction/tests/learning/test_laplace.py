"""Pure ε: the law of its noise, the bound on one person, and what its steps add up to."""

import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from dp_accounting.pld import privacy_loss_distribution
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.datasets import load_digits

import bipartite as bp
from bipartite.errors import InputError
from bipartite.learn import PerExample, Steps
from reproduction.learning.laplace import LEAST_RATIO, MOST_RATIO, LaplaceSGD, laplace_each, laplace_epsilon, whole_rows
from reproduction.learning.loop import follow

GRID = LaplaceSGD(3.0, 1.0, 20, 0.5).grid()
numbers = st.floats(allow_nan=True, allow_infinity=True, width=32)


def test_sampled_laplace_is_what_the_accountant_says():
    # One coordinate is the worst case of an L1 bound: the library's figure, rounded up to its grid, lies just above.
    for each, rate in ((0.7, 0.1), (2.0, 0.5)):
        library = privacy_loss_distribution.from_laplace_mechanism(1 / each, sampling_prob=rate)
        ours = laplace_epsilon(each, Steps(1, rate))
        assert ours - 1e-9 <= library.get_epsilon_for_delta(0) <= ours + 2e-4


@pytest.mark.parametrize("epsilon", [0.1, 3.0, 500.0])
def test_what_each_step_may_spend_adds_up(epsilon):
    steps = Steps(37, 0.04)
    spent = laplace_epsilon(laplace_each(epsilon, steps), steps)
    assert epsilon * (1 - 1e-9) < spent <= epsilon


@given(st.floats(LEAST_RATIO, MOST_RATIO))
@example(1.0)
@example(math.nextafter(0.5, 1))
@example(math.nextafter(256.0, 0))
def test_every_ratio_that_is_let_in_has_a_grid_on_the_safe_side(ratio):
    grid = type(GRID).of(ratio)
    assert 0.998 < Fraction(grid.steps, 2**grid.bits) / Fraction(ratio) <= 1
    assert grid.steps >= 2**10


@given(
    st.lists(st.lists(numbers, min_size=3, max_size=3), min_size=1, max_size=5),
    st.floats(1e-3, 1e3),
    st.integers(1, 2**24),
)
def test_no_row_is_longer_than_the_noise_is_for(rows, clip, steps):
    for row in whole_rows(torch.tensor(rows, dtype=torch.float32), clip, steps).tolist():
        whole = [int(each) for each in row]
        assert whole == row
        assert sum(map(abs, whole)) <= steps  # in Python's whole numbers, without any rounding


def test_rows_within_the_bound_are_only_rounded_and_others_only_shortened():
    rows = torch.tensor([[0.3, -0.4], [3.0, -4.0], [torch.nan, 1.0], [torch.inf, 0.0]], dtype=torch.float64)
    found = whole_rows(rows, 1.0, 1_000_000)
    np.testing.assert_allclose(found[:2].numpy(), [[300_000, -400_000], [3e6 / 7, -4e6 / 7]], atol=1)
    assert found[2:].abs().sum() == 0


def test_a_row_depends_on_its_own_person_only():
    torch.manual_seed(3)
    rows = torch.randn(300, 41)
    alone = torch.cat([whole_rows(row[None], 0.5, GRID.steps) for row in rows])
    assert torch.equal(whole_rows(rows, 0.5, GRID.steps), alone)


def test_a_gradient_is_the_clipped_mean_plus_noise_of_the_stated_size():
    torch.manual_seed(4)
    network = torch.nn.Linear(40, 25)
    features, labels = torch.randn(60, 40), torch.randint(0, 25, (60,))
    gradients = PerExample(network, torch.nn.functional.cross_entropy)
    rows = torch.cat(list(gradients.blocks(features, labels)))
    plan = LaplaceSGD(40.0, 3.0, 20, 0.5)
    clipped = rows * (plan.clip / torch.clamp(torch.linalg.vector_norm(rows, ord=1, dim=1), min=plan.clip))[:, None]
    found = plan.gradient(gradients, features, labels, 120, bp.insecure_seed(5))
    rest = (found - clipped.sum(0) / 60).numpy() * 60 / plan.clip
    wanted = math.sqrt(2) / plan.grid().ratio
    # 1,025 draws: the standard deviation is off by 5.5 of its own errors (3.5 %) once in 1e7 seeds.
    assert abs(rest.std() / wanted - 1) < 0.2
    assert abs(rest.mean()) < 5.5 * wanted / math.sqrt(len(rest))


@pytest.mark.parametrize(
    ("epsilon", "steps", "rate"),
    [(1e4, 1, 0.5), (1e6, 10, 1.0), (1e-12, 10, 0.5), (1e-300, 1, 1.0), (500.0, 1, 1e-300), (-1.0, 9, 0.5), (1, 1, 2)],
)
def test_a_step_that_cannot_be_drawn_is_refused(epsilon, steps, rate):
    with pytest.raises(InputError, match="Expected a plan of which every step can be drawn, got LaplaceSGD.*; a step"):
        LaplaceSGD(epsilon, 1.0, steps, rate)


@pytest.mark.parametrize(("epsilon", "steps", "rate"), [(512.0, 1, 1.0), (1e-6, 100, 0.3), (1e4, 200, 0.04)])
def test_pure_epsilon_is_kept_and_hardly_less_at_both_ends(epsilon, steps, rate):
    promised = LaplaceSGD(epsilon, 1.0, steps, rate).guarantee(10)
    assert 0.998 * epsilon < promised.add_remove <= epsilon
    assert (promised.replace, promised.delta) == (2 * promised.add_remove, 0.0)


def test_little_noise_teaches_digits():
    features, digits = (torch.from_numpy(each) for each in load_digits(return_X_y=True))
    network, features = torch.nn.Linear(64, 10), features.float() / 16
    torch.nn.init.zeros_(network.weight)
    follow(
        LaplaceSGD(300.0, 5.0, 40, 0.25), network, features[:1400], digits[:1400], people=1400,
        stepper=torch.optim.Adam(network.parameters(), lr=0.05), source=bp.insecure_seed(1),
    )  # fmt: skip
    assert (network(features[1400:]).argmax(1) == digits[1400:]).float().mean() > 0.7  # guessing: one in ten
