"""What the m of the global search is best for: every m of a line, value by value and on average.

Section 3.3 takes the least m⁽ᵏ⁾ "to minimise Q_g". Here every other m stands beside it, in fractions: the average over
values, the worst value, and each step up to the safe m. Three sentences that rest on the same sums are checked too: how
far the m₁ of Theorem 1 (2) is from that m, from which ε on m is 1 and BRR is GRR, and between which ratios the values
with a centred window lie (appendix A.1).
"""

import bisect
import math
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

import pandas as pd

from bipartite.design import algorithm_2, algorithm_3
from reproduction.experiments.rows_of_a_line import EPSILONS, ends, half, near, over_lines, rows_of_half
from reproduction.form import Grid, Row
from reproduction.pictures import panels
from reproduction.theory import algorithm_3_as_printed, exact_expected_loss, exact_local_loss, exact_local_loss_grr

_BLOCK: Final = 10  # N to a point of what is counted
_FROM_ONE: Final = tuple(each for each in EPSILONS if float(each) >= 1)
_BESIDE: Final = Decimal("1e-9")
"""How far from a threshold, on either side of it, m is asked for."""
_BY_ROWS: Final = 60
"""Up to this N the m at the threshold is that of Algorithm 2, row by row; beyond, that of the closed form."""
_ALL_VALUES: Final = 2000
"""Up to this N every value is asked, beyond only the two ends: the ratio grows with the distance from the end."""
_ROOTS: Final = ("11/10", "5/4", "3/2", "2", "3", "5", "10")
"""Values of h = e^{ε/2} that are fractions, so that nothing is rounded."""


def _grid(most: int, most_closed: int, large: int, windows: tuple[int, ...]) -> Grid:
    """Every m for N up to the first, closed forms for N up to the second."""
    return (
        Grid(what=("every m",), last=ends(2, most, _BLOCK))
        + Grid(what=("theorem 1 (2)",), last=ends(2, most_closed, _BLOCK))
        + Grid(what=("becomes GRR",), last=ends(5, most_closed, _BLOCK))
        + Grid(what=("large",), points=(large,))
        + Grid(what=("curve",), points=(100,), epsilon=("0.5", "1", "2", "4"))
        + Grid(what=("centred windows",), points=windows)
    )


FULL = _grid(60, 200, 1001, (11, 12, 101, 102, 1001, 1002, 10_001, 100_001))
QUICK = _grid(20, 60, 201, (11, 12, 101, 102, 1001))


def measure(what: str, **of: Any) -> Iterator[Row]:  # noqa: ANN401 (numbers and budgets)
    """The check of this name, of lines with so many points."""
    for row in _CHECKS[what](**of):
        yield {"what": what, **row}


def _every_m(points: int, epsilon: str) -> Row:
    e, safe = near(epsilon), algorithm_3(points, epsilon)
    every = range(1, points + 1)
    local = {m: [exact_local_loss(points, m, e, k) for k in half(points)] for m in every}
    average = {m: exact_expected_loss(points, m, e) for m in every}
    worst = {m: max(a / b for a, b in zip(local[m], local[1], strict=True)) for m in every}

    def falls(m: int) -> bool:
        """Whether the step from m to m + 1 raises the error of nobody and lowers the average."""
        return average[m + 1] < average[m] and all(b <= a for a, b in zip(local[m], local[m + 1], strict=True))

    return {
        "larger_better": any(average[m] < average[safe] for m in every[safe:]),
        "smaller_better": any(average[m] < average[safe] for m in every[: safe - 1]),
        "largest_gap": float(average[safe] / min(average.values()) - 1),
        "worst_is_best": worst[safe] == min(worst.values()),
        "largest_worst_gap": float(worst[safe] / min(worst.values()) - 1),
        "room": any(worst[m] <= 1 for m in range(safe + 1, points)),
        "steps": safe - 1, "steps_wrong": sum(not falls(m) for m in range(1, safe)),
    }  # fmt: skip


def _first_row_alone(points: int, epsilon: str) -> Row:
    """Theorem 1 (2): how far m₁ lies above m where ε ≥ 1."""
    above = algorithm_3_as_printed(points, epsilon) - algorithm_3(points, epsilon)
    return {"differs": above != 0, "most_above": above, "most_below": -above}


