"""``bipartite privatize --spec``: values in, one a line, and reports out."""

import json
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import bipartite as bp
from bipartite.mechanisms.catalogue import by_column
from bipartite.mechanisms.categories.cells import to_cells
from bipartite.tables import blocks, sources
from tests.cli.schemas import conforms

AGES = bp.BRR(bp.Integers(18, 90), 1)
WAYS = bp.GRR(bp.Items(["walk", "bus", "car"]), 30)
TOWNS = bp.BRR(bp.Points([(52.5, 13.4), (48.9, 2.4), (1, 2)], "haversine"), 1, m=1)
PAIRS = bp.GRR(bp.Product(bp.Integers(18, 30), bp.Items(["jazz", "rock"])), 30)
NOT_PRIVATE = "bipartite: --insecure-seed: these reports are NOT private; whoever knows the seed can undo them.\n"
FLAT = {
    "oue": bp.OUE(bp.Integers(1, 9), 1),
    "olh": bp.OLH(bp.Integers(1, 9), 1),
    "subset-selection": bp.SubsetSelection(bp.Integers(1, 9), 1),
    "hadamard": bp.HadamardResponse(bp.Integers(1, 9), 1),
    "rappor": bp.RAPPOR(bp.Integers(1, 9), epsilon_permanent=1),
}


@pytest.fixture
def drawn(run, spec):
    """Privatize lines with the spec of a mechanism; return (exit code, stdout, stderr)."""
    return lambda mechanism, lines, *options: run(
        "privatize", "-", "-", "--spec", spec(mechanism), *options, stdin=lines
    )


def test_one_report_a_line_from_the_words_of_the_mechanism(drawn):
    code, out, err = drawn(AGES, "40\n50.0\r\n 60 ", "--insecure-seed", 7)
    expected = AGES.privatize([40, 50, 60], rng=bp.insecure_seed(7))
    assert code == 0 and err.startswith(NOT_PRIVATE) and out == "".join(f"{report}\n" for report in expected)
    code, out, err = drawn(AGES, "40\n" * 5)
    assert code == 0 and len(out.split()) == 5 and "5 rows released; each spent ε = 1.\n" in err
    assert "do not average these reports; run: bipartite estimate FILE --spec " in err and "specs" not in err
    assert drawn(AGES, "")[:2] == (0, "")
    code, out, _ = drawn(bp.BRR(bp.Interval(0, 1, points=11), 1), "0.4\n0.5\n")
    assert code == 0 and all(0 <= float(line) <= 1 for line in out.split())
    assert drawn(bp.Constant(bp.Integers(1, 3)), "1\n3\n")[:2] == (0, "2\n2\n")


@pytest.mark.parametrize("name", ["duchi", "hybrid", "laplace", "piecewise", "staircase", "square-wave", "anchored"])
def test_every_mechanism_of_a_range(drawn, name):
    mechanism = by_column()[name].load()(bp.Interval(0, 20, points=21), "1")
    code, out, _ = drawn(mechanism, "5\n20\n", "--insecure-seed", 7)
    reports = mechanism.privatize([5, 20], rng=bp.insecure_seed(7))
    assert code == 0 and out.split() == [str(report) for report in reports]


@pytest.mark.parametrize("name", FLAT)
def test_reports_of_flat_categories_are_cells_as_in_tables(run, spec, drawn, name):
    mechanism, values = FLAT[name], [5, 9, 1, 1]
    code, out, _ = drawn(mechanism, "5\n9\n1\n1\n", "--insecure-seed", 3)
    expected = to_cells(mechanism.privatize(np.array(values, dtype=float), rng=bp.insecure_seed(3)))
    cells = [str(each) for each in expected.astype(str)]
    assert code == 0 and out.splitlines() == cells
    assert name == "hadamard" or all(cell.startswith("x") for cell in cells)
    # The same few reports again and again are doubted, but read.
    assert run("estimate", "-", "--spec", spec(mechanism), stdin=out * 10)[0] in {0, 1}
    lines = drawn(mechanism, "5\n9\n1\n1\n", "--insecure-seed", 3, "--to", "jsonl")[1].splitlines()
    held = [json.loads(line)["report"] for line in lines]
    assert held == ([int(cell) for cell in cells] if name == "hadamard" else cells)
    code, out, err = drawn(mechanism, "5\n10\n")
    assert (code, out) == (3, "") and "line 2 is outside 1..9" in err and " 10" not in err


