"""``bipartite privatize``: turn a table into the reports of its rows."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from bipartite.cli.arguments import add_seed, source_of
from bipartite.cli.output import BAD_DATA, OK, Progress, print_json
from bipartite.errors import InputError
from bipartite.tables import Plan, privatize_file
from bipartite.tables.extras import spare_pandas
from bipartite.tables.formats import KINDS, STDIO, TEXT
from bipartite.tables.metadata import DO_NOT_AVERAGE
from bipartite.texts import escaped

if TYPE_CHECKING:
    import argparse

    from bipartite.tables import Released

_EXAMPLES = """examples:
  bipartite privatize people.csv reports.parquet --plan plan.toml
  bipartite privatize 'part-*.parquet' reports.parquet --plan plan.toml
  bipartite privatize people/ reports.parquet --plan plan.toml                  all files in a folder
  bipartite privatize people.csv reports.csv --plan plan.toml --delimiter ';' --encoding latin-1
  bipartite privatize people.csv.gz reports.csv.zst --plan plan.toml --reject rejected.csv
  zcat people.csv.gz | bipartite privatize - - --plan plan.toml --specs specs.json > reports.csv

Formats follow from the file names: .csv .tsv .jsonl .parquet .arrow, also compressed as .gz or .zst. Rows are streamed
in order, so a table may be larger than memory. The output is written to a temporary file next to it, which only its
owner may read (.NAME.bipartite-….part; the next run removes that of a killed one), and renamed when it is complete: a
failed run releases nothing. Standard output cannot be taken back: a failed run has released the rows that it wrote
there. The output contains its specs or, for text formats, comes with them as OUT.bipartite.json: `bipartite estimate
OUT` needs no more.
"""

_CANNOT_BE_TAKEN_BACK = "rows already written to standard output are released and have spent their ε."


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.epilog = _EXAMPLES
    parser.add_argument("source", metavar="IN", help="a file, a folder, a quoted pattern such as 'part-*.csv', or -")
    parser.add_argument("target", metavar="OUT", help="a file, or - for standard output")
    parser.add_argument("--plan", metavar="PLAN.toml", type=Path, required=True, help="how each column is released")
    parser.add_argument(
        "--overwrite", action="store_true", help="replace OUT; a second release of the same rows adds its ε"
    )
    parser.add_argument(
        "--reject",
        metavar="FILE.csv",
        type=Path,
        help="skip bad rows and write them to FILE, which is as private as the input",
    )
    files = parser.add_argument_group("files")
    files.add_argument("--from", dest="input_format", choices=KINDS, help="the format of IN (default: by its name)")
    files.add_argument("--to", dest="output_format", choices=KINDS, help="the format of OUT (default: by its name)")
    files.add_argument("--delimiter", metavar="MARK", help="the delimiter of CSV in IN, such as ';'")
    files.add_argument("--encoding", metavar="NAME", help="the encoding of CSV in IN, such as latin-1 (default: utf-8)")
    files.add_argument(
        "--specs", metavar="FILE.json", type=Path, help="where to write the specs if text goes to standard output"
    )
    running = parser.add_argument_group("running")
    add_seed(running)
    running.add_argument("--json", action="store_true", help="print one JSON object (schemas/privatize.json)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Release a table."""
    _check(options)
    plan = Plan.read(options.plan)
    if options.own_process:
        spare_pandas()
    rng = source_of(options)
    _warn(options, plan)
    named = ("overwrite", "reject", "specs", "input_format", "output_format", "delimiter", "encoding")
    given = {name: getattr(options, name) for name in named}
    with Progress("rows", None, rate=True) as rows:
        try:
            done = privatize_file(options.source, options.target, plan, rng=rng, progress=rows.reach, **given)
        except BaseException as error:
            if options.target == STDIO and rows.done and not isinstance(error, BrokenPipeError):
                print(f"bipartite: {_CANNOT_BE_TAKEN_BACK}", file=sys.stderr)
            raise
    _conclude(options, plan, done)
    return BAD_DATA if done.rows and done.rows == done.rejected else OK


def _check(options: argparse.Namespace) -> None:
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
    if options.target == STDIO and options.specs is None and (options.output_format or "csv") in TEXT:
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
        print_json(
            {
                "rows": done.rows,
                "rejected": done.rejected,
                "released": done.rows - done.rejected,
                "epsilon": done.epsilon,
                "insecure": done.insecure,
                "guarantee": done.guarantee,
                "publishes": list(done.publishes),
                "next": _next(options, plan),
            }
        )
        return
    if done.rows == done.rejected:
        why = f"all {done.rows:,} were rejected" if done.rows else "the input has none"
        print(f"bipartite: no row was released: {why}.", file=sys.stderr)
        return
    rejected = f", {done.rejected:,} rejected" if options.reject is not None else ""
    spent = done.guarantee if done.insecure else f"each spent ε = {done.epsilon}"
    print(f"bipartite: {done.rows - done.rejected:,} rows released{rejected}; {spent}.", file=sys.stderr)
    print(f"bipartite: {_next(options, plan)}", file=sys.stderr)


def _next(options: argparse.Namespace, plan: Plan) -> str:
    """What to do next with the reports."""
    if options.target != STDIO:
        target = shlex.quote(options.target)
        positions = [name for name, column in plan.private().items() if column.is_position]
        which = f" --column {shlex.quote(positions[0])}" if len(positions) > 1 else ""
        heat = f", or for a map: bipartite locations heat {target}{which} --output heat.html" if positions else ""
        return f"{DO_NOT_AVERAGE}; run: bipartite estimate {target}{heat}"
    specs = "SPECS.json" if options.specs is None else shlex.quote(str(options.specs))
    return f"{DO_NOT_AVERAGE}; run: bipartite estimate FILE --spec {specs}"
