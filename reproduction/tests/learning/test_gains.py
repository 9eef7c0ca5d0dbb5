import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bipartite.learn.boosting.leaves import UNIT
from bipartite.learn.boosting.splits import SplitRule
from reproduction.learning.compiled_gains import GAIN_BITS, MOST_FALL, MOST_RISE, WIDTH, gains, half_gain, histograms

ONE = 2**GAIN_BITS
TENTH = Fraction(1, 10)


def exact_half(count, total, lam):
    return Fraction(total, UNIT) ** 2 / (count + lam)


@given(st.integers(0, 2**20), st.fractions(-1, 1), st.sampled_from(["1/10", "1/1000", "1", "999/1000", "1000"]))
def test_half_a_gain_is_the_formula_rounded_down(count, share, lam):
    lam = Fraction(lam)
    total = int(share * count * UNIT)
    computed = half_gain(count, total, lam.numerator, lam.denominator)
    assert computed == int(exact_half(count, total, lam) * ONE)


def test_the_largest_gains_of_the_most_records_fit():
    # n²·2^10·10 just below 2^64 with λ = 1/10.
    count = 42_000_000
    assert half_gain(count, count * UNIT, 1, 10) == int(exact_half(count, count * UNIT, Fraction(1, 10)) * ONE)


@pytest.mark.parametrize("lam", [Fraction(1, 1000), Fraction(1, 10), Fraction(1), Fraction(10)])
def test_one_record_more_moves_a_gain_by_no_more_than_stated(lam):
    # Brute force over counts, sums and gradients; sums and gradients of odd units, so that floors are met.
    rises, falls = [], []
    shares = [Fraction(k, 6) for k in range(-6, 7)]
    for count, share, gradient in itertools.product([0, 1, 2, 3, 4, 5, 7, 10, 100, 10_000], shares, shares):
        total = int(share * count * UNIT)
        change = half_gain(count + 1, total + int(gradient * UNIT), lam.numerator, lam.denominator) - half_gain(
            count, total, lam.numerator, lam.denominator
        )
        rises.append(change)
        falls.append(-change)
    assert max(rises) <= MOST_RISE * ONE
    assert max(falls) <= MOST_FALL * ONE
    # Both bounds are nearly met, so that smaller ones would be wrong.
    assert max(rises) > 0.99 * MOST_RISE * ONE
    assert max(falls) > 0.99 * MOST_FALL * ONE


@given(st.integers(0, 40), st.integers(1, 3), st.integers(1, 4), st.randoms(use_true_random=False))
def test_histograms_and_gains_are_those_of_plain_python(records, features, nodes, random):
    widths = [random.randint(2, 5) for _ in range(features)]
    bins = np.array([[random.randrange(w) for w in widths] for _ in range(records)], dtype=np.uint8)
    bins = bins.reshape(records, features)
    of_node = np.array([random.randrange(nodes) for _ in bins], dtype=np.int64)
    gradients = np.array([random.randint(-UNIT, UNIT) for _ in bins], dtype=np.int64)
    counts, sums = (np.zeros((nodes, features, max(widths)), dtype=np.int64) for _ in range(2))
    histograms(bins, of_node, gradients, counts, sums)
    computed = np.empty((nodes, sum(widths) - features), dtype=np.int64)
    gains(counts, sums, np.array(widths, dtype=np.int64), 1, 10, computed)
    for node in range(nodes):
        expected = []
        for feature, width in enumerate(widths):
            for cut in range(width - 1):
                total = 0
                for left in (True, False):
                    side = [
                        int(g)
                        for row, k, g in zip(bins, of_node, gradients, strict=True)
                        if k == node and (row[feature] <= cut) == left
                    ]
                    total += int(Fraction(sum(side), UNIT) ** 2 / (len(side) + TENTH) * 2**GAIN_BITS)
                expected.append(total)
        assert computed[node].tolist() == expected


def test_the_range_that_the_exponential_mechanism_counts_on_is_nearly_used():
    # A record that fits in with one side of the first cut and against one of the second: gains move by +1 and −3.
    laws, rule = [], SplitRule(Fraction(1), WIDTH)
    for more in ([], [(1, UNIT)]):
        records = [(0, -UNIT)] * 4000 + [(2, UNIT)] * 4000 + more
        bins = np.array([[b] for b, _ in records], dtype=np.uint8)
        gradients = np.array([g for _, g in records], dtype=np.int64)
        counts, sums = np.zeros((1, 1, 3), dtype=np.int64), np.zeros((1, 1, 3), dtype=np.int64)
        histograms(bins, np.zeros_like(gradients), gradients, counts, sums)
        utilities = np.empty((1, 2), dtype=np.int64)
        gains(counts, sums, np.array([3]), 1, 10, utilities)
        laws.append((utilities[0], rule.law(utilities[0])))
    change = laws[1][0] - laws[0][0]
    assert (change / 2**GAIN_BITS).round(2).tolist() == [1.0, -3.0]
    ratios = [laws[a][1][cut][1] / laws[b][1][cut][0] for cut in (0, 1) for a, b in ((0, 1), (1, 0))]
    # Below e, and above e^0.5: the two cuts share what they lose and gain.
    assert 1.64 < max(ratios) < 2.7183
