r"""How far forged reports can move an answer: what k people could do who send what they like.

An answer with fixed scores is the average of one score u(y) a report, so that k of n reports, replaced by others that
the mechanism has, raise it most where the k least scores become the largest one: by Σ (max u − u(yᵢ))/n over these k,
and no other k forged reports by more. With public weights wᵢ, which a forged report keeps, the k largest of
wᵢ·(max u − u(yᵢ)) count. Both are exact: somebody who knew all reports could do it.

Fitted scores (:mod:`~bipartite.answers.estimation.scores`) change with the forged reports, by the averages t_j of s in
each class and the factors F_j. Of R_j reports k replaced ones move an average by at most k·(max s − min s)/R_j, and F_j
falls with R_j, which they change by at most k. The answer is … + Σ_j [h_j·t_j + F_j·Σᵢ wᵢ(sᵢ − t_j)/Σw]. For the
reports that came, this is largest at the ends of what t_j and F_j can be; and each forged report then adds at most the
largest minus the least F_j·(s − t_j) of any output. Together this is a bound.

Shares that were projected onto the distributions are max(sᵥ − τ, 0) with τ such that they add up to one. A share that
rises raises τ by no more than itself, so the projected sum over any set of values grows with the unbiased shares inside
the set and falls with those outside: moving each of them as far as it can be moved is a bound. Most likely
distributions have no such order, and nothing is claimed of them but what no distribution exceeds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from bipartite.answers.estimation.asking import CIRCULAR, Question, line_of, numbers_of
from bipartite.answers.estimation.histogram import on_simplex
from bipartite.answers.estimation.pairs import pair_law, replace_digit
from bipartite.answers.estimation.tally import spare
from bipartite.domains import Cyclic, LineDomain
from bipartite.errors import InputError, how_many, shown
from bipartite.lottery.checks import is_whole
from bipartite.mechanisms.categories import OLH, CategoryMechanism, HadamardResponse, SubsetSelection
from bipartite.mechanisms.categories.hadamard import walsh_hadamard
from bipartite.mechanisms.categories.hashing import HashFamily
from bipartite.mechanisms.categories.unary import PackedReports

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.answers.estimation.asking import Asked
    from bipartite.answers.estimation.estimate import Estimate
    from bipartite.answers.estimation.flat import Supports
    from bipartite.answers.estimation.histogram import Histogram
    from bipartite.answers.estimation.linear import LinearAnswers
    from bipartite.answers.estimation.scores import FittedScores
    from bipartite.answers.estimation.tally import Tally

    Array = NDArray[np.float64]

# Reports of flat categories are looked at one by one up to so many reports times values, and so many at a time.
_MOST_SEEN: Final = 2**28
_AT_ONCE: Final = 2**22
_MOST_HASHES: Final = 2**23
_MOST_TESTED: Final = 2048
# Reports times values times values: a few seconds.
_MOST_LOOKED_AT: Final = 2**28
_ROUNDED: Final = 1e-9

_FITTED: Final = (
    "the answer is read off a fitted distribution, for which no bound is proved, so this is all that exists"
)
_UNKNOWN: Final = "the reports do not fix this answer, so this is all that exists"
_ALONE: Final = "one report does not tell how values vary, so this is all that exists"
_TOO_MANY: Final = "there are too many values to look at, so this is all that exists"
_BOUND: Final = "a bound: no forged reports do more, and perhaps none do as much"
_COUNTS_ONLY: Final = "a bound: counts do not tell which reports there were"


@dataclass(frozen=True, slots=True)
class Poisoning:
    """How far forged reports can move an answer: ``est.poisoning(k)``."""

    reports: int
    """k, how many reports are replaced by forged ones."""
    value: float
    """The answer as it is."""
    low: float
    high: float
    """The least and the largest that it can become; for a bound, no less and no more than these."""
    exact: bool
    """Whether some forged reports really bring it to both ends; otherwise a bound."""
    note: str
    """What to know about it."""

    @property
    def farthest(self) -> float:
        """How far the answer can move, to one side or the other."""
        return max(self.high - self.value, self.value - self.low)

    def __str__(self) -> str:
        note = f"; {self.note}" if self.note else ""
        forged = how_many(self.reports, "forged report")
        return f"{forged} could make {self.value:.6g} anything from {self.low:.6g} to {self.high:.6g}{note}"


class Moved(NamedTuple):
    """The least and the largest that answers can become, a number for each."""

    low: Array
    high: Array
    exact: bool


def poisoned(estimate: Estimate, answers: LinearAnswers, histogram: Histogram, k: object, of: Asked) -> Poisoning:
    """What ``Estimate.poisoning`` gives."""
    if not is_whole(k) or not 0 <= k <= estimate.people:
        msg = f"Expected k as a whole number from 0 to {estimate.people}, the number of reports, got {shown(k)}."
        raise InputError(msg)
    forged = int(k)
    asked = Question.read(of, estimate.domain)
    if asked.kind in CIRCULAR or (asked.kind == "quantile" and isinstance(estimate.domain, Cyclic)):
        msg = (
            f"What forged reports can do to the {asked.kind.replace('_', ' ')} of a circle is not known; ask about "
            "('range', first, last), ('bin', value) or one weight a value."
        )
        raise InputError(msg)
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
    notes = [] if exact else [_COUNTS_ONLY if isinstance(mechanism, CategoryMechanism) else _BOUND]
    if isinstance(mechanism, OLH):
        notes.append("a forged report may name a hash function that supports many values at once")
    elif isinstance(mechanism, PackedReports) and not isinstance(mechanism, SubsetSelection):
        notes.append(
            "a forged report may set any bits, up to all of them, and so add to many shares at once; whether there are "
            "many such reports, est.fits tells"
        )
    return "; ".join(notes)


def _of_histogram(
    answers: LinearAnswers, histogram: Histogram, k: int, member: Array, *, alone: bool = False
) -> Poisoning:
    """The share of some values, as the histogram has it."""
    inside = member > 0
    one = int(inside.argmax())
    value = float(histogram.frequencies[one] if alone else member @ histogram.distribution)
    # Shares of several values are unbiased sums, also where single ones are projected.
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
    r"""For any place a the variance is the mean square around it, which has fixed scores, less (mean − a)².

    With a the present mean: at most the largest mean square, and at least the least one less the square of how far the
    mean can move. The estimate adds the variance of the estimated mean, which is at most the square of the spread of
    its scores over the number of effective reports.
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
    if isinstance(mechanism, CategoryMechanism):
        # Forged reports keep to no law of tails.
        spread = float(pair_law(mechanism).spread(w - w.mean()))
    noise = spread**2 / spare(answers.effective) if k else centre.standard_error**2
    least = 0.0 if k else noise
    low, high = float(squares.low) - off**2 + least, float(squares.high) + noise
    return Poisoning(k, estimate.variance, low, high, exact=False, note=_BOUND)


