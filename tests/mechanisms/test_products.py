"""Mechanisms on products: near pairs, promises, laws and the best release, against brute force."""

import itertools
import math
import random

import numpy as np
import pytest
from scipy.optimize import linprog

import bipartite as bp
from bipartite import (
    BRR,
    GRR,
    OLH,
    OUE,
    RAPPOR,
    SUE,
    Anchored,
    Constant,
    Exponential,
    HadamardResponse,
    Integers,
    Interval,
    Items,
    Optimal,
    Points,
    Product,
    SubsetSelection,
)
from bipartite.errors import DesignError, DomainError
from bipartite.mechanisms.design import m_of_sets
from bipartite.mechanisms.design.anchor_losses import AnchorLosses
from bipartite.mechanisms.design.m_of_sets import algorithm_2
from tests.mechanisms.categories import laws

GENRES = Items(["jazz", "blues", "metal"], loss=[[0, 1, 5], [1, 0, 4], [5, 4, 0]])
LINES = Product(Integers(0, 4), Integers(0, 3))
MIXED = Product(Integers(18, 21), GENRES)
SETS = Product(GENRES, Points([[0, 0], [3, 4], [6, 8]]))
THREE = Product(Integers(0, 2), GENRES, Interval(0, 1, points=3))
ROUND = Product(bp.Cyclic(6, start=1), Integers(0, 2))
PRODUCTS = [LINES, MIXED, SETS, THREE, ROUND]
FLAT = [OUE, SUE, OLH, SubsetSelection, HadamardResponse]
every_product = pytest.mark.parametrize("product", PRODUCTS, ids=repr)


@pytest.mark.grid(10)
@every_product
@pytest.mark.parametrize("m", [1, 4, "safe", "best"])
def test_the_near_pairs_are_those_of_the_least_combined_loss(product, m):
    mechanism = BRR(product, 1, m=m)
    for x in range(len(product)):
        losses = product.losses(x)
        order = sorted(range(len(product)), key=lambda y: (losses[y], y != x, y))
        near = np.flatnonzero(mechanism.matrix()[x] > mechanism.matrix()[x].min())
        assert near.tolist() == sorted(order[: mechanism.m])


@every_product
@pytest.mark.parametrize("epsilon", ["0.5", "1", "4"])
def test_the_safe_m_is_that_of_algorithm_2(product, epsilon):
    assert BRR(product, epsilon).m == algorithm_2(product.loss_matrix().tolist(), epsilon).m


@pytest.mark.grid(3)
@pytest.mark.parametrize("product", [LINES, MIXED, SETS], ids=repr)
@pytest.mark.parametrize("epsilon", [0.5, 2])
def test_the_optimum_is_that_of_a_linear_programme_over_the_definition(product, epsilon):
    size, losses = len(product), product.loss_matrix()
    variable = np.arange(size * size).reshape(size, size)
    rows, columns, entries, count = [], [], [], 0
    for y, x, other in itertools.product(range(size), repeat=3):
        if x != other:
            rows += [count, count]
            columns += [variable[x, y], variable[other, y]]
            entries += [1.0, -math.exp(epsilon)]
            count += 1
    from scipy.sparse import csr_array

    keeps = csr_array((entries, (rows, columns)), shape=(count, size * size))
    sums = np.kron(np.eye(size), np.ones(size))
    best = linprog(losses.ravel() / size, keeps, np.zeros(count), sums, np.ones(size), bounds=(0, 1), method="highs")
    assert bp.loss(Optimal(product, epsilon)).mean == pytest.approx(best.fun, rel=1e-6)
    anchored = Anchored(product, epsilon)
    assert anchored.lower_bound <= best.fun * (1 + 1e-9)
    assert best.fun * (1 - 1e-9) <= bp.loss(anchored).mean <= anchored.lower_bound * (1 + anchored.gap) + 1e-9


