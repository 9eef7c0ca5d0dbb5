"""Whether two groups differ, and by how much."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.domains import LineDomain
from bipartite.errors import InputError
from bipartite.estimation.answers import Estimate
from bipartite.estimation.intervals import FEW, Interval, check_confidence, few_note, normal_width
from bipartite.verification.binomial import chi_square_tail, normal_tail

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_HATS: Final = 8


@dataclass(frozen=True, slots=True)
class Difference:
    """The answer of one group minus that of another."""

    value: float
    """The difference; for distributions the largest one of a share, of those that were compared."""
    interval: Interval
    """For distributions it holds the true difference of that share, corrected for all that were compared."""
    p_value: float
    """If the two did not differ, the probability of something at least as different, two-sided."""

    def __str__(self) -> str:
        return f"{self.value:.6g}, {self.interval}, p = {self.p_value:.3g}"


def difference(first: object, second: object, of: Any = "mean", *, confidence: float = 0.95) -> Difference:  # noqa: ANN401
    r"""The answer of one estimate minus that of another, with interval and p-value; the people must be different ones.

    ``of`` is "mean", "variance", ("cdf", value), or one weight a value: then the variances of the two answers add up
    and the difference is compared with the normal law (with fewer than 50 reports on a side, with Hoeffding's bound).
    ("bin", value) compares the unbiased shares of a value.

    ``of="distribution"`` compares everything that can be told: on a line the shares around 8 equally spaced values
    (weights that fall linearly to the next of them), elsewhere all shares, by Wald's χ² = dᵀΣ⁻¹d, with Σ the covariance
    of the differences d from the scores of all reports.

    The two may be of different mechanisms or ε on one domain, such as two dates of one survey.

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
        msg = f"Expected two estimates of bp.estimate, got {got}; take groups by their labels."
        raise InputError(msg)
    if first.mechanism.domain != second.mechanism.domain:
        msg = f"Expected estimates on one domain, got {first.mechanism.domain!r} and {second.mechanism.domain!r}."
        raise InputError(msg)
    sure = check_confidence(confidence)
    if isinstance(of, str) and of == "distribution":
        return _of_distributions(first, second, sure)
    answers = [each.unbiased(of) for each in (first, second)]
    if any(math.isinf(answer.standard_error) for answer in answers):
        msg = (
            "The reports cannot tell values apart that this answer tells apart, so a difference of it cannot be "
            "estimated; collect with edges='padded' or GRR."
        )
        raise InputError(msg)
    value = answers[0].value - answers[1].value
    fewest = min(each.effective_people for each in (first, second))
    if fewest < FEW:
        if isinstance(of, str) and of == "variance":
            msg = f"Variances are compared from {FEW} reports a group on, got {fewest:.3g}; compare means or shares."
            raise InputError(msg)
        spread = math.sqrt(
            sum(answer.spread**2 / each.effective_people for answer, each in zip(answers, (first, second), strict=True))
        )
        half = spread * math.sqrt(math.log(2 / (1 - sure)) / 2)
        p_value = min(1.0, 2 * math.exp(-2 * (value / spread) ** 2))
        return Difference(value, Interval(value - half, value + half, sure, few_note(fewest)), p_value)
    error = math.hypot(*(answer.standard_error for answer in answers))
    half = normal_width(sure) * error
    p_value = normal_tail(value / error) if error else float(value == 0)
    return Difference(value, Interval(value - half, value + half, sure), p_value)


def _of_distributions(first: Estimate, second: Estimate, sure: float) -> Difference:
    w = _compared(first)
    parts = [each.covariance(w) for each in (first, second)]
    d = parts[0][0] - parts[1][0]
    covariance = parts[0][1] + parts[1][1]
    # All weights add up to one for every value, so the last difference is what the others leave.
    statistic = float(d[:-1] @ np.linalg.solve(covariance[:-1, :-1], d[:-1]))
    worst = int(np.abs(d).argmax())
    half = normal_width(1 - (1 - sure) / len(d)) * math.sqrt(covariance[worst, worst])
    fewest = min(each.effective_people for each in (first, second))
    note = few_note(fewest).split(",", maxsplit=1)[0] if fewest < FEW else ""
    value = float(d[worst])
    return Difference(value, Interval(value - half, value + half, sure, note), chi_square_tail(statistic, len(d) - 1))


def _compared(estimate: Estimate) -> Array:
    """The answers that are compared: hats on a line, all shares elsewhere."""
    size = len(estimate.mechanism.domain)
    if not isinstance(estimate.mechanism.domain, LineDomain) or size <= _HATS:
        return np.eye(size)
    centres = np.linspace(0, size - 1, _HATS)
    hats: Array = np.maximum(0.0, 1 - np.abs(np.arange(size) - centres[:, None]) / (centres[1] - centres[0]))
    return hats
