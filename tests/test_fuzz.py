"""A million odd inputs: each gives an error of ours or a report inside the outputs."""

import math
import random
from decimal import Decimal

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
    Points,
    SquareWave,
)

INPUTS = 1_000_000
MECHANISMS = [
    BRR(Integers(18, 90), 1),
    BRR(Integers(-5, 5), 2, edges="padded"),
    BRR(Integers(0, 2**31 - 1), 3),
    BRR(Interval(-1, 1, points=21), 1),
    BRR(Interval(0, 200_000, points=401, rounding="random"), 0.5, edges="padded"),
    BRR(Points([[0, 0], [0, 1], [1, 0], [7, 7]]), 1, m=2),
    BRR(Points([[52.5, 13.4], [48.9, 2.4], [51.5, -0.1]], metric="haversine", labels=["Berlin", "Paris", "London"]), 1),
    BRR(Items(["a", "b", "c"], loss=[[0, 1, 2], [1, 0, 1], [2, 1, 0]]), 8, m=1),
    GRR(Points([[0, 0], [0, 1], [1, 0], [7, 7]]), 1),
    Exponential(Interval(-1, 1, points=21, rounding="random"), 1),
    Geometric(Integers(18, 90), 1),
    SquareWave(Interval(0, 1, points=11), 1),
    Anchored(Items(["a", "b", "c"], loss=[[0, 1, 2], [1, 0, 1], [2, 1, 0]]), 1, anchors=["a", "c"]),
    Anchored(Integers(-100, 100), 2),
    Constant(Interval(0, 200_000, points=401)),
]
ODD = [
    None, True, False, "", "40", "Paris", "a", b"40", math.nan, math.inf, -math.inf, -0.0, 5e-324, 1.7e308,
    2**53, 2**53 + 1, -(2**63), 2**63, 2**64, 10**30, 10**400, 1j, Decimal(40), object(), (), (40,), [], {}, {40},
    np.nan, np.int8(-128), np.uint8(255), np.uint64(2**64 - 1), np.float16(40), np.float32(0.1), np.longdouble(40.5),
    np.bool_(1), np.datetime64("2020-01-01"), np.timedelta64(40, "s"), np.str_("Paris"), np.complex128(3),
]  # fmt: skip


def inside(report, mechanism):
    if isinstance(report, (list, tuple)):
        return all(inside(each, mechanism) for each in report)
    return report in mechanism.outputs


def test_a_million_fuzzed_inputs_give_an_error_or_a_report_inside_the_outputs():
    rng = random.Random(20261115)
    reported = 0
    for _ in range(INPUTS):
        mechanism = rng.choice(MECHANISMS)
        draw = rng.random()
        if draw < 0.35:
            value = rng.randint(-100, 100)
        elif draw < 0.6:
            value = rng.uniform(-2, 2)
        elif draw < 0.7:
            value = rng.choice(
                [
                    rng.getrandbits(64) - 2**63,
                    rng.uniform(-1e6, 1e6),
                    math.ldexp(rng.random(), rng.randint(-1074, 1023)),
                ]
            )
        elif draw < 0.8:
            value = rng.choice(["Berlin", "Paris", "London", "a", "b", "c"])
        else:
            value = rng.choice(ODD)
        if draw > 0.97:
            value = [value, rng.choice([0, 1, 0.5, "Paris", 40])]
        outside = "clip" if rng.random() < 0.2 else "error"
        try:
            report = mechanism.privatize(value, outside=outside)
        except ValueError:
            continue
        reported += 1
        assert inside(report, mechanism), (mechanism, value, report)
    # The inputs are odd, and enough of them are not.
    assert INPUTS // 10 < reported < INPUTS
