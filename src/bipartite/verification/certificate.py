"""An exact proof of the ε that a mechanism realises, computed from its tickets."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from typing import TYPE_CHECKING, Final

from bipartite.lottery import Epsilon, log_between
from bipartite.spec import spec_sha256

if TYPE_CHECKING:
    from fractions import Fraction

    from bipartite.categories import CategoryMechanism
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


def verify(mechanism: Mechanism | CategoryMechanism) -> Certificate:
    """Certify a mechanism: the largest ratio of two probabilities of one report, exactly.

    ``ratio`` is computed from the whole-number tickets of all rows (each row holds the same total, which is checked),
    and ``holds`` compares it with e^ε in whole numbers, never wrongly yes.

    >>> from bipartite import BRR, Integers
    >>> certificate = verify(BRR(Integers(18, 90), epsilon=1))
    >>> certificate.holds, float(certificate.epsilon_upper)
    (True, 0.9999999999999932)
    """
    ratio = mechanism.largest_ratio()
    return Certificate(
        ratio=ratio,
        epsilon_upper=log_between(ratio)[1],
        holds=_keeps(mechanism.epsilon_decimal, ratio),
        guarantee=mechanism.guarantee,
        spec_sha256=spec_sha256(mechanism),
    )


def _keeps(epsilon: Decimal, ratio: Fraction) -> bool:
    """Whether ratio ≤ e^ε; ε = 0 asks that reports do not depend on the value at all."""
    return ratio == 1 if epsilon == 0 else Epsilon.of(epsilon).allows(ratio.numerator, ratio.denominator)
