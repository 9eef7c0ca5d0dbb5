"""Pure ε, trusted and local: the law of its noise, the bound on one person, what a person spends, what is learned."""

import math

import numpy as np
import pytest
import torch
from dp_accounting.pld import privacy_loss_distribution
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.datasets import load_digits
from torch.nn.functional import cross_entropy

import bipartite as bp
from bipartite.errors import InputError
from bipartite.learn import PerExample
from reproduction.learning import sgd
from reproduction.learning.sgd import LaplaceSGD, LocalSGD, laplace_epsilon, whole_rows

GRID = LaplaceSGD(3.0, 1.0, 20, 0.5).grid()
numbers = st.floats(allow_nan=True, allow_infinity=True, width=32)


@pytest.mark.parametrize(("each", "rate"), [(0.7, 0.1), (2.0, 0.5)])
def test_sampled_laplace_is_what_the_accountant_says(each, rate):
    # One coordinate is the worst case of an L1 bound: the library's figure, rounded up to its grid, lies just above.
    library = privacy_loss_distribution.from_laplace_mechanism(1 / each, sampling_prob=rate)
    ours = laplace_epsilon(each, 1, rate)
    assert ours - 1e-9 <= library.get_epsilon_for_delta(0) <= ours + 2e-4


@given(
    st.lists(st.lists(numbers, min_size=3, max_size=3), min_size=1, max_size=5),
    st.floats(1e-3, 1e3),
    st.integers(1, 2**24),
)
def test_no_row_is_longer_than_the_noise_is_for(rows, clip, steps):
    for row in whole_rows(torch.tensor(rows, dtype=torch.float32), clip, steps).tolist():
        assert [int(each) for each in row] == row
        assert sum(abs(int(each)) for each in row) <= steps  # in Python's whole numbers, without any rounding


def test_rows_within_the_bound_are_only_rounded_others_only_shortened_each_by_itself():
    rows = torch.tensor([[0.3, -0.4], [3.0, -4.0], [torch.nan, 1.0], [torch.inf, 0.0]], dtype=torch.float64)
    found = whole_rows(rows, 1.0, 1_000_000)
    np.testing.assert_allclose(found[:2].numpy(), [[300_000, -400_000], [3e6 / 7, -4e6 / 7]], atol=1)
    assert found[2:].abs().sum() == 0
    torch.manual_seed(3)
    rows = torch.randn(300, 41)
    alone = torch.cat([whole_rows(row[None], 0.5, GRID.steps) for row in rows])
    assert torch.equal(whole_rows(rows, 0.5, GRID.steps), alone)


def test_a_gradient_is_the_clipped_mean_plus_noise_of_the_stated_size():
    torch.manual_seed(4)
    network = torch.nn.Linear(40, 25)
    features, labels = torch.randn(60, 40), torch.randint(0, 25, (60,))
    examples = PerExample(network, cross_entropy)
    rows = torch.cat(list(examples.blocks(features, labels)))
    plan = LaplaceSGD(40.0, 3.0, 20, 0.5)
    clipped = rows * (plan.clip / torch.clamp(torch.linalg.vector_norm(rows, ord=1, dim=1), min=plan.clip))[:, None]
    sample = torch.from_numpy(sgd.flip_coins(60, 0.5, bp.insecure_seed(5)))
    found = next(plan.gradients(examples, features, labels, 120, bp.insecure_seed(5)))
    rest = (found - clipped[sample].sum(0) / 60).numpy() * 60 / plan.clip
    wanted = math.sqrt(2) / plan.grid().ratio
    # 1,025 draws: the standard deviation is off by 5.5 of its own errors (3.5 %) once in 1e7 seeds.
    assert 15 < sample.sum() < 45 and abs(rest.std() / wanted - 1) < 0.2
    assert abs(rest.mean()) < 5.5 * wanted / math.sqrt(len(rest))


@pytest.mark.parametrize(
    ("epsilon", "steps", "rate"),
    [(1e4, 1, 0.5), (1e6, 10, 1.0), (1e-12, 10, 0.5), (1e-300, 1, 1.0), (500.0, 1, 1e-300), (-1.0, 9, 0.5), (1, 1, 2)],
)
def test_a_step_that_cannot_be_drawn_is_refused(epsilon, steps, rate):
    with pytest.raises(InputError, match="Expected a plan of which every step can be drawn, got LaplaceSGD.*; a step"):
        LaplaceSGD(epsilon, 1.0, steps, rate)


