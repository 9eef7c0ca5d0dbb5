"""K anchors, placed symmetrically so that the largest loss of any input is about the least.

The largest loss is max over the ends and the middles between anchors of smooth functions of the anchors, convex ones
for the absolute and the squared loss. The maximum is smoothed to (1/β)·log Σ exp(β·Q), minimised by damped Newton
steps, and β raised.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bipartite.mechanisms.design.minimax_line import WorstCase

_SHARPNESS: Final = tuple(20.0 * 4.0**k for k in range(6))
_STEPS: Final = 12
_NUDGE: Final = 1e-5  # of the line's length: for derivatives by differences
_HALVINGS: Final = 20
# Newton's matrix is often singular: few points count, and the absolute loss has no curvature of its own.
_DAMPING: Final = 1e-3


def even_anchors(worst: WorstCase, count: int) -> NDArray[np.float64]:
    """The places of ``count`` anchors, real numbers between 0 and N − 1."""
    half = count // 2
    length = float(worst.size - 1)
    if half == 0 or length == 0:
        return np.array([length / 2])
    left = (np.arange(half) + 0.5) / count
    scale = float(worst.at(np.array([length]))[0]) or 1.0

    def by_point(offsets: NDArray[np.float64]) -> NDArray[np.float64]:
        """Q at the left end and at the middles of the left half, for many sets of offsets at once."""
        middle = np.full((*offsets.shape[:-1], count % 2), 0.5)
        anchors = np.concatenate([offsets, middle, 1 - offsets[..., ::-1]], axis=-1)
        middles = (anchors[..., :-1] + anchors[..., 1:]) / 2
        end = np.zeros((*offsets.shape[:-1], 1))
        inputs = np.concatenate([end, middles[..., : count // 2]], axis=-1)
        return worst.of_inputs(inputs * length, anchors * length) / scale

    best, least = left, float(by_point(left).max())
    for sharpness in _SHARPNESS:
        for _ in range(_STEPS):
            moved = _newton(by_point, left, sharpness)
            if moved is None:
                break
            left = moved
            if (now := float(by_point(left).max())) < least:
                best, least = left, now
    middle = np.full(count % 2, 0.5)
    return np.concatenate([best, middle, 1 - best[::-1]]) * length


def _newton(
    by_point: Callable[[NDArray[np.float64]], NDArray[np.float64]], left: NDArray[np.float64], sharpness: float
) -> NDArray[np.float64] | None:
    """One step that lowers the smooth maximum, or None where there is none."""
    values = by_point(left)
    slopes = (by_point(left + _NUDGE * np.eye(len(left))) - values).T / _NUDGE
    top = values.max()
    smooth = top + np.log(np.exp(sharpness * (values - top)).sum()) / sharpness
    shares = np.exp(sharpness * (values - smooth))
    gradient = slopes.T @ shares
    curvature = sharpness * ((slopes.T * shares) @ slopes - np.outer(gradient, gradient))
    curvature += (1e-6 + _DAMPING * np.trace(curvature) / len(left)) * np.eye(len(left))
    step = -np.linalg.solve(curvature, gradient)
    for _ in range(_HALVINGS):
        moved = left + step
        if moved[0] >= 0 and 2 * moved[-1] <= 1 and (np.diff(moved) > 0).all():
            values = by_point(moved)
            top = values.max()
            if top + np.log(np.exp(sharpness * (values - top)).sum()) / sharpness < smooth - 1e-12:
                return moved
        step /= 2
    return None
