"""``bipartite privatize``: turn a table into the reports of its rows."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypedDict

from bipartite.cli.output import BAD_DATA, NUMBER, OK, Progress, note, print_json, printed
from bipartite.errors import InputError, how_many
from bipartite.lottery import insecure_seed
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

    from bipartite.lottery import InsecureSeed
    from bipartite.tables import Released

EXAMPLES: Final = """Formats follow from the names: .csv .tsv .jsonl .parquet .arrow, also compressed as .gz or .zst.
A file is written beside its place and renamed when it is complete: a failed run releases nothing. With --plan, text
comes with its specs in OUT.bipartite.json, other files contain them. Standard output cannot be taken back.
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


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add, kinds = parser.add_argument, ", ".join(KINDS)
    add("source", metavar="IN", help="a file, a folder, a quoted pattern such as 'part-*.csv', or -")
    add("target", metavar="OUT", help="a file, or - for standard output")
    how = parser.add_mutually_exclusive_group(required=True)
    how.add_argument("--plan", metavar="PLAN.toml", type=Path, help="how each column of a table is released")
    how.add_argument("--spec", metavar="SPEC.json", type=Path, help="the mechanism of values that come one a line")
    add("--outside", choices=["clip"], help="with --spec: clip values to the range, not refuse them")
    add("--overwrite", action="store_true", help="replace OUT; a second release of the same rows adds its ε")
    skipped = "skip bad rows and write them to FILE, which is as private as the input"
    add("--reject", metavar="FILE.csv", type=Path, help=skipped)
    add("--from", dest="input_format", metavar="FORMAT", choices=KINDS, help=f"of IN: {kinds}")
    add("--to", dest="output_format", metavar="FORMAT", choices=KINDS, help="of OUT, one of the same")
    add("--delimiter", metavar="MARK", help="the delimiter of CSV in IN, such as ';'")
    add("--encoding", metavar="NAME", help="the encoding of CSV in IN, such as latin-1")
    add("--specs", metavar="FILE.json", type=Path, help="where to write the specs if text goes to standard output")
    add("--insecure-seed", metavar="N", type=int, help="repeatable reports, for experiments: NOT private")
    add("--json", action="store_true", help="print one JSON object (schemas/privatize.json)")


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
                note("rows already written to standard output are released and have spent their ε.")
            raise
    _conclude(options, done, _next(options, plan))
    return BAD_DATA if done.rows and done.rows == done.rejected else OK


def source_of(options: argparse.Namespace) -> InsecureSeed | None:
    """The random words that reports are drawn from, with a warning if someone may know them."""
    if options.insecure_seed is None:
        return None
    source = insecure_seed(options.insecure_seed)
    note("--insecure-seed: these reports are NOT private; whoever knows the seed can undo them.")
    return source


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
    for path, ending, other in ((options.plan, ".json", "--spec"), (options.spec, ".toml", "--plan")):
        if path is not None and path.suffix.lower() == ending:
            raise InputError(f"Plans are TOML and specs are JSON; give {path} as {other}.")
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
        note(
            "--overwrite: if these rows were released before, this release adds "
            f"ε = {plan.epsilon_decimal:f} to what each of them has spent; deleting old reports does not undo that."
        )
        for link in filter(os.path.islink, filter(None, (options.target, options.reject, options.specs))):
            what = escaped(f"{link} is a link to {Path(link).readlink()}")
            note(f"--overwrite: {what}, which stays as it is; the link is replaced by a file.")
    bare = options.plan is not None and options.specs is None and (options.output_format or "csv") in TEXT
    if bare and options.target == STDIO:
        note("these reports come without specs, which an estimate needs; save those with --specs.")
    if options.reject is not None:
        note(
            f"--reject: {options.reject} will hold private rows unchanged; protect it like the input. "
            "Skipping rows publishes that they were bad."
        )


def _conclude(options: argparse.Namespace, done: Released, then: str) -> None:
    released = done.rows - done.rejected
    if options.json:
        print_json(printed(PrintedRelease, done, released=released, next=then))
    elif not released:
        why = f"all {done.rows:,} were rejected" if done.rows else "the input has none"
        note(f"no row was released: {why}.")
    else:
        rejected = f", {done.rejected:,} rejected" if options.reject is not None else ""
        spent = done.guarantee if done.insecure else f"each spent ε = {done.epsilon}"
        note(f"{how_many(released, 'row')} released{rejected}; {spent}.")
        note(then)


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
