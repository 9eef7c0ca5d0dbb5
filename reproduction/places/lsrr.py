"""L-SRR, a staircase over the tiles of a map: a rival of BRR for places, as published and corrected to keep ε.

Each place has a code (:mod:`reproduction.places.tiles`); the more leading bits two places share, the nearer they count.
The items of x form m groups, and a report of group j has the j-th of m probabilities in equal steps from α_max to
α_min = α_max/e^ε. As published, α_min depends on the sizes of the groups of x, so it reveals information on x: the
realised ratio exceeds e^ε. Calibrated, every x has groups of the same sizes and the ratio is e^ε.

References
----------
H. Wang, H. Hong, L. Xiong, Z. Qin, Y. Hong, "L-SRR: Local Differential Privacy for Location-Based Services with
Staircase Randomized Response", CCS 2022, 2809-2823.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite import Custom
from bipartite.domains import Points
from bipartite.errors import DesignError, InputError, SpecError, shown
from bipartite.lottery import Epsilon, check_table, log_between
from reproduction.places.tiles import BITS, common_bits, prefix, tile_codes, whole
from reproduction.places.weaker import Tabled, checked, read_epsilon, read_rows, spent

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from bipartite.domains import Domain
    from bipartite.mechanisms import Mechanism

# A realised ε that exceeds ε by no more than this share counts as rounding.
_ROUNDING: Final = 1e-9

_LEAST_GROUPS: Final = 2


def lsrr(domain: Domain, epsilon: object, *, thresholds: Sequence[int] | None = None) -> Mechanism:
    r"""L-SRR, calibrated: the probability of a report decreases in m equal steps with the map tiles it shares.

    Each place has the 46-bit code of its map tile; the more leading bits two places share, the nearer they count. The
    places around x form m groups, of the same sizes for every x, and a report of group j has the j-th of m
    probabilities in equal steps from α_max to α_min = α_max/e\ :sup:`ε`.

    Parameters
    ----------
    domain
        :class:`~bipartite.Points` with ``metric="haversine"``.
    epsilon
        The privacy budget of one report.
    thresholds
        The numbers of shared bits β_1 > … > β_m = 0 at which groups begin; by default those that put the most bits into
        the nearer groups, for the number of groups that the authors recommend.

    Guarantee
    ---------
    ε-LDP for each report, exactly: a :class:`~bipartite.Custom` of the library.

    Notes
    -----
    Bias and variance given x follow from row x of ``matrix()``. Neighbouring places on opposite sides of a tile
    boundary may share no bits at all, and are then the least likely reports for each other.

    Reference
    ---------
    Wang, Hong, Xiong, Qin, Hong: *L-SRR: Local Differential Privacy for Location-Based Services
    with Staircase Randomized Response* (CCS 2022).

    Examples
    --------
    >>> from bipartite import Points, verify
    >>> cities = Points([[52.5, 13.4], [48.9, 2.35], [51.5, -0.13], [40.4, -3.7], [41.9, 12.5]], metric="haversine")
    >>> published = PublishedLSRR(cities, 1, thresholds=(6, 0))
    >>> verify(lsrr(cities, 1)).holds, published.holds(), round(float(published.ldp_epsilon), 2)
    (True, False, 1.41)
    """
    places, codes, bounds = _designed(domain, Epsilon.of(epsilon), thresholds)
    return Custom(places, places, calibrated_rows(codes, epsilon, mean_sizes(codes, bounds)), epsilon)


class PublishedLSRR(Tabled):
    """L-SRR as published, with groups of any size; where α_min then depends on x, **ε is not kept**.

    For comparison only; never report with it. It takes what :func:`lsrr` takes. Unless all places have groups of the
    same sizes it is ε'-LDP for the larger ε' that ``guarantee`` names, which is the ε of ``rows``.
    """

    def __init__(self, domain: Domain, epsilon: object, *, thresholds: Sequence[int] | None = None) -> None:
        budget = Epsilon.of(epsilon)
        places, codes, bounds = _designed(domain, budget, thresholds)
        rows = published_rows(codes, budget, bounds)
        needed = float(np.log(rows.max(axis=0) / rows.min(axis=0)).max())
        # If α_min happens to be the same for all places, ε is kept, and rounding to tickets must not exceed it.
        enough = budget.text if needed <= float(budget) * (1 + _ROUNDING) else spent(Fraction(math.exp(needed)))
        self.domain, self.epsilon, self.rows = places, budget.text, Custom(places, places, rows, enough)

    @classmethod
    def read(cls, spec: Mapping[str, Any]) -> PublishedLSRR:
        """The release of a spec, refused if its rows do not keep its ε."""
        release = cls.__new__(cls)
        release.epsilon = read_epsilon(spec)
        release.rows, _ = read_rows({name: value for name, value in spec.items() if name != "variant"})
        if not isinstance(release.rows.domain, Points):
            raise SpecError("Expected domain as points with metric 'haversine'; ask for another spec.")
        release.domain = release.rows.domain
        checked(release, "e^ε")
        return release

    def holds(self) -> bool:
        """Whether the rows keep ε, decided from the tickets in integer arithmetic."""
        return Epsilon.of(self.epsilon).allows(*self.largest_ratio().as_integer_ratio())

    @property
    def guarantee(self) -> str:
        """The promise of one report, in words, with the ε actually spent."""
        promise = f"ε-LDP of each report with ε = {self.epsilon}"
        if self.holds():
            return promise
        really = log_between(self.largest_ratio())[1].quantize(Decimal("1e-4"), ROUND_CEILING)
        return f"{promise} as published, which its rows do not keep: they spend ε = {really}"

    @property
    def problem(self) -> str:
        return "" if self.holds() else "spends more than the ε it states (bp.verify says how much)"

    def to_spec(self) -> dict[str, Any]:
        return self.rows.to_spec() | {"mechanism": "lsrr", "epsilon": self.epsilon, "variant": "published"}

    def __repr__(self) -> str:
        return f"LSRR({self.domain!r}, epsilon={self.epsilon}, variant='published')"


def _designed(
    domain: object, budget: Epsilon, thresholds: Sequence[int] | None
) -> tuple[Points, NDArray[np.int64], Sequence[int]]:
    """The places, their codes and the thresholds of their groups."""
    if not isinstance(domain, Points) or domain.metric != "haversine":
        raise DesignError(
            "Expected domain as bp.Points(…, metric='haversine'): L-SRR needs map tiles; use bp.BRR elsewhere."
        )
    check_table(len(domain), len(domain))
    codes = tile_codes(domain.coordinates[:, 0], domain.coordinates[:, 1])
    return (
        domain,
        codes,
        best_thresholds(codes, number_of_groups(budget, len(domain))) if thresholds is None else thresholds,
    )


def number_of_groups(epsilon: object, size: int) -> int:
    r"""The number of groups that L-SRR uses on ``size`` places, at least two.

    .. math:: m \approx \frac{2 (e^ε d - e \cdot e^ε)}{(e^ε - 1) d}, \qquad d = \text{size},

    rounded to the nearest integer, because the paper gives m approximately and specifies no rounding (for 1000 places
    and ε = 0.25, 0.5, 1 and 2 rounding down gives the same).

    >>> [number_of_groups(epsilon, 1000) for epsilon in ("0.25", "0.5", "1", "2")]
    [9, 5, 3, 2]
    """
    # e^ε/(e^ε − 1) written so that it stays accurate for small ε.
    estimate = 2 * (1 - math.e / size) / -math.expm1(-float(Epsilon.of(epsilon)))
    return max(_LEAST_GROUPS, round(estimate))


def best_thresholds(codes: ArrayLike, groups: int) -> tuple[int, ...]:
    r"""The thresholds β_1 > … > β_m = 0 that put items in groups with as many common bits as possible.

    Maximises the objective in the L-SRR authors' public script,

    .. math:: \sum_x \sum_j β_j \, |G_j(x)|,

    exactly, where the script searches from an initial guess. β_m is counted as the number of bits that all codes share,
    which gives the same groups as 0. No group is empty for every x, so there may be fewer groups than requested: at
    most as many as there are different numbers of common bits.

    >>> best_thresholds([0b000 << 43, 0b001 << 43, 0b010 << 43, 0b100 << 43], groups=3)
    (46, 1, 0)
    """
    array = _check_codes(codes)
    pairs = [_pairs_sharing(array, bits) for bits in range(BITS + 1)]
    levels = [bits for bits in range(BITS) if pairs[bits] > pairs[bits + 1]] + [BITS]
    if len(levels) < _LEAST_GROUPS:
        raise DesignError("Expected places in two tiles or more, got one tile; add places of other tiles.")
    # Σ β_j |G_j| = Σ (β_j − β_{j+1})·#{pairs that share β_j bits}, so dynamic programming from the lowest level up
    # applies: for each highest level so far, the best sum and its thresholds.
    best: dict[int, tuple[int, tuple[int, ...]]] = {levels[0]: (0, (0,))}
    for _ in range(min(groups, len(levels)) - 1):
        best = {
            top: max(
                (score + (top - below) * pairs[top], (top, *rest))
                for below, (score, rest) in best.items()
                if below < top
            )
            for top in levels
            if any(below < top for below in best)
        }
    return max(best.values())[1]


def group_sizes(codes: ArrayLike, thresholds: Sequence[int]) -> NDArray[np.int64]:
    """|G_j(x)|: one row per place x, one column per group, the nearest first. Rows sum to the number of places."""
    array, bounds = _check_codes(codes), _check_thresholds(thresholds)
    sharing = np.column_stack([_sharing(array, bits) for bits in bounds])
    return np.diff(sharing, axis=1, prepend=0)


def mean_sizes(codes: ArrayLike, thresholds: Sequence[int]) -> tuple[int, ...]:
    """Group sizes that do not depend on x: the means of the published ones, rounded to integers with the same sum.

    Means are rounded down, and the rest goes to the largest remainders, the nearer group first. The last group gets at
    least one item; otherwise the staircase would lose its lowest step and realise less than ε.
    """
    each = group_sizes(codes, thresholds)
    places = len(each)
    totals = each.sum(axis=0)
    sizes = totals // places
    left = places - int(sizes.sum())
    sizes[np.argsort(-(totals % places), kind="stable")[:left]] += 1
    if sizes[-1] == 0:
        # Taken from the largest group, the farthest in case of ties, so the first group never becomes empty.
        sizes[len(sizes) - 1 - np.argmax(sizes[::-1])] -= 1
        sizes[-1] = 1
    return tuple(int(size) for size in sizes)


def published_rows(codes: ArrayLike, epsilon: object, thresholds: Sequence[int]) -> NDArray[np.float64]:
    r"""P[x, y] of L-SRR as published: **its realised ε is larger than ε** if α_min depends on x.

    G_j(x) holds the y that share at least β_j bits with x and are in no nearer group. With
    :math:`R(x) = \sum_{j \ge 2} (j-1) |G_j(x)|` and E = e^ε over d places,

    .. math:: α_{min}(x) = \frac{m-1}{(m-1) d E - (E-1) R(x)}, \qquad α_{max}(x) = E \, α_{min}(x),

    and equal steps between. Every row sums to one, but α_min depends on x.

    Parameters
    ----------
    codes
        One 46-bit code per place; several places may share a tile.
    epsilon
        The nominal ε.
    thresholds
        β_1 > … > β_m = 0 in bits, from :func:`best_thresholds`.

    Examples
    --------
    >>> codes = [0b000 << 43, 0b001 << 43, 0b010 << 43, 0b100 << 43]
    >>> rows = published_rows(codes, 1, thresholds=(46, 1, 0))
    >>> rows.round(3).tolist()[0]
    [0.366, 0.25, 0.25, 0.134]
    >>> round(float(np.log(rows.max(axis=0) / rows.min(axis=0)).max()), 3)
    1.263
    """
    array, bounds = _check_codes(codes), _check_thresholds(thresholds)
    shrink = math.exp(-float(Epsilon.of(epsilon)))
    shared = common_bits(array[:, np.newaxis], array)
    group = np.zeros(shared.shape, dtype=np.int64)
    for bound in bounds[:-1]:
        group += shared < bound
    steps = len(bounds) - 1
    # The formula of α_min with numerator and denominator divided by E, so that large ε do not overflow.
    highest = steps / (steps * len(array) - (1 - shrink) * group.sum(axis=1))
    rows: NDArray[np.float64] = _stairs(shrink, len(bounds))[group] * highest[:, np.newaxis]
    return rows


def calibrated_rows(codes: ArrayLike, epsilon: object, sizes: Sequence[int] | None = None) -> NDArray[np.float64]:
    """P[x, y] of L-SRR with groups of the same sizes for every x: ε-LDP, with realised ratio e^ε.

    The items of x are ranked by their number of common bits with x; ties go to x itself, then to the lower index. The
    first ``sizes[0]`` of them have the highest probability, and so on down the staircase of :func:`published_rows`. All
    rows are permutations of one vector, so every ratio in a column lies within e^±ε. The bound is attained: a place in
    the last group of another place is in its own first group.

    Parameters
    ----------
    codes
        One 46-bit code per place; several places may share a tile.
    epsilon
        ε.
    sizes
        The number of items in each group, the nearest first. Public: must not depend on private positions. By default
        the :func:`mean_sizes` of the :func:`best_thresholds` for :func:`number_of_groups`.

    Examples
    --------
    >>> codes = [0b000 << 43, 0b001 << 43, 0b010 << 43, 0b100 << 43]
    >>> rows = calibrated_rows(codes, 1, sizes=(1, 2, 1))
    >>> rows.round(3).tolist()[2]
    [0.25, 0.25, 0.366, 0.134]
    >>> round(float(np.log(rows.max(axis=0) / rows.min(axis=0)).max()), 12)
    1.0
    """
    array = _check_codes(codes)
    shrink = math.exp(-float(Epsilon.of(epsilon)))
    if sizes is None:
        sizes = mean_sizes(array, best_thresholds(array, number_of_groups(epsilon, len(array))))
    counts = _check_sizes(sizes, len(array))
    ranked = np.repeat(_stairs(shrink, len(counts)), counts)
    # Doubled, so that a place ranks before others in its own tile.
    nearness = 2 * common_bits(array[:, np.newaxis], array)
    np.fill_diagonal(nearness, 2 * BITS + 1)
    order = np.argsort(-nearness, axis=1, kind="stable")
    rows = np.empty(order.shape)
    np.put_along_axis(rows, order, (ranked / ranked.sum())[np.newaxis, :], axis=1)
    return rows


def _stairs(shrink: float, groups: int) -> NDArray[np.float64]:
    """The m probabilities in units of α_max: equal steps from 1 down to e^−ε, both ends exact."""
    return np.linspace(1.0, shrink, groups)


def _sharing(codes: NDArray[np.int64], bits: int) -> NDArray[np.int64]:
    """For each code, the number of codes that share its first bits, itself included."""
    _, which, counts = np.unique(prefix(codes, bits), return_inverse=True, return_counts=True)
    return counts[which.ravel()]


def _pairs_sharing(codes: NDArray[np.int64], bits: int) -> int:
    """The number of ordered pairs of places, including pairs of equal places, that share their first bits."""
    return int(_sharing(codes, bits).sum())


def _check_codes(codes: ArrayLike) -> NDArray[np.int64]:
    array = prefix(codes, BITS)
    if array.ndim != 1 or len(array) < 2:  # noqa: PLR2004
        raise InputError(f"Expected two or more codes in one row, got shape {array.shape}; pass one code per place.")
    return array


def _check_thresholds(thresholds: Sequence[int]) -> tuple[int, ...]:
    bounds = _whole_numbers(thresholds)
    falling = bounds is not None and all(high > low for high, low in pairwise(bounds))
    if bounds is None or len(bounds) < _LEAST_GROUPS or not falling or bounds[0] > BITS or bounds[-1] < 0:
        raise DesignError(
            f"Expected thresholds as two or more decreasing whole numbers from {BITS} to 0, got {shown(thresholds)};"
            " use best_thresholds."
        )
    if bounds[-1] != 0:
        raise DesignError(
            f"Expected 0 as the last threshold, got {bounds[-1]}; end with 0, because places that share fewer bits"
            " would never be reported and ε would be infinite."
        )
    return bounds


def _check_sizes(sizes: Sequence[int], places: int) -> tuple[int, ...]:
    counts = _whole_numbers(sizes)
    if counts is None or len(counts) < _LEAST_GROUPS or min(counts) < 0 or sum(counts) != places:
        raise DesignError(
            f"Expected sizes as two or more whole numbers ≥ 0 that sum to the {places} places, got {shown(sizes)};"
            " use mean_sizes."
        )
    if counts[0] == 0 or counts[-1] == 0:
        raise DesignError(
            f"Expected a first and a last group of one item or more, got sizes {shown(sizes)}; leave out empty ones."
        )
    return counts


def _whole_numbers(values: Iterable[object]) -> tuple[int, ...] | None:
    try:
        numbers = [whole(value) for value in values]
    except TypeError:
        return None
    found = tuple(number for number in numbers if number is not None)
    return found if len(found) == len(numbers) else None
