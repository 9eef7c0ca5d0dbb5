"""Figure 4: quality loss against ε for N = 20 to 100, BRR beside GRR and the Exponential mechanism.

The paper runs the Exponential mechanism with exp(−ελ/2Δ), which spends about half of ε on this domain; the column
``realised_epsilon`` says how much. The line with its whole budget, the best possible release and the constant answer
are extra.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bipartite.domains import Integers
from bipartite.verification import verify
from reproduction.experiments.line_rivals import EXTRA, SILENCE, Cell, makers, panels_by_n
from reproduction.figures import panels
from reproduction.quality import qloss

if TYPE_CHECKING:
    from reproduction.runner.contract import Row, Rows

_UNIT: Final = "QLoss is the expected error over N − 1."
_BEST: Final = "Anchored is the best possible release: nothing ε-LDP that reports values of the domain lies below it."


@dataclass(frozen=True)
class Settings:
    """The paper's N, and budgets, which it does not list."""

    points: tuple[int, ...] = (20, 40, 60, 80, 100)
    epsilons: tuple[str, ...] = (
        "0.25", "0.5", "0.75", "1", "1.25", "1.5", "1.75", "2", "2.25", "2.5", "2.75", "3", "3.5", "4", "4.5", "5",
    )  # fmt: skip


QUICK = Settings(epsilons=("0.25", "0.5", "1", "1.5", "2", "3", "4", "5"))


def cells(settings: Settings) -> tuple[Cell, ...]:
    """Every N with every ε."""
    return tuple(Cell(points, epsilon) for points in settings.points for epsilon in settings.epsilons)


def measure(cell: Cell) -> list[Row]:
    """QLoss of every mechanism, and the ε that it really spends."""
    domain = Integers(1, cell.points)
    rows: list[Row] = []
    for name, make in makers().items():
        mechanism = make(domain, cell.epsilon)
        spent = 0.0 if name == SILENCE else float(verify(mechanism).epsilon_upper)
        rows.append(
            {"points": cell.points, "epsilon": float(cell.epsilon), "mechanism": name, "qloss": qloss(mechanism),
             "realised_epsilon": spent}
        )  # fmt: skip
    return rows


def draw(rows: Rows, *, extra: bool = True) -> dict[str, str]:
    """One panel for each N."""
    kept = [row for row in rows if extra or row["mechanism"] not in EXTRA]
    drawn = panels_by_n(kept, "qloss", SILENCE, title="QLoss", lowest=0, highest=0.36)
    return {
        "qloss_by_epsilon": panels(
            drawn, across="ε", up="QLoss",
            says="QLoss against ε for five N: BRR below GRR and the Exponential mechanism at every ε.",
            notes=[_UNIT, *([_BEST] if extra else [])],
        )
    }  # fmt: skip
