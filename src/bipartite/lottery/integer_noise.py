"""Integer noise that a curator adds to a sum of integers.

Two laws; bulk draws have a scale of 2^bits, so that no division is needed:

- **discrete Laplace**, Pr[z] ∝ exp(−|z|/2^bits), drawn exactly by the rejection sampler of Canonne, Kamath and Steinke
  (*The Discrete Gaussian for Differential Privacy*, NeurIPS 2020, Algorithms 1 and 2): every coin is a comparison of
  integers. A single draw may have any rate (:func:`discrete_laplace_of_rate`).
- **rounded Gaussian**, 2^bits·N(0, 1) rounded to the nearest integer. An integer plus this noise is the continuous
  Gaussian mechanism followed by rounding: every theorem about the continuous mechanism holds, subsampling included.
  Drawn by Karney's method (*Sampling Exactly from the Normal Distribution*, ACM TOMS 2016), which compares uniform
  numbers and never computes a logarithm. Uniform numbers have 64 bits instead of infinitely many, and more on a tie:
  :data:`GAUSSIAN_SLACK` bounds the difference.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.lottery.decay import flip_exp_coin
from bipartite.lottery.uniform import draw_below, whole_below
from bipartite.lottery.words import draw_from, take, take_copy

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from bipartite.lottery.words import Source, Stream

    Whole = NDArray[np.int64]
    Words = NDArray[np.uint64]

MOST_BITS: Final = 40
"""The largest scale: 2^40, so that sums stay far below 2^63 and coins below 2^52."""

# Karney's k, the integer part: Pr[k] ∝ exp(−k²/2). Together, all k ≥ 14 have probability below 2^−140.
_WHOLE_PARTS: Final = 14
_WORD: Final = 2**64

GAUSSIAN_SLACK: Final = 2.0**-112
"""Upper bound on the total variation distance between one rounded Gaussian drawn here and the ideal one.

