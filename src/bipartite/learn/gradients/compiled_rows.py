"""Compiled rows: the gradient of each person by loops over that person's numbers alone.

:mod:`~bipartite.learn.gradients.compiled_kernels` has the loops; here a network becomes the program that they follow.
A row is a function of one person's record and the weights: each is computed by the same instructions, in one order,
from memory that holds nothing of anybody else. ``docs/one-persons-row.md`` is the proof.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import torch

from bipartite.learn.gradients.compiled_kernels import COLUMNS, KINDS, clipped_sum, gradients

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from bipartite.learn.gradients.layers import Layer
    from bipartite.learn.gradients.whole import Norm

    Array = NDArray[np.float64]

T = TypeVar("T")


class CompiledRows:
    """The gradients of a network of known layers, in the order of its trained parameters, on the CPU."""

    def __init__(self, layers: Sequence[Layer], trained: Sequence[torch.nn.Parameter]) -> None:
        self._layers = layers
        self._program = np.full((len(layers), len(COLUMNS)), -1, dtype=np.int64)
        self._epsilons = np.array([each.epsilon for each in layers])
        self._size = sum(each.numel() for each in trained)
        places = dict(zip(map(id, trained), np.cumsum([0, *(each.numel() for each in trained)]), strict=False))
        self._wanted = min(at for at, each in enumerate(layers) if {id(each.weight), id(each.bias)} & places.keys())
        value = weight = mark = self._most = 0
        for row, layer in zip(self._program, layers, strict=True):
            said = dict(zip(COLUMNS, row.tolist(), strict=True))
            before, after = _channel_last(layer.before), _channel_last(layer.after)
            said["kind"] = KINDS.index(layer.kind)
            said["height"], said["width"], said["channels"] = before
            said["height_after"], said["width_after"], said["channels_after"] = after
            said["window"], said["window_across"] = layer.window
            said["stride"], said["stride_across"] = layer.stride
            said["top"], said["left"] = layer.margin
            said["groups"] = layer.groups
            said["values"], value = value, value + int(np.prod(before))
            said["values_after"] = value
            parts = _weights(layer)
            for name, part in zip(("weight", "weight_back", "bias"), parts, strict=True):
                said[name], weight = weight, weight + len(part)
            said["gradient"] = places.get(id(layer.weight), -1)
            said["gradient_bias"] = places.get(id(layer.bias), -1)
            said["marks"], mark = mark, mark + (int(np.prod(after)) if layer.kind == "max" else 0)
            self._most = max(self._most, len(parts[0]), 2 * layer.before[0])
            row[:] = list(said.values())
        self._values, self._marks = value + int(np.prod(layers[-1].after)), mark

    def rows(self, features: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """A row of doubles for each person; ``labels`` are classes, or as many numbers as there are outputs."""
        given, program = self._given(features, labels), self._program_and_weights()
        found = np.zeros((len(features), self._size))

        def compute(part: slice) -> None:
            gradients(*program, *(each[part] for each in given), *self._scratch(), found[part])

        _in_threads(compute, len(features))
        return torch.from_numpy(found)

    def clipped_sum(
        self, features: torch.Tensor, labels: torch.Tensor, clip: float, steps: int, norm: Norm
    ) -> NDArray[np.int64]:
        """The sum of all rows, each clipped to whole numbers as by :mod:`~bipartite.learn.gradients.whole`."""
        given, program = self._given(features, labels), self._program_and_weights()

        def compute(part: slice) -> NDArray[np.int64]:
            total = np.zeros(self._size, dtype=np.int64)
            here, scratch = (each[part] for each in given), self._scratch()
            clipped_sum(*program, *here, *scratch, clip, float(steps), norm, np.zeros(self._size), total)
            return total

        found: NDArray[np.int64] = sum(_in_threads(compute, len(features)), np.zeros(self._size, dtype=np.int64))
        return found

    def _program_and_weights(self) -> tuple[NDArray[np.int64], Array, Array, int]:
        weights = np.concatenate([part for layer in self._layers for part in _weights(layer)])
        return self._program, self._epsilons, weights, self._wanted

    def _given(self, features: torch.Tensor, labels: torch.Tensor) -> tuple[Array, NDArray[np.int64], Array]:
        """Features, classes (−1 where numbers are asked for) and targets, as the loops read them."""
        count = len(features)
        if labels.is_floating_point():
            targets = labels.detach().double().reshape(count, -1).contiguous().numpy()
            classes = np.full(count, -1, dtype=np.int64)
        else:
            classes, targets = labels.detach().long().contiguous().numpy(), np.zeros((count, 0))
        return features.detach().double().flatten(1).contiguous().numpy(), classes, targets

    def _scratch(self) -> tuple[Array, Array, NDArray[np.int64], Array]:
        return (
            np.empty(self._values),
            np.empty(self._values),
            np.empty(self._marks, dtype=np.int64),
            np.empty(self._most),
        )


def _in_threads(compute: Callable[[slice], T], people: int) -> list[T]:
    """As many parts as torch has threads; whole parts, so that all of them run in threads that were made alike."""
    workers = torch.get_num_threads()
    each = max(1, -(-people // workers))
    parts = [slice(first, first + each) for first in range(0, people, each)]
    if workers == 1:
        return [compute(part) for part in parts]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(compute, parts))


def _channel_last(shape: tuple[int, ...]) -> tuple[int, int, int]:
    """Numbers in a row are channels of a picture of one point."""
    return (shape[1], shape[2], shape[0]) if len(shape) > 1 else (1, 1, shape[0])


def _weights(layer: Layer) -> tuple[Array, Array, Array]:
    """What the loops read of a layer: its weights in two orders, forwards and backwards, and what is added."""
    nothing = np.zeros(0)
    outputs = layer.after[0]
    bias = np.zeros(outputs) if layer.bias is None else layer.bias.detach().double().numpy()
    if layer.kind == "norm":
        weight = np.ones(outputs) if layer.weight is None else layer.weight.detach().double().numpy()
        return weight, nothing, bias
    if layer.weight is None:
        return nothing, nothing, nothing
    weight = layer.weight.detach().double().numpy()
    if layer.kind == "linear":
        return weight.T.ravel(), weight.ravel(), bias
    return weight.transpose(2, 3, 1, 0).ravel(), weight.transpose(2, 3, 0, 1).ravel(), bias
