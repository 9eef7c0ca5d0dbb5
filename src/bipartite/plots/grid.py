"""A heat map over pairs: the first value along the x axis, the second along the y axis, larger shares darker."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.plots import style
from bipartite.plots.map import heat
from bipartite.plots.svg import percent, picture, rule, tag, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bipartite.plots.svg import Picture

_LEFT, _RIGHT, _TOP, _BELOW = 70.0, 20.0, 34.0, 46.0
_TALLEST: Final = 24.0
_LOWEST: Final = 8.0
_LEAST_BETWEEN: Final = 46.0  # pixels between names on the x axis
_LEAST_ABOVE: Final = 16.0
_LEVELS: Final = 4
_SHARP: Final = {"shape_rendering": "crispEdges"}  # avoids light seams between rows of one colour


def shares_of_pairs(
    shares: NDArray[np.float64],
    names: tuple[Sequence[str], Sequence[str]],
    labels: tuple[str, str],
    *,
    at: tuple[int, int] | None = None,
    notes: Sequence[str] = (),
) -> Picture:
    """Plot shares as colours: ``shares[i, j]`` belongs to the i-th first name and the j-th second name.

    ``labels`` name the two axes, ``at`` is a pair to mark, and ``notes`` are lines of text below.
    """
    across, up = shares.shape
    width = (style.WIDTH - _LEFT - _RIGHT) / across
    height = float(int(min(_TALLEST, max(width, _LOWEST))))  # whole pixels: rows meet
    bottom = _TOP + up * height
    top = float(shares.max()) or 1.0
    parts = []
    for j in range(up):
        # Neighbours of one colour are merged: no seams, and a smaller file.
        i = 0
        for colour, alike in itertools.groupby(heat(share / top) for share in shares[:, j].tolist()):
            count = len(list(alike))
            place = {"x": _LEFT + i * width, "y": bottom - (j + 1) * height}
            parts.append(tag("rect", **place, width=count * width, height=height, fill=colour, **_SHARP))
            i += count
    if at is not None:
        corner = {"x": _LEFT + at[0] * width, "y": bottom - (at[1] + 1) * height}
        for stroke, wide in ((style.PAPER, 4.0), (style.INK, 1.6)):  # visible on light and on dark
            parts.append(
                tag("rect", **corner, width=width, height=height, fill="none", stroke=stroke, stroke_width=wide)
            )
    parts.append(rule(_LEFT, bottom, style.WIDTH - _RIGHT, bottom, stroke=style.INK))
    parts.append(rule(_LEFT, _TOP, _LEFT, bottom, stroke=style.INK))
    parts += [
        text(_LEFT + (i + 0.5) * width, bottom + 16, names[0][i], text_anchor="middle")
        for i in _few(across, width, _LEAST_BETWEEN)
    ]
    parts += [
        text(_LEFT - 8, bottom - (j + 0.5) * height + 4, names[1][j], text_anchor="end")
        for j in _few(up, height, _LEAST_ABOVE)
    ]
    parts.append(text((_LEFT + style.WIDTH - _RIGHT) / 2, bottom + 36, labels[0], text_anchor="middle"))
    parts.append(text(2, _TOP - 8, labels[1]))
    x = style.WIDTH - _RIGHT - 100.0 * (_LEVELS + 1)
    for level in np.linspace(0, 1, _LEVELS + 1).tolist():
        parts.append(tag("rect", x=x, y=8.0, width=22, height=12, fill=heat(level), stroke=style.GRR, stroke_width=0.3))
        parts.append(text(x + 28, 18, percent(level * top)))
        x += 100
    for number, note in enumerate(notes):
        parts.append(text(2, bottom + _BELOW + 18 * (number + 1), note))
    first, second = divmod(int(shares.argmax()), up)
    says = (
        f"A heat map of {shares.size:,} pairs of {labels[0]} and {labels[1]}; the largest share, at "
        f"{names[0][first]} and {names[1][second]}, is {percent(top)}. {' '.join(notes)}"
    )
    return picture(bottom + _BELOW + 18 * len(notes) + 6, says.strip(), parts)


def _few(count: int, size: float, least: float) -> range:
    """The names that fit beside each other."""
    return range(0, count, max(1, int(np.ceil(least / size))))
