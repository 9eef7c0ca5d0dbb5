"""Specs of version 5: lotteries over anchors and means come back, golden files load forever, forged ones do not."""

import copy
import hashlib
import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest
import rfc8785

import bipartite
from bipartite import AnchoredMeans, Minimax, fixed_words, from_spec, verify
from bipartite.errors import BrokenPromiseError, SpecError
from bipartite.mechanisms.spec import canonical_json, load_spec, spec_sha256

TESTS = Path(__file__).parents[2]
GOLDEN = {path.stem.rsplit("-", 1)[0]: path for path in (TESTS / "golden" / "v5").glob("*.json")}
GROUPS = json.loads((TESTS / "vectors" / "chosen.json").read_text(encoding="utf-8"))
SCHEMA = json.loads((Path(bipartite.__file__).parent / "cli" / "schemas" / "spec.json").read_text(encoding="utf-8"))
NAMES = {
    "minimax": "2f7a5625af70d3f2699bbaee41acaf98d894b34a3d907a8090e02715319fe207",
    "minimax_places": "0d5eb4681552426677d99b95b3123f780f0fae525c0387d2943f3524d30841c4",
    "minimax_items": "299449fec6ac36a4f72a9c8e58bca7da5666cc98e69b822acb2daa28e8a5953d",
    "minimax_interval": "9078f4518c43e94544a61d92a74c222008731b8045ca3600847a1098b2fb9330",
    "means": "60a4ab9ae032154a4ab149c51df8597b8242922fc2257a832933356609ceadfc",
    "means_interval": "1b857f48094c34b0677c7cffdcb36ea22c67e950b21f5a9b9d7c97b829c9d866",
    "means_one": "18a4ca9a28c6a29b9c6a583a1958743e4b0062d082c5d2b52d408845404dbd1e",
}
# The last row of each matrix, to six digits.
LAST_ROWS = {
    "minimax": [
        0.027097, 0.020456, 0.015959, 0.013134, 0.013822, 0.013822, 0.013134, 0.015959, 0.322361, 0.544256,
    ],
    "minimax_places": [0.073164, 0.160732, 0.085329, 0.099019, 0.143208, 0.438547],
    "minimax_items": [0.482801, 0.132615, 0.353506, 0.031078],
    "minimax_interval": [1.0],
    "means": [0.268941, 0.731059],
    "means_interval": [0.119203, 0.880797],
    "means_one": [1.0],
}  # fmt: skip
KINDS = {"minimax": Minimax, "anchored-means": AnchoredMeans}


@pytest.mark.parametrize("name", NAMES)
def test_golden_specs_load_forever(name):
    text = GOLDEN[name].read_text(encoding="utf-8")
    spec = json.loads(text)
    mechanism = load_spec(text)
    assert hashlib.sha256(rfc8785.dumps(spec)).hexdigest() == NAMES[name] == spec_sha256(mechanism)
    assert mechanism.to_spec() == spec and type(mechanism) is KINDS[spec["mechanism"]]
    assert mechanism.matrix()[-1] == pytest.approx(LAST_ROWS[name], abs=1e-6)
    assert verify(mechanism).holds and verify(mechanism).spec_sha256 == NAMES[name]
    assert load_spec(canonical_json(spec)) == mechanism
    assert mechanism.gap is None
    jsonschema.validate(spec, SCHEMA)


def test_there_is_a_golden_spec_of_every_kind():
    assert set(GOLDEN) == set(NAMES) == set(LAST_ROWS)


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: f"{group['spec']['mechanism']}-{group['spec']['epsilon']}")
def test_the_published_vectors(group):
    """Words in, reports out, one at a time and in bulk; made by another programme than this package."""
    mechanism = from_spec(group["spec"])
    jsonschema.validate(group["spec"], SCHEMA)
    vectors = group["vectors"]
    for vector in vectors:
        rng = fixed_words(map(int, vector["words"]))
        assert mechanism.privatize(vector["value"], rng=rng) == vector["report"]
        assert repr(rng).startswith("<fixed words, 0 of")
    words = fixed_words(int(word) for vector in vectors for word in vector["words"])
    reports = mechanism.privatize(np.array([vector["value"] for vector in vectors]), rng=words)
    assert reports.tolist() == [vector["report"] for vector in vectors]
    assert any(len(vector["words"]) > 1 for vector in vectors)


