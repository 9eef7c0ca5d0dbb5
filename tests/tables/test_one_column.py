"""CSV with a single column: a blank line is a person who gave no answer, not the end of a line."""

import gzip
import io
import random

import pyarrow as pa
import pytest

import bipartite as bp
from bipartite.errors import DataFileError
from bipartite.tables import Column, blocks, estimate_file, privatize_file
from tests.tables.conftest import AGE, JOB, column_words

PLAN = bp.Plan({"age": Column(AGE, nulls="keep")})


@pytest.fixture
def release(tmp_path, monkeypatch):
    """Release bytes of a file, or of standard input; the reports, null where a row had none."""

    def releasing(held, name="in.csv", plan=PLAN, **options):
        source = tmp_path / name
        source.write_bytes(gzip.compress(held) if name.endswith(".gz") else held)
        if name.startswith("-"):
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(held)))
            source, options["input_format"] = "-", "csv"
        target = tmp_path / "out.arrow"
        done = privatize_file(source, target, plan, rng=bp.insecure_seed(1), overwrite=True, **options)
        return done, pa.ipc.open_file(target).read_all().to_pydict()

    return releasing


def reports(cells):
    """What seeded words report for these cells."""
    drawn = iter(AGE.privatize([each for each in cells if each is not None], rng=column_words(1, "age")))
    return [None if each is None else next(drawn) for each in cells]


CASES = [
    ([b"40", b"", b"42"], [40, None, 42]),
    ([b"", b"40", b"", b"", b"42", b""], [None, 40, None, None, 42, None]),
    ([b"40", b'""', b'"41"', b""], [40, None, 41, None]),
    ([b"40"], [40]),
    ([], []),
]


@pytest.mark.grid(4)
@pytest.mark.parametrize("name", ["in.csv", "in.tsv", "in.csv.gz", "-.csv"])
@pytest.mark.parametrize(("lines", "cells"), CASES)
def test_an_empty_cell_is_a_row_and_the_last_line_ending_is_none(release, name, lines, cells):
    for ending in (b"\n", b"\r\n", b"\r"):
        done, found = release(ending.join([b"age", *lines]) + ending, name)
        assert (done.rows, found["age"]) == (len(cells), reports(cells))


def test_a_last_line_without_an_ending_counts_and_files_are_read_one_after_the_other(tmp_path):
    (tmp_path / "in-1.csv").write_bytes(b"age\n40\n\n")
    (tmp_path / "in-2.csv").write_bytes(b"age\n\n42")
    privatize_file(tmp_path / "in-*.csv", tmp_path / "out.arrow", PLAN, rng=bp.insecure_seed(1))
    assert pa.ipc.open_file(tmp_path / "out.arrow").read_all()["age"].to_pylist() == reports([40, None, None, 42])


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1"])
def test_every_encoding_and_quotation_marks_are_read(release, encoding):
    words = bp.Plan({"ä": Column(bp.GRR(bp.Items(["é\r\n\r\n", "x"], loss=[[0, 1], [1, 0]]), 1), nulls="keep")})
    held = 'ä\r\n"é\r\n\r\n"\r\n\r\n x\r\n'.encode(encoding)
    done, found = release(held, plan=words, encoding=encoding.removesuffix("-sig"))
    assert done.rows == 3 and [each is None for each in found["ä"]] == [False, True, False]


def test_blank_lines_are_rows_wherever_a_file_is_cut(release, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK", 11)
    draw = random.Random(1)
    cells = [draw.choice([None, 18, 40, 90]) for _ in range(1000)]
    held = "age\r\n" + "".join(f"{'' if each is None else each}\r\n" for each in cells)
    assert release(held.encode())[1]["age"] == reports(cells)
    without = [each for each in cells if each is not None]
    assert release("\n".join(map(str, ["age", *without])).encode())[1]["age"] == reports(without)


def test_blank_lines_of_several_columns_are_skipped_as_before(release):
    plan = bp.Plan({"job": Column(JOB, nulls_as="other"), "note": "public"})
    done, found = release(b"job,note\nnurse,a\n\n,b\n", plan=plan)
    assert done.rows == 2 and found["note"] == ["a", "b"]


@pytest.mark.parametrize(
    ("held", "told"),
    [
        (b"age\n40\n\n41,\n", "line 4 of .* has another number of cells than the first line"),
        (b"age\n40\n\n41,42\n\n", "line 4 of .* has another number of cells than the first line"),
        (b"age\n\n\xff\n", "line 3 of .* is not UTF-8 text"),
    ],
)
def test_a_bad_line_stops_the_release_and_is_named(release, tmp_path, held, told):
    for name in ("in.csv", "-.csv"):
        with pytest.raises(DataFileError, match=told) as caught:
            release(held, name)
        assert "41" not in str(caught.value)
        assert not (tmp_path / "out.arrow").exists()


def test_lines_with_more_cells_can_be_left_out(release, tmp_path):
    done, found = release(b"age\n40\n\n41,\n42\n", reject=tmp_path / "rejected.csv")
    assert (done.rows, done.rejected, found["age"]) == (4, 1, reports([40, None, 42]))
    assert "line 4 has another number of cells" in (tmp_path / "rejected.csv").read_text()
    assert '"41,"' in (tmp_path / "rejected.csv").read_text()


def test_estimates_count_the_blank_lines_of_a_released_column(tmp_path):
    (tmp_path / "in.csv").write_text("age\n40\n\n42\n")
    out = tmp_path / "out.csv"
    privatize_file(tmp_path / "in.csv", out, PLAN)
    assert estimate_file(out).unreported == {"age": 1}
