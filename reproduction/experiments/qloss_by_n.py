"""Figure 5: quality loss against N with the Exponential mechanism too, and the ratio BRR/GRR with its asymptotes.

QLoss is the expected error over the diameter N − 1 under a uniform prior, exact from the tickets. The text names one
budget of the figure, ε = 2; those of the other figures run too. The lines that the paper does not have: the Exponential
mechanism with its whole budget, the best possible release (Anchored, proved to be that on a line), and the constant
answer, which needs no report at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bipartite.domains import Integers
from bipartite.plots.looks import LOOKS, Look
from reproduction.experiments.line_rivals import EXTRA, SILENCE, makers
from reproduction.experiments.printed import RATIO_AT_2
from reproduction.figures import Line, Panel, Printed, panels
from reproduction.quality import qloss
from reproduction.runner.contract import Row, Rows, beside, distinct, select
from reproduction.theory import limit_global_ratio

_ASYMPTOTE: Final = "limit by Theorem 3"


@dataclass(frozen=True)
class Settings:
    """Sizes of the domain, budgets, and up to which size mechanisms with a table of N² tickets are built."""

    points: tuple[int, ...] = (5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 100_000)
    epsilons: tuple[str, ...] = ("0.25", "0.5", "1", "2", "3", "4", "5")
    largest_table: int = 1000


@dataclass(frozen=True)
class Cell:
    """One N and ε."""

    points: int
    epsilon: str
    tables: bool


QUICK = Settings(
    points=(5, 10, 20, 50, 100, 200, 500, 1000, 10_000), epsilons=("0.5", "1", "2", "3", "5"), largest_table=200
)


def cells(settings: Settings) -> tuple[Cell, ...]:
    """Every N with every ε."""
    return tuple(
        Cell(points, epsilon, points <= settings.largest_table)
        for epsilon in settings.epsilons
        for points in settings.points
    )


def measure(cell: Cell) -> list[Row]:
    """QLoss of every mechanism."""
    domain = Integers(1, cell.points)
    return [
        {"points": cell.points, "epsilon": cell.epsilon, "mechanism": name, "qloss": qloss(make(domain, cell.epsilon))}
        for name, make in makers(tables=cell.tables).items()
    ]


def ratios(rows: Rows) -> dict[str, dict[int, float]]:
    """For each ε: the ratio of BRR's expected error to GRR's by N."""
    found: dict[str, dict[int, float]] = {}
    for row, brr, grr in beside(rows, "qloss", "BRR", "GRR", "points", "epsilon"):
        found.setdefault(str(row["epsilon"]), {})[int(row["points"])] = brr / grr
    return found


def draw(rows: Rows, *, extra: bool = True) -> dict[str, str]:
    """Quality loss at every budget, and the ratio."""
    kept = [row for row in rows if extra or row["mechanism"] not in EXTRA]
    drawn = [
        Panel(
            f"QLoss at ε = {epsilon}",
            Line.of_mechanisms(select(kept, epsilon=epsilon), "points", "qloss", SILENCE),
            lowest=0,
        )
        for epsilon in distinct(kept, "epsilon")
    ]
    by_epsilon = ratios(rows)
    largest = max(int(row["points"]) for row in rows)
    lines = []
    for epsilon, by_n in by_epsilon.items():
        lines.append(Line(f"ε = {epsilon}", list(by_n), list(by_n.values()), end=f"ε = {epsilon}"))
    for epsilon, by_n in by_epsilon.items():
        limit = limit_global_ratio(float(epsilon))
        lines.append(Line(_ASYMPTOTE, [min(by_n), largest], [limit, limit], marked=False))
    printed = [Printed(RATIO_AT_2, f"about {RATIO_AT_2:g} at ε = 2", largest)] if "2" in by_epsilon else []
    says = "; ".join(
        f"ε = {epsilon}: {by_n[largest]:.4f} at N = {largest:,}, limit {limit_global_ratio(float(epsilon)):.4f}"
        for epsilon, by_n in by_epsilon.items()
    )
    return {
        "qloss_by_n": panels(
            drawn, across="N", up="QLoss", log_x=True,
            says="QLoss of GRR rises to 1/3 with N; that of BRR stays nearly the same.",
            notes=["QLoss is the expected error over N − 1.", *_where_tables_end(kept)],
        ),
        "ratio_by_n": panels(
            [Panel("Expected error of BRR over that of GRR on 1 … N", lines, lowest=0, highest=1.05, printed=printed)],
            across="N", up="ratio", log_x=True, says=f"Ratio of BRR to GRR. {says}.", looks=_looks(by_epsilon),
        ),
    }  # fmt: skip


def _where_tables_end(rows: Rows) -> list[str]:
    """Why a line is shorter than the others."""
    last = max((int(row["points"]) for row in select(rows, mechanism="Exponential")), default=0)
    if last in {0, max(int(row["points"]) for row in rows)}:
        return []
    return [f"Exponential ends at N = {last:,}: it needs a table of N² tickets."]


def _looks(epsilons: dict[str, dict[int, float]]) -> dict[str, Look]:
    """From light to dark as ε grows, one colour: all of them are BRR."""
    blues = ("#8FBFE6", "#6AA8DB", "#3F8FCC", "#0072B2", "#005A8E", "#003F66", "#00253D")
    held = {f"ε = {epsilon}": Look(blue, 2.2) for epsilon, blue in zip(epsilons, blues, strict=False)}
    return {**held, _ASYMPTOTE: LOOKS["limit"]}
