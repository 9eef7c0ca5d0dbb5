"""Laplace, Staircase, Duchi, Piecewise and Hybrid: ε by brute force, moments against the published formulas."""

import math
import pickle
from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import pytest

from bipartite import (
    GRR,
    Duchi,
    Geometric,
    Hybrid,
    Integers,
    Interval,
    Laplace,
    Piecewise,
    Staircase,
    insecure_seed,
    verify,
)
from bipartite.domains.outputs import Outputs
from bipartite.errors import (
    DesignError,
    DomainError,
    EpsilonError,
    InputError,
    OutsideDomainError,
)
from bipartite.lottery import Epsilon, Tickets, Window
from bipartite.lottery.noise import issue_noise
from bipartite.mechanisms.unbiased import THRESHOLD, _mixes
from bipartite.quality import loss as loss_of
from tests import oracle

UNBIASED = [Duchi, Piecewise, Hybrid]
NOISY = [Laplace, Staircase]
ALL = [*NOISY, *UNBIASED]
EPSILONS = ["0.05", "0.1", "0.3", "0.61", "1", "2.5", "4", "6", "8"]


def moments(mechanism):
    """Mean and variance of the report for every value, from the rows."""
    rows, values = mechanism.matrix(), mechanism.outputs.to_numpy()
    mean = rows @ values
    return mean, np.einsum("xy,xy->x", rows, (values[None, :] - mean[:, None]) ** 2)


# ε, computed


def brute_ratio(mechanism):
    """The largest ratio over all columns, in Python's whole numbers."""
    rows = mechanism.lottery.rows(0, len(mechanism.domain))
    assert len(set(map(sum, rows.tolist()))) == 1
    pairs = {(max(column), min(column)) for column in rows.T.tolist()}
    return max(Fraction(most, least) for most, least in pairs)


@pytest.mark.parametrize("gamma", [0.02, 0.3, 0.5, 0.77, 1])
def test_a_staircase_of_any_width_keeps_epsilon(gamma):
    for clamped in (False, True):
        mechanism = Staircase(Interval(0, 1, points=29), "1.7", gamma=gamma, clamped=clamped)
        assert verify(mechanism).ratio == brute_ratio(mechanism)
        assert verify(mechanism).holds


def test_noise_tickets_are_held_to_epsilon_even_where_floats_ask_for_more():
    # Chances that fall too steeply for ε: outer tickets are lifted until whole numbers agree.
    budget = Epsilon.of("0.5")
    tickets = issue_noise(np.exp(-np.arange(40) / 4) / 40, 11, budget)
    assert len(tickets) == 41
    assert (np.diff(tickets[:-1]) <= 0).all()
    assert all(budget.allows(int(near), int(far)) for near, far in zip(tickets[:30], tickets[10:40], strict=True))
    with pytest.raises(DesignError, match="use a larger ε, or fewer values"):
        issue_noise(np.exp(-np.arange(40) / 4) / 8, 11, budget)


def test_the_ratio_of_groups_is_that_of_their_rows():
    for groups in ([0, 2, 4], [1, 1, 1], [4, 0], [3, 4]):
        lottery = Window(len(groups), 7, 3, 0, Tickets(5, 2), groups=np.array(groups))
        rows = lottery.rows(0, len(groups))
        assert lottery.largest_ratio() == max(Fraction(int(c.max()), int(c.min())) for c in rows.T)
        assert (rows == Window(5, 7, 3, 0, Tickets(5, 2)).rows(0, 5)[groups]).all()
    object.__setattr__(lottery, "total", 1)
    with pytest.raises(AssertionError, match="do not hold the same total"):
        lottery.largest_ratio()


# Moments


@pytest.mark.grid(20)
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("kind", UNBIASED)
@pytest.mark.parametrize("ends", [(-1, 1), (0, 200_000), (-7, 0.5)])
def test_the_mean_of_a_report_is_its_value(kind, epsilon, ends):
    domain = Interval(*ends, points=41)
    mechanism = kind(domain, epsilon)
    mean, _ = moments(mechanism)
    # Reports are doubles: each is off by half a unit in the last place of the largest, and so is the sum of a row.
    tolerance = 64 * np.spacing(np.abs(mechanism.outputs.to_numpy()).max())
    np.testing.assert_allclose(mean, domain.to_numpy(), rtol=0, atol=tolerance)


