"""Tables and figures of the docs that come whole from the committed full run (``reproduction/results``).

``python -m tools.result_tables`` writes all of them; a test checks that nothing changes when it does. A table is found
on its page by its first two lines, so that pages need no marks. A number in a sentence is read by a test of its own
(``tests/test_results.py``).
"""

from __future__ import annotations

import functools
import sys
from operator import sub, truediv
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from reproduction import registry
from reproduction.experiments import printed
from reproduction.experiments.gbdt_tasks import TASKS
from reproduction.experiments.places_of_the_paper import FOURSQUARE, GOWALLA
from reproduction.experiments.sgd_readings import RIVALS, at_best
from reproduction.form import table_of
from reproduction.intervals import MeanInterval
from reproduction.places import CALIBRATED, PUBLISHED, WHOLE, WITHIN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import pandas as pd

    Intervals = dict[Any, MeanInterval]

ROOT: Final = Path(__file__).parents[1]
RESULTS: Final = ROOT / "reproduction" / "results"
FIGURES: Final = {
    "qloss_by_epsilon": ("qloss_by_epsilon",),
    "location_errors": ("places_whole",),
    "gbdt": ("gbdt",),
    "sgd": ("sgd_budgets", "sgd_protocols_paper-cnn"),
    "dnn": ("dnn_paper_public",),
    "dnn_readings": ("dnn_readings_gains_tuned",),
}
"""Pictures that pages show, by the experiment that draws them."""


@functools.cache
def rows(name: str) -> pd.DataFrame:
    """A table of the full run; nobody may change it."""
    return table_of((RESULTS / f"{name}.csv").read_text(encoding="utf-8"))


def apart(
    some: pd.DataFrame, ours: str, theirs: str, by: Iterable[str], how: Callable[..., Any] = sub, column: str = "value"
) -> pd.Series[float]:
    """One mechanism compared with another where ``by`` is alike; over what that does not name it is a mean."""
    of = some.pivot_table(column, list(by), "mechanism", sort=False)
    return how(of[ours], of[theirs]).replace([-np.inf, np.inf], np.nan).dropna()


def each(values: pd.Series[float], *by: str) -> Intervals:
    """The mean over seeds, or over draws, of every case: one name gives plain keys, several give tuples."""
    groups = values.groupby(level=by[0] if len(by) == 1 else list(by), sort=False)
    return {case: MeanInterval.of(some) for case, some in groups}


def over_seeds(some: pd.DataFrame, *by: str, column: str = "value") -> Intervals:
    """The same of a column as it was measured."""
    return each(some.set_index(list(by))[column], *by)


def sgd_ends() -> Intervals:
    """Accuracy, stability and convergence of every training, by network, mechanism, ε and measure."""
    ends = rows("sgd").query("measure != 'accuracy'")
    return over_seeds(ends, "network", "mechanism", "epsilon", "measure")


def sgd_ahead(rival: str) -> Intervals:
    """By how much BRR-SGD as described ends ahead of a rival, by network and ε."""
    found = apart(rows("sgd").query("measure == 'final'"), "paper-brr", rival, ["network", "epsilon", "seed"])
    return each(found, "network", "epsilon")


def sgd_accuracies() -> list[str]:
    """Accuracy, stability and convergence of every mechanism and budget, on both networks."""
    names = {
        "none": "no privacy",
        "central-gaussian": "Gaussian, central (δ = 0.00001)",
        "central-laplace": "Laplace, central",
        "local-brr": "padded BRR, local",
        "local-piecewise": "Piecewise, local",
        "local-hybrid": "Hybrid, local",
        "local-duchi": "Duchi, local",
        "paper-brr": "BRR-SGD as described",
        "paper-laplace": "Laplace on the sum, as described",
        "paper-laplace-of-the-mean": "the same noise on the mean",
    }
    found = sgd_ends()
    head = ["", "ε asked", "ε spent"]
    for network in ("paper's network", "softmax"):
        head += [f"{network}: accuracy, %", "stability, %", "convergence"]
    lines = _head(head)
    for mechanism, shown in names.items():
        label = shown
        for epsilon in sorted({at for _, of, at, _ in found if of == mechanism}):
            spent = "∞" if mechanism == "none" or mechanism.startswith("paper") else f"{epsilon:,g}"
            cells = [label, f"{epsilon:,g}" if epsilon else "", spent]
            for network in ("paper-cnn", "softmax"):
                final, stability, arrived = (
                    found[network, mechanism, epsilon, measure] for measure in ("final", "stability", "convergence")
                )
                cells += [_spread(final), f"{100 * stability.mean:.2f}", f"{arrived.mean:.0f}"]
            lines.append(_line(cells))
            label = ""
    return lines


