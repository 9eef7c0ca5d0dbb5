"""Specs of version 2: every mechanism but BRR comes back, golden files load forever, and forged ones are refused."""

import copy
import hashlib
import json
from fractions import Fraction
from pathlib import Path

import jsonschema
import numpy as np
import pytest
import rfc8785

import bipartite
from bipartite import (
    GRR,
    RR,
    Anchored,
    Constant,
    Custom,
    Cyclic,
    Exponential,
    Geometric,
    Integers,
    Interval,
    Items,
    Optimal,
    Product,
    from_spec,
    verify,
)
from bipartite.errors import BrokenPromiseError, SpecError
from bipartite.mechanisms.spec import canonical_json, load_spec, spec_sha256
from tests.lottery.test_noise import wrapping
from tests.oracle import exp
from tests.rivals import KEEPING, MECHANISMS

GOLDEN = {path.stem.rsplit("-", 1)[0]: path for path in (Path(__file__).parents[2] / "golden" / "v2").glob("*.json")}
GENRES = Items(["jazz", "blues", "metal"], loss=[[0, 1, 5], [1, 0, 4], [5, 4, 0]])
SCHEMA = json.loads((Path(bipartite.__file__).parent / "cli" / "schemas" / "spec.json").read_text(encoding="utf-8"))
NAMES = {
    "anchored": "58fea4fbe41643ce845099ceeb417e9a7ca5f728e7c8cab69c05f188cb59b442",
    "anchored_one": "9ef080ba337071a9fde700f043287e792bac7e9ebff01e1147bcc153d6e2c983",
    "anchored_pairs": "1126701f72658e212f9ae946bf146532ea3caa94635077d1a5bf5a7f06be90e8",
    "anchored_places": "d1521c2cbf7f06ad301296119bd834d2b73b50f7bbabe17ddfd5ad1171b6adbe",
    "anchored_hours": "e62c1224efdd7e1ed066a4379ef7fb4cb06542cd30632c62850e8431395e0ed5",
    "constant": "a48aaded5dc3dc91aecde813cd3dd88f827c46c1a8848ff7d33d5148f91d06cf",
    "custom": "cdc7979170c673468cb47ad9bbeaa566c3ed9d891c196477beb3caef45489ce2",
    "custom_numbers": "08b7d6d246af692dc2f2303d0457afc7171f9fb9eb1b447ac77a86fba30a2788",
    "custom_words": "d1a1c71671d47c3afe53578dbace0326ad493c2b24fb4a6348609539be8f698b",
    "constant_items": "4d7bc69d34386bca638cad79ebc16b20343fe117c7f422dde070b5efa6eb4204",
    "exponential": "e034d65e690420973a5e40aae187b1a204f0a89f5582f09545a594ef25da4ca7",
    "exponential_published": "10a8a6a2f3604a73df57f3a24f912032d88a5bac17c3ef73772797688692edfe",
    "exponential_pairs": "a0f1a1d96fac7f558d7fe48adef8ea2d9e11131b1c03523a93387dad922f42d2",
    "exponential_months": "da87d60181d91db754b589dc8e53ae7e486c6ac388f3b2da646befe875a3215f",
    "geometric": "bd8498cb24bfb1c92bcf44116ef076e0a258c66c4a5d63ac1f81c9633fed3234",
    "grr": "8f8376685dc917ac212a7d299566c08f93cdee024f2a5ebdbfc8ecb857a546d2",
    "grr_hours": "576203ad2bb2cd0872bcec7b72f60c4a11acae3061bffad406a11421fcafcf33",
    "grr_items": "eac672030fbef668261f689b3d7da6b6085345b60fda231f0375151ff477804c",
    "grr_pairs": "f4284f9f39300f51b20a49a50b17fbf136c5cf93c605e63a523cf719f039dedd",
    "lsrr": "9343d72a9dfc6a987fbacc733e336af9e99d2031e3e61b8a8ce4fdaf4b93f299",
    "optimal": "afb7fdc13c7cde2361e9d1e5ec97d95916d1aae163c52cb4bf47c3f42b7f6b4b",
    "optimal_unbiased": "d90e1f31f7450c965184c961c9e13db9156e432d6b1b0352c05dcd8e0fbbc1f7",
    "rr": "4a16ee0b55651c7e13e56d3a3781b4d62d5ae46da115ec81ef249e928b35dfdd",
}
# The last row of each matrix, to six digits.
LAST_ROWS = {
    "grr": [0.013384] * 72 + [0.036381],
    "grr_pairs": [0.044017] * 20 + [0.119652],
    "anchored_pairs": [0.211942, 0.211942, 0.576117],
    "exponential_pairs": [0.096096, 0.153843, 0.125217, 0.200465, 0.163164, 0.261215],
    "grr_items": [0.215113, 0.215113, 0.215113, 0.354661],
    "rr": [0.25, 0.75],
    "exponential": [0.114051, 0.146444, 0.188038, 0.241445, 0.310022],
    "exponential_published": [0.21967, 0.23876, 0.259509, 0.282061],
    "exponential_months": [
        *(0.111335, 0.094243, 0.079775, 0.067528, 0.057161, 0.048386),
        *(0.057161, 0.067528, 0.079775, 0.094243, 0.111335, 0.131527),
    ],
    "grr_hours": [0.038883] * 23 + [0.105695],
    "geometric": [0.084241, 0.054649, 0.090101, 0.148551, 0.622459],
    "constant_items": [1.0],
    "anchored": [0.106507, 0.106507, 0.786986],
    "anchored_one": [1.0],
    # 23 is as far from 20 as from 2, and takes the one before it.
    "anchored_hours": [0.043317, 0.043317, 0.043317, 0.870049],
    "anchored_places": [0.268941, 0.731059],
    "optimal": [0.174878, 0.174878, 0.174878, 0.475367],
    "optimal_unbiased": [0.07379, 0.015036, 0.091291, 0.088826, 0.241453, 0.248153, 0.040872, 0.200581],
    "lsrr": [0.174878, 0.174878, 0.174878, 0.475367],
    "custom": [0.2, 0.2, 0.3, 0.3],
    "custom_numbers": [0.2, 0.3, 0.5],
    "custom_words": [0.25, 0.55, 0.2],
}


