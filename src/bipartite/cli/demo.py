"""``bipartite demo``: the whole workflow on made-up readers, whose true ages are known."""

from __future__ import annotations

import argparse
import io
import shlex
import shutil
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.answers.advise import recommend
from bipartite.answers.estimation.carried import carried_edges
from bipartite.answers.estimation.rows import ranges
from bipartite.cli.output import OK, print_table
from bipartite.cli.plan import half
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
    from collections.abc import Sequence

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


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add = parser.add_argument
    add("--n", metavar="N", type=int, default=_PEOPLE, help=f"the number of readers (default: {_PEOPLE:,})")
    add("--epsilon", metavar="E", default="1", help="the privacy budget of one report (default: 1)")
    add("--output", metavar="DIR", type=Path, default=Path("out"), help="the folder to write to (default: out)")


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
    promised = prospect(Plan.read(plan).mechanisms()["age"], options.n)
    warning = recommend(_AGES, epsilon, "distribution", n=options.n).warning
    print(f"How old are {options.n:,} readers, if none of them says so? They are made up, in {options.output}.")
    print(f"Promised before anybody is asked, at {100 * CONFIDENCE:g} % confidence:")
    mean, share = half(promised.mean, points=False), half(promised.tenth, points=True)
    print(f"  mean age {mean} years, share of a tenth of all ages {share}")
    print(*([f"  {warning}"] if warning else []), "", sep="\n")
    print(f"Answers from one random report of each at ε = {epsilon}, and the truth, which only a demo knows:")
    print_table(("", "answer", "interval", "truth"), _answers(reports, readers))
    print(f"An interval misses the truth in about {100 - 100 * CONFIDENCE:.0f} of 100 surveys, perhaps in this one.")
    charts = f"With charts: {page}" if missing is None else missing
    print(f"\n{charts}\nThese commands were run; run them again, or with a table and a plan of your own:")
    print(*(f"  {shlex.join([*_program(), *arguments])}" for arguments in commands), sep="\n")
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


def _answers(reports: Path, readers: dict[str, NDArray[np.int64]]) -> list[tuple[str, ...]]:
    """The answers beside the truth: means of all and of each country, and shares of ages."""
    (everyone,) = estimate_file(reports).columns["age"].values()
    by_country = estimate_file(reports, by="country").columns["age"]
    ages = np.concatenate(list(readers.values()))
    rows = []
    for who, each, truth in [("all", everyone, ages), *((name, by_country[name], readers[name]) for name in readers)]:
        # From very few reports an unbiased mean may lie beyond all ages.
        held = np.clip([each.mean, *each.ask().ci(CONFIDENCE)], _AGES.low, _AGES.high).tolist()
        rows.append(_row(f"mean age, {who}", (*held, truth.mean())))
    for part in ranges(everyone, carried_edges(everyone.mechanism, len(ages)), CONFIDENCE):
        shares = part.share, part.low, part.high, ((ages >= part.first) & (ages <= part.last)).mean()
        rows.append(_row(f"aged {part.first:.0f} to {part.last:.0f}", [100 * each for each in shares], " %"))
    return rows


def _row(of: str, numbers: Sequence[float], unit: str = "") -> tuple[str, ...]:
    *answered, true = numbers
    value, low, high = in_digits(*answered)
    return f"  {of}", value + unit, f"{low} to {high}{unit}", f"{true:.1f}{unit}"


def _program() -> list[str]:
    """How the reader can start this program: `make run` leaves its environment off the path."""
    if shutil.which("bipartite"):
        return ["bipartite"]
    return [sys.argv[0]] if Path(sys.argv[0]).stem == "bipartite" else [sys.executable, "-m", "bipartite"]