@pytest.mark.parametrize("kind", UNBIASED)
def test_the_mean_is_exact_in_whole_numbers(kind):
    # With outputs as the doubles that they are, the only error left is their rounding.
    domain = Interval(-1, 1, points=21)
    mechanism = kind(domain, 1)
    values = [Fraction(value) for value in mechanism.outputs.to_numpy().tolist()]
    for x, row in enumerate(mechanism.lottery.rows(0, 21).tolist()):
        mean = sum(count * value for count, value in zip(row, values, strict=True)) / mechanism.lottery.total
        assert abs(mean - Fraction(2 * x - 20, 20)) < Fraction(1, 10**15)


def test_random_rounding_keeps_the_mean_of_values_between_nodes():
    mechanism = Duchi(Interval(0, 1, points=3, rounding="random"), 2)
    count = 400_000
    reports = mechanism.privatize(np.full(count, 0.3), rng=insecure_seed(3))
    # Hoeffding for reports within ±B: a false alarm has probability 2·exp(−2·n·t²/(2B)²) = 1e-9; seeded besides.
    spread = float(np.ptp(mechanism.outputs.to_numpy()))
    tolerance = spread * math.sqrt(math.log(2e9) / (2 * count))
    assert abs(reports.mean() - 0.3) < tolerance
    # Power: without the coin the mean would be that of the nearest node.
    assert abs(0.5 - 0.3) > 10 * tolerance


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_laplace_has_the_published_variance_up_to_a_sixth_of_a_squared_step(epsilon):
    domain = Interval(0, 1, points=51)
    mechanism = Laplace(domain, epsilon)
    mean, variance = moments(mechanism)
    b = 1 / float(epsilon)
    # The tail of 2^−30 at each end moves the mean by about b·2^−30 and the variance by b²·1e-7.
    np.testing.assert_allclose(mean, domain.to_numpy(), rtol=0, atol=2e-9 * b)
    np.testing.assert_allclose(variance, 2 * b**2 - domain.step**2 / 6, rtol=2e-7, atol=domain.step**4 / b**2)