def rows_of(spec, size):
    """The tickets of every value, read from the text of a spec without the package."""
    kind = spec["mechanism"]
    if kind in {"exponential", "optimal", "lsrr", "custom"}:
        return [[int(count) for count in row] for row in spec["rows"]]
    if kind == "geometric":
        noise = [int(count) for count in spec["noise"]]
        rows = [[0] * size for _ in range(size)]
        for x in range(size):
            for shift in range(1 - size, size):
                rows[x][min(max(x + shift, 0), size - 1)] += noise[abs(shift)]
        return rows
    near, far = (int(spec["tickets"][name]) for name in ("near", "far"))
    if kind == "grr":
        return [[near if x == y else far for y in range(size)] for x in range(size)]
    raise AssertionError(kind)


@pytest.mark.parametrize("name", NAMES)
def test_golden_specs_load_forever(name):
    text = GOLDEN[name].read_text(encoding="utf-8")
    spec = json.loads(text)
    mechanism = load_spec(text)
    assert hashlib.sha256(rfc8785.dumps(spec)).hexdigest() == NAMES[name]
    assert spec_sha256(mechanism) == verify(mechanism).spec_sha256 == NAMES[name]
    assert mechanism.to_spec() == spec
    assert verify(mechanism).holds
    jsonschema.validate(spec, SCHEMA)
    if name == "constant":
        assert (mechanism.answer, len(mechanism.domain)) == (500_000_000, 10**9)
        return
    matrix = mechanism.matrix()
    assert matrix[-1] == pytest.approx(LAST_ROWS[name], abs=1e-6)
    if spec["mechanism"] not in {"constant", "anchored"}:
        rows = np.array(rows_of(spec, len(mechanism.domain)), dtype=np.int64)
        assert (mechanism.lottery.rows(0, len(rows)) == rows).all()
        assert (matrix == rows / rows[0].sum()).all()


