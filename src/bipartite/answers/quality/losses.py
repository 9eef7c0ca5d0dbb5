"""How far a report is from its value: on average, at worst, value by value, and how often within a distance.

Everything is computed from the tickets, so the figures are those of the mechanism that is sampled. Windows on a line or
a circle need no matrix, so that N may be in the millions: every output is near, with a tickets, or far, with b, and the
losses of the near outputs of x, and of all, are those of two runs of distances, one below x and one above.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from bipartite.domains.base import as_real
from bipartite.domains.losses import Function, LossRows, applied, check_loss, function_of, output_positions
from bipartite.errors import InputError, shown
from bipartite.mechanisms import Mechanism
from bipartite.mechanisms.design.m import check_prior

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from bipartite.domains.losses import Loss as LossFunction

    Array = NDArray[np.float64]
    Whole = NDArray[np.int64]
    Prior = Sequence[float] | Array | None

# Rows are read in blocks of about this many tickets.
_BLOCK: Final = 2**20
_MOST_VALUES: Final = 2**27  # a gigabyte of losses


def loss(mechanism: Mechanism, prior: Prior = None, *, loss: LossFunction = None) -> Loss:
    """The loss of a report: ``.mean``, ``.worst``, ``.by_value``, ``.quantile(q)`` and ``.within(d)``.

    Parameters
    ----------
    mechanism
        Any mechanism that reports values.
    prior
        The probability of each value, None for uniform. Public; never from the private data.
    loss
        None is the domain's own loss, in its units (a distance, on lines); ``"squared"``, ``"zero-one"``, a function of
        it, or a matrix with a row for each value and a column for each report.

    Examples
    --------
    >>> from bipartite import BRR, Integers
    >>> found = loss(BRR(Integers(1, 40), epsilon=1))
    >>> round(found.mean, 2), round(found.worst, 2), found.quantile(0.5), round(found.within(5), 3)
    (9.75, 14.6, 7.0, 0.424)
    """
    return Loss(mechanism, prior, loss)


class Loss:
    """The loss of one mechanism's reports. Made by :func:`bipartite.loss`."""

    def __init__(self, mechanism: Mechanism, prior: Prior, loss: LossFunction) -> None:
        check_values(mechanism)
        size = len(mechanism.domain)
        if size > _MOST_VALUES:
            raise InputError(f"Expected at most 2^27 values, got {size:,}; use an Interval of fewer points.")
        self._prior = None if prior is None else check_prior(prior, size)
        check_loss(loss, size, len(mechanism.outputs))
        self._mechanism, self._loss, self._windows = mechanism, loss, windows_of(mechanism)

    @property
    def mean(self) -> float:
        """The expected loss: Σ_x π_x Σ_y Pr[y|x]·L(x, y)."""
        return float(self.by_value.mean() if self._prior is None else self._prior @ self.by_value)

    @property
    def worst(self) -> float:
        """The expected loss at the value that fares worst."""
        return float(self.by_value.max())

    @cached_property
    def by_value(self) -> Array:
        """The expected loss at each value: Σ_y Pr[y|x]·L(x, y)."""
        function = function_of(self._loss)
        if self._windows is not None and function is not None:
            return self._windows.by_value(function)
        mechanism = self._mechanism
        rows, found = LossRows(mechanism.domain, mechanism.outputs, self._loss), np.empty(len(mechanism.domain))
        for start, stop, tickets in blocks(mechanism):
            # Probabilities first: 2^52 tickets times a large loss would exceed the precision of doubles.
            found[start:stop] = np.einsum("xy,xy->x", tickets / mechanism.lottery.total, rows.rows(start, stop))
        return found

    def within(self, distance: object) -> float:
        """The probability that the loss is at most ``distance``."""
        reach = as_real(distance)
        if not reach >= 0:
            raise InputError(f"Expected distance ≥ 0, got {shown(distance)}; distances are not negative.")
        losses, chances = self._distribution
        if losses[0] < 0:
            raise InputError(
                "Expected losses of at least 0, got a similarity, which is not a distance; use .quantile(q)."
            )
        # Tolerate rounding errors for reports at exactly this distance.
        up_to = int(np.searchsorted(losses, reach * (1 + 1e-12), side="right"))
        return float(chances[up_to - 1]) if up_to else 0.0

    def quantile(self, q: object = 0.5) -> float:
        """The smallest loss that a report stays within with probability q; the median by default."""
        number = as_real(q)
        if not 0 < number <= 1:
            raise InputError(f"Expected quantile in (0, 1], got {shown(q)}; 0.5 is the median.")
        losses, chances = self._distribution
        return float(losses[min(int(np.searchsorted(chances, number * (1 - 1e-12))), len(losses) - 1)])

    @cached_property
    def _distribution(self) -> tuple[Array, Array]:
        """Every loss that occurs, ascending, and the probability to stay within it."""
        mechanism, size = self._mechanism, len(self._mechanism.domain)
        weights = np.full(size, 1 / size) if self._prior is None else self._prior
        domain, outputs, total = mechanism.domain, mechanism.outputs, mechanism.lottery.total
        losses: Array
        chances: Array
        if self._loss is None and self._windows is not None:
            chances = self._windows.chances(weights)
            return np.arange(len(chances), dtype=np.float64) * domain.step, np.cumsum(chances)
        if self._loss is None and domain.has_ends and not outputs.own_numbers:
            # On a line distances are whole numbers of steps and need not be sorted.
            at = output_positions(domain, outputs)
            chances = np.zeros(max(abs(int(at[0]) - size + 1), abs(int(at[-1]))) + 1)
            for start, stop, tickets in blocks(mechanism):
                steps = np.abs(at[None, :] - np.arange(start, stop)[:, None])
                here = tickets * weights[start:stop, None] / total
                chances += np.bincount(steps.ravel(), here.ravel(), len(chances))
            return np.arange(len(chances), dtype=np.float64) * domain.step, np.cumsum(chances)
        rows = LossRows(domain, outputs, self._loss)
        losses = chances = np.empty(0)
        for start, stop, tickets in blocks(mechanism):
            here = (tickets * weights[start:stop, None]).ravel() / total
            losses, where = np.unique(np.concatenate([losses, rows.rows(start, stop).ravel()]), return_inverse=True)
            chances = np.bincount(where, np.concatenate([chances, here]), len(losses)).astype(np.float64)
        return losses, np.cumsum(chances)

    def __repr__(self) -> str:
        return f"<Loss of {self._mechanism!r}: mean {self.mean:.4g}, worst {self.worst:.4g}>"


