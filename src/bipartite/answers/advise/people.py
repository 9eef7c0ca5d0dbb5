"""``bp.sample_size``: how many people are needed for an answer that is close enough; ``forecast``, turned around.

And how many are enough whoever they are: for the population for which the answer is least precise.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from bipartite.answers.advise.forecasting import Foreseen, forecast
from bipartite.answers.advise.recommending import recommend
from bipartite.answers.estimation.intervals import normal_width
from bipartite.domains import Domain
from bipartite.domains.base import as_real
from bipartite.errors import InputError, Problems, shown
from bipartite.mechanisms import Mechanism
from bipartite.mechanisms.checks import domain_problem
from bipartite.mechanisms.design.m import check_prior
from bipartite.texts import Printed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

# With fewer people the normal approximation is not reliable in the tails.
_FEW: Final = 100
_MOST_ROOTS: Final = 1e9
_SUREST: Final = 1 - 1e-12
_MOST_PAIRS: Final = 2**22  # pairs of a value and a report, for every share at once
_MOST_VALUES: Final = 2**21


@dataclass(frozen=True, slots=True, repr=False)
class SampleSize(Printed):
    """The number of people needed, and its assumptions."""

    n: int
    """Enough for a population distributed as assumed."""
    n_worst: int | None
    """Enough for every population; None where unknown."""
    standard_error: float
    """Standard error of the estimate from one person: it falls with the square root of the number of people."""
    of: Literal["mean", "share"]
    within: float
    confidence: float
    mechanism: Mechanism
    """What the people report with."""
    chosen: bool
    """Whether the mechanism was chosen here, as :func:`bipartite.recommend` does."""
    population: Literal["uniform", "given"]

    @property
    def assumptions(self) -> str:
        """The assumptions behind the number."""
        people = "with all values equally likely" if self.population == "uniform" else "with the shares given"
        said = [
            f"The people are a random sample of a population {people}, each reports once, and bp.estimate answers.",
            "Its error is taken as normal, which holds for many people.",
        ]
        if self.n < _FEW:
            said.append(f"Below {_FEW} people that is not reliable.")
        if self.of == "share":
            said.append("This holds for each share separately, not for all at once.")
        return " ".join(said)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers and words; conforms to ``cli/schemas/design-people.json``."""
        same = "standard_error of within confidence chosen population assumptions"
        return {name: getattr(self, name) for name in same.split()} | {
            "people": self.n,
            "people_worst": self.n_worst,
            "mechanism": repr(self.mechanism),
            "epsilon": format(self.mechanism.epsilon_decimal, "f"),
        }

    def __str__(self) -> str:
        what = "mean" if self.of == "mean" else "share of each value"
        how = "recommended for it: bp.recommend" if self.chosen else "as asked"
        worst = (
            "The number that is enough for every population is not known here."
            if self.n_worst is None
            else f"For every population, {self.n_worst:,} people are enough."
        )
        return (
            f"{self.n:,} people: the estimated {what} is then within {self.within:g} of the population's with "
            f"probability {self.confidence:g}.\n"
            f"  reported with: {self.mechanism!r} ({how})\n"
            f"  standard error: {self.standard_error:.4g}/√n, {self.standard_error / math.sqrt(self.n):.4g} then\n"
            f"  {worst}\n"
            f"  {self.assumptions}"
        )


