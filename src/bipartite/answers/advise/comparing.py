"""``bp.compare``: every applicable mechanism at one ε or many."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.answers.advise.advice import advised
from bipartite.answers.advise.candidates import ANCHORED, OPTIMAL, Brought, candidates
from bipartite.answers.advise.comparison import Comparison
from bipartite.answers.advise.figures import Question, measure
from bipartite.answers.advise.purposes import asked, check_purpose
from bipartite.answers.advise.recommending import check_users, clock_of, single_answer
from bipartite.answers.advise.row import MEASURES, Row
from bipartite.answers.quality.measures import check_distance
from bipartite.errors import EpsilonError, InputError, Problems, shown
from bipartite.lottery import Epsilon
from bipartite.mechanisms import Anchored
from bipartite.mechanisms.base import check_mechanism
from bipartite.mechanisms.checks import check_domain
from bipartite.mechanisms.design.m import check_prior

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from bipartite.answers.advise.advice import Advice
    from bipartite.answers.advise.figures import Measured
    from bipartite.answers.advise.patience import Clock
    from bipartite.answers.advise.purposes import Purpose
    from bipartite.domains import Domain
    from bipartite.mechanisms import Mechanism

LIMIT: Final = "limit for reported values"


def compare(  # noqa: PLR0913 (what people ask, each by its name)
    domain: Domain,
    epsilon: object,  # a decimal as everywhere, or several
    *,
    users: int | None = None,
    prior: Sequence[float] | NDArray[np.float64] | None = None,
    tolerance: float | None = None,
    purpose: Purpose | None = None,
    exact: bool = False,
    also: Mapping[str, Mechanism] | None = None,
    seconds: float | Clock | None = None,
    progress: Callable[[int], None] | None = None,
) -> Comparison:
    """Every mechanism that applies to a domain, side by side at one ε or many, and which to take.

    Parameters
    ----------
    domain
        What may be reported.
    epsilon
        The privacy budget of one report, or a sequence of several.
    users
        The number of people who will report; adds the standard errors of the mean, of the shares and of the cumulative
        distribution that they give.
    prior
        Public probabilities of the values, None for uniform: what the expected losses, the best m and the anchors are
        for, and how the people who report are assumed to be distributed. Never estimate it from the private data.
    tolerance
        Adds the chance that a report is within this distance of the value.
    purpose
        What the reports are for: ``"release"`` (each is used as it is), ``"mean"``, ``"distribution"`` (quantiles,
        cumulative shares), ``"statistics"`` (both) or ``"categories"`` (the share of each value). None: all that apply.
    exact
        Solve linear programmes too: :class:`~bipartite.Optimal` (at most 400 values), and
        :class:`~bipartite.Minimax` for the value that fares worst; slow.
    also
        Mechanisms of yours on the same domain, such as :class:`~bipartite.Custom`, by the names of their rows; each
        stands beside the others at its own ε, which must be one of ``epsilon``. Taken where what is asked is an
        estimate and theirs is the least error; never for single releases, where theirs is a figure to compare with.
    seconds
        Leave out what is not begun in this time, and say so.
    progress
        Called with 1 whenever a mechanism is done at one ε.

    Notes
    -----
    Losses and ε are exact, from the tickets. Errors of statistics are the least that unbiased answers can have, about
    a population distributed as ``prior`` of which the people are a random sample (:func:`bipartite.forecast`); what
    :func:`bipartite.estimate` answers has these errors for a uniform population, and may have more for another. EM
    with smoothing can be nearer to a histogram than any unbiased answer, and is biased. A mechanism that refuses this
    ε, or would take too long, is in the table with its reason. One that does not keep ε is marked and never
    recommended.

    Examples
    --------
    >>> import bipartite as bp
    >>> compared = compare(bp.Integers(18, 90), 1)
    >>> print(compared.recommendation)
    To release single values, take Anchored: the least expected error if all values are equally likely, ...
    >>> compared["BRR, safe m"].expected_loss < compared["GRR"].expected_loss
    True
    """
    check_domain(domain)
    budgets = _budgets(epsilon)
    _check(users, tolerance, purpose, exact)
    weights = None if prior is None else check_prior(prior, len(domain))
    question = Question(
        domain, weights, None if users is None else int(users), tolerance, len(budgets), clock=clock_of(seconds)
    )
    purposes = asked(domain, purpose, users)
    single = single_answer(question)
    own = _own(also, domain, budgets)
    rows: list[Row] = []
    advice: list[Advice] = []
    for budget in budgets:
        constant = None if single is None else dataclasses.replace(single, epsilon=budget)
        measured = _at(budget, question, purposes, exact=exact, progress=progress)
        measured += [measure(each, budget, question, purposes, whole=True) for each in own.get(budget, [])]
        rows += [each.row for each in measured]
        rows += [*([] if constant is None else [constant]), *_limit(budget, measured)]
        advice += [advised(each, budget, measured, question, constant)[0] for each in purposes]
    return Comparison(
        domain=domain,
        users=users,
        tolerance=tolerance,
        has_prior=prior is not None,
        rows=tuple(rows if users is not None else map(_of_one, rows)),
        advice=tuple(sorted(advice, key=lambda each: purposes.index(each.purpose))),
    )


def steps(domain: Domain, epsilons: int, *, exact: bool) -> int:
    """The number of times that ``progress`` will be called."""
    return len(candidates(domain, exact=exact)) * epsilons


def _at(
    epsilon: str,
    question: Question,
    purposes: Sequence[str],
    *,
    exact: bool,
    progress: Callable[[int], None] | None,
) -> list[Measured]:
    """All mechanisms at one ε."""
    every = candidates(question.domain, exact=exact)
    found = {}
    # What decides most comes first, in case time runs out; the table keeps its order.
    for candidate in sorted(every, key=lambda each: each.name != ANCHORED):
        found[candidate.name] = measure(candidate, epsilon, question, purposes, whole=True)
        if progress is not None:
            progress(1)
    return [found[candidate.name] for candidate in every]


def _own(also: object, domain: Domain, budgets: list[str]) -> dict[str, list[Brought]]:
    """The caller's own mechanisms, by ε."""
    if also is None:
        return {}
    if not isinstance(also, Mapping):
        raise InputError(
            f"Expected also as a dict of mechanisms by name, got {type(also).__name__}; pass {{'mine': mechanism}}."
        )
    taken = {each.name for each in candidates(domain, exact=True)} | {LIMIT}
    found: dict[str, list[Brought]] = {}
    for name, mechanism in also.items():
        check_mechanism(mechanism)
        if not isinstance(name, str) or name in taken:
            raise InputError(f"Expected a name of its own for a mechanism in also, got {shown(name)}; call it 'mine'.")
        if mechanism.domain != domain:
            raise InputError(f"Expected {name!r} on {domain!r}, which is compared, got {mechanism!r}; build it there.")
        epsilon = format(mechanism.epsilon_decimal, "f")
        if epsilon not in budgets:
            raise InputError(
                f"Expected {name!r} at ε = {', '.join(budgets)}, got ε = {epsilon}; compare at that ε too."
            )
        found.setdefault(epsilon, []).append(Brought(name, mechanism))
    return found


