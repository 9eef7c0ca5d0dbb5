"""The settings of a release, and the checks before a row is read."""

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
    """Options of a release; none of them changes a report."""

    overwrite: bool = False
    reject: Path | None = None
    input_format: str | None = None
    output_format: str | None = None
    delimiter: str | None = None
    """The delimiter of a CSV input, if its name does not tell."""
    encoding: str | None = None
    """The encoding of a CSV input: ``utf-8`` (the default), ``utf-16`` or ``latin-1``."""
    compression: str | None = None
    """The compression of Parquet columns; None for DuckDB's default. Other files are compressed by their extension."""
    threads: int | None = None
    memory: str | None = None
    """The memory that DuckDB may use, such as ``"1GB"``, half to read and half to write.

    None lets it read with what it needs, one row group of the input per thread (at most 80 % of the machine's memory,
    its own limit), and write with 1 GiB on at most four threads. The interpreter, NumPy, the compiled draw and a few
    batches of rows of 16 to 32 MB each come on top.
    """
    partition_by: tuple[str, ...] = ()
    """Public columns: the target becomes a folder with a subfolder of Parquet files for each of their values."""
    specs: Path | None = None
    """Where the specs go when text is written to standard output."""


def check_release(
    source: str, target: str, files: Sequence[File], written: Format, plan: Plan, chosen: Settings
) -> None:
    """Refuse a release that could not be written, or that would overwrite existing files."""
    _check_streams(source, target)
    _check_names(plan)
    _check_targets(source, target, files, chosen)
    _check_output(target, written, plan, chosen)


def _check_streams(source: str, target: str) -> None:
    for stands_for, stream, what in ((source, sys.stdin, "standard input"), (target, sys.stdout, "standard output")):
        if stands_for == STDIO and stream is None:
            raise InputError(f"{what} is closed; name a file instead.")


def _check_names(plan: Plan) -> None:
    """Refuse names that differ only in case: DuckDB treats Age and age as the same column."""
    for names in (plan.columns, plan.inputs()):
        found: dict[str, str] = {}
        for name in names:
            other = found.setdefault(name.lower(), name)
            if other != name:
                raise InputError(
                    f"Columns {other!r} and {name!r} differ only in case, which DuckDB ignores; rename one."
                )


def _check_targets(source: str, target: str, files: Sequence[File], chosen: Settings) -> None:
    if target.partition("://")[0].lower() in EXTENSIONS:
        raise InputError(f"{target} is not on this machine; write to a local file, and upload it when it is complete.")
    problems = Problems()
    folder = Path(local(source)).resolve()
    targets = [Path(target)] if target != STDIO else []
    targets += [path for path in (chosen.reject, chosen.specs) if path is not None]
    read = {file.resolve() for file in files if isinstance(file, Path)}
    for path in targets:
        if path.resolve() in read:
            problems.add(f"{path} is both input and output; name another output.")
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
            "compression= applies to Parquet; other files are compressed by their extension, such as reports.csv.gz."
        )
    if chosen.threads is not None and chosen.threads < 1:
        problems.add(f"Expected threads= as a whole number of at least 1, got {chosen.threads}.")
    columns = chosen.partition_by
    if columns and target == STDIO:
        problems.add("Expected a folder to write parts to, got standard output; name one.")
    elif columns and written.kind != "parquet":
        problems.add(f"partition_by= writes Parquet, got {written.kind}; use output_format='parquet'.")
    for each in columns:
        if each not in plan.public():  # the folder name reveals it
            problems.add(f"Expected a public column of the plan in partition_by=, got {each!r}; name another.")
    if len(set(columns)) < len(columns):
        problems.add("A column is named twice in partition_by=; name each once.")
    problems.raise_if_any(InputError)
