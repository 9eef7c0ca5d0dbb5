"""Specs of flat categories: version 3."""

import json
from pathlib import Path

import jsonschema
import pytest

import bipartite
from bipartite import OLH, OUE, RAPPOR, SUE, HadamardResponse, Integers, Items, SubsetSelection, from_spec, verify
from bipartite.errors import BrokenPromiseError, SpecError
from bipartite.mechanisms.spec import load_spec

AGES = Integers(18, 90)
ALL = [
    OUE(AGES, 1),
    SUE(AGES, "0.5"),
    OLH(AGES, 2),
    OLH(AGES, 2, buckets=5),
    SubsetSelection(AGES, 1),
    SubsetSelection(AGES, 1, k=7),
    HadamardResponse(AGES, 3),
    RAPPOR(AGES, epsilon_permanent=2, p="0.5", q="0.75"),
    RAPPOR(AGES, f="0.5", p="0.5", q="0.75"),
    OUE(Items(["a", "b", "c"], loss=[[0, 1, 1], [1, 0, 1], [1, 1, 0]]), 1),
]


@pytest.mark.parametrize("mechanism", ALL, ids=repr)
def test_a_spec_of_categories_survives_json(mechanism):
    again = load_spec(json.dumps(mechanism.to_spec()))
    assert type(again) is type(mechanism)
    assert again.to_spec() == mechanism.to_spec()
    assert verify(again) == verify(mechanism)


@pytest.mark.parametrize("mechanism", ALL, ids=repr)
def test_numbers_that_do_not_follow_from_epsilon_are_refused(mechanism):
    spec = mechanism.to_spec()
    for field in ("chances", "tickets", "instantaneous"):
        if field in spec:
            key, count = next(iter(spec[field].items()))
            with pytest.raises((BrokenPromiseError, SpecError)):
                from_spec(spec | {field: spec[field] | {key: str(int(count) - 1)}} | {"epsilon": "0.25"})
    if "tickets" in spec:
        broken = spec["tickets"] | {"near": str(2 * int(spec["tickets"]["near"]))}
        with pytest.raises(BrokenPromiseError, match="Expected the numbers that follow from ε=.*; do not report"):
            from_spec(spec | {"tickets": broken})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mechanism": "ouch"}, "Expected mechanism 'oue', .* got 'ouch'"),
        ({"extra": 1}, "Expected a spec without extra"),
        ({"epsilon": 1}, "Expected epsilon as a decimal string"),
        ({"domain": {}}, "Expected domain as"),
        ({"buckets": "5"}, "Expected buckets as a whole number, got '5'"),
        ({"buckets": 1}, "buckets"),
    ],
)
def test_what_is_not_understood_is_refused(change, message):
    with pytest.raises(SpecError, match=message):
        from_spec(OLH(AGES, 2).to_spec() | change)


def test_odd_chances_of_rappor_are_refused():
    spec = RAPPOR(AGES, epsilon_permanent=2, p="0.5", q="0.75").to_spec()
    for odd in ({"one": "x", "zero": "1"}, [], {"one": "1"}):
        with pytest.raises(SpecError, match="Expected permanent and instantaneous as"):
            from_spec(spec | {"permanent": odd})


@pytest.mark.parametrize("mechanism", ALL, ids=repr)
def test_specs_conform_to_the_published_schema(mechanism):
    schema = Path(bipartite.__file__).parent / "cli" / "schemas" / "spec.json"
    jsonschema.validate(mechanism.to_spec(), json.loads(schema.read_text(encoding="utf-8")))
