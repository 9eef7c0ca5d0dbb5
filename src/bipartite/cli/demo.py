"""``bipartite demo``: how old are 50,000 made-up readers? What is promised, what their reports answer, and how."""

from __future__ import annotations

import math
import shlex
import shutil
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.answers.advise import recommend
from bipartite.answers.estimation import difference, estimate
from bipartite.answers.estimation.carried import carried_edges
from bipartite.answers.estimation.rows import ranges
from bipartite.cli.demo_page import page
from bipartite.cli.output import OK, print_json, print_table
from bipartite.domains import Integers
from bipartite.errors import DataFileError, InputError, MissingExtraError
from bipartite.files import write_atomically
from bipartite.plots.figure import need_matplotlib
from bipartite.tables.purposes import CONFIDENCE, prospect
from bipartite.texts import align_columns
from bipartite.verification import verify

if TYPE_CHECKING:
    import argparse

    from numpy.typing import NDArray

    from bipartite.answers.estimation import ConfidenceInterval
    from bipartite.mechanisms import Mechanism
    from bipartite.verification import Certificate

_AGES: Final = Integers(18, 90)
_WIDTH: Final = _AGES.high - _AGES.low
_PERSON: Final = 40
_PEOPLE, _LEAST_PEOPLE, _MOST_PEOPLE = 50_000, 1_000, 10**7
_EXAMPLES = """examples:
  bipartite demo                              write out/demo.html: open it in a browser
  bipartite demo --people 1000000             more people, narrower intervals
  bipartite demo --epsilon 3 --output /tmp    less privacy, narrower intervals
"""


@dataclass(frozen=True)
class AnswerAndTruth:
    """What the reports say, with its interval, beside the truth that only a demo knows."""

    of: str
    unit: str
    """``years``, or ``share``: a fraction of the readers."""
    value: float
    low: float
    high: float
    true: float


