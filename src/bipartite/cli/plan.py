"""``bipartite plan``: write a first plan for a table, check a plan, or show what it promises."""

from __future__ import annotations

import tomllib
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Final, NotRequired, TypedDict

from bipartite.cli.output import OK, note, print_json, print_table, printed
from bipartite.cli.plan_questions import Questions, at_a_terminal
from bipartite.cli.program import refuse_given
from bipartite.errors import InputError
from bipartite.files import write_atomically
from bipartite.lottery import Epsilon
from bipartite.lottery.budgets import exact_sum
from bipartite.mechanisms import BRR
from bipartite.mechanisms.catalogue import entry_of
from bipartite.tables import Plan
from bipartite.tables.drafting import LEAK, first_plan
from bipartite.tables.formats import Asked
from bipartite.tables.purposes import CONFIDENCE, PURPOSES, STATISTICS, prospect
from bipartite.tables.reading import TODO
from bipartite.texts import escaped
from bipartite.verification import verify

if TYPE_CHECKING:
    import argparse

    from bipartite.tables.columns import Column
    from bipartite.tables.purposes import Prospect

_WHOLE = 100
_MUCH = 4  # of ε for one row
EXAMPLES: Final = """A plan says how every column of a table is released: [columns.age] with a domain, a mechanism and
an epsilon, or public = true. Columns that it does not name are dropped. `new` writes a first one from names,
declared types and your answers, never from values.

examples:
  bipartite plan new people.csv --output plan.toml
  bipartite plan check plan.toml --n 50000
"""


class PrintedPrecision(TypedDict):
    """Half-widths of intervals at 95 % confidence, if all values are equally common; null if there is no answer."""

    mean: float | None
    median: float | None
    tenth: float | None
    """Of the share of people in a tenth of the range."""
    share: float | None
    """Of the share of one value."""


PrintedColumn = TypedDict(  # two of its keys are words of Python
    "PrintedColumn",
    {
        "name": str,
        "from": list[str],
        "mechanism": str,
        "epsilon": Decimal,
        "guarantee": str,
        "holds": bool,
        "outputs": int | None,
        "spec_sha256": str,
        "for": str | None,
        "chosen": dict[str, str],
        "answers": list[str],
        "half_widths": PrintedPrecision | None,
        "note": str,
    },
)


class PrintedPlan(TypedDict):
    """What ``plan check`` and ``plan show`` print."""

    people: int | None
    """The number of people that was asked about."""
    epsilon: Decimal
    """The ε of a row, an exact decimal."""
    guarantee: str
    publishes: list[str]
    """What a release reveals that no ε covers."""
    sample: NotRequired[int]
    """How many of the private columns each row reports, where the plan draws them."""
    public: list[str]
    """The columns that are copied unchanged."""
    columns: list[PrintedColumn]


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add = parser.add_argument
    add("action", choices=["new", "check", "show"], help="write a first plan, check one, or show one")
    add("file", metavar="FILE", help="new: a table in any format that privatize reads; otherwise a plan")
    add("--output", metavar="PLAN.toml", type=Path, help="new: where to write (default: stdout)")
    add("--from", dest="input_format", metavar="FORMAT", help="new: csv, tsv, jsonl, parquet or arrow")
    add("--delimiter", metavar="MARK", help="new: the delimiter of CSV, such as ';'")
    add("--encoding", metavar="NAME", help="new: the encoding of CSV: utf-8 (default), utf-16 or latin-1")
    add("--header", action="store_true", help="new: the first line holds names even if it looks like values")
    purpose = f"new: what the columns are for (default: {STATISTICS}); the file may set it for each"
    add("--for", dest="purpose", choices=tuple(PURPOSES), help=purpose)
    add("--no-questions", action="store_true", help="new: write TODO instead of asking at a terminal")
    add("--n", metavar="N", type=int, help="check: how precise the answers from N people will be")
    add("--json", action="store_true", help="check, show: print one JSON object (schemas/plan.json)")


def run(options: argparse.Namespace) -> int:
    """Write, check or show a plan."""
    if options.action != "check":
        refuse_given(options, ("n",), "only plan check is about a number of people")
    if options.action == "new":
        refuse_given(options, ("json",), "plan new writes TOML")
        return _new(options)
    of_new = ("output", "input_format", "delimiter", "encoding", "header", "purpose", "no_questions")
    refuse_given(options, of_new, f"plan {options.action} reads a plan")
    if options.n is not None and options.n < 1:
        raise InputError(f"Expected --n of at least 1, got {options.n}.")
    plan = Plan.read(options.file)
    if options.action == "check" or options.json:
        asked = None if options.n is None else plan.asked(options.n)
        found = {name: prospect(mechanism, asked) for name, mechanism in plan.mechanisms().items()}
    if options.json:
        print_json(_printed(plan, found, options.n))
    elif options.action == "check":
        print(f"{escaped(options.file)} is complete: {plan.guarantee}.")
        _answers(plan, found, options.n)
    else:
        _show(plan)
    if plan.epsilon_decimal > _MUCH:
        note(_in_all(plan.epsilon_decimal))
    return OK


