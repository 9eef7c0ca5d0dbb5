"""One line style per mechanism, the same in every picture: by colour, and without colour by dash and weight."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from bipartite.plots import style

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class Look(NamedTuple):
    """How a curve is plotted: by colour, and in grey by dash pattern, line width and marker."""

    colour: str
    width: float
    dash: str = ""
    mark: str = "dot"


_RED: Final = "#c2410c"
_BROWN: Final = "#b5651d"
_PURPLE: Final = "#7b3f98"
_PINK: Final = "#be185d"
_SPARE: Final = (_PURPLE, _RED, "#0f766e", "#a16207", _PINK, "#4d7c0f", "#475569")
_DASHES: Final = ("", "6 2", "2 2", "9 3 2 3")


def _line(look: Look) -> dict[str, Any]:
    dash = {"stroke_dasharray": look.dash} if look.dash else {}
    return {"stroke": look.colour, "stroke_width": look.width, **dash}


_SILENCE: Final = Look(style.INK, 1.2, "1 3")
_LOOKS: Final = {
    # Mechanisms, by the labels of a comparison.
    "GRR": Look(style.GRR, 2, style.DASH, "hollow dot"),
    "BRR, safe m": Look(style.BRR, 2.4),
    "BRR, best m": Look(style.BRR_FAR, 2.4, mark="hollow dot"),
    "BRR, padded": Look(style.BRR, 2, "7 3", "hollow dot"),
    "BRR, padded, mean": Look(style.BRR, 2, "3 2"),
    "BRR, padded, CDF": Look(style.BRR, 2, "10 3 2 3"),
    "BRR, padded, shares": Look(style.BRR_FAR, 2, "3 2"),
    "BRR": Look(style.BRR, 2.6),
    "Square Wave": Look("#0e7490", 1.8),
    "Geometric, clamped": Look(_PINK, 1.6, "9 3 2 3"),
    "Geometric": Look(_PINK, 1.6, "9 3 2 3", "down"),
    "Exponential, published": Look(_BROWN, 1.8),
    "Exponential, tight": Look(_BROWN, 1.8, "8 3 2 3", "hollow triangle"),
    "Exponential": Look(_BROWN, 1.8, mark="triangle"),
    "Laplace, clamped": Look(_RED, 1.8, mark="hollow diamond"),
    "Laplace, raw": Look(_RED, 1.8, "6 2"),
    "Laplace": Look(_RED, 1.8, "6 2", "diamond"),
    "Staircase, raw": Look("#475569", 1.5),
    "Duchi": Look("#7f1d1d", 1.5, "2 2", "hollow down"),
    "Piecewise": Look("#0f766e", 1.5, "9 2", "triangle"),
    "Hybrid": Look("#a16207", 1.5, "6 2 1 2", "hollow triangle"),
    "L-SRR as published": Look(_PURPLE, 1.8, mark="diamond"),
    "L-SRR calibrated": Look(_PURPLE, 1.8, "6 2", "hollow diamond"),
    "Anchored": Look("#2e7d32", 2.4, mark="hollow square"),
    "Minimax": Look("#2e7d32", 1.8, "3 2", "square"),
    "Optimal, unbiased": Look("#1e293b", 1.8, "8 2 2 2", "hollow square"),
    "Custom": Look("#334155", 2, "2 3", "square"),
    "Two-level": Look("#0f766e", 1.6, "9 3 2 3"),
    "Region-weighted": Look("#a16207", 1.6, "4 2"),
    # Other curves, and variants described elsewhere.
    "BRR-SGD as described": Look(style.BRR, 2.6),
    "Laplace, central": Look(_RED, 1.8, "6 2", "diamond"),
    "Laplace on the sum, as described": Look(_RED, 1.8, "6 2", "diamond"),
    "Laplace on the mean": Look(_RED, 1.8, "2 2", "hollow diamond"),
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
    look = _LOOKS.get(name)
    return None if look is None else _line(look)


def mark_of(name: str) -> str:
    """The shape of a name's points, distinguishable without colour."""
    look = _LOOKS.get(name)
    return "dot" if look is None else look.mark


def lines(names: Iterable[str]) -> dict[str, Mapping[str, Any]]:
    """The line style of each name; names without one take the spare styles in order."""
    # Seven colours and four dashes: neighbours differ in both, and no two of 28 are alike.
    spare = (Look(*both) for both in zip(itertools.cycle(_SPARE), itertools.repeat(1.5), itertools.cycle(_DASHES)))
    return {name: line_of(name) or _line(next(spare)) for name in names}
