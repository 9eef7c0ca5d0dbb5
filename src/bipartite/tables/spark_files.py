"""The folder that a release on Spark wrote, read without Spark: its parts, and the release that they carry."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from bipartite.errors import DataFileError
from bipartite.tables.extras import need
from bipartite.tables.metadata import Described

if TYPE_CHECKING:
    from pathlib import Path

RELEASE_KEY: Final = "bipartite_release"
"""In the metadata of the first private column, as Spark keeps it: the whole release in words and specs."""
_SPARK_SCHEMA: Final = b"org.apache.spark.sql.parquet.row.metadata"


def parts_in(folder: Path) -> list[Path]:
    """The Parquet files of a release that is complete; an unfinished one is refused."""
    parts = sorted(folder.glob("part-*.parquet"))
    if parts and not (folder / "_SUCCESS").exists():
        msg = f"{folder} has no _SUCCESS: the release is not complete, or failed; wait for it, or release again."
        raise DataFileError(msg)
    return parts


def carried_in(folder: Path) -> Described | None:
    """The description that the files of a folder carry; None where they carry none."""
    parts = parts_in(folder)
    if not parts:
        return None
    read = need("pyarrow.parquet").read_metadata
    held = {(read(part).metadata or {}).get(_SPARK_SCHEMA, b"{}") for part in parts}
    if len(held) > 1:
        msg = f"{folder} holds parts of different releases; ask for it again, or move what does not belong there."
        raise DataFileError(msg)
    try:
        metadata = [field.get("metadata", {}) for field in json.loads(held.pop()).get("fields", [])]
    except (ValueError, AttributeError):
        msg = f"{folder} says nothing readable about its columns; its files were edited: ask for it again."
        raise DataFileError(msg) from None
    carried = [each[RELEASE_KEY] for each in metadata if RELEASE_KEY in each]
    return Described.from_json(carried[0]) if carried else None
