"""``bp.recommend``: what the reports are for, and so which mechanism to take, and why."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from bipartite.answers.advise.candidates import (
    ANCHORED,
    GRR_NAME,
    SAFE,
    asked,
    candidates,
    check_purpose,
    wanted,
)
from bipartite.answers.advise.forecasting import check_n, without_asking
from bipartite.answers.advise.measuring import MEASURES, Question, measure
from bipartite.errors import DesignError, InputError
from bipartite.lottery import Epsilon
from bipartite.mechanisms.checks import check_domain
from bipartite.mechanisms.design.m import check_prior
from bipartite.texts import Printed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bipartite.answers.advise.candidates import Candidate, Purpose
    from bipartite.answers.advise.measuring import Measured, Row
    from bipartite.domains import Domain
    from bipartite.mechanisms import Mechanism

NEAR: Final = 0.05
"""The recommended mechanism's error is at most this fraction above the least error found."""
LOOK_AT_ALL: Final = 4096
"""Larger domains skip all other candidates where anchors are proved to be that near the least possible loss."""
_EQUAL: Final = 1e-9
_COARSE: Final = 0.1  # a cumulative share with an error this large is useless for quantiles
_LITTLE: Final = 0.1  # a report that improves on the constant answer by less than this fraction is worth little
_MOST_PEOPLE: Final = 1e12


