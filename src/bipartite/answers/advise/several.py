"""Several attributes and one budget: split it over all of them, or let each person report a few."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from bipartite.answers.estimation import forecast
from bipartite.domains import LineDomain
from bipartite.errors import DesignError, EpsilonError, InputError, is_one_of, missing_library, of_attribute, shown
from bipartite.lottery import Epsilon
from bipartite.lottery.budgets import rounded_down
from bipartite.lottery.checks import is_whole
from bipartite.mechanisms import BRR, GRR, Record
from bipartite.mechanisms.base import check_domain
from bipartite.mechanisms.choice import MOST_CHOICES

if TYPE_CHECKING:
    from decimal import Decimal

    from pandas import DataFrame

    from bipartite.domains import Domain
    from bipartite.mechanisms import Mechanism

    Of = Literal["mean", "histogram", "cdf"]

_OF: Final = ("mean", "histogram", "cdf")


@dataclass(frozen=True, slots=True)
class ReportingPlan:
    """One way to spend the budget: every person reports ``attributes`` of them at ``epsilon_each``."""

    attributes: int
    """k, how many attributes a person reports; all of them when the budget is split."""
    epsilon_each: Decimal
    """ε/k, rounded down in the 20th digit."""
    people_each: int
    """How many people report an attribute, in the mean."""
    errors: dict[str, float]
    """The forecast standard error for each attribute, in its own unit."""
    score: float
    """Root mean square of those errors over attributes, where an error of a mean is a part of the attribute's range."""
    record: Record
    """Ready to report with."""


@dataclass(frozen=True, slots=True)
class SplitOrSample:
    """Which way is more accurate. Made by :func:`bipartite.split_or_sample`."""

    of: str
    users: int
    plans: tuple[ReportingPlan, ...]
    """By k, least first; the last one splits the budget over all attributes."""

    @property
    def best(self) -> ReportingPlan:
        """The plan with the least score."""
        # Of equals the one where people report most: their attributes can then be seen together.
        return min(reversed(self.plans), key=lambda plan: plan.score)

    @property
    def split(self) -> ReportingPlan | None:
        """Every attribute from everybody; None where no mechanism keeps so small an ε."""
        last = self.plans[-1]
        return last if last.record.sample is None else None

    @property
    def sampled(self) -> ReportingPlan | None:
        """The best of the plans with fewer attributes a person; None with one attribute."""
        drawn = [plan for plan in self.plans if plan.record.sample is not None]
        return min(drawn, key=lambda plan: plan.score) if drawn else None

    @property
    def record(self) -> Record:
        """The record of the best plan, ready to report with."""
        return self.best.record

    @property
    def reason(self) -> str:
        """Why, in one sentence."""
        unit = " of the range" if self.of == "mean" else ""
        best, split, sampled = self.best, self.split, self.sampled
        total = len(best.errors)
        if sampled is None:
            return "there is one attribute, which gets the whole budget"
        drawn = f"{sampled.attributes} of {total} attributes a person at ε = {_short(sampled.epsilon_each)}"
        if split is None:
            return f"reporting {drawn}: no mechanism keeps the ε that splitting would leave each attribute"
        whole = f"all {total} at ε = {_short(split.epsilon_each)} each"
        numbers = f"{{:.3g}}{unit} against {{:.3g}} expected as the standard error of the {_WORDS[self.of]}"
        if best is split:
            return f"reporting {whole} beats {drawn}: " + numbers.format(split.score, sampled.score)
        return f"reporting {drawn} beats {whole}: " + numbers.format(sampled.score, split.score)

    def to_frame(self) -> DataFrame:
        """A row for every plan: attributes a person, ε of each, people of each, the score, an error an attribute."""
        try:
            import pandas as pd  # noqa: PLC0415 (only people who ask for a frame need it)
        except ImportError:
            raise missing_library(what="to_frame (unlike .plans) needs", library="pandas") from None
        return pd.DataFrame(
            [
                {
                    "attributes": plan.attributes,
                    "epsilon_each": float(plan.epsilon_each),
                    "people_each": plan.people_each,
                    "score": plan.score,
                    **plan.errors,
                }
                for plan in self.plans
            ]
        )

    def __str__(self) -> str:
        best = self.best
        lines = [f"{self.reason[0].upper()}{self.reason[1:]}."]
        for name, error in best.errors.items():
            others = [plan for plan in (self.split, self.sampled) if plan is not None and plan is not best]
            beside = f" ({others[0].errors[name]:.3g} the other way)" if others else ""
            lines.append(f"  {name}: ± {error:.3g}{beside}")
        return "\n".join(lines)


_WORDS: Final = {"mean": "mean", "histogram": "share of a value", "cdf": "share up to a value"}


