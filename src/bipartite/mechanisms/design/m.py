"""The number m of near outputs on N equidistant points with loss |x − y|, on a line or around a circle.

**A line.** The smallest m over all inputs is that of an end or of the middle (the paper's Theorem 1). Both are the last
index at which a quadratic in i with coefficients linear in e^ε is negative, found by bisection on its exact sign: the
closed form in floats is off by 77 at N = 10^9 + 1, ε = 10^−9, and decides near ties wrongly.

**A circle.** Every row is a rotation of one row with losses 0, 1, 1, 2, 2, …, so every value has the same best m for
every prior: "safe" and "best" are the same. Raising both values at distance d lowers the expected loss exactly if
(E − 1)·d² + N·d < ⌊N²/4⌋, the sum of all distances, so m = 1 + 2·#{d that satisfy this}.
"""

from __future__ import annotations

import math
import operator
from bisect import bisect_left
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Final, Literal, TypeVar

import numpy as np

from bipartite.errors import InputError, PriorError, shown
from bipartite.lottery import Epsilon, TooFewTickets, issue_tickets
from bipartite.lottery.epsilon import LARGEST, SMALLEST, exp_between

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import SupportsIndex

    from numpy.typing import NDArray

    Whole = TypeVar("Whole", int, NDArray[np.int64])

_PRIOR_TOLERANCE: Final = 1e-6
_DIGITS: Final = 60


def safe_m(points: int, epsilon: Epsilon) -> int:
    """Algorithm 2 on a line, exactly: m = min(m1, m2), for any ε and N ≥ 2."""
    return min(_end_m(points, epsilon), _middle_m(points, epsilon))


def algorithm_3(points: int, epsilon: object) -> int:
    """Algorithm 3 of the paper, corrected: m on ``points`` equidistant points.

    m1 = ⌊(√(N²E + (1−E)²/4) − (N − E/2 + 1/2))/(E−1)⌋ with E = e^ε (an end of the line); i = ⌊N/(e^{ε/2}+1) + 1⌋ for
    even N, ⌊(√(E(N²−1)+1) − N)/(E−1) + 1⌋ for odd N, and m2 the largest odd number not above i (the middle);
    m = min(m1, m2) for every ε. The paper prints m2 = i + 1 for even i and m = m1 for ε ≥ 1: see the docs, errata.

    >>> algorithm_3(73, 1.0), algorithm_3(10**9, 1.0)
    (27, 377540669)
    """
    return safe_m(_count(points), Epsilon.of(epsilon))


def _count(points: SupportsIndex) -> int:
    try:
        count = operator.index(points)
    except TypeError:
        count = 0
    if count < 2:  # noqa: PLR2004
        raise InputError(
            f"Expected points as a whole number of at least 2, got {shown(points)}; use two points or more."
        )
    return count


def _end_m(points: int, epsilon: Epsilon) -> int:
    """m1: from an end, item i (counted from 1) is raised while E·i(i−1) < (N−i)(N−i+1)."""
    return _last(1, points, lambda i: epsilon.sign(-(points - i) * (points - i + 1), i * (i - 1)) < 0)


