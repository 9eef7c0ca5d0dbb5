"""Theorems 1 to 4 and Algorithm 3 against brute force, and the sentences of the text that are theorems too.

No figure of the paper: counts and exact numbers that the verdicts rest on. Signs and losses come from whole numbers or
fractions; e^ε is only ever rounded where a limit is compared with a formula.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

import numpy as np
import pandas as pd

from bipartite import identifiability
from bipartite.design import algorithm_1, algorithm_2, algorithm_3
from bipartite.domains import Integers, Items, Points
from bipartite.locations import cities
from bipartite.mechanisms import BRR, GRR
from bipartite.verification import verify
from reproduction.experiments.rows_of_a_line import EPSILONS, counted, ends, half, near, over_lines, rows_of_half
from reproduction.form import Grid, Row
from reproduction.pictures import panels
from reproduction.places.lsrr import calibrated_rows
from reproduction.quality import expected_loss, local_loss, qloss
from reproduction.theory import (
    algorithm_3_as_printed,
    exact_expected_loss,
    exact_local_loss,
    limit_global_ratio,
    limit_inf,
    limit_of_m,
    limit_sup,
)

_FIRST, _BLOCK = 2, 20  # N of what is counted, and how many to a point
_CODE_BITS: Final = 46  # of a tile
_SLACK: Final = 1 + 1e-12


def _grid(most: int, most_pointwise: int, limits: tuple[int, ...]) -> Grid:
    """Algorithm 3 against Algorithm 2 for N up to the first, values one by one for N up to the second."""
    return (
        Grid(what=("algorithm 3",), last=ends(_FIRST, most, _BLOCK))
        + Grid(what=("pointwise",), last=ends(_FIRST, most_pointwise, _BLOCK))
        + Grid(what=("limits",), points=limits)
        + Grid(what=("saturation", "exponential times", "appendix", "any m", "two weights", "general domains", "rank",
                     "staircase on a line"))
    )  # fmt: skip


FULL = _grid(200, 60, (101, 1001, 10_001, 100_001))
QUICK = _grid(60, 30, (101, 1001, 10_001))


def measure(what: str, **of: int) -> Iterator[Row]:
    """The check of this name, of lines with so many points where it has some."""
    for row in _CHECKS[what](**of):
        yield {"what": what, **row}


def _algorithm_3(points: int, epsilon: str) -> Row:
    right = algorithm_2(rows_of_half(points), epsilon).m
    differs = algorithm_3_as_printed(points, epsilon) != right
    from_one = float(epsilon) >= 1  # Theorem 1 (2)
    return {"printed_differs": differs, "corrected_differs": algorithm_3(points, epsilon) != right,
            "cases_from_one": from_one, "printed_differs_from_one": from_one and differs,
            "below_one": right < 1}  # fmt: skip


def _pointwise(points: int, epsilon: str) -> Row:
    """Theorem 2's first sentence, and "if m increases, the local utility of some would certainly decrease"."""
    e = near(epsilon)
    losses = {m: [exact_local_loss(points, m, e, k) for k in half(points)] for m in range(1, points + 1)}
    average = {m: exact_expected_loss(points, m, e) for m in losses}
    safe, printed = algorithm_3(points, epsilon), min(algorithm_3_as_printed(points, epsilon), points)
    larger = range(safe + 1, points)
    return {
        "worse_printed": _is_worse(losses[printed], losses[1]), "worse_corrected": _is_worse(losses[safe], losses[1]),
        "average_worse_printed": average[printed] > average[1], "raisings": len(larger),
        "raising_harms": sum(_is_worse(losses[m], losses[safe]) for m in larger),
        "average_better": any(average[m] < average[safe] for m in larger),
    }  # fmt: skip


def _is_worse(ours: Sequence[Any], theirs: Sequence[Any]) -> bool:
    """Whether some value does worse."""
    return any(a > b for a, b in zip(ours, theirs, strict=True))


