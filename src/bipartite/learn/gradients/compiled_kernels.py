"""Gradients of single people as machine code (numba): the loops.

Everything here is +, −, ×, ÷, a square root and a comparison of doubles, in an order that is written down; nothing is
compiled with fast-math, so the compiler may neither reorder a sum nor fuse a product into one. Pictures lie in memory
by row, column and channel, so that the inner loops run over channels.

Importing this module compiles the kernels, or loads them from numba's cache. All of them are in this one file because
that cache notices only a change of the file of the function that it holds, not of one that the function calls: with
layers in a file of their own, an edited layer was still run, and tested, as it had been.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numba import njit, types

from bipartite.learn.gradients.elementary import EXPONENTS, GELU_CUBE, GELU_SCALE, LN_2, LOG2_E, MARGIN, TAYLOR
from bipartite.lottery.caching import can_cache

KINDS: Final = (
    "pad", "conv", "linear", "max", "mean", "norm", "flatten", "unflatten", "relu", "tanh", "sigmoid", "silu", "gelu",
)  # fmt: skip
"""Layers by their number in a program."""
PAD, CONV, LINEAR, MAX, MEAN, NORM, FLATTEN, UNFLATTEN, RELU, TANH, SIGMOID, SILU, GELU = range(len(KINDS))
COLUMNS: Final = (
    "kind", "height", "width", "channels", "height_after", "width_after", "channels_after", "window", "window_across",
    "stride", "stride_across", "top", "left", "groups", "values", "values_after", "weight", "weight_back", "bias",
    "gradient", "gradient_bias", "marks",
)  # fmt: skip
"""What a program says of each layer: sizes, then places in the arrays of values, weights, gradients and marks."""
(
    _KIND, _H, _W, _C, _HA, _WA, _CA, _KH, _KW, _SH, _SW, _TOP, _LEFT, _GROUPS, _V, _VA, _WT, _WB, _B, _G, _GB, _MARKS,
) = range(len(COLUMNS))  # fmt: skip

_POWERS: Final = np.ldexp(1.0, np.arange(-EXPONENTS, 2))  # exact, which a library's powers may not be
_TERMS: Final = np.array(TAYLOR)
_HIGH, _LOW = LN_2

_options: Final[dict[str, Any]] = {"cache": can_cache(), "nogil": True, "error_model": "numpy", "fastmath": False}


@njit(**_options)
def _exp(x: Any) -> Any:
    """e^x for x ≤ 0."""
    if not x > -EXPONENTS * _HIGH:  # also what is not a number, which stays one below
        return x * 0.0 + _POWERS[0]
    k = math.floor(x * LOG2_E + 0.5)
    r = (x - k * _HIGH) - k * _LOW
    found = _TERMS[0]
    for n in range(1, _TERMS.shape[0]):
        found = found * r + _TERMS[n]
    return found * _POWERS[int(k) + EXPONENTS]


@njit(**_options)
def _tanh(x: Any) -> Any:
    t = _exp(-2.0 * abs(x))
    found = (1.0 - t) / (1.0 + t)
    return -found if x < 0.0 else found


@njit(**_options)
def _sigmoid(x: Any) -> Any:
    t = _exp(-abs(x))
    return t / (1.0 + t) if x < 0.0 else 1.0 / (1.0 + t)


@njit(**_options)
def _activate(kind: Any, x: Any, y: Any) -> None:
    for i in range(x.shape[0]):
        v = x[i]
        if kind == RELU:
            y[i] = max(0.0, v)
        elif kind == TANH:
            y[i] = _tanh(v)
        elif kind == SIGMOID:
            y[i] = _sigmoid(v)
        elif kind == SILU:
            y[i] = v * _sigmoid(v)
        else:
            y[i] = 0.5 * v * (1.0 + _tanh(GELU_SCALE * (v + GELU_CUBE * v * v * v)))


@njit(**_options)
def _activate_back(kind: Any, x: Any, y: Any, d: Any, dx: Any) -> None:
    for i in range(x.shape[0]):
        v = x[i]
        if kind == RELU:
            dx[i] = 0.0 if v <= 0.0 else d[i]
        elif kind == TANH:
            dx[i] = d[i] * (1.0 - y[i] * y[i])
        elif kind == SIGMOID:
            dx[i] = d[i] * (y[i] * (1.0 - y[i]))
        elif kind == SILU:
            s = _sigmoid(v)
            dx[i] = d[i] * (s * (1.0 + v * (1.0 - s)))
        else:
            t = _tanh(GELU_SCALE * (v + GELU_CUBE * v * v * v))
            slope = GELU_SCALE * (1.0 + 3.0 * GELU_CUBE * v * v)
            dx[i] = d[i] * (0.5 * (1.0 + t) + 0.5 * v * (1.0 - t * t) * slope)


@njit(**_options)
def _conv(x: Any, w: Any, bias: Any, sh: Any, sw: Any, z: Any) -> None:
    """Weights by place in the window, channel before and channel after."""
    for i in range(z.shape[0]):
        for j in range(z.shape[1]):
            sums = z[i, j]
            for o in range(sums.shape[0]):
                sums[o] = bias[o]
            for a in range(w.shape[0]):
                for b in range(w.shape[1]):
                    for c in range(w.shape[2]):
                        v = x[i * sh + a, j * sw + b, c]
                        if v != 0.0:
                            row = w[a, b, c]
                            for o in range(sums.shape[0]):
                                sums[o] += row[o] * v


@njit(**_options)
def _conv_weights(x: Any, d: Any, sh: Any, sw: Any, g: Any) -> None:
    g[:] = 0.0
    for i in range(d.shape[0]):
        for j in range(d.shape[1]):
            here = d[i, j]
            for a in range(g.shape[0]):
                for b in range(g.shape[1]):
                    for c in range(g.shape[2]):
                        v = x[i * sh + a, j * sw + b, c]
                        if v != 0.0:
                            row = g[a, b, c]
                            for o in range(here.shape[0]):
                                row[o] += here[o] * v


@njit(**_options)
def _conv_back(d: Any, w: Any, sh: Any, sw: Any, dx: Any) -> None:
    """Weights by place in the window, channel after and channel before."""
    dx[:] = 0.0
    for i in range(d.shape[0]):
        for j in range(d.shape[1]):
            for o in range(d.shape[2]):
                v = d[i, j, o]
                if v != 0.0:
                    for a in range(w.shape[0]):
                        for b in range(w.shape[1]):
                            sums, row = dx[i * sh + a, j * sw + b], w[a, b, o]
                            for c in range(sums.shape[0]):
                                sums[c] += row[c] * v


@njit(**_options)
def _max(x: Any, kh: Any, kw: Any, sh: Any, sw: Any, y: Any, marks: Any) -> None:
    at = 0
    for i in range(y.shape[0]):
        for j in range(y.shape[1]):
            for c in range(y.shape[2]):
                best, mark = x[i * sh, j * sw, c], (i * sh * x.shape[1] + j * sw) * x.shape[2] + c
                for a in range(kh):
                    for b in range(kw):
                        v = x[i * sh + a, j * sw + b, c]
                        if v > best:
                            best, mark = v, ((i * sh + a) * x.shape[1] + j * sw + b) * x.shape[2] + c
                y[i, j, c], marks[at] = best, mark
                at += 1


@njit(**_options)
def _mean(x: Any, kh: Any, kw: Any, sh: Any, sw: Any, y: Any) -> None:
    for i in range(y.shape[0]):
        for j in range(y.shape[1]):
            for c in range(y.shape[2]):
                total = 0.0
                for a in range(kh):
                    for b in range(kw):
                        total += x[i * sh + a, j * sw + b, c]
                y[i, j, c] = total / (kh * kw)


@njit(**_options)
def _mean_back(d: Any, kh: Any, kw: Any, sh: Any, sw: Any, dx: Any) -> None:
    dx[:] = 0.0
    for i in range(d.shape[0]):
        for j in range(d.shape[1]):
            for c in range(d.shape[2]):
                v = d[i, j, c] / (kh * kw)
                for a in range(kh):
                    for b in range(kw):
                        dx[i * sh + a, j * sw + b, c] += v


@njit(**_options)
def _group(x: Any, first: Any, last: Any, epsilon: Any) -> Any:
    """The mean of some channels, and one over their standard deviation."""
    count = x.shape[0] * x.shape[1] * (last - first)
    total = 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            for c in range(first, last):
                total += x[i, j, c]
    mean = total / count
    total = 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            for c in range(first, last):
                total += (x[i, j, c] - mean) * (x[i, j, c] - mean)
    return mean, 1.0 / math.sqrt(total / count + epsilon)


@njit(**_options)
def _norm(x: Any, groups: Any, epsilon: Any, weight: Any, bias: Any, y: Any) -> None:
    each = x.shape[2] // groups
    for group in range(groups):
        mean, scale = _group(x, group * each, (group + 1) * each, epsilon)
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                for c in range(group * each, (group + 1) * each):
                    y[i, j, c] = (x[i, j, c] - mean) * scale * weight[c] + bias[c]


@njit(**_options)
def _norm_back(x: Any, groups: Any, epsilon: Any, weight: Any, d: Any, g: Any, g_bias: Any, dx: Any) -> None:
    each = x.shape[2] // groups
    g[:], g_bias[:] = 0.0, 0.0
    for group in range(groups):
        first, last = group * each, (group + 1) * each
        mean, scale = _group(x, first, last, epsilon)
        total, product = 0.0, 0.0
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                for c in range(first, last):
                    v = (x[i, j, c] - mean) * scale
                    g[c] += d[i, j, c] * v
                    g_bias[c] += d[i, j, c]
                    total += d[i, j, c] * weight[c]
                    product += d[i, j, c] * weight[c] * v
        count = x.shape[0] * x.shape[1] * each
        total, product = total / count, product / count
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                for c in range(first, last):
                    v = (x[i, j, c] - mean) * scale
                    dx[i, j, c] = scale * ((d[i, j, c] * weight[c] - total) - v * product)


@njit(**_options)
def _linear(x: Any, w: Any, bias: Any, z: Any) -> None:
    """Weights by number before and number after."""
    for o in range(z.shape[0]):
        z[o] = bias[o]
    for k in range(x.shape[0]):
        v = x[k]
        if v != 0.0:
            row = w[k]
            for o in range(z.shape[0]):
                z[o] += row[o] * v


@njit(**_options)
def _linear_back(d: Any, w: Any, dx: Any) -> None:
    """Weights by number after and number before."""
    dx[:] = 0.0
    for o in range(d.shape[0]):
        v = d[o]
        if v != 0.0:
            row = w[o]
            for k in range(dx.shape[0]):
                dx[k] += row[k] * v


@njit(**_options)
def _by_channel_last(x: Any, y: Any) -> None:
    """From channel, row, column to row, column, channel."""
    for c in range(y.shape[2]):
        for i in range(y.shape[0]):
            for j in range(y.shape[1]):
                y[i, j, c] = x[(c * y.shape[0] + i) * y.shape[1] + j]


@njit(**_options)
def _by_channel_first(x: Any, y: Any) -> None:
    """From row, column, channel to channel, row, column."""
    for c in range(x.shape[2]):
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                y[(c * x.shape[0] + i) * x.shape[1] + j] = x[i, j, c]


@njit(**_options)
def _forward(p: Any, epsilon: Any, weights: Any, values: Any, marks: Any) -> None:
    """Compute the output of one layer."""
    kind, size, after = p[_KIND], p[_H] * p[_W] * p[_C], p[_HA] * p[_WA] * p[_CA]
    flat, flat_after = values[p[_V] : p[_V] + size], values[p[_VA] : p[_VA] + after]
    x = flat.reshape((p[_H], p[_W], p[_C]))
    y = flat_after.reshape((p[_HA], p[_WA], p[_CA]))
    bias = weights[p[_B] : p[_B] + p[_CA]]
    if kind >= RELU:
        _activate(kind, flat, flat_after)
    elif kind == PAD:
        y[:] = 0.0
        y[p[_TOP] : p[_TOP] + p[_H], p[_LEFT] : p[_LEFT] + p[_W]] = x
    elif kind == CONV:
        count = p[_KH] * p[_KW] * p[_C] * p[_CA]
        w = weights[p[_WT] : p[_WT] + count].reshape((p[_KH], p[_KW], p[_C], p[_CA]))
        _conv(x, w, bias, p[_SH], p[_SW], y)
    elif kind == LINEAR:
        _linear(flat, weights[p[_WT] : p[_WT] + size * after].reshape((size, after)), bias, flat_after)
    elif kind == MAX:
        _max(x, p[_KH], p[_KW], p[_SH], p[_SW], y, marks[p[_MARKS] : p[_MARKS] + after])
    elif kind == MEAN:
        _mean(x, p[_KH], p[_KW], p[_SH], p[_SW], y)
    elif kind == NORM:
        _norm(x, p[_GROUPS], epsilon, weights[p[_WT] : p[_WT] + p[_C]], bias, y)
    elif kind == FLATTEN:
        _by_channel_first(x, flat_after)
    elif kind == UNFLATTEN:
        _by_channel_last(flat, y)


@njit(**_options)
def _backward(
    p: Any, epsilon: Any, weights: Any, values: Any, deltas: Any, marks: Any, sums: Any, row: Any, wanted: Any
) -> None:
    """Compute one layer's part of the gradient and, where an earlier layer needs it, the gradient of its input."""
    kind, size, after = p[_KIND], p[_H] * p[_W] * p[_C], p[_HA] * p[_WA] * p[_CA]
    flat, flat_after = values[p[_V] : p[_V] + size], values[p[_VA] : p[_VA] + after]
    flat_dx, flat_d = deltas[p[_V] : p[_V] + size], deltas[p[_VA] : p[_VA] + after]
    x, dx = flat.reshape((p[_H], p[_W], p[_C])), flat_dx.reshape((p[_H], p[_W], p[_C]))
    d = flat_d.reshape((p[_HA], p[_WA], p[_CA]))
    if kind >= RELU:
        _activate_back(kind, flat, flat_after, flat_d, flat_dx)
    elif kind == PAD:
        dx[:] = d[p[_TOP] : p[_TOP] + p[_H], p[_LEFT] : p[_LEFT] + p[_W]]
    elif kind == CONV:
        places = p[_KH] * p[_KW]
        count = places * p[_C] * p[_CA]
        if p[_G] >= 0:
            _conv_weights(x, d, p[_SH], p[_SW], sums[:count].reshape((p[_KH], p[_KW], p[_C], p[_CA])))
            # As torch has it: by channel after, channel before, place in the window.
            g, found = row[p[_G] : p[_G] + count].reshape((p[_CA], p[_C], places)), sums[:count]
            for o in range(p[_CA]):
                for c in range(p[_C]):
                    for at in range(places):
                        g[o, c, at] = found[(at * p[_C] + c) * p[_CA] + o]
        if p[_GB] >= 0:
            total = row[p[_GB] : p[_GB] + p[_CA]]
            total[:] = 0.0
            for i in range(p[_HA]):
                for j in range(p[_WA]):
                    for o in range(p[_CA]):
                        total[o] += d[i, j, o]
        if wanted:
            back = weights[p[_WB] : p[_WB] + count].reshape((p[_KH], p[_KW], p[_CA], p[_C]))
            _conv_back(d, back, p[_SH], p[_SW], dx)
    elif kind == LINEAR:
        if p[_G] >= 0:
            g = row[p[_G] : p[_G] + size * after].reshape((after, size))
            for o in range(after):
                for k in range(size):
                    g[o, k] = flat_d[o] * flat[k]
        if p[_GB] >= 0:
            row[p[_GB] : p[_GB] + after] = flat_d
        if wanted:
            _linear_back(flat_d, weights[p[_WB] : p[_WB] + size * after].reshape((after, size)), flat_dx)
    elif kind == MAX:
        flat_dx[:] = 0.0
        for at in range(after):
            flat_dx[marks[p[_MARKS] + at]] += flat_d[at]
    elif kind == MEAN:
        _mean_back(d, p[_KH], p[_KW], p[_SH], p[_SW], dx)
    elif kind == NORM:
        g, g_bias = sums[: p[_C]], sums[p[_C] : 2 * p[_C]]
        _norm_back(x, p[_GROUPS], epsilon, weights[p[_WT] : p[_WT] + p[_C]], d, g, g_bias, dx)
        if p[_G] >= 0:
            row[p[_G] : p[_G] + p[_C]] = g
        if p[_GB] >= 0:
            row[p[_GB] : p[_GB] + p[_C]] = g_bias
    elif kind == FLATTEN:
        _by_channel_last(flat_d, dx)
    elif kind == UNFLATTEN:
        _by_channel_first(d, flat_dx)


