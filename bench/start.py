"""How long commands take to start, as multiples of ``import numpy``: whole processes, taking turns, medians.

Run as ``python bench/start.py [ROUNDS]``. A first round that does not count compiles the bytecode, as pip does. The
bounds that the design sets are printed beside the ratios; nothing fails here, because a busy machine is no mistake.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"
UNIT = "import numpy"
ACTS = {
    UNIT: ["-c", "import numpy"],
    "python": ["-c", "pass"],
    "import bipartite": ["-c", "import bipartite"],
    "bipartite --help": ["-m", "bipartite", "--help"],
    "bipartite explain 1": ["-m", "bipartite", "explain", "1"],
}
BOUNDS = {"bipartite --help": 2.5, "bipartite explain 1": 3.5}


def main(rounds: int) -> None:
    """Measure every act once a round and print the medians."""
    with tempfile.TemporaryDirectory() as bytecode:
        settings = {**os.environ, "PYTHONPATH": str(SOURCE), "PYTHONPYCACHEPREFIX": bytecode}
        settings.pop("PYTHONDONTWRITEBYTECODE", None)
        taken: dict[str, list[float]] = {name: [] for name in ACTS}
        for _ in range(rounds + 1):
            for name, words in ACTS.items():
                began = time.perf_counter()
                subprocess.run([sys.executable, *words], env=settings, check=True, capture_output=True)  # noqa: S603
                taken[name].append(time.perf_counter() - began)
    unit = statistics.median(taken[UNIT][1:])
    for name, seconds in taken.items():
        middle = statistics.median(seconds[1:])
        bound = f"  (at most {BOUNDS[name]})" if name in BOUNDS else ""
        print(f"{name:20} {1000 * middle:6.0f} ms  {middle / unit:5.2f} x{bound}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 15)
