"""``bipartite demo``: the whole workflow on made-up readers, whose true ages are known."""

from __future__ import annotations

import argparse
import io
import shlex
import shutil
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypedDict

import numpy as np

from bipartite.answers.advise import recommend
from bipartite.answers.estimation.carried import carried_edges
from bipartite.answers.estimation.rows import ranges
from bipartite.cli.output import OK, print_json, print_table, printed
from bipartite.cli.plan import PrintedPrecision, half
from bipartite.cli.program import BIPARTITE
from bipartite.domains import Integers
from bipartite.errors import DataFileError, InputError, MissingExtraError
from bipartite.files import write_atomically
from bipartite.lottery import Epsilon
from bipartite.plots.figure import need_matplotlib
from bipartite.tables import Plan, estimate_file
from bipartite.tables.purposes import CONFIDENCE, prospect
from bipartite.texts import in_digits

if TYPE_CHECKING:
    from numpy.typing import NDArray

_AGES: Final = Integers(18, 90)
_PEOPLE, _LEAST, _MOST = 50_000, 1_000, 10**7
_OURS: Final = "# Written by bipartite demo: these people are made up.\n"
_PLAN: Final = """
[columns.age]
domain = {{ integers = [18, 90] }}
for = "statistics"
mechanism = "brr"
edges = "padded"
m = "cdf"
epsilon = {epsilon}

[columns.country]
public = true
"""
EXAMPLES: Final = """examples:
  bipartite demo
  bipartite demo --n 1000000 --epsilon 3 --output /tmp/demo
"""


@dataclass(frozen=True)
class PrintedAnswer:
    """What the reports say, with its interval, beside the truth that only a demo knows."""

    of: str
    unit: Literal["years", "share"]
    value: float
    low: float
    high: float
    true: float


class PrintedDemo(TypedDict):
    """What ``demo`` prints."""

    people: int
    epsilon: str
    folder: str
    page: str | None
    """The page with charts; null without matplotlib, which draws them."""
    confidence: float
    promised: PrintedPrecision
    warning: str
    """Why the reports say little; or empty."""
    answers: list[PrintedAnswer]
    commands: list[str]
    """The commands that were run, to be run again."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add = parser.add_argument
    add("--n", metavar="N", type=int, default=_PEOPLE, help=f"the number of readers (default: {_PEOPLE:,})")
    add("--epsilon", metavar="E", default="1", help="the privacy budget of one report (default: 1)")
    add("--output", metavar="DIR", type=Path, default=Path("out"), help="the folder to write to (default: out)")
    add("--json", action="store_true", help="print one JSON object (schemas/demo.json)")


def run(options: argparse.Namespace) -> int:
    """Make up readers, and run the commands of the workflow on them."""
    if not _LEAST <= options.n <= _MOST:
        raise InputError(f"Expected --n from {_LEAST:,} to {_MOST:,}, got {options.n}; leave it out for {_PEOPLE:,}.")
    epsilon = f"{Epsilon.of(options.epsilon).value:f}"
    table, plan, reports, page = (
        options.output / name for name in ("people.csv", "plan.toml", "reports.csv", "answers.html")
    )
    missing = None
    try:
        need_matplotlib("The page with charts")
    except MissingExtraError as error:  # a first visitor sees the answers all the same
        missing = str(error)
    _prepare(options.output, [table, plan, reports, page])
    readers = _made_up(options.n)
    rows = (f"{age},{country}\n" for country, ages in readers.items() for age in ages.tolist())
    write_atomically(table, "age,country\n" + "".join(rows))
    write_atomically(plan, _OURS + _PLAN.format(epsilon=epsilon))
    commands = [
        ["plan", "show", str(plan)],
        ["plan", "check", str(plan), "--n", str(options.n)],
        ["privatize", str(table), str(reports), "--plan", str(plan), "--overwrite"],
        ["estimate", str(reports), "--by", "country", *(["--html", str(page)] if missing is None else [])],
    ]
    for arguments in commands:
        _run(arguments)
    found = PrintedDemo(
        people=options.n,
        epsilon=epsilon,
        folder=str(options.output),
        page=str(page) if missing is None else None,
        confidence=CONFIDENCE,
        promised=printed(PrintedPrecision, prospect(Plan.read(plan).mechanisms()["age"], options.n)),
        warning=recommend(_AGES, epsilon, "distribution", n=options.n).warning,
        answers=_answers(reports, readers),
        commands=[shlex.join([*_program(), *arguments]) for arguments in commands],
    )
    if options.json:
        print_json(found)
    else:
        _show(found, f"With charts: {page}" if missing is None else missing)
    return OK


def _prepare(folder: Path, files: list[Path]) -> None:
    """Make the folder, and refuse to replace what no demo wrote."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataFileError(f"{folder} cannot be written to ({error.strerror}); choose another --output.") from None
    plan = folder / "plan.toml"
    ours = plan.is_file() and plan.read_bytes().startswith(_OURS.encode())
    for file in files:
        if file.exists() and not ours:
            raise InputError(f"{file} exists, and no demo wrote it; choose another --output.")