def _middle_m(points: int, epsilon: Epsilon) -> int:
    """m2: from the middle, the t-th pair of equal distances is raised while E·(2t)² < (N−2t)² (less 1 for odd N)."""
    odd = points % 2
    pairs = _last(0, (points - 1) // 2, lambda t: epsilon.sign(-((points - 2 * t) ** 2 - odd), 4 * t * t) < 0)
    return 2 * pairs + 1


def _last(first: int, last: int, holds: Callable[[int], bool]) -> int:
    """The last integer in [first, last] at which a condition holds that, once false, stays false."""
    while first < last:
        middle = (first + last + 1) // 2
        if holds(middle):
            first = middle
        else:
            last = middle - 1
    return first


def triangular(n: Whole) -> Whole:
    """1 + 2 + … + n."""
    return n * (n + 1) // 2


def near_sum(position: Whole, m: int) -> Whole:
    """Σ |x − y| over a window of m neighbours in which x stands at ``position`` (counted from 0)."""
    return triangular(position) + triangular(m - 1 - position)


def total_near_sum(points: int, m: int) -> int:
    """Σ over all inputs of ``near_sum``, for windows clamped at the ends."""
    # The m inputs whose windows touch an end take every position once; the other N − m are in the middle.
    return (m**3 - m) // 3 + (points - m) * int(near_sum(m // 2, m))


def best_m(points: int, epsilon: Epsilon, prior: NDArray[np.float64] | None) -> int:
    """The m with the least expected loss under a public prior (None: uniform), windows clamped at the ends.

    With D(m) the expected sum over the near outputs and T the same over all, the expected loss is
    ((E−1)·D(m) + T)/((E−1)·m + N). D is convex, so the loss first falls, then rises: one more neighbour helps while
    its expected distance is below the loss so far. This is Algorithm 1 on the average of all rows.
    """
    if prior is None:
        everything = points * (points**2 - 1) // 3

        def helps(m: int) -> bool:
            near = total_near_sum(points, m - 1)
            step = total_near_sum(points, m) - near
            return epsilon.sign(step * (points - m + 1) + near - everything, step * (m - 1) - near) < 0

        return _last(1, points - 1, helps)

    excess = epsilon.exp - 1
    x = np.arange(points, dtype=np.float64)
    everything_expected = float(prior @ (x * (x + 1) + (points - 1 - x) * (points - x))) / 2

    def helps_under_prior(m: int) -> bool:
        at = x - np.clip(x - (m - 1) // 2, 0, points - m + 1)
        near = float(prior @ (at * (at + 1) + (m - 2 - at) * (m - 1 - at))) / 2
        at = x - np.clip(x - m // 2, 0, points - m)
        step = float(prior @ np.maximum(at, m - 1 - at))
        return step * (excess * (m - 1) + points) < excess * near + everything_expected

    return _last(1, points - 1, helps_under_prior)


def best_half_window(points: int, epsilon: Epsilon, prior: NDArray[np.float64] | None) -> int:
    """The half-window h with the least expected loss of a padded report, m = 2h + 1.

    The expected loss is ((E−1)·h(h+1) + A + h·N + h²)/((E−1)(2h+1) + N + 2h), with A the expected sum of distances
    within the domain: a convex function over a linear one, so it first falls, then rises.
    """
    if prior is None:
        inside = Fraction(points**2 - 1, 3)
    else:
        x = np.arange(points, dtype=np.float64)
        inside = Fraction(float(prior @ (x * (x + 1) + (points - 1 - x) * (points - x))) / 2)
    excess = exp_between(epsilon.value, _DIGITS)[0] - 1

    def loss(h: int) -> Fraction:
        return (excess * h * (h + 1) + inside + h * points + h * h) / (excess * (2 * h + 1) + points + 2 * h)

    return _last(0, points, lambda h: loss(h) < loss(h - 1))


def ring_rank(size: int, m: int) -> int:
    """The rank of the matrix of BRR with m near values on a circle: N − gcd(m, N) + 1.

    >>> ring_rank(24, 9), ring_rank(24, 7)
    (22, 24)
    """
    return size - math.gcd(m, size) + 1


def least_loss_m(size: int, epsilon: Epsilon) -> int:
    """The m with the least expected loss, for every value and every prior.

    >>> from bipartite.lottery.epsilon import Epsilon
    >>> [least_loss_m(24, Epsilon.of(e)) for e in ("0.01", "1", "4")]
    [11, 9, 3]
    """
    total = size * size // 4
    return 2 * _last(0, size // 2, lambda d: epsilon.sign(size * d - total - d * d, d * d) < 0) + 1


def check_prior(prior: object, points: int) -> NDArray[np.float64]:
    """A prior as an array that sums to one."""
    array = _as_floats(prior)
    if array is None:
        raise PriorError(
            f"Expected prior as {points} probabilities, got {type(prior).__name__}; pass a list or an array."
        )
    if array.shape != (points,):
        raise PriorError(
            f"Expected prior as {points} probabilities, got shape {array.shape}; give one for each value of the domain."
        )
    total = float(array.sum())
    if not (array >= 0).all() or not abs(total - 1) <= _PRIOR_TOLERANCE:
        raise PriorError(
            f"Expected prior as non-negative numbers that sum to 1, got a sum of {total:.6g}; divide it by its sum."
        )
    return array / total


def check_prior_or_minimax(prior: object, size: int) -> NDArray[np.float64] | Literal["minimax"] | None:
    """A prior as an array that sums to one, None for uniform, or "minimax"."""
    if isinstance(prior, str):
        if prior != "minimax":
            raise InputError(f"Expected prior as probabilities, None for uniform, or 'minimax', got {prior!r}.")
        return "minimax"
    return None if prior is None else check_prior(prior, size)


def _as_floats(prior: object) -> NDArray[np.float64] | None:
    """Real numbers as doubles; None for anything else, including complex numbers and masked arrays."""
    try:
        array = np.asarray(prior)
        if isinstance(prior, np.ma.MaskedArray) or array.dtype.kind not in "iuf":
            return None
        return array.astype(np.float64)
    except (TypeError, ValueError):
        return None


def nearest_epsilon(
    refused: Epsilon, why: TooFewTickets, layout: Callable[[Epsilon], tuple[int, int]], *, by_tries: bool = False
) -> Epsilon | None:
    """The two-digit ε nearest to a refused one that 2^52 tickets keep: above it if it is too small, else below.

    ``layout`` gives (m, outputs) for an ε.
    """
    candidates = _two_digit_decimals()
    if why is TooFewTickets.EPSILON_TOO_SMALL:
        candidates = [each for each in candidates if each > refused.value]
    else:
        candidates = [each for each in reversed(candidates) if each < refused.value]

    def is_far_enough(value: Decimal) -> bool:
        epsilon = Epsilon(value)
        return issue_tickets(epsilon, *layout(epsilon), by_tries=by_tries) is not why

    at = bisect_left(candidates, True, key=is_far_enough)  # noqa: FBT003
    return Epsilon(candidates[at]) if at < len(candidates) else None


def largest_size(below: int, layout: Callable[[int], tuple[int, int]], epsilon: Epsilon) -> int | None:
    """The largest N below ``below`` on which 2^52 tickets keep this ε."""
    size = _last(1, below - 1, lambda each: not isinstance(issue_tickets(epsilon, *layout(each)), TooFewTickets))
    return size if size > 1 else None


def _two_digit_decimals() -> list[Decimal]:
    exponents = range(SMALLEST.adjusted(), LARGEST.adjusted() + 1)
    every = (f"{digits}e{exponent - 1}" for exponent in exponents for digits in range(10, 100))
    return [Epsilon.of(each).value for each in every if Decimal(each) <= LARGEST]
