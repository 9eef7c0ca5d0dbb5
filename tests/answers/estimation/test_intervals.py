"""Intervals for reports of every kind, also those that no population would give: they end where they begin or later."""

import math

import numpy as np
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

import bipartite as bp
from tests.answers.estimation.test_goodness import SETS

LINES = [
    bp.BRR(bp.Integers(18, 50), epsilon=1),
    bp.BRR(bp.Integers(1, 9), epsilon=0.5),
    bp.BRR(bp.Integers(1, 9), epsilon=2, edges="padded"),
    bp.GRR(bp.Integers(1, 5), epsilon=1),
    bp.Anchored(bp.Integers(0, 20), epsilon=2),
    bp.Geometric(bp.Integers(0, 10), epsilon=1),
    bp.Exponential(bp.Interval(0, 1, points=7), epsilon=1),
]


@st.composite
def estimates(draw, mechanisms):
    """Of any counts of outputs: all alike, few, many, most of them none."""
    mechanism = draw(st.sampled_from(mechanisms))
    size = len(mechanism.outputs)
    some = draw(st.dictionaries(st.integers(0, size - 1), st.sampled_from([1, 2, 49, 50, 20_000, 10**12]), min_size=1))
    counts = np.zeros(size, dtype=np.int64)
    counts[list(some)] = list(some.values())
    try:
        return bp.estimate(mechanism, counts=counts)
    except bp.errors.SpecError:  # an output that is never reported
        reject()


def holds_together(interval):
    low, high = interval
    return math.isfinite(low) and math.isfinite(high) and low <= high


def shares_hold_together(found, confidence):
    frame = found.to_frame(confidence=confidence)
    low, high = frame[["low", "high"]].to_numpy().T
    if (frame["note"] != "").all():
        assert np.isnan(low).all() and np.isnan(high).all()
    else:
        assert np.isfinite(low).all() and np.isfinite(high).all() and (low <= high).all()


@given(estimates(LINES), st.sampled_from([0.5, 0.95, 1 - 1e-9]))
def test_no_interval_on_a_line_ends_before_it_begins(found, confidence):
    domain = found.mechanism.domain
    values = [domain.decode(at) for at in (0, len(domain) // 2, len(domain) - 1)]
    asked = ["mean", "variance", "median", ("quantile", 0.01), ("quantile", 0.99), np.arange(len(domain)) % 3]
    asked += [(kind, value) for kind in ("cdf", "bin") for value in values]
    for of in asked:
        assert holds_together(found.ask(of).ci(confidence)), of
    shares_hold_together(found, confidence)


@given(estimates(SETS), st.sampled_from([0.5, 0.95]))
def test_no_interval_of_a_set_ends_before_it_begins(found, confidence):
    for of in (("bin", found.mechanism.domain.decode(0)), np.arange(len(found.mechanism.domain)) % 3):
        assert holds_together(found.ask(of).ci(confidence)), of
    shares_hold_together(found, confidence)


def test_reports_that_are_all_alike_have_an_interval_and_are_doubted():
    """``yes 20 | bipartite estimate``: 20,000 reports that no people would give."""
    clamped = bp.BRR(bp.Integers(18, 90), epsilon=1)
    found = bp.estimate(clamped, [20] * 20_000)
    shown = {"variance": found.ask("variance").value, ("cdf", 18): found.cdf(18), ("bin", 20): found.shares[2]}
    shown |= {("quantile", q): found.quantile(q) for q in (0.01, 0.99)}
    inside = [(found.ask(of).ci(), value) for of, value in shown.items()]
    inside += [((low, high), share) for _, _, share, low, high, _ in found.to_frame(bins=10).itertuples(index=False)]
    assert all(low - 1e-9 <= value <= high + 1e-9 for (low, high), value in inside)
    interval = found.ask().ci()
    # 20 is likeliest for those whose window holds it: from 18 to 20 + m//2 = 33, which the reports cannot tell apart.
    assert interval == pytest.approx((18, 33), abs=0.1) and interval.low <= found.mean <= interval.high
    assert "cannot tell all values apart" in interval.note
    low, high = found.ask("median").ci()
    assert (low, high) == (18, 33) and low <= found.median <= high
    assert "cannot have come from this mechanism" in found.summary()
    assert (
        found.check.doubt in found.summary() and "100.00%" in found.check.doubt and "at most 2.28%" in found.check.doubt
    )
    empty = bp.estimate(clamped, counts=np.where(np.arange(73) == 50, 0, 1000))
    assert "one value is 0.00% of them, but should be at least 0.84% for any population" in empty.check.doubt


def test_few_flat_reports_have_hoeffdings_width_for_both_sides():
    """Flat categories are known by their counts, and below 50 reports no law of averages is used."""
    mechanism = bp.OUE(bp.Integers(0, 1), 1)
    counts = bp.Counts(mechanism).add(mechanism.privatize([0] * 20, rng=bp.insecure_seed(1)))
    answer = bp.estimate(mechanism, counts=counts, method="inverse").ask(("bin", 0))
    low, high = answer.uncut(0.9)
    # Two bits of weight ±1/2 in units of 1/(p − q), whose tails are those of a number of this range.
    p, q = map(float, mechanism.support)
    k = [(1 - 2 * each) / (2 * math.log((1 - each) / each)) if each != 0.5 else 0.25 for each in (p, q)]
    spread = math.sqrt(4 * (0.25 * (k[0] + k[1])) / (p - q) ** 2 + 1)
    half = spread * math.sqrt(math.log(2 / 0.1) / (2 * 20))
    assert (high - low) / 2 == pytest.approx(half, rel=1e-6)
