"""L-SRR against its own formulas: as published it breaks its ε and says so everywhere; calibrated it keeps it."""

import copy
import itertools
import math
import pickle
from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bipartite import Integers, Points, Record, verify
from bipartite.errors import BrokenPromiseError, DesignError, EpsilonError, InputError
from reproduction.places import PublishedLSRR, from_spec, lsrr
from reproduction.places.lsrr import (
    best_thresholds,
    calibrated_rows,
    group_sizes,
    mean_sizes,
    number_of_groups,
    published_rows,
    ranked_rows,
)
from reproduction.places.tiles import BITS, tile_codes
from tests.locations.worlds import authors_places, places
from tests.oracle import exp, number
from tests.rivals import SCRIPT_THRESHOLDS
from tests.strategies import epsilons

CITIES = Points([[52.5, 13.4], [48.9, 2.35], [51.5, -0.13], [40.4, -3.7], [41.9, 12.5]], metric="haversine")
FOUR = [0b000 << 43, 0b001 << 43, 0b010 << 43, 0b100 << 43]


def realised_ratio(rows):
    """The largest ratio of two probabilities of one report: e to the ε that a matrix P[x, y] really keeps."""
    return float((rows.max(axis=0) / rows.min(axis=0)).max())


@st.composite
def code_lists(draw, most=9):
    """Few bits in use, so that places share prefixes and tiles; where they stand in the code varies."""
    shift = draw(st.sampled_from([0, 20, BITS - 6]))
    common = draw(st.sampled_from([0, 1])) << (BITS - 1) if shift < BITS - 6 else 0
    return [common | code << shift for code in draw(st.lists(st.integers(0, 63), min_size=2, max_size=most))]


@st.composite
def thresholds(draw):
    """Any falling thresholds that end in 0, most where the codes above differ."""
    bits = st.one_of(st.integers(1, 6), st.integers(20, 26), st.integers(1, BITS))
    return (*sorted(draw(st.sets(bits, min_size=1, max_size=5)), reverse=True), 0)


@st.composite
def codes_and_sizes(draw):
    codes = draw(code_lists())
    inner = sorted(draw(st.lists(st.integers(1, len(codes) - 1), min_size=1, max_size=4)))
    return codes, tuple(high - low for low, high in itertools.pairwise([0, *inner, len(codes)]))


def shared(a, b):
    """The common first bits of two codes, character by character."""
    pairs = zip(format(a, "046b"), format(b, "046b"), strict=True)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))


def groups_by_looking(codes, bounds, x):
    """G_1(x), …, G_m(x) as sets of indices, straight from the definition."""
    groups = []
    for bound in bounds:
        near = {y for y in range(len(codes)) if shared(codes[x], codes[y]) >= bound}
        groups.append(near.difference(*groups))
    return groups


def row_by_formula(codes, epsilon, bounds, x):
    """One published row in exact fractions of a double's e^ε, from the formulas of the paper."""
    e, m, d = Fraction(math.exp(float(epsilon))), len(bounds), len(codes)
    groups = groups_by_looking(codes, bounds, x)
    r = sum((j - 1) * len(group) for j, group in enumerate(groups, start=1))
    least = (m - 1) / ((m - 1) * d * e - (e - 1) * r)
    step = (e * least - least) / (m - 1)
    row = {y: e * least - j * step for j, group in enumerate(groups) for y in group}
    assert sum(row.values()) == 1
    return [float(row[y]) for y in range(d)]


def objective(codes, bounds):
    """Σ_x Σ_j β_j |G_j(x)|, with the bits that all share in place of the last threshold."""
    common = min(shared(a, b) for a in codes for b in codes)
    counted = (*bounds[:-1], common)
    rows = (groups_by_looking(codes, bounds, x) for x in range(len(codes)))
    return sum(beta * len(group) for groups in rows for beta, group in zip(counted, groups, strict=True))


@given(epsilons, st.integers(2, 10**6))
def test_the_number_of_groups_is_the_formula_rounded(epsilon, size):
    e = math.exp(float(epsilon))
    formula = 2 * (e * size - math.e * e) / ((e - 1) * size)
    found = number_of_groups(epsilon, size)
    # Half a group, and what the textbook formula loses to rounding for small ε.
    assert found == 2 or (found > 2 and abs(found - formula) <= 0.5 + 1e-9 * formula)


@given(code_lists(), epsilons, thresholds())
def test_published_rows_are_the_formulas_of_the_paper(codes, epsilon, bounds):
    rows = published_rows(codes, epsilon, bounds)
    for x, row in enumerate(rows):
        assert row == pytest.approx(row_by_formula(codes, epsilon, bounds, x), rel=1e-9)
    sizes = group_sizes(codes, bounds).tolist()
    assert sizes == [[len(group) for group in groups_by_looking(codes, bounds, x)] for x in range(len(codes))]


