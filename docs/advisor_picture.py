"""The picture of the page on the advisor."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bipartite import Integers, compare

TARGET = Path(__file__).parent / "_static" / "advisor_loss.svg"


def picture() -> str:
    """Every mechanism on ages, against ε."""
    return compare(Integers(18, 90), np.linspace(0.25, 5, 20).round(2), purpose="release").plot() + "\n"


if __name__ == "__main__":
    TARGET.write_text(picture(), encoding="utf-8")
