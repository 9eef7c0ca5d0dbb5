"""Fetching one file from its publisher: by pooch, which retries, checks, and names a file only once it is whole."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bipartite.errors import DataFileError

if TYPE_CHECKING:
    from collections.abc import Callable

    Watch = Callable[[int, int], None]
    """Told while a file arrives: bytes that came since the last call, and bytes in all (0 where that is not known)."""

_RETRIES: Final = 2
_TIMEOUT_SECONDS: Final = 30
_CHUNK: Final = 1 << 16
_FIRST_BYTES: Final = {".gz": b"\x1f\x8b", ".zip": b"PK"}


def fetch(url: str, path: Path, sha256: str | None, watch: Watch | None = None) -> str | None:
    """Fetch a file; return None when it is there, or why it could not be had.

    Raises
    ------
    DataFileError
        The file came, and is not the one whose checksum is known.
    """
    try:
        import pooch  # noqa: PLC0415 (optional, and needed only where a file is not here yet)
        import requests  # noqa: PLC0415 (comes with pooch)
    except ImportError:
        return "not tried: fetching needs pooch; install it with pip install pooch"
    store = pooch.create(
        path=path.parent, base_url="", registry={path.name: sha256}, urls={path.name: url}, retry_if_failed=_RETRIES
    )
    by_http = pooch.HTTPDownloader(progressbar=_bar(watch), chunk_size=_CHUNK, timeout=_TIMEOUT_SECONDS)

    def downloader(address: str, output: str, asking: object) -> None:
        by_http(address, output, asking)
        _refuse_a_web_page(Path(output), path.suffix)

    try:
        store.fetch(path.name, downloader=downloader)
    except requests.exceptions.RequestException as error:
        return _reason(error)
    except OSError as error:  # no room, no right
        return f"it cannot be kept in {path.parent} ({error.strerror})"
    except ValueError as error:  # another checksum, or no file of this kind
        raise DataFileError(f"What came from {url} is another file than expected, and was not kept: {error}") from None
    return None


def _refuse_a_web_page(path: Path, suffix: str) -> None:
    """Networks answer with pages of their own: where no checksum is known, at least the kind of file must fit."""
    with path.open("rb") as stream:
        first = stream.read(2)
    expected = _FIRST_BYTES.get(suffix)
    if first != expected if expected else first[:1] == b"<":
        raise ValueError(f"it is no {suffix} file, perhaps a web page; open the address in a browser and see.")


def _reason(error: Exception) -> str:
    """The cause of a failure in a few words; requests wraps it in several layers with addresses in memory."""
    response = getattr(error, "response", None)
    if response is not None:
        return f"the server answers {response.status_code} {response.reason}".strip()
    return "no connection" if "onnection" in type(error).__name__ else type(error).__name__


def _bar(watch: Watch | None) -> Any:  # noqa: ANN401 (what pooch takes: a bar, or whether to make one)
    if watch is not None:
        return _Bar(watch)
    return sys.stderr.isatty() and find_spec("tqdm") is not None


class _Bar:
    """What pooch asks of a progress bar."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._done = 0
        self._is_over = False
        self.total = 0

    def update(self, by: int) -> None:
        """Note a chunk: pooch counts whole ones, and at the end the total once more."""
        by = min(by, self.total - self._done) if self.total else by
        if by > 0 and not self._is_over:
            self._done += by
            self._watch(by, self.total)

    def reset(self) -> None:
        """The file is whole."""
        self._is_over = True

    def close(self) -> None:
        """Nothing to put away."""
