"""Theorems 1 to 4 and Algorithm 3 against brute force, and the sentences of the text that are theorems too.

No figure of the paper: counts and exact numbers that the verdicts rest on. Signs and losses come from whole numbers or
fractions; e^ε is only ever rounded where a limit is compared with a formula.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite import identifiability
from bipartite.design import algorithm_1, algorithm_2, algorithm_3
from bipartite.domains import Integers, Items, Points
from bipartite.locations import cities
from bipartite.mechanisms import BRR, GRR
from bipartite.verification import verify
from reproduction.figures import Line, Panel, panels
from reproduction.places.lsrr import calibrated_rows
from reproduction.quality import expected_loss, local_loss, qloss
from reproduction.runner.contract import Row, Rows, select
from reproduction.theory import (
    algorithm_3_as_printed,
    exact_expected_loss,
    exact_local_loss,
    limit_global_ratio,
    limit_inf,
    limit_of_m,
    limit_sup,
)

if TYPE_CHECKING:
    from collections.abc import Callable

_EPSILONS: Final = ("0.1", "0.25", "0.5", "0.75", "0.9", "1", "1.5", "2", "3", "4", "5")
_BLOCK: Final = 20
_CODE_BITS: Final = 46  # of a tile
_SLACK: Final = 1 + 1e-12


@dataclass(frozen=True)
class Settings:
    """How far each is checked."""

    most: int = 200
    """Algorithm 3 against Algorithm 2 for N up to this."""
    most_pointwise: int = 60
    """Values one by one for N up to this."""
    limits: tuple[int, ...] = (101, 1001, 10_001, 100_001)
    large: int = 1_000_000
    epsilons: tuple[str, ...] = _EPSILONS


@dataclass(frozen=True)
class Cell:
    """One kind of check, for these N and ε."""

    what: str
    first: int
    last: int
    epsilons: tuple[str, ...]


QUICK = Settings(most=60, most_pointwise=30, limits=(101, 1001, 10_001))


def cells(settings: Settings) -> tuple[Cell, ...]:
    """Blocks of N for the counts, single N for the limits."""
    found = [
        Cell(what, first, min(first + _BLOCK - 1, most), settings.epsilons)
        for what, most in (("algorithm 3", settings.most), ("pointwise", settings.most_pointwise))
        for first in range(2, most + 1, _BLOCK)
    ]
    found += [Cell("limits", points, points, settings.epsilons) for points in settings.limits]
    found += [
        Cell("saturation", 5, 10_000, ("1",)),
        Cell("exponential times", 100, settings.large, ("1", "2", "4", "6", "8", "10")),
        Cell("appendix", 100_001, 100_001, ("1",)),
        Cell("any m", 2, 12, ("0.5", "2")),
        Cell("two weights", 3, 10, ("0.25", "1", "3")),
        Cell("general domains", 100, 100, ("0.5", "1", "2", "4")),
        Cell("rank", 40, 40, ("0.5", "1", "2")),
        Cell("staircase on a line", 64, 64, ("0.5", "1", "2")),
    ]
    return tuple(found)


def measure(cell: Cell) -> list[Row]:
    """The check that the cell names."""
    return [{"what": cell.what, **row} for row in _CHECKS[cell.what](cell)]


def _distances(points: int) -> list[list[int]]:
    """|x − y|; the other half of the rows mirrors these."""
    return [[abs(x - y) for y in range(points)] for x in range((points + 1) // 2)]


def _algorithm_3(cell: Cell) -> list[Row]:
    printed = corrected = from_one = cases_from_one = below_one = cases = 0
    for points in range(cell.first, cell.last + 1):
        rows = _distances(points)
        for epsilon in cell.epsilons:
            right = algorithm_2(rows, epsilon).m
            differs = algorithm_3_as_printed(points, epsilon) != right
            printed += differs
            if float(epsilon) >= 1:  # Theorem 1 (2)
                from_one += differs
                cases_from_one += 1
            corrected += algorithm_3(points, epsilon) != right
            below_one += right < 1
            cases += 1
    return [{"last": cell.last, "cases": cases, "printed_differs": printed, "corrected_differs": corrected,
             "cases_from_one": cases_from_one, "printed_differs_from_one": from_one,
             "below_one": below_one}]  # fmt: skip


def _pointwise(cell: Cell) -> list[Row]:
    """Theorem 2's first sentence, and "if m increases, the local utility of some would certainly decrease"."""
    worse_printed = average_worse = worse_corrected = raising_harms = raisings = average_better = cases = 0
    for points in range(cell.first, cell.last + 1):
        for epsilon in cell.epsilons:
            # A fraction a hair from e^ε, the same on both sides of every comparison.
            e = Fraction(math.exp(float(epsilon)))
            ks = range(1, (points + 1) // 2 + 1)
            losses = {m: [exact_local_loss(points, m, e, k) for k in ks] for m in range(1, points + 1)}
            safe, printed = algorithm_3(points, epsilon), min(algorithm_3_as_printed(points, epsilon), points)
            grr, grr_average = losses[1], exact_expected_loss(points, 1, e)
            worse_printed += any(a > b for a, b in zip(losses[printed], grr, strict=True))
            worse_corrected += any(a > b for a, b in zip(losses[safe], grr, strict=True))
            average = exact_expected_loss(points, safe, e)
            average_worse += exact_expected_loss(points, printed, e) > grr_average
            better = False
            for m in range(safe + 1, points):
                raisings += 1
                raising_harms += any(a > b for a, b in zip(losses[m], losses[safe], strict=True))
                better = better or exact_expected_loss(points, m, e) < average
            average_better += better
            cases += 1
    return [{"last": cell.last, "cases": cases, "worse_printed": worse_printed, "worse_corrected": worse_corrected,
             "average_worse_printed": average_worse, "raisings": raisings,
             "raising_harms": raising_harms, "average_better": average_better}]  # fmt: skip


def _limits(cell: Cell) -> list[Row]:
    rows: list[Row] = []
    for epsilon in cell.epsilons:
        domain = Integers(1, cell.first)
        brr, grr = BRR(domain, epsilon), GRR(domain, epsilon)
        local = local_loss(brr) / local_loss(grr)
        budget = float(epsilon)
        measured = {
            "m/N": (brr.m / cell.first, limit_of_m(budget)),
            "global ratio": (expected_loss(brr) / expected_loss(grr), limit_global_ratio(budget)),
            "largest local ratio": (float(local.max()), limit_sup(budget)),
            "least local ratio": (float(local.min()), limit_inf(budget)),
        }
        rows += [
            {"points": cell.first, "epsilon": budget, "quantity": name, "measured": found, "limit": limit}
            for name, (found, limit) in measured.items()
        ]
    return rows


def _saturation(cell: Cell) -> list[Row]:
    return [
        {"points": points, "epsilon": float(epsilon), "qloss": qloss(GRR(Integers(1, points), epsilon)),
         "expected_error": expected_loss(GRR(Integers(1, points), epsilon))}
        for epsilon in cell.epsilons
        for points in (5, 20, 100, 1000, cell.last)
    ]  # fmt: skip


def _exponential_times(cell: Cell) -> list[Row]:
    rows: list[Row] = []
    for points in (cell.first, cell.last):
        for epsilon in cell.epsilons:
            domain = Integers(1, points)
            ratio = expected_loss(BRR(domain, epsilon)) / expected_loss(GRR(domain, epsilon))
            budget = float(epsilon)
            rows.append(
                {"points": points, "epsilon": budget, "ratio": ratio, "times_h": ratio * math.exp(budget / 2),
                 "times_e": ratio * math.exp(budget)}
            )  # fmt: skip
    return rows


def _appendix(cell: Cell) -> list[Row]:
    budget = float(cell.epsilons[0])
    e, h = math.exp(budget), math.exp(budget / 2)
    points = cell.first
    c = algorithm_3(points, cell.epsilons[0]) / points
    below = 12 * ((e - 1) * c + 1)
    leading = (e - 1) * c**3 + 3 * (e - 1) * c**2 + 4

    def supremum(inner: float) -> float:
        return h - (h - 1) / (h + 1) * (math.sqrt(inner) + 1)

    return [
        {"quantity": "f(c)", "measured": expected_loss(BRR(Integers(1, points), cell.epsilons[0])) / points,
         "printed": (leading - 3 * e) / below, "corrected": leading / below},
        {"quantity": "supremum", "measured": limit_sup(budget), "printed": supremum(3 * e + 1),
         "corrected": supremum(e + 2 * h + 1)},
    ]  # fmt: skip


def _any_m(cell: Cell) -> list[Row]:
    """Every m that does not depend on the value is ε-LDP, proved from the tickets."""
    broken = cases = 0
    for points in range(cell.first + 1, cell.last + 1):
        for epsilon in cell.epsilons:
            for m in range(1, points):
                broken += not verify(BRR(Integers(1, points), epsilon, m=m)).holds
                cases += 1
    return [{"cases": cases, "broken": broken}]


def _two_weights(cell: Cell) -> list[Row]:
    """Algorithm 1 against every choice of weights 1 and e^ε.

    Between them Q has no least point: each weight is better at one of its ends, whatever it is.
    """
    differs = cases = 0
    for points in range(cell.first, cell.last + 1):
        sets = np.array(list(itertools.product((0, 1), repeat=points)), dtype=np.float64)
        for epsilon in cell.epsilons:
            weights = 1 + (math.exp(float(epsilon)) - 1) * sets
            for row in _distances(points):
                losses = np.sort(np.array(row, dtype=np.float64))
                least = float(((weights @ losses) / weights.sum(axis=1)).min())
                m = algorithm_1(row, epsilon).m
                ours = np.where(np.arange(points) < m, math.exp(float(epsilon)), 1.0)
                differs += not math.isclose(float(losses @ ours / ours.sum()), least, rel_tol=1e-12)
                cases += 1
    return [{"cases": cases, "differs": differs}]


def _general(cell: Cell) -> list[Row]:
    """Theorem 4 on losses that are no line: Jaccard similarity, and great circles between a hundred cities."""
    domains = {
        "Jaccard": Items.tanimoto(np.arange(1, cell.first + 1)[:, None]),
        "cities": Points(cities().coordinates, metric="haversine"),
    }
    rows: list[Row] = []
    for name, domain in domains.items():
        for epsilon in cell.epsilons:
            brr, grr = BRR(domain, epsilon), GRR(domain, epsilon)
            ours, theirs = local_loss(brr), local_loss(grr)
            worse = int((ours > theirs + abs(theirs) * (_SLACK - 1)).sum())
            rows.append(
                {"domain": name, "points": len(domain), "epsilon": float(epsilon), "m": brr.m, "worse": worse,
                 "better_on_average": bool(ours.mean() < theirs.mean())}
            )  # fmt: skip
    return rows


def _rank(cell: Cell) -> list[Row]:
    rows: list[Row] = []
    for epsilon in cell.epsilons:
        domain = Integers(1, cell.first)
        rows += [
            {"mechanism": type(mechanism).__name__, "points": cell.first, "epsilon": float(epsilon),
             "m": mechanism.m if isinstance(mechanism, BRR) else 1, "rank": identifiability(mechanism).rank}
            for mechanism in (BRR(domain, epsilon), GRR(domain, epsilon))
        ]  # fmt: skip
    return rows


def _staircase(cell: Cell) -> list[Row]:
    """L-SRR's staircase in one dimension: the code is the number in binary, and neighbours share its first bits."""
    points = cell.first
    codes = np.arange(points, dtype=np.int64) << (_CODE_BITS - (points - 1).bit_length())
    distance = np.abs(np.subtract.outer(np.arange(points), np.arange(points)))
    rows: list[Row] = []
    for epsilon in cell.epsilons:
        table = calibrated_rows(codes, epsilon)
        rows.append(
            {"points": points, "epsilon": float(epsilon), "groups": len(np.unique(table[0])),
             "realised_epsilon": math.log((table.max(axis=0) / table.min(axis=0)).max()),
             "expected_error": float((table * distance).sum() / points),
             "grr": expected_loss(GRR(Integers(1, points), epsilon)),
             "brr": expected_loss(BRR(Integers(1, points), epsilon))}
        )  # fmt: skip
    return rows


_CHECKS: Final[dict[str, Callable[[Cell], list[Row]]]] = {
    "algorithm 3": _algorithm_3,
    "pointwise": _pointwise,
    "limits": _limits,
    "saturation": _saturation,
    "exponential times": _exponential_times,
    "appendix": _appendix,
    "any m": _any_m,
    "two weights": _two_weights,
    "general domains": _general,
    "rank": _rank,
    "staircase on a line": _staircase,
}


_QUANTITIES: Final = {
    "m/N": "m/N",
    "global ratio": "Q_g of BRR over GRR’s",
    "largest local ratio": "Largest Q⁽ˣ⁾ of BRR over GRR’s",
    "least local ratio": "Least Q⁽ˣ⁾ of BRR over GRR’s",
}


def draw(rows: Rows) -> dict[str, str]:
    """How fast the four limits of Theorems 1 to 3 are reached."""
    limits = select(rows, what="limits")
    names = list(dict.fromkeys(str(row["quantity"]) for row in limits))
    largest = max(int(row["points"]) for row in limits)
    drawn = []
    for name in names:
        of = select(limits, quantity=name, points=largest)
        found = replace(Line.of("BRR", of, "epsilon", "measured"), joined=False)
        drawn.append(
            Panel(
                f"{_QUANTITIES[name]}, N = {largest:,}",
                [Line.of("limit", of, "epsilon", "limit", marked=False), found],
                lowest=0,
            )
        )
    return {
        "limits": panels(
            drawn, across="ε", up="m/N, or BRR over GRR", columns=2,
            says=f"m/N and the ratios of BRR to GRR at N = {largest:,}, beside the limits of Theorems 1 to 3.",
            notes=[f"Measured at N = {largest:,}; the dashed lines are the limits of Theorems 1 to 3."],
        )
    }  # fmt: skip
