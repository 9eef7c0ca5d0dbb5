"""Files of every format in and out: the same reports, whole or not at all, and nothing private said."""

import csv
import errno
import io
import json
import os
import stat
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import bipartite as bp
from bipartite.errors import BipartiteError, DataError, DataFileError, InputError, SpecError
from bipartite.tables import Column, blocks, estimate_file, extras, formats, privatize_file, releasing, sources, streams
from bipartite.tables.answering import carried_by
from bipartite.tables.streams import StoppedError, ahead, check_wanted
from tests.tables import files
from tests.tables.conftest import AGE, JOB, column_words, expected, people
from tests.tables.files import read

SEED = 11


@pytest.fixture
def put(tmp_path):
    """Write people to a file of some format."""
    return lambda name, rows: files.put(tmp_path / name, rows, 100)


def release(source, target, plan, **options):
    return privatize_file(source, target, plan, rng=bp.insecure_seed(SEED), **options)


@pytest.mark.grid(6)
@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("in.csv", "out.parquet"),
        ("in.csv.gz", "out.csv"),
        ("in.csv.zst", "out.tsv.gz"),
        ("in.tsv", "out.jsonl"),
        ("in.jsonl", "out.csv.zst"),
        ("in.jsonl.gz", "out.jsonl.zst"),
        ("in.parquet", "out.csv.gz"),
        ("in.parquet", "out.arrow"),
        ("in.arrow", "out.parquet"),
        ("in.arrow.gz", "out.arrow.zst"),
        ("in.arrow.stream.arrow", "out.tsv"),
    ],
)
def test_every_format_gives_the_same_reports_and_says_what_they_are(plan, put, tmp_path, source, target):
    rows = people(250)
    done = release(put(source, rows), tmp_path / target, plan)
    assert (done.rows, done.rejected, done.epsilon) == (250, 0, None)  # from known words: no ε is claimed
    assert read(tmp_path / target) == expected(rows, SEED)
    about = carried_by(tmp_path / target)
    assert about.mechanisms == plan.mechanisms() and about.insecure and about.public == ("country",)
    found = estimate_file(tmp_path / target, by="country", columns=["job"]).columns["job"]
    by_hand = bp.estimate(JOB, expected(rows, SEED)["job"], by=rows["country"])
    assert {label: each.shares.tolist() for label, each in found.items()} == {
        label: by_hand[label].shares.tolist() for label in by_hand
    }
    assert list(tmp_path.glob(".*")) == []


def test_rows_keep_their_order_over_many_batches_and_threads(put, tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "AT_ONCE", 4096)
    monkeypatch.setattr(streams, "MOST", 2048)
    count = 3 * 4096 + 17
    rows = {"age": np.random.default_rng(1).integers(18, 91, count), "at": np.arange(count)}
    plan = bp.Plan({"age": AGE, "at": "public"})
    wanted = bp.privatize_frame(pa.table(rows), plan, bp.insecure_seed(SEED)).to_pydict()
    for name in ("out.parquet", "out.csv"):
        release(put("in.parquet", rows), tmp_path / name, plan)
        assert read(tmp_path / name) == wanted


def test_patterns_stand_for_files_one_after_the_other(plan, put, tmp_path):
    first, second = people(50, 1), people(60, 2)
    for kind in ("csv", "parquet", "arrow", "jsonl"):
        put(f"part-1.{kind}", first)
        put(f"part-2.{kind}", second)
        release(tmp_path / f"part-*.{kind}", tmp_path / f"out.{kind}", plan)
        both = {name: first[name] + second[name] for name in first}
        assert read(tmp_path / f"out.{kind}") == expected(both, SEED)
    put("odd[1]*.csv", first)  # a name, though it looks like a pattern
    release(tmp_path / "odd[1]*.csv", tmp_path / "odd.csv", plan)
    assert read(tmp_path / "odd.csv") == expected(first, SEED)


def test_files_that_do_not_fit_together_are_refused(plan, put, tmp_path):
    put("part-1.csv", people(5))
    put("part-2.csv", {**people(5), "more": [1] * 5})
    with pytest.raises(DataFileError, match="has other columns"):
        release(tmp_path / "part-*.csv", tmp_path / "out.csv", plan)
    put("part-3.parquet", people(5))
    with pytest.raises(InputError, match="several formats"):
        release(tmp_path / "part-*", tmp_path / "out.csv", plan)
    for name, told in (("nowhere.csv", "not found: "), ("no-*.csv", "no file matches")):
        with pytest.raises(FileNotFoundError, match=told):
            release(tmp_path / name, tmp_path / "out.csv", plan)
    for name, told in (
        ("out.xyz", "which its name does not show"),
        ("out.parquet.gz", "no compression around Parquet"),
    ):
        with pytest.raises(InputError, match=told):
            release(tmp_path / "part-1.csv", tmp_path / name, plan)


