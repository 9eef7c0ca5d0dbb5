"""Draws the plan of the house, floor by floor. Tests keep it up to date, and true to what the rooms import."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from bipartite.plots.style import BRR, BRR_FAR, DASH, INK, PAPER, WIDTH
from bipartite.plots.style import GRR as GREY
from bipartite.plots.svg import picture as whole
from bipartite.plots.svg import rule, tag, text

TARGET: Final = Path(__file__).parent / "_static" / "house.svg"

FLOORS: Final[tuple[dict[str, tuple[str, ...]], ...]] = (
    {"cli": ("one file a command",)},
    {
        "tables": ("files, frames,", "Spark"),
        "ledger": ("who has", "spent what"),
        "locations": ("places, maps,", "heat maps"),
        "learn": ("models with", "a guarantee"),
    },
    {
        "answers": (
            "quality · estimation · advise",
            "what a report is worth, what many say, and which mechanism to take",
        )
    },
    {
        "plots": ("one visual language", "for all pictures"),
        "verification": ("proof of ε, audits", "of any sampler"),
    },
    {"mechanisms": ("design · categories · spec", "one file a mechanism, one protocol, one catalogue")},
    {"domains": ("values, neighbours, one reader of columns",)},
    {"lottery": ("tickets, secure words, exact draws: no float decides a report",)},
)
"""From the roof to the ground: what each room holds. A room imports only from floors below its own."""

_HIGH: Final = 64.0
_TOP: Final = 70.0
_LEFT: Final = 20.0
_RIGHT: Final = WIDTH - 210.0
_GAP: Final = 6.0
_LINE: Final = 17.0


def picture() -> str:
    """The SVG, as text."""
    parts = [tag("rect", width="100%", height="100%", fill=PAPER)]
    middle, ground = (_LEFT + _RIGHT) / 2, _TOP + _HIGH * len(FLOORS)
    parts.append(
        tag(
            "path",
            d=f"M{_LEFT - 12:.0f} {_TOP:.0f}L{middle:.0f} 14L{_RIGHT + 12:.0f} {_TOP:.0f}Z",
            fill="none",
            stroke=INK,
            stroke_width=1.5,
        )
    )
    parts.append(text(middle, _TOP - 16, "src/bipartite, the library", text_anchor="middle", font_weight="bold"))
    for number, floor in enumerate(FLOORS):
        wide = (_RIGHT - _LEFT - _GAP * (len(floor) - 1)) / len(floor)
        for place, (room, holds) in enumerate(floor.items()):
            parts += _room(_LEFT + place * (wide + _GAP), _TOP + number * _HIGH, wide, room, holds)
    parts.append(rule(_LEFT - 12, ground, WIDTH - 8, ground, stroke=INK, stroke_width=2))
    parts.append(
        text(_LEFT, ground + 18, "under all: one tree of errors, and names that are loaded at first use", fill=GREY)
    )
    parts += _laboratory(_RIGHT + 40, _TOP + 2 * _HIGH, WIDTH - 20 - _RIGHT - 40, ground)
    says = "The plan of the house. From the roof down: " + "; ".join(", ".join(floor) for floor in FLOORS)
    return (
        whole(ground + 30, f"{says}. A room imports only from floors below it. Beside it: the laboratory.", parts)
        + "\n"
    )


def _room(x: float, y: float, wide: float, name: str, holds: tuple[str, ...]) -> list[str]:
    middle = x + wide / 2
    first = y + _HIGH / 2 + 5 - _LINE * len(holds) / 2
    words = [text(middle, first, name, text_anchor="middle", font_weight="bold", fill=BRR)]
    words += [
        text(middle, first + _LINE * (number + 1), line, text_anchor="middle", font_size=12)
        for number, line in enumerate(holds)
    ]
    return [tag("rect", x=x, y=y + 2, width=wide, height=_HIGH - 4, fill=PAPER, stroke=BRR_FAR), *words]


def _laboratory(x: float, y: float, wide: float, ground: float) -> list[str]:
    lines = (
        "the laboratory:",
        "experiments, claims,",
        "data sets, figures,",
        "committed results;",
        "",
        "imports what rooms",
        "export, and is",
        "imported by none",
    )
    parts = [tag("rect", x=x, y=y, width=wide, height=ground - y, fill="none", stroke=GREY, stroke_dasharray=DASH)]
    parts.append(text(x + wide / 2, y + 28, "reproduction", text_anchor="middle", font_weight="bold"))
    parts += [
        text(x + wide / 2, y + 52 + number * _LINE, line, text_anchor="middle", font_size=12)
        for number, line in enumerate(lines)
        if line
    ]
    level = y + (ground - y) / 2
    parts.append(rule(x, level, _RIGHT + 8, level, stroke=GREY, stroke_width=1.5))
    parts.append(tag("path", d=f"M{_RIGHT + 2:.0f} {level:.0f}l9 -4v8Z", fill=GREY))
    return parts


if __name__ == "__main__":
    TARGET.write_text(picture(), encoding="utf-8")
