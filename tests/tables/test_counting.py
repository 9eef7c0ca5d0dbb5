"""Answers from released files: every kind of file is read once, and each report is looked up as what it is."""

import hashlib
import json
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

import bipartite as bp
from bipartite.cli import main
from bipartite.errors import DataFileError, InputError
from bipartite.mechanisms.spec import canonical
from bipartite.tables import blocks, counting, estimate_file, formats, metadata
from tests.tables.files import put, table

AGE = bp.BRR(bp.Integers(18, 90), epsilon=1, edges="padded")
DATES = ["2020-01-01", "2020-01-02", "17:00", "true", "1e3"]
DAY = bp.GRR(bp.Items(DATES, loss=1 - np.eye(5)), epsilon=1)
ROOM = bp.GRR(bp.Items([101, 102, 203], loss=1 - np.eye(3)), epsilon=1)


def grr(size):
    return bp.GRR(bp.Items([f"label {at}" for at in range(size)], loss=1 - np.eye(size)), epsilon=1)


def write_side(path, plan):
    formats.side_file(path).write_text(json.dumps(plan.metadata()), encoding="utf-8")


def write_csv(path, plan, rows):
    write_side(put(path, rows), plan)
    return path


def write(path, plan, rows):
    return put(path, table(rows).replace_schema_metadata({b"bipartite": json.dumps(plan.metadata())}))


def test_how_often_a_spec_is_hashed_does_not_depend_on_how_many_different_reports_there_are(tmp_path, monkeypatch):
    def hashes(size):
        mechanism = grr(size)
        reports = [f"label {at % size}" for at in range(200)]
        file = write_csv(tmp_path / "r.csv", bp.Plan({"c": mechanism}), {"c": reports})
        hashed = []

        def sha256(held):
            hashed.append(len(held))
            return hashlib.sha256(held)

        with monkeypatch.context() as patch:
            patch.setattr(canonical, "hashlib", SimpleNamespace(sha256=sha256))
            assert estimate_file(file).columns["c"][None].nobs == 200
        return len(hashed)

    assert hashes(100) == hashes(4) <= 2


def test_the_description_that_a_file_carries_is_read_once(tmp_path, monkeypatch):
    file = write_csv(tmp_path / "r.csv", bp.Plan({"c": grr(5)}), {"c": ["label 1"]})
    read, original = [], metadata._mechanism
    monkeypatch.setattr(metadata, "_mechanism", lambda *given: read.append(None) or original(*given))
    assert main(["estimate", str(file)]) == 0
    assert len(read) == 1


def test_a_file_is_scanned_once_for_all_columns_and_groups(tmp_path, monkeypatch):
    names = [f"a{at}" for at in range(7)]
    plan = bp.Plan(dict.fromkeys(names, AGE) | {"country": "public"})
    draw = np.random.default_rng(1)
    rows = {name: draw.integers(18, 91, 300) for name in names} | {"country": draw.choice(["DE", "FR"], 300)}
    file = write_csv(tmp_path / "r.csv", plan, rows)
    opened, real = [], blocks.chunks_of
    monkeypatch.setattr(blocks, "chunks_of", lambda *given: opened.append(given) or real(*given))
    found = estimate_file(file, by="country")
    assert len(opened) == 1
    for name in names:
        by_hand = bp.estimate(AGE, rows[name], by=rows["country"])
        assert {label: each.mean for label, each in found.columns[name].items()} == {
            label: by_hand[label].mean for label in ("DE", "FR")
        }


def test_counts_do_not_depend_on_how_rows_are_cut_into_batches(tmp_path, monkeypatch):
    plan = bp.Plan({"age": AGE, "day": DAY, "g": "public"})
    draw = np.random.default_rng(2)
    rows = {"age": draw.integers(5, 100, 500), "day": draw.choice(DATES, 500), "g": draw.integers(0, 3, 500)}
    file = write(tmp_path / "r.parquet", plan, rows)
    whole = estimate_file(file, by="g")
    monkeypatch.setattr("bipartite.tables.sources.AT_ONCE", 7)
    parts = estimate_file(file, by="g")
    for name in ("age", "day"):
        assert list(whole.columns[name]) == list(parts.columns[name]) == ["0", "1", "2"]
        for label, each in whole.columns[name].items():
            assert each.nobs == int((rows["g"] == int(label)).sum())
            np.testing.assert_array_equal(each.shares, parts.columns[name][label].shares)


def test_labels_that_look_like_dates_or_numbers_stay_labels_in_every_format(tmp_path):
    plan = bp.Plan({"day": DAY, "room": ROOM})
    rows = {"day": DATES * 20, "room": [101, 101, 203, 102] * 25}
    for kind in ("jsonl", "csv"):
        write_side(put(tmp_path / f"r.{kind}", rows), plan)
    write(tmp_path / "r.parquet", plan, rows)
    for name in ("r.jsonl", "r.csv", "r.parquet"):
        found = estimate_file(tmp_path / name).columns
        assert found["day"][None].shares == pytest.approx([0.2] * 5)
        np.testing.assert_allclose(found["room"][None].shares, bp.estimate(ROOM, rows["room"]).shares)


