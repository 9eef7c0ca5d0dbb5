"""``bp.sample_size``: how many people are needed for an answer that is close enough."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from bipartite.answers.advise.candidates import ANCHORED, BEST, SAFE, candidates
from bipartite.answers.advise.errors_of_one import error_of_mean, error_of_shares
from bipartite.answers.advise.figures import Question, left_out, statistics_left_out
from bipartite.answers.estimation.intervals import normal_width
from bipartite.domains import Domain, LineDomain
from bipartite.domains.base import as_real
from bipartite.errors import DesignError, InputError, Problems, shown
from bipartite.lottery import Epsilon
from bipartite.mechanisms import Mechanism
from bipartite.mechanisms.base import domain_problem
from bipartite.mechanisms.categories import CategoryMechanism
from bipartite.mechanisms.design.line import check_prior

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from bipartite.answers.advise.errors_of_one import ErrorOfOne

    Array = NDArray[np.float64]
    Any_ = Mechanism | CategoryMechanism

# With fewer people the normal law is not to be trusted for the tails of an estimate.
_FEW: Final = 100
_MOST_ROOTS: Final = 1e9
_SUREST: Final = 1 - 1e-12


@dataclass(frozen=True, slots=True)
class SampleSize:
    """How many people are needed, and what that rests on."""

    people: int
    """Enough for a population distributed as assumed."""
    people_worst: int | None
    """Enough whatever the population is; None where it is not known."""
    standard_error: float
    """Of the estimate from one person: it falls with the root of the number of people."""
    of: Literal["mean", "share"]
    within: float
    confidence: float
    mechanism: Mechanism | CategoryMechanism
    """What the people report with."""
    chosen: bool
    """Whether the mechanism was chosen here, as the one that needs the fewest people."""
    population: Literal["uniform", "given"]

    @property
    def assumptions(self) -> str:
        """What the number rests on."""
        people = "with all values equally likely" if self.population == "uniform" else "with the shares given"
        said = [
            f"The people are a random sample of a population {people}, each reports once, and bp.estimate answers.",
            "Its error is taken as normal, which holds for many people.",
        ]
        if self.people < _FEW:
            said.append(f"Below {_FEW} people that is not to be trusted.")
        if self.of == "share":
            said.append("Each share is meant by itself, not all at once.")
        return " ".join(said)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers and words; conforms to ``cli/schemas/sample-size.json``."""
        return {
            "people": self.people,
            "people_worst": self.people_worst,
            "standard_error": self.standard_error,
            "of": self.of,
            "within": self.within,
            "confidence": self.confidence,
            "mechanism": repr(self.mechanism),
            "epsilon": format(self.mechanism.epsilon_decimal, "f"),
            "chosen": self.chosen,
            "population": self.population,
            "assumptions": self.assumptions,
        }

    def __str__(self) -> str:
        what = "mean" if self.of == "mean" else "share of each value"
        how = "the fewest of what was compared" if self.chosen else "as asked"
        worst = (
            "How many would be enough for any population is not known here."
            if self.people_worst is None
            else f"Whatever the population is, {self.people_worst:,} people are enough."
        )
        return (
            f"{self.people:,} people: the estimated {what} is then within {self.within:g} of the population's with "
            f"probability {self.confidence:g}.\n"
            f"  reported with: {self.mechanism!r} ({how})\n"
            f"  standard error: {self.standard_error:.4g}/√n, {self.standard_error / math.sqrt(self.people):.4g} then\n"
            f"  {worst}\n"
            f"  {self.assumptions}"
        )


def sample_size(
    what: Domain | Mechanism | CategoryMechanism,
    epsilon: object = None,
    *,
    mean_within: float | None = None,
    share_within: float | None = None,
    confidence: float = 0.95,
    prior: Sequence[float] | NDArray[np.float64] | None = None,
    progress: Callable[[int], None] | None = None,
) -> SampleSize:
    """How many people must report so that an answer is within a given distance of the truth.

    Parameters
    ----------
    what
        A mechanism; or a domain, for the mechanism that needs the fewest people there.
    epsilon
        With a domain: the privacy budget of one report.
    mean_within
        How far the estimated mean may be from the population's.
    share_within
        Instead: how far the estimated share of each value, by itself, may be from the population's.
    confidence
        The probability that it is.
    prior
        How the population is assumed to be distributed, None for uniform. Public; never from the private data.
    progress
        With a domain: called with 1 whenever a mechanism has been looked at.

    Notes
    -----
    n = (z·s/d)², rounded up, with s the standard error for one person, d the distance and z the quantile of the normal
    law. The population's mean is meant, so that the people who happen to report are a random sample of it.
    ``people_worst`` is for whatever population needs the most.

    Examples
    --------
    >>> import bipartite as bp
    >>> mech = bp.BRR(bp.Integers(18, 90), epsilon=1, edges="padded")
    >>> needed = sample_size(mech, mean_within=0.5)
    >>> needed.people_worst > needed.people > 100_000
    True
    """
    of, within = _check(what, epsilon, mean_within, share_within, confidence)
    domain = what if isinstance(what, Domain) else what.domain
    weights = None if prior is None else check_prior(prior, len(domain))
    mechanism: Any_
    error: ErrorOfOne | None
    if isinstance(what, Domain):
        mechanism, error = _fewest(what, Epsilon.of(epsilon).text, of, weights, progress)
    else:
        mechanism, error = what, _error(what, of, weights)
    if error is None:
        raise DesignError(_not_to_be_had(mechanism, of))
    scale = normal_width(confidence) / within
    return SampleSize(
        people=_people(error.here * scale),
        people_worst=None if error.worst is None else _people(error.worst * scale),
        standard_error=error.here,
        of=of,
        within=within,
        confidence=float(confidence),
        mechanism=mechanism,
        chosen=isinstance(what, Domain),
        population="uniform" if prior is None else "given",
    )


