"""L-SRR, a staircase over the tiles of a map: a rival of BRR for places, as published and corrected to keep ε.

Each place has a code (:mod:`reproduction.places.tiles`); the more leading bits two places share, the nearer they count.
The items of x form m groups, and a report of group j has the j-th of m probabilities in equal steps from α_max to
α_min = α_max/e^ε. As published, α_min depends on the sizes of the groups of x, so it reveals information on x: the
realised ratio exceeds e^ε. Calibrated, every x has groups of the same sizes and the ratio is e^ε.

Reference: H. Wang, H. Hong, L. Xiong, Z. Qin, Y. Hong, "L-SRR: Local Differential Privacy for Location-Based Services
with Staircase Randomized Response", CCS 2022, 2809-2823.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bipartite import Custom
from bipartite.domains import Domain, Points
from bipartite.errors import DesignError, shown
from bipartite.lottery import Epsilon, check_table
from bipartite.lottery.budgets import round_up
from bipartite.mechanisms import Mechanism
from reproduction.places.tiles import BITS, check_codes, common_bits, sharing, tile_codes
from reproduction.places.weaker import Weaker, spent

Array = NDArray[np.float64]

# A realised ε that exceeds ε by no more than this share counts as rounding.
_ROUNDING: Final = 1e-9
_LEAST_GROUPS: Final = 2


def lsrr(domain: Domain, epsilon: object) -> Mechanism:
    r"""L-SRR, calibrated: the probability of a report decreases in m equal steps with the map tiles it shares.

    There are as many groups as the authors recommend. Neighbours on opposite sides of a tile boundary may share no bits
    at all, and are then the least likely reports for each other.

    Guarantee: ε-LDP for each report, exactly; a :class:`~bipartite.Custom` of the library.

    >>> from bipartite import Points, verify
    >>> cities = Points([[52.5, 13.4], [48.9, 2.35], [51.5, -0.13], [40.4, -3.7], [41.9, 12.5]], metric="haversine")
    >>> published = PublishedLSRR(cities, 1, thresholds=(6, 0))
    >>> verify(lsrr(cities, 1)).holds, published.holds(), round(float(published.ldp_epsilon), 2)
    (True, False, 1.41)
    """
    places = _checked(domain)
    return Custom(places, places, calibrated_rows(tile_codes(places.coordinates), epsilon), epsilon)


class PublishedLSRR(Weaker):
    """L-SRR as published, with groups of any size; where α_min then depends on x, **ε is not kept**.

    For comparison only; never report with it. Groups begin at ``thresholds`` β_1 > … > β_m = 0 of shared bits; None
    are those of :func:`lsrr`. Unless all places have groups of the same sizes it is ε'-LDP for the larger ε' that
    ``guarantee`` names, which is the ε of ``rows``.
    """

    head: ClassVar = {"mechanism": "lsrr", "variant": "published"}

    def __init__(self, domain: Domain, epsilon: object, *, thresholds: Sequence[int] | None = None) -> None:
        budget = Epsilon.of(epsilon)
        places = _checked(domain)
        codes = tile_codes(places.coordinates)
        if thresholds is None:
            thresholds = best_thresholds(codes, number_of_groups(budget, len(places)))
        rows = published_rows(codes, budget, thresholds)
        needed = float(np.log(rows.max(axis=0) / rows.min(axis=0)).max())
        # If α_min happens to be the same for all places, ε is kept, and rounding to tickets must not exceed it.
        enough = budget.text if needed <= float(budget) * (1 + _ROUNDING) else spent(Fraction(math.exp(needed)))
        self._hold(budget.text, Custom(places, places, rows, enough))

    @property
    def guarantee(self) -> str:
        promise = f"ε-LDP of each report with ε = {self.epsilon}"
        if self.holds():
            return promise
        return f"{promise} as published, which its rows do not keep: they spend ε = {round_up(self.ldp_epsilon, 4)}"

    def __repr__(self) -> str:
        return f"LSRR({self.domain!r}, epsilon={self.epsilon}, variant='published')"


def _checked(domain: object) -> Points:
    """The places, if they have map tiles and their pairs fit into memory."""
    if not isinstance(domain, Points) or domain.metric != "haversine":
        raise DesignError(
            "Expected domain as bp.Points(…, metric='haversine'): L-SRR needs map tiles; use bp.BRR elsewhere."
        )
    check_table(len(domain), len(domain))
    return domain


def number_of_groups(epsilon: object, size: int) -> int:
    """The number of groups that L-SRR uses on ``size`` = d places: 2(e^ε·d − e·e^ε)/((e^ε − 1)·d), at least two.

    Rounded to the nearest integer: the paper gives it approximately, and specifies no rounding (for 1000 places and
    ε = 0.25, 0.5, 1 and 2 rounding down gives the same).

    >>> [number_of_groups(epsilon, 1000) for epsilon in ("0.25", "0.5", "1", "2")]
    [9, 5, 3, 2]
    """
    # e^ε/(e^ε − 1) written so that it stays accurate for small ε.
    estimate = 2 * (1 - math.e / size) / -math.expm1(-float(Epsilon.of(epsilon)))
    return max(_LEAST_GROUPS, round(estimate))


def best_thresholds(codes: ArrayLike, groups: int) -> tuple[int, ...]:
    """The thresholds β_1 > … > β_m = 0 that put items in groups with as many common bits as possible.

    Maximises Σ_x Σ_j β_j·|G_j(x)|, the objective in the L-SRR authors' public script, exactly, where the script
    searches from an initial guess. β_m is counted as the number of bits that all codes share, which gives the same
    groups as 0. No group is empty for every x, so there may be fewer groups than requested: at most as many as there
    are different numbers of common bits.

    >>> best_thresholds([0b000 << 43, 0b001 << 43, 0b010 << 43, 0b100 << 43], groups=3)
    (46, 1, 0)
    """
    array = check_codes(codes)
    pairs = [int(sharing(array, bits).sum()) for bits in range(BITS + 1)]  # ordered pairs that share so many bits
    levels = [bits for bits in range(BITS) if pairs[bits] > pairs[bits + 1]] + [BITS]
    if len(levels) < _LEAST_GROUPS:
        raise DesignError("Expected places in two tiles or more, got one tile; add places of other tiles.")
    # Σ β_j |G_j| = Σ (β_j − β_{j+1})·#{pairs that share β_j bits}, so dynamic programming from the lowest level up
    # applies: for each highest level so far, the best sum and its thresholds.
    best: dict[int, tuple[int, tuple[int, ...]]] = {levels[0]: (0, (0,))}
    for _ in range(min(groups, len(levels)) - 1):
        best = {
            top: max((score + (top - below) * pairs[top], (top, *rest)) for below, (score, rest) in lower.items())
            for top in levels
            if (lower := {below: found for below, found in best.items() if below < top})
        }
    return max(best.values())[1]


def group_sizes(codes: ArrayLike, thresholds: Sequence[int]) -> NDArray[np.int64]:
    """|G_j(x)|: one row per place x, one column per group, the nearest first. Rows sum to the number of places."""
    array, bounds = check_codes(codes), _check_thresholds(thresholds)
    within = np.column_stack([sharing(array, bits) for bits in bounds])
    within[:, 1:] -= within[:, :-1].copy()
    return within


def mean_sizes(codes: ArrayLike, thresholds: Sequence[int]) -> tuple[int, ...]:
    """Group sizes that do not depend on x: the means of the published ones, rounded to integers with the same sum.

    Means are rounded down, and the rest goes to the largest remainders, the nearer group first. The last group gets at
    least one item; otherwise the staircase would lose its lowest step and realise less than ε.
    """
    each = group_sizes(codes, thresholds)
    places = len(each)
    sizes, remainders = np.divmod(each.sum(axis=0), places)
    sizes[np.argsort(-remainders, kind="stable")[: places - int(sizes.sum())]] += 1
    if sizes[-1] == 0:
        # Taken from the largest group, the farthest in case of ties, so the first group never becomes empty.
        sizes[len(sizes) - 1 - np.argmax(sizes[::-1])] -= 1
        sizes[-1] = 1
    return tuple(int(size) for size in sizes)


def published_rows(codes: ArrayLike, epsilon: object, thresholds: Sequence[int]) -> Array:
    r"""P[x, y] of L-SRR as published: **its realised ε is larger than ε** if α_min depends on x.

    G_j(x) holds the y that share at least β_j bits with x and are in no nearer group. With R(x) = Σ_j (j−1)·|G_j(x)|
    and E = e^ε over d places, α_min(x) = (m − 1)/((m − 1)·d·E − (E − 1)·R(x)) and α_max(x) = E·α_min(x), with equal
    steps between. Every row sums to one, but α_min depends on x.

    >>> rows = published_rows([0b000 << 43, 0b001 << 43, 0b010 << 43, 0b100 << 43], 1, thresholds=(46, 1, 0))
    >>> rows.round(3).tolist()[0]
    [0.366, 0.25, 0.25, 0.134]
    >>> round(float(np.log(rows.max(axis=0) / rows.min(axis=0)).max()), 3)
    1.263
    """
    array, bounds = check_codes(codes), _check_thresholds(thresholds)
    shrink = math.exp(-float(Epsilon.of(epsilon)))
    shared = common_bits(array[:, np.newaxis], array)
    group = np.zeros(shared.shape, dtype=np.int64)
    for bound in bounds[:-1]:
        group += shared < bound
    steps = len(bounds) - 1
    # The formula of α_min with numerator and denominator divided by E, so that large ε do not overflow.
    highest = steps / (steps * len(array) - (1 - shrink) * group.sum(axis=1))
    rows: Array = _stairs(shrink, len(bounds))[group] * highest[:, np.newaxis]
    return rows


def calibrated_rows(codes: ArrayLike, epsilon: object) -> Array:
    """P[x, y] of L-SRR with groups of the same sizes for every x: ε-LDP, with realised ratio e^ε.

    Sizes are the :func:`mean_sizes` of the :func:`best_thresholds` for :func:`number_of_groups`.
    """
    array = check_codes(codes)
    bounds = best_thresholds(array, number_of_groups(epsilon, len(array)))
    return ranked_rows(array, epsilon, mean_sizes(array, bounds))


def ranked_rows(codes: NDArray[np.int64], epsilon: object, sizes: Sequence[int]) -> Array:
    """P[x, y] with groups of these sizes for every x, which are public and must not depend on private positions.

    The items of x are ranked by their number of common bits with x; ties go to x itself, then to the lower index. The
    first ``sizes[0]`` of them have the highest probability, and so on down the staircase of :func:`published_rows`. All
    rows are permutations of one vector, so every ratio in a column lies within e^±ε. The bound is attained: a place in
    the last group of another place is in its own first group.

    >>> codes = np.array([0b000 << 43, 0b001 << 43, 0b010 << 43, 0b100 << 43])
    >>> ranked_rows(codes, 1, sizes=(1, 2, 1)).round(3).tolist()[2]
    [0.25, 0.25, 0.366, 0.134]
    """
    shrink = math.exp(-float(Epsilon.of(epsilon)))
    ranked = np.repeat(_stairs(shrink, len(sizes)), sizes)
    # Doubled, so that a place ranks before others in its own tile.
    nearness = 2 * common_bits(codes[:, np.newaxis], codes)
    np.fill_diagonal(nearness, 2 * BITS + 1)
    order = np.argsort(-nearness, axis=1, kind="stable")
    rows = np.empty(order.shape)
    np.put_along_axis(rows, order, (ranked / ranked.sum())[np.newaxis, :], axis=1)
    return rows


def _stairs(shrink: float, groups: int) -> Array:
    """The m probabilities in units of α_max: equal steps from 1 down to e^−ε, both ends exact."""
    return np.linspace(1.0, shrink, groups)


def _check_thresholds(thresholds: object) -> tuple[int, ...]:
    bounds = tuple(thresholds) if np.iterable(thresholds) else ()
    falling = all(type(each) is int for each in bounds) and all(high > low for high, low in pairwise(bounds))
    if len(bounds) < _LEAST_GROUPS or not falling or bounds[0] > BITS or bounds[-1] < 0:
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
