"""Sums of losses over all items for many candidate anchors, in O(N) memory.

The search for anchors and the lower bound need the same sums for a candidate y: λ_y = Σ_x π_x L(x, y), and for levels
w_x the gain Σ_x π_x (w_x − L(x, y))⁺. Also here: the cells in which a search starts, and the watch that may stop it.
"""

from __future__ import annotations

import copy
import math
import os
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from bipartite.domains.points import UNIT, loss_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import ModuleType

    from numpy.typing import NDArray

    from bipartite.domains import SetDomain

    Reals = NDArray[np.float64]
    Wholes = NDArray[np.int64]
    LossFunction = Callable[[Reals], Reals]

_THREADS: Final = os.cpu_count() or 1
# NumPy works on this many losses at a time, which fit into the L2 cache.
_LOSSES_A_BLOCK: Final = 2**17
# Threads pay from this many losses on, and each gets at most this many at a time.
_LOSSES_A_PIECE: Final = 2**20
# Compiled code pays from this many items on: a search reads all pairs a hundred times.
COMPILE_FROM: Final = 400
# Math libraries differ in the last bits of a square root or an arc.
_LAST_BITS: Final = 2.0**-49
# The mass of all points without any, which can still be reported.
_LITTLE: Final = 1e-3
_BETWEEN: Final = 0.1  # seconds


class EnoughError(Exception):
    """Raised by a progress callback to end a search early: the best result so far is used."""


class Watch:
    """Receives the progress of a search, and keeps its best result in case it is stopped."""

    def __init__(self, progress: Callable[[float], None] | None = None) -> None:
        self._progress = progress
        self._part = 0.0
        self._next = 0.0
        self._rank = math.inf
        self.anchors: list[int] = []
        """The best anchors so far."""

    def report(self, part: float) -> None:
        """Report the share that is done, from 0 to 1; it never goes back, even if a search is repeated."""
        self._part = max(self._part, part)
        if self._progress is not None:
            self._progress(self._part)

    def pause(self) -> None:
        """Let the caller stop the search with EnoughError, a few times a second."""
        if self._progress is not None and time.monotonic() >= self._next:
            self._next = time.monotonic() + _BETWEEN
            self._progress(self._part)

    def note(self, rank: float, anchors: list[int]) -> None:
        """Remember anchors if they are the best so far."""
        if rank < self._rank:
            self._rank, self.anchors = rank, anchors


@dataclass(frozen=True, slots=True)
class Sweep:
    """The sums of one pass over all items for some candidate anchors."""

    totals: Reals
    """λ_y = Σ_x π_x L(x, y)."""
    gains: Reals
    """Σ_x π_x (low_x − L(x, y))⁺."""
    swaps: Reals
    """The least over groups a of Σ_{x in a} π_x (min(max(L(x, y), low_x), high_x) − low_x) − refund_a."""
    leaving: Wholes
    """The group that attains it."""


@dataclass(frozen=True, slots=True)
class Groups:
    """Items grouped by their nearest anchor, for the cost of exchanging one anchor for another."""

    order: Wholes
    """A permutation of the items in which each group is contiguous."""
    starts: Wholes
    """The start of each group in it, and the end."""
    high: Reals
    refunds: Reals


