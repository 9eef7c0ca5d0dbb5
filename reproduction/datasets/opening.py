"""Opening what a file holds: plain, in gzip, or in an archive; damage is named as what it is."""

import gzip
import hashlib
import io
import zipfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from bipartite.errors import DataFileError
from reproduction.datasets.sources import File


@dataclass(frozen=True)
class Found:
    """A file of a data set on this machine and what it holds, checked as far as a checksum is known."""

    path: Path
    name: str
    """Of the file itself, or of the one in the archive."""
    content: bytes = field(repr=False)
    """Unpacked."""
    sha256: str
    """Of the content."""
    standing: Literal["official", "unchecked", "copy"]
    """``official``: the publisher's own bytes, checked. ``unchecked``: under the publisher's name, but no checksum of
    it is known. ``copy``: content of the publisher put together by others, checked to be the copy that is known."""


def opened(path: Path, file: File, address: str | None = None) -> Found:
    """What this file holds; ``address`` where it has just come from there, and has no name yet.

    Raises
    ------
    DataFileError
        The file ends early or is damaged, or it holds something else.
    """
    shown = address or str(path)
    again = f" and fetch it again from {file.urls[0]}" if file.urls else ""
    remedy = "open the address in a browser and see" if address else f"delete it{again}"
    try:
        content = _unpacked(path, file, is_packed=(file.name if address else path.name).endswith(".gz"))
    except KeyError as error:
        raise DataFileError(f"Expected {error.args[0]} in the archive {shown}, which does not hold it.") from None
    except (EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile) as error:
        raise DataFileError(
            f"{shown} ends early, is damaged, or is no {file.name} but perhaps a web page ({error}); {remedy}."
        ) from None
    digest = hashlib.sha256(content).hexdigest()
    is_known = digest == file.sha256
    # A copy under the publisher's file name leaves room for the publisher's own bytes, whose checksum is not known.
    if not is_known and file.sha256 is not None and not (file.copy and file.urls):
        raise DataFileError(
            f"Expected what {shown} holds to have sha256 {file.sha256}, got {digest}: it is damaged or another file; "
            f"{remedy}."
        )
    if not is_known and content[:1] == b"<":
        raise DataFileError(f"{shown} is no {file.name}, perhaps a web page; {remedy}.")
    standing: Literal["official", "copy"] = "copy" if file.copy else "official"
    name = file.members[-1] if file.members else path.name
    return Found(path, name, content, digest, standing if is_known else "unchecked")


def _unpacked(path: Path, file: File, *, is_packed: bool) -> bytes:
    content = path.read_bytes()
    for wanted in file.members:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            # The member of this file name, in whatever folder of the archive it lies.
            names = {name.rpartition("/")[2]: name for name in archive.namelist()}
            content = archive.read(names[wanted])
    return gzip.decompress(content) if is_packed else content
