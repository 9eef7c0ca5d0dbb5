"""Tables and figures of the docs that come whole from the committed full run (``reproduction/results``).

``python -m tools.result_tables`` writes all of them; a test checks that nothing changes when it does. A table is found
on its page by its first two lines, so that pages need no marks. A number in a sentence is read by a test of its own
(``tests/test_results.py``).
"""

from __future__ import annotations

import functools
import importlib
import statistics
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from reproduction.claims import boosting, networks, training
from reproduction.experiments import gbdt, location_draws, location_errors, printed, sgd, sgd_readings
from reproduction.experiments.gbdt_tasks import TASKS
from reproduction.experiments.places_of_the_paper import FOURSQUARE, GOWALLA
from reproduction.places import CALIBRATED, PUBLISHED, WHOLE, WITHIN
from reproduction.runner import reading
from reproduction.runner.contract import select
from reproduction.runner.intervals import MeanInterval, by_seed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

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
def rows(name: str) -> list[dict[str, Any]]:
    """A table of the full run, its numbers as numbers."""
    return reading.table(RESULTS / f"{name}.csv")


@functools.cache
def ends_of_training() -> list[dict[str, Any]]:
    """The rows of SGD without its curves, which are nearly all of them."""
    return [row for row in rows("sgd") if row["measure"] != "accuracy"]


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
    found = ends_of_training()
    head = ("", "ε asked", "ε spent")
    for network in ("paper's network", "softmax"):
        head += (f"{network}: accuracy, %", "stability, %", "convergence")
    lines = [_line(head), _rule(len(head))]
    for mechanism, shown in names.items():
        label = shown
        for epsilon in sorted({row["epsilon"] for row in select(found, mechanism=mechanism)}):
            spent = "∞" if mechanism == "none" or mechanism.startswith("paper") else f"{epsilon:,g}"
            cells = [label, f"{epsilon:,g}" if epsilon else "", spent]
            for network in ("paper-cnn", "softmax"):
                final, stability, arrived = (
                    sgd.summary(found, network, mechanism, epsilon, each)
                    for each in ("final", "stability", "convergence")
                )
                cells += [_spread(final), f"{100 * stability.mean:.2f}", f"{arrived.mean:.0f}"]
            lines.append(_line(cells))
            label = ""
    return lines


def sgd_advantages() -> list[str]:
    """How far BRR-SGD as described is ahead."""
    columns = [
        (network, rival)
        for network in ("paper-cnn", "softmax")
        for rival in ("paper-laplace", "paper-laplace-of-the-mean")
    ]
    lines = [
        (
            "| claimed ε | the paper says | ahead of Laplace on the sum | ahead of Laplace on the mean "
            "| softmax: on the sum | on the mean |"
        ),
        _rule(6),
    ]
    for epsilon in printed.SGD_BUDGETS:
        claimed = f"+{100 * printed.SGD_AHEAD[epsilon]:.0f}" if epsilon in printed.SGD_AHEAD else ""
        lines.append(_line([f"{epsilon:g}", claimed, *(_ahead(epsilon, rival, network) for network, rival in columns)]))
    return lines


def sgd_readings_ahead() -> list[str]:
    """How far BRR-SGD is ahead under readings that the paper does not state."""
    names = list(sgd_readings.RIVALS)
    lines = [_line(["claimed ε", "the paper says", *sgd_readings.RIVALS.values()]), _rule(2 + len(names))]
    for epsilon in printed.SGD_BUDGETS:
        claimed = f"+{100 * printed.SGD_AHEAD[epsilon]:.0f}" if epsilon in printed.SGD_AHEAD else ""
        ours = by_seed(sgd_readings.finals(rows("sgd_readings"), sgd_readings.BRR, epsilon))
        cells = []
        for name in names:
            theirs = by_seed(sgd_readings.finals(rows("sgd_readings"), name, epsilon))
            found = MeanInterval.of(ours[seed] - theirs[seed] for seed in ours)
            cells.append(f"{100 * found.mean:+.1f} ({100 * found.low:.1f} to {100 * found.high:.1f})")
        lines.append(_line([f"{epsilon:g}", claimed, *cells]))
    return lines


