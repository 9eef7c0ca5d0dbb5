"""Dictionaries of public columns: a value that no released row has must not be released in one."""

from __future__ import annotations

from typing import Any


def only_used(array: Any) -> Any:  # noqa: ANN401 (Arrow arrays)
    """The same array, whose dictionary lists what it holds and nothing else, in the same order."""
    import pyarrow as pa  # noqa: PLC0415 (loaded already: the caller holds one of its arrays)
    import pyarrow.compute as pc  # noqa: PLC0415

    if not pa.types.is_dictionary(array.type):
        return array
    used = array.indices.unique().drop_null().sort()
    indices = pc.index_in(array.indices, value_set=used).cast(array.type.index_type)
    return pa.DictionaryArray.from_arrays(indices, array.dictionary.take(used), ordered=array.type.ordered)


def plain(kind: Any) -> Any:  # noqa: ANN401 (Arrow types)
    """A type without dictionaries, such as a file may hold whose batches would have different ones."""
    import pyarrow as pa  # noqa: PLC0415

    if pa.types.is_dictionary(kind):
        return plain(kind.value_type)
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(plain(field.type)) for field in kind.fields])
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(plain(kind.value_type)))
    if pa.types.is_large_list(kind):
        return pa.large_list(kind.value_field.with_type(plain(kind.value_type)))
    return kind
