"""Draws the picture of README and the front page: what a person aged 40 reports. A test keeps it up to date."""

from __future__ import annotations

from pathlib import Path

from bipartite import BRR, Integers

TARGET = Path(__file__).parent / "_static" / "report.svg"
AGES = Integers(18, 90)
TRUE_AGE = 40
WIDTH, HEIGHT = 860, 330
LEFT, RIGHT, TOP, BOTTOM = 58, 20, 58, 48
HIGHEST = 0.04
BLUE, LIGHT_BLUE, GREY, INK = "#1f5fa8", "#9dbfe3", "#8a8a8a", "#222222"


def picture() -> str:
    """The SVG, as text."""
    brr, grr = BRR(AGES, epsilon=1), BRR(AGES, epsilon=1, m=1)
    row, plain = brr.matrix()[AGES.encode(TRUE_AGE)], grr.matrix()[AGES.encode(TRUE_AGE)]
    start = brr.lottery.start(AGES.encode(TRUE_AGE))
    first, last = AGES[start], AGES[start + brr.m - 1]
    step = (WIDTH - LEFT - RIGHT) / len(AGES)

    def x(age: float) -> float:
        return LEFT + (age - AGES.low) * step

    def y(probability: float) -> float:
        return HEIGHT - BOTTOM - probability / HIGHEST * (HEIGHT - TOP - BOTTOM)

    def text(at: tuple[float, float], words: str, **style: str) -> str:
        attributes = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in style.items())
        return f'<text x="{at[0]:.1f}" y="{at[1]:.1f}" fill="{INK}"{attributes}>{words}</text>'

    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
            'font-family="sans-serif" font-size="13">'
        ),
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        text((LEFT, 24), f"What a person aged {TRUE_AGE} reports, ε = 1", font_size="17", font_weight="bold"),
    ]
    for percent in range(5):
        level = y(percent / 100)
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{level:.1f}" y2="{level:.1f}" stroke="#e4e4e4"/>')
        parts.append(text((LEFT - 8, level + 4), f"{percent} %", text_anchor="end"))
    for age, probability in zip(AGES, row, strict=True):
        near = first <= age <= last
        colour = BLUE if near else LIGHT_BLUE
        parts.append(
            f'<rect x="{x(age) + 1:.1f}" y="{y(probability):.1f}" width="{step - 2:.1f}" '
            f'height="{HEIGHT - BOTTOM - y(probability):.1f}" fill="{colour}"/>'
        )
    corners = []
    for age, probability in zip(AGES, plain, strict=True):
        corners += [f"{x(age):.1f},{y(probability):.1f}", f"{x(age + 1):.1f},{y(probability):.1f}"]
    points = " ".join(corners)
    parts.append(f'<polyline points="{points}" fill="none" stroke="{GREY}" stroke-width="2" stroke-dasharray="5 3"/>')
    below = HEIGHT - BOTTOM + 18
    parts.extend(text((x(age + 0.5), below), str(age), text_anchor="middle") for age in range(20, 91, 10))
    parts.append(text(((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8), "reported age", text_anchor="middle"))
    parts.append(text((x(last + 1) + 8, y(max(row)) + 5), f"BRR: each age from {first} to {last} with {max(row):.1%},"))
    parts.append(text((x(last + 1) + 8, y(max(row)) + 22), f"every other age with {min(row):.2%}"))
    parts.append(
        text((x(TRUE_AGE + 1) + 8, y(max(plain)) + 2), f"GRR, the classical way: {TRUE_AGE} with {max(plain):.1%},")
    )
    parts.append(text((x(TRUE_AGE + 1) + 8, y(max(plain)) + 19), f"every other age with {min(plain):.1%} (dashed)"))
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    TARGET.write_text(picture(), encoding="utf-8")
