"""What is said when a file cannot be read: the right reason, the place, and nothing that stood there."""

import csv
import errno
import gzip
import io
import json
import os
import resource
import sys
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bipartite as bp
from bipartite.errors import BipartiteError, DataFileError, MissingExtraError
from bipartite.tables import Column, estimate_file, extras, privatize_file
from bipartite.tables.drafting import first_plan
from bipartite.tables.extras import unreadable
from tests.tables.conftest import AGE
from tests.tables.files import put

SECRET = "Ada Lovelace has the flu"  # noqa: S105
PLAN = bp.Plan({"age": Column(AGE, outside="clip"), "who": "public"})


def release(source, target, **options):
    return privatize_file(source, target, PLAN, **options)


def chain(error):
    """An error, and all that hangs on it."""
    found = []
    while error is not None and error not in found:
        found.append(error)
        error = error.__cause__ or error.__context__
    return found


def error_of(act, path):
    """What a function raises; None where it works."""
    try:
        act(path)
    except Exception as error:  # noqa: BLE001
        return error
    return None


def damaged(folder):
    """Files of every format that cannot be read to their end, with a secret in them."""
    rows = 3000
    text = f"age,who\n40,x\n41,{SECRET}\n"
    named = {
        "short.csv": text + f"{SECRET}\n",
        "long.csv": text + f"42,{SECRET},{SECRET}\n",
        "quote.csv": text + f'43,"{SECRET}\n',
        "letters.csv": text.encode() + b"44," + SECRET.encode() + b"\xff\xfe\n",
        "cells.tsv": text.replace(",", "\t") + f"{SECRET}\n",
        "cut.csv.gz": gzip.compress((text * rows).encode())[:-20],
        "cut.jsonl": json.dumps({"age": 40, "who": SECRET}) + '\n{"age": 41, "who": "' + SECRET,
        "list.jsonl": json.dumps({"age": 40, "who": SECRET}) + "\n" + json.dumps([SECRET]) + "\n",
        "words.jsonl": f"{SECRET}\n",
        "first.jsonl": json.dumps([40, SECRET]) + "\n",
        "text.jsonl": json.dumps(SECRET) + "\n" + json.dumps({"age": 40, "who": SECRET}) + "\n",
        "header.csv": f"{SECRET},{SECRET}\n40,x\n",
        "headless.csv": f"{SECRET},40\n{SECRET},41\n",
    }
    table = pa.table({"age": [40] * rows, "who": [f"{SECRET} {at}" for at in range(rows)]})
    pq.write_table(table, folder / "whole.parquet", compression="none", use_dictionary=False)
    raw = bytearray((folder / "whole.parquet").read_bytes())
    (folder / "whole.parquet").unlink()
    named["cut.parquet"] = bytes(raw[: len(raw) // 2])
    raw[20:4000] = b"\xff" * 3980
    named["pages.parquet"] = bytes(raw)
    whole = put(folder / "whole.arrow", table, 100).read_bytes()
    (folder / "whole.arrow").unlink()
    named["cut.arrow"] = whole[: len(whole) // 2]
    for name, content in named.items():
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return sorted(named)


def test_no_error_about_a_file_carries_what_stood_there_not_even_the_errors_behind_it(tmp_path):
    (tmp_path / "in").mkdir()
    for at, name in enumerate(damaged(tmp_path / "in")):
        out = tmp_path / ("out.csv" if at % 2 else "out.parquet")
        for act in (lambda path, out=out: release(path, out), first_plan):
            error = error_of(act, tmp_path / "in" / name)
            if act is first_plan and error is None:  # it reads the first rows alone
                continue
            assert isinstance(error, (BipartiteError, OSError)), name
            for each in chain(error):
                assert "Lovelace" not in f"{each} {each!r} {each.args}", (name, type(each))
        assert [each.name for each in tmp_path.iterdir()] == ["in"]


@pytest.mark.parametrize("source", ["file", "standard input"])
def test_a_broken_line_of_json_has_its_number(tmp_path, monkeypatch, source):
    lines = ['{"age": 40, "who": "x"}'] * 5000
    for at, wrong, message in (
        (0, '{"age": 41', "line 3 of {} is not valid JSON; repair it."),
        (3999, '{"age": 41', "line 4,002 of {} is not valid JSON; repair it."),
        (4999, '{"age": 41}}', "line 5,002 of {} is not valid JSON; repair it."),
        (5, '{"age": NaN}', "line 8 of {} is not valid JSON; repair it."),
        (6, '{"age": "\\ud800"}', "line 9 of {} is not UTF-8 text; repair it."),
        (17, '{"age": 41, "who": "y", "age": 42}', "line 20 of {} repeats a key; repair it."),
        (17, "[41]", "line 20 of {} is not a JSON object; repair it."),
    ):
        text = "".join(f"{line}\n" for line in ["", "", *lines[:at], wrong, "", *lines[at + 1 :]])
        (tmp_path / "in.jsonl").write_text(text, encoding="utf-8")
        named = {"input_format": "jsonl"} if source != "file" else {}
        with (tmp_path / "in.jsonl").open("rb") as held:
            monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=held))
            with pytest.raises(DataFileError) as caught:
                release("-" if named else tmp_path / "in.jsonl", tmp_path / "out.parquet", **named)
        assert str(caught.value) == message.format("standard input" if named else tmp_path / "in.jsonl")


def test_an_error_of_an_estimate_carries_no_cell(tmp_path):
    (tmp_path / "in.csv").write_text("age,who\n40,x\n41,y\n")
    release(tmp_path / "in.csv", tmp_path / "out.csv")
    (tmp_path / "out.csv").write_text(f"age,who\n40,x\n{SECRET},y\n")
    with pytest.raises(BipartiteError) as caught:
        estimate_file(tmp_path / "out.csv")
    assert len(chain(caught.value)) == 1


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b'age,who\n40,"quote\n', "in.csv has an unclosed quotation mark; close it.$"),
        (b"age,who\n40,x\n50\n", "line 3 of .*in.csv has another number of cells .* out with reject="),
        (b"age,who\n40,a quote of unicode,utf-8\n", "line 2 of .*in.csv has another number of cells"),
        (b"age,who\n40,Number of Columns\xff\n", "line 2 of .*in.csv is not UTF-8 text; .* encoding with encoding="),
    ],
)
def test_the_reason_is_told_by_what_happened_and_not_by_the_words_of_a_line(tmp_path, content, told):
    (tmp_path / "in.csv").write_bytes(content)
    acts = [lambda source: release(source, tmp_path / "out.csv"), first_plan]
    if "another number of cells" not in told:
        # Nor can it be rejected: one quotation mark too many would swallow all rows behind it as one rejected row.
        acts.append(lambda source: release(source, tmp_path / "out.csv", reject=tmp_path / "rejected.csv"))
    for act in acts:
        with pytest.raises(DataFileError, match=told) as caught:
            act(tmp_path / "in.csv")
        # The format is not at fault; and where reports go to standard output, some are released by then.
        assert "input_format" not in str(caught.value) and "nothing was released" not in str(caught.value)
        assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]


