"""What a spec must not say: every refusal with its message, and tickets that do not keep ε."""

import copy
import math
from fractions import Fraction

import numpy as np
import pytest

import bipartite as bp
from bipartite.errors import BrokenPromiseError, SpecError
from bipartite.lottery import totals_of
from tests.catalogue import GENRES, ROWS_OF_BITS, made
from tests.lottery.test_noise import wrapping
from tests.mechanisms.spec.test_golden import golden
from tests.oracle import exp


def changed(spec, *path, to):
    spec = copy.deepcopy(spec)
    inner = spec
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = to
    return spec


def without(spec, key):
    return {name: value for name, value in spec.items() if name != key}


def more(spec, *path, by=1):
    """A count of tickets that is larger."""
    inner = spec
    for key in path:
        inner = inner[key]
    return changed(spec, *path, to=str(int(inner) + by))


def part_changed(spec, **fields):
    return changed(spec, "domain", "product", to=spec["domain"]["product"] | fields)


def moved(spec, row, source, target, count):
    """Some tickets of one row moved to another report."""
    counts = list(spec["rows"][row])
    counts[source], counts[target] = str(int(counts[source]) - count), str(int(counts[target]) + count)
    return changed(spec, "rows", row, to=counts)


def thousand(noise):
    return {**NOISE, "domain": {"integers": [0, 999]}, "epsilon": "0.001", "noise": [str(count) for count in noise]}


FIVE, TEN, UNIT = bp.Integers(0, 4), bp.Integers(0, 9), bp.Interval(0, 1, points=5)
AGES = bp.BRR(bp.Integers(18, 90), 1).to_spec()
NEAR, FAR = (int(AGES["tickets"][kind]) for kind in ("near", "far"))
INCOME = bp.BRR(bp.Interval(0, 200_000, points=401), "0.5", edges="padded").to_spec()
PLACES = bp.BRR(bp.Points([[0, 0], [10, 10], [20, 30]], metric="haversine", labels=["a", "b", "c"]), 1).to_spec()
POINTS = bp.BRR(bp.Points([[0, 0], [10, 10], [20, 30]]), 1).to_spec()
ITEMS = bp.BRR(bp.Items(None, loss=[[0, 1, 2], [1, 0, 1], [2, 1, 0]]), 1).to_spec()
CIRCLE = bp.BRR(bp.Cyclic(24), 1).to_spec()
PAIRS = bp.BRR(bp.Product(bp.Integers(18, 24), GENRES), 1).to_spec()
NUMBER_PAIRS = bp.BRR(bp.Product(bp.Integers(0, 3), bp.Interval(0, 1, points=3)), 1).to_spec()
FOURS = bp.Product(bp.Integers(0, 3), bp.Integers(0, 3))
ANCHORED_PAIRS = bp.Anchored(FOURS, 1, anchors=[(0, 0), (3, 3)]).to_spec()
DOUBLED = {kind: str(2 * int(count)) for kind, count in PLACES["tickets"].items()}
GRR_SPEC = bp.GRR(FIVE, 1).to_spec()
OF_GRR = [int(GRR_SPEC["tickets"][kind]) for kind in ("near", "far")]
TWICE = {"near": str(2 * OF_GRR[0]), "far": str(2 * OF_GRR[1])}
NOISE = bp.Geometric(FIVE, 1).to_spec()
TABLE = bp.Exponential(FIVE, 1).to_spec()
FEW = bp.Optimal(FIVE, 1).to_spec()
ANCHORS = bp.Anchored(TEN, 1, anchors=[2, 7]).to_spec()
SINGLE = bp.Anchored(TEN, 1, anchors=[5]).to_spec()
ANSWER = bp.Constant(FIVE).to_spec()
WORDS = bp.Custom(FIVE, ["a", "b"], [[0.5, 0.5]] * 5, 1).to_spec()
PAIR = bp.Items(["a", "b"], loss=[[0, 1], [1, 0]])
LAPLACE, LAPLACE_CLAMPED = bp.Laplace(UNIT, 1).to_spec(), bp.Laplace(UNIT, 1, clamped=True).to_spec()
STAIRCASE, DUCHI = bp.Staircase(UNIT, 1).to_spec(), bp.Duchi(UNIT, 1).to_spec()
PIECEWISE, HYBRID = bp.Piecewise(UNIT, 1).to_spec(), bp.Hybrid(UNIT, 1).to_spec()
HASHES = bp.OLH(bp.Integers(18, 90), 2).to_spec()
MINIMAX, MEANS, MEANS_ONE = golden("minimax"), golden("means"), golden("means_one")
TWO_LEVEL, REGION_WEIGHTED = golden("two_level"), golden("region_weighted")
TALL = [{"near": "9999999999999999", "far": "9999999999999999", "outside": "9999999999999999"}] * 3
WIDE = [{"own": "9999999999999999", "other": "9999999999999999"}] * 3
PLANE = bp.Points([[0, 0], [1, 1], [2, 2], [3, 3]]).to_spec()

