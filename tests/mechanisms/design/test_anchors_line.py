"""The best anchors on a line: against every subset, against the linear programme, and one way against the other."""

import itertools
import math
import subprocess
import sys

import numpy as np
import pytest

from bipartite.errors import DesignError, InputError
from bipartite.mechanisms.design import anchors_line
from bipartite.mechanisms.design.anchors_line import best_anchors_on_line
from bipartite.mechanisms.design.optimum import optimal_matrix

LOSSES = ["absolute", "squared", "table"]


def random_prior(rng, size):
    """Uneven weights, about a third of them zero."""
    weights = rng.random(size) ** rng.integers(1, 6) * (rng.random(size) < 0.7)
    weights[rng.integers(size)] += 0.1
    return weights / weights.sum()


def loss_and_table(rng, size, kind):
    """The argument, and the loss at every distance."""
    steps = np.arange(size)
    if kind == "table":
        # Steps of all sizes, with plateaus: not convex, not concave.
        table = np.cumsum(rng.random(size) ** 3 * (rng.random(size) < 0.8)) - 0.3
        return table, table
    return kind, steps.astype(float) if kind == "absolute" else steps.astype(float) ** 2


def loss_of(anchors, prior, e, table):
    """F(A) as its formula says, from the N × N matrix."""
    size = len(prior)
    matrix = table[np.abs(np.arange(size)[:, None] - np.arange(size))][:, list(anchors)]
    near, far = (e - 1) * matrix.min(axis=1), matrix.sum(axis=1)
    return math.fsum(prior * (near + far)) / (e + len(anchors) - 1)


def least_of_all_subsets(prior, e, table):
    sets = (s for k in range(1, len(prior) + 1) for s in itertools.combinations(range(len(prior)), k))
    return min(loss_of(anchors, prior, e, table) for anchors in sets)


@pytest.fixture(params=["numpy", "numba"])
def way(request, monkeypatch):
    """Both ways to solve, whatever the size."""
    monkeypatch.setattr(anchors_line, "COMPILE_FROM", 1 if request.param == "numba" else 10**9)


@pytest.mark.parametrize("kind", LOSSES)
@pytest.mark.usefixtures("way")
def test_no_subset_is_better(kind):
    rng = np.random.default_rng(11)
    for size in (1, 2, 3, 4, 5, 6, 7, 8, 9):
        for epsilon in (0.1, 0.7, 2, 4, 6):
            prior, e = random_prior(rng, size), math.exp(epsilon)
            loss, table = loss_and_table(rng, size, kind)
            choice = best_anchors_on_line(size, e, prior, loss)
            least = least_of_all_subsets(prior, e, table)
            assert choice.loss == pytest.approx(least, rel=1e-12, abs=1e-15), (size, epsilon)
            assert choice.loss == pytest.approx(loss_of(choice.anchors, prior, e, table), rel=1e-12, abs=1e-15)
            assert choice.lower <= least + 1e-15
            assert choice.lower == pytest.approx(least, rel=1e-9, abs=1e-12)
            assert (np.diff(choice.anchors) > 0).all() and choice.anchors.dtype == np.int64


@pytest.mark.parametrize("kind", LOSSES)
def test_no_release_of_any_form_is_better(kind):
    # The linear programme knows nothing of anchors.
    rng = np.random.default_rng(7)
    for _ in range(20):
        size = int(rng.integers(10, 41))
        prior, e = random_prior(rng, size), math.exp(rng.uniform(0.1, 6))
        loss, table = loss_and_table(rng, size, kind)
        choice = best_anchors_on_line(size, e, prior, loss)
        matrix = table[np.abs(np.arange(size)[:, None] - np.arange(size))]
        _, optimum = optimal_matrix(matrix, e, prior)
        reach = optimum - table[0]  # what depends on the release
        assert choice.loss - table[0] == pytest.approx(reach, rel=1e-7)
        assert choice.lower - table[0] <= reach * (1 + 1e-9)


