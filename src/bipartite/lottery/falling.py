"""Tickets of noise that falls on both sides of zero, for :class:`NoiseLottery`, with ε kept exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.errors import DesignError
from bipartite.lottery.epsilon import series_below_exp
from bipartite.lottery.tickets import MAX_TOTAL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.lottery.epsilon import Epsilon

# The rest is kept back for rounding up, at most 1/ε tickets for each of 2^22 shifts, and for the tail.
_ISSUED: Final = MAX_TOTAL * (1 - 2**-12)
_SCALE_BITS: Final = 64


def issue_noise(chances: NDArray[np.float64], inputs: int, epsilon: Epsilon) -> NDArray[np.int64]:
    """Tickets of shifts 0, 1, …, the last for the whole tail, such that no ratio exceeds e^ε.

    Two inputs are at most Δ = N − 1 steps apart, so shift z of one is at most shift z + Δ of another, and ε is kept
    when t_z ≤ e^ε·t_{z+Δ} for every shift that is told apart, and the tail that reaches an end from itself is at most
    e^ε times the tail that reaches it from the other end. Counts are made outwards, Δ shifts at a time, each at least
    the least whole number that its partner Δ further in asks for; that costs a ticket here and there, and lifted counts
    still fall, because the partners do. The tail comes last: the least count that the ends allow.

    Parameters
    ----------
    chances
        The probabilities of shifts 0, 1, …, padding + Δ − 1: falling, and at most about e^ε times that Δ further out.
    inputs
        N, how many values there are.
    epsilon
        The budget that the tickets are held to.
    """
    apart = inputs - 1
    padding = len(chances) - apart
    tickets = np.floor(np.minimum.accumulate(chances) * _ISSUED).astype(np.int64)
    # With the first Δ shifts at least what shift 0 asks for, counts fall from block to block.
    tickets[:apart] = np.maximum(tickets[:apart], _needed(tickets[:1], epsilon))
    for start in range(apart, len(tickets), apart):
        stop = min(start + apart, len(tickets))
        partners = tickets[start - apart : stop - apart]
        tickets[start:stop] = np.maximum(tickets[start:stop], _needed(partners, epsilon))
    numerator, denominator = series_below_exp(epsilon.value)
    # The least tail L with S + L ≤ e^ε·L, S being the tickets of the shifts that reach an end from itself.
    reaching = int(tickets[padding:].sum())
    tail = -(-reaching * denominator // (numerator - denominator))
    # With a tiny ε the tail takes all tickets, and nothing is left for the shifts.
    if tickets.min() < 1 or 2 * (int(tickets.sum()) + tail) - int(tickets[0]) > MAX_TOTAL:
        msg = f"2^52 tickets cannot keep ε={epsilon.text} on N={inputs} values; use a larger ε, or fewer values."
        raise DesignError(msg)
    return np.append(tickets, np.int64(tail))


def _needed(partners: NDArray[np.int64], epsilon: Epsilon) -> NDArray[np.int64]:
    """Whole numbers f with t ≤ e^ε·f for each of these t: with ⌊2^64·e^ε⌋, which spares a long division for each."""
    scale = epsilon.most_near_tickets(1 << _SCALE_BITS)
    return np.array([-(-(count << _SCALE_BITS) // scale) for count in partners.tolist()], dtype=np.int64)
