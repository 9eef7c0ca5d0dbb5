"""Pictures, tables and printed evidence in the docs are what their scripts make today, and what pages name is there."""

import math
import os
import pkgutil
import re
import runpy
import shutil
from pathlib import Path

import numpy as np
import pytest

from bipartite.cli.program import BIPARTITE
from bipartite.plots.figure import STYLE, as_svg
from reproduction.__main__ import LABORATORY
from tools import result_numbers, result_tables

DOCS = Path(__file__).parents[1] / "docs"
RESULTS = DOCS.parent / "bench" / "results"
_PIXELS = 0.3
_WORDS = re.compile(r'aria-label="[^"]*"|>[^<]*</t(?:ext|span)>')
PAGES = [
    *(DOCS.parent / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    *sorted(DOCS.glob("*.md")),
    *sorted(DOCS.glob("reference/*.md")),
    *sorted(RESULTS.glob("*.md")),
]
_FOLDERS = "src|tests|tools|bench|docs|reproduction|bipartite"


def same_but_for_rounding(stored, made, atol):
    """Words exactly, numbers within a tolerance: sums may be rounded differently on another processor."""
    number = r"-?[0-9]+\.?[0-9]*"
    words = [re.sub(r"0 +", "0 ", re.sub(number, "0", text)) for text in (stored, made)]
    assert words[0] == words[1]
    numbers = [np.array([float(found) for found in re.findall(number, text)]) for text in (stored, made)]
    np.testing.assert_allclose(*numbers, rtol=1e-4, atol=atol)


def scripts(names, *, slow):
    """Scripts as parameters; those that take seconds are left to ``--all``."""
    return [*names, *(pytest.param(name, marks=pytest.mark.slow) for name in slow)]


def as_text(page):
    """What a page of results shows as printed."""
    return [block.split("\n```")[0] for block in (RESULTS / page).read_text(encoding="utf-8").split("```text\n")[1:]]


def same_picture(stored, drawn):
    """Words exactly, coordinates within a third of a pixel."""
    assert _WORDS.findall(stored) == _WORDS.findall(drawn), (
        "run: python docs/pictures.py, or the script of this picture"
    )
    same_but_for_rounding(_WORDS.sub("", stored), _WORDS.sub("", drawn), atol=_PIXELS)


def test_pictures_may_differ_in_the_last_digits_of_places_alone():
    svg = (DOCS / "_static" / "report.svg").read_text(encoding="utf-8")
    near, far = (re.sub(r' x="([\d.]+)', lambda at, by=by: f' x="{float(at[1]) + by:.2f}', svg) for by in (0.2, 1))
    same_picture(svg, near)
    for other in (far, svg.replace("2.2 % each", "2.3 % each"), svg.replace("0.81 %", "0.82 %", 1)):
        assert other != svg
        with pytest.raises(AssertionError):
            same_picture(svg, other)


DRAWN = runpy.run_path(str(DOCS / "pictures.py"))["PICTURES"]
SLOW = {"advisor_mean", "audits", "estimate_ages", "estimate_clamped", "estimate_region_shares"}


def test_ids_are_numbers_in_order_and_differ_between_pictures_of_one_page():
    # matplotlib's are hashes of coordinates: a last bit would change them, and equal ones would cut another picture.
    marks = set()
    for name in DRAWN:
        svg = (DOCS / "_static" / f"{name}.svg").read_text(encoding="utf-8")
        ids = re.findall(r' id="(p[0-9a-f]{8})-(\d+)"', svg)
        assert len(ids) == len(re.findall(r"\bid=", svg)) > 0
        assert [int(number) for _, number in ids] == [*range(len(ids))]
        assert {"-".join(each) for each in ids} == set(re.findall(r"#(p\w+-\d+)", svg))
        (mark,) = {mark for mark, _ in ids}
        marks.add(mark)
    assert len(marks) == len(DRAWN)


@pytest.mark.parametrize("name", scripts([name for name in DRAWN if name not in SLOW], slow=sorted(SLOW)))
def test_the_picture_of_a_page_is_up_to_date(name):
    same_picture((DOCS / "_static" / f"{name}.svg").read_text(encoding="utf-8"), as_svg(DRAWN[name]) + "\n")


PICTURES = ["architecture_picture.py", "places_pictures.py"]


@pytest.mark.parametrize("script", scripts(PICTURES, slow=["unbiased_means.py"]))
def test_pictures_are_up_to_date(script):
    for name, drawn in runpy.run_path(str(DOCS / script))["pictures"]().items():
        same_picture((DOCS / "_static" / name).read_text(encoding="utf-8"), drawn + "\n")


def test_what_epsilon_means_in_odds_is_rounded_up():
    text = (DOCS / "which-epsilon.md").read_text(encoding="utf-8")
    rows = [re.findall(r"[\d.,]+", line) for line in text.splitlines() if re.match(r"\| [\d.]+ \| ", line)]
    assert [row[0] for row in rows] == ["0.5", "1", "2", "4", "8"]
    for epsilon, odds, tenth, half in rows:
        e = math.exp(float(epsilon))
        for written, exact in ((odds, e), (tenth, 100 * e / (9 + e)), (half, 100 * e / (1 + e))):
            last = 10.0 ** -len(written.partition(".")[2])
            assert 0 <= float(written.replace(",", "")) - exact < last, (epsilon, written)


@pytest.mark.parametrize(
    "page",
    [DOCS.parent / "README.md", *sorted(DOCS.glob("*.md")), *sorted((DOCS / "notebooks").glob("*.ipynb"))],
    ids=lambda path: path.name,
)
def test_a_page_that_shows_a_large_epsilon_links_to_what_it_hides(page):
    shown = (
        r"(?:ε|epsilon)[\"'`]*\s*[=≤]\s*[\"']?(\d+(?:\.\d+)?)(?!\d*⁻)",
        r"ε (?:= |from )[\d.]+(?: to |–)(\d+(?:\.\d+)?)",
        r"--epsilon[ =](?:[\d.]+\.\.)?(\d+(?:\.\d+)?)",
    )
    large = [found for pattern in shown for found in named_in(page, pattern) if float(found) > 4]
    assert not large or page.name == "which-epsilon.md" or "which-epsilon.md" in page.read_text(encoding="utf-8"), large


# Of "optimal_release_example", which raises unless each optimum is attained by a release and proved by a certificate,
# in fractions.
PRINTED = {
    "errata.md": ("errata_evidence.py", "evidence"),
    "interval_points.md": ("interval_points.py", "table"),
    "best_release.md": ("optimal_release_example.py", "evidence"),
}


@pytest.mark.parametrize("page", scripts(["interval_points.md"], slow=["errata.md", "best_release.md"]))
def test_what_a_page_shows_is_what_its_script_prints(page):
    script, function = PRINTED[page]
    printed = runpy.run_path(str(DOCS / script))[function]()
    assert as_text(page)[0].splitlines()[: len(printed)] == printed


@pytest.mark.slow
def test_the_table_of_unbiased_reports_is_what_the_script_prints():
    table = runpy.run_path(str(DOCS / "unbiased_means.py"))["table"]()
    same_but_for_rounding(as_text("unbiased_means.md")[0], "\n".join(table), atol=0.0011)


@pytest.mark.slow
def test_the_comparison_of_mechanisms_is_what_the_script_prints():
    compared = runpy.run_path(str(DOCS / "mechanisms_compared.py"))
    # One decimal is printed: it may be the next one.
    same_but_for_rounding("\n\n".join(as_text("mechanisms.md")), "\n".join(compared["evidence"]()), atol=0.101)
    for name, drawn in compared["pictures"]().items():
        same_picture((DOCS / "_static" / name).read_text(encoding="utf-8"), drawn + "\n")


@pytest.mark.slow
@pytest.mark.data
def test_the_errata_about_data_sets_are_what_the_data_say():
    evidence = runpy.run_path(str(DOCS / "errata_evidence.py"))["data_evidence"](Path(os.environ["BIPARTITE_DATA"]))
    assert as_text("errata.md")[0].splitlines()[-len(evidence) :] == evidence


SMALL = ["bench/results/places.md", "bench/results/paper_boosting.md"]


@pytest.mark.parametrize("page", scripts(SMALL, slow=[page for page in result_tables.TABLES if page not in SMALL]))
def test_tables_of_the_full_run_are_those_of_its_results(page):
    text = (DOCS.parent / page).read_text(encoding="utf-8")
    assert result_tables.filled(text, result_tables.TABLES[page]) == text, "run: python -m tools.result_tables"


@pytest.mark.slow
def test_figures_of_the_full_run_are_those_of_its_results():
    for path, drawn in result_tables.figures().items():
        same_picture(path.read_text(encoding="utf-8"), drawn)


def test_every_picture_stands_on_a_page():
    told = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert [path.name for path in DOCS.glob("_static/*.svg") if f"_static/{path.name}" not in told] == []


def test_a_changed_result_changes_its_page(tmp_path, monkeypatch):
    for table in ("gbdt.csv", "gbdt_readings.csv"):
        shutil.copy(result_numbers.RESULTS / table, tmp_path / table)
    lines = (tmp_path / "gbdt.csv").read_text(encoding="utf-8").splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("abalone,BRR,5.0,21,"))
    head, _, last = lines[at].rsplit(",", 2)
    lines[at] = f"{head},99.5,{last}"
    (tmp_path / "gbdt.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (name,) = [each for each, tables in result_tables.TABLES.items() if result_tables.gbdt_errors in tables]
    page = (DOCS.parent / name).read_text(encoding="utf-8")
    result_numbers.rows.cache_clear()
    monkeypatch.setattr(result_numbers, "RESULTS", tmp_path)
    try:
        assert result_tables.filled(page, result_tables.TABLES[name]) != page
    finally:
        result_numbers.rows.cache_clear()


@pytest.mark.parametrize("text", ["Nothing.\n", "| a | b |\n|---|---|\n| 1 | 2 |\n"], ids=["no table", "no end"])
def test_a_page_without_its_table_is_an_error(text):
    with pytest.raises(ValueError, match=r"begins with these lines.*\n\| a \| b \|"):
        result_tables.filled(text, [lambda: ["| a | b |", "|---|---|", "| 1 | 2 |"]])


def named_in(page, pattern):
    return sorted(set(re.findall(pattern, page.read_text(encoding="utf-8"), re.MULTILINE)))


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_the_files_that_a_page_names_are_there(page):
    paths = named_in(page, rf"(?<![\w/.])((?:{_FOLDERS})/[\w./-]*\w)")
    roots = (DOCS.parent, DOCS.parent / "src")
    assert [path for path in paths if not any((root / path).exists() for root in roots)] == []


@pytest.mark.parametrize(
    "page", [DOCS.parent / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "client/README.md")]
)
def test_links_of_pages_that_sphinx_does_not_check_lead_somewhere(page):
    for path, _, section in (link.partition("#") for link in named_in(page, r"\]\((?!http)([^)\s]+)\)")):
        target = page.parent / path if path else page
        assert target.exists(), path
        titles = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.MULTILINE) if section else []
        slugs = [re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles]
        assert not section or section in slugs, section


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_the_names_and_commands_that_a_page_names_are_there(page):
    for name in named_in(page, r"\b((?:bp|bipartite|reproduction)(?:\.\w+)+)"):
        if not name.endswith((".md", ".json", ".html")) and name != STYLE:
            pkgutil.resolve_name(name.replace("bp.", "bipartite.", 1))
    assert set(named_in(page, r"(?:^\$ |`)bipartite ([a-z][a-z-]*)")) <= {*BIPARTITE.commands}
    assert set(named_in(page, r"python -m reproduction ([a-z]+)")) <= {*LABORATORY.commands}


@pytest.mark.parametrize(
    ("words", "page"), [("JavaScript", "browsers.md"), ("CSV", "tables.md"), ("error bars", "estimates.md")]
)
def test_the_search_of_the_docs_finds_words_that_people_look_for(words, page):
    # It finds pages that have every word.
    assert words in (DOCS / page).read_text(encoding="utf-8")


def test_every_example_in_a_docstring_is_run():
    # A pattern once stopped at the first folder, and examples in deeper ones went stale unseen.
    root = DOCS.parent
    config = runpy.run_path(str(root / "conftest.py"))
    collected = config["DOCSTRINGS"]
    written = [
        path.relative_to(root)
        for folder in ("src", "reproduction")
        for path in root.glob(f"{folder}/**/*.py")
        if "tests" not in path.parts and re.search(r"^\s*>>> ", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert len(written) > 50
    assert [path for path in written if not any(path.match(pattern) for pattern in collected)] == []