def threshold(points: int) -> float:
    """The ε from which on m = 1 on a line: ln ⌊(N − 2)²/4⌋; below it m is larger.

    The second item of row k is raised where e^ε < Σ_j λ_j − (N − 1), its distance being 1. The sum of distances is
    least in the middle, ⌊N²/4⌋.

    >>> round(threshold(20), 2)
    4.39
    """
    return math.log((points - 2) ** 2 // 4)


def _becomes_grr(points: int, side: int) -> Row:
    epsilon = str(round(Decimal((points - 2) ** 2 // 4).ln(), 12) + side * _BESIDE)
    m = algorithm_3(points, epsilon) if points > _BY_ROWS else algorithm_2(rows_of_half(points), epsilon).m
    return {"threshold_wrong": (m == 1) != (side > 0)}


def _large(points: int) -> Iterator[Row]:
    """On a large domain: the m that is best on average, by trying all."""
    for epsilon in EPSILONS:
        e, safe = near(epsilon), algorithm_3(points, epsilon)
        least, best = min((exact_expected_loss(points, m, e), m) for m in range(1, points + 1))
        gap = float(exact_expected_loss(points, safe, e) / least - 1)
        yield {"points": points, "epsilon": float(epsilon), "m": safe, "best_m": best, "gap": gap}


def _curve(points: int, epsilon: str) -> Iterator[Row]:
    """Average and worst ratio to GRR against m."""
    e, safe = near(epsilon), algorithm_3(points, epsilon)
    for m in range(1, points):
        ratios = {
            "average over values": exact_expected_loss(points, m, e) / exact_expected_loss(points, 1, e),
            "worst value": max(_ratio(points, m, e, k) for k in half(points)),
        }
        for name, ratio in ratios.items():
            yield {"points": points, "epsilon": float(epsilon), "m": m, "is_safe": m == safe, "quantity": name,
                   "ratio": float(ratio)}  # fmt: skip


def _ratio(points: int, m: int, e: Fraction, k: int) -> Fraction:
    """The error of one value over GRR's."""
    return exact_local_loss(points, m, e, k) / exact_local_loss_grr(points, e, k)


def _centred_windows(points: int) -> Iterator[Row]:
    """The least and largest ratio to GRR of values whose window is centred (m − 1 ≤ 2n), and the paper's bounds."""
    for root in _ROOTS:
        h = Fraction(root)
        m = _safe_m_of_ratio(points, h * h)
        centred = half(points)[m // 2 :]
        values = centred if points <= _ALL_VALUES else (centred[0], centred[-1])
        ratios = [_ratio(points, m, h * h, k) for k in values]
        least, most = min(ratios), max(ratios)
        low, high = (3 * h + 2) / (2 * h * h + 2 * h + 1), 2 / (h + 1)
        yield {"points": points, "h": root, "m": m, "least": float(least), "low": float(low), "most": float(most),
               "high": float(high), "below_low": least < low, "above_high": most > high,
               "least_apart": float(points * (least - low)), "most_apart": float(points * (most - high))}  # fmt: skip


def _safe_m_of_ratio(points: int, e: Fraction) -> int:
    """The m of Algorithm 2 on a line for a rational e^ε, from the signs of the first and of the middle row."""

    def last(most: int, rises: Callable[[int], bool]) -> int:
        return 1 + bisect.bisect_left(range(2, most + 1), True, key=rises)  # noqa: FBT003 (the value looked for)

    first = last(points, lambda i: i * (i - 1) * e >= (points - i) * (points - i + 1))
    middle = last(points + 1, lambda i: (i - 1) ** 2 * e >= (points + 1 - i) ** 2 - points % 2)
    return max(1, min(first, middle if middle % 2 else middle - 1))


_CHECKS: Final[dict[str, Callable[..., Iterable[Row]]]] = {
    "every m": over_lines(_every_m, 2, _BLOCK, EPSILONS, ("largest_gap", "largest_worst_gap")),
    "theorem 1 (2)": over_lines(_first_row_alone, 2, _BLOCK, _FROM_ONE, ("most_above", "most_below")),
    "becomes GRR": over_lines(_becomes_grr, 5, _BLOCK, (1, -1)),
    "large": _large,
    "curve": _curve,
    "centred windows": _centred_windows,
}


def draw(rows: pd.DataFrame) -> dict[str, str]:
    """Both ratios against m, with the safe m."""
    curve = rows[rows["what"] == "curve"]
    points = int(curve["points"].iloc[0])
    safe = curve[curve["is_safe"] == True]  # noqa: E712 (a column with gaps)
    safe = safe.assign(quantity=safe["quantity"] + ", safe m")
    curves = {f"{name}, safe m": name for name in curve["quantity"].unique()}
    return {
        "choice_of_m": panels(
            pd.concat([curve, safe]), x="m", y="ratio", hue="quantity", facet="epsilon", dots=curves, like=curves,
            title=f"N = {points}, ε = {{:g}}", lowest=0, highest=1.6, across="m", up="expected error over GRR’s",
            says=f"Expected error over GRR's against m, on average and for the worst value, N = {points}.",
            notes=["The safe m is that of the global search: the least m⁽ᵏ⁾ over all values k."],
        )
    }  # fmt: skip
