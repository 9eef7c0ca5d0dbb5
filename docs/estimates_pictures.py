"""Draws the pictures of the page on estimates. A test keeps them up to date."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import bipartite as bp

PICTURES = Path(__file__).parent / "_static"
AGES = bp.Integers(18, 90)
PEOPLE = 100_000


def readers() -> np.ndarray[Any, np.dtype[np.int64]]:
    """Made-up ages, more of them young; every other reader, from the south, is a little older."""
    at = np.arange(PEOPLE)
    return 18 + (73 * (at / PEOPLE) ** np.where(at % 2, 1.4, 1.6)).astype(np.int64)


def pictures() -> dict[str, str]:
    """Each file with its picture."""
    ages = readers()
    padded = bp.BRR(AGES, epsilon=1, m="cdf", edges="padded")
    clamped = bp.BRR(AGES, epsilon=1)
    regions = np.array(["north", "south"])[np.arange(PEOPLE) % 2]
    groups = bp.estimate(padded, padded.privatize(ages, rng=bp.insecure_seed(7)), by=regions)
    named: dict[str, Any] = {"label": "age", "unit": "years"}
    return {
        "estimate_ages.svg": bp.estimate(padded, padded.privatize(ages, rng=bp.insecure_seed(7))).plot(**named),
        "estimate_clamped.svg": bp.estimate(clamped, clamped.privatize(ages, rng=bp.insecure_seed(7))).plot(**named),
        "estimate_region_shares.svg": groups.plot(**named, bins=[30, 45, 65]),
    }


if __name__ == "__main__":
    for name, drawn in pictures().items():
        (PICTURES / name).write_text(drawn + "\n", encoding="utf-8")
