"""One line a mechanism, the same in every picture: by colour, and in grey by dash and weight."""

from __future__ import annotations

import itertools
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from bipartite.plots import style

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ANCHORED: Final = "#2e7d32"
EXPONENTIAL: Final = "#b5651d"
LAPLACE: Final = "#c2410c"
LSRR: Final = "#7b3f98"
_SPARE: Final = ("#7b3f98", "#c2410c", "#0f766e", "#a16207", "#be185d", "#4d7c0f", "#475569")
_DASHES: Final = ("", "6 2", "2 2", "9 3 2 3")


def _line(stroke: str, width: float, dash: str = "") -> Mapping[str, Any]:
    return MappingProxyType({"stroke": stroke, "stroke_width": width, **({"stroke_dasharray": dash} if dash else {})})


_SILENCE: Final = _line(style.INK, 1.2, "1 3")

LINES: Final[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
    {
        "BRR": _line(style.BRR, 2.6),
        "BRR, safe m": _line(style.BRR, 2.4),
        "BRR, best m": _line(style.BRR_FAR, 2.4),
        "BRR, padded": _line(style.BRR, 2, "7 3"),
        "BRR, padded, mean": _line(style.BRR, 2, "3 2"),
        "BRR, padded, CDF": _line(style.BRR, 2, "10 3 2 3"),
        "BRR, padded, shares": _line(style.BRR_FAR, 2, "3 2"),
        "BRR-SGD as described": _line(style.BRR, 2.6),
        "GRR": _line(style.GRR, 2, style.DASH),
        "Square Wave": _line("#0e7490", 1.8),
        "Anchored": _line(ANCHORED, 2.4),
        "Exponential": _line(EXPONENTIAL, 1.8),
        "Exponential, published": _line(EXPONENTIAL, 1.8),
        "Exponential, tight": _line(EXPONENTIAL, 1.8, "8 3 2 3"),
        "L-SRR as published": _line(LSRR, 1.8),
        "L-SRR calibrated": _line(LSRR, 1.8, "6 2"),
        "Region-weighted": _line("#a16207", 1.6, "4 2"),
        "Two-level": _line("#0f766e", 1.6, "9 3 2 3"),
        "Laplace": _line(LAPLACE, 1.8, "6 2"),
        "Laplace, raw": _line(LAPLACE, 1.8, "6 2"),
        "Laplace, central": _line(LAPLACE, 1.8, "6 2"),
        "Laplace, clamped": _line(LAPLACE, 1.8),
        "Laplace on the sum, as described": _line(LAPLACE, 1.8, "6 2"),
        "Laplace on the mean": _line(LAPLACE, 1.8, "2 2"),
        "Gaussian, central": _line("#4d7c0f", 1.8),
        "Geometric": _line("#be185d", 1.6, "9 3 2 3"),
        "Geometric, clamped": _line("#be185d", 1.6, "9 3 2 3"),
        "Staircase, raw": _line("#475569", 1.5),
        "Piecewise": _line("#0f766e", 1.5, "9 2"),
        "Hybrid": _line("#a16207", 1.5, "6 2 1 2"),
        "Duchi": _line("#7f1d1d", 1.5, "2 2"),
        "no privacy": _line(style.INK, 1.6, "11 4"),
        "the mean (no privacy)": _line(style.INK, 1.2, "7 3 1 3"),
        "always the middle": _SILENCE,
        "always one number": _SILENCE,
        "one answer": _SILENCE,
        "one place": _SILENCE,
        "majority class": _SILENCE,
        "limit": _line(style.INK, 1.2, "4 4"),
        "limit for reported values": _line(style.INK, 1.2, "4 4"),
    }
)
"""How each mechanism is drawn wherever it appears; what tells nothing about anybody is dotted, whatever its name."""

MARKS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "BRR, best m": "hollow dot",
        "BRR, padded": "hollow dot",
        "GRR": "hollow dot",
        "Anchored": "hollow square",
        "Exponential": "triangle",
        "Exponential, tight": "hollow triangle",
        "L-SRR as published": "diamond",
        "L-SRR calibrated": "hollow diamond",
        "Laplace": "diamond",
        "Laplace, central": "diamond",
        "Laplace, clamped": "hollow diamond",
        "Laplace on the sum, as described": "diamond",
        "Laplace on the mean": "hollow diamond",
        "Gaussian, central": "square",
        "Geometric": "down",
        "Piecewise": "triangle",
        "Hybrid": "hollow triangle",
        "Duchi": "hollow down",
    }
)
"""The shape of a mechanism's points, where it is no dot: told apart in grey."""


def lines(names: Iterable[str]) -> dict[str, Mapping[str, Any]]:
    """How to draw these: each as everywhere, and those without a line of their own by the spare ones, in order."""
    spare = itertools.product(_DASHES, _SPARE)
    return {name: LINES.get(name) or _next(spare) for name in names}


def _next(spare: itertools.product[tuple[str, str]]) -> Mapping[str, Any]:
    dash, colour = next(spare)
    return _line(colour, 1.5, dash)
