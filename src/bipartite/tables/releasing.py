"""``privatize_file``: a table in, its reports out, streamed, whole or not at all."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bipartite.errors import BipartiteError, DataFileError, InputError, Problems
from bipartite.files import part_of
from bipartite.lottery import announce
from bipartite.tables.ahead import ahead
from bipartite.tables.complaints import unreadable, without_lines
from bipartite.tables.drawing import Release
from bipartite.tables.engine import bytes_of, connect, text
from bipartite.tables.engine import name as quoted
from bipartite.tables.extras import need
from bipartite.tables.formats import EXTENSIONS, STDIO, Asked, Format, format_of, inputs, local
from bipartite.tables.metadata import METADATA_KEY, described
from bipartite.tables.outputs import check_free, publish, publish_folder
from bipartite.tables.rejects import Rejects
from bipartite.tables.sources import Reading, Rows, open_files, open_stream, text_labels
from bipartite.tables.streams import NamedOutput
from bipartite.tables.workspace import private_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from bipartite.tables.formats import File
    from bipartite.tables.plan import Plan
    from bipartite.tables.returning import Style

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


@without_lines
def privatize_file(
    source: str | Path,
    target: str | Path,
    plan: Plan,
    *,
    rng: object = None,
    settings: Settings | None = None,
    progress: Callable[[int, int | None], None] | None = None,
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
    _check_streams(str(source), str(target))
    _check_names(plan)
    _check_targets(str(source), target, files, chosen)
    _check_output(target, written, plan, chosen)
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
        except (need("duckdb").Error, RuntimeError) as error:
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
        part = Path(STDIO) if str(target) == STDIO else stack.enter_context(part_of(Path(target)))
        drawn = _Drawn(rows, release, rejects, progress)
        drawn.write(_Writer(writer, part, written, chosen, about.to_json(), plan, rows), schema)
        if chosen.partition_by and release.rows == release.rejected:
            msg = (
                "There are no rows, and without rows no part would carry the specs; "
                "release the table without partition_by=."
            )
            raise DataFileError(msg)
        specs = about.to_json() if written.is_text else None
        if rejects is not None and chosen.reject is not None:
            # Before the release: what was left out of it must be known once it is there.
            rejects.close()
            publish(reject_part, chosen.reject, None, overwrite=chosen.overwrite)
        if chosen.partition_by:
            publish_folder(part, Path(target), overwrite=chosen.overwrite)
        elif str(target) != STDIO:
            publish(part, Path(target), specs, overwrite=chosen.overwrite)
        elif specs is not None and chosen.specs is not None:
            with part_of(chosen.specs) as held:
                held.write_text(specs + "\n", encoding="utf-8")
                publish(held, chosen.specs, None, overwrite=chosen.overwrite)
    return Released(
        release.rows, release.rejected, about.epsilon_text, about.guarantee, about.publishes, about.insecure
    )


def _engine(stack: ExitStack, spill: Path, chosen: Settings) -> Any:  # noqa: ANN401 (a DuckDB connection)
    """One of the two engines: in one, threads that wait for the next batch to write could not read it meanwhile."""
    spill.mkdir(mode=0o700)
    writing = spill.name == "writing"
    own = _TO_WRITE if writing else None
    connection = connect(spill, own if chosen.memory is None else bytes_of(chosen.memory) // 2, chosen.threads)
    stack.callback(connection.close)
    if writing:
        connection.execute(f"SET threads = least(current_setting('threads'), {_MOST_WRITERS})")
    return connection


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
            check_free(path, overwrite=chosen.overwrite, folder=in_parts)
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


class _Drawn:
    """Batches drawn as a writer asks for them; what goes wrong is kept as it was, not as a writer says it."""

    def __init__(
        self,
        rows: Rows,
        release: Release,
        rejects: Rejects | None,
        progress: Callable[[int, int | None], None] | None,
    ) -> None:
        self._rows = rows
        self._release = release
        self._rejects = rejects
        self._progress = progress
        self._failure: BaseException | None = None

    def _batches(self) -> Iterator[Any]:
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

    def _watched(self, drawn: Iterator[Any], schema: Any, refused: Callable[[], bool]) -> Iterator[Any]:  # noqa: ANN401
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

    def write(self, writer: _Writer, schema: Any) -> None:  # noqa: ANN401
        """Write all batches to a file."""
        pa = need("pyarrow")
        schema = schema.with_metadata({METADATA_KEY: writer.about})
        batches = self._batches() if self._rejects is None else _even(self._batches(), self._rows.at_once)
        drawn = ahead(batches, _AHEAD)
        reader = pa.RecordBatchReader.from_batches(schema, self._watched(drawn, schema, writer.refused))
        try:
            writer.write(reader)
        except BrokenPipeError:
            raise
        except (pa.ArrowException, need("duckdb").Error, RuntimeError, OSError) as error:
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


def _even(batches: Iterator[Any], size: int) -> Iterator[Any]:
    """The same rows, so many at a time: a batch that is short of rows would tell where some were rejected."""
    pa = need("pyarrow")
    waiting: list[Any] = []
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


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes Arrow batches to one file."""

    connection: Any
    part: Path
    written: Format
    chosen: Settings
    about: str
    plan: Plan
    rows: Rows
    outputs: list[NamedOutput] = field(default_factory=list)
    """What DuckDB writes to, once it does."""

    def refused(self) -> bool:
        """Whether no more can be written."""
        return any(each.refused for each in self.outputs)

    def write(self, reader: Any) -> None:  # noqa: ANN401
        """Write all batches, by DuckDB with its own defaults; it does not write Arrow, which Arrow does."""
        if self.written.kind == "arrow":
            self._write_arrow(reader)
            return
        self.connection.register("reports", reader)
        columns = ", ".join(self._selected(field) for field in reader.schema)
        reports = f"COPY (SELECT {columns} FROM reports)"
        if self.chosen.partition_by:
            by = ", ".join(map(quoted, self.chosen.partition_by))
            how = f"PARTITION_BY ({by}), WRITE_PARTITION_COLUMNS true, FILENAME_PATTERN 'part-{{i}}'"
            self.connection.execute(f"{reports} TO {text(str(self.part))} ({self._options()}, {how})")
            return
        with ExitStack() as stack:
            stream = sys.stdout.buffer if str(self.part) == STDIO else stack.enter_context(self._file())
            output = stack.enter_context(NamedOutput(stream))
            self.outputs.append(output)
            self.connection.execute(f"{reports} TO {text(str(output.path))} ({self._options()}, USE_TMP_FILE false)")

    def _selected(self, field: Any) -> str:  # noqa: ANN401
        """A column of the reports; labels as an enumeration, whose dictionary Parquet takes as it is."""
        column = quoted(field.name)
        if field.name in self.rows.json:
            return f"CAST({column} AS JSON) AS {column}"
        mechanism = self.plan.mechanisms().get(field.name)
        labels = () if mechanism is None else text_labels(mechanism)
        if not labels or self.written.kind != "parquet":
            return column
        return f"CAST({column} AS ENUM ({', '.join(map(text, labels))})) AS {column}"

    def _file(self) -> Any:  # noqa: ANN401 (a file that bytes can be written to)
        """The file that text goes to, compressed here: into a pipe DuckDB writes bare text, whatever it is told."""
        if self.written.compression is None:
            return self.part.open("ab", buffering=0)
        return need("pyarrow").output_stream(str(self.part), compression=self.written.compression)

    def _options(self) -> str:
        if self.written.kind == "parquet":
            options = (
                f"FORMAT parquet, ROW_GROUP_SIZE {self.rows.at_once}, KV_METADATA {{bipartite: {text(self.about)}}}"
            )
        elif self.written.kind == "jsonl":
            options = "FORMAT json"
        else:
            options = f"FORMAT csv, HEADER true, DELIMITER {text(self.written.delimiter)}"
        squeezed = self.chosen.compression if self.written.kind == "parquet" else "uncompressed"
        return options if squeezed is None else f"{options}, COMPRESSION {text(squeezed)}"

    def _write_arrow(self, reader: Any) -> None:  # noqa: ANN401
        pa = need("pyarrow")
        stdout = str(self.part) == STDIO
        sink = sys.stdout.buffer if stdout else pa.output_stream(str(self.part), compression=self.written.compression)
        make = pa.ipc.new_stream if stdout or self.written.compression is not None else pa.ipc.new_file
        with make(sink, reader.schema) as writer:
            for batch in reader:
                writer.write_batch(batch)
        if not stdout:
            sink.close()
