"""``bipartite plan``, ``privatize`` and ``estimate`` of a released table: from a CSV file to answers."""

import csv
import errno
import json
import os
import signal
import subprocess
import sys
import threading
import tomllib
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bipartite as bp
from bipartite.cli import main, output
from bipartite.tables.extras import unreadable
from tests.cli.schemas import conforms

PLAN = """
[columns.age]
domain = { integers = [18, 90] }
epsilon = 1
edges = "padded"

[columns.job]
domain = { categories = ["nurse", "teacher", "other"] }
epsilon = 0.5
outside = { as = "other" }
nulls = "keep"

[columns.country]
public = true
"""


@pytest.fixture
def typed_at(run, monkeypatch):
    """A command with somebody at the terminal, who types these lines."""

    def typing(lines, *arguments):
        with monkeypatch.context() as patch:
            patch.setattr("bipartite.cli.plan.at_a_terminal", lambda: True)
            return run(*arguments, stdin="\n".join(lines) + "\n")

    return typing


@cache
def people():
    draw = np.random.default_rng(5)
    drawn = (
        draw.integers(18, 91, 2000),
        *(draw.choice(names, 2000) for names in (["nurse", "teacher", "pilot"], ["DE", "FR"])),
    )
    rows = "".join(f"{age},{job},{country},1990-01-01,1.5,true\r\n" for age, job, country in zip(*drawn, strict=True))
    return f"age,job,country,born,score,member\r\n{rows}"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "people.csv").write_text(people(), newline="")
    (tmp_path / "plan.toml").write_text(PLAN)
    return tmp_path


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_has_an_exit_code_of_its_own(run, files, monkeypatch, code):
    def full(*_):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr("bipartite.tables.releasing.flush", full)
    found, _, err = run("privatize", files / "people.csv", files / "out.csv", "--plan", files / "plan.toml")
    assert found == output.DISK_FULL == 5 and os.strerror(code) in err
    assert sorted(each.name for each in files.iterdir()) == ["people.csv", "plan.toml"]
    said = unreadable(OSError(f"[Errno] {os.strerror(code)}"), "the output", "written")
    assert said.errno == code and "no space is left" in str(said)
    # Of other commands too, also where an error in words of ours stands for that of the system.
    with bp.Ledger(files / "spent.db", budget=1):
        pass
    monkeypatch.setattr("bipartite.ledger.copying.flush", full)
    found, _, err = run("ledger", "backup", files / "spent.db", files / "copy.db")
    assert found == output.DISK_FULL and "copy.db cannot be created" in err


def test_where_a_link_is_overwritten_it_is_said_what_stays(run, files):
    (files / "old.csv").write_text("old")
    (files / "out.csv").symlink_to("old.csv")
    options = ("--plan", files / "plan.toml", "--overwrite")
    code, _, err = run("privatize", files / "people.csv", files / "out.csv", *options)
    wanted = "out.csv is a link to old.csv, which stays as it is; the link is replaced by a file.\n"
    assert code == 0 and f"bipartite: --overwrite: {files}/{wanted}" in err
    assert (files / "old.csv").read_text() == "old" and not (files / "out.csv").is_symlink()
    assert "is a link" not in run("privatize", files / "people.csv", files / "out.csv", *options)[2]


