"""Which mechanism to take for what, and why, in sentences."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import numpy as np

from bipartite.answers.advise.candidates import ANCHORED, BEST, GRR_NAME, SAFE, candidates
from bipartite.domains import Items, LineDomain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bipartite.answers.advise.row import Row
    from bipartite.domains import Domain
    from bipartite.mechanisms.catalogue import Reports

Purpose = Literal["release", "mean", "distribution", "statistics", "categories"]
PURPOSES: Final[tuple[str, ...]] = ("release", "mean", "distribution", "statistics", "categories")
# A cumulative share that is off by so much tells no quantile.
_COARSE: Final = 0.1
_LEAST: Final = "the least forecast error of what was compared"


class _Statistics(NamedTuple):
    """What is asked of many reports."""

    error: str
    """The figure of a row that is to be small."""
    words: str
    """What that figure is."""
    padded: str
    """Why a padded window is taken."""


_STATISTICS: Final = {
    "mean": _Statistics(
        "mean_error", "its standard error", "a padded window, whose reports also give the distribution"
    ),
    "distribution": _Statistics(
        "distribution_error",
        "the standard error of a cumulative share",
        "a padded window, in which near values help each other",
    ),
    "categories": _Statistics("histogram_error", "the standard error of a share", _LEAST),
}
_WHAT: Final = {
    "release": "To release single values",
    "mean": "To estimate the mean",
    "distribution": "To estimate the distribution and its quantiles",
    "categories": "To count the share of each value",
}


@dataclass(frozen=True, slots=True)
class Advice:
    """One recommendation at one ε."""

    purpose: str
    epsilon: str
    mechanism: str | None
    """None where nothing that was compared serves."""
    code: str | None
    """How it is built in Python, with ε in place of the number; None of what somebody brought."""
    reason: str
    """Why, in words that hold at every ε."""
    figures: str
    """Why, in figures."""
    warning: str
    """What must be known before taking it; empty where there is nothing."""
    detail: str
    """The figures of that warning."""

    def __str__(self) -> str:
        taken = "" if self.mechanism is None else f", take {self.mechanism}"
        figures = f"; {self.figures}" if self.figures else ""
        warned = f" But {self.warning}{f' ({self.detail})' if self.detail else ''}." if self.warning else ""
        return f"{_WHAT[self.purpose]}{taken}: {self.reason}{figures}.{warned}"


def advise(
    rows: Sequence[Row], domain: Domain, purpose: str | None, *, people: int | None, has_prior: bool
) -> list[Advice]:
    """The recommendations for each ε, from rows whose errors of statistics are those of one person."""
    asked = _asked(domain, purpose, people)
    found = []
    for each in asked:
        for epsilon, some in itertools.groupby(rows, lambda row: row.epsilon):
            here = _Here(domain, epsilon, list(some), people, has_prior=has_prior)
            found.append(here.release() if each == "release" else here.statistics(each))
    return found


def _asked(domain: Domain, purpose: str | None, people: int | None) -> list[str]:
    line = isinstance(domain, LineDomain)
    if purpose == "statistics":
        return ["mean", "distribution"] if line else ["categories"]
    if purpose is not None:
        return [purpose]
    if is_flat(domain):
        return ["categories", "release"]
    statistics = ["mean", "distribution", "categories"] if line else ["categories"]
    return ["release", *(statistics if people is not None else [])]


def is_flat(domain: Domain) -> bool:
    """Whether all wrong answers are equally wrong."""
    if not isinstance(domain, Items):
        return False
    right, wrong = (float(each) for each in domain.losses(0)[:2])
    if not wrong > right:
        return False
    # Row by row, so that most sets are done with the first.
    for x in range(len(domain)):
        row = np.full(len(domain), wrong)
        row[x] = right
        if not np.array_equal(domain.losses(x), row):
            return False
    return True


class _Here:
    """The rows at one ε, and what follows from them."""

    def __init__(self, domain: Domain, epsilon: str, rows: list[Row], people: int | None, *, has_prior: bool) -> None:
        self.domain, self.epsilon, self.people, self.has_prior = domain, epsilon, people, has_prior
        self.rows = {row.mechanism: row for row in rows}
        self.constant = next(row for row in rows if row.kind == "reference")
        known = candidates(domain, exact=True)
        # What somebody brought is taken for what it reports: numbers of its own.
        self.family: dict[str, Reports] = dict.fromkeys(self.rows, "number")
        self.family |= {each.name: each.form.reports for each in known}
        self.code = {each.name: each.code for each in known}

    def release(self) -> Advice:
        """For single values: what the prior asks for, or what needs none."""
        anchored = self.rows[ANCHORED]
        if self.has_prior and anchored.expected_loss is not None:
            return self._anchored(anchored)
        name = GRR_NAME if is_flat(self.domain) else BEST if self.has_prior else SAFE
        taken = self.rows[name]
        if taken.expected_loss is None:
            return self._nothing("release", f"{name} is not to be had here ({taken.note})")
        reasons = {
            GRR_NAME: "all wrong answers are equally wrong, so there are no neighbours to make use of",
            BEST: f"the least expected error for the prior of what was compared; {ANCHORED} has a smaller one, but was "
            f"{anchored.note}",
            SAFE: "no value fares worse than under GRR, and it needs no prior",
        }
        beside = []
        grr = self.rows[GRR_NAME].expected_loss
        if name != GRR_NAME and grr is not None:
            beside.append(f"GRR: {_short(grr)}")
        if name == SAFE and anchored.expected_loss is not None:
            beside.append(f"{ANCHORED}, made for equally likely values: {_short(anchored.expected_loss)}")
        figures = f"its expected error is {_short(taken.expected_loss)}" + (f" ({'; '.join(beside)})" if beside else "")
        return self._advice("release", name, reasons[name], figures, self._constant_warning(taken))

    def _anchored(self, row: Row) -> Advice:
        gap = "" if row.gap is None else f", proved to be within {_percent(row.gap)} of the least possible for a value"
        grr = self.rows[GRR_NAME].worst_loss
        worst = ""
        if row.worst_loss is not None and grr is not None:
            worst = f"; the value that fares worst has {_short(row.worst_loss)} (under GRR {_short(grr)})"
        figures = f"its expected error is {_short(row.expected_loss)}{gap}{worst}"
        reason = "the least expected error for the prior given, though not at each value"
        return self._advice("release", ANCHORED, reason, figures, self._constant_warning(row))

    def _constant_warning(self, taken: Row) -> tuple[str, str]:
        """What must be said where silence is as good as asking."""
        silence = self.constant.expected_loss
        if taken.expected_loss is None or silence is None or silence > taken.expected_loss * (1 + 1e-9):
            return "", ""
        better = "as good" if silence >= taken.expected_loss * (1 - 1e-9) else "better"
        what = "for this prior" if self.has_prior else "if all values are equally likely"
        return (
            f"{self.constant.mechanism}, which asks nobody, is {better} {what}: a single report is worth little",
            f"its expected error is {_short(silence)}",
        )

    def statistics(self, purpose: str) -> Advice:
        """For estimates: the least forecast error; on a line a padded window, unless its shares are counted."""
        error, words, padded_reason = _STATISTICS[purpose]
        serving = [(getattr(row, error), name) for name, row in self.rows.items() if row.holds and getattr(row, error)]
        if not serving:
            return self._nothing(purpose, "no mechanism that was compared, and whose figures are known, can give it")
        least, winner = _least(serving)
        name = winner
        if purpose != "categories":
            # One report then serves the mean, the quantiles and the shares alike.
            padded, name = _least([each for each in serving if self.family[each[1]] == "padded"] or serving)
            plain_grr = getattr(self.rows[GRR_NAME], error)
            if plain_grr is not None and plain_grr <= padded * (1 + 1e-9):
                name = GRR_NAME  # a window of one value is no window
        taken = getattr(self.rows[name], error)
        reason = padded_reason if self.family[name] == "padded" else _LEAST
        people = "/√n for n people" if self.people is None else f" with {self.people:,} people"
        figures = f"{words} is {_short(taken / math.sqrt(self.people or 1))}{people}"
        if least < taken * (1 - 1e-9):
            figures += f" ({winner}: {_percent(1 - least / taken)} less)"
        elif reason != _LEAST:
            figures += ", the least of what was compared"
        return self._advice(purpose, name, reason, figures, self._too_few(purpose, taken))

    def _too_few(self, purpose: str, one: float) -> tuple[str, str]:
        """What must be said where so many people cannot give an answer that tells anything."""
        if self.people is None:
            return "", ""
        size = len(self.domain)
        error = one / math.sqrt(self.people)
        if purpose == "mean":
            assert isinstance(self.domain, LineDomain)  # noqa: S101 (only there a mean has an error)
            half = (size - 1) * self.domain.step / 2
            too_few = (
                f"{self.people:,} people are too few for a mean: the middle of the range, which asks nobody, is off by "
                f"{_short(half)} at most"
            )
            return (too_few if error >= half / 2 else "", "")
        if purpose == "distribution":
            too_few = (
                f"{self.people:,} people are too few for the distribution over {size:,} values without bias: a "
                f"cumulative share is off by {_COARSE:g} or more; ask more people, use fewer values, or take a "
                "smoothed estimate, which is biased"
            )
            return (too_few if error >= _COARSE else "", "")
        share = 1 / size
        if error < share:
            return "", ""
        too_few = (
            f"{self.people:,} people are too few for a useful histogram of {size:,} values: that error is not below "
            f"the average share, {_short(share)}"
        )
        enough = _round_up((one / share) ** 2)
        return too_few, f"about {enough:,} people would make them equal, and so would fewer values"

    def _advice(self, purpose: str, name: str, reason: str, figures: str, warning: tuple[str, str]) -> Advice:
        return Advice(purpose, self.epsilon, name, self.code.get(name), reason, figures, *warning)

    def _nothing(self, purpose: str, why: str) -> Advice:
        return Advice(purpose, self.epsilon, None, None, why, "", "", "")


def in_words(advice: Sequence[Advice]) -> str:
    """All recommendations as text: one sentence a purpose at one ε, and runs of equal ones at several."""
    lines = []
    for _, some in itertools.groupby(advice, lambda each: each.purpose):
        here = list(some)
        if len(here) == 1:
            lines.append(str(here[0]))
            continue
        for (_, reason), run in itertools.groupby(here, lambda each: (each.mechanism, each.reason)):
            same = list(run)
            where = _range([each.epsilon for each in same])
            taken = "" if same[0].mechanism is None else f", take {same[0].mechanism}"
            lines.append(f"{_WHAT[same[0].purpose]} at ε = {where}{taken}: {reason}.")
        for warning in dict.fromkeys(each.warning for each in here if each.warning):
            where = _range([each.epsilon for each in here if each.warning == warning])
            lines.append(f"  But at ε = {where}: {warning}.")
    return "\n".join(lines)


def _range(epsilons: Sequence[str]) -> str:
    """Neighbouring ε by the first and the last of them."""
    return epsilons[0] if len(epsilons) == 1 else f"{epsilons[0]} to {epsilons[-1]}"


def _least(serving: Sequence[tuple[float, str]]) -> tuple[float, str]:
    """The first in the table's order of those that are least but for rounding: GRR before a set of one value."""
    bound = min(serving)[0] * (1 + 1e-9)
    return next(each for each in serving if each[0] <= bound)


def _short(number: float | None) -> str:
    return "unknown" if number is None else f"{number:.3g}" if abs(number) < 1000 else f"{number:,.0f}"  # noqa: PLR2004


def _percent(share: float) -> str:
    """A share in percent, rounded up: a gap must not look smaller than it is."""
    steps = 1000 if share > 1e-4 else 100_000  # noqa: PLR2004 (three digits after the point for what is tiny)
    return f"{math.ceil(share * steps) / steps * 100:.6g} %"


def _round_up(number: float) -> int:
    """A count with two digits that count, rounded up."""
    power = int(10.0 ** max(0, math.floor(math.log10(number)) - 1))
    return math.ceil(number / power) * power