def _quantile(estimate: Estimate, answers: LinearAnswers, histogram: Histogram, k: int, q: float) -> Poisoning:
    """Between where the share up to a value can be made to reach q, and where it can be kept from it."""
    domain = line_of(estimate.domain)
    size, value = len(domain), estimate.quantile(q)
    if size > _MOST_TESTED or histogram.method not in {"inverse", "projected"}:
        ends = float(domain.decode(0)), float(domain.decode(size - 1))
        return Poisoning(k, value, *ends, exact=False, note=_TOO_MANY if size > _MOST_TESTED else _FITTED)
    rough = answers.people * size**2 > _MOST_LOOKED_AT
    moved = [each for up_to in np.tri(size) if (each := answers.moved_together(up_to, k, rough=rough)) is not None]
    # A share that is q up to rounding may reach it or not.
    low = next((at for at, each in enumerate(moved) if each.high >= q * (1 - _ROUNDED)), size - 1)
    high = next((at for at, each in enumerate(moved) if each.low >= q * (1 + _ROUNDED)), size - 1)
    return Poisoning(k, value, float(domain.decode(low)), float(domain.decode(high)), exact=False, note=_BOUND)


def for_text(estimate: Estimate) -> tuple[str, Poisoning]:
    """(the mean or, where there is none, the largest share; what one forged report in a hundred can do to it)."""
    forged = max(1, estimate.people // 100)
    domain = estimate.domain
    if isinstance(domain, LineDomain):
        return "the mean", estimate.poisoning(forged)
    value = domain.decode(int(estimate.frequencies.argmax()))
    return "the largest share", estimate.poisoning(forged, ("bin", value))


def what_forging_does(estimate: Estimate) -> str:
    """The same as a line of text; empty where nothing is known."""
    what, found = for_text(estimate)
    if found.note.startswith((_FITTED, _UNKNOWN)):
        return ""
    some, most = how_many(found.reports, "forged report"), "" if found.exact else "at most "
    scale, unit = (1, "") if what == "the mean" else (100, " percentage points")
    # Two digits that count, and never a power of ten.
    return f"{some} could move {what} by {most}{float(f'{scale * found.farthest:.2g}'):,g}{unit}"


def tipping_point(estimate: Estimate, confidence: float, of: Asked) -> int | None:
    """The least k that can move an answer out of its own interval; None where no number of reports is seen to."""
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


# Mechanisms with a score for every output.


def moved_by_scores(u: Array, tally: Tally, k: int, possible: NDArray[np.bool_]) -> Moved:
    """The average of scores u, one an output or a row of them for each answer, after k reports were replaced.

    ``possible`` says which outputs the mechanism has. Only sums of weights may be known: then it is a bound.
    """
    value = u @ tally.first / tally.size
    largest = u.max(axis=-1, where=possible, initial=-np.inf)
    least = u.min(axis=-1, where=possible, initial=np.inf)
    up = _gain(largest[..., None] - u, tally, k) / tally.size
    down = _gain(u - least[..., None], tally, k) / tally.size
    unweighted = tally.first is tally.second
    return Moved(value - down, value + up, exact=unweighted or tally.each is not None)


def moved_by_fitted_scores(scores: FittedScores, w: Array, tally: Tally, k: int) -> Moved:
    """At least and at most the share after k reports were replaced, for one w over the distinct rows or for many."""
    rows = np.atleast_2d(w)
    up, down = (_fitted_at_most(scores, sign * rows, tally, k) for sign in (1, -1))
    shape = w.shape[:-1]
    return Moved(-down.reshape(shape), up.reshape(shape), exact=k == 0)


def _fitted_at_most(scores: FittedScores, w: Array, tally: Tally, k: int) -> Array:
    chances, reports = scores.chances, scores.reports
    stretches = (
        [scores.stretch(np.maximum(reports - k, scores.fewest)), scores.stretch(reports + k)]
        if k
        else [scores.stretch(reports)]
    )
    weight = scores.by_class(tally.first / tally.size)
    found = np.empty(len(w))
    for at, row in enumerate(w):
        # Along a class, and over classes; without what lies past the end of a class.
        s = scores.running_sums(row[None])[0]
        highest, lowest = (
            end(np.where(scores.there, s, -edge), axis=0) for end, edge in ((np.max, np.inf), (np.min, -np.inf))
        )
        average = scores.averages(s)
        step = k * (highest - lowest) / reports
        averages = np.maximum(average - step, lowest), np.minimum(average + step, highest)
        sums, held = (weight * s).sum(axis=0), weight.sum(axis=0)
        ends = [chances * t + factor * (sums - t * held) for t in averages for factor in stretches]
        most = (stretches[0] * (highest - averages[0])).max() - (stretches[0] * (lowest - averages[1])).min()
        found[at] = scores.base(row, s) + np.max(ends, axis=0).sum() + most * _forged_weight(tally, k)
    return found


def _forged_weight(tally: Tally, k: int) -> float:
    """At most the share of all weights that k reports have."""
    if tally.first is tally.second:
        return k / tally.size
    if tally.each is not None:
        return _largest(tally.each[1], k) / tally.size
    return min(1.0, float(np.sqrt(k * tally.second.sum())) / tally.size)


def _gain(gaps: Array, tally: Tally, k: int) -> Array:
    """The largest sum of gap times weight over k reports."""
    first, second = tally.first, tally.second
    if first is second:
        order = np.argsort(-gaps, axis=-1, kind="stable")
        held = np.minimum(first[order].cumsum(axis=-1), k)
        taken = np.diff(held, axis=-1, prepend=0.0)
        found: Array = (np.take_along_axis(gaps, order, axis=-1) * taken).sum(axis=-1)
        return found
    if tally.each is not None:
        indices, weights = tally.each
        rows = np.atleast_2d(gaps)
        found = np.array([_largest(row[indices] * weights, k) for row in rows])
        return found if gaps.ndim > 1 else found[0]
    # Σ wᵢ·gapᵢ over k reports is at most √(k·Σ wᵢ²·gapᵢ²) over all of them (Cauchy), and at most the sum over all.
    held = np.where(first > 0, gaps, 0.0)
    least: Array = np.minimum(np.sqrt(k * (held**2 @ second)), held @ first)
    return least


def _largest(parts: Array, k: int) -> float:
    """The sum of the k largest."""
    if k == 0:
        return 0.0
    if k >= len(parts):
        return float(parts.sum())
    return float(np.partition(parts, len(parts) - k)[len(parts) - k :].sum())


# Flat categories.


class ForgedSupports:
    """How far forged reports move Σ z·support: all that does not depend on their number is worked out once.

    Where the reports are at hand each has its own sum, and those that it pays most to replace are replaced. From counts
    alone the k reports that are replaced support each value at least as seldom, or as often, as its count allows.
    ``rough`` saves looking at every hash function and at the reports.
    """

    def __init__(self, mechanism: CategoryMechanism, z: Array, supports: Supports, *, rough: bool = False) -> None:
        self._mechanism, self.z, self._supports, self.rough = mechanism, z, supports, rough
        self._least, self._largest, self._sharp = _extremes(mechanism, z, rough=rough)
        reports = supports.reports
        seen = reports is not None and not rough and len(reports) * len(z) <= _MOST_SEEN
        self._sums = _sums_of(mechanism, z, reports) if seen and reports is not None else None

    def moved(self, k: int) -> tuple[float, float, bool]:
        """(at most how far down, how far up, whether exactly) k of them move it, over the sum of weights."""
        least, largest, z = self._least, self._largest, self.z
        size, weights = self._supports.size, self._supports.weights
        if self._sums is not None:
            held = np.ones(len(self._sums)) if weights is None else weights
            falls, rises = (self._sums - least) * held, (largest - self._sums) * held
            return _largest(falls, k) / size, _largest(rises, k) / size, self._sharp
        if weights is not None:
            most = (largest - least) * _largest(weights, k) / size
            return most, most, False
        if isinstance(self._mechanism, HadamardResponse):
            most = k * (largest - least) / size
            return most, most, False
        counts, people = self._supports.first, self._supports.people
        fewest, often = np.maximum(0.0, k - (people - counts)), np.minimum(float(k), counts)
        taken_least = float(np.where(z > 0, z * fewest, z * often).sum())
        taken_most = float(np.where(z > 0, z * often, z * fewest).sum())
        up, down = k * largest - max(taken_least, k * least), min(taken_most, k * largest) - k * least
        # Of one value the counts tell everything.
        alone = np.count_nonzero(z) == 1 and len(z) > 1
        return down / size, up / size, bool(alone and self._sharp)


def moved_single_supports(mechanism: CategoryMechanism, k: int, supports: Supports) -> tuple[Array, Array]:
    """(how far down, how far up) k forged reports move the support of each value at most, over the sum of weights."""
    signed = isinstance(mechanism, HadamardResponse)
    # A report adds 0 or 1, or anything from −1 to 1.
    most = (2 if signed else 1) * (float(k) if supports.weights is None else _largest(supports.weights, k))
    counts, size = supports.first, supports.size
    return np.minimum(most, counts + size * signed) / size, np.minimum(most, size - counts) / size


def _extremes(mechanism: CategoryMechanism, z: Array, *, rough: bool) -> tuple[float, float, bool]:
    """The least and the largest Σ z·support of a single report, and whether a report has them."""
    if isinstance(mechanism, HadamardResponse):
        scores = _of_blocks(mechanism, z)
        return float(scores.min()), float(scores.max()), True
    if isinstance(mechanism, SubsetSelection):
        ordered = np.sort(z)
        return float(ordered[: mechanism.k].sum()), float(ordered[-mechanism.k :].sum()), True
    least, largest = float(np.minimum(z, 0.0).sum()), float(np.maximum(z, 0.0).sum())
    if not isinstance(mechanism, OLH) or np.count_nonzero(z) == 1:
        return least, largest, True
    every = None if rough else _of_all_hashes(mechanism, z)
    return (least, largest, False) if every is None else (float(every.min()), float(every.max()), True)


def _sums_of(mechanism: CategoryMechanism, z: Array, reports: NDArray[Any]) -> Array:
    """Σ z·support of every report."""
    if isinstance(mechanism, HadamardResponse):
        held: Array = _of_blocks(mechanism, z)[reports]
        return held
    if isinstance(mechanism, OLH):
        p, q = mechanism.support
        parts: Array = pair_law(mechanism).parts(z[None], reports)[0] * float(p - q)
        return parts
    found = np.empty(len(reports))
    step = max(1, _AT_ONCE // len(z))
    for first in range(0, len(reports), step):
        bits = np.unpackbits(reports[first : first + step], axis=1, count=len(z), bitorder="little")
        found[first : first + step] = bits @ z
    return found


def _of_blocks(mechanism: HadamardResponse, z: Array) -> Array:
    """Σ z·support of every number that can be reported."""
    table = np.zeros((mechanism.blocks, mechanism.block_size))
    full = np.zeros(mechanism.blocks * (mechanism.block_size - 1))
    full[: len(z)] = z
    table[:, 1:] = full.reshape(mechanism.blocks, -1)
    held: Any = table
    return np.asarray(walsh_hadamard(held), dtype=np.float64).ravel()


def _of_all_hashes(mechanism: OLH, z: Array) -> Array | None:
    """Σ z over each bucket of every hash function; None where they are too many."""
    family, g = HashFamily(len(z), mechanism.buckets), mechanism.buckets
    if g ** (family.digits + 1) * family.base > _MOST_HASHES:
        return None
    # One axis a digit, the least first, then the bucket, where each value starts in bucket 0.
    full = np.zeros(family.base**family.digits)
    full[: len(z)] = z
    shape = (family.base,) * family.digits
    sums = np.zeros((*shape, g))
    sums[..., 0] = full.reshape(shape).transpose(range(family.digits - 1, -1, -1))
    for digit in range(family.digits):
        sums = replace_digit(sums, digit, g, 1)
    return sums.ravel()
