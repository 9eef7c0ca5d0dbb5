"""Tables and figures of README and docs are those of the committed full run, and cannot be anything else."""

import re
import shutil

import numpy as np
import pytest

import result_facts
import result_tables


@pytest.mark.parametrize("page", result_tables.pages(), ids=lambda path: path.name)
def test_tables_of_a_page_are_those_of_the_run(page):
    text = page.read_text(encoding="utf-8")
    assert result_tables.filled(text) == text, "run: python tools/result_tables.py"


def test_every_table_stands_on_a_page():
    told = "".join(page.read_text(encoding="utf-8") for page in result_tables.pages())
    assert [name for name in result_tables.TABLES if f"<!-- table: {name} -->" not in told] == []


def test_figures_of_pages_are_those_of_the_run():
    for path, drawn in result_tables.figures().items():
        stored = path.read_text(encoding="utf-8")
        number = r"-?[0-9]+\.?[0-9]*"
        # Words and shapes exactly; places to a third of a pixel, because sums may be rounded differently elsewhere.
        assert re.sub(number, "0", stored) == re.sub(number, "0", drawn), (
            f"{path.name}: run python tools/result_tables.py"
        )
        places = [np.array([float(found) for found in re.findall(number, text)]) for text in (stored, drawn)]
        np.testing.assert_allclose(*places, atol=0.3)


def test_every_figure_stands_on_a_page():
    told = "".join(page.read_text(encoding="utf-8") for page in result_tables.pages())
    assert [path.name for path in result_tables.figures() if f"_static/{path.name}" not in told] == []


def test_every_fact_is_told():
    told = "".join(page.read_text(encoding="utf-8") for page in result_tables.pages())
    assert [name for name in result_facts.FACTS if f"results: fact {name};" not in told] == []


def test_a_changed_number_changes_a_page(tmp_path, monkeypatch):
    shutil.copy(result_tables.RESULTS / "gbdt.csv", tmp_path / "gbdt.csv")
    lines = (tmp_path / "gbdt.csv").read_text(encoding="utf-8").splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("abalone,BRR,5.0,21,"))
    head, _, last = lines[at].rsplit(",", 2)
    lines[at] = f"{head},99.5,{last}"
    (tmp_path / "gbdt.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    page = next(page for page in result_tables.pages() if page.name == "private-boosting.md").read_text(
        encoding="utf-8"
    )
    result_tables.rows.cache_clear()
    monkeypatch.setattr(result_tables, "RESULTS", tmp_path)
    try:
        assert result_tables.filled(page) != page
    finally:
        result_tables.rows.cache_clear()


def test_a_table_without_a_name_that_is_known_is_an_error():
    with pytest.raises(KeyError):
        result_tables.filled("<!-- table: unknown -->\n\n<!-- end -->")


def test_a_table_without_an_end_is_an_error():
    with pytest.raises(ValueError, match="has no end"):
        result_tables.filled("<!-- table: gbdt-errors -->\n\n| a |\n")
