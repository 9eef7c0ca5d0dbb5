"""Reports of any sampler as arrays of numbers: what an audit looks at.

Numbers stay as they are; strings, tuples and other labels get a number each, in the order in which they first appear;
rows (vectors, bit patterns, tuples of one length) become a two-dimensional array.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from numpy.typing import NDArray

# Values in one call of a sampler: bounds the memory, and lets a progress bar move.
_BATCH: Final = 2**20
_ROWS_BY_CALL: Final = 2**14


class Reader:
    """Turns what samplers return into arrays of numbers, and remembers the labels that it has met."""

    def __init__(self) -> None:
        self.names: list[Any] = []
        self._numbers: dict[Hashable, int] = {}
        self.labelled = False
        self._shape: tuple[int, ...] | None = None
        self._dtype: np.dtype[Any] = np.dtype(np.int64)

    def read(self, raw: object, expected: int) -> NDArray[Any]:
        """The reports of ``expected`` values as numbers: one each, or one row each."""
        reports = _as_array(raw)
        if reports.ndim == 0 or len(reports) != expected:
            found = "one object" if reports.ndim == 0 else f"{len(reports)}"
            msg = (
                f"Expected {expected} reports for {expected} values, got {found}; return an array as long as the "
                "input, or use scalar=True for a sampler of one value."
            )
            raise InputError(msg)
        reports = reports.reshape(expected, -1) if reports.ndim > 1 else reports
        kind = reports.dtype.kind
        labelled = kind in "USO"
        if self._shape is None:
            self._shape, self.labelled = reports.shape[1:], labelled
        if reports.shape[1:] != self._shape or labelled != self.labelled:
            msg = "Expected reports of one kind and shape, got several; return strings for all, or rows of one length."
            raise InputError(msg)
        if labelled:
            return self._numbered(reports)
        if kind == "f":
            self._dtype = np.dtype(np.float64)
            return reports.astype(np.float64)
        return (reports.astype(np.int64) if kind in "biu" else reports.view(np.int64)).astype(self._dtype)

    def alike(self, drawn: list[NDArray[Any]]) -> list[NDArray[Any]]:
        """The same reports, all as floats where some are."""
        return [reports.astype(self._dtype, copy=False) for reports in drawn]

    def _numbered(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        """The number of each label."""
        if reports.dtype.kind in "US":
            distinct, where = np.unique(reports, return_inverse=True)
            numbers = np.array([self._number(label) for label in distinct.tolist()], dtype=np.int64)
            return numbers[where].reshape(reports.shape)
        flat = [self._number(label) for label in reports.ravel().tolist()]
        return np.array(flat, dtype=np.int64).reshape(reports.shape)

    def _number(self, label: Any) -> int:  # noqa: ANN401 (whatever a sampler reports)
        key = _key(label)
        number = self._numbers.setdefault(key, len(self.names))
        if number == len(self.names):
            self.names.append(label)
        return number


def _key(label: Any) -> Hashable:  # noqa: ANN401
    """Something to tell labels apart by."""
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
        msg = (
            f"Expected reports as numbers, strings, or rows and tuples of them, got {type(label).__name__}; "
            "let the sampler return something that can be compared."
        )
        raise InputError(msg) from None
    return (type(label).__name__, label)  # True, 1 and 1.0 are different reports


def _as_array(raw: object) -> NDArray[Any]:
    """Whatever was returned, as an array; reports of unequal lengths as an array of tuples."""
    if isinstance(raw, (list, tuple)):
        kinds = {type(each) for each in raw}
        if kinds & {str, bytes} and len(kinds) > 1:
            return _objects(raw)
        if kinds <= {tuple, list} and len({type(part) for each in raw[:1] for part in each} & {str, bytes}):
            lengths = {len(each) for each in raw}
            if len(lengths) == 1:
                return _objects([part for each in raw for part in each]).reshape(len(raw), -1)
    try:
        found = np.asarray(raw)
    except ValueError:  # rows of unequal lengths
        return _objects(raw)
    if found.dtype.kind == "c":
        return np.ascontiguousarray(found).view(np.float64).reshape(*found.shape, 2)
    if found.dtype.kind == "V":
        return _objects(found.tolist())
    return found


def _objects(raw: Any) -> NDArray[np.object_]:  # noqa: ANN401
    array = np.empty(len(raw), dtype=object)
    array[:] = list(raw)
    return array


def sample(
    sampler: Callable[[Any], object],
    value: object,
    trials: int,
    reader: Reader,
    *,
    scalar: bool,
    progress: Callable[[int], None] | None = None,
) -> NDArray[Any]:
    """Reports of one value, asked for ``trials`` times."""
    parts = []
    done = 0
    batch = _ROWS_BY_CALL if scalar else _BATCH
    while done < trials:
        size = min(batch, trials - done)
        raw = _objects_of(sampler, value, size) if scalar else sampler(_repeated(value, size))
        parts.append(reader.read(raw, size))
        done += size
        if progress is not None:
            progress(size)
    return np.concatenate(parts)


def _objects_of(sampler: Callable[[Any], object], value: object, size: int) -> list[object]:
    return [sampler(value) for _ in range(size)]


def _repeated(value: object, size: int) -> NDArray[Any]:
    """An array of equal values; a value that is a row becomes a table of equal rows."""
    one = np.asarray(value)
    return np.broadcast_to(one, (size, *one.shape)).copy()
