"""The mechanisms of the figures on a line: those of the paper, and the lines that it does not have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bipartite.mechanisms import BRR, GRR, Anchored, Constant, Exponential, Mechanism
from reproduction.figures import Line, Panel
from reproduction.runner.contract import Rows, distinct, select

if TYPE_CHECKING:
    from collections.abc import Callable

    from bipartite.domains import Domain

    Maker = Callable[[Domain, str], Mechanism]


SILENCE: Final = "always the middle"
EXTRA: Final = frozenset({"Exponential, tight", "Anchored", SILENCE, "BRR, best m"})
"""Lines that the paper does not have."""


@dataclass(frozen=True)
class Cell:
    """One N and ε."""

    points: int
    epsilon: str


def best_m(domain: Domain, epsilon: str) -> Mechanism:
    """BRR with the m that has the least expected loss under a uniform prior."""
    return BRR(domain, epsilon, m="best")


def makers(*, tables: bool = True) -> dict[str, Maker]:
    """How each is made; ``tables=False`` leaves out those that need N² tickets."""
    made: dict[str, Maker] = {
        "BRR": BRR,
        "GRR": GRR,
        "Anchored": Anchored,
        SILENCE: lambda domain, _: Constant(domain),
    }
    if tables:
        made["Exponential"] = lambda domain, epsilon: Exponential(domain, epsilon, variant="published")
        made["Exponential, tight"] = Exponential
    return made


def panels_by_n(
    rows: Rows, column: str, without_marks: str, *, title: str, lowest: float, highest: float
) -> list[Panel]:
    """A panel for each N: this column against ε, a line a mechanism."""
    return [
        Panel(
            f"{title}, N = {points}",
            Line.of_mechanisms(select(rows, points=points), "epsilon", column, without_marks),
            lowest,
            highest,
        )
        for points in distinct(rows, "points")
    ]
