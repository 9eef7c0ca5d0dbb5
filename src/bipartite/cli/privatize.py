"""``bipartite privatize``: turn a table into the reports of its rows."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from bipartite.cli.arguments import add_seed, source_of
from bipartite.cli.output import BAD_DATA, NUMBER, OK, Progress, print_json
from bipartite.errors import InputError, how_many
from bipartite.mechanisms.spec import load_spec
from bipartite.tables import Column, Plan, privatize_file
from bipartite.tables.domain_files import read_text
from bipartite.tables.envelopes import REPORT
from bipartite.tables.extras import spare_pandas
from bipartite.tables.formats import KINDS, LINES, STDIO, TEXT, format_of
from bipartite.tables.metadata import DO_NOT_AVERAGE
from bipartite.texts import escaped

if TYPE_CHECKING:
    import argparse

    from bipartite.tables import Released

_EXAMPLES = """Formats follow from the names: .csv .tsv .jsonl .parquet .arrow, also compressed as .gz or .zst.
A file is written beside its place and renamed when it is complete: a failed run releases nothing. Text comes with its
specs in OUT.bipartite.json, other files contain them. Standard output cannot be taken back.
With --spec, IN and OUT are one value a line without a header, and tuples are JSON arrays. Values are no arguments
because other users of the machine can see those.

examples:
  bipartite privatize people.csv reports.parquet --plan plan.toml
  echo 40 | bipartite privatize - - --spec age.json
"""


class PrintedRelease(TypedDict):
    """What ``--json`` prints."""

    rows: int
    rejected: int
    released: int
    epsilon: str | None
    """The ε that each row spent; null if the reports are not private."""
    insecure: bool
    guarantee: str
    publishes: list[str]
    """What the release reveals that no ε covers."""
    next: str


_CANNOT_BE_TAKEN_BACK = "rows already written to standard output are released and have spent their ε."


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.epilog = _EXAMPLES
    parser.add_argument("source", metavar="IN", help="a file, a folder, a quoted pattern such as 'part-*.csv', or -")
    parser.add_argument("target", metavar="OUT", help="a file, or - for standard output")
    how = parser.add_mutually_exclusive_group(required=True)
    how.add_argument("--plan", metavar="PLAN.toml", type=Path, help="how each column of a table is released")
    how.add_argument("--spec", metavar="SPEC.json", type=Path, help="the mechanism of values that come one a line")
    parser.add_argument("--outside", choices=["clip"], help="with --spec: clip values to the range, not refuse them")
    parser.add_argument(
        "--overwrite", action="store_true", help="replace OUT; a second release of the same rows adds its ε"
    )
    parser.add_argument(
        "--reject",
        metavar="FILE.csv",
        type=Path,
        help="skip bad rows and write them to FILE, which is as private as the input",
    )
    kinds = ", ".join(KINDS)
    parser.add_argument("--from", dest="input_format", metavar="FORMAT", choices=KINDS, help=f"of IN: {kinds}")
    parser.add_argument("--to", dest="output_format", metavar="FORMAT", choices=KINDS, help="of OUT, one of the same")
    parser.add_argument("--delimiter", metavar="MARK", help="the delimiter of CSV in IN, such as ';'")
    parser.add_argument("--encoding", metavar="NAME", help="the encoding of CSV in IN, such as latin-1")
    parser.add_argument(
        "--specs", metavar="FILE.json", type=Path, help="where to write the specs if text goes to standard output"
    )
    add_seed(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object (schemas/privatize.json)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Release a table."""
    _check(options)
    plan = _plan_of(options)
    if options.own_process:
        spare_pandas()
    rng: object = source_of(options)
    _warn(options, plan)
    named = ("overwrite", "reject", "specs", "input_format", "output_format", "delimiter", "encoding")
    given = {name: getattr(options, name) for name in named}
    if options.spec is not None:
        given |= {"input_format": LINES, "output_format": _format_of_reports(options)}
        rng = None if rng is None else {REPORT: rng}  # the words of mechanism.privatize
    with Progress("rows", None, rate=True) as rows:
        try:
            done = privatize_file(options.source, options.target, plan, rng=rng, progress=rows.reach, **given)
        except BaseException as error:
            if options.target == STDIO and rows.done and not isinstance(error, BrokenPipeError):
                print(f"bipartite: {_CANNOT_BE_TAKEN_BACK}", file=sys.stderr)
            raise
    _conclude(options, plan, done)
    return BAD_DATA if done.rows and done.rows == done.rejected else OK