def test_a_first_plan_knows_names_and_nothing_of_the_values(run, files):
    code, out, err = run("plan", "new", files / "people.csv")
    assert code == 0 and "itself a release" in err
    for each in (
        "# A draft plan. Looked at: the names in the first line, and whether the first rows can be split",
        "No cell decided anything.",
        'domain = { integers = ["TODO", "TODO"] }',
        "# m: run plan check once domain and epsilon are filled in",
        'domain = { categories = ["TODO", "other", "no answer"] }',
        '[columns.score]\nfor = "statistics"  # means, shares and medians of many people\ndomain = "TODO"  # numbers: ',
        "[columns.born]",
    ):
        assert each in out
    assert out.count('for = "statistics"') == 6 and out.count('edges = "padded"') == 1 and "\nm = " not in out
    for value in ("nurse", "pilot", "90", "DE", "1.5", "1990"):
        assert value not in out
    code, out, _ = run("plan", "new", files / "people.csv", "--output", files / "first.toml")
    assert (
        code == 0 and out == "" and run("plan", "new", files / "people.csv", "--output", files / "first.toml")[0] == 2
    )
    code, _, err = run("plan", "check", files / "first.toml")
    assert code == 2 and "columns.age: domain still says TODO" in err and "columns.job: epsilon still says TODO" in err
    assert "TODO" not in run("plan", "check", files / "plan.toml")[1]


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl"])
def test_no_cell_of_a_text_file_decides_about_a_first_plan(run, tmp_path, kind):
    plans = set()
    for cells in ([40, 52_000, "DE"], [41.5, "n/a", 7], ["x", "2020-01-01", True], ["", "", ""], [1, {"a": 1}, [1]]):
        lines = [["age", "income", "anything"], [json.dumps(cell) for cell in cells]]
        mark = {"csv": ";", "tsv": "\t"}.get(kind, "")
        text = "".join(mark.join(line) + "\n" for line in lines)
        if kind == "jsonl":
            text = json.dumps(dict(zip(lines[0], cells, strict=True))) + "\n"
        (tmp_path / f"people.{kind}").write_text(text)
        code, out, err = run("plan", "new", tmp_path / f"people.{kind}", *["--delimiter", ";"] * (kind == "csv"))
        assert code == 0, err
        plans.add(out)
    assert len(plans) == 1
    assert sorted(line[:19] for line in plans.pop().splitlines() if line.startswith("domain")) == [
        'domain = "TODO"  # ',
        "domain = { integers",
        "domain = { interval",
    ]


def test_who_omits_a_key_does_not_decide_about_the_order_of_a_first_plan(run, tmp_path):
    plans = []
    for first, second in (({"sick": 1, "age": 2}, {"sick": 1, "age": 2}), ({"sick": 1, "age": 2}, {"age": 2})):
        (tmp_path / "people.jsonl").write_text(f"{json.dumps(first)}\n{json.dumps(second)}\n")
        plans.append(run("plan", "new", tmp_path / "people.jsonl")[1])
    assert plans[0] == plans[1] and plans[0].index("[columns.age]") < plans[0].index("[columns.sick]")


def test_declared_types_decide_where_there_are_any_and_the_plan_says_so(run, tmp_path):
    pq.write_table(pa.table({"a": [1], "b": [1.5], "c": [True], "age": ["x"]}), tmp_path / "t.parquet")
    out = run("plan", "new", tmp_path / "t.parquet")[1]
    assert "Looked at: the names of the columns, and the types that the file declares. No cell" in out
    kinds = [line.split()[3] for line in out.splitlines() if line.startswith("domain = {")]
    assert kinds == ["integers", "interval", "categories", "categories"] and '"false", "true"' in out


def test_blanks_after_the_marks_between_cells_belong_to_no_name_and_no_label(run, tmp_path):
    (tmp_path / "in.csv").write_text("age, job, city\n40, nurse, Rome\n50, teacher ,Oslo\n60,  a b, Bonn\n")
    first = run("plan", "new", tmp_path / "in.csv")[1]
    assert "[columns.job]" in first and "[columns.city]" in first and first.count("integers = ") == 1
    labels = '["nurse", "teacher", "  a b", "a b"]'  # at ε = 30 a report is another one than the value once in 10^12
    (tmp_path / "plan.toml").write_text(
        f"[columns.job]\ndomain = {{ categories = {labels} }}\nepsilon = 30\n[columns.city]\npublic = true\n"
    )
    code, _, err = run("privatize", tmp_path / "in.csv", tmp_path / "out.csv", "--plan", tmp_path / "plan.toml")
    assert code == 0, err
    assert (tmp_path / "out.csv").read_text().splitlines() == ["job,city", "nurse, Rome", "teacher,Oslo", "  a b, Bonn"]
    (tmp_path / "in.csv").write_text("job,city\npilot,Rome\n")
    code, _, err = run("privatize", tmp_path / "in.csv", tmp_path / "2.csv", "--plan", tmp_path / "plan.toml")
    assert code == 3 and "check that they are spelled as in the plan" in err


