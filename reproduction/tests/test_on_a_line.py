"""Experiments on a line, against computations of their own: definitions, brute force, another linear programme."""

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
import scipy.optimize

from bipartite.lottery import Epsilon
from reproduction.experiments import choice_of_m, jaccard, monotonicity, optimality, qloss_by_epsilon, rows_of_a_line
from reproduction.form import frame
from reproduction.tests.committed import table


def measured(experiment, **point):
    return frame(list(experiment.measure(**point)))


def test_chances_are_those_of_the_definition():
    chances = table("pmf")
    for truth, of in chances[chances["mechanism"] == "BRR"].groupby("truth"):
        near = (of["report"] - 11).abs() <= 3 if truth == 11 else of["report"] <= 7  # m = 7
        expected = np.where(near, math.e, 1) / (7 * math.e + 14)
        np.testing.assert_allclose(of["chance"], expected, rtol=1e-9)
    np.testing.assert_allclose(chances.groupby(["mechanism", "truth"])["chance"].sum(), 1)


def test_local_m_is_that_of_all_choices_of_a_near_set():
    # Every set of near items, by brute force: the least expected error has as many as Algorithm 1 raises.
    for points in range(3, 8):
        for k in range(1, points + 1):
            distances = rows_of_a_line.sorted_distances(points, k)
            for epsilon in ("0.5", "1", "2"):
                e = Fraction(math.exp(float(epsilon)))
                everything = sum(distances)
                _, best = min(
                    ((everything + (e - 1) * sum(distances[i] for i in near)) / (points + (e - 1) * size), size)
                    for size in range(1, points)
                    for near in combinations(range(points), size)
                )  # fmt: skip
                assert rows_of_a_line.local_m(distances, Epsilon.of(epsilon)) == best, (points, k, epsilon)


def test_the_order_of_derivatives_is_that_of_numbers():
    # The signs of the table against derivatives computed in floats at one ε.
    for row in measured(monotonicity, what="table", points=10).itertuples():
        found = []
        for each in (row.value, row.value + 1):
            distances = sorted(abs(each - y) for y in range(1, 11))
            weights = [math.exp(0.7)] * (row.rank - 1) + [1.0] * (11 - row.rank)
            found.append(sum((distances[row.rank - 1] - d) * w for d, w in zip(distances, weights, strict=True)))
        # Below the fifth row, the last one, stands none.
        assert (row.larger_above > 0) == (found[0] > found[1]) or row.value == 5
        assert row.larger_above != 0 or row.value == 5


def test_quality_losses_are_those_of_brute_force():
    distance = np.abs(np.subtract.outer(np.arange(6), np.arange(6)))
    for epsilon in ("0.5", "2"):
        e = math.exp(float(epsilon))
        weights = np.exp(-float(epsilon) * distance / (2 * 5))
        matrices = {
            "GRR": np.where(distance == 0, e, 1) / (e + 5),
            "Exponential": weights / weights.sum(axis=1, keepdims=True),
        }
        found = measured(qloss_by_epsilon, points=6, epsilon=epsilon).set_index("mechanism")["qloss"]
        for name, matrix in matrices.items():
            assert found[name] == pytest.approx((matrix * distance).sum() / 6 / 5, rel=1e-6)


def test_jaccard_similarities_are_those_of_the_formula():
    numbers = np.arange(1, 7)
    product, squares = np.outer(numbers, numbers), np.add.outer(numbers**2, numbers**2)
    e = math.exp(2)
    matrix = np.where(np.eye(6, dtype=bool), e, 1) / (e + 5)
    found = measured(jaccard, points=6, epsilon="2").set_index("mechanism")["utility"]
    assert found["GRR"] == pytest.approx((matrix * product / (squares - product)).sum() / 6, rel=1e-9)


def test_the_optimum_is_never_above_another_mechanism():
    above = optimality.gaps(table("optimality")).drop(columns="limit")
    assert above.min().min() > -1e-6
    assert above["BRR"].max() > 0.05


def test_the_worst_prior_is_one_value_and_its_optimum_is_that_of_another_programme():
    # No average of values has a larger ratio of losses than the worst of them; and the least worst ratio, by a linear
    # programme written out here (P, then z, then t): P within [z, e^ε·z], rows sum to one, each ratio at most t.
    generator = np.random.default_rng(1)
    for points in (5, 8):
        distance = np.abs(np.subtract.outer(np.arange(points), np.arange(points))).astype(float)
        for epsilon in ("0.5", "2"):
            rows = measured(optimality, case=optimality.ANY_PRIOR, points=points, epsilon=epsilon)
            of = rows.set_index("mechanism")["expected_loss"]
            e = math.exp(float(epsilon))
            grr = distance.sum(axis=1) / (e + points - 1)
            best = {}
            for m in range(1, points):
                near = np.argsort(distance, axis=1, kind="stable").argsort(axis=1) < m
                losses = (np.where(near, e, 1) * distance).sum(axis=1) / (m * e + points - m)
                best[m] = (losses / grr).max()
                priors = generator.dirichlet(np.full(points, 0.1), size=200)
                assert ((priors @ losses) / (priors @ grr)).max() <= best[m] + 1e-12
            assert of["BRR, best m"] == pytest.approx(min(best.values()), rel=1e-6)
            assert of["BRR"] in [pytest.approx(each, rel=1e-6) for each in best.values()]
            assert of["limit"] == pytest.approx(least_worst_ratio(distance, grr, e), rel=1e-6)


