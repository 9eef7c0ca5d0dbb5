"""Public columns: no value of an unreleased row may remain in a dictionary or in the memory of a released array."""

from __future__ import annotations

import numpy as np

from bipartite.errors import InputError
from bipartite.tables.extras import pa, pc


def copied(array: pa.Array) -> pa.Array:
    """Copy the values to new memory; a dictionary keeps only the values that occur.

    Sliced-off rows and values under a null stay in Arrow's memory, which pickles and Arrow files write out. The order
    of a dictionary may be that of rows that are not released: unless it has a meaning, values come as in the rows.
    """
    if pa.types.is_dictionary(array.type):
        used = array.indices.unique().drop_null()
        used = used.sort() if array.type.ordered else used
        indices = pc.index_in(array.indices, value_set=used).cast(array.type.index_type)
        return pa.DictionaryArray.from_arrays(indices, array.dictionary.take(used), ordered=array.type.ordered)
    kind = plain(array.type)
    values = array if array.type == kind else array.cast(kind)
    # A missing index for each missing value: otherwise the fields of a missing struct would be copied too.
    gone = values.is_null().to_numpy(zero_copy_only=False)
    return values.take(pa.array(np.arange(len(values)), mask=gone))


def released(name: str, kind: pa.DataType) -> pa.DataType:
    """The type of a public column in a release: a dictionary stays one, but not within lists and structs.

    Raises InputError if the values of a type cannot be copied one by one.
    """
    is_dictionary = pa.types.is_dictionary(kind)
    values = kind.value_type if is_dictionary else plain(kind)
    try:
        pa.nulls(0, values).take(pa.array([], pa.int64()))
        known = not any(shared in str(values) for shared in ("dictionary<", "list_view<"))
    except pa.ArrowNotImplementedError:
        known = False
    if not known:
        raise InputError(
            f"column {name!r}: Expected a type whose values can be copied one by one, got {kind}; cast it first."
        )
    return kind if is_dictionary else values


def plain(kind: pa.DataType) -> pa.DataType:
    """The type without dictionaries and string views, whose memory is shared between batches and rows."""
    types = pa.types
    if types.is_dictionary(kind):
        kind = plain(kind.value_type)
    elif types.is_string_view(kind) or types.is_binary_view(kind):
        kind = pa.large_string() if types.is_string_view(kind) else pa.large_binary()
    elif types.is_struct(kind):
        kind = pa.struct([_plain(field) for field in kind.fields])
    elif types.is_map(kind):
        kind = pa.map_(plain(kind.key_type), _plain(kind.item_field))
    elif types.is_fixed_size_list(kind):
        kind = pa.list_(_plain(kind.value_field), kind.list_size)
    elif types.is_list(kind):
        kind = pa.list_(_plain(kind.value_field))
    elif types.is_large_list(kind):
        kind = pa.large_list(_plain(kind.value_field))
    return kind


def _plain(field: pa.Field) -> pa.Field:
    return field.with_type(plain(field.type))