def gbdt_errors() -> list[str]:
    """Errors of boosting: every leaf and budget."""
    return ["```text", *(line.rstrip() for line in _boosting_lines()), "```"]


def _boosting_lines() -> list[str]:
    """Errors as lines of text: a mechanism each, ε from left to right, and ± the deviation between seeds at ε = 5."""
    made = gbdt.figures(rows("gbdt"))
    epsilons = sorted({key[2] for key in made} - {0.0})
    wide = 1 + max(len(name) for name in (*gbdt.LEAVES, *gbdt.BASELINES))
    written = []
    for task in dict.fromkeys(row["task"] for row in rows("gbdt")):
        seeds = len({row["seed"] for row in select(rows("gbdt"), task=task)})
        head = "".join(f"{f'ε = {each:g}':>9}" for each in epsilons)
        written += [f"{TASKS[task].title} ({seeds} seeds)", f"{'':{wide}}{head}   ± at 5"]
        for name in gbdt.LEAVES:
            at = [made.get((task, name, each, 21)) for each in epsilons]
            cells_ = "".join(f"{'' if each is None else f'{each.mean:.4g}':>9}" for each in at)
            spread = made.get((task, name, 5.0, 21))
            written.append(f"{name:{wide}}{cells_}{'' if spread is None else f'{spread.deviation:.2g}':>9}")
        for name in gbdt.BASELINES:
            level = made.get((task, name, 0.0, 21))
            written += [] if level is None else [f"{name:{wide}}{f'{level.mean:.4g}':>9}"]
        written.append("")
    return written[:-1]


def gbdt_shares() -> list[str]:
    """The error with BRR as a share of the rivals'."""
    lines = [
        (
            "| target | paper, of Laplace | here, of Laplace | here, of Laplace clamped to [−c, c] "
            "| of Laplace, predictions clamped to the target's range |"
        ),
        _rule(5),
    ]
    for task in dict.fromkeys(row["task"] for row in rows("gbdt")):
        paper = f"{100 * printed.BOOSTING_SHARES[task]:.0f} %" if task in printed.BOOSTING_SHARES else "not run"
        shares = [_share(task, "Laplace"), _share(task, "Laplace, clamped"), _share(task, "Laplace", "rmse_in_range")]
        lines.append(_line([TASKS[task].title, paper, *shares]))
    return lines


def gbdt_readings() -> list[str]:
    """The error with BRR as a share of the rivals' at ε = 5, under every reading that was tried."""
    tasks = list(printed.BOOSTING_SHARES)
    heads = [f"{TASKS[task].title.partition(':')[0]}, {100 * printed.BOOSTING_SHARES[task]:.0f} %" for task in tasks]
    lines = [
        _line(["reading, and the paper's ratio", *heads, *(f"{each.split(',')[0]}, of clamped" for each in heads)]),
        _rule(7),
    ]
    for name, some in boosting.readings_of(rows("gbdt_readings")).items():
        shares = [boosting.ratio(some, task, rival) for rival in ("Laplace", "Laplace, clamped") for task in tasks]
        lines.append(_line([name, *(_in_percent(_there(each)) for each in shares)]))
    return lines


def gbdt_points() -> list[str]:
    """Errors of boosting against the number of points."""
    made = gbdt.figures(rows("gbdt"))
    many = sorted({key[3] for key in made})
    ends = (many[0], many[-1])
    head = ["target", f"BRR, {many[0]}", *map(str, many[1:])]
    head += [f"geometric, {ends[0]}", str(ends[1]), f"anchored, {ends[0]}", str(ends[1])]
    lines = [_line(head), _rule(len(head))]
    for task in dict.fromkeys(key[0] for key in made):
        cells = [made[task, "BRR", 5.0, points] for points in many]
        cells += [made[task, name, 5.0, points] for name in ("Geometric", "Anchored") for points in ends]
        lines.append(_line([TASKS[task].title, *(f"{each.mean:.4g}" for each in cells)]))
    return lines


