"""The one rule by which a mechanism is recommended for a purpose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from bipartite.answers.advise.purposes import GRR_NAME, wanted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bipartite.answers.advise.measuring import Measured, Question

NEAR: Final = 0.05
"""The recommended mechanism's error is at most this fraction above the least error found."""
_EQUAL: Final = 1e-9


class Choice(NamedTuple):
    """The mechanism recommended for a purpose, and what it was compared with."""

    taken: Measured
    error: float
    least: Measured
    """The mechanism with the least error."""
    least_error: float
    worst_ratio: float | None
    """Its error over the least of all that serve, for the shape of the population where that ratio is largest."""
    worst_shape: str


def choose(purpose: str, measured: Sequence[Measured], question: Question) -> Choice | None:
    """The preferred mechanism where it is within 5 % of the least error, otherwise the one with the least error.

    Only those that keep ε count; None if none serves. A window of one value is called GRR.
    """
    want = wanted(purpose, question.domain)
    serving = serving_with(purpose, measured, want.figure)
    if not serving:
        return None
    least = min(error for error, _ in serving)
    # The first, in the order of the table, of those whose error is least up to rounding.
    best = next(each for each in serving if each[0] <= _above(least, _EQUAL))
    by_name = {each.candidate.name: (error, each) for error, each in serving}
    taken = by_name.get(want.preferred or "", best)
    if taken[0] > _above(best[0], NEAR):
        taken = best
    grr = by_name.get(GRR_NAME)
    if grr is not None and grr[0] <= _above(taken[0], _EQUAL):
        taken = grr
    worst = _worst(taken[1], [each for _, each in serving], want.figure, list(question.shapes))
    return Choice(taken[1], taken[0], best[1], best[0], *worst)


def choose_for_all(purposes: Sequence[str], measured: Sequence[Measured], question: Question) -> Measured | None:
    """The mechanism whose largest ratio to the least error, over several purposes, is smallest."""
    ratios: dict[str, list[float]] = {}
    for purpose in purposes:
        serving = serving_with(purpose, measured, wanted(purpose, question.domain).figure)
        least = min((error for error, _ in serving), default=1.0)
        for error, each in serving:
            ratios.setdefault(each.candidate.name, []).append(error / least)
    whole = {name: max(each) for name, each in ratios.items() if len(each) == len(purposes)}
    if not whole:
        return None
    name = next(each for each in whole if whole[each] <= _above(min(whole.values()), _EQUAL))
    return next(each for each in measured if each.candidate.name == name)


def serving_with(purpose: str, measured: Sequence[Measured], figure: str) -> list[tuple[float, Measured]]:
    """(error, mechanism) of those that serve a purpose and keep ε."""
    return [
        (float(error), each)
        for each in measured
        if each.candidate.serves(purpose) and each.row.holds and (error := getattr(each.row, figure)) is not None
    ]


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
