import copy
import hashlib
import json
import math
from pathlib import Path

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from bipartite import BRR, Cyclic, Integers, Interval, Items, Points, Product, from_spec, verify
from bipartite.errors import BrokenPromiseError, SpecError
from bipartite.mechanisms.spec import canonical_json, load_spec, spec_sha256
from tests.strategies import brr

GOLDEN = Path(__file__).parents[2] / "golden"
GENRES = Items(["jazz", "blues", "metal"], loss=[[0, 1, 5], [1, 0, 4], [5, 4, 0]])
GOOD = BRR(Integers(18, 90), epsilon=1).to_spec()
GOOD_INTERVAL = BRR(Interval(0, 200_000, points=401), epsilon="0.5", edges="padded").to_spec()


def changed(spec, *path, to):
    spec = copy.deepcopy(spec)
    inner = spec
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = to
    return spec


@given(brr())
def test_a_spec_describes_its_mechanism_and_survives_json(mechanism):
    spec = mechanism.to_spec()
    assert from_spec(spec) == mechanism
    assert load_spec(json.dumps(spec)) == mechanism
    assert load_spec(canonical_json(spec)) == mechanism
    assert spec_sha256(load_spec(canonical_json(spec))) == spec_sha256(mechanism)
    assert verify(mechanism).spec_sha256 == hashlib.sha256(rfc8785.dumps(spec)).hexdigest()


json_values = st.recursive(
    st.one_of(
        st.floats(allow_nan=False, allow_infinity=False),
        st.integers(-(2**53) + 1, 2**53 - 1),
        st.text(st.characters(codec="utf-8"), max_size=5),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text("abcXYZ01", max_size=3), inner, max_size=3)
    ),
)


@given(json_values)
def test_canonical_json_is_that_of_rfc_8785(value):
    assert canonical_json(value).encode() == rfc8785.dumps(value)


@pytest.mark.parametrize(
    "number", [1e21, 1e20, 123456789012345680000.0, 1e-6, 1e-7, 0.1, -0.0, 5e-324, 1.7976931348623157e308, 1e23]
)
def test_numbers_are_written_as_ecmascript_does(number):
    assert canonical_json(number).encode() == rfc8785.dumps(number)


@pytest.mark.parametrize("value", [None, b"x", math.nan, math.inf])
def test_what_json_has_not_is_refused(value):
    with pytest.raises(SpecError, match="Expected"):
        canonical_json(value)


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("v*/*.json")), ids=lambda path: path.stem)
def test_specs_of_every_version_load_forever(path):
    # The name of a golden file ends with the first digits of its SHA-256.
    text = path.read_text(encoding="utf-8")
    mechanism = load_spec(text)
    assert canonical_json(json.loads(text)) == canonical_json(mechanism.to_spec())
    assert spec_sha256(mechanism).startswith(path.stem.split("-")[-1])
    assert verify(mechanism).holds


def test_there_are_golden_specs_of_every_kind():
    specs = [json.loads(path.read_text(encoding="utf-8")) for path in GOLDEN.glob("v1/*.json")]
    kinds = {"integers", "interval", "cyclic", "points", "items", "product"}
    assert {next(iter(spec["domain"])) for spec in specs} == kinds
    assert {spec.get("draw") for spec in specs} == {None, "tries", "list"}
    assert {spec["edges"] for spec in specs} == {"clamped", "padded"}
    assert {spec["domain"].get("rounding") for spec in specs} == {None, "nearest", "random"}


