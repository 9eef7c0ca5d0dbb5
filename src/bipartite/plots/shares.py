"""Shares of named values with error bars: one row per name, the largest first."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.plots import style
from bipartite.plots.frame import extent
from bipartite.plots.svg import legend, percent, percent_mark, picture, rule, tag, text, ticks, title, whisker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bipartite.plots.svg import Picture

    Array = NDArray[np.float64]

MOST_NAMES: Final = 40
_LEFT, _RIGHT, _TOP = 190, 200, 30
_ROW, _THICK = 22, 14
_CAP: Final = 3
_MARK: Final = 7
_LONGEST: Final = 24


def shares_by_name(  # noqa: PLR0913
    names: Sequence[str],
    shares: Array,
    low: Array,
    high: Array,
    *,
    sure: str,
    label: str = "",
    truth: Array | None = None,
    guessed: NDArray[np.bool_] | None = None,
    most: int = MOST_NAMES,
    notes: Sequence[str] = (),
) -> Picture:
    """Plot the largest shares with their intervals and count the smaller ones; ``label`` names the values.

    ``low`` and ``high`` are infinite where nothing is known and NaN where there is no interval. Shares that are
    ``guessed``, or about which nothing is known, are outlined.
    """
    order = np.argsort(-shares, kind="stable")
    rows, rest = order[:most].tolist(), order[most:]
    bounded = np.isfinite(low) & np.isfinite(high)
    guesses = (np.isinf(low) | np.isinf(high)) | (False if guessed is None else guessed)
    sure_of = [at for at in rows if bounded[at]]
    left, right = extent(shares[rows], low[sure_of], high[sure_of], None if truth is None else truth[rows])

    def x(share: float) -> float:
        return _LEFT + (share - left) / (right - left) * (style.WIDTH - _LEFT - _RIGHT)

    bottom = _TOP + _ROW * len(rows)
    parts = []
    for share in ticks(left, right, 5):
        parts.append(rule(x(share), _TOP - 4, x(share), bottom, stroke=style.FAINT))
        parts.append(text(x(share), bottom + 14, percent_mark(share), text_anchor="middle"))
    for number, at in enumerate(rows):
        y = _TOP + _ROW * number
        words = share_words(float(shares[at]), float(low[at]), float(high[at]))
        parts.append(text(_LEFT - 10, y + 13, shortened(names[at]), text_anchor="end"))
        parts.append(_bar(x(0), x(float(shares[at])), y, names[at], words, certain=not guesses[at]))
        if bounded[at]:
            parts += whisker(x(float(low[at])), x(float(high[at])), y + 2 + _THICK / 2, _CAP)
        if truth is not None:
            corner: dict[str, Any] = {"x": x(float(truth[at])) - _MARK / 2, "y": y + 2 + (_THICK - _MARK) / 2}
            parts.append(tag("rect", **corner, width=_MARK, height=_MARK, **style.SILENCE_STYLE))
        parts.append(text(style.WIDTH - _RIGHT + 16, y + 13, words))
    parts.append(rule(x(0), _TOP - 4, x(0), bottom, stroke=style.INK))
    entries: list[tuple[str, Any]] = [
        ("estimated share", style.SHARE_STYLE),
        *([(f"{sure} interval", style.ERROR_STYLE)] if sure else []),
    ]
    if truth is not None:
        entries.append(("true share", style.SILENCE_STYLE))
    if guesses[rows].any():
        entries.append(("not identifiable: a guess", style.GUESS_STYLE))
    parts += legend(entries)
    below = [f"share of people, by {label}" if label else "share of people"]
    if len(rest):
        below.append(f"{len(rest):,} smaller shares are left out, together {percent(float(shares[rest].sum()))}")
    parts.append(text(_LEFT, bottom + 34, "; ".join(below)))
    parts += [text(_LEFT, bottom + 51 + 17 * number, note) for number, note in enumerate(notes)]
    says = "Estimated shares: " + "; ".join(
        f"{names[at]} {share_words(float(shares[at]), float(low[at]), float(high[at]))}" for at in rows
    )
    return picture(bottom + 42 + 17 * len(notes), says, parts)


def shortened(name: str) -> str:
    """Shorten a name to fit beside the picture."""
    return name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"


def _bar(zero: float, end: float, y: float, name: str, words: str, *, certain: bool) -> str:
    how = style.SHARE_STYLE if certain else style.GUESS_STYLE
    return tag(
        "rect", title(f"{name}: {words}"), x=min(zero, end), y=y + 2, width=abs(end - zero), height=_THICK, **how
    )


def share_words(share: float, low: float, high: float) -> str:
    """Format a share with its interval, to significant digits."""
    if math.isnan(high - low):
        return percent(share)
    if math.isinf(high - low):
        return "not identifiable"
    width = 100 * (high - low)
    digits = 2 if width <= 0 else min(max(1 - math.floor(math.log10(width)), 0), 4)
    numbers = [f"{100 * part:z.{digits}f}".replace("-", "−") for part in (share, low, high)]
    return f"{numbers[0]} % ({numbers[1]} to {numbers[2]})"
