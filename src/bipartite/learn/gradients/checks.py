"""What every plan of training refuses, all problems at once."""

from __future__ import annotations

import math
from typing import Final

from bipartite.errors import Problems, shown
from bipartite.lottery.checks import is_whole

REFUSALS: Final = (
    "a refusal: training that stops with an error tells that somebody's features or label are out of range or no "
    "numbers (and of labels that are no class, how many), or that people are too few or too many for a batch or for "
    "memory"
)
"""Of every ``not_covered``: the fact of a refusal is a release, which no noise hides."""


def positive(name: str, value: object, problems: Problems, *, below: float = math.inf, hint: str = "") -> None:
    """A positive finite number, at most ``below``."""
    # Not every real number: those of 32 bits would bring their rounding into ε.
    number = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < math.inf and value <= below
    if not number:
        most = "" if math.isinf(below) else f" and at most {below:g}"
        problems.add(f"Expected {name} as a positive finite number{most}, got {shown(value)}; {hint or 'try 1.0'}.")


def whole(name: str, value: object, problems: Problems, *, hint: str, least: int = 1) -> None:
    """A whole number of at least ``least``."""
    if not is_whole(value) or value < least:
        problems.add(f"Expected {name} as a whole number of at least {least}, got {shown(value)}; {hint}.")
