"""The committed report is what the present code says of the committed tables: neither falls behind the other."""

import csv
import html
import importlib
import re
import xml.etree.ElementTree as ET
from functools import cache

import pytest

import result_tables
from reproduction.claims import judge_all
from reproduction.runner.registry import EXPERIMENTS
from reproduction.runner.running import Outcome, pictures_of

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


def test_every_panel_of_every_picture_has_a_title(report):
    pictures = re.findall(r'<div class="picture">(<svg .*?</svg>)</div>', report, re.DOTALL)
    assert len(pictures) > len(EXPERIMENTS)
    for svg in pictures:
        axes = len(re.findall(r'transform="rotate', svg))
        titles = re.findall(r'font-weight="bold">([^<]+)<', svg)
        assert titles and len(titles) >= axes, svg[:300]


# Maps are drawn from the places themselves, which are not in a table.
DRAWN = [entry for entry in EXPERIMENTS if entry.name != "location_maps"]


@pytest.fixture(scope="module")
def drawn():
    """The pictures of the tables by experiment, and the titles of the panels of each."""
    panels = importlib.import_module("reproduction.figures.panels")  # not the function of that name
    titles, stars = [], panels._stars
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            panels, "_stars", lambda several: titles.append([each.title for each in several]) or stars(several)
        )
        modules = {entry.name: importlib.import_module(f"reproduction.experiments.{entry.name}") for entry in DRAWN}
        pictures = {name: pictures_of(modules[name], result_tables.rows(name), extra=True) for name in modules}
    return pictures, titles


def test_no_two_panels_of_a_picture_have_one_title(drawn):
    _, pictures = drawn
    assert len(pictures) > len(EXPERIMENTS)
    for titles in pictures:
        assert all(titles)
        assert len(titles) == len(set(titles)), titles


def boxes(svg):
    """Where the words of a picture stand; letters are taken to be half as wide as high, a little less than they are."""
    for each in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text"):
        x, y, size = (float(each.attrib.get(name, 13)) for name in ("x", "y", "font-size"))
        wide = 0.5 * size * len(each.text or "")
        left = x - {"start": 0, "middle": wide / 2, "end": wide}[each.attrib.get("text-anchor", "start")]
        if "transform" in each.attrib:  # an axis, turned about its middle
            yield each.text, (x - 0.7 * size, y - wide / 2, x, y + wide / 2)
        elif wide:
            yield each.text, (left, y - 0.7 * size, left + wide, y)


def test_no_words_of_a_picture_cover_others_or_leave_it(report):
    for svg in re.findall(r'<div class="picture">(<svg .*?</svg>)</div>', report, re.DOTALL):
        width = float(ET.fromstring(svg).attrib["viewBox"].split()[2])
        found = list(boxes(svg))
        for at, (words, (left, top, right, bottom)) in enumerate(found):
            assert left >= -1 and right <= width + 1, words
            for others, (a, b, c, d) in found[:at]:
                assert right <= a or c <= left or bottom <= b or d <= top, (words, others)


def test_numbers_that_the_paper_prints_are_drawn(report):
    marks = set(re.findall(r">(the paper: [^<]+)<", report))
    assert {f"the paper: {words}" for words in (
        "66 % of Laplace’s", "45 % of Laplace’s", "67 % of Laplace’s", "+28 %", "+21 %", "+12 %", "+3.22 % on average",
        "+5.29 %", "8.7 % on average", "23.4 %", "6.7 % on average", "14.3 %", "0.03 s", "BRR 4 s",
        "about 0.5 at ε = 2", "the largest 235", "13 regions, the smallest 7", "the largest 278",
        "14 regions, the smallest 64",
    )} <= marks  # fmt: skip


@pytest.mark.parametrize("entry", DRAWN, ids=lambda entry: entry.name)
def test_the_pictures_are_those_of_the_tables(entry, drawn, report):
    for name, svg in drawn[0][entry.name].items():
        # Words and shapes; places may be rounded differently elsewhere.
        assert _shape(svg) in _shape(report), name


@cache
def _shape(text):
    return re.sub(r"-?[0-9]+\.?[0-9]*", "0", text)
