"""DPBoost (Li, Wu, Wen, He, AAAI 2020) as published, and as the scripts of the BRR paper have it. Neither keeps its ε.

**As published.** One ensemble of 50 trees of depth 6, η = λ = 0.1 (the settings of Li et al.). Tree t gets
⌊n·η(1 − η)^(t−1)/(1 − (1 − η)^T)⌋ of the n records, drawn without replacement from those that no tree has used: subsets
of *fixed size*. Records with a gradient beyond g* = 1 leave their tree. Half of ε goes to the cuts, level by level, by
the exponential mechanism with sensitivity 3g*²; half to the leaves, clipped to g*(1 − η)^(t−1), with noise for
ΔV = min(g*/(1 + λ), 2g*(1 − η)^(t−1)). Why this keeps ε under neither relation of neighbours:
:mod:`~reproduction.experiments.dpboost_ratio`.

**As scripted.** The scripts' own copy of DPBoost takes for η, from the second tree on, the mean ratio of prediction to
label after the first, computed without noise, and gives filtered records back. The scripts' line for BRR is another
algorithm: depth 5, leaves without a learning rate, a tenth or a fifth of ε for the cuts; every *record's gradient* is
clipped to (1 − η)^(t−1) and reported by BRR on 21 points, and a leaf is −Σ/(n + λ) of the reports. Its rival adds one
draw of Laplace noise to all gradients of a leaf. n and η enter without noise, so no ε is kept.

One thing is kinder than in either: cuts are those of the public grid, not values of the records.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar, Final, Literal

import numpy as np
from numpy.typing import NDArray

from bipartite.domains import Integers
from bipartite.mechanisms import BRR
from reproduction.experiments.gbdt_tasks import Records

Bins = NDArray[np.uint8]
Whole = NDArray[np.int64]
Numbers = NDArray[np.float64]

NO_NOISE: Final = "no privacy"
ETA: Final = 0.1
LAM: Final = 0.1
POINTS: Final = 21


@dataclass(frozen=True, eq=False)
class Binned:
    """Records as bins of a public grid."""

    bins: Bins
    widths: Whole

    @classmethod
    def of(cls, records: Records) -> Binned:
        """Equal parts of every feature's public range; what lies beyond it counts to the nearest."""
        lows, highs = np.array(records.feature_range).T
        widths = np.array(records.bins)
        parts = np.floor((np.clip(records.features, lows, highs) - lows) / (highs - lows) * widths)
        return cls(np.minimum(parts, widths - 1).astype(np.uint8), widths)

    @functools.cached_property
    def cuts(self) -> tuple[Whole, Whole]:
        """(feature, last bin to the left) of every way to part a node."""
        features = np.repeat(np.arange(len(self.widths)), self.widths - 1)
        return features, np.concatenate([np.arange(width - 1) for width in self.widths])

    def sides(self, rows: Whole, nodes: Whole, gradients: Numbers, level: int) -> NDArray[np.float64]:
        """Of every node of a level: number and sum to the left of each cut and, last, of the whole node."""
        shape = 2**level, len(self.widths), int(self.widths.max())
        places = np.ravel_multi_index((nodes[:, None], np.arange(shape[1]), self.bins[rows]), shape).ravel()
        weights = (None, np.repeat(gradients, shape[1]))
        sums = np.stack([np.bincount(places, each, math.prod(shape)).reshape(shape) for each in weights])
        running = sums.cumsum(axis=3)
        return np.concatenate([running[:, :, self.cuts[0], self.cuts[1]], running[:, :, 0, -1:]], axis=2)


@dataclass(frozen=True, eq=False)
class Tree:
    """A complete binary tree; a node that stays whole sends all records to the left."""

    features: tuple[Whole, ...]
    """By level, of every node."""
    last: tuple[Whole, ...]
    """The last bin that goes left."""
    leaves: Numbers

    def of(self, bins: Bins) -> Numbers:
        """The leaf of every record."""
        nodes = np.zeros(len(bins), dtype=np.int64)
        for features, last in zip(self.features, self.last, strict=True):
            nodes = _down(bins, nodes, features, last)
        return self.leaves[nodes]


def _down(bins: Bins, nodes: Whole, features: Whole, last: Whole) -> Whole:
    return 2 * nodes + (bins[np.arange(len(bins)), features[nodes]] > last[nodes])


