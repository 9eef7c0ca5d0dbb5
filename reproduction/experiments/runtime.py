"""Figure 12: time of the server for 10 % to 100 % of the users, and of one user's report.

As in the paper, "10 %" means as many reports as a tenth of the places, and the division of the domain is made ahead.
Designing the mechanism (finding m, or the groups of L-SRR) is timed apart, because it is done once. Times are of this
machine and of compiled code, loaded ahead; the paper's are of another machine and of Python. A time is the least of
some rounds.
"""

from __future__ import annotations

import contextlib
import importlib
import math
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.lottery import insecure_seed
from bipartite.mechanisms import BRR, GRR, LSRR, Anchored, Mechanism
from reproduction.experiments.places_of_the_paper import FOURSQUARE, GOWALLA, places_of
from reproduction.experiments.printed import SERVER, USER_SECONDS
from reproduction.figures import Line, Panel, Printed, panels
from reproduction.runner.contract import Row, Rows, distinct, number, select

if TYPE_CHECKING:
    from collections.abc import Callable

    from bipartite.domains import Points

NOTE: Final = (
    "Times of this machine; the paper's were taken on another one, in Python. The design of a mechanism, done once, is "
    "not part of the lines. One report is a call of its own, from the secure source."
)
_EPSILON: Final = "1"
_MAKERS: Final[dict[str, Callable[[Points, str], Mechanism]]] = {
    "BRR": BRR,
    "GRR": GRR,
    "L-SRR calibrated": LSRR,
    "Anchored": Anchored,
}
_EXTRA: Final = frozenset({"Anchored"})
_MIX: Final = 2654435761  # spreads positions over the places, the same ones in every run


@dataclass(frozen=True)
class Settings:
    """Places, shares of users, rounds of each time, and single reports."""

    gowalla: int = 1000
    foursquare: int = 3000
    shares: tuple[int, ...] = (10, 20, 30, 40, 50, 60, 70, 80, 90, 100)
    rounds: int = 200
    singles: int = 2000


@dataclass(frozen=True)
class Cell:
    """One mechanism on one set of places."""

    dataset: str
    places: int
    mechanism: str
    shares: tuple[int, ...]
    rounds: int
    singles: int


QUICK = Settings(shares=(10, 40, 70, 100), rounds=50, singles=300)


def cells(settings: Settings) -> tuple[Cell, ...]:
    """Every mechanism on both sets."""
    sizes = {GOWALLA: settings.gowalla, FOURSQUARE: settings.foursquare}
    return tuple(
        Cell(name, count, mechanism, settings.shares, settings.rounds, settings.singles)
        for name, count in sizes.items()
        for mechanism in _MAKERS
    )


def measure(cell: Cell) -> list[Row]:
    """Seconds of the design, of many reports, and of one."""
    places, _ = places_of(cell.dataset, cell.places)
    mechanism, design = _timed(lambda: _MAKERS[cell.mechanism](places, _EPSILON))
    head: Row = {"dataset": cell.dataset, "places": cell.places, "mechanism": cell.mechanism}
    rows: list[Row] = [{**head, "what": "design", "users": 0, "seconds": design, "p99": math.nan}]
    with contextlib.suppress(ImportError):  # without numba NumPy draws, as for everybody who does not have it
        importlib.import_module("bipartite.lottery.compiled_points")
    mechanism.privatize(_people(cell.places, cell.places), rng=insecure_seed(0))
    for share in cell.shares:
        people = _people(cell.places, max(1, cell.places * share // 100))
        best = min(_timed(partial(mechanism.privatize, people))[1] for _ in range(cell.rounds))
        rows.append({**head, "what": "server", "users": len(people), "seconds": best, "p99": math.nan})
    singles = [_timed(partial(mechanism.privatize, one))[1] for one in _people(cell.places, cell.singles).tolist()]
    median, late = np.quantile(singles, [0.5, 0.99])
    rows.append({**head, "what": "one report", "users": 1, "seconds": float(median), "p99": float(late)})
    return rows


def _people(places: int, count: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return (np.arange(count, dtype=np.int64) * _MIX) % places


def _timed(call: Callable[[], Any]) -> tuple[Any, float]:
    began = time.perf_counter()
    given = call()
    return given, time.perf_counter() - began


def draw(rows: Rows, *, extra: bool = True) -> dict[str, str]:
    """The server's time against the number of users."""
    kept = [row for row in rows if extra or row["mechanism"] not in _EXTRA]
    drawn = []
    for dataset in distinct(kept, "dataset"):
        some = select(kept, dataset=dataset, what="server")
        lines = [
            Line(name, [number(row, "users") for row in of], [1e3 * number(row, "seconds") for row in of])
            for name in distinct(some, "mechanism")
            for of in [select(some, mechanism=name)]
        ]
        printed = [Printed(1e3 * SERVER[1], f"BRR {SERVER[1]:g} s", SERVER[0])] if dataset == FOURSQUARE else []
        drawn.append(Panel(f"Server: {dataset}, {some[0]['places']:,} places", lines, printed=printed))
    one = "; ".join(
        f"{row['dataset']} {1e6 * number(row, 'seconds'):.0f} µs (99 % within {1e6 * number(row, 'p99'):,.0f} µs)"
        for row in select(kept, what="one report", mechanism="BRR")
    )
    return {
        "runtime": panels(
            drawn, across="users", up="time of the server, ms", log_y=True,
            says=f"Time of the server against the number of users. One report by BRR: {one}.",
            notes=["The vertical axis is logarithmic. Design, done once, is not in it."],
        ),
        "runtime_of_a_report": panels(
            [_one_report(kept)], across="places", up="time of one report, ms", log_x=True, log_y=True, columns=2,
            says=f"Time of one report against the number of places. By BRR: {one}.",
            notes=["Median of single calls, from the secure source. Both axes are logarithmic.", f"BRR: {one}."],
        ),
    }  # fmt: skip


def _one_report(rows: Rows) -> Panel:
    some = select(rows, what="one report")
    lines = [
        Line(name, [number(row, "places") for row in of], [1e3 * number(row, "seconds") for row in of])
        for name in distinct(some, "mechanism")
        for of in [select(some, mechanism=name)]
    ]
    printed = [Printed(1e3 * USER_SECONDS, f"{USER_SECONDS:g} s")]
    return Panel("One report: " + ", ".join(distinct(some, "dataset")), lines, printed=printed)
