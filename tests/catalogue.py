"""One small mechanism of every kind on every kind of domain that it takes, built on first use and then shared.

What holds for every mechanism is tested over this list in ``tests/mechanisms/test_conformance.py``. A new mechanism
needs a line here; the suite refuses to leave one of the package's own catalogue out.
"""

from functools import cache, partial

import numpy as np
import pytest

import bipartite as bp
from reproduction.places import region_weighted, two_level
from tests.locations.worlds import in_regions
from tests.rivals import ANYWHERE, DOMAINS, LOSS, ON_LINES, ON_PLACES

LINES = ("integers", "interval", "random")
NEAR = [[52.50, 13.40], [52.51, 13.41], [52.52, 13.38], [52.55, 13.45], [52.56, 13.44], [52.53, 13.47]]
PLACES = bp.Points(NEAR, metric="haversine")
REGIONS = in_regions(PLACES, ["N", "N", "N", "S", "S", "S"])
GENRES = bp.Items(["jazz", "blues", "metal"], loss=[[0, 1, 5], [1, 0, 4], [5, 4, 0]])
OTHER_DOMAINS = {
    "circle": bp.Cyclic(7, start=1),
    "weekdays": bp.Cyclic(7, labels=["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]),
    "pairs": bp.Product(bp.Integers(18, 21), GENRES),
    "numbers in pairs": bp.Product(bp.Integers(0, 2), bp.Interval(0, 1, points=3), weights=(1, 0.5)),
}
FLAT = {
    "oue": bp.OUE,
    "sue": bp.SUE,
    "olh": bp.OLH,
    "olh of 5 buckets": partial(bp.OLH, buckets=5),
    "subset": bp.SubsetSelection,
    "subset of all but one": lambda domain, epsilon: bp.SubsetSelection(domain, epsilon, k=len(domain) - 1),
    "hadamard": bp.HadamardResponse,
    "hadamard of 2 blocks": partial(bp.HadamardResponse, blocks=2),
    "rappor": lambda domain, epsilon: bp.RAPPOR(domain, epsilon_permanent=epsilon, p="0.2", q="0.7"),
}
ON_NUMBERS = {
    "laplace": bp.Laplace,
    "laplace, clamped": partial(bp.Laplace, clamped=True),
    "staircase": bp.Staircase,
    "staircase, clamped": partial(bp.Staircase, gamma=0.3, clamped=True),
    "duchi": bp.Duchi,
    "piecewise": bp.Piecewise,
    "piecewise of 77": partial(bp.Piecewise, outputs=77),
    "hybrid": bp.Hybrid,
}
MORE = {
    # Windows of every kind: even, best, padded, for statistics; listed instead of tried.
    "brr of 4 on integers": lambda epsilon: bp.BRR(DOMAINS["integers"], epsilon, m=4),
    "brr, best on integers": lambda epsilon: bp.BRR(bp.Integers(1, 16), epsilon, m="best"),
    "brr, padded on integers": lambda epsilon: bp.BRR(DOMAINS["integers"], epsilon, edges="padded"),
    "brr, padded on random": lambda epsilon: bp.BRR(DOMAINS["random"], epsilon, edges="padded", m="mean"),
    "brr of 2 on circle": lambda epsilon: bp.BRR(OTHER_DOMAINS["circle"], epsilon, m=2),
    "brr of 2 on items": lambda epsilon: bp.BRR(DOMAINS["items"], epsilon, m=2),
    "brr of 5 on pairs": lambda epsilon: bp.BRR(OTHER_DOMAINS["pairs"], epsilon, m=5),
    "brr by list on rows": lambda epsilon: bp.BRR(bp.Items.tanimoto(range(1, 13)), epsilon, m=2),
    "minimax on integers": lambda epsilon: bp.Minimax(bp.Integers(1, 7), epsilon),
    "minimax on random": lambda epsilon: bp.Minimax(bp.Interval(0, 1, points=5, rounding="random"), epsilon),
    "minimax on points": lambda epsilon: bp.Minimax(DOMAINS["points"], epsilon),
    "minimax on items": lambda epsilon: bp.Minimax(DOMAINS["items"], epsilon),
    "minimax on circle": lambda epsilon: bp.Minimax(OTHER_DOMAINS["circle"], epsilon),
    "means on integers": lambda epsilon: bp.AnchoredMeans(DOMAINS["integers"], epsilon),
    "means on random": lambda epsilon: bp.AnchoredMeans(DOMAINS["random"], epsilon),
    "optimal, unbiased on integers": lambda epsilon: bp.Optimal(bp.Integers(-1, 3), epsilon, unbiased=True),
    "optimal, unbiased on random": lambda epsilon: bp.Optimal(
        bp.Interval(0, 1, points=4, rounding="random"), epsilon, unbiased=True
    ),
    "two-level": lambda epsilon: two_level(REGIONS, epsilon),
    "region-weighted": lambda epsilon: region_weighted(REGIONS, epsilon),
    "custom words": lambda epsilon: custom(bp.Integers(1, 3), ["young", "old"], epsilon),
    "custom numbers": lambda epsilon: custom(bp.Interval(0, 1, points=3), [-0.5, 0.25], epsilon),
    "custom values": lambda epsilon: custom(bp.Items(["a", "b", "c", "d"], loss=LOSS), ["d", "b"], epsilon),
    "custom pairs": lambda epsilon: custom(OTHER_DOMAINS["pairs"], [(18, "jazz"), (21, "metal")], epsilon),
    "rr on two": lambda epsilon: bp.GRR(bp.Integers(0, 1), epsilon),
}


def custom(domain, outputs, epsilon):
    """Two reports, of which the first is the likelier the lower the value, by e^ε between the ends."""
    least = 1 / (1 + np.exp(float(epsilon)))
    share = np.linspace(1 - least, least, len(domain))
    return bp.Custom(domain, outputs, np.column_stack([share, 1 - share]), epsilon)


def _makers():
    for kind, domain in {**DOMAINS, **OTHER_DOMAINS}.items():
        fit = ANYWHERE | (ON_LINES if kind in LINES else {})
        fit |= ON_PLACES if isinstance(domain, bp.Points) else {}
        yield from ((f"{name} on {kind}", partial(make, domain)) for name, make in fit.items())
    for kind in ("interval", "random"):
        yield from ((f"{name} on {kind}", partial(make, DOMAINS[kind])) for name, make in ON_NUMBERS.items())
    yield from MORE.items()
    for kind in ("integers", "items", "random", "pairs"):
        domain = {**DOMAINS, **OTHER_DOMAINS}[kind]
        yield from ((f"{name} on {kind}", partial(make, domain)) for name, make in FLAT.items())


_MAKERS = dict(_makers())
# Of two domains with much the same code the quick tier takes one, but for the mechanisms that most people use.
_TWINS = tuple(f" on {kind}" for kind in ("interval", "points", "numbers", "weekdays", "numbers in pairs"))


def cases(names):
    """Names as the cases of a test."""
    late = [name for name in names if name.endswith(_TWINS) and not name.startswith(("brr", "grr", "minimax"))]
    return pytest.mark.parametrize(
        "name", [pytest.param(name, marks=pytest.mark.slow) if name in late else name for name in names]
    )


NAMES = list(_MAKERS)
ROWS_OF_BITS = [name for name in NAMES if name.rpartition(" on ")[0] in FLAT]
OF_VALUES = [name for name in NAMES if name not in ROWS_OF_BITS]
# BRR on a set tries outputs, or lists them: no single ticket tells the report.
BY_SEVERAL_TICKETS = [
    name
    for name in OF_VALUES
    if name.startswith("brr") and name.endswith(("points", "labels", "items", "numbers", "pairs", "rows"))
]
BY_ONE_TICKET = [name for name in OF_VALUES if name not in BY_SEVERAL_TICKETS]


@cache
def made(name, epsilon="1"):
    """The mechanism of this name."""
    return _MAKERS[name](epsilon)


def values_of(mechanism, count, seed=5):
    """Values of its domain; between the nodes too where they are rounded."""
    rng, domain = np.random.default_rng(seed), mechanism.domain
    if isinstance(domain, bp.Interval):
        return rng.uniform(domain.low, domain.high, count).tolist()
    return [domain[int(at)] for at in rng.integers(0, len(domain), count)]
