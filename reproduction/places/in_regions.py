"""Releases of places in regions: two levels, a weight on the region, and the paper's own, which publishes the region.

Two levels: GRR on the R regions with ε1, then a window of m_r near places with ε2 in the true region r, a uniform place
in any other. With E1 = e^ε1, E2 = e^ε2, n_r places and Z_r = m_r·E2 + n_r − m_r, a place of region r has

* E1·E2/((E1 + R − 1)·Z_r) for values near it, E1/((E1 + R − 1)·Z_r) for others of its region,
* 1/((E1 + R − 1)·n_r) for values of other regions,

so the realised ε is the largest over r of ε2, ε1 + ε2 − ln(Z_r/n_r) and ln(Z_r/n_r) − ε1: less than ε1 + ε2. The
difference is added to ε1. The budgets are chosen in floats; the mechanisms check their tickets in integer arithmetic.

A weight: w on every place of the true region, 1 elsewhere. The normaliser Z_r = w·n_r + N − n_r depends on the region,
so the realised ratio is the largest w·Z_s/Z_r over two regions, which increases with w and is set to e^ε.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeVar, cast

import numpy as np

from bipartite import BRR, from_spec
from bipartite.design import check_prior, safe_m_of_set
from bipartite.domains import Points
from bipartite.errors import BrokenPromiseError, DesignError, InputError, SpecError, is_one_of, shown
from bipartite.lottery import MAX_TOTAL, Epsilon, log_between
from reproduction.places.regions import Regions, parts
from reproduction.places.weaker import Weaker, checked, read_epsilon, rows_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Protocol

    from numpy.typing import NDArray

    from bipartite.lottery import Source
    from bipartite.mechanisms import Mechanism

    Array = NDArray[np.float64]

    class _Rows(Protocol):
        def largest_ratio(self) -> Fraction: ...


Inside = Literal["best", "safe", "grr"]
_MOST_EPSILON: Final = 50
_MOST_COUNTS: Final = 2**25
_VERSION: Final = 4  # of the specs of regions
# Tickets are integers, so a design aims below ε by this share, and by more while its tickets still exceed ε.
_FIRST_MARGIN: Final = 2.0**-40
_MOST_MARGIN: Final = 2.0**-10
# The least realised ε, as a share of ε.
_LEAST: Final = 0.998
_Built = TypeVar("_Built", bound="_Rows")

# ε2 is a multiple of ε divided by this number.
_PARTS: Final = 32


class Split(NamedTuple):
    """Budgets of the two levels and the near places of each region."""

    region: float
    """ε1, for the region."""
    place: float
    """ε2, for the place in the region."""
    m: tuple[int, ...]


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
        msg = (
            f"Expected regions as reproduction.places.Regions, got {type(regions).__name__}; "
            "build them with Regions.by_prefix(places) or Regions.of(places, labels)."
        )
        raise InputError(msg)
    if len(regions) < least:
        msg = f"Expected {least} regions or more, got {len(regions)}; use bp.BRR or bp.Anchored on all places."
        raise DesignError(msg)


def check_blocks(sizes: NDArray[np.int64]) -> None:
    """Refuse regions whose tables are too large for memory."""
    counts = int((sizes.astype(np.float64) ** 2).sum())
    if counts > _MOST_COUNTS:
        raise DesignError(
            f"This mechanism holds a ticket count for every pair of places in one region, at most 2^25, got {counts}; "
            "use smaller regions (the largest has "
            f"{int(sizes.max())} places), region_weighted, or bp.BRR, which need no table."
        )


def two_level(
    regions: Regions,
    epsilon: object,
    *,
    inside: Inside = "best",
    budgets: tuple[float, float] | None = None,
    prior: Sequence[float] | NDArray[np.float64] | None = None,
) -> Mechanism:
    r"""Reports a region by GRR with ε1; in the true region a near place with ε2, in any other a uniform place.

    Parameters
    ----------
    regions
        A public partition of places, :class:`Regions`, two regions or more.
    epsilon
        The privacy budget of one report, **both levels together**.
    inside
        The window in the true region: ``"best"``, the m with the least expected loss; ``"safe"``, Algorithm 2's m; or
        ``"grr"``, m = 1.
    budgets
        (ε1, ε2). By default those with the least expected loss whose *realised* ε is the budget; ε1 + ε2 is only a
        loose bound.
    prior
        Public probabilities of the places, None for uniform.

    Guarantee
    ---------
    ε-LDP for each report over all places, exactly: a mechanism of the library, read from its spec.

    Notes
    -----
    With Z_r = m_r·e\ :sup:`ε2` + n_r − m_r the realised ε is the largest over regions r of ε2,
    ε1 + ε2 − ln(Z_r/n_r) and ln(Z_r/n_r) − ε1. Bias and variance given x follow from row x of ``matrix()``.

    Examples
    --------
    >>> from bipartite import Points, verify
    >>> places = Points([[52.5, 13.4], [52.4, 13.1], [48.9, 2.35], [48.8, 2.1]], metric="haversine")
    >>> mech = two_level(Regions.of(places, ["DE", "DE", "FR", "FR"]), epsilon=1)
    >>> verify(mech).holds, round(float(verify(mech).epsilon_upper), 6)
    (True, 1.0)
    """
    budget = Epsilon.of(epsilon)
    check_regions(regions, least=2)
    check_blocks(regions.sizes)
    _check_one_of("inside", inside, ("best", "safe", "grr"))
    weights = None if prior is None else check_prior(prior, len(regions.places))
    split = (
        best_split(regions, float(budget), weights, inside)
        if budgets is None
        else _split_as_given(regions, float(budget), budgets, inside, weights)
    )
    sizes = regions.sizes.tolist()

    def build(wanted: float) -> BlockRows | None:
        # Given budgets are kept; chosen ones are lowered to allow for the rounding of tickets.
        scale = wanted / float(budget) if budgets is None else 1.0
        return two_level_tickets(sizes, Split(split.region * scale, split.place * scale, split.m))

    rows = build_below(budget, build, least=_LEAST if budgets is None else 0.0)
    spec = _spec("two-level", regions, budget.text, ("near", "far", "outside"), rows.tickets, rows.total)
    return from_spec(spec | {"m": list(rows.m)})


def region_weighted(regions: Regions, epsilon: object) -> Mechanism:
    r"""Weight w on every place of the true region and 1 on all others: a report carries information on the region only.

    The normaliser Z_r = w·n_r + N − n_r depends on the region, so w is chosen such that the realised ratio, the largest
    w·Z_s/Z_r over two regions, is e\ :sup:`ε`.

    Parameters
    ----------
    regions
        A public partition of places, :class:`Regions`, two regions or more.
    epsilon
        The privacy budget of one report.

    Guarantee
    ---------
    ε-LDP for each report over all places, exactly (:func:`bipartite.verify`). Places of one region have the same row,
    so a report says nothing about which of them is true.

    Notes
    -----
    Bias and variance given x follow from row x of ``matrix()``. Nothing about places within a region can be estimated.

    Examples
    --------
    >>> from bipartite import Points, verify
    >>> places = Points([[52.5, 13.4], [52.4, 13.1], [48.9, 2.35], [48.8, 2.1]], metric="haversine")
    >>> mech = region_weighted(Regions.of(places, ["DE", "DE", "FR", "FR"]), epsilon=1)
    >>> verify(mech).holds, round(float(verify(mech).epsilon_upper), 6)
    (True, 1.0)
    """
    budget = Epsilon.of(epsilon)
    check_regions(regions, least=2)

    def build(wanted: float) -> _Weights | None:
        weight = region_weight(regions.sizes, wanted)
        outsiders = len(regions.places) - regions.sizes
        other = (MAX_TOTAL / (weight * regions.sizes + outsiders)).astype(np.int64)
        own = (MAX_TOTAL - outsiders * other) // regions.sizes
        return None if other.min() < 1 else _Weights(regions.sizes, own, other)

    built = build_below(budget, build)
    tickets = list(zip(built.own.tolist(), built.other.tolist(), strict=True))
    spec = _spec("region-weighted", regions, budget.text, ("own", "other"), tickets, MAX_TOTAL)
    return from_spec(spec)


@dataclass(frozen=True)
class _Weights:
    """The tickets of every place of the own region, and of every other place, for each region."""

    sizes: NDArray[np.int64]
    own: NDArray[np.int64]
    other: NDArray[np.int64]

    def largest_ratio(self) -> Fraction:
        """Of two inputs' tickets for one output, over all pairs of regions."""
        outsiders = int(self.sizes.sum()) - self.sizes
        most = self.own + (self.own * self.sizes + self.other * outsiders < MAX_TOTAL)
        ratios = []
        for region in range(len(self.sizes)):
            rest = np.delete(self.other, region)
            above = max(int(most[region]), int(rest.max()))
            ratios.append(Fraction(above, min(int(self.own[region]), int(rest.min()))))
        return max(ratios)


