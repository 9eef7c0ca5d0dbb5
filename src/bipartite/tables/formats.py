"""Which files a name stands for, and which format they have: told by their names, or asked for."""

from __future__ import annotations

import glob
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
TEXT: Final = ("csv", "tsv", "jsonl")
"""Formats whose values are text, and that cannot carry a spec themselves."""
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
EXTENSIONS: Final = {
    **dict.fromkeys(("http", "https", "s3", "gs", "gcs", "r2", "hf"), "httpfs"),
    **dict.fromkeys(("az", "azure", "abfss"), "azure"),
}
"""For each kind of address elsewhere the extension of DuckDB that reads it."""
UTF8: Final = "utf-8"
ENCODINGS: Final = {UTF8: "utf-8-sig", "utf-16": "utf-16", "latin-1": "latin-1"}
"""What DuckDB reads without an extension, as Python names it."""
SIDE: Final = ".bipartite.json"
"""What the name of a file of specs adds to that of its data."""
_COMPRESSIONS: Final = {".gz": "gzip", ".zst": "zstd"}


@dataclass(frozen=True, slots=True)
class Format:
    """The format of a file, and how the whole file is compressed."""

    kind: str
    compression: str | None = None
    asked_delimiter: str | None = None
    """What stands between cells, where the caller says so."""
    encoding: str = UTF8

    @property
    def is_text(self) -> bool:
        """Whether values are text."""
        return self.kind in TEXT

    @property
    def delimiter(self) -> str:
        """What stands between the cells of a CSV file."""
        return self.asked_delimiter or ("\t" if self.kind == "tsv" else ",")


class Address(str):
    """A file elsewhere, such as ``s3://bucket/people.parquet``, which DuckDB reads where it stands."""

    __slots__ = ()


File = Path | Address
"""A file on a disk of this machine, or elsewhere."""


def format_of(name: str, asked: str | None, parameter: str) -> Format:
    """The format of a file by its name, or the one ``asked`` for; ``parameter`` is how to ask."""
    path = Path(name)
    compression = _COMPRESSIONS.get(path.suffix.lower())
    suffix = path.with_suffix("").suffix.lower() if compression else path.suffix.lower()
    kind = asked or _SUFFIXES.get(suffix)
    if kind is None:
        what = "standard input or output" if name == STDIO else repr(name)
        msg = f"Expected a format for {what}, which its name does not tell; use {parameter}={'|'.join(KINDS)}."
        raise InputError(msg)
    if compression and kind == "parquet":
        msg = f"Expected no compression around Parquet, which compresses its own columns; name {path.stem!r} instead."
        raise InputError(msg)
    return Format(kind, compression)


def local(name: str) -> str:
    """A name as the disk knows it: that of a ``file://`` address."""
    if not name.lower().startswith("file://"):
        return name
    parts = urlsplit(name)
    if parts.netloc not in {"", "localhost"}:
        msg = f"Expected file:///PATH, a file of this machine, got one of {parts.netloc!r}; copy it here first."
        raise InputError(msg)
    return unquote(parts.path)


def files_named(pattern: str) -> list[File]:
    """The files that a name, a folder or a pattern such as ``part-*.parquet`` stands for, sorted by name."""
    if pattern.partition("://")[0].lower() in EXTENSIONS:
        return [Address(pattern)]
    pattern = local(pattern)
    path = Path(pattern)
    if path.is_dir():
        return _files_in(path)
    if path.exists():
        return _checked([path])
    if any(letter in pattern for letter in "*?["):
        found = sorted(Path(each) for each in glob.glob(pattern, recursive=True))  # noqa: PTH207 (patterns may be absolute)
        files = [each for each in found if not each.is_dir()]
        if files:
            return _checked(files)
        msg = f"no file matches {pattern}"
        raise FileNotFoundError(msg)
    raise FileNotFoundError(not_found(pattern))


