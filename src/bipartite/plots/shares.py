"""Estimated shares with their intervals: bars on a line or around a circle, or one row a name."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.plots.figure import literal
from bipartite.plots.looks import BLUE, GREY, PALE, TRUTH
from bipartite.plots.whiskers import (
    SMALL,
    extent,
    in_percent,
    ink,
    legend_below,
    marks_at_the_top,
    name_rows,
    points_across,
    round_ticks,
    say,
    shortened,
    whiskers,
    width_of,
    words_beside,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from bipartite.plots.whiskers import Mark

    Array = NDArray[np.float64]
    Flags = NDArray[np.bool_]

_ABOVE: Final = 0.3  # of the height of shares: room for the marks
_HOLE: Final = 0.3  # of the reach of shares: the radius inside a clock
_ASIDE: Final = 0.3  # the sine of the angle from which on a name begins, or ends, at the clock
_RIM: Final = 1.06
_MOST_NAMES_AROUND: Final = 24
_ROUGH: Final = 12  # ups and downs of a curve, each as high as the highest: it is drawn thin
_FEW_TICKS: Final = 12
_ROUND, _MOST_ROUND = 600, 4_000  # points of a line around a clock
NOT_APART: Final = "cannot be told apart: a guess"
_FILL: Final[dict[str, Any]] = {"color": PALE, "linewidth": 0}
_GUESS: Final[dict[str, Any]] = {"facecolor": "none", "edgecolor": GREY, "linestyle": "--", "linewidth": 0.8}
_HATCHED: Final[dict[str, Any]] = {"facecolor": "none", "edgecolor": "#B0B0B0", "hatch": "////", "label": NOT_APART}


@dataclass(frozen=True)
class Bars:
    """Shares of values or of ranges: each from ``left`` to ``right``, as high as the average share of its values."""

    left: Array
    right: Array
    share: Array
    low: Array
    high: Array
    """The interval of the average share; NaN without one."""

    @property
    def middle(self) -> Array:
        """Where the whisker of each stands."""
        return (self.left + self.right) / 2


@dataclass(frozen=True)
class DrawnShares:
    """What is drawn on a line or around a circle."""

    bars: Bars
    sure: str
    """The interval in words, such as "95 % interval"; empty without."""
    edges: Array
    """The ends of all values, half a step around each."""
    guessed: Flags
    """Which values the reports cannot tell apart from others."""
    curve: Array | None = None
    """The share of each value, where the bars are those of ranges."""
    truth: Array | None = None
    """The true share of each value."""
    marks: Sequence[Mark] = ()


def shares_on_a_line(ax: Axes, drawn: DrawnShares) -> None:
    """Bars with whiskers, the curve and the truth over them, hatched where values cannot be told apart."""
    # One axis for all panels that share it, and for what stands there.
    across, up = (
        any(each.has_data() for each in shared.get_siblings(ax))
        for shared in (ax.get_shared_x_axes(), ax.get_shared_y_axes())
    )
    handles = _bars(ax, drawn, 1.0)
    if drawn.curve is not None:
        handles += _curve(ax, drawn.edges, drawn.curve, drawn.guessed)
    if drawn.truth is not None:
        handles.append(_stairs(ax, drawn.truth, drawn.edges, _truth()))
    low, high = extent(*_heights(drawn))
    if low < 0:
        ax.axhline(0, color=ink(), lw=0.8)
    bottom = low - 0.04 * (high - low) * (low < 0)
    top = high + (_ABOVE if drawn.marks else 0.05) * (high - low)
    _widen(ax.get_ylim(), ax.set_ylim, (bottom, top), keep=up)
    _widen(ax.get_xlim(), ax.set_xlim, (float(drawn.edges[0]), float(drawn.edges[-1])), keep=across)
    in_percent(ax.yaxis)
    marks_at_the_top(ax, drawn.marks)
    legend_below(ax, handles, top=1 - 0.1 * len(drawn.marks))


def _widen(had: tuple[float, float], change: Callable[..., Any], ends: tuple[float, float], *, keep: bool) -> None:
    """Set the ends of an axis; ``keep`` those that it had, if they are wider."""
    change(*((min(had[0], ends[0]), max(had[1], ends[1])) if keep else ends))


def shares_on_a_clock(ax: Axes, drawn: DrawnShares, names: Sequence[str]) -> None:
    """The same around a circle: the first value at the top, the others clockwise, shares outward.

    The circular mean is a direction, drawn at the rim if it is known; the words of all marks stand in the legend.
    """
    size, turn = len(names), 2 * math.pi / len(names)
    low, high = extent(*_heights(drawn))
    sizes = np.rint(drawn.bars.right - drawn.bars.left).astype(np.int64)
    each = np.roll(np.repeat(drawn.bars.share, sizes), round(float(drawn.bars.left[0]) + 0.5))
    dial(ax, names, low, high, each if drawn.curve is None else drawn.curve)
    handles = _bars(ax, drawn, turn)
    curve = _line(color=GREY, linestyle="--") if drawn.guessed.any() else _line()
    for values, how in ((drawn.curve, curve), (drawn.truth, _truth())):
        if values is not None:
            handles += ax.plot(*around(values), **how)
    if low < 0:  # the circle of zero, instead of the innermost
        ax.spines["inner"].set_linewidth(0)  # matplotlib shows it whatever its visibility
        ax.plot(*around(np.zeros(size)), color=ink(), lw=0.8)
    rim = low + _RIM * (high - low)
    for mark in drawn.marks:
        handles += _direction(ax, mark, turn, size, low, rim)
    legend_below(ax, handles, gap=24)


def dial(ax: Axes, names: Sequence[str], low: float, high: float, heights: Array) -> None:
    """Make polar axes a clock with the first name at the top; shares are written where ``heights`` leave most room."""
    size = len(names)
    polar: Any = ax  # whose methods are those of polar axes
    polar.set_theta_zero_location("N")
    polar.set_theta_direction(-1)
    polar.set_rlim(low, low + _RIM * (high - low))
    polar.set_rorigin(low - _HOLE * (high - low))
    every = -(-size // _MOST_NAMES_AROUND)
    shown = [literal(shortened(name)) for name in names[::every]]
    angles = np.arange(0, size, every) * 2 * math.pi / size
    for angle, written in zip(angles.tolist(), ax.set_xticks(angles, shown), strict=True):
        aside = math.sin(angle)
        written.label1.set_horizontalalignment("center" if abs(aside) < _ASIDE else "left" if aside > 0 else "right")
    ax.tick_params(axis="x", pad=1, labelsize=SMALL)
    ax.tick_params(axis="y", labelsize=SMALL - 0.5)
    in_percent(ax.yaxis)
    # Zero is the inner circle, and the names stand at the rim.
    ax.set_yticks([each for each in round_ticks(4).tick_values(low, high) if low <= each < 0.9 * high and each])
    gap = int(np.maximum(heights, np.roll(heights, -1)).argmin()) + 0.5
    polar.set_rlabel_position(360 * gap / len(heights))


def around(values: Array) -> tuple[Array, Array]:
    """(angles, radii) of a step curve around a clock; matplotlib draws straight lines between points."""
    size = len(values)
    many = size * max(2, -(-_ROUND // size)) if size < _MOST_ROUND else _MOST_ROUND
    steps = np.linspace(-0.5, size - 0.5, many, endpoint=False)
    at = np.floor(steps + 0.5 + 1e-9).astype(np.int64)
    ends = [size - 0.5] * 2  # where the last value meets the first
    return np.append(steps, ends) * 2 * math.pi / size, np.append(values[at], values[[-1, 0]])


def shares_by_name(
    ax: Axes,
    names: Sequence[str],
    bars: tuple[Array, Array, Array],
    *,
    sure: str,
    guessed: Flags,
    words: Sequence[str],
    truth: Array | None = None,
) -> None:
    """One row a name, in the order given: ``bars`` are the share, and the ends of its interval, NaN without one."""
    share, low, high = bars
    y = -np.arange(len(names), dtype=float)
    handles: list[Any] = []
    for which, how in ((~guessed, {**_FILL, "label": "estimated share"}), (guessed, _HATCHED)):
        if which.any():
            handles.append(ax.barh(y[which], share[which], height=0.72, **how))
    if (known := np.isfinite(high - low)).any():
        handles.append(whiskers(ax, y[known], low[known], high[known], sure, lying=True))
    if truth is not None:
        handles += ax.plot(truth, y, ls="none", marker="D", ms=4.5, mfc="none", mec=ink(), label="true share")
    left, right = extent(share, low, high, () if truth is None else truth)
    room = 0.04 * (right - left)
    ax.set_xlim(left - room if left < 0 else 0, right + room)
    ax.set_ylim(y[-1] - 0.6, 0.6)
    name_rows(ax, y.tolist(), names)
    ax.axvline(0, color=ink(), lw=0.8)
    in_percent(ax.xaxis)
    ax.xaxis.set_major_locator(round_ticks(5))
    for at, said in zip(y.tolist(), words, strict=True):
        words_beside(ax, at, said)
    legend_below(ax, handles)


def ticks_at(ax: Axes, values: NDArray[Any], *, whole: bool) -> None:
    """Ticks at the values themselves if they are few; at round numbers, whole ones where values are, otherwise."""
    if len(values) <= _FEW_TICKS and sum(width_of(say(value)) + SMALL for value in values) <= points_across(ax):
        ax.set_xticks(values)
    else:
        ax.xaxis.set_major_locator(round_ticks(8, whole=whole))
    ax.xaxis.set_major_formatter(lambda value, _: say(value))


def _bars(ax: Axes, drawn: DrawnShares, scale: float) -> list[Any]:
    """Draw the bars, their whiskers, and the hatching; the entries of the legend."""
    bars = drawn.bars
    handles: list[Any] = []
    whole = len(bars.share) == len(drawn.guessed)
    guesses = drawn.guessed if whole else np.zeros(len(bars.share), dtype=bool)
    fill = {**_FILL, "label": "estimated share" if whole else "average share in each range"}
    for which, how in ((~guesses, fill), (guesses, _GUESS)):
        if which.any():
            wide = 0.94 * (bars.right - bars.left)[which] * scale
            found = ax.bar(bars.middle[which] * scale, bars.share[which], width=wide, **how)
            handles += [] if how is _GUESS else [found]
    if (known := np.isfinite(bars.high - bars.low)).any():
        at = bars.middle[known] * scale
        handles.append(whiskers(ax, at, bars.low[known], bars.high[known], drawn.sure))
        if not whole:  # an interval without width is seen
            ax.plot(at, bars.share[known], "o", ms=3.5, color=ink(), label="_share")
    spans = [
        ax.axvspan(drawn.edges[first] * scale, drawn.edges[after] * scale, lw=0, **_HATCHED)
        for first, after in _runs(drawn.guessed)
    ]
    return [*handles, *spans[:1]]


def _curve(ax: Axes, edges: Array, values: Array, guessed: Flags) -> list[Any]:
    """A step curve, dashed where it is a guess."""
    handles: list[Any] = []
    for which, how in ((~guessed, _line()), (guessed, _line(label="_guess", color=GREY, linestyle="--"))):
        for first, after in _runs(which):
            steps = _stairs(ax, values[first:after], edges[first : after + 1], how)
            handles = handles or [steps] * (not how["label"].startswith("_"))
    return handles


def _stairs(ax: Axes, values: Array, edges: Array, how: dict[str, Any]) -> Any:  # noqa: ANN401 (of matplotlib)
    """A step curve, in which neighbours of one height are one step: a file of a million would be large."""
    jumps = np.diff(values)
    starts = np.append(0, np.flatnonzero(jumps) + 1)
    if np.abs(jumps).sum() > 2 * _ROUGH * np.ptp(values):
        how = {**how, "linewidth": 0.6}
    return ax.stairs(values[starts], edges[np.append(starts, len(values))], baseline=None, **how)


def _direction(ax: Axes, mark: Mark, turn: float, size: int, low: float, rim: float) -> list[Any]:
    """The mean direction at the rim, with its interval as an arc; of other marks, and without one, the words alone."""
    if not mark.known or mark.name != "circular mean":
        return ax.plot([], [], ls="none", label=mark.said)
    last = mark.low + (mark.high - mark.low) % size
    arc = np.linspace(mark.low, last, 60) * turn
    ends: dict[str, Any] = {"color": ink(), "clip_on": False}
    ax.plot([mark.value * turn] * 2, [max(0.0, low), rim], lw=0.8, ls=":", **ends)
    ax.plot([mark.value * turn], [rim], marker="o", ms=4.5, **ends)
    return ax.plot(arc, np.full(60, rim), lw=1.8, label=mark.said, **ends)


def _heights(drawn: DrawnShares) -> Iterator[Array]:
    yield from (drawn.bars.share, drawn.bars.low, drawn.bars.high)
    yield from (each for each in (drawn.curve, drawn.truth) if each is not None)


def _runs(which: Flags) -> list[tuple[int, int]]:
    """(first, after) of each run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], which, [False]]).astype(np.int8)))
    return [(int(first), int(after)) for first, after in edges.reshape(-1, 2)]


def _line(**how: Any) -> dict[str, Any]:  # noqa: ANN401 (of matplotlib)
    return {"color": BLUE, "linewidth": 1.5, "label": "share of each value", **how}


def _truth() -> dict[str, Any]:
    """Below the estimate, so that neither hides the other."""
    return {**TRUTH, "color": ink(), "label": "true share", "zorder": 1.5}