def test_a_plan_is_shown_with_its_own_names_of_mechanisms(run, tmp_path):
    (tmp_path / "plan.toml").write_text(
        '[columns.age]\ndomain = { integers = [18, 90] }\nmechanism = "square-wave"\nepsilon = 1\n'
    )
    assert "square-wave" in run("plan", "show", tmp_path / "plan.toml")[1]
    shown = json.loads(run("plan", "show", tmp_path / "plan.toml", "--json")[1])
    assert shown["columns"][0]["mechanism"] == "square-wave"


def test_plans_come_from_every_format_with_odd_names(run, files):
    table = pa.table(
        {'odd "name"': [1], "ü\x7f": ["x"], "nested": [[1]], "dec": pa.array([1]).cast(pa.decimal128(38, 1))}
    )
    pq.write_table(table, files / "t.parquet")
    with pa.ipc.new_file(files / "t.arrow", table.schema) as file:
        file.write_table(table)
    with pa.ipc.new_stream(files / "s.arrow", table.schema) as file:
        file.write_table(table)
    (files / "t.jsonl").write_text('{"a": 1, "b": "x"}\n')
    for name in ("t.parquet", "t.arrow", "s.arrow", "t.jsonl"):
        code, out, _ = run("plan", "new", files / name)
        assert code == 0 and tomllib.loads(out)["columns"]
    (files / "visits.jsonl").write_text('{"visits": {"some clinic": 1}, "more": [{"ward 7": 1}]}\n')
    out = run("plan", "new", files / "visits.jsonl")[1]
    assert "Looked at: the keys in the first rows, as names. No cell" in out
    assert "[columns.visits]" in out and "clinic" not in out and "ward" not in out
    assert "# nested is of type list, which no domain supports" in run("plan", "new", files / "t.parquet")[1]
    assert '[columns."odd \\"name\\""]' in run("plan", "new", files / "t.parquet")[1]
    assert run("plan", "new", files / "nowhere.csv")[0] == 4
    (files / "bad.parquet").write_text("x")
    assert run("plan", "new", files / "bad.parquet")[0] == 3
    assert run("plan", "new", files / "t.jsonl", "--json")[0] == 2
    assert run("plan", "show", files / "plan.toml", "--from", "csv")[0] == 2


NO_NAMES = {
    "as R writes": ("age,job\n1,40,Lovelace\n2,50,Turing\n", "has another number of cells"),
    "more cells": ("age,job\nLovelace,40,x\nTuring,50,y\n", "another number of cells"),
    "number": ("Lovelace,40\nTuring,50\n", "confirm with --header"),
    "date": ("Lovelace,1815-12-10\nTuring,1912-06-23\n", "confirm with --header"),
    "truth": ("Lovelace,true\nTuring,false\n", "confirm with --header"),
    "mail": ("Lovelace,ada@example.org\nTuring,alan@example.org\n", "confirm with --header"),
    "street": ("Lovelace,12 St James's Square\nTuring,2 Warrington Crescent\n", "confirm with --header"),
    "money": ("Lovelace,€40\nTuring,€50\n", "confirm with --header"),
    "other mark": ("Lovelace;x\nTuring;y\n", "delimiter with --delimiter"),
    "spaces": ("Lovelace 40 x\nTuring 50 y\n", "confirm with --header"),
    "JSON": ('{"name": "Lovelace"}\n{"name": "Turing"}\n', "confirm with --header"),
    "twice": ("Lovelace,Lovelace\nTuring,Turing\n", "more than once"),
    "empty": ("Lovelace,\nTuring,\n", "without a name"),
}


@pytest.mark.parametrize("case", NO_NAMES)
def test_a_first_plan_takes_no_names_from_a_persons_row(run, files, case):
    content, told = NO_NAMES[case]
    (files / "odd.csv").write_text(content)
    code, out, err = run("plan", "new", files / "odd.csv")
    assert (code, out) == (3, "") and told in err and "Lovelace" not in err and "Turing" not in err
    (files / "odd.tsv").write_text(content.replace(",", "\t"))
    code, out, err = run("plan", "new", files / "odd.tsv")
    assert (code, out) == (3, "") and told in err and "Lovelace" not in err


