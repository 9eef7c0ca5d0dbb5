"""Figure 6: expected Jaccard (Tanimoto) similarity between the true and the reported number, against ε.

Bigger is better: section 5.2 calls the quantity an "expected error", which it is not. Extra lines: BRR with the m that
is best on average (the safe m is made for the worst row), the tight Exponential mechanism, Anchored, and the number
that is best for everybody without any report.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.domains import Items
from bipartite.mechanisms import BRR
from reproduction.experiments.line_rivals import EXTRA, SILENCE, Cell, best_m, makers, panels_by_n
from reproduction.figures import panels
from reproduction.quality import expected_loss

if TYPE_CHECKING:
    from reproduction.runner.contract import Row, Rows

_BEST: Final = "BRR, best m"
_CONSTANT: Final = "always one number"


@dataclass(frozen=True)
class Settings:
    """The paper's N, and budgets, which it does not list."""

    points: tuple[int, ...] = (20, 40, 60, 80, 100)
    epsilons: tuple[str, ...] = ("0.25", "0.5", "0.75", "1", "1.5", "2", "2.5", "3", "3.5", "4", "4.5", "5")


QUICK = Settings(epsilons=("0.5", "1", "2", "3", "4", "5"))


def cells(settings: Settings) -> tuple[Cell, ...]:
    """Every N with every ε."""
    return tuple(Cell(points, epsilon) for points in settings.points for epsilon in settings.epsilons)


def measure(cell: Cell) -> list[Row]:
    """Expected similarity under every mechanism."""
    domain = Items.tanimoto(np.arange(1, cell.points + 1)[:, None])
    made = makers() | {_BEST: best_m}
    rows: list[Row] = []
    for name, make in made.items():
        mechanism = make(domain, cell.epsilon)
        rows.append(
            {"points": cell.points, "epsilon": float(cell.epsilon),
             "mechanism": _CONSTANT if name == SILENCE else name, "utility": -expected_loss(mechanism),
             "m": mechanism.m if isinstance(mechanism, BRR) else 0}
        )  # fmt: skip
    return rows


def draw(rows: Rows, *, extra: bool = True) -> dict[str, str]:
    """One panel for each N."""
    kept = [row for row in rows if extra or row["mechanism"] not in EXTRA | {_CONSTANT}]
    drawn = panels_by_n(kept, "utility", _CONSTANT, title="Jaccard", lowest=0.5, highest=1.0)
    return {
        "jaccard": panels(
            drawn, across="ε", up="expected similarity",
            says="Expected Jaccard similarity against ε for five N: bigger is better; BRR above GRR and Exponential.",
            notes=["Bigger is better. Uniform prior over 1 … N. The vertical axis begins at 0.5."],
        )
    }  # fmt: skip
