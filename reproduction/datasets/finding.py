"""Finding the file of a data set: in the folder that ``BIPARTITE_DATA`` names, in the cache, or at its publisher's."""

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import pooch
import requests

from bipartite.errors import DataFileError, InputError, MissingDataError
from reproduction.datasets.opening import Found, opened
from reproduction.datasets.sources import File, Source

FOLDER_VARIABLE: Final = "BIPARTITE_DATA"
_RETRIES: Final = 2
_TIMEOUT_SECONDS: Final = 30


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
    return Path(pooch.os_cache("bipartite"))


def present(files: tuple[File, ...]) -> tuple[Path, File] | None:
    """Where the first of these files lies on this machine that does, packed or not; None where none does."""
    for folder in filter(None, (data_folder(), cache_folder())):
        for file in files:
            for name in (file.name, file.name.removesuffix(".gz")):
                if (folder / name).is_file():
                    return folder / name, file
    return None


def find(source: Source, part: str = "data") -> Found:
    """The file of one part of a data set and what it holds, fetched where it is not here yet.

    Raises
    ------
    MissingDataError
        The file is not here and could not be fetched: the message says from where, and where to put it.
    DataFileError
        A file of this name is damaged, or holds something else than is known of it.
    """
    files = source.parts[part]
    return opened(*(present(files) or _fetched(source, files)))


def _fetched(source: Source, files: tuple[File, ...]) -> tuple[Path, File]:
    failures = []
    another: DataFileError | None = None
    for file in files:
        for url in file.urls:
            try:
                reason = fetch(url, file)
            except DataFileError as error:  # a mirror may still have the right one
                another = another or error
                continue
            if reason is None:
                return cache_folder() / file.name, file
            failures.append(f"{url}: {reason}")
    if another is not None:
        raise another
    raise MissingDataError(_missing(source, files, failures))


def _missing(source: Source, files: tuple[File, ...], failures: list[str]) -> str:
    where = str(data_folder() or f"{cache_folder()}, or into a folder that {FOLDER_VARIABLE} names")
    first = files[0]
    if not first.urls:
        return (
            f"{source.name} is not here, and has no address to be fetched from: it is a copy made by others. "
            f"{first.copy} Put {first.name} (content: sha256 {first.sha256}) into {where}."
        )
    others = [file.name for file in files[1:]]
    instead = f" {' or '.join(others)} will do as well." if others else ""
    return (
        f"{source.name} is not here and could not be fetched ({'; '.join(failures)}). "
        f"Download {first.urls[0]} with a browser and put it, named {first.name}, into {where}.{instead}"
    )


def fetch(url: str, file: File) -> str | None:
    """Fetch a file into the cache by pooch; return None when it is there, or why it could not be had.

    Raises
    ------
    DataFileError
        The file came, and is not the one whose checksum is known.
    """
    by_http = pooch.HTTPDownloader(progressbar=find_spec("tqdm") is not None, timeout=_TIMEOUT_SECONDS)

    def downloader(address: str, output: str, asking: object) -> None:
        by_http(address, output, asking)
        # Before pooch names the file: checksums are those of contents, and a network may answer with a page of its own.
        opened(Path(output), file, url)

    folder = cache_folder()
    store = pooch.create(folder, "", registry={file.name: None}, urls={file.name: url}, retry_if_failed=_RETRIES)
    try:
        store.fetch(file.name, downloader=downloader)
    except requests.exceptions.RequestException as error:
        if error.response is not None:
            return f"the server answers {error.response.status_code} {error.response.reason}".strip()
        return "no connection" if "onnection" in type(error).__name__ else type(error).__name__
    except OSError as error:  # no room, no right
        return f"it cannot be kept in {folder} ({error.strerror})"
    except DataFileError as error:
        raise DataFileError(f"What came from {url} was not kept: {error}") from None
    return None