def test_names_that_look_like_values_are_names_where_one_says_so(run, files):
    (files / "years.csv").write_text("who,2019,2020\nAda,1,2.5\n")
    code, out, _ = run("plan", "new", files / "years.csv", "--header")
    assert code == 0 and "[columns.2019]" in out and "Ada" not in out
    assert run("plan", "show", files / "plan.toml", "--header")[0] == 2


def test_a_release_does_not_guess_names_from_a_persons_row(run, files):
    (files / "headless.csv").write_text("40,nurses,Germany\n50,teachers,France\n")
    (files / "job.toml").write_text('[columns.nurse]\ndomain = { categories = ["a", "b"] }\nepsilon = 1\n')
    code, _, err = run("privatize", files / "headless.csv", files / "out.csv", "--plan", files / "job.toml")
    assert code == 2 and "no column 'nurse'" in err and "nurses" not in err and "is its first line a header" in err


def test_a_first_plan_for_several_files_of_one_kind(run, files):
    for number in (1, 2):
        pq.write_table(pa.table({"age": [number], "ID": [number]}), files / f"part-{number}.parquet")
    code, out, _ = run("plan", "new", files / "part-*.parquet")
    assert code == 0 and "[columns.age]" in out and "[columns.ID]" in out
    pq.write_table(pa.table({"age": [1], "id": [1]}), files / "part-3.parquet")
    code, out, err = run("plan", "new", files / "part-*.parquet")
    assert (code, out) == (3, "") and "has other columns" in err
    inside = files / "age=20" / "in.parquet"
    inside.parent.mkdir()
    pq.write_table(pa.table({"id": ["x"]}), inside)
    assert "age" not in run("plan", "new", inside)[1].partition("[columns")[2]


def test_the_options_of_files_reach_the_release(run, files):
    rows = (files / "people.csv").read_text().replace(",", ";").replace("DE", "Köln")
    (files / "semi.csv").write_bytes(rows.encode("latin-1"))
    said = ("--delimiter", ";", "--encoding", "latin-1")
    code, out, _ = run("plan", "new", files / "semi.csv", *said)
    assert code == 0 and "[columns.age]" in out
    for option in said[::2]:
        assert run("plan", "check", files / "plan.toml", option, "x")[0] == 2
    code, _, err = run("privatize", files / "semi.csv", files / "out.parquet", "--plan", files / "plan.toml", *said)
    assert code == 0 and "2,000 rows released" in err
    code, out, _ = run("estimate", files / "out.parquet", "--by", "country", "--nulls", "drop", "--column", "age")
    assert code == 0 and "Köln" in out


def test_a_plan_shows_what_a_row_spends_and_what_is_published(run, files):
    code, out, _ = run("plan", "show", files / "plan.toml")
    assert code == 0 and "A row spends ε = 1.5" in out and "'job': which values are missing" in out and "holds" in out
    code, out, _ = run("plan", "check", files / "plan.toml", "--json")
    found = conforms(out, "plan")
    assert found["epsilon"] == "1.5" and [each["name"] for each in found["columns"]] == ["age", "job"]
    assert all(each["holds"] for each in found["columns"])


