"""A subset of a domain: the outputs of a mechanism with fewer reports than values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bipartite.domains.base import Numbered, Outside, ReportsOnly
from bipartite.domains.labelled import Names
from bipartite.domains.values import Values, ValuesCodec

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from bipartite.domains.base import Domain
    from bipartite.lottery import Codec, Stream


class Subset(ReportsOnly):
    """A subset of a domain, in its order; the outputs of :class:`~bipartite.Anchored` and others.

    >>> from bipartite import Integers
    >>> few = Subset(Integers(18, 90), [2, 40])
    >>> len(few), few[0], few.decode(1), few.encode(58), 21 in few
    (2, 20, 58, 1, False)
    """

    __slots__ = ("domain", "indices", "labels", "size", "whole")
    domain: Domain
    """The whole domain."""
    indices: NDArray[np.int64]
    """Their indices there, ascending."""

    def __init__(self, domain: Domain, indices: ArrayLike) -> None:
        chosen = np.array(indices, dtype=np.int64)
        chosen.flags.writeable = False
        names = domain.labels
        self._set(
            domain=domain,
            indices=chosen,
            size=len(chosen),
            whole=domain.whole,
            labels=None if names is None else tuple(names[at] for at in chosen.tolist()),
        )

    def __setstate__(self, state: tuple[None, dict[str, Any]]) -> None:
        super().__setstate__(state)
        self.indices.flags.writeable = False  # pickling loses this flag

    def encode(self, value: object, *, outside: Outside = "error", stream: Stream | None = None) -> int:
        return self._place(self.domain.encode(value, outside=outside, stream=stream), self.indices, value)

    def decode(self, index: int) -> object:
        return self.domain.decode(int(self.indices[index]))

    def decode_array(self, indices: NDArray[np.int64]) -> NDArray[Any]:
        return self.domain.decode_array(self.indices[indices])

    def _problems(self, values: NDArray[Any]) -> dict[str, NDArray[np.bool_]]:
        return self.domain._problems(values)

    def __str__(self) -> str:
        return f"{self.size} of {self.domain}"

    def __repr__(self) -> str:
        return f"Subset({self.domain!r}, {self.indices.tolist()})"


class _SubsetCodec(Numbered):
    """Encodes values like the whole domain; reports are looked up in the subset."""

    direct = False

    def __init__(self, inner: Codec, indices: NDArray[np.int64]) -> None:
        super().__init__(inner)
        # Codes of reports in the whole domain, which decodes them.
        self._indices = indices + np.int64(inner.report_offset)
        self.report_dtype = inner.report_dtype

    def decode(self, codes: NDArray[np.int64], reports: NDArray[Any]) -> None:
        chosen = self._indices[codes]
        if self._inner.direct:
            reports[:] = chosen
        else:
            self._inner.decode(chosen, reports)


def codec_between(domain: Domain, outputs: Domain, dtype: np.dtype[Any], outside: Outside) -> Codec:
    """The codec that encodes arrays of this type as values of a domain and decodes reports among ``outputs``."""
    if isinstance(outputs, Subset):
        return _SubsetCodec(domain.codec(dtype, outputs.domain, outside), outputs.indices)
    if isinstance(outputs, Values):
        return ValuesCodec(domain.codec(dtype, domain, outside), outputs)
    if isinstance(outputs, Names):
        return Numbered(domain.codec(dtype, domain, outside))  # the container looks up the labels
    return domain.codec(dtype, outputs, outside)
