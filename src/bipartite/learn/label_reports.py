"""How a label is reported and what its reports teach: numbers of a range, and classes of a list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.domains import Integers, Interval, LineDomain
from bipartite.domains.containers import open_values
from bipartite.errors import DataError, DesignError, InputError
from bipartite.learn.fitting import positions
from bipartite.mechanisms import BRR, GRR, AnchoredMeans, Custom, Mechanism

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bipartite.domains import Outside
    from bipartite.lottery import Epsilon

    Array = NDArray[Any]
    Weights = NDArray[np.float64]

_TWO: Final = 2


@dataclass(frozen=True)
class Numbers:
    """Labels on a line, reported by randomized response on bins."""

    domain: LineDomain
    outside: Outside

    def values(self, given: Array) -> Array:
        """The labels as numbers, all of which can be reported."""
        batch = open_values(given.tolist() if given.dtype.kind == "O" else given, "error", self.domain)
        if self.domain.refusals(batch.values, self.outside):
            raise self.domain.explain(batch.values, self.outside, batch.place)
        return batch.values

    def for_histogram(self, budget: Epsilon) -> Mechanism:
        """The mechanism of people who report for the prior."""
        return BRR(self.domain, budget, edges="padded")

    def designed(self, budget: Epsilon, prior: Weights) -> tuple[Mechanism, Callable[[Array], Array]]:
        """The bins with the least expected squared loss under this prior, and what to train on in place of reports.

        That is numbers d whose mean, given the bin of a label, is the prior's mean of that bin:
        Σ_k P[k|bin j]·d_k = mean of bin j. Reports lie nearer to each other, the more so the smaller ε is, and so would
        the predictions of a model trained on them.
        """
        made = AnchoredMeans(self.domain, budget, prior=prior)
        starts = made.bins
        _check_reports_differ(len(starts), budget)
        nodes = np.array(list(self.domain), dtype=np.float64)
        mass = np.maximum(prior, np.finfo(np.float64).tiny)  # a bin of which the prior knows nothing has a middle still
        means = np.add.reduceat(mass * nodes, starts) / np.add.reduceat(mass, starts)
        solved = np.linalg.solve(made.matrix()[starts], means)
        outputs = np.array(list(made.outputs), dtype=np.float64)
        return made, lambda reports: solved[np.searchsorted(outputs, reports)]


@dataclass(frozen=True)
class Classes:
    """Labels of a list, reported by randomized response on all classes or on the k likeliest (RRWithPrior)."""

    names: Array

    @property
    def domain(self) -> Integers:
        """Positions among the classes."""
        return Integers(0, len(self.names) - 1)

    def values(self, given: Array) -> Array:
        """The labels as positions among the classes."""
        at = positions(given, self.names)
        if (at < 0).any():
            raise DataError(
                f"{int((at < 0).sum())} of {len(at)} labels are not among the classes, the first in row "
                f"{int(np.argmax(at < 0))} (counted from 0); add them to labels=."
            )
        return at

    def for_histogram(self, budget: Epsilon) -> Mechanism:
        """The mechanism of people who report for the prior."""
        return GRR(self.domain, budget)

    def designed(self, budget: Epsilon, prior: Weights) -> tuple[Mechanism, Callable[[Array], Array]]:
        """Randomized response on the k likeliest classes, with the k that makes most reports right, and their names.

        A class beyond them is reported as any of the k with equal probability, which lies between those of the others.
        """
        likeliest = np.argsort(-prior, kind="stable")
        grown = budget.exp
        sizes = np.arange(1, len(prior) + 1)
        k = int(np.argmax(np.cumsum(prior[likeliest]) * grown / (grown + sizes - 1))) + 1
        _check_reports_differ(k, budget)
        made: Mechanism = GRR(self.domain, budget)
        if k < len(prior):
            kept = np.sort(likeliest[:k])
            matrix = np.full((len(prior), k), 1 / k)
            matrix[kept] = (1 + (grown - 1) * np.eye(k)) / (grown + k - 1)
            made = Custom(self.domain, kept.tolist(), matrix, budget)
        # The likeliest report belongs to the likeliest label, so reports are trained on as they are.
        return made, lambda reports: self.names[reports]

    def probabilities(self, mechanism: Mechanism, reported: Weights) -> Weights:
        """The probabilities of all classes, from those of the reports.

        Among the classes that are ever reported, a report is the label itself with probability p and each other with q;
        so a class has the probability (that of its report − q)/(p − q), where that is positive.
        """
        kept = [int(each) for each in mechanism.outputs]
        p, q = mechanism.matrix()[kept[0], :_TWO]
        found = np.zeros_like(reported)
        found[:, kept] = np.clip((reported[:, kept] - q) / (p - q), 0, None)
        found[found.sum(axis=1) == 0] = 1
        shares: Weights = found / found.sum(axis=1, keepdims=True)
        return shares


def kind_of(labels: object, points: int, outside: Outside) -> Numbers | Classes:
    """What a caller says about labels, all of it public."""
    if isinstance(labels, LineDomain):
        return Numbers(labels, outside)
    if isinstance(labels, tuple) and len(labels) == _TWO and all(isinstance(end, (int, float)) for end in labels):
        return Numbers(Interval(*labels, points=points), outside)
    if isinstance(labels, list) and len(labels) >= _TWO and len(set(labels)) == len(labels):
        return Classes(np.unique(np.array(labels)))
    raise InputError(
        "Expected labels as a public range (low, high), a domain such as bp.Integers(0, 30), or a list of two or more "
        f"distinct classes, got {type(labels).__name__}; they are never learned from the data."
    )


def _check_reports_differ(reports: int, budget: Epsilon) -> None:
    if reports == 1:
        raise DesignError(
            f"At ε = {budget.text} the best report under this prior is the same for every label and teaches nothing; "
            "use a larger epsilon, or prior='uniform'."
        )
