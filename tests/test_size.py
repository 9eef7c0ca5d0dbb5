"""The counter of lines counts right, and the page shows what it counts."""

import doctest
from pathlib import Path

import pytest

import size

ROOT = Path(__file__).parents[1]


def rows_of(table):
    """Numbers by part and column."""
    head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    return {
        (row[0], name): int(cell.replace(",", "") or 0)
        for row in rows
        for name, cell in zip(head, row, strict=True)
        if name != "part"
    }


def test_its_examples_are_true():
    assert doctest.testmod(size).failed == 0
    assert doctest.testmod(size).attempted >= 4


def test_a_hash_in_a_text_is_code_and_a_docstring_of_an_attribute_is_documentation():
    source = 'TEXT = """\n# a heading\n"""\nx: int\n"""What\n\nx is."""\n'
    assert size.of_python(source) == size.Size(1, 7, code=4, docs=3)


def test_a_comment_over_lines_of_a_script_counts_its_lines():
    source = "/*\n * Why.\n */\n/** What\n * it is. */\nexport const x = y instanceof Z; /* here */\n\n"
    assert size.of_script(source) == size.Size(1, 7, code=1, docs=2, comments=3, isinstance=1)


@pytest.mark.slow
def test_rooms_add_up_and_the_page_shows_what_is_counted_within_a_tenth():
    counted = rows_of(size.table(size.sizes(ROOT)))
    rooms = [part for part, column in counted if column == "files" and (ROOT / "src" / "bipartite" / part).is_dir()]
    for column in ("files", "lines", "`isinstance`", "flags"):
        beside = counted["beside the rooms", column]
        assert counted["**the library**", column] == beside + sum(counted[room, column] for room in rooms)
    shown = rows_of(size.on_page(size.PAGE.read_text(encoding="utf-8")))
    assert shown.keys() == counted.keys(), "run make size"
    wrong = {each: number for each, number in counted.items() if abs(shown[each] - number) > max(10, number / 10)}
    assert wrong == {}, "run make size"