def test_there_is_a_golden_spec_of_every_mechanism():
    assert set(GOLDEN) == set(NAMES) == {*LAST_ROWS, "constant"}
    kinds = {json.loads(path.read_text(encoding="utf-8"))["mechanism"] for path in GOLDEN.values()}
    assert kinds == {"grr", "anchored", "constant", "geometric", "exponential", "optimal", "lsrr", "custom"}


OWN = [[0.4, 0.3, 0.2, 0.1], [0.3, 0.4, 0.2, 0.1], [0.2, 0.3, 0.3, 0.2], [0.2, 0.2, 0.3, 0.3]]
PAIR_OF_CUPS = Items(["tea", "coffee"], loss=[[0, 1], [1, 0]])


def test_a_design_of_today_gives_the_golden_specs():
    today = {
        "grr": GRR(Integers(18, 90), 1),
        "rr": RR(Integers(0, 1), "1.0986122886681098"),
        "constant": Constant(Integers(1, 10**9)),
        "anchored": Anchored(Integers(1, 100), 2),
        "anchored_one": Anchored(Integers(0, 9), "0.5", anchors=[5]),
        "anchored_pairs": Anchored(Product(Integers(0, 9), Integers(0, 9)), 1),
        "grr_pairs": GRR(Product(Integers(18, 24), GENRES), 1),
        "custom": Custom(Integers(1, 4), Integers(1, 4), OWN, "1.4"),
        "custom_words": Custom(PAIR_OF_CUPS, ["yes", "no", "no answer"], [[0.55, 0.25, 0.2], [0.25, 0.55, 0.2]], 1),
    }
    for name, mechanism in today.items():
        assert spec_sha256(mechanism) == NAMES[name]


@pytest.mark.parametrize("name", KEEPING)
def test_a_spec_describes_its_mechanism_and_survives_json(name):
    mechanism = KEEPING[name]
    spec = mechanism.to_spec()
    jsonschema.validate(spec, SCHEMA)
    for twin in (from_spec(spec), load_spec(json.dumps(spec)), load_spec(canonical_json(spec))):
        assert twin == mechanism
        assert hash(twin) == hash(mechanism)
        assert verify(twin) == verify(mechanism)
        assert (twin.matrix() == mechanism.matrix()).all()
        assert twin.outputs == mechanism.outputs
        assert twin.epsilon_decimal == mechanism.epsilon_decimal


def changed(spec, *path, to):
    spec = copy.deepcopy(spec)
    inner = spec
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = to
    return spec


def without(spec, key):
    return {name: value for name, value in spec.items() if name != key}


