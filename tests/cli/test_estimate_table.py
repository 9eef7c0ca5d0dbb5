"""``bipartite estimate`` of released tables: where their specs may stand, several files, and what is refused."""

import json
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bipartite as bp
from bipartite.texts import in_digits
from tests.cli.schemas import conforms

AGES = bp.GRR(bp.Integers(18, 90), epsilon=1)  # whose estimates take milliseconds
JOBS = bp.GRR(bp.Items(["nurse", "teacher", "ärztin, frei"], loss=1 - np.eye(3)), epsilon=1)
PLAN = bp.Plan({"age": AGES, "job": JOBS, "country": "public"})
JUST_AGE = bp.Plan({"age": AGES})


def people(count, seed):
    draw = np.random.default_rng(seed)
    jobs = draw.choice(["nurse", "teacher", "ärztin, frei"], count)
    return pa.table({"age": draw.integers(18, 91, count), "job": jobs, "country": draw.choice(["DE", "FR"], count)})


def reports(seed, plan=PLAN, count=400):
    return bp.privatize_frame(people(count, seed), plan, bp.insecure_seed(seed))


def write_csv(path, table, plan=None):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(",".join(table.column_names) + "\n")
        for row in table.to_pylist():
            file.write(",".join(f'"{cell}"' for cell in row.values()) + "\n")
    if plan is not None:
        path.with_name(path.name + ".bipartite.json").write_text(json.dumps(plan.metadata()), encoding="utf-8")
    return path


def write_arrow(path, table, kind=pa.ipc.new_file):
    with kind(path, table.schema) as file:
        file.write_table(table)
    return path


def answers(out):
    """For each column the number of people and the mean or the first share."""
    found = conforms(out, "estimate")
    return {
        each["name"]: {one["group"]: (one["people"], one["shares"][0]["share"]) for one in each["estimates"]}
        for each in found["columns"]
    }


def by_hand(table, name, by=None):
    mechanism = {"age": AGES, "job": JOBS}[name]
    if by is None:
        one = bp.estimate(mechanism, table[name].to_pylist())
        return {None: (one.nobs, pytest.approx(one.shares[0]))}
    found = bp.estimate(mechanism, table[name].to_pylist(), by=table[by].to_pylist())
    return {label: (each.nobs, pytest.approx(each.shares[0])) for label, each in found.items()}


def test_the_file_of_specs_of_a_release_is_a_spec(run, tmp_path, write):
    table = reports(1)
    file = write_csv(tmp_path / "reports.csv", table)
    specs = write("specs.json", json.dumps(PLAN.metadata(), indent=1))
    code, out, err = run("estimate", file, "--spec", specs, "--json", "--by", "country")
    assert (code, err) == (0, "")
    assert answers(out) == {name: by_hand(table, name, "country") for name in ("age", "job")}
    code, out, _ = run("estimate", file, "--spec", specs, "--json", "--column", "job")
    assert code == 0 and answers(out) == {"job": by_hand(table, "job")}
    # Of a file whose name tells no format, too.
    other = file.rename(tmp_path / "reports.txt")
    assert answers(run("estimate", other, "--spec", specs, "--json", "--column", "job")[1])["job"]
    code, out, _ = run("estimate", "-", "--spec", specs, "--column", "job", stdin=other.read_text(encoding="utf-8"))
    assert code == 0 and "400 reports of GRR" in out
    code, out, err = run("estimate", "-", "--spec", specs, stdin=other.read_text(encoding="utf-8"))
    assert (code, out) == (2, "") and "--column" in err and "'age', 'job'" in err
    code, out, err = run("estimate", "-", "--spec", specs, "--column", "no", stdin="x\n")
    assert (code, out) == (2, "") and "Expected a private column of the release, got 'no'" in err


def test_several_released_tables_are_counted_together(run, tmp_path):
    first, second = reports(1), reports(2)
    files = [write_csv(tmp_path / "a.csv", first, PLAN), write_csv(tmp_path / "b.csv", second, PLAN)]
    code, out, err = run("estimate", *files, "--json")
    assert (code, err) == (0, "")
    both = pa.concat_tables([first, second])
    assert answers(out) == {name: by_hand(both, name) for name in ("age", "job")}
    arrow = [write_arrow(tmp_path / "a.arrow", first), write_arrow(tmp_path / "b.arrow", second, pa.ipc.new_stream)]
    assert answers(run("estimate", *arrow, "--json")[1]) == answers(out)
    code, out, err = run("estimate", *files, *arrow)
    assert (code, out) == (2, "") and "files of one format" in err
    code, out, err = run("estimate", files[0], files[0])
    assert (code, out) == (2, "") and "named twice" in err