def sgd_advantages() -> list[str]:
    """How far BRR-SGD as described is ahead."""
    rivals = [sgd_ahead(rival) for rival in ("paper-laplace", "paper-laplace-of-the-mean")]
    lines = _head(
        ["claimed ε", "the paper says", "ahead of Laplace on the sum", "ahead of Laplace on the mean",
         "softmax: on the sum", "on the mean"]
    )  # fmt: skip
    for epsilon in printed.SGD_BUDGETS:
        cells = [_ahead(found[network, epsilon]) for network in ("paper-cnn", "softmax") for found in rivals]
        lines.append(_line([f"{epsilon:g}", _sgd_printed(epsilon), *cells]))
    return lines


def sgd_readings_ahead() -> list[str]:
    """How far BRR-SGD is ahead under readings that the paper does not state."""
    finals = at_best(rows("sgd_readings"), "final")
    rivals = [each(apart(finals, "paper-brr", rival, ["epsilon", "seed"]), "epsilon") for rival in RIVALS]
    lines = _head(["claimed ε", "the paper says", *RIVALS.values()])
    for epsilon in printed.SGD_BUDGETS:
        lines.append(_line([f"{epsilon:g}", _sgd_printed(epsilon), *(_ahead(found[epsilon]) for found in rivals)]))
    return lines


def _sgd_printed(epsilon: float) -> str:
    return f"+{100 * printed.SGD_AHEAD[epsilon]:.0f}" if epsilon in printed.SGD_AHEAD else ""


def gbdt_means() -> Intervals:
    """Errors of boosting, by task, mechanism, ε and number of points."""
    return over_seeds(rows("gbdt"), "task", "mechanism", "epsilon", "points", column="rmse")


def gbdt_ratios(some: pd.DataFrame, rival: str, *by: str, column: str = "rmse") -> Intervals:
    """The error with BRR over that of a rival, on the paper's 21 points."""
    if "points" in some:
        some = some[some["points"] == 21]  # noqa: PLR2004
    return each(apart(some, "BRR", rival, [*by, "seed"], truediv, column), *by)


def gbdt_errors() -> list[str]:
    """Errors of every leaf and budget, as lines of text: ε from left to right, and ± the deviation at ε = 5."""
    made = gbdt_means()
    mechanisms = dict.fromkeys(of for _, of, _, _ in made)
    leaves = ["BRR", "Laplace", "Laplace, clamped", "Geometric", "Anchored"]
    epsilons = sorted({at for _, _, at, _ in made} - {0.0})
    wide = 1 + max(map(len, mechanisms))
    lines = ["```text"]
    for task, of in rows("gbdt").groupby("task", sort=False):
        head = "".join(f"{f'ε = {at:g}':>9}" for at in epsilons)
        lines += [f"{TASKS[str(task)].title} ({of['seed'].nunique()} seeds)", f"{'':{wide}}{head}   ± at 5"]
        for name in leaves:
            cells = "".join(f"{f'{made[task, name, at, 21].mean:.4g}':>9}" for at in epsilons)
            lines.append(f"{name:{wide}}{cells}{f'{made[task, name, 5.0, 21].deviation:.2g}':>9}")
        for name in mechanisms:
            if name not in leaves:
                lines.append(f"{name:{wide}}{f'{made[task, name, 0.0, 21].mean:.4g}':>9}")
        lines.append("")
    return [*lines[:-1], "```"]


def gbdt_shares() -> list[str]:
    """The error with BRR as a share of the rivals'."""
    columns = [("Laplace", "rmse"), ("Laplace, clamped", "rmse"), ("Laplace", "rmse_in_range")]
    found = [gbdt_ratios(rows("gbdt"), rival, "task", "epsilon", column=column) for rival, column in columns]
    lines = _head(
        ["target", "paper, of Laplace", "here, of Laplace", "here, of Laplace clamped to [−c, c]",
         "of Laplace, predictions clamped to the target's range"]
    )  # fmt: skip
    for task in rows("gbdt")["task"].unique():
        paper = f"{100 * printed.BOOSTING_SHARES[task]:.0f} %" if task in printed.BOOSTING_SHARES else "not run"
        lines.append(_line([TASKS[task].title, paper, *(_in_percent(of[task, 5.0]) for of in found)]))
    return lines


