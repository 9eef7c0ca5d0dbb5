"""The lines of ``bench/results/best_release.md``: each number is proved in exact fractions before it is printed.

Run it with ``python docs/optimal_release_example.py``. SciPy proposes a release and a certificate in floats; both are
rounded to fractions and checked exactly. A value is printed only if a release attains it and a certificate forbids
less.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
from scipy.optimize import OptimizeResult, linprog

Row = list[Fraction]
Matrix = list[Row]

# The optima of these small cases are fractions with denominators far below this.
LARGEST_DENOMINATOR = 10_000


class Case(NamedTuple):
    """What is to be released: losses (a row for each input), a public prior, and E = e^ε."""

    losses: Matrix
    prior: Row
    e: Fraction


def uniform(losses: list[list[int]], e: Fraction) -> Case:
    """A case under the uniform prior."""
    inputs = len(losses)
    return Case([[Fraction(loss) for loss in row] for row in losses], [Fraction(1, inputs)] * inputs, e)


def circle(points: int, reach: int) -> list[list[int]]:
    """Steps round a circle, at most ``reach``."""
    return [[min((x - y) % points, (y - x) % points, reach) for y in range(points)] for x in range(points)]


def line(points: int) -> list[list[int]]:
    """|x − y|."""
    return [[abs(x - y) for y in range(points)] for x in range(points)]


# Input x is happy with the answers x and x + 1 (mod 3), and loses 1 by the third.
TWO_RIGHT_ANSWERS = [[0, 0, 1], [1, 0, 0], [0, 1, 0]]


def anchored_losses(case: Case, anchors: tuple[int, ...]) -> Row:
    """What each input pays if it is sent to its nearest anchor, and the anchors are reported by GRR."""
    weight = case.e + len(anchors) - 1
    return [
        ((case.e - 1) * min(row[a] for a in anchors) + sum(row[a] for a in anchors)) / weight for row in case.losses
    ]


def anchor_sets(case: Case) -> list[tuple[int, ...]]:
    """Every non-empty set of outputs, smallest first."""
    outputs = range(len(case.losses[0]))
    return [anchors for size in range(1, len(outputs) + 1) for anchors in combinations(outputs, size)]


def best_anchored(case: Case) -> tuple[Fraction, tuple[int, ...]]:
    """The least expected loss of anchored GRR, by trying every set of anchors."""
    return min((average(case.prior, anchored_losses(case, anchors)), anchors) for anchors in anchor_sets(case))


def best_anchored_worst_case(case: Case) -> tuple[Fraction, tuple[int, ...]]:
    """The least that anchored GRR can make the worst-off input pay."""
    return min((max(anchored_losses(case, anchors)), anchors) for anchors in anchor_sets(case))


def average(prior: Row, losses: Row) -> Fraction:
    """Σ π_x · loss_x."""
    return sum((p * loss for p, loss in zip(prior, losses, strict=True)), Fraction(0))


def paid(case: Case, release: Matrix) -> Row:
    """What each input pays on average under a release, after checking that the release is ε-LDP."""
    columns = list(zip(*release, strict=True))
    must(all(0 <= max(column) <= case.e * min(column) for column in columns), "the release is ε-LDP")
    must(all(sum(row) == 1 for row in release), "rows sum to one")
    return [average(row, losses) for row, losses in zip(release, case.losses, strict=True)]


def certificate(case: Case, u: Row) -> Fraction:
    """A lower bound on the expected loss of every ε-LDP release, from any numbers u_x = π_x·w_x: see the page."""
    bounds = [sum(u, Fraction(0))]
    for y in range(len(case.losses[0])):
        costs = [p * row[y] for p, row in zip(case.prior, case.losses, strict=True)]
        gains = [max(Fraction(0), value - cost) for value, cost in zip(u, costs, strict=True)]
        bounds.append(sum(costs) - (case.e - 1) * sum(gains))
    return min(bounds)


def proved_optimum(case: Case) -> Fraction:
    """The least expected loss of any ε-LDP release: attained by a release and proved by a certificate, exactly."""
    result = solve(case, worst_case=False)
    least = average(case.prior, paid(case, release_of(case, result)))
    must(certificate(case, fractions(result.eqlin.marginals)) == least, "no release is better")
    return least


def proved_worst_case(case: Case) -> Fraction:
    """The least that an ε-LDP release can make the worst-off input pay; the certificate is for a worst prior."""
    result = solve(case, worst_case=True)
    least = max(paid(case, release_of(case, result)))
    prior = fractions(-result.ineqlin.marginals[-len(case.losses) :])
    must(min(prior) >= 0 and sum(prior) == 1, "the worst prior is a prior")
    # The worst input pays at least the average, whatever the prior.
    must(certificate(case._replace(prior=prior), fractions(result.eqlin.marginals)) == least, "no release is better")
    return least


def must(holds: bool, what: str) -> None:  # noqa: FBT001 (a sentence: must(x > 0, "x is positive"))
    """Refuse to print what is not proved."""
    if not holds:
        raise ArithmeticError(f"not proved: {what}")


def solve(case: Case, *, worst_case: bool) -> OptimizeResult:
    """The linear programme in z and g, P_xy = z_y + (E − 1)·g_xy with 0 ≤ g_xy ≤ z_y, in floats."""
    losses, prior, e = np.array(case.losses, float), np.array(case.prior, float), float(case.e)
    inputs, outputs = losses.shape
    # What z and g contribute to row x of P, and to what x pays.
    each = np.eye(inputs)
    rows = np.hstack([np.ones((inputs, outputs)), np.kron(each, np.full(outputs, e - 1))])
    pays = np.hstack([losses, (e - 1) * np.vstack([np.kron(each[x], losses[x]) for x in range(inputs)])])
    g_below_z = np.hstack([np.tile(-np.eye(outputs), (inputs, 1)), np.eye(inputs * outputs)])
    if not worst_case:
        return linprog(prior @ pays, g_below_z, np.zeros(len(g_below_z)), rows, np.ones(inputs))
    # One more variable: the most that any input pays.
    most = np.append(np.zeros(rows.shape[1]), 1)
    limits = np.vstack([np.pad(g_below_z, ((0, 0), (0, 1))), np.hstack([pays, -np.ones((inputs, 1))])])
    return linprog(most, limits, np.zeros(len(limits)), np.pad(rows, ((0, 0), (0, 1))), np.ones(inputs))


def release_of(case: Case, result: OptimizeResult) -> Matrix:
    """P from z and g, in fractions."""
    outputs = len(case.losses[0])
    z = fractions(result.x[:outputs])
    return [
        [z_y + (case.e - 1) * g_y for z_y, g_y in zip(z, fractions(g), strict=True)]
        for g in result.x[outputs : outputs * (1 + len(case.losses))].reshape(-1, outputs)
    ]


def fractions(values: np.ndarray) -> Row:
    """The simple fractions next to floats; whether they were the right ones, the exact checks tell."""
    return [Fraction(float(value)).limit_denominator(LARGEST_DENOMINATOR) for value in values]


def metrics(points: int) -> list[list[list[int]]]:
    """Every metric with distances 1 and 2 on this many points, once for each way of numbering the points."""
    pairs = list(combinations(range(points), 2))
    found = []
    for distances in product((1, 2), repeat=len(pairs)):
        losses = [[0] * points for _ in range(points)]
        for (x, y), distance in zip(pairs, distances, strict=True):
            losses[x][y] = losses[y][x] = distance
        found.append(losses)
    return found


def gaps(points: int, e: Fraction) -> tuple[int, int]:
    """In how many metrics with distances 1 and 2 anchored GRR is not optimal; of how many."""
    cases = [uniform(losses, e) for losses in metrics(points)]
    return sum(best_anchored(case)[0] > proved_optimum(case) for case in cases), len(cases)


def evidence() -> list[str]:
    """Every line of the evidence."""
    lines = []
    named = [
        ("two right answers", TWO_RIGHT_ANSWERS, Fraction(2)),
        ("two right answers", TWO_RIGHT_ANSWERS, Fraction(10)),
        ("pentagon", circle(5, 2), Fraction(3, 2)),
        ("pentagon", circle(5, 2), Fraction(3)),
        ("line of 12", line(12), Fraction(3)),
    ]
    for name, losses, e in named:
        case = uniform(losses, e)
        least, (anchored, anchors) = proved_optimum(case), best_anchored(case)
        lines.append(f"{name}, E = {e}: best release {least}, best anchored {anchored} with anchors {shown(anchors)}")
    for points in (3, 4):
        off, cases = gaps(points, Fraction(3, 2))
        lines.append(f"distances 1 and 2 on {points} points, E = 3/2: anchored is not optimal in {off} of {cases}")
    case = uniform(line(6), Fraction(10))
    anchors = best_anchored(case)[1]
    end, end_under_grr = (anchored_losses(case, outputs)[0] for outputs in (anchors, tuple(range(6))))
    lines.append(
        f"line of 6, E = 10: with the best anchors {shown(anchors)} input 0 pays {end}, under GRR {end_under_grr}"
    )
    case = uniform(line(3), Fraction(2))
    least, (anchored, anchors) = proved_worst_case(case), best_anchored_worst_case(case)
    lines.append(
        f"line of 3, worst input, E = 2: best release {least}, best anchored {anchored} with anchors {shown(anchors)}"
    )
    return lines


def shown(anchors: tuple[int, ...]) -> str:
    """A set, as people write it."""
    return "{" + ", ".join(map(str, anchors)) + "}"


def main() -> None:
    """Print the evidence."""
    print("\n".join(evidence()))


if __name__ == "__main__":
    main()
