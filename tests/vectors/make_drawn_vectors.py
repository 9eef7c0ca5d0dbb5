"""Writes drawn.json: (spec, value, words) → report of the mechanisms that had no vectors, by docs/draw.md alone.

Tickets at the ends of outputs are tried on purpose. Specs are those published in tests/golden, or made here; the number
beside a spec is how many vectors each value gets where a report takes many words. Run it only to add vectors; the file
is read by every implementation, the browser's too.
"""

import hashlib
import json
import random
from decimal import ROUND_CEILING, Decimal, getcontext
from itertools import accumulate, chain
from pathlib import Path

from draw_by_the_page import (
    MOST,
    ROWS,
    WIDE,
    WORD,
    Words,
    first_coins,
    is_random,
    numbers,
    redraws,
    size_of,
    value_of,
    word_for,
)

getcontext().prec = 80
GOLDEN = Path(__file__).parents[1] / "golden"


# Specs: canonical form (§4), and tickets (§3).


def canonical(value):
    if isinstance(value, dict):
        return "{" + ",".join(f"{canonical(key)}:{canonical(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, float) and value.is_integer() and abs(value) < 10**21:
        return str(int(value))
    # Python writes 1e-07 where ECMAScript writes 1e-7.
    return json.dumps(value, ensure_ascii=False).replace("e-0", "e-") if isinstance(value, float) else shown(value)


def shown(value):
    return json.dumps(value, ensure_ascii=False)


def growth(epsilon):
    return Decimal(epsilon).exp()


def near_and_far(epsilon, near, outputs):
    """The finest tickets of ``near`` likely outputs among ``outputs``."""
    far = MOST
    while near * int(far * growth(epsilon)) + (outputs - near) * far > MOST:
        far //= 2
    return {"near": str(int(far * growth(epsilon))), "far": str(far)}


def spec_of(version, mechanism, domain, epsilon, **parts):
    named = {name.replace("_", "-"): part for name, part in parts.items()}
    return {"bipartite": version, "mechanism": mechanism, "domain": domain, "epsilon": epsilon, **named}


def golden(start):
    """A published spec."""
    (path,) = GOLDEN.glob(f"v*/{start}-*.json")
    return json.loads(path.read_text(encoding="utf-8"))


# Vectors.


def vector(value, words, **found):
    return {"value": value, "words": [f"{word:016x}" for word in words], "used": len(words), **found}


def chosen_values(domain, rng):
    """Values to try, as (value, words taken to round it, index)."""
    size = size_of(domain)
    for x in sorted({0, 1, size // 2, size - 1}):
        yield value_of(domain, x), [rng.getrandbits(64)] if is_random(domain) else [], x
    if "interval" in domain:
        (low, high), last = map(float, domain["interval"]), domain["points"] - 1
        for _ in range(2):
            value = rng.uniform(low, high)
            node = (value - low) * last / (high - low)
            if not is_random(domain):
                yield value, [], min(int(node + 0.5), last)
                continue
            share = int((node - int(node)) * 2.0**53)
            for top in (share, max(share - 1, 0)):
                yield value, [top << 11 | rng.getrandbits(11)], min(int(node) + (top < share), last)


def of_tickets(spec, rng):
    """Vectors of a mechanism that draws one ticket: at ends of pairs, and anywhere."""
    for value, coins_taken, x in chosen_values(spec["domain"], rng):
        row = ROWS[spec["mechanism"]](spec, x)
        ends = list(accumulate(held for _, held in row))
        total = ends[-1]
        tickets = {0, total - 1, rng.randrange(total)}
        for end in rng.sample(ends[:-1], min(2, len(ends) - 1)):
            tickets |= {end - 1, end}
        for ticket in sorted(tickets):
            # Zero is redrawn in every lottery whose total does not divide 2^64.
            drawn = [word_for(ticket, total)]
            drawn = [0, *drawn] if ticket % 3 == 1 and redraws(0, total) else drawn
            report = next(report for (report, _), end in zip(row, ends, strict=True) if end > ticket)
            yield vector(value, coins_taken + drawn, report=report)


def of_words(spec, rng, count):
    """Vectors of a mechanism that draws many words, ``count`` of each value tried."""
    tried = list(chosen_values(spec["domain"], rng))
    if "chances" in spec and size_of(spec["domain"]) > 2**15:
        tried = tried[2:3]  # a report of thousands of words
    for value, coins_taken, x in tried:
        for again in range(count):
            # The first word is redrawn where it draws a ticket; one round of a set is wasted on zeros.
            given = [0] if again == 0 and spec["mechanism"] in {"olh", "subset-selection"} else []
            if again == 1 and spec["mechanism"] == "subset-selection":
                size = size_of(spec["domain"])
                length = first_coins(size, spec["k"])[2]
                given = [rng.getrandbits(64) for _ in range(1 + 6 * -(-size // 64))] + [0] * length
            words = Words(rng, *coins_taken, *given)
            words.take(len(coins_taken))
            more = WIDE[spec["mechanism"]](spec, size_of(spec["domain"]), x, words)
            yield vector(value, words.taken, **more)


def vectors_of(spec, rng, count):
    return list(of_tickets(spec, rng) if spec["mechanism"] in ROWS else of_words(spec, rng, count))


# The specs.


def above(exact):
    return int(exact.to_integral_value(ROUND_CEILING))


def chances(epsilon, *, symmetric):
    zero = above(WORD / (1 + growth(Decimal(epsilon) / (2 if symmetric else 1))))
    return {"one": str(WORD - zero if symmetric else WORD // 2), "zero": str(zero)}


def falling(epsilon, size, padding, rate):
    """Tickets of shifts 0, 1, …, the last for the whole tail; ``rate`` says how many ε a shift is below zero."""
    slower = Decimal("0.999") * Decimal(epsilon)
    counts = [int(2**48 * (-slower * rate(shift)).exp()) for shift in range(size - 1 + padding)]
    tail = above(sum(counts[padding:]) / (growth(epsilon) - 1))
    return [str(count) for count in [*counts, tail]]


def two_ends(epsilon, size, total):
    least = int(Decimal(total) / (1 + growth(epsilon)))
    return {"least": str(least), "step": str((int(least * growth(epsilon)) - least) // (size - 1))}


def per_distance(epsilon, vectors, bits):
    """Rows on points of which no two are nearer than one unit, with the ratio of one unit."""
    size, far = len(vectors), 2**49
    near = int(far * growth(epsilon) * (1 - Decimal(2) ** -30))
    rows = [[str(near if x == y else far) for y in range(size)] for x in range(size)]
    domain = {"points": {"metric": "euclidean", "vectors": vectors, "bits": bits}}
    return spec_of(2, "planar-laplace", domain, epsilon, outputs=list(range(size)), rows=rows)


RATES = {"interval": [-1, 1], "points": 5, "rounding": "nearest"}
BY_COIN = {**RATES, "rounding": "random"}
TINY = {"interval": [1e-7, 0.5], "points": 7, "rounding": "random"}
# Four values of equal rank each, and letters that a canonical form must leave or escape.
RANKS = [[0 if x // 4 == y // 4 else 1 for y in range(8)] for x in range(8)]
WORDS = {"items": {"ranks": RANKS, "labels": ["é", "日本", "a\nb", 'q"\\', "\x1f", "𝄞", "€/ß", "\x7f"]}}
AGES = {"integers": [18, 90]}


def published():
    names = [
        *("grr", "grr_hours", "grr_items", "grr_pairs", "rr"),
        *("anchored", "anchored_hours", "anchored_one", "anchored_pairs", "anchored_places"),
        *("constant", "constant_items", "geometric", "optimal", "lsrr"),
        *("exponential", "exponential_months", "exponential_pairs", "exponential_published"),
        *("two_level", "two_level_best", "within_region", "region_weighted"),
        *("olh_pairs", "subset_selection_pairs"),
    ]
    for name in names:
        yield golden(name), 2


def of_one_ticket():
    yield spec_of(2, "grr", WORDS, "0.5", tickets=near_and_far("0.5", 1, 8)), 0
    yield spec_of(2, "grr", TINY, "2.25", tickets=near_and_far("2.25", 1, 7)), 0
    yield spec_of(2, "anchored", WORDS, "1", anchors=[1, 2, 5], tickets=near_and_far("1", 1, 3)), 0
    yield spec_of(2, "anchored", BY_COIN, "0.1", anchors=[0, 2, 4], tickets=near_and_far("0.1", 1, 3)), 0
    around = {"cyclic": {"size": 10, "start": -3}}
    yield spec_of(2, "anchored", around, "3", anchors=[0, 2, 5], tickets=near_and_far("3", 1, 3)), 0
    yield {key: part for key, part in spec_of(2, "constant", BY_COIN, "", answer=3).items() if key != "epsilon"}, 0


def of_numbers():
    noise = falling("2", 5, 8, lambda shift: Decimal(shift) / 4)
    yield spec_of(2, "laplace", RATES, "2", padding=8, noise=noise), 0
    noise = falling("1.5", 7, 0, lambda shift: Decimal(shift) / 6)
    yield spec_of(2, "laplace", TINY, "1.5", padding=0, noise=noise), 0
    noise = falling("2", 5, 4, lambda shift: (shift + 2) // 4)
    yield spec_of(2, "staircase", BY_COIN, "2", padding=4, noise=noise, gamma=0.5), 0
    for domain, epsilon in ((RATES, "1"), (TINY, "0.4")):
        size = domain["points"]
        yield spec_of(2, "duchi", domain, epsilon, ends=two_ends(epsilon, size, MOST)), 0
        yield spec_of(2, "hybrid", domain, epsilon, parts={"ends": two_ends(epsilon, size, MOST)}), 0
    for domain, epsilon, m, stride in ((RATES, "1", 7, 4), (BY_COIN, "3", 3, 5), (TINY, "0.75", 11, 2)):
        outputs = stride * (domain["points"] - 1) + m
        tickets = near_and_far(epsilon, m, outputs)
        yield spec_of(2, "piecewise", domain, epsilon, m=m, stride=stride, tickets=tickets), 0
        near, far = (int(count) // 4 for count in numbers(tickets))
        window = {"m": m, "stride": stride, "near": str(near), "far": str(far)}
        ends = two_ends(epsilon, domain["points"], MOST // 3)
        yield spec_of(2, "hybrid", domain, epsilon, parts={"ends": ends, "window": window}), 0
    # Both ends of Duchi are also the two reports of the window.
    two = {"interval": [-1, 1], "points": 2, "rounding": "nearest"}
    near, far = int(2**49 * growth("1")), 2**49
    ends = {"least": str(far), "step": str(near - far)}
    window = {"m": 1, "stride": 1, "near": str(near), "far": str(far)}
    yield spec_of(2, "hybrid", two, "1", parts={"ends": ends, "window": window}), 0
    yield per_distance("0.5", [[0, 0], [3, 4], [10, -2], [-6, 1]], 0), 0


def of_categories():
    pairs = {"product": {"parts": [AGES, RATES], "weights": [1, 0.5], "bits": 20, "losses": [1048576, 262144]}}
    for domain in ({"integers": [0, 9]}, WORDS, BY_COIN):
        yield spec_of(3, "oue", domain, "1", chances=chances("1", symmetric=False)), 1
    yield spec_of(3, "oue", {"integers": [1, 65600]}, "2", chances=chances("2", symmetric=False)), 1
    yield spec_of(3, "sue", AGES, "0.5", chances=chances("0.5", symmetric=True)), 1
    yield spec_of(3, "sue", {"integers": [1, 2100]}, "3", chances=chances("3", symmetric=True)), 1
    for domain, low, high in ((AGES, 2**62, 3 * 2**62), (WORDS, WORD // 10, WORD // 2)):
        often = {"one": str(high), "zero": str(low)}
        permanent = chances("4", symmetric=True)
        yield spec_of(3, "rappor", domain, "4", permanent=permanent, instantaneous=often), 1
    for domain, epsilon, k in (
        (AGES, "1", 20),
        (WORDS, "0.5", 3),
        (WORDS, "2", 7),
        (BY_COIN, "1", 1),
        (pairs, "1", 98),
    ):
        tickets = near_and_far(epsilon, k, size_of(domain))
        yield spec_of(3, "subset-selection", domain, epsilon, k=k, tickets=tickets), 3
    wide = {"integers": [1, 4100]}
    yield spec_of(3, "subset-selection", wide, "4", k=74, tickets=near_and_far("4", 74, 4100)), 1
    many = {"integers": [0, 2999999]}
    for domain, epsilon, g in ((AGES, "1", 4), (WORDS, "0.5", 3), (many, "1.6", 6), (many, "2", 8), (BY_COIN, "2", 49)):
        yield spec_of(3, "olh", domain, epsilon, buckets=g, tickets=near_and_far(epsilon, 1, g)), 3
    for domain, epsilon, blocks in ((AGES, "1", 1), (AGES, "3", 4), (WORDS, "2", 8), (BY_COIN, "1", 2)):
        length = next(2**power for power in range(1, 20) if (2**power - 1) * blocks >= size_of(domain))
        tickets = near_and_far(epsilon, length // 2, blocks * length)
        parts = {"blocks": blocks, "block_size": length, "tickets": tickets}
        yield spec_of(3, "hadamard-response", domain, epsilon, **parts), 0


def text():
    rng = random.Random(20261117)
    groups = []
    for spec, count in chain(published(), of_one_ticket(), of_numbers(), of_categories()):
        written = canonical(spec)
        sha256 = hashlib.sha256(written.encode()).hexdigest()
        groups.append({"spec": written, "sha256": sha256, "vectors": vectors_of(spec, rng, count)})
    return "[\n" + ",\n".join(json.dumps(each) for each in groups) + "\n]\n"


def main():
    Path(__file__).with_name("drawn.json").write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    main()
