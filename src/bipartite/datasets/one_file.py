"""Data sets of one file: found, opened, and read with what is known of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bipartite.datasets.finding import find
from bipartite.datasets.opening import opened
from bipartite.datasets.results import provenance_of
from bipartite.datasets.sources import SOURCES

if TYPE_CHECKING:
    from collections.abc import Callable

    from bipartite.datasets.results import Provenance, Table


def read_one(name: str, read: Callable[[bytes, str, Provenance], Table]) -> Table:
    """The table of a data set, by the function that knows its text."""
    source = SOURCES[name]
    found = find(source, "data")
    with opened(found) as stream:
        return read(stream.read(), found.path.name, provenance_of(source, found))