def test_a_bad_row_stops_the_release_and_its_value_is_not_shown(put, tmp_path):
    secret = 987654321
    rows = {"age": [40] * 20 + [secret] + [40] * 5}
    for name in ("in.csv", "in.parquet", "in.jsonl", "in.arrow"):
        with pytest.raises(DataError, match="column 'age': 1 of the 26 rows .* row 21 is outside 18..90") as caught:
            release(put(name, rows), tmp_path / "out.csv", bp.Plan({"age": AGE}))
        assert str(secret) not in repr(caught.value) and caught.value.__context__ is None
        assert not list(tmp_path.glob("*out*"))


def test_text_that_is_no_number_is_named_by_its_row(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text("age,other\n40,a\nsecret,b\n40.5,c\n,d\n1_0,e\n")
    with pytest.raises(DataError) as caught:
        release(path, tmp_path / "out.csv", bp.Plan({"age": AGE}))
    told = str(caught.value)
    for each in ("rows 2, 5 are not of the type", "row 3 is not a whole number", "row 4 is missing"):
        assert each in told
    assert "secret" not in told
    kept = bp.Plan({"age": Column(AGE, nulls="keep", outside="clip")})
    path.write_text('age\n40\n""\n1e300\n-inf\n+50\n 60 \n')
    release(path, tmp_path / "out.csv", kept)
    found = (tmp_path / "out.csv").read_text().splitlines()
    assert found[0] == "age" and found[2] in {"", '""'}
    assert found[1:2] + found[3:] == [str(each) for each in AGE.privatize([40, 90, 18, 50, 60], rng=words_of("age"))]


def words_of(column):
    return column_words(SEED, column)


def test_labels_that_are_numbers_are_not_rounded_into_others(tmp_path):
    plan = bp.Plan({"n": bp.GRR(bp.Items([1, 2, 3], loss=1 - np.eye(3)), epsilon=1)})
    path = tmp_path / "in.csv"
    path.write_text("n\n1\n2.0\n3\n")
    release(path, tmp_path / "out.csv", plan)
    assert [int(each) for each in (tmp_path / "out.csv").read_text().split()[1:]] == plan.mechanisms()["n"].privatize(
        [1, 2, 3], rng=words_of("n")
    )
    path.write_text("n\n1\n2.4\n")
    with pytest.raises(DataError, match="row 2 is outside the set"):
        release(path, tmp_path / "out2.csv", plan)


def test_unknown_labels_stay_unknown_beside_rejected_rows(put, tmp_path):
    rows = {"job": ["nurse", "astronaut", None, "nurse"], "age": [40, 50, 60, 17]}
    plan = bp.Plan({"job": Column(JOB, outside_as="other", nulls_as="no answer"), "age": AGE})
    for name in ("in.csv", "in.parquet", "in.jsonl", "in.arrow"):
        out = tmp_path / f"{name}.csv"
        done = release(put(name, rows), out, plan, reject=tmp_path / f"bad-{name}.csv")
        assert done.rejected == 1
        found = [line.split(",")[0] for line in out.read_text().splitlines()[1:]]
        assert found == JOB.privatize(["nurse", "other", "no answer"], rng=words_of("job"))


def test_public_values_of_every_type_are_valid_json(tmp_path):
    nan = float("nan")
    columns = {
        "at": (pa.array([1, None], pa.timestamp("ns", "UTC")), ["1970-01-01 00:00:00.000000001Z", None]),
        "day": (pa.array([1, None], pa.date32()), ["1970-01-02", None]),
        "list": (pa.array([[1.5, nan], None]), [[1.5, None], None]),
        "number": (pa.array([nan, 2.5]), [None, 2.5]),
    }
    table = {"age": [40, 41]} | {name: given for name, (given, _) in columns.items()}
    pq.write_table(pa.table(table), tmp_path / "in.parquet")
    plan = bp.Plan({"age": AGE} | dict.fromkeys(columns, "public"))
    release(tmp_path / "in.parquet", tmp_path / "out.jsonl", plan)
    found = [json.loads(line, parse_constant=pytest.fail) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert {name: [row[name] for row in found] for name in columns} == {name: out for name, (_, out) in columns.items()}


@pytest.mark.parametrize("values", [pa.array([b"\xff"]), pa.array([[b"\xff"]])])
def test_public_values_that_json_cannot_hold_are_refused(tmp_path, values):
    pq.write_table(pa.table({"age": [40], "x": values}), tmp_path / "in.parquet")
    with pytest.raises(InputError, match="JSON cannot hold .*; write Parquet or Arrow, cast it first, or leave it out"):
        release(tmp_path / "in.parquet", tmp_path / "out.jsonl", bp.Plan({"age": AGE, "x": "public"}))
    assert [each.name for each in tmp_path.iterdir()] == ["in.parquet"]


def test_public_json_stays_json_and_becomes_text_elsewhere(tmp_path):
    (tmp_path / "in.jsonl").write_text(
        '{"age": 40, "x": {"a": [1, "b"]}}\n{"age": 50, "x": 3}\n{"age": 60, "x": "t"}\n'
    )
    plan = bp.Plan({"age": AGE, "x": "public"})
    release(tmp_path / "in.jsonl", tmp_path / "out.jsonl", plan)
    assert [json.loads(line)["x"] for line in (tmp_path / "out.jsonl").read_text().splitlines()] == [
        {"a": [1, "b"]},
        3,
        "t",
    ]
    release(tmp_path / "in.jsonl", tmp_path / "out.parquet", plan)
    assert pq.read_table(tmp_path / "out.parquet")["x"].to_pylist() == ['{"a": [1, "b"]}', "3", "t"]


def test_labels_that_sql_cannot_write_are_labels_too(put, tmp_path):
    odd = ["a'b", "\0", "ü"]
    for labels in (odd, [each for each in odd if each != "\0"]):
        mechanism = bp.GRR(bp.Items(labels, loss=1 - np.eye(len(labels))), epsilon=1)
        source = put("in.parquet", {"x": labels * 20})
        release(source, tmp_path / "out.parquet", bp.Plan({"x": mechanism}), overwrite=True)
        found = pq.read_table(tmp_path / "out.parquet")["x"].to_pylist()
        assert found == mechanism.privatize(labels * 20, rng=words_of("x"))


def test_rejected_rows_go_to_a_private_file_and_the_others_are_released(put, tmp_path):
    rows = {"age": ["40", "secret", "17", None, "50"], "who": ["a", "b", 'c "d"', "e", "f"]}
    plan = bp.Plan({"age": AGE})
    for number, name in enumerate(("in.csv", "in.jsonl")):
        bad, out = tmp_path / f"bad{number}.csv", tmp_path / f"out{number}.csv"
        done = release(put(name, rows), out, plan, reject=bad)
        assert (done.rows, done.rejected) == (5, 3)
        assert [int(each) for each in out.read_text().split()[1:]] == AGE.privatize([40, 50], rng=words_of("age"))
        assert stat.S_IMODE(bad.stat().st_mode) == 0o600
        found = pa.csv.read_csv(bad).to_pydict()
        assert found["bipartite_row"] == [2, 3, 4] and found["who"] == ["b", 'c "d"', "e"]
        assert found["bipartite_reason"] == [
            "age: not of the type that the plan needs",
            "age: outside",
            "age: missing",
        ]
        assert any("rejected" in each for each in carried_by(out).publishes)
    numbers = put("in.parquet", {"age": [40, 300, 50], "d": [[1], [2], [3]]})
    with pytest.raises(InputError, match="nested"):
        release(numbers, tmp_path / "out3.csv", plan, reject=tmp_path / "bad3.csv")
    assert not list(tmp_path.glob("*bad3*")) and not list(tmp_path.glob("*out3*"))
    release(put("in.arrow", {"age": [40, 50]}), tmp_path / "out4.csv", plan, reject=tmp_path / "bad4.csv")
    assert (tmp_path / "bad4.csv").read_bytes() == b""


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "is empty"),
        (b"\n", "is empty"),
        (b"age,age\n1,2\n", "one column more than once .numbers 1, 2 of 2."),
        (b"age,\n1,2\n", "a column without a name"),
        (b"\xff\xfe\x00\n", "not UTF-8"),
        (b"other\n1\n", "no column 'age'"),
    ],
)
def test_broken_text_releases_nothing_and_shows_nothing(tmp_path, content, told):
    path = tmp_path / "in.csv"
    path.write_bytes(content)
    plan = bp.Plan({"age": AGE, "b": "public"}) if b"b" in content else bp.Plan({"age": AGE})
    with pytest.raises(BipartiteError, match=told):
        release(path, tmp_path / "out.csv", plan)
    assert [each.name for each in tmp_path.iterdir()] == ["in.csv"]


