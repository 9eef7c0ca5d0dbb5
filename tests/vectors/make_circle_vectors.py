"""Writes circles.json: (spec, value, words) → report, computed here from the text of the design, not by the package.

Run it only to add vectors; the file is read by every implementation, the browser's too.
"""

import json
import random
from decimal import Decimal, getcontext
from pathlib import Path

getcontext().prec = 80
MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


def near_tickets(epsilon: str, far: int) -> int:
    return int(Decimal(far) * Decimal(epsilon).exp())


def draw(x, size, m, near, far, words):
    """The report and how many words it took: near outputs from the first on, then far ones, around the circle."""
    total = m * near + (size - m) * far
    for used, word in enumerate(words, start=1):
        if (word * total) % 2**64 < 2**64 % total:
            continue
        ticket = word * total // 2**64
        steps = ticket // near if ticket < m * near else m + (ticket - m * near) // far
        return (x - m // 2 + steps) % size, used
    raise AssertionError


def main():
    rng = random.Random(20261116)
    vectors = []
    cases = [
        ({"cyclic": {"size": 24, "start": 0}}, "1", 9),
        ({"cyclic": {"size": 24, "start": 0}}, "1", 8),
        ({"cyclic": {"size": 12, "start": 1}}, "0.5", 5),
        ({"cyclic": {"size": 12, "labels": MONTHS}}, "2", 3),
        ({"cyclic": {"size": 2, "start": -1}}, "3", 1),
        ({"cyclic": {"size": 360, "start": 0}}, "0.25", 179),
        ({"cyclic": {"size": 86400, "start": 0}}, "1", 30000),
    ]
    for domain, epsilon, m in cases:
        circle = domain["cyclic"]
        size = circle["size"]
        shown = circle.get("labels") or range(circle.get("start", 0), circle.get("start", 0) + size)
        far = 2**52
        while m * near_tickets(epsilon, far) + (size - m) * far > 2**52:
            far //= 2
        near = near_tickets(epsilon, far)
        total = m * near + (size - m) * far
        tickets = {"near": str(near), "far": str(far)}
        spec = {"bipartite": 1, "mechanism": "brr", "domain": domain, "epsilon": epsilon, "m": m, "edges": "clamped"}
        group = {"spec": {**spec, "tickets": tickets}, "vectors": []}
        for x in sorted({0, 1, size // 3, size // 2, size - 1} & set(range(size))):
            edges = (0, near - 1, near, m * near - 1, m * near, total - 1)
            for ticket in (*edges, rng.randrange(total), rng.randrange(total)):
                word = -(-ticket * 2**64 // total)
                while (word * total) % 2**64 < 2**64 % total:
                    word += 1
                # Zero is redrawn in every lottery whose total does not divide 2^64.
                words = [0, word] if ticket % 2 and 2**64 % total else [word]
                report, used = draw(x, size, m, near, far, words)
                assert used == len(words)
                vector = {"value": shown[x], "words": [str(each) for each in words], "report": shown[report]}
                group["vectors"].append(vector)
        vectors.append(group)
    text = "[\n" + ",\n".join(json.dumps(each) for each in vectors) + "\n]\n"
    Path(__file__).with_name("circles.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
