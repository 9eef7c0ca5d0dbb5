import re
import sys
from html.parser import HTMLParser

import pytest
from matplotlib import pyplot as plt

from bipartite import Integers, forecast, recommend, verify
from bipartite.answers.explain import explain
from bipartite.cli import demo, main
from bipartite.cli.demo_page import draw_answers
from tests.cli.schemas import conforms

AGES = Integers(18, 90)
QUESTION = "How old are 50,000 readers, if none of them says so?"
TELEPHONE = 390 - 2 * 12  # pixels between the margins of the page


class Reader(HTMLParser):
    """What a browser would have to fetch or run, and whether every element is closed."""

    VOID = frozenset({"meta"})

    def __init__(self):
        super().__init__()
        self.open, self.fetched, self.words = [], [], []

    def handle_starttag(self, tag, attrs):
        if tag not in self.VOID:
            self.open.append(tag)
        self.handle_startendtag(tag, attrs)

    def handle_startendtag(self, tag, attrs):
        if tag in {"script", "link", "img", "iframe", "object", "image"}:
            self.fetched.append(tag)
        self.fetched += [value for name, value in attrs if name in {"src", "srcset"} or name.startswith("on")]
        self.fetched += [value for name, value in attrs if name.endswith("href") and not value.startswith("#")]

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def read(text):
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert not reader.open
    return reader, " ".join(" ".join(reader.words).split())


def in_order(words, *expected):
    at = -1
    for each in expected:
        at = words.find(each, at + 1)
        assert at >= 0, each


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("demo") / "new" / "folder"


@pytest.fixture(scope="module")
def shown(folder):
    """What the command prints; a module's capsys."""
    with pytest.MonkeyPatch.context() as patch:
        lines = []
        patch.setattr("builtins.print", lambda *words, sep=" ", **_: lines.append(sep.join(map(str, words))))
        patch.setattr(demo.shutil, "which", lambda _: None)
        patch.setattr(demo.sys, "argv", [".venv/bin/bipartite", "demo"])
        assert main(["demo", "--output", str(folder)]) == 0
    return "\n".join(lines)


@pytest.fixture(scope="module")
def survey():
    return demo._survey("1", demo._made_up(20_000))


@pytest.fixture(scope="module")
def page(shown, folder):
    assert shown
    return (folder / "demo.html").read_text(encoding="utf-8")


def test_the_demo_answers_a_question_and_ends_with_what_to_do_next(shown, folder):
    assert shown.startswith(f"{QUESTION} Promised before anybody is asked, at 95 % confidence:\n  mean age ")
    in_order(
        shown, "± 0.83 years", "points", "± 1.7 years", "which only a demo knows", "mean age, all", "Germany − France",
        "aged 18 to 39", "How it works", "Proved: ε-LDP of each report with ε = 1: holds.",
        f"With charts: {folder / 'demo.html'}", "Next, ",
        f".venv/bin/bipartite plan new {folder / 'demo.csv'} --output {folder / 'plan.toml'}",
    )  # fmt: skip
    assert shown.splitlines()[-1].startswith("  .venv/bin/bipartite estimate ")
    assert sorted(path.name for path in folder.iterdir()) == ["demo.csv", "demo.html"]


def test_the_page_leads_from_the_question_to_the_answers_and_then_shows_how(page):
    _, words = read(page)
    explained = explain(1)
    in_order(
        words, QUESTION, "Promised before anybody is asked", "± 0.83 years", "What the reports answer",
        "Their mean age is", "In truth it is", "18 to 39: ", "Are readers in Germany older than in France?",
        "Germany: ", "How it works", "Ada is 40", "true value: 40", "This time it sent", "one person’s value",
        "15.6 years off", "18.2 years off", "What ε = 1 means", explained.guess, "It does not hide that you reported",
        "Proved, not promised", "0.999999999999994", "holds", "about 95 of 100 surveys", "Do it yourself",
        "bipartite plan new", "bipartite estimate",
    )  # fmt: skip


