"""How long the best anchors take to find, and how close to the best possible they are proved to be."""

from __future__ import annotations

import resource
import sys
import time

import numpy as np

import bipartite as bp


def shown(what: str, build: object, rounds: int) -> None:
    """One line: the least seconds of some rounds, and the certified gap."""
    least = float("inf")
    for _ in range(rounds):
        began = time.perf_counter()
        mechanism = build()  # type: ignore[operator]
        least = min(least, time.perf_counter() - began)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"  {what:<44}{least:9.2f} s   K = {len(mechanism.anchors):<4} gap {mechanism.gap:.3%}   {memory:.2f} GB so far"
    )


def main() -> None:
    """Run every benchmark; ``--large`` adds a hundred thousand places, which take minutes."""
    generator = np.random.default_rng(1)
    degrees = np.column_stack([generator.uniform(25, 50, 100_000), generator.uniform(-125, -67, 100_000)])
    bp.Anchored(bp.Integers(0, 99_999), 1)  # compiles the kernels
    bp.Anchored(bp.Points(degrees[:3_000], metric="haversine"), 1)
    for epsilon in ("0.5", "1", "2", "5"):
        shown(f"a million values on a line, ε = {epsilon}", lambda e=epsilon: bp.Anchored(bp.Integers(1, 10**6), e), 2)
    for epsilon in ("0.5", "1", "2", "5"):
        places = bp.Points(degrees[:3_000], metric="haversine")
        shown(f"3,000 places, ε = {epsilon}", lambda e=epsilon, p=places: bp.Anchored(p, e), 3)
    if "--large" in sys.argv:
        places = bp.Points(degrees, metric="haversine")
        for epsilon in ("1", "5"):
            shown(f"100,000 places, ε = {epsilon}", lambda e=epsilon, p=places: bp.Anchored(p, e), 1)


if __name__ == "__main__":
    main()