def test_reports_made_with_different_specs_are_not_counted_together(run, tmp_path):
    other = bp.Plan({"age": bp.GRR(bp.Integers(18, 90), epsilon=2), "job": JOBS, "country": "public"})
    files = [write_csv(tmp_path / "a.csv", reports(1), PLAN), write_csv(tmp_path / "b.csv", reports(2), other)]
    code, out, err = run("estimate", *files)
    assert (code, out) == (3, "") and "a.csv" in err and "b.csv" in err and "estimate each separately" in err
    (tmp_path / "b.csv.bipartite.json").unlink()
    code, out, err = run("estimate", *files)
    assert (code, out) == (3, "") and "b.csv carries no specs" in err


def test_a_file_that_is_not_there_is_named_before_anything_is_asked_for(run, tmp_path):
    there = write_csv(tmp_path / "there.csv", reports(1), PLAN)
    for names in (["nowhere.csv"], ["nowhere.parquet"], ["there.csv", "nowhere.csv"], ["no-folder/x"]):
        code, out, err = run("estimate", *(tmp_path / name for name in names))
        assert (code, out) == (4, "") and "not found: " in err and "--spec" not in err
    assert there.exists()


def test_a_table_without_specs_says_where_they_are_looked_for(run, tmp_path):
    bare = reports(1).replace_schema_metadata(None)
    for file in (write_csv(tmp_path / "t.csv", bare), write_arrow(tmp_path / "t.arrow", bare)):
        code, out, err = run("estimate", file)
        assert (code, out) == (2, "") and "--spec" in err and f"{file} carries no specs" in err
    assert "t.csv.bipartite.json" in run("estimate", tmp_path / "t.csv")[2]


def test_a_table_of_another_kind_than_csv_is_read_with_a_spec_too(run, tmp_path, write):
    spec = write("age.json", json.dumps(AGES.to_spec()))
    table = reports(1).replace_schema_metadata(None)
    file = write_arrow(tmp_path / "t.arrow", table)
    code, out, err = run("estimate", file, "--spec", spec, "--column", "age", "--json")
    assert (code, err) == (0, "")
    (one,) = conforms(out, "estimate")["columns"][0]["estimates"]
    assert {None: (one["people"], one["shares"][0]["share"])} == by_hand(table, "age")
    code, out, _ = run("estimate", file, "--spec", spec, "--column", "age", "--json", "--by", "country")
    found = conforms(out, "estimate")["columns"][0]["estimates"]
    assert {one["group"]: (one["people"], one["shares"][0]["share"]) for one in found} == by_hand(
        table, "age", "country"
    )
    code, out, err = run("estimate", file, "--spec", spec)
    assert (code, out) == (3, "") and "has no column 'report'" in err
    code, out, err = run("estimate", file, "--spec", spec, "--column", "age", "--weights", "w")
    assert (code, out) == (3, "") and "t.arrow has no column 'w'; it has 'age', 'job', 'country'. Check the name" in err
    code, out, err = run("estimate", file, "--spec", spec, "--column", "job")
    assert (code, out) == (3, "") and "row 1, column 'job', cannot have come from GRR" in err
    gaps = write_arrow(tmp_path / "g.arrow", pa.table({"age": [20, None, 30]}))
    code, out, err = run("estimate", gaps, "--spec", spec, "--column", "age")
    assert (code, out) == (
        3,
        "",
    ) and "row 2, column 'age', has no report; repair or remove it, or use --nulls drop" in err
    code, out, err = run("estimate", gaps, "--spec", spec, "--column", "age", "--nulls", "drop")
    assert code == 0 and "1 rows without a report were skipped" in err and "2 reports" in out


OUE = bp.OUE(bp.Items(["nurse", "teacher", "cook"], loss=1 - np.eye(3)), epsilon=1)


