"""Whole numbers from low to high: ages, ratings, counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bipartite.domains.base import (
    MAX_SIZE,
    MAX_SPEC_INTEGER,
    LineDomain,
    Outside,
    outside_error,
    real_scalar,
    whole_number,
)
from bipartite.errors import DesignError, DomainError, NotAValueError, Problems, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.domains.base import Coins, Indices, Mask
    from bipartite.lottery import Stream


class Integers(LineDomain):
    r"""The whole numbers low, low + 1, …, high, with loss \|x − y\|.

    Parameters
    ----------
    low, high
        The public ends of the range, both included; at most 2^31 values, and both ends below 2^53 in size. They must
        not be learned from private data: a range that depends on the data is itself a release.

    Examples
    --------
    Takes O(1) memory whatever its size.

    >>> ages = Integers(18, 90)
    >>> len(ages), ages[0], ages.encode(40), ages.decode(22)
    (73, 18, 22, 40)
    """

    __slots__ = ("high", "low", "size")
    low: int
    high: int
    whole = True

    def __init__(self, low: int, high: int) -> None:
        problems = Problems()
        low, high = whole_number("low", low, problems), whole_number("high", high, problems)
        size = high - low + 1
        if not problems:
            if max(abs(low), abs(high)) > MAX_SPEC_INTEGER:
                problems.add("Expected ends below 2^53 in size; shift the range towards zero.")
            if size < 2:  # noqa: PLR2004
                ends = f"low={shown(low)}, high={shown(high)}"
                problems.add(f"Expected low < high, got {ends}; a domain needs at least two values.")
            if size > MAX_SIZE:
                problems.add(f"Expected at most 2^31 values, got {shown(size)}; use Interval with fewer points.")
        problems.raise_if_any(DomainError)
        self._set(low=low, high=high, size=size)

    @property
    def step(self) -> float:
        return 1.0

    def encode(self, value: object, *, outside: Outside = "error", stream: Stream | None = None) -> int:  # noqa: ARG002
        number = value if type(value) is int else real_scalar(value)
        if number != number:  # noqa: PLR0124 (NaN)
            raise NotAValueError("is not a number; remove it, or pass None with nulls='keep'.", shown=shown(value))
        if not self.low <= number <= self.high:
            if outside == "error":
                raise outside_error(value, self)
            number = min(max(number, self.low), self.high)
        if type(number) is float and not number.is_integer():
            raise NotAValueError(
                f"is not a whole number, and {self} holds whole numbers; round it, or use Interval.", shown=shown(value)
            )
        return int(number) - self.low

    def decode(self, index: int) -> int:
        return self.low + index

    def decode_array(self, indices: Indices) -> Indices:
        return indices + np.int64(self.low)

    @property
    def code_offset(self) -> int:  # type: ignore[override]
        return self.low

    report_offset = code_offset

    def encode_array(self, values: NDArray[Any], outside: Outside = "error", coins: Coins = None) -> Indices:  # noqa: ARG002
        clip = outside == "clip"
        if values.dtype.kind == "f":
            return self._encode_floats(values, clip=clip)
        if values.dtype == np.uint64 and (self.low < 0 or clip):
            # Beyond int64 a cast would wrap to negative numbers, which may be inside; every domain ends far below.
            values = np.minimum(values, np.uint64(2**63 - 1))
        codes = values.astype(np.int64, copy=False)
        return np.clip(codes, self.low, self.high) if clip else codes

    def _encode_floats(self, values: NDArray[Any], *, clip: bool) -> Indices:
        with np.errstate(all="ignore"):
            values = values.astype(np.float64, copy=False)  # wide enough for the ends of every domain
        if clip:
            values = np.clip(values, self.low, self.high)
        # Two passes suffice for a block that is entirely inside (NaN fails both); only other blocks need masks.
        whole = np.floor(values) == values
        if len(values) and values.min() >= self.low and values.max() <= self.high and whole.all():
            return values.astype(np.int64)
        reportable = whole & (values >= self.low) & (values <= self.high)
        # Values that must not be reported get the code before the first, which every kernel refuses.
        return np.where(reportable, values, self.low - 1).astype(np.int64)

    def padded(self, half_window: int) -> Integers:
        low, high = self.low - half_window, self.high + half_window
        if max(abs(low), abs(high)) > MAX_SPEC_INTEGER:
            raise DesignError(
                "Expected padded reports below 2^53 in size; use a smaller m, or shift the range towards zero."
            )
        # There may be more reports than a domain may have values.
        padded = object.__new__(Integers)
        padded._set(low=low, high=high, size=self.size + 2 * half_window)
        return padded

    def to_spec(self) -> dict[str, Any]:
        return {"integers": [self.low, self.high]}

    def problems_of(self, values: NDArray[Any]) -> dict[str, Mask]:
        found = super().problems_of(values)
        fractional = ~found["outside"] & ~found["not a number"] & (np.floor(values) != values)
        return {**found, "not a whole number": fractional}

    def __str__(self) -> str:
        return f"{self.low}..{self.high}"

    def __repr__(self) -> str:
        return f"Integers({self.low}, {self.high})"