@pytest.mark.grid(4)
@pytest.mark.parametrize("mark", [";", "\t", " ", "|"])
@pytest.mark.parametrize("quote", ['"', ""])
def test_another_mark_between_names_is_not_called_an_empty_file(tmp_path, mark, quote):
    line = mark.join(f"{quote}{name}{quote}" for name in ("age", "who"))
    (tmp_path / "in.csv").write_text(f"{line}\n40{mark}x\n")
    told = (
        "cannot be split into cells at ','; name the delimiter with delimiter="
        if quote
        else "with the delimiter ',' \\(delimiter="
    )
    with pytest.raises(BipartiteError, match=told):
        release(tmp_path / "in.csv", tmp_path / "out.csv")
    assert release(tmp_path / "in.csv", tmp_path / "out.csv", delimiter=mark).rows == 1
    if quote:
        with pytest.raises(DataFileError, match=told):
            first_plan(tmp_path / "in.csv")


def test_too_many_open_files_are_called_so():
    said = OSError(errno.EMFILE, os.strerror(errno.EMFILE), "a file")
    told = unreadable(said)
    assert isinstance(told, OSError) and "too many files are open" in str(told) and "ulimit -n" in str(told)
    assert "permission" in str(unreadable(PermissionError(errno.EACCES, "Permission denied"))).lower()