@dataclass(frozen=True)
class Survey:
    """One question to made-up readers, from its promise to its proof."""

    people: int
    epsilon: str
    mechanism: Mechanism
    promised: dict[str, float]
    """Half-widths of the intervals, known before anybody is asked."""
    warning: str
    """Why the reports will say little; or empty."""
    shares: list[AnswerAndTruth]
    means: list[AnswerAndTruth]
    """Of all readers, then of each country."""
    difference: AnswerAndTruth
    answer: int
    """One reader's true age."""
    report: int
    """What that reader's device sent."""
    certificate: Certificate

    @property
    def question(self) -> str:
        """The question."""
        return f"How old are {self.people:,} readers, if none of them says so?"

    @property
    def promises(self) -> list[tuple[str, str]]:
        """What is promised, in words."""
        mean, share, apart = self.promised.values()
        return [
            ("mean age", f"± {mean:.2g} years"),
            ("share of an age range", f"about ± {100 * share:.2g} points"),
            ("difference of countries", f"± {apart:.2g} years"),
        ]

    def words(self, answer: AnswerAndTruth) -> tuple[str, str, str]:
        """An answer, its interval and the truth, with the digits that the promised precision supports."""
        scale, sign = (1, "") if answer.unit == "years" else (100, " %")
        wide = 2 * scale * self.promised["share" if sign else "mean"]
        digits = max(1 - math.floor(math.log10(wide)), 0)
        numbers = (answer.value, answer.low, answer.high, answer.true)
        value, low, high, true = (f"{scale * each:z.{digits}f}".replace("-", "−") for each in numbers)
        return f"{value}{sign}", f"{low} to {high}{sign}", f"{true}{sign}"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.epilog = _EXAMPLES
    parser.add_argument(
        "--people", metavar="N", type=int, default=_PEOPLE, help=f"the number of readers (default: {_PEOPLE:,})"
    )
    parser.add_argument("--epsilon", metavar="E", default="1", help="the privacy budget of one report (default: 1)")
    parser.add_argument(
        "--output", metavar="DIR", type=Path, default=Path("out"), help="the folder to write to (default: out)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object (schemas/demo.json)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Survey made-up readers, print what their reports say, and write a page and the readers as a table."""
    if not _LEAST_PEOPLE <= options.people <= _MOST_PEOPLE:
        least, most = f"{_LEAST_PEOPLE:,}", f"{_MOST_PEOPLE:,}"
        raise InputError(
            f"Expected --people from {least} to {most}, got {options.people}; leave it out for {_PEOPLE:,}."
        )
    try:
        options.output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataFileError(
            f"{options.output} cannot be written to ({error.strerror}); choose another --output."
        ) from None
    readers = _made_up(options.people)
    found = _survey(options.epsilon, readers)
    table = options.output / "demo.csv"
    file: Path | None = options.output / "demo.html"
    charts = f"With charts: {file}"
    try:
        need_matplotlib("The page with charts")
    except MissingExtraError as missing:  # the answers need nothing: a first visitor sees them all the same
        file, charts = None, str(missing)
    commands = _commands(table, options.people, pages=file is not None)
    rows = (f"{age},{country}\n" for country, ages in readers.items() for age in ages.tolist())
    write_atomically(table, "age,country\n" + "".join(rows))
    if file is not None:
        write_atomically(file, page(found, commands))
    if options.json:
        print_json(_as_json(found, file, table))
    else:
        _show(found, charts, commands)
    return OK


def _made_up(people: int) -> dict[str, NDArray[np.int64]]:
    """Ages by country, from a statistical generator: these are not private values."""
    generator = np.random.default_rng(2026)
    french = people * 4 // 10
    return {
        country: (_AGES.low + len(_AGES) * generator.beta(2, younger, size)).astype(np.int64)
        for country, younger, size in (("Germany", 3, people - french), ("France", 5, french))
    }


def _survey(epsilon: str, readers: dict[str, NDArray[np.int64]]) -> Survey:
    ages, sizes = np.concatenate(list(readers.values())), [len(each) for each in readers.values()]
    people = len(ages)
    advised = recommend(_AGES, epsilon, "distribution", n=people)
    mechanism = advised.mechanism
    expected = prospect(mechanism, people)
    mean, share = expected.mean or math.inf, expected.tenth or math.inf
    apart = min(_WIDTH, mean * math.sqrt(sum(people / size for size in sizes)))
    reports = mechanism.privatize(ages)
    everyone, one, other = (estimate(mechanism, some) for some in (reports, *np.split(reports, sizes[:1])))
    named = zip(("all", *readers), (everyone, one, other), (ages, *readers.values()), strict=True)
    means = [
        _years(name, each.mean, each.ask().ci(CONFIDENCE), float(truth.mean()), (_AGES.low, _AGES.high))
        for name, each, truth in named
    ]
    gap = difference(one, other, confidence=CONFIDENCE)
    return Survey(
        people=people,
        epsilon=f"{mechanism.epsilon_decimal:f}",
        mechanism=mechanism,
        promised={"mean": mean, "share": share, "difference": apart},
        warning=advised.warning,
        shares=[
            AnswerAndTruth(
                of=f"{part.first:.0f} to {part.last:.0f}",
                unit="share",
                value=part.share,
                low=part.low,
                high=part.high,
                true=float(((ages >= part.first) & (ages <= part.last)).mean()),
            )
            for part in ranges(everyone, carried_edges(mechanism, people), CONFIDENCE)
        ],
        means=means,
        difference=_years(
            " − ".join(readers), gap.value, gap.interval, means[1].true - means[2].true, (-_WIDTH, _WIDTH)
        ),
        answer=_PERSON,
        report=int(mechanism.privatize(_PERSON)),
        certificate=verify(mechanism),
    )


def _years(
    of: str, value: float, interval: ConfidenceInterval, true: float, possible: tuple[int, int]
) -> AnswerAndTruth:
    """An answer in years; from very few reports an unbiased one may lie beyond what is possible."""
    value, low, high = np.clip([value, *interval], *possible).tolist()
    return AnswerAndTruth(of, "years", value, low, high, true)


def _commands(table: Path, people: int, *, pages: bool = True) -> list[str]:
    """The same survey with files, as the reader can type it: `make run` leaves its environment off the path."""
    started = [sys.argv[0]] if Path(sys.argv[0]).stem == "bipartite" else [sys.executable, "-m", "bipartite"]
    program = ["bipartite"] if shutil.which("bipartite") else started
    plan, reports, answers = (str(table.with_name(name)) for name in ("plan.toml", "reports.csv", "answers.html"))
    return [
        shlex.join([*program, *arguments])
        for arguments in (
            ["plan", "new", str(table), "--output", plan],
            ["plan", "check", plan, "--people", str(people)],
            ["privatize", str(table), reports, "--plan", plan],
            ["estimate", reports, "--by", "country", *(["--html", answers] if pages else [])],
        )
    ]


def _show(found: Survey, charts: str, commands: list[str]) -> None:
    print(f"{found.question} Promised before anybody is asked, at {100 * CONFIDENCE:g} % confidence:")
    print(*align_columns([(f"  {what}", how) for what, how in found.promises]), sep="\n")
    print(*([f"  {found.warning}"] if found.warning else []), "", sep="\n")
    print(
        f"Their answers, from one random report of each at ε = {found.epsilon}, and the truth, which only a demo knows:"
    )
    named = [(f"  mean age, {each.of}", each) for each in found.means]
    named += [(f"  {found.difference.of}", found.difference), *((f"  aged {each.of}", each) for each in found.shares)]
    print_table(("", "answer", "interval", "truth"), [(name, *found.words(each)) for name, each in named])
    print(f"An interval misses the truth in about {100 - 100 * CONFIDENCE:.0f} of 100 surveys, perhaps in this one.")
    promise = str(found.certificate).partition("\n")[0]
    print(f"\nHow it works: a reader of {found.answer} sent {found.report} this time. Proved: {promise}.")
    print(f"\n{charts}\nNext, the same with files (their range is 18 to 90; the country is public):")
    print(*(f"  {command}" for command in commands), sep="\n")


def _as_json(found: Survey, file: Path | None, table: Path) -> dict[str, Any]:
    return {
        "version": 2,
        "question": found.question,
        "people": found.people,
        "epsilon": found.epsilon,
        "page": None if file is None else str(file),
        "table": str(table),
        "mechanism": repr(found.mechanism),
        "confidence": CONFIDENCE,
        "promised": found.promised,
        "shares": [asdict(each) for each in found.shares],
        "means": [asdict(each) for each in found.means],
        "difference": asdict(found.difference),
        "certificate": {
            "holds": found.certificate.holds,
            "epsilon_upper": str(found.certificate.epsilon_upper),
        },
    }
