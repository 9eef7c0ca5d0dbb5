"""``bipartite estimate`` of collected reports: retries, other questions, forged and broken lines."""

import gzip
import json
import stat
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bipartite as bp
from bipartite.mechanisms.spec import spec_sha256
from bipartite.mechanisms.spec.canonical import record_sha256
from bipartite.tables import blocks, collecting
from tests.cli.schemas import conforms
from tests.cli.test_estimate_table import AGES, JOBS, PLAN, reports, write_arrow, write_csv

RATING = bp.GRR(bp.Integers(1, 5), epsilon=1)
HASH = spec_sha256(RATING)
RETRIES = "bipartite: 120 lines with a key that came before, as retries have; every key counts once.\n"
DRAWN = [1, 2, 3, 4, 4, 5] * 20
VECTORS = Path(__file__).parents[1] / "vectors" / "records.json"


def envelope(report, number, **others):
    held = {"v": 1, "study": "s", "question": "q", "spec": HASH, "report": report, "key": f"{number:032x}"}
    return json.dumps({**held, **others}) + "\n"


LINES = [envelope(report, key) for key, report in enumerate(DRAWN)]


@pytest.fixture
def collected(tmp_path):
    """Writes lines to a file of this name, beside the spec."""
    (tmp_path / "spec.json").write_text(json.dumps(RATING.to_spec()), encoding="utf-8")

    def write(lines, name="r.jsonl"):
        (tmp_path / name).write_text("".join(lines), encoding="utf-8")
        return tmp_path / name

    return write


@pytest.fixture
def answer(run, tmp_path):
    """Estimates files of reports; (exit code, JSON or nothing, stderr)."""

    def ask(*arguments):
        code, out, err = run("estimate", *arguments, "--spec", tmp_path / "spec.json", "--json")
        return code, conforms(out, "estimate") if code in {0, 1} else out, err

    return ask


def test_a_retry_counts_once_in_one_file_or_several(collected, answer):
    once, whole = collected(LINES), bp.estimate(RATING, DRAWN)
    for files in ([collected([*LINES, *LINES], "twice.jsonl")], [once, collected(LINES[::-1], "again.jsonl")]):
        code, found, err = answer(*files)
        assert code == 0 and err == RETRIES
        (one,) = found["columns"][0]["estimates"]
        assert (one["people"], found["repeated"], found["rejected"]) == (120, 120, 0)
        assert (one["mean"]["low"], one["mean"]["high"]) == pytest.approx(whole.ask().ci())


def test_a_million_lines_of_one_key_are_one_report(collected, answer):
    code, found, err = answer(collected([*LINES, LINES[7] * 5000]))
    assert (
        code == 0
        and found["columns"][0]["estimates"][0]["people"] == 120
        and "5,000 lines with a key that came before" in err
    )


@pytest.mark.usefixtures("collected")
def test_retries_of_groups_and_of_packed_files_count_once_too(answer, tmp_path):
    lines = [envelope(report, key, side="ab"[key % 2]) for key, report in enumerate(DRAWN)]
    packed = tmp_path / "r.jsonl.gz"
    packed.write_bytes(gzip.compress("".join([*lines, *lines]).encode()))
    _, found, _ = answer(packed, "--by", "side")
    assert [(each["group"], each["people"]) for each in found["columns"][0]["estimates"]] == [("a", 60), ("b", 60)]


def test_a_key_is_text_of_this_format_only_beside_a_spec(collected, answer):
    # Of a table with a column of its own that is called key, every row counts.
    code, found, err = answer(collected(['{"report": 3, "key": "north"}\n'] * 10))
    assert (code, err, found["columns"][0]["estimates"][0]["people"]) == (0, "", 10)
    code, found, _ = answer(collected([envelope(3, 1, rating=4)] * 10), "--column", "rating")
    assert code == 0 and found["columns"][0]["estimates"][0]["people"] == 10


