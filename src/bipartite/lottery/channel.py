"""The matrix P of a mechanism as a linear map, mostly without storing it.

P is an N × M matrix, but for most mechanisms it is a constant plus a window, a few groups, or a convolution, and both
products cost O(N + M): ``forward(f)`` = fᵀP, the distribution of reports if values are distributed as f, and
``backward(v)`` = Pv, the expected v(report) for every value. Both take one vector, or several as rows. Every deal is a
channel; so are the few forms here, which no tickets are drawn from.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Places = NDArray[np.int64]
    Seen = NDArray[np.bool_]


class Channel(ABC):
    """P as a linear map: the products with P and with its transpose."""

    inputs: int
    """N, the number of values."""
    outputs: int
    """M, the number of possible reports."""

    @abstractmethod
    def forward(self, f: Array) -> Array:
        """fᵀP: the distribution of reports for values distributed as f."""

    @abstractmethod
    def backward(self, v: Array) -> Array:
        """Pv: the expected v(report) for every value."""

    def forward_into(self, f: Array, spread: Array, scratch: Array) -> None:
        """``forward`` of one vector, written to ``spread``, so that iterations need not allocate memory.

        ``scratch`` is work space, longer by one than the longer of f and spread.
        """
        del scratch
        np.copyto(spread, self.forward(f))

    def backward_into(self, v: Array, means: Array, scratch: Array) -> None:
        """``backward`` of one vector, written to ``means``."""
        del scratch
        np.copyto(means, self.backward(v))

    @property
    def work(self) -> int:
        """About how many operations a product takes."""
        return self.inputs + self.outputs

    has_cells: bool = False
    """Whether the rows of a few values are constant on a few cells of outputs."""

    def cells(self, values: Places) -> tuple[Array, Places | None]:
        """(the rows of these values on cells of outputs, the starts of cells); None if each output is a cell."""
        chosen = np.zeros((len(values), self.inputs))
        chosen[np.arange(len(values)), values] = 1.0
        return self.forward(chosen), None

    def dense(self) -> Array:
        """The matrix itself, for few values; not to be written."""
        return self.forward(np.eye(self.inputs)) if self.has_cells else self.cells(np.arange(self.inputs))[0]

    def distinct(self, seen: Seen) -> tuple[Places | None, Channel]:
        """(the index of each value's distinct row, the distinct rows); None if all differ, as far as is known.

        Rows are compared only on outputs that were ``seen``: with few reports, more values are indistinguishable.
        """
        del seen
        return None, self

    def condensed(self) -> tuple[Places | None, Channel]:
        """(the cell of each output, P with the outputs of a cell added up); None if each output is a cell.

        Outputs of one cell carry the same information about values, so nothing is lost.
        """
        return None, self

    def uniform_law(self) -> Array:
        """The distribution of reports if every value is equally likely; it depends on no data."""
        return self.forward(np.full(self.inputs, 1 / self.inputs))


class Grouped(Channel):
    """A channel in which groups of values share a row: their shares are added up first."""

    def __init__(self, groups: NDArray[np.int64], distinct: Channel) -> None:
        self.inputs, self.outputs = len(groups), distinct.outputs
        self._groups, self._distinct, self.has_cells = groups, distinct, distinct.has_cells

    def forward(self, f: Array) -> Array:
        size = self._distinct.inputs
        rows = f.reshape(-1, self.inputs)
        added = np.array([np.bincount(self._groups, row, size) for row in rows])
        return self._distinct.forward(added.reshape(*f.shape[:-1], size))

    def backward(self, v: Array) -> Array:
        means: Array = self._distinct.backward(v)[..., self._groups]
        return means

    def cells(self, values: Places) -> tuple[Array, Places | None]:
        return self._distinct.cells(self._groups[values])

    def distinct(self, seen: Seen) -> tuple[Places | None, Channel]:
        groups, rows = self._distinct.distinct(seen)
        present, group_of = np.unique(self._groups if groups is None else groups[self._groups], return_inverse=True)
        return group_of, rows if len(present) == rows.inputs else Grouped(present, rows)


class Some(Channel):
    """Some of the rows of a channel."""

    def __init__(self, channel: Channel, chosen: NDArray[np.int64]) -> None:
        self.inputs, self.outputs, self.has_cells = len(chosen), channel.outputs, channel.has_cells
        self._channel, self._chosen = channel, chosen

    def forward(self, f: Array) -> Array:
        whole = np.zeros((*f.shape[:-1], self._channel.inputs))
        whole[..., self._chosen] = f
        return self._channel.forward(whole)

    def backward(self, v: Array) -> Array:
        means: Array = self._channel.backward(v)[..., self._chosen]
        return means

    def cells(self, values: Places) -> tuple[Array, Places | None]:
        return self._channel.cells(self._chosen[values])


class Dense(Channel):
    """Any other mechanism, with its matrix stored."""

    def __init__(self, matrix: Array) -> None:
        self.inputs, self.outputs = matrix.shape
        self.matrix = matrix.view()
        self.matrix.flags.writeable = False
        # The last result is cached: many fits are of the same reports.
        self._found: tuple[bytes, Places] | None = None

    @property
    def work(self) -> int:
        return self.inputs * self.outputs

    def forward(self, f: Array) -> Array:
        spread: Array = f @ self.matrix
        return spread

    def backward(self, v: Array) -> Array:
        means: Array = v @ self.matrix.T
        return means

    def cells(self, values: Places) -> tuple[Array, Places | None]:
        return self.matrix[values], None

    def dense(self) -> Array:
        return self.matrix

    def distinct(self, seen: Seen) -> tuple[Places | None, Channel]:
        key = seen.tobytes()
        if self._found is None or self._found[0] != key:
            number: dict[bytes, int] = {}
            rows = self.matrix if seen.all() else self.matrix[:, seen]
            groups = np.array([number.setdefault(row.tobytes(), len(number)) for row in rows])
            self._found = key, groups
        groups = self._found[1]
        _, first = np.unique(groups, return_index=True)
        return (None, self) if len(first) == self.inputs else (groups, Dense(self.matrix[first]))
