"""What reports say about the people, with error bars."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, Final, Literal, overload

import numpy as np

from bipartite.answers.estimation import answer as asked_answer
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
from bipartite.answers.estimation.pictures import plot_estimate
from bipartite.answers.estimation.poisoning import measure_poisoning, tipping_point
from bipartite.answers.estimation.ranges import RANGES, is_number, range_shares, spans
from bipartite.answers.estimation.rows import RANGE_COLUMNS, range_rows
from bipartite.answers.estimation.showing import Shown, load_pandas
from bipartite.answers.estimation.wording import answers_in_words, share_table
from bipartite.errors import InputError, how_many, shown

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
    from bipartite.answers.estimation.pictures import Naming
    from bipartite.answers.estimation.poisoning import Poisoning
    from bipartite.answers.estimation.ranges import Bins, RangeShare
    from bipartite.domains import Domain
    from bipartite.mechanisms import Mechanism
    from bipartite.plots import Picture

    Array = NDArray[np.float64]

_UNLUCKY: Final = "no population has an answer in this range, so the sample is an unlucky one"
_MOVED: Final = "the answer is unbiased, and chance has moved it beyond the possible range"
_DOUBTED: Final = "no population has an answer in this range: these reports cannot have come from this mechanism"
_NOT_KNOWN: Final = "the reports cannot tell all values apart, so no number of them would narrow this"
_TWO: Final = 2


class Estimate(Shown):
    """Answers from the reports of one mechanism. Made by :func:`bipartite.estimate`.

    The mean, the variance and other linear answers are averages of scores and unbiased for every population, whatever
    the method. Shares, cumulative shares, quantiles, pictures and frames come from one histogram, which the method
    decides how to make.
    """

    mechanism: Mechanism
    people: int
    """The number of reports."""
    of_sample: bool
    """Whether errors refer to the people who answered; otherwise to the population they are drawn from."""

    def __init__(self, answers: LinearAnswers, histogram: Callable[[], Histogram]) -> None:
        self.mechanism, self.people, self.of_sample = answers.mechanism, answers.people, answers.of_sample
        self._answers, self._make_histogram = answers, histogram
        self._source = answers

    # The surface at 1.0, over the insides of today; these are being replaced.

    @property
    def nobs(self) -> int:
        """The number of reports."""
        return self.people

    @property
    def shares(self) -> Array:
        """The share of each value, in the order of the domain."""
        return self._histogram.frequencies

    @property
    def std(self) -> float:
        """The standard deviation of the values."""
        return self.ask("std").value

    @property
    def check(self) -> GoodnessOfFit:
        """Whether these reports can have come from the mechanism, for any population."""
        return self.fits

    @property
    def identifiable(self) -> bool | None:
        """Whether the reports can tell all values apart; None if there are too many to decide."""
        return None if self._answers.found is None and not self._answers.tells_all else self._answers.tells_all

    def ask(self, of: Asked = "mean") -> asked_answer.Answer:
        """The answer to a question."""
        if isinstance(of, str) and of == "std":
            inner = self.ask("variance")
            root = math.sqrt(max(inner.value, 0.0))

            def interval(sure: float) -> ConfidenceInterval:
                found = inner.interval(sure)
                return ConfidenceInterval(*(math.sqrt(max(end, 0.0)) for end in found), sure, found.note)

            return asked_answer.Answer(root, inner.se / (2 * root) if root else math.inf, interval)
        asked = Question.read(of, self.domain)
        if asked.kind in CIRCULAR:
            value, error = getattr(self, asked.kind), math.nan
        elif asked.kind == "quantile":
            value = self.quantile(asked.q, None if not self.domain.wraps else of[2])
            error = math.nan
        elif asked.kind in {"bin", "cdf", "range"}:
            value = float(asked.weights @ (self.shares if asked.kind == "bin" else self._histogram.distribution))
            error = self.unbiased(of).standard_error
        else:
            value, error, _ = self.unbiased(of)

        def forge(k: int) -> asked_answer.Forged:
            found = self.poisoning(k, of)
            return asked_answer.Forged(found.low, found.high, found.note)

        return asked_answer.Answer(value, error, lambda sure: self.interval(sure, of), forge)

    @property
    def domain(self) -> Domain:
        """The values that the answers are about: those of the mechanism, or one part of its pairs."""
        return self._answers.domain

    def joint(self, names: tuple[str, str] = ("first", "second")) -> JointEstimate:
        """The joint distribution of both values of each person, for reports on a :class:`~bipartite.Product` of two.

        ``est.joint(("age", "income"))`` names the two parts. It answers shares of pairs and of ranges of both, the
        correlation, means by a private group, and each value alone (``joint.marginal("age")``).
        """
        domain = self.domain
        if not domain.parts or len(domain.parts) != _TWO:
            raise InputError(
                f"Expected reports about pairs of values, got {domain!r}; report on bp.Product(a, b), or use "
                "bp.estimate_joint with the reports of a bp.Record."
            )
        answers = OfProduct(domain, self._answers, lambda: self._histogram, Estimate)
        return JointEstimate(names_of_two(names), answers, lambda: self._histogram)

    @functools.cached_property
    def _histogram(self) -> Histogram:
        return self._make_histogram()

    @property
    def effective_people(self) -> float:
        """The number of equally weighted reports with the same precision, (Σw)²/Σw²; without weights, all of them."""
        return self._answers.effective

    @property
    def method(self) -> str:
        """How the histogram was made."""
        return self._histogram.method

    @property
    def reason(self) -> str:
        """Why this method was used."""
        return self._histogram.reason

    @property
    def fit(self) -> Fit | None:
        """How the fit ended; None for methods that fit nothing."""
        return self._histogram.fit

    @property
    def identifiability(self) -> Identifiability | None:
        """Which values the reports can tell apart; None if there are too many to decide, or for flat categories."""
        return self._answers.found

    @functools.cached_property
    def fits(self) -> GoodnessOfFit:
        """Whether these reports can have come from the mechanism, for any population.

        The p-value is a bound that holds for any number of reports and any population. The test compares the share of
        each output with its smallest and largest possible probability, and all shares, one by one and in groups of
        neighbours, with those of the most likely population. For flat categories it looks at how often each value is
        supported, at the sum of all shares and, if the reports themselves are available, at the number of values that
        each supports (:class:`~bipartite.OUE` and others), at the numbers reported
        (:class:`~bipartite.HadamardResponse`), or at how the hash functions were drawn (:class:`~bipartite.OLH`).
        Weights are ignored.

        A good fit does not prove that the reports are honest.
        """
        return self._answers.fits(self.frequencies)

    @property
    def doubt(self) -> str:
        """Why these reports cannot have come from the mechanism, for any population; usually empty.

        Honest reports are doubted with probability at most 1e-6; :attr:`fits` has the p-value.
        """
        return self.fits.doubt

    def poisoning(self, k: int, of: Asked = "mean") -> Poisoning:
        """How far k forged reports, replacing any k of these, can move an answer; ``of`` as in :meth:`interval`.

        Exact for the mean and for weights: an attacker who knew all reports could reach both ends. Also exact for
        unbiased shares with fixed scores. A bound if scores are fitted (shares from padded windows; with one weight per
        value they are fixed), for projected shares, quantiles and the variance, and for flat categories if only counts
        are given. No bound is proved for answers read off a most likely or smoothed distribution; there the whole
        possible range is given, and the note says so. A forged report is any output of the mechanism. Weights stay with
        the people.
        """
        return measure_poisoning(self, self._answers, self._histogram, k, of)

    def tipping_point(self, confidence: float = 0.95, *, of: Asked = "mean") -> int | None:
        """The smallest number of forged reports that can move an answer out of its own interval, by :meth:`poisoning`.

        If that is a bound, no smaller number can. None if even forging every report is not shown to.
        """
        return tipping_point(self, check_confidence(confidence), of)

    @property
    def frequencies(self) -> Array:
        """The share of each value, in the order of the domain."""
        return self._histogram.frequencies

    @property
    def standard_errors(self) -> Array:
        """The standard error of each unbiased share; NaN if a curve was fitted (``bins_note`` says why)."""
        return self._histogram.share_errors

    @property
    def bins_note(self) -> str:
        """Why single shares have no intervals; empty if they have."""
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
        """The smallest value such that at least half of the people have it or a smaller one."""
        return self.quantile(0.5)

    def quantile(self, q: float, origin: object = None) -> float:
        """The smallest value whose cumulative share is at least q, from the histogram.

        Around a circle, the first such value counting up from ``origin``: ``est.quantile(0.5, origin=18)``. The result
        is a number; labels are counted from 0.
        """
        wanted = quantile_of(q)
        if origin is None:
            domain = line_of(self.domain)
            return float(domain.decode(self._histogram.quantile(wanted)))
        return self._circular.quantile(wanted, circle_of(self.domain).encode(origin))

    @property
    def circular_mean(self) -> float:
        """The mean direction of values on a circle (:class:`~bipartite.Cyclic`), from its first value on.

        Labels are counted from 0. :meth:`interval` says whether the direction is determined.
        """
        return self._circular.mean

    @property
    def resultant_length(self) -> float:
        """How concentrated the values of a circle are: 1 if all are equal, 0 if no direction is preferred."""
        return self._circular.length

    @property
    def circular_spread(self) -> float:
        """The circular standard deviation, √(−2 ln R)·N/2π with R the resultant length."""
        return self._circular.spread

    @overload
    def cdf(self, value: None = ...) -> Array: ...

    @overload
    def cdf(self, value: object) -> float: ...

    def cdf(self, value: object = None) -> Array | float:
        """The cumulative share at a value, or at every value if none is given, from the histogram."""
        domain = line_of(self.domain)
        running = self._histogram.cdf
        return running if value is None else float(running[domain.encode(value)])

    def ranges(self, bins: Bins = RANGES, confidence: float = 0.95) -> list[RangeShare]:
        """The shares of public ranges of a line or arcs of a circle, with intervals.

        ``bins`` is the number of ranges, which then have about equally many values each, or a list of edges: a range
        begins at each edge and ends before the next. On a line, the values below the first edge form a range too, and a
        last edge that equals the last value ends the last range; ``est.ranges([30, 45, 65])`` gives 18 to 29, 30 to 44,
        45 to 64 and 65 to 90. Around a circle, edges are values, and the last arc continues up to the first edge.

        Given as a number, the ranges depend only on the domain and the mechanism, never on reports: values that the
        reports cannot tell apart stay in one range. Around a circle they begin at its first value, and labels are
        counted from 0. Choose edges before you see the answers; otherwise intervals have less than their confidence.
        """
        sure = check_confidence(confidence)
        return range_shares(self.domain, spans(self.domain, bins, self._answers.found), self._histogram, sure)

    def linear(self, weights: Weights) -> float:
        """Σ weights·share, with one weight per value: the average weight over people."""
        return self._answer(Question("linear", weights_of(self.domain, weights))).value

    def total(self, weights: Weights | Literal["mean"] = "mean", population: float | None = None) -> float:
        """The sum over people of their values, or of the weights of these; over ``population``, or all who reported.

        ``est.total(population=5_000_000)`` scales the mean up to the population that the people were drawn from.
        """
        if population is not None and not (is_number(population) and population >= 0):
            raise InputError(f"Expected population as a number of people of at least 0, got {shown(population)}.")
        people = self._answers.size if population is None else float(population)
        return people * (self.mean if isinstance(weights, str) and weights == "mean" else self.linear(weights))

    def standard_error(self, of: Asked = "mean") -> float:
        """The standard error of an unbiased answer; infinite if the reports cannot tell, undefined for quantiles."""
        return self.unbiased(of).standard_error

    def unbiased(self, of: Asked = "mean") -> Answer:
        """An answer as an average of scores: its value, its standard error and the spread of the scores."""
        asked = Question.read(of, self.domain)
        if asked.kind == "quantile" or asked.kind in CIRCULAR:
            what = "A quantile" if asked.kind == "quantile" else f"The {asked.kind.replace('_', ' ')}"
            raise InputError(f"{what} is not an average and has no standard error; use est.interval(0.95, of=…).")
        if asked.kind == "variance":
            return variance_answer(self._answers, self.frequencies)
        return self._answer(asked)

    def interval(self, confidence: float = 0.95, of: Asked = "mean") -> ConfidenceInterval:
        """A confidence interval (low, high), which always contains the answer shown.

        ``of`` is "mean", "variance", "median", ("quantile", q), ("cdf", value), ("bin", value), ("range", first, last)
        or one weight per value. Around a circle it is "circular_mean", "resultant_length", "circular_spread",
        ("range", first, last), which may continue past the last value, ("quantile", q, origin), ("bin", value) or one
        weight per value; an arc runs from its first number up to its second, which is the smaller one if the arc passes
        the last value. With fewer than 50 reports a wider interval is given that does not rest on the normal
        approximation, and its ``note`` says whether it is proved. If hardly any report bears on the answer, as for a
        rare value, it is wider than the standard error suggests. If the reports cannot tell values apart, it contains
        everything that they leave open.
        """
        sure = check_confidence(confidence)
        asked = Question.read(of, self.domain)
        if asked.kind == "variance":
            return variance_interval(self._answers, self._histogram, sure)
        if asked.kind == "quantile" or asked.kind in CIRCULAR:
            return self._interval_of_non_average(asked, sure)
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

    def covariance(self, weights: Iterable[Weights]) -> tuple[Array, Array]:
        """(answers, their covariance) for several linear answers at once, one per row of ``weights``."""
        w = np.stack([weights_of(self.domain, row) for row in weights])
        answers = self._answers.covariance(w)
        if answers is None:
            raise InputError(
                f"These answers depend on values that the reports cannot tell apart: {self._answers.found}; collect "
                "with edges='padded' or GRR."
            )
        return answers

    def group_shares(self) -> list[tuple[list[Any], float, float]]:
        """(values, share, standard error) for every group of values that the reports cannot tell from each other."""
        return self._answers.group_shares()

    def to_frame(self, bins: Bins | None = None, confidence: float = 0.95) -> DataFrame:
        """A row for every value: value, share, standard error, low, high, note.

        Where a curve was fitted, standard error, low and high are NaN, and the note says why. With ``bins``, as in
        :meth:`ranges`, a row for every range: first, last, share, low, high, note.
        """
        pd = load_pandas("est.shares")
        if bins is not None:
            rows = range_rows(self, check_confidence(confidence), bins)
            found: DataFrame = pd.DataFrame(rows, columns=list(RANGE_COLUMNS))
        else:
            values = self.domain.to_numpy()
            named = values if values.dtype.names is None else values.tolist()  # pandas cannot select rows of records
            columns = named, self.frequencies, self.standard_errors, *self.share_intervals(confidence)
            found = pd.DataFrame(dict(zip(("value", "share", "se", "low", "high"), columns, strict=True)))
        found["note"] = [self.bins_note if missing else "" for missing in found["low"].isna()]
        return found

    def share_intervals(self, confidence: float = 0.95) -> tuple[Array, Array]:
        """(low, high) of the share of each value, in the order of the domain, each with this confidence on its own.

        NaN if a curve was fitted (``bins_note`` says why); :meth:`ranges` has intervals there.
        """
        bounds = self.share_bounds(check_confidence(confidence))
        return within(*bounds, self.frequencies, (0.0, 1.0), at_least=self._answers.effective < FEW)

    def share_bounds(self, sure: float) -> tuple[Array, Array]:
        """:meth:`share_intervals` not cut to the possible range: around a negative share."""
        return self._histogram.share_bounds(sure)

    def _lines(self, confidence: float, bins: Bins | None) -> list[str]:
        return [*answers_in_words(self, confidence), *share_table({None: self}, confidence, bins)]

    def _draw(self, confidence: float, file: str | Path | None, bins: Bins | None, naming: Naming) -> Picture:
        return plot_estimate(self, confidence, file, bins, naming)

    def __repr__(self) -> str:
        return f"<Estimate from {how_many(self.people, 'report')} of {self.mechanism!r}, method {self.method!r}>"

    def _answer(self, asked: Question) -> Answer:
        """The unbiased answer or, if there is none, that of the histogram with an infinite error."""
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
        """The interval of an average of scores, cut to what some population could give."""
        few = self._answers.effective < FEW
        first, last = within(low, high, shown, possible, at_least=few)
        beyond = high < possible[0] or low > possible[1]
        moved = _MOVED if shown < possible[0] or shown > possible[1] else ""
        why = moved if not beyond else _DOUBTED if self.doubt else _UNLUCKY
        notes = (few_note(self._answers.effective) if few else "", why)
        return ConfidenceInterval(float(first), float(last), sure, "; ".join(note for note in notes if note))

    def _interval_of_non_average(self, asked: Question, sure: float) -> ConfidenceInterval:
        """The interval of a quantile, or of a circular answer."""
        if self.domain.wraps:
            return self._circular.interval(asked, sure)
        domain = line_of(self.domain)
        low, high, note = self._histogram.quantile_interval(float(asked.q), sure)
        return ConfidenceInterval(float(domain.decode(low)), float(domain.decode(high)), sure, note)

    @functools.cached_property
    def _circular(self) -> CircularAnswers:
        return CircularAnswers(self._answers, lambda: self._histogram)
