"""The ledger: reports a second, one at a time (each on the disk before it is returned) and many in one transaction.

    python bench/ledger.py --people 200000

The same people are asked a second time, which repeats their reports. The disk decides the first figure.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path

import numpy as np

import bipartite as bp

AGE = bp.BRR(bp.Integers(18, 90), epsilon=1)


def main() -> None:
    """Measure, and print reports a second as JSON."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--people", type=int, default=200_000)
    options.add_argument("--alone", type=int, default=500)
    given = options.parse_args()
    people = [f"person {at}" for at in range(given.people)]
    values = np.arange(given.people) % 73 + 18
    found = {}
    with tempfile.TemporaryDirectory() as folder, bp.Ledger(Path(folder) / "l.db", budget=10) as ledger:
        for name in ("many, first", "many, repeated"):
            began = time.perf_counter()
            ledger.report_many(people, "age", AGE, values)
            found[name] = given.people / (time.perf_counter() - began)
        for name in ("one, first", "one, repeated"):
            began = time.perf_counter()
            for at in range(given.alone):
                ledger.report(people[at], "other", AGE, 40)
            found[name] = given.alone / (time.perf_counter() - began)
    print(json.dumps({"people": given.people} | {name: round(rate) for name, rate in found.items()}))


if __name__ == "__main__":
    main()
