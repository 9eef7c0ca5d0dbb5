"""Draws the pictures of the page on values that go around. A test keeps them up to date."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import bipartite as bp
from bipartite.plots import chances_on_a_clock

PICTURES = Path(__file__).parent / "_static"
HOURS = bp.Cyclic(24)
PEOPLE = 40_000


def guests() -> np.ndarray[Any, np.dtype[np.int64]]:
    """Made-up hours at which people go to bed: most around eleven at night, night workers around one."""
    at = (np.arange(PEOPLE) + 0.5) / PEOPLE
    late = np.sign(at - 0.5) * np.abs(2 * at - 1) ** 1.3 * 5
    return np.where(np.arange(PEOPLE) % 8, np.rint(23.2 + late), np.rint(13 + late / 3)).astype(np.int64) % 24


def pictures() -> dict[str, str]:
    """Each file with its picture."""
    names = [f"{hour} h" for hour in HOURS]
    release, plain = bp.BRR(HOURS, epsilon=1), bp.GRR(HOURS, epsilon=1)
    survey = bp.BRR(HOURS, epsilon=2, m="cdf")
    return {
        "circle_report.svg": chances_on_a_clock(
            names, release.matrix()[23], plain.matrix()[23], truth=23, label="reported hour"
        ),
        "circle_estimate.svg": bp.estimate(survey, survey.privatize(guests(), rng=bp.insecure_seed(7))).plot(
            label="bedtime", unit="hour"
        ),
    }


if __name__ == "__main__":
    for name, drawn in pictures().items():
        (PICTURES / name).write_text(drawn + "\n", encoding="utf-8")
