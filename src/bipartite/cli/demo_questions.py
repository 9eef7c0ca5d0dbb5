"""The questions of ``bipartite demo``, and what becomes of a million answers to one of them.

A question knows its mechanisms and how far apart two answers are; everything else is the same for all of them.
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
    """One question, the two ways of answering it, and the answer of one made-up person.

    Answers are numbers on a line, or names of points.
    """

    name: str
    words: str
    brr: BRR
    grr: BRR
    unit: str
    answer: Any
    nearby: float
    """What counts as near, in the unit."""
    starts: tuple[float, ...] = ()
    """Of numbers: where the ranges begin whose shares are estimated; the first one is the least answer."""

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
        """The distance between any two answers, in the unit."""
        return LossRows(self.brr.domain, self.brr.domain, None).rows(0, len(self.brr.domain))

    def index(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """Where answers stand in the domain: a number at the nearest node."""
        domain = self.brr.domain
        if isinstance(domain, SetDomain):
            return domain.codes(values.tolist())
        low, second = self.values[:2].tolist()
        nodes: NDArray[np.int64] = np.rint((values - low) / (second - low)).astype(np.int64)
        return nodes

    def gap(self, answers: NDArray[Any], reports: NDArray[Any]) -> NDArray[np.float64]:
        """How far each report lies from its answer."""
        if self.is_number:
            return np.asarray(np.abs(answers - reports), dtype=np.float64)
        return self.distances[self.index(answers), self.index(reports)]

    @staticmethod
    def say(value: object) -> str:
        """An answer in words: a whole number, or a name."""
        return f"{value:,.0f}" if isinstance(value, (int, float, np.number)) else str(value)

    @property
    def at(self) -> int:
        """Where the answer of the made-up person stands."""
        return int(self.index(np.array([self.answer]))[0])


@dataclass(frozen=True)
class Worth:
    """What one way of answering is worth."""

    name: str
    expected_error: float
    """Exact, for an answer picked at random."""
    within: float
    """The exact chance to be near, for an answer picked at random."""
    measured_error: float
    """Measured on the made-up people."""
    measured_within: float


@dataclass(frozen=True)
class Outcome:
    """What became of everyone's answers to one question."""

    question: Question
    worths: tuple[Worth, Worth, Worth]
    """BRR, GRR, and always saying the same."""
    answers: NDArray[np.float64]
    """The share of people who gave each answer."""
    reports: NDArray[np.float64]
    """The share of people who reported each answer, under BRR."""
    report: Any
    """What the made-up person reported."""
    seconds: float
    certificate: Certificate


def ask(question: Question, answers: NDArray[Any], progress: Progress) -> Outcome:
    """Let everyone report once, under BRR and under GRR, and see what the reports are worth."""
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
    """Everybody's reports, a part at a time."""
    for at in range(0, len(answers), _STEP):
        part = mechanism.privatize(answers[at : at + _STEP])
        progress.advance(len(part))
        yield part


def _exact(matrix: NDArray[np.float64], distances: NDArray[np.float64], nearby: float) -> tuple[float, float]:
    near = distances <= nearby * (1 + 1e-12)  # a rounding error must not lose the last step
    return float((matrix * distances).sum(axis=1).mean()), float((matrix * near).sum(axis=1).mean())


def _measured(question: Question, answers: NDArray[Any], given: NDArray[Any]) -> tuple[float, float]:
    gaps = question.gap(answers, given)
    return float(gaps.mean()), float((gaps <= question.nearby).mean())


def bands(
    question: Question, edges: Sequence[float], say: Callable[[float], str]
) -> tuple[list[str], list[list[float]]]:
    """The chance that the report of the made-up person lies in each band of distance, under BRR and GRR."""
    away = question.distances[question.at]
    names, shares = [f"{question.say(question.answer)} itself"], [away == 0]
    for low, high in zip((0.0, *edges), (*edges, np.inf), strict=True):
        names.append(f"{say(low)} to {say(high)}" if np.isfinite(high) else f"beyond {say(low)}")
        shares.append((away > low) & (away <= high))
    names[1] = f"within {say(edges[0])}"
    rows = (question.brr.matrix()[question.at], question.grr.matrix()[question.at])
    return names, [[float(row[share].sum()) for row in rows] for share in shares]