class WithinRegion(Weaker):
    """BRR or GRR among the places of the true region: **not ε-LDP**, every report publishes the region of the value.

    Parameters
    ----------
    regions
        A public partition of places, :class:`Regions`.
    epsilon
        The privacy budget of one report **within a region**.
    publishes
        ``"region"``: your statement that the region of every person who reports may become public.
    inside
        ``"brr"``, with Algorithm 2's m in each region, or ``"grr"``.

    Guarantee
    ---------
    ε-LDP **within a region only**: Pr[y|x] ≤ e^ε·Pr[y|x'] for places x, x' of one region, exactly
    (``proved(release).holds``). For places of two regions the ratio is infinite. Use :func:`two_level` or the whole
    domain for ε-LDP.

    Notes
    -----
    ``guarantee`` states how much the region reveals: its entropy in bits under the uniform prior, and the number of
    places in the smallest region. Bias and variance given x follow from row x of ``matrix()``.

    Reference
    ---------
    Zhang, Zhu, Chen, Hu: *Bipartite Randomized Response Mechanism for Local Differential Privacy* (2026), section 5.3.

    Examples
    --------
    >>> from bipartite import Points
    >>> places = Points([[52.5, 13.4], [52.4, 13.1], [48.9, 2.35], [48.8, 2.1]], metric="haversine")
    >>> WithinRegion(Regions.of(places, ["DE", "DE", "FR", "FR"]), epsilon=1, publishes="region").holds()
    True
    """

    words = (
        "largest ratio of two probabilities of one report for values of one region",
        "for values of two regions: infinite, the region is published; not ε-LDP\n  realised ε within one region",
    )

    def __init__(
        self,
        regions: Regions,
        epsilon: object,
        *,
        publishes: Literal["region"],
        inside: Literal["brr", "grr"] = "brr",
    ) -> None:
        budget = Epsilon.of(epsilon)
        check_regions(regions)
        check_blocks(regions.sizes)
        if not is_one_of(publishes, ("region",)):
            raise InputError(
                f"Expected publishes='region', got {shown(publishes)}: every report of this mechanism reveals the "
                "region of the value, which no ε covers. Say so, or use two_level or the whole domain: those are ε-LDP."
            )
        _check_one_of("inside", inside, ("brr", "grr"))
        m = [1] * len(regions) if inside == "grr" else near_places(regions, float(budget)).tolist()
        sizes = regions.sizes.tolist()

        def build(wanted: float) -> BlockRows:
            growth = float(np.exp(wanted))
            tickets = [
                (*window_tickets(MAX_TOTAL, size, count, growth), 0) for size, count in zip(sizes, m, strict=True)
            ]
            return BlockRows(sizes, m, tickets, MAX_TOTAL)

        self._set(regions, budget.text, build_below(budget, build))

    def _set(self, regions: Regions, epsilon: str, rows: BlockRows) -> None:
        self.domain, self.regions, self.epsilon, self.rows = regions.places, regions, epsilon, rows

    @classmethod
    def read(cls, spec: Mapping[str, Any]) -> WithinRegion:
        """The release of a spec, after checking everything that its promise rests on."""
        wanted = {"bipartite", "mechanism", "domain", "epsilon", "regions", "tickets", "total", "m", "publishes"}
        version = spec.get("bipartite")
        if set(spec) != wanted or spec["publishes"] != "region" or type(version) is not int or version != _VERSION:
            raise SpecError(
                f"Expected a spec with {', '.join(sorted(wanted))}, publishes='region'; ask for another one."
            )
        epsilon = read_epsilon(spec)
        regions, total = _read_regions(spec), _count(spec["total"])
        given, m, sizes = spec["tickets"], spec["m"], regions.sizes.tolist()
        if not isinstance(m, list) or len(m) != len(sizes) or not all(type(each) is int for each in m):
            raise SpecError("Expected m as a list of whole numbers, one per region.")
        if not all(1 <= count < size for count, size in zip(m, sizes, strict=True)):
            raise BrokenPromiseError("Expected 1 ≤ m < the number of places for every region; ask for another spec.")
        if not isinstance(given, list) or not all(isinstance(e, Mapping) and set(e) == {"near", "far"} for e in given):
            raise SpecError("Expected tickets as {'near': '…', 'far': '…'} for each region.")
        tickets = [(_count(each["near"]), _count(each["far"]), 0) for each in given]
        if total > MAX_TOTAL or len(tickets) != len(sizes):
            raise BrokenPromiseError(
                "Expected tickets of at least one for each region with one total of at most 2^52; ask for another spec."
            )
        rows = BlockRows(sizes, tuple(m), tickets, total)
        if not all(0 <= extra < near for extra, near in zip(rows.extras(), m, strict=True)):
            raise BrokenPromiseError("Expected rows of one total of at most 2^52; ask for another spec.")
        check_blocks(regions.sizes)
        release = cls.__new__(cls)
        release._set(regions, epsilon, rows)
        checked(release, "e^ε")
        return release

    @property
    def m(self) -> tuple[int, ...]:
        """The number of near places in each region."""
        return tuple(self.rows.m)

    @cached_property
    def inside(self) -> tuple[Mechanism, ...]:
        """The mechanism of the library among the places of each region; those are numbered from 0."""
        counts = zip(parts(self.regions), self.rows.m, self.rows.tickets, self.rows.extras(), strict=True)
        return tuple(rows_of(part, _block(part, m, near, far, extra)) for part, m, (near, far, _), extra in counts)

    @property
    def guarantee(self) -> str:
        return (
            f"ε-LDP within a region only, with ε = {self.epsilon}; the region itself is published "
            f"({self.regions.bits():.2f} bits under the uniform prior, smallest crowd {self.regions.smallest} places): "
            "this is not ε-LDP"
        )

    @property
    def problem(self) -> str:
        return "publishes the region of the value, which no ε covers"

    def largest_ratio(self) -> Fraction:
        """The largest Pr[y|x]/Pr[y|x'] over places x, x' **of one region**; for others it is infinite."""
        return max(each.largest_ratio() for each in self.inside)

    def holds(self) -> bool:
        """Whether the tickets of every region keep ε within it."""
        return Epsilon.of(self.epsilon).allows(*self.largest_ratio().as_integer_ratio())

    def matrix(self) -> Array:
        dense = np.zeros((len(self.domain), len(self.domain)))
        for region, each in enumerate(self.inside):
            members = self.regions.members(region)
            dense[np.ix_(members, members)] = each.matrix()
        return dense

    def privatize(self, values: Any, *, rng: Source | None = None) -> Any:  # noqa: ANN401
        """The report of a place, or those of a list, one after another: each takes its words from the source anew."""
        if isinstance(values, list):
            return [self.privatize(value, rng=rng) for value in values]
        if np.ndim(values):  # before an error could show private values
            raise InputError(f"Expected a place, or a list of places, got {type(values).__name__}; pass a list.")
        at = self.domain.encode(values)
        region = int(self.regions.labels[at])
        members = self.regions.members(region)
        own = int(np.searchsorted(members, at))
        return self.domain.decode(int(members[self.inside[region].privatize(own, rng=rng)]))

    def to_spec(self) -> dict[str, Any]:
        tickets = [each[:2] for each in self.rows.tickets]
        spec = _spec("within-region", self.regions, self.epsilon, ("near", "far"), tickets, self.rows.total)
        return spec | {"m": list(self.m), "publishes": "region"}

    def __repr__(self) -> str:
        return (
            f"<WithinRegion({self.regions!r}, epsilon={self.epsilon}): ε within a region only, the region is "
            "published, not ε-LDP>"
        )


