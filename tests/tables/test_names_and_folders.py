"""Which column is which: exact names and types in every file of a release, and nothing from the names of folders."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bipartite as bp
from bipartite.errors import BipartiteError, DataFileError, InputError
from bipartite.tables import estimate_file, privatize_file
from tests.tables.conftest import AGE
from tests.tables.files import KINDS, put, read

PLAN = bp.Plan({"age": AGE, "id": "public"})
SECRET = 987654321


def release(source, target, plan=PLAN, **options):
    return privatize_file(source, target, plan, rng=bp.insecure_seed(1), **options)


@pytest.mark.grid(6)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "other",
    [
        {"age": [40], "ID": [SECRET]},
        {"age": [40], "id": [7], "ID": [SECRET]},
        {"age": [40], "ID": [SECRET], "id": [7]},
        {"AGE": [SECRET], "age": [40], "Id": [SECRET]},
    ],
    ids=["another case", "both, ours first", "both, ours last", "another case beside another"],
)
@pytest.mark.parametrize("first", [True, False])
def test_a_column_of_another_case_is_another_column_in_every_file_of_a_release(tmp_path, kind, other, first):
    """The first file is as the plan says, and the other one not, or the other way round."""
    names = ("part-1", "part-2") if first else ("part-2", "part-1")
    put(tmp_path / f"{names[0]}.{kind}", {"age": [40], "id": [7]})
    put(tmp_path / f"{names[1]}.{kind}", other)
    out = tmp_path / "out.csv"
    if kind == "jsonl" and "id" in other:
        # The rows of JSON lines name their own columns: one of another name is dropped, as in any table.
        release(tmp_path / f"part-*.{kind}", out)
        assert str(SECRET) not in out.read_text()
        return
    with pytest.raises(BipartiteError) as caught:
        release(tmp_path / f"part-*.{kind}", out)
    assert str(SECRET) not in str(caught.value) and not out.exists()


@pytest.mark.grid(3)
@pytest.mark.parametrize("kind", KINDS)
def test_a_plan_names_columns_exactly_in_one_file_too(tmp_path, kind):
    both = put(tmp_path / f"both.{kind}", {"ID": [SECRET], "age": [40], "id": [7], "id_1": [SECRET]})
    release(both, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text().splitlines()[1].split(",")[1] == "7"
    release(both, tmp_path / "rejecting.csv", reject=tmp_path / "rejected.csv")
    assert (tmp_path / "rejecting.csv").read_text() == (tmp_path / "out.csv").read_text()
    with pytest.raises(InputError, match="no column 'Id'"):
        release(both, tmp_path / "other.csv", bp.Plan({"age": AGE, "Id": "public"}))
    only = put(tmp_path / f"only.{kind}", {"ID": [SECRET], "age": [40]})
    with pytest.raises(InputError, match="no column 'id'"):
        release(only, tmp_path / "other.csv")


def test_columns_that_differ_in_case_alone_keep_their_places_in_several_parquet_files(tmp_path):
    for number in (1, 2):
        put(tmp_path / f"part-{number}.parquet", {"ID": [SECRET], "age": [40], "id": [number], "iD": [SECRET]})
    release(tmp_path / "part-*.parquet", tmp_path / "out.csv")
    assert [line.split(",")[1] for line in (tmp_path / "out.csv").read_text().splitlines()[1:]] == ["1", "2"]


@pytest.mark.grid(6)
@pytest.mark.parametrize("kind", ["parquet", "arrow"])
@pytest.mark.parametrize(
    "other",
    [
        {"age": [40.0], "id": [7]},
        {"age": [40], "id": ["7"]},
        {"age": [40], "id": [7], "more": [1]},
        {"id": [7], "age": [40]},
        {"age": [40]},
        {"age": [40], "id": [{"ID": 7}]},
    ],
    ids=["fraction", "text", "more", "order", "fewer", "nested"],
)
def test_files_of_other_names_types_or_order_are_not_released_together(tmp_path, kind, other):
    put(tmp_path / f"part-1.{kind}", {"age": [40], "id": [7]})
    put(tmp_path / f"part-2.{kind}", other)
    with pytest.raises(DataFileError, match=r"part-2\.\w+ has other columns than .*part-1.*, in name, type or order"):
        release(tmp_path / f"part-*.{kind}", tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


def test_names_within_structs_are_compared_too(tmp_path):
    for number, name in ((1, "a"), (2, "A")):
        put(tmp_path / f"part-{number}.parquet", {"age": [40], "id": [{name: 7}]})
    with pytest.raises(DataFileError, match="has other columns"):
        release(tmp_path / "part-*.parquet", tmp_path / "out.jsonl")


@pytest.mark.parametrize("kind", ["csv", "tsv"])
def test_text_files_keep_one_order_of_columns_and_all_have_a_header(tmp_path, kind):
    put(tmp_path / f"part-1.{kind}", {"age": [40], "id": [7]})
    for other in ({"id": [SECRET], "age": [40]}, {"55": [40], str(SECRET): [7]}):
        put(tmp_path / f"part-2.{kind}", other)
        with pytest.raises(DataFileError, match="has other columns") as caught:
            release(tmp_path / f"part-*.{kind}", tmp_path / "out.csv")
        assert str(SECRET) not in str(caught.value)


@pytest.mark.grid(5)
@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
@pytest.mark.parametrize("within", ["\n", "\r", "\r\n"])
def test_a_line_end_within_a_name_loses_no_rows(tmp_path, within, end):
    name = f"a{within}b"
    (tmp_path / "in.csv").write_bytes(f'"{name}",id{end}40,7{end}41,8{end}'.encode())
    plan = bp.Plan({name: AGE, "id": "public"})
    assert release(tmp_path / "in.csv", tmp_path / "out.csv", plan).rows == 2


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_a_name_that_stands_twice_is_refused_where_the_plan_reads_it(tmp_path, kind):
    twice = put(tmp_path / f"in.{kind}", [("age", [40]), ("id", [7]), ("id", [SECRET])])
    with pytest.raises(InputError, match="several columns named 'id'; rename all but one"):
        release(twice, tmp_path / "out.csv")
    elsewhere = put(tmp_path / f"in2.{kind}", [("x", [SECRET]), ("age", [40]), ("x", [1]), ("id", [7])])
    release(elsewhere, tmp_path / "out.csv", reject=tmp_path / "rejected.csv")
    assert (tmp_path / "out.csv").read_text().splitlines()[1].endswith(",7")


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("nested", [False, True])
def test_a_field_of_a_struct_is_not_the_column_whose_name_has_a_dot(tmp_path, first, nested):
    """Parquet gives both leaves one path; where the column was looked for in vain, the last one was released."""
    flat, struct = {"a.id": pa.array([7, 8])}, {"a": pa.array([{"id": 7}, {"id": 8}])}
    if nested:
        flat, struct = (
            {"b": pa.StructArray.from_arrays([each], [name])} for name, each in [*flat.items(), *struct.items()]
        )
    names = ("part-1", "part-2") if first else ("part-2", "part-1")
    for name, columns in zip(names, (flat, struct), strict=True):
        pq.write_table(pa.table({"age": [40, 41], **columns, "salary": [SECRET, SECRET]}), tmp_path / f"{name}.parquet")
    public = "b" if nested else "a.id" if first else "a"
    with pytest.raises(DataFileError, match=r"part-2\.parquet has other columns than .*part-1\.parquet"):
        release(tmp_path / "part-*", tmp_path / "out.jsonl", bp.Plan({"age": AGE, public: "public"}))
    assert not (tmp_path / "out.jsonl").exists()


def test_keys_of_json_may_be_left_out_of_some_rows_and_files(tmp_path):
    (tmp_path / "part-1.jsonl").write_text('{"id": 1, "age": 40}\n{"age": 41, "ID": 5}\n')
    (tmp_path / "part-2.jsonl").write_text('{"age": 42}\n')
    release(tmp_path / "part-*.jsonl", tmp_path / "out.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [row["id"] for row in rows] == [1, None, None]


@pytest.mark.parametrize("kind", KINDS)
def test_the_name_of_a_folder_replaces_nothing_in_a_release_or_an_estimate(tmp_path, kind):
    # By the names of columns, and by those that cells have in SQL.
    folder = tmp_path / "age=20" / "id=999" / "c0=20" / "c1=999" / 'json={"age":20,"id":999}'
    padded = bp.BRR(bp.Integers(18, 90), epsilon=1, edges="padded")  # estimated at once
    plan = bp.Plan({"age": padded, "id": "public"})
    inside = put(folder / f"people.{kind}", {"age": [80] * 50, "id": [7] * 50})
    beside = put(tmp_path / f"people.{kind}", {"age": [80] * 50, "id": [7] * 50})
    target = tmp_path / "age=30" / "id=999" / f"out.{kind}"
    target.parent.mkdir(parents=True)
    release(inside, target, plan)
    release(beside, tmp_path / f"out.{kind}", plan)
    assert target.read_bytes() == (tmp_path / f"out.{kind}").read_bytes()
    release(tmp_path / "age=*" / "id=*" / "**" / f"people.{kind}", tmp_path / "globbed.csv", plan)
    assert (tmp_path / "globbed.csv").read_text().count(",7\n") == 50
    found = estimate_file(target, by="id").columns["age"]
    assert list(found) == ["7"] and found["7"].mean == bp.estimate(padded, read(target)["age"]).mean


def test_columns_that_only_folders_name_are_not_there(tmp_path):
    inside = put(tmp_path / "id=999" / "people.parquet", {"age": [40]})
    with pytest.raises(InputError, match="no column 'id'"):
        release(inside, tmp_path / "out.csv")


def test_lines_within_a_cell_are_never_taken_for_rows(tmp_path):
    """Cells of a dropped column that read like rows to whoever begins in the middle of one: 8.8 MB, for two threads."""
    cell = "\n" + f"20,{SECRET},z\n" * 500 + f'20,{SECRET},""'
    source = tmp_path / "in.csv"
    source.write_text("age,id,note\n" + f'40,7,"{cell}"\n' * 1600 + f'40,7,"\n20,{SECRET},z"\n')
    for name, options in (("out.parquet", {}), ("rejecting.parquet", {"reject": tmp_path / "rejected.csv"})):
        assert release(source, tmp_path / name, **options).rows == 1601
        assert set(pq.read_table(tmp_path / name)["id"].to_pylist()) == {"7"}


def test_a_cell_too_many_is_one_even_where_it_is_empty(tmp_path):
    """As R writes a table with names of rows: the line would be read as if it began one cell later."""
    source = tmp_path / "in.csv"
    source.write_text(f"id,age\n7,40\n{SECRET},50,\n8,41\n")
    with pytest.raises(DataFileError, match="line 3 of .* has another number of cells than the first line"):
        release(source, tmp_path / "out.csv")
    assert release(source, tmp_path / "out.csv", reject=tmp_path / "rejected.csv").rejected == 1
    assert str(SECRET) not in (tmp_path / "out.csv").read_text()


def test_a_line_is_rejected_once_however_many_cells_it_has_too_many(tmp_path):
    source = tmp_path / "in.csv"
    source.write_text("id,age\n7,40\n7,40,1,2,3,4\n8,41\n")
    done = release(source, tmp_path / "out.csv", reject=tmp_path / "rejected.csv")
    assert (done.rows, done.rejected) == (3, 1)
    assert len((tmp_path / "rejected.csv").read_text().splitlines()) == 2


@pytest.mark.grid(6)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("change", ["replaced", "written over", "link"])
def test_a_file_that_changes_while_it_is_read_is_not_released(tmp_path, kind, change):
    """The columns of all files are checked first; a file put there later may hold a private column in their place."""
    one, two, other = (tmp_path / f"{name}.{kind}" for name in ("part-1", "part-2", "other"))
    put(one, {"age": [40] * 3, "id": [1, 2, 3], "salary": [SECRET] * 3})
    put(two, {"age": [40] * 3, "id": [4, 5, 6], "salary": [SECRET] * 3})
    put(other, {"age": [40] * 3, "salary": [SECRET] * 3, "id": [4, 5, 6]})
    if change == "link":
        two.rename(tmp_path / f"real.{kind}")
        two.symlink_to(tmp_path / f"real.{kind}")

    def swap(_done, _rows):
        if change == "replaced":
            if other.exists():
                other.replace(two)
        elif change == "written over":
            two.write_bytes(other.read_bytes())
        else:
            two.unlink()
            two.symlink_to(other)

    target = tmp_path / "out.jsonl"
    with pytest.raises(DataFileError, match=r"part-2.* changed while it was being read; release a copy"):
        privatize_file(tmp_path / "part-*", target, PLAN, progress=swap)
    assert not target.exists()


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_vanished_while_it_was_read_says_that_it_changed(tmp_path, monkeypatch, kind):
    for number in (1, 2):
        put(tmp_path / f"part-{number}.{kind}", {"age": [40], "id": [number]})
    check = bp.Plan.check_inputs

    def checked(plan, schema):
        check(plan, schema)
        (tmp_path / f"part-2.{kind}").unlink(missing_ok=True)

    monkeypatch.setattr(bp.Plan, "check_inputs", checked)
    with pytest.raises(DataFileError, match=r"part-2.* changed while it was being read; release a copy"):
        release(tmp_path / "part-*", tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


def test_a_file_swapped_behind_its_columns_sends_no_row_to_standard_output(tmp_path, monkeypatch, capfdbinary):
    source = put(tmp_path / "in.parquet", {"age": [40], "id": [7], "salary": [SECRET]})
    other = put(tmp_path / "other.parquet", {"age": [40], "salary": [SECRET], "id": [7]})
    check = bp.Plan.check_inputs

    def checked(plan, schema):
        check(plan, schema)
        if other.exists():
            other.replace(source)

    monkeypatch.setattr(bp.Plan, "check_inputs", checked)
    drawn = []
    with pytest.raises(DataFileError, match="changed while it was being read"):
        privatize_file(source, "-", PLAN, output_format="csv", progress=lambda *done: drawn.append(done))
    # Not even drawn: of a longer file, the first rows would be out before the last are read.
    assert not drawn and str(SECRET).encode() not in capfdbinary.readouterr().out
