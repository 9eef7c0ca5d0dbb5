"""``bipartite estimate``: the same answers as bp.estimate, from files; what is wrong with a file is named by line."""

import csv
import json
import re
import tracemalloc
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bipartite as bp
from bipartite.answers.estimation.carried import carried_edges
from bipartite.cli import estimate, main, output
from bipartite.mechanisms.categories.cells import to_cells
from bipartite.tables import blocks
from bipartite.texts import in_digits
from tests.cli.schemas import conforms

AGES = bp.BRR(bp.Integers(18, 90), epsilon=1, edges="padded")
RATING = bp.GRR(bp.Integers(1, 5), epsilon=1)
WAYS = bp.GRR(bp.Items(["bus", "train", "report"], loss=1 - np.eye(3)), epsilon=1)


def reported(mechanism, values, seed=1):
    return mechanism.privatize(values, rng=bp.insecure_seed(seed))


@pytest.fixture
def ages(write):
    reports = reported(AGES, [30] * 3000 + [50] * 2000)
    return reports, write("reports.csv", "".join(f"{report}\n" for report in reports))


def test_a_file_of_reports_gives_the_answers_of_python(run, spec, ages):
    reports, file = ages
    expected = bp.estimate(AGES, reports)
    code, out, err = run("estimate", file, "--spec", spec(AGES))
    assert (code, err) == (0, "")
    assert out.startswith(expected.summary(bins=carried_edges(AGES, 5000)) + "\n")
    code, out, err = run("estimate", file, "--spec", spec(AGES), "--bins", 10)
    assert out.startswith(expected.summary() + "\n")
    lines = [line.split() for line in out.splitlines() if line.startswith("  ") and " to " in line][-10:]
    for line, (first, last, *numbers, _) in zip(lines, expected.to_frame(bins=10).itertuples(index=False), strict=True):
        share, low, high = (f"{each}%" for each in in_digits(*(100 * each for each in numbers)))
        assert line == [f"{first:g}", "to", f"{last:g}", share, low, "to", high]
    code, out, _ = run("estimate", file, "--spec", spec(AGES), "--json", "--confidence", 0.9)
    found = conforms(out, "estimate")
    (one,) = found["columns"][0]["estimates"]
    assert (one["group"], one["people"], one["identifiable"]) == (None, 5000, True)
    assert one["mean"]["value"] == pytest.approx(expected.mean)
    assert (one["mean"]["low"], one["mean"]["high"]) == pytest.approx(expected.ask().ci(0.9))
    assert one["median"]["value"] == expected.median
    assert one["median"]["standard_error"] is None
    assert [each["share"] for each in one["shares"]] == pytest.approx(expected.shares.tolist())
    # A fitted curve has intervals of ranges, and none of single shares.
    assert {each["high"] for each in one["shares"]} == {None} and one["bins_note"] == expected.to_frame()["note"][
        0
    ] != ""
    ranges = expected.to_frame(bins=10, confidence=0.9).drop(columns="note").to_numpy().tolist()
    assert [list(each.values()) for each in one["ranges"]] == [pytest.approx(each) for each in ranges]


def test_few_values_are_shown_as_a_table_and_written_as_csv(run, spec, write, tmp_path):
    reports = reported(RATING, [2, 3, 4, 4] * 500, seed=4)
    file = write("r.csv", "report\n" + "".join(f"{report}\n" for report in reports))
    shares = tmp_path / "shares.csv"
    code, out, err = run("estimate", file, "--spec", spec(RATING), "--csv", shares)
    expected = bp.estimate(RATING, reports)
    assert (code, err) == (0, "")
    assert out.startswith(expected.summary()) and "for the population that these people are" in out
    share, low, high = in_digits(*(100 * each for each in (expected.shares[3], *expected.ask(("bin", 4)).ci())))
    assert f"{share}%" in out and f"{low}% to {high}%" in out and "95 % interval" in out
    rows = list(csv.DictReader(shares.read_text(encoding="utf-8").splitlines()))
    assert list(rows[0]) == ["value", "share", "standard_error", "low", "high"]
    frame = expected.to_frame().rename(columns={"se": "standard_error"})
    for column in rows[0]:
        assert [float(row[column]) for row in rows] == pytest.approx(frame[column].tolist())


def test_named_values_are_read_by_name_and_the_largest_shown(run, spec, write):
    reports = reported(WAYS, ["bus", "report"] * 400)
    file = write("w.csv", "".join(f" {report} \n" for report in reports))
    code, out, _ = run("estimate", file, "--spec", spec(WAYS))
    assert code == 0 and "mean" not in out
    # "report" is a label here, so that a file without names of columns may begin with it.
    assert "800 reports" in out
    code, out, _ = run("estimate", file, "--spec", spec(WAYS), "--json")
    assert conforms(out, "estimate")["columns"][0]["estimates"][0]["mean"] is None
    many = bp.GRR(bp.Points(np.arange(60.0).reshape(30, 2)), epsilon=5)
    file = write("m.csv", "".join(f"{report}\n" for report in reported(many, list(range(30)) * 20)))
    code, out, _ = run("estimate", file, "--spec", spec(many))
    assert "the 10 largest of 30 shares" in out and out.count("\n  row ") == 10


