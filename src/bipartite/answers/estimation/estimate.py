"""What reports say about the people, with error bars."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, Final, overload

from bipartite.answers.estimation.answer import Answer, Forged
from bipartite.answers.estimation.circular import NOT_KNOWN, Circular
from bipartite.answers.estimation.intervals import ConfidenceInterval, check_confidence
from bipartite.answers.estimation.joint import joint_of
from bipartite.answers.estimation.moments import root, variance
from bipartite.answers.estimation.pictures import plot_estimate
from bipartite.answers.estimation.question import CIRCULAR, Question, circle_of, line_of, quantile_of
from bipartite.answers.estimation.rows import RANGE_COLUMNS, range_rows, share_intervals
from bipartite.answers.estimation.sample import moved_note
from bipartite.answers.estimation.showing import Shown, load_pandas
from bipartite.answers.estimation.wording import answers_in_words, share_table
from bipartite.errors import how_many

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from matplotlib.axes import Axes
    from numpy.typing import NDArray
    from pandas import DataFrame

    from bipartite.answers.estimation.goodness import GoodnessOfFit
    from bipartite.answers.estimation.histogram import Histogram
    from bipartite.answers.estimation.joint import JointEstimate
    from bipartite.answers.estimation.pictures import PictureOptions
    from bipartite.answers.estimation.question import Asked
    from bipartite.answers.estimation.ranges import Bins, RangeShare
    from bipartite.answers.estimation.source import Source
    from bipartite.domains import Domain
    from bipartite.mechanisms import Mechanism

    Array = NDArray[np.float64]

_DOUBTED: Final = "no population has an answer in this range: these reports cannot have come from this mechanism"
_NOT_DETERMINED: Final = "the reports do not determine this answer, so this is the whole possible range"
_OTHER_SCORES: Final = "of the unbiased share; no bound is proved for the share that is shown"


class Estimate(Shown):
    """Answers from the reports of one mechanism. Made by :func:`bipartite.estimate`; ``print(est)`` shows a summary.

    The mean, the variance and averages of weights are averages of scores and unbiased for every population, whatever
    the method. Shares of values and ranges, quantiles, pictures and frames come from one histogram, which the method
    decides how to make.
    """

    def __init__(self, source: Source, histogram: Callable[[], Histogram]) -> None:
        self._source, self._make_histogram = source, histogram
        # Ranges are shown as text, as pictures and as rows, and their intervals may take long.
        self._kept_ranges: dict[tuple[Any, ...], list[RangeShare]] = {}

    @functools.cached_property
    def _histogram(self) -> Histogram:
        return self._make_histogram()

    @property
    def mechanism(self) -> Mechanism:
        """What the reports were made with."""
        return self._source.mechanism

    @property
    def domain(self) -> Domain:
        """The values that the answers are about: those of the mechanism, or one part of its pairs."""
        return self._source.domain

    @property
    def nobs(self) -> int:
        """The number of reports."""
        return self._source.n

    @property
    def method(self) -> str:
        """How the histogram was made."""
        return self._histogram.method

    @property
    def identifiable(self) -> bool | None:
        """Whether the reports can tell all values apart; None if there are too many to decide.

        :func:`bipartite.identifiability` says which they cannot.
        """
        return True if self._source.tells_all else None if self._source.found is None else False

    @functools.cached_property
    def check(self) -> GoodnessOfFit:
        """Whether these reports can have come from the mechanism, for any population.

        The p-value is a bound that holds for any number of reports and any population. The test compares the share of
        each output with its smallest and largest possible probability, and all shares, one by one and in groups of
        neighbours, with those of the most likely population. For flat categories it looks at how often each value is
        supported, and at the sum of all shares. Weights are ignored. ``check.doubt`` is empty unless honest reports
        would look like this with a probability of at most 1e-6.

        A good fit does not prove that the reports are honest.
        """
        return self._source.check(self.shares)

    @property
    def shares(self) -> Array:
        """The share of each value, in the order of the domain."""
        return self._histogram.shares

    @property
    def mean(self) -> float:
        """The mean of the values."""
        return self.ask("mean").value

    @property
    def std(self) -> float:
        """The standard deviation of the values."""
        return self.ask("std").value

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
        at = None if origin is None else circle_of(self.domain).encode(origin)
        if at is None:
            line_of(self.domain)
        return self._value(self._from(at or 0).quantile(wanted), at or 0)

    @overload
    def cdf(self, value: None = ...) -> Array: ...

    @overload
    def cdf(self, value: object) -> float: ...

    def cdf(self, value: object = None) -> Array | float:
        """The cumulative share at a value, or at every value if none is given, from the histogram."""
        line_of(self.domain)
        if value is not None:
            return self.ask(("cdf", value)).value
        running = self._histogram.cdf.copy()
        if not self._histogram.bins_note:
            # Shares of one value need not add up to the others: both ends are what the values there say, alone.
            running[0] = self.shares[0]
            running[-2:-1] = 1 - self.shares[-1]
            running[-1] = 1.0
        return running

    def ask(self, of: Asked = "mean") -> Answer:
        """The answer to a question: its value, its standard error, and its interval, ``est.ask("mean").ci(0.9)``.

        ``of`` is "mean", "std", "variance", "median", ("quantile", q), ("cdf", value), ("bin", value), ("range", first,
        last) or one weight per value. Around a circle it is "circular_mean", "resultant_length", "circular_spread",
        ("range", first, last), which may continue past the last value, ("quantile", q, origin), ("bin", value) or one
        weight per value; an arc runs from its first number up to its second, which is the smaller one if the arc passes
        the last value.

        An average of weights has the interval of its scores (:mod:`~bipartite.answers.estimation.sample`), made for any
        number of reports; how often it holds the truth is measured, not proved. Shares and quantiles are read off the
        histogram and have its intervals; the standard error of a share is that of the unbiased one. If the reports
        cannot tell values apart, the interval contains everything that they leave open, and the note says so.
        """
        asked = Question.read(of, self.domain)
        if asked.kind in CIRCULAR:
            return self._circular.answer(asked.kind)
        if asked.kind == "quantile":
            return self._quantile_answer(asked.q, asked.origin)
        if asked.kind in {"variance", "std"}:
            found = variance(self._source, asked.weights, lambda: self._histogram)
            return found if asked.kind == "variance" else root(found)
        return self._share_answer(asked) if asked.kind == "share" else self._average_answer(asked)

    def to_frame(self, bins: Bins | None = None, confidence: float = 0.95) -> DataFrame:
        """A row for every value: value, share, se, low, high, note.

        Where a curve was fitted, se, low and high are NaN, and the note says why. With ``bins``, a row for every public
        range: first, last, share, low, high, note. ``bins`` is the number of ranges, which then have about equally many
        values each, or a list of edges: a range begins at each edge and ends before the next. On a line, the values
        below the first edge form a range too, and a last edge that equals the last value ends the last range; ``bins=
        [30, 45, 65]`` gives 18 to 29, 30 to 44, 45 to 64 and 65 to 90. Around a circle, edges are values, and the last
        arc continues up to the first edge. Choose edges before you see the answers; otherwise intervals have less than
        their confidence.
        """
        pd, sure = load_pandas("est.shares"), check_confidence(confidence)
        if bins is not None:
            found: DataFrame = pd.DataFrame(range_rows(self, sure, bins), columns=list(RANGE_COLUMNS))
        else:
            values = self.domain.to_numpy()
            named = values if values.dtype.names is None else values.tolist()  # pandas cannot select rows of records
            columns = named, self.shares, self._histogram.share_errors, *share_intervals(self, sure)
            found = pd.DataFrame(dict(zip(("value", "share", "se", "low", "high"), columns, strict=True)))
        found["note"] = [self._histogram.bins_note if missing else "" for missing in found["low"].isna()]
        return found

    def joint(
        self, other: Estimate | None = None, names: tuple[str, str] = ("first", "second"), method: str = "auto"
    ) -> JointEstimate:
        """The joint distribution of two values of each person.

        Without ``other``, of both values that these reports are about (:class:`~bipartite.Product`); with it, of this
        value and that of the other estimate, whose reports must be of the same people in the same order. It answers
        shares of pairs and of ranges of both, the correlation, means by a private group, and each value alone
        (``joint.marginal("age")``).
        """
        return joint_of(self, other, names, method)

    def _value(self, steps: int, origin: int = 0) -> float:
        """The value this number of steps after the origin, as a number."""
        if not self.domain.wraps:
            return float(line_of(self.domain).decode(steps))
        domain = circle_of(self.domain)
        return float(domain.start + (origin + steps) % len(domain))

    def _from(self, origin: int) -> Histogram:
        return self._histogram if origin == 0 else self._turned(origin)

    @functools.lru_cache(maxsize=8)  # noqa: B019 (an estimate lives as long as its answers)
    def _turned(self, origin: int) -> Histogram:
        """The histogram with values indexed from another origin."""
        return self._histogram.from_origin(origin)

    def _quantile_answer(self, q: float, origin: int) -> Answer:
        histogram = self._from(origin)

        def interval(confidence: float) -> ConfidenceInterval:
            low, high, note = histogram.quantile_interval(q, confidence)
            return ConfidenceInterval(self._value(low, origin), self._value(high, origin), confidence, note)

        return Answer(self._value(histogram.quantile(q), origin), math.nan, interval)

    def _average_answer(self, asked: Question) -> Answer:
        if asked.possible[0] == asked.possible[1]:
            return Answer(asked.possible[0], 0.0, lambda sure: ConfidenceInterval(*asked.possible, sure))
        sample = self._source.sample(asked.weights[None])
        if sample is not None:
            return sample.answer(asked.possible, shift=asked.shift)
        histogram = self._histogram

        def interval(confidence: float) -> ConfidenceInterval:
            low, high = (asked.shift + end for end in histogram.interval(asked.weights, confidence))
            return ConfidenceInterval(low, high, confidence, NOT_KNOWN)

        value = asked.shift + float(asked.weights @ histogram.shares)
        return Answer(value, math.inf, interval, lambda _: Forged(*asked.possible, _NOT_DETERMINED))

    def _share_answer(self, asked: Question) -> Answer:
        """The share of a set of values, scaled and shifted as asked."""
        histogram, w, at = self._histogram, asked.weights, asked.alone
        unbiased, alone = not histogram.bins_note, at is not None and not histogram.bins_note
        value = float(self.shares[at]) if at is not None else float(w @ histogram.distribution)
        fitted = self._source.sample(w[None], fitted=True)
        error = math.inf if fitted is None else float(fitted.se[0])

        def placed(ends: tuple[float, float], confidence: float, note: str = "") -> ConfidenceInterval:
            # The value and its interval are sums in another order, and may differ in their last bits.
            around = min(ends[0], value), max(ends[1], value)
            low, high = sorted(asked.shift + asked.scale * end for end in around)
            return ConfidenceInterval(low, high, confidence, note)

        def interval(confidence: float) -> ConfidenceInterval:
            if not alone:
                found = histogram.interval(w, confidence)
                return placed(found, confidence, found.note)
            low, high = (float(end[at]) for end in share_intervals(self, confidence))
            note = _DOUBTED if high < 0 and self.check.doubt else moved_note(value, low, high, (0.0, 1.0))
            return placed((low, high), confidence, note)

        def uncut(confidence: float) -> ConfidenceInterval:
            assert fitted is not None  # noqa: S101 (unbiased shares are known)
            return placed(fitted.ends(0, confidence), confidence)

        def forge(k: int) -> Forged:
            fixed = self._source.sample(w[None])
            if fixed is None:
                return Forged(*asked.possible, _NOT_DETERMINED)
            low, high, note = fixed.answer((0.0, 1.0)).forged(k)
            same = math.isclose(float(fixed.mean[0]), value, rel_tol=1e-9, abs_tol=1e-12)
            ends = sorted(asked.shift + asked.scale * end for end in (low, high))
            return Forged(ends[0], ends[1], note if same else _OTHER_SCORES) if k else Forged(shown, shown)

        shown = asked.shift + asked.scale * value
        return Answer(shown, abs(asked.scale) * error, interval, forge, uncut if unbiased else None)

    @functools.cached_property
    def _circular(self) -> Circular:
        return Circular(self._source, lambda: self._histogram)

    def _lines(self, confidence: float, bins: Bins | None) -> list[str]:
        return [*answers_in_words(self, confidence), *share_table({None: self}, confidence, bins)]

    def _draw(self, asked: PictureOptions) -> Axes:
        return plot_estimate(self, asked)

    def __repr__(self) -> str:
        return f"<Estimate from {how_many(self.nobs, 'report')} of {self.mechanism!r}, method {self.method!r}>"
