"""Writes sets.json: (spec, value, words) → report on points and items, from the text of the design, not by the package.

Run it only to add vectors; the file is read by every implementation, the browser's too.
"""

import json
import math
import random
from decimal import Decimal, getcontext
from pathlib import Path

getcontext().prec = 80


def distance(domain, x, y):
    if "items" in domain:
        return domain["items"]["ranks"][x][y]
    a, b = domain["points"]["vectors"][x], domain["points"]["vectors"][y]
    if domain["points"]["metric"] == "manhattan":
        return sum(abs(p - q) for p, q in zip(a, b, strict=True))
    return sum((p - q) ** 2 for p, q in zip(a, b, strict=True))


def near_set(domain, size, x, m):
    return sorted(sorted(range(size), key=lambda y: (distance(domain, x, y), y != x, y))[:m])


def draw(near, size, how, near_tickets, far_tickets, words):
    """The report and how many words it took; None when the words run out."""
    m = len(near)
    tickets = size * near_tickets if how == "tries" else m * near_tickets + (size - m) * far_tickets
    for used, word in enumerate(words, start=1):
        if (word * tickets) % 2**64 < 2**64 % tickets:
            continue
        u = word * tickets // 2**64
        if how == "list":
            if u < m * near_tickets:
                return near[u // near_tickets], used
            return [y for y in range(size) if y not in near][(u - m * near_tickets) // far_tickets], used
        y, t = divmod(u, near_tickets)
        if y in near or t < far_tickets:
            return y, used
    return None


def unit(latitude, longitude):
    a, b = math.radians(latitude), math.radians(longitude)
    return [round(2**25 * each) for each in (math.cos(a) * math.cos(b), math.cos(a) * math.sin(b), math.sin(a))]


def main():
    rng = random.Random(20260102)
    places = [unit(rng.uniform(-60, 70), rng.uniform(-180, 180)) for _ in range(40)]
    grid = [[4096 * a, 4096 * b] for a in range(5) for b in range(5)]
    ranks = [[abs(x - y) // 2 for y in range(12)] for x in range(12)]
    names = [f"place {at}" for at in range(40)]
    domains = [
        ({"points": {"metric": "haversine", "vectors": places, "labels": names}}, 40, "1", 14),
        ({"points": {"metric": "euclidean", "vectors": grid, "bits": 12}}, 25, "0.5", 8),
        ({"points": {"metric": "manhattan", "vectors": grid, "bits": 12}}, 25, "2", 5),
        ({"items": {"ranks": ranks}}, 12, "1", 1),
        ({"items": {"ranks": ranks}}, 12, "8", 2),
    ]
    vectors = []
    for domain, size, epsilon, m in domains:
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
                nearest = near_set(domain, size, x, m)
                for _ in range(4):
                    words = [0] + [rng.randrange(2**64) for _ in range(200)]
                    report, used = draw(nearest, size, how, near, far, words)
                    label = (
                        (lambda y: names[y]) if "points" in domain and "labels" in domain["points"] else (lambda y: y)
                    )
                    group.append(
                        {"value": label(x), "words": [str(word) for word in words[:used]], "report": label(report)}
                    )
            vectors.append({"spec": spec, "vectors": group})
    text = "[\n" + ",\n".join(json.dumps(each) for each in vectors) + "\n]\n"
    Path(__file__).with_name("sets.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
