"""The mean of one attribute in a group that is itself known only through reports."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bipartite.answers.estimation.intervals import FEW, ConfidenceInterval, few_note, normal_width
from bipartite.errors import InputError
from bipartite.texts import Printed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, repr=False)
class GroupMean(Printed):
    """The mean in a private group."""

    mean: float
    """NaN if the group's share is not clearly above zero."""
    standard_error: float
    """To first order; infinite if the mean is NaN. The interval is more reliable."""
    interval: ConfidenceInterval
    share: float
    """The unbiased share of the group among all people."""
    share_error: float
    """Its standard error."""

    def __str__(self) -> str:
        return f"{self.mean:.6g}, {self.interval}; a share of {self.share:.3g} ± {self.share_error:.2g}"


def group_mean(
    found: tuple[Array, Array] | None, people: float, numbers: Array, middle: float, sure: float
) -> GroupMean:
    r"""From the averages of (number if in the group, else 0) and of (1 if in the group, else 0), and their covariance.

    With N and D the two averages, the mean in the group is R = N/D. N − r·D has mean 0 at the true r, so Fieller's
    interval contains all r with \|N − r·D\| ≤ z·SE(N − r·D): whatever D is, its coverage is that of the normal
    approximation of N − r·D. It is bounded only if D is more than z standard errors above zero.
    """
    if found is None:
        raise InputError(
            "The reports cannot tell this group, or its numbers, from others; collect with edges='padded' or GRR."
        )
    n, d = (float(each) for each in found[0])
    covariance = found[1]
    least, most = middle + float(numbers.min()), middle + float(numbers.max())
    share_error = math.sqrt(covariance[1, 1])
    z = normal_width(sure)
    if people < FEW:
        everything = ConfidenceInterval(least, most, sure, few_note(people))
        return GroupMean(math.nan, math.inf, everything, d, share_error)
    # r²·a − 2r·b + c ≤ 0
    a = d * d - z * z * float(covariance[1, 1])
    b = n * d - z * z * float(covariance[0, 1])
    c = n * n - z * z * float(covariance[0, 0])
    if d <= 0 or a <= 0:
        note = "the group's share is not clearly above zero, so its mean may be anything"
        return GroupMean(math.nan, math.inf, ConfidenceInterval(least, most, sure, note), d, share_error)
    root = math.sqrt(max(b * b - a * c, 0.0))
    low, high = (min(max(middle + end, least), most) for end in ((b - root) / a, (b + root) / a))
    ratio = n / d
    variance = covariance[0, 0] - 2 * ratio * covariance[0, 1] + ratio**2 * covariance[1, 1]
    error = math.sqrt(max(float(variance), 0.0)) / d
    return GroupMean(middle + ratio, error, ConfidenceInterval(low, high, sure), d, share_error)
