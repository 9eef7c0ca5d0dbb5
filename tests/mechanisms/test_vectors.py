"""The published vectors: (spec, value, words) → report, for the scalar, the NumPy and the compiled draw."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from bipartite import fixed_words, from_spec
from bipartite.lottery import draw_many

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "line.json").read_text(encoding="utf-8"))


def by_spec():
    for spec, group in itertools.groupby(VECTORS, key=lambda vector: vector["spec"]):
        yield pytest.param(spec, list(group), id=f"{spec['domain']}-{spec['edges']}-m{spec['m']}")


@pytest.mark.parametrize(("spec", "vectors"), list(by_spec()))
def test_the_scalar_draw_gives_the_published_reports(spec, vectors):
    mechanism = from_spec(spec)
    for vector in vectors:
        rng = fixed_words(map(int, vector["words"]))
        assert mechanism.privatize(vector["value"], rng=rng) == vector["report"]
        assert repr(rng).startswith("<fixed words, 0 of")


@pytest.mark.parametrize(("spec", "vectors"), list(by_spec()))
def test_the_bulk_draws_give_the_published_reports(spec, vectors, kernel):
    mechanism = from_spec(spec)
    dtype = np.int64 if mechanism.domain.whole else np.float64
    values = np.array([vector["value"] for vector in vectors], dtype=dtype)
    words = fixed_words(int(word) for vector in vectors for word in vector["words"])
    codec = mechanism.domain.codec(values.dtype, mechanism.outputs, "error")
    reports = draw_many(mechanism.lottery, codec, values, words, kernel=kernel(mechanism.lottery))
    assert reports.tolist() == [vector["report"] for vector in vectors]
    assert repr(words).startswith("<fixed words, 0 of")


def test_the_vectors_hold_redraws_padded_edges_even_m_and_random_rounding():
    assert any(len(vector["words"]) > 1 and vector["spec"]["domain"].get("rounding") != "random" for vector in VECTORS)
    assert {vector["spec"]["edges"] for vector in VECTORS} == {"clamped", "padded"}
    assert any(vector["spec"]["m"] % 2 == 0 for vector in VECTORS)
    assert any(vector["spec"]["domain"].get("rounding") == "random" for vector in VECTORS)
