"""Every public name stands in the reference, and every page of it in the sidebar."""

import importlib
import pkgutil
import re
from functools import cache
from pathlib import Path

import pytest

REFERENCE = Path(__file__).parents[1] / "docs" / "reference"
_PUBLIC = (
    "bipartite",
    "bipartite.answers.advise",
    "bipartite.answers.estimation",
    "bipartite.answers.quality",
    "bipartite.cli",
    "bipartite.design",
    "bipartite.domains",
    "bipartite.ledger",
    "bipartite.learn",
    "bipartite.locations",
    "bipartite.lottery",
    "bipartite.mechanisms",
    "bipartite.mechanisms.categories",
    "bipartite.mechanisms.spec",
    "bipartite.quality",
    "bipartite.surveys",
    "bipartite.tables",
    "bipartite.verification",
)
_MODULES_WITH_PAGES = {"__version__", "design", "errors", "learn", "locations", "quality", "surveys", "tables"}


def described_in(text):
    """Full names of everything that a page of the reference describes."""
    module, found = "", []
    for directive, name in re.findall(r"^\.\. (currentmodule|auto\w+):: (\S+)$", text, re.MULTILINE):
        if directive == "currentmodule":
            module = name
        else:
            found.append(name if name.startswith(("bipartite.", "reproduction.")) else f"{module}.{name}")
    return found


@cache
def described():
    """Every name that the reference describes."""
    return [name for page in sorted(REFERENCE.glob("*.md")) for name in described_in(page.read_text(encoding="utf-8"))]


@cache
def found_by(name):
    try:
        return pkgutil.resolve_name(name)
    except (AttributeError, ImportError):
        return None


def missing(module, names):
    """Public names of a module that the reference does not describe, under this or another name of the same object."""
    room = importlib.import_module(module)
    told = described()
    objects = [found for name in told if (found := found_by(name)) is not None]
    return [
        name
        for name in names
        if f"{module}.{name}" not in told and not any(getattr(room, name) is each for each in objects if callable(each))
    ]


@pytest.mark.parametrize("module", _PUBLIC)
def test_every_public_name_stands_in_the_reference(module):
    names = {*importlib.import_module(module).__all__} - (_MODULES_WITH_PAGES if module == "bipartite" else set())
    found = missing(module, sorted(names))
    assert not found, f"add to a page of docs/reference: {', '.join(f'{module}.{name}' for name in found)}"


def test_a_name_that_is_left_out_is_found():
    assert missing("bipartite.learn.guarantee", ["Guarantee", "annotations"]) == ["annotations"]


def test_what_is_described_is_there_and_described_once():
    told = described()
    assert sorted(told) == sorted({*told})
    assert [name for name in told if found_by(name) is None] == []


def test_every_page_of_the_reference_stands_in_the_sidebar():
    sidebar = (REFERENCE.parent / "index.md").read_text(encoding="utf-8")
    assert [page.stem for page in REFERENCE.glob("*.md") if f"\nreference/{page.stem}\n" not in sidebar] == []
