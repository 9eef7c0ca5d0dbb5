"""Pictures of estimates: the kind that fits the domain, with what must be known about it written below."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.answers.estimation.intervals import FEW
from bipartite.answers.estimation.question import circle_of, line_of
from bipartite.answers.estimation.ranges import RANGES, reusable_bins, spans, splits
from bipartite.answers.estimation.rows import (
    MOST_NAMES,
    forging,
    has_intervals,
    insides,
    largest,
    ranges,
    share_intervals,
    value_intervals,
)
from bipartite.answers.estimation.wording import names_of, range_name, say_forging, share_words
from bipartite.domains.containers import open_values
from bipartite.errors import InputError, how_many
from bipartite.plots.figure import SIZE, WIDTH, axes, describe, is_alone, literal
from bipartite.plots.forest import forest, forest_size
from bipartite.plots.shares import Bars, DrawnShares, shares_by_name, shares_on_a_clock, shares_on_a_line, ticks_at
from bipartite.plots.whiskers import Mark, rows_within, say, shortened
from bipartite.texts import in_digits, percent, percent_mark

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from bipartite.answers.estimation.estimate import Estimate
    from bipartite.answers.estimation.intervals import ConfidenceInterval
    from bipartite.answers.estimation.ranges import Bins
    from bipartite.domains import Domain

    Array = NDArray[np.float64]

MOST_BARS: Final = 120
"""With more values than this, bars would run together: a curve is drawn, and ranges."""
UNNAMED: Final = "value"
"""The default name of values."""
_ARCS: Final = 8
_MOST_GROUPS: Final = 40
_MOST_VALUES: Final = 6  # whose shares are compared between groups
_FEW_RANGES: Final = 3
_MOST_STEPS: Final = 1_500  # of a curve: about two per pixel of width
_NEAR: Final = 1e-6  # of one: how far the sum of true shares may be off


@dataclass(frozen=True, slots=True)
class PictureOptions:
    """How a picture is to be drawn, and what its values are called."""

    ax: Axes | None = None
    confidence: float = 0.95
    bins: Bins | None = None
    title: str = ""
    label: str = UNNAMED
    unit: str = ""
    truth: object = None

    @property
    def axis(self) -> str:
        """The name of an axis of values."""
        return f"{self.label} ({self.unit})" if self.unit else self.label

    def of(self, what: str) -> str:
        """The label of a summary of the values, such as their mean, with the unit."""
        named = what if self.label == UNNAMED else f"{what} {self.label}"
        return f"{named} ({self.unit})" if self.unit else named

    @property
    def sure(self) -> str:
        """The name of the intervals."""
        return f"{100 * self.confidence:g} % interval"


def plot_estimate(estimate: Estimate, asked: PictureOptions) -> Axes:
    """Draw one estimate: bars or a curve on a line, a clock on a circle, otherwise the largest shares."""
    domain, notes = estimate.domain, _notes(estimate)
    truth = None if asked.truth is None else _true_shares(domain, asked.truth)
    if not domain.has_ranges:
        if asked.bins is not None:
            line_of(domain)
        return _plot_names(estimate, asked, truth, notes)
    drawn, words = _shares(estimate, asked, truth)
    names, size = names_of(domain) if domain.wraps else [], len(domain)
    with axes(asked.ax, (WIDTH, 4.7) if domain.wraps else SIZE, polar=domain.wraps) as ax:
        if domain.wraps:
            shares_on_a_clock(ax, drawn, names)
            notes = [f"around: {asked.axis}; outward: share of people at each value", *notes]
            ends, kind = (names[0], names[-1]), "cyclic values"
        else:
            shares_on_a_line(ax, drawn)
            ax.set(xlabel=literal(asked.axis), ylabel="share of people at each value")
            ticks_at(ax, domain.to_numpy(), whole=domain.whole)
            ends, kind = (say(float(domain.low)), say(float(domain.high))), "values"
        if drawn.curve is not None and drawn.curve is not estimate.shares:
            notes.append("the curve has averages of neighbouring values: there are more than can be seen")
        most, missing = int(estimate.shares.argmax()), int(drawn.guessed.sum())
        at = names[most] if domain.wraps else say(float(domain.decode(most)))
        says = (
            f"The estimated shares of {size:,} {kind}, from {ends[0]} to {ends[1]}; the largest, at {at}, is "
            f"{percent(float(estimate.shares[most]))}."
            + (f" {missing:,} shares are not identifiable." if missing else "")
            + "".join(f" {each}." for each in [*(mark.said for mark in drawn.marks), *words])
        )
        return describe(ax, says, title=asked.title, notes=notes)


def _shares(estimate: Estimate, asked: PictureOptions, truth: Array | None) -> tuple[DrawnShares, list[str]]:
    """What is drawn on a line or around a circle, and the shares of ranges in words."""
    domain, shares = estimate.domain, estimate.shares
    first, step = (0.0, 1.0) if domain.wraps else (float(domain.low), float(domain.step))
    edges: Array = first + (np.arange(len(domain) + 1, dtype=np.float64) - 0.5) * step
    marks = _marks(estimate, asked.confidence)
    sure = asked.sure if has_intervals(estimate) else ""
    guessed, curve = _indistinguishable(estimate), None
    words: list[str] = []
    if asked.bins is None and not insides(estimate)[1].bins_note and len(domain) <= MOST_BARS:
        bars = Bars(edges[:-1], edges[1:], shares, *share_intervals(estimate, asked.confidence))
    else:
        bins = reusable_bins((_ARCS if domain.wraps else RANGES) if asked.bins is None else asked.bins)
        cut = spans(domain, bins, insides(estimate)[0].found)
        starts, sizes = np.array(cut).T
        rows = np.full((3, len(cut)), math.nan)
        if sure:
            rows = np.array([(each.share, *each.interval) for each in ranges(estimate, bins, asked.confidence)]).T
        else:
            rows[0] = _averages(shares, cut) * sizes
        left = first + (starts - 0.5) * step
        bars = Bars(left, left + sizes * step, *rows / sizes)
        words = [f"{_span_name(domain, *span)}: {share_words(*row)}" for span, row in zip(cut, rows.T, strict=True)]
        if asked.bins is None:
            curve = shares if len(cut) < len(domain) else None
        elif truth is not None:  # nothing finer is drawn than was asked for
            truth = np.roll(np.repeat(_averages(truth, cut), sizes), cut[0][0])
    if len(bars.share) == len(domain):  # of what cannot be told apart, no interval is drawn
        bars = replace(bars, low=np.where(guessed, math.nan, bars.low), high=np.where(guessed, math.nan, bars.high))
    return DrawnShares(bars, sure, edges, guessed, _coarse(curve), _coarse(truth), marks), words


def _averages(shares: Array, cut: list[tuple[int, int]]) -> Array:
    """The average share of the values of each range."""
    return np.array([shares.take(range(start, start + size), mode="wrap").mean() for start, size in cut])


def _coarse(shares: Array | None) -> Array | None:
    """The shares with neighbours averaged, where they have more steps than can be seen."""
    if shares is None or np.count_nonzero(np.diff(shares)) < _MOST_STEPS:
        return shares
    starts = np.arange(0, len(shares), -(-len(shares) // _MOST_STEPS))
    sizes = np.diff(np.append(starts, len(shares)))
    return np.repeat(np.add.reduceat(shares, starts) / sizes, sizes)


def _plot_names(estimate: Estimate, asked: PictureOptions, truth: Array | None, notes: list[str]) -> Axes:
    """The largest shares, one row a name."""
    rows = min(MOST_NAMES, len(estimate.shares))
    with axes(asked.ax, (WIDTH, 0.9 + 0.19 * rows)) as ax:
        most = largest(estimate.shares, rows if is_alone(ax) else min(rows, rows_within(ax)))
        low, high = (end[most] for end in value_intervals(estimate, most, asked.confidence))
        share, guessed = estimate.shares[most], _indistinguishable(estimate)[most] | np.isinf(high - low)
        every = names_of(estimate.domain)
        names, words = [every[at] for at in most], [share_words(*each) for each in zip(share, low, high, strict=True)]
        if len(rest := np.delete(estimate.shares, most)):
            notes = [f"{len(rest):,} smaller shares are left out, together {percent(float(rest.sum()))}", *notes]
        shown = None if truth is None else truth[most]
        shares_by_name(ax, names, (share, low, high), sure=asked.sure, guessed=guessed, words=words, truth=shown)
        ax.set_xlabel("share of people" if asked.label == UNNAMED else literal(f"share of people, by {asked.axis}"))
        says = "Estimated shares: " + "; ".join(f"{name} {said}" for name, said in zip(names, words, strict=True))
        return describe(ax, says, title=asked.title, notes=notes)


def plot_groups(groups: Mapping[Any, Estimate], asked: PictureOptions) -> Axes:
    """Draw groups below each other: means and medians, or shares of ranges or of the most common values."""
    if asked.truth is not None:
        raise InputError("truth is drawn for one estimate; plot each group alone, ests['north'].plot(truth=…).")
    shown = dict(list(groups.items())[:_MOST_GROUPS])
    domain = next(iter(shown.values())).domain
    write: Callable[[float], str] = percent_mark
    label = "share of people"
    notes = [f"{asked.sure}s"]
    if asked.bins is not None:
        sections = _range_sections(shown, asked)
    elif domain.has_ends:
        # The heading says which of the two it is.
        pairs = [
            [mark._replace(name=str(name)) for mark in _marks(each, asked.confidence)] for name, each in shown.items()
        ]
        sections = [(asked.of(kind), [pair[at] for pair in pairs]) for at, kind in enumerate(("mean", "median"))]
        write, label = say, asked.axis
    else:
        total = np.sum([each.nobs * each.shares for each in groups.values()], axis=0)
        most, names = largest(total, _MOST_VALUES), names_of(domain)
        sections = [
            (f"share of {shortened(names[at])}", [_value_row(name, each, at, asked) for name, each in shown.items()])
            for at in most
        ]
        notes += [f"{len(domain) - len(most):,} less common values are left out"] * (len(domain) > len(most))
    notes += [f"{len(groups) - len(shown):,} more groups are left out"] * (len(groups) > len(shown))
    with axes(asked.ax, forest_size(sections)) as ax:
        said = forest(ax, sections, label, write)
        return describe(ax, said, title=asked.title, notes=["; ".join(notes)])


def _true_shares(domain: Domain, truth: object) -> Array:
    """The true share of each value: from people's values, or from a mapping of values to shares."""
    if isinstance(truth, Mapping):
        shares = np.zeros(len(domain))
        for value, share in truth.items():
            shares[domain.encode(value)] += share
        if not (shares >= 0).all() or abs(shares.sum() - 1) > _NEAR:
            raise InputError(
                f"Expected truth as shares that sum to 1, got {shares.sum():.6g}; or pass people's values, one each."
            )
        return shares
    batch = open_values(truth, "error", domain)
    if not len(batch.values):
        raise InputError("Expected truth as people's values, or as a mapping of values to shares, got none of either.")
    indices = domain.index_array(batch.values)
    if indices is None:
        raise domain.explain(batch.values, "error", batch.place)
    return np.bincount(indices, minlength=len(domain)) / len(indices)