GRR_SPEC = GRR(Integers(0, 4), 1).to_spec()
NOISE = Geometric(Integers(0, 4), 1).to_spec()
TABLE = Exponential(Integers(0, 4), 1).to_spec()
FEW = Optimal(Integers(0, 4), 1).to_spec()
ANCHORS = Anchored(Integers(0, 9), 1, anchors=[2, 7]).to_spec()
SINGLE = Anchored(Integers(0, 9), 1, anchors=[5]).to_spec()
ANSWER = Constant(Integers(0, 4)).to_spec()
WORDS = Custom(Integers(0, 4), ["a", "b"], [[0.5, 0.5]] * 5, 1).to_spec()
NUMBERS = "Expected outputs as {'numbers': \\[…\\]}, finite and ascending; ask for another spec"
LABELS = "Expected outputs as {'labels': \\[…\\]}, distinct strings or whole numbers; ask for another spec"
PAIR = Items(["a", "b"], loss=[[0, 1], [1, 0]])
INDICES = "Expected (anchors|outputs) as ascending indices from 0 to"
COUNTS = "whole numbers of at most 16 digits as strings; ask for another spec"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            changed(GRR_SPEC, "mechanism", to="rr"),
            "Expected mechanism 'grr', .*, got 'rr'; update bipartite to read others",
        ),
        (changed(GRR_SPEC, "mechanism", to=["grr"]), "Expected mechanism 'grr', .*, got \\['grr'\\]"),
        (without(GRR_SPEC, "mechanism"), "Expected mechanism 'grr', .*, got None"),
        (changed(GRR_SPEC, "mechanism", to="brr"), "Expected mechanism 'grr', .*, got 'brr'"),
        (without(GRR_SPEC, "tickets"), "Expected a spec with tickets; ask for a complete one"),
        ({**GRR_SPEC, "m": 1}, "Expected a spec without m; update bipartite"),
        ({**ANSWER, "epsilon": "1"}, "Expected a spec without epsilon"),
        (changed(GRR_SPEC, "epsilon", to="1.0"), "Expected epsilon in its canonical form '1', got '1.0'"),
        (changed(GRR_SPEC, "epsilon", to=1), "Expected epsilon as a decimal string such as '1'"),
        (changed(GRR_SPEC, "domain", to={}), "Expected domain as {'integers': \\[low, high\\]}"),
        (changed(GRR_SPEC, "domain", to={"integers": [4, 0]}), "Expected low < high"),
        (changed(GRR_SPEC, "tickets", "near", to=5), "Expected tickets as {'near': '…', 'far': '…'}"),
        (changed(GRR_SPEC, "bipartite", to=1), "Expected a spec with edges, m"),
        (changed(NOISE, "noise", to="many"), f"Expected noise as 5 {COUNTS}"),
        (changed(NOISE, "noise", to=["5", "4", "3", "2"]), f"Expected noise as 5 {COUNTS}"),
        (changed(NOISE, "noise", to=[5, 4, 3, 2, 1]), f"Expected noise as 5 {COUNTS}"),
        (changed(NOISE, "noise", to=["5", "4", "3", "2", "0"]), f"Expected noise as 5 {COUNTS}"),
        (changed(NOISE, "noise", to=["5", "4", "3", "2", "-1"]), f"Expected noise as 5 {COUNTS}"),
        (changed(NOISE, "noise", to=["5", "4", "3", "2", "1" * 17]), f"Expected noise as 5 {COUNTS}"),
        (
            {**NOISE, "domain": PAIR.to_spec(), "noise": ["2", "1"]},
            "Expected a domain of integers or an interval for geometric noise; ask for another spec",
        ),
        (changed(TABLE, "variant", to="best"), "Expected variant 'tight' or 'published', got 'best'"),
        (without(TABLE, "variant"), "Expected a spec with variant"),
        ({**FEW, "variant": "tight"}, "Expected a spec without variant"),
        (changed(TABLE, "rows", to=TABLE["rows"][:4]), "Expected rows as a list of 5 lists, one per value; ask for"),
        (changed(TABLE, "rows", to="many"), "Expected rows as a list of 5 lists"),
        (changed(TABLE, "rows", 2, to=["1", "2"]), f"Expected rows as 5 {COUNTS}"),
        (changed(TABLE, "rows", 2, 0, to=7), f"Expected rows as 5 {COUNTS}"),
        (changed(TABLE, "rows", 2, 0, to="0"), f"Expected rows as 5 {COUNTS}"),
        (changed(TABLE, "outputs", to=[0, 1, 2, 3, 5]), INDICES),
        (changed(TABLE, "outputs", to=[0, 1, 1, 3, 4]), INDICES),
        (changed(TABLE, "outputs", to=[-1, 1, 2, 3, 4]), INDICES),
        (changed(TABLE, "outputs", to=[True, 2, 3, 4]), INDICES),
        (changed(TABLE, "outputs", to=[]), INDICES),
        (changed(TABLE, "outputs", to=[0, 1, 2, 3]), f"Expected rows as 4 {COUNTS}"),
        (changed(TABLE, "outputs", to={"numbers": [0.5, 1, 2, 3, 4]}), INDICES),
        (changed(FEW, "outputs", to={"labels": ["a", "b"]}), INDICES),
        (
            changed(Custom(Cyclic(3), ["a"], [[1]] * 3, 1).to_spec(), "outputs", to={"numbers": [0.5]}),
            "Expected numbers as outputs on a line only; ask for another spec",
        ),
        (
            changed(WORDS, "domain", to=Product(Integers(0, 4), Cyclic(2)).to_spec()),
            "Expected outputs of a product as indices of its values; ask for another spec",
        ),
        *((changed(WORDS, "outputs", to={"labels": each}), LABELS) for each in ([], ["a", "a"], ["a", 1], "ab", None)),
        *(
            (changed(WORDS, "outputs", to={"numbers": each}), NUMBERS)
            for each in ([], [1, 1], [2, 1], [0, float("inf")], [0, True], [0, 10**400], [0, 2**53 + 1], ["0", "1"], 5)
        ),
        (changed(WORDS, "outputs", to={"labels": ["a", "b"], "numbers": [0, 1]}), INDICES),
        (changed(WORDS, "outputs", to={"labels": ["a", "b", "c"]}), f"Expected rows as 3 {COUNTS}"),
        (changed(WORDS, "outputs", to={"words": ["a", "b"]}), INDICES),
        (changed(ANCHORS, "anchors", to=[7, 2]), INDICES),
        (changed(ANCHORS, "anchors", to=[2.0, 7]), INDICES),
        (changed(ANCHORS, "anchors", to=[2, 10]), INDICES),
        (changed(ANCHORS, "anchors", to=[]), INDICES),
        (
            changed(ANCHORS, "domain", to={"integers": [0, 2**24]}),
            "Expected at most 2\\^24 values, got 16777217; ask for",
        ),
        (changed(ANSWER, "answer", to="2"), "Expected answer as a whole number, got '2'; ask for another spec"),
        (changed(ANSWER, "answer", to=True), "Expected answer as a whole number, got True"),
        (
            changed(ANSWER, "answer", to=5),
            "Expected answer as the index of a value, 0 to 4, got 5; ask for another spec",
        ),
        (changed(ANSWER, "answer", to=-1), "Expected answer as the index of a value, 0 to 4, got -1"),
        ({**GRR_SPEC, "epsilon": "x", "domain": 5}, "2 problems:"),
    ],
)
def test_what_is_not_understood_is_refused(spec, message):
    with pytest.raises(SpecError, match=message) as caught:
        from_spec(spec)
    assert not isinstance(caught.value, BrokenPromiseError)


