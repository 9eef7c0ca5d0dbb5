"""Writes line.json: (spec, value, words) → report, computed here from the text of the design, not by the package.

Run it only to add vectors; the file is read by every implementation, the browser's too.
"""

import json
import random
from decimal import Decimal, getcontext
from pathlib import Path

getcontext().prec = 80


def near_tickets(epsilon: str, far: int) -> int:
    return int(Decimal(far) * Decimal(epsilon).exp())


def start(x, size, m, edges):
    return x if edges == "padded" else max(0, min(x - m // 2, size - m))


def draw(x, size, outputs, m, edges, near, far, words):
    """The report and how many words it took."""
    total = m * near + (outputs - m) * far
    for used, word in enumerate(words, start=1):
        if (word * total) % 2**64 < 2**64 % total:
            continue
        ticket = word * total // 2**64
        first = start(x, size, m, edges)
        if ticket < m * near:
            return first + ticket // near, used
        rest = [y for y in range(outputs) if not first <= y < first + m] if outputs < 5000 else None
        position = (ticket - m * near) // far
        return (rest[position] if rest else position + m * (position >= first)), used
    raise AssertionError


def main():
    rng = random.Random(20260101)
    vectors = []
    cases = [
        ({"integers": [18, 90]}, 73, "1", 27, "clamped"),
        ({"integers": [18, 90]}, 73, "1", 26, "clamped"),
        ({"integers": [18, 90]}, 73, "1", 27, "padded"),
        ({"integers": [-5, 5]}, 11, "0.25", 4, "clamped"),
        ({"integers": [0, 1]}, 2, "3", 1, "clamped"),
        ({"integers": [1, 100000]}, 100000, "2", 26893, "clamped"),
        ({"integers": [-1073741824, 1073741823]}, 2**31, "0.5", 941023117, "clamped"),
        ({"interval": [0, 200000], "points": 401, "rounding": "nearest"}, 401, "0.5", 175, "padded"),
        ({"interval": [-1, 1], "points": 21, "rounding": "nearest"}, 21, "5", 1, "clamped"),
        ({"interval": [-1, 1], "points": 21, "rounding": "random"}, 21, "2", 5, "clamped"),
    ]
    for domain, size, epsilon, m, edges in cases:
        outputs = size + m - 1 if edges == "padded" else size
        far = 2**52
        while m * near_tickets(epsilon, far) + (outputs - m) * far > 2**52:
            far //= 2
        near = near_tickets(epsilon, far)
        total = m * near + (outputs - m) * far
        spec = {
            "bipartite": 1,
            "mechanism": "brr",
            "domain": domain,
            "epsilon": epsilon,
            "m": m,
            "edges": edges,
            "tickets": {"near": str(near), "far": str(far)},
        }
        random_rounding = domain.get("rounding") == "random"
        for x in (0, 1, size // 3, size // 2, size - 1):
            for ticket in (
                0,
                near - 1,
                near,
                m * near - 1,
                m * near,
                total - 1,
                rng.randrange(total),
                rng.randrange(total),
            ):
                word = -(-ticket * 2**64 // total)
                while (word * total) % 2**64 < 2**64 % total:
                    word += 1
                # Zero is redrawn in every lottery whose total does not divide 2^64.
                words = [0, word] if ticket % 2 and 2**64 % total else [word]
                report, used = draw(x, size, outputs, m, edges, near, far, words)
                assert used == len(words)
                coins = []
                if "integers" in domain:
                    low = domain["integers"][0]
                    value, shown = low + x, low + report - (m // 2 if edges == "padded" else 0)
                else:
                    low, high = domain["interval"]
                    node = report - (m // 2 if edges == "padded" else 0)
                    shown = float(high) if node == size - 1 else low + node * (high - low) / (size - 1)
                    value = float(high) if x == size - 1 else low + x * (high - low) / (size - 1)
                    if random_rounding:
                        # A value a quarter of a step above x (x below the last): up when the coin is below 1/4.
                        t = x + 0.25 if x < size - 1 else x
                        value = low + t * (high - low) / (size - 1)
                        exact = (value - low) * (size - 1) / (high - low)
                        fraction = exact - int(exact)
                        coin = rng.randrange(2**64)
                        index = min(int(exact) + (coin >> 11 < int(fraction * 2**53)), size - 1)
                        coins = [coin]
                        report, used = draw(index, size, outputs, m, edges, near, far, words)
                        shown = float(high) if report == size - 1 else low + report * (high - low) / (size - 1)
                vectors.append(
                    {"spec": spec, "value": value, "words": [str(w) for w in coins + words], "report": shown}
                )
    text = "[\n" + ",\n".join(json.dumps(each) for each in vectors) + "\n]\n"
    Path(__file__).with_name("line.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
