"""Single reports a second: the client in Node beside the scalar call of Python, taking turns, medians.

Run as ``make client && python bench/client.py [ROUNDS]``. Both draw one report a call, with secure words.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

import bipartite as bp

CLIENT = Path(__file__).parents[1] / "client"
SECONDS = 0.5
AGES = bp.Integers(18, 90)
GRID = bp.Points([[x, y] for x in range(10) for y in range(10)])
MECHANISMS: dict[str, tuple[bp.Mechanism, int]] = {
    "BRR, 73 ages": (bp.BRR(AGES, 1), 40),
    "GRR, 73 ages": (bp.GRR(AGES, 1), 40),
    "Anchored, 73 ages": (bp.Anchored(AGES, 1), 40),
    "BRR, 100 places": (bp.BRR(GRID, 1), 44),
    "OUE, 73 ages": (bp.OUE(AGES, 1), 40),
    "subset selection, 73 ages": (bp.SubsetSelection(AGES, 1), 40),
    "OLH, 73 ages": (bp.OLH(AGES, 1), 40),
    "Hadamard response, 73 ages": (bp.HadamardResponse(AGES, 1), 40),
}


def in_python(mechanism: bp.Mechanism, value: int) -> float:
    """Reports a second of the scalar call."""
    drawn, began = 0, time.perf_counter()
    while (took := time.perf_counter() - began) < SECONDS:
        for _ in range(50):
            mechanism.privatize(value)
        drawn += 50
    return drawn / took


def in_node() -> list[float]:
    """Reports a second of the client, for every mechanism."""
    asked = [{"spec": json.dumps(mechanism.to_spec()), "value": value} for mechanism, value in MECHANISMS.values()]
    command = ["node", "tools/speed.mjs"]
    done = subprocess.run(  # noqa: S603
        command, cwd=CLIENT, input=json.dumps(asked), capture_output=True, text=True, check=True
    )
    found: list[float] = json.loads(done.stdout)
    return found


def main(rounds: int) -> None:
    """Print the medians as a table."""
    python: list[list[float]] = []
    node: list[list[float]] = []
    for _ in range(rounds):
        python.append([in_python(mechanism, value) for mechanism, value in MECHANISMS.values()])
        node.append(in_node())
    print("| one report a call | client in Node | Python, scalar call | ratio |")
    print("|---|---|---|---|")
    for i, name in enumerate(MECHANISMS):
        client, scalar = (statistics.median(each[i] for each in measured) for measured in (node, python))
        print(f"| {name} | {client:,.0f} | {scalar:,.0f} | {client / scalar:.2f} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
