"""The figures of one mechanism: under the prior, and for populations of other shapes where a choice depends on them."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import numpy as np

from bipartite.answers.advise.candidates import WANTED
from bipartite.answers.advise.forecasting import Foreseen
from bipartite.answers.quality import loss
from bipartite.answers.quality.losses import windows_of
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


@dataclass(frozen=True, slots=True)
class Row:
    """The figures of one mechanism at one ε; None where one does not exist or was left out (``note`` says why)."""

    mechanism: str
    epsilon: str
    """The ε asked for, as a decimal."""
    kind: Literal["mechanism", "reference"]
    """A ``reference`` is a baseline: the constant answer, or the limit."""
    epsilon_spent: float | None = None
    """The realised ε, rounded up; what :func:`bipartite.verify` certifies."""
    holds: bool | None = None
    """Whether the requested ε is kept. A mechanism that does not keep it is never recommended."""
    expected_loss: float | None = None
    """Of one release, in units of the domain."""
    median_loss: float | None = None
    worst_loss: float | None = None
    """The expected loss at the value that fares worst."""
    share_within: float | None = None
    """The probability that a report is within the tolerance."""
    identifiable: bool | None = None
    """Whether every share can be estimated without bias."""
    mean_error: float | None = None
    """The standard error of the estimated mean; around a circle of its cosine and sine."""
    histogram_error: float | None = None
    """The root mean square, over values, of the standard error of one share."""
    distribution_error: float | None = None
    """The same over cumulative shares."""
    gap: float | None = None
    """For Anchored: at most how far it is above the best release of a value, as a fraction."""
    note: str = ""
    """Why a figure is missing, or another remark."""

    def to_dict(self) -> dict[str, Any]:
        """All fields by name."""
        return asdict(self)

    def __repr__(self) -> str:
        figures = {"expected loss": self.expected_loss, "error of the mean": self.mean_error}
        told = ", ".join(f"{name} {value:.6g}" for name, value in figures.items() if value is not None)
        return f"<Row: {self.mechanism}{f' at ε = {self.epsilon}' if self.epsilon else ''}: {told or self.note}>"


COLUMNS: Final = tuple(each.name for each in fields(Row))


class Measure(NamedTuple):
    """The names of a figure."""

    short: str
    """Column header."""
    title: str
    of: str = ""
    """What :func:`bipartite.forecast` calls it: an error of an estimate, which falls with the number of people."""


MEASURES: Final = {
    "expected_loss": Measure("expected", "expected error of one release"),
    "median_loss": Measure("median", "median error of one release"),
    "worst_loss": Measure("worst", "expected error at the worst value"),
    "share_within": Measure("within", "share of reports within the tolerance"),
    "mean_error": Measure("mean ±", "standard error of the mean", "mean"),
    "histogram_error": Measure("share ±", "standard error of a share", "share"),
    "distribution_error": Measure("cumulative ±", "standard error of a cumulative share", "distribution"),
}
"""The figures that can be compared, by their fields in a row."""


@dataclass(frozen=True)
class Question:
    """What is asked about every mechanism."""

    domain: Domain
    prior: Array | None = None
    given_n: int | None = None
    tolerance: float | None = None
    rounds: int = 1
    """The number of ε: the work is shared among them."""

    @property
    def n(self) -> int:
        """The number of people, or the default."""
        return PEOPLE if self.given_n is None else self.given_n

    @cached_property
    def shapes(self) -> dict[str, Array]:
        """Populations of other shapes; empty for very large domains."""
        return shapes_of(self.domain) if len(self.domain) <= _MOST_SHAPED else {}

    @cached_property
    def populations(self) -> Array:
        """The prior, or the uniform distribution; then the shapes."""
        size = len(self.domain)
        return np.stack([np.full(size, 1 / size) if self.prior is None else self.prior, *self.shapes.values()])

    def single_answer(self) -> Row:
        """The best answer without asking anybody."""
        mechanism = Constant(self.domain, prior=self.prior)
        found, answer = loss(mechanism, self.prior), mechanism.answer
        return Row(
            f"always {answer:.6g}" if isinstance(answer, float) else f"always {escaped(answer)}",
            "",
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
    figures: dict[str, Array] = {}  # noqa: RUF012 (of a named tuple, and never changed)
    """Each under the prior, then, where a choice depends on it and it was computed, for every shape."""


def measure(
    candidate: Candidate, epsilon: str, question: Question, purposes: Collection[str], *, whole: bool = False
) -> Measured:
    """Compute the figures that the purposes need; with ``whole``, all figures of a table. Or say why there are none."""
    mechanism = candidate.built(question.domain, epsilon, question.prior, question.rounds)
    if isinstance(mechanism, str):
        return Measured(candidate, Row(candidate.name, epsilon, "mechanism", note=mechanism))
    # What bp.verify certifies, but without hashing the spec, which takes longer than everything else for a table.
    ratio = mechanism.largest_ratio()
    spent, holds = log_between(ratio)[1], mechanism.keeps_promise(ratio)
    notes = [] if holds else [f"DOES NOT KEEP its ε: it spends {round_up(spent, places=3)}"]
    valued = not mechanism.flat and not mechanism.outputs.own_labels
    if not valued:
        notes.append("its reports are not values, so one release has no error")
    elif mechanism.domain is not question.domain:
        notes.append(f"on {mechanism.domain!r}")
    served = {WANTED[purpose].figure for purpose in purposes if candidate.serves(purpose)}
    figures: dict[str, Array] = {}
    if valued and (whole or "expected_loss" in served):
        figures = _losses(mechanism, question, notes, whole=whole, shaped="expected_loss" in served)
    statistics = [name for name, each in MEASURES.items() if each.of]
    needed = [name for name in statistics if name in served or (whole and question.given_n is not None)]
    identifiable = None
    foreseen = Foreseen(mechanism)
    if (whole or needed) and foreseen.too_large is not None:
        notes.append(foreseen.too_large)
    elif whole or needed:
        identifiable = foreseen.identifiable
        for name in needed:
            populations = question.populations if name in served else question.populations[:1]
            errors = foreseen.errors(MEASURES[name].of, populations, question.n)
            if errors is not None:
                figures[name] = errors
    if {"mean_error", "distribution_error"} & set(figures) and foreseen.bounded:
        notes.append(
            "the errors of its mean and of cumulative shares are upper bounds, and may be several times too large"
        )
    gap = mechanism.gap if isinstance(mechanism, Anchored) else None
    row = Row(
        candidate.name,
        epsilon,
        "mechanism",
        float_at_least(spent),
        holds,
        identifiable=identifiable,
        gap=gap if gap is not None and math.isfinite(gap) else None,
        note="; ".join(notes),
        **{name: float(each[0]) for name, each in figures.items()},
    )
    return Measured(candidate, row, mechanism, figures)


def _losses(
    mechanism: Mechanism, question: Question, notes: list[str], *, whole: bool, shaped: bool
) -> dict[str, Array]:
    """The losses of one release; and the expected one for every shape."""
    cells = 0 if windows_of(mechanism) is not None else len(mechanism.domain) * len(mechanism.outputs) * question.rounds
    if cells > _MOST_SUMMED:
        notes.append("losses left out: they need N × N probabilities, too many here")
        return {}
    about, few = loss(mechanism, question.prior), cells <= _MOST_CHANCES
    others = (question.populations[1:] if shaped and few else question.populations[:0]) @ about.by_value
    found = {"expected_loss": np.append(about.mean, others), "worst_loss": np.array([about.worst])}
    if whole and few:
        found["median_loss"] = np.array([about.quantile()])
        if question.tolerance is not None:
            found["share_within"] = np.array([about.within(question.tolerance)])
    elif whole:
        notes.append("median left out: it needs N × N probabilities, too many here")
    return found


def shapes_of(domain: Domain) -> dict[str, Array]:
    """Populations of several shapes, over which a choice is tried, since nobody knows the shape beforehand.

    >>> from bipartite import Integers
    >>> list(shapes_of(Integers(18, 90)))
    ['uniform', 'one hump', 'two humps', 'spike at an end', 'heavy tail', 'both ends']
    """
    size = len(domain)
    uniform = np.full(size, 1 / size)
    if not domain.has_ends:
        half = np.full(size, 0.5 / size)
        half[0] += 0.5
        return {"uniform": uniform, "half on one value": half, "Zipf": _normed(1 / np.arange(1.0, size + 1))}
    x = (np.arange(size) + 0.5) / size

    def beta(a: float, b: float) -> Array:
        return _normed(x ** (a - 1) * (1 - x) ** (b - 1))

    spike = 0.7 * beta(2, 3)
    spike[0] += 0.3
    return {
        "uniform": uniform,
        "one hump": beta(2, 5),
        "two humps": 0.5 * beta(4, 12) + 0.5 * beta(14, 5),
        "spike at an end": spike,
        "heavy tail": _normed((1 + 20 * x) ** -2.5),
        "both ends": beta(0.5, 0.5),
    }


def _normed(weights: Array) -> Array:
    shares: Array = weights / weights.sum()
    return shares
