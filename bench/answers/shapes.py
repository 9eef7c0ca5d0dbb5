"""Populations that no constant of the library was chosen on, and the least error that an unbiased answer can have."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

SHAPES = (
    "spike at the first",
    "spike at the last",
    "U",
    "heaps",
    "comb",
    "gap",
    "clipped tail",
    "99.5 % at one",
    "many zeros",
    "bell",
    "uniform",
    "bimodal",
    "all at one",
)
_SOLVED = 1e-6


def shape(name: str, size: int) -> Array:
    """The shares of all values in a population of this shape."""
    t, at = (np.arange(size) + 0.5) / size, np.arange(size)

    def bell(middle: float, wide: float) -> Array:
        return np.exp(-(((t - middle) / wide) ** 2) / 2)

    def spiked(where: int, share: float, rest: Array) -> Array:
        return share * (at == where) + (1 - share) * rest / rest.sum()

    every = next(each for each in (10, 5, 2) if size >= 5 * each / 2)
    logs = np.exp(-((np.log((at + 1) / size) + 1.5) ** 2) / 0.72) / (at + 1)  # lognormal, its middle at .22 of the line
    tail = np.exp(-3 * t)
    f = {
        "spike at the first": spiked(0, 0.6, bell(0.45, 0.2)),
        "spike at the last": spiked(size - 1, 0.4, 1 + t),
        "U": spiked(0, 0.5, spiked(size - 1, 0.8, np.ones(size))),
        "heaps": np.where(at % every == 0, 0.7 * bell(0.4, 0.25) * every, 0.3 * bell(0.4, 0.25)),
        "comb": np.where(at % 2 == 0, 1.0, 0.02) * (1 + t),
        "gap": bell(0.4, 0.3) * (np.abs(t - 0.525) > 1 / 8),
        "clipped tail": np.where(at == size - 1, tail.sum() * 0.18, tail),
        "99.5 % at one": spiked(int(0.62 * size), 0.995, np.ones(size)),
        "many zeros": spiked(0, 2 / 3, np.where(at == 0, 0.0, logs)),
        "bell": bell(0.57, 0.13),
        "uniform": np.ones(size),
        "bimodal": bell(0.2, 0.06) + 0.5 * bell(0.72, 0.1),
        "all at one": (at == int(0.41 * size)).astype(np.float64),
    }[name]
    return np.asarray(f / f.sum())


def quantile(f: Array, q: float) -> int:
    """The least value that a share q is up to."""
    return int(np.searchsorted(f.cumsum(), q - 1e-12))


def efficient(matrix: Array, f: Array, rows: Array) -> Array:
    """The least standard errors of unbiased answers from one report of this population; NaN where there is none."""
    law = f @ matrix
    kept = law > 0
    information = (matrix[:, kept] / law[kept]) @ matrix[:, kept].T
    solved, *_ = np.linalg.lstsq(information, rows.T, rcond=1e-13)
    told = np.abs(information @ solved - rows.T).max(axis=0) <= _SOLVED * np.abs(rows).max(axis=1)
    variances = np.einsum("ij,ji->i", rows, solved) - (rows @ f) ** 2
    return np.where(told, np.sqrt(np.maximum(variances, 0.0)), math.nan)
