import pytest
import torch

from bipartite.errors import InputError
from bipartite.learn.gradients import per_example
from bipartite.learn.gradients.networks import paper_cnn
from bipartite.learn.gradients.per_example import PerExample

LOSS = torch.nn.functional.cross_entropy
# In doubles, whatever instructions a processor has: its last bits are a thousand times smaller.
TOLERANCE = {"rtol": 1e-10, "atol": 1e-12}


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
    ).double()
    return network, torch.randn(people, 5, dtype=torch.float64), torch.randint(0, 3, (people,))


@pytest.mark.parametrize("block", [2**25, 100, 1])
def test_gradients_are_those_of_single_people_however_they_are_blocked(block, monkeypatch):
    monkeypatch.setattr(per_example, "BLOCK_NUMBERS", block)
    network, features, labels = network_and_people()
    found = torch.cat(list(PerExample(network, LOSS).rows(features, labels)))
    torch.testing.assert_close(found, one_by_one(network, features, labels), **TOLERANCE)


def test_parameters_that_are_not_trained_have_no_gradient():
    network, features, labels = network_and_people()
    network[0].weight.requires_grad_(False)
    gradients = PerExample(network, LOSS)
    found = torch.cat(list(gradients.rows(features, labels)))
    assert found.shape[1] == gradients.size == sum(each.numel() for each in network.parameters()) - 20
    torch.testing.assert_close(found, one_by_one(network, features, labels), **TOLERANCE)


def test_an_assigned_gradient_is_what_an_optimiser_sees():
    network, *_ = network_and_people()
    gradients = PerExample(network, LOSS)
    gradients.assign(torch.arange(gradients.size, dtype=torch.float64))
    seen = torch.cat([each.grad.flatten() for each in network.parameters()])
    assert seen.tolist() == list(range(gradients.size))


def test_convolutions_on_a_gpu_are_asked_for_one_result(monkeypatch):
    network, features, labels = network_and_people()
    gradients = PerExample(network, LOSS)
    seen = []
    real = gradients._gradients

    def watched(*arguments):
        seen.append((torch.backends.cudnn.deterministic, torch.backends.cudnn.benchmark))
        return real(*arguments)

    monkeypatch.setattr(gradients, "_gradients", watched)
    before = torch.backends.cudnn.deterministic, torch.backends.cudnn.benchmark, torch.backends.cudnn.enabled
    list(gradients.blocks(features, labels))
    assert seen == [(True, False)]
    assert before == (
        torch.backends.cudnn.deterministic,
        torch.backends.cudnn.benchmark,
        torch.backends.cudnn.enabled,
    )


def test_blocks_have_one_size_that_depends_on_the_network_alone(monkeypatch):
    network, features, labels = network_and_people()
    gradients = PerExample(network, LOSS, together=4)
    blocks = list(gradients.blocks(features, labels))
    assert [len(each) for each in blocks] == [4, 4]
    assert blocks[1][3:].abs().sum() == 0  # the row of nobody adds nothing to a sum
    assert blocks[1][:3].abs().sum(dim=1).min() > 0
    assert not list(gradients.blocks(features[:0], labels[:0]))
    monkeypatch.setattr(per_example, "BLOCK_NUMBERS", 7 * gradients.size)
    assert PerExample(network, LOSS).rows_in_block == 4  # a power of two, also where memory is short
    with pytest.raises(InputError, match="Expected together as a power of two, got 100; other sizes make rows depend"):
        PerExample(network, LOSS, together=100)
    with pytest.raises(InputError, match="Expected together as a whole number of at least 1, got 0; a power of two"):
        PerExample(network, LOSS, together=0)


def test_tied_parameters_count_once_and_buffers_are_used():
    torch.manual_seed(10)

    class Tied(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = torch.nn.Linear(5, 5), torch.nn.Linear(5, 5)
            self.second.weight = self.first.weight
            self.register_buffer("scale", torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0]))

        def forward(self, x):
            return self.second(torch.tanh(self.first(x))) * self.scale

    network, features, labels = Tied().double(), torch.randn(9, 5, dtype=torch.float64), torch.randint(0, 5, (9,))
    gradients = PerExample(network, LOSS)
    assert gradients.size == 25 + 5 + 5
    found = torch.cat(list(gradients.rows(features, labels)))
    torch.testing.assert_close(found, one_by_one(network, features, labels), **TOLERANCE)


def test_layers_that_draw_at_random_are_refused_unless_they_do_not():
    network = torch.nn.Sequential(torch.nn.Linear(5, 4), torch.nn.Dropout(0.5), torch.nn.Linear(4, 3)).double()
    _, features, labels = network_and_people()
    with pytest.raises(InputError, match="Expected a network that draws nothing at random, got one that does .*eval"):
        list(PerExample(network, LOSS).blocks(features, labels))
    assert len(next(PerExample(network.eval(), LOSS).rows(features, labels))) == 7


def test_layers_in_which_people_meet_are_refused():
    with pytest.raises(InputError, match="got BatchNorm1d in '1', whose output for one person depends on others; use"):
        PerExample(torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2)), LOSS)
    with pytest.raises(InputError, match="Expected a network with parameters to train, got none; set requires_grad"):
        PerExample(torch.nn.ReLU(), LOSS)


def test_the_network_of_the_paper_has_26010_parameters():
    network = paper_cnn()
    assert sum(each.numel() for each in network.parameters()) == 26_010
    assert network(torch.zeros(2, 1, 28, 28)).shape == (2, 10)
