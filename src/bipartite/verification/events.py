"""The choice of events to test: unions of the outcomes with the largest likelihood ratios, on separate samples.

Outcomes are ranked by the ratio of their counts for two inputs. Where to cut the ranking is decided by two-fold
cross-validation within these samples: each half is cut by the ranking of the other, so that a rank due to chance gains
nothing. The cut with the best predicted bound is chosen, over all views of a report.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations, permutations
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.verification.outcomes import (
    BINS,
    SAMPLES_FOR_A_REPORT,
    Coder,
    Columns,
    Outcomes,
    Patterns,
    Precision,
    Ranges,
    Score,
    learn_numbers,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    Samples = Sequence[NDArray[Any]]

_MOST_CUTS: Final = 256
_PAIRED_COLUMNS: Final = 8
_LUCK: Final = 0.02
# Fewer ranges have a less noisy ranking, more ranges follow the law more closely: both are tried.
_COARSER: Final = (4, 16)


@dataclass(frozen=True, eq=False)
class Candidate:
    """An event for one ordered pair of inputs, and its predicted bound."""

    outcomes: Outcomes
    codes: tuple[int, ...]
    promise: float

    def hits(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        """Which reports are in the event."""
        inside = np.zeros(self.outcomes.size + 1, dtype=bool)
        inside[list(self.codes)] = True
        return inside[self.outcomes.codes(reports)]


class EventSearch:
    """All views of some samples, with the counts of their two halves."""

    def __init__(self, samples: Samples, bins: int | None, names: Sequence[Any] | None) -> None:
        pooled = np.concatenate(samples)
        self.coder = Coder.learn(pooled, names) if pooled.ndim > 1 else None
        self._samples = [self.encode(each) for each in samples]
        self._views: list[tuple[Outcomes, NDArray[np.int64], NDArray[np.int64]]] = []
        if self.coder is None:
            self._view_numbers(pooled, bins, names)
        else:
            self._view_rows(self.coder)

    def encode(self, reports: NDArray[Any]) -> NDArray[Any]:
        """Reports in the form that the views expect."""
        return reports if self.coder is None else self.coder.encode(reports)

    def _add_view(self, view: Outcomes) -> None:
        self._views.append((view, *self._counts(view)))

    def _view_numbers(self, pooled: NDArray[Any], bins: int | None, names: Sequence[Any] | None) -> None:
        by_value = learn_numbers(pooled, bins, names)
        self._add_view(by_value)
        if isinstance(by_value, Ranges):
            for coarser in _COARSER:
                self._add_view(Ranges.learn(pooled, max(2, (bins or BINS) // coarser)))
            if pooled.dtype.kind == "f":
                self._add_view(Precision())

    def _view_rows(self, coder: Coder) -> None:
        patterns = Patterns.learn(np.concatenate(self._samples), coder)
        for at in range(len(coder.columns)):
            self._add_view(Columns(coder, (at,)))
        # Pairs of the columns that best distinguish some two inputs.
        promises = [max(_cuts(one, two, i, j, 2.0)[0][0] for i, j in self._pairs()) for _, one, two in self._views]
        best = sorted(np.argsort(promises, kind="stable")[::-1][:_PAIRED_COLUMNS].tolist())
        for pair in combinations(best, 2):
            self._add_view(Columns(coder, pair))
        if patterns.size * SAMPLES_FOR_A_REPORT <= sum(map(len, self._samples)):
            self._add_view(patterns)

    def _pairs(self) -> Iterator[tuple[int, int]]:
        return permutations(range(len(self._samples)), 2)

    def _counts(self, view: Outcomes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The counts of the outcomes in both halves of the samples of every input."""
        tables: tuple[list[Any], list[Any]] = ([], [])
        for each in self._samples:
            codes = view.codes(each)
            for table, half in zip(tables, np.array_split(codes, 2), strict=True):
                table.append(np.bincount(half, minlength=view.size + 1)[: view.size])
        return np.array(tables[0]), np.array(tables[1])

    def best(self, i: int, j: int, alpha: float, events: int) -> list[Candidate]:
        """The events with the best predicted bounds that are more likely for input i than for input j."""
        z = NormalDist().inv_cdf(1 - alpha)
        found = []
        for view, one, two in [*self._views, *self._view_scores(i, j)]:
            ratios = (one[i] + two[i] + 1) / (one[j] + two[j] + 1)
            for promise, cut in _cuts(one, two, i, j, z)[:events]:
                codes = tuple(np.flatnonzero(ratios >= min(cut, ratios.max())).tolist())
                found.append(Candidate(view, codes, promise))
        found.sort(key=lambda each: -each.promise)
        return found[:events]

    def _view_scores(self, i: int, j: int) -> Iterator[tuple[Outcomes, NDArray[np.int64], NDArray[np.int64]]]:
        """The score of a row: learned on one half, counted on the quarters of the other."""
        if self.coder is None:
            return
        (first, rest_i), (second, rest_j) = (np.array_split(self._samples[at], 2) for at in (i, j))
        score = Score.learn(first, second, np.concatenate([rest_i, rest_j]), self.coder)
        if score is None:
            return
        one, two = (np.zeros((len(self._samples), score.size), dtype=np.int64) for _ in range(2))
        for at, rest in ((i, rest_i), (j, rest_j)):
            for table, part in zip((one, two), np.array_split(score.codes(rest), 2), strict=True):
                table[at] = np.bincount(part, minlength=score.size + 1)[: score.size]
        yield score, one, two


