"""L-SRR, a staircase over the tiles of a map: a rival of BRR for places, as published and corrected to keep ε.

Each place has a code (:mod:`bipartite.domains.tiles`); the more leading bits two places share, the nearer they count.
The items of x form m groups, and a report of group j has the j-th of m probabilities in equal steps from α_max to
α_min = α_max/e^ε. As published, α_min depends on the sizes of the groups of x, so it reveals information on x: the
realised ratio exceeds e^ε. Calibrated, every x has groups of the same sizes and the ratio is e^ε.

These are matrices of doubles for comparison. No report is drawn from them.

References
----------
H. Wang, H. Hong, L. Xiong, Z. Qin, Y. Hong, "L-SRR: Local Differential Privacy for Location-Based Services with
Staircase Randomized Response", CCS 2022, 2809-2823.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.domains.base import as_index
from bipartite.domains.tiles import BITS, common_bits, prefix
from bipartite.errors import DesignError, InputError, shown
from bipartite.lottery import Epsilon

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

_LEAST_GROUPS: Final = 2


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
        numbers = [as_index(value) for value in values]
    except TypeError:
        return None
    found = tuple(number for number in numbers if number is not None)
    return found if len(found) == len(numbers) else None
