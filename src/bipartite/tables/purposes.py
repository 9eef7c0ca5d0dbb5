"""What a column is for, the mechanism that serves it, and what that can answer: a plan's open choices are made here.

Advice is imported where it is asked for: most releases need none, and a small table takes no longer than the import.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.errors import InputError
from bipartite.mechanisms import BRR, Mechanism
from bipartite.mechanisms.catalogue import entry_of
from bipartite.texts import escaped

if TYPE_CHECKING:
    from bipartite.domains import Domain

STATISTICS: Final = "statistics"
SINGLE_VALUES: Final = "single-values"
PURPOSES: Final = {
    STATISTICS: "means, shares and medians of many people",
    "mean": "the mean of many people first; shares less precisely",
    "histogram": "the share of each single value",
    SINGLE_VALUES: "reports that are used one by one, each as close to its value as possible",
}
"""The purposes of a column, each with a description."""
_WINDOWS: Final = {STATISTICS: "cdf", "mean": "mean", "histogram": "histogram"}


def line_choice(purpose: str) -> dict[str, str]:
    """The keys of a plan that a purpose implies for numbers."""
    if purpose == SINGLE_VALUES:
        return {"mechanism": "anchored"}
    return {"mechanism": "brr", "edges": "padded", "m": _WINDOWS[purpose]}


def choice(purpose: str, domain: Domain, epsilon: object, *, flat: bool) -> dict[str, str]:
    """The keys of a plan that a purpose implies; ``flat`` if every wrong answer is equally wrong."""
    if domain.has_ends:
        return line_choice(purpose)
    if domain.wraps and purpose == STATISTICS:
        from bipartite.answers.advise.recommending import for_statistics  # noqa: PLC0415 (see above)

        # Direction and arcs: windows, where shares of single values would take a set.
        taken = for_statistics(domain, epsilon)
        return {"mechanism": taken.entry.name, **{name: str(value) for name, value in taken.form.options.items()}}
    if domain.wraps and purpose == "mean":
        return {"mechanism": "brr", "m": "mean"}
    if purpose == "mean":
        raise InputError(
            "Expected numbers for a mean, got a set of values, which has none; use for = 'statistics' for its shares."
        )
    if purpose == SINGLE_VALUES:
        return {"mechanism": "grr" if flat else "anchored"}
    return {"mechanism": best_for_shares(domain, epsilon)}


def best_for_shares(domain: Domain, epsilon: object) -> str:
    """The mechanism that :func:`bipartite.recommend` picks for shares: GRR for few values, a frequency oracle for more.

    >>> from bipartite import Items
    >>> [best_for_shares(Items(range(n)), 1) for n in (4, 40)]
    ['grr', 'subset-selection']
    """
    from bipartite.answers.advise import recommend  # noqa: PLC0415 (see above)

    return entry_of(type(recommend(domain, epsilon, "categories").mechanism)).name


# --- What the columns of a plan can answer, and how precisely, before anything is spent.


CONFIDENCE: Final = 0.95
# Up to this many values, shares of single values are shown, and cumulative shares are unbiased sums of them.
FEW_VALUES: Final = 32
# Half-widths of intervals of a fitted distribution over 1.96 standard errors: of medians, of tenths of the range.
_OF_MEDIANS: Final = 2.0
_OF_TENTHS: Final = 3.0
_NAMED: Final = 4


@dataclass(frozen=True, slots=True)
class Prospect:
    """The expected half-widths of 95 % intervals if all values are equally common; None if there is no answer."""

    mean: float | None
    median: float | None
    tenth: float | None
    """For the share of people in a tenth of the range."""
    share: float | None
    """For the share of one value."""
    note: str
    """Why some question cannot be answered, whatever the number of people; or empty."""

    def errors(self) -> list[tuple[float | None, bool]]:
        """(half-width, whether it is of a share), in order."""
        return [(self.mean, False), (self.median, False), (self.tenth, True), (self.share, True)]

    @property
    def questions(self) -> list[str]:
        """The questions that can be answered, as text."""
        named = {
            "the mean": self.mean,
            "the median": self.median,
            "shares of ranges": self.tenth,
            "the share of each value": self.share,
        }
        return [name for name, error in named.items() if error is not None]


def prospect(mechanism: Mechanism, people: int | None) -> Prospect:
    """What a mechanism can answer with this many people; None asks what it can answer at all."""
    from bipartite.answers.advise.forecasting import Foreseen  # noqa: PLC0415 (see above)

    foreseen, domain = Foreseen(mechanism), mechanism.domain
    if foreseen.too_large is not None:
        return Prospect(None, None, None, None, f"no forecast: {foreseen.too_large}; use fewer values.")
    note, uniform = _note(mechanism), np.full((1, len(domain)), 1 / len(domain))
    wide = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    errors = (foreseen.errors(of, uniform, people or 1) for of in ("mean", "share", "distribution"))
    mean, share, cumulative = (None if each is None else wide * float(each[0]) for each in errors)
    if not domain.has_ends:
        return Prospect(None, None, None, share, note)
    width = float(domain.to_numpy()[-1] - domain.to_numpy()[0])
    mean = None if mean is None else min(mean, width / 2)  # the error of always answering the middle of the range
    if cumulative is None:
        return Prospect(mean, None, None, share, note)
    few = len(domain) <= FEW_VALUES
    # The share of a tenth of the range is the difference of two cumulative shares.
    median, tenth = cumulative * width, None if few else math.sqrt(2) * cumulative
    if tenth is not None and isinstance(mechanism, BRR) and mechanism.m > 1:
        # The histogram is fitted, without shares of single values; its intervals hold for populations of any shape.
        share, median, tenth = None, _OF_MEDIANS * median, _OF_TENTHS * cumulative
    median = min(width / 2, median)
    median = float(math.ceil(median)) if domain.whole else median  # that of whole numbers is a whole number
    return Prospect(mean, median, None if tenth is None else min(1.0, tenth), share, note)


def _note(mechanism: Mechanism) -> str:
    """Which values are indistinguishable, or why not all shares can be estimated."""
    if mechanism.flat:
        return ""
    from bipartite.answers.estimation import identifiability  # noqa: PLC0415 (see above)

    known = identifiability(mechanism)
    if known.identifiable:
        return ""
    if not known.groups:
        return "not every share can be estimated: " + str(known)
    line = mechanism.domain.has_ends
    named = [_named(group, line=line) for group in known.groups[:_NAMED]]
    more = f" (and {len(known.groups) - _NAMED} more groups)" if len(known.groups) > _NAMED else ""
    lost = "the mean, the median or the share of each value" if line else "the share of each value"
    return f"cannot tell {' apart, nor '.join(named)} apart{more}: no number of people gives {lost}"


def _named(group: list[Any], *, line: bool) -> str:
    """Indistinguishable values, as a range or a short list."""
    if line:
        return f"{group[0]}–{group[-1]}"
    return ", ".join(map(escaped, group[:_NAMED])) + (", …" if len(group) > _NAMED else "")