def _span_name(domain: Domain, start: int, size: int) -> str:
    """The name of a range, which may pass the last value of a circle."""
    ends = [domain[start], domain[(start + size - 1) % len(domain)]]
    if domain.has_ends:
        return range_name(domain, *map(float, ends))
    names = names_of(domain)
    return names[start] if size == 1 else f"{names[start]} to {names[(start + size - 1) % len(domain)]}"


def _range_sections(groups: Mapping[Any, Estimate], asked: PictureOptions) -> list[tuple[str, list[Mark]]]:
    """One section for each range, with the share in each group."""
    bins = reusable_bins(() if asked.bins is None else asked.bins)
    first = next(iter(groups.values()))
    found = {name: ranges(each, bins, asked.confidence) for name, each in groups.items()}
    unit = f" {asked.unit}" if asked.unit else ""
    sections = []
    for at, span in enumerate(spans(first.domain, bins, insides(first)[0].found)):
        named = f"{_span_name(first.domain, *span)}{unit}"
        rows = []
        for name, each in groups.items():
            known = has_intervals(each) and not splits(insides(each)[0].found, span)
            rows.append(_share_mark(name, found[name][at].share, found[name][at].interval, known=known))
        heading = f"share of {named}" if asked.label == UNNAMED else f"share with {asked.label} {named}"
        sections.append((heading, rows))
    return sections


