"""What is shown of one part of a study: words and numbers without any report, which go to a page, to JSON and back.

Which ranges are shown follows from the domain, the mechanism and the number of reports, never from an answer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np

from bipartite.answers.estimation.carried import carried_arcs, carried_edges
from bipartite.answers.estimation.circular import NOT_KNOWN
from bipartite.answers.estimation.intervals import FEW
from bipartite.answers.estimation.question import Question as Asked
from bipartite.answers.estimation.rows import MOST_NAMES, insides, largest, range_rows, value_intervals
from bipartite.answers.estimation.supports import Supports
from bipartite.answers.estimation.wording import (
    Shares,
    impossible_notes,
    in_percent,
    names_of,
    range_name,
    shares_shown,
    shows_ranges,
)
from bipartite.collect.store import STEP
from bipartite.errors import DataFileError, InputError, how_many
from bipartite.texts import in_digits

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bipartite.answers.estimation import Estimate
    from bipartite.answers.estimation.answer import Answer
    from bipartite.answers.estimation.joint import JointEstimate
    from bipartite.answers.estimation.sample import Averages
    from bipartite.collect.answers import Bag
    from bipartite.collect.study import Part

    Share = tuple[float, float | None, float | None]

CONFIDENCE: Final = 0.95
_SURE: Final = "(95\N{NO-BREAK SPACE}%)"
LARGE_STEP: Final = 50
"""And at least one report in so many of those that the last one was from: errors then shrink by a hundredth."""
_NO_DIRECTION: Final = "No value around the circle is clearly preferred"
_HALF: Final = 0.5
_NAMED: Final = 3  # values named in a headline
_LISTED: Final = 20  # values that stand in the order of the domain; more of them by their shares
_CELLS: Final = 4  # ranges of each part in a joint table
_VALUES: Final = 6  # and labels; of a flat category each takes a pass over all reports
_FOUR: Final = 4
_MOST_SEEN: Final = 2**26
"""Reports of a flat category, times values, that are looked at one by one."""
_UP: Final = 1 - 1e-12
"""So that rounding passes no number."""


@dataclass(frozen=True, slots=True)
class Row:
    """The share of a value, a range, or a pair of them; an interval that does not exist is None."""

    names: tuple[str, ...]
    share: float
    low: float | None
    high: float | None
    words: tuple[str, str]
    """The share and its interval, in percent."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number with its 95 % interval."""

    name: str
    value: float
    low: float
    high: float
    words: str


@dataclass(frozen=True, slots=True)
class View:
    """The answers to one part of a study, or to two parts of a record together."""

    question: str
    parts: tuple[str, ...]
    asks: tuple[str, ...]
    n: int
    """The number of people who reported all of ``parts``."""
    not_yet: str = ""
    """Why there is no answer yet; then nothing else is shown."""
    headline: str = ""
    numbers: tuple[Number, ...] = ()
    what: tuple[str, ...] = ()
    """The heads of the names of rows."""
    heading: str = ""
    rows: tuple[Row, ...] = ()
    forged: str = ""
    """How many forged reports would move the headline."""
    more: str = ""
    """How many more people would halve its error."""
    doubt: str = ""
    """Why these reports look as if they did not come from the mechanism; usually empty."""
    notes: tuple[str, ...] = ()