@pytest.mark.parametrize(
    ("size", "epsilon", "expected"),
    [
        *[(40, epsilon, value) for epsilon, value in zip((0.25, 1, 2, 3), (9.86, 8.53, 6.24, 4.24), strict=True)],
        *[(100, epsilon, value) for epsilon, value in zip((1, 2, 3), (21.346, 15.614, 10.625), strict=True)],
    ],
)
def test_known_optima_of_the_absolute_loss(size, epsilon, expected):
    digits = 2 if size == 40 else 3
    assert round(best_anchors_on_line(size, math.exp(epsilon), None, "absolute").loss, digits) == expected


@pytest.mark.parametrize(("epsilon", "expected"), [(0.5, 0.571), (1, 0.536), (2, 0.440), (3, 0.337), (5, 0.185)])
def test_known_optima_of_the_squared_loss(epsilon, expected):
    # 81 points of [−1, 1]: a step is 2/80. 0.4395 rounds to .440 in the table from which this is taken.
    rmse = math.sqrt(best_anchors_on_line(81, math.exp(epsilon), None, "squared").loss) * 2 / 80
    assert rmse == pytest.approx(expected, abs=6e-4)


@pytest.mark.grid(2)
@pytest.mark.parametrize("loss", ["absolute", "squared"])
@pytest.mark.parametrize("epsilon", [0.05, 1, 3, 8, 13])
def test_compiled_and_numpy_agree_on_longer_lines(loss, epsilon, monkeypatch):
    rng = np.random.default_rng(2)
    for size in (700, 1500):
        places = np.arange(size)
        for prior in (None, random_prior(rng, size), np.exp(-0.5 * ((places - size / 3) / 20) ** 2)):
            weights = None if prior is None else prior / prior.sum()
            choices = []
            for compile_from in (1, 10**9):
                monkeypatch.setattr(anchors_line, "COMPILE_FROM", compile_from)
                choices.append(best_anchors_on_line(size, math.exp(epsilon), weights, loss))
            compiled, plain = choices
            assert compiled.loss == pytest.approx(plain.loss, rel=1e-11)
            # Two proofs of the same optimum: neither bound may exceed the other's loss.
            assert max(compiled.lower, plain.lower) <= min(compiled.loss, plain.loss)
            assert min(compiled.lower, plain.lower) == pytest.approx(plain.loss, rel=1e-7)


@pytest.mark.grid(1)
@pytest.mark.parametrize("loss", ["absolute", "squared"])
@pytest.mark.parametrize("epsilon", [0.05, 1, 8])
def test_a_hundred_thousand_points_scale_as_the_continuum_does(loss, epsilon):
    # Losses in units of the domain converge as the grid gets finer, so 4000 points foretell (O(N²), other code).
    power = 1 if loss == "absolute" else 2
    steps = np.arange(4000.0) ** power
    coarse = best_anchors_on_line(4000, math.exp(epsilon), None, steps).loss / 4000**power
    fine = best_anchors_on_line(10**5, math.exp(epsilon), None, loss)
    assert fine.loss / 10 ** (5 * power) == pytest.approx(coarse, rel=2e-3)
    assert fine.loss * (1 - 1e-9) <= fine.lower <= fine.loss


def test_atoms_far_apart_are_served_as_if_nothing_lay_between():
    # Mass on 5 of 10^5 points: anchors on points without mass may help as compromises, so all 10^5 stay candidates.
    places = np.array([10, 40_000, 40_001, 70_000, 99_990])
    prior = np.zeros(10**5)
    prior[places] = [0.3, 0.1, 0.2, 0.25, 0.15]
    e = math.exp(4)
    choice = best_anchors_on_line(10**5, e, prior, "absolute")
    # With |x − y| an atom is always among the best places for an anchor, so subsets of atoms suffice.
    distances = np.abs(places[:, None] - places)
    least = min(
        float(prior[places] @ ((e - 1) * distances[:, s].min(axis=1) + distances[:, s].sum(axis=1))) / (e + k - 1)
        for k in range(1, 6)
        for s in itertools.combinations(range(5), k)
    )
    assert choice.loss == pytest.approx(least, rel=1e-12)


