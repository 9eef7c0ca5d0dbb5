"""The paper's theorems about a line as functions: exact losses for every N, and their limits as N → ∞.

Corrected where the print is wrong; each docstring says where. The derivations are those of the paper's appendix.

Notation, as in the paper: values k = 1 … N, loss the distance, E = e^ε, h = e^{ε/2}; m = cN is the number of near
outputs; a value stands n = min(k − 1, N − k) = dN steps from the nearer end, so 0 ≤ d ≤ 1/2. Everything is written in g
= e^{−ε/2} ≤ 1 rather than in h, so that no ε overflows, and without differences of nearly equal numbers.

Reference
---------
Zhang, Zhu, Chen and Hu (2026), Bipartite Randomized Response Mechanism for Local Differential Privacy, Theorems 1–3
and appendix A. The docs' page of errata lists what differs.
"""

import bisect
import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Final

from bipartite.errors import EpsilonError, InputError, shown
from bipartite.lottery import Epsilon

# QLoss is the expected loss over the diameter N − 1. GRR reports an almost uniform value when N is large: the mean
# distance of two uniform points of [0, 1] is 1/3.
GRR_QUALITY_LOSS: Final = 1 / 3


def algorithm_3_as_printed(points: int, epsilon: object) -> int:
    """Algorithm 3 as the paper prints it, for comparison: it disagrees with the paper's own Algorithm 2.

    m = m1 for ε ≥ 1; otherwise min(m1, m2) with m2 = i for odd i and i + 1 for even i. Each floor of the print is taken
    exactly, as the last number that passes a sign.

    >>> algorithm_3_as_printed(5, 1.0)  # the corrected m is 1
    2
    """
    budget, points = Epsilon.of(epsilon), _whole("points", points, 2)

    def last(most: int, sign: Callable[[int], int]) -> int:
        return 1 + bisect.bisect_left(range(2, most + 1), 0, key=sign)

    m1 = last(points, lambda i: budget.sign(-(points - i) * (points - i + 1), i * (i - 1)))
    if budget.value >= 1:
        return m1
    i = last(points + 1, lambda i: budget.sign(-((points + 1 - i) ** 2 - points % 2), (i - 1) ** 2))
    return min(m1, i if i % 2 else i + 1)


def exact_local_loss(points: int, m: int, ratio: Fraction | int, k: int) -> Fraction:
    """Q^(k) of BRR for any N, m and k, as an exact fraction: the expected distance between the value k and its report.

    With T(i) = i(i+1)/2, E the ratio of a near to a far probability, and S = T(N−1−n) + T(n) the sum of all distances,

        Q^(k) = [(E − 1)·D + S] / [N + (E − 1)m],

    where D, the sum of the m least distances, is ⌊m²/4⌋ if m − 1 ≤ 2n and T(m−1−n) + T(n) if 2n < m. (For odd m and
    2n = m − 1 both hold, and agree.)

    The paper prints D = (m−1)(m+1)/4 in the first case, for odd m; the whole part of m²/4 serves even m too. It sorts
    outputs by distance, the package takes a window clamped at the ends, [l, l+m−1] with l = clamp(k−1−⌊m/2⌋, 0, N−m):
    that is always a set of m nearest outputs, so the losses are equal.

    Parameters
    ----------
    points
        N ≥ 2.
    m
        The number of near outputs, 1 ≤ m ≤ N.
    ratio
        E ≥ 1: near tickets over far tickets, a whole number or a Fraction.
    k
        The value, counted from 1.

    Notes
    -----
    Reference: appendix A.1, cases (1) to (3).

    Examples
    --------
    >>> exact_local_loss(5, 3, 2, 1)
    Fraction(13, 8)
    """
    points, m, k = _whole("points", points, 2), _whole("m", m, 1, points), _whole("k", k, 1, points)
    ratio = _exact_ratio(ratio)
    n = min(k - 1, points - k)
    near = m * m // 4 if m - 1 <= 2 * n else _triangular(m - 1 - n) + _triangular(n)
    everything = _triangular(points - 1 - n) + _triangular(n)
    return ((ratio - 1) * near + everything) / (points + (ratio - 1) * m)


def exact_local_loss_grr(points: int, ratio: Fraction | int, k: int) -> Fraction:
    """Q^(k) of GRR, which is BRR with m = 1, as an exact fraction: [T(N−1−n) + T(n)] / (E + N − 1).

    >>> exact_local_loss_grr(5, 2, 1)
    Fraction(5, 3)

    Reference: appendix A.1.
    """
    return exact_local_loss(points, 1, ratio, k)


