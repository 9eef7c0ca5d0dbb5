"""The choice of an event to test, on samples that are not used for testing it.

A partition sorts reports into a few outcomes: any function of a report keeps its ε, so every partition gives a valid
bound, and a bad one only a smaller bound. Outcomes are ranked by the ratio of their counts for two inputs. Where to cut
the ranking is decided by two-fold cross-validation: each half is cut by the ranking of the other, so that a rank due to
chance gains nothing. The event is the cut with the best predicted bound, over all partitions.
"""

from __future__ import annotations

import hashlib
import math
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, permutations
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Codes = NDArray[np.int64]

_BINS: Final = 128
# Fewer ranges have a less noisy ranking, more ranges follow the law more closely: all are tried.
_COARSER: Final = (1, 4, 16)
# Numbers with fewer samples per distinct report are binned, and rows not looked at as a whole.
_SAMPLES_FOR_A_REPORT: Final = 16
_COLUMN_VALUES: Final = 8
_PAIRED_COLUMNS: Final = 8
_MOST_CUTS: Final = 256
_LUCK: Final = 0.02
_SHOWN: Final = 8
_IS: Final = "the report is {}"


class Range(NamedTuple):
    """Numbers above ``low`` and up to ``high``."""

    low: float
    high: float

    def __repr__(self) -> str:
        return f"({self.low:.6g}, {self.high:.6g}]"


@dataclass(frozen=True, eq=False)
class Partition:
    """A few outcomes of a report; codes run from 0 to ``size``, the last for reports not seen while learning."""

    size: int
    codes: Callable[[NDArray[Any]], Codes]
    """The outcome of each report."""
    element: Callable[[int], Any]
    """What an outcome is: a report, a range of numbers, a row, or some columns and their values."""
    text: str = _IS
    word: Callable[[Any], str] = lambda element: f"in {element!r}" if isinstance(element, Range) else repr(element)


