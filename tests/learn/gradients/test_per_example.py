"""Gradients of single people, against torch's own, one person at a time."""

import subprocess
import sys

import pytest
import torch
from torch import nn

from bipartite.errors import InputError
from bipartite.learn import PerExample
from bipartite.learn.gradients import operations, per_example

from .networks import NETWORKS, made, one_by_one, people_of, rows_of

LOSS = nn.functional.cross_entropy
# Products keep about 22 bits of the largest number of a row.
CLOSE = {"rtol": 0, "atol": 1e-5}


@pytest.mark.parametrize("name", NETWORKS)
def test_rows_are_the_gradients_of_single_people(name):
    network, shape = made(name)
    features, labels = people_of(shape, 9)
    torch.testing.assert_close(rows_of(network)(features, labels), one_by_one(network, features, labels), **CLOSE)


LOSSES = [
    nn.MSELoss(), nn.MSELoss(reduction="sum"), nn.L1Loss(), nn.SmoothL1Loss(), nn.BCEWithLogitsLoss(),
    nn.CrossEntropyLoss(), lambda output, wanted: (output - wanted).abs().sum(),
    lambda output, wanted: (1 - torch.exp(-nn.functional.mse_loss(output, wanted))) * 2 + 1 / (1 + output.mean()**2),
]  # fmt: skip


@pytest.mark.parametrize("loss", LOSSES, ids=range(len(LOSSES)))
@pytest.mark.parametrize("outputs", [1, 3])
def test_losses_of_numbers(loss, outputs):
    torch.manual_seed(3)
    network = nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, outputs)).double()
    features, targets = torch.randn(6, 5, dtype=torch.float64), torch.rand(6, outputs, dtype=torch.float64)
    wanted = one_by_one(network, features, targets, loss)
    torch.testing.assert_close(rows_of(network, loss)(features, targets), wanted, **CLOSE)
    if outputs == 1:  # one number for each person needs no second axis
        torch.testing.assert_close(rows_of(network, loss)(features, targets[:, 0]), wanted, **CLOSE)


def test_classes_may_be_smoothed():
    network, shape = made("dense")
    features, labels = people_of(shape, 5)
    loss = nn.CrossEntropyLoss(label_smoothing=0.1)
    torch.testing.assert_close(
        rows_of(network, loss)(features, labels), one_by_one(network, features, labels, loss), **CLOSE
    )


