"""Windows: m neighbouring outputs hold ``near`` tickets each, all others ``far``; on a line, or around a circle.

Draw: take a random 64-bit word w; u = ⌊w·W/2^64⌋ is a ticket; redraw if the low half of w·W is below 2^64 mod W, which
makes u exactly uniform (Lemire 2019). Tickets below m·a belong to near outputs in ascending order, the rest to far
ones. Around a circle the order starts at the first near output.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.lottery.channel import Some
from bipartite.lottery.deal import Deal, all_inside
from bipartite.lottery.kernel import line_kernels
from bipartite.lottery.tickets import UNEQUAL
from bipartite.lottery.uniform import WORD_BITS, tickets_below

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.lottery.channel import Array, Channel, Seen
    from bipartite.lottery.deal import Drawn, Index, Kernel, Runs, Whole, Words
    from bipartite.lottery.tickets import Tickets

# Values per block: temporary arrays of 64 KiB stay in the cache and are reused by malloc. From 128 KiB on, the C
# library requests new pages each time (blocks of 2^14 took twice as long per value, measured).
_BLOCK: Final = 2**13


@dataclass(frozen=True, eq=False)
class Window(Deal):
    """Windows on a line.

    The near outputs of input x are start(x) … start(x) + m − 1 with start(x) = clamp(x + shift, 0, M − m). With clamped
    edges M = N and shift = −⌊m/2⌋; with padded edges M = N + m − 1 and shift = 0, so that every window is centred.
    With ``groups``, the window of input x starts at groups[x]: inputs of one group share a row.
    """

    inputs: int
    outputs: int
    m: int
    shift: int
    tickets: Tickets
    word_bits: int = WORD_BITS
    groups: Whole | None = None
    total: int = field(init=False)
    near_total: int = field(init=False)
    redraw_below: int = field(init=False)

    def __post_init__(self) -> None:
        total = self.tickets.total(self.m, self.outputs)
        self._set(total=total, near_total=self.m * self.tickets.near, redraw_below=2**self.word_bits % total)
        if (groups := self.groups) is not None:
            inside = groups.min() >= 0 and groups.max() < self.windows
            if not inside or len(groups) != self.inputs or self.shift:
                raise AssertionError("a group of this lottery has no row")
            self._set(groups=groups)

    @property
    def windows(self) -> int:
        """M − m + 1, the number of windows among the outputs."""
        return self.outputs - self.m + 1

    def start(self, x: int) -> int:
        """The first near output of input x."""
        return min(max(x + self.shift, 0), self.outputs - self.m) if self.groups is None else int(self.groups[x])

    def starts(self, inputs: Whole) -> Whole:
        """The first near outputs of these inputs."""
        return np.clip(inputs + self.shift, 0, self.outputs - self.m) if self.groups is None else self.groups[inputs]

    def runs(self, x: Index) -> Runs:
        """The window, and what is far before and after it."""
        start = self.start(x) if isinstance(x, int) else self.starts(x)
        near, far = self.tickets.near, self.tickets.far
        return (start, self.m, near), (0, start, far), (start + self.m, self.outputs - self.m - start, far)

    def owner(self, x: int, ticket: int) -> int:
        """Without the runs: the time should not tell on which side of the window a far report lies."""
        start = self.start(x)
        if ticket < self.near_total:
            return start + ticket // self.tickets.near
        far = (ticket - self.near_total) // self.tickets.far
        return far if far < start else far + self.m

    def kernel(self, values: int) -> Kernel:
        compiled = line_kernels(values)
        return self.draw_block if compiled is None else compiled.line_kernel(self)

    def draw_block(self, codes: Whole, reports: Whole, words: Words, code_offset: int, report_offset: int) -> Drawn:
        """In blocks that fit in the cache; the near and the far outcome are both computed, whichever it is."""
        done = used = 0
        while done < len(codes) and used < len(words):
            ticket, taken = tickets_below(self.total, words[used : used + _BLOCK], min(_BLOCK, len(codes) - done))
            block = slice(done, done + len(ticket))
            start = codes[block] - np.int64(code_offset)
            if not all_inside(start, self.inputs):
                return done, used, False
            if self.groups is not None:
                start = self.groups[start]
            start += np.int64(self.shift)
            np.maximum(start, np.int64(0), out=start)
            np.minimum(start, np.int64(self.outputs - self.m), out=start)

            is_near = ticket < np.uint64(self.near_total)
            near = (ticket // np.uint64(self.tickets.near)).view(np.int64)
            near += start
            ticket -= np.uint64(self.near_total)
            ticket >>= np.uint64(self.tickets.far.bit_length() - 1)
            far = ticket.view(np.int64)
            far = np.where(far < start, far, far + np.int64(self.m))
            np.add(np.where(is_near, near, far), np.int64(report_offset), out=reports[block])
            done, used = block.stop, used + taken
        return done, used, True

    def largest_ratio(self) -> Fraction:
        """The largest ratio of two inputs' tickets for one output, exactly, in O(1), or O(N) with groups.

        Without groups start(x) stays or rises by one from one input to the next, so the windows are exactly those from
        start(0) to start(N−1). If the first and the last lie within the outputs, every near-set has exactly m items and
        every row the same total; some output is near for one input and far for another if and only if two windows
        differ. Rows of unequal totals, or a window outside the outputs, are refused.
        """
        if self.groups is None:
            first, last = self.start(0), self.start(self.inputs - 1)
        else:
            first, last = int(self.groups.min()), int(self.groups.max())
        if not 0 <= first <= last <= self.outputs - self.m or self.total != self.tickets.total(self.m, self.outputs):
            raise AssertionError(UNEQUAL)
        return max(self.tickets.ratio, 1 / self.tickets.ratio) if first < last else Fraction(1)

    # The matrix is q everywhere, and q + excess on the window.

    has_cells = True

    @property
    def q(self) -> float:
        """The probability of a far output."""
        return self.tickets.far / self.total

    @property
    def excess(self) -> float:
        """How much more likely a near output is."""
        return (self.tickets.near - self.tickets.far) / self.total

    @property
    def rank(self) -> int:
        """The rank of the matrix of all windows: windows that differ are independent."""
        return self.windows

    @functools.cached_property
    def slides(self) -> bool:
        """Whether the inputs have all windows, in order: padded BRR, GRR, Square Wave, and distinct rows."""
        if self.inputs != self.windows or self.shift:
            return False
        return self.groups is None or bool((self.groups == np.arange(self.inputs)).all())

    @functools.cached_property
    def _starts(self) -> Whole:
        return self.starts(np.arange(self.inputs))

    @property
    def line(self) -> Window | None:
        """The deal itself, if its windows move along a line of values."""
        return self if self.groups is None else None

    def limits(self) -> tuple[Array, Array]:
        """Far and near."""
        return np.full(self.outputs, self.q), np.full(self.outputs, self.tickets.near / self.total)

    def channel(self) -> Channel:
        return self

    def distinct_rows(self) -> tuple[Whole | None, Window]:
        """All windows, and which of them each input has."""
        if self.slides:
            return None, self
        return self._starts, Window(self.windows, self.outputs, self.m, 0, self.tickets, self.word_bits)

    def forward(self, f: Array) -> Array:
        spread = np.empty((*f.shape[:-1], self.outputs))
        self.forward_into(f, spread, np.empty((*f.shape[:-1], self.windows + 1)))
        return spread

    def backward(self, v: Array) -> Array:
        means = np.empty((*v.shape[:-1], self.inputs))
        self.backward_into(v, means, np.empty((*v.shape[:-1], self.outputs + 1)))
        return means

    def forward_into(self, f: Array, spread: Array, scratch: Array) -> None:
        """By running sums; the shares of inputs with one window are added up first."""
        if not self.slides:
            added = [np.bincount(self._starts, row, self.windows) for row in f.reshape(-1, self.inputs)]
            f = np.array(added, dtype=np.float64).reshape(*f.shape[:-1], self.windows)
        running = _cumulative(f, scratch)
        spread[..., : self.windows] = running[..., 1:]
        spread[..., self.windows :] = running[..., -1:]
        spread[..., self.m - 1 :] -= running[..., :-1]
        spread *= self.excess
        spread += self.q * running[..., -1:]

    def backward_into(self, v: Array, means: Array, scratch: Array) -> None:
        """By running sums: from where each window starts to where it ends."""
        running = _cumulative(v, scratch)
        if self.slides:
            np.subtract(running[..., self.m :], running[..., : self.windows], out=means)
        else:
            np.subtract(running[..., self._starts + self.m], running[..., self._starts], out=means)
        means *= self.excess
        means += self.q * running[..., -1:]

    def cells(self, values: Whole) -> tuple[Array, Whole | None]:
        """The rows change only where a window begins or ends."""
        first = self.starts(values)
        changes = np.concatenate([np.zeros(1, np.int64), first, first + self.m])
        cuts = np.unique(changes[changes < self.outputs])
        near = (cuts >= first[:, None]) & (cuts < first[:, None] + self.m)
        return np.where(near, self.q + self.excess, self.q), cuts

    def distinct(self, seen: Seen) -> tuple[Whole | None, Channel]:
        """Two windows are equal on the outputs seen if none was seen between their starts, nor between their ends.

        Disjoint windows in which nothing was seen are equal too, but get no share in any fit. Windows of one output
        are not merged: they have a closed form.
        """
        firsts, group_of = np.arange(self.windows), None if self.slides else self._starts
        before = np.concatenate([np.zeros(1, np.int64), np.cumsum(seen)])
        moves = np.diff(before[: self.windows]) + np.diff(before[self.m :]) > 0
        if self.m > 1 and not moves.all():
            number = np.concatenate([np.zeros(1, np.int64), np.cumsum(moves)])
            firsts, group_of = firsts[np.append(True, moves)], number if group_of is None else number[group_of]
        if group_of is None:
            return None, self
        present, group_of = np.unique(group_of, return_inverse=True)
        firsts = firsts[present]
        return group_of, Window(len(firsts), self.outputs, self.m, 0, self.tickets, self.word_bits, firsts)


def _cumulative(values: Array, scratch: Array) -> Array:
    running = scratch[..., : values.shape[-1] + 1]
    running[..., 0] = 0.0
    np.cumsum(values, axis=-1, out=running[..., 1:])
    return running


@dataclass(frozen=True, eq=False)
class Ring(Deal):
    """The same window turned around a circle: the report of x is x − ⌊m/2⌋ + K modulo N, and K is one draw on a line.

    The near outputs of x are x − ⌊m/2⌋ … x − ⌊m/2⌋ + m − 1 modulo N: of two outputs equally far from x, the one before
    it counts as nearer, wherever x is, so that the law is invariant under rotation.
    """

    inputs: int
    m: int
    tickets: Tickets
    word_bits: int = WORD_BITS
    outputs: int = field(init=False)
    total: int = field(init=False)
    turn: Window = field(init=False)
    """The law of K, the report's offset from the first near output: a window that starts at 0."""

    def __post_init__(self) -> None:
        turn = Window(1, self.inputs, self.m, 0, self.tickets, self.word_bits)
        self._set(outputs=self.inputs, total=turn.total, turn=turn)

    def start(self, x: Index) -> Index:
        """The first near output of input x, or of several."""
        return (x - self.m // 2) % self.inputs

    def runs(self, x: Index) -> Runs:
        """The window and the rest, either of which may continue at output 0."""
        size, m, near, far = self.inputs, self.m, self.tickets.near, self.tickets.far
        start = self.start(x)
        end = (start + m) % size
        near_wraps = (start + m > size) * (start + m - size)
        far_wraps = (end > m) * (end - m)
        return (
            (start, m - near_wraps, near),
            (0, near_wraps, near),
            (end, size - m - far_wraps, far),
            (0, far_wraps, far),
        )

    def owner(self, x: int, ticket: int) -> int:
        """That of a line, turned."""
        return int(self.start(x) + self.turn.owner(0, ticket)) % self.inputs

    def kernel(self, values: int) -> Kernel:
        """That of a line, turned."""
        return self.around(self.turn.kernel(values))

    def draw_block(self, codes: Whole, reports: Whole, words: Words, code_offset: int, report_offset: int) -> Drawn:
        return self.around(self.turn.draw_block)(codes, reports, words, code_offset, report_offset)

    def around(self, turn: Kernel) -> Kernel:
        """A kernel that draws K with a kernel of a line and adds it to the first near output, modulo N."""

        def draw(codes: Whole, reports: Whole, words: Words, code_offset: int, report_offset: int) -> Drawn:
            index = codes - np.int64(code_offset)
            if not all_inside(index, self.inputs):
                return 0, 0, False
            done, used, _ = turn(np.zeros_like(index), reports, words, 0, 0)
            reports[:done] += index[:done]
            reports[:done] -= np.int64(self.m // 2)
            reports[:done] %= np.int64(self.inputs)  # non-negative, since the divisor is positive
            reports[:done] += np.int64(report_offset)
            return done, used, True

        return draw

    def largest_ratio(self) -> Fraction:
        """The largest ratio of two inputs' tickets for one output, exactly.

        All rows are rotations of one row with m near outputs, so they hold the same total; with 1 ≤ m < N every output
        is near for m inputs and far for the others.
        """
        if not 1 <= self.m < self.inputs:
            raise AssertionError("a window on a ring has fewer outputs than the ring")
        return max(self.tickets.ratio, 1 / self.tickets.ratio)

    # The matrix is circulant.

    @property
    def ring(self) -> Ring:
        return self

    @property
    def classes(self) -> int:
        """The greatest common divisor g of m and N: the distribution of x mod g is not identifiable."""
        return math.gcd(self.m, self.inputs)

    @property
    def rank(self) -> int:
        """The rank of the matrix."""
        return self.inputs - self.classes + 1

    def channel(self) -> Channel:
        return self

    def distinct_rows(self) -> tuple[None, Ring]:
        """All rows differ."""
        return None, self

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
        found: Array = self.turn.excess * sums + self.turn.q * values.sum(axis=-1, keepdims=True)
        return found

    has_cells = True

    def cells(self, values: Whole) -> tuple[Array, Whole | None]:
        """The rows change only where a window begins or ends."""
        first = self.start(values)
        cuts = np.unique(np.concatenate([np.zeros(1, np.int64), first, (first + self.m) % self.inputs]))
        near = (cuts - first[:, None]) % self.inputs < self.m
        return np.where(near, self.turn.q + self.turn.excess, self.turn.q), cuts

    def distinct(self, seen: Seen) -> tuple[Whole | None, Channel]:
        """Neighbours are equal on the outputs seen if neither what leaves the window nor what enters it was seen."""
        first = self.start(np.arange(self.inputs))
        moves = seen[first] | seen[(first + self.m) % self.inputs]
        if moves.all() or not moves.any():
            return None, self
        # Value x + 1 begins a group if the window of x moves; the first group continues the last one.
        group_of = np.concatenate([np.zeros(1, np.int64), np.cumsum(moves[:-1])])
        group_of[group_of == group_of[-1]] *= int(moves[-1])
        _, chosen, group_of = np.unique(group_of, return_index=True, return_inverse=True)
        return group_of, Some(self, chosen)

    def factors(self) -> NDArray[np.complex128]:
        """The eigenvalues λ_k for k = 0 … ⌊N/2⌋, exactly zero for lost frequencies."""
        near = np.zeros(self.inputs)
        near[(np.arange(self.m) - self.m // 2) % self.inputs] = self.turn.excess
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
