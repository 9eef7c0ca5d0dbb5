"""Reports are not privatized a second time: wherever a table says that it is a release, it is refused."""

import io
import json

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bipartite as bp
from bipartite.errors import InputError
from bipartite.tables import Column, estimate_file, formats, privatize_file
from tests.tables.conftest import AGE
from tests.tables.files import put

PLAN = bp.Plan({"age": AGE, "town": "public"})
OTHER = bp.Plan({"years": Column(AGE, inputs=("age",))})
PEOPLE = {"age": [40, 50, 60], "town": ["Rome", "Oslo", "Rome"]}
AGAIN = (
    "'age' would be privatized a second time, and every answer would be wrong; privatize the original rows or, if "
    "these are not reports, "
)
REWRITE = AGAIN + "write it again without that metadata."


@pytest.fixture
def released(tmp_path):
    """Release some people to a file of this name."""
    put(tmp_path / "people.parquet", PEOPLE)

    def releasing(name, **options):
        privatize_file(tmp_path / "people.parquet", tmp_path / name, PLAN, **options)
        return tmp_path / name

    return releasing


def refusal(act, *arguments, **named):
    with pytest.raises(InputError) as caught:
        act(*arguments, **named)
    return str(caught.value)


@pytest.mark.grid(3)
@pytest.mark.parametrize(
    "name", ["reports.parquet", "reports.arrow", "reports.arrow.gz", "reports.csv", "reports.jsonl.gz"]
)
def test_a_released_file_is_refused_and_what_was_seen_is_named(tmp_path, released, name):
    file = released(name)
    if file.suffix in {".csv", ".gz"} and "arrow" not in name:
        wanted = f"{file} has the specs of a release beside it, in {name}.bipartite.json: {AGAIN}remove that file."
    else:
        wanted = f"{file} carries the specs of a release: {REWRITE}"
    for plan in (PLAN, OTHER):
        assert refusal(privatize_file, file, tmp_path / "again.parquet", plan) == wanted
    assert not (tmp_path / "again.parquet").exists()
    assert estimate_file(file).columns["age"]  # reading it is what it is for


def test_a_link_to_a_release_is_refused_too(tmp_path, released):
    file = released("reports.csv")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "people.csv").symlink_to(file)
    told = refusal(privatize_file, tmp_path / "elsewhere" / "people.csv", tmp_path / "again.csv", PLAN)
    assert told.startswith(f"{file} has the specs of a release beside it")


def test_a_release_among_other_files_is_refused(tmp_path, released):
    for kind in ("arrow", "csv", "parquet"):
        put(tmp_path / kind / f"a.{kind}", PEOPLE)
        released(f"{kind}/b.{kind}")
        assert f"b.{kind}" in refusal(privatize_file, tmp_path / kind, tmp_path / "again.csv", PLAN)


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_a_release_on_standard_input_is_refused(tmp_path, released, monkeypatch, kind):
    held = released(f"reports.{kind}").read_bytes()
    if kind == "arrow":
        table = pa.ipc.open_file(tmp_path / "reports.arrow").read_all()
        held = put(tmp_path / "reports.stream.arrow", table).read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(held)))
    told = refusal(privatize_file, "-", tmp_path / "again.csv", PLAN, input_format=kind)
    assert told == f"standard input carries the specs of a release: {REWRITE}"


def test_a_released_frame_is_refused(tmp_path):
    for frame in (pa.table(PEOPLE), pa.record_batch(PEOPLE)):
        reports = bp.privatize_frame(frame, PLAN)
        wanted = f"this table carries the specs of a release: {AGAIN}drop it with .replace_schema_metadata()."
        assert refusal(bp.privatize_frame, reports, PLAN) == wanted
        bp.privatize_frame(reports.replace_schema_metadata(), PLAN)
    assert refusal(PLAN.privatize_batch, reports) == wanted
    reports = bp.privatize_frame(pd.DataFrame(PEOPLE), PLAN)
    wanted = f"this frame has the attributes of a release: {AGAIN}clear them with .attrs.clear()."
    assert refusal(bp.privatize_frame, reports.head(2), PLAN) == wanted
    # What pandas wrote to a file, or gave to Arrow, tells it too.
    reports.to_parquet(tmp_path / "reports.parquet")
    told = refusal(privatize_file, tmp_path / "reports.parquet", tmp_path / "again.csv", PLAN)
    assert told == f"{tmp_path / 'reports.parquet'} carries the attributes of a released pandas frame: {REWRITE}"
    assert "attributes of a released pandas" in refusal(bp.privatize_frame, pa.Table.from_pandas(reports), PLAN)
    reports.attrs.clear()
    bp.privatize_frame(reports, PLAN)


def test_what_a_release_left_public_may_be_privatized_later(tmp_path):
    first = bp.Plan({"age": AGE, "pay": "public"})
    rows = pa.table({"age": [40, 50], "pay": [1, 2]})
    second = bp.Plan({"age": "public", "pay": bp.BRR(bp.Integers(0, 9), 1)})
    for frame in (rows, rows.to_pandas()):
        reports = bp.privatize_frame(frame, first)
        assert list(bp.privatize_frame(reports, second)["age"]) == list(reports["age"])
    pq.write_table(rows, tmp_path / "rows.parquet")
    privatize_file(tmp_path / "rows.parquet", tmp_path / "reports.csv", first)
    privatize_file(tmp_path / "reports.csv", tmp_path / "more.csv", second)


@pytest.mark.parametrize("held", ["", "[]", "not JSON", json.dumps({"public": None}), "[" * 100_000])
def test_a_damaged_description_is_one_too(tmp_path, held):
    (tmp_path / "reports.csv").write_text("age,town\n40,Rome\n")
    formats.side_file(tmp_path / "reports.csv").write_text(held)
    assert AGAIN in refusal(privatize_file, tmp_path / "reports.csv", tmp_path / "again.csv", PLAN)
    table = pa.table(PEOPLE).replace_schema_metadata({"bipartite": held})
    assert AGAIN in refusal(bp.privatize_frame, table, PLAN)


def test_metadata_of_others_mean_nothing(tmp_path):
    others = {"pandas": '{"attributes": {"source": "x"}}', "PANDAS_ATTRS": "[]", "other": "bipartite"}
    others["org.apache.spark.sql.parquet.row.metadata"] = '{"fields": [{"metadata": {"comment": "x"}}, 1]}'
    table = pa.table(PEOPLE).replace_schema_metadata(others)
    bp.privatize_frame(table, PLAN)
    pq.write_table(table, tmp_path / "people.parquet")
    privatize_file(tmp_path / "people.parquet", tmp_path / "reports.csv", PLAN)
    frame = pd.DataFrame(PEOPLE)
    frame.attrs["source"] = "x"
    bp.privatize_frame(frame, PLAN)
    bp.privatize_frame(pl.DataFrame(PEOPLE), PLAN)
