"""Every item of the paper has a row, and whatever a row names is there."""

import ast
import functools
import importlib
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

import bipartite
from reproduction.items import KINDS, items
from reproduction.judging import CLAIMS
from reproduction.registry import EXPERIMENTS

ROOT = Path(__file__).parents[2]
PAPER = ROOT.parent / "shared" / "paper" / "brr-paper.tex"
NUMBERED = {"figure": "Fig.", "table": "Table", "algorithm": "Algorithm", "definition": "Definition", "thm": "Theorem"}


def names(sort):
    return {each.name for item in items() for each in item.has if each.sort == sort}


@functools.cache
def functions_of(path):
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@functools.cache
def anchors_of(path):
    """What a link to a heading of a page may name, as the site makes it."""
    heads = re.findall(r"^#+ (.+)$", (ROOT / path).read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def test_rows_are_complete_and_say_where_or_why():
    assert [name for name, count in Counter(each.item for each in items()).items() if count > 1] == []
    for item in items():
        assert item.kind in KINDS and item.place and item.says and item.section, item
        assert item.has or item.note, item
    sections = [each.item.rpartition("-")[0] for each in items()]
    for section in dict.fromkeys(sections):
        of = [each.item for each in items() if each.item.rpartition("-")[0] == section]
        assert of == [f"{section}-{at}" for at in range(1, len(of) + 1)]
    # A section is in one piece.
    assert len([a for a, b in pairwise(sections) if a != b]) + 1 == len(set(sections))


def test_claims_of_rows_are_judged_and_every_claim_has_a_row():
    assert names("claim") == {claim.key for claim in CLAIMS}


def test_experiments_of_rows_are_registered_and_every_experiment_has_a_row():
    by_claims = {name for claim in CLAIMS for name in claim.needs}
    registered = {entry.name for entry in EXPERIMENTS}
    assert names("run") <= registered
    assert registered <= names("run") | by_claims


def test_names_of_rows_are_public():
    for name in names("name"):
        start, *rest = name.split(".")
        found = bipartite
        if start != "bp":
            found, rest = importlib.import_module(name.rpartition(".")[0]), rest[-1:]
        for each in rest:
            # Listed without loading: what needs an extra is there without it, too.
            assert each in dir(found), name
            found = found if each == rest[-1] else getattr(found, each)


def test_tests_and_pages_of_rows_are_there():
    for name in names("test"):
        path, _, test = name.partition("::")
        assert test in functions_of(path), name
    for name in names("page"):
        path, _, anchor = name.partition("#")
        assert (ROOT / path).is_file(), name
        assert not anchor or anchor in anchors_of(path), name


@pytest.mark.skipif(not PAPER.is_file(), reason="the paper is not here")
def test_every_label_and_number_of_the_paper_has_a_row_and_quotations_are_its_words():
    source = PAPER.read_text(encoding="utf-8")
    labels = [each for item in items() for each in item.labels]
    assert sorted(labels) == sorted(re.findall(r"\\label\{([^}]*)\}", source))
    for environment, called in NUMBERED.items():
        count = len(re.findall(rf"\\begin\{{{environment}\*?\}}", source))
        assert count
        for number in range(1, count + 1):
            assert any(re.match(rf"{called} {number}\b", item.place) for item in items()), (called, number)
    words = plain(source)
    checked = 0
    for item in items():
        if item.place.startswith("“"):
            for part in item.place.strip("“”").split("…"):
                # Formulas are set otherwise in the source; words are not.
                if not re.search(r"[^A-Za-z ,.;:()'\-]", part):
                    checked += 1
                    assert part.strip(" ,").lower() in words, item.item
    assert checked > 150


def plain(source):
    """The words of a source of LaTeX, without commands, in small letters."""
    source = re.sub(r"~?\s*\\cite\{[^}]*\}", "", source).replace("’", "'")
    return re.sub(r"\s+", " ", re.sub(r"\\[()]|\\[A-Za-z]+|[\\{}$~]", "", source)).lower()