def check_values(mechanism: object) -> None:
    """Refuse mechanisms that do not report values: a set of bits is no closer to one value than to another."""
    if not isinstance(mechanism, Mechanism) or mechanism.flat:
        raise InputError(
            f"Expected a mechanism whose reports are values, got {type(mechanism).__name__}; pass bp.BRR(…), "
            "or one attribute of a record."
        )


def blocks(mechanism: Mechanism) -> Iterator[tuple[int, int, Whole]]:
    """(start, stop, tickets of values start … stop − 1) for all values."""
    size = len(mechanism.domain)
    step = max(1, _BLOCK // len(mechanism.outputs))
    for start in range(0, size, step):
        stop = min(start + step, size)
        yield start, stop, mechanism.lottery.rows(start, stop)


class Windows(NamedTuple):
    """For each value how many outputs lie below and above it, among the near ones and among all."""

    runs: tuple[tuple[float, Whole], ...]
    """(probability of each output, the last distance of a run 1 … last) for every run; distance 0 counts apart."""
    here: float
    """The probability of distance 0."""
    step: float

    def by_value(self, function: Function) -> Array:
        """The expected loss at each value, for a loss that is a function of the distance; in O(N)."""
        farthest = max(int(last.max()) for _, last in self.runs)
        losses = applied(function, np.arange(farthest + 1, dtype=np.float64) * self.step)
        up_to = np.cumsum(losses) - losses[0]
        found: Array = sum((chance * up_to[last] for chance, last in self.runs), np.zeros(1)) + self.here * losses[0]
        return found

    def chances(self, weights: Array) -> Array:
        """The probability of each distance 0, 1, 2 …, in steps."""
        farthest = max(int(last.max()) for _, last in self.runs)
        found = np.zeros(farthest + 1)
        for chance, last in self.runs:
            # A run up to ``last`` has every smaller distance once.
            ends = np.bincount(last, weights, farthest + 1)
            found += chance * ends[::-1].cumsum()[::-1]
        found[0] = self.here
        return found


def windows_of(mechanism: Mechanism) -> Windows | None:
    """The windows of a mechanism; None if it has none, or reports something else than values."""
    domain, outputs, lottery = mechanism.domain, mechanism.outputs, mechanism.lottery
    ring, line, size = lottery.ring, lottery.line, len(domain)
    x = np.arange(size)
    if domain.wraps:
        window = ring if ring is not None else line
        if window is None or outputs is not domain or (ring is None and window.m > 1):
            return None
        below, above = (np.full(size, each) for each in (window.m // 2, window.m - 1 - window.m // 2))
        # Around a circle nothing is farther than half of it.
        reach = np.full(size, (size - 1) // 2), np.full(size, size // 2)
    elif line is not None and domain.has_ends and outputs.indices is None and line.groups is None:
        window = line
        at = x + (len(outputs) - size) // 2
        below = at - np.clip(x + line.shift, 0, line.outputs - line.m)
        above = line.m - 1 - below
        reach = at, line.outputs - 1 - at
    else:
        return None
    a, b = window.tickets.near / window.total, window.tickets.far / window.total
    if (below < 0).any() or (above < 0).any():
        return None  # the value itself is not near
    return Windows(((a - b, below), (a - b, above), (b, reach[0]), (b, reach[1])), a, domain.step)
