"""Odd inputs, hundreds of thousands in the slow tier: each gives an error of ours or a report inside the outputs."""

import math
import random
from decimal import Decimal

import numpy as np
import pytest

from bipartite import BRR, Anchored, Constant, Integers, Interval
from tests.catalogue import OF_VALUES, made

LARGE = [
    BRR(Integers(0, 2**31 - 1), 3),
    BRR(Interval(0, 200_000, points=401, rounding="random"), 0.5, edges="padded"),
    Anchored(Integers(-100, 100), 2),
    Constant(Interval(0, 200_000, points=401)),
]
ODD = [
    None, True, False, "", "40", "Paris", "a", b"40", math.nan, math.inf, -math.inf, -0.0, 5e-324, 1.7e308,
    2**53, 2**53 + 1, -(2**63), 2**63, 2**64, 10**30, 10**400, 1j, Decimal(40), object(), (), (40,), [], {}, {40},
    np.nan, np.int8(-128), np.uint8(255), np.uint64(2**64 - 1), np.float16(40), np.float32(0.1), np.longdouble(40.5),
    np.bool_(1), np.datetime64("2020-01-01"), np.timedelta64(40, "s"), np.str_("Paris"), np.complex128(3),
]  # fmt: skip


def inside(report, mechanism, nulls):
    if isinstance(report, (list, tuple)):
        return all(inside(each, mechanism, nulls) for each in report)
    missing = report is None or report != report  # noqa: PLR0124 (NaN)
    return nulls if missing else report in mechanism.outputs


@pytest.mark.parametrize("inputs", [20_000, pytest.param(300_000, marks=pytest.mark.slow)])
def test_fuzzed_inputs_give_an_error_or_a_report_inside_the_outputs(inputs):
    mechanisms = LARGE + [made(name) for name in OF_VALUES if "pairs" not in name]
    rng = random.Random(20261115)
    reported = 0
    for _ in range(inputs):
        mechanism = rng.choice(mechanisms)
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
        options = {"outside": "clip"} if rng.random() < 0.2 else {}
        options |= {"nulls": "keep"} if rng.random() < 0.2 else {}
        try:
            report = mechanism.privatize(value, **options)
        except ValueError:
            continue
        reported += 1
        assert inside(report, mechanism, "nulls" in options), (mechanism, value, report)
    # The inputs are odd, and enough of them are not.
    assert inputs // 10 < reported < inputs
