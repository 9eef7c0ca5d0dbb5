"""Releases on regions: exact ε from dense tickets, draws in every implementation, and what they really promise."""

import math
import pickle
from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bipartite import BRR, GRR, Points, Record, fixed_words, insecure_seed, verify
from bipartite.errors import DesignError, EpsilonError, InputError, PriorError, SpecError
from bipartite.lottery import MAX_TOTAL
from reproduction.places import Regions, WithinRegion, accountable, from_spec, proved, region_weighted, two_level
from reproduction.places.in_regions import (
    BlockRows,
    RegionCosts,
    Split,
    best_split,
    check_blocks,
    near_places,
    two_level_epsilon,
    two_level_tickets,
    weighted_epsilon,
)
from reproduction.quality import expected_loss
from tests.locations.worlds import authors_places, worlds
from tests.oracle import number

FOUR = Points([[52.5, 13.4], [52.4, 13.1], [48.9, 2.35], [48.8, 2.1]], metric="haversine")
TWO = Regions.of(FOUR, ["DE", "DE", "FR", "FR"])
moderate = st.sampled_from(["0.01", "0.25", "0.5", "1", "1.5", "2", "5", "8"])


def dense(mechanism):
    """The tickets of every row: whole numbers of at most 2^52, which floats hold."""
    return np.rint(mechanism.matrix() * total_of(mechanism)).astype(np.int64).astype(object)


def total_of(mechanism):
    return int(mechanism.to_spec()["total"])


def largest(rows, pairs):
    """The largest ratio over these pairs of inputs, by brute force."""
    return max(Fraction(int(rows[x][y]), int(rows[z][y])) for x, z in pairs for y in range(len(rows[0])) if rows[x][y])


def all_pairs(regions, *, within=False):
    labels = regions.labels
    size = len(labels)
    return [(x, z) for x in range(size) for z in range(size) if not within or labels[x] == labels[z]]


@given(worlds(), moderate, st.sampled_from(["best", "safe", "grr"]))
def test_two_levels_keep_epsilon_exactly_and_spend_nearly_all_of_it(regions, epsilon, inside):
    mechanism = two_level(regions, epsilon, inside=inside)
    rows = dense(mechanism)
    assert {sum(row) for row in rows.tolist()} == {total_of(mechanism)} and total_of(mechanism) <= 2**52
    ratio = largest(rows, all_pairs(regions))
    certificate = verify(mechanism)
    assert certificate.ratio == ratio and certificate.holds
    realised = mpmath.log(mpmath.mpf(ratio.numerator) / ratio.denominator)
    assert number(epsilon) * (1 - mpmath.mpf("1e-3")) <= realised <= number(epsilon)
    assert mechanism.guarantee == f"ε-LDP of each report with ε = {epsilon}"


@given(worlds(), st.floats(0, 3), st.floats(0, 3))
def test_the_formula_of_two_levels_is_the_ratio_of_its_rows(regions, first, second):
    m = near_places(regions, second)
    wanted = max(two_level_epsilon(regions.sizes, m, first, second), 1e-3)
    mechanism = two_level(regions, f"{wanted * 1.001:.6f}", budgets=(first, second), inside="safe")
    ratio = largest(dense(mechanism), all_pairs(regions))
    assert float(np.log(float(ratio))) == pytest.approx(two_level_epsilon(regions.sizes, m, first, second), abs=1e-6)


@given(worlds(), moderate)
def test_the_cost_of_a_split_is_the_expected_loss_of_its_tickets(regions, epsilon):
    prior = np.arange(1.0, len(regions.places) + 1)
    prior /= prior.sum()
    split = best_split(regions, float(epsilon), prior, "best")
    mechanism = two_level(regions, epsilon, prior=prior)
    assert expected_loss(mechanism, prior) == pytest.approx(RegionCosts(regions, prior).loss(split), rel=1e-6)


@given(worlds(), moderate)
def test_a_weight_on_the_region_keeps_epsilon_exactly_and_spends_nearly_all_of_it(regions, epsilon):
    mechanism = region_weighted(regions, epsilon)
    rows = dense(mechanism)
    assert {sum(row) for row in rows.tolist()} == {total_of(mechanism)} == {2**52}
    ratio = largest(rows, all_pairs(regions))
    assert verify(mechanism).ratio == ratio and verify(mechanism).holds
    realised = mpmath.log(mpmath.mpf(ratio.numerator) / ratio.denominator)
    assert number(epsilon) * (1 - mpmath.mpf("1e-3")) <= realised <= number(epsilon)
    weight = max(int(each["own"]) / int(each["other"]) for each in mechanism.to_spec()["tickets"])
    assert weighted_epsilon(regions.sizes, weight) == pytest.approx(float(epsilon), rel=1e-3)
    for region in range(len(regions)):  # places of one region cannot be told apart
        assert len({tuple(rows[x]) for x in regions.members(region)}) == 1