def exact_expected_loss(points: int, m: int, ratio: Fraction | int) -> Fraction:
    """Q_g of BRR under a uniform prior, for any N and m, as an exact fraction.

    For odd m, N·Q_g is the second line of the appendix's formula for f(c), which is exact:

        [(E−1)N²c³ + 3(E−1)N²c² − (E−1)c − 3E − 1 + 4N²] / (12[(E−1)c + 1]),  c = m/N.

    The paper's first line puts −3E inside the bracket that N² multiplies; it belongs outside. For even m the sum of the
    near distances in the interior is m²/4 instead of (m²−1)/4.

    >>> exact_expected_loss(5, 3, 2)
    Fraction(13, 10)

    Reference: appendix A.2.
    """
    points, m = _whole("points", points, 2), _whole("m", m, 1, points)
    excess = _exact_ratio(ratio) - 1
    everything = points * (points * points - 1) // 3
    # m windows touch an end, and the value stands at every position of them once; the other N − m are centred.
    near = (m**3 - m) // 3 + (points - m) * (m * m // 4)
    return (excess * near + everything) / (points * (points + excess * m))


def limit_of_m(epsilon: float) -> float:
    """c₀ = lim m/N = 1/(e^{ε/2} + 1): the share of the domain that is near. Theorem 1 (1).

    Holds for the corrected m = min(m₁, m₂) and for m₁ alone, at every ε.

    >>> round(limit_of_m(1), 4)
    0.3775
    """
    g = _inverse_h(epsilon)
    return g / (1 + g)


def limit_local_loss_grr(d: float) -> float:
    """Lim Q^(k)(GRR)/N = (1 − 2d + 2d²)/2 for a value d·N from the nearer end, whatever ε is.

    >>> limit_local_loss_grr(0.5)
    0.25
    """
    return _everything(_position(d)) / 2


def limit_local_loss(epsilon: float, d: float, c: float | None = None) -> float:
    """Lim Q^(k)(BRR)/N for a value d·N from the nearer end and m = cN (None: the c₀ of ``limit_of_m``).

    (1) For c/2 ≤ d ≤ 1/2, the window is centred: [c²(E−1) + 2(1−2d+2d²)] / (4[1 + (E−1)c]).
    (2) For 0 ≤ d < c/2, it is clamped: [((c−d)² + d²)·E + (1−d)² − (c−d)²] / (2[1 + (E−1)c]).

    Both hold for any 0 < c ≤ 1, not only for the c < 1/2 of the paper, and agree at d = c/2. The paper's final form of
    (2) is equal to this one, but in floats its terms cancel at large ε.

    >>> round(limit_local_loss(1, 0.5), 4), round(limit_local_loss(1, 0), 4)
    (0.1888, 0.3775)
    """
    far, excess = math.exp(-_budget(epsilon)), -math.expm1(-_budget(epsilon))  # 1 and E − 1, both divided by E
    d = _position(d)
    c = limit_of_m(epsilon) if c is None else _share(c)
    weight = far + excess * c
    if 2 * d >= c:
        return (c * c * excess + 2 * _everything(d) * far) / (4 * weight)
    beyond = (1 - d) ** 2 - (c - d) ** 2
    return ((c - d) ** 2 + d * d + beyond * far) / (2 * weight)


def limit_ratio(epsilon: float, d: float) -> float:
    """Lim Q^(k)(BRR)/Q^(k)(GRR) for a value d·N from the nearer end: the local ratio of Theorem 2.

    From the end inwards it falls from ``limit_sup`` at d = 0 to ``limit_inf`` at d = ``position_of_inf``, and rises
    again through ``limit_ratio_at_turn`` at d = c₀/2 to ``limit_sup`` in the middle.

    >>> round(limit_ratio(1, 0.5), 4), round(limit_sup(1), 4)
    (0.7551, 0.7551)
    """
    return limit_local_loss(epsilon, d) / limit_local_loss_grr(d)


def limit_ratio_at_turn(epsilon: float) -> float:
    """(3h + 2)/(2h² + 2h + 1): the local ratio at d = c₀/2, where the window begins to be clamped.

    The least ratio among centred windows (appendix, case 1). The infimum over all values lies nearer to the end.

    >>> round(limit_ratio_at_turn(1), 4), round(limit_inf(1), 4)
    (0.7136, 0.7104)
    """
    g = _inverse_h(epsilon)
    return g * (3 + 2 * g) / (2 + 2 * g + g * g)


def position_of_inf(epsilon: float) -> float:
    """d₁ = (c₀ + 1 − √(c₀² + 1))/2: where the local ratio is least; always 0 < d₁ < c₀/2.

    >>> round(position_of_inf(1), 4)
    0.1543
    """
    c = limit_of_m(epsilon)
    return c / (c + 1 + math.hypot(c, 1))


def limit_sup(epsilon: float) -> float:
    """2/(e^{ε/2} + 1): the limit of the greatest local ratio of BRR to GRR. Theorem 2.

    Attained at the ends (d = 0) and in the middle (d = 1/2). In the appendix the form with a square root, at d = 0,
    is misprinted: √(e^ε + 2e^ε + 1) should read √(e^ε + 2e^{ε/2} + 1), which is e^{ε/2} + 1.

    >>> round(limit_sup(2), 4)
    0.5379
    """
    return 2 * limit_of_m(epsilon)


