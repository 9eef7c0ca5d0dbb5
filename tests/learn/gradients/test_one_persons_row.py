"""One person's row is the same to the last bit whoever else is there."""

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

import bipartite as bp
from bipartite.errors import InputError
from bipartite.learn import GaussianSGD, PerExample, train_privately
from bipartite.learn.gradients.whole import MOST_STEPS, whole_rows

from .networks import NETWORKS, made, one_by_one, people_of, rows_of
from .rows_elsewhere import bits, changed, digests

LOSS = nn.functional.cross_entropy
SCRIPT = Path(__file__).with_name("rows_elsewhere.py")
# By what torch says that a processor has, from few instructions to many: how to force them, and threads to run under.
INSTRUCTIONS = {
    "DEFAULT": (
        "1,2,3,4,5",
        {"ATEN_CPU_CAPABILITY": "default", "MKL_CBWR": "COMPATIBLE", "ONEDNN_MAX_CPU_ISA": "SSE41"},
    ),
    "AVX2": ("1,2", {"ATEN_CPU_CAPABILITY": "avx2", "MKL_CBWR": "AVX2", "ONEDNN_MAX_CPU_ISA": "AVX2"}),
    "AVX512": ("3", {"ATEN_CPU_CAPABILITY": "avx512"}),
}


