"""How often intervals of 95 % hold the truth, where no constant was chosen: shapes × n × ε × values × mechanisms.

    python bench/answers/coverage_of_intervals.py run NEW.json [--jobs 16] [--seconds 600] [--resume BEFORE.json]
    python bench/answers/coverage_of_intervals.py report NEW.json [--against OLD.json]    # NEW.md, which run writes too

``run`` draws for every cell (a shape, a number of reports, ε, a number of values, a mechanism) what the counts of
reports are like: a report is distributed as fᵀP whoever the person was, so the counts are exactly multinomial(n, fᵀP),
and for OUE the supports are sums of coins. All cells get a few trials in random order; then time goes where the misses
are least likely if 93 % held, in batches that double; ``--resume`` goes on where an earlier run ended. A question of a
cell is *surely below 0.93* when the upper limit of Clopper and Pearson, at 1e-4 divided by all questions of all cells
and by the looks at each, is below it. Trials are seeded by cell and number, so that old and new code (each run by its
own Python) see the same counts.

Errors are root mean squares over the least standard error of an unbiased answer, √((wᵀI⁻¹w − (w·f)²)/n) with
I = P·diag(1/fᵀP)·Pᵀ, for questions that have one, up to 500 values. Widths are compared with ``--against``.
"""

# ruff: noqa: ANN401 (classes of two versions)

from __future__ import annotations

import argparse
import itertools
import json
import math
import multiprocessing
import os
import random
import time
import zlib
from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from asked import NEW, Told, ask, ask_joint, counts_of, joint_of, subtract
from scipy.stats import beta, binom
from shapes import SHAPES, efficient, quantile, shape

import bipartite as bp
from bipartite.errors import BipartiteError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Job = tuple["Cell", int, int, float, float]

NS = (50, 200, 1_000, 10_000, 200_000)
EPSILONS = (0.1, 0.5, 1.0, 3.0, 6.0)
SIZES = (5, 20, 73, 500, 5_000)
WANTED, SURE = 0.93, 1e-4
LOOKS = 12  # batches of 4, 4, 8, 16 … trials
FIRST, MOST_FIRST = 4, 250  # trials of every cell, and of those that cost little
THIN = {500: 2, 5_000: 6}  # of so many values one cell in so many, chosen by chance
MOST = 4_000  # trials of a cell
TOGETHER = 5  # cells of one matrix
SAVE_AFTER = 60  # seconds
MANY = 100  # trials from which a cell is looked at on its own
MOST_FOR_BOUND = 500
FLAT_WORK = 2_000_000  # reports × values that are drawn one by one in a trial
NO_DIRECTION = 1e-6  # length of the mean vector below which a circle has none
DRAWN_ONE_BY_ONE = ("Subset Selection", "SUE", "OLH", "Hadamard Response", "RAPPOR")
NONE = np.empty(0)


class Kind(NamedTuple):
    """A mechanism, and how many values a cell of it may have."""

    build: Callable[[int, float], Any]
    most: int
    asks: str = "one"
    """"one" attribute, "circle", "places", "two" groups, or a "pair" of attributes."""


def _line(size: int) -> Any:
    return bp.Integers(0, size - 1)


def _spaced(size: int) -> Any:
    return bp.Interval(0, size - 1, points=size)


def _places(size: int) -> Any:
    north, east = np.divmod(np.arange(size), 5)
    return bp.Points(np.column_stack([48 + north / 20, 2 + east / 20]), metric="haversine")


def _padded(m: Any) -> Callable[[int, float], Any]:
    return lambda size, epsilon: bp.BRR(_line(size), epsilon, edges="padded", m=m)


