"""DuckDB as this package uses it: in memory, bounded, spilling to a private folder, fetching nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from bipartite.errors import InputError
from bipartite.tables.extras import need

if TYPE_CHECKING:
    from pathlib import Path


def connect(spill: Path, memory: str, threads: int | None) -> Any:  # noqa: ANN401 (a DuckDB connection)
    """A DuckDB connection."""
    duckdb = need("duckdb")
    _parsed(memory)
    settings: dict[str, Any] = {
        "memory_limit": memory,
        "temp_directory": str(spill),
        "autoinstall_known_extensions": False,
    }
    if threads is not None:
        settings["threads"] = threads
    return duckdb.connect(config=settings)


def half_of(memory: str) -> str:
    """Half of an amount of memory.

    >>> half_of("256MB")
    '128MB'
    """
    amount, unit = _parsed(memory)
    return f"{float(amount) / 2:.15g}{unit}"


def _parsed(memory: str) -> tuple[str, str]:
    """(amount, unit)."""
    found = re.fullmatch(r"([1-9][0-9]*(?:\.[0-9]+)?) ?([KMGT]i?B)", memory)
    if found is None:
        msg = f"Expected memory such as 256MB or 2GB, got {memory!r}."
        raise InputError(msg)
    return found[1], found[2]


def name(column: str) -> str:
    """A column's name in SQL."""
    escaped = column.replace('"', '""')
    return f'"{escaped}"'


def text(value: str) -> str:
    """A text in SQL."""
    escaped = value.replace("'", "''")
    return f"'{escaped}'"


def paths(files: list[Path]) -> str:
    """Names of files in SQL, none of them a pattern."""
    escaped = [re.sub(r"([*?\[])", r"[\1]", str(file)) for file in files]
    return "[" + ", ".join(map(text, escaped)) + "]"