NUMBERS = "Expected outputs as {'numbers': \\[…\\]}, finite and ascending; ask for another spec"
LABELS = "Expected outputs as {'labels': \\[…\\]}, distinct strings or whole numbers; ask for another spec"
INDICES = "Expected (anchors|outputs) as ascending indices from 0 to"
COUNTS = "whole numbers of at most 16 digits as strings; ask for another spec"
LOSSES = "Expected losses as a whole number of at least 1 for a line and a square matrix of whole numbers of at least 0"
EXCEED = "exceed e\\^ε for ε=.*; do not report with this spec"
TOTALS = "Expected rows with one total of at most 2\\^52, and a ticket for every report; ask for another spec"
EITHER = "ask for another spec|do not report with this spec"
FALLING = "Expected decreasing ticket counts of the shifts, at most 2\\^52 in all; ask for another spec"

NOT_UNDERSTOOD = [
    # Lines
    ([], "Expected a spec as a mapping, got list; parse the JSON first"),
    ("{}", "Expected a spec as a mapping, got str"),
    ({}, "Expected a spec with bipartite, domain, edges, epsilon, m, mechanism, tickets"),
    (changed(AGES, "bipartite", to=True), "Expected a spec of version 1 to 5, got True"),
    (
        changed(AGES, "bipartite", to=10**5000),
        "Expected a spec of version 1 to 5, got a whole number with thousands of digits",
    ),
    (changed(AGES, "edges", to=["clamped"]), "Expected edges 'clamped' or 'padded'"),
    (changed(AGES, "mechanism", to="grr"), "Expected mechanism 'brr', got 'grr'"),
    (changed(AGES, "edges", to="soft"), "Expected edges 'clamped' or 'padded', got 'soft'"),
    (changed(AGES, "epsilon", to="x"), "Expected epsilon as a positive decimal"),
    (changed(AGES, "epsilon", to="-1"), "Expected epsilon as a positive decimal"),
    (changed(AGES, "m", to=27.0), "Expected m as a whole number from 1, got 27.0"),
    (changed(AGES, "m", to=0), "Expected m as a whole number from 1, got 0"),
    (changed(AGES, "m", to=True), "Expected m as a whole number from 1, got True"),
    (changed(AGES, "tickets", to={"near": 3, "far": 1}), "Expected tickets as"),
    (changed(AGES, "tickets", to={"near": "3"}), "Expected tickets as"),
    (changed(AGES, "tickets", "near", to="12345678901234567"), "at most 16 digits"),
    (changed(AGES, "tickets", "near", to="03"), "Expected tickets as"),
    (changed(AGES, "tickets", "near", to="３"), "Expected tickets as"),
    (changed(AGES, "tickets", "near", to="+3"), "Expected tickets as"),
    (changed(AGES, "domain", to={"integers": [18]}), "Expected the ends of a domain as a list of two numbers"),
    (changed(AGES, "domain", to={"integers": [18, 90.0]}), "Expected the ends of a domain"),
    (changed(AGES, "domain", to={"integers": [90, 18]}), "Expected low < high"),
    (changed(AGES, "domain", to={"integers": [0, 2**60]}), "Expected at most 2\\^31 values"),
    (changed(AGES, "domain", to={"ages": [18, 90]}), "Expected domain as"),
    (changed(AGES, "domain", to={"integers": [18, 90], "points": 3}), "Expected domain as"),
    (changed(AGES, "domain", to=7), "Expected domain as"),
    (changed(INCOME, "domain", "points", to=401.0), "Expected points as a whole number, got 401.0"),
    (changed(INCOME, "domain", "rounding", to="up"), "Expected rounding='nearest' or 'random', got 'up'"),
    (changed(INCOME, "domain", "rounding", to=["up"]), "Expected rounding='nearest' or 'random', got \\['up'\\]"),
    (changed(INCOME, "domain", "interval", to=[0, math.inf]), "Expected high as a finite number"),
    # Sets
    (changed(PLACES, "draw", to="guess"), "Expected draw 'tries' or 'list', got 'guess'"),
    (changed(PLACES, "edges", to="padded"), "Expected edges 'clamped' on a circle, points and items"),
    ({**AGES, "draw": "tries"}, "Expected a spec without draw"),
    ({key: value for key, value in PLACES.items() if key != "draw"}, "Expected a spec with draw"),
    (changed(PLACES, "domain", "points", to=[]), "Expected points as {'metric'"),
    (changed(PLACES, "domain", "points", "bits", to=3), "without bits"),
    (changed(PLACES, "domain", "points", "vectors", to=[[1, 2, 3], [3, 4, 5], [5, 6, 7]]), "length 2\\^25"),
    (changed(PLACES, "domain", "points", "vectors", to=[[1, 2], [3, 4], [5, 6]]), "length 2\\^25"),
    (changed(PLACES, "domain", "points", "vectors", to=[[1, 2, 3], [3, 4]]), "rows of whole numbers of one length"),
    (changed(PLACES, "domain", "points", "vectors", to=[[1.0], [2]]), "rows of whole numbers"),
    (changed(PLACES, "domain", "points", "vectors", to=[[True], [2]]), "rows of whole numbers"),
    (changed(PLACES, "domain", "points", "vectors", to=[[2**53], [2]]), "rows of whole numbers"),
    (changed(PLACES, "domain", "points", "vectors", to="many"), "rows of whole numbers"),
    (changed(PLACES, "domain", "points", "metric", to="cosine"), "Expected metric 'euclidean', 'manhattan' or"),
    (changed(PLACES, "domain", "points", "labels", to="abc"), "Expected labels as a list"),
    (changed(PLACES, "domain", "points", "labels", to=["a", "a", "b"]), "Expected distinct labels"),
    (changed(POINTS, "domain", "points", "bits", to=1.5), "Expected bits as a whole number"),
    (changed(POINTS, "domain", "points", "bits", to=-501), "Expected bits as a whole number"),
    (changed(POINTS, "domain", "points", "bits", to=901), "Expected bits as a whole number"),
    (changed(PLACES, "domain", "points", "labels", to=None), "Expected labels as a list"),
    (changed(POINTS, "domain", "points", "vectors", to=[[0, 0], [2**52, 2**52]]), "stay below 2\\^53"),
    (changed(ITEMS, "domain", "items", "ranks", to=[[0, 1], [1, 0], [1, 1]]), "Expected ranks as a square"),
    (changed(ITEMS, "domain", "items", "ranks", to=[[0, 9], [1, 0]]), "whole numbers from 0 to N − 1"),
    # Circles
    (CIRCLE | {"domain": {"cyclic": 24}}, "Expected cyclic as {'size': …, 'start': …} or {'size': …, 'labels'"),
    (CIRCLE | {"domain": {"cyclic": {"size": 24}}}, "Expected cyclic as"),
    (CIRCLE | {"domain": {"cyclic": {"size": 24.0, "start": 0}}}, "Expected the size and the start of a circle"),
    (CIRCLE | {"domain": {"cyclic": {"size": 24, "start": True}}}, "Expected the size and the start of a circle"),
    (CIRCLE | {"domain": {"cyclic": {"size": 24, "labels": "ab"}}}, "Expected labels as a list"),
    (CIRCLE | {"domain": {"cyclic": {"size": 24, "labels": ["a"]}}}, "Expected 24 labels, one per value, got 1"),
    (CIRCLE | {"domain": {"cyclic": {"size": 1, "start": 0}}}, "Expected size of at least 2, got 1"),
    (CIRCLE | {"domain": {"circle": 24}}, "{'cyclic': {…}}, {'points': {…}}, {'items': {…}} or {'product'"),
    (CIRCLE | {"edges": "padded"}, "Expected edges 'clamped' on a circle, points and items"),
    (CIRCLE | {"draw": "tries"}, "Expected a spec without draw"),
    # Products
    ({**PAIRS, "domain": {"product": []}}, "Expected product as"),
    ({**PAIRS, "domain": {"product": {1: 2}}}, "Expected product as"),
    (part_changed(PAIRS, extra=1), "Expected product as"),
    (part_changed(PAIRS, weights=[1]), "lists of one length"),
    (part_changed(PAIRS, weights=[1, 0]), "Expected weights as positive numbers"),
    (part_changed(PAIRS, weights=[1, True]), "Expected weights as positive numbers"),
    (part_changed(PAIRS, weights=[1, "1"]), "Expected weights as positive numbers"),
    (part_changed(PAIRS, weights=[1, 10**400]), "Expected weights as positive numbers"),
    (
        part_changed(ANCHORED_PAIRS, parts=[{"integers": [0, 999]}] * 2),
        "Expected at most 131072 values of lines to compare all",
    ),
    (part_changed(PAIRS, bits=1.5), "Expected bits as a whole number"),
    (part_changed(PAIRS, bits=10**6), "Expected bits as a whole number"),
    (part_changed(PAIRS, parts=[{"integers": [18, 24]}, {"integers": "x"}]), "Expected the ends of a domain"),
    (
        part_changed(PAIRS, parts=[{"integers": [18, 24]}, PAIRS["domain"]]),
        "Expected parts that are not products themselves",
    ),
    (part_changed(PAIRS, parts=[{"integers": [18, 24]}, 5]), "Expected domain as"),
    (
        part_changed(PAIRS, parts=[{"integers": [1, 2]}], weights=[1], losses=[1]),
        "Expected at least two domains, got 1",
    ),
    (part_changed(PAIRS, losses=[0, PAIRS["domain"]["product"]["losses"][1]]), LOSSES),
    (part_changed(PAIRS, losses=[1.0, PAIRS["domain"]["product"]["losses"][1]]), LOSSES),
    (part_changed(PAIRS, losses=[1, 1]), LOSSES),
    (part_changed(PAIRS, losses=[1, [[0, 1], [1, 0]]]), LOSSES),
    (part_changed(PAIRS, losses=[1, [[0, -1, 0]] * 3]), LOSSES),
    (part_changed(PAIRS, losses=[1, [[0, 2**31, 0]] * 3]), "sums stay below 2\\^31"),
    (part_changed(NUMBER_PAIRS, losses=[2**52, 2**52]), "sums stay below 2\\^53"),
    # Other releases
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
        changed(bp.Custom(bp.Cyclic(3), ["a"], [[1]] * 3, 1).to_spec(), "outputs", to={"numbers": [0.5]}),
        "Expected numbers as outputs on a line only; ask for another spec",
    ),
    (
        changed(WORDS, "domain", to=bp.Product(bp.Integers(0, 4), bp.Cyclic(2)).to_spec()),
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
    (changed(ANCHORS, "domain", to={"integers": [0, 2**24]}), "Expected at most 2\\^24 values, got 16777217; ask for"),
    (changed(ANSWER, "answer", to="2"), "Expected answer as a whole number, got '2'; ask for another spec"),
    (changed(ANSWER, "answer", to=True), "Expected answer as a whole number, got True"),
    (changed(ANSWER, "answer", to=5), "Expected answer as the index of a value, 0 to 4, got 5; ask for another spec"),
    (changed(ANSWER, "answer", to=-1), "Expected answer as the index of a value, 0 to 4, got -1"),
    ({**GRR_SPEC, "epsilon": "x", "domain": 5}, "2 problems:"),
    # Numbers
    (changed(LAPLACE, "domain", to={"integers": [0, 4]}), "Expected domain as {'interval'"),
    (changed(LAPLACE, "padding", to=-1), "Expected padding as a whole number from 0"),
    (changed(LAPLACE, "padding", to=2**22), "at most 2\\^22 steps"),
    (changed(LAPLACE, "padding", to=3), "Expected noise as 8 whole numbers"),
    (changed(STAIRCASE, "gamma", to="1/2"), "Expected gamma as a number from 0 to 1"),
    (changed(DUCHI, "ends", to={"least": "1"}), "Expected ends as"),
    (changed(PIECEWISE, "stride", to=1.5), "Expected stride as a whole number from 1"),
    (changed(PIECEWISE, "tickets", to={"near": "3"}), "Expected tickets as"),
    (changed(HYBRID, "parts", to={"window": {}}), "Expected parts as"),
    (changed(HYBRID, "parts", "window", to={"m": 3}), "Expected window with m, stride, near and far"),
    (changed(DUCHI, "domain", "points", to=2**24 + 1), "at most 2\\^25"),
    (changed(PIECEWISE, "domain", "interval", to=[1e15, 1e15 + 1]), "Expected"),
    # Hashes
    (HASHES | {"mechanism": "ouch"}, "Expected mechanism 'oue', .* got 'ouch'"),
    (HASHES | {"domain": {}}, "Expected domain as"),
    (HASHES | {"buckets": "5"}, "Expected buckets as a whole number, got '5'"),
    (HASHES | {"buckets": 1}, "buckets"),
    # Chosen anchors and means
    (changed(MINIMAX, "mechanism", to="anchored"), "Expected mechanism 'minimax', .*got 'anchored'"),
    (changed(MINIMAX, "anchors", to=[1]), "Expected a spec without anchors"),
    (changed(MINIMAX, "sets", to=[]), "Expected sets as a list of {'anchors': \\[…\\], 'tickets': {…}}"),
    (changed(MINIMAX, "sets", to={}), "Expected sets as a list of"),
    (changed(MINIMAX, "sets", 0, to=[1, 2]), "Expected sets as a list of"),
    (changed(MINIMAX, "sets", 0, "weight", to=1), "Expected a set without weight"),
    (changed(MINIMAX, "sets", 0, to={"anchors": [1]}), "Expected a set with tickets"),
    (changed(MINIMAX, "sets", 0, "anchors", to=[5, 2]), "Expected anchors as ascending indices from 0 to 9"),
    (changed(MINIMAX, "sets", 0, "anchors", to=[10]), "Expected anchors as ascending indices from 0 to 9"),
    (changed(MINIMAX, "sets", 0, "tickets", to={"near": "3"}), "Expected tickets as {'near': '…', 'far': '…'}"),
    (changed(MINIMAX, "sets", 0, "tickets", "far", to="0"), "Expected tickets as"),
    (changed(MINIMAX, "domain", to={"integers": [1, 2**25]}), "Expected at most 2\\^24 values"),
    (changed(MEANS, "bins", to=[1, 2]), "Expected bins starting at index 0, and a number for each as outputs"),
    (changed(MEANS, "bins", to=[0, 2, 3]), "Expected bins starting at index 0, and a number for each as outputs"),
    (changed(MEANS, "bins", to=[0, 9]), "Expected bins as ascending indices from 0 to 4"),
    (changed(MEANS, "outputs", to="23"), "Expected bins starting at index 0, and a number for each as outputs"),
    (changed(MEANS, "outputs", 0, to=True), "a number for each as outputs"),
    (changed(MEANS, "outputs", 0, to=4.5), "Expected outputs as ascending numbers within 1..5"),
    (changed(MEANS, "outputs", 1, to=5.5), "Expected outputs as ascending numbers within 1..5"),
    (changed(MEANS, "outputs", 0, to=float("nan")), "Expected outputs as ascending numbers within 1..5"),
    (changed(MEANS, "outputs", 1, to=10**400), "Expected outputs as ascending numbers within 1..5"),
    (changed(MEANS, "tickets", to={}), "Expected tickets as"),
    (changed(MEANS, "domain", to={"items": {"ranks": [[0, 1], [1, 0]]}}), "Expected "),
    (changed(MEANS, "domain", to={"integers": [1, 5000]}), "Expected at most 4096 values for means, got 5000"),
    # Regions
    (changed(TWO_LEVEL, "mechanism", to="brr"), "Expected mechanism 'two-level', .*, got 'brr'; update"),
    (changed(TWO_LEVEL, "mechanism", to=None), "Expected mechanism 'two-level', .*, got None"),
    (changed(TWO_LEVEL, "size", to=3), "Expected a spec without size"),
    (changed(TWO_LEVEL, "domain", to={"integers": [1, 7]}), "Expected domain as points with metric 'haversine'"),
    (changed(TWO_LEVEL, "domain", to=PLANE), "Expected domain as points with metric 'haversine'"),
    (changed(TWO_LEVEL, "m", to=3), "Expected m as a list of whole numbers, one per region"),
    (changed(TWO_LEVEL, "m", to=[1, 1, 1.0]), "Expected m as a list of whole numbers"),
    (changed(TWO_LEVEL, "total", to=5), "Expected total as a whole number of at most 16 digits"),
    (changed(TWO_LEVEL, "tickets", to=[]), "Expected tickets as {'near': '…', 'far': '…', 'outside': '…'} for"),
    (changed(TWO_LEVEL, "tickets", 0, "near", to="-5"), "Expected tickets as"),
    (changed(TWO_LEVEL, "tickets", 0, "outside", to="0"), "Expected tickets as"),
    (changed(TWO_LEVEL, "regions", to=[0, 0]), "Expected regions as {'labels'"),
    (changed(TWO_LEVEL, "regions", "labels", 0, to=7), "Expected labels of regions as whole numbers from 0"),
    (changed(TWO_LEVEL, "regions", "labels", 0, to=True), "Expected labels of regions as whole numbers from 0"),
    (changed(TWO_LEVEL, "regions", "names", to=["a"]), "Expected the region of each of 7 places, from 0 to 0. A"),
    (changed(TWO_LEVEL, "regions", "names", 0, to="DE"), "Expected regions of at least two places, each with"),
    (changed(TWO_LEVEL, "regions", "labels", 6, to=1), "Expected regions of at least two places"),
]

