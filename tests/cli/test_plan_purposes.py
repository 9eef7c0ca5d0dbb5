"""From a question at a terminal to an answer with its error: a plan for a purpose, by the commands alone."""

import io
import json
import tomllib
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest

import bipartite as bp
from bipartite.cli.plan_questions import at_a_terminal
from tests.cli.schemas import conforms

MUCH = (
    "bipartite: a row spends ε = 6 in all; above 4 its reports together hide little: use a smaller ε, or fewer "
    "columns.\n"
)
CLAMPED = "[columns.age]\ndomain = { integers = [18, 90] }\nepsilon = 1\n"


class Terminal(io.StringIO):
    """Somebody types, or reads."""

    def isatty(self):
        return True


@pytest.fixture
def table(tmp_path):
    (tmp_path / "people.csv").write_text("age,height,job,member,name\n40,1.71,nurse,true,Ada\n", encoding="utf-8")
    return tmp_path / "people.csv"


@pytest.fixture
def typed(run, monkeypatch):
    """A command with somebody at the terminal, who types these lines."""

    def typing(lines, *arguments):
        monkeypatch.setattr("bipartite.cli.plan.at_a_terminal", lambda: True)
        return run(*arguments, stdin="\n".join(lines) + "\n")

    return typing


def test_at_a_terminal_a_first_plan_asks_for_what_it_cannot_know(typed, table, run, tmp_path):
    lines = ["18 90", "1", "0.5 2.5", "", "nurse, teacher", "2", "0,1", "", "drop"]
    code, out, err = typed(lines, "plan", "new", table, "--output", tmp_path / "plan.toml")
    assert (code, out) == (0, "") and "never from these data" in err
    assert err.endswith(f"bipartite: next: bipartite plan check {tmp_path / 'plan.toml'} --n N\n")
    for asked in (
        "age: the smallest and largest whole number that anybody could have, such as 18 90: ",
        "height: the smallest and largest number",
        "height: ε of one report, such as 1 (Enter: 1, as before): ",
        "job: every possible answer, separated by commas ('other' and 'no answer' are added): ",
        "member: the smallest and largest number that anybody could have, such as 18 90 (with decimals: 0.0 2.5), or",
        MUCH,
    ):
        assert asked in err
    columns = tomllib.loads((tmp_path / "plan.toml").read_text(encoding="utf-8"))["columns"]
    assert columns["age"]["domain"] == {"integers": [18, 90]} and columns["age"]["epsilon"] == 1
    assert (columns["age"]["mechanism"], columns["age"]["edges"], columns["age"]["m"]) == ("brr", "padded", 19)
    assert columns["height"]["domain"] == {"interval": [0.5, 2.5], "points": 401}
    assert columns["job"]["domain"] == {"categories": ["nurse", "teacher", "other", "no answer"]}
    assert columns["job"]["mechanism"] == "grr" and columns["job"]["epsilon"] == 2
    assert columns["member"]["domain"] == {"integers": [0, 1]} and columns["member"]["epsilon"] == 2
    assert "name" not in columns
    written = (tmp_path / "plan.toml").read_text(encoding="utf-8")
    assert 'm = 19  # for cumulative shares and medians ("cdf") at this range and ε; if they change, leave m' in written
    code, out, err = run("plan", "check", tmp_path / "plan.toml")
    assert code == 0 and "each row with ε = 6." in out and "add m" not in out
    assert err == MUCH


def test_answers_that_cannot_be_are_asked_for_again_and_no_answer_leaves_todo(typed, table):
    lines = ["forty", "90 18", "18..90", "zero", "-1", "0.5", "public", ",", "nurse,teacher", "", "yes", "no, yes", ""]
    code, out, err = typed(lines, "plan", "new", table)
    assert code == 0 and "Expected two whole numbers" in err and "low < high" in err and "Expected epsilon" in err
    assert "Expected two numbers, such as 18 90, or answers separated by commas." in err
    columns = tomllib.loads(out)["columns"]
    assert columns["age"]["domain"] == {"integers": [18, 90]} and columns["height"] == {"public": True}
    assert columns["job"]["epsilon"] == 0.5  # as before
    assert columns["member"]["domain"] == {"categories": ["no", "yes", "other", "no answer"]}
    assert columns["name"]["domain"] == "TODO" and "mechanism" not in columns["name"]
    # Nobody answers: nothing is made up, and there is no ε to begin with.
    code, out, _ = typed([], "plan", "new", table)
    assert code == 0 and out.count('epsilon = "TODO"') == 5
    pd.DataFrame({"member": [True]}).to_parquet(table.with_suffix(".parquet"))
    code, out, err = typed(["yes", "", "1"], "plan", "new", table.with_suffix(".parquet"))
    assert "its values are known" in err and err.endswith(" --n N\n") and "a row spends ε = 1 in all.\n" in err


