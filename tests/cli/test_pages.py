"""The commands that pages show run as shown, in an empty folder, in their order."""

import re
import runpy
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def blocks(page, language):
    return re.findall(rf"```{language}\n(.*?)\n```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)


def shown(page):
    """Each command of a page with the output that is shown below it."""
    for block in blocks(page, "console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield shlex.split(command, comments=True), output


def same_but_for_numbers(said, output):
    """Reports are random: words must agree; "…" stands for any lines."""

    def words(text):
        return [" ".join(re.sub(r"[-−]?\d[\d.,]*", "0", line).split()) for line in text.splitlines() if line.strip()]

    expected, found = words(output), words(said)
    if "…" in expected:
        at, after = expected.index("…"), len(expected) - expected.index("…") - 1
        found = [*found[:at], "…", *found[len(found) - after :]]
    assert found == expected


@pytest.fixture
def people(tmp_path, monkeypatch):
    """An empty folder with the table of the tutorial."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "make_people.py").write_text(blocks("docs/tutorial.md", "py")[0], encoding="utf-8")
    runpy.run_path(str(tmp_path / "make_people.py"))
    return tmp_path


@pytest.mark.parametrize(
    ("page", "plan"),
    [
        ("README.md", "docs/tutorial.md"),
        pytest.param("docs/tutorial.md", "docs/tutorial.md", marks=pytest.mark.slow),
        pytest.param("docs/tables.md", "docs/tables.md", marks=pytest.mark.slow),
    ],
)
def test_the_commands_of_a_page_run_as_shown(page, plan, run, people):
    if page == "docs/tables.md":
        lines = (people / "people.csv").read_text(encoding="utf-8").splitlines()
        (people / "people.csv").write_text(
            "\n".join([f"{lines[0]},job", *(f"{each},nurse" for each in lines[1:])]) + "\n"
        )
    filled = blocks(plan, "toml")[0]
    if page == "docs/tutorial.md":  # the page shows the plan, and does not show how it was asked for
        (people / "plan.toml").write_text(filled, encoding="utf-8")
    commands = [(arguments, output) for (program, *arguments), output in shown(page) if program == "bipartite"]
    assert commands
    for arguments, output in commands:
        if arguments == ["demo"]:  # has tests of its own
            continue
        code, out, err = run(*arguments)
        assert code == 0, err
        if output:
            same_but_for_numbers(out + err, output)
        if arguments[:2] == ["plan", "new"]:  # as if somebody had filled it in
            (people / "plan.toml").write_text(filled, encoding="utf-8")
    assert "DE" in (people / "answers.html").read_text(encoding="utf-8")