class AnchorLosses:
    """The losses of a domain for its items of positive prior.

    Parameters
    ----------
    prior
        One weight per item, not all zero; None for uniform.
    loss
        A non-decreasing elementwise function of the domain's own loss; None for that loss itself.
    compiled
        None: compiled code where it pays and is available.
    """

    def __init__(
        self,
        domain: SetDomain,
        prior: Reals | None,
        loss: LossFunction | None = None,
        *,
        compiled: bool | None = None,
    ) -> None:
        self.size = len(domain)
        self._loss = loss
        self.watch = Watch()
        # Its threads start on first use and end with this object.
        self._pool = ThreadPoolExecutor(_THREADS)
        self._set_prior(np.ones(self.size) if prior is None else np.asarray(prior, dtype=np.float64))
        self.vectors: Reals | None = None
        self._matrix: Reals | None = None
        if (vectors := domain.vectors) is not None:
            self._metric, self._bits = domain.metric, domain.bits
            # Integers below 2^53: their differences, squares and sums are exact in doubles.
            self.vectors = np.ascontiguousarray(vectors.T, dtype=np.float64)
            self.least = float(self._of_distances(np.zeros(1))[0])
            self.error = _LAST_BITS
        else:
            held = getattr(domain, "_losses", None)
            matrix = domain.loss_matrix() if held is None else held  # read in place
            self._matrix = np.ascontiguousarray(matrix if loss is None else loss(matrix), dtype=np.float64)
            self.symmetric = bool((self._matrix == self._matrix.T).all())
            self.least = float(self._matrix.min())
            self.error = 0.0
        self._kernels: Any = self._load() if compiled or (compiled is None and self.size >= COMPILE_FROM) else None

    def _set_prior(self, weights: Reals) -> None:
        self.items: Wholes = np.flatnonzero(weights > 0)
        # Scaled first: the sum of weights near the largest double would overflow.
        weights = weights[self.items] / weights.max()
        self.prior: Reals = weights / weights.sum()

    def with_prior(self, prior: Reals) -> AnchorLosses:
        """The same losses under another prior."""
        other = copy.copy(self)
        other._set_prior(prior)
        return other

    @property
    def floor(self) -> float:
        """A lower bound on every mean loss: every item gets its best report."""
        if self._matrix is None:
            return self.least
        return float(self.prior @ self._matrix.min(axis=1)[self.items])

    @property
    def compiled(self) -> bool:
        """Whether sums are computed by compiled code."""
        return self._kernels is not None

    def table(self, items: Wholes, columns: Sequence[int] | Wholes) -> Reals:
        """L(x, y) for these items x (one row each) and these reports y, computed by NumPy."""
        columns = np.asarray(columns, dtype=np.int64)
        if self._matrix is not None:
            chosen: Reals = self._matrix[np.ix_(items, columns)]
            return chosen
        distances = np.zeros((len(items), len(columns)))
        for axis in cast("Reals", self.vectors):
            difference = np.subtract.outer(axis[items], axis[columns])
            distances += np.abs(difference) if self._metric == "manhattan" else difference * difference
        return self._of_distances(distances)

    def column(self, y: int) -> Reals:
        """L(x, y) for all items of positive prior."""
        column: Reals = self.table(self.items, [y])[:, 0]
        return column

    def sweep(self, columns: Wholes, low: Reals, groups: Groups | None = None) -> Sweep:
        """Sums over all items for these candidate anchors."""
        count = len(columns)
        found = Sweep(np.empty(count), np.empty(count), np.full(count, np.inf), np.zeros(count, dtype=np.int64))
        if groups is None:
            none = np.zeros(0)
            groups = Groups(np.arange(len(self.items)), np.zeros(1, dtype=np.int64), none, none)
        work = self._sweep_compiled if self.compiled else self._sweep_with_numpy
        self._in_threads(work(columns, low, groups, found), count, len(self.items))
        return found

    def weight_below(self, columns: Wholes, weights: Reals, levels: Reals) -> Reals:
        """For every item the total weight of the reports below its level: Σ_y weight_y [L(x, y) < level_x]."""
        out = np.empty(len(self.items))
        if self._kernels is not None:
            kernels, source = self._kernels, self._source(self.items)

            def part(start: int, stop: int) -> None:
                kernels.weight_below(source, columns, weights, levels, start, stop, out)

        else:

            def part(start: int, stop: int) -> None:
                below = self.table(self.items[start:stop], columns) < levels[start:stop, None]
                out[start:stop] = below @ weights

        self._in_threads(part, len(out), max(1, len(columns)))
        return out

    def _in_threads(self, part: Callable[[int, int], None], count: int, losses_each: int) -> None:
        """Run part(start, stop) over 0 … count in pieces, in threads where it pays."""
        if count * losses_each < _LOSSES_A_PIECE:
            # NumPy works in small blocks even where threads do not pay.
            step = count if self.compiled else max(1, _LOSSES_A_BLOCK // losses_each)
            for start in range(0, count, step or 1):
                part(start, min(start + step, count))
            return
        limit = _LOSSES_A_PIECE if self.compiled else _LOSSES_A_BLOCK
        step = max(1, min(limit // losses_each, -(-count // _THREADS)))
        pieces = [self._pool.submit(part, start, min(start + step, count)) for start in range(0, count, step)]
        try:
            for piece in pieces:
                piece.result()
                self.watch.pause()
        finally:
            # A search that is stopped must not go on in its threads.
            for piece in pieces:
                piece.cancel()

    def _of_distances(self, distances: Reals) -> Reals:
        losses: Reals = loss_of(distances, self._metric, self._bits)
        return losses if self._loss is None else np.asarray(self._loss(losses), dtype=np.float64)

    def _sweep_with_numpy(
        self, columns: Wholes, low: Reals, groups: Groups, found: Sweep
    ) -> Callable[[int, int], None]:
        items, prior, bar = self.items[groups.order], self.prior[groups.order], low[groups.order]

        def part(start: int, stop: int) -> None:
            losses = np.ascontiguousarray(self.table(items, columns[start:stop]).T)
            found.totals[start:stop] = losses @ prior
            found.gains[start:stop] = np.maximum(bar - losses, 0) @ prior
            if len(groups.refunds):
                rise = (np.minimum(np.maximum(losses, bar), groups.high[groups.order]) - bar) * prior
                # The group of an anchor that is nearest to no item is empty, which reduceat cannot sum.
                filled = np.flatnonzero(np.diff(groups.starts))
                raised = np.zeros((stop - start, len(groups.refunds)))
                raised[:, filled] = np.add.reduceat(rise, groups.starts[filled], axis=1)
                raised -= groups.refunds
                found.leaving[start:stop] = raised.argmin(axis=1)
                found.swaps[start:stop] = raised.min(axis=1)

        return part

    def _sweep_compiled(self, columns: Wholes, low: Reals, groups: Groups, found: Sweep) -> Callable[[int, int], None]:
        order = groups.order
        source = self._source(self.items[order])
        high = groups.high[order] if len(groups.refunds) else groups.high
        items = (self.prior[order], low[order], high, groups.starts, groups.refunds)
        kernels = self._kernels

        def part(start: int, stop: int) -> None:
            into = tuple(each[start:stop] for each in (found.totals, found.gains, found.swaps, found.leaving))
            kernels.sweep(source, items, columns[start:stop], into)

        return part

    def _load(self) -> ModuleType | None:
        """The compiled kernels, if they are available and support this loss."""
        if self._matrix is None and self._loss not in (None, np.square):
            return None
        try:
            from bipartite.mechanisms.design import compiled_anchors  # noqa: PLC0415 (numba is loaded only when it pays)
        except Exception:  # noqa: BLE001 (NumPy gives the same anchors without the compiler)
            return None
        if self._matrix is None and self._metric == "haversine":
            # A square doubles a relative error.
            self.error = compiled_anchors.LOSS_ERROR * (1 if self._loss is None else 2)
        return compiled_anchors

    def _source(self, items: Wholes) -> tuple[Any, ...]:
        """The arguments from which the kernels compute the losses of these items."""
        none = np.zeros((0, 0))
        kernels = self._kernels
        if self.vectors is None:
            return kernels.MATRIX, 1.0, False, none, none, self._matrix, items, self.symmetric
        kind = {"euclidean": kernels.EUCLIDEAN, "manhattan": kernels.MANHATTAN, "haversine": kernels.HAVERSINE}
        unit = 1 / (2 * UNIT) if self._metric == "haversine" else 2.0**-self._bits
        axes = np.ascontiguousarray(self.vectors[:, items])
        return kind[str(self._metric)], unit, self._loss is not None, axes, self.vectors, none, items, False


def blocks(count: int, losses_each: int) -> Iterator[slice]:
    """Slices of 0 … count for NumPy to work on, one at a time."""
    step = max(1, _LOSSES_A_BLOCK // max(1, losses_each))
    return (slice(start, start + step) for start in range(0, count, step))


@dataclass(frozen=True, slots=True)
class Cells:
    """A partition of a set into cells."""

    of: Wholes
    """The cell of every item of the domain."""
    sites: Wholes
    """One item of each cell, near its centre."""


def cells_of(losses: AnchorLosses, count: int) -> Cells:
    """About ``count`` cells of equal mass, by repeated halving along the widest axis; deterministic.

    Items without coordinates, and the points of small sets, are a cell each.
    """
    size = losses.size
    everyone = np.arange(size)
    if losses.vectors is None or size <= count:
        return Cells(everyone, everyone)
    mass = np.full(size, _LITTLE / size)
    mass[losses.items] += losses.prior
    cells = np.zeros(size, dtype=np.int64)
    sites: list[int] = []
    waiting = [(everyone, count)]
    while waiting:
        members, share = waiting.pop()
        here = losses.vectors[:, members]
        if share <= 1 or len(members) == 1:
            cells[members] = len(sites)
            middle = np.average(here, axis=1, weights=mass[members])
            sites.append(int(members[((here - middle[:, None]) ** 2).sum(axis=0).argmin()]))
            continue
        order = np.argsort(here[np.ptp(here, axis=1).argmax()], kind="stable")
        below = np.cumsum(mass[members[order]])
        left = share // 2
        cut = int(np.searchsorted(below, below[-1] * left / share)) + 1
        cut = min(max(cut, 1), len(members) - 1)
        waiting += [(members[order[:cut]], left), (members[order[cut:]], share - left)]
    return Cells(cells, np.array(sites))
