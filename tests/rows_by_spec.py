"""The tickets of every value, from the text of a spec and docs/draw.md alone: nothing here comes from the package.

A row is a list of (report, tickets) pairs in the order in which tickets are dealt.
"""

from tests.vectors.draw_by_the_page import ROWS, distance, grr_row, is_random, numbers, own_anchor, size_of, value_of


def brr_row(spec, x):
    domain, m, (near, far) = spec["domain"], spec["m"], numbers(spec["tickets"])
    size, padding = size_of(domain), m // 2 if spec["edges"] == "padded" else 0
    outputs = range(-padding, size + padding)
    likely = sorted(sorted(outputs, key=lambda y: (distance(domain, x, y), y != x, y))[:m])
    if "cyclic" in domain:  # around the circle, beginning with the first of the window
        order = [(x - m // 2 + steps) % size for steps in range(size)]
    else:
        order = likely + [y for y in outputs if y not in likely]
    return [(value_of(domain, y), near if y in likely else far) for y in order]


def custom_row(spec, x):
    outputs = spec["outputs"]
    if isinstance(outputs, list):
        return ROWS["optimal"](spec, x)
    reports = outputs.get("numbers") or outputs["labels"]
    return list(zip(reports, map(int, spec["rows"][x]), strict=True))


def minimax_row(spec, x):
    domain = spec["domain"]
    for each in spec["sets"]:
        reports = [value_of(domain, at) for at in each["anchors"]]
        yield from grr_row(reports, own_anchor(domain, x, each["anchors"]), *numbers(each["tickets"]))


def means_row(spec, x):
    own = max(at for at, first in enumerate(spec["bins"]) if first <= x)
    return grr_row(spec["outputs"], own, *numbers(spec["tickets"]))


ROWS = ROWS | {"brr": brr_row, "custom": custom_row, "minimax": minimax_row, "anchored-means": means_row}


def row_of(spec, x):
    """The deal for the value with this index; tuples of a product as tuples."""
    return [(tuple(y) if isinstance(y, list) else y, held) for y, held in ROWS[spec["mechanism"]](spec, x)]


def words_before(spec):
    """How many words round a value before its ticket is drawn."""
    parts = spec["domain"].get("product", {}).get("parts", [spec["domain"]])
    return sum(map(is_random, parts))
