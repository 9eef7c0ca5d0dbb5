"""Tables and figures of the docs are those of the committed full run, and cannot be anything else."""

import re
import shutil

import numpy as np
import pytest

import result_tables

DOCS = result_tables.ROOT / "docs"


@pytest.mark.parametrize("page", result_tables.TABLES)
def test_tables_of_a_page_are_those_of_the_run(page):
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    assert result_tables.filled(text, result_tables.TABLES[page]) == text, "run: python -m tools.result_tables"


def test_figures_of_pages_are_those_of_the_run():
    for path, drawn in result_tables.figures().items():
        stored = path.read_text(encoding="utf-8")
        number = r"-?[0-9]+\.?[0-9]*"
        # Words and shapes exactly; places to a third of a pixel, because sums may be rounded differently elsewhere.
        assert re.sub(number, "0", stored) == re.sub(number, "0", drawn), (
            f"{path.name}: run python -m tools.result_tables"
        )
        places = [np.array([float(found) for found in re.findall(number, text)]) for text in (stored, drawn)]
        np.testing.assert_allclose(*places, atol=0.3)


def test_every_figure_stands_on_a_page():
    told = "".join(page.read_text(encoding="utf-8") for page in (result_tables.ROOT / "README.md", *DOCS.glob("*.md")))
    assert [path.name for path in result_tables.figures() if f"_static/{path.name}" not in told] == []


def test_a_changed_number_changes_a_page(tmp_path, monkeypatch):
    shutil.copy(result_tables.RESULTS / "gbdt.csv", tmp_path / "gbdt.csv")
    lines = (tmp_path / "gbdt.csv").read_text(encoding="utf-8").splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("abalone,BRR,5.0,21,"))
    head, _, last = lines[at].rsplit(",", 2)
    lines[at] = f"{head},99.5,{last}"
    (tmp_path / "gbdt.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    page = (DOCS / "private-boosting.md").read_text(encoding="utf-8")
    result_tables.rows.cache_clear()
    monkeypatch.setattr(result_tables, "RESULTS", tmp_path)
    try:
        assert result_tables.filled(page, result_tables.TABLES["private-boosting"]) != page
    finally:
        result_tables.rows.cache_clear()


@pytest.mark.parametrize("text", ["Nothing.\n", "| a | b |\n|---|---|\n| 1 | 2 |\n"], ids=["no table", "no end"])
def test_a_page_without_its_table_is_an_error(text):
    with pytest.raises(ValueError, match=r"begins with these lines.*\n\| a \| b \|"):
        result_tables.filled(text, [lambda: ["| a | b |", "|---|---|", "| 1 | 2 |"]])