def _plan_of(options: argparse.Namespace) -> Plan:
    """The plan, or that of the one column which a spec describes."""
    if options.spec is None:
        return Plan.read(options.plan)
    mechanism = load_spec(read_text(options.spec))
    parts = tuple(f"part {at}" for at, _ in enumerate(mechanism.domain.parts, start=1))
    return Plan({REPORT: Column(mechanism, parts or ("value",), outside=options.outside or "error")})


def _format_of_reports(options: argparse.Namespace) -> str:
    """One report a line, unless --to or the name of the output asks for a table."""
    try:
        kind = format_of(options.target, options.output_format, "output_format").kind
    except InputError:
        return LINES
    return LINES if kind in {"csv", "tsv"} and options.output_format is None else kind


def _check(options: argparse.Namespace) -> None:
    if options.plan is not None and options.outside is not None:
        raise InputError("--outside belongs to --spec; a plan says it for each column. Leave it out.")
    if options.spec is not None and NUMBER.fullmatch(options.source) and not Path(options.source).exists():
        spec = shlex.quote(str(options.spec))  # the value is not repeated
        raise InputError(
            f"IN is a file, or -: values are no arguments; run: echo VALUE | bipartite privatize - - --spec {spec}"
        )
    if options.spec is not None and (options.input_format is not None or options.specs is not None):
        raise InputError("--from and --specs belong to --plan; with --spec, IN is one value a line. Leave them out.")
    if options.json and options.target == STDIO:
        raise InputError("--json and the reports cannot both go to standard output; write one of them to a file.")
    if options.specs is not None and options.target != STDIO:
        raise InputError(
            "--specs is for standard output; a file contains its specs, or has them beside it. Leave it out."
        )


def _warn(options: argparse.Namespace, plan: Plan) -> None:
    """Print what a person should know before rows are released."""
    if options.overwrite:
        print(
            "bipartite: --overwrite: if these rows were released before, this release adds "
            f"ε = {plan.epsilon_decimal:f} to what each of them has spent; deleting old reports does not undo that.",
            file=sys.stderr,
        )
        for link in filter(os.path.islink, filter(None, (options.target, options.reject, options.specs))):
            what = escaped(f"{link} is a link to {Path(link).readlink()}")
            print(
                f"bipartite: --overwrite: {what}, which stays as it is; the link is replaced by a file.",
                file=sys.stderr,
            )
    bare = options.plan is not None and options.specs is None and (options.output_format or "csv") in TEXT
    if bare and options.target == STDIO:
        print(
            "bipartite: these reports come without specs, which an estimate needs; save those with --specs.",
            file=sys.stderr,
        )
    if options.reject is not None:
        print(
            f"bipartite: --reject: {options.reject} will hold private rows unchanged; protect it like the input. "
            "Skipping rows publishes that they were bad.",
            file=sys.stderr,
        )


def _conclude(options: argparse.Namespace, plan: Plan, done: Released) -> None:
    if options.json:
        printed = PrintedRelease(
            rows=done.rows,
            rejected=done.rejected,
            released=done.rows - done.rejected,
            epsilon=done.epsilon,
            insecure=done.insecure,
            guarantee=done.guarantee,
            publishes=list(done.publishes),
            next=_next(options, plan),
        )
        print_json(printed)
        return
    if done.rows == done.rejected:
        why = f"all {done.rows:,} were rejected" if done.rows else "the input has none"
        print(f"bipartite: no row was released: {why}.", file=sys.stderr)
        return
    rejected = f", {done.rejected:,} rejected" if options.reject is not None else ""
    spent = done.guarantee if done.insecure else f"each spent ε = {done.epsilon}"
    rows = how_many(done.rows - done.rejected, "row")
    print(f"bipartite: {rows} released{rejected}; {spent}.", file=sys.stderr)
    print(f"bipartite: {_next(options, plan)}", file=sys.stderr)


def _next(options: argparse.Namespace, plan: Plan) -> str:
    """What to do next with the reports."""
    if options.target != STDIO:
        target = shlex.quote(options.target)
        positions = [name for name, column in plan.private().items() if column.is_position]
        which = f" --column {shlex.quote(positions[0])}" if len(positions) > 1 else ""
        heat = f", or for a map: bipartite estimate {target}{which} --map heat.html" if positions else ""
        spec = f" --spec {shlex.quote(str(options.spec))}" if options.spec is not None else ""
        return f"{DO_NOT_AVERAGE}; run: bipartite estimate {target}{spec}{heat}"
    specs = shlex.quote(str(options.spec or options.specs or "SPECS.json"))
    return f"{DO_NOT_AVERAGE}; run: bipartite estimate FILE --spec {specs}"
