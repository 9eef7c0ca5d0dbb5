"""Exact products: the gradients of many people at once, by matrix products in which no order can matter.

For GPUs, and for CPUs without numba. :mod:`~bipartite.learn.gradients.exact_numbers` says why no row can depend on
another; ``docs/one-persons-row.md`` is the proof. Convolutions are products of unfolded pictures, never torch's own,
which may go through transforms that round.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

from bipartite.learn.gradients.elementary import GELU_CUBE, GELU_SCALE
from bipartite.learn.gradients.exact_numbers import (
    WholeRows,
    bits_for,
    bits_left,
    by_halves,
    exponential,
    hyperbolic_tangent,
    sigmoid,
    square_root,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bipartite.learn.gradients.layers import Layer

    # What a layer remembers of its forward pass, and the gradients of its parameters.
    Kept = tuple[torch.Tensor, ...]


class ExactProducts:
    """The gradients of a network of known layers, in the order of its trained parameters, on any device."""

    def __init__(self, layers: Sequence[Layer], trained: Sequence[torch.nn.Parameter]) -> None:
        self._layers = layers
        self._trained = [id(each) for each in trained]
        self._first = min(at for at, each in enumerate(layers) if self._parameters(each))

    def _parameters(self, layer: Layer) -> set[int]:
        return {id(layer.weight), id(layer.bias)} & set(self._trained)

    @torch.no_grad()
    def rows(self, features: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """A row of doubles for each person; ``labels`` are classes, or as many numbers as there are outputs."""
        x = features.double()
        finite = torch.ones(len(x), dtype=torch.bool, device=x.device)
        steps = []
        for layer in self._layers:
            step = _STEPS[layer.kind](layer, finite)
            x = step.forward(x)
            steps.append(step)
        d = _of_classes(x, labels) if not labels.is_floating_point() else _of_squares(x, labels)
        found: dict[int, torch.Tensor] = {}
        for at in range(len(steps) - 1, self._first - 1, -1):
            layer = self._layers[at]
            d, parts = steps[at].backward(d, wanted=at > self._first)
            found |= {id(each): part.flatten(1) for each, part in zip((layer.weight, layer.bias), parts, strict=True)}
        rows = torch.cat([found[each] for each in self._trained], dim=1)
        rows[~finite] = math.nan  # counts as nothing
        return rows


class _Step:
    """One layer for one block of people; ``finite`` is cleared for whom a product was not computed."""

    def __init__(self, layer: Layer, finite: torch.Tensor) -> None:
        self.layer = layer
        self._finite = finite

    def whole(self, rows: torch.Tensor, bits: int) -> WholeRows:
        found = WholeRows(rows, bits)
        self._finite &= found.finite
        return found

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The layer's output."""
        raise NotImplementedError

    def backward(self, d: torch.Tensor, *, wanted: bool) -> tuple[torch.Tensor, Kept]:
        """The gradient of its input (anything where that is not wanted), and of weight and bias, where it has them."""
        raise NotImplementedError


class _Linear(_Step):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        weight, bits = _double(self.layer.weight), bits_for(x.shape[1])
        self._x = x
        rows, columns = self.whole(x, bits), self.whole(weight[None], bits_left(bits, x.shape[1]))
        return rows.scaled(rows.numbers @ columns.numbers[0].T, columns) + _bias(self.layer, x)

    def backward(self, d: torch.Tensor, *, wanted: bool) -> tuple[torch.Tensor, Kept]:
        parts = d[:, :, None] * self._x[:, None, :], d
        if not wanted:
            return d, parts
        weight, bits = _double(self.layer.weight), bits_for(d.shape[1])
        rows, columns = self.whole(d, bits), self.whole(weight[None], bits_left(bits, d.shape[1]))
        return rows.scaled(rows.numbers @ columns.numbers[0], columns), parts