def gbdt_readings() -> list[str]:
    """The error with BRR as a share of the rivals' at ε = 5, under every reading that was tried."""
    tasks = list(printed.BOOSTING_SHARES)
    found = [
        gbdt_ratios(rows("gbdt_readings"), rival, "reading", "task", "epsilon")
        for rival in ("Laplace", "Laplace, clamped")
    ]
    heads = [f"{TASKS[task].title.partition(':')[0]}, {100 * printed.BOOSTING_SHARES[task]:.0f} %" for task in tasks]
    clamped = [f"{head.split(',')[0]}, of clamped" for head in heads]
    lines = _head(["reading, and the paper's ratio", *heads, *clamped])
    for name in rows("gbdt_readings")["reading"].unique():
        lines.append(_line([name, *(_in_percent(of[name, task, 5.0]) for of in found for task in tasks)]))
    return lines


def gbdt_points() -> list[str]:
    """Errors of boosting against the number of points."""
    made = gbdt_means()
    many = sorted({points for *_, points in made})
    ends = (many[0], many[-1])
    head = ["target", f"BRR, {many[0]}", *map(str, many[1:])]
    lines = _head([*head, f"geometric, {ends[0]}", str(ends[1]), f"anchored, {ends[0]}", str(ends[1])])
    for task in rows("gbdt")["task"].unique():
        cells = [made[task, "BRR", 5.0, points] for points in many]
        cells += [made[task, name, 5.0, points] for name in ("Geometric", "Anchored") for points in ends]
        lines.append(_line([TASKS[task].title, *(f"{found.mean:.4g}" for found in cells)]))
    return lines


_NETWORKS: Final = {"adult": "Adult, 14 columns", "bank": "Bank, 20 columns"}
_COLUMNS: Final = {"brr": "BRR", "anchored": "Anchored", "laplace": "Laplace", "piecewise": "Piecewise"}
_BUDGETS: Final = (0.25, 1.0, 2.0, 3.5, 7.0, 10.0, 20.0)
_PLANS: Final = {"paper": "10 epochs", "tuned": "chosen epoch"}


def dnn_accuracies() -> list[str]:
    """Accuracy of networks, by the paper's plan and by the chosen one."""
    by = ("dataset", "mechanism", "epsilon", "labels", "setting", "metric")
    found = over_seeds(rows("dnn"), *by)

    def block(title: str, dataset: str, labels: str, plan: str, metric: str, epsilons: Sequence[float]) -> list[str]:
        lines = [title.ljust(20) + "".join(f"ε = {at:g}".ljust(13) for at in epsilons).rstrip()]
        for name, shown in _COLUMNS.items():
            cells = [_spread(found[dataset, name, at, labels, plan, metric], hide=True) for at in epsilons]
            lines.append(shown.ljust(20) + "".join(cell.ljust(13) for cell in cells).rstrip())
        return lines

    lines = [
        "```text",
        "Accuracy on clean test rows, in percent; mean of five seeds ± 95 % interval over seeds (none: below 0.05).",
        "10 epochs at learning rate 0.001, as in the paper",
        "",
    ]
    for dataset, title in _NETWORKS.items():
        lines += block(title, dataset, "public", "paper", "accuracy", _BUDGETS)
        references = [
            f"{shown} {_spread(found[dataset, name, 0.0, 'public', 'paper', 'accuracy'], hide=True)}"
            for name, shown in (("majority", "majority class"), ("none", "no privacy"))
        ]
        lines += ["      ".join(references), ""]
    names = {dataset: title.split(",")[0] for dataset, title in _NETWORKS.items()}
    lines += ["Epochs (1, 3, 10) and learning rate (0.001, 0.0001) chosen on public rows, one grid for all", ""]
    for dataset, name in names.items():
        lines += [*block(name, dataset, "public", "tuned", "accuracy", _BUDGETS), ""]
    alone = ", ".join(
        f"{name} {100 * found[dataset, 'none', 0.0, 'public', 'tuned', 'auc'].mean:.1f}"
        for dataset, name in names.items()
    )
    roc = f"Area under the ROC curve, in percent, chosen plan (50: chance; no privacy: {alone})"
    lines += [*_network_gains(), "", roc, ""]
    for dataset, name in names.items():
        lines += [*block(name, dataset, "public", "tuned", "auc", _BUDGETS), ""]
    lines += ["Half of ε on randomised labels, chosen plan, accuracy", ""]
    for dataset, name in names.items():
        lines += [*block(name, dataset, "randomised", "tuned", "accuracy", (3.5, 10.0, 20.0)), ""]
    return [*lines[:-1], "```"]


