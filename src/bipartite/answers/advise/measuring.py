"""The figures of one mechanism: under the prior, and for other populations where a choice depends on them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from bipartite.answers.advise.forecasting import Foreseen
from bipartite.answers.advise.purposes import WANTED
from bipartite.answers.advise.rows import MEASURES, Row
from bipartite.answers.advise.shapes import shapes_of
from bipartite.answers.quality import loss
from bipartite.answers.quality.windows import windows_of
from bipartite.lottery import log_between
from bipartite.lottery.budgets import float_at_least, round_up
from bipartite.mechanisms import Anchored, Constant
from bipartite.mechanisms.design.m_for_statistics import PEOPLE
from bipartite.texts import escaped

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from bipartite.answers.advise.candidates import Candidate
    from bipartite.domains import Domain
    from bipartite.mechanisms import Mechanism

    Array = NDArray[np.float64]

_MOST_CHANCES: Final = 2**25  # probabilities that are sorted for a median
_MOST_SUMMED: Final = 2**28  # probabilities that are summed for a mean
_MOST_SHAPED: Final = 2**17  # values of populations of other shapes
_NO_VALUES: Final = "its reports are not values, so one release has no error"


@dataclass(frozen=True)
class Question:
    """What is asked about every mechanism."""

    domain: Domain
    prior: Array | None = None
    given_n: int | None = None
    tolerance: float | None = None
    rounds: int = 1
    """The number of ε: the work is shared among them."""
    shaped: bool = True
    """Whether populations of other shapes are considered."""

    @property
    def n(self) -> int:
        """The number of people, or the default."""
        return PEOPLE if self.given_n is None else self.given_n

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

    def single_answer(self, epsilon: str = "") -> Row:
        """The best answer without asking anybody."""
        mechanism = Constant(self.domain, prior=self.prior)
        found, answer = loss(mechanism, self.prior), mechanism.answer
        return Row(
            f"always {answer:.6g}" if isinstance(answer, float) else f"always {escaped(answer)}",
            epsilon,
            "reference",
            epsilon_spent=0.0,
            holds=True,
            expected_loss=found.mean,
            median_loss=found.quantile(),
            worst_loss=found.worst,
            share_within=None if self.tolerance is None else found.within(self.tolerance),
            identifiable=False,
            note="the best single answer: it tells nothing about anybody",
        )


class Measured(NamedTuple):
    """One mechanism at one ε."""

    candidate: Candidate
    row: Row
    mechanism: Mechanism | None = None
    """None where it was refused or left out."""
    errors: dict[str, Array] = {}  # noqa: RUF012 (of a named tuple, and never changed)
    """For purposes that it serves, by figure: under the prior, then for every shape."""


def measure(
    candidate: Candidate, epsilon: str, question: Question, purposes: Collection[str], *, whole: bool = False
) -> Measured:
    """Compute the figures that the purposes need; with ``whole``, all figures of a table. Or say why there are none."""
    mechanism = candidate.built(question.domain, epsilon, question.prior, question.rounds)
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
    if isinstance(mechanism, Anchored) and mechanism.gap is not None and math.isfinite(mechanism.gap):
        found["gap"] = mechanism.gap
    served = {WANTED[purpose].figure for purpose in purposes if candidate.serves(purpose)}
    errors: dict[str, Array] = {}
    if valued and (whole or "expected_loss" in served):
        figures, errors = _losses(mechanism, question, notes, whole=whole, shaped="expected_loss" in served)
        found |= figures
    statistics = [name for name, each in MEASURES.items() if each.of]
    wanted = [name for name in statistics if name in served or (whole and question.given_n is not None)]
    if whole or wanted:
        errors |= _statistics(mechanism, question, wanted, served, notes, found)
    row = Row(candidate.name, epsilon, "mechanism", **found, note="; ".join(notes))
    return Measured(candidate, row, mechanism, {name: each for name, each in errors.items() if name in served})


def _losses(
    mechanism: Mechanism, question: Question, notes: list[str], *, whole: bool, shaped: bool
) -> tuple[dict[str, float | None], dict[str, Array]]:
    """The losses of one release; and the expected one for every shape."""
    cells = 0 if windows_of(mechanism) is not None else len(mechanism.domain) * len(mechanism.outputs) * question.rounds
    if cells > _MOST_SUMMED:
        notes.append("losses left out: they need N × N probabilities, too many here")
        return {}, {}
    about = loss(mechanism, question.prior)
    found: dict[str, float | None] = {"expected_loss": about.mean, "worst_loss": about.worst}
    if whole and cells <= _MOST_CHANCES:
        found["median_loss"] = about.quantile()
        found["share_within"] = None if question.tolerance is None else about.within(question.tolerance)
    elif whole:
        notes.append("median left out: it needs N × N probabilities, too many here")
    shaped = shaped and bool(question.shapes) and cells <= _MOST_CHANCES
    others = question.populations[1:] @ about.by_value if shaped else None
    return found, {} if others is None else {"expected_loss": np.append(about.mean, others)}


def _statistics(
    mechanism: Mechanism,
    question: Question,
    wanted: Collection[str],
    served: Collection[str],
    notes: list[str],
    found: dict[str, Any],
) -> dict[str, Array]:
    """The errors of answers from many people: for every shape where a choice depends on it."""
    foreseen, errors = Foreseen(mechanism), {}
    if foreseen.too_large is not None:
        notes.append(foreseen.too_large)
        return {}
    for figure in wanted:
        populations = question.populations if figure in served else question.population
        each = foreseen.errors(MEASURES[figure].of, populations, question.n)
        if each is not None:
            errors[figure], found[figure] = each, float(each[0])
    found["identifiable"] = foreseen.identifiable
    if foreseen.bounded and {"mean_error", "distribution_error"} & set(errors):
        notes.append(
            "the errors of its mean and of cumulative shares are upper bounds, and may be several times too large"
        )
    return errors
