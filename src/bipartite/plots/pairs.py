"""Shares of pairs as a table of colours: larger shares are darker, and written where they fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from bipartite.plots.figure import WIDTH, axes, describe, literal
from bipartite.plots.looks import INK, PAPER
from bipartite.plots.whiskers import SMALL, in_percent, points_across, rows_within, shortened, width_of
from bipartite.texts import percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

_CELLS: Final[dict[str, Any]] = {"cmap": "Blues", "edgecolors": "face", "linewidth": 0.3}  # without seams
_DARK: Final = 0.55  # of the largest share: above this, letters are white
_CELL: Final = 0.26  # inches: the height of a cell in which its share can be written
_HIGHEST: Final = 5.0
_NAMES: Final = 12  # along an axis


def plot_pairs(
    shares: NDArray[np.float64],
    names: tuple[Sequence[str], Sequence[str]],
    labels: tuple[str, str],
    ax: Axes | None = None,
    *,
    at: tuple[int, int] | None = None,
    title: str = "",
    notes: Sequence[str] = (),
) -> Axes:
    """Draw ``shares[i, j]`` in the column of the i-th first name and the row of the j-th second name.

    ``labels`` name the two axes, and ``at`` is a pair to frame.
    """
    across, up = shares.shape
    with axes(ax, (WIDTH, 0.9 + min(_HIGHEST, max(1.6, _CELL * up)))) as on:
        top = max(float(shares.max()), np.finfo(float).tiny)
        mesh = on.pcolormesh(np.arange(across + 1), np.arange(up + 1), shares.T, vmin=0, vmax=top, **_CELLS)
        for place, (axis, label) in enumerate(zip((on.xaxis, on.yaxis), labels, strict=True)):
            every = -(-len(names[place]) // (_NAMES if place == 0 else 2 * _NAMES))
            shown = [literal(shortened(name)) for name in names[place][::every]]
            axis.set_ticks(np.arange(0, len(names[place]), every) + 0.5, labels=shown)
            axis.set_tick_params(length=0)
            axis.set_label_text(literal(label))
        on.grid(visible=False)
        words = [[percent(share) for share in row] for row in shares.tolist()]
        longest = max(width_of(each, SMALL - 0.5) for row in words for each in row)
        figure = cast("Figure", on.figure)
        if longest < 0.9 * points_across(on) / across and up <= rows_within(on):
            for (i, j), share in np.ndenumerate(shares):
                colour = PAPER if share > _DARK * top else INK
                on.text(i + 0.5, j + 0.5, words[i][j], ha="center", va="center", color=colour, fontsize=SMALL - 0.5)
        else:
            bar = figure.colorbar(mesh, ax=on, fraction=0.05, pad=0.02)
            in_percent(bar.ax.yaxis)
            bar.set_label("share")
        if at is not None:
            from matplotlib.patches import Rectangle  # noqa: PLC0415 (optional)

            for colour, wide in ((PAPER, 3.4), (INK, 1.6)):  # seen on light and on dark
                on.add_patch(Rectangle(at, 1, 1, fill=False, edgecolor=colour, linewidth=wide))
        first, second = divmod(int(shares.argmax()), up)
        says = (
            f"Shares of {shares.size:,} pairs of {labels[0]} and {labels[1]}; the largest, at {names[0][first]} and "
            f"{names[1][second]}, is {percent(top)}. {' '.join(notes)}"
        )
        return describe(on, says.strip(), title=title, notes=notes)
