import pytest
import torch

from bipartite.errors import InputError
from bipartite.learn.gradients import per_example
from bipartite.learn.gradients.networks import paper_cnn
from bipartite.learn.gradients.per_example import PerExample

LOSS = torch.nn.functional.cross_entropy


def one_by_one(network, features, labels):
    """The oracle: one backward pass a person."""
    rows = []
    for x, y in zip(features, labels, strict=True):
        network.zero_grad()
        LOSS(network(x[None]), y[None]).backward()
        rows.append(torch.cat([each.grad.flatten() for each in network.parameters() if each.requires_grad]))
    return torch.stack(rows)


def network_and_people(people=7):
    torch.manual_seed(1)
    network = torch.nn.Sequential(
        torch.nn.Linear(5, 4), torch.nn.GroupNorm(2, 4), torch.nn.ReLU(), torch.nn.Linear(4, 3)
    )
    return network, torch.randn(people, 5), torch.randint(0, 3, (people,))


@pytest.mark.parametrize("block", [2**25, 100, 1])
def test_gradients_are_those_of_single_people_however_they_are_blocked(block, monkeypatch):
    monkeypatch.setattr(per_example, "_BLOCK_NUMBERS", block)
    network, features, labels = network_and_people()
    found = torch.cat(list(PerExample(network, LOSS).blocks(features, labels)))
    torch.testing.assert_close(found, one_by_one(network, features, labels), rtol=1e-4, atol=1e-6)


def test_parameters_that_are_not_trained_have_no_gradient():
    network, features, labels = network_and_people()
    network[0].weight.requires_grad_(False)
    gradients = PerExample(network, LOSS)
    found = torch.cat(list(gradients.blocks(features, labels)))
    assert found.shape[1] == gradients.size == sum(each.numel() for each in network.parameters()) - 20
    torch.testing.assert_close(found, one_by_one(network, features, labels), rtol=1e-4, atol=1e-6)


def test_an_assigned_gradient_is_what_an_optimiser_sees():
    network, *_ = network_and_people()
    gradients = PerExample(network, LOSS)
    gradients.assign(torch.arange(gradients.size, dtype=torch.float64))
    seen = torch.cat([each.grad.flatten() for each in network.parameters()])
    assert seen.tolist() == list(range(gradients.size))


def test_layers_in_which_people_meet_are_refused():
    with pytest.raises(InputError, match="got BatchNorm1d in '1', whose output for one person depends on others; use"):
        PerExample(torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2)), LOSS)
    with pytest.raises(InputError, match="Expected a network with parameters to train, got none; set requires_grad"):
        PerExample(torch.nn.ReLU(), LOSS)


def test_the_network_of_the_paper_has_26010_parameters():
    network = paper_cnn()
    assert sum(each.numel() for each in network.parameters()) == 26_010
    assert network(torch.zeros(2, 1, 28, 28)).shape == (2, 10)
