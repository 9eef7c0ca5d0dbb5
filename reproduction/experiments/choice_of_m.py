"""What the m of the global search is best for: every m of a line, value by value and on average.

Section 3.3 takes the least m⁽ᵏ⁾ "to minimise Q_g". Here every other m stands beside it, in fractions: the average over
values, the worst value, and each step up to the safe m. Three sentences that rest on the same sums are checked too: how
far the m₁ of Theorem 1 (2) is from that m, from which ε on m is 1 and BRR is GRR, and between which ratios the values
with a centred window lie (appendix A.1).
"""

from __future__ import annotations

import bisect
import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from bipartite.design import algorithm_2, algorithm_3
from reproduction.figures import Line, Panel, panels
from reproduction.runner.contract import Row, Rows, distinct, number, select
from reproduction.theory import algorithm_3_as_printed, exact_expected_loss, exact_local_loss, exact_local_loss_grr

if TYPE_CHECKING:
    from collections.abc import Callable

_EPSILONS: Final = ("0.1", "0.25", "0.5", "0.75", "0.9", "1", "1.5", "2", "3", "4", "5")
_BLOCK: Final = 10
_BESIDE: Final = Decimal("1e-9")
"""How far from a threshold, on either side of it, m is asked for."""
_BY_ROWS: Final = 60
"""Up to this N the m at the threshold is that of Algorithm 2, row by row; beyond, that of the closed form."""
AVERAGE: Final = "average over values"
WORST: Final = "worst value"
_SAFE: Final = "safe m"


@dataclass(frozen=True)
class Settings:
    """How far each is checked."""

    most: int = 60
    """Every m for N up to this."""
    most_closed: int = 200
    """The closed forms for N up to this."""
    drawn: int = 100
    drawn_epsilons: tuple[str, ...] = ("0.5", "1", "2", "4")
    large: tuple[int, ...] = (1001,)
    windows: tuple[int, ...] = (11, 12, 101, 102, 1001, 1002, 10_001, 100_001)
    epsilons: tuple[str, ...] = _EPSILONS


@dataclass(frozen=True)
class Cell:
    """One kind of check, for these N and ε."""

    what: str
    first: int
    last: int
    epsilons: tuple[str, ...]


QUICK = Settings(most=20, most_closed=60, large=(201,), windows=(11, 12, 101, 102, 1001))
_ROOTS: Final = ("11/10", "5/4", "3/2", "2", "3", "5", "10")
"""Values of h = e^{ε/2} that are fractions, so that nothing is rounded."""


def cells(settings: Settings) -> tuple[Cell, ...]:
    """Blocks of N for the counts, single N for the rest."""
    found = [
        Cell(what, first, min(first + _BLOCK - 1, most), epsilons)
        for what, least, most, epsilons in (
            ("every m", 2, settings.most, settings.epsilons),
            ("theorem 1 (2)", 2, settings.most_closed, tuple(each for each in settings.epsilons if float(each) >= 1)),
            ("becomes GRR", 5, settings.most_closed, ()),
        )
        for first in range(least, most + 1, _BLOCK)
    ]
    found += [Cell("large", points, points, settings.epsilons) for points in settings.large]
    found += [Cell("curve", settings.drawn, settings.drawn, (epsilon,)) for epsilon in settings.drawn_epsilons]
    found += [Cell("centred windows", points, points, ()) for points in settings.windows]
    return tuple(found)


def measure(cell: Cell) -> list[Row]:
    """The check that the cell names."""
    return [{"what": cell.what, **row} for row in _CHECKS[cell.what](cell)]


def _near(epsilon: str) -> Fraction:
    """A fraction a hair from e^ε, the same on both sides of every comparison."""
    return Fraction(math.exp(float(epsilon)))