@dataclass(frozen=True, eq=False)
class ChosenEvent:
    """An event for one ordered pair of inputs, and its predicted bound."""

    partition: Partition
    codes: tuple[int, ...]
    promise: float

    def hits(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        """Which reports are in the event."""
        return np.isin(self.partition.codes(reports), self.codes)

    def members(self) -> tuple[Any, ...]:
        """Its elements, sorted if they can be compared, and adjacent ranges merged."""
        elements = [self.partition.element(code) for code in self.codes]
        found: list[Any] = [each for each in elements if not isinstance(each, Range)]
        with suppress(TypeError, ValueError, ArithmeticError):
            found = sorted(found)
        for each in elements[len(found) :]:
            if found and isinstance(found[-1], Range) and found[-1].high == each.low:
                found[-1] = Range(found[-1].low, each.high)
            else:
                found.append(each)
        return tuple(found)

    def __str__(self) -> str:
        members = self.members()
        words = [self.partition.word(each) for each in members]
        if all(isinstance(each, int) for each in members):
            words = [str(low) if low == high else f"{low}..{high}" for low, high in _runs(members)]
        return self.partition.text.format(_listed(words, "or", "or one of"))


def _distinct(reports: NDArray[Any], names: Sequence[Any] | None = None) -> Partition:
    """Every distinct number is an outcome; with names, it stands for what it numbers."""
    keys = np.unique(_keys_of(reports))
    numbers = keys.view(reports.dtype).tolist() if reports.dtype.kind == "f" else keys.tolist()
    values = numbers if names is None else [names[number] for number in numbers]
    return Partition(len(keys), partial(_place, keys), values.__getitem__)


def _ranges(reports: NDArray[Any], bins: int) -> Partition:
    """Numbers binned into ranges of about equal counts; a frequent number is an outcome by itself."""
    keys, counts = np.unique(_keys_of(reports), return_counts=True)
    atoms = _distinct(keys[counts * bins * 2 > len(reports)].view(reports.dtype))
    rest = reports[atoms.codes(reports) == atoms.size]
    rest = rest[~np.isnan(rest)].astype(np.float64)
    edges = np.unique(np.quantile(rest, np.arange(1, bins) / bins, method="inverted_cdf")) if len(rest) else rest
    ends = [-math.inf, *edges.tolist(), math.inf]
    size = atoms.size + len(edges) + 1

    def codes(reports: NDArray[Any]) -> Codes:
        """Frequent numbers first, then ranges; a rare NaN counts as unseen."""
        at = atoms.codes(reports)
        above = np.searchsorted(edges, reports, side="left") + atoms.size
        return np.where(at < atoms.size, at, np.where(np.isnan(reports), size, above))

    def element(code: int) -> Any:  # noqa: ANN401
        at = code - atoms.size
        return atoms.element(code) if at < 0 else Range(ends[at], ends[at + 1])

    return Partition(size, codes, element)


def _columns(coders: Sequence[Partition], table: NDArray[np.int32], chosen: Sequence[int]) -> Partition:
    """Some columns of a coded table, or all, with the combinations of values that occur; identified by a hash."""
    keys, first = np.unique(_row_keys(table, chosen), return_index=True)
    rows = table[first][:, list(chosen)]

    def element(code: int) -> tuple[Any, ...]:
        values = [coders[at].element(value) for at, value in zip(chosen, rows[code].tolist(), strict=True)]
        return tuple(values if whole else zip(chosen, values, strict=True))

    whole = len(chosen) == table.shape[1] > 1
    text, word = (_IS, repr) if whole else ("{}", _columns_in_words)
    return Partition(len(keys), lambda reports: _place(keys, _row_keys(reports, chosen)), element, text, word)


def _derived(number: Callable[[NDArray[Any]], NDArray[Any]], partition: Partition, text: str) -> Partition:
    """A partition of a number that is computed from each report."""
    return replace(partition, codes=lambda reports: partition.codes(number(reports)), text=text)


class EventSearch:
    """All partitions of some samples, with the counts of their two halves."""

    def __init__(self, samples: Sequence[NDArray[Any]], bins: int | None, names: Sequence[Any] | None) -> None:
        pooled = np.concatenate(samples)
        self._coders = [_code(pooled[:, at], names) for at in range(pooled.shape[1])] if pooled.ndim > 1 else []
        self._samples = [self.encode(each) for each in samples]
        self._partitions: list[tuple[Partition, Codes]] = []
        if not self._coders:
            self._add(*_partitions_of_numbers(pooled, bins, names))
            return
        table = np.concatenate(self._samples)
        learn = partial(_columns, self._coders, table)
        columns = range(table.shape[1])
        self._add(*(learn((at,)) for at in columns))
        # Pairs of the columns that best distinguish some two inputs.
        pairs = list(permutations(range(len(samples)), 2))
        promises = [max(_best_cut(counts[[i, j]], 2.0)[0] for i, j in pairs) for _, counts in self._partitions]
        best = sorted(np.argsort(promises, kind="stable")[::-1][:_PAIRED_COLUMNS].tolist())
        self._add(*(learn(pair) for pair in combinations(best, 2)))
        whole = learn(tuple(columns))
        if whole.size * _SAMPLES_FOR_A_REPORT <= len(table):
            self._add(whole)

    def encode(self, reports: NDArray[Any]) -> NDArray[Any]:
        """Reports in the form that the partitions expect: rows as a table of codes."""
        if not self._coders:
            return reports
        table = np.empty(reports.shape, dtype=np.int32, order="F")
        for at, coder in enumerate(self._coders):
            table[:, at] = coder.codes(np.ascontiguousarray(reports[:, at]))
        return table

    def _add(self, *partitions: Partition) -> None:
        self._partitions += [(partition, _counts(partition, self._samples)) for partition in partitions]

    def best(self, i: int, j: int, alpha: float) -> ChosenEvent:
        """The event with the best predicted bound among those more likely for input i than for input j."""
        z = NormalDist().inv_cdf(1 - alpha)
        partitions = [(partition, counts[[i, j]]) for partition, counts in self._partitions]
        if self._coders:
            # The score of a row is learned on one half and counted on the quarters of the other.
            (first, rest), (second, rest_j) = (np.array_split(self._samples[at], 2) for at in (i, j))
            score = _score(first, second, np.concatenate([rest, rest_j]), self._coders)
            partitions += [] if score is None else [(score, _counts(score, [rest, rest_j]))]
        found = []
        for partition, counts in partitions:
            promise, cut = _best_cut(counts, z)
            ratios = np.divide(*(counts.sum(axis=1) + 1))
            codes = np.flatnonzero(ratios >= min(cut, ratios.max()))
            found.append(ChosenEvent(partition, tuple(codes.tolist()), promise))
        return max(found, key=lambda each: each.promise)


def _partitions_of_numbers(pooled: NDArray[Any], bins: int | None, names: Sequence[Any] | None) -> list[Partition]:
    """Every distinct report if they repeat often or have names; else ranges, and how doubles are rounded."""
    distinct = _distinct(pooled, names)
    if names is not None or (bins is None and distinct.size * _SAMPLES_FOR_A_REPORT <= len(pooled)):
        return [distinct]
    found = [_ranges(pooled, max(2, (bins or _BINS) // coarser)) for coarser in _COARSER]
    if pooled.dtype.kind == "f":
        # Rounding after adding noise can reveal the value.
        found.append(_derived(_zero_bits, _distinct(np.arange(65)), "the report ends in {} zero bits, as a double"))
    return found


def _code(column: NDArray[Any], names: Sequence[Any] | None) -> Partition:
    """A partition of a column with few outcomes."""
    column = np.ascontiguousarray(column)
    distinct = _distinct(column, names)
    return distinct if distinct.size <= _COLUMN_VALUES or names is not None else _ranges(column, _COLUMN_VALUES)


def _score(
    first: NDArray[np.int32], second: NDArray[np.int32], pooled: NDArray[np.int32], coders: Sequence[Partition]
) -> Partition | None:
    """The log-likelihood ratio of a row, as if its columns were independent; None if no column distinguishes."""
    weights = {}
    for at, coder in enumerate(coders):
        counts = [np.bincount(each[:, at], minlength=coder.size + 1) + 0.5 for each in (first, second)]
        weight = np.log(counts[0] / counts[1])
        # Weights within the noise are set to 0: in many columns they would drown out the few that matter.
        weight[np.abs(weight) < 4 * np.sqrt(1 / counts[0] + 1 / counts[1])] = 0
        if weight.any():
            weights[at] = weight
    if not weights:
        return None
    number = partial(_scores, weights)
    which = _listed([str(at) for at in weights], "and", "and")
    text = f"the log-likelihood ratio of columns {which}, taken as independent, is {{}}"
    return _derived(number, _partitions_of_numbers(number(pooled), None, None)[0], text)


def _scores(weights: dict[int, NDArray[np.float64]], reports: NDArray[Any]) -> NDArray[np.float64]:
    total = np.zeros(len(reports))
    for at, weight in weights.items():
        total += weight[reports[:, at]]
    # Rounding merges sums that differ only by the order of summation.
    return total.round(9) + 0.0


def _zero_bits(reports: NDArray[np.float64]) -> NDArray[np.int64]:
    """The number of zero bits that each double ends in."""
    bits = reports.view(np.uint64)
    lowest = np.maximum(bits & (~bits + np.uint64(1)), 1).astype(np.float64)
    return np.where(bits == 0, 64, np.log2(lowest)).astype(np.int64)


def _keys_of(reports: NDArray[Any]) -> Codes:
    """An integer for each number; floats by their bits, so that −0.0, 0.0 and all NaNs differ."""
    return reports.view(np.int64) if reports.dtype.kind == "f" else reports.astype(np.int64, copy=False)


def _place(keys: Codes, reports: NDArray[Any]) -> Codes:
    """The position of each report among the keys; the number of keys for a report that is not one of them."""
    wanted = _keys_of(reports)
    at = np.searchsorted(keys, wanted)
    there = at < len(keys)
    there[there] = keys[at[there]] == wanted[there]
    return np.where(there, at, len(keys))


def _row_keys(reports: NDArray[Any], chosen: Sequence[int]) -> Codes:
    """A hash of each row: two rows with the same are unlikely, and would only be treated as one."""
    keys = np.zeros(len(reports), dtype=np.uint64)
    for at in chosen:
        weight = int.from_bytes(hashlib.blake2b(str(at).encode(), digest_size=8).digest(), "little") | 1
        keys += (reports[:, at].astype(np.uint64) + np.uint64(1)) * np.uint64(weight)
    return keys.view(np.int64)


def _counts(partition: Partition, samples: Sequence[NDArray[Any]]) -> Codes:
    """The counts of the outcomes, by input and half of its samples."""
    halves = [np.array_split(partition.codes(each), 2) for each in samples]
    return np.array([[np.bincount(half, minlength=partition.size + 1)[:-1] for half in each] for each in halves])


def _best_cut(counts: Codes, z: float) -> tuple[float, float]:
    """(the best predicted bound, the least ratio of the outcomes in its event), for two inputs."""
    by_half = np.divide(*(counts + 0.5))
    cuts = np.unique(by_half)
    if len(cuts) > _MOST_CUTS:
        cuts = cuts[np.linspace(0, len(cuts) - 1, _MOST_CUTS).astype(np.int64)]
    hits = [_above(by_half[0], each[1], cuts) + _above(by_half[1], each[0], cuts) for each in counts]
    low, high = _wilson(hits[0], counts[0].sum(), -z), _wilson(hits[1], counts[1].sum(), z)
    with np.errstate(divide="ignore"):
        promises = np.log(low / high)
    best = np.argmax(promises)
    # Among cuts that differ only by chance, the lowest: outcomes that belong together stay together.
    width = math.log(max(hits[0][best], 1) / max(hits[1][best], 1)) - promises[best]
    near = promises >= promises[best] - (_LUCK * max(width, 0) if np.isfinite(width) else 0)
    return float(promises[best]), float(cuts[np.argmax(near)])


def _above(ratios: NDArray[np.float64], counts: Codes, cuts: NDArray[np.float64]) -> Codes:
    """For each cut, the number of samples whose outcome has at least that ratio."""
    order = np.argsort(ratios)
    from_the_top = np.concatenate([np.cumsum(counts[order][::-1])[::-1], [0]])
    found: Codes = from_the_top[np.searchsorted(ratios[order], cuts)]
    return found


def _wilson(hits: Codes, trials: int, z: float) -> NDArray[np.float64]:
    """Wilson's bound on a share: fast, and accurate enough to choose events."""
    trials = max(trials, 1)
    share = hits / trials
    spread = np.sqrt(share * (1 - share) / trials + (z / (2 * trials)) ** 2)
    bound: NDArray[np.float64] = np.clip((share + z * z / (2 * trials) + z * spread) / (1 + z * z / trials), 0, 1)
    return bound if z > 0 else np.where(hits > 0, bound, 0)


def log_ratio(low: float, high: float) -> float:
    """ln(low/high), −∞ if low is 0, otherwise ∞ if high is 0."""
    if low <= 0:
        return -math.inf
    return math.log(low / high) if high > 0 else math.inf


def _runs(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """The runs (first, last) of consecutive integers in a sorted list."""
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return runs


def _listed(parts: Sequence[str], last: str, rest: str) -> str:
    """A readable list: the first few, and the number of others."""
    if len(parts) > _SHOWN:
        return f"{', '.join(parts[:_SHOWN])} {rest} {len(parts) - _SHOWN} more"
    return f" {last} ".join([*([", ".join(parts[:-1])] if parts[1:] else []), *parts[-1:]])


def _columns_in_words(columns: tuple[tuple[int, Any], ...]) -> str:
    return " and ".join(f"column {at} {'in' if isinstance(v, Range) else '='} {v!r}" for at, v in columns)
