"""Anchors of sets: against exhaustive search, against the linear programme, and against themselves without numba."""

import sys
import tracemalloc

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bipartite import Items, Points
from bipartite.locations.atlas import cities
from bipartite.mechanisms.design import anchor_losses
from bipartite.mechanisms.design.anchor_losses import AnchorLosses, EnoughError, cells_of
from bipartite.mechanisms.design.anchors_bound import bound_of
from bipartite.mechanisms.design.anchors_sets import Assignment, best_anchors_of_set, cost_of, search
from bipartite.mechanisms.design.optimum import optimal_matrix
from tests.locations.worlds import authors_places


def means_of(loss, e, anchors):
    """The expected loss of every item, straight from GRR's chances."""
    count = len(anchors)
    means = []
    for row in loss[:, anchors]:
        chances = np.full(count, 1 / (e + count - 1))
        chances[row.argmin()] *= e
        means.append(chances @ row)
    return np.array(means)


def least_of_all(loss, prior, e):
    """The least loss of all 2^N − 1 sets of anchors."""
    size, best = len(loss), np.inf
    nearest, sums = {0: np.full(size, np.inf)}, {0: np.zeros(size)}
    for chosen in range(1, 2**size):
        last = chosen.bit_length() - 1
        rest = chosen ^ (1 << last)
        nearest[chosen] = np.minimum(nearest[rest], loss[:, last])
        sums[chosen] = sums[rest] + loss[:, last]
        means = ((e - 1) * nearest[chosen] + sums[chosen]) / (e - 1 + chosen.bit_count())
        best = min(best, prior @ means)
    return best


def least_of_any_release(loss, e, prior="minimax"):
    """The linear programme over all ε-LDP releases. For a prior, or for the worst item."""
    return optimal_matrix(loss, e, prior)[1]


def arbitrary(rng, size, kind):
    """Any losses: asymmetric, negative, with ties, of widely different rows."""
    if kind == 0:
        loss = rng.random((size, size)) * rng.random(size)[:, None]
    elif kind == 1:
        loss = rng.integers(-3, 4, (size, size)).astype(float)
    else:
        loss = rng.lognormal(0, 2, (size, size)) - rng.random(size)[:, None]
    np.fill_diagonal(loss, loss.min(axis=1) - (0.0 if kind == 1 else 0.1))
    return loss


def arbitrary_cases():
    rng = np.random.default_rng(20)
    for case in range(120):
        size = int(rng.integers(2, 11)) if case % 4 else int(rng.integers(8, 11))
        prior = rng.dirichlet(np.full(size, 0.7))
        yield arbitrary(rng, size, case % 3), prior, float(np.exp(rng.uniform(0.1, 6)))


@pytest.fixture(scope="module")
def solved_cases():
    return [(loss, prior, e, least_of_all(loss, prior, e)) for loss, prior, e in arbitrary_cases()]


def test_few_items_get_the_best_anchors_there_are(solved_cases):
    for loss, prior, e, least in solved_cases:
        choice = best_anchors_of_set(Items(None, loss=loss), e, prior)
        assert choice.loss == pytest.approx(least, rel=1e-9, abs=1e-9)
        assert choice.loss == pytest.approx(prior @ means_of(loss, e, choice.anchors), rel=1e-9, abs=1e-9)
        assert (np.diff(choice.anchors) > 0).all() and choice.anchors.dtype == np.int64
        assert choice.lower <= choice.loss


def test_local_search_alone_seldom_misses_the_best(solved_cases):
    missed = 0
    for loss, prior, e, least in solved_cases:
        found = search(AnchorLosses(Items(None, loss=loss), prior), cost_of(e), np.arange(len(loss))).value
        assert found >= least - 1e-9 * (1 + abs(least))
        missed += found > least + 1e-9 * (1 + abs(least))
    # 0 of 200 were missed when this was written, and 0 of 1000 others with 12 items.
    assert missed <= 1


@pytest.mark.grid(8)
@pytest.mark.parametrize("case", range(24))
def test_points_are_near_the_linear_programme_and_the_bound_is_below_it(case, monkeypatch):
    monkeypatch.setattr(anchor_losses, "COMPILE_FROM", 0 if case % 2 else 10**9)
    rng = np.random.default_rng(case)
    size = int(rng.integers(13, 41))
    metric = ("euclidean", "manhattan", "haversine")[case % 3]
    points = Points(rng.uniform(-60, 60, (size, 2)), metric=metric)
    prior = rng.dirichlet(np.full(size, 0.5)) * (rng.random(size) < 0.8)
    prior /= prior.sum()
    e = float(np.exp(rng.uniform(0.1, 6)))
    squared = case % 4 == 3
    loss = points.loss_matrix() ** (2 if squared else 1)
    choice = best_anchors_of_set(points, e, prior, np.square if squared else None)
    optimum = least_of_any_release(loss, e, prior)
    assert choice.loss == pytest.approx(prior @ means_of(loss, e, choice.anchors), rel=1e-9)
    assert optimum * (1 - 1e-9) <= choice.loss <= optimum * 1.005
    # HiGHS solves to 1e-7 of what it is given; the bound is one of the programme itself.
    assert optimum * 0.99 <= choice.lower <= optimum * (1 + 1e-7)
    assert choice.loss - choice.lower >= (choice.loss - optimum) - 1e-7 * optimum


