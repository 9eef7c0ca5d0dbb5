"""Searches among mechanisms that may take long say so beforehand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bipartite.answers.estimation.output_scores import MOST_DENSE
from bipartite.cli.output import announce

if TYPE_CHECKING:
    from bipartite.domains import Domain

# Rough seconds on one core at 2.8 GHz: per cubed number of values to decompose a matrix, per pair of values of a set,
# and per cell of a table.
_DECOMPOSED: Final = 5e-8
_PAIR: Final = 6e-9
_CELL: Final = 1e-5
_MOST_CELLS: Final = 4_000_000


def announce_search(domain: Domain, rounds: int = 1, *, statistics: bool = True) -> None:
    """Say how long it takes to compare every mechanism at this many ε, if that is long."""
    announce("this", expected_seconds(domain, rounds, statistics=statistics), "fewer values take less")


def expected_seconds(domain: Domain, rounds: int, *, statistics: bool) -> float:
    """About how many seconds a comparison takes."""
    size = len(domain)
    tables = _CELL * size**2 if size**2 * rounds <= _MOST_CELLS else 0.0
    if not domain.has_ends:
        return rounds * (tables + _PAIR * float(size) ** 2)
    return rounds * (tables + (_DECOMPOSED * size**3 if statistics and size <= MOST_DENSE else 0.0))
