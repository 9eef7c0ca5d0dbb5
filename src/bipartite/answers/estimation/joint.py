"""The joint distribution of two attributes, with error bars."""

from __future__ import annotations

import functools
import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.answers.estimation.answer import Answer
from bipartite.answers.estimation.histogram import Fitted, Unbiased
from bipartite.answers.estimation.intervals import FEW, ConfidenceInterval, few_note, within
from bipartite.answers.estimation.methods import check_method
from bipartite.answers.estimation.question import Question, numbers_of
from bipartite.answers.estimation.sample import Sample, spare
from bipartite.answers.estimation.showing import load_pandas
from bipartite.answers.estimation.source import Several, Source
from bipartite.answers.estimation.tally import Tally
from bipartite.answers.estimation.two_reports import NOT_TOLD, TwoReports
from bipartite.answers.estimation.wording import names_of
from bipartite.errors import InputError, shown
from bipartite.names import Renamed
from bipartite.plots.pairs import plot_pairs
from bipartite.texts import Printed, escaped, in_digits

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from matplotlib.axes import Axes
    from numpy.typing import NDArray
    from pandas import DataFrame

    from bipartite.answers.estimation.estimate import Estimate
    from bipartite.answers.estimation.goodness import GoodnessOfFit
    from bipartite.answers.estimation.sample import Averages
    from bipartite.domains import Domain

    Array = NDArray[np.float64]

METHODS: Final = ("auto", "inverse", "projected", "em")
_OF: Final = (
    "'covariance', 'correlation', ('cell', value, value), ('where', {name: value}), ('mean', name, {other: value}), a "
    "table of weights, or two lists of weights"
)
_NO_VARIANCE: Final = "a variance is not clearly above zero, so the correlation may be anything"
_NO_GROUP: Final = "the group's share is not clearly above zero, so its mean may be anything"
_SUMS: Final = "sums of unbiased shares of pairs over the other part"
_NOT_APART: Final = "single shares and quantiles have no intervals if not all pairs can be told apart; ask for a range"
# A variance in a denominator must be at least this many standard errors above zero.
_CLEARLY: Final = 3.0
_USUAL: Final = 0.95
_TWO: Final = 2
# The most weights of pairs in memory at once.
_ROOM: Final = 2**22
_CLOSE: Final = 1e-6


