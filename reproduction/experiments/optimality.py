"""Is BRR "optimal in a reasonable global sense, independent of the prior"? BRR beside the best ε-LDP release there is.

The best release for a prior is a linear programme. It is solved on a line under three priors and for Jaccard
similarity; BRR, with the safe m that the paper proposes and with the m that is best for the prior, stands beside it.

A sense that needs no prior is solved too: the expected loss over GRR's under the prior that is worst for it. A ratio of
averages is largest where all the weight lies on one value, so that is the largest ratio of any value; the release with
the least such ratio is a linear programme again.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bipartite.domains import Integers, Items
from bipartite.mechanisms import BRR, GRR, Anchored, Constant, Mechanism, Optimal
from reproduction.form import Grid, Row
from reproduction.pictures import panels
from reproduction.quality import expected_loss, local_loss

NOTE: Final = (
    "1 is the least expected loss that any ε-LDP release can have: a linear programme, solved for this prior. For "
    "Jaccard similarity, 1.1 means a similarity of a tenth less than the best possible one. The last panel is about "
    "all priors at once: the expected loss over GRR's under the worst prior for it, beside the least that is possible."
)
_JACCARD: Final = "Jaccard similarity"
_AT_ONE_END: Final = "line, prior at one end"
_IN_THE_MIDDLE: Final = "line, prior in the middle"
ANY_PRIOR: Final = "worst prior, over GRR"
_SILENCE: Final = "one answer"
_SHOWN: Final = ("BRR, best m", "BRR", "GRR", "Anchored", _SILENCE)
_CASES: Final = ("line, uniform prior", _AT_ONE_END, _IN_THE_MIDDLE, _JACCARD)


def _grid(points: tuple[int, ...], *epsilon: str) -> Grid:
    """Every case at N = 40, and the sense that needs no prior at these sizes."""
    return Grid(case=_CASES, points=(40,), epsilon=epsilon) + Grid(case=(ANY_PRIOR,), points=points, epsilon=epsilon)


FULL = _grid((10, 20, 40, 60), "0.25", "0.5", "1", "1.5", "2", "3", "4")
QUICK = _grid((20, 40), "0.25", "1", "2", "3")


def measure(case: str, points: int, epsilon: str) -> Iterator[Row]:
    """Expected losses under the prior; for the worst prior, over GRR's."""
    found = _over_grr(points, epsilon) if case == ANY_PRIOR else _losses(case, points, epsilon)
    shown = f"{case}, N = {points}" if case == ANY_PRIOR else case
    for name, loss in found.items():
        yield {"case": shown, "points": points, "epsilon": float(epsilon), "mechanism": name, "expected_loss": loss}


def _losses(case: str, points: int, epsilon: str) -> dict[str, float]:
    jaccard = case == _JACCARD
    domain = Items.tanimoto(np.arange(1, points + 1)[:, None]) if jaccard else Integers(1, points)
    prior = _prior(case, points)
    made = {
        "limit": Optimal(domain, epsilon, prior=prior),
        "Anchored": Anchored(domain, epsilon, prior=prior),
        "BRR": BRR(domain, epsilon),
        "BRR, best m": BRR(domain, epsilon, m="best", prior=prior),
        "GRR": GRR(domain, epsilon),
        _SILENCE: Constant(domain, prior=prior),
    }
    return {name: expected_loss(mechanism, prior) for name, mechanism in made.items()}


def _over_grr(points: int, epsilon: str) -> dict[str, float]:
    domain = Integers(1, points)
    grr = GRR(domain, epsilon)
    theirs = local_loss(grr)
    distances = np.abs(np.subtract.outer(np.arange(points), np.arange(points)))

    def ratio(mechanism: Mechanism) -> float:
        return float((local_loss(mechanism) / theirs).max())

    made = {
        "limit": Optimal(domain, epsilon, prior="minimax", loss=distances / theirs[:, None]),
        "Anchored": Anchored(domain, epsilon),
        "BRR": BRR(domain, epsilon),
        "BRR, best m": min((BRR(domain, epsilon, m=m) for m in range(1, points)), key=ratio),
        "GRR": grr,
        _SILENCE: Constant(domain),
    }
    return {name: ratio(mechanism) for name, mechanism in made.items()}


def _prior(case: str, points: int) -> NDArray[np.float64] | None:
    at = np.arange(points)
    if case == _AT_ONE_END:
        weights = 0.9**at
    elif case == _IN_THE_MIDDLE:
        weights = np.exp(-0.5 * ((at - (points - 1) / 2) / (points / 10)) ** 2)
    else:
        return None
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def gaps(rows: pd.DataFrame) -> pd.DataFrame:
    """How far each expected loss lies above the optimum, as a share of it: a row a case, N and ε, a column for each."""
    loss = rows.pivot(index=["case", "points", "epsilon"], columns="mechanism", values="expected_loss")
    return loss.sub(loss["limit"], axis=0).div(loss["limit"].abs(), axis=0).loc[list(rows["case"].unique())]


def draw(rows: pd.DataFrame) -> dict[str, str]:
    """How far each lies above the optimum."""
    above = gaps(rows[rows["points"] == rows["points"].iloc[0]])
    cases = above.index.unique("case")
    worst = above.loc[list(_CASES), "BRR"].max()
    return {
        "optimality": panels(
            (1 + above[list(_SHOWN)].clip(lower=0)).stack().rename("times").reset_index(), x="epsilon", y="times",
            facet="case", bare={_SILENCE}, across="ε", up="loss, times the optimum", share_y=False,
            titles={case: f"{case[0].upper()}{case[1:]}{', N = 40' if case in _CASES else ''}" for case in cases},
            says=f"BRR lies up to {worst:.0%} above the best ε-LDP release for a prior.",
            notes=["1 is the optimum; vertical axes differ.",
                   "Anchored is the optimum for a prior here, or as good as; it is not made for the worst one.",
                   "On a line with a prior, BRR with the best m lies under BRR."],
        )
    }  # fmt: skip
