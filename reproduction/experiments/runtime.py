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

import contextlib
import importlib
import math
import time
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bipartite import estimate
from bipartite.domains import Points
from bipartite.lottery import insecure_seed
from bipartite.mechanisms import Mechanism
from reproduction.experiments.places_of_the_paper import FOURSQUARE, GOWALLA, places_of
from reproduction.experiments.printed import SERVER, USER_SECONDS
from reproduction.form import Grid, Row
from reproduction.pictures import Printed, panels
from reproduction.places import CALIBRATED, PUBLISHED, RELEASES

NOTE: Final = (
    "Processor time of this machine; the paper's times were taken on another one, in Python. The design, "
    "done once, is not part of the lines. One report is a call of its own, from the secure source. L-SRR as published "
    "spends more than its ε; calibrated it keeps it."
)
_EPSILON: Final = "1"
_MAKERS: Final = {name: RELEASES[name] for name in ("BRR", "GRR", PUBLISHED, CALIBRATED, "Anchored")}
_FEW: Final = 40
_MIX: Final = 2654435761  # spreads positions over the places, the same ones in every run
_SMALL: Final = 100  # fewer rounds have no percentile
# Shares of the places, in percent, are the paper's numbers of users; many and singles are ours.
FULL = Grid(
    {
        ("dataset", "places"): ((GOWALLA, 1000), (FOURSQUARE, 3000)),
        "shares": ((10, 20, 30, 40, 50, 60, 70, 80, 90, 100),),
        "rounds": (200,),
        "many": ((100_000, 1_000_000, 10_000_000),),
        "many_rounds": (5,),
        "estimates": (3,),
        "singles": (2000,),
    }
)
QUICK = FULL.but(
    shares=((10, 40, 70, 100),), rounds=(50,), many=((10_000, 100_000),), many_rounds=(3,), estimates=(0,),
    singles=(300,),
)  # fmt: skip


def measure(  # noqa: PLR0913 (its settings)
    *, dataset: str, places: int, shares: tuple[int, ...], rounds: int, many: tuple[int, ...], many_rounds: int,
    estimates: int, singles: int,
) -> list[Row]:  # fmt: skip
    """Seconds of the design, of many reports, of counting them and of estimating shares, and of one report."""
    domain, _ = places_of(dataset, places)
    _compile(domain)
    seconds: dict[tuple[str, int, str], list[float]] = {}

    def timed(what: str, users: int, name: str, call: Callable[..., Any], *given: Any) -> Any:  # noqa: ANN401
        began = time.process_time()
        found = call(*given)
        seconds.setdefault((what, users, name), []).append(time.process_time() - began)
        return found

    mechanisms = {name: timed("design", 0, name, make, domain, _EPSILON) for name, make in _MAKERS.items()}
    for mechanism in mechanisms.values():
        mechanism.privatize(_people(places, places), rng=insecure_seed(0))
    for share in shares:
        people = _people(places, max(1, places * share // 100))
        for _, (name, mechanism) in product(range(rounds), mechanisms.items()):
            timed("reports", len(people), name, mechanism.privatize, people)
    for users in many:
        people, counts = _people(places, users), {}
        for _, (name, mechanism) in product(range(many_rounds), mechanisms.items()):
            reports = timed("reports", users, name, mechanism.privatize, people)
            counts[name] = timed("counting", users, name, partial(np.bincount, minlength=places), reports)
        for _, (name, mechanism) in product(range(estimates), mechanisms.items()):
            if len(mechanism.outputs) == places:  # Anchored reports a few of them, and estimates nothing
                timed("estimate", users, name, _shares, mechanism, counts[name])
    for one, (name, mechanism) in product(_people(places, singles).tolist(), mechanisms.items()):
        timed("one report", 1, name, mechanism.privatize, one)
    return [
        {"dataset": dataset, "places": places, "mechanism": name, "what": what, "users": users, **_summary(found)}
        for (what, users, name), found in seconds.items()
    ]


def _compile(domain: Points) -> None:
    """Load what is compiled ahead, and what is compiled when it is first called."""
    with contextlib.suppress(ImportError):  # without numba NumPy draws, as for everybody who does not have it
        importlib.import_module("bipartite.lottery.compiled_points")
    few = Points(domain.coordinates[:_FEW], metric="haversine")
    for make in _MAKERS.values():
        make(few, _EPSILON)


def _people(places: int, count: int) -> NDArray[np.int64]:
    return (np.arange(count, dtype=np.int64) * _MIX) % places


def _shares(mechanism: Mechanism, counts: NDArray[np.int64]) -> object:
    return estimate(mechanism, counts=counts).shares


def _summary(found: list[float]) -> Row:
    low, median, high, late = np.quantile(found, [0.25, 0.5, 0.75, 0.99]).tolist()
    return {"rounds": len(found), "seconds": median, "low": low, "high": high,
            "p99": math.nan if len(found) < _SMALL else late}  # fmt: skip


def draw(rows: pd.DataFrame) -> dict[str, str]:
    """The server's time against the number of users, its parts at the largest number, and the time of one report."""
    times = ["seconds", "low", "high", "p99"]
    rows = rows.assign(**1e3 * rows[times])  # milliseconds
    single = rows[rows["what"] == "one report"]
    said = "; ".join(
        f"{row.dataset} {1e3 * row.seconds:.0f} µs (99 % within {1e3 * row.p99:,.0f} µs)"
        for row in single[single["mechanism"] == "BRR"].itertuples()
    )
    pictures = {
        "runtime": _server(
            rows, "reports", "Reports of all users",
            printed={FOURSQUARE: [Printed(1e3 * SERVER[1], f"BRR {SERVER[1]:g} s", SERVER[0])]},
            says="Time of perturbing the locations of all users against their number.",
            notes=["Medians, with quartiles as bars; both axes are logarithmic. Design, done once, is not in it.",
                   "Below 10⁴ users a call is mostly overhead."],
        ),
        "runtime_of_a_report": panels(
            single, x="places", y="seconds", title=f"One report: {', '.join(single['dataset'].unique())}",
            printed={"": [Printed(1e3 * USER_SECONDS, f"{USER_SECONDS:g} s")]},
            across="places", up="time of one report, ms", log_x=True, log_y=True,
            says=f"Time of one report against the number of places. By BRR: {said}.",
            notes=["Median of single calls, from the secure source. Both axes are logarithmic.", f"BRR: {said}."],
        ),
    }  # fmt: skip
    if (rows["what"] == "estimate").any():
        pictures["runtime_of_estimates"] = _server(
            rows, "estimate", "Shares of places",
            says="Time of estimating the shares of all places from counts of reports, against the number of users.",
            notes=["From counts: their number does not grow with the users. GRR has a formula; the others need EM."],
        )  # fmt: skip
    return pictures


def _server(rows: pd.DataFrame, what: str, title: str, **how: Any) -> str:  # noqa: ANN401 (those of panels)
    some = rows[rows["what"] == what]
    titles = {name: f"{title}: {name}, {of['places'].iloc[0]:,} places" for name, of in some.groupby("dataset")}
    return panels(
        some, x="users", y="seconds", between=("low", "high"), facet="dataset", titles=titles, across="users",
        up="processor time, ms", log_x=True, log_y=True, **how,
    )  # fmt: skip
