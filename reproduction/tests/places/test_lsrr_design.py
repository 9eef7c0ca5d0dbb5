import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bipartite import Points
from bipartite.errors import DesignError, EpsilonError, InputError
from reproduction.places.lsrr import (
    best_thresholds,
    calibrated_rows,
    group_sizes,
    mean_sizes,
    number_of_groups,
    published_rows,
)
from reproduction.places.tiles import BITS, tile_codes
from tests.locations.worlds import authors_coordinates
from tests.rivals import SCRIPT_THRESHOLDS
from tests.strategies import epsilons

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
    row = [None] * d
    for j, group in enumerate(groups):
        for y in group:
            row[y] = e * least - j * step
    assert sum(row) == 1
    return [float(p) for p in row]


def objective(codes, bounds):
    """Σ_x Σ_j β_j |G_j(x)|, with the bits that all share in place of the last threshold."""
    common = min(shared(a, b) for a in codes for b in codes)
    counted = (*bounds[:-1], common)
    rows = (groups_by_looking(codes, bounds, x) for x in range(len(codes)))
    return sum(beta * len(group) for groups in rows for beta, group in zip(counted, groups, strict=True))


@pytest.mark.parametrize(("epsilon", "groups"), [("0.25", 9), ("0.5", 5), ("1", 3), ("2", 2), ("10", 2), ("0.01", 200)])
def test_a_thousand_places_have_this_many_groups(epsilon, groups):
    assert number_of_groups(epsilon, 1000) == groups


@given(epsilons, st.integers(2, 10**6))
def test_the_number_of_groups_is_the_formula_rounded(epsilon, size):
    e = math.exp(float(epsilon))
    formula = 2 * (e * size - math.e * e) / ((e - 1) * size)
    found = number_of_groups(epsilon, size)
    assert found >= 2
    # Half a group, and what the textbook formula loses to rounding for small ε.
    assert found == 2 or abs(found - formula) <= 0.5 + 1e-9 * formula


@given(code_lists(), epsilons, thresholds())
def test_published_rows_are_the_formulas_of_the_paper(codes, epsilon, bounds):
    rows = published_rows(codes, epsilon, bounds)
    for x, row in enumerate(rows):
        assert row == pytest.approx(row_by_formula(codes, epsilon, bounds, x), rel=1e-9)
    assert rows.sum(axis=1) == pytest.approx(np.ones(len(codes)), abs=1e-12)


@given(code_lists(), epsilons, thresholds())
def test_published_rows_keep_the_ratio_within_a_row_but_not_always_within_a_column(codes, epsilon, bounds):
    rows = published_rows(codes, epsilon, bounds)
    within_rows = (rows.max(axis=1) / rows.min(axis=1)).max()
    assert within_rows <= math.exp(float(epsilon)) * (1 + 1e-12)
    normalisers = rows.diagonal()  # each place is in its own first group
    assert realised_ratio(rows) <= within_rows * normalisers.max() / normalisers.min() * (1 + 1e-12)


def test_published_rows_break_their_epsilon():
    # By hand, E = e: place 0 has groups of 1, 2 and 1, so α_max = E/(2E + 2); place 3 has 1, 0 and 3: α_min = 1/(E + 3)
    # and α_max = E/(E + 3). In the last column that is E/(E + 3) over 1/(2E + 2).
    ratio = math.e * (2 * math.e + 2) / (math.e + 3)
    assert realised_ratio(published_rows(FOUR, 1, (46, 1, 0))) == pytest.approx(ratio, rel=1e-12)
    assert ratio > math.e * 1.3


@given(code_lists(), thresholds())
def test_group_sizes_count_the_groups(codes, bounds):
    sizes = group_sizes(codes, bounds)
    assert sizes.tolist() == [[len(g) for g in groups_by_looking(codes, bounds, x)] for x in range(len(codes))]


@given(code_lists(), thresholds())
def test_mean_sizes_are_within_one_of_the_means(codes, bounds):
    means = group_sizes(codes, bounds).mean(axis=0)
    sizes = mean_sizes(codes, bounds)
    assert sum(sizes) == len(codes)
    assert sizes[0] >= 1 and sizes[-1] >= 1 and min(sizes) >= 0
    if means[-1] >= 1:
        assert all(abs(size - mean) < 1 for size, mean in zip(sizes, means, strict=True))


def test_the_last_group_gets_an_item_where_its_mean_rounds_to_none():
    assert mean_sizes([5] * 6, (10, 6, 0)) == (5, 0, 1)
    assert mean_sizes([0, 1], (46, 1, 0)) == (1, 0, 1)  # not taken from the first group, which holds x itself


@given(code_lists(most=7), st.integers(2, 5))
def test_best_thresholds_are_the_best_of_all(codes, groups):
    levels = sorted({shared(a, b) for a in codes for b in codes})
    if len(levels) == 1:
        with pytest.raises(DesignError, match="in two tiles or more, got one tile; add places of other tiles"):
            best_thresholds(codes, groups)
        return
    found = best_thresholds(codes, groups)
    assert len(found) == min(groups, len(levels))
    assert group_sizes(codes, found).any(axis=0).all()
    choices = itertools.combinations(levels[1:], len(found) - 1)
    best = max(objective(codes, (*sorted(choice, reverse=True), 0)) for choice in choices)
    assert objective(codes, found) == best


@st.composite
def codes_and_sizes(draw):
    codes = draw(code_lists())
    inner = sorted(draw(st.lists(st.integers(1, len(codes) - 1), min_size=1, max_size=4)))
    return codes, tuple(high - low for low, high in itertools.pairwise([0, *inner, len(codes)]))


