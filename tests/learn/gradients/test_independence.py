"""One person's row is the same to the bit whoever else is there, in the blocks that the measurement chose."""

import threading

import pytest
import torch

import bipartite as bp
from bipartite.errors import InputError
from bipartite.learn import LaplaceSGD, LocalSGD, train_privately
from bipartite.learn.gradients import per_example
from bipartite.learn.gradients.independence import independent
from bipartite.learn.gradients.networks import paper_cnn
from bipartite.learn.gradients.one_thread import one_thread
from bipartite.learn.gradients.per_example import PerExample
from bipartite.learn.gradients.whole import MOST_STEPS, whole_rows, whole_sum

LOSS = torch.nn.functional.cross_entropy
PLAN = LaplaceSGD(50.0, 1.0, 1, 1.0)


def small_cnn():
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 4, 3, stride=2), torch.nn.Tanh(), torch.nn.Flatten(), torch.nn.Linear(36, 10)
    )


def odd():
    """Layers of 7 and 3 numbers, which no vector of a processor divides; blocks of 256 fail on AMD in doubles."""
    return torch.nn.Sequential(
        torch.nn.Flatten(), torch.nn.Linear(64, 7), torch.nn.Tanh(), torch.nn.Linear(7, 3), torch.nn.GELU(),
        torch.nn.Linear(3, 10),
    )  # fmt: skip


def softmax():
    """Rows of 49 numbers begin anywhere in a line of memory; blocks of 256 fail on AMD."""
    return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(64, 49), torch.nn.SiLU(), torch.nn.Linear(49, 10))


def people_like(kind, count=300, device="cpu"):
    features = torch.randn(count, 1, 8, 8, dtype=kind)
    return features.to(device), torch.randint(0, 10, (count,)).to(device)


