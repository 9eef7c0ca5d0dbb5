"""Domains whose values may have labels: sets, and outputs that are labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bipartite.domains.base import Domain, Outside, ReportsOnly
from bipartite.errors import OutsideDomainError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from bipartite.lottery import Stream


class Labelled(Domain):
    """A domain whose values are found by their labels, if they have any."""

    __slots__ = ()
    _index: dict[Any, int]

    def codes(self, values: Sequence[Any]) -> NDArray[np.int64]:
        """The indices of labels, −1 for anything that is not a label."""
        return np.array([self._index.get(value, -1) if is_label(value) else -1 for value in values], dtype=np.int64)

    def check_codes(self, codes: NDArray[np.integer[Any]], place: Callable[[int], str]) -> None:
        """Refuse unknown labels; the error names positions, never labels."""
        unknown = np.flatnonzero(codes < 0)
        if len(unknown):
            raise OutsideDomainError(
                f"{len(unknown)} of {len(codes)} values cannot be reported: {place(int(unknown[0]))} is not one of the "
                "labels; use domain.labels to see them, or domain.nearest for positions."
            )


class Names(ReportsOnly, Labelled):
    """Labels that are not values: the outputs of a :class:`~bipartite.Custom` mechanism that reports text.

    >>> answers = Names(["young", "old"])
    >>> len(answers), answers[0], answers.encode("old"), "middle" in answers
    (2, 'young', 1, False)
    """

    __slots__ = ("_index", "labels", "size")
    whole = False
    labels: tuple[Any, ...]

    def __init__(self, labels: Sequence[Any]) -> None:
        names = tuple(labels)
        self._set(labels=names, size=len(names), _index={name: at for at, name in enumerate(names)})

    def encode(self, value: object, *, outside: Outside = "error", stream: Stream | None = None) -> int:  # noqa: ARG002
        if not is_label(value) or value not in self._index:
            raise OutsideDomainError("is not one of the possible reports; mech.outputs lists them.", shown=shown(value))
        return self._index[value]

    def decode(self, index: int) -> Any:  # noqa: ANN401 (text or a whole number)
        return self.labels[index]

    def decode_array(self, indices: NDArray[np.int64]) -> NDArray[Any]:
        found: NDArray[Any] = np.array(self.labels)[indices]
        return found

    def _problems(self, values: NDArray[Any]) -> dict[str, NDArray[np.bool_]]:
        return {"outside": self.codes(values.tolist()) < 0}

    def __repr__(self) -> str:
        return f"Names({list(self.labels)!r})"


def is_label(value: object) -> bool:
    """Whether a value may be a label: text or an integer, but not a bool or a float with an integer value."""
    return isinstance(value, (str, int, np.integer)) and not isinstance(value, (bool, np.bool_, np.timedelta64))
