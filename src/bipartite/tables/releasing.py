"""``privatize_file``: a table in, its reports out, streamed and published atomically."""

from __future__ import annotations

import itertools
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from bipartite.errors import BipartiteError, DataFileError
from bipartite.files import part_of
from bipartite.lottery import announce
from bipartite.tables.ahead import ahead
from bipartite.tables.asking import Settings, check_release
from bipartite.tables.complaints import unreadable, without_lines
from bipartite.tables.drawing import Release
from bipartite.tables.engine import bytes_of, connect
from bipartite.tables.extras import duckdb, pa
from bipartite.tables.formats import STDIO, Asked, format_of, inputs, local
from bipartite.tables.metadata import METADATA_KEY, described
from bipartite.tables.outputs import publish, publish_folder
from bipartite.tables.pieces import equal_pieces, row_group
from bipartite.tables.rejects import Rejects
from bipartite.tables.sources import Reading, Rows, open_files, open_stream
from bipartite.tables.workspace import private_folder
from bipartite.tables.writing import Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bipartite.tables.plan import Plan
    from bipartite.tables.returning import Style

    Progress: TypeAlias = Callable[[int, int | None], None]

# DuckDB's default memory for writing. With half of it, wide rows occasionally ran out of memory.
_TO_WRITE: Final = 2**30
# Each writing thread holds a row group: on a machine with many cores they would not fit, and the draw is not fast
# enough for more threads.
_MOST_WRITERS: Final = 4
# Batches that are drawn while earlier ones are written.
_AHEAD: Final = 2


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
def privatize_file(
    source: str | Path,
    target: str | Path,
    plan: Plan,
    *,
    rng: object = None,
    settings: Settings | None = None,
    progress: Progress | None = None,
) -> Released:
    """Release a table: read ``source`` and write the reports of its rows to ``target``, in the same order.

    ``source`` is a file, a folder, a pattern such as ``part-*.parquet``, an address such as ``s3://…``, or ``-`` for
    standard input; ``target`` is a file or ``-``. The extensions give the formats: CSV, TSV, JSON lines, Parquet,
    Arrow; compressed with ``.gz`` or ``.zst``. ``progress`` is called with the number of rows done and, if known, the
    total.

    Guarantee
    ---------
    That of :class:`~bipartite.Plan`, once: a second release of the same rows spends its ε again.
    """
    chosen = settings or Settings()
    target = local(str(target))
    written = format_of(target, chosen.output_format, "output_format")
    read, files = inputs(str(source), Asked(chosen.input_format, chosen.delimiter, chosen.encoding))
    check_release(str(source), target, files, written, plan, chosen)
    with ExitStack() as stack:
        spill = stack.enter_context(private_folder())
        reader, writer = (_engine(stack, spill / does, chosen) for does in ("reading", "writing"))
        rejecting = chosen.reject is not None
        reading = Reading(read, plan, raw=rejecting, keep_json=written.kind == "jsonl")
        try:
            if files:
                rows = open_files(reader, files, reading)
            else:
                rows = open_stream(reader, sys.stdin.buffer, reading, spill)
                if rows.copy is not None:
                    stack.enter_context(rows.copy)
        except (duckdb.Error, RuntimeError) as error:
            raise unreadable(error) from None
        style: Style = "text" if written.kind in {"csv", "tsv"} else "compact"
        release = Release(plan, rng, style=style)
        announce((rows.rows or 0) * len(plan.private()))
        schema = plan.schema(rows.schema, plan.ways_back(rows.schema, style))
        about = described(plan).drawn_from(insecure=release.insecure, rejecting=rejecting)
        rejects = None
        if chosen.reject is not None:
            reject_part = stack.enter_context(part_of(chosen.reject))
            rejects = Rejects(reject_part, rows)
            stack.callback(rejects.close)
        part = Path(STDIO)
        if target != STDIO:
            part = stack.enter_context(part_of(Path(target), folder=bool(chosen.partition_by)))
        drawn = _Drawing(rows, release, rejects, progress)
        drawn.write(Writer(writer, part, written, chosen, about.to_json(), plan, rows), schema)
        if chosen.partition_by and not release.rows:
            raise DataFileError(
                "There are no rows, so no part would carry the specs; release the table without partition_by=."
            )
        if rejects is not None and chosen.reject is not None:
            # Before the release: what was left out must be known once the release exists.
            rejects.close()
            publish(reject_part, chosen.reject, None, overwrite=chosen.overwrite, private=True)
        # If all rows were rejected, nothing is released.
        if not release.rejected or release.rows > release.rejected:
            _publish(part, target, about.to_json() if written.is_text else None, chosen)
    return Released(
        release.rows, release.rejected, about.epsilon_text, about.guarantee, about.publishes, about.insecure
    )