class _Conv(_Step):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        layer, (kh, kw), (sh, sw) = self.layer, self.layer.window, self.layer.stride
        places, terms = math.prod(layer.after[1:]), layer.before[0] * kh * kw
        self._bits = bits_for(terms, places)  # for both products of these rows
        self._rows = self.whole(x, self._bits)
        windows = self._rows.numbers.unfold(2, kh, sh).unfold(3, kw, sw)
        self._windows = windows.permute(0, 1, 4, 5, 2, 3).reshape(len(x), terms, places)
        columns = self.whole(_double(layer.weight).flatten(1)[None], bits_left(self._bits, terms))
        found = self._rows.scaled(columns.numbers[0] @ self._windows, columns)
        return (found + _bias(layer, x)[:, None]).view(len(x), *layer.after)

    def backward(self, d: torch.Tensor, *, wanted: bool) -> tuple[torch.Tensor, Kept]:
        layer, (kh, kw), (sh, sw) = self.layer, self.layer.window, self.layer.stride
        d = d.flatten(2)
        ends = self.whole(d, bits_left(self._bits, d.shape[2]))
        weight = ends.scaled(ends.numbers @ self._windows.transpose(1, 2), self._rows)
        parts = weight, by_halves(d)
        if not wanted:
            return d, parts
        # The number of products in which one number before the layer takes part: windows times channels.
        terms = layer.after[0] * math.ceil(kh / sh) * math.ceil(kw / sw)
        bits = bits_for(terms)
        rows = self.whole(d, bits)
        columns = self.whole(_double(layer.weight).flatten(1)[None], bits_left(bits, terms))
        windows = columns.numbers[0].T @ rows.numbers
        folded = torch.nn.functional.fold(windows, layer.before[1:], (kh, kw), stride=(sh, sw))
        return rows.scaled(folded, columns), parts


class _Norm(_Step):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        grouped = x.reshape(len(x), self.layer.groups, -1)
        self._count = grouped.shape[2]
        mean = by_halves(grouped)[:, :, None] / self._count
        spread = by_halves((grouped - mean) * (grouped - mean))[:, :, None] / self._count
        self._scale = 1.0 / square_root(spread + self.layer.epsilon)
        self._x = (grouped - mean) * self._scale
        weight = torch.ones_like(x[0, :]) if self.layer.weight is None else _along(self.layer.weight, x)
        self._weight = weight
        bias = 0.0 if self.layer.bias is None else _along(self.layer.bias, x)
        return self._x.view_as(x) * weight + bias

    def backward(self, d: torch.Tensor, *, wanted: bool) -> tuple[torch.Tensor, Kept]:  # noqa: ARG002 (cheap)
        x = self._x.view_as(d)
        channels = (len(d), d.shape[1], -1)
        parts = by_halves((d * x).reshape(channels)), by_halves(d.reshape(channels))
        inner = (d * self._weight).reshape(self._x.shape)
        total = by_halves(inner)[:, :, None] / self._count
        product = by_halves(inner * self._x)[:, :, None] / self._count
        return (self._scale * ((inner - total) - self._x * product)).view_as(d), parts


class _Reshaped(_Step):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.reshape(len(x), *self.layer.after)

    def backward(self, d: torch.Tensor, *, wanted: bool) -> tuple[torch.Tensor, Kept]:  # noqa: ARG002
        return d.reshape(len(d), *self.layer.before), _none(d)


class _Pad(_Step):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found = x.new_zeros((len(x), *self.layer.after))
        self._inside(found).copy_(x)
        return found

    def backward(self, d: torch.Tensor, *, wanted: bool) -> tuple[torch.Tensor, Kept]:  # noqa: ARG002
        return self._inside(d), _none(d)

    def _inside(self, rows: torch.Tensor) -> torch.Tensor:
        (top, left), (_, height, width) = self.layer.margin, self.layer.before
        return rows[:, :, top : top + height, left : left + width]


