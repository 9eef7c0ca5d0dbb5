"""The committed report is what the present code says of the committed tables: neither falls behind the other."""

import csv
import html
import re
from functools import cache

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from bipartite.plots import figure
from reproduction.folder import Circumstances, outcomes_of, record, verdict_rows
from reproduction.judging import judge_all
from reproduction.registry import EXPERIMENTS
from reproduction.tests.committed import RESULTS
from reproduction.tests.reading import check_words, words

WHAT_TO_DO = "python -m reproduction render reproduction/results"
SAID = record(RESULTS)
OF_A_RUN = ("mode", "command", "finished", "seconds", "machine", "commit", "versions")
HOW = Circumstances(**{name: SAID[name] for name in OF_A_RUN}, options=" --full")
# Numbers of small regions that lie close together touch.
# Panels have one horizontal axis; kilometres in one city and in the world are no such.
OF_MANY_SCALES = {"inference_against_error"}


@pytest.fixture(scope="module")
def report():
    return (RESULTS / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def drawn():
    """Every experiment of the committed run with its pictures, drawn anew, and the figures that they were made of."""
    figures, whole = [], figure._figure_of
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(figure, "_figure_of", lambda draw: figures.append(whole(draw)) or figures[-1])
        outcomes = outcomes_of(RESULTS)
    left = iter(figures)
    return [(outcome, [next(left) for _ in outcome.pictures]) for outcome in outcomes.values()]


def test_every_experiment_ran_in_full(drawn):
    assert SAID["mode"] == "full"
    assert [outcome.entry for outcome, _ in drawn] == list(EXPERIMENTS)
    for outcome, _ in drawn:
        assert [part["point"] for part in outcome.parts] == [
            {name: list(value) if isinstance(value, tuple) else value for name, value in point.items()}
            for point in outcome.entry.load().FULL
        ]


def test_the_verdicts_are_those_of_the_tables(drawn, report):
    with (RESULTS / "verdicts.csv").open(encoding="utf-8", newline="") as file:
        held = list(csv.DictReader(file))
    found = verdict_rows(judge_all([outcome for outcome, _ in drawn]), HOW)
    assert held == found, WHAT_TO_DO
    told = html.unescape(re.sub(r"</?a\b[^>]*>", "", report))
    for row in held:
        for column in ("says", "measured", "why"):
            assert row[column] in told, row["claim"]


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


def test_the_pictures_are_those_of_the_tables(drawn, report):
    for outcome, figures in drawn:
        for (name, svg), picture in zip(outcome.pictures.items(), figures, strict=True):
            # Words and shapes; places may be rounded differently elsewhere.
            assert _shape(svg) in _shape(report), f"{name}: {WHAT_TO_DO}"
            axes = [ax for ax in picture.axes if ax.get_visible()]
            titles = [ax.get_title(loc="left") for ax in axes]
            assert all(titles) and len(titles) == len(set(titles)), name
            assert len({ax.get_xlim() for ax in axes}) == 1 or name in OF_MANY_SCALES, name
            FigureCanvasAgg(picture)
            check_words(picture)


@cache
def _shape(text):
    return re.sub(r"-?[0-9]+\.?[0-9]*", "0", text)
