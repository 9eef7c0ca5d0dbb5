"""Opening what a file holds: plain, in gzip, or in an archive; damage is named as what it is."""

from __future__ import annotations

import gzip
import hashlib
import io
import zipfile
import zlib
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, cast

from bipartite.errors import DataFileError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reproduction.datasets.finding import Found


@contextmanager
def opened(found: Found) -> Iterator[IO[bytes]]:
    """What a file holds, as bytes.

    Raises
    ------
    DataFileError
        The file ends early or is damaged, also where that shows only while it is read; or it holds something else.
    """
    try:
        with _unpacked(found) as stream:
            expected = None if found.file.sha256 else found.file.content_sha256
            yield stream if expected is None else _checked(stream.read(), expected, found)
    except (EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile) as error:
        raise DataFileError(
            f"{found.path} ends early or is damaged ({error}); delete it and fetch it again{_from(found)}."
        ) from None


@contextmanager
def _unpacked(found: Found) -> Iterator[IO[bytes]]:
    if found.file.members:
        with found.path.open("rb") as archive, _member(archive, found) as stream:
            yield stream
    elif found.path.suffix == ".gz":
        with gzip.open(found.path, "rb") as packed:
            yield cast("IO[bytes]", packed)
    else:
        with found.path.open("rb") as plain:
            yield plain


@contextmanager
def _member(archive: IO[bytes], found: Found) -> Iterator[IO[bytes]]:
    *outer, last = found.file.members
    for wanted in outer:  # an archive in the archive is small
        with zipfile.ZipFile(archive) as opened_archive:
            archive = io.BytesIO(opened_archive.read(_named(opened_archive, wanted, found)))
    with zipfile.ZipFile(archive) as opened_archive, opened_archive.open(_named(opened_archive, last, found)) as stream:
        yield stream


def _named(archive: zipfile.ZipFile, wanted: str, found: Found) -> str:
    """The member of this file name, in whatever folder of the archive it lies."""
    for name in archive.namelist():
        if name.rsplit("/", 1)[-1] == wanted:
            return name
    raise DataFileError(
        f"Expected {wanted} in the archive {found.path}, which does not hold it; fetch it again{_from(found)}."
    )


def _checked(content: bytes, expected: str, found: Found) -> IO[bytes]:
    digest = hashlib.sha256(content).hexdigest()
    if digest != expected:
        what = found.file.members[-1] if found.file.members else "the content"
        raise DataFileError(
            f"Expected {what} in {found.path} to have sha256 {expected}, got {digest}: it is damaged or another one; "
            f"delete the file and fetch it again{_from(found)}."
        )
    return io.BytesIO(content)


def _from(found: Found) -> str:
    return f" from {found.file.urls[0]}" if found.file.urls else ""
