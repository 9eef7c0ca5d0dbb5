"""The committed report is what the present code says of the committed tables: neither falls behind the other."""

import csv
import html
import importlib
import re

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


# Maps are drawn from the places themselves, which are not in a table.
@pytest.mark.parametrize(
    "entry", [each for each in EXPERIMENTS if each.name != "location_maps"], ids=lambda entry: entry.name
)
def test_the_pictures_are_those_of_the_tables(entry, report):
    module = importlib.import_module(f"reproduction.experiments.{entry.name}")
    for name, svg in pictures_of(module, result_tables.rows(entry.name), extra=True).items():
        # Words and shapes; places may be rounded differently elsewhere.
        assert _shape(svg) in _shape(report), name


def _shape(text):
    return re.sub(r"-?[0-9]+\.?[0-9]*", "0", text)
