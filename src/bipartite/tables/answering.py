"""From a released file to answers: it says itself what its reports were made with, and only counts leave DuckDB."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.errors import DataError, DataFileError, InputError, SpecError, shown
from bipartite.estimation import Counts, Estimates
from bipartite.estimation.estimating import from_evidence
from bipartite.estimation.evidence import Evidence
from bipartite.estimation.reports import indices_of
from bipartite.tables.engine import connect, paths, text
from bipartite.tables.engine import name as quoted
from bipartite.tables.extras import need
from bipartite.tables.formats import Format, format_of
from bipartite.tables.headers import header_of
from bipartite.tables.metadata import METADATA_KEY, Described
from bipartite.tables.outputs import side_file
from bipartite.tables.releasing import MEMORY
from bipartite.tables.spark_files import carried_in, parts_in
from bipartite.tables.workspace import private_folder

if TYPE_CHECKING:
    from collections.abc import Callable

    from bipartite.estimation import Estimate
    from bipartite.estimation.methods import Method
    from bipartite.mechanisms import Mechanism

_MOST_GROUPS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Answers:
    """What a released file says about the people in it."""

    about: Described
    by: str | None
    columns: dict[str, dict[str | None, Estimate]]
    """For each private column the estimate of each group, or of all rows under None."""
    unreported: dict[str, int]
    """For each private column how many rows have no report, and so are left out."""

    def estimates(self, column: str) -> Any:  # noqa: ANN401 (Estimate, or Estimates by group)
        """The estimate of a column, or one for each group."""
        found = self.columns[column]
        return found[None] if self.by is None else Estimates(found)


def carried_by(path: Path) -> Described | None:
    """The description that a file, or a folder of Spark, carries or has beside it; None where there is none."""
    if path.is_dir():
        return carried_in(path)
    try:
        written = format_of(str(path), None, "--from")
    except InputError:
        return None
    if not path.is_file():
        return None
    if written.is_text:
        side = side_file(path)
        return Described.from_json(side.read_bytes()) if side.is_file() else None
    return _embedded(path, written)


def _embedded(path: Path, written: Format) -> Described | None:
    pa = need("pyarrow")
    try:
        if written.kind == "parquet":
            metadata = need("pyarrow.parquet").read_metadata(path).metadata
        elif written.compression is not None:
            metadata = pa.ipc.open_stream(pa.input_stream(str(path), compression=written.compression)).schema.metadata
        else:
            metadata = pa.ipc.open_file(str(path)).schema.metadata
    except (pa.ArrowInvalid, OSError):
        msg = f"{path} cannot be read; it may be cut off, or of another kind than its name says."
        raise DataFileError(msg) from None
    held = (metadata or {}).get(METADATA_KEY)
    return None if held is None else Described.from_json(held)


def estimate_file(
    path: str | Path,
    *,
    by: str | None = None,
    columns: list[str] | None = None,
    method: Method = "auto",
    of_sample: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Answers:
    """What the people in a released file are like, with error bars: every private column, or those named.

    Parameters
    ----------
    path
        A file that ``bipartite privatize`` wrote. It carries its specs, or has them beside it.
    by
        A public column of groups: an estimate for each.
    columns
        The private columns to estimate; None for all.
    method, of_sample, progress
        As in :func:`bipartite.estimate`.
    """
    path = Path(path)
    if not path.exists():
        msg = f"{path} is not there"
        raise FileNotFoundError(msg)
    about = carried_by(path)
    if about is None:
        msg = f"{path} carries no specs and has none beside it ({side_file(path).name}); name them with --spec."
        raise SpecError(msg)
    wanted = list(about.mechanisms) if columns is None else columns
    _check(about, wanted, by)
    found: dict[str, dict[str | None, Estimate]] = {}
    unreported = {}
    with private_folder() as spill, connect(spill, MEMORY, None) as connection:
        table = _table(connection, path)
        for name in wanted:
            mechanism = about.mechanisms[name]
            counted, unreported[name] = _counted(connection, table, name, mechanism, by)
            found[name] = {}
            for label, counts in counted.items():
                evidence = Evidence.of_counts(counts.values)
                found[name][label] = from_evidence(mechanism, evidence, method, of_sample=of_sample, progress=progress)
    return Answers(about, by, found, unreported)


def _check(about: Described, wanted: list[str], by: str | None) -> None:
    unknown = [name for name in wanted if name not in about.mechanisms]
    if unknown:
        there = ", ".join(map(repr, about.mechanisms))
        msg = f"Expected a private column of the release, got {shown(unknown[0])}; it has {there}."
        raise InputError(msg)
    if by is not None and by not in about.public:
        there = ", ".join(map(repr, about.public)) or "none"
        msg = f"Expected a public column for the groups, got {by!r}; the release has {there}."
        raise InputError(msg)


def _table(connection: Any, path: Path) -> str:  # noqa: ANN401
    """The file in SQL; numbers of text files stay text, which is parsed once for each different report."""
    if path.is_dir():
        return f"read_parquet({paths(parts_in(path))})"
    written = format_of(str(path), None, "--from")
    files = paths([path])
    if written.kind == "parquet":
        return f"read_parquet({files})"
    if written.kind == "jsonl":
        return f"read_json({files}, format='newline_delimited')"
    if written.kind == "arrow":
        pa = need("pyarrow")
        source = pa.input_stream(str(path), compression=written.compression) if written.compression else str(path)
        table = (pa.ipc.open_stream if written.compression else pa.ipc.open_file)(source).read_all()
        connection.register("released", table)
        return "released"
    names = header_of(path, written)
    types = ", ".join(f"{text(each)}: 'VARCHAR'" for each in names)
    compression = "" if written.compression is None else f", compression={text(written.compression)}"
    return (
        f"read_csv({files}, auto_detect=false, header=true, delim={text(written.delimiter)}, quote='\"', escape='\"', "
        f"comment='', columns={{{types}}}{compression})"
    )


def _counted(
    connection: Any,  # noqa: ANN401
    table: str,
    name: str,
    mechanism: Mechanism,
    by: str | None,
) -> tuple[dict[str | None, Counts], int]:
    """(how often each report came, by group; how many rows have none)."""
    group = "NULL" if by is None else f"CAST({quoted(by)} AS VARCHAR)"
    query = f"SELECT {group}, {quoted(name)}, count(*) FROM {table} GROUP BY ALL ORDER BY ALL"
    try:
        rows = connection.execute(query).fetchall()
    except need("duckdb").Error:
        msg = f"column {name!r} cannot be read from the file; it may be cut off or edited: ask for it again."
        raise DataFileError(msg) from None
    unreported = sum(count for _, report, count in rows if report is None)
    reported = [row for row in rows if row[1] is not None]
    counted: dict[str | None, Counts] = {}
    if reported:
        indices = _indices(name, mechanism, [report for _, report, _ in reported])
        for (label, _, count), at in zip(reported, indices, strict=True):
            if label is None and by is not None:
                label = "(none)"  # noqa: PLW2901 (a row without a group)
            counts = counted.setdefault(label, Counts(mechanism))
            counts.values[at] += count
            counts.people += count
    if not counted:
        msg = f"column {name!r} has no reports, so nothing can be said about it."
        raise DataFileError(msg)
    if len(counted) > _MOST_GROUPS:
        msg = f"Expected at most {_MOST_GROUPS:,} groups, got {len(counted):,}; is {by!r} a column of groups?"
        raise InputError(msg)
    return counted, unreported


def _indices(name: str, mechanism: Mechanism, reports: list[Any]) -> list[int]:
    labels = mechanism.domain.labels
    try:
        if labels is None:
            values: Any = np.array([float(report) for report in reports])
        else:
            values = [report if isinstance(labels[0], str) else int(report) for report in reports]
        found: list[int] = indices_of(mechanism, values).tolist()
    except (ValueError, TypeError, DataError):
        msg = (
            f"column {name!r} holds something that its mechanism never reports; the file was edited, or its specs are "
            "those of another one: ask for both again."
        )
        raise DataFileError(msg) from None
    return found
