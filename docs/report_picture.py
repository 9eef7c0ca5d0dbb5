"""Draws the picture of the front page: one person's report, and what 50,000 say. A test keeps it up to date."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import bipartite as bp
from bipartite.plots.style import BRR, BRR_FAR, FAINT, INK, TRUTH_STYLE
from bipartite.plots.svg import path, rule, tag, text, whisker
from bipartite.plots.svg import picture as whole

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

TARGET = Path(__file__).parent / "_static" / "report.svg"
AGES = bp.Integers(18, 90)
TRUE_AGE = 40
# Narrow, with large letters: it is read on telephones too.
WIDTH, PANEL, LEFT, RIGHT, TOP = 600, 240, 52, 16, 56
FIRST, LAST = 9, 99
BIG, BOLD = {"font_size": 16}, {"font_size": 18, "font_weight": "bold"}


def x(age: float) -> float:
    """Where the left edge of an age stands."""
    return LEFT + (age - FIRST) / (LAST + 1 - FIRST) * (WIDTH - LEFT - RIGHT)


def panel(top: float, heading: str, below: str) -> tuple[Callable[[float], float], list[str]]:
    """The axes of one of the two pictures, and where a share stands in it."""
    floor = top + PANEL - 16

    def y(share: float) -> float:
        return floor - share / 0.034 * (PANEL - TOP - 16)

    parts = [text(2, top + 20, heading, **BOLD)]
    for percent in range(4):
        parts.append(rule(LEFT, y(percent / 100), WIDTH - RIGHT, y(percent / 100), stroke=FAINT))
        parts.append(text(LEFT - 8, y(percent / 100) + 5, f"{percent} %", text_anchor="end", **BIG))
    parts += [text(x(age + 0.5), floor + 20, str(age), text_anchor="middle", **BIG) for age in range(18, 91, 12)]
    parts.append(text(WIDTH - RIGHT, floor + 40, below, text_anchor="end", **BIG))
    return y, parts


def bars(y: Callable[[float], float], ages: Sequence[float], shares: Sequence[float], far: float = 0.0) -> list[str]:
    """A bar for each age, paler where it is no higher than ``far``."""
    step = x(1) - x(0)
    return [
        tag(
            "rect",
            x=x(age) + 0.6,
            y=y(share),
            width=step - 1.2,
            height=y(0) - y(share),
            fill=BRR_FAR if share <= far else BRR,
        )
        for age, share in zip(ages, shares, strict=True)
    ]


def picture() -> str:
    """The SVG, as text."""
    mechanism = bp.BRR(AGES, 1, m="cdf", edges="padded")  # what bp.recommend takes for a distribution
    row = mechanism.matrix()[AGES.encode(TRUE_AGE)]
    readers = (18 + 73 * np.random.default_rng(1).beta(2, 4, 50_000)).astype(int)  # as in README and the tutorial
    est = bp.estimate(mechanism, mechanism.privatize(readers, rng=bp.insecure_seed(7)))
    low, high = est.ask("mean").ci()

    y, parts = panel(0, f"One person aged {TRUE_AGE} reports, at ε = 1, …", "reported age")
    parts += bars(y, list(mechanism.outputs), row.tolist(), far=row.min())
    near = [age for age, chance in zip(mechanism.outputs, row, strict=True) if chance > row.min()]
    parts.append(text(x(near[-1] + 1) + 8, y(row.max()) + 6, f"{near[0]} to {near[-1]}: {row.max():.1%} each", **BIG))
    parts.append(text(x(near[-1] + 1) + 8, y(row.max()) + 27, f"every other: {row.min():.2%}", **BIG))

    top = PANEL + 40
    y, more = panel(top, "… and 50,000 reports tell who reads", "age")
    parts += more
    parts += bars(y, list(AGES), est.shares.tolist(), far=1)
    truth = np.bincount(readers - AGES.low, minlength=len(AGES)) / len(readers)
    steps = [(x(age + side), y(share)) for age, share in zip(AGES, truth, strict=True) for side in (0, 1)]
    parts.append(path(steps, **{**TRUTH_STYLE, "stroke_width": 1.2}))
    at = y(0.0315)
    parts += whisker(x(low + 0.5), x(high + 0.5), at, 6, width=2)
    parts.append(
        text(
            x(high + 0.5) + 10,
            at + 6,
            f"mean {est.mean:.1f}, {low:.1f} to {high:.1f}; true {readers.mean():.1f}",
            **BIG,
        )
    )
    for line, (words, fill) in enumerate(
        (("estimated share of each age", BRR_FAR), ("true share (nobody sees it)", "none"))
    ):
        parts.append(
            tag(
                "rect",
                x=x(56),
                y=at + 22 + 22 * line,
                width=16,
                height=12,
                fill=fill,
                stroke=INK if fill == "none" else fill,
            )
        )
        parts.append(text(x(56) + 24, at + 33 + 22 * line, words, **BIG))
    often, seldom = f"{row.max():.1%}", f"{row.min():.2%}"
    says = (
        f"Above: a person aged {TRUE_AGE} reports each age from {near[0]} to {near[-1]} with probability {often}, "
        f"every other from {mechanism.outputs[0]} to {mechanism.outputs[-1]} with {seldom}. Below: shares of ages "
        f"estimated from 50,000 such reports lie close to the true ones; the mean is {low:.1f} to {high:.1f}, truly "
        f"{readers.mean():.1f}."
    )
    return whole(2 * PANEL + 74, says, parts, WIDTH) + "\n"


if __name__ == "__main__":
    TARGET.write_text(picture(), encoding="utf-8")
