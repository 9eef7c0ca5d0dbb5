"""``bipartite estimate`` says NOT PRIVATE of reports drawn from known words, whichever way they come."""

import json

import pyarrow.parquet as pq
import pytest

import bipartite as bp
from tests.cli.schemas import conforms
from tests.cli.test_estimate_table import AGES, PLAN, people, reports, write_csv

NOT_PRIVATE = "NOT PRIVATE"


@pytest.fixture
def released(tmp_path):
    """A release from known words: (its CSV file, its specs, a plain spec of age)."""
    table = reports(1)
    file, specs, age = write_csv(tmp_path / "si.csv", table), tmp_path / "si.json", tmp_path / "age.json"
    specs.write_bytes(table.schema.metadata[b"bipartite"])
    age.write_text(json.dumps(AGES.to_spec()), encoding="utf-8")
    return file, specs, age


def test_reports_on_standard_input_are_not_private_where_their_release_says_so(run, released):
    file, specs, _ = released
    reading = {"stdin": file.read_text(encoding="utf-8")}
    code, out, _ = run("estimate", "-", "--spec", specs, "--column", "age", **reading)
    assert code == 0 and out == run("estimate", file, "--spec", specs, "--column", "age")[1]
    assert out.startswith(NOT_PRIVATE)
    code, out, _ = run("estimate", "-", "--spec", specs, "--column", "age", "--json", **reading)
    found = conforms(out, "estimate")
    assert (code, found["insecure"], found["epsilon"]) == (0, True, None)
    assert out == run("estimate", file, "--spec", specs, "--column", "age", "--json")[1]


def test_a_page_of_standard_input_says_what_is_promised(run, released, tmp_path):
    file, specs, _ = released
    page = tmp_path / "page.html"
    code, _, err = run(
        "estimate", "-", "--spec", specs, "--column", "age", "--html", page, stdin=file.read_text(encoding="utf-8")
    )
    assert (code, err) == (0, "")
    written = page.read_text(encoding="utf-8")
    assert NOT_PRIVATE in written and "<h1>standard input</h1>" in written


def test_saved_counts_of_reports_that_are_not_private_say_so(run, released, tmp_path, write):
    file, specs, _ = released
    saved = tmp_path / "counts.json"
    code, out, _ = run(
        "estimate", "-", "--spec", specs, "--column", "age", "--save-counts", saved, stdin=file.read_text("utf-8")
    )
    assert code == 0 and out.startswith(NOT_PRIVATE)
    assert bp.Counts.from_json(saved.read_text(encoding="utf-8")).insecure is True
    code, out, _ = run("estimate", "--counts", saved)
    assert code == 0 and out.startswith(NOT_PRIVATE)
    found = conforms(run("estimate", "--counts", saved, "--json")[1], "estimate")
    assert found["insecure"] is True
    # Merged with others, and counted beside others, too.
    other = write("other.json", bp.Counts(AGES).add([30]).to_json())
    assert run("estimate", "--counts", other, "--counts", saved)[1].startswith(NOT_PRIVATE)
    again = tmp_path / "again.json"
    assert run("estimate", "--counts", other, "--counts", saved, "--save-counts", again)[0] == 0
    assert bp.Counts.from_json(again.read_text(encoding="utf-8")).insecure is True


def test_counts_are_saved_of_a_column_of_a_released_table(run, released, tmp_path):
    file, specs, _ = released
    table = reports(1)
    pq.write_table(table, tmp_path / "si.parquet")
    for where, more in ((file, ["--spec", specs]), (tmp_path / "si.parquet", []), (file, ["--spec", specs, "--json"])):
        saved = tmp_path / "counts.json"
        code, out, err = run("estimate", where, *more, "--column", "age", "--save-counts", saved)
        assert (code, err) == (0, "")
        assert out == run("estimate", where, *more, "--column", "age")[1]
        found = bp.Counts.from_json(saved.read_text(encoding="utf-8"))
        assert found.values.tolist() == bp.Counts(AGES).add(table["age"].to_pylist()).values.tolist()
        assert found.insecure is True
    code, out, err = run("estimate", file, "--spec", specs, "--save-counts", tmp_path / "x.json")
    assert (code, out) == (2, "") and "'age', 'job'" in err and "--column" in err


def test_counts_of_a_release_from_secure_words_say_so(run, tmp_path):
    pq.write_table(bp.privatize_frame(people(50, 1), PLAN), tmp_path / "s.parquet")
    saved = tmp_path / "counts.json"
    assert run("estimate", tmp_path / "s.parquet", "--column", "age", "--save-counts", saved)[0] == 0
    assert bp.Counts.from_json(saved.read_text(encoding="utf-8")).insecure is False
    code, out, _ = run("estimate", "--counts", saved, "--json")
    assert code == 0 and json.loads(out)["insecure"] is False


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_file_that_says_that_it_is_not_private_is_believed_whatever_the_spec(run, released, tmp_path, kind, write):
    file, specs, age = released
    if kind == "parquet":
        file = tmp_path / "si.parquet"
        pq.write_table(reports(1), file)
    else:
        file.with_name("si.csv.bipartite.json").write_bytes(specs.read_bytes())
    code, out, _ = run("estimate", file, "--spec", age, "--column", "age")
    assert code == 0 and out.startswith(NOT_PRIVATE)
    assert json.loads(run("estimate", file, "--spec", age, "--column", "age", "--json")[1])["insecure"] is True
    # The specs of a release from secure words, which has the same mechanisms.
    secure = write("secure.json", json.dumps(PLAN.metadata()))
    code, out, _ = run("estimate", file, "--spec", secure)
    assert code == 0 and out.startswith(NOT_PRIVATE)


def test_standard_input_of_a_release_with_several_columns_names_them(run, released):
    file, specs, _ = released
    code, out, err = run("estimate", "-", "--spec", specs, stdin=file.read_text(encoding="utf-8"))
    assert (code, out) == (2, "") and "None" not in err
    assert "Expected --column to name one private column of the release: 'age', 'job'" in err


def test_groups_on_standard_input_are_public_columns_of_the_release(run, released):
    file, specs, _ = released
    reading = {"stdin": file.read_text(encoding="utf-8")}
    code, out, err = run("estimate", "-", "--spec", specs, "--column", "age", "--by", "job", **reading)
    assert (code, out) == (2, "") and "Expected a public column for the groups, got 'job'" in err
    code, out, _ = run("estimate", "-", "--spec", specs, "--column", "age", "--by", "country", **reading)
    assert code == 0 and out.startswith(NOT_PRIVATE)


def test_weights_are_public_columns_of_the_release(run, released):
    file, specs, _ = released
    for where, stdin in ((file, ""), ("-", file.read_text(encoding="utf-8"))):
        code, out, err = run("estimate", where, "--spec", specs, "--column", "age", "--weights", "job", stdin=stdin)
        assert (code, out) == (2, "") and "Expected a public column for the weights, got 'job'" in err


@pytest.mark.parametrize("first", [b"PAR1\x15\x04", b"PAR1\xff", b"ARROW1\0\0", b"\xff\xff\xff\xff\x10"])
def test_standard_input_is_read_as_text_and_says_so(run, released, first):
    _, specs, _ = released
    code, out, err = run("estimate", "-", stdin=first)
    assert (code, out) == (2, "") and "standard input is read as CSV" in err
    code, out, err = run("estimate", "-", "--spec", specs, "--column", "age", stdin=first)
    assert (code, out) == (3, "") and "standard input is read as CSV" in err and "to a file" in err
