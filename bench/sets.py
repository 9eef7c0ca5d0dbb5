"""How fast m is found and reports are drawn on points; ratios within one run. Compilation is excluded and stated.

``python bench/sets.py`` runs the sizes of the issue up to 20,000 points; add ``--large`` for 100,000 (some minutes).
"""

from __future__ import annotations

import importlib
import sys
import time

import numpy as np

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

import bipartite as bp


def random_places(count: int) -> bp.Points:
    """Points spread over the inhabited latitudes."""
    places = np.random.default_rng(1).uniform([-60, -180], [70, 180], (count, 2))
    return bp.Points(places, metric="haversine")


def main() -> None:
    """Time the design and the bulk draw."""
    began = time.perf_counter()
    for kernels in ("bipartite.mechanisms.design.compiled_m", "bipartite.lottery.compiled_points"):
        importlib.import_module(kernels)
    print(f"loading or compiling the kernels: {time.perf_counter() - began:.2f} s (excluded below)")
    for count in (3_000, 20_000, *([100_000] if "--large" in sys.argv else [])):
        domain = random_places(count)
        began = time.perf_counter()
        mechanism = bp.BRR(domain, epsilon=1)
        seconds = time.perf_counter() - began
        memory = (
            ""
            if resource is None
            else f", peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB"
        )
        print(f"design, {count:,} points: m = {mechanism.m:,} in {seconds:.2f} s{memory}")
    mechanism = bp.BRR(random_places(3_000), epsilon=1)
    generator = np.random.default_rng(2)
    values = generator.integers(0, 3_000, 5_000_000)
    began = time.perf_counter()
    mechanism.privatize(values[:200_000])
    print(f"first bulk draw, with the table of neighbours: {time.perf_counter() - began:.2f} s")
    best = {"integers": np.inf, "report": np.inf}
    for _ in range(5):
        began = time.perf_counter()
        generator.integers(0, 3_000, len(values))
        best["integers"] = min(best["integers"], time.perf_counter() - began)
        began = time.perf_counter()
        mechanism.privatize(values)
        best["report"] = min(best["report"], time.perf_counter() - began)
    each = best["report"] / len(values)
    print(f"bulk draw, 3,000 points, ε = 1: {each * 1e9:.1f} ns, {best['integers'] / best['report']:.2f} of integers()")


if __name__ == "__main__":
    main()
