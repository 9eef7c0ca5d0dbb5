"""Arrays of tuples: structured arrays with fields f0, f1, …, one per part."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from bipartite.domains.base import LineDomain
from bipartite.lottery import Codec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bipartite.domains.base import Domain, Outside
    from bipartite.domains.product import Product


class ProductCodec(Codec):
    """Encodes and decodes each field with the codec of its part."""

    direct = False

    def __init__(self, product: Product, dtype: np.dtype[Any], outside: Outside) -> None:
        self._product = product
        self._inner = [
            part.codec(dtype[number], part, for_part(part, outside)) for number, part in enumerate(product.parts)
        ]
        self.report_dtype = np.dtype([(f"f{number}", each.report_dtype) for number, each in enumerate(self._inner)])

    def encode(self, values: NDArray[Any], coins: NDArray[np.uint64] | None) -> NDArray[np.int64]:
        joined = np.zeros(len(values), dtype=np.int64)
        inside = np.ones(len(values), dtype=np.bool_)
        for number, (part, inner) in enumerate(zip(self._product.parts, self._inner, strict=True)):
            index = inner.encode(values[f"f{number}"], coins) - np.int64(inner.code_offset)
            inside &= (index >= 0) & (index < len(part))
            joined = joined * len(part) + index
        # Values that must not be reported get the code before the first, which every kernel refuses.
        return np.where(inside, joined, -1)

    def decode(self, codes: NDArray[np.int64], reports: NDArray[Any]) -> None:
        for number, (inner, index) in enumerate(zip(self._inner, self._product.split(codes), strict=True)):
            own = index + np.int64(inner.report_offset)
            if not inner.direct:
                inner.decode(own, made := np.empty(len(own), dtype=inner.report_dtype))
                own = made
            reports[f"f{number}"] = own


def in_fields(columns: Sequence[NDArray[Any]], names: Sequence[str] | None = None) -> NDArray[Any]:
    """Join columns into a structured array, with fields f0, f1, … unless named."""
    names = [f"f{number}" for number in range(len(columns))] if names is None else names
    joined = np.empty(len(columns[0]), dtype=[(name, each.dtype) for name, each in zip(names, columns, strict=True)])
    for name, each in zip(names, columns, strict=True):
        joined[name] = each
    return joined


def for_part(part: Domain, outside: Outside) -> Outside:
    """The option for a part: sets have no ends to clamp to."""
    return outside if isinstance(part, LineDomain) else "error"


def tuple_text(value: tuple[Any, ...]) -> str:
    """Write a tuple for one cell of a table, as a JSON array."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def tuple_of(text: str) -> tuple[Any, ...]:
    """Read a tuple from a cell of a table; empty if the cell does not hold one."""
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        return ()
    return tuple(read) if isinstance(read, list) else ()
