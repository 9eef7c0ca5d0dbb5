"""Releases on regions: exact ε from dense tickets, draws in every implementation, and what they really promise."""

import pickle
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bipartite import BRR, Points, fixed_words, insecure_seed, verify
from bipartite.errors import DesignError, EpsilonError, InputError
from bipartite.lottery import MAX_TOTAL
from reproduction.places import Regions, Weaker, WithinRegion, from_spec, region_weighted, two_level
from reproduction.places.in_regions import Split, best_split, check_blocks, two_level_tickets, weighted_epsilon
from reproduction.places.regions import parts
from reproduction.quality import expected_loss
from tests.locations.worlds import authors_places, in_regions, worlds
from tests.oracle import number

FOUR = Points([[52.5, 13.4], [52.4, 13.1], [48.9, 2.35], [48.8, 2.1]], metric="haversine")
TWO = in_regions(FOUR, ["DE", "DE", "FR", "FR"])
SEVEN = in_regions(
    Points([[0, k * k] for k in range(7)], metric="haversine", labels=list("abcdefg")), [0, 1, 0, 1, 2, 2, 2]
)
MAKERS = {
    "two levels": two_level,
    "a weight": region_weighted,
    "within a region": lambda regions, epsilon: WithinRegion(regions, epsilon, publishes="region"),
}
makers = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
moderate = st.sampled_from(["0.01", "0.25", "0.5", "1", "1.5", "2", "5", "8"])


def dense(mechanism):
    """The tickets of every row: whole numbers of at most 2^52, which floats hold."""
    return np.rint(mechanism.matrix() * int(mechanism.to_spec()["total"])).astype(np.int64).astype(object)


def largest(rows, apart):
    """The largest ratio over all pairs of inputs that are not apart, by brute force."""
    size = range(len(rows))
    return max(Fraction(rows[x][y], rows[z][y]) for x in size for z in size if not apart(x, z)
               for y in size if rows[x][y])  # fmt: skip


def check_epsilon(mechanism, epsilon, apart=lambda *_: False):
    """All rows have one total, and the largest ratio spends ε, nearly all of it; in another arithmetic."""
    rows = dense(mechanism)
    assert {sum(row) for row in rows.tolist()} == {int(mechanism.to_spec()["total"])}
    assert int(mechanism.to_spec()["total"]) <= 2**52
    ratio = largest(rows, apart)
    realised = mpmath.log(mpmath.mpf(ratio.numerator) / ratio.denominator)
    assert number(epsilon) * (1 - mpmath.mpf("2e-3")) <= realised <= number(epsilon)
    assert mechanism.largest_ratio() == ratio
    assert mechanism.holds() if isinstance(mechanism, Weaker) else verify(mechanism).holds
    return rows


@given(worlds(), moderate)
def test_two_levels_keep_epsilon_exactly_and_cost_what_their_design_says(regions, epsilon):
    mechanism = two_level(regions, epsilon)
    check_epsilon(mechanism, epsilon)
    split = best_split(regions, float(epsilon))
    assert expected_loss(mechanism) == pytest.approx(split.loss, rel=1e-6)
    # By hand from the two budgets: the realised ε is the largest of three.
    growth = np.log1p(np.expm1(split.place) * np.array(split.m) / regions.sizes)
    assert max(split.place, *(split.region + split.place - growth), *(growth - split.region)) <= float(epsilon) + 1e-9


@given(worlds(), moderate)
def test_a_weight_on_the_region_keeps_epsilon_exactly_and_hides_the_place(regions, epsilon):
    mechanism = region_weighted(regions, epsilon)
    rows = check_epsilon(mechanism, epsilon)
    weight = max(int(each["own"]) / int(each["other"]) for each in mechanism.to_spec()["tickets"])
    assert weighted_epsilon(regions.sizes, weight) == pytest.approx(float(epsilon), rel=1e-3)
    for region in range(len(regions)):  # places of one region cannot be told apart
        assert len({tuple(rows[x]) for x in regions.members(region)}) == 1


@given(worlds(least=1), moderate)
def test_within_a_region_epsilon_is_exact_and_across_regions_it_is_infinite(regions, epsilon):
    mechanism = WithinRegion(regions, epsilon, publishes="region")
    labels = regions.labels
    rows = check_epsilon(mechanism, epsilon, apart=lambda x, z: labels[x] != labels[z])
    assert all((row > 0).tolist() == (labels == labels[x]).tolist() for x, row in enumerate(rows))
    assert mechanism.ldp_epsilon.is_infinite()
    assert mechanism.m == tuple(BRR(part, epsilon).m for part in parts(regions))


def test_a_release_that_publishes_the_region_says_so_everywhere():
    mechanism = WithinRegion(TWO, 1, publishes="region")
    assert mechanism.guarantee == (
        "ε-LDP within a region only, with ε = 1; the region itself is published (1.00 bits under the uniform prior, "
        "smallest crowd 2 places): this is not ε-LDP"
    )
    assert "not ε-LDP" in repr(mechanism) and mechanism.to_spec()["publishes"] == "region"


