"""The draw by docs/draw.md alone, for make_drawn_vectors.py: nothing here comes from the package.

A mechanism that draws one ticket is written as a row of (report, tickets) pairs, in the order in which tickets are
dealt. Those that draw many words follow the page step by step, a word of coins at a time.
"""

from fractions import Fraction
from math import isqrt, prod

WORD = 2**64
MOST = 2**52


def numbers(tickets):
    return int(tickets["near"]), int(tickets["far"])


# Domains (§5).


def size_of(domain):
    if "integers" in domain:
        return domain["integers"][1] - domain["integers"][0] + 1
    if "interval" in domain:
        return domain["points"]
    if "product" in domain:
        return prod(map(size_of, domain["product"]["parts"]))
    (kind, held) = next(iter(domain.items()))
    return held["size"] if kind == "cyclic" else len(held.get("ranks") or held["vectors"])


def split(domain, index):
    found = []
    for part in reversed(domain["product"]["parts"]):
        index, at = divmod(index, size_of(part))
        found.append(at)
    return found[::-1]


def value_of(domain, index):
    """The value with this index; on an interval also beyond its ends."""
    if "integers" in domain:
        return domain["integers"][0] + index
    if "interval" in domain:
        (low, high), last = map(float, domain["interval"]), domain["points"] - 1
        return high if index == last else low + index * (high - low) / last
    if "product" in domain:
        return [value_of(part, at) for part, at in zip(domain["product"]["parts"], split(domain, index), strict=True)]
    held = next(iter(domain.values()))
    return held["labels"][index] if "labels" in held else held.get("start", 0) + index


def distance(domain, x, y):
    if "integers" in domain or "interval" in domain:
        return abs(x - y)
    if "cyclic" in domain:
        # In half steps: of two equally far values the one before x is nearer.
        after = (y - x) % domain["cyclic"]["size"]
        return min(2 * after, 2 * (domain["cyclic"]["size"] - after) - 1)
    if "product" in domain:
        parts = zip(domain["product"]["losses"], split(domain, x), split(domain, y), strict=True)
        return sum(loss * abs(i - k) if isinstance(loss, int) else loss[i][k] for loss, i, k in parts)
    if "items" in domain:
        return domain["items"]["ranks"][x][y]
    steps = zip(*(domain["points"]["vectors"][at] for at in (x, y)), strict=True)
    power = 1 if domain["points"]["metric"] == "manhattan" else 2
    return sum(abs(p - q) ** power for p, q in steps)


def is_random(domain):
    return domain.get("rounding") == "random"


# Rows: (report, tickets) pairs in the order of the deal.


def grr_row(reports, own, near, far):
    return [(reports[own], near), *((each, far) for at, each in enumerate(reports) if at != own)]


def own_anchor(domain, x, anchors):
    return min(range(len(anchors)), key=lambda at: (distance(domain, x, anchors[at]), at))


def noise_row(spec, x):
    counts, padding, last = list(map(int, spec["noise"])), spec.get("padding", 0), size_of(spec["domain"]) - 1
    shifts = range(1 - len(counts), len(counts))
    ends = [max(-padding, min(x + shift, last + padding)) for shift in shifts]
    return [(value_of(spec["domain"], at), counts[abs(shift)]) for at, shift in zip(ends, shifts, strict=True)]


def middle(domain):
    low, high = map(float, domain["interval"])
    return low / 2 + high / 2


def ends_row(domain, ends, x):
    (low, high), last = map(float, domain["interval"]), domain["points"] - 1
    least, step = int(ends["least"]), int(ends["step"])
    reach = (high / 2 - low / 2) * float(Fraction(2 * least + step * last, step * last))
    lower, upper = least + step * (last - x), least + step * x
    return [(middle(domain) - reach, lower), (middle(domain) + reach, upper)]


def window_row(domain, m, stride, tickets, x):
    (low, high), last = map(float, domain["interval"]), domain["points"] - 1
    near, far = numbers(tickets)
    outputs = stride * last + m
    exact = Fraction(m * near + (outputs - m) * far, (near - far) * m * stride)
    apart = (high - low) / last * float(exact)
    reports = [middle(domain) + apart * (at - (outputs - 1) / 2) for at in range(outputs)]
    likely = range(stride * x, stride * x + m)
    return [(reports[at], near) for at in likely] + [(reports[at], far) for at in range(outputs) if at not in likely]


def hybrid_row(spec, x):
    parts = spec["parts"]
    held = {}
    dealt = ends_row(spec["domain"], parts["ends"], x)
    if "window" in parts:
        window = parts["window"]
        dealt += window_row(spec["domain"], window["m"], window["stride"], window, x)
    for report, tickets in dealt:
        held[report] = held.get(report, 0) + tickets
    return sorted(held.items())


