"""An exact proof of the ε that a mechanism realises, computed from its tickets."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from bipartite.lottery import log_between
from bipartite.lottery.budgets import round_up
from bipartite.mechanisms.certified import check_mechanism
from bipartite.mechanisms.spec import spec_sha256
from bipartite.texts import Printed

if TYPE_CHECKING:
    from fractions import Fraction

    from bipartite.mechanisms import Mechanism
    from bipartite.mechanisms.categories import CategoryMechanism


@dataclass(frozen=True, slots=True, repr=False)
class Certificate(Printed):
    """What one report of a mechanism can tell at most, as a fraction that anyone can check."""

    ratio: Fraction
    """The largest Pr[y|x]/Pr[y|x'] over all reports y and values x, x'; see ``publishes`` for which values."""
    epsilon_upper: Decimal
    """ln(ratio), rounded up in the 30th digit; infinite where a report publishes something (``publishes``)."""
    holds: bool
    """Whether the guarantee is kept: ratio ≤ e^ε in whole numbers, or what the guarantee names instead."""
    guarantee: str
    """The guarantee in words."""
    spec_sha256: str
    """The mechanism that this certifies, by the name of its spec."""
    distance_unit: str | None = None
    """None for ε-LDP. Otherwise ε is **per this unit of distance**, ``holds`` is about that promise, and ``ratio`` and
    ``epsilon_upper`` are the plain ε-LDP that the mechanism happens to keep on this domain: much larger."""
    publishes: str | None = None
    """None for ε-LDP. Otherwise each report publishes this about the value: ``holds`` and ``ratio`` are about values
    that share it **only**; the ratio of any two others is infinite, and so is ``epsilon_upper``."""

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


def verify(mechanism: Mechanism | CategoryMechanism) -> Certificate:
    """Certify a mechanism: the largest ratio of two probabilities of one report, exactly.

    ``ratio`` is computed from the whole-number tickets of all rows (each row holds the same total, which is checked),
    and ``holds`` compares it with e^ε in whole numbers, never wrongly yes. Where a mechanism promises ε per unit of
    distance (``distance_unit``), ``holds`` is about that promise, checked for every pair of values; where its reports
    publish something (``publishes``), about pairs that share it.

    >>> from bipartite import BRR, Integers
    >>> certificate = verify(BRR(Integers(18, 90), epsilon=1))
    >>> certificate.holds, float(certificate.epsilon_upper)
    (True, 0.9999999999999932)
    """
    check_mechanism(mechanism)
    ratio = mechanism.largest_ratio()
    return Certificate(
        ratio=ratio,
        # Whoever reads this number alone must not take a published region for a secret.
        epsilon_upper=log_between(ratio)[1] if mechanism.publishes is None else Decimal("Infinity"),
        holds=mechanism.keeps_promise(ratio),
        guarantee=mechanism.guarantee,
        spec_sha256=spec_sha256(mechanism),
        distance_unit=mechanism.distance_unit,
        publishes=mechanism.publishes,
    )
