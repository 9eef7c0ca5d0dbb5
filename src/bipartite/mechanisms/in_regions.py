"""What mechanisms on regions share: tickets for each region, held as whole numbers of one total."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, TypeVar

import numpy as np

from bipartite.domains.regions import Regions
from bipartite.errors import BrokenPromiseError, DesignError, InputError
from bipartite.lottery import MAX_TOTAL, BlockLottery, Epsilon, log_between
from bipartite.lottery.order import farthest_near
from bipartite.lottery.regional import check_blocks
from bipartite.mechanisms.base import Mechanism

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from bipartite.mechanisms.design.regional import Split

# Tickets are whole, so a design aims this share below ε, and further where its tickets still exceed it.
_FIRST_MARGIN: Final = 2.0**-40
_MOST_MARGIN: Final = 2.0**-10


# What tickets may fall short of ε.
_LEAST: Final = 0.998
_Built = TypeVar("_Built")


class BlockRows(NamedTuple):
    """Tickets of every row of a mechanism in blocks, before any table is made."""

    tickets: Sequence[tuple[int, int, int]]
    """(near, far, outside) of each region."""
    total: int
    """What every row holds."""


def margins() -> Iterator[float]:
    """Shares of ε to keep back, growing until tickets fit."""
    margin = _FIRST_MARGIN
    while margin <= _MOST_MARGIN:
        yield margin
        margin *= 2


def no_tickets(budget: Epsilon) -> DesignError:
    """The refusal where no whole numbers keep ε."""
    return DesignError(f"2^52 tickets cannot keep ε={budget.text} on these regions; use another ε, or fewer places.")


def check_regions(regions: object, least: int = 1) -> None:
    """Refuse what is no partition, or one of too few regions."""
    if not isinstance(regions, Regions):
        msg = (
            f"Expected regions as bp.locations.Regions, got {type(regions).__name__}; "
            "make them with Regions.by_prefix(places) or Regions.of(places, labels)."
        )
        raise InputError(msg)
    if len(regions) < least:
        msg = f"Expected {least} regions or more, got {len(regions)}; use bp.BRR or bp.Anchored on all places."
        raise DesignError(msg)


def check_restored(mechanism: Mechanism, epsilon: str, *parts: object) -> None:
    """Assemble the mechanism of a spec from its parts; refuse rows of unequal totals, and tickets that exceed e^ε."""
    try:
        mechanism._assemble(*parts)  # type: ignore[attr-defined]  # every mechanism on regions has one
    except AssertionError:
        msg = "Expected rows of one total of at most 2^52; ask for another spec."
        raise BrokenPromiseError(msg) from None
    if not mechanism.keeps_promise(mechanism.largest_ratio()):
        msg = f"The tickets exceed e^ε for ε={epsilon}; do not report with this spec."
        raise BrokenPromiseError(msg)


class InBlocks(Mechanism):
    """A window of m_r near places in the true region r, and one chance for each place of all other regions."""

    __slots__ = ("_far", "_near", "_outside", "m", "regions")
    name: ClassVar[str]
    """What its spec calls it."""
    regions: Regions
    m: tuple[int, ...]
    """How many places are near in each region."""
    _lottery: BlockLottery
    _near: tuple[int, ...]
    _far: tuple[int, ...]
    _outside: tuple[int, ...]

    def _assemble(
        self,
        regions: Regions,
        budget: Epsilon,
        m: Sequence[int],
        tickets: Sequence[tuple[int, int, int]],
        total: int,
    ) -> None:
        """From (near, far, outside) of each region; near places that come first hold one more where a total asks so."""
        lottery = _lottery(regions, m, tickets, total)
        near, far, outside = (tuple(each) for each in zip(*tickets, strict=True))
        self._set(domain=regions.places, outputs=regions.places, _budget=budget, _lottery=lottery)
        self._set(regions=regions, m=tuple(m), _near=near, _far=far, _outside=outside)

    @classmethod
    def restore(
        cls, regions: Regions, epsilon: str, m: Sequence[int], tickets: Sequence[tuple[int, int, int]], total: int
    ) -> InBlocks:
        """The mechanism of a spec, after checking everything that its promise rests on."""
        sizes = regions.sizes.tolist()
        if len(m) != len(sizes) or not all(1 <= count < size for count, size in zip(m, sizes, strict=True)):
            msg = "Expected 1 ≤ m < the places of its region for every region; ask for another spec."
            raise BrokenPromiseError(msg)
        if not total <= MAX_TOTAL or len(tickets) != len(sizes) or any(min(each[:2]) < 1 for each in tickets):
            msg = (
                "Expected tickets of at least one for each region with one total of at most 2^52; ask for another spec."
            )
            raise BrokenPromiseError(msg)
        cls._check_outside([outside for _, _, outside in tickets])
        mechanism = cls.__new__(cls)
        check_restored(mechanism, epsilon, regions, Epsilon.of(epsilon), m, tickets, total)
        return mechanism

    @classmethod
    def _check_outside(cls, outside: Sequence[int]) -> None:
        """Refuse counts of a spec that outsiders cannot have."""
        if min(outside) < 1:
            msg = "Expected at least one ticket for every place from every region; ask for another spec."
            raise BrokenPromiseError(msg)

    def _tickets(self) -> list[tuple[int, int, int]]:
        return list(zip(self._near, self._far, self._outside, strict=True))

    def to_spec(self) -> dict[str, Any]:
        return {
            "bipartite": 4,
            "mechanism": self.name,
            "domain": self.domain.to_spec(),
            "epsilon": self._budget.text,
            "regions": spec_of(self.regions),
            "m": list(self.m),
            "tickets": [
                {"near": str(near), "far": str(far), "outside": str(outside)} for near, far, outside in self._tickets()
            ],
            "total": str(self._lottery.total),
        }

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (self.regions, self._budget.text, self.m, self._tickets(), self._lottery.total)
        return type(self).restore, parts

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.regions!r}, epsilon={self._budget.text})"


def spec_of(regions: Regions) -> dict[str, Any]:
    """Regions as a spec holds them."""
    return {"labels": regions.labels.tolist(), "names": list(regions.names)}


def window_tickets(total: int, size: int, m: int, growth: float) -> tuple[int, int]:
    """(near, far) of m near places among ``size`` that hold this total, near ≈ growth·far."""
    far = max(1, int(total / (m * growth + size - m)))
    return (total - (size - m) * far) // m, far


def aimed_below(
    budget: Epsilon,
    build: Callable[[float], _Built | None],
    ratio_of: Callable[[_Built], Fraction],
    *,
    least: float = _LEAST,
) -> _Built:
    """What ``build`` makes for an ε slightly below the budget, the first whose largest ratio keeps the budget.

    Refused where its realised ε falls below the share ``least`` of the budget: tickets are too few then.
    """
    for margin in margins():
        built = build(float(budget) * (1 - margin))
        if built is None:
            break
        ratio = ratio_of(built)
        if budget.allows(ratio.numerator, ratio.denominator):
            if float(log_between(ratio)[0]) < least * float(budget):
                break
            return built
    raise no_tickets(budget)


def block_ratio(sizes: Sequence[int], m: Sequence[int], rows: BlockRows) -> Fraction:
    """The largest ratio of the tickets of one place, from the counts of each region alone.

    Every place is near to itself and far from another of its region, so both counts stand in one column; it is exact
    but for the one ticket more that some near places hold, which is taken to be everywhere.
    """
    ratios = []
    for size, count, (near, far, outside), extra in zip(sizes, m, rows.tickets, _extras(sizes, m, rows), strict=True):
        held = [near + (extra > 0), far, *([outside] if outside else [])]
        ratios.append(Fraction(max(held), min(held)) if size > count else Fraction(1))
    return max(ratios)


def two_level_tickets(sizes: Sequence[int], split: Split) -> BlockRows | None:
    """(near, far, outside) of each region and the total of every row; None where they are too few.

    Every place of region r has c_r tickets from outsiders, and a row of region r holds n_r·c_r + D tickets inside: D is
    the same for all regions, so that all rows hold D + Σ_s n_s·c_s.
    """
    first = float(np.exp(split.region))
    shares = MAX_TOTAL / (first + len(sizes) - 1)
    outside = [int(shares / size) for size in sizes]
    if min(outside) < 1:
        return None
    given = sum(size * count for size, count in zip(sizes, outside, strict=True))
    # Floats may round the surplus up past the most tickets that a row may hold.
    surplus = min(int(shares * np.expm1(split.region)), MAX_TOTAL - given)
    tickets = []
    for size, m, count in zip(sizes, split.m, outside, strict=True):
        near, far = window_tickets(size * count + surplus, size, m, float(np.exp(split.place)))
        if min(near, far) < 1:
            return None
        tickets.append((near, far, count))
    return BlockRows(tickets, surplus + given)


def _extras(sizes: Sequence[int], m: Sequence[int], rows: BlockRows) -> list[int]:
    """How many near places of each region hold one ticket more, so that all rows hold the total."""
    given = [size * outside for size, (_, _, outside) in zip(sizes, rows.tickets, strict=True)]
    return [
        rows.total - sum(given) + given[region] - m[region] * near - (sizes[region] - m[region]) * far
        for region, (near, far, _) in enumerate(rows.tickets)
    ]


def _lottery(regions: Regions, m: Sequence[int], tickets: Sequence[tuple[int, int, int]], total: int) -> BlockLottery:
    sizes = regions.sizes
    check_blocks(sizes)
    extras = _extras(sizes.tolist(), m, BlockRows(tickets, total))
    blocks = []
    for region, ((near, far, _), extra) in enumerate(zip(tickets, extras, strict=True)):
        if not 0 <= extra < m[region] or max(near, far) > MAX_TOTAL:
            msg = "the rows of this lottery do not hold the same total"
            raise AssertionError(msg)
        blocks.append(_block(regions, region, m[region], near, far, extra))
    outside_of = np.array([outside for _, _, outside in tickets], dtype=np.int64)
    return BlockLottery(regions.labels, blocks, outside_of[regions.labels])


def _block(regions: Regions, region: int, m: int, near: int, far: int, extra: int) -> NDArray[np.int64]:
    """The tickets among the places of a region: near is decided in whole numbers, as for BRR."""
    members = regions.members(region)
    block = np.full((len(members), len(members)), far, dtype=np.int64)
    order = regions.places.order
    for row, x in enumerate(members.tolist()):
        distances = order.distances(x)[members]
        mask = farthest_near(row, distances, m).near(row, distances)
        chosen = np.flatnonzero(mask)
        block[row, chosen] = near
        block[row, chosen[:extra]] += 1
    return block