@pytest.mark.parametrize("line", [(7, {0, 1, 3}), (13, {0, 1, 3, 9}), (21, {0, 1, 4, 14, 16})])
def test_the_bound_is_below_the_programme_where_anchors_are_not_the_best_release(line):
    # Points and lines of a projective plane: reporting a line costs the points that are not on it. A release that
    # spreads over all lines is better than any anchors.
    size, differences = line
    loss = np.array([[float((y - x) % size not in differences) for y in range(size)] for x in range(size)])
    prior = np.full(size, 1 / size)
    choice = best_anchors_of_set(Items(None, loss=loss), 6.0, prior)
    optimum = least_of_any_release(loss, 6.0, prior)
    assert choice.loss > optimum * 1.05
    assert optimum * 0.98 < choice.lower <= optimum * (1 + 1e-7)


@st.composite
def levels_of_small_sets(draw):
    size = draw(st.integers(2, 6))
    number = st.floats(-5, 5)
    loss = np.array(draw(st.lists(number, min_size=size * size, max_size=size * size))).reshape(size, size)
    prior = np.array(draw(st.lists(st.floats(0, 1), min_size=size, max_size=size))) + 1e-3
    levels = np.array(draw(st.lists(st.floats(-8, 8), min_size=size, max_size=size)))
    return loss, prior / prior.sum(), levels, draw(st.floats(0.05, 6))


@given(levels_of_small_sets())
def test_any_levels_at_all_give_a_valid_bound(case):
    loss, prior, levels, epsilon = case
    e = float(np.exp(epsilon))
    losses = AnchorLosses(Items(None, loss=loss, allow_off_diagonal=True), prior)
    bound = bound_of(losses, cost_of(e), levels)[0]
    assert bound <= least_of_any_release(loss, e, prior) + 1e-6
    # It is no weaker than the textbook form.
    thresholds = prior @ loss - (e - 1) * (prior @ np.maximum(levels[:, None] - loss, 0))
    assert bound >= min(prior @ levels, thresholds.min()) - 1e-9 * (1 + abs(thresholds.min()))


METRICS = ["euclidean", "manhattan", "haversine", "items", "asymmetric"]


def domain_of(kind, size, rng):
    if kind == "items":
        return Items.tanimoto(rng.random((size, 5)))
    if kind == "asymmetric":
        return Items(None, loss=arbitrary(rng, size, 0))
    if kind == "haversine":
        return Points(np.column_stack([rng.uniform(-80, 80, size), rng.uniform(-180, 180, size)]), metric=kind)
    return Points(rng.normal(0, 100, (size, 4)), metric=kind)


@pytest.mark.parametrize("loss", [None, np.square])
@pytest.mark.parametrize("kind", METRICS)
def test_machine_code_sums_what_numpy_sums(kind, loss):
    rng = np.random.default_rng(5)
    domain = domain_of(kind, 600, rng)
    prior = rng.random(600) * (rng.random(600) < 0.9)
    compiled, plain = (AnchorLosses(domain, prior, loss, compiled=flag) for flag in (True, False))
    assert compiled.compiled and not plain.compiled
    sites = rng.permutation(600)[:500]
    state = Assignment(plain, 0.3, sites[:7].tolist())
    for groups in (None, state.groups()):
        one, other = (each.sweep(sites, state.low, groups) for each in (compiled, plain))
        for name in ("totals", "gains", "swaps"):
            scale = 1e-9 * np.abs(other.totals).max()
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-9, atol=scale)
    weights, levels = rng.random(500), state.low * 1.3 + 0.01
    one, other = (each.weight_below(sites, weights, levels) for each in (compiled, plain))
    # A loss at its level may fall on either side.
    assert np.mean(np.abs(one - other) > 1e-9) < 0.01


def test_machine_code_and_numpy_find_equally_good_anchors_and_bounds(monkeypatch):
    rng = np.random.default_rng(8)
    for kind in METRICS:
        domain = domain_of(kind, 60, rng)
        found = []
        for least in (0, 10**9):
            monkeypatch.setattr(anchor_losses, "COMPILE_FROM", least)
            found.append(best_anchors_of_set(domain, 7.0))
        assert found[0].loss == pytest.approx(found[1].loss, rel=1e-6)
        assert found[0].lower == pytest.approx(found[1].lower, rel=5e-3)


