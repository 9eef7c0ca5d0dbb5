"""Claims about running times: appendix B.4.

What the paper times on the server is perturbing the locations of all users; so are the claims judged. What a server of
LDP does with reports, counting and estimating, stands beside it.
"""

from typing import Any, Final

import pandas as pd

from reproduction.claim import Claim, Edit, Verdict
from reproduction.experiments.places_of_the_paper import FOURSQUARE
from reproduction.places import PUBLISHED

_APART: Final = 1.5
"""Two times of this machine count as different from half as much again on."""


def _one_report(runtime: pd.DataFrame) -> dict[str, Any]:
    of = runtime[runtime["what"] == "one report"].set_index("mechanism")
    ours, others = of.loc[["BRR"]], of.loc[["GRR", PUBLISHED], "seconds"]
    return {
        "shown": "; ".join(
            f"{row.dataset} median {1e6 * row.seconds:.0f} µs, 99 % within {1e6 * row.p99:.0f} µs"
            for row in ours.itertuples()
        ),
        "others": f"{1e6 * others.min():.0f} to {1e6 * others.max():.0f} µs",
    }


def _server(runtime: pd.DataFrame) -> dict[str, Any]:
    rows = runtime[runtime["dataset"] == FOURSQUARE]
    seconds = rows.pivot(index=["what", "users"], columns="mechanism", values="seconds")
    reports, places = seconds.loc["reports"], rows["places"].iloc[0]
    most = reports.index.max()
    few, many = reports.loc[places], reports.loc[most]
    estimating = slower = ""
    if "estimate" in seconds.index:
        shares = seconds.loc["estimate", most]
        estimating = (
            f"; estimating shares of places from counts, s: BRR {shares['BRR']:.2g}, L-SRR {shares[PUBLISHED]:.2g}"
        )
        than = "longer than" if shares["BRR"] > shares[PUBLISHED] else "no longer than"
        slower = f" Estimating shares, which the paper does not time, takes BRR {than} L-SRR."
    return {
        "places": places, "most": most, "times": min(many["BRR"] / many["GRR"], many[PUBLISHED] / many["BRR"]),
        "few": ", ".join(f"{name} {1e3 * few[name]:.2f}" for name in ("GRR", "BRR", PUBLISHED)),
        "many": ", ".join(f"{name} {many[name]:.2g}" for name in ("GRR", "BRR", PUBLISHED)),
        "estimating": estimating, "slower": slower, "apart": _APART,
    }  # fmt: skip


def _growth(runtime: pd.DataFrame) -> dict[str, Any]:
    """Time for each further user, and what the quartiles make of it, where calls are not mostly overhead."""
    counted = runtime.loc[runtime["what"] == "counting", "users"]
    few, many = counted.min(), counted.max()
    of = runtime[(runtime["what"] == "reports") & runtime["mechanism"].isin(["BRR", PUBLISHED])]
    by_users = of.set_index(["users", "dataset", "mechanism"])
    first, last = by_users.loc[few], by_users.loc[many]
    each = last[[]].assign(
        middle=last["seconds"] - first["seconds"], low=last["low"] - first["high"], high=last["high"] - first["low"]
    ).mul(1e9 / (many - few))  # fmt: skip
    ours, theirs = (each.xs(name, level="mechanism") for name in ("BRR", PUBLISHED))
    shown = [
        f"{dataset}: " + ", ".join(f"{name} {at.middle:.3g} ({at.low:.3g} to {at.high:.3g})" for name, at in
                                   (("BRR", ours.loc[dataset]), (PUBLISHED, theirs.loc[dataset])))
        for dataset in ours.index
    ]  # fmt: skip
    few_users = of[of["users"] <= of["places"]].groupby(["mechanism", "dataset"], sort=False)["seconds"]
    grown = 1e6 * (few_users.last() - few_users.first())
    return {
        "few": few, "many": many, "shown": "; ".join(shown), "sets": len(ours),
        "slower": int((ours["high"] < theirs["low"]).sum()), "faster": int((ours["low"] > theirs["high"]).sum()),
        "ours": grown["BRR"].max(), "theirs": grown[PUBLISHED].max(),
        "times": f"{(theirs['middle'] / ours['middle']).min():.1f} to {(theirs['middle'] / ours['middle']).max():.1f}",
    }  # fmt: skip


CLAIMS: Final = (
    Claim(
        key="runtime of a user",
        where="Appendix B.4",
        says="The user side takes 0.03 s for each user on average.",
        find=_one_report,
        measured="one report of BRR on this machine: {shown}; of GRR and L-SRR as published: {others}",
        rules={Verdict.UNCHECKABLE: "True"},  # whatever a time is here, it neither shows nor refutes that of another
        expected=Verdict.UNCHECKABLE,
        why="A time of another machine and of another implementation, in Python. Here a report takes far less, so 0.03 "
        "s is no obstacle.",
    ),
    Claim(
        key="runtime of the server",
        where="Appendix B.4, Fig. 12",
        says="GRR takes little time, L-SRR more than BRR; BRR 4 s for 3000 users.",
        find=_server,
        measured="reports of {places:,} users on this machine, ms: {few}; of {most:,}, s: {many}{estimating}",
        rules={
            Verdict.UNDECIDED: "most < 1_000_000 and times <= apart",
            Verdict.PART: "times > apart",
        },
        expected=Verdict.PART,
        finding="the order of the three; the 4 s of another machine cannot be checked",
        why="With {most:,} users, where a call is not mostly overhead, GRR is fastest and L-SRR slowest of the three. "
        "The 4 s are of another machine and implementation.{slower}",
        flip=Edit("runtime", "what == 'reports' and mechanism == 'BRR'", "seconds", "seconds * 9"),
    ),
    Claim(
        key="runtime, growth",
        where="Appendix B.4, Fig. 12",
        says="The runtime of BRR grows more slowly than that of L-SRR as the number of users grows.",
        find=_growth,
        measured="nanoseconds for each further user, {few:,} to {many:,} (in brackets: from quartiles): {shown}; from "
        "a tenth of the places to all, as in the paper, at most {ours:+.0f} µs (BRR) and {theirs:+.0f} µs (L-SRR)",
        rules={Verdict.HOLDS: "slower == sets", Verdict.UNDECIDED: "faster == 0"},
        expected=Verdict.HOLDS,
        why="Both grow in proportion to the users, L-SRR’s {times} times as steeply. That is of these implementations: "
        "L-SRR draws from a table of the chances of all reports.",
        flip=Edit(
            "runtime",
            "mechanism == 'L-SRR as published'",
            "low",
            "low / 99",
            then=Edit("runtime", "mechanism == 'L-SRR as published'", "high", "high / 99"),
        ),
    ),
)