def test_nothing_argues_against_the_product(shown, page):
    """A constant answer is no rival of a survey; no share is below zero; errors of neighbours are not counted."""
    words = read(page)[1]
    for text in (shown, words):
        assert "always" not in text and "GRR" not in text
        assert not re.search(r"−\d", text.replace("− ", ""))
        assert not re.search(r"\d+ (of|contain|hold)[^.]*interval|intervals, \d", text)
    first = words[: words.index("How it works")]
    assert "off" not in first and "constant" not in first


def test_the_charts_fit_on_a_telephone(page):
    pictures = re.findall(r"<figure><svg.*?</svg></figure>", page, flags=re.DOTALL)
    assert len(pictures) == page.count("<svg") == page.count('role="img" aria-label="') == 3
    style = page.split("</style>")[0]
    assert "svg { display: block; width: 100%; }" in style and "figure { margin: 12px 0; max-width" in style
    for each in pictures:
        (width,) = re.findall(r'viewBox="0 0 ([\d.]+) ', each)
        assert 8.5 * TELEPHONE / float(width) > 8  # pixels of the letters of an axis
        assert 'style="max-width: 100%; height: auto"' in each


def test_no_words_of_a_chart_are_cut(survey):
    for answers in (survey.shares, survey.means):
        ax = draw_answers(survey, answers)
        ax.figure.canvas.draw()
        drawn, edge = ax.get_tightbbox(), ax.figure.bbox
        assert edge.x0 <= drawn.x0 < drawn.x1 <= edge.x1 and edge.y0 <= drawn.y0 < drawn.y1 <= edge.y1
        assert ax.get_label().count("; truth ") == len(answers)
        bars = [(each.get_x(), each.get_width()) for each in ax.patches]
        assert bars == ([(0, share.true) for share in answers] if answers is survey.shares else [])
        plt.close(ax.figure)


def test_no_screen_hides_a_chart(page):
    hidden = [
        name
        for rule in re.findall(r"([^{}]*)\{ display: none", page.split("</style>")[0])
        for name in re.findall(r"\.([\w-]+)", rule)
    ]
    assert hidden
    assert not set(hidden) & set(" ".join(re.findall(r"class='([^']*)'", page)).split())


def test_the_page_needs_nothing_but_itself(page):
    reader, _ = read(page)
    assert reader.fetched == []
    assert "@import" not in page and set(re.findall(r"url\((.)", page)) == {"#"}  # what a picture clips, in itself
    assert set(re.findall(r"https?://[^'\" ]+", page)) == {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}


@pytest.mark.slow
def test_the_promise_is_kept_and_the_answers_are_true_of_these_readers(run, tmp_path):
    code, out, err = run("demo", "--people", 50_000, "--epsilon", "4", "--json", "--output", tmp_path)
    assert (code, err) == (0, "")
    found = conforms(out, "demo")
    mechanism = recommend(AGES, "4", "distribution", n=50_000).mechanism
    assert found["mechanism"] == repr(mechanism)
    assert found["certificate"] == {"holds": True, "epsilon_upper": str(verify(mechanism).epsilon_upper)}
    rows = [line.split(",") for line in (tmp_path / "demo.csv").read_text(encoding="utf-8").splitlines()]
    assert rows[0] == ["age", "country"] and len(rows) == 50_001
    for each in found["means"]:
        ages = [int(age) for age, country in rows[1:] if each["of"] in {"all", country}]
        assert min(ages) >= 18 and max(ages) <= 90
        assert each["true"] == pytest.approx(sum(ages) / len(ages))
    promised = found["promised"]
    assert promised["mean"] == pytest.approx(1.96 * forecast(mechanism, 50_000), rel=1e-3)
    answers = [(found["means"][0], "mean"), (found["difference"], "difference")]
    for each, name in [*answers, *((share, "share") for share in found["shares"])]:
        assert each["low"] <= each["value"] <= each["high"]
        # Reports are drawn anew each time: ten standard errors, a false alarm in 10^22 runs.
        assert abs(each["value"] - each["true"]) < 10 / 1.96 * max(each["high"] - each["low"], promised[name])
    for each, name in answers:
        # For these people alone, where the promise is for a population from which they are drawn.
        assert 0.4 < (each["high"] - each["low"]) / 2 / promised[name] < 1
    assert found["difference"]["low"] > 0
    assert [each["of"] for each in found["shares"]][:2] == ["18 to 29", "30 to 39"]
    assert sum(each["true"] for each in found["shares"]) == pytest.approx(1)
    assert all(each["low"] >= 0 and each["high"] <= 1 for each in found["shares"])


