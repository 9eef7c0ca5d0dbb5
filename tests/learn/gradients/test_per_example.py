"""Gradients of single people, against torch's own, one person at a time."""

import subprocess
import sys

import pytest
import torch
from torch import nn

from bipartite.errors import InputError
from bipartite.learn import PerExample, paper_cnn
from bipartite.learn.gradients import per_example

from .networks import NETWORKS, made, one_by_one, people_of, ways

LOSS = nn.functional.cross_entropy
# Loops differ from torch in the last bits of doubles; exact products keep about 22 bits of the largest number of a row.
TOLERANCES = {"compiled": 1e-12, "exact": 1e-5}


@pytest.mark.parametrize("way", TOLERANCES)
@pytest.mark.parametrize("name", NETWORKS)
def test_rows_are_the_gradients_of_single_people(name, way):
    network, shape = made(name)
    features, labels = people_of(shape, 9)
    found = ways(network, shape)[way].rows(features, labels)
    torch.testing.assert_close(found, one_by_one(network, features, labels), rtol=0, atol=TOLERANCES[way])


@pytest.mark.parametrize("way", TOLERANCES)
@pytest.mark.parametrize("outputs", [1, 3])
def test_squared_loss_takes_numbers(way, outputs):
    torch.manual_seed(3)
    network = nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, outputs)).double()
    features, targets = torch.randn(6, 5, dtype=torch.float64), torch.randn(6, outputs, dtype=torch.float64)
    wanted = one_by_one(network, features, targets, nn.functional.mse_loss)
    torch.testing.assert_close(ways(network, (5,))[way].rows(features, targets), wanted, rtol=0, atol=TOLERANCES[way])
    if outputs == 1:  # one number for each person needs no second axis
        found = torch.cat(list(PerExample(network, nn.functional.mse_loss).blocks(features, targets[:, 0])))
        torch.testing.assert_close(found, wanted, rtol=0, atol=TOLERANCES["compiled"])


@pytest.mark.parametrize("way", TOLERANCES)
def test_parameters_that_are_not_trained_have_no_gradient(way):
    network, shape = made("every layer")
    network[0].weight.requires_grad_(False)
    network[1].bias.requires_grad_(False)
    network[-1][0].weight.requires_grad_(False)
    features, labels = people_of(shape, 4)
    found = ways(network, shape)[way].rows(features, labels)
    wanted = one_by_one(network, features, labels)
    assert found.shape[1] == PerExample(network, LOSS).size == wanted.shape[1]
    torch.testing.assert_close(found, wanted, rtol=0, atol=TOLERANCES[way])


@pytest.mark.parametrize("way", TOLERANCES)
def test_layers_before_the_first_that_is_trained_cost_nothing_and_change_nothing(way):
    network, shape = made("dense")
    network[0].weight.requires_grad_(False)
    network[0].bias.requires_grad_(False)
    features, labels = people_of(shape, 4)
    found = ways(network, shape)[way].rows(features, labels)
    torch.testing.assert_close(found, one_by_one(network, features, labels), rtol=0, atol=TOLERANCES[way])


@pytest.mark.parametrize("scale", [1e-300, 1e-20, 1e20])
def test_numbers_of_any_size_keep_their_digits(scale):
    torch.manual_seed(4)
    network = nn.Linear(7, 3).double()
    features, labels = scale * torch.randn(5, 7, dtype=torch.float64), torch.randint(0, 3, (5,))
    wanted = one_by_one(network, features, labels)
    for way, rows in ways(network, (7,)).items():
        found = rows.rows(features, labels)
        torch.testing.assert_close(found / scale, wanted / scale, rtol=TOLERANCES[way], atol=1e-200)


def test_a_cpu_takes_compiled_rows_and_without_numba_exact_products(monkeypatch):
    network, shape = made("every layer")
    features, labels = people_of(shape, 5)
    both = {name: each.rows(features, labels) for name, each in ways(network, shape).items()}
    assert not torch.equal(both["compiled"], both["exact"])
    assert torch.equal(torch.cat(list(PerExample(network, LOSS).blocks(features, labels))), both["compiled"])
    monkeypatch.setattr(per_example, "find_spec", lambda _: None)
    assert torch.equal(torch.cat(list(PerExample(network, LOSS).blocks(features, labels))), both["exact"])


