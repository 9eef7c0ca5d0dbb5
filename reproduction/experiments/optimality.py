"""Is BRR "optimal in a reasonable global sense, independent of the prior"? BRR beside the best ε-LDP release there is.

The best release for a prior is a linear programme. It is solved on a line under three priors and for Jaccard
similarity; BRR, with the safe m that the paper proposes and with the m that is best for the prior, stands beside it.

A sense that needs no prior is solved too: the expected loss over GRR's under the prior that is worst for it. A ratio of
averages is largest where all the weight lies on one value, so that is the largest ratio of any value; the release with
the least such ratio is a linear programme again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.domains import Integers, Items
from bipartite.mechanisms import BRR, GRR, Anchored, Constant, Mechanism, Optimal
from reproduction.figures import Line, Panel, panels
from reproduction.quality import expected_loss, local_loss
from reproduction.runner.contract import Row, Rows, beside, distinct, number, select

if TYPE_CHECKING:
    from numpy.typing import NDArray

NOTE: Final = (
    "1 is the least expected loss that any ε-LDP release can have: a linear programme, solved for this prior. For "
    "Jaccard similarity, 1.1 means a similarity of a tenth less than the best possible one. The last panel is about "
    "all priors at once: the expected loss over GRR's under the worst prior for it, beside the least that is possible."
)
_JACCARD: Final = "Jaccard similarity"
_ANY_PRIOR: Final = "worst prior, over GRR, N = "
_GAP: Final = "loss, times the optimum"
_SILENCE: Final = "one answer"
_SAME: Final = 0.01  # lines nearer to each other look like one


@dataclass(frozen=True)
class Settings:
    """The size of the domain and budgets."""

    points: int = 40
    epsilons: tuple[str, ...] = ("0.25", "0.5", "1", "1.5", "2", "3", "4")
    any_prior: tuple[int, ...] = (10, 20, 40, 60)
    """The sizes for the sense that needs no prior."""


@dataclass(frozen=True)
class Cell:
    """One prior or loss, and one ε."""

    case: str
    points: int
    epsilon: str


QUICK = Settings(epsilons=("0.25", "1", "2", "3"), any_prior=(20, 40))
_CASES: Final = ("line, uniform prior", "line, prior at one end", "line, prior in the middle", _JACCARD)


def cells(settings: Settings) -> tuple[Cell, ...]:
    """Every case with every ε."""
    cases = [(case, settings.points) for case in _CASES]
    cases += [(f"{_ANY_PRIOR}{points}", points) for points in settings.any_prior]
    return tuple(Cell(case, points, epsilon) for case, points in cases for epsilon in settings.epsilons)


def measure(cell: Cell) -> list[Row]:
    """Expected losses under the prior; for the worst prior, over GRR's."""
    if needs_no_prior(cell.case):
        return _over_grr(cell)
    if cell.case == _JACCARD:
        domain: Items | Integers = Items.tanimoto(np.arange(1, cell.points + 1)[:, None])
    else:
        domain = Integers(1, cell.points)
    prior = _prior(cell)
    made = {
        "limit": Optimal(domain, cell.epsilon, prior=prior),
        "Anchored": Anchored(domain, cell.epsilon, prior=prior),
        "BRR": BRR(domain, cell.epsilon),
        "BRR, best m": BRR(domain, cell.epsilon, m="best", prior=prior),
        "GRR": GRR(domain, cell.epsilon),
        _SILENCE: Constant(domain, prior=prior),
    }
    return [
        {"case": cell.case, "points": cell.points, "epsilon": float(cell.epsilon), "mechanism": name,
         "expected_loss": expected_loss(mechanism, prior)}
        for name, mechanism in made.items()
    ]  # fmt: skip


def _over_grr(cell: Cell) -> list[Row]:
    domain = Integers(1, cell.points)
    grr = GRR(domain, cell.epsilon)
    theirs = local_loss(grr)
    distances = np.abs(np.subtract.outer(np.arange(cell.points), np.arange(cell.points)))

    def ratio(mechanism: Mechanism) -> float:
        return float((local_loss(mechanism) / theirs).max())

    every = (BRR(domain, cell.epsilon, m=m) for m in range(1, cell.points))
    made = {
        "limit": Optimal(domain, cell.epsilon, prior="minimax", loss=distances / theirs[:, None]),
        "Anchored": Anchored(domain, cell.epsilon),
        "BRR": BRR(domain, cell.epsilon),
        "BRR, best m": min(every, key=ratio),
        "GRR": grr,
        _SILENCE: Constant(domain),
    }
    return [
        {"case": cell.case, "points": cell.points, "epsilon": float(cell.epsilon), "mechanism": name,
         "expected_loss": ratio(mechanism)}
        for name, mechanism in made.items()
    ]  # fmt: skip


def _prior(cell: Cell) -> NDArray[np.float64] | None:
    at = np.arange(cell.points)
    if cell.case == "line, prior at one end":
        weights = 0.9**at
    elif cell.case == "line, prior in the middle":
        weights = np.exp(-0.5 * ((at - (cell.points - 1) / 2) / (cell.points / 10)) ** 2)
    else:
        return None
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def gaps(rows: Rows, mechanism: str) -> dict[str, dict[float, float]]:
    """For each case and ε: how far the expected loss lies above the optimum, as a share of it."""
    found: dict[str, dict[float, float]] = {}
    for row, loss, best in beside(rows, "expected_loss", mechanism, "limit", "case", "epsilon"):
        found.setdefault(str(row["case"]), {})[number(row, "epsilon")] = (loss - best) / abs(best)
    return found


def needs_no_prior(case: str) -> bool:
    """Whether a case is about the worst prior."""
    return case.startswith(_ANY_PRIOR)


def _notes(rows: Rows) -> list[str]:
    """What lies on what, where it does in all panels of a line with a prior."""
    found = []
    anchored = [
        share for case, of in gaps(rows, "Anchored").items() if not needs_no_prior(case) for share in of.values()
    ]
    if max(anchored) < _SAME:
        found.append("Anchored is the optimum for a prior here, or as good as; it is not made for the worst one.")
    best, safe = gaps(rows, "BRR, best m"), gaps(rows, "BRR")
    lines = [case for case in safe if case != _JACCARD and not needs_no_prior(case)]
    if max(abs(safe[case][each] - best[case][each]) for case in lines for each in safe[case]) < _SAME:
        found.append("On a line with a prior, BRR with the best m lies under BRR.")
    return found


def draw(rows: Rows, *, extra: bool = True) -> dict[str, str]:
    """How far each lies above the optimum."""
    names = ["BRR, best m", "BRR", "GRR", "Anchored", _SILENCE] if extra else ["BRR", "GRR"]
    drawn = []
    points = rows[0]["points"]
    for case in distinct(select(rows, points=points), "case"):
        lines = []
        for name in names:
            of = gaps(rows, name)[case]
            lines.append(Line(name, list(of), [1 + max(share, 0.0) for share in of.values()], marked=name != _SILENCE))
        size = "" if needs_no_prior(case) else f", N = {points}"
        drawn.append(Panel(f"{case[0].upper()}{case[1:]}{size}", lines))
    worst = max(max(of.values()) for case, of in gaps(rows, "BRR").items() if not needs_no_prior(case))
    return {
        "optimality": panels(
            drawn, across="ε", up=_GAP, says=f"BRR lies up to {worst:.0%} above the best ε-LDP release for a prior.",
            notes=["1 is the optimum.", *(_notes(rows) if extra else [])],
        )
    }  # fmt: skip
