"""What reports say about the people, with error bars."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from bipartite.domains import LineDomain
from bipartite.errors import DesignError, InputError, MissingExtraError, shown
from bipartite.estimation import methods
from bipartite.estimation.intervals import FEW, Interval, bounded_width, check_confidence, few_note, normal_width
from bipartite.estimation.pictures import drawn
from bipartite.estimation.scores import MOST_DENSE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from bipartite.estimation.em import Fit
    from bipartite.estimation.evidence import Evidence
    from bipartite.estimation.identify import Identifiability
    from bipartite.estimation.prepared import Prepared
    from bipartite.estimation.quantiles import Ramps, Side
    from bipartite.mechanisms import Mechanism
    from bipartite.plots import Picture

    Array = NDArray[np.float64]

_NOT_KNOWN: Final = "the reports cannot tell all values apart, so that no number of them would narrow this"
_OF: Final = "'mean', 'variance', 'median', ('quantile', q), ('cdf', value), ('bin', value), or one weight a value"


class Answer(NamedTuple):
    """One unbiased answer."""

    value: float
    standard_error: float
    """Infinite where the reports cannot tell."""
    spread: float
    """The largest minus the least score of a report: how far one report can move the sum."""


class Estimate:
    """Answers from the reports of one mechanism. Made by :func:`bipartite.estimate`.

    Numbers (mean, variance, share up to a value, any linear answer) are averages of scores that are unbiased for every
    population, whatever the method. The method decides how the histogram, ``frequencies``, is made.
    """

    mechanism: Mechanism
    people: int
    """How many reports there were."""
    of_sample: bool
    """Whether errors are for the people who answered; otherwise for the population that they are drawn from."""

    def __init__(
        self,
        mechanism: Mechanism,
        evidence: Evidence,
        known: Prepared,
        shares: methods.Histogram,
        *,
        of_sample: bool,
    ) -> None:
        self.mechanism, self.people, self.of_sample = mechanism, evidence.people, of_sample
        self._evidence, self._shares = evidence, shares
        self._found, self._scores, self._ramp_scores = known.found, known.scores, known.ramps

    @property
    def effective_people(self) -> float:
        """How many equally weighted reports would be as certain: (Σw)²/Σw²; without weights, all of them."""
        return self._evidence.effective

    @property
    def method(self) -> str:
        """How the histogram was made."""
        return self._shares.method

    @property
    def reason(self) -> str:
        """Why by this method."""
        return self._shares.reason

    @property
    def fit(self) -> Fit | None:
        """How EM or EMS ended; None for other methods."""
        return self._shares.fit

    @property
    def identifiability(self) -> Identifiability | None:
        """What the reports can tell apart; None where that was too large to decide."""
        return self._found

    @property
    def frequencies(self) -> Array:
        """The share of each value, in the order of the domain."""
        return self._shares.frequencies

    @functools.cached_property
    def standard_errors(self) -> Array:
        """The standard error of each share; :func:`bipartite.estimate` says from what for each method."""
        return methods.standard_errors(
            self._shares, self.mechanism, self._evidence, self._known(), self._scores, of_sample=self.of_sample
        )

    @property
    def mean(self) -> float:
        """The mean of the values."""
        return self._linear(*self._numbers()).value

    @property
    def variance(self) -> float:
        """The variance of the values."""
        return self._spread().value

    @property
    def median(self) -> float:
        """The least value that at least half of the people are up to."""
        return self.quantile(0.5)

    def quantile(self, q: float) -> float:
        """The least value that at least a share q of the people are up to, from the histogram."""
        self._line()
        running = methods.on_simplex(self.frequencies).cumsum()
        at = int(np.searchsorted(running, _share(q) * running[-1] * (1 - 1e-12)))
        return float(self.mechanism.domain.decode(min(at, len(running) - 1)))

    def cdf(self, value: Any = None) -> Any:  # noqa: ANN401 (one number, or as many as the domain has)
        """The share of people up to a value, or without one at every value, from the histogram."""
        domain = self._line()
        running = self.frequencies.cumsum()
        return running if value is None else float(running[domain.encode(value)])

    def linear(self, weights: Any) -> float:  # noqa: ANN401 (one number a value)
        """Σ weights·share: the average over people of what each one's value counts."""
        return self._linear(*self._weighted(weights)).value

    def total(self, weights: Any = "mean", population: float | None = None) -> float:  # noqa: ANN401
        """The sum over people: of their values, or of what each value counts; over ``population``, or all who reported.

        ``est.total(population=5_000_000)`` scales the mean to a population that the people were drawn from.
        """
        people = self._evidence.size if population is None else float(population)
        return people * (self.mean if isinstance(weights, str) and weights == "mean" else self.linear(weights))

    def standard_error(self, of: Any = "mean") -> float:  # noqa: ANN401
        """The standard error of an answer; infinite where the reports cannot tell, not defined for quantiles."""
        kind, what = _parsed(of)
        if kind == "quantile":
            msg = "A quantile has an interval but no standard error here; use est.interval(0.95, of=…)."
            raise InputError(msg)
        if kind == "bin":
            return float(self.standard_errors[self.mechanism.domain.encode(what)])
        return self._answer(kind, what).standard_error

    def interval(self, confidence: float = 0.95, of: Any = "mean") -> Interval:  # noqa: ANN401
        """(low, high) that holds the true answer in about this share of all samples.

        ``of`` is "mean", "variance", "median", ("quantile", q), ("cdf", value), ("bin", value), or one weight a value.
        With fewer than 50 reports a bound that holds for any number is given instead, and the interval's ``note`` says
        so. Where the reports cannot tell values apart, the interval holds everything that they leave open.
        """
        sure = check_confidence(confidence)
        kind, what = _parsed(of)
        if kind == "quantile":
            return self._quantile_interval(what, sure)
        if kind == "bin":
            return self._bin_interval(what, sure)
        if kind == "cdf":
            return self._cdf_interval(what, sure)
        if kind == "variance":
            return self._variance_interval(sure)
        value, error, spread = self._answer(kind, what)
        if math.isinf(error):
            return self._open_interval(kind, what, sure)
        w, middle = self._asked(kind, what)
        possible = middle + float(w.min()), middle + float(w.max())
        return self._around(Answer(value, error, spread), possible, sure)

    def unbiased(self, of: Any = "mean") -> Answer:  # noqa: ANN401
        """An answer as an average of scores: its value, standard error and the spread of the scores."""
        kind, what = _parsed(of)
        if kind == "quantile":
            msg = "A quantile is no average; use 'mean', 'variance', ('cdf', value), ('bin', value) or weights."
            raise InputError(msg)
        return self._answer(kind, what)

    def covariance(self, weights: Any) -> tuple[Array, Array]:  # noqa: ANN401 (rows of one number a value)
        """(answers, their covariance) for several linear answers at once, one a row of ``weights``."""
        scores = self._scores
        w = np.stack([self._weighted(row)[0] for row in weights])
        answer = None if scores is None else self._known().by_group(w)
        u = None if scores is None or answer is None else scores.of(answer)
        if u is None:
            msg = (
                f"The reports cannot tell values apart that these answers tell apart: {self._found}; collect with "
                "edges='padded' or GRR."
            )
            raise InputError(msg)
        means = self._evidence.mean(u)
        return means, self._evidence.covariance(u)

    def group_shares(self) -> list[tuple[list[Any], float, float]]:
        """(values, share, standard error) for every group of values that the reports can tell from all others."""
        found = self._known()
        scores = self._scores
        if scores is None or not found.groups_identifiable:
            msg = f"Not even groups of values can be told apart here: {found}; use est.frequencies, which are a guess."
            raise DesignError(msg)
        shares, variances = methods.unbiased_shares(scores, self._evidence, of_sample=self.of_sample)
        order = np.argsort(found.group_of, kind="stable")
        cuts = np.cumsum(np.bincount(found.group_of))[:-1]
        members = np.split(order, cuts)
        domain = self.mechanism.domain
        return [
            (domain[values].tolist(), share, error)
            for values, share, error in zip(members, shares.tolist(), np.sqrt(variances).tolist(), strict=True)
        ]

    def to_frame(self, confidence: float = 0.95) -> Any:  # noqa: ANN401 (a pandas DataFrame)
        """A row for every value: value, share, standard error, low, high."""
        try:
            import pandas as pd  # noqa: PLC0415 (only people who ask for a frame need it)
        except ImportError:
            msg = "to_frame needs pandas; install it, or use est.frequencies and est.standard_errors."
            raise MissingExtraError(msg) from None
        low, high = self.share_intervals(confidence)
        return pd.DataFrame(
            {
                "value": self.mechanism.domain.to_numpy(),
                "share": self.frequencies,
                "standard_error": self.standard_errors,
                "low": low,
                "high": high,
            }
        )

    def share_intervals(self, confidence: float = 0.95) -> tuple[Array, Array]:
        """(low, high) of the share of each value, in the order of the domain; each alone holds with this confidence."""
        low, high = self.share_bounds(check_confidence(confidence))
        return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)

    def plot(self, file: str | Path | None = None, confidence: float = 0.95) -> Picture:
        """A picture of the shares with their intervals, as SVG text, written to ``file`` where one is given.

        On a line a histogram with the mean and the median above it (for more than 120 values a line in a band),
        elsewhere bars, the largest 40 first. Unbiased shares may lie below zero and are drawn there. What the reports
        cannot tell apart is hatched. A notebook shows the picture.
        """
        return drawn(self, check_confidence(confidence), file)

    def summary(self, confidence: float = 0.95) -> str:
        """The answers in words, with intervals."""
        whose = "these people" if self.of_sample else "the population"
        lines = [f"{self.people:,} reports of {self.mechanism!r}, for {whose}"]
        if isinstance(self.mechanism.domain, LineDomain):
            lines += [
                f"  mean      {self.mean:.6g}, {self.interval(confidence)}",
                f"  median    {self.median:.6g}, {self.interval(confidence, of='median')}",
            ]
        lines.append(f"  histogram by {self.method!r}: {self.reason}")
        if self._found is not None and not self._found.identifiable:
            lines.append(f"  not identifiable: {self._found}")
        if self.fit is not None and not self.fit.converged:
            lines.append(f"  stopped after {self.fit.steps} steps without reaching its rule: take it with care")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Estimate from {self.people:,} reports of {self.mechanism!r}, method {self.method!r}>"

    # What follows is how the answers are computed.

    def _known(self) -> Identifiability:
        if self._found is None:
            msg = (
                "This mechanism is too large to decide what can be told apart, so there are no error bars; use fewer "
                "values, or GRR."
            )
            raise DesignError(msg)
        return self._found

    def _line(self) -> LineDomain:
        domain = self.mechanism.domain
        if not isinstance(domain, LineDomain):
            msg = f"The values of {domain!r} are no numbers; use est.frequencies, or est.linear with a weight a value."
            raise InputError(msg)
        return domain

    def _numbers(self) -> tuple[Array, float]:
        """(values around their middle, the middle): large numbers then lose no digits."""
        numbers = self._line().to_numpy().astype(np.float64)
        middle = float(numbers[0] / 2 + numbers[-1] / 2)
        return numbers - middle, middle

    def _up_to(self, value: Any) -> tuple[Array, float]:  # noqa: ANN401
        at = self._line().encode(value)
        return (np.arange(len(self.mechanism.domain)) <= at).astype(np.float64), 0.0

    def _weighted(self, weights: Any) -> tuple[Array, float]:  # noqa: ANN401
        size = len(self.mechanism.domain)
        try:
            w = np.asarray(weights, dtype=np.float64)
        except (TypeError, ValueError):
            w = np.empty(0)
        if w.shape != (size,) or not np.isfinite(w).all():
            msg = f"Expected {_OF}, got {shown(weights)}; this domain has {size} values."
            raise InputError(msg)
        return w, 0.0

    def _linear(self, w: Array, middle: float) -> Answer:
        """The average score, or where there is none what the histogram says, with an infinite error."""
        u, u2 = self._score(w)
        if u is None:
            return Answer(middle + float(w @ self.frequencies), math.inf, math.inf)
        own = self.of_sample and u2 is not None
        variance = self._evidence.own_variance(u, u2) if own else self._evidence.variance(u)  # type: ignore[arg-type]
        return Answer(middle + float(self._evidence.mean(u)), math.sqrt(variance), float(u.max() - u.min()))

    def _score(self, w: Array) -> tuple[Array | None, Array | None]:
        scores = self._scores
        answer = None if scores is None else self._known().by_group(w)
        if scores is None or answer is None:
            return None, None
        return scores.of(answer), scores.of(answer**2) if self.of_sample else None

    def _spread(self) -> Answer:
        """The variance of the values, unbiased: the mean square around the estimated mean lacks that mean's variance.

        Its error is that of the mean square around the true mean, which may be a standard error to either side and is
        within the range, so the larger of two; and to second order that of the mean: the square of a normal error with
        variance v has variance 2v².
        """
        w, _ = self._numbers()
        mean = self._linear(w, 0.0)
        squares = self._linear((w - mean.value) ** 2, 0.0)
        if math.isinf(mean.standard_error) or math.isinf(squares.standard_error):
            return Answer(squares.value, math.inf, math.inf)
        noise = mean.standard_error**2
        centres = np.clip([mean.value - mean.standard_error, mean.value + mean.standard_error], w[0], w[-1])
        error = max(self._linear((w - centre) ** 2, 0.0).standard_error for centre in centres)
        return Answer(squares.value + noise, math.hypot(error, math.sqrt(2) * noise), squares.spread)

    def _variance_interval(self, sure: float) -> Interval:
        w, _ = self._numbers()
        # Half of the people at either end vary most.
        most = float(w[-1] - w[0]) ** 2 / 4
        answer = self._spread()
        if math.isinf(answer.standard_error):
            # The mean square around any place is at least the variance.
            return Interval(0.0, min(self._open_interval("variance", None, sure).high, most), sure, _NOT_KNOWN)
        if self._evidence.effective >= FEW:
            return self._around(answer, (0.0, most), sure)
        # The mean square around the middle less the square of the mean there, each within its own bound.
        mean, squares = (self._linear(w**power, 0.0) for power in (1, 2))
        each = 1 - (1 - sure) / 2
        off, half = (bounded_width(part.spread, self._evidence.effective, each) for part in (mean, squares))
        least, largest = max(abs(mean.value) - off, 0.0), abs(mean.value) + off
        low, high = squares.value - half - largest**2, squares.value + half - least**2
        return Interval(min(max(low, 0.0), most), min(max(high, 0.0), most), sure, self._scarce())

    def _answer(self, kind: str, what: Any) -> Answer:  # noqa: ANN401
        if kind == "variance":
            return self._spread()
        return self._linear(*self._asked(kind, what))

    def _unit(self, value: Any) -> tuple[Array, float]:  # noqa: ANN401
        unit = np.zeros(len(self.mechanism.domain))
        unit[self.mechanism.domain.encode(value)] = 1.0
        return unit, 0.0

    def _asked(self, kind: str, what: Any) -> tuple[Array, float]:  # noqa: ANN401
        if kind == "mean":
            return self._numbers()
        if kind == "cdf":
            return self._up_to(what)
        if kind == "bin":
            return self._unit(what)
        if kind == "variance":
            w, middle = self._numbers()
            return (w - (self.mean - middle)) ** 2, 0.0
        return self._weighted(what)

    def _open_interval(self, kind: str, what: Any, sure: float) -> Interval:  # noqa: ANN401
        """The interval of an answer that the reports do not fix: from the least to the largest that they allow."""
        w, middle = self._asked(kind, what)
        scores = self._scores
        if scores is None or not self._known().groups_identifiable:
            return Interval(middle + float(w.min()), middle + float(w.max()), sure, _NOT_KNOWN)
        ends = []
        for side, answer in zip((-1, 1), self._known().bounds(w), strict=True):
            u = scores.of(answer)
            assert u is not None  # noqa: S101 (all groups are identifiable)
            if self._evidence.effective < FEW:
                half = bounded_width(float(u.max() - u.min()), self._evidence.effective, sure)
            else:
                half = normal_width(sure) * math.sqrt(self._evidence.variance(u))
            ends.append(middle + float(self._evidence.mean(u)) + side * half)
        return Interval(max(ends[0], middle + float(w.min())), min(ends[1], middle + float(w.max())), sure, _NOT_KNOWN)

    def _around(self, answer: Answer, possible: tuple[float, float], sure: float) -> Interval:
        """The interval of an average of scores, less what no population could give."""
        few = self._evidence.effective < FEW
        widest = bounded_width(answer.spread, self._evidence.effective, sure)
        half = widest if few else normal_width(sure) * answer.standard_error
        low, high = (min(max(end, possible[0]), possible[1]) for end in (answer.value - half, answer.value + half))
        return Interval(low, high, sure, self._scarce())

    def _centres(self) -> Array:
        """What intervals of shares are around: the unbiased share, also where it was then projected."""
        if self.method == "projected":
            assert self._scores is not None  # noqa: S101 (there is a histogram of it)
            return self._scores.shares(self._evidence.law).mean[self._known().group_of]
        return self.frequencies

    def share_bounds(self, sure: float) -> tuple[Array, Array]:
        """:meth:`share_intervals` also past what is possible: around a negative share, infinite where none is known."""
        centres, errors = self._centres(), self.standard_errors
        half = normal_width(sure) * errors
        if self._evidence.effective < FEW and self._scores is not None and self.method in {"inverse", "projected"}:
            half = bounded_width(1.0, self._evidence.effective, sure) * self._spreads()
        return centres - half, centres + half

    def _spreads(self) -> Array:
        """How far one report can move each share; infinite where there are too many to look at."""
        size = len(self.mechanism.domain)
        answers = self._known().by_group(np.eye(size)) if size <= MOST_DENSE else None
        u = None if answers is None or self._scores is None else self._scores.of(answers)
        return np.full(size, np.inf) if u is None else u.max(axis=1) - u.min(axis=1)

    def _bin_interval(self, value: Any, sure: float) -> Interval:  # noqa: ANN401
        domain = self.mechanism.domain
        at = domain.encode(value)
        if self.method in {"inverse", "projected"}:
            return self._around(self._linear(*self._unit(value)), (0.0, 1.0), sure)
        share, error = float(self.frequencies[at]), float(self.standard_errors[at])
        if math.isinf(error):
            return Interval(0.0, 1.0, sure, _NOT_KNOWN)
        half = normal_width(sure) * error
        bias = "smoothing biases shares towards their neighbours, which this does not show" if self.fit else ""
        # Smoothing has no score, and so no bound that would hold for any number of reports.
        notes = (self._scarce().split(",", maxsplit=1)[0], bias if self.method == "ems" else "")
        low, high = max(share - half, 0.0), min(share + half, 1.0)
        return Interval(low, high, sure, "; ".join(note for note in notes if note))

    def _cdf_interval(self, value: Any, sure: float) -> Interval:  # noqa: ANN401
        at = self._line().encode(value)
        found = self._known()
        if not found.groups_identifiable:
            return Interval(0.0, 1.0, sure, _NOT_KNOWN)
        # Up to a value within a group: at least all groups before it, at most that group too.
        group = int(found.group_of[at])
        whole = at + 1 == len(found.group_of) or found.group_of[at + 1] != group
        low = self._ramps.around(group if whole else group - 1, self._half(sure))[0] if whole or group else 0.0
        high = self._ramps.around(group, self._half(sure))[1]
        notes = (self._scarce(), "" if whole else _NOT_KNOWN)
        return Interval(low, high, sure, "; ".join(note for note in notes if note))

    def _half(self, sure: float) -> Callable[[Side], Array]:
        """How far off the estimates of ramps may be."""
        people = self._evidence.effective
        if people < FEW:
            return lambda side: side.spreads * bounded_width(1.0, people, sure)
        return lambda side: side.errors * normal_width(sure)

    def _scarce(self) -> str:
        """What to know where there are too few reports for the normal law."""
        return few_note(self._evidence.effective) if self._evidence.effective < FEW else ""

    def _quantile_interval(self, q: float, sure: float) -> Interval:
        domain = self._line()
        share = _share(q)
        found = self._known()
        if not found.groups_identifiable:
            return Interval(float(domain.decode(0)), float(domain.decode(len(domain) - 1)), sure, _NOT_KNOWN)
        first, last = self._ramps.interval(share, self._half(sure))
        sizes = np.bincount(found.group_of, minlength=found.rows).cumsum()
        low = int(sizes[first - 1]) if first else 0
        high = int(sizes[last]) - 1
        return Interval(float(domain.decode(low)), float(domain.decode(high)), sure, self._scarce())

    @functools.cached_property
    def _ramps(self) -> Ramps:
        assert self._ramp_scores is not None  # noqa: S101 (asked only where groups are identifiable)
        return self._ramp_scores.ramps(self._evidence, of_sample=self.of_sample)


def _share(q: object) -> float:
    if isinstance(q, bool) or not isinstance(q, (int, float, np.floating)) or not 0 < q < 1:
        msg = f"Expected a quantile between 0 and 1, got {shown(q)}; 0.5 is the median."
        raise InputError(msg)
    return float(q)


def _parsed(of: Any) -> tuple[str, Any]:  # noqa: ANN401
    """(kind, what) of what an interval is asked for."""
    if isinstance(of, str):
        if of == "median":
            return "quantile", 0.5
        if of in {"mean", "variance"}:
            return of, None
    elif isinstance(of, tuple) and len(of) == 2 and isinstance(of[0], str):  # noqa: PLR2004 (a name and a value)
        if of[0] in {"quantile", "cdf", "bin"}:
            return of[0], of[1]
    elif not isinstance(of, (bytes, dict, type(None))):
        return "linear", of
    msg = f"Expected {_OF}, got {shown(of)}."
    raise InputError(msg)
