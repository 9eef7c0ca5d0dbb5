"""What the columns of a plan will answer, and how precisely, before anything is spent."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Final

from bipartite.answers.estimation import forecast, identifiability
from bipartite.answers.estimation.rehearsal import rehearse
from bipartite.domains import Integers, LineDomain
from bipartite.errors import InputError
from bipartite.mechanisms import BRR
from bipartite.mechanisms.categories import CategoryMechanism

if TYPE_CHECKING:
    from bipartite.mechanisms.record import Reporting

CONFIDENCE: Final = 0.95
# Up to here shares of single values are shown, and those up to a value are unbiased sums of them.
FEW_VALUES: Final = 32
_NAMED: Final = 4


@dataclass(frozen=True, slots=True)
class Prospect:
    """Half the widths of the intervals to expect at 95 %, if all values are equally common; None for no answer."""

    mean: float | None
    median: float | None
    tenth: float | None
    """Of the share of people in a tenth of the range."""
    share: float | None
    """Of the share of one value."""
    note: str
    """Why something cannot be answered, by any number of people; empty where nothing needs to be said."""

    def half_widths(self) -> dict[str, float | None]:
        """By name."""
        return {"mean": self.mean, "median": self.median, "tenth": self.tenth, "share": self.share}

    def errors(self) -> list[tuple[float | None, bool]]:
        """(half a width, whether it is of a share), in order."""
        return [(self.mean, False), (self.median, False), (self.tenth, True), (self.share, True)]

    @property
    def questions(self) -> list[str]:
        """What can be answered, in words."""
        named = {
            "the mean": self.mean,
            "the median": self.median,
            "shares of ranges": self.tenth,
            "the share of each value": self.share,
        }
        return [name for name, error in named.items() if error is not None]


def prospect(mechanism: Reporting, people: int | None) -> Prospect:
    """What so many people will tell through a mechanism; None for what can be told at all, by figures of one person."""
    try:
        found = forecast(mechanism, people or 1)
        note = _note(mechanism)
    except InputError as error:
        return Prospect(None, None, None, None, f"no forecast: {error}")
    wide = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    mean, share, cdf = (None if each is None else wide * each for each in (found.mean, found.histogram, found.cdf))
    domain = mechanism.domain
    if not isinstance(domain, LineDomain):
        return Prospect(None, None, None, share, note)
    width = float(domain.to_numpy()[-1] - domain.to_numpy()[0])
    mean = None if mean is None else min(mean, width / 2)  # as far as the middle of the range may be off
    if cdf is None:
        return Prospect(mean, None, None, share, note)
    few = len(domain) <= FEW_VALUES
    # A tenth of the range is the difference of two shares up to a value.
    median, tenth = min(width / 2, cdf * width), None if few else min(1.0, math.sqrt(2) * cdf)
    if not few and isinstance(mechanism, BRR) and mechanism.m > 1:
        # The histogram is fitted there: it says more than unbiased sums would, and nothing of single values.
        share = None
        if people is not None:
            tried = rehearse(mechanism, domain, people, CONFIDENCE)
            median, tenth = tried.median, tried.tenth
    return Prospect(mean, _in_steps(domain, median), tenth, share, note)


def _in_steps(domain: LineDomain, half: float) -> float:
    """A median of whole numbers is one of them."""
    return float(math.ceil(half)) if isinstance(domain, Integers) else half


def _note(mechanism: Reporting) -> str:
    """Which values cannot be told apart, or why not all shares can be estimated."""
    if isinstance(mechanism, CategoryMechanism):
        return ""
    known = identifiability(mechanism)
    if known.identifiable:
        return ""
    if not known.groups:
        return "not every share can be told: " + str(known)
    line = isinstance(mechanism.domain, LineDomain)
    named = [_named(group, line=line) for group in known.groups[:_NAMED]]
    more = f" (and {len(known.groups) - _NAMED} more groups)" if len(known.groups) > _NAMED else ""
    lost = "the mean, the median or the share of each value" if line else "the share of each value"
    return f"cannot tell {' apart, nor '.join(named)} apart{more}: no number of people gives {lost}"


def _named(group: list[Any], *, line: bool) -> str:
    """Values that cannot be told apart: a range, or a few of them."""
    if line:
        return f"{group[0]}–{group[-1]}"
    return ", ".join(map(str, group[:_NAMED])) + (", …" if len(group) > _NAMED else "")
