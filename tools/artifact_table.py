"""The table of ``docs/artifact.md``: what the paper shows, the command, its time, and the number that should come out.

Experiments, figures and times are those of the laboratory, numbers those of the committed full run: nothing is written
twice. ``python -m tools.artifact_table FOLDER`` prints the same table of another full run, to lay beside it.
"""

from __future__ import annotations

import functools
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reproduction.claim import Verdict
from reproduction.experiments import location_draws, printed
from reproduction.experiments.places_of_the_paper import FOURSQUARE, GOWALLA
from reproduction.experiments.sgd_readings import at_best
from reproduction.places import CALIBRATED, PUBLISHED, WHOLE, WITHIN
from reproduction.registry import EXPERIMENTS
from reproduction.report import anchor
from tools import result_numbers as run
from tools.result_numbers import chosen, rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from reproduction.registry import Entry


class Number(NamedTuple):
    """What to look at: a claim of the report, or its figure where there is none, and the number."""

    claim: str
    expected: Callable[[], str]


def table() -> list[str]:
    """A line for each number of each experiment, in the order of the report."""
    return [
        "| of the paper | `python -m reproduction …` | minutes | what comes out | in `report.html` |",
        "|---|---|---|---|---|",
        *(line for entry in EXPERIMENTS if (run.RESULTS / f"{entry.name}.csv").exists() for line in _lines(entry)),
    ]


def _lines(entry: Entry) -> Iterator[str]:
    about = (entry.figure, f"`run {entry.name} --full`", _minutes(entry))
    for claim, expected in NUMBERS[entry.name]:
        where = f"`#{anchor(claim) if claim else entry.name}`"
        yield "| " + " | ".join((*about, expected().replace(" -", " −"), where)) + " |"
        about = ("", "", "")


def _minutes(entry: Entry) -> str:
    """What measuring took on one of two cores; what was measured on a GPU is reckoned from the laboratory's guess."""
    origins = json.loads((run.RESULTS / "run.json").read_text(encoding="utf-8"))["origins"]
    parts = chosen(rows("parts"), experiment=entry.name)
    on_a_gpu = any("NVIDIA" in origins[origin]["machine"] for origin in parts["origin"].unique())
    minutes = (entry.seconds[1] if on_a_gpu else parts["seconds"].sum()) / 60
    return f"{minutes:,.0f} (reckoned)" if on_a_gpu else f"{minutes:.0f}" if minutes >= 1 else "below 1"


def uncheckable() -> list[str]:
    """What cannot be reproduced, with the reasons of the report."""
    found = chosen(rows("verdicts"), verdict=str(Verdict.UNCHECKABLE))
    return [
        "| where | the paper says | why it cannot be checked |",
        "|---|---|---|",
        *(f"| {row['where']} | {row['says']} | {row['why']} |" for row in found.to_dict("records")),
    ]


def _percent(*shares: float, digits: int = 0) -> str:
    *first, last = [f"{100 * each:.{digits}f}" for each in shares]
    return f"{', '.join(first)} and {last} %" if first else f"{last} %"


def _chances() -> str:
    of = rows("pmf").query("truth == report").groupby("mechanism")["chance"].first()
    brr, grr = (_percent(of[name], digits=1) for name in ("BRR", "GRR"))
    return f"N = 21, ε = 1: BRR reports the true value with {brr}, GRR with {grr}"


_EQUAL: Final = 1e-9


def _example() -> str:
    of = rows("worked_example")
    least, most = of["local_m"].min(), of["local_m"].max()
    return f"N = 9, ε = 1: each value’s own m is {least} or {most}, so m = {of['m'].iloc[0]}"


def _derivatives() -> str:
    of = chosen(rows("monotonicity"), what="count")
    return f"{of['wrong'].sum():.0f} of {of['pairs'].sum():,.0f} pairs of derivatives are ordered otherwise"


def _formulas() -> str:
    of = chosen(rows("theorems"), what="algorithm 3")
    printed_ones, mended, cases = (of[name].sum() for name in ("printed_differs", "corrected_differs", "cases"))
    return f"Algorithm 3 against 2: as printed {printed_ones:.0f} of {cases:,.0f} cases differ, corrected {mended:.0f}"


def _ratio() -> str:
    limits = chosen(rows("theorems"), what="limits", quantity="global ratio", points=100_001, epsilon=1).iloc[0]
    return f"N = 100,001, ε = 1: BRR’s error over GRR’s {limits['measured']:.4f}, its limit {limits['limit']:.4f}"