def test_blocks_are_as_many_rows_as_fit(monkeypatch):
    network, shape = made("dense")
    features, labels = people_of(shape, 7)
    gradients = PerExample(network, LOSS)
    together = torch.cat(list(gradients.blocks(features, labels)))
    for numbers, sizes in ((3 * gradients.size, [3, 3, 1]), (1, [1] * 7)):
        monkeypatch.setattr(per_example, "_BLOCK_NUMBERS", {"cpu": numbers})
        blocks = list(gradients.blocks(features, labels))
        assert [len(each) for each in blocks] == sizes
        assert torch.equal(torch.cat(blocks), together)
    assert not list(gradients.blocks(features[:0], labels[:0]))
    assert gradients.clipped_sum(features[:0], labels[:0], 1.0, 10).tolist() == [0] * gradients.size


def test_an_assigned_gradient_is_what_an_optimiser_sees():
    network, _ = made("dense", torch.float32)
    gradients = PerExample(network, LOSS)
    gradients.assign(torch.arange(gradients.size, dtype=torch.float64))
    seen = torch.cat([each.grad.flatten() for each in network.parameters()])
    assert seen.tolist() == list(range(gradients.size))


class Twice(nn.Linear):
    def forward(self, x):
        return super().forward(x) * 2


def shared():
    layer = nn.Linear(4, 4)
    other = nn.Linear(4, 4)
    other.weight = layer.weight
    return nn.Sequential(layer, other)


def tied():
    layer = nn.GroupNorm(2, 4)
    layer.bias = layer.weight
    return nn.Sequential(layer)


def twice():
    layer = nn.Linear(4, 4)
    return nn.Sequential(layer, nn.ReLU(), layer)


def more():
    """Nobody would write this parameter's part of a row: it would be whatever memory held, others' rows perhaps."""
    layer = nn.Linear(4, 4)
    layer.extra = nn.Parameter(torch.zeros(9))
    return nn.Sequential(layer)


def activation_with_weight():
    layer = nn.Tanh()
    layer.weight = nn.Parameter(torch.zeros(9))
    return nn.Sequential(nn.Linear(4, 4), layer)


def within():
    layer = nn.Linear(4, 4)
    layer.other = nn.Linear(2, 1, bias=False)
    return nn.Sequential(layer)


def resized():
    layer = nn.Linear(4, 4)
    layer.weight = nn.Parameter(torch.zeros(9, 4))
    return nn.Sequential(layer)


def without():
    layer = nn.Linear(4, 4)
    layer.weight = None
    return nn.Sequential(layer)


def replaced():
    layer = nn.Linear(4, 4)
    layer.forward = lambda x: x
    return nn.Sequential(layer)


def hooked():
    layer = nn.Linear(4, 4)
    layer.register_forward_hook(lambda *_: None)
    return nn.Sequential(layer)


def beside():
    network = nn.Sequential(nn.Linear(4, 4))
    network.extra = nn.Parameter(torch.zeros(1))
    return network


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: nn.Sequential(nn.Linear(4, 4), nn.Sequential(nn.LayerNorm(4))), "LayerNorm in '1.0'"),
        (lambda: Twice(4, 4), "Twice"),
        (lambda: nn.Sequential(nn.Conv2d(2, 2, 3, groups=2, dilation=2)), "Conv2d.groups=2, dilation=.2, 2.. in '0'"),
        (lambda: nn.Sequential(nn.Linear(4, 4), nn.GELU()), "GELU.approximate='none'. in '1'"),
        (lambda: nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5)), "Dropout.training=True. in '1'"),
        (lambda: nn.Sequential(nn.Linear(4, 4), nn.MaxPool2d(2, padding=1)), "MaxPool2d.padding=1. in '1'"),
        (lambda: nn.Sequential(nn.Linear(4, 4), nn.AvgPool2d(2, ceil_mode=True)), "AvgPool2d.ceil_mode=True. in '1'"),
        (shared, "a parameter that is used twice"),
        (tied, "a parameter that is used twice"),
        (twice, "a parameter that is used twice"),
        (more, "Linear with extra of shape .9,. in '0'"),
        (activation_with_weight, "Tanh with weight of shape .9,. in '1'"),
        (within, "Linear with other.weight of shape .1, 2. in '0'"),
        (resized, "Linear with weight of shape .9, 4. in '0'"),
        (without, "Linear with no weight in '0'"),
        (replaced, "a forward.. of its own on Linear in '0'"),
        (hooked, "a hook on Linear in '0'"),
        (beside, "parameters outside of its layers"),
    ],
    ids=[
        "layer",
        "subclass",
        "options",
        "gelu",
        "dropout",
        "max",
        "mean",
        "shared",
        "tied",
        "twice",
        "more",
        "activation",
        "within",
        "resized",
        "without",
        "forward",
        "hook",
        "beside",
    ],
)
def test_what_is_not_known_is_named_beside_what_is(make, said):
    gradients = PerExample(make(), LOSS)
    known = "known are Linear, Conv2d, .* with cross_entropy or mse_loss. Use these, or allow_unproved=True"
    with pytest.raises(InputError, match=f"proved to be each person's alone, got {said}; {known}"):
        gradients.must_be_known()


