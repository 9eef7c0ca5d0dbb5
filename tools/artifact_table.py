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
    from collections.abc import Callable, Iterable

    from reproduction.registry import Entry


class Number(NamedTuple):
    """What to look at: a claim of the report, or its figure where there is none, and the number."""

    claim: str
    expected: Callable[[], str]


def table() -> list[str]:
    """A line for each experiment, in the order of the report."""
    return [
        "| of the paper | `python -m reproduction …` | minutes | what comes out | in `report.html` |",
        "|---|---|---|---|---|",
        *(_line(entry) for entry in EXPERIMENTS if (run.RESULTS / f"{entry.name}.csv").exists()),
    ]


def _line(entry: Entry) -> str:
    claim, expected = NUMBERS[entry.name]
    where = f"`#{anchor(claim) if claim else entry.name}`"
    cells = (entry.figure, f"`run {entry.name} --full`", _minutes(entry), expected().replace(" -", " −"), where)
    return "| " + " | ".join(cells) + " |"


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


def _example() -> str:
    of = rows("worked_example")
    least, most = of["local_m"].min(), of["local_m"].max()
    return f"N = 9, ε = 1: each value’s own m is {least} or {most}, so m = {of['m'].iloc[0]}"


def _derivatives() -> str:
    of = chosen(rows("monotonicity"), what="count")
    return f"{of['wrong'].sum():.0f} of {of['pairs'].sum():,.0f} pairs of derivatives are ordered otherwise"


def _theorems() -> str:
    of = chosen(rows("theorems"), what="algorithm 3")
    limits = chosen(rows("theorems"), what="limits", quantity="global ratio", points=100_001, epsilon=1)
    ratio = limits.iloc[0]
    return (
        f"Algorithm 3: as printed {of['printed_differs'].sum():.0f} of {of['cases'].sum():,.0f} cases differ, "
        f"corrected {of['corrected_differs'].sum():.0f}; theorem 3, ε = 1: ratio {ratio['measured']:.4f}, limit "
        f"{ratio['limit']:.4f}"
    )


def _own_m() -> str:
    of = chosen(rows("sentences"), what="local m")
    return (
        f"locally best m differ in {of['differ'].sum():.0f} cases: of these {of['broken'].sum():.0f} spend more than ε"
    )


def _other_m() -> str:
    of = chosen(rows("choice_of_m"), what="every m")
    return f"another m has a smaller error in {of['larger_better'].sum():.0f} of {of['cases'].sum():.0f} cases"


def _nodes() -> str:
    error = chosen(rows("interval_nodes"), nodes=513, epsilon=4).set_index("mechanism")["error"]
    return f"error at 513 nodes, ε = 4: BRR {error['BRR']:.4f}, GRR {error['GRR']:.4f}"


def _optimal() -> str:
    loss = chosen(rows("optimality"), case="line, uniform prior", epsilon=1).set_index("mechanism")["expected_loss"]
    return (
        f"line of 40, ε = 1: BRR loses {loss['BRR']:.3f}, the best release {loss['limit']:.3f}, GRR {loss['GRR']:.3f}"
    )


def _at_one(name: str, column: str) -> str:
    of = chosen(rows(name), points=100, epsilon=1).set_index("mechanism")[column]
    return f"N = 100, ε = 1: BRR {of['BRR']:.3f}, GRR {of['GRR']:.3f}, Exponential {of['Exponential']:.3f}"


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


def _gains(gain: Callable[[float | None], run.MeanInterval]) -> str:
    found = " and ".join(f"{100 * gain(at).mean:+.2f}" for at in (None, 0.25))
    says = " and ".join(f"{100 * printed.NETWORK_GAINS[at]:+.2f}" for at in ("mean", "at 0.25"))
    return f"Adult, on average and at ε = 0.25: BRR ahead by {found} points (paper: {says})"


def _networks() -> str:
    return _gains(lambda epsilon: run.network_gain("adult", "paper", epsilon))


def _networks_read_otherwise() -> str:
    found = functools.partial(run.reading_gain, "coordinates, torch 100", "brr", "laplace", "paper")
    return "PyTorch’s start, ε on every coordinate, " + _gains(found)


def _times() -> str:
    of = chosen(rows("runtime"), mechanism="BRR", dataset=FOURSQUARE)
    user = chosen(of, what="one report")["seconds"].iloc[0]
    users, says = printed.SERVER
    server = chosen(of, what="reports", users=users)["seconds"].iloc[0]
    return (
        f"FourSquare, by the machine: a report takes {1e6 * user:.0f} µs, those of {users:,} users "
        f"{1e3 * server:.2f} ms (paper: {printed.USER_SECONDS:g} s, {says:g} s)"
    )


NUMBERS: Final = {
    "pmf": Number("nearer is likelier", _chances),
    "worked_example": Number("", _example),
    "monotonicity": Number("order of derivatives", _derivatives),
    "theorems": Number("algorithm 3", _theorems),
    "sentences": Number("an m for each value", _own_m),
    "choice_of_m": Number("global search", _other_m),
    "interval_nodes": Number("finer nodes", _nodes),
    "optimality": Number("optimal in a global sense", _optimal),
    "qloss_by_epsilon": Number("lower than GRR and Exponential", lambda: _at_one("qloss_by_epsilon", "qloss")),
    "qloss_by_n": Number("a ratio of about a half", _half),
    "jaccard": Number("Jaccard, best", lambda: _at_one("jaccard", "utility")),
    "location_maps": Number("regions of Gowalla", _regions),
    "location_errors": Number("Gowalla, 8.7 %", _places),
    "location_draws": Number("best across all budgets", _draws),
    "inference_errors": Number("", _guessed),
    "data_sets": Number("sizes of the data sets", _sizes),
    "gbdt": Number("boosting at ε = 5", _one_build),
    "gbdt_readings": Number("boosting at ε = 5", _three_ensembles),
    "dpboost_ratio": Number("boosting is private", _spent),
    "sgd": Number("SGD, +28 %, +21 %, +12 %", _sgd),
    "sgd_readings": Number("SGD, +28 %, +21 %, +12 %", _more_noise),
    "sgd_mlp": Number("", _small_network),
    "dnn": Number("networks, +3.22 %", _networks),
    "dnn_readings": Number("networks, +3.22 %", _networks_read_otherwise),
    "runtime": Number("runtime of the server", _times),
}
"""By the name of an experiment."""


if __name__ == "__main__":
    run.RESULTS = Path(sys.argv[1])
    print("\n".join(table()))