def assert_company_does_not_matter(gradients, features, labels):
    """Rows, whole-numbered rows and sums, for arrangements that the measurement did not try."""
    people = len(features)

    def rows(which):
        return torch.cat(list(gradients.rows(features[which], labels[which])))

    def clipped(which):
        blocks = gradients.blocks(features[which], labels[which])
        with one_thread(features.device):
            return torch.cat([whole_rows(block, 0.5, MOST_STEPS, 2) for block in blocks])[: len(which)]

    everybody, clipped_everybody = rows(torch.arange(people)), clipped(torch.arange(people))
    mixed = torch.randperm(people)
    for which in ([5], [5, 6, 7], range(1, people), range(people - 1), mixed[: people * 5 // 6], mixed.flip(0)):
        chosen = torch.as_tensor(list(which))
        assert torch.equal(rows(chosen), everybody[chosen])
        assert torch.equal(clipped(chosen), clipped_everybody[chosen])
    # One person fewer takes away that person's row from the sum, and nothing else.
    gone = whole_sum(clipped_everybody) - whole_sum(clipped(torch.arange(1, people)))
    assert gone.tolist() == clipped_everybody[0].tolist()


@pytest.mark.parametrize("make", [small_cnn, odd, softmax])
@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
@pytest.mark.parametrize("together", [1, 256])
def test_a_row_is_the_same_to_the_bit_whoever_else_is_there(make, kind, together):
    torch.manual_seed(8)
    features, labels = people_like(kind)
    gradients, _ = independent(PerExample(make().to(kind), LOSS, together), features, labels)
    if gradients.rows_in_block == 1:  # slow
        features, labels = features[:30], labels[:30]
    assert_company_does_not_matter(gradients, features, labels)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("make", [small_cnn, odd, softmax])
@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
def test_on_a_gpu_rows_do_not_depend_on_company_to_the_bit(make, kind):
    torch.manual_seed(8)
    network = make().to("cuda", kind)
    features, labels = people_like(kind, device="cuda")
    gradients, said = independent(PerExample(network, LOSS), features, labels)
    assert torch.cuda.get_device_name() in said
    assert "one thread" not in said
    assert_company_does_not_matter(gradients, features, labels)


def test_somebody_without_a_number_spoils_no_other_row():
    torch.manual_seed(9)
    network, (features, labels) = small_cnn(), people_like(torch.float32, 20)
    gradients, _ = independent(PerExample(network, LOSS), features, labels)
    before = torch.cat(list(gradients.rows(features, labels)))
    features[3], features[11] = torch.nan, torch.inf
    after = torch.cat(list(gradients.rows(features, labels)))
    others = [each for each in range(20) if each not in {3, 11}]
    assert torch.equal(before[others], after[others])


# --- a stand-in for a processor on which rows depend on others ---


def kernel(monkeypatch, spoil):
    """Replace what computes blocks; ``spoil`` changes what it found, and ``seen`` are the features it was given."""
    real, seen = per_example._carefully, []

    def stand_in(compute, trained, fixed, features, labels):
        found = real(compute, trained, fixed, features, labels)
        seen.append(features)
        spoil(found, trained, features)
        return found

    monkeypatch.setattr(per_example, "_carefully", stand_in)
    return seen


def last_place(above):
    def spoil(found, trained, features):  # noqa: ARG001
        if len(features) > above:
            for each in found.values():
                each[-1] *= 1 + 2.0**-20

    return spoil


def company(above):
    def spoil(found, trained, features):  # noqa: ARG001
        if len(features) > above and (features.flatten(1).abs().sum(1) == 0).any():
            for each in found.values():
                each.mul_(1 + 2.0**-20)

    return spoil


def parity(above):
    """As alignment does: every other row is added up in another order."""

    def spoil(found, trained, features):  # noqa: ARG001
        if len(features) > above:
            for each in found.values():
                each[1::2] *= 1 + 2.0**-20

    return spoil


def weights(above):
    """Shows only where weights are not zero, as they are at first."""

    def spoil(found, trained, features):
        if len(features) > above and any(each.abs().sum() > 0 for each in trained.values()):
            for each in found.values():
                each[-1] *= 1 + 2.0**-20

    return spoil


@pytest.mark.parametrize("spoil", [last_place, company, parity, weights])
@pytest.mark.parametrize(("above", "chosen"), [(256, 256), (255, 64), (16, 16), (15, 4), (1, 1)])
def test_blocks_in_which_rows_depend_on_others_are_given_up_for_smaller_ones(spoil, above, chosen, monkeypatch):
    kernel(monkeypatch, spoil(above))
    network = torch.nn.Linear(64, 10)
    torch.nn.init.zeros_(network.weight)
    torch.nn.init.zeros_(network.bias)
    gradients, said = independent(PerExample(network, LOSS), torch.zeros(3, 64), torch.zeros(3, dtype=torch.long))
    # Another processor may need smaller blocks than the stand-in does, never larger ones.
    assert gradients.rows_in_block <= chosen
    assert ("each computed alone" if gradients.rows_in_block == 1 else f"blocks of {gradients.rows_in_block},") in said
    assert (" some did)" in said) == (gradients.rows_in_block < 256)


@pytest.mark.parametrize("together", [128, 8, 2])
def test_from_blocks_of_two_rows_are_computed_alone(together, monkeypatch):
    """A quarter of two is none: networks of 130,000 to 260,000 parameters, in blocks of 128, came there."""
    kernel(monkeypatch, last_place(1))
    features, labels = people_like(torch.float64, 3)
    gradients, said = independent(PerExample(odd().double(), LOSS, together), features, labels)
    assert gradients.rows_in_block == 1
    assert "each computed alone" in said


def test_what_was_measured_stands_in_the_guarantee_and_is_not_called_proved(monkeypatch):
    kernel(monkeypatch, last_place(1))
    features, labels = people_like(torch.float64, 40)
    for plan in (PLAN, LocalSGD(5.0, 0.1, 10)):
        promised = train_privately(
            odd().double(), features, labels, plan, people=40, optimizer=lambda ps: torch.optim.SGD(ps, lr=0.1),
        )  # fmt: skip
        where = f"CPU with {torch.backends.cpu.get_cpu_capability()}, one thread, float64, torch {torch.__version__}"
        said = (
            f"before training, on this machine ({where}), the gradients of 32 made-up people, each computed alone, "
            "changed in no bit with their place or company (in blocks of 256, 64, 16, 4 some did); other rows and "
            "later weights were not tried"
        )
        assert promised.measured == (said,)
        assert str(promised).splitlines()[-1] == f"measured, not proved: {said}"


def test_where_even_a_row_alone_changes_training_is_refused(monkeypatch):
    calls = []

    def spoil(found, trained, features):  # noqa: ARG001
        calls.append(1)
        for each in found.values():
            each.add_(len(calls) * 2.0**-20)

    kernel(monkeypatch, spoil)
    network = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(64, 10))
    features, labels = people_like(torch.float32, 9)
    before = network[1].weight.detach().clone()
    with pytest.raises(
        InputError,
        match="the same to the bit whoever else is there, got rows of made-up people that change .* even where each is "
        "computed alone .CPU with .*, so that nothing can be promised; look for a layer .* or in float64",
    ):
        train_privately(network, features, labels, PLAN, optimizer=lambda ps: torch.optim.SGD(ps, lr=0.1))
    assert torch.equal(network[1].weight, before)


def test_nothing_of_the_private_rows_is_looked_at_and_the_work_is_bounded(monkeypatch):
    seen = kernel(monkeypatch, last_place(256))
    torch.manual_seed(2)
    gradients = PerExample(torch.nn.Linear(64, 10), LOSS)
    # Values that no made-up person has, and labels that are no class.
    one, other = (
        independent(gradients, torch.full((5, 64), value), torch.full((5,), label))
        for value, label in ((777.0, 5000), (float("nan"), -3))
    )
    assert one[1] == other[1]
    assert not any((each == 777).any() for each in seen)
    half = len(seen) // 2
    for this, that in zip(seen[:half], seen[half:], strict=True):
        assert torch.equal(this.nan_to_num(), that.nan_to_num())
    if one[0].rows_in_block == 256:
        assert sum(map(len, seen[:half])) <= 7 * 256
    # Weights and the state of torch's generator stay as they were.
    torch.manual_seed(2)
    assert torch.equal(torch.nn.Linear(64, 10).weight, gradients.network.weight)
    assert torch.equal(torch.rand(3), _after_a_linear_layer())


def _after_a_linear_layer():
    torch.manual_seed(2)
    torch.nn.Linear(64, 10)
    return torch.rand(3)


class CodeAmongNumbers(torch.nn.Module):
    """The first feature, a number like the others, is a row of a table."""

    def __init__(self):
        super().__init__()
        self.table, self.layer = torch.nn.Embedding(5, 4), torch.nn.Linear(6, 2)

    def forward(self, x):
        return self.layer(torch.cat([self.table(x[:, 0].long()), x[:, 1:]], 1))


def probability():
    return torch.nn.Sequential(torch.nn.Linear(3, 1), torch.nn.Sigmoid())


def codes():
    return torch.nn.Sequential(torch.nn.Embedding(5, 4), torch.nn.Flatten(), torch.nn.Linear(12, 3))


NUMBERS, CLASSES = torch.zeros(2), torch.zeros(2, dtype=torch.long)
KINDS = pytest.mark.parametrize(
    ("make", "features", "labels", "loss", "tame"),
    [
        (lambda: torch.nn.Linear(3, 1), torch.zeros(2, 3), NUMBERS, lambda out, y: (out[:, 0] - y).square().mean(), 0),
        (
            lambda: torch.nn.Linear(3, 1), torch.zeros(2, 3), CLASSES.bool(),
            lambda out, y: torch.nn.functional.binary_cross_entropy_with_logits(out[:, 0], y.float()), 0,
        ),
        (codes, torch.zeros(2, 3, dtype=torch.long), CLASSES, LOSS, 0),
        # Nine outputs, of which labels may name three only.
        (lambda: torch.nn.Linear(3, 9), torch.zeros(2, 3), CLASSES, lambda out, y: LOSS(out[:, :3], y), 0),
        # No chance may be outside of 0 to 1, or no number.
        (
            probability, torch.zeros(2, 3), NUMBERS,
            lambda out, y: torch.nn.functional.binary_cross_entropy(out[:, 0], y), 1,
        ),
        (CodeAmongNumbers, torch.zeros(2, 3), CLASSES, LOSS, 1),
        (lambda: torch.nn.Linear(3, 2), torch.zeros(2, 3), CLASSES, torch.nn.CrossEntropyLoss(torch.ones(2)), 0),
    ],
    ids=["numbers", "yes or no", "codes", "few classes", "chances", "code among numbers", "weighted classes"],
)  # fmt: skip


def assert_made_up_people_pass(make, features, labels, loss, tame, device):
    loss = loss.to(device) if isinstance(loss, torch.nn.Module) else loss
    gradients, said = independent(PerExample(make().to(device), loss), features.to(device), labels.to(device))
    assert gradients.rows_in_block >= 1
    assert ("made-up people (fractions between 0 and 1 only)" in said) == bool(tame)


@KINDS
def test_made_up_people_are_of_the_kind_of_the_private_ones(make, features, labels, loss, tame):
    assert_made_up_people_pass(make, features, labels, loss, tame, "cpu")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@KINDS
def test_on_a_gpu_made_up_people_are_of_the_kind_of_the_private_ones(make, features, labels, loss, tame):
    assert_made_up_people_pass(make, features, labels, loss, tame, "cuda")
    torch.ones(1, device="cuda").item()  # a GPU that has met an index out of range computes nothing more


class OneHot(torch.nn.Module):
    """Seven codes, of which nothing but the data tells how many there are."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(21, 2)

    def forward(self, x):
        return self.layer((x[:, :, None] == torch.arange(7, device=x.device)).float().flatten(1))


def test_made_up_codes_are_often_few_as_those_of_people_are():
    """Blocks of 256 change rows of this network on AMD, where the codes of a person are below 7."""
    torch.manual_seed(1)
    people = torch.randint(0, 7, (200, 3)), torch.randint(0, 2, (200,))
    gradients, _ = independent(PerExample(OneHot(), LOSS), *people)
    assert_company_does_not_matter(gradients, *people)


@pytest.mark.parametrize("rare", [64, 16, 4])
def test_small_blocks_are_tried_with_as_many_people_as_large_ones(rare, monkeypatch):
    """One row in 64 shows its place, as one did in 50 of a network on AMD."""

    def spoil(found, trained, features):  # noqa: ARG001
        marked = features.flatten(1).double().frac().abs().mul(1e4).floor().sum(1) % 64 == 0
        marked[: len(marked) // 2] = False
        if 1 < len(features) <= rare or len(features) == 256:
            for each in found.values():
                each[marked] *= 1 + 2.0**-20

    kernel(monkeypatch, spoil)
    features, labels = people_like(torch.float32, 3)
    gradients, _ = independent(PerExample(small_cnn(), LOSS), features, labels)
    assert gradients.rows_in_block in ({1} if rare == 64 else {64, 1})


def test_a_network_without_gradients_to_compare_is_refused():
    class Nothing(torch.nn.Linear):
        def forward(self, x):
            return super().forward(x) * 0

    with pytest.raises(InputError, match="gradients that can be compared, got none of made-up people .*; give the net"):
        independent(PerExample(Nothing(3, 2), LOSS), torch.zeros(2, 3), torch.zeros(2, dtype=torch.long))


def test_what_is_wrong_with_a_network_is_told_before_training():
    with pytest.raises(InputError, match="computing failed: .*shapes cannot be multiplied"):
        independent(PerExample(torch.nn.Linear(3, 2), LOSS), torch.zeros(2, 4), torch.zeros(2, dtype=torch.long))


def test_a_layer_that_remembers_people_is_refused_also_when_everybody_is_computed_alone():
    class Remembers(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(3, 2)
            self.register_buffer("mean", torch.zeros(3))

        def forward(self, x):
            self.mean.mul_(0.9).add_(0.1 * x[0])
            return self.layer(x - self.mean)

    def running():
        norm = torch.nn.InstanceNorm1d(1, track_running_stats=True)
        return torch.nn.Sequential(torch.nn.Unflatten(1, (1, 3)), norm, torch.nn.Flatten(), torch.nn.Linear(3, 2))

    for make in (Remembers, running):
        gradients = PerExample(make(), LOSS, together=1)
        with pytest.raises(InputError, match="computing failed: "):
            list(gradients.blocks(torch.ones(4, 3), torch.zeros(4, dtype=torch.long)))


# --- memory and threads ---


@pytest.mark.parametrize("together", [1, 4])
def test_rows_are_copied_to_memory_that_begins_at_a_line_of_its_own(together, monkeypatch):
    seen = kernel(monkeypatch, lambda *_: None)
    memory = torch.randn(1 + 9 * 33, dtype=torch.float64)
    features = memory[1:].view(9, 33)  # no row of which begins at a multiple of 64 bytes
    list(PerExample(torch.nn.Linear(33, 2).double(), LOSS, together).blocks(features, torch.zeros(9, dtype=torch.long)))
    assert {each.data_ptr() % 64 for each in seen} == {0}
    assert all(each.is_contiguous() and each.untyped_storage().data_ptr() == each.data_ptr() for each in seen)
    inside = range(memory.data_ptr(), memory.data_ptr() + memory.nbytes)
    assert not any(each.data_ptr() in inside for each in seen)


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("two_threads")
@pytest.mark.parametrize("plan", [PLAN, LocalSGD(5.0, 0.1, 10)], ids=["central", "local"])
@pytest.mark.parametrize("together", [1, 256])
def test_gradients_are_computed_on_one_thread_and_threads_are_given_back(plan, together, monkeypatch):
    inside = set()

    def watched(output, label):
        inside.add(("loss", torch.get_num_threads()))
        return LOSS(output, label)

    real = torch.linalg.vector_norm

    def norm(*given, **options):
        inside.add(("norm", torch.get_num_threads()))
        return real(*given, **options)

    monkeypatch.setattr(torch.linalg, "vector_norm", norm)
    features, labels = people_like(torch.float32, 20)
    train_privately(
        small_cnn(), features, labels, plan, loss=watched, people=20, together=together, rng=bp.insecure_seed(1),
        optimizer=lambda ps: torch.optim.SGD(ps, lr=0.1),
    )  # fmt: skip
    assert inside == {("loss", 1), ("norm", 1)}
    assert torch.get_num_threads() == 2


@pytest.mark.usefixtures("two_threads")
def test_threads_are_given_back_after_an_error_and_by_one_caller_at_a_time():
    cpu = torch.device("cpu")
    with pytest.raises(ZeroDivisionError), one_thread(cpu):
        1 / 0  # noqa: B018
    assert torch.get_num_threads() == 2
    order, entered = [], threading.Event()

    def other():
        entered.set()
        with one_thread(cpu):
            order.append("other")

    with one_thread(cpu), one_thread(cpu):  # one within another is one turn
        thread = threading.Thread(target=other)
        thread.start()
        entered.wait()
        order.append(("first", torch.get_num_threads()))
    thread.join()
    assert order == [("first", 1), "other"]
    with one_thread(torch.device("meta")):
        assert torch.get_num_threads() == 2


def test_the_papers_network_can_be_measured():
    gradients, said = independent(
        PerExample(paper_cnn(), LOSS, together=16), torch.zeros(1, 1, 28, 28), torch.zeros(1, dtype=torch.long)
    )
    assert gradients.rows_in_block <= 16
    assert "made-up people" in said
