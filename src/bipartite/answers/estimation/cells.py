"""What a fitted distribution is a mixture of: single values, or smooth bumps and single values that stand out.

**Smoothing.** f = h·S_b, a mixture of bumps: S_b takes b steps of (1, 2, 1)/4, reflected at the ends of a line and
periodic on a circle. Beyond 512 values bumps are made of cells of neighbouring values with equal shares, and see
neighbouring outputs as one: both lose little that is smooth.

**Values that stand out.** Where many people have one value (an income of zero, a round number), no bump describes
them. Beyond 512 values, such a value becomes a component beside the bumps if it raises the log-likelihood of the most
likely mixture of cells by more than 5 nats: by a Newton step that moves people of its cell to it, with all values and
outputs apart.

**Without smoothing** every value is a component, so that nothing is assumed about the people of a cell. Only where
values of a cell can hardly be told apart (noise on a long line), or where there are too many for a matrix, a fit
without smoothing is a mixture of cells too. Its intervals then cover every way of dividing the share of a cell.
"""

from __future__ import annotations

import copy
import functools
import math
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.answers.estimation.em import Problem
from bipartite.lottery import Dense

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bipartite.lottery import Channel, Deal

    Array = NDArray[np.float64]
    Places = NDArray[np.int64]

MOST_CELLS: Final = 512
_MOST_GROUPS: Final = 1024
# Below this number of entries a matrix is faster than any structure; above the second it takes too long.
_SMALL: Final = 2**16
_MOST_MATRIX: Final = 2**23
# Numbers held at once: 64 MB.
_BLOCK: Final = 2**23
# Values of a cell can hardly be told apart if no group of outputs is more likely by this fraction from one of them.
_HARDLY: Final = 0.01
# A value that stands out raises the log-likelihood by more than this: samples of smooth populations reach 2.
_PRICE: Final = 5.0
# Values that join in one round, and rounds.
_MOST_JOINING: Final = 32
_ROUNDS: Final = 8
_DIFFERENT: Final = 1e-12