def test_weights_of_every_kind_of_table_are_those_of_python(run, tmp_path):
    plan = bp.Plan({"age": AGES, "job": OUE, "country": "public", "w": "public"})
    draw = np.random.default_rng(5)
    count = 600
    given = {
        "age": draw.integers(18, 91, count),
        "job": draw.choice(["nurse", "teacher", "cook"], count),
        "country": draw.choice(["FR", "DE"], count),
        "w": draw.integers(0, 4, count) / 2,
    }
    table = bp.privatize_frame(pa.table(given), plan, bp.insecure_seed(3))
    files = [write_arrow(tmp_path / "t.arrow", table)]
    pq.write_table(table, tmp_path / "t.parquet")
    files.append(tmp_path / "t.parquet")
    both = table["country"].to_pylist(), table["w"].to_pylist()
    expected = bp.estimate(AGES, table["age"].to_pylist(), by=both[0], weights=both[1])
    plain = None
    for file in files:
        code, out, _ = run("estimate", file, "--column", "age", "--by", "country", "--weights", "w", "--json")
        assert code == 0
        (column,) = conforms(out, "estimate")["columns"]
        assert [each["group"] for each in column["estimates"]] == ["DE", "FR"]
        for each in column["estimates"]:
            theirs = expected[each["group"]]
            assert each["mean"]["value"] == pytest.approx(theirs.mean)
            assert each["mean"]["standard_error"] == pytest.approx(theirs.ask().se)
            assert each["people"] == theirs.nobs and 0 < each["effective_people"] < each["people"]
        code, out, _ = run("estimate", file, "--column", "job", "--weights", "w", "--json")
        (column,) = conforms(out, "estimate")["columns"]
        shares = [each["share"] for each in column["estimates"][0]["shares"]]
        assert code in {0, 1} and (plain is None or plain == shares)
        plain = shares
    page = tmp_path / "page.html"
    assert run("estimate", files[0], "--by", "country", "--bins", 3, "--html", page)[0] == 0
    shown = page.read_text(encoding="utf-8")
    by_country = bp.estimate(AGES, table["age"].to_pylist(), by=both[0])
    for label in ("DE", "FR"):
        for _, _, *numbers, _ in by_country[label].to_frame(bins=3).itertuples(index=False):
            share, low, high = in_digits(*(100 * each for each in numbers))
            held = f"{low}% to {high}%"
            assert re.search(rf"{share}%<div class='whisker'>[^/]*</i>[^/]*</b></div><small>{held}</small>", shown)
    assert "<th>range</th><th>DE</th><th>FR</th>" in shown and "<th>value</th><th>DE</th><th>FR</th>" in shown
    assert "share with age 18 to 41: DE " in shown
    code, out, err = run("estimate", files[0], "--column", "age", "--weights", "country")
    assert (code, out) == (3, "") and "t.arrow: row 1 has no weight from 0 to 1e100" in err
    code, out, err = run("estimate", files[0], "--bins", "30,45")
    assert (code, out) == (2, "") and "--bins gives edges for one column; name it with --column" in err
    code, out, err = run("estimate", files[0], "--bins", 3, "--json")
    found = conforms(out, "estimate")["columns"]
    assert [len(each["estimates"][0]["ranges"]) for each in found] == [3, 0]
    assert "\n  67 to 90 " in run("estimate", files[0], "--bins", 3)[1]
    code, out, err = run("estimate", files[0], "--column", "job", "--bins", "30,45")
    assert (code, out) == (2, "") and "are not numbers" in err


@pytest.mark.parametrize("bad", [-1.0, float("nan"), float("inf"), 1e101, 1e-101, None])
def test_what_cannot_weigh_is_refused(run, tmp_path, bad):
    table = pa.table({"age": [20, 30, 40], "w": [1.0, bad, 2.0]})
    (tmp_path / "age.json").write_text(json.dumps(AGES.to_spec()))
    file = write_arrow(tmp_path / "t.arrow", table)
    code, out, err = run("estimate", file, "--spec", tmp_path / "age.json", "--column", "age", "--weights", "w")
    assert (code, out) == (3, "") and "t.arrow: row 2 has no weight from 0 to 1e100" in err


def test_a_missing_report_with_a_weight_is_left_out_only_when_asked(run, tmp_path):
    (tmp_path / "age.json").write_text(json.dumps(AGES.to_spec()))
    gaps = write_arrow(tmp_path / "g.arrow", pa.table({"age": [20, None, 40], "w": [1.0, 1.0, 2.0]}))
    arguments = ["estimate", gaps, "--spec", tmp_path / "age.json", "--column", "age", "--weights", "w"]
    code, out, err = run(*arguments)
    assert (code, out) == (
        3,
        "",
    ) and "row 2, column 'age', has no report; repair or remove it, or use --nulls drop" in err
    assert run(*arguments, "--nulls", "drop")[1].startswith("2 reports")


