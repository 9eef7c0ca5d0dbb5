"""How long advice may take: the time left, and what to say when it runs out."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Final

from bipartite.answers.estimation.scores import MOST_DENSE
from bipartite.domains.base import as_real
from bipartite.errors import InputError, shown
from bipartite.mechanisms.design.anchor_losses import EnoughError

if TYPE_CHECKING:
    from collections.abc import Callable

    from bipartite.domains import Domain


# Rough seconds on one core at 2.8 GHz: per cubed number of values to decompose a matrix, per pair of values of a set,
# and per cell of a table.
_DECOMPOSED: Final = 5e-8
_PAIR: Final = 6e-9
_CELL: Final = 1e-5
_MOST_CELLS: Final = 4_000_000


def expected_seconds(domain: Domain, rounds: int = 1, *, statistics: bool = True) -> float:
    """About how many seconds it takes to compare every mechanism at this many ε."""
    size = len(domain)
    tables = _CELL * size**2 if size**2 * rounds <= _MOST_CELLS else 0.0
    if not domain.has_ends:
        return rounds * (tables + _PAIR * float(size) ** 2)
    return rounds * (tables + (_DECOMPOSED * size**3 if statistics and size <= MOST_DENSE else 0.0))


def constant_seconds(domain: Domain) -> float:
    """About how long it takes to find the best constant answer: on a set, a look at every pair of its values."""
    return 0.0 if domain.has_ends else _PAIR * float(len(domain)) ** 2


class Clock:
    """Stops a search when its seconds are over; without a number of seconds, never.

    ``told`` is called with the fraction of a long step that is done.
    """

    def __init__(self, seconds: object = None, told: Callable[[float], None] | None = None) -> None:
        if seconds is not None and not 0 < as_real(seconds) < math.inf:
            raise InputError(f"Expected seconds as a positive number, got {shown(seconds)}; try seconds=30.")
        self.seconds = None if seconds is None else as_real(seconds)
        self._ends = math.inf if self.seconds is None else time.monotonic() + self.seconds
        self._told = told

    @property
    def is_over(self) -> bool:
        """Whether there is no time left."""
        return time.monotonic() >= self._ends

    def allows(self, seconds: float) -> bool:
        """Whether a step that takes about this long leaves half of the time to others."""
        return time.monotonic() + 2 * seconds <= self._ends

    @property
    def note(self) -> str:
        """The reason given for what was left out."""
        return f"left out: the {self.seconds:g} s were over"

    def check(self, part: float) -> None:
        """Called by a long search now and then; stops it when the time is over."""
        if self._told is not None:
            self._told(part)
        if self.is_over:
            raise EnoughError
