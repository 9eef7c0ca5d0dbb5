"""A first plan for a table, from the names and types of its columns and nothing else.

No value of a private column may shape the plan: a range, a list of categories or a share of missing values that was
learned from the data is itself a release, which no ε covers. What only a person can know is left as TODO.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from bipartite.errors import DataFileError
from bipartite.tables.engine import connect, paths, text
from bipartite.tables.extras import need
from bipartite.tables.formats import format_of
from bipartite.tables.reading import TODO
from bipartite.tables.releasing import MEMORY
from bipartite.tables.workspace import private_folder

if TYPE_CHECKING:
    from pathlib import Path

LEAK: Final = (
    "Fill in every TODO from public knowledge, never from these data: a range or a list of categories learned from "
    "the data is itself a release, which no ε covers."
)
_HEAD: Final = """# A first plan, from the names and types of the columns and nothing else.
# Fill in every {todo} from public knowledge, never from the data: a range or a list of categories that was learned from
# the data is itself a release, which no ε covers. `bipartite plan check` lists what is left to do.
# A column that is not named here is dropped. One that may be read by anybody: public = true, and nothing else.
# The ε of all private columns add up for each row; `bipartite plan show` says to how much.
"""
_WHOLE: Final = """domain = {{ integers = ["{todo}", "{todo}"] }}  # the least and the greatest that anybody could have
mechanism = "brr"
epsilon = "{todo}"
outside = "clip"  # values beyond the ends count as the ends; "error" stops, and tells that there was one
"""
_REAL: Final = """domain = {{ interval = ["{todo}", "{todo}"], points = 401 }}  # the ends of what anybody could have
mechanism = "brr"
edges = "padded"  # for statistics; "clamped" keeps single reports inside the range
epsilon = "{todo}"
outside = "clip"  # values beyond the ends count as the ends; "error" stops, and tells that there was one
"""
_TEXT: Final = """domain = {{ categories = ["{todo}", "other", "no answer"] }}  # every answer that there may be
mechanism = "grr"
epsilon = "{todo}"
outside = {{ as = "other" }}
nulls = {{ as = "no answer" }}
"""
_TRUTH: Final = """domain = {{ categories = ["false", "true"] }}
mechanism = "grr"
epsilon = "{todo}"
"""


def first_plan(path: Path, asked: str | None = None) -> str:
    """The text of a first plan for a file."""
    parts = [_HEAD.format(todo=TODO)]
    for name, kind in schema_of(path, asked).items():
        body = _body(kind)
        if body is None:
            # The names within a type may be private: those in a JSON object are read from the rows.
            outer = kind.partition("(")[0]
            parts.append(f"# {_key(name)} is of type {outer}, which no domain holds, and is dropped.\n")
        else:
            parts.append(f"[columns.{_key(name)}]\n{body.format(todo=TODO)}")
    return "\n".join(parts)


def schema_of(path: Path, asked: str | None = None) -> dict[str, str]:
    """The DuckDB type of each column of a file; those of text files are guessed from the first rows."""
    written = format_of(str(path), asked, "--from")
    if not path.is_file():
        msg = f"{path} is not there"
        raise FileNotFoundError(msg)
    with private_folder() as spill, connect(spill, MEMORY, None) as connection:
        if written.kind == "arrow":
            pa = need("pyarrow")
            try:
                opened = pa.ipc.open_file(str(path))
            except pa.ArrowInvalid:
                opened = pa.ipc.open_stream(pa.input_stream(str(path), compression=written.compression))
            connection.register("given", opened.schema.empty_table())
            table = "given"
        elif written.kind == "parquet":
            table = f"read_parquet({paths([path])})"
        elif written.kind == "jsonl":
            table = f"read_json({paths([path])}, format='newline_delimited')"
        else:
            table = f"read_csv({paths([path])}, header=true, delim={text(written.delimiter)}, quote='\"', escape='\"')"
        try:
            rows: list[Any] = connection.execute(f"DESCRIBE SELECT * FROM {table}").fetchall()
        except need("duckdb").Error:
            msg = f"{path} cannot be read; repair it, or say which format it has with --from."
            raise DataFileError(msg) from None
    return {row[0]: row[1] for row in rows}


def _body(kind: str) -> str | None:
    if kind.startswith("DECIMAL") or kind in {"FLOAT", "DOUBLE"}:
        return _REAL
    if kind in {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "HUGEINT"}:
        return _WHOLE
    if kind == "BOOLEAN":
        return _TRUTH
    return _TEXT if kind == "VARCHAR" or kind.startswith("ENUM") else None


def _key(name: str) -> str:
    """A name as TOML writes it."""
    if name and all(letter.isascii() and (letter.isalnum() or letter in "_-") for letter in name):
        return name
    return json.dumps(name, ensure_ascii=False).replace("\x7f", "\\u007f")
