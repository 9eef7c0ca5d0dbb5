r"""Two reports of each person, one about each of two values: the score of a pair is the product of both scores.

Given a person's values, their two reports are drawn independently: Pr[y, z | a, b] = P₁[y\|a]·P₂[z\|b]. So the product
u(y)·v(z) of unbiased scores for the weights w₁ and w₂ is unbiased for the weights w₁(a)·w₂(b) of pairs, and a product
with the matrix of pairs is two products with the single matrices. Pairs of outputs are counted. Flat categories have too
many different reports for that, so people are scored one by one, in blocks.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, Final

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
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from bipartite.answers.estimation.goodness import GoodnessOfFit
    from bipartite.answers.estimation.histogram import Histogram
    from bipartite.domains import Domain

    Array = NDArray[np.float64]
    Scorer = tuple[Callable[[slice], Array], tuple[Array, Array], tuple[Array, Array]]
    """The scores of some people, their smallest and largest possible value, and how far these matter for a tail."""

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
_NOT_ALL: Final = "not all shares can be estimated without bias"


class Kronecker(Channel):
    """Reports drawn independently given both values: F ↦ P₁ᵀ·F·P₂, on tables in row-major order."""

    def __init__(self, first: Channel, second: Channel) -> None:
        self._first, self._second = first, second
        self.inputs, self.outputs = first.inputs * second.inputs, first.outputs * second.outputs

    def forward(self, f: Array) -> Array:
        table = f.reshape(*f.shape[:-1], self._first.inputs, self._second.inputs)
        half = np.swapaxes(self._second.forward(table), -1, -2)
        found: Array = np.swapaxes(self._first.forward(half), -1, -2).reshape(*f.shape[:-1], self.outputs)
        return found

    def backward(self, v: Array) -> Array:
        table = v.reshape(*v.shape[:-1], self._first.outputs, self._second.outputs)
        half = np.swapaxes(self._second.backward(table), -1, -2)
        found: Array = np.swapaxes(self._first.backward(half), -1, -2).reshape(*v.shape[:-1], self.inputs)
        return found

    def distinct(self, seen: NDArray[np.bool_]) -> tuple[NDArray[np.int64] | None, Channel]:
        """Pairs of distinct rows; which pairs were seen does not factorize, so all reports of each side count."""
        del seen
        sides = [side.distinct(np.ones(side.outputs, bool)) for side in (self._first, self._second)]
        if all(groups is None for groups, _ in sides):
            return None, self
        first, second = (np.arange(rows.inputs) if groups is None else groups for groups, rows in sides)
        return np.add.outer(first * sides[1][1].inputs, second).ravel(), Kronecker(sides[0][1], sides[1][1])


class TwoReports(Source):
    """The reports of two attributes by the same people, in the same order; its values are pairs, row by row."""

    def __init__(self, first: Source, second: Source) -> None:
        self._sides, self.found = (first, second), None
        self.mechanism: Any = first.mechanism, second.mechanism
        self._flat = first.mechanism.flat or second.mechanism.flat
        self.shape = len(first.domain), len(second.domain)
        _check_sizes(self.shape, 0 if self._flat else math.prod(len(each.outputs) for each in self.mechanism))
        rows, weights = [first.tally.rows, second.tally.rows], first.tally.weights
        assert rows[0] is not None and rows[1] is not None  # noqa: S101, PT018 (reports that were paired)
        once = np.ones(len(rows[0])) if weights is None else weights
        n, size, square = int(np.count_nonzero(once)), float(once.sum()), float((once**2).sum())
        classes, counts = np.arange(len(once)), np.ones(len(once), dtype=np.int64)
        if not self._flat:
            many = len(second.mechanism.outputs)
            classes = rows[0] * many + rows[1]
            counts = np.bincount(classes, minlength=len(first.mechanism.outputs) * many)
        twice = np.bincount(classes, once**2, len(counts))
        once = twice if weights is None else np.bincount(classes, once, len(counts))
        self.tally = Tally(once, twice, n, size, square, counts, classes, weights)
        self._seen = np.flatnonzero(counts)
        self._rows = rows if self._flat else list(np.divmod(self._seen, many))
        self._weights = once[self._seen], twice[self._seen]

    @property
    def domain(self) -> Domain:
        return Integers(0, math.prod(self.shape) - 1)

    @property
    def tells_all(self) -> bool:
        return all(side.tells_all for side in self._sides)

    def sample(self, w: Array, *, fitted: bool = False) -> Averages | None:
        del fitted  # there are no other scores
        scored = [self._score(each.reshape(self.shape)) for each in w]
        held = [each for each in scored if each is not None]
        if len(held) < len(scored):
            return None
        u, low, high, spread = map(np.array, zip(*held, strict=True))
        first, second = self._weights
        weights = self.tally.weights
        each = None if weights is None else (np.searchsorted(self._seen, self.tally.rows), weights)
        found = Sample.of(u, first, first if weights is None else second, limits=(low, high), each=each)
        if not self._flat:
            return found
        # The bits of a report do not all deviate in one direction: the largest score says little about a tail.
        return Averages(found.mean, found.cov, spread, found.n, high - low, lambda: found)

    def _score(self, w: Array) -> tuple[Array, float, float, float] | None:
        """The score of every class of people, the smallest and the largest possible, and the spread of tails."""
        factors = _factors(w)
        if factors is None and (rest := _factors(1 - w)) is not None:
            # All scores of the weight 1 are 1.
            found = self._score_of_products(*rest)
            return None if found is None else (1 - found[0], 1 - found[2], 1 - found[1], found[3])
        if factors is None and not self._flat:
            return self._score_of_table(w)
        if factors is None:  # row by row, or column by column: flat categories tell every single value
            factors = (np.eye(len(w)), w) if self.mechanism[0].flat else (w.T, np.eye(w.shape[1]))
        return self._score_of_products(*factors)

    def _score_of_products(self, one: Array, other: Array) -> tuple[Array, float, float, float] | None:
        """The sum of products of scores, for as many weights of each side."""
        first, second = self._scorer(0, one), self._scorer(1, other)
        if first is None or second is None:
            return None
        u = np.empty(len(self._seen))
        for some in self._blocks():
            u[some] = (first[0](some) * second[0](some)).sum(axis=0)
        (low, high), (least, most) = (_products(first[at], second[at]) for at in (1, 2))
        return u, float(low.sum()), float(high.sum()), float((most - least).sum())

    def _score_of_table(self, w: Array) -> tuple[Array, float, float, float] | None:
        """Scores V with P₁·V·P₂ᵀ = W over pairs of outputs, solved on one side, then on the other."""
        half = self._sides[1].sample(w)
        whole = self._sides[0].sample(np.ascontiguousarray(half.u.T)) if isinstance(half, Sample) else None
        if not isinstance(whole, Sample):
            return None
        low, high = float(whole.u.min()), float(whole.u.max())
        return whole.u[self._rows[1], self._rows[0]], low, high, high - low

    def _scorer(self, at: int, w: Array) -> Scorer | None:
        """The scores of one attribute for each row of w."""
        side, rows = self._sides[at], self._rows[at]
        if isinstance(side, Supports):
            middle = w.mean(axis=1)
            z, law = w - middle[:, None], side._law
            low, high = law.ends(z)
            half = law.tail_spread(z, law.own(z)) / 2 if self.effective >= FEW else np.full(len(z), math.inf)
            among = (z.min(axis=1) + z.max(axis=1)) / 2
            tails = middle + np.maximum(low, among - half), middle + np.minimum(high, among + half)
            return (lambda some: side._scores(w, rows[some])), (middle + low, middle + high), tails
        sample = side.sample(w)
        if not isinstance(sample, Sample):
            return None
        return (lambda some: sample.u[:, rows[some]]), sample.range, sample.range

    def _blocks(self) -> Iterator[slice]:
        step = max(1, _ROOM // sum(self.shape))
        return (slice(start, start + step) for start in range(0, len(self._seen), step))

    def shares(self) -> Several:
        """The share of every pair of values; NaN if the reports cannot tell it."""
        return self._shares

    @functools.cached_property
    def _shares(self) -> Several:
        tally, plain = self.tally, self.tally.weights is None
        if self._flat:
            scorers = [self._scorer(at, np.eye(size)) for at, size in enumerate(self.shape)]
            first, second = (each for each in scorers if each is not None)
            spreads = _products(first[2], second[2], np.multiply.outer)
            parts = (
                (first[0](some), second[0](some), *(each[some] for each in self._weights)) for some in self._blocks()
            )
        else:
            u, v = (self._of_values(at) for at in (0, 1))
            spreads = _products((u.min(axis=1), u.max(axis=1)), (v.min(axis=1), v.max(axis=1)), np.multiply.outer)
            counts = u.shape[1], v.shape[1]
            parts = iter([(u, v, tally.first.reshape(counts), tally.second.reshape(counts))])
        means, raw, squares = np.zeros((3, *self.shape))
        for u, v, once, twice in parts:
            means += _summed(u, once, v)
            raw += 0 if plain else _summed(u, twice, v)
            squares += _summed(u**2, twice, v**2)
        means, raw = means / tally.size, means if plain else raw
        variances = np.maximum(squares - 2 * means * raw + means**2 * tally.square, 0.0) / tally.size**2
        errors = np.sqrt(variances * (self.effective / spare(self.effective)))
        return Several(means.ravel(), errors.ravel(), (spreads[1] - spreads[0]).ravel())

    def _of_values(self, at: int) -> Array:
        """The scores of every single value, over outputs; NaN if the reports cannot tell it."""
        side, units = self._sides[at], np.eye(self.shape[at])
        sample = side.sample(units)
        each = [side.sample(unit[None]) for unit in units] if sample is None else []
        unknown = np.full((1, len(self.mechanism[at].outputs)), math.nan)
        return sample.u if isinstance(sample, Sample) else np.vstack([getattr(one, "u", unknown) for one in each])

    @property
    def operator(self) -> Kronecker:
        """The matrix of pairs."""
        return Kronecker(*(each.lottery.channel() for each in self.mechanism))

    def check(self, shares: Array) -> GoodnessOfFit:
        if self._flat:
            table = shares.reshape(self.shape)
            return either_fits(*(side.check(table.sum(axis=1 - at)) for at, side in enumerate(self._sides)))
        # The most likely table of pairs is fitted again.
        return fit_of_pairs(*self.mechanism, self.operator, self.tally.counts)

    def histogram(self, method: str) -> Callable[[], Histogram]:
        """The table by one method, made when it is first needed."""
        name, reason = self._chosen(method)
        if name != "em":
            return functools.partial(Unbiased, self, name, reason)
        return functools.partial(MostLikelyPairs, self, reason)

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
        self.method, self.reason, self._answers, self._origin = "em", reason, source, 0
        self.frequencies = fit_em(source.operator, source.tally.first).frequencies

    @property
    def distribution(self) -> Array:
        # Sums of several most likely shares are biased.
        return self._answers.distribution if self._answers.tells_all else self.frequencies

    @property
    def share_errors(self) -> Array:
        each = self._answers.shares()
        return np.where(np.isnan(each.values), math.inf, each.errors)

    def share_bounds(self, confidence: float) -> tuple[Array, Array]:
        each, shown = self._answers.shares(), self.frequencies
        half = half_widths(each.errors, each.spreads, self._answers.effective, confidence)
        low, high = np.minimum(each.values - half, shown), np.maximum(each.values + half, shown)
        told = ~np.isnan(each.values)
        return np.where(told, low, 0.0), np.where(told, high, 1.0)

    def interval(self, w: Array, confidence: float) -> ConfidenceInterval:
        sample, possible = self._answers.sample(w[None]), (float(w.min()), float(w.max()))
        if sample is None:
            return ConfidenceInterval(*possible, confidence, NOT_TOLD)
        found, value = sample.answer(possible).interval(confidence), float(w @ self.distribution)
        return ConfidenceInterval(min(found.low, value), max(found.high, value), confidence, found.note)


def _check_sizes(values: tuple[int, int], pairs: int) -> None:
    """Refuse tables that are too large."""
    if max(values) > MOST_VALUES:
        raise DesignError(
            f"Expected at most {MOST_VALUES} values of an attribute for a joint distribution, got {max(values)}; report "
            "on a coarser domain, or estimate each attribute alone with bp.estimate."
        )
    if pairs > MOST_PAIRS:
        raise DesignError(
            f"Expected at most 2^22 different pairs of reports, got {pairs}; report on coarser domains, or estimate "
            "each attribute alone with bp.estimate."
        )


def _factors(w: Array) -> tuple[Array, Array] | None:
    """Two lists of weights whose outer product this table is, as rows; None if there are none."""
    at = np.unravel_index(np.abs(w).argmax(), w.shape)
    scale = float(w[at]) or 1.0
    first, second = w[:, at[1]], w[at[0]] / scale
    alike = np.abs(np.outer(first, second) - w).max() <= _ROUNDING * abs(scale)
    return (first[None], second[None]) if alike else None


def _products(
    first: tuple[Array, Array], second: tuple[Array, Array], times: Callable[[Array, Array], Array] = np.multiply
) -> tuple[Array, Array]:
    """The smallest and the largest product of two numbers between these ends."""
    corners = [times(one, other) for one in first for other in second]
    return np.min(corners, axis=0), np.max(corners, axis=0)


def _summed(u: Array, weights: Array, v: Array) -> Array:
    """Σ weight·u·v over people, or over a table of pairs of outputs."""
    found: Array = (u @ weights if weights.ndim > 1 else u * weights) @ v.T
    return found
