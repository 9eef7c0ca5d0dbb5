"""Dictionaries and memory hold what stands in released rows, and nothing of the rows that were left out."""

import io
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import bipartite as bp
from bipartite.errors import InputError
from bipartite.tables import Release, privatize_file
from tests.tables.conftest import AGE
from tests.tables.files import put, read

PLAN = bp.Plan({"age": AGE, "town": "public"})
LEFT_OUT = "Lovelace"
TOWNS = ["Rome", LEFT_OUT, "Oslo", "Rome", None]


def table(ages=(40, 17, 50, 60, 70), **options):
    return pa.table({"age": ages, "town": pa.array(TOWNS).dictionary_encode(**options)})


@pytest.mark.grid(4)
@pytest.mark.parametrize("target", ["out.arrow", "out.arrow.gz", "out.parquet", "out.csv", "out.jsonl"])
@pytest.mark.parametrize("size", [None, 2])
def test_a_released_file_holds_nothing_of_a_rejected_row(tmp_path, target, size):
    source = put(tmp_path / "in.arrow", table(), size)
    out = tmp_path / target
    done = privatize_file(source, out, PLAN, reject=tmp_path / "rejected.csv")
    assert done.rejected == 1
    raw = pa.input_stream(out, compression="detect").read()
    assert LEFT_OUT.encode() not in raw and (b"Oslo" in raw or target == "out.parquet")
    assert read(out)["town"] == ["Rome", "Oslo", "Rome", "" if target == "out.csv" else None]


def test_dictionaries_that_differ_between_batches_are_released(tmp_path):
    rows = pa.concat_tables([table((40,) * 5), table((50,) * 5).slice(1, 2)])
    privatize_file(put(tmp_path / "in.stream.arrow", rows), tmp_path / "out.arrow", PLAN)
    assert read(tmp_path / "out.arrow")["town"] == [*TOWNS, LEFT_OUT, "Oslo"]


def test_dictionaries_within_lists_and_structs_are_plain_values_in_files(tmp_path):
    inner = pa.DictionaryArray.from_arrays(pa.array([0, 2], pa.int32()), pa.array(TOWNS[:3]))
    rows = pa.table(
        {
            "age": [40, 50],
            "town": pa.ListArray.from_arrays([0, 1, 2], inner),
            "wide": pa.LargeListArray.from_arrays([0, 1, 2], inner),
            "more": pa.StructArray.from_arrays([inner], ["a"]),
        }
    )
    plan = bp.Plan({"age": AGE} | dict.fromkeys(("town", "wide", "more"), "public"))
    source = put(tmp_path / "in.arrow", rows)
    assert LEFT_OUT.encode() in source.read_bytes()
    privatize_file(source, tmp_path / "out.arrow", plan)
    assert LEFT_OUT.encode() not in (tmp_path / "out.arrow").read_bytes()
    assert read(tmp_path / "out.arrow") | {"age": [40, 50]} == rows.to_pydict()


def test_frames_carry_no_entry_that_no_row_has():
    rows = table((40,) * 5).filter(pa.array([True, False, True, True, True]))
    assert LEFT_OUT in rows["town"].chunk(0).dictionary.to_pylist()
    found = bp.privatize_frame(rows, PLAN)
    assert found["town"].type == rows["town"].type and found["town"].to_pylist() == ["Rome", "Oslo", "Rome", None]
    assert all(LEFT_OUT not in chunk.dictionary.to_pylist() for chunk in found["town"].chunks)
    batch = bp.privatize_frame(rows.combine_chunks().to_batches()[0], PLAN)
    assert batch["town"].dictionary.to_pylist() == ["Rome", "Oslo"]
    pandas = rows.to_pandas()
    assert LEFT_OUT in pandas["town"].cat.categories
    released = bp.privatize_frame(pandas, PLAN)["town"]
    assert released.cat.categories.tolist() == ["Rome", "Oslo"]  # as in the rows
    other = pandas.assign(town=pandas["town"].cat.reorder_categories([*pandas["town"].cat.categories[::-1]]))
    assert bp.privatize_frame(other, PLAN)["town"].cat.categories.tolist() == ["Rome", "Oslo"]
    ordered = other.assign(town=other["town"].cat.as_ordered())
    kept = [each for each in other["town"].cat.categories if each != LEFT_OUT]
    assert bp.privatize_frame(ordered, PLAN)["town"].cat.categories.tolist() == kept
    assert released.fillna("Rome").tolist() == ["Rome", "Oslo", "Rome", "Rome"] and released.isna().sum() == 1