def _indistinguishable(estimate: Estimate) -> NDArray[np.bool_]:
    """Which values the reports cannot tell apart from others, so that their single shares are guesses."""
    found = insides(estimate)[0].found
    if found is None:
        return np.zeros(len(estimate.shares), dtype=bool)
    if not found.groups_identifiable:
        return np.ones(len(found.group_of), dtype=bool)
    return (np.bincount(found.group_of) > 1)[found.group_of]


def _marks(estimate: Estimate, confidence: float) -> list[Mark]:
    """The mean and the median; around a circle the mean direction, from the first value, and the resultant length."""
    domain, found = estimate.domain, []
    for kind in ("circular_mean", "resultant_length") if domain.wraps else ("mean", "median"):
        answer, name = estimate.ask(kind), kind.replace("_", " ")
        value, interval = answer.value, answer.ci(confidence)
        known, first = kind != "mean" or not math.isinf(answer.se), 0
        words = _in_words(value, interval, known=known)
        if kind == "circular_mean":
            known, first = interval.high - interval.low < len(domain), circle_of(domain).start
            words = words if known else "the direction is not determined"
        found.append(Mark(name, value - first, interval.low - first, interval.high - first, words, known))
    return found


def _value_row(label: object, estimate: Estimate, at: int, asked: PictureOptions) -> Mark:
    interval = estimate.ask(("bin", estimate.domain.decode(at))).ci(asked.confidence)
    known = has_intervals(estimate) and not _indistinguishable(estimate)[at]
    return _share_mark(label, float(estimate.shares[at]), interval, known=known)


