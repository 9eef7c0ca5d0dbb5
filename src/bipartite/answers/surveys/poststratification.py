"""Post-stratification: answers of public groups, weighted by what the groups are in the population."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.answers.estimation.estimate import Estimate
from bipartite.answers.estimation.question import Question
from bipartite.answers.estimation.sample import Averages
from bipartite.errors import InputError, how_many, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.answers.estimation.answer import Answer
    from bipartite.answers.estimation.question import Asked
    from bipartite.domains import Domain

    Array = NDArray[np.float64]

_MOST_SHOWN: Final = 5


def poststratify(ests: Mapping[Any, Estimate], totals: Mapping[Any, float], of: Asked = "mean") -> Answer:
    r"""The answer of a population whose groups have these public totals: Σ W_h·θ_h, W_h = total of h / all totals.

    ``ests`` are the estimates of public groups, ``bp.estimate(mech, reports, by=labels)``, and ``totals`` says how many
    people the population has in each, as counts or shares: a census, a register. ``of`` is "mean", ("range", first,
    last), ("cdf", value), ("bin", value) or one weight per value; shares are unbiased ones, averages of cross-fitted
    scores.

    The groups are independent, and their sizes in the sample say nothing about θ, so the variance is the one given
    these sizes, Σ W_h²·v_h (Holt, Smith, *Post stratification*, JRSS A 1979). The interval combines those of the
    groups (MOVER: Zou, Donner, Statistics in Medicine 2008): it reaches √(Σ W_h²·(θ_h − l_h)²) down and likewise up;
    groups with few reports make it wider. A group with a single report has no standard error, so NaN is told, but an
    interval.

    Assumed: within each group those who report are like those who do not. This costs no privacy, because labels and
    totals are public. Where only the totals of several columns are known, not of their combinations, see :func:`rake`.

    >>> from bipartite import BRR, Integers, estimate, insecure_seed
    >>> mech = BRR(Integers(1, 10), epsilon=2, edges="padded")
    >>> reports = mech.privatize([3] * 4000 + [8] * 1000, rng=insecure_seed(1))
    >>> ests = estimate(mech, reports, by=["young"] * 4000 + ["old"] * 1000)
    >>> found = poststratify(ests, {"young": 0.5, "old": 0.5})
    >>> found.ci().low < 5.5 < found.ci().high
    True
    """
    groups = _checked(ests)
    shares = totals_of("totals", totals)
    if strangers := [label for label in groups if label not in shares]:
        raise InputError(
            f"There are reports but no totals of {listed(strangers)}; add totals, or leave those reports out."
        )
    if empty := [label for label in shares if label not in groups]:
        raise InputError(
            f"There are no reports from {listed(empty)}, so nothing is known about them; merge them with a similar "
            "group, in labels and totals."
        )
    asked = linear_question(of, next(iter(groups.values())).domain)
    w = asked.scale * asked.weights[None]
    parts = []
    for label, each in groups.items():
        part = each._source.sample(w, fitted=asked.kind == "share")
        if part is None:
            raise InputError(f"The reports of {shown(label)} cannot tell this; collect with edges='padded' or GRR.")
        parts.append(part)
    size = math.fsum(shares.values())
    held = np.array([shares[label] / size for label in groups])
    means, variances = (np.array([float(getattr(part, name)[0]) for part in parts]) for name in ("mean", "variances"))

    def ends(confidence: float) -> tuple[float, float]:
        low, high = np.array([part.ends(0, confidence) for part in parts]).T
        value = float(held @ means)
        return value - float(np.linalg.norm(held * (means - low))), value + float(np.linalg.norm(held * (high - means)))

    note = f"post-stratified by {how_many(len(parts), 'group')}, each assumed to be like those of it who report"
    n = 1 / float((held**2) @ [1 / part.n for part in parts])
    none = np.full(1, math.nan)
    found = Adjusted(np.array([held @ means]), np.array([held**2 @ variances]), none, n, none, about=note, reached=ends)
    return replace(found.answer(asked.possible, shift=asked.shift), forge=None)


@dataclass(frozen=True, eq=False)
class Adjusted(Averages):
    """One average after an adjustment to public totals, which has its own interval and note."""

    about: str = field(kw_only=True)
    reached: Callable[[float], tuple[float, float]] = field(kw_only=True)

    def ends(self, at: int, confidence: float) -> tuple[float, float]:
        del at
        return self.reached(confidence)

    def note(self) -> str:
        return self.about


def linear_question(of: Asked, domain: Domain) -> Question:
    """A question whose answer for a population is the weighted average of the answers for its parts."""
    asked = Question.read(of, domain)
    if asked.kind not in {"average", "share"}:
        raise InputError(
            f"Expected a question whose answer is an average, such as 'mean', got {shown(of)}; for a quantile ask for "
            "('cdf', value) around it, for a variance about squares, as one weight per value."
        )
    return asked


def totals_of(name: str, totals: object) -> dict[Any, float]:
    """Check public totals: a positive number for each label."""
    try:
        found = {label: float(total) for label, total in dict(totals).items()}  # type: ignore[call-overload]
    except (TypeError, ValueError):
        found = {}
    if not found or not all(0 < total < math.inf for total in found.values()):
        raise InputError(
            f"Expected {name} as a mapping from labels to positive public counts or shares, got {shown(totals)}; leave "
            "out reports from groups that the population does not have."
        )
    return found


def listed(labels: list[Any]) -> str:
    """Public labels, the first few of them."""
    return ", ".join(map(shown, labels[:_MOST_SHOWN])) + "…" * (len(labels) > _MOST_SHOWN)


def _checked(ests: object) -> dict[Any, Estimate]:
    groups = dict(ests) if isinstance(ests, Mapping) else {}
    if not groups or not all(isinstance(each, Estimate) for each in groups.values()):
        raise InputError(
            f"Expected estimates of groups, bp.estimate(mech, reports, by=labels), got {type(ests).__name__}."
        )
    first = next(iter(groups.values())).domain
    if others := [each.domain for each in groups.values() if each.domain != first]:
        raise InputError(f"Expected estimates on one domain, got {first!r} and {others[0]!r}.")
    return groups