def test_columns_are_found_by_name(run, spec, write):
    reports = reported(RATING, [2, 4] * 300)
    rows = "".join(f'"x, y",{report},{at % 3}\r\n' for at, report in enumerate(reports))
    expected = bp.estimate(RATING, reports)
    named = write("a.csv", "\ufeffnote,report,w\r\n" + rows)
    assert expected.summary() in run("estimate", named, "--spec", spec(RATING))[1]
    other = write("b.csv", "note, stars ,w\r\n" + rows)
    assert expected.summary() in run("estimate", other, "--spec", spec(RATING), "--column", "stars")[1]
    only = write("c.csv", "stars\n" + "".join(f"{report}\n" for report in reports))
    assert expected.summary() in run("estimate", only, "--spec", spec(RATING))[1]
    assert expected.summary() in run("estimate", only, "--spec", spec(RATING), "--column", "stars")[1]


def test_groups_and_weights_are_those_of_python(run, spec, write, tmp_path):
    rng = np.random.default_rng(1)
    reports = np.array(reported(RATING, [2, 4, 5] * 400))
    groups, weights = np.array(["north", "south"])[rng.integers(0, 2, 1200)], rng.integers(0, 4, 1200) / 2
    rows = zip(groups, reports, weights, strict=True)
    file = write("g.csv", "region,report,w\n" + "".join(f"{g},{r},{w}\n" for g, r, w in rows))
    expected = bp.estimate(RATING, reports, by=groups, weights=weights)
    order = np.argsort(groups, kind="stable")
    shares, picture = tmp_path / "shares.csv", tmp_path / "groups.svg"
    arguments = ["estimate", file, "--spec", spec(RATING), "--by", "region", "--weights", "w"]
    code, out, _ = run(*arguments, "--csv", shares, "--plot", picture)
    assert code == 0
    # Of weights a command keeps only sums, and so a bound of what forged reports could do.
    lines = bp.estimate(RATING, reports[order], by=groups[order], weights=weights[order]).summary().split("\n")
    assert all(line in out.split("\n") for line in lines if "forged" not in line)
    # Whatever the format, groups are in the order of their names.
    assert out.index("north: ") < out.index("south: ")
    code, out, _ = run(*arguments, "--json")
    found = conforms(out, "estimate")["columns"][0]["estimates"]
    assert [each["group"] for each in found] == sorted(expected)
    for each in found:
        theirs = expected[each["group"]]
        assert each["mean"]["value"] == pytest.approx(theirs.mean)
        assert each["mean"]["standard_error"] == pytest.approx(theirs.ask().se)
        assert each["people"] == theirs.nobs and 0 < each["effective_people"] <= each["people"]
    assert shares.read_text(encoding="utf-8").startswith("group,value,share,standard_error,low,high\n")
    assert re.search(r'aria-label="mean: north [^;]*; south [^;]*median: ', picture.read_text(encoding="utf-8"))
    whole = run("estimate", file, "--spec", spec(RATING), "--weights", "w")[1]
    lines = bp.estimate(RATING, reports, weights=weights).summary().split("\n")
    assert all(line in whole for line in lines if "forged" not in line)


def test_public_edges_are_those_of_python_in_text_json_csv_and_pictures(run, spec, ages, tmp_path):
    reports, file = ages
    expected = bp.estimate(AGES, reports)
    table, picture = tmp_path / "ranges.csv", tmp_path / "ages.svg"
    arguments = ["estimate", file, "--spec", spec(AGES), "--bins"]
    code, out, _ = run(*arguments, "30, 45,65", "--csv", table, "--plot", picture)
    assert (code, out) == (0, expected.summary(bins=[30, 45, 65]) + "\n")
    rows = list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))
    assert [(row["first"], row["last"]) for row in rows] == [("18", "29"), ("30", "44"), ("45", "64"), ("65", "90")]
    assert "30 to 44: " in picture.read_text(encoding="utf-8")
    (one,) = conforms(run(*arguments, "30,45,65", "--json")[1], "estimate")["columns"][0]["estimates"]
    assert [each["share"] for each in one["ranges"]] == pytest.approx([float(row["share"]) for row in rows])
    assert one["cannot_be_told_apart"] == []
    (one,) = conforms(run(*arguments, 25, "--json")[1], "estimate")["columns"][0]["estimates"]
    assert len(one["ranges"]) == 25
    for wrong, why in (
        ("30,x", "Expected --bins as edges that are numbers"),
        ("0", "at least 1"),
        ("30,99", "from 18 to 90"),
    ):
        code, out, err = run(*arguments, wrong)
        assert (code, out) == (2, "") and why in err


def test_values_that_cannot_be_told_apart_are_named_as_ranges(run, spec, write):
    clamped = bp.BRR(bp.Integers(1, 20), epsilon=1)
    file = write("c.csv", "".join(f"{report}\n" for report in reported(clamped, [3, 12] * 200)))
    (one,) = conforms(run("estimate", file, "--spec", spec(clamped), "--json")[1], "estimate")["columns"][0][
        "estimates"
    ]
    assert one["cannot_be_told_apart"] == [[1, 2, 3, 4], [17, 18, 19, 20]]
    assert {"first": 1, "last": 4} in [{end: each[end] for end in ("first", "last")} for each in one["ranges"]]
    assert "\n  1 to 4  " in run("estimate", file, "--spec", spec(clamped), "--bins", 10)[1]


