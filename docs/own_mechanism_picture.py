"""The picture of the page on mechanisms of one's own."""

from __future__ import annotations

from pathlib import Path

from bipartite import Custom, Integers, compare

TARGET = Path(__file__).parent / "_static" / "own_mechanism.svg"
STARS = Integers(1, 5)
MATRIX = [[0.7, 0.3], [0.6, 0.4], [0.5, 0.5], [0.4, 0.6], [0.3, 0.7]]


def picture() -> str:
    """The error of the mean of every mechanism on five stars, and of two words."""
    mood = Custom(STARS, ["bad", "good"], MATRIX, epsilon=1)
    compared = compare(STARS, 1, n=1000, purpose="mean", also={"mood": mood})
    return compared.plot("mean_error") + "\n"


if __name__ == "__main__":
    TARGET.write_text(picture(), encoding="utf-8")
