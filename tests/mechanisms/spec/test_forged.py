"""Forged specs: each is refused with an error of ours, or keeps its ε by what its text says to another reader."""

import itertools
import json
from fractions import Fraction

import pytest

import bipartite as bp
import forged
from bipartite.errors import SpecError
from tests.catalogue import NAMES, made
from tests.mechanisms.contract import exact_exp
from tests.rows_by_spec import ROWS, row_of
from tests.vectors.draw_by_the_page import MOST, WIDE, WORD

GONE = {name for name, variant in forged.GONE if variant is None}


def ratio_of_text(spec, size):
    """The largest ratio of the chances of one report, from the text of a spec."""
    if spec["mechanism"] in WIDE and "tickets" not in spec:
        one, zero = (int((spec.get("chances") or spec["permanent"])[name]) for name in ("one", "zero"))
        return Fraction(one * (WORD - zero), zero * (WORD - one))
    if spec["mechanism"] in WIDE:
        return Fraction(*(int(spec["tickets"][name]) for name in ("near", "far")))
    rows = []
    for x in range(size):
        rows.append({})
        for report, held in row_of(spec, x):
            rows[-1][report] = rows[-1].get(report, 0) + held
    assert len({sum(row.values()) for row in rows}) == 1 and sum(rows[0].values()) <= MOST
    return max(Fraction(max(column), min(column)) for column in ([row[y] for row in rows] for y in rows[0]))


@pytest.mark.parametrize("count", [1_500, pytest.param(30_000, marks=pytest.mark.slow)])
def test_a_forged_spec_is_refused_or_keeps_its_epsilon(count):
    start = {name: json.loads(json.dumps(made(name).to_spec())) for name in NAMES}
    assert {spec["mechanism"] for spec in start.values()} <= {*ROWS, *WIDE}
    accepted = 0
    for name, spec in itertools.islice(forged.make(count, start), len(start), None):
        try:
            mechanism = bp.from_spec(json.loads(json.dumps(spec)))
        except SpecError:
            continue
        accepted += 1
        assert forged.canonical(mechanism.to_spec()) == forged.canonical(spec), name
        if len(mechanism.domain) <= forged.SMALL and spec["mechanism"] not in GONE:
            ratio = ratio_of_text(json.loads(json.dumps(mechanism.to_spec())), len(mechanism.domain))
            assert mechanism.largest_ratio() == ratio, name
            assert ratio.numerator <= exact_exp(spec.get("epsilon", "0")) * ratio.denominator, name
    assert accepted > count // 30


@pytest.mark.parametrize(
    ("was", "now", "passes", "line"),
    [
        ({"accepted": "a"}, {"accepted": "a"}, True, "1 accepted alike"),
        ({"accepted": "a"}, {"accepted": "b"}, False, "1 ACCEPTED AS SOMETHING ELSE"),
        ({"accepted": "a"}, {"refused": "SpecError", "message": "why"}, True, "1 stricter"),
        ({"accepted": "a", "id": "base x"}, {"refused": "SpecError", "id": "base x"}, False, "1 BASE REFUSED"),
        ({"accepted": "a", "mechanism": "lsrr", "variant": "published"}, {"refused": "SpecError"}, True, "by design"),
        ({"refused": "SpecError"}, {"accepted": "a"}, False, "1 LOOSER"),
        ({"refused": "SpecError"}, {"fails": "KeyError"}, False, "1 FAILS"),
        ({"refused": "SpecError"}, {"refused": "BrokenPromiseError"}, True, "1 other error class"),
    ],
)
def test_a_reader_that_accepts_more_or_something_else_is_told(tmp_path, capsys, was, now, passes, line):
    for file, each in (("old", was), ("new", now)):
        (tmp_path / file).write_text(json.dumps({"id": "x", "mechanism": "brr", "variant": None} | each))
    assert forged.compare(tmp_path / "old", tmp_path / "new") == passes
    assert line in capsys.readouterr().out
