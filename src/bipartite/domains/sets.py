"""The base of points, items and circles: numbers or labels as values, and an integer order of neighbours."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from bipartite.domains.base import MAX_SIZE, MAX_SPEC_INTEGER, Domain, Outside, is_label
from bipartite.domains.integers import Integers
from bipartite.errors import DataError, InputError, NotAValueError, OutsideDomainError, Problems, shown
from bipartite.lottery.order import VectorOrder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from bipartite.lottery import Stream
    from bipartite.lottery.order import Order


class SetDomain(Domain):
    """A set whose elements may be nearer to or farther from each other."""

    __slots__ = ("_index", "_order", "_rows", "labels", "size")
    whole = True
    bits: int = 0
    labels: tuple[Any, ...] | None
    _order: Any
    _rows: Integers

    def _finish(
        self, order: Order, labels: Sequence[Any] | None, *, numbers: Integers | None = None, **own: object
    ) -> None:
        """Set the common attributes and those of the subclass, at the end of a constructor."""
        names = None if labels is None else tuple(labels)
        index = {} if names is None else {name: at for at, name in enumerate(names)}
        rows = Integers(0, len(order) - 1) if numbers is None else numbers
        self._set(size=len(order), _order=order, _rows=rows, labels=names, _index=index, **own)
        self._freeze()

    def __setstate__(self, state: tuple[None, dict[str, Any]]) -> None:
        super().__setstate__(state)
        self._freeze()  # pickling loses read-only flags

    def _freeze(self) -> None:
        """Make the arrays read-only: moving a point would break the promised ε."""
        held = [getattr(self._order, name, None) for name in ("vectors", "ranks")]
        held += [getattr(self, name, None) for name in ("coordinates", "_losses")]
        for array in held:
            if array is not None:
                array.flags.writeable = False

    @property
    def numbers(self) -> Integers:
        return self._rows

    @property
    def order(self) -> Order:
        """The order of neighbours, in integers."""
        order: Order = self._order
        return order

    @property
    def vectors(self) -> NDArray[np.int64] | None:
        """Vectors of whole numbers whose distances decide nearness; None if ranks do."""
        order = self.order if self.metric not in {None, "callable"} else None
        return order.vectors if isinstance(order, VectorOrder) else None

    def nearest_of(self, anchors: NDArray[np.int64]) -> NDArray[np.int64]:
        return self.order.nearest_of(anchors)

    @abstractmethod
    def losses(self, x: int) -> NDArray[np.float64]:
        """The loss of reporting each value when value number x is true."""

    def loss_matrix(self) -> NDArray[np.float64]:
        """The N × N matrix of losses, for small sets."""
        return np.array([self.losses(x) for x in range(self.size)])

    @abstractmethod
    def _domain_spec(self) -> dict[str, Any]:
        """The description of the set without its labels."""

    def to_spec(self) -> dict[str, Any]:
        spec = self._domain_spec()
        if self.labels is not None:
            next(iter(spec.values()))["labels"] = list(self.labels)
        return spec

    def check_outside(self, outside: Outside) -> None:
        if outside == "clip":
            raise InputError(
                "outside='clip' has no meaning on a set; use domain.nearest for positions, or drop the value."
            )

    def encode(self, value: object, *, outside: Outside = "error", stream: Stream | None = None) -> int:  # noqa: ARG002
        self.check_outside(outside)
        if self.labels is None:
            try:
                return self._rows.encode(value)
            except OutsideDomainError:
                raise OutsideDomainError(
                    f"is outside 0..{self.size - 1}, the row numbers; use domain.nearest to report a position.",
                    shown=shown(value),
                ) from None
            except NotAValueError:
                raise NotAValueError(
                    f"is not a row number in 0..{self.size - 1}; use domain.nearest to report a position.",
                    shown=shown(value),
                ) from None
        if not is_label(value) or value not in self._index:
            raise OutsideDomainError(
                "is not one of the labels; use domain.labels to see them, or domain.nearest for positions.",
                shown=shown(value),
            )
        return self._index[value]

    def decode(self, index: int) -> Any:  # noqa: ANN401 (a number or a label)
        return self._rows.decode(index) if self.labels is None else self.labels[index]

    def decode_array(self, indices: NDArray[np.int64]) -> NDArray[Any]:
        return self._rows.decode_array(indices) if self.labels is None else np.array(self.labels)[indices]

    def report_array(self, indices: NDArray[np.int64]) -> NDArray[np.int64]:
        return self._rows.decode_array(indices)

    @property
    def code_offset(self) -> int:  # type: ignore[override]
        return self._rows.low

    @property
    def report_offset(self) -> int | None:  # type: ignore[override]
        return self._rows.low

    def encode_array(
        self, values: NDArray[Any], outside: Outside = "error", coins: NDArray[np.uint64] | None = None
    ) -> NDArray[np.int64]:
        self.check_outside(outside)
        return self._rows.encode_array(values, outside, coins)

    def explain(self, values: NDArray[Any], outside: Outside, place: Callable[[int], str]) -> DataError:
        refusal = self._rows.explain(values, outside, place)
        hint = "; values are row numbers, use domain.nearest to report positions."
        return type(refusal)(str(refusal).split("; ")[0] + hint)

    def _problems(self, values: NDArray[Any]) -> dict[str, NDArray[np.bool_]]:
        return self._rows._problems(values)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.to_spec() == other.to_spec()

    def __hash__(self) -> int:
        return hash((type(self), self.size, self.labels))


def check_labels(labels: object, size: int | None, problems: Problems) -> tuple[Any, ...] | None:
    """Read labels as a tuple of distinct strings or integers, one per value."""
    if size is not None and size > MAX_SIZE:
        problems.add(f"Expected at most 2^31 values, got {size}.")
    if labels is None:
        return None
    # Sets are refused because their order may differ between runs.
    if isinstance(labels, (str, bytes, set, frozenset)) or not isinstance(labels, Iterable):
        problems.add(f"Expected labels as a list, one per value, got {type(labels).__name__}.")
        return None
    names = tuple(label.item() if isinstance(label, np.generic) else label for label in labels)
    if size is not None and len(names) != size:
        problems.add(f"Expected {size} labels, one per value, got {len(names)}.")
    kinds = {type(name) for name in names}
    if kinds not in ({str}, {int}):
        problems.add("Expected labels that are all strings or all whole numbers; convert them with str.")
    elif any(not _fits_json(name) for name in names):
        problems.add("Expected labels that JSON can carry: whole numbers below 2^53, text without lone surrogates.")
    elif len(set(names)) != len(names):
        problems.add(f"Expected distinct labels, got {len(names) - len(set(names))} duplicates; rename them.")
    return names


def _fits_json(name: str | int) -> bool:
    """Whether a label survives a round trip through JSON."""
    if isinstance(name, int):
        return abs(name) <= MAX_SPEC_INTEGER
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