def test_a_law_test_refuses_what_is_no_report_of_each():
    mechanism = GRR(MIXED, 1)
    law = {"matrix": mechanism.matrix(), "inputs": list(MIXED), "outputs": list(MIXED)}
    with pytest.raises(bp.errors.InputError, match=r"Expected 100 reports for 100 values, got shape \(99, 2\)"):
        bp.law_test(lambda values: mechanism.privatize(values)[1:], **law, trials=100)
    assert not bp.law_test(lambda values: list(range(len(values))), **law, trials=100).holds


@pytest.mark.grid(1)
@pytest.mark.parametrize(
    "kind", [BRR, GRR, Anchored, SubsetSelection, HadamardResponse], ids=lambda kind: kind.__name__
)
def test_audits_find_most_of_epsilon_and_no_more(kind):
    # The bound is wrong with probability 1e-9 at most.
    found = bp.audit(kind(MIXED, 1), ((18, "jazz"), (21, "metal")), trials=20_000, confidence=1 - 1e-9)
    assert found.holds
    assert found.epsilon_lower > 0.5
    leaky = kind(MIXED, 3)
    assert not bp.audit(leaky, ((18, "jazz"), (21, "metal")), trials=20_000, confidence=1 - 1e-9, epsilon=1).holds


def test_flat_oracles_estimate_the_cells():
    values = [(18, "jazz")] * 3000 + [(20, "metal")] * 6000 + [(21, "blues")] * 1000
    true = np.zeros(len(MIXED))
    true[[MIXED.encode(value) for value in ((18, "jazz"), (20, "metal"), (21, "blues"))]] = 0.3, 0.6, 0.1
    for mechanism in [kind(MIXED, 2) for kind in FLAT] + [RAPPOR(MIXED, epsilon_permanent=4, p="0.3", q="0.7")]:
        shares, errors = laws.shares(mechanism, mechanism.privatize(values, rng=bp.insecure_seed(3)))
        # Seeded; 12 cells within 6 standard errors: a false alarm has probability below 1e-7.
        assert (np.abs(shares - true) < 6 * errors).all()


def test_values_estimate_the_cells():
    values = [(18, "jazz")] * 3000 + [(20, "metal")] * 7000
    mechanism = GRR(MIXED, 2)
    reports = mechanism.privatize(values, rng=bp.insecure_seed(3))
    est = bp.estimate(mechanism, reports)
    low, high = est.ask(("bin", (20, "metal"))).ci(1 - 1e-9)
    assert low < 0.7 < high
    frame = est.to_frame()
    assert frame["value"].tolist() == list(MIXED)
    assert "(20, 'metal')" in est.summary()
    assert "row" not in est.summary()
    ages, genres = zip(*reports, strict=True)
    again = bp.estimate(mechanism, (np.array(ages), np.array(genres)))
    assert np.array_equal(again.shares, est.shares)
    gaps = bp.estimate(mechanism, [*reports, None, (18, None)], nulls="drop")
    assert np.array_equal(gaps.shares, est.shares)
    anchored = Anchored(MIXED, 2)
    drawn = anchored.privatize(values[:100])
    assert bp.estimate(anchored, drawn).nobs == 100
    for wrong in ([(17, "jazz")], [(18.5, "jazz")], [(18, "rock")]):
        with pytest.raises(bp.errors.OutsideDomainError, match="cannot have come from GRR"):
            bp.estimate(mechanism, wrong)
    with pytest.raises(bp.errors.InputError, match=r"got tuple; pass \[report\]"):
        bp.estimate(mechanism, (18, "jazz"))


def test_one_constant_answer_is_a_pair():
    assert Constant(MIXED).privatize((18, "metal")) in MIXED


def test_what_looks_at_every_two_values_says_how_many_it_takes():
    large = Product(Integers(1, 1000), Integers(1, 1000))
    for kind in (BRR, Anchored):
        with pytest.raises(DomainError, match="at most 131072 values of lines to compare all pairs"):
            kind(large, 1)
    with pytest.raises(DesignError):
        Exponential(large, 1)
    for kind in (GRR, OLH, HadamardResponse):
        assert kind(large, 1).privatize((1000, 1)) is not None


