"""``privatize_file``: a table in, its reports out, streamed, whole or not at all."""

from __future__ import annotations

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
from bipartite.tables.rejects import Rejects
from bipartite.tables.sources import Reading, Rows, open_files, open_stream
from bipartite.tables.workspace import private_folder
from bipartite.tables.writing import Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bipartite.tables.plan import Plan
    from bipartite.tables.returning import Style

    Progress: TypeAlias = Callable[[int, int | None], None]

# What DuckDB may hold while it writes, unless told. With half of it, wide rows ran out of room now and then.
_TO_WRITE: Final = 2**30
# Each thread that writes holds a group of rows: those of a machine of many cores would not fit, and the draw is not
# fast enough for more.
_MOST_WRITERS: Final = 4
# Batches that are drawn while those before them are written.
_AHEAD: Final = 2


@dataclass(frozen=True, slots=True)
class Released:
    """What one release did."""

    rows: int
    """Rows that were read."""
    rejected: int
    """Rows that were left out."""
    epsilon: str | None
    """What each row spent, an exact decimal; None where nothing is promised."""
    guarantee: str
    publishes: tuple[str, ...]
    insecure: bool
    """Whether the reports were drawn from words that someone may know: then they are not private."""

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
    """Release a table: read ``source``, write the reports of its rows to ``target``, in the same order.

    ``source`` is a file, a folder, a pattern such as ``part-*.parquet``, an address such as ``s3://…``, or ``-`` for
    standard input; ``target`` a file or ``-``.
    Formats are told by the names: CSV, TSV, JSON lines, Parquet, Arrow; compressed with ``.gz`` or ``.zst``.
    ``progress`` is called with the rows done and, where it is known, how many there are.

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
        except (duckdb.Error, RuntimeError) as error:
            raise unreadable(error) from None
        style: Style = "text" if written.kind in {"csv", "tsv"} else "compact"
        release = Release(plan, rng, style=style)
        announce((rows.rows or 0) * len(plan.private()))
        schema = plan.schema(rows.schema, plan.ways_back(rows.schema, style))
        about = described(plan).drawn_from(insecure=release.insecure, rejecting=rejecting)
        rejects = None
        if chosen.reject is not None:
            reject_part = stack.enter_context(part_of(chosen.reject, private=True))
            rejects = Rejects(reject_part, rows)
            stack.callback(rejects.close)
        part = Path(STDIO) if target == STDIO else stack.enter_context(part_of(Path(target)))
        drawn = _Drawn(rows, release, rejects, progress)
        drawn.write(Writer(writer, part, written, chosen, about.to_json(), plan, rows), schema)
        if chosen.partition_by and not release.rows:
            msg = (
                "There are no rows, and without rows no part would carry the specs; "
                "release the table without partition_by=."
            )
            raise DataFileError(msg)
        if rejects is not None and chosen.reject is not None:
            # Before the release: what was left out of it must be known once it is there.
            rejects.close()
            publish(reject_part, chosen.reject, None, overwrite=chosen.overwrite)
        # Where all rows were rejected nothing is released, and nothing takes the name of a release.
        if not release.rejected or release.rows > release.rejected:
            _publish(part, target, about.to_json() if written.is_text else None, chosen)
    return Released(
        release.rows, release.rejected, about.epsilon_text, about.guarantee, about.publishes, about.insecure
    )


def _publish(part: Path, target: str, specs: str | None, chosen: Settings) -> None:
    """Give a finished release its name, its specs with it; what went to standard output has only those left."""
    if chosen.partition_by:
        publish_folder(part, Path(target), overwrite=chosen.overwrite)
    elif target != STDIO:
        publish(part, Path(target), specs, overwrite=chosen.overwrite)
    elif specs is not None and chosen.specs is not None:
        with part_of(chosen.specs) as held:
            held.write_text(specs + "\n", encoding="utf-8")
            publish(held, chosen.specs, None, overwrite=chosen.overwrite)


def _engine(stack: ExitStack, spill: Path, chosen: Settings) -> duckdb.DuckDBPyConnection:
    """One of the two engines: in one, threads that wait for the next batch to write could not read it meanwhile."""
    spill.mkdir(mode=0o700)
    writing = spill.name == "writing"
    own = _TO_WRITE if writing else None
    connection = connect(spill, own if chosen.memory is None else bytes_of(chosen.memory) // 2, chosen.threads)
    stack.callback(connection.close)
    if writing:
        connection.execute(f"SET threads = least(current_setting('threads'), {_MOST_WRITERS})")
    return connection


@dataclass(slots=True)
class _Drawn:
    """Batches drawn as a writer asks for them; what goes wrong is kept as it was, not as a writer says it."""

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

    def _watched(
        self, drawn: Iterator[pa.RecordBatch], schema: pa.Schema, refused: Callable[[], bool]
    ) -> Iterator[pa.RecordBatch]:
        """The batches for a writer, which would make a message of its own of whatever is raised here."""
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
        batches = self._batches() if self._rejects is None else _even(self._batches(), self._rows.at_once)
        drawn = ahead(batches, _AHEAD)
        reader = pa.RecordBatchReader.from_batches(schema, self._watched(drawn, schema, writer.refused))
        try:
            writer.write(reader)
        except BrokenPipeError:
            raise
        except (pa.ArrowException, duckdb.Error, RuntimeError, OSError) as error:
            # A RuntimeError is how DuckDB says that a signal came.
            if self._failure is None:
                raise unreadable(error, "the output", "written") from None
        finally:
            self._rows.stop()
            drawn.close()  # nobody reads from a connection that is about to be closed
        if self._failure is not None:
            # What readers and writers say may show a row; what this package says never does.
            failure, self._failure = self._failure, None
            raise failure if _is_ours(failure) else unreadable(failure) from None


def _even(batches: Iterator[pa.RecordBatch], size: int) -> Iterator[pa.RecordBatch]:
    """The same rows, so many at a time: a batch that is short of rows would tell where some were rejected."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(each.num_rows for each in waiting) < size:
            continue
        table = pa.Table.from_batches(waiting).combine_chunks()
        whole = table.num_rows // size * size
        yield from table.slice(0, whole).to_batches(max_chunksize=size)
        waiting = table.slice(whole).to_batches()
    if waiting:
        yield from pa.Table.from_batches(waiting).combine_chunks().to_batches()


def _is_ours(failure: BaseException) -> bool:
    return isinstance(failure, BipartiteError) or not isinstance(failure, Exception)
