"""L-SRR as a mechanism: as published it breaks its ε and says so everywhere; calibrated it keeps it."""

import copy
import math
import pickle
from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from bipartite.domains.tiles import tile_codes
from bipartite.mechanisms.design.lsrr import calibrated_rows, published_rows
from hypothesis import given
from hypothesis import strategies as st

from bipartite import LSRR, Points, Record, expected_loss, from_spec, verify
from bipartite.errors import BrokenPromiseError, InputError
from tests.locations.worlds import authors_places
from tests.oracle import exp, number
from tests.rivals import SCRIPT_THRESHOLDS
from tests.strategies import epsilons

CITIES = Points([[52.5, 13.4], [48.9, 2.35], [51.5, -0.13], [40.4, -3.7], [41.9, 12.5]], metric="haversine")

places = st.lists(st.tuples(st.integers(-80, 80), st.integers(-170, 170)), min_size=2, max_size=12, unique=True).map(
    lambda rows: Points(np.array(rows, dtype=float), metric="haversine")
)


def ratio_of(mechanism):
    rows = mechanism.lottery.tickets.tolist()
    return max(Fraction(max(column), min(column)) for column in zip(*rows, strict=True))


@given(places, epsilons)
def test_published_says_what_it_spends_and_calibrated_keeps_epsilon(domain, epsilon):
    calibrated = LSRR(domain, epsilon)
    assert verify(calibrated).ratio == ratio_of(calibrated)
    assert mpmath.mpf(ratio_of(calibrated).numerator) <= exp(epsilon) * ratio_of(calibrated).denominator
    assert verify(calibrated).holds
    published = LSRR(domain, epsilon, variant="published")
    ratio = ratio_of(published)
    spent = mpmath.log(mpmath.mpf(ratio.numerator) / ratio.denominator)
    keeps = spent <= number(epsilon)
    assert verify(published).ratio == ratio
    assert verify(published).holds == published.keeps_epsilon == keeps
    text = Decimal(epsilon).normalize()
    if keeps:
        assert published.guarantee == f"ε-LDP of each report with ε = {text:f}"
        assert from_spec(published.to_spec()) == published
        return
    said, _, shown = published.guarantee.rpartition(" ")
    assert said == f"ε-LDP of each report with ε = {text:f} as published, which its rows do not keep: they spend ε ="
    assert spent <= number(shown) <= spent + mpmath.mpf("0.0001")
    assert number(verify(published).epsilon_upper) >= spent
    with pytest.raises(BrokenPromiseError, match=f"exceed e\\^ε for ε={text:f}; do not report with this spec"):
        from_spec(published.to_spec())


def test_the_published_variant_is_not_blamed_for_rounding():
    """With the default thresholds α_min is the same for these five places: as published it keeps ε."""
    kept = LSRR(CITIES, 1, variant="published")
    assert verify(kept).holds
    assert kept.guarantee == "ε-LDP of each report with ε = 1"
    assert from_spec(kept.to_spec()) == kept


def test_matrices_are_those_of_the_design():
    codes = tile_codes(CITIES.coordinates[:, 0], CITIES.coordinates[:, 1])
    published = LSRR(CITIES, "0.7", variant="published", thresholds=(12, 4, 0)).matrix()
    assert np.abs(published - published_rows(codes, "0.7", (12, 4, 0))).max() < 1e-14
    assert np.abs(LSRR(CITIES, "0.7").matrix() - calibrated_rows(codes, "0.7")).max() < 1e-14


def test_the_published_variant_fails_its_certificate_and_cannot_be_loaded_or_summed():
    broken = LSRR(CITIES, 1, variant="published", thresholds=(6, 0))
    certificate = verify(broken)
    assert not certificate.holds
    assert certificate.epsilon_upper > Decimal("1.41")  # far more than rounding could add
    assert "DOES NOT HOLD" in str(certificate)
    assert certificate.guarantee == broken.guarantee
    with pytest.raises(BrokenPromiseError, match="The tickets exceed e\\^ε for ε=1; do not report with this spec"):
        from_spec(broken.to_spec())
    for twin in (broken, copy.deepcopy(broken), pickle.loads(pickle.dumps(broken))):
        assert twin == broken
        assert not verify(twin).holds
        with pytest.raises(InputError, match="that keeps its ε, got"):
            Record({"place": twin})
    # An honest ε for the same rows, and they load.
    honest = from_spec({**broken.to_spec(), "epsilon": "1.5"})
    assert verify(honest).holds
    assert honest.guarantee == "ε-LDP of each report with ε = 1.5"
    assert Record({"place": honest}).epsilon_decimal == Decimal("1.5")


def test_groups_of_one_size_for_all_keep_epsilon_as_published_too():
    # Two places far apart: α_min does not depend on x, and nothing is wrong with the promise.
    two = LSRR(Points([[52.5, 13.4], [-48.9, 2.35]], metric="haversine"), 1, variant="published")
    assert verify(two).holds == two.keeps_epsilon
    assert ("do not keep" in two.guarantee) != two.keeps_epsilon


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize(
    ("epsilon", "spent", "published_loss", "calibrated_loss"),
    [("0.5", 0.602, 1983.1, 1981.0), ("1", 1.249, 1868.5, 1863.3), ("2", 2.707, 1559.9, 1547.8)],
)
def test_the_authors_places_give_the_reference_figures(epsilon, spent, published_loss, calibrated_loss):
    domain = authors_places()
    published = LSRR(domain, epsilon, variant="published", thresholds=SCRIPT_THRESHOLDS)
    realised = math.log(published.largest_ratio())
    assert not published.keeps_epsilon
    assert realised == pytest.approx(spent, abs=1e-3)
    assert published.guarantee.endswith(f"do not keep: they spend ε = {math.ceil(realised * 1e4) / 1e4:.4f}")
    assert expected_loss(published) == pytest.approx(published_loss, abs=1)
    calibrated = LSRR(domain, epsilon, thresholds=SCRIPT_THRESHOLDS)
    assert calibrated.keeps_epsilon
    assert math.log(calibrated.largest_ratio()) == pytest.approx(float(epsilon), abs=1e-9)
    assert expected_loss(calibrated) == pytest.approx(calibrated_loss, abs=1)
    if epsilon == "1":  # the name of a spec of a million counts takes seconds
        certificate = verify(published)
        assert (certificate.holds, certificate.ratio) == (False, published.largest_ratio())