KINDS: dict[str, Kind] = {
    "BRR": Kind(lambda size, epsilon: bp.BRR(_line(size), epsilon), 5_000),
    "BRR padded": Kind(_padded("safe"), 5_000),
    "BRR for means": Kind(_padded("mean"), 5_000),
    "BRR for the CDF": Kind(_padded("cdf"), 5_000),
    "BRR for shares": Kind(_padded("histogram"), 5_000),
    "GRR": Kind(lambda size, epsilon: bp.GRR(_line(size), epsilon), 5_000),
    "Piecewise": Kind(lambda size, epsilon: bp.Piecewise(_spaced(size), epsilon), 5_000),
    "Anchored": Kind(lambda size, epsilon: bp.Anchored(_line(size), epsilon), 500),
    "Minimax": Kind(lambda size, epsilon: bp.Minimax(_line(size), epsilon), 73),
    "OUE": Kind(lambda size, epsilon: bp.OUE(_line(size), epsilon), 5_000),
    "Subset Selection": Kind(lambda size, epsilon: bp.SubsetSelection(_line(size), epsilon), 500),
    "BRR on a circle": Kind(lambda size, epsilon: bp.BRR(bp.Cyclic(size), epsilon), 5_000, "circle"),
    "GRR on a circle": Kind(lambda size, epsilon: bp.GRR(bp.Cyclic(size), epsilon), 500, "circle"),
    "two groups, BRR padded": Kind(_padded("safe"), 500, "two"),
    "two groups, GRR": Kind(lambda size, epsilon: bp.GRR(_line(size), epsilon), 500, "two"),
    "two groups, OUE": Kind(lambda size, epsilon: bp.OUE(_line(size), epsilon), 500, "two"),
    "pair, BRR padded": Kind(_padded("safe"), 73, "pair"),
    "pair, GRR": Kind(lambda size, epsilon: bp.GRR(_line(size), epsilon), 73, "pair"),
}
MAIN = tuple(KINDS)
# The others of the catalogue, if they are asked for.
KINDS |= {
    "Square Wave": Kind(lambda size, epsilon: bp.SquareWave(_line(size), epsilon), 5_000),
    "Geometric": Kind(lambda size, epsilon: bp.Geometric(_line(size), epsilon), 500),
    "Exponential": Kind(lambda size, epsilon: bp.Exponential(_line(size), epsilon), 500),
    "Laplace": Kind(lambda size, epsilon: bp.Laplace(_spaced(size), epsilon, clamped=True), 500),
    "Staircase": Kind(lambda size, epsilon: bp.Staircase(_spaced(size), epsilon), 500),
    "Duchi": Kind(lambda size, epsilon: bp.Duchi(_spaced(size), epsilon), 500),
    "Hybrid": Kind(lambda size, epsilon: bp.Hybrid(_spaced(size), epsilon), 500),
    "SUE": Kind(lambda size, epsilon: bp.SUE(_line(size), epsilon), 500),
    "OLH": Kind(lambda size, epsilon: bp.OLH(_line(size), epsilon), 500),
    "Hadamard Response": Kind(lambda size, epsilon: bp.HadamardResponse(_line(size), epsilon), 500),
    "RAPPOR": Kind(lambda size, epsilon: bp.RAPPOR(_line(size), epsilon_permanent=2 * epsilon), 500),
    "GRR of places": Kind(lambda size, epsilon: bp.GRR(_places(size), epsilon), 73, "places"),
    "BRR of places": Kind(lambda size, epsilon: bp.BRR(_places(size), epsilon), 73, "places"),
}


@dataclass(frozen=True, order=True)
class Cell:
    """What is drawn."""

    mechanism: str
    size: int
    epsilon: float
    n: int
    shape: str

    @property
    def key(self) -> str:
        """The cell in words, which also seeds its trials."""
        return f"{self.mechanism} | {self.size} | {self.epsilon:g} | {self.n} | {self.shape}"


class Asked(NamedTuple):
    """A question: what is asked, the truth, the range of the answer, and the weights of the values if it is linear."""

    of: Any
    truth: float
    scale: float = 1.0
    weights: Array = NONE
    turn: float = 0.0


