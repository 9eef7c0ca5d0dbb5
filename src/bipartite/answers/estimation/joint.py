"""The joint distribution of two attributes, with error bars."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.answers.estimation.asking_pairs import Pair, PairQuestion
from bipartite.answers.estimation.group_means import GroupMean, group_mean
from bipartite.answers.estimation.intervals import FEW, ConfidenceInterval, check_confidence, few_note, half_widths
from bipartite.answers.estimation.linear import Answer, Several
from bipartite.answers.estimation.pair_answers import table_of
from bipartite.answers.estimation.showing import load_pandas
from bipartite.answers.estimation.tally import spare
from bipartite.errors import InputError, shown
from bipartite.texts import escaped, notebook_html

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from pandas import DataFrame

    from bipartite.answers.estimation.em import Fit
    from bipartite.answers.estimation.estimate import Estimate
    from bipartite.answers.estimation.goodness import GoodnessOfFit
    from bipartite.answers.estimation.histogram import Histogram
    from bipartite.answers.estimation.pair_answers import PairAnswers, Weights
    from bipartite.domains import Domain

    Array = NDArray[np.float64]

_NOT_TOLD: Final = "the reports cannot tell this"
# A variance in a denominator must be at least this many standard errors above zero.
_CLEARLY: Final = 3.0


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """The shares of all pairs of values, row by row."""

    method: str
    reason: str
    frequencies: Array
    fit: Fit | None


class JointEstimate:
    r"""The joint distribution of two attributes. Made by :func:`bipartite.estimate_joint`.

    Linear answers are averages of scores and unbiased for every joint distribution of the values. The reports are
    pairs, which are independent given the values, or reports about both values at once (:class:`~bipartite.Product`).
    The method decides how ``frequencies`` are computed.

    A question, ``of``, is one of

    - ``"covariance"`` or ``"correlation"``;
    - ``("cell", value, value)``: the share of one pair of values;
    - ``("where", {"age": ("range", 18, 30), "member": 1})``: the share of people with a value, one of a list of values,
      or a value in a range, for each attribute that is named;
    - a table of weights, or two lists of weights, which are multiplied: Σ weights·share.
    """

    names: tuple[str, str]
    """The attributes: rows and columns of ``frequencies``."""
    people: int
    """The number of pairs of reports."""

    def __init__(self, names: tuple[str, str], answers: PairAnswers, table: Callable[[], Table | Histogram]) -> None:
        self.names, self.people = names, answers.people
        self._answers, self._make_table = answers, table
        self._pair = Pair(names, answers.domains)

    @functools.cached_property
    def _shares(self) -> Table | Histogram:
        return self._make_table()

    @property
    def method(self) -> str:
        """How the table was computed."""
        return self._shares.method

    @property
    def reason(self) -> str:
        """Why this method was used."""
        return self._shares.reason

    @property
    def fit(self) -> Fit | None:
        """How EM ended; None for other methods."""
        return self._shares.fit

    @functools.cached_property
    def fits(self) -> GoodnessOfFit:
        """Whether these reports can have come from their mechanisms, for any population."""
        return self._answers.fits(self._shares.frequencies)

    @property
    def doubt(self) -> str:
        """Why these reports cannot have come from the mechanisms; usually empty."""
        return self.fits.doubt

    @property
    def frequencies(self) -> Array:
        """The share of every pair of values: rows are values of the first attribute, columns of the second."""
        return self._shares.frequencies.reshape([len(domain) for domain in self._domains])

    @functools.cached_property
    def standard_errors(self) -> Array:
        """The standard error of the unbiased share of every pair, whatever the method; infinite if there is none."""
        cells = self._cells
        if cells is None:
            return np.full(self.frequencies.shape, np.inf)
        return cells.errors.reshape(self.frequencies.shape)

    def marginal(self, name: str) -> Estimate:
        """The estimate of one attribute on its own, from the same people."""
        return self._answers.marginal(self._pair.at(name))

    def linear(self, weights: object) -> float:  # a table, or two lists
        """Σ weights·share over all pairs, for a table of weights, or (w₁, w₂), which are multiplied."""
        return self._unbiased(PairQuestion.read(self._pair.table(weights), self._pair)).value

    def unbiased(self, of: object) -> Answer:
        """An answer with its standard error and the spread of its scores; ``of`` as in the class."""
        return self._unbiased(PairQuestion.read(of, self._pair))

    def standard_error(self, of: object) -> float:
        """The standard error of an answer; infinite if the reports cannot tell."""
        return self.unbiased(of).standard_error

    def interval(self, confidence: float = 0.95, *, of: object) -> ConfidenceInterval:
        """A confidence interval (low, high); ``of`` as in the class."""
        sure = check_confidence(confidence)
        asked = PairQuestion.read(of, self._pair)
        answer = self._unbiased(asked)
        low, high = asked.possible
        people = self._answers.effective
        few = people < FEW
        if math.isinf(answer.standard_error):
            left = None if asked.weights is None else self._answers.left_open(asked.weights, sure)
            return left or ConfidenceInterval(low, high, sure, _NOT_TOLD)
        if few and asked.weights is None:
            return ConfidenceInterval(low, high, sure, few_note(people))
        half = float(half_widths(answer.standard_error, answer.spread, people, sure))
        # First clip the answer itself, so that the clipped interval is never empty.
        value = min(max(answer.value, low), high)
        return ConfidenceInterval(
            max(value - half, low), min(value + half, high), sure, few_note(people) if few else ""
        )

    @property
    def covariance(self) -> float:
        """The covariance of the two attributes, unbiased."""
        return self.unbiased("covariance").value

    @property
    def correlation(self) -> float:
        """The correlation of the two attributes; NaN if a variance is not clearly above zero."""
        return self.unbiased("correlation").value

    def mean_where(self, name: str, where: object, *, confidence: float = 0.95) -> GroupMean:
        """The mean of one attribute among people with a given value, list of values, or range of the other.

        ``joint.mean_where("income", {"sex": "f"})`` or ``{"age": ("range", 18, 30)}``: the group is private too, and
        known only through reports. The interval is Fieller's, which includes the uncertainty of the group's share; if
        that share is not clearly above zero, the mean is NaN and the interval is the whole possible range.
        """
        at = self._pair.at(name)
        given = self.names[1 - at]
        if not isinstance(where, dict) or list(where) != [given]:
            raise InputError(f"Expected where as {{{given!r}: value}}, the other attribute, got {shown(where)}.")
        numbers, middle = self._pair.numbers(at)
        member = self._pair.member(1 - at, where[given])
        found = self._answers.covariance([_product(at, w, member) for w in (numbers, np.ones(len(numbers)))])
        return group_mean(found, self._answers.effective, numbers, middle, check_confidence(confidence))

    def means_by(self, given: str, *, confidence: float = 0.95) -> dict[Any, GroupMean]:
        """The mean of the other attribute for every value of this one, which is private too; see :meth:`mean_where`."""
        at = self._pair.at(given)
        other = self.names[1 - at]
        values = self._domains[at].to_numpy().tolist()
        return {value: self.mean_where(other, {given: [value]}, confidence=confidence) for value in values}

    def to_frame(self, confidence: float = 0.95) -> DataFrame:
        """A row for every pair: both values, share, standard error, low, high (of the unbiased share)."""
        pd = load_pandas("joint.frequencies and joint.standard_errors")
        sure = check_confidence(confidence)
        errors = self.standard_errors
        cells = self._cells
        centres, half = self.frequencies.ravel(), np.full(errors.size, np.inf)
        if cells is not None:
            centres = np.array(cells.values)
            half = half_widths(cells.errors, cells.spreads, self._answers.effective, sure)
        first, second = (domain.to_numpy() for domain in self._domains)
        near = np.clip(centres, 0, 1)
        low, high = np.maximum(near - half, 0), np.minimum(near + half, 1)
        found: DataFrame = pd.DataFrame(
            {
                self.names[0]: np.repeat(first, len(second)),
                self.names[1]: np.tile(second, len(first)),
                "share": self.frequencies.ravel(),
                "standard_error": errors.ravel(),
                "low": low,
                "high": high,
            }
        )
        return found

    def summary(self, confidence: float = 0.95) -> str:
        """The answers in words."""
        lines = [f"{self.people:,} people's reports of {' and '.join(map(escaped, self.names))}"]
        if self.doubt:
            lines.append(f"  {self.doubt}")
        if all(domain.has_ends for domain in self._domains):
            interval = self.interval(confidence, of="correlation")
            lines.append(f"  correlation  {self.correlation:.4g}, {interval}")
        lines.append(f"  table by {self.method!r}: {self.reason}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return notebook_html([self.summary()])

    def __repr__(self) -> str:
        return f"<JointEstimate of {' and '.join(map(escaped, self.names))} from {self.people:,} people's reports>"

    # How the answers are computed.

    @property
    def _domains(self) -> tuple[Domain, Domain]:
        return self._answers.domains

    @functools.cached_property
    def _cells(self) -> Several | None:
        return self._answers.cells()

    def _unbiased(self, asked: PairQuestion) -> Answer:
        if asked.weights is None:
            return self._covariance()[0] if asked.kind == "covariance" else self._correlation()
        if asked.kind == "cell":
            return self._told(self._answers.cell(*asked.cell), asked.weights)
        ask = self._answers.together if asked.kind == "where" else self._answers.answer
        return self._told(ask(asked.weights), asked.weights)

    def _told(self, answer: Answer | None, w: Weights) -> Answer:
        """The unbiased answer or, if there is none, that of the table with an infinite error."""
        if answer is not None:
            return answer
        return Answer(float((table_of(w) * self.frequencies).sum()), math.inf, math.inf)

    def _mean(self, at: int) -> Answer:
        """The mean of an attribute, relative to the middle of its numbers."""
        w = _product(at, self._pair.numbers(at)[0], np.ones(len(self._domains[1 - at])))
        return self._told(self._answers.answer(w), w)

    def _moments(self) -> tuple[list[Weights], list[Array]]:
        """The weights of the product, both squares and both numbers, all relative to their estimated means."""
        ones = [np.ones(len(domain)) for domain in self._domains]
        first, second = (self._pair.numbers(at)[0] - self._mean(at).value for at in (0, 1))
        squares = [(first**2, ones[1]), (ones[0], second**2)]
        return [(first, second), *squares, (first, ones[1]), (ones[0], second)], [first, second]

    def _covariance(self) -> tuple[Answer, tuple[Array, Array] | None]:
        """The covariance relative to the estimated means, whose errors cancel to first order; and all moments."""
        weights, centred = self._moments()
        product, moments = self._answers.answer(weights[0]), self._answers.covariance(weights)
        if product is None or moments is None:
            return Answer(float(centred[0] @ self.frequencies @ centred[1]), math.inf, math.inf), None
        # The product of the estimated means is biased by their covariance.
        value = float(moments[0][0] + moments[1][3, 4])
        people = self._answers.effective
        return Answer(value, product.standard_error * people / spare(people), product.spread), moments

    def _correlation(self) -> Answer:
        covariance, moments = self._covariance()
        unknown = Answer(math.nan, math.inf, math.inf)
        if moments is None:
            return unknown
        values, together = moments
        # Correct the variances for the estimated means.
        variances = [float(values[1 + at] + together[3 + at, 3 + at]) for at in (0, 1)]
        errors = [math.sqrt(float(together[1 + at, 1 + at])) for at in (0, 1)]
        if any(v < _CLEARLY * error or v <= 0 for v, error in zip(variances, errors, strict=True)):
            return unknown
        scale = math.sqrt(math.prod(variances))
        value = covariance.value / scale
        slopes = np.array([1 / scale, -value / 2 / variances[0], -value / 2 / variances[1]])
        error = math.sqrt(max(float(slopes @ together[:3, :3] @ slopes), 0.0))
        return Answer(value, error, math.inf)


def _product(at: int, w: Array, other: Array) -> tuple[Array, Array]:
    """The weights w of attribute ``at`` and ``other`` of the other one, in order."""
    return (w, other) if at == 0 else (other, w)
