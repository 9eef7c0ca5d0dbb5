"""``bp.compare``: every applicable mechanism at one ε or many."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.answers.advise.candidates import ANCHORED, OPTIMAL, Candidate, candidates, own_candidate
from bipartite.answers.advise.comparison import Comparison
from bipartite.answers.advise.forecasting import check_n
from bipartite.answers.advise.measuring import Question, measure
from bipartite.answers.advise.purposes import asked, check_purpose
from bipartite.answers.advise.recommendation import recommendation
from bipartite.answers.advise.rows import MEASURES, Row
from bipartite.domains.base import as_real
from bipartite.errors import EpsilonError, InputError, Problems, shown
from bipartite.lottery import Epsilon
from bipartite.mechanisms import Anchored
from bipartite.mechanisms.base import check_mechanism
from bipartite.mechanisms.checks import check_domain
from bipartite.mechanisms.design.m import check_prior

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from bipartite.answers.advise.measuring import Measured
    from bipartite.answers.advise.purposes import Purpose
    from bipartite.domains import Domain
    from bipartite.mechanisms import Mechanism

LIMIT: Final = "limit for reported values"


def compare(  # noqa: PLR0913 (what people ask, each by its name)
    domain: Domain,
    epsilon: object,  # a decimal as everywhere, or several
    *,
    n: int | None = None,
    prior: Sequence[float] | NDArray[np.float64] | None = None,
    tolerance: float | None = None,
    purpose: Purpose | None = None,
    exact: bool = False,
    also: Mapping[str, Mechanism] | None = None,
) -> Comparison:
    """Every mechanism that applies to a domain, side by side at one ε or many, and which to take.

    Parameters
    ----------
    domain
        What may be reported.
    epsilon
        The privacy budget of one report, or a sequence of several.
    n
        The number of people who will report; adds the standard errors of the mean, of the shares and of the cumulative
        distribution that they give.
    prior
        Public probabilities of the values, None for uniform: what the expected losses, the best m and the anchors are
        for, and how the people who report are assumed to be distributed. Never estimate it from the private data.
    tolerance
        Adds the chance that a report is within this distance of the value.
    purpose
        What the reports are for, as in :func:`bipartite.recommend`; ``"statistics"`` stands for the mean and the
        distribution. None: all that apply.
    exact
        Solve linear programmes too: :class:`~bipartite.Optimal` (at most 400 values), and
        :class:`~bipartite.Minimax` for the value that fares worst; slow.
    also
        Mechanisms of yours on the same domain, such as :class:`~bipartite.Custom`, by the names of their rows; each
        stands beside the others at its own ε, which must be one of ``epsilon``. Taken where what is asked is an
        estimate and theirs is the least error; never for single releases, where theirs is a figure to compare with.

    Notes
    -----
    Losses and ε are exact, from the tickets. Errors of statistics are those of :func:`bipartite.forecast`. A mechanism
    that refuses this ε, or would take too long, is in the table with its reason. One that does not keep ε is marked and
    never recommended.

    Examples
    --------
    >>> import bipartite as bp
    >>> compared = compare(bp.Integers(18, 90), 1)
    >>> compared.best("release").name
    'Anchored'
    >>> compared["BRR, safe m"].expected_loss < compared["GRR"].expected_loss
    True
    """
    check_domain(domain)
    budgets = _budgets(epsilon)
    _check(n, tolerance, purpose, exact)
    weights = None if prior is None else check_prior(prior, len(domain))
    question = Question(domain, weights, None if n is None else int(n), tolerance, len(budgets))
    purposes = asked(domain, purpose, n)
    constant = question.single_answer()
    own = _own(also, domain, budgets)
    rows, advice = [], []
    for budget in budgets:
        every = [*candidates(domain, exact=exact), *own.get(budget, [])]
        measured = [measure(each, budget, question, purposes, whole=True) for each in every]
        rows += [each.row for each in measured]
        rows += [dataclasses.replace(constant, epsilon=budget), *_limit(budget, measured)]
        advice += [recommendation(each, budget, measured, question, constant) for each in purposes]
    return Comparison(
        domain=domain,
        n=question.given_n,
        tolerance=tolerance,
        has_prior=prior is not None,
        rows=tuple(rows if n is not None else map(_of_one, rows)),
        advice=tuple(sorted(advice, key=lambda each: purposes.index(each.purpose))),
    )


def _own(also: object, domain: Domain, budgets: list[str]) -> dict[str, list[Candidate]]:
    """The caller's own mechanisms, by ε."""
    if also is None:
        return {}
    if not isinstance(also, Mapping):
        raise InputError(
            f"Expected also as a dict of mechanisms by name, got {type(also).__name__}; pass {{'mine': mechanism}}."
        )
    taken = {each.name for each in candidates(domain, exact=True)} | {LIMIT}
    found: dict[str, list[Candidate]] = {}
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
        found.setdefault(epsilon, []).append(own_candidate(name, mechanism))
    return found


def _limit(epsilon: str, measured: Sequence[Measured]) -> list[Row]:
    """The least expected loss of any release of a value, where it is known: by linear programme or certified bound."""
    known = {each.candidate.name: each for each in measured}
    optimal, anchored = known.get(OPTIMAL), known[ANCHORED].mechanism
    if optimal is not None and optimal.row.expected_loss is not None:
        return [Row(LIMIT, epsilon, "reference", expected_loss=optimal.row.expected_loss, note="linear programme")]
    if not isinstance(anchored, Anchored) or anchored.lower_bound is None:
        return []
    note = "Anchored's certified lower bound"
    return [Row(LIMIT, epsilon, "reference", expected_loss=anchored.lower_bound, note=note)]


def _of_one(row: Row) -> Row:
    """The row without errors of statistics: they need a number of people."""
    unknown: dict[str, None] = {name: None for name, measure in MEASURES.items() if measure.of}
    return dataclasses.replace(row, **unknown)  # type: ignore[arg-type]


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


def _check(n: object, tolerance: object, purpose: object, exact: object) -> None:
    problems = Problems()
    for check, value in ((check_n, n), (check_purpose, purpose)):
        try:
            if value is not None:
                check(value)
        except InputError as error:
            problems.add(str(error))
    if tolerance is not None and not as_real(tolerance) >= 0:
        problems.add(f"Expected tolerance ≥ 0, got {shown(tolerance)}; distances are not negative.")
    if not isinstance(exact, bool):
        problems.add(f"Expected exact as True or False, got {shown(exact)}.")
    problems.raise_if_any(InputError)
