"""The published vectors of every mechanism that travels, for the scalar and the bulk draw."""

import json
from pathlib import Path

import numpy as np
import pytest

from bipartite import fixed_words
from bipartite.mechanisms.base import Mechanism
from bipartite.mechanisms.catalogue import entries
from bipartite.mechanisms.categories.cells import to_cells
from bipartite.mechanisms.spec import load_spec, spec_json, spec_sha256

VECTORS = Path(__file__).parents[1] / "vectors"
GROUPS = [
    group
    for file in ("drawn.json", "corners.json")
    for group in json.loads((VECTORS / file).read_text(encoding="utf-8"))
]


def name(group):
    spec = json.loads(group["spec"])
    return f"{spec['mechanism']}-{next(iter(spec['domain']))}-{spec.get('epsilon')}-{group['sha256'][:6]}"


def words_of(vectors):
    return fixed_words(int(word, 16) for vector in vectors for word in vector["words"])


def given(vector):
    return tuple(vector["value"]) if isinstance(vector["value"], list) else vector["value"]


def as_json(report):
    """A report as a client writes it: rows of bits or numbers as the text of a cell."""
    if isinstance(report, np.ndarray):
        return to_cells(report[None])[0].decode()
    return list(report) if isinstance(report, tuple) else report


@pytest.mark.parametrize("group", GROUPS, ids=name)
def test_the_scalar_draw_gives_the_published_reports_and_takes_the_published_words(group):
    mechanism = load_spec(group["spec"])
    assert spec_json(mechanism) == group["spec"]
    assert spec_sha256(mechanism) == group["sha256"]
    for vector in group["vectors"]:
        rng = words_of([vector])
        assert as_json(mechanism.privatize(given(vector), rng=rng)) == vector["report"]
        assert repr(rng).startswith(f"<fixed words, 0 of {vector['used']}")


@pytest.mark.parametrize("group", GROUPS, ids=name)
def test_the_bulk_draw_gives_the_published_reports(group):
    mechanism = load_spec(group["spec"])
    if isinstance(mechanism, Mechanism):
        rng = words_of(group["vectors"])
        reports = mechanism.privatize([given(vector) for vector in group["vectors"]], rng=rng)
        assert [as_json(report) for report in reports] == [vector["report"] for vector in group["vectors"]]
        assert repr(rng).startswith("<fixed words, 0 of")
        return
    # Many people share the words of a slab (§16 is about one report), so that each is a call of its own.
    for vector in group["vectors"]:
        rng = words_of([vector])
        (report,) = to_cells(mechanism.privatize([given(vector)], rng=rng))
        assert (report.decode() if isinstance(report, bytes) else int(report)) == vector["report"]
        assert repr(rng).startswith("<fixed words, 0 of")


def test_a_kept_permanent_response_gives_the_published_report():
    answered = 0
    for group in GROUPS:
        for vector in group["vectors"]:
            if "permanent" in vector:
                mechanism = load_spec(group["spec"])
                rng = words_of([vector])
                kept = mechanism.permanent(given(vector), rng=rng)
                assert as_json(kept) == vector["permanent"]
                left = vector["used"] - vector["permanent-used"]
                assert repr(rng).startswith(f"<fixed words, {left} of")
                assert as_json(mechanism.instantaneous(kept, rng=rng)) == vector["report"]
                answered += 1
    assert answered >= 8


def test_every_mechanism_that_travels_has_vectors():
    found = set()
    for path in VECTORS.glob("*.json"):
        for group in json.loads(path.read_text(encoding="utf-8")):
            specs = group["specs"].values() if "specs" in group else [group["spec"]]
            for spec in specs:
                text = (VECTORS.parent / "golden/v2" / spec).read_text() if str(spec).endswith(".json") else spec
                found.add((json.loads(text) if isinstance(text, str) else text)["mechanism"])
    assert found == {entry.name for entry in entries() if entry.version is not None}


def test_the_vectors_hold_redraws_random_rounding_ties_and_many_tiles():
    drawn = [(json.loads(group["spec"]), vector) for group in GROUPS for vector in group["vectors"]]
    zero = "0" * 16
    assert {spec["mechanism"] for spec, vector in drawn if vector["words"][0] == zero} >= {"grr", "olh", "laplace"}
    assert sum(spec["domain"].get("rounding") == "random" for spec, _ in drawn) > 100
    coins = [vector["used"] for spec, vector in drawn if spec["mechanism"] == "oue"]
    # 158 words decide all but the ties of 2,048 coins; a tile has 32 times as many.
    assert min(coins) > 158
    assert max(coins) > 33 * 158
    rounds = [vector for spec, vector in drawn if spec["mechanism"] == "subset-selection" and zero in vector["words"]]
    assert len(rounds) > 10
