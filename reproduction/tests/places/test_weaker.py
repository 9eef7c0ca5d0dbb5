"""Specs that are not ε-LDP: read, drawn from and refused by the laboratory alone, as the library once did."""

import copy
import json

import pytest

import bipartite as bp
from bipartite.errors import BrokenPromiseError, InputError, SpecError
from reproduction.places import PlanarLaplace, WithinRegion, from_spec, region_weighted
from tests.locations.worlds import in_regions
from tests.mechanisms.contract import tickets_of
from tests.mechanisms.spec.test_golden import golden
from tests.mechanisms.test_vectors import FILES, WEAKER, as_json, given, read, words_of

GROUPS = [group for file in FILES for group in read(file) if json.loads(group[0])["mechanism"] in WEAKER]
WITHIN = golden("within_region")


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: json.loads(group[0])["mechanism"])
def test_they_give_the_published_reports_one_at_a_time_and_many_at_once(group):
    text, vectors, base = group
    release = from_spec(json.loads(text))
    assert release.to_spec() == json.loads(text) and release.holds()
    for vector in vectors:
        rng = words_of([vector], base)
        assert as_json(release.privatize(given(vector), rng=rng)) == vector["report"]
        assert repr(rng).startswith(f"<fixed words, 0 of {vector.get('used', len(vector['words']))}")
    rng = words_of(vectors, base)
    reports = release.privatize([given(vector) for vector in vectors], rng=rng)
    assert [as_json(report) for report in reports] == [vector["report"] for vector in vectors]


def test_there_are_reports_of_all():
    assert {json.loads(group[0])["mechanism"] for group in GROUPS} == WEAKER


def test_the_golden_spec_loads_and_says_what_it_publishes():
    release = from_spec(WITHIN)
    assert release.to_spec() == WITHIN and release.holds()
    assert release.ldp_epsilon.is_infinite() and "this is not ε-LDP" in release.guarantee
    rows = (release.matrix() * int(WITHIN["total"])).round().astype(int).tolist()
    labels = release.domain.labels
    assert [{y: t for y, t in zip(labels, row, strict=True) if t} for row in rows] == tickets_of(release)


def test_a_design_of_today_gives_the_golden_specs():
    """On the integer vectors of the published spec: sines behind new ones may differ in their last bit elsewhere."""
    known = from_spec(WITHIN)
    regions = in_regions(known.domain, [known.regions.names[label] for label in known.regions.labels])
    assert WithinRegion(regions, 1, publishes="region").to_spec() == WITHIN
    assert region_weighted(regions, 1).to_spec() == golden("region_weighted")


def changed(*path, to):
    spec = copy.deepcopy(WITHIN)
    inner = spec
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = to
    return spec


def without(name):
    return {key: value for key, value in WITHIN.items() if key != name}


PLANE = {"points": {"metric": "euclidean", "vectors": [[k, 0] for k in range(7)], "bits": 0}}


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (without("publishes"), "Expected a spec with"),
        (without("m"), "Expected a spec with"),
        (WITHIN | {"size": 3}, "Expected a spec with"),
        (changed("publishes", to="nothing"), "Expected a spec with"),
        *((changed("bipartite", to=odd), "Expected a spec with") for odd in (2, 4.0, True)),
        *((changed("epsilon", to=odd), "Expected epsilon") for odd in ("1.0", "inf", 1)),
        (changed("domain", to={"integers": [1, 7]}), "Expected domain as points with metric 'haversine'"),
        (changed("domain", to=PLANE), "Expected domain as points with metric 'haversine'"),
        (changed("m", to=3), "Expected m as a list of whole numbers"),
        (changed("m", to=[1, 1, 1.0]), "Expected m as a list of whole numbers"),
        (changed("total", to=5), "at most 16 digits"),
        (changed("tickets", to=[]), "Expected tickets"),
        (changed("tickets", 0, "outside", to="5"), "Expected tickets as {'near': '…', 'far': '…'} for each region"),
        (changed("tickets", 0, "near", to="-5"), "at most 16 digits"),
        (changed("regions", to=[0, 0]), "Expected regions as {'labels'"),
        (changed("regions", "labels", 0, to=True), "Expected labels of regions as whole numbers from 0"),
        (changed("regions", "names", to=["a"]), "Expected the region of each of 7 places, from 0 to 0. A"),
        (changed("regions", "labels", 6, to=1), "Expected regions of at least two places"),
    ],
)
def test_what_is_not_understood_is_refused(spec, message):
    with pytest.raises(SpecError, match=message):
        from_spec(spec)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (changed("m", to=[1, 1, 3]), "Expected 1 ≤ m < the number of places for every region"),
        (changed("tickets", 0, "far", to=str(int(WITHIN["tickets"][0]["far"]) + 1)), "Expected rows of one total"),
        (changed("total", to=str(2**52 + 1)), "with one total of at most 2\\^52"),
        (changed("epsilon", to="0.9"), "The tickets exceed e\\^ε for ε=0.9; do not report with this spec"),
    ],
)
def test_a_broken_promise_is_refused(spec, message):
    with pytest.raises(BrokenPromiseError, match=message):
        from_spec(spec)


def test_no_certificate_record_or_plan_takes_what_is_not_ldp():
    planar = PlanarLaplace(bp.Points([[0, 0], [0, 1], [1, 0], [1, 1], [2, 2]]), 1)
    for release in (from_spec(WITHIN), planar):
        for take in (bp.verify, lambda it: bp.Record({"home": it}), lambda it: bp.Plan({"home": it})):
            with pytest.raises(InputError, match=f"got {type(release).__name__}"):
                take(release)
