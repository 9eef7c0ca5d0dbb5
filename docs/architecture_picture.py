"""Draws the plan of the house, floor by floor. Tests keep it up to date, and true to what the rooms import."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from bipartite.plots.figure import as_svg, axes, describe
from bipartite.plots.looks import BLUE, GREY, INK, PALE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FLOORS: Final[tuple[dict[str, tuple[str, ...]], ...]] = (
    {"cli": ("one file a command",)},
    {"collect": ("a server that counts reports once,", "and keeps nothing else")},
    {"learn": ("models with a guarantee,", "in scikit-learn's words")},
    {
        "tables": ("files, frames,", "Spark"),
        "ledger": ("who has", "spent what"),
        "locations": ("places, maps,", "heat maps"),
    },
    {
        "answers": (
            "quality · estimation · advise: what a report is worth,",
            "what many say, and which mechanism to take",
        )
    },
    {
        "plots": ("one visual language", "for all pictures"),
        "verification": ("proof of ε, audits", "of any sampler"),
    },
    {"mechanisms": ("design · categories · spec", "one file a mechanism, one protocol, one catalogue")},
    {"domains": ("values, neighbours, one reader of columns",)},
    {"lottery": ("tickets, secure words, exact draws:", "no float decides a report")},
)
"""From the roof to the ground: what each room holds. A room imports only from floors below its own."""

_LABORATORY: Final = (
    "the laboratory: experiments, claims, data sets,",
    "figures, committed results; it imports what rooms",
    "export, and is imported by none",
)


def draw() -> Axes:
    """Rooms as boxes, one unit high; below them the laboratory."""
    ground = len(FLOORS)
    with axes(None, (4.4, 6.2)) as ax:
        ax.set(xlim=(-0.1, 4.1), ylim=(ground + 1.85, -1))
        ax.set_axis_off()
        ax.plot([-0.08, 2, 4.08, -0.08], [-0.04, -0.9, -0.04, -0.04], color=INK, linewidth=1.2)
        ax.text(2, -0.3, "src/bipartite, the library", fontweight="bold", ha="center", va="center")
        for number, floor in enumerate(FLOORS):
            wide = 4 / len(floor)
            for place, (room, holds) in enumerate(floor.items()):
                _box(ax, place * wide, number, wide, room, holds, color=BLUE, edgecolor=PALE)
        ax.plot([-0.08, 4.08], [ground, ground], color=INK, linewidth=1.6)
        ax.text(0, ground + 0.22, "under all: one tree of errors, names loaded at first use", fontsize=8, va="center")
        _box(ax, 0, ground + 0.55, 4, "reproduction", _LABORATORY, edgecolor=GREY, linestyle="--")
        ax.annotate("", (3.8, ground), (3.8, ground + 0.6), arrowprops={"arrowstyle": "-|>", "color": GREY})
        rooms = "; ".join(", ".join(floor) for floor in FLOORS)
        return describe(
            ax,
            f"The plan of the house. From the roof down: {rooms}. A room imports only from floors below it. "
            "Below the house: the laboratory, which imports from it and is imported by none.",
        )


def _box(
    ax: Axes, x: float, y: float, wide: float, name: str, holds: tuple[str, ...], *, color: str = INK, **edge: str
) -> None:
    middle, high = x + wide / 2, 0.4 + 0.28 * max(2, len(holds))
    ax.bar(middle, high - 0.04, wide - 0.04, y + 0.04, facecolor="none", **edge)
    first = y + 0.05 + (high - 0.26 * len(holds)) / 2
    ax.text(middle, first, name, color=color, fontweight="bold", ha="center", va="center")
    ax.text(middle, first + 0.16, "\n".join(holds), fontsize=8, ha="center", va="top")


def pictures() -> dict[str, str]:
    """The picture and its file."""
    return {"house.svg": as_svg(draw)}


if __name__ == "__main__":
    for name, drawn in pictures().items():
        (Path(__file__).parent / "_static" / name).write_text(drawn + "\n", encoding="utf-8")
