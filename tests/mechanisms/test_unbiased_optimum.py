"""Optimal(unbiased=True): exactly unbiased in whole numbers, ε kept, and no unbiased report on its grid is better."""

import pickle
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

import bipartite as bp
from bipartite.answers.advise.candidates import candidates
from bipartite.errors import DesignError, InputError, SpecError
from bipartite.mechanisms.design.unbiased import slack, tickets_with_means, unbiased_matrix


def noise(mechanism, scores=None):
    """The variance of a score given each value, in units of half the range."""
    x = mechanism.domain.to_numpy().astype(float)
    v = mechanism.outputs.to_numpy() if scores is None else scores
    half = (x[-1] - x[0]) / 2
    return ((mechanism.matrix() @ v**2) - x**2) / half**2


CASES = [
    (size, epsilon, prior)
    for size in (2, 3, 7, 12)
    for epsilon in ("0.05", "0.5", "1", "3", "8")
    for prior in (None, "minimax", "tilted")
]


def prior_of(name, size):
    return np.arange(1, size + 1) / np.arange(1, size + 1).sum() if name == "tilted" else name


@pytest.mark.grid(8)
@pytest.mark.parametrize(("size", "epsilon", "prior"), [*CASES, (60, "2", None), (40, "1", "minimax")])
def test_the_mean_of_a_report_is_its_value_exactly(size, epsilon, prior):
    mech = bp.Optimal(bp.Integers(-4, size - 5), epsilon, unbiased=True, prior=prior_of(prior, size))
    rows, outputs = mech.lottery.tickets.tolist(), [Fraction(y) for y in mech.outputs]
    total = sum(rows[0])
    for value, row in zip(mech.domain, rows, strict=True):
        assert sum(row) == total <= 2**52
        assert sum(count * y for count, y in zip(row, outputs, strict=True)) == value * total
    assert mech.bias == 0
    # ε is kept, and hardly less than asked for is spent.
    certificate = bp.verify(mech)
    assert certificate.holds and certificate.ratio == max(Fraction(max(c), min(c)) for c in zip(*rows, strict=True))
    assert 0 < 1 - float(certificate.epsilon_upper) / float(epsilon) < 1e-5
    assert len(outputs) <= (2 if prior != "minimax" else 3) * size + 3


@pytest.mark.parametrize("points", [2, 5, 33])
def test_on_an_interval_only_the_rounding_of_doubles_is_left(points):
    domain = bp.Interval(-1.3, 17.77, points=points, rounding="random")
    mech = bp.Optimal(domain, 1, unbiased=True)
    spread = float(np.abs(mech.outputs.to_numpy()).max())
    means = [
        sum(Fraction(count) * Fraction(y) for count, y in zip(row, mech.outputs, strict=True)) / sum(row)
        for row in mech.lottery.tickets.tolist()
    ]
    off = max(abs(mean - Fraction(x)) for mean, x in zip(means, domain, strict=True))
    assert off <= mech.bias <= float(off) * (1 + 1e-12) < spread * 2**-50


def least_variance(size, e, prior, outputs):
    """Another programme: entries of P themselves, and every two values of a column; HiGHS by its interior point."""
    x = np.linspace(-1, 1, size)
    count = size * len(outputs)
    at = np.arange(count).reshape(size, -1)
    equal = np.zeros((2 * size, count + 1))
    for row in range(size):
        equal[row, at[row]] = 1
        equal[size + row, at[row]] = outputs
    pairs = [(a, b) for a in range(size) for b in range(size) if a != b]
    below = np.zeros((len(pairs) * len(outputs), count + 1))
    for number, (a, b) in enumerate(pairs):
        for y in range(len(outputs)):
            below[number * len(outputs) + y, [at[a, y], at[b, y]]] = 1, -e
    limits = np.zeros(len(below))
    square = (outputs[None, :] - x[:, None]) ** 2
    if isinstance(prior, str):
        worst = np.zeros((size, count + 1))
        worst[:, -1] = -1
        for row in range(size):
            worst[row, at[row]] = square[row]
        below, limits = np.vstack([below, worst]), np.zeros(len(below) + size)
        cost = np.eye(count + 1)[-1]
    else:
        weights = np.full(size, 1 / size) if prior is None else prior
        cost = np.append((weights[:, None] * square).ravel(), 0)
    found = linprog(cost, below, limits, equal, np.concatenate([np.ones(size), x]), method="highs-ipm")
    assert found.status == 0
    return found.fun


