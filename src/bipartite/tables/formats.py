"""The files that a name refers to, and their format, from their names or as given."""

from __future__ import annotations

import glob
import re
import stat
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urlsplit

from bipartite.errors import DataFileError, InputError
from bipartite.files import not_found

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

STDIO: Final = "-"
KINDS: Final = ("csv", "tsv", "jsonl", "parquet", "arrow")
LINES: Final = "lines"
"""One value a line and no header: what a plan of one column may read and write."""
TEXT: Final = ("csv", "tsv", "jsonl", LINES)
"""Formats whose values are text, and that cannot carry specs."""
_SUFFIXES: Final = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".ipc": "arrow",
    ".feather": "arrow",
}
UTF8: Final = "utf-8"
SIDE: Final = ".bipartite.json"
"""The suffix of the side file with the specs of a data file."""
_ADDRESS: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_COMPRESSIONS: Final = {".gz": "gzip", ".zst": "zstd"}


@dataclass(frozen=True, slots=True)
class Format:
    """The format of a file, and the compression of the whole file."""

    kind: str
    compression: str | None = None
    asked_delimiter: str | None = None
    """The delimiter, if the caller gives one."""
    encoding: str = UTF8

    @property
    def is_text(self) -> bool:
        """Whether values are text."""
        return self.kind in TEXT

    @property
    def delimiter(self) -> str:
        """The delimiter of a CSV file."""
        return self.asked_delimiter or ("\t" if self.kind == "tsv" else ",")


def format_of(name: str, asked: str | None, parameter: str) -> Format:
    """The format of a file by its name, or the one ``asked`` for with ``parameter``."""
    path = Path(name)
    compression = _COMPRESSIONS.get(path.suffix.lower())
    suffix = path.with_suffix("").suffix.lower() if compression else path.suffix.lower()
    kind = asked or _SUFFIXES.get(suffix) or ("csv" if name == STDIO else None)
    if kind is None:
        raise InputError(
            f"Expected a format for {name!r}, which its name does not show; use {parameter}={'|'.join(KINDS)}."
        )
    if compression and kind == "parquet":
        raise InputError(
            f"Expected no compression around Parquet, which compresses its own columns; name {path.stem!r} instead."
        )
    return Format(kind, compression)


def local(name: str) -> str:
    """The local path of a name, which may be a ``file://`` address; one on another machine is refused."""
    if _ADDRESS.match(name) and not name.lower().startswith("file://"):
        raise InputError(
            f"{name} is not on this machine; download what is read, and upload what is written when it is complete."
        )
    if not name.lower().startswith("file://"):
        return name
    parts = urlsplit(name)
    if parts.netloc not in {"", "localhost"}:
        raise InputError(
            f"Expected file:///PATH on this machine, got one on {parts.netloc!r}; copy it to this machine first."
        )
    return unquote(parts.path)


def files_named(pattern: str) -> list[Path]:
    """The files that a name, a folder or a pattern such as ``part-*.parquet`` refers to, sorted by name."""
    pattern = local(pattern)
    path = Path(pattern)
    if path.is_dir():
        return _files_in(path)
    if path.exists():
        return _check_regular([path])
    if any(letter in pattern for letter in "*?["):
        found = sorted(Path(each) for each in glob.glob(pattern, recursive=True))  # noqa: PTH207 (patterns may be absolute)
        files = [each for each in found if not each.is_dir()]
        if files:
            return _check_regular(files)
        raise FileNotFoundError(f"no file matches {pattern}")
    raise FileNotFoundError(not_found(pattern))


def _files_in(folder: Path) -> list[Path]:
    """All files of a folder, except hidden ones, ``_`` files that tools write, and side files."""
    visible = [each for each in sorted(folder.iterdir()) if not each.name.startswith((".", "_"))]
    if any(each.is_dir() for each in visible):
        raise InputError(
            f"{folder} holds folders; select the files with a pattern, for example '{folder}/**/*.parquet'."
        )
    files = [each for each in visible if not each.name.endswith(SIDE)]
    if not files:
        raise FileNotFoundError(f"there are no files in {folder}")
    return _check_regular(files)


def _check_regular(files: list[Path]) -> list[Path]:
    """Refuse files that are not regular, or that appear under two names.

    A pipe gives its rows once, and whether it changed cannot be seen; standard input is for those. The rows of a file
    under two names would be released, or counted, twice.
    """
    found: dict[tuple[int, int], Path] = {}
    for file in files:
        status = file.stat()
        if not stat.S_ISREG(status.st_mode):
            raise InputError(
                f"{file} is not a regular file, and a pipe cannot be read twice; save its rows as a file, or pipe them "
                "to `bipartite privatize -`."
            )
        other = found.setdefault((status.st_dev, status.st_ino), file)
        if other is not file:
            raise InputError(f"{other} and {file} are the same file, which would be read twice; name it once.")
    return list(files)


def side_file(path: Path) -> Path:
    """The side file for the specs of a file that cannot carry them."""
    return path.with_name(path.name + SIDE)


def unchanged(files: Sequence[Path]) -> Callable[[], None]:
    """Return a check that no file has changed or been replaced since this call.

    Columns are checked first and rows are read later, by position: in another file, that may be a private column.
    """
    before = {file: _state(file) for file in files}

    def check() -> None:
        for file, state in before.items():
            if _state(file) != state:
                raise DataFileError(f"{file} changed while it was being read; release a copy that stays unchanged.")

    return check


def _state(file: Path) -> tuple[int, ...]:
    """The identity and state of a file; differs after any change."""
    try:
        status = file.stat()
    except OSError:
        return ()
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


@dataclass(frozen=True, slots=True)
class Asked:
    """The format of the input files, as far as the caller gives it."""

    kind: str | None = None
    delimiter: str | None = None
    encoding: str | None = None


def inputs(source: str, asked: Asked) -> tuple[Format, list[Path]]:
    """(the format of the input, its files); no files for standard input."""
    files = [] if source == STDIO else files_named(source)
    names = [str(file) for file in files] or [source]
    formats = {format_of(name, asked.kind, "input_format") for name in names}
    if len(formats) > 1:
        raise InputError(f"{source} matches files of several formats; release them one by one.")
    written = formats.pop()
    if (asked.delimiter or asked.encoding) and written.kind not in {"csv", "tsv"}:
        raise InputError(f"delimiter= and encoding= apply to CSV, but {source} is {written.kind}; leave them out.")
    return replace(written, asked_delimiter=_delimiter(asked.delimiter), encoding=_encoding(asked.encoding)), files


def _delimiter(given: str | None) -> str | None:
    found = "\t" if given == "\\t" else given
    # ASCII: one byte in every encoding, and never part of another letter.
    if found is not None and (len(found) != 1 or not found.isascii() or found in '"\r\n\0'):
        raise InputError(f"Expected delimiter= as one ASCII character, such as ';', '|' or '\\t', got {given!r}.")
    return found


def _encoding(given: str | None) -> str:
    if given is None:
        return UTF8
    plain = given.lower().replace("_", "-")
    return {"utf8": UTF8, "utf16": "utf-16", "latin1": "latin-1", "iso-8859-1": "latin-1"}.get(plain, plain)
