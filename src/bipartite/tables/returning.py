"""Converting drawn output indices to a column: values, labels, or text for a CSV file.

A report is drawn as the index of an output. If there are few outputs, all are built once, as Arrow values or as text,
and a column is a dictionary or a lookup among them: no double is formatted as text twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, cast

import numpy as np

from bipartite.domains.product import tuple_text
from bipartite.lottery import ValuesRefusedError, draw_many
from bipartite.lottery.words import CHUNK
from bipartite.mechanisms import Mechanism
from bipartite.tables.columns import text_labels
from bipartite.tables.extras import pa
from bipartite.tables.wide import cell_type, to_cells

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.lottery import Codec, Source
    from bipartite.mechanisms import Mechanism
    from bipartite.mechanisms.categories.draw import Flat
    from bipartite.tables.columns import Column

Style = Literal["values", "compact", "text"]
"""``values``: unchanged; ``compact``: labels as dictionaries; ``text``: everything as dictionaries of text."""
MOST_LISTED: Final = 2**16


@dataclass(frozen=True, slots=True)
class Return:
    """How the reports of one column are drawn and converted to an Arrow array."""

    column: Column
    type: pa.DataType
    listed: pa.Array | None
    """All outputs as an Arrow array of the type of the values, or None if there are too many."""

    def draw(self, values: NDArray[Any], source: Source) -> NDArray[Any] | None:
        """Draw the reports of these values; None if one is refused."""
        mechanism = self.column.mechanism
        if mechanism.flat:
            return cast("Flat", mechanism).draw_values(values, source, self.column.domain_outside)
        codec = self.codec(mechanism)
        # One chunk at a time, so that a column takes its words in order however its rows are split into batches.
        cuts = range(0, max(len(values), 1), CHUNK)
        try:
            parts = [draw_many(mechanism.lottery, codec, values[cut : cut + CHUNK], source) for cut in cuts]
        except ValuesRefusedError:
            return None
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def codec(self, mechanism: Mechanism) -> Codec:
        """The codec of the column, decoding to indices of outputs, or to outputs if there are too many."""
        return mechanism.domain.codec(mechanism.outputs if self.listed is None else None, self.column.domain_outside)

    def array(self, reports: NDArray[Any], missing: NDArray[np.bool_] | None) -> pa.Array:
        """Build the column, with nulls for missing rows."""
        if self.column.mechanism.flat:
            return to_cells(reports, missing)
        if missing is not None:
            # Zeros under the nulls: no value may remain there.
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
    """How the reports of a column are returned; labels become a dictionary if the (first) input is one."""
    mechanism = column.mechanism
    values = value_type(mechanism)
    if mechanism.flat:
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


def value_type(mechanism: Mechanism) -> pa.DataType:
    """The type of the reports, from the outputs alone: the type of the input may reveal missing values."""
    if mechanism.flat:
        return cell_type(mechanism)
    if text_labels(mechanism) or mechanism.domain.parts:
        return pa.string()
    return pa.int64() if mechanism.outputs.whole else pa.float64()


def _outputs(mechanism: Mechanism, values: pa.DataType) -> pa.Array:
    """All outputs in order, as an Arrow array."""
    if mechanism.domain.parts:
        return pa.array([tuple_text(each) for each in mechanism.outputs], type=values)
    if mechanism.domain.labels is not None:
        return pa.array([mechanism.outputs.decode(at) for at in range(len(mechanism.outputs))], type=values)
    return pa.array(mechanism.outputs.to_numpy(), type=values)
