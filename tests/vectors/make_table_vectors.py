"""Writes tables.json: (spec, value, words) → report of tables of tickets, from the text of the design, not the package.

A word w becomes the ticket u = ⌊w·W/2^64⌋, and is drawn again where the low half of w·W is below 2^64 mod W. The report
is the first output whose running sum of tickets is above u. Run it only to add vectors.
"""

import json
import random
from itertools import accumulate
from pathlib import Path

GOLDEN = Path(__file__).parents[1] / "golden" / "v2"


def draw(row, words):
    """Which output, and how many words it took."""
    total = sum(row)
    for used, word in enumerate(words, start=1):
        if (word * total) % 2**64 < 2**64 % total:
            continue
        ticket = word * total // 2**64
        return next(y for y, held in enumerate(accumulate(row)) if held > ticket), used
    raise AssertionError


def value_of(domain, x):
    if "integers" in domain:
        return domain["integers"][0] + x
    if "items" in domain:
        return domain["items"]["labels"][x]
    (low, high), last = domain["interval"], domain["points"] - 1
    return high if x == last else low + x * (high - low) / last


def report_of(spec, y):
    outputs = spec["outputs"]
    if isinstance(outputs, dict):
        return outputs["numbers" if "numbers" in outputs else "labels"][y]
    return value_of(spec["domain"], outputs[y])


def main():
    rng = random.Random(20260103)
    groups = []
    for path in sorted(GOLDEN.glob("*.json")):
        spec = json.loads(path.read_text(encoding="utf-8"))
        if not path.name.startswith(("custom", "optimal_unbiased")):
            continue
        vectors = []
        for x, text in enumerate(spec["rows"]):
            row = [int(count) for count in text]
            total = sum(row)
            edges = [edge for held in accumulate(row) for edge in (held - 1, held)][:-1]
            for ticket in [0, *edges, *(rng.randrange(total) for _ in range(3))]:
                word = -(-ticket * 2**64 // total)
                while (word * total) % 2**64 < 2**64 % total:
                    word += 1
                # Zero is redrawn in every lottery whose total does not divide 2^64.
                words = [0, word] if ticket % 2 and 2**64 % total else [word]
                y, used = draw(row, words)
                assert used == len(words)
                report = report_of(spec, y)
                vectors.append({"value": value_of(spec["domain"], x), "words": list(map(str, words)), "report": report})
        groups.append({"spec": path.name, "vectors": vectors})
    text = "[\n" + ",\n".join(json.dumps(each) for each in groups) + "\n]\n"
    Path(__file__).with_name("tables.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
