"""The public parameters of private boosting, read and checked before a single record is looked at."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

import numpy as np

from bipartite.errors import InputError, Problems, is_one_of, shown
from bipartite.lottery import Epsilon, Source, source_of
from bipartite.lottery.checks import is_whole

MOST_TREES: Final = 10_000
MOST_DEPTH: Final = 12
_THREE_DECIMALS: Final = 1_000


@dataclass(frozen=True)
class Settings:
    """The checked parameters of ``fit``."""

    epsilon: Epsilon
    source: Source
    trees: int | None
    depth: int
    eta: Fraction
    clip: Fraction


def settings_of(given: dict[str, Any]) -> Settings:
    """The settings that these parameters describe; raises with every problem found."""
    problems = Problems()
    epsilon, source = Epsilon.of(Decimal(1)), source_of(None)
    with problems.noting():
        epsilon = Epsilon.of(given["epsilon"])
    with problems.noting():
        source = source_of(given["rng"])
    if not is_one_of(given["outside"], ("error", "clip")):
        problems.add(f"Expected outside as one of 'error', 'clip', got {shown(given['outside'])}.")
    if given["progress"] is not None and not callable(given["progress"]):
        problems.add(f"Expected progress as a function of one number or None, got {shown(given['progress'])}.")
    checked = Settings(
        epsilon,
        source,
        trees=None if given["trees"] is None else whole("trees", given["trees"], 1, MOST_TREES, problems),
        depth=whole("depth", given["depth"], 1, MOST_DEPTH, problems),
        eta=decimal("learning_rate", given["learning_rate"], Fraction(1, 10_000), Fraction(1), problems),
        clip=short_decimal("gradient_clip", given["gradient_clip"], Fraction(2), problems),
    )
    problems.raise_if_any(InputError)
    return checked


def whole(name: str, given: object, least: int, most: int, problems: Problems) -> int:
    """A whole number within these limits."""
    if not is_whole(given) or not least <= given <= most:
        problems.add(f"Expected {name} as a whole number from {least} to {most}, got {shown(given)}; pass an int.")
        return least
    return int(given)


def decimal(name: str, given: object, least: Fraction, most: Fraction, problems: Problems) -> Fraction:
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


def short_decimal(name: str, given: object, most: Fraction, problems: Problems) -> Fraction:
    """A number of at most three decimals, so that products of whole numbers stay within 64 bits."""
    found = decimal(name, given, Fraction(1, _THREE_DECIMALS), most, problems)
    if found.denominator > _THREE_DECIMALS:
        problems.add(f"Expected {name} with at most three decimals, got {shown(given)}; round it.")
        return Fraction(1)
    return found
