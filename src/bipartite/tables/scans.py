"""SQL for DuckDB's readers, with exact column names, and what several files must have in common.

DuckDB treats ``id`` and ``ID`` as one name, matches the columns of later files to those of the first by such names, and
takes values from folder names (``age=20/people.parquet``). None of that may decide what is released: cells are selected
by position or by the exact key of an object, all files have the same columns, and folder names are ignored.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bipartite.errors import DataFileError, InputError
from bipartite.tables.engine import load, paths, text
from bipartite.tables.extras import duckdb
from bipartite.tables.formats import ENCODINGS, EXTENSIONS, Address
from bipartite.tables.headers import header_of, split_header

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bipartite.tables.formats import File, Format

# The properties that Parquet columns must share; whether a value may be missing is not one.
_PARQUET: Final = (
    "name, type, type_length, repetition_type = 'REPEATED', num_children, converted_type, scale, precision, "
    "logical_type"
)
_SAMPLE: Final = 20_480
_NOWHERE: Final = "\x1f"  # a delimiter that does not occur in text
NO_OBJECT: Final = "bipartite: a row that is not a JSON object"
REPEATED: Final = "bipartite: a row that repeats a key"


def load_extensions(connection: duckdb.DuckDBPyConnection, files: Sequence[File], written: Format) -> None:
    """Load the DuckDB extensions that these files need."""
    schemes = {file.partition("://")[0].lower() for file in files if isinstance(file, Address)}
    for extension, scheme in sorted({EXTENSIONS[each]: each for each in schemes}.items()):
        load(connection, extension, f"An address that starts with {scheme}://")
        if written.kind == "arrow":
            raise InputError("Arrow files must be local; download them first.")
    if written.encoding not in ENCODINGS:
        load(connection, "encodings", f"encoding={written.encoding!r}")


def cells_of(width: int) -> list[str]:
    """The names of columns in SQL, by position."""
    return [f"c{at}" for at in range(width)]


def parquet_columns(connection: duckdb.DuckDBPyConnection, files: Sequence[File]) -> list[str]:
    """The exact names of the columns of Parquet files, which must have the same columns of the same types."""
    found: dict[str, list[Any]] = {}
    for name, *column in connection.execute(
        f"SELECT file_name, {_PARQUET} FROM parquet_schema({paths(files)})"
    ).fetchall():
        found.setdefault(name, []).append(column)
    # The first row of each is the table itself, whose name depends on the writer.
    schemas = {name: columns[1:] for name, columns in found.items()}
    check_alike(schemas.items())
    names, within = [], 0
    for name, *_, children, _, _, _, _ in next(iter(schemas.values())):
        if within:
            within -= 1
        else:
            names.append(name)
        within += children or 0
    return names


def parquet_metadata(connection: duckdb.DuckDBPyConnection, files: Sequence[File]) -> dict[str, dict[bytes, bytes]]:
    """The metadata of each Parquet file."""
    found: dict[str, dict[bytes, bytes]] = {}
    for name, key, value in connection.execute(
        f"SELECT file_name, key, value FROM parquet_kv_metadata({paths(files)})"
    ).fetchall():
        found.setdefault(name, {})[key] = value
    return found


def parquet_scan(files: Sequence[File], width: int) -> str:
    """Parquet files with the same columns, by position."""
    return f"read_parquet({paths(files)}, hive_partitioning=false) AS given({', '.join(cells_of(width))})"


def csv_columns(connection: duckdb.DuckDBPyConnection, files: Sequence[File], written: Format) -> list[str]:
    """The exact names of the columns of CSV files, which must have the same header."""
    headers = {
        str(file): header_of(file, written) if isinstance(file, Path) else _header(connection, file, written)
        for file in files
    }
    check_alike(headers.items())
    return next(iter(headers.values()))


def _header(connection: duckdb.DuckDBPyConnection, address: Address, written: Format) -> list[str]:
    """The names of the columns of a remote CSV file, whose first line DuckDB reads as one cell."""
    line = (
        f"read_csv({paths([address])}, auto_detect=false, header=false, delim={text(_NOWHERE)}, quote='', escape='', "
        f"comment='', columns={{'line': 'VARCHAR'}}, hive_partitioning=false, encoding={text(written.encoding)}"
        f"{_compression(written)})"
    )
    found = connection.execute(f"SELECT line FROM {line} LIMIT 1").fetchall()
    return split_header(found[0][0] if found else "", written, str(address))


def csv_scan(
    where: str,
    written: Format,
    width: int,
    *,
    leaving_out: bool = False,
    parallel: bool = False,
    keep_blank: bool = False,
) -> str:
    """CSV files as text, by position; an empty cell is null.

    An extra cell is an error even if it is empty, which DuckDB would tolerate if empty cells meant null to it; but only
    then does it read a blank line of a single column as a cell (``keep_blank``). ``leaving_out`` skips lines that
    cannot be split into cells, for :func:`lines_left_out`. ``parallel`` lets DuckDB start in the middle of a file: only
    for files without quotation marks, see :mod:`bipartite.tables.quotes`.
    """
    cells = cells_of(width)
    types = ", ".join(f"'{cell}': 'VARCHAR'" for cell in cells)
    values = ", ".join(f"NULLIF({cell}, '') AS {cell}" for cell in cells)
    nulls = "''" if keep_blank else "'\n'"
    return (
        f"(SELECT {values} FROM read_csv({where}, auto_detect=false, header=true, delim={text(written.delimiter)}, "
        f"quote='\"', escape='\"', comment='', nullstr={nulls}, allow_quoted_nulls=false, columns={{{types}}}, "
        f"parallel={str(parallel).lower()}, hive_partitioning=false, encoding={text(written.encoding)}"
        f"{_compression(written)}{', store_rejects=true' if leaving_out else ''}))"
    )


def lines_left_out(connection: duckdb.DuckDBPyConnection) -> list[tuple[int, str]]:
    """(number, text) of the lines with a wrong number of cells, after a scan that skipped them.

    Any other problem raises what the scan would have raised: an unclosed quotation mark makes all following lines one.
    """
    query = "SELECT DISTINCT file_id, line, error_type, csv_line, error_message FROM reject_errors ORDER BY ALL"
    found = connection.execute(query).fetchall()
    for _, line, kind, _, message in found:
        if kind not in {"MISSING COLUMNS", "TOO MANY COLUMNS"}:
            raise duckdb.InvalidInputException(f"Invalid Input Error: CSV Error on Line: {line}\n{message}")
    # A line is recorded once for each extra cell.
    return [(line, held) for _, line, held in dict.fromkeys((file, line, held) for file, line, _, held, _ in found)]


def json_columns(
    connection: duckdb.DuckDBPyConnection, files: Sequence[File], written: Format, wanted: list[str]
) -> list[str]:
    """The exact keys in the first rows of JSON-lines files.

    Rows may omit keys. A file with a key that differs from a ``wanted`` one only in case is refused.
    """
    keys: dict[str, None] = {}
    for file in files:
        scan = json_scan(paths([file]), written)
        rows = connection.execute(
            f"SELECT DISTINCT json_keys(json) FROM (SELECT json FROM {scan} LIMIT {_SAMPLE}) ORDER BY ALL"
        ).fetchall()
        found = dict.fromkeys(key for (row,) in rows for key in row or ())
        folded = {key.casefold() for key in found}
        if len(files) > 1 and any(each not in found and each.casefold() in folded for each in wanted):
            raise DataFileError(f"{file} spells the name of a column in another case; rename it there.")
        keys |= found
    return list(keys)


def json_scan(where: str, written: Format) -> str:
    """JSON lines, each row as one value in the column ``json``: an object whose keys differ."""
    read = (
        f"read_json({where}, format='newline_delimited', records=false, columns={{'json': 'JSON'}}, "
        f"hive_partitioning=false{_compression(written)})"
    )
    return (
        f"(SELECT CASE WHEN NOT starts_with(json, '{{') THEN error({text(NO_OBJECT)}) "
        f"WHEN len(json_keys(json)) > len(list_distinct(json_keys(json))) THEN error({text(REPEATED)}) "
        f"ELSE json END AS json FROM {read})"
    )


def json_values(keys: Iterable[str]) -> str:
    """Exact keys of an object, as JSON pointers in SQL."""
    return "[" + ", ".join(text("/" + key.replace("~", "~0").replace("/", "~1")) for key in keys) + "]"


def check_alike(schemas: Iterable[tuple[str, Any]]) -> None:
    """Refuse files whose columns differ from those of the first, before any row is read."""
    (first, wanted), *others = schemas
    for file, columns in others:
        if columns != wanted:
            raise DataFileError(
                f"{file} has other columns than {first}, in name, type or order; make them equal, or release them one "
                "by one."
            )


def _compression(written: Format) -> str:
    return "" if written.compression is None else f", compression={text(written.compression)}"
