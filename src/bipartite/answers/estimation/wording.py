"""Estimates as text: the answers of one estimate, and a table of shares, with several groups side by side."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.answers.estimation.ranges import RANGES, reusable_bins, spans, splits
from bipartite.answers.estimation.rows import (
    finite,
    forging,
    has_intervals,
    insides,
    largest,
    range_rows,
    single_intervals,
    value_intervals,
)
from bipartite.errors import how_many
from bipartite.plots.whiskers import say
from bipartite.texts import Table, escaped, in_digits, percent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bipartite.answers.estimation.estimate import Estimate
    from bipartite.answers.estimation.ranges import Bins
    from bipartite.answers.estimation.rows import Forging
    from bipartite.domains import Domain

    Share = tuple[float, float | None, float | None]

_FEW_VALUES: Final = 20
_LARGEST: Final = 10
_MOST_COMMON: Final = 3  # values named in the summary
_SIDE_BY_SIDE: Final = 4  # groups per table; more groups go into further tables below
_SCOPE: Final = "intervals are for the population that these people are a random sample of"


def answers_in_words(estimate: Estimate, confidence: float) -> list[str]:
    """The mean and the median, or the answers that the domain has instead; the method; and cautions."""
    return [
        f"{how_many(estimate.nobs, 'report')} of {estimate.mechanism!r}; {_SCOPE}",
        *_answers(estimate, confidence),
        f"  histogram by {estimate.method!r}: {insides(estimate)[1].reason}",
        *_cautions(estimate),
    ]


def answers_of_groups(groups: Mapping[Any, Estimate], confidence: float) -> list[str]:
    """The same for each group; what all groups have in common is stated once."""
    one = next(iter(groups.values()))
    reports = how_many(sum(each.nobs for each in groups.values()), "report")
    lines = [f"{reports} of {one.mechanism!r} in {how_many(len(groups), 'group')}; {_SCOPE}"]
    for label, each in groups.items():
        lines += [f"{escaped(label)}: {how_many(each.nobs, 'report')}", *_answers(each, confidence), *_cautions(each)]
    # What follows the semicolon, the amount of smoothing, differs between groups.
    whys = dict.fromkeys(f"{each.method!r}: {insides(each)[1].reason.partition(';')[0]}" for each in groups.values())
    return [*lines, *(f"histogram by {why}" for why in whys)]


def _answers(estimate: Estimate, confidence: float) -> list[str]:
    doubt, domain = estimate.check.doubt, estimate.domain
    lines = [f"  {doubt}"] if doubt else []
    if not domain.has_ends and not domain.wraps:
        return [*lines, f"  most common  {most_common(estimate, confidence)}"]
    asked = ("mean", "median") if domain.has_ends else ("circular_mean", "resultant_length")
    for of in asked:
        answer = estimate.ask(of)
        held = answer.ci(confidence)
        name = of.replace("_", " ").ljust(max(map(len, asked)))
        lines.append(f"  {name}  {in_digits(answer.value, *held)[0]}, {held.written(answer.value)}")
    return lines


def _cautions(estimate: Estimate) -> list[str]:
    lines = [f"  {line}" for line in [say_forging(forging(estimate))] if line]
    source, histogram = insides(estimate)
    if source.found is not None and not source.found.identifiable:
        lines.append(f"  not identifiable: {source.found}")
        if estimate.domain.has_ends and getattr(estimate.mechanism, "edges", "") == "clamped":
            lines.append("  clamped reports are for single values; for statistics collect with edges='padded'")
    fit = histogram.fit
    if fit is not None and not fit.converged:
        lines.append(f"  ended up to {fit.gap:.2g} nats below the most likely distribution: take it with care")
    return lines


@dataclass(frozen=True, slots=True)
class Shares:
    """The shares shown in a table, with a column for each group."""

    what: str
    """What the rows are: values or ranges."""
    names: list[str]
    groups: dict[Any, list[Share]]
    """By group, or under None for all people: (share, low, high) of each row; None without an interval."""
    heading: str = ""
    notes: tuple[str, ...] = ()


def shares_shown(groups: Mapping[Any, Estimate], confidence: float, bins: Bins | None) -> Shares:
    """The shares of public ranges, of all values if they are few, or the largest shares otherwise."""
    bins = None if bins is None else reusable_bins(bins)
    if bins is not None or shows_ranges(groups):
        return _range_shares(groups, confidence, RANGES if bins is None else bins)
    return _value_shares(groups, confidence)


def shows_ranges(groups: Mapping[Any, Estimate]) -> bool:
    """Whether ranges are shown unless something else is asked for: of many values, or where a curve was fitted."""
    domain = next(iter(groups.values())).domain
    fitted = (insides(each)[1].bins_note for each in groups.values())
    return domain.has_ranges and (len(domain) > _FEW_VALUES or any(fitted))


def share_table(groups: Mapping[Any, Estimate], confidence: float, bins: Bins | None) -> list[str]:
    """The same as lines of text, with a few groups side by side in each table."""
    found = shares_shown(groups, confidence, bins)
    sure = f"{100 * confidence:g} % interval"
    lines = [f"  {found.heading}"] if found.heading else []
    if list(groups) == [None]:
        pairs = zip(found.names, found.groups[None], strict=True)
        rows = [(f"  {name}", *in_percent(share)) for name, share in pairs]
        lines.append(Table([(f"  {found.what}", "share", sure), *rows]))
    else:
        lines.append(f"  share in each group ({sure})")
        for first in range(0, len(found.groups), _SIDE_BY_SIDE):
            labels = list(found.groups)[first : first + _SIDE_BY_SIDE]
            cells = [["{} ({})".format(*in_percent(share)) for share in found.groups[label]] for label in labels]
            rows = [(f"  {name}", *row) for name, *row in zip(found.names, *cells, strict=True)]
            lines.append(Table([(f"  {found.what}", *map(str, labels)), *rows]))
    return lines + [f"  {note}" for note in found.notes]


def _range_shares(groups: Mapping[Any, Estimate], confidence: float, bins: Bins) -> Shares:
    found = {label: range_rows(each, confidence, bins) for label, each in groups.items()}
    one = next(iter(groups.values()))
    names = [range_name(one.domain, row[0], row[1]) for row in next(iter(found.values()))]
    shares: dict[Any, list[Share]] = {label: [row[2:] for row in rows] for label, rows in found.items()}
    notes, known = [], insides(one)[0].found
    if any(splits(known, span) for span in spans(one.domain, bins, known)):
        notes.append(
            "the share of a range that separates values which the reports cannot tell apart is a guess within its "
            "interval"
        )
    if any(not 0 <= share <= 1 for rows in shares.values() for share, _, _ in rows):
        notes.append("unbiased shares may lie below 0 % or above 100 % by chance")
    notes += dict.fromkeys(insides(each)[1].bins_note for each in groups.values() if not has_intervals(each))
    return Shares("range", names, shares, notes=tuple(notes))


def _value_shares(groups: Mapping[Any, Estimate], confidence: float) -> Shares:
    domain = next(iter(groups.values())).domain
    size, heading = len(domain), ""
    order = list(range(size))
    if size > _FEW_VALUES:
        order = largest(np.sum([each.nobs * each.shares for each in groups.values()], axis=0), _LARGEST)
        heading = f"the {_LARGEST} largest of {size:,} shares"
    names = names_of(domain)
    shares: dict[Any, list[Share]] = {}
    for label, each in groups.items():
        low, high = value_intervals(each, order, confidence)
        shares[label] = [(float(each.shares[at]), finite(low[at]), finite(high[at])) for at in order]
    notes = impossible_notes([share for rows in shares.values() for share in rows])
    return Shares("value", [names[at] for at in order], shares, heading, tuple(notes))


def impossible_notes(shares: Sequence[Share]) -> list[str]:
    """Why some of these shares, or their intervals, are none that a population can have."""
    notes = []
    if any(not 0 <= share <= 1 for share, _, _ in shares):
        notes.append("unbiased shares may lie below 0 % or above 100 % by chance")
    if any(low is not None and high is not None and (high < 0 or low > 1) for _, low, high in shares):
        notes.append(
            "an interval that lies wholly outside 0 % to 100 % is left as it is: the estimate is unbiased, and the "
            "sample was unlucky"
        )
    return notes


def in_percent(share: Share) -> tuple[str, str]:
    """A share, and its interval if there is one, in percent."""
    value, low, high = share
    if low is None or high is None:
        return f"{100 * value:z.2g}%", "none"
    number, first, last = in_digits(100 * value, 100 * low, 100 * high)
    return f"{number}%", f"{first}% to {last}%"


def most_common(estimate: Estimate, confidence: float) -> str:
    """The largest shares in words, with their intervals."""
    most, shares = largest(estimate.shares, _MOST_COMMON), estimate.shares
    names, (low, high) = names_of(estimate.domain), single_intervals(estimate, most, confidence)
    return ", ".join(f"{names[at]}: {share_words(shares[at], low[at], high[at])}" for at in most)


def share_words(share: float, low: float, high: float) -> str:
    """A share with its interval, to significant digits."""
    if math.isnan(high - low):
        return percent(share)
    if math.isinf(high - low):
        return "not identifiable"
    width = 100 * (high - low)
    digits = 2 if width <= 0 else min(max(1 - math.floor(math.log10(width)), 0), 4)
    numbers = [f"{100 * part:z.{digits}f}".replace("-", "−") for part in (share, low, high)]
    return f"{numbers[0]} % ({numbers[1]} to {numbers[2]})"


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


def say_forging(found: Forging | None) -> str:
    """What forged reports could do, in words; empty if nothing is known."""
    if found is None:
        return ""
    some, most = how_many(found.reports, "forged report"), "" if found.exact else "at most "
    scale, unit = (1, "") if found.of == "the mean" else (100, " percentage points")
    far = scale * max(found.high - found.value, found.value - found.low)
    # Two significant digits, without an exponent.
    return f"{some} could move {found.of} by {most}{float(f'{far:.2g}'):,g}{unit}"