def test_a_design_of_today_gives_the_golden_specs():
    # Tickets and m are part of the promise that machines agree: a change of either would show here.
    today = [
        BRR(Integers(18, 90), epsilon=1),
        BRR(Integers(1, 10**9), epsilon="0.25"),
        BRR(Integers(-5, 5), epsilon="0.5", m=4),
        BRR(Interval(0, 200_000, points=401), epsilon="0.5", edges="padded"),
        BRR(Interval(-1, 1, points=21, rounding="random"), epsilon=5),
        BRR(Interval(0.1, 0.7, points=7), epsilon="1.3862943611198906", m="best"),
        # The sines behind these vectors may differ in their last bit elsewhere; the spec is what counts.
        load_spec(next(GOLDEN.glob("v1/places-*.json")).read_text(encoding="utf-8")),
        BRR(Points([[0, 0], [3, 4], [6, 8], [1, 1]], labels=["a", "b", "c", "d"]), epsilon=1),
        BRR(Items.tanimoto(range(1, 31)), epsilon=8, m=1),
        BRR(Product(Integers(0, 9), Integers(0, 9)), epsilon=1),
        BRR(Product(Integers(18, 24), GENRES), epsilon="0.5"),
        BRR(Product(Integers(0, 2), GENRES, Interval(0, 1, points=3), weights=(1, 0.5, 2)), epsilon=6, m=1),
        BRR(Cyclic(24), epsilon=1),
        BRR(Cyclic(12, start=1), epsilon="0.5", m="histogram"),
        BRR(Cyclic(7, labels=["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]), epsilon=2, m=4),
    ]
    golden = {path.stem.split("-")[-1] for path in GOLDEN.glob("v1/*.json")}
    assert {spec_sha256(mechanism)[:12] for mechanism in today} == golden


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ([], "Expected a spec as a mapping, got list; parse the JSON first"),
        ("{}", "Expected a spec as a mapping, got str"),
        ({}, "Expected a spec with bipartite, domain, edges, epsilon, m, mechanism, tickets"),
        (changed(GOOD, "bipartite", to=99), "Expected a spec of version 1 to 5, got 99; update bipartite"),
        (changed(GOOD, "bipartite", to=True), "Expected a spec of version 1 to 5, got True"),
        (
            changed(GOOD, "bipartite", to=10**5000),
            "Expected a spec of version 1 to 5, got a whole number with thousands of digits",
        ),
        (changed(GOOD, "edges", to=["clamped"]), "Expected edges 'clamped' or 'padded'"),
        (changed(GOOD, "bipartite", to="1"), "Expected a spec of version 1 to 5, got '1'"),
        ({**GOOD, "salt": 1}, "Expected a spec without salt; update bipartite"),
        (changed(GOOD, "mechanism", to="grr"), "Expected mechanism 'brr', got 'grr'"),
        (changed(GOOD, "edges", to="soft"), "Expected edges 'clamped' or 'padded', got 'soft'"),
        (changed(GOOD, "epsilon", to=1), "Expected epsilon as a decimal string such as '1'"),
        (changed(GOOD, "epsilon", to="1.0"), "Expected epsilon in its canonical form '1', got '1.0'"),
        (changed(GOOD, "epsilon", to="x"), "Expected epsilon as a positive decimal"),
        (changed(GOOD, "epsilon", to="-1"), "Expected epsilon as a positive decimal"),
        (changed(GOOD, "m", to=27.0), "Expected m as a whole number from 1, got 27.0"),
        (changed(GOOD, "m", to=0), "Expected m as a whole number from 1, got 0"),
        (changed(GOOD, "m", to=True), "Expected m as a whole number from 1, got True"),
        (changed(GOOD, "tickets", to={"near": 3, "far": 1}), "Expected tickets as"),
        (changed(GOOD, "tickets", to={"near": "3"}), "Expected tickets as"),
        (changed(GOOD, "tickets", "near", to="12345678901234567"), "at most 16 digits"),
        (changed(GOOD, "tickets", "near", to="03"), "Expected tickets as"),
        (changed(GOOD, "tickets", "near", to="３"), "Expected tickets as"),
        (changed(GOOD, "tickets", "near", to="+3"), "Expected tickets as"),
        (changed(GOOD, "domain", to={"integers": [18]}), "Expected the ends of a domain as a list of two numbers"),
        (changed(GOOD, "domain", to={"integers": [18, 90.0]}), "Expected the ends of a domain"),
        (changed(GOOD, "domain", to={"integers": [90, 18]}), "Expected low < high"),
        (changed(GOOD, "domain", to={"integers": [0, 2**60]}), "Expected at most 2\\^31 values"),
        (changed(GOOD, "domain", to={"ages": [18, 90]}), "Expected domain as"),
        (changed(GOOD, "domain", to={"integers": [18, 90], "points": 3}), "Expected domain as"),
        (changed(GOOD, "domain", to=7), "Expected domain as"),
        (changed(GOOD_INTERVAL, "domain", "points", to=401.0), "Expected points as a whole number, got 401.0"),
        (changed(GOOD_INTERVAL, "domain", "rounding", to="up"), "Expected rounding='nearest' or 'random', got 'up'"),
        (
            changed(GOOD_INTERVAL, "domain", "rounding", to=["up"]),
            "Expected rounding='nearest' or 'random', got \\['up'\\]",
        ),
        (changed(GOOD_INTERVAL, "domain", "interval", to=[0, math.inf]), "Expected high as a finite number"),
    ],
)
def test_what_is_not_understood_is_refused(spec, message):
    with pytest.raises(SpecError, match=message):
        from_spec(spec)


GOOD_PLACES = BRR(Points([[0, 0], [10, 10], [20, 30]], metric="haversine", labels=["a", "b", "c"]), 1).to_spec()
GOOD_POINTS = BRR(Points([[0, 0], [10, 10], [20, 30]]), 1).to_spec()
GOOD_ITEMS = BRR(Items(None, loss=[[0, 1, 2], [1, 0, 1], [2, 1, 0]]), 1).to_spec()


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (changed(GOOD_PLACES, "draw", to="guess"), "Expected draw 'tries' or 'list', got 'guess'"),
        (changed(GOOD_PLACES, "edges", to="padded"), "Expected edges 'clamped' on a circle, points and items"),
        ({**GOOD, "draw": "tries"}, "Expected a spec without draw"),
        ({key: value for key, value in GOOD_PLACES.items() if key != "draw"}, "Expected a spec with draw"),
        (changed(GOOD_PLACES, "domain", "points", to=[]), "Expected points as {'metric'"),
        (changed(GOOD_PLACES, "domain", "points", "bits", to=3), "without bits"),
        (changed(GOOD_PLACES, "domain", "points", "vectors", to=[[1, 2, 3], [3, 4, 5], [5, 6, 7]]), "length 2\\^25"),
        (changed(GOOD_PLACES, "domain", "points", "vectors", to=[[1, 2], [3, 4], [5, 6]]), "length 2\\^25"),
        (
            changed(GOOD_PLACES, "domain", "points", "vectors", to=[[1, 2, 3], [3, 4]]),
            "rows of whole numbers of one length",
        ),
        (changed(GOOD_PLACES, "domain", "points", "vectors", to=[[1.0], [2]]), "rows of whole numbers"),
        (changed(GOOD_PLACES, "domain", "points", "vectors", to=[[True], [2]]), "rows of whole numbers"),
        (changed(GOOD_PLACES, "domain", "points", "vectors", to=[[2**53], [2]]), "rows of whole numbers"),
        (changed(GOOD_PLACES, "domain", "points", "vectors", to="many"), "rows of whole numbers"),
        (
            changed(GOOD_PLACES, "domain", "points", "metric", to="cosine"),
            "Expected metric 'euclidean', 'manhattan' or",
        ),
        (changed(GOOD_PLACES, "domain", "points", "labels", to="abc"), "Expected labels as a list"),
        (changed(GOOD_PLACES, "domain", "points", "labels", to=["a", "a", "b"]), "Expected distinct labels"),
        (changed(GOOD_POINTS, "domain", "points", "bits", to=1.5), "Expected bits as a whole number"),
        (changed(GOOD_POINTS, "domain", "points", "bits", to=-501), "Expected bits as a whole number"),
        (changed(GOOD_POINTS, "domain", "points", "bits", to=901), "Expected bits as a whole number"),
        (changed(GOOD_PLACES, "domain", "points", "labels", to=None), "Expected labels as a list"),
        (changed(GOOD_POINTS, "domain", "points", "vectors", to=[[0, 0], [2**52, 2**52]]), "stay below 2\\^53"),
        (changed(GOOD_ITEMS, "domain", "items", "ranks", to=[[0, 1], [1, 0], [1, 1]]), "Expected ranks as a square"),
        (changed(GOOD_ITEMS, "domain", "items", "ranks", to=[[0, 9], [1, 0]]), "whole numbers from 0 to N − 1"),
    ],
)
def test_sets_that_are_not_understood_are_refused(spec, message):
    with pytest.raises(SpecError, match=message):
        from_spec(spec)