def test_names_and_groups_forge_no_line_from_a_plan_to_its_answers(run, typed_at, tmp_path):
    evil = "score\nFORGED: ε = 0\x1b[2J\u202e"
    with (tmp_path / "in.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([[evil, "g"], *[[3, evil], [4, "y"]] * 100])
    told = [typed_at(["0 9", "1", "public"], "plan", "new", tmp_path / "in.csv", "--output", tmp_path / "plan.toml")]
    told.append(run("plan", "new", tmp_path / "in.csv"))
    assert tomllib.loads((tmp_path / "plan.toml").read_text(encoding="utf-8"))["columns"].keys() == {evil, "g"}
    plan = ("--plan", tmp_path / "plan.toml")
    told += [run("plan", action, plan[1]) for action in ("check", "show")]
    told.append(run("plan", "check", plan[1], "--n", 100))
    told.append(run("privatize", tmp_path / "in.csv", tmp_path / "out.csv", *plan))
    told.append(run("estimate", tmp_path / "out.csv", "--by", "g", "--html", tmp_path / "out.html"))
    assert [code for code, *_ in told] == [0] * len(told), told
    told += [run("estimate", tmp_path / "out.csv", "--column", "x"), run("plan", "check", tmp_path / evil)]
    (tmp_path / "broken.toml").write_text(f"[columns.{json.dumps(evil)}]\nepsilon = 0\n")
    told.append(run("plan", "check", tmp_path / "broken.toml"))
    shown = "".join(out + err for _, out, err in told) + (tmp_path / "out.html").read_text(encoding="utf-8")
    assert shown.count("FORGED") > 10 and "\nFORGED" not in shown and not set("\x1b\u202e") & set(shown)


def test_from_a_table_to_answers(run, files):
    out = files / "reports.csv"
    code, _, err = run("privatize", files / "people.csv", out, "--plan", files / "plan.toml", "--insecure-seed", 3)
    assert code == 0 and "2,000 rows released; NOT PRIVATE" in err and "ε = " not in err
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert list(rows[0]) == ["age", "job", "country"]
    by_hand = bp.estimate(bp.BRR(bp.Integers(18, 90), 1, edges="padded"), [int(row["age"]) for row in rows])
    code, text, _ = run("estimate", out)
    assert code == 0 and f"mean    {by_hand.ask()}" in text and "teacher" in text
    code, text, _ = run(
        "estimate", out, "--json", "--by", "country", "--csv", files / "a.csv", "--html", files / "a.html"
    )
    found = conforms(text, "estimate")
    assert [each["name"] for each in found["columns"]] == ["age", "job"] and found["insecure"]
    groups = {each["group"]: each["people"] for each in found["columns"][0]["estimates"]}
    assert groups == {name: sum(row["country"] == name for row in rows) for name in ("DE", "FR")}
    assert next(csv.DictReader((files / "a.csv").read_text().splitlines()))["column"] == "age"
    page = (files / "a.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 2 and "Published beside the reports" in page and "<script" not in page
    code, _, _ = run("estimate", out, "--column", "age", "--plot", files / "a.svg", "--html", files / "b.html")
    assert code == 0 and (files / "a.svg").read_text().startswith("<svg")
    for wrong in (["--plot", files / "p.svg"], ["--weights", "w"], ["--save-counts", files / "c"], ["--column", "no"]):
        assert run("estimate", out, *wrong)[0] == 2


def test_missing_reports_are_left_out_only_when_asked(run, files):
    (files / "few.csv").write_text("age,job,country\n40,,DE\n50,nurse,DE\n60,pilot,FR\n")
    assert run("privatize", files / "few.csv", files / "few.parquet", "--plan", files / "plan.toml")[0] == 0
    code, _, err = run("estimate", files / "few.parquet")
    assert code == 3 and "few.parquet: row 1, column 'job', has no report" in err
    code, text, err = run("estimate", files / "few.parquet", "--nulls", "drop", "--json", "--html", files / "f.html")
    assert code == 0 and "1 rows without a report were skipped" in err
    assert conforms(text, "estimate")["columns"][1]["unreported"] == 1


def test_bad_rows_stop_or_are_rejected_and_overwriting_warns(run, files):
    (files / "bad.csv").write_text("age,job,country\n40,nurse,DE\n17,nurse,DE\nsecret,nurse,FR\n")
    command = ("privatize", files / "bad.csv", files / "out.csv", "--plan", files / "plan.toml")
    code, out, err = run(*command)
    assert (
        (code, out) == (3, "")
        and "row 2 is outside" in err
        and "row 3 is not of the type" in err
        and "secret" not in err
    )
    code, out, err = run(*command, "--reject", files / "bad-rows.csv", "--json")
    found = conforms(out, "privatize")
    assert (found["rows"], found["rejected"], found["released"]) == (3, 2, 1) and "protect it like the input" in err
    assert run(*command)[0] == 2
    code, _, err = run(
        *command[:2],
        files / "out.csv",
        "--plan",
        files / "plan.toml",
        "--overwrite",
        "--reject",
        files / "bad-rows.csv",
    )
    assert code == 0 and "this release adds ε = 1.5" in err and "2 rejected" in err
    wrong = ["--specs", files / "s.json"]
    assert run("privatize", files / "people.csv", files / "o.csv", "--plan", files / "plan.toml", *wrong)[0] == 2
    assert run("privatize", files / "people.csv", "-", "--to", "csv", "--json", "--plan", files / "plan.toml")[0] == 2
    assert run("privatize", files / "nowhere.csv", files / "o.csv", "--plan", files / "plan.toml")[0] == 4


def test_a_release_of_no_rows_says_so_and_speaks_of_no_epsilon_that_was_spent(run, files):
    options = ("--plan", files / "plan.toml", "--reject", files / "rejected.csv")
    (files / "bad.csv").write_text("age,job,country\n17,nurse,DE\n16,nurse,FR\n")
    code, _, err = run("privatize", files / "bad.csv", files / "out.csv", *options)
    assert code == 3 and "no row was released: all 2 were rejected." in err and "spent" not in err
    # Nothing was released, so nothing has the name of a release, and trying again is no second one.
    assert not (files / "out.csv").exists() and (files / "rejected.csv").exists()
    code, _, err = run("privatize", files / "bad.csv", files / "out.csv", *options)
    assert code == 2 and err.endswith("rejected.csv already exists; name another output, or use --overwrite.\n")
    (files / "none.csv").write_text("age,job,country\n")
    code, _, err = run("privatize", files / "none.csv", files / "out.csv", *options, "--overwrite")
    assert code == 0 and "no row was released: the input has none." in err


def test_a_failure_after_reports_went_to_standard_output_says_that_they_are_released(run, files):
    """The first batch is written when the second fails."""
    with (files / "people.csv").open("a", newline="\r\n") as file:
        file.write("40,nurse,DE,1990-01-01,1.5,true\n" * 300_000 + "secret,nurse,DE,1990-01-01,1.5,true\n")
    target = ("-", "--to", "csv", "--plan", files / "plan.toml", "--specs", files / "specs.json")
    code, out, err = run("privatize", files / "people.csv", *target)
    assert code == 3 and "is not of the type" in err
    assert "rows already written to standard output are released" in err
    (files / "bad.csv").write_text("other\n1\n")
    code, out, err = run("privatize", files / "bad.csv", *target)
    assert (code, out) == (2, "") and "are released" not in err


def test_what_is_not_there_or_not_here_is_said_once_and_without_numbers_of_errors(run, files):
    code, _, err = run("privatize", files / "people.csv", files / "o.csv", "--plan", files / "nowhere.toml")
    assert code == 4 and err == f"bipartite: not found: {files / 'nowhere.toml'}\n"
    code, _, err = run("privatize", files / "people.csv", "s3://bucket/o.csv", "--plan", files / "plan.toml")
    assert code == 2 and "s3://bucket/o.csv is not on this machine" in err and "no folder" not in err


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl", "arrow"])
def test_standard_input_and_output_stream_every_format(piped, files, kind):
    source = files / f"in.{kind}"
    people = pa.table({"age": [40, 50, 60], "job": ["nurse", "pilot", None], "country": ["DE", "FR", "FR"]})
    write = {
        "csv": lambda: source.write_text("age,job,country\n40,nurse,DE\n50,pilot,FR\n60,,FR\n"),
        "jsonl": lambda: source.write_text("".join(json.dumps(row) + "\n" for row in people.to_pylist())),
        "parquet": lambda: pq.write_table(people, source),
        "arrow": lambda: write_stream(people, source),
    }
    write[kind]()
    options = ["--plan", files / "plan.toml", "--insecure-seed", 3]
    beside = ["--specs", files / "s.json"] if kind in {"csv", "jsonl"} else []
    formats = ["--from", kind, "--to", kind]
    code, made, err = piped("privatize", "-", "-", *formats, *options, *beside, stdin=source.read_bytes())
    assert code == 0, err
    name = f"file.{kind}"
    named = source.rename(files / f"named.{kind}")
    bp.tables.privatize_file(named, files / name, bp.Plan.read(files / "plan.toml"), rng=bp.insecure_seed(3))
    if kind == "arrow":
        from_stdout = pa.ipc.open_stream(made).read_all().to_pydict()
        assert from_stdout == pa.ipc.open_file(files / name).read_all().to_pydict()
    else:
        assert made == (files / name).read_bytes()
    if beside:
        assert json.loads((files / "s.json").read_text()) == json.loads((files / f"{name}.bipartite.json").read_text())


def write_stream(table, path):
    with pa.ipc.new_stream(path, table.schema) as file:
        file.write_table(table)


def test_a_request_to_stop_removes_what_was_begun(run, files, monkeypatch):
    pq.write_table(pa.table({"age": np.full(1_000_000, 40, dtype=np.int8)}), files / "big.parquet")
    (files / "one.toml").write_text("[columns.age]\ndomain = { integers = [18, 90] }\nepsilon = 1\n")
    begun = []

    def ask_to_stop(*_):
        if begun:  # one request is enough: a second may come when nobody but the test itself is left to hear it
            return
        begun.extend(files.glob(".o.csv*"))
        os.kill(os.getpid(), signal.SIGTERM)
        threading.Event().wait(1)  # DuckDB looks for signals many times a second

    monkeypatch.setattr(output.Progress, "reach", ask_to_stop)
    code, _, err = run("privatize", files / "big.parquet", files / "o.csv", "--plan", files / "one.toml")
    assert code == 143 and "interrupted" in err and begun
    assert not list(files.glob(".o.csv*")) and not (files / "o.csv").exists()


def test_progress_tells_rows_speed_and_time_left(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    clock = iter(np.arange(0.0, 100.0, 2.5))
    monkeypatch.setattr(output.time, "monotonic", lambda: float(next(clock)))
    with output.Progress("rows", None, rate=True) as rows:
        rows.reach(1_000_000, 4_000_000)
        rows.reach(2_000_000, 4_000_000)
        rows.reach(3_000_000, None)
    shown = capsys.readouterr().err
    assert "50 %  2,000,000 rows" in shown and "rows/s" in shown and "s left" in shown


def test_the_schema_of_released_tables_fits_what_they_carry(run, files):
    run("privatize", files / "people.csv", files / "o.csv", "--plan", files / "plan.toml")
    conforms((files / "o.csv.bipartite.json").read_text(), "release")


def test_standard_output_is_written_where_it_stands(files, monkeypatch):
    out = files / "all.csv"
    out.write_text("what was there\n")
    with out.open("a") as file, monkeypatch.context() as patch:
        patch.setattr("sys.stdout", file)
        assert (
            main(["privatize", str(files / "people.csv"), "-", "--to", "csv", "--plan", str(files / "plan.toml")]) == 0
        )
    lines = out.read_text().splitlines()
    assert lines[:2] == ["what was there", "age,job,country"] and len(lines) == 2002


@pytest.mark.parametrize(("closed", "files_or_streams"), [("stdin", ("-", "out.csv")), ("stdout", ("people.csv", "-"))])
def test_streams_that_are_closed_are_no_bugs(files, monkeypatch, capsys, closed, files_or_streams):
    monkeypatch.chdir(files)
    monkeypatch.setattr(f"sys.{closed}", None)
    assert main(["privatize", *files_or_streams, "--from", "csv", "--to", "csv", "--plan", "plan.toml"]) == 2
    said = capsys.readouterr().err
    assert f"bipartite: standard {closed.removeprefix('std')}put is closed" in said and "bug" not in said


@pytest.mark.slow
@pytest.mark.parametrize("python", ["", "-u "])
def test_a_reader_that_goes_away_is_no_bug(files, python):
    """Also without Python's buffer, where one write may write only a part."""
    rows = 50_000
    pq.write_table(
        pa.table({"age": [40] * rows, "job": ["nurse"] * rows, "country": ["DE"] * rows}), files / "big.parquet"
    )
    command = f"{sys.executable} {python}-m bipartite privatize big.parquet - --to csv --plan plan.toml"
    how = f"{command} | head -1 >/dev/null; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", how], cwd=files, capture_output=True, text=True, check=False)
    assert done.returncode == 141 and "bug" not in done.stderr and "released" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["csv", "arrow"])
