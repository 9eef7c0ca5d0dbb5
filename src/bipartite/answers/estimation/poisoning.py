r"""How far forged reports can move an answer, if k people may send any report they like.

Averages of scores: :mod:`~bipartite.answers.estimation.forged_outputs`; sums of supports:
:mod:`~bipartite.answers.estimation.forged_supports`.

Shares that were projected onto the distributions are max(sᵥ − τ, 0), with τ such that they add up to one. A share that
rises raises τ by no more than itself, so the projected sum over any set of values grows with the unbiased shares inside
the set and falls with those outside: moving each of them as far as it can be moved gives a bound.
Maximum-likelihood distributions have no such monotonicity, and nothing is claimed about them beyond what holds for
every distribution.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.answers.estimation.asking import CIRCULAR, Question, line_of, numbers_of
from bipartite.answers.estimation.histogram import on_simplex
from bipartite.answers.estimation.pairs import pair_law
from bipartite.answers.estimation.tally import spare
from bipartite.errors import InputError, how_many, shown
from bipartite.lottery.checks import is_whole
from bipartite.mechanisms.categories import OLH, SubsetSelection
from bipartite.mechanisms.categories.unary import PackedBits
from bipartite.texts import Printed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.answers.estimation.asking import Asked
    from bipartite.answers.estimation.estimate import Estimate
    from bipartite.answers.estimation.histogram import Histogram
    from bipartite.answers.estimation.linear import LinearAnswers

    Array = NDArray[np.float64]

_MOST_TESTED: Final = 2048
# Reports times values squared: a few seconds.
_MOST_LOOKED_AT: Final = 2**28
_ROUNDED: Final = 1e-9

_FITTED: Final = (
    "the answer is read off a fitted distribution, for which no bound is proved, so this is the whole possible range"
)
_UNKNOWN: Final = "the reports do not determine this answer, so this is the whole possible range"
_ALONE: Final = "one report says nothing about how values vary, so this is the whole possible range"
_TOO_MANY: Final = "there are too many values to examine, so this is the whole possible range"
_BOUND: Final = "a bound: no forged reports can do more, and perhaps none can do as much"
_COUNTS_ONLY: Final = "a bound: counts do not say which reports there were"


@dataclass(frozen=True, slots=True, repr=False)
class Poisoning(Printed):
    """How far forged reports can move an answer: ``est.poisoning(k)``."""

    reports: int
    """k, the number of reports that are replaced by forged ones."""
    value: float
    """The answer before any report is forged."""
    low: float
    high: float
    """The smallest and the largest value it can take; for a bound, it stays between these."""
    exact: bool
    """Whether some forged reports attain both ends; otherwise the range is a bound."""
    note: str
    """A remark, such as why this is only a bound."""

    @property
    def farthest(self) -> float:
        """How far the answer can move in either direction."""
        return max(self.high - self.value, self.value - self.low)

    def __str__(self) -> str:
        note = f"; {self.note}" if self.note else ""
        forged = how_many(self.reports, "forged report")
        return f"{forged} could turn {self.value:.6g} into anything from {self.low:.6g} to {self.high:.6g}{note}"


def measure_poisoning(
    estimate: Estimate, answers: LinearAnswers, histogram: Histogram, k: object, of: Asked
) -> Poisoning:
    """The result of ``Estimate.poisoning``."""
    if not is_whole(k) or not 0 <= k <= estimate.people:
        raise InputError(
            f"Expected k as a whole number from 0 to {estimate.people}, the number of reports, got {shown(k)}."
        )
    forged = int(k)
    asked = Question.read(of, estimate.domain)
    if asked.kind in CIRCULAR or (asked.kind == "quantile" and estimate.domain.wraps):
        raise InputError(
            f"No bound is known on what forged reports can do to the {asked.kind.replace('_', ' ')} of a circle; ask "
            "about ('range', first, last), ('bin', value) or one weight per value."
        )
    if asked.kind == "quantile":
        return _quantile(estimate, answers, histogram, forged, asked.q)
    if asked.kind == "variance":
        return _variance(estimate, answers, forged)
    if asked.kind in {"bin", "cdf", "range"}:
        return _of_histogram(answers, histogram, forged, asked.weights, alone=asked.kind == "bin")
    return _linear(answers, histogram, forged, asked.weights, asked.middle)


def _linear(answers: LinearAnswers, histogram: Histogram, k: int, w: Array, middle: float) -> Poisoning:
    """An unbiased answer."""
    moved, answer = answers.moved(w, k), answers.answer(w)
    if moved is None or answer is None:
        value = middle + float(w @ histogram.frequencies)
        return Poisoning(k, value, middle + float(w.min()), middle + float(w.max()), exact=False, note=_UNKNOWN)
    value, low, high = (middle + float(each) for each in (answer.value, moved.low, moved.high))
    return Poisoning(k, value, low, high, exact=moved.exact, note=_note(answers, exact=moved.exact))


def _note(answers: LinearAnswers, *, exact: bool) -> str:
    mechanism = answers.mechanism
    notes = [] if exact else [_COUNTS_ONLY if mechanism.flat else _BOUND]
    if isinstance(mechanism, OLH):
        notes.append("a forged report may name a hash function that supports many values at once")
    elif isinstance(mechanism.draw, PackedBits) and not isinstance(mechanism, SubsetSelection):
        notes.append(
            "a forged report may set any bits, even all of them, and so add to many shares at once; est.fits shows "
            "whether there are many such reports"
        )
    return "; ".join(notes)


def _of_histogram(
    answers: LinearAnswers, histogram: Histogram, k: int, member: Array, *, alone: bool = False
) -> Poisoning:
    """The share of some values, read off the histogram."""
    inside = member > 0
    one = int(inside.argmax())
    value = float(histogram.frequencies[one] if alone else member @ histogram.distribution)
    # Shares of several values are unbiased sums even if single shares are projected.
    if histogram.method == "inverse" or (histogram.method == "projected" and not alone):
        moved = answers.moved_share(one, k) if alone else answers.moved_together(member, k)
        if moved is not None:
            low, high = float(moved.low), float(moved.high)
            return Poisoning(k, value, low, high, exact=moved.exact, note=_note(answers, exact=moved.exact))
    if histogram.method == "projected":
        shares = answers.moved_shares(k)
        if shares is not None:
            high = float(on_simplex(np.where(inside, shares.high, shares.low))[inside].sum())
            low = float(on_simplex(np.where(inside, shares.low, shares.high))[inside].sum())
            return Poisoning(k, value, low, high, exact=False, note=_BOUND)
    moved = answers.moved_together(member, k)
    beside = (
        "" if moved is None else f"; the unbiased share could become {float(moved.low):.4g} to {float(moved.high):.4g}"
    )
    return Poisoning(k, value, 0.0, 1.0, exact=False, note=_FITTED + beside)


def _variance(estimate: Estimate, answers: LinearAnswers, k: int) -> Poisoning:
    r"""For any point a, the variance is the mean square around a, which has fixed scores, minus (mean − a)².

    With a the current mean, the variance is at most the largest mean square, and at least the smallest one minus the
    square of how far the mean can move. The estimate adds the variance of the estimated mean, which is at most the
    squared spread of its scores divided by the number of effective reports.
    """
    w, _ = numbers_of(estimate.domain)
    most = float(w[-1] - w[0]) ** 2 / 4
    if math.isnan(spare(answers.effective)):
        return Poisoning(k, math.nan, 0.0, most, exact=False, note=_ALONE)
    centre = answers.answer(w)
    moved = answers.moved(w, k)
    squares = None if centre is None else answers.moved((w - centre.value) ** 2, k)
    if centre is None or moved is None or squares is None:
        return Poisoning(k, estimate.variance, 0.0, most, exact=False, note=_UNKNOWN)
    off = max(float(moved.high) - centre.value, centre.value - float(moved.low))
    mechanism = answers.mechanism
    spread = centre.spread
    if mechanism.flat:
        # Forged reports follow no distribution, so no tail bound holds for them.
        spread = float(pair_law(mechanism).spread(w - w.mean()))
    noise = spread**2 / spare(answers.effective) if k else centre.standard_error**2
    least = 0.0 if k else noise
    low, high = float(squares.low) - off**2 + least, float(squares.high) + noise
    return Poisoning(k, estimate.variance, low, high, exact=False, note=_BOUND)


def _quantile(estimate: Estimate, answers: LinearAnswers, histogram: Histogram, k: int, q: float) -> Poisoning:
    """From where the share up to a value can be raised to q, to where it can be kept below q."""
    domain = line_of(estimate.domain)
    size, value = len(domain), estimate.quantile(q)
    if size > _MOST_TESTED or histogram.method not in {"inverse", "projected"}:
        ends = float(domain.decode(0)), float(domain.decode(size - 1))
        return Poisoning(k, value, *ends, exact=False, note=_TOO_MANY if size > _MOST_TESTED else _FITTED)
    rough = answers.people * size**2 > _MOST_LOOKED_AT
    moved = [each for up_to in np.tri(size) if (each := answers.moved_together(up_to, k, rough=rough)) is not None]
    # A share that equals q up to rounding may count as reaching it or not.
    low = next((at for at, each in enumerate(moved) if each.high >= q * (1 - _ROUNDED)), size - 1)
    high = next((at for at, each in enumerate(moved) if each.low >= q * (1 + _ROUNDED)), size - 1)
    return Poisoning(k, value, float(domain.decode(low)), float(domain.decode(high)), exact=False, note=_BOUND)


def for_text(estimate: Estimate) -> tuple[str, Poisoning]:
    """(the mean or, if there is none, the largest share; what forging one report in a hundred can do to it)."""
    forged = max(1, estimate.people // 100)
    domain = estimate.domain
    if domain.has_ends:
        return "the mean", estimate.poisoning(forged)
    value = domain.decode(int(estimate.frequencies.argmax()))
    return "the largest share", estimate.poisoning(forged, ("bin", value))


def describe_forging(estimate: Estimate) -> str:
    """The same as a line of text; empty if nothing is known."""
    what, found = for_text(estimate)
    if found.note.startswith((_FITTED, _UNKNOWN)):
        return ""
    some, most = how_many(found.reports, "forged report"), "" if found.exact else "at most "
    scale, unit = (1, "") if what == "the mean" else (100, " percentage points")
    # Two significant digits, without an exponent.
    return f"{some} could move {what} by {most}{float(f'{scale * found.farthest:.2g}'):,g}{unit}"


def tipping_point(estimate: Estimate, confidence: float, of: Asked) -> int | None:
    """The smallest k that can move an answer out of its own interval; None if forging every report does not."""
    low, high = estimate.interval(confidence, of=of)

    def tips(k: int) -> bool:
        found = estimate.poisoning(k, of)
        return found.low < low or found.high > high

    first, last = 0, estimate.people
    if not tips(last):
        return None
    while last - first > 1:
        middle = (first + last) // 2
        first, last = (first, middle) if tips(middle) else (middle, last)
    return last
