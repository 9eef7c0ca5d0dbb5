"""The region rule against a naive reimplementation, on the authors' places, and given regions."""

import math
import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bipartite import Integers, Points
from bipartite.errors import InputError, PriorError
from reproduction.places import Regions
from reproduction.places.tiles import tile_codes
from tests.locations.worlds import authors_places, places

FOUR = Points([[52.5, 13.4], [52.4, 13.1], [48.9, 2.35], [48.8, 2.1]], metric="haversine")
TWO = Regions.of(FOUR, ["DE", "DE", "FR", "FR"])


def naive_regions(codes, at_least, most_bits):
    """The rule in text: the longest even prefix that so many share, then the shortest of those that begin it."""
    texts = [format(code, "046b") for code in codes]
    longest = []
    for text in texts:
        lengths = [k for k in range(0, most_bits + 1, 2) if sum(t.startswith(text[:k]) for t in texts) >= at_least]
        longest.append(text[: max(lengths, default=0)])
    return [min((p for p in longest if text.startswith(p)), key=len) for text in texts]


# Places all over the world become one region; these crowds of three and four become two.
CROWDS = [(50 + at / 10, 10) for at in range(3)] + [(-30, 120 + at / 10) for at in range(4)]


@given(places(), st.integers(2, 7), st.sampled_from([0, 2, 10, 44]))
@example(Points(CROWDS, metric="haversine"), 3, 44)
@example(Points(CROWDS, metric="haversine"), 2, 10)
def test_the_rule_is_what_a_naive_reading_gives(domain, at_least, most_bits):
    regions = Regions.by_prefix(domain, at_least=at_least, most_bits=most_bits)
    expected = naive_regions(tile_codes(domain.coordinates).tolist(), at_least, most_bits)
    assert [regions.prefixes[label] for label in regions.labels] == expected
    assert regions.smallest >= min(at_least, len(domain))


@pytest.mark.data
def test_the_authors_places_have_fourteen_regions():
    regions = Regions.by_prefix(authors_places())
    assert repr(regions) == "<14 regions of 7 to 235 places>"
    assert regions.bits() == pytest.approx(3.05, abs=0.005)
    assert len(set(regions.prefixes)) == 14 and all(len(prefix) % 2 == 0 for prefix in regions.prefixes)


def test_fewer_places_than_a_crowd_are_one_region():
    regions = Regions.by_prefix(FOUR)
    assert regions.sizes.tolist() == [4] and regions.prefixes == ("",) and regions.bits() == 0.0


def test_given_regions_of_one_place_join_the_nearest_place():
    lonely = Points([*FOUR.coordinates.tolist(), [48.0, 2.0], [51.0, 12.0]], metric="haversine")
    regions = Regions.of(lonely, ["DE", "DE", "FR", "FR", "a", "b"])
    assert regions.names == ("DE", "FR") and regions.merged == 2
    assert regions.labels.tolist() == [0, 0, 1, 1, 1, 0]
    pair = Regions.of(Points([[0, 0], [0, 1]], metric="haversine"), ["a", "b"])
    assert pair.sizes.tolist() == [2] and pair.merged == 1


@given(places(), st.data())
def test_no_region_has_a_single_place(domain, data):
    labels = data.draw(st.lists(st.integers(0, 9), min_size=len(domain), max_size=len(domain)))
    regions = Regions.of(domain, labels)
    assert regions.smallest >= 2 and regions.sizes.sum() == len(domain)
    assert sorted(np.concatenate([regions.members(r) for r in range(len(regions))])) == list(range(len(domain)))


def test_bits_are_the_entropy_of_the_region_under_a_prior():
    assert TWO.bits() == 1.0 and TWO.bits([0.5, 0.5, 0, 0]) == 0.0
    chances = (0.1 + 0.2, 0.3 + 0.4)
    assert TWO.bits([0.1, 0.2, 0.3, 0.4]) == pytest.approx(-sum(p * math.log2(p) for p in chances))
    for wrong in ([0.5, 0.5], [0.5] * 4, [1.5, -0.5, 0, 0], [math.nan, 1, 0, 0]):
        with pytest.raises(PriorError, match="Expected prior as 4 probabilities|sum"):
            TWO.bits(wrong)


def test_regions_never_change_not_even_from_a_pickle():
    copy = pickle.loads(pickle.dumps(TWO))
    assert (copy.places, copy.names, copy.labels.tolist()) == (FOUR, TWO.names, TWO.labels.tolist())
    for regions in (TWO, copy):
        with pytest.raises(FrozenInstanceError):
            regions.labels = None
        with pytest.raises(ValueError, match="read-only"):
            regions.labels[0] = 1


NUMBERS = np.array([0, 0, 1, 1])
LABELS = "Expected labels as a list of 4 labels, one per place"


@pytest.mark.parametrize(
    ("message", "call", "given"),
    [
        ("Expected places as bp.Points\\(…, metric='haversine'\\)", Regions.by_prefix, (Integers(1, 9),)),
        ("build them with bp.locations.places", Regions.by_prefix, (Points([[0, 0], [1, 1]]),)),
        (LABELS, Regions.of, (FOUR, ["a"])),
        (LABELS, Regions.of, (FOUR, "abcd")),
        ("a region for every place, .* got 2 of 4 places without one", Regions.of, (FOUR, ["a", "a", "", " "])),
        ("got 2 of 4 places without one", Regions.of, (FOUR, ["a", "a", None, float("nan")])),
        ("got 1 of 4 places without one; name it", Regions.of, (FOUR, [1.5, 1, 1, 1])),
        ("Expected regions of at least two places", Regions, (FOUR, np.array([0, 0, 1, 2]), ("a", "b", "c"))),
        ("each with its own name", Regions, (FOUR, NUMBERS, ("a", "a"))),
        ("Expected the region of each of 4 places, from 0 to 1", Regions, (FOUR, NUMBERS[:3], ("a", "b"))),
        ("Expected the region of each of 4 places, from 0 to 1", Regions, (FOUR, NUMBERS * 2, ("a", "b"))),
    ],
)
def test_what_is_no_region_is_refused(message, call, given):
    with pytest.raises(InputError, match=message):
        call(*given)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"at_least": 1}, "Expected at_least as a whole number ≥ 2, got 1"),
        ({"at_least": 2.5}, "Expected at_least as a whole number ≥ 2, got 2.5"),
        ({"most_bits": 45}, "Expected most_bits as an even number from 0 to 44, got 45"),
        ({"most_bits": 3, "at_least": 0}, "2 problems"),
    ],
)
def test_what_is_no_rule_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        Regions.by_prefix(FOUR, **options)