@pytest.mark.grid(6)
@pytest.mark.parametrize(("size", "epsilon"), [(2, 1), (3, 0.5), (4, 2), (6, 1), (6, 4)])
@pytest.mark.parametrize("prior", [None, "minimax", "tilted"])
def test_no_unbiased_report_on_a_coarse_or_a_wider_grid_is_better(size, epsilon, prior):
    weights = prior_of(prior, size)
    mech = bp.Optimal(bp.Integers(1, size), epsilon, unbiased=True, prior=weights)
    variances = noise(mech)
    ours = variances.max() if prior == "minimax" else variances.mean() if prior is None else weights @ variances
    grid = (mech.outputs.to_numpy() - (size + 1) / 2) / ((size - 1) / 2)
    step = np.diff(grid).min()
    # Its own outputs and others around them, then three times as far: nothing is gained but by a finer grid, at most
    # step²/4. The slack in ε costs some 1e-6.
    own = least_variance(size, np.exp(epsilon), weights, grid)
    assert ours == pytest.approx(own, rel=1e-5)
    wide = np.union1d(grid, np.linspace(3 * grid[0], 3 * grid[-1], 33))
    assert ours * (1 - 1e-5) - step**2 / 4 <= least_variance(size, np.exp(epsilon), weights, wide) <= own * (1 + 1e-7)


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1, 2, 4])
def test_of_two_values_it_is_duchis_mechanism_up_to_the_grid(epsilon):
    mech = bp.Optimal(bp.Integers(0, 1), epsilon, unbiased=True)
    duchi = bp.Duchi(bp.Interval(0, 1, points=2), epsilon)
    step = 2 * float(np.diff(mech.outputs.to_numpy()).min())
    assert noise(duchi).max() <= noise(mech).max() * (1 + 1e-5) <= (noise(duchi).max() + step**2 / 4) * (1 + 2e-5)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.5, 1, 2, 4])
def test_others_for_means_come_near_it(epsilon):
    domain = bp.Interval(-1, 1, points=60)
    best, worst = (bp.Optimal(domain, epsilon, unbiased=True, prior=prior) for prior in (None, "minimax"))
    least, least_worst = noise(best).mean(), noise(worst).max()
    brr = bp.BRR(domain, epsilon, m="mean", edges="padded")
    error = bp.forecast(brr, 1)
    # What bp.estimate answers from BRR's reports: its variance less that of the people.
    assert 1 <= (error**2 - np.var(domain.to_numpy())) / least < 1.09
    for other in (bp.Duchi(domain, epsilon), bp.Piecewise(domain, epsilon), bp.Hybrid(domain, epsilon)):
        assert least <= noise(other).mean() and least_worst <= noise(other).max()
    assert noise(best).max() >= least_worst * (1 - 1e-5) and noise(worst).mean() >= least * (1 - 1e-5)


def test_bp_estimate_answers_with_the_forecast_error_and_holds():
    domain = bp.Integers(0, 20)
    mech = bp.Optimal(domain, 1, unbiased=True)
    people = np.random.default_rng(1).integers(0, 21, 20_000)
    reports = mech.privatize(people, rng=bp.insecure_seed(2))
    assert reports.dtype == np.float64
    est = bp.estimate(mech, reports)
    # Seeded: an interval of level 1 − 1e-9 misses with probability 1e-9, in the normal approximation.
    low, high = est.ask().ci(1 - 1e-9)
    assert low < people.mean() < high
    # The plain average is as good, but for what the grid leaves.
    assert abs(reports.mean() - people.mean()) < 6.2 * bp.forecast(mech, 20_000)
    assert bp.forecast(mech, 1) ** 2 - np.var(np.arange(21)) == pytest.approx(noise(mech).mean() * 100, rel=2e-3)


def test_intervals_of_the_mean_hold_as_often_as_they_say():
    domain = bp.Integers(0, 9)
    mech = bp.Optimal(domain, 2, unbiased=True, prior="minimax")
    share = np.array([5, 1, 1, 1, 1, 1, 1, 1, 4, 4]) / 20
    rng, held, times = np.random.default_rng(3), 0, 400
    for number in range(times):
        people = rng.choice(10, 300, p=share)
        low, high = bp.estimate(mech, mech.privatize(people, rng=bp.insecure_seed(number))).ask().ci(0.9)
        held += low < share @ np.arange(10) < high
    # Seeded. At exactly 90 % the count has a standard deviation of 6; 38 is more than six of them.
    assert 360 - 38 < held < 360 + 38


