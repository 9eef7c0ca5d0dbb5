"""What a person reports of several attributes: one way to spend a budget, and several of them compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from bipartite.answers.advise.pairs import OF_PAIRS
from bipartite.errors import missing_library
from bipartite.texts import Printed, escaped

if TYPE_CHECKING:
    from decimal import Decimal

    from pandas import DataFrame

    from bipartite.mechanisms import Record

Way = Literal["sample", "split", "product"]

_WORDS: Final = {
    "mean": "mean",
    "histogram": "share of a value",
    "cdf": "share up to a value",
    "cells": "share of a pair of values",
    "quadrants": "share of a quadrant",
    "correlation": "correlation",
}
_TWO: Final = 2
_SHORT: Final = {"sample": "sampled", "split": "split", "product": "as one value"}
_NOT_KEPT: Final = "no mechanism keeps the ε that splitting would leave each attribute"


@dataclass(frozen=True, slots=True, repr=False)
class ReportingPlan(Printed):
    """One way to spend the budget: every person reports ``attributes`` of them at ``epsilon_each``."""

    attributes: int
    """k, the number of attributes that a person reports; all of them when the budget is split."""
    epsilon_each: Decimal
    """ε/k, rounded down in the 20th digit; of a pair that is reported as one value, ε."""
    n_each: int
    """The expected number of people who report an attribute."""
    errors: dict[str, float]
    """The forecast standard error for each attribute, in its own unit, or for both together ("age, visits")."""
    score: float
    """Root mean square of those errors over attributes; errors of means are fractions of the attribute's range."""
    record: Record
    """The record to report with. A pair as one value is one attribute, "age, visits", whose values are pairs."""
    way: Way
    """Whether a few attributes are drawn for each person ("sample"), all are reported with a part of ε each ("split"),
    or two at once as one value of a :class:`~bipartite.Product` ("product")."""

    def __str__(self) -> str:
        total, epsilon = len(self.record.mechanisms), f"{float(self.epsilon_each):.3g}"
        if self.way == "product":
            return f"{escaped(next(iter(self.record.mechanisms)))} as one value at ε = {epsilon}"
        if self.way == "split":
            return f"{'both' if total == _TWO else f'all {total}'} at ε = {epsilon} each"
        return f"{self.attributes} of {total} attributes per person at ε = {epsilon}"


@dataclass(frozen=True, slots=True, repr=False)
class SplitOrSample(Printed):
    """Which way is more accurate. Made by :func:`bipartite.split_or_sample`."""

    of: str
    n: int
    plans: tuple[ReportingPlan, ...]
    """By k, least first; then the one that splits the budget over all attributes, then that of pairs as one value."""

    @property
    def best(self) -> ReportingPlan:
        """The plan with the least score."""
        # Among equals, the one where people report most: attributes can then be analysed together.
        return min(reversed(self.plans), key=lambda plan: plan.score)

    @property
    def split(self) -> ReportingPlan | None:
        """Every attribute from everybody; None where no mechanism keeps an ε that small."""
        return self._least("split")

    @property
    def sampled(self) -> ReportingPlan | None:
        """The best plan with fewer attributes per person; None with one attribute, and for pairs of values."""
        return self._least("sample")

    @property
    def product(self) -> ReportingPlan | None:
        """Both attributes as one value at the full ε; None unless there are two, with at most 2^16 pairs of values."""
        return self._least("product")

    def _least(self, way: Way) -> ReportingPlan | None:
        return min((plan for plan in self.plans if plan.way == way), key=lambda plan: plan.score, default=None)

    @property
    def record(self) -> Record:
        """The record of the best plan, ready to report with."""
        return self.best.record

    @property
    def _others(self) -> list[ReportingPlan]:
        """The best of each of the other ways."""
        ways = (self.split, self.sampled, self.product)
        return [plan for plan in ways if plan is not None and plan is not self.best]

    @property
    def reason(self) -> str:
        """Why, in one sentence."""
        if len(self.plans) == 1 and self.best.way == "split" and len(self.best.record.mechanisms) == 1:
            return "there is one attribute, which gets the whole budget"
        others = self._others
        if not others:
            return f"reporting {self.best}: {_NOT_KEPT}"
        unit = " of the range" if self.of == "mean" else ""
        beaten, scores = (
            " and ".join(each) for each in zip(*((str(p), f"{p.score:.3g}") for p in others), strict=True)
        )
        numbers = f"{self.best.score:.3g}{unit} against {scores} expected as the standard error"
        notes = [f"reporting {self.best} beats {beaten}: {numbers} of the {_WORDS[self.of]}"]
        if self.of in OF_PAIRS:
            notes.append("one attribute per person would say nothing about pairs")
        if self.split is None:
            notes.append(_NOT_KEPT)
        return "; ".join(notes)

    def to_frame(self) -> DataFrame:
        """A row per plan: attributes per person, way, ε of each, people of each (n_each), score, error of each."""
        try:
            import pandas as pd  # noqa: PLC0415 (only people who ask for a frame need it)
        except ImportError:
            raise missing_library(what="to_frame (unlike .plans) needs", library="pandas") from None
        return pd.DataFrame(
            [
                {
                    "attributes": plan.attributes,
                    "way": plan.way,
                    "epsilon_each": float(plan.epsilon_each),
                    "n_each": plan.n_each,
                    "score": plan.score,
                    **plan.errors,
                }
                for plan in self.plans
            ]
        )

    def __str__(self) -> str:
        best, others = self.best, self._others
        lines = [f"{self.reason[0].upper()}{self.reason[1:]}."]
        for name, error in best.errors.items():
            if len(others) == 1:
                beside = f" ({others[0].errors[name]:.3g} the other way)"
            else:
                beside = ", ".join(f"{plan.errors[name]:.3g} {_SHORT[plan.way]}" for plan in others)
                beside = f" ({beside})" if beside else ""
            lines.append(f"  {escaped(name)}: ± {error:.3g}{beside}")
        return "\n".join(lines)
