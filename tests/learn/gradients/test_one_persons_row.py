"""One person's row is the same to the last bit whoever else is there, by both ways for which that is proved."""

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from numba.core.registry import CPUDispatcher
from torch import nn

import bipartite as bp
from bipartite.learn import GaussianSGD, PerExample, train_privately
from bipartite.learn.gradients import compiled_kernels
from bipartite.learn.gradients.compiled_rows import CompiledRows
from bipartite.learn.gradients.exact_numbers import (
    WholeRows,
    bits_for,
    bits_left,
    by_halves,
    exponential,
    power_of_two,
    square_root,
)
from bipartite.learn.gradients.whole import MOST_STEPS, whole_rows, whole_sum

from .networks import NETWORKS, made, people_of, ways
from .rows_elsewhere import changed, digests

LOSS = nn.functional.cross_entropy
SCRIPT = Path(__file__).with_name("rows_elsewhere.py")
WAYS = ("compiled", "exact")
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


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", NETWORKS)
def test_no_row_changes_when_people_come_go_and_move(name, way):
    network, shape = made(name, torch.float32)
    features, labels = people_of(shape, 38, torch.float32)
    assert changed(ways(network, shape)[way].rows, features, labels, 33) == 0


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
    """Sums in the written order, and exact ones, are the same under every instruction set: to the last bit."""
    networks, (threads, environment) = ("every layer", "33 to 17"), INSTRUCTIONS[forced]
    here = list(digests(networks))
    assert elsewhere([*networks, "--threads", threads], **environment) == here
    assert [line.count(": ") for line in here] == [2] * 4  # one digest for each network and way


def test_machine_code_computes_what_the_source_says_in_its_order():
    """Python itself runs the kernels: one operation after another, no vectors, nothing fused or reordered."""
    told = ("every layer", "from a row to a picture", "dense", "--ways", "compiled", "--people", "4", "--no-move")
    assert list(digests(told)) == elsewhere(told, NUMBA_DISABLE_JIT="1")


def test_no_kernel_is_compiled_with_fast_math():
    kernels = [each for each in vars(compiled_kernels).values() if isinstance(each, CPUDispatcher)]
    assert len(kernels) > 20
    assert not any(each.targetoptions.get("fastmath") or each.targetoptions.get("parallel") for each in kernels)


def test_what_was_computed_before_is_not_in_a_row(monkeypatch):
    """Scratch memory holds what the last person left, or anything."""
    network, shape = made("every layer")
    features, labels = people_of(shape, 3)
    rows = ways(network, shape)["compiled"]
    wanted = rows.rows(features, labels)
    for junk in (float("nan"), -1e300):

        def scratch(junk=junk):
            values, deltas, marks, sums = CompiledRows._scratch(rows)
            for each in (values, deltas, sums):
                each[:] = junk
            marks[:] = 0
            return values, deltas, marks, sums

        monkeypatch.setattr(rows, "_scratch", scratch)
        assert torch.equal(rows.rows(features, labels), wanted)
        monkeypatch.undo()


@pytest.mark.parametrize("way", WAYS)
def test_somebody_without_a_number_spoils_no_other_row(way):
    network, shape = made("every layer")
    features, labels = people_of(shape, 20)
    rows = ways(network, shape)[way]
    before = rows.rows(features, labels)
    features[3], features[11], features[12] = torch.nan, torch.inf, 1e308
    after = rows.rows(features, labels)
    others = [each for each in range(20) if each not in {3, 11, 12}]
    assert torch.equal(before[others], after[others])
    assert not whole_rows(after, 1.0, 1000)[[3, 11]].any()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("name", NETWORKS)
def test_on_a_gpu_no_row_changes_when_people_come_go_and_move(name):
    network, shape = made(name, torch.float32)
    features, labels = people_of(shape, 66, torch.float32)
    exact = ways(network, shape)["exact"].rows(features, labels)
    gradients = PerExample(network.cuda(), LOSS)

    def compute(x, y):
        return torch.cat(list(gradients.blocks(x.cuda(), y.cuda()))).cpu()

    assert changed(compute, features, labels, 61) == 0
    torch.testing.assert_close(compute(features, labels), exact, rtol=1e-5, atol=1e-7)