def test_counts_are_saved_and_merged_with_those_of_others(run, spec, write, tmp_path):
    reports = reported(RATING, [1, 2, 4] * 200)
    parts = [write(f"{at}.csv", "".join(f"{r}\n" for r in reports[at::3])) for at in range(3)]
    saved, described = tmp_path / "counts.json", spec(RATING)
    code, out, _ = run("estimate", *parts[:2], "--spec", described, "--save-counts", saved)
    assert code == 0
    assert bp.Counts.from_json(saved.read_text(encoding="utf-8")).n == 400
    merged = run("estimate", parts[2], "--counts", saved, "--spec", described)[1]
    whole = run("estimate", *parts, "--spec", described)[1]
    assert merged == whole
    # Counts know their spec.
    other = write("other.json", saved.read_text(encoding="utf-8"))
    assert run("estimate", "--counts", saved, "--counts", other)[1].startswith("800 reports")
    assert run("estimate", "--counts", saved)[1] == out
    code, out, err = run("estimate", "--counts", saved, "--spec", spec(AGES, "ages.json"))
    assert (code, out) == (3, "") and "their specs differ" in err and err.endswith("estimate each on its own.\n")
    cut = write("cut.json", saved.read_text(encoding="utf-8")[:-20])
    code, _, err = run("estimate", "--counts", cut)
    assert code == 3 and "truncated: ask for it again" in err
    for wrong, why in (('{"people": 1, "people": 2}', "a key comes twice"), ("[" * 100_000, "may be truncated")):
        code, _, err = run("estimate", "--counts", write("wrong.json", wrong))
        assert code == 3 and "as JSON text; " in err and why in err


def test_a_pipe_of_reports_is_read_from_standard_input(run, spec, ages, monkeypatch):
    reports, file = ages
    code, out, _ = run("estimate", "-", "--spec", spec(AGES), "--bins", 10, stdin=file.read_text(encoding="utf-8"))
    assert code == 0 and out.startswith(bp.estimate(AGES, reports).summary())
    code, _, err = run("estimate", "-", "--spec", spec(AGES), stdin="30\nx\n")
    assert code == 3 and "standard input: line 2 cannot have come from" in err
    monkeypatch.setattr("sys.stdin", None)
    assert main(["estimate", "-", "--spec", str(spec(AGES))]) == 3


def test_ranges_are_written_as_csv_for_every_group(run, spec, write, ages, tmp_path):
    reports, file = ages
    ranges, shares = tmp_path / "ranges.csv", tmp_path / "shares.csv"
    assert run("estimate", file, "--spec", spec(AGES), "--csv", shares)[0] == 0
    assert run("estimate", file, "--spec", spec(AGES), "--bins", 10, "--csv", ranges)[0] == 0
    rows = list(csv.DictReader(ranges.read_text(encoding="utf-8").splitlines()))
    assert list(rows[0]) == ["first", "last", "share", "low", "high"] and len(rows) == 10
    expected = bp.estimate(AGES, reports).to_frame(bins=10)
    assert (rows[0]["first"], rows[-1]["last"]) == ("18", "90")
    assert [float(row["high"]) for row in rows] == pytest.approx(expected["high"].tolist())
    single = list(csv.DictReader(shares.read_text(encoding="utf-8").splitlines()))
    assert {(row["standard_error"], row["low"], row["high"]) for row in single} == {("", "", "")}
    grouped = write("g.csv", "group,report\n" + "".join(f"{'ab'[at % 2]},{each}\n" for at, each in enumerate(reports)))
    assert run("estimate", grouped, "--spec", spec(AGES), "--by", "group", "--bins", 10, "--csv", ranges)[0] == 0
    rows = list(csv.DictReader(ranges.read_text(encoding="utf-8").splitlines()))
    assert [row["group"] for row in rows] == ["a"] * 10 + ["b"] * 10


def test_what_cannot_be_known_is_said(run, spec, write, tmp_path):
    clamped = bp.BRR(bp.Integers(1, 9), epsilon=1, m=5)
    file = write("c.csv", "".join(f"{report}\n" for report in reported(clamped, [1, 5, 7] * 400)))
    shares, picture = tmp_path / "s.csv", tmp_path / "p.svg"
    code, out, _ = run("estimate", file, "--spec", spec(clamped), "--csv", shares, "--plot", picture)
    assert code == 0
    assert "not identifiable" in out and "no number of them would narrow this" in out
    first = next(csv.DictReader(shares.read_text(encoding="utf-8").splitlines()))
    assert (first["standard_error"], first["low"], first["high"]) == ("", "", "")
    assert "cannot be told apart: a guess" in picture.read_text(encoding="utf-8")
    ET.fromstring(picture.read_text(encoding="utf-8"))
    one = conforms(run("estimate", file, "--spec", spec(clamped), "--json")[1], "estimate")["columns"][0]["estimates"][
        0
    ]
    assert one["mean"]["standard_error"] is None and one["shares"][0]["standard_error"] is None
    assert not one["identifiable"] and one["not_identifiable"]


def test_named_values_that_cannot_be_told_apart_have_the_intervals_that_are_left_open(run, spec, write):
    near = bp.Items(["a", "b", "c", "d"], loss=[[0, 1, 9, 9], [1, 0, 9, 9], [9, 9, 0, 1], [9, 9, 1, 0]])
    blurred = bp.BRR(near, epsilon=1, m=2)
    file = write("b.csv", "".join(f"{report}\n" for report in reported(blurred, ["a", "b", "c"] * 400)))
    code, out, _ = run("estimate", file, "--spec", spec(blurred), "--json")
    one = conforms(out, "estimate")["columns"][0]["estimates"][0]
    assert code == 0 and one["method"] == "em" and one["ranges"] == []
    assert all(each["low"] == pytest.approx(0, abs=1e-6) and each["high"] > 0.2 for each in one["shares"])
    out = run("estimate", file, "--spec", spec(blurred))[1]
    assert "nan" not in out and "none" not in out


