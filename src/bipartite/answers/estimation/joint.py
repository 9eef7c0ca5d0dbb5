"""The joint distribution of two attributes, with error bars."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from scipy.optimize import brentq

from bipartite.answers.estimation.answer import Answer, Forged
from bipartite.answers.estimation.asking_pairs import Pair, names_of_two, table_of
from bipartite.answers.estimation.intervals import (
    FEW,
    ConfidenceInterval,
    check_confidence,
    few_note,
    half_widths,
    within,
)
from bipartite.answers.estimation.one_report import OneReport
from bipartite.answers.estimation.projection import projected_bounds
from bipartite.answers.estimation.showing import load_pandas
from bipartite.answers.estimation.two_reports import TwoReports
from bipartite.errors import InputError, is_one_of, shown
from bipartite.texts import escaped, notebook_html

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pandas import DataFrame

    from bipartite.answers.estimation.asking_pairs import PairQuestion, Weights
    from bipartite.answers.estimation.estimate import Estimate
    from bipartite.answers.estimation.goodness import GoodnessOfFit
    from bipartite.answers.estimation.sample import Sample

    Array = NDArray[np.float64]

METHODS: Final = ("auto", "inverse", "projected", "em")
_NOT_TOLD: Final = "the reports cannot tell this"
_NO_VARIANCE: Final = "a variance is not clearly above zero, so the correlation may be anything"
_NO_GROUP: Final = "the group's share is not clearly above zero, so its mean may be anything"
# A variance in a denominator must be at least this many standard errors above zero.
_CLEARLY: Final = 3.0
_USUAL: Final = 0.95
_TWO: Final = 2


class JointEstimate:
    r"""The joint distribution of two attributes: ``est.joint(other)``, or ``ests.joint("age", "city")`` of a record.

    The reports are pairs, drawn independently given the values, or reports about both values at once
    (:class:`~bipartite.Product`). Averages are unbiased for every joint distribution of the values. The method decides
    how ``shares`` are computed.

    A question to :meth:`ask` is one of

    - ``"covariance"`` or ``"correlation"``;
    - ``("cell", value, value)``: the share of one pair of values;
    - ``("where", {"age": ("range", 18, 30), "member": 1})``: the share of people with a value, one of a list of values,
      or a value in a range, for each attribute that is named;
    - ``("mean", "income", {"sex": "f"})``: the mean of one attribute among people with such values of the other, which
      are private too, and known only through reports;
    - a table of weights, or two lists of weights, which are multiplied: Σ weights·share.
    """

    names: tuple[str, str]
    """The attributes: rows and columns of ``shares``."""
    nobs: int
    """The number of people who reported both."""

    def __init__(self, names: tuple[str, str], pairs: TwoReports | OneReport) -> None:
        self.names, self.nobs = names, pairs.n
        self._pairs, self._pair = pairs, Pair(names, pairs.domains)

    @property
    def method(self) -> str:
        """How the table of shares was computed."""
        return self._pairs.method

    @property
    def shares(self) -> Array:
        """The share of every pair of values: rows are values of the first attribute, columns of the second."""
        return self._pairs.shares.reshape([len(domain) for domain in self._pair.domains])

    @functools.cached_property
    def check(self) -> GoodnessOfFit:
        """Whether these reports can have come from their mechanisms, for any population."""
        return self._pairs.check()

    def marginal(self, name: str) -> Estimate:
        """The estimate of one attribute on its own, from the same people."""
        return self._pairs.marginal(self._pair.at(name))

    def ask(self, of: object) -> Answer:
        """The answer to a question; ``of`` as in the class."""
        asked = self._pair.read(of)
        if asked.kind == "linear":
            return self._pairs.average(asked.weights[0])
        if asked.kind == "mean":
            return self._mean(asked)
        return self._covariance() if asked.kind == "covariance" else self._correlation()

    def to_frame(self, confidence: float = _USUAL) -> DataFrame:
        """A row for every pair: both values, share, se, low, high, note."""
        pd = load_pandas("joint.shares")
        first, second = (domain.to_numpy() for domain in self._pair.domains)
        values = {self.names[0]: np.repeat(first, len(second)), self.names[1]: np.tile(second, len(first))}
        found: DataFrame = pd.DataFrame({**values, **self._pairs.columns(check_confidence(confidence))})
        return found

    def summary(self, confidence: float = _USUAL) -> str:
        """The answers in words."""
        lines = [f"{self.nobs:,} people's reports of {' and '.join(map(escaped, self.names))}"]
        if self.check.doubt:
            lines.append(f"  {self.check.doubt}")
        if all(domain.has_ends for domain in self._pair.domains):
            asked = self.ask("correlation")
            lines.append(f"  correlation  {asked.value:.4g}, {asked.ci(confidence)}")
        lines.append(f"  table by {self.method!r}: {self._pairs.reason}")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        return notebook_html([self.summary()])

    def __repr__(self) -> str:
        return f"<JointEstimate of {' and '.join(map(escaped, self.names))} from {self.nobs:,} people's reports>"

    @functools.cached_property
    def _moments(self) -> Sample | None:
        """The product, both squares and both numbers, all relative to their estimated means, whose errors cancel."""
        x, y = (self._pair.numbers(at)[0] for at in (0, 1))
        means = self._pairs.sample([(x, np.ones(len(y))), (np.ones(len(x)), y)])
        if means is None:
            return None
        x, y = x - means.mean[0], y - means.mean[1]
        one, other = np.ones(len(x)), np.ones(len(y))
        return self._pairs.sample([(x, y), (x**2, other), (one, y**2), (x, other), (one, y)])

    def _covariance(self) -> Answer:
        x, y = (self._pair.numbers(at)[0] for at in (0, 1))
        half = float(np.ptp(x) * np.ptp(y)) / 4
        moments = self._moments
        if moments is None:
            shares = self.shares
            value = x @ shares @ y - (x @ shares.sum(axis=1)) * (y @ shares.sum(axis=0))
            return _unknown(float(value), -half, half, _NOT_TOLD)
        # The product of the estimated means is biased by their covariance.
        bias = float(moments.cov[3, 4])
        n = self._pairs.effective
        error = float(moments.se[0]) * n / (n - 1)
        return self._smooth(float(moments.mean[0]) + bias, error, moments.combined([1, 0, 0, 0, 0]), (-half, half))

    def _correlation(self) -> Answer:
        moments = self._moments
        if moments is None:
            return _unknown(math.nan, -1.0, 1.0, _NOT_TOLD)
        values, together = moments.mean, moments.cov
        # Correct the variances for the estimated means.
        variances = [float(values[1 + at] + together[3 + at, 3 + at]) for at in (0, 1)]
        if not all(v > 0 and v >= _CLEARLY * error for v, error in zip(variances, moments.se[1:3], strict=True)):
            return _unknown(math.nan, -1.0, 1.0, _NO_VARIANCE)
        scale = math.sqrt(math.prod(variances))
        value = float(values[0] + together[3, 4]) / scale
        slopes = moments.combined([1 / scale, -value / 2 / variances[0], -value / 2 / variances[1], 0, 0])
        return self._smooth(value, float(slopes.se[0]), slopes, (-1.0, 1.0))

    def _smooth(self, value: float, error: float, slopes: Sample, possible: tuple[float, float]) -> Answer:
        """A smooth function of averages, which varies like the average of its slopes."""

        def interval(sure: float) -> ConfidenceInterval:
            if self._pairs.effective < FEW:
                return ConfidenceInterval(*possible, sure, few_note(self._pairs.effective))
            ends = (value + float(end[0] - slopes.mean[0]) for end in slopes.ci(sure))
            low, high = within(*ends, value, possible)
            return ConfidenceInterval(float(low), float(high), sure)

        return Answer(value, error, interval)

    def _mean(self, asked: PairQuestion) -> Answer:
        r"""The mean in a group: a ratio N/D of the averages of (number if in the group, else 0) and (1 if in it, else 0).

        N − r·D has mean 0 at the true r, so Fieller's interval contains all r for which 0 is in the interval of
        N − r·D: whatever D is, its coverage is that of an average. It is bounded only if D is clearly above zero.
        """
        both = self._pairs.sample(asked.weights)
        if both is None:
            raise InputError(
                "The reports cannot tell this group, or its numbers, from others; collect with edges='padded' or GRR."
            )
        numbers = table_of(asked.weights[0])
        possible = asked.middle + float(numbers.min()), asked.middle + float(numbers.max())
        if _low(both.combined([0, 1]), _USUAL) <= 0:
            return _unknown(math.nan, *possible, _NO_GROUP)
        ratio = float(both.mean[0] / both.mean[1])

        def end(bound: float, side: float, sure: float) -> float:
            """How far towards a bound r may go before 0 is outside of the interval of N − r·D."""

            def beyond(r: float) -> float:
                return _low(both.combined([side, -side * r]), sure)

            if side * (ratio - bound) <= 0 or beyond(bound) <= 0:
                return bound
            return float(brentq(beyond, ratio, bound, rtol=_CLOSE))

        def interval(sure: float) -> ConfidenceInterval:
            if _low(both.combined([0, 1]), sure) <= 0:
                return ConfidenceInterval(*possible, sure, _NO_GROUP)
            low = asked.middle + end(possible[0] - asked.middle, 1.0, sure)
            high = asked.middle + end(possible[1] - asked.middle, -1.0, sure)
            return ConfidenceInterval(min(low, value), max(high, value), sure)

        value = asked.middle + ratio
        return Answer(value, float(both.combined([1, -ratio]).se[0] / both.mean[1]), interval)


def _low(sample: Sample, sure: float) -> float:
    """The lower end of the interval of one average."""
    return float(sample.ci(sure)[0][0])


def joint_of(first: Estimate, second: Estimate | None, names: object, method: object) -> JointEstimate:
    """The joint distribution of two estimates of the same people, or of the pairs of one."""
    two = names_of_two(names)
    if not is_one_of(method, METHODS):
        raise InputError(f"Expected method as one of {', '.join(map(repr, METHODS))}, got {shown(method)}.")
    if second is None:
        return JointEstimate(two, OneReport(first, method))
    _check_same_people(first, second)
    return JointEstimate(two, TwoReports(first, second, method))


def _check_same_people(first: Estimate, second: object) -> None:
    """Refuse two estimates whose reports cannot be paired."""
    if not isinstance(second, type(first)) or second is first:
        raise InputError(
            f"Expected the estimate of the same people's other reports, got {shown(second)}; names are names=('a', 'b')."
        )
    one, other = first._source, second._source
    if one.rows is None or other.rows is None:
        raise InputError(
            "Which reports belong to one person is not known from counts, nor where missing reports were dropped; pass "
            "all reports of both to bp.estimate, in the same order."
        )
    if len(one.rows) != len(other.rows):
        raise InputError(f"Expected the same people in both, got {len(one.rows)} and {len(other.rows)} reports.")
    weights = [np.ones(len(each.rows)) if each.weights is None else each.weights for each in (one, other)]
    if not np.array_equal(*weights):
        raise InputError("Expected the same weights of people in both estimates; pass weights= to both, or to none.")


def unknown(value: float, low: float, high: float, note: str) -> Answer:
    """An answer of which nothing is known but the possible range."""
    return Answer(value, math.inf, lambda sure: ConfidenceInterval(low, high, sure, note))
