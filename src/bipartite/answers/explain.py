"""What ε means, in odds and whole people, for those whose answers are collected.

User studies show how: odds as plain frequencies are understood better than example outputs or texts that leave ε out
(Nanayakkara, Smart, Cummings, Kaptchuk, Redmiles: *What Are the Chances? Explaining the Epsilon Parameter in
Differential Privacy*, USENIX Security 2023), and people want to know against whom and against what they are protected
(Cummings, Kaptchuk, Redmiles: *"I need a better description"*, CCS 2021).

For two answers that seem equally likely, Bayes' rule and Pr[y|x] ≤ e^ε·Pr[y|x'] bound the probability of either after
any report y by e^ε/(1 + e^ε). Prior odds p : 1 − p become at most e^ε·p : 1 − p. About any two answers a report reveals
no more than a yes or no that is true with probability e^ε/(1 + e^ε) (Kairouz, Oh, Viswanath:
*The Composition Theorem for Differential Privacy*, ICML 2015). Every number is an upper bound and is rounded up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Final

from bipartite.errors import InputError, shown
from bipartite.lottery import Epsilon
from bipartite.lottery.checks import is_whole
from bipartite.lottery.epsilon import LARGEST, exp_between

_PRECISION: Final = 40
_MOST_REPORTS: Final = 10**6
_COIN: Final = Fraction(1, 2)
_BELIEFS: Final = (Decimal("0.01"), Decimal("0.1"), Decimal("0.5"), Decimal("0.9"))
_REPORTS: Final = (1, 2, 5, 10)
# Rounding up may overstate what a report reveals, and understate the doubt that it leaves, by at most a quarter, to a
# resolution of a millionth: 74 of 100 people at ε = 1, but 994 of 1,000 at ε = 5, where 100 of 100 would be false.
_EXAGGERATION: Final = Fraction(1, 4)
_FINEST: Final = 6
# From here on a guess is wrong for less than one person in a hundred, and in ten.
_GIVEN_AWAY: Final = Decimal("0.99")
_TELLING: Final = Decimal("0.9")

ASSUMPTIONS: Final = (
    (
        "It holds against anyone, whatever else they know about you, as long as nobody breaks the cipher behind the "
        "chances, AES-256."
    ),
    (
        "It is about what your report adds to what they know already. What can be guessed from your job, or learned "
        "from the reports of people like you, can be guessed and learned without yours."
    ),
    (
        "It is for one report, drawn on your device as its certificate says. Reporting again spends again, and another "
        "question about you spends as well."
    ),
    "It does not hide that you reported, nor when, nor from where.",
)


@dataclass(frozen=True, slots=True)
class Belief:
    """How certain someone can become of something about you by seeing your report."""

    before: Decimal
    """The probability they assigned to it before."""
    after: Decimal
    """The largest probability they can assign to it after, rounded up."""


@dataclass(frozen=True, slots=True)
class Crowd:
    """How often someone guesses right, counted in people."""

    people: int
    by_coin: int
    """Guessed right without any report, by tossing a coin."""
    by_report: int
    """Guessed right with the reports, at most, rounded up."""


@dataclass(frozen=True, slots=True)
class Reports:
    """The worst case of several reports about one answer."""

    reports: int
    epsilon: str
    """The ε of all of them together."""
    certainty: Decimal
    """How certain someone can become who thought two answers equally likely, rounded up."""
    crowd: Crowd


@dataclass(frozen=True, slots=True)
class Explanation:
    """ε for ordinary people: numbers, and sentences that state them."""

    epsilon: str
    odds: Decimal
    """e^ε, rounded up: the largest factor by which the odds of a belief can change."""
    certainty: Decimal
    """How certain someone can become who thought two answers equally likely: e^ε/(1 + e^ε), rounded up."""
    crowd: Crowd
    beliefs: tuple[Belief, ...]
    reports: tuple[Reports, ...]

    @property
    def guess(self) -> str:
        """The one sentence that matters most."""
        crowd = self.crowd
        return (
            f"Someone who knows that your answer is one of two, and thinks both equally likely, guesses right, on "
            f"average, for {crowd.by_coin:,} of {crowd.people:,} people like you without a report. With a report of "
            f"each, for at most {crowd.by_report:,} of {crowd.people:,}: they can become {percent(self.certainty)} "
            "sure, never more."
        )

    @property
    def growth(self) -> str:
        """How far the odds of any belief can change."""
        return (
            "Whatever someone believes about your answer, your report can make the odds of it grow or shrink "
            f"{self.odds:,f}-fold at most."
        )

    @property
    def coin(self) -> str:
        """The same protection as a well-known game."""
        lies = self.crowd.people - self.crowd.by_report
        return (
            "Towards any two answers your report tells no more than a yes or no given with the help of a weighted "
            f"coin: the truth with probability {percent(self.certainty)}, a lie otherwise. Of {self.crowd.people:,} "
            f"people at least {lies:,} would be lying on average, and nobody can tell who."
        )

    @property
    def warning(self) -> str | None:
        """A warning if one report reveals much, or all but gives the answer away; otherwise None."""
        if self.certainty < _TELLING:
            return None
        if self.certainty < _GIVEN_AWAY:
            return (
                "This is weak protection: whoever hesitates between two answers can be right nine times in ten or more."
            )
        return "This is little protection: whoever hesitates between two answers hardly needs to guess any more."


def explain(epsilon: object, reports: int | None = None) -> Explanation:
    """Explain ε in odds; with ``reports``, also for that many reports about one answer.

    >>> one = explain(1)
    >>> one.crowd
    Crowd(people=100, by_coin=50, by_report=74)
    >>> str(one.certainty), str(one.odds)
    ('0.732', '2.72')
    """
    budget = Epsilon.of(epsilon)
    if reports is not None and not (is_whole(reports) and 1 <= reports <= _MOST_REPORTS):
        raise InputError(
            f"Expected reports from 1 to {_MOST_REPORTS:,}, got {shown(reports)}; one report is explained without it."
        )
    counts = {*_REPORTS} if reports is None else {*_REPORTS, int(reports)}
    return Explanation(
        epsilon=budget.text,
        odds=_odds(_growth(budget.value)),
        certainty=_sure(_COIN, budget.value),
        crowd=_crowd(budget.value),
        beliefs=tuple(Belief(before, _sure(Fraction(before), budget.value)) for before in _BELIEFS),
        reports=tuple(_together(count, budget.value) for count in sorted(counts)),
    )


def percent(share: Decimal) -> str:
    """A share as a percentage without trailing zeros: 73.2 %."""
    text = f"{share * 100:f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} %"


def _growth(epsilon: Decimal) -> Fraction:
    """A fraction just above e^ε."""
    return exp_between(epsilon, _PRECISION)[1]


def _sure(before: Fraction, epsilon: Decimal, digits: int = 3) -> Decimal:
    """The largest probability that a belief can reach, rounded up to the fewest digits that do not exaggerate."""
    after = Fraction(1)  # for huge ε: short of it by less than 10^−21, and e^ε of many thousand digits says no more
    if epsilon <= LARGEST:
        grown = before * _growth(epsilon)
        after = grown / (grown + 1 - before)
    room = _EXAGGERATION * min(after - before, 1 - after)
    for places in range(digits, _FINEST + 1):
        count = math.ceil(after * 10**places)
        if Fraction(count, 10**places) - after <= room:
            break
    return Decimal(count).scaleb(-places)


def _odds(growth: Fraction) -> Decimal:
    """A factor rounded up to three digits, or more if that would exaggerate."""
    for digits in range(3, _FINEST + 2):
        up = Context(prec=digits, rounding=ROUND_CEILING)
        rounded = up.divide(growth.numerator, growth.denominator)
        if Fraction(rounded) - growth <= _EXAGGERATION * (growth - 1):
            break
    return rounded


def _crowd(epsilon: Decimal) -> Crowd:
    share = _sure(_COIN, epsilon, digits=2)
    people = 10 ** -int(share.as_tuple().exponent)
    return Crowd(people, people // 2, int(share * people))


def _together(count: int, epsilon: Decimal) -> Reports:
    total = Context(prec=_PRECISION).multiply(count, epsilon)
    return Reports(count, f"{total.normalize():f}", _sure(_COIN, total), _crowd(total))
