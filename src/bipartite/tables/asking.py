"""How a release is asked for, and what is refused before a row is read."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bipartite.errors import InputError, Problems
from bipartite.tables.formats import EXTENSIONS, STDIO, Format, local
from bipartite.tables.outputs import check_free

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bipartite.tables.formats import File
    from bipartite.tables.plan import Plan


@dataclass(frozen=True, slots=True)
class Settings:
    """How a release is made; nothing here changes what a report says."""

    overwrite: bool = False
    reject: Path | None = None
    input_format: str | None = None
    output_format: str | None = None
    delimiter: str | None = None
    """What stands between the cells of CSV that is read, where its name does not tell."""
    encoding: str | None = None
    """How CSV that is read writes letters: ``utf-8`` (the default), ``utf-16`` or ``latin-1``."""
    compression: str | None = None
    """How Parquet compresses its columns; None for DuckDB's own choice. That of other files is told by their name."""
    threads: int | None = None
    memory: str | None = None
    """What DuckDB may hold, such as ``"1GB"``, half to read and half to write.

    None lets it read with what it needs, a group of rows of the input for each thread (at most 80 % of the machine's
    memory, its own bound), and write with 1 GiB, on at most four threads. The interpreter, NumPy, the compiled draw
    and a few batches of rows of about 32 MB each come on top.
    """
    partition_by: tuple[str, ...] = ()
    """Public columns: the target is then a folder, with a folder of Parquet files for each of their values."""
    specs: Path | None = None
    """Where the specs go when text is written to standard output."""


def check_release(
    source: str, target: str, files: Sequence[File], written: Format, plan: Plan, chosen: Settings
) -> None:
    """Refuse a release that could not be made, or that would harm what is there."""
    _check_streams(source, target)
    _check_names(plan)
    _check_targets(source, target, files, chosen)
    _check_output(target, written, plan, chosen)


def _check_streams(source: str, target: str) -> None:
    for stands_for, stream, what in ((source, sys.stdin, "standard input"), (target, sys.stdout, "standard output")):
        if stands_for == STDIO and stream is None:
            msg = f"{what} is closed; name a file instead."
            raise InputError(msg)


def _check_names(plan: Plan) -> None:
    """DuckDB takes Age and age for one name, and would give one of them twice."""
    for names in (plan.columns, plan.inputs()):
        found: dict[str, str] = {}
        for name in names:
            other = found.setdefault(name.lower(), name)
            if other != name:
                msg = f"Columns {other!r} and {name!r} differ in case alone, and DuckDB takes them for one; rename one."
                raise InputError(msg)


def _check_targets(source: str, target: str, files: Sequence[File], chosen: Settings) -> None:
    if target.partition("://")[0].lower() in EXTENSIONS:
        msg = f"{target} is not on this machine; name a file here, and copy it when it is complete."
        raise InputError(msg)
    problems = Problems()
    folder = Path(local(source)).resolve()
    targets = [Path(target)] if target != STDIO else []
    targets += [path for path in (chosen.reject, chosen.specs) if path is not None]
    read = {file.resolve() for file in files if isinstance(file, Path)}
    for path in targets:
        if path.resolve() in read:
            problems.add(f"{path} is read and written; name another output.")
            continue
        if path.resolve().parent == folder:
            problems.add(f"{path} would be inside the folder that is read; write it elsewhere.")
            continue
        try:
            in_parts = bool(chosen.partition_by) and path == Path(target)
            check_free(path, overwrite=chosen.overwrite, folder=in_parts, released=path != chosen.reject)
        except InputError as error:
            problems.add(str(error))
    if len({path.resolve() for path in targets}) < len(targets):
        problems.add("Expected different files for the reports, the specs and the rejected rows.")
    if chosen.reject is not None and chosen.reject.suffix.lower() != ".csv":
        problems.add(f"Expected reject= as FILE.csv, got {chosen.reject}; rejected rows are written as CSV.")
    problems.raise_if_any(InputError)


def _check_output(target: str, written: Format, plan: Plan, chosen: Settings) -> None:
    problems = Problems()
    if chosen.compression is not None and written.kind != "parquet":
        problems.add(
            "compression= belongs to Parquet; that of other files is told by their name, such as reports.csv.gz."
        )
    if chosen.threads is not None and chosen.threads < 1:
        problems.add(f"Expected threads= as a whole number of at least 1, got {chosen.threads}.")
    columns = chosen.partition_by
    if columns and target == STDIO:
        problems.add("Expected a folder to write parts to, got standard output; name one.")
    elif columns and written.kind != "parquet":
        problems.add(f"partition_by= writes Parquet, got {written.kind}; use output_format='parquet'.")
    for each in columns:
        if each not in plan.public():  # the name of a part tells it
            problems.add(f"Expected a public column of the plan in partition_by=, got {each!r}; name another.")
    if len(set(columns)) < len(columns):
        problems.add("A column is named twice in partition_by=; name each once.")
    problems.raise_if_any(InputError)
