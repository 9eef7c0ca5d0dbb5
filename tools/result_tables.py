"""Tables and figures of the docs that come whole from the committed full run (``reproduction/results``).

``python -m tools.result_tables`` writes all of them; a test checks that nothing changes when it does. A table is found
on its page by its first two lines, so that pages need no marks. A number in a sentence is read by a test of its own
(``tests/test_results.py``).
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any, Final

from reproduction import registry
from reproduction.claims import dnn
from reproduction.experiments import printed
from reproduction.experiments.gbdt_tasks import TASKS
from reproduction.experiments.places_of_the_paper import FOURSQUARE, GOWALLA
from reproduction.experiments.sgd_readings import RIVALS, at_best
from reproduction.intervals import MeanInterval
from reproduction.places import CALIBRATED, PUBLISHED, WHOLE, WITHIN
from tools import result_numbers as run
from tools.result_numbers import ROOT, chosen, rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path


FIGURES: Final = {
    "qloss_by_epsilon": ("qloss_by_epsilon",),
    "location_errors": ("places_whole",),
    "gbdt": ("gbdt",),
    "sgd": ("sgd_budgets", "sgd_protocols_paper-cnn"),
    "dnn": ("dnn_paper_public",),
    "dnn_readings": ("dnn_readings_gains_tuned",),
}
"""Pictures that pages show, by the experiment that draws them."""


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
    found = run.sgd_ends()
    head = ["", "ε asked", "ε spent"]
    for network in ("paper's network", "softmax"):
        head += [f"{network}: accuracy, %", "stability, %", "convergence"]
    lines = []
    for mechanism, shown in names.items():
        for number, epsilon in enumerate(sorted({at for _, of, at, _ in found if of == mechanism})):
            spent = "∞" if mechanism == "none" or mechanism.startswith("paper") else f"{epsilon:,g}"
            cells = ["" if number else shown, f"{epsilon:,g}" if epsilon else "", spent]
            for network in ("paper-cnn", "softmax"):
                of = {measure: found[network, mechanism, epsilon, measure] for measure in _ENDS}
                cells += [_spread(of["final"]), f"{100 * of['stability'].mean:.2f}", f"{of['convergence'].mean:.0f}"]
            lines.append(cells)
    return _table(head, lines)


_ENDS: Final = ("final", "stability", "convergence")


def sgd_advantages() -> list[str]:
    """How far BRR-SGD as described is ahead."""
    head = ["ahead of Laplace on the sum", "ahead of Laplace on the mean", "softmax: on the sum", "on the mean"]
    rivals = [run.sgd_ahead(rival) for rival in ("paper-laplace", "paper-laplace-of-the-mean")]
    return _by_claimed_epsilon(
        head, lambda epsilon: [found[network, epsilon] for network in ("paper-cnn", "softmax") for found in rivals]
    )


def sgd_readings_ahead() -> list[str]:
    """How far BRR-SGD is ahead under readings that the paper does not state."""
    finals = at_best(rows("sgd_readings"), "final")
    rivals = [run.means(run.apart(finals, "paper-brr", rival, "epsilon", "seed"), "epsilon") for rival in RIVALS]
    return _by_claimed_epsilon([*RIVALS.values()], lambda epsilon: [found[epsilon] for found in rivals])


def _by_claimed_epsilon(head: list[str], ahead: Callable[[float], list[MeanInterval]]) -> list[str]:
    says = {epsilon: f"+{100 * gain:.0f}" for epsilon, gain in printed.SGD_AHEAD.items()}
    return _table(
        ["claimed ε", "the paper says", *head],
        ([f"{at:g}", says.get(at, ""), *(said(each, "+.1f") for each in ahead(at))] for at in printed.SGD_BUDGETS),
    )


def gbdt_errors() -> list[str]:
    """Errors of every leaf and budget, as lines of text: ε from left to right, and ± the deviation at ε = 5."""
    made = run.gbdt_errors()
    mechanisms = dict.fromkeys(of for _, of, _, _ in made)
    leaves = ["BRR", "Laplace", "Laplace, clamped", "Geometric", "Anchored"]
    epsilons = sorted({at for _, _, at, _ in made} - {0.0})
    wide = 1 + max(map(len, mechanisms))
    lines = ["```text"]
    for task, of in rows("gbdt").groupby("task", sort=False):
        head = "".join(f"{f'ε = {at:g}':>9}" for at in epsilons)
        lines += [f"{_title(task)} ({of['seed'].nunique()} seeds)", f"{'':{wide}}{head}   ± at 5"]
        for name in leaves:
            cells = "".join(f"{made[task, name, at, 21].mean:9.4g}" for at in epsilons)
            lines.append(f"{name:{wide}}{cells}{f'{made[task, name, 5.0, 21].deviation:.2g}':>9}")
        lines += [f"{name:{wide}}{made[task, name, 0.0, 21].mean:9.4g}" for name in mechanisms if name not in leaves]
        lines.append("")
    return [*lines[:-1], "```"]


def gbdt_shares() -> list[str]:
    """The error with BRR as a share of the rivals'."""
    of = [run.gbdt_ratios("Laplace"), run.gbdt_ratios("Laplace, clamped"), run.gbdt_ratios("Laplace", "rmse_in_range")]
    says = {task: f"{100 * share:.0f} %" for task, share in printed.BOOSTING_SHARES.items()}
    return _table(
        ["target", "paper, of Laplace", "here, of Laplace", "here, of Laplace clamped to [−c, c]",
         "of Laplace, predictions clamped to the target's range"],
        ([_title(task), says.get(task, "not run"), *(_in_percent(each[task, 5.0]) for each in of)]
         for task in rows("gbdt")["task"].unique()),
    )  # fmt: skip


