"""Dictionaries list what stands in released rows, and nothing of the rows that were left out."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bipartite as bp
from bipartite.tables import Release, Settings, privatize_file
from tests.tables.conftest import AGE

PLAN = bp.Plan({"age": AGE, "town": "public"})
LEFT_OUT = "Lovelace"
TOWNS = ["Rome", LEFT_OUT, "Oslo", "Rome", None]


def table(ages=(40, 17, 50, 60, 70), **options):
    return pa.table({"age": ages, "town": pa.array(TOWNS).dictionary_encode(**options)})


def write(rows, path, size=None):
    with pa.ipc.new_file(path, rows.schema) as file:
        for batch in rows.to_batches(max_chunksize=size):
            file.write_batch(batch)
    return path


@pytest.mark.parametrize("target", ["out.arrow", "out.arrow.gz", "out.parquet", "out.csv", "out.jsonl"])
@pytest.mark.parametrize("size", [None, 2])
def test_a_released_file_holds_nothing_of_a_rejected_row(tmp_path, target, size):
    source = write(table(), tmp_path / "in.arrow", size)
    out = tmp_path / target
    done = privatize_file(source, out, PLAN, settings=Settings(reject=tmp_path / "rejected.csv"))
    assert done.rejected == 1
    raw = pa.input_stream(out, compression="detect").read()
    assert LEFT_OUT.encode() not in raw and (b"Oslo" in raw or target == "out.parquet")
    if target.startswith("out.arrow"):
        opened = pa.ipc.open_file(out) if target == "out.arrow" else pa.ipc.open_stream(raw)
        assert opened.read_all()["town"].to_pylist() == ["Rome", "Oslo", "Rome", None]
    if target == "out.parquet":
        assert pq.read_table(out)["town"].to_pylist() == ["Rome", "Oslo", "Rome", None]


def test_dictionaries_that_differ_between_batches_are_released(tmp_path):
    rows = pa.concat_tables([table((40,) * 5), table((50,) * 5).slice(1, 2)])
    source = tmp_path / "in.arrow"
    with pa.ipc.new_stream(source, rows.schema) as file:
        for batch in rows.to_batches():
            file.write_batch(batch)
    privatize_file(source, tmp_path / "out.arrow", PLAN)
    assert pa.ipc.open_file(tmp_path / "out.arrow").read_all()["town"].to_pylist() == [*TOWNS, LEFT_OUT, "Oslo"]


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
    source = write(rows, tmp_path / "in.arrow")
    assert LEFT_OUT.encode() in source.read_bytes()
    privatize_file(source, tmp_path / "out.arrow", plan)
    assert LEFT_OUT.encode() not in (tmp_path / "out.arrow").read_bytes()
    found = pa.ipc.open_file(tmp_path / "out.arrow").read_all()
    assert found.drop("age").to_pydict() == rows.drop("age").to_pydict()


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
    assert sorted(released.cat.categories) == ["Oslo", "Rome"]
    assert released.fillna("Rome").tolist() == ["Rome", "Oslo", "Rome", "Rome"] and released.isna().sum() == 1


def test_dictionaries_of_arrow_within_pandas_carry_no_other_entry_either():
    pd = pytest.importorskip("pandas")
    rows = table((40,) * 5).to_pandas(types_mapper=pd.ArrowDtype).drop(index=1)
    found = bp.privatize_frame(rows, PLAN)["town"]
    assert found.dtype == rows["town"].dtype and found.dropna().tolist() == ["Rome", "Oslo", "Rome"]
    held = pa.array(found)
    chunks = held.chunks if isinstance(held, pa.ChunkedArray) else [held]
    assert all(LEFT_OUT not in chunk.dictionary.to_pylist() for chunk in chunks)


def test_the_order_of_ordered_categories_stays():
    sizes = pa.DictionaryArray.from_arrays(
        pa.array([2, 0], pa.int8()), pa.array(["small", LEFT_OUT, "large"]), ordered=True
    )
    found = bp.privatize_frame(pa.record_batch({"age": [40, 50], "town": sizes}), PLAN)["town"]
    assert found.dictionary.to_pylist() == ["small", "large"] and found.to_pylist() == ["large", "small"]
    assert found.type == sizes.type


def test_entries_of_a_polars_category_that_no_row_has_stay_behind():
    pl = pytest.importorskip("polars")
    rows = pl.DataFrame({"age": [40, 50], "town": ["Rome", LEFT_OUT]}, schema_overrides={"town": pl.Categorical})
    found = bp.privatize_frame(rows.head(1), PLAN)
    assert found["town"].to_list() == ["Rome"] and found["town"].dtype == pl.Categorical
    held = found.to_arrow()["town"].combine_chunks()
    assert LEFT_OUT not in held.dictionary.to_pylist()


def test_a_release_of_batches_rejects_entries_too():
    batch = table().to_batches()[0]
    reports, reasons = Release(PLAN, bp.insecure_seed(1)).privatize_or_reject(batch, {})
    assert list(reasons) == [1] and reports["town"].dictionary.to_pylist() == ["Rome", "Oslo"]
    assert np.unique(reports["age"].to_numpy()).size > 0
