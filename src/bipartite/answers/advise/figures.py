"""The figures of one mechanism, each where it can be had in reasonable time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from bipartite.answers.advise.row import Row
from bipartite.answers.estimation import forecast
from bipartite.answers.estimation.operator import groups_of
from bipartite.answers.estimation.scores import MOST_DENSE
from bipartite.answers.quality import expected_loss, local_loss, loss_quantile, share_within, worst_loss
from bipartite.answers.quality.line import Window, closed_form
from bipartite.domains import LineDomain
from bipartite.domains.labelled import Names
from bipartite.lottery import log_between
from bipartite.lottery.budgets import at_least, rounded_up
from bipartite.mechanisms import Anchored
from bipartite.mechanisms.categories import CategoryMechanism

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bipartite.answers.advise.candidates import Candidate
    from bipartite.domains import Domain
    from bipartite.mechanisms import Mechanism

    Array = NDArray[np.float64]

# What a whole comparison may cost for one mechanism: a few seconds each (measured on one core at 2.8 GHz).
_MOST_TABLE: Final = 4_000_000  # cells of Exponential's and L-SRR's tables
_MOST_ANCHORS_ON_A_LINE: Final = 4_000_000  # values
_MOST_ANCHORS_OF_A_SET: Final = 50_000_000  # pairs of values
_MOST_CHANCES: Final = 2**25  # chances that are sorted for a median
_MOST_SUMMED: Final = 2**28  # chances that are added up for a mean
_NO_VALUES: Final = "its reports are no values, so one release has no error"
_MOST_PRODUCTS: Final = 1e10  # multiplications for information matrices


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked about every mechanism."""

    domain: Domain
    prior: Array | None
    tolerance: float | None
    rounds: int
    """How many ε there are: work is shared among them."""


def left_out(candidate: Candidate, question: Question) -> str | None:
    """Why a mechanism is not built at all, where that would take too long."""
    size, rounds = len(question.domain), question.rounds
    line = isinstance(question.domain, LineDomain)
    times = f"{size:,} values" if rounds == 1 else f"{size:,} values and {rounds} ε"
    if candidate.form.work == "table" and size * size * rounds > _MOST_TABLE:
        return f"left out: a table of N × N tickets takes too long with {times}"
    if candidate.form.work == "anchors":
        cost, most = (size, _MOST_ANCHORS_ON_A_LINE) if line else (size * size, _MOST_ANCHORS_OF_A_SET)
        if cost * rounds > most:
            return f"left out: its search takes too long with {times}; build bp.Anchored by itself"
    return None


def row_of(name: str, epsilon: str, mechanism: Mechanism | CategoryMechanism, question: Question) -> Row:
    """All figures of a mechanism, with the errors of statistics for one person."""
    # What bp.verify certifies, without the name of the spec: writing out a table to name it takes longer than all else.
    ratio = mechanism.largest_ratio()
    spent = log_between(ratio)[1]
    found: dict[str, Any] = {"epsilon_spent": at_least(spent), "holds": mechanism.keeps_promise(ratio)}
    notes: list[str] = []
    if not found["holds"]:
        notes.append(f"DOES NOT KEEP its ε: it spends {rounded_up(spent, places=3)}")
    if isinstance(mechanism, CategoryMechanism) or isinstance(mechanism.outputs, Names):
        notes.append(_NO_VALUES)
    else:
        found |= _losses(mechanism, question, notes)
        if mechanism.domain is not question.domain:
            notes.append(f"on {mechanism.domain!r}")
    if isinstance(mechanism, Anchored):
        found["gap"] = mechanism.gap
    found |= _statistics(mechanism, question, notes)
    return Row(name, epsilon, "mechanism", **found, note="; ".join(notes))


def _losses(mechanism: Mechanism, question: Question, notes: list[str]) -> dict[str, float | None]:
    """Expected, median and worst loss of one release, and the share within the tolerance."""
    prior, tolerance = question.prior, question.tolerance
    closed = closed_form(mechanism)
    cells = len(mechanism.domain) * len(mechanism.outputs) * question.rounds
    if closed is not None and prior is None:
        expected, worst = expected_loss(mechanism), worst_loss(mechanism)
    elif isinstance(closed, Window) or cells <= _MOST_SUMMED:
        local = local_loss(mechanism)
        expected = float(local.mean() if prior is None else prior @ local)
        worst = float(local.max())
    else:
        notes.append("losses left out: they need N × N chances, too many here")
        return {}
    found: dict[str, float | None] = {"expected_loss": expected, "worst_loss": worst}
    if (closed is not None and prior is None) or cells <= _MOST_CHANCES:
        found["median_loss"] = loss_quantile(mechanism, 0.5, prior)
        found["share_within"] = None if tolerance is None else share_within(mechanism, tolerance, prior)
    else:
        notes.append("median left out: it needs N × N chances, too many here")
    return found


def statistics_left_out(mechanism: Mechanism | CategoryMechanism, rounds: int) -> str | None:
    """Why no errors of statistics are computed, where that would take too long."""
    if isinstance(mechanism, CategoryMechanism) or groups_of(mechanism) is not None:
        return None  # in closed form, or in O(N)
    size = len(mechanism.domain)
    if size > MOST_DENSE or float(size) ** 2 * len(mechanism.outputs) * rounds > _MOST_PRODUCTS:
        return "statistics left out: they need decompositions of its matrix, too large here"
    return None


def _statistics(
    mechanism: Mechanism | CategoryMechanism, question: Question, notes: list[str]
) -> dict[str, float | bool | None]:
    """Identifiability, and the standard errors of estimates from one person."""
    reason = statistics_left_out(mechanism, question.rounds)
    if reason is not None:
        notes.append(reason)
        return {}
    expected = forecast(mechanism, 1, question.prior)
    if expected.bounded:
        notes.append(
            "the errors of its mean and of cumulative shares are upper bounds, and may be several times too large"
        )
    return {
        "identifiable": expected.identifiable,
        "mean_error": expected.mean,
        "histogram_error": expected.histogram,
        "distribution_error": expected.cdf,
    }
