"""The folder of a release in parts, written by Spark or by us: its files, and the description they carry."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from bipartite.errors import DataFileError
from bipartite.tables.extras import need
from bipartite.tables.metadata import METADATA_KEY, Described

if TYPE_CHECKING:
    from pathlib import Path

COMPLETE: Final = "_SUCCESS"
"""An empty file that marks a folder of parts as complete."""
RELEASE_KEY: Final = "bipartite_release"
"""The key of the release's description in the metadata of the first private column, as Spark stores it."""
SPARK_SCHEMA: Final = b"org.apache.spark.sql.parquet.row.metadata"
"""The key of Spark's schema, with the metadata of its columns, in Parquet files."""


def parts_in(folder: Path) -> list[Path]:
    """The Parquet files of a complete release; an unfinished one is refused."""
    found = [part.relative_to(folder) for part in folder.rglob("part-*.parquet")]
    # Subfolders are named by values, country=DE; any other is not part of the release.
    parts = [folder / part for part in sorted(found) if all("=" in value for value in part.parts[:-1])]
    if parts and not (folder / COMPLETE).exists():
        raise DataFileError(
            f"{folder} has no _SUCCESS: the release is not complete, or failed; wait for it, or release again."
        )
    return parts


def carried_in(folder: Path) -> Described | None:
    """The description that the files of a folder carry; None if they carry none."""
    parts = parts_in(folder)
    if not parts:
        return None
    read = need("pyarrow.parquet").read_metadata
    found = [read(part).metadata or {} for part in parts]
    held = {(each.get(METADATA_KEY), each.get(SPARK_SCHEMA, b"{}")) for each in found}
    if len(held) > 1:
        raise DataFileError(
            f"{folder} holds parts of different releases; request it again, or remove what does not belong there."
        )
    ours, spark = held.pop()
    if ours is not None:
        return Described.from_json(ours)
    try:
        metadata = [field.get("metadata", {}) for field in json.loads(spark).get("fields", [])]
    except (ValueError, AttributeError):
        raise DataFileError(
            f"{folder} has unreadable column metadata; its files were edited: request it again."
        ) from None
    carried = [each[RELEASE_KEY] for each in metadata if RELEASE_KEY in each]
    return Described.from_json(carried[0]) if carried else None
