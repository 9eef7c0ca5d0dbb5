"""Reports of any sampler as arrays of numbers, for an audit.

Numbers are unchanged; rows of one length (vectors, bits, tuples) become a table; words and all other reports are
numbered in the order of their first appearance. Which of these it is, the samples that choose events decide over all
inputs, because a sampler that reports a number for one value and a word for another gives it away. Tested reports are
then read one by one: were a report read differently for what stands beside it, its counts would not be binomial. One
of another type or length counts as not seen before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from bipartite.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

    from numpy.typing import NDArray

# The number of values per call of a sampler, which bounds memory and lets a progress bar move.
_BATCH: Final = 2**20
_SCALARS: Final = 2**14
_HALF: Final = 2**63
_UNSEEN: Final = -_HALF
_UNFIT: Final = object()
_NUMBERS: Final = (int, float, np.integer, np.floating, np.bool_)
_ARRAYS_OF_NUMBERS: Final = "biufmM"


class Reader:
    """Turns reports into numbers, by the type of those that are given first; ``reports`` has these, input by input."""

    def __init__(self, drawn: list[list[NDArray[Any]]]) -> None:
        parts = [part for each in drawn for part in each]
        one_shape = len({part.shape[1:] for part in parts}) == 1
        self._shape: tuple[int, ...] = parts[0].shape[1:] if one_shape else ()
        self.names: list[Any] | None = None if one_shape and all(map(_is_numeric, parts)) else []
        self._numbers: dict[Hashable, int] = {}
        whole = not any(part.dtype.kind == "f" or _has_float(part) for part in parts)
        self._one, self._dtype = (_whole, np.dtype(np.int64)) if whole else (_real, np.dtype(np.float64))
        self.reports = [self.read(each) for each in drawn]

    def read(self, parts: list[NDArray[Any]]) -> NDArray[Any]:
        """One number or one row of numbers for each report."""
        read = self._numerals if self.names is None else self._labels
        return np.concatenate([read(self._shaped(part)) for part in parts])

    def _shaped(self, part: NDArray[Any]) -> NDArray[Any]:
        if part.shape[1:] == self._shape:
            return part
        if not self._shape:
            return _objects([tuple(row) for row in part.tolist()])
        rows = (as_reports([report]) for report in part.tolist())
        unfit = [_UNFIT] * self._shape[0]
        flat = [each for row in rows for each in (row[0].tolist() if row.shape[1:] == self._shape else unfit)]
        return _objects(flat).reshape(-1, *self._shape)

    def _numerals(self, reports: NDArray[Any]) -> NDArray[Any]:
        if reports.dtype.kind in "OUS" or (reports.dtype.kind == "f" and self._one is _whole):
            return np.array([self._one(each) for each in reports.ravel().tolist()], self._dtype).reshape(reports.shape)
        return (reports.view(np.int64) if reports.dtype.kind in "mM" else reports).astype(self._dtype)

    def _labels(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        if reports.dtype.kind == "O":
            flat = [self._number(label) for label in reports.ravel().tolist()]
            return np.array(flat, dtype=np.int64).reshape(reports.shape)
        distinct, where = np.unique(reports, return_inverse=True)
        numbers = np.array([self._number(label) for label in distinct.tolist()], dtype=np.int64)
        return numbers[where].reshape(reports.shape)

    def _number(self, label: object) -> int:
        if label is _UNFIT or self.names is None:
            return _UNSEEN
        label = label.item() if isinstance(label, np.generic) else label
        number = self._numbers.setdefault(_key(label), len(self.names))
        if number == len(self.names):
            self.names.append(label)
        return number


def _is_numeric(part: NDArray[Any]) -> bool:
    objects = part.dtype.kind == "O" and all(isinstance(each, _NUMBERS) for each in part.ravel().tolist())
    return objects or part.dtype.kind in _ARRAYS_OF_NUMBERS


def _has_float(part: NDArray[Any]) -> bool:
    return part.dtype.kind == "O" and any(isinstance(each, (float, np.floating)) for each in part.ravel().tolist())


def _whole(report: object) -> int:
    """A whole number, modulo 2^64 as NumPy has it, or the mark of what was not seen."""
    if isinstance(report, (float, np.floating)) and not (report.is_integer() and abs(report) < _HALF):
        return _UNSEEN
    return (int(report) + _HALF) % 2**64 - _HALF if isinstance(report, _NUMBERS) else _UNSEEN


def _real(report: object) -> float:
    return float(report) if isinstance(report, _NUMBERS) else np.nan


def _key(label: object) -> Hashable:
    """A hashable key that identifies a label."""
    if isinstance(label, np.generic):
        return _key(label.item())
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
    """The return value of a sampler as an array with one element or one row per report.

    A list becomes an array of numbers or words only if all its elements have one type: NumPy would turn 1 into 1.0 or
    "1" for what stands beside it.
    """
    if isinstance(raw, np.ma.MaskedArray):
        return _objects(raw.tolist())  # masked elements become None
    if isinstance(raw, (list, tuple)):
        raw = [each.tolist() if isinstance(each, np.ndarray) else each for each in raw]
        kinds = {type(each) for each in raw}
        if raw and kinds <= {list, tuple}:
            flat = [part for each in raw for part in each]
            same = flat and len({len(each) for each in raw}) == 1
            return as_reports(flat).reshape(len(raw), -1) if same else _objects(raw)
        if len(kinds) > 1 or (kinds == {int} and np.asarray(raw).dtype.kind == "f"):
            return _objects(raw)
    try:
        found = np.asarray(raw)
    except ValueError:  # sequences of unequal lengths
        return _objects(cast("Iterable[object]", raw))
    if found.dtype.kind == "V":
        return _objects(found.tolist())
    if found.dtype.kind == "c":
        found = np.ascontiguousarray(found).view(np.float64).reshape(*found.shape, 2)
    return found.reshape(len(found), -1) if found.ndim > 1 else found


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
    most = _SCALARS if scalar else _BATCH
    for start in range(0, trials, most):
        size = min(most, trials - start)
        reports = as_reports([sampler(value) for _ in range(size)] if scalar else sampler(repeated(value, size)))
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
    if isinstance(value, tuple) and len(kinds := {type(part) for part in value}) > 1 and str in kinds:
        return [value] * size  # NumPy would turn the numbers into strings
    one = np.asarray(value)
    return np.broadcast_to(one, (size, *one.shape)).copy()