@njit(**_options)
def _of_classes(z: Any, label: Any, d: Any) -> None:
    """The gradient of cross entropy: the softmax, minus one at the label."""
    most, total = z[0], 0.0
    for o in range(z.shape[0]):
        most = max(most, z[o])
    for o in range(z.shape[0]):
        d[o] = _exp(z[o] - most)
        total += d[o]
    for o in range(z.shape[0]):
        d[o] = d[o] / total
    d[label] -= 1.0


@njit(**_options)
def _person(
    program: Any, epsilons: Any, weights: Any, wanted: Any, features: Any, label: Any, targets: Any,
    values: Any, deltas: Any, marks: Any, sums: Any, row: Any,
) -> None:  # fmt: skip
    """The gradient of one person, for a class or, where that is negative, for numbers.

    ``wanted`` is the first layer with parameters to train. ``values``, ``deltas``, ``marks`` and ``sums`` are scratch:
    whatever is read of them was written for this very person.
    """
    first, layers = program[0], program.shape[0]
    last = program[layers - 1]
    outputs = last[_HA] * last[_WA] * last[_CA]
    z, d = values[last[_VA] : last[_VA] + outputs], deltas[last[_VA] : last[_VA] + outputs]
    _by_channel_last(features, values[: features.shape[0]].reshape((first[_H], first[_W], first[_C])))
    for at in range(layers):
        _forward(program[at], epsilons[at], weights, values, marks)
    if label >= 0:
        _of_classes(z, label, d)
    else:
        for o in range(outputs):
            d[o] = 2.0 * (z[o] - targets[o]) / outputs
    for back in range(layers - wanted):
        at = layers - 1 - back
        _backward(program[at], epsilons[at], weights, values, deltas, marks, sums, row, at > wanted)


