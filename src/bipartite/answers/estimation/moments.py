"""The variance and the standard deviation of the values, from averages of scores."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from bipartite.answers.estimation.answer import Answer
from bipartite.answers.estimation.circular import NOT_KNOWN
from bipartite.answers.estimation.intervals import ConfidenceInterval, normal_width, within

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bipartite.answers.estimation.histogram import Histogram
    from bipartite.answers.estimation.source import Source

    Array = NDArray[np.float64]


def variance(source: Source, numbers: Array, histogram: Callable[[], Histogram]) -> Answer:
    """The unbiased variance of the values: the mean square around the estimated mean plus the variance of that mean.

    Its error is that of the mean square around the true mean, which may lie a standard error to either side within the
    range, so the largest of three; plus, to second order, that of the mean: the square of a normal error with variance
    v has variance 2v². If the reports cannot tell, the variance of the histogram.
    """
    # The variance is largest with half of the people at either end.
    possible = 0.0, float(np.ptp(numbers)) ** 2 / 4
    mean = source.sample(numbers[None])
    centre, error = (math.nan, math.nan) if mean is None else (float(mean.mean[0]), float(mean.se[0]))
    centres = np.clip([centre, centre - error, centre + error], numbers.min(), numbers.max())
    around = None if math.isnan(error) else source.sample((numbers - np.append(centre, centres[1:])[:, None]) ** 2)
    if mean is not None and math.isnan(error):
        one = "one report says nothing about how values vary"
        return Answer(math.nan, math.nan, lambda sure: ConfidenceInterval(*possible, sure, one))
    if around is None:
        return _open(histogram(), numbers, possible)
    value = float(around.mean[0]) + error**2
    second = math.sqrt(2) * error**2

    def interval(confidence: float) -> ConfidenceInterval:
        ends = [around.ends(at, confidence) for at in range(len(centres))]
        beside = normal_width(confidence) * second
        down = max(float(m) - end[0] for m, end in zip(around.mean, ends, strict=True))
        up = max(end[1] - float(m) for m, end in zip(around.mean, ends, strict=True))
        low, high = value - math.hypot(down, beside), value + math.hypot(up, beside)
        first, last = within(low, high, value, possible, at_least=True)
        return ConfidenceInterval(float(first), float(last), confidence)

    return Answer(value, math.hypot(float(around.se.max()), second), interval)


def _open(histogram: Histogram, numbers: Array, possible: tuple[float, float]) -> Answer:
    """The variance that a histogram has, if the reports cannot tell."""
    squares = (numbers - numbers @ histogram.shares) ** 2

    def interval(confidence: float) -> ConfidenceInterval:
        # The mean square around any point is at least the variance.
        most = min(histogram.interval(squares, confidence).high, possible[1])
        return ConfidenceInterval(0.0, most, confidence, NOT_KNOWN)

    return Answer(float(squares @ histogram.shares), math.inf, interval)


def root(answer: Answer) -> Answer:
    """The standard deviation, from the variance."""
    value = math.sqrt(max(answer.value, 0.0)) if not math.isnan(answer.value) else math.nan

    def interval(confidence: float) -> ConfidenceInterval:
        return answer.interval(confidence).mapped(lambda end: math.sqrt(max(end, 0.0)))

    # An infinite error would say that the reports cannot tell; that of a variance by chance at most zero is not known.
    error = answer.se if math.isinf(answer.se) else math.nan
    return Answer(value, answer.se / (2 * value) if value > 0 else error, interval)
