"""Views of reports: each maps reports to a few outcomes, learned on samples that are not used for testing.

Any function of a report keeps its ε, so every view gives a valid bound; a bad one only gives a smaller bound.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Codes = NDArray[np.int64]

BINS: Final = 128
# Numbers with fewer samples per distinct report are binned.
SAMPLES_FOR_A_REPORT: Final = 16
_SHOWN: Final = 8
_COLUMN_VALUES: Final = 8


class Outcomes(Protocol):
    """A view of reports; codes run from 0 to ``size``, the last for reports not seen while learning."""

    @property
    def size(self) -> int:
        """The number of outcomes."""

    def codes(self, reports: NDArray[Any]) -> Codes:
        """The outcome of each report."""

    def members(self, codes: Sequence[int]) -> tuple[Any, ...]:
        """The elements of these outcomes: reports, ranges (low, high) of numbers, or values of columns."""

    def describe(self, codes: Sequence[int]) -> str:
        """The same in words."""


def keys_of(reports: NDArray[Any]) -> NDArray[np.int64]:
    """An integer for each number; floats by their bits, so that −0.0, 0.0 and all NaNs differ."""
    return reports.view(np.int64) if reports.dtype.kind == "f" else reports.astype(np.int64, copy=False)


@dataclass(frozen=True, eq=False)
class Distinct:
    """Every distinct report is an outcome."""

    keys: NDArray[np.int64]
    values: tuple[Any, ...]

    @classmethod
    def learn(cls, reports: NDArray[Any], names: Sequence[Any] | None = None) -> Distinct:
        """The reports that occur."""
        keys = np.unique(keys_of(reports))
        shown = keys.view(np.float64).tolist() if reports.dtype.kind == "f" else keys.tolist()
        return cls(keys, tuple(shown if names is None else [names[number] for number in shown]))

    @property
    def size(self) -> int:
        """The number of distinct reports."""
        return len(self.keys)

    def codes(self, reports: NDArray[Any]) -> Codes:
        """The position of each report among those that occur."""
        keys = keys_of(reports)
        at = np.searchsorted(self.keys, keys)
        at[self.keys[np.minimum(at, len(self.keys) - 1)] != keys] = len(self.keys)
        return at

    def members(self, codes: Sequence[int]) -> tuple[Any, ...]:
        """The reports themselves."""
        return tuple(sorted_if_possible([self.values[code] for code in codes]))

    def describe(self, codes: Sequence[int]) -> str:
        """A list of reports, with runs of integers as low..high."""
        reports = self.members(codes)
        if all(isinstance(report, int) for report in reports):
            parts = _spans(reports)
        else:
            parts = [repr(report) for report in reports]
        return "the report is " + _either(parts)


@dataclass(frozen=True, eq=False)
class Ranges:
    """Numbers binned into ranges of about equal counts; a frequent number is an outcome by itself."""

    atoms: Distinct | None
    edges: NDArray[np.float64]

    @classmethod
    def learn(cls, reports: NDArray[Any], bins: int) -> Ranges:
        """Quantile bins of these numbers."""
        keys, counts = np.unique(keys_of(reports), return_counts=True)
        frequent = keys[counts * bins * 2 > len(reports)]
        frequent = frequent if reports.dtype.kind != "f" else frequent.view(np.float64)
        atoms = Distinct.learn(frequent) if len(frequent) else None
        rest = reports if atoms is None else reports[atoms.codes(reports) == atoms.size]
        rest = rest.astype(np.float64)
        rest = rest[~np.isnan(rest)]
        cuts = np.arange(1, bins) / bins
        edges = np.unique(np.quantile(rest, cuts, method="inverted_cdf")) if len(rest) else np.empty(0)
        return cls(atoms, edges)

    @property
    def _alone(self) -> int:
        return 0 if self.atoms is None else self.atoms.size

    @property
    def size(self) -> int:
        """The number of ranges and of frequent numbers."""
        return self._alone + len(self.edges) + 1

    def codes(self, reports: NDArray[Any]) -> Codes:
        """Frequent numbers first, then ranges; a rare NaN counts as unseen."""
        found = np.searchsorted(self.edges, reports, side="left") + self._alone
        if reports.dtype.kind == "f":
            found[np.isnan(reports)] = self.size
        if self.atoms is not None:
            at = self.atoms.codes(reports)
            alone = at < self.atoms.size
            found[alone] = at[alone]
        return found

    def members(self, codes: Sequence[int]) -> tuple[Any, ...]:
        """Numbers, and ranges (low, high], adjacent ones merged."""
        alone = [code for code in codes if code < self._alone]
        single = () if self.atoms is None else self.atoms.members(alone)
        ends = [-np.inf, *self.edges.tolist(), np.inf]
        ranges = [(ends[low], ends[high + 1]) for low, high in _runs([c - self._alone for c in codes[len(alone) :]])]
        return (*single, *ranges)

    def describe(self, codes: Sequence[int]) -> str:
        """Numbers and ranges in words."""
        parts = [
            f"in ({each[0]:.6g}, {each[1]:.6g}]" if isinstance(each, tuple) else repr(each)
            for each in self.members(codes)
        ]
        return "the report is " + _either(parts)


@dataclass(frozen=True, eq=False)
class Precision:
    """The number of trailing zero bits of a float: rounding after adding noise can reveal the value."""

    size: int = 65

    def codes(self, reports: NDArray[Any]) -> Codes:
        """The number of trailing zero bits of each number."""
        bits = keys_of(reports).view(np.uint64)
        lowest = bits & (~bits + np.uint64(1))
        found = np.full(len(bits), 64, dtype=np.int64)
        some = bits != 0
        found[some] = np.log2(lowest[some].astype(np.float64)).astype(np.int64)
        return found

    def members(self, codes: Sequence[int]) -> tuple[Any, ...]:
        """The numbers of zero bits."""
        return tuple(codes)

    def describe(self, codes: Sequence[int]) -> str:
        """The numbers of zero bits in words."""
        return f"the report ends in {_either(_spans(codes))} zero bits, as a double"


def learn_numbers(reports: NDArray[Any], bins: int | None, names: Sequence[Any] | None = None) -> Outcomes:
    """Every distinct report if they repeat often, else ranges."""
    if bins is None or names is not None:
        distinct = Distinct.learn(reports, names)
        if names is not None or distinct.size * SAMPLES_FOR_A_REPORT <= len(reports):
            return distinct
    return Ranges.learn(reports, bins or BINS)


@dataclass(frozen=True, eq=False)
class Coder:
    """Maps each column of a table of reports to a few values, coded as small integers."""

    columns: tuple[Outcomes, ...]

    @classmethod
    def learn(cls, reports: NDArray[Any], names: Sequence[Any] | None) -> Coder:
        """A view of each column."""
        found: list[Outcomes] = []
        for at in range(reports.shape[1]):
            column = np.ascontiguousarray(reports[:, at])
            distinct = Distinct.learn(column, names)
            few = distinct.size <= _COLUMN_VALUES or names is not None
            found.append(distinct if few else Ranges.learn(column, _COLUMN_VALUES))
        return cls(tuple(found))

    def encode(self, reports: NDArray[Any]) -> NDArray[np.int32]:
        """The codes of every column."""
        table = np.empty(reports.shape, dtype=np.int32, order="F")
        for at, column in enumerate(self.columns):
            table[:, at] = column.codes(np.ascontiguousarray(reports[:, at]))
        return table


@dataclass(frozen=True, eq=False)
class Columns:
    """A few columns of a coded table, with all combinations of their values."""

    coder: Coder
    chosen: tuple[int, ...]

    @property
    def _radix(self) -> list[int]:
        return [self.coder.columns[at].size for at in self.chosen]

    @property
    def size(self) -> int:
        """The number of combinations of values."""
        return int(np.prod(self._radix))

    def codes(self, reports: NDArray[Any]) -> Codes:
        """The combination of each row; a row with an unseen value is unseen."""
        found = np.zeros(len(reports), dtype=np.int64)
        unseen = np.zeros(len(reports), dtype=bool)
        for at, radix in zip(self.chosen, self._radix, strict=True):
            found = found * radix + reports[:, at]
            unseen |= reports[:, at] >= radix
        found[unseen] = self.size
        return found

    def members(self, codes: Sequence[int]) -> tuple[Any, ...]:
        """For each combination ((column, value), …)."""
        return tuple(self._combination(code) for code in codes)

    def _combination(self, code: int) -> tuple[tuple[int, Any], ...]:
        parts: list[tuple[int, Any]] = []
        for at, radix in zip(reversed(self.chosen), reversed(self._radix), strict=True):
            code, digit = divmod(code, radix)
            parts.append((at, self.coder.columns[at].members([digit])[0]))
        return tuple(reversed(parts))

    def describe(self, codes: Sequence[int]) -> str:
        """Columns and their values."""
        return _either([" and ".join(f"column {at} = {value!r}" for at, value in each) for each in self.members(codes)])


@dataclass(frozen=True, eq=False)
class Patterns:
    """Whole rows of a coded table, identified by a hash."""

    coder: Coder
    weights: NDArray[np.uint64]
    rows: Distinct
    table: NDArray[np.int32]

    @classmethod
    def learn(cls, reports: NDArray[np.int32], coder: Coder) -> Patterns:
        """The rows that occur."""
        # Fixed odd weights: two rows with the same hash are unlikely, and would only be treated as one.
        weights = _odd_numbers(reports.shape[1])
        keys = _row_keys(reports, weights)
        _, first = np.unique(keys, return_index=True)
        return cls(coder, weights, Distinct.learn(keys), reports[first])

    @property
    def size(self) -> int:
        """The number of distinct rows."""
        return self.rows.size

    def codes(self, reports: NDArray[Any]) -> Codes:
        """The position of each row among those that occur."""
        return self.rows.codes(_row_keys(reports, self.weights))

    def members(self, codes: Sequence[int]) -> tuple[Any, ...]:
        """The rows: for each column its value or range."""
        return tuple(
            tuple(column.members([code])[0] for column, code in zip(self.coder.columns, row, strict=True))
            for row in self.table[list(codes)].tolist()
        )

    def describe(self, codes: Sequence[int]) -> str:
        """The rows; bits are written as digits."""
        rows = self.members(codes)
        bits = all(part in {0, 1} and not isinstance(part, str) for row in rows for part in row)
        return "the report is " + _either(["".join(str(int(b)) for b in row) if bits else repr(row) for row in rows])


def _odd_numbers(count: int) -> NDArray[np.uint64]:
    """Fixed odd pseudo-random numbers, one per column."""
    digests = (hashlib.blake2b(str(at).encode(), digest_size=8).digest() for at in range(count))
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64) | np.uint64(1)


def _row_keys(reports: NDArray[Any], weights: NDArray[np.uint64]) -> NDArray[np.int64]:
    keys = np.zeros(len(reports), dtype=np.uint64)
    for at, weight in enumerate(weights):
        keys += (reports[:, at].astype(np.uint64) + np.uint64(1)) * weight
    return keys.view(np.int64)


@dataclass(frozen=True, eq=False)
class Score:
    """Ranges of the log-likelihood ratio of a row, computed as if its columns were independent."""

    weights: dict[int, NDArray[np.float64]]
    ranges: Outcomes

    @classmethod
    def learn(
        cls, first: NDArray[np.int32], second: NDArray[np.int32], pooled: NDArray[np.int32], coder: Coder
    ) -> Score | None:
        """The weights of the columns that distinguish the two inputs; None if no column does."""
        weights = {}
        for at, column in enumerate(coder.columns):
            counts = [np.bincount(each[:, at], minlength=column.size + 1) + 0.5 for each in (first, second)]
            weight = np.log(counts[0] / counts[1])
            # Weights within the noise are set to 0: in many columns they would drown out the few that matter.
            noise = np.sqrt(1 / counts[0] + 1 / counts[1])
            weight[np.abs(weight) < 4 * noise] = 0
            if weight.any():
                weights[at] = weight
        if not weights:
            return None
        return cls(weights, learn_numbers(_scores(pooled, weights), None))

    @property
    def size(self) -> int:
        """The number of ranges of the score."""
        return self.ranges.size

    def codes(self, reports: NDArray[Any]) -> Codes:
        """The range of each row's score."""
        return self.ranges.codes(_scores(reports, self.weights))

    def members(self, codes: Sequence[int]) -> tuple[Any, ...]:
        """Ranges of the score."""
        return self.ranges.members(codes)

    def describe(self, codes: Sequence[int]) -> str:
        """The score in words."""
        which = _either([str(at) for at in self.weights], last="and")
        inside = self.ranges.describe(codes).removeprefix("the report is ")
        return f"the log-likelihood ratio of columns {which}, taken as independent, is {inside}"


def _scores(reports: NDArray[Any], weights: dict[int, NDArray[np.float64]]) -> NDArray[np.float64]:
    total = np.zeros(len(reports))
    for at, weight in weights.items():
        total += weight[reports[:, at]]
    # Rounding merges sums that differ only by the order of summation.
    return total.round(9) + 0.0


def sorted_if_possible(reports: list[Any]) -> list[Any]:
    """The reports sorted, if they can be compared."""
    try:
        return sorted(reports)
    except TypeError:
        return reports


def _runs(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """The runs (first, last) of consecutive integers in a sorted list."""
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return runs


def _spans(numbers: Sequence[int]) -> list[str]:
    """The runs as text."""
    return [str(low) if low == high else f"{low}..{high}" for low, high in _runs(numbers)]


def _either(parts: Sequence[str], last: str = "or") -> str:
    """A readable list: the first few, and the number of others."""
    if len(parts) > _SHOWN:
        rest = "or one of" if last == "or" else "and"
        return f"{', '.join(parts[:_SHOWN])} {rest} {len(parts) - _SHOWN} more"
    return ", ".join(parts[:-1]) + f" {last} " + parts[-1] if len(parts) > 1 else "".join(parts)
