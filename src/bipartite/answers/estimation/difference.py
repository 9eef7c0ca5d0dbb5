"""Whether two groups differ, and by how much."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.answers.estimation.estimate import Estimate
from bipartite.answers.estimation.intervals import (
    FEW,
    ConfidenceInterval,
    bounded_width,
    check_confidence,
    few_note,
    likely_width,
    normal_width,
)
from bipartite.errors import InputError
from bipartite.verification.binomial import chi_square_tail, normal_tail

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bipartite.answers.estimation.asking import Asked
    from bipartite.answers.estimation.linear import Answer

    Array = NDArray[np.float64]

_HATS: Final = 8
_USUAL: Final = 0.95
_SOLVED: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Difference:
    """The answer of one group minus that of another."""

    value: float
    """The difference; for distributions, the largest difference of the shares compared."""
    interval: ConfidenceInterval
    """For distributions, of the true difference of that share, corrected for all shares compared."""
    p_value: float
    """The two-sided probability of a difference at least this large if the two groups do not differ."""

    def __str__(self) -> str:
        return f"{self.value:.6g}, {self.interval}, p = {self.p_value:.3g}"


def difference(first: object, second: object, of: Asked = "mean", *, confidence: float = 0.95) -> Difference:
    r"""The answer of one estimate minus that of another, with interval and p-value, for two disjoint groups of people.

    ``of`` is "mean", "variance", ("cdf", value), or one weight per value: the variances of the two answers add up, and
    the difference is compared with the normal distribution (with fewer than 50 reports in a group, with Hoeffding's
    bound). ("bin", value) compares the unbiased shares of a value.

    ``of="distribution"`` compares the whole distributions: on a line the shares around 8 equally spaced values (with
    weights that fall linearly to the next of them), elsewhere all shares, by χ² = dᵀ(Σ + ddᵀ/n)⁻¹d, with Σ the
    covariance of the differences d from the scores of all n reports, and as many degrees of freedom as the rank of that
    matrix.

    The two may be of different mechanisms or ε on the same domain, such as two dates of one survey.

    >>> from bipartite import BRR, Integers, estimate, insecure_seed
    >>> mech = BRR(Integers(1, 10), epsilon=2, edges="padded")
    >>> young = estimate(mech, mech.privatize([3] * 5000, rng=insecure_seed(1)))
    >>> older = estimate(mech, mech.privatize([4] * 5000, rng=insecure_seed(2)))
    >>> found = difference(older, young)
    >>> round(found.value, 1), found.interval.low > 0, found.p_value < 0.001
    (0.9, True, True)
    """
    if not isinstance(first, Estimate) or not isinstance(second, Estimate):
        got = f"{type(first).__name__} and {type(second).__name__}"
        raise InputError(f"Expected two estimates of bp.estimate, got {got}; select groups by their labels.")
    if first.domain != second.domain:
        raise InputError(f"Expected estimates on one domain, got {first.domain!r} and {second.domain!r}.")
    sure = check_confidence(confidence)
    if isinstance(of, str) and of == "distribution":
        return _of_distributions(first, second, sure)
    pair = first, second
    answers = [each.unbiased(of) for each in pair]
    if any(math.isinf(answer.standard_error) for answer in answers):
        raise InputError(
            "This answer depends on values that the reports cannot tell apart, so its difference cannot be estimated; "
            "collect with edges='padded' or GRR."
        )
    fewest = min(each.effective_people for each in pair)
    if fewest < FEW and isinstance(of, str) and of == "variance":
        raise InputError(f"Variances need at least {FEW} reports per group, got {fewest:.3g}; compare means or shares.")
    return _of_answers(answers, [each.effective_people for each in pair], sure)


def _of_answers(answers: Sequence[Answer], people: Sequence[float], sure: float) -> Difference:
    """By the normal approximation, or with few reports by Hoeffding's bound."""
    value = answers[0].value - answers[1].value
    both = list(zip(answers, people, strict=True))
    if min(people) < FEW:
        spread = math.hypot(*(answer.spread / math.sqrt(count) for answer, count in both))
        half = bounded_width(spread, 1, sure)
        p_value = min(1.0, 2 * math.exp(-2 * (value / spread) ** 2)) if spread else float(value == 0)
        return Difference(value, ConfidenceInterval(value - half, value + half, sure, few_note(min(people))), p_value)
    # As in the interval of one answer: wider if hardly any report bears on it.
    wide = [float(likely_width(answer.standard_error, answer.spread, count, _USUAL)) for answer, count in both]
    error = math.hypot(*wide) / normal_width(_USUAL)
    half = normal_width(sure) * error
    p_value = normal_tail(value / error) if error else float(value == 0)
    return Difference(value, ConfidenceInterval(value - half, value + half, sure), p_value)


def _of_distributions(first: Estimate, second: Estimate, sure: float) -> Difference:
    w = _compared(first)
    pair = first, second
    people = [each.effective_people for each in pair]
    parts = [each.covariance(w) for each in pair]
    if not all(np.isfinite(own).all() for _, own in parts):
        raise InputError(
            "Distributions need at least two reports per group, got one, which says nothing about the variance."
        )
    d = parts[0][0] - parts[1][0]
    # Under the null hypothesis d is sampling error too, and its square belongs to the covariance. Without it the test
    # would reject too often if many shares are compared from few reports, or if nobody has some of the values.
    covariance = parts[0][1] + parts[1][1] + np.outer(d, d) / sum(people)
    # The weights of every value add up to one, so the last difference follows from the others.
    values, vectors = np.linalg.eigh(covariance[:-1, :-1])
    kept = values > _SOLVED * max(float(values[-1]), 0.0)
    statistic = float(((d[:-1] @ vectors)[kept] ** 2 / values[kept]).sum())
    freedom = int(kept.sum())
    worst = int(np.abs(d).argmax())
    answers = [
        each.unbiased(w[worst])._replace(value=float(means[worst]), standard_error=math.sqrt(own[worst, worst]))
        for each, (means, own) in zip(pair, parts, strict=True)
    ]
    largest = _of_answers(answers, people, 1 - (1 - sure) / len(d))
    interval = ConfidenceInterval(*largest.interval, sure, largest.interval.note)
    return Difference(largest.value, interval, chi_square_tail(statistic, freedom) if freedom else 1.0)


def _compared(estimate: Estimate) -> Array:
    """The weights of the answers compared: overlapping hat functions on a long line, otherwise all single shares."""
    size = len(estimate.domain)
    if not estimate.domain.has_ends or size <= _HATS:
        return np.eye(size)
    centres = np.linspace(0, size - 1, _HATS)
    hats: Array = np.maximum(0.0, 1 - np.abs(np.arange(size) - centres[:, None]) / (centres[1] - centres[0]))
    return hats