@njit(**_options)
def _power_sum(row: Any, norm: Any) -> Any:
    """The sum of absolute values or of squares, in eight interleaved partial sums."""
    sums = np.zeros(8)
    whole = row.shape[0] // 8 * 8
    for k in range(0, whole, 8):
        for lane in range(8):
            v = row[k + lane]
            sums[lane] += abs(v) if norm == 1 else v * v
    for k in range(whole, row.shape[0]):
        sums[k - whole] += abs(row[k]) if norm == 1 else row[k] * row[k]
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]))


_NUMBERS: Final = types.Array(types.float64, 1, "C")
_WHOLE: Final = types.Array(types.int64, 1, "C")
_ROWS: Final = types.Array(types.float64, 2, "C")


@njit(types.void(_NUMBERS, types.float64, types.float64, types.int64, _WHOLE), **_options)
def add_clipped(row: Any, clip: Any, steps: Any, norm: Any, total: Any) -> None:
    """Clip a row as :func:`~bipartite.learn.gradients.whole.whole_rows` does, in its own memory, and add it up."""
    length = _power_sum(row, norm) if norm == 1 else math.sqrt(_power_sum(row, norm))
    factor = steps * MARGIN / max(length, clip)
    for k in range(row.shape[0]):
        row[k] = np.trunc(row[k] * factor)
    # Whole numbers whose powers add up to at most 2^53 are added without error; a sum beyond is found to be beyond.
    if _power_sum(row, norm) <= (steps if norm == 1 else steps * steps):
        for k in range(row.shape[0]):
            total[k] += np.int64(row[k])


