"""Finding the file of a data set: in the folder that ``BIPARTITE_DATA`` names, in the cache, or at its publisher's."""

from __future__ import annotations

import hashlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from bipartite.errors import DataFileError, InputError, MissingDataError
from reproduction.datasets.fetching import fetch

if TYPE_CHECKING:
    from reproduction.datasets.fetching import Watch
    from reproduction.datasets.sources import File, Source

FOLDER_VARIABLE: Final = "BIPARTITE_DATA"
_CHUNK: Final = 1 << 20

Standing = Literal["official", "unchecked", "copy"]


@dataclass(frozen=True)
class Found:
    """A file of a data set on this machine, checked as far as a checksum is known."""

    path: Path
    file: File
    sha256: str
    standing: Standing
    """``official``: the publisher's own bytes, checked. ``unchecked``: under the publisher's name, but no checksum of
    it is known. ``copy``: content of the publisher put together by others, checked to be the copy that is known."""


def data_folder() -> Path | None:
    """The folder that ``BIPARTITE_DATA`` names; None where it names none."""
    named = os.environ.get(FOLDER_VARIABLE)
    if not named:
        return None
    folder = Path(named).expanduser()
    if not folder.is_dir():
        raise InputError(
            f"Expected {FOLDER_VARIABLE} to name a folder, got {named!r}, which is none; create it, or unset it."
        )
    return folder


def cache_folder() -> Path:
    """Where fetched files are kept: the user's cache, as each system has it."""
    # Not asked of pooch: a file that was fetched once is read without it.
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "bipartite" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "bipartite"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bipartite"


def present(files: tuple[File, ...]) -> tuple[Path, File] | None:
    """Where the first of these files lies on this machine that does; None where none does."""
    folders = [folder for folder in (data_folder(), cache_folder()) if folder is not None]
    return next(
        ((folder / file.name, file) for folder in folders for file in files if (folder / file.name).is_file()), None
    )


def find(source: Source, part: str, watch: Watch | None = None) -> Found:
    """The file of one part of a data set, fetched where it is not here yet.

    Raises
    ------
    MissingDataError
        The file is not here and could not be fetched: the message says from where, and where to put it.
    DataFileError
        A file of this name has another checksum.
    """
    files = source.parts[part]
    path, file = present(files) or _fetched(source, files, watch)
    return _checked(path, file)


def _fetched(source: Source, files: tuple[File, ...], watch: Watch | None) -> tuple[Path, File]:
    failures = []
    another: DataFileError | None = None
    for file in files:
        for url in file.urls:
            try:
                reason = fetch(url, cache_folder() / file.name, file.sha256, watch)
            except DataFileError as error:  # a mirror may still have the right one
                another = another or error
                continue
            if reason is None:
                return cache_folder() / file.name, file
            failures.append(f"  {url}: {reason}")
    if another is not None:
        raise another
    raise MissingDataError(_missing(source, files, failures))


def _missing(source: Source, files: tuple[File, ...], failures: list[str]) -> str:
    where = str(data_folder() or f"{cache_folder()}, or into a folder that {FOLDER_VARIABLE} names")
    first = files[0]
    if not first.urls:
        return (
            f"{source.name} is not here, and has no address to be fetched from: it is a copy made by others. "
            f"{first.note} Put {first.name} (sha256 {first.sha256}) into {where}."
        )
    others = [file.name for file in files[1:]]
    instead = f" {' or '.join(others)} will do as well." if others else ""
    return (
        f"{source.name} is not here and could not be fetched:\n"
        + "\n".join(failures)
        + f"\nDownload {first.urls[0]} with a browser and put it, named {first.name}, into {where}.{instead}"
    )


def _checked(path: Path, file: File) -> Found:
    digest = sha256_of(path)
    if file.sha256 is not None and digest != file.sha256:
        again = f", and it is fetched again from {file.urls[0]}" if file.urls else ""
        raise DataFileError(
            f"Expected {path} to have sha256 {file.sha256}, got {digest}: the file is damaged or another one; "
            f"delete it{again}."
        )
    if file.is_copy or digest == file.copy_sha256:
        return Found(path, file, digest, "copy")
    return Found(path, file, digest, "official" if file.sha256 or file.content_sha256 else "unchecked")


def sha256_of(path: Path) -> str:
    """The checksum of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