BROKEN = [
    # Windows
    (changed(AGES, "tickets", "near", to=str(NEAR + 1)), "exceed e\\^ε for ε=1; do not report with this spec"),
    (changed(AGES, "tickets", to={"near": str(FAR), "far": str(FAR)}), "Expected near > far ≥ 1"),
    (changed(AGES, "tickets", to={"near": "4", "far": "3"}), "with far a power of two"),
    (
        changed(AGES, "tickets", to={"near": str(2 * NEAR), "far": str(2 * FAR)}),
        "Expected at most 2\\^52 tickets per row",
    ),
    (changed(AGES, "m", to=73), "Expected 1 ≤ m < 73"),
    (changed(INCOME, "m", to=2**31 + 1), "Expected m < 2\\^31, got m=2147483649"),
    (changed(INCOME, "m", to=174), "odd where edges are padded, got m=174"),
    (changed(PLACES, "tickets", to=DOUBLED), "Expected at most 2\\^52 tickets per row"),
    # Circles
    (CIRCLE | {"m": 24}, "Expected 1 ≤ m < 24"),
    (CIRCLE | {"tickets": {"near": str(2**52), "far": str(2**51)}}, "Expected at most 2\\^52 tickets per row"),
    # Other releases
    (changed(GRR_SPEC, "tickets", "near", to=str(OF_GRR[0] + 1)), EXCEED),
    (changed(GRR_SPEC, "tickets", to={"near": str(OF_GRR[1]), "far": str(OF_GRR[1])}), "Expected near > far ≥ 1"),
    (changed(GRR_SPEC, "tickets", to=TWICE), "Expected at most 2\\^52 tickets per row"),
    (changed(ANCHORS, "tickets", to={"near": "3", "far": "1"}), EXCEED),
    (changed(ANCHORS, "tickets", to={"near": "5", "far": "3"}), "with far a power of two"),
    (changed(SINGLE, "tickets", to={"near": "1", "far": "1"}), "Expected near=2, far=1 for a single anchor, got n"),
    (changed(SINGLE, "tickets", "near", to="9" * 16), "Expected near=2, far=1 for a single anchor"),
    (changed(NOISE, "noise", 4, to="1"), EXCEED),
    (changed(NOISE, "noise", 1, to=str(2**51)), FALLING),
    (changed(NOISE, "noise", to=[str(2**52)] * 5), FALLING),
    (thousand(wrapping(1000, 2**20)), FALLING),
    (thousand(wrapping(1000, -(2**30))), FALLING),
    (changed(TABLE, "rows", 0, 0, to=str(int(TABLE["rows"][0][0]) + 1)), TOTALS),
    (moved(TABLE, 0, 4, 0, 2**48), EXCEED),
    (changed(TABLE, "rows", to=[["9" * 16] * 5] * 5), TOTALS),
    # Numbers
    (changed(LAPLACE, "noise", 0, to=str(2**50)), EITHER),
    (changed(LAPLACE, "noise", 3, to="1"), EITHER),
    (changed(LAPLACE_CLAMPED, "noise", 4, to="1"), EITHER),
    (changed(STAIRCASE, "noise", 1, to="4503599627370496"), EITHER),
    (changed(DUCHI, "ends", "least", to="1"), EITHER),
    (changed(DUCHI, "ends", "step", to=str(2**51)), EITHER),
    (changed(PIECEWISE, "tickets", "far", to="1"), EITHER),
    (changed(PIECEWISE, "m", to=2**22), EITHER),
    (changed(HYBRID, "parts", "window", "far", to="1"), EITHER),
    (changed(HYBRID, "parts", "window", "far", to="9999999999999999"), EITHER),
    (changed(HYBRID, "parts", "window", "m", to=2**22), EITHER),
    (changed(HYBRID, "parts", "ends", "least", to="1"), EITHER),
    (changed(HYBRID, "parts", "window", "stride", to=2**20), EITHER),
    (changed(HYBRID, "domain", "points", to=60_000), "at most 2\\^2[25]"),
    # Chosen anchors and means
    (changed(MINIMAX, "sets", 0, "tickets", to={"near": "1", "far": "2"}), "Expected near ≥ far ≥ 1 in each set"),
    (changed(MINIMAX, "sets", 0, "tickets", "near", to=str(2**52)), "at most 2\\^52 tickets in all"),
    (changed(MINIMAX, "sets", 0, "tickets", "far", to="1"), "The tickets of a set exceed e\\^ε"),
    (changed(MEANS_ONE, "tickets", "near", to="3"), "Expected near=2, far=1 for a single anchor"),
    # Regions
    (changed(TWO_LEVEL, "m", to=[1, 1, 3]), "Expected 1 ≤ m < the number of places for every region"),
    (changed(TWO_LEVEL, "m", to=[1, 0, 1]), "Expected 1 ≤ m < the number of places"),
    (changed(TWO_LEVEL, "m", to=[1, 1]), "Expected 1 ≤ m < the number of places"),
    (more(TWO_LEVEL, "tickets", 0, "near"), "Expected rows of one total of at most 2\\^52"),
    (more(TWO_LEVEL, "tickets", 0, "outside"), "Expected rows of one total"),
    (more(TWO_LEVEL, "total", by=-1), "Expected rows of one total"),
    (changed(TWO_LEVEL, "total", to=str(2**52 + 1)), "with one total of at most 2\\^52"),
    (changed(TWO_LEVEL, "tickets", to=TALL), "Expected rows of one total"),
    (changed(TWO_LEVEL, "tickets", to=TALL[:2]), "Expected tickets of at least one for each region"),
    (more(REGION_WEIGHTED, "tickets", 0, "own"), "Expected rows of one total"),
    (changed(REGION_WEIGHTED, "tickets", to=WIDE), "Expected rows of one total"),
    (changed(REGION_WEIGHTED, "tickets", to=WIDE[:2]), "Expected tickets of two regions or more"),
]


