"""Where each public data set comes from: what ``sources.toml`` says, as objects."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final


@dataclass(frozen=True)
class File:
    """One file that holds a part of a data set, as its publisher offers it or as a copy that is known."""

    name: str
    """What the file is called in the folder of data sets and in the cache."""
    urls: tuple[str, ...] = ()
    """The publisher's address, then its mirrors; none where the file is a copy that cannot be fetched."""
    sha256: str | None = None
    """Of what the file holds, unpacked. None: no checksum of the publisher's content is known."""
    members: tuple[str, ...] = ()
    """The way through archives: the file in the archive, or in the archive in the archive."""
    copy: str = ""
    """Whose copy the checksum is of, where it is not known to be that of the publisher's bytes."""


@dataclass(frozen=True)
class Source:
    """A data set: its files, and what to say about them."""

    name: str
    rows: int
    """As published, or as counted in the copy that is known."""
    licence: str
    citation: str
    parts: Mapping[str, tuple[File, ...]] = field(repr=False)
    """For each part the files that can serve, the best first."""
    columns: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Names and kinds of the columns of a table, in the order of the file."""
    separator: str = ","
    has_header: bool = True
    comment: str = ""
    """What lines that are no rows begin with."""
    missing: tuple[str, ...] = ()
    """What stands in the place of a number that is missing."""
    targets: tuple[str, ...] = ()
    """What models of this data set predict."""

    @property
    def url(self) -> str | None:
        """The publisher's address; None where the data set is a copy that cannot be fetched."""
        return next((url for files in self.parts.values() for file in files for url in file.urls), None)


def _frozen(said: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(each) if isinstance(each, list) else each for name, each in said.items()}


def _read() -> dict[str, Source]:
    said = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    sources = {}
    for name, each in said["sources"].items():
        parts = {part: tuple(File(**_frozen(file)) for file in files) for part, files in each.pop("parts").items()}
        columns = {column: kind for kind, *columns in each.pop("columns", ()) for column in columns}
        terms = said["terms"][name.partition("-")[0]]
        sources[name] = Source(name, parts=parts, columns=columns, **terms, **_frozen(each))
    return sources


SOURCES: Final[Mapping[str, Source]] = MappingProxyType(_read())
"""Every data set that the laboratory reads, by its name."""
