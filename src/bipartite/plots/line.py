"""A picture of one person's report on a line: the probability of each value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bipartite.plots import style
from bipartite.plots.frame import HEIGHT, TOP, Frame
from bipartite.plots.svg import legend, percent, picture, rule, text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.plots.frame import Say


def chances_on_a_line(
    values: NDArray[Any],
    brr: NDArray[np.float64],
    grr: NDArray[np.float64],
    *,
    truth: float,
    label: str,
    say: Say,
) -> str:
    """Plot the probability of each report of one person: BRR filled, GRR as a dashed line, the true value marked.

    ``values`` are equidistant, ``brr`` and ``grr`` the rows of the two matrices, ``label`` names the axis with its
    unit, and ``say`` formats a value.
    """
    frame = Frame(values, float(max(brr.max(), grr.max())), say)
    near = np.flatnonzero(brr > brr.min())
    first, last = values[near[0]], values[near[-1]]
    p, q = (percent(float(chance)) for chance in (brr.max(), brr.min()))
    spike, rest = (percent(float(chance)) for chance in (grr.max(), grr.min()))
    says = (
        f"BRR reports each value from {say(first)} to {say(last)} with probability {p}, every other with {q}. "
        f"GRR reports {say(truth)} with probability {spike}, every other with {rest}."
    )
    entries = [
        (f"BRR, nearest {len(near)}: {p} each", style.BRR_NEAR_STYLE),
        (f"BRR, all others: {q} each", style.BRR_FAR_STYLE),
        (f"GRR: {spike} for the true value, {rest} for any other", style.GRR_STYLE),
    ]
    x = frame.x(truth)
    parts = [
        *frame.axes(label, "probability of this report"),
        frame.area(brr, fill=style.BRR_FAR),
        frame.area(np.where(brr > brr.min(), brr, 0.0), fill=style.BRR),
        frame.outline(grr, fill="none", stroke=style.PAPER, stroke_width=3.5),  # so that it shows on a dark background
        frame.outline(grr, **style.GRR_STYLE),
        rule(x, TOP - 6, x, frame.y(0), stroke=style.INK, stroke_width=1, stroke_dasharray="1 3"),
        text(x, TOP - 12, f"true value: {say(truth)}", text_anchor="middle", font_weight="bold"),
        *legend(entries),
    ]
    return picture(HEIGHT, says, parts)
