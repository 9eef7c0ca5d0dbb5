"""Values on a circle: hours, months, days of the week, directions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.domains.base import MAX_SIZE, MAX_SPEC_INTEGER, as_real, whole_number
from bipartite.domains.integers import Integers
from bipartite.domains.sets import SetDomain, check_labels
from bipartite.errors import DomainError, InputError, Problems, shown
from bipartite.lottery.order import RingOrder
from bipartite.texts import escaped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from bipartite.domains.base import Indices, Reals

_FEWEST: Final = 2


class Cyclic(SetDomain):
    """N values on a circle; the loss of reporting y when x is true is the shorter way round, in steps.

    After the last value comes the first: 23 h and 1 h are two hours apart, December and January one month. The largest
    loss is ⌊N/2⌋. There are no ends, so reports need no padding and no clamping.

    Parameters
    ----------
    size
        N, the number of values, two or more.
    start
        The first value, a whole number: ``Cyclic(12, start=1)`` for months 1 … 12.
    labels
        Names of the values in their order, instead of numbers: ``labels=["Mon", "Tue", …]``.

    Notes
    -----
    The m nearest values of x are x − ⌊m/2⌋ … x − ⌊m/2⌋ + m − 1, modulo N. With odd m that is (m − 1)/2 on each side.
    With even m two values tie for the last place, and the one **before** x is taken. The rule is the same for every x,
    so mechanisms on a circle are invariant under rotation.

    Examples
    --------
    >>> hours = Cyclic(24)
    >>> hours.losses(23)[:3].tolist()
    [1.0, 2.0, 3.0]
    >>> months = Cyclic(12, start=1)
    >>> months[0], months.encode(12), float(months.losses(11)[0])
    (1, 11, 1.0)
    >>> Cyclic(4, labels=["N", "E", "S", "W"]).nearest([350, 100], period=360)
    ['N', 'E']
    """

    __slots__ = ()
    wraps = True

    def __init__(self, size: int, *, start: int = 0, labels: Sequence[Any] | None = None) -> None:
        problems = Problems()
        size, start = whole_number("size", size, problems), whole_number("start", start, problems)
        if not problems:
            if size < _FEWEST:
                problems.add(f"Expected size of at least 2, got {shown(size)}; a domain needs at least two values.")
            if size > MAX_SIZE:
                problems.add(f"Expected at most 2^31 values, got {shown(size)}; use coarser steps.")
            if max(abs(start), abs(start + size - 1)) > MAX_SPEC_INTEGER:
                problems.add("Expected values below 2^53 in size; choose a start nearer to zero.")
            if start and labels is not None:
                problems.add("Expected either start= or labels=, got both; labels are the values, in order.")
        names = check_labels(labels, None if problems else size, problems)
        problems.raise_if_any(DomainError)
        self._finish(RingOrder(size), names, numbers=Integers(start, start + size - 1))

    @property
    def start(self) -> int:
        """The first value, if values are numbers."""
        return self.numbers.low

    @property
    def step(self) -> float:
        return 1.0

    def losses(self, x: int) -> Reals:
        """The loss of reporting each value when value number x is true: the number of steps the shorter way round."""
        apart = np.abs(np.arange(self.size) - x)
        steps: Reals = np.minimum(apart, self.size - apart).astype(np.float64)
        return steps

    def angles(self) -> Reals:
        """The direction of each value in radians: equally spaced, 0 for the first."""
        return np.linspace(0.0, 2 * math.pi, self.size, endpoint=False, dtype=np.float64)

    def nearest(self, numbers: ArrayLike, *, period: float) -> Indices | list[Any]:
        """The values nearest to numbers with this period, such as degrees with period 360.

        The first value is at 0 and each next one period/N further: number v becomes value number
        ⌊v·N/period + 1/2⌋ modulo N. Of two equally near values the later is taken.
        """
        length = as_real(period)
        if not 0 < length < math.inf:
            raise InputError(f"Expected period as a positive number, such as 360 for degrees, got {shown(period)}.")
        try:
            given = np.asarray(numbers, dtype=np.float64)
        except (TypeError, ValueError):
            given = np.array([math.nan])
        if given.ndim != 1 or not np.isfinite(given).all():
            raise InputError("Expected finite numbers in a list or one-dimensional array; remove or repair the others.")
        turns = np.mod(given / length, 1.0)
        found = np.floor(turns * self.size + 0.5).astype(np.int64) % self.size
        return self.decode_array(found) if self.labels is None else self.decode_array(found).tolist()

    def _remedies(self) -> tuple[str, str, str]:
        if not self.start:
            around = f"to wrap numbers around, pass value % {self.size}"
        else:
            around = f"to wrap numbers around, pass (value - {self.start}) % {self.size} + {self.start}"
        return (
            f"is outside {self}; {around}.",
            f"is not a whole number in {self}; round it, or use domain.nearest with its period.",
            f"values are the whole numbers {self}: {around}, or use domain.nearest with its period.",
        )

    def to_spec(self) -> dict[str, Any]:
        return self._spec("cyclic", size=self.size, **({"start": self.start} if self.labels is None else {}))

    def __str__(self) -> str:
        first, last = self.decode(0), self.decode(self.size - 1)
        return f"{first}..{last}" if self.labels is None else f"{escaped(first)} … {escaped(last)}"

    def __repr__(self) -> str:
        if self.labels is not None:
            return f"Cyclic({self.size}, labels {self})"
        return f"Cyclic({self.size}{f', start={self.start}' if self.start else ''})"
