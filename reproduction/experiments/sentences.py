"""Sentences of the text and steps of its proofs that no figure shows: five checks in numbers.

* Section 3.2: a mechanism in which every value has its own locally best m does not keep ε.
* Proof of Theorem 1 (2): the roots of the two derivatives, and the bounds that compare them.
* Section 5.1: the chance that a report is one of the near ones, as N grows.
* Section 4.1: how far a value is moved to reach a node.
* Appendix B.2: the noise of a gradient's coordinate under BRR-SGD and under Laplace, in units of the bound C.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

import numpy as np
import pandas as pd

from bipartite.design import algorithm_1
from bipartite.domains import Integers, Interval
from bipartite.mechanisms import BRR
from reproduction.experiments.interval_nodes import POSITIONS
from reproduction.experiments.printed import SGD_BUDGETS
from reproduction.experiments.protocols import POINTS
from reproduction.experiments.rows_of_a_line import ends, over_lines
from reproduction.form import Grid, Row
from reproduction.pictures import panels
from reproduction.theory import algorithm_3_as_printed

_BLOCK: Final = 20  # N to a point of what is counted
_SLACK: Final = 1e-9
_BATCH: Final = 2048


def _grid(most: int, most_roots: int, nodes: tuple[int, ...]) -> Grid:
    """Values with an m of their own for N up to the first, roots for N up to the second."""
    return (
        Grid(what=("local m",), last=ends(3, most, _BLOCK))
        + Grid(what=("roots",), last=ends(2, most_roots, _BLOCK))
        + Grid(what=("near reports",), epsilon=("1", "2", "4"), points=(10, 20, 50, 100, 1000, 10_000))
        + Grid(what=("rounding",), nodes=nodes)
        + Grid(what=("gradient noise",), epsilon=tuple(map(str, SGD_BUDGETS)))
    )


FULL = _grid(60, 200, (2, 3, 5, 9, 17, 33, 65, 129, 257, 513))
QUICK = _grid(20, 40, (2, 3, 5, 9, 17, 33))


def measure(what: str, **of: Any) -> Iterator[Row]:  # noqa: ANN401 (numbers and budgets)
    """The check of this name."""
    for row in _CHECKS[what](**of):
        yield {"what": what, **row}


def _local_m(last: int) -> Iterator[Row]:
    """In how many cases the locally best m differ, and in how many of those some ratio exceeds e^ε."""

    def check(points: int, epsilon: str) -> dict[str, Any]:
        own = [algorithm_1([abs(x - y) for y in range(points)], epsilon).m for x in range(points)]
        share = realised(own, float(epsilon)) / float(epsilon)
        return {"differ": len(set(own)) > 1, "broken": share > 1 + _SLACK, "worst": (share, points, epsilon)}

    for row in over_lines(check, 3, _BLOCK, largest={"worst"}, column="most")(last):
        yield {**row, **dict(zip(("worst", "worst_points", "worst_epsilon"), row["worst"], strict=True))}


def realised(own: Sequence[int], epsilon: float) -> float:
    """The ε that a mechanism spends on a line whose x-th value has the ``own[x]`` nearest outputs as its near ones."""
    points = len(own)
    rows = np.ones((points, points))
    for x, m in enumerate(own):
        first = min(max(x - m // 2, 0), points - m)
        rows[x, first : first + m] = math.exp(epsilon)
    rows /= rows.sum(axis=1, keepdims=True)
    return float(np.log(rows.max(axis=0) / rows.min(axis=0)).max())


def _roots(points: int, epsilon: str) -> Row:
    """Both bounds of the proof, the order of the roots that they are for, and whether line 4 as printed matters."""
    end, end_bound, middle, middle_bound = bounds_of_roots(points, float(epsilon))
    below_one = float(epsilon) < 1  # from 1 on line 2 takes m₁ anyway
    matters = below_one and algorithm_3_as_printed(points, epsilon) != algorithm_1(range(points), epsilon).m
    return {"end_below_its_bound": end < end_bound, "middle_above_its_bound": middle > middle_bound,
            "ordered": middle > end, "cases_below_one": below_one, "middle_matters": matters}  # fmt: skip


def bounds_of_roots(points: int, epsilon: float) -> tuple[float, float, float, float]:
    """i₁ᵣ (end) with its printed upper bound, and i₃ᵣ (middle, odd N) with its printed lower bound."""
    e, h = math.exp(epsilon), math.exp(epsilon / 2)
    end = (math.sqrt(points**2 * e + (1 - e) ** 2 / 4) - (points - e / 2 + 1 / 2)) / (e - 1)
    middle = (math.sqrt(e * (points**2 - 1) + 1) - (points - e + 1)) / (e - 1)
    return end, points * (h - 1) / (e - 1), middle, (h * (points - 1) - (points - e + 1)) / (e - 1)


def _near_reports(epsilon: str, points: int) -> Iterator[Row]:
    e = math.exp(float(epsilon))
    for name, m in (("BRR", BRR(Integers(1, points), epsilon).m), ("GRR", 1)):
        yield {"mechanism": name, "points": points, "epsilon": float(epsilon), "m": m,
               "near": m * e / (m * e + points - m)}  # fmt: skip


def _rounding(nodes: int) -> Iterator[Row]:
    """The mean way from a value, spread evenly over [0, 1], to its node."""
    domain = Interval(0, 1, points=nodes)
    values = [(at + 0.5) / POSITIONS for at in range(POSITIONS)]
    moved = math.fsum(abs(domain.decode(domain.encode(value)) - value) for value in values) / POSITIONS
    yield {"nodes": nodes, "moved": moved}


def _gradient_noise(epsilon: str) -> Iterator[Row]:
    """Root mean square error of a coordinate near zero, as nearly all of 26,010 are, by the paper's protocols."""
    brr, laplace = BRR(Interval(0, 1, points=POINTS), epsilon), math.sqrt(2) / float(epsilon)
    of = {
        "BRR": math.sqrt(brr.matrix()[0] @ brr.outputs.to_numpy() ** 2),
        "Laplace on the mean": laplace,
        "Laplace on the sum": laplace / _BATCH,
    }
    for name, noise in of.items():
        yield {"mechanism": name, "epsilon": float(epsilon), "noise": noise}


_CHECKS: Final[dict[str, Callable[..., Iterable[Row]]]] = {
    "local m": _local_m,
    "roots": over_lines(_roots, 2, _BLOCK, column="most"),
    "near reports": _near_reports,
    "rounding": _rounding,
    "gradient noise": _gradient_noise,
}


def draw(rows: pd.DataFrame) -> dict[str, str]:
    """The chance of a near report, one panel for each ε."""
    return {
        "near_reports": panels(
            rows[rows["what"] == "near reports"], x="points", y="near", facet="epsilon",
            title="Near reports, ε = {:g}", lowest=0, highest=1, across="N", up="chance of a near report", log_x=True,
            says="The chance that a report is one of the m near ones: nearly the same for every N under BRR; under "
            "GRR, where only the true value is near, it falls to nothing.",
            notes=["Near: one of the m outputs of weight e^ε; for GRR that is the true value alone."],
        )
    }  # fmt: skip
