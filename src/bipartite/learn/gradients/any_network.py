"""Rows of a network whose layers are not known here, by torch's own gradients: not proved to keep people apart.

Torch computes several people at once, and its kernels differ with the number of rows, with their place in memory and
with the processor; so do the last bits. On some processors most rows change when one person leaves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import torch
from torch.func import functional_call, grad, vmap

from bipartite.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bipartite.learn.gradients.layers import Loss

    Named = dict[str, torch.Tensor]

NOT_PROVED: Final = (
    "the numbers below hold only if nobody's gradient depends on other people in any bit, which torch does not promise"
)
_FOR_SOMEBODY: Final = "for somebody's values, which are not shown; see that labels and features are in range."
_VMAP_RANDOM: Final = "random operation while in randomness error mode"


class AnyNetwork:
    """The gradients of any module that takes one person at a time, in the order of its trained parameters."""

    def __init__(self, network: torch.nn.Module, loss: Loss, trained: Sequence[torch.nn.Parameter]) -> None:
        self._network = network
        self._loss = loss
        self._trained = {id(each) for each in trained}
        self._gradients = vmap(grad(self._of_one), in_dims=(None, None, 0, 0), randomness="error")

    def _of_one(self, trained: Named, fixed: Named, features: torch.Tensor, label: torch.Tensor) -> torch.Tensor:
        output = functional_call(self._network, {**trained, **fixed}, (features[None],))
        return self._loss(output, label[None])

    def rows(self, features: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """A row for each person."""
        parameters = {name: each.detach() for name, each in self._network.named_parameters() if each.requires_grad}
        fixed = {name: each.detach() for name, each in self._network.named_parameters() if not each.requires_grad}
        fixed |= {name: each.detach() for name, each in self._network.named_buffers()}
        try:
            found = self._gradients(parameters, fixed, features, labels)
        except torch.OutOfMemoryError:
            raise
        except Exception:  # noqa: BLE001 (whatever a network raises may show somebody's value)
            found = None
        if found is None:  # outside of the handler, for an error carries the one that is being handled
            raise self._refusal(parameters, fixed, features, labels)
        return torch.cat([found[name].flatten(1) for name in parameters], dim=1)

    def _refusal(self, trained: Named, fixed: Named, features: torch.Tensor, labels: torch.Tensor) -> InputError:
        """What is wrong with zeros may be told, and is most often the reason."""
        refused = _FOR_SOMEBODY
        try:
            self._gradients(trained, fixed, torch.zeros_like(features), torch.zeros_like(labels))
        except Exception as error:  # noqa: BLE001
            refused = str(error)
        if _VMAP_RANDOM in refused:
            return InputError(
                "Expected a network that draws nothing at random, got one that does (dropout, perhaps): its draws "
                "would tie one person's gradient to others; leave that layer out, or call eval() on it."
            )
        return InputError(
            f"Expected a network and a loss that take one row and its label each; computing failed: {refused}"
        )
