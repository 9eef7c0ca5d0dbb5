"""Do the gradients of one person depend on who else is there? Measured before training, on made-up people.

The promise of a central plan needs rows that are the same to the bit whoever else is in the block, and libraries do not
promise it (see ``per_example.py``). So before anybody's data is touched, public random rows go through the very
network, loss, device, kind of numbers and number of threads of the training: once as they come, and again with one
person more before them, with the first one gone, in another order among rows that are huge, tiny, infinite or no
number, and alone among zeros; with the first weights and with weights moved at random. Where a bit differs, blocks of
a quarter are tried, down to rows that are computed alone; where even those differ, training is refused. A network or
loss that refuses such rows gets fractions between 0 and 1 only, and no other labels than it takes.

That is a measurement of a few hundred rows and two sets of weights. It finds kernels that treat places differently,
which mostly show in many rows at once; it may well miss a difference that shows in one row of a thousand, at weights
that come later, or only for values unlike those that were tried. The sign of a zero and the kind of a NaN are not told
apart, because nothing that is released depends on them.
"""

from __future__ import annotations

import copy
import math
from typing import TYPE_CHECKING, Final

import torch
from torch.func import vmap

from bipartite.errors import InputError
from bipartite.learn.gradients.one_thread import one_thread
from bipartite.learn.gradients.per_example import BLOCK_NUMBERS, PerExample
from bipartite.learn.gradients.whole import lengths

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bipartite.learn.gradients.per_example import Named

_SEED: Final = 20_231_117
# How many people at least, as far as their rows fit into the memory of one block: small blocks are filled several times
# over, or they would hold what shows in few rows; alone is slow, and has but one place.
_LEAST_IN_BLOCKS: Final = 256
_LEAST_ALONE: Final = 32
_WILD: Final = (1e-42, 1e-30, 1e30, math.inf, math.nan)
# Whole numbers in features stay below this where no embedding says how many there are: 7 bits, for every kind.
_CODES: Final = 128


def independent(gradients: PerExample, features: torch.Tensor, labels: torch.Tensor) -> tuple[PerExample, str]:
    """The same gradients in the largest blocks, up to theirs, in which no made-up row changed; and what was measured.

    Of ``features`` and ``labels`` nothing is looked at but shape, kind of numbers and device.
    """
    where = _where(features.device, gradients.parameters[0].dtype)
    failed: list[int] = []
    size = gradients.rows_in_block
    while size:
        tried = PerExample(gradients.network, gradients.loss, size)
        try:
            with one_thread(features.device):
                people, tame = _people_who_stay(tried, features, labels)
            return tried, _said(size, people, failed, where, tame=tame)
        except _Changed:
            failed.append(size)
            size = size // 4 or (1 if size > 1 else 0)
    msg = (
        "Expected gradients that are the same to the bit whoever else is there, got rows of made-up people that change "
        f"with their place or company even where each is computed alone ({where}), so that nothing can be promised; "
        "look for a layer or loss that keeps something between calls or never gives the same twice (on a GPU, "
        "interpolation), or train on another device or in float64."
    )
    raise InputError(msg)


class _Changed(Exception):  # noqa: N818 (no error: a smaller block is tried)
    """A row was not what it had been."""


def _said(size: int, people: int, failed: list[int], where: str, *, tame: bool) -> str:
    who = "made-up people" + (" (fractions between 0 and 1 only)" if tame else "")
    how = f"in blocks of {size}" if size > 1 else "each computed alone"
    lost = f" (in blocks of {', '.join(map(str, failed))} some did)" if failed else ""
    return (
        f"before training, on this machine ({where}), the gradients of {people} {who}, {how}, changed in no "
        f"bit with their place or company{lost}; other rows and later weights were not tried"
    )


def _where(device: torch.device, kind: torch.dtype) -> str:
    name = device.type
    if device.type == "cuda":
        name = torch.cuda.get_device_name(device)
    elif device.type == "cpu":
        name = f"CPU with {torch.backends.cpu.get_cpu_capability()}, one thread"
    return f"{name}, {str(kind).removeprefix('torch.')}, torch {torch.__version__}"


def _people_who_stay(gradients: PerExample, features: torch.Tensor, labels: torch.Tensor) -> tuple[int, bool]:
    """How many made-up people with different rows keep them in every arrangement, and whether they are tame ones."""
    codes, classes = _codes(gradients.network), _classes(gradients.network, features)
    # A network or loss may take fewer numbers than its shape tells; zeros it must, for they fill up blocks.
    kinds = [(tame, *most) for tame in (False, True) for most in ((codes, classes), (codes, 1), (1, 1))]
    for kind in kinds:
        made_up = _MadeUp(gradients, features, labels, *kind)
        if features.device.type != "cpu" and kind != kinds[-1] and not made_up.are_taken_on_a_cpu():
            continue
        try:
            found = made_up.different_rows()
        except InputError:
            if kind == kinds[-1]:
                raise
            continue
        if found:
            return found, kind[0]
    msg = (
        "Expected gradients that can be compared, got none of made-up people (features about 1) that is finite and not "
        "zero, so that nothing can be measured; give the network first weights with which it computes something."
    )
    raise InputError(msg)


def _codes(network: torch.nn.Module) -> int:
    """How many whole numbers features may have."""
    found = [each.num_embeddings for each in network.modules() if isinstance(each, torch.nn.Embedding)]
    return min(found, default=_CODES)