def _limits(points: int) -> Iterator[Row]:
    for epsilon in EPSILONS:
        budget = float(epsilon)
        brr, grr = BRR(Integers(1, points), epsilon), GRR(Integers(1, points), epsilon)
        local = local_loss(brr) / local_loss(grr)
        measured = {
            "m/N": (brr.m / points, limit_of_m(budget)),
            "global ratio": (expected_loss(brr) / expected_loss(grr), limit_global_ratio(budget)),
            "largest local ratio": (float(local.max()), limit_sup(budget)),
            "least local ratio": (float(local.min()), limit_inf(budget)),
        }
        for name, (found, limit) in measured.items():
            yield {"points": points, "epsilon": budget, "quantity": name, "measured": found, "limit": limit}


def _saturation() -> Iterator[Row]:
    for points in (5, 20, 100, 1000, 10_000):
        grr = GRR(Integers(1, points), "1")
        yield {"points": points, "epsilon": 1.0, "qloss": qloss(grr), "expected_error": expected_loss(grr)}


def _exponential_times() -> Iterator[Row]:
    for points, epsilon in itertools.product((100, 1_000_000), ("1", "2", "4", "6", "8", "10")):
        domain, budget = Integers(1, points), float(epsilon)
        ratio = expected_loss(BRR(domain, epsilon)) / expected_loss(GRR(domain, epsilon))
        yield {"points": points, "epsilon": budget, "ratio": ratio, "times_h": ratio * math.exp(budget / 2),
               "times_e": ratio * math.exp(budget)}  # fmt: skip


def _appendix() -> Iterator[Row]:
    """The leading term of f(c), and the largest local ratio, at ε = 1: as printed, and with the slip mended."""
    points, e, h = 100_001, math.e, math.exp(0.5)
    c = algorithm_3(points, "1") / points
    below = 12 * ((e - 1) * c + 1)
    leading = (e - 1) * c**3 + 3 * (e - 1) * c**2 + 4
    printed, corrected = (h - (h - 1) / (h + 1) * (math.sqrt(inner) + 1) for inner in (3 * e + 1, e + 2 * h + 1))
    yield {"quantity": "f(c)", "measured": expected_loss(BRR(Integers(1, points), "1")) / points,
           "printed": (leading - 3 * e) / below, "corrected": leading / below}  # fmt: skip
    yield {"quantity": "supremum", "measured": limit_sup(1), "printed": printed, "corrected": corrected}


def _any_m() -> Iterator[Row]:
    """Every m that does not depend on the value is ε-LDP, proved from the tickets."""

    def check(points: int, epsilon: str, m: int) -> Row:
        return {"broken": not verify(BRR(Integers(1, points), epsilon, m=m)).holds}

    yield counted(check, ((n, epsilon, m) for n in range(3, 13) for epsilon in ("0.5", "2") for m in range(1, n)))


def _two_weights() -> Iterator[Row]:
    """Algorithm 1 against every choice of weights 1 and e^ε.

    Between them Q has no least point: each weight is better at one of its ends, whatever it is.
    """

    def check(distances: list[int], epsilon: str) -> Row:
        e, losses = math.exp(float(epsilon)), np.array(distances, dtype=np.float64)
        weights = np.array(list(itertools.product((1, e), repeat=len(losses))))
        ours = np.where(np.arange(len(losses)) < algorithm_1(distances, epsilon).m, e, 1.0)
        least = float(((weights @ losses) / weights.sum(axis=1)).min())
        return {"differs": not math.isclose(float(losses @ ours / ours.sum()), least, rel_tol=1e-12)}

    budgets = ("0.25", "1", "3")
    yield counted(check, ((row, each) for n in range(3, 11) for each in budgets for row in rows_of_half(n)))


