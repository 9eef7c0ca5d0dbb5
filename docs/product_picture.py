"""Draws what somebody aged 40 who came five times reports as a pair. A test keeps it up to date."""

from __future__ import annotations

from pathlib import Path

import bipartite as bp
from bipartite.plots import shares_of_pairs

TARGET = Path(__file__).parent / "_static" / "product.svg"
AGES, VISITS = bp.Integers(18, 90), bp.Integers(0, 20)
TRUTH = (40, 5)


def picture() -> str:
    """The chance of each pair."""
    pairs = bp.Product(AGES, VISITS)
    mech = bp.BRR(pairs, epsilon=1)
    row = mech.matrix()[pairs.encode(TRUTH)]
    near, far = 100 * row.max(), 100 * row.min()
    drawn = shares_of_pairs(
        row.reshape(pairs.shape),
        ([str(age) for age in AGES], [str(visits) for visits in VISITS]),
        ("reported age", "reported visits"),
        at=(AGES.encode(TRUTH[0]), VISITS.encode(TRUTH[1])),
        notes=(f"BRR, ε = 1: each of the {mech.m} nearest pairs has {near:.3f} %, every other pair {far:.3f} %.",),
    )
    return drawn + "\n"


if __name__ == "__main__":
    TARGET.write_text(picture(), encoding="utf-8")