@dataclass(frozen=True)
class Published:
    """DPBoost as published, with what randomises a leaf."""

    epsilon: Decimal
    mechanism: str
    """One of "BRR", "Laplace", "Laplace, clamped", "no privacy"."""
    trees: int = 50
    depth: int = 6
    step: float = ETA
    cut_share: Decimal = Decimal("0.5")
    """What part of ε the cuts of a tree spend, in equal parts for the levels; the rest is for its leaves."""
    gain_changes: ClassVar[float] = 3.0
    """By how much an added record changes a gain, with g* = 1 (Li et al.)."""
    scripted: ClassVar[bool] = False
    """Whether η is estimated after the first tree, and records with a large gradient may serve another."""

    @property
    def cut_rate(self) -> float:
        """A cut is drawn with probability ∝ e^(rate·gain)."""
        if self.mechanism == NO_NOISE:
            return math.inf
        return float(self.epsilon * self.cut_share) / self.depth / (2 * self.gain_changes)

    def picks(self, tree: int, people: int, eta: float) -> int:
        """How many records tree 0, 1, … gets: a share that falls by the factor 1 − η, rounded down."""
        return _share(people, eta, tree, self.trees)

    def gains(self, parted: Numbers, whole: Numbers, both: NDArray[np.bool_]) -> Numbers:  # noqa: ARG002
        """The gain of each cut, −∞ where it may not be made: here all may; ``both`` sides have records, or not."""
        return parted

    def leaves(self, nodes: Whole, gradients: Numbers, limit: float, rng: np.random.Generator) -> Numbers:
        """What is released of the leaves, empty ones too: values within ``limit``, (1 − η)^(t−1), with noise for ΔV."""
        count = np.bincount(nodes, minlength=2**self.depth)
        total = np.bincount(nodes, gradients, minlength=2**self.depth)
        return self.noise(limit).draw(self.value(count, total, limit), rng)

    def value(self, count: NDArray[Any], total: NDArray[Any], limit: float) -> Numbers:
        """V = −Σ/(n + λ), clipped."""
        clipped: Numbers = np.clip(-total / (count + LAM), -limit, limit)
        return clipped

    def noise(self, limit: float) -> Noise:
        """What the values of a tree's leaves are released with: noise for ΔV, in [−c, c] with c = ΔV/2."""
        change = min(1 / (1 + LAM), 2 * limit)
        return Noise(self.mechanism, self.epsilon * (1 - self.cut_share), change, change / 2)


def _share(people: int, eta: float, exponent: int, trees: int) -> int:
    return int(people * eta * (1 - eta) ** exponent / (1 - (1 - eta) ** trees))


@dataclass(frozen=True)
class ScriptedDPBoost(Published):
    """The scripts' DPBoost: η is estimated, shares begin at (1 − η)¹, cuts leave no side empty."""

    scripted: ClassVar[bool] = True

    def picks(self, tree: int, people: int, eta: float) -> int:
        """The share of the tree after this one; the last has the exponent 0."""
        return _share(people, eta, (tree + 1) % self.trees, self.trees)

    def gains(self, parted: Numbers, whole: Numbers, both: NDArray[np.bool_]) -> Numbers:  # noqa: ARG002
        """Cuts between records."""
        return np.where(both, parted, -math.inf)


@dataclass(frozen=True)
class ScriptedGradients(Published):
    """The scripts' lines of BRR and of its rival: gradients are randomised, and leaves are taken in full."""

    depth: int = 5
    step: float = 1.0
    shared: bool = True
    """Whether all gradients of a leaf get one draw of Laplace noise, as scripted, or each one of its own."""
    gain_changes: ClassVar[float] = 2.0
    scripted: ClassVar[bool] = True

    def picks(self, tree: int, people: int, eta: float) -> int:
        """As published, but for the exponents of the last tree and of the sum."""
        return _share(people, eta, (tree + 1) % self.trees - 1, self.trees - 1)

    def gains(self, parted: Numbers, whole: Numbers, both: NDArray[np.bool_]) -> Numbers:
        """Cuts between records that gain something."""
        gained = (parted - whole) / 2
        return np.where(both & (gained > 0), gained, -math.inf)

    def leaves(self, nodes: Whole, gradients: Numbers, limit: float, rng: np.random.Generator) -> Numbers:
        """BRR for every gradient; one draw of Laplace noise for all gradients of a leaf, or for each."""
        reported = np.clip(gradients, -limit, limit)
        noise = Noise(self.mechanism, self.epsilon * (1 - self.cut_share), 2 * limit, limit, m="best")
        if self.shared and self.mechanism.startswith("Laplace"):
            reported += rng.laplace(0, noise.scale, 2**self.depth)[nodes]
            if self.mechanism == "Laplace, clamped":
                reported = np.clip(reported, -limit, limit)
        else:
            reported = noise.draw(reported, rng)
        count = np.bincount(nodes, minlength=2**self.depth)
        return -np.bincount(nodes, reported, minlength=2**self.depth) / (count + LAM)


