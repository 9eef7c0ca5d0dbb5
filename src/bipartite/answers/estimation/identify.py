"""Which values the reports of a mechanism can tell apart, decided from its matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bipartite.answers.estimation.output_scores import STEADY, CellScores, DenseScores, WindowScores, check_dense
from bipartite.answers.estimation.ring_scores import RingScores
from bipartite.errors import InputError
from bipartite.lottery import Dense, Ring, Window
from bipartite.mechanisms import Mechanism
from bipartite.texts import Printed, escaped

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.answers.estimation.output_scores import Scores
    from bipartite.domains import Domain
    from bipartite.lottery import Channel

    Array = NDArray[np.float64]

_NAMED = 3


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Identifiability(Printed):
    """The shares of values for which an unbiased estimator exists."""

    domain: Domain
    rank: int
    """The rank of the mechanism's matrix: the number of independent facts that reports reveal about a population."""
    group_of: NDArray[np.int64]
    """The group of every value: values of one group have the same row and cannot be told apart."""
    distinct: Channel
    """The distinct rows, one per group."""

    def __post_init__(self) -> None:
        """Make the groups read-only: later estimates share them."""
        seen = self.group_of.view()
        seen.flags.writeable = False
        object.__setattr__(self, "group_of", seen)

    @property
    def identifiable(self) -> bool:
        """Whether every share can be estimated: rank N."""
        return self.rank == len(self.domain)

    @property
    def groups_identifiable(self) -> bool:
        """Whether the share of every group can be estimated: the distinct rows are independent."""
        return self.rank == self.rows

    @property
    def rows(self) -> int:
        """The number of distinct rows."""
        return self.distinct.inputs

    @property
    def groups(self) -> list[list[Any]]:
        """The values that cannot be told apart: a list for each group of two or more."""
        sizes = np.bincount(self.group_of)
        order = np.argsort(self.group_of, kind="stable")
        ends = np.cumsum(sizes)
        return [
            self.domain[order[end - size : end]].tolist() for size, end in zip(sizes, ends, strict=True) if size > 1
        ]

    def condition(self) -> float:
        """The largest over the smallest singular value of the distinct rows: how much inverting them amplifies noise.

        Infinite if they are not independent. Available for at most 2,048 rows, around a circle, or for m = 1, where it
        is 1/(p − q).
        """
        if not self.groups_identifiable:
            return float("inf")
        if isinstance(self.distinct, Ring):
            return self.distinct.condition()
        if isinstance(self.distinct, Window):
            if self.distinct.m == 1:
                # Singular values 1, and p − q for everything that sums to zero.
                return 1 / self.distinct.excess if self.rows > 1 else 1.0
            check_dense(self.rows)
        values = np.linalg.svd(self.distinct.dense(), compute_uv=False)
        return float(values[0] / values[-1])

    def scores(self, law: Array) -> Scores:
        """The scores of least variance under this distribution of reports, for the distinct rows."""
        if isinstance(self.distinct, Window):
            return WindowScores(self.distinct, law)
        if isinstance(self.distinct, Ring):
            return RingScores(self.distinct)
        cell_of, cells = self.distinct.condensed()
        if cell_of is not None:
            return CellScores(cell_of, cells.dense(), law, self.rank)
        return DenseScores(self.distinct.dense(), law, self.rank)

    def by_group(self, w: Array) -> Array | None:
        """Weights of values as weights of groups; None if values of one group have different weights."""
        if self.rows == len(self.domain):
            ordered = np.empty_like(w)
            ordered[..., self.group_of] = w
            return ordered
        low, high = self.bounds(w)
        return low if np.array_equal(low, high) else None

    def bounds(self, w: Array) -> tuple[Array, Array]:
        """The smallest and the largest w of each group."""
        shape = (*w.shape[:-1], self.rows)
        low, high = np.full(shape, np.inf), np.full(shape, -np.inf)
        for at in np.ndindex(w.shape[:-1]):
            np.minimum.at(low[at], self.group_of, w[at])
            np.maximum.at(high[at], self.group_of, w[at])
        return low, high

    def __repr__(self) -> str:
        return f"<Identifiability of {self.domain!r}: {self}>"

    def __str__(self) -> str:
        size = len(self.domain)
        if self.identifiable:
            return f"all {size} shares can be estimated (rank {size})"
        groups = self.groups
        parts = [f"rank {self.rank} of {size}"]
        if groups:
            named = ", ".join(self._named(group) for group in groups[:_NAMED])
            more = f" and {len(groups) - _NAMED} more groups" if len(groups) > _NAMED else ""
            parts.append(f"{sum(map(len, groups))} values in {len(groups)} groups share their rows: {named}{more}")
        if not self.groups_identifiable:
            parts.append(self._dependence)
        return "; ".join(parts)

    def _named(self, group: list[Any]) -> str:
        """The first and the last value of a group; around a circle a group may continue past the last value."""
        first, last = group[0], group[-1]
        if self.domain.wraps:
            at = np.array([self.domain.encode(value) for value in group])
            gaps = (at - np.roll(at, 1)) % len(self.domain)
            first, last = group[int(gaps.argmax())], group[int(gaps.argmax()) - 1]
        return f"{escaped(first)}–{escaped(last)} ({len(group)})"

    @property
    def _dependence(self) -> str:
        """Why the distinct rows are not independent; around a circle, what that hides."""
        if not isinstance(self.distinct, Ring):
            return f"the {self.rows} distinct rows depend on each other"
        g, size = self.distinct.classes, len(self.domain)
        first, second = (", ".join(map(escaped, self.domain[at : at + 2 * g + 1 : g])) for at in (0, 1))
        return (
            f"m = {self.distinct.m} and N = {size} share the factor {g}, so every window contains as many of {first}, "
            f"… as of {second}, …: how people are distributed over these {g} classes cannot be estimated; with an m "
            f"coprime to {size}, such as m='histogram' chooses, everything can"
        )