def test_dictionaries_of_arrow_within_pandas_carry_no_other_entry_either():
    rows = table((40,) * 5).to_pandas(types_mapper=pd.ArrowDtype).drop(index=1)
    found = bp.privatize_frame(rows, PLAN)["town"]
    assert found.dtype == rows["town"].dtype and found.dropna().tolist() == ["Rome", "Oslo", "Rome"]
    held = pa.array(found)
    chunks = held.chunks if isinstance(held, pa.ChunkedArray) else [held]
    assert all(LEFT_OUT not in chunk.dictionary.to_pylist() for chunk in chunks)


def test_entries_of_a_polars_category_that_no_row_has_stay_behind():
    rows = pl.DataFrame({"age": [40, 50], "town": ["Rome", LEFT_OUT]}, schema_overrides={"town": pl.Categorical})
    found = bp.privatize_frame(rows.head(1), PLAN)
    assert found["town"].to_list() == ["Rome"] and found["town"].dtype == pl.Categorical
    held = found.to_arrow()["town"].combine_chunks()
    assert LEFT_OUT not in held.dictionary.to_pylist()


def written(frame):
    """A frame as a pickle and as an Arrow stream, which write out the memory that it holds."""
    stream = io.BytesIO()
    rows = frame if isinstance(frame, (pa.Table, pa.RecordBatch)) else pa.table(frame)
    with pa.ipc.new_stream(stream, rows.schema) as file:
        file.write(rows)
    return pickle.dumps(frame) + stream.getvalue()


ENDS = pa.array([0, 1, 2], pa.int32())
HELD = {
    "text": lambda texts: texts,
    "view": lambda texts: texts.cast(pa.string_view()),
    "long view": lambda texts: pa.array([each.as_py() * 3 for each in texts], pa.string_view()),
    "bytes": lambda texts: texts.cast(pa.large_binary()),
    "dictionary": lambda texts: texts.dictionary_encode(),
    "list": lambda texts: pa.ListArray.from_arrays(ENDS, texts),
    "list of a dictionary": lambda texts: pa.ListArray.from_arrays(ENDS, texts.dictionary_encode()),
    "one of a dictionary": lambda texts: pa.FixedSizeListArray.from_arrays(texts.dictionary_encode(), 1),
    "struct of a dictionary": lambda texts: pa.StructArray.from_arrays([texts.dictionary_encode()], ["name"]),
    "map to a dictionary": lambda texts: pa.MapArray.from_arrays(ENDS, pa.array(["a", "b"]), texts.dictionary_encode()),
    "list of lists": lambda texts: pa.ListArray.from_arrays(ENDS, HELD["list of a dictionary"](texts)),
}


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("kind", HELD)
def test_an_arrow_frame_holds_nothing_of_rows_that_were_sliced_off(kind, first):
    towns = HELD[kind](pa.array([LEFT_OUT, "Rome"] if first else ["Rome", LEFT_OUT]))
    rows = pa.table({"age": [40, 50], "town": towns}).slice(first, 1)
    batch = rows.to_batches()[0]
    assert LEFT_OUT.encode() in written(rows)
    for found in (bp.privatize_frame(rows, PLAN), bp.privatize_frame(batch, PLAN), PLAN.privatize_batch(batch)):
        assert LEFT_OUT.encode() not in written(found)
        assert found.column("town").to_pylist() == rows.column("town").to_pylist()


def test_an_arrow_file_holds_nothing_of_rows_that_were_sliced_off_before_it_was_written(tmp_path):
    held = {kind: make(pa.array(["Rome", LEFT_OUT])) for kind, make in HELD.items()}
    for kind, towns in held.items():
        alone = put(tmp_path / "alone.arrow", pa.table({"town": towns}).slice(0, 1))
        # Arrow writes short views without the memory behind them.
        assert (LEFT_OUT.encode() in alone.read_bytes()) == (kind != "view"), kind
    rows = pa.table({"age": [40, 50]} | held).slice(0, 1)
    plan = bp.Plan({"age": AGE} | dict.fromkeys(HELD, "public"))
    privatize_file(put(tmp_path / "in.arrow", rows), tmp_path / "out.arrow", plan)
    assert LEFT_OUT.encode() not in (tmp_path / "out.arrow").read_bytes()
    found = read(tmp_path / "out.arrow")
    assert {kind: found[kind] for kind in HELD} == rows.drop("age").to_pydict()


@pytest.mark.parametrize("of_arrow", [False, True])
def test_a_pandas_frame_holds_nothing_of_rows_that_were_sliced_off(of_arrow):
    for held in HELD.values() if of_arrow else [HELD["text"]]:
        rows = pa.table({"age": [40, 50], "town": held(pa.array(["Rome", LEFT_OUT]))})
        found = bp.privatize_frame(rows.to_pandas(types_mapper=pd.ArrowDtype if of_arrow else None).head(1), PLAN)
        assert LEFT_OUT.encode() not in written(found)
        assert found["town"].tolist() == rows.slice(0, 1).to_pandas()["town"].tolist()