def _people(roots: float) -> int:
    """The square, rounded up; a rounding error must not add a person."""
    if roots > _MOST_ROOTS:
        msg = "More than 10^18 people would be needed; allow a larger distance."
        raise InputError(msg)
    return max(1, math.ceil(roots**2 * (1 - 1e-12)))


def _fewest(
    domain: Domain, epsilon: str, of: str, weights: Array | None, progress: Callable[[int], None] | None
) -> tuple[Any_, ErrorOfOne]:
    """The mechanism with the least error that keeps ε, of those that can be looked at."""
    question = Question(domain, weights, None, 1)
    best: tuple[ErrorOfOne, Any_] | None = None
    for candidate in candidates(domain):
        if progress is not None:
            progress(1)
        # Clamped windows and anchors give some values the same reports; flat categories have no mean.
        useless = candidate.name in {SAFE, BEST, ANCHORED} or (candidate.form.reports == "flat" and of == "mean")
        if useless or left_out(candidate, question) is not None:
            continue
        try:
            mechanism = candidate.build(domain, epsilon, weights)
            error = _error(mechanism, of, weights)
        except InputError:
            continue
        keeps = error is not None and mechanism.keeps_promise(mechanism.largest_ratio())
        if error is not None and keeps and (best is None or error.here < best[0].here * (1 - 1e-9)):
            best = error, mechanism
    if best is None:
        msg = (
            f"No mechanism can estimate the {of} here and be looked at in reasonable time; use fewer values, for "
            "example an Interval of a few hundred points."
        )
        raise DesignError(msg)
    return best[1], best[0]


def _error(mechanism: Any_, of: str, weights: Array | None) -> ErrorOfOne | None:
    """The standard errors for one person; None where it cannot be estimated."""
    reason = statistics_left_out(mechanism, 1)
    if reason is not None:
        msg = f"{mechanism!r} is too large: {reason}; use an Interval of fewer points, which hardly changes the answer."
        raise DesignError(msg)
    size = len(mechanism.domain)
    population = np.full(size, 1 / size) if weights is None else weights
    return error_of_mean(mechanism, population) if of == "mean" else error_of_shares(mechanism, population)


def _not_to_be_had(mechanism: Any_, of: str) -> str:
    if of == "mean" and not isinstance(mechanism.domain, LineDomain):
        return f"The values of {mechanism.domain!r} are no numbers and have no mean; ask for share_within=0.01."
    if isinstance(mechanism, CategoryMechanism):
        return (
            "How many people a mean from flat categories takes is not computed; ask for share_within=0.01, look at "
            "bp.forecast(mechanism, people).mean, or use bp.BRR(…, edges='padded')."
        )
    return (
        f"The {of} cannot be estimated from {mechanism!r}: some values have the same reports; "
        "use edges='padded', or leave the choice to bp.sample_size(domain, epsilon, …)."
    )


def _check(
    what: object,
    epsilon: object,
    mean_within: float | None,
    share_within: float | None,
    confidence: float,
) -> tuple[Literal["mean", "share"], float]:
    problems = Problems()
    if isinstance(what, Domain):
        problem = domain_problem(what)
        if problem is not None:
            problems.add(problem)
        if epsilon is None:
            problems.add("Expected epsilon with a domain; try epsilon=1, or pass a mechanism.")
        if mean_within is not None and not isinstance(what, LineDomain):
            problems.add(f"The values of {what!r} are no numbers and have no mean; ask for share_within=0.01.")
    elif not isinstance(what, (Mechanism, CategoryMechanism)):
        problems.add(f"Expected a mechanism or a domain, got {type(what).__name__}; try bp.Integers(18, 90).")
    elif epsilon is not None:
        problems.add("A mechanism has its own ε; leave epsilon out.")
    given = [within for within in (mean_within, share_within) if within is not None]
    if len(given) != 1:
        problems.add("Expected mean_within= or share_within=, one of them; try mean_within=0.5.")
    of: Literal["mean", "share"] = "mean" if mean_within is not None else "share"
    if given and not 0 < as_real(given[0]) < math.inf:
        problems.add(f"Expected {of}_within as a positive number, got {shown(given[0])}; a distance from the truth.")
    if not 0 < as_real(confidence) <= _SUREST:
        problems.add(f"Expected confidence between 0 and 1, got {shown(confidence)}; 0.95 is usual.")
    problems.raise_if_any(InputError)
    return of, float(given[0])
