"""One small mechanism of every kind on every kind of domain, for tests that hold for all of them."""

import numpy as np

from bipartite import (
    BRR,
    GRR,
    Anchored,
    Constant,
    Exponential,
    Geometric,
    Integers,
    Interval,
    Items,
    Optimal,
    Points,
    SquareWave,
    from_spec,
)
from reproduction.places import lsrr

PLACES = [[52.52, 13.405], [48.857, 2.352], [51.507, -0.128], [-33.869, 151.209], [-37.81, 144.96], [40.71, -74.01]]
NAMES = ["Berlin", "Paris", "London", "Sydney", "Melbourne", "New York"]
# Three groups of L-SRR, 10 and 6 bits above an empty prefix: offsets named in the BRR authors' script. Used for every ε
# they give the realised ε of our reference: 0.60, 1.25 and 2.71 for 0.5, 1 and 2 on the authors' 1000 places.
SCRIPT_THRESHOLDS = (10, 6, 0)
LSRR = {"mechanism": "lsrr", "variant": "calibrated"}
LOSS = [[0, 1, 5, 2], [1, 0, 4, 2], [5, 4, 0, 3], [2, 2, 2, 0]]

DOMAINS = {
    "integers": Integers(-3, 8),
    "interval": Interval(0, 3, points=7),
    "random": Interval(-1, 1, points=9, rounding="random"),
    "points": Points(PLACES, metric="haversine"),
    "labels": Points(PLACES, metric="haversine", labels=NAMES),
    "items": Items(["a", "b", "c", "d"], loss=LOSS),
    "numbers": Items([30, 10, 20, 40], similarity=-np.array(LOSS)),
}
ANYWHERE = {
    "grr": GRR,
    "exponential": Exponential,
    "exponential as published": lambda domain, epsilon: Exponential(domain, epsilon, variant="published"),
    "constant": lambda domain, _: Constant(domain),
    "anchored": Anchored,
    "one anchor": lambda domain, epsilon: Anchored(domain, epsilon, anchors=[domain[1]]),
    "optimal": Optimal,
    "brr": BRR,
}
ON_LINES = {"geometric": Geometric, "square wave": SquareWave}
ON_PLACES = {"lsrr": lambda domain, epsilon: from_spec(lsrr(domain, epsilon).to_spec() | LSRR)}


def build(epsilon="1", domains=DOMAINS):
    """(name, mechanism) of every kind that fits each domain."""
    for kind, domain in domains.items():
        makers = ANYWHERE | (ON_LINES if kind in {"integers", "interval", "random"} else {})
        makers |= ON_PLACES if isinstance(domain, Points) else {}
        for name, make in makers.items():
            yield f"{name} on {kind}", make(domain, epsilon)
    yield "rr on two", GRR(Integers(0, 1), epsilon)


MECHANISMS = dict(build())