def test_an_interruption_does_not_wait_for_standard_input(files, kind):
    held = b"age,job,country\n" + b"40,nurse,DE\n" * 300_000
    if kind == "arrow":
        rows = 300_000
        table = pa.table({"age": [40] * rows, "job": ["nurse"] * rows, "country": ["DE"] * rows})
        with pa.ipc.new_stream(sink := pa.BufferOutputStream(), table.schema) as writer:
            writer.write_table(table, max_chunksize=10_000)
        held = sink.getvalue().to_pybytes()[:-8]  # without the mark of its end
    command = [sys.executable, "-m", "bipartite", "privatize", "-", "out.csv", "--from", kind, "--plan", "plan.toml"]
    with subprocess.Popen(command, cwd=files, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdin.write(held)
        process.stdin.flush()
        # A pipe holds far less: the release has begun, and waits for more.
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 143
        assert process.stderr.read() == b"bipartite: interrupted\n"
    assert not list(files.glob("*out.csv*"))


def test_a_small_release_loads_neither_pandas_nor_a_compiler(files):
    code = (
        "import sys\n"
        "from bipartite.cli import main\n"
        "main()\n"
        "print([name for name in ('pandas', 'numba') if name in sys.modules])"
    )
    words = ["privatize", "people.csv", "reports.parquet", "--plan", "plan.toml"]
    done = subprocess.run([sys.executable, "-c", code, *words], cwd=files, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_command_that_is_called_from_python_loads_as_usual(run, files, monkeypatch):
    monkeypatch.setattr("bipartite.cli.privatize.spare_pandas", None)  # would fail where it is called
    assert run("privatize", files / "people.csv", files / "o.csv", "--plan", files / "plan.toml")[0] == 0


@pytest.mark.slow
def test_a_command_that_is_called_from_python_leaves_pandas_to_arrow(files):
    code = (
        "from bipartite.cli import main\n"
        "main(['privatize', 'people.csv', 'reports.parquet', '--plan', 'plan.toml'])\n"
        "import pandas, pyarrow\n"
        "print(pyarrow.array(pandas.Series([1, None], dtype='Int64')).to_pylist())"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=files, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[1, None]"]


def test_a_plan_with_a_sample_goes_from_check_to_estimate(run, files):
    plan = PLAN.replace('nulls = "keep"', "")
    (files / "plan.toml").write_text(f"sample = 1\n{plan}")
    code, out, err = run("plan", "check", files / "plan.toml", "--n", "2000")
    assert code == 0 and err == ""
    assert ": it reports 1 of 2, drawn independently of the values." in out
    assert "Precision with 2,000 people, of whom about 1,000 report each column, ± at 95% confidence" in out
    (files / "all.toml").write_text(plan)
    sampled, whole, half = (
        conforms(run("plan", "check", files / f"{name}.toml", "--n", n, "--json")[1], "plan")
        for name, n in (("plan", "2000"), ("all", "2000"), ("all", "1000"))
    )
    # Half as many report a column, so its error grows by the root of 2: it is that of 1,000 people.
    assert (sampled["sample"], "sample" in whole) == (1, False)
    widths = [[each["half_widths"]["share"] for each in plan["columns"]] for plan in (sampled, half)]
    assert widths[0] == widths[1]
    spent = [float(each["epsilon"]) for each in whole["columns"]]
    assert (float(sampled["epsilon"]), float(whole["epsilon"])) == (max(spent), sum(spent))

    code, _, err = run("privatize", files / "people.csv", files / "o.csv", "--plan", files / "plan.toml")
    assert code == 0 and f"each spent ε = {sampled['epsilon']}" in err
    release = conforms((files / "o.csv.bipartite.json").read_text(), "release")
    assert release["sample"] == 1 and release["epsilon"] == sampled["epsilon"]
    code, out, err = run("estimate", files / "o.csv", "--json", "--html", files / "o.html")
    assert code == 0 and err.count("rows were not asked.") == 2
    found = {each["name"]: each for each in json.loads(out)["columns"]}
    assert sum(each["unreported"] for each in found.values()) == 2000
    assert "rows were not asked." in (files / "o.html").read_text()