def _made_up(people: int) -> dict[str, NDArray[np.int64]]:
    """Ages by country, from a statistical generator: these are not private values."""
    generator = np.random.default_rng(2026)
    french = people * 4 // 10
    return {
        country: (_AGES.low + len(_AGES) * generator.beta(2, younger, size)).astype(np.int64)
        for country, younger, size in (("Germany", 3, people - french), ("France", 5, french))
    }


def _run(arguments: list[str]) -> None:
    """Run a command as if it were typed; what it says is told in the words of the demo."""
    options = BIPARTITE.parser(arguments[0]).parse_args(arguments, argparse.Namespace(own_process=False))
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        options.run(options)


def _answers(reports: Path, readers: dict[str, NDArray[np.int64]]) -> list[PrintedAnswer]:
    """The answers beside the truth: means of all and of each country, and shares of ages."""
    (everyone,) = estimate_file(reports).columns["age"].values()
    by_country = estimate_file(reports, by="country").columns["age"]
    ages = np.concatenate(list(readers.values()))
    found = []
    for who, each, truth in [("all", everyone, ages), *((name, by_country[name], readers[name]) for name in readers)]:
        # From very few reports an unbiased mean may lie beyond all ages.
        value, low, high = np.clip([each.mean, *each.ask().ci(CONFIDENCE)], _AGES.low, _AGES.high).tolist()
        found.append(PrintedAnswer(f"mean age, {who}", "years", value, low, high, float(truth.mean())))
    for part in ranges(everyone, carried_edges(everyone.mechanism, len(ages)), CONFIDENCE):
        of, true = f"aged {part.first:.0f} to {part.last:.0f}", ((ages >= part.first) & (ages <= part.last)).mean()
        found.append(PrintedAnswer(of, "share", part.share, part.low, part.high, float(true)))
    return found


def _program() -> list[str]:
    """How the reader can start this program: `make run` leaves its environment off the path."""
    if shutil.which("bipartite"):
        return ["bipartite"]
    return [sys.argv[0]] if Path(sys.argv[0]).stem == "bipartite" else [sys.executable, "-m", "bipartite"]


def _show(found: PrintedDemo, charts: str) -> None:
    print(f"How old are {found['people']:,} readers, if none of them says so? They are made up, in {found['folder']}.")
    print(f"Promised before anybody is asked, at {100 * CONFIDENCE:g} % confidence:")
    promised = found["promised"]
    mean, share = half(promised["mean"], points=False), half(promised["tenth"], points=True)
    print(f"  mean age {mean} years, share of a tenth of all ages {share}")
    print(*([f"  {found['warning']}"] if found["warning"] else []), "", sep="\n")
    print(f"Answers from one random report of each at ε = {found['epsilon']}, and the truth, which only a demo knows:")
    rows = []
    for each in found["answers"]:
        scale, sign = (1, "") if each.unit == "years" else (100, " %")
        value, low, high = in_digits(scale * each.value, scale * each.low, scale * each.high)
        rows.append((f"  {each.of}", value + sign, f"{low} to {high}{sign}", f"{scale * each.true:.1f}{sign}"))
    print_table(("", "answer", "interval", "truth"), rows)
    print(f"An interval misses the truth in about {100 - 100 * CONFIDENCE:.0f} of 100 surveys, perhaps in this one.")
    print(f"\n{charts}\nThese commands were run; run them again, or with a table and a plan of your own:")
    print(*(f"  {command}" for command in found["commands"]), sep="\n")