def gbdt_readings() -> list[str]:
    """The error with BRR as a share of the rivals' at ε = 5, under every reading that was tried."""
    of = [run.gbdt_ratios_read_otherwise(rival) for rival in ("Laplace", "Laplace, clamped")]
    names = {task: _title(task).partition(":")[0] for task in printed.BOOSTING_SHARES}
    heads = [f"{name}, {100 * printed.BOOSTING_SHARES[task]:.0f} %" for task, name in names.items()]
    return _table(
        ["reading, and the paper's ratio", *heads, *(f"{name}, of clamped" for name in names.values())],
        ([reading, *(_in_percent(each[reading, task, 5.0]) for each in of for task in names)]
         for reading in rows("gbdt_readings")["reading"].unique()),
    )  # fmt: skip


def gbdt_points() -> list[str]:
    """Errors of boosting against the number of points."""
    made = run.gbdt_errors()
    least, *others, most = sorted({points for *_, points in made})
    shown = [("BRR", points) for points in (least, *others, most)]
    shown += [(name, points) for name in ("Geometric", "Anchored") for points in (least, most)]
    heads = [f"{name if name == 'BRR' else name.lower()}, {at}" if at == least else str(at) for name, at in shown]
    return _table(
        ["target", *heads],
        ([_title(task), *(f"{made[task, name, 5.0, at].mean:.4g}" for name, at in shown)]
         for task in rows("gbdt")["task"].unique()),
    )  # fmt: skip


def _title(task: Any) -> str:  # noqa: ANN401 (a cell)
    return TASKS[task].title


_NETWORKS: Final = {"adult": "Adult", "bank": "Bank"}
_COLUMNS: Final = {"brr": "BRR", "anchored": "Anchored", "laplace": "Laplace", "piecewise": "Piecewise"}
_BUDGETS: Final = (0.25, 1.0, 2.0, 3.5, 7.0, 10.0, 20.0)
_PLANS: Final = {"paper": "10 epochs", "tuned": "chosen epoch"}


def dnn_accuracies() -> list[str]:
    """Accuracy of networks, by the paper's plan and by the chosen one."""
    found = run.networks()

    def block(dataset: str, labels: str, plan: str, metric: str, budgets: Sequence[float], title: str) -> list[str]:
        lines = [title.ljust(20) + "".join(f"ε = {at:g}".ljust(13) for at in budgets)]
        for name, shown in _COLUMNS.items():
            cells = [_spread(found[dataset, name, at, labels, plan, metric], hide=True) for at in budgets]
            lines.append(shown.ljust(20) + "".join(cell.ljust(13) for cell in cells))
        return [*map(str.rstrip, lines), ""]

    lines = [
        "```text",
        "Accuracy on clean test rows, in percent; mean of five seeds ± 95 % interval over seeds (none: below 0.05).",
        "10 epochs at learning rate 0.001, as in the paper",
        "",
    ]
    for dataset, title in (("adult", "Adult, 14 columns"), ("bank", "Bank, 20 columns")):
        lines += block(dataset, "public", "paper", "accuracy", _BUDGETS, title)[:-1]
        alone = [found[dataset, name, 0.0, "public", "paper", "accuracy"] for name in ("majority", "none")]
        lines += ["majority class {}      no privacy {}".format(*(_spread(each, hide=True) for each in alone)), ""]
    lines += ["Epochs (1, 3, 10) and learning rate (0.001, 0.0001) chosen on public rows, one grid for all", ""]
    for dataset, name in _NETWORKS.items():
        lines += block(dataset, "public", "tuned", "accuracy", _BUDGETS, name)
    ranking = {name: found[dataset, "none", 0.0, "public", "tuned", "auc"] for dataset, name in _NETWORKS.items()}
    plain = ", ".join(f"{name} {100 * each.mean:.1f}" for name, each in ranking.items())
    lines += [*_network_gains(), ""]
    lines += [f"Area under the ROC curve, in percent, chosen plan (50: chance; no privacy: {plain})", ""]
    for dataset, name in _NETWORKS.items():
        lines += block(dataset, "public", "tuned", "auc", _BUDGETS, name)
    lines += ["Half of ε on randomised labels, chosen plan, accuracy", ""]
    for dataset, name in _NETWORKS.items():
        lines += block(dataset, "randomised", "tuned", "accuracy", (3.5, 10.0, 20.0), name)
    return [*lines[:-1], "```"]