def _in_all(epsilon: Decimal) -> str:
    """The ε of one row, with a warning where that is much."""
    little = f"; above {_MUCH} its reports together hide little: use a smaller ε, or fewer columns"
    return f"a row spends ε = {epsilon:f} in all{little if epsilon > _MUCH else ''}."


def _answers(plan: Plan, found: dict[str, Prospect], people: int | None) -> None:
    """Print what each column will answer; with a number of people, how precisely."""
    by = {name: entry_of(type(mechanism)).name for name, mechanism in plan.mechanisms().items()}
    if people is None:
        for name, each in found.items():
            told = ", ".join(each.questions) or "single reports only, no statistics"
            if not each.questions and plan.private()[name].purpose is None:
                told += f'; for those write for = "{STATISTICS}"'
            print(f"  {escaped(name)}, by {by[name]}: {told}")
    else:
        sure = f"± at {CONFIDENCE:.0%} confidence, if all values are equally common"
        of_them = "" if plan.sample is None else f"of whom about {plan.asked(people):,} report each column, "
        print(f"Precision with {people:,} people, {of_them}{sure}:\n")
        rows = [
            (name, by[name], *(half(error, points=points) for error, points in each.errors()))
            for name, each in found.items()
        ]
        print_table(("column", "by", "mean", "median", "a tenth of the range", "one value"), rows)
    notes = [f"{escaped(name)}: {each.note}." for name, each in found.items() if each.note]
    notes += [f"{escaped(name)}: {_to_add(column)}" for name, column in plan.private().items() if column.chosen]
    if notes:
        print("", *notes, sep="\n")
    if people is None:
        print("\nHow precisely, before anything is spent: add --n N, the number of people")


def _to_add(column: Column) -> str:
    """What to write into a plan so that it keeps its meaning."""
    keys = ", ".join(
        f"m = {column.mechanism.m}" if key == "m" and isinstance(column.mechanism, BRR) else f'{key} = "{value}"'
        for key, value in column.chosen.items()
    )
    why = f'it follows from for = "{column.purpose}", and a later version of bipartite may choose another'
    return f"add {keys} to the plan: {why}."


def half(error: float | None, *, points: bool) -> str:
    """Half the width of an interval; for a share in percentage points."""
    if error is None:
        return "–"
    return f"± {_short(100 * error)} points" if points else f"± {_short(error)}"


def _short(number: float) -> str:
    return f"{number:,.0f}" if number >= _WHOLE else f"{number:.2g}"


def _new(options: argparse.Namespace) -> int:
    asked = Asked(options.input_format, options.delimiter, options.encoding)
    if options.output is not None and options.output.exists():
        raise InputError(f"{options.output} already exists; name another file, or remove it.")
    answers = Questions() if at_a_terminal() and not options.no_questions else None
    purpose = options.purpose or STATISTICS
    written = first_plan(options.file, asked, header=options.header, purpose=purpose, answers=answers)
    if options.output is None:
        print(written, end="")
    else:
        write_atomically(options.output, written)
    columns = tomllib.loads(written, parse_float=Decimal).get("columns", {}).values()
    epsilons = [each["epsilon"] for each in columns if "epsilon" in each]
    if epsilons and TODO not in epsilons:
        note(_in_all(exact_sum([Epsilon.of(each).value for each in epsilons])))
    todo = f'"{TODO}"' in written
    if todo:
        note(LEAK)
    note(f"next: bipartite plan check {options.output or 'PLAN.toml'}{'' if todo else ' --n N'}")
    return OK


def _printed(plan: Plan, found: dict[str, Prospect], people: int | None) -> PrintedPlan:
    columns = [
        printed(
            PrintedColumn,
            verify(column.mechanism),
            **{"name": name, "from": plan.inputs_of(name), "for": column.purpose},
            mechanism=entry_of(type(column.mechanism)).name,
            epsilon=column.mechanism.epsilon_decimal,
            outputs=None if column.mechanism.flat else len(column.mechanism.outputs),
            chosen=dict(column.chosen),
            answers=found[name].questions,
            half_widths=None if people is None else printed(PrintedPrecision, found[name]),
            note=found[name].note,
        )
        for name, column in plan.private().items()
    ]
    epsilon, public = plan.epsilon_decimal, plan.public()
    made = printed(PrintedPlan, plan, people=people, epsilon=epsilon, public=public, columns=columns)
    if plan.sample is None:
        del made["sample"]
    return made


def _show(plan: Plan) -> None:
    rows = [
        (
            name,
            f"{mechanism.epsilon_decimal:f}",
            entry_of(type(mechanism)).name,
            f"{len(mechanism.domain):,}",
            "holds" if verify(mechanism).holds else "DOES NOT HOLD",
        )
        for name, mechanism in plan.mechanisms().items()
    ]
    print_table(("column", "ε", "mechanism", "values", "ε-LDP of each report"), rows)
    print(f"\nA row spends ε = {plan.epsilon_decimal:f}: {plan.guarantee}.")
    print("A person in n rows, or a table released n times, spends n times as much.")
    print("\nPublished beside it, not covered by any ε:", *plan.publishes, sep="\n  ")
