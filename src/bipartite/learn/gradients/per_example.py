"""The gradient of every person's loss, as one row of numbers each.

The privacy of a sum needs more than that rows are gradients of single people: the row of one person must be the same
*bit for bit* whoever else is there, or one record more changes the rows of others too. A library that computes several
people at once does not promise that. Its kernels differ with the number of rows, and so do the last bits: of the
paper's network on a CPU a third of all numbers change when a person is computed alone instead of among 64.

Therefore every block has the same number of rows, a power of two, and is filled up with rows of zeros; and on a GPU
convolutions are asked for their deterministic kernels, without which the same block computed twice differs. In our
measurements (a CPU with one and two threads and an H200, float32 and float64, convolutions and linear layers, blocks of
64 and 256 rows) rows then never depended on their place or company, while blocks of 17 or 100 rows still failed.
Measured is not proved: ``together=1`` computes everybody alone, which leaves only that the library gives one input one
result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import torch
from torch.func import functional_call, grad, vmap

from bipartite.errors import InputError, Problems
from bipartite.learn.gradients.checks import raise_all, whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]

# Numbers in one block of gradients: 256 MB as doubles, of which a few copies are alive at a time.
_BLOCK_NUMBERS: Final = 2**25
TOGETHER: Final = 256
"""How many people are computed at once where nothing else is said: fills a processor, and little is wasted on zeros."""
_FOR_SOMEBODY: Final = "for somebody's values, which are not shown; see that labels and features are in range."
_VMAP_RANDOM: Final = "random operation while in randomness error mode"


class PerExample:
    """Gradients of single examples of a network, with ``torch.func``.

    Only parameters that require a gradient count, in the order of ``network.parameters()``. A layer that looks at
    several examples at once has no gradient of one person; batch normalisation is refused for that reason. Dropout is
    refused too: its draws come from a statistical generator, person after person, so that one record more would change
    everybody's rows.

    ``together`` is the number of people in one block, at most: a power of two, fewer where they do not fit into memory.
    It depends on the network only, never on the data.
    """

    def __init__(self, network: torch.nn.Module, loss: Loss, together: int = TOGETHER) -> None:
        problems = Problems()
        whole("together", together, problems, hint="a power of two, or 1 to compute everybody alone")
        if not problems and together & (together - 1):
            problems.add(
                f"Expected together as a power of two, got {together}; other sizes make rows depend on others."
            )
        raise_all(problems)
        for name, module in network.named_modules():
            if isinstance(module, torch.nn.modules.batchnorm._BatchNorm):  # noqa: SLF001 (the base of all of them)
                msg = (
                    f"Expected a network in which examples do not meet, got {type(module).__name__} in {name!r}, whose "
                    "output for one person depends on others; use torch.nn.GroupNorm."
                )
                raise InputError(msg)
        self._network = network
        self._loss = loss
        self.parameters = [each for each in network.parameters() if each.requires_grad]
        if not self.parameters:
            msg = "Expected a network with parameters to train, got none; set requires_grad on some."
            raise InputError(msg)
        self.size = sum(each.numel() for each in self.parameters)
        """d, how many numbers one gradient has."""
        self.rows_in_block = min(together, 1 << (max(1, _BLOCK_NUMBERS // self.size).bit_length() - 1))
        """How many rows every block has."""
        self._gradient = vmap(grad(self._of_one), in_dims=(None, None, 0, 0), randomness="error")

    def _of_one(
        self,
        trained: dict[str, torch.Tensor],
        fixed: dict[str, torch.Tensor],
        features: torch.Tensor,
        label: torch.Tensor,
    ) -> torch.Tensor:
        output = functional_call(self._network, {**trained, **fixed}, (features[None],))
        return self._loss(output, label[None])

    def blocks(self, features: torch.Tensor, labels: torch.Tensor) -> Iterator[torch.Tensor]:
        """The gradients of all examples, in blocks of one size; rows of nobody, in the last, are zero.

        No block for no examples.
        """
        named = dict(self._network.named_parameters())
        trained = {name: each.detach() for name, each in named.items() if each.requires_grad}
        fixed = {name: each.detach() for name, each in named.items() if not each.requires_grad}
        fixed |= {name: each.detach() for name, each in self._network.named_buffers()}
        size = self.rows_in_block
        for first in range(0, len(features), size):
            here = slice(first, first + size)
            found = self._of_block(trained, fixed, _filled(features[here], size), _filled(labels[here], size))
            block = torch.cat([found[name].flatten(1) for name in trained], dim=1)
            block[len(features) - first :] = 0
            yield block

    def rows(self, features: torch.Tensor, labels: torch.Tensor) -> Iterator[torch.Tensor]:
        """The blocks, without the rows of nobody."""
        left = len(features)
        for block in self.blocks(features, labels):
            yield block[:left]
            left -= len(block)

    def _of_block(
        self,
        trained: dict[str, torch.Tensor],
        fixed: dict[str, torch.Tensor],
        features: torch.Tensor,
        labels: torch.Tensor,
    ) -> dict[str, torch.Tensor]:
        try:
            return self._computed(trained, fixed, features, labels)
        except torch.OutOfMemoryError:
            raise
        except Exception:  # noqa: BLE001 (whatever a network raises may show somebody's value)
            refused = _FOR_SOMEBODY
        try:  # what is wrong with zeros may be told, and is most often the reason
            self._computed(trained, fixed, torch.zeros_like(features), torch.zeros_like(labels))
        except Exception as error:  # noqa: BLE001
            refused = str(error)
        if _VMAP_RANDOM in refused:
            msg = (
                "Expected a network that draws nothing at random, got one that does (dropout, perhaps): its draws "
                "would tie one person's gradient to others; leave that layer out, or call eval() on it."
            )
            raise InputError(msg)
        msg = f"Expected a network and a loss that take one row and its label each; computing failed: {refused}"
        raise InputError(msg)

    def _computed(
        self,
        trained: dict[str, torch.Tensor],
        fixed: dict[str, torch.Tensor],
        features: torch.Tensor,
        labels: torch.Tensor,
    ) -> dict[str, torch.Tensor]:
        cudnn = torch.backends.cudnn
        now = {"enabled": cudnn.enabled, "allow_tf32": cudnn.allow_tf32}
        with cudnn.flags(benchmark=False, deterministic=True, **now):
            found: dict[str, torch.Tensor] = self._gradient(trained, fixed, features, labels)
        return found

    def assign(self, gradient: torch.Tensor) -> None:
        """Give the parameters this gradient, as if ``backward`` had found it."""
        first = 0
        for each in self.parameters:
            part = gradient[first : first + each.numel()]
            each.grad = part.to(device=each.device, dtype=each.dtype).view_as(each)
            first += each.numel()


def _filled(rows: torch.Tensor, size: int) -> torch.Tensor:
    """So many rows: those given, then zeros."""
    if len(rows) == size:
        return rows
    return torch.cat([rows, rows.new_zeros((size - len(rows), *rows.shape[1:]))])
