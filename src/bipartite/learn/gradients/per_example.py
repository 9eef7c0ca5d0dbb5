"""The gradient of every person's loss alone, as one row of numbers each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import torch
from torch.func import functional_call, grad, vmap

from bipartite.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]

# Numbers in one block of gradients: 256 MB as doubles, of which a few copies are alive at a time.
_BLOCK_NUMBERS: Final = 2**25


class PerExample:
    """Gradients of single examples of a network, with ``torch.func``.

    Only parameters that require a gradient count, in the order of ``network.parameters()``. A layer that looks at
    several examples at once has no gradient of one person; batch normalisation is refused for that reason.
    """

    def __init__(self, network: torch.nn.Module, loss: Loss) -> None:
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
        self._gradient = vmap(grad(self._of_one), in_dims=(None, None, 0, 0), randomness="different")

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
        """The gradients of all examples, in blocks of rows that fit into memory; none for no examples."""
        named = dict(self._network.named_parameters())
        trained = {name: each.detach() for name, each in named.items() if each.requires_grad}
        fixed = {name: each.detach() for name, each in named.items() if not each.requires_grad}
        fixed |= {name: each.detach() for name, each in self._network.named_buffers()}
        rows = max(1, _BLOCK_NUMBERS // self.size)
        for first in range(0, len(features), rows):
            block = slice(first, first + rows)
            found = self._gradient(trained, fixed, features[block], labels[block])
            yield torch.cat([found[name].flatten(1) for name in trained], dim=1)

    def assign(self, gradient: torch.Tensor) -> None:
        """Give the parameters this gradient, as if ``backward`` had found it."""
        first = 0
        for each in self.parameters:
            part = gradient[first : first + each.numel()]
            each.grad = part.to(device=each.device, dtype=each.dtype).view_as(each)
            first += each.numel()
