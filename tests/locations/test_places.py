"""Candidates: checks in words, merged duplicates, and public check-ins."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bipartite as bp
from bipartite import locations
from bipartite.errors import DomainError, InputError

BERLIN, PARIS = [52.52, 13.405], [48.857, 2.352]
METRE = 180 / (math.pi * 6371008.8)  # degrees of latitude


def test_places_are_points_on_the_globe():
    found = bp.locations.places([BERLIN, PARIS], labels=["Berlin", "Paris"])
    assert found == bp.Points([BERLIN, PARIS], metric="haversine", labels=["Berlin", "Paris"])
    assert "locations" in dir(bp)


@pytest.mark.parametrize(
    ("coordinates", "message"),
    [
        ([], "Expected at least two places, got none"),
        ([[13.4, 52.5], [151.2, -33.9]], "got 1 of 2 beyond: this looks like \\(longitude, latitude\\); swap"),
        ([[95.0, 120.0], [1.0, 2.0]], "Expected latitudes in ±90 degrees, got 1 of 2 beyond; correct or remove"),
        ([[1.0, 190.0], [1.0, 2.0]], "Expected longitudes in ±180 degrees, got 1 of 2 beyond"),
        ([[95.0, 190.0], [1.0, math.nan]], "3 problems"),
        ([[math.nan, 2.0], [1.0, 2.0]], "Expected finite coordinates, got NaN or infinity in 1 "),
        ([[1, 2, 3], [4, 5, 6]], "Expected rows \\(latitude, longitude\\), got shape \\(2, 3\\)"),
        ([1, 2], "Expected rows \\(latitude, longitude\\), got shape \\(2,\\)"),
        ([["a", "b"]], "Expected coordinates as numbers, one row"),
        ([[1, 2], [3]], "Expected coordinates as numbers, one row"),
        (np.ma.masked_array([[0.0, 0], [1, 1]], mask=True), "Expected coordinates as numbers, one row"),
        ([BERLIN, PARIS, BERLIN], "Expected distinct places, got 1 within about 0.2 m of another; pass merge_within=1"),
        ([[0, 180], [0, -180]], "Expected distinct places, got 1 within about 0.2 m"),
        ([[1.0, 2.0]], "Expected at least 2 rows of coordinates"),
    ],
)
def test_what_is_no_list_of_places_is_refused_in_words(coordinates, message):
    with pytest.raises(DomainError, match=message):
        locations.places(coordinates)


def test_places_are_merged_only_if_asked():
    near = [BERLIN[0] + 5 * METRE, BERLIN[1]]
    rows = [BERLIN, PARIS, near, BERLIN]
    merged = locations.places(rows, labels=["a", "b", "c", "d"], merge_within=10)
    assert merged.labels == ("a", "b")
    assert locations.places([BERLIN, PARIS, near], merge_within=4).size == 3
    assert locations.places(rows, merge_within=0).size == 3
    for wrong in (-1, math.nan, "3", True):
        with pytest.raises(InputError, match="Expected merge_within as metres ≥ 0"):
            locations.places(rows, merge_within=wrong)
    with pytest.raises(DomainError, match="got one after merging within 1e\\+06 m; merge less"):
        locations.places([BERLIN, PARIS], merge_within=1e6)
    for wrong in ("abcd", 4):
        with pytest.raises(DomainError, match="Expected labels as a list, one per place, got "):
            locations.places(rows, labels=wrong, merge_within=10)
    with pytest.raises(DomainError, match="Expected 4 labels, one per place, got 1; name every place, merged ones too"):
        locations.places(rows, labels=["a"], merge_within=10)


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=2, max_size=40), st.integers(1, 12))
def test_merging_keeps_the_first_of_each_crowd_as_a_plain_search_does(offsets, metres):
    rows = np.array([*offsets, (0, 500)]) * METRE
    domain_of_all = [bp.Points([row, [45.0, 45.0]], metric="haversine").order.vectors[0] for row in rows]
    reach = 2 * 2**25 * math.sin(metres / 6371008.8 / 2)
    kept = []
    for number, vector in enumerate(domain_of_all):
        if not any(math.dist(vector, domain_of_all[other]) <= reach for other in kept):
            kept.append(number)
    found = locations.places(rows, merge_within=metres)
    assert found.coordinates.tolist() == rows[kept].tolist()


def test_check_ins_must_be_public_and_the_same_seed_gives_the_same_places():
    rng = np.random.default_rng(1)
    distinct = rng.uniform(-60, 60, (200, 2))
    visits = distinct[rng.integers(0, 200, 2000)]
    everything = locations.from_checkins(visits, source="public")
    assert everything.size == len(np.unique(visits, axis=0))
    some = locations.from_checkins(visits, source="public", places=50, seed=4)
    assert some == locations.from_checkins(visits, source="public", places=50, seed=4)
    assert some != locations.from_checkins(visits, source="public", places=50, seed=5)
    assert some.size == 50 and {tuple(row) for row in some.coordinates} <= {tuple(row) for row in visits}
    for source in ("private", None, True):
        with pytest.raises(InputError, match="Expected source='public', got .*reveal where someone was, and no ε"):
            locations.from_checkins(visits, source=source)
    for places in (1, 201, 2.5):
        with pytest.raises(InputError, match="Expected places as a whole number from 2 to "):
            locations.from_checkins(visits, source="public", places=places)


@pytest.mark.parametrize(
    "domain",
    [
        locations.places([BERLIN, PARIS, [51.5, -0.1], [41.9, 12.5]]),
        locations.grid((52.3, 13.0, 52.7, 13.8), metres=20_000),
        locations.places([BERLIN, PARIS, [51.5, -0.1]], labels=["Brandenburg", "Île-de-France", "Greater London"]),
    ],
    ids=["places", "cells", "regions"],
)
def test_places_cells_and_regions_are_domains_of_the_one_adviser(domain):
    compared = bp.compare(domain, 1, n=10_000)
    assert [each.purpose for each in compared.advice] == ["release", "map"]
    for each in compared.advice:
        found = bp.recommend(domain, 1, each.purpose, n=10_000)
        assert (each.name, each.error) == (found.name, found.error)
    grr = bp.GRR(domain, 1)
    rows = np.array(grr.matrix())
    apart = np.stack([domain.losses(at) for at in range(len(domain))])
    assert compared["GRR"].expected_loss == pytest.approx((rows * apart).sum() / len(domain))


def test_only_public_names_are_listed():
    assert set(dir(locations)) == set(locations.__all__)
    assert all(hasattr(locations, name) for name in dir(locations))


@pytest.mark.parametrize(
    ("name", "now"),
    [
        ("draw", "bipartite.locations.plot"),
        ("page", "the command bipartite estimate for a page"),
        ("RangeCount", "range_count, whose answer has .value, .se"),
    ],
)
def test_former_names_say_what_to_use_now(name, now):
    with pytest.raises(AttributeError, match=now):
        getattr(locations, name)
