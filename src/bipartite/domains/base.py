"""The interface of every domain, and the checks that domains share."""

from __future__ import annotations

import math
import numbers
import operator
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Final, Literal, SupportsIndex

import numpy as np

from bipartite.errors import DataError, NotAValueError, OutsideDomainError, shown
from bipartite.frozen import Frozen
from bipartite.lottery import Codec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from bipartite.errors import Problems
    from bipartite.lottery import Stream

    Indices = NDArray[np.int64]
    Reals = NDArray[np.float64]
    Mask = NDArray[np.bool_]
    Coins = NDArray[np.uint64] | None
Outside = Literal["error", "clip"]
MAX_SIZE: Final = 2**31
# Integers in a spec are JSON numbers that every reader represents exactly.
MAX_SPEC_INTEGER: Final = 2**53 - 1
_TO_NUMPY_LIMIT: Final = 2**27
# How far a float may be from the report it stands for, in steps to the next one: files and float32 round.
_NEAR: Final = 1e-3
# A table of all reports pays off if it has at most this many entries per value of a block.
_TABLE_FROM_VALUES: Final = 4


class Domain(Frozen, ABC):
    """The set of possible values, and of possible reports.

    A domain maps values to indices 0 … N−1 and back, one at a time (``encode``, ``decode``) or in blocks
    (``encode_array``, ``decode_array``). It is immutable and holds no private value. Floats of other widths are read as
    the nearest doubles.
    """

    __slots__ = ()

    size: int
    """N, the number of values."""
    whole: bool
    """Whether numeric values are whole numbers."""
    labels: tuple[Any, ...] | None = None
    """The names of the values, if they have names."""
    parts: tuple[Domain, ...] = ()
    """The domains of the parts where a value is a tuple."""
    has_ends: bool = False
    """Whether values are numbers with a lowest, a highest and a mean, equally far apart; others can be clamped."""
    wraps: bool = False
    """Whether after the last value comes the first."""
    by_row: bool = False
    """Whether values without labels are numbers of rows, as of points and items."""
    coordinates: Reals | None = None
    """The positions of values that are points."""
    metric: str | None = None
    """How distances between vectors are measured; "callable" where losses are in a table, None without distances."""
    is_flat: bool = False
    """Whether all wrong answers are equally wrong."""
    only_reports: bool = False
    """Whether these are outputs of a mechanism, which cannot serve as a domain of values."""
    low: float
    """The lowest value, if it has ends."""
    high: float
    indices: Indices | None = None
    """Of outputs that are some values of a domain, their indices there, ascending."""
    own_numbers: bool = False
    """Whether these are outputs that are numbers of their own, not values of the domain or steps beyond it."""
    own_labels: bool = False
    """Whether these are outputs that are labels of their own, none nearer to a value than another."""
    code_offset: int = 0
    """A value's code is its index plus this: whole numbers are their own codes, so that int64 arrays are not copied."""
    coins: bool = False
    """Whether encoding takes a random word for each value."""
    report_offset: int | None = None
    """A report is its index plus this, and can be written in place; None if reports are looked up."""
    _index: dict[Any, int]

    def __setstate__(self, state: tuple[None, dict[str, Any]]) -> None:
        super().__setstate__(state)
        self._freeze()  # pickling loses read-only flags

    def _freeze(self) -> None:
        """Make the arrays read-only: moving a point would break the promised ε."""
        for array in self._arrays():
            if array is not None:
                array.flags.writeable = False

    def _arrays(self) -> Iterable[NDArray[Any] | None]:
        return ()

    @property
    def step(self) -> float:
        """The distance between neighbouring values, if it has ranges."""
        raise AttributeError(f"{self!r} has no steps")

    @property
    def has_ranges(self) -> bool:
        """Whether neighbours have neighbouring indices, on a line or around a circle."""
        return self.has_ends or self.wraps

    @property
    def numbers(self) -> Domain:
        """The values as numbers: this domain, or for a set the whole numbers that stand for its values."""
        return self

    @property
    def base(self) -> Domain:
        """The domain that reports are read in: that of outputs which are some of its values, otherwise this."""
        return self

    @abstractmethod
    def encode(self, value: object, *, outside: Outside = "error", stream: Stream | None = None) -> int:
        """Return the index of a value; the ``DataError`` of an invalid one shows it."""

    @abstractmethod
    def decode(self, index: int) -> Any:  # noqa: ANN401 (a number or a label)
        """The value with this index."""

    @abstractmethod
    def decode_array(self, indices: Indices) -> NDArray[Any]:
        """The values with these indices."""

    @abstractmethod
    def encode_array(self, values: NDArray[Any], outside: Outside = "error", coins: Coins = None) -> Indices:
        """The codes of these values; one below ``code_offset``, or N above it, marks a value not to be reported.

        Labels are given by their indices, tuples as fields f0, f1, ….
        """

    def report_array(self, indices: Indices) -> NDArray[Any]:
        """The values with these indices as containers take them: labels by their indices.

        The type is int64 for whole numbers and float64 for others, whatever the type of the values. Whole numbers with
        a missing or infinite value arrive as floats: a report type that followed the value type would reveal that.
        """
        return self.decode_array(indices)

    def index_array(self, values: NDArray[Any], outside: Outside = "error", coins: Coins = None) -> Indices | None:
        """The indices of these values; None if one of them must not be reported."""
        indices = self.encode_array(values, outside, coins) - np.int64(self.code_offset)
        return indices if bool((indices.view(np.uint64) < np.uint64(self.size)).all()) else None

    def find(self, values: NDArray[Any]) -> Indices:
        """The index of each public report, up to the rounding of files; −1 or N and above for what is none."""
        return self.encode_array(values) - np.int64(self.code_offset)

    def codec(self, outputs: Domain | None, outside: Outside) -> Codec:
        """Encodes blocks of values, and decodes reports among ``outputs``; to their indices if that is None."""
        self.check_outside(outside)

        def encode(values: NDArray[Any], coins: Coins) -> Indices:
            return self.encode_array(values, outside, coins)

        if outputs is None or outputs.report_offset is not None:
            return Codec(encode, self.code_offset, self.coins, (outputs and outputs.report_offset) or 0)
        none = np.empty(0, dtype=np.int64)
        return Codec(encode, self.code_offset, self.coins, 0, outputs.report_array(none).dtype, _decoder(outputs))

    @abstractmethod
    def to_spec(self) -> dict[str, Any]:
        """The domain as part of a portable description."""

    def problems_of(self, values: NDArray[Any]) -> dict[str, Mask]:
        """For each reason to refuse a value, such as "outside", a mask of the values it applies to."""
        raise NotImplementedError

    def nearest_of(self, anchors: Indices) -> Indices:
        """The position of each value's nearest anchor, decided in integers; the lower of two equally near."""
        raise NotImplementedError

    def check_outside(self, outside: Outside) -> None:
        """Refuse ``outside="clip"`` on a domain without ends."""

    def refusals(self, values: NDArray[Any], outside: Outside) -> dict[str, Mask]:
        """For each reason why some values must not be reported, a mask of them; empty if all may be."""
        with np.errstate(all="ignore"):
            given = values.astype(np.float64) if values.dtype.kind == "f" else values
            found = {reason: bad for reason, bad in self.numbers.problems_of(given).items() if bad.any()}
        if outside == "clip":
            found.pop("outside", None)
        return found

    def explain(self, values: NDArray[Any], outside: Outside, place: Callable[[int], str]) -> DataError:
        """The error for an array with values that must not be reported: positions and reasons, never values."""
        refusals = self.refusals(values, outside)
        refused = int(np.logical_or.reduce(list(refusals.values())).sum())
        parts = []
        for reason, bad in refusals.items():
            what = f"is outside {self}" if reason == "outside" else f"is {reason}"
            parts.append(f"{place(int(np.argmax(bad)))} {what} ({int(bad.sum())} such)")
        hints = []
        if "outside" in refusals:
            hints.append("use outside='clip' to clamp values to the ends")
        if set(refusals) - {"outside"}:
            hints.append("remove or repair invalid values (nulls='keep' passes nulls through and publishes them)")
        kind = OutsideDomainError if set(refusals) == {"outside"} else NotAValueError
        return kind(f"{refused} of {len(values)} values cannot be reported: {', '.join(parts)}; {'; '.join(hints)}.")

    def codes(self, values: Sequence[Any]) -> Indices:
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

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[Any]:
        return map(self.decode, range(self.size))

    def __getitem__(self, index: SupportsIndex | slice | NDArray[Any]) -> Any:  # noqa: ANN401 (one value, or an array)
        if isinstance(index, slice):
            return self.decode_array(np.arange(*index.indices(self.size), dtype=np.int64))
        if isinstance(index, np.ndarray) and index.ndim:
            at = (np.flatnonzero(index) if index.dtype == bool else index).astype(np.int64)
            if ((at < -self.size) | (at >= self.size)).any():
                raise IndexError(f"an index is out of range for {self.size} values")
            return self.decode_array(np.where(at < 0, at + self.size, at))
        position = operator.index(index)
        if not -self.size <= position < self.size:
            raise IndexError(f"index {position} is out of range for {self.size} values")
        return self.decode(position % self.size)

    def __contains__(self, value: object) -> bool:
        try:
            return bool(self.decode(self.encode(value)) == value)
        except DataError:
            return False

    def to_numpy(self) -> NDArray[Any]:
        """All values in order; for domains of at most 2^27 values."""
        if self.size > _TO_NUMPY_LIMIT:
            raise MemoryError(
                f"to_numpy returns at most 2^27 values, this domain has {self.size}; index it instead: domain[5:10]."
            )
        return self.decode_array(np.arange(self.size, dtype=np.int64))

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))


