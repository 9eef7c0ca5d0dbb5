"""The variance of the values, from linear answers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from bipartite.answers.estimation.asking import numbers_of
from bipartite.answers.estimation.intervals import (
    FEW,
    ConfidenceInterval,
    bounded_width,
    few_note,
    half_widths,
    within,
)
from bipartite.answers.estimation.linear import Answer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.answers.estimation.histogram import Histogram
    from bipartite.answers.estimation.linear import LinearAnswers

    Array = NDArray[np.float64]


def variance_answer(answers: LinearAnswers, frequencies: Array) -> Answer:
    """The unbiased variance of the values: the mean square around the estimated mean plus the variance of that mean.

    Its error is that of the mean square around the true mean, which may lie a standard error to either side within the
    range, so the larger of two; plus, to second order, that of the mean: the square of a normal error with variance v
    has variance 2v². If the reports cannot tell, the variance of ``frequencies``.
    """
    w, _ = numbers_of(answers.domain)
    mean = answers.answer(w)
    squares = None if mean is None else answers.answer((w - mean.value) ** 2)
    if mean is None or squares is None:
        return Answer(float((w - w @ frequencies) ** 2 @ frequencies), math.inf, math.inf)
    if math.isnan(mean.standard_error):  # a single report
        return Answer(math.nan, math.nan, squares.spread)
    noise = mean.standard_error**2
    centres = np.clip([mean.value - mean.standard_error, mean.value + mean.standard_error], w[0], w[-1])
    around = [answers.answer((w - centre) ** 2) for centre in centres]
    error = max(each.standard_error for each in around if each is not None)
    return Answer(squares.value + noise, math.hypot(error, math.sqrt(2) * noise), squares.spread)


def variance_interval(answers: LinearAnswers, histogram: Histogram, sure: float) -> ConfidenceInterval:
    """The interval of the variance."""
    w, _ = numbers_of(answers.domain)
    # The variance is largest with half of the people at either end.
    most = float(w[-1] - w[0]) ** 2 / 4
    answer = variance_answer(answers, histogram.frequencies)
    if math.isinf(answer.standard_error):
        # The mean square around any point is at least the variance.
        around = histogram.interval((w - w @ histogram.frequencies) ** 2, sure)
        note = "the reports cannot tell all values apart, so no number of them would narrow this"
        return ConfidenceInterval(0.0, min(around.high, most), sure, note)
    if answers.effective >= FEW:
        half = float(half_widths(answer.standard_error, answer.spread, answers.effective, sure))
        low, high = map(
            float, within(answer.value - half, answer.value + half, answer.value, (0.0, most), at_least=True)
        )
        return ConfidenceInterval(low, high, sure)
    # The mean square around the middle minus the square of the mean there, each within its own bound.
    mean, squares = (answers.answer(w**power) for power in (1, 2))
    assert mean is not None and squares is not None  # noqa: S101, PT018 (the variance is known)
    each = 1 - (1 - sure) / 2
    off, half = (bounded_width(part.spread, answers.effective, each) for part in (mean, squares))
    least, largest = max(abs(mean.value) - off, 0.0), abs(mean.value) + off
    low, high = squares.value - half - largest**2, squares.value + half - least**2
    ends = within(min(low, answer.value), max(high, answer.value), answer.value, (0.0, most), at_least=True)
    return ConfidenceInterval(float(ends[0]), float(ends[1]), sure, few_note(answers.effective))
