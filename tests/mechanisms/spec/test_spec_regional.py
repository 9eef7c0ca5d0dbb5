"""Specs of version 4: places in regions come back, golden files load forever, and forged ones are refused."""

import copy
import hashlib
import json
from pathlib import Path

import jsonschema
import pytest
import rfc8785

import bipartite
from bipartite import Points, from_spec, verify
from bipartite.errors import BrokenPromiseError, SpecError
from bipartite.locations import Regions, RegionWeighted, TwoLevel, WithinRegion
from bipartite.mechanisms.spec import canonical_json, load_spec, spec_sha256

GOLDEN = {path.stem.rsplit("-", 1)[0]: path for path in (Path(__file__).parents[2] / "golden" / "v4").glob("*.json")}
SCHEMA = json.loads((Path(bipartite.__file__).parent / "cli" / "schemas" / "spec.json").read_text(encoding="utf-8"))
NAMES = {
    "two_level": "2d19db133e8334959a63d4a8ba6dfcd3e51a712522a4df5525b5d8296987842b",
    "two_level_best": "e302af51eaa0e5f41485e1ab1271bd11b4bd41e2115019d528c0aa7fcb966a33",
    "within_region": "f298f84ef661561424da5d84eaf329b781daa15963e6a5beebc265450a8c0b90",
    "region_weighted": "b9a83506aec61e678865b69359819abcf542b72659de056be5aed639b9f47f47",
}
# The last row of each matrix, to six digits.
LAST_ROWS = {
    "two_level": [0.137034, 0.137034, 0.091356, 0.091356, 0.091356, 0.144967, 0.306896],
    "two_level_best": [0.053253, 0.053253, 0.035502, 0.035502, 0.035502, 0.393493, 0.393493],
    "within_region": [0.0, 0.0, 0.0, 0.0, 0.0, 0.268941, 0.731059],
    "region_weighted": [0.102431, 0.102431, 0.102431, 0.102431, 0.102431, 0.243923, 0.243923],
}
KINDS = {"two-level": TwoLevel, "within-region": WithinRegion, "region-weighted": RegionWeighted}


@pytest.mark.parametrize("name", NAMES)
def test_golden_specs_load_forever(name):
    text = GOLDEN[name].read_text(encoding="utf-8")
    spec = json.loads(text)
    mechanism = load_spec(text)
    assert hashlib.sha256(rfc8785.dumps(spec)).hexdigest() == NAMES[name] == spec_sha256(mechanism)
    assert mechanism.to_spec() == spec and type(mechanism) is KINDS[spec["mechanism"]]
    assert mechanism.matrix()[-1] == pytest.approx(LAST_ROWS[name], abs=1e-6)
    assert verify(mechanism).holds and verify(mechanism).spec_sha256 == NAMES[name]
    assert verify(mechanism).publishes == ("region" if name == "within_region" else None)
    assert load_spec(canonical_json(spec)) == mechanism
    assert mechanism.regions.names == ("AU", "DE", "FR")
    jsonschema.validate(spec, SCHEMA)


def test_there_is_a_golden_spec_of_every_kind():
    assert set(GOLDEN) == set(NAMES) == set(LAST_ROWS)


def test_what_is_published_cannot_be_left_out_or_added():
    within = json.loads(GOLDEN["within_region"].read_text(encoding="utf-8"))
    del within["publishes"]
    other = json.loads(GOLDEN["two_level"].read_text(encoding="utf-8")) | {"publishes": "region"}
    for forged in (within, other):
        with pytest.raises(SpecError, match="Expected a spec with"):
            from_spec(forged)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(forged, SCHEMA)


def changed(name, *path, to):
    spec = json.loads(GOLDEN[name].read_text(encoding="utf-8"))
    inner = spec
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = to
    return spec


def more(name, *path, by=1):
    spec = json.loads(GOLDEN[name].read_text(encoding="utf-8"))
    inner = copy.deepcopy(spec)
    for key in path:
        inner = inner[key]
    return changed(name, *path, to=str(int(inner) + by))


