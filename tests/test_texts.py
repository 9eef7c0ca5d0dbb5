"""Text for people: tables, and names that must not forge a line."""

import csv
import io
import json
from datetime import UTC, datetime
from functools import cache

import pandas as pd
import pytest

import bipartite as bp
from bipartite.errors import BipartiteError
from bipartite.learn import PrivateColumns
from bipartite.texts import align_columns, as_csv, escaped

# A line of its own, a code that clears a terminal, and a mark that reorders what follows.
EVIL = "age\nFORGED: ε-LDP with ε = 0.1\x1b[2J\u202e\u2028"
LABELS = [EVIL, "b", "c", "d"]
SEED = bp.insecure_seed(1)
FLAT, CIRCLE = bp.GRR(bp.Items(LABELS), 1), bp.GRR(bp.Cyclic(4, labels=LABELS), 1)
RECORD = bp.Record({EVIL: bp.BRR(bp.Integers(0, 9), 1, edges="padded"), "b": FLAT})
PLAN = bp.Plan({EVIL: bp.BRR(bp.Integers(0, 9), 1), "b": FLAT, f"public {EVIL}": "public"})


@cache
def reports():
    return RECORD.privatize({EVIL: [1] * 40, "b": LABELS * 10}, rng=SEED)


def estimates(mechanism, **options):
    return bp.estimate(mechanism, mechanism.privatize(LABELS * 10, rng=SEED), **options)


def certificate(folder):
    with bp.Ledger(folder / "spent.db", budget=4, clock=lambda: datetime(2026, 1, 1, tzinfo=UTC)) as ledger:
        ledger.report("ada", EVIL, FLAT, "b")
        return str(ledger.certificate(EVIL))


def refused(act):
    with pytest.raises(BipartiteError) as caught:
        act()
    return str(caught.value)


PRINTED = {
    "a certificate of a ledger": certificate,
    "a summary": lambda _: estimates(FLAT).summary(),
    "a summary of a circle": lambda _: estimates(CIRCLE).summary(),
    "a summary of groups": lambda _: estimates(FLAT, by=[EVIL, "y"] * 20).summary(),
    "a summary of attributes": lambda _: bp.estimate(RECORD, reports()).summary(),
    "a summary of pairs": lambda _: bp.estimate_joint(RECORD, reports()).summary(),
    "a picture": lambda _: estimates(FLAT, by=[EVIL, "y"] * 20).plot(),
    "a mechanism": lambda _: repr(CIRCLE),
    "a comparison": lambda _: str(bp.compare(bp.Items(LABELS), 1)),
    "advice": lambda _: str(bp.split_or_sample({EVIL: bp.Integers(0, 9), "b": bp.Integers(0, 9)}, 1, n=100)),
    "what cannot be told apart": lambda _: str(bp.identifiability(bp.BRR(bp.Cyclic(4, labels=LABELS), 1, m=2))),
    "a plan": lambda _: f"{PLAN.guarantee}{PLAN.publishes}{PLAN!r}{PLAN._repr_html_()}",
    "two kinds of values": lambda _: refused(lambda: RECORD.privatize({EVIL: 1, "b": ["b"]})),
    "two numbers of people": lambda _: refused(lambda: RECORD.privatize({EVIL: [1, 2], "b": ["b"]})),
    "a value outside": lambda _: refused(lambda: RECORD.privatize({EVIL: [99], "b": ["b"]})),
    "reports of no mechanism": lambda _: refused(lambda: bp.estimate(RECORD, {EVIL: [99], "b": ["b"]})),
    "two names": lambda _: refused(lambda: bp.estimate_joint(RECORD, reports(), of=("x", "y"))),
    "a spec": lambda _: refused(lambda: bp.from_spec(FLAT.to_spec() | {EVIL: 1})),
    "a column of a plan": lambda _: refused(lambda: bp.Plan.from_dict({"columns": {EVIL: {"epsilon": 1}}})),
    "a column to learn from": lambda _: refused(lambda: PrivateColumns({EVIL: (9, 0)}).fit(pd.DataFrame({EVIL: [1]}))),
}


@pytest.mark.parametrize("what", PRINTED)
def test_a_name_or_a_label_never_forges_a_line_nor_reaches_a_terminal(what, tmp_path):
    text = PRINTED[what](tmp_path)
    assert "FORGED" in text
    assert "\nFORGED" not in text and not set("\x1b\u202e\u2028") & set(text)


def test_only_what_cannot_be_seen_is_escaped():
    assert escaped("Zoë, 東京 👩‍🔬 \\n 5") == "Zoë, 東京 👩‍🔬 \\n 5"
    assert escaped("a\tb\x00\x7f\x85\ud800") == "a\\tb\\u0000\\u007f\\u0085\\ud800"
    assert json.loads(f'"{escaped(EVIL)}"') == EVIL


def test_columns_are_aligned_the_first_to_the_left():
    assert align_columns([("", "ε"), ("age", "1"), ("a job", "10")]) == ["        ε", "age     1", "a job  10"]


def test_csv_reads_back_as_it_was_and_what_is_missing_is_empty():
    written = as_csv(["name", "share"], [["a, b", 0.1 + 0.2], ['"', None]])
    assert written.startswith("name,share\n")
    assert list(csv.reader(io.StringIO(written))) == [["name", "share"], ["a, b", str(0.1 + 0.2)], ['"', ""]]