def _own_m() -> str:
    of = chosen(rows("sentences"), what="local m")
    return (
        f"locally best m differ in {of['differ'].sum():.0f} cases: of these {of['broken'].sum():.0f} spend more than ε"
    )


def _other_m() -> str:
    of = chosen(rows("choice_of_m"), what="every m")
    return f"another m has a smaller error in {of['larger_better'].sum():.0f} of {of['cases'].sum():.0f} cases"


def _nodes() -> str:
    error = rows("interval_nodes").pivot(index="nodes", columns=["mechanism", "epsilon"], values="error")
    rise, above = error["BRR"].pct_change().max().max(), (error["GRR"].iloc[-1] / error["GRR"].min() - 1).min()
    found = _percent(rise, digits=1), _percent(above)
    return "BRR’s error rises by at most {} to finer nodes; GRR’s ends {} above its least".format(*found)


def _optimal() -> str:
    of = chosen(rows("optimality"), case="line, uniform prior").pivot(
        index="epsilon", columns="mechanism", values="expected_loss"
    )
    most = (of["BRR"] / of["limit"] - 1).max()
    return f"line, uniform prior: BRR’s loss is up to {_percent(most)} larger than the least possible"


def _behind(name: str, column: str, sign: int) -> str:
    """In how many comparisons BRR is behind its rivals; ``sign`` is 1 for a loss."""
    of = sign * rows(name).pivot(index=["points", "epsilon"], columns="mechanism", values=column)
    behind = sum(int((of["BRR"] - of[rival] > _EQUAL).sum()) for rival in ("GRR", "Exponential"))
    return f"BRR is behind GRR or Exponential in {behind} of {2 * len(of)} comparisons"


def _half() -> str:
    of = chosen(rows("qloss_by_n"), points=100_000, epsilon=2).set_index("mechanism")["qloss"]
    return (
        f"N = 100,000, ε = 2: BRR’s loss over GRR’s {of['BRR'] / of['GRR']:.4f} (paper: about {printed.RATIO_AT_2:g})"
    )


def _regions() -> str:
    sizes = chosen(rows("location_maps"), dataset=GOWALLA)["size"]
    count, least, most = printed.REGIONS[GOWALLA]
    return (
        f"Gowalla: {len(sizes)} regions of {sizes.min()} to {sizes.max()} places (paper: {count}, of {least} to {most})"
    )


def _places() -> str:
    saved = run.below(PUBLISHED)[WITHIN, GOWALLA]
    found = _percent(saved.mean(), saved[2.0], digits=1)
    says = _percent(printed.PLACES_MEAN[GOWALLA], printed.PLACES_MOST[GOWALLA][1], digits=1)
    return f"Gowalla, on average and at ε = 2: BRR {found} below L-SRR as published (paper: {says})"


def _draws() -> str:
    saved = run.drawn_below(CALIBRATED)[location_draws.GOWALLA_WORLD].groupby("seed").mean()
    return f"{len(saved)} other draws of Gowalla: BRR {_percent(-saved.mean(), digits=1)} above calibrated L-SRR"


def _guessed() -> str:
    of = chosen(rows("inference_errors"), scope=WHOLE, dataset=GOWALLA, epsilon=1).set_index("mechanism")
    km = of["inference_km"].map("{:,.0f} km".format)
    return f"Gowalla, ε = 1, best guess from a report: BRR {km['BRR']}, GRR {km['GRR']}, without one {km['one place']}"


def _sizes() -> str:
    of = rows("data_sets").set_index("dataset")
    return "; ".join(f"{name} ({row['complete_rows']}, {row['features']})" for name, row in of.iterrows())


def _boosting(found: Callable[[str], run.MeanInterval]) -> str:
    shares = _percent(*(found(task).mean for task in printed.BOOSTING_SHARES))
    says = _percent(*printed.BOOSTING_SHARES.values())
    return f"ε = 5, RMSE over Laplace’s on Bias, abalone, superconductivity: {shares} (paper: {says})"


def _one_build() -> str:
    found = run.gbdt_ratios("Laplace")
    return _boosting(lambda task: found[task, 5.0])


def _three_ensembles() -> str:
    found = run.gbdt_ratios_read_otherwise("Laplace")
    return "three ensembles, " + _boosting(lambda task: found["three ensembles of 17", task, 5.0])


def _spent() -> str:
    of = chosen(rows("dpboost_ratio"), build="DPBoost as published: unsound", epsilon=5, mechanism="Laplace")
    return f"one model is e^{of['log_ratio'].iloc[0]:.1f} times likelier with one record more, at a promised e^5"