def test_the_adviser_knows_it_where_its_programme_is_small():
    compared = bp.compare(bp.Integers(1, 12), [1, 2], n=1000)
    row = compared["Optimal, unbiased", 1]
    assert row.mean_error == min(each.mean_error for each in compared.rows if each.epsilon == "1" and each.mean_error)
    assert (
        "; Optimal, unbiased: 1.6 % less;" in bp.compare(bp.Integers(1, 12), 1, n=1000, purpose="mean").recommendation
    )
    # It is the least, and what is taken is within 5 % of that.
    for epsilon in (1, 3):
        advice = bp.recommend(bp.Integers(1, 12), epsilon, "mean")
        assert advice.best == "Optimal, unbiased" and 1 <= advice.ratio <= 1.05
    assert bp.recommend(bp.Integers(1, 5), "0.5", "mean").mechanism.unbiased
    (candidate,) = [each for each in candidates(bp.Integers(1, 100)) if each.name == "Optimal, unbiased"]
    assert candidate.left_out(bp.Integers(1, 100), 2) is None
    assert candidate.left_out(bp.Integers(1, 101), 2) == (
        "left out: its linear programme takes too long with 101 values and 2 ε; "
        "build bp.Optimal(…, unbiased=True) by itself"
    )
    assert "Optimal, unbiased" not in {row.mechanism for row in bp.compare(bp.Items(None, loss=1 - np.eye(3)), 1).rows}


def test_it_comes_back_from_its_spec_and_from_pickles():
    mech = bp.Optimal(bp.Interval(0, 1, points=4), 1, unbiased=True)
    assert mech.unbiased and not bp.Optimal(bp.Integers(0, 3), 1).unbiased
    assert repr(mech) == "Optimal(Interval(0.0, 1.0, points=4), epsilon=1, unbiased=True)"
    spec = mech.to_spec()
    assert set(spec["outputs"]) == {"numbers"} and spec["mechanism"] == "optimal"
    for twin in (bp.from_spec(spec), pickle.loads(pickle.dumps(mech))):
        assert twin == mech and twin.outputs == mech.outputs and twin.bias == mech.bias
    moved = spec | {"outputs": {"numbers": [*spec["outputs"]["numbers"][:-1], 9.0]}}
    with pytest.raises(SpecError, match="Expected reports whose mean is the value, got one off by .*; ask for another"):
        bp.from_spec(moved)
    pair = bp.Items(["a", "b"], loss=1 - np.eye(2))
    forged = bp.Custom(bp.Integers(0, 1), [0.5, 0.7], [[0.5, 0.5], [0.5, 0.5]], 1).to_spec()
    forged |= {"mechanism": "optimal", "domain": pair.to_spec()}
    with pytest.raises(SpecError, match="Expected numbers as outputs on a line only; ask for another spec"):
        bp.from_spec(forged)


@pytest.mark.parametrize(
    ("domain", "epsilon", "options", "error", "message"),
    [
        (bp.Integers(1, 201), 1, {}, DesignError, "Expected at most 200 values for the best unbiased report, got 201;"),
        (
            bp.Integers(1, 4),
            "12.1",
            {},
            DesignError,
            "Expected ε from 0.0001 to 12 for the best unbiased report, got 12.1;",
        ),
        (
            bp.Integers(1, 4),
            "1e-5",
            {},
            DesignError,
            "Expected ε from 0.0001 to 12 for the best unbiased .*, got 1e-05; use",
        ),
        (bp.Items(None, loss=1 - np.eye(3)), 1, {}, DesignError, "Expected domain as bp.Integers or bp.Interval"),
        (
            bp.Integers(1, 4),
            1,
            {"loss": "zero-one"},
            InputError,
            "Expected no loss with unbiased=True, which minimises",
        ),
        (bp.Integers(1, 4), 1, {"unbiased": "yes"}, InputError, "Expected unbiased as True or False, got 'yes'"),
        (bp.Integers(1, 4), 1, {"prior": [1, 2]}, InputError, "prior"),
    ],
)
def test_what_cannot_be_designed_is_refused(domain, epsilon, options, error, message):
    with pytest.raises(error, match=message):
        bp.Optimal(domain, epsilon, **{"unbiased": True} | options)


def test_a_set_has_no_bias():
    with pytest.raises(InputError, match="whose reports have no mean; use bp.loss"):
        _ = bp.Optimal(bp.Items(None, loss=1 - np.eye(3)), 1).bias
    assert bp.Optimal(bp.Integers(0, 5), 1).bias > 1


def test_tickets_that_leave_no_room_are_refused():
    found = unbiased_matrix(4, float(np.exp(1)) * (1 - slack(1.0)), np.full(4, 1 / 4))
    values = np.arange(4) * found.step
    assert (tickets_with_means(found.matrix, found.outputs, values, bp.lottery.Epsilon.of(1)) > 0).all()
    with pytest.raises(DesignError, match="2\\^52 tickets cannot keep ε=0.9 and every mean exactly; use a smaller ε"):
        tickets_with_means(found.matrix, found.outputs, values, bp.lottery.Epsilon.of("0.9"))
    # Two outputs without room for a single ticket.
    tiny = np.array([[1 - 1e-13, 1e-13], [1 - 1e-13, 1e-13]])
    with pytest.raises(DesignError, match="2\\^52 tickets cannot keep ε=1 and every mean"):
        tickets_with_means(tiny, np.array([0, 10**13]), np.array([1, 1]), bp.lottery.Epsilon.of(1))