_NETWORKS: Final = {"adult": "Adult, 14 columns", "bank": "Bank, 20 columns"}
_COLUMNS: Final = {"brr": "BRR", "anchored": "Anchored", "laplace": "Laplace", "piecewise": "Piecewise"}
_BUDGETS: Final = (0.25, 1.0, 2.0, 3.5, 7.0, 10.0, 20.0)


def dnn_accuracies() -> list[str]:
    """Accuracy of networks, by the paper's plan and by the chosen one."""
    lines = [
        "```text",
        "Accuracy on clean test rows, in percent; mean of five seeds ± 95 % interval over seeds (none: below 0.05).",
    ]
    lines += ["10 epochs at learning rate 0.001, as in the paper", ""]
    for dataset, title in _NETWORKS.items():
        lines += _network_lines(title, dataset, "public", "paper", "accuracy", _BUDGETS)
        references = [
            f"{shown} {_spread(_over_seeds(dataset, name, 0.0, 'public', 'paper', 'accuracy'), hide=True)}"
            for name, shown in (("majority", "majority class"), ("none", "no privacy"))
        ]
        lines += ["      ".join(references), ""]
    lines += ["Epochs (1, 3, 10) and learning rate (0.001, 0.0001) chosen on public rows, one grid for all", ""]
    for dataset, title in _NETWORKS.items():
        lines += [*_network_lines(title.split(",")[0], dataset, "public", "tuned", "accuracy", _BUDGETS), ""]
    lines += _network_gains()
    alone = ", ".join(
        f"{title.split(',')[0]} {100 * _over_seeds(dataset, 'none', 0.0, 'public', 'tuned', 'auc').mean:.1f}"
        for dataset, title in _NETWORKS.items()
    )
    lines += [
        "",
        f"Area under the ROC curve, in percent, chosen plan (50: chance; no privacy: {alone})",
        "",
    ]
    for dataset, title in _NETWORKS.items():
        lines += [*_network_lines(title.split(",")[0], dataset, "public", "tuned", "auc", _BUDGETS), ""]
    lines += ["Half of ε on randomised labels, chosen plan, accuracy", ""]
    for dataset, title in _NETWORKS.items():
        lines += [
            *_network_lines(title.split(",")[0], dataset, "randomised", "tuned", "accuracy", (3.5, 10.0, 20.0)),
            "",
        ]
    return [*lines[:-1], "```"]


def _network_lines(
    title: str, dataset: str, labels: str, setting: str, metric: str, epsilons: Iterable[float]
) -> list[str]:
    lines = [title.ljust(20) + "".join(f"ε = {each:g}".ljust(13) for each in epsilons).rstrip()]
    for name, shown in _COLUMNS.items():
        cells = [_spread(_over_seeds(dataset, name, each, labels, setting, metric), hide=True) for each in epsilons]
        lines.append(shown.ljust(20) + "".join(each.ljust(13) for each in cells).rstrip())
    return lines


def _network_gains() -> list[str]:
    """BRR above Laplace, paired by seed, at one ε and over those of the paper."""
    wanted = (
        ("Adult, ε = 0.25", "adult", 0.25, f"+{100 * printed.NETWORK_GAINS['at 0.25']:.2f}"),
        ("Adult, mean of eight ε, 0.25 to 3.5", "adult", None, f"+{100 * printed.NETWORK_GAINS['mean']:.2f}"),
        ("Bank, mean of the same", "bank", None, '"similar"'),
        ("Adult, ε = 20", "adult", 20.0, ""),
        ("Bank, ε = 20", "bank", 20.0, ""),
    )
    lines = [
        "BRR above Laplace, in points, seed by seed".ljust(46)
        + "the paper".ljust(14)
        + "its plan".ljust(23)
        + "chosen plan"
    ]
    for title, dataset, when, says in wanted:
        cells = [_points(_there(networks.apart(rows("dnn"), dataset, setting, when))) for setting in ("paper", "tuned")]
        lines.append((title.ljust(46) + says.ljust(14) + cells[0].ljust(23) + cells[1]).rstrip())
    return lines


