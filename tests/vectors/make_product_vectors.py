"""Writes products.json: (spec, pair, words) → report on products, from the text of the design, not by the package.

Run it only to add vectors; the file is read by every implementation.
"""

import itertools
import json
import random
from decimal import Decimal, getcontext
from pathlib import Path

from make_set_vectors import draw

getcontext().prec = 80


def values_of(part):
    if "integers" in part:
        low, high = part["integers"]
        return list(range(low, high + 1))
    if "interval" in part:
        (low, high), points = part["interval"], part["points"]
        return [high if at == points - 1 else low + at * (high - low) / (points - 1) for at in range(points)]
    described = part.get("items") or part["points"]
    return described.get("labels") or list(range(len(described.get("ranks") or described["vectors"])))


def distance(domain, x, y):
    """The loss of two values, each a tuple of indices, in whole units."""
    parts = zip(domain["product"]["losses"], x, y, strict=True)
    return sum(abs(i - k) * loss if isinstance(loss, int) else loss[i][k] for loss, i, k in parts)


def near_set(domain, cells, x, m):
    order = sorted(range(len(cells)), key=lambda y: (distance(domain, cells[x], cells[y]), y != x, y))
    return sorted(order[:m])


def main():
    rng = random.Random(20260103)
    genres = {"items": {"ranks": [[0, 1, 2], [1, 0, 2], [2, 1, 0]], "labels": ["jazz", "blues", "metal"]}}
    shops = {"points": {"metric": "manhattan", "vectors": [[0, 0], [4, 4], [8, 0], [0, 12]], "bits": 2}}
    step, table = 3 * 2**24, [[0, 2**26, 5 * 2**26], [2**26, 0, 4 * 2**26], [5 * 2**26, 4 * 2**26, 0]]
    apart = [[0, 8, 8, 12], [8, 0, 8, 12], [8, 8, 0, 20], [12, 12, 20, 0]]
    domains = [
        ([{"integers": [18, 24]}, {"interval": [0, 2], "points": 5, "rounding": "nearest"}], [step, 2**26], "1", 11),
        ([{"integers": [0, 5]}, genres], [step, table], "0.5", 6),
        ([genres, shops], [table, apart], "2", 4),
        ([{"integers": [0, 2]}, genres, {"integers": [-1, 1]}], [2**20, table, 2**22], "1", 1),
        ([{"integers": [0, 3]}, {"integers": [0, 3]}], [1, 1], "6", 1),
    ]
    vectors = []
    for parts, losses, epsilon, m in domains:
        domain = {"product": {"parts": parts, "weights": [1] * len(parts), "bits": 26, "losses": losses}}
        each = [values_of(part) for part in parts]
        cells = list(itertools.product(*(range(len(values)) for values in each)))
        named = [[values[at] for values, at in zip(each, cell, strict=True)] for cell in cells]
        size = len(cells)
        far = 2**52
        while size * int(Decimal(far) * Decimal(epsilon).exp()) > 2**52:
            far //= 2
        near = int(Decimal(far) * Decimal(epsilon).exp())
        for how in ("tries", "list"):
            spec = {
                "bipartite": 1,
                "mechanism": "brr",
                "domain": domain,
                "epsilon": epsilon,
                "m": m,
                "edges": "clamped",
                "tickets": {"near": str(near), "far": str(far)},
                "draw": how,
            }
            group = []
            for x in (0, 1, size // 2, size - 1):
                nearest = near_set(domain, cells, x, m)
                for _ in range(4):
                    words = [0] + [rng.randrange(2**64) for _ in range(200)]
                    report, used = draw(nearest, size, how, near, far, words)
                    drawn = [str(word) for word in words[:used]]
                    group.append({"value": named[x], "words": drawn, "report": named[report]})
            vectors.append({"spec": spec, "vectors": group})
    text = "[\n" + ",\n".join(json.dumps(each) for each in vectors) + "\n]\n"
    Path(__file__).with_name("products.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