class LineDomain(Domain):
    """Equidistant values on a line, low to high, with loss ``|x − y|``."""

    __slots__ = ()
    has_ends = True

    def nearest_of(self, anchors: Indices) -> Indices:
        last = np.append((anchors[:-1] + anchors[1:]) // 2, self.size - 1)
        return np.repeat(np.arange(len(anchors)), np.diff(last, prepend=-1))

    @abstractmethod
    def padded(self, half_window: int) -> LineDomain:
        """The domain with ``half_window`` more values at each end: the outputs of a padded mechanism."""

    def problems_of(self, values: NDArray[Any]) -> dict[str, Mask]:
        bad_number = np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=bool)
        outside = ~bad_number & ((values < self.low) | (values > self.high))
        return {"outside": outside, "not a number": bad_number}


def _decoder(outputs: Domain) -> Callable[[Indices, NDArray[Any]], None]:
    """Writes the reports with these indices; all are listed once a block is large enough for that to pay off."""
    table: NDArray[Any] | None = None

    def decode(indices: Indices, reports: NDArray[Any]) -> None:
        nonlocal table
        if table is None and len(outputs) <= _TABLE_FROM_VALUES * len(indices):
            table = outputs.report_array(np.arange(len(outputs), dtype=np.int64))
        if table is None:
            reports[:] = outputs.report_array(indices)
        else:
            np.take(table, indices, out=reports, mode="clip")  # "clip" avoids a copy; every index is inside

    return decode


