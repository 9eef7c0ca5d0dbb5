"""Pictures of values on a line: the chances of each report, and what a collector sees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.plots import style
from bipartite.plots.svg import legend, path, percent, picture, rule, text, ticks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Say = Callable[[float], str]

_HEIGHT: Final = 330
_LEFT, _RIGHT, _TOP, _BOTTOM = 76, 34, 56, 52
_HEADROOM: Final = 1.12


def chances_on_a_line(
    values: NDArray[Any],
    brr: NDArray[np.float64],
    grr: NDArray[np.float64],
    *,
    truth: float,
    label: str,
    say: Say,
) -> str:
    """The chance of each report of one person: BRR as filled steps, GRR as a dashed line, the true value marked.

    ``values`` are equidistant, ``brr`` and ``grr`` the rows of the two matrices, ``label`` names the axis with its
    unit, and ``say`` writes a value.
    """
    frame = _Frame(values, float(max(brr.max(), grr.max())), say)
    near = np.flatnonzero(brr > brr.min())
    first, last = values[near[0]], values[near[-1]]
    p, q = (percent(float(chance)) for chance in (brr.max(), brr.min()))
    spike, rest = (percent(float(chance)) for chance in (grr.max(), grr.min()))
    says = (
        f"BRR reports each value from {say(first)} to {say(last)} with chance {p}, every other with {q}. "
        f"GRR reports {say(truth)} with {spike}, every other with {rest}."
    )
    x = frame.x(truth)
    parts = [
        *frame.axes(label, "chance of this report"),
        frame.area(brr, fill=style.BRR_FAR),
        frame.area(np.where(brr > brr.min(), brr, 0.0), fill=style.BRR),
        frame.outline(grr, fill="none", stroke=style.PAPER, stroke_width=3.5),  # so that it shows on dark ground
        frame.outline(grr, **style.GRR_STYLE),
        rule(x, _TOP - 6, x, _HEIGHT - _BOTTOM, stroke=style.INK, stroke_width=1, stroke_dasharray="1 3"),
        text(x, _TOP - 12, f"true answer: {say(truth)}", text_anchor="middle", font_weight="bold"),
        *legend(
            2,
            14,
            [
                (f"BRR, nearest {len(near)}: {p} each", style.BRR_NEAR_STYLE),
                (f"BRR, all others: {q} each", style.BRR_FAR_STYLE),
                (f"GRR: {spike} for the truth, {rest} for any other", style.GRR_STYLE),
            ],
        ),
    ]
    return picture(_HEIGHT, says, parts)


def reports_on_a_line(
    values: NDArray[Any], answers: NDArray[np.float64], reports: NDArray[np.float64], *, label: str, say: Say
) -> str:
    """What a collector sees, as shares of all reports, beside what is true."""
    frame = _Frame(values, float(max(answers.max(), reports.max())), say)
    says = (
        f"The reports lie between {percent(float(reports.min()))} and {percent(float(reports.max()))} at every value, "
        f"flatter than the true answers, which reach {percent(float(answers.max()))}."
    )
    parts = [
        *frame.axes(label, "share of people"),
        frame.area(reports, fill=style.BRR_FAR),
        frame.outline(reports, fill="none", stroke=style.BRR, stroke_width=1.2),
        frame.outline(answers, **style.TRUTH_STYLE),
        *legend(
            2,
            14,
            [
                ("reports: all that the collector sees", style.REPORTS_STYLE),
                ("true answers: known here because they are made up", style.TRUTH_STYLE),
            ],
        ),
    ]
    return picture(_HEIGHT, says, parts)


class _Frame:
    """The coordinates of one picture, and steps drawn in them."""

    def __init__(self, values: NDArray[Any], highest: float, say: Say) -> None:
        self._values = values.astype(np.float64)
        self._step = float(self._values[1] - self._values[0])
        self._low, self._high = float(self._values[0]), float(self._values[-1])
        self._highest = highest * _HEADROOM
        self._say = say

    def x(self, value: float) -> float:
        """Where a value stands; each has half a step of room on both sides."""
        share = (value - self._low + self._step / 2) / (self._high - self._low + self._step)
        return _LEFT + share * (style.WIDTH - _LEFT - _RIGHT)

    def y(self, share: float) -> float:
        """Where a chance stands."""
        return _HEIGHT - _BOTTOM - share / self._highest * (_HEIGHT - _TOP - _BOTTOM)

    def axes(self, across: str, up: str) -> list[str]:
        """Grid, numbers and names."""
        parts = []
        for share in ticks(0, self._highest, 4):
            y = self.y(share)
            parts.append(rule(_LEFT, y, style.WIDTH - _RIGHT, y, stroke=style.FAINT))
            parts.append(text(_LEFT - 8, y + 4, f"{100 * share:.3g} %", text_anchor="end"))
        for value in ticks(self._low, self._high, 8):
            x = self.x(value)
            parts.append(rule(x, _HEIGHT - _BOTTOM, x, _HEIGHT - _BOTTOM + 4, stroke=style.INK))
            parts.append(text(x, _HEIGHT - _BOTTOM + 19, self._say(value), text_anchor="middle"))
        middle = (_LEFT + style.WIDTH - _RIGHT) / 2
        parts.append(text(middle, _HEIGHT - 8, across, text_anchor="middle"))
        high = (_TOP + _HEIGHT - _BOTTOM) / 2
        parts.append(text(14, high, up, text_anchor="middle", transform=f"rotate(-90 14 {high:.0f})"))
        return parts

    def area(self, heights: NDArray[np.float64], **how: Any) -> str:  # noqa: ANN401
        """Steps, filled down to zero."""
        corners = self._corners(heights)
        ground = self.y(0)
        return path([(corners[0][0], ground), *corners, (corners[-1][0], ground)], closed=True, **how)

    def outline(self, heights: NDArray[np.float64], **how: Any) -> str:  # noqa: ANN401
        """Steps as a line."""
        return path(self._corners(heights), **how)

    def _corners(self, heights: NDArray[np.float64]) -> Sequence[tuple[float, float]]:
        """The corners of the steps; a run of equal heights is one step."""
        starts = np.flatnonzero(np.diff(heights, prepend=np.nan) != 0)
        ends = np.append(starts[1:], len(heights))
        half, corners = self._step / 2, []
        for start, end in zip(starts, ends, strict=True):
            y = self.y(float(heights[start]))
            corners += [
                (self.x(float(self._values[start]) - half), y),
                (self.x(float(self._values[end - 1]) + half), y),
            ]
        return corners
