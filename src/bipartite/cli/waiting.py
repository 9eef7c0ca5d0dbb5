"""Designs, proofs and searches that may take long say so beforehand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bipartite.answers.estimation.output_scores import MOST_DENSE
from bipartite.cli.output import announce
from bipartite.mechanisms import BRR

if TYPE_CHECKING:
    from bipartite.domains import Domain
    from bipartite.mechanisms import Mechanism

# Rough seconds on one core at 2.8 GHz. For each pair of places or items: to build BRR, and to prove its ε. For each
# triple of values: to solve the linear program, and to decompose a matrix. For each pair of values of a set, and for
# each cell of a table, in a search.
_BUILT: Final = 4e-7
_PROVED: Final = 3e-7
_SOLVED: Final = 2e-7
_DECOMPOSED: Final = 5e-8
_PAIR: Final = 6e-9
_CELL: Final = 1e-5
_MOST_CELLS: Final = 4_000_000


def announce_design(name: str, domain: Domain) -> None:
    """Say how long it takes to build the mechanism of this name."""
    if name == "brr" and not domain.has_ends:
        announce("building this mechanism", _BUILT * len(domain) ** 2)
    if name == "optimal":
        announce("solving the linear program", _SOLVED * len(domain) ** 3)


def announce_proof(mechanism: Mechanism) -> None:
    """Say how long the proof of ε takes: windows over many places or items are proved in pairs."""
    if isinstance(mechanism, BRR) and not mechanism.domain.has_ends:
        announce("proving ε", _PROVED * len(mechanism.domain) ** 2)


def announce_search(domain: Domain, rounds: int = 1, *, statistics: bool = True) -> None:
    """Say how long it takes to compare every mechanism at this many ε."""
    announce("this", expected_seconds(domain, rounds, statistics=statistics), "fewer values take less")


def expected_seconds(domain: Domain, rounds: int, *, statistics: bool) -> float:
    """About how many seconds a comparison takes."""
    size = len(domain)
    tables = _CELL * size**2 if size**2 * rounds <= _MOST_CELLS else 0.0
    if not domain.has_ends:
        return rounds * (tables + _PAIR * float(size) ** 2)
    return rounds * (tables + (_DECOMPOSED * size**3 if statistics and size <= MOST_DENSE else 0.0))
