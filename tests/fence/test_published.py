"""What is published never changes. The list grows, and no line of it is edited: see published.py."""

from tests.fence.published import (
    LIST,
    lines,
    lost_lines,
    older_lists,
    published,
    with_new_lines,
    wrong_files,
    wrong_seals,
)

TEXT = LIST.read_text(encoding="utf-8")
LISTED = {path: expected for expected, path in lines(TEXT)}
NEVER = "{} is published and never changes; put a new version beside it and add its line."
CLEARER = (
    "docs/draw.md has changed. If no report changes, run `python -m tests.fence.keep`, which adds its line; "
    "else it is a new version, beside this one."
)


def test_every_published_file_is_as_it_was_and_every_file_is_listed():
    assert wrong_files(TEXT, published()) == []


def test_no_line_of_the_list_was_edited_moved_or_removed():
    assert wrong_seals(TEXT) == []
    assert lost_lines(TEXT, older_lists()) == []


def test_the_list_holds_what_was_published_when_it_began():
    paths = [path for _, path in lines(TEXT)]
    assert sum(path.startswith("tests/golden/") for path in paths) >= 51
    assert sum(path.startswith("tests/vectors/") for path in paths) >= 9
    assert {"docs/draw.md", "bipartite-draw-1.zip"} <= set(paths)


def test_a_changed_file_a_lost_one_and_a_new_one_are_seen():
    changed, lost = "tests/golden/v1/ages-9e125d224edc.json", "tests/vectors/line.json"
    now = LISTED | {changed: "0" * 64, "tests/golden/v6/new.json": "1" * 64, "docs/draw.md": "2" * 64}
    del now[lost]
    assert set(wrong_files(TEXT, now)) == {
        NEVER.format(changed),
        CLEARER,
        f"{lost} is published and is gone; bring it back.",
        "tests/golden/v6/new.json is not on the list; run `python -m tests.fence.keep`.",
    }
    longer = with_new_lines(TEXT, now)
    assert longer.startswith(TEXT) and wrong_seals(longer) == []
    assert [path for _, path in lines(longer)[len(lines(TEXT)) :]] == ["docs/draw.md", "tests/golden/v6/new.json"]
    assert wrong_files(longer, now | {lost: LISTED[lost]}) == [NEVER.format(changed)]


def test_a_second_line_does_not_excuse_a_changed_file():
    path = "tests/golden/v1/ages-9e125d224edc.json"
    text = f"{TEXT}{'0' * 64}  {path}\n"
    assert wrong_files(text, LISTED | {path: "0" * 64}) == [
        f"{path} stands on the list twice; a published file has one line, for ever."
    ]


def test_an_edited_line_breaks_its_seal_and_a_lost_one_is_found_in_an_older_list():
    first = next(line for line in TEXT.splitlines() if "tests/golden/v1/ages" in line)
    for edited in (TEXT.replace(first, "0" * 64 + first[64:]), TEXT.replace(first + "\n", "")):
        (wrong,) = wrong_seals(edited)
        assert "a line above it was edited; take it back, only add lines" in wrong
        (lost,) = lost_lines(edited, {"a" * 40: TEXT})
        assert lost.startswith("the line of tests/golden/v1/ages-9e125d224edc.json in commit aaaaaaaaaaaa is gone")
    assert wrong_seals(TEXT + first + "\n") == ["the last block has no seal; run `python -m tests.fence.keep`."]
