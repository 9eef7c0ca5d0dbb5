"""The public parameters of private boosting, read and checked before a single record is looked at."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from bipartite.errors import InputError, Problems, is_one_of, shown
from bipartite.learn.boosting.budget import MEAN_SHARE, Budget, part_of_epsilon
from bipartite.learn.boosting.compiled import GAIN_BITS
from bipartite.learn.boosting.ensemble import Large, Recipe
from bipartite.learn.boosting.leaves import LEAVES, Leaf, NoisySums, leaf_rule
from bipartite.learn.boosting.splits import BestSplit, SplitRule
from bipartite.learn.guarantee import Guarantee, from_known_words
from bipartite.lottery import Epsilon, Source, is_secure, source_of
from bipartite.lottery.budgets import exact_sum, float_at_least
from bipartite.lottery.checks import is_whole

if TYPE_CHECKING:
    from collections.abc import Callable

    from bipartite.domains import Outside
    from bipartite.learn.boosting.grids import Grid

    T = TypeVar("T")
    Word = TypeVar("Word", bound=str)

MOST_TREES: Final = 10_000
MOST_DEPTH: Final = 12
MOST_POINTS: Final = 10_001
_THREE_DECIMALS: Final = 1_000
_TUNING: Final = (
    "tuning and cross-validation: each further fit to the same records spends its own ε, and a score computed on "
    "private records is not private at all"
)
_PUBLIC: Final = (
    "the parameters, the number and names of the features, and the ranges: they are public and must not come from the "
    "records; and earlier steps of a pipeline, such as scalers and encoders, where they learn from the records"
)
_ERRORS: Final = (
    "errors, and how long a fit takes: a fit that refuses a value reveals that there was one; outside='clip' refuses "
    "fewer, and missing and infinite values, no records and tens of millions of them are always refused"
)


@dataclass(frozen=True)
class Settings:
    """The checked parameters of ``fit``."""

    epsilon: Epsilon
    leaf: Leaf
    trees: int
    ensemble_trees: int
    depth: int
    eta: Fraction
    lam: Fraction
    leaf_range: Fraction | None
    leaf_points: int
    outside: Outside
    large_gradients: Large
    gradient_clip: Fraction
    source: Source
    progress: Callable[[int], None] | None

    @property
    def ensembles(self) -> int:
        """The number of ensembles that compose."""
        return -(-self.trees // self.ensemble_trees)

    @property
    def most_records(self) -> int:
        """The largest number of records for which gains fit in 64 bits."""
        return math.isqrt((2**64 - 1) // (self.lam.denominator << GAIN_BITS))

    def recipe(self, grid: Grid, models: int = 1) -> Recipe:
        """The recipe of each of ``models`` models that share ε."""
        sums = self.leaf == "sums"
        part = part_of_epsilon(Fraction(self.epsilon.value) / models)
        budget = Budget(part, self.ensembles, self.depth, MEAN_SHARE if sums else Fraction(0))
        return Recipe(
            grid=grid,
            trees=self.trees,
            ensemble_trees=self.ensemble_trees,
            depth=self.depth,
            eta=self.eta,
            lam=self.lam,
            leaf_range=self.leaf_range,
            large_gradients=self.large_gradients,
            splits=BestSplit() if self.leaf == "none" else SplitRule(budget.split),
            leaves=leaf_rule(self.leaf, budget.leaf, self.leaf_points),
            mean=NoisySums(budget.mean) if sums else None,
            gradient_clip=self.gradient_clip,
        )

    def guarantee(self, *more: str) -> Guarantee:
        """What the fitted model promises; ``more`` names further things that are not covered."""
        if self.leaf == "none":
            return Guarantee("none", math.inf, math.inf, not_covered=("everything: leaf='none' adds no noise",))
        value = self.epsilon.value
        promised = Guarantee(
            "central",
            float_at_least(value),
            float_at_least(exact_sum([value, value])),
            not_covered=(*more, _TUNING, _PUBLIC, _ERRORS),
        )
        return promised if is_secure(self.source) else from_known_words(promised)


def settings_of(given: dict[str, Any]) -> Settings:
    """The settings that these parameters describe; raises with every problem found."""
    problems = Problems()
    epsilon = _or_problem(problems, Epsilon.of, given["epsilon"], Epsilon(Decimal(1)))
    source = _or_problem(problems, source_of, given["rng"], source_of(None))
    trees = _whole("trees", given["trees"], 1, MOST_TREES, problems)
    per_ensemble = given["ensemble_trees"]
    checked = Settings(
        epsilon=epsilon,
        leaf=_word("leaf", given["leaf"], LEAVES, problems),
        trees=trees,
        ensemble_trees=trees if per_ensemble is None else _whole("ensemble_trees", per_ensemble, 1, trees, problems),
        depth=_whole("depth", given["depth"], 1, MOST_DEPTH, problems),
        eta=_decimal("learning_rate", given["learning_rate"], Fraction(1, 10_000), Fraction(1), problems),
        lam=_short_decimal("regularization", given["regularization"], Fraction(_THREE_DECIMALS), problems),
        leaf_range=None
        if given["leaf_range"] is None
        else _decimal("leaf_range", given["leaf_range"], Fraction(1, 10_000), Fraction(1_000), problems),
        leaf_points=_whole("leaf_points", given["leaf_points"], 2, MOST_POINTS, problems),
        outside=_word("outside", given["outside"], ("error", "clip"), problems),
        large_gradients=_word("large_gradients", given["large_gradients"], ("clip", "skip"), problems),
        gradient_clip=_short_decimal("gradient_clip", given["gradient_clip"], Fraction(2), problems),
        source=source,
        progress=given["progress"],
    )
    if given["progress"] is not None and not callable(given["progress"]):
        problems.add(f"Expected progress as a function of one number or None, got {shown(given['progress'])}.")
    problems.raise_if_any(InputError)
    return checked


def _or_problem(problems: Problems, read: Callable[[object], T], given: object, otherwise: T) -> T:
    try:
        return read(given)
    except InputError as problem:
        problems.add(str(problem))
        return otherwise


def _word(name: str, given: object, choices: tuple[Word, ...], problems: Problems) -> Word:
    if not is_one_of(given, choices):
        problems.add(f"Expected {name} as one of {', '.join(map(repr, choices))}, got {shown(given)}.")
    return next((choice for choice in choices if choice == given), choices[0])


def _whole(name: str, given: object, least: int, most: int, problems: Problems) -> int:
    if not is_whole(given) or not least <= given <= most:
        problems.add(f"Expected {name} as a whole number from {least} to {most}, got {shown(given)}; pass an int.")
        return least
    return int(given)


def _decimal(name: str, given: object, least: Fraction, most: Fraction, problems: Problems) -> Fraction:
    """A number as the decimal that a person wrote: 0.1 is one tenth."""
    if (
        isinstance(given, (int, float, np.integer, np.floating))
        and not isinstance(given, bool)
        and math.isfinite(given)
    ):
        written = Fraction(repr(float(given)))
        if least <= written <= most:
            return written
    problems.add(f"Expected {name} as a number from {float(least):g} to {float(most):g}, got {shown(given)}.")
    return least


def _short_decimal(name: str, given: object, most: Fraction, problems: Problems) -> Fraction:
    """A number of at most three decimals, so that products of whole numbers stay within 64 bits."""
    found = _decimal(name, given, Fraction(1, _THREE_DECIMALS), most, problems)
    if found.denominator > _THREE_DECIMALS:
        problems.add(f"Expected {name} with at most three decimals, got {shown(given)}; round it.")
        return Fraction(1)
    return found