@pytest.mark.parametrize("epsilon", ["0.01", "20"])
def test_the_demo_says_nothing_false_at_other_budgets(run, tmp_path, epsilon):
    code, out, _ = run("demo", "--people", 2_000, "--epsilon", epsilon, "--output", tmp_path)
    assert code == 0
    _, words = read((tmp_path / "demo.html").read_text(encoding="utf-8"))
    for text in (out, words):
        assert ("2,000 people are too few" in text) == (epsilon == "0.01")
    warning = explain(epsilon).warning
    assert (warning is None) == (epsilon == "0.01") and (warning or "") in words
    # No mean beyond all ages, and no difference that ages cannot have.
    rows = re.findall(r"(?:mean age|Germany −).*? ([−\d.]+) +([−\d.]+) to ([−\d.]+) ", out)
    numbers = [float(each.replace("−", "-")) for row in rows for each in row]
    assert len(numbers) == 12 and all(18 <= each <= 90 for each in numbers[:9])
    assert all(-72 <= each <= 72 for each in numbers[9:])


def test_a_page_is_written_whole_or_not_at_all(run, tmp_path, monkeypatch):
    (tmp_path / "demo.html").write_text("old", encoding="utf-8")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", fail)
    code, out, err = run("demo", "--people", 1_000, "--epsilon", "20", "--output", tmp_path)
    assert (code, out) == (5, "")
    assert "No space left on device" in err
    assert (tmp_path / "demo.html").read_text(encoding="utf-8") == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["demo.html"]


def test_a_place_that_cannot_be_written_is_said_before_anything_is_drawn(run, write):
    file = write("file", "")
    code, out, err = run("demo", "--people", 1_000, "--output", file)
    assert (code, out) == (3, "")
    assert "cannot be written to (File exists); choose another --output." in err


def test_without_matplotlib_the_demo_answers_all_the_same(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    asked = ["demo", "--people", 1_000, "--epsilon", "20", "--output", tmp_path]
    code, out, err = run(*asked)
    assert (code, err) == (0, "")
    needs = 'The page with charts needs matplotlib, which is not installed; run: pip install "bipartite[plots]"'
    in_order(out, "which only a demo knows", "mean age, all", "holds.", f"\n{needs} (in a checkout: ", "\nNext, ")
    assert "--by country" in out.splitlines()[-1] and "--html" not in out
    assert conforms(run(*asked, "--json")[1], "demo")["page"] is None
    assert [path.name for path in tmp_path.iterdir()] == ["demo.csv"]


def test_the_next_commands_are_quoted_for_a_shell(tmp_path, monkeypatch):
    monkeypatch.setattr(demo.shutil, "which", lambda _: "/usr/bin/bipartite")
    table = tmp_path / "a b" / "demo.csv"
    rest = f"plan new '{table}' --output '{table.with_name('plan.toml')}'"
    assert demo._commands(table, 1_000)[0] == f"bipartite {rest}"
    monkeypatch.setattr(demo.shutil, "which", lambda _: None)
    monkeypatch.setattr(demo.sys, "argv", ["site-packages/bipartite/__main__.py", "demo"])
    assert demo._commands(table, 1_000)[0] == f"{sys.executable} -m bipartite {rest}"
