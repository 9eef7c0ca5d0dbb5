"""Estimates as text: the answers of one estimate, and a table of shares, with several groups side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.answers.estimation.pictures import has_intervals, most_common, names_of, range_name
from bipartite.answers.estimation.ranges import RANGES, has_ranges, reusable_bins, spans, splits
from bipartite.answers.estimation.rows import range_rows, value_rows
from bipartite.errors import how_many
from bipartite.texts import Table, escaped

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bipartite.answers.estimation.estimate import Estimate
    from bipartite.answers.estimation.ranges import Bins

    Share = tuple[float, float | None, float | None]

_FEW_VALUES: Final = 20
_LARGEST: Final = 10
_SIDE_BY_SIDE: Final = 4  # groups per table; more groups go into further tables below
_POPULATION: Final = "the population that these people are a random sample of"


def answers_in_words(estimate: Estimate, confidence: float) -> list[str]:
    """The mean and the median, or the answers that the domain has instead; the method; and cautions."""
    return [
        f"{how_many(estimate.people, 'report')} of {estimate.mechanism!r}; intervals are for {_scope(estimate)}",
        *_answers(estimate, confidence),
        f"  histogram by {estimate.method!r}: {estimate.reason}",
        *_cautions(estimate),
    ]


def answers_of_groups(groups: Mapping[Any, Estimate], confidence: float) -> list[str]:
    """The same for each group; what all groups have in common is stated once."""
    one = next(iter(groups.values()))
    people = how_many(sum(each.people for each in groups.values()), "report")
    lines = [f"{people} of {one.mechanism!r} in {how_many(len(groups), 'group')}; intervals are for {_scope(one)}"]
    for label, each in groups.items():
        lines += [f"{escaped(label)}: {how_many(each.people, 'report')}", *_answers(each, confidence), *_cautions(each)]
    # What follows the semicolon, the amount of smoothing, differs between groups.
    whys = dict.fromkeys(f"{each.method!r}: {each.reason.partition(';')[0]}" for each in groups.values())
    return [*lines, *(f"histogram by {why}" for why in whys)]


def _scope(estimate: Estimate) -> str:
    return "these people alone" if estimate.of_sample else _POPULATION


def _answers(estimate: Estimate, confidence: float) -> list[str]:
    lines = [f"  {estimate.doubt}"] if estimate.doubt else []
    domain = estimate.domain
    if domain.has_ends:
        lines += [
            f"  mean      {estimate.mean:.6g}, {estimate.interval(confidence)}",
            f"  median    {estimate.median:.6g}, {estimate.interval(confidence, of='median')}",
        ]
    elif domain.wraps:
        direction, length = (estimate.interval(confidence, of=of) for of in ("circular_mean", "resultant_length"))
        lines += [
            f"  circular mean     {estimate.circular_mean:.6g}, {direction}",
            f"  resultant length  {estimate.resultant_length:.6g}, {length}",
        ]
    else:
        lines.append(f"  most common  {most_common(estimate, confidence)}")
    return lines


def _cautions(estimate: Estimate) -> list[str]:
    lines = [f"  {line}" for line in [""] if line]
    domain, found = estimate.domain, estimate.identifiability
    if found is not None and not found.identifiable:
        lines.append(f"  not identifiable: {found}")
        if domain.has_ends and getattr(estimate.mechanism, "edges", "") == "clamped":
            lines.append("  clamped reports are for single values; for statistics collect with edges='padded'")
    fit = estimate.fit
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
    return has_ranges(domain) and (len(domain) > _FEW_VALUES or any(each.bins_note for each in groups.values()))


def share_table(groups: Mapping[Any, Estimate], confidence: float, bins: Bins | None) -> list[str]:
    """The same as lines of text, with a few groups side by side in each table."""
    found = shares_shown(groups, confidence, bins)
    sure = f"{100 * confidence:g} % interval"
    lines = [f"  {found.heading}"] if found.heading else []
    if list(groups) == [None]:
        pairs = zip(found.names, found.groups[None], strict=True)
        rows = [(f"  {name}", f"{share[0]:z.2%}", interval_of(share)) for name, share in pairs]
        lines.append(Table([(f"  {found.what}", "share", sure), *rows]))
    else:
        lines.append(f"  share in each group ({sure})")
        for first in range(0, len(found.groups), _SIDE_BY_SIDE):
            labels = list(found.groups)[first : first + _SIDE_BY_SIDE]
            cells = [[_in_cell(share) for share in found.groups[label]] for label in labels]
            rows = [(f"  {name}", *row) for name, *row in zip(found.names, *cells, strict=True)]
            lines.append(Table([(f"  {found.what}", *map(str, labels)), *rows]))
    return lines + [f"  {note}" for note in found.notes]


def _in_cell(share: Share) -> str:
    return f"{share[0]:z.2%} ({interval_of(share)})"


def _range_shares(groups: Mapping[Any, Estimate], confidence: float, bins: Bins) -> Shares:
    found = {label: range_rows(each, confidence, bins) for label, each in groups.items()}
    one = next(iter(groups.values()))
    names = [range_name(one.domain, row[0], row[1]) for row in next(iter(found.values()))]
    shares: dict[Any, list[Share]] = {label: [row[2:] for row in rows] for label, rows in found.items()}
    notes, known = [], one.identifiability
    if any(splits(known, span) for span in spans(one.domain, bins, known)):
        notes.append(
            "the share of a range that separates values which the reports cannot tell apart is a guess within its "
            "interval"
        )
    if any(not 0 <= share <= 1 for rows in shares.values() for share, _, _ in rows):
        notes.append("unbiased shares may lie below 0 % or above 100 % by chance")
    notes += dict.fromkeys(each.bins_note for each in groups.values() if not has_intervals(each))
    return Shares("range", names, shares, notes=tuple(notes))


def _value_shares(groups: Mapping[Any, Estimate], confidence: float) -> Shares:
    domain = next(iter(groups.values())).domain
    size, heading = len(domain), ""
    order = list(range(size))
    if size > _FEW_VALUES:
        total = np.sum([each.people * each.frequencies for each in groups.values()], axis=0)
        order = np.argsort(-total, kind="stable")[:_LARGEST].tolist()
        heading = f"the {_LARGEST} largest of {size:,} shares"
    names = names_of(domain)
    shares: dict[Any, list[Share]] = {}
    for label, each in groups.items():
        rows = value_rows(each, confidence)
        shares[label] = [(rows[at][1], *rows[at][3:]) for at in order]
    every, notes = [share for rows in shares.values() for share in rows], []
    if any(not 0 <= share <= 1 for share, _, _ in every):
        notes.append("unbiased shares may lie below 0 % or above 100 % by chance; those of method 'projected' do not")
    if any(low is not None and high is not None and (high < 0 or low > 1) for _, low, high in every):
        notes.append(
            "an interval that lies wholly outside 0 % to 100 % is left as it is: the estimate is unbiased, and the "
            "sample was unlucky"
        )
    return Shares("value", [names[at] for at in order], shares, heading, tuple(notes))


def interval_of(share: Share, digits: int = 2) -> str:
    """The interval of a share, in percent."""
    _, low, high = share
    return "none" if low is None or high is None else f"{low:z.{digits}%} to {high:z.{digits}%}"