def networks_apart(
    some: pd.DataFrame, epsilon: float | None, ours: str = "brr", theirs: str = "laplace"
) -> MeanInterval:
    """How much more accurate one is, at one ε or on average over those of the paper's figure.

    What has no ε is the same at each.
    """
    low, high = (epsilon, epsilon) if epsilon is not None else printed.NETWORK_RANGE
    kept = some[(some["epsilon"] == 0) | some["epsilon"].between(low, high)]
    return MeanInterval.of(apart(kept, ours, theirs, ["seed"]))


def network_gain(dataset: str, plan: str, epsilon: float | None = None, metric: str = "accuracy") -> MeanInterval:
    """How much more accurate BRR is than Laplace; labels are public."""
    query = f"dataset == '{dataset}' and setting == '{plan}' and metric == '{metric}' and labels == 'public'"
    return networks_apart(rows("dnn").query(query), epsilon)


def _network_gains() -> list[str]:
    """BRR above Laplace, paired by seed, at one ε and over those of the paper."""
    wanted = (
        ("Adult, ε = 0.25", "adult", 0.25, f"+{100 * printed.NETWORK_GAINS['at 0.25']:.2f}"),
        ("Adult, mean of eight ε, 0.25 to 3.5", "adult", None, f"+{100 * printed.NETWORK_GAINS['mean']:.2f}"),
        ("Bank, mean of the same", "bank", None, '"similar"'),
        ("Adult, ε = 20", "adult", 20.0, ""),
        ("Bank, ε = 20", "bank", 20.0, ""),
    )
    lines = [("BRR above Laplace, in points, seed by seed", "the paper", "its plan", "chosen plan")]
    for title, dataset, when, says in wanted:
        lines.append((title, says, *(_points(network_gain(dataset, plan, when)) for plan in _PLANS)))
    return [(a.ljust(46) + b.ljust(14) + c.ljust(23) + d).rstrip() for a, b, c, d in lines]


READINGS: Final = {
    ("coordinates", "brr", "laplace"): "ε on every coordinate",
    ("coordinates", "brr", "rescaled-laplace"): "ε on every coordinate, min–max after the noise",
    **{
        (f"coordinates, torch {batch}", "brr", "laplace"): f"ε on every coordinate, PyTorch’s start, batches of {batch}"
        for batch in (32, 100, 512)
    },
    ("columns", "brr", "laplace"): "ε on every column",
    ("weighted columns", "brr", "laplace"): "as many ε as columns, by importance",
    ("weighted columns", "brr", "rescaled-laplace"): "as many ε as columns, by importance, min–max after the noise",
    (
        "weighted columns", "bounded", "laplace"
    ): "as many ε as columns for the rival, by importance, ±0.1 for BRR, as scripted",
    ("weighted row", "brr", "laplace"): "ε of a row, by importance",
    ("weighted row, public weights", "brr", "laplace"): "ε of a row, by importance on public rows",
}  # fmt: skip
"""What was tried for networks: the name of a reading and what is compared in it, by what pages call it."""


def reading_gain(
    reading: str, ours: str, theirs: str, plan: str, epsilon: float | None = None, dataset: str = "adult"
) -> MeanInterval:
    """How much more accurate one is under a reading."""
    query = f"dataset == '{dataset}' and reading == '{reading}' and setting == '{plan}' and metric == 'accuracy'"
    return networks_apart(rows("dnn_readings").query(query), epsilon, ours, theirs)


def dnn_readings_gains() -> list[str]:
    """BRR above Laplace on Adult under every reading that was tried, and above clamped Laplace."""
    head = ["reading", "a row spends"]
    for words in _PLANS.values():
        head += [f"{words}: on average", "at ε = 0.25", "above clamped Laplace, on average"]
    paper = [f"+{100 * printed.NETWORK_GAINS[at]:.2f}" for at in ("mean", "at 0.25")]
    lines = [*_head(head), _line(["the paper", "", *paper, "", *paper, ""])]
    for (reading, ours, theirs), words in READINGS.items():
        some = rows("dnn_readings").query(f"dataset == 'adult' and reading == '{reading}'")
        cells = [words, _spends(some[some["mechanism"] == theirs].iloc[0]) if ours == "brr" else "∞"]
        for plan in _PLANS:
            cells += [_points(reading_gain(reading, ours, theirs, plan, at)) for at in (None, 0.25)]
            clamped = "clamped-laplace" in set(some["mechanism"])
            cells.append(_points(reading_gain(reading, ours, "clamped-laplace", plan)) if clamped else "")
        lines.append(_line(cells))
    return lines


