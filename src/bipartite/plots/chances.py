"""One person's report: the probability of each, for a true value."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.errors import InputError
from bipartite.plots.figure import SIZE, WIDTH, axes, describe, literal
from bipartite.plots.looks import BLUE, PALE, looks_of
from bipartite.plots.shares import around, dial, ticks_at
from bipartite.plots.whiskers import SMALL, in_percent, ink, legend_below, say
from bipartite.texts import escaped, percent

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from bipartite.domains import Domain
    from bipartite.mechanisms import Mechanism

    Array = NDArray[np.float64]

_DIGITS: Final = 12  # of equal probabilities
_TWO: Final = 2


def plot_chances(
    mechanism: Mechanism,
    value: object,
    ax: Axes | None = None,
    *,
    others: Iterable[Mechanism] = (),
    title: str = "",
    label: str = "value",
) -> Axes:
    """Draw Pr[report | value] for every report of a mechanism on a line or around a circle, and return the axes.

    Reports that are more likely than if all were alike are darker, and the true value is marked. ``others`` are
    mechanisms for the same values, drawn as dashed outlines. ``label`` names what is reported.
    """
    outputs, domain = mechanism.outputs, mechanism.domain
    if not (getattr(outputs, "has_ends", False) or getattr(outputs, "wraps", False)):  # OUE has none
        raise InputError(f"Expected a mechanism with reports on a line or a circle, got {mechanism!r}; use .matrix().")
    circle, index = outputs.wraps, domain.encode(value)
    every = (mechanism, *others)
    kinds = [type(each).__name__ for each in every]
    names = [kind if kinds.count(kind) == 1 else repr(each) for kind, each in zip(kinds, every, strict=True)]
    rows = {name: (each.outputs, each.matrix()[index]) for name, each in zip(names, every, strict=True)}
    name, *more = rows
    edges, chances = _edges(outputs), rows[name][1]
    near = chances > 1 / len(chances)
    truth = escaped(domain[index]) if circle else say(float(domain[index]))
    said = [_said(each, row, truth) for each, (_, row) in rows.items()]
    with axes(ax, (WIDTH, 4.6) if circle else SIZE, polar=circle) as on:
        high = max(float(row.max()) for _, row in rows.values())
        if circle:
            dial(on, [escaped(each) for each in outputs.to_numpy().tolist()], 0.0, high, chances)
        handles: list[Any] = []
        for which, colour, words in ((near, BLUE, said[0][0]), (~near, PALE, said[0][1])):
            middle, wide = (edges[1:] + edges[:-1])[which] / 2, np.diff(edges)[which]
            how: dict[str, Any] = {"color": colour, "label": literal(words), "linewidth": 0 if circle else 0.4}
            handles.append(on.bar(middle, chances[which], width=wide * (0.94 if circle else 1), **how))
        looks = looks_of(more)
        for each, parts in zip(more, said[1:], strict=True):
            values, row = rows[each]
            how = {**looks[each].line(), "linestyle": "--", "label": literal("; ".join(parts))}
            drawn = on.plot(*around(row), **how) if circle else [on.stairs(row, _edges(values), baseline=None, **how)]
            handles += drawn
        if not circle:
            on.set(xlabel=literal(label), ylabel="probability of this report", xlim=(edges[0], edges[-1]))
            in_percent(on.yaxis)
            ticks_at(on, outputs.to_numpy(), whole=outputs.whole)
        at = edges[index] / 2 + edges[index + 1] / 2 if circle else domain[index]
        _mark(on, literal(f"true value: {truth}"), at, high)
        legend_below(on, handles, gap=24 if circle else 36)
        words = "; ".join(each for one in said for each in one)
        notes = [f"around: {label}; outward: probability of this report"] * circle
        return describe(on, f"The probability of each report of {truth}: {words}.", title=title, notes=notes)


def _edges(outputs: Domain) -> Array:
    """Where each report begins and the last ends: halfway between neighbours; on a circle as angles."""
    if outputs.wraps:
        return (np.arange(len(outputs) + 1) - 0.5) * 2 * math.pi / len(outputs)
    values = outputs.to_numpy().astype(np.float64)
    inner = (values[1:] + values[:-1]) / 2
    return np.concatenate([[2 * values[0] - inner[0]], inner, [2 * values[-1] - inner[-1]]])


def _said(name: str, chances: Array, truth: str) -> tuple[str, str]:
    """The likely reports in words, and the others."""
    levels, counts = np.unique(np.round(chances, _DIGITS), return_counts=True)
    least, most = percent(float(levels[0])), percent(float(levels[-1]))
    if len(levels) > _TWO:
        return f"{name}: up to {most}", f"down to {least}"
    one = counts[-1] == 1
    near = f"{name}, {truth}: {most}" if one else f"{name}, nearest {counts[-1]}: {most} each"
    return near, f"{'any other' if one else f'{name}, all others'}: {least}{'' if one else ' each'}"


def _mark(ax: Axes, words: str, at: float, high: float) -> None:
    """Mark the true value: above its report on a line, by a hand in the middle of a clock."""
    if ax.name == "polar":
        polar: Any = ax
        ax.plot([at, at], [polar.get_rorigin(), 0], color=ink(), lw=1.8, clip_on=False)
        ax.text(0.0, 1.02, words, transform=ax.transAxes, weight="bold", fontsize=SMALL)
        return
    ax.set_ylim(0, 1.14 * high)
    ax.axvline(at, color=ink(), lw=1, ls=":")
    left, right = ax.get_xlim()
    side = 1 if at - left < right - at else -1  # with more room
    ax.annotate(
        words,
        (at, 0.99),
        (4 * side, 0),
        xycoords=ax.get_xaxis_transform(),
        textcoords="offset points",
        ha="left" if side > 0 else "right",
        va="top",
        weight="bold",
        fontsize=SMALL,
        bbox={"facecolor": ax.get_facecolor(), "edgecolor": "none", "pad": 0.6},
    )