@pytest.mark.parametrize("publishes", [None, "nothing", True, "the region", ["region"]])
def test_publishing_the_region_must_be_said_in_words(publishes):
    with pytest.raises(InputError, match="Expected publishes='region', got .*every report of this mechanism reveals"):
        WithinRegion(TWO, 1, publishes=publishes)
    with pytest.raises(TypeError):
        WithinRegion(TWO, 1)


@makers
def test_reports_follow_the_matrix_whether_one_or_many_are_drawn(make):
    mechanism, trials = make(SEVEN, 1), 40_000
    for x, letter in enumerate("abcdefg"):
        words = insecure_seed(x).streams().stream(0, trials).window()[:trials].tolist()
        reports = mechanism.privatize([letter] * trials, rng=fixed_words(words))
        assert reports[:100] == [mechanism.privatize(letter, rng=fixed_words([word])) for word in words[:100]]
        shares = np.array([reports.count(each) for each in "abcdefg"]) / trials
        # Seven standard errors, at most 0.5/200 each: false alarm below 1e-11 for each of 49 cells.
        assert shares == pytest.approx(mechanism.matrix()[x], abs=7 * 0.5 / 200)
        # Power: the row of a place of another region is told apart.
        assert np.abs(shares - mechanism.matrix()[(x + 3) % 7]).max() > 0.02


@makers
def test_a_release_comes_back_from_its_spec_and_from_a_pickle(make):
    mechanism = make(SEVEN, 1)
    again = from_spec(mechanism.to_spec())
    assert again == mechanism == pickle.loads(pickle.dumps(mechanism))
    assert type(again) is type(mechanism) and again.to_spec() == mechanism.to_spec()
    assert (dense(again) == dense(mechanism)).all()


@pytest.mark.data
def test_the_authors_places_give_the_reference_figures():
    regions = Regions.by_prefix(authors_places())
    for epsilon, weighted, nominal in (
        ("0.25", 2025, 2238), ("0.5", 1979, 2197), ("1", 1878, 2089), ("2", 1656, 1750)
    ):  # fmt: skip
        assert expected_loss(region_weighted(regions, epsilon)) == pytest.approx(weighted, abs=0.6)
        # The best split gives all of ε to the region, which is what the reference split gave.
        assert expected_loss(two_level(regions, epsilon)) == pytest.approx(nominal, abs=0.6)
    within = WithinRegion(regions, 1, publishes="region")
    assert "3.05 bits" in within.guarantee and "smallest crowd 7 places" in within.guarantee
    assert within.m == tuple(BRR(part, 1).m for part in parts(regions)) and max(within.m) > 10
    # The ratio by which it was designed, before any table, is a bound: as if all near places held an extra ticket.
    assert within.largest_ratio() <= within.dealt.largest_ratio() <= within.largest_ratio() * Fraction(2**20 + 1, 2**20)


def test_no_row_holds_more_than_the_most_tickets_however_floats_round():
    # Six regions of two or three places and all of ε on the region: the surplus was rounded up to 2^52 + 1 at ε1 = 1.
    for sizes in ([3, 3, 3, 3, 2, 3], [2, 2], [2, 3, 5, 7, 11], [6] * 14):
        for region in np.linspace(0.001, 8, 400):
            assert two_level_tickets(sizes, Split(float(region), 0.0, (1,) * len(sizes))).total <= MAX_TOTAL
    assert two_level_tickets([3, 3, 3, 3, 2, 3], Split(1 - 2.0**-40, 0.0, (1,) * 6)).total == MAX_TOTAL


def test_a_release_within_regions_cannot_change_and_shows_no_private_value():
    release = WithinRegion(TWO, 1, publishes="region")
    with pytest.raises(AttributeError, match="WithinRegion cannot change: build another one"):
        release.epsilon = "9"
    for many in (np.zeros(5, dtype=int), (0, 1)):
        with pytest.raises(InputError, match="^Expected a place, or a list of places, got (ndarray|tuple)"):
            release.privatize(many)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: two_level(FOUR, 1), InputError, "Expected regions as reproduction.places.Regions, got Points"),
        (lambda: two_level(Regions.by_prefix(FOUR), 1), DesignError, "Expected 2 regions or more, got 1"),
        (lambda: region_weighted(Regions.by_prefix(FOUR), 1), DesignError, "Expected 2 regions or more, got 1"),
        (lambda: two_level(TWO, 0), EpsilonError, "Expected epsilon"),
        (lambda: two_level(TWO, 50), DesignError, "2\\^52 tickets cannot keep ε=50 on these regions"),
        (lambda: region_weighted(TWO, 50), DesignError, "2\\^52 tickets cannot keep ε=50 on these regions"),
        (lambda: WithinRegion(TWO, 50, publishes="region"), DesignError, "2\\^52 tickets cannot keep ε=50"),
        (lambda: check_blocks(np.array([6000, 10])), DesignError, "every pair of places in one region, at most 2\\^25"),
    ],
)
def test_what_cannot_be_is_refused_with_advice(call, kind, message):
    with pytest.raises(kind, match=message):
        call()