def limit_inf(epsilon: float) -> float:
    """Lim inf over k = h − (h−1)/(h+1)·(√(h² + 2h + 2) + 1), h = e^{ε/2}: the least local ratio. Theorem 2.

    The appendix misprints the root as √(e^ε + 2e^ε + 2). Computed as sup − gap: the printed order cancels.

    >>> round(limit_inf(2), 4)
    0.4768
    """
    return limit_sup(epsilon) - limit_gap(epsilon)


def limit_gap(epsilon: float) -> float:
    """Sup − inf = (h−1)/(h+1) / (√(h² + 2h + 2) + h + 1), h = e^{ε/2}: how much the local ratio varies. Theorem 2.

    >>> round(limit_gap(2), 4)
    0.0611
    """
    g = _inverse_h(epsilon)
    return math.tanh(float(epsilon) / 4) * g / (math.hypot(1 + g, g) + 1 + g)


def gap_bound(epsilon: float) -> float:
    """1/(2(e^{ε/2} + 1)), Theorem 2's bound on the gap: strictly above ``limit_gap`` for every ε > 0.

    Since h² + 2h + 2 > (h+1)², the gap is even below (h−1)/(2(h+1)²) ≤ 1/16. Beyond ε ≈ 75 floats cannot tell gap and
    bound apart.

    >>> round(gap_bound(2), 4)
    0.1345
    """
    return limit_of_m(epsilon) / 2


def limit_global_ratio(epsilon: float) -> float:
    """Lim Q_g(BRR)/Q_g(GRR) = (7h + 9)/(4(h + 1)²), h = e^{ε/2}: Theorem 3, under a uniform prior.

    >>> round(limit_global_ratio(1), 4), round(limit_global_ratio(2), 4)
    (0.732, 0.5068)
    """
    g = _inverse_h(epsilon)
    return g * (7 + 9 * g) / (4 * (1 + g) ** 2)


def limit_quality_loss(epsilon: float) -> float:
    """Lim QLoss of BRR = (7h + 9)/(12(h + 1)²), h = e^{ε/2}; QLoss = Q_g/(N − 1), and GRR's tends to 1/3.

    The paper says that GRR's "grows explosively" with N; it is Q_g that grows, linearly.

    >>> round(limit_quality_loss(1), 4)
    0.244
    """
    return limit_global_ratio(epsilon) * GRR_QUALITY_LOSS


def epsilon_to_beat_the_median() -> float:
    """The ε above which BRR on a large domain beats always reporting the median, which costs N/4.

    The root of lim QLoss = 1/4. Below it, saying nothing is better.

    >>> round(epsilon_to_beat_the_median(), 4)
    0.9283
    """
    return 2 * math.log((1 + math.sqrt(73)) / 6)


def _everything(d: float) -> float:
    """1 − 2d + 2d², twice the mean distance from d to a uniform point of [0, 1]."""
    return (1 - d) ** 2 + d * d


def _triangular(n: int) -> int:
    return n * (n + 1) // 2


def _inverse_h(epsilon: object) -> float:
    """The g = 1/h = e^{−ε/2} in which everything is written."""
    return math.exp(-_budget(epsilon) / 2)


def _budget(epsilon: object) -> float:
    """ε as a float; unlike a mechanism's ε it needs no tickets, so any positive number will do."""
    number = float(epsilon)  # type: ignore[arg-type]
    if not 0 < number < math.inf:
        raise EpsilonError(
            f"Expected epsilon as a positive finite number, got {shown(epsilon)}; most uses lie between 0.1 and 5."
        )
    return number


def _position(d: float) -> float:
    if not 0 <= d <= 0.5:  # noqa: PLR2004 (the middle)
        raise InputError(
            f"Expected d between 0 and 1/2, got {shown(d)}; give the distance to the nearer end, divided by N."
        )
    return d


def _share(c: float) -> float:
    if not 0 < c <= 1:
        raise InputError(f"Expected c above 0 and at most 1, got {shown(c)}; give m/N, or None for its limit.")
    return c


def _whole(name: str, value: object, least: int, most: float = math.inf) -> int:
    whole = operator.index(value)  # type: ignore[arg-type]
    if not least <= whole <= most:
        wanted = f"at least {least}" if most == math.inf else f"{least} to {most}"
        raise InputError(f"Expected {name} as a whole number of {wanted}, got {shown(value)}; check N, m and k.")
    return whole


def _exact_ratio(ratio: Fraction | int) -> Fraction:
    if ratio < 1:
        raise InputError(
            f"Expected ratio as a whole number or Fraction of at least 1, got {shown(ratio)}; "
            "give near tickets over far tickets, for instance Fraction(near, far)."
        )
    return Fraction(ratio)
