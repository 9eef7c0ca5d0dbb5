"""Writes corners.json, in the form of drawn.json: vectors that tell near misses of docs/draw.md apart.

Each was added because a client with one rule wrong gave every report of the older files: rounding half down, comparing
with ≤ in place of <, computing an index or an end in another order, a limit missed by one. By the page alone, as the
others. Run it only to add vectors.
"""

import hashlib
import json
import random
from itertools import count, pairwise
from pathlib import Path

from draw_by_the_page import WIDE, Words, numbers, size_of, value_of, word_for
from make_drawn_vectors import canonical, chances, near_and_far, spec_of, vector


def index_of(domain, value):
    """§5.2, `nearest`."""
    (low, high), last = map(float, domain["interval"]), domain["points"] - 1
    return min(int((value - low) * last / (high - low) + 0.5), last)


def step_first(domain, value):
    """The wrong order: divides by the step."""
    (low, high), last = map(float, domain["interval"]), domain["points"] - 1
    return min(int((value - low) / ((high - low) / last) + 0.5), last)


def truthful(domain, values):
    """GRR where the ticket is that of the true value: the report tells its index."""
    tickets = near_and_far("1", 1, size_of(domain))
    near, far = numbers(tickets)
    total = near + (size_of(domain) - 1) * far
    vectors = [
        vector(value, [word_for(near - 1, total)], report=value_of(domain, index_of(domain, value))) for value in values
    ]
    return spec_of(2, "grr", domain, "1", tickets=tickets), vectors


def intervals():
    """Values half-way between nodes, just below that, and where the order of the operations matters."""
    yield truthful({"interval": [0, 4], "points": 5, "rounding": "nearest"}, [0.5, 1.5, 2.5, 3.5, 0.49999999999999994])
    domain = {"interval": [0.1, 0.8], "points": 8, "rounding": "nearest"}
    nodes = [value_of(domain, i) for i in range(8)]
    told = [
        value for value in map(sum, pairwise(nodes)) if index_of(domain, value / 2) != step_first(domain, value / 2)
    ]
    yield truthful(domain, [value / 2 for value in told])
    # The last node is the end itself, which low + (high − low) misses here.
    low, high = next((tenths / 10, 0.9) for tenths in count(-9) if tenths / 10 + (0.9 - tenths / 10) != 0.9)
    yield truthful({"interval": [low, high], "points": 4, "rounding": "nearest"}, [high])


def tries():
    """A far output whose ticket is the last that counts, and the first that does not (§9)."""
    domain = {"items": {"ranks": [[abs(x - y) for y in range(5)] for x in range(5)]}}
    tickets = near_and_far("1", 5, 5)
    near, far = numbers(tickets)
    words = [word_for(4 * near + far, 5 * near), word_for(3 * near + far - 1, 5 * near)]
    found = [vector(0, words[1:], report=3), vector(0, words, report=3)]
    yield spec_of(1, "brr", domain, "1", m=2, edges="clamped", draw="tries", tickets=tickets), found


def categories(rng):
    """A bit at its chance; 2^52 seeds, and digits that just suffice; 4096 values; rounds cut to 256 words."""
    odds = chances("1", symmetric=True)
    sue = spec_of(3, "sue", {"integers": [0, 9]}, "1", chances=odds)
    yield sue, [wide(sue, 3, rng, int(odds["one"]) - less) for less in (0, 1)]
    olh = spec_of(3, "olh", {"integers": [0, 2**14 - 1]}, "2.7", buckets=16, tickets=near_and_far("2.7", 1, 16))
    yield olh, [wide(olh, x, rng) for x in (0, 2**13, 2**14 - 1)]
    for size, epsilon, k in ((4096, "4", 74), (16000, "0.5", 6041)):
        tickets = near_and_far(epsilon, k, size)
        subset = spec_of(3, "subset-selection", {"integers": [0, size - 1]}, epsilon, k=k, tickets=tickets)
        yield subset, [wide(subset, size - 1, rng)]


def wide(spec, x, rng, *given):
    words = Words(rng, *given)
    more = WIDE[spec["mechanism"]](spec, size_of(spec["domain"]), x, words)
    return vector(value_of(spec["domain"], x), words.taken, **more)


def text():
    rng = random.Random(20261116)
    groups = []
    for spec, vectors in (*intervals(), *tries(), *categories(rng)):
        written = canonical(spec)
        groups.append({"spec": written, "sha256": hashlib.sha256(written.encode()).hexdigest(), "vectors": vectors})
    return "[\n" + ",\n".join(json.dumps(each) for each in groups) + "\n]\n"


def main():
    Path(__file__).with_name("corners.json").write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    main()