A comparison of two uniform numbers whose 64 bits tie is decided by a fresh word for each: that is exact unless the
same number ties twice. Two given comparisons both tie with probability 2^−128, whatever was drawn before, so among the
c comparisons of a try two tie with probability at most E[c²]·2^−129. A try flips k + 1 ≤ 14 coins; a coin takes n or
more steps with probability at most 1/(n − 1)!, so the mean square of its steps is at most 3e; a step is two
comparisons: E[c²] ≤ 4·14²·3e < 2^13. A draw takes 1.4 tries on average. Fixed thresholds have 128 bits, on average at
most about a hundred are compared with, and the omitted integer parts have probability below 2^−140. The total is below
2^−114.
"""


def discrete_laplace(count: int, bits: int, source: Source) -> Whole:
    """Draw ``count`` integers with Pr[z] ∝ exp(−|z|/2^bits), exactly."""
    return draw_from(
        source, 4 * count, lambda stream: _collect(count, lambda wanted: _laplace_tries(wanted, bits, stream))
    )


def discrete_laplace_of_rate(rate: Fraction, stream: Stream) -> int:
    """Draw one integer with Pr[z] ∝ e^(−rate·|z|), exactly and without truncation.

    With rate = s/t: u + t·v is geometric with rate 1/t when u is uniform below t and accepted with probability
    e^(−u/t), and v counts successes of probability e^−1; divided by s and rounded down it has rate s/t. Then a random
    sign, with one of the two zeros rejected (Canonne et al., Algorithm 2).
    """
    s, t = rate.numerator, rate.denominator
    one = Fraction(1)
    while True:
        u = whole_below(t, stream)
        if not flip_exp_coin(Fraction(u, t), stream):
            continue
        v = 0
        while flip_exp_coin(one, stream):
            v += 1
        size = (u + t * v) // s
        negative = stream.word() & 1
        if size or not negative:
            return -size if negative else size


def rounded_gaussian(count: int, bits: int, source: Source) -> Whole:
    """Draw ``count`` normal variables of standard deviation 2^bits, each rounded to the nearest integer."""
    return draw_from(
        source, 16 * count, lambda stream: _collect(count, lambda wanted: _gaussian_tries(wanted, bits, stream))
    )


def flip_coins(count: int, chance: float, source: Source) -> NDArray[np.bool_]:
    """Flip ``count`` independent coins, each True with probability ⌊2^64·chance⌋/2^64, never more than ``chance``."""
    if chance >= 1:
        return np.ones(count, dtype=np.bool_)
    below = np.uint64(int(chance * 2.0**64))
    return draw_from(source, count, lambda stream: take(stream, count) < below)


def _collect(count: int, tries: Callable[[int], Whole]) -> Whole:
    found: list[Whole] = []
    missing = count
    while missing > 0:
        got = tries(missing + missing // 2 + 16)
        found.append(got[:missing])
        missing -= len(found[-1])
    return np.concatenate(found) if found else np.zeros(0, dtype=np.int64)


def _draw_signed_below(total: int, count: int, stream: Stream) -> Whole:
    """Uniform integers below ``total``, as int64: NumPy would compare int64 with uint64 as floats."""
    return draw_below(total, count, stream).view(np.int64)


def _flip_exp_coins(numerators: Whole, bits: int, stream: Stream) -> NDArray[np.bool_]:
    """Flip coins of probability exp(−numerator/2^bits), 0 ≤ numerator ≤ 2^bits (Canonne et al., Algorithm 1).

    Coins of probability γ/1, γ/2, γ/3, … are flipped until one fails; the index of the first failure is odd with
    probability 1 − γ + γ²/2! − … = e^−γ.
    """
    odd = np.ones(len(numerators), dtype=np.bool_)
    alive = np.arange(len(numerators))
    tried = 1
    while len(alive):
        passed = _draw_signed_below(tried << bits, len(alive), stream) < numerators[alive]
        alive = alive[passed]
        odd[alive] = tried % 2 == 0
        tried += 1
    return odd


def _laplace_tries(wanted: int, bits: int, stream: Stream) -> Whole:
    """Canonne et al., Algorithm 2 with t = 2^bits and s = 1: the accepted ones of 2·``wanted`` tries."""
    scale = 1 << bits
    low = _draw_signed_below(scale, 2 * wanted, stream)
    low = low[_flip_exp_coins(low, bits, stream)]
    high = np.zeros(len(low), dtype=np.int64)
    alive = np.arange(len(low))
    while len(alive):
        alive = alive[_flip_exp_coins(np.ones(len(alive), dtype=np.int64), 0, stream)]
        high[alive] += 1
    size = low + (high << bits)
    negative = _draw_signed_below(2, len(size), stream) == 1
    kept = ~(negative & (size == 0))  # zero must not count twice
    found: Whole = np.where(negative, -size, size)[kept]
    return found


def _under(words: Words, whole: Words, rest: Words, stream: Stream) -> NDArray[np.bool_]:
    """Whether uniform numbers, known to 64 bits, are below thresholds of 128 bits; ties take another word."""
    under: NDArray[np.bool_] = words < whole
    ties = np.flatnonzero(words == whole)
    if len(ties):
        under[ties] = take(stream, len(ties)) < rest[ties]
    return under


def _less(words: Words, others: Words, stream: Stream) -> NDArray[np.bool_]:
    """Whether uniform numbers are below other uniform numbers, both known to 64 bits; ties take fresh words."""
    ties = int((words == others).sum())
    rest = np.zeros(len(words), dtype=np.uint64)
    if ties:
        rest[words == others] = take(stream, ties)
    return _under(words, others, rest, stream)


def _limbs(shares: Sequence[Fraction]) -> tuple[Words, Words]:
    """The first and the next 64 bits of shares below one."""
    whole = [int(share * _WORD**2) for share in shares]
    first, rest = [each >> 64 for each in whole], [each % _WORD for each in whole]
    return np.array(first, dtype=np.uint64), np.array(rest, dtype=np.uint64)


def _whole_part_shares() -> list[Fraction]:
    """Pr[integer part ≤ k] for k = 0 … 12; anything above the last is k = 13."""
    with localcontext() as context:
        context.prec = 80
        weights = [Fraction((Decimal(-k * k) / 2).exp()) for k in range(_WHOLE_PARTS)]
    return [sum(weights[: k + 1], Fraction(0)) / sum(weights) for k in range(_WHOLE_PARTS - 1)]


_TABLE, _TABLE_REST = _limbs(_whole_part_shares())
# Where the first and second of 2k + 2 equal parts end; k = 0 has only two.
_FIRST, _FIRST_REST = _limbs([Fraction(1, 2 * k + 2) for k in range(_WHOLE_PARTS)])
_SECOND, _SECOND_REST = _limbs([Fraction(2, 2 * k + 2) if k else 1 - Fraction(1, 2**128) for k in range(_WHOLE_PARTS)])


def _whole_parts(count: int, stream: Stream) -> Whole:
    words = take(stream, count)
    whole: Whole = np.searchsorted(_TABLE, words, side="right").astype(np.int64)
    # A word equal to a threshold counts as past it, unless its next 64 bits are below the threshold's.
    tied = np.flatnonzero(np.isin(words, _TABLE))
    if len(tied):
        at = whole[tied] - 1
        whole[tied] -= take(stream, len(tied)) < _TABLE_REST[at]
    return whole


def _gaussian_tries(wanted: int, bits: int, stream: Stream) -> Whole:
    """Karney's Algorithm N: k + x with Pr[k] ∝ exp(−k²/2), x uniform, accepted with probability exp(−x(2k + x)/2)."""
    whole = _whole_parts(wanted, stream)
    part = take_copy(stream, wanted)  # more words are taken while it is in use
    accepted = _accept(whole, part, stream)
    whole, part = whole[accepted], part[accepted]
    negative = _draw_signed_below(2, len(whole), stream) == 1
    # Round to nearest: one bit more than needed, plus one, halved. In the ideal law ties have probability zero.
    size = ((whole << (bits + 1)) + (part >> np.uint64(63 - bits)).view(np.int64) + 1) >> 1
    return np.where(negative, -size, size)


