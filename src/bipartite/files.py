"""Atomic file writes: a file is written under a temporary name in the same folder, flushed, and renamed.

A killed run leaves at most ``.NAME.bipartite-XXXXXXXX.part``, never an unfinished file under the final name.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bipartite.names import nearest_name

if TYPE_CHECKING:
    from collections.abc import Iterator


def write_atomically(path: str | Path, content: str | bytes) -> None:
    """Write a file atomically; a pipe or device is written to directly."""
    path = Path(path).resolve()
    data = content.encode("utf-8") if isinstance(content, str) else content
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "No such folder", str(path.parent))
    with part_of(path) as part:
        with part.open("xb") as file:
            file.write(data)
        flush(part)
        part.replace(path)


def not_found(path: str | Path) -> str:
    """Message for a missing file, with the most similar name in the same folder."""
    folder = Path(path).parent
    if not folder.is_dir():
        return f"not found: {path} (there is no folder {folder})"
    near = nearest_name(Path(path).name, (each.name for each in folder.iterdir()))
    return f"not found: {path}" + ("" if near is None else f" (did you mean {folder / near}?)")


@contextmanager
def part_of(path: Path, *, private: bool = False) -> Iterator[Path]:
    """Yield a temporary path in the same folder; whatever is left there is deleted when the block ends.

    With ``private`` the file is created readable by its owner only.
    """
    part = path.with_name(f".{path.name}.bipartite-{secrets.token_hex(4)}.part")
    try:
        if private:
            os.close(os.open(part, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o600))
        yield part
    finally:
        if part.is_dir():
            shutil.rmtree(part)
        else:
            part.unlink(missing_ok=True)


def flush(path: Path) -> None:
    """Flush a file, or the entries of a folder, to disk."""
    if os.name != "posix" and path.is_dir():
        return
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