def _classes(network: torch.nn.Module, features: torch.Tensor) -> int:
    """How many classes the network tells apart: the numbers in its output for a row of zeros, 2 where that fails."""
    try:
        with torch.no_grad():
            zeros = torch.zeros_like(features[:1])
            shape = vmap(lambda row: network(row[None]), randomness="error")(zeros).shape[2:]
    except Exception:  # noqa: BLE001 (what is wrong with the network is told where its gradients are computed)
        shape = torch.Size()
    return max(2, int(shape[0])) if shape else 2


class _MadeUp:
    """Public random people of the shape and kind of the private ones, and their rows in several arrangements."""

    def __init__(
        self,
        gradients: PerExample,
        features: torch.Tensor,
        labels: torch.Tensor,
        tame: bool,  # noqa: FBT001 (numbers from 0 to 1 only)
        codes: int,
        classes: int,
    ) -> None:
        self._gradients = gradients
        self._tame = tame
        self._random = torch.Generator().manual_seed(_SEED)
        size = gradients.rows_in_block
        least = _LEAST_IN_BLOCKS if size > 1 else _LEAST_ALONE
        self._count = max(size, min(least, BLOCK_NUMBERS // gradients.size))
        # Behind ordinary people stand some whose numbers are not, and one whose numbers are zeros.
        every = self._count + len(_WILD) + 1
        self._features, self._labels = self._values(features, every, codes), self._values(labels, every, classes)
        if self._features.is_floating_point() and not tame:
            for at, scale in enumerate(_WILD, self._count):
                self._features[at] *= scale
        self._features[-1], self._labels[-1] = 0, 0

    def _values(self, like: torch.Tensor, count: int, below: int) -> torch.Tensor:
        """Numbers of one kind: half of the rows from 0 to 1, half of both signs; whole ones from 0 to ``below`` − 1.

        In half of the rows whole numbers are below 2 to 17, as few codes are, and come several times in one row.
        """
        shape = (count, *like.shape[1:])
        if like.is_floating_point():
            made = torch.rand(shape, generator=self._random, dtype=torch.float64)
            if not self._tame:
                made[::2] = torch.randn(made[::2].shape, generator=self._random, dtype=torch.float64)
            made[::3] = torch.relu(made[::3])  # pictures are full of zeros
        else:
            made = torch.randint(0, 2 if like.dtype == torch.bool else below, shape, generator=self._random)
            few = torch.arange(len(made[::2])) % 16 + 2
            made[::2] %= few.view(-1, *[1] * (made.dim() - 1))
        return made.to(dtype=like.dtype, device=like.device)

    def are_taken_on_a_cpu(self) -> bool:
        """Whether network and loss take these people, asked of copies: a GPU that meets an index out of range is lost.

        False, too, where there can be no copies.
        """
        try:
            network, loss = copy.deepcopy(self._gradients.network).cpu(), self._gradients.loss
            if isinstance(loss, torch.nn.Module):  # with weights of classes, perhaps
                loss = copy.deepcopy(loss).cpu()
            for _ in PerExample(network, loss).blocks(self._features.cpu(), self._labels.cpu()):
                pass
        except Exception:  # noqa: BLE001 (tamer people are tried)
            return False
        return True

    def different_rows(self) -> int:
        """How many different rows these people have, which no arrangement changes."""
        count, size = self._count, self._gradients.rows_in_block
        people, wild = torch.arange(count), torch.arange(count, count + len(_WILD))
        mixed = torch.randperm(count, generator=self._random)
        half = count // 2
        among_wild = torch.cat([mixed[:half], wild, mixed[half : max(half, count - len(wild))]])
        alone_and_last = torch.cat([torch.full((size - 1,), count + len(wild)), people[-1:]])
        first = self._gradients.trained()
        self._compared(first, people[1:], torch.cat([wild[:1], people]))
        return self._compared(self._moved(first), among_wild, alone_and_last)

    def _moved(self, trained: Named) -> Named:
        """Other weights: the first ones may be zeros, which hide what later ones show."""
        found = {}
        for name, each in trained.items():
            inputs = max(1, each.numel() // (each.shape[0] if each.dim() else 1))
            step = torch.randn(each.shape, generator=self._random, dtype=torch.float64) / math.sqrt(inputs)
            found[name] = each + step.to(dtype=each.dtype, device=each.device)
        return found

    def _compared(self, trained: Named, *arrangements: torch.Tensor) -> int:
        """How many different rows there are with these weights, finite and not zero, which the arrangements keep."""
        in_order = list(self._found(trained, torch.arange(self._count)))
        rows, norms = torch.cat([each[1] for each in in_order]), torch.cat([each[2] for each in in_order])
        for arrangement in arrangements:
            for who, here, long in self._found(trained, arrangement):
                if not _equal(here, rows[who]) or not _equal(long, norms[who]):
                    raise _Changed
        return len({tuple(each) for each in norms.tolist() if all(0 < norm < math.inf for norm in each)})

    def _found(self, trained: Named, which: torch.Tensor) -> Iterator[tuple[torch.Tensor, torch.Tensor, torch.Tensor]]:
        """Block by block the ordinary people in it, their rows, and both norms by which they may be clipped."""
        which = which.to(self._features.device)
        for number, block in enumerate(self._gradients.blocks(self._features[which], self._labels[which], trained)):
            here = which[number * len(block) :][: len(block)]
            ordinary = here < self._count
            wide = block.double()  # as clipping does
            norms = torch.cat([lengths(wide, norm) for norm in (1, 2)], dim=1)
            yield here[ordinary], block[: len(here)][ordinary], norms[: len(here)][ordinary]


def _equal(one: torch.Tensor, other: torch.Tensor) -> bool:
    return torch.equal(one, other) or bool(((one == other) | (one.isnan() & other.isnan())).all())