def changed(name, *path, to):
    spec = json.loads(GOLDEN[name].read_text(encoding="utf-8"))
    inner = spec
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = to
    return spec


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (changed("minimax", "mechanism", to="anchored"), "Expected mechanism 'minimax', .*got 'anchored'"),
        (changed("minimax", "anchors", to=[1]), "Expected a spec without anchors"),
        (changed("minimax", "sets", to=[]), "Expected sets as a list of {'anchors': \\[…\\], 'tickets': {…}}"),
        (changed("minimax", "sets", to={}), "Expected sets as a list of"),
        (changed("minimax", "sets", 0, to=[1, 2]), "Expected sets as a list of"),
        (changed("minimax", "sets", 0, "weight", to=1), "Expected a set without weight"),
        (changed("minimax", "sets", 0, to={"anchors": [1]}), "Expected a set with tickets"),
        (changed("minimax", "sets", 0, "anchors", to=[5, 2]), "Expected anchors as ascending indices from 0 to 9"),
        (changed("minimax", "sets", 0, "anchors", to=[10]), "Expected anchors as ascending indices from 0 to 9"),
        (changed("minimax", "sets", 0, "tickets", to={"near": "3"}), "Expected tickets as {'near': '…', 'far': '…'}"),
        (changed("minimax", "sets", 0, "tickets", "far", to="0"), "Expected tickets as"),
        (changed("minimax", "domain", to={"integers": [1, 2**25]}), "Expected at most 2\\^24 values"),
        (changed("means", "bins", to=[1, 2]), "Expected bins starting at index 0, and a number for each as outputs"),
        (changed("means", "bins", to=[0, 2, 3]), "Expected bins starting at index 0, and a number for each as outputs"),
        (changed("means", "bins", to=[0, 9]), "Expected bins as ascending indices from 0 to 4"),
        (changed("means", "outputs", to="23"), "Expected bins starting at index 0, and a number for each as outputs"),
        (changed("means", "outputs", 0, to=True), "a number for each as outputs"),
        (changed("means", "outputs", 0, to=4.5), "Expected outputs as ascending numbers within 1..5"),
        (changed("means", "outputs", 1, to=5.5), "Expected outputs as ascending numbers within 1..5"),
        (changed("means", "outputs", 0, to=float("nan")), "Expected outputs as ascending numbers within 1..5"),
        (changed("means", "outputs", 1, to=10**400), "Expected outputs as ascending numbers within 1..5"),
        (changed("means", "tickets", to={}), "Expected tickets as"),
        (changed("means", "domain", to={"items": {"ranks": [[0, 1], [1, 0]]}}), "Expected "),
        (changed("means", "domain", to={"integers": [1, 5000]}), "Expected at most 4096 values for means, got 5000"),
    ],
)
def test_what_is_not_understood_is_refused(spec, message):
    with pytest.raises(SpecError, match=message) as refusal:
        from_spec(spec)
    assert not isinstance(refusal.value, BrokenPromiseError)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (changed("minimax", "epsilon", to="2.99"), "The tickets of a set exceed e\\^ε for ε=2.99; do not report"),
        (changed("minimax", "sets", 0, "tickets", to={"near": "1", "far": "2"}), "Expected near ≥ far ≥ 1 in each set"),
        (changed("minimax", "sets", 0, "tickets", "near", to=str(2**52)), "at most 2\\^52 tickets in all"),
        (changed("minimax", "sets", 0, "tickets", "far", to="1"), "The tickets of a set exceed e\\^ε"),
        (changed("means", "epsilon", to="0.9"), "exceed e\\^ε for ε=0.9; do not report"),
        (changed("means_one", "tickets", "near", to="3"), "Expected near=2, far=1 for a single anchor"),
    ],
)
def test_what_breaks_its_promise_is_refused(spec, message):
    with pytest.raises(BrokenPromiseError, match=message):
        from_spec(spec)


def test_a_set_that_wastes_tickets_still_keeps_epsilon():
    """The promise is about ratios: tickets below the most that ε allows are honest."""
    spec = copy.deepcopy(changed("minimax", "sets", 0, "tickets", "near", to="1000"))
    spec["sets"][0]["tickets"]["far"] = "999"
    assert verify(from_spec(spec)).holds
