"""Bins reported as means: against every partition in fractions, and the programme over a fine grid of reports."""

import itertools
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

import bipartite as bp
from bipartite.errors import DesignError, InputError, PriorError
from bipartite.mechanisms.design.anchors_line import best_bins


def means_of(prior, e, bins):
    """The posterior mean of each bin, by the formula of the issue; bins as lists of values."""
    whole = sum(p * x for x, p in enumerate(prior))
    return [
        ((e - 1) * sum(prior[x] * x for x in each) + whole) / ((e - 1) * sum(prior[x] for x in each) + 1)
        for each in bins
    ]


def loss_of(prior, e, bins, reports):
    """The expected squared loss of GRR on bins, by its definition."""
    own = {x: at for at, each in enumerate(bins) for x in each}
    total = 0
    for x, p in enumerate(prior):
        squares = [(x - report) ** 2 for report in reports]
        total += p * ((e - 1) * squares[own[x]] + sum(squares)) / (e + len(bins) - 1)
    return total


def partitions(size):
    for cuts in itertools.product((False, True), repeat=size - 1):
        edges = [0, *(at + 1 for at, cut in enumerate(cuts) if cut), size]
        yield [list(range(a, b)) for a, b in itertools.pairwise(edges)]


def best_of_all(prior, e):
    """The least loss over all bins, in fractions."""
    return min((loss_of(prior, e, bins, means_of(prior, e, bins)), bins) for bins in partitions(len(prior)))


def least_on_a_grid(prior, e, grid):
    """The linear programme over all ε-LDP releases whose reports are numbers of a grid."""
    size, outputs = len(prior), len(grid)
    losses = (np.arange(size)[:, None] - grid) ** 2
    each_z = sparse.kron(np.ones((size, 1)), sparse.identity(outputs))
    cells = sparse.identity(size * outputs)
    above = sparse.vstack([sparse.hstack([cells, -e * each_z]), sparse.hstack([-cells, each_z])]).tocsr()
    sums = sparse.kron(sparse.identity(size), np.ones((1, outputs)))
    sums = sparse.hstack([sums, sparse.csr_matrix((size, outputs))]).tocsr()
    cost = np.append((np.array(prior)[:, None] * losses).ravel(), np.zeros(outputs))
    solved = linprog(cost, above, np.zeros(above.shape[0]), sums, np.ones(size))
    assert solved.status == 0
    return solved.fun


@pytest.mark.grid(8)
@pytest.mark.parametrize("case", range(20))
def test_the_bins_are_the_best_of_all_partitions(case):
    rng = np.random.default_rng(case)
    size = int(rng.integers(2, 9))
    weights = [Fraction(int(each)) for each in rng.integers(case % 2, 20, size)]
    if not sum(weights):
        weights[0] = Fraction(1)
    prior = [each / sum(weights) for each in weights]
    e = Fraction(int(rng.integers(105, 4000)), 100)
    best, bins = best_of_all(prior, e)
    choice = best_bins(np.array(prior, dtype=float), float(1 / (e - 1)))
    assert choice.loss == pytest.approx(float(best), rel=1e-9, abs=1e-12)
    assert choice.lower <= choice.loss and choice.lower == pytest.approx(float(best), rel=1e-9, abs=1e-9)
    assert float(best) >= choice.lower - 1e-15
    mine = [list(range(a, b)) for a, b in itertools.pairwise([*choice.starts.tolist(), size])]
    assert choice.means == pytest.approx([float(each) for each in means_of(prior, e, mine)], abs=1e-8)
    if len(mine) == len(bins):
        assert loss_of(prior, e, mine, means_of(prior, e, mine)) <= best + Fraction(1, 10**12)


@pytest.mark.parametrize("case", range(4))
def test_no_release_that_reports_numbers_of_a_fine_grid_is_better(case):
    rng = np.random.default_rng(50 + case)
    size, e = int(rng.integers(2, 6)), float(np.exp(rng.uniform(0.3, 3)))
    prior = rng.dirichlet(np.ones(size))
    choice = best_bins(prior, 1 / (e - 1))
    on_grid = least_on_a_grid(prior, e, np.linspace(0, size - 1, 20 * (size - 1) + 1))
    # A report moved to the grid by at most 1/40 costs at most (1/40)² more, as the loss is flat around a mean.
    assert choice.lower - 1e-7 <= on_grid <= choice.loss + 1 / 1600 + 1e-7


@pytest.mark.parametrize(
    ("size", "epsilon", "saved"),
    [(2, "0.5", 0.38), (2, "1", 0.27), (2, "2", 0.12), (5, "1", 0.082), (20, "1", 0.0013), (100, "1", 0.0005)],
)
def test_what_is_saved_over_values(size, epsilon, saved):
    domain = bp.Integers(1, size)
    values, means = (bp.Anchored(domain, epsilon, loss="squared", outputs=each) for each in ("values", "means"))
    losses = [bp.loss(each, loss="squared").mean for each in (values, means)]
    assert 1 - losses[1] / losses[0] == pytest.approx(saved, abs=0.006 if size < 20 else 6e-4)
    assert losses[1] == pytest.approx(means.achieved_loss, rel=1e-8) and means.gap < 1e-9