def _block(part: Points, m: int, near: int, far: int, extra: int) -> NDArray[np.int64]:
    """The tickets among the places of a region, whose near places are those of BRR."""
    chances = BRR(part, "1", m=m).matrix()
    is_near = chances > chances.min()
    return np.where(is_near, near + (np.cumsum(is_near, axis=1) <= extra), far)


def _spec(
    name: str, regions: Regions, epsilon: str, names: tuple[str, ...], tickets: Sequence[tuple[int, ...]], total: int
) -> dict[str, Any]:
    return {
        "bipartite": _VERSION,
        "mechanism": name,
        "domain": regions.places.to_spec(),
        "epsilon": epsilon,
        "regions": {"labels": regions.labels.tolist(), "names": list(regions.names)},
        "tickets": [dict(zip(names, map(str, each), strict=True)) for each in tickets],
        "total": str(total),
    }


def _read_regions(spec: Mapping[str, Any]) -> Regions:
    """The regions of an untrusted spec."""
    domain, given = spec["domain"], spec["regions"]
    places = from_spec({"bipartite": 2, "mechanism": "constant", "domain": domain, "answer": 0}).domain
    if not isinstance(places, Points) or places.metric != "haversine":
        raise SpecError("Expected domain as points with metric 'haversine'; regions are of places.")
    if not isinstance(given, Mapping) or set(given) != {"labels", "names"}:
        raise SpecError("Expected regions as {'labels': […], 'names': […]}; ask for another spec.")
    labels, names = given["labels"], given["names"]
    whole = isinstance(labels, list) and all(type(each) is int and 0 <= each < len(places) for each in labels)
    if not whole or not isinstance(names, list) or not all(isinstance(each, str) for each in names) or not names:
        raise SpecError("Expected labels of regions as whole numbers from 0, and names as text; ask for another spec.")
    try:
        return Regions.restore(places, labels, names)
    except InputError as error:
        raise SpecError(f"{error} Ask for another spec.") from None