_PEOPLE: Final = (
    types.Array(types.int64, 2, "C"), _NUMBERS, _NUMBERS, types.int64, _ROWS, _WHOLE, _ROWS,
    _NUMBERS, _NUMBERS, _WHOLE, _NUMBERS,
)  # fmt: skip


@njit(types.void(*_PEOPLE, _ROWS), **_options)
def gradients(
    program: Any, epsilons: Any, weights: Any, wanted: Any, features: Any, labels: Any, targets: Any,
    values: Any, deltas: Any, marks: Any, sums: Any, rows: Any,
) -> None:  # fmt: skip
    """One row for each person, one person after another."""
    for at in range(features.shape[0]):
        _person(
            program, epsilons, weights, wanted, features[at], labels[at], targets[at],
            values, deltas, marks, sums, rows[at],
        )  # fmt: skip


@njit(types.void(*_PEOPLE, types.float64, types.float64, types.int64, _NUMBERS, _WHOLE), **_options)
def clipped_sum(
    program: Any, epsilons: Any, weights: Any, wanted: Any, features: Any, labels: Any, targets: Any,
    values: Any, deltas: Any, marks: Any, sums: Any, clip: Any, steps: Any, norm: Any, row: Any, total: Any,
) -> None:  # fmt: skip
    """The sum of everybody's clipped row, in whole numbers; each row is in turn in the same memory."""
    for at in range(features.shape[0]):
        _person(
            program, epsilons, weights, wanted, features[at], labels[at], targets[at],
            values, deltas, marks, sums, row,
        )  # fmt: skip
        add_clipped(row, clip, steps, norm, total)
