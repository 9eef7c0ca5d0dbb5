"""``bp.recommend``: what the reports are for, and so which mechanism to take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bipartite.answers.advise.candidates import ANCHORED, Candidate, candidates
from bipartite.answers.advise.choosing import NEAR, choose, choose_for_all
from bipartite.answers.advise.forecasting import check_n
from bipartite.answers.advise.measuring import Question, measure
from bipartite.answers.advise.purposes import asked, check_purpose
from bipartite.answers.advise.recommendation import recommendation
from bipartite.errors import DesignError, InputError
from bipartite.lottery import Epsilon
from bipartite.mechanisms.checks import check_domain
from bipartite.mechanisms.design.m import check_prior

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from bipartite.answers.advise.measuring import Measured
    from bipartite.answers.advise.purposes import Purpose
    from bipartite.answers.advise.recommendation import Recommendation
    from bipartite.domains import Domain
    from bipartite.mechanisms import Mechanism

# Where anchors are proved to be within 5 % of the least possible loss, domains larger than this skip all other
# candidates.
LOOK_AT_ALL: Final = 4096


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
    measured = look_at(budget, question, [purpose])
    found = recommendation(purpose, budget, measured, question, constant)
    if found.taken is None:
        raise DesignError(_nothing(domain, purpose))
    return found


def recommended(domain: Domain, epsilon: object, purpose: str, n: int) -> tuple[Mechanism, float]:
    """The recommended mechanism and its error, without text or other shapes of the population."""
    question = Question(domain, given_n=n, shaped=False)
    measured = look_at(Epsilon.of(epsilon).text, question, [purpose])
    found = choose(purpose, measured, question)
    if found is None or found.taken.mechanism is None:
        refused = [note for each in measured if (note := each.row.note).startswith("refused: ")]
        raise DesignError(refused[0].removeprefix("refused: ") if refused else _nothing(domain, purpose))
    return found.taken.mechanism, found.error


def for_statistics(domain: Domain, epsilon: object) -> Candidate:
    """What to take where all statistics of a domain are wanted: the least worst ratio to the best for each."""
    purposes, question = asked(domain, "statistics", None), Question(domain, shaped=False)
    found = choose_for_all(purposes, look_at(Epsilon.of(epsilon).text, question, purposes), question)
    if found is None:
        raise DesignError(_nothing(domain, "statistics"))
    return found.candidate


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
    if purpose in {"mean", "distribution"} and not (domain.has_ends or domain.wraps):
        return f"The values of {domain!r} are not numbers and have no {purpose}; ask for 'categories' or 'release'."
    return (
        f"No mechanism serves the purpose {purpose!r} here and can be evaluated in reasonable time; use fewer values, "
        "for example an Interval of a few hundred points."
    )