def _count(text: object) -> int:
    if not isinstance(text, str) or not re.fullmatch("[1-9][0-9]{0,15}", text):
        raise SpecError("Expected tickets and total as whole numbers of at most 16 digits, as strings.")
    return int(text)


def _check_one_of(name: str, value: object, choices: tuple[str, ...]) -> None:
    if not is_one_of(value, choices):
        *others, last = map(repr, choices)
        raise InputError(f"Expected {name}={', '.join(others)} or {last}, got {shown(value)}.")


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
    msg = f"2^52 tickets cannot keep ε={budget.text} on these regions; use another ε, or fewer places."
    raise DesignError(msg)


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


def _split_as_given(
    regions: Regions, epsilon: float, budgets: object, inside: Inside, prior: NDArray[np.float64] | None
) -> Split:
    numbers = isinstance(budgets, tuple) and len(budgets) == 2  # noqa: PLR2004
    if not numbers or not all(
        isinstance(each, (int, float)) and 0 <= each <= _MOST_EPSILON for each in cast("tuple[Any]", budgets)
    ):
        msg = f"Expected budgets as two numbers (ε1, ε2) from 0 to 50, got {shown(budgets)}; or leave them out."
        raise InputError(msg)
    first, second = (float(each) for each in cast("tuple[Any, Any]", budgets))
    m = near_counts(regions, second, inside, prior)
    realised = two_level_epsilon(regions.sizes, m, first, second)
    if realised > epsilon:
        msg = f"Budgets {first:g} and {second:g} realise ε = {realised:.4f}, more than {epsilon:g}; lower one of them."
        raise DesignError(msg)
    return Split(first, second, tuple(m.tolist()))


