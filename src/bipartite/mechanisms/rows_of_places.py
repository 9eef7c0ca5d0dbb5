"""Rows of tickets on places, read from specs of the paper's protocols; ``reproduction.places`` designs them.

``lsrr`` (calibrated), ``two-level`` and ``region-weighted`` keep ε, so that their specs load, draw, verify and estimate
forever. ``planar-laplace``, ``within-region`` and ``lsrr`` as published promise less than ε-LDP, and are refused here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from bipartite.errors import BrokenPromiseError
from bipartite.lottery import MAX_TOTAL, Deal
from bipartite.lottery.order import farthest_near
from bipartite.lottery.table import MOST_TICKET_COUNTS, search, totals_of
from bipartite.lottery.tickets import UNEQUAL
from bipartite.lottery.uniform import WORD_BITS
from bipartite.mechanisms.base import Mechanism
from bipartite.mechanisms.spec.fields import AGAIN, Field, choice, is_json_integer, is_ticket_count
from bipartite.mechanisms.tabled import Tabled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bipartite.domains import Domain
    from bipartite.lottery import Epsilon
    from bipartite.mechanisms.spec.fields import Fields

    Whole = NDArray[np.int64]
    Counts = Sequence[tuple[int, ...]]

_LEAST_PLACES: Final = 2


class LSRR(Tabled):
    """L-SRR, calibrated: a ticket count for every pair of places."""

    __slots__ = ()
    schema: ClassVar[Mapping[str, Field]] = {"variant": choice("calibrated"), **Tabled.schema}


@dataclass(frozen=True, eq=False)
class InRegions(Deal):
    """Outputs are dealt region by region: first the input's own, place by place, then all others in their order."""

    labels: Whole
    """The region of each place, 0 … R − 1, none of them empty."""
    row_of: Whole
    """The number of each place's row in ``own``."""
    own: Sequence[Whole]
    """For each row, the tickets of the places of its own region, ascending."""
    away: Whole
    """away[r, q]: the tickets of each place of region q for the inputs of region r; 0 for the own."""
    word_bits: int = WORD_BITS
    inputs: int = field(init=False)
    outputs: int = field(init=False)
    total: int = field(init=False)
    sizes: Whole = field(init=False)
    starts: Whole = field(init=False)
    _firsts: Whole = field(init=False)
    _running: Whole = field(init=False)
    _running_away: Whole = field(init=False)

    def __post_init__(self) -> None:
        sizes = np.bincount(self.labels)
        given = self.away.astype(np.float64) * sizes
        own = [totals_of(row[None, :]) if row.min() >= 0 else None for row in self.own]
        regions = self.labels[self.distinct_inputs()]
        fits = [len(row) for row in self.own] == sizes[regions].tolist() and self.away.min() >= 0
        if not fits or any(each is None for each in own) or given.sum(axis=1).max() > MAX_TOTAL:
            raise AssertionError(UNEQUAL)
        totals = np.array([int(each[0]) for each in own if each is not None]) + (self.away * sizes).sum(axis=1)[regions]
        if (totals != totals[0]).any() or not 1 <= totals[0] <= MAX_TOTAL:
            raise AssertionError(UNEQUAL)
        self._set(inputs=len(self.labels), outputs=len(self.labels), total=int(totals[0]), sizes=sizes)
        self._set(layout=np.argsort(self.labels, kind="stable"), starts=np.cumsum(sizes) - sizes)
        for row in self.own:
            row.flags.writeable = False
        self._set(labels=self.labels, row_of=self.row_of, own=tuple(self.own), away=self.away)
        lengths = sizes[regions]
        self._set(_firsts=np.cumsum(lengths) - lengths, _running=np.concatenate([np.cumsum(row) for row in self.own]))
        self._set(_running_away=np.cumsum(self.away * sizes, axis=1))

    def owners(self, index: Whole, tickets: Whole) -> Whole:
        """See `Deal`; inside and outside are both searched, whichever it is."""
        region, firsts = self.labels[index], self._firsts[self.row_of[index]]
        sizes, count = self.sizes[region], len(self.sizes)
        mine = self._running[firsts + sizes - 1]
        inside = tickets < mine
        near = search(self._running, tickets, firsts=firsts, lengths=sizes, longest=int(self.sizes.max()))
        rest = np.where(inside, 0, tickets - mine)
        there = search(self._running_away.ravel(), rest, firsts=region * count, lengths=count, longest=count)
        there = np.minimum(there, count - 1)
        each = self.away[region, there]
        before = self._running_away[region, there] - each * self.sizes[there]
        at = np.where(inside, self.starts[region] + near, self.starts[there] + (rest - before) // np.maximum(each, 1))
        found: Whole = np.asarray(self.layout)[np.minimum(at, self.outputs - 1)]
        return found

    def owner(self, x: int, ticket: int) -> int:
        """See `Deal`."""
        return int(self.owners(np.array([x]), np.array([ticket]))[0])

    def rows_of(self, inputs: Whole) -> Whole:
        """See `Deal`."""
        rows: Whole = self.away[self.labels[inputs]][:, self.labels]
        for row, x in zip(rows, inputs.tolist(), strict=True):
            row[self.labels == self.labels[x]] = self.own[self.row_of[x]]
        return rows

    def distinct_inputs(self) -> Whole:
        """See `Deal`."""
        return np.unique(self.row_of, return_index=True)[1]


def _read_counts(*names: str) -> Field:
    """Ticket counts by name for each region."""

    def read(fields: Fields, name: str) -> Counts:
        places = fields.found
        if places is not None and places.metric != "haversine":
            fields.note("Expected domain as points with metric 'haversine'; regions are of places.")
        given = fields[name]
        rows = given if isinstance(given, list) and all(isinstance(each, Mapping) for each in given) else []
        if rows and all(set(each) == set(names) and all(map(is_ticket_count, each.values())) for each in rows):
            return tuple(tuple(int(each[count]) for count in names) for each in rows)
        wanted = ", ".join(f"'{count}': '…'" for count in names)
        fields.note(f"Expected tickets as {{{wanted}}} for each region, whole numbers of at most 16 digits as strings.")
        return ()

    return Field(read, lambda rows: [dict(zip(names, map(str, each), strict=True)) for each in rows])


def _read_total(fields: Fields, name: str) -> int:
    if not is_ticket_count(fields[name]):
        fields.note("Expected total as a whole number of at most 16 digits, as a string.")
        return 0
    return int(fields[name])


def _read_near(fields: Fields, name: str) -> tuple[int, ...]:
    if not (isinstance(fields[name], list) and all(map(is_json_integer, fields[name]))):
        fields.note("Expected m as a list of whole numbers, one per region.")
        return ()
    return tuple(fields[name])


def _read_regions(fields: Fields, name: str) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """The region of each place, and the names of the regions: each has two places or more."""
    given, size = fields[name], len(fields.domain)
    if not isinstance(given, Mapping) or set(given) != {"labels", "names"}:
        fields.refuse(f"Expected regions as {{'labels': […], 'names': […]}}; {AGAIN}")
    labels, names = given["labels"], given["names"]
    whole = isinstance(labels, list) and all(is_json_integer(each) and 0 <= each < size for each in labels)
    if not whole or not isinstance(names, list) or not all(isinstance(each, str) for each in names) or not names:
        fields.refuse(f"Expected labels of regions as whole numbers from 0, and names as text; {AGAIN}")
    if len(labels) != size or max(labels) >= len(names):
        fields.refuse(
            f"Expected the region of each of {size} places, from 0 to {len(names) - 1}. Ask for another spec."
        )
    if np.bincount(labels, minlength=len(names)).min() < _LEAST_PLACES or len(set(names)) != len(names):
        fields.refuse("Expected regions of at least two places, each with its own name. Ask for another spec.")
    return tuple(labels), tuple(names)


_TOTAL: Final = Field(_read_total, str)
_REGIONS: Final = Field(_read_regions, lambda held: {"labels": list(held[0]), "names": list(held[1])})


class _OnRegions(Mechanism):
    """Tickets for each region of places, with one total for all rows."""

    __slots__ = ()
    checked_by_rows = True

    @classmethod
    def law(cls, domain: Domain, facts: Mapping[str, Any]) -> tuple[Domain, Deal]:
        labels = np.array(facts["regions"][0], dtype=np.int64)
        try:
            return domain, cls._dealt(domain, labels, np.bincount(labels), facts)
        except AssertionError:
            raise BrokenPromiseError(f"Expected rows of one total of at most 2^52; {AGAIN}") from None

    @classmethod
    def _dealt(cls, domain: Domain, labels: Whole, sizes: Whole, facts: Mapping[str, Any]) -> InRegions:
        raise NotImplementedError

    def __repr__(self) -> str:
        sizes = np.bincount(self.facts["regions"][0])
        regions = f"<{len(sizes)} regions of {sizes.min()} to {sizes.max()} places>"
        return f"{type(self).__name__}({regions}, epsilon={self._epsilon_text})"


class TwoLevel(_OnRegions):
    """A window of m_r near places in the true region r, and a fixed probability for each place elsewhere."""

    __slots__ = ()
    schema: ClassVar[Mapping[str, Field]] = {
        "m": Field(_read_near, list),
        "total": _TOTAL,
        "tickets": _read_counts("near", "far", "outside"),
        "regions": _REGIONS,
    }

    @classmethod
    def check(cls, domain: Domain, budget: Epsilon, facts: Mapping[str, Any]) -> None:  # noqa: ARG003
        m, sizes = facts["m"], np.bincount(facts["regions"][0]).tolist()
        if len(m) != len(sizes) or not all(1 <= count < size for count, size in zip(m, sizes, strict=True)):
            raise BrokenPromiseError(f"Expected 1 ≤ m < the number of places for every region; {AGAIN}")
        if not facts["total"] <= MAX_TOTAL or len(facts["tickets"]) != len(sizes):
            raise BrokenPromiseError(
                f"Expected tickets of at least one for each region with one total of at most 2^52; {AGAIN}"
            )

    @classmethod
    def _dealt(cls, domain: Domain, labels: Whole, sizes: Whole, facts: Mapping[str, Any]) -> InRegions:
        counts = int((sizes.astype(np.float64) ** 2).sum())
        if counts > MOST_TICKET_COUNTS:
            raise BrokenPromiseError(
                "Expected at most 2^25 ticket counts, one for every pair of places in one region, got "
                f"{counts}; ask for another spec."
            )
        held = facts["tickets"]
        given = [size * outside for size, (_, _, outside) in zip(sizes.tolist(), held, strict=True)]
        if sum(given) > 2 * MAX_TOTAL:  # also where there is one region, which never gives them
            raise AssertionError(UNEQUAL)
        own = [np.empty(0, dtype=np.int64)] * len(labels)
        for region, (near, far, _) in enumerate(held):
            m, size = facts["m"][region], int(sizes[region])
            # The first near places hold one more ticket, so that all rows have the total.
            extra = facts["total"] - sum(given) + given[region] - m * near - (size - m) * far
            if not 0 <= extra < m or max(near, far) > MAX_TOTAL:
                raise AssertionError(UNEQUAL)
            members = np.flatnonzero(labels == region)
            for row, x in enumerate(members.tolist()):
                distances = domain.order.distances(x)[members]  # type: ignore[attr-defined]  # places have an order
                chosen = np.flatnonzero(farthest_near(row, distances, m).near(row, distances))
                own[x] = np.full(size, far, dtype=np.int64)
                own[x][chosen] = near
                own[x][chosen[:extra]] += 1
        away = np.tile(np.array([outside for _, _, outside in held], dtype=np.int64), (len(sizes), 1))
        np.fill_diagonal(away, 0)
        return InRegions(labels, np.arange(len(labels)), own, away)

    @property
    def m(self) -> tuple[int, ...]:
        """The number of near places in each region."""
        near: tuple[int, ...] = self.facts["m"]
        return near


class RegionWeighted(_OnRegions):
    """One count for every place of the true region, another for all other places."""

    __slots__ = ()
    schema: ClassVar[Mapping[str, Field]] = {
        "total": _TOTAL,
        "tickets": _read_counts("own", "other"),
        "regions": _REGIONS,
    }

    @classmethod
    def check(cls, domain: Domain, budget: Epsilon, facts: Mapping[str, Any]) -> None:  # noqa: ARG003
        regions = len(facts["regions"][1])
        if len(facts["tickets"]) != regions or regions < 2 or not facts["total"] <= MAX_TOTAL:  # noqa: PLR2004
            raise BrokenPromiseError(f"Expected tickets of two regions or more with one total of at most 2^52; {AGAIN}")

    @classmethod
    def _dealt(cls, domain: Domain, labels: Whole, sizes: Whole, facts: Mapping[str, Any]) -> InRegions:  # noqa: ARG003
        own, other = np.array(facts["tickets"], dtype=np.int64).T
        outsiders = len(labels) - sizes
        if (own * sizes.astype(np.float64) + other * outsiders.astype(np.float64)).max() > 2.0**53:
            raise AssertionError(UNEQUAL)  # before 64 bits wrap
        # The first places of a region hold one more ticket, so that all rows have the total.
        extra = facts["total"] - own * sizes - other * outsiders
        if (extra < 0).any() or (extra >= sizes).any():
            raise AssertionError(UNEQUAL)
        mine = [each + (np.arange(size) < more) for each, size, more in zip(own, sizes, extra, strict=True)]
        away = np.tile(other[:, None], (1, len(sizes)))
        np.fill_diagonal(away, 0)
        return InRegions(labels, labels, mine, away)
