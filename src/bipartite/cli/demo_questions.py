"""The questions of ``bipartite demo``, and what happens to a million answers to one of them.

A question has its mechanisms and the distance between two answers; everything else is the same for all questions.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.domains import LineDomain, SetDomain
from bipartite.domains.losses import LossRows
from bipartite.verification import verify

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from bipartite.cli.output import Progress
    from bipartite.mechanisms import BRR, Mechanism
    from bipartite.verification import Certificate

_STEP: Final = 2**17


@dataclass(frozen=True)
class Question:
    """One question, two mechanisms to report with, and the answer of one fictitious person.

    Answers are numbers on a line, or names of points.
    """

    name: str
    words: str
    brr: BRR
    grr: BRR
    unit: str
    answer: Any
    nearby: float
    """The distance that counts as near, in the unit."""
    starts: tuple[float, ...] = ()
    """For numbers: the starts of the ranges whose shares are estimated; the first is the smallest answer."""

    @property
    def is_number(self) -> bool:
        """Whether answers are numbers."""
        return isinstance(self.brr.domain, LineDomain)

    @property
    def values(self) -> NDArray[Any]:
        """Every answer, in the order of the domain."""
        return self.brr.domain.to_numpy()

    @property
    def distances(self) -> NDArray[np.float64]:
        """The distance between every two answers, in the unit."""
        return LossRows(self.brr.domain, self.brr.domain, None).rows(0, len(self.brr.domain))

    def index(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """The indices of answers in the domain; a number is rounded to the nearest node."""
        domain = self.brr.domain
        if isinstance(domain, SetDomain):
            return domain.codes(values.tolist())
        low, second = self.values[:2].tolist()
        nodes: NDArray[np.int64] = np.rint((values - low) / (second - low)).astype(np.int64)
        return nodes

    def gap(self, answers: NDArray[Any], reports: NDArray[Any]) -> NDArray[np.float64]:
        """The distance of each report from its answer."""
        if self.is_number:
            return np.asarray(np.abs(answers - reports), dtype=np.float64)
        return self.distances[self.index(answers), self.index(reports)]

    @staticmethod
    def say(value: object) -> str:
        """An answer as text: a whole number, or a name."""
        return f"{value:,.0f}" if isinstance(value, (int, float, np.number)) else str(value)

    @property
    def at(self) -> int:
        """The index of the fictitious person's answer."""
        return int(self.index(np.array([self.answer]))[0])


@dataclass(frozen=True)
class Worth:
    """How precise one way of answering is."""

    name: str
    expected_error: float
    """Exact, for a uniformly random answer."""
    within: float
    """The exact probability of being near, for a uniformly random answer."""
    measured_error: float
    """Measured on the simulated people."""
    measured_within: float


@dataclass(frozen=True)
class Outcome:
    """The reports of everyone's answers to one question."""

    question: Question
    worths: tuple[Worth, Worth, Worth]
    """BRR, GRR, and the constant answer."""
    answers: NDArray[np.float64]
    """The share of people who gave each answer."""
    reports: NDArray[np.float64]
    """The share of people who reported each answer, under BRR."""
    report: Any
    """The fictitious person's report."""
    seconds: float
    certificate: Certificate


def ask(question: Question, answers: NDArray[Any], progress: Progress) -> Outcome:
    """Let everyone report once with BRR and once with GRR, and measure the errors."""
    began = time.perf_counter()
    reports = np.concatenate(list(report_all(question.brr, answers, progress)))
    seconds = time.perf_counter() - began
    classical = np.concatenate(list(report_all(question.grr, answers, progress)))
    distances, size = question.distances, len(question.distances)
    constant = int(np.argmin(distances.sum(axis=0)))
    same = np.broadcast_to(question.brr.domain[constant], answers.shape)
    always = np.zeros_like(distances)
    always[:, constant] = 1
    worths = tuple(
        Worth(name, *_exact(matrix, distances, question.nearby), *_measured(question, answers, given))
        for name, matrix, given in (
            (f"BRR, m = {question.brr.m}", question.brr.matrix(), reports),
            ("GRR", question.grr.matrix(), classical),
            (f"always saying {question.say(question.brr.domain[constant])}", always, same),
        )
    )
    return Outcome(
        question=question,
        worths=(worths[0], worths[1], worths[2]),
        answers=np.bincount(question.index(answers), minlength=size) / len(answers),
        reports=np.bincount(question.index(reports), minlength=size) / len(answers),
        report=question.brr.privatize(np.array([question.answer]))[0],
        seconds=seconds,
        certificate=verify(question.brr),
    )


def report_all(mechanism: Mechanism, answers: NDArray[Any], progress: Progress) -> Iterator[NDArray[Any]]:
    """Everybody's reports, in batches."""
    for at in range(0, len(answers), _STEP):
        part = mechanism.privatize(answers[at : at + _STEP])
        progress.advance(len(part))
        yield part


def _exact(matrix: NDArray[np.float64], distances: NDArray[np.float64], nearby: float) -> tuple[float, float]:
    near = distances <= nearby * (1 + 1e-12)  # tolerate rounding errors at the limit
    return float((matrix * distances).sum(axis=1).mean()), float((matrix * near).sum(axis=1).mean())


def _measured(question: Question, answers: NDArray[Any], given: NDArray[Any]) -> tuple[float, float]:
    gaps = question.gap(answers, given)
    return float(gaps.mean()), float((gaps <= question.nearby).mean())


def bands(
    question: Question, edges: Sequence[float], say: Callable[[float], str]
) -> tuple[list[str], list[list[float]]]:
    """The probability that the fictitious person's report lies in each band of distance, under BRR and GRR."""
    away = question.distances[question.at]
    names, shares = [f"{question.say(question.answer)} itself"], [away == 0]
    for low, high in zip((0.0, *edges), (*edges, np.inf), strict=True):
        names.append(f"{say(low)} to {say(high)}" if np.isfinite(high) else f"beyond {say(low)}")
        shares.append((away > low) & (away <= high))
    names[1] = f"within {say(edges[0])}"
    rows = (question.brr.matrix()[question.at], question.grr.matrix()[question.at])
    return names, [[float(row[share].sum()) for row in rows] for share in shares]
