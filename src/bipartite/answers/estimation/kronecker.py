"""Two attributes at once: products and scores from those of each attribute, without a matrix of pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.answers.estimation.identify import identifiability
from bipartite.errors import DesignError
from bipartite.lottery import Channel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.answers.estimation.identify import Identifiability
    from bipartite.answers.estimation.scores import Scores
    from bipartite.mechanisms import Mechanism

    Array = NDArray[np.float64]

MOST_VALUES: Final = 1024
"""The most values of one attribute: the scores of all its shares are in memory at once."""
MOST_PAIRS: Final = 2**22
"""The most pairs of reports: each takes one number in memory."""


class Kronecker(Channel):
    """Reports drawn independently given both values: F ↦ P₁ᵀ·F·P₂, on tables in row-major order."""

    def __init__(self, first: Channel, second: Channel) -> None:
        self._first, self._second = first, second
        self.inputs, self.outputs = first.inputs * second.inputs, first.outputs * second.outputs

    def forward(self, f: Array) -> Array:
        table = f.reshape(*f.shape[:-1], self._first.inputs, self._second.inputs)
        half = np.swapaxes(self._second.forward(table), -1, -2)
        found: Array = np.swapaxes(self._first.forward(half), -1, -2).reshape(*f.shape[:-1], self.outputs)
        return found

    def backward(self, v: Array) -> Array:
        table = v.reshape(*v.shape[:-1], self._first.outputs, self._second.outputs)
        half = np.swapaxes(self._second.backward(table), -1, -2)
        found: Array = np.swapaxes(self._first.backward(half), -1, -2).reshape(*v.shape[:-1], self.inputs)
        return found

    def distinct(self, seen: NDArray[np.bool_]) -> tuple[NDArray[np.int64] | None, Channel]:
        """Pairs of distinct rows; which pairs were seen does not factorize, so all reports of each side count."""
        del seen
        (groups, rows), (groups2, rows2) = (
            side.distinct(np.ones(side.outputs, bool)) for side in (self._first, self._second)
        )
        if groups is None and groups2 is None:
            return None, self
        groups = np.arange(rows.inputs) if groups is None else groups
        groups2 = np.arange(rows2.inputs) if groups2 is None else groups2
        return np.add.outer(groups * rows2.inputs, groups2).ravel(), Kronecker(rows, rows2)


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One attribute: its mechanism, its identifiability, and its scores."""

    mechanism: Mechanism
    operator: Channel
    found: Identifiability
    scores: Scores

    @classmethod
    def of(cls, mechanism: Mechanism) -> Side:
        """The side of this mechanism; refused if it is too large."""
        check_side(len(mechanism.domain))
        operator = mechanism.lottery.channel()
        found = identifiability(mechanism)
        return cls(mechanism, operator, found, found.scores(operator.uniform_law()))

    def score(self, w: Array) -> Array | None:
        """Scores u with Pu = w for every row of w; None if the reports cannot tell."""
        answer = self.found.by_group(w)
        return None if answer is None else self.scores.of(answer)

    def mean_square(self) -> float:
        """The mean square of the score of a share, over all shares and a uniform population."""
        return float(self.scores.shares(self.operator.uniform_law()).square.mean())

    def of_shares(self) -> Array | None:
        """The scores of every share, one row per value; None if not all can be told apart."""
        return self.score(np.eye(len(self.mechanism.domain))) if self.found.identifiable else None


def check_side(size: int) -> None:
    """Refuse an attribute with too many values for a table."""
    if size > MOST_VALUES:
        raise DesignError(
            f"Expected at most {MOST_VALUES} values of an attribute for a joint distribution, got {size}; report "
            "on a coarser domain, or estimate each attribute alone with bp.estimate."
        )


def check_pairs(first: Mechanism, second: Mechanism) -> None:
    """Refuse too many different pairs of reports."""
    pairs = len(first.outputs) * len(second.outputs)
    if pairs > MOST_PAIRS:
        raise DesignError(
            f"Expected at most 2^22 different pairs of reports, got {pairs}; report on coarser domains, or estimate "
            "each attribute alone with bp.estimate."
        )


def score_of_table(first: Side, second: Side, w: Array) -> Array | None:
    """Scores V with P₁·V·P₂ᵀ = W over pairs of reports, solved on one side, then on the other."""
    half = second.score(w)
    whole = None if half is None else first.score(np.ascontiguousarray(half.T))
    return None if whole is None else whole.T


def score_of_product(first: Side, second: Side, w1: Array, w2: Array) -> Array | None:
    """The same for a table w₁·w₂ᵀ: the score of a pair is the product of both scores."""
    u1, u2 = first.score(w1), second.score(w2)
    return None if u1 is None or u2 is None else np.outer(u1, u2)