def _limit(epsilon: str, measured: Sequence[Measured]) -> list[Row]:
    """The least expected loss of any release of a value, where it is known: by linear programme or certified bound."""
    known = {each.candidate.name: each for each in measured}
    optimal = known.get(OPTIMAL)
    if optimal is not None and optimal.row.expected_loss is not None:
        return [Row(LIMIT, epsilon, "reference", expected_loss=optimal.row.expected_loss, note="linear programme")]
    anchored = known[ANCHORED].mechanism
    if not isinstance(anchored, Anchored) or anchored.lower_bound is None:
        return []
    note = "Anchored's certified lower bound"
    return [Row(LIMIT, epsilon, "reference", expected_loss=anchored.lower_bound, note=note)]


def _of_one(row: Row) -> Row:
    """The row without errors of statistics: they need a number of people."""
    unknown: dict[str, Any] = {name: None for name, measure in MEASURES.items() if measure.of_people}
    return dataclasses.replace(row, **unknown)


def _budgets(epsilon: object) -> list[str]:
    """Each ε once, ascending, in its canonical form."""
    several: Iterable[object] = [epsilon]
    if isinstance(epsilon, (list, tuple, range, set, frozenset)) or (
        isinstance(epsilon, np.ndarray) and epsilon.ndim == 1
    ):
        several = epsilon
    given = [Epsilon.of(each) for each in several]
    if not given:
        raise EpsilonError("Expected epsilon as a decimal or several of them, got none; try [0.5, 1, 2].")
    return [budget.text for budget in sorted({each.text: each for each in given}.values(), key=lambda one: one.value)]


def _check(users: object, tolerance: object, purpose: object, exact: object) -> None:
    problems = Problems()
    for check, value in ((check_users, users), (_check_tolerance, tolerance), (check_purpose, purpose)):
        try:
            if value is not None:
                check(value)
        except InputError as error:
            problems.add(str(error))
    if not isinstance(exact, bool):
        problems.add(f"Expected exact as True or False, got {shown(exact)}.")
    problems.raise_if_any(InputError)


def _check_tolerance(tolerance: object) -> None:
    try:
        check_distance(tolerance)
    except InputError as error:
        raise InputError(str(error).replace("distance ≥ 0", "tolerance ≥ 0")) from None
