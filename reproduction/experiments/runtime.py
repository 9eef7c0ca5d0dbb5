"""Figure 12: time of the server against the number of users, and of one user's report.

What the paper times on the server is perturbing the locations of all its users: "10 %" means as many reports as a tenth
of the places, and the division of the domain is made ahead. A call of so few takes less than a millisecond here, most
of it overhead; so 10⁵, 10⁶ and 10⁷ users follow, whose times grow with their number. What a server does in LDP, where
users perturb by themselves, is timed too: counting the reports of every place, and estimating the shares of places from
the counts.

Designing the mechanism (finding m, or the groups of L-SRR) is timed apart, because it is done once. A time is the
median of some rounds, beside its quartiles: processor time of one thread, which other work on the machine hardly
touches, and mechanisms take turns, so that what it does touch falls on all of them. Times are of this machine and of
compiled code, loaded ahead; the paper's are of another machine and of Python. L-SRR draws from a table of the chances
of all reports, BRR and GRR need none.
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

from bipartite import estimate
from bipartite.domains import Points
from bipartite.lottery import insecure_seed
from bipartite.mechanisms import BRR, GRR, Anchored, Mechanism
from reproduction.experiments.places_of_the_paper import FOURSQUARE, GOWALLA, places_of
from reproduction.experiments.printed import SERVER, USER_SECONDS
from reproduction.figures import Line, Panel, Printed, panels
from reproduction.places import CALIBRATED, PUBLISHED, PublishedLSRR, lsrr
from reproduction.runner.contract import Row, Rows, distinct, number, select

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    Counted = NDArray[np.int64]

NOTE: Final = (
    "Processor time of this machine; the paper's times were taken on another one, in Python. The design, "
    "done once, is not part of the lines. One report is a call of its own, from the secure source. L-SRR as published "
    "spends more than its ε; calibrated it keeps it."
)
_EPSILON: Final = "1"
_MAKERS: Final[dict[str, Callable[[Points, str], Mechanism]]] = {
    "BRR": BRR,
    "GRR": GRR,
    PUBLISHED: lambda places, epsilon: PublishedLSRR(places, epsilon).rows,
    CALIBRATED: lsrr,
    "Anchored": Anchored,
}
_EXTRA: Final = frozenset({CALIBRATED, "Anchored"})
_FEW: Final = 40
_MIX: Final = 2654435761  # spreads positions over the places, the same ones in every run


@dataclass(frozen=True)
class Settings:
    """Places, shares of users, larger numbers of them, rounds of each time, and single reports."""

    gowalla: int = 1000
    foursquare: int = 3000
    shares: tuple[int, ...] = (10, 20, 30, 40, 50, 60, 70, 80, 90, 100)
    rounds: int = 200
    many: tuple[int, ...] = (100_000, 1_000_000, 10_000_000)
    many_rounds: int = 5
    estimates: int = 3
    """How often the shares are estimated; 0 for not at all."""
    singles: int = 2000


@dataclass(frozen=True)
class Cell:
    """One set of places, with every mechanism."""

    dataset: str
    places: int
    shares: tuple[int, ...]
    rounds: int
    many: tuple[int, ...]
    many_rounds: int
    estimates: int
    singles: int


QUICK = Settings(
    shares=(10, 40, 70, 100), rounds=50, many=(10_000, 100_000), many_rounds=3, estimates=0, singles=300
)  # fmt: skip


def cells(settings: Settings) -> tuple[Cell, ...]:
    """Both sets."""
    sizes = {GOWALLA: settings.gowalla, FOURSQUARE: settings.foursquare}
    return tuple(
        Cell(name, count, settings.shares, settings.rounds, settings.many, settings.many_rounds, settings.estimates,
             settings.singles)
        for name, count in sizes.items()
    )  # fmt: skip


def measure(cell: Cell) -> list[Row]:
    """Seconds of the design, of many reports, of counting them and of estimating shares, and of one report."""
    places, _ = places_of(cell.dataset, cell.places)
    with contextlib.suppress(ImportError):  # without numba NumPy draws, as for everybody who does not have it
        importlib.import_module("bipartite.lottery.compiled_points")
    few = Points(places.coordinates[:_FEW], metric="haversine")
    for make in _MAKERS.values():  # what is compiled when it is first called
        make(few, _EPSILON)
    made = {name: _timed(partial(make, places, _EPSILON)) for name, make in _MAKERS.items()}
    mechanisms = {name: mechanism for name, (mechanism, _) in made.items()}
    seconds = {("design", 0, name): [design] for name, (_, design) in made.items()}
    for mechanism in mechanisms.values():
        mechanism.privatize(_people(cell.places, cell.places), rng=insecure_seed(0))
    for share in cell.shares:
        people = _people(cell.places, max(1, cell.places * share // 100))
        for _ in range(cell.rounds):
            for name, mechanism in mechanisms.items():
                _, took = _timed(partial(mechanism.privatize, people))
                seconds.setdefault(("reports", len(people), name), []).append(took)
    for users in cell.many:
        _many(cell, users, mechanisms, seconds)
    for one in _people(cell.places, cell.singles).tolist():
        for name, mechanism in mechanisms.items():
            _, took = _timed(partial(mechanism.privatize, one))
            seconds.setdefault(("one report", 1, name), []).append(took)
    return [
        {"dataset": cell.dataset, "places": cell.places, "mechanism": name, "what": what, "users": users,
         **_summary(found)}
        for (what, users, name), found in seconds.items()
    ]  # fmt: skip


def _many(
    cell: Cell, users: int, mechanisms: Mapping[str, Mechanism], seconds: dict[tuple[str, int, str], list[float]]
) -> None:
    """Time the reports of many users, their counts, and the estimates from these."""
    people = _people(cell.places, users)
    counts: dict[str, Counted] = {}
    for _ in range(cell.many_rounds):
        for name, mechanism in mechanisms.items():
            reports, took = _timed(partial(mechanism.privatize, people))
            seconds.setdefault(("reports", users, name), []).append(took)
            counts[name], took = _timed(partial(np.bincount, reports, minlength=cell.places))
            seconds.setdefault(("counting", users, name), []).append(took)
    for _ in range(cell.estimates):
        for name, mechanism in mechanisms.items():
            if len(mechanism.outputs) == cell.places:  # Anchored reports a few of them, and estimates nothing
                _, took = _timed(partial(_shares, mechanism, counts[name]))
                seconds.setdefault(("estimate", users, name), []).append(took)


def _shares(mechanism: Mechanism, counts: Counted) -> object:
    return estimate(mechanism, counts=counts).shares


def _summary(found: list[float]) -> Row:
    low, median, high, late = np.quantile(found, [0.25, 0.5, 0.75, 0.99]).tolist()
    few = len(found) < 100  # noqa: PLR2004 (too few for a percentile)
    return {"rounds": len(found), "seconds": median, "low": low, "high": high, "p99": math.nan if few else late}


def _people(places: int, count: int) -> Counted:
    return (np.arange(count, dtype=np.int64) * _MIX) % places


def _timed(call: Callable[[], Any]) -> tuple[Any, float]:
    began = time.process_time()
    given = call()
    return given, time.process_time() - began


def growth(rows: Rows, what: str = "reports") -> dict[str, dict[str, tuple[float, float, float]]]:
    """For each set and mechanism: seconds for each further user among many, with what the quartiles make of it."""
    found: dict[str, dict[str, tuple[float, float, float]]] = {}
    for dataset in distinct(rows, "dataset"):
        for name in distinct(rows, "mechanism"):
            counted = select(rows, dataset=dataset, mechanism=name, what="counting")
            sizes = [int(row["users"]) for row in counted]
            if len(sizes) < 2:  # noqa: PLR2004
                continue
            (first,), (last,) = (
                select(rows, dataset=dataset, mechanism=name, what=what, users=each)
                for each in (min(sizes), max(sizes))
            )
            users = max(sizes) - min(sizes)
            found.setdefault(str(dataset), {})[str(name)] = (
                (number(last, "seconds") - number(first, "seconds")) / users,
                (number(last, "low") - number(first, "high")) / users,
                (number(last, "high") - number(first, "low")) / users,
            )
    return found


def draw(rows: Rows, *, extra: bool = True) -> dict[str, str]:
    """The server's time against the number of users, its parts at the largest number, and the time of one report."""
    kept = [row for row in rows if extra or row["mechanism"] not in _EXTRA]
    one = "; ".join(
        f"{row['dataset']} {1e6 * number(row, 'seconds'):.0f} µs (99 % within {1e6 * number(row, 'p99'):,.0f} µs)"
        for row in select(kept, what="one report", mechanism="BRR")
    )
    pictures: dict[str, str] = {
        "runtime": panels(
            [_server(kept, dataset, "reports", "Reports of all users") for dataset in distinct(kept, "dataset")],
            across="users", up="processor time, ms", log_x=True, log_y=True,
            says="Time of perturbing the locations of all users against their number.",
            notes=["Medians, with quartiles as bars; both axes are logarithmic. Design, done once, is not in it.",
                   "Below 10⁴ users a call is mostly overhead."],
        ),
        "runtime_of_a_report": panels(
            [_one_report(kept)], across="places", up="time of one report, ms", log_x=True, log_y=True, columns=2,
            says=f"Time of one report against the number of places. By BRR: {one}.",
            notes=["Median of single calls, from the secure source. Both axes are logarithmic.", f"BRR: {one}."],
        ),
    }  # fmt: skip
    if select(kept, what="estimate"):
        pictures["runtime_of_estimates"] = panels(
            [_server(kept, dataset, "estimate", "Shares of places") for dataset in distinct(kept, "dataset")],
            across="users", up="processor time, ms", log_x=True, log_y=True,
            says="Time of estimating the shares of all places from counts of reports, against the number of users.",
            notes=["From counts: their number does not grow with the users. GRR has a formula; the others need EM."],
        )  # fmt: skip
    return pictures


def _server(rows: Rows, dataset: str, what: str, title: str) -> Panel:
    some = select(rows, dataset=dataset, what=what)
    lines = []
    for name in distinct(some, "mechanism"):
        of = select(some, mechanism=name)
        y, low, high = ([1e3 * number(row, each) for row in of] for each in ("seconds", "low", "high"))
        lines.append(Line(name, [number(row, "users") for row in of], y, low, high))
    printed = (
        [Printed(1e3 * SERVER[1], f"BRR {SERVER[1]:g} s", SERVER[0])]
        if (what, dataset) == ("reports", FOURSQUARE)
        else []
    )
    return Panel(f"{title}: {dataset}, {some[0]['places']:,} places", lines, printed=printed)


def _one_report(rows: Rows) -> Panel:
    some = select(rows, what="one report")
    lines = [
        Line(name, [number(row, "places") for row in of], [1e3 * number(row, "seconds") for row in of])
        for name in distinct(some, "mechanism")
        for of in [select(some, mechanism=name)]
    ]
    printed = [Printed(1e3 * USER_SECONDS, f"{USER_SECONDS:g} s")]
    return Panel("One report: " + ", ".join(distinct(some, "dataset")), lines, printed=printed)
