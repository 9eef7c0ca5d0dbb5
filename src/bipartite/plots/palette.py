"""One line style per mechanism, the same in every picture: by colour, and without colour by dash and weight."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Final

from bipartite.mechanisms.catalogue import LAPLACE_RED, Look, look_of
from bipartite.plots import style

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_SPARE: Final = ("#7b3f98", "#c2410c", "#0f766e", "#a16207", "#be185d", "#4d7c0f", "#475569")
_DASHES: Final = ("", "6 2", "2 2", "9 3 2 3")


def _line(look: Look) -> dict[str, Any]:
    dash = {"stroke_dasharray": look.dash} if look.dash else {}
    return {"stroke": look.colour, "stroke_width": look.width, **dash}


_SILENCE: Final = Look(style.INK, 1.2, "1 3")
# Curves that are not mechanisms of the catalogue, or are variants described elsewhere.
_OTHERS: Final = {
    "L-SRR as published": Look("#7b3f98", 1.8, mark="diamond"),
    "L-SRR calibrated": Look("#7b3f98", 1.8, "6 2", "hollow diamond"),
    "Two-level": Look("#0f766e", 1.6, "9 3 2 3"),
    "Region-weighted": Look("#a16207", 1.6, "4 2"),
    "BRR-SGD as described": Look(style.BRR, 2.6),
    "Laplace, central": Look(LAPLACE_RED, 1.8, "6 2", "diamond"),
    "Laplace on the sum, as described": Look(LAPLACE_RED, 1.8, "6 2", "diamond"),
    "Laplace on the mean": Look(LAPLACE_RED, 1.8, "2 2", "hollow diamond"),
    "Gaussian, central": Look("#4d7c0f", 1.8, mark="square"),
    "no privacy": Look(style.INK, 1.6, "11 4"),
    "the mean (no privacy)": Look(style.INK, 1.2, "7 3 1 3"),
    "always the middle": _SILENCE,
    "always one number": _SILENCE,
    "one answer": _SILENCE,
    "one place": _SILENCE,
    "majority class": _SILENCE,
    "limit": Look(style.INK, 1.2, "4 4"),
    "limit for reported values": Look(style.INK, 1.2, "4 4"),
}


def line_of(name: str) -> dict[str, Any] | None:
    """The line style of a name, if it has one; answers that reveal nothing about anyone are dotted."""
    look = _OTHERS.get(name) or look_of(name)
    return None if look is None else _line(look)


def mark_of(name: str) -> str:
    """The shape of a name's points, distinguishable without colour."""
    look = _OTHERS.get(name) or look_of(name)
    return "dot" if look is None else look.mark


def lines(names: Iterable[str]) -> dict[str, Mapping[str, Any]]:
    """The line style of each name; names without one take the spare styles in order."""
    # Seven colours and four dashes: neighbours differ in both, and no two of 28 are alike.
    spare = (Look(*both) for both in zip(itertools.cycle(_SPARE), itertools.repeat(1.5), itertools.cycle(_DASHES)))
    return {name: line_of(name) or _line(next(spare)) for name in names}