TALL = [{"near": "9999999999999999", "far": "9999999999999999", "outside": "9999999999999999"}] * 3
WIDE = [{"own": "9999999999999999", "other": "9999999999999999"}] * 3
PLANE = Points([[0, 0], [1, 1], [2, 2], [3, 3]]).to_spec()


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (changed("two_level", "mechanism", to="brr"), "Expected mechanism 'two-level', .*, got 'brr'; update"),
        (changed("two_level", "mechanism", to=None), "Expected mechanism 'two-level', .*, got None"),
        (changed("two_level", "size", to=3), "Expected a spec without size"),
        (changed("two_level", "epsilon", to="1.0"), "Expected epsilon in its canonical form"),
        (changed("two_level", "domain", to={"integers": [1, 7]}), "Expected domain as points with metric 'haversine'"),
        (changed("two_level", "domain", to=PLANE), "Expected domain as points with metric 'haversine'"),
        (changed("within_region", "publishes", to="nothing"), "Expected publishes 'region', got 'nothing'"),
        (changed("two_level", "m", to=3), "Expected m as a list of whole numbers, one per region"),
        (changed("two_level", "m", to=[1, 1, 1.0]), "Expected m as a list of whole numbers"),
        (changed("two_level", "total", to=5), "Expected total as a whole number of at most 16 digits"),
        (changed("two_level", "tickets", to=[]), "Expected tickets as {'near': '…', 'far': '…', 'outside': '…'} for"),
        (changed("two_level", "tickets", 0, "near", to="-5"), "Expected tickets as"),
        (changed("within_region", "tickets", 0, "outside", to="5"), "Expected tickets as {'near': '…', 'far': '…'} fo"),
        (
            changed("two_level", "tickets", 0, "outside", to="0"),
            "Expected tickets as",
        ),
        (changed("two_level", "regions", to=[0, 0]), "Expected regions as {'labels'"),
        (changed("two_level", "regions", "labels", 0, to=7), "Expected labels of regions as whole numbers from 0"),
        (changed("two_level", "regions", "labels", 0, to=True), "Expected labels of regions as whole numbers from 0"),
        (changed("two_level", "regions", "names", to=["a"]), "Expected the region of each of 7 places, from 0 to 0. A"),
        (changed("two_level", "regions", "names", 0, to="DE"), "Expected regions of at least two places, each with"),
        (changed("two_level", "regions", "labels", 6, to=1), "Expected regions of at least two places"),
        (changed("two_level", "bipartite", to=99), "Expected a spec of version 1 to 5, got 99"),
    ],
)
def test_what_is_not_understood_is_refused(spec, message):
    with pytest.raises(SpecError, match=message) as refusal:
        from_spec(spec)
    assert not isinstance(refusal.value, BrokenPromiseError)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (changed("two_level", "epsilon", to="0.9"), "The tickets exceed e\\^ε for ε=0.9; do not report"),
        (changed("within_region", "epsilon", to="0.99"), "The tickets exceed e\\^ε for ε=0.99; do not report"),
        (changed("region_weighted", "epsilon", to="0.99"), "The tickets exceed e\\^ε for ε=0.99; do not report"),
        (changed("two_level", "m", to=[1, 1, 3]), "Expected 1 ≤ m < the number of places for every region"),
        (changed("two_level", "m", to=[1, 0, 1]), "Expected 1 ≤ m < the number of places"),
        (changed("two_level", "m", to=[1, 1]), "Expected 1 ≤ m < the number of places"),
        (more("two_level", "tickets", 0, "near"), "Expected rows of one total of at most 2\\^52"),
        (more("two_level", "tickets", 0, "outside"), "Expected rows of one total"),
        (more("two_level", "total", by=-1), "Expected rows of one total"),
        (changed("two_level", "total", to=str(2**52 + 1)), "with one total of at most 2\\^52"),
        (changed("two_level", "tickets", to=TALL), "Expected rows of one total"),
        (changed("two_level", "tickets", to=TALL[:2]), "Expected tickets of at least one for each region"),
        (more("within_region", "tickets", 0, "far"), "Expected rows of one total"),
        (more("region_weighted", "tickets", 0, "own"), "Expected rows of one total"),
        (changed("region_weighted", "tickets", to=WIDE), "Expected rows of one total"),
        (changed("region_weighted", "tickets", to=WIDE[:2]), "Expected tickets of two regions or more"),
    ],
)
def test_a_broken_promise_is_refused(spec, message):
    with pytest.raises(BrokenPromiseError, match=message):
        from_spec(spec)


def test_a_design_of_today_gives_the_golden_specs():
    for name in ("within_region", "region_weighted"):
        golden = from_spec(json.loads(GOLDEN[name].read_text(encoding="utf-8")))
        places, labels = golden.domain, [golden.regions.names[label] for label in golden.regions.labels]
        regions = Regions.of(places, labels)
        today = (
            RegionWeighted(regions, 1) if name == "region_weighted" else WithinRegion(regions, 1, publishes="region")
        )
        assert spec_sha256(today) == NAMES[name]