# --- the comparison itself: a way that is wrong fails it ---


def test_ways_that_look_at_other_rows_fail_the_comparison():
    network, shape = made("dense")
    features, labels = people_of(shape, 66)
    right = ways(network, shape)["compiled"].rows

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

    for wrong in (by_place, by_number, by_largest):
        assert changed(wrong, features, labels, 61) > 0
    assert changed(right, features, labels, 61) == 0


# --- a sum moves by one person's row, and by nothing else ---


@pytest.mark.parametrize("name", ["dense", "every layer"])
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


def test_clipping_in_machine_code_is_clipping_in_torch():
    network, shape = made("every layer")
    features, labels = people_of(shape, 25)
    features[3] = torch.nan
    gradients = PerExample(network, LOSS)
    (rows,) = gradients.blocks(features, labels)
    slow = whole_sum(whole_rows(rows, 0.3, 2**20))
    assert abs(gradients.clipped_sum(features, labels, 0.3, 2**20) - slow).max() <= 1  # of a rounded norm


def test_two_fits_of_one_seed_agree_under_any_number_of_threads():
    features, labels = people_of((20,), 50, torch.float32)
    plan = GaussianSGD(None, 1e-5, 1.0, 3, 0.5, noise_multiplier=1.0)
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


# --- the parts of exact products ---


def test_partial_sums_of_products_are_whole_numbers_below_two_to_the_53():
    for terms in (1, 2, 3, 64, 1000, 4097):
        for bits in (bits_for(terms), bits_for(terms, 7)):
            assert terms * 2**bits * 2 ** bits_left(bits, terms) <= 2**53
            assert bits >= 18


def test_whole_rows_are_whole_and_keep_the_size_of_their_row():
    odd = [[3e-310, 0.0], [0.0, 0.0], [torch.inf, 1.0], [torch.nan, 1.0]]
    values = torch.tensor([[1.0, -0.3], [1e300, 1e-300], *odd], dtype=torch.float64)
    rows = WholeRows(values, 22)
    assert (rows.numbers == rows.numbers.round()).all() and rows.numbers.abs().max() <= 2**22
    assert rows.finite.tolist() == [True] * 4 + [False] * 2
    back = rows.scaled(rows.numbers)
    torch.testing.assert_close(back[0], values[0], rtol=1e-6, atol=0)
    torch.testing.assert_close(back[1] / 1e300, torch.tensor([1.0, 0.0], dtype=torch.float64), rtol=1e-6, atol=0)


def test_square_roots_and_powers_of_two_are_rounded_correctly():
    """Torch's own √ on a CPU is MKL's: 1.5 % of these were wrong in the last bit."""
    x = torch.from_numpy(np.random.default_rng(7).uniform(1, 4, 20_000))
    assert square_root(x).tolist() == [math.sqrt(each) for each in x.tolist()]
    assert compiled_kernels._POWERS.tolist() == [math.ldexp(1, k) for k in range(-1000, 2)]
    assert power_of_two(torch.arange(-1000, 1001)).tolist() == [math.ldexp(1, k) for k in range(-1000, 1001)]


def test_sums_by_halves_and_exponentials_are_right():
    torch.manual_seed(6)
    for count in (1, 2, 3, 7, 64, 1001):
        terms = torch.randn(4, count, dtype=torch.float64)
        torch.testing.assert_close(by_halves(terms), terms.sum(1), rtol=1e-12, atol=1e-12)
    x = -torch.logspace(-12, 2.5, 500, dtype=torch.float64)
    torch.testing.assert_close(exponential(x), x.exp(), rtol=3e-15, atol=0)
    one, least, odd = exponential(torch.tensor([0.0, -1e9, torch.nan], dtype=torch.float64)).tolist()
    assert one == 1 and least < 2.0**-990 and math.isnan(odd)