def test_the_variance_of_laplace_nears_the_published_one_with_the_square_of_the_step():
    errors = []
    for points in (11, 21, 41, 81):
        _, variance = moments(Laplace(Interval(0, 1, points=points), 8))
        errors.append(2 / 64 - variance[points // 2])
    assert all(3.9 < coarse / fine < 4.1 for coarse, fine in pairwise(errors))


def test_clamped_laplace_is_the_geometric_mechanism():
    domain = Interval(18, 90, points=73)
    ours, geometric = Laplace(domain, "0.7", clamped=True), Geometric(domain, "0.7")
    np.testing.assert_allclose(ours.matrix(), geometric.matrix(), rtol=1e-8)
    raw = Laplace(domain, "0.7")
    padding = raw.lottery.padding
    rows = raw.matrix()
    clamped = rows[:, padding : padding + 73].copy()
    clamped[:, 0] += rows[:, :padding].sum(axis=1)
    clamped[:, -1] += rows[:, padding + 73 :].sum(axis=1)
    np.testing.assert_allclose(ours.matrix(), clamped, rtol=1e-7)


def published_size(epsilon, gamma):
    b = math.exp(-epsilon)
    return b / (1 - b) + (gamma**2 + b * (1 - gamma**2)) / (2 * (gamma + b * (1 - gamma)))


@pytest.mark.grid(2)
@pytest.mark.parametrize("epsilon", [0.05, 0.3, 1, 2.5, 4, 6])
def test_staircase_noise_has_the_published_mean_size(epsilon):
    mechanism = Staircase(Interval(0, 1, points=101), epsilon)
    assert published_size(epsilon, mechanism.gamma) == pytest.approx(
        math.exp(epsilon / 2) / (math.exp(epsilon) - 1), rel=1e-12
    )
    assert mechanism.gamma == pytest.approx(1 / (1 + math.exp(epsilon / 2)))
    size = float(mechanism.matrix()[50] @ np.abs(mechanism.outputs.to_numpy() - 0.5))
    # Off by at most a(γ)/4 squared steps of the middle cell and as much at each stair.
    assert size == pytest.approx(published_size(epsilon, mechanism.gamma), rel=2e-3)
    assert size < loss_of(Laplace(Interval(0, 1, points=101), epsilon)).mean


def test_the_mean_size_of_staircase_noise_converges_with_the_square_of_the_step():
    # γΔ ends half-way between two nodes on each of these grids, so that errors fall smoothly; on whole steps the errors
    # at the stairs and that of the middle cell cancel.
    errors = []
    for points in (11, 31, 91):
        mechanism = Staircase(Interval(0, 1, points=points), 3, gamma=0.25)
        size = float(mechanism.matrix()[points // 2] @ np.abs(mechanism.outputs.to_numpy() - 0.5))
        errors.append(abs(size - published_size(3, 0.25)))
    assert errors[-1] < 1e-4
    assert all(8.9 < coarse / fine < 9.1 for coarse, fine in pairwise(errors))


@pytest.mark.parametrize("kind", NOISY)
@pytest.mark.parametrize("epsilon", ["0.1", "1", "8"])
def test_the_tail_on_the_last_output_is_as_small_as_stated(kind, epsilon):
    ends = kind(Interval(0, 1, points=41), epsilon).matrix()[:, [0, -1]]
    assert ends.max() <= 2.0**-30 * 1.001
    assert ends.min() > 0


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_duchi_has_the_published_reports_and_variance(epsilon):
    e = math.exp(float(epsilon))
    b = (e + 1) / (e - 1)
    domain = Interval(-1, 1, points=41)
    mechanism = Duchi(domain, epsilon)
    np.testing.assert_allclose(mechanism.outputs.to_numpy(), [-b, b], rtol=1e-11)
    _, variance = moments(mechanism)
    np.testing.assert_allclose(variance, b**2 - domain.to_numpy() ** 2, rtol=1e-9)
    chances = 1 / 2 + domain.to_numpy() * (e - 1) / (2 * (e + 1))
    np.testing.assert_allclose(mechanism.matrix()[:, 1], chances, rtol=1e-11)


def piecewise_variance(epsilon, x):
    s = math.exp(epsilon / 2)
    return x**2 / (s - 1) + (s + 3) / (3 * (s - 1) ** 2)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_piecewise_has_the_published_range_and_variance(epsilon):
    number = float(epsilon)
    s = math.exp(number / 2)
    domain = Interval(-1, 1, points=41)
    mechanism = Piecewise(domain, epsilon, outputs=20_000)
    c = (s + 1) / (s - 1)
    window = mechanism.m
    # Rounding the window to whole nodes changes its share by half a node.
    assert mechanism.outputs.to_numpy()[-1] == pytest.approx(c, rel=2 / window)
    assert window / len(mechanism.outputs) == pytest.approx(1 / (s + 1), rel=1 / window)
    _, variance = moments(mechanism)
    np.testing.assert_allclose(variance, piecewise_variance(number, domain.to_numpy()), rtol=1 / window)
    # The likely reports of each value are those of its window [l, r].
    l_of_x = (c + 1) * domain.to_numpy() / 2 - (c - 1) / 2
    starts = mechanism.outputs.to_numpy()[(mechanism.matrix() > 1.01 / len(mechanism.outputs)).argmax(axis=1)]
    np.testing.assert_allclose(starts, l_of_x, rtol=0, atol=3 * c / window)


def test_the_variance_of_piecewise_converges_with_the_number_of_outputs():
    errors = []
    domain = Interval(-1, 1, points=11)
    for outputs in (300, 3_000, 30_000):
        _, variance = moments(Piecewise(domain, 2, outputs=outputs))
        errors.append(float(np.abs(variance / piecewise_variance(2, domain.to_numpy()) - 1).max()))
    # O(1/m) at least: ten times the outputs, a tenth of the bound.
    bounds = [(math.e + 1) / outputs for outputs in (300, 3_000, 30_000)]
    assert all(error < bound for error, bound in zip(errors, bounds, strict=True))
    assert errors[2] < errors[0] / 10


@pytest.mark.parametrize("epsilon", ["0.61", "1", "2.5", "4", "6", "8"])
def test_hybrid_has_the_published_worst_variance_at_every_value(epsilon):
    number = float(epsilon)
    s, e = math.exp(number / 2), math.exp(number)
    domain = Interval(-1, 1, points=41)
    mechanism = Hybrid(domain, epsilon, outputs=20_000)
    assert mechanism.piecewise_share == pytest.approx(1 - math.exp(-number / 2), rel=1e-9)
    _, variance = moments(mechanism)
    published = (s + 3) / (3 * s * (s - 1)) + (e + 1) ** 2 / (s * (e - 1) ** 2)
    np.testing.assert_allclose(variance, published, rtol=2 * (s + 1) / 20_000)


def test_hybrid_is_duchi_up_to_the_exact_threshold():
    root = mpmath.findroot(lambda e: 9 * e**3 + 5 * e**2 - 13 * e - 49, 1.84)
    assert pytest.approx(float(mpmath.log(root)), rel=1e-14) == THRESHOLD
    # That is where the two worst variances meet.
    s, e = math.exp(THRESHOLD / 2), math.exp(THRESHOLD)
    mixed = (s + 3) / (3 * s * (s - 1)) + (e + 1) ** 2 / (s * (e - 1) ** 2)
    assert mixed == pytest.approx(((e + 1) / (e - 1)) ** 2, rel=1e-12)
    digits = mpmath.nstr(mpmath.log(root), 25)
    below, above = Epsilon.of(digits[:21]), Epsilon.of(digits[:20] + str(int(digits[20]) + 1))
    assert oracle.number(below) < mpmath.log(root) < oracle.number(above)
    assert not _mixes(below.value) and _mixes(above.value)
    domain = Interval(0, 1, points=5)
    assert Hybrid(domain, "0.609").outputs == Duchi(domain, "0.609").outputs
    assert Hybrid(domain, "0.609").piecewise_share == 0
    assert len(Hybrid(domain, "0.6094").outputs) > 2


# Draws


# Worth


def test_losses_are_those_of_the_reports_as_numbers():
    domain = Interval(0, 10, points=11)
    for kind in UNBIASED:
        mechanism = kind(domain, 1)
        rows, values = mechanism.matrix(), mechanism.outputs.to_numpy()
        away = np.abs(values[None, :] - domain.to_numpy()[:, None])
        np.testing.assert_allclose(loss_of(mechanism).by_value, (rows * away).sum(axis=1), rtol=1e-12)
        np.testing.assert_allclose(loss_of(mechanism, loss="squared").by_value, moments(mechanism)[1], rtol=1e-9)
        assert loss_of(mechanism, loss="zero-one").mean == pytest.approx((rows * (away != 0)).sum(axis=1).mean())
    raw = Laplace(domain, 1)
    np.testing.assert_allclose(loss_of(raw, loss="squared").by_value, moments(raw)[1], rtol=1e-6)


# Specs, pickles, frozen values


def variants(domain):
    yield from (kind(domain, epsilon) for kind in ALL for epsilon in ("0.3", "2"))
    yield from (Laplace(domain, 1, clamped=True), Staircase(domain, 1, gamma=0.3, clamped=True))
    yield Piecewise(domain, 1, outputs=77)


def test_reprs_say_what_was_asked_for_and_build_it_again():
    for mechanism in variants(Interval(0, 1, points=23)):
        assert eval(repr(mechanism)) == mechanism  # noqa: S307 (our own text)


DOMAIN = Interval(0, 1, points=5)


# Errors


@pytest.mark.parametrize("kind", ALL)
def test_domains_that_do_not_fit_are_refused(kind):
    with pytest.raises(DesignError, match=f"Expected domain as bp.Interval for {kind.__name__}, got Integers"):
        kind(Integers(18, 90), 1)
    with pytest.raises(InputError, match="bp.Integers for a range, got a list"):
        kind([0, 1], 1)
    with pytest.raises(InputError, match="got the outputs of another mechanism"):
        kind(kind(DOMAIN, 1).outputs, 1)
    with pytest.raises(EpsilonError):
        kind(DOMAIN, 0)
    with pytest.raises(InputError, match="got the outputs of another mechanism"):
        GRR(Duchi(DOMAIN, 1).outputs, 1)


def test_errors_say_what_to_do():
    with pytest.raises(DesignError, match="use at most 10059 points, a larger ε, or clamped=True"):
        Laplace(Interval(0, 1, points=20_000), "0.05")
    with pytest.raises(DesignError, match="use a larger ε, or clamped=True"):
        Laplace(Interval(0, 1, points=3), "0.000001")
    with pytest.raises(InputError, match="Expected clamped=True or False"):
        Laplace(DOMAIN, 1, clamped="yes")
    with pytest.raises(DesignError, match="use fewer points, or clamped=True"):
        Laplace(Interval(2**20 - 1e-7, 2**20 - 2**-33, points=100), 1)
    with pytest.raises(DesignError, match="use at least 29 points"):
        Staircase(Interval(0, 1, points=20), 8)
    with pytest.raises(DesignError, match="use gamma=None for the best"):
        Staircase(DOMAIN, 1, gamma=0)
    with pytest.raises(InputError, match="Expected gamma from 0 to 1, got 2"):
        Staircase(DOMAIN, 1, gamma=2)
    with pytest.raises(DesignError, match="use another ε, or fewer points"):
        Duchi(DOMAIN, 45)
    with pytest.raises(DesignError, match="at most 2\\^25"):
        Duchi(Interval(0, 1, points=2**24 + 1), 1)
    with pytest.raises(DesignError, match="use outputs=56 or more"):
        Piecewise(Interval(0, 1, points=11), 8, outputs=10)
    with pytest.raises(InputError, match="Expected outputs from 2 to 2\\^22"):
        Piecewise(DOMAIN, 1, outputs=1)
    with pytest.raises(DesignError, match="Expected at most 2\\^22 reports"):
        Piecewise(Interval(0, 1, points=2**22), 1)
    with pytest.raises(DesignError, match="use a larger ε, or fewer outputs"):
        Piecewise(DOMAIN, "0.0000000001")
    with pytest.raises(DesignError, match="at most 2\\^25 ticket counts, got 30000 × 48196; use fewer outputs"):
        Hybrid(Interval(0, 1, points=30_000), 1, outputs=30_000)
    with pytest.raises(DesignError, match="fewer outputs, or an Interval nearer to zero"):
        Piecewise(Interval(1e9, 1e9 + 1e-4, points=20), 1, outputs=2**20)
    with pytest.raises(DomainError, match="ascending, finite reports"):
        Outputs.of_numbers([1.0, 1.0])


def test_explicit_outputs_are_a_domain_to_read():
    outputs = Duchi(DOMAIN, 1).outputs
    assert repr(Outputs.of_numbers([1, 2])) == "Outputs.of_numbers([1.0, 2.0])"
    assert repr(Piecewise(DOMAIN, 1).outputs).startswith("<10")
    assert outputs.encode(outputs[1]) == 1 and 0.5 not in outputs
    assert outputs[:].tolist() == list(outputs) == outputs.to_numpy().tolist()
    assert hash(outputs) == hash(pickle.loads(pickle.dumps(outputs)))
    assert not outputs.nodes.flags.writeable
    with pytest.raises(OutsideDomainError, match="not one of the possible reports"):
        outputs.encode(0.5)
    with pytest.raises(DomainError, match="pass values of mech.domain"):
        outputs.encode_array(np.zeros(1))
    with pytest.raises(DomainError, match="have no spec"):
        outputs.to_spec()


@pytest.mark.parametrize("points", [33, 1000])
def test_noise_with_no_ticket_for_a_shift_is_refused(points):
    with pytest.raises(DesignError, match="2\\^52 tickets cannot keep ε=0.00000000000001 on"):
        Laplace(Interval(0, 1, points=points), "1e-14", clamped=True)