def test_many_arrow_files_are_open_one_at_a_time(tmp_path):
    table = pa.table({"age": [40], "who": ["x"]})
    for number in range(60):
        put(tmp_path / f"part-{number:02}.arrow", table)
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    used = len(list(Path("/proc/self/fd").iterdir()))
    resource.setrlimit(resource.RLIMIT_NOFILE, (used + 40, before[1]))
    try:
        assert release(tmp_path / "part-*.arrow", tmp_path / "out.csv").rows == 60
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_a_library_that_cannot_be_loaded_is_not_called_missing(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "broken_library.py").write_text("raise ImportError('numpy.core.multiarray failed to import')")
    (tmp_path / "needs_another.py").write_text("import a_module_that_is_not_there")
    with pytest.raises(MissingExtraError, match=r"broken_library, which is installed but cannot be loaded \(numpy"):
        extras.need("broken_library")
    with pytest.raises(MissingExtraError, match=r"needs_another, which is installed but cannot be loaded \(No module"):
        extras.need("needs_another")
    for missing in ("a_module_that_is_not_there", "a_module_that_is_not_there.part"):
        with pytest.raises(MissingExtraError, match="a_module_that_is_not_there, which is not installed"):
            extras.need(missing)
    assert "broken_library" not in sys.modules


@pytest.mark.parametrize("kind", ["csv", "tsv", "csv.gz"])
def test_rows_of_another_number_of_cells_are_rejected_where_that_is_asked_for(tmp_path, kind):
    text = f'age,who\n40,x\n{SECRET}\n17,y\n41,z,{SECRET}\n50,"a\nb"\n,\n51,w\n'
    content = (text.replace(",", "\t") if kind == "tsv" else text).encode()
    (tmp_path / f"in.{kind}").write_bytes(gzip.compress(content) if kind == "csv.gz" else content)
    plan = bp.Plan({"age": AGE, "who": "public"})
    rejected = tmp_path / "rejected.csv"
    done = privatize_file(tmp_path / f"in.{kind}", tmp_path / "out.csv", plan, reject=rejected)
    assert (done.rows, done.rejected) == (7, 4)
    with (tmp_path / "out.csv").open(newline="") as file:
        assert [row["who"] for row in csv.DictReader(file)] == ["x", "a\nb", "w"]
    with rejected.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["bipartite_row"], row["bipartite_reason"], row["who"]) for row in rows] == [
        ("2", "age: outside", "y"),
        ("4", "age: missing", ""),
        ("", "line 3 has another number of cells than the first line", ""),
        ("", "line 5 has another number of cells than the first line", ""),
    ]
    mark = "\t" if kind == "tsv" else ","
    assert [row["bipartite_line"] for row in rows] == ["", "", SECRET, f"41{mark}z{mark}{SECRET}"]


def test_a_file_of_nothing_but_rows_of_another_number_of_cells(tmp_path):
    (tmp_path / "in.csv").write_text(f"age,who\n{SECRET}\n")
    done = release(tmp_path / "in.csv", tmp_path / "out.csv", reject=tmp_path / "rejected.csv")
    assert (done.rows, done.rejected) == (1, 1)
    assert SECRET in (tmp_path / "rejected.csv").read_text() and not (tmp_path / "out.csv").exists()


def test_several_files_and_standard_input_reject_by_cells_too(tmp_path, monkeypatch):
    for name in ("part-1.csv", "part-2.csv"):
        (tmp_path / name).write_text("age,who\n40,x\n41\n")
    done = release(tmp_path / "part-*.csv", tmp_path / "out.csv", reject=tmp_path / "rejected.csv")
    assert (done.rows, done.rejected) == (4, 2)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"age,who\n40,x\n41\n")))
    done = release("-", tmp_path / "o.csv", input_format="csv", reject=tmp_path / "r.csv")
    assert (done.rows, done.rejected) == (2, 1)
    assert (tmp_path / "r.csv").read_text().splitlines()[1].endswith('"41"')


def test_what_a_reader_says_of_a_row_is_neither_told_nor_carried_along(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise pa.ArrowInvalid(f"cannot read {SECRET}")

    monkeypatch.setattr(pq.ParquetFile, "read_row_group", refuse)
    source = put(tmp_path / "in.parquet", {"age": [40], "who": [SECRET]})
    with pytest.raises(DataFileError, match=r"the input cannot be read \(ArrowInvalid\)") as caught:
        release(source, tmp_path / "out.csv")
    assert chain(caught.value) == [caught.value] and SECRET not in str(caught.value)