class _Pool(_Step):
    def slices(self, rows: torch.Tensor) -> list[torch.Tensor]:
        """For each place in the window, the numbers at it, for all windows: views."""
        (kh, kw), (sh, sw), (_, height, width) = self.layer.window, self.layer.stride, self.layer.after
        return [
            rows[:, :, a : a + (height - 1) * sh + 1 : sh, b : b + (width - 1) * sw + 1 : sw]
            for a in range(kh)
            for b in range(kw)
        ]

    def spread(self, d: torch.Tensor, shares: Sequence[torch.Tensor]) -> torch.Tensor:
        """Add to each place in the window its share, one place after another."""
        found = d.new_zeros((len(d), *self.layer.before))
        for place, share in zip(self.slices(found), shares, strict=True):
            place.add_(share)
        return found


class _Max(_Pool):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        first, *others = self.slices(x)
        self._which = torch.zeros(first.shape, dtype=torch.int32, device=x.device)
        for at, each in enumerate(others, 1):
            larger = each > first
            first = torch.where(larger, each, first)
            self._which.masked_fill_(larger, at)
        return first.contiguous()

    def backward(self, d: torch.Tensor, *, wanted: bool) -> tuple[torch.Tensor, Kept]:  # noqa: ARG002
        count = math.prod(self.layer.window)
        return self.spread(d, [torch.where(self._which == at, d, 0.0) for at in range(count)]), _none(d)


class _Mean(_Pool):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return sum(self.slices(x)[1:], self.slices(x)[0]) / math.prod(self.layer.window)

    def backward(self, d: torch.Tensor, *, wanted: bool) -> tuple[torch.Tensor, Kept]:  # noqa: ARG002
        count = math.prod(self.layer.window)
        return self.spread(d, [d / count] * count), _none(d)


class _Activation(_Step):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        kind = self.layer.kind
        if kind == "relu":
            y = torch.where(x <= 0, 0.0, x)
            self._slope = torch.where(x <= 0, 0.0, torch.ones_like(x))
        elif kind == "tanh":
            y = hyperbolic_tangent(x)
            self._slope = 1.0 - y * y
        elif kind == "gelu":
            t = hyperbolic_tangent((x + x * x * x * GELU_CUBE) * GELU_SCALE)
            y = x * 0.5 * (t + 1.0)
            inner = (x * x * (3.0 * GELU_CUBE) + 1.0) * GELU_SCALE
            self._slope = (t + 1.0) * 0.5 + x * 0.5 * (1.0 - t * t) * inner
        else:
            s = sigmoid(x)
            y = s if kind == "sigmoid" else x * s
            self._slope = s * (1.0 - s) if kind == "sigmoid" else s * (x * (1.0 - s) + 1.0)
        return y

    def backward(self, d: torch.Tensor, *, wanted: bool) -> tuple[torch.Tensor, Kept]:  # noqa: ARG002
        return d * self._slope, _none(d)


_STEPS = {
    "linear": _Linear,
    "conv": _Conv,
    "norm": _Norm,
    "flatten": _Reshaped,
    "unflatten": _Reshaped,
    "pad": _Pad,
    "max": _Max,
    "mean": _Mean,
    **dict.fromkeys(("relu", "tanh", "sigmoid", "silu", "gelu"), _Activation),
}


def _double(weight: torch.Tensor | None) -> torch.Tensor:
    assert weight is not None  # noqa: S101 (these layers have one)
    return weight.detach().double()


def _bias(layer: Layer, like: torch.Tensor) -> torch.Tensor:
    return like.new_zeros(layer.after[0]) if layer.bias is None else layer.bias.detach().double()


def _along(parameter: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """A number for each channel, as wide as rows are."""
    return parameter.detach().double().view(-1, *[1] * (rows.dim() - 2))


def _none(d: torch.Tensor) -> Kept:
    return d[:, :0], d[:, :0]


def _of_classes(z: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """The gradient of cross entropy: the softmax, minus one at the label."""
    found = exponential(z - z.amax(1, keepdim=True))
    found = found / by_halves(found)[:, None]
    return found - (torch.arange(z.shape[1], device=z.device) == labels[:, None]).double()


def _of_squares(z: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    flat = z.flatten(1)
    found = (flat - targets.double().reshape(len(z), -1)) * 2.0 / flat.shape[1]
    return found.view_as(z)