def sample_size(
    what: Domain | Mechanism,
    epsilon: object = None,
    *,
    mean_within: float | None = None,
    share_within: float | None = None,
    confidence: float = 0.95,
    prior: Sequence[float] | Array | None = None,
) -> SampleSize:
    """How many people must report so that an answer is within a given distance of the truth.

    Parameters
    ----------
    what
        A mechanism; or a domain, for the mechanism that :func:`bipartite.recommend` takes there.
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

    Notes
    -----
    n = (z·s/d)², rounded up, with s the standard error for one person, d the distance and z the quantile of the normal
    distribution. The population's mean is meant, so that the people who happen to report are a random sample of it.
    ``n_worst`` is for the population that needs the most.

    Examples
    --------
    >>> import bipartite as bp
    >>> mech = bp.BRR(bp.Integers(18, 90), epsilon=1, edges="padded")
    >>> needed = sample_size(mech, mean_within=0.5)
    >>> needed.n_worst > needed.n > 100_000
    True
    """
    of, within = _check(what, epsilon, mean_within, share_within, confidence)
    mechanism = what
    if isinstance(mechanism, Domain):
        prior = None if prior is None else check_prior(prior, len(mechanism))
        mechanism = recommend(mechanism, epsilon, "mean" if of == "mean" else "categories", prior=prior).mechanism
    here, foreseen, size = forecast(mechanism, 1, of, prior), Foreseen(mechanism), len(mechanism.domain)
    worst = worst_mean(foreseen) if of == "mean" else worst_share(foreseen)
    if of == "share":
        # Not the root mean square over values, but the largest.
        shares = foreseen.of_shares(np.full((1, size), 1 / size) if prior is None else check_prior(prior, size)[None])
        assert shares is not None  # noqa: S101 (there is a forecast)
        here = math.sqrt(float(shares.max()))
    scale = normal_width(confidence) / within
    return SampleSize(
        n=_people(here * scale),
        n_worst=None if worst is None else _people(worst * scale),
        standard_error=here,
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
        raise InputError("More than 10^18 people would be needed; allow a larger distance.")
    return max(1, math.ceil(roots**2 * (1 - 1e-12)))


def _check(
    what: object, epsilon: object, mean_within: float | None, share_within: float | None, confidence: float
) -> tuple[Literal["mean", "share"], float]:
    problems = Problems()
    if isinstance(what, Domain):
        problem = domain_problem(what)
        if problem is not None:
            problems.add(problem)
        if epsilon is None:
            problems.add("Expected epsilon with a domain; try epsilon=1, or pass a mechanism.")
    elif not isinstance(what, Mechanism):
        problems.add(f"Expected a mechanism or a domain, got {type(what).__name__}; try bp.Integers(18, 90).")
    elif epsilon is not None:
        problems.add("A mechanism has its own ε; leave epsilon out.")
    domain = what.domain if isinstance(what, Mechanism) else what
    if mean_within is not None and isinstance(domain, Domain) and not domain.has_ends:
        problems.add(f"The values of {domain!r} are not numbers and have no mean; ask for share_within=0.01.")
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


def worst_mean(foreseen: Foreseen) -> float | None:
    """The standard error of the mean from one person in the worst population; None where unknown."""
    w = foreseen.mean_weights
    few = not foreseen.mechanism.flat and len(foreseen.domain) <= _MOST_VALUES
    squares = foreseen.squares(w) if few and w is not None else None
    if w is None or squares is None:
        return None
    # Around a circle people without a common direction: nothing is subtracted.
    worst = float(squares.mean(axis=0).max()) if foreseen.domain.wraps else worst_variance(w[0], squares[0])
    return math.sqrt(worst)


def worst_share(foreseen: Foreseen) -> float | None:
    """The same for the worst share and population."""
    mechanism, size = foreseen.mechanism, len(foreseen.domain)
    if mechanism.flat:
        held, unheld = (mechanism.variances(each, 1) for each in (np.eye(1, size)[0], np.zeros(size)))
        if not np.allclose(held[1:], unheld[1:], rtol=1e-9, atol=0):
            return None  # the shares of other values matter too, as in Hadamard Response with several blocks
        # The mean square of a score is its variance plus the squared weight of the person: 1 or 0.
        return math.sqrt(float(_worst_over_shares(unheld[:1], held[:1] + 1)[0]))
    if size * len(mechanism.outputs) > _MOST_PAIRS:
        return None
    moments = foreseen.squares(np.eye(size))  # [which share, who reports]
    if moments is None:
        return None
    others = np.where(np.eye(size, dtype=bool), -np.inf, moments).max(axis=1)
    return math.sqrt(float(_worst_over_shares(others, moments.diagonal()).max()))


def worst_variance(values: Array, moments: Array) -> float:
    """The largest Σπ·g − (Σπ·w)² over all π, for ascending w.

    For a given mean μ the largest Σπ·g is the upper concave envelope of the points (w, g) at μ; on a piece of it with
    slope s the whole is largest at μ = s/2.
    """
    hull: list[tuple[float, float]] = []
    for w, g in zip(values.tolist(), moments.tolist(), strict=True):
        # A point on or below the line between its neighbours is not on the envelope.
        while len(hull) > 1 and (hull[-1][1] - hull[-2][1]) * (w - hull[-2][0]) <= (g - hull[-2][1]) * (
            hull[-1][0] - hull[-2][0]
        ):
            hull.pop()
        hull.append((w, g))
    worst = -math.inf
    for (low, g_low), (high, g_high) in itertools.pairwise(hull):
        slope = (g_high - g_low) / (high - low)
        mean = min(max(slope / 2, low), high)
        worst = max(worst, g_low + slope * (mean - low) - mean**2)
    return worst


def _worst_over_shares(others: Array, own: Array) -> Array:
    """The largest (1 − f)·others + f·own − f² over shares f."""
    share = np.clip((own - others) / 2, 0, 1)
    worst: Array = others + share * (own - others) - share**2
    return worst