def nearest_nodes(nodes: NDArray[Any], at: Indices, values: NDArray[Any]) -> Indices:
    """These indices where the values are those nodes up to rounding, −1 elsewhere (NaN too)."""
    gap = float(np.diff(nodes).min()) if len(nodes) > 1 else 1.0
    return np.where(np.abs(values - nodes[at]) <= _NEAR * gap, at, -1)


def is_label(value: object) -> bool:
    """Whether a value may be a label: text or an integer, but not a bool or a float with an integer value."""
    return isinstance(value, (str, int, np.integer)) and not isinstance(value, (bool, np.bool_, np.timedelta64))


def whole_number(name: str, value: object, problems: Problems) -> int:
    """Read an argument as an int, accepting floats with an integer value."""
    if isinstance(value, float) and math.isfinite(value) and value.is_integer():
        return int(value)
    found = as_index(value)
    if found is not None:
        return found
    problems.add(f"Expected {name} as a whole number, got {shown(value)}; pass an int.")
    return 0


def as_index(value: object) -> int | None:
    """An integer of any type but bool, or None for anything else."""
    if not isinstance(value, SupportsIndex) or isinstance(value, (bool, np.bool_)):
        return None
    try:
        return operator.index(value)
    except TypeError:  # an array of several numbers
        return None


def finite_number(name: str, value: object, problems: Problems) -> float:
    """Read an argument as a finite float."""
    number = as_real(value)
    if math.isfinite(number):
        return number
    problems.add(f"Expected {name} as a finite number, got {shown(value)}; pass a float.")
    return 0.0


def as_real(value: object) -> float:
    """A number as a double, infinite if out of range; NaN for bools and anything that is not a number."""
    if type(value) is bool or not isinstance(value, numbers.Real):
        return math.nan
    return as_double(value)


def as_double(number: float | numbers.Real | np.integer[Any] | np.floating[Any]) -> float:
    """The double nearest to a number; infinite if out of range."""
    try:
        return float(number)
    except OverflowError:
        return -math.inf if number < 0 else math.inf


def real_scalar(value: object) -> float | int:
    """Read a private scalar as a Python number; the error shows it."""
    # NumPy counts timedelta64 among its integers.
    if not isinstance(value, (bool, np.bool_, np.timedelta64)):
        if isinstance(value, (int, np.integer)):
            return int(value)
        if isinstance(value, (float, np.floating)):
            with np.errstate(all="ignore"):
                return float(value)
    raise NotAValueError("is not a number; pass an int or a float.", shown=shown(value))


def outside_error(value: object, domain: object) -> OutsideDomainError:
    """The error for a private scalar outside the domain."""
    return OutsideDomainError(f"is outside {domain}; use outside='clip' to clamp it.", shown=shown(value))
