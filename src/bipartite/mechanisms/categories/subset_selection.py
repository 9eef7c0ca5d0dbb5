"""Subset Selection: report a set of k values that is likely to contain the true one."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.lottery import Epsilon
from bipartite.lottery.words import take
from bipartite.mechanisms.base import tickets_for
from bipartite.mechanisms.categories.base import check_choice, round_exactly
from bipartite.mechanisms.categories.bits import kernel_for, last_mask, row_bytes, try_bits
from bipartite.mechanisms.categories.drawing import tickets_under
from bipartite.mechanisms.categories.unary import PackedReports, check_unary
from bipartite.mechanisms.spec.parts import written

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.domains import Domain
    from bipartite.lottery import Stream, Tickets

FIRST_LEVELS: Final = 6
"""Coins of probability c/2^6 give an initial set, which is then brought to its size."""

# Without the compiler a byte of a set takes about this many times as long as a byte of coins (measured).
_DEARER: Final = 8
# The largest number of words per person in a round.
_MOST_WORDS: Final = 256


class SubsetSelection(PackedReports):
    r"""Subset Selection: report a set of k of the N values that is likely to contain the true one.

    A set that contains the value has weight e\ :sup:`ε`, any other set of k values weight 1, with
    k = N/(e\ :sup:`ε` + 1) rounded, at least 1. So the set contains the value with probability
    p = k·a/(k·a + (N − k)·b), where a and b are integer tickets with a/b ≤ e\ :sup:`ε`, and is otherwise uniform.

    Parameters
    ----------
    domain
        Any domain of at most 2^18 values.
    epsilon
        The privacy budget of one report.
    k
        The size of the sets; None for the rounded optimum.

    Guarantee
    ---------
    ε-LDP for each report, exactly (:func:`bipartite.verify`): each set has probability proportional to a or to b.

    Notes
    -----
    A report is ⌈N/8⌉ bytes: one bit per value, k of them 1. The set is exactly uniform: independent coins of equal
    probability give a set that is uniform among those of its size; then values are added or removed one by one,
    uniformly among those outside or inside, until the size is k. The law is the same for any probability of the coins;
    the one used saves random words. A slab consumes its words in this order: one ticket per person, 6 words per 64
    coins, then rounds. In the first round all people take the same number of words, in later ones only those whose set
    does not have its size yet: all first words, then all second words, and so on. Their bits are used from the low end,
    16 at a time (32 if N > 4096), one try after the other until the size is right. A try draws a value uniformly
    (Lemire 2019), and fails if that value is already inside (or outside), or if the bits are rejected.

    Any other value is in the set with probability q = ((k − 1)p + k(1 − p))/(N − 1). Estimates are unbiased, with
    variance [q(1 − q) + f(p(1 − p) − q(1 − q))]/(n(p − q)²) for a share f among n people.

    Reference
    ---------
    Ye, Barg: *Optimal Schemes for Discrete Distribution Estimation under Locally Differential Privacy* (IEEE Trans.
    Inf. Theory 2018); Wang et al.: *Mutual Information Optimally Local Private Discrete Distribution Estimation*
    (2016).

    Examples
    --------
    >>> import bipartite as bp
    >>> mech = SubsetSelection(bp.Integers(1, 100), epsilon=1)
    >>> mech.k, bp.verify(mech).holds
    (27, True)
    """

    __slots__ = ("_tickets", "k")
    fields = frozenset({"k", "tickets"})
    chosen = ("k",)

    k: int
    """The size of a reported set."""
    _tickets: Tickets

    def __init__(self, domain: Domain, epsilon: object, *, k: int | None = None) -> None:
        budget = Epsilon.of(epsilon)
        check_unary(domain)
        size = len(domain)
        chosen = best_size(budget, size) if k is None else check_choice("k", k, 1, size - 1)
        self._set(domain=domain, _budget=budget, k=chosen, _tickets=tickets_for(budget, chosen, size, "values"))

    @property
    def support(self) -> tuple[Fraction, Fraction]:
        size, k = len(self.domain), self.k
        p = Fraction(k * self._tickets.near, self._tickets.total(k, size))
        return p, ((k - 1) * p + k * (1 - p)) / (size - 1)

    def largest_ratio(self) -> Fraction:
        """a/b: the probability of a set that contains x over that of one that does not."""
        size, k, p = len(self.domain), self.k, self.support[0]
        # p/C(N − 1, k − 1) over (1 − p)/C(N − 1, k), and C(N − 1, k)/C(N − 1, k − 1) = (N − k)/k.
        return p / (1 - p) * Fraction(size - k, k)

    @property
    def _words_each(self) -> int:
        size = len(self.domain)
        return 17 + row_bytes(size) * (FIRST_LEVELS + 1) // 8 + self._round_words

    @property
    def _first_chances(self) -> int:
        """The probability of the first coins times 2^6: slightly below k/N, since adding is faster than removing."""
        size, k = len(self.domain), self.k
        spread = math.isqrt(k * (size - k) // size)
        return max(0, k - spread * 7 // 10) * 2**FIRST_LEVELS // size

    @property
    def _round_words(self) -> int:
        """The words per person and round, enough that most sets reach their size in the first round."""
        size, k = len(self.domain), self.k
        missing = k - size * self._first_chances // 2**FIRST_LEVELS
        tries = (missing + math.isqrt(k * (size - k) // size) + 3) * size // (size - k) + 1
        return min(_MOST_WORDS, -(-tries * try_bits(size) // 64))

    def _draw(self, indices: NDArray[np.int64], stream: Stream) -> NDArray[np.uint8]:
        size, k = len(self.domain), self.k
        people, width = len(indices), row_bytes(size)
        kernel = kernel_for(_DEARER * people * width)
        inside = tickets_under(k * self._tickets.near, self._tickets.total(k, size), people, stream)
        words = take(stream, FIRST_LEVELS * -(-people * width // 8)).reshape(FIRST_LEVELS, -1)
        first = kernel.start(words, self._first_chances << (64 - FIRST_LEVELS))[0]
        rows = first.astype("<u8", copy=False).view(np.uint8)[: people * width].reshape(people, width)
        if size % 8:
            rows[:, -1] &= last_mask(size)
        # While values are added, the true one counts as inside; while they are removed, as outside.
        wanted, each = k - inside.astype(np.int64), self._round_words
        needs = kernel.first_round(rows, indices, wanted, take(stream, people * each).reshape(each, people), size)
        who = np.flatnonzero(needs)
        while len(who):
            who = kernel.move(rows, needs, who, take(stream, len(who) * each).reshape(each, -1), size)
        kernel.put(rows, indices, inside)
        return rows

    def parts(self) -> dict[str, Any]:
        return {"k": self.k, "tickets": written(self._tickets)}


def best_size(budget: Epsilon, size: int) -> int:
    """N/(e^ε + 1) rounded to the nearest integer, at least 1; decided exactly."""
    guess = max(1, round(size / (math.exp(float(budget)) + 1)))
    # k − 1/2 ≤ N/(e^ε + 1)  ⟺  (2k − 1 − 2N) + (2k − 1)e^ε ≤ 0.
    return round_exactly(guess, lambda k: budget.sign(2 * k - 1 - 2 * size, 2 * k - 1) <= 0)