@given(worlds(least=1), moderate, st.sampled_from(["brr", "grr"]))
def test_within_a_region_epsilon_is_exact_and_across_regions_it_is_infinite(regions, epsilon, inside):
    mechanism = WithinRegion(regions, epsilon, publishes="region", inside=inside)
    rows = dense(mechanism)
    assert {sum(row) for row in rows.tolist()} == {2**52}
    assert all((row > 0).tolist() == (regions.labels == regions.labels[x]).tolist() for x, row in enumerate(rows))
    certificate = proved(mechanism)
    assert certificate.ratio == largest(rows, all_pairs(regions, within=True))
    assert certificate.holds
    assert certificate.ratio <= Fraction(math.exp(float(mechanism.epsilon) + 1e-9))
    assert certificate.epsilon_upper == Decimal("Infinity")
    if len(regions) == 1 and inside == "brr":
        assert mechanism.m == (BRR(regions.places, epsilon).m,)


def test_a_release_that_publishes_the_region_says_so_everywhere():
    mechanism = WithinRegion(TWO, 1, publishes="region")
    assert mechanism.guarantee == (
        "ε-LDP within a region only, with ε = 1; the region itself is published (1.00 bits under the uniform prior, "
        "smallest crowd 2 places): this is not ε-LDP"
    )
    shown = str(proved(mechanism))
    assert "this is not ε-LDP: holds" in shown and "for values of two regions: infinite" in shown
    assert "realised ε within one region ≤ " in shown and "\n  realised ε ≤" not in shown
    assert "not ε-LDP" in repr(mechanism)
    assert mechanism.to_spec()["publishes"] == "region"
    with pytest.raises(InputError, match="got WithinRegion"):
        Record({"home": mechanism})
    with pytest.raises(InputError, match="publishes the region of the value, which no ε covers"):
        accountable(mechanism)


@pytest.mark.parametrize("publishes", [None, "nothing", True, "the region", ["region"]])
def test_publishing_the_region_must_be_said_in_words(publishes):
    with pytest.raises(InputError, match="Expected publishes='region', got .*every report of this mechanism reveals"):
        WithinRegion(TWO, 1, publishes=publishes)
    with pytest.raises(TypeError):
        WithinRegion(TWO, 1)


MAKERS = {
    "two levels": lambda regions: two_level(regions, 1),
    "two levels of grr": lambda regions: two_level(regions, 2, inside="grr", budgets=(1, 1)),
    "within a region": lambda regions: WithinRegion(regions, 1, publishes="region"),
    "a weight": lambda regions: region_weighted(regions, 1),
}
SEVEN = Regions.of(
    Points([[0, k * k] for k in range(7)], metric="haversine", labels=list("abcdefg")), [0, 1, 0, 1, 2, 2, 2]
)


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_one_report_and_many_are_drawn_from_the_same_words(make):
    mechanism = make(SEVEN)
    words = insecure_seed(3).streams().stream(0, 700).window()[:700].tolist()
    letters = list("abcdefg") * 100
    many = mechanism.privatize(letters, rng=fixed_words(words))
    one = [mechanism.privatize(letter, rng=fixed_words([word])) for letter, word in zip(letters, words, strict=True)]
    assert many == one
    if not isinstance(mechanism, WithinRegion):
        at_once, in_threads = (mechanism.privatize(letters, rng=insecure_seed(5), threads=each) for each in (1, 2))
        assert at_once == in_threads


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_reports_follow_the_matrix(make):
    mechanism = make(SEVEN)
    trials = 40_000
    for x, letter in enumerate("abcdefg"):
        words = insecure_seed(x).streams().stream(0, trials).window()[:trials].tolist()
        reports = mechanism.privatize([letter] * trials, rng=fixed_words(words))
        shares = np.array([reports.count(each) for each in "abcdefg"]) / trials
        # Seven standard errors, at most 0.5/200 each: false alarm below 1e-11 for each of 49 cells.
        assert shares == pytest.approx(mechanism.matrix()[x], abs=7 * 0.5 / 200)
        assert (
            np.abs(shares - mechanism.matrix()[(x + 3) % 7]).max() > 0.02
            or x == (x + 3) % 7
            or make is MAKERS["a weight"]
        )


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_a_release_comes_back_from_its_spec_and_from_a_pickle(make):
    mechanism = make(SEVEN)
    again = from_spec(mechanism.to_spec())
    assert again == mechanism == pickle.loads(pickle.dumps(mechanism))
    assert type(again) is type(mechanism) and again.to_spec() == mechanism.to_spec()
    assert (dense(again) == dense(mechanism)).all()
    assert proved(again) == proved(mechanism)


