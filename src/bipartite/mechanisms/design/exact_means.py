"""Tickets whose mean is exactly the value: Σ_y T_xy·k_y = W·k(x) in integers, for outputs and values on a grid.

Rounding probabilities to tickets changes the sum and the mean of a row by a few tickets. Both are restored exactly:
moving a ticket from one output to another changes the mean by their distance. The distances of a few outputs generate
every multiple of their greatest common divisor, and W, the total of a row, is a multiple of that of all distances.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from bipartite.errors import DesignError
from bipartite.lottery import MAX_TOTAL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.lottery import Epsilon

_ROOMS: Final = (2**12, 2**9, 2**6, 2**3)
"""Tickets that may be moved to or from an output in a row, tried in turn: a few hundred outputs need fewer than the
first, a handful of outputs far fewer."""


def slack(epsilon: float) -> float:
    """The relative margin below e^ε that the ratios of a design must keep, so that tickets can be moved afterwards."""
    return 1e-6 * min(1.0, epsilon) * min(max(1.0, math.exp(epsilon) / 1e3), 100.0)


def tickets_with_means(
    matrix: NDArray[np.float64], outputs: NDArray[np.int64], values: NDArray[np.int64], epsilon: Epsilon
) -> NDArray[np.int64]:
    """Tickets for these rows that keep ε and have exactly these means.

    ``matrix`` has the means ``values`` over ``outputs``, both integers, up to rounding, and ratios below e^ε by
    `slack`.
    """
    apart = outputs - outputs[0]
    unit = int(np.gcd.reduce(apart))
    total = MAX_TOTAL - MAX_TOTAL % unit
    places = (apart // unit).tolist()
    tickets = np.rint(matrix * total).astype(np.int64)
    # For outputs with few tickets rounding alone may exceed e^ε; all others have `slack` to spare.
    floors = np.maximum(tickets.min(axis=0), 1)
    ceilings = np.array([min(epsilon.most_near_tickets(floor), total) for floor in floors.tolist()])
    tickets = np.clip(tickets, floors, ceilings)
    room = slack(float(epsilon)) / 2 * floors
    able = (_moves(places, np.flatnonzero(room >= least).tolist()) for least in _ROOMS)
    moves = next((each for each in able if each is not None), None)
    if moves is None:
        raise _too_fine(epsilon)
    for row, value in zip(tickets, (values - outputs[0]).tolist(), strict=True):
        held = row.tolist()
        missing = total - sum(held)
        off = total * value // unit - sum(count * place for count, place in zip(held, places, strict=True))
        for output, count in moves.correct(missing, off).items():
            row[output] += count
    most, least = tickets.max(axis=0).tolist(), tickets.min(axis=0).tolist()
    if min(least) < 1 or not all(epsilon.allows(a, b) for a, b in zip(most, least, strict=True)):
        raise _too_fine(epsilon)
    return tickets


class _Moves(NamedTuple):
    """Three outputs that absorb the corrections, and combinations of other outputs for each remainder."""

    places: list[int]
    base: int
    near: int
    """The output nearest to ``base``."""
    far: int
    remainders: dict[int, dict[int, int]]
    """For every number below the distance of ``near``, moves to other outputs with that remainder."""

    def correct(self, missing: int, off: int) -> dict[int, int]:
        """The tickets to add to each output so that their sum grows by ``missing`` and their moment by ``off``."""
        places, base = self.places, self.places[self.base]
        change = {self.base: missing, self.near: 0, self.far: 0}
        off -= missing * base

        def move(output: int, count: int) -> int:
            """Move tickets from the base; returns the change of the moment."""
            change[output] = change.get(output, 0) + count
            change[self.base] -= count
            return count * (places[output] - base)

        off -= move(self.far, round(off / (places[self.far] - base)))
        distance = places[self.near] - base
        for output, count in self.remainders[off % abs(distance)].items():
            off -= move(output, count)
        off -= move(self.near, off // distance)
        if off:
            raise AssertionError
        return change


def _moves(places: list[int], roomy: list[int]) -> _Moves | None:
    """Moves among the outputs that have room; None if they do not generate every number."""
    pairs = sorted((places[b] - places[a], a, b) for a, b in itertools.pairwise(roomy))
    if not pairs:
        return None
    distance, base, near = pairs[0]
    far = max(roomy, key=lambda each: abs(places[each] - places[base]))
    # The fewest moves for each remainder, by breadth-first search.
    remainders: dict[int, dict[int, int]] = {0: {}}
    border = [0]
    while border:
        found = []
        for remainder in border:
            for output in roomy:
                for count in (1, -1):
                    other = (remainder + count * (places[output] - places[base])) % distance
                    if other not in remainders:
                        made = dict(remainders[remainder])
                        made[output] = made.get(output, 0) + count
                        remainders[other] = made
                        found.append(other)
        border = found
    return _Moves(places, base, near, far, remainders) if len(remainders) == distance else None


def _too_fine(epsilon: Epsilon) -> DesignError:
    return DesignError(
        f"2^52 tickets cannot keep ε={epsilon.text} and every mean exactly; use a smaller ε, or fewer values."
    )
