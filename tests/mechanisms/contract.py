"""What the text of a spec says about a mechanism, read without the package, and the check that ε is kept."""

import json
from fractions import Fraction
from functools import cache
from pathlib import Path

import jsonschema
import mpmath

import bipartite as bp
from tests import oracle
from tests.rows_by_spec import row_of
from tests.vectors.draw_by_the_page import WORD

SCHEMA = jsonschema.Draft202012Validator(
    json.loads((Path(bp.__file__).parent / "cli" / "schemas" / "spec.json").read_text(encoding="utf-8"))
)


def rows_of(mechanism):
    """{report: tickets} for every value, as the mechanism has them."""
    rows = mechanism.lottery.rows(0, len(mechanism.domain)).tolist()
    return [{y: held for y, held in zip(mechanism.outputs, row, strict=True) if held} for row in rows]


@cache
def exact_exp(epsilon):
    return oracle.exp(epsilon)


def tickets_of(mechanism):
    """{report: tickets} for every value, from the text of the spec alone."""
    spec = json.loads(json.dumps(mechanism.to_spec()))
    rows = []
    for x in range(len(mechanism.domain)):
        held = {}
        for report, count in row_of(spec, x):
            held[report] = held.get(report, 0) + count
        rows.append({report: count for report, count in held.items() if count})
    return rows


def ratio_of_tickets(mechanism):
    """The largest ratio of two counts of one report."""
    rows = tickets_of(mechanism)
    assert {sum(row.values()) for row in rows} == {mechanism.lottery.total}
    assert mechanism.lottery.total <= 2**52
    assert len({frozenset(row) for row in rows}) == 1
    return max(Fraction(max(row[y] for row in rows), min(row[y] for row in rows)) for y in rows[0])


def ratio_of_bits(mechanism):
    """The largest ratio of the chances of one row of bits, or of one hash, from the numbers in the spec."""
    spec = mechanism.to_spec()
    if "tickets" in spec:
        return Fraction(int(spec["tickets"]["near"]), int(spec["tickets"]["far"]))
    one, zero = (int((spec.get("chances") or spec["permanent"])[name]) for name in ("one", "zero"))
    return Fraction(one * (WORD - zero), zero * (WORD - one))


def assert_keeps(mechanism):
    """Every ratio in whole numbers, against 1200 digits of e^ε; the certificate says the same. Returns the ε spent."""
    ratio = (ratio_of_bits if mechanism.flat else ratio_of_tickets)(mechanism)
    certificate, epsilon = bp.verify(mechanism), mechanism.epsilon_decimal
    assert ratio == mechanism.largest_ratio() == certificate.ratio
    spent = mpmath.log(mpmath.mpf(ratio.numerator) / ratio.denominator)
    assert oracle.number(certificate.epsilon_upper) >= spent
    assert certificate.holds == bool(ratio.numerator <= exact_exp(str(epsilon)) * ratio.denominator)
    return float(spent)