def identifiability(mechanism: object) -> Identifiability:
    """Which values the reports of a mechanism can tell apart, from its actual matrix.

    An unbiased estimator of every share exists exactly when the N rows of P are linearly independent. Windows are
    independent when they differ: a combination of rows that vanishes has weights of sum zero (each row sums to one), so
    the constant part cancels, and windows that begin at different places are in echelon form. Around a circle the rank
    is N − gcd(m, N) + 1: the matrix is circulant, and this many of its eigenvalues are nonzero. Other mechanisms are
    decided by the singular values of the differences of their whole-number tickets, for at most 2,048 values. If
    tickets are rounded probabilities, as in a table, singular values 10⁹ times smaller than the largest are rounding.

    >>> from bipartite import BRR, Integers
    >>> print(identifiability(BRR(Integers(18, 90), epsilon=1)))
    rank 47 of 73; 28 values in 2 groups share their rows: 18–31 (14), 77–90 (14)
    >>> identifiability(BRR(Integers(18, 90), epsilon=1, edges="padded")).identifiable
    True
    """
    if not isinstance(mechanism, Mechanism) or mechanism.flat:
        raise InputError(f"Expected a mechanism, got {type(mechanism).__name__}; pass bp.BRR(…) or another one.")
    size = len(mechanism.domain)
    lottery = mechanism.lottery
    structure = lottery.distinct_rows()
    if structure is not None:
        groups, distinct = structure
        group_of = np.arange(size) if groups is None else groups
        occurring = np.bincount(group_of, minlength=distinct.inputs) > 0
        if occurring.all():
            return Identifiability(mechanism.domain, distinct.rank, group_of, distinct)
    check_dense(size)
    if lottery.shifted and _independent(lottery.condensed()[1].dense()):
        return Identifiability(mechanism.domain, size, np.arange(size), lottery)
    tickets = lottery.rows(0, size)
    rows, first, group_of = np.unique(tickets, axis=0, return_index=True, return_inverse=True)
    # Groups are numbered in the order of their first values.
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    rank = _rank(rows, STEADY if lottery.rounded else 0.0)
    return Identifiability(mechanism.domain, rank, place[group_of.reshape(-1)], Dense(rows[order] / lottery.total))


def _rank(rows: NDArray[np.int64], faint: float) -> int:
    """The rank of rows of whole numbers with equal sums: one more than that of their differences, which are exact.

    Singular values smaller than ``faint`` times the largest count as zero.
    """
    if len(rows) == 1:
        return 1
    differences = (rows[1:] - rows[0]).astype(np.float64)
    values = np.linalg.svd(differences / np.abs(differences).max(), compute_uv=False)
    rounding = max(differences.shape) * float(np.finfo(np.float64).eps)
    return 1 + int((values > max(rounding, faint) * values[0]).sum())


def _independent(matrix: Array) -> bool:
    """Whether these rows are certainly independent: P, or P·Pᵀ, has an inverse even allowing for rounding errors."""
    square = matrix if len(matrix) == matrix.shape[1] else matrix @ matrix.T
    try:
        inverse = np.linalg.inv(square)
    except np.linalg.LinAlgError:
        return False
    off = square @ inverse
    off.flat[:: len(off) + 1] -= 1
    # Rounding moves each sum by at most this; also those of P·Pᵀ, whose terms are not negative.
    rounded = 2 * np.finfo(np.float64).eps * matrix.shape[1] * (square @ np.abs(inverse).sum(axis=1)).max()
    return bool(np.abs(off).sum(axis=1).max() + rounded < 1)
