"""Rows of tickets on places, read from specs of the paper's protocols; ``reproduction.places`` designs them.

``lsrr`` (calibrated), ``two-level`` and ``region-weighted`` keep ε, so that their specs load, draw, verify and estimate
forever. ``planar-laplace``, ``within-region`` and ``lsrr`` as published promise less than ε-LDP, and are refused here.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

import numpy as np

from bipartite.domains import Points
from bipartite.errors import BrokenPromiseError, InputError, SpecError
from bipartite.lottery import MAX_TOTAL, BlockLottery, WeightLottery
from bipartite.lottery.order import farthest_near
from bipartite.lottery.regional import check_blocks
from bipartite.mechanisms.base import Mechanism
from bipartite.mechanisms.spec.parts import is_ticket_count, is_whole
from bipartite.mechanisms.tabled import Tabled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bipartite.mechanisms.spec.parts import Fields

    Whole = NDArray[np.int64]

_LEAST_PLACES: Final = 2


class LSRR(Tabled):
    """L-SRR, calibrated: a ticket count for every pair of places."""

    __slots__ = ()
    fields = Tabled.fields | {"variant"}
    variants: ClassVar[tuple[str, ...]] = ("calibrated",)


class _InRegions(Mechanism):
    """Tickets for each region of places, with one total for all rows."""

    __slots__ = ("_tickets", "labels", "names")
    fields = frozenset({"regions", "tickets", "total"})
    counts: ClassVar[tuple[str, ...]]
    """The names of the ticket counts of a region in its spec."""
    labels: Whole
    """The region of each place, 0 … R − 1."""
    names: tuple[str, ...]
    """The name of each region."""
    _lottery: BlockLottery | WeightLottery
    _tickets: Sequence[tuple[int, ...]]

    @classmethod
    def read(cls, fields: Fields) -> Self:
        places = fields.found
        if places is not None and not (isinstance(places, Points) and places.metric == "haversine"):
            fields.note("Expected domain as points with metric 'haversine'; regions are of places.")
        if not is_ticket_count(fields["total"]):
            fields.note("Expected total as a whole number of at most 16 digits, as a string.")
        tickets = _read_tickets(fields, cls.counts)
        labels, names = _read_regions(fields)
        sizes, total = np.bincount(labels, minlength=len(names)), int(fields["total"])
        try:
            lottery = cls._of_spec(fields, labels, sizes, tickets, total)
        except AssertionError:
            raise BrokenPromiseError("Expected rows of one total of at most 2^52; ask for another spec.") from None
        except SpecError:
            raise
        except InputError as error:
            # No design could have produced this spec.
            raise BrokenPromiseError(str(error)) from None
        return cls._made(fields, labels, names, tickets, lottery).checked()

    @classmethod
    @abstractmethod
    def _of_spec(
        cls, fields: Fields, labels: Whole, sizes: Whole, tickets: Sequence[tuple[int, ...]], total: int
    ) -> BlockLottery | WeightLottery:
        """The lottery with these numbers; raises AssertionError if its rows have different totals."""

    def _assemble(
        self,
        fields: Fields,
        labels: Whole,
        names: tuple[str, ...],
        tickets: Sequence[tuple[int, ...]],
        lottery: BlockLottery | WeightLottery,
    ) -> None:
        self._set(domain=fields.domain, outputs=fields.domain, _budget=fields.budget, _lottery=lottery)
        self._set(labels=labels, names=names, _tickets=tickets)

    def parts(self) -> dict[str, Any]:
        tickets = [dict(zip(self.counts, map(str, each), strict=True)) for each in self._tickets]
        regions = {"labels": self.labels.tolist(), "names": list(self.names)}
        return {"regions": regions, "tickets": tickets, "total": str(self._lottery.total)}

    def __repr__(self) -> str:
        sizes = self._lottery.layout.sizes
        regions = f"<{len(sizes)} regions of {sizes.min()} to {sizes.max()} places>"
        return f"{type(self).__name__}({regions}, epsilon={self._budget.text})"


def _read_tickets(fields: Fields, names: tuple[str, ...]) -> list[tuple[int, ...]]:
    given = fields["tickets"]
    rows = given if isinstance(given, list) and all(isinstance(each, Mapping) for each in given) else []
    if rows and all(set(each) == set(names) and all(map(is_ticket_count, each.values())) for each in rows):
        return [tuple(int(each[name]) for name in names) for each in rows]
    wanted = ", ".join(f"'{name}': '…'" for name in names)
    fields.note(f"Expected tickets as {{{wanted}}} for each region, whole numbers of at most 16 digits as strings.")
    return []


def _read_regions(fields: Fields) -> tuple[Whole, tuple[str, ...]]:
    """The region of each place, and the names of the regions: each has two places or more."""
    given, size = fields["regions"], len(fields.domain)
    if not isinstance(given, Mapping) or set(given) != {"labels", "names"}:
        fields.refuse("Expected regions as {'labels': […], 'names': […]}; ask for another spec.")
    labels, names = given["labels"], given["names"]
    whole = isinstance(labels, list) and all(is_whole(each) and 0 <= each < size for each in labels)
    if not whole or not isinstance(names, list) or not all(isinstance(each, str) for each in names) or not names:
        fields.refuse("Expected labels of regions as whole numbers from 0, and names as text; ask for another spec.")
    numbers = np.array(labels, dtype=np.int64)
    if numbers.shape != (size,) or numbers.max() >= len(names):
        fields.refuse(
            f"Expected the region of each of {size} places, from 0 to {len(names) - 1}. Ask for another spec."
        )
    if np.bincount(numbers, minlength=len(names)).min() < _LEAST_PLACES or len(set(names)) != len(names):
        fields.refuse("Expected regions of at least two places, each with its own name. Ask for another spec.")
    return numbers, tuple(names)


class TwoLevel(_InRegions):
    """A window of m_r near places in the true region r, and a fixed probability for each place elsewhere."""

    __slots__ = ("m",)
    fields: ClassVar[frozenset[str]] = _InRegions.fields | {"m"}
    counts = ("near", "far", "outside")
    m: tuple[int, ...]
    """The number of near places in each region."""

    @classmethod
    def read(cls, fields: Fields) -> Self:
        if not (isinstance(fields["m"], list) and all(map(is_whole, fields["m"]))):
            fields.note("Expected m as a list of whole numbers, one per region.")
        return super().read(fields)

    @classmethod
    def _of_spec(
        cls, fields: Fields, labels: Whole, sizes: Whole, tickets: Sequence[tuple[int, ...]], total: int
    ) -> BlockLottery:
        m = fields["m"]
        if len(m) != len(sizes) or not all(1 <= count < size for count, size in zip(m, sizes.tolist(), strict=True)):
            raise BrokenPromiseError("Expected 1 ≤ m < the number of places for every region; ask for another spec.")
        if not total <= MAX_TOTAL or len(tickets) != len(sizes):
            raise BrokenPromiseError(
                "Expected tickets of at least one for each region with one total of at most 2^52; ask for another spec."
            )
        check_blocks(sizes)
        given = [size * outside for size, (_, _, outside) in zip(sizes.tolist(), tickets, strict=True)]
        blocks = []
        for region, (near, far, _) in enumerate(tickets):
            own, size = m[region], int(sizes[region])
            # The first near places hold one more ticket, so that all rows have the total.
            extra = total - sum(given) + given[region] - own * near - (size - own) * far
            if not 0 <= extra < own or max(near, far) > MAX_TOTAL:
                raise AssertionError("the rows of this lottery do not hold the same total")
            blocks.append(_block(fields.domain, np.flatnonzero(labels == region), own, near, far, extra))
        outside_of = np.array([outside for _, _, outside in tickets], dtype=np.int64)
        return BlockLottery(labels, blocks, outside_of[labels])

    def _assemble(self, fields: Fields, *parts: Any) -> None:  # noqa: ANN401
        super()._assemble(fields, *parts)
        self._set(m=tuple(fields["m"]))

    def parts(self) -> dict[str, Any]:
        return super().parts() | {"m": list(self.m)}


def _block(places: Any, members: Whole, m: int, near: int, far: int, extra: int) -> Whole:  # noqa: ANN401 (points)
    """The tickets among the places of a region; near places are found in integer arithmetic, as for BRR."""
    block = np.full((len(members), len(members)), far, dtype=np.int64)
    for row, x in enumerate(members.tolist()):
        distances = places.order.distances(x)[members]
        chosen = np.flatnonzero(farthest_near(row, distances, m).near(row, distances))
        block[row, chosen] = near
        block[row, chosen[:extra]] += 1
    return block


class RegionWeighted(_InRegions):
    """One count for every place of the true region, another for all other places."""

    __slots__ = ()
    counts = ("own", "other")

    @classmethod
    def _of_spec(
        cls,
        fields: Fields,  # noqa: ARG003 (two levels need it)
        labels: Whole,
        sizes: Whole,
        tickets: Sequence[tuple[int, ...]],
        total: int,
    ) -> WeightLottery:
        if len(tickets) != len(sizes) or len(sizes) < 2 or not total <= MAX_TOTAL:  # noqa: PLR2004
            raise BrokenPromiseError(
                "Expected tickets of two regions or more with one total of at most 2^52; ask for another spec."
            )
        own, other = np.array(tickets, dtype=np.int64).T
        return WeightLottery(labels, own, other, total)
