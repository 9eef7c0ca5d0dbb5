"""Claims of the runtime appendix, B.4.

What the paper times on the server is perturbing the locations of all users; so are the claims judged. What a server of
LDP does with reports, counting and estimating, stands beside it.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from reproduction.claims.verdict import Claim, Evidence, Judgement, Verdict, holds_if
from reproduction.experiments.places_of_the_paper import FOURSQUARE
from reproduction.experiments.printed import SERVER, USER_SECONDS
from reproduction.places import PUBLISHED
from reproduction.runner.contract import Rows, number, select

_SAME_TIME: Final = 1.5
"""Two times of this machine count as different from half as much again on."""
_THREE: Final = ("GRR", "BRR", PUBLISHED)


def _user_side(evidence: Evidence) -> Judgement:
    rows = select(evidence["runtime"], what="one report", mechanism="BRR")
    slowest = max(number(row, "seconds") for row in rows)
    numbers = "; ".join(
        f"{row['dataset']} median {1e6 * number(row, 'seconds'):.0f} µs, 99 % {1e6 * number(row, 'p99'):.0f} µs"
        for row in rows
    )
    others = {
        name: [1e6 * number(row, "seconds") for row in select(evidence["runtime"], what="one report", mechanism=name)]
        for name in ("GRR", PUBLISHED)
    }
    rest = ", ".join(f"{name} {min(of):.0f} to {max(of):.0f} µs" for name, of in others.items() if of)
    return holds_if(
        slowest <= USER_SECONDS, f"one report of BRR on this machine: {numbers}" + (f"; of others: {rest}" if rest else ""),
        f"As a bound: no slower than the paper’s {USER_SECONDS:g} s. That number itself cannot be checked: it is of another machine and implementation.",
        f"Slower than {USER_SECONDS:g} s on this machine.",
    )  # fmt: skip


def _server_side(evidence: Evidence) -> Judgement:
    every = select(evidence["runtime"], dataset=FOURSQUARE)
    rows = select(every, what="reports")
    places = int(rows[0]["places"])
    seconds, last = (
        {str(row["mechanism"]): number(row, "seconds") for row in select(rows, users=users)}
        for users in (places, _most(rows))
    )
    measured = (
        f"reports of {places:,} users on this machine, ms: {', '.join(f'{name} {1e3 * each:.2f}' for name, each in seconds.items())}; "
        f"of {_most(rows):,}, s: {', '.join(f'{name} {each:.3g}' for name, each in last.items())}{_estimates(every)}"
    )
    if seconds["BRR"] > SERVER[1]:
        return Judgement(Verdict.FAILS, measured, "Slower than the paper’s 4 s on this machine.")
    order = all(last[a] * _SAME_TIME < last[b] for a, b in pairwise(_THREE))
    if order:
        return Judgement(
            Verdict.HOLDS, measured, f"With {_most(rows):,} users, where a call is not mostly overhead, GRR is fastest and L-SRR slowest of the three; {SERVER[1]:g} s for {places:,} are a bound here: the number itself cannot be checked, it is of another machine and implementation.{_otherwise(every)}"
        )  # fmt: skip
    return Judgement(
        Verdict.CORRECTED, measured, "Well within 4 s; the order of the three depends on the implementation."
    )


def _most(rows: Rows) -> int:
    return max(int(row["users"]) for row in rows)


def _estimates(rows: Rows) -> str:
    """How long estimating takes, where it was timed."""
    found = select(rows, what="estimate")
    if not found:
        return ""
    (counted,) = select(rows, what="counting", users=_most(found), mechanism="BRR")
    some = ", ".join(f"{row['mechanism']} {number(row, 'seconds'):.2g}" for row in select(found, users=_most(found)))
    return f"; counting these takes {number(counted, 'seconds'):.2g} s, estimating the shares of all places from the counts, s: {some}"


def _otherwise(rows: Rows) -> str:
    """Where the order is another one."""
    found = select(rows, what="estimate")
    last = {str(row["mechanism"]): number(row, "seconds") for row in found if row["users"] == _most(found)}
    if not last or last["BRR"] <= last[PUBLISHED] * _SAME_TIME:
        return ""
    return " Estimating shares, which the paper does not time, takes BRR longer than L-SRR."


def _growth(evidence: Evidence) -> Judgement:
    from reproduction.experiments.runtime import growth  # noqa: PLC0415 (lazily, as all experiments)

    rows = evidence["runtime"]
    found = growth(rows)
    times = {name: {each: of[each][0] / of["BRR"][0] for each in of if each != "BRR"} for name, of in found.items()}
    sizes = [int(row["users"]) for row in select(rows, what="counting")]
    measured = (
        f"nanoseconds for each further user, from {min(sizes):,} to {max(sizes):,} (in brackets: from quartiles), "
        + "; ".join(
            f"{dataset}: "
            + ", ".join(
                f"{name} {1e9 * middle:.3g} ({1e9 * low:.3g} to {1e9 * high:.3g})"
                for name, (middle, low, high) in of.items()
            )
            for dataset, of in found.items()
        )
    )
    measured += "; L-SRR as published over BRR: " + ", ".join(
        f"{of[PUBLISHED]:.1f} ({name})" for name, of in times.items()
    )
    measured += "".join(_within_the_paper(rows, dataset) for dataset in found)
    slower = [of["BRR"][2] < of[PUBLISHED][1] for of in found.values()]
    faster = [of["BRR"][1] > of[PUBLISHED][2] for of in found.values()]
    if all(slower):
        return Judgement(
            Verdict.HOLDS, measured, "Both grow in proportion to the users, BRR’s time with the smaller factor. That is of these implementations: L-SRR draws from a table of the chances of all reports."
        )  # fmt: skip
    if any(faster):
        return Judgement(Verdict.FAILS, measured, "L-SRR’s time grows more slowly.")
    return Judgement(Verdict.UNDECIDED, measured, "The times vary more than they differ.")


def _within_the_paper(rows: Rows, dataset: str) -> str:
    """By how much the times grow over the paper's numbers of users, where calls are mostly overhead."""
    some = [row for row in select(rows, what="reports", dataset=dataset) if int(row["users"]) <= int(row["places"])]
    ends = [each(int(row["users"]) for row in some) for each in (min, max)] if some else []
    if len(set(ends)) < 2:  # noqa: PLR2004
        return ""
    grown = {
        name: 1e6 * (seconds[1] - seconds[0])
        for name in ("BRR", PUBLISHED)
        if (seconds := [number(row, "seconds") for at in ends for row in select(some, mechanism=name, users=at)])
    }
    said = ", ".join(f"{name} {each:+.0f} µs" for name, each in grown.items())
    return f"; {dataset}, {ends[0]:,} to {ends[1]:,} users as in the paper: {said}"


CLAIMS: Final = (
    Claim("runtime of a user", "Appendix B.4", "The user side takes 0.03 s for each user on average.", _user_side, ("runtime",)),
    Claim("runtime of the server", "Appendix B.4, Fig. 12", "GRR takes little time, L-SRR more than BRR; BRR 4 s for 3000 users.", _server_side, ("runtime",)),
    Claim("runtime, growth", "Appendix B.4, Fig. 12", "The runtime of BRR grows more slowly than that of L-SRR as the number of users grows.", _growth, ("runtime",)),
)  # fmt: skip
"""In the order of the paper."""
