"""Numbers in README and docs equal those in the committed tables of the full run."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TOOL = runpy.run_path(str(ROOT / "tools" / "results.py"))


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "losses.csv").write_text(
        'mechanism,epsilon,km,empty\nBRR,1.0,1683.4,\nBRR,2.0,1311.2,\nGRR,1.0,2063.0,\n"BRR, best m",2.0,1243.1,\n',
        encoding="utf-8",
    )
    return tmp_path


@pytest.mark.parametrize("page", TOOL["pages"](), ids=lambda path: path.name)
def test_numbers_of_a_page_are_those_of_the_run(page):
    for each in TOOL["marked"](page.read_text(encoding="utf-8"), page.name):
        assert each.agrees, f"{each.place}: written {each.shown}, measured {each.expected}"


def test_pages_have_marked_numbers_once_results_are_committed():
    marks = [each for page in TOOL["pages"]() for each in TOOL["marked"](page.read_text(encoding="utf-8"), page.name)]
    tables = list(TOOL["RESULTS"].glob("*.csv"))
    assert bool(marks) == bool(tables)


@pytest.mark.parametrize(
    ("text", "agrees"),
    [
        ("1,683<!-- results: losses; km where mechanism=BRR, epsilon=1; d -->", True),
        ("1,684<!-- results: losses; km where mechanism=BRR, epsilon=1; d -->", False),
        ("1311.2 km<!-- results: losses; km where mechanism=BRR, epsilon=2; .1f -->", True),
        ("1497.3<!-- results: losses; mean(km) where mechanism=BRR; .1f -->", True),
        ("2<!-- results: losses; count(km) where mechanism=BRR; d -->", True),
        ("124.3 %<!-- results: losses; min(km); 0.1; .1f -->", True),
        ("−124.3 %<!-- results: losses; min(km); -0.1; .1f -->", True),
        ("1,243<!-- results: losses; km where mechanism=BRR, best m, epsilon=2; d -->", True),
        ("1,244<!-- results: losses; km where mechanism=BRR, best m, epsilon=2; d -->", False),
        ("0<!-- results: losses; count(km) where mechanism=GRR, epsilon=2; d -->", True),
        ("2,063 10<!-- results: losses; km where mechanism=GRR; d -->", False),  # the number beside it is 10
        ("124,310 %<!-- results: losses; min(km); 100; d -->", True),
        ("124,310<!-- results: losses; min(km); 100; d --> points", True),
    ],
)
def test_a_mark_is_read_and_compared(folder, text, agrees):
    (found,) = TOOL["marked"](f"It is {text}, they say.", "page", folder)
    assert found.agrees is agrees, found


@pytest.mark.parametrize(
    "text",
    [
        "2.063e3<!-- results: losses; km where mechanism=GRR; d -->",
        "2,063<!-- result: losses; km where mechanism=GRR; d -->",
        "2,063<!-- Results; losses; km where mechanism=GRR; d -->",
    ],
)
def test_a_mark_that_would_check_nothing_or_another_number_is_an_error(folder, text):
    with pytest.raises(ValueError, match="stands behind no number"):
        TOOL["marked"](text, "page", folder)


def test_every_page_is_looked_at():
    pages = {path.relative_to(ROOT).as_posix() for path in TOOL["pages"]()}
    assert {"README.md", "CHANGELOG.md", "docs/errata.md"} <= pages
    assert {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs" / "notebooks").glob("*.ipynb")} <= pages


def test_a_share_of_hundred_has_its_unit(folder):
    with pytest.raises(ValueError, match="write % or points beside the number"):
        TOOL["marked"]("124,310<!-- results: losses; min(km); 100; d --> km", "page", folder)


def test_marks_that_cannot_be_right_are_errors(folder):
    with pytest.raises(ValueError, match="Expected mechanism of losses to be 'BBR' in some row, got none"):
        TOOL["marked"]("0<!-- results: losses; count(km) where mechanism=BBR; d -->", "page", folder)
    with pytest.raises(ValueError, match="Expected columns of losses, got 'eps'; it has mechanism, epsilon, km, empty"):
        TOOL["marked"]("0<!-- results: losses; count(km) where eps=1; d -->", "page", folder)
    with pytest.raises(ValueError, match="stands behind no number"):
        TOOL["marked"]("many<!-- results: losses; km; d -->", "page", folder)
    with pytest.raises(ValueError, match="Expected one row of losses"):
        TOOL["marked"]("1<!-- results: losses; km where mechanism=BRR; d -->", "page", folder)
    with pytest.raises(ValueError, match="Expected a column"):
        TOOL["expected"]("losses; median[km]; d", folder)
    with pytest.raises(FileNotFoundError):
        TOOL["expected"]("none; km; d", folder)
