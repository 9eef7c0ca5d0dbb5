"""``privatize_file``: a table in, its reports out, streamed and published atomically."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from os.path import realpath  # a loop of links is no error to it
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from bipartite.errors import DataFileError, InputError, Problems
from bipartite.files import flush, naming, part_of
from bipartite.lottery import announce
from bipartite.tables.columns import plain
from bipartite.tables.drawing import Release
from bipartite.tables.extras import pa, pa_csv, unreadable, without_lines
from bipartite.tables.formats import LINES, STDIO, Asked, format_of, inputs, local, side_file
from bipartite.tables.metadata import METADATA_KEY, described
from bipartite.tables.sources import Wanted, open_rows
from bipartite.tables.streams import ahead, equal_pieces
from bipartite.tables.writing import write_batches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from bipartite.tables.formats import Format
    from bipartite.tables.plan import Plan
    from bipartite.tables.reports import Style
    from bipartite.tables.sources import Part, Rows

    Progress: TypeAlias = Callable[[int, int | None], None]

_AHEAD: Final = 2
"""Parts that are read while earlier ones are drawn, and drawn while earlier ones are written."""


@dataclass(frozen=True, slots=True)
class Released:
    """The result of one release."""

    rows: int
    """The number of rows read."""
    rejected: int
    """The number of rows left out."""
    epsilon: str | None
    """The ε that each row spent, an exact decimal; None if there is no guarantee."""
    guarantee: str
    publishes: tuple[str, ...]
    insecure: bool
    """Whether the reports were drawn from random words that someone may know, and so are not private."""

    def __repr__(self) -> str:
        spent = "NOT PRIVATE" if self.epsilon is None else f"each spent ε = {self.epsilon}"
        return f"<Released: {self.rows - self.rejected:,} of {self.rows:,} rows, {spent}>"


@without_lines
def privatize_file(  # noqa: PLR0913 (none of the options changes a report)
    source: str | Path,
    target: str | Path,
    plan: Plan,
    *,
    rng: object = None,
    overwrite: bool = False,
    reject: Path | None = None,
    specs: Path | None = None,
    input_format: str | None = None,
    output_format: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    progress: Progress | None = None,
) -> Released:
    """Release a table: read ``source`` and write the reports of its rows to ``target``, in the same order.

    Parameters
    ----------
    source
        A file, a folder, a pattern such as ``part-*.parquet``, or ``-`` for standard input.
    target
        A file, or ``-`` for standard output, where text is written as its rows come.
    rng
        None for the secure source; see :func:`~bipartite.privatize_frame`.
    overwrite
        Replace the target. A second release of the same rows adds its ε.
    reject
        A CSV file for rows that cannot be reported, which are left out; it is as private as the input.
    specs
        Where the specs go when text is written to standard output.
    input_format, output_format
        ``csv``, ``tsv``, ``jsonl``, ``parquet`` or ``arrow``; by default the extensions tell, and standard input and
        output are CSV. Files of text and Arrow are compressed if their names end with ``.gz`` or ``.zst``. ``lines`` is
        one value a line without a header, for a plan of one column: tuples are JSON arrays, and no specs come beside.
    delimiter, encoding
        Those of a CSV input, if they are not those of its name and UTF-8.
    progress
        Called with the number of rows done and, if known, the total.

    Guarantee
    ---------
    That of :class:`~bipartite.Plan`, once: a second release of the same rows spends its ε again.
    """
    target = local(str(target))
    written = format_of(target, output_format, "output_format")
    read, files = inputs(str(source), Asked(input_format, delimiter, encoding))
    _check_streams(str(source), target)
    _check_columns(plan, read, written)
    _check_targets(str(source), target, files, reject, specs, overwrite=overwrite)
    as_json = plan.public() if read.kind == written.kind == "jsonl" else []
    with ExitStack() as stack:
        try:
            rows = open_rows(files, read, Wanted(plan, reject is not None, as_json))
        except (pa.ArrowException, OSError) as error:
            raise unreadable(error) from None
        style: Style = "text" if written.kind in {"csv", "tsv", LINES} else "compact"
        release = Release(plan, rng, style=style, lines=read.kind == LINES)
        announce((rows.count or 0) * len(plan.private()))
        about = described(plan).drawn_from(insecure=release.insecure, rejecting=reject is not None)
        schema = plan.schema(rows.schema, style)
        schema = schema.with_metadata({METADATA_KEY: about.to_json()})
        rejects = None
        if reject is not None:
            reject_part = stack.enter_context(part_of(reject))
            rejects = Rejects(reject_part, rows.raw)
            stack.callback(rejects.close)
        part = None if target == STDIO else stack.enter_context(part_of(Path(target)))
        drawn = _drawn(rows, release, rejects, progress)
        # Text on standard output is written as it comes: no layout tells how the input was cut.
        pieces = drawn if part is None and written.is_text else equal_pieces(drawn, encoded=written.kind == "parquet")
        stages = ahead(pieces, _AHEAD)
        complete = False
        try:
            with closing(stages), _explaining_writes():
                write_batches((batch.cast(schema) for batch in stages), schema, part, written, as_json)
            complete = True
        finally:
            # Before the release: what was left out must be known once it exists. Standard output cannot be taken back.
            if rejects is not None and reject is not None and (complete or (part is None and release.rows)):
                rejects.close()
                publish(reject_part, reject, None, overwrite=overwrite, private=True)
        # If all rows were rejected, nothing is released.
        if not release.rejected or release.rows > release.rejected:
            beside = about.to_json() if written.is_text and written.kind != LINES else None
            if part is not None:
                publish(part, Path(target), beside, overwrite=overwrite)
            elif beside is not None and specs is not None:
                with part_of(specs) as held:
                    held.write_text(beside + "\n", encoding="utf-8")
                    publish(held, specs, None, overwrite=overwrite)
    return Released(
        release.rows, release.rejected, about.epsilon_text, about.guarantee, about.publishes, about.insecure
    )


@contextmanager
def _explaining_writes() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except (pa.ArrowException, OSError) as error:
        raise unreadable(error, "the output", "written", "check the disk.") from None


def _drawn(
    rows: Rows, release: Release, rejects: Rejects | None, progress: Progress | None
) -> Iterator[pa.RecordBatch]:
    """The reports of each part; errors of readers become ours, which never show a row."""
    parts = ahead(rows.parts, _AHEAD)
    ragged = 0  # lines that are not rows
    try:
        for part in parts:
            first = release.rows - ragged
            if not release.rows:
                rows.check_unchanged()
            if rejects is None:
                yield release.privatize(part.batch, part.unreadable)
            else:
                reports, reasons = release.privatize_or_reject(part.batch, part.unreadable)
                rejects.add(part, reasons, first)
                release.leave_out(len(part.ragged))
                ragged += len(part.ragged)
                yield reports
            if progress is not None:
                progress(release.rows, rows.count)
        rows.check_unchanged()
    except (pa.ArrowException, OSError, DataFileError) as error:
        rows.check_unchanged()  # a file that was replaced or is gone says that, whatever its reader made of it
        raise error if isinstance(error, DataFileError) else unreadable(error) from None
    finally:
        parts.close()


def _check_streams(source: str, target: str) -> None:
    for stands_for, stream, what in ((source, sys.stdin, "standard input"), (target, sys.stdout, "standard output")):
        if stands_for == STDIO and stream is None:
            raise InputError(f"{what} is closed; name a file instead.")


def _check_columns(plan: Plan, read: Format, written: Format) -> None:
    """Refuse names that differ only in case, which many readers take for one, and lines of more than one column."""
    for names in (plan.columns, plan.inputs()):
        found: dict[str, str] = {}
        for name in names:
            other = found.setdefault(name.lower(), name)
            if other != name:
                raise InputError(
                    f"Columns {other!r} and {name!r} differ only in case, which DuckDB and Spark ignore; rename one."
                )
    if LINES in {read.kind, written.kind} and len(plan.columns) > 1:
        raise InputError("Lines hold the values of one column; write a table, or use a plan of one column.")


def _check_targets(
    source: str, target: str, files: Sequence[Path], reject: Path | None, specs: Path | None, *, overwrite: bool
) -> None:
    """Refuse a release that could not be written, or that would overwrite existing files."""
    problems = Problems()
    folder = realpath(local(source))
    targets = [Path(target)] if target != STDIO else []
    targets += [path for path in (reject, specs) if path is not None]
    read = {realpath(file) for file in files}
    for path in targets:
        if realpath(path) in read:
            problems.add(f"{path} is both input and output; name another output.")
            continue
        if str(Path(realpath(path)).parent) == folder:
            problems.add(f"{path} would be inside the folder that is read; write it elsewhere.")
            continue
        try:
            check_free(path, overwrite=overwrite, released=path != reject)
        except InputError as error:
            problems.add(str(error))
    if len({realpath(path) for path in targets}) < len(targets):
        problems.add("Expected different files for the reports, the specs and the rejected rows.")
    if reject is not None and reject.suffix.lower() != ".csv":
        problems.add(f"Expected reject= as FILE.csv, got {reject}; rejected rows are written as CSV.")
    problems.raise_if_any(InputError)


# --- Rows that could not be reported, unchanged: a file that is as private as the input.


ROW: Final = "bipartite_row"
REASON: Final = "bipartite_reason"
LINE: Final = "bipartite_line"
"""A line of text that could not be split into cells."""


class Rejects:
    """Writes rejected rows as CSV, each with its number and the reason; an empty file if there are none."""

    def __init__(self, path: Path, names: list[str]) -> None:
        self._file = path.open("wb")
        self._raw = len(names)
        self._schema = pa.schema([(ROW, pa.int64()), *((name, pa.string()) for name in (REASON, *names, LINE))])
        self._writer: Any = None

    def add(self, part: Part, reasons: dict[int, str], first_row: int) -> None:
        """Add rows of a part, by their number in it from 0, and its ragged lines."""
        if reasons and part.raw is not None:
            rows = sorted(reasons)
            try:
                found = [column.cast(plain(column.type)).take(pa.array(rows)) for column in part.raw.columns]
                columns = [column.cast(pa.string()) for column in found]
            except (pa.ArrowNotImplementedError, pa.ArrowInvalid):  # bytes that are no text
                raise InputError(
                    "Expected columns that CSV can hold with reject=, got nested ones or bytes; leave reject= out."
                ) from None
            numbers = [first_row + row + 1 for row in rows]
            self._write([numbers, [reasons[row] for row in rows], *columns, [None] * len(rows)])
        if part.ragged:
            empty = [None] * len(part.ragged)
            why = [f"line {line} has another number of cells than the first line" for line, _ in part.ragged]
            self._write([empty, why, *[empty] * self._raw, [text for _, text in part.ragged]])

    def _write(self, columns: list[Any]) -> None:
        if self._writer is None:
            self._writer = pa_csv.CSVWriter(self._file, self._schema)
        arrays = [pa.array(column, type=kind) for column, kind in zip(columns, self._schema.types, strict=True)]
        self._writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=self._schema))

    def close(self) -> None:
        """Finish the file."""
        if self._writer is not None:
            self._writer.close()
        self._file.close()


# --- Atomic publication of releases (see :mod:`bipartite.files`) with their specs.
#
# Formats that cannot carry specs get a side file, ``NAME.bipartite.json``. It is published before the data: a crash in
# between leaves specs without data, never data without specs. When an older release is replaced, its data are removed
# first, so that they are never next to the specs of another release.


def check_free(path: Path, *, overwrite: bool, released: bool = True) -> None:
    """Refuse to overwrite a file unless asked to, or to write where that is impossible."""
    exists = os.path.lexists(path)  # includes a dangling link
    if exists and not (path.is_file() or (path.is_symlink() and not path.exists())):
        raise InputError(f"{path} is not a file; name a file that may be written.")
    if exists and not overwrite:
        raise _exists_error(path, released=released)
    if not path.parent.is_dir():
        raise InputError(f"{path.parent} is not a folder; create it first.")


def _exists_error(path: Path, *, released: bool = True) -> InputError:
    more = ": a second release of the same rows adds its ε to what they have spent" if released else ""
    return InputError(f"{path} already exists; name another output, or use overwrite=True{more}.")


def publish(part: Path, path: Path, specs: str | None, *, overwrite: bool, private: bool = False) -> None:
    """Move a complete file to its final name, after its specs; a ``private`` one stays its owner's alone.

    Everything that may fail is done while an older release still exists; then one run at a time renames files in a
    folder, and each change is on disk before the next.
    """
    flush(part)
    side = side_file(path)
    with ExitStack() as stack:
        held = None
        if specs is not None:
            held = stack.enter_context(part_of(side))
            held.write_text(specs + "\n", encoding="utf-8")
            flush(held)
        stack.enter_context(_lock(path.parent))
        check_free(path, overwrite=overwrite)  # another process may have been faster
        if overwrite:
            path.unlink(missing_ok=True)
            if held is None:
                side.unlink(missing_ok=True)  # of an older release in another format
            flush(path.parent)
        if held is not None:
            with naming(held):
                held.replace(side)
            flush(path.parent)
        with nullcontext() if private else naming(part):
            if overwrite:
                part.replace(path)
            else:
                _move_to_free(part, path)
        flush(path.parent)


@contextmanager
def _lock(folder: Path) -> Iterator[None]:
    """Wait until no other run of this package renames files in a folder: two would mix their data and specs."""
    try:
        import fcntl  # noqa: PLC0415 (not on Windows)
    except ImportError:
        yield
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(opened, fcntl.LOCK_EX)
        yield
    finally:
        os.close(opened)


def _move_to_free(part: Path, path: Path) -> None:
    """Give a file its final name unless that is taken: a hard link fails if the name exists."""
    try:
        os.link(part, path)
    except FileExistsError:
        raise _exists_error(path) from None
    except OSError:
        part.replace(path)  # a file system without hard links