def test_a_name_suggests_what_to_ask_and_the_answer_decides(typed, tmp_path):
    (tmp_path / "people.csv").write_text("age,income,education\n18-39,<=50K,13\n", encoding="utf-8")
    lines = ["18-39, 40-90", "1", "<=50K, >50K", "", "1 16", ""]
    code, out, err = typed(lines, "plan", "new", tmp_path / "people.csv")
    columns = tomllib.loads(out)["columns"]
    assert code == 0 and "Expected" not in err
    assert (err.count("Taken as a list of answers."), err.count("Taken as a range.")) == (2, 1)
    assert columns["age"]["domain"] == {"categories": ["18-39", "40-90", "other", "no answer"]}
    assert columns["income"]["domain"] == {"categories": ["<=50K", ">50K", "other", "no answer"]}
    assert columns["education"]["domain"] == {"integers": [1, 16]} and columns["education"]["outside"] == "clip"


def test_elsewhere_todo_is_left_and_nobody_is_asked(run, typed, table, monkeypatch):
    silent = run("plan", "new", table)
    assert silent[0] == 0 and "such as 18 90" not in silent[2] and silent[1].count('epsilon = "TODO"') == 5
    assert typed(["18 90"], "plan", "new", table, "--no-questions")[1] == silent[1]
    monkeypatch.undo()
    monkeypatch.setattr("sys.stderr", Terminal())
    monkeypatch.setattr("sys.stdin", Terminal())
    assert at_a_terminal()
    monkeypatch.setattr("sys.stdin", None)
    assert not at_a_terminal()


@pytest.mark.parametrize(
    ("purpose", "told"),
    [
        ("mean", ['for = "mean"', 'mechanism = "brr"']),
        ("histogram", ['for = "histogram"', 'mechanism = "brr"']),
        ("single-values", ['for = "single-values"', 'mechanism = "anchored"']),
    ],
)
def test_a_first_plan_is_for_what_is_asked(run, table, purpose, told):
    out = run("plan", "new", table, "--for", purpose)[1]
    assert all(out.count(each) >= 2 for each in told)
    assert run("plan", "check", table, "--for", purpose)[0] == 2
    code, _, err = run("plan", "new", table, "--for", "statistik")
    assert code == 2 and "invalid choice" in err


def test_a_check_says_what_will_be_answered_before_anything_is_spent(run, tmp_path):
    plan = tmp_path / "plan.toml"
    jobs = '[columns.job]\nfor = "statistics"\ndomain = { categories = ["a", "b", "c", "d"] }\nepsilon = 1\n'
    plan.write_text(CLAMPED + CLAMPED.replace("age]", 'years]\nfor = "statistics"\nfrom = "age"') + jobs)
    code, out, _ = run("plan", "check", plan)
    assert code == 0 and "years, by brr: the mean, the median, shares of ranges\n" in out
    told = 'age, by brr: single reports only, no statistics; for those write for = "statistics"\n'
    assert told in out and "job, by grr: the share of each value" in out
    assert "age: cannot tell 18–31 apart, nor 77–90 apart: no number of people gives the mean" in out
    code, out, _ = run("plan", "check", plan, "--n", 50_000)
    rows = {line.split()[0]: line for line in out.splitlines() if line[:1].isalpha()}
    assert code == 0 and "50,000 people" in out and "± 0.83" in rows["years"] and "points" in rows["years"]
    assert "±" not in rows["age"] or "cannot tell" in rows["age"]
    assert f"± {196 * bp.forecast(bp.GRR(bp.Integers(1, 4), 1), 50_000, 'share'):.2g} points" in rows["job"]
    found = conforms(run("plan", "check", plan, "--n", 50_000, "--json")[1], "plan")
    assert found["people"] == 50_000
    ages, years, job = found["columns"]
    assert ages["half_widths"]["mean"] is None and ages["for"] is None and years["for"] == "statistics"
    assert years["half_widths"]["mean"] == pytest.approx(0.83, abs=0.005) and job["answers"] == [
        "the share of each value"
    ]
    none = conforms(run("plan", "show", plan, "--json")[1], "plan")
    assert none["people"] is None and none["columns"][1]["half_widths"] is None
    for wrong in (("show", plan, "--n", 5), ("new", plan, "--n", 5), ("check", plan, "--n", 0)):
        code, _, err = run("plan", *wrong)
        assert code == 2 and "--n" in err


