"""The matrix P of a mechanism as a linear operator, without storing it.

P is an N × M matrix, but for most mechanisms it is a constant plus a window, a few groups, or a convolution, and both
products cost O(N + M): ``forward(f)`` = fᵀP, the distribution of reports if values are distributed as f, and
``backward(v)`` = Pv, the expected v(report) for every value. Both take one vector, or several as rows.
"""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.errors import DesignError
from bipartite.lottery import GroupedLottery, LineLottery, MixedLottery, NoiseLottery, RingLottery
from bipartite.mechanisms.design.m import ring_rank

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.mechanisms import Mechanism

    Array = NDArray[np.float64]
    Places = NDArray[np.int64]
    Seen = NDArray[np.bool_]

# The most entries of a dense matrix, for a mechanism without structure.
_MOST_DENSE: Final = 2**26
# Outputs of noise on more values than this are not merged: no scores are computed for it either.
_MOST_CELLS: Final = 2048
# The number of tickets by which counts may differ from a geometric law, from rounding and from keeping ε.
_WHOLE: Final = 8


class Operator(ABC):
    """P as a linear operator: the products with P and with its transpose."""

    inputs: int
    """N, the number of values."""
    outputs: int
    """M, the number of possible reports."""

    @abstractmethod
    def forward(self, f: Array) -> Array:
        """fᵀP: the distribution of reports for values distributed as f."""

    @abstractmethod
    def backward(self, v: Array) -> Array:
        """Pv: the expected v(report) for every value."""

    def forward_into(self, f: Array, spread: Array, scratch: Array) -> None:
        """``forward`` of one vector, written to ``spread``, so that iterations need not allocate memory.

        ``scratch`` is work space, longer by one than the longer of f and spread.
        """
        del scratch
        np.copyto(spread, self.forward(f))

    def backward_into(self, v: Array, means: Array, scratch: Array) -> None:
        """``backward`` of one vector, written to ``means``."""
        del scratch
        np.copyto(means, self.backward(v))

    has_cells: bool = False
    """Whether the rows of a few values are constant on a few cells of outputs."""

    def cells(self, values: Places) -> tuple[Array, Places | None]:
        """(the rows of these values on cells of outputs, the starts of cells); None if each output is a cell."""
        chosen = np.zeros((len(values), self.inputs))
        chosen[np.arange(len(values)), values] = 1.0
        return self.forward(chosen), None

    def distinct(self, seen: Seen) -> tuple[Places | None, Operator]:
        """(the index of each value's distinct row, the distinct rows); None if all differ, as far as is known.

        Rows are compared only on outputs that were ``seen``: with few reports, more values are indistinguishable.
        """
        del seen
        return None, self

    def condensed(self) -> tuple[Places | None, Operator]:
        """(the cell of each output, P with the outputs of a cell added up); None if each output is a cell.

        Outputs of one cell carry the same information about values, so nothing is lost.
        """
        return None, self

    def uniform_law(self) -> Array:
        """The distribution of reports if every value is equally likely; it depends on no data."""
        return self.forward(np.full(self.inputs, 1 / self.inputs))


class Window(Operator):
    """Probability q everywhere and p = q + ``excess`` on m neighbouring outputs, shifted by one with every value.

    M = N + m − 1. This covers padded BRR and the Square Wave, GRR with m = 1, and the distinct rows of clamped BRR.
    """

    has_cells = True

    def __init__(self, inputs: int, m: int, q: float, excess: float) -> None:
        self.inputs, self.m, self.outputs = inputs, m, inputs + m - 1
        self.q, self.excess = q, excess

    def forward(self, f: Array) -> Array:
        spread = np.empty((*f.shape[:-1], self.outputs))
        self.forward_into(f, spread, np.empty((*f.shape[:-1], self.inputs + 1)))
        return spread

    def backward(self, v: Array) -> Array:
        means = np.empty((*v.shape[:-1], self.inputs))
        self.backward_into(v, means, np.empty((*v.shape[:-1], self.outputs + 1)))
        return means

    def forward_into(self, f: Array, spread: Array, scratch: Array) -> None:
        running = _cumulative(f, scratch)
        spread[..., : self.inputs] = running[..., 1:]
        spread[..., self.inputs :] = running[..., -1:]
        spread[..., self.m - 1 :] -= running[..., :-1]
        spread *= self.excess
        spread += self.q * running[..., -1:]

    def backward_into(self, v: Array, means: Array, scratch: Array) -> None:
        running = _cumulative(v, scratch)
        np.subtract(running[..., self.m :], running[..., : self.inputs], out=means)
        means *= self.excess
        means += self.q * running[..., -1:]

    def cells(self, values: Places) -> tuple[Array, Places | None]:
        """The rows change only where a window begins or ends."""
        changes = np.concatenate([np.zeros(1, np.int64), values, values + self.m])
        starts = np.unique(changes[changes < self.outputs])
        near = (starts >= values[:, None]) & (starts < values[:, None] + self.m)
        rows: Array = np.where(near, self.q + self.excess, self.q)
        return rows, starts

    def distinct(self, seen: Seen) -> tuple[Places | None, Operator]:
        """Two windows are equal on the outputs seen if none was seen between their starts, nor between their ends.

        Disjoint windows in which nothing was seen are equal too, but get no share in any fit. Windows of one output
        are not merged: they have a closed form.
        """
        if self.m == 1:
            return None, self
        before = np.concatenate([np.zeros(1, np.int64), np.cumsum(seen)])
        moves = np.diff(before[: self.inputs]) + np.diff(before[self.m :]) > 0
        if moves.all():
            return None, self
        group_of = np.concatenate([np.zeros(1, np.int64), np.cumsum(moves)])
        return group_of, Grouped(np.flatnonzero(np.append(True, moves)), self)