def _general_domains() -> Iterator[Row]:
    """Theorem 4 on losses that are no line: Jaccard similarity, and great circles between a hundred cities."""
    domains = {
        "Jaccard": Items.tanimoto(np.arange(1, 101)[:, None]),
        "cities": Points(cities().coordinates, metric="haversine"),
    }
    for (name, domain), epsilon in itertools.product(domains.items(), ("0.5", "1", "2", "4")):
        brr = BRR(domain, epsilon)
        ours, theirs = local_loss(brr), local_loss(GRR(domain, epsilon))
        yield {"domain": name, "points": len(domain), "epsilon": float(epsilon), "m": brr.m,
               "worse": int((ours > theirs + abs(theirs) * (_SLACK - 1)).sum()),
               "better_on_average": bool(ours.mean() < theirs.mean())}  # fmt: skip


def _rank() -> Iterator[Row]:
    for epsilon, make in itertools.product(("0.5", "1", "2"), (BRR, GRR)):
        mechanism = make(Integers(1, 40), epsilon)
        yield {"mechanism": make.__name__, "points": 40, "epsilon": float(epsilon),
               "m": mechanism.m if isinstance(mechanism, BRR) else 1,
               "rank": identifiability(mechanism).rank}  # fmt: skip


def _staircase() -> Iterator[Row]:
    """L-SRR's staircase in one dimension: the code is the number in binary, and neighbours share its first bits."""
    points = 64
    codes = np.arange(points, dtype=np.int64) << (_CODE_BITS - (points - 1).bit_length())
    distance = np.abs(np.subtract.outer(np.arange(points), np.arange(points)))
    for epsilon in ("0.5", "1", "2"):
        table = calibrated_rows(codes, epsilon)
        yield {"points": points, "epsilon": float(epsilon), "groups": len(np.unique(table[0])),
               "realised_epsilon": math.log((table.max(axis=0) / table.min(axis=0)).max()),
               "expected_error": float((table * distance).sum() / points),
               "grr": expected_loss(GRR(Integers(1, points), epsilon)),
               "brr": expected_loss(BRR(Integers(1, points), epsilon))}  # fmt: skip


_CHECKS: Final[dict[str, Callable[..., Iterable[Row]]]] = {
    "algorithm 3": over_lines(_algorithm_3, _FIRST, _BLOCK),
    "pointwise": over_lines(_pointwise, _FIRST, _BLOCK),
    "limits": _limits,
    "saturation": _saturation,
    "exponential times": _exponential_times,
    "appendix": _appendix,
    "any m": _any_m,
    "two weights": _two_weights,
    "general domains": _general_domains,
    "rank": _rank,
    "staircase on a line": _staircase,
}


def draw(rows: pd.DataFrame) -> dict[str, str]:
    """How fast the four limits of Theorems 1 to 3 are reached."""
    limits = rows[rows["what"] == "limits"]
    largest = int(limits["points"].max())
    last = limits[limits["points"] == largest]
    lines = [last.assign(line=name, height=last[of]) for name, of in (("limit", "limit"), ("BRR", "measured"))]
    shown = {
        "m/N": "m/N",
        "global ratio": "Q_g of BRR over GRR’s",
        "largest local ratio": "Largest Q⁽ˣ⁾ of BRR over GRR’s",
        "least local ratio": "Least Q⁽ˣ⁾ of BRR over GRR’s",
    }
    return {
        "limits": panels(
            pd.concat(lines), x="epsilon", y="height", hue="line", facet="quantity", dots={"BRR"}, bare={"limit"},
            titles={name: f"{words}, N = {largest:,}" for name, words in shown.items()}, lowest=0,
            across="ε", up="m/N, or BRR over GRR",
            says=f"m/N and the ratios of BRR to GRR at N = {largest:,}, beside the limits of Theorems 1 to 3.",
            notes=[f"Measured at N = {largest:,}; the dashed lines are the limits of Theorems 1 to 3."],
        )
    }  # fmt: skip