def test_without_numba_the_same_question_is_answered(monkeypatch):
    monkeypatch.setitem(sys.modules, "bipartite.mechanisms.design.compiled_anchors", None)
    monkeypatch.delattr("bipartite.mechanisms.design.compiled_anchors", raising=False)
    monkeypatch.setattr(anchor_losses, "COMPILE_FROM", 0)
    assert not AnchorLosses(Points([[0.0], [1.0]]), None).compiled
    choice = best_anchors_of_set(Points(np.arange(20.0)[:, None]), 5.0)
    assert choice.loss * 0.99 <= choice.lower <= choice.loss


def test_the_arc_is_as_exact_as_it_says():
    from bipartite.mechanisms.design import compiled_anchors

    z = np.concatenate([np.linspace(0, 1, 801), np.geomspace(1e-16, 1, 200), 1 - np.geomspace(1e-16, 1, 200)])
    found = np.empty_like(z)
    compiled_anchors.arcs(z, found)
    with mpmath.workdps(40):
        exact = np.array([float(mpmath.asin(mpmath.sqrt(mpmath.mpf(each)))) for each in z])
    assert (np.abs(found - exact) <= compiled_anchors.ARC_ERROR / 5 * exact).all()
    # What the domain computes from the same chord.
    assert (np.abs(found - np.arcsin(np.sqrt(z))) <= compiled_anchors.LOSS_ERROR * exact).all()


def test_a_loss_is_read_with_the_truth_in_the_row():
    # Mechanism 0 costs nobody; reporting anything else costs everybody else.
    loss = np.ones((20, 20)) - np.eye(20)
    loss[:, 0] = 0
    choice = best_anchors_of_set(Items(None, loss=loss), 3.0)
    assert choice.anchors.tolist() == [0] and choice.loss == 0
    assert choice.lower == pytest.approx(0, abs=1e-12) and choice.lower <= 0
    other = best_anchors_of_set(Items(None, loss=loss.T, allow_off_diagonal=True), 3.0)
    assert other.loss > 0.5


@pytest.mark.parametrize("size", [5, 40])
def test_a_similarity_is_a_negative_loss_and_rows_may_be_shifted(size):
    rng = np.random.default_rng(size)
    loss, shift, prior = arbitrary(rng, size, 0), rng.normal(0, 3, size), rng.dirichlet(np.ones(size))
    one = best_anchors_of_set(Items(None, loss=loss), 4.0, prior)
    other = best_anchors_of_set(Items(None, similarity=-(loss - shift[:, None])), 4.0, prior)
    assert one.anchors.tolist() == other.anchors.tolist()
    assert other.loss == pytest.approx(one.loss - prior @ shift, abs=1e-12)
    assert other.lower <= other.loss
    assert other.loss - other.lower == pytest.approx(one.loss - one.lower, abs=0.01 * one.loss)


def test_items_without_mass_do_not_count_but_may_be_reported():
    # All mass at the corners of a square; its middle has none and is the best constant answer.
    points = Points([[0, 0], [0, 2], [2, 0], [2, 2], [1, 1]])
    choice = best_anchors_of_set(points, 1.01, np.array([1.0, 1, 1, 1, 0]))
    assert choice.anchors.tolist() == [4]
    assert choice.loss == pytest.approx(np.sqrt(2))
    line = Points(np.arange(50.0)[:, None])
    prior = np.zeros(50)
    prior[[10, 11, 40]] = [1, 1, 2]
    inner = best_anchors_of_set(Points([[10.0], [11.0], [40.0]]), 20.0, np.array([1.0, 1, 2]))
    assert best_anchors_of_set(line, 20.0, prior).loss <= inner.loss * (1 + 1e-12)


@pytest.mark.parametrize("size", [4, 30])
@pytest.mark.parametrize("level", [0.0, 3.0, -2.5])
def test_constant_losses_need_one_anchor(size, level):
    choice = best_anchors_of_set(Items(None, loss=np.full((size, size), level)), 5.0)
    assert len(choice.anchors) == 1
    assert choice.loss == pytest.approx(level)
    assert choice.lower <= choice.loss
    assert choice.lower == pytest.approx(level, abs=1e-9)


@pytest.mark.parametrize("e", [1.0, 1 + 1e-9, 1e15, 1e300, np.inf])
def test_extreme_privacy_and_none_have_answers(e):
    points = Points(np.random.default_rng(1).random((40, 2)) * 1000)
    choice = best_anchors_of_set(points, e)
    assert len(choice.anchors) == (1 if e < 2 else 40)
    assert 0 <= choice.loss - choice.lower <= 0.01 * choice.loss + 1e-9
    if e < 2:
        assert choice.loss == pytest.approx(points.loss_matrix().mean(axis=0).min(), rel=1e-6)


