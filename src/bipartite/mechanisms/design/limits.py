"""The nearest ε and the largest N that would work, for error messages."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from bipartite.lottery import Epsilon, TooFewTickets, issue_tickets
from bipartite.lottery.epsilon import LARGEST, SMALLEST

if TYPE_CHECKING:
    from collections.abc import Callable
    from decimal import Decimal

    Layout = Callable[[Epsilon], tuple[int, int]]
    """(m, outputs) for an ε."""


def nearest_epsilon(refused: Epsilon, why: TooFewTickets, layout: Layout, *, by_tries: bool = False) -> Epsilon | None:
    """The two-digit ε nearest to a refused one that 2^52 tickets keep: above it if it is too small, else below."""
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
    low, high = 1, below - 1
    while low < high:
        middle = (low + high + 1) // 2
        if isinstance(issue_tickets(epsilon, *layout(middle)), TooFewTickets):
            high = middle - 1
        else:
            low = middle
    return low if low > 1 else None


def _two_digit_decimals() -> list[Decimal]:
    exponents = range(SMALLEST.adjusted(), LARGEST.adjusted() + 1)
    every = (Epsilon.of(f"{digits}e{exponent - 1}") for exponent in exponents for digits in _inside(exponent))
    return [each.value for each in every]


def _inside(exponent: int) -> range:
    """The two-digit numbers within the limits of ε at this power of ten."""
    last = int(LARGEST.scaleb(1 - LARGEST.adjusted())) if exponent == LARGEST.adjusted() else 99
    return range(10, last + 1)
