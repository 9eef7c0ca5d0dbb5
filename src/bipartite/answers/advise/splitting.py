"""``bp.split_or_sample``: several attributes and one budget: split it, let each report a few, or report two as one.

An answer Σ w·f over pairs of values is an average of one score per person, with the variance (E[score²] − (Σ w·f)²)/n.
Where both values are reported on their own, the score of w₁·w₂ᵀ is a product of two that are independent given the
values, so that E[score²|x, y] = s₁(x)·s₂(y): a number for each value is enough. All exact, for every population.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final, Literal, cast

import numpy as np

from bipartite.answers.advise.forecasting import Foreseen
from bipartite.answers.advise.recommending import recommend
from bipartite.answers.estimation.showing import load_pandas
from bipartite.domains import Product
from bipartite.errors import DesignError, EpsilonError, InputError, is_one_of, of_attribute, shown
from bipartite.lottery import Epsilon
from bipartite.lottery.budgets import round_down
from bipartite.lottery.checks import is_whole
from bipartite.mechanisms import BRR, GRR, Record
from bipartite.mechanisms.categories import SubsetSelection
from bipartite.mechanisms.checks import check_domain
from bipartite.mechanisms.record import MOST_CHOICES
from bipartite.texts import Printed, escaped

if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal

    from numpy.typing import NDArray
    from pandas import DataFrame

    from bipartite.answers.advise.candidates import Purpose
    from bipartite.domains import Domain
    from bipartite.mechanisms import Mechanism

    Array = NDArray[np.float64]

Of = Literal["mean", "histogram", "cdf", "cells", "quadrants", "correlation"]
Way = Literal["sample", "split", "product"]
MOST_PAIRS: Final = 2**16
"""Largest number of pairs of values: errors are computed for each of them."""
_ROOM: Final = 2**22  # the number of weights of pairs held at once
_TWO: Final = 2
_WORDS: Final = {
    "mean": "mean",
    "histogram": "share of a value",
    "cdf": "share up to a value",
    "cells": "share of a pair of values",
    "quadrants": "share of a quadrant",
    "correlation": "correlation",
}
_PURPOSES: Final[dict[str, Purpose]] = {"mean": "mean", "histogram": "categories", "cdf": "distribution"}
_OF_PAIRS: Final = ("cells", "quadrants", "correlation")
# The best window of BRR for each question; for single cells there is none.
_WINDOWS: Final[dict[str, Literal["cdf", "mean"]]] = {"quadrants": "cdf", "correlation": "mean"}
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
        best, others = self.best, self._others
        if len(self.plans) == 1 and best.way == "split" and len(best.record.mechanisms) == 1:
            return "there is one attribute, which gets the whole budget"
        if not others:
            return f"reporting {best}: {_NOT_KEPT}"
        beaten, scores = " and ".join(map(str, others)), " and ".join(f"{plan.score:.3g}" for plan in others)
        numbers = f"{best.score:.3g}{' of the range' if self.of == 'mean' else ''} against {scores}"
        notes = [f"reporting {best} beats {beaten}: {numbers} expected as the standard error of the {_WORDS[self.of]}"]
        if self.of in _OF_PAIRS:
            notes.append("one attribute per person would say nothing about pairs")
        if self.split is None:
            notes.append(_NOT_KEPT)
        return "; ".join(notes)

    def to_frame(self) -> DataFrame:
        """A row per plan: attributes per person, way, ε of each, people of each (n_each), score, error of each."""
        same = ("attributes", "way", "epsilon_each", "n_each", "score")
        rows = [{name: getattr(plan, name) for name in same} | plan.errors for plan in self.plans]
        found: DataFrame = load_pandas(".plans").DataFrame(rows).astype({"epsilon_each": float})
        return found

    def __str__(self) -> str:
        others = self._others
        lines = [f"{self.reason[0].upper()}{self.reason[1:]}."]
        for name, error in self.best.errors.items():
            one = len(others) == 1
            beside = [f"{plan.errors[name]:.3g} {'the other way' if one else _SHORT[plan.way]}" for plan in others]
            lines.append(f"  {escaped(name)}: ± {error:.3g}" + (f" ({', '.join(beside)})" if beside else ""))
        return "\n".join(lines)


def split_or_sample(domains: Mapping[str, Domain], epsilon: object, n: object, of: Of = "mean") -> SplitOrSample:
    r"""Whether people should report all attributes with part of ε each, a random few with more, or a pair as one value.

    Every person spends ε either way. With d attributes and k reported at ε/k each, an attribute has n·k/d reports;
    the forecast standard errors of all k from 1 to d are compared. Two attributes can also be reported as one value of
    a :class:`~bipartite.Product`, with the whole ε.

    Parameters
    ----------
    domains
        The name and the domain of each attribute.
    epsilon
        The budget of one person for everything.
    n
        The number of people who will report.
    of
        What is to be accurate: the ``"mean"`` of each attribute (numbers only), the ``"histogram"``, or the ``"cdf"``,
        the share of people up to a value (numbers only). Or of two attributes together: ``"cells"``, the shares of
        all pairs of values, ``"quadrants"``, those of the lower and upper halves of both, or the ``"correlation"``
        (numbers only).

    Notes
    -----
    Each attribute has the mechanism and the error that :func:`bipartite.recommend` takes for it. For pairs of values
    and for a product the best of :class:`~bipartite.BRR`, padded and with the window for what is asked,
    :class:`~bipartite.GRR` and :class:`~bipartite.SubsetSelection` is taken, by the errors of unbiased answers for a
    uniform population in which attributes are independent. Where a histogram of many values would be mostly noise, ask
    for ``"cdf"``.

    For small ε k of d attributes give a variance of about c·d·k/(n·ε²): one attribute per person is best, but says
    nothing about two together. With large ε the differences between people outweigh the noise, and more reports are
    better. Of a pair, two reports at ε/2 give about c/(n·ε⁴), one value at ε gives c/(n·ε²); but a product ignores
    distances: the correlation of two long lines is better estimated from two reports made for means.

    Examples
    --------
    >>> from bipartite import Integers
    >>> found = split_or_sample({"age": Integers(18, 90), "visits": Integers(0, 30)}, epsilon=1, n=10_000)
    >>> found.best.attributes, found.record.epsilon_decimal
    (1, Decimal('1'))
    """
    budget, people = _check_arguments(domains, epsilon, n, of)
    count = len(domains)
    plans: list[ReportingPlan] = []
    refusals: list[InputError] = []
    for k in range(1, count + 1):
        if k < count and (of in _OF_PAIRS or math.comb(count, k) > MOST_CHOICES):
            continue
        try:
            plans.append(_plan(domains, budget.value, people, of, k))
        except (DesignError, EpsilonError) as error:
            # A smaller ε may leave no lottery that keeps it.
            refusals.append(error)
    plans += _products(domains, budget.value, people, of)
    if not plans:
        raise refusals[0]
    return SplitOrSample(of, people, tuple(plans))


def _plan(domains: Mapping[str, Domain], epsilon: Decimal, n: int, of: str, k: int) -> ReportingPlan:
    """K attributes of each person at ε/k, each with the mechanism that has the least error for the question."""
    each, people = round_down(Fraction(epsilon) / k), n * k // len(domains)
    mechanisms: dict[str, Mechanism] = {}
    errors: dict[str, float] = {}
    for name, domain in domains.items():
        try:
            if of in _OF_PAIRS:
                mechanisms[name] = _best_alone(domain, each, of)
            else:
                found = recommend(domain, each, _PURPOSES[of], n=people)
                mechanisms[name], errors[name] = found.mechanism, cast("float", found.error)
        except InputError as error:
            raise of_attribute(error, name) from None
    record = Record(mechanisms, sample=None if k == len(domains) else k)
    if record.epsilon_decimal > epsilon:
        raise AssertionError("the parts of a budget add up to more than the budget")
    if of in _OF_PAIRS:
        first, second = mechanisms.values()
        errors = {", ".join(domains): error_of_two(first, second, of, n)}
    score = _score(errors, domains, of)
    return ReportingPlan(k, each, people, errors, score, record, "split" if k == len(domains) else "sample")


def _products(domains: Mapping[str, Domain], epsilon: Decimal, n: int, of: str) -> list[ReportingPlan]:
    """The pair as one value at ε, by the better of two mechanisms; none where that is impossible."""
    parts = tuple(domains.values())
    if len(parts) != _TWO or math.prod(map(len, parts)) > MOST_PAIRS:
        return []
    try:
        both = Product(*parts)
        rivals: list[Mechanism] = [SubsetSelection(both, epsilon), GRR(both, epsilon)]
    except (InputError, DesignError, EpsilonError):
        return []
    name, plans = ", ".join(domains), []
    for rival in rivals:
        if of in _OF_PAIRS:
            errors = {name: error_of_pair(rival, parts, of, n)}
        else:
            errors = {each: error_of_pair(rival, parts, of, n, at=at) for at, each in enumerate(domains)}
        score = _score(errors, domains, of)
        plans.append(ReportingPlan(_TWO, epsilon, n, errors, score, Record({name: rival}), "product"))
    return [min(plans, key=lambda plan: plan.score)]


def _score(errors: Mapping[str, float], domains: Mapping[str, Domain], of: str) -> float:
    """The root mean square over attributes; errors of means are fractions of the range."""
    widths = [(len(domains[name]) - 1) * domains[name].step if of == "mean" else 1.0 for name in errors]
    return float(np.sqrt(np.mean(np.square(np.array(list(errors.values())) / widths))))


def _best_alone(domain: Domain, epsilon: object, of: str) -> Mechanism:
    """The mechanism of one of two attributes with the least error for what is asked of both."""
    rivals: list[Mechanism] = [SubsetSelection(domain, epsilon), GRR(domain, epsilon)]
    if of in _WINDOWS and domain.has_ends:
        rivals.append(BRR(domain, epsilon, m=_WINDOWS[of], edges="padded"))
    w = _weights(domain, of)
    # For uniform and independent values the mean square of a product is the product of the mean squares.
    return min(rivals, key=lambda rival: float(_squares(rival, w).mean()))


def error_of_two(first: Mechanism, second: Mechanism, of: str, n: int, shares: Array | None = None) -> float:
    """The standard error where each value has a report of its own; root mean square over all cells or quadrants.

    ``shares`` is the table of the population, None for uniform and independent values; for a correlation only that.
    """
    f = _uniform((first.domain, second.domain)) if shares is None else shares
    w1, w2 = (_weights(each.domain, of) for each in (first, second))
    return _root(_squares(first, w1) @ f @ _squares(second, w2).T - (w1 @ f @ w2.T) ** 2, n)


def error_of_pair(
    mechanism: Mechanism, parts: Sequence[Domain], of: str, n: int, shares: Array | None = None, at: int | None = None
) -> float:
    """The same where one report is about both values; or of part ``at`` alone, as :func:`bipartite.forecast` has it."""
    f = (_uniform(parts) if shares is None else shares).ravel()
    if of == "cells":
        # Each share is scored by itself.
        variances = Foreseen(mechanism).of_shares(f[None])
        return math.inf if variances is None else _root(variances, n)
    rows = [_weights(each, of) if at in {None, i} else np.ones((1, len(each))) for i, each in enumerate(parts)]
    step = max(1, _ROOM // len(f))
    blocks = ([each[start : start + step] for start in range(0, len(each), step)] for each in rows)
    weights = (np.asarray(np.kron(w1, w2), np.float64) for w1, w2 in itertools.product(*blocks))
    return _root(np.concatenate([_squares(mechanism, w) @ f - (w @ f) ** 2 for w in weights]), n)


def _squares(mechanism: Mechanism, w: Array) -> Array:
    """E[score²] of every row of weights, given every value; infinite where the reports cannot tell."""
    found = Foreseen(mechanism).squares(w)
    return np.full(w.shape, math.inf) if found is None else found


def _weights(domain: Domain, of: str) -> Array:
    """The weights of what is asked of one attribute, or of its part in what is asked of two; one row each."""
    size = len(domain)
    if of in {"cells", "histogram"}:
        return np.eye(size)
    if of == "cdf":
        return np.tri(size)
    if of == "quadrants":
        low = (np.arange(size) < size // 2).astype(np.float64)
        return np.stack([low, 1 - low])
    numbers = domain.to_numpy().astype(np.float64)[None]
    numbers -= numbers.mean()  # so that large ones lose no digits
    # Of independent values: the covariance of numbers with mean 0 and variance 1, to first order.
    found: Array = numbers if of == "mean" else numbers / np.sqrt((numbers**2).mean())
    return found


def _uniform(parts: Sequence[Domain]) -> Array:
    sizes = [len(each) for each in parts]
    return np.full(sizes, 1 / math.prod(sizes))


def _root(variances: Array, n: int) -> float:
    return math.sqrt(max(float(variances.mean()), 0.0) / n)


def _check_arguments(domains: object, epsilon: object, n: object, of: object) -> tuple[Epsilon, int]:
    if not is_one_of(of, tuple(_WORDS)):
        raise InputError(f"Expected of as one of {', '.join(map(repr, _WORDS))}, got {shown(of)}.")
    if not isinstance(domains, Mapping) or not domains:
        raise InputError("Expected domains as a dict of at least one attribute; pass {'age': bp.Integers(18, 90), …}.")
    if of in _OF_PAIRS and len(domains) != _TWO:
        raise InputError(f"Expected two attributes for of={of!r}, got {len(domains)}; ask about two at a time.")
    for name, domain in domains.items():
        check_domain(domain)
        if of in {"mean", "cdf", "quadrants", "correlation"} and not domain.has_ends:
            other = "cells" if of in _OF_PAIRS else "histogram"
            raise InputError(f"The values of {shown(name)} are not numbers, so they have no {of}; use of={other!r}.")
    if not is_whole(n) or n < len(domains):
        raise InputError(f"Expected n as a whole number of at least {len(domains)}, one per attribute, got {shown(n)}.")
    return Epsilon.of(epsilon), int(n)