def _ranges(f: Array) -> Iterator[tuple[str, int, int]]:
    """(name, first, last) of a range around the commonest value, one of nearly nobody, and one of the middle."""
    size = len(f)
    mode, near, wide = int(f.argmax()), max(1, size // 50), max(1, size // 10)
    yield "range around the commonest", max(0, mode - near), min(size - 1, mode + near)
    sums = np.convolve(f, np.ones(wide), mode="valid")
    rare = int(sums.argmin())
    yield "rarest range", rare, rare + wide - 1
    yield "middle range", size // 5, max(size // 2 - 1, size // 5)


def questions(f: Array) -> dict[str, Asked]:
    """The questions about one attribute of a line."""
    size = len(f)
    at = np.arange(size, dtype=np.float64)
    mean, span, third, mode = float(f @ at), size - 1.0, size // 3, int(f.argmax())
    wave = np.sin(3 * at / size) + (at % 7) / 7
    up_to = (at <= third).astype(np.float64)
    found = {
        "mean": Asked("mean", mean, span, at),
        "std": Asked("std", math.sqrt(float(f @ (at - mean) ** 2)), span),
        "median": Asked("median", quantile(f, 0.5), span),
        "quantile .9": Asked(("quantile", 0.9), quantile(f, 0.9), span),
        "up to a value": Asked(("cdf", third), float(f @ up_to), 1.0, up_to),
        "share": Asked(("bin", mode), float(f[mode]), 1.0, (at == mode).astype(np.float64)),
        "weights": Asked(wave, float(f @ wave), float(np.ptp(wave)), wave),
    }
    for name, first, last in _ranges(f):
        inside = ((at >= first) & (at <= last)).astype(np.float64)
        found[name] = Asked(("range", first, last), float(f @ inside), 1.0, inside)
    return found


def circular(f: Array) -> dict[str, Asked]:
    """The questions about a circle."""
    size = len(f)
    at = np.arange(size)
    vector = complex((f * np.exp(2j * np.pi * at / size)).sum())
    mode = int(f.argmax())
    found = {
        "length": Asked("resultant_length", abs(vector)),
        "share": Asked(("bin", mode), float(f[mode]), 1.0, (at == mode).astype(np.float64)),
    }
    if abs(vector) > NO_DIRECTION:
        angle = math.atan2(vector.imag, vector.real) % (2 * np.pi) / (2 * np.pi) * size
        found["direction"] = Asked("circular_mean", angle, float(size), NONE, float(size))
    for name, first, last in _ranges(np.roll(f, size // 3)):  # so that some pass the last value
        begin, end = (first - size // 3) % size, (last - size // 3) % size
        inside = ((at - begin) % size <= (end - begin) % size).astype(np.float64)
        found[name] = Asked(("range", begin, end), float(f @ inside), 1.0, inside)
    return found


def differences(f: Array, other: Array) -> dict[str, Asked]:
    """The questions about two groups."""
    pair = questions(f), questions(other)
    found = {}
    for name in ("mean", "weights", "median", "up to a value"):
        one, two = pair[0][name], pair[1][name]
        found[f"difference of {name}"] = Asked(one.of, one.truth - two.truth, 2 * one.scale, one.weights)
    for name in ("middle range", "range around the commonest"):
        one = pair[0][name]
        found[f"difference of {name}"] = Asked(one.of, one.truth - float(other @ one.weights), 2.0, one.weights)
    return found


def joints(table: Array) -> dict[str, Asked]:
    """The questions about two attributes."""
    rows, columns = (np.arange(size, dtype=np.float64) for size in table.shape)
    f, g = table.sum(axis=1), table.sum(axis=0)
    means = float(f @ rows), float(g @ columns)
    covariance = float((rows - means[0]) @ table @ (columns - means[1]))
    variances = float(f @ (rows - means[0]) ** 2), float(g @ (columns - means[1]) ** 2)
    third, common = len(f) // 3, int(g.argmax())
    cell = np.unravel_index(int(table.argmax()), table.shape)
    found = {
        "covariance": Asked("covariance", covariance, float(len(f) * len(g))),
        "where": Asked(("where", {"a": ("range", 0, third), "b": common}), float(table[: third + 1, common].sum())),
        "cell": Asked(("cell", int(cell[0]), int(cell[1])), float(table.max())),
        "mean where": Asked(
            ("mean", "a", {"b": common}), float(rows @ table[:, common] / g[common]), float(len(f) - 1)
        ),
    }
    if min(variances) > 0:
        found["correlation"] = Asked("correlation", covariance / math.sqrt(math.prod(variances)))
    return found


@lru_cache(maxsize=2)
def _built(mechanism: str, size: int, epsilon: float) -> tuple[Any, Array | None]:
    """The mechanism and its matrix; None for flat categories."""
    made = KINDS[mechanism].build(size, epsilon)
    return made, None if made.flat else made.matrix()


def _law(f: Array, matrix: Array) -> Array:
    law = np.maximum(f @ matrix, 0.0)
    return np.asarray(law / law.sum())


class Drawn:
    """A cell, ready to be drawn."""

    def __init__(self, cell: Cell) -> None:
        self.cell = cell
        self.mechanism, matrix = _built(cell.mechanism, cell.size, cell.epsilon)
        self.asks = KINDS[cell.mechanism].asks
        f = shape(cell.shape, cell.size)
        # A second group, or attribute, of another shape; the pair moves together for half of the people.
        other = 0.7 * f + 0.3 * f[::-1]
        self.populations = [f, other] if self.asks == "two" else [f]
        self.laws = [] if matrix is None else [_law(each, matrix) for each in self.populations]
        if self.asks == "pair":
            self.second = bp.GRR(bp.Integers(0, 4), 2.0)
            fine = np.arange(cell.size) * 5 // cell.size
            g = np.bincount(fine, weights=f, minlength=5)
            table = 0.5 * np.outer(f, g)
            table[np.arange(cell.size), fine] += 0.5 * f
            assert matrix is not None
            self.laws = [_law(table.ravel(), np.kron(matrix, self.second.matrix()))]
            self.asked = joints(table)
        elif self.asks == "circle":
            self.asked = circular(f)
        elif self.asks == "places":
            own = questions(f)
            place = self.mechanism.domain[int(f.argmax())]
            self.asked = {"share": own["share"]._replace(of=("bin", place)), "weights": own["weights"]}
        else:
            self.asked = questions(f) if self.asks == "one" else differences(*self.populations)

    def bounds(self) -> dict[str, float]:
        """The least standard error of each linear question."""
        names = [name for name, each in self.asked.items() if len(each.weights)]
        matrix = _built(self.cell.mechanism, self.cell.size, self.cell.epsilon)[1]
        if matrix is None or self.cell.size > MOST_FOR_BOUND or not names:
            return {}
        rows = np.array([self.asked[name].weights for name in names])
        each = [efficient(matrix, f, rows) for f in self.populations]
        return dict(zip(names, (np.hypot(each[0], each[-1] if len(each) > 1 else 0) / math.sqrt(self.cell.n)).tolist(),
                        strict=True))  # fmt: skip

    def trial(self, number: int) -> dict[str, Told | None]:
        """The answers to one draw; None where the code refuses."""
        rng = np.random.default_rng([zlib.crc32(self.cell.key.encode()), number])
        if self.asks == "pair":
            return self._answers(self._joint(rng), ask_joint)
        groups = [self._estimate(rng, at) for at in range(len(self.populations))]
        if self.asks == "two":
            return self._answers(groups, lambda pair, of: subtract(*pair, of))
        return self._answers(groups[0], ask)

    def _answers(self, est: Any, answer: Callable[[Any, Any], Told]) -> dict[str, Told | None]:
        found: dict[str, Told | None] = {}
        for name, asked in self.asked.items():
            try:
                found[name] = answer(est, asked.of)
            except BipartiteError:
                found[name] = None
        return found

    def _estimate(self, rng: np.random.Generator, at: int) -> Any:
        mechanism, n = self.mechanism, self.cell.n
        if self.laws:
            return bp.estimate(mechanism, counts=rng.multinomial(n, self.laws[at]))
        people = rng.multinomial(n, self.populations[at])
        if self.cell.mechanism.endswith("OUE"):
            p, q = (float(each) for each in mechanism.draw.support)
            return bp.estimate(
                mechanism, counts=counts_of(mechanism, rng.binomial(people, p) + rng.binomial(n - people, q), n)
            )
        words: Any = bp.insecure_seed(int(rng.integers(2**31)))
        return bp.estimate(mechanism, mechanism.privatize(np.repeat(np.arange(len(people)), people), rng=words))

    def _joint(self, rng: np.random.Generator) -> Any:
        outputs = [each.outputs.to_numpy() for each in (self.mechanism, self.second)]
        counts = rng.multinomial(self.cell.n, self.laws[0])
        first, second = np.divmod(np.repeat(np.arange(len(counts)), counts), len(outputs[1]))
        record = bp.Record({"a": self.mechanism, "b": self.second})
        return joint_of(record, {"a": outputs[0][first], "b": outputs[1][second]}, ("a", "b"))


class Sums:
    """What the trials of a question of a cell add up to."""

    __slots__ = (
        "above", "below", "bound", "errors", "first_misses", "first_trials", "outside", "refused", "trials", "width"
    )  # fmt: skip

    def __init__(self) -> None:
        self.trials = self.below = self.above = self.outside = self.refused = 0
        # Those made before anything was known: later ones are given to cells that look bad.
        self.first_trials = self.first_misses = 0
        self.width = self.errors = 0.0
        self.bound = math.nan

    @property
    def misses(self) -> int:
        """How many intervals did not hold the truth."""
        return self.below + self.above

    def add(self, told: Told | None, asked: Asked) -> None:
        """Count one answer."""
        if told is None:
            self.refused += 1
            return
        self.trials += 1
        width = (told.high - told.low) % asked.turn if asked.turn and told.high < told.low else told.high - told.low
        if not told.holds(asked.truth, asked.scale, asked.turn):
            high = told.high < asked.truth
            self.below, self.above = self.below + high, self.above + (not high)
        if not math.isnan(told.value):
            self.outside += not told.holds(told.value, asked.scale, asked.turn)
            off = told.value - asked.truth
            if asked.turn:
                off = (off + asked.turn / 2) % asked.turn - asked.turn / 2
            self.errors += off**2
        self.width += width / asked.scale

    def merge(self, other: dict[str, float]) -> None:
        """Add the sums of more trials."""
        for name, each in other.items():
            if name != "bound":
                setattr(self, name, getattr(self, name) + each)
            elif not math.isnan(each):
                self.bound = each

    def to_dict(self) -> dict[str, float]:
        """All sums."""
        return {name: getattr(self, name) for name in self.__slots__}

    def chance(self) -> float:
        """The probability of at least so many misses if 93 % held."""
        return float(binom.sf(self.misses - 1, self.trials, 1 - WANTED)) if self.misses else 1.0

    def upper(self, risk: float) -> float:
        """The upper limit of Clopper and Pearson for the share that held."""
        return float(beta.ppf(1 - risk, self.trials - self.misses + 1, self.misses)) if self.misses else 1.0


def drawn(job: Job) -> tuple[Cell, int, dict[str, dict[str, float]], float, str]:
    """(cell, trials made, sums of each question, seconds, what broke) of the next trials of a cell."""
    cell, first, count, cheap, end = job
    began, made = time.process_time(), 0
    sums: dict[str, Sums] = defaultdict(Sums)
    if time.time() > end:
        return cell, 0, {}, 0.0, ""
    try:
        ready = Drawn(cell)
        start = time.process_time()
        while time.time() < end and (made < count or (time.process_time() - start < cheap and made < MOST_FIRST)):
            for name, told in ready.trial(first + made).items():
                sums[name].add(told, ready.asked[name])
            made += 1
        if not first and made:
            bounds = ready.bounds()
            for name, each in sums.items():
                each.bound = bounds.get(name, math.nan)
                each.first_trials, each.first_misses = each.trials, each.misses
    except Exception as error:  # noqa: BLE001 (one broken cell must not lose the others)
        return cell, made, {}, time.process_time() - began, f"{type(error).__name__}: {error}"
    return cell, made, {name: each.to_dict() for name, each in sums.items()}, time.process_time() - began, ""


def cells(options: argparse.Namespace) -> list[Cell]:
    """All cells, in a random order that puts those of one matrix together, a few at a time."""
    found = defaultdict(list)
    for mechanism, size, epsilon, n, name in itertools.product(
        options.mechanisms, options.sizes, options.epsilons, options.n, options.shapes
    ):
        kind = KINDS[mechanism]
        if size > kind.most or (mechanism in DRAWN_ONE_BY_ONE and n * size > FLAT_WORK):
            continue
        cell = Cell(mechanism, size, epsilon, n, name)
        if zlib.crc32(cell.key.encode()) % THIN.get(size, 1) == 0:
            found[mechanism, size, epsilon].append(cell)
    order = random.Random(35)  # noqa: S311 (an order)
    parts = []
    for each in found.values():
        order.shuffle(each)
        parts += [each[at : at + TOGETHER] for at in range(0, len(each), TOGETHER)]
    order.shuffle(parts)
    return [cell for part in parts for cell in part]


class Search:
    """Trials of all cells, and where to make more."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options, self.todo = options, cells(options)
        self.asked = 12 * len(self.todo)
        self.end = time.time() + options.seconds
        self.results: dict[Cell, dict[str, Sums]] = {}
        self.trials: dict[Cell, int] = defaultdict(int)
        self.seconds: dict[Cell, float] = defaultdict(float)
        self.broken: dict[str, str] = {}
        rows = [] if options.resume is None else json.loads(options.resume.read_text())["rows"]
        for row in rows:
            self.add(Cell(**row["cell"]), row["trials"], row["sums"], row["seconds"], "")

    def add(self, cell: Cell, made: int, sums: dict[str, dict[str, float]], taken: float, problem: str) -> None:
        """More trials of a cell."""
        self.seconds[cell] += taken
        if problem:
            self.broken[cell.key] = problem
        elif made:
            self.trials[cell] += made
            mine = self.results.setdefault(cell, defaultdict(Sums))
            for name, each in sums.items():
                mine[name].merge(each)

    def doubt(self, cell: Cell) -> float:
        """How unlikely the misses of a cell are if 93 % held; 1 if nothing is left to learn."""
        if self.trials[cell] >= MOST or cell.key in self.broken:
            return 1.0
        risk = SURE / self.asked / LOOKS
        return min((each.chance() for each in self.results[cell].values() if each.upper(risk) >= WANTED), default=1.0)

    def first(self) -> list[Job]:
        """The cells that have no trial yet."""
        early = min(time.time() + self.options.explore * self.options.seconds, self.end)
        todo = [cell for cell in self.todo if cell not in self.results]
        return [(cell, 0, self.options.first, self.options.cheap, early) for cell in todo]

    def more(self) -> list[Job]:
        """The least likely ones, as many as half of the time left allows if each doubles its trials."""
        batch: list[Job] = []
        planned = 0.0
        doubts = {cell: self.doubt(cell) for cell in self.results}
        for cell in sorted(
            (cell for cell, each in doubts.items() if each < self.options.chance), key=doubts.__getitem__
        ):
            count = min(self.trials[cell], MOST - self.trials[cell])
            planned += self.seconds[cell] * count / self.trials[cell]
            if batch and planned > (self.end - time.time()) * self.options.jobs / 2:
                break
            batch.append((cell, self.trials[cell], count, 0.0, self.end))
        return batch

    def save(self) -> None:
        """Write everything, so that a run that is ended loses little."""
        rows = [
            {"cell": vars(cell), "trials": self.trials[cell], "seconds": self.seconds[cell]}
            | {"sums": {name: each.to_dict() for name, each in sums.items()}}
            for cell, sums in self.results.items()
        ]
        kept = {"new": NEW, "cells": len(self.todo), "asked": self.asked, "broken": self.broken, "rows": rows}
        self.options.out.write_text(json.dumps(kept))


def run(options: argparse.Namespace) -> None:
    """Spend the time on all cells, then where it tells most."""
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")  # read by the workers
    search = Search(options)
    with multiprocessing.get_context("spawn").Pool(options.jobs) as pool:
        batch, together = search.first() or search.more(), TOGETHER
        while batch and time.time() < search.end:
            saved = time.time()
            for found in pool.imap_unordered(drawn, batch, chunksize=together):
                search.add(*found)
                if time.time() > saved + SAVE_AFTER:
                    search.save()
                    saved = time.time()
            made = f"{len(search.results)} of {len(search.todo)} cells, {sum(search.trials.values()):,} trials"
            print(f"{made}, {search.end - time.time():.0f} s left", flush=True)
            batch, together = search.more(), 1
            if not batch:  # nothing looks bad: to the cells that the time for first trials did not reach
                batch, together = search.first(), TOGETHER
    search.save()
    text = report(json.loads(options.out.read_text()), None)
    options.out.with_suffix(".md").write_text(text)
    print(text[: text.find("## By mechanism")])


def _rows(kept: dict[str, Any]) -> Iterator[tuple[Cell, str, Sums]]:
    """(cell, question, sums)."""
    for row in kept["rows"]:
        for name, each in row["sums"].items():
            sums = Sums()
            sums.merge(each)
            yield Cell(**row["cell"]), name, sums


def report(kept: dict[str, Any], against: dict[str, Any] | None) -> str:
    """The tables: a line for each question, and for each level of each factor."""
    rows = list(_rows(kept))
    before = {} if against is None else {(cell, name): sums for cell, name, sums in _rows(against)}
    risk = SURE / max(kept["asked"], 1) / LOOKS
    trials = sum(row["trials"] for row in kept["rows"])
    title = "after issue 35" if kept["new"] else "before issue 35"
    lines = [
        f"# Coverage of 95 % intervals, {title}\n",
        f"{len(kept['rows']):,} of {kept['cells']:,} cells, {trials:,} trials; Clopper–Pearson at {risk:.2g}.\n",
    ]
    flagged = [(cell, name, sums) for cell, name, sums in rows if sums.trials and sums.upper(risk) < WANTED]
    outside = [(cell, name, sums) for cell, name, sums in rows if sums.outside]
    away = sum(sums.outside for *_, sums in outside)
    lines.append(
        f"**Surely below {WANTED}: {len(flagged)} questions of cells.** Points outside their own interval: {away}."
    )
    lines.append("")
    lines += [f"- broken: {cell}: {problem}" for cell, problem in list(kept["broken"].items())[:20]]
    factors: dict[str, Callable[[Cell], Any]] = {
        "question": lambda _: "all",
        "mechanism": lambda cell: cell.mechanism,
        "shape": lambda cell: cell.shape,
        "n": lambda cell: cell.n,
        "ε": lambda cell: cell.epsilon,
        "values": lambda cell: cell.size,
    }
    for factor, level in factors.items():
        lines += ["", f"## By {factor}", "", _HEAD, "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"]
        groups: dict[tuple[str, Any], list[tuple[Cell, str, Sums]]] = defaultdict(list)
        for row in rows:
            groups[row[1], level(row[0])].append(row)
        for (name, at), some in sorted(groups.items(), key=lambda item: (item[0][0], _order(item[0][1]))):
            line = _line_of(name, at, some, before, risk)
            lines += [line] if line else []
    lines += ["", f"## Surely below {WANTED}", ""]
    for cell, name, sums in sorted(flagged, key=lambda each: each[2].upper(risk)):
        lines.append(f"- {name}: {cell.key}: held {1 - sums.misses / sums.trials:.3f} of {sums.trials} "
                     f"(too low {sums.below}, too high {sums.above}); at most {sums.upper(risk):.3f}")  # fmt: skip
    lines += ["", "## Least likely if 93 % held, not sure", ""]
    sure = {(cell, name) for cell, name, _ in flagged}
    others = sorted((row for row in rows if row[:2] not in sure and row[2].misses), key=lambda row: row[2].chance())
    lines += [
        f"- {name}: {cell.key}: held {1 - sums.misses / sums.trials:.3f} of {sums.trials}; chance {sums.chance():.2g}"
        for cell, name, sums in others[:60]
    ]
    lines += ["", "## Points outside their interval", ""]
    lines += [f"- {name}: {cell.key}: {sums.outside} of {sums.trials}" for cell, name, sums in outside[:60]]
    return "\n".join(lines) + "\n"


_HEAD = (
    "| question | level | cells | trials | held (first trials) | at most | cells surely below | worst cell of ≥ 100 "
    "trials | error / least: root mean square, worst of ≥ 100 | refused | width new / old: median, worst |"
)


def _order(level: Any) -> tuple[int, Any]:
    return (0, level) if isinstance(level, (int, float)) else (1, str(level))


def _line_of(name: str, at: Any, some: list[Any], before: dict[Any, Sums], risk: float) -> str:
    """One line of a table; what is held and its limit (at 0.001) are of first trials alone, which nothing selected."""
    told = [(cell, sums) for cell, _, sums in some if sums.trials]
    refused = sum(sums.refused for *_, sums in some)
    if not told:
        return f"| {name} | {at} | 0 | 0 | – | – | – | – | – | {refused} | – |" if refused else ""
    pooled = Sums()
    pooled.trials = sum(sums.first_trials for _, sums in told)
    pooled.below = sum(sums.first_misses for _, sums in told)
    held = 1 - pooled.misses / max(pooled.trials, 1)
    many = [sums for _, sums in told if sums.trials >= MANY]
    worst = min((1 - sums.misses / sums.trials for sums in many), default=math.nan)
    squares = [sums.errors / sums.trials / sums.bound**2 for _, sums in told if sums.bound > 0]
    largest = [math.sqrt(sums.errors / sums.trials) / sums.bound for sums in many if sums.bound > 0]
    error = f"{math.sqrt(np.mean(squares)):.2f}, {max(largest, default=math.nan):.2f}" if squares else "–"
    wide = [
        sums.width / sums.trials / (old.width / old.trials)
        for cell, sums in told
        if (old := before.get((cell, name))) is not None and old.trials and old.width > 0
    ]
    sure = sum(sums.upper(risk) < WANTED for _, sums in told)
    return (
        f"| {name} | {at} | {len(told)} | {sum(sums.trials for _, sums in told):,} | "
        f"{held:.3f} | {pooled.upper(1e-3):.3f} | "
        f"{sure} | {worst:.3f} | {error} | {refused} | {_pair(wide)} |"
    )


def _pair(numbers: list[float]) -> str:
    return f"{np.median(numbers):.2f}, {max(numbers):.2f}" if numbers else "–"


def main() -> None:
    """Run, or report."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("what", choices=("run", "report"))
    parser.add_argument("out", type=Path)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument(
        "--explore", type=float, default=0.6, help="share of the time for the first trials of all cells"
    )
    parser.add_argument("--resume", type=Path, help="begin with the trials of an earlier run of the same cells")
    parser.add_argument("--first", type=int, default=FIRST, help="trials of every cell before any gets more")
    parser.add_argument(
        "--cheap", type=float, default=0.3, help="seconds for the first trials of a cell if they are more"
    )
    parser.add_argument("--chance", type=float, default=0.3, help="cells whose misses are likelier get no more trials")
    parser.add_argument("--mechanisms", nargs="+", choices=tuple(KINDS), default=MAIN)
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=SHAPES)
    parser.add_argument("--n", nargs="+", type=int, default=NS)
    parser.add_argument("--epsilons", nargs="+", type=float, default=EPSILONS)
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    options = parser.parse_args()
    if options.what == "run":
        run(options)
        return
    against = None if options.against is None else json.loads(options.against.read_text())
    text = report(json.loads(options.out.read_text()), against)
    options.out.with_suffix(".md").write_text(text)
    print(text[: text.find("## By mechanism")])


if __name__ == "__main__":
    main()
