"""``bp.compare``: every applicable mechanism at one ε or many."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.answers.advise.advice import PURPOSES, advise
from bipartite.answers.advise.candidates import ANCHORED, OPTIMAL, PLANAR, candidates
from bipartite.answers.advise.comparison import Comparison
from bipartite.answers.advise.figures import Question, left_out, row_of
from bipartite.answers.advise.row import MEASURES, Row
from bipartite.answers.quality import expected_loss, loss_quantile, share_within, worst_loss
from bipartite.answers.quality.measures import check_distance
from bipartite.domains import Points
from bipartite.errors import EpsilonError, InputError, Problems, is_one_of, shown
from bipartite.lottery import Epsilon
from bipartite.lottery.checks import is_whole
from bipartite.mechanisms import Anchored, Constant
from bipartite.mechanisms.base import check_domain
from bipartite.mechanisms.certified import check_mechanism
from bipartite.mechanisms.design.line import check_prior

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from bipartite.answers.advise.advice import Purpose
    from bipartite.answers.advise.candidates import Candidate
    from bipartite.domains import Domain
    from bipartite.mechanisms import Mechanism
    from bipartite.mechanisms.categories import CategoryMechanism

LIMIT: Final = "limit for reported values"
_NOT_LDP: Final = (
    "left out: its ε is per unit of distance, which is not ε-LDP, so its figures cannot stand beside these"
)


def compare(  # noqa: PLR0913 (what people ask, each by its name)
    domain: Domain,
    epsilon: object,  # a decimal as everywhere, or several
    *,
    users: int | None = None,
    prior: Sequence[float] | NDArray[np.float64] | None = None,
    tolerance: float | None = None,
    purpose: Purpose | None = None,
    exact: bool = False,
    also: Mapping[str, Mechanism | CategoryMechanism] | None = None,
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
        How many people will report; adds the standard errors of the mean, of the shares and of the cumulative
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
        Solve the linear programme too (:class:`~bipartite.Optimal`, at most 400 values; slow).
    also
        Mechanisms of yours on the same domain, such as :class:`~bipartite.Custom`, by the names of their rows; each
        stands beside the others at its own ε, which must be one of ``epsilon``. Taken where what is asked is an
        estimate and theirs is the least error; never for single releases, where theirs is a figure to compare with.
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
    To release single values, take BRR, safe m: no value fares worse than under GRR, and it needs no prior...
    >>> compared["BRR, safe m"].expected_loss < compared["GRR"].expected_loss
    True
    """
    check_domain(domain)
    budgets = _budgets(epsilon)
    _check(users, tolerance, purpose, exact)
    weights = None if prior is None else check_prior(prior, len(domain))
    question = Question(domain, weights, tolerance, len(budgets))
    single = _single_answer(question)
    own = _own(also, domain, budgets)
    rows: list[Row] = []
    for budget in budgets:
        found, limit = _at(budget, question, exact=exact, progress=progress)
        found += [row_of(name, budget, mechanism, question) for name, mechanism in own.get(budget, {}).items()]
        constant = dataclasses.replace(single, epsilon=budget)
        rows += [*found, constant, *([] if limit is None else [limit])]
    advice = advise(rows, domain, purpose, people=users, has_prior=prior is not None)
    return Comparison(
        domain=domain,
        users=users,
        tolerance=tolerance,
        has_prior=prior is not None,
        rows=tuple(_for_people(row, users) for row in rows),
        advice=tuple(advice),
    )


def steps(domain: Domain, epsilons: int, *, exact: bool) -> int:
    """How often ``progress`` is called."""
    return len(candidates(domain, exact=exact)) * epsilons


def _at(
    epsilon: str, question: Question, *, exact: bool, progress: Callable[[int], None] | None
) -> tuple[list[Row], Row | None]:
    """All mechanisms at one ε, and the limit where it is known."""
    rows, limit = [], None
    for candidate in candidates(question.domain, exact=exact):
        row, bound = _one(candidate, epsilon, question)
        rows.append(row)
        if candidate.name == OPTIMAL and row.expected_loss is not None:
            bound = row.expected_loss
        if bound is not None:
            how = "linear programme" if candidate.name == OPTIMAL else "Anchored's certified lower bound"
            limit = Row(LIMIT, epsilon, "reference", expected_loss=bound, note=how)
        if progress is not None:
            progress(1)
    if isinstance(question.domain, Points):
        rows.append(Row(PLANAR, epsilon, "mechanism", note=_NOT_LDP))
    return rows, limit