@given(st.floats(2e-9, 511), st.sampled_from([(1, 1.0), (37, 0.04)]))
@example(1.0, (1, 1.0))
@example(math.nextafter(0.5, 1), (1, 1.0))
@example(math.nextafter(256.0, 0), (1, 1.0))
def test_pure_epsilon_is_kept_and_hardly_less_at_both_ends(each, schedule):
    epsilon = laplace_epsilon(each, *schedule)
    promised = LaplaceSGD(epsilon, 1.0, *schedule).guarantee(10)
    assert 0.998 * epsilon < promised.add_remove <= epsilon
    assert (promised.model, promised.replace, promised.delta) == ("central", 2 * promised.add_remove, 0.0)


def test_a_local_guarantee_names_what_a_person_spends():
    promised = LocalSGD(2.0, 0.1, 30).guarantee(1000)
    assert (promised.model, promised.add_remove, promised.replace, promised.delta) == ("local", math.inf, 2.0, 0.0)
    assert "who takes part, and in which step" in promised.not_covered


def test_everybody_answers_at_most_once_whatever_is_asked():
    batches, others = (list(LocalSGD(1.0, 0.1, 30).batches(200, bp.insecure_seed(seed))) for seed in (3, 4))
    people = np.concatenate(batches).tolist()
    assert len(set(people)) == len(people) and {len(each) for each in batches} == {30}
    assert people != np.concatenate(others).tolist()


def test_too_few_people_and_reports_of_too_much_are_refused_before_anybody_is_asked():
    with pytest.raises(InputError, match="Expected at least 30 people for one batch, got 20; use a smaller batch."):
        next(LocalSGD(1.0, 0.1, 30).batches(20, bp.insecure_seed(1)))
    examples, source = PerExample(torch.nn.Linear(9, 1), cross_entropy), bp.insecure_seed(1)
    plan = LocalSGD(1000.0, 0.1, 30)
    with pytest.raises(InputError, match="got 1000.0 for 10; use more coordinates, or"):
        plan.guarantee(10)
    with pytest.raises(InputError, match="got 1000.0 for 10; use more coordinates, or"):
        next(plan.gradients(examples, torch.zeros(40), None, 40, source))
    assert source == bp.insecure_seed(1)


def test_people_look_up_their_own_gradients():
    torch.manual_seed(1)
    network = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.LayerNorm(3), torch.nn.Linear(3, 2)).double()
    network[0].bias.requires_grad_(requires_grad=False)
    features, labels = torch.randn(300, 4).double(), torch.arange(300) % 2
    which = np.random.default_rng(1).integers(0, 26, (300, 2))
    found = sgd.coordinates_of(network, features, labels, which)
    for person in (0, 255, 256, 299):
        network.zero_grad()
        cross_entropy(network(features[person][None]), labels[person][None]).backward()
        row = torch.cat([each.grad.flatten() for each in network.parameters() if each.requires_grad])
        np.testing.assert_allclose(found[person], row[which[person]], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("plan", "steps", "least"),
    [
        (LocalSGD(500.0, 0.3, 100), 14, 0.35),
        (LaplaceSGD(300.0, 5.0, 40, 0.25), 40, 0.7),
    ],
    ids=["nobody is trusted", "a trusted curator"],
)
def test_little_noise_teaches_digits(plan, steps, least):
    features, digits = (torch.from_numpy(each) for each in load_digits(return_X_y=True))
    network, features, seen = torch.nn.Linear(64, 10), features.float() / 16, []
    torch.nn.init.zeros_(network.weight)
    sgd.follow(
        plan, PerExample(network, cross_entropy), features[:1400], digits[:1400],
        torch.optim.Adam(network.parameters(), lr=0.05), people=1400, source=bp.insecure_seed(1), watch=seen.append,
    )  # fmt: skip
    assert seen == list(range(1, steps + 1))
    assert (network(features[1400:]).argmax(1) == digits[1400:]).float().mean() > least  # guessing: one in ten
