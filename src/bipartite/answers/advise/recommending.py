"""``bp.recommend``: what the reports are for, and so which mechanism to take."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from bipartite.answers.advise.advice import advised
from bipartite.answers.advise.candidates import ANCHORED, candidates
from bipartite.answers.advise.figures import REFUSED, Question, measure
from bipartite.answers.advise.patience import Clock, constant_seconds
from bipartite.answers.advise.picking import NEAR, pick
from bipartite.answers.advise.purposes import check_purpose
from bipartite.answers.advise.row import Row
from bipartite.answers.quality import expected_loss, loss_quantile, share_within, worst_loss
from bipartite.errors import DesignError, InputError, shown
from bipartite.lottery import Epsilon
from bipartite.lottery.checks import is_whole
from bipartite.mechanisms import Constant
from bipartite.mechanisms.checks import check_domain
from bipartite.mechanisms.design.m import check_prior
from bipartite.texts import Printed, escaped

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from bipartite.answers.advise.advice import Advice
    from bipartite.answers.advise.candidates import Candidate
    from bipartite.answers.advise.figures import Measured
    from bipartite.answers.advise.purposes import Purpose
    from bipartite.domains import Domain
    from bipartite.mechanisms import Mechanism

# Where anchors are proved to be within 5 % of the least possible loss, domains larger than this skip all other
# candidates.
LOOK_AT_ALL: Final = 4096


@dataclass(frozen=True, slots=True)
class Recommendation(Printed):
    """The mechanism to use for a purpose. Made by :func:`bipartite.recommend`; ``print`` it to see why."""

    mechanism: Mechanism
    advice: Advice
    """The name of the mechanism, its error, what it was compared with, and why it is taken."""

    def to_dict(self) -> dict[str, Any]:
        """The advice as plain numbers and text."""
        return dataclasses.asdict(self.advice)

    def __repr__(self) -> str:
        return f"<Recommendation for {self.advice.purpose!r}: {self.mechanism!r}>"

    def __str__(self) -> str:
        return str(self.advice)


def recommend(
    domain: Domain,
    epsilon: object,
    purpose: Purpose,
    *,
    users: int | None = None,
    prior: Sequence[float] | NDArray[np.float64] | None = None,
    seconds: float | Clock | None = None,
    progress: Callable[[int], None] | None = None,
) -> Recommendation:
    """The mechanism to take for one purpose, with its error and why.

    Every other adviser asks this one: :func:`bipartite.compare`, :func:`bipartite.sample_size` and the command line.

    Parameters
    ----------
    domain
        What may be reported.
    epsilon
        The privacy budget of one report.
    purpose
        What the reports are for: ``"release"`` (each is used as it is), ``"mean"``, ``"distribution"`` (quantiles,
        cumulative shares), ``"categories"`` (the share of each value) or ``"map"`` (the same for places).
    users
        The number of people who will report; None for 100,000. A smoothed distribution is better served by a narrower
        window where there are more of them; for other purposes the choice does not depend on it.
    prior
        Public probabilities of the values, None for uniform. Never estimate it from the private data.
    seconds
        Take the best that is found in this time. No step is begun later; the search for anchors is stopped, other
        steps that run are finished. Where the best constant answer would take most of the time, it is left out.
    progress
        Called with 1 whenever a mechanism has been evaluated.

    Notes
    -----
    The error is that of the estimator that will answer: ``bp.estimate`` without options. What is taken is within 5 % of
    the least error, for the prior, of all mechanisms that are made for the purpose and keep ε.
    ``advice.worst_ratio`` is the largest such ratio over populations of other shapes.

    Examples
    --------
    >>> import bipartite as bp
    >>> ages = bp.Integers(18, 90)
    >>> bp.recommend(ages, 1, "mean").mechanism
    BRR(Integers(18, 90), epsilon=1, m=61, edges='padded')
    >>> bp.recommend(ages, 1, "release").advice.mechanism
    'Anchored'
    """
    check_domain(domain)
    check_purpose(purpose)
    if purpose == "statistics":
        raise InputError(
            "Expected one purpose, got 'statistics', which is several; ask for 'mean', 'distribution' or 'categories'."
        )
    check_users(users)
    budget = Epsilon.of(epsilon).text
    weights = None if prior is None else check_prior(prior, len(domain))
    question = Question(domain, weights, None if users is None else int(users), clock=clock_of(seconds))
    constant = single_answer(question) if purpose == "release" else None
    measured = look_at(budget, question, purpose, progress=progress)
    advice, taken = advised(purpose, budget, measured, question, constant)
    if taken is None or taken.mechanism is None:
        raise DesignError(_too_late(question.clock) if question.clock.is_over else _nothing(domain, purpose))
    return Recommendation(taken.mechanism, advice)


def recommended(domain: Domain, epsilon: object, purpose: str, people: int) -> tuple[Mechanism, float]:
    """The recommended mechanism and its error, without text or other shapes of the population."""
    budget = Epsilon.of(epsilon).text
    question = Question(domain, users=people, shaped=False)
    measured = look_at(budget, question, purpose)
    found = pick(purpose, measured, [])
    if found is None or found.taken.mechanism is None:
        refused = [each.row.note for each in measured if each.row.note.startswith(REFUSED)]
        raise DesignError(refused[0].removeprefix(REFUSED) if refused else _nothing(domain, purpose))
    return found.taken.mechanism, found.error


def look_at(
    epsilon: str,
    question: Question,
    purpose: str,
    progress: Callable[[int], None] | None = None,
) -> list[Measured]:
    """Measure the mechanisms made for a purpose; on a large domain, no more than needed to decide."""
    measured = []
    for candidate in _in_order([each for each in candidates(question.domain) if each.serves(purpose)]):
        found = measure(candidate, epsilon, question, [purpose])
        measured.append(found)
        if progress is not None:
            progress(1)
        gap = found.row.gap
        if gap is not None and gap <= NEAR and len(question.domain) > LOOK_AT_ALL:
            break
    return measured


def _in_order(some: list[Candidate]) -> list[Candidate]:
    """Sort Anchored first: where its bound is close, nothing else can be much better."""
    return sorted(some, key=lambda each: each.name != ANCHORED)


def single_answer(question: Question) -> Row | None:
    """The best answer without asking anybody; None where finding it would take most of the time."""
    if not question.clock.allows(constant_seconds(question.domain)):
        return None
    mechanism = Constant(question.domain, prior=question.prior)
    prior, tolerance = question.prior, question.tolerance
    answer = mechanism.answer
    return Row(
        f"always {answer:.6g}" if isinstance(answer, float) else f"always {escaped(answer)}",
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


def clock_of(seconds: float | Clock | None) -> Clock:
    """The clock of a search."""
    return seconds if isinstance(seconds, Clock) else Clock(seconds)


def check_users(users: object) -> None:
    """Refuse anything that is not a number of people."""
    if users is not None and not (is_whole(users) and users >= 1):
        raise InputError(f"Expected users as a whole number of at least 1, got {shown(users)}; try users=10_000.")


def _too_late(clock: Clock) -> str:
    return f"The {clock.seconds:g} s were over before a mechanism could be evaluated; allow more time."


def _nothing(domain: Domain, purpose: str) -> str:
    if purpose in {"mean", "distribution"} and not domain.has_ends:
        return f"The values of {domain!r} are not numbers and have no {purpose}; ask for 'categories' or 'release'."
    return (
        f"No mechanism serves the purpose {purpose!r} here and can be evaluated in reasonable time; use fewer values, "
        "for example an Interval of a few hundred points."
    )