def test_any_function_of_the_loss_may_be_used():
    points = Points(np.random.default_rng(2).random((50, 2)))
    squared = best_anchors_of_set(points, 6.0, None, np.square)
    again = best_anchors_of_set(points, 6.0, None, lambda loss: loss**2)
    assert squared.anchors.tolist() == again.anchors.tolist()
    loss = points.loss_matrix()
    capped = best_anchors_of_set(points, 6.0, None, lambda loss: np.minimum(loss, 0.2) - 1)
    optimum = least_of_any_release(np.minimum(loss, 0.2) - 1, 6.0, np.full(50, 0.02))
    assert optimum - 1e-9 <= capped.loss <= optimum + 0.01 * (optimum + 1)
    assert capped.lower <= optimum + 1e-7


def test_a_metric_of_ones_own_is_read_from_its_table():
    rng = np.random.default_rng(4)
    rows = rng.random((30, 2))
    own = Points(rows, metric=lambda a, b: float(np.hypot(*(a - b))))
    assert best_anchors_of_set(own, 5.0).anchors.tolist() == best_anchors_of_set(Points(rows), 5.0).anchors.tolist()


def test_cities_have_a_small_certified_gap_at_every_epsilon():
    _, coordinates = cities()
    points = Points(coordinates, metric="haversine")
    losses = []
    for epsilon in (0.1, 0.5, 1, 2, 4, 8, 16):
        choice = best_anchors_of_set(points, float(np.exp(epsilon)))
        assert choice.lower <= choice.loss <= choice.lower * 1.01
        losses.append(choice.loss)
    assert losses == sorted(losses, reverse=True)


def test_thousands_of_points_need_no_table_of_pairs():
    rng = np.random.default_rng(6)
    size = 2000
    points = Points(
        np.column_stack([rng.normal(20, 20, size).clip(-89, 89), rng.uniform(-180, 180, size)]), "haversine"
    )
    done = []
    AnchorLosses(points, None)  # compiled before memory is measured
    tracemalloc.start()
    choice = best_anchors_of_set(points, float(np.exp(2)), progress=done.append)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < size * size  # bytes: an eighth of a table
    assert choice.lower <= choice.loss <= choice.lower * 1.03
    assert done == sorted(done) and done[-1] == 1.0
    assert choice.loss == pytest.approx(
        np.mean([means_of(points.losses(x)[None, :], np.exp(2), choice.anchors)[0] for x in range(size)]), rel=1e-9
    )


def test_cells_part_the_points_by_mass():
    rng = np.random.default_rng(9)
    losses = AnchorLosses(Points(rng.normal(0, 1, (3000, 2))), None)
    cells = cells_of(losses, 100)
    assert len(cells.sites) == 100
    assert cells.of[cells.sites].tolist() == list(range(100))
    assert np.bincount(cells.of).min() >= 25 and np.bincount(cells.of).max() <= 35


@pytest.mark.data
def test_the_authors_places_give_the_reference_anchors():
    places = authors_places()
    for epsilon, kilometres, count in ((0.5, 1463, 2), (1, 1385, 3), (2, 1100, 3), (5, 420, 13)):
        choice = best_anchors_of_set(places, float(np.exp(epsilon)))
        assert choice.loss == pytest.approx(kilometres, abs=1)
        assert len(choice.anchors) == count
        assert choice.lower <= choice.loss <= choice.lower * 1.01


@pytest.mark.parametrize("compiled", [True, False])
def test_a_search_that_is_stopped_anywhere_gives_the_best_anchors_so_far(compiled, monkeypatch):
    # Every pass over the pairs asks whether to go on, so that a bound on time holds inside the search too.
    points = Points(np.random.default_rng(5).normal(size=(200, 2)))
    monkeypatch.setattr(anchor_losses, "COMPILE_FROM", 100 if compiled else 10_000)
    monkeypatch.setattr(anchor_losses, "_LOSSES_A_PIECE", 2**10)
    monkeypatch.setattr(anchor_losses, "_BETWEEN", 0.0)
    e = float(np.exp(2))

    def stop_after(calls):
        left = iter(range(calls))

        def progress(_):
            if next(left, None) is None:
                raise EnoughError

        return best_anchors_of_set(points, e, progress=progress)

    whole = best_anchors_of_set(points, e)
    costs = []
    for calls in (0, 20, 200, 10**9):
        choice = stop_after(calls)
        assert choice.loss == pytest.approx(means_of(points.loss_matrix(), e, choice.anchors).mean())
        assert choice.lower <= whole.loss * (1 + 1e-9) and choice.lower <= choice.loss
        costs.append(choice.loss)
    assert costs == sorted(costs, reverse=True)
    assert costs[0] > costs[-1] == whole.loss
