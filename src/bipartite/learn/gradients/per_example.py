"""The gradient of every person's loss, as one row of numbers each.

The privacy of a sum needs more than that rows are gradients of single people: the row of one person must be the same
*bit for bit* whoever else is there, or one record more changes the rows of others too. So the gradient of one person is
read once as a graph of operations, without anybody's numbers; the graph then runs for many people at once
(``torch.func.vmap``), and only through operations whose result no order of computing can change (``operations.py``).
``docs/one-persons-row.md`` is the proof.
"""

from __future__ import annotations

import itertools
import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch
from torch.func import functional_call, functionalize, grad, vmap
from torch.fx.experimental.proxy_tensor import make_fx
from torch.nn.attention import SDPBackend, sdpa_kernel

from bipartite.errors import InputError
from bipartite.learn.gradients.exact_numbers import must_keep_subnormals
from bipartite.learn.gradients.operations import PARTS, OrderFree, Widest
from bipartite.learn.gradients.replacements import NotOrderFree
from bipartite.learn.gradients.whole import whole_rows, whole_sum

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
    Named = dict[str, torch.Tensor]

_BLOCK_NUMBERS: Final = {"cpu": 2**20, "cuda": 2**27}
"""Numbers in one block of gradients, of which a few copies are alive at a time: what a cache of a CPU holds, and what
fills a GPU."""

_MEET: Final = (
    "Expected a network in which examples do not meet, got one in which a made-up person's row changed with another "
    "person's features, or alone; compute each output from one row of features."
)


@dataclass(frozen=True)
class _Read:
    """What was read of a network for people of one shape."""

    run: Callable[..., Named]
    outputs: tuple[int, ...]
    """The shape of what the network gives for one person."""
    widest: int
    """The most numbers of one person that are held at once in one tensor."""


