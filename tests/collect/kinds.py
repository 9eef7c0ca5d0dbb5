"""A study with a question of every kind of report, and which reports its mechanisms can give, by their pages alone.

The oracle knows nothing of the package: it reads JSON by Python's own decoder, and says for each question what
``docs/draw.md`` says of its reports.
"""

import json
import re
from datetime import date

import bipartite as bp
from bipartite.collect.study import Study
from tests.collect.bags import one, record

FIVE = bp.Items(["a", "b", "c", "d", "e"])
GENRES = bp.Items(["jazz", "blues", "metal"], loss=[[0, 1, 5], [1, 0, 4], [5, 4, 0]])


def study():
    """Twelve questions."""
    parts = {"x": bp.BRR(bp.Integers(0, 3), "0.5", m=2), "y": bp.GRR(bp.Items(["p", "q"]), "0.5")}
    questions = (
        one(bp.BRR(bp.Integers(18, 30), 1, m=5, edges="padded"), "line"),
        one(bp.GRR(bp.Items(["news", "sport", "Größe", 'a"b', "\U0001d11e"]), 1), "choice"),
        one(bp.OUE(FIVE, 1), "bits"),
        one(bp.SubsetSelection(FIVE, 1, k=2), "subset"),
        one(bp.OLH(FIVE, 1, buckets=5), "hashed"),
        one(bp.HadamardResponse(FIVE, 1), "index"),
        one(bp.Piecewise(bp.Interval(-1, 1, points=5, rounding="random"), 1, outputs=77), "mean"),
        one(bp.BRR(bp.Interval(0, 1, points=11, rounding="random"), 1, m=3), "grid"),
        one(bp.BRR(bp.Cyclic(7, start=1), 1, m=3), "circle"),
        one(bp.BRR(bp.Product(bp.Integers(0, 3), GENRES), 1, m=5), "pair"),
        record(parts, None, "all"),
        record(parts, 1, "some"),
    )
    return Study("kinds", "Every kind", "", date(9999, 12, 31), None, True, questions)


def _number(held, allowed):
    return type(held) in {int, float} and held in allowed


def _piecewise():
    """The 77 numbers of ``mean``, by section 14 of docs/draw.md."""
    m, q, near, far = 29, 12, 95641039294813, 35184372088832
    count = 4 * q + m
    step = (2 / 4) * ((m * near + (count - m) * far) / ((near - far) * m * q))
    return {step * (y - (count - 1) / 2) for y in range(count)}


def _byte(held, ones=None):
    """One byte of five bits, of which so many are 1."""
    if not (isinstance(held, str) and re.fullmatch(r"x[0-9a-f]{2}", held)):
        return False
    bits = int(held[1:], 16)
    return bits < 2**5 and ones in {None, bits.bit_count()}


def _hashed(held):
    return isinstance(held, str) and bool(re.fullmatch(r"x(0{15}[0-4]){2}", held))


_MEAN = _piecewise()
CAN_GIVE = {
    "line": lambda held: _number(held, range(16, 33)),
    "choice": lambda held: isinstance(held, str) and held in {"news", "sport", "Größe", 'a"b', "\U0001d11e"},
    "bits": _byte,
    "subset": lambda held: _byte(held, 2),
    "hashed": _hashed,
    "index": lambda held: _number(held, range(8)),
    "mean": lambda held: _number(held, _MEAN),
    "grid": lambda held: _number(held, {at / 10 for at in range(11)}),
    "circle": lambda held: _number(held, range(1, 8)),
    "pair": lambda held: (
        isinstance(held, list)
        and len(held) == 2
        and _number(held[0], range(4))
        and held[1] in ("jazz", "blues", "metal")
    ),
    "all": lambda held: _record(held, 2),
    "some": lambda held: _record(held, 1),
}
"""Whether a value is a report to a question."""


def _record(held, count):
    return (
        isinstance(held, dict)
        and len(held) == count
        and held.keys() <= {"x", "y"}
        and ("x" not in held or _number(held["x"], range(4)))
        and ("y" not in held or held["y"] in ("p", "q"))
    )


def _once(pairs):
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError
    return found


def _no_constant(name):
    raise ValueError(name)


def read(body, asked):
    """The envelopes of a body as objects, if all of it is as the protocol says; None otherwise."""
    try:
        held = json.loads(body.decode(), object_pairs_hook=_once, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return None
    listed = held if isinstance(held, list) else [held]
    return listed if 0 < len(listed) <= 10_000 and all(_is_envelope(each, asked) for each in listed) else None


def _is_envelope(held, asked):
    if not isinstance(held, dict) or set(held) != {"v", "study", "question", "spec", "report", "key"}:
        return False
    texts = all(isinstance(held[name], str) for name in ("study", "question", "spec", "key"))
    if type(held["v"]) is not int or held["v"] != 1 or not texts or held["study"] != "kinds":
        return False
    hashes = {each.name: each.sha256 for each in asked.questions}
    return (
        held["question"] in hashes
        and held["spec"] == hashes[held["question"]]
        and re.fullmatch(r"[0-9a-f]{32}", held["key"], re.ASCII) is not None
        and CAN_GIVE[held["question"]](held["report"])
    )
