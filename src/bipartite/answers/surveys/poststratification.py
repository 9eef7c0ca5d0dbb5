"""Post-stratification: answers of public groups, weighted by what the groups are in the population."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.answers.estimation.question import Question
from bipartite.answers.estimation.sample import Averages, Sample, spare
from bipartite.answers.surveys.contrasts import disjoint_groups
from bipartite.errors import InputError, how_many, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from bipartite.answers.estimation.answer import Answer
    from bipartite.answers.estimation.estimate import Estimate
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
    these sizes, Σ W_h²·v_h (Holt, Smith, *Post stratification*, JRSS A 1979). The interval is Gaffke's
    (:mod:`bipartite.answers.estimation.sample`) of what the groups leave unexplained, with the weight W_h/n_h for each
    report, like that of standardised rates (Fay, Feuer, Statistics in Medicine 1997). That it holds is measured, not
    proved (``bench/results/surveys.md``): 94 to 100 of 100 at 95 % on ten shapes, with about six reports in the
    smallest of eight groups. Where eight reports stood for 30 % of the population, 93 to 100 held, but with 80 % on one
    shape only 67: merge such groups. Each group needs two reports.

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
    groups = disjoint_groups(ests, 1)
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
    if alone := [label for label, each in groups.items() if each.nobs == 1]:
        raise InputError(
            f"There is a single report from {listed(alone)}, and its error cannot be estimated; merge with a similar "
            "group, in labels and totals."
        )
    asked = linear_question(of, next(iter(groups.values())).domain)
    w, fitted = asked.scale * asked.weights[None], asked.kind == "share"
    parts = [sample_of(each, w, shown(label), fitted=fitted) for label, each in groups.items()]
    size = math.fsum(shares.values())
    held = np.array([shares[label] / size for label in groups])
    mean = held @ [part.mean for part in parts]
    variance = held**2 @ [part.variances for part in parts]
    # The weights that people have now, and scores that differ from the mean by what their group does not explain.
    per_unit = [share / float(part.first.sum()) for share, part in zip(held, parts, strict=True)]
    moved = [mean - part.mean for part in parts]
    limits = np.array([[end + by for end in part.range] for part, by in zip(parts, moved, strict=True)])
    around = Sample.of(
        np.hstack([part.u + by for part, by in zip(parts, moved, strict=True)]),
        np.concatenate([part.first * per for part, per in zip(parts, per_unit, strict=True)]),
        np.concatenate(
            [part.second * (per**2 * part.n / spare(part.n)) for part, per in zip(parts, per_unit, strict=True)]
        ),
        limits=(limits[:, 0].min(axis=0), limits[:, 1].max(axis=0)),
    )
    note = f"post-stratified by {how_many(len(parts), 'group')}, each assumed to be like those of it who report"
    found = Adjusted(mean, variance, around.spread, around.n, around.reach, about=note, around=around)
    return replace(found.answer(asked.possible, shift=asked.shift), forge=None)


@dataclass(frozen=True, eq=False)
class Adjusted(Averages):
    """An average adjusted to public totals; its interval is that of a sample without what the totals explain."""

    about: str = field(kw_only=True)
    around: Sample = field(kw_only=True)

    def ends(self, at: int, confidence: float) -> tuple[float, float]:
        return self.around.ends(at, confidence)

    def note(self) -> str:
        return self.about


def sample_of(est: Estimate, w: Array, whose: str, *, fitted: bool = False) -> Sample:
    """The scores of an estimate's reports."""
    found = est._source.sample(w, fitted=fitted)
    if found is None:
        raise InputError(f"The reports of {whose} cannot tell this; collect with edges='padded' or GRR.")
    if isinstance(found, Sample):
        return found
    if found.people is None:
        raise InputError(f"The counts of {whose} do not tell the score of each report; pass the reports themselves.")
    return found.people()


WEIGHTED: Final = "pass bp.surveys.raking_weights(…) to bp.estimate(…, weights=…), whose errors do not know the totals"


def linear_question(of: Asked, domain: Domain, instead: str = WEIGHTED) -> Question:
    """A question whose answer for a population is the weighted average of the answers for its parts."""
    asked = Question.read(of, domain)
    if asked.kind not in {"average", "share"}:
        raise InputError(
            f"Expected a question whose answer is an average, such as 'mean', got {shown(of)}; for others {instead}."
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
