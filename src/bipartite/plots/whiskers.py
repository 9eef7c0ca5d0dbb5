"""Numbers with their intervals, and what all pictures of them share: marks, legends, axes of shares, and letters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

import numpy as np

from bipartite.errors import InputError
from bipartite.plots.figure import is_alone, literal
from bipartite.plots.looks import WHISKER
from bipartite.texts import escaped, percent_mark

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]

SMALL: Final = 8.0  # points: words beside a number
_LETTER: Final = 0.55  # of the size of letters: the width of a mean one
_LONGEST: Final = 26
_LARGE, _HUGE = 1e5, 1e15  # between them, numbers are whole and in full
_TWO_COLUMNS: Final = 36  # letters of a legend's entry that leave room for another beside it
_INSIDE: Final = 0.86  # of the width of a figure of ours: that of its axes
_ROW: Final = 0.085  # of the height of the axes: from one mark to the next


class Mark(NamedTuple):
    """A number with its interval, and both in words."""

    name: str
    value: float
    low: float
    high: float
    words: str
    """The number and its interval, without the name."""
    known: bool = True
    """Whether the value is an estimate rather than a guess within the interval."""

    @property
    def said(self) -> str:
        """The words after the name."""
        return f"{self.name}{'' if self.known else ':'} {self.words}"


def shortened(name: object) -> str:
    """A name that fits beside a picture."""
    text = escaped(name)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def say(value: float) -> str:
    """A number on an axis; large ones in full, since their last digits are what differs.

    >>> say(1_000_000_025), say(1 / 3)
    ('1,000,000,025', '0.333333')
    """
    return f"{value:,{'.0f' if _LARGE <= abs(value) < _HUGE else '.6g'}}".replace("-", "−")


def ink() -> str:
    """The colour of letters in the style in effect: ours, or that of the user whose axes these are."""
    from matplotlib import rcParams  # noqa: PLC0415 (optional)

    return cast("str", rcParams["text.color"])


def whiskers(ax: Axes, at: Array, low: Array, high: Array, label: str = "_interval", *, lying: bool = False) -> Any:  # noqa: ANN401
    """Draw intervals where they are: a value, such as an unbiased share below zero, may lie outside its own."""
    middle, half = (low + high) / 2, (high - low) / 2
    style = {**WHISKER, "ecolor": ink(), "capsize": 2.5, "label": label}
    return ax.errorbar(middle, at, xerr=half, **style) if lying else ax.errorbar(at, middle, yerr=half, **style)


def name_rows(ax: Axes, places: Sequence[float], names: Iterable[object]) -> None:
    """Name rows at the left of the axes."""
    written = [literal(shortened(name)) for name in names]
    others = [each for each in ax.get_shared_y_axes().get_siblings(ax) if each is not ax and each.has_data()]
    there, named = ax.get_yticks().tolist(), ax.yaxis.get_major_formatter().format_ticks
    if others and (there != list(places) or named(there) != written):
        # They have one set of names, and those of the other panel would be wrong.
        raise InputError("Expected ax with rows of its own, got a y axis shared with other names; use sharey=False.")
    ax.set_yticks(places, written)
    ax.tick_params(axis="y", length=0)
    ax.grid(visible=False, axis="y")


def words_beside(ax: Axes, y: float, words: str) -> None:
    """Words right of a row, if there is room around the axes."""
    if is_alone(ax):
        ax.text(1.02, y, literal(words), transform=ax.get_yaxis_transform(), va="center", fontsize=SMALL)


def in_percent(axis: Axis) -> None:
    """Write the ticks of an axis of shares as percentages."""
    axis.set_major_formatter(lambda share, _: percent_mark(share))


def round_ticks(about: int, *, whole: bool = False) -> Any:  # noqa: ANN401 (of matplotlib)
    """A locator of at most so many round numbers."""
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415 (optional)

    return MaxNLocator(nbins=about, steps=[1, 2, 2.5, 5, 10], integer=whole)


def inches_of(ax: Axes) -> tuple[float, float]:
    """The width and the height of the figure of these axes, or of the part of a figure that they are on."""
    figure = cast("Figure", ax.figure)
    return figure.bbox.width / figure.dpi, figure.bbox.height / figure.dpi


def points_across(ax: Axes) -> float:
    """About how wide the axes are, in points, before they are laid out."""
    share = _INSIDE if is_alone(ax) else ax.get_position().width
    return float(share * inches_of(ax)[0] * 72)


def rows_within(ax: Axes) -> int:
    """About how many rows of words fit into the axes, before they are laid out."""
    return max(1, int(ax.get_position().height * inches_of(ax)[1] * 72 / (1.3 * SMALL)))


def width_of(words: str, size: float = SMALL) -> float:
    """About how wide words are, in points."""
    return len(words) * size * _LETTER


def marks_at_the_top(ax: Axes, marks: Sequence[Mark]) -> None:
    """Draw each interval near the top of the axes, whose limits are set, with its words where there is room."""
    left, right = ax.get_xlim()
    across, up = points_across(ax), ax.get_xaxis_transform()
    for number, mark in enumerate(marks):
        y, colour = 0.93 - _ROW * number, ink()
        low, high = (min(max(end, left), right) for end in (mark.low, mark.high))
        ax.plot([low, high], [y, y], transform=up, color=colour, lw=1.4, marker="|", ms=6, label=f"_{mark.name}")
        # An unbiased estimate may lie outside the range of values; the words still give it.
        if mark.known and left <= mark.value <= right:
            low, high = min(low, mark.value), max(high, mark.value)
            ax.plot([mark.value] * 2, [0, y], transform=up, color=colour, lw=0.8, ls=":")
            ax.plot([mark.value], [y], transform=up, color=colour, marker="o", ms=4.5)
        starts, ends = ((end - left) / (right - left) for end in (low, high))
        room = (width_of(mark.said) + 8) / across
        at, aside, above = ends + 6 / across, "left", "center"
        if 1 - ends < room:
            at, aside = starts - 6 / across, "right"
            if starts < room:  # no room on either side
                at, aside, above = min(max((starts + ends) / 2, room / 2), 1 - room / 2), "center", "bottom"
        box = {"facecolor": ax.get_facecolor(), "edgecolor": "none", "pad": 0.4}
        how: dict[str, Any] = {"ha": aside, "va": above, "fontsize": SMALL, "bbox": box, "transform": ax.transAxes}
        ax.text(at, y + 0.02 * (above == "bottom"), literal(mark.said), **how)


def legend_below(ax: Axes, handles: Sequence[Any], gap: float = 36, top: float = 1.0) -> None:
    """A legend ``gap`` points below the axes of a figure of ours, or below a clock; elsewhere within, up to ``top``."""
    labels = [str(each.get_label()) for each in handles]
    columns = 2 if max(map(len, labels)) <= _TWO_COLUMNS else 1
    if not is_alone(ax):
        polar = ax.name == "polar"
        where = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.08)} if polar else {"bbox_to_anchor": (0, 0, 1, top)}
        ax.legend(handles=handles, fontsize=SMALL, **where)
        return
    pin_legend(ax, handles, gap, ncols=columns, fontsize=SMALL)
    figure = cast("Figure", ax.figure)
    figure.set_size_inches(figure.get_figwidth(), figure.get_figheight() + -(-len(labels) // columns) * 12 / 72)


def pin_legend(ax: Axes, handles: Sequence[Any], gap: float, **how: Any) -> None:  # noqa: ANN401 (of matplotlib)
    """A legend ``gap`` points below the axes, from their left edge on."""
    from matplotlib.transforms import ScaledTranslation  # noqa: PLC0415 (optional)

    below = ax.transAxes + ScaledTranslation(0, -gap / 72, ax.figure.dpi_scale_trans)
    where: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (0, 0), "bbox_transform": below}
    ax.legend(handles=handles, borderaxespad=0, borderpad=0, **where, **how)


def extent(*numbers: ArrayLike) -> tuple[float, float]:
    """The least and the largest of these and zero, apart from each other."""
    every = np.concatenate([np.zeros(1), *(np.asarray(each, dtype=float) for each in numbers)])
    low, high = (float(end) for end in (np.nanmin(every), np.nanmax(every)))
    return low, high if high > low else low + 1.0