class PerExample:
    """Gradients of single examples of a network, in any layers whose operations are known (``operations.py``).

    Only parameters that require a gradient count, in the order of ``network.parameters()``. Everything is computed in
    doubles. What a network does beside its operations happens once, when it is read: a number that ``forward`` draws,
    counts or prints is that of this reading. A layer that looks at several examples at once has no gradient of one
    person; batch normalisation is refused for that reason. Dropout is refused too: its draws come from a statistical
    generator, person after person, so that one record more would change everybody's rows.
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
        self._loss = loss
        self._read: dict[Any, _Read] = {}

    def read(self, features: torch.Tensor, labels: torch.Tensor) -> _Read:
        """Read the network for people like these, of whom only shapes and types are looked at.

        Raises
        ------
        InputError
            For a network that cannot take them, or with the operation for which nothing is proved.
        """
        now = [each for each in self.network.parameters() if each.requires_grad]
        if len(now) != len(self.parameters) or any(a is not b for a, b in zip(now, self.parameters, strict=True)):
            raise InputError(
                "Expected the parameters that were there before, got others to train; make a new PerExample."
            )
        layers = tuple((name, type(each), each.training) for name, each in self.network.named_modules())
        kind = (features.shape[1:], labels.shape[1:], labels.is_floating_point(), features.device, layers)
        if kind not in self._read:
            try:
                self._read[kind] = self._graph(features, labels)
            except NotOrderFree as refused:
                raise InputError(
                    "Expected operations whose results no order of computing can change, so that a row is proved to be "
                    f"one person's alone, got {refused}. Use another layer, or write this one with operations such "
                    "as *, torch.where and torch.exp; docs/one-persons-row.md lists what is known."
                ) from None
            except InputError:
                raise
            except Exception as error:  # noqa: BLE001 (whatever zeros raise: it shows nobody's value)
                looks = "tracing tensor" in str(error)
                why = "forward looks at a value, by if or .item(); use torch.where" if looks else error
                raise InputError(
                    f"Expected a network and a loss that fit features of shape {tuple(features.shape[1:])} and labels "
                    f"of shape {tuple(labels.shape[1:])} for one person, got ones that fail on zeros in doubles: {why}"
                ) from None
        return self._read[kind]

    def _graph(self, features: torch.Tensor, labels: torch.Tensor) -> _Read:
        x = torch.zeros(features.shape[1:], dtype=torch.float64, device=features.device)
        y = torch.zeros(labels.shape[1:], dtype=_kind(labels), device=labels.device)

        def of_one(trained: Named, fixed: Named, features: torch.Tensor, label: torch.Tensor) -> torch.Tensor:
            output = self._output({**trained, **fixed}, features[None])
            if label.is_floating_point() and label.numel() == output.numel() == 1:  # it needs no axis of its own
                label = label.reshape(output.shape[1:])
            return self._loss(output, label[None])

        # torch warns where a target of another shape than the output would be broadcast, and then goes on. Recurrent
        # layers on a GPU ask where in memory weights lie, unless cuDNN is off.
        off = torch.backends.cudnn.flags(enabled=False)
        with sdpa_kernel(SDPBackend.MATH), off, warnings.catch_warnings():
            warnings.filterwarnings("error", message="Using a target size")
            traced = make_fx(functionalize(grad(of_one), remove="mutations"), decomposition_table=PARTS)
            trained, fixed = self._numbers()
            graph = traced(trained, fixed, x, y)
            outputs = tuple(self._output({**trained, **fixed}, x[None]).shape[1:])
        if any(each.target is torch.ops.aten.copy_.default for each in graph.graph.nodes):
            raise NotOrderFree("a network that changes its own numbers while it computes, as a running mean does")
        for each in graph.graph.nodes:  # another's rule for many people could do anything
            if each.op == "call_function" and getattr(each.target, "namespace", "aten") != "aten":
                raise NotOrderFree(f"{each.target}")
        graph.graph.eliminate_dead_code()
        graph.recompile()
        run: Callable[..., Named] = vmap(graph, in_dims=(None, None, 0, 0), randomness="different")
        return _Read(run, outputs, self._try(run, x, y))

    def _output(self, numbers: Named, x: torch.Tensor) -> torch.Tensor:
        """What the network gives with these numbers.

        Shared ones are put in their places here: ``tie_weights`` loses those of a layer that stands at two places.
        """
        first: dict[int, str] = {}
        placed = {
            name: numbers[first.setdefault(id(each), name)]
            for at, module in self.network.named_modules()
            for tensors in (module.named_parameters, module.named_buffers)
            for name, each in tensors(at, recurse=False, remove_duplicate=False)
        }
        found: torch.Tensor = functional_call(self.network, placed, (x,), tie_weights=False)
        return found

    def _numbers(self) -> tuple[Named, Named]:
        """The parameters that are trained, and all other numbers of the network."""
        parameters = {name: each.detach().double() for name, each in self.network.named_parameters()}
        trained = {name for name, each in self.network.named_parameters() if each.requires_grad}
        fixed = {name: each for name, each in parameters.items() if name not in trained}
        fixed |= {
            name: each.double() if each.is_floating_point() else each for name, each in self.network.named_buffers()
        }
        return {name: each for name, each in parameters.items() if name in trained}, fixed

    def _try(self, run: Callable[..., Named], x: torch.Tensor, y: torch.Tensor) -> int:
        """Compute the rows of three made-up people, which meets every operation; returns how wide these are.

        The first and the last must have the same rows beside any second person, and alone.
        """
        x = torch.linspace(0, 1, 3 * x.numel(), dtype=x.dtype, device=x.device).reshape(3, *x.shape)
        y = y.expand(3, *y.shape).clone()
        with Widest() as widest:  # type: ignore[no-untyped-call]  # torch has no types here
            before = self._rows(run, x, y).nan_to_num(0.5)
        second = (x[1] * math.nan, x[1] * 2.0**60, torch.ones_like(x[1]), torch.full_like(x[1], 2.0))
        for features, label in itertools.product(second, (0, 1)):
            other, told = x.clone(), y.clone()
            other[1], told[1] = features, label
            try:
                after = self._rows(run, other, told).nan_to_num(0.5)
            except (IndexError, RuntimeError):  # it looks something up that is not there
                continue
            if not torch.equal(before[::2], after[::2]):
                raise InputError(_MEET)
        if not torch.equal(before[:1], self._rows(run, x[:1], y[:1]).nan_to_num(0.5)):
            raise InputError(_MEET)
        wide: int = -(-widest.numbers // len(x))
        return wide

    def _rows(self, run: Callable[..., Named], x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        trained, fixed = self._numbers()
        with OrderFree():  # type: ignore[no-untyped-call]  # torch has no types here
            found = run(trained, fixed, x, y)
        return torch.cat([found[name].reshape(len(x), -1) for name in trained], dim=1)

    def _finite_rows(self, run: Callable[..., Named], features: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Rows, of NaN for who has a number that is not finite; zeros are computed with in that person's place."""
        x, y = features.detach().double(), labels.detach().to(_kind(labels))
        finite = x.reshape(len(x), -1).isfinite().all(1) & y.reshape(len(y), -1).isfinite().all(1)
        x, y = (torch.where(finite.view(-1, *[1] * (each.dim() - 1)), each, 0) for each in (x, y))
        return torch.where(finite[:, None], self._rows(run, x, y), math.nan)  # counts as nothing

    def blocks(self, features: torch.Tensor, labels: torch.Tensor) -> Iterator[torch.Tensor]:
        """The rows of all examples in their order, in doubles, as many at a time as fit into memory.

        A record with a number that is not finite has a row of NaN, which counts as nothing.
        """
        if not len(features):
            return
        read = self.read(features, labels)
        _check_labels(labels, read.outputs)
        must_keep_subnormals()
        size = max(1, _BLOCK_NUMBERS.get(features.device.type, 2**20) // max(self.size, read.widest))
        for first in range(0, len(features), size):
            here = slice(first, first + size)
            yield _tactful(lambda: self._finite_rows(read.run, features[here], labels[here]))  # noqa: B023 (called at once)

    def clipped_sum(self, features: torch.Tensor, labels: torch.Tensor, clip: float, steps: int) -> NDArray[np.int64]:
        """The sum of all rows, each clipped to ``clip`` in L2 and written in whole numbers of clip/steps."""
        total = np.zeros(self.size, dtype=np.int64)
        for block in self.blocks(features, labels):
            total += whole_sum(whole_rows(block, clip, steps))
        return total

    def assign(self, gradient: torch.Tensor) -> None:
        """Give the parameters this gradient, as if ``backward`` had found it."""
        first = 0
        for each in self.parameters:
            part = gradient[first : first + each.numel()]
            each.grad = part.to(device=each.device, dtype=each.dtype).view_as(each)
            first += each.numel()


def _kind(labels: torch.Tensor) -> torch.dtype:
    return torch.float64 if labels.is_floating_point() else torch.int64


def _check_labels(labels: torch.Tensor, outputs: tuple[int, ...]) -> None:
    """Refuse classes that are not among the outputs, without showing any: a look-up would tell which."""
    if labels.is_floating_point():
        return
    if not outputs or not bool(((labels >= 0) & (labels < outputs[0])).all()):
        raise InputError(
            f"Expected classes from 0 to {outputs[0] - 1 if outputs else 0} as labels, got others, at least for "
            "somebody; labels are not shown. See that they are in range."
        )


def _tactful(compute: Callable[[], torch.Tensor]) -> torch.Tensor:
    """What is computed, or a refusal without the values that torch might show."""
    try:
        return compute()
    except torch.OutOfMemoryError:
        raise
    except Exception:  # noqa: BLE001, S110 (whatever is raised may show somebody's value)
        pass
    raise InputError(  # outside of the handler, for an error carries the one that is being handled
        "Expected features for which the network can be computed, got others, at least for somebody; values are not "
        "shown. See that all numbers that look something up are in range."
    )