def table_row(spec, x):
    outputs = spec["outputs"]
    reports = [value_of(spec["domain"], at) for at in outputs] if isinstance(outputs, list) else outputs["numbers"]
    return list(zip(reports, map(int, spec["rows"][x]), strict=True))


def regions_row(spec, x):
    domain, labels = spec["domain"], spec["regions"]["labels"]
    mine, total = labels[x], int(spec["total"])
    at_home = [y for y, label in enumerate(labels) if label == mine]
    away = sorted((y for y, label in enumerate(labels) if label != mine), key=lambda y: (labels[y], y))
    tickets = [{name: int(count) for name, count in each.items()} for each in spec["tickets"]]
    if spec["mechanism"] == "region-weighted":
        held = dict.fromkeys(away, tickets[mine]["other"]) | dict.fromkeys(at_home, tickets[mine]["own"])
        raised = at_home
    else:
        order = sorted(at_home, key=lambda y: (distance(domain, x, y), y != x, y))
        near = sorted(order[: spec["m"][mine]])
        held = {y: tickets[labels[y]].get("outside", 0) for y in away}
        held |= {y: tickets[mine]["near" if y in near else "far"] for y in at_home}
        raised = near
    for y in raised[: total - sum(held.values())]:
        held[y] += 1
    assert sum(held.values()) == total
    return [(value_of(domain, y), held[y]) for y in at_home + away if held[y]]