def dnn_readings_gains() -> list[str]:
    """BRR above Laplace on Adult under every reading that was tried, and above clamped Laplace."""
    found = rows("dnn_readings")
    plans = {"paper": "10 epochs", "tuned": "chosen epoch"}
    head = ["reading", "a row spends"]
    for plan in plans.values():
        head += [f"{plan}: on average", "at ε = 0.25", "above clamped Laplace, on average"]
    paper = [f"+{100 * printed.NETWORK_GAINS[each]:.2f}" for each in ("mean", "at 0.25")]
    lines = [_line(head), _rule(len(head)), _line(["the paper", "", *paper, "", *paper, ""])]
    for pair in networks.PAIRS:
        cells = [pair.words, networks.spends(found, pair)]
        for plan in plans:
            clamped = replace(pair, theirs="clamped-laplace").apart(found, plan)
            cells += [_points(_there(pair.apart(found, plan, each))) for each in (None, 0.25)]
            cells.append("" if clamped is None else _points(clamped))
        lines.append(_line(cells))
    return lines


def _over_seeds(dataset: str, mechanism: str, epsilon: float, labels: str, setting: str, metric: str) -> MeanInterval:
    found = select(
        rows("dnn"),
        dataset=dataset,
        mechanism=mechanism,
        epsilon=epsilon,
        labels=labels,
        setting=setting,
        metric=metric,
    )
    return MeanInterval.of([row["value"] for row in found])


def places_below_lsrr() -> list[str]:
    """By how much less BRR errs than L-SRR on the authors' places."""
    lines = ["| | on average | at ε = 2 |", _rule(3), "| the paper, within regions | 8.7 % | 23.4 % |"]
    for scope, where in ((WITHIN, "within regions"), (WHOLE, "whole domain")):
        for rival, words in ((PUBLISHED, PUBLISHED + _overspent(scope)), (CALIBRATED, "L-SRR calibrated to its ε")):
            saved = location_errors.savings(rows("location_errors"), rival, scope)[GOWALLA]
            shares = (statistics.fmean(saved.values()), saved[2.0])
            lines.append(_line([f"{where}, {words}", *(f"{100 * each:.1f} %" for each in shares)]))
    return lines


def _overspent(scope: str) -> str:
    """What L-SRR as published spends on the authors' places, said once, where it first appears."""
    if scope != WITHIN:
        return ""
    found = select(rows("location_errors"), dataset=GOWALLA, mechanism=PUBLISHED, scope=scope)
    return f" (spends up to {max(row['epsilon_within'] / row['epsilon'] for row in found):.1f} times its ε)"


def places_errors() -> list[str]:
    """Expected errors of releases of a place, in kilometres."""
    published = "the region is published, not ε-LDP"
    spends = [
        max(
            row["realised_epsilon"] / row["epsilon"]
            for row in select(rows("location_errors"), dataset=dataset, mechanism=PUBLISHED, scope=WHOLE)
        )
        for dataset in (GOWALLA, FOURSQUARE)
    ]
    kept = ("GRR", CALIBRATED, "Exponential, tight", "Region-weighted", "Two-level", "BRR", "BRR, best m", "Anchored")
    shown = [(name, WHOLE, "ε-LDP") for name in kept]
    shown.append(("one place", WHOLE, "ε = 0: it tells nothing"))
    shown.append((PUBLISHED, WHOLE, f"spends up to {spends[0]:.1f} and {spends[1]:.1f} times its ε"))
    shown += [("BRR", WITHIN, published), ("Anchored", WITHIN, published)]
    lines = ["| | promise | Gowalla, ε = 0.5 | 1 | 2 | Foursquare, ε = 0.5 | 1 | 2 |", _rule(8)]
    for name, scope, promise in shown:
        cells = [
            f"{row['expected_km']:.{digits}f}"
            for dataset, digits in ((GOWALLA, 0), (FOURSQUARE, 1))
            for epsilon in (0.5, 1.0, 2.0)
            for row in select(rows("location_errors"), dataset=dataset, mechanism=name, scope=scope, epsilon=epsilon)
        ]
        lines.append(_line([name + (" within regions" if scope == WITHIN else ""), promise, *cells]))
    return lines


