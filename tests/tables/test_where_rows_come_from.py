"""Folders, file:// and other addresses, other delimiters and encodings: what may be named as the input."""

import csv
import io
import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bipartite as bp
from bipartite.errors import DataFileError, InputError
from bipartite.tables import formats, privatize_file
from bipartite.tables.answering import files_at
from bipartite.tables.drafting import first_plan
from bipartite.tables.formats import Asked, files_named
from tests.tables.conftest import AGE

PLAN = bp.Plan({"age": AGE, "town": "public"})


def release(source, target, **options):
    return privatize_file(source, target, PLAN, **options)


def towns(path):
    with path.open(encoding="utf-8", newline="") as file:
        return [row["town"] for row in csv.DictReader(file)]


def test_a_folder_stands_for_all_files_in_it(tmp_path):
    folder = tmp_path / "people"
    folder.mkdir()
    for number, town in ((2, "Oslo"), (1, "Rome")):
        pq.write_table(pa.table({"age": [40], "town": [town]}), folder / f"part-{number}.parquet")
    for passed_over in ("_SUCCESS", ".part-1.parquet.crc", "_metadata", "reports.csv.bipartite.json"):
        (folder / passed_over).write_text("x")
    assert release(folder, tmp_path / "out.csv").rows == 2 and towns(tmp_path / "out.csv") == ["Rome", "Oslo"]
    assert "[columns.town]" in first_plan(folder)
    with pytest.raises(InputError, match="would be inside the folder that is read"):
        release(folder, folder / "out.csv")
    (folder / "notes.txt").write_text("x")
    with pytest.raises(InputError, match="which its name does not show"):
        release(folder, tmp_path / "out2.csv")
    (folder / "notes.txt").unlink()
    (folder / "more.csv").write_text("age,town\n40,x\n")
    with pytest.raises(InputError, match="several formats"):
        release(folder, tmp_path / "out2.csv")
    (folder / "more.csv").unlink()
    (folder / "country=DE").mkdir()
    with pytest.raises(InputError, match="holds folders; select the files"):
        release(folder, tmp_path / "out2.csv")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="no files in"):
        release(tmp_path / "empty", tmp_path / "out2.csv")


@pytest.mark.grid(4)
@pytest.mark.parametrize(
    ("encoding", "written_as"),
    [("utf-8", "utf-8"), ("UTF_8", "utf-8-sig"), ("utf-16", "utf-16"), ("latin1", "latin-1")],
)
@pytest.mark.parametrize(("given", "mark"), [(";", ";"), ("|", "|"), ("\\t", "\t"), (None, ",")])
def test_other_delimiters_and_encodings_are_read_as_they_are_named(tmp_path, encoding, written_as, given, mark):
    text = f'age{mark}town\n40{mark}Köln\n50{mark}"a{mark}b"\n'
    (tmp_path / "in.csv").write_bytes(text.encode(written_as))
    options = {"delimiter": given, "encoding": encoding}
    release(tmp_path / "in.csv", tmp_path / "out.csv", **options)
    assert towns(tmp_path / "out.csv") == ["Köln", f"a{mark}b"]
    assert "[columns.town]" in first_plan(tmp_path / "in.csv", Asked(None, given, encoding))


@pytest.mark.parametrize(
    ("name", "options", "kind", "told"),
    [
        ("in.csv", {"delimiter": ";;"}, InputError, "delimiter= as one ASCII character"),
        ("in.csv", {"delimiter": '"'}, InputError, "delimiter= as one ASCII character"),
        ("in.csv", {"delimiter": "§"}, InputError, "delimiter= as one ASCII character"),
        ("in.jsonl", {"delimiter": ";"}, InputError, "apply to CSV"),
        ("in.parquet", {"encoding": "latin-1"}, InputError, "apply to CSV"),
        ("in.csv", {"encoding": "klingon"}, InputError, "as the name of an encoding.* got 'klingon'; convert"),
        ("in.csv", {"encoding": "hex"}, InputError, "encoding= as the name of an encoding"),
        ("in.csv", {"encoding": "utf-16"}, DataFileError, "does not start with the byte order mark"),
    ],
)
def test_options_that_cannot_be_followed_are_refused(tmp_path, name, options, kind, told):
    (tmp_path / name).write_text("age,town\n40,x\n")
    with pytest.raises(kind, match=told):
        release(tmp_path / name, tmp_path / "out.csv", **options)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_utf_16_says_which_end_comes_first(tmp_path):
    content = "age,town\n40,x\n".encode("utf-16-be")
    (tmp_path / "in.csv").write_bytes(b"\xfe\xff" + content)
    assert release(tmp_path / "in.csv", tmp_path / "out.csv", encoding="utf-16").rows == 1
    (tmp_path / "in.csv").write_bytes(content)
    with pytest.raises(DataFileError, match="does not start with the byte order mark of UTF-16; save it with one"):
        release(tmp_path / "in.csv", tmp_path / "out2.csv", encoding="utf-16")


