"""Hadamard Response: a report is one integer, and reports are decoded by a fast transform."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.errors import InputError, shown
from bipartite.lottery import Epsilon, Tickets, TooFewTickets, issue_tickets
from bipartite.lottery.uniform import draw_below
from bipartite.mechanisms.categories.draw import Flat, FlatDraw, check_reports, refuse_rows
from bipartite.mechanisms.checks import check_choice, check_domain, too_few_tickets
from bipartite.mechanisms.spec.fields import counts, whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from bipartite.domains import Domain
    from bipartite.lottery import Stream

MOST_VALUES: Final = 2**24


@dataclass(frozen=True)
class Blocks(FlatDraw):
    """One number of K = B·b: the s = b/2 numbers of the value's set hold ``near`` tickets each, all others ``far``."""

    size: int
    blocks: int
    length: int
    tickets: Tickets
    slab = 2**13
    words_each = 1

    @property
    def numbers(self) -> int:
        """K = B·b: reports are 0 … K − 1."""
        return self.blocks * self.length

    @property
    def total(self) -> int:
        """W, the tickets of a row."""
        return self.tickets.total(self.length // 2, self.numbers)

    @property
    def support(self) -> tuple[Fraction, Fraction]:
        half = self.length // 2
        return Fraction(half * (self.tickets.near - self.tickets.far), self.total), Fraction(0)

    def largest_ratio(self) -> Fraction:
        """a/b: some number is in the set of one value and not in that of another."""
        return self.tickets.ratio

    @property
    def outputs(self) -> int:  # type: ignore[override]
        """K: the reports are few enough to list."""
        return self.numbers

    def rows(self, start: int, stop: int) -> NDArray[np.int64]:
        """The tickets of every number, for values start … stop − 1."""
        block, row = np.divmod(np.arange(start, stop, dtype=np.int64)[:, None], self.length - 1)
        at, number = np.divmod(np.arange(self.numbers, dtype=np.int64)[None, :], self.length)
        shared = np.bitwise_and(row + 1, number)
        near = (at == block) & (_parity(shared) == 0)
        return np.where(near, self.tickets.near, self.tickets.far)

    def variances(self, frequencies: object, people: int) -> NDArray[np.float64]:
        """[2sb/W + F·p − f·p²]/(n·p²), with the share F of the whole block; see the mechanism."""
        shares = np.asarray(frequencies, dtype=np.float64)
        p = self.support[0]
        padded = np.zeros(self.blocks * (self.length - 1))
        padded[: len(shares)] = shares
        blocks = np.minimum(padded.reshape(self.blocks, -1).sum(axis=1), 1.0)
        if self.blocks == 1:
            blocks = np.ones(1)  # all values are in the only block
        together = np.repeat(blocks, self.length - 1)[: len(shares)]
        outside = Fraction(self.length * self.tickets.far, self.total)
        variances: NDArray[np.float64] = together * float(1 / (people * p)) + float(outside / (people * p * p))
        return variances - shares / people

    def mean_variance(self) -> Fraction:
        """The variance of a share from one report, on average over a uniform population, less a term common to all.

        (2sb/W + F·p)/p², see the mechanism, with the average ΣF² over all blocks in place of F.
        """
        p, held = self.support[0], self.length - 1
        full, rest = divmod(self.size, held)
        together = Fraction(full * held**2 + rest**2, self.size**2)
        return (Fraction(self.length * self.tickets.far, self.total) + together * p) / p**2

    def empty(self, people: int) -> NDArray[Any]:
        return np.empty(people, dtype=np.uint32)

    def rows_of(self, indices: NDArray[np.int64], stream: Stream) -> NDArray[np.uint32]:
        ticket = draw_below(self.total, len(indices), stream)
        return self._owners(indices, ticket)

    def _owners(self, indices: NDArray[np.int64], ticket: NDArray[np.uint64]) -> NDArray[np.uint32]:
        """The owner of each ticket: the s numbers of the set hold a each, then the rest of the block b, then others b.

        Within a block, numbers are ordered by their bits without the position of the lowest 1 of the row.
        """
        half, near = self.length // 2, self.tickets.near
        shift = np.uint64(self.tickets.far.bit_length() - 1)
        near_total = np.uint64(half * near)
        is_near = ticket < near_total
        # Both outcomes are computed and one is chosen.
        far = ((ticket - near_total) >> shift).view(np.int64)
        place = np.where(is_near, (ticket // np.uint64(near)).view(np.int64), far)
        block, row = indices // (self.length - 1), indices % (self.length - 1) + 1
        start = block * self.length
        # Number `place` of the set, or of the rest of the block: one bit is inserted at the lowest 1 of the row to make
        # the parity right.
        lowest = row & -row
        spread = ((place & ~(lowest - 1)) << 1) | (place & (lowest - 1))
        odd = _parity(spread & row) ^ (~is_near).astype(np.int64)
        inside = start + (spread | (lowest * odd))
        beyond = place - half
        beyond += self.length * (beyond >= start)
        return np.where(is_near | (place < half), inside, beyond).astype(np.uint32)

    def count(self, reports: object) -> NDArray[np.int64]:
        found = check_reports(reports, np.uint32, None)
        refuse_rows(found >= self.numbers, f"reports below {self.numbers}")
        numbers = np.bincount(found, minlength=self.numbers).reshape(self.blocks, self.length)
        transform = walsh_hadamard(numbers.astype(np.int64))
        return np.ascontiguousarray(transform[:, 1:].reshape(-1)[: self.size])


class HadamardResponse(Flat):
    r"""Hadamard Response: report one of K numbers; half of a block of them is assigned to the value.

    The K = B·b numbers form B blocks of b. Value x belongs to one block and to one row v ≥ 1 of the b × b Hadamard
    matrix (Sylvester's: entry (v, y) is −1 to the number of ones in v AND y). The b/2 numbers of the block whose entry
    is +1 are the set of the value; each of them has weight e\ :sup:`ε`, every other number weight 1. b is the smallest
    power of two with b ≥ N/B + 1, and B is the power of two below 2N with the least variance of a share, averaged over
    a uniform population. (Acharya, Sun and Zhang use the largest B below e\ :sup:`ε`, which has up to 1.5 times that
    variance, because b jumps.) It works for every ε, and N need not be a power of two.

    Parameters
    ----------
    domain
        Any domain of at most 2^24 values.
    epsilon
        The privacy budget of one report.
    blocks
        B, a power of two below 2N; None for the best.

    Guarantee
    ---------
    ε-LDP for each report, exactly (:func:`bipartite.verify`): integer tickets a and b with a/b ≤ e\ :sup:`ε`, and every
    value has the same number of both.

    Notes
    -----
    A report is one ``uint32``, drawn by one ticket. The support of a value is the number of reports in its set minus
    the number in the rest of its block, computed by one fast Walsh–Hadamard transform of integers: exact, and possibly
    negative. With s = b/2 and W tickets in all, a report adds on average p = s(a − b)/W to the support of the true
    value and exactly 0 to any other. Estimates support/(n·p) are unbiased, with variance
    [2sb/W + F·s(a − b)/W − f·p²]/(n·p²) for a share f in a block with total share F.

    Reference
    ---------
    Acharya, Sun, Zhang: *Hadamard Response: Estimating Distributions Privately, Efficiently, and with Little
    Communication* (AISTATS 2019).

    Examples
    --------
    >>> import bipartite as bp
    >>> mech = HadamardResponse(bp.Integers(1, 100), epsilon=1)
    >>> mech.blocks, mech.block_size, bp.verify(mech).holds
    (1, 128, True)
    """

    __slots__ = ()
    schema = {"blocks": whole(), "block-size": whole(), "tickets": counts(Tickets)}
    chosen = ("blocks",)
    draw: Blocks

    def __init__(self, domain: Domain, epsilon: object, *, blocks: int | None = None) -> None:
        budget = Epsilon.of(epsilon)
        check_domain(domain, most=MOST_VALUES, instead="use bp.OLH, or fewer values")
        size = len(domain)
        powers = [2**power for power in range(size.bit_length() + 1) if 2**power < 2 * size]
        if blocks is not None:
            powers = [check_choice("blocks", blocks, 1, powers[-1])]
        if powers[0].bit_count() != 1:
            raise InputError(f"Expected blocks as a power of two, got {shown(blocks)}; leave it out for the best.")
        found = [_plan(budget, size, power) for power in powers]
        plans = [plan for plan in found if isinstance(plan, Blocks)]
        if not plans:
            why = next(each for each in found if isinstance(each, TooFewTickets))
            raise too_few_tickets(budget, why, size, "values")
        best = min(plans, key=Blocks.mean_variance)
        self._hold(domain, budget, {"blocks": best.blocks, "block-size": best.length, "tickets": best.tickets})

    @classmethod
    def draw_of(cls, size: int, facts: Mapping[str, Any]) -> FlatDraw:
        return Blocks(size, facts["blocks"], facts["block-size"], facts["tickets"])

    @property
    def blocks(self) -> int:
        """B, the number of blocks."""
        return int(self.facts["blocks"])

    @property
    def block_size(self) -> int:
        """b, the number of numbers in a block, to which at most b − 1 values belong."""
        return int(self.facts["block-size"])

    @property
    def numbers(self) -> int:
        """K = B·b: reports are 0 … K − 1."""
        return self.draw.numbers


def _plan(budget: Epsilon, size: int, blocks: int) -> Blocks | TooFewTickets:
    """The draw with this many blocks, as short as possible, or the reason why tickets cannot keep ε."""
    length = 2
    while (length - 1) * blocks < size:
        length *= 2
    issued = issue_tickets(budget, length // 2, blocks * length)
    return issued if isinstance(issued, TooFewTickets) else Blocks(size, blocks, length, issued)


def _parity(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Whether the number of ones is odd, for numbers below 2^32."""
    for shift in (16, 8, 4, 2, 1):
        numbers = numbers ^ (numbers >> shift)
    return numbers & 1


def walsh_hadamard(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Each row times the Hadamard matrix of its length, a power of two; in integers."""
    count, length = rows.shape
    half = 1
    while half < length:
        pairs = rows.reshape(count, -1, 2, half)
        rows = np.stack((pairs[:, :, 0] + pairs[:, :, 1], pairs[:, :, 0] - pairs[:, :, 1]), axis=2)
        half *= 2
    return rows.reshape(count, length)
