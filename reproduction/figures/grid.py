"""Tables of small squares: numbers in rows and columns, some of them filled."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from bipartite.plots import LETTER, Picture, legend, picture, rule, style, tag, text, titled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SIDE: Final = 34.0
_LEFT: Final = 96.0
_TOP: Final = 62.0
_LOWERED: Final = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_DARK: Final = {"fill": style.PAPER, "font_weight": "bold"}


@dataclass(frozen=True)
class Square:
    """One square: what it says and how it is drawn; ``dark`` where the words need to be white."""

    words: str
    how: Mapping[str, Any] = field(default_factory=lambda: {"fill": style.PAPER})
    dark: bool = False


@dataclass(frozen=True)
class Grid:
    """Rows of squares with names, a word at the end of each row, and marks between rows (row above, column, mark)."""

    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Square], str]]
    corner: str
    end: str
    between: Mapping[tuple[int, int], Square] = field(default_factory=dict)
    cut: int | None = None
    """A heavy line after so many columns."""
    wide: float = _SIDE * 1.6
    """The most that a column takes."""


def subscripted(letter: str, number: int) -> str:
    """A letter with an index: λ₁₀."""
    return letter + str(number).translate(_LOWERED)


def grid(
    drawn: Grid, *, title: str, says: str, entries: Sequence[tuple[str, Mapping[str, Any]]], notes: Sequence[str] = ()
) -> Picture:
    """A table with its title and legend above and lines of notes below."""
    gap = 20.0 if drawn.between else 0.0
    parts = legend(entries)
    left = max(_LEFT, LETTER * max(len(name) for name, _, _ in drawn.rows) + 22)
    top = _TOP if entries else _TOP - 28
    wide = min(drawn.wide, (style.WIDTH - left - 130) / len(drawn.columns))
    parts.append(text(left - 10, top - 8, drawn.corner, text_anchor="end"))
    parts += [
        text(left + wide * (at + 0.5), top - 8, name, text_anchor="middle") for at, name in enumerate(drawn.columns)
    ]
    right = left + wide * len(drawn.columns)
    parts.append(text(right + 14, top - 8, drawn.end))
    for number, (name, squares, word) in enumerate(drawn.rows):
        y = top + number * (_SIDE + gap)
        parts.append(text(left - 10, y + _SIDE / 2 + 5, name, text_anchor="end"))
        for at, square in enumerate(squares):
            x = left + wide * at
            how = {"stroke": style.GRR, "stroke_width": 0.8, **square.how}
            parts.append(tag("rect", x=x, y=y, width=wide, height=_SIDE, **how))
            words: dict[str, Any] = dict(_DARK) if square.dark else {}
            parts.append(text(x + wide / 2, y + _SIDE / 2 + 5, square.words, text_anchor="middle", **words))
        parts.append(text(right + 14, y + _SIDE / 2 + 5, word, font_weight="bold"))
    for (above, column), mark in drawn.between.items():
        y = top + above * (_SIDE + gap) + _SIDE + gap / 2 + 5
        x = left + wide * (column + 0.5)
        parts.append(text(x, y, mark.words, text_anchor="middle", **mark.how))
    bottom = top + len(drawn.rows) * (_SIDE + gap) - gap
    if drawn.cut is not None:
        x = left + wide * drawn.cut
        parts.append(rule(x, top - 4, x, bottom + 6, stroke=style.INK, stroke_width=3))
    for note in notes:
        bottom += 20
        parts.append(text(2, bottom + 4, note))
    return titled(picture(bottom + 14, says, parts), title)