def test_a_layer_without_parameters_may_be_there_twice():
    torch.manual_seed(5)
    act = nn.Tanh()
    network = nn.Sequential(nn.Linear(5, 4), act, nn.Linear(4, 4), act, nn.Linear(4, 3)).double()
    features, labels = torch.randn(7, 5, dtype=torch.float64), torch.randint(0, 3, (7,))
    (found,) = PerExample(network, LOSS).blocks(features, labels)
    torch.testing.assert_close(found, one_by_one(network, features, labels), rtol=1e-10, atol=1e-12)


def test_losses_that_are_not_known_are_named():
    network = nn.Linear(4, 4)
    for loss in (LOSS, nn.CrossEntropyLoss(), nn.MSELoss(), nn.functional.mse_loss):
        PerExample(network, loss).must_be_known()
    for loss, said in (
        (lambda output, _: output.sum(), "the loss <lambda>"),
        (nn.CrossEntropyLoss(weight=torch.ones(4)), "the loss CrossEntropyLoss"),
        (nn.CrossEntropyLoss(label_smoothing=0.1), "the loss CrossEntropyLoss"),
        (nn.MSELoss(reduction="sum"), "the loss MSELoss"),
    ):
        with pytest.raises(InputError, match=f"got {said}; known"):
            PerExample(network, loss).must_be_known()


def test_dropout_that_does_nothing_is_known():
    network = nn.Sequential(nn.Linear(4, 3), nn.Dropout(0.5)).eval()
    PerExample(network, LOSS).must_be_known()


def test_a_network_that_is_not_known_is_computed_by_torch():
    torch.manual_seed(5)
    network = nn.Sequential(nn.Linear(5, 4), nn.LayerNorm(4), nn.GELU(), nn.Linear(4, 3)).double()
    features, labels = torch.randn(7, 5, dtype=torch.float64), torch.randint(0, 3, (7,))
    found = torch.cat(list(PerExample(network, LOSS).blocks(features, labels)))
    torch.testing.assert_close(found, one_by_one(network, features, labels), rtol=1e-10, atol=1e-12)


def test_layers_that_draw_at_random_are_refused_unless_they_do_not():
    network = nn.Sequential(nn.Linear(5, 4), nn.Dropout(0.5), nn.Linear(4, 3)).double()
    features, labels = torch.randn(7, 5, dtype=torch.float64), torch.randint(0, 3, (7,))
    with pytest.raises(InputError, match="Expected a network that draws nothing at random, got one that does .*eval"):
        list(PerExample(network, LOSS).blocks(features, labels))
    assert len(next(PerExample(network.eval(), LOSS).blocks(features, labels))) == 7


def test_layers_in_which_people_meet_are_refused():
    with pytest.raises(InputError, match="got BatchNorm1d in '1', whose output for one person depends on others; use"):
        PerExample(nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)), LOSS)
    with pytest.raises(InputError, match="Expected a network with parameters to train, got none; set requires_grad"):
        PerExample(nn.ReLU(), LOSS)


@pytest.mark.parametrize(
    ("make", "shape"),
    [
        (lambda: nn.Linear(5, 3), (4,)),
        (lambda: nn.Linear(5, 3), (2, 5)),
        (lambda: nn.Sequential(nn.Conv2d(2, 3, 3), nn.Flatten(), nn.Linear(3, 3)), (1, 3, 3)),
        (lambda: nn.Sequential(nn.Conv2d(1, 3, 5), nn.Flatten(), nn.Linear(3, 3)), (1, 3, 3)),
        (lambda: nn.Sequential(nn.MaxPool2d(2), nn.Linear(3, 3)), (4,)),
        (lambda: nn.Sequential(nn.ZeroPad2d(2), nn.Linear(3, 3)), (4,)),
        (lambda: nn.Sequential(nn.GroupNorm(2, 4), nn.Linear(6, 3)), (6,)),
        (lambda: nn.Sequential(nn.Flatten(2), nn.Linear(6, 3)), (1, 2, 3)),
        (lambda: nn.Sequential(nn.Unflatten(1, (2, 3)), nn.Linear(6, 3)), (6,)),
    ],
)
def test_features_that_do_not_fit_are_refused_by_their_shape(make, shape):
    with pytest.raises(InputError, match="Expected features that fit the network, got shape .* for one person at "):
        list(PerExample(make(), LOSS).blocks(torch.zeros(2, *shape), torch.zeros(2, dtype=torch.long)))


