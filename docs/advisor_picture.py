"""The picture of the page on the advisor."""

from __future__ import annotations

from pathlib import Path

from bipartite import Integers, compare

TARGET = Path(__file__).parent / "_static" / "advisor_mean.svg"


def picture() -> str:
    """The mean age of 10,000 people by every mechanism, against ε."""
    epsilons = [0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, 3.5, 4]
    return compare(Integers(18, 90), epsilons, n=10_000, purpose="mean").plot("mean_error") + "\n"


if __name__ == "__main__":
    TARGET.write_text(picture(), encoding="utf-8")