def test_a_broken_promise_on_points_is_refused():
    with pytest.raises(BrokenPromiseError, match="exceed e\\^ε for ε=0.5"):
        from_spec(changed(GOOD_PLACES, "epsilon", to="0.5"))
    near, far = (int(GOOD_PLACES["tickets"][kind]) for kind in ("near", "far"))
    twice = {"near": str(2 * near), "far": str(2 * far)}
    with pytest.raises(BrokenPromiseError, match="Expected at most 2\\^52 tickets per row"):
        from_spec(changed(GOOD_PLACES, "tickets", to=twice))


def test_all_problems_of_a_spec_are_reported_at_once():
    with pytest.raises(SpecError, match="5 problems:"):
        from_spec({**GOOD, "mechanism": "x", "edges": "y", "epsilon": "z", "m": -1, "tickets": {}})


near = int(GOOD["tickets"]["near"])
far = int(GOOD["tickets"]["far"])


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (changed(GOOD, "tickets", "near", to=str(near + 1)), "exceed e\\^ε for ε=1; do not report with this spec"),
        (changed(GOOD, "epsilon", to="0.9999"), "exceed e\\^ε for ε=0.9999"),
        (changed(GOOD, "tickets", to={"near": str(far), "far": str(far)}), "Expected near > far ≥ 1"),
        (changed(GOOD, "tickets", to={"near": "4", "far": "3"}), "with far a power of two"),
        (
            changed(GOOD, "tickets", to={"near": str(2 * near), "far": str(2 * far)}),
            "Expected at most 2\\^52 tickets per row",
        ),
        (changed(GOOD, "m", to=73), "Expected 1 ≤ m < 73"),
        (changed(GOOD_INTERVAL, "m", to=2**31 + 1), "Expected m < 2\\^31, got m=2147483649"),
        (changed(GOOD_INTERVAL, "m", to=174), "odd where edges are padded, got m=174"),
    ],
)
def test_a_broken_promise_is_refused(spec, message):
    with pytest.raises(BrokenPromiseError, match=message):
        from_spec(spec)


def test_a_weaker_lottery_than_asked_for_still_loads():
    weaker = from_spec(changed(GOOD, "tickets", to={"near": "3", "far": "2"}))
    assert verify(weaker).holds
    assert verify(weaker).ratio == 1.5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "Expected a spec as JSON: .* at line 1; ask for the file again"),
        ('{"m": 1, "m": 2}', "Expected every key of a spec once, got a duplicate"),
        ("[" * 100_000, "too many digits or brackets"),
        ('{"m": ' + "9" * 5000 + "}", "too many digits or brackets"),
        ('{"m": NaN}', "Expected finite numbers in a spec, got NaN"),
    ],
)
def test_json_that_means_two_things_is_refused(text, message):
    with pytest.raises(SpecError, match=message):
        load_spec(text)