def _ahead(found: Iterable[Any]) -> str:
    gains = ", ".join(f"{100 * each.mean:+.1f}" for each in found)
    says = ", ".join(f"{100 * each:+.0f}" for each in printed.SGD_AHEAD.values())
    return f"ε = 0.3, 0.5, 0.7: BRR-SGD ahead by {gains} points (paper: {says}); its ε is ∞"


def _sgd() -> str:
    return _ahead(run.sgd_ahead("paper-laplace")["paper-cnn", at] for at in printed.SGD_AHEAD)


def _more_noise() -> str:
    finals = at_best(rows("sgd_readings"), "final")
    found = run.means(run.apart(finals, "paper-brr", "paper-laplace-x5", "epsilon", "seed"), "epsilon")
    return "five times the noise, " + _ahead(found[at] for at in printed.SGD_AHEAD)


def _small_network() -> str:
    ends = chosen(rows("sgd_mlp"), measure="final")
    found = run.means(run.apart(ends, "paper-brr", "paper-laplace-x4", "epsilon", "seed"), "epsilon")
    return "one hidden layer, four times the noise, " + _ahead(found[at] for at in printed.SGD_AHEAD)


def _gain(of: Callable[[float | None], run.MeanInterval], at: float | None) -> str:
    says, when = ("mean", "on average") if at is None else (f"at {at:g}", f"at ε = {at:g}")
    found, paper = (f"{100 * each:+.2f}" for each in (of(at).mean, printed.NETWORK_GAINS[says]))
    return f"Adult, {when}: BRR ahead by {found} points (paper: {paper})"


_read_otherwise = functools.partial(run.reading_gain, "coordinates, torch 100", "brr", "laplace", "paper")
_as_printed = functools.partial(run.network_gain, "adult", "paper")


def _user() -> str:
    of = chosen(rows("runtime"), mechanism="BRR", what="one report").set_index("dataset")["seconds"]
    times = " and ".join(f"{1e6 * of[each]:.0f} µs" for each in (GOWALLA, FOURSQUARE))
    return f"a report takes {times}, by the machine (paper: {printed.USER_SECONDS:g} s)"


def _server() -> str:
    users, says = printed.SERVER
    of = chosen(rows("runtime"), mechanism="BRR", what="reports", users=users, dataset=FOURSQUARE)["seconds"]
    return f"reports of {users:,} users take {1e3 * of.iloc[0]:.2f} ms, by the machine (paper: {says:g} s)"


NUMBERS: Final = {
    "pmf": (Number("nearer is likelier", _chances),),
    "worked_example": (Number("", _example),),
    "monotonicity": (Number("order of derivatives", _derivatives),),
    "theorems": (Number("algorithm 3", _formulas), Number("theorem 3", _ratio)),
    "sentences": (Number("an m for each value", _own_m),),
    "choice_of_m": (Number("global search", _other_m),),
    "interval_nodes": (Number("finer nodes", _nodes),),
    "optimality": (Number("optimal in a global sense", _optimal),),
    "qloss_by_epsilon": (Number("lower than GRR and Exponential", lambda: _behind("qloss_by_epsilon", "qloss", 1)),),
    "qloss_by_n": (Number("a ratio of about a half", _half),),
    "jaccard": (Number("Jaccard, best", lambda: _behind("jaccard", "utility", -1)),),
    "location_maps": (Number("regions of Gowalla", _regions),),
    "location_errors": (Number("Gowalla, 8.7 %", _places),),
    "location_draws": (Number("Gowalla, 8.7 %", _draws),),
    "inference_errors": (Number("", _guessed),),
    "data_sets": (Number("sizes of the data sets", _sizes),),
    "gbdt": (Number("boosting at ε = 5", _one_build),),
    "gbdt_readings": (Number("boosting at ε = 5", _three_ensembles),),
    "dpboost_ratio": (Number("boosting is private", _spent),),
    "sgd": (Number("SGD, +28 %, +21 %, +12 %", _sgd),),
    "sgd_readings": (Number("SGD, +28 %, +21 %, +12 %", _more_noise),),
    "sgd_mlp": (Number("", _small_network),),
    "dnn": (
        Number("networks, +3.22 %", lambda: _gain(_as_printed, None)),
        Number("networks, +5.29 %", lambda: _gain(_as_printed, 0.25)),
    ),
    "dnn_readings": (
        Number("networks, +3.22 %", lambda: "PyTorch’s start, ε on every coordinate, " + _gain(_read_otherwise, None)),
    ),
    "runtime": (Number("runtime of a user", _user), Number("runtime of the server", _server)),
}
"""By the name of an experiment."""


if __name__ == "__main__":
    run.RESULTS = Path(sys.argv[1])
    print("\n".join(table()))