def test_published_rows_break_their_epsilon():
    # By hand, E = e: place 0 has groups of 1, 2 and 1, so α_max = E/(2E + 2); place 3 has 1, 0 and 3: α_min = 1/(E + 3)
    # and α_max = E/(E + 3). In the last column that is E/(E + 3) over 1/(2E + 2).
    ratio = math.e * (2 * math.e + 2) / (math.e + 3)
    assert realised_ratio(published_rows(FOUR, 1, (46, 1, 0))) == pytest.approx(ratio, rel=1e-12)
    assert ratio > math.e * 1.3


@given(code_lists(), thresholds())
def test_mean_sizes_are_within_one_of_the_means(codes, bounds):
    means, sizes = group_sizes(codes, bounds).mean(axis=0), mean_sizes(codes, bounds)
    assert sum(sizes) == len(codes) and sizes[0] >= 1 and min(sizes) >= 0
    assert sizes[-1] >= 1, "the last group gets an item where its mean rounds to none"
    if means[-1] >= 1:
        assert all(abs(size - mean) < 1 for size, mean in zip(sizes, means, strict=True))
    assert mean_sizes([0, 1], (46, 1, 0)) == (1, 0, 1)  # not taken from the first group, which holds x itself


@given(code_lists(most=7), st.integers(2, 5))
def test_best_thresholds_are_the_best_of_all(codes, groups):
    levels = sorted({shared(a, b) for a in codes for b in codes})
    if len(levels) == 1:
        with pytest.raises(DesignError, match="in two tiles or more, got one tile; add places of other tiles"):
            best_thresholds(codes, groups)
        return
    found = best_thresholds(codes, groups)
    assert len(found) == min(groups, len(levels)) and group_sizes(codes, found).any(axis=0).all()
    choices = itertools.combinations(levels[1:], len(found) - 1)
    best = max(objective(codes, (*sorted(choice, reverse=True), 0)) for choice in choices)
    assert objective(codes, found) == best


@given(codes_and_sizes(), epsilons)
def test_calibrated_rows_are_one_staircase_in_the_order_of_each_place(drawn, epsilon):
    codes, sizes = drawn
    e, m = math.exp(float(epsilon)), len(sizes)
    weights = [1 + (m - 1 - j) * (e - 1) / (m - 1) for j in range(m)]
    total = sum(size * weight for size, weight in zip(sizes, weights, strict=True))
    stairs = [weight / total for size, weight in zip(sizes, weights, strict=True) for _ in range(size)]
    rows = ranked_rows(np.array(codes), epsilon, sizes)
    for x, row in enumerate(rows):
        order = sorted(range(len(codes)), key=lambda y, x=x: (-shared(codes[x], codes[y]), y != x, y))
        assert [row[y] for y in order] == pytest.approx(stairs, rel=1e-11)
    assert realised_ratio(rows) == pytest.approx(e, rel=1e-12)


def test_a_large_epsilon_keeps_its_lowest_step():
    for rows in (published_rows([0, 1], 50, (46, 0)), calibrated_rows([0, 1], 50)):
        assert rows.min() == pytest.approx(math.exp(-50), rel=1e-12)


def test_releases_hold_the_rows_of_the_design():
    codes = tile_codes(CITIES.coordinates)
    published = PublishedLSRR(CITIES, "0.7", thresholds=(12, 4, 0)).matrix()
    assert np.abs(published - published_rows(codes, "0.7", (12, 4, 0))).max() < 1e-14
    assert np.abs(lsrr(CITIES, "0.7").matrix() - calibrated_rows(codes, "0.7")).max() < 1e-14


def ratio_of(mechanism):
    rows = [[int(count) for count in row] for row in mechanism.to_spec()["rows"]]
    return max(Fraction(max(column), min(column)) for column in zip(*rows, strict=True))


@given(places(least=2, most=12), epsilons)
def test_published_says_what_it_spends_and_calibrated_keeps_epsilon(domain, epsilon):
    calibrated, published = lsrr(domain, epsilon), PublishedLSRR(domain, epsilon)
    assert verify(calibrated).holds and verify(calibrated).ratio == ratio_of(calibrated)
    assert mpmath.mpf(ratio_of(calibrated).numerator) <= exp(epsilon) * ratio_of(calibrated).denominator
    ratio = ratio_of(published)
    spent = mpmath.log(mpmath.mpf(ratio.numerator) / ratio.denominator)
    keeps = spent <= number(epsilon)
    assert (published.largest_ratio(), published.holds()) == (ratio, keeps)
    text = Decimal(epsilon).normalize()
    if keeps:
        assert published.guarantee == f"ε-LDP of each report with ε = {text:f}"
        assert from_spec(published.to_spec()) == published
        return
    said, _, shown = published.guarantee.rpartition(" ")
    assert said == f"ε-LDP of each report with ε = {text:f} as published, which its rows do not keep: they spend ε ="
    assert spent <= number(shown) <= spent + mpmath.mpf("0.0001") and number(published.ldp_epsilon) >= spent
    with pytest.raises(BrokenPromiseError, match=f"exceed e\\^ε for ε={text:f}; do not report with this spec"):
        from_spec(published.to_spec())


