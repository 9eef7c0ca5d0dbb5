"""``bipartite explain``: ε in words and odds, for the people whose answers are collected."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Final, TypedDict

from bipartite.answers.explain import ASSUMPTIONS, Crowd, explain, percent
from bipartite.cli.output import OK, print_json, print_table, printed

if TYPE_CHECKING:
    import argparse

_WIDTH: Final = 96
EXAMPLES: Final = """Every number is an upper bound on what a report can reveal, rounded up.

examples:
  bipartite explain 1
  bipartite explain 0.5 --reports 30      the same question answered on thirty days
"""


class PrintedBelief(TypedDict):
    """How sure someone may be of something about you, before and after your report."""

    before: float
    after: float


class PrintedReports(TypedDict):
    """What several reports about the same answer add up to."""

    reports: int
    epsilon: str
    certainty: float
    crowd: Crowd


class PrintedExplain(TypedDict):
    """ε in odds and words."""

    epsilon: str
    odds: float
    certainty: float
    crowd: Crowd
    beliefs: list[PrintedBelief]
    reports: list[PrintedReports]
    sentences: list[str]
    assumptions: list[str]


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add = parser.add_argument
    add("epsilon", metavar="EPSILON", help="the privacy budget of one report, a decimal such as 1 or 0.5")
    add("--reports", metavar="N", type=int, help="also show what N reports about the same answer add up to")
    add("--json", action="store_true", help="print one JSON object (schemas/explain.json)")


def run(options: argparse.Namespace) -> int:
    """Explain ε."""
    explained = explain(options.epsilon, options.reports)
    if options.json:
        sentences = (explained.guess, explained.warning, explained.growth, explained.coin)
        described = printed(
            PrintedExplain,
            explained,
            odds=float(explained.odds),
            certainty=float(explained.certainty),
            beliefs=[PrintedBelief(before=float(each.before), after=float(each.after)) for each in explained.beliefs],
            reports=[printed(PrintedReports, each, certainty=float(each.certainty)) for each in explained.reports],
            sentences=[words for words in sentences if words is not None],
            assumptions=ASSUMPTIONS,
        )
        print_json(described)
        return OK
    title = f"ε = {explained.epsilon}: what one report can tell about you"
    for words in (title, explained.guess, explained.warning, explained.growth):
        if words is not None:
            _say(words)
    print_table(
        ("how sure of something about you", *(percent(belief.before) for belief in explained.beliefs)),
        [("  after your report, at most", *(percent(belief.after) for belief in explained.beliefs))],
    )
    print()
    _say(explained.coin)
    print_table(
        ("reports about the same answer", "ε together", "guessed right, at most"),
        [
            (f"  {each.reports:,}", each.epsilon, f"{each.crowd.by_report:,} of {each.crowd.people:,}")
            for each in explained.reports
        ],
    )
    print("\nHow far this goes:")
    for sentence in ASSUMPTIONS:
        print(textwrap.fill(sentence, _WIDTH, initial_indent="- ", subsequent_indent="  "))
    return OK


def _say(words: str) -> None:
    """Print a paragraph."""
    print(textwrap.fill(words, _WIDTH) + "\n")
