"""The colours of all pictures, and one line style a mechanism, the same everywhere and distinct without colour."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# Okabe and Ito (2008): people with any common colour blindness can tell them apart.
BLUE: Final = "#0072B2"
SKY: Final = "#56B4E9"
GREEN: Final = "#009E73"
ORANGE: Final = "#E69F00"
RED: Final = "#D55E00"
PINK: Final = "#CC79A7"
INK: Final = "#222222"
GREY: Final = "#808080"
PALE: Final = "#A6CEE6"  # bars of estimated shares
FAINT: Final = "#E4E4E4"
LAND: Final = "#F0EEE9"
PAPER: Final = "#FFFFFF"

TRUTH: Final[Mapping[str, Any]] = {"color": INK, "linewidth": 1.3}
"""The line of what is true, where somebody knows it."""
WHISKER: Final[Mapping[str, Any]] = {"fmt": "none", "ecolor": INK, "elinewidth": 1.1, "capthick": 1.1}
"""The interval of one number, for ``ax.errorbar``."""


class Look(NamedTuple):
    """How a curve is drawn: by colour, and in grey by dashes, width and points."""

    color: str
    linewidth: float = 1.6
    dashes: tuple[float, ...] = ()
    marker: str = "o"
    hollow: bool = False

    def line(self) -> dict[str, Any]:
        """The arguments of ``ax.plot``, without points."""
        style = (0, self.dashes) if self.dashes else "-"
        return {"color": self.color, "linewidth": self.linewidth, "linestyle": style}

    def points(self) -> dict[str, Any]:
        """The arguments of ``ax.plot`` for its points."""
        return {"marker": self.marker, "markerfacecolor": PAPER if self.hollow else self.color}


DOTTED: Final = Look(INK, 1.2, (1, 2))
"""Of answers that ask nobody."""
LOOKS: Final[dict[str, Look]] = {
    "GRR": Look(GREY, 1.8, (4, 2), hollow=True),
    "BRR": Look(BLUE, 2.2),
    "BRR, safe m": Look(BLUE, 2.2),
    "BRR, best m": Look(SKY, 2.2, hollow=True),
    "BRR, padded": Look(BLUE, 1.8, (5, 2), hollow=True),
    "BRR, padded, mean": Look(BLUE, 1.8, (2, 1.5)),
    "BRR, padded, CDF": Look(BLUE, 1.8, (7, 2, 1, 2)),
    "BRR, padded, shares": Look(SKY, 1.8, (2, 1.5)),
    "Square Wave": Look(GREEN, 1.6, (7, 2, 1, 2), "D"),
    "Geometric": Look(PINK, 1.6, (6, 2, 1, 2), "v"),
    "Geometric, clamped": Look(PINK, 1.6, (6, 2, 1, 2)),
    "Exponential": Look(ORANGE, 1.6, marker="^"),
    "Exponential, published": Look(ORANGE),
    "Exponential, tight": Look(ORANGE, 1.6, (5, 2, 1, 2), "^", hollow=True),
    "Laplace": Look(RED, 1.6, (4, 1.5), "D"),
    "Laplace, clamped": Look(RED, 1.6, marker="D", hollow=True),
    "Laplace, raw": Look(RED, 1.6, (4, 1.5)),
    "Staircase, raw": Look(GREY, 1.4),
    "Duchi": Look(RED, 1.4, (1.5, 1.5), "v", hollow=True),
    "Piecewise": Look(GREEN, 1.5, (6, 1.5), "^"),
    "Hybrid": Look(ORANGE, 1.4, (4, 1.5, 1, 1.5), "^", hollow=True),
    "Anchored": Look(GREEN, 2.2, marker="s", hollow=True),
    "Minimax": Look(GREEN, 1.7, (2, 1.5), "s"),
    "Optimal, unbiased": Look(INK, 1.7, (5, 1.5, 1.5, 1.5), "s", hollow=True),
    "Custom": Look(INK, 1.8, (1.5, 2), "s"),
    "limit": Look(INK, 1.2, (3, 3)),
    "limit for reported values": Look(INK, 1.2, (3, 3)),
}


def darker(colour: str) -> str:
    """A colour for words: orange and pink lines are seen, letters in them are hardly read.

    >>> darker("#E69F00")
    '#8a5f00'
    """
    return "#" + "".join(f"{int(colour[at : at + 2], 16) * 3 // 5:02x}" for at in (1, 3, 5))


def looks_of(names: Iterable[str], known: Mapping[str, Look] = LOOKS) -> dict[str, Look]:
    """The look of each name: its own; of what asks nobody ("always …"), dotted; of others, spare ones in order."""
    # Six colours and five dashes: neighbours differ in both, and no two of 30 are alike.
    colours = itertools.cycle((PINK, RED, GREEN, ORANGE, BLUE, GREY))
    dashes: tuple[tuple[float, ...], ...] = ((), (4, 1.5), (1.5, 1.5), (6, 2, 1, 2), (2, 2, 6, 2))
    spare = (Look(colour, 1.4, dash) for colour, dash in zip(colours, itertools.cycle(dashes), strict=False))
    return {name: known.get(name) or (DOTTED if name.startswith("always ") else next(spare)) for name in names}
