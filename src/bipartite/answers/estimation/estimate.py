"""What reports say about the people, with error bars."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, Final, Literal, overload

import numpy as np

from bipartite.answers.estimation.asking import CIRCULAR, Question, circle_of, line_of, quantile_of, weights_of
from bipartite.answers.estimation.asking_pairs import names_of_two
from bipartite.answers.estimation.circular import CircularAnswers
from bipartite.answers.estimation.intervals import (
    FEW,
    ConfidenceInterval,
    check_confidence,
    few_note,
    half_widths,
    within,
)
from bipartite.answers.estimation.joint import JointEstimate
from bipartite.answers.estimation.linear import Answer
from bipartite.answers.estimation.moments import variance_answer, variance_interval
from bipartite.answers.estimation.pair_domain import OfProduct
from bipartite.answers.estimation.pictures import UNNAMED, Naming, drawn
from bipartite.answers.estimation.poisoning import poisoned, tipping_point
from bipartite.answers.estimation.ranges import RANGES, RangeShare, spans
from bipartite.answers.estimation.rows import RANGE_COLUMNS, range_rows
from bipartite.answers.estimation.wording import answers_in_words, share_table
from bipartite.domains import Cyclic, Product
from bipartite.errors import InputError, MissingExtraError, how_many, shown
from bipartite.texts import in_notebooks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from numpy.typing import NDArray
    from pandas import DataFrame

    from bipartite.answers.estimation.asking import Asked, Weights
    from bipartite.answers.estimation.em import Fit
    from bipartite.answers.estimation.goodness import GoodnessOfFit
    from bipartite.answers.estimation.histogram import Histogram
    from bipartite.answers.estimation.identify import Identifiability
    from bipartite.answers.estimation.linear import LinearAnswers
    from bipartite.answers.estimation.poisoning import Poisoning
    from bipartite.answers.estimation.ranges import Bins
    from bipartite.domains import Domain
    from bipartite.mechanisms import Mechanism
    from bipartite.mechanisms.categories import CategoryMechanism
    from bipartite.plots import Picture

    Array = NDArray[np.float64]

_UNLUCKY: Final = "no population has an answer in this range, so the sample is an unlucky one"
_MOVED: Final = "the answer is unbiased, and chance has moved it beyond what is possible"
_DOUBTED: Final = "no population has an answer in this range: these reports cannot have come from this mechanism"
_NOT_KNOWN: Final = "the reports cannot tell all values apart, so that no number of them would narrow this"
_TWO: Final = 2


class Estimate:
    """Answers from the reports of one mechanism. Made by :func:`bipartite.estimate`.

    The mean, the variance and other linear answers are averages of scores that are unbiased for every population,
    whatever the method. Shares, the share up to a value, quantiles, pictures and frames come from one histogram, and
    the method decides how that is made.
    """

    mechanism: Mechanism | CategoryMechanism
    people: int
    """How many reports there were."""
    of_sample: bool
    """Whether errors are for the people who answered; otherwise for the population that they are drawn from."""

    def __init__(self, answers: LinearAnswers, histogram: Callable[[], Histogram]) -> None:
        self.mechanism, self.people, self.of_sample = answers.mechanism, answers.people, answers.of_sample
        self._answers, self._make_histogram = answers, histogram

    @property
    def domain(self) -> Domain:
        """The values that the answers are about: those of the mechanism, or one part of pairs."""
        return self._answers.domain

    def joint(self, names: tuple[str, str] = ("first", "second")) -> JointEstimate:
        """What the reports say about both values of each person together, on a :class:`~bipartite.Product` of two.

        ``est.joint(("age", "income"))`` gives the two parts names, which its questions use: shares of pairs and of
        ranges of both, correlation, means by a private group, and each value alone (``joint.marginal("age")``).
        """
        domain = self.domain
        if not isinstance(domain, Product) or len(domain.parts) != _TWO:
            msg = (
                f"Expected reports about pairs of values, got {domain!r}; report on bp.Product(a, b), or use "
                "bp.estimate_joint with the reports of a bp.Record."
            )
            raise InputError(msg)
        answers = OfProduct(domain, self._answers, lambda: self._histogram, Estimate)
        return JointEstimate(names_of_two(names), answers, lambda: self._histogram)

    @functools.cached_property
    def _histogram(self) -> Histogram:
        return self._make_histogram()

    @property
    def effective_people(self) -> float:
        """How many equally weighted reports would be as certain: (Σw)²/Σw²; without weights, all of them."""
        return self._answers.effective

    @property
    def method(self) -> str:
        """How the histogram was made."""
        return self._histogram.method

    @property
    def reason(self) -> str:
        """Why by this method."""
        return self._histogram.reason

    @property
    def fit(self) -> Fit | None:
        """How the fit ended; None for other methods."""
        return self._histogram.fit

    @property
    def identifiability(self) -> Identifiability | None:
        """What the reports can tell apart; None where that was too large to decide, or where it is all (categories)."""
        return self._answers.found

    @functools.cached_property
    def fits(self) -> GoodnessOfFit:
        """Whether these reports can have come from the mechanism, whatever the people are like.

        The p-value is a bound that holds for any number of reports and any people. Compared are the share of each
        output with what its likeliest and its unlikeliest value give, and all shares, one by one and in groups of
        neighbours, with those of the most likely population. Of flat categories: how often each value is supported,
        what all shares add up to and, where the reports are at hand, how many values each of them supports
        (:class:`~bipartite.OUE` and others), which numbers they are (:class:`~bipartite.HadamardResponse`), or how
        their hash functions were drawn (:class:`~bipartite.OLH`). Weights do not count here.

        A good fit does not prove that reports are true.
        """
        return self._answers.fits(self.frequencies)

    @property
    def doubt(self) -> str:
        """Why these reports cannot have come from the mechanism, whatever the people are like; mostly empty.

        True reports are doubted with a chance of at most 1e-6; :attr:`fits` has the p-value.
        """
        return self.fits.doubt

    def poisoning(self, k: int, of: Asked = "mean") -> Poisoning:
        """How far k forged reports, in the place of any k of these, can move an answer; ``of`` as in :meth:`interval`.

        Exact for the mean and for weights: those who knew all reports could reach both ends; so it is for unbiased
        shares where their scores are fixed. A bound where scores are fitted (shares from padded windows; one weight a
        value asks for fixed ones), for projected shares, quantiles and the variance, and for flat categories where only
        counts are given. No bound is proved for what is read off a most likely or smoothed distribution; there the
        range is all that exists, and the note says so. A forged report is any that the mechanism has. Weights stay with
        the people.
        """
        return poisoned(self, self._answers, self._histogram, k, of)

    def tipping_point(self, confidence: float = 0.95, *, of: Asked = "mean") -> int | None:
        """The least number of forged reports that can move an answer out of its own interval, by :meth:`poisoning`.

        Where that is a bound, no fewer can. None where not even forging every report is seen to.
        """
        return tipping_point(self, check_confidence(confidence), of)

    @property
    def frequencies(self) -> Array:
        """The share of each value, in the order of the domain."""
        return self._histogram.frequencies

    @property
    def standard_errors(self) -> Array:
        """The standard error of each unbiased share; not a number where a curve was fitted (``bins_note`` says why)."""
        return self._histogram.share_errors

    @property
    def bins_note(self) -> str:
        """Why single shares have no intervals; empty where they have."""
        return self._histogram.bins_note

    @property
    def mean(self) -> float:
        """The mean of the values."""
        return self._answer(Question.read("mean", self.domain)).value

    @property
    def variance(self) -> float:
        """The variance of the values."""
        return self.unbiased("variance").value

    @property
    def median(self) -> float:
        """The least value that at least half of the people are up to."""
        return self.quantile(0.5)

    def quantile(self, q: float, origin: object = None) -> float:
        """The least value that at least a share q of the people are up to, from the histogram.

        Around a circle, the first such value counted up from ``origin``: ``est.quantile(0.5, origin=18)``. It is a
        number, counted from 0 where values are labels.
        """
        wanted = quantile_of(q)
        if origin is None:
            domain = line_of(self.domain)
            return float(domain.decode(self._histogram.quantile(wanted)))
        return self._circular.quantile(wanted, circle_of(self.domain).encode(origin))

    @property
    def circular_mean(self) -> float:
        """The mean direction of values that go around (:class:`~bipartite.Cyclic`), from the first value on.

        Counted from 0 where values are labels. :meth:`interval` says whether it is determined.
        """
        return self._circular.mean

    @property
    def resultant_length(self) -> float:
        """How much values that go around point one way: 1 where all are the same, 0 where no direction is preferred."""
        return self._circular.length

    @property
    def circular_spread(self) -> float:
        """The circular standard deviation of values that go around, √(−2 ln R)·N/2π with R the resultant length."""
        return self._circular.spread

    @overload
    def cdf(self, value: None = ...) -> Array: ...

    @overload
    def cdf(self, value: object) -> float: ...

    def cdf(self, value: object = None) -> Array | float:
        """The share of people up to a value, or without one at every value, from the histogram."""
        domain = line_of(self.domain)
        running = self._histogram.cdf
        return running if value is None else float(running[domain.encode(value)])

    def ranges(self, bins: Bins = RANGES, confidence: float = 0.95) -> list[RangeShare]:
        """The shares of public ranges of a line or arcs of a circle, with intervals.

        ``bins`` is a number of ranges with about equally many values each, or a list of edges: a range begins at each
        edge and ends before the next. On a line what lies below the first edge is a range, too, and a last edge that
        is the last value ends the last range; ``est.ranges([30, 45, 65])`` gives 18 to 29, 30 to 44, 45 to 64 and 65 to
        90. Around a circle, edges are values, and the last arc goes on up to the first edge.

        Given as a number, the ranges depend on the domain and the mechanism alone, never on reports: values that the
        reports cannot tell apart stay in one range. Around a circle they begin at its first value, and values that are
        labels are counted from 0. Choose edges before you see the answers, or intervals hold less often than they say.
        """
        sure, domain = check_confidence(confidence), self.domain
        cut = spans(domain, bins, self._answers.found)
        domain = domain.numbers if isinstance(domain, Cyclic) else line_of(domain)
        running, found = np.append(0.0, self._histogram.cdf), []
        for first, count in cut:
            w = np.zeros(len(domain))
            inside = np.arange(first, first + count) % len(domain)
            w[inside] = 1.0
            interval = self._histogram.interval(w, sure)
            past = max(0, first + count - len(domain))  # around a circle
            # The interval holds the share but for rounding.
            share = running[first + count - past] - running[first] + running[past]
            ends = float(domain.decode(first)), float(domain.decode(inside[-1]))
            found.append(RangeShare(*ends, float(np.clip(share, *interval)), interval))
        return found

    def linear(self, weights: Weights) -> float:  # one number a value
        """Σ weights·share: the average over people of what each one's value counts."""
        return self._answer(Question("linear", weights_of(self.domain, weights))).value

    def total(self, weights: Weights | Literal["mean"] = "mean", population: float | None = None) -> float:
        """The sum over people: of their values, or of what each value counts; over ``population``, or all who reported.

        ``est.total(population=5_000_000)`` scales the mean to a population that the people were drawn from.
        """
        if population is not None and not _is_number(population):
            msg = f"Expected population as a number of people of at least 0, got {shown(population)}."
            raise InputError(msg)
        people = self._answers.size if population is None else float(population)
        return people * (self.mean if isinstance(weights, str) and weights == "mean" else self.linear(weights))

    def standard_error(self, of: Asked = "mean") -> float:
        """The standard error of an unbiased answer; infinite where the reports cannot tell, undefined for quantiles."""
        return self.unbiased(of).standard_error

    def unbiased(self, of: Asked = "mean") -> Answer:
        """An answer as an average of scores: its value, standard error and the spread of the scores."""
        asked = Question.read(of, self.domain)
        if asked.kind == "quantile" or asked.kind in CIRCULAR:
            what = "A quantile" if asked.kind == "quantile" else f"The {asked.kind.replace('_', ' ')}"
            msg = f"{what} is not an average and has no standard error; use est.interval(0.95, of=…)."
            raise InputError(msg)
        if asked.kind == "variance":
            return variance_answer(self._answers, self.frequencies)
        return self._answer(asked)

    def interval(self, confidence: float = 0.95, of: Asked = "mean") -> ConfidenceInterval:
        """(low, high) that holds the true answer in about this share of all samples, and always the answer shown.

        ``of`` is "mean", "variance", "median", ("quantile", q), ("cdf", value), ("bin", value), ("range", first, last)
        or one weight a value. Around a circle it is "circular_mean", "resultant_length", "circular_spread",
        ("range", first, last), which goes on past the last value, ("quantile", q, origin), ("bin", value) or one
        weight a value; an arc runs from its first number up to its second, which is the smaller where it goes past the
        last value. With fewer than 50 reports a wider interval is given that does not rest on the normal
        law, and its ``note`` says whether it is proved. Where hardly any report bears on the answer, as for a rare
        value, it is wider than the standard error tells. Where the reports cannot tell values apart, it holds
        everything that they leave open.
        """
        sure = check_confidence(confidence)
        asked = Question.read(of, self.domain)
        if asked.kind == "variance":
            return variance_interval(self._answers, self._histogram, sure)
        if asked.kind == "quantile" or asked.kind in CIRCULAR:
            return self._of_no_average(asked, sure)
        if asked.kind == "bin" and not self.bins_note:
            low, high = (float(end[asked.index]) for end in self.share_bounds(sure))
            return self._possible(low, high, float(self.frequencies[asked.index]), (0.0, 1.0), sure)
        if asked.kind in {"cdf", "range", "bin"}:
            return self._histogram.interval(asked.weights, sure)
        answer = self._answers.answer(asked.weights)
        possible = asked.middle + float(asked.weights.min()), asked.middle + float(asked.weights.max())
        if answer is None:
            low, high = (asked.middle + end for end in self._histogram.interval(asked.weights, sure))
            return ConfidenceInterval(low, high, sure, _NOT_KNOWN)
        half = float(half_widths(answer.standard_error, answer.spread, self._answers.effective, sure))
        value = asked.middle + answer.value
        return self._possible(value - half, value + half, value, possible, sure)

    def covariance(self, weights: Iterable[Weights]) -> tuple[Array, Array]:  # rows of one number a value
        """(answers, their covariance) for several linear answers at once, one a row of ``weights``."""
        w = np.stack([weights_of(self.domain, row) for row in weights])
        answers = self._answers.covariance(w)
        if answers is None:
            msg = (
                f"The reports cannot tell values apart that these answers tell apart: {self._answers.found}; collect "
                "with edges='padded' or GRR."
            )
            raise InputError(msg)
        return answers

    def group_shares(self) -> list[tuple[list[Any], float, float]]:
        """(values, share, standard error) for every group of values that the reports can tell from all others."""
        return self._answers.group_shares()

    def to_frame(self, confidence: float = 0.95, bins: Bins | None = None) -> DataFrame:
        """A row for every value: value, share, standard error, low, high; the last three empty for a fitted curve.

        With ``bins``, as in :meth:`ranges`, a row for every range: first, last, share, low, high.
        """
        try:
            import pandas as pd  # noqa: PLC0415 (only people who ask for a frame need it)
        except ImportError:
            msg = "to_frame needs pandas; install it, or use est.frequencies and est.standard_errors."
            raise MissingExtraError(msg) from None
        if bins is not None:
            return pd.DataFrame(range_rows(self, check_confidence(confidence), bins), columns=list(RANGE_COLUMNS))
        low, high = self.share_intervals(confidence)
        return pd.DataFrame(
            {
                "value": self.domain.to_numpy(),
                "share": self.frequencies,
                "standard_error": self.standard_errors,
                "low": low,
                "high": high,
            }
        )

    def share_intervals(self, confidence: float = 0.95) -> tuple[Array, Array]:
        """(low, high) of the share of each value, in the order of the domain; each alone holds with this confidence.

        Not numbers where a curve was fitted (``bins_note`` says why); :meth:`ranges` has intervals there.
        """
        bounds = self.share_bounds(check_confidence(confidence))
        return within(*bounds, self.frequencies, (0.0, 1.0), at_least=self._answers.effective < FEW)

    def share_bounds(self, sure: float) -> tuple[Array, Array]:
        """:meth:`share_intervals` also past what is possible: around a negative share."""
        return self._histogram.share_bounds(sure)

    def plot(
        self,
        file: str | Path | None = None,
        confidence: float = 0.95,
        bins: Bins | None = None,
        *,
        title: str = "",
        label: str = UNNAMED,
        unit: str = "",
    ) -> Picture:
        """A picture of the shares with their intervals, as SVG text, written to ``file`` (.svg, .png) if one is given.

        On a line a histogram with the mean and the median above it (for more than 120 values a line in a band), or a
        fitted curve over the intervals of ten ranges; elsewhere bars, the largest 40 first. Unbiased shares may lie
        below zero and are drawn there. What the reports cannot tell apart is hatched. A notebook shows the picture.

        ``bins`` asks for the bands of other ranges, as in :meth:`ranges`. ``label`` and ``unit`` name the values:
        ``est.plot("ages.svg", title="Readers", label="age", unit="years")``.
        """
        return drawn(self, check_confidence(confidence), file, bins, Naming(title, label, unit))

    def summary(self, confidence: float = 0.95, bins: Bins | None = None) -> str:
        """The answers in words, with intervals, and a table of shares.

        The table has the shares of ``bins`` as in :meth:`ranges`; without them those of ten ranges, of each value where
        there are few, or the largest ones where values are names.
        """
        return "\n".join(
            [*answers_in_words(self, check_confidence(confidence)), *share_table({None: self}, confidence, bins)]
        )

    def _repr_html_(self) -> str:
        return in_notebooks(self.summary(), self.plot())

    def __repr__(self) -> str:
        return f"<Estimate from {how_many(self.people, 'report')} of {self.mechanism!r}, method {self.method!r}>"

    def _answer(self, asked: Question) -> Answer:
        """The unbiased answer, or where there is none what the histogram says, with an infinite error."""
        answers = self._answers
        if asked.kind == "bin":
            found = answers.share(asked.index)
        elif asked.kind in {"cdf", "range"}:
            share = answers.together(asked.weights[None])
            found = None if share is None else share.first
        else:
            found = answers.answer(asked.weights)
        if found is None:
            return Answer(asked.middle + float(asked.weights @ self.frequencies), math.inf, math.inf)
        return found._replace(value=asked.middle + found.value)

    def _possible(
        self, low: float, high: float, shown: float, possible: tuple[float, float], sure: float
    ) -> ConfidenceInterval:
        """The interval of an average of scores, less what no population could give."""
        few = self._answers.effective < FEW
        first, last = within(low, high, shown, possible, at_least=few)
        beyond = high < possible[0] or low > possible[1]
        moved = _MOVED if shown < possible[0] or shown > possible[1] else ""
        why = moved if not beyond else _DOUBTED if self.doubt else _UNLUCKY
        notes = (few_note(self._answers.effective) if few else "", why)
        return ConfidenceInterval(float(first), float(last), sure, "; ".join(note for note in notes if note))

    def _of_no_average(self, asked: Question, sure: float) -> ConfidenceInterval:
        """The interval of a quantile, or of what belongs to a circle."""
        if isinstance(self.domain, Cyclic):
            return self._circular.interval(asked, sure)
        domain = line_of(self.domain)
        low, high, note = self._histogram.quantile_interval(float(asked.q), sure)
        return ConfidenceInterval(float(domain.decode(low)), float(domain.decode(high)), sure, note)

    @functools.cached_property
    def _circular(self) -> CircularAnswers:
        return CircularAnswers(self._answers, lambda: self._histogram)


def _is_number(people: object) -> bool:
    """Whether something is a finite number of at least 0."""
    if isinstance(people, bool) or not isinstance(people, (int, float, np.integer, np.floating)):
        return False
    return 0 <= float(people) < math.inf
