"""A release in parts: one folder for each value of public columns, there whole or not at all."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bipartite as bp
from bipartite.errors import BipartiteError, DataFileError, InputError
from bipartite.tables import Settings, estimate_file, outputs, privatize_file, sources
from tests.tables.conftest import column_words

AGE = bp.BRR(bp.Integers(18, 90), epsilon=1, edges="padded")
PLAN = bp.Plan({"age": AGE, "country": "public", "at": "public"})
COUNTRIES = ["DE", "FR", None, "a/b=c", "..", "é ü"]
ROWS = 600


@pytest.fixture
def source(tmp_path):
    countries = (COUNTRIES * ROWS)[:ROWS]
    ages = [18 + at % 73 for at in range(ROWS)]
    pq.write_table(pa.table({"age": ages, "country": countries, "at": range(ROWS)}), tmp_path / "in.parquet")
    return tmp_path / "in.parquet"


def release(source, target, *columns, plan=PLAN, **options):
    settings = Settings(output_format="parquet", partition_by=columns, **options)
    return privatize_file(source, target, plan, rng=bp.insecure_seed(3), settings=settings)


def test_every_part_holds_its_rows_whole_and_carries_the_specs(tmp_path, source):
    out = tmp_path / "reports"
    assert release(source, out, "country").rows == ROWS
    reports = AGE.privatize([18 + at % 73 for at in range(ROWS)], rng=column_words(3, "age"))
    seen = []
    parts = sorted(out.rglob("*.parquet"))
    assert len(parts) == len(COUNTRIES)
    for part in parts:
        held = pq.ParquetFile(part).read()
        assert held.column_names == ["age", "country", "at"] and b"bipartite" in held.schema.metadata
        rows = held["at"].to_pylist()
        assert held["age"].to_pylist() == [reports[at] for at in rows]
        assert len(set(held["country"].to_pylist())) == 1
        seen += rows
    assert sorted(seen) == list(range(ROWS))
    assert not list(tmp_path.glob(".*"))


def test_parts_are_estimated_together_as_the_same_rows_in_one_file(tmp_path, source):
    out = tmp_path / "reports"
    release(source, out, "country")
    privatize_file(source, tmp_path / "one.parquet", PLAN, rng=bp.insecure_seed(3))
    found, wanted = (estimate_file(each, by="country") for each in (out, tmp_path / "one.parquet"))
    assert found.about.insecure and found.about.mechanisms == PLAN.mechanisms()
    assert {name: each.mean for name, each in found.columns["age"].items()} == {
        name: each.mean for name, each in wanted.columns["age"].items()
    }


def test_parts_follow_public_columns_alone(tmp_path, source):
    for columns, told in (
        (("age",), "public column .* got 'age'"),
        (("nowhere",), "public column .* got 'nowhere'"),
        (("country", "country"), "named twice"),
    ):
        with pytest.raises(InputError, match=told):
            release(source, tmp_path / "out", *columns)
    for target, options, told in (
        ("-", {"output_format": "parquet"}, "a folder"),
        (tmp_path / "out.csv", {}, "Parquet"),
    ):
        with pytest.raises(InputError, match=told):
            privatize_file(source, target, PLAN, settings=Settings(partition_by=("country",), **options))
    assert [path.name for path in tmp_path.iterdir()] == ["in.parquet"]


def test_a_folder_that_is_there_is_replaced_only_where_it_is_a_release_and_only_when_asked(tmp_path, source):
    out = tmp_path / "reports"
    release(source, out, "country")
    with pytest.raises(InputError, match="adds its ε"):
        release(source, out, "country")
    (out / "country=XX").mkdir()
    release(source, out, "country", overwrite=True)
    assert not (out / "country=XX").exists() and (out / "_SUCCESS").exists()
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "thesis.txt").write_text("x")
    with pytest.raises(InputError, match="not a release in parts"):
        release(source, precious, "country", overwrite=True)
    assert (precious / "thesis.txt").exists() and not list(tmp_path.glob(".*"))


def test_a_release_that_fails_leaves_no_folder(tmp_path, source, monkeypatch):
    monkeypatch.setattr(sources, "BATCH", 2048)  # some rows are written before the last is read
    bad = pa.table({"age": [40] * 20_000 + [17], "country": ["DE"] * 20_001, "at": range(20_001)})
    pq.write_table(bad, source)
    with pytest.raises(BipartiteError, match="row 20,001"):
        release(source, tmp_path / "out", "country")
    pq.write_table(bad.slice(0, 0), source)
    with pytest.raises(DataFileError, match="no rows"):
        release(source, tmp_path / "out", "country")
    assert [path.name for path in tmp_path.iterdir()] == ["in.parquet"]


def test_an_unfinished_folder_is_not_estimated(tmp_path, source):
    release(source, tmp_path / "out", "country")
    (tmp_path / "out" / "_SUCCESS").unlink()
    with pytest.raises(DataFileError, match="not complete"):
        estimate_file(tmp_path / "out")


def test_a_folder_takes_its_name_when_all_of_it_is_on_the_disk(tmp_path, monkeypatch):
    part, path, flushed = tmp_path / "part", tmp_path / "out", []
    (part / "country=DE").mkdir(parents=True)
    (part / "country=DE" / "part-0.parquet").write_text("x")
    monkeypatch.setattr(outputs, "flush", lambda each: flushed.append((each.name, path.exists())))
    outputs.publish_folder(part, path, overwrite=False)
    assert path.is_dir() and not part.exists()
    assert {name for name, there in flushed if not there} == {"part", "country=DE", "part-0.parquet", "_SUCCESS"}
    assert flushed[-1] == (tmp_path.name, True)


def test_a_value_too_long_for_the_name_of_a_folder_is_named_as_the_reason(tmp_path):
    pq.write_table(pa.table({"age": [40], "country": ["x" * 300], "at": [1]}), tmp_path / "in.parquet")
    with pytest.raises(OSError, match="would be too long; shorten it, or the values of partition_by="):
        release(tmp_path / "in.parquet", tmp_path / "reports", "country")
    assert [each.name for each in tmp_path.iterdir()] == ["in.parquet"]