def test_errors_of_too_many_shares_are_left_out_and_the_mean_is_there(run, spec, write, tmp_path, monkeypatch):
    monkeypatch.setattr("bipartite.answers.estimation.methods._MOST_MATRIX", 5000)
    wide = bp.BRR(bp.Integers(1, 60), epsilon=1, edges="padded")
    reports = reported(wide, [7] * 500)
    file, shares = write("w.csv", "".join(f"{report}\n" for report in reports)), tmp_path / "s.csv"
    code, out, _ = run("estimate", file, "--spec", spec(wide), "--json", "--csv", shares, "--plot", tmp_path / "p.svg")
    assert code == 0
    one = conforms(out, "estimate")["columns"][0]["estimates"][0]
    assert one["mean"]["value"] == pytest.approx(bp.estimate(wide, reports).mean)
    assert one["shares"][0]["standard_error"] is None and one["shares"][0]["low"] is None
    assert next(csv.DictReader(shares.read_text(encoding="utf-8").splitlines()))["high"] == ""


def test_few_reports_are_answered_with_what_holds_for_any_number(run, spec, write):
    code, out, _ = run("estimate", write("one.csv", "3\n"), "--spec", spec(RATING))
    assert code == 0 and "only 1 report: too few for the normal law" in out


def test_missing_reports_are_an_error_or_left_out_with_a_word(run, spec, write):
    file = write("n.csv", "3\n\n4\n \n" + "2\n" * 100)
    code, out, err = run("estimate", file, "--spec", spec(RATING))
    assert (code, out) == (3, "")
    assert "line 2 has no report; repair or remove it, or use --nulls drop." in err
    code, out, err = run("estimate", file, "--spec", spec(RATING), "--nulls", "drop")
    assert code == 1 and out.startswith("102 reports")  # almost all are equal
    assert err.startswith("bipartite: 2 rows without a report were skipped.\nbipartite: warning: these reports cannot ")


