r"""Two reports of each person, one about each of two values: the score of a pair is the product of both scores.

Given a person's values, their two reports are drawn independently: Pr[y, z | a, b] = P₁[y\|a]·P₂[z\|b]. So the product
u(y)·v(z) of unbiased scores for the weights w₁ and w₂ is unbiased for the weights w₁(a)·w₂(b) of pairs, and a product
with the matrix of pairs is two products with the single matrices. Pairs of outputs are counted. Flat categories have
too many different reports for that, so people are scored one by one, in blocks.
"""

from __future__ import annotations

import functools
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from bipartite.answers.estimation.em import fit_em
from bipartite.answers.estimation.goodness import either_fits, fit_of_pairs
from bipartite.answers.estimation.histogram import Unbiased
from bipartite.answers.estimation.identify import identifiability
from bipartite.answers.estimation.intervals import FEW, ConfidenceInterval, half_widths
from bipartite.answers.estimation.sample import Averages, Sample, spare
from bipartite.answers.estimation.source import Several, Source
from bipartite.answers.estimation.supports import Supports
from bipartite.answers.estimation.tally import Tally
from bipartite.domains import Integers
from bipartite.errors import DesignError, InputError
from bipartite.lottery import Channel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from bipartite.answers.estimation.goodness import GoodnessOfFit
    from bipartite.answers.estimation.histogram import Histogram
    from bipartite.domains import Domain

    Array = NDArray[np.float64]
    Ends = tuple[Array, Array]

MOST_VALUES: Final = 1024
"""The most values of one attribute: the scores of all its shares are in memory at once."""
MOST_PAIRS: Final = 2**22
"""The most pairs of reports: each takes one number in memory."""
NOT_TOLD: Final = "the reports cannot tell this"
# The most scores in memory at once: people times the values of both.
_ROOM: Final = 2**22
# Unbiased cells are worth showing while their standard errors stay below this fraction of an average cell.
_TELLING: Final = 0.5
_ROUNDING: Final = 1e-14
_SMALL: Final = "unbiased, with errors that are small compared to an average cell"
_NOISE: Final = "unbiased shares of so many pairs of values would be mostly noise"
_ALONE: Final = "or estimate each attribute alone with bp.estimate."
_NOT_ALL: Final = "not all shares can be estimated without bias"


class Kronecker(Channel):
    """Reports drawn independently given both values: F ↦ P₁ᵀ·F·P₂, on tables in row-major order."""

    def __init__(self, first: Channel, second: Channel) -> None:
        self._first, self._second = first, second
        self.inputs, self.outputs = first.inputs * second.inputs, first.outputs * second.outputs

    def forward(self, f: Array) -> Array:
        return _on_both_sides(f, self._first.inputs, self._first.forward, self._second.forward)

    def backward(self, v: Array) -> Array:
        return _on_both_sides(v, self._first.outputs, self._first.backward, self._second.backward)

    def distinct(self, seen: NDArray[np.bool_]) -> tuple[NDArray[np.int64] | None, Channel]:
        """Pairs of distinct rows; which pairs were seen does not factorize, so all reports of each side count."""
        del seen
        sides = [side.distinct(np.ones(side.outputs, bool)) for side in (self._first, self._second)]
        if all(groups is None for groups, _ in sides):
            return None, self
        first, second = (np.arange(rows.inputs) if groups is None else groups for groups, rows in sides)
        return np.add.outer(first * sides[1][1].inputs, second).ravel(), Kronecker(sides[0][1], sides[1][1])


class Scores(NamedTuple):
    """The scores of one attribute, a row for each row of weights."""

    of: Callable[[slice], Array]
    """Those of some classes of people."""
    ends: Ends
    """The smallest and the largest possible score of each row."""
    tails: Ends
    """The same, as far as tails reach: the bits of flat categories do not all deviate in one direction."""


class PairScores(NamedTuple):
    """The score of each class of people for one table of weights; the other fields are used with flat categories."""

    u: Array
    low: float = 0.0
    high: float = 0.0
    spread: float = 0.0