def test_the_published_variant_is_not_blamed_for_rounding():
    """With the default thresholds α_min is the same for these five places: as published it keeps ε."""
    kept = PublishedLSRR(CITIES, 1)
    assert kept.holds()
    assert kept.guarantee == "ε-LDP of each report with ε = 1"


def test_the_published_variant_breaks_its_promise_and_cannot_be_summed():
    broken = PublishedLSRR(CITIES, 1, thresholds=(6, 0))
    assert broken.ldp_epsilon > Decimal("1.41")  # far more than rounding could add
    for twin in (broken, copy.deepcopy(broken), pickle.loads(pickle.dumps(broken))):
        assert twin == broken and not twin.holds()
        with pytest.raises(InputError, match="got PublishedLSRR"):
            Record({"place": twin})
    # An honest ε for the same rows, and they load.
    honest = from_spec({**broken.to_spec(), "epsilon": "1.5"})
    assert honest.holds() and honest.guarantee == "ε-LDP of each report with ε = 1.5"
    # What it spends is the ε of the mechanism of the library with the same tickets.
    assert verify(broken.rows).holds and 1.4 < Record({"place": broken.rows}).epsilon_decimal < Decimal("1.5")


@pytest.mark.data
def test_on_the_authors_places_lsrr_spends_more_than_its_epsilon():
    places = authors_places()
    codes, distances = tile_codes(places.coordinates), np.array([places.losses(x) for x in range(len(places))])
    # ε; with the script's thresholds: realised ε, km as published, km calibrated; the same with the best thresholds.
    for epsilon, script, best in (
        (0.25, (0.296, 2028.6, 2027.7), (0.288, 2025.1, 2025.1)),
        (0.5, (0.602, 1983.1, 1981.0), (0.616, 1945.3, 1945.0)),
        (1, (1.249, 1868.5, 1863.3), (1.382, 1818.7, 1810.2)),
        (2, (2.707, 1559.9, 1547.8), (3.194, 1553.6, 1544.0)),
    ):
        chosen = best_thresholds(codes, number_of_groups(epsilon, len(codes)))
        for bounds, (realised, published_km, calibrated_km) in ((SCRIPT_THRESHOLDS, script), (chosen, best)):
            published = published_rows(codes, epsilon, bounds)
            calibrated = ranked_rows(codes, epsilon, mean_sizes(codes, bounds))
            assert math.log(realised_ratio(published)) == pytest.approx(realised, abs=6e-4)
            assert math.log(realised_ratio(calibrated)) == pytest.approx(epsilon, abs=1e-12)
            assert (published * distances).sum() / len(codes) == pytest.approx(published_km, abs=0.06)
            assert (calibrated * distances).sum() / len(codes) == pytest.approx(calibrated_km, abs=0.06)


FALLING = "decreasing whole numbers from 46 to 0, got .*; use best_thresholds."
BOUNDS = ((), (0,), (6, 6, 0), (3, 6, 0), (47, 0), (6, -1), (6.0, 0), (True, 0), 5, None)
PLANE = Points([[0, 0], [1, 1]])


@pytest.mark.parametrize(
    ("kind", "message", "call", "given"),
    [
        *((DesignError, FALLING, published_rows, (FOUR, 1, wrong)) for wrong in BOUNDS),
        *((DesignError, FALLING, call, (FOUR, (3, 6, 0))) for call in (group_sizes, mean_sizes)),
        (DesignError, "got 6; end with 0, because .* ε would be infinite", published_rows, (FOUR, 1, (10, 6))),
        (DesignError, "metric='haversine'\\): L-SRR needs map tiles; use bp.BRR el", lsrr, (Integers(1, 9), 1)),
        (DesignError, "Expected domain as bp.Points\\(…, metric='haversine", PublishedLSRR, (PLANE, 1)),
        *((InputError, "two or more codes in one row", call, ([3], *more))
          for call, *more in ((best_thresholds, 2), (group_sizes, (6, 0)), (published_rows, 1, (6, 0)),
                              (calibrated_rows, 1))),
        (EpsilonError, "Expected epsilon as a positive decimal", number_of_groups, (0, 10)),
        (EpsilonError, "Expected epsilon as a positive decimal", published_rows, (FOUR, -1, (6, 0))),
        (EpsilonError, "Expected epsilon as a positive decimal", calibrated_rows, (FOUR, math.nan)),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(kind, message, call, given):
    with pytest.raises(kind, match=message):
        call(*given)