def places_draws() -> list[str]:
    """How far BRR lies below L-SRR within regions on every kind of draw."""
    head = (
        "| places of | draws measured, of | regions | below L-SRR as published | at ε = 0.25 | at ε = 2 | calibrated |"
    )
    lines = [f"{head} at ε = 2 |", _rule(8)]
    found = rows("location_draws")
    for pool in location_draws.POOLS:
        errors = select(found, what=location_draws.ERROR, pool=pool.name)
        counts = sorted({row["regions"] for row in errors})
        cells = [pool.name, f"{len({row['seed'] for row in errors})} of {pool.seeds}"]
        cells.append(f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}")
        for rival, budgets in ((PUBLISHED, (0.25, 2.0)), (CALIBRATED, (2.0,))):
            saved = location_draws.savings(found, pool.name, rival)
            several = [location_draws.mean_savings(found, pool.name, rival), *(saved[each] for each in budgets)]
            cells += [f"{_spread(MeanInterval.of(each.values()), hide=True)} %" for each in several]
        lines.append(_line(cells))
    return lines


def places_guessed() -> list[str]:
    """The error of a report of a place and of the best guess from it, in kilometres."""
    lines = ["| report / best guess, km | Gowalla, ε = 0.5 | 1 | 2 | Foursquare, ε = 0.5 | 1 | 2 |", _rule(7)]
    found = select(rows("inference_errors"), scope=WHOLE)
    for name in dict.fromkeys(row["mechanism"] for row in found):
        cells = [
            f"{row['expected_km']:.{digits}f} / {row['inference_km']:.{digits}f}"
            for dataset, digits in ((GOWALLA, 0), (FOURSQUARE, 2))
            for epsilon in (0.5, 1.0, 2.0)
            for row in select(found, dataset=dataset, mechanism=name, epsilon=epsilon)
        ]
        lines.append(_line([name, *cells]))
    return lines


def _spread(found: MeanInterval, *, hide: bool = False) -> str:
    """In percent: the mean ± half of its interval; ``hide`` leaves out what would be 0.0 or is of one number."""
    half = 100 * (found.high - found.mean)
    shown = f"{100 * found.mean:.1f}"
    return shown if hide and (found.repetitions == 1 or half < 0.05) else f"{shown} ± {half:.1f}"  # noqa: PLR2004


def _ahead(epsilon: float, rival: str, network: str) -> str:
    found = _there(training.apart(ends_of_training(), "final", epsilon, rival, network=network))
    return f"{100 * found.mean:+.1f} ({100 * found.low:.1f} to {100 * found.high:.1f})"


def _points(found: MeanInterval) -> str:
    mean, low, high = (round(100 * each, 1) + 0.0 for each in (found.mean, found.low, found.high))
    return f"{mean:.1f} ({low:.1f} to {high:.1f})"


def _share(task: str, rival: str, column: str = "rmse") -> str:
    return _in_percent(_there(boosting.ratio(rows("gbdt"), task, rival, column=column)))


def _in_percent(found: MeanInterval) -> str:
    return f"{100 * found.mean:.0f} % ({100 * found.low:.0f} to {100 * found.high:.0f})"


def _there(found: MeanInterval | None) -> MeanInterval:
    """What the full run has."""
    if found is None:
        raise ValueError("The full run has no such rows.")
    return found


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _rule(columns: int) -> str:
    return "|" + "---|" * columns


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
        _, ends, below = after.partition(end)
        if not found or not ends:
            raise ValueError(
                f"Expected a table that begins with these lines, and ends; write them where it should stand:\n{head}"
            )
        text = before + "\n".join(made) + ends.removeprefix("```") + below
    return text


def figures() -> dict[Path, str]:
    """Every picture that pages show, by its file."""
    found = {}
    for name, wanted in FIGURES.items():
        drawn = importlib.import_module(f"reproduction.experiments.{name}").draw(rows(name))
        found |= {ROOT / "docs" / "_static" / f"{each}.svg": drawn[each] + "\n" for each in wanted}
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
