"""The layout of a release is told by its rows: private cells, dropped columns, chunks and files leave no mark in it."""

import itertools
import pickle

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bipartite as bp
from bipartite.tables import Column, privatize_file, streams
from tests.tables.conftest import AGE, JOB
from tests.tables.files import put

PIECE = 2048
ROWS = 2 * PIECE + 17
PLAN = bp.Plan(
    {"age": Column(AGE, outside="clip", nulls_as=18), "job": Column(JOB, outside_as="other", nulls_as="no answer")}
    | {"town": "public"}
)
# The pieces are the same for all: one of them in the quick tier.
TARGETS = [
    "out.arrow",
    *(pytest.param(f"out.{each}", marks=pytest.mark.slow) for each in ("arrow.gz", "parquet", "csv.zst")),
]
EQUAL = [PIECE, PIECE, 17]
# Texts that fill more than one of DuckDB's buffers.
LONG = 4000


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(streams, "MOST", PIECE)


def people(seed=0, gaps=0.0, secret=1):
    """A table whose dropped column has texts of this length."""
    draw = np.random.default_rng(seed)
    ages = pa.array(draw.integers(0, 10 ** (1 + seed), ROWS), mask=draw.random(ROWS) < gaps)
    jobs = pa.array(draw.choice(["nurse", "teacher", "a long word" * (seed + 1)], ROWS), mask=draw.random(ROWS) < gaps)
    secrets = pa.array(["y" * secret] * ROWS, mask=np.arange(ROWS) % 3 < (secret > 1))
    return pa.table({"secret": secrets, "age": ages, "job": jobs, "town": [f"town {at % 7}" for at in range(ROWS)]})


def parts(folder, name, table, *cuts):
    """The same rows in several files."""
    for at, (start, end) in enumerate(itertools.pairwise([0, *cuts, ROWS])):
        put(folder / f"{at}-{name}", table.slice(start, end - start))
    return folder / f"*-{name}"


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """The same released rows in files of every kind."""
    folder = tmp_path_factory.mktemp("sources")
    table, long = people(gaps=0.1), people(gaps=0.1, secret=LONG)
    return {
        "csv": put(folder / "a.csv", table),
        "long texts in a dropped column": put(folder / "b.csv", long),
        "compressed": put(folder / "c.csv.gz", table),
        "files": parts(folder, "d.csv", table, 5, 3000),
        "tsv": put(folder / "e.tsv", table),
        "json": put(folder / "f.jsonl", long),
        "json files": parts(folder, "g.jsonl.gz", table, 2500),
        "arrow": put(folder / "h.arrow", table),
        "arrow in chunks": put(folder / "i.arrow", table, 999),
        "arrow files": parts(folder, "j.arrow", table, 1, 3000),
        "parquet": put(folder / "k.parquet", long, 1234),
    }


def release(source, target, plan=PLAN, **options):
    privatize_file(source, target, plan, rng=bp.insecure_seed(5), overwrite=True, **options)
    return target


def layout(path):
    """All of a file but its reports: pieces, buffers, types and metadata."""
    if path.suffix == ".parquet":
        held = pq.ParquetFile(path)
        groups = [held.metadata.row_group(at) for at in range(held.metadata.num_row_groups)]
        columns = [
            (group.num_rows, of.path_in_schema, of.encodings, of.compression, of.num_values, of.statistics.null_count)
            for group in groups
            for of in (group.column(at) for at in range(group.num_columns))
        ]
        return columns, held.schema_arrow, held.schema_arrow.metadata, held.metadata.created_by
    held = pa.ipc.open_file(path)
    batches = [held.get_batch(at) for at in range(held.num_record_batches)]
    sizes = [
        [len(column), *(None if buffer is None else buffer.size for buffer in column.buffers())]
        for batch in batches
        for column in batch.select(["age", "job"]).columns
    ]
    return sizes, held.schema, held.schema.metadata


def held_by(path):
    """The bytes of a file."""
    return path.read_bytes()


@pytest.mark.parametrize("target", TARGETS)
def test_the_same_rows_make_the_same_file_whatever_they_came_in(tmp_path, sources, target):
    made = {name: held_by(release(source, tmp_path / target)) for name, source in sources.items()}
    assert [name for name, held in made.items() if held != made["csv"]] == []
    if target in {"out.arrow", "out.parquet"}:
        last = tmp_path / target
        rows = [each[0] for each in layout(last)[0]]
        assert rows == [size for size in EQUAL for _ in range(3 if target == "out.parquet" else 2)]


@pytest.mark.parametrize(
    ("kind", "target"),
    [
        ("in.csv", "out.arrow"),
        ("in.arrow", "out.parquet"),
        *(
            pytest.param(f"in.{kind}", f"out.{target}", marks=pytest.mark.slow)
            for kind, target in itertools.product(["csv", "jsonl", "arrow", "parquet"], ["arrow", "parquet"])
            if (kind, target) not in {("csv", "arrow"), ("arrow", "parquet")}
        ),
    ],
)
def test_private_values_and_gaps_move_nothing(tmp_path, kind, target):
    found = [
        layout(release(put(tmp_path / kind, people(seed, gaps, secret), chunk), tmp_path / target))
        for seed, gaps, secret, chunk in ((0, 0.0, 1, None), (3, 0.0, LONG, 777), (1, 0.5, 9, 3000), (2, 1.0, 9, 50))
    ]
    assert all(each == found[0] for each in found)