def test_a_check_says_what_a_plan_leaves_to_the_purpose_and_what_to_write(run, tmp_path, write):
    plan = tmp_path / "plan.toml"
    names = ", ".join(f'"{at}"' for at in range(12))
    jobs = f'[columns.job]\nfor = "statistics"\ndomain = {{ categories = [{names}] }}\nepsilon = 1\n'
    plan.write_text(jobs + CLAMPED.replace("]\ndomain", ']\nfor = "mean"\ndomain'))
    code, out, _ = run("plan", "check", plan)
    assert code == 0 and "job, by subset-selection: the share of each value" in out
    wanted = 'job: add mechanism = "subset-selection" to the plan: it follows from for = "statistics", and a later '
    assert wanted + "version of bipartite may choose another.\n" in out
    assert 'age: add mechanism = "brr", edges = "padded", m = 61 to the plan' in out
    columns = conforms(run("plan", "check", plan, "--json")[1], "plan")["columns"]
    assert [each["chosen"] for each in columns] == [
        {"mechanism": "subset-selection"},
        {"mechanism": "brr", "edges": "padded", "m": "mean"},
    ]
    # Written out, nothing is left to choose, and nothing changes.
    written = plan.read_text().replace("epsilon = 1\n[", 'epsilon = 1\nmechanism = "subset-selection"\n[', 1)
    other = write("written.toml", written + 'mechanism = "brr"\nedges = "padded"\nm = "mean"\n')
    assert "add mechanism" not in run("plan", "check", other)[1]
    assert bp.Plan.read(other) == bp.Plan.read(plan)


def test_a_release_ends_with_what_to_do_next(run, tmp_path):
    (tmp_path / "people.csv").write_text("age\n" + "40\n" * 50, encoding="utf-8")
    (tmp_path / "plan.toml").write_text(CLAMPED)
    command = ("privatize", tmp_path / "people.csv", tmp_path / "my reports.csv", "--plan", tmp_path / "plan.toml")
    err = run(*command)[2]
    wanted = f"do not average these reports; run: bipartite estimate '{tmp_path}/my reports.csv'"
    assert err.endswith(f"bipartite: {wanted}\n")
    assert conforms(run(*command, "--overwrite", "--json")[1], "privatize")["next"] == wanted
    to_stdout = ("privatize", tmp_path / "people.csv", "-", "--to", "csv", "--plan", tmp_path / "plan.toml")
    assert "run: bipartite estimate FILE --spec SPECS.json" in run(*to_stdout)[2]
    assert f"--spec {tmp_path}/s.json" in run(*to_stdout, "--specs", tmp_path / "s.json")[2]
    frame = bp.privatize_frame(pd.DataFrame({"age": [40] * 5}), bp.Plan.read(tmp_path / "plan.toml"))
    assert frame.attrs["bipartite"]["next"].startswith("do not average these reports: use bp.estimate(")
    assert frame.attrs["bipartite"]["epsilon"] == "1" and json.dumps(frame.attrs)
    seeded = bp.privatize_frame(pd.DataFrame({"age": [40]}), bp.Plan.read(tmp_path / "plan.toml"), bp.insecure_seed(1))
    assert seeded.attrs["bipartite"]["epsilon"] is None


def test_the_default_plan_gives_the_mean_of_fifty_thousand_ages(typed, run, tmp_path):
    """ε = 1, nothing chosen: the mean within ± 0.85, from a plan to its estimate by the commands alone."""
    curve = NormalDist(41.5, 15)
    ages = [min(90, max(18, round(curve.inv_cdf((at + 0.5) / 50_000)))) for at in range(50_000)]
    assert np.mean(ages) == pytest.approx(41.87, abs=0.2)
    (tmp_path / "people.csv").write_text("age\n" + "".join(f"{age}\n" for age in ages), encoding="utf-8")
    typed(["18 90", "1"], "plan", "new", tmp_path / "people.csv", "--output", tmp_path / "plan.toml")
    out = tmp_path / "reports.parquet"
    plan = ("--plan", tmp_path / "plan.toml", "--insecure-seed", 3)
    assert run("privatize", tmp_path / "people.csv", out, *plan)[0] == 0
    code, told, _ = run("estimate", out, "--json")
    mean = json.loads(told)["columns"][0]["estimates"][0]["mean"]
    assert code == 0 and mean["low"] < np.mean(ages) < mean["high"] and (mean["high"] - mean["low"]) / 2 < 0.85


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["new", "--n", 5], "only plan check is about a number of people; leave out --n."),
        (["show", "--n", 5], "only plan check is about a number of people; leave out --n."),
        (["new", "--json"], "plan new writes TOML; leave out --json."),
        (["check", "--header", "--output", "x.toml"], "plan check reads a plan; leave out --output, --header."),
        (["show", "--from", "csv", "--no-questions"], "plan show reads a plan; leave out --from, --no-questions."),
        (["check", "--n", 0], "Expected --n of at least 1, got 0."),
    ],
)
def test_an_action_refuses_the_options_of_the_others(run, arguments, told):
    action, *options = arguments
    code, out, err = run("plan", action, "plan.toml", *options)
    assert (code, out) == (2, "") and told in err
