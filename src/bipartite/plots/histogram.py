"""A histogram with error bars: shares of values on a line, with the intervals of their mean and median."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.plots import style
from bipartite.plots.frame import LEFT, RIGHT, TOP, Frame, extent
from bipartite.plots.svg import LETTER, legend, path, percent, picture, rule, tag, text, title, whisker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bipartite.plots.frame import Say
    from bipartite.plots.svg import Picture

    Array = NDArray[np.float64]

MOST_BARS: Final = 120
"""With more values than this, bars would run together: a line and a band are drawn instead."""
_ROW: Final = 20  # the height of a mark above the histogram
_CAP: Final = 3
_HATCH: Final = 7
_NUMBERS: Final = 14  # the height of a row of numbers


@dataclass(frozen=True, slots=True)
class Mark:
    """A number with its interval, and both as text: drawn above a histogram, or as a row of a forest plot."""

    name: str
    value: float
    low: float
    high: float
    words: str
    known: bool = True
    """Whether the value is an estimate rather than a guess within the interval."""


@dataclass(frozen=True, slots=True)
class Band:
    """The interval of the share of a range of values, drawn at the height of their average share."""

    left: float
    right: float
    """The ends of the range, half a step beyond its values."""
    low: float
    high: float
    value: float
    """The average share, and its interval."""
    share: str
    """The share of the range, written above."""
    words: str
    """The share with its interval, as text."""


def histogram(  # noqa: PLR0913
    values: NDArray[Any],
    shares: Array,
    low: Array,
    high: Array,
    *,
    label: str,
    say: Say,
    sure: str,
    marks: Sequence[Mark] = (),
    truth: Array | None = None,
    notes: Sequence[str] = (),
    bands: Sequence[Band] | None = None,
) -> Picture:
    """Plot the share of each value with its interval; shares that are not identifiable are hatched.

    ``low`` and ``high`` are infinite where nothing is known. ``sure`` is the confidence ("95 %"; empty: no intervals),
    ``truth`` is drawn as a line if given, ``notes`` are written below. With ``bands`` the shares are a curve, and the
    intervals are those of ranges of values.
    """
    known = np.isfinite(low) & np.isfinite(high)
    ends = np.array([each.high for each in bands or ()])
    lowest, highest = extent(shares, low[known], high[known], truth, ends)
    top = (TOP - 22 + _ROW * len(marks) if marks else TOP - 12) + (_NUMBERS if bands else 0)
    frame = Frame(values, highest, say, lowest=lowest, top=top)
    bars = len(values) <= MOST_BARS and bands is None
    parts = frame.axes(label, "share of people at each value")
    hatched = _runs(~known)
    for first, last in hatched:
        parts += _hatch(*frame.span(first, last), top, frame.y(frame.lowest))
    if bands is not None:
        parts += _curve(frame, shares, known)
        parts += [_band_of(frame, each) for each in bands]
    else:
        parts += _bars(frame, values, shares, low, high) if bars else _band(frame, values, shares, low, high)
    intervals = f"{sure} interval" if bands is None else f"{sure} interval of the average share in each range"
    entries: list[tuple[str, Any]] = [
        ("estimated share", style.SHARE_STYLE if bars else _LINE),
        *([(intervals, style.SHARE_STYLE if bands is None and not bars else style.ERROR_STYLE)] if sure else []),
    ]
    if truth is not None:
        parts.append(frame.outline(truth, fill="none", stroke=style.PAPER, stroke_width=3.2))
        parts.append(frame.outline(truth, **style.TRUTH_STYLE))
        entries = [*entries[: 1 if bars else 2], ("true share", style.TRUTH_STYLE), *entries[1 if bars else 2 :]]
    if hatched:
        entries.append(("hatched: not identifiable; dashed: a guess", style.GUESS_STYLE))
    if frame.lowest < 0:
        parts.append(rule(LEFT, frame.y(0), style.WIDTH - RIGHT, frame.y(0), stroke=style.INK))
    for number, mark in enumerate(marks):
        parts += _mark(frame, mark, 40 + _ROW * number)
    for band in bands or ():
        centre, room = frame.x((band.left + band.right) / 2), LETTER * len(band.share)
        # Marks above draw lines through this row.
        parts.append(tag("rect", x=centre - room / 2, y=top - 15, width=room, height=14, fill=style.PAPER))
        parts.append(text(centre, top - 4, band.share, text_anchor="middle"))
    parts += legend(entries)
    parts += [text(LEFT, frame.height + 12 + 17 * number, note) for number, note in enumerate(notes)]
    return picture(
        frame.height + (17 * len(notes) + 4 if notes else 0),
        _says(values, shares, known, [*(each.words for each in marks), *(each.words for each in bands or ())], say),
        parts,
    )


_LINE: Final[dict[str, Any]] = {"fill": "none", "stroke": style.BRR, "stroke_width": 1.8}
_GUESS: Final[dict[str, Any]] = {**style.GUESS_STYLE, "fill": "none", "stroke_width": 1.5}


def _bars(frame: Frame, values: NDArray[Any], shares: Array, low: Array, high: Array) -> list[str]:
    parts = []
    for at, (value, share, least, most) in enumerate(zip(values.tolist(), shares, low, high, strict=True)):
        left, right = frame.span(at, at)
        gap = min(1.0, (right - left) / 8)
        y, ground, x = frame.y(float(share)), frame.y(0), frame.x(value)
        certain = bool(np.isfinite(least) and np.isfinite(most))
        how = style.SHARE_STYLE if certain else style.GUESS_STYLE
        corner: dict[str, Any] = {
            "x": left + gap,
            "y": min(y, ground),
            "width": right - left - 2 * gap,
            "height": abs(y - ground),
        }
        parts.append(tag("rect", **corner, **(how if certain else {**how, "fill": "none"})))
        if certain:
            ends = frame.y(float(least)), frame.y(float(most))
            parts += whisker(*ends, x, min(_CAP, (right - left) / 4), upright=True)
    return parts


def _band(frame: Frame, values: NDArray[Any], shares: Array, low: Array, high: Array) -> list[str]:
    at = [frame.x(value) for value in values.tolist()]
    parts = []
    for first, last in _runs(np.isfinite(low) & np.isfinite(high)):
        run = range(first, last + 1)
        around = [(at[each], frame.y(float(high[each]))) for each in run]
        around += [(at[each], frame.y(float(low[each]))) for each in reversed(run)]
        parts.append(path(around, closed=True, fill=style.BRR_FAR))
        parts.append(path([(at[each], frame.y(float(shares[each]))) for each in run], **_LINE))
    for first, last in _runs(~(np.isfinite(low) & np.isfinite(high))):
        parts.append(path([(at[each], frame.y(float(shares[each]))) for each in range(first, last + 1)], **_GUESS))
    return parts


def _band_of(frame: Frame, band: Band) -> str:
    """The interval of a range as an error bar in its middle, around its average share."""
    x = frame.x((band.left + band.right) / 2)
    dot = tag("circle", cx=x, cy=frame.y(band.value), r=3.5, fill=style.INK)
    bar = whisker(frame.y(band.low), frame.y(band.high), x, 2 * _CAP, upright=True)
    return tag("g", "".join([title(band.words), *bar, dot]))


def _curve(frame: Frame, shares: Array, known: NDArray[np.bool_]) -> list[str]:
    """A step function, dashed where it is a guess."""
    return [
        frame.outline(shares[first : last + 1], first, **how)
        for which, how in ((~known, _GUESS), (known, _LINE))
        for first, last in _runs(which)
    ]


def _hatch(left: float, right: float, top: float, bottom: float) -> list[str]:
    """Slanted lines over a range; an SVG pattern would need an id that is unique on the page."""
    parts = []
    for start in np.arange(left - (bottom - top), right, _HATCH).tolist():
        x1, x2 = max(start, left), min(start + bottom - top, right)
        if x2 > x1:
            parts.append(rule(x1, bottom - (x1 - start), x2, bottom - (x2 - start), stroke=style.HATCH))
    return parts


def _mark(frame: Frame, mark: Mark, y: float) -> list[str]:
    """An interval with its text, on the side with more room."""
    low, high = (min(max(frame.x(end), LEFT), style.WIDTH - RIGHT) for end in (mark.low, mark.high))
    parts = whisker(low, high, y, 4, width=1.5)
    x = frame.x(mark.value)
    # An unbiased estimate may lie outside the range of values; the text still gives it.
    dot = mark.known and LEFT <= x <= style.WIDTH - RIGHT
    if dot:
        low, high = min(low, x), max(high, x)
        parts.append(rule(x, y, x, frame.y(frame.lowest), stroke=style.INK, stroke_dasharray="1 3"))
        parts.append(tag("circle", cx=x, cy=y, r=3.5, fill=style.INK))
    fits = high + 12 + LETTER * len(mark.words) < style.WIDTH
    at, anchor = (high + 10, "start") if fits else (low - 10, "end")
    if not fits and low - 10 < LETTER * len(mark.words):
        # No room beside it: write over it, away from the dot.
        free = (low, high) if not dot else (low, x) if x - low >= high - x else (x, high)
        at, anchor = sum(free) / 2, "middle"
        room = LETTER * len(mark.words)
        parts.append(tag("rect", x=at - room / 2, y=y - 8, width=room, height=16, fill=style.PAPER))
    halo = {**style.HALO, "stroke_width": 4}
    return [*parts, text(at, y + 4, mark.words, text_anchor=anchor, font_weight="bold", **halo)]


def _runs(which: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """(first, last) of each run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], which, [False]]).astype(np.int8)))
    return [(int(first), int(after) - 1) for first, after in edges.reshape(-1, 2)]


def _says(values: NDArray[Any], shares: Array, known: NDArray[np.bool_], words: Sequence[str], say: Say) -> str:
    most = int(shares.argmax())
    missing = int((~known).sum())
    return (
        f"The estimated shares of {len(values)} values, from {say(float(values[0]))} to {say(float(values[-1]))}; the "
        f"largest, at {say(float(values[most]))}, is {percent(float(shares[most]))}."
        + (f" {missing} shares are not identifiable." if missing else "")
        + "".join(f" {each}." for each in words)
    )