WRONG = {
    "empty": ("", [], "is empty"),
    "only a name": ("report\n", [], "There are no reports"),
    "only missing": ("report\n\n", ["--nulls", "drop"], "There are no reports"),
    "cut off": ("3\n4", [], "the last line has no line end"),
    "outside": ("3\n9\n", [], "line 2 cannot have come from GRR(Integers(1, 5), epsilon=1)"),
    "far outside": ("3\n" + "9" * 18 + "\n", [], "line 2 cannot have come from"),
    "too long for an integer": ("3\n" + "9" * 40 + "\n", [], "line 2 cannot have come from"),
    "between": ("3\n3.5\n", [], "line 2 cannot have come from"),
    "no number": ("3\nx\n", [], "line 2 cannot have come from"),
    "infinite": ("3\ninf\n", [], "line 2 cannot have come from"),
    "too large": ("3\n1e999\n", [], "line 2 cannot have come from"),
    "other digits": ("3\n٣\n", [], "line 2 cannot have come from"),
    "first outside": ("9\n3\n", [], "line 1 is neither a report nor a column name"),
    "first a slip": ("4O\n3\n", [], "line 1 is neither a report nor a column name"),
    "first not a number": ("nan\n3\n", [], "line 1 is neither a report nor a column name"),
    "more cells": ("3\n4,4\n", [], "line 2 has 2 cells instead of 1"),
    "fewer cells": ("a,report\n1,2\n1\n", [], "line 3 has 1 cells instead of 2"),
    "no row": ("a,report\n1,2\n\n", [], "line 3 has 0 cells instead of 2"),
    "open quote": ('3\n"4\n', [], "cannot be read as CSV (unexpected end of data)"),
    "text after a quote": ('3\n"4"4\n', [], "line 2 cannot be read as CSV"),
    "endless cell": ("3\n" + "4" * 200_000 + "\n", [], "line 2 cannot be read as CSV (field larger than"),
    "not UTF-8": (b"3\n\xff\n", [], "line 2 is not UTF-8 text"),
    "name not UTF-8": (b"\xff\n3\n", [], "line 1 is neither"),
    "no such column": ("a,b\n1,2\n", [], "has no column 'report'; it has 'a', 'b'. Check the name"),
    "no named column": ("a,b\n1,2\n", ["--column", "c"], "has no column 'c'"),
    "one of two": ("report,report\n1,2\n", [], "has several columns 'report'"),
    "group not UTF-8": (b"g,report\na,2\n\xff,2\n", ["--by", "g"], "line 3 is not UTF-8 text"),
    "bad weight": ("w,report\n1,2\n-1,2\n", ["--weights", "w"], "line 3 has no weight from 0 to"),
    "too large a weight": ("w,report\n1e200,2\n", ["--weights", "w"], "line 2 has no weight from 0 to 1e100"),
    "no weight": ("w,report\nx,2\n", ["--weights", "w"], "line 2 has no weight from 0 to"),
    "weightless": ("w,report\n0,2\n", ["--weights", "w"], "There are no reports"),
    "weightless group": ("g,w,report\na,1,2\nb,0,2\n", ["--by", "g", "--weights", "w"], "All weights of the group 'b'"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_with_a_file_is_said_with_its_line(run, spec, write, case):
    content, options, message = WRONG[case]
    code, out, err = run("estimate", write("wrong.csv", content), "--spec", spec(RATING), *options)
    assert (code, out) == (3, ""), err
    assert message in err and err.startswith("bipartite: ")


def test_unknown_labels_are_named_by_line(run, spec, write):
    code, _, err = run("estimate", write("w.csv", "bus\nhorse\n"), "--spec", spec(WAYS))
    assert code == 3 and "line 2 cannot have come from" in err
    code, _, err = run("estimate", write("w.csv", "way\nbus\n"), "--spec", spec(WAYS))
    assert code == 3 and "line 1 is neither" in err
    assert run("estimate", write("w.csv", "way\nbus\n"), "--spec", spec(WAYS), "--column", "way")[0] == 0


def test_a_missing_file_and_an_empty_folder_are_told_apart(run, spec, tmp_path):
    code, _, err = run("estimate", tmp_path / "none.csv", "--spec", spec(RATING))
    assert code == 4 and "not found: " in err and "none.csv" in err
    (tmp_path / "empty").mkdir()
    code, _, err = run("estimate", tmp_path / "empty", "--spec", spec(RATING))
    assert code == 4 and "there are no files in" in err


@pytest.mark.parametrize("option", ["--spec", "--counts"])
def test_a_missing_spec_or_count_is_named_in_words(run, write, tmp_path, option):
    code, _, err = run("estimate", write("r.csv", "3\n"), option, tmp_path / "none.json")
    assert (code, err) == (4, f"bipartite: not found: {tmp_path / 'none.json'}\n")
    code, _, err = run("estimate", write("r.csv", "3\n"), option, tmp_path)
    assert (code, err) == (3, f"bipartite: {tmp_path}: Is a directory\n")


@pytest.mark.parametrize("name", ["r.tsv", "r.jsonl"])
@pytest.mark.parametrize("asked", [["--column", "other"], ["--column", "report", "--by", "other"]])
def test_a_column_that_is_not_there_is_no_matter_of_a_plan(run, spec, write, name, asked):
    there = write(name, "report\n3\n" if name.endswith("tsv") else '{"report": 3}\n')
    code, _, err = run("estimate", there, "--spec", spec(RATING), *asked)
    assert code == 3 and "has no column 'other'" in err
    assert "plan" not in err and "specs name" not in err


def test_json_lines_are_read_as_csv_is(run, spec, write):
    drawn = reported(RATING, [3, 4] * 50)
    file = write("r.csv", "".join(f"{each}\n" for each in drawn))
    _, plain, _ = run("estimate", file, "--spec", spec(RATING))
    sent = "".join(json.dumps({"report": int(each), "when": None}) + "\n\n" for each in drawn)
    assert run("estimate", write("r.jsonl", sent), "--spec", spec(RATING)) == (0, plain, "")
    for held in ('{"report": NaN}', '{"report": 3, "when": Infinity}'):
        code, out, err = run("estimate", write("n.jsonl", f"{sent}{held}\n"), "--spec", spec(RATING))
        assert (code, out) == (3, "") and "n.jsonl: line 201 is not a JSON object" in err


def test_rows_without_a_group_are_a_group_of_their_own_in_every_format(run, spec, write):
    for name, text in (
        ("g.csv", "g,report\n a,1\na ,2\n,3\n  ,4\n"),
        ("g.jsonl", '{"g":"a ","report":1}\n{"g":"a","report":2}\n{"g":null,"report":3}\n{"g":" ","report":4}\n'),
    ):
        code, out, _ = run("estimate", write(name, text), "--spec", spec(RATING), "--by", "g", "--json")
        found = conforms(out, "estimate")["columns"][0]["estimates"]
        assert (code, [(each["group"], each["people"]) for each in found]) == (0, [("a", 2), ("(none)", 2)])


def test_quotes_are_read_as_the_standard_says_or_refused(run, spec, write):
    odd = bp.GRR(bp.Items(['a"b', "c,d", "e\nf", "44"], loss=1 - np.eye(4)), epsilon=1)
    good = '"a""b","x"\n"c,d",""\n"e\nf",x\n"44",x\n'
    code, out, _ = run("estimate", write("q.csv", f"report,x\n{good}"), "--spec", spec(odd), "--json")
    assert code == 0 and conforms(out, "estimate")["columns"][0]["estimates"][0]["people"] == 4
    for bad in ('"4"4,x', '""44,x', '44,"x"y', '"44,"x'):
        code, out, err = run("estimate", write("q.csv", f"report,x\n{good}{bad}\n"), "--spec", spec(odd))
        assert (code, out) == (3, "") and "q.csv: line 7 cannot be read as CSV" in err


def test_doubt_is_said_before_any_number(run, spec, write):
    raw = write("raw.csv", "3\n" * 2000)
    code, out, err = run("estimate", raw, "--spec", spec(RATING))
    assert code == 1 and err.startswith("bipartite: warning: these reports cannot have come from this mechanism: one ")
    assert out.splitlines()[1].startswith(
        "  these reports cannot have come from this mechanism: one value is 100.00% of them"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Expected files of reports, or --counts"),
        (["FILE"], "reports were drawn with: --spec."),
        (["-"], "Expected --spec: standard input is read as CSV"),
        (["FILE", "FILE", "--spec", "SPEC"], "A file is named twice, and its reports would count twice"),
        (["--counts", "FILE", "--by", "g"], "--by and --weights need the reports themselves"),
        (["--counts", "FILE", "--column", "g"], "are for files of reports; leave out --column."),
        (["FILE", "--spec", "SPEC", "--by", "g", "--save-counts", "x"], "--save-counts counts all reports alike"),
        (["FILE", "--spec", "SPEC", "--html", "x.html"], "--html is for tables that bipartite privatize wrote"),
        (["FILE", "--spec", "SPEC", "--confidence", "1"], "Expected confidence between 0 and 1"),
        (["FILE", "--spec", "SPEC", "--by", "a", "--weights", "a"], "to be different columns"),
    ],
)
def test_options_that_do_not_go_together_are_refused(run, spec, write, arguments, message):
    file, described = write("f.csv", "a,report\n1,2\n"), spec(RATING)
    named = [{"FILE": file, "SPEC": described}.get(each, each) for each in arguments]
    code, out, err = run("estimate", *named)
    assert (code, out) == (2, "") and message in err


@pytest.mark.parametrize("kind", [bp.OUE, bp.HadamardResponse])
def test_reports_of_flat_categories_are_read_as_a_table_holds_them(run, spec, write, kind):
    ways = bp.Items(["a", "b", "c"], loss=1 - np.eye(3))
    mechanism = kind(ways, epsilon=2)
    reports = mechanism.privatize(["a"] * 300 + ["b"] * 100, rng=bp.insecure_seed(1))
    cells = [each.decode() if isinstance(each, bytes) else str(each) for each in to_cells(reports).tolist()]
    groups = ["x"] * 200 + ["y"] * 200
    table = "way,side,weight\n" + "".join(
        f"{cell},{side},{1 + (at % 3 == 0)}\n" for at, (cell, side) in enumerate(zip(cells, groups, strict=True))
    )
    known = bp.estimate(mechanism, reports)
    weights = 1 + (np.arange(400) % 3 == 0)
    for options, wanted in (
        ((), [known]),
        (("--by", "side"), list(bp.estimate(mechanism, reports, by=groups).values())),
        (("--weights", "weight"), [bp.estimate(mechanism, reports, weights=weights)]),
    ):
        file = write("f.csv", table)
        code, out, _ = run("estimate", file, "--spec", spec(mechanism), "--column", "way", *options, "--json")
        assert code == 0
        for found, same in zip(json.loads(out)["columns"][0]["estimates"], wanted, strict=True):
            assert [each["share"] for each in found["shares"]] == pytest.approx(same.shares.tolist())
            assert [each["standard_error"] for each in found["shares"]] == pytest.approx(same.to_frame()["se"].tolist())
    code, out, _ = run("estimate", write("bare.csv", "\n".join(cells) + "\n"), "--spec", spec(mechanism))
    assert code == 0 and "400 reports" in out
    code, _, err = run("estimate", write("bad.csv", "\n".join([*cells, "x9z"]) + "\n"), "--spec", spec(mechanism))
    assert code == 3 and "line 401 cannot have come from" in err and "x9z" not in err
    code, out, _ = run("estimate", write("b.csv", cells[0] + "\n"), "--spec", spec(mechanism), "--json")
    assert code == 0 and json.loads(out)["columns"][0]["estimates"][0]["people"] == 1


def test_too_many_groups_are_no_groups(run, spec, write, monkeypatch):
    monkeypatch.setattr("bipartite.tables.counting.MOST_GROUPS", 3)
    file = write("g.csv", "id,report\n" + "".join(f"{at},3\n" for at in range(9)))
    code, _, err = run("estimate", file, "--spec", spec(RATING), "--by", "id")
    assert code == 2 and "at most 3 groups" in err and "is 'id' a column of groups?" in err


def test_nothing_is_written_when_something_is_wrong(run, spec, write, tmp_path):
    file = write("f.csv", "3\n9\n")
    run("estimate", file, "--spec", spec(RATING), "--csv", tmp_path / "s.csv", "--plot", tmp_path / "p.svg")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["f.csv", "spec.json"]


def test_a_file_larger_than_what_may_be_held_is_streamed(run, spec, write, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK", 2**16)
    rows = 2**15
    file = write("big.csv", "pad,report\n" + "".join(f"{'x' * 50},{at % 5 + 1}\n" for at in range(rows)))
    arguments = ["estimate", file, "--spec", spec(RATING), "--json"]
    run(*arguments[:1], write("small.csv", "1\n"), *arguments[2:])  # what is loaded only once is loaded
    tracemalloc.start()
    code, out, _ = run(*arguments)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert code == 0 and json.loads(out)["columns"][0]["estimates"][0]["people"] == rows
    # The file holds 1.7 MB and its cells as strings would take 3.7 MB; a chunk of 1,024 rows takes 0.3 MB.
    assert file.stat().st_size > 1.7e6
    assert peak < 6e5, peak


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_answers_do_not_depend_on_the_size_of_a_part(run, spec, write, monkeypatch, size):
    monkeypatch.setattr(blocks, "BLOCK", size)
    rows = [("a", 1), ("b", 5), ("a", 5), ("b", 2), ("a", 3), ("a", 3)] * 10
    file = write("g.csv", "g,report\n" + "".join(f"{g},{r}\n" for g, r in rows))
    expected = bp.estimate(RATING, [r for _, r in rows], by=[g for g, _ in rows])
    out = run("estimate", file, "--spec", spec(RATING), "--by", "g")[1]
    assert out == expected.summary() + "\n"


CELLS = st.sampled_from(
    ["1", "5", "3.0", "2e0", " 4 ", "", "0", "6", "x", "nan", '"', '"2"', "1,1", "\x00", "\xe9", "-1"]
)


@given(st.lists(CELLS, max_size=8), st.sampled_from(["\n", "\r\n", "\r"]), st.booleans(), st.booleans())
def test_a_broken_file_is_refused_and_a_whole_one_counted_to_the_last_row(tmp_path_factory, cells, end, ended, named):
    folder = tmp_path_factory.getbasetemp() / "fuzz"
    folder.mkdir(exist_ok=True)
    file, described, saved = folder / "f.csv", folder / "spec.json", folder / "counts.json"
    described.write_text(json.dumps(RATING.to_spec()), encoding="utf-8")
    saved.unlink(missing_ok=True)
    lines = ["report", *cells] if named else cells
    file.write_bytes((end.join(lines) + (end if ended else "")).encode())
    code = main(["estimate", str(file), "--spec", str(described), "--save-counts", str(saved)])
    good = {"1": 1, "5": 5, "3.0": 3, "2e0": 2, " 4 ": 4, '"2"': 2}
    header = named or (cells and cells[0] in {"x", "\xe9"})  # a word may name the only column
    body = cells if named or not header else cells[1:]
    if ended and body and all(cell in good for cell in body):
        assert code == 0
        counts = bp.Counts.from_json(saved.read_text(encoding="utf-8"))
        assert counts.values.tolist() == np.bincount([good[cell] for cell in body], minlength=6)[1:].tolist()
    else:
        assert code == 3 and not saved.exists()


@given(st.binary(max_size=60), st.booleans())
def test_no_file_whatever_is_a_bug(tmp_path_factory, content, grouped):
    folder = tmp_path_factory.getbasetemp() / "bytes"
    folder.mkdir(exist_ok=True)
    file, described = folder / "f.csv", folder / "spec.json"
    described.write_text(json.dumps(RATING.to_spec()), encoding="utf-8")
    file.write_bytes((b"g,report\n" if grouped else b"") + content)
    assert main(["estimate", str(file), "--spec", str(described), *(["--by", "g"] if grouped else [])]) in {0, 3}


def test_steps_of_a_long_fit_are_seen_to_pass(run, spec, write, monkeypatch):
    seen = []
    monkeypatch.setattr(output.Progress, "advance", lambda self, by: seen.append((self._what, by)))
    assert run("estimate", write("reports.csv", "1\n2\n"), "--spec", spec(RATING))[0] == 0
    assert ("steps", 1) in seen


def test_what_takes_long_is_announced(run, spec, write, ages, monkeypatch):
    reports, file = ages
    grouped = write("g.csv", "g,report\n" + "".join(f"{'ab'[at % 2]},{each}\n" for at, each in enumerate(reports)))
    arguments = ["estimate", grouped, "--spec", spec(AGES), "--by", "g"]
    assert run(*arguments)[2] == ""
    monkeypatch.setattr(output, "LONG", 0.0)
    assert re.search(r"bipartite: estimating takes about \d+ s\.\n", run(*arguments)[2])
    monkeypatch.setattr(output, "LONG", 1.0)
    assert run("estimate", file, "--spec", spec(AGES))[2] == ""
    monkeypatch.setitem(estimate._SECONDS, "csv", 1.0)
    said = f"bipartite: reading these files takes about {file.stat().st_size / 60:.0f} min.\n"
    assert run("estimate", file, "--spec", spec(AGES))[2] == said
    few = write("few.csv", "g,report\n" + "".join(f"{at % 9},{at % 5 + 1}\n" for at in range(90)))
    assert "estimating" not in run("estimate", few, "--spec", spec(RATING), "--by", "g")[2]


def test_a_mark_at_the_beginning_of_standard_input_hides_no_report(run, spec):
    for text in ("\ufeff2\n3\n4\n", "\ufeffreport\n2\n3\n4\n"):
        code, out, _ = run("estimate", "-", "--spec", spec(RATING), stdin=text)
        assert code == 0 and out.startswith("3 reports")


def test_spaces_are_part_of_a_label_where_a_label_has_them(run, spec, write):
    odd = bp.GRR(bp.Items([" a", "a", "b ", "x\ny", 'q"'], loss=1 - np.eye(5)), epsilon=1)
    cells = [" a", "a", "a ", "b ", '"x\ny"', '"q"""']
    for text in ("\n".join(cells) + "\n", "report\r\n" + "\r\n".join(cells) + "\r\n"):
        file = write("odd.csv", text.encode())
        if "\r" in text:
            file.write_bytes(file.read_bytes().replace(b"x\r\ny", b"x\ny"))
        code, out, err = run("estimate", file, "--spec", spec(odd), "--json")
        assert (code, err) == (0, "")
        (found,) = conforms(out, "estimate")["columns"][0]["estimates"]
        expected = bp.estimate(odd, [" a", "a", "a", "b ", "x\ny", 'q"'])
        assert [each["share"] for each in found["shares"]] == pytest.approx(expected.shares.tolist())


def test_a_file_may_begin_with_a_missing_report(run, spec, write):
    file = write("f.csv", "\n2\n3\n")
    code, out, err = run("estimate", file, "--spec", spec(RATING))
    assert (code, out) == (3, "") and "line 1 has no report" in err and "--nulls drop" in err
    code, out, err = run("estimate", file, "--spec", spec(RATING), "--nulls", "drop")
    assert code == 0 and out.startswith("2 reports") and "1 rows without a report" in err


@pytest.mark.parametrize(
    "repeated", [["--by", "sex", "--by", "country"], ["--column", "age", "--column=hours"], ["--json", "--js"]]
)
def test_an_option_that_is_given_twice_is_refused_unless_it_may_be(run, spec, write, repeated):
    file = write("f.csv", "age,hours,sex,country\n1,2,m,DE\n")
    code, out, err = run("estimate", file, "--spec", spec(RATING), *repeated)
    if repeated[0] == "--json":
        assert "twice" not in err  # says the same again
        return
    assert (code, out) == (2, "") and f"{repeated[0]} is given twice; give it once" in err


def test_the_same_default_given_twice_is_refused_too(run, write, spec):
    file = write("f.csv", "1\n")
    code, _, err = run("estimate", file, "--spec", spec(RATING), "--nulls", "error", "--nulls", "drop")
    assert code == 2 and "--nulls is given twice" in err


def test_one_report_is_one_report(run, spec, write):
    code, out, _ = run("estimate", write("f.csv", "1\n"), "--spec", spec(RATING))
    assert code == 0 and out.startswith("1 report of GRR")


def test_a_share_whose_whole_interval_is_impossible_is_explained(run, spec, write):
    # Nobody has 5, and by bad luck fewer report it than would if nobody had it.
    counts = [3000, 2400, 2400, 2400, 1500]
    file = write("f.csv", "".join(f"{value}\n" * count for value, count in zip(range(1, 6), counts, strict=True)))
    code, out, _ = run("estimate", file, "--spec", spec(RATING))
    row = next(line for line in out.splitlines() if line.strip().startswith("5 "))
    assert code == 1 and row.count("-") == 3
    assert "an interval that lies wholly outside 0 % to 100 % is left as it is" in out
    whole = write("w.csv", "1\n2\n3\n4\n5\n" * 400)
    assert "wholly outside" not in run("estimate", whole, "--spec", spec(RATING))[1]


def test_a_range_below_zero_is_explained(run, spec, write):
    grr = bp.GRR(bp.Integers(1, 30), epsilon=3)
    file = write("f.csv", "".join(f"{report}\n" for report in reported(grr, [10] * 400)))
    _, out, _ = run("estimate", file, "--spec", spec(grr), "--bins", 10)
    assert "range" in out and " -" in out and "unbiased shares may lie below 0 % or above 100 % by chance" in out


def test_a_share_below_zero_is_explained_and_is_not_wholly_outside(run, spec, write):
    counts = [3000, 2400, 2400, 2400, 1750]
    file = write("f.csv", "".join(f"{value}\n" * count for value, count in zip(range(1, 6), counts, strict=True)))
    code, out, _ = run("estimate", file, "--spec", spec(RATING))
    row = next(line for line in out.splitlines() if line.strip().startswith("5 "))
    assert code == 0 and row.count("-") == 2  # the share, and the lower end, which is the same
    assert "unbiased shares may lie below 0 % or above 100 % by chance" in out and "wholly outside" not in out


def test_a_picture_is_what_the_name_of_its_file_says(run, spec, ages, tmp_path):
    arguments = ["estimate", ages[1], "--spec", spec(AGES), "--plot"]
    for ending, start in {"svg": b"<svg ", "png": b"\x89PNG", "pdf": b"%PDF"}.items():
        assert run(*arguments, tmp_path / f"ages.{ending}")[0] == 0
        assert (tmp_path / f"ages.{ending}").read_bytes().startswith(start)
    code, _, err = run(*arguments, tmp_path / "ages.gif")
    assert code == 2 and "Expected a file name ending in .svg, .png, .pdf, got 'ages.gif'; rename it." in err
    assert not (tmp_path / "ages.gif").exists()


@pytest.mark.parametrize(
    "options", [("--csv", "x", "--reject", "x"), ("--csv", "f.csv"), ("--plot", "./x.svg", "--csv", "x.svg")]
)
def test_no_output_overwrites_another_or_the_reports(run, spec, write, tmp_path, monkeypatch, options):
    monkeypatch.chdir(tmp_path)
    file = write("f.csv", "30\n40\n")
    code, _, err = run("estimate", file, "--spec", spec(AGES), *options)
    assert (code, err) == (2, "bipartite: A file to be written is named twice, or is also read; name another one.\n")
    assert file.read_text(encoding="utf-8") == "30\n40\n" and not (tmp_path / "x").exists()


@pytest.mark.parametrize("option", ["--csv", "--reject", "--save-counts"])
def test_no_output_overwrites_the_spec(run, spec, write, option):
    """Without it the reports are worth nothing."""
    held = spec(AGES)
    before = held.read_text(encoding="utf-8")
    code, _, err = run("estimate", write("f.csv", "30\n40\n"), "--spec", held, option, held)
    assert code == 2 and "A file to be written is named twice, or is also read" in err
    assert held.read_text(encoding="utf-8") == before
