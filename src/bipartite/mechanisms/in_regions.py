"""The common base of mechanisms on regions: integer tickets for each region, with one total for all rows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self, TypeVar

import numpy as np

from bipartite.domains import Points
from bipartite.domains.regions import Regions
from bipartite.errors import BrokenPromiseError, DesignError, InputError, SpecError
from bipartite.lottery import MAX_TOTAL, BlockLottery, Epsilon, log_between
from bipartite.lottery.order import farthest_near
from bipartite.lottery.regional import check_blocks
from bipartite.mechanisms.base import Mechanism
from bipartite.mechanisms.spec.parts import is_ticket_count, is_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Protocol

    from numpy.typing import NDArray

    from bipartite.mechanisms.design.regional import Split
    from bipartite.mechanisms.spec.parts import Fields

    class _Rows(Protocol):
        def largest_ratio(self) -> Fraction: ...


# Tickets are integers, so a design aims below ε by this share, and by more while its tickets still exceed ε.
_FIRST_MARGIN: Final = 2.0**-40
_MOST_MARGIN: Final = 2.0**-10
# The least realised ε, as a share of ε.
_LEAST: Final = 0.998
_Built = TypeVar("_Built", bound="_Rows")


@dataclass(frozen=True, slots=True)
class BlockRows:
    """The tickets of all rows of a mechanism in blocks, before any table is made."""

    sizes: Sequence[int]
    """The number of places in each region."""
    m: Sequence[int]
    """The number of near places in each region."""
    tickets: Sequence[tuple[int, int, int]]
    """(near, far, outside) of each region."""
    total: int
    """The total of every row."""

    def extras(self) -> list[int]:
        """The number of near places in each region that hold one more ticket, so that all rows have the total."""
        given = [size * outside for size, (_, _, outside) in zip(self.sizes, self.tickets, strict=True)]
        return [
            self.total - sum(given) + own - m * near - (size - m) * far
            for own, size, m, (near, far, _) in zip(given, self.sizes, self.m, self.tickets, strict=True)
        ]

    def largest_ratio(self) -> Fraction:
        """The largest ratio of the tickets of one place, computed from the counts of each region alone.

        Every place is near itself and far from some other place of its region, so both counts occur in one column. An
        upper bound: the extra ticket that some near places hold is assumed for all of them.
        """
        ratios = []
        for size, m, (near, far, outside), extra in zip(self.sizes, self.m, self.tickets, self.extras(), strict=True):
            held = [near + (extra > 0), far, *([outside] if outside else [])]
            ratios.append(Fraction(max(held), min(held)) if size > m else Fraction(1))
        return max(ratios)


def check_regions(regions: object, least: int = 1) -> None:
    """Refuse anything but a partition with at least this many regions."""
    if not isinstance(regions, Regions):
        raise InputError(
            f"Expected regions as bp.locations.Regions, got {type(regions).__name__}; "
            "build them with Regions.by_prefix(places) or Regions.of(places, labels)."
        )
    if len(regions) < least:
        raise DesignError(
            f"Expected {least} regions or more, got {len(regions)}; use bp.BRR or bp.Anchored on all places."
        )


class InRegions(Mechanism):
    """The common base of mechanisms on regions: a partition of places, and tickets for each region."""

    __slots__ = ("regions",)
    fields = frozenset({"regions", "tickets", "total"})
    counts: ClassVar[tuple[str, ...]]
    """The names of the ticket counts of a region in its spec."""
    regions: Regions

    @classmethod
    def read(cls, fields: Fields) -> Self:
        places = fields.found
        if places is not None and not (isinstance(places, Points) and places.metric == "haversine"):
            fields.note("Expected domain as points with metric 'haversine'; regions are of places.")
        if not is_ticket_count(fields["total"]):
            fields.note("Expected total as a whole number of at most 16 digits, as a string.")
        tickets = _read_tickets(fields, cls.counts)
        regions = _read_regions(fields)
        try:
            mechanism = cls._of_spec(fields, regions, tickets, int(fields["total"]))
        except AssertionError:
            raise BrokenPromiseError("Expected rows of one total of at most 2^52; ask for another spec.") from None
        except SpecError:
            raise
        except InputError as error:
            # No design could have produced this spec.
            raise BrokenPromiseError(str(error)) from None
        return mechanism.checked()

    @classmethod
    @abstractmethod
    def _of_spec(cls, fields: Fields, regions: Regions, tickets: Sequence[tuple[int, ...]], total: int) -> Self:
        """The mechanism with these numbers; raises AssertionError if its rows have different totals."""

    @abstractmethod
    def _tickets(self) -> Sequence[tuple[int, ...]]:
        """The tickets of each region, in the order of ``counts``."""

    def parts(self) -> dict[str, Any]:
        tickets = [dict(zip(self.counts, map(str, each), strict=True)) for each in self._tickets()]
        regions = {"labels": self.regions.labels.tolist(), "names": list(self.regions.names)}
        return {"regions": regions, "tickets": tickets, "total": str(self._lottery.total)}

    def __reduce__(self) -> tuple[Any, ...]:
        reread, (kind, domain, spec) = super().__reduce__()
        # The regions themselves, because they record how they were made, which a spec does not.
        return reread, (kind, domain, spec | {"regions": self.regions})

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.regions!r}, epsilon={self._budget.text})"


def _read_tickets(fields: Fields, names: tuple[str, ...]) -> list[tuple[int, ...]]:
    given = fields["tickets"]
    rows = given if isinstance(given, list) and all(isinstance(each, Mapping) for each in given) else []
    if rows and all(set(each) == set(names) and all(map(is_ticket_count, each.values())) for each in rows):
        return [tuple(int(each[name]) for name in names) for each in rows]
    wanted = ", ".join(f"'{name}': '…'" for name in names)
    fields.note(f"Expected tickets as {{{wanted}}} for each region, whole numbers of at most 16 digits as strings.")
    return []


def _read_regions(fields: Fields) -> Regions:
    given, domain = fields["regions"], fields.domain
    if isinstance(given, Regions):
        return given
    if not isinstance(domain, Points) or not isinstance(given, Mapping) or set(given) != {"labels", "names"}:
        fields.refuse("Expected regions as {'labels': […], 'names': […]}; ask for another spec.")
    labels, names = given["labels"], given["names"]
    whole = isinstance(labels, list) and all(is_whole(each) and 0 <= each < len(domain) for each in labels)
    if not whole or not isinstance(names, list) or not all(isinstance(each, str) for each in names) or not names:
        fields.refuse("Expected labels of regions as whole numbers from 0, and names as text; ask for another spec.")
    try:
        return Regions.restore(domain, labels, names)
    except InputError as error:
        raise SpecError(f"{error} Ask for another spec.") from None


class InBlocks(InRegions):
    """A window of m_r near places in the true region r, and a fixed probability for each place elsewhere."""

    __slots__ = ("_rows",)
    fields: ClassVar[frozenset[str]] = InRegions.fields | {"m"}
    counts: ClassVar[tuple[str, ...]] = ("near", "far", "outside")
    _lottery: BlockLottery
    _rows: BlockRows

    def _assemble(self, regions: Regions, budget: Epsilon, rows: BlockRows) -> None:
        """The first near places hold one more ticket where the total requires it."""
        self._set(domain=regions.places, outputs=regions.places, _budget=budget, _lottery=_lottery(regions, rows))
        self._set(regions=regions, _rows=rows)

    @property
    def m(self) -> tuple[int, ...]:
        """The number of near places in each region."""
        return tuple(self._rows.m)

    @classmethod
    def read(cls, fields: Fields) -> Self:
        if not (isinstance(fields["m"], list) and all(map(is_whole, fields["m"]))):
            fields.note("Expected m as a list of whole numbers, one per region.")
        return super().read(fields)

    @classmethod
    def _of_spec(cls, fields: Fields, regions: Regions, tickets: Sequence[tuple[int, ...]], total: int) -> Self:
        m, sizes = fields["m"], regions.sizes.tolist()
        if len(m) != len(sizes) or not all(1 <= count < size for count, size in zip(m, sizes, strict=True)):
            raise BrokenPromiseError("Expected 1 ≤ m < the number of places for every region; ask for another spec.")
        if not total <= MAX_TOTAL or len(tickets) != len(sizes):
            raise BrokenPromiseError(
                "Expected tickets of at least one for each region with one total of at most 2^52; ask for another spec."
            )
        # A mechanism within a region has no tickets outside, and its spec omits them.
        rows = BlockRows(sizes, tuple(m), [(each[0], each[1], sum(each[2:])) for each in tickets], total)
        return cls._made(regions, fields.budget, rows)

    def _tickets(self) -> Sequence[tuple[int, ...]]:
        return [each[: len(self.counts)] for each in self._rows.tickets]

    def parts(self) -> dict[str, Any]:
        return super().parts() | {"m": list(self.m)}


def window_tickets(total: int, size: int, m: int, growth: float) -> tuple[int, int]:
    """The tickets (near, far) of ``size`` places, m of them near, with this total and near ≈ growth·far."""
    far = max(1, int(total / (m * growth + size - m)))
    return (total - (size - m) * far) // m, far


def build_below(budget: Epsilon, build: Callable[[float], _Built | None], *, least: float = _LEAST) -> _Built:
    """Build for an ε slightly below the budget, and further below until the largest ratio keeps the budget.

    Refused if the realised ε is below the share ``least`` of the budget: there are too few tickets then.
    """
    margin = _FIRST_MARGIN
    while margin <= _MOST_MARGIN:
        built = build(float(budget) * (1 - margin))
        if built is None:
            break
        ratio = built.largest_ratio()
        if budget.allows(*ratio.as_integer_ratio()):
            if float(log_between(ratio)[0]) < least * float(budget):
                break
            return built
        margin *= 2
    raise DesignError(f"2^52 tickets cannot keep ε={budget.text} on these regions; use another ε, or fewer places.")


def two_level_tickets(sizes: Sequence[int], split: Split) -> BlockRows | None:
    """(near, far, outside) of each region and the total of every row; None if there are too few tickets.

    Every place of region r has c_r tickets in the rows of other regions, and a row of region r holds n_r·c_r + D
    tickets inside: D is the same for all regions, so that all rows hold D + Σ_s n_s·c_s.
    """
    first = float(np.exp(split.region))
    shares = MAX_TOTAL / (first + len(sizes) - 1)
    outside = [int(shares / size) for size in sizes]
    if min(outside) < 1:
        return None
    given = sum(size * count for size, count in zip(sizes, outside, strict=True))
    # Floats may round the surplus up past the limit of a row.
    surplus = min(int(shares * np.expm1(split.region)), MAX_TOTAL - given)
    tickets = []
    for size, m, count in zip(sizes, split.m, outside, strict=True):
        near, far = window_tickets(size * count + surplus, size, m, float(np.exp(split.place)))
        if min(near, far) < 1:
            return None
        tickets.append((near, far, count))
    return BlockRows(sizes, split.m, tickets, surplus + given)


def _lottery(regions: Regions, rows: BlockRows) -> BlockLottery:
    check_blocks(regions.sizes)
    blocks = []
    for region, (m, (near, far, _), extra) in enumerate(zip(rows.m, rows.tickets, rows.extras(), strict=True)):
        if not 0 <= extra < m or max(near, far) > MAX_TOTAL:
            raise AssertionError("the rows of this lottery do not hold the same total")
        blocks.append(_block(regions, region, m, near, far, extra))
    outside_of = np.array([outside for _, _, outside in rows.tickets], dtype=np.int64)
    return BlockLottery(regions.labels, blocks, outside_of[regions.labels])


def _block(regions: Regions, region: int, m: int, near: int, far: int, extra: int) -> NDArray[np.int64]:
    """The tickets among the places of a region; near places are found in integer arithmetic, as for BRR."""
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