def least_worst_ratio(distance, grr, e):
    size = len(grr)
    cells = size * size
    each = np.arange(cells)
    above, below = np.zeros((cells, cells + size + 1)), np.zeros((cells, cells + size + 1))
    above[each, each], above[each, cells + each % size] = 1, -e
    below[each, each], below[each, cells + each % size] = -1, 1
    ratios, sums = np.zeros((size, cells + size + 1)), np.zeros((size, cells + size + 1))
    for x in range(size):
        ratios[x, x * size : (x + 1) * size] = distance[x] / grr[x]
        sums[x, x * size : (x + 1) * size] = 1
    ratios[:, -1] = -1
    found = scipy.optimize.linprog(
        np.eye(1, cells + size + 1, cells + size)[0], np.vstack([above, below, ratios]), np.zeros(2 * cells + size),
        sums, np.ones(size), method="highs",
    )  # fmt: skip
    return found.fun


def losses_of_every_m(points, e):
    """Q⁽ᵏ⁾ for every m and value, by definition: the m nearest have weight e."""
    rows = [sorted(abs(k - y) for y in range(points)) for k in range(points)]
    return {
        m: [sum(d * (e if i < m else 1) for i, d in enumerate(row)) / (m * e + points - m) for row in rows]
        for m in range(1, points + 1)
    }


def test_every_m_is_compared_with_the_safe_one_as_by_brute_force():
    larger = steps = worst_is_best = 0
    gaps = []
    for points in range(2, 10):
        for epsilon in rows_of_a_line.EPSILONS:
            of = losses_of_every_m(points, Fraction(math.exp(float(epsilon))))
            safe = min(min(range(1, points + 1), key=lambda m, k=k, of=of: (of[m][k], m)) for k in range(points))
            total = {m: sum(each) for m, each in of.items()}
            worst = {m: max(a / b for a, b in zip(each, of[1], strict=True)) for m, each in of.items()}
            larger += min(total, key=total.get) > safe
            gaps.append(total[safe] / min(total.values()) - 1)
            worst_is_best += worst[safe] == min(worst.values())
            steps += safe - 1
    found = measured(choice_of_m, what="every m", last=9)
    counts = found[["cases", "larger_better", "worst_is_best", "steps", "steps_wrong", "smaller_better"]].sum()
    assert counts.tolist() == [len(gaps), larger, worst_is_best, steps, 0, 0] and larger
    assert found["largest_gap"].max() == pytest.approx(float(max(gaps)))


def test_the_best_m_of_a_larger_line_is_that_of_brute_force():
    for row in measured(choice_of_m, what="large", points=7).itertuples():
        total = {m: sum(of) for m, of in losses_of_every_m(7, Fraction(math.exp(row.epsilon))).items()}
        assert total[row.best_m] == min(total.values())
        assert row.gap == pytest.approx(float(total[row.m] / min(total.values()) - 1))
    curve = measured(choice_of_m, what="curve", points=7, epsilon="2").query("m == 3").set_index("quantity")["ratio"]
    of = losses_of_every_m(7, Fraction(math.exp(2)))
    assert curve["average over values"] == pytest.approx(float(sum(of[3]) / sum(of[1])))
    assert curve["worst value"] == pytest.approx(float(max(a / b for a, b in zip(of[3], of[1], strict=True))))


def test_brr_becomes_grr_at_the_threshold_and_not_before():
    for points in range(5, 25):
        # The second item of some row is not raised: signs of the paper's derivative, in floats at a distance from it.
        for factor in (0.99, 1.01):
            e = factor * math.exp(choice_of_m.threshold(points))
            distances = [[abs(k - y) for y in range(points)] for k in range(points)]
            rises = any(sum((1 - d) * (e if d == 0 else 1) for d in row) >= 0 for row in distances)
            assert rises == (factor > 1), points


def test_ratios_of_centred_windows_are_those_of_brute_force():
    for points in (9, 14):
        for row in measured(choice_of_m, what="centred windows", points=points).itertuples():
            h = Fraction(str(row.h))
            of = losses_of_every_m(points, h * h)
            best = {k: min(range(1, points + 1), key=lambda m, k=k, of=of: (of[m][k], m)) for k in range(points)}
            assert row.m == min(best.values())  # the safe m: the least of the locally best
            centred = [k for k in range(points) if row.m - 1 <= 2 * min(k, points - 1 - k)]
            ratios = [of[row.m][k] / of[1][k] for k in centred]
            assert row.least == pytest.approx(float(min(ratios)))
            assert row.most == pytest.approx(float(max(ratios)))
            assert row.below_low == (min(ratios) < (3 * h + 2) / (2 * h * h + 2 * h + 1))
            assert row.above_high == (max(ratios) > 2 / (h + 1))