def two_level_epsilon(
    sizes: Array | NDArray[np.int64], m: Array | NDArray[np.int64], region: float, place: float
) -> float:
    """The realised ε of two levels, in floats: max over r of ε2, ε1 + ε2 − ln(Z_r/n_r), ln(Z_r/n_r) − ε1.

    >>> round(two_level_epsilon(np.array([10, 20]), np.array([3, 6]), 1, 1), 3)
    1.584
    """
    growth = _growth(sizes, m, place)
    return float(max(place, (region + place - growth).max(), (growth - region).max()))


def _growth(sizes: Array | NDArray[np.int64], m: Array | NDArray[np.int64], place: float) -> Array:
    """ln(Z_r/n_r) = ln(1 + (E2 − 1)·m_r/n_r)."""
    grown: Array = np.log1p(np.expm1(place) * np.asarray(m) / np.asarray(sizes))
    return grown


def largest_region_budget(sizes: NDArray[np.int64], m: NDArray[np.int64], epsilon: float, place: float) -> float:
    """The largest ε1 that keeps ε together with this ε2 ≤ ε."""
    return epsilon - place + float(_growth(sizes, m, place).min())


class RegionCosts:
    """The expected loss of two levels as a function of their budgets; sums of losses are computed once."""

    __slots__ = ("_across", "_all", "_near", "_sizes")

    def __init__(self, regions: Regions, prior: Array | None) -> None:
        places, labels, count = regions.places, regions.labels, len(regions)
        weights = np.full(len(places), 1 / len(places)) if prior is None else prior
        self._sizes = regions.sizes
        self._near = [np.zeros(size) for size in self._sizes.tolist()]
        self._all = np.zeros(count)
        self._across = 0.0
        for x, (region, weight) in enumerate(zip(labels.tolist(), weights.tolist(), strict=True)):
            losses = places.losses(x)
            by_region = np.bincount(labels, losses, count)
            self._near[region] += weight * np.cumsum(np.sort(losses[labels == region]))
            self._all[region] += weight * by_region[region]
            away = by_region / self._sizes
            self._across += weight * float(away.sum() - away[region])

    def best_m(self, place: float) -> NDArray[np.int64]:
        """For each region the m with the least loss inside it, from 1 to one less than its size."""
        chosen = [
            1
            + int(np.argmin((math.expm1(place) * near[:-1] + whole) / (math.expm1(place) * np.arange(1, size) + size)))
            for near, whole, size in zip(self._near, self._all.tolist(), self._sizes.tolist(), strict=True)
        ]
        return np.array(chosen, dtype=np.int64)

    def loss(self, split: Split) -> float:
        """The expected loss of two levels with these budgets."""
        excess, first = math.expm1(split.place), math.exp(split.region)
        inside = sum(
            (excess * near[m - 1] + whole) / (excess * m + size)
            for near, whole, size, m in zip(self._near, self._all.tolist(), self._sizes.tolist(), split.m, strict=True)
        )
        return float((first * inside + self._across) / (first + len(self._sizes) - 1))


