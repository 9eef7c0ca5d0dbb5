"""``bipartite ledger``: show a ledger, export its debits for an auditor, check that it adds up, or back it up."""

from __future__ import annotations

import csv
import json
import sys
from dataclasses import asdict, fields
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypedDict

from bipartite.cli.output import FINDING, OK, Progress, print_json, print_table, printed
from bipartite.cli.program import Command
from bipartite.errors import MissingDataError, how_many
from bipartite.ledger import Debit, Ledger
from bipartite.ledger.serving import OnChange
from bipartite.postgres import is_url

if TYPE_CHECKING:
    import argparse

EXAMPLES: Final = """A ledger is begun and debited in Python: bp.Ledger("spent.db", budget=1).report(…).
No command needs write access to the ledger. It holds no private values, and no command shows a report.
A copy does not know of debits made after it.
The password of a URL belongs in PGPASSWORD or ~/.pgpass: a command line is seen by all users of a machine.

examples:
  bipartite ledger show spent.db
  bipartite ledger export spent.db > debits.csv
"""


class PrintedCertificate(TypedDict):
    """What all reports to a question about one person that were drawn in one period guarantee."""

    question: str
    period: str
    on_change: OnChange
    epsilon_report: Decimal
    """The ε of one report, as debited."""
    epsilon_period: Decimal | None
    """The ε of all reports drawn in the period together; null where no ε covers them."""
    guarantee: str
    spec_sha256: str
    insecure: bool
    """Whether some were drawn from words that someone may know (rng=), so that no ε is claimed."""


class PrintedLedger(TypedDict):
    """What ``ledger show`` prints."""

    budget: Decimal
    """The ε of each person in each period."""
    period: str
    """How time is cut into periods, in UTC."""
    names_are_keyed: bool
    """Whether people are stored under keyed hashes of their names."""
    people: int
    periods: int
    questions: int
    reports: int
    insecure_reports: int
    """How many of the reports were drawn from words that someone may know (rng=), and are not private."""
    most_spent_in_a_period: Decimal
    most_spent_ever: Decimal
    certificates: list[PrintedCertificate]
    specs: dict[str, dict[str, Any]]
    """Every spec, by its SHA-256."""
    person: dict[str, Decimal] | None
    """With --person: what the person has spent in each period."""


class PrintedCheck(TypedDict):
    """What ``ledger check`` prints."""

    sound: bool
    reports: int
    insecure_reports: int
    findings: list[str]
    """What does not add up, in words."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    actions = parser.add_subparsers(title="actions", required=True, metavar="ACTION", parser_class=Command)
    for name, help_text, run, what in (
        ("show", "people, periods, questions and what they promise", run_show, "one JSON object"),
        ("export", "every debit as CSV, for an auditor", run_export, "one JSON object per line"),
        ("check", "whether every balance is the sum of its debits", run_check, "one JSON object"),
        ("backup", "a consistent copy of the ledger", run_backup, None),
    ):
        action = actions.add_parser(name, help=help_text, epilog=EXAMPLES)
        add = action.add_argument
        add("ledger", metavar="FILE", help="the ledger; or its URL, postgresql://user@host/database")
        if name == "show":
            add("--person", metavar="NAME", help="what this person has spent; as stored, if names are keyed")
        if what is None:
            add("copy", metavar="COPY", help="the new file")
        else:
            add("--json", action="store_true", help=f"print {what} (schemas/ledger-{name}.json)")
        action.set_defaults(run=run)


def run_show(options: argparse.Namespace) -> int:
    """Print an overview of a ledger."""
    with _opened(options.ledger) as ledger:
        held, questions = ledger.summary(), ledger.questions()
        person = None if options.person is None else ledger.balances(options.person)
        if options.json:
            certificates = [printed(PrintedCertificate, each) for each in questions]
            specs = {sha256: json.loads(spec) for sha256, spec in ledger.specs().items()}
            print_json(printed(PrintedLedger, ledger, **held, certificates=certificates, specs=specs, person=person))
            return OK
        keyed = ", names are keyed" if ledger.names_are_keyed else ""
        print(f"{ledger.name}: ε = {ledger.budget} per person and period ({ledger.period}){keyed}")
    people = "1 person" if held["people"] == 1 else f"{held['people']:,} people"
    print(f"{how_many(held['reports'], 'report')} of {people}; the most that anyone has spent:")
    print(f"  in one period  {held['most_spent_in_a_period']}")
    print(f"  in all         {held['most_spent_ever']}")
    _tell_insecure(held["insecure_reports"])
    for each in questions:
        print(each)
    if person:
        rows = [(period, f"{spent:f}") for period, spent in person.items()]
        print_table(("period", "spent"), [*rows, ("in all", f"{sum(person.values()):f}")])
    elif person is not None:
        hint = "; names are keyed: give the stored one" if keyed else ""
        print(f"{ledger.name} holds nothing under the name {options.person!r}{hint}.")
    return OK


def run_export(options: argparse.Namespace) -> int:
    """Print every debit."""
    writer = csv.DictWriter(sys.stdout, [each.name for each in fields(Debit)], lineterminator="\n")
    with _opened(options.ledger) as ledger, Progress("debits", ledger.summary()["reports"]) as progress:
        if not options.json:
            writer.writeheader()
        for debit in ledger.export():
            if options.json:
                print_json(debit)
            else:
                written = {"epsilon": f"{debit.epsilon:f}", "insecure": str(debit.insecure).lower()}
                writer.writerow(asdict(debit) | written)
            progress.advance(1)
    return OK


def run_check(options: argparse.Namespace) -> int:
    """Check whether a ledger adds up."""
    with _opened(options.ledger) as ledger:
        found = ledger.check()
        summary = ledger.summary()
    reports, insecure = summary["reports"], summary["insecure_reports"]
    if options.json:
        print_json(PrintedCheck(sound=not found, reports=reports, insecure_reports=insecure, findings=found))
    elif found:
        print("\n".join(found))
    else:
        print(f"{ledger.name} adds up: {how_many(reports, 'report')}, every balance is the sum of its debits.")
    if not options.json:
        _tell_insecure(insecure)
    return FINDING if found else OK


def run_backup(options: argparse.Namespace) -> int:
    """Copy a ledger."""
    with _opened(options.ledger) as ledger:
        ledger.backup(options.copy)
    with _opened(options.copy) as copy:
        held = how_many(copy.summary()["reports"], "report")
    print(f"{Path(options.copy).name}: {held}, and everything adds up. It does not know of debits made from now on.")
    return OK


def _tell_insecure(reports: int) -> None:
    if reports:
        why = "they were drawn from random words that someone may know (rng=)"
        print(f"{reports:,} of the reports are NOT PRIVATE: {why}.")


def _opened(path: str) -> Ledger:
    if not is_url(path) and not Path(path).exists():
        raise MissingDataError(f"{Path(path).name} not found; name the file that bp.Ledger was opened with.")
    return Ledger(path, read_only=True)