@dataclass(frozen=True)
class Noise:
    """How numbers are released one by one, and how likely a release is."""

    mechanism: str
    epsilon: Decimal
    change: float
    """By how much a neighbour may change a number."""
    reach: float
    """c: where a range is needed, it is [−c, c]."""
    m: Literal["safe", "best"] = "safe"
    """How BRR chooses m: Algorithm 2, or the scripts' least expected loss."""

    @property
    def scale(self) -> float:
        """The scale of Laplace noise."""
        return self.change / float(self.epsilon)

    def draw(self, values: Numbers, rng: np.random.Generator) -> Numbers:
        """A release of every number."""
        if self.mechanism == NO_NOISE:
            return values
        if self.mechanism == "BRR":
            running = _brr(self.epsilon, self.m).cumsum(axis=1)[self.point(values)]
            # The last sum may be a little below 1.
            at = np.minimum((running < rng.random(len(values))[:, None]).sum(axis=1), POINTS - 1)
            points: Numbers = np.linspace(-self.reach, self.reach, POINTS)
            chosen: Numbers = points[at]
            return chosen
        values = values + rng.laplace(0, self.scale, len(values))
        if self.mechanism == "Laplace, clamped":
            values = np.clip(values, -self.reach, self.reach)
        return values

    def likelihood(self, value: float, released: float) -> float:
        """The probability of a release, or its density times 2·scale; the ends of a range have probabilities."""
        if self.mechanism == "BRR":
            at, to = self.point(np.array([value, released]))
            return float(_brr(self.epsilon, self.m)[at, to])
        beyond = math.exp(-abs(released - value) / self.scale)
        if self.mechanism == "Laplace, clamped" and abs(released) >= self.reach:
            inside = abs(value) <= self.reach or value * released < 0
            return beyond / 2 if inside else 1 - beyond / 2
        return beyond

    def point(self, values: Numbers) -> Whole:
        """The nearest of the points of [−c, c]."""
        share = (np.clip(values, -self.reach, self.reach) + self.reach) / (2 * self.reach)
        return np.floor(share * (POINTS - 1) + 0.5).astype(np.int64)


@functools.lru_cache(maxsize=64)
def _brr(epsilon: Decimal, m: Literal["safe", "best"]) -> Numbers:
    """The probabilities of BRR on the points: a row for each input."""
    matrix: Numbers = BRR(Integers(0, POINTS - 1), epsilon, m=m).matrix()
    return matrix


def predictions(build: Published, records: Records, held: NDArray[np.bool_], rng: np.random.Generator) -> Numbers:
    """What trees that were grown from the other records predict for those held out."""
    low, high = records.target_range
    half = (high - low) / 2
    every = Binned.of(records)
    training = Binned(every.bins[~held], every.widths)
    grown = boost(build, training, (records.targets[~held] - low) / half - 1, rng)
    scores = sum((tree.of(every.bins[held]) for tree in grown), start=np.zeros(int(held.sum())))
    return low + half * (1 + scores)


def boost(build: Published, records: Binned, labels: Numbers, rng: np.random.Generator) -> list[Tree]:
    """The trees of these records, whose labels lie in [−1, 1]."""
    grown = []
    scores, free, eta = np.zeros(len(labels)), np.ones(len(labels), dtype=bool), ETA
    for number in range(build.trees):
        pool = np.flatnonzero(free)
        wanted = build.picks(number, len(labels), eta)
        rows = pool if wanted > len(pool) else rng.choice(pool, wanted, replace=False)
        gradients = scores[rows] - labels[rows]
        kept = np.abs(gradients) <= 1
        free[rows[kept] if build.scripted else rows] = False
        grown.append(_grow(build, records, rows[kept], gradients[kept], labels[rows[kept]], (1 - eta) ** number, rng))
        scores += grown[-1].of(records.bins)
        if number == 0 and build.scripted:
            eta = _estimated(scores[free], labels[free], len(labels))
    return grown


def _grow(
    build: Published,
    records: Binned,
    rows: Whole,
    gradients: Numbers,
    labels: Numbers,
    limit: float,
    rng: np.random.Generator,
) -> Tree:
    nodes = np.zeros(len(rows), dtype=np.int64)
    features, last = [], []
    for level in range(build.depth):
        sides = records.sides(rows, nodes, gradients, level)
        (left, left_sum), (whole, whole_sum) = sides[:, :, :-1], sides[:, :, -1:]
        parted = left_sum**2 / (left + LAM) + (whole_sum - left_sum) ** 2 / (whole - left + LAM)
        gains = build.gains(parted, whole_sum**2 / (whole + LAM), (left > 0) & (left < whole))
        if build.scripted:
            # Where all labels are alike, the scripts part no further.
            gains[[len(set(labels[nodes == node])) == 1 for node in range(2**level)]] = -math.inf
        if math.isfinite(build.cut_rate):
            # The largest of gains with Gumbel noise is a draw of the exponential mechanism.
            gains = gains * build.cut_rate + rng.gumbel(size=gains.shape)
        chosen = gains.argmax(axis=1)
        stays = ~np.isfinite(gains).any(axis=1)
        features.append(records.cuts[0][chosen])
        last.append(np.where(stays, records.widths.max(), records.cuts[1][chosen]))
        nodes = _down(records.bins[rows], nodes, features[-1], last[-1])
    leaves = build.step * build.leaves(nodes, gradients, limit, rng)
    return Tree(tuple(features), tuple(last), leaves)


def _estimated(scores: Numbers, labels: Numbers, people: int) -> float:
    """The scripts' η: the smaller of |prediction| and |label| over the larger, 0 for records that were used."""
    small, large = np.sort(np.abs([scores, labels]), axis=0)
    return float(np.divide(small, large, out=np.zeros_like(small), where=large > 0).sum() / people)
