"""DuckDB connections: in memory, bounded, spilling to a private folder, downloading nothing."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bipartite.errors import InputError, MissingExtraError, shown
from bipartite.tables.extras import duckdb

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bipartite.tables.formats import File

_TOO_MUCH: Final = 2**62


def connect(spill: Path, memory: int | None = None, threads: int | None = None) -> duckdb.DuckDBPyConnection:
    """Open a DuckDB connection that uses at most ``memory`` bytes; None for DuckDB's own limit."""
    settings: dict[str, Any] = {
        "temp_directory": str(spill),
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    if memory is not None:
        settings["memory_limit"] = f"{memory}B"
    if threads is not None:
        settings["threads"] = threads
    connection = duckdb.connect(config=settings)
    # DuckDB prints one in sessions it considers interactive, to standard output, where the reports may go.
    connection.execute("SET enable_progress_bar = false")
    return connection


def bytes_of(memory: str) -> int:
    """Parse an amount of memory, as DuckDB's users write it, into bytes.

    >>> bytes_of("256MB"), bytes_of("1.5 gib")
    (256000000, 1610612736)
    """
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) *([kmgt])(i?)b?", memory.strip(), re.IGNORECASE | re.ASCII)
    amount = 0
    if found is not None:
        power = "kmgt".index(found[2].lower()) + 1
        amount = int(Fraction(found[1]) * (1024 if found[3] else 1000) ** power)
    if not 0 < amount < _TOO_MUCH:
        raise InputError(f"Expected memory such as 256MB, 1.5GB or 2GiB, got {shown(memory)}.")
    return amount


def name(column: str) -> str:
    """A column name in SQL."""
    escaped = column.replace('"', '""')
    return f'"{escaped}"'


def text(value: str) -> str:
    """A string literal in SQL."""
    escaped = value.replace("'", "''")
    return f"'{escaped}'"


def load(connection: duckdb.DuckDBPyConnection, extension: str, what: str) -> None:
    """Load an installed DuckDB extension; nothing is ever downloaded here."""
    try:
        connection.execute(f"LOAD {extension}")
    except duckdb.Error:
        raise MissingExtraError(
            f"{what} needs DuckDB's extension {extension}, which is not installed; install it once yourself: "
            f"python -c \"import duckdb; duckdb.sql('INSTALL {extension}')\"."
        ) from None


def paths(files: Sequence[File]) -> str:
    """A list of file names in SQL, with pattern characters escaped; remote addresses unchanged."""
    escaped = [re.sub(r"([*?\[])", r"[\1]", str(file)) if isinstance(file, Path) else str(file) for file in files]
    return "[" + ", ".join(map(text, escaped)) + "]"