def hadamard_row(spec, x):
    """The value's set, the rest of its block, then the other blocks; within a block by the bits without one of them."""
    near, far = numbers(spec["tickets"])
    length, blocks = spec["block-size"], spec["blocks"]
    block, row = x // (length - 1), x % (length - 1) + 1
    lowest = row & -row

    def without(number):
        return number // (2 * lowest) * lowest + number % lowest

    inside, outside = (
        sorted((y for y in range(length) if (y & row).bit_count() % 2 == odd), key=without) for odd in (0, 1)
    )
    others = [y for y in range(blocks * length) if y // length != block]
    return [
        *((block * length + y, near) for y in inside),
        *((block * length + y, far) for y in outside),
        *((y, far) for y in others),
    ]


def anchored_row(spec, x):
    reports = [value_of(spec["domain"], at) for at in spec["anchors"]]
    return grr_row(reports, own_anchor(spec["domain"], x, spec["anchors"]), *numbers(spec["tickets"]))


def all_values(domain):
    return [value_of(domain, at) for at in range(size_of(domain))]


ROWS = {
    "grr": lambda spec, x: grr_row(all_values(spec["domain"]), x, *numbers(spec["tickets"])),
    "anchored": anchored_row,
    "constant": lambda spec, _: [(value_of(spec["domain"], spec["answer"]), 2)],
    **dict.fromkeys(("geometric", "laplace", "staircase"), noise_row),
    "duchi": lambda spec, x: ends_row(spec["domain"], spec["ends"], x),
    "piecewise": lambda spec, x: window_row(spec["domain"], spec["m"], spec["stride"], spec["tickets"], x),
    "hybrid": hybrid_row,
    **dict.fromkeys(("exponential", "optimal", "lsrr", "planar-laplace"), table_row),
    **dict.fromkeys(("two-level", "within-region", "region-weighted"), regions_row),
    "hadamard-response": hadamard_row,
}


# Words (§2).


def redraws(word, total):
    return (word * total) % WORD < WORD % total


def word_for(ticket, total):
    """The first word that draws this ticket."""
    word = -(-ticket * WORD // total)
    while redraws(word, total):
        word += 1
    return word


class Words:
    """Given words first, then random ones; keeps all that were taken."""

    def __init__(self, rng, *given):
        self.rng, self.given, self.taken = rng, list(given), []

    def take(self, count=1):
        drawn = [self.given.pop(0) if self.given else self.rng.getrandbits(64) for _ in range(count)]
        self.taken += drawn
        return drawn

    def ticket(self, total):
        while redraws(word := self.take()[0], total):
            pass
        return word * total // WORD


# Bits (§16, §17), a word of coins at a time.


def compare(words, limit, first, undecided):
    """(ones, still undecided) of coins whose next bits are these words; ``first`` bits of the limit are passed."""
    ones = 0
    for at, word in enumerate(words, start=first):
        if limit >> (63 - at) & 1:
            ones, undecided = ones | undecided & ~word, undecided & word
        else:
            undecided &= ~word
    return ones, undecided


def coins(limit, size, words):
    answers, fresh, served = [], [], []
    places = 32 * -(-size // 2048)
    for first in range(0, places, 1024):
        tile = range(first, min(first + 1024, places))
        rows = [words.take(len(tile)) for _ in range(4)]
        for column in zip(*rows, strict=True):
            ones, undecided = compare(column, limit, 0, WORD - 1)
            answers.append(ones)
            fresh.append(undecided)
            served.append(0)
        for fold in (8, 32):
            apart = len(tile) // fold
            rows = [words.take(apart) for _ in range(6)]
            for at, column in enumerate(zip(*rows, strict=True)):
                ones, undecided = compare(column, limit, 4, WORD - 1)
                waiting = WORD - 1
                for place in range(first + at, first + len(tile), apart):
                    now = fresh[place] & waiting
                    waiting &= ~now
                    fresh[place] &= ~now
                    answers[place] |= now & ones
                    served[place] |= now & undecided
    for place in range(places):
        for bit in range(64):
            if (fresh[place] | served[place]) >> bit & 1:
                passed = 10 if served[place] >> bit & 1 else 4
                won = words.take()[0] >> passed < limit % 2 ** (64 - passed)
                answers[place] |= won << bit
    return [answers[at // 64] >> at % 64 & 1 for at in range(size)]


def cell(bits):
    number = sum(bit << at for at, bit in enumerate(bits))
    return "x" + number.to_bytes(-(-len(bits) // 8), "little").hex()


def unary(chances, size, x, words):
    own = int(words.take()[0] < int(chances["one"]))
    bits = coins(int(chances["zero"]), size, words)
    bits[x] = own
    return bits


def rappor(spec, size, x, words):
    kept = unary(spec["permanent"], size, x, words)
    used = len(words.taken)
    one, zero = (coins(int(spec["instantaneous"][name]), size, words) for name in ("one", "zero"))
    report = cell([a if bit else b for bit, a, b in zip(kept, one, zero, strict=True)])
    return {"permanent": cell(kept), "permanent-used": used, "report": report}


def first_coins(size, k):
    """(the chance of a first coin in 64ths, the bits of a try, the words of a round)."""
    spread = isqrt(k * (size - k) // size)
    chance = max(0, k - 7 * spread // 10) * 64 // size
    tries = (k - size * chance // 64 + spread + 3) * size // (size - k) + 1
    bits = 16 if size <= 4096 else 32
    return chance, bits, min(256, -(-tries * bits // 64))


def subset(spec, size, x, words):
    k, (near, far) = spec["k"], numbers(spec["tickets"])
    chance, bits, length = first_coins(size, k)
    inside = words.ticket(k * near + (size - k) * far) < k * near
    rows = [words.take(-(-size // 64)) for _ in range(6)]
    drawn = [sum((row[v // 64] >> v % 64 & 1) << 5 - at for at, row in enumerate(rows)) for v in range(size)]
    chosen = {v for v in range(size) if drawn[v] < chance} - {x}
    missing = k - inside - len(chosen)
    if missing > 0:
        chosen.add(x)
    while True:
        pool = sum(word << 64 * at for at, word in enumerate(words.take(length)))
        for at in range(0, 64 * length, bits):
            found, rest = divmod((pool >> at) % 2**bits * size, 2**bits)
            useful = rest >= 2**bits % size and (found in chosen) == (missing < 0)
            if missing and useful:
                chosen ^= {found}
                missing -= 1 if missing > 0 else -1
        if not missing:
            break
    chosen = chosen - {x} | ({x} if inside else set())
    assert len(chosen) == k
    return cell([int(v in chosen) for v in range(size)])


# Hashes (§18).


def hashed(spec, size, x, words):
    g, (near, far) = spec["buckets"], numbers(spec["tickets"])
    base = next(factor for factor in range(2, g + 1) if g % factor == 0)
    digits = next(count for count in range(1, 64) if base**count >= size)
    most = next(count for count in range(1, 64) if g ** (count + 1) > MOST)
    lengths = [min(most, digits - start) for start in range(0, digits, most)]
    seeds = [words.ticket(g**length) for length in lengths]
    factors = [seed // g**at % g for seed, length in zip(seeds, lengths, strict=True) for at in range(length)]
    true = sum(factor * (x // base**at % base) for at, factor in enumerate(factors)) % g
    ticket = words.ticket(near + (g - 1) * far)
    others = [bucket for bucket in range(g) if bucket != true]
    bucket = true if ticket < near else others[(ticket - near) // far]
    return "x" + "".join(f"{each:016x}" for each in [*seeds, bucket])


# By name of the mechanism: (spec, number of values, index, words) → what a vector holds.
WIDE = {
    **dict.fromkeys(("oue", "sue"), lambda spec, *given: {"report": cell(unary(spec["chances"], *given))}),
    "rappor": rappor,
    "subset-selection": lambda *given: {"report": subset(*given)},
    "olh": lambda *given: {"report": hashed(*given)},
}
