"""Data sets of one file: found, opened, and read with what is known of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reproduction.datasets.finding import find
from reproduction.datasets.opening import opened
from reproduction.datasets.results import Provenance, Table, provenance_of
from reproduction.datasets.sources import SOURCES

if TYPE_CHECKING:
    from collections.abc import Callable


def read_one(name: str, read: Callable[[bytes, str, Provenance], Table]) -> Table:
    """The table of a data set, by the function that knows its text."""
    source = SOURCES[name]
    found = find(source, "data")
    with opened(found) as stream:
        return read(stream.read(), found.path.name, provenance_of(source, found))