def _cumulative(values: Array, scratch: Array) -> Array:
    running = scratch[..., : values.shape[-1] + 1]
    running[..., 0] = 0.0
    np.cumsum(values, axis=-1, out=running[..., 1:])
    return running


class Ring(Operator):
    """Probability q everywhere and p = q + ``excess`` on m neighbouring outputs of a circle, rotated with the value."""

    def __init__(self, lottery: RingLottery) -> None:
        self.inputs = self.outputs = lottery.inputs
        self.m, self.rank = lottery.m, ring_rank(lottery.inputs, lottery.m)
        self.q = lottery.tickets.far / lottery.total
        self.excess = (lottery.tickets.near - lottery.tickets.far) / lottery.total

    @property
    def classes(self) -> int:
        """The greatest common divisor g of m and N: the distribution of x mod g is not identifiable."""
        return math.gcd(self.m, self.inputs)

    def forward(self, f: Array) -> Array:
        # Output y is near the values from y + ⌊m/2⌋ − m + 1 on.
        return self._sums(f, self.m // 2 - self.m + 1)

    def backward(self, v: Array) -> Array:
        return self._sums(v, -(self.m // 2))

    def _sums(self, values: Array, first: int) -> Array:
        """q·(the sum of all) + excess·(the sum of m values from offset ``first`` on), for every position."""
        turned = np.roll(values, -first, axis=-1)
        running = np.cumsum(np.concatenate([turned, turned[..., : self.m]], axis=-1), axis=-1)
        sums = running[..., self.m - 1 : self.m - 1 + self.inputs].copy()
        sums[..., 1:] -= running[..., : self.inputs - 1]
        found: Array = self.excess * sums + self.q * values.sum(axis=-1, keepdims=True)
        return found

    def factors(self) -> NDArray[np.complex128]:
        """The eigenvalues λ_k for k = 0 … ⌊N/2⌋, exactly zero for lost frequencies."""
        near = np.zeros(self.inputs)
        near[(np.arange(self.m) - self.m // 2) % self.inputs] = self.excess
        # ``backward`` is a correlation with this row, so it multiplies by the complex conjugate.
        found: NDArray[np.complex128] = np.conj(np.fft.rfft(near))
        found[0] = 1.0
        found[self.lost()] = 0.0
        return found

    def lost(self) -> NDArray[np.bool_]:
        """Which of the frequencies k = 0 … ⌊N/2⌋ vanish from the reports: k > 0 where N divides k·m."""
        waves = np.arange(self.inputs // 2 + 1)
        period = self.inputs // self.classes
        vanish: NDArray[np.bool_] = (waves % period == 0) & (waves > 0)
        return vanish

    def condition(self) -> float:
        """The condition number: singular values are the |λ_k|, the largest of which is 1."""
        return math.inf if self.rank < self.inputs else float(1 / np.abs(self.factors()).min())


class Turned(Operator):
    """The same mechanism on a circle, with values indexed from another origin; outputs stay in place."""

    def __init__(self, operator: Operator, origin: int) -> None:
        self.inputs, self.outputs, self._operator, self._origin = operator.inputs, operator.outputs, operator, origin

    def forward(self, f: Array) -> Array:
        return self._operator.forward(np.roll(f, self._origin, axis=-1))

    def backward(self, v: Array) -> Array:
        return np.roll(self._operator.backward(v), -self._origin, axis=-1)


class Grouped(Operator):
    """An operator in which groups of values share a row: their shares are added up first."""

    def __init__(self, groups: NDArray[np.int64], distinct: Operator) -> None:
        self.inputs, self.outputs = len(groups), distinct.outputs
        self._groups, self._distinct, self.has_cells = groups, distinct, distinct.has_cells

    def forward(self, f: Array) -> Array:
        size = self._distinct.inputs
        rows = f.reshape(-1, self.inputs)
        added = np.array([np.bincount(self._groups, row, size) for row in rows])
        return self._distinct.forward(added.reshape(*f.shape[:-1], size))

    def backward(self, v: Array) -> Array:
        means: Array = self._distinct.backward(v)[..., self._groups]
        return means

    def cells(self, values: Places) -> tuple[Array, Places | None]:
        return self._distinct.cells(self._groups[values])

    def distinct(self, seen: Seen) -> tuple[Places | None, Operator]:
        groups, rows = self._distinct.distinct(seen)
        present, group_of = np.unique(self._groups if groups is None else groups[self._groups], return_inverse=True)
        return group_of, rows if len(present) == rows.inputs else Grouped(present, rows)


class Noise(Operator):
    """The same additive noise for every value: a convolution, clamped at both ends."""

    def __init__(self, lottery: NoiseLottery) -> None:
        self.inputs, self.outputs = lottery.inputs, lottery.outputs
        kernel = np.concatenate([lottery.tickets[:0:-1], lottery.tickets]) / lottery.total
        # Position 0 of the full convolution is value 0 shifted by −reach; output 0 is value −padding.
        self._first = lottery.reach - lottery.padding
        self._whole = self.inputs + len(kernel) - 1
        # Long enough that nothing wraps around.
        self._length = _next_fast_length(self._whole)
        self._transform = np.fft.rfft(kernel, self._length)
        self._lottery = lottery

    def forward(self, f: Array) -> Array:
        whole = np.fft.irfft(np.fft.rfft(f, self._length) * self._transform, self._length)[..., : self._whole]
        last = self._first + self.outputs
        spread: Array = whole[..., self._first : last].copy()
        spread[..., 0] += whole[..., : self._first].sum(axis=-1)
        spread[..., -1] += whole[..., last:].sum(axis=-1)
        # Probabilities below the rounding error of the transform may come out slightly negative.
        return np.maximum(spread, 0.0)

    def backward(self, v: Array) -> Array:
        after = self._whole - self._first - self.outputs
        ends = [np.repeat(v[..., :1], self._first, axis=-1), v, np.repeat(v[..., -1:], after, axis=-1)]
        product = np.fft.rfft(np.concatenate(ends, axis=-1), self._length) * np.conj(self._transform)
        means: Array = np.fft.irfft(product, self._length)[..., : self.inputs]
        return means

    def cells(self, values: Places) -> tuple[Array, Places | None]:
        lottery = self._lottery
        first = values + lottery.padding
        rows: Array = lottery.tickets[np.abs(np.arange(self.outputs) - first[:, None])] / lottery.total
        beyond = np.cumsum(lottery.tickets[::-1])[::-1] / lottery.total
        rows[:, 0], rows[:, -1] = beyond[first], beyond[self.outputs - 1 - first]
        return rows, None

    @functools.cached_property
    def _cells(self) -> tuple[Places | None, Operator]:
        lottery, size = self._lottery, self.inputs
        if lottery.padding == 0 or size > _MOST_CELLS:
            return None, self
        # Output positions relative to the first value, and their distances beyond either end.
        at = np.arange(self.outputs) - lottery.padding
        past = np.maximum(np.maximum(-at, at - (size - 1)), 0)
        if _is_geometric(lottery.tickets[:size]):
            # Beyond an end, every further step multiplies the probability by the same factor for all values.
            cell_of = np.clip(at, 0, size - 1)
            held = lottery.tickets[:size].copy()
            held[-1] = lottery.tickets[size - 1 :].sum()
            return cell_of, Noise(NoiseLottery(size, 0, held))
        # A staircase falls by the same factor every N − 1 steps.
        past %= size - 1
        cell_of = np.where(at <= 0, size - 2 - past, np.where(at >= size - 1, 2 * size - 3 + past, at + size - 2))
        rows = [np.bincount(cell_of, lottery.rows(x, x + 1)[0], 3 * size - 4) for x in range(size)]
        return cell_of, Dense(np.array(rows) / lottery.total)

    def condensed(self) -> tuple[Places | None, Operator]:
        """Beyond both ends, the distance of a report carries no information (for a staircase, except modulo N − 1)."""
        return self._cells


def _next_fast_length(least: int) -> int:
    """The smallest number from ``least`` on without prime factors above 5: transforms of that length are fast."""
    found, fives = 2 * least, 1
    while fives < found:
        odd = fives
        while odd < found:
            found = min(found, odd << (-(-least // odd) - 1).bit_length())
            odd *= 3
        fives *= 5
    return found


def _is_geometric(tickets: Places) -> bool:
    """Whether tickets fall by a constant factor per step, up to rounding to whole tickets."""
    if len(tickets) < 3:  # noqa: PLR2004 (two numbers are always geometric)
        return True
    held = tickets.astype(np.float64)
    factor = (held[-1] / held[0]) ** (1 / (len(held) - 1))
    return bool((np.abs(held[1:] - factor * held[:-1]) <= _WHOLE + 1e-6 * held[1:]).all())


class Dense(Operator):
    """Any other mechanism, with its matrix stored."""

    def __init__(self, matrix: Array) -> None:
        self.inputs, self.outputs = matrix.shape
        self.matrix = matrix
        # The last result is cached: many fits are of the same reports.
        self._found: tuple[bytes, Places] | None = None

    def forward(self, f: Array) -> Array:
        spread: Array = f @ self.matrix
        return spread

    def backward(self, v: Array) -> Array:
        means: Array = v @ self.matrix.T
        return means

    def cells(self, values: Places) -> tuple[Array, Places | None]:
        return self.matrix[values], None

    def distinct(self, seen: Seen) -> tuple[Places | None, Operator]:
        key = seen.tobytes()
        if self._found is None or self._found[0] != key:
            number: dict[bytes, int] = {}
            rows = self.matrix if seen.all() else self.matrix[:, seen]
            groups = np.array([number.setdefault(row.tobytes(), len(number)) for row in rows])
            self._found = key, groups
        groups = self._found[1]
        _, first = np.unique(groups, return_index=True)
        return (None, self) if len(first) == self.inputs else (groups, Dense(self.matrix[first]))


def operator_of(mechanism: Mechanism) -> Operator:
    """The operator of a mechanism, in the cheapest form that its structure allows."""
    lottery = mechanism.lottery
    if isinstance(lottery, LineLottery):
        return _window(lottery)[1]
    if isinstance(lottery, GroupedLottery):
        groups, inner = _window(lottery.inner)
        return Grouped(lottery.groups if groups is None else groups[lottery.groups], _distinct(inner))
    if isinstance(lottery, RingLottery):
        return Ring(lottery)
    if isinstance(lottery, NoiseLottery):
        return _noise(lottery)
    if isinstance(lottery, MixedLottery):
        groups, rows = lottery.groups()
        return Grouped(groups, Dense(rows / lottery.total))
    if lottery.inputs * lottery.outputs > _MOST_DENSE:
        raise DesignError(
            f"Estimating from {lottery.inputs} × {lottery.outputs} probabilities without structure takes too much "
            "memory; use GRR, Anchored, a flat-category mechanism, or fewer values."
        )
    return Dense(mechanism.matrix())


_noise = functools.lru_cache(maxsize=2)(Noise)


def groups_of(mechanism: Mechanism) -> tuple[NDArray[np.int64] | None, Operator] | None:
    """(the index of each value's distinct row, the distinct rows), if known from the structure; otherwise None.

    The indices are None if every value has a row of its own.
    """
    lottery = mechanism.lottery
    if isinstance(lottery, LineLottery):
        groups, whole = _window(lottery)
        return groups, _distinct(whole)
    if isinstance(lottery, GroupedLottery):
        inner_groups, inner = _window(lottery.inner)
        groups = lottery.groups if inner_groups is None else inner_groups[lottery.groups]
        return groups, _distinct(inner)
    return None


def _window(lottery: LineLottery) -> tuple[NDArray[np.int64] | None, Operator]:
    """Windows start at every output from 0 to M − m; with clamped edges, several values share the outermost ones."""
    starts = lottery.outputs - lottery.m + 1
    q = lottery.tickets.far / lottery.total
    excess = (lottery.tickets.near - lottery.tickets.far) / lottery.total
    distinct = Window(starts, lottery.m, q, excess)
    if (lottery.start(0), lottery.start(lottery.inputs - 1)) != (0, starts - 1):
        raise AssertionError("the windows of this lottery do not reach both ends of the outputs")
    if starts == lottery.inputs:
        return None, distinct
    groups = np.clip(np.arange(lottery.inputs) + lottery.shift, 0, starts - 1)
    return groups, Grouped(groups, distinct)


def _distinct(operator: Operator) -> Operator:
    return operator._distinct if isinstance(operator, Grouped) else operator  # noqa: SLF001 (this file)
