"""The second part of ``bipartite demo``: the same people in a separate survey, designed for statistics."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.answers.estimation import Counts, estimate
from bipartite.cli.demo_questions import report_all
from bipartite.mechanisms import BRR, GRR
from bipartite.verification import verify

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.answers.estimation import ConfidenceInterval, Estimate
    from bipartite.cli.demo_questions import Outcome
    from bipartite.cli.output import Progress
    from bipartite.mechanisms import Mechanism
    from bipartite.mechanisms.categories import CategoryMechanism
    from bipartite.verification import Certificate

CONFIDENCE: Final = 0.95
TOP: Final = 10


@dataclass(frozen=True)
class Survey:
    """What a collector learns about everybody's answer to one question."""

    outcome: Outcome
    """The outcome of the first survey."""
    estimate: Estimate
    """For these people, not for a population they might be drawn from."""
    true_mean: float | None
    """Of these people; None if answers are not numbers."""
    bounds: ConfidenceInterval | None
    """The interval of that mean from the reports of the first survey."""
    certificate: Certificate

    @property
    def mechanism(self) -> Mechanism | CategoryMechanism:
        """The mechanism that everybody reported with."""
        return self.estimate.mechanism

    @cached_property
    def interval(self) -> ConfidenceInterval:
        """The interval of the mean."""
        return self.estimate.interval(CONFIDENCE)

    @property
    def first_tells(self) -> bool:
        """Whether the shares could have been estimated from the first survey as well."""
        return len(np.unique(self.outcome.question.brr.matrix(), axis=0)) == len(self.outcome.question.brr.domain)

    def ranges(self) -> list[dict[str, Any]]:
        """The unbiased shares of ranges of numbers with their intervals, beside the true shares."""
        question = self.outcome.question
        values = question.values
        found = []
        for start, end in pairwise([*question.starts, np.inf]):
            inside = (values >= start) & (values < end)
            weights = inside.astype(np.float64)
            low, high = self.estimate.interval(CONFIDENCE, of=weights)
            share, true = self.estimate.linear(weights), float(self.outcome.answers[inside].sum())
            name = f"{question.say(values[inside][0])} to {question.say(values[inside][-1])}"
            found.append({"value": name, "share": share, "low": low, "high": high, "true": true})
        return found

    def largest(self) -> list[dict[str, Any]]:
        """The largest estimated shares with their intervals, beside the true shares."""
        low, high = self.estimate.share_intervals(CONFIDENCE)
        shares, values = self.estimate.frequencies, self.mechanism.domain.to_numpy()
        order = np.argsort(-shares, kind="stable")[:TOP]
        columns = (values, shares, low, high, self.outcome.answers)
        names = ("value", "share", "low", "high", "true")
        return [dict(zip(names, (column[at].item() for column in columns), strict=True)) for at in order]


def survey(outcome: Outcome, answers: NDArray[Any], progress: Progress) -> Survey:
    """Ask everybody again, with a mechanism whose reports tell all answers apart, and estimate."""
    first = outcome.question.brr
    line = outcome.question.is_number
    epsilon = first.epsilon_decimal
    mechanism = BRR(first.domain, epsilon, m="cdf", edges="padded") if line else GRR(first.domain, epsilon)
    counts = Counts(mechanism)
    for reports in report_all(mechanism, answers, progress):
        counts.add(reports)
    seen = np.rint(outcome.reports * len(answers)).astype(np.int64)
    return Survey(
        outcome=outcome,
        estimate=estimate(mechanism, counts=counts, of_sample=True),
        true_mean=float(answers.mean()) if line else None,
        bounds=estimate(first, counts=seen, of_sample=True).interval(CONFIDENCE) if line else None,
        certificate=verify(mechanism),
    )


def as_json(done: Survey) -> dict[str, Any]:
    """One survey as JSON values."""
    mean = None
    if done.true_mean is not None and done.bounds is not None:
        low, high = done.interval
        mean = {
            "value": done.estimate.mean,
            "low": low,
            "high": high,
            "true": done.true_mean,
            "from_single_values": {"low": done.bounds.low, "high": done.bounds.high},
        }
    return {
        "mechanism": repr(done.mechanism),
        "confidence": CONFIDENCE,
        "mean": mean,
        "shares": done.ranges() if mean else done.largest(),
        "certificate": {"holds": done.certificate.holds, "epsilon_upper": str(done.certificate.epsilon_upper)},
    }


def rows(surveys: list[Survey]) -> list[tuple[str, str, str, str]]:
    """One row per question: what is estimated, the estimate, its interval, the truth."""
    found = []
    for done in surveys:
        question = done.outcome.question
        if done.true_mean is not None:
            low, high = done.interval
            numbers = (f"{number:,.{digits_of(done)}f}" for number in (done.estimate.mean, low, high, done.true_mean))
            name = f"  mean {question.name}, {question.unit}"
        else:
            top = done.largest()[0]
            numbers = (f"{top[each]:.2%}" for each in ("share", "low", "high", "true"))
            name = f"  share of {top['value']}"
        value, least, most, true = numbers
        found.append((name, value, f"{least} to {most}", true))
    return found


def digits_of(done: Survey) -> int:
    """The number of significant decimals."""
    low, high = done.interval
    return 2 if high - low < 10 else 0  # noqa: PLR2004