def test_an_encoding_is_not_guessed(tmp_path):
    (tmp_path / "in.csv").write_bytes("age,größe,town\n40,1,x\n".encode("latin-1"))
    with pytest.raises(DataFileError, match="the first line of .* is not UTF-8 text; .* with encoding="):
        release(tmp_path / "in.csv", tmp_path / "out.csv")


def test_file_addresses_are_files_of_this_machine(tmp_path):
    source = tmp_path / "people of Köln.csv"
    source.write_text("age,town\n40,x\n")
    release(source.as_uri(), (tmp_path / "out.csv").as_uri())
    assert towns(tmp_path / "out.csv") == ["x"]
    assert files_named(f"file://localhost{source.as_posix()}") == [source]
    assert "[columns.age]" in first_plan(source.as_uri())
    with pytest.raises(InputError, match="on this machine"):
        release("file://elsewhere/people.csv", tmp_path / "out2.csv")


@pytest.mark.parametrize("address", ["s3://b/p.parquet", "https://example.org/p.csv", "gs://b/p.jsonl", "az://b/p.csv"])
def test_addresses_elsewhere_are_refused_and_nothing_is_fetched(tmp_path, address):
    (tmp_path / "in.csv").write_text("age,town\n40,x\n")
    for act in (
        lambda: release(address, tmp_path / "out.csv"),
        lambda: release(tmp_path / "in.csv", address),
        lambda: first_plan(address),
    ):
        with pytest.raises(InputError, match="is not on this machine; download what is read, and upload"):
            act()
    assert [each.name for each in tmp_path.iterdir()] == ["in.csv"]


@pytest.mark.parametrize("link", ["symlink_to", "hardlink_to"])
def test_one_file_under_two_names_is_not_released_twice(tmp_path, link):
    """Its rows would spend twice what the release says."""
    folder = tmp_path / "people" / "2024"
    folder.mkdir(parents=True)
    (folder / "1.csv").write_text("age,town\n40,Rome\n")
    getattr(folder / "latest.csv", link)(folder / "1.csv")
    for source in (folder, folder / "*.csv"):
        with pytest.raises(InputError, match=r"1\.csv and .*latest\.csv are the same file"):
            release(source, tmp_path / "out.csv")
    (folder / "latest.csv").unlink()
    (tmp_path / "people" / "now").symlink_to(folder)
    with pytest.raises(InputError, match="are the same file, which would be read twice; name it once"):
        release(tmp_path / "people" / "**" / "*.csv", tmp_path / "out.csv")


@pytest.mark.parametrize("held", [b"Lovelace,40\n" * 9, b"", b"\xff\xff\xff\xff\x10\0\0\0Lovelace, Ada Lovelace"])
def test_standard_input_that_is_no_arrow_stream_is_named_and_not_shown(tmp_path, monkeypatch, held):
    """Arrow's own message writes the first bytes as a number."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(held)))
    with pytest.raises(
        DataFileError, match=r"^standard input is not an Arrow stream; it may be truncated, or input_format="
    ):
        release("-", tmp_path / "out.csv", input_format="arrow")


@pytest.mark.parametrize("name", ["people.csv", "", "*.csv"])
def test_a_pipe_that_is_named_as_a_file_is_refused_before_it_is_opened(tmp_path, name):
    """Files are opened more than once: a pipe would lose the rows that were read first, or wait for ever."""
    folder = tmp_path / "people"
    folder.mkdir()
    os.mkfifo(folder / "people.csv")
    (folder / "more.csv").write_text("age,town\n40,x\n")
    for read in (
        lambda source: release(source, tmp_path / "out.csv"),
        first_plan,
        lambda source: files_at([source]),
    ):
        with pytest.raises(InputError, match=r"people\.csv is not a regular file.*to `bipartite privatize -`"):
            read(f"{folder}/{name}")
    assert not (tmp_path / "out.csv").exists()


def test_a_pipe_of_the_shell_is_refused_and_not_released_as_no_rows(tmp_path):
    way_in, way_out = os.pipe()
    os.write(way_out, b"age,town\n40,x\n")
    os.close(way_out)
    try:
        with pytest.raises(InputError, match="is not a regular file"):
            release(f"/dev/fd/{way_in}", tmp_path / "out.csv", input_format="csv")
    finally:
        os.close(way_in)
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("kind", formats.KINDS)
def test_a_first_plan_needs_a_file_and_says_so_of_standard_input(kind):
    with pytest.raises(InputError, match="needs a file, not standard input; save the table as one"):
        first_plan("-", Asked(kind))
