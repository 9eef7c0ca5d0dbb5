import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits

import bipartite as bp
from bipartite.errors import InputError
from reproduction.learning.local import Asked, LocalSGD, PrivateQuantile
from reproduction.learning.loop import follow


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
    assert "who takes part, and in which step" in promised.not_covered


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


def test_a_batch_without_people_and_reports_of_too_much_are_refused_before_anybody_is_asked():
    with pytest.raises(InputError, match="Expected at least 30 people for one batch, got 20; use a smaller batch."):
        next(LocalSGD(1.0, 0.1, 30).batches(20, bp.insecure_seed(1)))
    for clip in (0.1, PrivateQuantile()):
        with pytest.raises(InputError, match="got 1000.0 for 10; use more coordinates, or"):
            LocalSGD(1000.0, clip, 30).guarantee(10)


def test_people_look_up_their_own_gradients():
    torch.manual_seed(1)
    network = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.LayerNorm(3), torch.nn.Linear(3, 2)).double()
    network[0].bias.requires_grad_(requires_grad=False)
    features, labels = torch.randn(300, 4).double(), torch.arange(300) % 2
    loss = torch.nn.functional.cross_entropy
    which = np.random.default_rng(1).integers(0, 26, (300, 2))
    found = Asked(network, loss, features, labels).coordinates(which)
    for person in (0, 255, 256, 299):
        network.zero_grad()
        loss(network(features[person][None]), labels[person][None]).backward()
        row = torch.cat([each.grad.flatten() for each in network.parameters() if each.requires_grad])
        np.testing.assert_allclose(found[person], row[which[person]], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("plan", "steps", "least"),
    [
        (LocalSGD(500.0, 0.3, 100), 14, 0.35),
        (LocalSGD(500.0, PrivateQuantile(people=200), 100, "piecewise"), 12, 0.3),
    ],
    ids=["a public bound", "a private bound"],
)
def test_many_coordinates_of_many_people_teach_digits(plan, steps, least):
    features, digits = (torch.from_numpy(each) for each in load_digits(return_X_y=True))
    network, seen = torch.nn.Linear(64, 10), []
    torch.nn.init.zeros_(network.weight)
    features = features.float() / 16
    follow(
        plan, network, features[:1400], digits[:1400], stepper=torch.optim.Adam(network.parameters(), lr=0.05),
        people=1400, source=bp.insecure_seed(1), watch=seen.append,
    )  # fmt: skip
    assert seen == list(range(1, steps + 1))
    assert (network(features[1400:]).argmax(1) == digits[1400:]).float().mean() > least  # guessing: one in ten