def test_a_polars_frame_holds_nothing_of_rows_that_were_sliced_off():
    text, category = pl.String, pl.Categorical
    for given, found_as, rome, left_out in (
        (text, text, "Rome", LEFT_OUT),
        (category, category, "Rome", LEFT_OUT),
        (pl.Enum(["Rome", LEFT_OUT]), pl.Enum(["Rome"]), "Rome", LEFT_OUT),
        (pl.List(text), pl.List(text), ["Rome"], [LEFT_OUT]),
        (pl.Array(text, 1), pl.Array(text, 1), ["Rome"], [LEFT_OUT]),
        (pl.List(category), pl.List(text), ["Rome"], [LEFT_OUT]),
        (pl.Struct({"a": text}), pl.Struct({"a": text}), {"a": "Rome"}, {"a": LEFT_OUT}),
        (pl.Struct({"a": category}), pl.Struct({"a": text}), {"a": "Rome"}, {"a": LEFT_OUT}),
    ):
        for first, towns in enumerate([[rome, left_out], [left_out, rome]]):
            rows = pl.DataFrame({"age": [40, 50], "town": towns}, schema_overrides={"town": given})
            found = bp.privatize_frame(rows.slice(first, 1), PLAN)
            stream = io.BytesIO()
            found.write_ipc(stream)
            assert LEFT_OUT.encode() not in written(found.to_arrow()) + pickle.dumps(found) + stream.getvalue()
            assert found["town"].to_list() == [rome] and found["town"].dtype == found_as


def test_a_type_whose_values_cannot_be_copied_is_refused():
    texts = pa.array(["Rome", "Oslo"])
    kinds, places = pa.array([0, 0], pa.int8()), pa.array([0, 1], pa.int32())
    for towns, told in (
        (pa.RunEndEncodedArray.from_arrays([1, 2], texts), "run_end_encoded"),
        (pa.ListViewArray.from_arrays(places, pa.array([1, 1], pa.int32()), texts), "list_view"),
        (pa.UnionArray.from_dense(kinds, places, [texts.dictionary_encode()]), "dense_union"),
    ):
        wanted = f"column 'town': Expected a type whose values can be copied one by one, got {told}.*; cast it first"
        with pytest.raises(InputError, match=wanted):
            bp.privatize_frame(pa.table({"age": [40, 50], "town": towns}), PLAN)


def test_a_release_of_batches_rejects_entries_too():
    batch = table().to_batches()[0]
    reports, reasons = Release(PLAN, bp.insecure_seed(1)).privatize_or_reject(batch, {})
    assert list(reasons) == [1] and reports["town"].dictionary.to_pylist() == ["Rome", "Oslo"]
    assert np.unique(reports["age"].to_numpy()).size > 0


@pytest.mark.parametrize("kind", ["text", "struct", "number"])
def test_what_lies_under_a_null_is_not_released(tmp_path, kind):
    hidden = np.array([False, True, False])
    values = {
        "text": pa.Array.from_buffers(pa.string(), 3, [pa.py_buffer(b"\x05"), *pa.array(TOWNS[:3]).buffers()[1:]]),
        "struct": pa.StructArray.from_arrays([pa.array(TOWNS[:3])], ["in"], mask=pa.array(hidden)),
        "number": pa.array(np.frombuffer(LEFT_OUT.encode() * 3, np.int64), mask=hidden | True),
    }
    rows = pa.table({"age": [40, 50, 60], "town": values[kind]})
    source = put(tmp_path / "in.arrow", rows)
    assert LEFT_OUT.encode() in source.read_bytes()
    privatize_file(source, tmp_path / "out.arrow", PLAN)
    assert LEFT_OUT.encode() not in (tmp_path / "out.arrow").read_bytes()
    assert LEFT_OUT.encode() not in written(bp.privatize_frame(rows, PLAN))
    assert read(tmp_path / "out.arrow")["town"] == rows["town"].to_pylist()


def test_a_polars_enumeration_lists_what_rows_have_in_its_order():
    rows = pl.DataFrame(
        {"age": [40, 50], "town": pl.Series(["Rome", "Oslo"], dtype=pl.Enum(["Oslo", LEFT_OUT, "Rome"]))}
    )
    assert bp.privatize_frame(rows, PLAN)["town"].dtype == pl.Enum(["Oslo", "Rome"])