def _network_gains() -> list[str]:
    """BRR above Laplace, paired by seed, at one ε and over those of the paper."""
    mean, at_least = (f"+{100 * printed.NETWORK_GAINS[at]:.2f}" for at in ("mean", "at 0.25"))
    wanted = (
        ("Adult, ε = 0.25", at_least, "adult", 0.25),
        ("Adult, mean of eight ε, 0.25 to 3.5", mean, "adult", None),
        ("Bank, mean of the same", '"similar"', "bank", None),
        ("Adult, ε = 20", "", "adult", 20.0),
        ("Bank, ε = 20", "", "bank", 20.0),
    )
    lines = [["BRR above Laplace, in points, seed by seed", "the paper", "its plan", "chosen plan"]]
    lines += [[*words, *(said(run.network_gain(of, plan, at)) for plan in _PLANS)] for *words, of, at in wanted]
    return [f"{a:46}{b:14}{c:23}{d}" for a, b, c, d in lines]


def dnn_readings_gains() -> list[str]:
    """BRR above Laplace on Adult under every reading that was tried, and above clamped Laplace."""
    mean, at_least = (f"+{100 * printed.NETWORK_GAINS[at]:.2f}" for at in ("mean", "at 0.25"))
    head = ["reading", "a row spends"]
    for words in _PLANS.values():
        head += [f"{words}: on average", "at ε = 0.25", "above clamped Laplace, on average"]
    lines = [["the paper", "", mean, at_least, "", mean, at_least, ""]]
    for pair in dnn.PAIRS:
        some = rows("dnn_readings")
        cells = [pair.words, dnn.cost(some, pair)]
        clamped = pair._replace(theirs="clamped-laplace")
        for plan in _PLANS:
            cells += [said(run.reading_gain(pair, plan, at)) for at in (None, 0.25)]
            cells.append(said(run.reading_gain(clamped, plan)) if len(dnn.gains(some, clamped)) else "")
        lines.append(cells)
    return _table(head, lines)


def places_below_lsrr() -> list[str]:
    """By how much less BRR errs than L-SRR on the authors' places."""
    some = chosen(rows("location_errors"), dataset=GOWALLA, mechanism=PUBLISHED, scope=WITHIN)
    overspent = (some["epsilon_within"] / some["epsilon"]).max()
    shown = (
        (f"within regions, {PUBLISHED} (spends up to {overspent:.1f} times its ε)", WITHIN, PUBLISHED),
        ("within regions, L-SRR calibrated to its ε", WITHIN, CALIBRATED),
        (f"whole domain, {PUBLISHED}", WHOLE, PUBLISHED),
        ("whole domain, L-SRR calibrated to its ε", WHOLE, CALIBRATED),
    )
    saved = {words: run.below(rival)[scope, GOWALLA] for words, scope, rival in shown}
    lines = [["the paper, within regions", "8.7 %", "23.4 %"]]
    lines += [[words, f"{100 * of.mean():.1f} %", f"{100 * of[2.0]:.1f} %"] for words, of in saved.items()]
    return ["| | on average | at ε = 2 |", "|---|---|---|", *map(_line, lines)]


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
        km = found["expected_km"][scope, name]
        cells = [f"{km[of, at]:.{digits}f}" for of, digits in ((GOWALLA, 0), (FOURSQUARE, 1)) for at in _THREE]
        lines.append(_line([name + (" within regions" if scope == WITHIN else ""), promise, *cells]))
    return lines


_THREE: Final = (0.5, 1.0, 2.0)


def places_draws() -> list[str]:
    """How far BRR lies below L-SRR within regions on every kind of draw."""
    published, calibrated = run.drawn_below(PUBLISHED), run.drawn_below(CALIBRATED)
    lines = []
    for pool, some in rows("location_draws").groupby("pool", sort=False):
        measured = some[some["what"] == "error"]
        least, most = measured["regions"].min(), measured["regions"].max()
        cells = [str(pool), f"{measured['seed'].nunique()} of {some['seed'].nunique()}"]
        cells.append(f"{least}" if least == most else f"{least} to {most}")
        for saved, budgets in ((published[pool], (0.25, 2.0)), (calibrated[pool], (2.0,))):
            several = [saved.groupby("seed").mean(), *(saved.xs(at, level="epsilon") for at in budgets)]
            cells += [f"{_spread(MeanInterval.of(values), hide=True)} %" for values in several]
        lines.append(cells)
    return _table(
        ["places of", "draws measured, of", "regions", "below L-SRR as published", "at ε = 0.25", "at ε = 2",
         "calibrated", "at ε = 2"],
        lines,
    )  # fmt: skip


