"""Every mechanism on small domains, by enumeration of all its reports: ratio, unbiasedness, variance, in fractions."""

import itertools
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import bipartite as bp
from bipartite.lottery import Tickets
from bipartite.mechanisms.categories import hashing, olh
from tests.mechanisms.categories import laws

SIZES = (2, 3, 4, 5)
EPSILONS = ("0.1", "1", "3.5")


def law_of(mechanism):
    """({report key: [Pr[report|x] for x]}, {report key: its counts by the package})."""
    size = len(mechanism.domain)
    if isinstance(mechanism, bp.SubsetSelection):
        law = laws.subsets(size, mechanism.k, mechanism.draw.tickets.near, mechanism.draw.tickets.far)
    elif isinstance(mechanism, bp.HadamardResponse):
        return hadamard_law(mechanism)
    elif isinstance(mechanism, bp.OLH):
        return hashing_law(mechanism)
    else:
        law = laws.unary(size, *mechanism.support)
    return law, {bits: mechanism.count(laws.packed(bits)[None]) for bits in law}


def hadamard_law(mechanism):
    size, b = len(mechanism.domain), mechanism.block_size
    law = {}
    for y in range(mechanism.numbers):
        row = []
        for x in range(size):
            block, v = divmod(x, b - 1)
            held = y // b == block and ((v + 1) & (y % b)).bit_count() % 2 == 0
            row.append(Fraction(mechanism.draw.tickets.near if held else mechanism.draw.tickets.far))
        law[y] = row
    totals = [sum(row[x] for row in law.values()) for x in range(size)]
    law = {y: [chance / totals[x] for x, chance in enumerate(row)] for y, row in law.items()}
    return law, {y: mechanism.count(np.array([y], dtype=np.uint32)) for y in law}


def hashing_law(mechanism):
    size, g = len(mechanism.domain), mechanism.buckets
    near, far = mechanism.draw.tickets.near, mechanism.draw.tickets.far
    digits = mechanism.draw.family.digits
    assert mechanism.draw.family.seeds == [digits]
    law, supports = {}, {}
    for seed, bucket in itertools.product(range(g**digits), range(g)):
        row = []
        for x in range(size):
            value, rest, hashed = x, seed, 0
            while value:
                value, low = divmod(value, mechanism.draw.family.base)
                rest, factor = divmod(rest, g)
                hashed += factor * low
            row.append(Fraction(near if hashed % g == bucket else far, (near + (g - 1) * far) * g**digits))
        law[seed, bucket] = row
        supports[seed, bucket] = mechanism.count(np.array([[seed, bucket]], dtype=np.uint64))
    return law, supports


def every_mechanism():
    for size, epsilon in itertools.product(SIZES, EPSILONS):
        domain = bp.Integers(1, size)
        for kind in (bp.OUE, bp.SUE, bp.SubsetSelection, bp.HadamardResponse):
            yield kind(domain, epsilon)
        yield bp.RAPPOR(domain, epsilon_permanent=epsilon, p="0.2", q="0.7")
        if epsilon != "3.5":  # 34 buckets have more seeds than are worth enumerating
            yield bp.OLH(domain, epsilon)
    yield bp.OLH(bp.Integers(1, 5), 1, buckets=6)
    yield bp.OLH(bp.Integers(1, 10), 1, buckets=3)
    yield bp.SubsetSelection(bp.Integers(1, 6), 1, k=4)
    yield bp.HadamardResponse(bp.Integers(1, 9), 8)


@pytest.mark.grid(30)
@pytest.mark.parametrize("mechanism", list(every_mechanism()), ids=repr)
def test_the_law_the_certificate_the_estimate_and_its_variance_agree_with_enumeration(mechanism):
    size = len(mechanism.domain)
    law, supports = law_of(mechanism)
    assert all(sum(row[x] for row in law.values()) == 1 for x in range(size))

    if isinstance(mechanism, bp.RAPPOR):
        assert laws.largest_ratio(law) == mechanism.largest_ratio_of_one_report()
        assert mechanism.largest_ratio_of_one_report() < mechanism.largest_ratio()
    else:
        assert laws.largest_ratio(law) == bp.verify(mechanism).ratio
    assert bp.verify(mechanism).holds

    p, q = mechanism.support
    mean, variance = laws.moments(law, supports, size)
    assert all(mean[x][z] == (p if x == z else q) for x in range(size) for z in range(size))

    # Three people with values 0, 0 and the last: the variance of a sum is the sum of the variances.
    people = [0, 0, size - 1]
    shares = np.bincount(people, minlength=size) / 3
    true = [float(sum(variance[x][z] for x in people) / (3 * (p - q)) ** 2) for z in range(size)]
    np.testing.assert_allclose(mechanism.variances(shares, 3), true, rtol=1e-12)
    # (mean·3 supports in, true shares out): unbiased.
    expected = [sum(mean[x][z] for x in people) for z in range(size)]
    unbiased = [float((e / 3 - q) / (p - q)) for e in expected]
    np.testing.assert_allclose(unbiased, shares, atol=1e-15)


