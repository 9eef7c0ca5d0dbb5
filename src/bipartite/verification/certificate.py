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
    """The largest Pr[y|x]/Pr[y|x'] over all reports y and values x, x'; see ``publishes`` for which values."""
    epsilon_upper: Decimal
    """ln(ratio), rounded up in the 30th digit; infinite if a report publishes something (``publishes``)."""
    holds: bool
    """Whether the guarantee is kept: ratio ≤ e^ε in integer arithmetic, or what the guarantee states instead."""
    guarantee: str
    """The guarantee in words."""
    spec_sha256: str
    """The SHA-256 of the spec of the certified mechanism."""
    distance_unit: str | None = None
    """None for ε-LDP. Otherwise ε is **per this unit of distance**, ``holds`` is about that promise, and ``ratio`` and
    ``epsilon_upper`` are the much larger ratio and ε of plain ε-LDP on this domain."""
    publishes: str | None = None
    """None for ε-LDP. Otherwise each report publishes this about the value: ``holds`` and ``ratio`` are **only** about
    values that share it; for any two others the ratio is infinite, and so is ``epsilon_upper``."""

    def __str__(self) -> str:
        verdict = "holds" if self.holds else "DOES NOT HOLD"
        realised = "realised ε" if self.distance_unit is None else "as plain ε-LDP on this domain: ε"
        of_two, beyond, epsilon = "two probabilities of one report", "", self.epsilon_upper
        if self.publishes is not None:
            of_two += f" for values of one {self.publishes}"
            realised = f"realised ε within one {self.publishes}"
            epsilon = log_between(self.ratio)[1]
            beyond = f"  for values of two {self.publishes}s: infinite, the {self.publishes} is published; not ε-LDP\n"
        return (
            f"{self.guarantee}: {verdict}\n"
            f"  largest ratio of {of_two}: {self.ratio.numerator}/{self.ratio.denominator}\n{beyond}"
            f"  {realised} ≤ {round_up(epsilon):f}\n"
            f"  spec sha256: {self.spec_sha256}"
        )


def verify(mechanism: Mechanism) -> Certificate:
    """Certify a mechanism: compute the largest ratio of two probabilities of one report, exactly.

    ``ratio`` is computed from the integer tickets of all rows (all rows must have the same total, which is checked),
    and ``holds`` compares it with e^ε in integer arithmetic; it is never wrongly true. If a mechanism promises ε per
    unit of distance (``distance_unit``), ``holds`` is about that promise, checked for every pair of values; if its
    reports publish something (``publishes``), about pairs of values that share it.

    >>> from bipartite import BRR, Integers
    >>> certificate = verify(BRR(Integers(18, 90), epsilon=1))
    >>> certificate.holds, float(certificate.epsilon_upper)
    (True, 0.9999999999999932)
    """
    check_mechanism(mechanism)
    ratio = mechanism.largest_ratio()
    return Certificate(
        ratio=ratio,
        # Read on its own, this number must not make a published region look protected.
        epsilon_upper=log_between(ratio)[1],
        holds=mechanism.keeps_promise(ratio),
        guarantee=mechanism.guarantee,
        spec_sha256=spec_sha256(mechanism),
    )
