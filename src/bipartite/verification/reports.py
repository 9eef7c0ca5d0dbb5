"""Reports of any sampler as arrays of numbers, for an audit.

Numbers are unchanged; rows of one length (vectors, bits, tuples) become a table; strings and all other reports are
numbered in the order of their first appearance. The type of reports is decided over all inputs, because a sampler that
reports a number for one value and a word for another gives it away. Only the samples that choose events decide;
reports of another type among the tested samples count as not seen before.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from numpy.typing import NDArray

# The number of values per call of a sampler, which bounds memory and lets a progress bar move.
_BATCH: Final = 2**20
_SCALARS: Final = 2**14
_UNSEEN: Final = -(2**63)


class Reader:
    """Turns the reports of several inputs into numbers, and remembers the labels seen."""

    def __init__(self) -> None:
        self.names: list[Any] = []
        self.labelled = False
        self._numbers: dict[Hashable, int] = {}
        self._columns: int | None = None
        self._dtype: np.dtype[Any] = np.dtype(np.int64)

    def learn(self, drawn: list[list[NDArray[Any]]]) -> list[NDArray[Any]]:
        """The reports of each input, given in parts, as one number or one row per report; decides their type."""
        parts = [part for each in drawn for part in each]
        widths = {part.shape[1] if part.ndim > 1 else None for part in parts}
        same_width = len(widths) == 1
        self._columns = widths.pop() if same_width else None
        self.labelled = not same_width or any(part.dtype.kind in "USO" for part in parts)
        if not self.labelled and any(part.dtype.kind == "f" for part in parts):
            self._dtype = np.dtype(np.float64)
        return [self.read(each) for each in drawn]

    def read(self, parts: list[NDArray[Any]]) -> NDArray[Any]:
        """Reports as numbers, by the type that was learned."""
        return np.concatenate([self._labels(part) if self.labelled else self._numerals(part) for part in parts])

    def _numerals(self, reports: NDArray[Any]) -> NDArray[Any]:
        shape = (len(reports),) if self._columns is None else (len(reports), self._columns)
        unseen = np.nan if self._dtype.kind == "f" else _UNSEEN
        if reports.shape != shape:
            return np.full(shape, unseen, dtype=self._dtype)
        if reports.dtype.kind in "USO":
            parts = reports.ravel().tolist()
            numbers = [part if isinstance(part, (int, float)) and abs(part) < -_UNSEEN else unseen for part in parts]
            return np.array(numbers).reshape(shape).astype(self._dtype)
        return (reports.view(np.int64) if reports.dtype.kind in "mM" else reports).astype(self._dtype)

    def _labels(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        if self._columns is not None and reports.shape[1:] != (self._columns,):
            return np.full((len(reports), self._columns), _UNSEEN)
        if reports.ndim > 1 and self._columns is None:
            reports = _objects([tuple(row) for row in reports.tolist()])
        if reports.dtype.kind == "O":
            flat = [self._number(label) for label in reports.ravel().tolist()]
            return np.array(flat, dtype=np.int64).reshape(reports.shape)
        distinct, where = np.unique(reports, return_inverse=True)
        numbers = np.array([self._number(label) for label in distinct.tolist()], dtype=np.int64)
        return numbers[where].reshape(reports.shape)

    def _number(self, label: object) -> int:
        number = self._numbers.setdefault(_key(label), len(self.names))
        if number == len(self.names):
            self.names.append(label)
        return number


def _key(label: object) -> Hashable:
    """A hashable key that identifies a label."""
    if isinstance(label, np.ndarray):
        return (label.dtype.str, label.shape, label.tobytes())
    if isinstance(label, (list, tuple)):
        return tuple(_key(part) for part in label)
    if isinstance(label, dict):
        return frozenset((name, _key(part)) for name, part in label.items())
    if isinstance(label, set):
        return frozenset(label)
    try:
        hash(label)
    except TypeError:
        raise InputError(
            f"Expected reports as numbers, strings, or rows and tuples of them, got {type(label).__name__}; "
            "let the sampler return hashable reports."
        ) from None
    return (type(label).__name__, label)  # True, 1 and 1.0 are different reports


def as_reports(raw: object) -> NDArray[Any]:
    """The return value of a sampler as an array with one element or one row per report."""
    found = _as_array(raw)
    return found.reshape(len(found), -1) if found.ndim > 1 else found


def _as_array(raw: object) -> NDArray[Any]:
    if isinstance(raw, np.ma.MaskedArray):
        return _objects(raw.tolist())  # masked elements become None
    if isinstance(raw, (list, tuple)):
        if _mixed(raw):
            return _objects(raw)
        first = raw[0] if raw else None
        rows = isinstance(first, (list, tuple)) and all(isinstance(each, (list, tuple)) for each in raw)
        if rows and len({len(each) for each in raw}) == 1 and any(_mixed(each) for each in raw):
            # NumPy would turn the numbers in such rows into strings.
            return _objects([part for each in raw for part in each]).reshape(len(raw), -1)
    try:
        found = np.asarray(raw)
    except ValueError:  # rows of unequal lengths
        return _objects(raw if isinstance(raw, Iterable) else [raw])
    if found.dtype.kind == "c":
        return np.ascontiguousarray(found).view(np.float64).reshape(*found.shape, 2)
    return _objects(found.tolist()) if found.dtype.kind == "V" else found


def _mixed(parts: Iterable[object]) -> bool:
    """Whether there are strings and other types."""
    kinds = {type(part) for part in parts}
    return len(kinds) > 1 and bool(kinds & {str, bytes})


def _objects(raw: Iterable[object]) -> NDArray[np.object_]:
    reports = list(raw)
    array = np.empty(len(reports), dtype=object)
    array[:] = reports
    return array


def sample(
    sampler: Callable[[Any], object],
    value: object,
    trials: int,
    *,
    scalar: bool,
    progress: Callable[[int], None] | None = None,
) -> list[NDArray[Any]]:
    """``trials`` reports of one value, in parts."""
    parts = []
    for start in range(0, trials, _SCALARS if scalar else _BATCH):
        size = min(_SCALARS if scalar else _BATCH, trials - start)
        raw = [sampler(value) for _ in range(size)] if scalar else sampler(repeated(value, size))
        reports = as_reports(raw)
        if reports.ndim == 0 or len(reports) != size:
            found = "one object" if reports.ndim == 0 else f"{len(reports)}"
            raise InputError(
                f"Expected {size} reports for {size} values, got {found}; return an array as long as the input, "
                "or use scalar=True for a sampler of one value."
            )
        parts.append(reports)
        if progress is not None:
            progress(size)
    return parts


def repeated(value: object, size: int) -> NDArray[Any] | list[Any]:
    """An array of equal values; a row becomes a table of equal rows, or a list if it mixes strings and numbers."""
    if isinstance(value, tuple) and _mixed(value):
        return [value] * size  # NumPy would turn the numbers into strings
    one = np.asarray(value)
    return np.broadcast_to(one, (size, *one.shape)).copy()
