"""The published vectors of tables of tickets: Custom, and Optimal without bias; for the scalar and the bulk draw."""

import json
from pathlib import Path

import pytest

from bipartite import fixed_words
from bipartite.mechanisms.spec import load_spec

TESTS = Path(__file__).parents[1]
GROUPS = json.loads((TESTS / "vectors" / "tables.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group["spec"])
def test_both_draws_give_the_published_reports(group):
    mechanism = load_spec((TESTS / "golden" / "v2" / group["spec"]).read_text(encoding="utf-8"))
    for vector in group["vectors"]:
        rng = fixed_words(map(int, vector["words"]))
        assert mechanism.privatize(vector["value"], rng=rng) == vector["report"]
        assert repr(rng).startswith("<fixed words, 0 of")
    words = fixed_words(int(word) for vector in group["vectors"] for word in vector["words"])
    reports = mechanism.privatize([vector["value"] for vector in group["vectors"]], rng=words)
    assert reports == [vector["report"] for vector in group["vectors"]]


def test_the_vectors_hold_values_numbers_and_words():
    reports = {type(vector["report"]) for group in GROUPS for vector in group["vectors"]}
    assert reports == {int, float, str}