def due(n_now: int, n_published: int | None, *, final: bool = False) -> bool:
    """Whether enough reports have come for another public snapshot; ``final`` when no more will come.

    >>> due(49, None), due(50, None), due(99, 50), due(100, 50)
    (False, True, False, True)
    >>> due(10_100, 10_000), due(10_200, 10_000), due(10_100, 10_000, final=True)
    (False, True, True)
    """
    last = n_published or 0
    return n_now - last >= max(STEP, 0 if final else last // LARGE_STEP)


def view_of(bag: Bag, part: Part) -> View:
    """The answers to one part, from the reports of its question."""
    n = bag.reported(part)
    empty = View(bag.question.name, (part.name,), (part.ask,), n)
    if n < FEW:
        return replace(empty, not_yet=_too_few(n))
    estimate = bag.estimate(part)
    headline = _headline_of(estimate)
    answers = [estimate.ask(of) for of in headline.asked]
    said, note, doubt = headline.said(answers), answers[0].note, estimate.check.doubt
    wide = max(high - low for low, high in (answer.ci(CONFIDENCE) for answer in answers)) / headline.possible
    shares = _shares(estimate)
    if estimate.domain.wraps and wide >= 1:
        # That no direction is preferred is an answer too, if the shares are known.
        said, note, wide = _NO_DIRECTION, "", _widest(shares.groups[None])
    if not wide <= _HALF and not doubt:
        return replace(empty, not_yet=_too_wide(n, wide, note or _untold(estimate)))
    rows = [_row((label,), each) for label, each in zip(shares.names, shares.groups[None], strict=True)]
    return replace(
        empty,
        headline=said,
        numbers=() if said is _NO_DIRECTION else _numbers(estimate, headline, answers),
        what=(shares.what,),
        heading=shares.heading,
        rows=tuple(rows) if len(rows) > 1 else (),  # one range of everybody says nothing
        forged=_forged(estimate, headline),
        more="" if note else _more(n),
        doubt=doubt,
        notes=tuple(dict.fromkeys(each for each in (note, *shares.notes) if each)),
    )


def joint_view(bag: Bag, first: Part, second: Part) -> View:
    """The shares of the values of two parts of a record together."""
    n = bag.both(first, second)
    parts = first, second
    empty = View(bag.question.name, (first.name, second.name), (first.ask, second.ask), n)
    if n < FEW:
        return replace(empty, not_yet=_too_few(n))
    try:
        joint = bag.joint(first, second)
    except InputError as error:  # mechanisms that say too little together, or domains that are too large
        return replace(empty, not_yet=f"No answer: {error}")
    alone = [joint.marginal(part.name) for part in parts]
    groups = list(map(_groups, alone))
    rows = []
    for one, inside in groups[0]:
        for other, too in groups[1]:
            answer = joint.ask(("where", {first.name: inside, second.name: too}))
            rows.append(_row((one, other), (answer.value, *answer.ci(CONFIDENCE))))
    shares = [(row.share, row.low, row.high) for row in rows]
    wide = _widest(shares)
    if not wide <= _HALF and not joint.check.doubt:
        return replace(empty, not_yet=_too_wide(n, wide, _untold(alone[0]) or _untold(alone[1])))
    return replace(
        empty,
        headline=_correlated(joint) if all(part.mechanism.domain.has_ends for part in parts) else "",
        what=(first.name, second.name),
        heading="; ".join(filter(None, map(_left_out, parts))),
        rows=tuple(rows),
        more=_more(n),
        doubt=joint.check.doubt,
        notes=tuple(impossible_notes(shares)),
    )


def to_json(views: Iterable[View]) -> bytes:
    """Views as JSON, for a snapshot that is kept."""
    return msgspec.json.encode(list(views))


def from_json(text: str | bytes) -> tuple[View, ...]:
    """Views from :func:`to_json`."""
    try:
        return msgspec.json.decode(text, type=tuple[View, ...])
    except (msgspec.DecodeError, UnicodeError):
        raise DataFileError(
            "The database holds a public snapshot that this version cannot read, or something else has written to it; "
            "run bipartite collect check."
        ) from None


# --- What the first line says


@dataclass(frozen=True, slots=True)
class _Headline:
    """What the first line answers."""

    name: str
    """The name of the number; empty for shares."""
    asked: tuple[Any, ...]
    labels: tuple[str, ...] = ()
    """The values whose shares are asked."""
    possible: float = 1.0
    """The width of all that an answer may be."""

    @property
    def what(self) -> str:
        """What the first answer is, within a sentence."""
        return "the mean" if self.name else f"the share of “{self.labels[0]}”"

    def said(self, answers: list[Answer]) -> str:
        """The answers in words."""
        if self.name:
            return f"{self.name} {_number(self.name, answers[0]).words} {_SURE}"
        pairs = zip(self.labels, answers, strict=True)
        shares = [(label, *in_percent((answer.value, *answer.ci(CONFIDENCE)))) for label, answer in pairs]
        return f"{'; '.join(f'{label}: {share}, {interval}' for label, share, interval in shares)} {_SURE}"


def _headline_of(estimate: Estimate) -> _Headline:
    domain = estimate.domain
    if domain.has_ends:
        return _Headline("Mean", ("mean",), possible=float(domain.decode(len(domain) - 1) - domain.decode(0)))
    if domain.wraps and domain.labels is None:
        return _Headline("Mean around the circle", ("circular_mean",), possible=float(len(domain)))
    names, most = names_of(domain), largest(estimate.shares, _NAMED)
    return _Headline("", tuple(("bin", domain.decode(at)) for at in most), tuple(names[at] for at in most))


def _numbers(estimate: Estimate, headline: _Headline, answers: list[Answer]) -> tuple[Number, ...]:
    """The mean, and the median where values are on a line."""
    if not headline.name:
        return ()
    median = [_number("Median", estimate.ask("median"))] if estimate.domain.has_ends else []
    return _number(headline.name, answers[0]), *median


def _number(name: str, answer: Answer) -> Number:
    low, high = answer.ci(CONFIDENCE)
    value, first, last = in_digits(answer.value, low, high)
    return Number(name, float(answer.value), float(low), float(high), f"{value}, {first} to {last}")


def _correlated(joint: JointEstimate) -> str:
    answer = joint.ask("correlation")
    low, high = answer.ci(CONFIDENCE)
    if not math.isfinite(answer.value):
        return "Whether the two go together is not known yet"
    value, first, last = in_digits(answer.value, low, high)
    return f"Correlation {value}, {first} to {last} {_SURE}"


# --- The table


def _shares(estimate: Estimate) -> Shares:
    """The shares of ranges of a line or a circle, of all values if they are few, or of the largest."""
    groups = {None: estimate}
    if shows_ranges(groups):
        return shares_shown(groups, CONFIDENCE, _bins(estimate))
    size = len(estimate.domain)
    if size <= _LISTED:
        return shares_shown(groups, CONFIDENCE, None)
    at = largest(estimate.shares, min(size, MOST_NAMES))
    low, high = value_intervals(estimate, at, CONFIDENCE)
    known = np.isfinite(low) & np.isfinite(high)
    names = names_of(estimate.domain)
    rows = [(float(estimate.shares[k]), *((float(low[k]), float(high[k])) if known[k] else (None, None))) for k in at]
    heading = f"the {MOST_NAMES} largest of {size:,} shares" if size > MOST_NAMES else ""
    return Shares("value", [names[k] for k in at], {None: rows}, heading)


def _widest(shares: Iterable[Share]) -> float:
    """The width of the widest interval; 1 where one does not exist."""
    return max(1.0 if low is None or high is None else high - low for _, low, high in shares)


def _bins(estimate: Estimate) -> Any:  # noqa: ANN401 (a number of arcs, or edges)
    """As many ranges with round edges as so many reports carry."""
    carried = carried_arcs if estimate.domain.wraps else carried_edges
    return carried(estimate.mechanism, estimate.nobs)


def _groups(estimate: Estimate) -> list[tuple[str, Any]]:
    """The rows or columns of a joint table: (name, what ``joint.ask`` takes for it)."""
    domain = estimate.domain
    names = names_of(domain)
    if not domain.has_ranges:
        most = largest(estimate.shares, _VALUES)
        return [(names[at], [domain.decode(at)]) for at in sorted(most)]
    cut = np.linspace(0, len(domain), min(_CELLS, len(domain)) + 1).round().astype(int)
    found = []
    for first, after in zip(cut[:-1].tolist(), cut[1:].tolist(), strict=True):
        one, last = domain.decode(first), domain.decode(after - 1)
        found.append((range_name(domain, one, last), ("range", one, last)))
    return found


def _left_out(part: Part) -> str:
    """That a joint table shows the commonest labels of a part; empty if it shows all."""
    domain = part.mechanism.domain
    return (
        ""
        if domain.has_ranges or len(domain) <= _VALUES
        else f"the {_VALUES} commonest of {len(domain)} in {part.name}"
    )


def _row(names: tuple[str, ...], share: Share) -> Row:
    value, *ends = share
    low, high = (None if end is None else float(end) for end in ends)
    return Row(names, float(value), low, high, in_percent(share))


# --- How sure it is


def _too_few(n: int) -> str:
    return f"Not yet: {n:,} of the {FEW} reports that a first answer needs have come."


def _too_wide(n: int, wide: float, note: str) -> str:
    """``wide`` is the width of the interval as a part of all that the answer may be."""
    if note or not math.isfinite(wide):
        return f"No answer yet: {note or 'the reports do not tell'}."
    needed = n * (wide / _HALF) ** 2
    size = 10 ** math.floor(math.log10(needed) - 1)
    return (
        f"Not yet: {n:,} reports leave open more than half of all that the answer could be. With about "
        f"{math.ceil(needed / size) * size:,} there will be a first answer."
    )


def _untold(estimate: Estimate) -> str:
    """Why no number of reports gives an answer; empty if some may."""
    return NOT_KNOWN if estimate.identifiable is False else ""


def _more(n: int) -> str:
    """Errors fall with the square root of the number of people."""
    return f"About {(_FOUR - 1) * n:,} more people, {_FOUR} times as many in all, would halve the error."


def _forged(estimate: Estimate, headline: _Headline) -> str:
    """How many forged reports would move the first line by more than half the width of its interval."""
    source, of, what = insides(estimate)[0], headline.asked[0], headline.what
    if of == "circular_mean":  # of which nothing is known; of shares it is
        first, last, *_ = max(range_rows(estimate, CONFIDENCE, _bins(estimate)), key=lambda row: row[2])
        of, what = ("range", first, last), f"the share of {range_name(estimate.domain, first, last)}"
    if estimate.mechanism.flat and estimate.nobs * len(estimate.domain) > _MOST_SEEN:
        # A bound from their number, at once; looking at each of them would take seconds.
        source = Supports(estimate.mechanism, replace(source.tally, rows=None))
    asked = Asked.read(of, estimate.domain)
    sample = source.sample(asked.weights[None])
    if sample is None:
        return f"How far forged reports could move {what} is not known."
    sample = sample if sample.people is None else sample.people()
    low, high = estimate.ask(of).ci(CONFIDENCE)
    found = smallest_forging(sample, (high - low) / 2 / abs(asked.scale), estimate.nobs)
    if found is None:
        return f"Even if all reports were forged, {what} could not move by more than half its interval."
    k, exact = found
    return (
        f"{'' if exact else 'At least '}{how_many(k, 'forged report')} among these would move {what} by more than half "
        "its interval."
    )


def smallest_forging(average: Averages, far: float, n: int) -> tuple[int, bool] | None:
    """(the smallest number of forged reports that move an average by more than ``far``, whether some attain it).

    What k reports can move grows ever more slowly with k: k·far/moved(k) never exceeds the number that is looked for,
    so the search goes up to it and never past it.
    """
    k = 1
    while k <= n:
        *ways, note = average.forged(0, k)
        moved = max(ways)
        if moved > far:
            return k, not note
        k = max(k + 1, math.floor(k * far / moved * _UP) + 1) if moved > 0 else n + 1
    return None