REFUSED = {
    "another spec": (
        envelope(3, 999, spec="0" * 64),
        "line 121 was drawn with another spec; estimate it with its own.",
    ),
    "no spec at all": (envelope(3, 999, spec=None), "line 121 was drawn with another spec"),
    "a spec as a list": (envelope(3, 999, spec=[HASH]), "line 121 was drawn with another spec"),
    "a record": (envelope({"a": 3}, 999, spec="1" * 64), "line 121 was drawn with another spec"),
    "a key that is a number": (envelope(3, 999, key=3), "line 121 has a key that is not text"),
    "a forged report": (envelope(9, 999), "line 121 cannot have come from GRR(Integers(1, 5), epsilon=1)"),
    "a report of a report": (envelope([3], 999), "line 121 cannot have come from"),
    "no report": (envelope(None, 999), "line 121 has no report; repair or remove it, or use --nulls drop."),
    "half a line": ('{"report": 3\n', "line 121 is not a JSON object; repair or remove it."),
    "a number": ("3\n", "line 121 is not a JSON object"),
    "too deep": ("[" * 100_000 + "\n", "line 121 is not a JSON object"),
    "too many digits": ('{"report": ' + "9" * 5000 + "}\n", "line 121 is not a JSON object"),
    "two reports": ('{"report": 3, "report": 4}\n', "line 121 has an object that repeats a key"),
    "two within": ('{"report": 3, "about": {"a": 1, "a": 2}}\n', "line 121 has an object that repeats a key"),
    "its key with another report": (
        envelope(5, 1),
        "r.jsonl: line 121 has the key of {}: line 2, but another report, so one of them is forged.",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_line_that_is_no_report_is_an_error_or_set_aside(collected, answer, tmp_path, case):
    line, message = REFUSED[case]
    file, aside = collected([*LINES, line, envelope(2, 500)]), tmp_path / "aside.jsonl"
    code, out, err = answer(file)
    assert (code, out) == (3, "")
    assert message.format(file) in err and "set such lines aside with --reject FILE" in err
    code, found, err = answer(file, "--reject", aside)
    assert code == 0 and found["rejected"] == 1
    assert found["columns"][0]["estimates"][0]["people"] == 121
    assert f"1 line set aside in {aside}, and counted as not received; the first: {file}: line 121 " in err
    assert aside.read_text(encoding="utf-8") == line
    assert stat.S_IMODE(aside.stat().st_mode) == 0o600


def test_what_is_set_aside_is_never_shown_and_never_replaces_a_file(collected, answer, tmp_path):
    hostile = '{"report": "\\u001b[2J<script>", "spec": 1, "key": 2}\n\x1b[2J\n'
    aside = tmp_path / "aside"
    code, found, err = answer(collected([hostile, *LINES, hostile]), "--reject", aside)
    assert code == 0 and found["rejected"] == 4 and "\x1b" not in err and "script" not in err
    assert aside.read_text(encoding="utf-8") == hostile * 2
    code, out, err = answer(collected(LINES), "--reject", aside)
    assert (code, out) == (2, "") and f"{aside} already exists; name a new file with --reject." in err
    odd = tmp_path / "a\x1b[2J"
    assert "\x1b" not in answer(collected([*LINES, "x\n"], "b\n.jsonl"), "--reject", odd)[2] and odd.exists()
    # Of an error nothing remains.
    code, out, err = answer(collected(LINES), collected(["x"], "x.jsonl"), "--reject", tmp_path / "other")
    assert (code, out) == (3, "") and sorted(each.name for each in tmp_path.glob("*other*")) == []


def test_a_refused_report_takes_no_key(collected, answer, tmp_path):
    file = collected([envelope(9, 1), envelope(3, 1), envelope(3, 1)])
    code, found, _ = answer(file, "--reject", tmp_path / "aside")
    assert (code, found["columns"][0]["estimates"][0]["people"], found["rejected"], found["repeated"]) == (0, 1, 1, 1)


@pytest.mark.parametrize("field", ["study", "question"])
def test_which_question_counts_is_never_decided_by_the_first_line(collected, answer, tmp_path, field):
    other = envelope(3, 999, **{field: "é"})
    file, aside = collected([other, *LINES]), tmp_path / "aside"
    for more in ([], ["--reject", aside]):
        code, out, err = answer(file, *more)
        assert (code, out) == (3, "") and not aside.exists()
        assert f"{file}: line 2 is about another {field} than {file}: line 1; say with --{field} which" in err
    code, _, err = answer(file, f"--{field}", "q" if field == "question" else "s")
    assert code == 3 and f"line 1 is about another {field} than --{field} names" in err
    code, found, _ = answer(file, f"--{field}", "q" if field == "question" else "s", "--reject", aside)
    assert (code, found["columns"][0]["estimates"][0]["people"], found["rejected"]) == (0, 120, 1)
    # Names are compared as clients normalize them.
    code, found, _ = answer(file, f"--{field}", "e\u0301", "--reject", tmp_path / "rest")
    assert (code, found["columns"][0]["estimates"][0]["people"], found["rejected"]) == (0, 1, 120)
    code, _, err = answer(collected(['{"report": 3}\n']), f"--{field}", "q")
    assert code == 3 and "line 1 is in no envelope, and so about no question" in err


def test_forged_lines_of_csv_are_set_aside(collected, answer, tmp_path):
    for name, text, bad in (
        ("r.csv", "9\n3\nx\n4\n4,4\n5\n\n", ["9\n", "x\n", "4,4\n", "\n"]),
        ("r.tsv", "report\tg\r\n3\ta\r\n9\ta\r\n4\ta\r\n5\ta\tb\r\n1\ta\r\n", ["9\ta\r\n", "5\ta\tb\r\n"]),
        ("q.csv", 'report\n3\n"4"4\n4\n5\n', ['"4"4\n']),
    ):
        aside = tmp_path / f"aside-{name}"
        code, found, err = answer(collected([text], name), "--reject", aside)
        assert (code, found["columns"][0]["estimates"][0]["people"], found["rejected"]) == (0, 3, len(bad)), err
        assert sorted(aside.read_bytes().decode().splitlines(keepends=True)) == sorted(bad)
    code, out, err = answer(collected(["9\n"], "n.csv"), "--reject", tmp_path / "all")
    assert (code, out) == (3, "") and "There are no reports" in err
    assert (tmp_path / "all").read_text() == "9\n"


def forged(table, row):
    ages = table["age"].to_pylist()
    ages[row] = 9999
    return table.set_column(table.column_names.index("age"), "age", pa.array(ages))


@pytest.mark.grid(3)
@pytest.mark.parametrize("kind", ["csv", "csv.gz", "tsv", "jsonl", "parquet", "arrow"])
def test_a_forged_report_of_a_released_table_has_a_place_and_can_be_set_aside(run, tmp_path, kind):
    one, other = reports(1), forged(reports(2), 41)
    files = [tmp_path / f"a.{kind}", tmp_path / f"b.{kind}"]
    for file, table in zip(files, (one, other), strict=True):
        if kind == "parquet":
            pq.write_table(table, file)
        elif kind == "arrow":
            write_arrow(file, table)
        else:
            side = file.with_name(file.name + ".bipartite.json")
            side.write_text(json.dumps(PLAN.metadata()), encoding="utf-8")
            text = "".join(json.dumps(row) + "\n" for row in table.to_pylist())
            if kind != "jsonl":
                text = write_csv(tmp_path / "t" / "t.csv", table).read_text(encoding="utf-8")
            text = text.replace(",", "\t").replace("ärztin\t", "ärztin,") if kind == "tsv" else text
            file.write_bytes(gzip.compress(text.encode()) if kind == "csv.gz" else text.encode())
    row = "row 42" if kind in {"parquet", "arrow"} else f"line {42 if kind == 'jsonl' else 43}"
    place = f"{row}, column 'age', cannot have come from GRR"
    code, out, err = run("estimate", *files)
    assert (code, out) == (3, "") and f"{files[1]}: {place}" in err and "9999" not in err
    aside = tmp_path / "aside"
    for more in ([], ["--by", "country"]):
        code, out, err = run("estimate", *files, "--json", "--reject", aside, *more)
        found = conforms(out, "estimate")
        people = [sum(each["people"] for each in column["estimates"]) for column in found["columns"]]
        # No column counts the row.
        assert (code, people, found["rejected"]) == (0, [799, 799], 1), err
        assert aside.read_text(encoding="utf-8").count("\n") == 1 and "9999" in aside.read_text(encoding="utf-8")
        aside.unlink()


def test_a_forged_report_with_a_weight_is_set_aside(run, tmp_path):
    table = pa.table({"age": [20, 9999, 40], "w": [1.0, 1.0, 2.0]})
    (tmp_path / "age.json").write_text(json.dumps(AGES.to_spec()), encoding="utf-8")
    for file in (write_arrow(tmp_path / "t.arrow", table), write_csv(tmp_path / "t.csv", table)):
        arguments = ["estimate", file, "--spec", tmp_path / "age.json", "--column", "age", "--weights", "w"]
        code, out, err = run(*arguments)
        assert (code, out) == (3, "") and str(file) in err and ("row 2" in err or "line 3" in err)
        assert run(*arguments, "--reject", tmp_path / f"{file.name}.aside")[1].startswith("2 reports")


def record_lines(specs, sample, drawn):
    whose = {"v": 1, "study": "s", "question": "both", "spec": record_sha256(specs, sample)}
    return [json.dumps({**whose, "report": each, "key": f"{key:032x}"}) + "\n" for key, each in enumerate(drawn)]


def test_records_are_named_as_the_client_names_them():
    specs = {name: bp.from_spec(spec) for name, spec in json.loads(VECTORS.read_text())[0]["specs"].items()}
    # What parseRecord of the client says.
    assert record_sha256(specs) == "ef36553efe9f0c7467e1e703e91113703f0aff9934f9b1a85d30680d0d0cf5c8"
    assert record_sha256(specs, 1) == "963a73e6ef5f5e1bfdaa872e32e4c3433aa8fe6afe691e175d254e9b1dd18633"
    odd = {'äge "x"': specs["age"], "town\x7f": specs["town"]}
    assert record_sha256(odd) == "8abe827b54fa8ad3d017a5d5bee78de222a691b21707e09670753c6890a11c5d"


@pytest.mark.parametrize("sample", [None, 1])
def test_envelopes_of_records_are_opened_and_checked(run, tmp_path, sample):
    plan, jobs = bp.Plan({"age": AGES, "job": JOBS}), ["nurse", "teacher", "ärztin, frei"]
    specs, file = tmp_path / "both.json", tmp_path / "both.jsonl"
    specs.write_text(json.dumps(plan.metadata()), encoding="utf-8")
    both = [{"age": 20 + at % 50, "job": jobs[at % 3]} for at in range(60)]
    drawn = both
    if sample is not None:
        drawn = [{name: each[name]} for each, name in zip(both, ["age", "job"] * 30, strict=True)]
    lines = record_lines(plan.mechanisms(), sample, drawn)
    file.write_text("".join([*lines, *lines]), encoding="utf-8")
    code, out, err = run("estimate", file, "--spec", specs, "--json")
    found = conforms(out, "estimate")
    assert (code, found["repeated"]) == (0, 60), err
    for column in found["columns"]:
        mine = [each[column["name"]] for each in drawn if column["name"] in each]
        (one,) = column["estimates"]
        assert one["people"] == len(mine)
        expected = bp.estimate(plan.mechanisms()[column["name"]], mine)
        assert [each["share"] for each in one["shares"]] == pytest.approx(expected.shares.tolist())
    assert f"{60 if sample is None else 30} reports" in run("estimate", file, "--spec", specs, "--column", "job")[1]
    others = {
        " was drawn with another spec": record_lines({"job": JOBS, "age": AGES}, sample, drawn[:1]),
        " does not have the attributes of its record": record_lines(plan.mechanisms(), sample, [{"age": 20, "x": 1}]),
        ", column 'age', cannot have come from GRR": record_lines(
            plan.mechanisms(), sample, [{"age": 999} if sample else {"age": 999, "job": "nurse"}]
        ),
    }
    for message, (first,) in others.items():
        line = first.replace("0" * 32, "f" * 32)
        file.write_text("".join([*lines, line]), encoding="utf-8")
        code, out, err = run("estimate", file, "--spec", specs)
        assert (code, out) == (3, "") and f"{file}: line 61{message}" in err
        code, out, _ = run("estimate", file, "--spec", specs, "--json", "--reject", tmp_path / "aside")
        assert code == 0 and json.loads(out)["rejected"] == 1
        assert (tmp_path / "aside").read_text(encoding="utf-8") == line
        (tmp_path / "aside").unlink()


@pytest.mark.parametrize("option", ["reject", "study", "question"])
def test_options_of_files_need_files(run, option, write):
    saved = write("counts.json", bp.Counts(RATING).add(DRAWN).to_json())
    code, out, err = run("estimate", "--counts", saved, f"--{option}", "x")
    assert (code, out) == (2, "") and f"are for files of reports; leave out --{option}." in err


def test_a_column_of_bits_is_set_aside_by_row(run, tmp_path, write):
    oue = bp.OUE(bp.Items(["a", "b", "c"], loss=1 - np.eye(3)), epsilon=1)
    spec = write("spec.json", json.dumps(oue.to_spec()))
    file = write_arrow(tmp_path / "t.arrow", pa.table({"report": ["x01", "xff", None, "x02"]}))
    code, _, err = run("estimate", file, "--spec", spec, "--nulls", "drop")
    assert code == 3 and "row 2 cannot have come from OUE" in err
    code, out, _ = run("estimate", file, "--spec", spec, "--nulls", "drop", "--reject", tmp_path / "aside")
    assert code == 0 and out.startswith("2 reports")
    assert json.loads((tmp_path / "aside").read_text()) == {"report": "xff"}


@pytest.mark.parametrize("nulls", ["error", "drop"])
def test_a_row_among_envelopes_does_not_make_a_table_of_them(run, tmp_path, nulls):
    plan = bp.Plan({"age": AGES, "job": JOBS})
    specs, file = tmp_path / "both.json", tmp_path / "both.jsonl"
    specs.write_text(json.dumps(plan.metadata()), encoding="utf-8")
    lines = record_lines(plan.mechanisms(), None, [{"age": 20 + at % 50, "job": "nurse"} for at in range(60)])
    file.write_text("".join([*lines, *lines, '{"age": 89, "job": "nurse"}\n']), encoding="utf-8")
    code, out, err = run("estimate", file, "--spec", specs, "--json", "--nulls", nulls)
    found = json.loads(out)
    assert (code, found["repeated"]) == (1, 60), err  # nobody is a nurse so often
    assert [column["estimates"][0]["people"] for column in found["columns"]] == [61, 61]


@pytest.mark.parametrize("field", ["study", "question"])
def test_a_question_is_not_asked_for_in_vain(collected, answer, tmp_path, field):
    write_arrow(tmp_path / "r.arrow", pa.table({"report": DRAWN}))
    for file in (collected(["3\n"], "r.csv"), tmp_path / "r.arrow", "-"):
        code, out, err = answer(file, f"--{field}", "x")
        assert (code, out) == (2, "") and "--study and --question are for envelopes in JSON lines" in err


def test_all_lines_that_a_quote_swallows_are_told(collected, answer, tmp_path):
    opened, closed = ("a.csv", '3\n"\n4\n5\n', "line 2 cannot be"), ("b.csv", '3\n"4\n5\n"\n', "line 4 cannot have")
    for name, text, said in (opened, closed):
        code, found, err = answer(collected([text], name), "--reject", tmp_path / f"aside-{name}")
        assert (code, found["columns"][0]["estimates"][0]["people"], found["rejected"]) == (0, 1, 3)
        assert "3 lines set aside" in err and said in err


def test_an_open_quotation_mark_does_not_swallow_the_rest_of_a_large_file(collected, answer, tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK", 64)
    monkeypatch.setattr(collecting, "_LONGEST", 256)
    file = collected(["3\n" * 20, '"\n', "4\n" * 1000], "r.csv")
    code, out, err = answer(file)
    assert (code, out) == (3, "") and "line 21 cannot be read as CSV (unexpected end of data)" in err
    code, found, err = answer(file, "--reject", tmp_path / "aside")
    people = found["columns"][0]["estimates"][0]["people"]
    assert code == 1 and people + found["rejected"] == 1021 and 1 < found["rejected"] < 200


@pytest.mark.usefixtures("collected")
def test_a_byte_that_is_no_text_is_one_line_of_standard_input(run, tmp_path):
    arguments = ["estimate", "-", "--spec", tmp_path / "spec.json"]
    code, out, err = run(*arguments, stdin=b"3\n\xff\n4\n")
    assert (code, out) == (3, "") and "standard input: line 2 is not UTF-8 text" in err
    code, out, _ = run(*arguments, "--reject", tmp_path / "aside", stdin=b"3\n\xff\n4\n")
    assert code == 0 and out.startswith("2 reports") and (tmp_path / "aside").read_bytes() == b"\xff\n"


@pytest.mark.usefixtures("collected")
def test_a_damaged_packed_file_is_named(answer, tmp_path):
    packed = tmp_path / "r.jsonl.gz"
    packed.write_bytes(gzip.compress("".join(LINES).encode())[:-20])
    code, out, err = answer(packed, "--reject", tmp_path / "aside")
    assert (code, out) == (3, "") and f"{packed} cannot be decompressed; it may be truncated" in err
    assert not (tmp_path / "aside").exists()


@pytest.mark.usefixtures("collected")
def test_a_column_that_cannot_hold_reports_is_no_bug(answer, tmp_path):
    for kind, values in (("lists", pa.array([[3], None])), ("dates", pa.array([3, None], pa.date32()))):
        file = write_arrow(tmp_path / "t.arrow", pa.table({"report": values}))
        code, out, err = answer(file, "--reject", tmp_path / kind)
        assert (code, out) == (3, "") and "There are no reports" in err