def test_it_is_what_anchored_gives_for_means():
    domain = bp.Interval(-1, 1, points=5)
    mechanism = bp.Anchored(domain, 2, loss="squared", outputs="means")
    assert type(mechanism) is bp.AnchoredMeans and mechanism == bp.AnchoredMeans(domain, 2)
    assert isinstance(mechanism, bp.Anchored)
    assert repr(mechanism) == f"AnchoredMeans(Interval(-1.0, 1.0, points=5), epsilon=2, {len(mechanism.bins)} means)"
    assert bp.verify(mechanism).holds
    assert mechanism.achieved_loss == pytest.approx(bp.loss(mechanism, loss="squared").mean, rel=1e-9)
    twin = pickle.loads(pickle.dumps(mechanism))
    assert twin == mechanism and (twin.gap, twin.anchors) == (mechanism.gap, mechanism.anchors)
    assert set(mechanism.privatize([-1.0, 0.3, 1.0] * 50)) == set(mechanism.anchors)
    told = []
    assert bp.AnchoredMeans(domain, 2, progress=told.append) == mechanism and told == [1.0]


def test_reports_are_rounded_to_nine_decimals_of_a_step():
    mechanism = bp.AnchoredMeans(bp.Integers(10, 11), 1)
    exact = math.exp(1) / (1 + math.exp(1))
    assert mechanism.anchors == [10 + round(1 - exact, 9), 10 + round(exact, 9)]


def test_bins_that_rounding_reports_alike_are_one():
    mechanism = bp.AnchoredMeans(bp.Integers(0, 1), 1, prior=[1 - 1e-12, 1e-12])
    assert mechanism.anchors == [0.0] and bp.verify(mechanism).ratio == 1
    assert mechanism.lower_bound <= mechanism.achieved_loss == pytest.approx(1e-12)


def test_what_its_reports_tell_is_estimated():
    mechanism = bp.AnchoredMeans(bp.Integers(0, 1), 1)
    people = np.repeat([0, 1], [6_000, 14_000])
    found = bp.estimate(mechanism, mechanism.privatize(people, rng=bp.insecure_seed(3)))
    # Seeded; outside by chance once in 10^9.
    low, high = found.ask().ci(1 - 1e-9)
    assert low < 0.7 < high and high - low < 0.3
    several = bp.AnchoredMeans(bp.Integers(1, 9), 1)
    assert not bp.identifiability(several).identifiable


def test_a_mean_at_an_end_stays_within_the_domain_however_it_is_rounded():
    line = bp.Interval(-0.3, 7.4, points=10)
    mechanism = bp.AnchoredMeans(line, 0.5, prior=[0] * 9 + [1])
    assert line.low + line.step * 9 > line.high  # by rounding
    assert mechanism.anchors == [7.4]
    assert bp.from_spec(mechanism.to_spec()) == mechanism == pickle.loads(pickle.dumps(mechanism))


def test_a_plan_and_the_command_line_name_it(capsys):
    column = {"domain": {"integers": [1, 5]}, "mechanism": "anchored-means", "epsilon": 1}
    assert bp.Plan.from_dict({"columns": {"stars": column}}).mechanisms()["stars"] == bp.AnchoredMeans(
        bp.Integers(1, 5), 1
    )
    from bipartite.cli import main

    assert main(["design", "1..5", "--mechanism", "anchored-means", "--epsilon", "1"]) == 0
    assert "AnchoredMeans(Integers(1, 5), epsilon=1, 2 means)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("build", "kind", "message"),
    [
        (
            lambda: bp.Anchored(bp.Integers(1, 5), 1, loss=None, outputs="means"),
            InputError,
            "Expected loss='squared' with outp",
        ),
        (lambda: bp.AnchoredMeans(bp.Integers(1, 5), 1, loss=np.abs), InputError, "Expected loss='squared'"),
        (lambda: bp.AnchoredMeans(bp.Integers(1, 5), 1, outputs="values"), InputError, "Expected outputs='means'"),
        (lambda: bp.Anchored(bp.Integers(1, 5), 1, outputs="modes"), InputError, "Expected outputs='values' or 'mea"),
        (lambda: bp.Anchored(bp.Integers(1, 5), 1, anchors=[2], outputs="means"), InputError, "Given anchors need no"),
        (lambda: bp.AnchoredMeans(bp.Points([[0, 0], [1, 1]]), 1), DesignError, "Expected domain as bp.Integers or"),
        (lambda: bp.AnchoredMeans(bp.Integers(1, 4097), 1), DesignError, "at most 4096 values for means, got 4097"),
        (lambda: bp.AnchoredMeans(bp.Integers(1, 5), 1, prior=[1]), PriorError, "Expected prior as 5 probabilities"),
    ],
)
def test_what_does_not_fit_is_refused(build, kind, message):
    with pytest.raises(kind, match=message):
        build()