def split_or_sample(domains: Mapping[str, Domain], epsilon: object, users: object, of: Of = "mean") -> SplitOrSample:
    r"""Whether people should report all attributes with a part of ε each, or some, drawn at random, with more.

    Every person spends ε in either way. With d attributes and k reported at ε/k each, an attribute has n·k/d reports;
    the forecast standard errors of all k from 1 to d are compared.

    Parameters
    ----------
    domains
        The name and the domain of each attribute.
    epsilon
        The budget of one person for everything.
    users
        How many people will report.
    of
        What is to be accurate: the ``"mean"`` of each attribute (numbers only), the ``"histogram"``, or the ``"cdf"``,
        the share of people up to a value (numbers only).

    Notes
    -----
    On a line the better of :class:`~bipartite.BRR`, padded and with the window for what is asked, and
    :class:`~bipartite.GRR` is taken, elsewhere GRR. Errors are those of unbiased answers (:func:`bipartite.forecast`)
    for a uniform population; where a histogram of many values would be mostly noise, ask for ``"cdf"``.

    For small ε an unbiased answer from n reports has a variance of about c/(n·ε²), so k of d attributes give
    c·d·k/(n·ε²): one attribute a person is best. With large ε the noise of a report is small beside the differences
    between people, and more reports are better. With one attribute a person nobody's attributes are seen together, and
    :func:`bipartite.estimate_joint` has nothing to work with.

    Examples
    --------
    >>> from bipartite import Integers
    >>> found = split_or_sample({"age": Integers(18, 90), "visits": Integers(0, 30)}, epsilon=1, users=10_000)
    >>> found.best.attributes, found.record.epsilon_decimal
    (1, Decimal('1'))
    """
    budget, people = _check_arguments(domains, epsilon, users, of)
    count = len(domains)
    plans: list[ReportingPlan] = []
    refusals: list[InputError] = []
    for k in range(1, count + 1):
        if k < count and math.comb(count, k) > MOST_CHOICES:
            continue
        try:
            plans.append(_plan(domains, budget.value, people, of, k))
        except (DesignError, EpsilonError) as error:
            # A smaller ε may leave no lottery that keeps it.
            refusals.append(error)
    if not plans:
        raise refusals[0]
    return SplitOrSample(of, people, tuple(plans))


def _plan(domains: Mapping[str, Domain], epsilon: Decimal, users: int, of: Of, k: int) -> ReportingPlan:
    count = len(domains)
    each = rounded_down(Fraction(epsilon) / k)
    people = users * k // count
    mechanisms: dict[str, Mechanism] = {}
    errors, parts = {}, []
    for name, domain in domains.items():
        try:
            mechanisms[name], errors[name] = _best(domain, each, people, of)
        except InputError as error:
            refusal = of_attribute(error, name)
        else:
            parts.append(errors[name] / (_width(domain) if of == "mean" else 1.0))
            continue
        raise refusal
    record = Record(mechanisms, sample=None if k == count else k)
    if record.epsilon_decimal > epsilon:
        msg = "parts of a budget came to more than the budget"
        raise AssertionError(msg)
    return ReportingPlan(k, each, people, errors, float(np.sqrt(np.mean(np.square(parts)))), record)


def _best(domain: Domain, epsilon: Decimal, people: int, of: Of) -> tuple[Mechanism, float]:
    """The mechanism with the least error, and that error."""
    rivals: list[Mechanism] = [GRR(domain, epsilon)]
    if isinstance(domain, LineDomain):
        rivals.insert(0, BRR(domain, epsilon, m=of, edges="padded"))
    found = [(rival, getattr(forecast(rival, people), of)) for rival in rivals]
    return min(found, key=lambda pair: float(pair[1]))


def _width(domain: Domain) -> float:
    numbers = domain.to_numpy()
    return float(numbers[-1]) - float(numbers[0])


def _check_arguments(domains: object, epsilon: object, users: object, of: object) -> tuple[Epsilon, int]:
    if not is_one_of(of, _OF):
        msg = f"Expected of as one of {', '.join(map(repr, _OF))}, got {shown(of)}."
        raise InputError(msg)
    if not isinstance(domains, Mapping) or not domains:
        msg = "Expected domains as a dict of at least one attribute; pass {'age': bp.Integers(18, 90), …}."
        raise InputError(msg)
    for name, domain in domains.items():
        check_domain(domain)
        if of != "histogram" and not isinstance(domain, LineDomain):
            msg = f"The values of {shown(name)} are no numbers, so they have no {of}; use of='histogram'."
            raise InputError(msg)
    if not is_whole(users) or users < len(domains):
        msg = f"Expected users as a whole number of at least {len(domains)}, one an attribute, got {shown(users)}."
        raise InputError(msg)
    return Epsilon.of(epsilon), int(users)


def _short(epsilon: Decimal) -> str:
    return f"{float(epsilon):.3g}"
