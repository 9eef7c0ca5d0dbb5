"""Reports of any sampler as arrays of numbers, for an audit.

Numbers are unchanged; rows of one length (vectors, bits, tuples) become a table; words and all other reports are
numbered in the order of their first appearance. Which of these it is, the samples that choose events decide over all
inputs, because a sampler that reports a number for one value and a word for another gives it away. Tested reports are
then read one by one: were a report read differently for what stands beside it, its counts would not be binomial. One
of another type or length counts as not seen before.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeGuard

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
_FLOATS: Final = (float, np.floating)
_FLATTENED: Final = (list, tuple, np.ndarray, complex, np.complexfloating)


class Reader:
    """Turns reports into numbers, by the type of those that are given first; ``reports`` has these, input by input."""

    def __init__(self, drawn: list[list[NDArray[Any]]]) -> None:
        parts = [part for each in drawn for part in each]
        one_shape = len({part.shape[1:] for part in parts}) == 1
        kinds = {_kind(part) for part in parts}
        self.names: list[Any] | None = None
        self._shape = parts[0].shape[1:] if one_shape else ()
        self._one: Callable[[Any], float] = _real if "f" in kinds else _whole
        self._plain = "biufmM" if "f" in kinds else "biumM"
        if not one_shape or not kinds <= {*"biufmM"}:
            self.names, self._plain = [], ""
            self._one = partial(_label, {}, self.names)
        self._dtype = np.dtype(np.float64 if self._one is _real else np.int64)
        self.reports = [self.read(each) for each in drawn]

    def read(self, parts: list[NDArray[Any]]) -> NDArray[Any]:
        """One number or one row of numbers for each report."""
        return np.concatenate([self._read(self._shaped(part)) for part in parts])

    def _read(self, part: NDArray[Any]) -> NDArray[Any]:
        if part.dtype.kind in self._plain:
            return (part.view(np.int64) if part.dtype.kind in "mM" else part).astype(self._dtype)
        return np.array([self._one(each) for each in part.ravel().tolist()], self._dtype).reshape(part.shape)

    def _shaped(self, part: NDArray[Any]) -> NDArray[Any]:
        if part.shape[1:] == self._shape:
            return part
        if not self._shape:
            return _objects([tuple(row) for row in part.tolist()])
        rows = (as_reports([report]) for report in part.tolist())
        unfit = [_UNFIT] * self._shape[0]
        flat = [each for row in rows for each in (row[0].tolist() if row.shape[1:] == self._shape else unfit)]
        return _objects(flat).reshape(-1, *self._shape)


def _kind(part: NDArray[Any]) -> str:
    """The kind of an array as NumPy names it; i or f if it holds objects that are all numbers."""
    if part.dtype.kind != "O" or not all(_is_number(each) for each in part.ravel().tolist()):
        return part.dtype.kind
    return "f" if any(isinstance(each, _FLOATS) for each in part.ravel().tolist()) else "i"


def _is_number(report: object) -> TypeGuard[int | float]:
    """Whether it is a number; a span of time is not: beside milliseconds NumPy turns 1 s into 1000."""
    return isinstance(report, _NUMBERS) and not isinstance(report, np.timedelta64)


def _real(report: object) -> float:
    try:
        return float(report) if _is_number(report) else math.nan
    except OverflowError:  # beyond what a double holds
        return math.inf


def _whole(report: object) -> int:
    """A whole number, modulo 2^64 as NumPy has it, or the mark of what was not seen."""
    if not _is_number(report) or (isinstance(report, _FLOATS) and not -_HALF < report < _HALF):
        return _UNSEEN
    return (int(report) + _HALF) % 2**64 - _HALF if report == int(report) else _UNSEEN


def _label(numbers: dict[Hashable, int], names: list[Any], report: object) -> int:
    """The number of a report, in the order of their first appearance."""
    if report is _UNFIT:
        return _UNSEEN
    number = numbers.setdefault(_key(report), len(names))
    if number == len(names):
        names.append(report.item() if isinstance(report, np.generic) else report)
    return number


def _key(label: object) -> Hashable:
    """A hashable key that identifies a label."""
    if isinstance(label, np.generic):
        return _key(label.item())
    if isinstance(label, (list, tuple, np.ndarray)):
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
    if isinstance(label, float) and label.is_integer():
        label = int(label)  # pandas turns 1 into 1.0 beside a gap
    return (type(label).__name__, label)  # True and 1 are different reports


def as_reports(raw: object) -> NDArray[Any]:
    """The return value of a sampler as an array with one element or one row per report.

    A list becomes an array of numbers only if all have one type: NumPy would turn 1 into 1.0 or "1" for what stands
    beside it.
    """
    if isinstance(raw, np.ma.MaskedArray):
        return _objects(raw.tolist())  # masked elements become None
    if isinstance(raw, (list, tuple)):
        raw = [_flat(each) for each in raw]
        kinds = {type(each) for each in raw}
        if kinds == {tuple} and len({len(each) for each in raw}) == 1 and raw[0]:
            return as_reports([part for each in raw for part in each]).reshape(len(raw), -1)
        one_kind = len(kinds) == 1 and _is_number(raw[0])
        if not one_kind or (type(raw[0]) is int and np.asarray(raw).dtype.kind == "f"):  # beyond 64 bits
            return _objects(raw)
    found = np.asarray(raw)
    if found.dtype.kind == "V":
        return _objects(found.tolist())
    if found.dtype.kind == "c":
        found = np.ascontiguousarray(found).view(np.float64).reshape(*found.shape, 2)
    return found.reshape(len(found), -1) if found.ndim > 1 else found


def _flat(report: Any) -> Any:  # noqa: ANN401
    """A list, a tuple, an array or a complex number as one tuple, without others in it; any other report as it is."""
    if isinstance(report, (complex, np.complexfloating)):
        return (report.real, report.imag)
    report = report.tolist() if isinstance(report, np.ndarray) else report
    if not isinstance(report, (list, tuple)):
        return report
    if any(isinstance(part, _FLATTENED) for part in report):
        parts = [_flat(part) for part in report]
        return tuple(each for part in parts for each in (part if isinstance(part, tuple) else (part,)))
    return tuple(report)


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
        # Copied, because a sampler may fill the same array again.
        reports = as_reports([_flat(sampler(value)) for _ in range(size)] if scalar else sampler(repeated(value, size)))
        if reports.shape[:1] != (size,) or not reports.size:
            raise InputError(
                f"Expected {size} reports for {size} values, got shape {reports.shape}; return one report per "
                "value, or audit a sampler of one value with scalar=True."
            )
        parts.append(reports.copy())
        if progress is not None:
            progress(size)
    return parts


def repeated(value: object, size: int) -> NDArray[Any] | list[Any]:
    """An array of equal values; a row becomes a table of equal rows, or a list if it mixes strings and numbers."""
    if isinstance(value, tuple) and len(kinds := {type(part) for part in value}) > 1 and str in kinds:
        return [value] * size  # NumPy would turn the numbers into strings
    one = np.asarray(value)
    return np.broadcast_to(one, (size, *one.shape)).copy()