def test_a_product_may_be_an_attribute_of_a_record():
    record = bp.Record({"who": BRR(MIXED, 1), "visits": GRR(Integers(0, 9), 1), "what": OUE(LINES, 1)})
    one = record.privatize({"who": (18, "jazz"), "visits": 3, "what": (0, 3)})
    assert one["who"] in MIXED
    people = {"who": [(18, "jazz"), (20, "metal")] * 200, "visits": [1, 2] * 200, "what": [(0, 3), (4, 0)] * 200}
    reports = record.privatize(people, rng=bp.insecure_seed(1))
    assert set(reports["who"]) <= set(MIXED)
    found = bp.estimate(record, reports)
    assert {name: each.nobs for name, each in found.items()} == {"who": 400, "visits": 400, "what": 400}
    again = bp.estimate(record, [dict(zip(reports, row, strict=True)) for row in zip(*reports.values(), strict=True)])
    assert np.array_equal(found["who"].shares, again["who"].shares)
    sampled = bp.Record({"who": BRR(MIXED, 1), "visits": GRR(Integers(0, 9), 1)}, sample=1)
    drawn = sampled.privatize({name: people[name] for name in ("who", "visits")}, rng=bp.insecure_seed(1))
    assert sum(each is not None for each in drawn["who"]) == bp.estimate(sampled, drawn)["who"].nobs
    with pytest.raises(
        bp.errors.InputError, match=r"who: Expected tuples as a list, got ndarray; pass \[\(first, second"
    ):
        record.privatize({**people, "who": np.zeros((400, 2), dtype=int)})


@every_product
def test_compiled_and_plain_searches_find_the_same(product, monkeypatch):
    plain = BRR(product, 1).m
    monkeypatch.setattr(m_of_sets, "_COMPILE_FROM", 0)
    assert BRR(product, 1).m == plain
    losses = [AnchorLosses(product, None, compiled=compiled) for compiled in (True, False)]
    chosen = np.array([0, len(product) - 1])
    tables = [each.table(np.arange(len(product)), chosen) for each in losses]
    assert np.array_equal(tables[0], tables[1])
    assert np.array_equal(tables[0], product.loss_matrix()[:, chosen])


def test_odd_values_give_an_error_or_a_report_inside_the_outputs():
    rng = random.Random(20261116)
    odd = [None, True, "", 20.5, math.nan, math.inf, 10**400, np.int8(19), np.float32(0.5), (), [], {}, "rock"]
    mechanisms = [BRR(MIXED, 1), GRR(THREE, 1), Anchored(LINES, 1)]
    reported = 0
    for _ in range(2000):
        mechanism = rng.choice(mechanisms)
        value = tuple(rng.choice(odd) if rng.random() < 0.2 else each for each in rng.choice(mechanism.domain))
        value += (1,) * (rng.random() < 0.1)
        values = rng.choice([value, [value], [value, value], (np.array([18, 19]), value), {"a": value}])
        try:
            report = mechanism.privatize(values)
        except (bp.errors.InputError, bp.errors.DataError):
            continue
        reported += 1
        assert all(each in mechanism.outputs for each in (report if isinstance(report, list) else [report]))
    assert reported > 20


@pytest.mark.parametrize("value", [(18, "jazz"), (18.0, "jazz"), (np.uint8(18), "jazz")], ids=repr)
def test_the_type_of_a_report_tells_nothing_of_the_value(value):
    mechanism = BRR(MIXED, 1)
    assert [type(part) for part in mechanism.privatize(value)] == [int, str]
    assert {type(part) for pair in mechanism.privatize([value, (20, "metal")]) for part in pair} == {int, str}
    ages, genres = mechanism.privatize((np.array([value[0], 20]), np.array([value[1], "metal"])))
    assert (ages.dtype, genres.dtype) == (np.int64, np.dtype("U5"))
    kept, _ = mechanism.privatize((np.array([value[0], np.nan]), np.array(["jazz", "metal"])), nulls="keep")
    assert kept.dtype == np.float64