@pytest.mark.parametrize(("size", "buckets"), [(10, 2), (10, 4), (9, 6), (13, 9), (6, 5), (7, 12), (4, 35)])
def test_two_values_collide_with_chance_one_in_g_exactly(size, buckets):
    family = hashing.HashFamily(size, buckets)
    if buckets**family.digits > 300_000:
        pytest.fail("too many seeds to enumerate")
    seeds = np.arange(buckets**family.digits, dtype=np.uint64)[:, None]
    factors = family.factors(seeds)
    hashes = [family.hash(factors, np.full(len(seeds), x)) for x in range(size)]
    for x, y in itertools.combinations(range(size), 2):
        # Stronger than asked: the difference of two hashes is uniform.
        differences = np.bincount((hashes[x] - hashes[y]) % buckets, minlength=buckets)
        assert set(differences.tolist()) == {len(seeds) // buckets}


def test_a_modulo_after_a_prime_field_would_be_biased():
    # The family that is often named: its collisions are not 1/g, which is why it is not used.
    p, g = 7, 4
    collisions = sum(((3 * a + b) % p) % g == ((a + b) % p) % g for a in range(p) for b in range(p))
    assert Fraction(collisions, p * p) != Fraction(1, g)


@pytest.mark.parametrize(("size", "buckets"), [(5, 3), (4, 4), (3, 2)])
def test_the_draw_of_olh_is_its_law(size, buckets, monkeypatch):
    mechanism = bp.OLH(bp.Integers(0, size - 1), 1, buckets=buckets)
    mechanism._set(draw=replace(mechanism.draw, tickets=Tickets(3, 1)))
    seeds = buckets**mechanism.draw.family.digits
    total = 3 + buckets - 1
    # Every seed with every ticket, once: the tickets are fed in the order in which a slab takes them.
    pairs = np.array(list(itertools.product(range(seeds), range(total))), dtype=np.uint64)
    law, _ = hashing_law(mechanism)
    for x in range(size):
        feed = iter([pairs[:, 0], pairs[:, 1]])
        limits = []

        def given(limit, *_, feed=feed, limits=limits):
            limits.append(limit)
            return next(feed)

        monkeypatch.setattr(olh, "draw_below", given)
        reports = mechanism.draw.rows_of(np.full(len(pairs), x), None)
        assert limits == [seeds, total]
        found = Counter(map(tuple, reports.tolist()))
        assert all(Fraction(found[key], len(pairs)) == row[x] for key, row in law.items())


@pytest.mark.parametrize(("size", "epsilon"), [(2, 1), (3, 1), (5, "0.5"), (8, 2), (9, 8), (31, 3)])
@pytest.mark.parametrize("blocks", [None, 1, 2])
def test_the_draw_of_hadamard_response_is_its_law(size, epsilon, blocks):
    mechanism = bp.HadamardResponse(bp.Integers(0, size - 1), epsilon, blocks=blocks)
    mechanism._set(draw=replace(mechanism.draw, tickets=Tickets(7, 2)))
    law, _ = hadamard_law(mechanism)
    tickets = np.arange(mechanism.draw.total, dtype=np.uint64)
    for x in range(size):
        owners = np.bincount(mechanism.draw._owners(np.full(len(tickets), x), tickets), minlength=mechanism.numbers)
        assert [Fraction(int(n), len(tickets)) for n in owners] == [law[y][x] for y in range(mechanism.numbers)]


def test_the_largest_ratio_of_many_reports_approaches_that_of_the_permanent_response():
    mechanism = bp.RAPPOR(bp.Integers(0, 1), f="0.5", p="0.25", q="0.75")
    kept, flipped = 1 - mechanism.f / 2, mechanism.f / 2
    assert mechanism.largest_ratio() == (kept / flipped) ** 2
    one, zero = Fraction(3, 4), Fraction(1, 4)

    def ratio(reports):
        # The report that tells most: ones always at x, zeros always at x'. Two independent bits.
        seen = kept * one**reports + flipped * zero**reports
        unseen = flipped * one**reports + kept * zero**reports
        return (seen / unseen) ** 2

    assert ratio(1) == mechanism.largest_ratio_of_one_report()
    assert ratio(1) < ratio(2) < ratio(10) < ratio(40) < mechanism.largest_ratio()
    assert float(ratio(40) / mechanism.largest_ratio()) == pytest.approx(1)
