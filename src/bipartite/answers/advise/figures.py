"""The figures of one mechanism: under the prior, and for other populations where a choice depends on them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from bipartite.answers.advise.candidates import Brought, Candidate
from bipartite.answers.advise.errors import Answers
from bipartite.answers.advise.patience import Clock
from bipartite.answers.advise.purposes import GRR_NAME, WANTED
from bipartite.answers.advise.row import MEASURES, Row
from bipartite.answers.advise.shapes import shapes_of
from bipartite.answers.estimation.forecast import is_bounded
from bipartite.answers.quality import expected_loss, local_loss, loss_quantile, share_within, worst_loss
from bipartite.answers.quality.circle import Circle
from bipartite.answers.quality.line import Line, closed_form
from bipartite.errors import InputError
from bipartite.lottery import log_between
from bipartite.lottery.budgets import float_at_least, round_up
from bipartite.mechanisms import Anchored, Mechanism
from bipartite.mechanisms.design.m_for_statistics import PEOPLE

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from bipartite.domains import Domain

    Array = NDArray[np.float64]

# Limits on the work for one mechanism in a comparison: a few seconds each (measured on one core at 2.8 GHz).
_MOST_TABLE: Final = 4_000_000  # cells of Exponential's table
_MOST_MEANS: Final = 20_000  # pairs of values: two ε for 100 values, each 0.2 to 2 s of a linear programme
_MOST_ANCHORS_ON_A_LINE: Final = 4_000_000  # values
_MOST_ANCHORS_OF_A_SET: Final = 5_000_000_000  # pairs of values: half a minute for 70,000
_MOST_CHANCES: Final = 2**25  # probabilities that are sorted for a median
_MOST_SUMMED: Final = 2**28  # probabilities that are summed for a mean
_MOST_SHAPED: Final = 2**17  # values of populations of other shapes
REFUSED: Final = "refused: "
_UNBIASED: Final = "Optimal(…, unbiased=True)"
_NO_VALUES: Final = "its reports are not values, so one release has no error"
_OF_PEOPLE: Final = tuple(name for name, measure in MEASURES.items() if measure.of_people)


@dataclass(frozen=True)
class Question:
    """What is asked about every mechanism."""

    domain: Domain
    prior: Array | None = None
    users: int | None = None
    tolerance: float | None = None
    rounds: int = 1
    """The number of ε: the work is shared among them."""
    shaped: bool = True
    """Whether populations of other shapes are considered."""
    clock: Clock = field(default_factory=Clock)
    """Tells when it is too late to start another mechanism."""

    @property
    def stated(self) -> bool:
        """Whether the number of people is known."""
        return self.users is not None

    @property
    def people(self) -> int:
        """The number of people, or the default."""
        return PEOPLE if self.users is None else self.users

    @cached_property
    def population(self) -> Array:
        """The prior, or the uniform distribution, as a single row."""
        size = len(self.domain)
        return np.full((1, size), 1 / size) if self.prior is None else self.prior[None, :]

    @cached_property
    def shapes(self) -> dict[str, Array]:
        """Populations of other shapes; empty for very large domains."""
        return shapes_of(self.domain) if self.shaped and len(self.domain) <= _MOST_SHAPED else {}

    @cached_property
    def populations(self) -> Array:
        """The prior, then the shapes."""
        return np.concatenate([self.population, *(shares[None, :] for shares in self.shapes.values())])


class Measured(NamedTuple):
    """One mechanism at one ε."""

    candidate: Candidate | Brought
    row: Row
    mechanism: Mechanism | None = None
    """None where it was refused or left out."""
    errors: dict[str, Array] = {}  # noqa: RUF012 (of a named tuple, and never changed)
    """For purposes that it serves, by figure: under the prior, then for every shape."""


def measure(
    candidate: Candidate | Brought,
    epsilon: str,
    question: Question,
    purposes: Collection[str],
    *,
    whole: bool = False,
) -> Measured:
    """Compute the figures that the purposes need; with ``whole``, all figures of a table. Or say why there are none."""
    mechanism = _built(candidate, epsilon, question)
    if isinstance(mechanism, str):
        return Measured(candidate, Row(candidate.name, epsilon, "mechanism", note=mechanism))
    # What bp.verify certifies, but without hashing the spec, which takes longer than everything else for a table.
    ratio = mechanism.largest_ratio()
    spent = log_between(ratio)[1]
    found: dict[str, Any] = {"epsilon_spent": float_at_least(spent), "holds": mechanism.keeps_promise(ratio)}
    notes = [] if found["holds"] else [f"DOES NOT KEEP its ε: it spends {round_up(spent, places=3)}"]
    valued = not mechanism.flat and not mechanism.outputs.own_labels
    if not valued:
        notes.append(_NO_VALUES)
    elif mechanism.domain is not question.domain:
        notes.append(f"on {mechanism.domain!r}")
    served = {WANTED[purpose].figure for purpose in purposes if candidate.serves(purpose)}
    if isinstance(mechanism, Anchored):
        # A search that ran out of time may prove nothing.
        found["gap"] = mechanism.gap if mechanism.gap is None or math.isfinite(mechanism.gap) else None
    errors: dict[str, Array] = {}
    if valued and (whole or "expected_loss" in served):
        found |= _losses(mechanism, question, notes, whole=whole)
        if "expected_loss" in served and question.shapes and found.get("expected_loss") is not None:
            errors |= _shaped_losses(mechanism, question, found["expected_loss"])
    wanted = set(_OF_PEOPLE) if whole and question.stated else served - {"expected_loss"}
    answers = Answers(mechanism)
    if whole or wanted:
        if answers.left_out is not None:
            notes.append(answers.left_out)
        else:
            errors |= _statistics(answers, question, wanted, served, notes)
            found |= {name: float(errors[name][0]) for name in wanted if name in errors}
            found["identifiable"] = answers.identifiable
    row = Row(candidate.name, epsilon, "mechanism", **found, note="; ".join(notes))
    return Measured(candidate, row, mechanism, {name: errors[name] for name in errors if name in served})


def _built(candidate: Candidate | Brought, epsilon: str, question: Question) -> Mechanism | str:
    """The mechanism, or the reason why there is none."""
    reason = question.clock.note if question.clock.is_over else left_out(candidate, question)
    if reason is not None:
        return reason
    try:
        return candidate.build(question.domain, epsilon, question.prior, question.clock.check)
    except InputError as refusal:
        return f"{REFUSED}{refusal}"


def left_out(candidate: Candidate | Brought, question: Question) -> str | None:
    """Why a mechanism is not built, where that would take too long."""
    size, rounds = len(question.domain), question.rounds
    line = question.domain.has_ends
    times = f"{size:,} values" if rounds == 1 else f"{size:,} values and {rounds} ε"
    if candidate.work == "table" and size * size * rounds > _MOST_TABLE:
        return f"left out: a table of N × N tickets takes too long with {times}"
    near = candidate.work == "closed" and candidate.name != GRR_NAME and _reports_values(candidate)
    if near and not line and size * size * rounds > _MOST_SUMMED:
        return f"left out: its near values and losses need all distances, too many with {times}"
    if candidate.work == "means" and size * size * rounds > _MOST_MEANS:
        return f"left out: its linear programme takes too long with {times}; build bp.{_UNBIASED} by itself"
    if candidate.work == "anchors":
        cost, most = (size, _MOST_ANCHORS_ON_A_LINE) if line else (size * size, _MOST_ANCHORS_OF_A_SET)
        if cost * rounds > most:
            return f"left out: its search takes too long with {times}; build bp.Anchored by itself"
    return None


def _reports_values(candidate: Candidate | Brought) -> bool:
    return isinstance(candidate, Candidate) and candidate.form.reports == "release"


def _losses(mechanism: Mechanism, question: Question, notes: list[str], *, whole: bool) -> dict[str, float | None]:
    """Expected, median and worst loss of one release, and the share within the tolerance."""
    prior, tolerance = question.prior, question.tolerance
    closed = closed_form(mechanism)
    cells = len(mechanism.domain) * len(mechanism.outputs) * question.rounds
    if closed is not None and prior is None:
        expected, worst = expected_loss(mechanism), worst_loss(mechanism)
    elif isinstance(closed, (Line, Circle)) or cells <= _MOST_SUMMED:
        local = local_loss(mechanism)
        expected = float(local.mean() if prior is None else prior @ local)
        worst = float(local.max())
    else:
        notes.append("losses left out: they need N × N probabilities, too many here")
        return {}
    found: dict[str, float | None] = {"expected_loss": expected, "worst_loss": worst}
    if not whole:
        return found
    if (closed is not None and prior is None) or cells <= _MOST_CHANCES:
        found["median_loss"] = loss_quantile(mechanism, 0.5, prior)
        found["share_within"] = None if tolerance is None else share_within(mechanism, tolerance, prior)
    else:
        notes.append("median left out: it needs N × N probabilities, too many here")
    return found


def _shaped_losses(mechanism: Mechanism, question: Question, expected: float) -> dict[str, Array]:
    """Expected losses under the prior and for every shape, where that is cheap."""
    cells = len(mechanism.domain) * len(mechanism.outputs) * question.rounds
    if closed_form(mechanism) is None and cells > _MOST_CHANCES:
        return {}
    return {"expected_loss": np.append(expected, question.populations[1:] @ local_loss(mechanism))}


def _statistics(
    answers: Answers, question: Question, wanted: Collection[str], served: Collection[str], notes: list[str]
) -> dict[str, Array]:
    """The errors of answers from many people: for every shape where a choice depends on it."""
    found = {}
    for figure in sorted(wanted):
        populations = question.populations if figure in served else question.population
        errors = answers.errors(figure, populations, question.people)
        if errors is not None:
            found[figure] = errors
    flat = answers.mechanism
    if flat.flat and {"mean_error", "distribution_error"} & set(found) and is_bounded(flat):
        notes.append(
            "the errors of its mean and of cumulative shares are upper bounds, and may be several times too large"
        )
    return found
