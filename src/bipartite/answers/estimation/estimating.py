"""``bp.estimate``: answers from reports, or from counts of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, overload

import numpy as np

from bipartite.answers.estimation.attributes import columns_of
from bipartite.answers.estimation.counts import Counts, check_counts
from bipartite.answers.estimation.estimate import Estimate
from bipartite.answers.estimation.groups import Estimates, cut
from bipartite.answers.estimation.identify import identifiability
from bipartite.answers.estimation.methods import check_method, flat_histogram, histogram_of
from bipartite.answers.estimation.question import Question
from bipartite.answers.estimation.reports import indices_of
from bipartite.answers.estimation.source import Outputs
from bipartite.answers.estimation.supports import Supports
from bipartite.answers.estimation.tally import Tally, check_weights
from bipartite.domains.containers.cells import Array as Cells
from bipartite.errors import InputError, SpecError, of_attribute, shown
from bipartite.mechanisms import Mechanism, Record
from bipartite.mechanisms.base import check_mechanism
from bipartite.mechanisms.categories.cells import as_reports
from bipartite.mechanisms.spec import spec_sha256

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypedDict, Unpack

    from numpy.typing import ArrayLike, NDArray

    from bipartite.answers.estimation.methods import Method
    from bipartite.answers.estimation.question import Asked
    from bipartite.answers.estimation.reports import Missing
    from bipartite.mechanisms.base import Series

    Array = NDArray[np.float64]
    Labels = Sequence[Any] | NDArray[Any] | Series

    class Options(TypedDict, total=False):
        """The options of ``estimate`` except ``by``, which decides the type of the result."""

        counts: Counts | ArrayLike | None
        method: Method
        weights: object
        nulls: Missing


@overload
def estimate(
    mechanism: Mechanism, reports: object = ..., *, by: None = ..., **options: Unpack[Options]
) -> Estimate: ...


@overload
def estimate(mechanism: Mechanism, reports: object = ..., *, by: Labels, **options: Unpack[Options]) -> Estimates: ...


@overload
def estimate(
    mechanism: Record, reports: object = ..., *, by: Labels | None = ..., **options: Unpack[Options]
) -> Estimates: ...


def estimate(
    mechanism: Mechanism | Record,
    reports: object = None,
    *,
    counts: Counts | ArrayLike | None = None,
    method: Method = "auto",
    weights: object = None,
    by: object = None,
    nulls: Missing = "error",
) -> Estimate | Estimates:
    r"""Estimate what the values of the people are like from their reports, with error bars.

    Parameters
    ----------
    mechanism
        The mechanism that the reports were made with, or ``bp.from_spec(…)`` of its spec. For a
        :class:`~bipartite.Record`, an estimate for each attribute (:class:`~bipartite.answers.estimation.Estimates`).
    reports
        What ``privatize`` returned, in any container. Reports beyond the ends of a range must not be clipped.
    counts
        Instead of reports: :class:`~bipartite.Counts`, or one whole number per output.
    method
        How the histogram is made; numbers such as the mean do not depend on it.

        - ``"inverse"``: shares that are unbiased for every population (and may be negative). Refused if the reports
          cannot tell all values apart (:func:`bipartite.identifiability`).
        - ``"projected"``: the distribution nearest to those.
        - ``"em"``: the most likely distribution.
        - ``"smooth"``: the most likely smooth distribution on a line. How smooth is chosen by the likelihood of
          held-out reports; if no smoothing predicts them best, it is ``"em"``.
        - ``"auto"``: ``projected`` for flat categories; ``smooth`` for more than 32 values on a line, except for GRR;
          otherwise ``inverse`` while its errors stay below half an average share, then ``smooth`` on a line and
          ``projected`` for GRR, points and items. If not all values can be told apart: ``smooth`` on a line,
          elsewhere ``em``. The summary says why.
    weights
        A public weight per report, such as one over its probability of being in the sample.
    by
        A public label per report, for an estimate of each group (:class:`~bipartite.answers.estimation.Estimates`).
    nulls
        ``"drop"`` skips missing reports.

    Notes
    -----
    A linear answer Σ_x w_x·f_x is the average over reports of a score u(y) with Pu = w: unbiased for every population.
    For the mean and for weights it is the score of least variance for a uniform population, which depends on no report.
    For shares (of a value, a range, or cumulative), from 50 reports on, the score of each report is fitted to a half of
    the reports that it does not belong to, which keeps it unbiased (:mod:`bipartite.answers.estimation.source`). The
    smallest possible variance is wᵀI⁻¹w − (Σ w·f)² divided by n, with the information matrix I = P·diag(1/r)·Pᵀ, and
    shares come within a few percent of it. Shares, cumulative shares and quantiles are read off the histogram, each
    inside its own interval. For ``inverse`` and ``projected`` the intervals are those of unbiased answers. For ``em``
    and ``smooth`` an interval contains what the reports do not rule out: the answers of all distributions that are
    likely enough (:mod:`bipartite.answers.estimation.likelihood`). Single shares then have no intervals in frames, and
    public ranges do.

    Flat categories (:class:`~bipartite.OUE` and others) are counted by value. Each share is estimated on its own, and
    they need not add up to one; an average, such as the mean or a cumulative share, uses that the true shares do, so it
    is not Σ weights·``shares``. Its variance comes from the exact probability that a report supports two values at
    once. For :class:`~bipartite.OLH` with many values it comes from the reports themselves or, if only counts are
    given, from a bound, which makes errors too large. Every report must come from a different person: several reports
    from one :class:`~bipartite.RAPPOR` permanent response are not independent, so estimate each date on its own.

    Each attribute of a record is estimated on its own, from those who reported it;
    :meth:`Estimates.joint <bipartite.answers.estimation.Estimates.joint>` combines two of them. Reports about pairs
    (:class:`~bipartite.Product`) contain both: :meth:`Estimate.joint <bipartite.answers.estimation.Estimate.joint>`.

    All of this is computed from the reports alone, and costs no privacy.

    Examples
    --------
    >>> from bipartite import BRR, Integers, insecure_seed
    >>> mech = BRR(Integers(18, 90), epsilon=1, edges="padded")
    >>> reports = mech.privatize([30] * 6000 + [50] * 4000, rng=insecure_seed(7))
    >>> est = estimate(mech, reports)
    >>> low, high = est.ask("mean").ci(0.95)
    >>> low < 38 < high
    True
    """
    _check_arguments(mechanism, reports, counts, weights, by, nulls)
    check_method(method)
    if isinstance(mechanism, Record):
        return _of_attributes(mechanism, reports, nulls, weights, by, method)
    if reports is None:
        return from_tally(mechanism, _counted(mechanism, counts), method)
    rows = rows_of(mechanism, reports, nulls)
    if nulls == "drop" and len(rows) and not mechanism.flat:
        # Once some are dropped, the order of rows no longer says who is who (`Estimate.joint`).
        return from_tally(mechanism, replace(Tally.of(mechanism, rows), rows=None), method)
    return _by_group(mechanism, rows, weights, by, method)


def scores(mechanism: Mechanism, reports: object, of: Asked = "mean", *, nulls: Missing = "error") -> Array:
    r"""One unbiased number per report: u(y) with E[u(Y) \| x] = w_x, whatever the population.

    Their average estimates the average of the weights w, and any linear statistic of them estimates the same statistic
    of the weights: regress them on public columns for a trend (with heteroscedasticity-robust errors), cluster or
    bootstrap them. ``of`` is "mean", for the values themselves, ("range", first, last), ("cdf", value), ("bin", value),
    or one weight per value. The scores are functions of the reports alone, so they cost no privacy; they are those of
    least variance when values are uniform, and far more spread out than the values.

    >>> from bipartite import BRR, Integers, insecure_seed
    >>> mech = BRR(Integers(1, 10), epsilon=2, edges="padded")
    >>> reports = mech.privatize([3] * 5000, rng=insecure_seed(1))
    >>> bool(abs(scores(mech, reports).mean() - estimate(mech, reports).mean) < 1e-9)
    True
    """
    check_mechanism(mechanism)
    asked = Question.read(of, mechanism.domain)
    if asked.kind not in {"average", "share"}:
        raise InputError(f"Expected a question whose answer is an average, such as 'mean', got {shown(of)}.")
    rows = rows_of(mechanism, reports, nulls)
    tally = Tally.of(mechanism, rows)
    if not len(rows):
        return np.empty(0)
    w = asked.weights[None]
    if mechanism.flat:
        found = Supports(mechanism, tally).people(w).u[0]
    else:
        sample = Outputs(mechanism, tally).sample(w)
        if sample is None:
            raise InputError(f"The reports of {mechanism!r} cannot tell this; collect with edges='padded' or GRR.")
        found = sample.u[0][rows]
    numbers: Array = asked.shift + asked.scale * found
    return numbers


def _check_arguments(
    mechanism: object, reports: object, counts: object, weights: object, by: object, nulls: str
) -> None:
    if not isinstance(mechanism, Record):
        check_mechanism(mechanism)
    if (reports is None) == (counts is None):
        raise InputError("Expected either reports or counts=; pass what privatize returned, or bp.Counts of it.")
    if counts is not None and (weights is not None or by is not None):
        raise InputError("weights= and by= need the reports themselves; count each group on its own, or pass reports.")
    if nulls == "drop" and (weights is not None or by is not None):
        raise InputError(
            "nulls='drop' would pair weights and groups with the wrong reports; remove missing reports first."
        )
    if isinstance(mechanism, Record) and reports is None:
        raise InputError("Expected the reports of a Record; count and estimate each attribute on its own.")


def rows_of(mechanism: Mechanism, reports: object, nulls: Missing = "error") -> NDArray[Any]:
    """One row per report: the index of its output or, for flat categories, the report itself."""
    if not mechanism.flat:
        return indices_of(mechanism, reports, nulls)
    rows = as_reports(mechanism, _told(reports) if nulls == "drop" else reports)
    given = np.asarray(rows)
    # Raises an error unless this is an array of reports.
    mechanism.count(given[:0] if given is rows else rows)
    return given


def _told(reports: object) -> object:
    """A column of cells without the missing ones; anything else as it is."""
    held = reports if isinstance(reports, np.ndarray) else np.asarray(reports)
    if held.ndim != 1 or held.dtype.kind not in "Of":
        return reports
    missing = Cells(held, "keep").cells().with_nan().missing
    return held if missing is None else held[~missing]


def _by_group(
    mechanism: Mechanism, rows: NDArray[Any], weights: object, by: object, method: str
) -> Estimate | Estimates:
    if not len(rows):
        raise InputError(_EMPTY)
    held = None if weights is None else check_weights(weights, len(rows))
    if by is None:
        return from_tally(mechanism, Tally.of(mechanism, rows, held), method)
    found = {}
    for label, at in cut(by, len(rows)).items():
        own = None if held is None else held[at]
        found[label] = from_tally(mechanism, Tally.of(mechanism, rows[at], own), method)
    return Estimates(found)


def _counted(mechanism: Mechanism, counts: object) -> Tally:
    """The sums over reports, from their counts."""
    if isinstance(counts, Counts):
        if spec_sha256(counts.mechanism) != spec_sha256(mechanism):
            raise SpecError(
                f"The counts are of {counts.mechanism!r}, not of {mechanism!r}; pass the mechanism or spec that the "
                "reports were made with."
            )
        return tally_of(counts)
    if mechanism.flat:
        raise InputError("Expected counts of flat categories as bp.Counts, which also says how many people reported.")
    held = check_counts(mechanism, counts, None)
    if not held.any():
        raise InputError(_EMPTY)
    return Tally.of_counts(held, int(held.sum()))


def tally_of(counts: Counts) -> Tally:
    """Sums over reports, from their counts."""
    if not counts.n:
        raise InputError(_EMPTY)
    return Tally.of_counts(counts.values, counts.n)


def _of_attributes(
    record: Record, reports: object, nulls: Missing, weights: object, by: object, method: str
) -> Estimates:
    found = {}
    columns = columns_of(record, reports, nulls)
    for name, column in columns.items():
        own, labels = (_of_those(extra, column.there) for extra in (weights, by))
        try:
            found[name] = _by_group(record.mechanisms[name], column.rows, own, labels, method)
        except InputError as error:
            refusal = of_attribute(error, name)
        else:
            continue
        raise refusal
    return Estimates(found, kind="attribute", there={name: column.there for name, column in columns.items()})


def _of_those(extra: object, there: NDArray[np.bool_]) -> object:
    """The public weights or labels of those who reported an attribute."""
    if extra is None or there.all():
        return extra
    column = np.asarray(extra.to_numpy() if hasattr(extra, "to_numpy") else extra)
    if column.shape != there.shape:
        raise InputError(
            f"Expected weights= and by= with one entry per person, {len(there)}, got shape {column.shape}."
        )
    return column[there]


_EMPTY: Final = "There are no reports, so nothing can be estimated; pass at least one."


def from_tally(mechanism: Mechanism, tally: Tally, method: str = "auto") -> Estimate:
    """The estimate from sums over reports, however they were computed."""
    if mechanism.flat:
        supported = Supports(mechanism, tally)
        return Estimate(supported, flat_histogram(supported, method))
    source = Outputs(mechanism, tally)
    if (tally.first[source.known.law <= 0] > 0).any():
        raise SpecError(
            f"Some reports cannot have come from {mechanism!r}; pass the mechanism that they were made with."
        )
    if source.found is None and method not in {"auto", "em"}:
        # Raises the error that says why.
        identifiability(mechanism)
    return Estimate(source, histogram_of(source, method))
