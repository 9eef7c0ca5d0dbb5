"""Which format a file has: told by its name, or asked for."""

from __future__ import annotations

import glob
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bipartite.errors import InputError

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
_COMPRESSIONS: Final = {".gz": "gzip", ".zst": "zstd"}


@dataclass(frozen=True, slots=True)
class Format:
    """The format of a file, and how the whole file is compressed."""

    kind: str
    compression: str | None = None

    @property
    def is_text(self) -> bool:
        """Whether values are text."""
        return self.kind in TEXT

    @property
    def delimiter(self) -> str:
        """What stands between the cells of a CSV file."""
        return "\t" if self.kind == "tsv" else ","


def format_of(name: str, asked: str | None, option: str) -> Format:
    """The format of a file by its name, or the one ``asked`` for; ``option`` is how to ask."""
    path = Path(name)
    compression = _COMPRESSIONS.get(path.suffix.lower())
    suffix = path.with_suffix("").suffix.lower() if compression else path.suffix.lower()
    kind = asked or _SUFFIXES.get(suffix)
    if kind is None:
        what = "standard input or output" if name == STDIO else repr(name)
        msg = f"Expected a format for {what}, which its name does not tell; use {option} {'|'.join(KINDS)}."
        raise InputError(msg)
    if compression and kind == "parquet":
        msg = f"Expected no compression around Parquet, which compresses its own columns; name {path.stem!r} instead."
        raise InputError(msg)
    return Format(kind, compression)


def files_named(pattern: str) -> list[Path]:
    """The files that a name or a pattern such as ``part-*.parquet`` stands for, sorted by name."""
    path = Path(pattern)
    if path.is_dir():
        msg = f"{pattern} is a folder; name the files in it, for example {pattern}/*.parquet."
        raise InputError(msg)
    if path.exists():
        return [path]
    if any(letter in pattern for letter in "*?["):
        found = sorted(Path(each) for each in glob.glob(pattern, recursive=True))  # noqa: PTH207 (patterns may be absolute)
        files = [each for each in found if each.is_file()]
        if files:
            return files
        msg = f"no file matches {pattern}"
        raise FileNotFoundError(msg)
    msg = f"{pattern} is not there"
    raise FileNotFoundError(msg)


def inputs(source: str, asked: str | None) -> tuple[Format, list[Path]]:
    """(the format of what is read, its files); no files for standard input."""
    if source == STDIO:
        return format_of(source, asked, "--from"), []
    files = files_named(source)
    formats = {format_of(str(file), asked, "--from") for file in files}
    if len(formats) > 1:
        msg = f"{source} stands for files of several formats; release them one by one."
        raise InputError(msg)
    return formats.pop(), files
