"""Writes records.json: (specs, sample, values, words) → the reports of one person, from the text of the design.

A line by GRR and flat categories by Hadamard Response. Where attributes are sampled, the first word draws one of them;
then each attribute takes its words, in order, whether it was drawn or not. Run it only to add vectors.
"""

import json
import random
from decimal import Decimal, getcontext
from pathlib import Path

getcontext().prec = 80


def ticket(total, words):
    """The first ticket that the words draw; a word that would lean is left out."""
    while True:
        word = words.pop(0)
        if (word * total) % 2**64 >= 2**64 % total:
            return word * total // 2**64


def tickets(epsilon, near, outputs):
    far = 2**52
    while near * int(Decimal(far) * Decimal(epsilon).exp()) + (outputs - near) * far > 2**52:
        far //= 2
    return int(Decimal(far) * Decimal(epsilon).exp()), far


def grr(size, epsilon, value, words):
    near, far = tickets(epsilon, 1, size)
    drawn = ticket(near + (size - 1) * far, words)
    return value if drawn < near else [y for y in range(size) if y != value][(drawn - near) // far]


def hadamard(length, epsilon, value, words):
    """One block: the numbers whose bits meet the row's an even number of times are near."""
    near, far = tickets(epsilon, length // 2, length)
    row = value + 1
    lowest = row & -row

    def without(number):
        return (number // (2 * lowest)) * lowest + number % lowest

    inside, outside = (
        sorted((y for y in range(length) if (y & row).bit_count() % 2 == odd), key=without) for odd in (0, 1)
    )
    drawn = ticket(length // 2 * (near + far), words)
    total = length // 2 * near
    return inside[drawn // near] if drawn < total else outside[(drawn - total) // far]


def main():
    rng = random.Random(20261116)
    size, categories, length = 5, 6, 8
    vectors = []
    for sample, epsilons in ((None, ("1", "0.5")), (1, ("0.5", "2"))):
        grr_tickets = tickets(epsilons[0], 1, size)
        hadamard_tickets = tickets(epsilons[1], length // 2, length)
        specs = {
            "age": {
                "bipartite": 2,
                "mechanism": "grr",
                "domain": {"integers": [1, size]},
                "epsilon": epsilons[0],
                "tickets": dict(zip(("near", "far"), map(str, grr_tickets), strict=True)),
            },
            "town": {
                "bipartite": 3,
                "mechanism": "hadamard-response",
                "domain": {"integers": [1, categories]},
                "epsilon": epsilons[1],
                "blocks": 1,
                "block-size": length,
                "tickets": dict(zip(("near", "far"), map(str, hadamard_tickets), strict=True)),
            },
        }
        for _ in range(20):
            words = [rng.getrandbits(64) for _ in range(6)]
            left = list(words)
            values = {"age": rng.randint(1, size), "town": rng.randint(1, categories)}
            drawn = ["age", "town"] if sample is None else [("age", "town")[ticket(2, left)]]
            reports = {
                "age": 1 + grr(size, epsilons[0], values["age"] - 1, left),
                "town": hadamard(length, epsilons[1], values["town"] - 1, left),
            }
            vectors.append(
                {
                    "specs": specs,
                    "sample": sample,
                    "values": values,
                    "words": [str(word) for word in words[: len(words) - len(left)]],
                    "reports": {name: reports[name] for name in drawn},
                }
            )
    text = json.dumps(vectors, indent=1, ensure_ascii=False)
    Path(__file__).with_name("records.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