@pytest.mark.parametrize(
    "odd",
    [
        pa.array([20, 30, 30]).dictionary_encode(),
        pa.array([20, 30, 30], pa.decimal128(12, 2)),
        pa.array([20.0, 30.0, 30.0], pa.float32()),
        pa.array([20, 30, 30], pa.uint8()),
        pa.array(["20", "30", "3e1"], pa.large_string()),
    ],
)
def test_numbers_may_be_stored_in_many_ways(tmp_path, odd):
    file = write(tmp_path / "r.parquet", bp.Plan({"age": AGE}), {"age": odd})
    np.testing.assert_array_equal(
        estimate_file(file).columns["age"][None].shares, bp.estimate(AGE, [20, 30, 30]).shares
    )


@pytest.mark.grid(3)
@pytest.mark.parametrize("wrong", [[101.5], [True], ["1_01"], [[101]], [2**62], [float("nan")]])
def test_what_is_no_report_is_refused_however_it_is_stored(tmp_path, wrong):
    for mechanism in (ROOM, AGE):
        file = write(tmp_path / "r.parquet", bp.Plan({"c": mechanism}), {"c": wrong})
        with pytest.raises(DataFileError, match="row 1, column 'c', cannot have come from"):
            estimate_file(file)


def test_rows_without_a_group_are_never_added_to_a_group_that_is_called_so(tmp_path):
    plan = bp.Plan({"age": AGE, "g": "public"})
    file = write(tmp_path / "r.parquet", plan, {"age": [20, 30, 40, 50, 60], "g": ["(none)", None, None, "b", ""]})
    found = estimate_file(file, by="g").columns["age"]
    assert {label: each.nobs for label, each in found.items()} == {"": 1, "(none)": 1, "b": 1, "((none))": 2}


def test_too_many_groups_are_refused_while_they_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(counting, "MOST_GROUPS", 3)
    plan = bp.Plan({"age": AGE, "g": "public"})
    file = write(tmp_path / "r.parquet", plan, {"age": [20] * 4, "g": [1, 2, 3, 4]})
    with pytest.raises(InputError, match="at most 3 groups, got more; is 'g' a column of groups"):
        estimate_file(file, by="g")
    file = write(tmp_path / "l.parquet", plan, {"age": [20] * 4, "g": [[1]] * 4})
    with pytest.raises(InputError, match=r"column 'g' holds list.*name another column"):
        estimate_file(file, by="g")


def test_a_column_that_is_gone_is_named(tmp_path):
    plan = bp.Plan({"age": AGE, "room": ROOM})
    for name in ("r.parquet", "r.csv"):
        writer = write if name == "r.parquet" else write_csv
        with pytest.raises(DataFileError, match="has no column 'age'"):
            estimate_file(writer(tmp_path / name, plan, {"AGE": [20], "room": [101]}))


def test_arrow_is_read_as_a_file_and_as_a_stream(tmp_path):
    for name in ("r.arrow", "r.stream.arrow"):
        file = write(tmp_path / name, bp.Plan({"age": AGE}), {"age": [60, 60, 70]})
        assert estimate_file(file).columns["age"][None].nobs == 3


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("r.csv", "age\n20\n30,40\n", "r.csv: line 3 has 2 cells instead of 1; repair or remove it"),
        ("r.csv", 'age\n20\n"30\n', "r.csv: line 3 cannot be read as CSV .unexpected end of data."),
        ("r.csv", "age\n20\n3", "r.csv: the last line has no line end: the file may be truncated"),
        ("r.csv", "", "r.csv is empty"),
        ("r.csv", "age\n", "column 'age' has no reports"),
        (
            "r.jsonl",
            '{"age": 20}\n{"age": 3',
            "r.jsonl: the last line has no line end: the file may be truncated",
        ),
        ("r.jsonl", '{"age": 20}\n{"age"\n', "r.jsonl"),
        ("r.jsonl", "", "r.jsonl is empty"),
        (
            "r.jsonl",
            '{"other": 20}\n',
            "has no column 'age'; check the name, and that the specs are those of this file",
        ),
    ],
)
def test_what_is_wrong_with_a_file_is_said_without_what_it_holds(tmp_path, name, content, told):
    path = tmp_path / name
    path.write_text(content)
    write_side(path, bp.Plan({"age": AGE}))
    with pytest.raises(DataFileError, match=told) as caught:
        estimate_file(path)
    for wrong in ("plan", "released", "30", "input_format"):
        assert wrong not in str(caught.value).replace(str(path), "")
