"""python -m reproduction run: the files, the words, and what it says when something is missing or wrong."""

import csv
import json
import re
from html.parser import HTMLParser

import pytest

from bipartite.cli import main
from reproduction.__main__ import LABORATORY
from reproduction.claims import Judged, Verdict
from reproduction.claims.verdict import Claim, Judgement
from reproduction.commands import run as reproduce
from reproduction.runner import machine
from reproduction.runner.registry import EXPERIMENTS, Entry
from reproduction.runner.report_claims import anchor, summary
from reproduction.tests.published import conforms


class Page(HTMLParser):
    """Every tag that is opened is closed, and nothing is loaded from elsewhere."""

    VOID = frozenset({"meta", "br", "line", "rect", "circle", "path", "input"})

    def __init__(self, text):
        super().__init__()
        self.open, self.addresses, self.ids = [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        held = dict(attributes)
        self.addresses += [held[name] for name in ("src", "href") if name in held]
        self.ids += [held["id"]] if "id" in held else []
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_a_few_figures_are_written_and_the_page_needs_nothing_else(run, tmp_path):
    folder = tmp_path / "results"
    folder.mkdir()
    (folder / "mine.txt").write_text("stays")
    code, out, err = run("run", "pmf", "worked_example", "--out", folder)
    assert code == 0, err
    assert "Wrote" in out and "pmf: ok: 2 parts" in err
    assert (folder / "mine.txt").read_text() == "stays"
    assert {path.name for path in folder.iterdir() if path.is_file()} == {
        "mine.txt", "pmf.csv", "pmf.svg", "worked_example.csv", "worked_example.svg",
        "verdicts.csv", "run.json", "report.html",
    }  # fmt: skip
    assert (folder / "pmf.svg").read_text(encoding="utf-8").startswith("<svg")
    text = (folder / "report.html").read_text(encoding="utf-8")
    page = Page(text)
    assert all(address.startswith("#") for address in page.addresses)
    assert {address[1:] for address in page.addresses} <= set(page.ids)
    for words in (
        "python -m reproduction run pmf worked_example",
        "Fig. 1",
        "the same sentence leaves s_i at 1",
        "quick",
        "cores",
    ):
        assert words in text
    with (folder / "verdicts.csv").open(encoding="utf-8") as file:
        verdicts = {row["claim"]: row["verdict"] for row in csv.DictReader(file)}
    assert verdicts["prose of step 2"] == "holds with a correction"
    assert verdicts["theorem 3"] == "not run"
    assert "@media print" in text and "<code>python -m reproduction run theorems</code>" in text


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    assert main(["run", "pmf", "worked_example", "qloss_by_n", "--out", str(folder)], LABORATORY) == 0
    with (folder / "verdicts.csv").open(encoding="utf-8") as file:
        return (folder / "report.html").read_text(encoding="utf-8"), list(csv.DictReader(file))


def test_contents_lead_to_every_section_and_figure(page):
    text, _ = page
    contents = text.partition('<nav aria-label="Contents">')[2].partition("</nav>")[0]
    named = re.findall(r'<a href="#([^"]+)">', contents)
    assert named == re.findall(r'<h[23] id="([^"]+)">', text)
    assert {"claims", "figures", "pmf", "worked_example", "qloss_by_n", "this-run", "every-item"} <= set(named)
    ids = Page(text).ids
    assert len(ids) == len(set(ids))


def test_the_filter_has_every_verdict_that_occurs_and_shows_all_at_first(page):
    text, verdicts = page
    choices = re.findall(r'<input type="radio" name="show" id="show-([a-z-]+)"( checked)?>', text)
    assert choices[0] == ("all", " checked")
    assert not any(checked for _, checked in choices[1:])
    classes = {
        re.search(rf'id="{anchor(row["claim"])}" class="([a-z-]+)"', text)[1]: row["verdict"] for row in verdicts
    }
    assert {name for name, _ in choices[1:]} == set(classes)
    assert set(classes.values()) == {row["verdict"] for row in verdicts}
    for name, verdict in classes.items():
        assert f"#claims-table:has(#show-{name}:checked) tbody tr:not(.{name}) {{ display: none; }}" in text
        count = sum(row["verdict"] == verdict for row in verdicts)
        assert text.count(f' class="{name}"><td') == count
        assert f"{verdict} ({count})</span></label>" in text


def test_the_summary_leads_to_what_does_not_hold_as_it_stands(page):
    text, verdicts = page
    top = text.partition('<nav aria-label="Contents">')[0]
    listed = set(re.findall(r'<li><a href="#(claim-[^"]+)">', top))
    assert listed == {
        anchor(row["claim"])
        for row in verdicts
        if row["verdict"] in {"does not hold", "holds with a correction", "holds",
                              "found under a reading that the paper does not state"}
    }  # fmt: skip
    assert listed
    held = sum(row["verdict"] == "holds" for row in verdicts)
    assert f"Of {len(verdicts)} claims, {held} hold as they stand" in top
    assert top.index("Holds with a correction") < top.index(f"All {len(verdicts)} claims")


def test_the_summary_begins_with_what_fails_and_counts_every_kind():
    judged = [
        Judged(
            Claim(f"the claim {verdict.name}", "here", f"It says {verdict.name}.", lambda _: None),
            Judgement(verdict, "", ""),
        )
        for verdict in Verdict
    ]
    found = summary(judged)
    assert re.findall(r">It says ([A-Z]+)\.</a>", found) == ["FAILS", "READING", "CORRECTED", "HOLDS"]
    assert found.index("<details>") < found.index("It says HOLDS.") < found.index("</details>")
    for verdict in Verdict:
        assert f"1 {verdict}</span>" in found


def test_nothing_is_loaded_from_elsewhere(page):
    text, _ = page
    for loads in (r"<link\b", r"<img\b", r"<iframe\b", r"<script [^>]*src", r"@import", r"url\((?!#)", r"fetch\(",
                  r"XMLHttpRequest", r"""(?:src|href)=["'](?!#)"""):  # fmt: skip
        assert not re.search(loads, text), loads


def test_figures_stand_in_the_order_of_the_paper():
    numbers = [int(found[1]) for entry in EXPERIMENTS if (found := re.match(r"Fig\. (\d+)", entry.figure))]
    assert numbers == sorted(numbers)
    assert set(numbers) == set(range(1, 13))


def test_commands_of_figures_and_verdicts_measure_the_same_again(run, tmp_path):
    _, out, _ = run("run", "worked_example", "--full", "--seeds", "3", "--no-extra-lines", "--out", tmp_path, "--json")
    found = conforms(json.loads(out), "reproduce")
    assert found["command"] == "python -m reproduction run worked_example --full --seeds 3 --no-extra-lines"
    commands = {each["claim"]: each["command"] for each in found["verdicts"]}
    assert commands["prose of step 2"] == "python -m reproduction run worked_example --full --seeds 3"
    needed = "qloss_by_epsilon jaccard location_errors gbdt dnn"
    assert commands["state of the art"] == f"python -m reproduction run {needed} --full --seeds 3"
    assert commands["open science"] == ""
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert text.count("<code>python -m reproduction run worked_example --full --seeds 3</code>") == 2


def test_the_report_says_which_machine_measured(run, tmp_path, monkeypatch):
    run("run", "pmf", "--out", tmp_path)
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "elsewhere" not in text
    monkeypatch.setattr("reproduction.runner.running.this_machine", lambda: "another <machine>")
    run("run", "pmf", "worked_example", "--out", tmp_path)
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "measured 1 of 3 parts; 2 elsewhere: " in text


def test_a_second_run_measures_nothing_again(run, tmp_path):
    run("run", "pmf", "--out", tmp_path)
    code, out, _ = run("run", "pmf", "--out", tmp_path, "--json")
    found = conforms(json.loads(out), "reproduce")
    assert code == 0
    assert [(each["cells"], each["kept"]) for each in found["experiments"]] == [(2, 2)]
    assert found["command"] == "python -m reproduction run pmf"


def test_the_list_names_figures_and_needs(run):
    code, out, _ = run("run", "--list")
    assert code == 0
    assert re.search(r"^location_errors +Fig\. 8 .*gowalla-authors-1000", out, re.MULTILINE)
    code, out, _ = run("run", "--list", "--json", "pmf")
    assert [each["name"] for each in conforms(json.loads(out), "reproduce")["experiments"]] == ["pmf"]


def test_an_unknown_name_is_a_usage_error_with_a_suggestion(run, tmp_path):
    code, out, err = run("run", "jacard", "--out", tmp_path)
    assert (code, out) == (2, "")
    assert "did you mean jaccard" in err
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_refused_before_anything_runs(run, tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    code, _, err = run("run", "pmf", "--out", file / "results")
    assert code == 2
    assert "Expected --out as a folder that can be written" in err and "name another one" in err


def test_seeds_out_of_range_and_both_sizes_are_refused(run, tmp_path):
    for wrong in ("0", "-1", "1000000000"):
        code, _, err = run("run", "pmf", "--seeds", wrong, "--out", tmp_path / "results")
        assert code == 2 and "Expected seeds from 1 to 1000" in err
    assert list(tmp_path.iterdir()) == []  # and nothing was made
    code, _, err = run("run", "--quick", "--full")
    assert code == 2 and "not allowed with" in err


def test_missing_data_is_reported_with_its_address_and_the_others_run(run, tmp_path, monkeypatch):
    empty = tmp_path / "data"
    empty.mkdir()
    monkeypatch.setenv("BIPARTITE_DATA", str(empty))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setitem(__import__("sys").modules, "pooch", None)  # nothing is fetched in a test
    code, _, err = run("run", "pmf", "data_sets", "--out", tmp_path / "results")
    assert code == 4
    assert "pmf: ok" in err
    assert "data_sets: missing data" in err and "https://archive.ics.uci.edu" in err
    text = (tmp_path / "results" / "report.html").read_text(encoding="utf-8")
    assert "What did not run" in text and "https://archive.ics.uci.edu" in text


def test_damaged_data_is_bad_data(run, tmp_path, monkeypatch):
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "Bias_correction_ucl.csv").write_text("station,Date\n")
    (folder / "abalone.data").write_text("not abalone\n")
    monkeypatch.setenv("BIPARTITE_DATA", str(folder))
    monkeypatch.setattr(
        "reproduction.experiments.data_sets.QUICK",
        __import__("reproduction.experiments.data_sets", fromlist=["x"]).Settings(names=("abalone",)),
    )
    code, _, err = run("run", "data_sets", "pmf", "--out", tmp_path / "results")
    assert code == 3
    assert "data_sets: damaged data" in err and "sha256" in err
    assert "pmf: ok" in err


def test_a_bug_in_one_experiment_stops_no_other_and_is_said(run, tmp_path, monkeypatch):
    def breaks(_):
        message = "a bug <b>&"
        raise ZeroDivisionError(message)

    monkeypatch.setattr("reproduction.experiments.pmf.measure", breaks)
    code, out, err = run("run", "pmf", "worked_example", "--out", tmp_path, "--json")
    assert code == 70
    assert "pmf: failed: ZeroDivisionError: a bug <b>& (test_reproduce.py, line " in err
    assert "please report it with cells/pmf/traceback.txt" in err and "worked_example: ok: 1 part in" in err
    assert "Traceback" not in err
    text = (tmp_path / "cells" / "pmf" / "traceback.txt").read_text(encoding="utf-8")
    assert text.startswith("Traceback") and "in breaks" in text
    found = conforms(json.loads(out), "reproduce")
    assert [each["state"] for each in found["experiments"]] == ["failed", "done"]
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "ZeroDivisionError: a bug &lt;b&gt;&amp;" in page and "<b>" not in page
    Page(page)


def test_a_disk_that_is_full_ends_the_run_with_words(run, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("reproduction.runner.files.write_atomically", full)
    code, _, err = run("run", "pmf", "--out", tmp_path)
    assert code == 2 and "(No space left on device); make room or name another one" in err
    monkeypatch.setattr("reproduction.runner.cache.write_atomically", full)
    code, _, err = run("run", "worked_example", "monotonicity", "--out", tmp_path)
    assert code == 2 and "(No space left on device); make room or name another one" in err
    assert "monotonicity" not in err  # it would fail as well


def test_a_folder_whose_cells_alone_can_be_written_is_refused_before_anything_runs(run, tmp_path, monkeypatch):
    import tempfile

    real = tempfile.TemporaryFile

    def guarded(*, dir):  # noqa: A002
        if dir == tmp_path:
            raise PermissionError(13, "Permission denied")
        return real(dir=dir)

    monkeypatch.setattr("tempfile.TemporaryFile", guarded)
    code, _, err = run("run", "pmf", "--out", tmp_path)
    assert code == 2 and "(Permission denied)" in err and "pmf: ok" not in err


def test_a_folder_without_a_name_is_refused(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, err = run("run", "pmf", "--out", "")
    assert code == 2 and "expected a folder, got an empty name" in err
    assert list(tmp_path.iterdir()) == []


def test_two_runs_prepare_one_folder_at_the_same_time(tmp_path):
    # Each looked whether it can write under one and the same name, and took the other's file away.
    from concurrent.futures import ThreadPoolExecutor

    from reproduction.runner.files import prepare

    with ThreadPoolExecutor(4) as pool:
        for _ in pool.map(lambda _: prepare(tmp_path), range(400)):
            pass
    assert [path.name for path in tmp_path.rglob("*")] == ["cells"]


def test_an_interrupted_run_says_that_it_goes_on(run, tmp_path, monkeypatch):
    def stops(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("reproduction.experiments.pmf.measure", stops)
    code, out, err = run("run", "pmf", "--out", tmp_path)
    assert (code, out) == (130, "")
    assert "goes on from there.\nbipartite: interrupted\n" in err and "Traceback" not in err


@pytest.mark.parametrize("command", [("run", "pmf", "--out"), ("render",)], ids=["run", "render"])
def test_without_matplotlib_nothing_is_begun(run, tmp_path, monkeypatch, command):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    code, _, err = run(*command, tmp_path / "results")
    assert code == 4 and "The report needs matplotlib" in err and "bipartite[plots]" in err
    assert list(tmp_path.iterdir()) == []


class Terminal:
    def __init__(self):
        self.text = ""

    def isatty(self):
        return True

    def write(self, text):
        self.text += text

    def flush(self):
        pass


def test_on_a_terminal_the_time_left_is_shown(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    entries = [Entry("one", "", "", seconds=(10, 100)), Entry("two", "", "", seconds=(30, 300))]
    watch = reproduce._Watch(entries, 0)
    watch.begins(entries[0], 4, 0)
    assert watch.left() == pytest.approx(40)
    for _ in range(2):
        watch.cell(5.0)  # twice as slow as expected: so will the other be
    assert watch.left() == pytest.approx(2 * 5 + 2 * 30)
    assert "one, 2 of 4 parts; about 70 s left" in terminal.text
    watch.stops("cells")
    assert "left in all\r\033[KWhat was measured is kept in cells" in terminal.text  # not behind the bar


def test_the_machine_is_named_without_its_name():
    import platform

    assert "cores" in machine.this_machine()
    assert platform.node() not in machine.this_machine() or not platform.node()
