"""Two attributes: both reported with a part of the budget each, or the pair as one value with all of it."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from bipartite.answers.advise.pair_errors import error_of_pair, error_of_part, error_of_two, typical_square
from bipartite.answers.advise.reporting_plans import OF_ONE, OF_PAIRS, ReportingPlan
from bipartite.domains import Product
from bipartite.errors import DesignError, EpsilonError, InputError, of_attribute
from bipartite.lottery.budgets import round_down
from bipartite.mechanisms import BRR, GRR, Record
from bipartite.mechanisms.categories import SubsetSelection

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from decimal import Decimal

    from bipartite.answers.advise.reporting_plans import OfOne, OfPairs
    from bipartite.domains import Domain
    from bipartite.mechanisms import Mechanism

MOST_PAIRS: Final = 2**16
"""Largest number of pairs of values: errors are computed for each of them."""
_TWO: Final = 2
# The best window of BRR for each question; for single cells there is none.
_WINDOWS: Final[dict[str, Literal["cdf", "mean"]]] = {"quadrants": "cdf", "correlation": "mean"}


def split_plan(domains: Mapping[str, Domain], epsilon: Decimal, users: int, of: OfPairs) -> ReportingPlan:
    """Both at ε/2, each with the mechanism that has the least error for the question."""
    each = round_down(Fraction(epsilon) / _TWO)
    mechanisms: dict[str, Mechanism] = {}
    for name, domain in domains.items():
        try:
            mechanisms[name] = _best_alone(domain, each, of)
        except InputError as error:
            refusal = of_attribute(error, name)
        else:
            continue
        raise refusal
    first, second = mechanisms.values()
    expected = error_of_two(first, second, of, users)
    return ReportingPlan(_TWO, each, users, {_together(domains): expected}, expected, Record(mechanisms), "split")


def _best_alone(domain: Domain, epsilon: Decimal, of: OfPairs) -> Mechanism:
    rivals: list[Mechanism] = [SubsetSelection(domain, epsilon), GRR(domain, epsilon)]
    if of in _WINDOWS and domain.has_ends:
        rivals.append(BRR(domain, epsilon, m=_WINDOWS[of], edges="padded"))
    # For uniform and independent values the mean square of a product is the product of the mean squares.
    return min(rivals, key=lambda rival: typical_square(rival, of))


def product_plan(
    domains: Mapping[str, Domain], epsilon: Decimal, users: int, of: OfOne | OfPairs, width: Callable[[Domain], float]
) -> ReportingPlan | None:
    """The pair as one value at ε; None where that is impossible."""
    if len(domains) != _TWO or math.prod(map(len, domains.values())) > MOST_PAIRS:
        return None
    first, second = domains.values()
    try:
        both = Product(first, second)
        rivals: list[Mechanism] = [SubsetSelection(both, epsilon), GRR(both, epsilon)]
    except (InputError, DesignError, EpsilonError):
        return None
    parts, name = (first, second), _together(domains)
    found: list[tuple[float, dict[str, float], Mechanism]] = []
    for rival in rivals:
        if of in OF_PAIRS:
            error = error_of_pair(rival, parts, of, users)
            found.append((error, {name: error}, rival))
        elif of in OF_ONE:
            errors = {each: error_of_part(rival, parts, at, of, users) for at, each in enumerate(domains)}
            scaled = [error / (width(domains[each]) if of == "mean" else 1.0) for each, error in errors.items()]
            found.append((float(np.sqrt(np.mean(np.square(scaled)))), errors, rival))
    score, errors, mechanism = min(found, key=lambda each: each[0])
    return ReportingPlan(_TWO, epsilon, users, errors, score, Record({name: mechanism}), "product")


def _together(domains: Mapping[str, Domain]) -> str:
    return ", ".join(domains)