def _cuts(one: NDArray[np.int64], two: NDArray[np.int64], i: int, j: int, z: float) -> list[tuple[float, float]]:
    """Pairs (predicted bound, least ratio of the outcomes in the event), the best first.

    One for each order of magnitude (power of two) of the count of the event.
    """
    by_one, by_two = ((half[i] + 0.5) / (half[j] + 0.5) for half in (one, two))
    cuts = np.unique(np.concatenate([by_one, by_two]))
    if len(cuts) > _MOST_CUTS:
        cuts = cuts[np.linspace(0, len(cuts) - 1, _MOST_CUTS).astype(np.int64)]
    hits = [_above(by_one, two[at], cuts) + _above(by_two, one[at], cuts) for at in (i, j)]
    trials = [one[at].sum() + two[at].sum() for at in (i, j)]
    low, high = _wilson(hits[0], trials[0], -z), _wilson(hits[1], trials[1], z)
    with np.errstate(divide="ignore"):
        promises = np.log(low / high)
    magnitude = np.frexp(hits[0].astype(np.float64))[1]
    found = []
    for each in np.unique(magnitude):
        inside = np.flatnonzero(magnitude == each)
        best = inside[np.argmax(promises[inside])]
        # Among cuts that differ only by chance, the lowest: outcomes that belong together stay together.
        width = math.log(max(hits[0][best], 1) / max(hits[1][best], 1)) - promises[best]
        near = promises >= promises[best] - (_LUCK * max(width, 0) if np.isfinite(width) else 0)
        found.append((float(promises[best]), float(cuts[np.flatnonzero(near)[0]])))
    return sorted(found, reverse=True)


def _above(ratios: NDArray[np.float64], counts: NDArray[np.int64], cuts: NDArray[np.float64]) -> NDArray[np.int64]:
    """For each cut, the number of samples whose outcome has at least that ratio."""
    order = np.argsort(ratios)
    from_the_top = np.concatenate([np.cumsum(counts[order][::-1])[::-1], [0]])
    found: NDArray[np.int64] = from_the_top[np.searchsorted(ratios[order], cuts)]
    return found


def _wilson(hits: NDArray[np.int64], trials: int, z: float) -> NDArray[np.float64]:
    """Wilson's bound on a share: fast, and accurate enough to choose events."""
    share = hits / max(trials, 1)
    spread = np.sqrt(share * (1 - share) / max(trials, 1) + (z / (2 * max(trials, 1))) ** 2)
    centre = share + z * z / (2 * max(trials, 1))
    bound: NDArray[np.float64] = np.clip((centre + z * spread) / (1 + z * z / max(trials, 1)), 0, 1)
    return bound if z > 0 else np.where(hits > 0, bound, 0)


def log_ratio(low: float, high: float) -> float:
    """ln(low/high), −∞ if low is 0."""
    return math.log(low / high) if low > 0 else -math.inf
