"""``bipartite plan``: a first plan for a table, whether a plan is complete, and what it promises."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bipartite.cli.output import OK, print_json, print_table
from bipartite.errors import InputError
from bipartite.files import write_whole
from bipartite.mechanisms.catalogue import entry_of
from bipartite.tables import Plan
from bipartite.tables.formats import Asked
from bipartite.tables.suggesting import LEAK, first_plan
from bipartite.verification import verify

if TYPE_CHECKING:
    import argparse

_EXAMPLES = """examples:
  bipartite plan new people.csv > plan.toml     names and types only: what is private shapes nothing
  bipartite plan check plan.toml                what is left to fill in, or wrong; all of it at once
  bipartite plan show plan.toml                 ε of a row, what each column promises, what is published beside it

A plan says for every column of a table what it may become: [columns.age] with a domain, a mechanism and an epsilon, or
public = true. Columns that it does not name are dropped.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Say what this command takes."""
    parser.epilog = _EXAMPLES
    parser.add_argument("action", choices=["new", "check", "show"], help="write a first plan, check one, or show one")
    parser.add_argument("file", metavar="FILE", help="new: a table, as privatize reads it, in a file; else a plan")
    parser.add_argument("--output", metavar="PLAN.toml", type=Path, help="new: where to write (default: stdout)")
    parser.add_argument("--from", dest="input_format", metavar="FORMAT", help="new: csv, tsv, jsonl, parquet or arrow")
    parser.add_argument("--delimiter", metavar="MARK", help="new: between the cells of CSV, such as ';'")
    parser.add_argument("--encoding", metavar="NAME", help="new: of CSV: utf-8 (default), utf-16 or latin-1")
    parser.add_argument("--header", action="store_true", help="new: the first line holds names, whatever it looks like")
    parser.add_argument("--json", action="store_true", help="check, show: print one JSON object (schemas/plan.json)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write, check or show a plan."""
    if options.action == "new":
        return _new(options)
    for name in ("output", "input_format", "delimiter", "encoding", "header"):
        if getattr(options, name):
            msg = f"{name}= belongs to plan new; leave it out."
            raise InputError(msg)
    plan = Plan.read(options.file)
    if options.json:
        print_json(as_json(plan))
    elif options.action == "check":
        print(f"{options.file} is complete: {plan.guarantee}.")
    else:
        _show(plan)
    return OK


def _new(options: argparse.Namespace) -> int:
    if options.json:
        msg = "plan new writes TOML; leave out --json."
        raise InputError(msg)
    asked = Asked(options.input_format, options.delimiter, options.encoding)
    written = first_plan(options.file, asked, header=options.header)
    if options.output is None:
        print(written, end="")
    elif options.output.exists():
        msg = f"{options.output} is there already; name another file, or remove it."
        raise InputError(msg)
    else:
        write_whole(options.output, written)
    print(f"bipartite: {LEAK}", file=sys.stderr)
    return OK


def as_json(plan: Plan) -> dict[str, Any]:
    """A plan as JSON values."""
    return {
        "epsilon": f"{plan.epsilon_decimal:f}",
        "guarantee": plan.guarantee,
        "publishes": list(plan.publishes),
        "public": plan.public(),
        "columns": [
            {
                "name": name,
                "from": list(plan.inputs_of(name)),
                "mechanism": entry_of(type(mechanism)).name,
                "epsilon": f"{mechanism.epsilon_decimal:f}",
                "guarantee": mechanism.guarantee,
                "holds": verify(mechanism).holds,
                "outputs": len(mechanism.outputs),
                "spec_sha256": verify(mechanism).spec_sha256,
            }
            for name, mechanism in plan.mechanisms().items()
        ],
    }


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
    print("\nPublished beside it, covered by no ε:")
    for each in plan.publishes:
        print(f"  {each}")
