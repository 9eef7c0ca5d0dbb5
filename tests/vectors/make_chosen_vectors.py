"""Writes chosen.json: (spec, value, words) → report of lotteries over anchors and of means, not by the package.

From the text alone: a ticket u = ⌊w·T/2^64⌋, drawn again where the low half of w·T is below 2^64 mod T; T is the number
of tickets in all sets. Go through the sets, taking off what each holds, near + (K − 1)·far, until u is below it. Then
u < near is the nearest anchor (the lower index of equals), any other the anchor number (u − near) div far, ascending,
the nearest left out. Means: the same with bins in place of one set; a value's bin is the last that begins at or before.

Run it only to add vectors; the file is read by every implementation, the browser's too.
"""

import json
import random
from decimal import Decimal, getcontext
from pathlib import Path

getcontext().prec = 80


def distance(domain, x, y):
    if "items" in domain:
        return domain["items"]["ranks"][x][y]
    if "points" in domain and isinstance(domain["points"], dict):
        a, b = domain["points"]["vectors"][x], domain["points"]["vectors"][y]
        return sum((p - q) ** 2 for p, q in zip(a, b, strict=True))
    return abs(x - y)


def value_of(domain, at):
    if "integers" in domain:
        return domain["integers"][0] + at
    if "interval" in domain:
        low, high = domain["interval"]
        return low + (high - low) * at / (domain["points"] - 1)
    return at


def sets_of(spec, x):
    """(near, far, reports, which is x's own) of every set."""
    if spec["mechanism"] == "anchored-means":
        own = max(at for at, first in enumerate(spec["bins"]) if first <= x)
        yield int(spec["tickets"]["near"]), int(spec["tickets"]["far"]), spec["outputs"], own
        return
    for each in spec["sets"]:
        anchors = each["anchors"]
        own = min(range(len(anchors)), key=lambda at: (distance(spec["domain"], x, anchors[at]), at))
        reports = [value_of(spec["domain"], at) for at in anchors]
        yield int(each["tickets"]["near"]), int(each["tickets"]["far"]), reports, own


def draw(spec, x, words):
    """The report and how many words it took; None when the words run out."""
    sets = list(sets_of(spec, x))
    total = sum(near + (len(reports) - 1) * far for near, far, reports, _ in sets)
    for used, word in enumerate(words, start=1):
        if (word * total) % 2**64 < 2**64 % total:
            continue
        ticket = word * total // 2**64
        for near, far, reports, own in sets:
            held = near + (len(reports) - 1) * far
            if ticket >= held:
                ticket -= held
                continue
            if ticket < near:
                return reports[own], used
            return [each for at, each in enumerate(reports) if at != own][(ticket - near) // far], used
    return None


def tickets(epsilon, anchors, share):
    far = int(Decimal(share) * 2**52 / (Decimal(epsilon).exp() + anchors - 1)) if anchors > 1 else int(share * 2**50)
    near = int(Decimal(far) * Decimal(epsilon).exp()) if anchors > 1 else far
    return {"near": str(near), "far": str(far)}


def lottery(domain, epsilon, sets):
    held = [{"anchors": each, "tickets": tickets(epsilon, len(each), share)} for each, share in sets]
    return {"bipartite": 5, "mechanism": "minimax", "domain": domain, "epsilon": epsilon, "sets": held}


def means(domain, epsilon, bins, outputs):
    far = 2**52
    while int(Decimal(far) * Decimal(epsilon).exp()) + (len(bins) - 1) * far > 2**52:
        far //= 2
    near = int(Decimal(far) * Decimal(epsilon).exp())
    head = {"bipartite": 5, "mechanism": "anchored-means", "domain": domain, "epsilon": epsilon}
    return head | {"bins": bins, "outputs": outputs, "tickets": {"near": str(near), "far": str(far)}}


def main():
    rng = random.Random(20261116)
    ages = {"integers": [18, 90]}
    share = {"interval": [-1, 1], "points": 5, "rounding": "nearest"}
    grid = {"points": {"metric": "euclidean", "vectors": [[4096 * a, 4096 * b] for a in range(4) for b in range(4)]}}
    grid["points"]["bits"] = 12
    ranks = {"items": {"ranks": [[abs(x - y) // 2 for y in range(8)] for x in range(8)]}}
    specs = [
        (lottery(ages, "1", [([0, 72], 0.25), ([17, 36, 55], 0.5), ([36], 0.125), ([10, 62], 0.0625)]), 73),
        (lottery(share, "3", [([0, 2, 4], 0.4), ([1, 3], 0.3), ([0, 1, 2, 3, 4], 0.2)]), 5),
        (lottery(grid, "2", [([5, 10], 0.5), ([0, 3, 12, 15], 0.25), ([6, 9], 0.125)]), 16),
        (lottery(ranks, "0.5", [([0, 1, 6], 0.75), ([0, 3, 7], 0.125)]), 8),
        (means({"integers": [1, 5]}, "1", [0, 2, 3], [2.25, 3, 3.75]), 5),
        (means(share, "2", [0, 3], [-0.5, 0.625]), 5),
    ]
    groups = []
    for spec, size in specs:
        vectors = []
        for x in [at % size for at in range(max(size, 40))]:
            words = [rng.getrandbits(64) for _ in range(2)]
            # Often a word that is redrawn comes first: the low half of 0·T is 0.
            words = [0, *words] if rng.random() < 0.2 else words
            report, used = draw(spec, x, words)
            vectors.append(
                {"value": value_of(spec["domain"], x), "words": list(map(str, words[:used])), "report": report}
            )
        groups.append({"spec": spec, "vectors": vectors})
    text = "[\n" + ",\n".join(json.dumps(each) for each in groups) + "\n]"
    (Path(__file__).parent / "chosen.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