class Cells:
    """The components of one mechanism; at most 512 cells if values may be merged (``together``)."""

    def __init__(self, operator: Channel, *, together: bool, around: bool = False) -> None:
        self._condensed, self._operator = operator.condensed()
        self.values, outputs = self._operator.inputs, self._operator.outputs
        self.many, self._around = min(self.values, MOST_CELLS) if together else self.values, around
        self._starts = _starts(self.values, self.many)
        self._after = np.append(self._starts[1:], self.values)
        self._sizes = self._after - self._starts
        self._groups = _starts(outputs, min(outputs, _MOST_GROUPS) if together else outputs)
        self.apart: Places = np.empty(0, np.int64)
        """The values that stand out."""
        self._apart_rows: Array = np.empty((0, len(self._groups)))
        self._rows: dict[int, Array] = {}

    @functools.cached_property
    def _matrix(self) -> Array:
        """The probability of every group of outputs for a uniformly random value of each cell."""
        return self._by_group(self._inside, np.arange(self.many))

    def _by_group(self, chosen: Callable[[Places], Array], places: Places) -> Array:
        """The probability of every group of outputs for the distributions that are chosen at these places."""
        found = np.empty((len(places), len(self._groups)))
        step = max(1, _BLOCK // (self.values + self._operator.outputs))
        for first in range(0, len(places), step):
            some = slice(first, first + step)
            found[some] = np.add.reduceat(self._operator.forward(chosen(places[some])), self._groups, axis=1)
        return found

    def _inside(self, cells: Places) -> Array:
        """The uniform distribution over each of these cells."""
        at = np.arange(self.values)
        inside = (at >= self._starts[cells, None]) & (at < self._after[cells, None])
        found: Array = inside / self._sizes[cells, None]
        return found

    def _only(self, values: Places) -> Array:
        """Everybody at each of these values."""
        found: Array = (np.arange(self.values) == values[:, None]).astype(np.float64)
        return found

    @functools.cached_property
    def _single(self) -> Channel | None:
        """The channel of single values for fits without smoothing; None for one of cells."""
        operator = self._operator
        if operator.has_cells and operator.inputs * operator.outputs > _SMALL:
            return operator
        if self.many == self.values:
            return Dense(self._matrix)
        ends = [self._by_group(self._only, at) for at in (self._starts, self._after - 1)]
        alike = (np.abs(ends[0] - ends[1]) <= _HARDLY * np.minimum(*ends)).all()
        if alike or self.values * len(self._groups) > _MOST_MATRIX:
            return None
        return Dense(self._by_group(self._only, np.arange(self.values)))

    @property
    def single(self) -> bool:
        """Whether fits without smoothing are mixtures of single values."""
        return self._single is not None

    @property
    def _channel(self) -> Channel:
        """The channel in whose outputs reports are counted."""
        return Dense(self._matrix) if self._single is None else self._single

    def counts(self, held: Array) -> Array:
        """Counts of the outputs that fits see."""
        if self._condensed is not None:
            held = np.bincount(self._condensed, held, self._operator.outputs).astype(np.float64)
        return held if self._single is self._operator else np.add.reduceat(held, self._groups)

    def problem(self, counts: Array, steps: int) -> Problem:
        """The likelihood of these counts; with steps of smoothing, of groups of outputs."""
        if not steps and self._single is not None:
            return Problem(self._single, counts)
        held = np.add.reduceat(counts, self._groups) if self._single is self._operator else counts
        seen = held > 0
        rows = self.rows(steps) if seen.all() else self.rows(steps)[:, seen]
        # Sums with irregular weights differ if rows do; this is much faster than comparing rows.
        sums = np.sort(rows @ np.cos(np.arange(rows.shape[1]) ** 2.0))
        return Problem(Dense(rows), held[seen], distinct=bool((np.diff(sums) > _DIFFERENT).all()))

    def rows(self, steps: int) -> Array:
        """The probability of every group of outputs for each bump, or cell, and value that stands out."""
        if steps not in self._rows:
            smooth = self.smoother(steps)
            bumps = self._matrix if smooth is None else smooth @ self._matrix
            self._rows[steps] = np.concatenate([bumps, self._apart_rows])
        return self._rows[steps]

    def smoother(self, steps: int) -> Array | None:
        """The smoothing kernels for this number of steps, one per row; None for no smoothing."""
        return (_smoother_around if self._around else _smoother)(self.values, self.many, steps) if steps else None

    def shares(self, h: Array, steps: int) -> Array:
        """Convert shares of components to shares of values."""
        if not steps and self._single is not None:
            return h
        smooth, bumps = self.smoother(steps), h[: len(h) - len(self.apart)]
        found: Array = np.repeat((bumps if smooth is None else bumps @ smooth) / self._sizes, self._sizes)
        found[self.apart] += h[len(bumps) :]
        return found

    def most(self, w: Array, steps: int) -> Array:
        """The largest average weight that the people of each component may have."""
        if not steps and self._single is not None:
            return w
        smooth, largest = self.smoother(steps), np.maximum.reduceat(w, self._starts)
        return np.concatenate([largest if smooth is None else smooth @ largest, w[self.apart]])

    def law(self, shares: Array) -> Array:
        """The probability of every output that fits see."""
        return self._channel.forward(shares if self._single is not None else np.add.reduceat(shares, self._starts))

    def with_apart(self, counts: Array) -> Cells:
        """These components, and all values that stand out in these counts."""
        cells, single = self, self._single
        if single is None or self.many == self.values:
            return self
        for _ in range(_ROUNDS):
            held = counts if single is not self._operator else np.add.reduceat(counts, self._groups)
            problem = Problem(Dense(cells.rows(0)), held)
            h = problem.of_values(problem.fit().frequencies)
            joining = cells._standing_out(single, counts, h)
            if not len(joining):
                break
            apart = np.union1d(cells.apart[h[self.many :] > 0], joining)
            cells = copy.copy(self)
            vars(cells).update(apart=apart, _apart_rows=self._by_group(self._only, apart), _rows={})
        return cells

    def _standing_out(self, single: Channel, counts: Array, h: Array) -> Places:
        """In each cell, the value that gains most from people of the cell, if that is more than the price."""
        held, shares = h[: self.many], np.repeat(h[: self.many] / self._sizes, self._sizes)
        shares[self.apart] += h[self.many :]
        law = single.forward(shares)
        slopes = single.backward(counts / law)
        slopes[self.apart] = 0.0
        # No gain is larger than the people who can move, times the slope.
        rises = np.maximum.reduceat(slopes, self._starts) - np.add.reduceat(slopes, self._starts) / self._sizes
        cells = np.flatnonzero(held * rises > _PRICE)
        cells = cells[np.argsort(-(held * rises)[cells], kind="stable")[:_MOST_JOINING]]
        if not len(cells):
            return cells
        runs = zip(self._starts[cells].tolist(), self._after[cells].tolist(), strict=True)
        at = np.array([first + int(np.argmax(slopes[first:last])) for first, last in runs])
        moved = single.forward(self._only(at) - self._inside(cells)) / law
        bends, rises = moved**2 @ counts, moved @ counts
        length = np.minimum(rises / bends, held[cells])
        return at[length * (rises - length * bends / 2) > _PRICE]


@functools.lru_cache(maxsize=2)
def cells_of(lottery: Deal, *, together: bool, around: bool) -> Cells:
    """The cells of a mechanism, shared between estimates."""
    return Cells(lottery.channel(), together=together, around=around)


def _starts(values: int, cells: int) -> Places:
    """Where about equal cells begin: value v is in cell ⌊v·cells/values⌋."""
    return -(-np.arange(cells) * values // cells)


@functools.lru_cache(maxsize=64)
def _smoother(values: int, cells: int, steps: int) -> Array:
    """S_b: the distribution of one unit of mass after b steps of (1, 2, 1)/4, reflected at the ends; one row per start.

    Kernels start half a standard deviation apart: more of them would hardly add mixtures, and make rows too similar. A
    cell with more values gets more of the mass, so that the shares of single values are smooth.
    """
    # The eigenvectors of this random walk are cosines.
    at = np.arange(cells)
    waves = np.cos(np.pi * np.outer(at + 0.5, at) / cells)
    waves /= np.sqrt((waves**2).sum(axis=0))
    many = -(-(cells - 1) // _between(steps)) + 1
    begins = np.linspace(0, cells - 1, many)[: -(-many // 2)].round().astype(np.int64)
    # Keep the starts symmetric under reversal of the line.
    begins = np.union1d(begins, cells - 1 - begins)
    found: Array = (waves[begins] * np.cos(np.pi * at / (2 * cells)) ** (2 * steps)) @ waves.T
    return _as_shares(found, values)


@functools.lru_cache(maxsize=64)
def _smoother_around(values: int, cells: int, steps: int) -> Array:
    """S_b around a circle, which has no ends: every kernel is a rotation of the same one."""
    waves = np.arange(cells // 2 + 1)
    bump = np.fft.irfft(np.cos(np.pi * waves / cells) ** (2 * steps), cells)
    many = -(-cells // _between(steps))
    begins = np.linspace(0, cells, many, endpoint=False).round().astype(np.int64)
    return _as_shares(np.array([np.roll(bump, begin) for begin in begins.tolist()]), values)


def _between(steps: int) -> int:
    """The distance between the starts of kernels of this number of steps."""
    return max(1, int(math.sqrt(steps / 2) / 2))


def _as_shares(bumps: Array, values: int) -> Array:
    """Clip negative rounding errors, weight cells by their number of values, and normalize each kernel."""
    found = np.maximum(bumps, 0.0)
    found *= np.diff(_starts(values, found.shape[1]), append=values)
    found /= found.sum(axis=1, keepdims=True)
    found.flags.writeable = False
    return found
