"""What reports say about the people, with error bars."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, Final, Literal, overload

import numpy as np

from bipartite.answers.estimation import methods
from bipartite.answers.estimation.asking import line_of, numbers_of, parsed, quantile_of, unit, up_to, weights_of
from bipartite.answers.estimation.basis import Answer
from bipartite.answers.estimation.intervals import (
    FEW,
    ConfidenceInterval,
    bounded_width,
    check_confidence,
    few_note,
    likely_width,
    normal_width,
    within,
)
from bipartite.answers.estimation.pictures import drawn
from bipartite.answers.estimation.poisoning import poisoned, tipping_point, what_forging_does
from bipartite.answers.estimation.projection import projected_bounds
from bipartite.domains import LineDomain
from bipartite.errors import InputError, MissingExtraError, how_many, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from numpy.typing import NDArray
    from pandas import DataFrame

    from bipartite.answers.estimation.asking import Asked, Weights
    from bipartite.answers.estimation.basis import Basis
    from bipartite.answers.estimation.em import Fit
    from bipartite.answers.estimation.goodness import GoodnessOfFit
    from bipartite.answers.estimation.identify import Identifiability
    from bipartite.answers.estimation.poisoning import Poisoning
    from bipartite.answers.estimation.quantiles import Ramps, Side
    from bipartite.mechanisms import Mechanism
    from bipartite.mechanisms.categories import CategoryMechanism
    from bipartite.plots import Picture

    Array = NDArray[np.float64]

_UNLUCKY: Final = "no population has an answer in this range, so the sample is an unlucky one"
_DOUBTED: Final = "no population has an answer in this range: these reports cannot have come from this mechanism"
_NOT_KNOWN: Final = "the reports cannot tell all values apart, so that no number of them would narrow this"
_NO_FIT: Final = "no population fits these reports, so this is all that is possible"


class Estimate:
    """Answers from the reports of one mechanism. Made by :func:`bipartite.estimate`.

    Numbers (mean, variance, share up to a value, any linear answer) are averages of scores that are unbiased for every
    population, whatever the method. The method decides how the histogram, ``frequencies``, is made.
    """

    mechanism: Mechanism | CategoryMechanism
    people: int
    """How many reports there were."""
    of_sample: bool
    """Whether errors are for the people who answered; otherwise for the population that they are drawn from."""

    def __init__(self, basis: Basis, shares: methods.Histogram) -> None:
        self.mechanism, self.people, self.of_sample = basis.mechanism, basis.people, basis.of_sample
        self._basis, self._shares = basis, shares

    @property
    def effective_people(self) -> float:
        """How many equally weighted reports would be as certain: (Σw)²/Σw²; without weights, all of them."""
        return self._basis.effective

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
        """What the reports can tell apart; None where that was too large to decide, or where it is all (categories)."""
        return self._basis.found

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
        return self._basis.fits(self.frequencies)

    @property
    def doubt(self) -> str:
        """Why these reports cannot have come from the mechanism, whatever the people are like; mostly empty.

        True reports are doubted with a chance of at most 1e-6; :attr:`fits` has the p-value.
        """
        return self.fits.doubt

    def poisoning(self, k: int, of: Asked = "mean") -> Poisoning:
        """How far k forged reports, in the place of any k of these, can move an answer; ``of`` as in :meth:`interval`.

        Exact for unbiased answers and shares: those who knew all reports could reach both ends. A bound for projected
        shares, quantiles and the variance, and for flat categories where only counts are given. No bound is proved for
        what is read off a most likely or smoothed distribution; there the range is all that exists, and the note says
        so. A forged report is any that the mechanism has. Weights stay with the people.
        """
        return poisoned(self, self._basis, self._shares, k, of)

    def tipping_point(self, confidence: float = 0.95, *, of: Asked = "mean") -> int | None:
        """The least number of forged reports that can move an answer out of its own interval, by :meth:`poisoning`.

        Where that is a bound, no fewer can. None where not even forging every report is seen to.
        """
        return tipping_point(self, check_confidence(confidence), of)

    @property
    def frequencies(self) -> Array:
        """The share of each value, in the order of the domain."""
        return self._shares.frequencies

    @functools.cached_property
    def standard_errors(self) -> Array:
        """The standard error of each share; :func:`bipartite.estimate` says from what for each method."""
        return self._basis.standard_errors(self._shares)

    @property
    def mean(self) -> float:
        """The mean of the values."""
        return self._linear(*numbers_of(self.mechanism.domain)).value

    @property
    def variance(self) -> float:
        """The variance of the values."""
        return self._spread().value

    @property
    def median(self) -> float:
        """The least value that at least half of the people are up to."""
        return self.quantile(0.5)

    def quantile(self, q: float) -> float:
        """The least value that at least a share q of the people are up to.

        From the histogram where that is a distribution fitted to the reports (``em``, ``ems``); unbiased shares are too
        rough to add up, and there it is read off the smoothed steps that its interval comes from.
        """
        domain, share = line_of(self.mechanism.domain), quantile_of(q)
        if self.fit is None and self._basis.groups() is not None:
            return float(domain.decode(self._ramps.crossing(share)))
        running = methods.on_simplex(self.frequencies).cumsum()
        at = int(np.searchsorted(running, share * running[-1] * (1 - 1e-12)))
        return float(domain.decode(min(at, len(running) - 1)))

    @overload
    def cdf(self, value: None = ...) -> Array: ...

    @overload
    def cdf(self, value: object) -> float: ...

    def cdf(self, value: object = None) -> Array | float:
        """The share of people up to a value, or without one at every value, from the histogram."""
        domain = line_of(self.mechanism.domain)
        running = self._basis.running(self._shares)
        return running if value is None else float(running[domain.encode(value)])

    def linear(self, weights: Weights) -> float:  # one number a value
        """Σ weights·share: the average over people of what each one's value counts."""
        return self._linear(weights_of(self.mechanism.domain, weights), 0.0).value

    def total(self, weights: Weights | Literal["mean"] = "mean", population: float | None = None) -> float:
        """The sum over people: of their values, or of what each value counts; over ``population``, or all who reported.

        ``est.total(population=5_000_000)`` scales the mean to a population that the people were drawn from.
        """
        if population is not None and not _is_number(population):
            msg = f"Expected population as a number of people of at least 0, got {shown(population)}."
            raise InputError(msg)
        people = self._basis.size if population is None else float(population)
        return people * (self.mean if isinstance(weights, str) and weights == "mean" else self.linear(weights))

    def standard_error(self, of: Asked = "mean") -> float:
        """The standard error of an answer; infinite where the reports cannot tell, not defined for quantiles."""
        kind, what = parsed(of)
        if kind == "quantile":
            msg = "A quantile has an interval but no standard error here; use est.interval(0.95, of=…)."
            raise InputError(msg)
        if kind == "bin":
            return float(self.standard_errors[self.mechanism.domain.encode(what)])
        return self._answer(kind, what).standard_error

    def interval(self, confidence: float = 0.95, of: Asked = "mean") -> ConfidenceInterval:
        """(low, high) that holds the true answer in about this share of all samples.

        ``of`` is "mean", "variance", "median", ("quantile", q), ("cdf", value), ("bin", value), or one weight a value.
        With fewer than 50 reports a bound that holds for any number is given instead, and the interval's ``note`` says
        so. Where hardly any report bears on the answer, as for a rare value, it is wider than the standard error tells.
        Where the reports cannot tell values apart, the interval holds everything that they leave open.
        """
        sure = check_confidence(confidence)
        kind, what = parsed(of)
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

    def unbiased(self, of: Asked = "mean") -> Answer:
        """An answer as an average of scores: its value, standard error and the spread of the scores."""
        kind, what = parsed(of)
        if kind == "quantile":
            msg = "A quantile is no average; use 'mean', 'variance', ('cdf', value), ('bin', value) or weights."
            raise InputError(msg)
        return self._answer(kind, what)

    def covariance(self, weights: Iterable[Weights]) -> tuple[Array, Array]:  # rows of one number a value
        """(answers, their covariance) for several linear answers at once, one a row of ``weights``."""
        w = np.stack([weights_of(self.mechanism.domain, row) for row in weights])
        answers = self._basis.covariance(w)
        if answers is None:
            msg = (
                f"The reports cannot tell values apart that these answers tell apart: {self._basis.found}; collect "
                "with edges='padded' or GRR."
            )
            raise InputError(msg)
        return answers

    def group_shares(self) -> list[tuple[list[Any], float, float]]:
        """(values, share, standard error) for every group of values that the reports can tell from all others."""
        return self._basis.group_shares()

    def to_frame(self, confidence: float = 0.95) -> DataFrame:
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
        bounds = self.share_bounds(check_confidence(confidence))
        return within(*bounds, 0.0, 1.0, at_least=self._basis.effective < FEW)

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
        lines = [f"{how_many(self.people, 'report')} of {self.mechanism!r}, for {whose}"]
        if self.doubt:
            lines.append(f"  {self.doubt}")
        if isinstance(self.mechanism.domain, LineDomain):
            lines += [
                f"  mean      {self.mean:.6g}, {self.interval(confidence)}",
                f"  median    {self.median:.6g}, {self.interval(confidence, of='median')}",
            ]
        lines += [f"  {line}" for line in [what_forging_does(self)] if line]
        lines.append(f"  histogram by {self.method!r}: {self.reason}")
        found = self._basis.found
        if found is not None and not found.identifiable:
            lines.append(f"  not identifiable: {found}")
        if self.fit is not None and not self.fit.converged:
            lines.append(f"  stopped after {self.fit.steps} steps without reaching its rule: take it with care")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Estimate from {how_many(self.people, 'report')} of {self.mechanism!r}, method {self.method!r}>"

    # What follows is how the answers are computed.

    def _linear(self, w: Array, middle: float) -> Answer:
        """The unbiased answer, or where there is none what the histogram says, with an infinite error."""
        found = self._basis.answer(w)
        return self._guess(w, middle) if found is None else found._replace(value=middle + found.value)

    def _guess(self, w: Array, middle: float) -> Answer:
        return Answer(middle + float(w @ self.frequencies), math.inf, math.inf)

    def _share(self, value: object) -> Answer:
        found = self._basis.share(self.mechanism.domain.encode(value))
        return self._guess(unit(self.mechanism.domain, value), 0.0) if found is None else found

    def _spread(self) -> Answer:
        """The variance of the values, unbiased: the mean square around the estimated mean lacks that mean's variance.

        Its error is that of the mean square around the true mean, which may be a standard error to either side and is
        within the range, so the larger of two; and to second order that of the mean: the square of a normal error with
        variance v has variance 2v².
        """
        w, _ = numbers_of(self.mechanism.domain)
        mean = self._linear(w, 0.0)
        squares = self._linear((w - mean.value) ** 2, 0.0)
        if math.isinf(mean.standard_error) or math.isinf(squares.standard_error):
            return Answer(squares.value, math.inf, math.inf)
        noise = mean.standard_error**2
        centres = np.clip([mean.value - mean.standard_error, mean.value + mean.standard_error], w[0], w[-1])
        error = max(self._linear((w - centre) ** 2, 0.0).standard_error for centre in centres)
        return Answer(squares.value + noise, math.hypot(error, math.sqrt(2) * noise), squares.spread)

    def _variance_interval(self, sure: float) -> ConfidenceInterval:
        w, _ = numbers_of(self.mechanism.domain)
        # Half of the people at either end vary most.
        most = float(w[-1] - w[0]) ** 2 / 4
        answer = self._spread()
        if math.isinf(answer.standard_error):
            # The mean square around any place is at least the variance.
            return ConfidenceInterval(
                0.0, min(self._open_interval("variance", None, sure).high, most), sure, _NOT_KNOWN
            )
        if self._basis.effective >= FEW:
            half = self._width(answer, sure)
            low, high = map(float, within(answer.value - half, answer.value + half, 0.0, most, at_least=True))
            return ConfidenceInterval(low, high, sure)
        # The mean square around the middle less the square of the mean there, each within its own bound.
        mean, squares = (self._linear(w**power, 0.0) for power in (1, 2))
        each = 1 - (1 - sure) / 2
        off, half = (bounded_width(part.spread, self._basis.effective, each) for part in (mean, squares))
        least, largest = max(abs(mean.value) - off, 0.0), abs(mean.value) + off
        low, high = squares.value - half - largest**2, squares.value + half - least**2
        return ConfidenceInterval(min(max(low, 0.0), most), min(max(high, 0.0), most), sure, self._scarce())

    def _answer(self, kind: str, what: object) -> Answer:
        if kind == "variance":
            return self._spread()
        if kind == "bin":
            return self._share(what)
        return self._linear(*self._asked(kind, what))

    def _asked(self, kind: str, what: object) -> tuple[Array, float]:
        domain = self.mechanism.domain
        if kind == "mean":
            return numbers_of(domain)
        if kind == "cdf":
            return up_to(domain, what), 0.0
        if kind == "bin":
            return unit(domain, what), 0.0
        if kind == "variance":
            w, middle = numbers_of(domain)
            return (w - (self.mean - middle)) ** 2, 0.0
        return weights_of(domain, what), 0.0

    def _open_interval(self, kind: str, what: object, sure: float) -> ConfidenceInterval:
        """The interval of an answer that the reports do not fix: from the least to the largest that they allow."""
        w, middle = self._asked(kind, what)
        least, most = middle + float(w.min()), middle + float(w.max())
        ends = self._basis.ends(w)
        if ends is None:
            return ConfidenceInterval(least, most, sure, _NOT_KNOWN)
        low, high = (
            middle + end.value + side * self._width(end, sure) for side, end in zip((-1, 1), ends, strict=True)
        )
        if low > high or high < least or low > most:
            return ConfidenceInterval(least, most, sure, f"{_NOT_KNOWN}; {_NO_FIT}")
        return ConfidenceInterval(max(low, least), min(high, most), sure, _NOT_KNOWN)

    def _width(self, answer: Answer, sure: float) -> float:
        """How far an average of scores may be off."""
        if self._basis.effective < FEW:
            return bounded_width(answer.spread, self._basis.effective, sure)
        return float(likely_width(answer.standard_error, answer.spread, self._basis.effective, sure))

    def _around(self, answer: Answer, possible: tuple[float, float], sure: float) -> ConfidenceInterval:
        """The interval of an average of scores, less what no population could give."""
        half = self._width(answer, sure)
        few = self._basis.effective < FEW
        low, high = within(answer.value - half, answer.value + half, *possible, at_least=few)
        beyond = high < possible[0] or low > possible[1]
        notes = (self._scarce(), (_DOUBTED if self.doubt else _UNLUCKY) if beyond else "")
        return ConfidenceInterval(float(low), float(high), sure, "; ".join(note for note in notes if note))

    def share_bounds(self, sure: float) -> tuple[Array, Array]:
        """:meth:`share_intervals` also past what is possible: around a negative share, infinite where none is known."""
        centres, errors, people = self._basis.centres(self._shares), self.standard_errors, self._basis.effective
        spreads = self._basis.spreads() if people < FEW or self.method in {"inverse", "projected"} else None
        if self.method == "projected" and spreads is not None:
            return projected_bounds(centres, self.frequencies, errors, spreads, people, sure)
        if spreads is None:
            half = normal_width(sure) * errors
        elif people < FEW:
            half = bounded_width(1.0, people, sure) * spreads
        else:
            half = likely_width(errors, spreads, people, sure)
        return centres - half, centres + half

    def _bin_interval(self, value: object, sure: float) -> ConfidenceInterval:
        domain = self.mechanism.domain
        at = domain.encode(value)
        if self.method == "projected":
            low, high = (float(end[at]) for end in self.share_intervals(sure))
            return ConfidenceInterval(low, high, sure, self._scarce())
        # Smoothing has no score, and so no bound that would hold for any number of reports.
        if self.method == "inverse" or self._basis.effective < FEW:
            answer = self._share(value)
            known = math.isfinite(answer.spread)
            return self._around(answer, (0.0, 1.0), sure) if known else ConfidenceInterval(0.0, 1.0, sure, _NOT_KNOWN)
        share, error = float(self.frequencies[at]), float(self.standard_errors[at])
        if math.isinf(error):
            return ConfidenceInterval(0.0, 1.0, sure, _NOT_KNOWN)
        half = normal_width(sure) * error
        bias = "smoothing biases shares towards their neighbours, which this does not show" if self.fit else ""
        low, high = max(share - half, 0.0), min(share + half, 1.0)
        return ConfidenceInterval(low, high, sure, bias if self.method == "ems" else "")

    def _cdf_interval(self, value: object, sure: float) -> ConfidenceInterval:
        at = line_of(self.mechanism.domain).encode(value)
        group_of = self._basis.groups()
        if group_of is None:
            return ConfidenceInterval(0.0, 1.0, sure, _NOT_KNOWN)
        # Up to a value within a group: at least all groups before it, at most that group too.
        group = int(group_of[at])
        whole = at + 1 == len(group_of) or group_of[at + 1] != group
        low = self._ramps.around(group if whole else group - 1, self._half(sure))[0] if whole or group else 0.0
        high = self._ramps.around(group, self._half(sure))[1]
        notes = (self._scarce(), "" if whole else _NOT_KNOWN)
        return ConfidenceInterval(min(low, high), max(low, high), sure, "; ".join(note for note in notes if note))

    def _half(self, sure: float) -> Callable[[Side], Array]:
        """How far off the estimates of ramps may be."""
        people = self._basis.effective
        if people < FEW:
            return lambda side: side.spreads * bounded_width(1.0, people, sure)
        return lambda side: likely_width(side.errors, side.spreads, people, sure)

    def _scarce(self) -> str:
        """What to know where there are too few reports for the normal law."""
        return few_note(self._basis.effective) if self._basis.effective < FEW else ""

    def _quantile_interval(self, q: float, sure: float) -> ConfidenceInterval:
        domain = line_of(self.mechanism.domain)
        share = quantile_of(q)
        group_of = self._basis.groups()
        if group_of is None:
            return ConfidenceInterval(float(domain.decode(0)), float(domain.decode(len(domain) - 1)), sure, _NOT_KNOWN)
        first, last = self._ramps.interval(share, self._half(sure))
        sizes = np.bincount(group_of).cumsum()
        low = int(sizes[first - 1]) if first else 0
        high = int(sizes[last]) - 1
        return ConfidenceInterval(float(domain.decode(low)), float(domain.decode(high)), sure, self._scarce())

    @functools.cached_property
    def _ramps(self) -> Ramps:
        return self._basis.ramps()


def _is_number(people: object) -> bool:
    """Whether something is a finite number of at least 0."""
    if isinstance(people, bool) or not isinstance(people, (int, float, np.integer, np.floating)):
        return False
    return 0 <= float(people) < math.inf
