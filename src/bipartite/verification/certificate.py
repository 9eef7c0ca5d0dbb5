"""An exact proof of the ε that a mechanism realises, computed from its tickets."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.lottery import Epsilon, PointLottery, log_between
from bipartite.spec import spec_sha256

if TYPE_CHECKING:
    from bipartite.lottery import LineLottery
    from bipartite.mechanisms import Mechanism

# Digits of ε that people are shown; rounded up, like everything in a certificate.
_SHOWN: Final = Decimal("1e-15")


@dataclass(frozen=True, slots=True)
class Certificate:
    """What one report of a mechanism can tell at most, as a fraction that anyone can check."""

    ratio: Fraction
    """The largest Pr[y|x]/Pr[y|x'] over all reports y and values x, x'."""
    epsilon_upper: Decimal
    """ln(ratio), rounded up in the 30th digit."""
    holds: bool
    """Whether ratio ≤ e^ε, decided in whole numbers."""
    guarantee: str
    """The guarantee in words."""
    spec_sha256: str
    """The mechanism that this certifies, by the name of its spec."""

    def __str__(self) -> str:
        verdict = "holds" if self.holds else "DOES NOT HOLD"
        return (
            f"{self.guarantee}: {verdict}\n"
            f"  largest ratio of two probabilities of one report: {self.ratio.numerator}/{self.ratio.denominator}\n"
            f"  realised ε ≤ {self.epsilon_upper.quantize(_SHOWN, ROUND_CEILING, Context(prec=40))}\n"
            f"  spec sha256: {self.spec_sha256}"
        )


def verify(mechanism: Mechanism) -> Certificate:
    """Certify a mechanism: the largest ratio of two probabilities of one report, exactly.

    ``ratio`` is computed from the whole-number tickets of all rows (each row holds the same total, which is checked),
    and ``holds`` compares it with e^ε in whole numbers, never wrongly yes.

    >>> from bipartite import BRR, Integers
    >>> certificate = verify(BRR(Integers(18, 90), epsilon=1))
    >>> certificate.holds, float(certificate.epsilon_upper)
    (True, 0.9999999999999932)
    """
    epsilon = Epsilon.of(mechanism.epsilon_decimal)
    lottery = mechanism.lottery
    if (lottery.inputs, lottery.outputs) != (len(mechanism.domain), len(mechanism.outputs)):
        msg = "the lottery of this mechanism does not belong to its domain"
        raise AssertionError(msg)
    ratio = largest_ratio_on_points(lottery) if isinstance(lottery, PointLottery) else largest_ratio(lottery)
    return Certificate(
        ratio=ratio,
        epsilon_upper=log_between(ratio)[1],
        holds=epsilon.allows(ratio.numerator, ratio.denominator),
        guarantee=f"ε-LDP of each report with ε = {epsilon.text}",
        spec_sha256=spec_sha256(mechanism),
    )


def largest_ratio(lottery: LineLottery) -> Fraction:
    """The largest ratio of tickets of one output over all pairs of inputs.

    On a line, start(x) never falls and never rises by more than one from one input to the next, so the windows that the
    inputs really have are all those from start(0) to start(N−1). That both ends lie within the outputs shows that every
    near-set has exactly m items and every row the same total; an output has the ratio near/far when some of these
    windows covers it and another does not. Rows of unequal totals, or a window outside the outputs, are refused.
    """
    first, last = lottery.start(0), lottery.start(lottery.inputs - 1)
    near_items, outputs = lottery.m, lottery.outputs
    if not 0 <= first <= last <= outputs - near_items or lottery.total != lottery.tickets.total(near_items, outputs):
        msg = "the rows of this lottery do not hold the same total"
        raise AssertionError(msg)
    tickets = lottery.tickets
    # Some output is near for one input and far for another exactly when two windows differ.
    return max(tickets.ratio, 1 / tickets.ratio) if first < last else Fraction(1)


def largest_ratio_on_points(lottery: PointLottery) -> Fraction:
    """The largest ratio of tickets of one output over all pairs of inputs, from every near-set.

    Every row is looked at: its near-set must have exactly m items, so that all rows hold the same total.
    """
    near_for = np.zeros(lottery.outputs, dtype=np.int64)
    for x in range(lottery.inputs):
        near = lottery.near(x)
        if np.count_nonzero(near) != lottery.m:
            msg = "the rows of this lottery do not hold the same total"
            raise AssertionError(msg)
        near_for += near
    mixed = bool(((near_for > 0) & (near_for < lottery.inputs)).any())
    return max(lottery.tickets.ratio, 1 / lottery.tickets.ratio) if mixed else Fraction(1)
