"""Files that are there whole or not at all: written under a temporary name beside the final one, flushed, and moved.

A killed run leaves at most a part, ``.NAME.bipartite-XXXXXXXX.part``, never something unfinished under the final name.
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


def write_whole(path: str | Path, content: str | bytes) -> None:
    """Write a whole file or nothing; what is no plain file (a pipe, a device) is written to as it is."""
    path = Path(path).resolve()
    held = content.encode("utf-8") if isinstance(content, str) else content
    if path.exists() and not path.is_file():
        path.write_bytes(held)
        return
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "No such folder", str(path.parent))
    with part_of(path) as part:
        with part.open("xb") as file:
            file.write(held)
        flush(part)
        part.replace(path)


def not_found(path: str | Path) -> str:
    """What to say of a file that is not there: its name, and that of the file beside it that was probably meant."""
    folder = Path(path).parent
    if not folder.is_dir():
        return f"not found: {path} (there is no folder {folder})"
    near = nearest_name(Path(path).name, (each.name for each in folder.iterdir()))
    return f"not found: {path}" + ("" if near is None else f" (did you mean {folder / near}?)")


@contextmanager
def part_of(path: Path, *, private: bool = False) -> Iterator[Path]:
    """A temporary name beside a final one; whatever stands there is gone when the block ends.

    ``private`` makes it its owner's alone from the start.
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
    """Wait until the disk holds a file, or the names in a folder."""
    if os.name != "posix" and path.is_dir():
        return
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
