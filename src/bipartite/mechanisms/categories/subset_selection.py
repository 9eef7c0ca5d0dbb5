"""Subset Selection: report a set of k values that is likely to contain the true one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.lottery import Epsilon, Tickets
from bipartite.lottery.uniform import is_kept
from bipartite.lottery.words import take
from bipartite.mechanisms.categories.bits import kernel_for, last_mask, row_bytes, try_bits
from bipartite.mechanisms.categories.draw import Flat, FlatDraw, refuse_rows, round_exactly
from bipartite.mechanisms.categories.unary import PackedBits, check_packed, check_unary
from bipartite.mechanisms.checks import check_choice, tickets_for
from bipartite.mechanisms.spec.fields import counts, whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from bipartite.domains import Domain
    from bipartite.lottery import Stream

FIRST_LEVELS: Final = 6
"""Coins of probability c/2^6 give an initial set, which is then brought to its size."""

# Without the compiler a byte of a set takes about this many times as long as a byte of coins (measured).
_DEARER: Final = 8
# How many bits of each byte are 1.
_ONES: Final = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).sum(axis=1, dtype=np.uint8)
# The largest number of words per person in a round.
_MOST_WORDS: Final = 256


@dataclass(frozen=True)
class Subsets(PackedBits):
    """Sets of k of the values, each with ``near`` tickets if it contains the true one, else with ``far``."""

    size: int
    k: int
    tickets: Tickets

    @property
    def support(self) -> tuple[Fraction, Fraction]:
        size, k = self.size, self.k
        p = Fraction(k * self.tickets.near, self.tickets.total(k, size))
        return p, ((k - 1) * p + k * (1 - p)) / (size - 1)

    def largest_ratio(self) -> Fraction:
        """a/b: the probability of a set that contains x over that of one that does not."""
        size, k, p = self.size, self.k, self.support[0]
        # p/C(N − 1, k − 1) over (1 − p)/C(N − 1, k), and C(N − 1, k)/C(N − 1, k − 1) = (N − k)/k.
        return p / (1 - p) * Fraction(size - k, k)

    def count(self, reports: object) -> NDArray[np.int64]:
        found = check_packed(reports, self.size)
        refuse_rows(_ONES[found].sum(axis=1, dtype=np.int64) != self.k, f"sets of {self.k} values")
        return PackedBits.count(self, found)

    @property
    def words_each(self) -> int:  # type: ignore[override]
        return 17 + row_bytes(self.size) * (FIRST_LEVELS + 1) // 8 + self._round_words

    @property
    def _first_chances(self) -> int:
        """The probability of the first coins times 2^6: slightly below k/N, since adding is faster than removing."""
        size, k = self.size, self.k
        spread = math.isqrt(k * (size - k) // size)
        return max(0, k - spread * 7 // 10) * 2**FIRST_LEVELS // size

    @property
    def _round_words(self) -> int:
        """The words per person and round, enough that most sets reach their size in the first round."""
        size, k = self.size, self.k
        missing = k - size * self._first_chances // 2**FIRST_LEVELS
        tries = (missing + math.isqrt(k * (size - k) // size) + 3) * size // (size - k) + 1
        return min(_MOST_WORDS, -(-tries * try_bits(size) // 64))

    def rows_of(self, indices: NDArray[np.int64], stream: Stream) -> NDArray[np.uint8]:
        size, k = self.size, self.k
        people, width = len(indices), row_bytes(size)
        kernel = kernel_for(_DEARER * people * width)
        inside = tickets_under(k * self.tickets.near, self.tickets.total(k, size), people, stream)
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


class SubsetSelection(Flat):
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

    __slots__ = ()
    schema = {"k": whole(), "tickets": counts(Tickets)}
    chosen = ("k",)

    def __init__(self, domain: Domain, epsilon: object, *, k: int | None = None) -> None:
        budget = Epsilon.of(epsilon)
        check_unary(domain)
        size = len(domain)
        chosen = best_size(budget, size) if k is None else check_choice("k", k, 1, size - 1)
        self._hold(domain, budget, {"k": chosen, "tickets": tickets_for(budget, chosen, size, "values")})

    @classmethod
    def draw_of(cls, size: int, facts: Mapping[str, Any]) -> FlatDraw:
        return Subsets(size, facts["k"], facts["tickets"])

    @property
    def k(self) -> int:
        """The size of a reported set."""
        return int(self.facts["k"])


def best_size(budget: Epsilon, size: int) -> int:
    """N/(e^ε + 1) rounded to the nearest integer, at least 1; decided exactly."""
    guess = max(1, round(size / (math.exp(float(budget)) + 1)))
    # k − 1/2 ≤ N/(e^ε + 1)  ⟺  (2k − 1 − 2N) + (2k − 1)e^ε ≤ 0.
    return round_exactly(guess, lambda k: budget.sign(2 * k - 1 - 2 * size, 2 * k - 1) <= 0)


def tickets_under(limit: int, total: int, count: int, stream: Stream) -> NDArray[np.bool_]:
    """Whether each of the next ``count`` tickets, as `draw_below` draws them, is below ``limit`` < ``total``."""
    # ⌊w·W/2^64⌋ < a exactly if w < ⌈a·2^64/W⌉.
    words_below = np.uint64(-(-limit * 2**64 // total))
    under = np.empty(count, dtype=np.bool_)
    done = 0
    while done < count:
        words = stream.window()[: count - done]
        kept = is_kept(words, total)
        some = words < words_below
        if not kept.all():
            some = some[kept]
        under[done : done + len(some)] = some
        stream.advance(len(words))
        done += len(some)
    return under