def _files_in(folder: Path) -> list[File]:
    """All files of a folder, but hidden ones and those that tools leave beside data; nothing else is passed over."""
    there = [each for each in sorted(folder.iterdir()) if not each.name.startswith((".", "_"))]
    if any(each.is_dir() for each in there):
        msg = f"{folder} holds folders; say which files are meant with a pattern, for example '{folder}/**/*.parquet'."
        raise InputError(msg)
    files = [each for each in there if not each.name.endswith(SIDE)]
    if not files:
        msg = f"there are no files in {folder}"
        raise FileNotFoundError(msg)
    return _checked(files)


def _checked(files: list[Path]) -> list[File]:
    """These files, each a regular one, and none there under two names.

    Files are opened more than once: a pipe would lose the rows that were read first, or wait for ever. The rows of a
    file under two names would be released, or counted, twice.
    """
    found: dict[tuple[int, int], Path] = {}
    for file in files:
        told = file.stat()
        if not stat.S_ISREG(told.st_mode):
            msg = (
                f"{file} is not a regular file, and a pipe cannot be read twice; save its rows as a file, or pipe them "
                "to `bipartite privatize -`."
            )
            raise InputError(msg)
        other = found.setdefault((told.st_dev, told.st_ino), file)
        if other is not file:
            msg = f"{other} and {file} are one file under two names, which would be read twice; name it once."
            raise InputError(msg)
    return list(files)


def unchanged(files: Sequence[File]) -> Callable[[], None]:
    """A check that no file of this machine was changed or replaced since this call.

    Columns are checked first and rows are read later, by position: in another file, a private column may stand there.
    """
    before = {file: _state(file) for file in files if isinstance(file, Path)}

    def check() -> None:
        for file, state in before.items():
            if _state(file) != state:
                msg = f"{file} changed while it was read; release a copy of it that nothing changes."
                raise DataFileError(msg)

    return check


def _state(file: Path) -> tuple[int, ...]:
    """What tells a file from another one, and from itself before a change."""
    try:
        told = file.stat()
    except OSError:
        return ()
    return (told.st_dev, told.st_ino, told.st_size, told.st_mtime_ns, told.st_ctime_ns)


@dataclass(frozen=True, slots=True)
class Asked:
    """What is said about the files that are read, where their names do not tell it."""

    kind: str | None = None
    delimiter: str | None = None
    encoding: str | None = None


def inputs(source: str, asked: Asked) -> tuple[Format, list[File]]:
    """(the format of what is read, its files); no files for standard input."""
    files = [] if source == STDIO else files_named(source)
    names = [str(file) if isinstance(file, Path) else urlsplit(file).path for file in files] or [source]
    formats = {format_of(name, asked.kind, "input_format") for name in names}
    if len(formats) > 1:
        msg = f"{source} stands for files of several formats; release them one by one."
        raise InputError(msg)
    written = formats.pop()
    if (asked.delimiter or asked.encoding) and written.kind not in {"csv", "tsv"}:
        msg = f"delimiter= and encoding= belong to CSV, but {source} is {written.kind}; leave them out."
        raise InputError(msg)
    return replace(written, asked_delimiter=_delimiter(asked.delimiter), encoding=_encoding(asked.encoding)), files


def _delimiter(given: str | None) -> str | None:
    found = "\t" if given == "\\t" else given
    # ASCII: one byte in every encoding, which is no part of another letter.
    if found is not None and (len(found) != 1 or not found.isascii() or found in '"\r\n\0'):
        msg = f"Expected delimiter= as one ASCII character, such as ';', '|' or '\\t', got {given!r}."
        raise InputError(msg)
    return found


def _encoding(given: str | None) -> str:
    if given is None:
        return UTF8
    plain = given.lower().replace("_", "-")
    return {"utf8": UTF8, "utf16": "utf-16", "latin1": "latin-1", "iso-8859-1": "latin-1"}.get(plain, plain)
