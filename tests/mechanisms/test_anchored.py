"""Anchored and Optimal as mechanisms: what they promise, what they cost, and the reference numbers for both."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bipartite import BRR, GRR, Anchored, Constant, Exponential, Integers, Interval, Items, Optimal, Points, verify
from bipartite.errors import InputError
from bipartite.quality import loss as loss_of
from tests.locations.worlds import authors_coordinates, authors_places
from tests.strategies import epsilons
from tests.strategies_sets import sets

AGES = Integers(18, 90)
SHOPS = Points([[0, 0], [0, 1], [5, 5], [5, 6], [9, 0]])


def anchored_matrix(losses, anchors, e):
    """GRR on the anchors, by its definition: the nearest anchor of each row, the first of equals."""
    nearest = losses[:, anchors].argmin(axis=1)
    matrix = np.full((len(losses), len(anchors)), 1 / (e + len(anchors) - 1))
    matrix[np.arange(len(losses)), nearest] *= e
    return matrix


@given(sets, epsilons, st.booleans())
def test_the_rows_are_grr_on_the_nearest_anchors(domain, epsilon, uniform):
    prior = None if uniform else np.arange(1, len(domain) + 1) / np.arange(1, len(domain) + 1).sum()
    mechanism = Anchored(domain, epsilon, prior=prior)
    chosen = mechanism.outputs.indices
    losses = domain.loss_matrix()
    expected = anchored_matrix(losses, chosen, np.exp(float(epsilon)))
    assert mechanism.matrix() == pytest.approx(expected, rel=1e-5, abs=1e-12)
    certificate = verify(mechanism)
    assert certificate.holds
    assert certificate.ratio == 1 if len(chosen) == 1 else certificate.ratio > 1
    assert mechanism.achieved_loss == pytest.approx(loss_of(mechanism, prior).mean, rel=1e-6, abs=1e-9)
    assert mechanism.lower_bound <= mechanism.achieved_loss + 1e-9
    assert mechanism.gap >= 0


@pytest.mark.grid(3)
@pytest.mark.parametrize("domain", [AGES, Interval(0, 1, points=81), SHOPS])
@pytest.mark.parametrize("epsilon", ["0.2", "1", "3"])
def test_no_other_mechanism_does_better_on_average(domain, epsilon):
    best = loss_of(Anchored(domain, epsilon)).mean
    rivals = [BRR(domain, epsilon), BRR(domain, epsilon, m="best"), GRR(domain, epsilon), Exponential(domain, epsilon)]
    for rival in [*rivals, Constant(domain)]:
        assert best <= loss_of(rival).mean * (1 + 1e-9)
    assert best == pytest.approx(loss_of(Optimal(domain, epsilon)).mean, rel=1e-6)


def test_on_a_line_the_gap_is_closed():
    for epsilon in ("0.1", "0.7", "2", "6"):
        assert Anchored(AGES, epsilon).gap == pytest.approx(0, abs=1e-9)


def test_it_is_best_for_its_prior_and_not_at_every_value():
    mechanism = Anchored(Integers(1, 6), "2.302585092994045684")
    assert (loss_of(mechanism).by_value > loss_of(GRR(Integers(1, 6), "2.302585092994045684")).by_value).any()


def test_the_least_worst_case_lies_between_its_bound_and_that_of_the_programme():
    for domain in (Integers(1, 20), SHOPS):
        mechanism = Anchored(domain, 1, prior="minimax")
        assert loss_of(mechanism).worst == pytest.approx(mechanism.achieved_loss, rel=1e-9)
        programme = loss_of(Optimal(domain, 1, prior="minimax")).worst
        assert mechanism.lower_bound <= programme * (1 + 1e-7)
        assert programme <= loss_of(mechanism).worst * (1 + 1e-7)
        assert loss_of(mechanism).worst <= loss_of(Anchored(domain, 1)).worst * (1 + 1e-9)


def test_squared_and_other_losses_are_those_that_are_minimised():
    domain = Interval(-1, 1, points=41)
    for loss in ("squared", lambda own: own**1.5):
        mechanism = Anchored(domain, 1, loss=loss)
        assert mechanism.achieved_loss == pytest.approx(loss_of(mechanism, loss=loss).mean, rel=1e-9)
        assert mechanism.achieved_loss == pytest.approx(
            loss_of(Optimal(domain, 1, loss=loss), loss=loss).mean, rel=1e-6
        )
    squared = Anchored(SHOPS, 1, loss="squared")
    assert squared.achieved_loss == pytest.approx(loss_of(squared, loss="squared").mean, rel=1e-9)


def test_given_anchors_are_taken_as_they_are():
    mechanism = Anchored(AGES, 1, anchors=[60, 30])
    assert mechanism.anchors == [30, 60]
    assert (mechanism.gap, mechanism.lower_bound, mechanism.achieved_loss) == (None, None, None)
    assert {mechanism.privatize(age) for age in [18, 45, 90] * 50} == {30, 60}
    # Ties go to the lower anchor.
    assert mechanism.lottery.groups[45 - 18] == 0
    assert mechanism.lottery.groups[46 - 18] == 1
    one = Anchored(AGES, 1, anchors=[54])
    assert one.privatize([18, 90]) == [54, 54]
    assert verify(one).ratio == 1


# The reference numbers, computed.


@pytest.mark.parametrize(
    ("epsilon", "brr", "best"), [("0.25", 12.39, 9.86), ("1", 9.75, 8.53), ("2", 6.73, 6.24), ("3", 4.47, 4.24)]
)
def test_forty_points(epsilon, brr, best):
    domain = Integers(1, 40)
    assert loss_of(BRR(domain, epsilon)).mean == pytest.approx(brr, abs=0.005)
    assert loss_of(Optimal(domain, epsilon)).mean == pytest.approx(best, abs=0.006)
    assert loss_of(Anchored(domain, epsilon)).mean == pytest.approx(best, abs=0.006)


@pytest.mark.parametrize(("epsilon", "brr", "best"), [("1", 24.41, 21.346), ("2", 16.9, 15.614), ("3", 11.21, 10.625)])
def test_a_hundred_points(epsilon, brr, best):
    domain = Integers(1, 100)
    assert loss_of(Constant(domain)).mean == 25
    assert loss_of(BRR(domain, epsilon)).mean == pytest.approx(brr, abs=0.05)
    assert loss_of(Anchored(domain, epsilon)).mean == pytest.approx(best, abs=0.001)


def test_jaccard_similarities():
    domain = Items.tanimoto(np.arange(1, 101))
    found = {"grr": GRR(domain, 2), "exponential": Exponential(domain, 2, variant="published", sensitivity=1)}
    assert -loss_of(found["grr"]).mean == pytest.approx(0.634, abs=6e-4)
    assert -loss_of(found["exponential"]).mean == pytest.approx(0.684, abs=6e-4)
    sixty = Items.tanimoto(np.arange(1, 61))
    assert -loss_of(Optimal(sixty, 2)).mean == pytest.approx(0.822, abs=6e-4)
    anchored = Anchored(sixty, 2)
    assert -loss_of(anchored).mean == pytest.approx(0.822, abs=6e-4)


def test_squared_losses_of_a_gradient():
    domain = Interval(-1, 1, points=81)

    squares = Items(None, loss=np.subtract.outer(domain.to_numpy(), domain.to_numpy()) ** 2)

    def rmse(mechanism):
        loss = None if mechanism.domain is squares else "squared"
        return loss_of(mechanism, loss=loss).mean ** 0.5

    assert rmse(Constant(domain, loss="squared")) == pytest.approx(0.5845, abs=1e-4)
    for epsilon, brr, best in (
        ("0.5", 0.739, 0.571), ("1", 0.655, 0.536), ("2", 0.499, 0.440), ("3", 0.371, 0.337), ("5", 0.198, 0.185),
    ):  # fmt: skip
        # BRR with the m that Algorithm 2 gives for squared losses.
        assert rmse(BRR(squares, epsilon)) == pytest.approx(brr, abs=6e-4)
        assert rmse(Anchored(domain, epsilon, loss="squared")) == pytest.approx(best, abs=6e-4)


@pytest.mark.slow
@pytest.mark.data
def test_the_authors_places_give_the_reference_anchors():
    places = authors_places()
    assert loss_of(Constant(places)).mean == pytest.approx(1487, abs=1)
    for epsilon, grr, km, anchors in (
        ("0.5", 2066, 1463, 2),
        ("1", 2063, 1385, 3),
        ("2", 2054, 1100, 3),
        ("5", 1801, 420, 13),
    ):
        assert loss_of(GRR(places, epsilon)).mean == pytest.approx(grr, abs=1)
        mechanism = Anchored(places, epsilon)
        assert loss_of(mechanism).mean == pytest.approx(km, abs=1)
        assert len(mechanism.anchors) == anchors
        assert mechanism.gap < 0.01
    assert loss_of(BRR(places, 5)).mean == pytest.approx(571, abs=1)
    assert loss_of(BRR(places, 5, m="best")).mean == pytest.approx(471, abs=1)


@pytest.mark.slow
@pytest.mark.data
def test_ninety_places_against_the_programme():
    generator = np.random.default_rng(7)
    for epsilon in ("0.5", "4"):
        places = Points(generator.choice(authors_coordinates(), 90, replace=False), metric="haversine")
        best = loss_of(Optimal(places, epsilon)).mean
        assert loss_of(Anchored(places, epsilon)).mean == pytest.approx(best, rel=1e-4)
        assert 1.1 < loss_of(BRR(places, epsilon)).mean / best < 1.45


@pytest.mark.parametrize("size", [2, 3, 5, 13])
@pytest.mark.parametrize("epsilon", [0.5, 3])
def test_the_worst_case_where_all_items_fare_alike(size, epsilon):
    """All losses are 0 or 1: under GRR nobody fares worse than another, so no prior is harder than the next."""
    flat = Items([f"item {x}" for x in range(size)], loss=1 - np.eye(size))
    mech = Anchored(flat, epsilon, prior="minimax")
    # Of K < N anchors the worst item has none of its own and loses 1 always: all of them, which is GRR, is best.
    best = (size - 1) / (math.exp(epsilon) + size - 1)
    assert mech.achieved_loss == pytest.approx(best)
    assert mech.lower_bound == pytest.approx(best, rel=1e-3)


def test_a_loss_that_falls_far_from_the_first_item_is_refused():
    """Else the nearest anchor is not the best one, and the certified gap would be of another release."""
    places = Points([[0.0, 0], [1, 0], [-1, 0], [50, 0], [-50, 0], [49, 0]])

    def wraps_around(own):
        return np.where(own <= 50.5, own, np.maximum(0, 101 - own))

    with pytest.raises(InputError, match="never falls as the domain's loss grows"):
        Anchored(places, 3, loss=wraps_around)