def _share_mark(label: object, share: float, interval: ConfidenceInterval, *, known: bool) -> Mark:
    low, high = interval
    words = share_words(share, low, high) if known else f"{percent_mark(low)} to {percent_mark(high)}: no more is known"
    return Mark(str(label), share, low, high, words, known)


def _in_words(value: float, interval: ConfidenceInterval, *, known: bool) -> str:
    number, low, high = (each.replace("-", "−") for each in in_digits(value, *interval))
    return f"{number}, {low} to {high}" if known else f"no more is known than {low} to {high}"


def _notes(estimate: Estimate) -> list[str]:
    """The notes below the picture."""
    source, histogram = insides(estimate)
    found, whose = source.found, "the population they were sampled from"
    notes = [f"{how_many(estimate.nobs, 'report')}; intervals for {whose}; histogram method {estimate.method!r}"]
    if source.effective < FEW:
        notes.append("few reports: intervals of shares are wider than by the normal law")
    if not has_intervals(estimate):
        notes.append(f"without intervals of shares: {histogram.bins_note}")
    if found is not None and not found.identifiable:
        groups = found.groups if estimate.domain.has_ends else []
        which = [f"{say(values[0])} to {say(values[-1])}" for values in groups[:_FEW_RANGES]]
        more = f": {', '.join(which)}{'…' * (len(groups) > _FEW_RANGES)}" if which else ""
        notes.append(f"the reports cannot tell some values apart, however many there are{more}")
    # The full reason is too long for a picture; it is in the text.
    notes += [each for each in (say_forging(forging(estimate)), estimate.check.doubt.split(":")[0]) if each]
    return notes