near, far = (int(GRR_SPEC["tickets"][name]) for name in ("near", "far"))
TWICE = {"near": str(2 * near), "far": str(2 * far)}
EXCEED = "exceed e\\^ε for ε=.*; do not report with this spec"
TOTALS = "Expected rows with one total of at most 2\\^52, and a ticket for every report; ask for another spec"
FALLING = "Expected decreasing ticket counts of the shifts, at most 2\\^52 in all; ask for another spec"


def moved(spec, row, source, target, count):
    """Some tickets of one row moved to another report."""
    counts = list(spec["rows"][row])
    counts[source], counts[target] = str(int(counts[source]) - count), str(int(counts[target]) + count)
    return changed(spec, "rows", row, to=counts)


def thousand(noise):
    return {**NOISE, "domain": {"integers": [0, 999]}, "epsilon": "0.001", "noise": [str(count) for count in noise]}


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (changed(GRR_SPEC, "tickets", "near", to=str(near + 1)), EXCEED),
        (changed(GRR_SPEC, "epsilon", to="0.9999"), EXCEED),
        (changed(GRR_SPEC, "tickets", to={"near": str(far), "far": str(far)}), "Expected near > far ≥ 1"),
        (changed(GRR_SPEC, "tickets", to=TWICE), "Expected at most 2\\^52 tickets per row"),
        (changed(ANCHORS, "epsilon", to="0.9999"), EXCEED),
        (changed(ANCHORS, "tickets", to={"near": "3", "far": "1"}), EXCEED),
        (changed(ANCHORS, "tickets", to={"near": "5", "far": "3"}), "with far a power of two"),
        (changed(SINGLE, "tickets", to={"near": "1", "far": "1"}), "Expected near=2, far=1 for a single anchor, got n"),
        (changed(SINGLE, "tickets", "near", to="9" * 16), "Expected near=2, far=1 for a single anchor"),
        (changed(NOISE, "epsilon", to="0.9999"), EXCEED),
        (changed(NOISE, "noise", 4, to="1"), EXCEED),
        (changed(NOISE, "noise", 1, to=str(2**51)), FALLING),
        (changed(NOISE, "noise", to=[str(2**52)] * 5), FALLING),
        (thousand(wrapping(1000, 2**20)), FALLING),
        (thousand(wrapping(1000, -(2**30))), FALLING),
        (changed(TABLE, "epsilon", to="0.9999"), EXCEED),
        (changed(TABLE, "rows", 0, 0, to=str(int(TABLE["rows"][0][0]) + 1)), TOTALS),
        (moved(TABLE, 0, 4, 0, 2**48), EXCEED),
        (changed(TABLE, "rows", to=[["9" * 16] * 5] * 5), TOTALS),
        (changed(FEW, "epsilon", to="0.9999"), EXCEED),
    ],
)  # fmt: skip
def test_a_broken_promise_is_refused(spec, message):
    with pytest.raises(BrokenPromiseError, match=message):
        from_spec(spec)


