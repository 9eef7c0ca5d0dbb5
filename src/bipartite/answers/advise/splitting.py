"""Several attributes and one budget: split it, let each person report a few, or report two as one value."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from bipartite.answers.advise.pairs import (
    OF_PAIRS,
    OfPairs,
    as_one_value,
    best_alone,
    error_of_pair,
    error_of_part,
    error_of_two,
)
from bipartite.answers.advise.recommending import recommended
from bipartite.answers.advise.reporting_plans import ReportingPlan, SplitOrSample
from bipartite.errors import DesignError, EpsilonError, InputError, is_one_of, of_attribute, shown
from bipartite.lottery import Epsilon
from bipartite.lottery.budgets import round_down
from bipartite.lottery.checks import is_whole
from bipartite.mechanisms import Record
from bipartite.mechanisms.checks import check_domain
from bipartite.mechanisms.record import MOST_CHOICES

if TYPE_CHECKING:
    from decimal import Decimal

    from bipartite.domains import Domain
    from bipartite.mechanisms import Mechanism

Of = Literal["mean", "histogram", "cdf"] | OfPairs
_TWO: Final = 2
_PURPOSES: Final = {"mean": "mean", "histogram": "categories", "cdf": "distribution"}
_OF: Final = (*_PURPOSES, *OF_PAIRS)


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

    For small ε an unbiased answer from n reports has a variance of about c/(n·ε²), so k of d attributes give
    c·d·k/(n·ε²): one attribute per person is best. With large ε the noise of a report is small beside the differences
    between people, and more reports are better. With one attribute per person no two attributes are seen together, and
    their joint distribution cannot be estimated. Where both are reported at ε/2 each, the noise of two
    reports multiplies, and a share of a pair of values has a variance of about c/(n·ε⁴); the pair as one value has
    c/(n·ε²). But a product ignores distances, and its error for a sum over values grows with their number: the
    correlation of two long lines is better estimated from two reports made for means.

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
        if k < count and (of in OF_PAIRS or math.comb(count, k) > MOST_CHOICES):
            continue
        try:
            plans.append(_plan(domains, budget.value, people, of, k))
        except (DesignError, EpsilonError) as error:
            # A smaller ε may leave no lottery that keeps it.
            refusals.append(error)
    product = _product(domains, budget.value, people, of)
    if product is not None:
        plans.append(product)
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
            if of in OF_PAIRS:
                mechanisms[name] = best_alone(domain, each, of)
            else:
                mechanisms[name], errors[name] = recommended(domain, each, _PURPOSES[of], people)
        except InputError as error:
            refusal = of_attribute(error, name)
        else:
            continue
        raise refusal
    record = Record(mechanisms, sample=None if k == len(domains) else k)
    if record.epsilon_decimal > epsilon:
        raise AssertionError("the parts of a budget add up to more than the budget")
    if of in OF_PAIRS:
        first, second = mechanisms.values()
        errors = {", ".join(domains): error_of_two(first, second, of, n)}
    score = _score(errors, domains, of)
    return ReportingPlan(k, each, people, errors, score, record, "split" if k == len(domains) else "sample")


def _product(domains: Mapping[str, Domain], epsilon: Decimal, n: int, of: str) -> ReportingPlan | None:
    """The pair as one value at ε; None where that is impossible."""
    name, found = ", ".join(domains), []
    for rival in as_one_value(list(domains.values()), epsilon):
        first, second = domains.values()
        if of in OF_PAIRS:
            errors = {name: error_of_pair(rival, (first, second), of, n)}
        else:
            errors = {each: error_of_part(rival, (first, second), at, of, n) for at, each in enumerate(domains)}
        found.append((_score(errors, domains, of), errors, rival))
    if not found:
        return None
    score, errors, mechanism = min(found, key=lambda each: each[0])
    return ReportingPlan(_TWO, epsilon, n, errors, score, Record({name: mechanism}), "product")


def _score(errors: Mapping[str, float], domains: Mapping[str, Domain], of: str) -> float:
    """The root mean square over attributes; errors of means are fractions of the range."""
    parts = [error / (_width(domains[name]) if of == "mean" else 1.0) for name, error in errors.items()]
    return float(np.sqrt(np.mean(np.square(parts))))


def _width(domain: Domain) -> float:
    numbers = domain.to_numpy()
    return float(numbers[-1]) - float(numbers[0])


def _check_arguments(domains: object, epsilon: object, n: object, of: object) -> tuple[Epsilon, int]:
    if not is_one_of(of, _OF):
        raise InputError(f"Expected of as one of {', '.join(map(repr, _OF))}, got {shown(of)}.")
    if not isinstance(domains, Mapping) or not domains:
        raise InputError("Expected domains as a dict of at least one attribute; pass {'age': bp.Integers(18, 90), …}.")
    if of in OF_PAIRS and len(domains) != _TWO:
        raise InputError(f"Expected two attributes for of={of!r}, got {len(domains)}; ask about two at a time.")
    for name, domain in domains.items():
        check_domain(domain)
        if of in {"mean", "cdf", "quadrants", "correlation"} and not domain.has_ends:
            other = "cells" if of in OF_PAIRS else "histogram"
            raise InputError(f"The values of {shown(name)} are not numbers, so they have no {of}; use of={other!r}.")
    if not is_whole(n) or n < len(domains):
        raise InputError(f"Expected n as a whole number of at least {len(domains)}, one per attribute, got {shown(n)}.")
    return Epsilon.of(epsilon), int(n)