def _one(candidate: Candidate, epsilon: str, question: Question) -> tuple[Row, float | None]:
    """One mechanism, or the reason why it is not there; and the lower bound that Anchored proves."""
    reason = left_out(candidate, question)
    if reason is not None:
        return Row(candidate.name, epsilon, "mechanism", note=reason), None
    try:
        mechanism = candidate.build(question.domain, epsilon, question.prior)
    except InputError as refusal:
        return Row(candidate.name, epsilon, "mechanism", note=f"refused: {refusal}"), None
    bound = mechanism.lower_bound if candidate.name == ANCHORED and isinstance(mechanism, Anchored) else None
    return row_of(candidate.name, epsilon, mechanism, question), bound


def _own(also: object, domain: Domain, budgets: list[str]) -> dict[str, dict[str, Mechanism | CategoryMechanism]]:
    """Mechanisms that somebody brought, by ε and name."""
    if also is None:
        return {}
    if not isinstance(also, Mapping):
        msg = f"Expected also as a dict of mechanisms by name, got {type(also).__name__}; pass {{'mine': mechanism}}."
        raise InputError(msg)
    taken = {each.name for each in candidates(domain, exact=True)} | {PLANAR, LIMIT}
    found: dict[str, dict[str, Mechanism | CategoryMechanism]] = {}
    for name, mechanism in also.items():
        check_mechanism(mechanism)
        if not isinstance(name, str) or name in taken:
            msg = f"Expected a name of its own for a mechanism in also, got {shown(name)}; call it 'mine'."
            raise InputError(msg)
        if mechanism.domain != domain:
            msg = f"Expected {name!r} on {domain!r}, which is compared, got {mechanism!r}; build it there."
            raise InputError(msg)
        epsilon = format(mechanism.epsilon_decimal, "f")
        if epsilon not in budgets:
            msg = f"Expected {name!r} at ε = {', '.join(budgets)}, got ε = {epsilon}; compare at that ε too."
            raise InputError(msg)
        found.setdefault(epsilon, {})[name] = mechanism
    return found


def _single_answer(question: Question) -> Row:
    """The best that can be said without asking anybody."""
    mechanism = Constant(question.domain, prior=question.prior)
    prior, tolerance = question.prior, question.tolerance
    answer = mechanism.answer
    return Row(
        f"always {answer:.6g}" if isinstance(answer, float) else f"always {answer}",
        "",
        "reference",
        epsilon_spent=0.0,
        holds=True,
        expected_loss=expected_loss(mechanism, prior),
        median_loss=loss_quantile(mechanism, 0.5, prior),
        worst_loss=worst_loss(mechanism),
        share_within=None if tolerance is None else share_within(mechanism, tolerance, prior),
        identifiable=False,
        note="the best single answer: it tells nothing about anybody",
    )


def _for_people(row: Row, users: int | None) -> Row:
    """The row with the errors of so many people instead of one; without them where nobody says how many."""
    scaled: dict[str, Any] = {}
    for name, measure in MEASURES.items():
        if measure.of_people:
            error = getattr(row, name)
            scaled[name] = None if users is None or error is None else error / math.sqrt(users)
    return dataclasses.replace(row, **scaled)


def _budgets(epsilon: object) -> list[str]:
    """Each ε once, ascending, in its canonical form."""
    several: Iterable[object] = [epsilon]
    if isinstance(epsilon, (list, tuple, range, set, frozenset)) or (
        isinstance(epsilon, np.ndarray) and epsilon.ndim == 1
    ):
        several = epsilon
    given = [Epsilon.of(each) for each in several]
    if not given:
        msg = "Expected epsilon as a decimal or several of them, got none; try [0.5, 1, 2]."
        raise EpsilonError(msg)
    return [budget.text for budget in sorted({each.text: each for each in given}.values(), key=lambda one: one.value)]


def _check(users: object, tolerance: object, purpose: object, exact: object) -> None:
    problems = Problems()
    if users is not None and not (is_whole(users) and users >= 1):
        problems.add(f"Expected users as a whole number of at least 1, got {shown(users)}; try users=10_000.")
    if tolerance is not None:
        try:
            check_distance(tolerance)
        except InputError as error:
            problems.add(str(error).replace("distance ≥ 0", "tolerance ≥ 0"))
    if purpose is not None and not is_one_of(purpose, PURPOSES):
        problems.add(f"Expected purpose as one of {', '.join(map(repr, PURPOSES))}, or None, got {shown(purpose)}.")
    if not isinstance(exact, bool):
        problems.add(f"Expected exact as True or False, got {shown(exact)}.")
    problems.raise_if_any(InputError)