def test_missing_reports_are_bad_data_in_every_kind_of_file(run, tmp_path):
    table = pa.table({"age": [20, None, 30]}).replace_schema_metadata(
        JUST_AGE.schema(pa.schema([("age", pa.int64())])).metadata
    )
    file = write_arrow(tmp_path / "t.arrow", table)
    code, out, err = run("estimate", file)
    assert (code, out) == (
        3,
        "",
    ) and "row 2, column 'age', has no report; repair or remove it, or use --nulls drop" in err
    assert run("estimate", file, "--nulls", "drop")[0] == 0


def test_reports_that_the_mechanism_never_gives_so_often_are_doubted_everywhere(run, tmp_path, write):
    spec = write("ages.json", json.dumps(bp.BRR(bp.Integers(18, 90), epsilon=1).to_spec()))
    lone = "20\n" * 20_000
    code, out, err = run("estimate", "-", "--spec", spec, stdin=lone)
    assert code == 1 and err.startswith("bipartite: warning: ") and "cannot have come from this mechanism" in out
    # Values 18 to 33 can report 20, all in one way; ends are rounded outward, by at most a hundredth of their distance.
    found = re.search(r"mean +([\d.]+), 18 to ([\d.]+) ", out)
    assert found and 18 < float(found[1]) < 33 <= float(found[2]) < 33.2
    code, out, err = run("estimate", "-", "--spec", spec, "--json", stdin=lone)
    assert code == 1 and conforms(out, "estimate") and "cannot have come from this mechanism" in err
    table = pa.table({"age": [20] * 1000, "country": ["DE"] * 1000})
    plan = bp.Plan({"age": AGES, "country": "public"})
    file = write_csv(tmp_path / "t.csv", table, plan)
    code, out, err = run("estimate", file, "--json", "--by", "country", "--html", tmp_path / "t.html")
    assert code == 1 and "warning: column 'age', DE: these reports cannot have come" in err
    page = (tmp_path / "t.html").read_text(encoding="utf-8")
    assert "cannot have come from this mechanism" in page
    # What may be private values in clear is not called private.
    said = json.loads(out)
    assert conforms(said, "estimate") and said["epsilon"] is None
    assert said["guarantee"].startswith("no ε is claimed: the reports of 'age' cannot have come from the mechanism")
    assert run("estimate", file)[1].startswith("no ε is claimed: the reports of 'age'")
    assert "no ε is claimed" in page and "ε-LDP" not in page


def test_folders_and_patterns_stand_for_the_files_that_privatize_would_read(run, tmp_path, write):
    first, second = reports(1), reports(2)
    write_csv(tmp_path / "all" / "a.csv", first, PLAN)
    write_csv(tmp_path / "all" / "b.csv", second, PLAN)
    (tmp_path / "all" / ".hidden").write_text("x")
    both = pa.concat_tables([first, second])
    expected = {name: by_hand(both, name) for name in ("age", "job")}
    for named in ("all", "all/*.csv", "all/[ab].csv"):
        code, out, err = run("estimate", tmp_path / named, "--json")
        assert (code, err) == (0, "") and answers(out) == expected
    code, out, _ = run("estimate", f"file://{tmp_path}/all/a.csv", "--json")
    assert code == 0 and answers(out)["age"] == by_hand(first, "age")
    code, out, err = run("estimate", tmp_path / "all", tmp_path / "all" / "b.csv")
    assert (code, out) == (2, "") and "named twice" in err
    (tmp_path / "none").mkdir()
    for named in ("none", "all/*.parquet"):
        code, out, err = run("estimate", tmp_path / named)
        assert (code, out) == (4, "") and "no file" in err
    code, out, err = run("estimate", "s3://bucket/reports.parquet")
    assert (code, out) == (2, "") and "s3://bucket/reports.parquet" in err and "download what is read" in err
    spec = write("age.json", json.dumps(AGES.to_spec()))
    code, out, _ = run("estimate", tmp_path / "all", "--spec", spec, "--column", "age")
    assert code == 0 and "800 reports" in out
