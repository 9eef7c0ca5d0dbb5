"""Draws the answer of the ten-minute page. A test keeps it up to date."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import bipartite as bp

TARGET = Path(__file__).parent / "_static" / "tutorial_ages.svg"


def picture() -> str:
    """The SVG, as text."""
    mechanism = bp.BRR(bp.Integers(18, 90), 1, m="cdf", edges="padded")
    readers = (18 + 73 * np.random.default_rng(1).beta(2, 4, 50_000)).astype(int)
    est = bp.estimate(mechanism, mechanism.privatize(readers, rng=bp.insecure_seed(7)))
    return est.plot(label="age", unit="years", bins=[30, 45, 65]) + "\n"


if __name__ == "__main__":
    TARGET.write_text(picture(), encoding="utf-8")
