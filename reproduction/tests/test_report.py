"""python -m reproduction run and render: the files, the page, and what is said when something is missing or wrong."""

import csv
import json
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from bipartite.cli import main
from reproduction.__main__ import LABORATORY
from reproduction.claim import Verdict
from reproduction.folder import Circumstances, prepare
from reproduction.judging import judge_all
from reproduction.registry import EXPERIMENTS
from reproduction.report import anchor, report

COMMITTED = Path(__file__).parents[1] / "results"
LISTED = (Verdict.FAILS, Verdict.READING, Verdict.PART, Verdict.SLIP, Verdict.HOLDS)


class Page(HTMLParser):
    """Every tag that is opened is closed."""

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


def read(path):
    return path.read_text(encoding="utf-8")


def verdicts_of(folder):
    with (folder / "verdicts.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    folder = tmp_path_factory.mktemp("measured")
    (folder / "mine.txt").write_text("stays")
    assert main(["run", "pmf", "worked_example", "--out", str(folder)], LABORATORY) == 0
    return folder


@pytest.fixture
def results(measured, tmp_path):
    return Path(shutil.copytree(measured, tmp_path / "results"))


def test_a_run_leaves_its_tables_pictures_verdicts_and_a_page_that_needs_nothing_else(measured):
    assert {path.name for path in measured.iterdir() if path.is_file()} == {
        "mine.txt", "pmf.csv", "pmf.svg", "worked_example.csv", "worked_example.svg",
        "verdicts.csv", "parts.csv", "run.json", "report.html",
    }  # fmt: skip
    text = read(measured / "report.html")
    page = Page(text)
    assert len(page.ids) == len(set(page.ids))
    assert {address[1:] for address in page.addresses} <= set(page.ids)
    for loads in (r"<link\b", r"<img\b", r"<iframe\b", r"<script [^>]*src", r"@import", r"url\((?!#)", r"fetch\(",
                  r"XMLHttpRequest", r"""(?:src|href)=["'](?!#)"""):  # fmt: skip
        assert not re.search(loads, text), loads
    for words in ("python -m reproduction run pmf worked_example", "Fig. 1", "quick", "cores", "@media print"):
        assert words in text
    verdicts = {row["claim"]: row for row in verdicts_of(measured)}
    assert verdicts["prose of step 2"]["verdict"] == "holds but for a slip"
    assert verdicts["theorem 3"]["verdict"] == "not run"
    assert verdicts["theorem 3"]["command"] == "python -m reproduction run theorems"
    assert verdicts["open science"]["command"] == ""


def test_contents_lead_to_every_section_and_figure(measured):
    text = read(measured / "report.html")
    contents = text.partition('<nav aria-label="Contents">')[2].partition("</nav>")[0]
    named = re.findall(r'<a href="#([^"]+)">', contents)
    assert named == [name for name in re.findall(r'<h[23] id="([^"]+)">', text) if name != "conclusions"]
    assert {"claims", "figures", "pmf", "worked_example", "this-run", "every-item"} <= set(named)


def test_the_filter_has_every_verdict_that_occurs_and_shows_all_at_first(measured):
    text, verdicts = read(measured / "report.html"), verdicts_of(measured)
    choices = re.findall(r'<input type="radio" name="show" id="show-(\w+)"( checked)?>', text)
    assert choices[0] == ("all", " checked") and not any(checked for _, checked in choices[1:])
    kinds = {Verdict[name.upper()] for name, _ in choices[1:]}
    assert {str(kind) for kind in kinds} == {row["verdict"] for row in verdicts}
    for kind in kinds:
        name, count = kind.name.lower(), sum(row["verdict"] == kind for row in verdicts)
        assert f"#claims-table:has(#show-{name}:checked) tbody tr:not(.{name}) {{ display: none; }}" in text
        assert text.count(f' class="{name}"><td') == count
        assert f"{kind} ({count})</span></label>" in text


def test_the_page_begins_with_five_conclusions_and_what_does_not_hold_with_what_was_found():
    text = read(COMMITTED / "report.html")
    top = text.partition('<nav aria-label="Contents">')[0]
    conclusions = top.partition('<ol class="conclusions">')[2].partition("</ol>")[0]
    assert conclusions.count("<li>") == 5 and "not in this run" not in conclusions
    listed = re.findall(r'<li><a href="#(claim-[^"]+)">', top)
    wanted = [anchor(row["claim"]) for kind in LISTED for row in verdicts_of(COMMITTED) if row["verdict"] == kind]
    assert listed == wanted
    held = top.index("<details>")
    assert top[:held].count("<strong>Found:</strong>") == top[:held].count('<li><a href="#claim-')
    assert top.index("ε-LDP</em>") < top.index("BRR</em>") < top.index("near-set</em>") < top.index("five lines")


def test_a_run_of_a_few_experiments_says_that_the_conclusions_are_not_its_own(measured):
    text = read(measured / "report.html")
    assert f"It has 2 of {len(EXPERIMENTS)} experiments." in text and "conclusions of the full run" in text
    assert "conclusions of the full run" not in read(COMMITTED / "report.html")


def test_a_conclusion_whose_claims_came_out_otherwise_says_so():
    judged = [
        replace(each, judgement=replace(each.judgement, verdict=Verdict.FAILS, why="See “theorem 2, gap”, “no claim”."))
        if each.claim.key == "theorem 3" else each
        for each in judge_all([])
    ]  # fmt: skip
    text = report([], judged, Circumstances(mode="quick", command="", seconds=0))
    assert '<a href="#claim-theorem-3">theorem 3</a> (in this run: does not hold)' in text
    assert '<a href="#claim-theorem-1-1">theorem 1 (1)</a>,' in text  # what did not run is said once, above
    assert 'See <a href="#claim-theorem-2-gap">“theorem 2, gap”</a>, “no claim”.' in text


def test_a_rendered_run_is_the_run(run, results):
    names = ("pmf.csv", "worked_example.csv", "verdicts.csv", "report.html", "parts.csv")
    before = {name: read(results / name) for name in names}
    for name in ("verdicts.csv", "report.html"):
        (results / name).unlink()
    assert run("render", results) == (0, f"Wrote {results / 'report.html'}.\n", "")
    assert {name: read(results / name) for name in names} == before


def test_the_committed_report_is_drawn_without_any_data_set(run, tmp_path, monkeypatch):
    monkeypatch.setenv("BIPARTITE_DATA", str(tmp_path))
    monkeypatch.setattr("reproduction.datasets.finding.find", None)
    folder = tmp_path / "results"
    shutil.copytree(COMMITTED, folder)
    code, _, err = run("render", folder)
    assert (code, err) == (0, "")
    assert read(folder / "verdicts.csv") == read(COMMITTED / "verdicts.csv")


def test_tables_of_another_run_replace_those_that_were_there(run, results, tmp_path):
    other = tmp_path / "other"
    run("run", "monotonicity", "pmf", "--out", other)
    table = other / "pmf.csv"
    table.write_text("".join(read(table).splitlines(keepends=True)[:-1]), encoding="utf-8")
    assert run("render", results, "--take", other)[0] == 0
    assert read(results / "pmf.csv") == read(table)
    found = json.loads(read(results / "run.json"))
    assert [each["name"] for each in found["experiments"]] == ["pmf", "worked_example", "monotonicity"]


def test_a_run_that_is_none_or_of_another_mode_or_version_is_refused(run, results, tmp_path, monkeypatch):
    code, out, err = run("render", tmp_path)
    assert (code, out) == (2, "")
    assert f"Expected a folder with the run.json of a run, got {str(tmp_path)!r} (FileNotFoundError); run it" in err
    other = tmp_path / "other"
    run("run", "pmf", "--full", "--out", other)
    before = read(results / "report.html")
    code, _, err = run("render", results, "--take", other)
    assert code == 2 and f"Expected a quick run in {str(other)!r}, got a full one; run it that way." in err
    assert read(results / "report.html") == before
    monkeypatch.setattr("reproduction.folder.EXPERIMENTS", [replace(each, version=9) for each in EXPERIMENTS])
    code, _, err = run("render", results)
    assert code == 2 and "Expected pmf measured by version 9, got version 1 in" in err
    again = f"run --quick pmf --out newer, and name it: python -m reproduction render {results} --take newer."
    assert f"measure it again with python -m reproduction {again}" in err


def test_a_second_run_measures_nothing_again_and_its_command_is_said(run, results):
    code, _, err = run("run", "worked_example", "pmf", "--seeds", "3", "--out", results)
    assert code == 0 and "pmf: ok: 2 parts in 0.0 s, 2 kept from before" in err
    found = json.loads(read(results / "run.json"))
    assert found["command"] == "python -m reproduction run worked_example pmf --seeds 3"
    assert "<code>python -m reproduction run worked_example --seeds 3</code>" in read(results / "report.html")


def test_the_list_names_figures_and_needs(run):
    code, out, _ = run("run", "--list")
    assert code == 0
    assert re.search(r"^location_errors +Fig\. 8 .*gowalla-authors-1000", out, re.MULTILINE)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("jacard",), "did you mean jaccard"),
        (("pmf", "--seeds", "0"), "Expected seeds from 1 to 1000"),
        (("pmf", "--seeds", "1000000000"), "Expected seeds from 1 to 1000"),
        (("pmf", "--quick", "--full"), "not allowed with"),
        (("pmf", "--out", ""), "expected a folder, got an empty name"),
    ],
)
def test_wrong_words_are_refused_before_anything_is_made(run, tmp_path, monkeypatch, words, said):
    monkeypatch.chdir(tmp_path)
    code, out, err = run("run", *words)
    assert (code, out) == (2, "") and said in err
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_refused_before_anything_runs(run, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    code, _, err = run("run", "pmf", "--out", tmp_path / "file" / "results")
    assert code == 2 and "Expected --out as a folder that can be written" in err and "name another one" in err

    def denied(**_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.TemporaryFile", denied)
    code, _, err = run("run", "pmf", "--out", tmp_path)
    assert code == 2 and "(Permission denied)" in err and "pmf: ok" not in err


def test_a_disk_that_is_full_ends_the_run_with_words(run, results, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("reproduction.folder.write_atomically", full)
    for words in (("run", "pmf", "--out", results), ("render", results)):
        code, _, err = run(*words)
        assert code == 2 and "(No space left on device); make room or name another one" in err
    monkeypatch.setattr("reproduction.cells.write_atomically", full)
    code, _, err = run("run", "monotonicity", "theorems", "--out", results)
    assert code == 2 and "(No space left on device); make room or name another one" in err
    assert "theorems" not in err  # it would fail as well


def test_missing_data_is_reported_with_its_address_and_the_others_run(run, tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    monkeypatch.setenv("BIPARTITE_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setitem(__import__("sys").modules, "pooch", None)  # nothing is fetched in a test
    code, _, err = run("run", "pmf", "data_sets", "--out", tmp_path / "results")
    assert code == 4 and "pmf: ok" in err
    assert "data_sets: missing data" in err and "https://archive.ics.uci.edu" in err
    text = read(tmp_path / "results" / "report.html")
    assert "What did not run" in text and "https://archive.ics.uci.edu" in text
    (tmp_path / "data" / "Bias_correction_ucl.csv").write_text("station,Date\n")
    code, _, err = run("run", "data_sets", "pmf", "--out", tmp_path / "results")
    assert code == 3 and "data_sets: damaged data" in err and "Bias_correction_ucl.csv" in err and "pmf: ok" in err


def test_a_bug_in_one_experiment_stops_no_other_and_is_said(run, tmp_path, monkeypatch):
    def breaks(**_):
        raise ZeroDivisionError("a bug <b>&")

    monkeypatch.setattr("reproduction.experiments.pmf.measure", breaks)
    code, _, err = run("run", "pmf", "worked_example", "--out", tmp_path)
    assert code == 70
    assert "pmf: failed: ZeroDivisionError: a bug <b>& (test_report.py, line " in err
    assert "please report it with cells/pmf/traceback.txt" in err and "worked_example: ok: 1 part in" in err
    text = read(tmp_path / "cells" / "pmf" / "traceback.txt")
    assert text.startswith("Traceback") and "in breaks" in text and "Traceback" not in err
    assert [each["state"] for each in json.loads(read(tmp_path / "run.json"))["experiments"]] == ["failed", "done"]
    page = read(tmp_path / "report.html")
    assert "ZeroDivisionError: a bug &lt;b&gt;&amp;" in page and "<b>" not in page
    Page(page)


def test_two_runs_prepare_one_folder_at_the_same_time(tmp_path):
    # Each looked whether it can write under one and the same name, and took the other's file away.
    with ThreadPoolExecutor(4) as pool:
        for _ in pool.map(lambda _: prepare(tmp_path), range(400)):
            pass
    assert [path.name for path in tmp_path.rglob("*")] == ["cells"]


def test_an_interrupted_run_says_that_it_goes_on(run, tmp_path, monkeypatch):
    def stops(**_):
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


def test_how_long_a_run_takes_is_said_beforehand(run, tmp_path):
    _, _, err = run("run", "pmf", "--out", tmp_path)
    assert err.startswith("About 1 s on two cores.\n")
