"""Where trees may cut: public, equidistant, never learned from the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.errors import InputError, OutsideDomainError, Problems, shown
from bipartite.lottery.checks import is_whole
from bipartite.names import unknown_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from bipartite.domains import Outside

MOST_BINS: Final = 256
MOST_CUTS: Final = 2**22
"""With 2^40 tickets for each, their sum still has 63 bits."""
_EXAMPLE: Final = (
    "pass public limits such as feature_range=(0, 1), or one pair a feature; never take them from the data"
)


@dataclass(frozen=True, eq=False)
class Grid:
    """The bins of every feature: equal parts of its public range."""

    lows: NDArray[np.float64]
    highs: NDArray[np.float64]
    bins: NDArray[np.int64]
    names: tuple[str, ...] | None = None
    """Those of the features, where they have any."""

    @property
    def features(self) -> int:
        """The number of features."""
        return len(self.bins)

    @cached_property
    def candidates(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(feature, cut) of every way to split a node: rows in bins up to ``cut`` go left."""
        features = np.repeat(np.arange(self.features), self.bins - 1)
        cuts = np.concatenate([np.arange(count - 1) for count in self.bins.tolist()])
        return features, cuts

    def encode(self, values: NDArray[np.float64], outside: Outside) -> NDArray[np.uint8]:
        """The bin of every value, a function of that value and of public numbers alone."""
        if outside != "clip":
            self._refuse_outside(values)
        shares = (np.clip(values, self.lows, self.highs) - self.lows) / (self.highs - self.lows)
        codes = np.minimum(np.floor(shares * self.bins), self.bins - 1)
        return np.ascontiguousarray(codes, dtype=np.uint8)

    def _refuse_outside(self, values: NDArray[np.float64]) -> None:
        wrong = np.flatnonzero(((values < self.lows) | (values > self.highs)).any(axis=0)).tolist()
        if wrong:
            said = [str(each) if self.names is None else repr(self.names[each]) for each in wrong]
            raise OutsideDomainError(
                f"Expected every value within feature_range, got others in feature {', '.join(said)}; use "
                "outside='clip', which moves them to the nearest end and is private, or state a wider public range."
            )


def grid_of(feature_range: object, bins: object, features: int, names: Iterable[str] | None = None) -> Grid:
    """The grid that these public parameters describe; raises with every problem found."""
    problems = Problems()
    pairs = _by_position("feature_range", feature_range, names, problems)
    each = _by_position("bins", bins, names, problems)
    problems.raise_if_any(InputError)
    alike = not isinstance(feature_range, Mapping)
    lows, highs = ranges_of("feature_range", pairs, features, problems, _EXAMPLE, alike=alike)
    counts = _counts(each, features, problems)
    if (cuts := int((counts - 1).sum())) > MOST_CUTS:
        problems.add(
            f"Expected at most 2^22 cuts of all features together, got {cuts}; use fewer bins, or fewer features."
        )
    problems.raise_if_any(InputError)
    return Grid(lows, highs, counts, None if names is None else tuple(names))


def _by_position(what: str, given: object, names: Iterable[str] | None, problems: Problems) -> object:
    """What was given by the names of the features, in their order; anything else as it is."""
    if not isinstance(given, Mapping):
        return given
    if names is None:
        problems.add(
            f"Expected records with named columns, because {what} goes by name; pass a data frame, or {what} as a list."
        )
        return given
    columns = list(names)
    for name in columns:
        if name not in given:
            problems.add(f"Expected {what} for every feature, got none for {name!r}; add it.")
    for name in given:
        if name not in columns:
            problems.add(f"Expected {what} for features only, got {unknown_name('the name', name, columns)}; drop it.")
    return [given[name] for name in columns if name in given]


def ranges_of(
    name: str, given: object, features: int, problems: Problems, advice: str, *, alike: bool = True
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Low and high of every feature, from one pair a feature or, where ``alike``, one for all."""
    nothing = np.zeros(features), np.ones(features)
    if given is None:
        problems.add(f"Expected {name} as public limits, got None; {advice}.")
        return nothing
    pairs = _as_array(given)
    if pairs is None or pairs.shape not in {(features, 2), (2,) if alike else (features, 2)}:
        one = "a pair (low, high), or " if alike else ""
        problems.add(f"Expected {name} as {one}one pair for each of {features} features; {advice}.")
        return nothing
    pairs = np.broadcast_to(pairs, (features, 2))
    lows, highs = np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])
    with np.errstate(over="ignore", invalid="ignore"):
        sound = np.isfinite(highs - lows) & (lows < highs)
    if not sound.all():
        problems.add(f"Expected {name} with finite low < high; {advice}.")
        return nothing
    return lows, highs


def _as_array(given: object) -> NDArray[np.float64] | None:  # whatever was passed
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        return None


def _counts(bins: object, features: int, problems: Problems) -> NDArray[np.int64]:
    given = list(bins) if isinstance(bins, (list, tuple, np.ndarray)) else [bins] * features
    sound = all(
        is_whole(each) and 2 <= each <= MOST_BINS  # noqa: PLR2004
        for each in given
    )
    if sound and len(given) == features:
        return np.array(given, dtype=np.int64)
    problems.add(
        f"Expected bins as a whole number from 2 to {MOST_BINS}, or one for each of {features} features, got "
        f"{shown(bins)}; 32 suit most features, 2 one of zeros and ones."
    )
    return np.full(features, 2)