def _accept(whole: Whole, part: Words, stream: Stream) -> NDArray[np.bool_]:
    """Step N4: all of k + 1 coins of probability exp(−x(2k + x)/(2k + 2)) must come up heads (Algorithm B).

    A coin comes up heads when a run x > z_1 > z_2 > … of uniform numbers, which also ends at each step with
    probability 1 − (2k + x)/(2k + 2), has even length.
    """
    accepted = np.ones(len(whole), dtype=np.bool_)
    alive = np.arange(len(whole))
    left = whole.copy()  # coins to flip after this one
    last, even = part.copy(), np.ones(len(whole), dtype=np.bool_)
    while len(alive):
        z, r, s = take_copy(stream, 3 * len(alive)).reshape(3, -1)
        x, k = part[alive], whole[alive]
        # Probability (2k + x)/(2k + 2): of 2k + 2 equal parts the first never, the second if s < x, the rest always.
        longer = ~_under(r, _FIRST[k], _FIRST_REST[k], stream)
        longer &= ~_under(r, _SECOND[k], _SECOND_REST[k], stream) | _less(s, x, stream)
        longer &= _less(z, last[alive], stream)
        on, ended = alive[longer], alive[~longer]
        last[on] = z[longer]
        even[on] ^= True
        accepted[ended] = even[ended]
        again = ended[even[ended] & (left[ended] > 0)]
        left[again] -= 1
        last[again] = part[again]
        alive = np.concatenate([on, again])
    return accepted