class JointEstimate(Printed, Renamed):
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

    def __init__(self, names: tuple[str, str], pairs: Estimate, parts: tuple[Estimate, Estimate] | None = None) -> None:
        """``pairs`` is the estimate of pairs as values, row by row; ``parts`` are those of both alone, if known."""
        self.names, self.nobs = names, pairs.nobs
        self._pairs, self._alone = pairs, parts
        self._domains: list[Domain] = [*pairs.domain.parts] if parts is None else [each.domain for each in parts]

    @property
    def method(self) -> str:
        """How the table of shares was computed."""
        return self._pairs.method

    @property
    def shares(self) -> Array:
        """The share of every pair of values: rows are values of the first attribute, columns of the second."""
        return self._pairs.shares.reshape([len(domain) for domain in self._domains])

    @property
    def check(self) -> GoodnessOfFit:
        """Whether these reports can have come from their mechanisms, for any population."""
        return self._pairs.check

    def marginal(self, name: str) -> Estimate:
        """The estimate of one attribute on its own, from the same people."""
        at, pairs = self._at(name), self._pairs
        if self._alone is not None:
            return self._alone[at]
        part = Part(pairs, at)
        made = partial(Unbiased, part, "inverse", _SUMS) if part.tells_all else partial(SumsOfPairs, part)
        return type(pairs)(part, made)

    def ask(self, of: object) -> Answer:
        """The answer to a question; ``of`` as in the class."""
        match of:
            case str("covariance"):
                return self._covariance()
            case str("correlation"):
                return self._correlation()
            case tuple((str("mean"), name, where)):
                return self._mean(name, where)
            case tuple((str("cell"), first, second)):
                weights = self._where(dict(zip(self.names, ([first], [second]), strict=True)))
            case tuple((str("where"), groups)):
                weights = self._where(groups)
            case str() | bytes() | dict() | None | tuple((str(), *_)):
                raise InputError(f"Expected {_OF}, got {shown(of)}.")
            case _:
                weights = self._table(of)
        return self._pairs.ask(weights.ravel())

    def to_frame(self, confidence: float = _USUAL) -> DataFrame:
        """A row for every pair: both values, share, se, low, high, note."""
        pd = load_pandas("joint.shares")
        found: DataFrame = self._pairs.to_frame(confidence=confidence).drop(columns="value")
        at = np.indices(self.shares.shape).reshape(2, -1)
        for place, (name, domain) in enumerate(zip(self.names, self._domains, strict=True)):
            values = pd.Series(domain.to_numpy().tolist()).to_numpy()[at[place]]
            found.insert(place, name, values, allow_duplicates=True)
        return found

    def plot(self, ax: Axes | None = None, *, title: str = "") -> Axes:
        """Draw the table of shares as colours, with the shares in the cells where they fit, and return the axes.

        The first attribute runs across, the second up; shares below zero are as pale as zero. Colours show no errors:
        a single cell of many may be noise, and :meth:`to_frame` has the interval of each.
        """
        first, second = map(names_of, self._domains)
        notes = [f"{self.nobs:,} people reported both; table by {self.method!r}; joint.to_frame() has the intervals"]
        notes += [self.check.doubt.split(":")[0]] * bool(self.check.doubt)
        return plot_pairs(self.shares, (first, second), self.names, ax, title=title, notes=notes)

    def summary(self, confidence: float = _USUAL) -> str:
        """The answers in words."""
        lines = [f"{self.nobs:,} people's reports of {' and '.join(map(escaped, self.names))}"]
        if self.check.doubt:
            lines.append(f"  {self.check.doubt}")
        if all(domain.has_ends for domain in self._domains):
            answer = self.ask("correlation")
            held = answer.ci(confidence)
            lines.append(f"  correlation  {in_digits(answer.value, *held)[0]}, {held.written(answer.value)}")
        lines.append(f"  table by {self.method!r}: {self._pairs._histogram.reason}")
        if (fit := self._pairs._histogram.fit) is not None and not fit.converged:
            lines.append(f"  ended up to {fit.gap:.2g} nats below the most likely table: take it with care")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return f"<JointEstimate of {' and '.join(map(escaped, self.names))} from {self.nobs:,} people's reports>"

    def _sample(self, *tables: Array) -> Averages | None:
        """The scores of several tables of weights."""
        return self._pairs._source.sample(np.stack([table.ravel() for table in tables]))

    @functools.cached_property
    def _moments(self) -> Averages | None:
        """The product, both squares and both numbers, all relative to their estimated means, whose errors cancel."""
        x, y = np.meshgrid(*(self._numbers(at)[0] for at in (0, 1)), indexing="ij")
        means = self._sample(x, y)
        if means is None:
            return None
        x, y = x - means.mean[0], y - means.mean[1]
        return self._sample(x * y, x**2, y**2, x, y)

    def _covariance(self) -> Answer:
        x, y = (self._numbers(at)[0] for at in (0, 1))
        half = float(np.ptp(x) * np.ptp(y)) / 4
        moments = self._moments
        if moments is None:
            shares = self.shares
            value = x @ shares @ y - (x @ shares.sum(axis=1)) * (y @ shares.sum(axis=0))
            return _unknown(float(value), -half, half, NOT_TOLD)
        # The product of the estimated means is biased by their covariance.
        value, product = float(moments.mean[0] + moments.cov[3, 4]), moments.combined(np.eye(1, 5))
        found = _of_slopes(value, product, (-half, half))
        return replace(found, se=found.se * moments.n / spare(moments.n))

    def _correlation(self) -> Answer:
        moments = self._moments
        if moments is None:
            return _unknown(math.nan, -1.0, 1.0, NOT_TOLD)
        values, together = moments.mean, moments.cov
        # Correct the variances for the estimated means.
        variances = [float(values[1 + at] + together[3 + at, 3 + at]) for at in (0, 1)]
        if not all(v > 0 and v >= _CLEARLY * error for v, error in zip(variances, moments.se[1:3], strict=True)):
            return _unknown(math.nan, -1.0, 1.0, _NO_VARIANCE)
        scale = math.sqrt(math.prod(variances))
        value = float(values[0] + together[3, 4]) / scale
        slopes = [1 / scale, -value / 2 / variances[0], -value / 2 / variances[1], 0, 0]
        combined = moments.combined(np.array([slopes]))
        if not isinstance(combined, Sample):  # the spread of a combination of scores is not known
            combined = replace(combined, spread=np.full(1, math.inf))
        return _of_slopes(value, combined, (-1.0, 1.0))

    def _mean(self, name: object, where: object) -> Answer:
        """The mean in a group: the ratio N/D of the averages of (number in the group, else 0) and (1 in it, else 0).

        N − r·D has mean 0 at the true r, so Fieller's interval contains all r for which 0 is in the interval of
        N − r·D: whatever D is, its coverage is that of an average. It is bounded only if D is clearly above zero.
        """
        other = self.names[1 - (at := self._at(name))]
        if not isinstance(where, dict) or list(where) != [other]:
            raise InputError(f"Expected ('mean', {name!r}, {{{other!r}: value}}), got {shown(where)}.")
        line, middle = self._numbers(at)
        member = self._where(where)
        numbers = member * (line[:, None] if at == 0 else line)
        both = self._sample(numbers, member)
        if both is None:
            raise InputError(
                "The reports cannot tell this group, or its numbers, from others; collect with edges='padded' or GRR."
            )
        ends = float(numbers.min()), float(numbers.max())
        possible = middle + ends[0], middle + ends[1]
        # Where single scores are not known: their spread for N − r·D is convex in r, so largest at an end.
        each = [] if isinstance(both, Sample) else [self._sample(numbers - r * member) for r in ends]
        spread = np.max([one.spread for one in each if one is not None], axis=0, initial=0.0)

        def low(number: float, share: float, sure: float) -> float:
            """The lower end of the interval of number·N + share·D."""
            found = both.combined(np.array([[number, share]]))
            return (replace(found, spread=spread) if number and each else found).ends(0, sure)[0]

        if low(0, 1, _USUAL) <= 0:
            return _unknown(math.nan, *possible, both.note() or _NO_GROUP)
        ratio = float(both.mean[0] / both.mean[1])

        def interval(sure: float) -> ConfidenceInterval:
            if low(0, 1, sure) <= 0:
                return ConfidenceInterval(*possible, sure, both.note() or _NO_GROUP)
            # As far as 0 is not outside of the interval of N − r·D.
            least = middle + _reach(ratio, min(ends[0], ratio), lambda r: low(1, -r, sure) <= 0)
            most = middle + _reach(ratio, max(ends[1], ratio), lambda r: low(-1, r, sure) <= 0)
            return ConfidenceInterval(least, most, sure, both.note())

        error = both.combined(np.array([[1, -ratio]])).se[0] / both.mean[1]
        return Answer(middle + ratio, float(error), interval)

    def _at(self, name: object) -> int:
        """The index of an attribute, 0 or 1."""
        if name not in self.names:
            raise InputError(f"Expected {self.names[0]!r} or {self.names[1]!r}, got {shown(name)}.")
        return self.names.index(str(name))

    def _numbers(self, at: int) -> tuple[Array, float]:
        """(the numbers of an attribute minus their middle, the middle)."""
        if not self._domains[at].has_ends:
            raise InputError(f"The values of {self.names[at]!r} are not numbers; ask for cells, or give weights.")
        return numbers_of(self._domains[at])

    def _where(self, groups: object) -> Array:
        """1 for the pairs of values in the group of each attribute; of one that is not named, all values."""
        if not isinstance(groups, dict) or not groups:
            raise InputError(f"Expected ('where', {{{self.names[0]!r}: value, …}}), got {shown(groups)}.")
        members = [np.ones(len(domain)) for domain in self._domains]
        for name, group in groups.items():
            at = self._at(name)
            members[at] = self._member(at, group)
        return np.outer(*members)

    def _member(self, at: int, group: object) -> Array:
        """1 for the values of a group, 0 for others; a group is a value, a list, or ("range", first, last)."""
        domain = self._domains[at]
        if domain.has_ranges and isinstance(group, tuple) and group[:1] == ("range",):
            asked = Question.read(group, domain)  # perhaps about all others
            return asked.shift + asked.scale * asked.weights
        values = list(group) if isinstance(group, (list, tuple, set, range, np.ndarray)) else [group]
        codes = [domain.encode(value) for value in values]
        if not codes or len(set(codes)) < len(codes):
            raise InputError(f"Expected one or more distinct values of {self.names[at]!r}, got {shown(group)}.")
        return np.isin(np.arange(len(domain)), codes).astype(np.float64)

    def _table(self, weights: object) -> Array:
        """Check weights: a table of finite numbers, or two lists, whose outer product it is."""
        sizes = len(self._domains[0]), len(self._domains[1])
        try:
            if isinstance(weights, tuple) and len(weights) == _TWO:
                weights = np.multiply.outer(*(np.asarray(each, dtype=np.float64) for each in weights))
            table = np.asarray(weights, dtype=np.float64)
        except (TypeError, ValueError):
            table = np.empty(0)
        if table.shape == sizes and np.isfinite(table).all():
            return table
        raise InputError(
            f"Expected {_OF}; weights are a table of {sizes[0]} × {sizes[1]} finite numbers, or two lists (w₁, w₂)."
        )


