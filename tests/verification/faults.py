"""Samplers with a known law, right and wrong, for the tests of audits."""

import math

import numpy as np


def generator(seed):
    return np.random.default_rng(seed)


def randomised_response(epsilon, seed):
    """Binary randomised response with exactly this ε."""
    random, keep = generator(seed), 1 / (1 + math.exp(-epsilon))
    return lambda values: np.where(random.random(len(values)) < keep, values, 1 - values)


def of_matrix(matrix, seed, low=0):
    """Reports by these rows of probabilities; values and reports are whole numbers from ``low``."""
    random, running = generator(seed), np.cumsum(matrix, axis=1)
    last = running.shape[1] - 1

    def sampler(values):
        row = running[int(values[0]) - low]
        return np.minimum(np.searchsorted(row, random.random(len(values)), side="right"), last) + low

    return sampler


def window_matrix(size, outputs, epsilon, start, near):
    """Rows whose outputs start(x) … start(x) + near(x) − 1 are e^ε times as likely as the others."""
    rows = np.ones((size, outputs))
    for x in range(size):
        rows[x, start(x) : start(x) + near(x)] = math.exp(epsilon)
    return rows / rows.sum(axis=1, keepdims=True)