def shortened(each):
    return str(each)[:60] if isinstance(each, str) else ""


@pytest.mark.parametrize(("spec", "message"), NOT_UNDERSTOOD, ids=shortened)
def test_what_is_not_understood_is_refused(spec, message):
    with pytest.raises(SpecError, match=message) as caught:
        bp.from_spec(spec)
    assert not isinstance(caught.value, BrokenPromiseError)


@pytest.mark.parametrize(("spec", "message"), BROKEN, ids=shortened)
def test_a_broken_promise_is_refused(spec, message):
    with pytest.raises(BrokenPromiseError, match=message):
        bp.from_spec(spec)


def test_all_problems_of_a_spec_are_reported_at_once():
    with pytest.raises(SpecError, match="5 problems:"):
        bp.from_spec({**AGES, "mechanism": "x", "edges": "y", "epsilon": "z", "m": -1, "tickets": {}})


def test_noise_that_wraps_twice_is_refused():
    # Once loaded with a certificate that held for ε = 0.5, and reported every value itself: sums of 64 bits wrapped.
    size, first = 3000, 9_000_000_000_000_000
    each, left = divmod((2 * 2**64 + 2**20 + first) // 2 - first, size - 1)
    noise = [first, *[each] * (size - 2), each + left]
    assert 2 * sum(noise) - first == 2 * 2**64 + 2**20
    spec = {**NOISE, "domain": {"integers": [0, size - 1]}, "epsilon": "0.5", "noise": [str(count) for count in noise]}
    with pytest.raises(BrokenPromiseError, match=FALLING):
        bp.from_spec(spec)


def test_one_ticket_too_many_is_noticed():
    # The least ticket of the column with the largest ratio, moved away one by one until e^ε is passed.
    rows = np.array([[int(count) for count in row] for row in TABLE["rows"]])
    y = int((rows.max(axis=0) / rows.min(axis=0)).argmax())
    x, other = int(rows[:, y].argmin()), int(rows[rows[:, y].argmin()].argmax())
    most, least = int(rows[:, y].max()), int(rows[x, y])
    room = next(count for count in range(10**6) if most > exp("1") * (least - count))
    assert bp.verify(bp.from_spec(moved(TABLE, x, y, other, room - 1))).holds
    with pytest.raises(BrokenPromiseError, match=EXCEED):
        bp.from_spec(moved(TABLE, x, y, other, room))


def test_a_weaker_lottery_than_asked_for_still_loads():
    assert bp.verify(bp.from_spec(changed(AGES, "tickets", to={"near": "3", "far": "2"}))).ratio == Fraction(3, 2)
    weaker = bp.from_spec(changed(NOISE, "noise", to=["5", "4", "3", "3", "9"]))
    assert bp.verify(weaker).ratio == Fraction(24, 9)
    few = bp.from_spec({**TABLE, "outputs": [0, 4], "rows": [["3", "2"]] * 4 + [["2", "3"]]})
    assert (len(few.outputs), bp.verify(few).ratio) == (2, Fraction(3, 2))
    assert {few.privatize(2) for _ in range(100)} == {0, 4}


def test_a_spec_of_many_values_and_few_reports_needs_no_table_of_all_pairs():
    size = 30_000
    spec = {**FEW, "domain": {"integers": [1, size]}, "outputs": [0, 9], "rows": [["3", "2"], ["2", "3"]] * (size // 2)}
    mechanism = bp.from_spec(spec)
    assert mechanism.lottery.tickets.nbytes == size * 2 * 8
    assert bp.verify(mechanism).ratio == Fraction(3, 2)


def test_a_set_that_wastes_tickets_still_keeps_epsilon():
    """The promise is about ratios: tickets below the most that ε allows are honest."""
    spec = changed(MINIMAX, "sets", 0, "tickets", "near", to="1000")
    spec["sets"][0]["tickets"]["far"] = "999"
    assert bp.verify(bp.from_spec(spec)).holds


def test_a_circle_of_products_is_refused_before_it_is_followed():
    endless = {"parts": [], "weights": [1, 1], "losses": [1, 1], "bits": 1}
    endless["parts"] = [{"product": endless}, {"product": endless}]
    with pytest.raises(SpecError, match="parts that are not products themselves"):
        bp.from_spec({**PAIRS, "domain": {"product": endless}})


def test_odd_chances_of_rappor_are_refused():
    spec = bp.RAPPOR(bp.Integers(18, 90), epsilon_permanent=2, p="0.5", q="0.75").to_spec()
    for odd in ({"one": "x", "zero": "1"}, [], {"one": "1"}):
        with pytest.raises(
            SpecError, match="Expected permanent as {'one': '…', 'zero': '…'}, whole numbers as strings"
        ):
            bp.from_spec(spec | {"permanent": odd})


def test_counts_that_run_over_whole_numbers_are_refused():
    # Equal counts whose sum is 2^64 + 2^51: added up in 64 bits they would look like an honest row.
    size = 4801
    count, rest = divmod(2**64 + 2**51, 2 * size - 1)
    spec = bp.Laplace(bp.Interval(0, 1, points=size), 1, clamped=True).to_spec()
    assert count < 10**16
    noise = [str(count)] * size
    noise[0] = str(count + rest)
    assert (2 * size - 1) * count + rest == 2**64 + 2**51
    with pytest.raises(BrokenPromiseError, match="at most 2\\^52 in all"):
        bp.from_spec(changed(spec, "noise", to=noise))
    # 2048·2^53 = 2^64, which 64 bits hold as 0: a little more looks like any total.
    rows = np.full((2048, 2048), 2**53, dtype=np.int64)
    rows[:, 0] += 2**40
    assert rows.sum(axis=1).max() == 2**40
    assert totals_of(rows) is None


@pytest.mark.parametrize("name", [name for name in ROWS_OF_BITS if name.endswith("on integers")])
def test_numbers_that_do_not_follow_from_epsilon_are_refused(name):
    spec = made(name).to_spec()
    for field in ("chances", "tickets", "instantaneous"):
        if field in spec:
            key, count = next(iter(spec[field].items()))
            with pytest.raises((BrokenPromiseError, SpecError)):
                bp.from_spec(spec | {field: spec[field] | {key: str(int(count) - 1)}} | {"epsilon": "0.25"})
    if "tickets" in spec:
        broken = spec["tickets"] | {"near": str(2 * int(spec["tickets"]["near"]))}
        with pytest.raises(BrokenPromiseError, match="Expected the numbers that follow from ε=.*; do not report"):
            bp.from_spec(spec | {"tickets": broken})
