"""``bipartite demo``: simulate a million people who answer three questions, and show how precise their reports are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.answers.explain import explain
from bipartite.cli.demo_page import page
from bipartite.cli.demo_questions import Question, ask
from bipartite.cli.demo_statistics import CONFIDENCE, as_json, rows, survey
from bipartite.cli.output import OK, Progress, announce, print_json, print_table
from bipartite.domains import Integers, Interval, Points
from bipartite.errors import DataFileError, InputError
from bipartite.files import write_atomically
from bipartite.locations import cities
from bipartite.mechanisms import BRR

if TYPE_CHECKING:
    import argparse

    from numpy.typing import NDArray

    from bipartite.cli.demo_questions import Outcome
    from bipartite.cli.demo_statistics import Survey
    from bipartite.domains import Domain

_AGES: Final = Integers(18, 90)
_INCOMES: Final = Interval(0, 200_000, points=401)
# With fewer people the measured figures are mostly noise.
_LEAST_PEOPLE: Final = 1_000
_MOST_PEOPLE: Final = 10**7
_ANSWERED: Final = 2e-5  # seconds per person, roughly
_PAGE: Final = "demo.html"
_EXAMPLES = """examples:
  bipartite demo                              write out/demo.html: open it in a browser
  bipartite demo --epsilon 3 --output /tmp    less privacy, better reports
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.epilog = _EXAMPLES
    parser.add_argument(
        "--people", metavar="N", type=int, default=1_000_000, help="the number of people (default: a million)"
    )
    parser.add_argument("--epsilon", metavar="E", default="1", help="the privacy budget of one report (default: 1)")
    parser.add_argument(
        "--output", metavar="DIR", type=Path, default=Path("out"), help=f"the folder to write {_PAGE} to (default: out)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object (schemas/demo.json)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Ask simulated people, show how precise their reports are, and write a page that explains it."""
    if not _LEAST_PEOPLE <= options.people <= _MOST_PEOPLE:
        least, most = f"{_LEAST_PEOPLE:,}", f"{_MOST_PEOPLE:,}"
        msg = f"Expected --people from {least} to {most}, got {options.people}; leave it out for a million."
        raise InputError(msg)
    try:
        options.output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        msg = f"{options.output} cannot be written to ({error.strerror}); choose another --output."
        raise DataFileError(msg) from None
    # A simulated population, from a statistical generator: these are not private values.
    generator = np.random.default_rng(2026)
    outcomes, surveys = [], []
    questions = _questions(options.epsilon)
    made_up = (_made_up_ages, _made_up_incomes, _made_up_cities)
    announce("this demo", _ANSWERED * options.people)
    with Progress("reports", 3 * len(questions) * options.people, patience=0) as progress:
        for question, make_up in zip(questions, made_up, strict=True):
            # One population at a time: ten million city names take a gigabyte.
            answers = make_up(generator, options.people)
            outcomes.append(ask(question, answers, progress))
            surveys.append(survey(outcomes[-1], answers, progress))
    explained = explain(options.epsilon, reports=len(outcomes))
    file = options.output / _PAGE
    write_atomically(file, page(outcomes, explained, options.people, surveys))
    if options.json:
        print_json(_as_json(outcomes, surveys, options.people, file))
    else:
        _show(outcomes, surveys, options.people, explained.epsilon, file)
    return OK


def _questions(epsilon: str) -> list[Question]:
    names, coordinates = cities()
    places = Points(coordinates, metric="haversine", labels=names)
    age, income, city = (_two_ways(domain, epsilon) for domain in (_AGES, _INCOMES, places))
    decades, steps = (18, 30, 40, 50, 60, 70, 80), tuple(range(0, 200_000, 25_000))
    return [
        Question("age", "How old are you?", *age, unit="years", answer=40, nearby=5, starts=decades),
        Question(
            "income",
            "How much do you earn in a year?",
            *income,
            unit="dollars",
            answer=42_000,
            nearby=10_000,
            starts=steps,
        ),
        Question(
            "city", "Which of these hundred cities do you like best?", *city, unit="km", answer="Paris", nearby=1_000
        ),
    ]


def _two_ways(domain: Domain, epsilon: str) -> tuple[BRR, BRR]:
    """BRR, and GRR, which is BRR with m = 1."""
    return BRR(domain, epsilon), BRR(domain, epsilon, m=1)


def _made_up_ages(generator: np.random.Generator, people: int) -> NDArray[np.int64]:
    return _AGES.low + np.floor(generator.beta(1.4, 2.0, size=people) * len(_AGES)).astype(np.int64)


def _made_up_incomes(generator: np.random.Generator, people: int) -> NDArray[np.float64]:
    return np.round(generator.beta(2.2, 7.0, size=people) * _INCOMES.high)


def _made_up_cities(generator: np.random.Generator, people: int) -> NDArray[np.str_]:
    # Larger cities, which come first, are more popular.
    names = np.array(cities().names)
    weights = 1 / np.sqrt(np.arange(1, len(names) + 1))
    return generator.choice(names, size=people, p=weights / weights.sum())


def _show(outcomes: list[Outcome], surveys: list[Survey], people: int, epsilon: str, file: Path) -> None:
    seconds = sum(outcome.seconds for outcome in outcomes)
    print(
        f"{people:,} simulated people answered {len(outcomes)} questions at ε = {epsilon} each, in {seconds:.2f} s.\n"
    )
    print("Error of one report (exact for a uniformly random answer | measured on these people):")
    for outcome in outcomes:
        question = outcome.question
        print(f"\n{question.words}")
        digits = 2 if outcome.worths[2].expected_error < 100 else 0  # noqa: PLR2004 (significant digits)
        print_table(
            ("", f"error in {question.unit}", f"within {question.nearby:,} {question.unit}"),
            [
                (
                    f"  {worth.name}",
                    f"{worth.expected_error:,.{digits}f} | {worth.measured_error:,.{digits}f}",
                    f"{worth.within:.1%} | {worth.measured_within:.1%}",
                )
                for worth in outcome.worths
            ],
        )
    print(f"\nEstimates from all reports of a separate survey of these people, at ε = {epsilon} each:\n")
    print_table(("", "estimate", f"{CONFIDENCE:.0%} interval", "true"), rows(surveys))
    print()
    for outcome in outcomes:
        print(f"{outcome.question.name}: {outcome.certificate}")
    print(f"\nFrom a question to a report, in pictures: {file}")


def _as_json(outcomes: list[Outcome], surveys: list[Survey], people: int, file: Path) -> dict[str, Any]:
    return {
        "people": people,
        "seconds": sum(outcome.seconds for outcome in outcomes),
        "page": str(file),
        "questions": [
            {
                "name": outcome.question.name,
                "unit": outcome.question.unit,
                "nearby": outcome.question.nearby,
                "answers": [vars(worth) for worth in outcome.worths],
                "certificate": {
                    "holds": outcome.certificate.holds,
                    "epsilon_upper": str(outcome.certificate.epsilon_upper),
                },
                "statistics": as_json(done),
            }
            for outcome, done in zip(outcomes, surveys, strict=True)
        ],
    }
