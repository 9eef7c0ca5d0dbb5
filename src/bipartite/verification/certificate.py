"""An exact proof of the realised ε of a mechanism, computed from its tickets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bipartite.lottery import log_between
from bipartite.lottery.budgets import round_up
from bipartite.mechanisms.base import check_mechanism
from bipartite.mechanisms.spec import spec_sha256
from bipartite.texts import Printed

if TYPE_CHECKING:
    from decimal import Decimal
    from fractions import Fraction

    from bipartite.mechanisms import Mechanism


@dataclass(frozen=True, slots=True, repr=False)
class Certificate(Printed):
    """The largest ratio of two probabilities of one report of a mechanism, as a fraction that anyone can check."""

    ratio: Fraction
    """The largest Pr[y|x]/Pr[y|x'] over all reports y and values x, x'."""
    epsilon_upper: Decimal
    """ln(ratio), rounded up in the 30th digit."""
    holds: bool
    """Whether the guarantee is kept: ratio ≤ e^ε in integer arithmetic."""
    guarantee: str
    """The guarantee in words."""
    spec_sha256: str
    """The SHA-256 of the spec of the certified mechanism."""

    def __str__(self) -> str:
        verdict = "holds" if self.holds else "DOES NOT HOLD"
        return (
            f"{self.guarantee}: {verdict}\n"
            "  largest ratio of two probabilities of one report: "
            f"{self.ratio.numerator}/{self.ratio.denominator}\n"
            f"  realised ε ≤ {round_up(self.epsilon_upper):f}\n"
            f"  spec sha256: {self.spec_sha256}"
        )


def verify(mechanism: Mechanism) -> Certificate:
    """Certify a mechanism: compute the largest ratio of two probabilities of one report, exactly.

    ``ratio`` is computed from the integer tickets of all rows (all rows must have the same total, which is checked),
    and ``holds`` compares it with e^ε in integer arithmetic; it is never wrongly true.

    >>> from bipartite import BRR, Integers
    >>> certificate = verify(BRR(Integers(18, 90), epsilon=1))
    >>> certificate.holds, float(certificate.epsilon_upper)
    (True, 0.9999999999999932)
    """
    check_mechanism(mechanism)
    ratio = mechanism.largest_ratio()
    return Certificate(
        ratio=ratio,
        epsilon_upper=log_between(ratio)[1],
        holds=mechanism.keeps_promise(ratio),
        guarantee=mechanism.guarantee,
        spec_sha256=spec_sha256(mechanism),
    )
