"""EMS against its published loop, written down literally, and against the library's own smoothing."""

import math

import numpy as np
import pytest

import bipartite as bp
from reproduction.ems import ems

MECHANISMS = {
    "padded": bp.BRR(bp.Integers(0, 11), 1, edges="padded"),
    "clamped": bp.BRR(bp.Integers(0, 11), 1),
    "grr": bp.GRR(bp.Integers(0, 7), 1),
    "square wave": bp.SquareWave(bp.Integers(0, 9), 2),
    "geometric": bp.Geometric(bp.Integers(0, 7), 1),
}


def literal_ems(matrix, counts, most_steps=10_000):
    """Li et al. (SIGMOD 2020), algorithm 1 with the smoothing of its section 5.5, written down literally."""
    size, outputs = matrix.shape
    people = sum(counts)
    x = [1 / size] * size
    before = sum(counts[j] * math.log(sum(matrix[k, j] * x[k] for k in range(size))) for j in range(outputs))
    for step in range(1, most_steps + 1):
        law = [sum(matrix[k, j] * x[k] for k in range(size)) for j in range(outputs)]
        p = [x[i] * sum(counts[j] * matrix[i, j] / law[j] for j in range(outputs)) for i in range(size)]
        p = [each / people for each in p]
        smooth = [(2 * p[0] + p[1]) / 3]
        smooth += [p[i - 1] / 4 + p[i] / 2 + p[i + 1] / 4 for i in range(1, size - 1)]
        smooth += [(2 * p[-1] + p[-2]) / 3]
        x = [each / sum(smooth) for each in smooth]
        now = sum(counts[j] * math.log(sum(matrix[k, j] * x[k] for k in range(size))) for j in range(outputs))
        if now - before < 1e-3:
            return np.array(x), step, now - before
        before = now
    return np.array(x), most_steps, math.nan


@pytest.mark.parametrize("name", MECHANISMS)
def test_smoothed_em_is_the_published_loop(name):
    matrix, generator = MECHANISMS[name].matrix(), np.random.default_rng(1)
    counts = generator.multinomial(5000, generator.dirichlet(np.ones(len(matrix))) @ matrix).astype(float)
    found, steps = ems(matrix, counts)
    shares, literal_steps, gain = literal_ems(matrix, counts.tolist())
    assert steps == literal_steps and gain < 1e-3
    assert found == pytest.approx(shares, rel=1e-9)


AT = np.arange(48)
SHAPES = {
    "bell": np.exp(-(((AT - 16) / 7) ** 2) / 2),
    "spike": np.where(AT == 12, 0.6, 0.4 / 48),
    "pair": np.isin(AT, [15, 19]) + 0.0,
    "tail": np.exp(-AT / 3),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_choice_by_reports_held_out_is_as_good_as_the_better_of_em_and_ems(shape):
    """Within 5 % of it in Wasserstein error, on average over ten samples."""
    f = SHAPES[shape] / SHAPES[shape].sum()
    mechanism = bp.BRR(bp.Integers(0, 47), 1, edges="padded")
    rng, matrix = np.random.default_rng(5), mechanism.matrix()
    errors = np.zeros(3)
    for _ in range(10):
        counts = rng.multinomial(20_000, f @ matrix)
        found = [bp.estimate(mechanism, counts=counts, method=method).shares for method in ("smooth", "em")]
        errors += [np.abs((each - f).cumsum()).sum() for each in (*found, ems(matrix, counts.astype(float))[0])]
    assert errors[0] <= 1.05 * errors[1:].min()