def _spends(row: pd.Series[Any]) -> str:
    """What a row of a reading really spends on Adult, for the ε that it names."""
    times = f"{row['noise_spends'] / row['epsilon']:.3g}"
    noise = f"{times}·ε" if times != "1" else "ε"
    return noise if row["spends"] != "∞" else f"∞ ({noise} were the importances public)"


def below(rival: str) -> pd.Series[float]:
    """By which share BRR errs less than a rival in reporting a place, by scope, set of places and ε."""
    return apart(rows("location_errors"), "BRR", rival, ["scope", "dataset", "epsilon"], _less, "expected_km")


def drawn_below(rival: str, ours: str = "BRR") -> pd.Series[float]:
    """The same within regions on other draws, by pool, draw and ε."""
    found = rows("location_draws").query("what == 'error'")
    return apart(found, ours, rival, ["pool", "seed", "epsilon"], _less, "expected_km")


def _less(ours: pd.Series[float], theirs: pd.Series[float]) -> pd.Series[float]:
    return 1 - ours / theirs


def places_below_lsrr() -> list[str]:
    """By how much less BRR errs than L-SRR on the authors' places."""
    some = rows("location_errors").query("dataset == @GOWALLA and mechanism == @PUBLISHED and scope == @WITHIN")
    overspent = f" (spends up to {(some['epsilon_within'] / some['epsilon']).max():.1f} times its ε)"
    lines = ["| | on average | at ε = 2 |", "|---|---|---|", "| the paper, within regions | 8.7 % | 23.4 % |"]
    for scope, where in ((WITHIN, "within regions"), (WHOLE, "whole domain")):
        for rival, words in ((PUBLISHED, PUBLISHED), (CALIBRATED, "L-SRR calibrated to its ε")):
            saved = below(rival)[scope, GOWALLA]
            said = overspent if (scope, rival) == (WITHIN, PUBLISHED) else ""
            lines.append(
                _line([f"{where}, {words}{said}", *(f"{100 * it:.1f} %" for it in (saved.mean(), saved[2.0]))])
            )
    return lines


def places_errors() -> list[str]:
    """Expected errors of releases of a place, in kilometres."""
    found = rows("location_errors").set_index(["scope", "mechanism", "dataset", "epsilon"]).sort_index()
    overspent = (found["realised_epsilon"] / found.index.get_level_values("epsilon"))[WHOLE, PUBLISHED]
    spends = [overspent[dataset].max() for dataset in (GOWALLA, FOURSQUARE)]
    within = "the region is published, not ε-LDP"
    kept = ("GRR", CALIBRATED, "Exponential, tight", "Region-weighted", "Two-level", "BRR", "BRR, best m", "Anchored")
    shown = [
        *((WHOLE, name, "ε-LDP") for name in kept),
        (WHOLE, "one place", "ε = 0: it tells nothing"),
        (WHOLE, PUBLISHED, f"spends up to {spends[0]:.1f} and {spends[1]:.1f} times its ε"),
        (WITHIN, "BRR", within),
        (WITHIN, "Anchored", within),
    ]
    lines = ["| | promise | Gowalla, ε = 0.5 | 1 | 2 | Foursquare, ε = 0.5 | 1 | 2 |", "|" + 8 * "---|"]
    for scope, name, promise in shown:
        cells = [
            f"{found['expected_km'][scope, name, dataset, epsilon]:.{digits}f}"
            for dataset, digits in ((GOWALLA, 0), (FOURSQUARE, 1))
            for epsilon in (0.5, 1.0, 2.0)
        ]
        lines.append(_line([name + (" within regions" if scope == WITHIN else ""), promise, *cells]))
    return lines