def elsewhere(arguments, **environment):
    """The digests that another process computes."""
    done = subprocess.run(
        [sys.executable, str(SCRIPT), *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env=os.environ | environment,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("name", NETWORKS)
def test_no_row_changes_when_people_come_go_and_move(name):
    network, shape = made(name, torch.float32)
    features, labels = people_of(shape, 38, torch.float32)
    assert changed(rows_of(network), features, labels, 33) == 0


def settings_of(capability):
    """What such a processor can be forced to: anything else ends in an illegal instruction. The first it always can."""
    known = list(INSTRUCTIONS)
    return known[: known.index(capability) + 1 if capability in known else 1]


@pytest.mark.parametrize(("capability", "settings"), [("AVX512", 3), ("AVX2", 2), ("DEFAULT", 1), ("SVE256", 1)])
def test_only_instructions_that_are_there_are_forced(capability, settings):
    assert settings_of(capability) == list(INSTRUCTIONS)[:settings]


@pytest.mark.parametrize(
    "forced",
    [
        pytest.param(each, marks=[] if each == "DEFAULT" else pytest.mark.slow)
        for each in settings_of(torch.backends.cpu.get_cpu_capability())
    ],
)
def test_instructions_and_threads_change_nothing(forced):
    """Exact sums, and elementwise operations of one rounding, are the same under every instruction set."""
    networks, (threads, environment) = ("every layer", "33 to 17", "transformer"), INSTRUCTIONS[forced]
    here = list(digests(networks))
    assert elsewhere([*networks, "--threads", threads], **environment) == here
    assert [line.count(": ") for line in here] == [1] * 3  # one digest for each network


@pytest.mark.parametrize("name", ["every layer", "transformer"])
def test_somebody_without_a_number_spoils_no_other_row(name):
    network, shape = made(name)
    features, labels = people_of(shape, 20)
    rows = rows_of(network)
    before = rows(features, labels)
    features[3], features[11, 0], features[12] = torch.nan, torch.inf, 1e308
    after = rows(features, labels)
    others = [each for each in range(20) if each not in {3, 11, 12}]
    assert torch.equal(bits(before[others]), bits(after[others]))
    assert not whole_rows(after, 1.0, 1000)[[3, 11]].any()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("name", NETWORKS)
def test_on_a_gpu_no_row_changes_when_people_come_go_and_move(name):
    network, shape = made(name, torch.float32)
    features, labels = people_of(shape, 66, torch.float32)
    here = rows_of(network)(features, labels)
    rows = rows_of(network.cuda())

    def compute(x, y):
        return rows(x.cuda(), y.cuda()).cpu()

    assert changed(compute, features, labels, 61) == 0
    torch.testing.assert_close(compute(features, labels), here, rtol=1e-5, atol=1e-7)


# --- the comparison itself: rows that are wrong fail it ---


def test_rows_that_look_at_others_fail_the_comparison():
    network, shape = made("dense")
    features, labels = people_of(shape, 66)
    right = rows_of(network)

    def by_place(x, y):
        """As alignment does: every other row is added up in another order."""
        found = right(x, y)
        found[1::2] *= 1 + 2.0**-50
        return found

    def by_number(x, y):
        """As tiles do: a kernel for the last few rows."""
        found = right(x, y)
        found[len(found) // 8 * 8 :] *= 1 + 2.0**-50
        return found

    def by_largest(x, y):
        """One power of two for everybody, taken from all of them."""
        scale = 2.0**20 / x.nan_to_num(0, 0, 0).abs().max()
        return right((x * scale).round() / scale, y)

    def by_sign(x, y):
        """The sign of a zero."""
        found = right(x, y)
        return torch.where((found == 0) & (torch.arange(len(found)) % 2 == 1)[:, None], -0.0, found)

    for wrong in (by_place, by_number, by_largest, by_sign):
        assert changed(wrong, features, labels, 61) > 0
    assert changed(right, features, labels, 61) == 0


# --- a sum moves by one person's row, and by nothing else ---


@pytest.mark.parametrize("name", ["dense", "every layer", "transformer"])
def test_one_person_fewer_takes_that_row_from_the_sum_and_nothing_else(name):
    network, shape = made(name, torch.float32)
    features, labels = people_of(shape, 30, torch.float32)
    gradients = PerExample(network, LOSS)
    everybody = gradients.clipped_sum(features, labels, 0.5, MOST_STEPS)
    for gone in (0, 13, 29):
        others = [each for each in range(30) if each != gone]
        moved = everybody - gradients.clipped_sum(features[others], labels[others], 0.5, MOST_STEPS)
        alone = gradients.clipped_sum(features[gone : gone + 1], labels[gone : gone + 1], 0.5, MOST_STEPS)
        assert (moved == alone).all()
        assert 0 < sum(int(each) ** 2 for each in alone) <= MOST_STEPS**2


def test_two_fits_of_one_seed_agree_under_any_number_of_threads():
    features, labels = people_of((20,), 50, torch.float32)
    plan = GaussianSGD(20.0, 1e-3, 1.0, 3, 0.5)
    found, before = [], torch.get_num_threads()
    for threads in (1, 3):
        torch.set_num_threads(threads)
        network, _ = made("dense", torch.float32)
        train_privately(
            network, features, labels, plan, people=50, rng=bp.insecure_seed(1),
            optimizer=lambda ps: torch.optim.SGD(ps, lr=0.1),
        )  # fmt: skip
        found.append(network[0].weight.detach().clone())
    torch.set_num_threads(before)
    assert torch.equal(*found)


# --- what a network does beside its operations ---


class Counting(nn.Linear):
    """Its output depends on how often it was called, and so on how many people there are."""

    calls = 0

    def forward(self, x):
        self.calls += 1
        return super().forward(x) * self.calls


def test_what_forward_counts_is_that_of_the_reading():
    network = Counting(4, 3).double()
    features, labels = people_of((4,), 14)
    rows = rows_of(network)
    first = rows(features, labels % 3)
    assert torch.equal(rows(features, labels % 3), first)
    assert changed(rows, features, labels % 3, 9) == 0


class Remembering(nn.Linear):
    """It keeps a running mean of everybody in a buffer."""

    def __init__(self):
        super().__init__(4, 3)
        self.register_buffer("mean", torch.zeros(4))

    def forward(self, x):
        self.mean.mul_(0.9).add_(x.mean(0).detach() * 0.1)
        return super().forward(x - self.mean)


def test_a_network_that_remembers_people_is_refused():
    with pytest.raises(
        InputError,
        match="operations whose results no order of computing can change.* got a network that changes its own numbers",
    ):
        rows_of(Remembering())(torch.ones(9, 4), torch.zeros(9, dtype=torch.int64))


def test_memory_as_it_comes_is_never_read():
    class Uncleared(nn.Linear):
        def forward(self, x):
            return super().forward(x) + torch.empty(3, dtype=x.dtype) + x.new_empty(3) + torch.empty_like(x[:, :3])

    network = Uncleared(4, 3).double()
    cleared = nn.Linear(4, 3).double()
    cleared.load_state_dict(network.state_dict())
    told = people_of((4,), 9)[0], torch.zeros(9, dtype=torch.int64)
    wanted = rows_of(cleared)(*told)
    for size in (3, 4, 9, 12, 27, 36):
        torch.full((size,), math.nan, dtype=torch.float64)  # what memory may hold afterwards
        assert torch.equal(rows_of(network)(*told), wanted)


@pytest.mark.parametrize(
    "mix",
    [
        lambda rows: rows + rows[1:].sum(0),
        lambda rows: rows + 0.0 * rows[1:].sum(0),  # NaN alone shows it
        lambda rows: rows + rows[1:].nan_to_num(0.0).abs().clamp(min=9.0).amax() if len(rows) > 1 else rows + 9.0,
        lambda rows: rows * (1 + len(rows) * 2.0**-50),  # who is alone shows it
    ],
    ids=["sum", "product", "largest", "number"],
)
def test_features_of_one_person_that_reach_another_are_found(monkeypatch, mix):
    """Whatever torch's own rules for many people might get wrong: made-up people would show it."""
    network = nn.Linear(4, 3)
    nn.init.zeros_(network.weight)
    gradients = PerExample(network, LOSS)
    right = PerExample._rows

    def mixed(self, run, x, y):
        return mix(right(self, run, x, y))

    monkeypatch.setattr(PerExample, "_rows", mixed)
    with pytest.raises(
        InputError, match="made-up person's row changed with another person's features, or alone; compute"
    ):
        list(gradients.blocks(torch.ones(9, 4), torch.zeros(9, dtype=torch.int64)))


def test_words_look_up_and_add_in_any_order():
    """A word that occurs often: many rows are added at one place."""
    network, _ = made("words")
    random = np.random.default_rng(5)
    features = torch.from_numpy(random.choice([0, 3, 29], (40, 5), p=[0.2, 0.7, 0.1])).double()
    labels = torch.from_numpy(random.integers(0, 10, 40))
    assert changed(rows_of(network), features, labels, 35) == 0


# --- found by attackers: what reached from one person to the next ---


class Histogram(nn.Module):
    """Words counted by adding at their places."""

    def __init__(self):
        super().__init__()
        self.last = nn.Linear(30, 3)

    def forward(self, x):
        return self.last(x.new_zeros(len(x), 30).scatter_add(1, x.long(), torch.ones_like(x)))


class OwnTable(nn.Module):
    """A person's first number says which of the person's own other numbers counts."""

    def __init__(self):
        super().__init__()
        self.last = nn.Linear(1, 3)

    def forward(self, x):
        return self.last(nn.functional.embedding(x[0, :1].long(), x[0, 1:, None])[:, 0][None])


def test_a_word_out_of_range_reaches_nobody_else():
    random = np.random.default_rng(3)
    labels = torch.arange(20) % 3
    words = torch.from_numpy(random.integers(0, 30, (20, 6))).double()
    choices = torch.from_numpy(np.concatenate([np.zeros((20, 1)), random.normal(size=(20, 5))], axis=1))
    for network, features, beyond in ((Histogram(), words, 30), (OwnTable(), choices, 5)):
        rows = rows_of(network.double())  # on a GPU torch's own look-ups would stop the process
        rows(features, labels)
        for at in (beyond, -beyond - 1):
            wrong = features.clone()
            wrong[7, 0] = at
            with pytest.raises(InputError, match="values are not shown. See that all numbers that look something up"):
                rows(wrong, labels)


class Rolled(nn.Module):
    """One number for each person, rolled: torch's rule for many rolls it from person to person."""

    def __init__(self):
        super().__init__()
        self.words, self.last = nn.Embedding(9, 4), nn.Linear(1, 3)

    def forward(self, x):
        one = (self.words.weight.sum(0) * (x[0, :4] == 7).double()).sum()
        return (
            self.last(torch.roll(one, 1)[None, None]) + torch.roll(x, 1, 1).sum() * 1e-3 + torch.roll(x, 2).sum() * 1e-3
        )


def test_one_number_each_stays_with_its_person():
    features = torch.zeros(38, 4, dtype=torch.float64)
    features[7] = features[12] = 7
    network, labels = Rolled().double(), torch.arange(38) % 3
    rows = rows_of(network)
    assert changed(rows, features, labels, 33) == 0
    torch.testing.assert_close(rows(features, labels), one_by_one(network, features, labels), rtol=0, atol=1e-5)


def test_words_and_labels_of_the_second_person_are_tried_too(monkeypatch):
    """Of words NaN becomes zero and huge numbers are out of range: small whole ones are tried, and another class."""
    right = PerExample._rows

    def by_word(self, run, x, y):
        return right(self, run, x, y) * (1.0 + (x[1:] == 2).sum().double() * 2.0**-50)

    def by_label(self, run, x, y):
        return right(self, run, x, y) * (1.0 + y[1:].sum().double() * 2.0**-50)

    for mixed in (by_word, by_label):
        network, _ = made("words")
        features, labels = people_of((5,), 9)
        monkeypatch.setattr(PerExample, "_rows", mixed)
        with pytest.raises(InputError, match="got one in which a made-up person's row changed"):
            rows_of(network)(features, labels)


class Pulled(nn.Module):
    """A gradient within: of weights that all share, at the same places for all."""

    def __init__(self):
        super().__init__()
        self.last = nn.Linear(9, 3)
        self.register_buffer("weight", torch.linspace(-1, 1, 9).reshape(1, 3, 3))
        self.register_buffer("ends", torch.linspace(1, 2, 4).reshape(1, 1, 4))

    def forward(self, x):
        x = torch.where(x.isnan(), 0.0, x)
        _, pull = torch.func.vjp(lambda weight: nn.functional.conv1d(x, weight), self.weight)
        return self.last(pull(self.ends)[0].flatten()[None])


def test_a_gradient_within_is_one_persons_too():
    features, labels = people_of((3, 6), 38)
    features[7] *= 1e12
    assert changed(rows_of(Pulled().double()), features, labels % 3, 33) == 0


def test_words_that_are_not_finite_stop_nobody():
    network, _ = made("words")
    features, labels = people_of((5,), 9)
    rows = rows_of(network)
    before = rows(features, labels)
    for odd in (torch.inf, -torch.inf, torch.nan):
        features[4, 2] = odd
        found = rows(features, labels)
        assert found[4].isnan().all() and torch.equal(found[5:], before[5:]) and torch.equal(found[:4], before[:4])


def test_operations_of_others_are_refused():
    """Their rule for many people could do anything."""

    @torch.library.custom_op("bipartite_tests::with_everybody", mutates_args=())
    def with_everybody(x: torch.Tensor) -> torch.Tensor:
        return x.clone()

    with_everybody.register_fake(torch.empty_like)
    torch.library.register_vmap("bipartite_tests::with_everybody", lambda info, _, x: (x * info.batch_size, 0))

    class Meeting(nn.Linear):
        def forward(self, x):
            return super().forward(with_everybody(x))

    with pytest.raises(InputError, match="got bipartite_tests.with_everybody.default"):
        rows_of(Meeting(4, 3))(torch.ones(9, 4), torch.zeros(9, dtype=torch.int64))
