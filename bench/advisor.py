"""How long the advisor takes: every mechanism at twenty ε on a hundred values (asked for: 12 of them in under 30 s)."""

from __future__ import annotations

import os
import time

import numpy as np

import bipartite as bp


def main() -> None:
    """Print seconds for one sweep."""
    began = time.perf_counter()
    compared = bp.compare(bp.Interval(0, 1, points=100), np.linspace(0.25, 5, 20).round(2), users=10_000, tolerance=0.1)
    seconds = time.perf_counter() - began
    names = {row.mechanism for row in compared.rows if row.kind == "mechanism"}
    print(f"{len(names)} mechanisms × 20 ε × 100 values: {seconds:.1f} s; load average {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
