"""What DPBoost as published really spends: one model, two neighbouring data sets, the ratio of its likelihoods.

Three records have the label 0.9; the neighbour has one more, with the label −1. Features are equal, so that every cut
of a node has the same gain and cuts tell nothing. Three trees, η = λ = 0.1. Subsets of fixed size have 1, 0 and 0
records of three, and 1, 1 and 1 of four: *one record more changes three trees*, while ε is spent as if it changed one.
The model whose first leaf lies low and whose others lie high is then more likely by a factor above e^ε.

Where instead each record draws its own tree, with the same expected shares, a record serves one tree whatever the
others do, and the factor stays below e^ε. Both are computed, not sampled: sums over all subsets.

One model gives a lower bound of the loss. How large it is with 50 trees and thousands of records is not known.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Final

import numpy as np
import pandas as pd

from reproduction.experiments.dpboost import ETA, Published
from reproduction.form import Grid, Row
from reproduction.pictures import panels

Subsets = Sequence[Sequence[int]]

FIXED, DRAWN = "DPBoost as published: unsound", "each record draws its tree"
FEW: Final = (0.9, 0.9, 0.9)
ONE_MORE: Final = (*FEW, -1.0)
TREES: Final = 3
# The budgets of figure 9.
FULL = Grid(mechanism=("Laplace", "Laplace, clamped", "BRR"), epsilon=("1", "2", "4", "5", "6", "8", "10"))
QUICK = FULL


def measure(mechanism: str, epsilon: str) -> Iterator[Row]:
    """The logarithm of the ratio, for fixed subsets and for drawn ones."""
    build = Published(Decimal(epsilon), mechanism, trees=TREES)
    for how in (FIXED, DRAWN):
        yield {"build": how, "mechanism": mechanism, "epsilon": float(epsilon), "log_ratio": log_ratio(build, how)}


def log_ratio(build: Published, how: str) -> float:
    """The logarithm of how much likelier the model is with one record more."""
    model = released(build)
    ways = fixed_subsets if how == FIXED else drawn_subsets
    few, more = (
        math.fsum(
            probability * likelihood(build, labels, subsets, model) for subsets, probability in ways(build, len(labels))
        )
        for labels in (FEW, ONE_MORE)
    )
    return math.log(more / few)


def released(build: Published) -> tuple[float, ...]:
    """The leaves of the model: as low as the added record's own, then as high as a leaf can be."""
    limits = [(1 - ETA) ** tree for tree in range(TREES)]
    if build.mechanism == "Laplace":
        lowest = float(build.value(np.array(1), np.array(-ONE_MORE[-1]), limits[0]))
        return (lowest, *limits[1:])
    reaches = [build.noise(limit).reach for limit in limits]
    return (-reaches[0], *reaches[1:])


def fixed_subsets(build: Published, people: int) -> Iterator[tuple[Subsets, float]]:
    """Every way to draw subsets of fixed size one after the other, and its probability."""
    sizes = [build.picks(tree, people, ETA) for tree in range(TREES)]
    ends = list(itertools.accumulate(sizes, initial=0))
    orders = list(itertools.permutations(range(people)))
    for order in orders:
        yield [order[start:end] for start, end in itertools.pairwise(ends)], 1 / len(orders)


def drawn_subsets(build: Published, people: int) -> Iterator[tuple[Subsets, float]]:  # noqa: ARG001 (as the other)
    """Every way in which each record can draw a tree of its own, and its probability."""
    shares = [ETA * (1 - ETA) ** tree / (1 - (1 - ETA) ** TREES) for tree in range(TREES)]
    for trees in itertools.product(range(TREES), repeat=people):
        subsets = [[record for record in range(people) if trees[record] == tree] for tree in range(TREES)]
        yield subsets, math.prod(shares[tree] for tree in trees)


def likelihood(build: Published, labels: Sequence[float], subsets: Subsets, model: Sequence[float]) -> float:
    """How likely these leaves are, tree after tree, when these records serve them."""
    likely, score = 1.0, 0.0
    for tree, (rows, leaf) in enumerate(zip(subsets, model, strict=True)):
        gradients = [score - labels[row] for row in rows if abs(score - labels[row]) <= 1]
        limit = (1 - ETA) ** tree
        value = build.value(np.array(len(gradients)), np.array(math.fsum(gradients)), limit)
        likely *= build.noise(limit).likelihood(float(value), leaf)
        score += build.step * leaf
    return likely


def draw(rows: pd.DataFrame) -> dict[str, str]:
    """The loss against ε, beside what is promised."""
    promised = rows.assign(mechanism="what is promised", log_ratio=rows["epsilon"]).drop_duplicates()
    return {
        "dpboost_ratio": panels(
            pd.concat([rows, promised]), x="epsilon", y="log_ratio", facet="build",
            title="Three trees, 3 or 4 records: {}", bare={"what is promised"}, lowest=-1, highest=20,
            across="ε", up="ln of the ratio",
            says="Logarithm of the ratio of likelihoods against ε: above ε as published, below it where records draw.",
            notes=["How much likelier one model is with one record more; e^ε is what ε promises."],
        )
    }  # fmt: skip
