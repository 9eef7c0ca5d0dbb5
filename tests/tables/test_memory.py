"""What DuckDB may hold: sizes as people write them, and wide rows without a word about memory."""

import re
from fractions import Fraction

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bipartite as bp
from bipartite.errors import InputError
from bipartite.tables import Settings, privatize_file, sources
from bipartite.tables.complaints import unreadable
from bipartite.tables.engine import bytes_of, connect
from bipartite.tables.formats import format_of
from tests.tables.conftest import AGE

PLAN = bp.Plan({"age": AGE, "note": "public"})


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("256MB", 256 * 1000**2),
        ("1GB", 1000**3),
        ("1.5GB", 3 * 1000**3 // 2),
        ("0.5GB", 1000**3 // 2),
        ("1GiB", 2**30),
        ("1TB", 1000**4),
        ("2 TiB", 2**41),
        ("1.1 mib", int(Fraction(11, 10) * 2**20)),
        ("500kb", 500_000),
        (" 512 mb ", 512 * 1000**2),
        ("10G", 10 * 1000**3),
    ],
)
def test_memory_may_be_written_as_for_duckdb(written, found, tmp_path):
    assert bytes_of(written) == found
    # DuckDB reads the same amount, and shows it with one digit after the point.
    shown = "SELECT current_setting('memory_limit')"
    with duckdb.connect(config={"memory_limit": written.strip()}) as theirs, connect(tmp_path, found) as ours:
        assert ours.execute(shown).fetchall() == theirs.execute(shown).fetchall()


@pytest.mark.parametrize(
    "written", ["", "much", "1", "-1GB", "0GB", "1e3MB", "1GBs", "1PB", "٣GB", "9" * 30 + "TB", "80%"]
)
def test_what_is_no_memory_is_refused_with_examples_that_are(written):
    with pytest.raises(InputError, match=r"Expected memory such as 256MB, 1\.5GB or 2GiB, got ") as caught:
        bytes_of(written)
    for example in re.findall(r"[0-9.]+[KMGT]i?B", str(caught.value).split(", got")[0]):
        assert bytes_of(example) > 0


def test_what_the_message_about_memory_advises_works(tmp_path):
    message = str(unreadable(RuntimeError("Out of Memory Error: x")))
    (advised,) = re.findall(r"memory='(\w+)'", message)
    pq.write_table(pa.table({"age": [40], "note": ["x"]}), tmp_path / "in.parquet")
    privatize_file(tmp_path / "in.parquet", tmp_path / "out.csv", PLAN, settings=Settings(memory=advised))


@pytest.mark.slow  # that pieces are smaller, and fewer rows are read at once, quick tests ask
@pytest.mark.parametrize("threads", [None, 16])
def test_wide_rows_are_released_without_a_word_about_memory(tmp_path, threads):
    # 320 MB of text in one group of rows, which did not fit into what DuckDB was given; nor did what 16 threads write.
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    query = "SELECT 40 AS age, repeat(md5(i::VARCHAR), 500) AS note FROM range(20000) AS numbers(i)"
    duckdb.execute(f"COPY ({query}) TO '{source}'")
    assert privatize_file(source, target, PLAN, settings=Settings(threads=threads)).rows == 20_000
    assert pq.ParquetFile(target).metadata.row_group(0).num_rows < 20_000


def at_once(folder, plan, table, kind="parquet"):
    """How many rows are read, and so written, together."""
    file = folder / f"in.{kind}"
    duckdb.register("given", table)
    duckdb.execute(f"COPY given TO '{file}'")
    with connect(folder) as connection:
        reading = sources.Reading(format_of(str(file), None, "input_format"), plan)
        return sources.open_files(connection, [file], reading).at_once


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_how_many_rows_go_together_is_told_by_the_plan_and_by_public_values_alone(tmp_path, kind):
    job = bp.GRR(bp.Items(["nurse", "other"], loss=[[0, 1], [1, 0]]), epsilon=1)
    plan = bp.Plan({"job": bp.tables.Column(job, outside_as="other"), "note": "public"})
    short, long = ["x"] * 30, ["x" * 20_000] * 30
    assert at_once(tmp_path, plan, pa.table({"job": short, "note": short}), kind) == sources.BATCH
    assert at_once(tmp_path, plan, pa.table({"job": long, "note": short}), kind) == sources.BATCH
    assert at_once(tmp_path, plan, pa.table({"job": short, "note": long}), kind) == 2048
    wide = bp.Plan({f"c{at}": AGE for at in range(200)})
    ages = pa.table({f"c{at}": [40] for at in range(200)})
    assert at_once(tmp_path, wide, ages, kind) == 20_480
