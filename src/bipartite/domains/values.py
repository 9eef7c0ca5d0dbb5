"""Given numbers in ascending order: the outputs of a mechanism that are not values of its domain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.domains.base import Numbered, Outside, ReportsOnly, as_double, real_scalar
from bipartite.errors import DomainError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from bipartite.lottery import Codec, Stream

_WRITTEN_OUT: Final = 4


class Values(ReportsOnly):
    """Explicit numbers, ascending; the outputs of :class:`~bipartite.Duchi` and others that report outside the range.

    >>> ends = Values([-2.5, 2.5])
    >>> len(ends), ends[0], ends.encode(2.5), 0.0 in ends
    (2, -2.5, 1, False)
    """

    __slots__ = ("size", "values")
    whole = False
    values: NDArray[np.float64]
    """The numbers themselves."""

    def __init__(self, values: ArrayLike) -> None:
        array = np.array(values, dtype=np.float64).ravel()
        if not len(array) or not np.isfinite(array).all() or (np.diff(array) <= 0).any():
            raise DomainError(
                "Expected ascending, finite reports that are distinct doubles; rescale the values, or use fewer."
            )
        array.flags.writeable = False
        self._set(values=array, size=len(array))

    def __reduce__(self) -> tuple[Any, ...]:
        return Values, (np.array(self.values),)

    def encode(self, value: object, *, outside: Outside = "error", stream: Stream | None = None) -> int:  # noqa: ARG002
        return self._place(as_double(real_scalar(value)), self.values, value)

    def decode(self, index: int) -> float:
        return float(self.values[index])

    def decode_array(self, indices: NDArray[np.int64]) -> NDArray[np.float64]:
        found: NDArray[np.float64] = self.values[indices]
        return found

    def _problems(self, values: NDArray[Any]) -> dict[str, NDArray[np.bool_]]:
        return {"outside": ~np.isin(values, self.values)}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Values) and np.array_equal(self.values, other.values)

    def __hash__(self) -> int:
        return hash((self.size, float(self.values[0]), float(self.values[-1])))

    def __str__(self) -> str:
        return f"{self.size} numbers from {self.values[0]:.12g} to {self.values[-1]:.12g}"

    def __repr__(self) -> str:
        return f"Values({self.values.tolist()})" if self.size <= _WRITTEN_OUT else f"<{self}>"


class ValuesCodec(Numbered):
    """Encodes values like their own domain; reports are looked up among the given numbers."""

    report_dtype = np.dtype(np.float64)  # a narrower type would round the reports and so bias the mean
    direct = False

    def __init__(self, inner: Codec, outputs: Values) -> None:
        super().__init__(inner)
        self._values = outputs.values

    def decode(self, codes: NDArray[np.int64], reports: NDArray[Any]) -> None:
        np.take(self._values, codes, out=reports, mode="clip")  # "clip" avoids a copy; every code is inside
