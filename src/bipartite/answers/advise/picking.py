"""The one rule by which a mechanism is recommended for a purpose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from bipartite.answers.advise.purposes import GRR_NAME, WANTED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bipartite.answers.advise.figures import Measured

NEAR: Final = 0.05
"""The recommended mechanism's error is at most this fraction above the least error found."""
_EQUAL: Final = 1e-9


class Pick(NamedTuple):
    """The mechanism recommended for a purpose, and what it was compared with."""

    taken: Measured
    error: float
    least: Measured
    """The mechanism with the least error."""
    least_error: float
    worst_ratio: float | None
    """Its error over the least of all that serve, for the shape of the population where that ratio is largest."""
    worst_shape: str


def pick(purpose: str, measured: Sequence[Measured], shapes: Sequence[str]) -> Pick | None:
    """The preferred mechanism where it is within 5 % of the least error, otherwise the one with the least error.

    Only those that keep ε count; None if none serves. A window of one value is called GRR.
    """
    wanted = WANTED[purpose]
    serving = [
        (float(error), each)
        for each in measured
        if each.candidate.serves(purpose) and each.row.holds and (error := getattr(each.row, wanted.figure)) is not None
    ]
    if not serving:
        return None
    least = _first(serving, min(error for error, _ in serving), _EQUAL)
    by_name = {each.candidate.name: (error, each) for error, each in serving}
    # Around a circle nothing is preferred to the least error: windows have it.
    circle = any(each.mechanism is not None and each.mechanism.domain.wraps for each in measured)
    taken = by_name.get("" if circle else wanted.preferred or "", least)
    if taken[0] > _above(least[0], NEAR):
        taken = least
    grr = by_name.get(GRR_NAME)
    if grr is not None and grr[0] <= _above(taken[0], _EQUAL):
        taken = grr
    return Pick(
        taken[1], taken[0], least[1], least[0], *_worst(taken[1], [each for _, each in serving], wanted.figure, shapes)
    )


def _first(serving: Sequence[tuple[float, Measured]], least: float, near: float) -> tuple[float, Measured]:
    """The first, in the order of the table, of those whose error is least up to rounding."""
    return next(each for each in serving if each[0] <= _above(least, near))


def _above(error: float, part: float) -> float:
    """The error plus a fraction of its size: similarities are losses below zero."""
    return error + part * abs(error)


def _worst(
    taken: Measured, serving: Sequence[Measured], figure: str, shapes: Sequence[str]
) -> tuple[float | None, str]:
    """(the largest ratio to the least error over the shapes, that shape); None where not computed."""
    known = [each.errors[figure][1:] for each in serving if figure in each.errors]
    own = taken.errors.get(figure)
    compared = 1 < len(known) == len(serving)
    if own is None or not shapes or not compared:
        return None, ""
    best = np.min(known, axis=0)
    if not (best > 0).all():
        return None, ""
    ratios = own[1:] / best
    at = int(ratios.argmax())
    return float(ratios[at]), shapes[at]