def places_guessed() -> list[str]:
    """The error of a report of a place and of the best guess from it, in kilometres."""
    lines = []
    for name, some in chosen(rows("inference_errors"), scope=WHOLE).groupby("mechanism", sort=False):
        km = some.set_index(["dataset", "epsilon"])
        cells = [
            f"{km['expected_km'][of, at]:.{digits}f} / {km['inference_km'][of, at]:.{digits}f}"
            for of, digits in ((GOWALLA, 0), (FOURSQUARE, 2))
            for at in _THREE
        ]
        lines.append([str(name), *cells])
    return _table(["report / best guess, km", "Gowalla, ε = 0.5", "1", "2", "Foursquare, ε = 0.5", "1", "2"], lines)


def measured_where() -> list[str]:
    """Where every part of the full run was measured, by which code, and how long that took."""
    origins = json.loads((run.RESULTS / "run.json").read_text(encoding="utf-8"))["origins"]
    lines = []
    for (name, origin), parts in rows("parts").groupby(["experiment", "origin"], sort=False):
        said = [origins[origin][each] for each in ("machine", "commit", "versions")]
        lines.append([f"`{name}`", f"{len(parts):,}", f"{parts['seconds'].sum():,.0f}", *said])
    return _table(["experiment", "parts", "seconds", "machine", "commit", "versions"], lines)


def what_comes_out() -> list[str]:
    """For every claim, and every experiment without one: the command, its minutes, the verdict and the numbers."""
    minutes = {entry.name: _minutes(entry) for entry in registry.EXPERIMENTS}
    lines, judged = [], set()
    for row in rows("verdicts").fillna("").to_dict("records"):
        names = row["experiments"].split()
        judged.update(names)
        found = row["measured"] if names else row["why"]
        lines.append([row["where"], row["says"], *_measuring(names, minutes), row["verdict"], found])
    for entry in registry.EXPERIMENTS:
        if entry.name not in judged:
            found = f"no claim; its figure in the report: {entry.title}"
            lines.append([entry.figure, "", *_measuring([entry.name], minutes), "", found])
    return _table(["of the paper", "it says", "`python -m reproduction …`", "minutes", "verdict", "measured"], lines)


def _measuring(names: Sequence[str], minutes: Mapping[str, float]) -> tuple[str, str]:
    return (f"`run --full {' '.join(names)}`", f"{max(1, sum(map(minutes.get, names))):,.0f}") if names else ("", "")


def _minutes(entry: registry.Entry) -> float:
    """What measuring took on one of two cores; of what a GPU measured, what the laboratory reckons for them."""
    origins = json.loads((run.RESULTS / "run.json").read_text(encoding="utf-8"))["origins"]
    parts = chosen(rows("parts"), experiment=entry.name)
    on_a_gpu = any("NVIDIA" in origins[origin]["machine"] for origin in parts["origin"].unique())
    return (entry.seconds[1] if on_a_gpu else parts["seconds"].sum()) / 60


def _spread(found: MeanInterval, *, hide: bool = False) -> str:
    """In percent: the mean ± half of its interval; ``hide`` leaves out what would be 0.0 or is of one number."""
    half = 100 * (found.high - found.mean)
    shown = f"{100 * found.mean:.1f}"
    return shown if hide and (found.repetitions == 1 or half < 0.05) else f"{shown} ± {half:.1f}"  # noqa: PLR2004


def said(found: MeanInterval, how: str = "z.1f") -> str:
    """In points: the mean and its interval."""
    return f"{100 * found.mean:{how}} ({100 * found.low:{how.lstrip('+')}} to {100 * found.high:{how.lstrip('+')}})"


def _in_percent(found: MeanInterval) -> str:
    return f"{100 * found.mean:.0f} % ({100 * found.low:.0f} to {100 * found.high:.0f})"


def _table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> list[str]:
    return [_line(head), "|" + "---|" * len(head), *map(_line, lines)]


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


TABLES: Final[dict[str, tuple[Callable[[], list[str]], ...]]] = {
    "bench/results/sgd.md": (sgd_accuracies, sgd_advantages, sgd_readings_ahead),
    "bench/results/paper_boosting.md": (gbdt_errors, gbdt_shares, gbdt_readings, gbdt_points),
    "bench/results/networks.md": (dnn_accuracies, dnn_readings_gains),
    "bench/results/places.md": (places_below_lsrr, places_errors, places_draws, places_guessed),
    "bench/results/reproduction.md": (measured_where,),
    "docs/artifact.md": (what_comes_out,),
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
