"""Plots of estimates: the kind of plot for each domain, and its labels and notes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.answers.estimation.intervals import FEW
from bipartite.answers.estimation.question import circle_of, line_of
from bipartite.answers.estimation.ranges import RANGES, reusable_bins, spans, splits
from bipartite.answers.estimation.rows import (
    Forging,
    forging,
    has_intervals,
    insides,
    largest,
    ranges,
    share_intervals,
    single_intervals,
    value_intervals,
)
from bipartite.errors import how_many
from bipartite.plots import Band, Mark, forest, histogram, save, shares_by_name, shares_on_a_clock
from bipartite.plots.shares import MOST_NAMES, share_words, shortened
from bipartite.plots.svg import percent, percent_mark, titled
from bipartite.texts import escaped, in_digits

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from bipartite.answers.estimation.estimate import Estimate
    from bipartite.answers.estimation.intervals import ConfidenceInterval
    from bipartite.answers.estimation.ranges import Bins
    from bipartite.domains import Domain
    from bipartite.plots import Picture

    Array = NDArray[np.float64]

_MOST_GROUPS: Final = 40
_ARCS: Final = 8
UNNAMED: Final = "value"
"""The default name of values."""
_MOST_VALUES: Final = 6  # whose shares are compared between groups
_FEW_RANGES: Final = 3
_MOST_COMMON: Final = 3  # values named in the summary
_MOST_POINTS: Final = 1_500  # of a line: about two per pixel of width


@dataclass(frozen=True, slots=True)
class Naming:
    """The title of a plot, the name of its values, and their unit."""

    title: str = ""
    label: str = UNNAMED
    unit: str = ""

    @property
    def axis(self) -> str:
        """The name of an axis of values."""
        return f"{self.label} ({self.unit})" if self.unit else self.label

    def of(self, what: str) -> str:
        """The label of a summary of the values, such as their mean, with the unit."""
        named = what if self.label == UNNAMED else f"{what} {self.label}"
        return f"{named} ({self.unit})" if self.unit else named


def plot_estimate(
    estimate: Estimate, confidence: float, file: str | Path | None, bins: Bins | None, naming: Naming
) -> Picture:
    """Plot one estimate: a histogram or a curve on a line, a clock on a circle, otherwise bars."""
    domain = estimate.domain
    if bins is not None and not domain.wraps:
        line_of(domain)
    sure = f"{100 * confidence:g} %" if has_intervals(estimate) else ""
    notes = _notes(estimate)
    if domain.has_ends:
        bins = None if bins is None else reusable_bins(bins)
        low, high, bands = _line_intervals(estimate, confidence, bins)
        shares = estimate.shares
        if bands:
            notes.append("the numbers above are the shares of whole ranges")
        if bands and bins is not None:  # nothing finer is drawn than was asked for
            sizes = [size for _, size in spans(domain, bins, insides(estimate)[0].found)]
            shares = np.repeat([each.value for each in bands], sizes)
            low, high = (np.where(np.isfinite(end), shares, end) for end in (low, high))
        steps = len(domain) if bands is None else 1 + np.count_nonzero(np.diff(shares))
        every = slice(None, None, -(-steps // _MOST_POINTS))
        if every.step > 1:
            notes.append(f"one in {every.step:,} values is plotted")
        picture = histogram(
            domain.to_numpy()[every],
            shares[every],
            low[every],
            high[every],
            label=naming.axis,
            say=say,
            sure=sure,
            marks=marks(estimate, confidence),
            notes=notes,
            bands=bands,
        )
    elif domain.wraps:
        picture = _plot_on_a_clock(estimate, confidence, sure, notes, bins, naming)
    else:
        ends = value_intervals(estimate, largest(estimate.shares, MOST_NAMES), confidence)
        label = "" if naming.label == UNNAMED else naming.axis
        guessed = _indistinguishable(estimate)
        picture = shares_by_name(
            names_of(domain), estimate.shares, *ends, sure=sure, label=label, guessed=guessed, notes=notes
        )
    return _save_if_asked(titled(picture, naming.title), file)


def _plot_on_a_clock(
    estimate: Estimate, confidence: float, sure: str, notes: list[str], bins: Bins | None, naming: Naming
) -> Picture:
    names, shares = names_of(estimate.domain), estimate.shares
    intervals: tuple[Array, Array] | list[Band] = share_intervals(estimate, confidence)
    if (insides(estimate)[1].bins_note or bins is not None) and sure:
        intervals = _bands(estimate, confidence, _ARCS if bins is None else bins)
    marks, guessed = _circular_marks(estimate, confidence), _indistinguishable(estimate)
    notes = [f"around: {naming.axis}; outward: share of people at each value", *notes]
    return shares_on_a_clock(names, shares, intervals, sure=sure, marks=marks, guessed=guessed, notes=notes)


def _circular_marks(estimate: Estimate, confidence: float) -> list[Mark]:
    """The circular mean, relative to the first value, and the resultant length, with their intervals."""
    domain = circle_of(estimate.domain)
    found = []
    for kind in ("circular_mean", "resultant_length"):
        answer, name = estimate.ask(kind), kind.replace("_", " ")
        value, interval = answer.value, answer.ci(confidence)
        known = kind != "circular_mean" or interval.high - interval.low < len(domain)
        words = _in_words(name, value, interval) if known else "the direction is not determined"
        first = domain.start if kind == "circular_mean" else 0
        found.append(Mark(name, value - first, interval.low - first, interval.high - first, words, known))
    return found


def _line_intervals(estimate: Estimate, confidence: float, bins: Bins | None) -> tuple[Array, Array, list[Band] | None]:
    """(low, high, bands) of the shares: bands of public ranges for a curve; infinite for indistinguishable values."""
    if not insides(estimate)[1].bins_note and bins is None:
        return *share_intervals(estimate, confidence), None
    each_end = np.where(_indistinguishable(estimate), math.inf, estimate.shares)
    if not has_intervals(estimate):
        return each_end, each_end, []
    return each_end, each_end, _bands(estimate, confidence, RANGES if bins is None else bins)


def _bands(estimate: Estimate, confidence: float, bins: Bins) -> list[Band]:
    """The intervals of public ranges or, on a circle, of arcs, whose positions are relative to the first value."""
    domain = estimate.domain
    circle = domain.wraps
    values = domain.numbers.to_numpy()
    step, names = float(values[1] - values[0]), names_of(domain) if circle else []
    bands = []
    for each in ranges(estimate, bins, confidence):
        # An arc may continue past the last value.
        size = round((each.last - each.first) / step) % len(domain) + 1
        first, last = each.first - values[0], each.last - values[0]
        name = f"{names[int(first)]} to {names[int(last)]}" if circle else range_name(domain, each.first, each.last)
        words = f"{name}: {share_words(each.share, *each.interval)}"
        left, right = (first, first + size - 1) if circle else (each.first, each.last)
        low, high, share = (number / size for number in (*each.interval, each.share))
        bands.append(Band(left - step / 2, right + step / 2, low, high, share, percent(each.share), words))
    return bands


def plot_groups(
    groups: Mapping[Any, Estimate], confidence: float, file: str | Path | None, bins: Bins | None, naming: Naming
) -> Picture:
    """Plot groups below each other: means and medians, or shares of ranges or of the most common values."""
    shown = dict(list(groups.items())[:_MOST_GROUPS])
    first = next(iter(shown.values()))
    domain = first.domain
    sure = f"{100 * confidence:g} %"
    write: Callable[[float], str] = say
    left_out = ""
    if bins is not None:
        sections, write = _range_sections(shown, confidence, bins, naming), percent_mark
    elif domain.has_ends:
        pairs = {label: marks(each, confidence) for label, each in shown.items()}
        sections = [
            (
                f"{naming.of(name)} of each group, with its {sure} interval",
                [_row(label, pair[at]) for label, pair in pairs.items()],
            )
            for at, name in enumerate(("mean", "median"))
        ]
    else:
        total = np.sum([each.nobs * each.shares for each in groups.values()], axis=0)
        most = np.argsort(-total, kind="stable")[:_MOST_VALUES].tolist()
        names = names_of(domain)
        sections = [
            (
                f"share of {shortened(names[at])} in each group, with its {sure} interval",
                [_share_row(label, each, at, confidence) for label, each in shown.items()],
            )
            for at in most
        ]
        left = len(domain) - len(most)
        left_out, write = f"{left:,} less common values are left out" if left else "", percent_mark
    hidden = len(groups) - len(shown)
    notes = [left_out, f"{hidden:,} more groups are left out" if hidden else ""]
    picture = forest(sections, write, "; ".join(note for note in notes if note))
    return _save_if_asked(titled(picture, naming.title), file)


def _range_sections(
    groups: Mapping[Any, Estimate], confidence: float, bins: Bins, naming: Naming
) -> list[tuple[str, list[Mark]]]:
    """One section for each range, with the share in each group."""
    bins = reusable_bins(bins)
    first = next(iter(groups.values()))
    cut = spans(first.domain, bins, insides(first)[0].found)
    names, found = names_of(first.domain), {label: ranges(each, bins, confidence) for label, each in groups.items()}
    size, unit = len(names), f" {naming.unit}" if naming.unit else ""
    sections = []
    for at, (start, count) in enumerate(cut):
        ends = names[start], names[(start + count - 1) % size]
        named = f"{ends[0]} to {ends[1]}" if count > 1 else ends[0]
        if first.domain.has_ends:
            span = next(iter(found.values()))[at]
            named = range_name(first.domain, span.first, span.last)
        what = f"of {named}{unit}" if naming.label == UNNAMED else f"with {naming.label} {named}{unit}"
        rows = []
        for label, each in groups.items():
            share, (low, high) = found[label][at].share, found[label][at].interval
            known = has_intervals(each) and not splits(insides(each)[0].found, (start, count))
            rows.append(_share_mark(label, share, low, high, known=known))
        sections.append((f"share {what} in each group, with its {100 * confidence:g} % interval", rows))
    return sections


def most_common(estimate: Estimate, confidence: float) -> str:
    """The largest shares in words, with their intervals."""
    most, shares = largest(estimate.shares, _MOST_COMMON), estimate.shares
    names, (low, high) = names_of(estimate.domain), single_intervals(estimate, most, confidence)
    return ", ".join(f"{names[at]}: {share_words(shares[at], low[at], high[at])}" for at in most)


def _indistinguishable(estimate: Estimate) -> NDArray[np.bool_]:
    """Which values the reports cannot tell apart from others, so that their single shares are guesses."""
    found = insides(estimate)[0].found
    if found is None:
        return np.zeros(len(estimate.shares), dtype=bool)
    if not found.groups_identifiable:
        return np.ones(len(found.group_of), dtype=bool)
    return (np.bincount(found.group_of) > 1)[found.group_of]


def marks(estimate: Estimate, confidence: float) -> list[Mark]:
    """The mean and the median with their intervals."""
    found = []
    for name in ("mean", "median"):
        answer = estimate.ask(name)
        value, interval = answer.value, answer.ci(confidence)
        known = name == "median" or not math.isinf(answer.se)
        found.append(Mark(name, value, *interval, words=_in_words(name, value, interval, known=known), known=known))
    return found


def names_of(domain: Domain) -> list[str]:
    """The names of the values; row numbers if they have none."""
    unnamed = domain.labels is None and domain.by_row
    return [f"row {value}" if unnamed else escaped(value) for value in domain.to_numpy().tolist()]


def range_name(domain: Domain, first: Any, last: Any) -> str:  # noqa: ANN401 (numbers, or labels of a circle)
    """The name of a range: its ends, numbers with up to six digits; on an interval it ends where the next begins."""
    if domain.has_ends and not domain.whole and last < domain.high:
        last += domain.step
    one, other = (end if isinstance(end, str) else say(end) for end in (first, last))
    return one if one == other else f"{one} to {other}"


def say(value: float) -> str:
    """Format a number on an axis."""
    return f"{value:,.6g}".replace("-", "−")


def _row(label: object, mark: Mark) -> Mark:
    words = mark.words.removeprefix(mark.name).removeprefix(":").strip()
    return Mark(str(label), mark.value, mark.low, mark.high, words, mark.known)


def _share_row(label: object, estimate: Estimate, at: int, confidence: float) -> Mark:
    value = estimate.domain.decode(at)
    share, (low, high) = float(estimate.shares[at]), estimate.ask(("bin", value)).ci(confidence)
    known = has_intervals(estimate) and not _indistinguishable(estimate)[at]
    return _share_mark(label, share, low, high, known=known)


def _share_mark(label: object, share: float, low: float, high: float, *, known: bool) -> Mark:
    words = (
        share_words(share, low, high) if known else f"no more is known than {percent_mark(low)} to {percent_mark(high)}"
    )
    return Mark(str(label), share, low, high, words, known)


def _in_words(name: str, value: float, interval: ConfidenceInterval, *, known: bool = True) -> str:
    number, low, high = (each.replace("-", "−") for each in in_digits(value, *interval))
    return f"{name} {number}, {low} to {high}" if known else f"{name}: no more is known than {low} to {high}"


def say_forging(found: Forging | None) -> str:
    """What forged reports could do, in words; empty if nothing is known."""
    if found is None:
        return ""
    some, most = how_many(found.reports, "forged report"), "" if found.exact else "at most "
    scale, unit = (1, "") if found.of == "the mean" else (100, " percentage points")
    far = scale * max(found.high - found.value, found.value - found.low)
    # Two significant digits, without an exponent.
    return f"{some} could move {found.of} by {most}{float(f'{far:.2g}'):,g}{unit}"


def _notes(estimate: Estimate) -> list[str]:
    """The notes below the plot."""
    source, histogram = insides(estimate)
    found, whose = source.found, "the population they were sampled from"
    notes = [f"{how_many(estimate.nobs, 'report')}; intervals for {whose}; histogram method {estimate.method!r}"]
    if source.effective < FEW:
        notes.append("few reports: intervals of shares are wider than by the normal law")
    if not has_intervals(estimate):
        notes.append(f"without intervals of shares: {histogram.bins_note}")
    if found is not None and not found.identifiable:
        groups = found.groups
        line = estimate.domain.has_ends
        ranges = [f"{say(values[0])} to {say(values[-1])}" for values in groups[:_FEW_RANGES]] if line else []
        more = "…" if len(groups) > _FEW_RANGES else ""
        which = f": {', '.join(ranges)}{more}" if ranges else ""
        notes.append(f"the reports cannot tell some values apart, however many there are{which}")
    # The full reason is too long for a plot; it is in the text.
    notes += [each for each in (say_forging(forging(estimate)), estimate.check.doubt.split(":")[0]) if each]
    return notes


def _save_if_asked(picture: Picture, file: str | Path | None) -> Picture:
    if file is not None:
        save(picture, file)
    return picture