def _publish(part: Path, target: str, specs: str | None, chosen: Settings) -> None:
    """Publish a finished release with its specs; of one to standard output, only the specs."""
    if chosen.partition_by:
        publish_folder(part, Path(target), overwrite=chosen.overwrite)
    elif target != STDIO:
        publish(part, Path(target), specs, overwrite=chosen.overwrite)
    elif specs is not None and chosen.specs is not None:
        with part_of(chosen.specs) as held:
            held.write_text(specs + "\n", encoding="utf-8")
            publish(held, chosen.specs, None, overwrite=chosen.overwrite)


def _engine(stack: ExitStack, spill: Path, chosen: Settings) -> duckdb.DuckDBPyConnection:
    """One of two engines: in a single one, threads waiting for a batch to write would block those that read it."""
    spill.mkdir(mode=0o700)
    writing = spill.name == "writing"
    own = _TO_WRITE if writing else None
    connection = connect(spill, own if chosen.memory is None else bytes_of(chosen.memory) // 2, chosen.threads)
    stack.callback(connection.close)
    if writing:
        # Several threads would spread the rows of a part over its groups as they happen to run.
        most = 1 if chosen.partition_by else _MOST_WRITERS
        connection.execute(f"SET threads = least(current_setting('threads'), {most})")
    return connection


@dataclass(slots=True)
class _Drawing:
    """Draws batches as a writer requests them; keeps the original exception, which a writer would wrap."""

    _rows: Rows
    _release: Release
    _rejects: Rejects | None
    _progress: Progress | None
    _failure: BaseException | None = None

    def _batches(self) -> Iterator[pa.RecordBatch]:
        for batch, marks, raw in self._rows.parts():
            first = self._release.rows
            if self._rejects is None:
                yield self._release.privatize(batch, marks)
            else:
                reports, reasons = self._release.privatize_or_reject(batch, marks)
                self._rejects.add(raw, reasons, first)
                yield reports
            if self._progress is not None:
                self._progress(self._release.rows, self._rows.rows)
        if self._rejects is not None:
            self._release.leave_out(self._rejects.add_lines())

    def _watch(
        self, drawn: Iterator[pa.RecordBatch], schema: pa.Schema, refused: Callable[[], bool]
    ) -> Iterator[pa.RecordBatch]:
        """Yield the batches to a writer, and keep any exception, which the writer would replace by its own."""
        try:
            for batch in drawn:
                yield batch.cast(schema)
                if refused():
                    return
        except GeneratorExit:
            raise
        except BaseException as failure:
            self._failure = failure
            raise

    def write(self, writer: Writer, schema: pa.Schema) -> None:
        """Write all batches to a file."""
        schema = schema.with_metadata({METADATA_KEY: writer.about})
        drawn = ahead(equal_pieces(self._batches()), _AHEAD)
        pieces = self._watch(drawn, schema, writer.refused)
        try:
            first = list(itertools.islice(pieces, 1))
            reader = pa.RecordBatchReader.from_batches(schema, itertools.chain(first, pieces))
            writer.write(reader, row_group(first))
        except BrokenPipeError:
            raise
        except (pa.ArrowException, duckdb.Error, RuntimeError, OSError) as error:
            # DuckDB raises a RuntimeError when a signal arrives.
            if self._failure is None:
                raise unreadable(error, "the output", "written") from None
        except BaseException:
            if self._failure is None:  # otherwise it is raised below, in our words
                raise
        finally:
            self._rows.stop()
            drawn.close()  # stop reading before the connection is closed
        if self._failure is not None:
            # Messages of readers and writers may show a row; ours never do.
            failure, self._failure = self._failure, None
            raise failure if _is_ours(failure) else unreadable(failure) from None


def _is_ours(failure: BaseException) -> bool:
    return isinstance(failure, BipartiteError) or not isinstance(failure, Exception)