@pytest.mark.data
def test_the_authors_places_give_the_reference_figures():
    places = authors_places()
    regions = Regions.by_prefix(places)
    for epsilon, weighted, nominal, plain in (
        ("0.25", 2025, 2238, 2066),
        ("0.5", 1979, 2197, 2066),
        ("1", 1878, 2089, 2063),
        ("2", 1656, 1750, 2054),
    ):
        assert expected_loss(region_weighted(regions, epsilon)) == pytest.approx(weighted, abs=0.6)
        # The best split gives all of ε to the region, which is what the reference split gave.
        assert expected_loss(two_level(regions, epsilon)) == pytest.approx(nominal, abs=0.6)
        assert expected_loss(GRR(places, epsilon)) == pytest.approx(plain, abs=0.6)
    halves = two_level(regions, "1.736", budgets=(1, 1), inside="safe")
    assert float(verify(halves).epsilon_upper) == pytest.approx(1.736, abs=0.0005)
    within = WithinRegion(regions, 1, publishes="region")
    assert "3.05 bits" in within.guarantee and "smallest crowd 7 places" in within.guarantee


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: two_level(FOUR, 1), InputError, "Expected regions as reproduction.places.Regions, got Points"),
        (lambda: two_level(Regions.by_prefix(FOUR), 1), DesignError, "Expected 2 regions or more, got 1"),
        (lambda: region_weighted(Regions.by_prefix(FOUR), 1), DesignError, "Expected 2 regions or more, got 1"),
        (lambda: two_level(TWO, 0), EpsilonError, "Expected epsilon"),
        (lambda: two_level(TWO, 1, inside="lap"), InputError, "Expected inside='best', 'safe' or 'grr', got 'lap'"),
        (lambda: two_level(TWO, 1, budgets=(1, 1)), DesignError, "realise ε = 1.*, more than 1; lower one of them"),
        (lambda: two_level(TWO, 1, budgets=(1,)), InputError, "Expected budgets as two numbers"),
        (lambda: two_level(TWO, 1, budgets=(-1, 1)), InputError, "Expected budgets as two numbers"),
        (lambda: two_level(TWO, 1, prior=[1]), PriorError, "Expected prior as 4 probabilities"),
        (lambda: two_level(TWO, 50), DesignError, "2\\^52 tickets cannot keep ε=50 on these regions"),
        (lambda: region_weighted(TWO, 50), DesignError, "2\\^52 tickets cannot keep ε=50 on these regions"),
        (lambda: WithinRegion(TWO, 50, publishes="region"), DesignError, "2\\^52 tickets cannot keep ε=50"),
        (lambda: WithinRegion(TWO, 1, publishes="region", inside="x"), InputError, "Expected inside='brr' or 'grr'"),
        (lambda: check_blocks(np.array([6000, 10])), DesignError, "every pair of places in one region, at most 2\\^25"),
    ],
)
def test_what_cannot_be_is_refused_with_advice(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


def test_no_row_holds_more_than_the_most_tickets_however_floats_round():
    # Six regions of two or three places and all of ε on the region: the surplus was rounded up to 2^52 + 1 at ε1 = 1.
    for sizes in ([3, 3, 3, 3, 2, 3], [2, 2], [2, 3, 5, 7, 11], [6] * 14):
        for region in np.linspace(0.001, 8, 400):
            total = two_level_tickets(sizes, Split(float(region), 0.0, (1,) * len(sizes))).total
            assert total <= MAX_TOTAL
    assert two_level_tickets([3, 3, 3, 3, 2, 3], Split(1 - 2.0**-40, 0.0, (1,) * 6)).total == MAX_TOTAL


def rows_of(mechanism):
    """The counts of every region, from the spec."""
    spec = mechanism.to_spec()
    sizes = np.bincount(spec["regions"]["labels"]).tolist()
    tickets = [tuple(int(each.get(name, 0)) for name in ("near", "far", "outside")) for each in spec["tickets"]]
    return BlockRows(sizes, spec["m"], tickets, int(spec["total"]))


@given(worlds(), moderate, st.sampled_from(["best", "safe", "grr"]))
def test_the_ratio_of_counts_is_that_of_the_tables_but_for_one_ticket(regions, epsilon, inside):
    made = [WithinRegion(regions, epsilon, publishes="region", inside="grr" if inside == "grr" else "brr")]
    if len(regions) > 1:
        made.append(two_level(regions, epsilon, inside=inside))
    for mechanism in made:
        bound, exact = rows_of(mechanism).largest_ratio(), mechanism.largest_ratio()
        assert exact <= bound <= exact * Fraction(2**20 + 1, 2**20)
        assert proved(mechanism).holds


def test_a_release_within_regions_cannot_change_and_shows_no_private_value():
    release = WithinRegion(TWO, 1, publishes="region")
    with pytest.raises(AttributeError, match="WithinRegion cannot change: build another one"):
        release.epsilon = "9"
    for many in (np.zeros(5, dtype=int), (0, 1)):
        with pytest.raises(InputError, match="^Expected a place, or a list of places, got (ndarray|tuple)"):
            release.privatize(many)


@pytest.mark.parametrize(
    ("field", "odd"), [("bipartite", 4.0), ("bipartite", True), ("epsilon", "inf"), ("epsilon", 1)]
)
def test_a_spec_within_regions_is_read_as_strictly_as_any(field, odd):
    with pytest.raises(SpecError, match="Expected"):
        from_spec(WithinRegion(TWO, 1, publishes="region").to_spec() | {field: odd})
