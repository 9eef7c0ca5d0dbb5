"""The gradient of every person's loss, as one row of numbers each.

The privacy of a sum needs more than that rows are gradients of single people: the row of one person must be the same
*bit for bit* whoever else is there, or one record more changes the rows of others too. A library that computes several
people at once does not promise that. Its kernels differ with the number of rows and with where in memory a row begins,
and so do the last bits.

What is done about it: every block has the same number of rows, a power of two, filled up with rows of zeros; it is
copied into memory of its own, which begins at a multiple of 64 bytes; a CPU computes it on one thread; and on a GPU
convolutions are asked for their deterministic kernels. None of this suffices everywhere: on AMD processors rows still
depend on their place in a block, and there only a row computed alone, which is what blocks of one are, always has the
same place. Which size does on a machine is measured before training, by ``independence.py``. Measured is not proved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import torch
from torch.func import functional_call, grad, vmap

from bipartite.errors import InputError, Problems
from bipartite.learn.gradients.checks import whole
from bipartite.learn.gradients.one_thread import one_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
    Named = dict[str, torch.Tensor]
    # Trained parameters, everything else, features and labels of a block; the gradient of each parameter.
    Compute = Callable[[Named, Named, torch.Tensor, torch.Tensor], Named]

BLOCK_NUMBERS: Final = 2**25
"""Numbers in one block of gradients: 256 MB as doubles, of which a few copies are alive at a time."""
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
        problems.raise_if_any(InputError)
        for name, module in network.named_modules():
            if isinstance(module, torch.nn.modules.batchnorm._BatchNorm):  # noqa: SLF001 (the base of all of them)
                msg = (
                    f"Expected a network in which examples do not meet, got {type(module).__name__} in {name!r}, whose "
                    "output for one person depends on others; use torch.nn.GroupNorm."
                )
                raise InputError(msg)
        self.network = network
        self.loss = loss
        self.parameters = [each for each in network.parameters() if each.requires_grad]
        if not self.parameters:
            msg = "Expected a network with parameters to train, got none; set requires_grad on some."
            raise InputError(msg)
        self.size = sum(each.numel() for each in self.parameters)
        """d, how many numbers one gradient has."""
        self.rows_in_block = min(together, 1 << (max(1, BLOCK_NUMBERS // self.size).bit_length() - 1))
        """How many rows every block has."""
        self._gradients = vmap(grad(self._of_one), in_dims=(None, None, 0, 0), randomness="error")

    def _of_one(self, trained: Named, fixed: Named, features: torch.Tensor, label: torch.Tensor) -> torch.Tensor:
        output = functional_call(self.network, {**trained, **fixed}, (features[None],))
        return self.loss(output, label[None])

    def trained(self) -> Named:
        """The parameters as they are, by name."""
        return {name: each.detach() for name, each in self.network.named_parameters() if each.requires_grad}

    def blocks(
        self, features: torch.Tensor, labels: torch.Tensor, trained: Named | None = None
    ) -> Iterator[torch.Tensor]:
        """The gradients of all examples, in blocks of one size; rows of nobody, in the last, are zero.

        No block for no examples. ``trained`` are other parameters than the network's own.
        """
        if trained is None:
            trained = self.trained()
        fixed = {name: each.detach() for name, each in self.network.named_parameters() if not each.requires_grad}
        fixed |= {name: each.detach() for name, each in self.network.named_buffers()}
        size = self.rows_in_block
        compute: Compute = self._gradients
        if size == 1 and len(features):
            # Quicker alone without vmap; but what vmap refuses (random draws, what one row leaves behind for the next,
            # branches on values) stays refused.
            self._computed(compute, trained, fixed, *(torch.zeros_like(each[:1]) for each in (features, labels)))
            compute = self._alone
        for first in range(0, len(features), size):
            here = slice(first, first + size)
            found = self._computed(compute, trained, fixed, _filled(features[here], size), _filled(labels[here], size))
            block = torch.cat([found[name].flatten(1) for name in trained], dim=1)
            block[len(features) - first :] = 0
            yield block

    def rows(self, features: torch.Tensor, labels: torch.Tensor) -> Iterator[torch.Tensor]:
        """The blocks, without the rows of nobody."""
        left = len(features)
        for block in self.blocks(features, labels):
            yield block[:left]
            left -= len(block)

    def _alone(self, trained: Named, fixed: Named, features: torch.Tensor, labels: torch.Tensor) -> Named:
        """The gradient of the one person of a block, by plain back-propagation."""
        with torch.enable_grad():
            leaves = {name: each.detach().requires_grad_() for name, each in trained.items()}
            lost = self._of_one(leaves, fixed, features[0], labels[0])
            found = torch.autograd.grad(lost, list(leaves.values()), allow_unused=True, materialize_grads=True)
        return {name: each[None] for name, each in zip(leaves, found, strict=True)}

    def _computed(
        self, compute: Compute, trained: Named, fixed: Named, features: torch.Tensor, labels: torch.Tensor
    ) -> Named:
        try:
            return _carefully(compute, trained, fixed, features, labels)
        except torch.OutOfMemoryError:
            raise
        except Exception:  # noqa: BLE001 (whatever a network raises may show somebody's value)
            refused = _FOR_SOMEBODY
        try:  # what is wrong with zeros may be told, and is most often the reason
            _carefully(compute, trained, fixed, torch.zeros_like(features), torch.zeros_like(labels))
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

    def assign(self, gradient: torch.Tensor) -> None:
        """Give the parameters this gradient, as if ``backward`` had found it."""
        first = 0
        for each in self.parameters:
            part = gradient[first : first + each.numel()]
            each.grad = part.to(device=each.device, dtype=each.dtype).view_as(each)
            first += each.numel()


def _carefully(compute: Compute, trained: Named, fixed: Named, features: torch.Tensor, labels: torch.Tensor) -> Named:
    """On one thread of a CPU, or with the deterministic kernels of a GPU."""
    cudnn = torch.backends.cudnn
    now = {"enabled": cudnn.enabled, "allow_tf32": cudnn.allow_tf32}
    with one_thread(features.device), cudnn.flags(benchmark=False, deterministic=True, **now):
        return compute(trained, fixed, features, labels)


def _filled(rows: torch.Tensor, size: int) -> torch.Tensor:
    """So many rows in memory of their own, where torch begins at a multiple of 64 bytes: those given, then zeros."""
    block = rows.new_zeros((size, *rows.shape[1:]))
    block[: len(rows)] = rows.detach()
    return block