class Part(Source):
    """One of both values that reports are about: its weight is the weight of all pairs that contain it."""

    def __init__(self, pairs: Estimate, at: int) -> None:
        self.pairs, self._inner, self.at = pairs, pairs._source, at
        # Identifiability is known for pairs, not for their parts.
        self.mechanism, self.tally, self.found = self._inner.mechanism, replace(self._inner.tally, rows=None), None

    @property
    def domain(self) -> Domain:
        return self._inner.domain.parts[self.at]

    @property
    def tells_all(self) -> bool:
        return self._inner.tells_all

    def of_pairs(self, w: Array) -> Array:
        """The weights of all pairs, row by row, from those of this value, along the last axis."""
        other = len(self._inner.domain.parts[1 - self.at])
        found: Array = np.repeat(w, other, axis=-1) if self.at == 0 else np.tile(w, other)
        return found

    def sample(self, w: Array, *, fitted: bool = False) -> Averages | None:
        return self._inner.sample(self.of_pairs(w), fitted=fitted)

    def shares(self) -> Several:
        return self._shares

    @functools.cached_property
    def _shares(self) -> Several:
        step, units = max(1, _ROOM // len(self._inner.domain)), np.eye(len(self.domain))
        parts = [self.sample(units[at : at + step], fitted=True) for at in range(0, len(units), step)]
        columns = [(part.mean, part.se, part.spread) for part in parts if part is not None]
        return Several(*map(np.concatenate, zip(*columns, strict=True)))

    def check(self, shares: Array) -> GoodnessOfFit:
        del shares  # of this value only, but the reports are about pairs
        return self.pairs.check


class SumsOfPairs(Fitted):
    """The shares of one of both values if not all pairs can be told apart: sums over the histogram of pairs."""

    def __init__(self, part: Part) -> None:
        self._part, self._pairs = part, part.pairs._histogram
        assert self._pairs.fit is not None  # noqa: S101 (shares that are not unbiased are fitted)
        table = self._pairs.shares.reshape([len(each) for each in part.pairs.domain.parts])
        sums = replace(self._pairs.fit, frequencies=table.sum(axis=1 - part.at))
        super().__init__(self._pairs.method, self._pairs.reason, sums, _NOT_APART)

    def interval(self, w: Array, confidence: float) -> ConfidenceInterval:
        return self._pairs.interval(self._part.of_pairs(w), confidence)


def _of_slopes(value: float, slopes: Averages, possible: tuple[float, float]) -> Answer:
    """A smooth function of averages, which varies as the average of its slopes."""

    def interval(sure: float) -> ConfidenceInterval:
        if slopes.n < FEW:
            return ConfidenceInterval(min(possible[0], value), max(possible[1], value), sure, few_note(slopes.n))
        low, high = (value + end - float(slopes.mean[0]) for end in slopes.ends(0, sure))
        low, high = map(float, within(low, high, value, possible))
        return ConfidenceInterval(low, high, sure)

    return Answer(value, float(slopes.se[0]), interval)


def _unknown(value: float, low: float, high: float, note: str) -> Answer:
    """An answer of which nothing is known but the possible range."""
    return Answer(value, math.inf, lambda sure: ConfidenceInterval(low, high, sure, note))


def _reach(inside: float, bound: float, holds: Callable[[float], bool]) -> float:
    """How far from a number, where a condition holds, towards a bound it holds."""
    near, outside = _CLOSE * abs(bound - inside), bound
    if holds(bound):
        return bound
    while abs(outside - inside) > near:
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if holds(middle) else (inside, middle)
    return outside


def joint_of(first: Estimate, second: object, names: object, method: object) -> JointEstimate:
    """The joint distribution of the values of two estimates of the same people, or of the pairs of one."""
    named = {name for name in names if isinstance(name, str)} if isinstance(names, tuple) else set()
    if not isinstance(names, tuple) or not len(named) == len(names) == _TWO:
        raise InputError(f"Expected two different names such as ('age', 'income'), got {shown(names)}.")
    check_method(method, METHODS)
    if second is None:
        if len(first.domain.parts or ()) != _TWO:
            raise InputError(
                f"Expected reports about pairs of values, got {first.domain!r}; report on bp.Product(a, b), or pass "
                "the estimate of the same people's other reports, est.joint(other)."
            )
        if method != "auto":
            raise InputError("The table of pairs is that of the estimate; pass method= to bp.estimate.")
        return JointEstimate(names, first)
    if not isinstance(second, type(first)) or second is first:
        raise InputError(
            f"Expected the estimate of the same people's other reports, got {shown(second)}; names go in names=(…, …)."
        )
    _check_same_people(first._source.tally, second._source.tally)
    source = TwoReports(first._source, second._source)
    return JointEstimate(names, type(first)(source, source.histogram(str(method))), (first, second))


def joint_of_record(
    found: Mapping[str, Any], there: Mapping[str, NDArray[np.bool_]] | None, first: object, second: object, method: str
) -> JointEstimate:
    """The joint distribution of two attributes of a record; ``there`` says who reported which."""
    if there is None or any(hasattr(each, "keys") for each in found.values()):
        raise InputError("Expected attributes of a bp.Record, got groups; use est[label].joint(…) for each group.")
    if first == second or not {first, second} <= set(found):
        named = ", ".join(map(escaped, found))
        raise InputError(f"Expected two names of {named}, got {shown(first)} and {shown(second)}.")
    both = there[str(first)] & there[str(second)]
    if not both.any():
        raise InputError("Nobody reported both attributes; collect with a Record of sample=None, or sample=2 or more.")
    one, other = (_of_those(found[name], both[there[name]]) for name in (str(first), str(second)))
    return joint_of(one, other, (first, second), method)


def _of_those(est: Estimate, those: NDArray[np.bool_]) -> Estimate:
    """The estimate from some of the reports."""
    from bipartite.answers.estimation.estimating import from_tally  # noqa: PLC0415 (which imports this)

    tally = est._source.tally
    if those.all() or tally.rows is None:
        return est
    weights = None if tally.weights is None else tally.weights[those]
    return from_tally(est.mechanism, Tally.of(est.mechanism, tally.rows[those], weights))


def _check_same_people(one: Tally, other: Tally) -> None:
    """Refuse reports that cannot be paired."""
    if one.rows is None or other.rows is None:
        raise InputError(
            "Which reports belong to one person is not known from counts, nor where missing reports were dropped; pass "
            "all reports of both to bp.estimate, in the same order."
        )
    first, second = len(one.rows), len(other.rows)
    if first != second:
        raise InputError(f"Expected the same people in both, got {first} and {second} reports.")
    ours, theirs = (np.ones(first) if each.weights is None else each.weights for each in (one, other))
    if not np.array_equal(ours, theirs):
        raise InputError("Expected the same weights of people in both estimates; pass weights= to both, or to none.")