def test_numbers_of_any_kind_and_layout_are_taken():
    network = nn.Sequential(nn.Linear(3, 2)).double()
    features, targets = torch.arange(12.0).reshape(4, 3).double(), torch.arange(8.0).reshape(4, 2).double()
    for loss, labels in ((LOSS, torch.tensor([0, 1, 1, 0])), (nn.functional.mse_loss, targets)):
        gradients = PerExample(network, loss)
        (wanted,) = gradients.blocks(features, labels)
        for kind in (torch.float16, torch.bfloat16, torch.float32, torch.int64, torch.uint8):
            here = labels.to(kind) if labels.is_floating_point() == kind.is_floating_point else labels
            assert torch.equal(*gradients.blocks(features.to(kind), here), wanted), kind
        turned = labels.T.contiguous().T if labels.dim() > 1 else labels.repeat_interleave(2)[::2]
        assert torch.equal(*gradients.blocks(features.T.contiguous().T, turned), wanted)


def test_negative_padding_is_refused():
    network = nn.Sequential(nn.ZeroPad2d(-1), nn.Flatten(), nn.Linear(4, 2))
    with pytest.raises(InputError, match="Expected padding of at least 0, got a negative number; cut the pictures"):
        list(PerExample(network, LOSS).blocks(torch.zeros(1, 1, 4, 4), torch.zeros(1, dtype=torch.long)))


@pytest.mark.parametrize(
    ("labels", "loss", "said"),
    [
        (torch.tensor([0, 1, 77]), LOSS, "Expected a class from 0 to 1 for each row, got labels of shape .3,. that"),
        (torch.tensor([0, -5, 1]), LOSS, "labels are not shown. See that they are in range."),
        (torch.tensor([0.0, 1.0, 1.0]), LOSS, "Expected a class from 0 to 1"),
        (torch.tensor([0, 1, 1]), nn.functional.mse_loss, "Expected 2 numbers in floating point .* got int64 of shape"),
        (torch.zeros(3, 3), nn.functional.mse_loss, "as the target of each row, one for each output, got float32"),
    ],
)
def test_labels_that_do_not_fit_are_refused_and_not_shown(labels, loss, said):
    with pytest.raises(InputError, match=said) as caught:
        list(PerExample(nn.Linear(4, 2), loss).blocks(torch.zeros(3, 4), labels))
    assert "77" not in str(caught.value) and "-5" not in str(caught.value)


def test_flushed_subnormal_numbers_are_refused():
    """Where one thread takes them for zero and another does not, a row depends on who computes it."""
    if not torch.set_flush_denormal(True):
        pytest.skip("this processor cannot flush subnormal numbers")
    try:
        with pytest.raises(InputError, match="Expected IEEE arithmetic, got .* call torch.set_flush_denormal.False."):
            list(PerExample(nn.Linear(2, 2), LOSS).blocks(torch.zeros(1, 2), torch.zeros(1, dtype=torch.long)))
    finally:
        torch.set_flush_denormal(False)


def test_one_thread_that_flushes_subnormal_numbers_is_found():
    """Threads keep the setting that was there when they began; this one asks others, not itself."""
    script = """
import torch
torch.set_num_threads(3)
if not torch.set_flush_denormal(True):
    raise SystemExit(3)
torch.ones(10**6, dtype=torch.float64) * 2
torch.set_flush_denormal(False)
if torch.tensor(5e-324, dtype=torch.float64) * 1.0 == 0:
    raise SystemExit("this thread flushes")
from bipartite.learn import PerExample
list(PerExample(torch.nn.Linear(2, 2), torch.nn.functional.cross_entropy).blocks(torch.zeros(1, 2), torch.tensor([0])))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300, check=False)
    if done.returncode == 3:
        pytest.skip("this processor cannot flush subnormal numbers")
    assert done.stderr.endswith("only; call torch.set_flush_denormal(False) before torch computes anything.\n")


def test_the_network_of_the_paper_has_26010_parameters():
    network = paper_cnn()
    assert sum(each.numel() for each in network.parameters()) == 26_010
    assert network(torch.zeros(2, 1, 28, 28)).shape == (2, 10)
