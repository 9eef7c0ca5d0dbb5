"""What reports say about two attributes together, with error bars."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.answers.estimation.goodness import fit_of_pairs
from bipartite.answers.estimation.group_means import GroupMean, group_mean
from bipartite.answers.estimation.intervals import (
    FEW,
    ConfidenceInterval,
    bounded_width,
    check_confidence,
    few_note,
    likely_width,
)
from bipartite.answers.estimation.kronecker import Kronecker, score_of_product, score_of_table
from bipartite.answers.estimation.linear import Answer
from bipartite.answers.estimation.tally import spare
from bipartite.domains import LineDomain
from bipartite.errors import InputError, MissingExtraError, shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from pandas import DataFrame

    from bipartite.answers.estimation.em import Fit
    from bipartite.answers.estimation.estimate import Estimate
    from bipartite.answers.estimation.goodness import GoodnessOfFit
    from bipartite.answers.estimation.kronecker import Side
    from bipartite.answers.estimation.tally import Tally
    from bipartite.domains import Domain
    from bipartite.mechanisms import Mechanism

    Array = NDArray[np.float64]

_OF: Final = "'covariance', 'correlation', ('cell', value, value), a table of weights, or two lists of weights"
# A variance that is divided by must be so many standard errors above zero.
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

    Linear answers are averages of scores of pairs of reports, unbiased for every joint distribution of the values,
    because the two reports are independent given the values. The method decides how ``frequencies`` are made.
    """

    names: tuple[str, str]
    """The attributes: rows and columns of ``frequencies``."""
    people: int
    """How many pairs of reports there were."""

    def __init__(
        self,
        names: tuple[str, str],
        sides: tuple[Side, Side],
        tally: Tally,
        shares: Table,
        marginal: Callable[[Mechanism, Array], Estimate],
    ) -> None:
        self.names, self.people = names, tally.people
        self._sides, self._tally, self._shares, self._marginal = sides, tally, shares, marginal

    @property
    def method(self) -> str:
        """How the table was made."""
        return self._shares.method

    @property
    def reason(self) -> str:
        """Why by this method."""
        return self._shares.reason

    @property
    def fit(self) -> Fit | None:
        """How EM ended; None for other methods."""
        return self._shares.fit

    @functools.cached_property
    def fits(self) -> GoodnessOfFit:
        """Whether these pairs of reports can have come from both mechanisms, whatever the people are like."""
        first, second = self._sides
        operator = Kronecker(first.operator, second.operator)
        return fit_of_pairs(first.mechanism, second.mechanism, operator, self._tally.counts)

    @property
    def doubt(self) -> str:
        """Why these reports cannot have come from the mechanisms; mostly empty, as that of an estimate."""
        return self.fits.doubt

    @property
    def frequencies(self) -> Array:
        """The share of every pair of values: a row a value of the first attribute, a column one of the second."""
        return self._shares.frequencies.reshape([len(domain) for domain in self._domains])

    @functools.cached_property
    def standard_errors(self) -> Array:
        """The standard error of the unbiased share of every pair, whatever the method; infinite where there is none."""
        cells = self._cells
        if cells is None:
            return np.full(self.frequencies.shape, np.inf)
        u1, u2 = cells
        means, squares = self._by_pair(u1, u2), self._by_pair(u1**2, u2**2)
        errors: Array = np.sqrt(np.maximum(squares - means**2, 0.0) / spare(self._tally.effective))
        return errors

    def marginal(self, name: str) -> Estimate:
        """The estimate of one attribute alone, from the same people."""
        at = self._at(name)
        counts = self._tally.first.reshape(self._reports).sum(axis=1 - at)
        return self._marginal(self._sides[at].mechanism, counts)

    def linear(self, weights: object) -> float:  # a table, or two lists
        """Σ weights·share over all pairs: of a table of weights, or of (w₁, w₂), whose products are the weights."""
        return self._linear(weights).value

    def unbiased(self, of: object) -> Answer:
        """An answer with its standard error and the spread of its scores.

        ``of`` is "covariance", "correlation", ("cell", value, value), a table of weights, or two lists of weights.
        """
        if isinstance(of, str):
            if of == "covariance":
                return self._covariance()[0]
            if of == "correlation":
                return self._correlation()
        elif isinstance(of, tuple) and len(of) == 3 and isinstance(of[0], str) and of[0] == "cell":  # noqa: PLR2004
            return self._linear(tuple(self._indicator(at, of[1 + at]) for at in (0, 1)))
        elif not isinstance(of, (bytes, dict, type(None))):
            return self._linear(of)
        msg = f"Expected {_OF}, got {shown(of)}."
        raise InputError(msg)

    def standard_error(self, of: object) -> float:
        """The standard error of an answer; infinite where the reports cannot tell."""
        return self.unbiased(of).standard_error

    def interval(self, confidence: float = 0.95, *, of: object) -> ConfidenceInterval:
        """(low, high) that holds the true answer in about this share of all samples; ``of`` as in :meth:`unbiased`."""
        sure = check_confidence(confidence)
        answer = self.unbiased(of)
        low, high = self._possible(of)
        people = self._tally.effective
        few = people < FEW
        if math.isinf(answer.standard_error):
            return ConfidenceInterval(low, high, sure, "the reports cannot tell this")
        if few and isinstance(of, str):
            return ConfidenceInterval(low, high, sure, few_note(people))
        half = float(self._half(answer.standard_error, answer.spread, sure))
        # First to where an answer can be, so that what is left of the interval is never nothing.
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
        """The correlation of the two attributes; NaN where a variance is not clearly above zero."""
        return self.unbiased("correlation").value

    def mean_where(self, name: str, where: object, *, confidence: float = 0.95) -> GroupMean:
        """The mean of one attribute among those with a value, or one of a list of values, of the other.

        ``joint.mean_where("income", {"sex": "f"})``: the group is private too, and known only through reports. The
        interval is Fieller's, which also counts how uncertain the group's share is; where that share is not clearly
        above zero, the mean is NaN and the interval is everything possible.
        """
        at = self._at(name)
        given = self.names[1 - at]
        if not isinstance(where, dict) or list(where) != [given]:
            msg = f"Expected where as {{{given!r}: value}}, the other attribute, got {shown(where)}."
            raise InputError(msg)
        group = where[given]
        values = list(group) if isinstance(group, (list, tuple, set, range, np.ndarray)) else [group]
        numbers, middle = self._numbers(at)
        member = np.zeros(len(self._domains[1 - at]))
        for value in values:
            member += self._indicator(1 - at, value)
        if not values or member.max() > 1:
            msg = f"Expected different values of {given!r}, at least one, got {shown(group)}."
            raise InputError(msg)
        scores = [self._product(at, u, member) for u in (numbers, np.ones(len(numbers)))]
        return group_mean(self._tally, scores, numbers, middle, check_confidence(confidence))

    def means_by(self, given: str, *, confidence: float = 0.95) -> dict[Any, GroupMean]:
        """The mean of the other attribute for every value of this one, which is private too; see :meth:`mean_where`."""
        at = self._at(given)
        other = self.names[1 - at]
        values = self._domains[at].to_numpy().tolist()
        return {value: self.mean_where(other, {given: [value]}, confidence=confidence) for value in values}

    def to_frame(self, confidence: float = 0.95) -> DataFrame:
        """A row for every pair: both values, share, standard error, low, high (around the unbiased share)."""
        try:
            import pandas as pd  # noqa: PLC0415 (only people who ask for a frame need it)
        except ImportError:
            msg = "to_frame needs pandas; install it, or use joint.frequencies and joint.standard_errors."
            raise MissingExtraError(msg) from None
        sure = check_confidence(confidence)
        errors = self.standard_errors
        cells = self._cells
        centres = self.frequencies if cells is None else self._by_pair(*cells)
        half = np.full(centres.shape, np.inf) if cells is None else self._half(errors, _spreads(*cells), sure)
        first, second = (domain.to_numpy() for domain in self._domains)
        near = np.clip(centres, 0, 1)
        low, high = np.maximum(near - half, 0), np.minimum(near + half, 1)
        return pd.DataFrame(
            {
                self.names[0]: np.repeat(first, len(second)),
                self.names[1]: np.tile(second, len(first)),
                "share": self.frequencies.ravel(),
                "standard_error": errors.ravel(),
                "low": low.ravel(),
                "high": high.ravel(),
            }
        )

    def summary(self, confidence: float = 0.95) -> str:
        """The answers in words."""
        lines = [f"{self.people:,} pairs of reports of {self.names[0]} and {self.names[1]}"]
        if self.doubt:
            lines.append(f"  {self.doubt}")
        if all(isinstance(domain, LineDomain) for domain in self._domains):
            interval = self.interval(confidence, of="correlation")
            lines.append(f"  correlation  {self.correlation:.4g}, {interval}")
        lines.append(f"  table by {self.method!r}: {self.reason}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<JointEstimate of {self.names[0]} and {self.names[1]} from {self.people:,} pairs of reports>"

    # What follows is how the answers are computed.

    @property
    def _domains(self) -> tuple[Domain, Domain]:
        return self._sides[0].mechanism.domain, self._sides[1].mechanism.domain

    @property
    def _reports(self) -> tuple[int, int]:
        return self._sides[0].operator.outputs, self._sides[1].operator.outputs

    @functools.cached_property
    def _cells(self) -> tuple[Array, Array] | None:
        first, second = (side.of_shares() for side in self._sides)
        return None if first is None or second is None else (first, second)

    def _half(self, error: Array | float, spread: Array | float, sure: float) -> Array:
        """How far averages of scores may be off."""
        people = self._tally.effective
        if people < FEW:
            return np.asarray(bounded_width(1.0, people, sure) * np.asarray(spread))
        return likely_width(error, spread, people, sure)

    def _by_pair(self, u1: Array, u2: Array) -> Array:
        """The average of products of scores, for every row of both."""
        found: Array = u1 @ self._tally.law.reshape(self._reports) @ u2.T
        return found

    def _at(self, name: object) -> int:
        if name not in self.names:
            msg = f"Expected {self.names[0]!r} or {self.names[1]!r}, got {shown(name)}."
            raise InputError(msg)
        return self.names.index(str(name))

    def _indicator(self, at: int, value: object) -> Array:
        found = np.zeros(len(self._domains[at]))
        found[self._domains[at].encode(value)] = 1.0
        return found

    def _numbers(self, at: int) -> tuple[Array, float]:
        domain = self._domains[at]
        if not isinstance(domain, LineDomain):
            msg = f"The values of {self.names[at]!r} are no numbers; ask for cells, or give weights."
            raise InputError(msg)
        numbers = domain.to_numpy().astype(np.float64)
        middle = float(numbers[0] / 2 + numbers[-1] / 2)
        return numbers - middle, middle

    def _product(self, at: int, w: Array, other: Array) -> Array | None:
        """The scores of w of one attribute times ``other`` of the other."""
        pair = (w, other) if at == 0 else (other, w)
        return score_of_product(*self._sides, *pair)

    def _table(self, weights: object) -> tuple[Array, Array] | Array:
        sizes = tuple(len(domain) for domain in self._domains)
        try:
            if isinstance(weights, tuple) and len(weights) == 2:  # noqa: PLR2004 (one list for each attribute)
                pair = tuple(np.asarray(each, dtype=np.float64) for each in weights)
                if tuple(each.shape for each in pair) == ((sizes[0],), (sizes[1],)) and all(
                    np.isfinite(each).all() for each in pair
                ):
                    return pair[0], pair[1]
            else:
                table = np.asarray(weights, dtype=np.float64)
                if table.shape == sizes and np.isfinite(table).all():
                    return table
        except (TypeError, ValueError):
            pass
        msg = f"Expected {_OF}; weights are a table of {sizes[0]} × {sizes[1]} finite numbers, or two lists (w₁, w₂)."
        raise InputError(msg)

    def _linear(self, weights: object) -> Answer:
        held = self._table(weights)
        if isinstance(held, tuple):
            scores = score_of_product(*self._sides, *held)
            guess = float(held[0] @ self.frequencies @ held[1]) if scores is None else 0.0
        else:
            scores = score_of_table(*self._sides, held)
            guess = float((held * self.frequencies).sum()) if scores is None else 0.0
        return Answer(guess, math.inf, math.inf) if scores is None else self._answer(scores)

    def _answer(self, scores: Array) -> Answer:
        flat = scores.ravel()
        error = math.sqrt(float(self._tally.variance(flat)))
        return Answer(float(self._tally.mean(flat)), error, float(flat.max() - flat.min()))

    def _mean(self, at: int) -> Answer:
        """Of the numbers of an attribute around their middle."""
        numbers = self._numbers(at)[0]
        scores = self._product(at, numbers, np.ones(len(self._domains[1 - at])))
        if scores is None:
            return Answer(float(numbers @ self.frequencies.sum(axis=1 - at)), math.inf, math.inf)
        return self._answer(scores)

    def _centred(self, at: int) -> Array:
        """The numbers of an attribute around their estimated mean."""
        return self._numbers(at)[0] - self._mean(at).value

    def _covariance(self) -> tuple[Answer, Array | None]:
        """Around the estimated means, to which a covariance is blind to first order; and its scores."""
        first, second = self._centred(0), self._centred(1)
        scores = score_of_product(*self._sides, first, second)
        if scores is None:
            return Answer(float(first @ self.frequencies @ second), math.inf, math.inf), None
        answer = self._answer(scores)
        # The estimated means vary together as the values do, over n: this makes it exactly unbiased.
        correction = self._tally.correction
        return Answer(answer.value * correction, answer.standard_error * correction, answer.spread), scores

    def _correlation(self) -> Answer:
        covariance, scores = self._covariance()
        unknown = Answer(math.nan, math.inf, math.inf)
        if scores is None:
            return unknown
        variances, squares = [], []
        for at in (0, 1):
            u = self._product(at, self._centred(at) ** 2, np.ones(len(self._domains[1 - at])))
            if u is None:
                return unknown
            spread = self._answer(u)
            # What the estimated mean took up of the variance is put back.
            variances.append(spread.value + self._mean(at).standard_error ** 2)
            squares.append(u)
            if variances[at] < _CLEARLY * spread.standard_error or variances[at] <= 0:
                return unknown
        scale = math.sqrt(variances[0] * variances[1])
        value = covariance.value / scale
        influence = scores / scale - value / 2 * (squares[0] / variances[0] + squares[1] / variances[1])
        return Answer(value, self._answer(influence).standard_error, math.inf)

    def _possible(self, of: object) -> tuple[float, float]:
        """The least and the largest answer of any joint distribution."""
        if isinstance(of, str):
            half = 1.0
            if of == "covariance":
                half = math.prod(float(np.ptp(self._numbers(at)[0])) / 2 for at in (0, 1))
            return -half, half
        if isinstance(of, tuple) and isinstance(of[0], str):
            return 0.0, 1.0
        held = self._table(of)
        table = np.outer(*held) if isinstance(held, tuple) else held
        return float(table.min()), float(table.max())


def _spreads(first: Array, second: Array) -> Array:
    """The largest minus the least product of two scores, for every row of both."""
    ends = [
        np.outer(one, other)
        for one in (first.min(axis=1), first.max(axis=1))
        for other in (second.min(axis=1), second.max(axis=1))
    ]
    found: Array = np.max(ends, axis=0) - np.min(ends, axis=0)
    return found
