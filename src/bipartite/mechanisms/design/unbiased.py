r"""The unbiased ε-LDP report of a number with the least variance, by linear programming on a grid of outputs.

Values are x = 0 … N − 1, in steps of the domain; outputs are v on a grid that extends beyond both ends. With
E = e\ :sup:`ε` and P\ :sub:`xy` = [z\ :sub:`y` + (E − 1)·g\ :sub:`xy`]/E, 0 ≤ g ≤ z, as in ``optimum.py``:

    minimise Σ_x π_x Σ_y P_xy·v_y²   where Σ_y P_xy = 1 and Σ_y P_xy·v_y = x for every x,

or, for the worst case, the largest of Σ_y P_xy·v_y² − x². A vertex of this program uses at most 2N outputs for a prior,
and 3N for the worst case (Badanidiyuru et al. 2023 prove 2N for any outputs): every output in use has one more basic
unknown than it has rows.

**The loss by the grid.** Let d be its step. A report between two neighbours of the grid can be replaced by one of them,
at random with the same mean: this depends on the report alone, so it keeps ε and the mean, and adds at most d²/4 to the
variance. So the best report on the grid is at most d²/4 worse than the best of all within its ends. The ends are moved
outwards until neither is used.

**Mirrored values.** If the prior is symmetric, or for the worst case, a release and its mirror image have the same
variance, and so does their average: half of the rows suffice.

**Exact means.** Tickets have the mean of their value exactly: Σ_y T_xy·k_y = W·k(x) in integers, for outputs and values
on a grid. Rounding probabilities to tickets changes the sum and the mean of a row by a few tickets. Both are restored
exactly: moving a ticket from one output to another changes the mean by their distance. The distances of a few outputs
generate every multiple of their greatest common divisor, and W, the total of a row, is a multiple of that of all
distances.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from bipartite.errors import DesignError
from bipartite.lottery import MAX_TOTAL
from bipartite.mechanisms.design.optimum import solve_program, sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.lottery import Epsilon

    Array = NDArray[np.float64]

LARGEST: Final = 200
"""Values. Seconds of dual simplex on one core (ε = 0.5 to 8): 0.2 to 0.7 for 100 values and 0.4 to 2 for 200 where the
prior is symmetric or for the worst case; else 2 and 7."""
_LEAST_E, _LARGEST_E = math.exp(0.9e-4), math.exp(12)
"""Outside this range 2^52 tickets leave no room for exact means."""
# Values times outputs: the size of the program. About 128 to 256 outputs, up to a factor of √2.
_CELLS: Final = 12_800
_FEWEST, _MOST = 128, 256
# The half-width of the grid relative to that of Piecewise, C = (s + 1)/(s − 1) times half the range, s = e^(ε/2).
# Optima for uniform populations (2 to 100 values, ε from 0.1 to 8) extend to 1.25·C at most.
_REACH: Final = 1.5
_WIDER: Final = 1.5
_ROUNDS: Final = 4
# Outputs below this share of the largest are rounding of the solver.
_NOTHING: Final = 1e-11
_ROOMS: Final = (2**12, 2**9, 2**6, 2**3)
"""Tickets that may be moved to or from an output in a row, tried in turn: a few hundred outputs need fewer than the
first, a handful of outputs far fewer."""


class Unbiased(NamedTuple):
    """The solution: probabilities, and outputs as integers."""

    matrix: Array
    outputs: NDArray[np.int64]
    step: int
    """One step of the domain, in the same units."""


def unbiased_matrix(size: int, e: float, weights: Array | None) -> Unbiased:
    """The release with the least expected variance for these weights, or without weights the least worst variance.

    Rows have sum 1 and the right mean up to the solver's tolerance of 1e-10 of the grid; ratios are at most ``e``.
    """
    if size > LARGEST:
        raise DesignError(
            f"Expected at most {LARGEST} values for the best unbiased report, got {size}; "
            "use BRR(…, m='mean', edges='padded'), Piecewise or Hybrid, or an Interval of fewer points."
        )
    if not _LEAST_E <= e <= _LARGEST_E:
        raise DesignError(
            f"Expected ε from 0.0001 to 12 for the best unbiased report, got {math.log(e):.4g}; use Duchi or Hybrid."
        )
    s = math.sqrt(e)
    reach = _REACH * (s + 1) / (s - 1) * (size - 1) / 2
    for _ in range(_ROUNDS):
        outputs, step = _grid(size, reach)
        matrix = _solve(size, e, weights, outputs, step)
        used = np.flatnonzero(matrix.any(axis=0))
        if used[0] > 0 and used[-1] < len(outputs) - 1:
            break
        reach *= _WIDER
    return Unbiased(matrix[:, used], outputs[used], step)


def _grid(size: int, reach: float) -> tuple[NDArray[np.int64], int]:
    """(outputs, one step of the domain), both as whole numbers of a common unit, counted from the first value.

    Outputs lie at middle ± j·2^power steps of the domain, j = 0 … half; the middle is (N − 1)/2.
    """
    wanted = min(max(_CELLS / size, _FEWEST), _MOST)
    power = round(math.log2(2 * reach / wanted))
    half = math.ceil(reach / 2.0**power)
    # In units of step/2^fine the middle and the grid are whole.
    fine = max(1, -power)
    places = np.arange(-half, half + 1, dtype=np.int64) << (power + fine)
    return places + ((size - 1) << (fine - 1)), 1 << fine


def _solve(size: int, e: float, weights: Array | None, outputs: NDArray[np.int64], step: int) -> Array:
    mirrored = weights is None or np.array_equal(weights, weights[::-1])
    # Distances from the middle, in units of the farthest output.
    middle = (size - 1) * step / 2
    scale = float(outputs[-1] - middle)
    v, x = ((each.astype(np.float64) - middle) / scale for each in (outputs, np.arange(size) * step))
    rows = (size + 1) // 2 if mirrored else size
    if weights is not None and mirrored:
        weights = weights[:rows] * np.where(np.arange(rows) == size - 1 - np.arange(rows), 1, 2)
    z, g = _solve_program(v, x[:rows], e, weights, mirrored=mirrored)
    matrix = _clean(z, g, e, v, x[:rows])
    if not mirrored:
        return matrix
    whole = np.zeros((size, len(v)))
    whole[:rows] += matrix / 2
    whole[size - rows :] += matrix[::-1, ::-1] / 2
    # Every row was counted half, except the middle one, which is the average of itself and its mirror image.
    alone = np.arange(size) != size - 1 - np.arange(size)
    whole[alone] *= 2
    return whole


def _solve_program(v: Array, x: Array, e: float, weights: Array | None, *, mirrored: bool) -> tuple[Array, Array]:
    """(z, g) of an optimum. Unknowns in order: z (shared by two outputs if mirrored), g by rows, the largest loss."""
    rows, outputs = len(x), len(v)
    entry = np.arange(rows * outputs)
    row, output = entry // outputs, entry % outputs
    own = np.minimum(output, outputs - 1 - output) if mirrored else output
    ceilings = int(own.max()) + 1
    raised = ceilings + entry
    columns = ceilings + len(entry) + (weights is None)

    def sums(values: Array, count: int, where: NDArray[np.int64]) -> Any:  # noqa: ANN401 (an array of scipy's)
        """Rows of Σ P·values."""
        place = (np.concatenate([where, where]), np.concatenate([own, raised]))
        held = np.concatenate([values / e, values * (1 - 1 / e)])
        return sparse.coo_array((held, place), shape=(count, columns))

    ones, square = np.ones(len(entry)), v[output] ** 2
    below = sparse.coo_array(
        (np.concatenate([ones, -ones]), (np.concatenate([entry, entry]), np.concatenate([raised, own]))),
        shape=(len(entry), columns),
    )
    limits = np.zeros(len(entry))
    if weights is None:
        cost = np.zeros(columns)
        cost[-1] = 1
        largest = sparse.coo_array((np.ones(rows), (np.arange(rows), np.full(rows, columns - 1))), (rows, columns))
        below = sparse.vstack([below, sums(square, rows, row) - largest], format="csr")
        limits = np.concatenate([limits, x**2])
    else:
        cost = sums(square * weights[row], 1, np.zeros_like(row)).toarray().ravel()
    equal = sparse.vstack([sums(ones, rows, row), sums(v[output], rows, row)], format="csr")
    totals = np.concatenate([np.ones(rows), x])
    solution = solve_program(cost, below.tocsr(), limits, equal, totals, "Use fewer values, or Piecewise.").x
    z = solution[:ceilings]
    return (np.concatenate([z, z[: outputs - ceilings][::-1]]) if mirrored else z), solution[raised].reshape(rows, -1)


def _clean(z: Array, g: Array, e: float, v: Array, x: Array) -> Array:
    """P corrected for the solver's rounding: first the ratios, then sums and means, by about 1e-10 of each entry.

    A row is multiplied by 1 + a + b·(v − μ), where a and b satisfy the two conditions.
    """
    z = np.where(z < _NOTHING * z.max(), 0.0, z)
    matrix: Array = z / e + (1 - 1 / e) * np.clip(g, 0.0, z)
    for _ in range(2):
        total = matrix.sum(axis=1, keepdims=True)
        mean = (matrix @ v)[:, None] / total
        spread = (matrix * (v - mean) ** 2).sum(axis=1, keepdims=True)
        matrix = matrix * (1 / total + (x[:, None] - mean) / spread * (v - mean))
    return matrix


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
