"""Estimates as pictures: which one, and what is written beside it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.domains import LineDomain
from bipartite.plots import Mark, Row, forest, histogram, shares_by_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from bipartite.domains import Domain
    from bipartite.estimation.answers import Estimate
    from bipartite.estimation.intervals import Interval
    from bipartite.plots import Picture

    Array = NDArray[np.float64]

_MOST_GROUPS: Final = 40
_MOST_VALUES: Final = 6  # that groups are compared by
_FEW_RANGES: Final = 3


def drawn(
    estimate: Estimate, bounds: tuple[Array, Array], confidence: float, file: str | Path | None = None
) -> Picture:
    """One estimate: a histogram on a line, bars elsewhere."""
    domain = estimate.mechanism.domain
    low, high = bounds
    if estimate.method != "inverse":
        # Only unbiased shares can lie below zero, and only beside them does an interval that does make sense.
        known = np.isfinite(low)
        low, high = np.where(known, np.clip(low, 0, 1), low), np.where(known, np.clip(high, 0, 1), high)
    sure = f"{100 * confidence:g} %"
    if isinstance(domain, LineDomain) and len(domain) > 1:
        picture = histogram(
            domain.to_numpy(),
            estimate.frequencies,
            low,
            high,
            label="value",
            say=say,
            sure=sure,
            marks=marks(estimate, confidence),
            notes=_notes(estimate),
        )
    else:
        picture = shares_by_name(names_of(domain), estimate.frequencies, low, high, sure=sure, notes=_notes(estimate))
    return _written(picture, file)


def drawn_groups(groups: Mapping[Any, Estimate], confidence: float, file: str | Path | None = None) -> Picture:
    """Groups below each other: their means and medians, or their shares of the most common values."""
    shown = dict(list(groups.items())[:_MOST_GROUPS])
    first = next(iter(shown.values()))
    domain = first.mechanism.domain
    sure = f"{100 * confidence:g} %"
    if isinstance(domain, LineDomain):
        pairs = {label: marks(each, confidence) for label, each in shown.items()}
        sections = [
            (f"{name} of each group, with its {sure} interval", [_row(label, pair[at]) for label, pair in pairs.items()])
            for at, name in enumerate(("mean", "median"))
        ]
        left_out, write = "", say
    else:
        total = np.sum([each.people * each.frequencies for each in groups.values()], axis=0)
        most = np.argsort(-total, kind="stable")[:_MOST_VALUES].tolist()
        names = names_of(domain)
        sections = [
            (
                f"share of {names[at]} in each group, with its {sure} interval",
                [_share_row(label, each, at, confidence) for label, each in shown.items()],
            )
            for at in most
        ]
        left = len(domain) - len(most)
        left_out, write = f"{left:,} less common values are left out" if left else "", _percent
    hidden = len(groups) - len(shown)
    notes = [left_out, f"{hidden:,} more groups are left out" if hidden else ""]
    return _written(forest(sections, write, "; ".join(note for note in notes if note)), file)


def marks(estimate: Estimate, confidence: float) -> list[Mark]:
    """The mean and the median with their intervals."""
    unsure = math.isinf(estimate.standard_error("mean"))
    found = []
    for name, value in (("mean", estimate.mean), ("median", estimate.median)):
        interval = estimate.interval(confidence, of=name)
        known = name == "median" or not unsure
        found.append(Mark(name, value, *interval, words=_words(name, value, interval, known=known), known=known))
    return found


def names_of(domain: Domain) -> list[str]:
    """What the values are called; where they have no names, their numbers."""
    return [str(value) for value in domain.to_numpy().tolist()]


def say(value: float) -> str:
    """A number of the axis."""
    return f"{value:,.6g}".replace("-", "−")


def _row(label: Any, mark: Mark) -> Row:  # noqa: ANN401
    words = mark.words.removeprefix(mark.name).removeprefix(":").strip()
    return Row(str(label), mark.value, mark.low, mark.high, words, mark.known)


def _share_row(label: Any, estimate: Estimate, at: int, confidence: float) -> Row:  # noqa: ANN401
    interval = estimate.interval(confidence, of=("bin", estimate.mechanism.domain.decode(at)))
    share = float(estimate.frequencies[at])
    known = math.isfinite(estimate.standard_errors[at])
    words = f"{_percent(share)}, {_percent(interval.low)} to {_percent(interval.high)}" if known else "cannot be known"
    return Row(str(label), share, *interval, words=words, known=known)


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %".replace("-", "−")


def _words(name: str, value: float, interval: Interval, *, known: bool) -> str:
    """A number and its interval, in as many digits as mean something."""
    width = interval.high - interval.low
    digits = min(max(1 - math.floor(math.log10(width)), 0), 6) if width > 0 else None
    value, low, high = (say(each) if digits is None else _rounded(each, digits) for each in (value, *interval))
    return f"{name} {value}, {low} to {high}" if known else f"{name}: no more is known than {low} to {high}"


def _rounded(value: float, digits: int) -> str:
    written = f"{value:,.{digits}f}"
    return (written.rstrip("0").rstrip(".") if "." in written else written).replace("-", "−")


def _notes(estimate: Estimate) -> list[str]:
    """What to know about the picture."""
    whose = "these people" if estimate.of_sample else "the population"
    found = estimate.identifiability
    notes = [f"{estimate.people:,} reports, about {whose}; histogram by {estimate.method!r}"]
    if found is not None and not found.identifiable:
        groups = found.groups
        ranges = ", ".join(f"{values[0]}–{values[-1]}" for values in groups[:_FEW_RANGES])
        more = "…" if len(groups) > _FEW_RANGES else ""
        line = isinstance(estimate.mechanism.domain, LineDomain)
        which = f": {ranges}{more}" if line and groups else ""
        notes.append(f"the reports cannot tell some values apart, however many come{which}")
    return notes


def _written(picture: Picture, file: str | Path | None) -> Picture:
    if file is not None:
        Path(file).write_text(picture + "\n", encoding="utf-8")
    return picture
