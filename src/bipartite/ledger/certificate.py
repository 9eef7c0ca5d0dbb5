"""What all reports of one question in one period promise together."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bipartite.ledger.serving import OnChange


@dataclass(frozen=True, slots=True)
class QuestionCertificate:
    """The guarantee of everything that a question released about one person in one period."""

    question: str
    period: str
    on_change: OnChange
    epsilon_report: Decimal
    """ε of one report, as debited."""
    epsilon_period: Decimal
    """ε of all reports of the question in the period together, for whatever sequence of values a person had: infinite
    where the releases themselves tell when the value changed, and where some were drawn from insecure words."""
    spec_sha256: str
    """The mechanism, by the name of its spec."""
    insecure: bool | None
    """Whether some reports were drawn from words that someone may know (``rng=``), and so are not private; None where
    some are older than version 2 of ledgers, which notes it, and none is known to be."""

    @property
    def ldp_for_sequences(self) -> bool:
        """Whether two sequences of values of one person are hidden from each other by a finite ε."""
        return self.epsilon_period.is_finite()

    @property
    def guarantee(self) -> str:
        """What is promised, and what is not, in words."""
        if self.insecure:
            return "NOT PRIVATE: some reports were drawn from words that someone may know (rng=); no ε is claimed"
        doubt = (
            ""
            if self.insecure is False
            else (", provided that none was drawn with rng=: some are older than the mark that would tell")
        )
        return self._promise + doubt

    @property
    def _promise(self) -> str:
        one, all_of_them = self.epsilon_report, self.epsilon_period
        if self.on_change == "repeat":
            return (
                f"ε-LDP with ε = {one} for the whole period: one report a person, drawn from the value at the first "
                "request and repeated whatever the value becomes"
            )
        if self.on_change == "fresh":
            return (
                f"ε-LDP with ε = {one} of each report; all reports of one person in the period together, for any "
                f"sequence of values, at most ε = {all_of_them}, because the budget ends them"
            )
        return (
            f"ε-LDP with ε = {one} of each report alone; the fact and the time of each change of the value are "
            "published: this is not LDP for sequences of values, and no ε covers it"
        )

    def __str__(self) -> str:
        return (
            f"{self.question}, period {self.period}: {self.guarantee}\n"
            "  not covered: that, when and how often a person was asked or refused\n"
            f"  spec sha256: {self.spec_sha256}"
        )


def certify(
    question: str,
    period: str,
    on_change: OnChange,
    spec_sha256: str,
    one: Decimal,
    budget: Decimal,
    insecure: bool | None,  # noqa: FBT001
) -> QuestionCertificate:
    """The certificate of a question as the ledger holds it."""
    if insecure:
        together = Decimal("Infinity")
    elif on_change == "repeat":
        together = one
    elif on_change == "fresh":
        # At most so many whole reports fit into the budget, whatever else was asked.
        together = (budget // one) * one if one else Decimal(0)
    else:
        together = Decimal("Infinity")
    return QuestionCertificate(question, period, on_change, one, together, spec_sha256, insecure)