def test_noise_that_wraps_twice_is_refused():
    # Once loaded with a certificate that held for ε = 0.5, and reported every value itself: sums of 64 bits wrapped.
    size, first = 3000, 9_000_000_000_000_000
    each, left = divmod((2 * 2**64 + 2**20 + first) // 2 - first, size - 1)
    noise = [first, *[each] * (size - 2), each + left]
    assert 2 * sum(noise) - first == 2 * 2**64 + 2**20
    spec = {**NOISE, "domain": {"integers": [0, size - 1]}, "epsilon": "0.5", "noise": [str(count) for count in noise]}
    with pytest.raises(BrokenPromiseError, match=FALLING):
        from_spec(spec)


def test_one_ticket_too_many_is_noticed():
    # The least ticket of the column with the largest ratio, moved away one by one until e^ε is passed.
    rows = np.array([[int(count) for count in row] for row in TABLE["rows"]])
    y = int((rows.max(axis=0) / rows.min(axis=0)).argmax())
    x, other = int(rows[:, y].argmin()), int(rows[rows[:, y].argmin()].argmax())
    most, least = int(rows[:, y].max()), int(rows[x, y])
    room = next(count for count in range(10**6) if most > exp("1") * (least - count))
    assert verify(from_spec(moved(TABLE, x, y, other, room - 1))).holds
    with pytest.raises(BrokenPromiseError, match=EXCEED):
        from_spec(moved(TABLE, x, y, other, room))


def test_a_weaker_lottery_than_asked_for_still_loads():
    weaker = from_spec(changed(NOISE, "noise", to=["5", "4", "3", "3", "9"]))
    assert verify(weaker).ratio == Fraction(24, 9)
    few = from_spec({**TABLE, "outputs": [0, 4], "rows": [["3", "2"]] * 4 + [["2", "3"]]})
    assert (len(few.outputs), verify(few).ratio) == (2, Fraction(3, 2))
    assert {few.privatize(2) for _ in range(100)} == {0, 4}


def test_a_spec_of_many_values_and_few_reports_needs_no_table_of_all_pairs():
    size = 30_000
    spec = {**FEW, "domain": {"integers": [1, size]}, "outputs": [0, 9], "rows": [["3", "2"], ["2", "3"]] * (size // 2)}
    mechanism = from_spec(spec)
    assert mechanism.lottery.tickets.nbytes == size * 2 * 8
    assert verify(mechanism).ratio == Fraction(3, 2)


def test_lsrr_as_published_is_refused():
    for name, mechanism in MECHANISMS.items():
        if "lsrr as published" in name:
            jsonschema.validate(mechanism.to_spec(), SCHEMA)
            with pytest.raises(BrokenPromiseError, match=EXCEED):
                from_spec(mechanism.to_spec())


def test_random_rounding_travels():
    mechanism = Exponential(Interval(0, 1, points=4, rounding="random"), 1)
    assert from_spec(mechanism.to_spec()).domain.rounding == "random"