def _values(points: int) -> range:
    """Half of the values; the others mirror them."""
    return range(1, (points + 1) // 2 + 1)


def _every_m(cell: Cell) -> list[Row]:
    cases = larger_better = smaller_better = steps = steps_wrong = room = worst_is_best = 0
    gaps, worst_gaps = [Fraction(0)], [Fraction(0)]
    for points in range(cell.first, cell.last + 1):
        for epsilon in cell.epsilons:
            e, safe = _near(epsilon), algorithm_3(points, epsilon)
            every = range(1, points + 1)
            local = {m: [exact_local_loss(points, m, e, k) for k in _values(points)] for m in every}
            average = {m: exact_expected_loss(points, m, e) for m in every}
            worst = {m: max(a / b for a, b in zip(local[m], local[1], strict=True)) for m in every}
            cases += 1
            larger_better += any(average[m] < average[safe] for m in range(safe + 1, points + 1))
            smaller_better += any(average[m] < average[safe] for m in range(1, safe))
            gaps.append(average[safe] / min(average.values()) - 1)
            worst_is_best += worst[safe] == min(worst.values())
            worst_gaps.append(worst[safe] / min(worst.values()) - 1)
            room += any(worst[m] <= 1 for m in range(safe + 1, points))
            for m in range(1, safe):
                steps += 1
                falls = all(b <= a for a, b in zip(local[m], local[m + 1], strict=True))
                steps_wrong += not (falls and average[m + 1] < average[m])
    return [{"last": cell.last, "cases": cases, "larger_better": larger_better, "smaller_better": smaller_better,
             "largest_gap": float(max(gaps)), "worst_is_best": worst_is_best,
             "largest_worst_gap": float(max(worst_gaps)), "room": room, "steps": steps,
             "steps_wrong": steps_wrong}]  # fmt: skip


def _first_row_alone(cell: Cell) -> list[Row]:
    """Theorem 1 (2): how far m₁ lies above m where ε ≥ 1."""
    above = [
        algorithm_3_as_printed(points, epsilon) - algorithm_3(points, epsilon)
        for points in range(cell.first, cell.last + 1)
        for epsilon in cell.epsilons
    ]
    return [{"last": cell.last, "cases": len(above), "differs": sum(map(bool, above)), "most_above": max(above),
             "most_below": -min(above)}]  # fmt: skip


def _large(cell: Cell) -> list[Row]:
    """On a large domain: the m that is best on average, by trying all."""
    rows: list[Row] = []
    for epsilon in cell.epsilons:
        e, safe = _near(epsilon), algorithm_3(cell.first, epsilon)
        least, best = min((exact_expected_loss(cell.first, m, e), m) for m in range(1, cell.first + 1))
        gap = exact_expected_loss(cell.first, safe, e) / least - 1
        rows.append({"points": cell.first, "epsilon": float(epsilon), "m": safe, "best_m": best, "gap": float(gap)})
    return rows


def _curve(cell: Cell) -> list[Row]:
    """Average and worst ratio to GRR against m."""
    points, epsilon = cell.first, cell.epsilons[0]
    e, safe = _near(epsilon), algorithm_3(points, epsilon)
    rows: list[Row] = []
    for m in range(1, points):
        worst = max(exact_local_loss(points, m, e, k) / exact_local_loss_grr(points, e, k) for k in _values(points))
        average = exact_expected_loss(points, m, e) / exact_expected_loss(points, 1, e)
        rows += [
            {"points": points, "epsilon": float(epsilon), "m": m, "is_safe": m == safe, "quantity": name,
             "ratio": float(ratio)}
            for name, ratio in ((AVERAGE, average), (WORST, worst))
        ]  # fmt: skip
    return rows


def threshold(points: int) -> float:
    """The ε from which on m = 1 on a line: ln ⌊(N − 2)²/4⌋; below it m is larger.

    The second item of row k is raised where e^ε < Σ_j λ_j − (N − 1), its distance being 1. The sum of distances is
    least in the middle, ⌊N²/4⌋.

    >>> round(threshold(20), 2)
    4.39
    """
    return math.log((points - 2) ** 2 // 4)


def _becomes_grr(cell: Cell) -> list[Row]:
    wrong = cases = 0
    for points in range(cell.first, cell.last + 1):
        at = round(Decimal((points - 2) ** 2 // 4).ln(), 12)
        for epsilon, is_one in ((at + _BESIDE, True), (at - _BESIDE, False)):
            cases += 1
            wrong += (_safe(points, str(epsilon)) == 1) != is_one
    return [{"last": cell.last, "cases": cases, "threshold_wrong": wrong}]


def _safe(points: int, epsilon: str) -> int:
    if points > _BY_ROWS:
        return algorithm_3(points, epsilon)
    return algorithm_2([[abs(x - y) for y in range(points)] for x in range((points + 1) // 2)], epsilon).m


def _centred_windows(cell: Cell) -> list[Row]:
    """The least and largest ratio to GRR of values whose window is centred (m − 1 ≤ 2n), and the paper's bounds."""
    points = cell.first
    rows: list[Row] = []
    for root in _ROOTS:
        h = Fraction(root)
        e = h * h
        m = safe_m_of_ratio(points, e)
        ratios = [
            exact_local_loss(points, m, e, k) / exact_local_loss_grr(points, e, k)
            for k in (_values(points)[m // 2 :] if points <= _ALL_VALUES else (m // 2 + 1, (points + 1) // 2))
        ]
        least, most = min(ratios), max(ratios)
        low, high = (3 * h + 2) / (2 * e + 2 * h + 1), 2 / (h + 1)
        rows.append(
            {"points": points, "h": root, "m": m, "least": float(least), "low": float(low), "most": float(most),
             "high": float(high), "below_low": least < low, "above_high": most > high,
             "least_apart": float(points * (least - low)), "most_apart": float(points * (most - high))}
        )  # fmt: skip
    return rows


_ALL_VALUES: Final = 2000
"""Up to this N every value is asked, beyond only the two ends: the ratio grows with the distance from the end."""


def safe_m_of_ratio(points: int, e: Fraction) -> int:
    """The m of Algorithm 2 on a line for a rational e^ε, from the signs of the first and of the middle row."""

    def last(most: int, rises: Callable[[int], bool]) -> int:
        return 1 + bisect.bisect_left(range(2, most + 1), True, key=rises)  # noqa: FBT003 (the value looked for)

    first = last(points, lambda i: i * (i - 1) * e >= (points - i) * (points - i + 1))
    middle = last(points + 1, lambda i: (i - 1) ** 2 * e >= (points + 1 - i) ** 2 - points % 2)
    return max(1, min(first, middle if middle % 2 else middle - 1))


_CHECKS: Final[dict[str, Callable[[Cell], list[Row]]]] = {
    "every m": _every_m,
    "theorem 1 (2)": _first_row_alone,
    "large": _large,
    "curve": _curve,
    "becomes GRR": _becomes_grr,
    "centred windows": _centred_windows,
}


def draw(rows: Rows) -> dict[str, str]:
    """Both ratios against m, with the safe m."""
    curve = select(rows, what="curve")
    points = int(curve[0]["points"])
    drawn = []
    for epsilon in distinct(curve, "epsilon"):
        of = select(curve, epsilon=epsilon)
        lines = [
            Line(name, [number(row, "m") for row in some], [number(row, "ratio") for row in some], marked=False)
            for name in (AVERAGE, WORST)
            for some in [select(of, quantity=name)]
        ]
        safe = select(of, is_safe=True)
        marks = Line(_SAFE, [number(row, "m") for row in safe], [number(row, "ratio") for row in safe], joined=False)
        drawn.append(Panel(f"N = {points}, ε = {epsilon:g}", [*lines, marks], lowest=0, highest=1.6))
    return {
        "choice_of_m": panels(
            drawn, across="m", up="expected error over GRR’s",
            says=f"Expected error over GRR's against m, on average and for the worst value, N = {points}.",
            notes=["The safe m is that of the global search: the least m⁽ᵏ⁾ over all values k."],
        )
    }  # fmt: skip