@pytest.mark.grid(3)
@pytest.mark.parametrize("name", ["in.parquet", "in.arrow", "in.csv.gz", "in.jsonl", "in.csv.zst"])
def test_files_that_are_cut_off_or_something_else_are_refused(plan, put, tmp_path, name):
    whole = put(name, people(300)).read_bytes()
    for broken in (whole[: len(whole) // 2], b"something else entirely", b"\x00" * 100):
        (tmp_path / name).write_bytes(broken)
        with pytest.raises((BipartiteError, ValueError)) as caught:
            release(tmp_path / name, tmp_path / "out.csv", plan)
        assert isinstance(caught.value, BipartiteError)
        assert [each.name for each in tmp_path.iterdir()] == [name]


@given(st.binary(max_size=200), st.sampled_from(["in.csv", "in.jsonl", "in.tsv"]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_bytes_a_file_holds_it_is_released_or_refused_with_an_error_of_ours(tmp_path, content, name):
    path, out = tmp_path / name, tmp_path / "out.csv"
    path.write_bytes((b"age\n40\n" if name != "in.jsonl" else b'{"age": 40}\n') + content)
    try:
        release(path, out, bp.Plan({"age": Column(AGE, outside="clip", nulls_as=18)}), overwrite=True)
    except BipartiteError:
        assert not list(tmp_path.glob(".*"))
    else:
        assert carried_by(out) is not None


@given(
    st.lists(
        st.text(st.characters(codec="utf-8", exclude_characters="\r\x00"), min_size=1, max_size=8),
        min_size=2,
        max_size=4,
        unique_by=str.casefold,
    ),
    st.lists(
        st.text(st.characters(codec="utf-8", exclude_characters="\r\x00"), min_size=1, max_size=8),
        min_size=1,
        max_size=4,
    ),
)
@example(names=["age", "\ufffd"], texts=["x"])  # a letter like any other, though decoders write it for what is none
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_odd_names_and_public_texts_pass_through_csv(tmp_path, names, texts):
    path, out = tmp_path / "in.csv", tmp_path / "out.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        # A line end within a name must be that of the lines.
        writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
        writer.writerows([names, *[["40", text, *["x"] * (len(names) - 2)] for text in texts]])
    plan = bp.Plan({names[0]: AGE, names[1]: "public"})
    release(path, out, plan, overwrite=True)
    with out.open(encoding="utf-8", newline="") as file:
        found = list(csv.reader(file))
    assert found[0] == names[:2] and [row[1] for row in found[1:]] == texts


def test_no_rows_and_huge_texts(tmp_path):
    plan = bp.Plan({"age": AGE, "b": "public"})
    path = tmp_path / "in.csv"
    path.write_text("age,b\n")
    for name in ("out.csv", "out.parquet", "out.arrow", "out.jsonl"):
        assert release(path, tmp_path / name, plan).rows == 0
        assert carried_by(tmp_path / name) is not None
    assert (tmp_path / "out.csv").read_text() == "age,b\n"
    with pytest.raises(DataFileError, match="no reports"):
        estimate_file(tmp_path / "out.csv")
    path.write_text("age,b\n40," + "x" * 1_000_000 + "\n")
    release(path, tmp_path / "huge.csv", plan)
    assert len((tmp_path / "huge.csv").read_text()) > 1_000_000


def test_an_output_that_is_there_is_replaced_only_when_asked(plan, put, tmp_path):
    source, out = put("in.csv", people(20)), tmp_path / "out.csv"
    release(source, out, plan)
    with pytest.raises(InputError, match="adds its ε"):
        release(source, out, plan)
    release(source, out, plan, overwrite=True)
    release(source, tmp_path / "x.csv", plan)
    with pytest.raises(InputError, match="is both input and output"):
        release(source, source, plan, overwrite=True)
    with pytest.raises(InputError, match="different files"):
        release(source, tmp_path / "y.csv", plan, reject=tmp_path / "y.csv")
    with pytest.raises(InputError, match="reject= as FILE.csv"):
        release(source, tmp_path / "y.csv", plan, reject=tmp_path / "y.parquet")
    with pytest.raises(InputError, match="is not a folder; create it first"):
        release(source, tmp_path / "nowhere" / "y.csv", plan)
    with pytest.raises(InputError, match="is not a file"):
        release(source, tmp_path, plan, output_format="csv")


def test_specs_stand_before_data_and_old_data_never_beside_new_specs(tmp_path, monkeypatch):
    part, path = tmp_path / "part", tmp_path / "out.csv"
    seen = []

    class Stop(Exception):  # noqa: N818
        pass

    def steps(stop_at):
        real = type(path).replace

        def replace(self, target):
            seen.append(target.name)
            if len(seen) == stop_at:
                raise Stop
            return real(self, target)

        seen.clear()
        monkeypatch.setattr(type(path), "replace", replace)

    for stop_at in (1, 2):
        part.write_text("new")
        path.write_text("old")
        formats.side_file(path).write_text("old")
        steps(stop_at)
        with pytest.raises(Stop):
            releasing.publish(part, path, "new", overwrite=True)
        assert not path.exists()
        assert seen == ["out.csv.bipartite.json", "out.csv"][:stop_at]
        monkeypatch.undo()
    part.write_text("new")
    releasing.publish(part, path, None, overwrite=True)
    assert path.read_text() == "new" and not formats.side_file(path).exists()


def test_a_file_that_appears_meanwhile_is_not_written_over(tmp_path, monkeypatch):
    part, path = tmp_path / "part", tmp_path / "out.csv"
    part.write_text("mine")
    path.write_text("theirs")
    with pytest.raises(InputError, match="already exists"):
        releasing._move_to_free(part, path)
    assert path.read_text() == "theirs"
    monkeypatch.setattr(os, "link", lambda *_: (_ for _ in ()).throw(OSError()))
    path.unlink()
    releasing._move_to_free(part, path)
    assert path.read_text() == "mine"


def test_a_link_to_nothing_is_an_output_that_is_there(put, tmp_path):
    source, link = put("in.csv", {"age": [40, 50]}), tmp_path / "out.csv"
    link.symlink_to(tmp_path / "nowhere.csv")
    with pytest.raises(InputError, match="already exists"):
        release(source, link, bp.Plan({"age": AGE}))
    assert not formats.side_file(link).exists()
    release(source, link, bp.Plan({"age": AGE}), overwrite=True)
    assert not link.is_symlink() and len(read(link)["age"]) == 2
    link.unlink()
    link.mkdir()
    with pytest.raises(InputError, match="is not a file"):
        release(source, link, bp.Plan({"age": AGE}), overwrite=True)


def test_two_runs_never_mix_the_data_of_one_with_the_specs_of_the_other(tmp_path, monkeypatch):
    path, real = tmp_path / "out.csv", Path.replace
    between, refused = threading.Event(), []

    def replace(self, target):
        done = real(self, target)
        if threading.current_thread() is not second and Path(target) == formats.side_file(path):
            between.set()  # the specs of the first run stand there, its data do not
            second.join(0.3)
        return done

    def run_second():
        between.wait(10)
        try:
            releasing.publish(tmp_path / "b", path, "b", overwrite=False)
        except InputError as error:
            refused.append(str(error))

    for name in ("a", "b"):
        (tmp_path / name).write_text(name)
    second = threading.Thread(target=run_second)
    monkeypatch.setattr(Path, "replace", replace)
    second.start()
    releasing.publish(tmp_path / "a", path, "a", overwrite=False)
    second.join(10)
    assert path.read_text() == "a" and formats.side_file(path).read_text() == "a\n"
    assert len(refused) == 1 and "already exists" in refused[0]


def test_a_disk_that_fills_up_with_the_specs_leaves_the_older_release(tmp_path, monkeypatch):
    part, path = tmp_path / "part", tmp_path / "out.csv"
    for file, text in ((part, "new"), (path, "old"), (formats.side_file(path), "old")):
        file.write_text(text)
    monkeypatch.setattr(Path, "write_text", lambda *_, **__: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        releasing.publish(part, path, "new", overwrite=True)
    assert path.read_text() == formats.side_file(path).read_text() == "old"


def test_columns_that_differ_in_case_alone_are_refused(tmp_path, put):
    source = put("in.arrow", {"age": [40], "AGE": [50], "x": ["a"]})
    for plan in (
        bp.Plan({"age": AGE, "AGE": "public"}),
        bp.Plan({"a": Column(AGE, inputs=("age",)), "A": "public"}),
        bp.Plan({"a": Column(AGE, inputs=("age",)), "b": Column(AGE, inputs=("AGE",))}),
    ):
        with pytest.raises(InputError, match="differ only in case, which DuckDB and Spark ignore; rename one"):
            release(source, tmp_path / "out.csv", plan)


def test_specs_that_are_gone_or_changed_are_noticed(plan, put, tmp_path):
    out = tmp_path / "out.csv"
    release(put("in.csv", people(50)), out, plan)
    with pytest.raises(InputError, match="private column of the release, got 'nobody'"):
        estimate_file(out, columns=["nobody"])
    with pytest.raises(InputError, match="public column for the groups, got 'age'"):
        estimate_file(out, by="age")
    text = out.read_text()
    out.write_text(text.replace("\n", "\n5000,", 1))
    with pytest.raises(DataFileError, match="out.csv: line 2 has 6 cells instead of 5"):
        estimate_file(out)
    out.write_text("age,income,job,home,country\n5000,0,nurse,Paris,DE\n")
    with pytest.raises(DataFileError, match="cannot have come from BRR"):
        estimate_file(out)
    formats.side_file(out).unlink()
    with pytest.raises(SpecError, match="carries no specs"):
        estimate_file(out)
    with pytest.raises(FileNotFoundError):
        estimate_file(tmp_path / "nowhere.csv")
    (tmp_path / "bad.parquet").write_bytes(b"x")
    with pytest.raises(DataFileError, match="truncated"):
        carried_by(tmp_path / "bad.parquet")
    assert carried_by(tmp_path / "what") is None and carried_by(tmp_path / "nowhere.csv") is None


def test_what_readers_say_is_never_passed_on():
    for error, told in (
        (OSError("[errno 28] No space left on device: secret"), "no space"),
        (OSError(errno.EMFILE, "secret"), "too many files"),
        (OSError(errno.EIO, "secret"), "Input/output error"),
        (pa.ArrowInvalid("CSV parse error: secret"), "the input cannot be read"),
    ):
        found = extras.unreadable(error)
        assert told in str(found) and "secret" not in str(found)


def test_working_ahead_changes_nothing_but_the_time():
    assert list(ahead(iter(range(100)), 2)) == list(range(100))

    def failing():
        yield 1
        raise ValueError("later")

    taken = []
    with pytest.raises(ValueError, match="later"):
        taken.extend(ahead(failing(), 2))
    stopped = ahead(iter(range(10**9)), 1)
    assert next(stopped) == 0
    stopped.close()


def test_who_waits_for_more_is_let_go_when_nobody_wants_it():
    """As standard input that gives nothing more, two stages below: it would be waited for without end."""
    let_go = []

    def waiting():
        yield 0
        try:
            while True:
                check_wanted()
                time.sleep(0.01)
        except StoppedError:
            let_go.append(True)
            raise

    check_wanted()  # nothing is asked for here
    stages = ahead(ahead(waiting(), 1), 1)
    assert next(stages) == 0
    stages.close()
    assert let_go


def test_ragged_lines_leave_the_limit_of_other_readers_of_csv(tmp_path):
    limit = csv.field_size_limit()
    (tmp_path / "in.csv").write_text("age,id\n40,7\n40\n")
    with pytest.raises(DataFileError, match="another number of cells"):
        release(tmp_path / "in.csv", tmp_path / "out.csv", bp.Plan({"age": AGE}))
    assert csv.field_size_limit() == limit


@pytest.mark.skipif(os.name == "nt", reason="links as POSIX has them")
def test_a_link_to_itself_is_replaced_only_when_asked(plan, put, tmp_path):
    source, target = put("in.csv", people(5)), tmp_path / "out.csv"
    target.symlink_to(target)
    with pytest.raises(InputError, match=r"out\.csv already exists"):
        release(source, target, plan)
    assert release(source, target, plan, overwrite=True).rows == 5 and not target.is_symlink()


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_rejected_rows_and_lines_have_their_numbers_in_every_block(tmp_path, monkeypatch, end):
    monkeypatch.setattr(blocks, "BLOCK", 64)
    lines = ["age,p", *["40,x,ragged"] * 5, *["40,x"] * 40, "zz,bad", *["41,y"] * 40, "40,x,ragged", "yy,bad", ""]
    (tmp_path / "in.csv").write_text(end.join(lines), encoding="utf-8", newline="")
    plan = bp.Plan({"age": AGE, "p": "public"})
    release(tmp_path / "in.csv", tmp_path / "out.csv", plan, reject=tmp_path / "bad.csv")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "bad.csv").read_text(encoding="utf-8"), newline="")))
    assert [int(row["bipartite_row"]) for row in rows if row["bipartite_row"]] == [41, 82]
    told = [row["bipartite_reason"].split()[1] for row in rows if not row["bipartite_row"]]
    assert told == [str(lines.index("40,x,ragged") + 1 + at) for at in range(5)] + [str(len(lines) - 2)]


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_a_byte_that_is_no_text_is_told_by_its_line_whatever_ends_lines(tmp_path, end):
    (tmp_path / "in.csv").write_bytes(end.join([b"age,p", *[b"40,x"] * 10, b"40,\xff", b""]))
    with pytest.raises(DataFileError, match=r"line 12 of .* is not UTF-8 text"):
        release(tmp_path / "in.csv", tmp_path / "out.csv", bp.Plan({"age": AGE, "p": "public"}))


@pytest.mark.parametrize("encoding", ["utf-7", "punycode", "undefined", "unicode_escape"])
def test_what_an_odd_encoding_makes_of_bytes_is_text_or_refused(tmp_path, encoding):
    (tmp_path / "in.csv").write_bytes(b"age,p\n40,+2AA-\\ud800\xff\n")
    with pytest.raises((DataFileError, InputError)):
        release(tmp_path / "in.csv", tmp_path / "out.csv", bp.Plan({"age": AGE, "p": "public"}), encoding=encoding)


@pytest.mark.parametrize("view", ["string_view", "binary_view"])
def test_columns_of_views_are_rejected_like_others(tmp_path, view):
    table = pa.table({"age": ["40", "x"], "p": pa.array(["a", "b"]).cast(getattr(pa, view)())})
    pq.write_table(table, tmp_path / "in.parquet")
    plan = bp.Plan({"age": bp.GRR(bp.Items(["40", "41"]), epsilon=1)})
    release(tmp_path / "in.parquet", tmp_path / "out.csv", plan, reject=tmp_path / "bad.csv")
    assert "b" in (tmp_path / "bad.csv").read_text().splitlines()[1]


@pytest.mark.parametrize(
    "column", [pa.array([b"0123456789abcdef"], pa.binary(16)), pa.array([b"\xff" * 16], pa.binary(16))]
)
@pytest.mark.parametrize("uuid", [False, True])
def test_bytes_are_not_written_as_text(tmp_path, column, uuid):
    column = pa.ExtensionArray.from_storage(pa.uuid(), column) if uuid else column
    with (
        pa.OSFile(str(tmp_path / "in.arrow"), "wb") as sink,
        pa.ipc.new_file(sink, pa.schema({"age": pa.int64(), "p": column.type})) as writer,
    ):
        writer.write_batch(pa.record_batch({"age": pa.array([40]), "p": column}))
    with pytest.raises(InputError, match="CSV cannot hold .*; write Parquet, Arrow or JSON lines, or leave it out"):
        release(tmp_path / "in.arrow", tmp_path / "out.csv", bp.Plan({"age": AGE, "p": "public"}))


def test_an_arrow_file_that_is_truncated_while_it_is_read_is_refused(tmp_path):
    """A map of it would end the process with SIGBUS."""
    schema = pa.schema({"age": pa.int64()})
    with pa.OSFile(str(tmp_path / "in.arrow"), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
        for _ in range(50):
            writer.write_batch(pa.record_batch({"age": pa.array(np.full(122_880, 40))}))

    def truncate(*_):
        os.truncate(tmp_path / "in.arrow", 4096)

    with pytest.raises(DataFileError, match="changed while it was being read"):
        release(tmp_path / "in.arrow", tmp_path / "out.csv", bp.Plan({"age": AGE}), progress=truncate)
    assert [each.name for each in tmp_path.iterdir()] == ["in.arrow"]
