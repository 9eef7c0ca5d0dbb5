"""Arrays of values of several domains: a structured array with a field for each part, f0 and so on."""

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
    """Each part as its own codec has it, in a field of its own."""

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
        # What must not be reported gets the code before the first, which every kernel refuses.
        return np.where(inside, joined, -1)

    def decode(self, codes: NDArray[np.int64], reports: NDArray[Any]) -> None:
        for number, (inner, index) in enumerate(zip(self._inner, self._product.split(codes), strict=True)):
            own = index + np.int64(inner.report_offset)
            if not inner.direct:
                inner.decode(own, made := np.empty(len(own), dtype=inner.report_dtype))
                own = made
            reports[f"f{number}"] = own


def in_fields(columns: Sequence[NDArray[Any]], names: Sequence[str] | None = None) -> NDArray[Any]:
    """Columns side by side: a structured array, with fields f0 and so on where they have no names."""
    names = [f"f{number}" for number in range(len(columns))] if names is None else names
    joined = np.empty(len(columns[0]), dtype=[(name, each.dtype) for name, each in zip(names, columns, strict=True)])
    for name, each in zip(names, columns, strict=True):
        joined[name] = each
    return joined


def for_part(part: Domain, outside: Outside) -> Outside:
    """Sets have no ends to clamp to."""
    return outside if isinstance(part, LineDomain) else "error"


def tuple_text(value: tuple[Any, ...]) -> str:
    """A tuple as one cell of a table holds it: a JSON array."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def tuple_of(text: str) -> tuple[Any, ...]:
    """The tuple in a cell of a table; an empty one for what holds none."""
    try:
        held = json.loads(text)
    except (ValueError, RecursionError):
        return ()
    return tuple(held) if isinstance(held, list) else ()
