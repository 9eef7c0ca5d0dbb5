"""The commands that pages show run as shown, in an empty folder, in their order."""

import re
import runpy
import shlex
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def blocks(page, language):
    return re.findall(rf"```{language}\n(.*?)\n```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)


def shown(page):
    """Each command of a page with the output that is shown below it."""
    for block in blocks(page, "console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield shlex.split(command, comments=True), output


def same_but_for_numbers(said, output):
    """Reports are random: words must agree, and so must the number of lines up to "…"."""

    def words(text):
        return [" ".join(re.sub(r"[-−]?\d[\d.,]*", "0", line).split()) for line in text.splitlines() if line.strip()]

    expected, found = words(output), words(said)
    if "…" in expected:
        found = found[: expected.index("…")] + found[len(found) - (len(expected) - expected.index("…") - 1) :]
        expected.remove("…")
    assert found == expected


@pytest.fixture
def blank(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check(run, page):
    for (program, *arguments), output in shown(page):
        if program == "bipartite":
            code, out, err = run(*arguments)
            assert code == 0, err
            if output:
                same_but_for_numbers(out + err, output)


def test_the_ten_minutes_run_as_shown(run, blank):
    (blank / "plan.toml").write_text(blocks("tutorial.md", "toml")[0], encoding="utf-8")
    (blank / "make_people.py").write_text(blocks("tutorial.md", "py")[0], encoding="utf-8")
    runpy.run_path(str(blank / "make_people.py"))
    check(run, "tutorial.md")
    assert "DE" in (blank / "answers.html").read_text(encoding="utf-8")
