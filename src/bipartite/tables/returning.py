"""From the numbers of drawn outputs back to a column: values, labels, or the text that a CSV file holds.

A report is drawn as the number of an output. Where the outputs are few, all of them are made once, as Arrow values or
as text, and a column is a dictionary or a lookup among them: no double is written out as text twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from bipartite.domains import Product
from bipartite.domains.base import Numbered
from bipartite.domains.product_codec import tuple_text
from bipartite.domains.subset import codec_between
from bipartite.lottery import ValuesRefusedError, draw_many
from bipartite.lottery.words import CHUNK
from bipartite.mechanisms.categories import CategoryMechanism
from bipartite.tables.columns import text_labels
from bipartite.tables.extras import pa
from bipartite.tables.wide import cell_type, to_cells

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.lottery import Codec, Source
    from bipartite.mechanisms import Mechanism
    from bipartite.mechanisms.record import Reporting
    from bipartite.tables.columns import Column

Style = Literal["values", "compact", "text"]
"""``values`` as they are; ``compact``: labels as dictionaries; ``text``: everything as dictionaries of text."""
MOST_LISTED: Final = 2**16


@dataclass(frozen=True, slots=True)
class Return:
    """How the reports of one column become an Arrow array, and how they are drawn from opened values."""

    column: Column
    type: pa.DataType
    listed: pa.Array | None
    """All outputs as an Arrow array of the type of the values, or None where they are too many."""

    def draw(self, values: NDArray[Any], source: Source) -> NDArray[Any] | None:
        """The reports of these values; None where one is refused."""
        mechanism = self.column.mechanism
        if isinstance(mechanism, CategoryMechanism):
            return mechanism.draw_values(values, source, self.column.domain_outside)
        codec = self.codec(values.dtype)
        # Never more than one chunk at a time, so that a column's words follow each other however its rows are cut.
        cuts = range(0, max(len(values), 1), CHUNK)
        try:
            parts = [draw_many(mechanism.lottery, codec, values[cut : cut + CHUNK], source) for cut in cuts]
        except ValuesRefusedError:
            return None
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def codec(self, dtype: np.dtype[Any]) -> Codec:
        """How values of this type are encoded: to numbers of outputs, or to outputs where they are too many."""
        mechanism = self.column.mechanism
        if isinstance(mechanism, CategoryMechanism):
            return mechanism.domain.codec(dtype, mechanism.domain, self.column.domain_outside)
        inner = codec_between(mechanism.domain, mechanism.outputs, dtype, self.column.domain_outside)
        return inner if self.listed is None else Numbered(inner)

    def array(self, reports: NDArray[Any], missing: NDArray[np.bool_] | None) -> pa.Array:
        """The column, with nulls where a row is missing."""
        if isinstance(self.column.mechanism, CategoryMechanism):
            return to_cells(reports, missing)
        if missing is not None:
            # Zeros under the nulls: nothing of a value may lie there.
            filled = np.zeros(len(missing), dtype=reports.dtype)
            filled[~missing] = reports
            reports = filled
        if self.listed is None:
            return pa.array(reports, mask=missing, type=self.type)
        if pa.types.is_dictionary(self.type):
            return pa.DictionaryArray.from_arrays(pa.array(reports.astype(np.int32), mask=missing), self.listed)
        if pa.types.is_string(self.type):
            return self.listed.take(pa.array(reports, mask=missing))
        return pa.array(self.listed.to_numpy()[reports], mask=missing)


def way_back(column: Column, kind: pa.DataType, style: Style) -> Return:
    """How the reports of a column become an Arrow array; labels as a dictionary where its (first) input is one."""
    mechanism = column.mechanism
    values = value_type(mechanism)
    if isinstance(mechanism, CategoryMechanism):
        return Return(column, values, None)
    listed = None
    if len(mechanism.outputs) <= MOST_LISTED or pa.types.is_string(values):
        listed = _outputs(mechanism, values)
        if style == "text" and not pa.types.is_string(values):
            listed = pa.array([str(each) for each in listed.to_numpy()], type=pa.string())
    dictionary = listed is not None and (
        style == "text" or (pa.types.is_string(values) and (style == "compact" or pa.types.is_dictionary(kind)))
    )
    return Return(column, pa.dictionary(pa.int32(), pa.string()) if dictionary else values, listed)


def value_type(mechanism: Reporting) -> pa.DataType:
    """The type of the reports, from the outputs alone: that of the input may tell of gaps in it."""
    if isinstance(mechanism, CategoryMechanism):
        return cell_type(mechanism)
    if text_labels(mechanism) or isinstance(mechanism.domain, Product):
        return pa.string()
    return pa.int64() if mechanism.outputs.whole else pa.float64()


def _outputs(mechanism: Mechanism, values: pa.DataType) -> pa.Array:
    """All outputs in order, as an Arrow array."""
    if isinstance(mechanism.domain, Product):
        return pa.array([tuple_text(each) for each in mechanism.outputs], type=values)
    if mechanism.domain.labels is not None:
        return pa.array([mechanism.outputs.decode(at) for at in range(len(mechanism.outputs))], type=values)
    return pa.array(mechanism.outputs.to_numpy(), type=values)
