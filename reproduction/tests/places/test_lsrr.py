"""L-SRR as a mechanism: as published it breaks its ε and says so everywhere; calibrated it keeps it."""

import copy
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
from bipartite.errors import BrokenPromiseError, DesignError, InputError
from bipartite.lottery import Epsilon
from reproduction.places import PublishedLSRR, accountable, from_spec, lsrr, proved
from reproduction.places.lsrr import calibrated_rows, published_rows
from reproduction.places.tiles import tile_codes
from reproduction.quality import expected_loss
from tests.locations.worlds import authors_places
from tests.oracle import exp, number
from tests.rivals import SCRIPT_THRESHOLDS
from tests.strategies import epsilons

CITIES = Points([[52.5, 13.4], [48.9, 2.35], [51.5, -0.13], [40.4, -3.7], [41.9, 12.5]], metric="haversine")

places = st.lists(st.tuples(st.integers(-80, 80), st.integers(-170, 170)), min_size=2, max_size=12, unique=True).map(
    lambda rows: Points(np.array(rows, dtype=float), metric="haversine")
)


def ratio_of(mechanism):
    rows = [[int(count) for count in row] for row in mechanism.to_spec()["rows"]]
    return max(Fraction(max(column), min(column)) for column in zip(*rows, strict=True))


@given(places, epsilons)
def test_published_says_what_it_spends_and_calibrated_keeps_epsilon(domain, epsilon):
    calibrated = lsrr(domain, epsilon)
    assert verify(calibrated).ratio == ratio_of(calibrated)
    assert mpmath.mpf(ratio_of(calibrated).numerator) <= exp(epsilon) * ratio_of(calibrated).denominator
    assert verify(calibrated).holds
    published = PublishedLSRR(domain, epsilon)
    ratio = ratio_of(published)
    spent = mpmath.log(mpmath.mpf(ratio.numerator) / ratio.denominator)
    keeps = spent <= number(epsilon)
    assert proved(published).ratio == ratio
    assert proved(published).holds == published.holds() == keeps
    text = Decimal(epsilon).normalize()
    if keeps:
        assert published.guarantee == f"ε-LDP of each report with ε = {text:f}"
        assert from_spec(published.to_spec()) == published
        return
    said, _, shown = published.guarantee.rpartition(" ")
    assert said == f"ε-LDP of each report with ε = {text:f} as published, which its rows do not keep: they spend ε ="
    assert spent <= number(shown) <= spent + mpmath.mpf("0.0001")
    assert number(proved(published).epsilon_upper) >= spent
    with pytest.raises(BrokenPromiseError, match=f"exceed e\\^ε for ε={text:f}; do not report with this spec"):
        from_spec(published.to_spec())


def test_the_published_variant_is_not_blamed_for_rounding():
    """With the default thresholds α_min is the same for these five places: as published it keeps ε."""
    kept = PublishedLSRR(CITIES, 1)
    assert proved(kept).holds and accountable(kept) is kept.rows
    assert kept.guarantee == "ε-LDP of each report with ε = 1"
    assert from_spec(kept.to_spec()) == kept


def test_matrices_are_those_of_the_design():
    codes = tile_codes(CITIES.coordinates[:, 0], CITIES.coordinates[:, 1])
    published = PublishedLSRR(CITIES, "0.7", thresholds=(12, 4, 0)).matrix()
    assert np.abs(published - published_rows(codes, "0.7", (12, 4, 0))).max() < 1e-14
    assert np.abs(lsrr(CITIES, "0.7").matrix() - calibrated_rows(codes, "0.7")).max() < 1e-14


def test_the_published_variant_fails_its_certificate_and_cannot_be_loaded_or_summed():
    broken = PublishedLSRR(CITIES, 1, thresholds=(6, 0))
    certificate = proved(broken)
    assert not certificate.holds
    assert certificate.epsilon_upper > Decimal("1.41")  # far more than rounding could add
    assert "DOES NOT HOLD" in str(certificate)
    assert certificate.guarantee == broken.guarantee
    with pytest.raises(BrokenPromiseError, match="The tickets exceed e\\^ε for ε=1; do not report with this spec"):
        from_spec(broken.to_spec())
    for twin in (broken, copy.deepcopy(broken), pickle.loads(pickle.dumps(broken))):
        assert twin == broken
        assert not proved(twin).holds
        with pytest.raises(InputError, match="spends more than the ε it states"):
            accountable(twin)
        with pytest.raises(InputError, match="got PublishedLSRR"):
            Record({"place": twin})
    # An honest ε for the same rows, and they load.
    honest = from_spec({**broken.to_spec(), "epsilon": "1.5"})
    assert proved(honest).holds
    assert honest.guarantee == "ε-LDP of each report with ε = 1.5"
    # What it spends is the ε of the mechanism of the library with the same tickets.
    assert verify(broken.rows).holds and 1.4 < Record({"place": broken.rows}).epsilon_decimal < Decimal("1.5")


def test_groups_of_one_size_for_all_keep_epsilon_as_published_too():
    # Two places far apart: α_min does not depend on x, and nothing is wrong with the promise.
    two = PublishedLSRR(Points([[52.5, 13.4], [-48.9, 2.35]], metric="haversine"), 1)
    assert proved(two).holds == two.holds()
    assert ("do not keep" in two.guarantee) != two.holds()


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize(
    ("epsilon", "spent", "published_loss", "calibrated_loss"),
    [("0.5", 0.602, 1983.1, 1981.0), ("1", 1.249, 1868.5, 1863.3), ("2", 2.707, 1559.9, 1547.8)],
)
def test_the_authors_places_give_the_reference_figures(epsilon, spent, published_loss, calibrated_loss):
    domain = authors_places()
    published = PublishedLSRR(domain, epsilon, thresholds=SCRIPT_THRESHOLDS)
    realised = math.log(published.largest_ratio())
    assert not published.holds()
    assert realised == pytest.approx(spent, abs=1e-3)
    assert published.guarantee.endswith(f"do not keep: they spend ε = {math.ceil(realised * 1e4) / 1e4:.4f}")
    assert expected_loss(published.rows) == pytest.approx(published_loss, abs=1)
    calibrated = lsrr(domain, epsilon, thresholds=SCRIPT_THRESHOLDS)
    assert Epsilon.of(epsilon).allows(*calibrated.largest_ratio().as_integer_ratio())
    assert math.log(calibrated.largest_ratio()) == pytest.approx(float(epsilon), abs=1e-9)
    assert expected_loss(calibrated) == pytest.approx(calibrated_loss, abs=1)
    if epsilon == "1":  # the name of a spec of a million counts takes seconds
        certificate = proved(published)
        assert (certificate.holds, certificate.ratio) == (False, published.largest_ratio())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: lsrr(Integers(1, 9), 1), "Points\\(…, metric='haversine'\\): L-SRR needs map tiles; use bp.BRR el"),
        (lambda: lsrr(Points([[0, 0], [1, 1]]), 1), "Expected domain as bp.Points\\(…, metric='haversine"),
        (lambda: lsrr(CITIES, 1, thresholds=(10, 6)), "Expected 0 as the last threshold, got 6; end with"),
        (lambda: PublishedLSRR(CITIES, 1, thresholds=(6, 10, 0)), "Expected thresholds as two or more decreasing "),
    ],
)
def test_what_does_not_fit_is_refused(call, message):
    with pytest.raises(DesignError, match=message):
        call()
