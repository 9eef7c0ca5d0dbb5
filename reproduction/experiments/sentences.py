"""Sentences of the text and steps of its proofs that no figure shows: five checks in numbers.

* Section 3.2: a mechanism in which every value has its own locally best m does not keep ε.
* Proof of Theorem 1 (2): the roots of the two derivatives, and the bounds that compare them.
* Section 5.1: the chance that a report is one of the near ones, as N grows.
* Section 4.1: how far a value is moved to reach a node.
* Appendix B.2: the noise of a gradient's coordinate under BRR-SGD and under Laplace, in units of the bound C.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.design import algorithm_1
from bipartite.domains import Integers, Interval
from bipartite.mechanisms import BRR
from reproduction.experiments.interval_nodes import POSITIONS
from reproduction.experiments.printed import SGD_BUDGETS
from reproduction.experiments.protocols import POINTS
from reproduction.figures import Line, Panel, panels
from reproduction.runner.contract import Row, Rows, distinct, select
from reproduction.theory import algorithm_3_as_printed

if TYPE_CHECKING:
    from collections.abc import Callable

_EPSILONS: Final = ("0.1", "0.25", "0.5", "0.75", "0.9", "1", "1.5", "2", "3", "4", "5")
_BLOCK: Final = 20
_SLACK: Final = 1e-9


@dataclass(frozen=True)
class Settings:
    """How far each is checked."""

    most: int = 60
    """Values with an m of their own: N up to this."""
    most_roots: int = 200
    points: tuple[int, ...] = (10, 20, 50, 100, 1000, 10_000)
    """The N of the chance of a near report."""
    nodes: tuple[int, ...] = (2, 3, 5, 9, 17, 33, 65, 129, 257, 513)
    epsilons: tuple[str, ...] = _EPSILONS
    drawn: tuple[str, ...] = ("1", "2", "4")
    batch: int = 2048
    budgets: tuple[str, ...] = tuple(map(str, SGD_BUDGETS))


@dataclass(frozen=True)
class Cell:
    """One kind of check, for these sizes and ε."""

    what: str
    sizes: tuple[int, ...]
    epsilons: tuple[str, ...]


QUICK = Settings(most=20, most_roots=40, nodes=(2, 3, 5, 9, 17, 33))


def cells(settings: Settings) -> tuple[Cell, ...]:
    """Blocks of N for what is counted, and one for each of the others."""
    counted = [
        Cell(what, tuple(range(first, min(first + _BLOCK, most + 1))), settings.epsilons)
        for what, least, most in (("local m", 3, settings.most), ("roots", 2, settings.most_roots))
        for first in range(least, most + 1, _BLOCK)
    ]
    return (
        *counted,
        Cell("near reports", settings.points, settings.drawn),
        Cell("rounding", settings.nodes, ()),
        Cell("gradient noise", (settings.batch,), settings.budgets),
    )


def measure(cell: Cell) -> list[Row]:
    """The check that the cell names."""
    return [{"what": cell.what, **row} for row in _CHECKS[cell.what](cell)]


def _local_m(cell: Cell) -> list[Row]:
    """In how many cases the locally best m differ, and in how many of those some ratio exceeds e^ε."""
    differ = broken = 0
    worst, at = 0.0, (0, "")
    for points in cell.sizes:
        for epsilon in cell.epsilons:
            own = [algorithm_1([abs(x - y) for y in range(points)], epsilon).m for x in range(points)]
            if len(set(own)) == 1:
                continue
            differ += 1
            share = realised(own, float(epsilon)) / float(epsilon)
            broken += share > 1 + _SLACK
            if share > worst:
                worst, at = share, (points, epsilon)
    cases = len(cell.sizes) * len(cell.epsilons)
    return [{"most": max(cell.sizes), "cases": cases, "differ": differ, "broken": broken, "worst": worst,
             "worst_points": at[0], "worst_epsilon": at[1]}]  # fmt: skip


def realised(own: list[int], epsilon: float) -> float:
    """The ε that a mechanism spends on a line whose x-th value has the ``own[x]`` nearest outputs as its near ones."""
    points = len(own)
    rows = np.ones((points, points))
    for x, m in enumerate(own):
        first = min(max(x - m // 2, 0), points - m)
        rows[x, first : first + m] = math.exp(epsilon)
    rows /= rows.sum(axis=1, keepdims=True)
    return float(np.log(rows.max(axis=0) / rows.min(axis=0)).max())


def _roots(cell: Cell) -> list[Row]:
    """Both bounds of the proof, the order of the roots that they are for, and whether line 4 as printed matters."""
    below_bound = above_bound = ordered = matters = below_one = 0
    for points in cell.sizes:
        for epsilon in cell.epsilons:
            end, end_bound, middle, middle_bound = bounds_of_roots(points, float(epsilon))
            below_bound += end < end_bound
            above_bound += middle > middle_bound
            ordered += middle > end
            if float(epsilon) < 1:  # from 1 on line 2 takes m₁ anyway
                below_one += 1
                matters += algorithm_3_as_printed(points, epsilon) != algorithm_1(range(points), epsilon).m
    return [{"most": max(cell.sizes), "cases": len(cell.sizes) * len(cell.epsilons), "end_below_its_bound": below_bound,
             "middle_above_its_bound": above_bound, "ordered": ordered, "cases_below_one": below_one,
             "middle_matters": matters}]  # fmt: skip


def bounds_of_roots(points: int, epsilon: float) -> tuple[float, float, float, float]:
    """i₁ᵣ (end) with its printed upper bound, and i₃ᵣ (middle, odd N) with its printed lower bound."""
    e, h = math.exp(epsilon), math.exp(epsilon / 2)
    end = (math.sqrt(points**2 * e + (1 - e) ** 2 / 4) - (points - e / 2 + 1 / 2)) / (e - 1)
    middle = (math.sqrt(e * (points**2 - 1) + 1) - (points - e + 1)) / (e - 1)
    return end, points * (h - 1) / (e - 1), middle, (h * (points - 1) - (points - e + 1)) / (e - 1)


def _near_reports(cell: Cell) -> list[Row]:
    rows: list[Row] = []
    for epsilon in cell.epsilons:
        e = math.exp(float(epsilon))
        for points in cell.sizes:
            rows += [
                {"mechanism": name, "points": points, "epsilon": float(epsilon), "m": m,
                 "near": m * e / (m * e + points - m)}
                for name, m in (("BRR", BRR(Integers(1, points), epsilon).m), ("GRR", 1))
            ]  # fmt: skip
    return rows


def _rounding(cell: Cell) -> list[Row]:
    """The mean way from a value, spread evenly over [0, 1], to its node."""
    rows: list[Row] = []
    for nodes in cell.sizes:
        domain = Interval(0, 1, points=nodes)
        values = [(at + 0.5) / POSITIONS for at in range(POSITIONS)]
        moved = math.fsum(abs(domain.decode(domain.encode(value)) - value) for value in values) / POSITIONS
        rows.append({"nodes": nodes, "moved": moved})
    return rows


def _gradient_noise(cell: Cell) -> list[Row]:
    """Root mean square error of a coordinate near zero, as nearly all of 26,010 are, by the paper's protocols."""
    rows: list[Row] = []
    for epsilon in cell.epsilons:
        brr = BRR(Interval(0, 1, points=POINTS), epsilon)
        laplace = math.sqrt(2) / float(epsilon)
        (batch,) = cell.sizes
        of = {
            "BRR": math.sqrt(brr.matrix()[0] @ brr.outputs.to_numpy() ** 2),
            "Laplace on the mean": laplace,
            "Laplace on the sum": laplace / batch,
        }
        rows += [{"mechanism": name, "epsilon": float(epsilon), "noise": noise} for name, noise in of.items()]
    return rows


_CHECKS: Final[dict[str, Callable[[Cell], list[Row]]]] = {
    "local m": _local_m,
    "roots": _roots,
    "near reports": _near_reports,
    "rounding": _rounding,
    "gradient noise": _gradient_noise,
}


def draw(rows: Rows) -> dict[str, str]:
    """The chance of a near report, one panel for each ε."""
    near = select(rows, what="near reports")
    drawn = [
        Panel(
            f"Near reports, ε = {epsilon:g}",
            Line.of_mechanisms(select(near, epsilon=epsilon), "points", "near"),
            lowest=0,
            highest=1,
        )
        for epsilon in distinct(near, "epsilon")
    ]
    return {
        "near_reports": panels(
            drawn, across="N", up="chance of a near report", log_x=True,
            says="The chance that a report is one of the m near ones: nearly the same for every N under BRR; under "
            "GRR, where only the true value is near, it falls to nothing.",
            notes=["Near: one of the m outputs of weight e^ε; for GRR that is the true value alone."],
        )
    }  # fmt: skip