class TwoReports(Source):
    """The reports of two attributes by the same people, in the same order; its values are pairs, row by row."""

    def __init__(self, first: Source, second: Source) -> None:
        self._sides, self.found = (first, second), None
        self._asked: tuple[Array, Averages | None] | None = None
        self.mechanism: Any = first.mechanism, second.mechanism
        self._flat = first.mechanism.flat or second.mechanism.flat
        self.shape = len(first.domain), len(second.domain)
        if (most := max(self.shape)) > MOST_VALUES:
            raise DesignError(
                f"Expected at most {MOST_VALUES} values of an attribute for a joint distribution, got {most}; report "
                f"on a coarser domain, {_ALONE}"
            )
        # A class of people is a pair of outputs or, with flat categories, a person.
        rows: list[Any] = [first.tally.rows, second.tally.rows]
        classes, many = np.arange(len(rows[0])), len(rows[0])
        if not self._flat:
            laws = [mechanism.lottery.channel().uniform_law() > 0 for mechanism in self.mechanism]
            if (many := len(laws[0]) * len(laws[1])) > MOST_PAIRS:
                raise DesignError(
                    f"Expected at most 2^22 different pairs of reports, got {many}; report on coarser domains, {_ALONE}"
                )
            classes = rows[0] * len(laws[1]) + rows[1]
            # Nobody reports an impossible output; it has the scores of a possible one, so that it widens no range.
            one, other = (np.where(law, np.arange(len(law)), law.argmax()) for law in laws)
            rows = [one.repeat(len(other)), np.tile(other, len(one))]
        self._rows, weights, counts = rows, first.tally.weights, np.bincount(classes, minlength=many)
        self.tally = Tally.of_counts(counts, first.n, classes)
        if weights is not None:
            once, twice = (np.bincount(classes, each, many).astype(float) for each in (weights, weights**2))
            self.tally = replace(first.tally, first=once, second=twice, counts=counts, rows=classes)

    @property
    def domain(self) -> Domain:
        return Integers(0, math.prod(self.shape) - 1)

    @property
    def tells_all(self) -> bool:
        return all(side.tells_all for side in self._sides)

    def sample(self, w: Array, *, fitted: bool = False) -> Averages | None:
        del fitted  # there are no other scores
        # An answer asks for its value, then for its interval: over a million people each takes a while.
        if self._asked is None or not np.array_equal(self._asked[0], w):
            self._asked = w, self._sample(w)
        return self._asked[1]

    def _sample(self, w: Array) -> Averages | None:
        scored = [self._score(each.reshape(self.shape)) for each in w]
        held = [each for each in scored if each is not None]
        if len(held) < len(scored):
            return None
        u, low, high, spread = map(np.array, zip(*held, strict=True))
        tally, limits = self.tally, (low, high) if self._flat else None
        each = None if tally.weights is None else (tally.rows, tally.weights)
        found = Sample.of(u, tally.first, tally.second, limits=limits, each=each)
        if not self._flat:
            return found
        return Averages(found.mean, found.variances, spread, found.n, high - low, lambda: found, lambda: found.cov)

    def _score(self, w: Array) -> PairScores | None:
        factors = _factors(w)
        if factors is None and not self._flat:
            # Scores V with P₁·V·P₂ᵀ = W, solved on one side, then on the other.
            half = self._sides[1].sample(w)
            whole = self._sides[0].sample(np.ascontiguousarray(half.u.T)) if isinstance(half, Sample) else None
            return PairScores(whole.u[self._rows[1], self._rows[0]]) if isinstance(whole, Sample) else None
        if factors is None and (rest := _factors(1 - w)) is not None:
            # The complement of a group: all scores of the weight 1 are 1.
            found = self._score_of_products(*rest)
            return None if found is None else PairScores(1 - found.u, 1 - found.high, 1 - found.low, found.spread)
        if factors is None:  # row by row, or column by column: flat categories tell every single value
            factors = (np.eye(len(w)), w) if self.mechanism[0].flat else (w.T, np.eye(w.shape[1]))
        return self._score_of_products(*factors)

    def _score_of_products(self, one: Array, other: Array) -> PairScores | None:
        """The sum of products of scores, for as many weights of each side."""
        first, second = self._scores(0, one), self._scores(1, other)
        if first is None or second is None:
            return None
        u = np.concatenate([(first.of(some) * second.of(some)).sum(axis=0) for some in self._blocks()])
        corners, tails = _corners(first.ends, second.ends), _corners(first.tails, second.tails)
        ends = corners.min(axis=0), corners.max(axis=0), np.ptp(tails, axis=0)
        return PairScores(u, *(float(each.sum()) for each in ends))

    def _scores(self, at: int, w: Array) -> Scores | None:
        side, rows = self._sides[at], self._rows[at]
        if isinstance(side, Supports):
            middle = w.mean(axis=1)
            z, law = w - middle[:, None], side._law
            low, high = law.ends(z)
            half = law.tail_spread(z, law.own(z)) / 2 if self.effective >= FEW else np.full(len(z), math.inf)
            among = (z.min(axis=1) + z.max(axis=1)) / 2
            tails = middle + np.maximum(low, among - half), middle + np.minimum(high, among + half)
            return Scores(lambda some: side._scores(w, rows[some]), (middle + low, middle + high), tails)
        sample = side.sample(w)
        if not isinstance(sample, Sample):
            return None
        return Scores(lambda some: np.asarray(sample.u[:, rows[some]]), sample.range, sample.range)

    def _blocks(self) -> Iterator[slice]:
        step = max(1, _ROOM // sum(self.shape))
        return (slice(start, start + step) for start in range(0, len(self._rows[0]), step))

    def shares(self) -> Several:
        """The share of every pair of values; NaN if the reports cannot tell it."""
        return self._shares

    @functools.cached_property
    def _shares(self) -> Several:
        tally, held = self.tally, (self.tally.first, self.tally.second)
        parts: Iterable[tuple[Array, ...]]
        if self._flat:
            one, other = (self._scores(at, np.eye(size)) for at, size in enumerate(self.shape))
            assert one is not None and other is not None  # noqa: S101, PT018 (all values can be told apart)
            ends = one.tails, other.tails
            parts = ((one.of(some), other.of(some), *(each[some] for each in held)) for some in self._blocks())
        else:
            u, v = map(self._of_values, (0, 1))
            ends = (u.min(axis=1), u.max(axis=1)), (v.min(axis=1), v.max(axis=1))
            parts = [(u, v, *(each.reshape(u.shape[1], -1) for each in held))]
        sums = np.zeros((3, *self.shape))
        for u, v, once, twice in parts:
            sums += [_summed(u, once, v), _summed(u, twice, v), _summed(u**2, twice, v**2)]
        means, spreads = sums[0] / tally.size, np.ptp(_corners(*ends, np.multiply.outer), axis=0)
        variances = np.maximum(sums[2] - 2 * means * sums[1] + means**2 * tally.square, 0.0) / tally.size**2
        errors = np.sqrt(variances * (self.effective / spare(self.effective)))
        return Several(means.ravel(), errors.ravel(), spreads.ravel())

    def _of_values(self, at: int) -> Array:
        """The scores of every single value, over outputs; NaN if the reports cannot tell it."""
        side, units = self._sides[at], np.eye(self.shape[at])
        sample = side.sample(units)
        if isinstance(sample, Sample):
            return sample.u
        unknown = np.full((1, len(self.mechanism[at].outputs)), math.nan)
        return np.vstack([getattr(side.sample(unit[None]), "u", unknown) for unit in units])

    @property
    def operator(self) -> Kronecker:
        """The matrix of pairs."""
        return Kronecker(*(each.lottery.channel() for each in self.mechanism))

    def check(self, shares: Array) -> GoodnessOfFit:
        if self._flat:
            table = shares.reshape(self.shape)
            return either_fits(*(side.check(table.sum(axis=1 - at)) for at, side in enumerate(self._sides)))
        # The most likely table of pairs is fitted again.
        return fit_of_pairs(self.mechanism[0], self.mechanism[1], self.operator, self.tally.counts)

    def histogram(self, method: str) -> Callable[[], Histogram]:
        """The table by one method, made when it is first needed."""
        name, reason = self._chosen(method)
        made = functools.partial(MostLikelyPairs, self) if name == "em" else functools.partial(Unbiased, self, name)
        return functools.partial(made, reason)

    def _chosen(self, method: str) -> tuple[str, str]:
        """(the method, why)."""
        if self._flat and method == "em":
            raise InputError(
                "method='em' needs counts of whole reports, and flat categories have too many different ones; use "
                "method='projected' for shares that are never negative."
            )
        unclear = next((side.mechanism for side in self._sides if not side.tells_all), None)
        if unclear is not None and self._flat:
            raise InputError(
                f"A table with flat categories needs mechanisms that tell all values apart, and {unclear!r} does not; "
                "collect with edges='padded' or GRR."
            )
        if unclear is not None and method in {"inverse", "projected"}:
            raise InputError(
                f"method={method!r} needs mechanisms that tell all values apart, and {unclear!r} does not: "
                f"{identifiability(unclear)}; use method='em', or collect with edges='padded'."
            )
        if method != "auto" or unclear is not None:
            return ("em", _NOT_ALL) if method == "auto" else (method, "asked for")
        # For uniform and independent values the square of a product is the product of the squares. This depends only on
        # the mechanisms and the number of people.
        square, cells = math.prod(map(self._mean_square, (0, 1))), math.prod(self.shape)
        if math.sqrt(max(square - 1 / cells**2, 0.0) / self.effective) <= _TELLING / cells:
            return "inverse", _SMALL
        return ("projected" if self._flat else "em"), _NOISE

    def _mean_square(self, at: int) -> float:
        """The mean square of the score of a share, over all shares and a uniform population."""
        mechanism, size = self.mechanism[at], self.shape[at]
        if mechanism.flat:
            return float(mechanism.variances(np.full(size, 1 / size), 1).mean()) + 1 / size
        return float((self._of_values(at) ** 2 @ mechanism.lottery.channel().uniform_law()).mean())


class MostLikelyPairs(Unbiased):
    """The most likely table; the intervals of unbiased answers, extended to it."""

    def __init__(self, source: TwoReports, reason: str) -> None:
        self.method, self.reason, self._source = "em", reason, source
        self.fit = fit_em(source.operator, source.tally.first)
        self.shares = self.fit.frequencies

    @property
    def distribution(self) -> Array:
        # Sums of several most likely shares are biased.
        return self._source.distribution if self._source.tells_all else self.shares

    @property
    def share_errors(self) -> Array:
        each = self._source.shares()
        return np.where(np.isnan(each.values), math.inf, each.errors)

    def share_bounds(self, confidence: float) -> tuple[Array, Array]:
        each, shown = self._source.shares(), self.shares
        half = half_widths(each.errors, each.spreads, self._source.effective, confidence)
        # The possible share nearest to the unbiased one is nearer to the truth, and its interval never empty.
        near = np.clip(each.values, 0.0, 1.0)
        low, high, told = np.minimum(near - half, shown), np.maximum(near + half, shown), ~np.isnan(near)
        return np.where(told, low, 0.0), np.where(told, high, 1.0)

    def interval(self, w: Array, confidence: float) -> ConfidenceInterval:
        sample, possible = self._source.sample(w[None]), (float(w.min()), float(w.max()))
        if sample is None:
            return ConfidenceInterval(*possible, confidence, NOT_TOLD)
        found, value = sample.answer(possible).interval(confidence), float(w @ self.distribution)
        return ConfidenceInterval(min(found.low, value), max(found.high, value), confidence, found.note)


def _on_both_sides(x: Array, rows: int, first: Callable[[Array], Array], second: Callable[[Array], Array]) -> Array:
    """Apply a linear map to the columns of a table of so many rows, and another to its rows."""
    half = np.swapaxes(second(x.reshape(*x.shape[:-1], rows, -1)), -1, -2)
    found: Array = np.swapaxes(first(half), -1, -2).reshape(*x.shape[:-1], -1)
    return found


def _factors(w: Array) -> tuple[Array, Array] | None:
    """Two lists of weights whose outer product this table is, as rows; None if there are none."""
    at = np.unravel_index(np.abs(w).argmax(), w.shape)
    scale = float(w[at]) or 1.0
    first, second = w[:, at[1]], w[at[0]] / scale
    alike = np.abs(np.outer(first, second) - w).max() <= _ROUNDING * abs(scale)
    return (first[None], second[None]) if alike else None


def _corners(first: Ends, second: Ends, times: Callable[[Array, Array], Array] = np.multiply) -> Array:
    """The products of the ends of two ranges, between which all products of numbers in them lie."""
    return np.array([times(one, other) for one in first for other in second])


def _summed(u: Array, weights: Array, v: Array) -> Array:
    """Σ weight·u·v over people, or over a table of pairs of outputs."""
    found: Array = (u @ weights if weights.ndim > 1 else u * weights) @ v.T
    return found