class Warm(nn.Module):
    """A number of its own, and people who are a number each."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(0.7))

    def forward(self, x):
        return self.scale * x[:, None] * torch.arange(3, device=x.device)


def test_single_numbers_need_no_axis():
    network, features, labels = Warm().double(), torch.linspace(-1, 1, 5).double(), torch.arange(5) % 3
    torch.testing.assert_close(rows_of(network)(features, labels), one_by_one(network, features, labels), **CLOSE)


def test_parameters_that_are_not_trained_have_no_gradient():
    network, shape = made("every layer")
    network[0].weight.requires_grad_(False)
    network[1].bias.requires_grad_(False)
    network[-1][0].weight.requires_grad_(False)
    features, labels = people_of(shape, 4)
    found, wanted = rows_of(network)(features, labels), one_by_one(network, features, labels)
    assert found.shape[1] == PerExample(network, LOSS).size == wanted.shape[1]
    torch.testing.assert_close(found, wanted, **CLOSE)


@pytest.mark.parametrize("scale", [1e-300, 1e-20, 1e20])
def test_numbers_of_any_size_keep_their_digits(scale):
    torch.manual_seed(4)
    network = nn.Linear(7, 3).double()
    features, labels = scale * torch.randn(5, 7, dtype=torch.float64), torch.randint(0, 3, (5,))
    wanted = one_by_one(network, features, labels)
    torch.testing.assert_close(rows_of(network)(features, labels) / scale, wanted / scale, rtol=1e-5, atol=1e-200)


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


def test_a_row_is_computed_with_the_weights_of_now():
    network, shape = made("dense")
    features, labels = people_of(shape, 3)
    rows = rows_of(network)
    before = rows(features, labels)
    with torch.no_grad():
        network[-3].weight.mul_(2)
    after = rows(features, labels)
    assert not torch.equal(before, after)
    torch.testing.assert_close(after, one_by_one(network, features, labels), **CLOSE)


def test_a_network_that_changed_is_read_again_or_refused():
    network = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Dropout(0.5), nn.Linear(4, 3)).double().eval()
    features, labels = torch.ones(2, 4, dtype=torch.float64), torch.tensor([0, 1])
    rows = rows_of(network)
    rows(features, labels)
    network[1] = nn.ReLU()
    torch.testing.assert_close(rows(features, labels), one_by_one(network, features, labels), **CLOSE)
    network.train()
    with pytest.raises(InputError, match="draws at random"):
        rows(features, labels)
    network.eval()[3] = nn.Linear(4, 3).double()
    with pytest.raises(InputError, match="Expected the parameters that were there before, got others to train; make a"):
        rows(features, labels)
    rows = rows_of(network)
    network[0].weight.requires_grad_(False)
    with pytest.raises(InputError, match="Expected the parameters that were there before, got others to train; make a"):
        rows(features, labels)


def test_blocks_have_room_for_what_is_wider_than_a_row(monkeypatch):
    """A gradient of 50 numbers may need pictures of thousands."""
    network = nn.Sequential(nn.Conv2d(1, 2, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2, 3)).double()
    features, labels = torch.ones(6, 1, 20, 20, dtype=torch.float64), torch.zeros(6, dtype=torch.int64)
    monkeypatch.setattr(per_example, "_BLOCK_NUMBERS", {"cpu": 3 * 9 * 18 * 18})
    assert [len(each) for each in PerExample(network, LOSS).blocks(features, labels)] == [3, 3]


def test_targets_of_another_shape_are_not_reshaped():
    with pytest.raises(InputError, match="Using a target size"):
        rows_of(nn.Sequential(nn.Linear(4, 6), nn.Unflatten(1, (3, 2))), nn.MSELoss())(
            torch.ones(5, 4), torch.ones(5, 2, 3)
        )


# --- networks that earlier ways had to refuse ---


class Doubled(nn.Linear):
    def forward(self, x):
        return super().forward(x) * 2


def shared():
    layer, other = nn.Linear(4, 4), nn.Linear(4, 4)
    other.weight = layer.weight
    return nn.Sequential(layer, other)


def twice():
    layer = nn.Linear(4, 4)
    return nn.Sequential(layer, nn.ReLU(), layer)


def tied():
    layer = nn.GroupNorm(2, 4)
    layer.bias = layer.weight
    return nn.Sequential(nn.Linear(4, 4), layer)


def hooked():
    layer = nn.Linear(4, 4)
    layer.register_forward_hook(lambda _module, _given, output: output * 3)
    return nn.Sequential(layer)


class Beside(nn.Linear):
    """A parameter that no output needs: its part of a row is zero."""

    def __init__(self):
        super().__init__(4, 4)
        self.unused = nn.Parameter(torch.ones(9))


@pytest.mark.parametrize(
    "make", [lambda: Doubled(4, 4), shared, twice, tied, hooked], ids=["own", "shared", "twice", "tied", "hook"]
)
def test_any_network_of_known_operations_has_its_rows(make):
    torch.manual_seed(6)
    network = make().double()
    features, labels = torch.randn(5, 4, dtype=torch.float64), torch.tensor([0, 1, 2, 3, 3])
    wanted = one_by_one(network, features, labels)
    torch.testing.assert_close(rows_of(network)(features, labels), wanted, **CLOSE)
    torch.testing.assert_close(one_by_one(network, features, labels), wanted)  # the network is as it was


def test_a_parameter_that_is_not_used_has_a_gradient_of_zero():
    rows = rows_of(Beside().double())(torch.ones(2, 4), torch.tensor([0, 1]))
    assert rows.shape == (2, 29) and not rows[:, 20:].any() and rows[:, :20].any()


# --- refusals ---


class Added(nn.Linear):
    """a + 3b may be one fused operation, or two."""

    def forward(self, x):
        return torch.add(super().forward(x), super().forward(x), alpha=3)


class AddedByPlace(nn.Linear):
    def forward(self, x):
        return torch.ops.aten.sub.Scalar(super().forward(x), 1.5, 3)


class Cast(nn.Linear):
    def forward(self, x):
        return super().forward(x) + x.float().sum()


class Looking(nn.Linear):
    def forward(self, x):
        return super().forward(x) if x.sum() > 0 else super().forward(-x)


class Power(nn.Linear):
    def forward(self, x):
        return super().forward(x) ** 0.3


class Words(nn.Module):
    def __init__(self, **options):
        super().__init__()
        self.words = nn.Embedding(9, 2, **options)

    def forward(self, x):
        return self.words(x.long()).flatten(1)


def pictures(*layers):
    return nn.Sequential(nn.Linear(4, 4), nn.Unflatten(1, (1, 2, 2)), *layers, nn.Flatten())


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: nn.Sequential(nn.Linear(4, 4), nn.Softshrink()), r"aten\.softshrink\.default"),
        (lambda: Added(4, 4), r"aten\.add\.Tensor"),
        (lambda: AddedByPlace(4, 4), r"aten\.sub\.Scalar"),
        (lambda: Cast(4, 4), "_to_copy.default in float32; compute in the type of the features, as x"),
        (lambda: Power(4, 4), r"a power of 0\.3"),
        (lambda: nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5)), "bernoulli.*, which draws at random; leave"),
        (lambda: pictures(nn.Conv2d(1, 3, 2, dilation=2, padding=1)), r"convolution with dilation=\{2\}"),
        (lambda: pictures(nn.ConvTranspose2d(1, 3, 2)), "convolution with transposed=True"),
        (lambda: nn.Sequential(nn.Unflatten(1, (1, 2, 2, 1)), nn.Conv3d(1, 4, (2, 2, 1)), nn.Flatten()), "over 3 axes"),
        (lambda: pictures(nn.MaxPool2d(2, stride=1, ceil_mode=True)), "max_pool2d with ceil_mode=True"),
        (lambda: pictures(nn.AvgPool2d(2, ceil_mode=True)), "avg_pool2d with ceil_mode=True"),
        (
            lambda: pictures(nn.AvgPool2d(2, padding=1, count_include_pad=False)),
            "avg_pool2d with count_include_pad=False",
        ),
        (lambda: pictures(nn.AvgPool2d(2, divisor_override=3)), "avg_pool2d with divisor_override=3"),
        (lambda: Words(scale_grad_by_freq=True), "embedding with scale_grad_by_freq=True"),
        (lambda: nn.TransformerEncoderLayer(4, 2, 4), "bernoulli.*, which draws at random; leave"),
    ],
    ids=[
        "function", "fused", "by place", "float32", "power", "dropout", "dilation", "transposed", "three axes", "max",
        "mean", "mean beside edges", "divisor", "frequency", "attention",
    ],
)  # fmt: skip
def test_operations_that_are_not_known_are_refused_by_name(make, said):
    with pytest.raises(
        InputError,
        match="Expected operations whose results no order of computing can change, so that a row is proved to be one "
        f"person's alone, got .*{said}.* Use another layer, or write this one .*; docs/one-persons-row.md lists",
    ):
        rows_of(make())(torch.ones(3, 4), torch.tensor([0, 1, 2]))


def test_an_operation_that_torch_renames_is_refused(monkeypatch):
    """Names carry the types of their arguments: the same operation under another name is another operation."""
    network, shape = made("dense")
    features, labels = people_of(shape, 3)
    rows_of(network)(features, labels)
    for table in ("KNOWN", "REPLACED"):
        for operation in (torch.ops.aten.mul.Tensor, torch.ops.aten.mm.default, torch.ops.aten.bmm.default):
            old = getattr(operations, table)
            if operation in old:
                fewer = (
                    {each: old[each] for each in old if each != operation} if table == "REPLACED" else old - {operation}
                )
                monkeypatch.setattr(operations, table, fewer)
                with pytest.raises(InputError, match="no order of computing can change"):
                    rows_of(network)(features, labels)
                monkeypatch.setattr(operations, table, old)


def test_dropout_that_does_nothing_is_known():
    network = nn.Sequential(nn.Linear(4, 3), nn.Dropout(0.5)).eval()
    assert len(rows_of(network)(torch.ones(2, 4), torch.tensor([0, 1]))) == 2


def test_layers_in_which_people_meet_are_refused():
    with pytest.raises(InputError, match="got BatchNorm1d in '1', whose output for one person depends on others; use"):
        PerExample(nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)), LOSS)
    with pytest.raises(InputError, match="Expected a network with parameters to train, got none; set requires_grad"):
        PerExample(nn.ReLU(), LOSS)


@pytest.mark.parametrize(
    ("make", "shape", "labels", "loss", "said"),
    [
        (lambda: nn.Linear(5, 3), (4,), torch.zeros(2).long(), LOSS, "of shape .4,. and labels of shape .. for one"),
        (
            lambda: nn.Linear(4, 3),
            (4,),
            torch.zeros(2),
            LOSS,
            "ones that fail on zeros in doubles: .*dtype int32/int64",
        ),
        (lambda: nn.Linear(4, 3), (4,), torch.zeros(2, 2), nn.MSELoss(), "labels of shape .2,. .* Using a target size"),
        (lambda: Looking(4, 3), (4,), torch.zeros(2).long(), LOSS, "forward looks at a value, by if or .item"),
        (lambda: nn.Conv2d(2, 3, 3), (1, 3, 3), torch.zeros(2).long(), LOSS, "features of shape .1, 3, 3."),
    ],
)
def test_people_that_do_not_fit_are_refused_by_their_shapes(make, shape, labels, loss, said):
    with pytest.raises(InputError, match=f"Expected a network and a loss that fit .*{said}"):
        rows_of(make(), loss)(torch.full((2, *shape), 77.0), labels)


def test_numbers_of_any_kind_and_layout_are_taken():
    network = nn.Sequential(nn.Linear(3, 2)).double()
    features, targets = torch.arange(12.0).reshape(4, 3).double(), torch.arange(8.0).reshape(4, 2).double()
    for loss, labels in ((LOSS, torch.tensor([0, 1, 1, 0])), (nn.functional.mse_loss, targets)):
        rows = rows_of(network, loss)
        wanted = rows(features, labels)
        for kind in (torch.float16, torch.bfloat16, torch.float32, torch.int64, torch.uint8):
            here = labels.to(kind) if labels.is_floating_point() == kind.is_floating_point else labels
            assert torch.equal(rows(features.to(kind), here), wanted), kind
        turned = labels.T.contiguous().T if labels.dim() > 1 else labels.repeat_interleave(2)[::2]
        assert torch.equal(rows(features.T.contiguous().T, turned), wanted)


@pytest.mark.parametrize("labels", [torch.tensor([0, 1, 77]), torch.tensor([0, -5, 1])])
def test_labels_out_of_range_are_refused_and_not_shown(labels):
    with pytest.raises(InputError, match="Expected classes from 0 to 1 as labels, got others, .* labels are not shown"):
        rows_of(nn.Linear(4, 2))(torch.zeros(3, 4), labels)


def test_look_ups_out_of_range_are_refused_and_not_shown():
    with pytest.raises(InputError, match="at least for somebody; values are not shown. See that all numbers") as caught:
        rows_of(Words())(torch.tensor([[1, 2], [77, 3]]), torch.tensor([0, 1]))
    seen = caught.value
    while seen is not None:
        assert "77" not in str(seen)
        seen = seen.__cause__ or seen.__context__


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