def near_places(regions: Regions, place: float) -> NDArray[np.int64]:
    """Algorithm 2 in each region: the m with which no place of it does worse than under GRR in the region."""
    if place <= 0:
        return np.ones(len(regions), dtype=np.int64)
    # ε2 may be rounded to a decimal of few digits, because any m is private.
    budget = Epsilon.of(f"{max(place, 1e-12):.12g}")
    return np.array([safe_m_of_set(part, budget) for part in parts(regions)], dtype=np.int64)


def near_counts(regions: Regions, place: float, rule: str, prior: Array | None) -> NDArray[np.int64]:
    """The number of near places in each region: "best" for the prior, "safe" (Algorithm 2) or "grr" (m = 1)."""
    if rule == "grr":
        return np.ones(len(regions), dtype=np.int64)
    return near_places(regions, place) if rule == "safe" else RegionCosts(regions, prior).best_m(place)


def best_split(regions: Regions, epsilon: float, prior: Array | None, rule: str) -> Split:
    """The budgets of least expected loss, over a grid of ε2, each with the largest ε1 that keeps ε.

    ``rule`` is "best", "safe" (Algorithm 2) or "grr" (m = 1).
    """
    costs = RegionCosts(regions, prior)
    candidates = []
    for part in range(_PARTS + 1):
        place = epsilon * part / _PARTS
        m = np.ones(len(regions), dtype=np.int64)
        if rule != "grr":
            m = costs.best_m(place) if rule == "best" else near_places(regions, place)
        region = largest_region_budget(regions.sizes, m, epsilon, place)
        candidates.append(Split(region, place, tuple(m.tolist())))
    return min(candidates, key=costs.loss)


def region_weight(sizes: NDArray[np.int64], epsilon: float) -> float:
    """The largest weight w whose realised ratio is at most e^ε."""
    low, high = 1.0, math.exp(epsilon)
    while weighted_epsilon(sizes, high) < epsilon:
        low, high = high, 2 * high
    # Bisected until no double lies inside.
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (middle, high) if weighted_epsilon(sizes, middle) <= epsilon else (low, middle)
    return low


def weighted_epsilon(sizes: NDArray[np.int64], weight: float) -> float:
    """Ln of the largest w·Z_s/Z_r over two regions r ≠ s; only the two largest Z_s matter."""
    normalisers = weight * sizes + (sizes.sum() - sizes)
    ranked = np.argsort(-normalisers, kind="stable")
    above = np.full(len(sizes), normalisers[ranked[0]])
    above[ranked[0]] = normalisers[ranked[1]]
    return float(np.log(weight * above / normalisers).max())