@dataclass(frozen=True, slots=True, repr=False)
class Recommendation(Printed):
    """What to take for a purpose at one ε. Made by :func:`bipartite.recommend`; ``print`` it to see why."""

    purpose: str
    epsilon: str
    to: str
    """The goal, in words."""
    taken: Mechanism | None = None
    name: str | None = None
    """What the table calls it; None where nothing that was compared serves the purpose."""
    code: str | None = None
    """How to build it in Python, with ε in place of the number; None for a mechanism of the caller's own."""
    reason: str = "no mechanism that was compared, and whose figures are known, can give it"
    """Why, in words that hold at every ε."""
    figures: str = ""
    """Why, in figures."""
    warning: str = ""
    """What to know before taking it; empty if there is nothing."""
    detail: str = ""
    """The figures of that warning."""
    error: float | None = None
    """Its expected error under the prior, with the estimator that will be used: of one release, or from n people."""
    n: int | None = None
    """The number of people that ``error`` is for; None for a release."""
    baseline: float | None = None
    """The error of the best answer that asks nobody."""
    best: str | None = None
    """The mechanism with the least error of all that serve the purpose and keep ε."""
    ratio: float | None = None
    """``error`` over that least error: at most 1.05."""
    worst_ratio: float | None = None
    """The same for the shape of the population where it is largest; None where that was not computed."""
    worst_shape: str = ""
    """That shape."""

    @property
    def mechanism(self) -> Mechanism:
        """Ready to report with."""
        if self.taken is None:
            raise DesignError(f"{self.to}: {self.reason}; ask for another purpose, or use fewer values.")
        return self.taken

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers and text, as in ``cli/schemas/design-compare.json``."""
        same = "purpose epsilon code reason figures warning detail error best ratio worst_ratio worst_shape"
        found = {name: getattr(self, name) for name in same.split()}
        return found | {"mechanism": self.name, "people": self.n, "without_asking": self.baseline}

    def __repr__(self) -> str:
        return f"<Recommendation for {self.purpose!r}: {self.taken!r}>"

    def __str__(self) -> str:
        taken = "" if self.name is None else f", take {self.name}"
        figures = f"; {self.figures}" if self.figures else ""
        warned = f" But {self.warning}{f' ({self.detail})' if self.detail else ''}." if self.warning else ""
        return f"{self.to}{taken}: {self.reason}{figures}.{warned}"


def recommend(
    domain: Domain,
    epsilon: object,
    purpose: Purpose,
    *,
    n: int | None = None,
    prior: Sequence[float] | NDArray[np.float64] | None = None,
) -> Recommendation:
    """The mechanism to take for one purpose, with its error and why: the best row of :func:`bipartite.compare`.

    Parameters
    ----------
    domain
        What may be reported.
    epsilon
        The privacy budget of one report.
    purpose
        What the reports are for: ``"release"`` (each is used as it is), ``"mean"`` (around a circle the direction),
        ``"distribution"`` (quantiles, cumulative shares), ``"categories"`` (the share of each value) or ``"map"`` (the
        same for places).
    n
        The number of people who will report; None for 100,000. A smoothed distribution is better served by a narrower
        window where there are more of them; for other purposes the choice does not depend on it.
    prior
        Public probabilities of the values, None for uniform. Never estimate it from the private data.

    Notes
    -----
    The error is what :func:`bipartite.forecast` gives for ``bp.estimate`` without options. What is taken is within 5 %
    of the least error, for the prior, of all mechanisms that are made for the purpose and keep ε. ``worst_ratio`` is
    the largest such ratio over populations of other shapes.

    Examples
    --------
    >>> import bipartite as bp
    >>> ages = bp.Integers(18, 90)
    >>> bp.recommend(ages, 1, "mean").mechanism
    BRR(Integers(18, 90), epsilon=1, m=61, edges='padded')
    >>> bp.recommend(ages, 1, "release").name
    'Anchored'
    """
    check_domain(domain)
    check_purpose(purpose)
    if purpose == "statistics":
        raise InputError(
            "Expected one purpose, got 'statistics', which is several; ask for 'mean', 'distribution' or 'categories'."
        )
    people = None if n is None else check_n(n)
    budget = Epsilon.of(epsilon).text
    question = Question(domain, None if prior is None else check_prior(prior, len(domain)), people)
    constant = question.single_answer() if purpose == "release" else None
    found = recommendation(purpose, budget, look_at(budget, question, [purpose]), question, constant)
    if found.taken is None:
        raise DesignError(_nothing(domain, purpose))
    return found


def for_statistics(domain: Domain, epsilon: object) -> Candidate:
    """What to take where all statistics of a domain are wanted: the least worst ratio to the best for each."""
    purposes, question = asked(domain, "statistics", None), Question(domain)
    measured = look_at(Epsilon.of(epsilon).text, question, purposes)
    ratios: dict[str, list[float]] = {}
    for purpose in purposes:
        serving = _serving(purpose, measured, wanted(purpose, domain).figure)
        least = min((error for error, _ in serving), default=1.0)
        for error, each in serving:
            ratios.setdefault(each.candidate.name, []).append(error / least)
    worst = {name: max(each) for name, each in ratios.items() if len(each) == len(purposes)}
    for each in measured:
        if worst.get(each.candidate.name, math.inf) <= _above(min(worst.values(), default=0), _EQUAL):
            return each.candidate
    raise DesignError(_nothing(domain, "statistics"))


def look_at(epsilon: str, question: Question, purposes: Sequence[str]) -> list[Measured]:
    """Measure the mechanisms made for some purposes; on a large domain, no more than needed to decide."""
    some = [each for each in candidates(question.domain) if any(map(each.serves, purposes))]
    measured = []
    # Anchored first: where its bound is close, nothing else can be much better.
    for candidate in sorted(some, key=lambda each: each.name != ANCHORED):
        measured.append(measure(candidate, epsilon, question, purposes))
        gap = measured[-1].row.gap
        if gap is not None and gap <= NEAR and len(question.domain) > LOOK_AT_ALL:
            break
    return measured


def _nothing(domain: Domain, purpose: str) -> str:
    """Why there is nothing to take."""
    if purpose in {"mean", "distribution"} and not (domain.has_ends or domain.wraps):
        return f"The values of {domain!r} are not numbers and have no {purpose}; ask for 'categories' or 'release'."
    return (
        f"No mechanism serves the purpose {purpose!r} here and can be evaluated in reasonable time; use fewer values, "
        "for example an Interval of a few hundred points."
    )


class _Choice(NamedTuple):
    """The mechanism recommended for a purpose, and what it was compared with."""

    error: float
    taken: Measured
    least_error: float
    least: Measured
    worst_ratio: float | None
    """Its error over the least of all that serve, for the shape of the population where that ratio is largest."""
    worst_shape: str


def _choose(purpose: str, measured: Sequence[Measured], question: Question) -> _Choice | None:
    """The preferred mechanism where it is within 5 % of the least error, otherwise the one with the least error.

    Only those that keep ε count; None if none serves. A window of one value is called GRR.
    """
    want = wanted(purpose, question.domain)
    serving = _serving(purpose, measured, want.figure)
    if not serving:
        return None
    least_error = min(error for error, _ in serving)
    # The first, in the order of the table, of those whose error is least up to rounding.
    best = next(each for each in serving if each[0] <= _above(least_error, _EQUAL))
    by_name = {each[1].candidate.name: each for each in serving}
    taken = by_name.get(want.preferred or "", best)
    if taken[0] > _above(best[0], NEAR):
        taken = best
    grr = by_name.get(GRR_NAME)
    if grr is not None and grr[0] <= _above(taken[0], _EQUAL):
        taken = grr
    ratio, shape, names = None, "", list(question.shapes)
    over_shapes = [each.figures[want.figure][1:] for _, each in serving]
    if len(serving) > 1 and names and all(each.size for each in over_shapes):
        least = np.min(over_shapes, axis=0)
        if (least > 0).all():
            ratios = taken[1].figures[want.figure][1:] / least
            ratio, shape = float(ratios.max()), names[int(ratios.argmax())]
    return _Choice(*taken, *best, ratio, shape)


def _serving(purpose: str, measured: Sequence[Measured], figure: str) -> list[tuple[float, Measured]]:
    """(error, mechanism) of those that serve a purpose and keep ε."""
    return [
        (float(each.figures[figure][0]), each)
        for each in measured
        if each.candidate.serves(purpose) and each.row.holds and figure in each.figures
    ]


def _above(error: float, part: float) -> float:
    """The error plus a fraction of its size: similarities are losses below zero."""
    return error + part * abs(error)


def recommendation(
    purpose: str, epsilon: str, measured: Sequence[Measured], question: Question, constant: Row | None
) -> Recommendation:
    """What to take for a purpose at one ε; ``constant`` is the best single answer."""
    want, found = wanted(purpose, question.domain), _choose(purpose, measured, question)
    if found is None:
        return Recommendation(purpose, epsilon, want.to)
    if purpose == "release":
        baseline = None if constant is None else constant.expected_loss
        words = _of_release(found, measured, question, constant)
    else:
        baseline = without_asking(question.domain, MEASURES[want.figure].of)
        words = _of_statistics(purpose, found, question, baseline)
    return Recommendation(
        purpose,
        epsilon,
        want.to,
        found.taken.mechanism,
        found.taken.candidate.name,
        found.taken.candidate.code(has_prior=question.prior is not None),
        *words,
        error=found.error,
        n=None if purpose == "release" else question.n,
        baseline=baseline,
        best=found.least.candidate.name,
        ratio=found.error / found.least_error if found.least_error > 0 else None,
        worst_ratio=found.worst_ratio,
        worst_shape=found.worst_shape,
    )


_Words = tuple[str, str, str, str]
"""(reason, figures, warning, detail)."""


def _of_release(found: _Choice, measured: Sequence[Measured], question: Question, constant: Row | None) -> _Words:
    rows = {each.row.mechanism: each.row for each in measured}
    name, domain = found.taken.candidate.name, question.domain
    likely = "for the prior given" if question.prior is not None else "if all values are equally likely"
    if name == GRR_NAME and domain.is_flat:
        reason = "all wrong answers are equally wrong, so there are no neighbours to make use of"
    elif name == SAFE and domain.wraps and question.prior is None:
        reason = (
            "around a circle no ε-LDP report of a value has a smaller error, neither on average over equally likely "
            "values nor in the worst case"
        )
    elif name == ANCHORED:
        reason = f"the least expected error {likely}, though not at each value"
    else:
        reason = f"the least expected error {likely} of what was compared"
        if ANCHORED in rows and rows[ANCHORED].expected_loss is None:
            reason += f"; {ANCHORED}, which may have a smaller one, was {rows[ANCHORED].note}"
    beside, warning, detail = [], "", ""
    if constant is not None and constant.expected_loss is not None:
        silence, error = constant.expected_loss, found.error
        beside.append(f"{constant.mechanism}, which asks nobody: {_short(silence)}")
        if silence - error <= _LITTLE * abs(silence):
            even = _EQUAL * abs(error)
            better = "better" if silence < error - even else "as good" if silence <= error + even else "almost as good"
            what = "for this prior" if question.prior is not None else likely
            warning = f"{constant.mechanism}, which asks nobody, is {better} {what}: a single report is worth little"
            detail = f"its expected error is {_short(silence)}"
    for rival, words in ((SAFE, f"{SAFE}, under which no value fares worse than under GRR"), (GRR_NAME, GRR_NAME)):
        its = rows[rival].expected_loss if rival in rows else None
        if its is not None and name != rival and not (rival == SAFE and domain.is_flat):
            beside.append(f"{words}: {_short(its)}")
    beside += _over_shapes(found, question)
    gap = found.taken.row.gap
    proved = "" if gap is None else f", proved to be within {_percent(gap)} of the least possible for a value"
    figures = f"its expected error is {_short(found.error)}{proved}" + (f" ({'; '.join(beside)})" if beside else "")
    return reason, figures, warning, detail


def _of_statistics(purpose: str, found: _Choice, question: Question, baseline: float | None) -> _Words:
    want, name = wanted(purpose, question.domain), found.taken.candidate.name
    reason = want.because if name == want.preferred else "the least error of what was compared"
    beside = [f"{want.baseline} {_short(baseline)}"]
    if found.least.candidate.name != name and found.least_error < found.error * (1 - _EQUAL):
        beside.append(f"{found.least.candidate.name}: {_percent(1 - found.least_error / found.error)} less")
    beside += _over_shapes(found, question)
    figures = f"{want.error} is {_short(found.error)} with {question.n:,} people ({'; '.join(beside)})"
    return reason, figures, *_too_few(MEASURES[want.figure].of, found.error, question, baseline)


def _over_shapes(found: _Choice, question: Question) -> list[str]:
    if found.worst_ratio is None:
        return []
    if found.worst_ratio <= 1 + _EQUAL:
        return [f"the least for all {len(question.shapes)} shapes of the population that were tried"]
    where = f"at most {found.worst_ratio:.2f} times the least, at {found.worst_shape!r}"
    return [f"over {len(question.shapes)} shapes of the population {where}"]


def _too_few(of: str, error: float, question: Question, baseline: float | None) -> tuple[str, str]:
    """(warning, detail) where this many people are too few for a useful answer."""
    size, few = len(question.domain), f"{question.n:,} people are too few for"
    useless = {"mean": (baseline or 0) / 2, "distribution": _COARSE, "share": baseline or 0}[of]
    if question.given_n is None or baseline is None or error < useless:
        return "", ""
    if of == "mean":
        around = question.domain.wraps
        what = "a direction: no direction at all" if around else "a mean: the middle of the range"
        return f"{few} {what}, which asks nobody, is off by {_short(baseline)} at most", ""
    if of == "distribution":
        off = f"a cumulative share is off by {_COARSE:g} or more; ask more people"
        return f"{few} the distribution over {size:,} values: {off}", ""
    enough = question.n * (error / baseline) ** 2
    many = "more than 10^12"
    if enough < _MOST_PEOPLE:
        power = int(10.0 ** max(0, math.floor(math.log10(enough)) - 1))  # two significant digits, rounded up
        many = f"about {math.ceil(enough / power) * power:,}"
    warning = f"{few} a useful histogram of {size:,} values: that error is not below the average share"
    return (
        f"{warning}, {_short(baseline)}",
        f"{many} people would make them equal, and so would fewer values",
    )


def _short(number: float | None) -> str:
    """A number to three significant digits."""
    return "unknown" if number is None else f"{number:.3g}" if abs(number) < 1000 else f"{number:,.0f}"  # noqa: PLR2004


def _percent(share: float) -> str:
    """A share in percent, rounded up: a gap must not look smaller than it is."""
    steps = 1000 if share > 1e-4 else 100_000  # noqa: PLR2004 (three decimals for tiny shares)
    return f"{math.ceil(share * steps) / steps * 100:.6g} %"
