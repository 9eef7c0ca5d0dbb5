"""The statistics on the demo's page: estimates with error bars, beside the truth."""

from __future__ import annotations

import html
from decimal import Decimal
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.answers.estimation.pictures import bounds
from bipartite.cli.demo_statistics import CONFIDENCE, TOP, digits_of
from bipartite.plots import histogram, shares_by_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bipartite.cli.demo_statistics import Survey

_SURE: Final = f"{100 * CONFIDENCE:g} %"
_FITS: Final = 12  # characters below a bar
_MEANT: Final = (
    "Each share is unbiased for every population, and the bars show how far off a single survey may be. Single answers "
    "instead of ranges would need far more people."
)


def statistics(surveys: Sequence[Survey], epsilon: str, people: int) -> str:
    """The section about statistics."""
    both = f"{2 * Decimal(epsilon):f}"
    opening = (
        "The reports above are designed to be close to the truth one by one. To learn about <em>everybody</em>, the "
        f"{people:,} people are asked again, in a <strong>separate survey</strong> whose reports tell all answers "
        "apart: age and income with <em>padded edges</em> (a report may lie past both ends of the range), the city "
        f"with GRR. Each of these reports spends another ε&nbsp;=&nbsp;{epsilon}. Whoever answers a question in both "
        f"surveys spends 2ε&nbsp;=&nbsp;{both} on it; so choose one of the two before asking anybody."
    )
    parts = ["<h2>The same people, asked for statistics</h2>", f"<p>{opening}</p>"]
    for done in surveys:
        parts += _numbers(done) if done.outcome.question.is_number else _names(done)
    return "\n".join(parts)


def _numbers(done: Survey) -> list[str]:
    """A mean with its interval, and the histogram."""
    question = done.outcome.question
    assert done.true_mean is not None and done.bounds is not None  # noqa: S101, PT018 (answers are numbers)
    digits = digits_of(done)
    low, high = done.interval
    mean, least, most, true = (f"{each:,.{digits}f}" for each in (done.estimate.mean, low, high, done.true_mean))
    inside = "inside it" if low <= done.true_mean <= high else "outside it, as happens in one survey of twenty"
    ranges = done.ranges()
    shares, least_shares, most_shares, truth = (
        np.array([each[part] for each in ranges]) for part in ("share", "low", "high", "true")
    )
    names = [str(each["value"]) for each in ranges]
    if max(map(len, names)) > _FITS:
        names = [f"from {name.split(' to ')[0]}" for name in names]
    drawn = histogram(
        np.arange(len(ranges)),
        shares,
        least_shares,
        most_shares,
        label=f"{question.name}, {question.unit}",
        say=lambda at: names[int(at)],
        sure=_SURE,
        truth=truth,
    )
    held = int(((least_shares <= truth) & (truth <= most_shares)).sum())
    learned = (
        f"The collector learns: the mean is <strong>{mean} {question.unit}</strong>, {_SURE} interval {least} to "
        f"{most}. The true mean of these people is {true}, {inside}."
    )
    return [
        f"<h3>{html.escape(question.name.capitalize())}</h3>",
        f"<p class='said'>{learned}</p>",
        drawn,
        f"<p>Of these {len(ranges)} intervals, {held} contain the true share. {_MEANT} {_first(done)}</p>",
    ]


def _first(done: Survey) -> str:
    """What the first survey tells about the mean."""
    assert done.bounds is not None  # noqa: S101 (answers are numbers)
    if done.first_tells:
        return "At this ε the first survey could have been used for statistics too."
    low, high = (f"{each:,.{digits_of(done)}f}" for each in done.bounds)
    return (
        f"From the first survey, the mean is only known to lie between {low} and {high}, however many people report: "
        "answers with the same distribution of reports cannot be told apart."
    )


def _names(done: Survey) -> list[str]:
    """The largest shares."""
    low, high = bounds(done.estimate, CONFIDENCE)
    shares, truth = done.estimate.frequencies, done.outcome.answers
    top = np.argsort(-shares, kind="stable")[:TOP]
    held = int(((low <= truth) & (truth <= high))[top].sum())
    names = [str(value) for value in done.mechanism.domain.to_numpy().tolist()]
    drawn = shares_by_name(names, shares, low, high, sure=_SURE, truth=truth, most=TOP)
    learned = (
        f"The collector learns the share of each of {len(names)} cities. Of the intervals of the {TOP} largest, {held} "
        "contain the true share."
    )
    warning = (
        f"Each interval contains its true share in 95 of 100 surveys. The {TOP} largest estimates were also the "
        "luckiest, so they are too high more often than too low."
    )
    return [
        f"<h3>{html.escape(done.outcome.question.name.capitalize())}</h3>",
        f"<p class='said'>{learned}</p>",
        drawn,
        f"<p>{warning}</p>",
    ]