def test_labels_and_rows_of_places(run, spec, drawn):
    assert drawn(WAYS, "bus\n walk \n")[:2] == (0, "bus\nwalk\n")
    odd = bp.GRR(bp.Items(["a, b", 'c "d"']), 30)
    code, out, _ = drawn(odd, 'a, b\nc "d"\n')
    assert code == 0 and out == '"a, b"\n"c ""d"""\n'
    assert run("estimate", "-", "--spec", spec(odd), stdin=out)[0] == 0
    numbers = bp.GRR(bp.Items([10, 20, 30]), 30)
    assert drawn(numbers, "10\n30\n")[:2] == (0, "10\n30\n")
    code, out, _ = drawn(TOWNS, "0\n2\n")
    assert code == 0 and set(out.split()) <= {"0", "1", "2"}
    days = bp.BRR(bp.Cyclic(7, labels=["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]), 1, m=4)
    assert drawn(days, "Mon\nSun\n")[0] == 0
    flat = bp.OUE(bp.Items(["a", "b", "c"]), 1)
    code, out, _ = drawn(flat, "a\nb\n", "--insecure-seed", 1)
    assert out.split() == to_cells(flat.privatize(["a", "b"], rng=bp.insecure_seed(1))).astype(str).tolist()


def test_tuples_are_json_arrays_and_their_reports_cells(run, spec, drawn):
    code, out, _ = drawn(PAIRS, '[18, "jazz"]\n[25,"rock"]\n')
    assert (code, out) == (0, '"[18,""jazz""]"\n"[25,""rock""]"\n')
    for text, people in ((out, 2), (f"report\n{out * 2}", 4)):
        (column,) = json.loads(run("estimate", "-", "--spec", spec(PAIRS), "--json", stdin=text)[1])["columns"]
        (found,) = column["estimates"]
        assert found["people"] == people
        assert [each["value"] for each in found["shares"] if each["share"] > 0.4] == [[18, "jazz"], [25, "rock"]]
    assert drawn(PAIRS, '[99, "jazz"]\n', "--outside", "clip")[:2] == (0, '"[30,""jazz""]"\n')
    for line in ('[99, "jazz"]', "old", "[18]", '{"age": 18}', '[18, "\\ud800"]', '[true, "jazz"]', '["x", 4, 5]'):
        code, out, err = drawn(PAIRS, f'[18,"jazz"]\n{line}\n')
        assert (code, out) == (3, "")
        assert "line 2 is not a JSON array of 2 values of" in err and 'like [18,"jazz"]; ' in err


REFUSED = {
    "empty": (AGES, "40\n\n", "line 2 is empty; repair or remove these lines.\n"),
    "outside": (AGES, "40\n17\n", "line 2 is outside 18..90; use --outside 'clip' to clamp values to the ends.\n"),
    "fraction": (AGES, "40\n41.5\n", "line 2 is not a whole number; repair"),
    "label": (WAYS, "bus\ntram\n", "line 2 is not one of the labels (walk, bus, car); repair"),
    "many labels": (bp.GRR(bp.Items(list("abcdefg")), 1), "a\nz\n", "(a, b, c, d, e, …); repair"),
    "row": (TOWNS, "0\n7\n", "values are row numbers of the places, counted from 0; repair or remove these lines.\n"),
    **{
        wrong: (AGES, f"40\n{wrong}\n", "line 2 is not a number; repair")
        for wrong in ("x", "4 0", "1_8", "0x20", "４０")
    },
    "nan": (AGES, "40\nnan\n", "line 2 is "),
    "inf": (AGES, "40\ninf\n", "line 2 is "),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_bad_line_is_named_and_never_shown(drawn, case):
    mechanism, lines, told = REFUSED[case]
    code, out, err = drawn(mechanism, lines)
    assert (code, out) == (3, "") and told in err
    assert "1 of the 2 lines of this batch cannot be reported: line 2" in err
    assert not any(each in err for each in ("tram", "plan", "column", "outside=")) and "41.5" not in err


def test_bad_lines_are_set_aside(tmp_path, drawn):
    aside = tmp_path / "bad.csv"
    code, out, err = drawn(AGES, "40\nx\n\n 17\n50\n", "--reject", aside)
    assert code == 0 and len(out.split()) == 2 and "2 rows released, 3 rejected" in err
    assert aside.read_text(encoding="utf-8").splitlines()[1:] == [
        '2,"report: not of the type that the plan needs","x",',
        '3,"report: missing","",',
        '4,"report: outside"," 17",',
    ]
    code, out, _ = drawn(PAIRS, '[18,"jazz"]\n[18]\n', "--reject", aside, "--overwrite")
    assert code == 0 and out == '"[18,""jazz""]"\n'
    assert drawn(AGES, "40\n200\n", "--outside", "clip")[0] == 0


def test_files_hold_one_report_a_line_too(run, spec, tmp_path, write):
    values, file = write("ages.txt", "\ufeff40\n" * 3), spec(AGES)
    for name in ("reports.txt", "reports.csv", "reports.txt.gz"):
        code, out, err = run("privatize", values, tmp_path / name, "--spec", file, "--json")
        if name == "reports.txt":
            assert code == 3 and "lines 2, 3 are not a number" in err  # only the first may begin with a mark
            values = write("ages.txt", "\ufeff40\n41\n42\n")
            code, out, err = run("privatize", values, tmp_path / name, "--spec", file, "--json")
        assert code == 0 and conforms(out, "privatize")["released"] == 3
        assert f"--spec {file}" in json.loads(out)["next"] and not (tmp_path / f"{name}.bipartite.json").exists()
    assert len((tmp_path / "reports.txt").read_text(encoding="utf-8").splitlines()) == 3
    assert run("estimate", tmp_path / "reports.csv", "--spec", file)[0] == 0
    # A table says what it holds.
    assert run("privatize", values, tmp_path / "reports.parquet", "--spec", file)[0] == 0
    assert run("estimate", tmp_path / "reports.parquet")[0] == 0
    code, _, err = run("privatize", values, tmp_path / "reports.txt", "--spec", file)
    assert code == 2 and "already exists" in err


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--from", "csv"], "--from and --specs belong to --plan"),
        (["--specs", "x.json"], "--from and --specs belong to --plan"),
        (["--delimiter", ";"], "--delimiter and --encoding apply to CSV"),
        (["--plan", "plan.toml"], "not allowed with argument"),
        (["--insecure-seed", "-1"], "Expected --insecure-seed as a whole number"),
        (["--json"], "--json and the reports cannot both go to standard output"),
    ],
)
def test_options_of_tables_are_refused(drawn, options, told):
    code, out, err = drawn(AGES, "40\n", *options)
    assert (code, out) == (2, "") and told in err


def test_outside_belongs_to_numbers_and_to_a_spec(run, drawn, write):
    code, out, err = drawn(WAYS, "bus\n", "--outside", "clip")
    assert (code, out) == (2, "") and "has no meaning on a set" in err
    plan = write("plan.toml", "[columns.a]\ndomain = { integers = [1, 5] }\nepsilon = 1\n")
    code, _, err = run("privatize", "-", "-", "--plan", plan, "--outside", "clip", stdin="a\n1\n")
    assert code == 2 and "--outside belongs to --spec; a plan says it for each column." in err
    assert run("privatize", "-", "-", stdin="1\n")[0] == 2


@pytest.mark.parametrize("ends", [{"input_format": "lines"}, {"output_format": "lines"}])
def test_lines_hold_one_column(tmp_path, write, ends):
    plan = bp.Plan({"age": AGES, "way": "public"})
    with pytest.raises(bp.errors.InputError, match="Lines hold the values of one column; write a table"):
        bp.tables.privatize_file(write("in.csv", "age,way\n40,bus\n"), tmp_path / "out.csv", plan, **ends)
    assert not (tmp_path / "out.csv").exists()


def test_a_spec_that_breaks_its_promise_reports_nothing(run, write):
    broken = write("broken.json", json.dumps(AGES.to_spec() | {"epsilon": "0.5"}))
    assert run("privatize", "-", "-", "--spec", broken, stdin="40\n")[:2] == (1, "")


def test_what_was_written_before_a_bad_line_is_said_to_be_released(drawn, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK", 9)
    code, out, err = drawn(AGES, "40\n" * 7 + "bad\n")
    assert code == 3 and len(out.split()) == 6
    assert "line 8 is not a number" in err and "are released and have spent their ε" in err


def test_wide_reports_are_drawn_a_few_at_a_time(drawn, monkeypatch):
    sizes, draw = [], bp.OUE.draw_values
    monkeypatch.setattr(
        bp.OUE, "draw_values", lambda self, values, *given: sizes.append(len(values)) or draw(self, values, *given)
    )
    monkeypatch.setattr(sources, "_WIDE_BYTES", 2**20)
    code, out, _ = drawn(bp.OUE(bp.Integers(1, 2**16), 1), "5\n" * 100)
    assert code == 0 and len(out.split()) == 100 == sum(sizes) and 1 < max(sizes) < 100


def test_input_that_is_no_text_is_bad_data(piped, spec):
    code, out, err = piped("privatize", "-", "-", "--spec", spec(AGES), stdin=b"40\n\xff\xfe\n")
    assert (code, out) == (3, b"") and "line 2 of standard input is not UTF-8 text" in err


def _started(file, *options, **streams):
    command = [sys.executable, "-m", "bipartite", "privatize", "-", "-", "--spec", file, *options]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, **streams)


def test_a_slow_pipe_is_answered_line_by_line(spec):
    process = _started(spec(bp.BRR(bp.Integers(1, 5), 1)), stdout=subprocess.PIPE)
    late = threading.Timer(60, process.kill)
    late.start()
    for _ in range(3):
        process.stdin.write(b"4\n")
        process.stdin.flush()
        assert process.stdout.readline().strip().isdigit()
    _, err = process.communicate(timeout=60)
    late.cancel()
    assert process.returncode == 0 and b"3 rows released" in err


@pytest.mark.skipif(os.name == "nt", reason="POSIX pipes")
def test_a_reader_that_stalls_stops_the_reading(spec):
    read, write = os.pipe()
    process = _started(spec(AGES), stdout=write)
    os.close(write)
    given, block, idle = 0, b"40\n" * 2**20, 0
    os.set_blocking(process.stdin.fileno(), False)
    with process:
        while idle < 30:
            try:
                given += os.write(process.stdin.fileno(), block[given % 3 :])
                idle = 0
            except BlockingIOError:
                time.sleep(0.1)
                idle += 1
        assert 0 < given < 2**26  # what pipes, queues and blocks hold, not all that there is
        os.close(read)
        process.stdin.close()
        assert process.wait(timeout=60) == 141


@pytest.mark.skipif(os.name == "nt", reason="POSIX pipes")
def test_what_was_set_aside_is_kept_when_the_reader_goes_away(spec, tmp_path):
    process = _started(spec(AGES), "--reject", tmp_path / "aside.csv", stdout=subprocess.PIPE)
    with process:
        process.stdin.write(b"40\nx\n")
        process.stdin.flush()
        assert process.stdout.readline().strip().isdigit()
        process.stdout.close()
        process.stdin.write(b"41\n")
        process.stdin.flush()
        assert process.wait(timeout=60) == 141
    kept = (tmp_path / "aside.csv").read_text(encoding="utf-8").splitlines()
    assert len(kept) == 2 and kept[1].startswith('2,"') and '"x"' in kept[1]


@pytest.mark.skipif(os.name == "nt", reason="a closed standard input is a matter of POSIX shells")
def test_a_closed_input_is_a_mistake(spec):
    command = f'"{sys.executable}" -m bipartite privatize - - --spec "{spec(AGES)}" <&-'
    result = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60, check=False)
    assert (result.returncode, result.stderr) == (2, "bipartite: standard input is closed; name a file instead.\n")


@pytest.mark.parametrize(
    ("given", "other"),
    [(("--spec", "plan.toml"), "--plan"), (("--plan", "age.json"), "--spec"), (("--plan", "A.JSON"), "--spec")],
)
def test_a_plan_given_as_a_spec_is_told_apart(run, given, other):
    code, _, err = run("privatize", "in.csv", "out.csv", *given)
    assert code == 2 and err == f"bipartite: Plans are TOML and specs are JSON; give {given[1]} as {other}.\n"


@pytest.mark.skipif(os.name == "nt", reason="streams are closed as in POSIX shells")
def test_nothing_is_written_where_a_closed_stream_was(spec, tmp_path):
    """The next file to be opened gets its number, and libraries would write into that; notes are no data."""
    (tmp_path / "in.txt").write_text("40\n41\n", encoding="utf-8")
    command = f'"{sys.executable}" -m bipartite privatize in.txt OUT --spec "{spec(AGES)}"'
    codes = {}
    for words in ("out.txt 2>&-", "- 2>&-", "out.csv --to csv --json >&-", "both.txt --json >&- 2>&-", "- >&-"):
        shell = ["sh", "-c", command.replace("OUT", words)]
        done = subprocess.run(shell, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
        codes[words] = done.returncode
        assert all(line.isdigit() for line in done.stdout.splitlines())
    assert codes.pop("- >&-") == 2 and set(codes.values()) == {0}
    for each in ("out.txt", "out.csv", "both.txt"):
        assert len([line for line in (tmp_path / each).read_text().splitlines() if line.isdigit()]) == 2
