"""Where each public data set comes from: what ``sources.toml`` says, as objects."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reproduction.datasets.texts import Kind


@dataclass(frozen=True)
class File:
    """One file that holds a part of a data set, as its publisher offers it or as a copy that is known."""

    name: str
    """What the file is called in the folder of data sets and in the cache."""
    urls: tuple[str, ...] = ()
    """The publisher's address, then its mirrors; none where the file is a copy that cannot be fetched."""
    sha256: str | None = None
    """Of these bytes. None: no checksum of the publisher's file is known."""
    content_sha256: str | None = None
    """Of what the file holds once it is unpacked; the publisher's own bytes."""
    members: tuple[str, ...] = ()
    """The way through archives: the file in the archive, or in the archive in the archive."""
    copy_sha256: str | None = None
    """A copy under the publisher's file name, known not to be proven the publisher's bytes."""
    is_copy: bool = False
    """Content of the publisher, put together by others."""
    note: str = ""
    """What to know about these bytes."""


@dataclass(frozen=True)
class Source:
    """A data set: its files, and what to say about them."""

    name: str
    call: str
    """How it is read in Python."""
    rows: int
    """As published, or as counted in the copy that is known."""
    licence: str
    citation: str
    parts: Mapping[str, tuple[File, ...]] = field(repr=False)
    """For each part the files that can serve, the best first."""
    columns: Mapping[str, Kind] = field(default_factory=dict, repr=False)
    """Names and kinds of the columns of a table, in the order of the file."""

    @property
    def url(self) -> str | None:
        """The publisher's address; None where the data set is a copy that cannot be fetched."""
        return next((url for files in self.parts.values() for file in files for url in file.urls), None)


def _file(said: Mapping[str, Any]) -> File:
    fields: dict[str, Any] = {name: tuple(each) if isinstance(each, list) else each for name, each in said.items()}
    return File(**fields)


def _read() -> dict[str, Source]:
    said = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return {
        name: Source(
            name,
            each["call"],
            each["rows"],
            said["licences"].get(each["licence"], each["licence"]),
            said["citations"].get(each["citation"], each["citation"]),
            MappingProxyType({part: tuple(map(_file, files)) for part, files in each["parts"].items()}),
            MappingProxyType(each.get("columns", {})),
        )
        for name, each in said["sources"].items()
    }


SOURCES: Final[Mapping[str, Source]] = MappingProxyType(_read())
"""Every data set that bipartite reads, by its name."""
