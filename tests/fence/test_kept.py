"""What the public functions gave when each case was kept, they still give."""

import json

import pytest

from tests.fence import keep
from tests.fence.comparing import differences, rounded
from tests.fence.surface import ASKED, answer


def kept():
    for file in keep.files():
        for case in keep.read(file):
            yield pytest.param(file.name, case, id=f"{file.stem}: {case['name']}")


@pytest.mark.parametrize(("file", "case"), list(kept()))
def test_as_it_was(file, case):
    wrong = differences(case["gives"], answer(case), case.get("within", 0))
    told = "\n  ".join(wrong[:20])
    assert not wrong, (
        f'{case["name"]}: not as it was kept:\n  {told}\nIf this is wanted, delete its "gives" in '
        f"tests/fence/kept/{file}, run `python -m tests.fence.keep`, and say why in the commit."
    )


def test_every_function_has_a_case_and_every_case_a_name_of_its_own():
    cases = [(file.stem, case) for file in keep.files() for case in keep.read(file)]
    assert {case["of"] for _, case in cases} == set(ASKED)
    assert len({(stem, case["name"]) for stem, case in cases}) == len(cases) >= 300


def test_numbers_may_differ_within_the_tolerance_and_nothing_else():
    kept = {"law": [0.5, 1e-15], "n": 3, "text": "a", "nan": "nan"}
    assert differences(kept, {"law": [0.5 + 1e-10, 0.0], "n": 3, "text": "a", "nan": "nan"}, 1e-9) == []
    assert differences(kept, kept | {"law": [0.5 + 1e-10, 1e-15]}, {"text": 1e-9}) == [
        "law[0]: kept 0.5, now 0.5000000001"
    ]
    assert differences(kept, kept | {"law": [0.5 + 1e-10, 1e-15]}, {"law": 1e-9}) == []
    assert differences(kept, kept | {"n": 4}, 1e-9) == ["n: kept 3, now 4"]
    assert differences(3, 3.0, 1e-9) == [": kept 3, now 3.0"]
    assert differences(True, 1, 1e-9) == [": kept True, now 1"]
    assert differences([1, 2], [1], 0) == [": kept 2 entries, now 1"]
    assert differences({"a": 1}, {"b": 1}, 0) == ["a: kept 1, now gone", "b: new, 1"]
    assert differences(0.25, "nan", 1e-9) == [": kept 0.25, now 'nan'"]


def test_kept_numbers_have_no_more_digits_than_are_compared():
    assert rounded({"law": [1 / 3], "n": 1 / 3}, {"law": 1e-9}) == {"law": [0.333333333333], "n": 1 / 3}


def test_the_tool_fills_in_new_cases_and_changes_none(tmp_path):
    old = {"name": "old", "of": "trials", "given": {"real": 2.2, "claimed": 2.0}, "gives": "another"}
    new = {"name": "new", "of": "trials", "given": {"real": 2.2, "claimed": 2.0}}
    file = tmp_path / "proofs.json"
    file.write_text(json.dumps([old, new]), encoding="utf-8")
    assert keep.fill(file) == 1
    assert keep.read(file) == [old, new | {"gives": 15090}]
    before = file.read_bytes()
    assert keep.fill(file) == 0 and file.read_bytes() == before
