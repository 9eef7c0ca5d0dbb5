"""The outputs of a mechanism that are no domain of values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NoReturn

import numpy as np

from bipartite.domains.base import Domain, Outside, as_double, is_label, nearest_nodes, real_scalar
from bipartite.errors import DomainError, OutsideDomainError, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from bipartite.domains.base import Coins, Indices
    from bipartite.lottery import Stream

_WRITTEN_OUT: Final = 4


class Outputs(Domain):
    """Reports that are no domain: some values of one, numbers of their own, or labels of their own.

    Each report has a node, ascending: its index in the domain, the number itself, or the position of the label.

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

    __slots__ = ("_index", "domain", "labels", "nodes", "size", "whole")
    only_reports = True
    domain: Domain | None
    """The domain, if these are some of its values."""
    nodes: NDArray[Any]

    def __init__(self, domain: Domain, indices: ArrayLike) -> None:
        chosen = np.array(indices, dtype=np.int64)
        names = domain.labels
        self._make(chosen, None if names is None else [names[at] for at in chosen.tolist()], domain)

    @classmethod
    def of_numbers(cls, values: ArrayLike) -> Outputs:
        """Numbers, ascending; the outputs of :class:`~bipartite.Duchi` and others that report outside the range."""
        array = np.array(values, dtype=np.float64).ravel()
        if not len(array) or not np.isfinite(array).all() or (np.diff(array) <= 0).any():
            raise DomainError(
                "Expected ascending, finite reports that are distinct doubles; rescale the values, or use fewer."
            )
        return cls.__new__(cls)._make(array)

    @classmethod
    def of_labels(cls, labels: Sequence[Any]) -> Outputs:
        """Labels that are not values: the outputs of a :class:`~bipartite.Custom` mechanism that reports text."""
        return cls.__new__(cls)._make(np.arange(len(labels)), labels)

    def _make(self, nodes: NDArray[Any], labels: Sequence[Any] | None = None, domain: Domain | None = None) -> Outputs:
        names = None if labels is None else tuple(labels)
        index = {name: at for at, name in enumerate(names or ())}
        whole = domain is not None and domain.whole
        self._set(nodes=nodes, size=len(nodes), domain=domain, labels=names, whole=whole, _index=index)
        self._freeze()
        return self

    def _arrays(self) -> tuple[NDArray[Any]]:
        return (self.nodes,)

    @property
    def base(self) -> Domain:
        return self if self.domain is None else self.domain

    @property
    def indices(self) -> Indices | None:  # type: ignore[override]
        return None if self.domain is None else self.nodes

    @property
    def own_numbers(self) -> bool:  # type: ignore[override]
        return self.domain is None and self.labels is None

    @property
    def own_labels(self) -> bool:  # type: ignore[override]
        return self.domain is None and self.labels is not None

    @property
    def report_offset(self) -> int | None:  # type: ignore[override]
        return 0 if self.own_labels else None  # the container looks up the labels

    def encode(self, value: object, *, outside: Outside = "error", stream: Stream | None = None) -> int:
        node: float
        if self.domain is not None:
            node = self.domain.encode(value, outside=outside, stream=stream)
        elif self.labels is None:
            node = as_double(real_scalar(value))
        else:
            node = self._index.get(value, -1) if is_label(value) else -1
        at = int(np.searchsorted(self.nodes, node))
        if at == self.size or self.nodes[at] != node:
            raise OutsideDomainError("is not one of the possible reports; mech.outputs lists them.", shown=shown(value))
        return at

    def decode(self, index: int) -> Any:  # noqa: ANN401 (a number or a label)
        if self.domain is not None:
            return self.domain.decode(int(self.nodes[index]))
        return float(self.nodes[index]) if self.labels is None else self.labels[index]

    def decode_array(self, indices: Indices) -> NDArray[Any]:
        if self.own_labels:
            return np.array(self.labels)[indices]
        nodes: NDArray[Any] = self.nodes[indices]
        return nodes if self.domain is None else self.domain.decode_array(nodes)

    def report_array(self, indices: Indices) -> NDArray[Any]:
        nodes: NDArray[Any] = self.nodes[indices]
        return nodes if self.domain is None else self.domain.report_array(nodes)

    def find(self, values: NDArray[Any]) -> Indices:
        nodes = self.nodes
        if self.domain is None:
            return nearest_nodes(nodes, np.searchsorted((nodes[1:] + nodes[:-1]) / 2, values), values)
        found = self.domain.find(values)
        at = np.minimum(np.searchsorted(nodes, found), self.size - 1)
        return np.where(nodes[at] == found, at, -1)

    def encode_array(self, values: NDArray[Any], outside: Outside = "error", coins: Coins = None) -> NoReturn:  # noqa: ARG002
        raise DomainError("The outputs of a mechanism cannot be privatized again; pass values of mech.domain.")

    def to_spec(self) -> dict[str, Any]:
        raise DomainError("The outputs of a mechanism have no spec; use that of mech.domain.")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Outputs) or (self.labels, self.domain) != (other.labels, other.domain):
            return False
        return np.array_equal(self.nodes, other.nodes)

    def __hash__(self) -> int:
        return hash((self.size, self.labels))

    def __str__(self) -> str:
        if self.own_numbers:
            return f"{self.size} numbers from {self.nodes[0]:.12g} to {self.nodes[-1]:.12g}"
        return f"{self.size} labels" if self.domain is None else f"{self.size} of {self.domain}"

    def __repr__(self) -> str:
        if self.domain is not None:
            return f"Outputs({self.domain!r}, {self.nodes.tolist()})"
        if self.labels is not None:
            return f"Outputs.of_labels({list(self.labels)!r})"
        return f"Outputs.of_numbers({self.nodes.tolist()})" if self.size <= _WRITTEN_OUT else f"<{self}>"
