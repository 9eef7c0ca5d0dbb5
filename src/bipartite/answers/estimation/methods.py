"""Choose the histogram: by the requested method, or the best one for the mechanism and the number of reports."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from bipartite.answers.estimation.cells import cells_of
from bipartite.answers.estimation.em import fit_em
from bipartite.answers.estimation.histogram import NOT_LOOKED_AT, Fitted, MostLikely, Unbiased
from bipartite.errors import InputError, is_one_of, shown
from bipartite.lottery import Ring, Window

if TYPE_CHECKING:
    from collections.abc import Callable

    from bipartite.answers.estimation.histogram import Histogram
    from bipartite.answers.estimation.source import Outputs, Prepared
    from bipartite.answers.estimation.supports import Supports
    from bipartite.mechanisms import Mechanism

Method = Literal["auto", "inverse", "projected", "em", "smooth"]
METHODS: Final = ("auto", "inverse", "projected", "em", "smooth")
_NEAREST: Final = (
    "the distribution nearest to the unbiased shares, which need not add up to one; it is never farther from the truth"
)
# Larger matrices have no likelihood intervals.
_MOST_MATRIX: Final = 2**22
# With so few values each is shown on its own, with an interval, if the reports are precise enough.
FEW_VALUES: Final = 32
# Unbiased shares are worth showing while their standard errors stay below this fraction of an average share.
_TELLING: Final = 0.5


def check_method(method: object, known: tuple[str, ...] = METHODS) -> str:
    """Check the name of a method."""
    if method == "ems" and "smooth" in known:
        raise InputError(
            "method='ems' is in reproduction/ems.py of the repository, for comparison with published results; use "
            "method='smooth', which also has intervals."
        )
    if not is_one_of(method, known):
        raise InputError(f"Expected method as one of {', '.join(map(repr, known))}, got {shown(method)}.")
    return str(method)


def histogram_of(source: Outputs, method: str) -> Callable[[], Histogram]:
    """A function that computes the shares by one method when they are first needed; a mean needs none."""
    mechanism, known, tally = source.mechanism, source.known, source.tally
    name, reason = _choose(mechanism, known, method, tally.effective)
    if name in {"inverse", "projected"}:
        return partial(Unbiased, source, name, reason)
    # Scaled to the number of effective reports.
    lottery, counts = mechanism.lottery, tally.law * tally.effective
    around = mechanism.domain.wraps
    together = (around or mechanism.domain.has_ends) and not _tells_neighbours_apart(known)
    if together or lottery.inputs * lottery.outputs <= _MOST_MATRIX:
        return lambda: MostLikely(
            source, cells_of(lottery, together=together, around=around), counts, smooth=name == "smooth", reason=reason
        )
    return lambda: Fitted("em", reason, fit_em(lottery.channel(), counts), NOT_LOOKED_AT)


def flat_histogram(source: Supports, method: str) -> Callable[[], Histogram]:
    """A function that computes the shares of flat categories by one method."""
    if method == "smooth":
        raise InputError(
            "method='smooth' smooths over neighbours, and flat categories have none; use method='projected'."
        )
    if method == "em":
        raise InputError(
            "method='em' of flat categories is in reproduction/flat_em.py of the repository, for comparison; use "
            "method='projected' for shares that are never negative."
        )
    # The projection is never farther from the truth than the unbiased shares: the truth is a distribution, and
    # projecting onto a convex set brings a point closer to every point of the set.
    name, reason = (method, "asked for") if method != "auto" else ("projected", _NEAREST)
    return partial(Unbiased, source, name, reason)


def method_for(mechanism: Mechanism, known: Prepared, people: float) -> str:
    """The method that ``"auto"`` chooses for this number of reports; it does not depend on their content."""
    return _choose(mechanism, known, "auto", people)[0]


def _tells_neighbours_apart(known: Prepared) -> bool:
    """Whether neighbours are reported no more often than other values, as with GRR: smoothing then gains nothing."""
    distinct = None if known.found is None else known.found.distinct
    return isinstance(distinct, (Window, Ring)) and distinct.m == 1


def _choose(mechanism: Mechanism, known: Prepared, method: str, people: float) -> tuple[str, str]:
    """(the method, why)."""
    circle, found = mechanism.domain.wraps, known.found
    line = circle or mechanism.domain.has_ends
    if found is None:
        return "em", "there are too many values to decide which can be told apart"
    if method in {"inverse", "projected"} and not found.identifiable:
        other = "'smooth' or 'em'" if line else "'em'"
        pad = ", or collect with GRR" if circle or not line else ", or collect with edges='padded'"
        raise InputError(
            f"method={method!r} needs a mechanism that tells all values apart, and this one does not: {found}; use "
            f"method={other}, which spreads shares over values that cannot be told apart{pad}."
        )
    if method == "smooth" and not line:
        raise InputError("method='smooth' smooths over neighbours, and points and items have no order; use 'em'.")
    if method != "auto":
        return method, "asked for"
    if not found.identifiable:
        reason = "not all shares can be estimated without bias"
        return ("smooth" if line else "em"), reason
    alike = line and not _tells_neighbours_apart(known)
    if len(found.domain) <= FEW_VALUES or not alike:
        if _typical_error(known) / np.sqrt(people) <= _TELLING / len(found.domain):
            return "inverse", "unbiased, with errors that are small compared to an average share"
        reason = "unbiased shares of so many values would be mostly noise"
    else:
        reason = f"with more than {FEW_VALUES} values a fitted distribution is closer to the truth than unbiased shares"
    return ("smooth" if alike else "projected"), reason


def _typical_error(known: Prepared) -> float:
    """The standard error of a share from one report, root mean square, for a uniform population."""
    assert known.found is not None and known.scores is not None  # noqa: S101, PT018 (it is identifiable)
    size = len(known.found.domain)
    return float(np.sqrt(np.maximum(known.scores.shares(known.law).square - 1 / size**2, 0.0).mean()))
