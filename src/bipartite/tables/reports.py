"""The reports of a mechanism in a table: drawn, written as Arrow and counted, one class for each form of report.

A report is the index of an output or, for flat categories, a row of bits or numbers, which is written as the cells of
:mod:`bipartite.mechanisms.categories.cells`. If there are few outputs, all are built once, as Arrow values or as text,
and a column is a dictionary or a lookup among them: no double is formatted as text twice. Types follow from the outputs
alone: the type of the input may reveal missing values.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, cast

import numpy as np

from bipartite.domains.product import tuple_text
from bipartite.errors import DataError, OutsideDomainError
from bipartite.lottery import FixedWords, ValuesRefusedError, draw_many
from bipartite.lottery.uniform import is_kept
from bipartite.lottery.words import CHUNK
from bipartite.mechanisms.categories import cells
from bipartite.tables.extras import culprits, pa, pc

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bipartite.domains import Outside
    from bipartite.lottery import Source
    from bipartite.mechanisms import Mechanism
    from bipartite.mechanisms.categories.draw import Flat
    from bipartite.tables.keyed import RowWords

    Found = tuple[NDArray[Any], NDArray[np.bool_]]

Style = Literal["values", "compact", "text"]
"""``values``: unchanged; ``compact``: labels as dictionaries; ``text``: everything as dictionaries of text."""
THERE, MISSING, IMPOSSIBLE = (np.int8(each) for each in range(3))
"""What the cell of a report may be."""
MOST_LISTED: Final = 2**16
_NUMBER: Final = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_MOST_ROWS: Final = 2**31 - 1  # of one Arrow array, and bytes of its text


class Reports(ABC):
    """How the reports of one mechanism are drawn, written to Arrow and counted."""

    def __init__(self, mechanism: Mechanism, outside: Outside) -> None:
        self.mechanism, self.outside = mechanism, outside

    bytes_each: int = 0
    """The bytes of a report in a table, where they are many."""

    @property
    def most_rows(self) -> int:
        """The number of reports that fit into one Arrow array."""
        return _MOST_ROWS // max(1, self.bytes_each)

    @abstractmethod
    def type(self, style: Style = "values", given: pa.DataType | None = None) -> pa.DataType:
        """The Arrow type of the column; ``given`` is that of the (first) input: a dictionary of labels stays one."""

    @abstractmethod
    def draw(self, values: NDArray[Any], source: Source) -> NDArray[Any] | None:
        """Draw the reports of these values; None if one is refused."""

    @abstractmethod
    def draw_keyed(self, values: NDArray[Any], words: RowWords) -> NDArray[Any]:
        """Draw the reports of these values, each from the words of its row."""

    @abstractmethod
    def write(self, reports: NDArray[Any], missing: NDArray[np.bool_] | None, kind: pa.DataType) -> pa.Array:
        """The reports as an Arrow array of this type, with nulls for missing rows."""

    repeat = True
    """Whether many reports are equal, so that it pays to look up each distinct one once."""

    @abstractmethod
    def find(self, column: pa.Array) -> Found:
        """(the report in each cell, arbitrary if there is none; which cells hold one that the mechanism can give).

        It is the index of an output or, for flat categories, the report itself.
        """

    def look_up(self, column: pa.Array) -> tuple[NDArray[Any], NDArray[np.int8]]:
        """(the report of each row, arbitrary if there is none; whether it is there, missing or impossible)."""
        rows: Any = slice(None)
        try:
            if self.repeat:
                column, rows = encoded(column)
            missing = is_null(column)
            values, possible = self.find(column)
        except pa.ArrowException:  # lists, which no report is
            return np.zeros(len(column), dtype=np.int64)[rows], np.full(len(column), IMPOSSIBLE)[rows]
        state = np.where(missing, MISSING, np.where(possible, THERE, IMPOSSIBLE))
        values = values[rows]
        return values, state[rows] if state.any() else np.zeros(len(values), dtype=np.int8)

    def read(self, column: pa.Array) -> NDArray[Any]:
        """Reports from an Arrow array without nulls; those that cannot have come from the mechanism are refused."""
        found, possible = self.find(column)
        if not possible.all():
            raise OutsideDomainError(
                f"Some reports cannot have come from {self.mechanism!r}; pass reports as they came, unclipped and "
                "unrounded, and the mechanism or spec that they were made with."
            )
        return found

    def _tried(self, read: Callable[[pa.Array], NDArray[Any]], column: pa.Array) -> Found:
        """What cannot be looked up is found by halving."""
        column = tidied(column)
        some = column.drop_null()
        parts: dict[int, NDArray[Any]] = {}

        def attempt(first: int, last: int) -> None:
            parts[first] = read(some.slice(first, last - first))

        wrong = culprits(attempt, len(some), (pa.ArrowException, DataError)) if len(some) else []
        possible = np.zeros(len(column), dtype=np.bool_)
        possible[np.delete(np.flatnonzero(~is_null(column)), wrong)] = True
        found = np.concatenate([parts[at] for at in sorted(parts)]) if parts else np.zeros(0, dtype=np.int64)
        values = np.zeros((len(column), *found.shape[1:]), dtype=found.dtype)
        values[possible] = found
        return values, possible


def _spread(reports: NDArray[Any], missing: NDArray[np.bool_] | None) -> NDArray[Any]:
    """The reports at their rows, with zeros under the nulls: no value may remain there."""
    if missing is None:
        return reports
    filled = np.zeros(len(missing), dtype=reports.dtype)
    filled[~missing] = reports
    return filled


class _Rows(Reports):
    """Reports of flat categories: rows of bits or numbers."""

    repeat = False

    def __init__(self, mechanism: Mechanism, outside: Outside) -> None:
        super().__init__(mechanism, outside)
        self.bytes_each = cells.cell_bytes(mechanism)

    def type(self, style: Style = "values", given: pa.DataType | None = None) -> pa.DataType:  # noqa: ARG002
        return pa.int64() if self.mechanism.report_shape[1] is None else pa.string()

    def draw(self, values: NDArray[Any], source: Source) -> NDArray[Any] | None:
        return cast("Flat", self.mechanism).draw_values(values, source, self.outside)

    def draw_keyed(self, values: NDArray[Any], words: RowWords) -> NDArray[Any]:  # noqa: ARG002 (words know the indices)
        # One row at a time: each may take many words.
        dtype, width = self.mechanism.report_shape
        none = np.empty(0 if width is None else (0, width), dtype=dtype)
        draw, indices = self.mechanism.flat_draw, words.indices
        return np.concatenate([none, *(draw.rows_of(indices[[at]], words.of(at)) for at in range(len(indices)))])

    def write(self, reports: NDArray[Any], missing: NDArray[np.bool_] | None, kind: pa.DataType) -> pa.Array:
        found = pa.array(_spread(cells.to_cells(reports), missing), mask=missing)
        return (found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found).cast(kind)  # of many bytes

    def find(self, column: pa.Array) -> Found:
        return self._tried(lambda some: cells.from_cells(self.mechanism, some.cast(self.type()).to_pylist()), column)


class _Outputs(Reports):
    """Reports that are outputs: drawn as their indices or, if there are too many to list, as numbers."""

    def __init__(self, mechanism: Mechanism, outside: Outside) -> None:
        super().__init__(mechanism, outside)
        outputs, labels = mechanism.outputs, mechanism.domain.labels
        self._tuples = bool(mechanism.domain.parts)
        self._labels = labels is not None
        text = self._tuples or (labels is not None and isinstance(labels[0], str))
        self._values = pa.string() if text else pa.int64() if outputs.whole else pa.float64()
        self._is_listed = text or len(outputs) <= MOST_LISTED
        self._codec = mechanism.domain.codec(None if self._is_listed else outputs, outside)

    @cached_property
    def _listed(self) -> pa.Array:
        """All outputs in order."""
        outputs = self.mechanism.outputs
        if self._tuples:
            return pa.array([tuple_text(each) for each in outputs], type=self._values)
        return pa.array(list(outputs) if self._labels else outputs.to_numpy(), type=self._values)

    @cached_property
    def _texts(self) -> pa.Array:
        if pa.types.is_string(self._values):
            return self._listed
        return pa.array([str(each) for each in self._listed.to_numpy()], type=pa.string())

    def type(self, style: Style = "values", given: pa.DataType | None = None) -> pa.DataType:
        compact = style == "compact" or (given is not None and pa.types.is_dictionary(given))
        if self._is_listed and (style == "text" or (compact and pa.types.is_string(self._values))):
            return pa.dictionary(pa.int32(), pa.string())
        return self._values

    def draw(self, values: NDArray[Any], source: Source) -> NDArray[Any] | None:
        # One chunk at a time, so that a column takes its words in order however its rows are split into batches.
        cuts = range(0, max(len(values), 1), CHUNK)
        lottery = self.mechanism.lottery
        try:
            parts = [draw_many(lottery, self._codec, values[cut : cut + CHUNK], source) for cut in cuts]
        except ValuesRefusedError:
            return None
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def draw_keyed(self, values: NDArray[Any], words: RowWords) -> NDArray[Any]:
        lottery, codec = self.mechanism.lottery, self._codec
        reports = np.empty(len(values), dtype=codec.report_dtype)
        alone = np.ones(len(values), dtype=np.bool_)
        if not lottery.by_tries:
            # One word is enough unless it must be redrawn (fewer than one in 4,096): those rows are drawn alone.
            first = words.first()
            alone = ~is_kept(first, lottery.total)
            together = np.flatnonzero(~alone)
            reports[together] = draw_many(lottery, codec, values[together], FixedWords(first[together]))
        drawn = [lottery.draw(int(words.indices[at]), words.of(at)) for at in np.flatnonzero(alone).tolist()]
        codes = np.array(drawn, dtype=np.int64) + np.int64(codec.report_offset)
        decoded = codes
        if codec.decode is not None:
            codec.decode(codes, decoded := np.empty(len(codes), dtype=codec.report_dtype))
        reports[alone] = decoded
        return reports

    def write(self, reports: NDArray[Any], missing: NDArray[np.bool_] | None, kind: pa.DataType) -> pa.Array:
        held = _spread(reports, missing)
        if pa.types.is_dictionary(kind):
            return pa.DictionaryArray.from_arrays(pa.array(held.astype(np.int32), mask=missing), self._texts)
        if pa.types.is_string(kind):
            return self._listed.take(pa.array(held, mask=missing))
        return pa.array(self._listed.to_numpy()[held] if self._is_listed else held, mask=missing, type=kind)

    def find(self, column: pa.Array) -> Found:
        """As above; text files hold numbers as text."""
        labels, outputs = self.mechanism.report_labels, self.mechanism.outputs
        known = {label: at for at, label in enumerate(labels or ())}
        if self._tuples:
            from bipartite.answers.estimation.reports import indices_of  # noqa: PLC0415 (a release does without answers)

            return self._tried(lambda some: indices_of(self.mechanism, some.cast(pa.string()).to_pylist()), column)
        values: Any
        if labels is not None and isinstance(labels[0], str):
            texts = column.cast(pa.string()).to_pylist()
            # Blanks around a label are ignored, unless a label has them.
            values = [text if text in known or text is None else text.strip() for text in texts]
        else:
            values = numbers_of(column)
        if labels is not None:
            values = np.array([known.get(each, -1) for each in values], dtype=np.int64)
        found = outputs.find(values)
        return found, (found >= 0) & (found < len(outputs))


def encoded(column: pa.Array) -> tuple[pa.Array, NDArray[np.int64]]:
    """(the distinct values of a column, perhaps including null, and the index of each row's value)."""
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode(null_encoding="encode")
    held, rows = column.dictionary, column.indices
    if rows.null_count:
        rows = rows.fill_null(len(held))
        held = pa.concat_arrays([held, pa.nulls(1, held.type)])
    return held, np.from_dlpack(rows).astype(np.int64)


def tidied(cells: pa.Array) -> pa.Array:
    """Cells without blanks around text; blank text is missing."""
    if not (pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type)):
        return cells
    trimmed = pc.utf8_trim_whitespace(cells)
    return pc.if_else(pc.equal(trimmed, ""), None, trimmed)


def is_null(cells: pa.Array) -> NDArray[np.bool_]:
    """Which cells are missing, or blank text."""
    return np.from_dlpack(tidied(cells).is_null().cast(pa.int8())) > 0


def numbers_of(cells: pa.Array) -> NDArray[np.float64]:
    """Cells as numbers; what is none is not a number."""
    held = tidied(cells)
    if held is not cells:
        held = pc.if_else(pc.match_substring_regex(held, _NUMBER), held, None)
    # Arrow's own to_numpy would load pandas, half a second.
    return np.asarray(np.from_dlpack(held.cast(pa.float64(), safe=False).fill_null(np.nan)), dtype=np.float64)


def reports_of(mechanism: Mechanism, outside: Outside = "error") -> Reports:
    """The reports of a mechanism: the one place where their forms are told apart."""
    return (_Rows if mechanism.flat else _Outputs)(mechanism, outside)
