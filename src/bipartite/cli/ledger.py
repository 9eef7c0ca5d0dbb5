"""``bipartite ledger``: show a ledger, export its debits for an auditor, check that it adds up, or back it up."""

from __future__ import annotations

import csv
import json
import sys
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING

from bipartite.cli.output import FINDING, OK, Progress, print_json, print_table
from bipartite.cli.program import Command
from bipartite.errors import MissingDataError, how_many
from bipartite.ledger import Debit, Ledger

if TYPE_CHECKING:
    import argparse

_EXAMPLES = """examples:
  bipartite ledger show spent.db                 people, periods, questions and what they promise
  bipartite ledger export spent.db > debits.csv  who was debited what, for which question, and when
  bipartite ledger export spent.db --json        the same, one JSON object per line
  bipartite ledger check spent.db                exit code 1 when anything does not add up
  bipartite ledger backup spent.db copy.db       a checked copy, for its owner alone, while others use the ledger

No command needs write access to the ledger. A copy does not know of debits made after it.
A ledger holds no private values, and no command shows a report.
"""
# In CSV as in JSON; empty if a debit is older than the mark.
_SPOKEN = {True: "true", False: "false", None: ""}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.epilog = _EXAMPLES
    actions = parser.add_subparsers(title="actions", required=True, metavar="ACTION", parser_class=Command)
    for name, help_text, run, what in (
        ("show", "people, periods, questions and what they promise", run_show, "one JSON object"),
        ("export", "every debit as CSV, for an auditor", run_export, "one JSON object per line"),
        ("check", "whether every balance is the sum of its debits", run_check, "one JSON object"),
    ):
        action = actions.add_parser(name, help=help_text, epilog=_EXAMPLES)
        action.add_argument("ledger", metavar="FILE", type=Path, help="the ledger")
        if name == "show":
            action.add_argument(
                "--person", metavar="NAME", help="what this person has spent; as stored, if names are keyed"
            )
        action.add_argument("--json", action="store_true", help=f"print {what} (schemas/ledger-{name}.json)")
        action.set_defaults(run=run)
    action = actions.add_parser("backup", help="a consistent copy of the ledger", epilog=_EXAMPLES)
    action.add_argument("ledger", metavar="FILE", type=Path, help="the ledger")
    action.add_argument("copy", metavar="COPY", type=Path, help="the new file")
    action.set_defaults(run=run_backup)


def run_show(options: argparse.Namespace) -> int:
    """Print an overview of a ledger."""
    with _opened(options.ledger) as ledger:
        held = ledger.summary()
        summary = {key: str(value) if "spent" in key else value for key, value in held.items()}
        questions = ledger.questions()
        person = None if options.person is None else ledger.balances(options.person)
        if options.json:
            specs = {sha256: json.loads(spec) for sha256, spec in ledger.specs().items()}
            described = {
                "budget": str(ledger.budget),
                "period": ledger.period,
                "names_are_keyed": ledger.names_are_keyed,
                **summary,
                "certificates": [
                    {
                        "question": each.question,
                        "period": each.period,
                        "on_change": each.on_change,
                        "epsilon_report": str(each.epsilon_report),
                        "epsilon_period": str(each.epsilon_period) if each.ldp_for_sequences else None,
                        "guarantee": each.guarantee,
                        "spec_sha256": each.spec_sha256,
                        "insecure": each.insecure,
                    }
                    for each in questions
                ],
                "specs": specs,
                "person": None if person is None else {period: str(spent) for period, spent in person.items()},
            }
            print_json(described)
            return OK
        keyed = ", names are keyed" if ledger.names_are_keyed else ""
        print(f"{options.ledger.name}: ε = {ledger.budget} per person and period ({ledger.period}){keyed}")
    people = "1 person" if held["people"] == 1 else f"{held['people']:,} people"
    print(f"{how_many(held['reports'], 'report')} of {people}; the most that anyone has spent:")
    print(f"  in one period  {summary['most_spent_in_a_period']}")
    print(f"  in all         {summary['most_spent_ever']}")
    if held["insecure_reports"]:
        print(_insecure(held["insecure_reports"]))
    for each in questions:
        print(each)
    if person:
        rows = [(period, f"{spent:f}") for period, spent in person.items()]
        print_table(("period", "spent"), [*rows, ("in all", f"{sum(person.values()):f}")])
    elif person is not None:
        hint = "; names are keyed: give the stored one" if keyed else ""
        print(f"{options.ledger.name} holds nothing under the name {options.person!r}{hint}.")
    return OK


def run_export(options: argparse.Namespace) -> int:
    """Print every debit."""
    columns = [each.name for each in fields(Debit)]
    with _opened(options.ledger) as ledger:
        total = ledger.summary()["reports"]
        writer = csv.writer(sys.stdout, lineterminator="\n")
        if not options.json:
            writer.writerow(columns)
        with Progress("debits", total) as progress:
            for debit in ledger.export():
                line = asdict(debit) | {"epsilon": f"{debit.epsilon:f}"}
                if options.json:
                    print_json(line)
                else:
                    writer.writerow((line | {"insecure": _SPOKEN[debit.insecure]}).values())
                progress.advance(1)
    return OK


def run_check(options: argparse.Namespace) -> int:
    """Check whether a ledger adds up."""
    with _opened(options.ledger) as ledger:
        found = ledger.check()
        summary = ledger.summary()
    reports, insecure = summary["reports"], summary["insecure_reports"]
    if options.json:
        print_json({"sound": not found, "reports": reports, "insecure_reports": insecure, "findings": found})
    elif found:
        print("\n".join(found))
    else:
        print(f"{options.ledger.name} adds up: {how_many(reports, 'report')}, every balance is the sum of its debits.")
    if insecure and not options.json:
        print(_insecure(insecure))
    return FINDING if found else OK


def run_backup(options: argparse.Namespace) -> int:
    """Copy a ledger."""
    with _opened(options.ledger) as ledger:
        ledger.backup(options.copy)
    with _opened(options.copy) as copy:
        reports = copy.summary()["reports"]
    held = how_many(reports, "report")
    print(f"{options.copy.name}: {held}, and everything adds up. It does not know of debits made from now on.")
    return OK


def _insecure(reports: int) -> str:
    return (
        f"{reports:,} of the reports are NOT PRIVATE: they were drawn from random words that someone may know (rng=)."
    )


def _opened(path: Path) -> Ledger:
    if not path.exists():
        raise MissingDataError(f"{path.name} not found; name the file that bp.Ledger was opened with.")
    return Ledger(path, read_only=True)
