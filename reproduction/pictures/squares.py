"""Tables of small squares: numbers in rows and columns, some of them filled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from bipartite.plots import figure as plotting
from bipartite.plots.looks import GREY, INK, PAPER

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LOWERED: Final = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_ROW: Final = 0.27  # inches
_BESIDE: Final[dict[str, Any]] = {"xycoords": "axes fraction", "textcoords": "offset points", "fontsize": 8.5}


@dataclass(frozen=True)
class Square:
    """One square: what it says and how it is filled; ``dark`` where the words need to be white."""

    words: str
    fill: str = PAPER
    dark: bool = False


@dataclass(frozen=True)
class Squares:
    """Rows of squares with names, and a word at the end of each row."""

    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Square], str]]
    corner: str
    end: str
    between: Mapping[tuple[int, int], tuple[str, str]] = field(default_factory=dict)
    """Marks between rows with their colours, by the row above and the column."""
    cut: int | None = None
    """A heavy line after so many columns."""


def subscripted(letter: str, number: int) -> str:
    """A letter with an index: λ₁₀."""
    return letter + str(number).translate(_LOWERED)


def squares(drawn: Squares, **how: Any) -> str:  # noqa: ANN401 (those of figure_of_squares)
    """The SVG text of :func:`figure_of_squares`."""
    return plotting.as_svg(lambda: figure_of_squares(drawn, **how))


def figure_of_squares(
    drawn: Squares, *, title: str, says: str, entries: Mapping[str, str] | None = None, notes: Sequence[str] = ()
) -> Figure:
    """A table with its title, a legend of what fillings mean (``entries``), and lines of notes below."""
    from matplotlib.patches import Patch, Rectangle  # noqa: PLC0415 (optional, and slow to load)

    step = 1.7 if drawn.between else 1.0
    tall = len(drawn.rows) * step - (step - 1)
    entries = entries or {}
    figure = plotting.panels(1, 1, (plotting.WIDTH, tall * _ROW + 0.75 + 0.18 * len(entries)))
    with plotting.axes(figure.axes[0]) as ax:
        ax.set(xlim=(0, len(drawn.columns)), ylim=(tall, 0))
        ax.grid(visible=False)
        ax.spines[:].set_visible(False)
        ax.xaxis.tick_top()
        ax.tick_params(length=0)
        ax.set_xticks([at + 0.5 for at in range(len(drawn.columns))], drawn.columns)
        ax.set_yticks([at * step + 0.5 for at in range(len(drawn.rows))], [name for name, _, _ in drawn.rows])
        ax.annotate(drawn.corner, (0, 1), xytext=(-4, 4), ha="right", **_BESIDE)
        ax.annotate(drawn.end, (1, 1), xytext=(8, 4), **_BESIDE)
        for row, (_, squares, word) in enumerate(drawn.rows):
            y = row * step
            for at, square in enumerate(squares):
                ax.add_patch(Rectangle((at, y), 1, 1, facecolor=square.fill, edgecolor=GREY, linewidth=0.6))
                ax.text(at + 0.5, y + 0.5, square.words, ha="center", va="center", fontsize=8.5,
                        color=PAPER if square.dark else INK, weight="bold" if square.dark else "normal")  # fmt: skip
            ax.annotate(word, (1, 1 - (y + 0.5) / tall), xytext=(8, 0), va="center", weight="bold", **_BESIDE)
        for (above, column), (mark, colour) in drawn.between.items():
            ax.text(column + 0.5, above * step + (1 + step) / 2, mark, ha="center", va="center", color=colour)
        if drawn.cut is not None:
            ax.axvline(drawn.cut, color=INK, linewidth=2.2, clip_on=False)
        if entries:
            patches = [Patch(facecolor=fill, edgecolor=GREY, linewidth=0.6) for fill in entries.values()]
            figure.legend(patches, entries, loc="outside upper left", ncols=1)
        plotting.describe(ax, says, title=title, notes=notes)
    return figure