@pytest.mark.parametrize("target", ["out.arrow", "out.parquet"])
def test_rejected_rows_and_dropped_columns_move_nothing(tmp_path, target):
    plan = bp.Plan({"age": AGE, "town": "public"})
    ages = np.where(np.arange(ROWS) % 10 == 3, 7, 40)
    bad = people().set_column(1, "age", [ages])
    good = bad.filter(pa.array(ages == 40))
    for at in range(30):
        bad = bad.append_column(f"more {at}", bad["secret"])
    made = [
        release(put(tmp_path / name, rows, 100), tmp_path / target, plan, reject=tmp_path / "rejected.csv").read_bytes()
        for name, rows in (("good.parquet", good), ("bad.parquet", bad), ("bad.csv", bad))
    ]
    assert made[0] == made[1] == made[2]


@pytest.mark.parametrize("target", ["out.arrow", "out.parquet"])
def test_wide_rows_make_smaller_pieces_told_by_the_first_released_rows(tmp_path, monkeypatch, target):
    monkeypatch.setattr(streams, "MOST", 2 * PIECE)
    monkeypatch.setattr(streams, "_BYTES", 2**20)
    wide = people().set_column(3, "town", [["x" * 450] * ROWS])
    for kind in ("in.csv", "in.arrow"):
        sizes = [each[0] for each in layout(release(put(tmp_path / kind, wide, 300), tmp_path / target))[0]]
        assert sorted(set(sizes)) == [17, PIECE]


def frames(table):
    """The same rows as frames in different chunks."""
    chunked = pa.concat_tables([table.slice(0, 30), table.slice(30, 3000), table.slice(3030)])
    duckdb.register("of_a_test", table)
    yield "arrow", [table, chunked]
    of_arrow = {"types_mapper": pd.ArrowDtype}
    yield "pandas", [table.to_pandas(**of_arrow), chunked.to_pandas(**of_arrow)]
    yield "numpy", [table.to_pandas(), pd.concat([table.slice(0, 30).to_pandas(), table.slice(30).to_pandas()])]
    polars = pl.from_arrow(table)
    yield "polars", [polars, pl.concat([polars.head(30), polars.tail(-30)], rechunk=False)]
    relation = duckdb.sql("SELECT * FROM of_a_test")
    yield "duckdb", [relation, duckdb.sql("(FROM of_a_test LIMIT 30) UNION ALL (FROM of_a_test OFFSET 30)")]


def test_frames_come_back_in_one_chunk_whatever_they_came_in():
    table = people(gaps=0.1)
    for kind, given in frames(table):
        first, second = (bp.privatize_frame(frame, PLAN, rng=bp.insecure_seed(5)) for frame in given)
        assert pickle.dumps(first) == pickle.dumps(second), kind
        if kind in {"arrow", "duckdb"}:
            assert [column.num_chunks for column in first.columns] == [1, 1, 1]
        if kind == "polars":
            assert first.n_chunks("all") == second.n_chunks("all") == [1, 1, 1]


def test_categories_come_in_the_order_of_the_released_rows_unless_their_order_means_something():
    towns = pa.array(["Oslo", "Rome", "Oslo"])
    for ordered, wanted in ((False, ["Oslo", "Rome"]), (True, ["Rome", "Oslo"])):
        coded = pa.DictionaryArray.from_arrays(
            pa.array([2, 0, 2], pa.int8()), pa.array(["Rome", "Paris", "Oslo"]), ordered=ordered
        )
        table = pa.table({"age": [40, 50, 60], "town": coded})
        for rows in (table, pa.concat_tables([table.slice(0, 1), table.slice(1)])):
            found = bp.privatize_frame(rows, bp.Plan({"age": AGE, "town": "public"}))["town"]
            assert found.to_pylist() == towns.to_pylist() and found.type == coded.type
            assert found.chunk(0).dictionary.to_pylist() == wanted


def written(batch):
    with pa.BufferOutputStream() as sink:
        with pa.ipc.new_stream(sink, batch.schema) as stream:
            stream.write_batch(batch)
        return sink.getvalue().to_pybytes()


def test_nothing_but_the_rows_decides_where_they_are_cut():
    table = people().append_column("letters", [["x" * (at % 5) for at in range(ROWS)]])
    one = list(streams.equal_pieces(table.to_batches()))
    for chunk in (1, 999, 1001, PIECE + 1):
        cut = list(streams.equal_pieces(table.to_batches(max_chunksize=chunk)))
        assert [batch.num_rows for batch in cut] == EQUAL and cut == one
        # A slice of a longer array would be written with some bytes of the rows after it.
        assert list(map(written, cut)) == list(map(written, one))
    few = table.slice(0, 500).to_batches(max_chunksize=7)
    assert [batch.num_rows for batch in streams.equal_pieces(few)] == [500]
    assert list(streams.equal_pieces([])) == list(streams.equal_pieces([few[0].slice(0, 0)])) == []


@pytest.mark.parametrize("more", [0, 1, 7])
def test_only_the_last_piece_is_shorter(more):
    rows = pa.table({"age": np.arange(2 * PIECE + more)})
    cut = streams.equal_pieces(rows.to_batches(max_chunksize=PIECE + 5))
    assert [each.num_rows for each in cut] == [PIECE, PIECE, *([more] if more else [])]
