"""The outputs of a mechanism that are no domain of values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NoReturn

import numpy as np

from bipartite.domains.base import Domain, Outside, as_double, is_label, nearest_nodes, real_scalar
from bipartite.errors import DomainError, OutsideDomainError, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from bipartite.lottery import Stream

_WRITTEN_OUT: Final = 4


class Outputs(Domain):
    """Reports that are no domain: some values of one, numbers of their own, or labels of their own.

    >>> from bipartite import Integers
    >>> few = Outputs(Integers(18, 90), [2, 40])
    >>> len(few), few[0], few.decode(1), few.encode(58), 21 in few
    (2, 20, 58, 1, False)
    >>> ends = Outputs.of_numbers([-2.5, 2.5])
    >>> len(ends), ends[0], ends.encode(2.5), 0.0 in ends
    (2, -2.5, 1, False)
    >>> answers = Outputs.of_labels(["young", "old"])
    >>> len(answers), answers[0], answers.encode("old"), "middle" in answers
    (2, 'young', 1, False)
    """

    __slots__ = ("_index", "domain", "indices", "labels", "size", "values", "whole")
    only_reports = True
    domain: Domain | None
    """The domain, if these are some of its values."""
    indices: NDArray[np.int64] | None
    values: NDArray[np.float64] | None
    """The numbers themselves, ascending, if these are numbers of their own."""

    def __init__(self, domain: Domain, indices: ArrayLike) -> None:
        chosen = np.array(indices, dtype=np.int64)
        names = domain.labels
        labels = None if names is None else tuple(names[at] for at in chosen.tolist())
        self._make(domain=domain, indices=chosen, size=len(chosen), whole=domain.whole, labels=labels)

    @classmethod
    def of_numbers(cls, values: ArrayLike) -> Outputs:
        """Numbers, ascending; the outputs of :class:`~bipartite.Duchi` and others that report outside the range."""
        array = np.array(values, dtype=np.float64).ravel()
        if not len(array) or not np.isfinite(array).all() or (np.diff(array) <= 0).any():
            raise DomainError(
                "Expected ascending, finite reports that are distinct doubles; rescale the values, or use fewer."
            )
        return cls.__new__(cls)._make(values=array, size=len(array))

    @classmethod
    def of_labels(cls, labels: Sequence[Any]) -> Outputs:
        """Labels that are not values: the outputs of a :class:`~bipartite.Custom` mechanism that reports text."""
        index = {name: at for at, name in enumerate(labels)}
        return cls.__new__(cls)._make(labels=tuple(labels), size=len(labels), _index=index)

    def _make(self, **own: object) -> Outputs:
        nothing = dict.fromkeys(("domain", "indices", "values", "labels"))
        self._set(**{**nothing, "whole": False, "_index": {}, **own})
        self._freeze()
        return self

    def __setstate__(self, state: tuple[None, dict[str, Any]]) -> None:
        super().__setstate__(state)
        self._freeze()  # pickling loses read-only flags

    def _freeze(self) -> None:
        for array in (self.indices, self.values):
            if array is not None:
                array.flags.writeable = False

    @property
    def base(self) -> Domain:
        return self if self.domain is None else self.domain

    @property
    def own_numbers(self) -> bool:  # type: ignore[override]
        return self.values is not None

    @property
    def own_labels(self) -> bool:  # type: ignore[override]
        return self.domain is None and self.values is None

    @property
    def report_offset(self) -> int | None:  # type: ignore[override]
        return 0 if self.own_labels else None  # the container looks up the labels

    def encode(self, value: object, *, outside: Outside = "error", stream: Stream | None = None) -> int:
        if self.domain is not None and self.indices is not None:
            return self._place(self.domain.encode(value, outside=outside, stream=stream), self.indices, value)
        if self.values is not None:
            return self._place(as_double(real_scalar(value)), self.values, value)
        if not is_label(value) or value not in self._index:
            raise _not_reported(value)
        return self._index[value]

    def _place(self, wanted: float, ascending: NDArray[Any], value: object) -> int:
        """The position of a number among the outputs, or an error that shows the value it stands for."""
        at = int(np.searchsorted(ascending, wanted))
        if at == self.size or ascending[at] != wanted:
            raise _not_reported(value)
        return at

    def decode(self, index: int) -> Any:  # noqa: ANN401 (a number or a label)
        if self.domain is not None and self.indices is not None:
            return self.domain.decode(int(self.indices[index]))
        return (self.labels or ())[index] if self.values is None else float(self.values[index])

    def decode_array(self, indices: NDArray[np.int64]) -> NDArray[Any]:
        if self.domain is not None and self.indices is not None:
            return self.domain.decode_array(self.indices[indices])
        found: NDArray[Any] = (np.array(self.labels) if self.values is None else self.values)[indices]
        return found

    def report_array(self, indices: NDArray[np.int64]) -> NDArray[Any]:
        if self.domain is not None and self.indices is not None:
            return self.domain.report_array(self.indices[indices])
        return indices if self.values is None else self.decode_array(indices)

    def find(self, values: NDArray[Any]) -> NDArray[np.int64]:
        if self.domain is not None and self.indices is not None:
            found = self.domain.find(values)
            at = np.minimum(np.searchsorted(self.indices, found), self.size - 1)
            return np.where(self.indices[at] == found, at, -1)
        if self.values is None:
            return values
        at = np.searchsorted((self.values[1:] + self.values[:-1]) / 2, values)
        return nearest_nodes(self.values, at, values)

    def encode_array(
        self,
        values: NDArray[Any],  # noqa: ARG002
        outside: Outside = "error",  # noqa: ARG002
        coins: NDArray[np.uint64] | None = None,  # noqa: ARG002
    ) -> NoReturn:
        raise DomainError("The outputs of a mechanism cannot be privatized again; pass values of mech.domain.")

    def _problems(self, values: NDArray[Any]) -> NoReturn:
        self.encode_array(values)

    def to_spec(self) -> dict[str, Any]:
        raise DomainError("The outputs of a mechanism have no spec; use that of mech.domain.")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Outputs) or (self.labels, self.domain) != (other.labels, other.domain):
            return False
        return _same(self.indices, other.indices) and _same(self.values, other.values)

    def __hash__(self) -> int:
        return hash((self.size, self.labels))

    def __str__(self) -> str:
        if self.values is not None:
            return f"{self.size} numbers from {self.values[0]:.12g} to {self.values[-1]:.12g}"
        return f"{self.size} labels" if self.domain is None else f"{self.size} of {self.domain}"

    def __repr__(self) -> str:
        if self.values is not None:
            return f"Outputs.of_numbers({self.values.tolist()})" if self.size <= _WRITTEN_OUT else f"<{self}>"
        if self.indices is not None:
            return f"Outputs({self.domain!r}, {self.indices.tolist()})"
        return f"Outputs.of_labels({list(self.labels or ())!r})"


def _same(one: NDArray[Any] | None, other: NDArray[Any] | None) -> bool:
    return other is None if one is None else other is not None and np.array_equal(one, other)


def _not_reported(value: object) -> OutsideDomainError:
    return OutsideDomainError("is not one of the possible reports; mech.outputs lists them.", shown=shown(value))