def places_draws() -> list[str]:
    """How far BRR lies below L-SRR within regions on every kind of draw."""
    lines = _head(
        ["places of", "draws measured, of", "regions", "below L-SRR as published", "at ε = 0.25", "at ε = 2",
         "calibrated", "at ε = 2"]
    )  # fmt: skip
    published, calibrated = drawn_below(PUBLISHED), drawn_below(CALIBRATED)
    for pool, some in rows("location_draws").groupby("pool", sort=False):
        measured = some[some["what"] == "error"]
        counts = sorted(measured["regions"].unique())
        cells = [str(pool), f"{measured['seed'].nunique()} of {some['seed'].nunique()}"]
        cells.append(f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}")
        for saved, budgets in ((published[pool], (0.25, 2.0)), (calibrated[pool], (2.0,))):
            several = [saved.groupby("seed").mean(), *(saved.xs(at, level="epsilon") for at in budgets)]
            cells += [f"{_spread(MeanInterval.of(values), hide=True)} %" for values in several]
        lines.append(_line(cells))
    return lines


def places_guessed() -> list[str]:
    """The error of a report of a place and of the best guess from it, in kilometres."""
    lines = _head(["report / best guess, km", "Gowalla, ε = 0.5", "1", "2", "Foursquare, ε = 0.5", "1", "2"])
    for name, some in rows("inference_errors").query("scope == @WHOLE").groupby("mechanism", sort=False):
        of = some.set_index(["dataset", "epsilon"])
        cells = [
            " / ".join(f"{of[column][dataset, epsilon]:.{digits}f}" for column in ("expected_km", "inference_km"))
            for dataset, digits in ((GOWALLA, 0), (FOURSQUARE, 2))
            for epsilon in (0.5, 1.0, 2.0)
        ]
        lines.append(_line([str(name), *cells]))
    return lines


def _spread(found: MeanInterval, *, hide: bool = False) -> str:
    """In percent: the mean ± half of its interval; ``hide`` leaves out what would be 0.0 or is of one number."""
    half = 100 * (found.high - found.mean)
    shown = f"{100 * found.mean:.1f}"
    return shown if hide and (found.repetitions == 1 or half < 0.05) else f"{shown} ± {half:.1f}"  # noqa: PLR2004


def _ahead(found: MeanInterval) -> str:
    return f"{100 * found.mean:+.1f} ({100 * found.low:.1f} to {100 * found.high:.1f})"


def _points(found: MeanInterval) -> str:
    mean, low, high = (round(100 * it, 1) + 0.0 for it in (found.mean, found.low, found.high))
    return f"{mean:.1f} ({low:.1f} to {high:.1f})"


def _in_percent(found: MeanInterval) -> str:
    return f"{100 * found.mean:.0f} % ({100 * found.low:.0f} to {100 * found.high:.0f})"


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _head(cells: Sequence[str]) -> list[str]:
    return [_line(cells), "|" + "---|" * len(cells)]


TABLES: Final[dict[str, tuple[Callable[[], list[str]], ...]]] = {
    "bench/results/sgd.md": (sgd_accuracies, sgd_advantages, sgd_readings_ahead),
    "bench/results/paper_boosting.md": (gbdt_errors, gbdt_shares, gbdt_readings, gbdt_points),
    "bench/results/networks.md": (dnn_accuracies, dnn_readings_gains),
    "bench/results/places.md": (places_below_lsrr, places_errors, places_draws, places_guessed),
}
"""What writes the tables of a page, by its path in the repository."""


def filled(text: str, tables: Iterable[Callable[[], list[str]]]) -> str:
    """A page with its tables as the results have them."""
    for table in tables:
        made = table()
        end = "```\n" if made[-1] == "```" else "\n\n"
        head = "\n".join(made[:2]) + "\n"
        before, found, after = text.partition(head)
        _, ends, below_it = after.partition(end)
        if not found or not ends:
            raise ValueError(
                f"Expected a table that begins with these lines, and ends; write them where it should stand:\n{head}"
            )
        text = before + "\n".join(made) + ends.removeprefix("```") + below_it
    return text


def figures() -> dict[Path, str]:
    """Every picture that pages show, by its file."""
    found = {}
    for name, wanted in FIGURES.items():
        drawn = registry.named([name])[0].load().draw(rows(name))
        found |= {ROOT / "docs" / "_static" / f"{picture}.svg": drawn[picture] + "\n" for picture in wanted}
    return found


def main() -> int:
    """Write what differs, and say what was written."""
    pages = {ROOT / name: filled((ROOT / name).read_text(encoding="utf-8"), tables) for name, tables in TABLES.items()}
    wanted = pages | figures()
    for path, text in wanted.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(path.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
