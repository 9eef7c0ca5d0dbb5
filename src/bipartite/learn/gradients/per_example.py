"""The gradient of every person's loss, as one row of numbers each.

The privacy of a sum needs more than that rows are gradients of single people: the row of one person must be the same
*bit for bit* whoever else is there, or one record more changes the rows of others too. Two ways compute rows for which
that is proved (``docs/one-persons-row.md``): compiled loops on a CPU, and exact matrix products on a GPU or without
numba. Both know the usual layers (``layers.py``). For others there is torch itself, of which nothing is proved.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np
import torch

from bipartite.errors import InputError
from bipartite.learn.gradients.any_network import AnyNetwork
from bipartite.learn.gradients.exact_numbers import must_keep_subnormals
from bipartite.learn.gradients.exact_products import ExactProducts
from bipartite.learn.gradients.layers import KNOWN, Layer, NotKnown, loss_name, modules_of, shaped
from bipartite.learn.gradients.whole import whole_rows, whole_sum

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from bipartite.learn.gradients.layers import Loss

    class Way(Protocol):
        """A way of computing rows."""

        def rows(self, features: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
            """One for each person."""


_BLOCK_NUMBERS: Final = {"cpu": 2**20, "cuda": 2**26}
"""Numbers in one block of gradients, of which a few copies are alive at a time: what a cache of a CPU holds, and what
fills a GPU."""


class PerExample:
    """Gradients of single examples of a network.

    Only parameters that require a gradient count, in the order of ``network.parameters()``. A layer that looks at
    several examples at once has no gradient of one person; batch normalisation is refused for that reason. Dropout is
    refused too: its draws come from a statistical generator, person after person, so that one record more would change
    everybody's rows.
    """

    def __init__(self, network: torch.nn.Module, loss: Loss) -> None:
        for name, module in network.named_modules():
            if isinstance(module, torch.nn.modules.batchnorm._BatchNorm):  # noqa: SLF001 (the base of all of them)
                raise InputError(
                    f"Expected a network in which examples do not meet, got {type(module).__name__} in {name!r}, whose "
                    "output for one person depends on others; use torch.nn.GroupNorm."
                )
        self.network = network
        self.parameters = [each for each in network.parameters() if each.requires_grad]
        if not self.parameters:
            raise InputError("Expected a network with parameters to train, got none; set requires_grad on some.")
        self.size = sum(each.numel() for each in self.parameters)
        """d, the number of numbers in one gradient."""
        self.not_known: str | None = None
        """The layer or loss for which no row is proved to be one person's alone; None where all are known."""
        self._loss = loss
        try:
            self._kind = loss_name(loss)
            self._modules = modules_of(network)
        except NotKnown as found:
            self.not_known = str(found)

    def must_be_known(self) -> None:
        """Refuse a network or loss of which nothing is proved."""
        if self.not_known is not None:
            raise InputError(
                f"Expected layers whose gradients are proved to be each person's alone, got {self.not_known}; known "
                f"are {KNOWN}. Use these, or allow_unproved=True for a guarantee that is not proved."
            )

    def blocks(self, features: torch.Tensor, labels: torch.Tensor) -> Iterator[torch.Tensor]:
        """The rows of all examples in their order, as many at a time as fit into memory."""
        if not len(features):
            return
        way = self._way(features, labels)
        size = max(1, _BLOCK_NUMBERS.get(features.device.type, 2**20) // self.size)
        for first in range(0, len(features), size):
            here = slice(first, first + size)
            yield way.rows(features[here].detach(), labels[here].detach())

    def clipped_sum(self, features: torch.Tensor, labels: torch.Tensor, clip: float, steps: int) -> NDArray[np.int64]:
        """The sum of all rows, each clipped to ``clip`` in L2 and written in whole numbers of clip/steps."""
        if len(features):
            at_once = getattr(self._way(features, labels), "clipped_sum", None)
            if at_once is not None:  # compiled rows are clipped one by one, while they are in the cache
                found: NDArray[np.int64] = at_once(features, labels, clip, steps, 2)
                return found
        total = np.zeros(self.size, dtype=np.int64)
        for block in self.blocks(features, labels):
            total += whole_sum(whole_rows(block, clip, steps))
        return total

    def _way(self, features: torch.Tensor, labels: torch.Tensor) -> Way:
        if self.not_known is not None:
            return AnyNetwork(self.network, self._loss, self.parameters)
        layers = shaped(self._modules, tuple(features.shape[1:]))
        _check_labels(labels, layers[-1].after, self._kind)
        must_keep_subnormals()
        return _proved(layers, self.parameters, features.device)

    def assign(self, gradient: torch.Tensor) -> None:
        """Give the parameters this gradient, as if ``backward`` had found it."""
        first = 0
        for each in self.parameters:
            part = gradient[first : first + each.numel()]
            each.grad = part.to(device=each.device, dtype=each.dtype).view_as(each)
            first += each.numel()


def _proved(layers: Sequence[Layer], trained: Sequence[torch.nn.Parameter], device: torch.device) -> Way:
    if device.type == "cpu" and find_spec("numba"):
        from bipartite.learn.gradients.compiled_rows import CompiledRows  # noqa: PLC0415 (needs an extra; compiles)

        return CompiledRows(layers, trained)
    return ExactProducts(layers, trained)


def _check_labels(labels: torch.Tensor, outputs: tuple[int, ...], kind: str) -> None:
    """Refuse labels that the loss cannot take, without showing any."""
    if kind == "classes":
        fits = len(outputs) == 1 and labels.dim() == 1 and not labels.is_floating_point()
        if fits and bool(((labels >= 0) & (labels < outputs[0])).all()):
            return
        raise InputError(
            f"Expected a class from 0 to {outputs[0] - 1} for each row, got labels of shape {tuple(labels.shape)} that "
            "are not, at least for somebody; labels are not shown. See that they are in range."
        )
    count = outputs[0] if len(outputs) == 1 else 0
    if not labels.is_floating_point() or labels[0].numel() != count:
        raise InputError(
            f"Expected {count} numbers in floating point as the target of each row, one for each output, got "
            f"{str(labels.dtype).removeprefix('torch.')} of shape {tuple(labels.shape[1:])}; use labels.float()."
        )