@given(codes_and_sizes(), epsilons)
def test_calibrated_rows_are_one_staircase_in_the_order_of_each_place(drawn, epsilon):
    codes, sizes = drawn
    e, m = math.exp(float(epsilon)), len(sizes)
    weights = [1 + (m - 1 - j) * (e - 1) / (m - 1) for j in range(m)]
    total = sum(size * weight for size, weight in zip(sizes, weights, strict=True))
    stairs = [weight / total for size, weight in zip(sizes, weights, strict=True) for _ in range(size)]
    rows = calibrated_rows(codes, epsilon, sizes)
    for x, row in enumerate(rows):
        order = sorted(range(len(codes)), key=lambda y, x=x: (-shared(codes[x], codes[y]), y != x, y))
        assert [row[y] for y in order] == pytest.approx(stairs, rel=1e-11)
        assert row.sum() == pytest.approx(1, abs=1e-12)


@given(codes_and_sizes(), epsilons)
def test_calibrated_rows_realise_their_epsilon_exactly(drawn, epsilon):
    codes, sizes = drawn
    assert realised_ratio(calibrated_rows(codes, epsilon, sizes)) == pytest.approx(math.exp(float(epsilon)), rel=1e-12)


@given(code_lists().filter(lambda codes: len(set(codes)) > 1), epsilons)
def test_calibrated_rows_choose_their_sizes_from_public_things_only(codes, epsilon):
    rows = calibrated_rows(codes, epsilon)
    sizes = mean_sizes(codes, best_thresholds(codes, number_of_groups(epsilon, len(codes))))
    assert np.array_equal(rows, calibrated_rows(codes, epsilon, sizes))
    assert realised_ratio(rows) == pytest.approx(math.exp(float(epsilon)), rel=1e-12)


def test_a_large_epsilon_keeps_its_lowest_step():
    for rows in (published_rows([0, 1], 50, (46, 0)), calibrated_rows([0, 1], 50)):
        assert rows.min() == pytest.approx(math.exp(-50), rel=1e-12)


@pytest.mark.parametrize("wrong", [(), (0,), (6, 6, 0), (3, 6, 0), (47, 0), (6, -1), (6.0, 0), (True, 0), 5, None])
def test_thresholds_fall_from_46_to_0(wrong):
    for call in (
        lambda: published_rows(FOUR, 1, wrong),
        lambda: group_sizes(FOUR, wrong),
        lambda: mean_sizes(FOUR, wrong),
    ):
        with pytest.raises(DesignError, match="decreasing whole numbers from 46 to 0, got .*; use best_thresholds."):
            call()


def test_thresholds_that_leave_places_out_are_refused():
    with pytest.raises(
        DesignError, match="Expected 0 as the last threshold, got 2; end with 0, because places .* infinite."
    ):
        published_rows(FOUR, 1, (46, 2))


@pytest.mark.parametrize("wrong", [(), (4,), (1, 2), (2, 3), (-1, 5), (2.0, 2), (True, 3), 4])
def test_sizes_sum_to_the_places(wrong):
    with pytest.raises(DesignError, match="≥ 0 that sum to the 4 places, got .*; use mean_sizes."):
        calibrated_rows(FOUR, 1, wrong)


@pytest.mark.parametrize("wrong", [(0, 4), (4, 0), (0, 2, 2), (2, 2, 0)])
def test_the_first_and_the_last_group_are_not_empty(wrong):
    with pytest.raises(DesignError, match="first and a last group of one item or more, got sizes .*; leave out empty"):
        calibrated_rows(FOUR, 1, wrong)


@pytest.mark.parametrize("wrong", [[3], [], [[1, 2], [3, 4]], 7])
def test_codes_stand_in_one_row_of_two_or_more(wrong):
    array = np.array(wrong, dtype=np.int64)
    for call in (
        lambda: published_rows(array, 1, SCRIPT_THRESHOLDS),
        lambda: calibrated_rows(array, 1),
        lambda: best_thresholds(array, 2),
        lambda: group_sizes(array, SCRIPT_THRESHOLDS),
    ):
        with pytest.raises(InputError, match="two or more codes in one row, got shape .*; pass one code per place."):
            call()


def test_what_is_no_code_is_refused():
    with pytest.raises(InputError, match="make them with tile_codes"):
        published_rows([-1, 3], 1, SCRIPT_THRESHOLDS)


def test_epsilon_is_checked_everywhere():
    for call in (
        lambda: number_of_groups(0, 10),
        lambda: published_rows(FOUR, -1, SCRIPT_THRESHOLDS),
        lambda: calibrated_rows(FOUR, math.nan),
    ):
        with pytest.raises(EpsilonError, match="Expected epsilon as a positive decimal"):
            call()


def gowalla():
    """The authors' places: their codes, and the distances between them in km."""
    coordinates = authors_coordinates()
    places = Points(coordinates, metric="haversine")
    return tile_codes(*coordinates.T), np.array([places.losses(x) for x in range(len(places))])


@pytest.mark.data
def test_on_the_authors_places_lsrr_realises_more_than_its_epsilon():
    codes, distances = gowalla()
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
            calibrated = calibrated_rows(codes, epsilon, mean_sizes(codes, bounds))
            assert math.log(realised_ratio(published)) == pytest.approx(realised, abs=6e-4)
            assert math.log(realised_ratio(calibrated)) == pytest.approx(epsilon, abs=1e-12)
            assert (published * distances).sum() / len(codes) == pytest.approx(published_km, abs=0.06)
            assert (calibrated * distances).sum() / len(codes) == pytest.approx(calibrated_km, abs=0.06)
