"""The committed report is what the present code says of the committed tables: neither falls behind the other."""

import csv
import html
import importlib
import re
from functools import cache

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

import result_tables
from bipartite.plots import figure
from reproduction.judging import judge_all
from reproduction.runner.registry import EXPERIMENTS
from reproduction.runner.running import Outcome, pictures_of
from reproduction.tests.figures.reading import check_words, words

COLUMNS = ("claim", "where", "says", "verdict", "measured", "why")


@pytest.fixture(scope="module")
def report():
    return (result_tables.RESULTS / "report.html").read_text(encoding="utf-8")


def test_the_verdicts_are_those_of_the_tables(report):
    found = [
        dict(zip(COLUMNS, (said.key, said.where, said.says, str(what.verdict), what.measured, what.why), strict=True))
        for each in judge_all([Outcome(entry, "done", rows=result_tables.rows(entry.name)) for entry in EXPERIMENTS])
        for said, what in [(each.claim, each.judgement)]
    ]
    with (result_tables.RESULTS / "verdicts.csv").open(encoding="utf-8", newline="") as file:
        held = [{column: row[column] for column in COLUMNS} for row in csv.DictReader(file)]
    assert held == found, "python -m reproduction render reproduction/results"
    for row in held:
        for column in ("says", "measured", "why"):
            assert html.escape(row[column]) in report, row["claim"]


def test_numbers_that_the_paper_prints_are_said(report):
    pictures = re.findall(r'<div class="picture">(<svg .*?</svg>)</div>', report, re.DOTALL)
    assert len(pictures) > len(EXPERIMENTS)
    # Ids of a picture are made of its words: of two that say the same, one would show shapes of the other.
    assert len(set(re.findall(r'<svg role="img" aria-label="([^"]+)"', report))) == len(pictures)
    told = " ".join(words(svg) for svg in pictures)
    for said in (
        "66 % of Laplace’s", "45 % of Laplace’s", "67 % of Laplace’s", "+28 %; +21 %; +12 %",
        "+3.22 % on average; +5.29 %", "8.7 % on average; 23.4 %", "6.7 % on average; 14.3 %", "0.03 s", "BRR 4 s",
        "about 0.5 at ε = 2", "the largest 235; 13 regions, the smallest 7",
        "the largest 278; 14 regions, the smallest 64",
    ):  # fmt: skip
        assert f"★ the paper: {said}" in told, said


# Maps are drawn from the places themselves, which are not in a table.
@pytest.mark.parametrize(
    "entry", [entry for entry in EXPERIMENTS if entry.name != "location_maps"], ids=lambda entry: entry.name
)
def test_the_pictures_are_those_of_the_tables(entry, report, monkeypatch):
    figures, whole = [], figure._figure_of
    monkeypatch.setattr(figure, "_figure_of", lambda draw: figures.append(whole(draw)) or figures[-1])
    module = importlib.import_module(f"reproduction.experiments.{entry.name}")
    pictures = pictures_of(module, result_tables.rows(entry.name), extra=True)
    for (name, svg), drawn in zip(pictures.items(), figures, strict=True):
        # Words and shapes; places may be rounded differently elsewhere.
        assert _shape(svg) in _shape(report), f"{name}: python -m reproduction render reproduction/results"
        axes = [ax for ax in drawn.axes if ax.get_visible()]
        titles = [ax.get_title(loc="left") for ax in axes]
        assert all(titles) and len(titles) == len(set(titles)), name
        # Panels have one horizontal axis; kilometres in one city and in the world are no such.
        assert len({ax.get_xlim() for ax in axes}) == 1 or name == "inference_against_error", name
        FigureCanvasAgg(drawn)
        check_words(drawn)


@cache
def _shape(text):
    return re.sub(r"-?[0-9]+\.?[0-9]*", "0", text)
