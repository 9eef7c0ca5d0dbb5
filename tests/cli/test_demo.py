"""``bipartite demo``: the real workflow, on people whose true ages are known."""

import io
import re
import shlex
import sys
from contextlib import redirect_stdout

import pytest

import bipartite as bp
from bipartite.cli import demo, main

FILES = ["answers.html", "people.csv", "plan.toml", "reports.csv", "reports.csv.bipartite.json"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("demo") / "new" / "a folder"


@pytest.fixture(scope="module")
def shown(folder):
    """What the command prints; a module's capsys."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demo.shutil, "which", lambda _: None)
        patch.setattr(demo.sys, "argv", [".venv/bin/bipartite", "demo"])
        with redirect_stdout(io.StringIO()) as out:
            assert main(["demo", "--output", str(folder)]) == 0
    return out.getvalue()


def in_order(words, *expected):
    at = -1
    for each in expected:
        at = words.find(each, at + 1)
        assert at >= 0, each


def test_the_demo_answers_a_question_and_ends_with_the_commands_that_it_ran(shown, folder):
    assert shown.startswith("How old are 50,000 readers, if none of them says so? They are made up")
    in_order(
        shown, "Promised before anybody is asked, at 95 % confidence:\n  mean age ± 0.83 years", " points\n",
        "which only a demo knows", "mean age, all", "mean age, Germany", "aged 18 to 39", "about 5 of 100 surveys",
        f"With charts: {folder / 'answers.html'}", f".venv/bin/bipartite plan show '{folder / 'plan.toml'}'",
    )  # fmt: skip
    assert shown.splitlines()[-1].startswith("  .venv/bin/bipartite estimate ") and "− " not in shown
    assert sorted(path.name for path in folder.iterdir()) == FILES
    page = (folder / "answers.html").read_text(encoding="utf-8")
    assert "<svg" in page and "Germany" in page


def test_the_commands_run_again_when_typed(shown, folder, run):
    commands = [shlex.split(line) for line in shown.splitlines()[-4:]]
    before = (folder / "reports.csv").read_text(encoding="utf-8")
    for program, *arguments in commands:
        assert program == ".venv/bin/bipartite"
        code, out, err = run(*arguments)
        assert code == 0, err
        assert out or arguments[0] == "privatize"
        assert "age: add " not in out  # the plan says all that it means
    assert [each[1] for each in commands] == ["plan", "plan", "privatize", "estimate"]
    after = (folder / "reports.csv").read_text(encoding="utf-8")
    assert before != after and before.count("\n") == after.count("\n") == 50_001


def table_of(out):
    """(what, answer, low, high, truth) of every answer, shares as percent."""
    number = r"([\d.]+)(?: %)?"
    rows = re.findall(rf"^  (\S.*?)  +{number} +{number} to {number} +{number}$", out, re.MULTILINE)
    return [(of, *map(float, numbers)) for of, *numbers in rows]


@pytest.mark.slow
def test_the_promise_is_kept_and_the_answers_are_true_of_these_readers(run, tmp_path):
    code, out, err = run("demo", "--n", 50_000, "--epsilon", "4.0", "--output", tmp_path)
    assert (code, err) == (0, "") and "of each at ε = 4, and the truth" in out and str(tmp_path / "answers.html") in out
    mechanism = bp.Plan.read(tmp_path / "plan.toml").mechanisms()["age"]
    rows = [line.split(",") for line in (tmp_path / "people.csv").read_text(encoding="utf-8").splitlines()]
    assert rows[0] == ["age", "country"] and len(rows) == 50_001
    means, shares = table_of(out)[:3], table_of(out)[3:]
    for of, *_, true in means:
        ages = [int(age) for age, country in rows[1:] if of in {"mean age, all", f"mean age, {country}"}]
        assert min(ages) >= 18 and max(ages) <= 90 and true == pytest.approx(sum(ages) / len(ages), abs=0.05)
    mean, tenth = map(float, re.search(r"mean age ± ([\d.]+) years, share .* ± ([\d.]+) points", out).groups())
    assert mean == pytest.approx(1.96 * bp.forecast(mechanism, 50_000), rel=0.05)
    for promised, answers in ((mean, means), (tenth, shares)):
        for _, value, low, high, true in answers:
            assert low <= value <= high
            # Reports are drawn anew each time: ten standard errors, a false alarm in 10^22 runs.
            assert abs(value - true) < 10 / 1.96 * max(high - low, promised)
    # For these people alone, where the promise is for a population from which they are drawn.
    assert 0.4 < (means[0][3] - means[0][2]) / 2 / mean < 1.1
    assert [each[0] for each in shares][:2] == ["aged 18 to 29", "aged 30 to 39"]
    assert sum(each[4] for each in shares) == pytest.approx(100, abs=0.5)
    assert all(low >= 0 and high <= 100 for _, _, low, high, _ in shares)


@pytest.mark.parametrize("epsilon", ["0.01", "20"])
def test_the_demo_says_nothing_false_at_other_budgets(run, tmp_path, epsilon):
    code, out, _ = run("demo", "--n", 2_000, "--epsilon", epsilon, "--output", tmp_path)
    assert code == 0 and ("2,000 people are too few" in out) == (epsilon == "0.01")
    # No mean beyond all ages.
    rows = re.findall(r"mean age,.*? ([−\d.]+) +([−\d.]+) to ([−\d.]+) ", out)
    assert len(rows) == 3 and all(18 <= float(each) <= 90 for row in rows for each in row)


def test_what_no_demo_wrote_is_never_replaced(run, tmp_path, write):
    for name in ("people.csv", "plan.toml", "reports.csv", "answers.html"):
        file = write(name, "mine")
        code, out, err = run("demo", "--n", 1_000, "--output", tmp_path)
        assert (code, out) == (2, "") and f"{name} exists, and no demo wrote it; choose another --output." in err
        assert [path.read_text(encoding="utf-8") for path in tmp_path.iterdir()] == ["mine"]
        file.unlink()
    for _ in range(2):  # its own files are
        assert run("demo", "--n", 1_000, "--epsilon", "20", "--output", tmp_path)[0] == 0


def test_a_full_disk_is_said(run, tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", fail)
    code, out, err = run("demo", "--n", 1_000, "--epsilon", "20", "--output", tmp_path)
    assert (code, out) == (5, "") and "No space left on device" in err and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "code", "told"),
    [
        (["--n", "99999999999999"], 2, "Expected --n from 1,000 to 10,000,000"),
        (["--n", "0"], 2, "Expected --n from 1,000 to 10,000,000, got 0; leave it out for 50,000."),
        (["--epsilon", "zero"], 2, "Expected --epsilon as a positive decimal"),
        (["--output", "file"], 3, "cannot be written to (File exists); choose another --output."),
    ],
)
def test_mistakes_are_said_before_anything_is_drawn(run, tmp_path, write, monkeypatch, options, code, told):
    monkeypatch.chdir(tmp_path)
    write("file", "")
    found, out, err = run("demo", *options)
    assert (found, out) == (code, "") and told in err and [path.name for path in tmp_path.iterdir()] == ["file"]


def test_without_matplotlib_the_demo_answers_all_the_same(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, out, err = run("demo", "--n", 1_000, "--epsilon", "20", "--output", tmp_path)
    assert (code, err) == (0, "")
    needs = 'The page with charts needs matplotlib, which is not installed; run: pip install "bipartite[plots]"'
    in_order(out, "which only a demo knows", "mean age, all", f"\n{needs} (in a checkout: ", "\nThese commands")
    assert "--by country" in out.splitlines()[-1] and "--html" not in out
    assert sorted(path.name for path in tmp_path.iterdir()) == FILES[1:]


def test_the_program_is_named_as_it_can_be_typed(monkeypatch):
    monkeypatch.setattr(demo.shutil, "which", lambda _: "/usr/bin/bipartite")
    assert demo._program() == ["bipartite"]
    monkeypatch.setattr(demo.shutil, "which", lambda _: None)
    monkeypatch.setattr(demo.sys, "argv", ["site-packages/bipartite/__main__.py", "demo"])
    assert demo._program() == [sys.executable, "-m", "bipartite"]
