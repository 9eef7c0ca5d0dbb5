"""The region rule against a naive reimplementation, on the authors' places, and given regions."""

import math
import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bipartite import Integers, Points
from bipartite.errors import InputError
from reproduction.places import Regions
from reproduction.places.tiles import tile_codes
from tests.locations.worlds import authors_places, in_regions, places

FOUR = Points([[52.5, 13.4], [52.4, 13.1], [48.9, 2.35], [48.8, 2.1]], metric="haversine")
TWO = in_regions(FOUR, ["DE", "DE", "FR", "FR"])
SIX = Points([[at, 0] for at in range(6)], metric="haversine")


def naive_regions(codes, at_least):
    """The rule in text: the longest even prefix that so many share, then the shortest of those that begin it."""
    texts = [format(code, "046b") for code in codes]
    longest = []
    for text in texts:
        lengths = [k for k in range(0, 45, 2) if sum(t.startswith(text[:k]) for t in texts) >= at_least]
        longest.append(text[: max(lengths, default=0)])
    return [min((p for p in longest if text.startswith(p)), key=len) for text in texts]


# Places all over the world become one region; these crowds of three and four become two.
CROWDS = [(50 + at / 10, 10) for at in range(3)] + [(-30, 120 + at / 10) for at in range(4)]


@given(places(), st.integers(2, 7))
@example(Points(CROWDS, metric="haversine"), 3)
@example(Points(CROWDS, metric="haversine"), 2)
def test_the_rule_is_what_a_naive_reading_gives(domain, at_least):
    regions = Regions.by_prefix(domain, at_least=at_least)
    expected = naive_regions(tile_codes(domain.coordinates).tolist(), at_least)
    assert [regions.names[label] for label in regions.labels] == expected
    assert regions.smallest >= min(at_least, len(domain))


@pytest.mark.data
def test_the_authors_places_have_fourteen_regions():
    regions = Regions.by_prefix(authors_places())
    assert repr(regions) == "<14 regions of 7 to 235 places>"
    assert regions.bits() == pytest.approx(3.05, abs=0.005)
    assert len(set(regions.names)) == 14 and all(len(prefix) % 2 == 0 for prefix in regions.names)


def test_fewer_places_than_a_crowd_are_one_region():
    regions = Regions.by_prefix(FOUR)
    assert regions.sizes.tolist() == [4] and regions.names == ("",) and regions.bits() == 0.0


def test_bits_are_the_entropy_of_the_region():
    assert TWO.bits() == 1.0
    assert in_regions(SIX, [0, 0, 1, 1, 1, 1]).bits() == pytest.approx(math.log2(3) - 2 / 3)


def test_regions_never_change_not_even_from_a_pickle():
    copy = pickle.loads(pickle.dumps(TWO))
    assert (copy.places, copy.names, copy.labels.tolist()) == (FOUR, TWO.names, TWO.labels.tolist())
    for regions in (TWO, copy):
        with pytest.raises(FrozenInstanceError):
            regions.labels = None
        with pytest.raises(ValueError, match="read-only"):
            regions.labels[0] = 1


NUMBERS = np.array([0, 0, 1, 1])


@pytest.mark.parametrize(
    ("message", "call", "given"),
    [
        ("Expected places as bp.Points\\(…, metric='haversine'\\)", Regions.by_prefix, (Integers(1, 9),)),
        ("build them with bp.locations.places", Regions.by_prefix, (Points([[0, 0], [1, 1]]),)),
        ("Expected regions of at least two places", Regions, (FOUR, np.array([0, 0, 1, 2]), ("a", "b", "c"))),
        ("each with its own name", Regions, (FOUR, NUMBERS, ("a", "a"))),
        ("Expected the region of each of 4 places, from 0 to 1", Regions, (FOUR, NUMBERS[:3], ("a", "b"))),
        ("Expected the region of each of 4 places, from 0 to 1", Regions, (FOUR, NUMBERS * 2, ("a", "b"))),
    ],
)
def test_what_is_no_region_is_refused(message, call, given):
    with pytest.raises(InputError, match=message):
        call(*given)


@pytest.mark.parametrize("crowd", [1, 2.5])
def test_what_is_no_crowd_is_refused(crowd):
    with pytest.raises(InputError, match=f"Expected at_least as a whole number ≥ 2, got {crowd}; the paper uses 6"):
        Regions.by_prefix(FOUR, at_least=crowd)