@pytest.mark.usefixtures("way")
def test_a_tiny_budget_gives_the_median_and_a_huge_one_gives_grr():
    for e in (1.0, 1 + 2**-52, 1 + 1e-9):
        choice = best_anchors_on_line(101, e, None, "absolute")
        assert choice.anchors.tolist() == [50] and choice.loss == pytest.approx((101**2 - 1) / 404, rel=1e-12)
    for e in (1e6, 1e15, 1e300):
        choice = best_anchors_on_line(20, e, None, "absolute")
        assert choice.anchors.tolist() == list(range(20))
        assert choice.loss == pytest.approx((20**2 - 1) / 3 / (e + 19), rel=1e-12)


@pytest.mark.usefixtures("way")
def test_the_choice_is_the_same_every_time_and_ties_go_left():
    # All mass on two points and no budget: every point between them is a median.
    prior = np.zeros(50)
    prior[[10, 30]] = 0.5
    assert best_anchors_on_line(50, 1.0, prior, "absolute").anchors.tolist() == [10]
    choices = {tuple(best_anchors_on_line(60, 5.0, None, "squared").anchors) for _ in range(3)}
    assert len(choices) == 1


def test_a_constant_in_every_loss_is_only_added():
    table = np.sqrt(np.arange(30.0))
    plain, shifted = (best_anchors_on_line(30, 4.0, None, t) for t in (table, table - 5))
    assert shifted.anchors.tolist() == plain.anchors.tolist()
    assert shifted.loss == pytest.approx(plain.loss - 5, rel=1e-12)
    assert shifted.lower == pytest.approx(plain.lower - 5, rel=1e-12)


@pytest.mark.parametrize(
    ("size", "e", "loss", "kind", "message"),
    [
        (0, 2.0, "absolute", InputError, "Expected size as a whole number of at least 1, got 0; give the number"),
        (2.5, 2.0, "absolute", InputError, "got 2.5; give the number of points"),
        (5, 0.99, "absolute", InputError, r"Expected e as e\^ε, a finite number .* got 0.99; pass math.exp"),
        (5, math.nan, "absolute", InputError, "got nan; pass math.exp"),
        (5, 2.0, "cubic", InputError, "Expected loss as 'absolute', 'squared' or an array of 5 numbers, got 'cubic'"),
        (5, 2.0, np.zeros(4), InputError, r"got an array of float64 of shape \(4,\); one per distance"),
        (5, 2.0, np.array([0, 2, 1, 3, 4]), InputError, "finite and non-decreasing; use optimal_matrix"),
        (2, 2.0, np.array([0, np.inf]), InputError, "finite and non-decreasing"),
        (4097, 2.0, np.arange(4097), DesignError, "Expected a table of at most 4096 losses, got 4097; use 'absolute'"),
    ],
)
def test_what_is_no_line_is_refused(size, e, loss, kind, message):
    with pytest.raises(kind, match=message):
        best_anchors_on_line(size, e, None, loss)


def test_without_numba_short_lines_work_and_long_ones_say_what_to_install():
    code = (
        "import sys; sys.modules['numba'] = None\n"
        "from bipartite.mechanisms.design.anchors_line import best_anchors_on_line\n"
        "print(best_anchors_on_line(3000, 20.0, None, 'absolute').loss)\n"
        "try: best_anchors_on_line(2**15 + 1, 20.0, None, 'absolute')\n"
        "except Exception as problem: print(type(problem).__name__, problem)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    loss, message = done.stdout.splitlines()
    assert float(loss) == pytest.approx(best_anchors_on_line(3000, 20.0, None, "absolute").loss, rel=1e-12)
    assert message == (
        "DesignError Expected at most 32768 points without numba, got 32769; "
        'run pip install "bipartite[fast]" (in a checkout: pip install ".[fast]"), or use a coarser line.'
    )
