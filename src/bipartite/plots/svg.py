"""The SVG elements that pictures are made of."""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING, Any, Final

from bipartite.plots.style import FONT, INK, WIDTH
from bipartite.texts import escaped, percent, percent_mark  # noqa: F401 (until callers have moved)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_SMALL: Final = 13
_SWATCH: Final = 22
_TITLE: Final = 30
_LONG: Final = 100
LETTER: Final = 6.9  # the mean width of a letter at this size, rounded up


class Picture(str):
    """A complete picture as SVG text, which notebooks display."""

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(self)

    def __repr__(self) -> str:
        says = html.unescape(self.partition('aria-label="')[2].partition('"')[0])
        return f"<Picture: {says if len(says) <= _LONG else says[: _LONG - 1] + '…'}>"


def tag(name: str, content: str = "", /, **attributes: object) -> str:
    """Write one element; ``stroke_width`` becomes ``stroke-width``, and floats keep one decimal."""
    written = "".join(f' {key.replace("_", "-")}="{_value(value)}"' for key, value in attributes.items())
    return f"<{name}{written}>{content}</{name}>" if content else f"<{name}{written}/>"


def text(x: float, y: float, words: str, **style: object) -> str:
    """Write escaped text at a position."""
    return tag("text", html.escape(escaped(words), quote=False), x=x, y=y, **{"fill": INK, **style})


def title(words: str) -> str:
    """The tooltip of a shape."""
    return tag("title", html.escape(escaped(words), quote=False))


def rule(x1: float, y1: float, x2: float, y2: float, **style: object) -> str:
    """Draw a straight line."""
    return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, **style)


def path(points: Iterable[Sequence[float]], *, closed: bool = False, **style: object) -> str:
    """Draw a line through points, or the shape they enclose."""
    corners = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    return tag("path", d=f"M{corners}{'Z' if closed else ''}", **style)


def whisker(start: float, end: float, at: float, cap: float, *, upright: bool = False, width: float = 1.2) -> list[str]:
    """Draw an error bar from ``start`` to ``end``: horizontal at height ``at``, or ``upright`` there."""
    lines = [(start, at, end, at), *((tip, at - cap, tip, at + cap) for tip in (start, end))]
    if upright:
        lines = [(x1, y1, x2, y2) for y1, x1, y2, x2 in lines]
    return [rule(*line, stroke=INK, stroke_width=width) for line in lines]


def picture(height: float, says: str, parts: Iterable[str], width: float = WIDTH) -> Picture:
    """Assemble a picture; ``says`` describes it for people who cannot see it."""
    drawn = tag(
        "svg",
        "\n".join(["", *parts, ""]),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width:.0f} {height:.0f}",
        role="img",
        aria_label=html.escape(escaped(says)),
        font_family=html.escape(FONT),
        font_size=_SMALL,
    )
    return Picture(drawn)


def titled(drawn: Picture, words: str) -> Picture:
    """Add a title above a picture, unless it is empty."""
    if not words:
        return drawn
    height = int(drawn.partition(f'viewBox="0 0 {WIDTH} ')[2].partition('"')[0])
    parts = drawn.replace(f'viewBox="0 0 {WIDTH} {height}"', f'viewBox="0 {-_TITLE} {WIDTH} {height + _TITLE}"', 1)
    parts = parts.replace('aria-label="', f'aria-label="{html.escape(escaped(words))}. ', 1)
    heading = text(2, 18 - _TITLE, words, font_size=17, font_weight="bold")
    return Picture(parts.removesuffix("</svg>") + heading + "\n</svg>")


def legend(entries: Iterable[tuple[str, Mapping[str, Any]]], y: float = 14) -> list[str]:
    """Draw names in a row, each after a sample of its style."""
    parts, x = [], 2.0
    for words, style in entries:
        if style.get("fill") == "none":
            parts.append(rule(x, y - 4, x + _SWATCH, y - 4, **style))
        else:
            parts.append(tag("rect", x=x, y=y - 10, width=_SWATCH, height=12, **style))
        parts.append(text(x + _SWATCH + 7, y, words))
        x += _SWATCH + 7 + LETTER * len(words) + 18
    return parts


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """About ``about`` round numbers from low to high."""
    rough = (high - low) / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= rough * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(number * step, 10) for number in range(first, last + 1)]


def _value(value: object) -> str:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)
